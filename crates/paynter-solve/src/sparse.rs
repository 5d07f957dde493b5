//! General sparse elimination.
//!
//! In:  `c` and the Jacobian in the order of a pattern.
//! Out: factors of `c M − J`, and solutions with them. The symbolic part is done once.

use faer::linalg::solvers::SolveCore;
use faer::sparse::linalg::solvers::{Lu, SymbolicLu};
use faer::sparse::{SparseColMatRef, SymbolicSparseColMatRef};
use faer::{Conj, MatMut};

use crate::linear::{Singular, mass_diagonal};
use crate::system::Pattern;

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
    pub(crate) fn new(jacobian: &Pattern, algebraic: &[bool]) -> Option<Self> {
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

    pub(crate) fn factor(&mut self, c: f64, jacobian: &[f64]) -> Result<u64, Singular> {
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

    pub(crate) fn solve(&mut self, x: &mut [f64]) -> u64 {
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
