//! Says what each port wants of causality, and how much.
//!
//! In:  a bond graph and its ranking by name.
//! Out: [`Wishes`], each list in the order in which it is to be granted.
//!
//! The order is part of the language, because it decides which storages become states:
//!
//! 1. demands: sources, strokes forced in the text, laws that have no inverse;
//! 2. moduli that can vanish (`cos(theta)`, a momentum, a pulse width): the direction in which
//!    their law is written, so that nothing divides by them; where that would cost an integral
//!    storage, the flow or effort of a junction is taken as independent variable instead
//!    ([`super::velocities`]), and only if that fails is a modulus turned round;
//! 3. integral storages: first those whose law is hard to invert, then the less deep in the
//!    tree of parts, then the larger constant, then the name;
//! 4. components of a multibond like their fellows (rule C1);
//! 5. resistors with a nonlinear law: the direction in which it is written;
//! 6. resistors that take either: by name, each setting the variable of its junction;
//! 7. switches and diodes, likewise.
//!
//! **Invariant:** text order decides nothing here.

use super::laws::{Shape, constant_value, shape};
use super::ranking::Ranking;
use super::rings::{Closing, Ring};
use super::{Reason, Strokes};
use crate::graph::{
    BondGraph, BondId, Element, ElementId, ElementKind, End, Law, Memory, Stroke, Variable,
};
use rustc_hash::FxHashMap;

/// One port's wish for the stroke of its bond.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wish {
    pub bond: BondId,
    pub stroke: Stroke,
    pub reason: Reason,
}

/// Everything that ports want.
#[derive(Clone, Debug, Default)]
pub(super) struct Wishes {
    /// Must be granted; two that contradict each other are a conflict.
    pub demands: Vec<Wish>,
    /// Moduli that can vanish; what was one matrix in the text is one entry.
    pub moduli: Vec<Vec<Wish>>,
    pub storages: Vec<Wish>,
    /// So many of the storages, all at the front, have laws that are hard to invert.
    pub n_hard_to_invert: usize,
    pub one_sided: Vec<Wish>,
    pub free: Vec<Wish>,
    pub switching: Vec<Wish>,
}

/// Lists the elements whose modulus can vanish and is divided by, in order of name.
pub(super) fn reversed_moduli(
    graph: &BondGraph,
    wishes: &Wishes,
    stroke: impl Fn(BondId) -> Option<Stroke>,
) -> Vec<ElementId> {
    let is_reversed = |w: &&Wish| stroke(w.bond).is_some_and(|s| s != w.stroke);
    let mut found: Vec<ElementId> = wishes
        .moduli
        .iter()
        .flatten()
        .filter(is_reversed)
        .filter_map(|w| w.reason.element())
        .collect();
    found.sort_by_cached_key(|&e| graph.element_name(e));
    found
}

/// Lists the ports whose nonlinear law is used against the direction in which it is written.
pub(super) fn inverted_laws(
    wishes: &Wishes,
    stroke: impl Fn(BondId) -> Option<Stroke>,
) -> Vec<End> {
    let is_reversed = |w: &&Wish| stroke(w.bond).is_some_and(|s| s != w.stroke);
    let nonlinear = wishes.storages[..wishes.n_hard_to_invert]
        .iter()
        .chain(&wishes.one_sided);
    nonlinear
        .filter(is_reversed)
        .filter_map(|w| match w.reason {
            Reason::Integral(end) | Reason::OneSided(end) => Some(end),
            _ => None,
        })
        .collect()
}

/// What one element wants, with the key that orders it.
pub(crate) struct Collector<'g> {
    pub(crate) graph: &'g BondGraph,
    pub(crate) ranking: &'g Ranking,
    demands: Vec<(u8, u32, Wish)>,
    pub(crate) moduli: Vec<(u32, u32, Option<u32>, Wish)>,
    pub(crate) storages: Vec<(StorageKey, Wish)>,
    pub(crate) one_sided: Vec<Wish>,
    pub(crate) free: Vec<Wish>,
    pub(crate) switching: Vec<Wish>,
}

/// Orders storages: smaller first.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct StorageKey {
    pub(crate) is_easy_to_invert: bool,
    pub(crate) depth: u32,
    pub(crate) value: f64,
    pub(crate) rank: u32,
    pub(crate) port: u32,
}

impl StorageKey {
    fn compare(&self, other: &Self) -> std::cmp::Ordering {
        self.is_easy_to_invert
            .cmp(&other.is_easy_to_invert)
            .then(self.depth.cmp(&other.depth))
            .then(other.value.total_cmp(&self.value))
            .then(self.rank.cmp(&other.rank))
            .then(self.port.cmp(&other.port))
    }
}

/// Asks every port.
pub(super) fn collect_wishes(graph: &BondGraph, ranking: &Ranking, rings: &[Ring]) -> Wishes {
    let mut c = Collector {
        graph,
        ranking,
        demands: Vec::new(),
        moduli: Vec::new(),
        storages: Vec::new(),
        one_sided: Vec::new(),
        free: Vec::new(),
        switching: Vec::new(),
    };

    for (index, bond) in graph.bonds.iter().enumerate() {
        if let Some(stroke) = bond.forced {
            let bond = BondId(index as u32);
            c.demands.push((
                1,
                ranking.bond[index],
                Wish {
                    bond,
                    stroke,
                    reason: Reason::Forced,
                },
            ));
        }
    }

    let left_out: FxHashMap<ElementId, Closing> = rings
        .iter()
        .filter_map(|r| Some((r.left_out()?, r.closes)))
        .collect();

    for (index, element) in graph.elements.iter().enumerate() {
        let id = ElementId(index as u32);
        match left_out.get(&id) {
            Some(closes) => ask_left_out(&mut c, id, closes),
            None => (element.kind.describe().ask)(&mut c, id, element),
        }
    }

    for end in rings.iter().filter_map(Ring::left_out_port) {
        let takes_effort = graph.element(end.element).kind == ElementKind::Zero;
        c.demand(end, takes_effort, Reason::Ring(end));
    }
    c.into_wishes()
}

