//! Assigns causality to a bond graph and says everything the graph knows before an equation exists.
//!
//! In:  a flat [`BondGraph`].
//! Out: a [`Causality`]: a side table with the stroke of each bond and its reason, the form of
//!      each storage, conflicts, dependent storages, algebraic loops, the order of the system.
//!
//! Causality is an annotation: a graph with conflicts still has equations.
//!
//! **Invariant:** the result depends on names and physics, never on the order of the text;
//! a conflict is reported exactly if no complete assignment meets all demands; no assignment that
//! meets them has more integral storages than this one has independent variables.

mod alternatives;
mod assign;
mod components;
mod conflict;
mod diagnostics;
mod explain;
mod laws;
mod links;
mod loops;
mod matching;
mod orient;
mod propagate;
mod ranking;
pub mod report;
mod rings;
mod solved;
mod storages;
mod velocities;
mod wishes;

pub use alternatives::{Alternative, Change, alternatives};
pub use conflict::{Conflict, ConflictKind, Hop};
pub use diagnostics::{
    causality_diagnostics, conflict_diagnostic, denies_a_stroke, needs_an_inverse,
};
pub use explain::{Step, chain, sentence, steps, why};
pub use links::{Kind as LinkKind, Link, Links, draw_links};
pub use orient::{follow_strokes, orient_transformers, turn_like, with_reactions};
pub use rings::{Closing, Ring};
pub use solved::Solved;

pub(crate) use laws::{Shape, constant_value};
pub(crate) use wishes::{Collector, StorageKey, is_zero, strong_at_neighbour, written_output};

use crate::graph::{BondGraph, BondId, ElementId, ElementKind, End, Memory, Stroke};
use paynter_symbolic::SymbolId;

/// How the stroke of a bond came about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Status {
    /// A source, or a law that has no inverse.
    Fixed,
    /// Written in the text.
    Forced,
    /// A storage in integral form, a modulus that can vanish, a nonlinear resistor: wished and granted.
    Preferred,
    /// Follows from other strokes.
    Propagated,
    /// Nothing decides; taken by name.
    Chosen,
    /// Not assigned, because of a conflict.
    Open,
}

/// Why a bond has its stroke.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// It has none.
    Open,
    /// A source sets this variable.
    Source(ElementId),
    /// The law of this port works in this direction only.
    Law(End),
    /// This port closes a ring of bonds: it takes what the ring has already and gives nothing.
    Ring(End),
    /// The text demands it.
    Forced,
    /// The modulus of this element can vanish, so its law is used as written.
    Modulus(ElementId),
    /// The variable of this junction is independent, in the place of a storage's.
    Independent(ElementId),
    /// The storage is integral.
    Integral(End),
    /// The nonlinear law is used in the direction in which it is written.
    OneSided(End),
    /// The resistor (or switch) takes either; it was its turn.
    Free(End),
    /// A component of a multibond, like its fellows.
    Multibond,
    /// Nothing decides; the effort follows the arrow.
    Arbitrary,
    /// The other way round contradicts what was assigned before.
    Excluded,
    /// Tried, to explain a conflict.
    Assumed,
    /// The junction has its strong bond already.
    Weak {
        /// The junction.
        element: ElementId,
        /// The bond that brings the shared variable.
        strong: BondId,
    },
    /// The junction needs a strong bond and this is the last one open.
    Last {
        /// The junction.
        element: ElementId,
    },
    /// The other side of a TF or GY.
    TwoPort {
        /// The two-port.
        element: ElementId,
        /// Its other bond.
        from: BondId,
    },
}

impl Reason {
    /// Gives the element that the reason is about.
    pub fn element(self) -> Option<ElementId> {
        match self {
            Reason::Source(e) | Reason::Modulus(e) | Reason::Independent(e) => Some(e),
            Reason::Law(end)
            | Reason::Ring(end)
            | Reason::Integral(end)
            | Reason::OneSided(end)
            | Reason::Free(end) => Some(end.element),
            Reason::Weak { element, .. }
            | Reason::Last { element }
            | Reason::TwoPort { element, .. } => Some(element),
            Reason::Open
            | Reason::Forced
            | Reason::Multibond
            | Reason::Arbitrary
            | Reason::Excluded
            | Reason::Assumed => None,
        }
    }

    /// Sorts the reason into one of the words of the field.
    pub fn status(self) -> Status {
        match self {
            Reason::Open | Reason::Assumed => Status::Open,
            Reason::Source(_) | Reason::Law(_) | Reason::Ring(_) => Status::Fixed,
            Reason::Forced => Status::Forced,
            Reason::Modulus(_)
            | Reason::Independent(_)
            | Reason::Integral(_)
            | Reason::OneSided(_) => Status::Preferred,
            Reason::Free(_) | Reason::Arbitrary | Reason::Multibond => Status::Chosen,
            Reason::Excluded
            | Reason::Weak { .. }
            | Reason::Last { .. }
            | Reason::TwoPort { .. } => Status::Propagated,
        }
    }
}

