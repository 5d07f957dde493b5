//! Texts as users write them: messages, bad input, the library, the gallery, the snippets of the book.

mod assumed;
mod bad_input;
mod deletion;
mod diagnostics;
mod experiments_extend;
#[path = "../kit/fixtures.rs"]
mod fixtures;
mod gallery;
#[path = "../kit/mod.rs"]
mod kit;
mod layers;
mod library;
mod overlay;
mod readable;
mod snippets;
