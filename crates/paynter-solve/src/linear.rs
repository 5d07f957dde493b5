//! Factorises and solves `c M − J`, the matrix of every implicit method here.
//!
//! In:  the pattern of the Jacobian (or none, for dense), then `c` and the values.
//! Out: solutions of linear systems.
//!
//! The form is chosen once from size and pattern: dense for small systems, tridiagonal or
//! banded where reordering by reverse Cuthill–McKee gives a narrow band (ladders, chains,
//! lines of cells: cost linear in their length), general sparse otherwise.

use crate::banded::Banded;
use crate::dense::Dense;
use crate::ordering::reverse_cuthill_mckee;
use crate::sparse::Sparse;
use crate::system::Pattern;
use crate::tridiagonal::Tridiagonal;

/// Up to this size dense elimination is faster than any bookkeeping of sparsity.
const MAX_DENSE: usize = 40;
/// Up to this sum of both half-bandwidths banded elimination beats the general sparse one,
/// whose fill and index work cost about this many entries per row on one-dimensional systems.
const MAX_BAND: usize = 40;

/// Smaller values are taken for 0 in the substitutions along a band. Ahead of a front the
/// solution decays from cell to cell and would end in subnormal numbers, which never quite
/// reach 0 and which processors handle a hundred times more slowly. No tolerance sees them.
pub(crate) const NEGLIGIBLE: f64 = 1e-200;

/// A matrix is singular, where known at the elimination of this variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Singular(pub(crate) Option<usize>);

/// The matrix `c M − J` in one of its forms.
pub(crate) enum IterationMatrix {
    /// Column by column, all entries.
    Dense(Dense),
    /// Three diagonals after reordering.
    Tridiagonal(Tridiagonal),
    /// A narrow band after reordering.
    Banded(Banded),
    /// General sparse.
    Sparse(Box<Sparse>),
}

impl IterationMatrix {
    pub(crate) fn new(n: usize, pattern: Option<&Pattern>, algebraic: &[bool]) -> Self {
        match pattern {
            Some(pattern) if n > MAX_DENSE => {
                let order = reverse_cuthill_mckee(pattern);
                if let Some(tridiagonal) = Tridiagonal::new(pattern, &order, algebraic) {
                    return Self::Tridiagonal(tridiagonal);
                }
                let banded = Banded::new(pattern, &order, algebraic);
                if banded.bandwidth() <= MAX_BAND {
                    return Self::Banded(banded);
                }
                match Sparse::new(pattern, algebraic) {
                    Some(sparse) => Self::Sparse(Box::new(sparse)),
                    None => Self::Banded(banded),
                }
            }
            pattern => Self::Dense(Dense::new(n, pattern, algebraic)),
        }
    }

    /// Factorises `c M − J`; returns the number of entries visited.
    pub(crate) fn factor(&mut self, c: f64, jacobian: &[f64]) -> Result<u64, Singular> {
        match self {
            Self::Dense(matrix) => matrix.factor(c, jacobian),
            Self::Tridiagonal(matrix) => matrix.factor(c, jacobian),
            Self::Banded(matrix) => matrix.factor(c, jacobian),
            Self::Sparse(matrix) => matrix.factor(c, jacobian),
        }
    }

    /// Solves in place with the last factors; returns the number of entries visited.
    pub(crate) fn solve(&mut self, x: &mut [f64]) -> u64 {
        match self {
            Self::Dense(matrix) => matrix.solve(x),
            Self::Tridiagonal(matrix) => matrix.solve(x),
            Self::Banded(matrix) => matrix.solve(x),
            Self::Sparse(matrix) => matrix.solve(x),
        }
    }
}

