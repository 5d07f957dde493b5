//! The variables of an FMU and their value references.
//!
//! In:  the seam.
//! Out: [`Variables`]: every quantity once, in an order that stays; its place in the list is its reference.
//!
//! **Invariant:** no two variables have one name.

use crate::seam::Export;
use paynter::model::units::Unit;
use std::collections::HashMap;

/// What a variable is, with its place in the model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Time,
    State(usize),
    Rate(usize),
    Input(usize),
    Output(usize),
    /// Settable, by its place in the struct.
    Parameter(usize),
    /// Follows from others, by its place in the struct.
    Bound(usize),
    /// Shaped the equations: a constant.
    Number,
    Discrete(usize),
    /// A sign that changes where an event is; a variable in FMI 3 only.
    Guard(usize),
    /// A clock of sampled equations; a variable in FMI 3 only.
    Clock(usize),
    /// What the balance of energy is off, by its place among the outputs.
    Audit(usize),
}

/// One variable.
#[derive(Clone, Debug)]
pub(super) struct Variable {
    pub kind: Kind,
    pub name: String,
    pub unit: Option<Unit>,
    pub start: f64,
    pub range: (Option<f64>, Option<f64>),
    /// What it is in words.
    pub description: &'static str,
    /// Declared as an output of the model.
    pub is_declared: bool,
    /// A typical size; 0 where unknown.
    pub nominal: f64,
}

/// All variables.
#[derive(Clone, Debug, Default)]
pub(super) struct Variables {
    pub all: Vec<Variable>,
}

impl Variables {
    /// The reference of a variable.
    pub(super) fn reference(&self, kind: Kind) -> usize {
        let place = self.all.iter().position(|v| v.kind == kind);
        place.expect("all kinds of variables are listed")
    }
}

/// Tells whether a name is one of the naming convention `structured`: `a.b[1].c`, `der(a.b)`.
pub(super) fn is_structured(name: &str) -> bool {
    let inner = name.strip_prefix("der(").and_then(|n| n.strip_suffix(')'));
    inner.unwrap_or(name).split('.').all(|part| {
        let (word, index) = part.split_once('[').unwrap_or((part, "1]"));
        let is_letter = |c: char| c.is_ascii_alphabetic() || c == '_';
        let is_number = |n: &str| !n.is_empty() && n.chars().all(|c| c.is_ascii_digit());
        word.starts_with(is_letter)
            && word.chars().all(|c| is_letter(c) || c.is_ascii_digit())
            && index
                .strip_suffix(']')
                .is_some_and(|i| i.split(',').all(is_number))
    })
}

/// Lists the variables.
pub(super) fn variables(export: &Export, is_three: bool) -> Variables {
    let mut list = List::default();
    list.add(Kind::Time, "time", None, export.span.0, "time");

    list.states(export);

    for (k, input) in export.inputs.iter().enumerate() {
        list.add(
            Kind::Input(k),
            &input.name,
            input.unit.clone(),
            input.start,
            "input",
        );
    }

    list.outputs(export);

    list.parameters(export);

    for (k, (name, start)) in export.discrete.iter().enumerate() {
        // Marks of the audit have names that no model can have.
        if name.contains(' ') {
            continue;
        }
        list.add(
            Kind::Discrete(k),
            name,
            None,
            *start,
            "held between ticks and events",
        );
    }

    if is_three {
        list.guards_and_clocks(export);
    }
    Variables { all: list.all }
}

impl List {
    /// States, then their rates.
    fn states(&mut self, export: &Export) {
        for (k, state) in export.states.iter().enumerate() {
            self.add(
                Kind::State(k),
                &state.name,
                state.unit.clone(),
                state.start,
                "state",
            );
            self.last().nominal = state.nominal;
        }

        for (k, state) in export.states.iter().enumerate() {
            self.add(
                Kind::Rate(k),
                &format!("der({})", state.name),
                None,
                0.0,
                "rate of a state",
            );
        }
    }

    fn outputs(&mut self, export: &Export) {
        for (k, output) in export.outputs.iter().enumerate() {
            if export.audit == Some(k) {
                self.add(
                    Kind::Audit(k),
                    &output.name,
                    output.unit.clone(),
                    0.0,
                    "energy that the integration has lost or found",
                );
                continue;
            }
            let what = if output.is_declared {
                "output"
            } else {
                "recorded"
            };
            self.add(
                Kind::Output(k),
                &output.name,
                output.unit.clone(),
                output.start,
                what,
            );
            self.last().is_declared = output.is_declared;
        }
    }

    /// Parameters that are not hidden; those that are fixed have no place in the struct of the code.
    fn parameters(&mut self, export: &Export) {
        let mut place = 0;
        for parameter in &export.parameters {
            let kind = match (parameter.is_fixed, parameter.is_bound) {
                (true, _) => Kind::Number,
                (_, true) => Kind::Bound(place),
                _ => Kind::Parameter(place),
            };
            place += usize::from(!parameter.is_fixed);
            if parameter.is_hidden {
                continue;
            }
            self.add(
                kind,
                &parameter.name,
                parameter.unit.clone(),
                parameter.value,
                "parameter",
            );
            self.last().range = parameter.range;
        }
    }

    /// What FMI 3 shows of events.
    fn guards_and_clocks(&mut self, export: &Export) {
        for k in 0..export.program.n_guards {
            let name = format!("event_indicator[{}]", k + 1);
            self.add(
                Kind::Guard(k),
                &name,
                None,
                0.0,
                "changes its sign at an event",
            );
        }

        for k in 0..export.program.clocks.len() {
            let name = format!("clocks[{}]", k + 1);
            self.add(
                Kind::Clock(k),
                &name,
                None,
                0.0,
                "ticks when its sampled equations run",
            );
        }
    }
}

#[derive(Default)]
struct List {
    all: Vec<Variable>,
    taken: HashMap<String, usize>,
}

impl List {
    fn add(
        &mut self,
        kind: Kind,
        name: &str,
        unit: Option<Unit>,
        start: f64,
        description: &'static str,
    ) {
        // A recorded column may have the name of a state or parameter.
        let mut own = name.to_owned();
        while self.taken.contains_key(&own) {
            own = match kind {
                Kind::Output(_) => format!("outputs.{own}"),
                _ => format!("{own}_"),
            };
        }
        self.taken.insert(own.clone(), self.all.len());
        self.all.push(Variable {
            kind,
            name: own,
            unit,
            start,
            range: (None, None),
            description,
            is_declared: false,
            nominal: 0.0,
        });
    }

    fn last(&mut self) -> &mut Variable {
        self.all.last_mut().expect("one was just added")
    }
}

#[cfg(test)]
mod tests {
    use super::is_structured;

    #[test]
    fn names_are_told_apart() {
        for name in ["a", "a.b_1", "der(link[3].f)", "m[1,2].x"] {
            assert!(is_structured(name), "{name}");
        }
        for name in ["", "a b", "1a", "θ", "a.", "a[x]", "a[1", "der(a", "a-b"] {
            assert!(!is_structured(name), "{name}");
        }
    }
}
