//! Paynter: from bond-graph text to trajectories, in a few calls.
//!
//! In:  a `.bond` text, on disk or in memory.
//! Out: its design (graph, plan), causality, equations, runs, tables.

pub mod energies;
pub mod figure;
pub mod listing;
pub mod outcome_json;
pub mod readable;
pub mod report;
pub mod scene;
pub mod summary;

pub use paynter_analysis::{
    compare, control, delayed, driven, experiment, fit, linear, measure_slopes, methods, noise,
    optimize, power, refused, run, screening, shards, simulate, spectrum, statistics, sweep,
    sweep_curves, sweep_pictures, sweep_table, typed_sweeps, watching,
};
pub use paynter_design::{
    assumed, check, code, compile, design, digits, disk, lagrangian, library, loader, mobility,
    names, output, overlay, sweeps,
};
pub use paynter_run::{areas, audit, gaps, measure, table, trace};

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
