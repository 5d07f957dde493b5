//! The text of the `.bond` language.
//!
//! In:  bytes of a file, as a [`Source`].
//! Out: a lossless tree, its plain [`ast`], and [`Diagnostic`]s that point into the text.
//!
//! This crate knows nothing of physics: names are not bound, units are not checked.

pub mod ast;
mod brackets;
pub mod code;
pub mod diagnostic;
mod format;
mod harmless;
mod lex;
mod parse;
mod render;
pub mod source;
mod tree;

pub use diagnostic::{Diagnostic, Label, Severity};
pub use format::{Formatted, format};
pub use harmless::harmless;
pub use lex::{TokenKind, Tokens, lex};
pub use parse::{Parsed, parse, parse_bytes};
pub use render::{at_origin, render, to_json};
pub use source::{FileId, Source, SourceMap, Span};
pub use tree::{NodeId, NodeKind, Tree};
