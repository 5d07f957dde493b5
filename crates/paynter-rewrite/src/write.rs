//! Writes the rewritten model into its file.
//!
//! In:  the file as it was, and the net as it is now.
//! Out: the text of the whole file: statements that were not touched stand as they did, names are carried over
//!      in all others and in the experiments of the model.

use crate::expression::quotient;
use crate::net::{BondId, Net, ThingId};
use crate::read::Source;
use crate::subst::{Carrier, Edit, apply_edits};
use crate::walk::{self, dotted, dotted_ref};
use paynter::syntax::ast::{
    Assign, Experiment, ExperimentKind, ItemKind, Record, Stmt, StmtKind, StrokeAt,
};
use paynter::syntax::{FileId, Span, format};
use std::collections::BTreeSet;

/// Writes the file.
pub fn write(source: &Source<'_>, net: &Net) -> String {
    let mut edits = Vec::new();
    let mut writer = Writer::new(net);
    for (at, statement) in source.model.body.iter().enumerate() {
        write_statement(source, &mut writer, (at, statement), &mut edits);
    }
    for item in &source.file.items {
        if let ItemKind::Experiment(e) = &item.kind
            && net.dropped_experiments.contains(&*e.name.text)
        {
            edits.push(without_item(source.text, item.span));
        }
    }
    let is_kept = |e: &&Experiment| !net.dropped_experiments.contains(&*e.name.text);
    for experiment in source.experiments().filter(is_kept) {
        write_experiment(source, net, experiment, &mut edits);
    }
    if let Some(edit) = added(source, net) {
        edits.push(edit);
    }
    let text = apply_edits(source.text, edits);
    format(FileId(0), &text).text
}

/// Edits of one statement of the model.
fn write_statement(
    source: &Source<'_>,
    writer: &mut Writer<'_>,
    (at, statement): (usize, &Stmt),
    edits: &mut Vec<Edit>,
) {
    let net = writer.net;
    let is_chain = matches!(
        statement.kind,
        StmtKind::Chain(_) | StmtKind::NamedBond { .. }
    );
    if is_chain && net.touched.contains(&at) {
        let lines = writer.lines_of(at);
        edits.push(replaced(source.text, statement.span, &lines));
        return;
    }
    if let Some(line) = net.replaced.get(&at) {
        let line = std::slice::from_ref(line);
        edits.push(replaced(source.text, statement.span, line));
        return;
    }
    if let StmtKind::Start(all) = &statement.kind
        && let Some(edit) = fewer_starts(source, net, (all, statement.span))
    {
        edits.push(edit);
        return;
    }
    if let StmtKind::Layout(places) = &statement.kind {
        edits.extend(places.iter().filter_map(|place| {
            let name = source.slice(place.target.span);
            let mut gone = net.things.iter().filter(|t| !t.is_alive);
            let is_gone = gone.any(|t| t.name.as_deref() == Some(&name));
            is_gone.then(|| replaced(source.text, place.span, &[]))
        }));
        return;
    }
    carry(net, edits, |carrier| walk::statement(statement, carrier));
}

/// Edits of an experiment that is kept: further lines, and old names in the others.
fn write_experiment(
    source: &Source<'_>,
    net: &Net,
    experiment: &Experiment,
    edits: &mut Vec<Edit>,
) {
    let name = &*experiment.name.text;
    let lines = net.added_to.iter().filter(|(e, _)| e == name);
    let text: String = lines.map(|(_, l)| format!("\n    {l}\n")).collect();
    if let Some(first) = experiment.body.first().filter(|_| !text.is_empty()) {
        let at = first.span.start as usize;
        edits.push(Edit {
            start: at,
            end: at,
            text,
        });
    }

    for statement in &experiment.body {
        if let ExperimentKind::Start(all) = &statement.kind
            && let Some(edit) = fewer_starts(source, net, (all, statement.span))
        {
            edits.push(edit);
            continue;
        }
        if let ExperimentKind::Record(records) = &statement.kind {
            edits.extend(records.iter().filter_map(|r| column_name(net, r)));
        }
        carry(net, edits, |carrier| walk::experiment(statement, carrier));
    }
}

