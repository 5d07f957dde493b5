//! Margins of loops that are cut at a signal.
//!
//! In:  a design, and the signal at which its loop is cut.
//! Out: a [`LoopReport`]: gain, phase and delay margins of the loop, and whether it is stable closed;
//!      apart from that what `margin()` of a control toolbox gives for a closed-loop channel.
//!
//! The loop is cut in the linear model, not in the text: with w added to the signal s, the channel from w to s
//! is 1/(1 + L).

use super::bode::{corners, decibel};
use super::poles::complex;
use super::text::{about_point, notes};
use super::{Ask, LinearError, Linearization, linearize, model_error, no_eigenvalues};
use crate::code;
use crate::compile::Compiled;
use crate::design::Design;
use crate::digits::significant;
use paynter_draw::plot::{Panel, Plot, Series};
use paynter_linear::{
    Channel, GainCrossing, Margins, Mode, PhaseCrossing, Response, Sweep, frequency_sweep, margins,
    modes, zeros,
};
use paynter_model::experiment::{Column, Functional, Measure, Quantity};
use paynter_symbolic::{ExprId, Role};
use paynter_syntax::Diagnostic;
use serde_json::{Value, json};
use std::fmt::Write as _;

/// The margins of one loop.
#[derive(Clone, Debug)]
pub struct LoopReport {
    /// The signal at which it is cut.
    pub cut: String,
    /// The linear model with the loop closed.
    pub linear: Linearization,
    /// L on a grid.
    pub sweep: Sweep,
    /// Its crossings.
    pub margins: Margins,
    /// Poles of the closed loop that do not decay.
    pub growing: Vec<Mode>,
}

/// Margins that a toolbox reads off the response of a channel as if it were a loop.
#[derive(Clone, Debug)]
pub struct ChannelMargins {
    /// `from Gc to G`.
    pub name: String,
    /// Its crossings.
    pub margins: Margins,
}

/// Cuts the loop at a signal.
///
/// # Errors
///
/// No linear form, or no loop at this signal.
pub fn loop_margins(
    design: &Design,
    compiled: &Compiled,
    cut: &Quantity,
    at: Option<f64>,
) -> Result<LoopReport, LinearError> {
    let name = &cut.column.name;
    let dae = &design.graph.signals;
    let symbol = dae.pool.as_symbol(cut.column.value);
    if symbol.is_some_and(|s| matches!(dae.symbol(s).role, Role::Discrete { .. })) {
        return Err(model_error(
            Diagnostic::error(
                code::SAMPLED_PATH,
                format!("the loop through `{name}` passes a sampled block"),
            )
            .primary(cut.span, "changes at its ticks only")
            .help("a sampled loop has other margins; look at it with a continuous controller in its place"),
        ));
    }
    let ask = Ask {
        from: vec![cut.clone()],
        to: vec![cut.clone()],
        at,
        is_open: false,
    };
    let linear = linearize(design, compiled, &ask)?;
    let closed = linear.model.channel(0, 0);
    let no_loop = |message: String, help: &str| {
        let message = Diagnostic::error(code::NO_LOOP, message);
        model_error(message.primary(cut.span, "cut here").help(help))
    };
    let Ok(open) = closed.cut() else {
        return Err(no_loop(
            format!("the loop cannot be cut at `{name}`: it follows its own rate"),
            "cut at another signal of the loop",
        ));
    };
    if zeros(&open).map_err(|_| no_eigenvalues(design))?.is_none() {
        return Err(no_loop(
            format!("nothing comes back to `{name}`: it is in no loop"),
            "cut at a signal that the rest of the model reads and that depends on what it does there, such as what a controller gives",
        ));
    }
    let (sweep, margins) = crossings(design, &open)?;
    let growing = modes(&closed.a).map_err(|_| no_eigenvalues(design))?;
    let growing = growing
        .into_iter()
        .filter(|m| m.pole.re >= 0.0 || m.is_at_zero());
    Ok(LoopReport {
        cut: name.clone(),
        growing: growing.collect(),
        sweep,
        margins,
        linear,
    })
}

/// Reads margins off a closed-loop channel as a toolbox's `margin()` does.
///
/// # Errors
///
/// As for the poles.
pub fn channel_margins(
    design: &Design,
    linear: &Linearization,
) -> Result<Vec<ChannelMargins>, LinearError> {
    let model = linear.in_units();
    let mut found = Vec::new();
    for (o, output) in linear.outputs.iter().enumerate() {
        for (i, input) in linear.inputs.iter().enumerate() {
            let (_, margins) = crossings(design, &model.channel(i, o))?;
            found.push(ChannelMargins {
                name: format!("from {} to {}", input.name, output.name),
                margins,
            });
        }
    }
    Ok(found)
}

