//! Riccati's equations, continuous and in steps, and the gains that follow from them.
//!
//! In:  A, B, weights Q of states and R of inputs.
//! Out: the stabilising symmetric X and K = R⁻¹ Bᵀ X, or K = (R + Bᵀ X B)⁻¹ Bᵀ X A.
//!
//! Structured doubling (Chu, Fan & Lin 2005) finds X from factorisations alone; Newton's method (Kleinman 1968) takes out what rounding
//! left. States are scaled first so that A, B R⁻¹ Bᵀ and Q weigh alike (Benner 2001): badly scaled plants keep their digits.
//!
//! **Invariant:** what is given back makes A − B K stable; everything else is an error.

use crate::lyapunov::{discrete_lyapunov, lyapunov};
use crate::solve::{solve, symmetric};
use crate::staircase::transpose;
use crate::{Complex, Matrix, eigenvalues};

/// A plant and what its states and inputs cost.
#[derive(Clone, Copy, Debug)]
pub struct Regulated<'r> {
    /// A
    pub a: &'r Matrix,
    /// B
    pub b: &'r Matrix,
    /// Q, symmetric and not negative.
    pub q: &'r Matrix,
    /// R, symmetric and positive.
    pub r: &'r Matrix,
}

/// A regulator.
#[derive(Clone, Debug, PartialEq)]
pub struct Regulator {
    /// K in u = −K x.
    pub gain: Matrix,
    /// X
    pub cost: Matrix,
    /// Poles of A − B K.
    pub poles: Vec<Complex>,
}

/// Why there is no regulator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoRegulator {
    /// R is singular or not positive.
    InputCost,
    /// A mode that no input reaches does not decay, or one on the boundary costs nothing.
    NotStabilizable,
}

/// The regulator of ẋ = A x + B u for ∫ xᵀ Q x + uᵀ R u dt.
///
/// # Errors
///
/// See [`NoRegulator`].
pub fn lqr(plant: &Regulated<'_>) -> Result<Regulator, NoRegulator> {
    let x = care(plant)?;
    let gain = input_gain(plant.r, &transpose(plant.b).times(&x))?;
    finish(plant, gain, x, |p| p.re < 0.0)
}

/// The regulator of x⁺ = A x + B u for Σ xᵀ Q x + uᵀ R u.
///
/// # Errors
///
/// See [`NoRegulator`].
pub fn dlqr(plant: &Regulated<'_>) -> Result<Regulator, NoRegulator> {
    let x = dare(plant)?;
    let gain = step_gain(plant, &x).ok_or(NoRegulator::InputCost)?;
    finish(plant, gain, x, |p| p.norm() < 1.0)
}

/// The observer gain L of ẋ = A x + w, y = C x + v for noise of intensities Q and R: the regulator's dual.
///
/// # Errors
///
/// See [`NoRegulator`].
pub fn lqe(a: &Matrix, c: &Matrix, q: &Matrix, r: &Matrix) -> Result<Regulator, NoRegulator> {
    let (at, ct) = (transpose(a), transpose(c));
    let dual = lqr(&Regulated {
        a: &at,
        b: &ct,
        q,
        r,
    })?;
    Ok(Regulator {
        gain: transpose(&dual.gain),
        ..dual
    })
}

fn finish(
    plant: &Regulated<'_>,
    gain: Matrix,
    cost: Matrix,
    is_stable: impl Fn(&Complex) -> bool,
) -> Result<Regulator, NoRegulator> {
    let closed = plant.a.plus(-1.0, &plant.b.times(&gain));
    let poles = eigenvalues(&closed).map_err(|_| NoRegulator::NotStabilizable)?;
    if !poles.iter().all(is_stable) {
        return Err(NoRegulator::NotStabilizable);
    }
    Ok(Regulator { gain, cost, poles })
}

