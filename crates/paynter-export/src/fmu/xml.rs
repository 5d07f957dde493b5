//! What both versions of the model description share: escaping, numbers, units, dependencies.

use super::variables::{Kind, Variable, Variables, is_structured};
use crate::seam::Export;
use paynter::model::units::Unit;
use std::fmt::Write as _;

/// Text inside an attribute. What XML 1.0 has no way to say is left out.
pub(super) fn escape(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&apos;"),
            c if (c as u32) < 0x20 || c == '\u{fffe}' || c == '\u{ffff}' => out.push(' '),
            c => out.push(c),
        }
    }
    out
}

/// A number that reads back to the same bits.
pub(super) fn number(x: f64) -> String {
    match x.is_finite() {
        true => format!("{x:?}"),
        false => "0.0".to_owned(),
    }
}

/// Name of the SI unit in which a variable is exchanged.
pub(super) fn si_name(unit: &Unit) -> String {
    unit.dimension.unit().text
}

/// Name of the unit that a variable is shown in, where that differs.
pub(super) fn display_name(unit: &Unit) -> Option<String> {
    let is_si = unit.factor == 1.0 && unit.offset == 0.0;
    (!is_si && unit.text != si_name(unit)).then(|| unit.text.clone())
}

/// What a variable is, in the words of the standard: ` causality="…" variability="…" initial="…"`, and ` start="…"`
/// where it has one.
pub(super) fn roles(export: &Export, variable: &Variable) -> (String, String) {
    let (causality, variability, initial) = match variable.kind {
        Kind::Time => ("independent", "continuous", None),
        Kind::State(k) if export.states[k].is_calculated => {
            ("local", "continuous", Some("calculated"))
        }
        Kind::State(_) => ("local", "continuous", Some("exact")),
        Kind::Rate(_) => ("local", "continuous", Some("calculated")),
        Kind::Input(_) => ("input", "continuous", None),
        Kind::Output(_) if variable.is_declared => ("output", "continuous", Some("calculated")),
        Kind::Output(_) => ("local", "continuous", Some("calculated")),
        Kind::Parameter(_) => ("parameter", "fixed", Some("exact")),
        Kind::Bound(_) => ("calculatedParameter", "fixed", Some("calculated")),
        Kind::Number => ("local", "constant", Some("exact")),
        Kind::Discrete(_) => ("local", "discrete", Some("calculated")),
        Kind::Guard(_) | Kind::Audit(_) => ("local", "continuous", Some("calculated")),
        Kind::Clock(_) => ("output", "discrete", None),
    };
    let mut out = format!(" causality=\"{causality}\" variability=\"{variability}\"");
    if let Some(initial) = initial {
        let _ = write!(out, " initial=\"{initial}\"");
    }
    let has_start = initial == Some("exact") || matches!(variable.kind, Kind::Input(_));
    let start = match has_start {
        true => format!(" start=\"{}\"", number(variable.start)),
        false => String::new(),
    };
    (out, start)
}

/// Unit, range and size of a variable as attributes.
pub(super) fn measures(variable: &Variable) -> String {
    [
        unit_attributes(variable),
        range_attributes(variable),
        nominal_attribute(variable),
    ]
    .concat()
}

/// The variables that are rates of states, and declared outputs.
pub(super) fn unknowns(export: &Export) -> (Vec<Kind>, Vec<Kind>) {
    let outputs = export.outputs.iter().enumerate();
    let declared = outputs.filter(|(_, o)| o.is_declared);
    let rates = (0..export.states.len()).map(Kind::Rate);
    (
        declared.map(|(k, _)| Kind::Output(k)).collect(),
        rates.collect(),
    )
}

/// ` unit="…" displayUnit="…"`.
fn unit_attributes(variable: &Variable) -> String {
    let Some(unit) = &variable.unit else {
        return String::new();
    };
    let mut out = format!(" unit=\"{}\"", escape(&si_name(unit)));
    if let Some(display) = display_name(unit) {
        let _ = write!(out, " displayUnit=\"{}\"", escape(&display));
    }
    out
}

/// ` nominal="…"`.
fn nominal_attribute(variable: &Variable) -> String {
    match variable.nominal > 0.0 {
        true => format!(" nominal=\"{}\"", number(variable.nominal)),
        false => String::new(),
    }
}

/// How names are built: as a tree, unless one has other letters.
pub(super) fn naming(variables: &Variables) -> &'static str {
    match variables.all.iter().all(|v| is_structured(&v.name)) {
        true => "structured",
        false => "flat",
    }
}

/// ` min="…" max="…"`.
fn range_attributes(variable: &Variable) -> String {
    let mut out = String::new();
    if let Some(low) = variable.range.0 {
        let _ = write!(out, " min=\"{}\"", number(low));
    }
    if let Some(high) = variable.range.1 {
        let _ = write!(out, " max=\"{}\"", number(high));
    }
    out
}

