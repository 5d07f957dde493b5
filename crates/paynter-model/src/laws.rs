//! Refuses what would create power: laws that no physical element can have.
//!
//! In:  the finished flat graph. Its pool is borrowed for derivatives; nothing else changes.
//! Out: messages, in the order of elements. Errors only for what is certain.
//!
//! | file | checks |
//! |---|---|
//! | `storage` | modulated C and I, reciprocity of fields, positive sizes, inertia in domains without one |
//! | `power` | resistors that give power, gyrators and transformers that are not powerless |
//! | `bodies` | moments of inertia that no rigid body has |
//! | `structure` | bonds between two sources, bonds to oneself, junctions with too few bonds |
//!
//! Conflicts of causality and algebraic loops are the work of `causality`, cycles of signals
//! that of `elaborate`.
//!
//! **Invariant:** cost is linear in the size of the graph: every expression is computed at a
//! fixed number of points, and shared parts once per point.

mod bodies;
mod points;
mod power;
mod storage;
mod structure;

use paynter_symbolic::{ExprId, Pool, SymbolId};
use paynter_syntax::{Diagnostic, Span};

use crate::code;
use crate::domains::Domains;
use crate::graph::{BondGraph, BondId, Element, ElementId, End, Law};
use crate::kinds::Nature;
use points::Points;

/// Checks every element and bond of a graph.
pub fn check_graph(graph: &mut BondGraph) -> Vec<Diagnostic> {
    with_checker(graph, |checker| {
        checker.check_structure();
        for index in 0..checker.graph.elements.len() {
            checker.check_element(ElementId(index as u32));
        }
        checker.check_bodies();
    })
}

/// Checks the laws of some elements, after parameters that they read were changed.
pub fn check_elements(graph: &mut BondGraph, elements: &[ElementId]) -> Vec<Diagnostic> {
    with_checker(graph, |checker| {
        for &element in elements {
            checker.check_element(element);
        }
    })
}

fn with_checker(graph: &mut BondGraph, check: impl FnOnce(&mut Checker<'_>)) -> Vec<Diagnostic> {
    // The checks make derivatives while they read elements: the pool is taken out meanwhile.
    let pool = std::mem::take(&mut graph.signals.pool);
    let points = Points::new(&pool, &graph.signals.symbols);
    let mut checker = Checker {
        graph,
        pool,
        points,
        has_no_inertia: domains_without_inertia(graph),
        found: Vec::new(),
        told: Vec::new(),
    };
    check(&mut checker);
    let Checker { pool, found, .. } = checker;
    graph.signals.pool = pool;
    found
}

struct Checker<'a> {
    graph: &'a BondGraph,
    pool: Pool,
    points: Points,
    /// For each domain of the graph whether nature has no momentum there.
    has_no_inertia: Vec<bool>,
    found: Vec<Diagnostic>,
    /// Parameters that a message has named as the cause of a wrong size.
    told: Vec<SymbolId>,
}

impl<'a> Checker<'a> {
    fn check_element(&mut self, id: ElementId) {
        let element = self.graph.element(id);
        if !self.check_finite(id, element) {
            return;
        }
        match element.kind.nature() {
            Nature::Storage => self.check_storage(id, element),
            Nature::Resistor | Nature::Heater | Nature::Contact => self.check_resistor(id, element),
            Nature::TwoPort => self.check_powerless(id, element),
            Nature::Junction | Nature::Source => {}
        }
    }

    /// A constant that is not a finite number makes every further check meaningless.
    fn check_finite(&mut self, id: ElementId, element: &Element) -> bool {
        for expression in expressions(&element.law) {
            if let Some(value) = self.constant(expression)
                && !value.is_finite()
            {
                let name = self.name(id);
                self.report_at(
                    Diagnostic::error(
                        code::LAW_NOT_FINITE,
                        format!("the law of {name} has a value that is not a finite number"),
                    )
                    .help("look for a division by zero or the root of a negative number"),
                    (id, &format!("comes out as {value}")),
                );
                return false;
            }
        }
        true
    }

    fn report(&mut self, diagnostic: Diagnostic) {
        self.found.push(diagnostic);
    }

    /// Reports something about an element at the line that makes the part it lies in, where that is in the user's
    /// own text and the element is not.
    fn report_at(&mut self, diagnostic: Diagnostic, (id, text): (ElementId, &str)) {
        let element = self.graph.element(id);
        let of_port = |&bond: &BondId| {
            let effort = self.graph.bond(bond).effort;
            self.graph.signals.symbol(effort).name
        };
        let name = element.name.or_else(|| element.ports.first().map(of_port));
        let own = self.span(id);
        let diagnostic = match name.and_then(|name| self.graph.part_span(name)) {
            Some(part) => diagnostic
                .primary(part, text)
                .secondary(own, "in this line of the part"),
            None => diagnostic.primary(own, text),
        };
        self.report(diagnostic);
    }

    /// The value of an expression that reads parameters only.
    fn constant(&mut self, e: ExprId) -> Option<f64> {
        self.points.constant(&self.pool, e)
    }

    fn span(&self, id: ElementId) -> Span {
        self.graph.span(self.graph.element(id).origin)
    }

    /// The name in backticks, or the kind of an unnamed element.
    fn name(&self, id: ElementId) -> String {
        match self.graph.element(id).name {
            Some(path) => format!("`{}`", self.graph.signals.names.display(path)),
            None => format!("this {}", self.graph.element(id).kind.letters()),
        }
    }

    fn effort(&self, element: &Element, port: usize) -> SymbolId {
        self.graph.bond(element.ports[port]).effort
    }

    fn flow(&self, element: &Element, port: usize) -> SymbolId {
        self.graph.bond(element.ports[port]).flow
    }

    fn points_in(&self, id: ElementId, port: usize) -> bool {
        let bond = self.graph.element(id).ports[port];
        self.graph.points_in(
            bond,
            End {
                element: id,
                port: port as u32,
            },
        )
    }
}

/// Heat and chemistry have no momentum (McBride 2005, table 3.2).
fn domains_without_inertia(graph: &BondGraph) -> Vec<bool> {
    let known = Domains::built_in();
    let has_none = |name: &str| {
        known
            .find(name)
            .is_some_and(|d| known.get(d).momentum.is_none())
    };
    graph.domains.iter().map(|d| has_none(&d.name)).collect()
}

/// Every expression of a law.
fn expressions(law: &Law) -> Vec<ExprId> {
    let position = match law {
        Law::Source { position, .. } => *position,
        _ => None,
    };
    law.expressions().into_iter().chain(position).collect()
}

#[cfg(test)]
mod tests;
