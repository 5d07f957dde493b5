//! Expressions, differential-algebraic equations and their structural reduction.
//!
//! In:  a [`dae::Dae`]: symbols, equations in residual form, events, demands on the start.
//! Out: a [`reduced::Reduced`]: states, and blocks that compute everything else in order.
//!
//! This crate knows nothing of bond graphs or of text; origins are opaque numbers.

pub mod angle;
pub mod antiderivative;
pub mod calculus;
pub mod classes;
pub mod dae;
mod eliminate;
pub mod evaluate;
pub mod events;
pub mod expr;
pub mod linear;
pub mod names;
mod node_index;
pub mod normal;
pub mod present;
pub mod print;
pub mod reduce;
pub mod reduced;
pub mod simplify;
pub mod slopes;
pub mod state_space;
#[cfg(test)]
mod testing;
pub mod walk;

pub use dae::{Dae, Equation, Origin, Role, Symbol};
pub use expr::{Comparison, ExprId, Function1, Function2, Node, Pool, SymbolId};
pub use names::{Names, PathId};
pub use reduced::{Block, Reduced};
