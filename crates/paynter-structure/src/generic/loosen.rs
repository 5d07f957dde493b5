//! Gives every element a parameter of its own, and adds probes: sources of nothing at junctions.
//!
//! In:  a bond graph.
//! Out: the same graph in which elements that share a parameter of the text no longer do.
//!
//! A structural answer holds for almost all values, each element for itself. Numbers that are part of the
//! structure stay: 0 (not there), and ±1 in a transformer (a sign, a joint).

use crate::attach::attach_source;
use paynter::model::graph::{BondGraph, ElementId, ElementKind, Law};
use paynter::symbolic::walk::symbols_of;
use paynter::symbolic::{ExprId, Names, Node, Role, Symbol, SymbolId};
use rustc_hash::FxHashMap;

/// A source of nothing at a junction: where an actuator could act.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Probe {
    /// The junction.
    pub junction: ElementId,
    /// What the source sets: the input.
    pub input: SymbolId,
}

/// Makes the parameters of all elements independent; `inputs` stay what they are.
pub fn loosen(graph: &mut BondGraph, inputs: &[SymbolId]) {
    for index in 0..graph.elements.len() {
        let mut own: FxHashMap<ExprId, ExprId> = FxHashMap::default();
        let element = &graph.elements[index];
        let (kind, n_ports) = (element.kind, element.ports.len());
        let mut law = element.law.clone();
        let mut free = |graph: &mut BondGraph, e: &mut ExprId| {
            *e = free_value(graph, &mut own, *e, (kind, inputs));
        };
        match &mut law {
            Law::Gain(e) | Law::InverseGain(e) => free(graph, e),
            Law::Field(entries) | Law::InverseField(entries) => {
                entries.iter_mut().for_each(|e| free(graph, e));
            }
            Law::Switch { r_on, g_off, .. } | Law::Diode { r_on, g_off, .. } => {
                free(graph, r_on);
                free(graph, g_off);
            }
            Law::Explicit(rows) if n_ports == 1 && is_one_port(kind) => {
                for (_, _, e) in rows {
                    let factor = fresh(graph);
                    *e = graph.signals.pool.mul(factor, *e);
                }
            }
            Law::Explicit(_) | Law::Junction | Law::Source { .. } => {}
        }
        graph.elements[index].law = law;
    }
}

fn is_one_port(kind: ElementKind) -> bool {
    matches!(kind, ElementKind::R | ElementKind::C | ElementKind::I)
}

/// A value of its own in the place of one that the element may share with others; equal entries of one
/// field stay equal, opposite ones opposite.
fn free_value(
    graph: &mut BondGraph,
    own: &mut FxHashMap<ExprId, ExprId>,
    e: ExprId,
    (kind, inputs): (ElementKind, &[SymbolId]),
) -> ExprId {
    if let Some(&known) = own.get(&e) {
        return known;
    }
    let is_structure = match graph.signals.pool.as_number(e) {
        Some(x) => x == 0.0 || (kind == ElementKind::Tf && x.abs() == 1.0),
        None => !is_constant(graph, e, inputs),
    };
    if is_structure {
        return e;
    }
    if let Node::Neg(inner) = graph.signals.pool.node(e) {
        let positive = free_value(graph, own, inner, (kind, inputs));
        return graph.signals.pool.neg(positive);
    }
    let negative = graph.signals.pool.as_number(e).map(|x| -x);
    let opposite = negative.map(|x| graph.signals.pool.number(x));
    if let Some(&known) = opposite.and_then(|o| own.get(&o)) {
        return graph.signals.pool.neg(known);
    }
    let value = fresh(graph);
    own.insert(e, value);
    value
}

/// Tells whether an expression reads parameters only, and no input.
fn is_constant(graph: &BondGraph, e: ExprId, inputs: &[SymbolId]) -> bool {
    let dae = &graph.signals;
    symbols_of(&dae.pool, e).iter().all(|s| {
        matches!(dae.symbol(*s).role, Role::Parameter { .. }) && !follows(graph, *s, inputs)
    })
}

/// Tells whether a parameter is an input, or is computed from one.
pub fn follows(graph: &BondGraph, symbol: SymbolId, inputs: &[SymbolId]) -> bool {
    if inputs.contains(&symbol) {
        return true;
    }
    match graph.signals.symbol(symbol).role {
        Role::Parameter {
            binding: Some(binding),
            ..
        } if !inputs.is_empty() => symbols_of(&graph.signals.pool, binding)
            .iter()
            .any(|s| *s != symbol && follows(graph, *s, inputs)),
        _ => false,
    }
}

fn fresh(graph: &mut BondGraph) -> ExprId {
    let symbol = fresh_symbol(
        graph,
        Role::Parameter {
            value: 1.0,
            binding: None,
        },
    );
    graph.signals.pool.symbol(symbol)
}

fn fresh_symbol(graph: &mut BondGraph, role: Role) -> SymbolId {
    let name = graph.signals.names.child(Names::ROOT, "own value", None);
    graph.signals.add_symbol(Symbol {
        name,
        role,
        nominal: 0.0,
        origin: Default::default(),
    })
}

impl Probe {
    /// Adds a source of nothing to a junction: Se to a 1, Sf to a 0.
    pub fn add(graph: &mut BondGraph, junction: ElementId) -> Probe {
        let is_one = graph.element(junction).kind == ElementKind::One;
        let bond = [(); 2].map(|()| fresh_symbol(graph, Role::Unknown));
        let value = graph.signals.pool.number(0.0);
        let kind = match is_one {
            true => ElementKind::Se,
            false => ElementKind::Sf,
        };
        attach_source(graph, junction, kind, value, bond);
        let [effort, flow] = bond;
        Probe {
            junction,
            input: if is_one { effort } else { flow },
        }
    }
}
