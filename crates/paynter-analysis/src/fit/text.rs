//! Prints a fit: for people, as JSON, as a table of data and model.

use super::estimate::{Estimated, ValueEstimated};
use paynter_design::digits::significant;
use paynter_run::table::{Column, Table};
use serde_json::{Value, json};
use std::fmt::Write as _;

/// Prints for people.
pub fn to_text(fit: &Estimated) -> String {
    let mut out = String::from("fitted, with 95 % intervals\n\n");
    let width = fit
        .values
        .iter()
        .map(|v| v.name.chars().count())
        .max()
        .unwrap_or(0);

    for value in &fit.values {
        let _ = writeln!(out, "  {:width$}  {}", value.name, shown(value));
    }
    out.push('\n');
    for column in &fit.columns {
        let unit = spaced(&column.unit);
        let weight = match column.is_given {
            true => format!(", sigma {}{unit} as given", significant(column.sigma, 4)),
            false => String::new(),
        };
        let _ = writeln!(
            out,
            "  {}: {} samples, residuals of {}{unit}{weight}",
            column.name,
            column.n,
            significant(column.rms, 4)
        );
    }

    if let Some(chi) = fit.chi_square {
        let _ = writeln!(
            out,
            "\n  chi-square over its freedom: {} (1 is expected)",
            significant(chi, 4)
        );
    }

    // Near one, two values move together and neither is known well by itself.
    for (i, row) in fit.correlations.iter().enumerate() {
        for (j, c) in row.iter().enumerate().skip(i + 1) {
            if c.abs() > 0.9 {
                let _ = writeln!(
                    out,
                    "\n  {} and {} are correlated: {}",
                    fit.values[i].name,
                    fit.values[j].name,
                    significant(*c, 3)
                );
            }
        }
    }

    let slopes = match fit.has_exact_slopes {
        true => "exact slopes",
        false => "slopes by differences of runs",
    };
    let _ = writeln!(out, "\n{} runs, {slopes}", fit.n_runs);
    out
}

fn spaced(unit: &str) -> String {
    match unit {
        "" | "1" => String::new(),
        unit => format!(" {unit}"),
    }
}

fn shown(v: &ValueEstimated) -> String {
    let unit = spaced(&v.unit);
    let bound = if v.is_at_bound { "  at a bound" } else { "" };
    match (v.deviation, v.interval) {
        (Some(deviation), Some((low, high))) => {
            // One digit beyond the deviation.
            let digits = (v.value.abs() / deviation).log10().ceil().clamp(0.0, 12.0) as usize + 2;
            let text = |x: f64| significant(x, digits);
            format!(
                "{}{unit}  from {} to {}{bound}",
                text(v.value),
                text(low),
                text(high)
            )
        }
        _ => format!(
            "{}{unit}  not fixed by the data{bound}",
            significant(v.value, 6)
        ),
    }
}

/// Data and model side by side, one row for each sample.
pub fn to_table(fit: &Estimated) -> Table {
    let column = |name: &str, values: Vec<f64>| Column {
        name: name.to_owned(),
        unit: String::new(),
        values,
    };
    let all = || fit.samples.iter();
    let mut table = Table {
        axis: "sample".to_owned(),
        time: (1..=fit.samples.len()).map(|k| k as f64).collect(),
        columns: vec![
            column("column", all().map(|s| (s.0 + 1) as f64).collect()),
            column("time", all().map(|s| s.1).collect()),
            column("data", all().map(|s| s.2).collect()),
            column("model", all().map(|s| s.3).collect()),
            column("residual", all().map(|s| s.3 - s.2).collect()),
        ],
        ..Table::default()
    };
    let names: Vec<&str> = fit.columns.iter().map(|c| c.name.as_str()).collect();
    table
        .metadata
        .push(("columns".to_owned(), names.join(", ")));
    table
}

/// The whole fit as JSON.
pub fn to_json(fit: &Estimated) -> Value {
    json!({
        "experiment": fit.experiment,
        "values": fit.values.iter().map(|v| json!({
            "name": v.name, "value": v.value, "unit": v.unit, "deviation": v.deviation,
            "interval": v.interval.map(|(a, b)| [a, b]), "is_at_bound": v.is_at_bound,
        })).collect::<Vec<_>>(),
        "correlations": fit.correlations,
        "not_told_apart": fit.unresolved.iter().map(|u| {
            u.changes.iter().map(|(n, p)| json!({"name": n, "percent": p})).collect::<Vec<_>>()
        }).collect::<Vec<_>>(),
        "columns": fit.columns.iter().map(|c| json!({
            "name": c.name, "unit": c.unit, "samples": c.n, "rms": c.rms, "sigma": c.sigma, "is_sigma_given": c.is_given,
        })).collect::<Vec<_>>(),
        "chi_square": fit.chi_square,
        "runs": fit.n_runs,
        "has_exact_slopes": fit.has_exact_slopes,
    })
}
