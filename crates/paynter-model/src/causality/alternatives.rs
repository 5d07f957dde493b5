//! Enumerates other assignments that are as good.
//!
//! In:  a bond graph.
//! Out: assignments with as many integral storages as the one chosen, each by what changes.

use super::assign::{Granted, Order, Problem, grant};
use super::propagate::{Network, opposite};
use super::ranking::rank;
use super::rings::find_rings;
use super::velocities::assign_safely;
use super::wishes::{Wish, collect_wishes, reversed_moduli};
use super::{Reason, StorageForm};
use crate::graph::{BondGraph, BondId, ElementId, End, Memory, Stroke};
use crate::kinds::Nature;
use rustc_hash::FxHashSet;
use std::collections::VecDeque;

/// Another assignment with as few dependent storages.
#[derive(Clone, Debug, PartialEq)]
pub struct Alternative {
    /// The stroke of each bond.
    pub strokes: Vec<Option<Stroke>>,
    /// What differs from the assignment chosen, by name.
    pub changes: Vec<Change>,
    /// Elements whose modulus can vanish and would be divided by.
    pub reversed_moduli: Vec<ElementId>,
}

/// A difference between two assignments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// A storage takes this form instead of the other.
    Storage(End, StorageForm),
    /// A resistor gives effort instead of flow, or the other way round.
    Resistor {
        /// Its port.
        end: End,
        /// It gives effort now.
        gives_effort: bool,
    },
}

/// Whole assignments tried in one search; each is linear in the size of the graph.
const MAX_TRIED: usize = 400;

/// Finds up to `limit` alternatives, those with fewest changes first.
pub fn alternatives(graph: &BondGraph, limit: usize) -> Vec<Alternative> {
    let ranking = rank(graph);
    let rings = find_rings(graph, &ranking);
    let network = Network::new(graph, &ranking, &rings);
    let wishes = collect_wishes(graph, &ranking, &rings);
    let problem = Problem::new(graph, &network, &ranking, &wishes);
    let chosen = assign_safely(graph, &problem);
    let all_moduli: Vec<usize> = (0..wishes.moduli.len()).collect();
    let base = strokes_of(graph, &chosen);

    // Storages first: that is what the engineer came for.
    let storages = wishes.storages.iter();
    let candidates = storages.chain(&wishes.one_sided).chain(&wishes.free);
    let candidates: Vec<BondId> = candidates.map(|w| w.bond).collect();

    let mut seen: FxHashSet<Vec<Option<Stroke>>> = FxHashSet::from_iter([base.clone()]);
    let mut queue: VecDeque<(Vec<Option<Stroke>>, Vec<Wish>)> =
        VecDeque::from([(base.clone(), Vec::new())]);
    let mut found = Vec::new();
    let mut n_tried = 0;
    while let Some((from, kept)) = queue.pop_front() {
        for &bond in &candidates {
            if found.len() >= limit || n_tried >= MAX_TRIED {
                return found;
            }
            let Some(stroke) = from[bond.0 as usize].map(opposite) else {
                continue;
            };
            if kept.iter().any(|w: &Wish| w.bond == bond) {
                continue;
            }
            let mut extra = kept.clone();
            extra.push(Wish {
                bond,
                stroke,
                reason: Reason::Assumed,
            });
            n_tried += 1;
            let granted = grant(
                &problem,
                Order {
                    moduli_first: &all_moduli,
                    extra: &extra,
                    ..Order::default()
                },
            );
            let other = strokes_of(graph, &granted);
            let mut assumed = extra.iter();
            let is_granted = assumed.all(|w| other[w.bond.0 as usize] == Some(w.stroke));
            let is_as_good = granted.n_independent() == chosen.n_independent();
            if !is_granted || !is_as_good || !seen.insert(other.clone()) {
                continue;
            }
            found.push(Alternative {
                strokes: other.clone(),
                changes: differences(graph, &ranking.element, &base, &other),
                reversed_moduli: reversed_moduli(graph, &wishes, |b| other[b.0 as usize]),
            });
            queue.push_back((other, extra));
        }
    }
    found
}

/// The stroke of each bond.
fn strokes_of(graph: &BondGraph, granted: &Granted) -> Vec<Option<Stroke>> {
    let bonds = (0..graph.bonds.len() as u32).map(BondId);
    bonds.map(|b| granted.table.stroke(b)).collect()
}

fn differences(
    graph: &BondGraph,
    rank: &[u32],
    base: &[Option<Stroke>],
    other: &[Option<Stroke>],
) -> Vec<Change> {
    let mut changes: Vec<(bool, u32, Change)> = Vec::new();
    for (index, bond) in graph.bonds.iter().enumerate() {
        if base[index] == other[index] {
            continue;
        }
        for end in [bond.tail, bond.head] {
            let gives_effort = (bond.head == end) != (other[index] == Some(Stroke::Head));
            let form = |integral: bool| {
                if integral {
                    StorageForm::Integral
                } else {
                    StorageForm::Derivative
                }
            };
            let element = graph.element(end.element);
            let is_momentum = element.memory(end.port as usize) == Some(Memory::Momentum);
            let change = match element.kind {
                kind if kind.is_storage() => {
                    Change::Storage(end, form(gives_effort != is_momentum))
                }
                kind if matches!(kind.nature(), Nature::Resistor | Nature::Heater) => {
                    Change::Resistor { end, gives_effort }
                }
                _ => continue,
            };
            changes.push((
                matches!(change, Change::Resistor { .. }),
                rank[end.element.0 as usize],
                change,
            ));
        }
    }

    changes.sort_by_key(|&(is_resistor, rank, _)| (is_resistor, rank));
    changes.into_iter().map(|(_, _, change)| change).collect()
}
