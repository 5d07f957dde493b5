//! Sparse LU for large blocks: analysed once, factored again and again.
//!
//! In:  the places of the entries, then their values at each solution.
//! Out: solutions. The order of elimination is chosen for few new entries among pivots that
//!      are large enough (Markowitz 1957, with threshold 0.1), and kept as long as its pivots
//!      stay large; then it is chosen anew.
//!
//! **Invariant:** factoring with a kept order does not allocate.

use std::collections::{BTreeMap, BTreeSet};

use crate::dense::{NoFactor, smallest_pivot};

/// Pivots at least this share of their row keep growth of entries small (Duff, Erisman & Reid
/// 2017, §5.2).
const THRESHOLD: f64 = 0.1;
/// A pivot of a kept order that fell below this share of its row asks for a new order.
const WORN_OUT: f64 = 1e-6;
/// Rows looked at for each pivot; more rarely find a better one (Zlatev 1980).
const CANDIDATES: usize = 4;

/// A sparse factor of fixed pattern.
#[derive(Clone, Debug, Default)]
pub(crate) struct SparseLu {
    n: usize,
    places: Vec<(u32, u32)>,
    scales: Vec<f64>,
    /// Row that is pivot k, and the place in the order of each column.
    rows: Vec<u32>,
    column_place: Vec<u32>,
    /// For each pivot its entries of A: (place of the column, entry).
    entries: Vec<Vec<(u32, u32)>>,
    /// For each pivot its factors: place of an earlier pivot, value.
    lower: Vec<Vec<(u32, f64)>>,
    /// For each pivot the rest of its row: place of a later column, value.
    upper: Vec<Vec<(u32, f64)>>,
    pivots: Vec<f64>,
    work: Vec<f64>,
    is_analysed: bool,
}

impl SparseLu {
    /// Makes room for a matrix with entries at these places; entries at one place add up.
    pub(crate) fn new(n: usize, places: &[(u32, u32)]) -> Self {
        SparseLu {
            n,
            places: places.to_vec(),
            scales: vec![1.0; n],
            pivots: vec![0.0; n],
            work: vec![0.0; n],
            ..SparseLu::default()
        }
    }

    /// Forgets the order of elimination: the next one is chosen from the values alone.
    pub(crate) fn forget(&mut self) {
        self.is_analysed = false;
    }

    /// Factors the matrix with these values.
    pub(crate) fn factor(&mut self, values: &[f64]) -> Result<(), NoFactor> {
        self.scale(values)?;
        if self.is_analysed && self.refactor(values) {
            return Ok(());
        }
        self.analyse(values)?;
        if self.refactor(values) {
            Ok(())
        } else {
            Err(NoFactor::Singular)
        }
    }

    fn scale(&mut self, values: &[f64]) -> Result<(), NoFactor> {
        self.work.fill(0.0);
        for (&(row, _), value) in self.places.iter().zip(values) {
            if !value.is_finite() {
                return Err(NoFactor::NotFinite);
            }
            let largest = &mut self.work[row as usize];
            *largest = largest.max(value.abs());
        }
        for (scale, &largest) in self.scales.iter_mut().zip(&self.work) {
            if largest == 0.0 {
                return Err(NoFactor::Singular);
            }
            *scale = 1.0 / largest;
        }
        self.work.fill(0.0);
        Ok(())
    }

