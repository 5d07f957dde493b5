//! Step responses of linear models.
//!
//! In:  a [`Linearization`], and for how long.
//! Out: [`Steps`]: every output after a step of one unit of each input, exact at every point.

use super::bode::response as response_of;
use super::text::{about_point, notes};
use super::{LinearError, Linearization, no_eigenvalues};
use paynter_design::design::Design;
use paynter_design::digits::significant;
use paynter_draw::plot::{Plot, Series, panels_by_unit};
use paynter_linear::{Mode, StepResponse, modes, step_horizon, step_response};
use paynter_run::measure::Curve;
use paynter_run::table::{Column, Table};
use serde_json::{Value, json};
use std::fmt::Write as _;

/// Points of a step response.
const POINTS: usize = 1000;

/// Outputs after steps of inputs.
#[derive(Clone, Debug)]
pub struct Steps {
    /// s
    pub time: Vec<f64>,
    /// For each input and output its curve.
    pub curves: Vec<StepCurve>,
}

/// One output after a step of one input by one of its units.
#[derive(Clone, Debug)]
pub struct StepCurve {
    /// `G from Gc`.
    pub name: String,
    /// The unit of the output.
    pub unit: String,
    /// `1 deg of cmd`.
    pub step: String,
    /// In the unit of the output, as change from the point.
    pub values: Vec<f64>,
    /// Where it settles; none where it does not.
    pub settles_at: Option<f64>,
    /// It follows the rate of the input: an impulse at time 0 is not shown.
    pub has_impulse: bool,
}

/// Computes the step responses of all channels, over a time in s where one is given.
///
/// # Errors
///
/// As for the poles.
pub fn steps(
    design: &Design,
    linear: &Linearization,
    horizon: Option<f64>,
) -> Result<Steps, LinearError> {
    let failed = |_| no_eigenvalues(design);
    let model = linear.in_units();
    let modes = modes(&model.a).map_err(failed)?;
    let is_stable = !modes.iter().any(|m| linear.lasts(m));
    let horizon = match (horizon, linear.step()) {
        (Some(horizon), _) => horizon,
        (None, Some(step)) => round_up(horizon_in_steps(&modes, step)),
        (None, None) => {
            let own: Result<Vec<f64>, _> = (0..linear.inputs.len())
                .map(|i| step_horizon(&model, i))
                .collect();
            let longest = own.map_err(failed)?.into_iter().reduce(f64::max);
            round_up(longest.unwrap_or(1.0))
        }
    };

    let mut found = Steps {
        time: Vec::new(),
        curves: Vec::new(),
    };
    for (i, input) in linear.inputs.iter().enumerate() {
        let response = match &linear.sampled {
            None => step_response(&model, i, horizon, POINTS),
            Some(sampled) => in_units(linear, i, sampled.step_response(i, horizon, POINTS)),
        };
        found.time = response.time;
        for (o, (output, values)) in linear.outputs.iter().zip(response.outputs).enumerate() {
            let channel = model.channel(i, o);
            let at_rest = response_of(&channel, linear.step()).at_rest();
            found.curves.push(StepCurve {
                name: format!("{} from {}", output.name, input.name),
                unit: output.unit.clone(),
                step: format!("1 {} of {}", input.unit, input.name).replace("1  of", "1 of"),
                settles_at: Some(at_rest).filter(|x| is_stable && x.is_finite()),
                has_impulse: channel.d.len() > 1,
                values,
            });
        }
    }
    Ok(found)
}

/// Until the slowest mode has ended, or has grown by as much: e⁻⁶ is 0.25 %.
fn horizon_in_steps(modes: &[Mode], step: f64) -> f64 {
    let slowest = modes
        .iter()
        .map(|m| m.pole.norm().ln().abs())
        .filter(|rate| *rate > 1e-9 && rate.is_finite())
        .reduce(f64::min);
    let steps = slowest.map_or(10.0, |rate| (6.0 / rate).clamp(10.0, 1e5));
    steps * step
}