fn carry(net: &Net, edits: &mut Vec<Edit>, visit: impl FnOnce(&mut Carrier<'_>)) {
    let mut carrier = Carrier {
        net,
        edits: Vec::new(),
    };
    visit(&mut carrier);
    edits.extend(carrier.edits);
}

/// An experiment with the lines of documentation above it.
fn without_item(text: &str, span: paynter::syntax::Span) -> Edit {
    let mut start = text[..span.start as usize].rfind('\n').map_or(0, |k| k + 1);
    while let Some(above) = text[..start].strip_suffix('\n') {
        let line = above.rfind('\n').map_or(0, |k| k + 1);
        if !text[line..start].trim_start().starts_with("///") {
            break;
        }
        start = line;
    }
    let end = span.end as usize;
    Edit {
        start: start.min(span.start as usize),
        end: text[end..].find('\n').map_or(end, |k| end + k + 1),
        text: String::new(),
    }
}

/// A line of start values without those that follow from others; none if all of them stay.
fn fewer_starts(source: &Source<'_>, net: &Net, (all, span): (&[Assign], Span)) -> Option<Edit> {
    let is_dropped = |a: &Assign| {
        dotted_ref(&a.target).is_some_and(|p| net.dropped_starts.contains(&p.join(".")))
    };
    if !all.iter().any(is_dropped) {
        return None;
    }
    let kept: Vec<String> = all
        .iter()
        .filter(|a| !is_dropped(a))
        .map(|a| {
            let path = source.slice(a.target.span);
            let value = net.carried_text(&source.slice(a.value.span));
            match net.target_of(&path) {
                Some((of, factor)) => format!("{of} = {}", quotient(&value, &factor)),
                None => format!("{path} = {value}"),
            }
        })
        .collect();
    let lines: Vec<String> = match kept.is_empty() {
        true => Vec::new(),
        false => vec![format!("start {}", kept.join(", "))],
    };
    Some(replaced(source.text, span, &lines))
}

/// A recorded quantity that means something else now keeps the name of its column, with `_` for the dot.
fn column_name(net: &Net, record: &Record) -> Option<Edit> {
    let path = dotted(&record.value)?.join(".");
    net.images.get(&path).filter(|_| record.alias.is_none())?;
    let at = record.value.span.end as usize;
    Some(Edit {
        start: at,
        end: at,
        text: format!(" as {}", path.replace('.', "_")),
    })
}

/// New lines, at the end of the model.
fn added(source: &Source<'_>, net: &Net) -> Option<Edit> {
    if net.added.is_empty() {
        return None;
    }
    let last = source.model.body.iter().map(|s| s.span.end).max()? as usize;
    let line_end = source.text[last..].find('\n').map_or(last, |k| last + k);
    // A brace or a further statement on the same line stays behind what is added.
    let behind = source.text[last..line_end].trim_start();
    let at = match behind.is_empty() || behind.starts_with("//") {
        true => line_end,
        false => last,
    };
    // A line may read what went after it was added.
    let lines = net.added.iter().map(|l| net.carried_line(l));
    let text: String = lines.map(|l| format!("\n    {l}")).collect();
    let text = if at == last {
        format!("{text}\n")
    } else {
        text
    };
    Some(Edit {
        start: at,
        end: at,
        text,
    })
}

/// A statement replaced by lines; its own line goes where none are left.
fn replaced(text: &str, span: paynter::syntax::Span, lines: &[String]) -> Edit {
    let (mut start, mut end) = (span.start as usize, span.end as usize);
    if !lines.is_empty() {
        return Edit {
            start,
            end,
            text: lines.join("\n    "),
        };
    }
    let line_start = text[..start].rfind('\n').map_or(0, |k| k + 1);
    let line_end = text[end..].find('\n').map_or(text.len(), |k| end + k);
    let before_is_blank = text[line_start..start].trim().is_empty();
    let behind = text[end..line_end].trim_start();
    if before_is_blank && (behind.is_empty() || behind.starts_with("//")) {
        (start, end) = (line_start, (line_end + 1).min(text.len()));
    } else if behind.starts_with(';') {
        end += text[end..].find(';').map_or(0, |k| k + 1);
    } else if let Some(k) = text[line_start..start].rfind(';') {
        start = line_start + k;
    }
    Edit {
        start,
        end,
        text: String::new(),
    }
}

struct Writer<'n> {
    net: &'n Net,
    statement: usize,
    /// Bonds that stand in the text: those of statements which were not touched from the beginning.
    written: BTreeSet<BondId>,
    made: BTreeSet<ThingId>,
    lines: Vec<String>,
}

impl<'n> Writer<'n> {
    fn new(net: &'n Net) -> Self {
        let is_there = |b: &BondId| !net.touched.contains(&net.bonds[*b].owner);
        Writer {
            net,
            statement: 0,
            written: (0..net.bonds.len()).filter(is_there).collect(),
            made: BTreeSet::new(),
            lines: Vec::new(),
        }
    }

