//! Dense matrices of exact numbers: products, ranks, null spaces.
//!
//! **Invariant:** `values` holds `n_rows * n_columns` numbers, row by row.

use super::field::Number;
use std::ops::{Index, IndexMut};

/// A dense matrix.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Matrix {
    n_rows: usize,
    n_columns: usize,
    values: Vec<Number>,
}

impl Matrix {
    /// Makes a matrix of zeros.
    pub fn zeros(n_rows: usize, n_columns: usize) -> Self {
        Matrix {
            n_rows,
            n_columns,
            values: vec![Number::ZERO; n_rows * n_columns],
        }
    }

    /// Makes a matrix from its entries.
    pub fn from_fn(n_rows: usize, n_columns: usize, f: impl Fn(usize, usize) -> Number) -> Self {
        let entries = (0..n_rows).flat_map(|i| (0..n_columns).map(move |j| (i, j)));
        Matrix {
            n_rows,
            n_columns,
            values: entries.map(|(i, j)| f(i, j)).collect(),
        }
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
    pub fn row(&self, i: usize) -> &[Number] {
        &self.values[i * self.n_columns..(i + 1) * self.n_columns]
    }

    /// Copies one column.
    pub fn column(&self, j: usize) -> Vec<Number> {
        (0..self.n_rows).map(|i| self[(i, j)]).collect()
    }

    /// Copies some columns.
    pub fn columns(&self, which: &[usize]) -> Self {
        Self::from_fn(self.n_rows, which.len(), |i, j| self[(i, which[j])])
    }

    /// Copies some rows.
    pub fn rows(&self, which: &[usize]) -> Self {
        Self::from_fn(which.len(), self.n_columns, |i, j| self[(which[i], j)])
    }

    /// Exchanges rows and columns.
    pub fn transposed(&self) -> Self {
        Self::from_fn(self.n_columns, self.n_rows, |i, j| self[(j, i)])
    }

    /// Puts two matrices side by side.
    pub fn beside(&self, other: &Matrix) -> Self {
        let n = self.n_columns;
        Self::from_fn(self.n_rows, n + other.n_columns, |i, j| match j < n {
            true => self[(i, j)],
            false => other[(i, j - n)],
        })
    }

    /// Computes the product with a vector.
    pub fn times_vector(&self, x: &[Number]) -> Vec<Number> {
        (0..self.n_rows)
            .map(|i| {
                let products = self.row(i).iter().zip(x);
                products.fold(Number::ZERO, |sum, (a, b)| sum + *a * *b)
            })
            .collect()
    }

    /// Computes the product with a matrix.
    pub fn times(&self, other: &Matrix) -> Self {
        assert_eq!(self.n_columns, other.n_rows, "factors fit together");
        let mut product = Matrix::zeros(self.n_rows, other.n_columns);
        for i in 0..self.n_rows {
            for k in 0..self.n_columns {
                let factor = self[(i, k)];
                if !factor.is_zero() {
                    for j in 0..other.n_columns {
                        product[(i, j)] = product[(i, j)] + factor * other[(k, j)];
                    }
                }
            }
        }
        product
    }

    /// Computes self + other.
    pub fn plus(&self, other: &Matrix) -> Self {
        Self::from_fn(self.n_rows, self.n_columns, |i, j| {
            self[(i, j)] + other[(i, j)]
        })
    }

    /// Tells whether all entries are zero.
    pub fn is_zero(&self) -> bool {
        self.values.iter().all(|x| x.is_zero())
    }

    /// Solves self · X = right; none if it is singular.
    pub fn solve(&self, right: &Matrix) -> Option<Matrix> {
        let n = self.n_rows;
        let mut all = self.beside(right);
        let width = all.n_columns;
        for k in 0..n {
            let pivot = (k..n).find(|&i| !all[(i, k)].is_zero())?;
            for j in 0..width {
                let (upper, lower) = (all[(k, j)], all[(pivot, j)]);
                (all[(k, j)], all[(pivot, j)]) = (lower, upper);
            }
            let scale = all[(k, k)].inverse()?;
            (k..width).for_each(|j| all[(k, j)] = all[(k, j)] * scale);
            for i in (0..n).filter(|&i| i != k) {
                let factor = all[(i, k)];
                if !factor.is_zero() {
                    for j in k..width {
                        all[(i, j)] = all[(i, j)] - factor * all[(k, j)];
                    }
                }
            }
        }
        let columns: Vec<usize> = (n..width).collect();
        Some(all.columns(&columns))
    }

    /// Tells the rank.
    pub fn rank(&self) -> usize {
        let mut basis = Basis::new(self.n_columns);
        (0..self.n_rows)
            .filter(|&i| basis.add(self.row(i).to_vec()))
            .count()
    }
}

impl Index<(usize, usize)> for Matrix {
    type Output = Number;
    fn index(&self, (i, j): (usize, usize)) -> &Number {
        debug_assert!(j < self.n_columns);
        &self.values[i * self.n_columns + j]
    }
}

impl IndexMut<(usize, usize)> for Matrix {
    fn index_mut(&mut self, (i, j): (usize, usize)) -> &mut Number {
        debug_assert!(j < self.n_columns);
        &mut self.values[i * self.n_columns + j]
    }
}

/// A space of vectors that grows, in reduced echelon form.
#[derive(Clone, Debug)]
pub struct Basis {
    n: usize,
    /// Rows with a leading 1; no other row has an entry in that place.
    rows: Vec<(usize, Vec<Number>)>,
}

impl Basis {
    /// The space that holds only 0, of vectors with n entries.
    pub fn new(n: usize) -> Self {
        Basis {
            n,
            rows: Vec::new(),
        }
    }