/// How a storage port is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum StorageForm {
    /// Its charge or momentum is a state.
    Integral,
    /// Its charge or momentum follows from other states.
    Derivative,
}

/// A causal cycle without integration: its variables must be solved together.
#[derive(Clone, Debug, PartialEq)]
pub struct AlgebraicLoop {
    /// Assume a value for this variable, and all others of the loop follow one by one.
    pub tearing: SymbolId,
    /// The variables of the loop in causal order, beginning with the tearing variable.
    pub path: Vec<SymbolId>,
    /// Its class; none if it closes through a signal.
    pub class: Option<PathClass>,
}

/// Class of a zero-order causal path, a closed causal path without integration
/// (van Dijk & Breedveld; Felez et al., as quoted by Boudon et al. 2019).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum PathClass {
    /// Class 1: between a storage in integral and one in derivative form; there and back by the same bonds.
    Storages,
    /// Class 2: between elements with algebraic laws; there and back by the same bonds.
    Resistors,
    /// Class 3: a cycle through the junction structure that begins and ends at one port of an element.
    SamePort,
    /// Class 4: a cycle within the junction structure.
    JunctionStructure,
}

impl PathClass {
    /// Gives the number of the class.
    pub fn number(self) -> u8 {
        match self {
            PathClass::Storages => 1,
            PathClass::Resistors => 2,
            PathClass::SamePort => 3,
            PathClass::JunctionStructure => 4,
        }
    }
}

/// A storage in derivative form.
#[derive(Clone, Debug, PartialEq)]
pub struct Dependent {
    /// The storage port.
    pub storage: End,
    /// The storages and sources that set it.
    pub on: Vec<Dependence>,
    /// False if the model has so many that they were not all traced.
    pub is_traced: bool,
}

/// One thing that a dependent storage depends on.
#[derive(Clone, Debug, PartialEq)]
pub struct Dependence {
    /// A storage in integral form, or a source.
    pub element: ElementId,
    /// The variables on the way, from its state (or given variable) to the dependent state.
    pub path: Vec<SymbolId>,
    /// The elements on the way, from the one that sets to the one that depends.
    pub through: Vec<ElementId>,
}

/// A junction whose flow or effort is an independent variable, in the place of a storage's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FreeJunction {
    /// The junction.
    pub junction: ElementId,
    /// Its flow (1) or effort (0), as that of one of its bonds.
    pub symbol: SymbolId,
}

/// An algebraic loop that closes through dependent storages: the rate of an independent variable
/// depends on their efforts (or flows), and these on the rate.
#[derive(Clone, Debug, PartialEq)]
pub struct StorageLoop {
    /// The storage or free junction whose rate has to be solved for.
    pub independent: ElementId,
    /// The storages that depend on it.
    pub dependent: Vec<End>,
    /// Other elements whose rates have to be solved for at the same time.
    pub together_with: Vec<ElementId>,
    /// The variables on the shortest way to a dependent storage; the loop goes back the same way.
    pub path: Vec<SymbolId>,
    /// The elements on that way.
    pub elements: Vec<ElementId>,
}

/// A zero-order causal path.
#[derive(Clone, Debug, PartialEq)]
pub struct ZeroOrderPath {
    /// Its class.
    pub class: PathClass,
    /// The elements on it, in causal order.
    pub elements: Vec<ElementId>,
}

/// Turns "the effort comes in at this end" into a stroke and back.
pub(crate) struct Strokes;

impl Strokes {
    /// The stroke that makes the effort an input (or not) at this end of the bond.
    pub(crate) fn at(graph: &BondGraph, bond: BondId, end: End, effort_is_input: bool) -> Stroke {
        if (graph.bond(bond).head == end) == effort_is_input {
            Stroke::Head
        } else {
            Stroke::Tail
        }
    }
}