/// The list of units.
fn unit_definitions(variables: &Variables) -> String {
    let mut units: Vec<(String, &Unit)> = Vec::new();
    for unit in variables.all.iter().filter_map(|v| v.unit.as_ref()) {
        let name = si_name(unit);
        if !units.iter().any(|u| u.0 == name) {
            units.push((name, unit));
        }
    }

    if units.is_empty() {
        return String::new();
    }
    let mut out = String::from("  <UnitDefinitions>\n");
    for (name, unit) in &units {
        let _ = writeln!(out, "    <Unit name=\"{}\">", escape(name));
        if let Some(exponents) = unit.dimension.whole_exponents() {
            let letters = ["kg", "m", "s", "A", "K", "mol", "cd"];
            let shown = letters.iter().zip(exponents).filter(|(_, e)| *e != 0);
            let shown: String = shown.map(|(l, e)| format!(" {l}=\"{e}\"")).collect();
            let _ = writeln!(out, "      <BaseUnit{shown}/>");
        }
        let mut seen: Vec<String> = Vec::new();
        for other in variables.all.iter().filter_map(|v| v.unit.as_ref()) {
            let Some(display) = display_name(other).filter(|_| si_name(other) == *name) else {
                continue;
            };
            if seen.contains(&display) {
                continue;
            }
            let (factor, offset) = (1.0 / other.factor, -other.offset / other.factor);
            let offset = match offset == 0.0 {
                true => String::new(),
                false => format!(" offset=\"{}\"", number(offset)),
            };
            let name = escape(&display);
            let _ = writeln!(
                out,
                "      <DisplayUnit name=\"{name}\" factor=\"{}\"{offset}/>",
                number(factor)
            );
            seen.push(display);
        }
        out.push_str("    </Unit>\n");
    }

    out.push_str("  </UnitDefinitions>\n");
    out
}

/// Variables of the program as references: states and inputs.
fn references(export: &Export, variables: &Variables, columns: &[u32]) -> Vec<usize> {
    let mut found: Vec<usize> = columns
        .iter()
        .filter_map(|&column| {
            let is_it = |variable: usize| variable == column as usize;
            let state = export
                .states
                .iter()
                .position(|s| is_it(s.variable))
                .map(Kind::State);
            let input = || {
                export
                    .inputs
                    .iter()
                    .position(|i| is_it(i.variable))
                    .map(Kind::Input)
            };
            state.or_else(input).map(|kind| variables.reference(kind))
        })
        .collect();
    found.sort_unstable();
    found
}

/// What a rate or output depends on: states and inputs, by reference. From the pattern of the exact Jacobian.
pub(super) fn dependencies(export: &Export, variables: &Variables, kind: Kind) -> Vec<usize> {
    let program = &export.program;
    let columns = match kind {
        Kind::Rate(k) => &program.rates.rows[export.states[k].variable],
        Kind::Output(k) => &program.outputs.rows[k],
        _ => return Vec::new(),
    };
    references(export, variables, columns)
}

/// What is unknown at the start: outputs that are declared, calculated states, rates.
pub(super) fn initial_unknowns(export: &Export, variables: &Variables) -> Vec<usize> {
    let is_unknown = |v: &Variable| match v.kind {
        Kind::Output(_) => v.is_declared,
        Kind::State(k) => export.states[k].is_calculated,
        Kind::Rate(_) | Kind::Bound(_) => true,
        _ => false,
    };
    let all = variables.all.iter().enumerate();
    all.filter(|(_, v)| is_unknown(v)).map(|(k, _)| k).collect()
}

/// What is between the kinds of simulation and the structure in both versions: units, categories of messages, the
/// experiment, and the variables, each written by `one`.
pub(super) fn units_to_variables(
    export: &Export,
    variables: &Variables,
    one: &dyn Fn(usize, &Variable) -> String,
) -> String {
    let mut out = unit_definitions(variables);
    out.push_str("  <LogCategories>\n    <Category name=\"logStatusError\"/>\n    <Category name=\"logStatusWarning\"/>\n    <Category name=\"logAll\"/>\n  </LogCategories>\n");
    out.push_str(&default_experiment(export));
    out.push_str("  <ModelVariables>\n");
    for (k, variable) in variables.all.iter().enumerate() {
        out.push_str(&one(k, variable));
    }
    out.push_str("  </ModelVariables>\n");
    out
}

/// ` startTime="…" stopTime="…" tolerance="…" stepSize="…"`.
fn default_experiment(export: &Export) -> String {
    let (start, stop) = export.span;
    let step = export.output_step.unwrap_or((stop - start) / 500.0);
    format!(
        "  <DefaultExperiment startTime=\"{}\" stopTime=\"{}\" tolerance=\"{}\" stepSize=\"{}\"/>\n",
        number(start),
        number(stop),
        number(export.rtol),
        number(step)
    )
}

pub(super) fn list(numbers: &[usize]) -> String {
    let words: Vec<String> = numbers.iter().map(usize::to_string).collect();
    words.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_any_kind_survive() {
        assert_eq!(
            escape("a<b>\"c\"&'d'\u{1}"),
            "a&lt;b&gt;&quot;c&quot;&amp;&apos;d&apos; "
        );
        assert_eq!(number(1e-7).parse(), Ok(1e-7));
    }
}
