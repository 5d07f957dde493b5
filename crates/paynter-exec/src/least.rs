//! The shortest solution of many sparse equations, G x = b with fewer rows than columns.
//!
//! In:  the columns that each row reads, once; then their values, again and again.
//! Out: x = Gᵀ μ with (G Gᵀ) μ = b. G Gᵀ couples rows that share a column, as joints that hold the same body, so its
//!      factor L D Lᵀ is as sparse as the mechanism. Rows are eliminated in the order of minimum degree.
//!
//! Rows that others imply have no pivot left; they are passed over. If the equations agree with each other these rows
//! hold all the same.
//!
//! **Invariant:** factoring and solving do not allocate.

use crate::degree::{Elimination, minimum_degree};

/// A row of length 1 is taken as implied by the others if the square of what it adds is smaller than this: roundings
/// in the products of rows are about 1e-15, and grow with the number of rows by which they are eliminated.
const IMPLIED: f64 = 1e-11;

/// Rows in their order of elimination, and the factor.
#[derive(Clone, Debug, Default)]
pub(crate) struct LeastNorm {
    n_columns: usize,
    /// Row that is eliminated as number k.
    order: Vec<u32>,
    /// For each place in the order its entries: (column, position of its value).
    entries: Vec<Vec<(u32, u32)>>,
    /// For each column the places of the rows that read it, ascending, with the positions of the values.
    readers: Vec<Vec<(u32, u32)>>,
    /// For each place the earlier ones that it has an entry of L with.
    earlier: Vec<Vec<u32>>,
    /// For each place the later ones, with their entries of L; filled from the front.
    later: Vec<Vec<(u32, f64)>>,
    n_filled: Vec<u32>,
    /// D; zero for rows that are passed over.
    pivots: Vec<f64>,
    work: Vec<f64>,
}