    /// Chooses the order of elimination by performing it.
    fn analyse(&mut self, values: &[f64]) -> Result<(), NoFactor> {
        let n = self.n;
        let mut rows: Vec<BTreeMap<u32, f64>> = vec![BTreeMap::new(); n];
        let mut columns: Vec<BTreeSet<u32>> = vec![BTreeSet::new(); n];
        for (&(row, column), value) in self.places.iter().zip(values) {
            *rows[row as usize].entry(column).or_default() += value * self.scales[row as usize];
            columns[column as usize].insert(row);
        }

        let mut by_length: BTreeSet<(usize, u32)> = rows
            .iter()
            .enumerate()
            .map(|(row, entries)| (entries.len(), row as u32))
            .collect();
        let mut factors: Vec<Vec<u32>> = vec![Vec::new(); n];
        let mut order: Vec<(u32, u32)> = Vec::with_capacity(n);
        for place in 0..n {
            let (row, column) =
                choose_pivot(&rows, &columns, &by_length, n).ok_or(NoFactor::Singular)?;
            order.push((row, column));
            by_length.remove(&(rows[row as usize].len(), row));
            let pivot_row = rows[row as usize].clone();
            for &other in pivot_row.keys() {
                columns[other as usize].remove(&row);
            }
            let pivot = pivot_row[&column];
            for target in std::mem::take(&mut columns[column as usize]) {
                let entries = &mut rows[target as usize];
                by_length.remove(&(entries.len(), target));
                let factor = entries.remove(&column).unwrap_or(0.0) / pivot;
                for (&other, value) in pivot_row.iter().filter(|entry| *entry.0 != column) {
                    *entries.entry(other).or_default() -= factor * value;
                    columns[other as usize].insert(target);
                }
                by_length.insert((entries.len(), target));
                factors[target as usize].push(place as u32);
            }
        }

        self.keep(&order, &factors, &rows);
        Ok(())
    }

    fn keep(&mut self, order: &[(u32, u32)], factors: &[Vec<u32>], rows: &[BTreeMap<u32, f64>]) {
        let n = self.n;
        self.rows = order.iter().map(|pivot| pivot.0).collect();
        self.column_place = vec![0; n];
        let mut row_place = vec![0; n];
        for (place, &(row, column)) in order.iter().enumerate() {
            self.column_place[column as usize] = place as u32;
            row_place[row as usize] = place;
        }

        self.entries = vec![Vec::new(); n];
        for (entry, &(row, column)) in self.places.iter().enumerate() {
            let column = self.column_place[column as usize];
            self.entries[row_place[row as usize]].push((column, entry as u32));
        }

        self.lower = order
            .iter()
            .map(|&(row, _)| {
                factors[row as usize]
                    .iter()
                    .map(|&place| (place, 0.0))
                    .collect()
            })
            .collect();

        self.upper = order
            .iter()
            .map(|&(row, column)| {
                let mut rest: Vec<(u32, f64)> = rows[row as usize]
                    .keys()
                    .filter(|&&other| other != column)
                    .map(|&other| (self.column_place[other as usize], 0.0))
                    .collect();
                rest.sort_unstable_by_key(|entry| entry.0);
                rest
            })
            .collect();
        self.is_analysed = true;
    }

    /// Factors in the kept order; false if a pivot has become too small for it.
    fn refactor(&mut self, values: &[f64]) -> bool {
        let SparseLu {
            n,
            scales,
            rows,
            entries,
            lower,
            upper,
            pivots,
            work,
            ..
        } = self;

        for place in 0..*n {
            let scale = scales[rows[place] as usize];
            for &(column, entry) in &entries[place] {
                work[column as usize] += values[entry as usize] * scale;
            }
            for (earlier, factor) in &mut lower[place] {
                let k = *earlier as usize;
                *factor = work[k] / pivots[k];
                work[k] = 0.0;
                for &(column, value) in &upper[k] {
                    work[column as usize] -= *factor * value;
                }
            }
            pivots[place] = std::mem::take(&mut work[place]);
            let mut largest = pivots[place].abs();
            for (column, value) in &mut upper[place] {
                *value = std::mem::take(&mut work[*column as usize]);
                largest = largest.max(value.abs());
            }
            let is_small = pivots[place].abs() <= (WORN_OUT * largest).max(smallest_pivot(*n));
            if is_small || pivots[place].is_nan() {
                work.fill(0.0);
                return false;
            }
        }
        true
    }

    /// Solves with the last factor, in place.
    pub(crate) fn solve(&mut self, x: &mut [f64]) {
        for place in 0..self.n {
            let row = self.rows[place] as usize;
            let mut sum = x[row] * self.scales[row];
            for &(earlier, factor) in &self.lower[place] {
                sum -= factor * self.work[earlier as usize];
            }
            self.work[place] = sum;
        }
        for place in (0..self.n).rev() {
            let mut sum = self.work[place];
            for &(column, value) in &self.upper[place] {
                sum -= value * self.work[column as usize];
            }
            self.work[place] = sum / self.pivots[place];
        }
        for (x, &place) in x.iter_mut().zip(&self.column_place) {
            *x = self.work[place as usize];
        }
        self.work.fill(0.0);
    }
}

