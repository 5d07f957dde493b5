//! The points of a sweep as a table, as JSON and as text.
//!
//! In:  a design with sweeps, and points that have run.
//! Out: one row for each point, in the order given; a point that failed has its reason beside the table.

use crate::sweep::{CANCELLED, Point, SharedWarning};
use paynter_design::design::Design;
use paynter_design::digits::significant;
use paynter_design::sweeps::{is_numeric, target_name};
use paynter_model::experiment::SweepTarget;
use paynter_run::table::{Column, Table};

/// Puts the points into a table: one row each.
pub fn to_table(design: &Design, points: &[Point]) -> Table {
    let mut table = Table {
        axis: "point".to_owned(),
        time: points.iter().map(|p| (p.number + 1) as f64).collect(),
        ..Table::default()
    };
    let mut add = |name: String, unit: String, value: &dyn Fn(&Point) -> f64| {
        table.columns.push(Column {
            name,
            unit,
            values: points.iter().map(value).collect(),
        });
    };

    for (k, sweep) in design.plan.sweeps.iter().enumerate() {
        let unit = target_unit(&sweep.target);
        add(target_name(&sweep.target), unit, &|p| p.values[k]);
    }
    for (k, measure) in design.plan.measures.iter().enumerate() {
        let unit = points
            .iter()
            .find_map(|p| p.measures.get(k))
            .map(|m| m.unit.clone())
            .unwrap_or_default();
        add(measure.name.clone(), unit, &|p| {
            p.measures.get(k).and_then(|m| m.value).unwrap_or(f64::NAN)
        });
    }
    for (k, column) in design.plan.columns.iter().enumerate() {
        let unit = column
            .unit
            .as_ref()
            .map(|u| u.text.clone())
            .unwrap_or_default();
        add(format!("final {}", column.name), unit, &|p| {
            p.last.get(k).copied().unwrap_or(f64::NAN)
        });
    }

    if points.iter().any(|p| p.seconds.is_some()) {
        add("steps".to_owned(), String::new(), &|p| p.steps as f64);
        add("run time".to_owned(), "s".to_owned(), &|p| {
            p.seconds.unwrap_or(f64::NAN)
        });
    }
    add("energy residual".to_owned(), String::new(), &|p| p.residual);
    add("failed".to_owned(), String::new(), &|p| {
        f64::from(u8::from(p.failure.is_some()))
    });

    table.metadata.extend(facts(design, points));
    table
}

/// What is said beside the table: labels that are not numbers, and why points failed.
fn facts(design: &Design, points: &[Point]) -> Vec<(String, String)> {
    let mut facts = Vec::new();
    // What is not a number is in the table as its place in the list, which is given beside it.
    for sweep in &design.plan.sweeps {
        if !is_numeric(sweep) {
            let name = format!("values of {}", target_name(&sweep.target));
            let labels: Vec<&str> = sweep.values.iter().map(|v| v.label.as_str()).collect();
            facts.push((name, labels.join(", ")));
        }
    }
    for point in points {
        if let Some(why) = &point.failure {
            facts.push((
                format!("failure of point {}", point.number + 1),
                why.clone(),
            ));
        }
    }
    facts
}

/// The SI unit of a swept value; empty for a plain number and for what is not a number.
pub(crate) fn target_unit(target: &SweepTarget) -> String {
    match target {
        SweepTarget::Variable { variable, .. } => variable
            .dimension
            .filter(|d| !d.is_one())
            .map_or(String::new(), |d| d.unit().text),
        _ => String::new(),
    }
}