/// The causality of a bond graph: one entry for each of its bonds.
#[derive(Clone, Debug, Default)]
pub struct Causality {
    strokes: Vec<Option<Stroke>>,
    reasons: Vec<Reason>,
    /// Bonds in the order in which they were assigned.
    pub sequence: Vec<BondId>,
    /// Demands that contradict each other; empty if the assignment is complete.
    pub conflicts: Vec<Conflict>,
    /// Multibonds whose components could not all have one stroke (rule C1), by their bonds.
    pub split_multibonds: Vec<Vec<BondId>>,
    /// Storage ports in integral form: the independent storages.
    pub independent: Vec<End>,
    /// Junctions whose variable is independent though no storage sets it, so that no modulus that can
    /// vanish is divided by.
    pub free: Vec<FreeJunction>,
    /// Storage ports in derivative form, with what they depend on.
    pub dependent: Vec<Dependent>,
    /// Loops through dependent storages, one for each independent variable whose rate they load.
    pub storage_loops: Vec<StorageLoop>,
    /// Symbols with `der(x) = …` that act on the dynamics.
    pub coordinates: Vec<SymbolId>,
    /// Symbols with `der(x) = …` or `integral(…)` that act on nothing: not states of the dynamics.
    pub outside: Vec<SymbolId>,
    /// Rings of two-ports in which a variable sets itself.
    pub rings: Vec<Ring>,
    /// Algebraic loops, each with the variable to tear it at.
    pub loops: Vec<AlgebraicLoop>,
    /// Zero-order causal paths: one for each dependent storage and storage that sets it, one for each loop along power bonds.
    pub zero_order_paths: Vec<ZeroOrderPath>,
    /// Elements whose modulus can vanish and which the strokes turn round: followed stroke by
    /// stroke, the equations would divide by it.
    pub reversed_moduli: Vec<ElementId>,
    /// Ports whose nonlinear law is used against the direction in which it is written.
    pub inverted_laws: Vec<End>,
    /// Number of ports looked at while assigning: a measure of work that no machine changes.
    pub n_visits: u64,
    /// Propagation alone came to a dead end and a matching completed the assignment.
    pub is_matched: bool,
}

/// Assigns strokes to all bonds.
///
/// Linear in the number of bonds, except where junction loops lead propagation into a dead end.
pub fn assign_causality(graph: &BondGraph) -> Causality {
    let ranking = ranking::rank(graph);
    let rings = rings::find_rings(graph, &ranking);
    let network = propagate::Network::new(graph, &ranking, &rings);
    let wishes = wishes::collect_wishes(graph, &ranking, &rings);
    let problem = assign::Problem::new(graph, &network, &ranking, &wishes);
    let granted = velocities::assign_safely(graph, &problem);
    let bonds = (0..graph.bonds.len() as u32).map(BondId);
    let table = &granted.table;
    let is_split = |members: &&Vec<BondId>| {
        members
            .windows(2)
            .any(|pair| table.stroke(pair[0]) != table.stroke(pair[1]))
    };

    let mut causality = Causality {
        strokes: bonds.clone().map(|b| table.stroke(b)).collect(),
        reasons: bonds.map(|b| table.reason(b)).collect(),
        sequence: table.trail().to_vec(),
        split_multibonds: problem
            .multibonds()
            .iter()
            .filter(is_split)
            .cloned()
            .collect(),
        reversed_moduli: wishes::reversed_moduli(graph, &wishes, |b| table.stroke(b)),
        inverted_laws: wishes::inverted_laws(&wishes, |b| table.stroke(b)),
        free: granted
            .free
            .iter()
            .filter_map(|&j| free_junction(graph, &ranking, j))
            .collect(),
        rings,
        n_visits: granted.n_visits,
        is_matched: granted.is_matched,
        conflicts: granted.conflicts,
        ..Causality::default()
    };

    analyse(graph, &ranking, &mut causality);
    causality
}

/// Lists the parameters that the ratios of rings read: with other values a ring may lock, or no longer close.
pub fn ring_parameters(graph: &BondGraph) -> Vec<SymbolId> {
    if !rings::can_have_rings(graph) {
        return Vec::new();
    }
    let rings = rings::find_rings(graph, &ranking::rank(graph));
    let members = rings.iter().flat_map(|r| &r.members);
    let mut found: Vec<SymbolId> = members
        .flat_map(|&e| graph.element(e).law.expressions())
        .flat_map(|e| laws::reads(&graph.signals.pool, e))
        .collect();
    found.sort_unstable();
    found.dedup();
    found
}

/// Picks the bond that stands for the variable of a junction: a one-port's if there is one, the first by name.
fn free_junction(
    graph: &BondGraph,
    ranking: &ranking::Ranking,
    junction: ElementId,
) -> Option<FreeJunction> {
    let is_one_port = |b: BondId| {
        let bond = graph.bond(b);
        [bond.tail.element, bond.head.element]
            .iter()
            .any(|&e| graph.element(e).ports.len() == 1 && !graph.element(e).kind.is_junction())
    };
    let bond = graph
        .element(junction)
        .ports
        .iter()
        .copied()
        .min_by_key(|&b| (!is_one_port(b), ranking.bond[b.0 as usize]))?;
    let bond = graph.bond(bond);
    Some(FreeJunction {
        junction,
        symbol: if graph.element(junction).kind == ElementKind::One {
            bond.flow
        } else {
            bond.effort
        },
    })
}

