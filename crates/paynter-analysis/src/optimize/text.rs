//! Prints what a search found: for people, as JSON, as a table of all trials.

use super::optimum::{AimFound, AtBound, ConditionFound, Optimum, ValueFound, shown};
use super::trials::SlopeSources;
use paynter_design::digits::significant;
use paynter_optimize::Phase;
use paynter_optimize::search::Agreement;
use paynter_run::table::{Column, Table};
use serde_json::{Value, json};
use std::fmt::Write as _;

/// Prints for people.
pub fn to_text(optimum: &Optimum) -> String {
    let mut out = String::new();
    let Some(aim) = &optimum.aim else {
        return format!("{}\n", ending(optimum));
    };
    write_aim(&mut out, optimum, aim);
    write_values(&mut out, optimum);
    write_conditions(&mut out, optimum, aim);
    write_measures(&mut out, optimum);
    write_choices(&mut out, optimum);
    let _ = writeln!(out, "\n{}", ending(optimum));
    out
}

fn write_aim(out: &mut String, optimum: &Optimum, aim: &AimFound) {
    let word = if aim.is_small { "minimum" } else { "maximum" };
    let word = if optimum.is_feasible {
        word
    } else {
        "value at the least violated point"
    };
    let unit = spaced(&aim.unit);
    let _ = writeln!(
        out,
        "{word} of {}: {}{unit}\n",
        aim.text,
        significant(aim.value, aim.digits)
    );
}

fn write_values(out: &mut String, optimum: &Optimum) {
    let width = widest(optimum.values.iter().map(|v| v.name.as_str()));
    for value in &optimum.values {
        let _ = writeln!(
            out,
            "  {:width$}  {:20} {}",
            value.name,
            shown(value),
            remark(value)
        );
    }
}

fn write_conditions(out: &mut String, optimum: &Optimum, aim: &AimFound) {
    if !optimum.conditions.is_empty() {
        out.push('\n');
    }
    let names: Vec<String> = optimum.conditions.iter().map(name_of).collect();
    let width = widest(names.iter().map(String::as_str));
    for (condition, name) in optimum.conditions.iter().zip(&names) {
        let value = format!(
            "{}{}",
            significant(condition.left, 6),
            spaced(&condition.unit)
        );
        let _ = writeln!(
            out,
            "  {name:width$}  {value:20} {}",
            state(condition, &aim.unit)
        );
    }
}

fn write_measures(out: &mut String, optimum: &Optimum) {
    let width = widest(optimum.measures.iter().map(|m| m.name.as_str()));
    if !optimum.measures.is_empty() {
        out.push('\n');
    }
    for m in &optimum.measures {
        let value = m.value.map_or("—".to_owned(), |v| significant(v, 8));
        let _ = writeln!(out, "  {:width$}  {value}{}", m.name, spaced(&m.unit));
    }
}

/// The best of each combination of choices, or why there is none.
fn write_choices(out: &mut String, optimum: &Optimum) {
    for choice in &optimum.choices {
        let labels: Vec<String> = choice
            .labels
            .iter()
            .map(|(n, v)| format!("{n} = {v}"))
            .collect();
        let result = match (choice.aim, &choice.failure) {
            (Some(aim), _) if choice.is_feasible => significant(aim, 8),
            (Some(_), _) => "no feasible point".to_owned(),
            (None, why) => why.clone().unwrap_or_else(|| "not searched".to_owned()),
        };
        let _ = writeln!(out, "\n  {}: {result}", labels.join(", "));
    }
}

fn widest<'t>(texts: impl Iterator<Item = &'t str>) -> usize {
    texts.map(|t| t.chars().count()).max().unwrap_or(0)
}

fn spaced(unit: &str) -> String {
    match unit {
        "" | "1" => String::new(),
        unit => format!(" {unit}"),
    }
}

fn name_of(c: &ConditionFound) -> String {
    match &c.case {
        Some(case) => format!("{} in {case}", c.text),
        None => c.text.clone(),
    }
}

