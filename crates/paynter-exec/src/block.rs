//! Equations solved together while a model runs: A z = b, and r(z) = 0.
//!
//! In:  slots that hold the entries of A and b, or steps that compute r and ∂r/∂z.
//! Out: the slots of z; and, for tangents, the slots of ż.
//!
//! Tangents use the implicit function theorem with the factor of the last solution:
//! A ż = ḃ − Ȧ z, and (∂r/∂z) ż = −ṙ with z held.
//!
//! **Invariant:** after a solution, everything computed from z inside the block belongs to
//! the very z in the slots.

use crate::cholesky::SparseCholesky;
use crate::code::{Step, run};
use crate::dense::{
    NoFactor, factor_cholesky, factor_graded_lu, factor_lu, solve_cholesky, solve_lu,
};
use crate::events::mode_at;
use crate::failure::Fault;
use crate::image::SwitchKind;
use crate::memory::Memory;
use crate::sparse::SparseLu;

/// Up to this many unknowns a dense factor is faster than looking for zeros.
const DENSE_LIMIT: usize = 40;

/// The factor of one block, and room to work.
#[derive(Clone, Debug, Default)]
pub(crate) struct Factor {
    kind: FactorKind,
    matrix: Vec<f64>,
    /// Takes the place of `matrix` in large blocks.
    sparse: Option<Box<SparseLu>>,
    /// Takes the place of both in large blocks that are positive definite, as long as they are.
    symmetric: Option<Box<SparseCholesky>>,
    values: Vec<f64>,
    scales: Vec<f64>,
    pivots: Vec<u32>,
    /// Right-hand side, then solution.
    x: Vec<f64>,
    /// Newton: present iterate, present correction.
    z: Vec<f64>,
    step: Vec<f64>,
    /// Newton: the last solution found, where the next search starts.
    last: Vec<f64>,
    /// Newton: the largest size of each unknown in any solution of the run.
    largest: Vec<f64>,
    has_last: bool,
    /// Newton: the solution may be far from the last one (start, event).
    may_jump: bool,
    /// Newton: r(z) = shift is solved; zero but while a solution is followed.
    shift: Vec<f64>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq)]
enum FactorKind {
    #[default]
    None,
    Lu,
    Cholesky,
    SparseLu,
    SparseCholesky,
}

/// The shape of a block: its unknowns, and where it has entries.
#[derive(Clone, Debug, Default)]
pub(crate) struct BlockShape {
    pub n: usize,
    /// (row, column); of symmetric blocks those with row ≥ column.
    pub places: Vec<(u32, u32)>,
    pub is_symmetric: bool,
}

impl Factor {
    /// Makes room for a block.
    pub(crate) fn new(shape: &BlockShape) -> Self {
        let n = shape.n;
        let is_sparse = n > DENSE_LIMIT;
        let (n_dense, n_values) = match is_sparse {
            true => (0, shape.places.len()),
            false => (n, 0),
        };
        let is_symmetric = is_sparse && shape.is_symmetric;
        let is_any = is_sparse && !shape.is_symmetric;
        Factor {
            kind: FactorKind::None,
            matrix: vec![0.0; n_dense * n_dense],
            sparse: is_any.then(|| Box::new(SparseLu::new(n, &shape.places))),
            symmetric: is_symmetric.then(|| Box::new(SparseCholesky::new(n, &shape.places))),
            values: vec![0.0; n_values],
            scales: vec![0.0; n_dense],
            pivots: vec![0; n_dense],
            x: vec![0.0; n],
            z: vec![0.0; n],
            step: vec![0.0; n],
            last: vec![0.0; n],
            largest: vec![0.0; n],
            has_last: false,
            may_jump: true,
            shift: vec![0.0; n],
        }
    }

    fn is_sparse(&self) -> bool {
        self.sparse.is_some() || self.symmetric.is_some()
    }

    /// Forgets the last solution: a new run must not depend on the one before.
    pub(crate) fn forget(&mut self) {
        self.has_last = false;
        self.may_jump = true;
        self.largest.fill(0.0);
        if let Some(sparse) = &mut self.sparse {
            sparse.forget();
        }
    }

    /// Lets the next solution be far from the last one, as after an event.
    pub(crate) fn expect_jump(&mut self) {
        self.may_jump = true;
    }

