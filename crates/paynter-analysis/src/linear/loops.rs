//! Margins of loops that are cut at a signal.
//!
//! In:  a design, and the signal at which its loop is cut.
//! Out: a [`LoopReport`]: gain, phase and delay margins of the loop, and whether it is stable closed;
//!      apart from that what `margin()` of a control toolbox gives for a closed-loop channel.
//!
//! The loop is cut in the linear model, not in the text: with w added to the signal s, the channel from w to s
//! is 1/(1 + L).

use super::augment::Entry;
use super::bode::{corners, decibel, response};
use super::operating_point::{At, PreparedPoint};
use super::poles::complex;
use super::text::{about_point, notes};
use super::{
    LinearError, LinearRequest, Linearization, in_steps, linearize, model_error, no_eigenvalues,
};
use paynter_design::code;
use paynter_design::compile::Compiled;
use paynter_design::design::Design;
use paynter_design::digits::significant;
use paynter_draw::plot::{Panel, Plot, Series};
use paynter_linear::{
    Channel, GainCrossing, Margins, Matrix, Mode, PhaseCrossing, Response, SampledModel, Sweep,
    Tick, frequency_sweep, margins, modes, zeros,
};
use paynter_model::experiment::{Column, Functional, Measure, Quantity};
use paynter_symbolic::{ExprId, SymbolId};
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
    let (linear, open) = cut_loop(design, compiled, cut, at)?;
    report_of(design, cut, linear, &open)
}

fn report_of(
    design: &Design,
    cut: &Quantity,
    linear: Linearization,
    open: &Channel,
) -> Result<LoopReport, LinearError> {
    let (sweep, margins) = crossings(design, open, linear.step())?;
    let growing = modes(&linear.model.a).map_err(|_| no_eigenvalues(design))?;
    let growing = growing.into_iter().filter(|m| linear.lasts(m)).collect();
    Ok(LoopReport {
        cut: cut.column.name.clone(),
        growing,
        sweep,
        margins,
        linear,
    })
}

/// The linear model with the loop closed, and L of the loop that is cut.
///
/// # Errors
///
/// As [`loop_margins`].
pub(super) fn cut_loop(
    design: &Design,
    compiled: &Compiled,
    cut: &Quantity,
    at: Option<f64>,
) -> Result<(Linearization, Channel), LinearError> {
    let mut request = cutting(design, cut, at);
    let mut linear = linearize(design, compiled, &request)?;
    if let Some(sampled) = &linear.sampled
        && reads_at_ticks(sampled, cut)?
    {
        request.looks_before = true;
        linear = linearize(design, compiled, &request)?;
    }
    let open = open_loop(design, &linear, cut)?;
    Ok((linear, open))
}

/// What is asked for to cut a loop: the channel from the signal to itself.
fn cutting(design: &Design, cut: &Quantity, at: Option<f64>) -> LinearRequest {
    LinearRequest {
        from: vec![cut.clone()],
        to: vec![cut.clone()],
        at,
        sampled: in_steps(design),
        is_injected: true,
        ..LinearRequest::default()
    }
}

/// L of the loop from the linear model that has it closed.
fn open_loop(
    design: &Design,
    linear: &Linearization,
    cut: &Quantity,
) -> Result<Channel, LinearError> {
    let name = &cut.column.name;
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
    Ok(open)
}

/// Tells whether what is cut is read by sampled blocks alone; else it must hold between their ticks, so that what is sent
/// in its place is held as well.
///
/// # Errors
///
/// It is neither: the loop there is no map from tick to tick.
fn reads_at_ticks(sampled: &SampledModel, cut: &Quantity) -> Result<bool, LinearError> {
    let is_zero = |m: &Matrix| m.column(0).iter().all(|&x| x == 0.0);
    let is_read_between = !is_zero(&sampled.b);
    let is_read_at_ticks = sampled.ticks.iter().any(|t| !is_zero(&t.entry));
    // Injected into a sampled line, it is set there: what others read is what the line holds.
    let sets = |t: &Tick| (0..sampled.n_plant).all(|i| t.entry[(i, 0)] == 0.0);
    let own_line = sampled.d[(0, 0)] == 0.0 && sampled.ticks.iter().all(sets);
    if own_line && !is_read_between {
        return Ok(false);
    }
    let moves = (0..sampled.n_plant).any(|j| sampled.c[(0, j)] != 0.0);
    match (is_read_between, is_read_at_ticks) {
        (false, true) => Ok(true),
        (true, false) if !moves => Ok(false),
        (false, false) => Ok(false),
        _ => Err(model_error(
            Diagnostic::error(
                code::SAMPLED_PATH,
                format!(
                    "the loop through `{}` is partly sampled and partly continuous: it has no margins there",
                    cut.column.name
                ),
            )
            .primary(cut.span, "cut here")
            .help("cut at what a sampled block sets, or at what only a sampled block reads"),
        )),
    }
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
            let (_, margins) = crossings(design, &model.channel(i, o), linear.step())?;
            found.push(ChannelMargins {
                name: format!("from {} to {}", input.name, output.name),
                margins,
            });
        }
    }
    Ok(found)
}

