//! Equations ready to run: states, and blocks that compute the rest in order.
//!
//! In:  made by `reduce` from a [`Dae`].
//! Out: read by the engine, which lowers it, and by printing.
//!
//! **Invariant:** given time, states, parameters, discrete symbols and modes, running
//! `blocks` in order gives every kept unknown and every derivative exactly once.

use crate::dae::{Dae, Origin};
use crate::expr::{ExprId, SymbolId};
use crate::reduce::Selector;

/// A state and its derivative.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct State {
    /// The state.
    pub symbol: SymbolId,
    /// Its time derivative, computed by the blocks (or a state itself, where the model writes
    /// second derivatives).
    pub derivative: SymbolId,
}

/// How an unknown that is not computed by a block is known all the same.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Known {
    /// It is a state, or computed by a block, or not an unknown.
    Itself,
    /// ± another symbol.
    Alias {
        /// Which.
        of: SymbolId,
        /// With opposite sign.
        negated: bool,
    },
    /// An expression of time, parameters and other symbols (usually a constant).
    Expression(ExprId),
}

/// A set of equations solved together.
#[derive(Clone, Debug, PartialEq)]
pub enum Block {
    /// `symbol = value`.
    Assign {
        /// What.
        symbol: SymbolId,
        /// From what.
        value: ExprId,
    },
    /// A z = b, after which `inner` follows from z.
    Linear {
        /// z: torn unknowns.
        unknowns: Vec<SymbolId>,
        /// Entries of A: (row, column, value), none of which reads an unknown of this block.
        matrix: Vec<(u32, u32, ExprId)>,
        /// b.
        right: Vec<ExprId>,
        /// A is symmetric positive definite by construction (congruence): Cholesky is safe.
        positive_definite: bool,
        /// Assignments in order that use z.
        inner: Vec<(SymbolId, ExprId)>,
        /// The equations it came from, for messages.
        origins: Vec<Origin>,
    },
    /// r(z) = 0 by Newton's method; inside an iteration `inner` is computed first.
    Nonlinear {
        /// z: torn unknowns.
        unknowns: Vec<SymbolId>,
        /// Assignments in order that use z.
        inner: Vec<(SymbolId, ExprId)>,
        /// r, reading z and `inner`.
        residuals: Vec<ExprId>,
        /// ∂r/∂z with `inner` eliminated by the chain rule: given as seeds, see `reduce`:
        /// total derivative entries (row, column, value) that may read z and `inner`.
        jacobian: Vec<(u32, u32, ExprId)>,
        /// The equations it came from.
        origins: Vec<Origin>,
    },
}

/// A system of index 1 or 0.
#[derive(Clone, Debug, Default)]
pub struct Reduced {
    /// The equations it was made from, with symbols and differentiated equations added.
    pub dae: Dae,
    /// In order: preferred ones first.
    pub states: Vec<State>,
    /// In the order of solution.
    pub blocks: Vec<Block>,
    /// For every symbol, by id.
    pub known: Vec<Known>,
    /// Constraints g = 0 that the blocks do not keep: what the start must meet and projection
    /// keeps. They read states and time, and may read what blocks compute from those. Declared
    /// positions ([`Dae::constraints`]) are at the end.
    pub constraints: Vec<ExprId>,
    /// Locks close loops: where bodies are in line they say less than elsewhere.
    pub closes_loops: bool,
    /// Locks that are left out because others imply them, by position in [`Dae::constraints`], ascending.
    pub released: Vec<usize>,
    /// Constraints g = 0 between states, dependent ones and their derivatives that the blocks
    /// keep by computing the dependent ones; useful to find consistent starts.
    pub hidden: Vec<ExprId>,
    /// Other selections of states may be needed when the present one becomes singular.
    pub is_selection_dynamic: bool,
    /// From what another selection is made: see [`crate::reduce::reselect`].
    pub selector: Selector,
    /// Structural index of the original equations (0, 1, 2, 3 …).
    pub structural_index: u32,
    /// Frozen quantities (modes, discrete symbols) in equations that were differentiated, with
    /// the origin of the equation and the side of it that was differentiated: where this side steps
    /// with them, an impulse would be needed.
    pub differentiated_switches: Vec<(Origin, SymbolId, ExprId)>,
    /// Parameters with whose present values terms of several equations cancel. With others they do not, and
    /// these equations are not those of the model.
    pub decided_by: Vec<SymbolId>,
    /// Incidences that the graph algorithms looked at: proves linear growth without a clock.
    pub work: u64,
}