/// 1 for differential rows, 0 for algebraic ones.
pub(crate) fn mass_diagonal(n: usize, algebraic: &[bool]) -> Vec<f64> {
    (0..n)
        .map(|i| {
            let is_algebraic = algebraic.get(i).copied().unwrap_or(false);
            if is_algebraic { 0.0 } else { 1.0 }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// `c M − J` times `x`, directly from the definition.
    fn multiply(c: f64, pattern: &Pattern, values: &[f64], mass: &[f64], x: &[f64]) -> Vec<f64> {
        let mut product: Vec<f64> = mass.iter().zip(x).map(|(m, x)| c * m * x).collect();
        let mut entry = 0;
        for column in 0..pattern.n() {
            for &row in pattern.column(column) {
                product[row] -= values[entry] * x[column];
                entry += 1;
            }
        }
        product
    }

    /// A random matrix whose diagonal rules its rows, shuffled so that no order is lucky.
    fn system(n: usize, reach: usize, seed: u64) -> (Pattern, Vec<f64>, Vec<bool>, Vec<f64>) {
        let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
        let mut random = move || {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            (state >> 11) as f64 / (1_u64 << 53) as f64
        };
        let mut order: Vec<usize> = (0..n).collect();
        for i in (1..n).rev() {
            order.swap(i, (random() * (i + 1) as f64) as usize);
        }
        let mut entries = Vec::new();
        for i in 0..n {
            for j in i.saturating_sub(reach)..(i + reach + 1).min(n) {
                if i == j || random() < 0.7 {
                    entries.push((order[i], order[j]));
                }
            }
        }
        let pattern = Pattern::from_entries(n, &entries).expect("entries lie inside");
        let mut values = Vec::new();
        for column in 0..n {
            for &row in pattern.column(column) {
                let size = if row == column {
                    -4.0 * reach as f64
                } else {
                    0.0
                };
                values.push(size + random() - 0.5);
            }
        }
        let algebraic: Vec<bool> = (0..n).map(|_| random() < 0.3).collect();
        let x = (0..n).map(|_| random() - 0.5).collect();
        (pattern, values, algebraic, x)
    }

    proptest! {
        #[test]
        fn all_forms_solve_what_they_factorised(seed in 0_u64..1000, n in 1_usize..60, reach in 1_usize..5) {
            let (pattern, values, algebraic, x) = system(n, reach, seed);
            let mass = mass_diagonal(n, &algebraic);
            let product = multiply(3.0, &pattern, &values, &mass, &x);
            let order = reverse_cuthill_mckee(&pattern);
            let forms = [
                IterationMatrix::Dense(Dense::new(n, Some(&pattern), &algebraic)),
                IterationMatrix::Banded(Banded::new(&pattern, &order, &algebraic)),
                IterationMatrix::Sparse(Box::new(Sparse::new(&pattern, &algebraic).expect("regular"))),
            ];
            let tridiagonal = Tridiagonal::new(&pattern, &reverse_cuthill_mckee(&pattern), &algebraic);
            let forms = forms.into_iter().chain(tridiagonal.map(IterationMatrix::Tridiagonal));
            for mut form in forms {
                form.factor(3.0, &values).expect("the diagonal rules");
                let mut solution = product.clone();
                form.solve(&mut solution);
                for (found, exact) in solution.iter().zip(&x) {
                    // Condition number below 10, so a few dozen roundings at most.
                    prop_assert!((found - exact).abs() < 1e-13);
                }
            }
        }
    }

    #[test]
    fn exchanges_of_rows_are_made_where_a_pivot_is_zero() {
        // J = −[[0, 1], [1, 0]] in every 2×2 block, all rows algebraic.
        let n = 50;
        let entries: Vec<(usize, usize)> = (0..n).map(|i| (i, i ^ 1)).collect();
        let pattern = Pattern::from_entries(n, &entries).expect("entries lie inside");
        let algebraic = vec![true; n];
        let order: Vec<usize> = (0..n).collect();
        let forms = [
            IterationMatrix::new(n, Some(&pattern), &algebraic),
            IterationMatrix::Banded(Banded::new(&pattern, &order, &algebraic)),
            IterationMatrix::Dense(Dense::new(n, Some(&pattern), &algebraic)),
        ];
        assert!(matches!(forms[0], IterationMatrix::Tridiagonal(_)));
        for mut matrix in forms {
            matrix.factor(1.0, &vec![-1.0; n]).expect("regular");
            let mut x: Vec<f64> = (0..n).map(|i| i as f64).collect();
            matrix.solve(&mut x);
            assert!((0..n).all(|i| x[i] == (i ^ 1) as f64));
        }
    }

    #[test]
    fn a_zero_column_is_singular() {
        let pattern = Pattern::from_entries(2, &[(0, 0)]).expect("entries lie inside");
        let mut matrix = IterationMatrix::new(2, Some(&pattern), &[false, true]);
        assert_eq!(matrix.factor(1.0, &[0.0]), Err(Singular(Some(1))));
    }
}
