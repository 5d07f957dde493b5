//! Which elements are modulated by what: the signals of a drawing.
//!
//! In:  a graph and its view.
//! Out: pairs of nodes (read, modulated). A submodel without power elements, such as a
//!      controller, becomes a node of the view, with signals in and out.
//!
//! Definitions, integrators and sampled blocks between a reading and what it acts on are passed
//! through: the drawing shows where power is modulated from, the equations show how.

use super::NodeKind;
use super::view::{View, ViewNode, local_name};
use paynter_model::graph::{BondGraph, BondId, Element, ElementId, ElementKind, Law};
use paynter_symbolic::walk::symbols_of;
use paynter_symbolic::{ExprId, Names, PathId, Role, SymbolId};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::{BTreeMap, BTreeSet};

/// With more arrows than this into one node, none of them can be followed by eye.
const MAX_ARROWS_INTO_NODE: usize = 6;

/// Lists the signals of a view as (from, to), sorted.
pub(super) fn signals(graph: &BondGraph, view: &mut View) -> Vec<(usize, usize)> {
    let readings = Readings::new(graph);
    let n_power = view.nodes.len();
    let mut boxes: BTreeMap<PathId, usize> = BTreeMap::new();
    let mut seen: FxHashSet<(usize, SymbolId)> = FxHashSet::default();
    let mut arrows: BTreeSet<(usize, usize)> = BTreeSet::new();
    let mut todo = modulating_reads(graph, view);

    while let Some((node, symbol)) = todo.pop() {
        if !seen.insert((node, symbol)) {
            continue;
        }
        if let Some(&element) = readings.owner.get(&symbol) {
            let from = view.node_of[element.0 as usize];
            if from != node {
                arrows.insert((from, node));
            }
            continue;
        }
        let target = match readings.place_of(graph, view, symbol) {
            Place::Passed => node,
            Place::Node(at) => at,
            Place::Part(part) => *boxes.entry(part).or_insert_with(|| {
                let own = signal_box(graph, view, part);
                view.nodes.push(own);
                view.nodes.len() - 1
            }),
        };
        if target != node {
            arrows.insert((target, node));
        }
        for &e in readings.defined.get(&symbol).into_iter().flatten() {
            todo.extend(
                symbols_of(&graph.signals.pool, e)
                    .into_iter()
                    .map(|s| (target, s)),
            );
        }
    }

    let mut into: BTreeMap<usize, usize> = BTreeMap::new();
    for &(_, to) in &arrows {
        *into.entry(to).or_default() += 1;
    }
    arrows.retain(|(from, to)| into[to] <= MAX_ARROWS_INTO_NODE || *from >= n_power);

    // What a port hands on with its power goes with the bond.
    for edge in view.edges.iter().filter(|e| e.carries_signals) {
        arrows.remove(&(edge.tail, edge.head));
        arrows.remove(&(edge.head, edge.tail));
    }
    arrows.into_iter().collect()
}

/// What the laws of modulated elements read beside their own quantities, with the nodes they are in.
fn modulating_reads(graph: &BondGraph, view: &View) -> Vec<(usize, SymbolId)> {
    let mut todo: Vec<(usize, SymbolId)> = Vec::new();
    for (index, element) in graph
        .elements
        .iter()
        .enumerate()
        .filter(|(_, e)| e.is_modulated)
    {
        let node = view.node_of[index];
        for e in expressions(&element.law) {
            let read = symbols_of(&graph.signals.pool, e);
            todo.extend(
                read.into_iter()
                    .filter(|s| !is_own(graph, element, *s))
                    .map(|s| (node, s)),
            );
        }
    }
    todo
}

/// A law reads the variables of its own ports without a signal.
fn is_own(graph: &BondGraph, element: &Element, symbol: SymbolId) -> bool {
    let is_at = |&b: &BondId| graph.bond(b).effort == symbol || graph.bond(b).flow == symbol;
    element.states.contains(&symbol) || element.ports.iter().any(is_at)
}

/// A box for a submodel without power, in the frame of what it is part of.
fn signal_box(graph: &BondGraph, view: &View, part: PathId) -> ViewNode {
    let names = &graph.signals.names;
    let frame = names.parent(part).and_then(|p| view.frame_of.get(&p));
    ViewNode {
        kind: NodeKind::Signals,
        text: match frame {
            Some(_) => local_name(names, part),
            None => names.display(part),
        },
        small: String::new(),
        elements: Vec::new(),
        frame: frame.copied(),
        is_source: false,
        is_resistor: false,
        pinned: graph
            .layout
            .iter()
            .find(|l| l.0 == part)
            .map(|l| (l.1, l.2)),
    }
}

