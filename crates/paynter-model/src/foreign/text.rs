//! The model of an FMU as text.
//!
//! In:  the description of an FMU and the functions that it is called by.
//! Out: a model: parameters, inputs, states, outputs, events; see `paynter_fmi`'s `functions` for the calls.
//!
//! **Invariant:** every name of the text is a name of the language, and no two are equal.

use paynter_fmi::{Causality, Description, Part, Variable};
use rustc_hash::{FxHashMap, FxHashSet};
use std::fmt::Write as _;

use super::{CALL, PERIOD};
use crate::units::Unit;

/// The way the FMU is run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Model Exchange.
    Exchange,
    /// Co-Simulation, sampled.
    Sampled,
}

/// What begins a statement or has a meaning of its own.
const WORDS: &[&str] = &[
    "param",
    "input",
    "output",
    "port",
    "bond",
    "start",
    "guess",
    "sample",
    "at",
    "when",
    "reinit",
    "stop",
    "for",
    "in",
    "if",
    "then",
    "else",
    "and",
    "or",
    "not",
    "outer",
    "replaceable",
    "solve",
    "layout",
    "time",
    "pi",
    "true",
    "false",
    "model",
    "experiment",
    "use",
    "der",
    "pre",
    "integral",
    "smooth",
    "sum",
    "tf",
    "unwrap",
    "with",
    "extends",
    "signal",
    "fn",
    "return",
    "let",
    PERIOD,
    CALL,
    EPOCH,
];
/// The name of the epoch.
const EPOCH: &str = "fmu_epoch";
/// The name of the first epoch of a sampled part.
const START: &str = "fmu_start";

/// Writes the model.
pub(super) fn write(description: &Description, part: &Part, kind: Kind) -> String {
    let writer = Writer {
        description,
        part,
        names: names(description, part),
    };
    let mut out = String::from("model ");
    let _ = writeln!(out, "{} {{", legal(&description.name));
    writer.declarations(&mut out, kind);
    match kind {
        Kind::Exchange => writer.exchange(&mut out),
        Kind::Sampled => writer.sampled(&mut out),
    }
    out.push_str("}\n");
    out
}

struct Writer<'d> {
    description: &'d Description,
    part: &'d Part,
    /// By position.
    names: FxHashMap<usize, String>,
}

/// Names for everything that the model shows.
fn names(description: &Description, part: &Part) -> FxHashMap<usize, String> {
    let outputs = part.outputs.iter().map(|o| o.variable);
    let shown = part.parameters.iter().chain(&part.inputs).copied();
    let shown = shown
        .chain(outputs)
        .chain(description.states.iter().copied());
    let mut taken: FxHashSet<String> = FxHashSet::default();
    let mut names = FxHashMap::default();
    for k in shown {
        if names.contains_key(&k) {
            continue;
        }
        let plain = legal(&description.variables[k].name);
        let mut name = plain.clone();
        let mut number = 2;
        while !taken.insert(name.clone()) {
            name = format!("{plain}_{number}");
            number += 1;
        }
        names.insert(k, name);
    }
    names
}

/// A name of the language: letters, digits and `_`.
fn legal(name: &str) -> String {
    let letter = |c: char| if c.is_alphanumeric() { c } else { '_' };
    let plain: String = name.chars().map(letter).collect();
    // `x[1]` becomes `x_1`; what is a name already stays as it is.
    let plain = match plain == name {
        true => name,
        false => plain.trim_end_matches('_'),
    };
    let begins_well = plain.starts_with(|c: char| c.is_alphabetic() || c == '_');
    match begins_well && !WORDS.contains(&plain) && !plain.starts_with("fmu_") {
        true => plain.to_owned(),
        false => format!("v_{plain}"),
    }
}

/// ` [V]`
fn unit(variable: &Variable) -> String {
    match variable.unit.as_deref() {
        Some(unit) => format!(" [{unit}]"),
        None => String::new(),
    }
}

/// An SI value with its unit.
fn written(variable: &Variable, si: f64) -> String {
    let parsed = variable.unit.as_deref().map(Unit::parse_text);
    let value = match parsed {
        Some(Ok(unit)) => unit.from_si(si),
        _ => si,
    };
    // Without parentheses: a unit comes after a number, not after an expression.
    format!("{value:?}{}", unit(variable))
}

