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
use super::speeds::Basis;
use super::system::{Kept, Role, System};
use paynter_symbolic::{ExprId, SymbolId};
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
    (forms, basis): (&Forms, &Basis),
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
    writer.tops(system, basis);
    writer.followers(system, forms, basis);
    writer.rate_junctions(system, forms, basis);
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

    /// Junctions that move by themselves, or as they are driven.
    fn tops(&mut self, system: &mut System, basis: &Basis) {
        for top in &basis.tops {
            let comment = match top.symbol {
                Some(symbol) => comment_of(system, symbol),
                None => format!("what {} asks for", top.label),
            };
            let start = format!("{}: 1", top.junction);
            self.junction(&start, &top.junction, &comment, top.span);
            let Some((flow, source)) = &top.drive else {
                continue;
            };
            // A constraint has its name already, a given motion has none for its drive.
            let source = match top.symbol {
                Some(_) => system.fresh(source),
                None => source.clone(),
            };
            let text = format!("{source}: Sf({}) -> {}", shown(system, *flow), top.junction);
            self.line(text, "its effort is what the motion takes", top.span);
        }
    }

    /// Junctions of coordinates that follow from speeds.
    fn followers(&mut self, system: &mut System, forms: &Forms, basis: &Basis) {
        for i in 0..system.coordinates.len() {
            let velocity = system.coordinates[i].velocity;
            if basis.top_of(velocity).is_some() {
                continue;
            }
            let follower = Follower {
                name: velocity_junction(system, i),
                comment: comment_of(system, velocity),
                span: system.coordinates[i].span,
                sources: sources(system, basis, &forms.velocities[i]),
            };
            self.follower(system, &follower);
        }
    }

    /// Junctions of rates, each behind those it is made of.
    fn rate_junctions(&mut self, system: &mut System, forms: &Forms, basis: &Basis) {
        let mut is_written: Vec<bool> = system
            .rates
            .iter()
            .map(|rate| {
                let is_own = original(system, rate.symbol) == rate.symbol;
                !is_own || basis.top_of(rate.symbol).is_some()
            })
            .collect();
        loop {
            let next = (0..is_written.len()).find(|&k| {
                let is_ready = |s: SymbolId| match system.role(original(system, s)) {
                    Role::Rate(other) => is_written[other],
                    _ => true,
                };
                let mut terms = forms.rates[k].terms.iter();
                // Speeds are all written before.
                !is_written[k] && (!basis.is_plain() || terms.all(|t| is_ready(t.source)))
            });
            let Some(k) = next else { break };
            is_written[k] = true;
            let sources = sources(system, basis, &forms.rates[k]);
            let rate = &system.rates[k];
            let follower = Follower {
                name: rate.name.clone(),
                comment: comment_of(system, rate.symbol),
                span: rate.span,
                sources,
            };
            self.follower(system, &follower);
        }
    }

    /// A flow that follows from others: behind a transformer, or as a sum at a 0-junction.
    fn follower(&mut self, system: &mut System, follower: &Follower) {
        let (name, span) = (follower.name.as_str(), follower.span);
        let comment = &follower.comment;
        if follower.sources.is_empty() {
            // No speed moves it: the constraints hold it.
            let rest = system.fresh(&format!("{name}_held"));
            self.junction(&format!("{name}: 1"), name, comment, span);
            self.line(
                format!("{rest}: Sf(0) -> {name}"),
                "held by constraints",
                span,
            );
            return;
        }
        if let [(source, coefficient)] = follower.sources.as_slice() {
            let start = if is_number(system, *coefficient, 1.0) {
                format!("{source} -> {name}: 1")
            } else {
                let ratio = shown(system, *coefficient);
                format!("{source} -> TF({ratio}) -> {name}: 1")
            };
            self.junction(&start, name, comment, span);
            return;
        }
        let sum = system.fresh(&format!("sum_{name}"));
        self.junction(&format!("{sum}: 0 -> {name}: 1"), name, comment, span);
        for (source, coefficient) in &follower.sources {
            let text = if is_number(system, *coefficient, 1.0) {
                format!("{source} -> {sum}")
            } else if is_number(system, *coefficient, -1.0) {
                format!("{sum} -> {source}")
            } else {
                let ratio = shown(system, *coefficient);
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

/// A junction whose flow follows from others.
struct Follower {
    name: String,
    comment: String,
    span: Span,
    /// The junctions it is summed from, each with its coefficient.
    sources: Vec<(String, ExprId)>,
}

/// What a velocity or rate is, as the user wrote it.
fn comment_of(system: &System, symbol: SymbolId) -> String {
    match system.role(symbol) {
        Role::Velocity(i) => format!("der({})", system.coordinates[i].name),
        Role::Rate(k) if !system.rates[k].text.is_empty() => {
            format!("{} = {}", system.rates[k].name, system.rates[k].text)
        }
        _ => String::new(),
    }
}

/// The junctions that a flow is summed from. Made of speeds alone, it stays as it is written; else it follows from
/// the speeds by its partial velocities.
fn sources(system: &mut System, basis: &Basis, form: &Form) -> Vec<(String, ExprId)> {
    let is_top = |s: SymbolId| basis.top_of(original(system, s)).is_some();
    if basis.is_plain() || form.terms.iter().all(|term| is_top(term.source)) {
        let terms = form.terms.iter();
        return terms
            .map(|term| (junction_of(system, term.source), term.coefficient))
            .collect();
    }
    let row = basis.over(system, &form.over);
    row.into_iter()
        .map(|(top, coefficient)| (basis.tops[top].junction.clone(), coefficient))
        .collect()
}
