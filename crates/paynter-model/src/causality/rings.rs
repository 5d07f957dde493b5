//! Finds rings of transformers, gyrators and junctions in which one variable sets itself.
//!
//! In:  a bond graph.
//! Out: [`Ring`]s: the elements round which an effort or flow comes back multiplied by a factor.
//!
//! Some variables are multiples of each other whatever happens: all flows of a 1-junction, the two
//! flows of a transformer. A ring of such relations demands x = K x. If K is not 1, x is zero for ever:
//! gears in a ring whose ratios disagree do not turn. If K is 1, one relation of the ring says nothing
//! new, and what circulates in it (the torque in a closed gear train) is not determined; the two-port that closes the
//! ring is then left out: it passes on neither effort nor flow of the other sort. Two bonds between the same two
//! 0-junctions are the smallest such ring: only the sum of their flows is determined. There is no two-port to
//! leave out then, and one port of a junction takes its place.
//!
//! **Invariant:** without the two-ports and ports left out, no ring with K = 1 remains; which are left out
//! depends on names, never on the order of the text.

use super::laws::{evaluate, reads};
use super::ranking::Ranking;
use crate::graph::{BondGraph, BondId, ElementId, ElementKind, End, Law};
use paynter_symbolic::dae::Role;
use paynter_symbolic::{ExprId, SymbolId};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::VecDeque;

/// A ring in which a variable sets itself.
#[derive(Clone, Debug, PartialEq)]
pub struct Ring {
    /// The two-ports, the one that closes the ring last; the junctions of a ring without two-ports.
    pub members: Vec<ElementId>,
    /// The variables are flows (of a ring with transformers only), else efforts.
    pub is_of_flows: bool,
    /// The factor after one round; none if it varies.
    pub product: Option<f64>,
    /// The variable of the last member that it would give a second time.
    pub closes: Closing,
}

/// Which relation of the last member closes a ring.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Closing {
    /// That of a two-port.
    TwoPort {
        /// Variable of port 0: its flow, else its effort.
        first_is_flow: bool,
        /// Variable of port 1.
        second_is_flow: bool,
    },
    /// What a junction shares with one of its bonds.
    Port(End),
}

impl Ring {
    /// Tells whether the ring demands nothing new.
    pub fn is_redundant(&self) -> bool {
        // Ratios such as 1/3 are rounded; each contributes its share.
        let noise = RATIO_NOISE * self.members.len() as f64;
        self.product.is_some_and(|k| (k - 1.0).abs() <= noise)
    }

    /// The two-port that is left out if the ring is redundant.
    pub fn left_out(&self) -> Option<ElementId> {
        let is_two_port = matches!(self.closes, Closing::TwoPort { .. });
        let last = self.members.last().copied();
        last.filter(|_| is_two_port && self.is_redundant())
    }

    /// The port of a junction that is left out: what the junction shares it takes, and of the other
    /// sort it gives nothing.
    pub fn left_out_port(&self) -> Option<End> {
        match self.closes {
            Closing::Port(end) if self.is_redundant() => Some(end),
            _ => None,
        }
    }
}

/// Ratios given to nine digits agree; what differs more was meant to differ.
const RATIO_NOISE: f64 = 1e-9;
/// Rings reported; more say the same.
const MAX_RINGS: usize = 20;
/// Points at which a factor that varies is looked at.
const N_POINTS: usize = 4;

/// v = factor · other, by a two-port or a junction.
#[derive(Clone, Copy)]
struct Relation {
    ends: [u32; 2],
    /// ends[1] = factor · ends[0].
    factor: Factor,
    by: ElementId,
}

#[derive(Clone, Copy)]
enum Factor {
    Sign(f64),
    Ratio(ExprId),
}

/// Tells whether there is anything that rings are made of.
pub(super) fn can_have_rings(graph: &BondGraph) -> bool {
    (0..graph.elements.len() as u32).any(|e| is_plain_two_port(graph, ElementId(e)))
}