    /// Lets the next Newton search begin at this value of one unknown.
    pub(crate) fn guess(&mut self, place: usize, value: f64) {
        if !self.has_last {
            self.last.fill(0.0);
            self.has_last = true;
        }
        self.last[place] = value;
    }

    /// Gives the last solution found; nothing if there is none.
    pub(crate) fn found(&self) -> &[f64] {
        match self.has_last {
            true => &self.last,
            false => &[],
        }
    }

    fn load(&mut self, entries: &[(u32, u32, u32)], slots: &[f64]) {
        if self.is_sparse() {
            for (value, entry) in self.values.iter_mut().zip(entries) {
                *value = slots[entry.2 as usize];
            }
            return;
        }
        let n = self.x.len();
        self.matrix.fill(0.0);
        for &(row, column, slot) in entries {
            self.matrix[row as usize * n + column as usize] += slots[slot as usize];
        }
    }

    /// Copies what is below the diagonal of a dense matrix above it.
    fn mirror(&mut self) {
        let n = self.x.len();
        for row in 0..self.matrix.len() / n.max(1) {
            for column in 0..row {
                self.matrix[column * n + row] = self.matrix[row * n + column];
            }
        }
    }

    /// Factors a symmetric block of which the entries on and below the diagonal are loaded.
    fn factor_definite(&mut self) -> Result<(), NoFactor> {
        let n = self.x.len();
        match &mut self.symmetric {
            Some(symmetric) => {
                self.kind = FactorKind::SparseCholesky;
                symmetric.factor(&self.values)
            }
            None => {
                self.kind = FactorKind::Cholesky;
                factor_cholesky(&mut self.matrix, n)
            }
        }
    }

    /// Factors a block with exchanges.
    fn factor(&mut self) -> Result<(), NoFactor> {
        if let Some(sparse) = &mut self.sparse {
            self.kind = FactorKind::SparseLu;
            return sparse.factor(&self.values);
        }
        let n = self.x.len();
        self.kind = FactorKind::Lu;
        factor_lu(&mut self.matrix, n, &mut self.scales, &mut self.pivots)
    }

    /// Factors a large symmetric block that is not definite, with exchanges: the rare case, near a dead centre.
    #[cold]
    fn factor_indefinite(&mut self, entries: &[(u32, u32, u32)]) -> Result<(), NoFactor> {
        let below = entries.iter().zip(&self.values);
        let above = below.clone().filter(|(entry, _)| entry.0 != entry.1);
        let places = below.clone().map(|(&(r, c, _), _)| (r, c));
        let places: Vec<_> = places
            .chain(above.clone().map(|(&(r, c, _), _)| (c, r)))
            .collect();
        let values = below.map(|(_, &value)| value);
        let values: Vec<f64> = values.chain(above.map(|(_, &value)| value)).collect();
        let n = self.x.len();
        let sparse = self
            .sparse
            .get_or_insert_with(|| Box::new(SparseLu::new(n, &places)));
        self.kind = FactorKind::SparseLu;
        sparse.factor(&values)
    }

    /// Solves with the factor at hand; false if there is no solution.
    fn solve(&mut self) -> bool {
        let n = self.x.len();
        let x = &mut self.x;
        match (self.kind, &mut self.sparse, &mut self.symmetric) {
            (FactorKind::SparseCholesky, _, Some(symmetric)) => return symmetric.solve(x),
            (FactorKind::SparseLu, Some(sparse), _) => sparse.solve(x),
            (FactorKind::Cholesky, ..) => solve_cholesky(&self.matrix, n, x),
            _ => solve_lu(&self.matrix, n, &self.scales, &self.pivots, x),
        }
        true
    }
}

fn fault(block: u32, why: NoFactor) -> Fault {
    match why {
        NoFactor::Singular => Fault::Singular(block),
        NoFactor::NotFinite => Fault::BlockNotFinite(block),
    }
}

/// A z = b.
#[derive(Clone, Debug)]
pub(crate) struct LinearBlock {
    /// Position among the blocks that are solved at run time; also of its factor.
    pub block: u32,
    pub unknowns: Vec<u32>,
    /// (row, column, slot); entries at one place add up. Of a positive definite block those with row ≥ column.
    pub matrix: Vec<(u32, u32, u32)>,
    pub right: Vec<u32>,
    pub is_positive_definite: bool,
}

