//! From texts to a compiled model.
//!
//! In:  `.bond` texts found by a [`loader`], on disk or in memory.
//! Out: a [`Design`] (graph and plan) and what is [`Compiled`] from it (strokes, reduced equations), or every error
//!      with its place in the text. Only [`disk`], [`loader`] and [`output`] touch files.

pub mod assembly;
pub mod assumed;
pub mod check;
pub mod code;
pub mod compile;
pub mod delayed;
pub mod design;
pub mod digits;
pub mod disk;
pub mod failure;
mod floating;
pub mod inputs;
pub mod lagrangian;
pub mod library;
pub mod loader;
mod memo;
pub mod mobility;
pub mod names;
pub mod output;
pub mod overlay;
pub mod parameters;
pub mod parasitic;
pub mod sweeps;
pub mod unsupported;

pub use compile::Compiled;
pub use design::Design;