fn crossings(design: &Design, channel: &Channel) -> Result<(Sweep, Margins), LinearError> {
    let response = Response::new(channel);
    let mut corners = corners(design, channel)?;
    // An integrator crosses where its gain says, which may be far from every corner.
    let ends: Vec<f64> = corners.iter().map(|c| c.frequency).collect();
    let low = ends.iter().copied().reduce(f64::min).unwrap_or(1.0);
    let high = ends.iter().copied().reduce(f64::max).unwrap_or(1.0);
    let range = reach(&response, (low / 100.0, high * 100.0));
    corners.retain(|c| c.frequency.is_finite());
    let sweep = frequency_sweep(&response, &corners, Some(range));
    let margins = margins(&response, &sweep);
    Ok((sweep, margins))
}

/// Widens a range until the gain does not cross one beyond its ends.
fn reach(response: &Response, (mut low, mut high): (f64, f64)) -> (f64, f64) {
    // The gain beyond the corners is a power of the frequency: twelve decades show every crossing.
    const DECADES: usize = 12;
    let gain = |w: f64| response.at_frequency(w).norm();
    let slope_low = gain(low) - gain(low / 10.0);
    for _ in 0..DECADES {
        let g = gain(low);
        let towards_one = (g < 1.0 && slope_low < 0.0) || (g > 1.0 && slope_low > 0.0);
        if !towards_one || !g.is_finite() {
            break;
        }
        low /= 10.0;
    }
    let slope_high = gain(high * 10.0) - gain(high);
    for _ in 0..DECADES {
        let g = gain(high);
        let towards_one = (g < 1.0 && slope_high > 0.0) || (g > 1.0 && slope_high < 0.0);
        if !towards_one || !g.is_finite() {
            break;
        }
        high *= 10.0;
    }
    (low, high)
}

/// Margins of the loop at a signal, as measures give them: gain in dB, phase in rad; none where the closed
/// loop is not stable.
pub(crate) type MeasuredMargins = (ExprId, Option<(f64, f64)>);

/// The signals whose margins a measure reads.
pub(crate) fn margins_in(measure: &Measure) -> Vec<ExprId> {
    let mut found = Vec::new();
    let mut open = vec![measure];
    while let Some(measure) = open.pop() {
        match measure {
            Measure::Of(Functional::GainMargin(x) | Functional::PhaseMargin(x)) => found.push(*x),
            Measure::Of(_) | Measure::Constant(_) | Measure::Earlier(_) => {}
            Measure::Negative(a) | Measure::Call1(_, a) => open.push(a),
            Measure::Arithmetic(_, a, b) | Measure::Call2(_, a, b) => open.extend([&**a, &**b]),
        }
    }
    found
}

/// Computes the margins that the measures of an experiment read, at its start or at rest.
pub(crate) fn margins_of_measures(
    design: &Design,
    compiled: &Compiled,
) -> Result<Vec<MeasuredMargins>, LinearError> {
    let mut found: Vec<MeasuredMargins> = Vec::new();
    for (own_name, span, measure) in design.plan.all_measures() {
        for x in margins_in(measure) {
            if found.iter().any(|f| f.0 == x) {
                continue;
            }
            let dae = &design.graph.signals;
            let name = dae.pool.as_symbol(x).map(|s| dae.name_of(s));
            let cut = Quantity {
                column: Column {
                    name: name.unwrap_or_else(|| own_name.to_owned()),
                    value: x,
                    unit: None,
                },
                span,
            };
            let report = loop_margins(design, compiled, &cut, None)?;
            // Without a crossing no gain and no lag, however large, takes the stability.
            let margins = report.is_stable().then(|| {
                (
                    report.gain_margin().unwrap_or(f64::INFINITY),
                    report.phase_margin().unwrap_or(f64::INFINITY),
                )
            });
            found.push((x, margins));
        }
    }
    Ok(found)
}

impl LoopReport {
    /// Tells whether the closed loop decays.
    pub fn is_stable(&self) -> bool {
        self.growing.is_empty()
    }

    /// The gain margin, dB: how much more gain the loop bears. None where no gain, however large,
    /// takes its stability, or where it has none.
    pub fn gain_margin(&self) -> Option<f64> {
        let own = self.margins.gain_margin()?;
        self.is_stable().then(|| decibel(own.gain_margin))
    }

    /// The phase margin, rad, as [`LoopReport::gain_margin`].
    pub fn phase_margin(&self) -> Option<f64> {
        let own = self.margins.phase_margin()?;
        self.is_stable().then_some(own.phase_margin)
    }

    /// Draws the loop's gain and phase, with its crossings marked.
    pub fn plot(&self, title: &str) -> Plot {
        let series = |y: Vec<f64>| Series {
            name: format!("loop cut at {}", self.cut),
            x: self.sweep.omega.clone(),
            y,
            ..Series::default()
        };
        let gains = self.sweep.values.iter().map(|z| decibel(z.norm()));
        let phases = self.sweep.phase.iter().map(|p| p.to_degrees());
        let panel = |y_label: &str, y: Vec<f64>, marks: Vec<f64>, is_y_angle| Panel {
            y_label: y_label.to_owned(),
            x_label: "frequency [rad/s]".to_owned(),
            series: vec![series(y)],
            marks,
            is_x_logarithmic: true,
            is_y_angle,
            ..Panel::default()
        };
        let gain_marks = self
            .margins
            .gain_crossings
            .iter()
            .map(|c| c.omega)
            .collect();
        let phase_marks = self
            .margins
            .phase_crossings
            .iter()
            .map(|c| c.omega)
            .collect();
        Plot {
            title: title.to_owned(),
            panels: vec![
                panel("gain [dB]", gains.collect(), gain_marks, false),
                panel("phase [deg]", phases.collect(), phase_marks, true),
            ],
        }
    }

