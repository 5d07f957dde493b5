//! Second pass, bonds: one scalar bond of the graph with its effort and flow.
//!
//! In:  two terminals, the place of the arrow, and where a stroke is forced.
//! Out: a bond of the graph with its symbols.
//!
//! **Invariant:** names of efforts and flows come from the text; nothing is numbered by hand.

use paynter_symbolic::{Names, PathId, Role, Symbol, SymbolId};
use paynter_syntax::{Diagnostic, Span};

use super::data::*;
use super::read::is_two_port;
use super::{Elaborator, code};
use crate::graph::{Bond, ElementId, ElementKind, End, GroupId, Stroke};
use crate::kinds::Nature;

/// A port of an element or junction.
#[derive(Clone, Copy)]
struct ThingPort {
    thing: ThingId,
    port: u32,
}

impl ThingPort {
    fn of(terminal: Terminal) -> Option<Self> {
        match terminal {
            Terminal::Thing { thing, port } => Some(ThingPort { thing, port }),
            _ => None,
        }
    }
}

/// The two ends of a bond; power counts from tail to head.
#[derive(Clone, Copy)]
struct BondEnds {
    tail: ThingPort,
    head: ThingPort,
}

impl<'a> Elaborator<'a> {
    /// Says that an element that takes power would give it, and what was meant: `r -> c` means a
    /// series connection, which is a junction that both hang on.
    fn report_arrow_out(&mut self, tail: ThingId, head: ThingId, span: Span) {
        let (t, h) = (
            &self.tables.things[tail.at()],
            &self.tables.things[head.at()],
        );
        let (letters, at) = (t.kind.letters(), t.span);
        let text = match t.name {
            Some(_) => format!(
                "an arrow leaves {}, which is {} {letters}",
                self.thing_name(tail),
                super::law::article(t.kind)
            ),
            None => format!("an arrow leaves the {letters}"),
        };
        let (name, other) = (self.as_written(tail), self.as_written(head));
        let help = match h.kind.is_junction() {
            true => format!("reverse the arrow: `{other} -> {name}`"),
            false => format!(
                "elements meet at junctions: write `… -> j: 1 -> {name}, {other}` where they share the flow (in series), and `j: 0` where they share the effort (in parallel)"
            ),
        };
        report!(self, code::ARROW_OUT, span, "{text}";
            "power flows along the arrow, and this element takes power";
            beside at => "the {letters}";
            help: "{help}");
    }

    /// Makes a scalar bond with its effort and flow.
    pub(super) fn make_bond(
        &mut self,
        tail: Terminal,
        head: Terminal,
        forced: Option<Stroke>,
        span: Span,
        group: Option<(GroupId, u32)>,
        named: Option<NamedBondId>,
    ) -> Option<u32> {
        let ends = BondEnds {
            tail: ThingPort::of(tail)?,
            head: ThingPort::of(head)?,
        };
        let ends = self.along_power(ends, span)?;
        for end in [ends.tail, ends.head] {
            let t = &self.tables.things[end.thing.at()];
            if !t.kind.is_junction()
                && let Some(&(_, first)) = t.bonds.iter().find(|(p, _)| *p == end.port)
            {
                self.report_port_twice(end.thing, first, span);
                return None;
            }
        }

        let id = self.graph.bonds.len() as u32;
        let origin = self.origin(span);
        let bond_name = named.map(|n| self.tables.named_bonds[n.at()].path);
        let (effort, flow) = self.bond_symbols(ends, bond_name, span);
        for end in [ends.tail, ends.head] {
            let bonds = &mut self.tables.things[end.thing.at()].bonds;
            bonds.push((end.port, id));
        }
        if let Some(named) = named {
            self.tables.named_bonds[named.at()].bonds.push(id);
        }

        // Things stand in for elements until these are made.
        let end = |end: ThingPort| End {
            element: ElementId(end.thing.0),
            port: end.port,
        };
        self.graph.bonds.push(Bond {
            tail: end(ends.tail),
            head: end(ends.head),
            effort,
            flow,
            forced,
            name: bond_name,
            part_of: group,
            domain: None,
            origin,
        });
        Some(id)
    }

    /// The ends such that power flows along the arrow; reports an arrow that leaves what takes power.
    fn along_power(&mut self, ends: BondEnds, span: Span) -> Option<BondEnds> {
        let BondEnds { tail, head } = ends;
        if !takes_power(&self.tables.things[tail.thing.at()]) {
            return Some(ends);
        }
        self.report_arrow_out(tail.thing, head.thing, span);
        if takes_power(&self.tables.things[head.thing.at()]) {
            return None;
        }
        // Go on as if it were right, so that nothing else is reported for it.
        Some(BondEnds {
            tail: head,
            head: tail,
        })
    }

