//! The matrix exponential.
//!
//! In:  a square matrix.
//! Out: e^A by scaling and squaring with the Padé approximant of degree 13 (Higham 2005, Alg. 2.3),
//!      on the balanced matrix.

use crate::{Matrix, balance};
use faer::linalg::solvers::SolveCore;

/// Coefficients of the numerator of the [13/13] Padé approximant (Higham 2005, eq. 2.2).
const PADE: [f64; 14] = [
    64764752532480000.0,
    32382376266240000.0,
    7771770303897600.0,
    1187353796428800.0,
    129060195264000.0,
    10559470521600.0,
    670442572800.0,
    33522128640.0,
    1323241920.0,
    40840800.0,
    960960.0,
    16380.0,
    182.0,
    1.0,
];
/// Up to this 1-norm the approximant is exact to rounding (Higham 2005, Table 2.3, θ₁₃).
const LARGEST_NORM: f64 = 5.371920351148152;

/// Computes e^A.
pub fn exponential(a: &Matrix) -> Matrix {
    let n = a.n_rows();
    if n == 0 || !a.is_finite() {
        return Matrix::from_fn(n, n, |_, _| f64::NAN);
    }
    let (balanced, scales) = balance(a);
    let columns = (0..n).map(|j| (0..n).map(|i| balanced[(i, j)].abs()).sum::<f64>());
    let norm = columns.fold(0.0, f64::max);
    let squarings = (norm / LARGEST_NORM).log2().ceil().max(0.0) as i32;
    let a = balanced.scaled(0.5_f64.powi(squarings));
    let identity = Matrix::identity(n);
    let a2 = a.times(&a);
    let a4 = a2.times(&a2);
    let a6 = a4.times(&a2);
    let sum = |b: [f64; 4]| {
        let sum = identity.clone().scaled(b[0]);
        sum.plus(b[1], &a2).plus(b[2], &a4).plus(b[3], &a6)
    };
    let high = |b: [f64; 3]| a6.times(&a2.clone().scaled(b[0]).plus(b[1], &a4).plus(b[2], &a6));
    let b = PADE;
    let odd = sum([b[1], b[3], b[5], b[7]]).plus(1.0, &high([b[9], b[11], b[13]]));
    let u = a.times(&odd);
    let v = sum([b[0], b[2], b[4], b[6]]).plus(1.0, &high([b[8], b[10], b[12]]));

    // (V − U) e^A = V + U
    let mut solution = v.plus(1.0, &u).to_faer();
    v.plus(-1.0, &u)
        .to_faer()
        .partial_piv_lu()
        .solve_in_place_with_conj(faer::Conj::No, solution.as_mut());
    let mut result = Matrix::from_fn(n, n, |i, j| solution[(i, j)]);
    for _ in 0..squarings {
        result = result.times(&result);
    }
    Matrix::from_fn(n, n, |i, j| result[(i, j)] * (scales[i] / scales[j]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rotation_and_a_nilpotent_matrix_have_closed_forms() {
        let angle = 40.0_f64;
        let turn = exponential(&Matrix::from_rows(&[&[0.0, -angle], &[angle, 0.0]]));
        // Squaring doubles relative rounding each time: 40 rad take 3 squarings.
        assert!((turn[(0, 0)] - angle.cos()).abs() < 1e-13);
        assert!((turn[(1, 0)] - angle.sin()).abs() < 1e-13);
        let shift = exponential(&Matrix::from_rows(&[
            &[0.0, 1.0, 0.0],
            &[0.0, 0.0, 1.0],
            &[0.0, 0.0, 0.0],
        ]));
        assert!((shift[(0, 1)] - 1.0).abs() < 1e-15);
        assert!((shift[(0, 2)] - 0.5).abs() < 1e-15);
    }

    #[test]
    fn a_stiff_badly_scaled_matrix_keeps_its_slow_part() {
        // Eigenvalues −1 and −1e6 with states of very different sizes.
        let a = Matrix::from_rows(&[&[-1.0, 1e9], &[0.0, -1e6]]);
        let e = exponential(&a);
        // 18 squarings of 1 − 4e-6 lose 18 bits.
        assert!((e[(0, 0)] - (-1.0_f64).exp()).abs() < 1e-10);
    }
}