fn remark(value: &ValueFound) -> String {
    let bound = match value.at_bound {
        Some(AtBound::Lower) => "at its lower bound",
        Some(AtBound::Upper) => "at its upper bound",
        None => "",
    };
    let flat = value.flat.filter(|(a, b)| b > a).map(|(a, b)| {
        format!(
            "within 1 % of the best from {} to {}",
            significant(a, 3),
            significant(b, 3)
        )
    });
    let inert = value.is_inert.then_some("changes nothing".to_owned());
    let parts = [
        Some(bound.to_owned()).filter(|b| !b.is_empty()),
        inert,
        flat,
    ];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    parts.join("; ")
}

fn state(c: &ConditionFound, aim_unit: &str) -> String {
    match c.price {
        _ if !c.is_met => format!("missed by {}{}", significant(-c.slack, 3), spaced(&c.unit)),
        Some(price) => {
            let (amount, price) = priced(c, price);
            format!(
                "active: {}{} more would give {}{}{}",
                significant(amount, 2),
                spaced(&c.unit),
                if price > 0.0 { "+" } else { "" },
                significant(price, 2),
                spaced(aim_unit)
            )
        }
        None => String::new(),
    }
}

/// A step of the limit that can be meant: one unit, or a hundredth of a limit that is smaller than a few of them.
fn priced(c: &ConditionFound, price: f64) -> (f64, f64) {
    let amount = match c.left.abs() {
        size if size >= 5.0 || size == 0.0 => 1.0,
        size => 0.01 * size,
    };
    (amount, amount * price)
}

fn ending(optimum: &Optimum) -> String {
    let starts = optimum.starts;
    let n = starts.same + starts.as_good + starts.worse + starts.infeasible;
    let mut parts = Vec::new();
    if n > 0 {
        let counted = [
            (starts.same, "ended here"),
            (starts.as_good, "as good elsewhere"),
            (starts.worse, "worse"),
            (starts.infeasible, "without a feasible point"),
        ];
        let counted: Vec<String> = counted
            .iter()
            .filter(|c| c.0 > 0)
            .map(|(n, what)| format!("{n} {what}"))
            .collect();
        parts.push(format!("{n} descents: {}", counted.join(", ")));
    }

    if let Some(global) = optimum.global {
        let where_to = match global {
            Agreement::Same => "ended here as well",
            Agreement::AsGood => "ended at a point as good elsewhere",
            Agreement::Worse => "ended at a worse point",
            Agreement::Infeasible => "found no feasible point",
        };
        parts.push(format!("the evolution {where_to}"));
    }

    let end = if optimum.is_ended {
        ", ended before it was done"
    } else {
        ""
    };
    parts.push(format!("{} runs{end}", optimum.n_runs));
    let slopes = about_slopes(&optimum.slopes);
    let slopes = slopes.map_or(String::new(), |s| format!("\n{s}"));
    parts.join("; ") + &slopes
}

/// Says where the slopes came from that descents followed.
fn about_slopes(slopes: &SlopeSources) -> Option<String> {
    let often = slopes.reasons.iter().max_by_key(|r| r.1);
    let why = often.map_or(String::new(), |(why, _)| format!(": {why}"));
    match (slopes.n_exact, slopes.n_differences) {
        (0, 0) => None,
        (_, 0) => Some("slopes: exact, by sensitivities along the runs".to_owned()),
        (0, _) => Some(format!("slopes: by differences of runs{why}")),
        (exact, n) => Some(format!(
            "slopes: exact at {exact} points, by differences of runs at {n}{why}"
        )),
    }
}