/// Lists the entries of a matrix whole: of a symmetric one those above the diagonal as well.
pub(crate) fn whole<T: Copy>(
    matrix: &[(u32, u32, T)],
    is_symmetric: bool,
) -> impl Iterator<Item = (u32, u32, T)> {
    let above = matrix.iter().filter(move |e| is_symmetric && e.0 != e.1);
    let above = above.map(|&(row, column, e)| (column, row, e));
    matrix.iter().copied().chain(above)
}

impl LinearBlock {
    pub(crate) fn solve(&self, memory: &mut Memory) -> Result<(), Fault> {
        let Memory {
            slots,
            factors,
            factorisations,
            ..
        } = memory;

        let factor = &mut factors[self.block as usize];
        factor.load(&self.matrix, slots);
        *factorisations += 1;
        let mut result = match self.is_positive_definite {
            true => factor.factor_definite(),
            false => factor.factor(),
        };
        if self.is_positive_definite && result == Err(NoFactor::Singular) {
            // Positive definite by construction, but with vanishing storages it is only
            // semidefinite; row exchanges may still find a solution.
            result = match factor.symmetric.is_some() {
                true => factor.factor_indefinite(&self.matrix),
                false => {
                    factor.load(&self.matrix, slots);
                    factor.mirror();
                    factor.factor()
                }
            };
        }

        if result == Err(NoFactor::Singular) && !factor.is_sparse() {
            // Conductances of contacts lie many decades apart: a small pivot may be all there is.
            factor.load(&self.matrix, slots);
            if self.is_positive_definite {
                factor.mirror();
            }
            factor.kind = FactorKind::Lu;
            let n = factor.x.len();
            result = factor_graded_lu(
                &mut factor.matrix,
                n,
                &mut factor.scales,
                &mut factor.pivots,
            );
        }

        result.map_err(|why| fault(self.block, why))?;
        for (x, &slot) in factor.x.iter_mut().zip(&self.right) {
            *x = slots[slot as usize];
        }
        if !factor.solve() {
            return Err(Fault::Singular(self.block));
        }
        for (&x, &slot) in factor.x.iter().zip(&self.unknowns) {
            slots[slot as usize] = x;
        }
        Ok(())
    }
}

/// A ż = ḃ − Ȧ z with the factor at hand.
#[derive(Clone, Debug)]
pub(crate) struct LinearTangent {
    pub block: u32,
    pub unknowns: Vec<u32>,
    /// Slots of ż.
    pub tangents: Vec<u32>,
    /// (row, column, slot of the tangent of the entry).
    pub matrix: Vec<(u32, u32, u32)>,
    /// (row, slot of the tangent of b).
    pub right: Vec<(u32, u32)>,
}

impl LinearTangent {
    pub(crate) fn solve(&self, memory: &mut Memory) -> Result<(), Fault> {
        let Memory { slots, factors, .. } = memory;
        let factor = &mut factors[self.block as usize];
        factor.x.fill(0.0);
        for &(row, slot) in &self.right {
            factor.x[row as usize] += slots[slot as usize];
        }
        for &(row, column, slot) in &self.matrix {
            let z = slots[self.unknowns[column as usize] as usize];
            factor.x[row as usize] -= slots[slot as usize] * z;
        }
        factor.solve();
        for (&x, &slot) in factor.x.iter().zip(&self.tangents) {
            slots[slot as usize] = x;
        }
        Ok(())
    }
}

/// r(z) = 0.
#[derive(Clone, Debug)]
pub(crate) struct NewtonBlock {
    /// Position among the blocks that are solved at run time; also of its factor.
    pub block: u32,
    pub unknowns: Vec<u32>,
    /// Typical sizes of z, 0 where unknown.
    pub nominals: Vec<f64>,
    /// Computes the residuals from z.
    pub body: Vec<Step>,
    pub residuals: Vec<u32>,
    /// Computes the entries of ∂r/∂z, after `body`.
    pub slopes: Vec<Step>,
    pub jacobian: Vec<(u32, u32, u32)>,
    /// Modes that depend on z: (slot of the mode, its kind, slot of what decides on it).
    pub loose: Vec<(u32, SwitchKind, u32)>,
}

/// Whether the modes of a block follow its unknowns during a search.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Modes {
    /// As between events.
    Frozen,
    /// As the iterates have it: r is then the law itself, with its kinks (semismooth Newton,
    /// Qi & Sun 1993).
    Loose,
}

