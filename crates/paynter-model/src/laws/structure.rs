//! Checks of bonds and junctions that need no causality.
//!
//! In:  the flat graph.
//! Out: messages about bonds between two sources, bonds to oneself, idle junctions.

use paynter_symbolic::walk::depends_on;
use paynter_symbolic::{Names, SymbolId};
use paynter_syntax::Diagnostic;

use super::Checker;
use crate::code;
use crate::graph::{ElementId, ElementKind, End, ReadingKind};

impl Checker<'_> {
    pub(super) fn check_structure(&mut self) {
        for bond in &self.graph.bonds {
            let (tail, head) = (bond.tail.element, bond.head.element);
            let span = self.graph.span(bond.origin);
            if tail == head {
                let name = self.name(tail);
                self.report(
                    Diagnostic::error(
                        code::BOND_TO_ITSELF,
                        format!("a bond leads from {name} to itself"),
                    )
                    .primary(span, "power that leaves it must arrive elsewhere"),
                );
            } else if self.is_source(tail) && self.is_source(head) {
                let (first, second) = (self.name(tail), self.name(head));
                self.report(
                    Diagnostic::error(
                        code::SOURCE_MEETS_SOURCE,
                        format!("{first} and {second} are two sources on one bond"),
                    )
                    .primary(span, "nothing is left for the system to decide")
                    .secondary(self.span(tail), "a source")
                    .secondary(self.span(head), "another source"),
                );
            }
        }
        for index in 0..self.graph.elements.len() {
            self.check_junction(ElementId(index as u32));
        }
    }

    fn is_source(&self, id: ElementId) -> bool {
        matches!(
            self.graph.element(id).kind,
            ElementKind::Se | ElementKind::Sf
        )
    }

    fn check_junction(&mut self, id: ElementId) {
        let element = self.graph.element(id);
        if !element.kind.is_junction() {
            return;
        }

        match element.ports[..] {
            [] => {
                let name = self.name(id);
                self.report(
                    Diagnostic::error(
                        code::JUNCTION_ALONE,
                        format!("{name} is a junction without bonds"),
                    )
                    .primary(self.span(id), "joins nothing")
                    .help("connect it with `->`, or remove it"),
                );
            }
            // A component of a vector junction may well be idle.
            [bond] if element.part_of.is_none() => {
                let bond = self.graph.bond(bond);
                let here = End {
                    element: id,
                    port: 0,
                };
                let other = if bond.tail == here {
                    bond.head
                } else {
                    bond.tail
                };
                self.check_idle(id, other.element);
            }
            _ => {}
        }
    }

    /// Warns of a junction with one bond, unless that is what it is there for: a free mass on a 1-junction
    /// and an insulated store on a 0-junction keep what they have, and a junction that something reads
    /// gives its flow or effort a name.
    fn check_idle(&mut self, id: ElementId, neighbour: ElementId) {
        let kind = self.graph.element(id).kind;
        let (idle, zero) = match kind {
            ElementKind::One => (ElementKind::C, "effort"),
            _ => (ElementKind::I, "flow"),
        };
        let beside = self.graph.element(neighbour).kind;
        let (label, help) = match beside {
            beside if beside.is_resistor() || beside.is_source() => {
                (format!("holds the {zero} of that bond at zero"), None)
            }
            _ if beside == idle => (format!("holds the {zero} of that bond at zero"), None),
            _ if beside == kind && self.is_idle_name(id) => (
                "nothing else is connected to it, so it changes nothing".to_owned(),
                Some("join the element that is missing here, or remove the junction"),
            ),
            ElementKind::Zero | ElementKind::One if beside != kind && self.is_idle_name(id) => (
                format!(
                    "nothing else is connected to it, so it holds the {zero} of {} at zero",
                    self.name(neighbour)
                ),
                Some("join the element that is missing here, or remove the junction"),
            ),
            _ => return,
        };

        let name = self.name(id);
        let text = format!("{name} is a junction with one bond only");
        let message = Diagnostic::warning(code::JUNCTION_IDLE, text).primary(self.span(id), label);
        self.report(match help {
            Some(help) => message.help(help),
            None => message,
        });
    }

    /// Tells whether a junction of the model itself is neither read nor, as those of parts may be, a port.
    fn is_idle_name(&self, id: ElementId) -> bool {
        let element = self.graph.element(id);
        let names = &self.graph.signals.names;
        let is_own = element
            .name
            .is_some_and(|name| names.parent(name) == Some(Names::ROOT));
        let bond = self.graph.bond(element.ports[0]);
        is_own && !self.is_read(bond.effort) && !self.is_read(bond.flow)
    }

    fn is_read(&self, symbol: SymbolId) -> bool {
        let signals = &self.graph.signals;
        let equations = signals.equations.iter().map(|q| q.right);
        let laws = self
            .graph
            .elements
            .iter()
            .flat_map(|e| super::expressions(&e.law));
        let starts = signals.starts.iter().map(|s| s.target);
        let outputs = self.graph.outputs.iter().map(|o| o.value);
        let integrals = self.graph.readings.iter().filter_map(|r| match r.what {
            ReadingKind::Integral(e) => Some(e),
            _ => None,
        });
        let mut all = equations
            .chain(laws)
            .chain(starts)
            .chain(outputs)
            .chain(integrals);
        all.any(|e| depends_on(&self.pool, e, symbol))
    }
}