    /// Tells the dimension.
    pub fn dimension(&self) -> usize {
        self.rows.len()
    }

    /// Gives the vectors of the basis.
    pub fn vectors(&self) -> Vec<Vec<Number>> {
        self.rows.iter().map(|(_, row)| row.clone()).collect()
    }

    /// Adds a vector; tells whether the space has grown.
    pub fn add(&mut self, vector: Vec<Number>) -> bool {
        let vector = self.rest(vector);
        let Some(lead) = vector.iter().position(|x| !x.is_zero()) else {
            return false;
        };
        let scale = vector[lead].inverse().expect("the lead is not zero");
        let vector: Vec<Number> = vector.iter().map(|x| *x * scale).collect();
        for (_, row) in &mut self.rows {
            let factor = row[lead];
            subtract(row, factor, &vector, lead);
        }
        self.rows.push((lead, vector));
        true
    }

    /// Tells whether a vector lies in the space.
    pub fn contains(&self, vector: Vec<Number>) -> bool {
        self.rest(vector).iter().all(|x| x.is_zero())
    }

    fn rest(&self, mut vector: Vec<Number>) -> Vec<Number> {
        for (lead, row) in &self.rows {
            let factor = vector[*lead];
            subtract(&mut vector, factor, row, 0);
        }
        vector
    }

    /// Gives vectors w with w·v = 0 for all v of the space, one for each missing dimension.
    pub fn orthogonal(&self) -> Vec<Vec<Number>> {
        let mut is_lead = vec![false; self.n];
        self.rows.iter().for_each(|(lead, _)| is_lead[*lead] = true);
        let free = (0..self.n).filter(|&j| !is_lead[j]);
        free.map(|j| {
            let mut w = vec![Number::ZERO; self.n];
            w[j] = Number::ONE;
            for (lead, row) in &self.rows {
                w[*lead] = -row[j];
            }
            w
        })
        .collect()
    }
}

/// target − factor · row, from one place on.
fn subtract(target: &mut [Number], factor: Number, row: &[Number], from: usize) {
    if factor.is_zero() {
        return;
    }
    let factor = -factor;
    for (t, r) in target[from..].iter_mut().zip(&row[from..]) {
        *t = *t + factor * *r;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_orthogonal_to_a_space_has_the_rest_of_the_dimensions() {
        let m = Matrix::from_fn(3, 5, |i, j| Number::random(i as u64, j as u64));
        let mut basis = Basis::new(5);
        (0..3).for_each(|i| assert!(basis.add(m.row(i).to_vec())));
        let sum = (0..5).map(|j| m[(0, j)] + m[(2, j)]).collect();
        assert!(!basis.add(sum));
        for w in basis.orthogonal() {
            assert!(m.times_vector(&w).iter().all(|x| x.is_zero()));
        }
        assert_eq!(m.rank(), 3);
        assert_eq!(m.transposed().rank(), 3);
    }
}
