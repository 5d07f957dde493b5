//! `paynter lqr`, `lqi`, `lqe`, `place`, `lyap`, `c2d`, `d2c`: controllers and observers from the linear model.

use crate::commands::linear::LinearArgs;
use crate::console::{OK, call_error, refuse};
use crate::say;
use clap::{Args, ValueEnum};
use paynter::Design;
use paynter::control::{
    self, ControlError, Weights, gains_to_json, gains_to_text, matrices_to_text, read_poles,
    steps_to_json, steps_to_text,
};
use paynter::linear::{Linearization, matched_transfers, transfers_in, transfers_to_json};
use paynter::linear_algebra::Rule;
use paynter::noise::{self, Noise};

/// Of which linear model, with which weights.
#[derive(Args)]
pub struct LqrArgs {
    #[command(flatten)]
    linear: LinearArgs,
    /// Weights of the states, comma-separated; default: 1 for each output of --to
    #[arg(long, value_name = "NUMBERS")]
    q: Option<String>,
    /// Weights of the inputs, comma-separated; default 1
    #[arg(long, value_name = "NUMBERS")]
    r: Option<String>,
    /// Sampled controller with this period, s
    #[arg(long, value_name = "SECONDS")]
    step: Option<f64>,
}

impl LqrArgs {
    fn weights(&self) -> Result<Weights, String> {
        Ok(Weights {
            states: self.q.as_deref().map(numbers).transpose()?,
            inputs: self.r.as_deref().map(numbers).transpose()?,
            step: self.step,
        })
    }
}

/// Of which linear model, with which noise.
#[derive(Args)]
pub struct LqeArgs {
    #[command(flatten)]
    linear: LinearArgs,
    /// Intensities of the noise at the inputs, comma-separated; default 1
    #[arg(long, value_name = "NUMBERS")]
    q: Option<String>,
    /// Intensities of the noise of the measured outputs, or their variances with --step; default 1
    #[arg(long, value_name = "NUMBERS")]
    r: Option<String>,
    /// Sample the outputs every STEP seconds
    #[arg(long, value_name = "SECONDS")]
    step: Option<f64>,
}

/// Of which linear model, with which noise.
#[derive(Args)]
pub struct LyapArgs {
    #[command(flatten)]
    linear: LinearArgs,
    /// Intensities of the noise at the inputs, comma-separated; default 1
    #[arg(long, value_name = "NUMBERS")]
    q: Option<String>,
}

/// Of which loop in steps.
#[derive(Args)]
pub struct D2cArgs {
    #[command(flatten)]
    linear: LinearArgs,
    /// How inputs behave between two steps
    #[arg(long, value_enum, default_value = "zoh")]
    method: Back,
}

/// How a model in steps is turned back.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum Back {
    /// Inputs are held: the logarithm
    Zoh,
    /// The trapezoidal rule
    Tustin,
}

/// Of which linear model, to which poles.
#[derive(Args)]
pub struct PlaceArgs {
    #[command(flatten)]
    linear: LinearArgs,
    /// The poles, 1/s, comma-separated: `-1, -2+3i, -2-3i`
    #[arg(long, value_name = "POLES", allow_hyphen_values = true)]
    poles: String,
}

/// Of which linear model, in which steps.
#[derive(Args)]
pub struct C2dArgs {
    #[command(flatten)]
    linear: LinearArgs,
    /// The step, s
    #[arg(long, value_name = "SECONDS")]
    step: f64,
    /// How inputs behave between two steps
    #[arg(long, value_enum, default_value = "zoh")]
    method: Method,
    /// The frequency at which `tustin` is exact, rad/s
    #[arg(long, value_name = "RAD_PER_S")]
    at_frequency: Option<f64>,
}

/// How inputs behave between two steps.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum Method {
    /// Held: exact
    Zoh,
    /// The trapezoidal rule
    Tustin,
    /// Poles and zeros mapped by z = exp(s T): transfer functions
    Matched,
}

/// Prints optimal gains.
pub fn lqr(args: &LqrArgs) -> u8 {
    let weights = match args.weights() {
        Ok(weights) => weights,
        Err(message) => return call_error(message),
    };
    gains(&args.linear, |linear| control::regulator(linear, &weights))
}

/// Prints optimal gains with integral action.
pub fn lqi(args: &LqrArgs) -> u8 {
    let weights = match args.weights() {
        Ok(weights) => weights,
        Err(message) => return call_error(message),
    };
    gains(&args.linear, |linear| {
        control::integral_regulator(linear, &weights)
    })
}

