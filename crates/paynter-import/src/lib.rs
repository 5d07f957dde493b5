//! Models of other programs, written as bond-graph text.
//!
//! In:  the text of a file of another program.
//! Out: the text of a `.bond` file, and messages about what it could not take over, at their lines of the other file.
//!
//! **Invariant:** what is written can be run as it is; what is not understood is refused or named, never left out in
//! silence.

pub mod code;
mod urdf;

pub use urdf::import_urdf;

use paynter_syntax::{Diagnostic, SourceMap};

/// A file that was read.
#[derive(Clone, Debug)]
pub struct Imported {
    /// The text of the model; none if there were errors.
    pub text: Option<String>,
    /// Errors and warnings.
    pub diagnostics: Vec<Diagnostic>,
    /// The file that they point into.
    pub sources: SourceMap,
}