/// All trials, one row each.
pub fn to_table(optimum: &Optimum) -> Table {
    let mut table = Table {
        axis: "trial".to_owned(),
        time: (1..=optimum.tried.len()).map(|k| k as f64).collect(),
        ..Table::default()
    };
    let column = |name: String, unit: &str, value: &dyn Fn(usize) -> f64| Column {
        name,
        unit: unit.to_owned(),
        values: (0..optimum.tried.len()).map(value).collect(),
    };
    let searched = optimum.values.iter().filter(|v| {
        !optimum
            .choices
            .iter()
            .any(|c| c.labels.iter().any(|l| l.0 == v.name))
    });

    for (k, value) in searched.enumerate() {
        table
            .columns
            .push(column(value.name.clone(), &value.unit, &|i| {
                optimum.tried[i].values[k]
            }));
    }

    if let Some(aim) = &optimum.aim {
        table
            .columns
            .push(column(aim.text.clone(), &aim.unit, &|i| {
                optimum.tried[i].aim
            }));
    }

    for (k, condition) in optimum.conditions.iter().enumerate() {
        let name = format!("slack of {}", name_of(condition));
        table.columns.push(column(name, &condition.unit, &|i| {
            optimum.tried[i].slacks[k]
        }));
    }

    // 0 sample, 1 … descents, −1 evolution, −2 polish: numbers, since a table has nothing else.
    let phase = |i: usize| match optimum.tried[i].phase {
        Phase::Sample => 0.0,
        Phase::Start(k) => (k + 1) as f64,
        Phase::Evolution => -1.0,
        Phase::Polish => -2.0,
    };

    table.columns.push(column("phase".to_owned(), "", &phase));
    table.metadata.push((
        "phase".to_owned(),
        "0 sample, k descent number k, -1 evolution, -2 polish".to_owned(),
    ));
    table
}

/// The whole answer as JSON.
pub fn to_json(optimum: &Optimum) -> Value {
    let number = |x: f64| if x.is_finite() { json!(x) } else { Value::Null };
    let value = |v: &ValueFound| {
        json!({
            "name": v.name, "value": v.value, "text": v.written, "unit": v.unit, "digits": v.digits,
            "at_bound": v.at_bound.map(|b| match b { AtBound::Lower => "lower", AtBound::Upper => "upper" }),
            "within_1_percent": v.flat.map(|(a, b)| [a, b]), "changes_nothing": v.is_inert,
        })
    };

    let condition = |c: &ConditionFound| {
        json!({
            "text": c.text, "experiment": c.case, "value": number(c.left), "slack": number(c.slack), "unit": c.unit,
            "is_met": c.is_met, "is_active": c.price.is_some(), "price": c.price, "best_reached": number(c.reached),
        })
    };

    let starts = optimum.starts;
    json!({
        "experiment": optimum.experiment,
        "is_feasible": optimum.is_feasible,
        "is_cancelled": optimum.is_ended,
        "aim": optimum.aim.as_ref().map(|a| json!({
            "text": a.text, "is_minimum": a.is_small, "value": number(a.value), "unit": a.unit, "digits": a.digits,
        })),
        "values": optimum.values.iter().map(value).collect::<Vec<_>>(),
        "conditions": optimum.conditions.iter().map(condition).collect::<Vec<_>>(),
        "measures": optimum.measures.iter().map(|m| json!({"name": m.name, "value": m.value, "unit": m.unit})).collect::<Vec<_>>(),
        "descents": { "same": starts.same, "as_good": starts.as_good, "worse": starts.worse, "infeasible": starts.infeasible },
        "evolution": optimum.global.map(|g| match g {
            Agreement::Same => "same", Agreement::AsGood => "as good", Agreement::Worse => "worse", Agreement::Infeasible => "infeasible",
        }),
        "choices": optimum.choices.iter().map(|c| json!({
            "values": c.labels.iter().map(|(n, v)| json!({"name": n, "value": v})).collect::<Vec<_>>(),
            "aim": c.aim, "is_feasible": c.is_feasible, "failure": c.failure,
        })).collect::<Vec<_>>(),
        "runs": optimum.n_runs,
        "slopes": {
            "exact": optimum.slopes.n_exact, "differences": optimum.slopes.n_differences,
            "reasons": optimum.slopes.reasons.iter().map(|(why, n)| json!({"reason": why, "points": n})).collect::<Vec<_>>(),
        },
        "failures": optimum.failures.iter().map(|(why, n)| json!({"reason": why, "runs": n})).collect::<Vec<_>>(),
    })
}
