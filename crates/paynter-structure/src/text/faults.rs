//! Faults and their signatures.

use super::columns;
use crate::faults::{FaultKind, Faults};
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

/// Prints the fault signature matrix and what it means.
pub fn faults_text(subject: &Subject<'_>, found: &Faults) -> String {
    let mut out = String::from("fault signatures (for almost all parameters)\n");
    let shown = &found.residuals[..found.residuals.len().min(MOST_RESIDUALS)];
    let mut head = vec!["fault".to_owned(), "of".to_owned()];
    head.extend((1..=shown.len()).map(|k| format!("r{k}")));
    head.extend(["shown".to_owned(), "alone".to_owned()]);
    let mut rows = vec![head];
    for (k, fault) in found.faults.iter().enumerate() {
        let mut row = vec![fault.name.clone(), kind(fault.kind).to_owned()];
        row.extend(shown.iter().map(|r| {
            let mark = if r.faults.contains(&k) { "1" } else { "0" };
            mark.to_owned()
        }));
        let yes = |is: bool| if is { "yes" } else { "no" }.to_owned();
        row.push(yes(fault.is_detectable));
        row.push(yes(fault.is_detectable && fault.same_as.is_empty()));
        rows.push(row);
    }
    out.push_str(&columns(&rows));
    if found.residuals.is_empty() {
        out.push_str("  the residuals are too many to list\n");
    }
    for (k, residual) in shown.iter().enumerate() {
        let _ = writeln!(
            out,
            "  r{} reads {}",
            k + 1,
            sensors(subject, &residual.sensors).join(", ")
        );
    }
    if found.residuals.len() > MOST_RESIDUALS {
        let _ = writeln!(
            out,
            "  … {} residuals in all (all with --json)",
            found.residuals.len()
        );
    }
    let mut told: Vec<usize> = Vec::new();
    for (k, fault) in found.faults.iter().enumerate() {
        if fault.same_as.is_empty() || told.contains(&k) {
            continue;
        }
        let group: Vec<usize> = std::iter::once(k)
            .chain(fault.same_as.iter().copied())
            .collect();
        let names: Vec<&str> = group
            .iter()
            .map(|&j| found.faults[j].name.as_str())
            .collect();
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