impl Collector<'_> {
    pub(crate) fn wish(&self, end: End, effort_is_input: bool, reason: Reason) -> Option<Wish> {
        let bond = *self
            .graph
            .element(end.element)
            .ports
            .get(end.port as usize)?;
        let stroke = Strokes::at(self.graph, bond, end, effort_is_input);
        Some(Wish {
            bond,
            stroke,
            reason,
        })
    }

    pub(crate) fn demand(&mut self, end: End, effort_is_input: bool, reason: Reason) {
        let class = if matches!(reason, Reason::Source(_)) {
            0
        } else {
            2
        };
        if let Some(wish) = self.wish(end, effort_is_input, reason) {
            self.demands
                .push((class, self.ranking.bond[wish.bond.0 as usize], wish));
        }
    }

    fn into_wishes(mut self) -> Wishes {
        self.demands.sort_by_key(|&(class, rank, _)| (class, rank));
        self.storages.sort_by(|(a, _), (b, _)| a.compare(b));
        // Members of one matrix stay together, at the place of the first.
        self.moduli
            .sort_by_key(|&(depth, rank, _, _)| (depth, rank));
        let mut moduli: Vec<Vec<Wish>> = Vec::new();
        let mut place_of_group = rustc_hash::FxHashMap::default();
        for (_, _, group, wish) in self.moduli {
            let place = match group {
                Some(g) => *place_of_group.entry(g).or_insert(moduli.len()),
                None => moduli.len(),
            };
            if place == moduli.len() {
                moduli.push(Vec::new());
            }
            moduli[place].push(wish);
        }

        let by_name = |graph: &BondGraph, ranking: &Ranking, mut wishes: Vec<Wish>| {
            wishes.sort_by_key(|w| {
                let element = w
                    .reason
                    .element()
                    .unwrap_or(graph.bond(w.bond).head.element);
                (
                    graph.element(element).depth,
                    ranking.element[element.0 as usize],
                    ranking.bond[w.bond.0 as usize],
                )
            });
            wishes
        };

        Wishes {
            demands: self.demands.into_iter().map(|(_, _, w)| w).collect(),
            moduli,
            n_hard_to_invert: self
                .storages
                .iter()
                .filter(|(key, _)| !key.is_easy_to_invert)
                .count(),
            storages: self.storages.into_iter().map(|(_, w)| w).collect(),
            one_sided: by_name(self.graph, self.ranking, self.one_sided),
            free: by_name(self.graph, self.ranking, self.free),
            switching: by_name(self.graph, self.ranking, self.switching),
        }
    }
}

/// A two-port that closes a redundant ring takes the variable that the ring has already and gives nothing of
/// the other sort.
fn ask_left_out(c: &mut Collector, id: ElementId, closes: &Closing) {
    let &Closing::TwoPort {
        first_is_flow,
        second_is_flow,
    } = closes
    else {
        return;
    };
    for (port, takes_flow) in [(0, first_is_flow), (1, second_is_flow)] {
        let end = End { element: id, port };
        c.demand(end, !takes_flow, Reason::Law(end));
    }
}

/// Which variable of the port the law gives: rows of an explicit law, or the form of the gain.
pub(crate) fn written_output(
    graph: &BondGraph,
    element: &Element,
    end: End,
) -> Option<(Variable, Option<Shape>)> {
    let bond = graph.bond(*element.ports.get(end.port as usize)?);
    let stored = element.states.get(end.port as usize).copied();
    let stored = stored.filter(|_| element.kind.is_storage());
    let is_flow_store = element.memory(end.port as usize) == Some(Memory::Momentum);
    match &element.law {
        Law::Explicit(rows) => {
            let &(_, variable, e) = rows.iter().find(|&&(port, _, _)| port == end.port)?;
            let input = match (variable, stored) {
                (Variable::Stored, _) if is_flow_store => bond.flow,
                (Variable::Stored, _) => bond.effort,
                (_, Some(stored)) => stored,
                (Variable::Effort, None) => bond.flow,
                (Variable::Flow, None) => bond.effort,
            };
            Some((variable, Some(shape(graph, e, input))))
        }
        _ => None,
    }
}

/// Tells whether a value is the constant zero.
pub(crate) fn is_zero(graph: &BondGraph, e: paynter_symbolic::ExprId) -> bool {
    constant_value(graph, e) == Some(0.0)
}

/// A free resistor sets the variable that its junction shares: most follows from that.
pub(crate) fn strong_at_neighbour(c: &Collector, end: End, reason: Reason) -> Option<Wish> {
    let bond = c
        .graph
        .bond(*c.graph.element(end.element).ports.get(end.port as usize)?);
    let other = if bond.tail == end {
        bond.head
    } else {
        bond.tail
    };
    // Into a 0-junction it gives effort, into anything else flow.
    let effort_is_input = c.graph.element(other.element).kind != ElementKind::Zero;
    c.wish(end, effort_is_input, reason)
}