/// Reads off the strokes what they mean for the equations.
fn analyse(graph: &BondGraph, ranking: &ranking::Ranking, causality: &mut Causality) {
    let by_name = |end: &End| (ranking.element[end.element.0 as usize], end.port);
    let links = links::draw_links(graph, causality);
    causality.independent = storages::storages(graph, causality, StorageForm::Integral);
    causality.independent.sort_by_key(by_name);
    causality.dependent = storages::trace_dependents(graph, causality, &links);
    causality.dependent.sort_by_key(|d| by_name(&d.storage));
    for dependent in &mut causality.dependent {
        dependent
            .on
            .sort_by_key(|d| ranking.element[d.element.0 as usize]);
        for on in &mut dependent.on {
            on.through = elements_along(&links, &on.path, false);
            // The way from a free junction begins at one of its bonds.
            if graph.element(on.element).kind.is_junction()
                && on.through.first() != Some(&on.element)
            {
                on.through.insert(0, on.element);
            }
        }
    }

    causality
        .free
        .sort_by_key(|f| ranking.element[f.junction.0 as usize]);
    causality.storage_loops = storages::loops_through_storages(graph, causality, ranking);
    causality.loops = loops::find_loops(graph, causality, &links, ranking);
    let coordinates = storages::sort_coordinates(graph, causality, &links);
    causality.coordinates = coordinates.states;
    causality.outside = coordinates.outside;
    for dependent in &causality.dependent {
        for on in &dependent.on {
            if !storages::is_independent(graph, on.element) {
                continue;
            }
            let elements = on.through.clone();
            causality.zero_order_paths.push(ZeroOrderPath {
                class: PathClass::Storages,
                elements,
            });
        }
    }

    for found in &causality.loops {
        if let Some(class) = found.class {
            let elements = elements_along(&links, &found.path, true);
            causality
                .zero_order_paths
                .push(ZeroOrderPath { class, elements });
        }
    }
}

/// Lists the elements that a path of variables passes, each once where it is met.
fn elements_along(links: &links::Links, path: &[SymbolId], is_closed: bool) -> Vec<ElementId> {
    let mut elements: Vec<ElementId> = Vec::new();
    let pairs = path.windows(2).map(|p| (p[0], p[1]));
    let back = path
        .last()
        .zip(path.first())
        .filter(|_| is_closed)
        .map(|(&a, &b)| (a, b));
    // The element that closes a cycle is the one that gives its first variable.
    for (from, to) in back.into_iter().chain(pairs) {
        let by = links.link(from, to).and_then(|l| l.by);
        elements.extend(by.filter(|by| elements.last() != Some(by)));
    }
    elements
}

impl Causality {
    /// Gives the stroke of a bond; none only after a conflict.
    pub fn stroke(&self, bond: BondId) -> Option<Stroke> {
        self.strokes.get(bond.0 as usize).copied().flatten()
    }

    /// Gives the reason for the stroke of a bond.
    pub fn reason(&self, bond: BondId) -> Reason {
        self.reasons
            .get(bond.0 as usize)
            .copied()
            .unwrap_or(Reason::Open)
    }

    /// Gives the status of the stroke of a bond.
    pub fn status(&self, bond: BondId) -> Status {
        self.reason(bond).status()
    }

    /// Tells whether the effort of the bond at this port is an input of the element; else its flow is.
    pub fn effort_is_input(&self, graph: &BondGraph, end: End) -> Option<bool> {
        let bond = *graph.element(end.element).ports.get(end.port as usize)?;
        let stroke = self.stroke(bond)?;
        Some((graph.bond(bond).head == end) == (stroke == Stroke::Head))
    }

    /// Tells whether a port of a junction is left out because it closes a ring of bonds.
    pub fn is_left_out(&self, end: End) -> bool {
        self.rings.iter().any(|r| r.left_out_port() == Some(end))
    }

    /// Gives the form of a storage port; none for other elements and unassigned bonds.
    pub fn form(&self, graph: &BondGraph, element: ElementId, port: u32) -> Option<StorageForm> {
        let effort_is_input = self.effort_is_input(graph, End { element, port })?;
        let element = graph.element(element);
        if !element.kind.is_storage() {
            return None;
        }
        let takes_effort = element.memory(port as usize)? == Memory::Momentum;
        Some(match takes_effort == effort_is_input {
            true => StorageForm::Integral,
            false => StorageForm::Derivative,
        })
    }

    /// Gives the order of the system: independent storages and junctions, and coordinates that act on the dynamics.
    pub fn order(&self) -> usize {
        self.independent.len() + self.free.len() + self.coordinates.len()
    }

    /// Gives the variables to tear the algebraic loops at.
    pub fn tearing_symbols(&self) -> Vec<SymbolId> {
        self.loops.iter().map(|l| l.tearing).collect()
    }

    /// Tells whether every bond has a stroke and no demand was dropped.
    pub fn is_complete(&self) -> bool {
        self.conflicts.is_empty() && self.strokes.iter().all(Option::is_some)
    }
}

#[cfg(test)]
mod tests;