fn expressions(law: &Law) -> Vec<ExprId> {
    match law {
        Law::Junction => Vec::new(),
        Law::Source { value, .. } => vec![*value],
        Law::Gain(e) | Law::InverseGain(e) => vec![*e],
        Law::Field(list) | Law::InverseField(list) => list.clone(),
        Law::Explicit(list) => list.iter().map(|x| x.2).collect(),
        Law::Switch { on, r_on, g_off } => vec![*on, *r_on, *g_off],
        Law::Diode {
            r_on,
            g_off,
            threshold,
        } => vec![*r_on, *g_off, *threshold],
    }
}

/// What symbols mean.
struct Readings {
    /// Efforts, flows and states belong to elements.
    owner: FxHashMap<SymbolId, ElementId>,
    /// Right-hand sides: `x = …`, `der(x) = …`, and those of sampled blocks.
    defined: FxHashMap<SymbolId, Vec<ExprId>>,
    /// Submodels that contain power elements, at any depth.
    powered: FxHashSet<PathId>,
}

impl Readings {
    fn new(graph: &BondGraph) -> Readings {
        let mut owner = FxHashMap::default();
        for bond in &graph.bonds {
            for (symbol, shared) in [
                (bond.effort, ElementKind::Zero),
                (bond.flow, ElementKind::One),
            ] {
                owner.insert(
                    symbol,
                    reader(graph, [bond.tail.element, bond.head.element], shared),
                );
            }
        }
        let mut powered = FxHashSet::default();
        let names = &graph.signals.names;
        for (index, element) in graph.elements.iter().enumerate() {
            owner.extend(element.states.iter().map(|&s| (s, ElementId(index as u32))));
            let mut at = Some(element.part);
            while let Some(path) = at.filter(|&p| powered.insert(p)) {
                at = names.parent(path);
            }
        }
        powered.insert(Names::ROOT);
        Readings {
            owner,
            defined: definitions(graph),
            powered,
        }
    }

    /// Where a signal is computed: in a closed box, or in a submodel without power, the outermost.
    fn place_of(&self, graph: &BondGraph, view: &View, symbol: SymbolId) -> Place {
        let dae = &graph.signals;
        let symbol = match dae.symbol(symbol).role {
            Role::Parameter { .. } | Role::Time => return Place::Passed,
            Role::Pre { of } | Role::Derivative { of } => of,
            Role::Unknown | Role::Discrete { .. } | Role::Mode { .. } => symbol,
        };
        let above = |path: &PathId| dae.names.parent(*path);
        let mut place = Place::Passed;
        for path in std::iter::successors(above(&dae.symbol(symbol).name), above) {
            if let Some(&node) = view.box_of.get(&path) {
                return Place::Node(node);
            }
            // Ports and vectors have paths as well, and are not submodels.
            let is_part = graph.instances.binary_search(&path).is_ok();
            if is_part && !self.powered.contains(&path) {
                place = Place::Part(path);
            }
        }
        place
    }
}

/// Where a signal is computed.
enum Place {
    /// Among the power elements: what it is made of is drawn instead.
    Passed,
    /// In a node of the view.
    Node(usize),
    /// In a submodel without power.
    Part(PathId),
}

/// The element that a reading of a bond is drawn from: the junction that shares it, or a one-port.
fn reader(graph: &BondGraph, ends: [ElementId; 2], shared: ElementKind) -> ElementId {
    let is_one_port = |e: &ElementId| {
        let element = graph.element(*e);
        element.ports.len() == 1 && !element.kind.is_junction()
    };
    let find = |test: &dyn Fn(&ElementId) -> bool| ends.into_iter().find(|e| test(e));
    find(&|&e| graph.element(e).kind == shared)
        .or_else(|| find(&is_one_port))
        .unwrap_or(ends[0])
}

fn definitions(graph: &BondGraph) -> FxHashMap<SymbolId, Vec<ExprId>> {
    let dae = &graph.signals;
    let base = |s: SymbolId| match dae.symbol(s).role {
        Role::Derivative { of } | Role::Pre { of } => of,
        _ => s,
    };
    let mut defined: FxHashMap<SymbolId, Vec<ExprId>> = FxHashMap::default();
    for equation in &dae.equations {
        let symbol = equation
            .solves
            .or_else(|| dae.pool.as_symbol(equation.left));
        if let Some(symbol) = symbol {
            defined
                .entry(base(symbol))
                .or_default()
                .push(equation.right);
        }
    }

    for (symbol, e) in dae.clocks.iter().flat_map(|c| &c.equations) {
        defined.entry(base(*symbol)).or_default().push(*e);
    }

    // The value before an event reads what the value itself reads.
    for (index, symbol) in dae.symbols.iter().enumerate() {
        if let Role::Pre { of } | Role::Derivative { of } = symbol.role
            && let Some(list) = defined.get(&of).cloned()
        {
            defined.insert(SymbolId(index as u32), list);
        }
    }
    defined
}
