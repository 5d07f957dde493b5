//! What the structure of a bond graph tells before, and beside, any number.
//!
//! In:  a [`paynter::Design`], inputs and outputs.
//! Out: controllability and observability with the causal paths that prove them.
//!
//! `generic` has the model for all parameter values at once; `reach` follows causal paths; `derivative` turns
//! strokes round; `control` puts them together. `text` says it in the names of the user.

pub mod code;
pub mod control;
mod cures;
mod derivative;
pub mod generic;
mod ranks;
mod reach;
mod subject;
pub mod text;

pub use control::{Findings, SideFindings, control};
pub use cures::Cure;
pub use derivative::{Leftover, prefer_derivative};
pub use ranks::Reach;
pub use subject::{Subject, ask};