impl LeastNorm {
    /// Chooses the order for rows that read these columns. Values are given in the same order, row after row.
    pub(crate) fn new<'r>(rows: impl Iterator<Item = &'r [u32]>, n_columns: usize) -> Self {
        let mut position = 0;
        let rows: Vec<Vec<(u32, u32)>> = rows
            .map(|row| {
                let first = position;
                position += row.len() as u32;
                row.iter().copied().zip(first..).collect()
            })
            .collect();
        let Elimination { order, fill } = order_rows(&rows, n_columns);
        let m = rows.len();
        let mut place = vec![0; m];
        for (k, &row) in order.iter().enumerate() {
            place[row as usize] = k as u32;
        }

        let entries: Vec<Vec<(u32, u32)>> =
            order.iter().map(|&r| rows[r as usize].clone()).collect();
        let mut readers = vec![Vec::new(); n_columns];
        for (k, row) in entries.iter().enumerate() {
            for &(column, value) in row {
                readers[column as usize].push((k as u32, value));
            }
        }
        let mut earlier = vec![Vec::new(); m];
        let mut later = Vec::with_capacity(m);
        for (k, neighbours) in fill.iter().enumerate() {
            let mut below: Vec<u32> = neighbours.iter().map(|&r| place[r as usize]).collect();
            below.sort_unstable();
            below
                .iter()
                .for_each(|&i| earlier[i as usize].push(k as u32));
            later.push(below.into_iter().map(|i| (i, 0.0)).collect());
        }
        LeastNorm {
            n_columns,
            order,
            entries,
            readers,
            earlier,
            later,
            n_filled: vec![0; m],
            pivots: vec![0.0; m],
            work: vec![0.0; m],
        }
    }

    /// Factors G Gᵀ for these values; rows are of length 1 or 0.
    pub(crate) fn factor(&mut self, values: &[f64]) {
        let LeastNorm {
            entries,
            readers,
            earlier,
            later,
            n_filled,
            pivots,
            work,
            ..
        } = self;

        n_filled.fill(0);
        for i in 0..entries.len() {
            for &(column, value) in &entries[i] {
                let g = values[value as usize];
                let before = readers[column as usize].iter();
                for &(j, other) in before.take_while(|reader| reader.0 as usize <= i) {
                    work[j as usize] += g * values[other as usize];
                }
            }
            let own = std::mem::take(&mut work[i]);
            let mut pivot = own;
            for &j in &earlier[i] {
                let j = j as usize;
                let part = std::mem::take(&mut work[j]);
                let factor = if pivots[j] > 0.0 {
                    part / pivots[j]
                } else {
                    0.0
                };
                for &(k, entry) in &later[j][..n_filled[j] as usize] {
                    work[k as usize] -= entry * part;
                }
                pivot -= factor * part;
                later[j][n_filled[j] as usize].1 = factor;
                n_filled[j] += 1;
            }
            pivots[i] = if pivot > IMPLIED { pivot } else { 0.0 };
        }
    }

    /// Tells for each row whether it is implied by the others.
    pub(crate) fn implied(&self) -> Vec<bool> {
        let mut implied = vec![false; self.order.len()];
        for (&row, &pivot) in self.order.iter().zip(&self.pivots) {
            implied[row as usize] = pivot == 0.0;
        }
        implied
    }

    /// The square of what each row adds to those eliminated before it, in the order of elimination.
    pub(crate) fn news(&self) -> impl Iterator<Item = f64> + '_ {
        self.pivots.iter().copied()
    }

    /// The smallest square of what a row adds to those eliminated before it; 0 if some row is implied.
    pub(crate) fn weakest(&self) -> f64 {
        self.pivots.iter().copied().fold(1.0, f64::min)
    }

    /// Lists the rows that others imply, each with those others and their shares: rows = Σ share · other.
    pub(crate) fn combinations(&self) -> Vec<(usize, Vec<(usize, f64)>)> {
        // Entries of L by row; `later` has them by column.
        let mut by_row: Vec<Vec<(u32, f64)>> = vec![Vec::new(); self.order.len()];
        for (j, list) in self.later.iter().enumerate() {
            for &(k, entry) in list {
                by_row[k as usize].push((j as u32, entry));
            }
        }
        let places = (0..self.order.len()).filter(|&k| self.pivots[k] == 0.0);
        places
            .map(|place| {
                let shares = self.shares(place, &by_row);
                (self.order[place] as usize, shares)
            })
            .collect()
    }

    /// Solves for the shares of earlier rows in one that they imply, from the last to the first.
    fn shares(&self, place: usize, by_row: &[Vec<(u32, f64)>]) -> Vec<(usize, f64)> {
        let mut open: std::collections::BTreeMap<u32, f64> =
            by_row[place].iter().copied().collect();
        let mut shares = Vec::new();
        while let Some((j, share)) = open.pop_last() {
            if self.pivots[j as usize] == 0.0 || share == 0.0 {
                continue;
            }
            shares.push((self.order[j as usize] as usize, share));
            for &(k, entry) in &by_row[j as usize] {
                *open.entry(k).or_default() -= share * entry;
            }
        }
        shares
    }

    /// Writes the shortest x with G x = b.
    pub(crate) fn solve(&mut self, values: &[f64], right: &[f64], x: &mut [f64]) {
        debug_assert_eq!(x.len(), self.n_columns);
        self.solve_factor(right);
        x.fill(0.0);
        for (row, mu) in self.entries.iter().zip(&mut self.work) {
            for &(column, value) in row {
                x[column as usize] += values[value as usize] * *mu;
            }
            *mu = 0.0;
        }
    }

    /// Writes μ with (G Gᵀ) μ = b, by row; zero for rows that others imply.
    pub(crate) fn multipliers(&mut self, right: &[f64], mu: &mut [f64]) {
        self.solve_factor(right);
        for (work, &row) in self.work.iter_mut().zip(&self.order) {
            mu[row as usize] = std::mem::take(work);
        }
    }

    /// Leaves μ in `work`, in the order of elimination.
    fn solve_factor(&mut self, right: &[f64]) {
        let LeastNorm {
            order,
            later,
            pivots,
            work,
            ..
        } = self;
        for (w, &row) in work.iter_mut().zip(&*order) {
            *w = right[row as usize];
        }
        for j in 0..order.len() {
            if pivots[j] == 0.0 {
                work[j] = 0.0;
                continue;
            }
            let y = work[j];
            for &(k, entry) in &later[j] {
                work[k as usize] -= entry * y;
            }
            work[j] = y / pivots[j];
        }
        for j in (0..order.len()).rev().filter(|&j| pivots[j] > 0.0) {
            let sum: f64 = later[j].iter().map(|&(k, l)| l * work[k as usize]).sum();
            work[j] -= sum;
        }
    }
}

