//! Pictures: plots and bond-graph diagrams as SVG text.
//!
//! In:  plain values: series of numbers, a graph with its causality.
//! Out: text; equal input gives equal bytes.

pub mod diagram;
pub mod plot;
pub mod svg;

pub use diagram::{Diagram, DiagramOptions, diagram, to_svg, to_tikz};
pub use plot::{Panel, Plot, Series};