/// Corrections below this share of z are rounding: Newton is done.
const DONE: f64 = 1e-14;
/// A correction that is this small but no longer shrinks is the noise of evaluating r.
const NOISE: f64 = 1e-9;
/// A correction that no longer shrinks is rounding if it is this small against the largest value of the run: 16 digits
/// less what cancels in sums of laws whose slopes lie decades apart.
const ROUNDING: f64 = 1e-12;
/// The old Jacobian is good enough as long as each correction is this much smaller than the
/// last; a new one squares the error, and for most blocks costs no more than an iteration.
const GOOD_CONTRACTION: f64 = 0.03;
/// Newton doubles its digits each time, but an exponential is come down from by one e-fold in each:
/// 700 of them are all that a number can hold. A search longer than this goes nowhere.
const MAX_ITERATIONS: usize = 1000;
/// A step cut this often no longer moves z. An exponential that is nearly flat asks for steps this
/// much too long.
const SMALLEST_DAMPING: f64 = 1e-10;
/// A path to the solution is followed in steps no smaller than this part of it.
const SMALLEST_STRIDE: f64 = 1e-4;
/// Strides that a path may take.
const MAX_STRIDES: usize = 200;
/// Stands for the size of an unknown whose nominal value nobody knows, so that a solution
/// z = 0 can be recognised.
const UNKNOWN_NOMINAL: f64 = 1e-3;

/// A solution that can move by this part of its size and still fits is none.
const RESOLUTION: f64 = 1e-6;
/// An unknown takes part in an open direction if it moves by more than this part of what the others do. Those that are
/// fixed move by roundings only.
const OPEN_SHARE: f64 = 1e-3;
/// A block is probed in so many directions at most: each takes an evaluation.
const MOST_PROBED: usize = 40;

impl NewtonBlock {
    /// Finds z near the last solution, or by a path from it. At a start or after an event, where
    /// there may be no solution near it, also from zero and from typical sizes, and with modes
    /// that follow z.
    ///
    /// Elsewhere a search that fails is an error, not a jump to another solution: the solver
    /// comes back with a smaller step.
    pub(crate) fn solve(&self, memory: &mut Memory) -> Result<(), Fault> {
        let block = self.block as usize;
        let mut result = Err(Fault::NoConvergence(self.block));
        if memory.factors[block].has_last {
            self.go_to_last(memory);
            result = self.search(memory, Modes::Frozen);
            if result.is_err() {
                self.go_to_last(memory);
                result = self.follow(memory, Modes::Frozen);
            }
        }

        // Where the law has no value at the last solution, nothing leads on from there.
        let is_lost = matches!(result, Err(Fault::BlockNotFinite(_)));
        if result.is_ok() || !(memory.factors[block].may_jump || is_lost) {
            return result;
        }

        let modes: Vec<f64> = self.mode_slots().map(|m| memory.slots[m]).collect();
        let attempts: &[Modes] = if self.loose.is_empty() || !memory.factors[block].may_jump {
            &[Modes::Frozen]
        } else {
            &[Modes::Loose, Modes::Frozen]
        };
        for &attempt in attempts {
            for share in [0.0, 1.0, -1.0] {
                for follows in [false, true] {
                    self.go_to_share(memory, share);
                    let found = if follows {
                        self.follow(memory, attempt)
                    } else {
                        self.search(memory, attempt)
                    };
                    if found.is_ok() {
                        return found;
                    }
                    if !memory.factors[block].has_last && share == 0.0 && !follows {
                        result = found;
                    }
                    // Singular where the search began, and regular elsewhere: what is missing is a solution.
                    if matches!(
                        (result, found),
                        (Err(Fault::Singular(_)), Err(Fault::NoConvergence(_)))
                    ) {
                        result = found;
                    }
                    for (slot, &mode) in self.mode_slots().zip(&modes) {
                        memory.slots[slot] = mode;
                    }
                }
            }
            if matches!(result, Err(Fault::BlockNotFinite(_)))
                && self.search_finite(memory, attempt)
            {
                return Ok(());
            }
        }
        result
    }

