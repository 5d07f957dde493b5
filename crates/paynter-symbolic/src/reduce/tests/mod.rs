//! Facts about whole reductions.

mod combine;
mod index;
mod solution;
mod structure;
