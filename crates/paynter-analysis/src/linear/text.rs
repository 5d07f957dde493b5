//! A linear model as text, JSON and CSV.
//!
//! In:  a [`Linearization`].
//! Out: matrices with the user's names and units beside rows and columns; full digits in JSON and
//!      CSV.

use super::{Label, Linearization, Trim};
use paynter_design::digits::significant;
use paynter_linear::Matrix;
use serde_json::{Value, json};
use std::fmt::Write as _;

/// Digits of matrices in text.
const DIGITS: usize = 7;
/// More columns than this do not fit beside each other; such matrices are listed by entries.
const MOST_COLUMNS: usize = 10;

/// Writes the linear model for people.
pub fn to_text(linear: &Linearization) -> String {
    let mut out = String::new();
    let model = linear.in_units();
    let _ = writeln!(out, "{}", about_point(linear));
    if let Some(trim) = &linear.trim {
        let _ = write!(out, "\n{}", trim_to_text(trim));
    }
    list(&mut out, ("states", 9), &linear.states);
    list(&mut out, ("inputs", 9), &linear.inputs);
    list(&mut out, ("outputs", 9), &linear.outputs);
    let (x, u, y) = (&linear.states, &linear.inputs, &linear.outputs);
    matrix(&mut out, "A", &model.a, x, x);
    matrix(&mut out, "B", &model.b, x, u);
    matrix(&mut out, "C", &model.c, y, x);
    for (k, d) in model.d.iter().enumerate() {
        let name = match k {
            0 => "D".to_owned(),
            1 => "D1, by the rates of the inputs".to_owned(),
            k => format!("D{k}, by their rates of order {k}"),
        };
        matrix(&mut out, &name, d, y, u);
    }
    for note in notes(linear) {
        let _ = writeln!(out, "\nnote: {note}");
    }
    out
}

/// Writes an equilibrium for people.
pub fn trim_to_text(trim: &Trim) -> String {
    let mut out = String::new();
    let n = trim.iterations;
    let _ = writeln!(
        out,
        "at rest, found in {n} iteration{}",
        if n == 1 { "" } else { "s" }
    );
    list(&mut out, ("trimmed", 9), &trim.values);
    let rates = |labels: &[Label]| -> Vec<Label> {
        let rate = |l: &Label| Label {
            name: format!("{}'", l.name),
            unit: per(&l.unit, "s"),
            ..l.clone()
        };
        labels.iter().map(rate).collect()
    };
    list(&mut out, ("residual rates", 2), &rates(&trim.residuals));
    let drifting: Vec<Label> = rates(&trim.drifting);
    list(&mut out, ("goes on, since nothing reads it", 9), &drifting);
    out
}

/// Writes an equilibrium for machines.
pub fn trim_to_json(trim: &Trim) -> Value {
    json!({
        "values": labels(&trim.values),
        "rates_left": labels(&trim.residuals),
        "drifting": labels(&trim.drifting),
        "iterations": trim.iterations,
    })
}

/// One line about where the model was linearized.
pub fn about_point(linear: &Linearization) -> String {
    let mut at = format!("at t = {} s", significant(linear.time, 9));
    if let Some(step) = linear.step() {
        let _ = write!(at, " in steps of {} s", significant(step, 9));
    }
    match linear.worst_rate() {
        None => format!("linear model {at}, at rest"),
        Some((k, _)) => {
            let state = &linear.states[k];
            let rate = significant(linear.rates[k] / state.factor, 3);
            let unit = per(&state.unit, "s");
            format!(
                "linear model {at}, in motion: `{}` changes by {rate} {unit}",
                state.name
            )
        }
    }
}

/// The unit of a quotient: `deg/V`, `(N*m)/s`, `1/s`.
pub(super) fn per(above: &str, below: &str) -> String {
    let whole = |unit: &str| match unit.contains(['*', '/']) {
        true => format!("({unit})"),
        false => unit.to_owned(),
    };
    match (above, below) {
        (a, b) if a == b => String::new(),
        (a, "") => a.to_owned(),
        ("", b) => format!("1/{}", whole(b)),
        (a, b) => format!("{}/{}", whole(a), whole(b)),
    }
}

/// What is to be known about the model.
pub fn notes(linear: &Linearization) -> Vec<String> {
    let mut notes = Vec::new();
    // More names than this tell nothing more.
    const MOST_NAMED: usize = 8;
    let quoted = |names: &[String]| -> String {
        let shown = names.iter().take(MOST_NAMED).map(|n| format!("`{n}`"));
        let shown: Vec<String> = shown.collect();
        match names.len() > MOST_NAMED {
            true => format!("{}, … ({} in all)", shown.join(", "), names.len()),
            false => shown.join(", "),
        }
    };

    if !linear.left_out.is_empty() {
        let names = quoted(&linear.left_out);
        notes.push(format!("left out, since nothing reads them back: {names}"));
    }

    if !linear.dependent.is_empty() {
        let names = quoted(&linear.dependent);
        notes.push(format!(
            "fixed by constraints and the other states: {names}"
        ));
    }

    if !linear.shifted.is_empty() {
        let names = quoted(&linear.shifted);
        notes.push(format!(
            "{names} follow an input at once; the matrices show them without that part"
        ));
    }

    if linear.sampled.is_some() {
        notes.push("from step to step of the clocks: inputs are held over a step, outputs are taken just after its first tick".to_owned());
    }
    if linear.is_time_frozen {
        notes.push("the model depends on time itself, which is held fixed here".to_owned());
    }
    if !linear.is_at_rest() {
        notes.push("the point is not at rest: the model describes how small deviations from this motion start; `trim` finds an equilibrium".to_owned());
    }
    notes
}