impl Writer<'_> {
    fn name(&self, k: usize) -> &str {
        &self.names[&k]
    }

    fn variable(&self, k: usize) -> &Variable {
        &self.description.variables[k]
    }

    /// The name of a state; where an output is one, the output has the name.
    fn state(&self, k: usize) -> String {
        let name = self.name(k);
        match self.variable(k).causality {
            Causality::Output => format!("fmu_state_{name}"),
            _ => name.to_owned(),
        }
    }

    fn states(&self) -> Vec<String> {
        let states = self.description.states.iter();
        states.map(|&k| self.state(k)).collect()
    }

    fn list(&self, positions: &[usize]) -> Vec<String> {
        positions.iter().map(|&k| self.name(k).to_owned()).collect()
    }

    fn declarations(&self, out: &mut String, kind: Kind) {
        if kind == Kind::Sampled {
            let _ = writeln!(out, "    param {PERIOD} [s]");
        }
        for (&k, word) in (self.part.parameters.iter().map(|k| (k, "param")))
            .chain(self.part.inputs.iter().map(|k| (k, "input")))
        {
            let variable = self.variable(k);
            let name = self.name(k);
            let start = variable.start.filter(|s| s.is_finite());
            let start = start.map(|s| variable.scale.0 * s + variable.scale.1);
            let value = match (start, word) {
                (Some(start), _) => format!(" = {}", written(variable, start)),
                (None, "input") => format!(" = {}", written(variable, 0.0)),
                (None, _) => unit(variable),
            };
            let _ = writeln!(out, "    {word} {name}{value}");
        }
    }

    /// `foreign(function, place, arguments…)`
    fn call(&self, function: usize, place: usize, arguments: &[String]) -> String {
        format!("{CALL}({function}, {place}, {})", arguments.join(", "))
    }

    fn exchange(&self, out: &mut String) {
        let inputs = self.list(&self.part.inputs);
        let states = self.states();
        let mut start = vec!["time".to_owned()];
        start.extend(self.list(&self.part.parameters));
        start.extend(inputs.iter().cloned());
        let here = [EPOCH.to_owned(), "time".to_owned()];
        let point: Vec<String> = here.iter().chain(&states).chain(&inputs).cloned().collect();

        let _ = writeln!(out, "    der({EPOCH}) = 0");
        let _ = writeln!(out, "    start {EPOCH} = {}", self.call(0, 0, &start));
        for (k, state) in states.iter().enumerate() {
            let _ = writeln!(out, "    der({state}) = {}", self.call(1, k, &point));
            let _ = writeln!(out, "    start {state} = {}", self.call(0, k + 1, &start));
        }
        for output in &self.part.outputs {
            let read = output.inputs.iter().map(|&at| &inputs[at]);
            let arguments: Vec<String> = here.iter().chain(&states).chain(read).cloned().collect();
            let value = self.call(output.function, output.place, &arguments);
            self.output(out, output.variable, &value);
        }
        self.events(out, &states, &point);
    }

    fn output(&self, out: &mut String, k: usize, value: &str) {
        let (name, unit) = (self.name(k), unit(self.variable(k)));
        let _ = writeln!(out, "    output {name}{unit} = {value}");
    }

    fn events(&self, out: &mut String, states: &[String], point: &[String]) {
        let mut actions = format!("reinit {EPOCH} = {}", self.call(3, 0, point));
        for (k, state) in states.iter().enumerate() {
            let _ = write!(actions, "; reinit {state} = {}", self.call(3, k + 1, point));
        }
        let epoch = [EPOCH.to_owned()];
        let next = self.call(4, 0, &epoch);
        let _ = writeln!(out, "    when time >= {next} {{ {actions} }}");
        for k in 0..self.description.n_indicators {
            let z = self.call(2, k, point);
            let _ = writeln!(out, "    when {z} > 0 {{ {actions} }}");
            let _ = writeln!(out, "    when {z} <= 0 {{ {actions} }}");
        }
        self.end(out, 4);
    }

    /// Ends the run where the FMU does, by its function that tells.
    fn end(&self, out: &mut String, facts: usize) {
        let ended = self.call(facts, 1, &[EPOCH.to_owned()]);
        let name = legal(&self.description.name);
        let _ = writeln!(
            out,
            "    when {ended} > 0.5 {{ stop \"`{name}` ended the run\" }}"
        );
    }

    fn sampled(&self, out: &mut String) {
        let inputs = self.list(&self.part.inputs);
        let held = |k: usize| format!("fmu_held_{}", inputs[k]);
        let parameters = self.list(&self.part.parameters);
        let time = ["time".to_owned()];
        let start: Vec<String> = time
            .iter()
            .chain(&parameters)
            .chain(&inputs)
            .cloned()
            .collect();

        let _ = writeln!(out, "    der({START}) = 0");
        let _ = writeln!(out, "    start {START} = {}", self.call(2, 0, &start));
        let mut step = vec![format!("pre({EPOCH})"), START.to_owned(), "time".to_owned()];
        step.extend(parameters);
        step.extend((0..inputs.len()).map(|k| format!("pre({})", held(k))));
        let _ = writeln!(out, "    sample at 1/{PERIOD} {{");
        let _ = writeln!(out, "        {EPOCH} = {}", self.call(0, 0, &step));
        for (k, input) in inputs.iter().enumerate() {
            let _ = writeln!(out, "        {} = {input}", held(k));
        }
        let mut shown = Vec::new();
        for output in &self.part.outputs {
            let mut arguments = vec![EPOCH.to_owned()];
            arguments.extend(output.inputs.iter().map(|&at| inputs[at].clone()));
            let value = self.call(output.function, output.place, &arguments);
            let own = format!("fmu_held_{}", self.name(output.variable));
            let _ = writeln!(out, "        {own} = {value}");
            shown.push((output.variable, own));
        }

        out.push_str("    }\n");
        for (variable, own) in shown {
            self.output(out, variable, &own);
        }
        self.end(out, 1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_of_an_fmu_becomes_one_of_the_language() {
        let pairs = [
            ("speed", "speed"),
            ("while_", "while_"),
            ("arm.x[1]", "arm_x_1"),
            ("der(h)", "der_h"),
            ("start", "v_start"),
            ("1st", "v_1st"),
            ("fmu_epoch", "v_fmu_epoch"),
            ("größe", "größe"),
            ("'", "v_"),
        ];
        for (name, expected) in pairs {
            assert_eq!(legal(name), expected);
        }
    }
}
