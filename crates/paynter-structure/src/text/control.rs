//! Controllability and observability.

use super::shortened;
use crate::control::combination;
use crate::findings::{Cure, Findings, NumericRank, Sensors, Side, SideFindings};
use paynter::digits::significant;
use serde_json::{Value, json};
use std::fmt::Write as _;

/// Combinations of states that are shown.
const MOST_HIDDEN: usize = 8;
/// Lines of one list.
const MOST_LINES: usize = 40;

/// Prints findings for people.
pub fn control_text(found: &Findings) -> String {
    let mut out = String::new();
    for side in [&found.control, &found.observe].into_iter().flatten() {
        head_text(&mut out, side);
        hidden_text(&mut out, side);
        paths_text(&mut out, side);
        cures_text(&mut out, side);
        out.push('\n');
    }
    out + &beside(found)
}

/// One side without its paths.
pub fn verdict(side: &SideFindings) -> String {
    let mut out = String::new();
    head_text(&mut out, side);
    hidden_text(&mut out, side);
    cures_text(&mut out, side);
    out
}

/// What is said of both sides.
pub fn beside(found: &Findings) -> String {
    let mut out = String::new();
    if found.control.is_none() {
        out.push_str("nothing acts on this model: it has no input and no source; name an input with `--from`\n");
    }
    if found.observe.is_none() {
        out.push_str("nothing is measured in this model: name sensors with `--to`\n");
    } else if let Some(what) = match found.sensors {
        Sensors::Named => None,
        Sensors::Recorded => Some("what the experiment records is"),
        Sensors::AllStates => Some("all states are"),
    } {
        let _ = writeln!(
            out,
            "no sensors are named and the model has no outputs: {what} taken for measured; name sensors with `--to`"
        );
    }
    if !found.dependent.is_empty() {
        let _ = writeln!(
            out,
            "dependent storages (no states): {}",
            found.dependent.join(", ")
        );
    }
    match &found.hankel {
        Ok(values) => {
            let values: Vec<String> = values
                .iter()
                .take(MOST_LINES)
                .map(|v| format!("{v:.4e}"))
                .collect();
            let _ = writeln!(out, "Hankel singular values: {}", values.join(", "));
        }
        Err(why) => {
            let _ = writeln!(out, "no Hankel singular values: {why}");
        }
    }
    out
}

fn words(side: Side) -> (&'static str, &'static str, &'static str, &'static str) {
    match side {
        Side::Control => ("controllable", "from", "reached", "[A B]"),
        Side::Observe => ("observable", "by", "seen", "[A; C]"),
    }
}

fn head_text(out: &mut String, found: &SideFindings) {
    let (able, from, reached, matrix) = words(found.side);
    let ports = found.ports.join("`, `");
    let _ = match found.verdict() {
        Some(true) => writeln!(out, "{able} {from} `{ports}`"),
        Some(false) => writeln!(out, "not {able} {from} `{ports}`"),
        None => writeln!(
            out,
            "{able} {from} `{ports}` as far as paths tell: every state is {reached} by one, and no rank could be computed"
        ),
    };
    match &found.generic {
        Ok(reach) => {
            let _ = writeln!(
                out,
                "  structure: {} of {} states {reached}, rank {matrix} = {} (for almost all parameters)",
                reach.dimension, reach.order, reach.rank
            );
        }
        Err(why) => {
            let _ = writeln!(out, "  structure: no exact rank, since {why}");
        }
    }
    if let Some(causal) = &found.causal {
        let _ = write!(out, "  strokes:   rank {matrix} = {}", causal.rank);
        let _ = match causal.integral.is_empty() {
            true => writeln!(out, ", every storage takes derivative form"),
            false => writeln!(
                out,
                "; in integral form stay {}",
                causal.integral.join(", ")
            ),
        };
    }
    match &found.numeric {
        Ok(numeric) => {
            let _ = writeln!(
                out,
                "  numbers:   {} of {} directions {reached}, rank {matrix} = {}",
                numeric.dimension, numeric.order, numeric.rank
            );
            for hidden in numeric.hidden.iter().take(MOST_HIDDEN) {
                let _ = writeln!(out, "             not {reached}: {}", combination(hidden));
            }
            gramian_text(out, found.side, numeric);
        }
        Err(why) => {
            let _ = writeln!(out, "  numbers:   none, since {why}");
        }
    }
}

/// The diagonal of the Gramian, in words.
fn gramian_text(out: &mut String, side: Side, numeric: &NumericRank) {
    /// In larger models the list says nothing.
    const MOST_STATES: usize = 12;
    let Some((names, w)) = &numeric.gramian else {
        return;
    };
    if names.len() > MOST_STATES {
        return;
    }
    let entry = |k: usize| w[(k, k)].max(0.0);
    let list = names.iter().enumerate().map(|(k, name)| match side {
        Side::Control => format!("{name} {}", significant(entry(k).sqrt(), 3)),
        Side::Observe => format!("{name} {}", significant(entry(k), 3)),
    });
    let list: Vec<String> = list.collect();
    let what = match side {
        Side::Control => "inputs of unit energy push a state as far as",
        Side::Observe => "a state of size 1 gives the outputs the energy",
    };
    let _ = writeln!(out, "  Gramian:   {what} (SI): {}", list.join(", "));
}

