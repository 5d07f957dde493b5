//! Sparse L D Lᵀ for large symmetric blocks: ordered once, factored again and again.
//!
//! In:  the places of the entries on and below the diagonal, then their values at each solution.
//! Out: solutions. Nothing is exchanged: the blocks are positive definite by construction (masses seen from the
//!      reactions that share them). Near a dead centre some locks say what others say: pivots fade there with the
//!      square of the distance, and what is left of them is rounding. Such a row is passed over, as if its lock were
//!      redundant; if the others do not meet it, there is no solution.
//!
//! **Invariant:** factoring and solving do not allocate. Entries of one column of L lie side by side, and where an
//! update goes is looked up in a list, so that the inner loop is one product and one difference.

use crate::degree::{Elimination, minimum_degree};
use crate::dense::{NoFactor, smallest_pivot};

/// A row that adds less than this share of itself, squared, to those before it is passed over.
const FADED: f64 = 1e-10;
/// What such a row may miss by, as a share of the largest right side. On a smooth motion it misses by the square of
/// the distance from the dead centre.
const AGREES: f64 = 1e-6;

/// A sparse symmetric factor of fixed pattern.
#[derive(Clone, Debug, Default)]
pub(crate) struct SparseCholesky {
    /// Row that is pivot k.
    order: Vec<u32>,
    /// Where the entries of each given place go among `values`.
    targets: Vec<u32>,
    /// For each pivot where its column begins: the diagonal, then what is below.
    starts: Vec<u32>,
    /// For each entry of L its row, by place in the order; the diagonal's own.
    rows: Vec<u32>,
    values: Vec<f64>,
    /// For each pivot, and each pair of entries below it, the entry that their product is taken from.
    updates: Vec<u32>,
    work: Vec<f64>,
}

impl SparseCholesky {
    /// Chooses the order for entries at these places, row ≥ column; entries at one place add up.
    pub(crate) fn new(n: usize, places: &[(u32, u32)]) -> Self {
        let mut neighbours: Vec<Vec<u32>> = vec![Vec::new(); n];
        for &(row, column) in places.iter().filter(|p| p.0 != p.1) {
            neighbours[row as usize].push(column);
            neighbours[column as usize].push(row);
        }
        for list in &mut neighbours {
            list.sort_unstable();
            list.dedup();
        }
        let Elimination { order, fill } = minimum_degree(neighbours);
        let mut place = vec![0; n];
        for (k, &row) in order.iter().enumerate() {
            place[row as usize] = k as u32;
        }

        let mut starts = vec![0];
        let mut rows = Vec::new();
        for (k, neighbours) in fill.iter().enumerate() {
            rows.push(k as u32);
            let first = rows.len();
            rows.extend(neighbours.iter().map(|&r| place[r as usize]));
            rows[first..].sort_unstable();
            starts.push(rows.len() as u32);
        }
        let mut made = SparseCholesky {
            order,
            values: vec![0.0; rows.len()],
            starts,
            rows,
            work: vec![0.0; n],
            ..SparseCholesky::default()
        };
        let at = |p: &(u32, u32)| made.entry(place[p.0 as usize], place[p.1 as usize]);
        let targets = places.iter().map(at).collect();
        let mut updates = Vec::new();
        for k in 0..n {
            let below = &made.rows[made.starts[k] as usize + 1..made.starts[k + 1] as usize];
            for (j, &column) in below.iter().enumerate() {
                updates.extend(below[j..].iter().map(|&row| made.entry(row, column)));
            }
        }
        made.targets = targets;
        made.updates = updates;
        made
    }

    /// Where an entry of L is, given by two places in the order.
    fn entry(&self, a: u32, b: u32) -> u32 {
        let (column, row) = (a.min(b) as usize, a.max(b));
        let first = self.starts[column];
        let list = &self.rows[first as usize..self.starts[column + 1] as usize];
        let at = list.binary_search(&row);
        first + at.expect("elimination makes no entry that its order does not know") as u32
    }

    /// Factors the matrix with these values.
    pub(crate) fn factor(&mut self, given: &[f64]) -> Result<(), NoFactor> {
        let n = self.order.len();
        self.values.fill(0.0);
        for (&target, &value) in self.targets.iter().zip(given) {
            if !value.is_finite() {
                return Err(NoFactor::NotFinite);
            }
            self.values[target as usize] += value;
        }

        for (w, &start) in self.work.iter_mut().zip(&self.starts) {
            *w = self.values[start as usize].abs();
        }

        // Roundings of the eliminations before may leave a faded pivot this much below zero.
        let noise = FADED.max(smallest_pivot(n));
        let mut updates = self.updates.as_slice();
        for k in 0..n {
            let (first, last) = (self.starts[k] as usize, self.starts[k + 1] as usize);
            let pivot = self.values[first];
            // A pivot that is not a number is not a pivot. An empty row holds nothing at all.
            let floor = -noise * self.work[k];
            let is_number = !pivot.is_nan() && !floor.is_nan();
            if !is_number || pivot < floor || self.work[k] == 0.0 {
                self.work.fill(0.0);
                return Err(NoFactor::Singular);
            }
            let is_faded = pivot <= FADED * self.work[k];
            if is_faded {
                self.values[first] = f64::INFINITY;
            }
            // Entries of a column lie before all that they change.
            let (done, rest) = self.values.split_at_mut(last);
            let column = &mut done[first + 1..];
            let inverse = if is_faded { 0.0 } else { 1.0 / pivot };
            for j in 0..column.len() {
                let factor = column[j] * inverse;
                let (own, later) = updates.split_at(column.len() - j);
                updates = later;
                for (&entry, value) in own.iter().zip(&column[j..]) {
                    rest[entry as usize - last] -= factor * value;
                }
            }
            column.iter_mut().for_each(|x| *x *= inverse);
        }

        self.work.fill(0.0);
        Ok(())
    }

