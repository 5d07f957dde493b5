//! What is asked of a model: experiments and sweeps, linear models, searches, estimates, sensitivities.
//!
//! In:  a design.
//! Out: plain results, with the texts and pictures that show them; errors are messages that point into the model.

pub mod compare;
mod contacts;
pub mod control;
pub mod delayed;
pub mod driven;
mod evaluator;
pub mod experiment;
pub mod explain;
pub mod fit;
mod held;
mod impulse;
mod layout;
pub mod linear;
pub mod measure_slopes;
pub mod methods;
mod named_runs;
pub mod noise;
pub mod optimize;
mod physics;
pub mod power;
mod rechosen;
pub mod refused;
pub mod run;
pub mod screening;
pub mod shards;
pub mod simulate;
pub mod spectrum;
pub mod springs;
pub mod statistics;
pub mod sweep;
pub mod sweep_curves;
pub mod sweep_pictures;
pub mod sweep_table;
pub mod typed_sweeps;
pub mod watching;
