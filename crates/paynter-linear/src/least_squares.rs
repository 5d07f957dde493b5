//! Linear least squares with the rank found on the way.
//!
//! In:  M and r.
//! Out: the shortest x with ‖M x − r‖ least, the rank, and a direction that M does not see.

use crate::Matrix;

/// A solution of M x ≈ r.
#[derive(Clone, Debug, PartialEq)]
pub struct LeastSquares {
    /// The shortest of the best solutions.
    pub x: Vec<f64>,
    /// How many independent rows M has.
    pub rank: usize,
    /// A unit vector with M v ≈ 0, if there is one.
    pub open: Option<Vec<f64>>,
}

/// A singular value this small against the largest is rounding noise, for matrices whose columns and
/// rows were scaled to like sizes.
const NOISE: f64 = 1e-12;

/// Solves M x ≈ r by the singular value decomposition; none where that fails.
pub fn least_squares(m: &Matrix, r: &[f64]) -> Option<LeastSquares> {
    let (n_rows, n) = (m.n_rows(), m.n_columns());
    if n == 0 {
        return Some(LeastSquares {
            x: Vec::new(),
            rank: 0,
            open: None,
        });
    }

    if !m.is_finite() || r.iter().any(|x| !x.is_finite()) {
        return None;
    }
    let svd = m.to_faer().svd().ok()?;
    let (u, v, s) = (svd.U(), svd.V(), svd.S().column_vector());
    let n_values = n_rows.min(n);
    let largest = (0..n_values).fold(0.0_f64, |x, k| x.max(s[k]));
    let rank = (0..n_values)
        .filter(|&k| s[k] > NOISE * largest && s[k] > 0.0)
        .count();
    let mut x = vec![0.0; n];
    for k in 0..rank {
        let along: f64 = (0..n_rows).map(|i| u[(i, k)] * r[i]).sum::<f64>() / s[k];
        for (j, x) in x.iter_mut().enumerate() {
            *x += along * v[(j, k)];
        }
    }

    let open = (rank < n).then(|| (0..n).map(|j| v[(j, n - 1)]).collect());
    x.iter()
        .all(|x| x.is_finite())
        .then_some(LeastSquares { x, rank, open })
}
