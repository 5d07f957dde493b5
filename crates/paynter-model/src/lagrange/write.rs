//! Writes the bond graph of a Lagrangian as the text of a model.
//!
//! In:  coordinates, forms, inertias, elements and gyrators.
//! Out: lines in the order of a textbook: junctions with their storages, transformers, gyrators, sources.

use super::elements::{Elements, Load, Written};
use super::forms::{Form, Forms};
use super::gyrators::Gyrator;
use super::kinetic::Kinetic;
use super::names::{junction_of, original, shown, velocity_junction};
use super::points::is_number;
use super::read::spaced;
use super::system::{Kept, Role, System, TIME};
use paynter_symbolic::SymbolId;
use paynter_symbolic::calculus::derivative;
use paynter_syntax::Span;

/// One statement of the model, and the statement that made it.
#[derive(Clone, Debug, PartialEq)]
pub struct Line {
    /// Without indentation.
    pub text: String,
    /// Behind it, without the slashes; may be empty.
    pub comment: String,
    /// Where it comes from.
    pub span: Span,
    /// Parts of the text that come from elsewhere: (end in the text, place), ascending.
    pub parts: Vec<(usize, Span)>,
}

/// Writes everything.
pub(super) fn lines(
    system: &mut System,
    forms: &Forms,
    kinetic: &Kinetic,
    elements: Elements,
    gyrators: &[Gyrator],
) -> Vec<Line> {
    let mut writer = Writer {
        lines: Vec::new(),
        loads: Vec::new(),
    };
    writer.kept(std::mem::take(&mut system.head));
    for inertia in &kinetic.inertias {
        let size = shown(system, inertia.size);
        writer.loads.push(Load {
            junction: junction_of(system, inertia.rate),
            text: format!("{}: I({size})", inertia.name),
            span: inertia.span,
        });
    }
    writer.loads.extend(elements.loads);
    writer.coordinate_junctions(system);
    writer.rate_junctions(system, forms);
    writer.field(system, kinetic);
    writer.written(elements.fields);
    for gyrator in gyrators {
        let modulus = shown(system, gyrator.modulus);
        let text = format!("{} -> GY({modulus}) -> {}", gyrator.from, gyrator.to);
        writer.line(text, &gyrator.why, gyrator.span);
    }
    writer.written(elements.locks);
    for effort in system.effort.clone() {
        let junction = junction_of(system, effort.on);
        let text = format!("{}: Se({}) -> {junction}", effort.name, effort.text);
        writer.line(text, "", effort.span);
    }
    writer.coordinates(system, &elements.stored);
    writer.written(elements.starts);
    writer.kept(std::mem::take(&mut system.tail));
    writer.lines
}

struct Writer {
    lines: Vec<Line>,
    loads: Vec<Load>,
}

impl Writer {
    fn line(&mut self, text: String, comment: &str, span: Span) {
        self.lines.push(Line {
            text,
            comment: comment.to_owned(),
            span,
            parts: Vec::new(),
        });
    }

    fn kept(&mut self, lines: Vec<Kept>) {
        for line in lines {
            self.line(line.text, "", line.span);
        }
    }

    fn written(&mut self, lines: Vec<Written>) {
        for line in lines {
            self.line(line.text, &line.comment, line.span);
        }
    }

    /// A junction with what hangs on it.
    fn junction(&mut self, start: &str, name: &str, comment: &str, span: Span) {
        let mut text = start.to_owned();
        let mut parts = vec![(text.len(), span)];
        for load in self.loads.iter().filter(|load| load.junction == name) {
            text.push_str(if parts.len() == 1 { " -> " } else { ", " });
            text.push_str(&load.text);
            parts.push((text.len(), load.span));
        }
        self.line(text, comment, span);
        if let Some(line) = self.lines.last_mut() {
            line.parts = parts;
        }
    }

