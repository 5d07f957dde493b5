//! Bicausal strokes in words.

use super::shortened;
use crate::bicausal::Bicausal;
use serde_json::{Value, json};
use std::fmt::Write as _;

/// Says along which lines effort and flow are passed on, and what is left to integrate.
pub fn bicausal_text(found: &Bicausal) -> String {
    let mut out = String::from("bicausal lines, from what is given to what is found\n");
    for line in &found.names {
        let _ = writeln!(out, "  {}", shortened(line));
    }
    let n = found.integral.len();
    let states = match n {
        0 => "the inverse has no states: all is algebra and differentiation".to_owned(),
        1 => format!("the inverse has 1 state: {}", found.integral[0]),
        _ => format!("the inverse has {n} states: {}", found.integral.join(", ")),
    };
    let _ = writeln!(out, "{states}");
    if !found.derivative.is_empty() {
        let _ = writeln!(out, "in derivative form: {}", found.derivative.join(", "));
    }
    out
}

/// Gives the same as JSON.
pub fn bicausal_json(found: &Bicausal) -> Value {
    json!({
        "lines": found.names,
        "integral": found.integral,
        "derivative": found.derivative,
    })
}
