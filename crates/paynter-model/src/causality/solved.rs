//! What the equations add to the strokes, once they have been solved.
//!
//! Strokes are assigned before there are equations; the reports show both side by side. An empty value
//! stands for a model whose equations are not there yet, or have no solution.

use crate::graph::ElementId;

/// Facts about the equations behind an assignment of strokes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Solved {
    /// Structural index of the equations.
    pub structural_index: Option<u32>,
    /// Elements of `Causality::reversed_moduli` whose modulus the equations, solved together, do not
    /// divide by.
    pub harmless_moduli: Vec<ElementId>,
}
