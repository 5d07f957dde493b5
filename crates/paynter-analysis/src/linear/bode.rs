//! Frequency responses.
//!
//! In:  a [`Linearization`], and a range where one is asked for.
//! Out: [`Bode`]: one curve for each channel on a grid that resolves its resonances; as figures to
//!      read, CSV, JSON and a plot.

use super::text::{about_point, notes, per};
use super::{LinearError, Linearization, no_eigenvalues};
use paynter_design::design::Design;
use paynter_design::digits::significant;
use paynter_draw::plot::{Panel, Plot, Series};
use paynter_linear::{Channel, Complex, Corner, Response, Sweep, frequency_sweep, modes, zeros};
use serde_json::{Value, json};
use std::fmt::Write as _;

/// The frequency responses of a linear model, in the units of its inputs and outputs.
#[derive(Clone, Debug)]
pub struct Bode {
    /// For each channel: input, output, its response.
    pub channels: Vec<BodeChannel>,
}

/// The frequency response of one channel.
#[derive(Clone, Debug)]
pub struct BodeChannel {
    /// `G from Gc`.
    pub name: String,
    /// The unit of the gain; empty for a plain number.
    pub unit: String,
    /// The curve.
    pub sweep: Sweep,
    /// The gain at zero frequency; none where it has no finite one.
    pub at_rest: Option<f64>,
    /// The largest gain: frequency in rad/s, gain.
    pub peak: Option<(f64, f64)>,
    /// Where the gain has fallen by 3 dB from that at rest, rad/s.
    pub bandwidth: Option<f64>,
}

/// A channel made ready, of a model in steps where a step is given.
pub(super) fn response(channel: &Channel, step: Option<f64>) -> Response {
    match step {
        None => Response::new(channel),
        Some(step) => Response::in_steps(channel, step),
    }
}

/// The corners of a channel: its poles that pass into it, and its zeros. Those of a model in steps are where
/// e^{sT} is such a root.
pub(super) fn corners(
    design: &Design,
    channel: &Channel,
    step: Option<f64>,
) -> Result<Vec<Corner>, LinearError> {
    if let Some(step) = step {
        return corners_in_steps(design, channel, step);
    }
    let failed = |_| no_eigenvalues(design);
    let poles = modes(&channel.a).map_err(failed)?;
    let poles = poles.iter().filter(|m| !m.is_at_zero()).map(|m| m.pole);
    let zeros = zeros(channel).map_err(failed)?.unwrap_or_default();
    // A zero that is at zero but for rounding would stretch the range without end.
    let poles: Vec<Complex> = poles.collect();
    let slowest = poles.iter().map(|p| p.norm()).reduce(f64::min);
    let fastest = poles.iter().map(|p| p.norm()).reduce(f64::max);
    let is_seen = |z: &Complex| match (slowest, fastest) {
        (Some(low), Some(high)) => (1e-3 * low..=1e3 * high).contains(&z.norm()),
        _ => true,
    };
    let zeros = zeros.into_iter().filter(is_seen);
    Ok(poles
        .iter()
        .copied()
        .chain(zeros)
        .filter_map(Corner::of)
        .collect())
}

fn corners_in_steps(
    design: &Design,
    channel: &Channel,
    step: f64,
) -> Result<Vec<Corner>, LinearError> {
    let failed = |_| no_eigenvalues(design);
    let poles = modes(&channel.a).map_err(failed)?;
    let zeros = zeros(channel).map_err(failed)?.unwrap_or_default();
    let roots = poles.iter().map(|m| m.pole).chain(zeros);
    // A root at 1 but for rounding is an integrator, which has no corner.
    let root = |z: Complex| {
        let is_integrator = (z - Complex::new(1.0, 0.0)).norm() < 1e-9;
        (z.norm() > 0.0 && !is_integrator).then(|| logarithm(z, step))
    };
    Ok(roots.filter_map(root).filter_map(Corner::of).collect())
}

/// s with e^{sT} = z.
pub(super) fn logarithm(z: Complex, step: f64) -> Complex {
    Complex::new(z.norm().ln() / step, z.im.atan2(z.re) / step)
}

