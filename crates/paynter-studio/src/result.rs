//! A finished run as the page gets it.
//!
//! In:  the outcome of a run.
//! Out: a [`Shown`]: head and whole curves, kept for zooming; a frame of what is seen of them.

use crate::frame::{Curve, frame, seen, strided};
use paynter::Design;
use paynter::audit::Audit;
use paynter::draw::plot::{Panel, Plot};
use paynter::experiment::Outcome;
use paynter::simulate::Ending;
use paynter::symbolic::dae::EnergyRole;
use paynter::syntax::{Diagnostic, Severity};
use serde_json::{Value, json};

/// Points of a phase plot at most.
const MAX_PHASE_POINTS: usize = 20_000;

/// A panel with its whole curves.
#[derive(Clone, Debug)]
pub struct ShownPanel {
    title: String,
    unit: String,
    x_label: String,
    is_phase: bool,
    is_log: bool,
    series: Vec<(String, bool, bool, Curve)>,
}

/// A result as it is shown.
#[derive(Clone, Debug)]
pub struct Shown {
    /// Everything but the panels.
    head: Value,
    panels: Vec<ShownPanel>,
    /// First and last time.
    pub span: (f64, f64),
}

/// What a run was asked for, and how long it took.
#[derive(Clone, Debug)]
pub struct Made<'m> {
    /// Its number.
    pub run: u64,
    /// Its file.
    pub path: &'m str,
    /// A slider was moving.
    pub rough: bool,
    /// From text to equations, ms.
    pub compile_ms: f64,
}

/// A run that has no outcome yet.
#[derive(Clone, Debug)]
pub struct Begun {
    head: Value,
    span: (f64, f64),
}

impl Begun {
    /// What is known of a run before it ends.
    pub fn new(design: &Design, made: &Made<'_>) -> Self {
        Begun {
            span: (design.plan.start, design.plan.stop),
            head: json!({
                "run": made.run, "purpose": "run", "path": made.path, "model": design.model,
                "experiment": design.plan.name.clone().unwrap_or_default(),
                "measures": [], "comparisons": [], "audit": null, "ending": "", "complete": false, "underWay": true,
                "messages": [], "events": [],
                "stats": { "method": "", "steps": 0, "rtol": design.plan.rtol, "ms": 0, "compileMs": made.compile_ms },
                "rough": made.rough,
            }),
        }
    }
}

impl Shown {
    /// Makes what is shown of an outcome.
    pub fn new(design: &Design, outcome: &Outcome, made: &Made<'_>) -> Self {
        let run = &outcome.run;
        let panels = outcome
            .plots
            .iter()
            .flat_map(|p| &p.panels)
            .flat_map(split_sides)
            .collect();
        let measures: Vec<Value> = outcome
            .measures
            .iter()
            .map(|m| json!({ "name": m.name, "value": m.value.filter(|v| v.is_finite()), "unit": m.unit }))
            .collect();
        let comparisons: Vec<Value> = outcome
            .comparisons
            .iter()
            .map(|c| json!({ "path": c.path, "worst": finite(c.result.worst()), "within": c.within, "good": c.is_good() }))
            .collect();
        let mut messages = outcome.warnings.clone();
        if let Ending::Failed {
            why: diagnostics, ..
        } = &run.ending
        {
            messages.extend(diagnostics.iter().cloned());
        }
        let statistics = &run.statistics;
        let method = statistics
            .method()
            .map_or(String::new(), |m| m.name().to_owned());
        Shown {
            span: (design.plan.start, design.plan.stop),
            panels,
            head: json!({
                "run": made.run, "purpose": "run", "path": made.path, "model": design.model,
                "experiment": design.plan.name.clone().unwrap_or_default(),
                "measures": measures, "comparisons": comparisons,
                "audit": run.audit.as_ref().map(audit),
                "ending": ending(&run.ending),
                "complete": matches!(run.ending, Ending::Reached | Ending::Stopped { .. }),
                "messages": messages.iter().map(message).collect::<Vec<_>>(),
                "events": run.event_times.iter().take(500).collect::<Vec<_>>(),
                "stats": {
                    "method": method, "steps": statistics.steps, "rtol": design.plan.rtol,
                    "ms": 1e3 * run.elapsed.as_secs_f64(), "compileMs": made.compile_ms,
                },
                "rough": made.rough,
            }),
        }
    }

    /// Makes what is shown of a run that goes on: its curves so far.
    pub fn so_far(begun: &Begun, plots: &[Plot]) -> Self {
        let panels = plots.iter().flat_map(|p| &p.panels).flat_map(split_sides);
        Shown {
            span: begun.span,
            panels: panels.collect(),
            head: begun.head.clone(),
        }
    }

    /// Makes a result of named curves over time, such as the power of each bond.
    pub fn of_curves(purpose: &str, path: &str, title: &str, curves: Vec<(String, Curve)>) -> Self {
        let ends = curves
            .first()
            .and_then(|(_, c)| c.x.first().copied().zip(c.x.last().copied()));
        let panel = ShownPanel {
            title: title.to_owned(),
            unit: String::new(),
            x_label: "time [s]".to_owned(),
            is_phase: false,
            is_log: false,
            series: curves
                .into_iter()
                .map(|(name, curve)| (name, false, false, curve))
                .collect(),
        };
        Shown {
            head: json!({ "run": 0, "purpose": purpose, "path": path }),
            panels: vec![panel],
            span: ends.unwrap_or((0.0, 0.0)),
        }
    }

