//! Bodies and joints: assembly, singular positions, four methods, references found without Paynter.

mod angles;
mod bodies;
mod delayed;
mod kane;
#[path = "../kit/mod.rs"]
mod kit;
mod mechanism_references;
mod mechanisms;
mod methods;
mod random_loops;
mod redundant_locks;
mod rotations;