    /// The lines of a statement that was touched.
    fn lines_of(&mut self, statement: usize) -> Vec<String> {
        self.statement = statement;
        let net = self.net;
        let owned: Vec<BondId> = (0..net.bonds.len())
            .filter(|&b| net.bonds[b].is_alive && net.bonds[b].owner == statement)
            .collect();
        for &bond in &owned {
            self.chain_from(bond, &owned);
        }
        // What has all its bonds in other statements is made on a line of its own.
        for thing in net.alive() {
            let t = &net.things[thing];
            if t.owner == Some(statement) && t.name.is_some() && !self.made.contains(&thing) {
                let node = self.node(thing);
                self.lines.push(node);
            }
        }
        std::mem::take(&mut self.lines)
    }

    /// Writes the chain that a bond belongs to.
    fn chain_from(&mut self, bond: BondId, owned: &[BondId]) {
        if self.written.contains(&bond) {
            return;
        }
        // An unnamed two-port needs its way in on the same line.
        let mut first = bond;
        while let Some(before) = self.way_in(self.net.bonds[first].tail, first) {
            first = before;
        }
        if let Some(name) = &self.net.bonds[first].name {
            let name = name.clone();
            let line = self.line(first, owned, true);
            self.lines.push(format!("bond {name}: {line}"));
            return;
        }
        let line = self.line(first, owned, false);
        self.lines.push(line);
    }

    /// The bond into an unnamed two-port, unless it is written.
    fn way_in(&self, thing: ThingId, than: BondId) -> Option<BondId> {
        let t = &self.net.things[thing];
        if t.name.is_some() || t.kind.is_junction() {
            return None;
        }
        let mut bonds = self.net.at(thing).into_iter();
        bonds.find(|&b| b != than && self.net.bonds[b].head == thing && !self.written.contains(&b))
    }

    fn line(&mut self, first: BondId, owned: &[BondId], is_single: bool) -> String {
        let mut line = self.node(self.net.bonds[first].tail);
        let mut next = Some(first);
        while let Some(bond) = next {
            self.written.insert(bond);
            let (head, tail) = (self.net.bonds[bond].head, self.net.bonds[bond].tail);
            line.push_str(arrow(self.net.bonds[bond].stroke));
            line.push_str(&self.node(head));
            next = self.next(head, owned).filter(|_| !is_single);
            if next.is_none() && !is_single {
                self.fan_out(tail, owned, &mut line);
            }
        }
        line
    }

    /// The bond by which a chain goes on.
    fn next(&self, from: ThingId, owned: &[BondId]) -> Option<BondId> {
        let t = &self.net.things[from];
        let goes = |b: &&BondId| {
            let bond = &self.net.bonds[**b];
            bond.tail == from && bond.name.is_none() && !self.written.contains(b)
        };
        if t.kind.is_two_port() {
            // The way out may belong to another statement; an unnamed two-port needs it here.
            let all = self.net.at(from);
            return all.iter().find(goes).copied();
        }
        owned.iter().find(goes).copied()
    }

    /// Further one-ports behind the same node: `a -> b, c`.
    fn fan_out(&mut self, tail: ThingId, owned: &[BondId], line: &mut String) {
        if !self.net.things[tail].kind.is_junction() {
            return;
        }
        for &bond in owned {
            let b = &self.net.bonds[bond];
            let is_leaf = self.net.things[b.head].kind.is_one_port();
            let is_plain = b.stroke.is_none() && b.name.is_none();
            if b.tail == tail && is_leaf && is_plain && !self.written.contains(&bond) {
                self.written.insert(bond);
                let node = self.node(b.head);
                line.push_str(&format!(", {node}"));
            }
        }
    }

    /// A node: with its definition where this statement makes it for the first time.
    fn node(&mut self, thing: ThingId) -> String {
        let t = &self.net.things[thing];
        let def = || self.net.carried_def(&t.def);
        let Some(name) = &t.name else {
            self.made.insert(thing);
            return def();
        };
        if t.owner == Some(self.statement) && self.made.insert(thing) {
            return format!("{name}: {}", def());
        }
        name.clone()
    }
}

fn arrow(stroke: Option<StrokeAt>) -> &'static str {
    match stroke {
        None => " -> ",
        Some(StrokeAt::Tail) => " |-> ",
        Some(StrokeAt::Head) => " ->| ",
    }
}