    /// Makes a result of pictures that are not runs.
    pub fn of_plots(head: Value, plots: &[Plot]) -> Self {
        let panels = plots.iter().flat_map(|p| &p.panels).flat_map(split_sides);
        Shown {
            head,
            panels: panels.collect(),
            span: (0.0, 0.0),
        }
    }

    /// The number of the run.
    pub fn run(&self) -> u64 {
        self.head["run"].as_u64().unwrap_or(0)
    }

    /// Writes the frame of what is seen of a span of time, in so many pixels.
    pub fn frame(&self, purpose: Option<&str>, range: Option<(f64, f64)>, width: usize) -> Vec<u8> {
        let mut curves = Vec::new();
        let mut panels = Vec::new();
        for panel in &self.panels {
            let mut series = Vec::new();
            for (name, is_reference, is_held, curve) in &panel.series {
                let shown = match panel.is_phase {
                    true => strided(curve, MAX_PHASE_POINTS),
                    false => seen(curve, range, width),
                };
                series.push(json!({ "name": name, "reference": is_reference, "held": is_held, "n": shown.x.len() }));
                curves.push(shown);
            }
            panels.push(json!({
                "title": panel.title, "unit": panel.unit, "xLabel": panel.x_label, "isPhase": panel.is_phase, "isLog": panel.is_log, "series": series,
            }));
        }
        let mut head = self.head.clone();
        let (from, to) = self.span;
        if let Some(fields) = head.as_object_mut() {
            fields.insert("panels".to_owned(), Value::Array(panels));
            fields.insert("from".to_owned(), json!(from));
            fields.insert("to".to_owned(), json!(to));
            if let Some(purpose) = purpose {
                fields.insert("purpose".to_owned(), json!(purpose));
            }
        }
        frame(&head, &curves)
    }
}

/// A panel with two axes becomes two panels.
fn split_sides(panel: &Panel) -> Vec<ShownPanel> {
    use paynter::draw::plot::Side;
    let sides = [
        (Side::Left, &panel.y_label),
        (Side::Right, &panel.right_label),
    ];
    let mut found = Vec::new();
    for (side, label) in sides {
        let own: Vec<_> = panel.series.iter().filter(|s| s.side == side).collect();
        if own.is_empty() {
            continue;
        }
        // `[m]` is a unit, `gain [dB]` names the quantity as well, `imaginary` has no unit.
        let (quantity, unit) = match label.strip_suffix(']').and_then(|l| l.split_once('[')) {
            Some((quantity, unit)) => (quantity.trim(), unit),
            None => (label.as_str(), ""),
        };
        // A curve alone is named with its unit, which stands at the axis anyway.
        let bare = |name: &str| {
            name.strip_suffix(label.as_str())
                .map_or(name.to_owned(), |n| n.trim().to_owned())
        };
        let names: Vec<String> = own
            .iter()
            .filter(|s| !s.is_reference)
            .map(|s| bare(&s.name))
            .collect();
        let series = own.iter().map(|s| {
            let curve = Curve {
                x: s.x.clone(),
                y: s.y.clone(),
            };
            (bare(&s.name), s.is_reference, s.is_held, curve)
        });
        found.push(ShownPanel {
            title: match quantity.is_empty() {
                true => names.join(", "),
                false => format!("{quantity} of {}", names.join(", ")),
            },
            unit: unit.to_owned(),
            x_label: panel.x_label.clone(),
            is_phase: panel.x_label != "time [s]",
            is_log: panel.is_x_logarithmic,
            series: series.collect(),
        });
    }
    found
}

fn finite(x: f64) -> f64 {
    if x.is_finite() { x } else { f64::MAX }
}

fn audit(audit: &Audit) -> Value {
    let role = |r: EnergyRole| match r {
        EnergyRole::Source => "source",
        EnergyRole::Dissipator => "loss",
        EnergyRole::Storage => "storage",
        EnergyRole::Unpowered | EnergyRole::Conserving => "other",
    };
    let elements = audit
        .elements
        .iter()
        .filter(|e| e.1 != EnergyRole::Conserving);
    let elements: Vec<Value> = elements
        .map(|(name, r, energy)| json!({ "name": name, "role": role(*r), "energy": energy }))
        .collect();
    json!({
        "supplied": audit.supplied, "dissipated": audit.dissipated, "stored": audit.stored, "unpowered": audit.unpowered,
        "jumps": audit.jumps, "residual": audit.residual, "allowed": audit.allowed, "elements": elements,
    })
}

fn ending(ending: &Ending) -> String {
    match ending {
        Ending::Reached => "reached".to_owned(),
        Ending::Stopped { time, message } => format!("stopped at {time} s: {message}"),
        Ending::Cancelled { time } => format!("cancelled at {time} s"),
        Ending::Failed { time, .. } => format!("failed at {time} s"),
    }
}

/// A message about a run; its place in the text is given by the messages of the text.
pub fn message(d: &Diagnostic) -> Value {
    let severity = match d.severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Note => "note",
    };
    json!({
        "code": d.code, "severity": severity, "text": d.message, "at": null, "others": [], "facts": d.notes, "help": d.help, "fixes": [],
    })
}
