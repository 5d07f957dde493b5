//! The model for all values of its parameters at once: A, B, C, D over a field in which nothing is rounded.
//!
//! In:  a bond graph, inputs and outputs.
//! Out: a [`GenericModel`] whose ranks are the generic ones: those of almost all parameter values.
//!
//! Every element gets a parameter of its own (`loosen`), the equations of the graph are differentiated and
//! evaluated at random numbers of a prime field (`assemble`), and states are separated from the rest by exact
//! elimination (`solve`), dependent storages included. Functions without a value in the field (sin, tables,
//! branches) count as independent numbers.
//!
//! **Invariant:** junctions, signs and numbers of signals are exact, so that what cancels in the
//! structure cancels here.

mod assemble;
mod field;
mod loosen;
mod matrix;
mod solve;
mod values;

pub use assemble::{Equations, Unassembled, assemble};
pub use field::Number;
pub use loosen::{Probe, follows as follows_any, loosen};
pub use matrix::{Basis, Matrix};
pub use solve::{GenericModel, Unsolved, solve};
