//! Paynter: from bond-graph text to trajectories, in a few calls.
//!
//! In:  a `.bond` text, on disk or in memory.
//! Out: its design (graph, plan), causality, equations, runs, tables.

mod assembly;
pub mod assumed;
pub mod audit;
pub mod check;
pub mod code;
pub mod compare;
pub mod compile;
mod contacts;
pub mod control;
mod course;
pub mod design;
pub mod digits;
pub mod disk;
pub mod driven;
pub mod energies;
mod evaluator;
pub mod experiment;
mod failure;
pub mod figure;
pub mod fit;
mod floating;
pub mod gaps;
mod held;
mod impulse;
mod inputs;
pub mod lagrangian;
mod layout;
pub mod library;
pub mod linear;
pub mod listing;
pub mod loader;
pub mod measure;
pub mod methods;
pub mod mobility;
pub mod names;
pub mod noise;
pub mod optimize;
pub mod outcome_json;
pub mod output;
pub mod overlay;
mod parameters;
mod parasitic;
mod physics;
pub mod power;
mod ranges;
pub mod readable;
mod recorder;
pub mod report;
pub mod run;
pub mod screening;
pub mod shards;
pub mod simulate;
mod spec;
pub mod spectrum;
pub mod statistics;
mod structure;
pub mod summary;
pub mod sweep;
pub mod sweep_curves;
pub mod sweep_pictures;
pub mod sweep_table;
pub mod table;
pub mod trace;
pub mod typed_sweeps;
mod unsupported;

pub use paynter_draw as draw;
pub use paynter_exec as exec;
pub use paynter_linear as linear_algebra;
pub use paynter_model as model;
pub use paynter_optimize as optimization;
pub use paynter_solve as solve;
pub use paynter_symbolic as symbolic;
pub use paynter_syntax as syntax;

pub use compile::{Compiled, compile};
pub use design::{
    Choice, Design, DesignError, Failed, LinearChoice, SweepChoice, codes, design_in,
};
pub use disk::{
    check, check_text, design, experiments, format_file, lagrangian as write_lagrangian,
};
pub use summary::{RunSummary, run_experiment};

/// Prints messages as JSON.
pub fn diagnostics_json(diagnostics: &[syntax::Diagnostic], sources: &syntax::SourceMap) -> String {
    syntax::to_json(diagnostics, sources)
}
