//! Controllers from linear models: optimal gains, gains from poles, models in steps.
//!
//! In:  a [`Linearization`], and weights, poles or a step.
//! Out: [`Gains`] or a model in steps, in the user's names and units.
//!
//! The mathematics is in `paynter-linear`; here are names, units and what is typed.

use crate::linear::{Label, Linearization};
use paynter_design::digits::significant;
use paynter_linear::{
    Complex, LinearModel, Matrix, NoRegulator, NoSteps, NotPlaced, Regulated, Regulator, Rule, c2d,
    d2c, dlqr, eigenvalues, lqr, place, transpose,
};
use serde_json::{Value, json};
use std::fmt::Write as _;

/// Feedback u = −K x around the point.
#[derive(Clone, Debug, PartialEq)]
pub struct Gains {
    /// K, in units of inputs per units of states.
    pub gain: Matrix,
    /// Poles of the closed loop: 1/s, or of the map from step to step.
    pub poles: Vec<Complex>,
    /// The step of a sampled controller, s.
    pub step: Option<f64>,
    /// P of the cost x'P x from a state on, where the gains are optimal.
    pub cost: Option<Matrix>,
    /// Outputs whose integrals of what is missed come after the states.
    pub integrals: Vec<String>,
}

/// Why there is no controller.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ControlError {
    /// Nothing to act with, or nothing to act on.
    Empty,
    /// A list of the wrong length.
    Weights {
        /// As many are needed.
        needed: usize,
        /// For the inputs rather than the states or outputs.
        of_inputs: bool,
    },
    /// A weight that is negative, or zero for an input.
    Negative,
    /// A list of intensities of the wrong length.
    Intensities {
        /// As many are needed.
        needed: usize,
        /// For the inputs rather than the outputs.
        of_inputs: bool,
    },
    /// An intensity that is negative, or zero for an output.
    NegativeIntensity,
    /// No observer: as for the regulator of the transposed plant.
    Observer(NoRegulator),
    /// See there.
    Regulator(NoRegulator),
    /// See there.
    Place(NotPlaced),
    /// See there.
    Steps(NoSteps),
    /// A model in steps is needed, and this one is continuous.
    Continuous,
    /// The stationary spread of a model that is not stable, or of an output that noise reaches at once.
    Unbounded {
        /// The output, if one is the cause.
        output: Option<String>,
    },
}

impl std::fmt::Display for ControlError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            ControlError::Empty => {
                f.write_str("a controller needs an input (`--from`) and a state to act on")
            }
            ControlError::Weights { needed, of_inputs } => {
                let (option, what) = match of_inputs {
                    true => ("--r", "input"),
                    false => ("--q", "state"),
                };
                write!(f, "{option} needs {needed} weights, one for each {what}")
            }
            ControlError::Negative => f.write_str(
                "weights of states must not be negative, and weights of inputs must be positive",
            ),
            ControlError::Intensities { needed, of_inputs } => {
                let (option, what) = match of_inputs {
                    true => ("--q", "input"),
                    false => ("--r", "output"),
                };
                write!(f, "{option} needs {needed} intensities, one for each {what}")
            }
            ControlError::NegativeIntensity => f.write_str(
                "intensities of inputs must not be negative, and those of outputs must be positive",
            ),
            ControlError::Observer(why) => f.write_str(no_observer(why)),
            ControlError::Regulator(why) => f.write_str(no_regulator(why)),
            ControlError::Place(why) => f.write_str(&not_placed(why)),
            ControlError::Steps(why) => f.write_str(no_steps(why)),
            ControlError::Continuous => f.write_str(
                "the model between these inputs and outputs is continuous already; use `d2c` for one through sampled blocks",
            ),
            ControlError::Unbounded { output: None } => f.write_str(
                "noise makes this model drift without bound: it has a mode that does not decay",
            ),
            ControlError::Unbounded {
                output: Some(output),
            } => write!(
                f,
                "`{output}` follows the input directly, so white noise gives it an infinite deviation; choose an output that follows from a state"
            ),
        }
    }
}