    fn coordinate_junctions(&mut self, system: &mut System) {
        for i in 0..system.coordinates.len() {
            let name = velocity_junction(system, i);
            let coordinate = system.coordinates[i].clone();
            let comment = format!("der({})", coordinate.name);
            self.junction(&format!("{name}: 1"), &name, &comment, coordinate.span);
            if let Some(given) = coordinate.given {
                let rate = derivative(&mut system.pool, given, TIME);
                let rate = system.simplify(rate);
                let drive = system.fresh(&format!("{}_drive", coordinate.name));
                let text = format!("{drive}: Sf({}) -> {name}", shown(system, rate));
                self.line(text, "its effort is what the motion takes", coordinate.span);
            }
        }
    }

    /// Junctions of rates, each behind those it is made of.
    fn rate_junctions(&mut self, system: &mut System, forms: &Forms) {
        let is_own = |system: &System, s: SymbolId| original(system, s) == s;
        let mut is_written: Vec<bool> = system
            .rates
            .iter()
            .map(|rate| !is_own(system, rate.symbol))
            .collect();
        loop {
            let next = (0..is_written.len()).find(|&k| {
                let is_ready = |s: SymbolId| match system.role(original(system, s)) {
                    Role::Rate(other) => is_written[other],
                    _ => true,
                };
                !is_written[k] && forms.rates[k].terms.iter().all(|t| is_ready(t.source))
            });
            let Some(k) = next else { break };
            is_written[k] = true;
            self.rate(system, &forms.rates[k], k);
        }
    }

    /// A rate: behind a transformer, or as a sum at a 0-junction.
    fn rate(&mut self, system: &mut System, form: &Form, k: usize) {
        let rate = system.rates[k].clone();
        let (name, span) = (rate.name.as_str(), rate.span);
        let comment = match rate.text.is_empty() {
            true => String::new(),
            false => format!("{name} = {}", rate.text),
        };
        if let [only] = form.terms.as_slice() {
            let source = junction_of(system, only.source);
            let start = if is_number(system, only.coefficient, 1.0) {
                format!("{source} -> {name}: 1")
            } else {
                let ratio = shown(system, only.coefficient);
                format!("{source} -> TF({ratio}) -> {name}: 1")
            };
            self.junction(&start, name, &comment, span);
            return;
        }
        let sum = system.fresh(&format!("sum_{name}"));
        self.junction(&format!("{sum}: 0 -> {name}: 1"), name, &comment, span);
        for term in &form.terms {
            let source = junction_of(system, term.source);
            let text = if is_number(system, term.coefficient, 1.0) {
                format!("{source} -> {sum}")
            } else if is_number(system, term.coefficient, -1.0) {
                format!("{sum} -> {source}")
            } else {
                let ratio = shown(system, term.coefficient);
                format!("{source} -> TF({ratio}) -> {sum}")
            };
            self.line(text, "", span);
        }
    }

    /// Inertias that are one matrix.
    fn field(&mut self, system: &mut System, kinetic: &Kinetic) {
        let Some(field) = &kinetic.field else { return };
        let n = field.coordinates.len();
        let junctions = field.coordinates.iter();
        let junctions: Vec<String> = junctions.map(|&i| velocity_junction(system, i)).collect();
        let entries: Vec<String> = field.matrix.iter().map(|&e| shown(system, e)).collect();
        let rows: Vec<String> = entries.chunks(n).map(|row| row.join(", ")).collect();
        let text = format!(
            "({}) => {}: I[{n}]([{}])",
            junctions.join(", "),
            field.name,
            rows.join("; ")
        );
        self.line(text, "", field.span);
    }

    /// Names of the coordinates in the model.
    fn coordinates(&mut self, system: &mut System, stored: &[Option<String>]) {
        for i in 0..system.coordinates.len() {
            let coordinate = system.coordinates[i].clone();
            let name = format!("{}{}", coordinate.name, spaced(&coordinate.unit));
            let text = match (coordinate.given, &stored[i]) {
                (Some(given), _) => format!("{name} = {}", shown(system, given)),
                (None, Some(stored)) => format!("{name} = {stored}"),
                (None, None) => {
                    format!(
                        "der({}) = {}.f",
                        coordinate.name,
                        velocity_junction(system, i)
                    )
                }
            };
            self.line(text, "", coordinate.span);
        }
    }
}
