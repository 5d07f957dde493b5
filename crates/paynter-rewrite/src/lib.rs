//! Graph to graph: a bond-graph text made simpler, with a map from old to new names and a proof.
//!
//! In:  a `.bond` text and the model in it that is meant.
//! Out: a [`Rewritten`]: new text that runs, one line for each rule that was applied, what each old name is now,
//!      rules that could not be applied and why, and a proof made from the written text.
//!
//! `read` takes the graph from the syntax, `rules` change it, `write` puts it back, `proof` compares both texts.

mod algebra;
mod assume;
pub mod code;
mod dice;
mod expression;
mod kinematics;
mod matrix;
mod minimal;
mod net;
mod proof;
mod read;
mod reduce;
mod references;
mod rules;
mod scalarize;
mod session;
mod simplify;
mod starts;
mod subst;
mod truncate;
mod walk;
mod write;

pub use assume::assume;
pub use minimal::minimal;
pub use net::Step;
pub use proof::{Correspondence, Proof, Side, prove};
pub use reduce::{Reduction, reduce};
pub use rules::RULES;
pub use scalarize::scalarize;
pub use session::{Rewritten, Wish};
pub use simplify::simplify;