fn no_observer(why: &NoRegulator) -> &'static str {
    match why {
        NoRegulator::InputCost => "the intensities of the outputs must be positive",
        NoRegulator::NotStabilizable => {
            "no observer of these outputs has an error that decays: none of them sees a mode that does not decay, or no noise excites it"
        }
    }
}

fn no_regulator(why: &NoRegulator) -> &'static str {
    match why {
        NoRegulator::InputCost => "the weights of the inputs must be positive",
        NoRegulator::NotStabilizable => {
            "no feedback to these inputs makes the model stable: none of them reaches a mode that does not decay, or that mode costs nothing"
        }
    }
}

fn not_placed(why: &NotPlaced) -> String {
    match why {
        NotPlaced::Count { n_states } => {
            format!("the linear model has {n_states} states, so it needs {n_states} poles")
        }
        NotPlaced::Unpaired => "a complex pole needs its conjugate beside it".to_owned(),
        NotPlaced::NotControllable => {
            "these poles cannot be reached: none of the inputs moves some mode, or a pole is repeated too often".to_owned()
        }
        NotPlaced::Rounding => {
            "these poles need gains with more than sixteen digits, because they are far from those of the model; choose poles nearer to its own, or leave out what is much faster".to_owned()
        }
    }
}

fn no_steps(why: &NoSteps) -> &'static str {
    match why {
        NoSteps::Improper => {
            "an output follows the rate of an input: such a model has no discrete-time form"
        }
        NoSteps::Singular => "the trapezoidal rule divides by zero at a pole of this model",
        NoSteps::NoLogarithm => "a pole at or left of zero has no continuous counterpart",
        NoSteps::Step => "the step must be positive, and the frequency below half a turn per step",
    }
}

/// What states and inputs cost.
#[derive(Clone, Debug, Default)]
pub struct Weights {
    /// One for each state; none weighs the outputs, each by one.
    pub states: Option<Vec<f64>>,
    /// One for each input; all one where none are given.
    pub inputs: Option<Vec<f64>>,
    /// The controller acts in steps of so many seconds and holds in between.
    pub step: Option<f64>,
}

/// The optimal feedback (LQR), continuous or in steps.
///
/// # Errors
///
/// See [`ControlError`].
pub fn regulator(linear: &Linearization, weights: &Weights) -> Result<Gains, ControlError> {
    let model = linear.in_units();
    let (n, m) = (model.n_states(), model.b.n_columns());
    if n == 0 || m == 0 {
        return Err(ControlError::Empty);
    }

    let (q, r) = weight_matrices(weights, (n, m), || transpose(&model.c).times(&model.c))?;
    let found = match weights.step {
        None => lqr(&Regulated {
            a: &model.a,
            b: &model.b,
            q: &q,
            r: &r,
        }),
        Some(step) => {
            let steps = c2d(&model, step, Rule::Hold).map_err(ControlError::Steps)?;
            dlqr(&Regulated {
                a: &steps.a,
                b: &steps.b,
                q: &q,
                r: &r,
            })
        }
    };

    let found = found.map_err(ControlError::Regulator)?;
    Ok(Gains {
        gain: found.gain,
        poles: found.poles,
        step: weights.step,
        cost: Some(found.cost),
        integrals: Vec::new(),
    })
}

