//! The mathematics of linear models: ẋ = A x + B u, y = C x + D u + D₁ u̇ + D₂ ü + …
//!
//! In:  matrices in SI units, made by linearizing a model at a point.
//! Out: poles and modes, zeros of a channel, frequency response on a grid that resolves
//!      resonances, margins of a loop, step responses by the matrix exponential, and what inputs reach
//!      and outputs see.
//!
//! Knows nothing of bond graphs, names or units.
//!
//! # Example
//!
//! A mass on a spring with a damper, m = 1, b = 0.2, k = 1, from force to position:
//!
//! ```
//! use paynter_linear::{LinearModel, Matrix, modes};
//!
//! let model = LinearModel {
//!     a: Matrix::from_rows(&[&[0.0, 1.0], &[-1.0, -0.2]]),
//!     b: Matrix::from_rows(&[&[0.0], &[1.0]]),
//!     c: Matrix::from_rows(&[&[1.0, 0.0]]),
//!     d: vec![Matrix::zeros(1, 1)],
//! };
//! let modes = modes(&model.a).expect("a small matrix has eigenvalues");
//! assert!((modes[0].pole.norm() - 1.0).abs() < 1e-14);
//! assert!((modes[0].damping() - 0.1).abs() < 1e-14);
//! ```

mod balance;
mod discretize;
mod eigen;
mod exponential;
mod gramian;
mod grid;
mod least_squares;
mod locus;
mod lyapunov;
mod margins;
mod matched;
mod matrix;
mod model;
mod place;
mod response;
mod riccati;
mod sampled;
mod solve;
mod staircase;
mod step;
mod transfer;
mod zeros;

pub use balance::balance;
pub use discretize::{NoSteps, Rule, c2d, d2c, hold};
pub use eigen::{Mode, NoEigenvalues, eigenvalues, modes};
pub use exponential::exponential;
pub use gramian::{NoGramian, gramian};
pub use grid::{Corner, Sweep, frequency_sweep};
pub use least_squares::{LeastSquares, least_squares};
pub use locus::{Border, Locus, root_locus};
pub use lyapunov::{discrete_lyapunov, lyapunov};
pub use margins::{GainCrossing, Margins, PhaseCrossing, margins};
pub use matched::matched;
pub use matrix::Matrix;
pub use model::{Channel, LinearModel, NoCut};
pub use place::{NotPlaced, place};
pub use response::Response;
pub use riccati::{NoRegulator, Regulated, Regulator, care, dare, dlqr, lqe, lqr};
pub use sampled::{Lifted, Look, SampledModel, Tick};
pub use solve::solve;
pub use staircase::{Staircase, joint_rank, reach_margin, staircase, transpose};
pub use step::{StepResponse, step_horizon, step_response};
pub use transfer::{Transfer, transfer};
pub use zeros::zeros;

/// A complex number.
pub use faer::c64 as Complex;