/// Finds all rings.
pub(super) fn find_rings(graph: &BondGraph, ranking: &Ranking) -> Vec<Ring> {
    let mut two_ports: Vec<ElementId> = (0..graph.elements.len() as u32)
        .map(ElementId)
        .filter(|&e| is_plain_two_port(graph, e))
        .collect();

    let mut junctions: Vec<ElementId> = (0..graph.elements.len() as u32)
        .map(ElementId)
        .filter(|&e| graph.element(e).kind.is_junction())
        .collect();
    if two_ports.is_empty() && !has_junction_rings(graph, &junctions) {
        return Vec::new();
    }
    two_ports.sort_by_key(|e| ranking.element[e.0 as usize]);
    junctions.sort_by_key(|e| ranking.element[e.0 as usize]);
    let mut forest = Forest::new(2 * graph.bonds.len());

    // What passes through a junction of two bonds first: rings are then closed where a junction branches.
    for &id in &junctions {
        if let Some(relation) = passed_through(graph, id) {
            forest.join(relation);
        }
    }

    let mut rings: Vec<Ring> = Vec::new();
    for &id in &junctions {
        for (relation, port) in shared_at(graph, id, ranking) {
            if !forest.join(relation) {
                rings.extend(junction_ring(
                    graph,
                    &forest,
                    relation,
                    End { element: id, port },
                ));
            }
        }
    }

    let n_junction_rings = rings.len();
    for id in two_ports {
        for relation in of_two_port(graph, id) {
            if rings.len() >= n_junction_rings + MAX_RINGS || forest.join(relation) {
                continue;
            }
            let way = forest.way(relation.ends[1], relation.ends[0]);
            rings.extend(ring(graph, relation, &way));
        }
    }

    // A ring of which nothing can be said is none.
    rings.retain(|r| !r.members.is_empty());
    rings
}

fn effort(bond: BondId) -> u32 {
    2 * bond.0
}

fn flow(bond: BondId) -> u32 {
    2 * bond.0 + 1
}

fn is_plain_two_port(graph: &BondGraph, id: ElementId) -> bool {
    let element = graph.element(id);
    matches!(element.kind, ElementKind::Tf | ElementKind::Gy)
        && element.ports.len() == 2
        && matches!(element.law, Law::Gain(_) | Law::InverseGain(_))
}

/// Tells whether junctions alone form a ring, without finding out which.
fn has_junction_rings(graph: &BondGraph, junctions: &[ElementId]) -> bool {
    let mut sets = Sets::new(2 * graph.bonds.len());
    let mut is_ring = false;
    for &id in junctions {
        if let Some(relation) = passed_through(graph, id) {
            sets.unite(relation.ends);
        }
    }
    for &id in junctions {
        let element = graph.element(id);
        let shared = |b: BondId| shared_variable(element.kind, b);
        for pair in element.ports.windows(2) {
            is_ring |= !sets.unite([shared(pair[0]), shared(pair[1])]);
        }
    }
    is_ring
}

/// The variable that a junction shares with a bond.
fn shared_variable(kind: ElementKind, bond: BondId) -> u32 {
    if kind == ElementKind::One {
        flow(bond)
    } else {
        effort(bond)
    }
}

/// All bonds of a junction have the variable of the first by name; each with the port of the other.
fn shared_at(graph: &BondGraph, id: ElementId, ranking: &Ranking) -> Vec<(Relation, u32)> {
    let element = graph.element(id);
    let mut ports: Vec<(BondId, u32)> = element.ports.iter().copied().zip(0..).collect();
    ports.sort_by_key(|&(b, port)| (ranking.bond[b.0 as usize], port));
    let Some((&(first, _), rest)) = ports.split_first() else {
        return Vec::new();
    };
    let shared = |b: BondId| shared_variable(element.kind, b);
    let relation = |&(b, port): &(BondId, u32)| {
        let relation = Relation {
            ends: [shared(first), shared(b)],
            factor: Factor::Sign(1.0),
            by: id,
        };
        (relation, port)
    };
    rest.iter().map(relation).collect()
}

/// A junction of two bonds passes on what it sums as well.
fn passed_through(graph: &BondGraph, id: ElementId) -> Option<Relation> {
    let element = graph.element(id);
    let [a, b] = element.ports[..] else {
        return None;
    };
    let is_in = |bond: BondId, port: u32| graph.points_in(bond, End { element: id, port });
    let sign = if is_in(a, 0) == is_in(b, 1) {
        -1.0
    } else {
        1.0
    };
    let summed = |b: BondId| match element.kind {
        ElementKind::One => effort(b),
        _ => flow(b),
    };
    Some(Relation {
        ends: [summed(a), summed(b)],
        factor: Factor::Sign(sign),
        by: id,
    })
}