/// Computes the frequency responses of all channels; `range` in rad/s.
///
/// # Errors
///
/// As for the poles.
pub fn bode(
    design: &Design,
    linear: &Linearization,
    range: Option<(f64, f64)>,
) -> Result<Bode, LinearError> {
    let model = linear.in_units();
    let mut channels = Vec::new();
    for (o, output) in linear.outputs.iter().enumerate() {
        for (i, input) in linear.inputs.iter().enumerate() {
            let channel = model.channel(i, o);
            let response = response(&channel, linear.step());
            let corners = corners(design, &channel, linear.step())?;
            let range = range.or_else(|| range_in_steps(&response, &corners));
            let sweep = frequency_sweep(&response, &corners, range);
            let unit = per(&output.unit, &input.unit);
            let at_rest = Some(response.at_rest()).filter(|g| g.is_finite());
            channels.push(BodeChannel {
                name: format!("{} from {}", output.name, input.name),
                unit,
                peak: peak(&response, &sweep),
                bandwidth: at_rest.and_then(|g| bandwidth(&response, &sweep, g)),
                at_rest,
                sweep,
            });
        }
    }
    Ok(Bode { channels })
}

/// Up to what steps can show, from a decade below the slowest corner, or three below where there is none.
fn range_in_steps(response: &Response, corners: &[Corner]) -> Option<(f64, f64)> {
    let highest = response.highest_frequency()?;
    let slowest = corners.iter().map(|c| c.frequency).reduce(f64::min);
    let slowest = slowest.unwrap_or(highest / 100.0).min(highest);
    let low = 10.0_f64.powf((slowest / 10.0).log10().floor());
    Some((low, highest))
}

/// The largest gain. Between the frequencies beside the largest one computed it is narrowed down by golden sections.
fn peak(response: &Response, sweep: &Sweep) -> Option<(f64, f64)> {
    let gain = |k: usize| sweep.values[k].norm();
    let computed = (0..sweep.omega.len()).filter(|&k| gain(k).is_finite());
    let k = computed.max_by(|&a, &b| gain(a).total_cmp(&gain(b)).then(b.cmp(&a)))?;
    let mut best = (sweep.omega[k], gain(k));
    let is_inside = k > 0 && k + 1 < sweep.omega.len();
    if !is_inside {
        return Some(best);
    }

    const GOLDEN: f64 = 0.618_033_988_749_895;
    // The gain near its peak is flat: half the digits of the frequency are all there are.
    const NARROW: f64 = 1e-9;
    let (mut low, mut high) = (sweep.omega[k - 1].ln(), sweep.omega[k + 1].ln());
    let at = |x: f64| response.at_frequency(x.exp()).norm();
    let (mut left, mut right) = (high - GOLDEN * (high - low), low + GOLDEN * (high - low));
    let (mut gain_left, mut gain_right) = (at(left), at(right));

    while high - low > NARROW {
        if gain_left > gain_right {
            (high, right, gain_right) = (right, left, gain_left);
            left = high - GOLDEN * (high - low);
            gain_left = at(left);
        } else {
            (low, left, gain_left) = (left, right, gain_right);
            right = low + GOLDEN * (high - low);
            gain_right = at(right);
        }
    }

    let middle = 0.5 * (low + high);
    if at(middle) > best.1 {
        best = (middle.exp(), at(middle));
    }
    Some(best)
}

/// The first frequency at which the gain is 3 dB below that at rest, by bisection.
fn bandwidth(response: &Response, sweep: &Sweep, at_rest: f64) -> Option<f64> {
    let limit = at_rest.abs() / 2.0_f64.sqrt();
    let falls = |k: &usize| sweep.values[k - 1].norm() >= limit && sweep.values[*k].norm() < limit;
    let k = (1..sweep.omega.len()).find(falls)?;
    let (mut low, mut high) = (sweep.omega[k - 1], sweep.omega[k]);
    loop {
        let middle = (low * high).sqrt();
        if !(middle > low && middle < high) {
            return (limit > 0.0).then_some(high);
        }
        if response.at_frequency(middle).norm() >= limit {
            low = middle;
        } else {
            high = middle;
        }
    }
}

/// 20 log₁₀ |z|.
pub(super) fn decibel(gain: f64) -> f64 {
    20.0 * gain.log10()
}

impl Bode {
    /// Puts the name of an experiment before those of the channels.
    pub fn call_after(&mut self, experiment: &str) {
        for channel in &mut self.channels {
            channel.name = format!("{experiment}: {}", channel.name);
        }
    }

