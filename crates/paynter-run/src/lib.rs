//! Runs of compiled models.
//!
//! In:  a compiled model, what to record, method and tolerances.
//! Out: a run: its table, traces for measures, its energy audit, and how it ended. What goes wrong is a
//!      [`trouble::Trouble`] with time and place; this crate has no words for people.

pub mod areas;
pub mod audit;
pub mod configuration;
pub mod following;
pub mod gaps;
pub mod hybrid;
pub mod measure;
mod ranges;
pub mod recorder;
pub mod simulate;
pub mod spec;
pub mod table;
pub mod trace;
pub mod trouble;
