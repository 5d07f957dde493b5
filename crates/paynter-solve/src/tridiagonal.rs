//! Elimination of three diagonals, with row exchanges (as LAPACK's `gttrf`).
//!
//! In:  `c` and the Jacobian in the order of a pattern, and an order of the variables.
//! Out: factors of `c M − J`, and solutions with them. The form of ladders and chains, worth
//!      its own loops: a general band spends most of its time on bookkeeping here.

use crate::linear::{NEGLIGIBLE, Singular, mass_diagonal};
use crate::system::Pattern;

/// A tridiagonal matrix and its factors.
pub(crate) struct Tridiagonal {
    /// Position of each variable along the diagonal.
    position: Vec<usize>,
    mass: Vec<f64>,
    /// Where each Jacobian value goes in `entries`.
    places: Vec<usize>,
    /// Entries above, on and below the diagonal of each column.
    entries: Vec<[f64; 3]>,
    rows: Vec<FactorRow>,
    /// Second diagonal above; filled by exchanges only.
    second: Vec<f64>,
    has_exchanges: bool,
    x: Vec<f64>,
}

/// One row of the factors.
#[derive(Clone, Copy, Default)]
struct FactorRow {
    /// Multiplier that eliminates the entry below.
    lower: f64,
    /// Inverse of the pivot.
    inverse: f64,
    /// Entry beside the pivot.
    upper: f64,
    /// The same, divided by the pivot.
    upper_share: f64,
    /// Whether this row was exchanged with the next.
    is_exchanged: bool,
}

impl Tridiagonal {
    /// Returns `None` if the pattern in this order has entries off the three diagonals.
    pub(crate) fn new(pattern: &Pattern, order: &[usize], algebraic: &[bool]) -> Option<Self> {
        let n = pattern.n();
        let mut position = vec![0; n];
        for (place, &variable) in order.iter().enumerate() {
            position[variable] = place;
        }
        let mut places = Vec::with_capacity(pattern.n_entries());
        for column in 0..n {
            let j = position[column];
            for &row in pattern.column(column) {
                let i = position[row];
                if i.abs_diff(j) > 1 {
                    return None;
                }
                places.push(3 * j + (i + 1) - j);
            }
        }
        Some(Self {
            position,
            mass: mass_diagonal(n, algebraic),
            places,
            entries: vec![[0.0; 3]; n],
            rows: vec![FactorRow::default(); n],
            second: vec![0.0; n],
            has_exchanges: false,
            x: vec![0.0; n],
        })
    }

    pub(crate) fn factor(&mut self, c: f64, jacobian: &[f64]) -> Result<u64, Singular> {
        let n = self.position.len();
        let entries = self.entries.as_flattened_mut();
        entries.fill(0.0);
        for (&place, value) in self.places.iter().zip(jacobian) {
            entries[place] = -value;
        }
        for (&place, mass) in self.position.iter().zip(&self.mass) {
            self.entries[place][1] += c * mass;
        }

        self.has_exchanges = false;
        // Pivot row as eliminated so far: its diagonal and the two entries beside it.
        let mut diagonal = self.entries[0][1];
        let mut upper = self.entries.get(1).map_or(0.0, |column| column[0]);
        for i in 0..n {
            let lower = self.entries[i][2];
            if i + 1 == n || diagonal.abs() >= lower.abs() {
                if diagonal == 0.0 || !diagonal.is_finite() {
                    let variable = self.position.iter().position(|&place| place == i);
                    return Err(Singular(variable));
                }
                let inverse = 1.0 / diagonal;
                let multiplier = lower * inverse;
                self.rows[i] = FactorRow {
                    lower: multiplier,
                    inverse,
                    upper,
                    upper_share: upper * inverse,
                    is_exchanged: false,
                };
                self.second[i] = 0.0;
                if i + 1 < n {
                    diagonal = self.entries[i + 1][1] - multiplier * upper;
                    upper = self.entries.get(i + 2).map_or(0.0, |column| column[0]);
                }
            } else {
                self.has_exchanges = true;
                let inverse = 1.0 / lower;
                let multiplier = diagonal * inverse;
                let beside = self.entries[i + 1][1];
                let second = self.entries.get(i + 2).map_or(0.0, |column| column[0]);
                self.rows[i] = FactorRow {
                    lower: multiplier,
                    inverse,
                    upper: beside,
                    upper_share: beside * inverse,
                    is_exchanged: true,
                };
                self.second[i] = second;
                diagonal = upper - multiplier * beside;
                upper = -multiplier * second;
            }
        }
        Ok(4 * n as u64)
    }

