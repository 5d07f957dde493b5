//! Paynter: from bond-graph text to trajectories, in a few calls.
//!
//! In:  a `.bond` file.
//! Out: its design (graph, plan), causality, equations, runs, tables.

mod assembly;
pub mod assumed;
pub mod audit;
pub mod code;
pub mod compare;
mod contacts;
mod course;
pub mod design;
pub mod digits;
pub mod experiment;
mod failure;
pub mod figure;
mod floating;
mod held;
mod impulse;
mod inputs;
pub mod library;
pub mod linear;
pub mod listing;
pub mod loader;
pub mod measure;
pub mod output;
mod parameters;
mod physics;
pub mod power;
mod ranges;
pub mod readable;
mod recorder;
pub mod report;
pub mod run;
pub mod simulate;
mod structure;
pub mod sweep;
pub mod table;

pub use paynter_draw as draw;
pub use paynter_exec as exec;
pub use paynter_linear as linear_algebra;
pub use paynter_model as model;
pub use paynter_solve as solve;
pub use paynter_symbolic as symbolic;
pub use paynter_syntax as syntax;

pub use design::{
    Choice, Design, DesignError, Failed, LinearChoice, check, check_text, codes, design,
    experiments, format_file,
};
pub use run::{RunSummary, run_experiment};

/// Prints messages as JSON.
pub fn diagnostics_json(diagnostics: &[syntax::Diagnostic], sources: &syntax::SourceMap) -> String {
    syntax::to_json(diagnostics, sources)
}