/// Finds the entry whose elimination can make the fewest new ones, among short rows.
fn choose_pivot(
    rows: &[BTreeMap<u32, f64>],
    columns: &[BTreeSet<u32>],
    by_length: &BTreeSet<(usize, u32)>,
    n: usize,
) -> Option<(u32, u32)> {
    let mut best: Option<(usize, u32, u32)> = None;
    let mut n_looked_at = 0;
    for &(length, row) in by_length {
        let entries = &rows[row as usize];
        let largest = entries
            .values()
            .fold(0.0, |m: f64, value| m.max(value.abs()));
        // A row that elimination has wiped out to rounding: the matrix is singular, unless the
        // rest of the row is still to be changed, which it is not: it has no other way to grow.
        if largest <= smallest_pivot(n) {
            continue;
        }
        for (&column, _) in entries
            .iter()
            .filter(|entry| entry.1.abs() >= THRESHOLD * largest)
        {
            let cost = (length - 1) * (columns[column as usize].len() - 1);
            if best.is_none_or(|(least, _, _)| cost < least) {
                best = Some((cost, row, column));
            }
        }
        n_looked_at += 1;
        if n_looked_at >= CANDIDATES || best.is_some_and(|(cost, _, _)| cost == 0) {
            break;
        }
    }
    best.map(|(_, row, column)| (row, column))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A ring of n nodes with a zero on every diagonal place: exchanges are needed.
    fn ring(n: u32) -> (Vec<(u32, u32)>, Vec<f64>) {
        let mut places = Vec::new();
        let mut values = Vec::new();
        for row in 0..n {
            for (step, value) in [(1, 2.0), (n - 1, -0.5), (n / 2, 0.1)] {
                places.push((row, (row + step) % n));
                values.push(value + 0.01 * f64::from(row));
            }
        }
        (places, values)
    }

    fn residual(places: &[(u32, u32)], values: &[f64], x: &[f64], right: &[f64]) -> f64 {
        let mut rest = right.to_vec();
        for (&(row, column), value) in places.iter().zip(values) {
            rest[row as usize] -= value * x[column as usize];
        }
        rest.iter().fold(0.0, |m: f64, r| m.max(r.abs()))
    }

    #[test]
    fn a_sparse_matrix_with_an_empty_diagonal_is_solved_twice() {
        let (places, mut values) = ring(101);
        let mut lu = SparseLu::new(101, &places);
        for round in 0..3 {
            let right: Vec<f64> = (0..101).map(|k| f64::from(k + round).sin()).collect();
            lu.factor(&values).expect("the ring is regular");
            let mut x = right.clone();
            lu.solve(&mut x);
            // Well conditioned: a residual of some hundred ulps at most.
            assert!(residual(&places, &values, &x, &right) < 1e-12);
            values.iter_mut().for_each(|value| *value *= 1.3);
            values[0] = -7.0;
        }
    }

    #[test]
    fn an_order_that_has_worn_out_is_chosen_anew() {
        let places = [(0, 0), (0, 1), (1, 0), (1, 1)];
        let mut lu = SparseLu::new(2, &places);
        lu.factor(&[5.0, 1.0, 1.0, 1.0]).expect("regular");
        lu.factor(&[0.0, 1.0, 1.0, 0.0])
            .expect("regular, with the other pivots");
        let mut x = [3.0, 4.0];
        lu.solve(&mut x);
        assert_eq!(x, [4.0, 3.0]);
    }

    #[test]
    fn a_singular_sparse_matrix_is_refused() {
        let places = [(0, 0), (0, 1), (1, 0), (1, 1)];
        let mut lu = SparseLu::new(2, &places);
        assert_eq!(lu.factor(&[1.0, 2.0, 2.0, 4.0]), Err(NoFactor::Singular));
        assert_eq!(
            lu.factor(&[1.0, f64::NAN, 2.0, 4.0]),
            Err(NoFactor::NotFinite)
        );
    }
}
