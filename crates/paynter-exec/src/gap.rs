//! Says which joint of a mechanism that cannot be put together stays open.
//!
//! In:  positions at which the gaps of all joints together are smallest in the sense of least squares. Such a compromise opens
//!      every joint a little, and tells nobody where to look.
//! Out: the gaps where the sum of their sizes is smallest. A sum of sizes, unlike one of squares, is smallest where few terms
//!      are not zero (Candès, Wakin & Boyd 2008): usually one joint stays open, by all that is missing, and the others close.
//!
//! Reweighted least squares: each gap counts by an inverse power of its size of the round before (Chartrand & Yin 2008). The locks of
//! one joint count as one gap. Where several joints could stay open alike, the one written last does.
//!
//! **Invariant:** what is given is returned where the search does not lead to fewer open joints.

use std::collections::HashMap;

use paynter_symbolic::{Names, PathId};

use crate::dense::{factor_cholesky, solve_cholesky};
use crate::machine::Machine;
use crate::map::Map;

/// Rounds; what counts as a gap is halved in each, down to [`FLOOR`] of the largest.
const MAX_ROUNDS: usize = 60;
/// Variables beyond which a dense factor in every round takes too long for a message.
const MAX_VARIABLES: usize = 400;
/// The longest step, in sizes of the variables: slopes of joints hold for small turns.
const LONGEST_STEP: f64 = 0.2;
/// What keeps directions that no lock sees from moving.
const HOLD: f64 = 1e-9;
/// Gaps are told from none down to this part of the largest one.
const FLOOR: f64 = 1e-6;
/// Gaps smaller than this part of the largest one are closed.
const CLOSED: f64 = 1e-4;
/// The squares of gaps count by this power of their inverse: 1 would minimise the sum of their sizes, 2 their number. Between
/// the two, equal gaps part.
const POWER: f64 = 1.5;
/// How much more the first joint counts than the last one.
const PREFERENCE: f64 = 0.05;

impl Machine {
    /// Gives the rows that stay open, and how far, where as few joints as possible do; `first_lock` and `n_locks` tell which
    /// rows of the map are positions of locks.
    pub(crate) fn single_out(
        &mut self,
        (t, y): (f64, &[f64]),
        (map, rows): (&Map, &[usize]),
        (first_lock, n_locks): (usize, usize),
    ) -> Option<Vec<(usize, f64)>> {
        let mut columns: Vec<usize> = rows
            .iter()
            .flat_map(|&row| map.rows[row].iter().map(|&c| c as usize))
            .filter(|&c| c < self.image.states.len())
            .collect();
        columns.sort_unstable();
        columns.dedup();
        if columns.is_empty() || columns.len() > MAX_VARIABLES {
            return None;
        }
        let groups = self.joints(rows, (first_lock, n_locks));
        let sizes = self.sizes(y);
        let mut y = y.to_vec();
        let mut floor = None;
        for _ in 0..MAX_ROUNDS {
            let residuals = self.residuals(t, &y, map).ok()?;
            let slopes = self.entries(map).ok()?;
            let mut round = Round::new((map, rows, &columns), &slopes, &residuals, &sizes);
            let largest = round.gaps.iter().fold(0.0_f64, |m, x| m.max(x.abs()));
            let least = floor.map_or(0.3 * largest, |floor: f64| 0.5 * floor);
            floor = Some(least.max(FLOOR * largest));
            round.weigh(&groups, floor?);
            let step = round.step()?;
            let longest = step.iter().fold(0.0_f64, |m, x| m.max(x.abs()));
            let share = (LONGEST_STEP / longest).min(1.0);
            for (&c, dx) in columns.iter().zip(&step) {
                y[c] += share * dx * sizes[c];
            }
        }
        let residuals = self.residuals(t, &y, map).ok()?;
        let largest = rows.iter().fold(0.0_f64, |m, &r| m.max(residuals[r].abs()));
        let is_open = |row: &&usize| residuals[**row].abs() > CLOSED * largest;
        let open = rows.iter().filter(is_open);
        let open: Vec<(usize, f64)> = open.map(|&row| (row, residuals[row])).collect();
        (!open.is_empty()).then_some(open)
    }

