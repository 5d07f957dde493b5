//! Adds a source to a copy of a graph.
//!
//! In:  a junction, the kind of source, its value, and the symbols of its bond.
//! Out: the graph with one element and one bond more, both at the place of the junction.

use paynter::model::graph::{Bond, BondGraph, BondId, Element, ElementId, ElementKind, End, Law};
use paynter::symbolic::{ExprId, SymbolId};

/// Bonds a source of `value` to a junction; `bond` are effort and flow.
pub(crate) fn attach_source(
    graph: &mut BondGraph,
    junction: ElementId,
    kind: ElementKind,
    value: ExprId,
    [effort, flow]: [SymbolId; 2],
) {
    let bond = BondId(graph.bonds.len() as u32);
    let source = add_source(graph, junction, kind, value, bond);
    let place = graph.element(junction);
    let (origin, domain, port) = (place.origin, place.domain, place.ports.len() as u32);
    graph.elements[junction.0 as usize].ports.push(bond);
    graph.bonds.push(Bond {
        tail: source,
        head: End {
            element: junction,
            port,
        },
        effort,
        flow,
        forced: None,
        name: None,
        part_of: None,
        domain,
        origin,
    });
}

/// Adds a source for a bond, at the place of a junction; gives its end.
pub(crate) fn add_source(
    graph: &mut BondGraph,
    junction: ElementId,
    kind: ElementKind,
    value: ExprId,
    bond: BondId,
) -> End {
    let place = graph.element(junction);
    let (origin, part, domain) = (place.origin, place.part, place.domain);
    let element = ElementId(graph.elements.len() as u32);
    graph.elements.push(Element {
        name: None,
        kind,
        ports: vec![bond],
        states: Vec::new(),
        law: Law::Source {
            value,
            position: None,
        },
        is_modulated: false,
        can_vanish: false,
        is_unpowered: false,
        depth: 0,
        part,
        part_of: None,
        domain,
        origin,
    });
    End { element, port: 0 }
}
