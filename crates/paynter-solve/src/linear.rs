//! Factorises and solves `c M − J`, the matrix of every implicit method here.
//!
//! In:  the pattern of the Jacobian (or none, for dense), then `c` and the values.
//! Out: solutions of linear systems.
//!
//! Three forms, chosen once from size and pattern: dense for small systems, banded where
//! reordering by reverse Cuthill–McKee gives a narrow band (ladders, chains, lines of cells:
//! cost linear in their length), general sparse otherwise.

use faer::linalg::solvers::SolveCore;
use faer::sparse::linalg::solvers::{Lu, SymbolicLu};
use faer::sparse::{SparseColMatRef, SymbolicSparseColMatRef};
use faer::{Conj, MatMut};

use crate::ordering::reverse_cuthill_mckee;
use crate::system::Pattern;

/// Up to this size dense elimination is faster than any bookkeeping of sparsity.
const MAX_DENSE: usize = 40;
/// Up to this sum of both half-bandwidths banded elimination beats the general sparse one,
/// whose fill and index work cost about this many entries per row on one-dimensional systems.
const MAX_BAND: usize = 40;

/// A matrix is singular, where known at the elimination of this variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Singular(pub(crate) Option<usize>);

/// The matrix `c M − J` in one of its forms.
pub(crate) enum IterationMatrix {
    /// Column by column, all entries.
    Dense(Dense),
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
                let banded = Banded::new(pattern, order, algebraic);
                if banded.below + banded.above <= MAX_BAND {
                    Self::Banded(banded)
                } else {
                    Sparse::new(pattern, algebraic).map_or(Self::Banded(banded), |sparse| {
                        Self::Sparse(Box::new(sparse))
                    })
                }
            }
            pattern => Self::Dense(Dense::new(n, pattern, algebraic)),
        }
    }

    /// Factorises `c M − J`; returns the number of entries visited.
    pub(crate) fn factor(&mut self, c: f64, jacobian: &[f64]) -> Result<u64, Singular> {
        match self {
            Self::Dense(matrix) => matrix.factor(c, jacobian),
            Self::Banded(matrix) => matrix.factor(c, jacobian),
            Self::Sparse(matrix) => matrix.factor(c, jacobian),
        }
    }

    /// Solves in place with the last factors; returns the number of entries visited.
    pub(crate) fn solve(&mut self, x: &mut [f64]) -> u64 {
        match self {
            Self::Dense(matrix) => matrix.solve(x),
            Self::Banded(matrix) => matrix.solve(x),
            Self::Sparse(matrix) => matrix.solve(x),
        }
    }
}

fn mass_diagonal(n: usize, algebraic: &[bool]) -> Vec<f64> {
    (0..n)
        .map(|i| {
            let is_algebraic = algebraic.get(i).copied().unwrap_or(false);
            if is_algebraic { 0.0 } else { 1.0 }
        })
        .collect()
}

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
    fn new(n: usize, pattern: Option<&Pattern>, algebraic: &[bool]) -> Self {
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

    fn factor(&mut self, c: f64, jacobian: &[f64]) -> Result<u64, Singular> {
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

    fn solve(&self, x: &mut [f64]) -> u64 {
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
    fn new(pattern: &Pattern, order: Vec<usize>, algebraic: &[bool]) -> Self {
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

    fn factor(&mut self, c: f64, jacobian: &[f64]) -> Result<u64, Singular> {
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
                // Row j stands one place higher in each further column.
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

    fn solve(&mut self, x: &mut [f64]) -> u64 {
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

/// General sparse elimination; the symbolic part is done once.
pub(crate) struct Sparse {
    pattern: Pattern,
    places: Vec<usize>,
    diagonal: Vec<usize>,
    mass: Vec<f64>,
    values: Vec<f64>,
    symbolic: SymbolicLu<usize>,
    numeric: Option<Lu<usize, f64>>,
}

impl Sparse {
    fn new(jacobian: &Pattern, algebraic: &[bool]) -> Option<Self> {
        let n = jacobian.n();
        let mass = mass_diagonal(n, algebraic);
        let mut entries = Vec::with_capacity(jacobian.n_entries() + n);
        for column in 0..n {
            entries.push((column, column));
            entries.extend(jacobian.column(column).iter().map(|&row| (row, column)));
        }
        let pattern = Pattern::from_entries(n, &entries)?;
        let place = |row: usize, column: usize| {
            let start = pattern.column_starts()[column];
            let offset = pattern.column(column).binary_search(&row);
            start + offset.expect("the pattern holds the Jacobian and the diagonal")
        };
        let places = (0..n)
            .flat_map(|column| {
                jacobian
                    .column(column)
                    .iter()
                    .map(move |&row| (row, column))
            })
            .map(|(row, column)| place(row, column))
            .collect();
        let diagonal = (0..n).map(|i| place(i, i)).collect();
        let symbolic = SymbolicLu::try_new(symbolic_ref(&pattern)).ok()?;
        Some(Self {
            values: vec![0.0; pattern.n_entries()],
            pattern,
            places,
            diagonal,
            mass,
            symbolic,
            numeric: None,
        })
    }

    fn factor(&mut self, c: f64, jacobian: &[f64]) -> Result<u64, Singular> {
        self.values.fill(0.0);
        for (&place, value) in self.places.iter().zip(jacobian) {
            self.values[place] = -value;
        }
        for (&place, mass) in self.diagonal.iter().zip(&self.mass) {
            self.values[place] += c * mass;
        }
        let matrix = SparseColMatRef::new(symbolic_ref(&self.pattern), &self.values);
        let numeric = Lu::try_new_with_symbolic(self.symbolic.clone(), matrix);
        self.numeric = Some(numeric.map_err(|_| Singular(None))?);
        Ok(self.pattern.n_entries() as u64)
    }

    fn solve(&mut self, x: &mut [f64]) -> u64 {
        let numeric = self
            .numeric
            .as_ref()
            .expect("a matrix is factorised before it solves");
        let n = x.len();
        numeric.solve_in_place_with_conj(Conj::No, MatMut::from_column_major_slice_mut(x, n, 1));
        self.pattern.n_entries() as u64
    }
}

fn symbolic_ref(pattern: &Pattern) -> SymbolicSparseColMatRef<'_, usize> {
    let n = pattern.n();
    SymbolicSparseColMatRef::new_checked(n, n, pattern.column_starts(), None, pattern.rows())
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
                IterationMatrix::Banded(Banded::new(&pattern, order, &algebraic)),
                IterationMatrix::Sparse(Box::new(Sparse::new(&pattern, &algebraic).expect("regular"))),
            ];
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
        let mut matrix = IterationMatrix::new(n, Some(&pattern), &vec![true; n]);
        assert!(matches!(matrix, IterationMatrix::Banded(_)));
        matrix.factor(1.0, &vec![-1.0; n]).expect("regular");
        let mut x: Vec<f64> = (0..n).map(|i| i as f64).collect();
        matrix.solve(&mut x);
        assert!((0..n).all(|i| x[i] == (i ^ 1) as f64));
    }

    #[test]
    fn a_zero_column_is_singular() {
        let pattern = Pattern::from_entries(2, &[(0, 0)]).expect("entries lie inside");
        let mut matrix = IterationMatrix::new(2, Some(&pattern), &[false, true]);
        assert_eq!(matrix.factor(1.0, &[0.0]), Err(Singular(Some(1))));
    }
}