/// Describes the ring that a port of a junction closes, if it demands nothing new.
///
/// With the opposite sign it would hold its variable at zero; the equations can tell.
///
/// Round a cycle of 1-junctions that all pass their arrow on, as in a circuit without ground, it is the level of
/// all efforts that is open: that is a missing reference and no share of a load.
fn junction_ring(graph: &BondGraph, forest: &Forest, closing: Relation, end: End) -> Option<Ring> {
    let way = forest.way(closing.ends[1], closing.ends[0]);
    let is_of_flows = closing.ends[0] % 2 == 1;
    if is_of_flows && passes_arrow_on(graph, &way, closing) {
        return None;
    }
    let mut sign = 1.0;
    let mut members: Vec<ElementId> = Vec::new();
    for &(relation, _) in &way {
        if let Factor::Sign(s) = relation.factor {
            sign *= s;
        }
        if !members.contains(&relation.by) {
            members.push(relation.by);
        }
    }
    members.retain(|&e| e != end.element);
    members.push(end.element);
    let ring = Ring {
        members,
        is_of_flows,
        product: Some(sign),
        closes: Closing::Port(end),
    };
    ring.is_redundant().then_some(ring)
}

/// Tells whether at every junction of a ring one of its bonds points in and the other out.
fn passes_arrow_on(graph: &BondGraph, way: &[(Relation, bool)], closing: Relation) -> bool {
    // (junction, bond by which the ring comes, bond by which it leaves)
    let mut passed: Vec<(ElementId, u32, u32)> = Vec::new();
    let steps = way.iter().map(|&(relation, is_forward)| {
        let [a, b] = relation.ends.map(|v| v / 2);
        let (from, to) = if is_forward { (a, b) } else { (b, a) };
        (relation.by, from, to)
    });
    let last = (closing.by, closing.ends[0] / 2, closing.ends[1] / 2);
    for (by, from, to) in steps.chain([last]) {
        match passed.last_mut() {
            Some(before) if before.0 == by => before.2 = to,
            _ => passed.push((by, from, to)),
        }
    }
    // The ring may begin in the middle of the junction that closes it.
    if passed.len() > 1 && passed[0].0 == closing.by {
        let first = passed.remove(0);
        if let Some(last) = passed.last_mut() {
            last.2 = first.2;
        }
    }
    let points_in =
        |bond: u32, junction: ElementId| graph.bond(BondId(bond)).head.element == junction;
    passed
        .iter()
        .all(|&(junction, from, to)| points_in(from, junction) != points_in(to, junction))
}

fn of_two_port(graph: &BondGraph, id: ElementId) -> Vec<Relation> {
    let element = graph.element(id);
    let (one, two) = (element.ports[0], element.ports[1]);
    let pairs = match (&element.law, element.kind) {
        // f₂ = n f₁, e₁ = n e₂
        (Law::Gain(n), ElementKind::Tf) => {
            [(*n, flow(one), flow(two)), (*n, effort(two), effort(one))]
        }
        // e₂ = m e₁, f₁ = m f₂
        (Law::InverseGain(m), ElementKind::Tf) => {
            [(*m, flow(two), flow(one)), (*m, effort(one), effort(two))]
        }
        // e₁ = r f₂, e₂ = r f₁
        (Law::Gain(r), _) => [(*r, flow(two), effort(one)), (*r, flow(one), effort(two))],
        // f₁ = g e₂, f₂ = g e₁
        (Law::InverseGain(g), _) => [(*g, effort(two), flow(one)), (*g, effort(one), flow(two))],
        _ => return Vec::new(),
    };

    // A ratio of zero relates nothing.
    let is_zero =
        |e: ExprId| evaluate(&graph.signals.pool, e, &|s| parameter(graph, s)) == Some(0.0);
    pairs
        .into_iter()
        .filter(|&(ratio, _, _)| !is_zero(ratio))
        .map(|(ratio, from, to)| Relation {
            ends: [from, to],
            factor: Factor::Ratio(ratio),
            by: id,
        })
        .collect()
}

fn parameter(graph: &BondGraph, s: SymbolId) -> Option<f64> {
    match graph.signals.symbol(s).role {
        Role::Parameter { value, .. } => Some(value),
        _ => None,
    }
}

/// Which variables are multiples of each other.
struct Sets(Vec<u32>);

impl Sets {
    fn new(n: usize) -> Self {
        Sets((0..n as u32).collect())
    }

    fn root(&mut self, mut v: u32) -> u32 {
        let set = &mut self.0;
        while set[v as usize] != v {
            set[v as usize] = set[set[v as usize] as usize];
            v = set[v as usize];
        }
        v
    }

    /// Makes one set of two; false if they were one already.
    fn unite(&mut self, ends: [u32; 2]) -> bool {
        let [a, b] = ends.map(|v| self.root(v));
        self.0[a.max(b) as usize] = a.min(b);
        a != b
    }
}

/// Variables joined by relations, without rings.
struct Forest {
    sets: Sets,
    edges: Vec<Vec<Relation>>,
}