/// The optimal feedback of the states and of the integrals of what the outputs miss (LQI): no steady error.
///
/// Weights of states are those of the states, then those of the integrals, in the order of the outputs; by themselves, the outputs and
/// their integrals weigh one each.
///
/// # Errors
///
/// See [`ControlError`].
pub fn integral_regulator(
    linear: &Linearization,
    weights: &Weights,
) -> Result<Gains, ControlError> {
    let model = linear.in_units();
    let (n, m, p) = (model.n_states(), model.b.n_columns(), model.c.n_rows());
    if n == 0 || m == 0 || p == 0 {
        return Err(ControlError::Empty);
    }
    if model.is_improper() {
        return Err(ControlError::Steps(NoSteps::Improper));
    }

    let d = &model.d[0];
    let a = Matrix::from_fn(n + p, n + p, |i, j| match (i < n, j < n) {
        (true, true) => model.a[(i, j)],
        (false, true) => -model.c[(i - n, j)],
        _ => 0.0,
    });
    let b = Matrix::from_fn(n + p, m, |i, j| match i < n {
        true => model.b[(i, j)],
        false => -d[(i - n, j)],
    });
    let outputs = transpose(&model.c).times(&model.c);
    let usual = || {
        Matrix::from_fn(n + p, n + p, |i, j| match (i < n, j < n) {
            (true, true) => outputs[(i, j)],
            (false, false) if i == j => 1.0,
            _ => 0.0,
        })
    };

    let (q, r) = weight_matrices(weights, (n + p, m), usual)?;

    let plant = Regulated {
        a: &a,
        b: &b,
        q: &q,
        r: &r,
    };
    let found = optimal(&plant, weights.step)?;

    Ok(Gains {
        gain: found.gain,
        poles: found.poles,
        step: weights.step,
        cost: Some(found.cost),
        integrals: linear.outputs.iter().map(|o| o.name.clone()).collect(),
    })
}

/// The optimal feedback in continuous time, or of the plant with inputs held over a step.
fn optimal(plant: &Regulated<'_>, step: Option<f64>) -> Result<Regulator, ControlError> {
    let found = match step {
        None => lqr(plant),
        Some(step) => {
            let whole = LinearModel {
                c: Matrix::zeros(1, plant.a.n_columns()),
                d: vec![Matrix::zeros(1, plant.b.n_columns())],
                a: plant.a.clone(),
                b: plant.b.clone(),
            };
            let steps = c2d(&whole, step, Rule::Hold).map_err(ControlError::Steps)?;
            dlqr(&Regulated {
                a: &steps.a,
                b: &steps.b,
                ..*plant
            })
        }
    };
    found.map_err(ControlError::Regulator)
}

/// Weights as matrices, checked.
fn weight_matrices(
    weights: &Weights,
    (n, m): (usize, usize),
    usual: impl FnOnce() -> Matrix,
) -> Result<(Matrix, Matrix), ControlError> {
    let q = match &weights.states {
        Some(q) if q.len() != n => {
            return Err(ControlError::Weights {
                needed: n,
                of_inputs: false,
            });
        }
        Some(q) if q.iter().any(|q| *q < 0.0) => return Err(ControlError::Negative),
        Some(q) => diagonal(q),
        None => usual(),
    };
    let r = weights.inputs.clone().unwrap_or_else(|| vec![1.0; m]);
    if r.len() != m {
        return Err(ControlError::Weights {
            needed: m,
            of_inputs: true,
        });
    }
    let is_positive = |r: &f64| *r > 0.0;
    match r.iter().all(is_positive) {
        true => Ok((q, diagonal(&r))),
        false => Err(ControlError::Negative),
    }
}

pub(crate) fn diagonal(entries: &[f64]) -> Matrix {
    let n = entries.len();
    Matrix::from_fn(n, n, |i, j| if i == j { entries[i] } else { 0.0 })
}

/// The feedback that gives these poles.
///
/// # Errors
///
/// See [`ControlError`].
pub fn placed(linear: &Linearization, poles: &[Complex]) -> Result<Gains, ControlError> {
    let model = linear.in_units();
    if model.n_states() == 0 || model.b.n_columns() == 0 {
        return Err(ControlError::Empty);
    }
    let gain = place(&model.a, &model.b, poles).map_err(ControlError::Place)?;
    let closed = model.a.plus(-1.0, &model.b.times(&gain));
    let poles =
        eigenvalues(&closed).map_err(|_| ControlError::Place(NotPlaced::NotControllable))?;
    Ok(Gains {
        gain,
        poles,
        step: None,
        cost: None,
        integrals: Vec::new(),
    })
}

