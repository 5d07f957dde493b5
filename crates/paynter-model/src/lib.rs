//! Bond graphs: from syntax to a flat checked graph, its causality, and its equations.
//!
//! In:  parsed files.
//! Out: a [`graph::BondGraph`], a `Causality`, a `Dae`.

pub mod causality;
pub mod check;
pub mod code;
pub mod delay;
pub mod domains;
pub mod elaborate;
pub mod energies;
pub mod equations;
pub mod experiment;
pub mod foreign;
pub mod functions;
pub mod gains;
pub mod graph;
pub mod kinds;
pub mod lagrange;
pub mod laws;
mod lookup;
pub mod project;
pub mod relax;
pub mod suggest;
pub mod units;

pub use graph::{Bond, BondGraph, BondId, Element, ElementId, ElementKind, Law};
