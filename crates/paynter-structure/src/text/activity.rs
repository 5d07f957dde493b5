//! Activities, sizes of bonds, and a smaller model.

use super::columns;
use crate::activity::Activities;
use crate::reduce::{Change, ColumnError, Proposal};
use serde_json::{Value, json};
use std::fmt::Write as _;

/// Rows of a table.
const MOST_ROWS: usize = 60;

fn number(x: f64) -> String {
    match x == 0.0 || (1e-3..1e5).contains(&x.abs()) {
        true => format!("{x:.4}"),
        false => format!("{x:.3e}"),
    }
}

pub(super) fn percent(x: f64) -> String {
    format!("{:.3} %", 100.0 * x)
}

/// Prints activities for people: elements first, then bonds.
pub fn activity_text(found: &Activities) -> String {
    let (start, end) = found.span;
    let mut out = format!(
        "activity from {start} s to {end} s, {} J in all\n",
        number(found.total)
    );
    let mut rows: Vec<Vec<String>> = vec![
        ["element", "kind", "activity, J", "share", "sum"]
            .map(str::to_owned)
            .to_vec(),
    ];
    for e in found.elements.iter().take(MOST_ROWS) {
        let share = e.share.map(percent).unwrap_or_else(|| "source".to_owned());
        let sum = e.cumulative.map(percent).unwrap_or_default();
        rows.push(vec![
            e.name.clone(),
            e.kind.to_owned(),
            number(e.joules),
            share,
            sum,
        ]);
    }
    out.push_str(&columns(&rows));
    if found.elements.len() > MOST_ROWS {
        let _ = writeln!(
            out,
            "  … {} elements in all (all with --json)",
            found.elements.len()
        );
    }

    out.push_str("\npower of bonds, along the half arrow\n");
    let mut rows: Vec<Vec<String>> = vec![
        [
            "bond",
            "peak, W",
            "back, W",
            "mean, W",
            "moved, J",
            "effort rms",
            "flow rms",
        ]
        .map(str::to_owned)
        .to_vec(),
    ];
    let mut bonds: Vec<_> = found.bonds.iter().collect();
    bonds.sort_by(|a, b| b.peak.0.max(b.peak.1).total_cmp(&a.peak.0.max(a.peak.1)));
    for b in bonds.iter().take(MOST_ROWS) {
        let numbers = [b.peak.0, b.peak.1, b.mean, b.joules, b.effort, b.flow];
        let mut row = vec![b.name.clone()];
        row.extend(numbers.iter().map(|x| number(*x)));
        rows.push(row);
    }
    out.push_str(&columns(&rows));
    if bonds.len() > MOST_ROWS {
        let _ = writeln!(out, "  … {} bonds in all (all with --json)", bonds.len());
    }
    out
}

/// Gives activities as JSON.
pub fn activity_json(found: &Activities) -> Value {
    let elements = found.elements.iter().map(|e| {
        json!({ "name": e.name, "kind": e.kind, "joules": e.joules, "share": e.share, "sum": e.cumulative })
    });
    let bonds = found.bonds.iter().map(|b| {
        json!({
            "name": b.name, "peak": b.peak.0, "back": b.peak.1, "mean": b.mean,
            "joules": b.joules, "effort_rms": b.effort, "flow_rms": b.flow,
        })
    });
    json!({
        "start": found.span.0,
        "end": found.span.1,
        "total": found.total,
        "elements": elements.collect::<Vec<_>>(),
        "bonds": bonds.collect::<Vec<_>>(),
    })
}

fn change_text(change: Change) -> &'static str {
    match change {
        Change::Remove => "removed",
        Change::Rigid => "rigid: its junction stands still",
        Change::Ground => "grounded: its junction has no effort",
    }
}

/// Says what a smaller model leaves out and what error it makes; its text comes apart.
pub fn proposal_text(found: &Proposal) -> String {
    let mut out = format!("keeps {} of the activity\n", percent(found.activity));
    for e in &found.left_out {
        let _ = writeln!(
            out,
            "  {} at `{}`, {} of the activity: {}",
            e.name,
            e.junction,
            percent(e.share),
            change_text(e.change)
        );
    }
    for (name, why) in &found.kept {
        let _ = writeln!(out, "  {name} stays: {why}");
    }
    out.push_str(&errors_text(&found.errors));
    out
}

/// Lists what a smaller model errs by.
pub(super) fn errors_text(errors: &[ColumnError]) -> String {
    let mut out = "largest error of what is recorded, relative to its largest value\n".to_owned();
    for e in errors {
        let _ = writeln!(out, "  {}  {}", e.name, percent(e.worst));
    }
    out
}

pub(super) fn errors_json(errors: &[ColumnError]) -> Value {
    let finite = |x: f64| x.is_finite().then_some(x);
    let errors = errors.iter();
    errors
        .map(|e| json!({ "column": e.name, "worst": finite(e.worst) }))
        .collect()
}

/// Gives a smaller model as JSON.
pub fn proposal_json(found: &Proposal) -> Value {
    let left_out = found.left_out.iter().map(|e| {
        let change = match e.change {
            Change::Remove => "remove",
            Change::Rigid => "rigid",
            Change::Ground => "ground",
        };
        json!({ "name": e.name, "junction": e.junction, "change": change, "share": e.share })
    });
    json!({
        "text": found.text,
        "activity": found.activity,
        "left_out": left_out.collect::<Vec<_>>(),
        "kept": found.kept,
        "errors": errors_json(&found.errors),
    })
}
