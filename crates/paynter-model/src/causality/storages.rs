//! Finds what dependent storages depend on, and the order of the system.
//!
//! In:  the causal graph.
//! Out: [`Dependent`]s with the paths that tie them; coordinates inside and outside the dynamics.

use super::components::components;
use super::links::{Kind, Links};
use super::ranking::Ranking;
use super::{Causality, Dependence, Dependent, StorageForm, StorageLoop};
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
        if !element.kind.is_storage() {
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

    for free in &causality.free {
        giver.insert(free.symbol, free.junction);
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

/// Tells whether what a dependent storage depends on has a rate (a storage, a free junction), or is a source.
pub(super) fn is_independent(graph: &BondGraph, element: ElementId) -> bool {
    let kind = graph.element(element).kind;
    kind.is_junction() || kind.is_storage()
}

/// Gives one loop for each independent variable that dependent storages load, by name.
///
/// Rates that load the same dependent storage have to be solved for together.
pub(super) fn loops_through_storages(
    graph: &BondGraph,
    causality: &Causality,
    ranking: &Ranking,
) -> Vec<StorageLoop> {
    let mut place: FxHashMap<ElementId, usize> = FxHashMap::default();
    let mut loops: Vec<StorageLoop> = Vec::new();
    // Union by the smallest number; a set is named by its first member.
    let mut set: Vec<usize> = Vec::new();
    fn root(set: &mut [usize], mut i: usize) -> usize {
        while set[i] != i {
            set[i] = set[set[i]];
            i = set[i];
        }
        i
    }

    for dependent in &causality.dependent {
        let mut first = None;
        for on in dependent
            .on
            .iter()
            .filter(|on| is_independent(graph, on.element))
        {
            let i = *place.entry(on.element).or_insert_with(|| {
                set.push(loops.len());
                loops.push(StorageLoop {
                    independent: on.element,
                    dependent: Vec::new(),
                    together_with: Vec::new(),
                    path: on.path.clone(),
                    elements: on.through.clone(),
                });
                loops.len() - 1
            });
            loops[i].dependent.push(dependent.storage);
            if on.path.len() < loops[i].path.len() {
                loops[i].path.clone_from(&on.path);
                loops[i].elements.clone_from(&on.through);
            }
            let here = root(&mut set, i);
            let there = first.map_or(here, |f| root(&mut set, f));
            let (low, high) = (here.min(there), here.max(there));
            set[high] = low;
            first = Some(low);
        }
    }

    let sets: Vec<usize> = (0..loops.len()).map(|i| root(&mut set, i)).collect();
    tell_together(&mut loops, &sets, ranking);
    loops.sort_by_key(|l| ranking.element[l.independent.0 as usize]);
    loops
}

/// Lists for each loop the others of its set.
fn tell_together(loops: &mut [StorageLoop], sets: &[usize], ranking: &Ranking) {
    let mut members: Vec<Vec<ElementId>> = vec![Vec::new(); loops.len()];
    for (i, &set) in sets.iter().enumerate() {
        members[set].push(loops[i].independent);
    }
    for members in &mut members {
        members.sort_by_key(|e| ranking.element[e.0 as usize]);
    }
    for (found, &set) in loops.iter_mut().zip(sets) {
        let others = members[set].iter().copied();
        let others = others.filter(|&e| e != found.independent);
        found.together_with = others.take(MAX_TOGETHER).collect();
    }
}

/// Rates solved for together that are listed at each loop: all of them in any mechanism drawn by hand;
/// a list for every one of thousands would be quadratic.
const MAX_TOGETHER: usize = 100;

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

    for free in &causality.free {
        is_dynamic[found.of[free.symbol.0 as usize] as usize] = true;
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
