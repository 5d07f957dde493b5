//! Facts about whole reductions.

mod index;
mod solution;
mod structure;
