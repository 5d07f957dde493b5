//! Another choice of states at a point, and how good the present one is there.
//!
//! In:  a [`Reduced`] and the values of its symbols.
//! Out: a [`Selection`] for a new reduction; a number that says how badly it is needed.
//!
//! **Invariant:** what is chosen has the largest pivots that elimination finds at the point.

use super::states::Selection;
use crate::evaluate::Evaluator;
use crate::expr::{ExprId, SymbolId};
use crate::reduced::Reduced;

/// Chooses states by the size of numbers at a point: where the present choice is close to
/// singular, the result is another one, for [`super::Options::selection`] of a new reduction.
///
/// `values` gives every symbol of the reduced system at the point. `None` if the constraints
/// are dependent or have no value there.
pub fn reselect(reduced: &Reduced, values: &dyn Fn(SymbolId) -> f64) -> Option<Selection> {
    let selector = &reduced.selector;
    let dense = selector.dense_at(reduced, values)?;
    let mut depth = vec![0; selector.chains.len()];
    let mut candidates: Vec<usize> = (0..selector.chains.len()).collect();
    for stage in 1..=selector.n_stages() {
        candidates.retain(|&k| selector.chains[k].symbols.len() > stage);
        let rows = selector.rows_in(stage);
        candidates = pick_by_size(selector, stage, &rows, &candidates, &dense)?.columns;
        candidates.iter().for_each(|&k| depth[k] = stage);
    }
    let mut states: Vec<SymbolId> = Vec::new();
    for (chain, &depth) in selector.chains.iter().zip(&depth) {
        // The last symbol has no derivative, so it is never a state.
        let n_states = chain.symbols.len() - 1 - depth;
        states.extend(&chain.symbols[..n_states]);
    }
    states.sort_unstable();
    Some(Selection { states })
}

/// Measures how well the present states are chosen at a point: the ratio of the largest to the
/// smallest pivot of the minors behind the choice. 1 is best; infinite where the choice fails.
///
/// 1 if there was nothing to choose. Compare with its value when the choice was made.
pub fn selection_condition(reduced: &Reduced, values: &dyn Fn(SymbolId) -> f64) -> f64 {
    let selector = &reduced.selector;
    let Some(dense) = selector.dense_at(reduced, values) else {
        return f64::INFINITY;
    };
    let is_state = |s: &&SymbolId| reduced.states.iter().any(|state| state.symbol == **s);
    let depth: Vec<usize> = selector
        .chains
        .iter()
        .map(|chain| chain.symbols.len() - 1 - chain.symbols.iter().filter(is_state).count())
        .collect();
    let mut worst = 1.0_f64;
    for stage in 1..=selector.n_stages() {
        let columns: Vec<usize> = (0..depth.len()).filter(|&k| depth[k] >= stage).collect();
        let rows = selector.rows_in(stage);
        if columns.len() < rows.len() {
            // Constraints kept by projection choose nothing.
            continue;
        }
        match pick_by_size(selector, stage, &rows, &columns, &dense) {
            Some(picked) => worst = worst.max(picked.ratio),
            None => return f64::INFINITY,
        }
    }
    worst
}

/// The matrix from which states are chosen.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Selector {
    /// How often each constraint was differentiated.
    counts: Vec<u32>,
    /// Each candidate with its derivatives.
    chains: Vec<Chain>,
    /// ∂constraint/∂candidate: (constraint, chain, value).
    entries: Vec<(u32, u32, ExprId)>,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Chain {
    /// x, ẋ, ẍ …
    pub(crate) symbols: Vec<SymbolId>,
    /// How many of `symbols` the given system had; later ones came from differentiation.
    pub(crate) n_given: usize,
}

impl Chain {
    /// The unknown that is computed if the chain is picked in a stage.
    pub(crate) fn computed_in(&self, stage: usize) -> SymbolId {
        self.symbols[self.symbols.len() - 1 - stage]
    }

