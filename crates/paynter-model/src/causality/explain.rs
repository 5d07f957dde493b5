//! Tells in words why a bond has its stroke.
//!
//! In:  a graph and its [`Causality`].
//! Out: sentences: the chain of reasons of one bond, or the whole assignment step by step.
//!
//! Each sentence says who gives effort or flow to whom; whoever gives the one takes the other.

use super::conflict::Hop;
use super::ranking::describe;
use super::{Causality, Reason, Status};
use crate::graph::{BondGraph, BondId, ElementId, ElementKind, Stroke};
use rustc_hash::FxHashMap;
use std::collections::VecDeque;

/// Gives the shortest chain of reasons for the stroke of a bond, first cause first.
///
/// Empty if the bond has no stroke.
pub fn why(graph: &BondGraph, causality: &Causality, bond: BondId) -> Vec<String> {
    chain(graph, causality, bond)
        .into_iter()
        .map(|hop| sentence(graph, hop))
        .collect()
}

/// Gives the assignment in the order of a textbook: each decision, then what follows from it.
pub fn steps(graph: &BondGraph, causality: &Causality) -> Vec<Step> {
    let mut steps: Vec<Step> = Vec::new();
    for &bond in &causality.sequence {
        let Some(hop) = hop(causality, bond) else {
            continue;
        };
        let text = sentence(graph, hop);
        match steps.last_mut() {
            Some(step) if causality.status(bond) == Status::Propagated => step.follows.push(text),
            _ => steps.push(Step {
                decision: text,
                follows: Vec::new(),
            }),
        }
    }
    steps
}

/// One decision and what follows from it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// What was decided.
    pub decision: String,
    /// What follows, in the order in which it was found.
    pub follows: Vec<String>,
}

fn hop(causality: &Causality, bond: BondId) -> Option<Hop> {
    Some(Hop {
        bond,
        stroke: causality.stroke(bond)?,
        reason: causality.reason(bond),
    })
}

/// The chain of hops that [`why`] puts into words.
pub fn chain(graph: &BondGraph, causality: &Causality, bond: BondId) -> Vec<Hop> {
    let mut towards: FxHashMap<BondId, BondId> = FxHashMap::default();
    let mut queue = VecDeque::from([bond]);
    while let Some(b) = queue.pop_front() {
        let causes: Vec<BondId> = match causality.reason(b) {
            Reason::Weak { strong, .. } => vec![strong],
            Reason::TwoPort { from, .. } => vec![from],
            Reason::Last { element } => graph
                .element(element)
                .ports
                .iter()
                .copied()
                .filter(|&p| p != b)
                .collect(),
            _ => Vec::new(),
        };
        if causes.is_empty() {
            let backwards = std::iter::successors(Some(b), |b| towards.get(b).copied());
            return backwards.filter_map(|b| hop(causality, b)).collect();
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

/// Says one hop.
pub fn sentence(graph: &BondGraph, hop: Hop) -> String {
    let bond = graph.bond(hop.bond);
    let (giver, taker) = match hop.stroke {
        Stroke::Head => (bond.tail.element, bond.head.element),
        Stroke::Tail => (bond.head.element, bond.tail.element),
    };
    let name = |e: ElementId| describe(graph, e);
    let effort = || format!("effort goes from {} to {}", name(giver), name(taker));

    // What `element` does on this bond, seen from it.
    let act = |element: ElementId| {
        if element == giver {
            format!("gives effort to {}", name(taker))
        } else {
            format!("gives flow to {}", name(giver))
        }
    };

    let other_end = |b: BondId, element: ElementId| {
        let bond = graph.bond(b);
        if bond.tail.element == element {
            bond.head.element
        } else {
            bond.tail.element
        }
    };

    match hop.reason {
        Reason::Open => "it has no stroke".to_owned(),
        Reason::Source(e) => {
            let what = if graph.element(e).kind == ElementKind::Se {
                "effort"
            } else {
                "flow"
            };
            format!("{} is a source of {what}: it {}", name(e), act(e))
        }
        Reason::Law(end) => format!(
            "the law of {} works in one direction only: it {}",
            name(end.element),
            act(end.element)
        ),
        Reason::Ring(end) => format!(
            "{} has the {} of this bond by another way already, so it {} and takes nothing back",
            name(end.element),
            shared(graph, end.element),
            act(end.element)
        ),
        Reason::Forced => format!("the text forces it: {}", effort()),
        Reason::Modulus(e) => {
            format!(
                "the modulus of {} can vanish, so its law is used as written: it {}",
                name(e),
                act(e)
            )
        }
        Reason::Independent(e) => format!(
            "the {} of {} is an independent variable, so that no modulus that can vanish is divided by: it {}",
            shared(graph, e),
            name(e),
            act(e)
        ),
        Reason::Integral(end) => {
            format!("{} is integral: it {}", name(end.element), act(end.element))
        }
        Reason::OneSided(end) => {
            format!(
                "the nonlinear law of {} is used as written: it {}",
                name(end.element),
                act(end.element)
            )
        }
        Reason::Free(end) => format!(
            "{} takes either, so choose: it {}",
            name(end.element),
            act(end.element)
        ),
        Reason::Multibond => format!("like the rest of its multibond: {}", effort()),
        Reason::Arbitrary => format!("nothing decides, so follow the arrow: {}", effort()),
        Reason::Excluded => format!("the other way contradicts what is assigned: {}", effort()),
        Reason::Assumed => format!("suppose that {}", effort()),
        Reason::Weak { element, strong } => {
            let what = shared(graph, element);
            let from = name(other_end(strong, element));
            format!(
                "{} has its {what} from {from}, so it {}",
                name(element),
                act(element)
            )
        }
        Reason::Last { element } => {
            let what = shared(graph, element);
            let from = name(other_end(hop.bond, element));
            format!(
                "nothing else gives {what} to {}, so {from} does",
                name(element)
            )
        }
        Reason::TwoPort { element, from } => {
            let (source, target) = (other_end(from, element), other_end(hop.bond, element));
            let out = if element == giver { "effort" } else { "flow" };
            if graph.element(element).kind == ElementKind::Gy {
                let into = if element == giver { "flow" } else { "effort" };
                format!(
                    "{} turns {into} of {} into {out} for {}",
                    name(element),
                    name(source),
                    name(target)
                )
            } else {
                format!(
                    "{} passes {out} on from {} to {}",
                    name(element),
                    name(source),
                    name(target)
                )
            }
        }
    }
}

/// The variable that a junction shares.
pub(super) fn shared(graph: &BondGraph, junction: ElementId) -> &'static str {
    if graph.element(junction).kind == ElementKind::One {
        "flow"
    } else {
        "effort"
    }
}
