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
        let (
            Terminal::Thing {
                thing: mut tail,
                port: mut tail_port,
            },
            Terminal::Thing {
                thing: mut head,
                port: mut head_port,
            },
        ) = (tail, head)
        else {
            return None;
        };

        if takes_power(&self.tables.things[tail.at()]) {
            self.report_arrow_out(tail, head, span);
            if takes_power(&self.tables.things[head.at()]) {
                return None;
            }
            // Go on as if it were right, so that nothing else is reported for it.
            (tail, head) = (head, tail);
            (tail_port, head_port) = (head_port, tail_port);
        }

        for (thing, port) in [(tail, tail_port), (head, head_port)] {
            let t = &self.tables.things[thing.at()];
            if !t.kind.is_junction()
                && let Some(&(_, first)) = t.bonds.iter().find(|(p, _)| *p == port)
            {
                self.report_port_twice(thing, first, span);
                return None;
            }
        }

        let id = self.graph.bonds.len() as u32;
        let origin = self.origin(span);
        let bond_name = named.map(|n| self.tables.named_bonds[n.at()].path);
        let (effort, flow) = self.bond_symbols(tail, head, tail_port, head_port, bond_name, span);
        self.tables.things[tail.at()].bonds.push((tail_port, id));
        self.tables.things[head.at()].bonds.push((head_port, id));
        if let Some(named) = named {
            self.tables.named_bonds[named.at()].bonds.push(id);
        }
        let end = |thing: ThingId, port: u32| End {
            element: ElementId(thing.0),
            port,
        };

        self.graph.bonds.push(Bond {
            // Things stand in for elements until these are made.
            tail: end(tail, tail_port),
            head: end(head, head_port),
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

    /// Reports a second bond at a port that takes one.
    fn report_port_twice(&mut self, thing: ThingId, first: u32, span: Span) {
        let t = &self.tables.things[thing.at()];
        let origin = self.graph.bonds[first as usize].origin;
        let first = self.graph.span(origin);
        let (letters, name) = (t.kind.letters(), self.thing_name(thing));
        self.report.add(code::PORT_TWICE, span, || {
            let message = Diagnostic::error(code::PORT_TWICE, format!("{name} is on two bonds"))
                .primary(span, "a second bond");
            let message = match first == span {
                true => message,
                false => message.secondary(first, "the first"),
            };
            message.help(format!(
                "a port of an {letters} is on one bond; join several at a junction"
            ))
        });
    }

    /// Names effort and flow after what the user calls them: `c1.e`, `node.e`, `mesh.f`.
    fn bond_symbols(
        &mut self,
        tail: ThingId,
        head: ThingId,
        tail_port: u32,
        head_port: u32,
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
                self.variable_name(tail, head, tail_port, head_port, "e", ElementKind::Zero),
                self.variable_name(tail, head, tail_port, head_port, "f", ElementKind::One),
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

    fn variable_name(
        &mut self,
        tail: ThingId,
        head: ThingId,
        tail_port: u32,
        head_port: u32,
        letter: &str,
        shared_at: ElementKind,
    ) -> PathId {
        let ends = [(head, head_port), (tail, tail_port)];
        // An element's own bond is named after it.
        for (thing, port) in ends {
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
        for (thing, port) in ends {
            let t = &self.tables.things[thing.at()];
            if let (Some(name), true) = (t.name, t.kind == shared_at) {
                let index = t.is_vector.then(|| i64::from(port) + 1);
                return self.graph.signals.names.child(name, letter, index);
            }
        }

        // Otherwise: what leaves a junction towards something, `turn.to.along.e`.
        let (from, to) = (
            self.tables.things[tail.at()].name,
            self.tables.things[head.at()].name,
        );
        let letters = |this: &Self, thing: ThingId| this.tables.things[thing.at()].kind.letters();
        let (base, word, other) = match (from, to) {
            (Some(from), _) => (from, "to", (to, letters(self, head), tail_port)),
            (None, Some(to)) => (to, "from", (None, letters(self, tail), head_port)),
            (None, None) => (Names::ROOT, "bond", (None, letters(self, head), tail_port)),
        };

        let names = &mut self.graph.signals.names;
        let way = names.child(base, word, None);
        let towards = match other.0 {
            Some(path) => {
                let (text, index) = names.last(path);
                let text = text.to_owned();
                names.child(way, &text, index)
            }
            None => names.child(way, other.1, None),
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
