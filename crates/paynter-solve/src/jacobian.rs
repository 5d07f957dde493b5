//! The Jacobian `∂f/∂y`, from the system or by finite differences.
//!
//! In:  a state, and `f` there.
//! Out: values in the order of the system's pattern, or column by column when it has none.
//!
//! Finite differences over a pattern move all columns of one colour together: columns that
//! share no row (Curtis, Powell & Reid 1974). A chain needs three evaluations of `f` whatever
//! its length.

use crate::options::Function;
use crate::stepper::{Context, Trouble, refuse_not_finite};
use crate::system::{Pattern, System};

/// Jacobian values and what it takes to compute them.
pub(crate) struct Jacobian {
    pattern: Option<Pattern>,
    pub(crate) values: Vec<f64>,
    /// Columns grouped by colour; filled when finite differences are first needed.
    colours: Option<Vec<Vec<usize>>>,
    y: Vec<f64>,
    f: Vec<f64>,
    increments: Vec<f64>,
    /// Where the power method has come to.
    direction: Vec<f64>,
}

/// A direction that no usual eigenvector is orthogonal to.
fn first_direction(n: usize) -> Vec<f64> {
    (0..n).map(|i| 1.0 + 0.5 * (i as f64).sin()).collect()
}

impl Jacobian {
    pub(crate) fn new(system: &dyn System) -> Self {
        let n = system.n();
        let pattern = system.jacobian_pattern().cloned();
        let n_values = pattern.as_ref().map_or(n * n, Pattern::n_entries);
        Self {
            pattern,
            values: vec![0.0; n_values],
            colours: None,
            y: vec![0.0; n],
            f: vec![0.0; n],
            increments: vec![0.0; n],
            direction: first_direction(n),
        }
    }

    pub(crate) fn pattern(&self) -> Option<&Pattern> {
        self.pattern.as_ref()
    }

    /// Largest column sum, an upper bound of the spectral radius.
    pub(crate) fn column_norm(&self) -> f64 {
        let sum = |range: std::ops::Range<usize>| -> f64 {
            self.values[range].iter().map(|value| value.abs()).sum()
        };
        (0..self.y.len())
            .map(|column| sum(self.column(column)))
            .fold(0.0, f64::max)
    }

    /// Spectral radius by the power method, going on from where the last call stopped.
    ///
    /// The mean growth over an even number of products serves pairs of complex eigenvalues, and variables of
    /// different units, as well.
    pub(crate) fn spectral_radius(&mut self, n_products: u8) -> f64 {
        let n = self.y.len();
        let mut growth = 1.0;
        for _ in 0..n_products {
            let size = self.direction.iter().map(|v| v * v).sum::<f64>().sqrt();
            if !(size > 0.0 && size.is_finite()) {
                // What is left is nilpotent for this direction: nothing of it grows.
                self.direction = first_direction(n);
                return 0.0;
            }
            self.direction.iter_mut().for_each(|v| *v /= size);
            let mut product = std::mem::take(&mut self.f);
            product.fill(0.0);
            for (column, v) in self.direction.iter().enumerate() {
                let range = self.column(column);
                for (place, value) in self.values[range.clone()].iter().enumerate() {
                    let row = match &self.pattern {
                        Some(pattern) => pattern.rows()[range.start + place],
                        None => place,
                    };
                    product[row] += value * v;
                }
            }
            std::mem::swap(&mut self.direction, &mut product);
            self.f = product;
            growth *= self.direction.iter().map(|v| v * v).sum::<f64>().sqrt();
        }
        growth.powf(1.0 / f64::from(n_products))
    }

    /// Where the values of a column are.
    fn column(&self, column: usize) -> std::ops::Range<usize> {
        let n = self.y.len();
        match &self.pattern {
            Some(pattern) => pattern.column_starts()[column]..pattern.column_starts()[column + 1],
            None => column * n..(column + 1) * n,
        }
    }

    /// Computes the Jacobian at `(t, y)`, where `f0 = f(t, y)`.
    pub(crate) fn evaluate(
        &mut self,
        cx: &mut Context<'_>,
        t: f64,
        y: &[f64],
        f0: &[f64],
    ) -> Result<(), Trouble> {
        cx.statistics.jacobians += 1;
        let what = Function::Jacobian;
        let is_given = cx
            .system
            .jacobian(t, y, &mut self.values)
            .map_err(|error| Trouble::Evaluation { t, error, what })?;
        if !is_given {
            self.difference(cx, t, y, f0)?;
        }
        refuse_not_finite(t, &self.values, what)
    }