/// R⁻¹ M for a positive R.
fn input_gain(r: &Matrix, m: &Matrix) -> Result<Matrix, NoRegulator> {
    let eigen = eigenvalues(&symmetric(r)).map_err(|_| NoRegulator::InputCost)?;
    if eigen.iter().any(|e| e.re <= 0.0) {
        return Err(NoRegulator::InputCost);
    }
    solve(r, m).ok_or(NoRegulator::InputCost)
}

/// Solves Aᵀ X + X A − X B R⁻¹ Bᵀ X + Q = 0.
///
/// # Errors
///
/// See [`NoRegulator`].
pub fn care(plant: &Regulated<'_>) -> Result<Matrix, NoRegulator> {
    let g = symmetric(&plant.b.times(&input_gain(plant.r, &transpose(plant.b))?));
    let scaled = Scaled::new(plant.a, &g, plant.q);
    let first = continuous_doubling(&scaled).ok_or(NoRegulator::NotStabilizable)?;
    let x = newton(first, |x| {
        let closed = scaled.a.plus(-1.0, &scaled.g.times(x));
        let xa = x.times(&scaled.a);
        let left = transpose(&xa)
            .plus(1.0, &xa)
            .plus(-1.0, &x.times(&scaled.g.times(x)))
            .plus(1.0, &scaled.q);
        Some((lyapunov(&closed, &left)?, left.norm()))
    });
    Ok(scaled.undo(&x))
}

/// Solves Aᵀ X A − X − Aᵀ X B (R + Bᵀ X B)⁻¹ Bᵀ X A + Q = 0.
///
/// # Errors
///
/// See [`NoRegulator`].
pub fn dare(plant: &Regulated<'_>) -> Result<Matrix, NoRegulator> {
    let g = symmetric(&plant.b.times(&input_gain(plant.r, &transpose(plant.b))?));
    let scaled = Scaled::new(plant.a, &g, plant.q);
    let first = double(scaled.a.clone(), scaled.g.clone(), scaled.q.clone());
    let first = first.ok_or(NoRegulator::NotStabilizable)?;
    let n = plant.a.n_rows();
    let x = newton(first, |x| {
        // Aᵀ X (I + G X)⁻¹ A = Aᵀ X A − Aᵀ X B (R + Bᵀ X B)⁻¹ Bᵀ X A, and (I + G X)⁻¹ A is the closed loop.
        let closed = solve(
            &Matrix::identity(n).plus(1.0, &scaled.g.times(x)),
            &scaled.a,
        )?;
        let left = transpose(&scaled.a)
            .times(&x.times(&closed))
            .plus(-1.0, x)
            .plus(1.0, &scaled.q);
        let left = symmetric(&left);
        Some((discrete_lyapunov(&closed, &left)?, left.norm()))
    });
    Ok(scaled.undo(&x))
}

fn step_gain(plant: &Regulated<'_>, x: &Matrix) -> Option<Matrix> {
    let bx = transpose(plant.b).times(x);
    solve(&plant.r.plus(1.0, &bx.times(plant.b)), &bx.times(plant.a))
}

/// Adds corrections as long as what is left over falls.
fn newton(first: Matrix, correction: impl Fn(&Matrix) -> Option<(Matrix, f64)>) -> Matrix {
    let mut x = first;
    let Some((mut step, mut size)) = correction(&x) else {
        return x;
    };
    for _ in 0..30 {
        let next = symmetric(&x.plus(1.0, &step));
        let Some((new_step, left)) = correction(&next) else {
            break;
        };
        // Newton's first step may go up; near the solution a rise is rounding.
        let is_near = step.norm() <= 1e-6 * x.norm();
        if is_near && (left.is_nan() || left >= size) {
            break;
        }
        let is_done = step.norm() <= 1e-17 * next.norm();
        (x, step, size) = (next, new_step, left);
        if is_done {
            break;
        }
    }
    x
}

/// The equation in other units of the states: x = T z.
struct Scaled {
    a: Matrix,
    g: Matrix,
    q: Matrix,
    t: Vec<f64>,
}

