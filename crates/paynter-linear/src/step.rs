//! Step responses by the matrix exponential: exact at every point, whatever their distance.
//!
//! In:  a linear model, one of its inputs, and a horizon.
//! Out: every output at equally spaced times after a unit step of that input.

use crate::eigen::{NoEigenvalues, modes};
use crate::{LinearModel, Matrix, exponential};

/// Outputs after a unit step at time 0, from rest.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StepResponse {
    /// s; the first is 0, just after the step.
    pub time: Vec<f64>,
    /// For each output its values.
    pub outputs: Vec<Vec<f64>>,
}

/// Computes the response to a unit step of one input at `n` + 1 times from 0 to `horizon`.
///
/// Where an output follows the rate of the input, the impulse at time 0 is not shown.
pub fn step_response(model: &LinearModel, input: usize, horizon: f64, n: usize) -> StepResponse {
    let n_states = model.n_states();
    let h = horizon / n as f64;
    // d/dt [x; u] = [A b; 0 0] [x; u]
    let whole = Matrix::from_fn(n_states + 1, n_states + 1, |i, j| {
        match (i < n_states, j < n_states) {
            (true, true) => h * model.a[(i, j)],
            (true, false) => h * model.b[(i, input)],
            _ => 0.0,
        }
    });
    let step = exponential(&whole);
    let mut x = vec![0.0; n_states];
    let n_outputs = model.c.n_rows();
    let mut result = StepResponse {
        time: Vec::with_capacity(n + 1),
        outputs: vec![Vec::with_capacity(n + 1); n_outputs],
    };

    for k in 0..=n {
        result.time.push(horizon * (k as f64 / n as f64));
        for (output, values) in result.outputs.iter_mut().enumerate() {
            let own: f64 = model.c.row(output).iter().zip(&x).map(|(c, x)| c * x).sum();
            values.push(own + model.d[0][(output, input)]);
        }
        x = (0..n_states)
            .map(|i| {
                let row = step.row(i);
                row[..n_states]
                    .iter()
                    .zip(&x)
                    .map(|(a, x)| a * x)
                    .sum::<f64>()
                    + row[n_states]
            })
            .collect();
    }
    result
}

/// Time constants after which a decaying mode is seen to have ended: e⁻⁶ is 0.25 %.
const ENOUGH: f64 = 6.0;
/// A mode with a smaller share than this in every output is not waited for.
const LEAST_SHARE: f64 = 2e-3;

/// Proposes how long to look at the step of an input: until its slowest visible mode has ended, or
/// has grown by as much.
///
/// # Errors
///
/// As [`modes`].
pub fn step_horizon(model: &LinearModel, input: usize) -> Result<f64, NoEigenvalues> {
    let modes = modes(&model.a)?;
    // How much of each mode the step excites and the outputs show, by the states it lives in.
    let n = model.n_states();
    let mut slowest: Option<f64> = None;
    let mut fallback: Option<f64> = None;
    let shares = shares(model, input);
    let total: f64 = shares.iter().sum();
    for (k, mode) in modes.iter().enumerate() {
        if mode.is_at_zero() {
            continue;
        }
        let rate = mode.pole.re.abs().max(mode.pole.norm() * 1e-3);
        let time = ENOUGH / rate;
        fallback = Some(fallback.unwrap_or(0.0).max(time));
        let is_seen = !total.is_finite() || n != shares.len() || shares[k] > LEAST_SHARE * total;
        if is_seen {
            slowest = Some(slowest.unwrap_or(0.0).max(time));
        }
    }
    Ok(slowest.or(fallback).unwrap_or(1.0))
}

/// |c v w b / λ| of each mode, summed over outputs with their largest scaled to 1.
fn shares(model: &LinearModel, input: usize) -> Vec<f64> {
    let Ok(all) = crate::eigen::residues(model, input) else {
        return Vec::new();
    };
    let n_outputs = model.c.n_rows();
    let mut shares = vec![0.0; all.len()];
    for output in 0..n_outputs {
        let own: Vec<f64> = all
            .iter()
            .map(|(pole, residues)| match pole.norm() {
                0.0 => 0.0,
                size => residues[output].norm() / size,
            })
            .collect();
        let largest = own.iter().fold(0.0_f64, |m, x| m.max(*x));
        if largest > 0.0 {
            shares
                .iter_mut()
                .zip(&own)
                .for_each(|(s, x)| *s += x / largest);
        }
    }
    shares
}