    /// Solves with the last factor, in place; false if a row that was passed over is not met.
    pub(crate) fn solve(&mut self, x: &mut [f64]) -> bool {
        let n = self.order.len();
        let largest = x.iter().fold(0.0, |m: f64, v| m.max(v.abs()));
        let mut agrees = true;
        for (w, &row) in self.work.iter_mut().zip(&self.order) {
            *w = x[row as usize];
        }

        for k in 0..n {
            let (first, last) = (self.starts[k] as usize, self.starts[k + 1] as usize);
            let y = self.work[k];
            if self.values[first] == f64::INFINITY {
                agrees &= y.abs() <= AGREES * largest;
                continue;
            }
            for at in first + 1..last {
                self.work[self.rows[at] as usize] -= self.values[at] * y;
            }
        }

        for k in (0..n).rev() {
            let (first, last) = (self.starts[k] as usize, self.starts[k + 1] as usize);
            // Zero for a row that was passed over.
            let mut sum = self.work[k] / self.values[first];
            for at in first + 1..last {
                sum -= self.values[at] * self.work[self.rows[at] as usize];
            }
            self.work[k] = sum;
        }

        for (&w, &row) in self.work.iter().zip(&self.order) {
            x[row as usize] = w;
        }
        self.work.fill(0.0);
        agrees
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A symmetric matrix with a large diagonal: blocks of 3 in a row, each coupled to the next and to one far away.
    fn matrix(n: u32) -> (Vec<(u32, u32)>, Vec<f64>) {
        let mut places = Vec::new();
        let mut values = Vec::new();
        for row in 0..n {
            for column in 0..=row {
                let near = row - column <= 3 || (row % 7 == 0 && column == row / 2);
                if near {
                    places.push((row, column));
                    let value = f64::from(row * 5 + column * 3 + 1).sin();
                    values.push(if row == column { 9.0 + value } else { value });
                }
            }
        }
        (places, values)
    }

    fn product(places: &[(u32, u32)], values: &[f64], x: &[f64]) -> Vec<f64> {
        let mut y = vec![0.0; x.len()];
        for (&(row, column), value) in places.iter().zip(values) {
            y[row as usize] += value * x[column as usize];
            if row != column {
                y[column as usize] += value * x[row as usize];
            }
        }
        y
    }

    #[test]
    fn the_solution_gives_the_right_side_back() {
        let n = 120;
        let (mut places, mut values) = matrix(n);
        // Entries at one place add up.
        places.push((5, 4));
        values.push(0.25);
        let mut factor = SparseCholesky::new(n as usize, &places);
        for round in 0..3 {
            let right: Vec<f64> = (0..n).map(|k| f64::from(k + round).cos()).collect();
            factor.factor(&values).expect("definite");
            let mut x = right.clone();
            assert!(factor.solve(&mut x));
            for (got, asked) in product(&places, &values, &x).iter().zip(&right) {
                assert!((got - asked).abs() < 1e-13, "{got} for {asked}");
            }
            values.iter_mut().for_each(|v| *v *= 1.25);
        }
    }

    #[test]
    fn a_chain_is_factored_without_new_entries() {
        let n = 500;
        let places: Vec<(u32, u32)> = (0..n)
            .flat_map(|k| [(k, k), (k.max(1), k.max(1) - 1)])
            .collect();
        let factor = SparseCholesky::new(n as usize, &places);
        assert_eq!(factor.rows.len(), 2 * n as usize - 1);
    }

    #[test]
    fn a_row_said_twice_is_passed_over_if_it_agrees() {
        let places = [(0, 0), (1, 0), (1, 1)];
        let mut factor = SparseCholesky::new(2, &places);
        assert_eq!(factor.factor(&[1.0, 2.0, 4.0]), Ok(()));
        let mut x = [3.0, 6.0];
        assert!(factor.solve(&mut x));
        // x + 2 y = 3, whichever of the two is passed over.
        assert!((x[0] + 2.0 * x[1] - 3.0).abs() < 1e-15);
        assert!(!factor.solve(&mut [3.0, 7.0]));
    }

    #[test]
    fn what_is_not_definite_is_refused() {
        let places = [(0, 0), (1, 0), (1, 1)];
        let mut factor = SparseCholesky::new(2, &places);
        assert_eq!(factor.factor(&[0.0, 0.0, 1.0]), Err(NoFactor::Singular));
        assert_eq!(factor.factor(&[1.0, 2.0, 1.0]), Err(NoFactor::Singular));
        assert_eq!(
            factor.factor(&[1.0, f64::NAN, 4.0]),
            Err(NoFactor::NotFinite)
        );
        assert_eq!(factor.factor(&[1.0, 0.5, 4.0]), Ok(()));
    }
}
