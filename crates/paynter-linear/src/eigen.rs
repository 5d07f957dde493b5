//! Eigenvalues of a real matrix, how exact they are, and which states take part in each mode.
//!
//! In:  A.
//! Out: [`Mode`]s, slowest first, the member of a pair with positive imaginary part before its
//!      conjugate.
//!
//! **Invariant:** complex poles come in exact conjugate pairs.

use crate::{Complex, LinearModel, Matrix, balance};
use faer::linalg::solvers::SolveCore;

/// The iteration for eigenvalues did not end, or the matrix has entries that are not finite.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NoEigenvalues;

/// A natural motion e^{λt} of a linear model.
#[derive(Clone, Debug, PartialEq)]
pub struct Mode {
    /// λ, 1/s.
    pub pole: Complex,
    /// How far λ may be off by rounding: to first order ε ‖A‖ times its condition number, and at most
    /// what Elsner's bound allows any eigenvalue.
    pub uncertainty: f64,
    /// Part of each state in the mode: |vₖ wₖ| of right and left eigenvector, largest 1.
    pub participation: Vec<f64>,
}

impl Mode {
    /// The damping ratio ζ = −Re λ/|λ|; 1 for a pole at zero.
    pub fn damping(&self) -> f64 {
        let size = self.pole.norm();
        if size == 0.0 {
            1.0
        } else {
            -self.pole.re / size
        }
    }

    /// The undamped natural frequency |λ|, rad/s.
    pub fn natural_frequency(&self) -> f64 {
        self.pole.norm()
    }

    /// The time constant −1/Re λ, s: infinite for an undamped mode, negative for a growing one.
    pub fn time_constant(&self) -> f64 {
        if self.pole.re == 0.0 {
            f64::INFINITY
        } else {
            -1.0 / self.pole.re
        }
    }

    /// Tells whether the pole cannot be told from zero.
    pub fn is_at_zero(&self) -> bool {
        // The estimate is of first order, so a few times it.
        const SAFETY: f64 = 10.0;
        self.pole.norm() <= SAFETY * self.uncertainty
    }
}

/// Computes the eigenvalues of a square matrix, slowest first.
///
/// # Errors
///
/// Entries that are not finite, or no convergence.
pub fn eigenvalues(a: &Matrix) -> Result<Vec<Complex>, NoEigenvalues> {
    if a.n_rows() == 0 {
        return Ok(Vec::new());
    }
    if !a.is_finite() {
        return Err(NoEigenvalues);
    }
    let (balanced, _) = balance(a);
    let values = balanced.to_faer().eigenvalues();
    let mut values = values.map_err(|_| NoEigenvalues)?;
    if values
        .iter()
        .any(|v| !v.re.is_finite() || !v.im.is_finite())
    {
        return Err(NoEigenvalues);
    }
    values.sort_by(slowest_first);
    Ok(values)
}

/// By size, then by real part; of a pair the upper one first.
fn slowest_first(a: &Complex, b: &Complex) -> std::cmp::Ordering {
    let size = a.norm().total_cmp(&b.norm());
    let pair = a.re.total_cmp(&b.re).then(b.im.total_cmp(&a.im));
    // The two of a pair have equal sizes to the last bit: hypot of ±im.
    size.then(pair)
}

/// Eigenvectors of the balanced matrix.
struct Vectors {
    balanced: Matrix,
    scales: Vec<f64>,
    values: Vec<Complex>,
    /// V, by columns.
    right: faer::Mat<Complex>,
    /// V⁻¹, by rows.
    left: faer::Mat<Complex>,
}

fn vectors(a: &Matrix) -> Result<Vectors, NoEigenvalues> {
    let n = a.n_rows();
    if !a.is_finite() {
        return Err(NoEigenvalues);
    }
    let (balanced, scales) = balance(a);
    let decomposition = balanced.to_faer().eigen().map_err(|_| NoEigenvalues)?;
    let right = decomposition.U().to_owned();
    let values = decomposition.S().column_vector();
    let values: Vec<Complex> = (0..n).map(|k| values[k]).collect();
    if values
        .iter()
        .any(|v| !v.re.is_finite() || !v.im.is_finite())
    {
        return Err(NoEigenvalues);
    }
    let mut left = faer::Mat::<Complex>::identity(n, n);
    right
        .partial_piv_lu()
        .solve_in_place_with_conj(faer::Conj::No, left.as_mut());
    Ok(Vectors {
        balanced,
        scales,
        values,
        right,
        left,
    })
}

/// Gives for each mode its pole and c v w b of every output: G(s) = Σ c v w b/(s − λ) + D.
/// In the order of [`modes`].
pub(crate) fn residues(
    model: &LinearModel,
    input: usize,
) -> Result<Vec<(Complex, Vec<Complex>)>, NoEigenvalues> {
    let n = model.n_states();
    if n == 0 {
        return Ok(Vec::new());
    }
    let found = vectors(&model.a)?;
    let mut all: Vec<(Complex, Vec<Complex>)> = (0..n)
        .map(|m| {
            let zero = Complex::new(0.0, 0.0);
            let excited = (0..n).fold(zero, |sum, k| {
                sum + found.left[(m, k)] * (model.b[(k, input)] / found.scales[k])
            });
            let seen = |output: usize| {
                (0..n).fold(zero, |sum, k| {
                    sum + found.right[(k, m)] * (model.c[(output, k)] * found.scales[k])
                })
            };
            let residues = (0..model.c.n_rows()).map(|o| seen(o) * excited).collect();
            (found.values[m], residues)
        })
        .collect();
    all.sort_by(|a, b| slowest_first(&a.0, &b.0));
    Ok(all)
}

/// Computes the poles of ẋ = A x with what each means.
///
/// # Errors
///
/// As [`eigenvalues`].
pub fn modes(a: &Matrix) -> Result<Vec<Mode>, NoEigenvalues> {
    let n = a.n_rows();
    if n == 0 {
        return Ok(Vec::new());
    }
    let Vectors {
        balanced,
        values,
        right,
        left,
        ..
    } = vectors(a)?;

    let norm = balanced.norm();
    // However far the eigenvectors are from independent, no eigenvalue moves further (Elsner 1985).
    let worst =
        (2.0 * norm).powf(1.0 - 1.0 / n as f64) * (f64::EPSILON * norm).powf(1.0 / n as f64);
    let mut modes: Vec<Mode> = (0..n)
        .map(|m| {
            let parts: Vec<f64> = (0..n)
                .map(|k| (right[(k, m)] * left[(m, k)]).norm())
                .collect();
            let largest = parts.iter().fold(0.0_f64, |x, &p| x.max(p));
            let length = |of: &dyn Fn(usize) -> Complex| {
                (0..n).fold(0.0_f64, |sum, k| sum.hypot(of(k).norm()))
            };
            let condition = length(&|k| right[(k, m)]) * length(&|k| left[(m, k)]);
            let uncertainty = (f64::EPSILON * norm * condition).min(worst);
            let is_known = largest.is_finite() && largest > 0.0;
            Mode {
                pole: values[m],
                uncertainty: if uncertainty.is_nan() {
                    worst
                } else {
                    uncertainty
                },
                participation: parts
                    .iter()
                    .map(|p| if is_known { p / largest } else { 0.0 })
                    .collect(),
            }
        })
        .collect();

    modes.sort_by(|a, b| slowest_first(&a.pole, &b.pole));
    Ok(modes)
}
