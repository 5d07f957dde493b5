//! Scales states so that rows and columns of a matrix have like sizes.
//!
//! In:  a square matrix, as it comes from charges in µC beside momenta in kN s.
//! Out: D⁻¹ A D, and the diagonal of D.
//!
//! Eigenvalues are computed with an error that is small against the norm of the matrix; where one
//! state is measured in tiny and another in huge numbers that norm says nothing about the small
//! eigenvalues (Parlett & Reinsch 1969; 2-norms as James, Langou & Lowery 2014 advise).
//!
//! **Invariant:** the scales are powers of two, so that nothing is rounded.

use crate::Matrix;

/// A scale is changed only if that makes row and column together smaller by this much.
const WORTH_IT: f64 = 0.95;
/// Each round brings rows and columns nearer; a handful is enough, and this is the end.
const MOST_ROUNDS: usize = 100;

/// Balances a square matrix; gives D⁻¹ A D and D.
pub fn balance(a: &Matrix) -> (Matrix, Vec<f64>) {
    let none = vec![0.0; a.n_rows()];
    let balanced = balance_channel(a, &none, &none);
    (balanced.a, balanced.scales)
}

/// A channel with its states scaled.
pub(crate) struct Balanced {
    /// D⁻¹ A D
    pub a: Matrix,
    /// D⁻¹ b
    pub b: Vec<f64>,
    /// c D
    pub c: Vec<f64>,
    /// D
    pub scales: Vec<f64>,
}

/// Balances the matrix of a channel together with its input and output, so that no state becomes
/// huge or tiny where it meets them.
pub(crate) fn balance_channel(a: &Matrix, b: &[f64], c: &[f64]) -> Balanced {
    let n = a.n_rows();
    let mut a = a.clone();
    let (mut b, mut c) = (b.to_vec(), c.to_vec());
    let mut scales = vec![1.0; n];
    for _ in 0..MOST_ROUNDS {
        let mut has_changed = false;
        for k in 0..n {
            let size =
                |values: &mut dyn Iterator<Item = f64>| values.fold(0.0_f64, |sum, x| sum.hypot(x));
            let row = size(&mut (0..n).map(|j| a[(k, j)])).hypot(b[k]);
            let column = size(&mut (0..n).map(|i| a[(i, k)])).hypot(c[k]);
            // A state that reads nothing, or that nothing reads, has no scale of its own.
            if !(row > 0.0 && column > 0.0 && row.is_finite() && column.is_finite()) {
                continue;
            }
            let exponent = ((row / column).log2() / 2.0).round();
            let factor = exponent.clamp(-500.0, 500.0).exp2();
            let is_better = column * factor + row / factor < WORTH_IT * (column + row);
            let scale: f64 = scales[k] * factor;
            if factor == 1.0 || !is_better || !scale.is_normal() || !(1.0 / scale).is_normal() {
                continue;
            }
            has_changed = true;
            scales[k] = scale;
            b[k] /= factor;
            c[k] *= factor;
            for j in 0..n {
                a[(k, j)] /= factor;
            }
            for i in 0..n {
                a[(i, k)] *= factor;
            }
        }
        if !has_changed {
            break;
        }
    }
    Balanced { a, b, c, scales }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_badly_scaled_matrix_becomes_even_without_a_rounding() {
        let a = Matrix::from_rows(&[&[1.0, 1e12], &[3e-12, 2.0]]);
        let (b, d) = balance(&a);
        assert!(b[(0, 1)] / b[(1, 0)] < 4.0 && b[(1, 0)] / b[(0, 1)] < 4.0);
        for i in 0..2 {
            for j in 0..2 {
                assert_eq!(b[(i, j)] * d[i] / d[j], a[(i, j)]);
            }
        }
    }

    #[test]
    fn entries_far_beyond_each_other_do_not_overflow() {
        let a = Matrix::from_rows(&[&[0.0, 1e300], &[1e-300, 0.0]]);
        let (b, d) = balance(&a);
        assert!(b.is_finite() && d.iter().all(|d| d.is_normal()));
    }
}
