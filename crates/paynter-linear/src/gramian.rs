//! Gramians: how hard states are to reach, how faintly they are seen, and how much of the model is
//! between its inputs and outputs.
//!
//! In:  a linear model whose poles all lie left of the imaginary axis.
//! Out: W with A W + W Aᵀ + B Bᵀ = 0, and the Hankel singular values.
//!
//! The equation is turned into a discrete one by a Cayley transform and summed by doubling (Smith
//! 1968): each round squares what is left out.

use crate::staircase::transpose;
use crate::{LinearModel, Matrix, NoEigenvalues, balance, eigenvalues};
use faer::linalg::solvers::SolveCore;

/// Why there is no Gramian.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum NoGramian {
    /// A pole is not left of the imaginary axis, by its real part.
    Unstable(f64),
    /// The sums did not settle, or the matrices are not finite.
    Numbers,
}

impl From<NoEigenvalues> for NoGramian {
    fn from(_: NoEigenvalues) -> Self {
        NoGramian::Numbers
    }
}

/// Each round squares the error; poles 10¹⁵ apart in pace need about 30.
const MOST_ROUNDS: usize = 60;

/// Solves A W + W Aᵀ + B Bᵀ = 0.
///
/// # Errors
///
/// See [`NoGramian`].
pub fn gramian(a: &Matrix, b: &Matrix) -> Result<Matrix, NoGramian> {
    let n = a.n_rows();
    if n == 0 {
        return Ok(Matrix::zeros(0, 0));
    }
    let poles = eigenvalues(a)?;
    let worst = poles.iter().fold(f64::NEG_INFINITY, |x, p| x.max(p.re));
    let fastest = poles.iter().fold(0.0_f64, |x, p| x.max(p.norm()));

    // A pole this near to the axis cannot be told from one on it.
    if worst >= -1e-13 * fastest {
        return Err(NoGramian::Unstable(worst));
    }
    let slowest = poles.iter().fold(f64::INFINITY, |x, p| x.min(p.norm()));
    let (scaled, scales) = balance(a);
    let b = Matrix::from_fn(n, b.n_columns(), |i, j| b[(i, j)] / scales[i]);

    // With s between the slowest and the fastest pole: X − E X Eᵀ = 2 s (A − s)⁻¹ B Bᵀ (A − s)⁻ᵀ, E = (A − s)⁻¹ (A + s).
    let s = (slowest * fastest).sqrt();
    let shifted = faer::Mat::from_fn(n, n, |i, j| scaled[(i, j)] - if i == j { s } else { 0.0 });
    let factor = shifted.partial_piv_lu();
    let solve = |m: &Matrix| {
        let mut x = m.to_faer();
        factor.solve_in_place_with_conj(faer::Conj::No, x.as_mut());
        Matrix::from_fn(m.n_rows(), m.n_columns(), |i, j| x[(i, j)])
    };
    let mut e = solve(&scaled.plus(s, &Matrix::identity(n)));
    let g = solve(&b);
    let mut w = g.times(&transpose(&g)).scaled(2.0 * s);
    for _ in 0..MOST_ROUNDS {
        let more = e.times(&w).times(&transpose(&e));
        let is_done = more.norm() <= f64::EPSILON * w.norm();
        w = w.plus(1.0, &more);
        e = e.times(&e);
        if is_done {
            let w = Matrix::from_fn(n, n, |i, j| {
                0.5 * (w[(i, j)] + w[(j, i)]) * scales[i] * scales[j]
            });
            return if w.is_finite() {
                Ok(w)
            } else {
                Err(NoGramian::Numbers)
            };
        }
    }
    Err(NoGramian::Numbers)
}

impl LinearModel {
    /// The Hankel singular values, largest first: what each balanced state carries from inputs to outputs.
    ///
    /// # Errors
    ///
    /// See [`NoGramian`].
    pub fn hankel(&self) -> Result<Vec<f64>, NoGramian> {
        if self.n_states() == 0 {
            return Ok(Vec::new());
        }
        let reach = gramian(&self.a, &self.b)?;
        let sight = gramian(&transpose(&self.a), &transpose(&self.c))?;
        // With W = L Lᵀ, the eigenvalues of W M are those of Lᵀ M L, which is symmetric.
        let n = self.n_states();
        let scales: Vec<f64> = (0..n)
            .map(|i| match reach[(i, i)] {
                d if d > 0.0 => d.sqrt(),
                _ => 1.0,
            })
            .collect();
        let scaled = faer::Mat::from_fn(n, n, |i, j| reach[(i, j)] / (scales[i] * scales[j]));
        let split = scaled
            .self_adjoint_eigen(faer::Side::Lower)
            .map_err(|_| NoGramian::Numbers)?;
        let (u, d) = (split.U(), split.S().column_vector());
        let l = Matrix::from_fn(n, n, |i, k| scales[i] * u[(i, k)] * d[k].max(0.0).sqrt());
        let inner = transpose(&l).times(&sight).times(&l);
        let inner = faer::Mat::from_fn(n, n, |i, j| 0.5 * (inner[(i, j)] + inner[(j, i)]));
        let squares = inner
            .self_adjoint_eigenvalues(faer::Side::Lower)
            .map_err(|_| NoGramian::Numbers)?;
        let mut values: Vec<f64> = squares.iter().map(|x| x.max(0.0).sqrt()).collect();
        values.sort_by(|a, b| b.total_cmp(a));
        Ok(values)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lag_has_half_its_gain() {
        // ẋ = −a x + b u: W = b²/(2a), and the Hankel value of c/(s + a) b is c b/(2a).
        let model = LinearModel {
            a: Matrix::from_rows(&[&[-4.0]]),
            b: Matrix::from_rows(&[&[2.0]]),
            c: Matrix::from_rows(&[&[3.0]]),
            d: vec![Matrix::zeros(1, 1)],
        };
        let w = gramian(&model.a, &model.b).expect("stable");
        assert!((w[(0, 0)] - 0.5).abs() < 1e-15);
        assert!((model.hankel().expect("stable")[0] - 0.75).abs() < 1e-14);
    }

    #[test]
    fn the_equation_holds_for_stiff_and_badly_scaled_states() {
        let a = Matrix::from_rows(&[&[-1e6, 3e9, 0.0], &[0.0, -2.0, 1e-5], &[1e-4, -7.0, -1e-3]]);
        let b = Matrix::from_rows(&[&[1e3], &[0.0], &[2.0]]);
        let w = gramian(&a, &b).expect("stable");
        let left = a.times(&w);
        let bb = b.times(&transpose(&b));
        for i in 0..3 {
            for j in 0..3 {
                let sum = left[(i, j)] + left[(j, i)] + bb[(i, j)];
                let terms = |i: usize, j: usize| -> f64 {
                    (0..3).map(|k| (a[(i, k)] * w[(k, j)]).abs()).sum()
                };
                let size = terms(i, j) + terms(j, i) + bb[(i, j)].abs();
                assert!(sum.abs() <= 1e-9 * size, "({i}, {j}): {sum} of {size}");
            }
        }
    }

    #[test]
    fn an_integrator_has_none() {
        let zero = Matrix::zeros(1, 1);
        let one = Matrix::identity(1);
        assert!(matches!(gramian(&zero, &one), Err(NoGramian::Unstable(_))));
    }
}
