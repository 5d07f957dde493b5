//! `paynter compare-methods`: one model under every treatment of its locks.

use crate::console::{MODEL_WRONG, OK, RUN_FAILED, design, interruption, show};
use crate::{ModelArgs, say};
use clap::Args;
use paynter::Design;
use paynter::digits::significant;
use paynter::methods::{MethodResult, MethodRun, all_methods, compare_methods as compare};
use std::ops::ControlFlow;
use std::sync::atomic::Ordering;

/// Which experiment.
#[derive(Args)]
pub struct CompareMethodsArgs {
    #[command(flatten)]
    model: ModelArgs,
}

/// Runs all methods and prints their figures.
pub fn compare_methods(args: &CompareMethodsArgs) -> u8 {
    let json = args.model.json;
    let design = match design(&args.model) {
        Ok(design) => design,
        Err(status) => return status,
    };
    let is_interrupted = interruption();
    let methods = all_methods(&design);
    let runs = compare(&design, &methods, &mut |_| {
        if is_interrupted.load(Ordering::Relaxed) {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    });
    if json {
        say!("{}", to_json(&design, &runs));
    } else {
        print(&design, &runs);
    }
    status(&design, &runs, json)
}

/// 0 if all runs came to their end; else the first failure decides.
fn status(design: &Design, runs: &[MethodRun], json: bool) -> u8 {
    let mut status = OK;
    for run in runs {
        match &run.result {
            Err(messages) => {
                if !json {
                    show(&design.failed(messages.clone()), json);
                }
                return MODEL_WRONG;
            }
            Ok(result) if result.failure.is_some() => status = RUN_FAILED,
            Ok(_) => {}
        }
    }
    status
}

fn print(design: &Design, runs: &[MethodRun]) {
    let name = design.plan.name.as_deref().unwrap_or("(no experiment)");
    let graph = &design.graph;
    say!("{name} of {}", design.model);
    let mut groups: Vec<_> = graph.bonds.iter().filter_map(|b| b.part_of).collect();
    groups.iter_mut().for_each(|g| g.1 = 0);
    groups.sort_unstable();
    groups.dedup();
    let plain = graph.bonds.iter().filter(|b| b.part_of.is_none()).count();
    say!(
        "  bonds       {} scalar ones, {} as written",
        graph.bonds.len(),
        plain + groups.len()
    );
    say!(
        "\n  {:<11} {:>6} {:>8} {:>10} {:>10} {:>11} {:>11} {:>11} {:>9}  {}",
        "method",
        "states",
        "steps",
        "rhs",
        "time [ms]",
        "difference",
        "gap [m]",
        "gap [rad]",
        "energy",
        "solver"
    );
    for run in runs {
        match &run.result {
            Ok(result) => say!("  {}", row(&run.method, result)),
            Err(_) => say!("  {:<11} has no run: see below", run.method),
        }
    }
    say!("\n  difference: largest to the first method, as a share of the column's largest value");
    say!("  energy: what is not accounted for, as a share of what moved");
    print_differences(runs);
    for run in runs {
        if let Ok(MethodResult {
            failure: Some(why), ..
        }) = &run.result
        {
            say!("  {} FAILED {why}", run.method);
        }
    }
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
fn print_differences(runs: &[MethodRun]) {
    let compared: Vec<(&str, &MethodResult)> = runs
        .iter()
        .filter_map(|r| Some((r.method.as_str(), r.result.as_ref().ok()?)))
        .filter(|(_, r)| !r.differences.is_empty())
        .collect();
    let Some((_, first)) = compared.first() else {
        return;
    };
    let heads: String = compared.iter().map(|c| format!(" {:>12}", c.0)).collect();
    say!("\n  {:<24}{heads}", "column");
    for (k, column) in first.differences.iter().enumerate() {
        let label = match column.unit.as_str() {
            "" => column.column.clone(),
            unit => format!("{} [{unit}]", column.column),
        };
        let numbers: String = compared
            .iter()
            .map(|c| format!(" {:>12}", significant(c.1.differences[k].absolute, 2)))
            .collect();
        say!("  {label:<24}{numbers}");
    }
}

fn to_json(design: &Design, runs: &[MethodRun]) -> String {
    let methods: Vec<serde_json::Value> = runs.iter().map(method_to_json).collect();
    serde_json::json!({
        "model": design.model,
        "experiment": design.plan.name,
        "bonds": design.graph.bonds.len(),
        "methods": methods,
    })
    .to_string()
}

fn method_to_json(run: &MethodRun) -> serde_json::Value {
    let result = match &run.result {
        Ok(result) => result,
        Err(messages) => {
            let why: Vec<&str> = messages.iter().map(|m| m.message.as_str()).collect();
            return serde_json::json!({ "method": run.method, "errors": why });
        }
    };
    let gaps: Vec<serde_json::Value> = result
        .gaps
        .iter()
        .map(|g| serde_json::json!({ "lock": g.lock, "size": g.size, "unit": g.unit() }))
        .collect();
    let differences: Vec<serde_json::Value> = result
        .differences
        .iter()
        .map(|d| {
            serde_json::json!({
                "column": d.column, "unit": d.unit, "absolute": d.absolute, "relative": d.relative,
            })
        })
        .collect();
    serde_json::json!({
        "method": run.method,
        "states": result.states,
        "steps": result.steps,
        "rhs": result.rhs,
        "jacobians": result.jacobians,
        "solver": result.solver,
        "seconds": result.elapsed.as_secs_f64(),
        "differences": differences,
        "gaps": gaps,
        "energy_residual": result.residual,
        "failure": result.failure,
    })
}
