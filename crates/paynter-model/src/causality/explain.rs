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
    Telling {
        graph,
        bond: hop.bond,
        giver,
        taker,
    }
    .sentence(hop.reason)
}

/// A bond with the ends of its effort, to be put into words.
struct Telling<'g> {
    graph: &'g BondGraph,
    bond: BondId,
    giver: ElementId,
    taker: ElementId,
}

impl Telling<'_> {
    fn sentence(&self, reason: Reason) -> String {
        let name = |e: ElementId| self.name(e);
        let act = |e: ElementId| self.act(e);
        match reason {
            Reason::Open => "it has no stroke".to_owned(),
            Reason::Source(e) => {
                let is_effort = self.graph.element(e).kind == ElementKind::Se;
                let what = if is_effort { "effort" } else { "flow" };
                format!("{} is a source of {what}: it {}", name(e), act(e))
            }
            Reason::Law(end) => {
                let e = end.element;
                format!(
                    "the law of {} works in one direction only: it {}",
                    name(e),
                    act(e)
                )
            }
            Reason::Ring(end) => self.ring(end.element),
            Reason::Modulus(e) => format!(
                "the modulus of {} can vanish, so its law is used as written: it {}",
                name(e),
                act(e)
            ),
            Reason::Independent(e) => format!(
                "the {} of {} is an independent variable, so that no modulus that can vanish is divided by: it {}",
                shared(self.graph, e),
                name(e),
                act(e)
            ),
            Reason::Integral(end) => {
                format!("{} is integral: it {}", name(end.element), act(end.element))
            }
            Reason::OneSided(end) => {
                let e = end.element;
                format!(
                    "the nonlinear law of {} is used as written: it {}",
                    name(e),
                    act(e)
                )
            }
            Reason::Free(end) => {
                let e = end.element;
                format!("{} takes either, so choose: it {}", name(e), act(e))
            }
            Reason::Forced
            | Reason::Multibond
            | Reason::Arbitrary
            | Reason::Excluded
            | Reason::Assumed => self.direction(reason),
            Reason::Weak { element, strong } => self.weak(element, strong),
            Reason::Last { element } => self.last(element),
            Reason::TwoPort { element, from } => self.two_port(element, from),
        }
    }

    fn name(&self, element: ElementId) -> String {
        describe(self.graph, element)
    }

    /// What an element does on this bond, seen from it.
    fn act(&self, element: ElementId) -> String {
        if element == self.giver {
            format!("gives effort to {}", self.name(self.taker))
        } else {
            format!("gives flow to {}", self.name(self.giver))
        }
    }

    /// A reason that says nothing of an element, with the way the effort goes.
    fn direction(&self, reason: Reason) -> String {
        let why = match reason {
            Reason::Forced => "the text forces it: ",
            Reason::Multibond => "like the rest of its multibond: ",
            Reason::Arbitrary => "nothing decides, so follow the arrow: ",
            Reason::Excluded => "the other way contradicts what is assigned: ",
            _ => "suppose that ",
        };
        let (giver, taker) = (self.name(self.giver), self.name(self.taker));
        format!("{why}effort goes from {giver} to {taker}")
    }

    /// An end that is left open, because a ring gives it what this bond would.
    fn ring(&self, element: ElementId) -> String {
        let what = shared(self.graph, element);
        let (name, act) = (self.name(element), self.act(element));
        format!(
            "{name} has the {what} of this bond by another way already, so it {act} and takes nothing back"
        )
    }

    /// The element at the other end of a bond.
    fn across(&self, bond: BondId, element: ElementId) -> ElementId {
        let bond = self.graph.bond(bond);
        if bond.tail.element == element {
            bond.head.element
        } else {
            bond.tail.element
        }
    }

    /// A junction that has its variable from another bond.
    fn weak(&self, element: ElementId, strong: BondId) -> String {
        let what = shared(self.graph, element);
        let from = self.name(self.across(strong, element));
        let (name, act) = (self.name(element), self.act(element));
        format!("{name} has its {what} from {from}, so it {act}")
    }

    /// A junction whose variable only this bond can give.
    fn last(&self, element: ElementId) -> String {
        let what = shared(self.graph, element);
        let from = self.name(self.across(self.bond, element));
        let name = self.name(element);
        format!("nothing else gives {what} to {name}, so {from} does")
    }

    /// A two-port that passes on what comes from its other bond.
    fn two_port(&self, element: ElementId, from: BondId) -> String {
        let name = self.name(element);
        let source = self.name(self.across(from, element));
        let target = self.name(self.across(self.bond, element));
        let (into, out) = if element == self.giver {
            ("flow", "effort")
        } else {
            ("effort", "flow")
        };
        if self.graph.element(element).kind == ElementKind::Gy {
            format!("{name} turns {into} of {source} into {out} for {target}")
        } else {
            format!("{name} passes {out} on from {source} to {target}")
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