impl Scaled {
    fn new(a: &Matrix, g: &Matrix, q: &Matrix) -> Self {
        let n = a.n_rows();
        let mut t = vec![1.0; n];
        // Powers of two until what grows with a unit weighs as much as what falls with it.
        for _ in 0..30 {
            let mut is_settled = true;
            for i in 0..n {
                let mut grows = q[(i, i)].abs().sqrt() * t[i];
                let mut falls = g[(i, i)].abs().sqrt() / t[i];
                for j in (0..n).filter(|j| *j != i) {
                    grows += a[(j, i)].abs() * t[i] / t[j] + (q[(i, j)].abs() * t[i] * t[j]).sqrt();
                    falls +=
                        a[(i, j)].abs() * t[j] / t[i] + (g[(i, j)].abs() / (t[i] * t[j])).sqrt();
                }
                if grows > 0.0 && falls > 0.0 {
                    let factor = (falls / grows).sqrt().log2().round().exp2();
                    is_settled &= factor == 1.0;
                    t[i] *= factor;
                }
            }
            if is_settled {
                break;
            }
        }

        Scaled {
            a: Matrix::from_fn(n, n, |i, j| a[(i, j)] * t[j] / t[i]),
            g: Matrix::from_fn(n, n, |i, j| g[(i, j)] / (t[i] * t[j])),
            q: Matrix::from_fn(n, n, |i, j| q[(i, j)] * (t[i] * t[j])),
            t,
        }
    }

    fn undo(&self, x: &Matrix) -> Matrix {
        Matrix::from_fn(x.n_rows(), x.n_rows(), |i, j| {
            x[(i, j)] / (self.t[i] * self.t[j])
        })
    }
}

/// Cayley's transformation of the continuous equation, then doubling.
fn continuous_doubling(s: &Scaled) -> Option<Matrix> {
    let n = s.a.n_rows();
    let size = s.a.norm() + (s.g.norm() * s.q.norm()).sqrt();
    if size == 0.0 {
        return None;
    }
    // A shift of the size of the poles converges fastest; another one where it meets an eigenvalue.
    for part in [0.5, 1.3, 0.17, 3.1] {
        let gamma = part * size / (n as f64).sqrt();
        let shifted = s.a.plus(-gamma, &Matrix::identity(n));
        let start = || {
            let ag = solve(&shifted, &s.g)?;
            let w = transpose(&shifted).plus(1.0, &s.q.times(&ag));
            let a0 = Matrix::identity(n)
                .plus(2.0 * gamma, &solve(&transpose(&w), &Matrix::identity(n))?);
            let g0 = transpose(&solve(&transpose(&w), &transpose(&ag))?).scaled(2.0 * gamma);
            let qa = transpose(&solve(&transpose(&shifted), &transpose(&s.q))?);
            let h0 = solve(&w, &qa)?.scaled(2.0 * gamma);
            double(a0, symmetric(&g0), symmetric(&h0))
        };
        if let Some(x) = start() {
            return Some(x);
        }
    }
    None
}

/// Doubling: Aₖ goes to zero and H to X.
fn double(mut a: Matrix, mut g: Matrix, mut h: Matrix) -> Option<Matrix> {
    let n = a.n_rows();
    for _ in 0..60 {
        let w = Matrix::identity(n).plus(1.0, &g.times(&h));
        let wa = solve(&w, &a)?;
        let wg = solve(&w, &g)?;
        let more = transpose(&a).times(&h.times(&wa));
        let next_g = g.plus(1.0, &a.times(&wg.times(&transpose(&a))));
        let next_a = a.times(&wa);
        h = symmetric(&h.plus(1.0, &more));
        (a, g) = (next_a, symmetric(&next_g));
        if !h.is_finite() || !a.is_finite() {
            return None;
        }
        if more.norm() <= 1e-16 * h.norm() {
            return Some(h);
        }
    }
    None
}