/// From SI to the units of an input and the outputs.
fn in_units(linear: &Linearization, input: usize, mut response: StepResponse) -> StepResponse {
    for (values, output) in response.outputs.iter_mut().zip(&linear.outputs) {
        let factor = linear.inputs[input].factor / output.factor;
        values.iter_mut().for_each(|y| *y *= factor);
    }
    response
}

/// The next 1, 2 or 5 times a power of ten: times that read well on an axis.
fn round_up(x: f64) -> f64 {
    let power = 10.0_f64.powf(x.log10().floor());
    let factor = [1.0, 2.0, 5.0, 10.0]
        .into_iter()
        .find(|f| f * power >= x * 0.999);
    factor.unwrap_or(10.0) * power
}

impl Steps {
    /// The curves as a table.
    pub fn table(&self) -> Table {
        let columns = self.curves.iter().map(|c| Column {
            name: c.name.clone(),
            unit: c.unit.clone(),
            values: c.values.clone(),
        });
        Table {
            time: self.time.clone(),
            columns: columns.collect(),
            ..Table::default()
        }
    }

    /// Draws the curves.
    pub fn plot(&self, title: &str) -> Plot {
        let curves = self.curves.iter().map(|c| {
            let series = Series {
                name: c.name.clone(),
                x: self.time.clone(),
                y: c.values.clone(),
                ..Series::default()
            };
            (series, c.unit.clone())
        });
        Plot {
            title: title.to_owned(),
            panels: panels_by_unit(curves.collect(), "time [s]", &[]),
        }
    }

    /// Writes the figures to read off for people.
    pub fn to_text(&self, linear: &Linearization) -> String {
        let mut out = format!("{}\n", about_point(linear));
        let horizon = self.time.last().copied().unwrap_or(0.0);
        for curve in &self.curves {
            let _ = writeln!(out, "\n{} after a step of {}", curve.name, curve.step);
            let with_unit = |x: f64| {
                let text = format!("{} {}", significant(x, 7), curve.unit);
                text.trim_end().to_owned()
            };
            let own = Curve::new(&self.time, &curve.values);
            if curve.has_impulse {
                out.push_str(
                    "  at once     an impulse, since it follows the rate of the input; not shown\n",
                );
            }
            let Some(target) = curve.settles_at else {
                let last = curve.values.last().copied().unwrap_or(0.0);
                let _ = writeln!(
                    out,
                    "  settles     nowhere; {} after {} s",
                    with_unit(last),
                    significant(horizon, 6)
                );
                continue;
            };
            let _ = writeln!(out, "  settles at  {}", with_unit(target));
            let percent = |part: Option<f64>| part.filter(|p| *p > 1e-9).map(|p| 100.0 * p);
            if let Some(rise) = own.rise_time(0.1, 0.9, target) {
                let _ = writeln!(
                    out,
                    "  rise        {} s from 10 % to 90 %",
                    significant(rise, 6)
                );
            }
            if let Some(over) = percent(own.overshoot(target)) {
                let _ = writeln!(out, "  overshoot   {} %", significant(over, 5));
            }
            if let Some(under) = percent(own.undershoot(target)) {
                let _ = writeln!(out, "  undershoot  {} %", significant(under, 5));
            }
        }

        let _ = writeln!(out, "\ncomputed over {} s", significant(horizon, 6));
        for note in notes(linear) {
            let _ = writeln!(out, "\nnote: {note}");
        }
        out
    }

    /// Writes everything for machines.
    pub fn to_json(&self, linear: &Linearization) -> Value {
        let curve = |c: &StepCurve| {
            json!({
                "name": c.name, "unit": c.unit, "step": c.step,
                "settles_at": c.settles_at, "has_impulse": c.has_impulse, "values": c.values,
            })
        };
        json!({
            "is_at_rest": linear.is_at_rest(),
            "time": self.time,
            "curves": self.curves.iter().map(curve).collect::<Vec<_>>(),
            "notes": notes(linear),
        })
    }
}
