//! What noise does to a linear model, and the observer that looks through it.
//!
//! In:  a [`Linearization`] whose inputs are disturbed by white noise, and intensities.
//! Out: the gains of a Kalman filter ([`estimator`]); deviations of states and outputs ([`spread`]).
//!
//! Intensities are two-sided spectral densities: a noise of intensity q through an integrator has a variance that grows by q per second.

use crate::control::{ControlError, diagonal};
use crate::linear::{Label, Linearization, about_point};
use paynter_design::digits::significant;
use paynter_linear::{
    Complex, Matrix, Regulated, dlqr, eigenvalues, exponential, lqe, lyapunov, solve, transpose,
};
use serde_json::{Value, json};
use std::fmt::Write as _;

/// How strong noises are.
#[derive(Clone, Debug, Default)]
pub struct Noise {
    /// Intensity at each input, in its unit squared times seconds; one unless given.
    pub inputs: Option<Vec<f64>>,
    /// Of each measured output: intensity, or its variance at each sample; one unless given.
    pub outputs: Option<Vec<f64>>,
    /// Sample the outputs every STEP seconds.
    pub step: Option<f64>,
}

/// A Kalman filter.
#[derive(Clone, Debug, PartialEq)]
pub struct Estimator {
    /// L: states by outputs. x̂' = A x̂ + B u + L (y − C x̂ − D u), or the correction at each sample.
    pub gain: Matrix,
    /// Poles of the error.
    pub poles: Vec<Complex>,
    /// Covariance of the error of the states; before each sample where there are samples.
    pub covariance: Matrix,
    /// The step between samples, s.
    pub step: Option<f64>,
}

fn strengths(
    given: Option<&Vec<f64>>,
    n: usize,
    (of_inputs, may_vanish): (bool, bool),
) -> Result<Vec<f64>, ControlError> {
    let list = given.cloned().unwrap_or_else(|| vec![1.0; n]);
    if list.len() != n {
        return Err(ControlError::Intensities {
            needed: n,
            of_inputs,
        });
    }
    let is_good = |x: &f64| *x > 0.0 || (may_vanish && *x == 0.0);
    match list.iter().all(is_good) {
        true => Ok(list),
        false => Err(ControlError::NegativeIntensity),
    }
}

/// The Kalman filter for white noise at the inputs and at the outputs.
///
/// # Errors
///
/// See [`ControlError`].
pub fn estimator(linear: &Linearization, noise: &Noise) -> Result<Estimator, ControlError> {
    let model = linear.in_units();
    let (n, m, p) = (model.n_states(), model.b.n_columns(), model.c.n_rows());
    if n == 0 || m == 0 || p == 0 {
        return Err(ControlError::Empty);
    }

    let w = diagonal(&strengths(noise.inputs.as_ref(), m, (true, true))?);
    let r = diagonal(&strengths(noise.outputs.as_ref(), p, (false, false))?);
    let q = model.b.times(&w.times(&transpose(&model.b)));
    let Some(step) = noise.step else {
        let found = lqe(&model.a, &model.c, &q, &r).map_err(ControlError::Observer)?;
        return Ok(Estimator {
            gain: found.gain,
            poles: found.poles,
            covariance: found.cost,
            step: None,
        });
    };

    if step.is_nan() || step <= 0.0 || !step.is_finite() {
        return Err(ControlError::Steps(paynter_linear::NoSteps::Step));
    }
    let (a, q) = held_noise(&model.a, &q, step);
    let (at, ct) = (transpose(&a), transpose(&model.c));
    let dual = Regulated {
        a: &at,
        b: &ct,
        q: &q,
        r: &r,
    };

    let found = dlqr(&dual).map_err(ControlError::Observer)?;
    // M = P Cᵀ (C P Cᵀ + R)⁻¹; the regulator's gain has A in it as well.
    let pc = found.cost.times(&ct);
    let left = model.c.times(&pc).plus(1.0, &r);
    let gain = solve(&left, &transpose(&pc)).map(|g| transpose(&g));
    let no_gain = ControlError::Observer(paynter_linear::NoRegulator::InputCost);

    Ok(Estimator {
        gain: gain.ok_or(no_gain)?,
        poles: found.poles,
        covariance: found.cost,
        step: Some(step),
    })
}

/// e^{A T} and ∫ e^{A s} Q e^{Aᵀ s} ds over one step, from one exponential (Van Loan 1978).
fn held_noise(a: &Matrix, q: &Matrix, step: f64) -> (Matrix, Matrix) {
    let n = a.n_rows();
    let wide = Matrix::from_fn(2 * n, 2 * n, |i, j| match (i < n, j < n) {
        (true, true) => -a[(i, j)] * step,
        (true, false) => q[(i, j - n)] * step,
        (false, true) => 0.0,
        (false, false) => a[(j - n, i - n)] * step,
    });
    let e = exponential(&wide);
    let last = Matrix::from_fn(n, n, |i, j| e[(n + i, n + j)]);
    let upper = Matrix::from_fn(n, n, |i, j| e[(i, n + j)]);
    let moved = transpose(&last);
    let q = moved.times(&upper);
    let q = Matrix::from_fn(n, n, |i, j| 0.5 * (q[(i, j)] + q[(j, i)]));
    (moved, q)
}

/// How far states and outputs scatter.
#[derive(Clone, Debug, PartialEq)]
pub struct Spread {
    /// Covariance of the states.
    pub covariance: Matrix,
    /// Deviation of each output.
    pub outputs: Vec<f64>,
}

