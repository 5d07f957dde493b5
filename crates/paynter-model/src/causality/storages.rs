//! Finds what dependent storages depend on, and the order of the system.
//!
//! In:  the causal graph.
//! Out: [`Dependent`]s with the paths that tie them; coordinates inside and outside the dynamics.

use super::components::components;
use super::links::{Kind, Links};
use super::{Causality, Dependence, Dependent, StorageForm};
use crate::graph::{BondGraph, ElementId, ElementKind, End, ReadingKind};
use paynter_symbolic::SymbolId;
use rustc_hash::FxHashMap;
use std::collections::VecDeque;

/// Variables looked at for all dependent storages together. A rigid chain of n masses has paths
/// of total length n², so what they depend on is drawn for the first ones only.
const MAX_VISITS: usize = 4_000_000;

/// Lists the storage ports of one form, in the order of the graph.
pub(super) fn storages(graph: &BondGraph, causality: &Causality, form: StorageForm) -> Vec<End> {
    let mut found = Vec::new();
    for (index, element) in graph.elements.iter().enumerate() {
        if !matches!(element.kind, ElementKind::C | ElementKind::I) {
            continue;
        }
        for port in 0..element.ports.len() as u32 {
            let end = End {
                element: ElementId(index as u32),
                port,
            };
            if causality.form(graph, end.element, port) == Some(form) {
                found.push(end);
            }
        }
    }
    found
}

/// Traces each dependent storage back to the storages and sources that set it.
pub(super) fn trace_dependents(
    graph: &BondGraph,
    causality: &Causality,
    links: &Links,
) -> Vec<Dependent> {
    let mut giver: FxHashMap<SymbolId, ElementId> = FxHashMap::default();
    for end in storages(graph, causality, StorageForm::Integral) {
        if let Some(&state) = graph.element(end.element).states.get(end.port as usize) {
            giver.insert(state, end.element);
        }
    }
    for (index, element) in graph.elements.iter().enumerate() {
        if let (ElementKind::Se | ElementKind::Sf, Some(&b)) = (element.kind, element.ports.first())
        {
            let bond = graph.bond(b);
            let given = if element.kind == ElementKind::Se {
                bond.effort
            } else {
                bond.flow
            };
            giver.insert(given, ElementId(index as u32));
        }
    }
    let mut n_visits = 0;
    storages(graph, causality, StorageForm::Derivative)
        .into_iter()
        .map(|storage| {
            let is_traced = n_visits < MAX_VISITS;
            let on = if is_traced {
                trace(graph, links, &giver, storage, &mut n_visits)
            } else {
                Vec::new()
            };
            Dependent {
                storage,
                on,
                is_traced,
            }
        })
        .collect()
}

fn trace(
    graph: &BondGraph,
    links: &Links,
    giver: &FxHashMap<SymbolId, ElementId>,
    storage: End,
    n_visits: &mut usize,
) -> Vec<Dependence> {
    let Some(&state) = graph
        .element(storage.element)
        .states
        .get(storage.port as usize)
    else {
        return Vec::new();
    };
    // Along power only: a modulus changes how much, not on what.
    let mut towards: FxHashMap<SymbolId, SymbolId> = FxHashMap::default();
    let mut queue = VecDeque::from([state]);
    let mut on = Vec::new();
    while let Some(symbol) = queue.pop_front() {
        *n_visits += 1;
        if let Some(&element) = giver.get(&symbol) {
            let mut path = vec![symbol];
            while let Some(&next) = towards.get(path.last().expect("a path begins with its giver"))
            {
                path.push(next);
            }
            on.push(Dependence {
                element,
                path,
                through: Vec::new(),
            });
            continue;
        }
        for link in links
            .into(symbol)
            .filter(|l| matches!(l.kind, Kind::Copy | Kind::Algebra))
        {
            if link.from != state && !towards.contains_key(&link.from) {
                towards.insert(link.from, symbol);
                queue.push_back(link.from);
            }
        }
    }
    on
}

/// Coordinates (`der(x) = …`, `integral(…)`) inside and outside the dynamics.
pub(super) struct Coordinates {
    pub states: Vec<SymbolId>,
    pub outside: Vec<SymbolId>,
}

/// A coordinate belongs to the dynamics if it acts, however indirectly, on a storage or on itself.
pub(super) fn sort_coordinates(
    graph: &BondGraph,
    causality: &Causality,
    links: &Links,
) -> Coordinates {
    let integrals = graph
        .readings
        .iter()
        .filter(|r| matches!(r.what, ReadingKind::Integral(_)))
        .map(|r| r.symbol);
    let candidates: Vec<SymbolId> = links.coordinates.iter().copied().chain(integrals).collect();
    if candidates.is_empty() {
        return Coordinates {
            states: Vec::new(),
            outside: Vec::new(),
        };
    }
    let n = graph.signals.symbols.len();
    let found = components(n, |v| links.out_of(SymbolId(v)).map(|l| l.to.0).collect());
    // Components are numbered sinks first, so what follows from a component is known before it.
    let mut is_dynamic = vec![false; found.members.len()];
    for end in storages(graph, causality, StorageForm::Integral) {
        if let Some(&state) = graph.element(end.element).states.get(end.port as usize) {
            is_dynamic[found.of[state.0 as usize] as usize] = true;
        }
    }
    for (c, members) in found.members.iter().enumerate() {
        let acts = members.iter().any(|&v| {
            links.out_of(SymbolId(v)).any(|l| {
                let to = found.of[l.to.0 as usize] as usize;
                // A cycle through time, or a way into one.
                is_dynamic[to] || to == c && !l.kind.is_algebraic()
            })
        });
        is_dynamic[c] |= acts;
    }
    let (states, outside) = candidates
        .into_iter()
        .partition(|s| is_dynamic[found.of[s.0 as usize] as usize]);
    Coordinates { states, outside }
}
