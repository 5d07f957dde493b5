//! A small dense matrix.
//!
//! **Invariant:** `values` holds `n_rows * n_columns` numbers, row by row.

use std::ops::{Index, IndexMut};

/// A dense matrix of real numbers.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Matrix {
    n_rows: usize,
    n_columns: usize,
    values: Vec<f64>,
}

impl Matrix {
    /// Makes a matrix of zeros.
    pub fn zeros(n_rows: usize, n_columns: usize) -> Self {
        Matrix {
            n_rows,
            n_columns,
            values: vec![0.0; n_rows * n_columns],
        }
    }

    /// Makes the unit matrix.
    pub fn identity(n: usize) -> Self {
        Self::from_fn(n, n, |i, j| if i == j { 1.0 } else { 0.0 })
    }

    /// Makes a matrix from its entries.
    pub fn from_fn(n_rows: usize, n_columns: usize, f: impl Fn(usize, usize) -> f64) -> Self {
        let entries = (0..n_rows).flat_map(|i| (0..n_columns).map(move |j| (i, j)));
        Matrix {
            n_rows,
            n_columns,
            values: entries.map(|(i, j)| f(i, j)).collect(),
        }
    }

    /// Makes a matrix from its rows, which must be equally long.
    pub fn from_rows(rows: &[&[f64]]) -> Self {
        let n_columns = rows.first().map_or(0, |r| r.len());
        Self::from_fn(rows.len(), n_columns, |i, j| rows[i][j])
    }

    /// Tells the number of rows.
    pub fn n_rows(&self) -> usize {
        self.n_rows
    }

    /// Tells the number of columns.
    pub fn n_columns(&self) -> usize {
        self.n_columns
    }

    /// Gives one row.
    pub fn row(&self, i: usize) -> &[f64] {
        &self.values[i * self.n_columns..(i + 1) * self.n_columns]
    }

    /// Copies one column.
    pub fn column(&self, j: usize) -> Vec<f64> {
        (0..self.n_rows).map(|i| self[(i, j)]).collect()
    }

    /// Gives all entries, row by row.
    pub fn values(&self) -> &[f64] {
        &self.values
    }

    /// Copies the rows and columns with these numbers.
    pub fn part(&self, rows: &[usize], columns: &[usize]) -> Self {
        Self::from_fn(rows.len(), columns.len(), |i, j| {
            self[(rows[i], columns[j])]
        })
    }

    /// Computes the product with another matrix.
    pub fn times(&self, other: &Matrix) -> Self {
        assert_eq!(self.n_columns, other.n_rows, "factors fit together");
        let mut product = Matrix::zeros(self.n_rows, other.n_columns);
        for i in 0..self.n_rows {
            for k in 0..self.n_columns {
                let factor = self[(i, k)];
                if factor != 0.0 {
                    for j in 0..other.n_columns {
                        product[(i, j)] += factor * other[(k, j)];
                    }
                }
            }
        }
        product
    }

    /// Computes self + factor · other.
    pub fn plus(&self, factor: f64, other: &Matrix) -> Self {
        assert_eq!(
            (self.n_rows, self.n_columns),
            (other.n_rows, other.n_columns),
            "summands have one shape"
        );
        Self::from_fn(self.n_rows, self.n_columns, |i, j| {
            self[(i, j)] + factor * other[(i, j)]
        })
    }

    /// Multiplies every entry.
    pub fn scaled(mut self, factor: f64) -> Self {
        self.values.iter_mut().for_each(|x| *x *= factor);
        self
    }

    /// Tells whether all entries are zero.
    pub fn is_zero(&self) -> bool {
        self.values.iter().all(|&x| x == 0.0)
    }

    /// Tells whether all entries are finite.
    pub fn is_finite(&self) -> bool {
        self.values.iter().all(|x| x.is_finite())
    }

    /// The root of the sum of squares of all entries.
    pub fn norm(&self) -> f64 {
        let largest = self.values.iter().fold(0.0_f64, |m, x| m.max(x.abs()));
        if largest == 0.0 || !largest.is_finite() {
            return largest;
        }
        let squares = self.values.iter().map(|x| (x / largest) * (x / largest));
        largest * squares.sum::<f64>().sqrt()
    }

    pub(crate) fn to_faer(&self) -> faer::Mat<f64> {
        faer::Mat::from_fn(self.n_rows, self.n_columns, |i, j| self[(i, j)])
    }
}

impl Index<(usize, usize)> for Matrix {
    type Output = f64;
    fn index(&self, (i, j): (usize, usize)) -> &f64 {
        debug_assert!(j < self.n_columns);
        &self.values[i * self.n_columns + j]
    }
}

impl IndexMut<(usize, usize)> for Matrix {
    fn index_mut(&mut self, (i, j): (usize, usize)) -> &mut f64 {
        debug_assert!(j < self.n_columns);
        &mut self.values[i * self.n_columns + j]
    }
}
