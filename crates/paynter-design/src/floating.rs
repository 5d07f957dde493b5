//! Finds networks whose efforts nothing ties to a reference: circuits without a ground.
//!
//! In:  the graph, and an unknown that no equation fixes.
//! Out: the domain of the floating network it lies in, and its nodes.
//!
//! Adding one number to the efforts of all bonds between the junctions of such a network changes nothing: every
//! 1-junction takes as many of them as it gives, and nothing but junctions joins the 0-junctions.

use paynter_model::{BondGraph, ElementId, ElementKind};
use paynter_symbolic::SymbolId;
use std::collections::BTreeSet;

/// A network without a reference.
pub(crate) struct Floating {
    /// Its domain, where that is known.
    pub domain: Option<String>,
    /// Its junctions.
    pub junctions: Vec<ElementId>,
}

/// Finds the floating network around the bonds of these unknowns.
pub(crate) fn floating(graph: &BondGraph, unknowns: &[SymbolId]) -> Option<Floating> {
    let is_asked = |s: SymbolId| unknowns.contains(&s);
    let bonds = graph.bonds.iter();
    let asked = bonds.filter(|b| is_asked(b.effort) || is_asked(b.flow));
    let mut tried = BTreeSet::new();
    let ends = asked.flat_map(|bond| [bond.tail.element, bond.head.element]);
    for first in ends.filter(|&id| graph.element(id).kind.is_junction()) {
        if !tried.contains(&first)
            && let Some(found) = network(graph, first, &mut tried)
        {
            return Some(found);
        }
    }
    None
}

/// Walks from junction to junction; none if something holds the efforts.
fn network(
    graph: &BondGraph,
    first: ElementId,
    tried: &mut BTreeSet<ElementId>,
) -> Option<Floating> {
    let mut open = vec![first];
    let mut junctions = BTreeSet::from([first]);
    let mut is_held = false;
    while let Some(junction) = open.pop() {
        is_held |= !can_float(graph, junction);
        for (other, _) in neighbours(graph, junction) {
            if graph.element(other).kind.is_junction() && junctions.insert(other) {
                open.push(other);
            }
        }
    }
    tried.extend(&junctions);
    let bond = graph.element(first).ports.first();
    let domain = bond.and_then(|&b| graph.bond(b).domain);
    (!is_held && junctions.len() > 1).then(|| Floating {
        domain: domain.map(|d| graph.domains[d.0 as usize].name.clone()),
        junctions: junctions.into_iter().collect(),
    })
}

/// Tells whether the efforts between junctions can move together without this one noticing.
fn can_float(graph: &BondGraph, junction: ElementId) -> bool {
    let is_junction = |id: ElementId| graph.element(id).kind.is_junction();
    let mut around = neighbours(graph, junction).into_iter();
    match graph.element(junction).kind {
        ElementKind::Zero => around.all(|(other, _)| is_junction(other)),
        _ => {
            let between = around.filter(|&(other, _)| is_junction(other));
            let signs = between.map(|(_, points_in)| if points_in { 1 } else { -1 });
            signs.sum::<i32>() == 0
        }
    }
}

/// The elements at the other ends of the bonds of one, and whether each bond points into it.
fn neighbours(graph: &BondGraph, id: ElementId) -> Vec<(ElementId, bool)> {
    let ports = graph.element(id).ports.iter();
    let across = ports.map(|&b| {
        let bond = graph.bond(b);
        match bond.head.element == id {
            true => (bond.tail.element, true),
            false => (bond.head.element, false),
        }
    });
    across.collect()
}
