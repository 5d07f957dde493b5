//! Pictures: bond-graph diagrams, plots, energy ribbons and the report page.
//!
//! In:  plain values: series of numbers, a graph with its causality.
//! Out: text, or the bytes of a PNG; equal input gives equal bytes.

pub mod diagram;
mod field;
pub mod mathml;
pub mod plot;
pub mod png;
pub mod report;
pub mod sankey;
mod series;
pub mod svg;
pub mod thin;

pub use diagram::{Diagram, DiagramOptions, diagram, to_pdf, to_svg, to_tikz};
pub use plot::{Band, Cells, Panel, Plot, Scale, Series};
pub use png::to_png;
pub use report::{Report, report_html};
pub use sankey::{Energy, sankey};
pub use svg::{Theme, themed};
