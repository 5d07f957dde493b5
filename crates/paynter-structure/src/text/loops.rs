//! Loop gains of dependent storages.

use super::shortened;
use crate::loops::{Gain, Loops, Range};
use paynter::digits::significant;
use serde_json::{Value, json};
use std::fmt::Write as _;

/// Lists paths with their gains, the sums, and what delayed differentiation needs.
pub fn loops_text(found: &Loops) -> String {
    let mut out = String::new();
    if found.paths.is_empty() && found.unknown.is_empty() {
        return "no storage depends on another: there is no loop of class 1\n".to_owned();
    }
    out.push_str("loops of class 1: an independent storage, a dependent one, and back\n");
    for path in &found.paths {
        let _ = writeln!(out, "  {}", shortened(&path.through));
        gain_text(&mut out, &path.gain);
    }
    out.push_str("all loops of one independent storage\n");
    for (name, gain) in &found.totals {
        let _ = writeln!(out, "  {name}");
        gain_text(&mut out, gain);
    }
    for name in &found.unknown {
        let _ = writeln!(
            out,
            "no formula for `{name}`: it is a field, depends on one, or on a junction whose flow is a state"
        );
    }
    if let Some(together) = found.together {
        let _ = writeln!(out, "all loops together: {} in the run", range(together));
    }
    out.push_str(
        "differentiation delayed by a step is stable below 1 (Euler, Runge-Kutta 4), below 1/2 (Adams-Bashforth 2)\n",
    );
    out
}

fn gain_text(out: &mut String, gain: &Gain) {
    let _ = writeln!(out, "       gain {}", gain.formula);
    let mut ranges = Vec::new();
    if let Some(visited) = gain.visited {
        ranges.push(format!("{} in the run", range(visited)));
    }
    if let Some(angles) = gain
        .angles
        .filter(|&a| is_wide(a) || gain.visited.is_none())
    {
        let where_ = if is_wide(angles) {
            " over all angles"
        } else {
            ""
        };
        ranges.push(format!("{}{where_}", range(angles)));
    }
    if !ranges.is_empty() {
        let _ = writeln!(out, "       {}", ranges.join(", "));
    }
}

fn is_wide((low, high): Range) -> bool {
    high - low > 1e-12 * high.abs().max(low.abs())
}

fn range((low, high): Range) -> String {
    // The square of a cosine at a right angle is rounding.
    let low = if low.abs() < 1e-15 * high.abs() {
        0.0
    } else {
        low
    };
    match is_wide((low, high)) {
        true => format!("{} to {}", significant(low, 6), significant(high, 6)),
        false => significant(high, 6),
    }
}

/// Gives loops as JSON.
pub fn loops_json(found: &Loops) -> Value {
    let pair = |r: Option<Range>| r.map(|(low, high)| json!([low, high]));
    let gain = |g: &Gain| json!({ "formula": g.formula, "visited": pair(g.visited), "angles": pair(g.angles) });
    let paths = found.paths.iter().map(|p| {
        json!({
            "independent": p.independent, "dependent": p.dependent, "through": p.through,
            "gain": gain(&p.gain),
        })
    });
    let totals = found.totals.iter();
    let totals = totals.map(|(name, g)| json!({ "independent": name, "gain": gain(g) }));
    json!({
        "paths": paths.collect::<Vec<_>>(),
        "totals": totals.collect::<Vec<_>>(),
        "together": pair(found.together),
        "unknown": found.unknown,
    })
}