fn list(out: &mut String, (title, digits): (&str, usize), labels: &[Label]) {
    if labels.is_empty() {
        return;
    }
    let _ = writeln!(out, "\n{title}");
    let width = labels
        .iter()
        .map(|l| l.name.chars().count())
        .max()
        .unwrap_or(0);
    for label in labels {
        let value = format!("{} {}", significant(label.value, digits), label.unit);
        let _ = writeln!(out, "  {:<width$}  {}", label.name, value.trim_end());
    }
}

fn matrix(out: &mut String, title: &str, m: &Matrix, rows: &[Label], columns: &[Label]) {
    if m.n_rows() == 0 || m.n_columns() == 0 {
        return;
    }
    let _ = writeln!(out, "\n{title}");
    let cell = |x: f64| significant(x, DIGITS);
    let name_width = rows
        .iter()
        .map(|l| l.name.chars().count())
        .max()
        .unwrap_or(0);

    if m.n_columns() > MOST_COLUMNS {
        for i in 0..m.n_rows() {
            for j in (0..m.n_columns()).filter(|&j| m[(i, j)] != 0.0) {
                let _ = writeln!(
                    out,
                    "  {:<name_width$}  {}  {}",
                    rows[i].name,
                    columns[j].name,
                    cell(m[(i, j)])
                );
            }
        }
        return;
    }

    let widths: Vec<usize> = (0..m.n_columns())
        .map(|j| {
            let cells = (0..m.n_rows()).map(|i| cell(m[(i, j)]).chars().count());
            cells
                .max()
                .unwrap_or(0)
                .max(columns[j].name.chars().count())
        })
        .collect();

    let _ = write!(out, "  {:<name_width$}", "");
    for (column, &width) in columns.iter().zip(&widths) {
        let _ = write!(out, "  {:>width$}", column.name);
    }

    let _ = writeln!(out);
    for i in 0..m.n_rows() {
        let _ = write!(out, "  {:<name_width$}", rows[i].name);
        for (j, &width) in widths.iter().enumerate() {
            let _ = write!(out, "  {:>width$}", cell(m[(i, j)]));
        }
        let _ = writeln!(out);
    }
}

/// Writes the linear model for machines, in the units of the labels.
pub fn to_json(linear: &Linearization) -> Value {
    let model = linear.in_units();
    let rows = |m: &Matrix| -> Value {
        (0..m.n_rows())
            .map(|i| m.row(i).to_vec())
            .collect::<Vec<_>>()
            .into()
    };
    json!({
        "time": linear.time,
        "is_at_rest": linear.is_at_rest(),
        "step": linear.step(),
        "states": labels(&linear.states),
        "inputs": labels(&linear.inputs),
        "outputs": labels(&linear.outputs),
        "A": rows(&model.a),
        "B": rows(&model.b),
        "C": rows(&model.c),
        "D": rows(&model.d[0]),
        "D_rates": model.d[1..].iter().map(rows).collect::<Vec<_>>(),
        "trim": linear.trim.as_ref().map(trim_to_json),
        "notes": notes(linear),
    })
}

fn labels(labels: &[Label]) -> Vec<Value> {
    let one = |l: &Label| json!({"name": l.name, "unit": l.unit, "value": l.value});
    labels.iter().map(one).collect()
}

/// Writes every entry that is not zero as a row `matrix,row,column,row_unit,column_unit,value`.
pub fn to_csv(linear: &Linearization) -> String {
    let model = linear.in_units();
    let (x, u, y) = (&linear.states, &linear.inputs, &linear.outputs);
    let mut parts: Vec<(String, &Matrix, &[Label], &[Label])> = vec![
        ("A".to_owned(), &model.a, x, x),
        ("B".to_owned(), &model.b, x, u),
        ("C".to_owned(), &model.c, y, x),
    ];
    for (k, d) in model.d.iter().enumerate() {
        let name = if k == 0 {
            "D".to_owned()
        } else {
            format!("D{k}")
        };
        parts.push((name, d, y, u));
    }
    let mut out = String::from("matrix,row,column,row_unit,column_unit,value\n");
    for (name, m, rows, columns) in parts {
        for i in 0..m.n_rows() {
            for j in (0..m.n_columns()).filter(|&j| m[(i, j)] != 0.0) {
                let (row, column) = (&rows[i], &columns[j]);
                let cells = [&name, &row.name, &column.name, &row.unit, &column.unit];
                let cells: Vec<String> = cells.iter().map(|c| quoted(c)).collect();
                let _ = writeln!(out, "{},{:?}", cells.join(","), m[(i, j)]);
            }
        }
    }
    out
}

pub(super) fn quoted(cell: &str) -> String {
    if cell.contains([',', '"', '\n']) {
        format!("\"{}\"", cell.replace('"', "\"\""))
    } else {
        cell.to_owned()
    }
}
