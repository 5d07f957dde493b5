//! Explains why demands cannot agree, hop by hop from both ends.
//!
//! In:  a clash of propagation or a shortage of the matching, with the table as it was then.
//! Out: a [`Conflict`]: where the demands meet, and from each of them the chain that leads there.

use super::Reason;
use super::propagate::{Clash, Network, StrokeTable, opposite};
use super::wishes::Wish;
use crate::graph::{BondId, ElementId, Stroke};
use rustc_hash::FxHashMap;
use std::collections::VecDeque;

/// Demands that cannot all be met.
#[derive(Clone, Debug, PartialEq)]
pub struct Conflict {
    /// What goes wrong.
    pub kind: ConflictKind,
    /// Chains of strokes, each from a demand to the place where they meet.
    pub sides: Vec<Vec<Hop>>,
    /// The junctions and two-ports that cannot all have their rule.
    pub elements: Vec<ElementId>,
}

/// What goes wrong in a [`Conflict`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConflictKind {
    /// Two bonds bring the variable that the element shares.
    Twice(ElementId),
    /// No bond is left that could bring it.
    Never(ElementId),
    /// One bond is required both ways.
    Bond(BondId),
    /// Only together do the elements contradict each other: each alone could be satisfied.
    Together,
}

/// One stroke in a chain of reasons.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hop {
    /// The bond.
    pub bond: BondId,
    /// Its stroke, as the chain has it.
    pub stroke: Stroke,
    /// Why.
    pub reason: Reason,
}

/// More chains than this do not help: the reader needs two, the rest say the same.
const MAX_SIDES: usize = 6;

/// A shortage is explained by trying a bond both ways; this many bonds are tried.
const MAX_TRIED_BONDS: usize = 64;

/// Explains a clash while its strokes are still in the table.
pub(super) fn explain_clash(
    network: &Network,
    table: &StrokeTable,
    clash: Clash,
    demand: Option<Wish>,
) -> Conflict {
    let (kind, culprits) = match (clash, demand) {
        (Clash::Bond(b), Some(wish)) => meeting_place(network, table, b, wish),
        (Clash::Bond(b), None) => (ConflictKind::Bond(b), vec![b]),
        (Clash::Twice(e, a, b), _) => (ConflictKind::Twice(e), vec![a, b]),
        (Clash::Never(e), _) => (ConflictKind::Never(e), table.culprits(network, clash)),
    };
    let mut sides: Vec<Vec<Hop>> = culprits
        .iter()
        .take(MAX_SIDES)
        .map(|&b| chain(network, table, b))
        .collect();

    if let (Clash::Bond(_), Some(wish)) = (clash, demand) {
        sides.push(vec![Hop {
            bond: wish.bond,
            stroke: wish.stroke,
            reason: wish.reason,
        }]);
    }

    let mut elements: Vec<ElementId> = Vec::new();
    for hop in sides.iter().flatten() {
        for end in network.ends(hop.bond) {
            if network.is_node[end.element.0 as usize] && !elements.contains(&end.element) {
                elements.push(end.element);
            }
        }
    }

    Conflict {
        kind,
        sides,
        elements,
    }
}

/// Where a demand meets what was set before: at the element that would have to take both,
/// with the strokes that speak against the demand there.
fn meeting_place(
    network: &Network,
    table: &StrokeTable,
    bond: BondId,
    demand: Wish,
) -> (ConflictKind, Vec<BondId>) {
    let is_forced = demand.reason == Reason::Forced
        || chain(network, table, bond)
            .first()
            .is_some_and(|root| root.reason == Reason::Forced);
    if is_forced {
        return (ConflictKind::Bond(bond), vec![bond]);
    }

    match table.reason(bond) {
        Reason::Weak { element, strong } => (ConflictKind::Twice(element), vec![strong]),
        Reason::Last { element } => {
            let others = network
                .bonds_at(element)
                .iter()
                .copied()
                .filter(|&b| b != bond);
            (ConflictKind::Never(element), others.collect())
        }
        Reason::TwoPort { element, from } => {
            let is_strong =
                demand.stroke == network.strong_stroke(bond, network.side(bond, element));
            let kind = if is_strong {
                ConflictKind::Twice(element)
            } else {
                ConflictKind::Never(element)
            };
            (kind, vec![from])
        }
        _ => (ConflictKind::Bond(bond), vec![bond]),
    }
}

/// Explains that elements cannot all have their strong bond, by a bond that leads to a clash whichever way it is set, if there
/// is one.
pub(super) fn explain_shortage(
    network: &Network,
    table: &mut StrokeTable,
    elements: Vec<ElementId>,
    demand: Option<Wish>,
) -> Conflict {
    let mark = table.trail().len();
    let with_demand = |table: &mut StrokeTable| match demand {
        Some(w) => table.assume(network, w.bond, w.stroke, w.reason),
        None => Ok(()),
    };

    let mut candidates: Vec<BondId> = elements
        .iter()
        .flat_map(|&e| network.bonds_at(e).iter().copied())
        .collect();
    candidates.dedup();
    let mut sides = Vec::new();
    for bond in candidates.into_iter().take(MAX_TRIED_BONDS) {
        if with_demand(table).is_err() || table.stroke(bond).is_some() {
            table.undo(network, mark);
            continue;
        }
        let assumed = table.trail().len();
        let mut cases = Vec::new();
        for stroke in [Stroke::Head, Stroke::Tail] {
            if let Err(clash) = table.assume(network, bond, stroke, Reason::Assumed) {
                let from = table.culprits(network, clash);
                cases.extend(
                    from.iter()
                        .map(|&b| chain(network, table, b))
                        .find(|c| c.first().is_some_and(|hop| hop.reason == Reason::Assumed)),
                );
            }
            table.undo(network, assumed);
        }
        table.undo(network, mark);
        if cases.len() == 2 {
            sides = cases;
            break;
        }
    }

    sides.extend(demand.map(|w| {
        vec![Hop {
            bond: w.bond,
            stroke: w.stroke,
            reason: w.reason,
        }]
    }));

    Conflict {
        kind: ConflictKind::Together,
        sides,
        elements,
    }
}

/// The shortest chain of reasons that ends at a bond, from the first cause on.
pub(super) fn chain(network: &Network, table: &StrokeTable, bond: BondId) -> Vec<Hop> {
    let mut towards: FxHashMap<BondId, BondId> = FxHashMap::default();
    let mut queue = VecDeque::from([bond]);
    while let Some(b) = queue.pop_front() {
        let causes = table.causes(network, b);
        if causes.is_empty() {
            let mut hops = Vec::new();
            let mut at = Some(b);
            while let Some(b) = at {
                let stroke = table.stroke(b).unwrap_or(opposite(Stroke::Head));
                hops.push(Hop {
                    bond: b,
                    stroke,
                    reason: table.reason(b),
                });
                at = towards.get(&b).copied();
            }
            return hops;
        }
        for cause in causes {
            if cause != bond && !towards.contains_key(&cause) {
                towards.insert(cause, b);
                queue.push_back(cause);
            }
        }
    }
    Vec::new()
}