    /// Writes the margins for people.
    pub fn to_text(&self) -> String {
        let mut out = format!(
            "{}\n\nloop cut at {}\n",
            about_point(&self.linear),
            self.cut
        );
        out.push_str(&crossings_to_text(&self.margins));
        let slow: Vec<String> = self
            .growing
            .iter()
            .filter(|m| m.pole.im >= 0.0)
            .map(|m| match m.is_at_zero() {
                true => "0".to_owned(),
                false => complex(m.pole, 0.0),
            })
            .collect();
        let _ = match slow.is_empty() {
            true => writeln!(out, "  closed loop   stable"),
            false => writeln!(
                out,
                "  closed loop   NOT STABLE: pole{} {} 1/s; the margins above are no margins",
                if slow.len() == 1 { "" } else { "s" },
                slow.join(", ")
            ),
        };
        for note in notes(&self.linear) {
            let _ = writeln!(out, "\nnote: {note}");
        }
        out
    }

    /// Writes the margins for machines.
    pub fn to_json(&self) -> Value {
        json!({
            "cut": self.cut,
            "time": self.linear.time,
            "is_at_rest": self.linear.is_at_rest(),
            "is_stable": self.is_stable(),
            "margins": crossings_to_json(&self.margins),
            "notes": notes(&self.linear),
        })
    }
}

impl ChannelMargins {
    /// Writes what a toolbox would say, for people.
    pub fn to_text(&self) -> String {
        let mut out = format!(
            "closed loop {}, read as `margin()` of a control toolbox reads it: no margins of stability\n",
            self.name
        );
        out.push_str(&crossings_to_text(&self.margins));
        out
    }

    /// Writes what a toolbox would say, for machines.
    pub fn to_json(&self) -> Value {
        json!({"channel": self.name, "margins": crossings_to_json(&self.margins)})
    }
}

fn crossings_to_text(margins: &Margins) -> String {
    let mut out = String::new();
    let at = |omega: f64| format!("at {} rad/s", significant(omega, 7));
    match margins.gain_margin() {
        Some(c) => {
            let db = significant(decibel(c.gain_margin), 6);
            let _ = writeln!(out, "  gain margin   {db} dB {}", at(c.omega));
        }
        None => out.push_str("  gain margin   none: no more gain brings it to -1\n"),
    }
    if let Some(c) = margins.gain_reduction() {
        let db = significant(decibel(c.gain_margin), 6);
        let _ = writeln!(out, "  and down to   {db} dB {}", at(c.omega));
    }
    match margins.phase_margin() {
        Some(c) => {
            let degrees = significant(c.phase_margin.to_degrees(), 6);
            let _ = writeln!(out, "  phase margin  {degrees} deg {}", at(c.omega));
        }
        None => out.push_str("  phase margin  none: the gain never crosses 1\n"),
    }
    if let Some(c) = margins.delay_margin() {
        let delay = significant(c.delay_margin, 6);
        let _ = writeln!(out, "  delay margin  {delay} s {}", at(c.omega));
    }
    let n = (margins.gain_crossings.len(), margins.phase_crossings.len());
    if n.0 > 1 || n.1 > 1 {
        let _ = writeln!(
            out,
            "  crossings     {} of gain 1, {} of phase -180 deg; the nearest are shown (all with --json)",
            n.0, n.1
        );
    }
    out
}

fn crossings_to_json(margins: &Margins) -> Value {
    let gain = |c: &GainCrossing| json!({"omega": c.omega, "phase_margin_deg": c.phase_margin.to_degrees(), "delay_margin": c.delay_margin});
    let phase = |c: &PhaseCrossing| json!({"omega": c.omega, "gain_margin": c.gain_margin, "gain_margin_dB": decibel(c.gain_margin)});
    json!({
        "gain_margin_dB": margins.gain_margin().map(|c| decibel(c.gain_margin)),
        "gain_reduction_dB": margins.gain_reduction().map(|c| decibel(c.gain_margin)),
        "phase_margin_deg": margins.phase_margin().map(|c| c.phase_margin.to_degrees()),
        "delay_margin": margins.delay_margin().map(|c| c.delay_margin),
        "gain_crossings": margins.gain_crossings.iter().map(gain).collect::<Vec<_>>(),
        "phase_crossings": margins.phase_crossings.iter().map(phase).collect::<Vec<_>>(),
    })
}