fn crossings(
    design: &Design,
    channel: &Channel,
    step: Option<f64>,
) -> Result<(Sweep, Margins), LinearError> {
    let response = response(channel, step);
    let mut corners = corners(design, channel, step)?;
    // An integrator crosses where its gain says, which may be far from every corner.
    let ends: Vec<f64> = corners.iter().map(|c| c.frequency).collect();
    let low = ends.iter().copied().reduce(f64::min).unwrap_or(1.0);
    let high = ends.iter().copied().reduce(f64::max).unwrap_or(1.0);
    let range = match response.highest_frequency() {
        None => reach(&response, (low / 100.0, high * 100.0)),
        // Steps show nothing beyond half a turn, and an integrator crosses below it wherever its gain says.
        Some(highest) => {
            let low = low.min(highest) / 100.0;
            (reach(&response, (low, highest / 10.0)).0, highest)
        }
    };
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
fn margins_in(measure: &Measure) -> Vec<ExprId> {
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

/// The signals at which measures of an experiment cut loops.
fn cuts_of_measures(design: &Design) -> Vec<Quantity> {
    let mut found: Vec<Quantity> = Vec::new();
    let dae = &design.graph.signals;
    for (own_name, span, measure) in design.plan.all_measures() {
        for value in margins_in(measure) {
            if found.iter().any(|f| f.column.value == value) {
                continue;
            }
            let name = dae.pool.as_symbol(value).map(|s| dae.name_of(s));
            let column = Column {
                name: name.unwrap_or_else(|| own_name.to_owned()),
                value,
                unit: None,
            };
            found.push(Quantity { column, span });
        }
    }
    found
}

/// Computes the margins that the measures of an experiment read, at its start or at rest.
pub(crate) fn margins_of_measures(
    design: &Design,
    compiled: &Compiled,
) -> Result<Vec<MeasuredMargins>, LinearError> {
    let cuts = cuts_of_measures(design).into_iter();
    let each = cuts.map(|cut| {
        let report = loop_margins(design, compiled, &cut, None)?;
        Ok((cut.column.value, report.measured()))
    });
    each.collect()
}

/// The loops whose margins measures read, compiled once for many values of parameters.
#[derive(Clone)]
pub(crate) struct LoopCuts {
    cuts: Vec<(Quantity, PreparedPoint)>,
}

impl LoopCuts {
    /// Compiles; none where other values of these parameters make other equations.
    ///
    /// # Errors
    ///
    /// As [`loop_margins`].
    pub(crate) fn new(
        design: &Design,
        compiled: &Compiled,
        varied: &[SymbolId],
    ) -> Result<Option<Self>, LinearError> {
        let mut cuts = Vec::new();
        for cut in cuts_of_measures(design) {
            let at = At {
                entry: Entry::Injected,
                sampled: in_steps(design),
                ..At::default()
            };
            let ends = std::slice::from_ref(&cut);
            let point = PreparedPoint::new((design, compiled), ends, ends, &at)?;
            if !varied.iter().all(|&s| point.can_vary(s)) {
                return Ok(None);
            }
            cuts.push((cut, point));
        }
        Ok(Some(LoopCuts { cuts }))
    }

    /// The margins at the start of the experiment, with these values of parameters.
    ///
    /// # Errors
    ///
    /// As [`loop_margins`].
    pub(crate) fn margins(
        &self,
        design: &Design,
        parameters: &[(SymbolId, f64)],
    ) -> Result<Vec<MeasuredMargins>, LinearError> {
        let each = self.cuts.iter().map(|(cut, point)| {
            let mut moved = point.clone().go(design, parameters)?;
            let mut request = cutting(design, cut, None);
            let mut linear = request.read_off(&mut moved, None)?;
            if let Some(sampled) = &linear.sampled
                && reads_at_ticks(sampled, cut)?
            {
                request.looks_before = true;
                linear = request.read_off(&mut moved, None)?;
            }
            let open = open_loop(design, &linear, cut)?;
            let report = report_of(design, cut, linear, &open)?;
            Ok((cut.column.value, report.measured()))
        });
        each.collect()
    }
}

impl LoopReport {
    /// Gain margin in dB and phase margin in rad as measures read them; none where the closed loop is not stable.
    fn measured(&self) -> Option<(f64, f64)> {
        // Without a crossing no gain and no lag, however large, takes the stability.
        self.is_stable().then(|| {
            (
                self.gain_margin().unwrap_or(f64::INFINITY),
                self.phase_margin().unwrap_or(f64::INFINITY),
            )
        })
    }

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
        out.push_str(&crossings_to_text(&self.margins, self.linear.step()));
        let what = match self.linear.step() {
            None => ("pole", " 1/s"),
            Some(_) => ("z =", ""),
        };
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
                "  closed loop   NOT STABLE: {}{} {}{}; the margins above do not apply",
                what.0,
                if slow.len() == 1 || self.linear.step().is_some() {
                    ""
                } else {
                    "s"
                },
                slow.join(", "),
                what.1
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
            "step": self.linear.step(),
            "margins": crossings_to_json(&self.margins),
            "notes": notes(&self.linear),
        })
    }
}

impl ChannelMargins {
    /// Writes what a toolbox would say, for people.
    pub fn to_text(&self) -> String {
        let mut out = format!(
            "closed loop {}, as `margin()` of a control toolbox evaluates it: these are not stability margins\n",
            self.name
        );
        out.push_str(&crossings_to_text(&self.margins, None));
        out
    }

    /// Writes what a toolbox would say, for machines.
    pub fn to_json(&self) -> Value {
        json!({"channel": self.name, "margins": crossings_to_json(&self.margins)})
    }
}

fn crossings_to_text(margins: &Margins, step: Option<f64>) -> String {
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
        let steps = step.map(|step| significant(c.delay_margin / step, 6));
        let steps = steps.map_or(String::new(), |n| format!(" = {n} steps"));
        let _ = writeln!(out, "  delay margin  {delay} s{steps} {}", at(c.omega));
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