    /// Gives the unknowns that the equations leave open at the solution in the slots: those that take part in a
    /// direction in which all can move by a millionth of their size without a change of any residual, down to the
    /// last bit.
    pub(crate) fn open_unknowns(&self, memory: &mut Memory) -> Result<Vec<usize>, Fault> {
        let block = self.block as usize;
        let n = self.unknowns.len();
        let read = |memory: &Memory, slots: &[u32]| -> Vec<f64> {
            slots.iter().map(|&s| memory.slots[s as usize]).collect()
        };
        let (z, r) = (read(memory, &self.unknowns), read(memory, &self.residuals));
        let largest = z.iter().fold(0.0, |size: f64, z| size.max(z.abs()));
        if largest == 0.0 {
            return Ok(Vec::new());
        }

        // What is zero has no size of its own.
        let size = |k: usize| if z[k] == 0.0 { largest } else { z[k].abs() };
        self.factor(memory)?;
        let mut is_open = vec![false; n];

        // Nearly every right side has a part along a direction that is open, which the solution magnifies.
        for row in (0..n).step_by(n.div_ceil(MOST_PROBED)) {
            let factor = &mut memory.factors[block];
            factor.x.fill(0.0);
            factor.x[row] = 1.0;
            factor.solve();
            let move_of: Vec<f64> = (0..n).map(|k| factor.x[k].abs() / size(k)).collect();
            let length = move_of.iter().copied().fold(0.0, f64::max);
            if !length.is_finite() {
                continue;
            }
            for (k, &slot) in self.unknowns.iter().enumerate() {
                memory.slots[slot as usize] = z[k] + RESOLUTION / length * factor.x[k];
            }
            run(&self.body, memory)?;
            if read(memory, &self.residuals) == r {
                for (open, part) in is_open.iter_mut().zip(move_of) {
                    *open |= part > OPEN_SHARE * length;
                }
            }
        }

        for (&slot, &z) in self.unknowns.iter().zip(&z) {
            memory.slots[slot as usize] = z;
        }
        run(&self.body, memory)?;
        Ok((0..n).filter(|&k| is_open[k]).collect())
    }

    /// Searches from points at which the law has a value, one unknown away from zero: an exponential
    /// overflows where all of a voltage lies across it.
    fn search_finite(&self, memory: &mut Memory, modes: Modes) -> bool {
        // More unknowns than this are rarely all at zero in the way.
        const MOST_UNKNOWNS: usize = 20;
        for k in 0..self.unknowns.len().min(MOST_UNKNOWNS) {
            for share in [1.0, -1.0, 8.0, -8.0, 64.0, -64.0, 512.0, -512.0] {
                self.go_to_share(memory, 0.0);
                let nominal = self.nominals[k];
                let size = if nominal > 0.0 { nominal } else { 1.0 };
                memory.slots[self.unknowns[k] as usize] = share * size;
                if self.search(memory, modes).is_ok() {
                    return true;
                }
            }
        }
        false
    }

    fn mode_slots(&self) -> impl Iterator<Item = usize> {
        self.loose.iter().map(|mode| mode.0 as usize)
    }

    fn go_to_last(&self, memory: &mut Memory) {
        let Memory { slots, factors, .. } = memory;
        let last = &factors[self.block as usize].last;
        for (&z, &slot) in last.iter().zip(&self.unknowns) {
            slots[slot as usize] = z;
        }
    }

    fn go_to_share(&self, memory: &mut Memory, share: f64) {
        for (&slot, &nominal) in self.unknowns.iter().zip(&self.nominals) {
            let size = if nominal > 0.0 { nominal } else { 1.0 };
            memory.slots[slot as usize] = share * size;
        }
    }

    /// Follows the path r(z) = (1 − λ) r(z₀) from the present z₀ to λ = 1 (Newton homotopy;
    /// Allgower & Georg 1990, §11): where laws are monotone it has no folds.
    fn follow(&self, memory: &mut Memory, modes: Modes) -> Result<(), Fault> {
        let block = self.block as usize;
        self.evaluate(memory, modes)?;
        let begin: Vec<f64> = self
            .residuals
            .iter()
            .map(|&r| memory.slots[r as usize])
            .collect();
        if begin.iter().any(|r| !r.is_finite()) {
            return Err(Fault::BlockNotFinite(self.block));
        }

        let mut z: Vec<f64> = self
            .unknowns
            .iter()
            .map(|&s| memory.slots[s as usize])
            .collect();
        let (mut done, mut stride) = (0.0, 0.25_f64);
        let mut result = Err(Fault::NoConvergence(self.block));
        for _ in 0..MAX_STRIDES {
            let aim = (done + stride).min(1.0);
            for (shift, r) in memory.factors[block].shift.iter_mut().zip(&begin) {
                *shift = (1.0 - aim) * r;
            }
            for (&z, &slot) in z.iter().zip(&self.unknowns) {
                memory.slots[slot as usize] = z;
            }
            result = self.search(memory, modes);
            if result.is_ok() {
                if aim == 1.0 {
                    break;
                }
                for (z, &slot) in z.iter_mut().zip(&self.unknowns) {
                    *z = memory.slots[slot as usize];
                }
                done = aim;
                stride *= 2.0;
                result = Err(Fault::NoConvergence(self.block));
            } else {
                stride *= 0.25;
                if stride < SMALLEST_STRIDE {
                    break;
                }
            }
        }

        memory.factors[block].shift.fill(0.0);
        result
    }

