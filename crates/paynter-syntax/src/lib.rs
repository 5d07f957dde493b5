//! The text of the `.bond` language.
//!
//! In:  bytes of a file, as a [`Source`].
//! Out: a lossless tree, its plain [`ast`], and [`Diagnostic`]s that point into the text.
//!
//! This crate knows nothing of physics: names are not bound, units are not checked.

pub mod ast;
pub mod diagnostic;
pub mod source;

pub use diagnostic::{Diagnostic, Label, Severity};
pub use source::{FileId, Source, SourceMap, Span};
