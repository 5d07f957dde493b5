//! From graph to trajectory: causality, equations, energies, published problems, laws that hold for any model.

mod causality;
mod dae;
mod decades;
mod dense;
mod energies;
mod energy;
mod equations;
mod fields;
mod invariance;
#[path = "../kit/mod.rs"]
mod kit;
mod lagrangian;
mod matrices;
mod memristor;
mod mixed_fields;
mod power;
#[path = "../kit/printed.rs"]
mod printed;
mod problems;
mod random;
mod reference;
mod rings;
mod speeds;
mod stored;
