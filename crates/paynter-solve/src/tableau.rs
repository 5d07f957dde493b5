//! An explicit Runge–Kutta step as data.
//!
//! In:  the numbers of a method.
//! Out: what a system needs to know that makes all stages of a step at once ([`System::step`](crate::System::step)).

/// Number of a stage, from 0, and its weight.
pub type Term = (usize, f64);

/// What one attempt at a step computes. The first stage is given.
#[derive(Clone, Copy, Debug)]
pub struct Tableau {
    /// The stages after the first.
    pub stages: &'static [Stage],
    /// Weights of the stages in the new state.
    pub end: &'static [Term],
    /// Weights of the stages in each estimate of its error.
    pub errors: &'static [&'static [Term]],
    /// Weights of the rows of integrands in the integrals over the step, and in the estimates of their errors.
    pub integrals: &'static [&'static [f64]],
}

/// One stage: the rates at `t + node h` and `y + h Σ weight rates`.
#[derive(Clone, Copy, Debug)]
pub struct Stage {
    /// Its time, as a part of the step.
    pub node: f64,
    /// Weights of the stages before it.
    pub terms: &'static [Term],
    /// The row that takes its integrands of quadratures.
    pub integrands: Option<usize>,
}

/// An attempt at a step, and room for what it gives. Rows follow one another, each with an entry for every variable
/// or quadrature.
///
/// Every sum takes its terms in their order, beginning with the first product, and then the step as a factor, without
/// fused operations: whoever makes the step, it has the same bits.
#[derive(Debug)]
pub struct Trial<'a> {
    /// The method.
    pub tableau: &'static Tableau,
    /// Time at the start.
    pub t: f64,
    /// Length of the step.
    pub h: f64,
    /// State at the start.
    pub y0: &'a [f64],
    /// Rates at the stages; the first row is there. Rows that the end weighs are read later, the others not.
    pub rates: &'a mut [f64],
    /// Integrands of the quadratures; empty if none are wanted. The first row is there; the others are not read once
    /// the integrals are given.
    pub integrands: &'a mut [f64],
    /// Takes the state at the last stage.
    pub last_stage: &'a mut [f64],
    /// Takes the state at the end.
    pub y1: &'a mut [f64],
    /// Takes the estimates of its error.
    pub errors: &'a mut [f64],
    /// Takes the integrals and the estimates of their errors.
    pub integrals: &'a mut [f64],
}

/// Joins the numbers of stages, from 1 as the books have them, to weights.
pub(crate) const fn terms<const S: usize>(stages: [usize; S], weights: [f64; S]) -> [Term; S] {
    let mut joined = [(0, 0.0); S];
    let mut j = 0;
    while j < S {
        joined[j] = (stages[j] - 1, weights[j]);
        j += 1;
    }
    joined
}
