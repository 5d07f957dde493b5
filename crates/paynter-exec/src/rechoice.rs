//! Chooses again which locks of a mechanism are left out as redundant.
//!
//! In:  a state of the run. The equations keep locks that were independent where they were chosen, and leave out those that
//!      the kept ones imply.
//! Out: the locks to leave out from here on, where another choice is clearly better than the present one.
//!
//! Whatever independent set of locks is kept, the mechanism moves alike. But a set that is independent at one position need
//! not be at another, although the mechanism as a whole is as regular there as anywhere: the kept locks come near to demanding
//! the same thing twice, and what they leave free is held by those left out. The gradient of a lock that is left out is a
//! combination Σ cᵢ gᵢ of the kept ones, and taking it in the place of the kept lock i multiplies the volume that the kept
//! gradients span by |cᵢ|. So locks are exchanged while some share is large (strong rank-revealing factors, Gu & Eisenstat
//! 1996): every exchange gains, as few locks as possible change, and at a position where the mechanism itself is singular,
//! and every choice with it, all shares stay small.
//!
//! **Invariant:** nothing here changes the state or the equations; as many locks are kept as before.

use crate::assemble::Gradients;
use crate::failure::Fault;
use crate::least::LeastNorm;
use crate::machine::Machine;

/// An exchange has to gain this much. Less would change the equations, with a start of the method anew and reactions that
/// jump, for hardly a digit; and no share of the best choice is larger than 1, so that the way back gains nothing.
const CLEARLY_BETTER: f64 = 4.0;

impl Machine {
    /// Lists the locks that the equations leave out, by number, ascending.
    pub fn released(&self) -> &[usize] {
        &self.image.locks.released
    }

    /// Lists the locks that should be left out from here on, ascending; none if the present choice is about as good as any.
    pub fn better_release(&mut self, t: f64, y: &[f64]) -> Option<Vec<usize>> {
        if self.image.locks.released.is_empty() || !self.image.locks.closes_loops {
            return None;
        }
        let released = self.exchanged(t, y).ok()?;
        (released != self.image.locks.released).then_some(released)
    }

    fn exchanged(&mut self, t: f64, y: &[f64]) -> Result<Vec<usize>, Fault> {
        let image = self.image.clone();
        let map = &image.locks.map;
        let mut sizes = self.sizes(y);
        // Lengths and turns of the mechanism itself, so that a lock in metres and one in radians compare.
        for part in self.position_sizes(t, y).unwrap_or_default() {
            let known = part.positions.iter().filter(|p| p.1 > 0.0);
            known.for_each(|&(column, size)| sizes[column] = size);
        }
        self.residuals(t, y, map)?;
        let entries = self.entries(map)?;
        let gradients = Gradients::new(map, &entries, &sizes);

        let n_locks = image.dae.constraints.len();
        let first_invariant = map.rows.len() - image.dae.invariants.len();
        let mut choice = Choice {
            gradients,
            first_lock: first_invariant - n_locks,
            invariants: first_invariant..map.rows.len(),
            is_left_out: vec![false; n_locks],
        };
        for &lock in &image.locks.released {
            choice.is_left_out[lock] = true;
        }
        choice.improve();
        let locks = choice.is_left_out.iter().enumerate();
        Ok(locks.filter(|l| *l.1).map(|l| l.0).collect())
    }
}

/// Locks that are kept and locks that are not, at one position.
struct Choice<'a> {
    gradients: Gradients<'a>,
    /// Row of the first lock among the gradients.
    first_lock: usize,
    /// Rows that are always kept: quaternions of length 1.
    invariants: std::ops::Range<usize>,
    is_left_out: Vec<bool>,
}

impl Choice<'_> {
    /// Exchanges locks while that is clearly better.
    fn improve(&mut self) {
        // Every exchange multiplies the volume, which is 1 at most: a choice that is off in all its locks takes a few for each.
        let max_exchanges = 4 * self.is_left_out.iter().filter(|is| **is).count();
        for _ in 0..max_exchanges {
            let Some((left_out, kept)) = self.best_exchange() else {
                return;
            };
            self.is_left_out[left_out] = false;
            self.is_left_out[kept] = true;
        }
    }

    /// Finds the lock to take in and the one to leave out for it that gain most.
    fn best_exchange(&self) -> Option<(usize, usize)> {
        let locks = 0..self.is_left_out.len();
        let is_given = |row: &usize| self.gradients.lengths[*row] > 0.0;
        let rows: Vec<usize> = locks
            .filter(|&lock| !self.is_left_out[lock])
            .map(|lock| self.first_lock + lock)
            .chain(self.invariants.clone())
            .filter(is_given)
            .collect();
        let columns = rows.iter().map(|&row| self.gradients.row(row).0);
        let mut least = LeastNorm::new(columns, self.gradients.n_columns);
        let values = rows.iter().flat_map(|&row| self.gradients.row(row).1);
        least.factor(&values.copied().collect::<Vec<f64>>());

        let mut best = None;
        let mut largest = CLEARLY_BETTER;
        let (mut right, mut shares) = (vec![0.0; rows.len()], vec![0.0; rows.len()]);
        let mut dense = vec![0.0; self.gradients.n_columns];
        let left_out = (0..self.is_left_out.len()).filter(|&lock| self.is_left_out[lock]);
        for lock in left_out.filter(|lock| is_given(&(self.first_lock + lock))) {
            let (columns, slopes) = self.gradients.row(self.first_lock + lock);
            let own = || columns.iter().zip(slopes);
            own().for_each(|(&c, slope)| dense[c as usize] = *slope);
            for (sum, &row) in right.iter_mut().zip(&rows) {
                let (columns, slopes) = self.gradients.row(row);
                let terms = columns.iter().zip(slopes);
                *sum = terms.map(|(&c, slope)| dense[c as usize] * slope).sum();
            }
            own().for_each(|(&c, _)| dense[c as usize] = 0.0);
            least.multipliers(&right, &mut shares);
            for (share, &row) in shares.iter().zip(&rows) {
                let is_lock = row < self.first_lock + self.is_left_out.len();
                if is_lock && share.abs() > largest && share.is_finite() {
                    largest = share.abs();
                    best = Some((lock, row - self.first_lock));
                }
            }
        }
        best
    }
}