/// The model in steps, in the units of the labels.
///
/// # Errors
///
/// See [`ControlError`].
pub fn in_steps(
    linear: &Linearization,
    step: f64,
    rule: Rule,
) -> Result<LinearModel, ControlError> {
    c2d(&linear.in_units(), step, rule).map_err(ControlError::Steps)
}

/// The continuous model that a loop in steps came from, in the units of the labels, and the step.
///
/// # Errors
///
/// See [`ControlError`].
pub fn continuous(linear: &Linearization, rule: Rule) -> Result<(LinearModel, f64), ControlError> {
    let step = linear.step().ok_or(ControlError::Continuous)?;
    let model = d2c(&linear.in_units(), step, rule).map_err(ControlError::Steps)?;
    Ok((model, step))
}

/// Reads `-1, -2+3i, -2-3i`; `-2±3i` is a pair.
///
/// # Errors
///
/// The part that is not a number.
pub fn read_poles(text: &str) -> Result<Vec<Complex>, String> {
    let mut poles = Vec::new();
    for part in text.split(',').map(str::trim).filter(|p| !p.is_empty()) {
        let wrong = || format!("`{part}` is not a pole; write for instance `-1, -2+3i, -2-3i`");
        let Some(body) = part.strip_suffix(['i', 'j']) else {
            poles.push(Complex::new(part.parse().map_err(|_| wrong())?, 0.0));
            continue;
        };
        let number = |t: &str| -> Option<f64> {
            match t.trim() {
                "" | "+" => Some(1.0),
                "-" => Some(-1.0),
                t => t.replace(' ', "").parse().ok(),
            }
        };
        if let Some((re, im)) = body.split_once('±') {
            let re = if re.trim().is_empty() {
                Some(0.0)
            } else {
                number(re)
            };
            let (re, im) = re.zip(number(im)).ok_or_else(wrong)?;
            poles.extend([Complex::new(re, im), Complex::new(re, -im)]);
            continue;
        }
        // The sign before the imaginary part, not the first one and not one of an exponent.
        let split = body.char_indices().rev().find(|(k, c)| {
            let before = body[..*k].chars().next_back();
            matches!(c, '+' | '-') && *k > 0 && !matches!(before, Some('e' | 'E'))
        });
        let (re, im) = match split {
            Some((k, _)) => (number(&body[..k]), number(&body[k..])),
            None => (Some(0.0), number(body)),
        };
        let (re, im) = re.zip(im).ok_or_else(wrong)?;
        poles.push(Complex::new(re, im));
    }

    let is_good = |p: &Complex| p.re.is_finite() && p.im.is_finite();
    match poles.iter().all(is_good) {
        true => Ok(poles),
        false => Err("a pole is not a finite number".to_owned()),
    }
}

/// Prints gains for people.
pub fn gains_to_text(linear: &Linearization, gains: &Gains) -> String {
    let mut out = format!(
        "{}\n\nu = -K x, x and u counted from the point\n",
        crate::linear::about_point(linear)
    );
    for (i, input) in linear.inputs.iter().enumerate() {
        for (j, state) in linear.states.iter().enumerate() {
            let unit = quotient(input, state);
            let _ = writeln!(
                out,
                "  K from {} to {}: {}{unit}",
                state.name,
                input.name,
                significant(gains.gain[(i, j)], 10)
            );
        }
        for (j, output) in gains.integrals.iter().enumerate() {
            let _ = writeln!(
                out,
                "  K from the integral of command - {output} to {}: {}",
                input.name,
                significant(gains.gain[(i, linear.states.len() + j)], 10)
            );
        }
    }

    let (title, unit) = match gains.step {
        None => ("poles of the closed loop [1/s]".to_owned(), ""),
        Some(step) => (
            format!(
                "poles of the closed loop from step to step of {} s",
                significant(step, 6)
            ),
            "",
        ),
    };

    let _ = writeln!(out, "\n{title}{unit}");
    for pole in gains.poles.iter().filter(|p| p.im >= 0.0) {
        let _ = match pole.im {
            0.0 => writeln!(out, "  {}", significant(pole.re, 7)),
            im => writeln!(
                out,
                "  {} ± {}i",
                significant(pole.re, 7),
                significant(im, 7)
            ),
        };
    }
    out
}

