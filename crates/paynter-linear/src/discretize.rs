//! From continuous models to models in steps, and back.
//!
//! In:  a [`LinearModel`] without rates of inputs, and a step.
//! Out: x⁺ = A x + B u, y = C x + D u: exact for inputs that are held, or by the trapezoidal rule.

use crate::solve::solve;
use crate::staircase::transpose;
use crate::{LinearModel, Matrix, eigenvalues, exponential};

/// How inputs behave between two steps.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Rule {
    /// Held.
    Hold,
    /// The trapezoidal rule, exact at one frequency (rad/s) where one is given.
    Tustin(Option<f64>),
}

/// Why there is no such model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoSteps {
    /// An output follows the rate of an input.
    Improper,
    /// A pole is where the rule divides by zero.
    Singular,
    /// A pole at or below zero has no continuous counterpart.
    NoLogarithm,
    /// The step is not positive, or the frequency is beyond what steps can show.
    Step,
}

/// Discretises.
///
/// # Errors
///
/// See [`NoSteps`].
pub fn c2d(model: &LinearModel, step: f64, rule: Rule) -> Result<LinearModel, NoSteps> {
    if model.is_improper() {
        return Err(NoSteps::Improper);
    }
    if step <= 0.0 || !step.is_finite() {
        return Err(NoSteps::Step);
    }
    match rule {
        Rule::Hold => {
            let (a, b) = hold(&model.a, &model.b, step);
            Ok(LinearModel {
                a,
                b,
                ..model.clone()
            })
        }
        Rule::Tustin(frequency) => {
            let half = half_step(step, frequency)?;
            trapezoidal(model, half)
        }
    }
}

/// e^{A h} and ∫ e^{A s} ds B over one step, from one exponential.
pub fn hold(a: &Matrix, b: &Matrix, step: f64) -> (Matrix, Matrix) {
    let (n, m) = (a.n_rows(), b.n_columns());
    if n == 0 {
        return (a.clone(), b.clone());
    }
    let wide = Matrix::from_fn(n + m, n + m, |i, j| match (i < n, j < n) {
        (true, true) => a[(i, j)] * step,
        (true, false) => b[(i, j - n)] * step,
        _ => 0.0,
    });
    let e = exponential(&wide);
    (
        Matrix::from_fn(n, n, |i, j| e[(i, j)]),
        Matrix::from_fn(n, m, |i, j| e[(i, n + j)]),
    )
}

/// Half the step, or tan(ω h/2)/ω so that the response is exact at ω.
fn half_step(step: f64, frequency: Option<f64>) -> Result<f64, NoSteps> {
    match frequency {
        None => Ok(0.5 * step),
        Some(w) if w > 0.0 && w * step < std::f64::consts::PI => Ok((0.5 * w * step).tan() / w),
        Some(_) => Err(NoSteps::Step),
    }
}

/// s = (z − 1)/(α (z + 1))
fn trapezoidal(model: &LinearModel, alpha: f64) -> Result<LinearModel, NoSteps> {
    let n = model.a.n_rows();
    let unit = Matrix::identity(n);
    let minus = unit.plus(-alpha, &model.a);
    let a = solve(&minus, &unit.plus(alpha, &model.a)).ok_or(NoSteps::Singular)?;
    let b = solve(&minus, &model.b)
        .ok_or(NoSteps::Singular)?
        .scaled(2.0 * alpha);
    let c = transpose(&solve(&transpose(&minus), &transpose(&model.c)).ok_or(NoSteps::Singular)?);
    let feedthrough = c.times(&model.b).scaled(alpha);
    let d = model.d[0].plus(1.0, &feedthrough);
    Ok(LinearModel {
        a,
        b,
        c,
        d: vec![d],
    })
}

