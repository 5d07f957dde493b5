//! Runs reduced equations: interpreter and machine code, events, consistent starts.
//!
//! In:  a [`Reduced`](paynter_symbolic::reduced::Reduced) system and the columns to record.
//! Out: a [`Machine`], which is a [`System`](paynter_solve::System) that integrators can run,
//!      and which computes starts, recorded columns, and the powers of the first-law audit.
//!
//! The stages: `plan` says where every value comes from, `emit` turns that into steps over
//! numbered slots, `tangent` differentiates steps, `code` interprets them and `jit` compiles
//! them, `machine` puts them together.

mod affine;
mod audit;
mod block;
mod clock;
mod code;
mod dense;
mod emit;
mod events;
mod failure;
mod jit;
mod lower;
mod machine;
mod map;
mod memory;
mod pattern;
mod plan;
mod sparse;
mod start;
mod tangent;

pub use audit::{AuditLayout, StoredEnergy};
pub use emit::LowerError;
pub use failure::Failure;
pub use lower::{Engine, Form, Lowering, lower, lower_with};
pub use machine::{Counters, Machine, SetError};
pub use start::{ChangedStart, StartError, StartReport};
