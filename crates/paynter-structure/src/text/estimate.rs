//! Sizes of elements from data.

use crate::estimate::Estimates;
use crate::inverse::complex;
use paynter::model::units::format_number;
use serde_json::{Value, json};
use std::fmt::Write as _;

/// Says what was estimated.
pub fn estimates_text(found: &Estimates) -> String {
    let mut out = String::new();
    let time = &found.table.time;
    if let [first, .., last] = time.as_slice() {
        let _ = writeln!(out, "from {} rows, {first} s to {last} s", time.len());
    }
    for e in &found.list {
        let unit = match e.unit.as_str() {
            "" | "1" => String::new(),
            unit => format!(" {unit}"),
        };
        let given = e.given.map_or(String::new(), |x| {
            format!(", {}{unit} in the model", format_number(x))
        });
        let _ = writeln!(
            out,
            "`{}`: {} = {}{unit} ± {:.1e}{given}; its law leaves {:.1e} of the range over",
            e.element,
            e.kind,
            format_number(e.value),
            e.deviation,
            e.left_over
        );
    }
    let times: Vec<String> = found.differentiations.iter().map(i64::to_string).collect();
    let s = if times == ["1"] { "" } else { "s" };
    let _ = writeln!(
        out,
        "what is measured is differentiated {} time{s}",
        times.join(", ")
    );
    let upper = found.zeros.iter().filter(|z| z.im >= 0.0);
    let zeros: Vec<String> = upper.map(|z| complex(*z)).collect();
    if !zeros.is_empty() {
        let _ = writeln!(
            out,
            "poles of the estimator: {}; before they have died out, start values count",
            zeros.join(", ")
        );
    }
    out
}

/// Gives the same as JSON.
pub fn estimates_json(found: &Estimates) -> Value {
    let list = found.list.iter().map(|e| {
        json!({
            "element": e.element,
            "kind": e.kind,
            "value": e.value,
            "deviation": e.deviation,
            "model": e.given,
            "unit": e.unit,
            "left_over": e.left_over,
        })
    });
    json!({
        "estimates": list.collect::<Vec<_>>(),
        "differentiations": found.differentiations,
        "poles": found.zeros.iter().map(|z| [z.re, z.im]).collect::<Vec<_>>(),
    })
}