    /// Reports a second bond at a port that takes one.
    fn report_port_twice(&mut self, thing: ThingId, first: u32, span: Span) {
        let t = &self.tables.things[thing.at()];
        let origin = self.graph.bonds[first as usize].origin;
        let first = self.graph.span(origin);
        let (letters, article) = (t.kind.letters(), super::law::article(t.kind));
        let name = self.thing_name(thing);
        self.report.add(code::PORT_TWICE, span, || {
            let message = Diagnostic::error(code::PORT_TWICE, format!("{name} is on two bonds"))
                .primary(span, "a second bond");
            let message = match first == span {
                true => message,
                false => message.secondary(first, "the first"),
            };
            message.help(format!(
                "a port of {article} {letters} is on one bond; join several at a junction"
            ))
        });
    }

    /// Names effort and flow after what the user calls them: `c1.e`, `node.e`, `mesh.f`.
    fn bond_symbols(
        &mut self,
        ends: BondEnds,
        named: Option<PathId>,
        span: Span,
    ) -> (SymbolId, SymbolId) {
        let origin = self.origin(span);
        let (effort, flow) = match named {
            Some(path) => {
                let names = &mut self.graph.signals.names;
                (names.child(path, "e", None), names.child(path, "f", None))
            }
            None => (
                self.variable_name(ends, "e", ElementKind::Zero),
                self.variable_name(ends, "f", ElementKind::One),
            ),
        };
        let mut add = |name| {
            self.graph.signals.add_symbol(Symbol {
                name,
                role: Role::Unknown,
                nominal: 0.0,
                origin,
            })
        };
        (add(effort), add(flow))
    }

    /// The name of the effort or flow of a bond; junctions of the kind `shared_at` share it.
    fn variable_name(&mut self, ends: BondEnds, letter: &str, shared_at: ElementKind) -> PathId {
        let BondEnds { tail, head } = ends;
        // An element's own bond is named after it.
        for ThingPort { thing, port } in [head, tail] {
            let t = &self.tables.things[thing.at()];
            let (Some(name), false) = (t.name, t.kind.is_junction()) else {
                continue;
            };
            let names = &mut self.graph.signals.names;
            return if is_two_port(t) {
                let side = names.child(name, if port % 2 == 0 { "in" } else { "out" }, None);
                let index = t.is_vector.then(|| i64::from(port / 2) + 1);
                names.child(side, letter, index)
            } else {
                let index = t.is_vector.then(|| i64::from(port) + 1);
                names.child(name, letter, index)
            };
        }

        // The variable that all bonds of a junction share is named after the junction.
        for ThingPort { thing, port } in [head, tail] {
            let t = &self.tables.things[thing.at()];
            if let (Some(name), true) = (t.name, t.kind == shared_at) {
                let index = t.is_vector.then(|| i64::from(port) + 1);
                return self.graph.signals.names.child(name, letter, index);
            }
        }

        self.name_between(tail.thing, head.thing, letter)
    }

    /// What leaves a junction towards something: `turn.to.along.e`.
    fn name_between(&mut self, tail: ThingId, head: ThingId, letter: &str) -> PathId {
        let (from, to) = (
            &self.tables.things[tail.at()],
            &self.tables.things[head.at()],
        );
        let (base, word, other, letters) = match (from.name, to.name) {
            (Some(base), other) => (base, "to", other, to.kind.letters()),
            (None, Some(base)) => (base, "from", None, from.kind.letters()),
            (None, None) => (Names::ROOT, "bond", None, to.kind.letters()),
        };

        let names = &mut self.graph.signals.names;
        let way = names.child(base, word, None);
        let towards = match other {
            Some(path) => {
                let (text, index) = names.last(path);
                let text = text.to_owned();
                names.child(way, &text, index)
            }
            None => names.child(way, letters, None),
        };
        let name = names.child(towards, letter, None);

        // Unnamed elements between the same two nodes are numbered.
        let count = self.wiring.unnamed_bonds.entry(name).or_insert(0);
        *count += 1;
        match (*count, names.parent(towards)) {
            (1, _) | (_, None) => name,
            (n, Some(way)) => {
                let text = names.last(towards).0.to_owned();
                let towards = names.child(way, &text, Some(n));
                names.child(towards, letter, None)
            }
        }
    }

    /// Names a thing for messages.
    /// The name of a thing, or the letters of one that has none.
    fn as_written(&self, thing: ThingId) -> String {
        let t = &self.tables.things[thing.at()];
        match t.name {
            Some(name) => self.graph.signals.names.last(name).0.to_owned(),
            None => format!("{}(…)", t.kind.letters()),
        }
    }

    pub(super) fn thing_name(&self, thing: ThingId) -> String {
        let t = &self.tables.things[thing.at()];
        match t.name {
            Some(name) => format!("`{}`", self.graph.signals.names.display(name)),
            None => format!("the {} without a name", t.kind.letters()),
        }
    }
}

pub(super) fn takes_power(thing: &Thing<'_>) -> bool {
    match thing.kind {
        ElementKind::Gy => thing.is_one_port_gyrator(),
        kind => matches!(
            kind.nature(),
            Nature::Resistor | Nature::Contact | Nature::Storage
        ),
    }
}