    /// Computes r at the z in the slots, with the modes that belong to it where these are loose.
    fn evaluate(&self, memory: &mut Memory, modes: Modes) -> Result<(), Fault> {
        run(&self.body, memory)?;
        if modes == Modes::Frozen {
            return Ok(());
        }
        // A mode may depend on another: so many rounds as there are modes settle all of them.
        for _ in 0..=self.loose.len() {
            let mut has_changed = false;
            for &(slot, kind, value) in &self.loose {
                let new = mode_at(kind, memory.slots[value as usize], None);
                let held = &mut memory.slots[slot as usize];
                has_changed |= *held != new;
                *held = new;
            }
            if !has_changed {
                break;
            }
            run(&self.body, memory)?;
        }
        Ok(())
    }

    fn search(&self, memory: &mut Memory, modes: Modes) -> Result<(), Fault> {
        let block = self.block as usize;
        for k in 0..self.unknowns.len() {
            memory.factors[block].z[k] = memory.slots[self.unknowns[k] as usize];
        }

        self.evaluate(memory, modes)?;
        self.factor(memory)?;
        let mut size = self.correct(memory);
        if !size.is_finite() {
            return Err(Fault::BlockNotFinite(self.block));
        }

        let mut damping = 1.0;
        for _ in 0..MAX_ITERATIONS {
            if size <= DONE {
                return self.finish(memory);
            }
            let step: f64 = damping;
            self.keep_correction(memory);
            self.move_to(memory, step);
            memory.newton_iterations += 1;
            self.evaluate(memory, modes)?;
            let next = self.correct(memory);
            // Natural monotonicity (Deuflhard 2004, §3.3.1): the correction that the old
            // Jacobian still asks for must have shrunk; it does not depend on how r is scaled.
            let has_shrunk = next.is_finite() && next <= (1.0 - 0.25 * step) * size;
            if !has_shrunk {
                if size <= NOISE && next <= 10.0 * NOISE {
                    return self.finish(memory);
                }
                // Near zero there may be nothing but rounding left of a quantity that is the difference of large
                // ones: what counts is the size it had during the run.
                if self.is_rounding(memory) {
                    return self.settle_at(memory, modes);
                }
                damping *= 0.5;
                if damping < SMALLEST_DAMPING {
                    return Err(Fault::NoConvergence(self.block));
                }
                self.restore_correction(memory);
                continue;
            }
            self.accept(memory);
            // With contraction θ the error after one more correction is θ times that correction.
            if step == 1.0 && next * next <= DONE * size {
                if next > DONE {
                    self.keep_correction(memory);
                    self.move_to(memory, 1.0);
                    self.evaluate(memory, modes)?;
                    self.accept(memory);
                }
                return self.finish(memory);
            }
            if step < 1.0 || next > GOOD_CONTRACTION * size {
                self.factor(memory)?;
                size = self.correct(memory);
                damping = (2.0 * damping).min(1.0);
            } else {
                size = next;
            }
        }
        Err(Fault::NoConvergence(self.block))
    }

    /// Tells whether the correction kept and the one after it are rounding against what the unknowns were in the run.
    fn is_rounding(&self, memory: &Memory) -> bool {
        let factor = &memory.factors[self.block as usize];
        let corrections = factor.step.iter().zip(&factor.x).zip(&factor.largest);
        let mut all = corrections.zip(&self.nominals);
        all.all(|(((step, next), largest), nominal)| {
            let allowed = ROUNDING * largest.max(*nominal);
            // NaN is not a rounding.
            step.abs() <= allowed && next.abs() <= allowed
        })
    }

    /// Ends at the iterate before the last correction.
    fn settle_at(&self, memory: &mut Memory, modes: Modes) -> Result<(), Fault> {
        self.move_to(memory, 0.0);
        self.evaluate(memory, modes)?;
        self.finish(memory)
    }

