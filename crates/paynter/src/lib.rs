//! Paynter: from bond-graph text to trajectories, in a few calls.
//!
//! In:  a `.bond` file.
//! Out: its design (graph, plan), causality, equations, runs, tables.

pub mod audit;
pub mod code;
pub mod compare;
mod failure;
pub mod library;
pub mod loader;
pub mod measure;
mod recorder;
pub mod simulate;
pub mod table;

pub use paynter_exec as exec;
pub use paynter_model as model;
pub use paynter_solve as solve;
pub use paynter_symbolic as symbolic;
pub use paynter_syntax as syntax;
