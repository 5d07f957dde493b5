//! Faults and their signatures.

use super::columns;
use crate::balances::{Balance, BalanceOnData};
use crate::faults::{FaultKind, Faults, Residual};
use crate::subject::Subject;
use serde_json::{Value, json};
use std::fmt::Write as _;

/// Residuals that are shown.
const MOST_RESIDUALS: usize = 24;

fn kind(kind: FaultKind) -> &'static str {
    match kind {
        FaultKind::Element => "element",
        FaultKind::Input => "input",
        FaultKind::Sensor => "sensor",
    }
}

fn sensors(subject: &Subject<'_>, list: &[usize]) -> Vec<String> {
    let names = list.iter().map(|&k| subject.ask.to[k].column.name.clone());
    names.collect()
}

/// The fault signature matrix as a table.
fn signatures(found: &Faults, shown: &[Residual]) -> String {
    let mut head = vec!["fault".to_owned(), "of".to_owned()];
    head.extend((1..=shown.len()).map(|k| format!("#{k}")));
    head.extend(["shown".to_owned(), "alone".to_owned()]);
    let mut rows = vec![head];
    for (k, fault) in found.faults.iter().enumerate() {
        let mark = |r: &Residual| if r.faults.contains(&k) { "1" } else { "0" }.to_owned();
        let yes = |is: bool| if is { "yes" } else { "no" }.to_owned();
        let mut row = vec![fault.name.clone(), kind(fault.kind).to_owned()];
        row.extend(shown.iter().map(mark));
        row.push(yes(fault.is_detectable));
        row.push(yes(fault.is_detectable && fault.same_as.is_empty()));
        rows.push(row);
    }
    columns(&rows)
}

/// Prints the fault signature matrix and what it means.
pub fn faults_text(subject: &Subject<'_>, found: &Faults) -> String {
    let mut out = String::from("fault signatures (for almost all parameters)\n");
    let shown = &found.residuals[..found.residuals.len().min(MOST_RESIDUALS)];
    out.push_str(&signatures(found, shown));
    if found.residuals.is_empty() {
        out.push_str("  the residuals are too many to list\n");
    }
    for (k, residual) in shown.iter().enumerate() {
        let read = sensors(subject, &residual.sensors).join(", ");
        let _ = writeln!(out, "  #{} reads {read}", k + 1);
    }
    if found.residuals.len() > MOST_RESIDUALS {
        let n = found.residuals.len();
        let _ = writeln!(out, "  … {n} residuals in all (all with --json)");
    }

    let mut told: Vec<usize> = Vec::new();
    for (k, fault) in found.faults.iter().enumerate() {
        if fault.same_as.is_empty() || told.contains(&k) {
            continue;
        }
        let mut group = vec![k];
        group.extend(&fault.same_as);
        let names = group.iter().map(|&j| found.faults[j].name.as_str());
        let names: Vec<&str> = names.collect();
        let _ = writeln!(out, "not told apart: {}", names.join(", "));
        told.extend(group);
    }
    if !found.sensors.is_empty() {
        let _ = writeln!(
            out,
            "further sensors that help most, in sets of {}:",
            found.sensors[0].add.len()
        );
        for set in &found.sensors {
            let _ = writeln!(
                out,
                "  {}: {} element and input faults hidden, {} pairs alike",
                set.add.join(" and "),
                set.n_hidden,
                set.n_alike
            );
        }
    }
    out
}

/// Gives the same as JSON.
pub fn faults_json(subject: &Subject<'_>, found: &Faults) -> Value {
    let name = |k: &usize| found.faults[*k].name.clone();
    let faults = found.faults.iter().map(|f| {
        json!({
            "name": f.name,
            "of": kind(f.kind),
            "detectable": f.is_detectable,
            "isolable": f.is_detectable && f.same_as.is_empty(),
            "same_as": f.same_as.iter().map(name).collect::<Vec<_>>(),
        })
    });
    let residuals = found.residuals.iter().map(|r| {
        json!({
            "faults": r.faults.iter().map(name).collect::<Vec<_>>(),
            "sensors": sensors(subject, &r.sensors),
        })
    });
    let sets = found
        .sensors
        .iter()
        .map(|s| json!({ "add": s.add, "hidden": s.n_hidden, "alike": s.n_alike }));
    json!({
        "faults": faults.collect::<Vec<_>>(),
        "residuals": residuals.collect::<Vec<_>>(),
        "further_sensors": sets.collect::<Vec<_>>(),
    })
}

/// Prints which faults change the balance at each sensor.
pub fn balances_text(subject: &Subject<'_>, found: &[Balance]) -> String {
    let mut out = String::from("balances at the sensors, which run on data (`--data`)\n");
    for b in found {
        let sensor = &subject.ask.to[b.sensor].column.name;
        let _ = writeln!(
            out,
            "  {} (from `{sensor}`) shows {}",
            b.junction,
            b.faults.join(", ")
        );
    }
    out
}

/// A balance beyond this part of what is balanced is worth a look: interpolation and filters of sensors make less.
const OFF: f64 = 0.02;

/// Prints balances on data.
pub fn balances_on_text(found: &[BalanceOnData]) -> String {
    let mut out = String::from("balances on the data\n");
    for b in found {
        let part = b.worst / b.scale.max(f64::MIN_POSITIVE);
        let off = if part > OFF { "  out of balance" } else { "" };
        let _ = writeln!(
            out,
            "  {}: up to {:.4e}, {:.3} % of what is balanced there{off}",
            b.junction,
            b.worst,
            100.0 * part
        );
    }
    out
}

/// Gives balances as JSON.
pub fn balances_json(subject: &Subject<'_>, found: &[Balance]) -> Value {
    let list = found.iter().map(|b| {
        json!({ "junction": b.junction, "sensor": subject.ask.to[b.sensor].column.name, "faults": b.faults })
    });
    Value::Array(list.collect())
}

/// Gives balances on data as JSON.
pub fn balances_on_json(found: &[BalanceOnData]) -> Value {
    let list = found
        .iter()
        .map(|b| json!({ "junction": b.junction, "worst": b.worst, "scale": b.scale }));
    Value::Array(list.collect())
}