fn hidden_text(out: &mut String, found: &SideFindings) {
    let Ok(reach) = &found.generic else { return };
    if reach.hidden.is_empty() {
        return;
    }
    let _ = writeln!(out, "  out of reach whatever the parameters are:");
    for states in reach.hidden.iter().take(MOST_LINES) {
        let names: Vec<&str> = states.iter().map(|&k| found.states[k].as_str()).collect();
        let _ = match names.len() {
            1 => writeln!(out, "    {}", names[0]),
            _ => writeln!(out, "    a combination of {}", names.join(", ")),
        };
    }
}

fn paths_text(out: &mut String, found: &SideFindings) {
    let width = found
        .paths
        .iter()
        .map(|p| p.name.chars().count())
        .max()
        .unwrap_or(0);
    let _ = writeln!(out, "  causal paths:");
    for state in found.paths.iter().take(MOST_LINES) {
        let pad = " ".repeat(width - state.name.chars().count());
        let _ = match &state.path {
            Some((n, path)) => writeln!(
                out,
                "    {}{pad}  {n} integration{}  {}",
                state.name,
                if *n == 1 { " " } else { "s" },
                shortened(path)
            ),
            None => writeln!(out, "    {}{pad}  none", state.name),
        };
    }
    if found.paths.len() > MOST_LINES {
        let n_without = found.unreached().count();
        let _ = writeln!(
            out,
            "    … {} states in all, {n_without} without a path (all with --json)",
            found.paths.len()
        );
    }
}

fn cures_text(out: &mut String, found: &SideFindings) {
    if found.cures.is_empty() {
        return;
    }
    let what = match found.side {
        Side::Control => "sources",
        Side::Observe => "sensors",
    };
    let _ = writeln!(out, "  fixed by additional {what}, best first:");
    for cure in &found.cures {
        let margin = match cure.margin {
            Some(m) if m < 1e-12 => "  (not with these numbers: they hide a mode)".to_owned(),
            Some(m) => format!("  margin {m:.2e}"),
            None => String::new(),
        };
        let _ = writeln!(out, "    {}{margin}", cure.add.join(" and "));
    }
}

/// Gives findings as JSON.
pub fn control_json(found: &Findings) -> Value {
    json!({
        "controllability": found.control.as_ref().map(side_json),
        "observability": found.observe.as_ref().map(side_json),
        "dependent": found.dependent,
        "hankel": found.hankel.as_ref().ok(),
        "no_hankel": found.hankel.as_ref().err(),
    })
}

fn side_json(found: &SideFindings) -> Value {
    let named = |states: &Vec<usize>| -> Vec<&String> {
        states.iter().map(|&k| &found.states[k]).collect()
    };
    let paths = found.paths.iter().map(|p| {
        json!({
            "state": p.name,
            "integrations": p.path.as_ref().map(|x| x.0),
            "path": p.path.as_ref().map(|x| &x.1),
        })
    });
    let generic = found.generic.as_ref().map(|reach| {
        json!({
            "order": reach.order,
            "rank": reach.rank,
            "dimension": reach.dimension,
            "hidden": reach.hidden.iter().map(named).collect::<Vec<_>>(),
        })
    });
    let numeric = found.numeric.as_ref().map(|numeric| {
        let hidden = numeric.hidden.iter().map(|weights| {
            let pairs = weights
                .iter()
                .map(|(name, weight)| (name.clone(), json!(weight)));
            Value::Object(pairs.collect())
        });
        json!({
            "order": numeric.order,
            "rank": numeric.rank,
            "dimension": numeric.dimension,
            "smallest_kept": finite(numeric.smallest_kept),
            "gramian": numeric.gramian.as_ref().map(|(names, w)| {
                let rows = (0..w.n_rows()).map(|i| w.row(i).to_vec());
                json!({ "states": names, "matrix": rows.collect::<Vec<_>>() })
            }),
            "hidden": hidden.collect::<Vec<_>>(),
        })
    });
    let cures = found
        .cures
        .iter()
        .map(|Cure { add, margin }| json!({ "add": add, "margin": margin }));
    json!({
        "ports": found.ports,
        "whole": found.verdict(),
        "states": found.states,
        "paths": paths.collect::<Vec<_>>(),
        "strokes": found.causal.as_ref().map(|c| json!({ "rank": c.rank, "integral": c.integral })),
        "structure": generic.as_ref().ok(),
        "no_structure": generic.as_ref().err(),
        "numbers": numeric.as_ref().ok(),
        "no_numbers": numeric.as_ref().err(),
        "cures": cures.collect::<Vec<_>>(),
    })
}

fn finite(x: f64) -> Option<f64> {
    x.is_finite().then_some(x)
}