/// Orders rows: two are neighbours if they share a column.
fn order_rows(rows: &[Vec<(u32, u32)>], n_columns: usize) -> Elimination {
    let mut readers = vec![Vec::new(); n_columns];
    for (r, row) in rows.iter().enumerate() {
        row.iter()
            .for_each(|&(column, _)| readers[column as usize].push(r as u32));
    }
    let neighbours = rows.iter().enumerate().map(|(r, row)| {
        let all = row
            .iter()
            .flat_map(|&(column, _)| &readers[column as usize]);
        let mut others: Vec<u32> = all.copied().filter(|&other| other != r as u32).collect();
        others.sort_unstable();
        others.dedup();
        others
    });
    minimum_degree(neighbours.collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rows of length 1 that each read four columns of their own and two of the next row.
    fn chain(m: usize) -> (Vec<Vec<u32>>, Vec<f64>, usize) {
        let mut rows = Vec::new();
        let mut values = Vec::new();
        for k in 0..m as u32 {
            rows.push((4 * k..4 * k + 6).collect());
            let row: Vec<f64> = (0..6).map(|j| f64::from(7 * k + j + 1).sin()).collect();
            let length = row.iter().map(|x| x * x).sum::<f64>().sqrt();
            values.extend(row.iter().map(|x| x / length));
        }
        (rows, values, 4 * m + 2)
    }

    fn product(rows: &[Vec<u32>], values: &[f64], x: &[f64]) -> Vec<f64> {
        let mut at = 0;
        rows.iter()
            .map(|row| {
                let sum = row.iter().map(|&c| {
                    at += 1;
                    values[at - 1] * x[c as usize]
                });
                sum.sum()
            })
            .collect()
    }

    #[test]
    fn a_chain_is_solved_without_new_entries() {
        let (rows, values, n) = chain(200);
        let mut least = LeastNorm::new(rows.iter().map(Vec::as_slice), n);
        least.factor(&values);
        let right: Vec<f64> = (0..200).map(|k| f64::from(k).cos()).collect();
        let mut x = vec![0.0; n];
        least.solve(&values, &right, &mut x);
        for (got, asked) in product(&rows, &values, &x).iter().zip(&right) {
            assert!((got - asked).abs() < 1e-12, "{got} for {asked}");
        }
        // Each row has one later neighbour.
        assert!(least.later.iter().all(|l| l.len() <= 1));
    }

    #[test]
    fn a_row_said_twice_is_passed_over_and_holds() {
        let (mut rows, mut values, n) = chain(30);
        rows.push(rows[11].clone());
        values.extend_from_within(11 * 6..12 * 6);
        let mut least = LeastNorm::new(rows.iter().map(Vec::as_slice), n);
        least.factor(&values);
        let mut right: Vec<f64> = (0..31).map(|k| f64::from(k).cos()).collect();
        right[30] = right[11];
        let mut x = vec![0.0; n];
        least.solve(&values, &right, &mut x);
        assert_eq!(least.implied().iter().filter(|i| **i).count(), 1);
        let [(row, shares)] = &least.combinations()[..] else {
            panic!("one row is implied");
        };
        let [(other, share)] = shares[..] else {
            panic!("by one other: {shares:?}");
        };
        assert_eq!((*row).min(other), 11);
        assert_eq!((*row).max(other), 30);
        assert!((share - 1.0).abs() < 1e-10);
        for (got, asked) in product(&rows, &values, &x).iter().zip(&right) {
            assert!((got - asked).abs() < 1e-12, "{got} for {asked}");
        }
    }

    #[test]
    fn the_solution_is_the_shortest() {
        // x + y = 2: (1, 1), in rows of length 1.
        let half = 0.5_f64.sqrt();
        let mut least = LeastNorm::new([[0, 1].as_slice()].into_iter(), 2);
        least.factor(&[half, half]);
        let mut x = vec![0.0; 2];
        least.solve(&[half, half], &[2.0 * half], &mut x);
        assert!((x[0] - 1.0).abs() < 1e-15 && (x[1] - 1.0).abs() < 1e-15);
    }
}
