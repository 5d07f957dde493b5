//! Integrators with dense output, events and exact clocks.
//!
//! In:  a [`System`]: `M ẏ = f(t, y)` with guards, time events, projection, quadratures.
//! Out: its trajectory, step by step, to an [`Observer`], and a [`Finish`] with the work done.
//!
//! The crate knows numbers only. Names, units and messages are put to them by the caller.
//!
//! ```
//! use paynter_solve::{EvalError, NoObserver, Options, System, integrate};
//!
//! /// A mass on a spring, ω = 2 rad/s.
//! struct Oscillator;
//!
//! impl System for Oscillator {
//!     fn n(&self) -> usize {
//!         2
//!     }
//!     fn rhs(&mut self, _t: f64, y: &[f64], f: &mut [f64]) -> Result<(), EvalError> {
//!         f[0] = y[1];
//!         f[1] = -4.0 * y[0];
//!         Ok(())
//!     }
//! }
//!
//! let end = integrate(&mut Oscillator, 0.0, &[1.0, 0.0], 3.0, &Options::default(), &mut NoObserver);
//! let end = end.expect("an oscillator has no trouble");
//! assert!((end.y[0] - 6.0_f64.cos()).abs() < 1e-5);
//! ```

mod banded;
mod bdf;
mod bridge;
mod choose;
mod clock;
mod complementarity;
mod dense;
mod dop853;
mod driver;
mod events;
mod fixed;
mod jacobian;
mod linear;
mod methods;
mod noise;
mod observer;
mod one_step;
mod options;
mod ordering;
mod quadrature;
mod rodas5p;
mod sparse;
mod stepper;
mod system;
mod tableau;
mod tridiagonal;
mod tsit5;

pub use clock::{Clock, Clocks, Rational};
pub use complementarity::{Complement, Pairs, complement};
pub use driver::integrate;
pub use methods::{Method, Stepping};
pub use observer::{Dense, EventRecord, NoObserver, Observer};
pub use options::{
    Absolute, Alike, BadInput, Choice, Failure, Finish, FinishReason, Function, Options, Reason,
    SolveError, Statistics, Tolerances, WhenFaded, WhenStiff,
};
pub use system::{
    Crossing, Direction, EvalError, EventOutcome, Passed, Pattern, Projection, Stepped, System,
};
pub use tableau::{Stage, Tableau, Term, Trial};