fn quotient(of: &Label, by: &Label) -> String {
    match (of.unit.as_str(), by.unit.as_str()) {
        ("" | "1", "" | "1") => String::new(),
        (of, "" | "1") => format!(" {of}"),
        ("" | "1", by) => format!(" 1/({by})"),
        (of, by) => format!(" ({of})/({by})"),
    }
}

fn rows(m: &Matrix) -> Vec<Vec<f64>> {
    (0..m.n_rows()).map(|i| m.row(i).to_vec()).collect()
}

fn names(labels: &[Label]) -> Vec<Value> {
    let name = |l: &Label| json!({"name": l.name, "unit": l.unit});
    labels.iter().map(name).collect()
}

/// Gains as JSON.
pub fn gains_to_json(linear: &Linearization, gains: &Gains) -> Value {
    json!({
        "states": names(&linear.states),
        "inputs": names(&linear.inputs),
        "integrals": gains.integrals,
        "K": rows(&gains.gain),
        "P": gains.cost.as_ref().map(rows),
        "poles": gains.poles.iter().map(|p| [p.re, p.im]).collect::<Vec<_>>(),
        "step": gains.step,
    })
}

/// A model in steps as JSON.
pub fn steps_to_json(linear: &Linearization, model: &LinearModel, step: f64) -> Value {
    json!({
        "states": names(&linear.states), "inputs": names(&linear.inputs), "outputs": names(&linear.outputs),
        "step": step, "A": rows(&model.a), "B": rows(&model.b), "C": rows(&model.c), "D": rows(&model.d[0]),
    })
}

/// A model in steps for people.
pub fn steps_to_text(linear: &Linearization, model: &LinearModel, step: f64) -> String {
    let form = format!(
        "x(k+1) = A x(k) + B u(k), y(k) = C x(k) + D u(k), a step is {} s",
        significant(step, 10)
    );
    matrices_to_text(linear, model, &form)
}

/// Matrices of a model for people, with what they mean.
pub fn matrices_to_text(linear: &Linearization, model: &LinearModel, form: &str) -> String {
    let mut out = format!("{}\n\n{form}\n", crate::linear::about_point(linear));
    let (x, u, y) = (&linear.states, &linear.inputs, &linear.outputs);
    for (name, m, to, from) in [
        ("A", &model.a, x, x),
        ("B", &model.b, x, u),
        ("C", &model.c, y, x),
        ("D", &model.d[0], y, u),
    ] {
        let _ = writeln!(out, "\n{name}");
        for (i, to) in to.iter().enumerate() {
            let entries: Vec<String> = (0..from.len())
                .map(|j| format!("{:>18}", significant(m[(i, j)], 10)))
                .collect();
            let _ = writeln!(out, "  {:16} {}", to.name, entries.join(""));
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn poles_are_read_as_people_write_them() {
        let read =
            |t: &str| read_poles(t).map(|p| p.iter().map(|p| (p.re, p.im)).collect::<Vec<_>>());
        assert_eq!(
            read("-1, -2+3i, -2-3i"),
            Ok(vec![(-1.0, 0.0), (-2.0, 3.0), (-2.0, -3.0)])
        );
        assert_eq!(read("-2±3i"), Ok(vec![(-2.0, 3.0), (-2.0, -3.0)]));
        assert_eq!(
            read("-1e-3-2.5e1j, i"),
            Ok(vec![(-1e-3, -25.0), (0.0, 1.0)])
        );
        for wrong in ["x", "-1 -2", "1+i2", "nan", "-2+-i"] {
            assert!(read(wrong).is_err(), "{wrong}");
        }
    }
}