    fn factor(&self, memory: &mut Memory) -> Result<(), Fault> {
        run(&self.slopes, memory)?;
        memory.factorisations += 1;
        let factor = &mut memory.factors[self.block as usize];
        factor.load(&self.jacobian, &memory.slots);
        let mut outcome = factor.factor();
        if outcome == Err(NoFactor::Singular) && factor.sparse.is_none() {
            factor.load(&self.jacobian, &memory.slots);
            let n = factor.x.len();
            outcome = factor_graded_lu(
                &mut factor.matrix,
                n,
                &mut factor.scales,
                &mut factor.pivots,
            );
        }
        outcome.map_err(|why| fault(self.block, why))
    }

    /// Computes x = −J⁻¹ r and gives its size in the measure of z.
    fn correct(&self, memory: &mut Memory) -> f64 {
        let factor = &mut memory.factors[self.block as usize];
        let residuals = self.residuals.iter().zip(&factor.shift);
        for (x, (&slot, shift)) in factor.x.iter_mut().zip(residuals) {
            *x = shift - memory.slots[slot as usize];
        }
        factor.solve();
        let mut size: f64 = 0.0;
        for k in 0..self.unknowns.len() {
            let nominal = if self.nominals[k] > 0.0 {
                self.nominals[k]
            } else {
                UNKNOWN_NOMINAL
            };
            let part = factor.x[k].abs() / (factor.z[k].abs() + nominal);
            // `max` would drop a NaN.
            size = if part.is_nan() {
                f64::NAN
            } else {
                size.max(part)
            };
            if size.is_nan() {
                break;
            }
        }
        size
    }

    fn keep_correction(&self, memory: &mut Memory) {
        let factor = &mut memory.factors[self.block as usize];
        factor.step.copy_from_slice(&factor.x);
    }

    fn restore_correction(&self, memory: &mut Memory) {
        let factor = &mut memory.factors[self.block as usize];
        factor.x.copy_from_slice(&factor.step);
    }

    fn move_to(&self, memory: &mut Memory, share: f64) {
        let factor = &memory.factors[self.block as usize];
        for (k, &slot) in self.unknowns.iter().enumerate() {
            memory.slots[slot as usize] = factor.z[k] + share * factor.step[k];
        }
    }

    fn accept(&self, memory: &mut Memory) {
        let factor = &mut memory.factors[self.block as usize];
        for (z, &slot) in factor.z.iter_mut().zip(&self.unknowns) {
            *z = memory.slots[slot as usize];
        }
    }

    fn finish(&self, memory: &mut Memory) -> Result<(), Fault> {
        let factor = &mut memory.factors[self.block as usize];
        if factor.shift.iter().any(|&shift| shift != 0.0) {
            // A point on the way, not a solution.
            return Ok(());
        }
        let places = factor.last.iter_mut().zip(&mut factor.largest);
        for ((last, largest), &slot) in places.zip(&self.unknowns) {
            *last = memory.slots[slot as usize];
            *largest = largest.max(last.abs());
        }
        factor.has_last = true;
        factor.may_jump = false;
        Ok(())
    }
}

/// (∂r/∂z) ż = −ṙ, then everything that follows from ż.
#[derive(Clone, Debug)]
pub(crate) struct NewtonTangent {
    pub newton: std::sync::Arc<NewtonBlock>,
    /// Slots of ż.
    pub tangents: Vec<u32>,
    /// The tangent of the block's body.
    pub body: Vec<Step>,
    /// (row, slot of ṙ); rows that do not change are left out.
    pub residuals: Vec<(u32, u32)>,
}

impl NewtonTangent {
    pub(crate) fn solve(&self, memory: &mut Memory) -> Result<(), Fault> {
        for &slot in &self.tangents {
            memory.slots[slot as usize] = 0.0;
        }
        run(&self.body, memory)?;
        // The factor at hand may belong to an earlier iterate; tangents need that of the solution.
        self.newton.factor(memory)?;
        let factor = &mut memory.factors[self.newton.block as usize];
        factor.x.fill(0.0);
        for &(row, slot) in &self.residuals {
            factor.x[row as usize] = -memory.slots[slot as usize];
        }
        factor.solve();
        for (&x, &slot) in factor.x.iter().zip(&self.tangents) {
            memory.slots[slot as usize] = x;
        }
        run(&self.body, memory)
    }
}
