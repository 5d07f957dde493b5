//! Runs reduced equations: interpreter and machine code, events, consistent starts.
//!
//! In:  a [`Reduced`](paynter_symbolic::reduced::Reduced) system and the columns to record.
//! Out: a [`Machine`], which is a [`System`](paynter_solve::System) that integrators can run,
//!      and which computes starts, recorded columns, and the powers of the first-law audit.
//!
//! The stages: `plan` says where every value comes from, `emit` turns that into steps over
//! numbered slots, `tangent` differentiates steps, `code` interprets them and `jit` compiles
//! them, `machine` puts them together.
//!
//! # Example
//!
//! A capacitor that discharges, q' = −q, from q = 2:
//!
//! ```
//! use paynter_exec::{Engine, lower};
//! use paynter_solve::{NoObserver, Options, integrate};
//! use paynter_symbolic::dae::Start;
//! use paynter_symbolic::{Dae, Equation, Names, Origin, Role, Symbol};
//!
//! let mut dae = Dae::default();
//! let name = dae.names.child(Names::ROOT, "q", None);
//! let symbol = |role| Symbol { name, role, nominal: 0.0, origin: Origin(0) };
//! let q = dae.add_symbol(symbol(Role::Unknown));
//! let rate = dae.add_symbol(symbol(Role::Derivative { of: q }));
//! let (q, rate) = (dae.pool.symbol(q), dae.pool.symbol(rate));
//! let right = dae.pool.neg(q);
//! dae.equations.push(Equation { left: rate, right, solves: None, origin: Origin(0) });
//! let value = dae.pool.number(2.0);
//! dae.starts.push(Start { target: q, value, is_guess: false, origin: Origin(0) });
//!
//! let reduced = paynter_symbolic::reduce::reduce(dae).expect("one equation, one unknown");
//! let mut machine = lower(&reduced, &[q], Engine::Auto).expect("everything is defined");
//! let start = machine.initialise(0.0).expect("the start is consistent");
//! let end = integrate(&mut machine, 0.0, &start.y0, 1.0, &Options::default(), &mut NoObserver)
//!     .expect("the run ends");
//! let mut columns = [0.0];
//! machine.observe(1.0, &end.y, &mut columns).expect("q has a value");
//! assert!((columns[0] - 2.0 * (-1.0_f64).exp()).abs() < 1e-5);
//! ```

mod actions;
mod affine;
mod ahead;
mod anchors;
mod assemble;
mod audit;
mod balance;
mod block;
mod carry;
mod cholesky;
mod clock;
mod code;
mod degree;
mod dense;
mod direction;
mod emit;
mod events;
mod failure;
mod fuse;
mod image;
mod inertia;
mod jit;
mod least;
mod listeners;
mod lower;
mod machine;
mod map;
mod mechanism;
mod memory;
mod partition;
mod pattern;
mod plan;
pub mod program;
mod rechoice;
mod regularity;
mod shaken;
mod sizes;
mod sparse;
mod start;
mod tangent;
mod time_line;

pub use assemble::{Assembly, Mismatch, Redundant, assemble};
pub use audit::{AuditLayout, AuditTotals, StoredEnergy};
pub use balance::Passed;
pub use direction::without_direction;
pub use emit::LowerError;
pub use failure::{Conflict, Failure};
pub use inertia::inertias_at;
pub use lower::{Engine, Form, Lowering, lower, lower_with};
pub use machine::{Counters, Machine, SetError};
pub use mechanism::{LockScale, MechanismScales, scales_of_mechanism};
pub use partition::MAX_ROWS as MAX_ROWS_OF_MINIMAL;
pub use start::{ChangedStart, Misfit, StartError, StartReport, single_out};