/// The continuous model that steps came from.
///
/// # Errors
///
/// See [`NoSteps`].
pub fn d2c(model: &LinearModel, step: f64, rule: Rule) -> Result<LinearModel, NoSteps> {
    if step <= 0.0 || !step.is_finite() {
        return Err(NoSteps::Step);
    }
    let n = model.a.n_rows();

    match rule {
        Rule::Hold => {
            let m = model.b.n_columns();
            let wide = Matrix::from_fn(n + m, n + m, |i, j| match (i < n, j < n) {
                (true, true) => model.a[(i, j)],
                (true, false) => model.b[(i, j - n)],
                (false, false) if i == j => 1.0,
                _ => 0.0,
            });
            let log = logarithm(&wide)?.scaled(1.0 / step);
            Ok(LinearModel {
                a: Matrix::from_fn(n, n, |i, j| log[(i, j)]),
                b: Matrix::from_fn(n, m, |i, j| log[(i, n + j)]),
                ..model.clone()
            })
        }
        Rule::Tustin(frequency) => {
            // A = (Ad − 1)(Ad + 1)⁻¹/α and so on: the same rule with z and s changed over.
            let alpha = half_step(step, frequency)?;
            let unit = Matrix::identity(n);
            let plus = model.a.plus(1.0, &unit);
            let a = solve(&plus, &model.a.plus(-1.0, &unit))
                .ok_or(NoSteps::Singular)?
                .scaled(1.0 / alpha);
            let b = solve(&plus, &model.b)
                .ok_or(NoSteps::Singular)?
                .scaled(1.0 / alpha);
            let c = transpose(
                &solve(&transpose(&plus), &transpose(&model.c)).ok_or(NoSteps::Singular)?,
            )
            .scaled(2.0);
            let d = model.d[0].plus(-alpha, &model.c.times(&b));
            Ok(LinearModel {
                a,
                b,
                c,
                d: vec![d],
            })
        }
    }
}

/// ln A by square roots until A is near one, then a series; none for a pole at or left of zero.
fn logarithm(a: &Matrix) -> Result<Matrix, NoSteps> {
    let n = a.n_rows();
    let poles = eigenvalues(a).map_err(|_| NoSteps::NoLogarithm)?;
    let size = poles.iter().map(|p| p.norm()).fold(0.0, f64::max);
    if poles
        .iter()
        .any(|p| p.im.abs() <= 1e-14 * size && p.re <= 1e-14 * size)
    {
        return Err(NoSteps::NoLogarithm);
    }
    let unit = Matrix::identity(n);
    let mut root = a.clone();
    let mut power = 1.0;
    while root.plus(-1.0, &unit).norm() > 0.1 {
        root = square_root(&root)?;
        power *= 2.0;
        if power > 1e15 {
            return Err(NoSteps::NoLogarithm);
        }
    }

    // ln A = 2 artanh(Z), Z = (A − 1)(A + 1)⁻¹, ‖Z‖ ≤ 0.053: eight terms reach rounding.
    let z = solve(&root.plus(1.0, &unit), &root.plus(-1.0, &unit)).ok_or(NoSteps::NoLogarithm)?;
    let square = z.times(&z);
    let mut term = z.clone();
    let mut sum = z;
    for k in 1..10 {
        term = term.times(&square);
        sum = sum.plus(1.0 / f64::from(2 * k + 1), &term);
    }
    Ok(sum.scaled(2.0 * power))
}

/// The principal square root (Denman & Beavers 1976).
fn square_root(a: &Matrix) -> Result<Matrix, NoSteps> {
    let n = a.n_rows();
    let (mut y, mut z) = (a.clone(), Matrix::identity(n));
    for _ in 0..60 {
        let inverse = |m: &Matrix| solve(m, &Matrix::identity(n)).ok_or(NoSteps::NoLogarithm);
        let (iy, iz) = (inverse(&y)?, inverse(&z)?);
        let next = y.plus(1.0, &iz).scaled(0.5);
        z = z.plus(1.0, &iy).scaled(0.5);
        let change = next.plus(-1.0, &y).norm();
        y = next;
        if change <= 1e-15 * y.norm() {
            return Ok(y);
        }
    }
    // Rounding keeps it from settling below a few units of the last place.
    let left = y.times(&y).plus(-1.0, a).norm();
    if left <= 1e-12 * a.norm() {
        Ok(y)
    } else {
        Err(NoSteps::NoLogarithm)
    }
}
