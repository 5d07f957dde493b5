//! Linear equations with a few right-hand sides.

use crate::Matrix;
use faer::linalg::solvers::SolveCore;

/// Solves A X = B; none where A is singular or the result overflows.
pub fn solve(a: &Matrix, b: &Matrix) -> Option<Matrix> {
    let n = a.n_rows();
    if n == 0 {
        return Some(b.clone());
    }
    // Rows of one size: pivots are then comparable.
    let sizes: Vec<f64> = (0..n)
        .map(|i| a.row(i).iter().fold(0.0, |m: f64, x| m.max(x.abs())))
        .collect();
    if sizes.iter().any(|s| *s == 0.0 || !s.is_finite()) {
        return None;
    }
    let scaled = Matrix::from_fn(n, n, |i, j| a[(i, j)] / sizes[i]);
    let mut x = Matrix::from_fn(n, b.n_columns(), |i, j| b[(i, j)] / sizes[i]).to_faer();
    scaled
        .to_faer()
        .partial_piv_lu()
        .solve_in_place_with_conj(faer::Conj::No, x.as_mut());
    let x = Matrix::from_fn(n, b.n_columns(), |i, j| x[(i, j)]);
    x.is_finite().then_some(x)
}

/// (A + Aᵀ)/2
pub(crate) fn symmetric(a: &Matrix) -> Matrix {
    Matrix::from_fn(a.n_rows(), a.n_rows(), |i, j| 0.5 * (a[(i, j)] + a[(j, i)]))
}