    fn difference(
        &mut self,
        cx: &mut Context<'_>,
        t: f64,
        y: &[f64],
        f0: &[f64],
    ) -> Result<(), Trouble> {
        // Where rounding and truncation of a difference quotient balance, for the size that
        // the tolerances give to the variable.
        cx.weights.typical_size(y, &mut self.increments);
        for (increment, y) in self.increments.iter_mut().zip(y) {
            let wished = f64::EPSILON.sqrt() * increment.max(f64::MIN_POSITIVE);
            // The difference that the rounded sum really makes.
            *increment = (y + wished.copysign(*y)) - y;
        }

        let pattern = self.pattern.as_ref();
        let n = y.len();
        let colours = self
            .colours
            .get_or_insert_with(|| pattern.map_or((0..n).map(|j| vec![j]).collect(), colour));
        for columns in colours {
            self.y.copy_from_slice(y);
            for &column in columns.iter() {
                self.y[column] += self.increments[column];
            }
            cx.statistics.rhs_for_jacobian += 1;
            let what = Function::Rhs;
            cx.system
                .rhs(t, &self.y, &mut self.f)
                .map_err(|error| Trouble::Evaluation { t, error, what })?;
            for &column in columns.iter() {
                let inverse = 1.0 / self.increments[column];
                match pattern {
                    Some(pattern) => {
                        let start = pattern.column_starts()[column];
                        for (offset, &row) in pattern.column(column).iter().enumerate() {
                            self.values[start + offset] = (self.f[row] - f0[row]) * inverse;
                        }
                    }
                    None => {
                        for row in 0..n {
                            self.values[column * n + row] = (self.f[row] - f0[row]) * inverse;
                        }
                    }
                }
            }
        }
        Ok(())
    }
}

/// Groups columns that share no row, greedily.
fn colour(pattern: &Pattern) -> Vec<Vec<usize>> {
    let n = pattern.n();
    // Colours seen so far in each row; short in sparse systems.
    let mut colours_of_row: Vec<Vec<usize>> = vec![Vec::new(); n];
    let mut groups: Vec<Vec<usize>> = Vec::new();
    let mut last_user = Vec::new();
    for column in 0..n {
        for &row in pattern.column(column) {
            for &taken in &colours_of_row[row] {
                last_user[taken] = column + 1;
            }
        }
        let free = last_user.iter().position(|&user| user != column + 1);
        let chosen = free.unwrap_or(groups.len());
        if chosen == groups.len() {
            groups.push(Vec::new());
            last_user.push(0);
        }
        groups[chosen].push(column);
        for &row in pattern.column(column) {
            colours_of_row[row].push(chosen);
        }
    }
    groups
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_chain_has_three_colours() {
        let n = 100_usize;
        let mut entries = Vec::new();
        for i in 0..n {
            entries.extend((i.saturating_sub(1)..(i + 2).min(n)).map(|j| (i, j)));
        }
        let pattern = Pattern::from_entries(n, &entries).expect("entries lie inside");
        let groups = colour(&pattern);
        assert_eq!(groups.len(), 3);
        for group in groups {
            assert!(group.windows(2).all(|pair| pair[1] - pair[0] >= 3));
        }
    }

    #[test]
    fn spectral_radius_of_an_oscillator_is_its_frequency() {
        // q' = p / m, p' = −k q with ω² = k/m: sizes of q and p differ by six decades.
        let entries = [(0, 1), (1, 0)];
        let pattern = Pattern::from_entries(2, &entries).expect("entries lie inside");
        let mut jacobian = Jacobian {
            pattern: Some(pattern),
            values: vec![-1e9, 1e-3],
            colours: None,
            y: vec![0.0; 2],
            f: vec![0.0; 2],
            increments: vec![0.0; 2],
            direction: first_direction(2),
        };
        assert!((jacobian.spectral_radius(8) / 1e3 - 1.0).abs() < 1e-9);
        // A chain of integrators has no eigenvalue but zero.
        jacobian.values = vec![0.0, 1.0];
        assert_eq!(jacobian.spectral_radius(8), 0.0);
    }
}