    /// Draws gains above phases.
    pub fn plot(&self, title: &str) -> Plot {
        let curve = |of: &dyn Fn(&BodeChannel) -> Vec<f64>| -> Vec<Series> {
            let channels = self.channels.iter();
            let series = channels.map(|c| Series {
                name: match c.unit.as_str() {
                    "" => c.name.clone(),
                    unit => format!("{} [{unit}]", c.name),
                },
                x: c.sweep.omega.clone(),
                y: of(c),
                ..Series::default()
            });
            series.collect()
        };

        let gains = |c: &BodeChannel| c.sweep.values.iter().map(|z| decibel(z.norm())).collect();
        let phases = |c: &BodeChannel| c.sweep.phase.iter().map(|p| p.to_degrees()).collect();
        let panel = |y_label: &str, series: Vec<Series>, is_y_angle: bool| Panel {
            y_label: y_label.to_owned(),
            x_label: "frequency [rad/s]".to_owned(),
            series,
            is_x_logarithmic: true,
            is_y_angle,
            ..Panel::default()
        };

        Plot {
            title: title.to_owned(),
            panels: vec![
                panel("gain [dB]", curve(&gains), false),
                panel("phase [deg]", curve(&phases), true),
            ],
        }
    }

    /// Writes one row per frequency and channel: `channel,omega,gain_dB,phase_deg,re,im`.
    pub fn to_csv(&self) -> String {
        let mut out = String::from("channel,omega_rad_per_s,gain_dB,phase_deg,re,im\n");
        for channel in &self.channels {
            let sweep = &channel.sweep;
            for k in 0..sweep.omega.len() {
                let z = sweep.values[k];
                let _ = writeln!(
                    out,
                    "{},{:?},{:?},{:?},{:?},{:?}",
                    super::text::quoted(&channel.name),
                    sweep.omega[k],
                    decibel(z.norm()),
                    sweep.phase[k].to_degrees(),
                    z.re,
                    z.im
                );
            }
        }
        out
    }

    /// Writes the figures to read off for people.
    pub fn to_text(&self, linear: &Linearization) -> String {
        let mut out = format!("{}\n", about_point(linear));
        for channel in &self.channels {
            let _ = writeln!(out, "\n{}", channel.name);
            let gain = |g: f64| {
                let own = format!("{} {}", significant(g, 6), channel.unit);
                // What rounding leaves of a gain of one.
                let db = Some(decibel(g.abs())).filter(|db| db.abs() > 1e-9);
                let db = significant(db.unwrap_or(0.0), 5);
                format!("{} = {db} dB", own.trim_end())
            };
            match channel.at_rest {
                Some(g) => {
                    let _ = writeln!(out, "  at rest    {}", gain(g));
                }
                None => out.push_str("  at rest    no finite gain\n"),
            }
            // A gain that only falls is largest at rest, wherever the range begins.
            let rises = |g: f64| channel.at_rest.is_none_or(|rest| g > 1.001 * rest.abs());
            if let Some((omega, g)) = channel.peak.filter(|p| rises(p.1)) {
                let omega = significant(omega, 6);
                let _ = writeln!(out, "  max        {} at {omega} rad/s", gain(g));
            }
            if let Some(omega) = channel.bandwidth {
                let hertz = significant(omega / std::f64::consts::TAU, 5);
                let omega = significant(omega, 6);
                let _ = writeln!(
                    out,
                    "  bandwidth  {omega} rad/s = {hertz} Hz (3 dB below that at rest)"
                );
            }
            let (low, high) = (channel.sweep.omega.first(), channel.sweep.omega.last());
            if let (Some(low), Some(high)) = (low, high) {
                let _ = writeln!(
                    out,
                    "  computed   at {} frequencies from {} to {} rad/s",
                    channel.sweep.omega.len(),
                    significant(*low, 4),
                    significant(*high, 4)
                );
            }
        }

        for note in notes(linear) {
            let _ = writeln!(out, "\nnote: {note}");
        }
        out
    }

    /// Writes everything for machines.
    pub fn to_json(&self, linear: &Linearization) -> Value {
        let channel = |c: &BodeChannel| {
            json!({
                "name": c.name,
                "unit": c.unit,
                "at_rest": c.at_rest,
                "peak": c.peak,
                "bandwidth": c.bandwidth,
                "omega": c.sweep.omega,
                "gain_dB": c.sweep.values.iter().map(|z| decibel(z.norm())).collect::<Vec<_>>(),
                "phase_deg": c.sweep.phase.iter().map(|p| p.to_degrees()).collect::<Vec<_>>(),
                "re": c.sweep.values.iter().map(|z| z.re).collect::<Vec<_>>(),
                "im": c.sweep.values.iter().map(|z| z.im).collect::<Vec<_>>(),
            })
        };
        json!({
            "time": linear.time,
            "is_at_rest": linear.is_at_rest(),
            "channels": self.channels.iter().map(channel).collect::<Vec<_>>(),
            "notes": notes(linear),
        })
    }
}