/// Prints the gains of a Kalman filter.
pub fn lqe(args: &LqeArgs) -> u8 {
    let noise = (|| {
        Ok::<_, String>(Noise {
            inputs: args.q.as_deref().map(numbers).transpose()?,
            outputs: args.r.as_deref().map(numbers).transpose()?,
            step: args.step,
        })
    })();
    let noise = match noise {
        Ok(noise) => noise,
        Err(message) => return call_error(message),
    };
    let linear = match args.linear.linearize_continuous() {
        Ok((_, linear)) => linear,
        Err(status) => return status,
    };
    match noise::estimator(&linear, &noise) {
        Ok(found) if args.linear.model.json => {
            say!("{}", noise::estimator_to_json(&linear, &found))
        }
        Ok(found) => say!("{}", noise::estimator_to_text(&linear, &found).trim_end()),
        Err(error) => return call_error(error),
    }
    OK
}

/// Prints how far noise moves states and outputs.
pub fn lyap(args: &LyapArgs) -> u8 {
    let intensities = match args.q.as_deref().map(numbers).transpose() {
        Ok(list) => list,
        Err(message) => return call_error(message),
    };
    let linear = match args.linear.linearize_continuous() {
        Ok((_, linear)) => linear,
        Err(status) => return status,
    };
    match noise::spread(&linear, intensities.as_ref()) {
        Ok(found) if args.linear.model.json => {
            say!("{}", noise::spread_to_json(&linear, &found))
        }
        Ok(found) => say!("{}", noise::spread_to_text(&linear, &found).trim_end()),
        Err(error) => return call_error(error),
    }
    OK
}

/// Prints the continuous model of a sampled loop.
pub fn d2c(args: &D2cArgs) -> u8 {
    let linear = match args.linear.linearize() {
        Ok((_, linear)) => linear,
        Err(status) => return status,
    };
    let rule = match args.method {
        Back::Zoh => Rule::Hold,
        Back::Tustin => Rule::Tustin(None),
    };
    match control::continuous(&linear, rule) {
        Ok((model, step)) if args.linear.model.json => {
            say!("{}", steps_to_json(&linear, &model, step))
        }
        Ok((model, _)) => {
            let form = "der(x) = A x + B u, y = C x + D u";
            say!("{}", matrices_to_text(&linear, &model, form).trim_end());
        }
        Err(error) => return call_error(error),
    }
    OK
}

/// Prints gains from poles.
pub fn place(args: &PlaceArgs) -> u8 {
    let poles = match read_poles(&args.poles) {
        Ok(poles) => poles,
        Err(message) => return call_error(message),
    };
    gains(&args.linear, |linear| control::placed(linear, &poles))
}

fn gains(
    args: &LinearArgs,
    find: impl Fn(&paynter::linear::Linearization) -> Result<control::Gains, ControlError>,
) -> u8 {
    let linear = match args.linearize_continuous() {
        Ok((_, linear)) => linear,
        Err(status) => return status,
    };
    match find(&linear) {
        Ok(gains) if args.model.json => say!("{}", gains_to_json(&linear, &gains)),
        Ok(gains) => say!("{}", gains_to_text(&linear, &gains).trim_end()),
        Err(error) => return call_error(error),
    }
    OK
}

/// Prints the model in steps.
pub fn c2d(args: &C2dArgs) -> u8 {
    let (design, linear) = match args.linear.linearize_continuous() {
        Ok(both) => both,
        Err(status) => return status,
    };
    let rule = match args.method {
        Method::Zoh | Method::Matched if args.at_frequency.is_some() => {
            return call_error("--at-frequency belongs to --method tustin");
        }
        Method::Matched => return matched(args, &design, &linear),
        Method::Zoh => Rule::Hold,
        Method::Tustin => Rule::Tustin(args.at_frequency),
    };
    match control::in_steps(&linear, args.step, rule) {
        Ok(model) if args.linear.model.json => {
            say!("{}", steps_to_json(&linear, &model, args.step))
        }
        Ok(model) => say!("{}", steps_to_text(&linear, &model, args.step).trim_end()),
        Err(error) => return call_error(error),
    }
    OK
}

/// Prints transfer functions with roots at their places in steps.
fn matched(args: &C2dArgs, design: &Design, linear: &Linearization) -> u8 {
    let found = match matched_transfers(design, linear, args.step) {
        Ok(Some(found)) => found,
        Ok(None) => {
            return call_error(
                "the step must be positive, and the gain at rest or beside it finite",
            );
        }
        Err(error) => return refuse(design, error, args.linear.model.json),
    };
    match args.linear.model.json {
        true => {
            let mut json = transfers_to_json(linear, &found);
            json["step"] = args.step.into();
            say!("{json}");
        }
        false => say!("{}", transfers_in(linear, &found, "z").trim_end()),
    }
    OK
}

fn numbers(text: &str) -> Result<Vec<f64>, String> {
    let each = text.split(',').map(|t| {
        let number: Option<f64> = t.trim().parse().ok();
        number
            .filter(|x| x.is_finite())
            .ok_or_else(|| format!("`{}` is not a number", t.trim()))
    });
    each.collect()
}
