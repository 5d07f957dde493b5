//! Mathematics of linear models on plain matrices, as the language has it: Riccati, Lyapunov, gains, steps.
//!
//! In:  matrices as rows of numbers; the Python side has looked at their sizes.
//! Out: matrices as rows of numbers, or why there is no answer.

use crate::errors::{CallError, unknown};
use paynter::control::ControlError;
use paynter::linear_algebra::{
    Complex, LinearModel, Matrix, Regulated, Regulator, Rule, c2d as steps, d2c as rates,
    discrete_lyapunov, dlqr as discrete_regulator, exponential, lqe as observer, lqr as regulator,
    lyapunov, place as placed,
};
use pyo3::prelude::*;

type Rows = Vec<Vec<f64>>;
/// Gain, solution of Riccati's equation, poles.
type Regulation = (Rows, Rows, Vec<(f64, f64)>);

fn matrix(rows: &Rows) -> Matrix {
    let rows: Vec<&[f64]> = rows.iter().map(Vec::as_slice).collect();
    Matrix::from_rows(&rows)
}

fn to_rows(matrix: &Matrix) -> Rows {
    let rows = 0..matrix.n_rows();
    rows.map(|i| matrix.row(i).to_vec()).collect()
}

fn refused(why: ControlError) -> PyErr {
    CallError::new_err(why.to_string())
}

fn regulation(found: Result<Regulator, ControlError>) -> PyResult<Regulation> {
    let found = found.map_err(refused)?;
    let poles = found.poles.iter().map(|p| (p.re, p.im)).collect();
    Ok((to_rows(&found.gain), to_rows(&found.cost), poles))
}

/// The regulator of x' = A x + B u, or of x(k+1) = A x + B u where it is in steps.
#[pyfunction]
pub fn regulate(a: Rows, b: Rows, q: Rows, r: Rows, in_steps: bool) -> PyResult<Regulation> {
    let (a, b, q, r) = (matrix(&a), matrix(&b), matrix(&q), matrix(&r));
    let plant = Regulated {
        a: &a,
        b: &b,
        q: &q,
        r: &r,
    };
    let found = match in_steps {
        true => discrete_regulator(&plant),
        false => regulator(&plant),
    };
    regulation(found.map_err(ControlError::Regulator))
}

/// The observer of x' = A x + w, y = C x + v.
#[pyfunction]
pub fn observe(a: Rows, c: Rows, q: Rows, r: Rows) -> PyResult<Regulation> {
    let found = observer(&matrix(&a), &matrix(&c), &matrix(&q), &matrix(&r));
    regulation(found.map_err(ControlError::Observer))
}

/// X of Aᵀ X + X A + Q = 0, or of Aᵀ X A − X + Q = 0 in steps.
#[pyfunction]
pub fn lyap(a: Rows, q: Rows, in_steps: bool) -> PyResult<Rows> {
    let (a, q) = (matrix(&a), matrix(&q));
    let found = match in_steps {
        true => discrete_lyapunov(&a, &q),
        false => lyapunov(&a, &q),
    };
    let found = found.ok_or_else(|| {
        CallError::new_err(match in_steps {
            true => "there is no single solution: the product of two poles is 1, or A is large and not stable",
            false => "there is no single solution: the sum of two poles is 0, or A is large and some modes decay while others grow",
        })
    })?;
    Ok(to_rows(&found))
}

/// K such that A − B K has these poles.
#[pyfunction]
pub fn place(a: Rows, b: Rows, poles: Vec<(f64, f64)>) -> PyResult<Rows> {
    let poles: Vec<Complex> = poles.iter().map(|p| Complex::new(p.0, p.1)).collect();
    let found = placed(&matrix(&a), &matrix(&b), &poles);
    found
        .map(|k| to_rows(&k))
        .map_err(|why| refused(ControlError::Place(why)))
}

/// e^A
#[pyfunction]
pub fn expm(a: Rows) -> Rows {
    to_rows(&exponential(&matrix(&a)))
}

/// A, B, C, D in steps, or from steps back to rates.
#[pyfunction]
pub fn change_steps(
    model: (Rows, Rows, Rows, Rows),
    step: f64,
    method: &str,
    at_frequency: Option<f64>,
    is_back: bool,
) -> PyResult<(Rows, Rows, Rows, Rows)> {
    let rule = match method {
        "zoh" => Rule::Hold,
        "tustin" => Rule::Tustin(at_frequency),
        other => return Err(unknown("method", other, "zoh or tustin")),
    };
    let model = LinearModel {
        a: matrix(&model.0),
        b: matrix(&model.1),
        c: matrix(&model.2),
        d: vec![matrix(&model.3)],
    };
    let found = match is_back {
        true => rates(&model, step, rule),
        false => steps(&model, step, rule),
    };
    let found = found.map_err(|why| refused(ControlError::Steps(why)))?;
    Ok((
        to_rows(&found.a),
        to_rows(&found.b),
        to_rows(&found.c),
        to_rows(&found.d[0]),
    ))
}