    pub(crate) fn solve(&mut self, b: &mut [f64]) -> u64 {
        let n = self.position.len();
        let x = &mut self.x;
        for (value, &place) in b.iter().zip(&self.position) {
            x[place] = *value;
        }

        if self.has_exchanges {
            for i in 0..n.saturating_sub(1) {
                if self.rows[i].is_exchanged {
                    x.swap(i, i + 1);
                }
                x[i + 1] = flush(x[i + 1] - self.rows[i].lower * x[i]);
            }
            let (mut next, mut second) = (0.0, 0.0);
            for i in (0..n).rev() {
                let row = self.rows[i];
                let value = (x[i] - row.upper * next - self.second[i] * second) * row.inverse;
                let value = flush(value);
                x[i] = value;
                (next, second) = (value, next);
            }
        } else {
            // Each element waits for the one before: nothing but a product and a difference lies on that way, and
            // what is negligible is a branch foretold, not a value waited for.
            let mut carried = 0.0;
            for (value, row) in x.iter_mut().zip(&self.rows) {
                let mut eliminated = *value - carried;
                if eliminated.abs() < NEGLIGIBLE {
                    eliminated = nothing();
                }
                carried = row.lower * eliminated;
                *value = eliminated * row.inverse;
            }
            let mut next = 0.0;
            for (value, row) in x.iter_mut().zip(&self.rows).rev() {
                next = *value - row.upper_share * next;
                if next.abs() < NEGLIGIBLE {
                    next = nothing();
                }
                *value = next;
            }
        }

        for (value, &place) in b.iter_mut().zip(&self.position) {
            *value = self.x[place];
        }
        4 * n as u64
    }
}

/// Zero, by a call that keeps the compiler from computing both sides of a branch.
#[cold]
#[inline(never)]
fn nothing() -> f64 {
    0.0
}

#[inline]
fn flush(value: f64) -> f64 {
    if value.abs() < NEGLIGIBLE { 0.0 } else { value }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Solves with columns (above, on, below the diagonal) of c M − J, M = 1; gives the largest residual.
    fn residual(columns: &[[f64; 3]], b: &[f64]) -> f64 {
        let n = b.len();
        let mut entries = Vec::new();
        for j in 0..n {
            entries.extend((j.saturating_sub(1)..=(j + 1).min(n - 1)).map(|i| (i, j)));
        }
        let pattern = Pattern::from_entries(n, &entries).expect("rows and columns lie inside");
        let order: Vec<usize> = (0..n).collect();
        let mut matrix = Tridiagonal::new(&pattern, &order, &[]).expect("three diagonals");
        let c = 1.0;
        let value = |i: usize, j: usize| columns[j][i + 1 - j];
        let is_diagonal = |i: usize, j: usize| f64::from(u8::from(i == j));
        let jacobian: Vec<f64> = (0..n)
            .flat_map(|j| pattern.column(j).iter().map(move |&i| (i, j)))
            .map(|(i, j)| c * is_diagonal(i, j) - value(i, j))
            .collect();
        matrix.factor(c, &jacobian).expect("it is regular");
        let mut x = b.to_vec();
        matrix.solve(&mut x);
        let row = |i: usize| {
            let near = i.saturating_sub(1)..=(i + 1).min(n - 1);
            near.map(|j| value(i, j) * x[j]).sum::<f64>() - b[i]
        };
        (0..n).map(|i| row(i).abs()).fold(0.0, f64::max)
    }

    #[test]
    fn solutions_meet_their_equations_with_and_without_exchanges() {
        let wave = |k: usize| (1.7 * k as f64).sin();
        for strength in [4.0, 0.3] {
            let n = 60;
            let columns: Vec<[f64; 3]> = (0..n)
                .map(|j| [wave(3 * j), strength + wave(3 * j + 1), wave(3 * j + 2)])
                .collect();
            let b: Vec<f64> = (0..n).map(|i| wave(5 * i + 2)).collect();
            // Rounding, times the growth that a weak diagonal allows.
            assert!(residual(&columns, &b) < 1e-10, "diagonal {strength}");
        }
    }

    #[test]
    fn a_far_end_that_nothing_reaches_stays_exactly_zero() {
        let n = 3000;
        let columns = vec![[-1.0, 3.0, -1.0]; n];
        let mut b = vec![0.0; n];
        b[0] = 1.0;
        assert!(residual(&columns, &b) < 1e-15);
        let entries: Vec<(usize, usize)> = (0..n)
            .flat_map(|j| (j.saturating_sub(1)..=(j + 1).min(n - 1)).map(move |i| (i, j)))
            .collect();
        let pattern = Pattern::from_entries(n, &entries).expect("rows and columns lie inside");
        let order: Vec<usize> = (0..n).collect();
        let mut matrix = Tridiagonal::new(&pattern, &order, &[]).expect("three diagonals");
        let jacobian: Vec<f64> = (0..n)
            .flat_map(|j| pattern.column(j).iter().map(move |&i| (i, j)))
            .map(|(i, j)| if i == j { -2.0 } else { 1.0 })
            .collect();
        matrix.factor(1.0, &jacobian).expect("it is regular");
        matrix.solve(&mut b);
        // The solution falls by 2.6 from cell to cell: numbers too small to matter are none, not
        // ones that cost a hundred times as much.
        assert!(b.iter().all(|x| *x == 0.0 || x.abs() >= NEGLIGIBLE));
        assert_eq!(b[n - 1], 0.0);
        assert!(b[100] > 0.0);
    }
}
