//! Searches for the best values of a function that is costly, noisy and undefined at places, under constraints.
//!
//! In:  a [`Problem`] over the unit cube: an aim that is to become small, and constraints that are not to be positive.
//! Out: a [`Found`]: the best point, its multipliers, how far searches agree, every trial.
//!
//! Nothing here knows models: `paynter` turns parameters and measures into a [`Problem`].
//!
//! **Invariant:** equal seeds give equal answers, bit for bit, whatever the number of threads.

pub mod dense;
pub mod distributions;
pub mod evolution;
pub mod latin;
pub mod levenberg;
pub mod noise;
pub mod problem;
pub mod quadratic;
pub mod random;
pub mod screening;
pub mod search;
pub mod slopes;
pub mod sobol;
pub mod sqp;
pub mod statistics;
pub mod threads;

pub use problem::{Evaluation, Problem, Trial, Tried};
pub use random::Random;
pub use search::{Found, Local, Options, Phase, search};
