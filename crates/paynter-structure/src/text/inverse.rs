//! The inputs that wanted outputs need.

use crate::inverse::{ActuatorPower, Inverse, complex};
use serde_json::{Value, json};
use std::fmt::Write as _;

/// Says what the inverse needs and gives.
pub fn inverse_text(found: &Inverse) -> String {
    let mut out = String::new();
    let times: Vec<String> = found.differentiations.iter().map(i64::to_string).collect();
    let (curves, s) = match &found.differentiations[..] {
        [1] => ("the target curve is", ""),
        [_] => ("the target curve is", "s"),
        _ => ("target curves are", "s"),
    };
    let _ = writeln!(out, "{curves} differentiated {} time{s}", times.join(", "));
    let upper = found.zeros.iter().filter(|z| z.im >= 0.0);
    let zeros: Vec<String> = upper.map(|z| complex(*z)).collect();
    let zeros = match zeros.is_empty() {
        true => "none".to_owned(),
        false => zeros.join(", "),
    };
    let _ = writeln!(out, "poles of the inverse (zeros of the model): {zeros}");
    for a in &found.actuators {
        let unit = if a.unit.is_empty() {
            String::new()
        } else {
            format!(" {}", a.unit)
        };
        let _ = writeln!(
            out,
            "`{}` from {:.6}{unit} to {:.6}{unit}",
            a.name, a.range.0, a.range.1
        );
        for p in &a.sources {
            let of = match a.name.split('.').next() == Some(&*p.source) {
                true => String::new(),
                false => format!(" of `{}`", p.source),
            };
            let parts = match p.taken > 0.0 {
                true => format!(" ({:.6} J given, {:.6} J taken back)", p.given, p.taken),
                false => String::new(),
            };
            let _ = writeln!(
                out,
                "  power{of} up to {:.6} W, back up to {:.6} W, energy {:.6} J{parts}",
                p.peak,
                p.braking,
                p.energy()
            );
        }
    }
    out
}

/// Gives the same as JSON.
pub fn inverse_json(found: &Inverse) -> Value {
    let actuators = found.actuators.iter().map(|a| {
        json!({
            "input": a.name,
            "unit": a.unit,
            "min": a.range.0,
            "max": a.range.1,
            "sources": a.sources.iter().map(power_json).collect::<Vec<_>>(),
        })
    });
    let columns = found
        .table
        .columns
        .iter()
        .map(|c| json!({ "name": c.name, "unit": c.unit, "values": c.values }));
    json!({
        "differentiations": found.differentiations,
        "zeros": found.zeros.iter().map(|z| [z.re, z.im]).collect::<Vec<_>>(),
        "actuators": actuators.collect::<Vec<_>>(),
        "time": found.table.time,
        "columns": columns.collect::<Vec<_>>(),
    })
}

fn power_json(p: &ActuatorPower) -> Value {
    json!({
        "source": p.source, "peak": p.peak, "back": p.braking, "energy": p.energy(),
        "given": p.given, "taken": p.taken,
    })
}
