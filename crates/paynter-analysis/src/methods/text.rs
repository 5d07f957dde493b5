//! Prints how methods compare: for people, and as JSON.

use super::{MethodResult, MethodRun};
use paynter_design::design::Design;
use paynter_design::digits::significant;
use serde_json::{Value, json};
use std::fmt::Write as _;

/// The figures of all methods in a table, and by how much their curves differ.
pub fn to_text(design: &Design, runs: &[MethodRun]) -> String {
    let mut out = heading(design);
    let _ = writeln!(
        out,
        "\n  {:<11} {:>6} {:>8} {:>10} {:>10} {:>11} {:>11} {:>11} {:>9}  solver",
        "method",
        "states",
        "steps",
        "rhs",
        "time [ms]",
        "difference",
        "gap [m]",
        "gap [rad]",
        "energy"
    );

    for run in runs {
        let _ = match &run.result {
            Ok(result) => writeln!(out, "  {}", row(&run.method, result)),
            Err(_) => writeln!(out, "  {:<11} failed: see below", run.method),
        };
    }

    out.push_str(
        "\n  difference: largest to the first method, as a share of the column's largest value\n  \
         energy: what is not accounted for, as a share of what moved\n",
    );
    out.push_str(&differences(runs));
    for run in runs {
        let failure = run.result.as_ref().ok().and_then(|r| r.failure.as_ref());
        if let Some(why) = failure {
            let _ = writeln!(out, "  {} FAILED {why}", run.method);
        }
    }
    out
}

/// What is compared, and its bonds.
fn heading(design: &Design) -> String {
    let name = design.plan.name.as_deref().unwrap_or("(no experiment)");
    let graph = &design.graph;
    let mut groups: Vec<_> = graph.bonds.iter().filter_map(|b| b.part_of).collect();
    groups.iter_mut().for_each(|g| g.1 = 0);
    groups.sort_unstable();
    groups.dedup();
    let plain = graph.bonds.iter().filter(|b| b.part_of.is_none()).count();
    format!(
        "{name} of {}\n  bonds       {} scalar ones, {} as written\n",
        design.model,
        graph.bonds.len(),
        plain + groups.len()
    )
}

fn row(method: &str, result: &MethodResult) -> String {
    let number = |x: Option<f64>| x.map_or("–".to_owned(), |x| format!("{x:.1e}"));
    let gap = |is_turning: bool| {
        let alike = result.gaps.iter().find(|g| g.is_turning == is_turning);
        number(alike.map(|g| g.size))
    };
    format!(
        "{method:<11} {:>6} {:>8} {:>10} {:>10.1} {:>11} {:>11} {:>11} {:>9}  {}",
        result.states,
        result.steps,
        result.rhs,
        result.elapsed.as_secs_f64() * 1e3,
        number(result.worst_difference().map(|d| d.relative)),
        gap(false),
        gap(true),
        number(result.residual),
        result.solver,
    )
}

/// For each column by how much each method differs from the first.
fn differences(runs: &[MethodRun]) -> String {
    let compared: Vec<(&str, &MethodResult)> = runs
        .iter()
        .filter_map(|r| Some((r.method.as_str(), r.result.as_ref().ok()?)))
        .filter(|(_, r)| !r.differences.is_empty())
        .collect();
    let Some((_, first)) = compared.first() else {
        return String::new();
    };
    let heads: String = compared.iter().map(|c| format!(" {:>12}", c.0)).collect();
    let mut out = format!("\n  {:<24}{heads}\n", "column");
    for (k, column) in first.differences.iter().enumerate() {
        let label = match column.unit.as_str() {
            "" => column.column.clone(),
            unit => format!("{} [{unit}]", column.column),
        };
        let numbers: String = compared
            .iter()
            .map(|c| format!(" {:>12}", significant(c.1.differences[k].absolute, 2)))
            .collect();
        let _ = writeln!(out, "  {label:<24}{numbers}");
    }
    out
}

/// The whole comparison as JSON.
pub fn to_json(design: &Design, runs: &[MethodRun]) -> Value {
    json!({
        "model": design.model,
        "experiment": design.plan.name,
        "bonds": design.graph.bonds.len(),
        "methods": runs.iter().map(method).collect::<Vec<_>>(),
    })
}

fn method(run: &MethodRun) -> Value {
    let result = match &run.result {
        Ok(result) => result,
        Err(messages) => {
            let why: Vec<&str> = messages.iter().map(|m| m.message.as_str()).collect();
            return json!({ "method": run.method, "errors": why });
        }
    };
    let gaps = result.gaps.iter();
    let gaps = gaps.map(|g| json!({ "lock": g.lock, "size": g.size, "unit": g.unit() }));
    let differences = result.differences.iter().map(|d| {
        json!({
            "column": d.column, "unit": d.unit, "absolute": d.absolute, "relative": d.relative,
        })
    });
    json!({
        "method": run.method,
        "states": result.states,
        "steps": result.steps,
        "rhs": result.rhs,
        "jacobians": result.jacobians,
        "solver": result.solver,
        "seconds": result.elapsed.as_secs_f64(),
        "differences": differences.collect::<Vec<_>>(),
        "gaps": gaps.collect::<Vec<_>>(),
        "energy_residual": result.residual,
        "failure": result.failure,
    })
}
