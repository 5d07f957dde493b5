//! Models for other simulators: C code, and functional mock-up units (FMI 2.0 and 3.0).
//!
//! In:  a [`Design`](paynter::Design).
//! Out: an [`Export`]: the seam that every format is written from; texts of C files ([`c`]), a zip file ([`fmu`]).
//!
//! An export is one file and one row in [`FORMATS`]: it reads an [`Export`] and nothing else.
//!
//! **Invariant:** what a format cannot carry is refused with the reason, never left out in silence.

mod audit;
pub mod c;
pub mod code;
pub mod fmu;
mod names;
mod seam;
mod sizes;

pub use audit::export_audited;
pub use seam::{Export, Input, Output, Parameter, State, export, wanted_expressions};

/// The formats: name as typed, what it is.
pub const FORMATS: &[(&str, &str)] = &[
    ("c", "one .c and one .h, C99 with no library but math.h"),
    (
        "fmu",
        "a functional mock-up unit: Model Exchange and Co-Simulation",
    ),
];
