//! Sweeps typed on the command line: `--sweep "KA=0.05..0.12:20"`, and draws from a file.
//!
//! In:  a design and what was typed.
//! Out: the values spelled out as `--over` takes them.
//!
//! A number without a unit is in the unit that the parameter is shown in.

use paynter_design::design::{Choice, Design, LinearChoice};
use paynter_run::table::Table;

/// More values than this are a slip.
const MOST_VALUES: usize = 100_000;

/// Writes `KA=0.05..0.12:20` as `KA in [0.05 [rad/s], …]`.
///
/// # Errors
///
/// What cannot be read.
pub fn spelled_out(design: &Design, choice: &Choice, text: &str) -> Result<String, String> {
    let wrong = |why: String| {
        format!(
            "`--sweep {text}` {why}; write for instance --sweep \"R=10..50:5\" or --sweep \"R=10,22,47\""
        )
    };
    let Some((path, values)) = text.split_once('=') else {
        return Err(wrong("has no `=`".to_owned()));
    };
    let (path, values) = (path.trim(), values.trim());
    let Some((from, rest)) = values.split_once("..") else {
        let entries = list(design, choice, path, values);
        return Ok(format!("{path} in [{entries}]"));
    };
    let Some((to, count)) = rest.rsplit_once(':') else {
        return Err(wrong(
            "does not say how many values; write `from..to:number`".to_owned(),
        ));
    };

    // `1..9:5 [ohm]` gives the unit once, after the number of values or after the last value.
    let (count, behind) = split_unit(count);
    let ((from, unit_from), (to, unit_to)) = (split_unit(from), split_unit(to));
    let unit = behind.or(unit_to).or(unit_from);
    let given = [unit_from, unit_to, behind].into_iter().flatten();
    if given.clone().any(|u| Some(u) != unit) {
        return Err(wrong("has two units".to_owned()));
    }

    let number = |t: &str| t.parse::<f64>().ok().filter(|x| x.is_finite());
    let (Some(from), Some(to)) = (number(from), number(to)) else {
        return Err(wrong("has bounds that are not numbers".to_owned()));
    };
    let count: Option<usize> = count.parse().ok();
    let Some(count) = count.filter(|n| (1..=MOST_VALUES).contains(n)) else {
        return Err(wrong(format!(
            "needs a whole number of values from 1 to {MOST_VALUES}"
        )));
    };
    let unit = unit
        .map(str::to_owned)
        .or_else(|| shown_in(design, choice, path));
    let value = |k: usize| match k {
        0 => from,
        k if k + 1 == count => to,
        k => from + k as f64 / (count - 1) as f64 * (to - from),
    };
    let entries = (0..count).map(|k| with_unit(value(k), unit.as_deref()));
    let entries: Vec<String> = entries.collect();
    Ok(format!("{path} in [{}]", entries.join(", ")))
}

/// Writes the columns of a table as lists of values, one for each: rows are runs. A first column named `point`, `draw`, `run` or `sample` only
/// counts them. A column without a unit is in the unit that its parameter is shown in.
///
/// # Errors
///
/// A table without columns or rows, or with cells that are not numbers.
pub fn rows_of(design: &Design, choice: &Choice, table: &Table) -> Result<Vec<String>, String> {
    let counts = ["point", "draw", "run", "sample"].contains(&table.axis.as_str());
    let first = (!counts).then(|| (table.axis.clone(), String::new(), &table.time));
    let rest = table.columns.iter();
    let rest = rest.map(|c| (c.name.clone(), c.unit.clone(), &c.values));
    let mut all = Vec::new();
    for (name, unit, values) in first.into_iter().chain(rest) {
        if values.len() > MOST_VALUES {
            return Err(format!("more than {MOST_VALUES} rows"));
        }
        if let Some(at) = values.iter().position(|x| !x.is_finite()) {
            return Err(format!("row {} has no number for `{name}`", at + 1));
        }
        let unit = match unit.as_str() {
            "" | "1" => shown_in(design, choice, &name),
            unit => Some(unit.to_owned()),
        };
        let entries = values.iter().map(|x| with_unit(*x, unit.as_deref()));
        let entries: Vec<String> = entries.collect();
        all.push(format!("{name} in [{}]", entries.join(", ")));
    }
    match all.is_empty() || table.time.is_empty() {
        true => Err("the table has no values".to_owned()),
        false => Ok(all),
    }
}

/// Entries of a list. A unit after the last one is that of all bare numbers; else they get the parameter's.
fn list(design: &Design, choice: &Choice, path: &str, values: &str) -> String {
    let inner = values.strip_prefix('[').and_then(|v| v.strip_suffix(']'));
    let values = inner.unwrap_or(values);
    // Commas between brackets belong to a value: `Load(1, 2)`.
    let mut entries = vec![String::new()];
    let mut depth = 0;
    for c in values.chars() {
        match c {
            '(' | '[' => depth += 1,
            ')' | ']' => depth -= 1,
            _ => {}
        }
        match c {
            ',' if depth == 0 => entries.push(String::new()),
            c => entries.last_mut().expect("it begins with one").push(c),
        }
    }
    let (last, behind) = split_unit(entries.last().expect("it begins with one"));
    let behind = behind.filter(|_| last.parse::<f64>().is_ok());
    let unit = behind.map(str::to_owned);
    let unit = unit.or_else(|| shown_in(design, choice, path));
    let shown = entries.iter().map(|e| match e.trim().parse::<f64>() {
        Ok(v) => with_unit(v, unit.as_deref()),
        Err(_) => e.trim().to_owned(),
    });
    shown.collect::<Vec<_>>().join(", ")
}

fn with_unit(value: f64, unit: Option<&str>) -> String {
    match unit {
        None | Some("" | "1") => format!("{value:?}"),
        Some(unit) => format!("{value:?} [{unit}]"),
    }
}

/// Splits `0.05 [rad/s]`.
fn split_unit(text: &str) -> (&str, Option<&str>) {
    match text
        .trim()
        .strip_suffix(']')
        .and_then(|t| t.split_once('['))
    {
        Some((number, unit)) => (number.trim(), Some(unit.trim())),
        None => (text.trim(), None),
    }
}

/// The unit that a parameter is shown in.
fn shown_in(design: &Design, choice: &Choice, path: &str) -> Option<String> {
    let choice = Choice {
        experiment: design
            .plan
            .name
            .clone()
            .or_else(|| choice.experiment.clone()),
        linear: Some(LinearChoice {
            to: Some(path.to_owned()),
            ..LinearChoice::default()
        }),
        ..choice.clone()
    };
    let asked = design.varied(&choice, &[]).ok()?;
    let unit = asked.linear.to.first()?.column.unit.as_ref()?;
    Some(unit.text.clone())
}
