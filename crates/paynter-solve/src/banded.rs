//! Elimination inside of a narrow band, with row exchanges.
//!
//! In:  `c` and the Jacobian in the order of a pattern, and an order of the variables.
//! Out: factors of `c M − J`, and solutions with them; work proportional to the length of the
//!      band for a given width.

use crate::linear::{NEGLIGIBLE, Singular, mass_diagonal};
use crate::system::Pattern;

/// Elimination inside of a band, with row exchanges (as LAPACK's `gbtrf`).
///
/// Column `j` of the reordered matrix is stored in `width` places; entry `(i, j)` sits at
/// place `below + above + i − j`, and the first `below` places take the fill of exchanges.
pub(crate) struct Banded {
    n: usize,
    below: usize,
    above: usize,
    width: usize,
    /// Position of each variable in the band.
    position: Vec<usize>,
    mass: Vec<f64>,
    places: Vec<usize>,
    diagonal: Vec<usize>,
    lu: Vec<f64>,
    pivots: Vec<usize>,
    scratch: Vec<f64>,
}

impl Banded {
    /// `order` lists the variables in their new sequence. Storage is made at the first
    /// factorisation, so that a band found too wide costs nothing.
    pub(crate) fn new(pattern: &Pattern, order: &[usize], algebraic: &[bool]) -> Self {
        let n = pattern.n();
        let mut position = vec![0; n];
        for (place, &variable) in order.iter().enumerate() {
            position[variable] = place;
        }

        let (mut below, mut above) = (0, 0);
        for column in 0..n {
            let j = position[column];
            for &row in pattern.column(column) {
                let i = position[row];
                below = below.max(i.saturating_sub(j));
                above = above.max(j.saturating_sub(i));
            }
        }

        let width = 2 * below + above + 1;
        let place = |i: usize, j: usize| j * width + below + above + i - j;
        let mut places = Vec::with_capacity(pattern.n_entries());
        for column in 0..n {
            let j = position[column];
            places.extend(
                pattern
                    .column(column)
                    .iter()
                    .map(|&row| place(position[row], j)),
            );
        }

        let diagonal = (0..n).map(|i| place(position[i], position[i])).collect();
        Self {
            n,
            below,
            above,
            width,
            position,
            mass: mass_diagonal(n, algebraic),
            places,
            diagonal,
            lu: Vec::new(),
            pivots: Vec::new(),
            scratch: Vec::new(),
        }
    }

    /// Sum of both half-bandwidths.
    pub(crate) fn bandwidth(&self) -> usize {
        self.below + self.above
    }

    pub(crate) fn factor(&mut self, c: f64, jacobian: &[f64]) -> Result<u64, Singular> {
        let (n, below, width) = (self.n, self.below, self.width);
        let reach = self.below + self.above;
        self.lu.clear();
        self.lu.resize(n * width, 0.0);
        self.pivots.resize(n, 0);
        self.scratch.resize(n, 0.0);
        for (&place, value) in self.places.iter().zip(jacobian) {
            self.lu[place] = -value;
        }
        for (&place, mass) in self.diagonal.iter().zip(&self.mass) {
            self.lu[place] += c * mass;
        }

        for j in 0..n {
            let n_below = below.min(n - 1 - j);
            let (done, rest) = self.lu.split_at_mut((j + 1) * width);
            // From the diagonal downwards.
            let column = &mut done[j * width + reach..j * width + reach + n_below + 1];
            let mut p = 0;
            for i in 1..=n_below {
                if column[i].abs() > column[p].abs() {
                    p = i;
                }
            }
            self.pivots[j] = p;
            let pivot = column[p];
            if pivot == 0.0 || !pivot.is_finite() {
                let variable = self.position.iter().position(|&place| place == j);
                return Err(Singular(variable));
            }
            column.swap(0, p);
            let inverse = 1.0 / pivot;
            for value in &mut column[1..] {
                *value *= inverse;
            }
            let last = (j + reach).min(n - 1);
            for (offset, next) in rest.chunks_exact_mut(width).take(last - j).enumerate() {
                // Row j is one place higher in each further column.
                let top = reach - 1 - offset;
                let target = &mut next[top..top + n_below + 1];
                target.swap(0, p);
                let factor = target[0];
                if factor != 0.0 {
                    for (value, l) in target[1..].iter_mut().zip(&column[1..]) {
                        *value -= factor * l;
                    }
                }
            }
        }
        Ok((n * (below + 1) * (reach + 1)) as u64)
    }

    pub(crate) fn solve(&mut self, x: &mut [f64]) -> u64 {
        let (n, width) = (self.n, self.width);
        let reach = self.below + self.above;
        let b = &mut self.scratch;
        for (variable, &place) in self.position.iter().enumerate() {
            b[place] = x[variable];
        }

        for j in 0..n {
            b.swap(j, j + self.pivots[j]);
            let n_below = self.below.min(n - 1 - j);
            let factor = b[j];
            if factor.abs() < NEGLIGIBLE {
                b[j] = 0.0;
                continue;
            }
            let column = &self.lu[j * width + reach + 1..j * width + reach + 1 + n_below];
            for (value, l) in b[j + 1..].iter_mut().zip(column) {
                *value -= factor * l;
            }
        }

        for j in (0..n).rev() {
            let n_above = reach.min(j);
            let column = &self.lu[j * width + reach - n_above..=j * width + reach];
            b[j] /= column[n_above];
            let factor = b[j];
            if factor.abs() < NEGLIGIBLE {
                b[j] = 0.0;
                continue;
            }
            for (value, u) in b[j - n_above..j].iter_mut().zip(column) {
                *value -= factor * u;
            }
        }

        for (variable, &place) in self.position.iter().enumerate() {
            x[variable] = b[place];
        }
        (n * (width + 1)) as u64
    }
}