    /// Numbers the joints that rows belong to; a row that is no lock is one of its own.
    fn joints(&self, rows: &[usize], (first_lock, n_locks): (usize, usize)) -> Vec<usize> {
        let dae = &self.image.dae;
        let mut known: HashMap<PathId, usize> = HashMap::new();
        let mut n = 0;
        let mut new = || {
            n += 1;
            n - 1
        };
        rows.iter()
            .map(|&row| {
                let lock = row.checked_sub(first_lock).filter(|&lock| lock < n_locks);
                let joint = lock.and_then(|lock| dae.names.parent(dae.constraints[lock].name));
                match joint.filter(|&joint| joint != Names::ROOT) {
                    Some(joint) => *known.entry(joint).or_insert_with(&mut new),
                    None => new(),
                }
            })
            .collect()
    }
}

/// Gaps and their slopes at one place, in the measure of the variables.
struct Round {
    n: usize,
    gaps: Vec<f64>,
    /// Row after row, dense.
    slopes: Vec<f64>,
    weights: Vec<f64>,
}

impl Round {
    fn new(
        (map, rows, columns): (&Map, &[usize], &[usize]),
        slopes: &[Vec<f64>],
        residuals: &[f64],
        sizes: &[f64],
    ) -> Self {
        let n = columns.len();
        let mut dense = vec![0.0; rows.len() * n];
        let mut gaps = Vec::with_capacity(rows.len());
        for (k, &row) in rows.iter().enumerate() {
            let own = &mut dense[k * n..(k + 1) * n];
            for (&c, slope) in map.rows[row].iter().zip(&slopes[row]) {
                if let Ok(place) = columns.binary_search(&(c as usize)) {
                    own[place] = slope * sizes[c as usize];
                }
            }
            let length = own.iter().map(|x| x * x).sum::<f64>().sqrt();
            let scale = if length > 0.0 { 1.0 / length } else { 0.0 };
            own.iter_mut().for_each(|x| *x *= scale);
            gaps.push(scale * residuals[row]);
        }
        Round {
            n,
            weights: vec![1.0; gaps.len()],
            gaps,
            slopes: dense,
        }
    }

    /// Lets each joint count by its gap, which is taken for no less than `floor`.
    fn weigh(&mut self, groups: &[usize], floor: f64) {
        let n_groups = groups.iter().max().map_or(0, |most| most + 1);
        let mut squares = vec![0.0; n_groups];
        for (gap, &group) in self.gaps.iter().zip(groups) {
            squares[group] += gap * gap;
        }
        for (weight, &group) in self.weights.iter_mut().zip(groups) {
            let share = floor / squares[group].sqrt().max(floor);
            let preference = PREFERENCE * (1.0 - group as f64 / n_groups as f64);
            *weight = (1.0 + preference) * share.powf(POWER);
        }
    }

    /// The step to where the weighted squares are smallest; none if the numbers do not allow it.
    fn step(&self) -> Option<Vec<f64>> {
        let n = self.n;
        let mut matrix = vec![0.0; n * n];
        let mut right = vec![0.0; n];
        for (k, (gap, weight)) in self.gaps.iter().zip(&self.weights).enumerate() {
            let row = &self.slopes[k * n..(k + 1) * n];
            let used: Vec<usize> = (0..n).filter(|&i| row[i] != 0.0).collect();
            for &i in &used {
                right[i] -= weight * row[i] * gap;
                for &j in used.iter().filter(|&&j| j <= i) {
                    matrix[i * n + j] += weight * row[i] * row[j];
                }
            }
        }
        let most = (0..n).map(|i| matrix[i * n + i]).fold(0.0, f64::max);
        for i in 0..n {
            matrix[i * n + i] += HOLD * most;
        }
        factor_cholesky(&mut matrix, n).ok()?;
        solve_cholesky(&matrix, n, &mut right);
        right.iter().all(|x| x.is_finite()).then_some(right)
    }
}