    /// Tells whether that unknown could be integrated in the given system.
    pub(crate) fn was_state(&self, stage: usize) -> bool {
        self.symbols.len() - stage < self.n_given
    }
}

impl Selector {
    pub(crate) fn new(
        counts: Vec<u32>,
        chains: Vec<Chain>,
        entries: Vec<(u32, u32, ExprId)>,
    ) -> Selector {
        Selector {
            counts,
            chains,
            entries,
        }
    }

    fn n_stages(&self) -> usize {
        self.counts.iter().copied().max().unwrap_or(0) as usize
    }

    fn rows_in(&self, stage: usize) -> Vec<usize> {
        (0..self.counts.len())
            .filter(|&r| self.counts[r] as usize >= stage)
            .collect()
    }

    /// Computes the whole matrix, row by row.
    fn dense_at(&self, reduced: &Reduced, values: &dyn Fn(SymbolId) -> f64) -> Option<Vec<f64>> {
        let n_columns = self.chains.len();
        let mut evaluator = Evaluator::new();
        let mut dense = vec![0.0; self.counts.len() * n_columns];
        for &(row, k, e) in &self.entries {
            let value = evaluator.evaluate(&reduced.dae.pool, e, values).ok()?;
            dense[row as usize * n_columns + k as usize] = Some(value).filter(|v| v.is_finite())?;
        }
        Some(dense)
    }
}

/// A column that is this small a part of itself after removing what earlier columns span is
/// taken to be dependent: far above rounding, far below any coefficient that means something.
pub(crate) const MIN_INDEPENDENT_PART: f64 = 1e-9;

/// Columns picked by [`pick_by_size`].
struct Picked {
    columns: Vec<usize>,
    /// Largest pivot over smallest.
    ratio: f64,
}

/// Picks as many columns as rows by elimination with complete pivoting; those that never were
/// states come first.
fn pick_by_size(
    selector: &Selector,
    stage: usize,
    rows: &[usize],
    candidates: &[usize],
    dense: &[f64],
) -> Option<Picked> {
    let n_columns = selector.chains.len();
    let mut a: Vec<Vec<f64>> = rows
        .iter()
        .map(|&r| {
            candidates
                .iter()
                .map(|&k| dense[r * n_columns + k])
                .collect()
        })
        .collect();
    let size = a.iter().flatten().fold(0.0_f64, |m, x| m.max(x.abs()));
    let mut is_row_used = vec![false; rows.len()];
    let mut picked: Vec<usize> = Vec::new();
    let mut pivots = (0.0_f64, f64::INFINITY);
    let mut is_picked = vec![false; candidates.len()];
    for were_states in [false, true] {
        while picked.len() < rows.len() {
            let mut best: Option<(usize, usize)> = None;
            for i in (0..rows.len()).filter(|&i| !is_row_used[i]) {
                for j in (0..candidates.len()).filter(|&j| !is_picked[j]) {
                    let is_of_kind = selector.chains[candidates[j]].was_state(stage) == were_states;
                    let is_better = best.is_none_or(|(p, q)| a[i][j].abs() > a[p][q].abs());
                    if is_of_kind && is_better {
                        best = Some((i, j));
                    }
                }
            }
            let Some((p, q)) = best else { break };
            if a[p][q].abs() <= MIN_INDEPENDENT_PART * size {
                break;
            }
            is_row_used[p] = true;
            is_picked[q] = true;
            picked.push(candidates[q]);
            pivots = (pivots.0.max(a[p][q].abs()), pivots.1.min(a[p][q].abs()));
            let pivot_row = a[p].clone();
            for i in (0..rows.len()).filter(|&i| !is_row_used[i]) {
                let factor = a[i][q] / pivot_row[q];
                a[i].iter_mut()
                    .zip(&pivot_row)
                    .for_each(|(x, y)| *x -= factor * y);
            }
        }
    }

    (picked.len() == rows.len()).then(|| Picked {
        columns: picked,
        ratio: (pivots.0 / pivots.1).max(1.0),
    })
}
