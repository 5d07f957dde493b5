//! Small dense matrices: what searches over a few dozen variables need.

/// A square or tall matrix by rows.
#[derive(Clone, Debug, PartialEq)]
pub struct Dense {
    /// Rows.
    pub n_rows: usize,
    /// Columns.
    pub n_columns: usize,
    /// Entries by rows.
    pub entries: Vec<f64>,
}

impl std::ops::Index<(usize, usize)> for Dense {
    type Output = f64;
    fn index(&self, (i, j): (usize, usize)) -> &f64 {
        &self.entries[i * self.n_columns + j]
    }
}

impl std::ops::IndexMut<(usize, usize)> for Dense {
    fn index_mut(&mut self, (i, j): (usize, usize)) -> &mut f64 {
        &mut self.entries[i * self.n_columns + j]
    }
}

impl Dense {
    /// All entries zero.
    pub fn zeros(n_rows: usize, n_columns: usize) -> Self {
        Dense {
            n_rows,
            n_columns,
            entries: vec![0.0; n_rows * n_columns],
        }
    }

    /// A multiple of the unit matrix.
    pub fn diagonal(n: usize, value: f64) -> Self {
        let mut m = Dense::zeros(n, n);
        for k in 0..n {
            m[(k, k)] = value;
        }
        m
    }

    /// One row.
    pub fn row(&self, i: usize) -> &[f64] {
        &self.entries[i * self.n_columns..(i + 1) * self.n_columns]
    }

    /// A x
    pub fn times(&self, x: &[f64]) -> Vec<f64> {
        (0..self.n_rows).map(|i| dot(self.row(i), x)).collect()
    }

    /// Aᵀ x
    pub fn transposed_times(&self, x: &[f64]) -> Vec<f64> {
        let mut result = vec![0.0; self.n_columns];
        for (i, x) in x.iter().enumerate() {
            for (r, a) in result.iter_mut().zip(self.row(i)) {
                *r += a * x;
            }
        }
        result
    }

    /// The lower factor L of A = L Lᵀ; none if the matrix is not positive definite.
    pub fn cholesky(&self) -> Option<Cholesky> {
        let n = self.n_rows;
        let mut l = Dense::zeros(n, n);
        for j in 0..n {
            let sum: f64 = (0..j).map(|k| l[(j, k)] * l[(j, k)]).sum();
            let pivot = self[(j, j)] - sum;
            // A pivot that is rounding of its own terms says that the matrix is singular.
            if pivot.is_nan() || pivot <= 1e-14 * self[(j, j)].abs() {
                return None;
            }
            l[(j, j)] = pivot.sqrt();
            for i in j + 1..n {
                let sum: f64 = (0..j).map(|k| l[(i, k)] * l[(j, k)]).sum();
                l[(i, j)] = (self[(i, j)] - sum) / l[(j, j)];
            }
        }
        Some(Cholesky { l })
    }
}

/// A factor of a positive definite matrix.
#[derive(Clone, Debug)]
pub struct Cholesky {
    l: Dense,
}

impl Cholesky {
    /// L⁻¹ b
    pub fn forward(&self, b: &[f64]) -> Vec<f64> {
        let mut x = b.to_vec();
        for i in 0..x.len() {
            let sum: f64 = (0..i).map(|k| self.l[(i, k)] * x[k]).sum();
            x[i] = (x[i] - sum) / self.l[(i, i)];
        }
        x
    }

    /// A⁻¹ b
    pub fn solve(&self, b: &[f64]) -> Vec<f64> {
        let mut x = self.forward(b);
        for i in (0..x.len()).rev() {
            let sum: f64 = (i + 1..x.len()).map(|k| self.l[(k, i)] * x[k]).sum();
            x[i] = (x[i] - sum) / self.l[(i, i)];
        }
        x
    }
}

/// aᵀ b
pub fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// Largest size of an entry.
pub fn largest(x: &[f64]) -> f64 {
    x.iter().fold(0.0, |m, x| m.max(x.abs()))
}
