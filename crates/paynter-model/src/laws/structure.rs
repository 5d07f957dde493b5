//! Checks of bonds and junctions that need no causality.
//!
//! In:  the flat graph.
//! Out: messages about bonds between two sources, bonds to oneself, idle junctions.

use paynter_syntax::Diagnostic;

use super::Checker;
use crate::code;
use crate::graph::{ElementId, ElementKind, End};

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
                    .help("join it to something with `->`, or remove it"),
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
                let neighbour = self.graph.element(other.element).kind;
                // A free mass on a 1-junction and an insulated store on a 0-junction keep what
                // they have; two-ports and other junctions are open or fixed ends.
                let (idle, zero) = match element.kind {
                    ElementKind::One => (ElementKind::C, "effort"),
                    _ => (ElementKind::I, "flow"),
                };
                let does_nothing = neighbour == idle
                    || matches!(
                        neighbour,
                        ElementKind::R | ElementKind::Se | ElementKind::Sf
                    );
                if does_nothing {
                    let name = self.name(id);
                    self.report(
                        Diagnostic::warning(
                            code::JUNCTION_IDLE,
                            format!("{name} is a junction with one bond only"),
                        )
                        .primary(
                            self.span(id),
                            format!("holds the {zero} of that bond at zero"),
                        ),
                    );
                }
            }
            _ => {}
        }
    }
}
