//! `paynter lqr`, `paynter place`, `paynter c2d`: controllers from the linear model.

use crate::commands::linear::LinearArgs;
use crate::console::{OK, call_error};
use crate::say;
use clap::{Args, ValueEnum};
use paynter::control::{
    self, ControlError, Weights, gains_to_json, gains_to_text, read_poles, steps_to_json,
    steps_to_text,
};
use paynter::linear_algebra::Rule;

/// Of which linear model, with which weights.
#[derive(Args)]
pub struct LqrArgs {
    #[command(flatten)]
    linear: LinearArgs,
    /// Weights of the states, with commas between; the outputs of --to, each by one, unless given
    #[arg(long, value_name = "NUMBERS")]
    q: Option<String>,
    /// Weights of the inputs, with commas between; one unless given
    #[arg(long, value_name = "NUMBERS")]
    r: Option<String>,
    /// A sampled controller that acts every so many seconds
    #[arg(long, value_name = "SECONDS")]
    step: Option<f64>,
}

/// Of which linear model, to which poles.
#[derive(Args)]
pub struct PlaceArgs {
    #[command(flatten)]
    linear: LinearArgs,
    /// The poles, 1/s, with commas between: `-1, -2+3i, -2-3i`
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
    /// How inputs are thought of between two steps
    #[arg(long, value_enum, default_value = "zoh")]
    method: Method,
    /// The frequency at which `tustin` is exact, rad/s
    #[arg(long, value_name = "RAD_PER_S")]
    at_frequency: Option<f64>,
}

/// How inputs are thought of between two steps.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum Method {
    /// Held: exact
    Zoh,
    /// The trapezoidal rule
    Tustin,
}

/// Prints optimal gains.
pub fn lqr(args: &LqrArgs) -> u8 {
    let weights = (|| {
        Ok::<_, String>(Weights {
            states: args.q.as_deref().map(numbers).transpose()?,
            inputs: args.r.as_deref().map(numbers).transpose()?,
            step: args.step,
        })
    })();
    let weights = match weights {
        Ok(weights) => weights,
        Err(message) => return call_error(message),
    };
    gains(&args.linear, |linear| control::regulator(linear, &weights))
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
    let linear = match args.linear.linearize_continuous() {
        Ok((_, linear)) => linear,
        Err(status) => return status,
    };
    let rule = match args.method {
        Method::Zoh if args.at_frequency.is_some() => {
            return call_error("--at-frequency belongs to --method tustin");
        }
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

fn numbers(text: &str) -> Result<Vec<f64>, String> {
    let each = text.split(',').map(|t| {
        let number: Option<f64> = t.trim().parse().ok();
        number
            .filter(|x| x.is_finite())
            .ok_or_else(|| format!("`{}` is no number", t.trim()))
    });
    each.collect()
}