impl Forest {
    fn new(n: usize) -> Self {
        Forest {
            sets: Sets::new(n),
            edges: vec![Vec::new(); n],
        }
    }

    /// Adds a relation; false if it closes a ring.
    fn join(&mut self, relation: Relation) -> bool {
        if !self.sets.unite(relation.ends) {
            return false;
        }
        for v in relation.ends {
            self.edges[v as usize].push(relation);
        }
        true
    }

    /// The relations from one variable to another, in order.
    fn way(&self, from: u32, to: u32) -> Vec<(Relation, bool)> {
        let mut came: FxHashMap<u32, (u32, Relation)> = FxHashMap::default();
        let mut queue = VecDeque::from([from]);
        while let Some(v) = queue.pop_front() {
            if v == to {
                break;
            }
            for &relation in &self.edges[v as usize] {
                let w = relation.ends[usize::from(relation.ends[0] == v)];
                if w != from && !came.contains_key(&w) {
                    came.insert(w, (v, relation));
                    queue.push_back(w);
                }
            }
        }
        let mut way = Vec::new();
        let mut at = to;
        while let Some(&(before, relation)) = came.get(&at) {
            way.push((relation, relation.ends[0] == before));
            at = before;
        }
        way.reverse();
        way
    }
}

/// Describes the ring that a relation closes; none if nothing certain can be said of its factor.
fn ring(graph: &BondGraph, closing: Relation, way: &[(Relation, bool)]) -> Option<Ring> {
    let mut members: Vec<ElementId> = Vec::new();
    let mut ratios: Vec<(ExprId, bool)> = Vec::new();
    let mut sign = 1.0;
    for &(relation, is_forward) in [(closing, true)].iter().chain(way) {
        match relation.factor {
            Factor::Sign(s) => sign *= s,
            Factor::Ratio(e) => {
                ratios.push((e, is_forward));
                members.push(relation.by);
            }
        }
    }

    members.rotate_left(1);
    let product = product(graph, &ratios, sign)?;
    let is_flow = |v: u32| v % 2 == 1;
    let element = graph.element(closing.by);
    let of_port = |port: usize| {
        let mine = closing
            .ends
            .iter()
            .find(|&&v| v / 2 == element.ports[port].0);
        mine.is_some_and(|&v| is_flow(v))
    };

    Some(Ring {
        is_of_flows: is_flow(closing.ends[0]),
        members,
        product: match product {
            Product::Constant(k) => Some(k),
            Product::Varies => None,
        },
        closes: Closing::TwoPort {
            first_is_flow: of_port(0),
            second_is_flow: of_port(1),
        },
    })
}

enum Product {
    Constant(f64),
    Varies,
}

/// Multiplies the ratios at some points; none if they read signals of which nothing is known here.
fn product(graph: &BondGraph, ratios: &[(ExprId, bool)], sign: f64) -> Option<Product> {
    let pool = &graph.signals.pool;
    let defined: FxHashSet<SymbolId> = {
        let left = graph
            .signals
            .equations
            .iter()
            .filter_map(|e| pool.as_symbol(e.left));
        left.collect()
    };

    let varying: Vec<SymbolId> = ratios
        .iter()
        .flat_map(|&(e, _)| reads(pool, e))
        .filter(|&s| parameter(graph, s).is_none())
        .collect();
    let n_points = if varying.is_empty() { 1 } else { N_POINTS };
    let mut values: Vec<f64> = Vec::new();
    for point in 0..n_points {
        // Some number of its own for each symbol and point, none of them special.
        let number =
            |s: SymbolId| 0.3 + 0.37 * point as f64 + 0.11 * (f64::from(s.0) * 0.618).fract();
        let symbol = |s: SymbolId| parameter(graph, s).or_else(|| Some(number(s)));
        let mut k = sign;
        for &(e, is_forward) in ratios {
            let ratio = evaluate(pool, e, &symbol)?;
            k *= if is_forward { ratio } else { 1.0 / ratio };
        }
        values.push(k);
    }

    let first = *values.first()?;
    let noise = RATIO_NOISE * ratios.len() as f64;
    let is_one = |k: &f64| (k - 1.0).abs() <= noise;
    if !values.iter().all(|k| k.is_finite()) {
        return None;
    }
    if varying.is_empty() || values.iter().all(is_one) {
        return Some(Product::Constant(first));
    }

    // What other equations define may make the ratios agree after all.
    let is_free = varying.iter().all(|s| !defined.contains(s));
    is_free.then_some(Product::Varies)
}
