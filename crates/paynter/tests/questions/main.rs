//! What is asked of a model: linear models, sweeps, searches, fits, sensitivities.

mod draws;
mod fit;
#[path = "../kit/mod.rs"]
mod kit;
mod linear;
mod measure_slopes;
mod named_runs;
mod optimize;
mod sampled_loops;
mod screening;
mod sensitivity;
mod spectrum;
mod sweep;
mod sweep_bits;
mod watching;
