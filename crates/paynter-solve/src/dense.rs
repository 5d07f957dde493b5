//! Dense elimination with row exchanges, for small systems and for those without a pattern.
//!
//! In:  `c` and the Jacobian, column by column or in the order of a pattern.
//! Out: factors of `c M − J`, and solutions with them.

use crate::linear::{Singular, mass_diagonal};
use crate::system::Pattern;

/// Dense elimination with row exchanges.
pub(crate) struct Dense {
    n: usize,
    mass: Vec<f64>,
    /// Where each Jacobian value goes; empty when they come column by column.
    places: Vec<usize>,
    lu: Vec<f64>,
    pivots: Vec<usize>,
}

impl Dense {
    pub(crate) fn new(n: usize, pattern: Option<&Pattern>, algebraic: &[bool]) -> Self {
        let places = pattern.map_or(Vec::new(), |pattern| {
            (0..n)
                .flat_map(|column| {
                    pattern
                        .column(column)
                        .iter()
                        .map(move |row| column * n + row)
                })
                .collect()
        });
        Self {
            n,
            mass: mass_diagonal(n, algebraic),
            places,
            lu: vec![0.0; n * n],
            pivots: vec![0; n],
        }
    }

    pub(crate) fn factor(&mut self, c: f64, jacobian: &[f64]) -> Result<u64, Singular> {
        let n = self.n;
        if self.places.is_empty() {
            for (entry, value) in self.lu.iter_mut().zip(jacobian) {
                *entry = -value;
            }
        } else {
            self.lu.fill(0.0);
            for (&place, value) in self.places.iter().zip(jacobian) {
                self.lu[place] = -value;
            }
        }

        for i in 0..n {
            self.lu[i * n + i] += c * self.mass[i];
        }
        for k in 0..n {
            let (done, rest) = self.lu.split_at_mut((k + 1) * n);
            let pivot_column = &mut done[k * n..];
            let mut p = k;
            for i in k + 1..n {
                if pivot_column[i].abs() > pivot_column[p].abs() {
                    p = i;
                }
            }
            self.pivots[k] = p;
            let pivot = pivot_column[p];
            if pivot == 0.0 || !pivot.is_finite() {
                return Err(Singular(Some(k)));
            }
            pivot_column.swap(k, p);
            let inverse = 1.0 / pivot;
            for value in &mut pivot_column[k + 1..] {
                *value *= inverse;
            }
            let below = &pivot_column[k + 1..];
            for column in rest.chunks_exact_mut(n) {
                column.swap(k, p);
                let factor = column[k];
                if factor != 0.0 {
                    for (value, l) in column[k + 1..].iter_mut().zip(below) {
                        *value -= factor * l;
                    }
                }
            }
        }
        Ok((n * n * n / 3 + n * n) as u64)
    }

    pub(crate) fn solve(&self, x: &mut [f64]) -> u64 {
        let n = self.n;
        for k in 0..n {
            x.swap(k, self.pivots[k]);
            let factor = x[k];
            let below = &self.lu[k * n + k + 1..(k + 1) * n];
            for (value, l) in x[k + 1..].iter_mut().zip(below) {
                *value -= factor * l;
            }
        }
        for k in (0..n).rev() {
            let column = &self.lu[k * n..k * n + k + 1];
            x[k] /= column[k];
            let factor = x[k];
            for (value, u) in x[..k].iter_mut().zip(column) {
                *value -= factor * u;
            }
        }
        (n * n) as u64
    }
}