/// Deviations that white noise at the inputs gives in the long run: A X + X Aᵀ + B W Bᵀ = 0.
///
/// # Errors
///
/// See [`ControlError`].
pub fn spread(
    linear: &Linearization,
    intensities: Option<&Vec<f64>>,
) -> Result<Spread, ControlError> {
    let model = linear.in_units();
    let (n, m) = (model.n_states(), model.b.n_columns());
    if n == 0 || m == 0 {
        return Err(ControlError::Empty);
    }

    let w = diagonal(&strengths(intensities, m, (true, true))?);
    let unbounded = |output: Option<String>| ControlError::Unbounded { output };
    let poles = eigenvalues(&model.a).map_err(|_| unbounded(None))?;
    if !poles.iter().all(|p| p.re < 0.0) {
        return Err(unbounded(None));
    }

    let reaches_at_once = |o: usize| {
        let noisy = (0..m).filter(|&i| w[(i, i)] > 0.0);
        noisy
            .into_iter()
            .any(|i| model.d.iter().any(|d| d[(o, i)] != 0.0))
    };

    if let Some(o) = (0..linear.outputs.len()).find(|&o| reaches_at_once(o)) {
        return Err(unbounded(Some(linear.outputs[o].name.clone())));
    }
    let q = model.b.times(&w.times(&transpose(&model.b)));
    let covariance = lyapunov(&transpose(&model.a), &q).ok_or_else(|| unbounded(None))?;
    let seen = model.c.times(&covariance.times(&transpose(&model.c)));

    Ok(Spread {
        outputs: (0..linear.outputs.len())
            .map(|o| seen[(o, o)].max(0.0).sqrt())
            .collect(),
        covariance,
    })
}

fn spaced(unit: &str) -> String {
    match unit {
        "" | "1" => String::new(),
        unit => format!(" {unit}"),
    }
}

/// Prints a filter for people.
pub fn estimator_to_text(linear: &Linearization, found: &Estimator) -> String {
    let form = match found.step {
        None => "observer: der(x) = A x + B u + L (y - C x - D u)".to_owned(),
        Some(step) => format!(
            "at each sample, every {} s: x = x + L (y - C x - D u)",
            significant(step, 6)
        ),
    };

    let mut out = format!("{}\n\n{form}\n", about_point(linear));
    for (i, state) in linear.states.iter().enumerate() {
        for (j, output) in linear.outputs.iter().enumerate() {
            let _ = writeln!(
                out,
                "  L from {} to {}: {}",
                output.name,
                state.name,
                significant(found.gain[(i, j)], 10)
            );
        }
    }

    let title = match found.step {
        None => "poles of the error [1/s]",
        Some(_) => "poles of the error from sample to sample",
    };
    let _ = writeln!(out, "\n{title}");
    for pole in found.poles.iter().filter(|p| p.im >= 0.0) {
        let imaginary = match pole.im {
            0.0 => String::new(),
            im => format!(" ± {}i", significant(im, 7)),
        };
        let _ = writeln!(out, "  {}{imaginary}", significant(pole.re, 7));
    }

    let _ = writeln!(out, "\ndeviation of the error");
    deviations(&mut out, &linear.states, &found.covariance);
    out
}

fn deviations(out: &mut String, labels: &[Label], covariance: &Matrix) {
    for (i, label) in labels.iter().enumerate() {
        let value = covariance[(i, i)].max(0.0).sqrt();
        let _ = writeln!(
            out,
            "  {}  {}{}",
            label.name,
            significant(value, 7),
            spaced(&label.unit)
        );
    }
}

/// Prints deviations for people.
pub fn spread_to_text(linear: &Linearization, found: &Spread) -> String {
    let mut out = format!("{}\n\ndeviation of the states\n", about_point(linear));
    deviations(&mut out, &linear.states, &found.covariance);
    if !linear.outputs.is_empty() {
        let _ = writeln!(out, "\ndeviation of the outputs");
    }
    for (label, value) in linear.outputs.iter().zip(&found.outputs) {
        let _ = writeln!(
            out,
            "  {}  {}{}",
            label.name,
            significant(*value, 7),
            spaced(&label.unit)
        );
    }
    out
}

fn rows(m: &Matrix) -> Vec<Vec<f64>> {
    (0..m.n_rows()).map(|i| m.row(i).to_vec()).collect()
}

fn names(labels: &[Label]) -> Vec<Value> {
    let each = labels.iter();
    each.map(|l| json!({ "name": l.name, "unit": l.unit }))
        .collect()
}

/// A filter as JSON.
pub fn estimator_to_json(linear: &Linearization, found: &Estimator) -> Value {
    json!({
        "states": names(&linear.states), "outputs": names(&linear.outputs), "L": rows(&found.gain),
        "poles": found.poles.iter().map(|p| [p.re, p.im]).collect::<Vec<_>>(),
        "covariance": rows(&found.covariance), "step": found.step,
    })
}

/// Deviations as JSON.
pub fn spread_to_json(linear: &Linearization, found: &Spread) -> Value {
    json!({
        "states": names(&linear.states), "outputs": names(&linear.outputs),
        "covariance": rows(&found.covariance), "deviations": found.outputs,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn noise_of_a_held_step_is_that_of_its_integral() {
        // A double integrator under noise of intensity q on its rate: Q = q [T³/3 T²/2; T²/2 T].
        let a = Matrix::from_rows(&[&[0.0, 1.0], &[0.0, 0.0]]);
        let q = Matrix::from_rows(&[&[0.0, 0.0], &[0.0, 3.0]]);
        let (moved, found) = held_noise(&a, &q, 0.5);
        assert!((moved[(0, 1)] - 0.5).abs() < 1e-15);
        for (i, j, exact) in [(0, 0, 3.0 * 0.125 / 3.0), (0, 1, 3.0 * 0.125), (1, 1, 1.5)] {
            assert!(
                (found[(i, j)] - exact).abs() < 1e-14,
                "{i} {j} {}",
                found[(i, j)]
            );
        }
    }
}
