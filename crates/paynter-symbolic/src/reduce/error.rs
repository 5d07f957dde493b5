//! Why a system of equations has no unique solution by its structure alone.
//!
//! In:  made by the stages of `reduce`.
//! Out: read by the caller, who knows the names and the text and writes the sentence.
//!
//! **Invariant:** plain ids only; equations are those that the caller gave.

use crate::dae::Origin;
use crate::expr::SymbolId;

/// Why `reduce` gives up.
#[derive(Clone, Debug, PartialEq)]
pub enum StructuralError {
    /// More equations than unknowns in them, and every other unknown has its equation.
    OverDetermined(Part),
    /// Fewer equations than unknowns in them, and every other equation has its unknown.
    UnderDetermined {
        /// The unknowns that are too many, with the equations that mention them.
        part: Part,
        /// Equations that say nothing new because others imply them.
        redundant: Vec<EquationRef>,
    },
    /// Both at once: the usual result of one wrong equation.
    Singular {
        /// Where there are too many equations.
        over: Part,
        /// Where there are too few.
        under: Part,
        /// Equations that say nothing new because others imply them.
        redundant: Vec<EquationRef>,
    },
    /// Two equations give one symbol different constant values.
    Contradiction {
        /// Which symbol.
        symbol: SymbolId,
        /// Both values.
        values: (f64, f64),
        /// Both equations.
        equations: (EquationRef, EquationRef),
    },
    /// Equations that have the right structure but never a unique solution with the present
    /// values of parameters: a coefficient is zero, or two equations say the same.
    SingularBlock(Part),
    /// Equations of which a combination reads no unknown at all: they say the same twice, or contradict
    /// each other.
    Dependent {
        /// The equations of the combination, and the unknowns that stay open without one of them.
        part: Part,
        /// The combination is false, not 0 = 0.
        is_contradiction: bool,
    },
    /// An equation without unknowns that is false, such as 1 = 2.
    False {
        /// Which.
        equation: EquationRef,
        /// left − right.
        residual: f64,
    },
}

/// A set of equations and the unknowns in them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Part {
    /// Equations, ascending.
    pub equations: Vec<EquationRef>,
    /// Unknowns, ascending.
    pub unknowns: Vec<SymbolId>,
}

/// One equation of the given [`crate::dae::Dae`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct EquationRef {
    /// Its position in [`crate::dae::Dae::equations`].
    pub index: usize,
    /// Where it comes from.
    pub origin: Origin,
}