/// Puts the points into JSON: the table, with words where a swept value is not a number, and what went wrong.
pub fn to_json(design: &Design, points: &[Point], warnings: &[SharedWarning]) -> serde_json::Value {
    let mut json = to_table(design, points).to_json();
    for (k, sweep) in design.plan.sweeps.iter().enumerate() {
        if !is_numeric(sweep) {
            let labels: Vec<&str> = points.iter().map(|p| p.labels[k].as_str()).collect();
            json["columns"][k]["values"] = labels.into();
        }
    }
    let failures: Vec<serde_json::Value> = points
        .iter()
        .filter_map(|p| {
            let why = p.failure.as_ref()?;
            Some(serde_json::json!({ "point": p.number + 1, "reason": why }))
        })
        .collect();
    let warnings: Vec<serde_json::Value> = warnings
        .iter()
        .map(|w| {
            let points: Vec<usize> = w.points.iter().map(|&k| points[k].number + 1).collect();
            serde_json::json!({ "code": w.message.code, "message": w.message.message, "points": points })
        })
        .collect();
    json["model"] = design.model.clone().into();
    json["experiment"] = design.plan.name.clone().into();
    json["is_good"] = failures.is_empty().into();
    json["failures"] = failures.into();
    json["warnings"] = warnings.into();
    json
}

/// Prints the points for people.
pub fn to_text(design: &Design, points: &[Point]) -> String {
    const MOST: usize = 40;
    let mut out = String::new();
    let names: Vec<String> = design
        .plan
        .sweeps
        .iter()
        .map(|s| target_name(&s.target))
        .collect();
    let measures: Vec<&str> = design
        .plan
        .measures
        .iter()
        .map(|m| m.name.as_str())
        .collect();

    let width = |k: usize| {
        let labels = points.iter().take(MOST).filter_map(|p| p.labels.get(k));
        let longest = labels.chain([&names[k]]).map(|t| t.chars().count()).max();
        longest.map_or(0, |n| n + 2).max(18)
    };
    let widths: Vec<usize> = (0..names.len()).map(width).collect();
    write_heads(&mut out, points, (&names, &widths), &measures);

    for point in points.iter().take(MOST) {
        for (label, width) in point.labels.iter().zip(&widths) {
            out.push_str(&format!("{label:>width$}"));
        }
        for k in 0..measures.len() {
            let value = point.measures.get(k).and_then(|m| m.value);
            let shown = value.map_or("—".to_owned(), |x| significant(x, 8));
            out.push_str(&format!(" {shown:>15}"));
        }
        if let Some(why) = &point.failure {
            let what = if why == CANCELLED { "" } else { "failed: " };
            out.push_str(&format!("  {what}{why}"));
        }
        out.push('\n');
    }
    if points.len() > MOST {
        out.push_str(&format!("… and {} more\n", points.len() - MOST));
    }
    write_counts(&mut out, points);
    out
}

/// The names of the columns, with their units.
fn write_heads(
    out: &mut String,
    points: &[Point],
    (names, widths): (&[String], &[usize]),
    measures: &[&str],
) {
    for (name, width) in names.iter().zip(widths) {
        out.push_str(&format!("{name:>width$}"));
    }
    for (k, name) in measures.iter().enumerate() {
        let unit = points.iter().find_map(|p| p.measures.get(k));
        let unit = unit.map(|m| m.unit.as_str()).filter(|u| !u.is_empty());
        let label = match unit {
            Some(unit) => format!("{name} [{unit}]"),
            None => (*name).to_owned(),
        };
        out.push_str(&format!(" {label:>15}"));
    }
    out.push('\n');
}

/// How many runs there were, and how many of them failed or were cancelled.
fn write_counts(out: &mut String, points: &[Point]) {
    let n_ended = points.iter().filter(|p| p.failure.is_some()).count();
    let is_cancelled = |p: &&Point| p.failure.as_deref() == Some(CANCELLED);
    let n_cancelled = points.iter().filter(is_cancelled).count();
    let n_failed = n_ended - n_cancelled;
    out.push_str(&format!("{} runs, {n_failed} failed", points.len()));
    if n_cancelled > 0 {
        out.push_str(&format!(", {n_cancelled} cancelled"));
    }
    out.push('\n');
}
