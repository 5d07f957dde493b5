//! Keeps moduli that can vanish from being divided by, with junction variables as independent ones.
//!
//! In:  the problem of [`super::assign`].
//! Out: the assignment, with as many independent variables as any assignment has integral storages.
//!
//! A mass that is given in the frame at rest and held by a body that turns has its two inertias tied to
//! the velocities γ' and x' through cos γ and sin γ. To make one of the inertias integral, strokes
//! would have to go through one of these transformers backwards, and divide by a sine. No choice among the
//! *storages* is safe at all angles; the velocity x' of the 1-junction is. So x' becomes an
//! independent variable itself (Karnopp's Lagrangian causality, 1983), the transformers keep their directions, and
//! both inertias depend on γ' and x'. That is also what the equations do: I + Tᵀ I T.
//!
//! A junction variable may take the place of a storage only if storages determine it: freeing a junction
//! must cost one integral storage when moduli may be turned round. Otherwise it would
//! be a new degree of freedom, such as the speed of a joint without mass.
//!
//! **Invariant:** integral storages and free junctions together are as many as the integral storages
//! of the assignment without free junctions.

use super::assign::{Granted, MAX_RUNS, Order, Problem, assign, grant};
use super::wishes::reversed_moduli;
use crate::graph::{BondGraph, ElementId, ElementKind};
use rustc_hash::FxHashSet;
use std::collections::VecDeque;

/// Junctions looked at around one modulus, nearest first: a velocity that replaces a storage
/// is next to the modulus, or behind a few other transformers and sums.
const MAX_CANDIDATES: usize = 24;

/// Assigns all strokes; frees junctions where that saves a modulus that can vanish.
pub(super) fn assign_safely(graph: &BondGraph, problem: &Problem) -> Granted {
    let mut n_runs = 0;
    let mut best = assign(problem, &[], &mut n_runs);
    let n_independent = best.n_integral;
    let n_conflicts = best.conflicts.len();
    let mut reversed = turned_round(graph, problem, &best);
    let mut tried: FxHashSet<ElementId> = FxHashSet::default();
    let mut next = 0;
    while let Some(&modulus) = reversed.get(next) {
        let candidates = junctions_around(graph, problem, modulus);
        let better = candidates
            .into_iter()
            .filter(|&j| tried.insert(j))
            .find_map(|junction| {
                if n_runs >= MAX_RUNS {
                    return None;
                }
                let mut free = best.free.clone();
                free.push(junction);
                n_runs += 1;
                let order = Order {
                    free: &free,
                    ..Order::default()
                };
                let unguarded = grant(problem, order);
                if unguarded.is_refused || unguarded.n_independent() != n_independent {
                    return None;
                }
                let granted = assign(problem, &free, &mut n_runs);
                let left = turned_round(graph, problem, &granted);
                let is_better = !granted.is_refused
                    && granted.n_independent() == n_independent
                    && granted.conflicts.len() == n_conflicts
                    && left.len() < reversed.len();
                is_better.then_some((granted, left))
            });
        match better {
            Some((granted, left)) => {
                (best, reversed) = (granted, left);
                next = 0;
                tried.clear();
            }
            None => next += 1,
        }
    }
    best
}

fn turned_round(graph: &BondGraph, problem: &Problem, granted: &Granted) -> Vec<ElementId> {
    let mut found = reversed_moduli(graph, problem.wishes, |b| granted.table.stroke(b));
    found.sort_by_key(|e| problem.ranking.element[e.0 as usize]);
    found
}

/// Junctions near an element, nearest first, equally near ones by rank; ways lead through junctions and two-ports.
fn junctions_around(graph: &BondGraph, problem: &Problem, start: ElementId) -> Vec<ElementId> {
    let rank = |e: &ElementId| problem.ranking.element[e.0 as usize];
    let mut seen: FxHashSet<ElementId> = FxHashSet::from_iter([start]);
    let mut queue = VecDeque::from([start]);
    let mut found = Vec::new();
    while let Some(element) = queue.pop_front() {
        if found.len() >= MAX_CANDIDATES {
            break;
        }
        let mut around: Vec<ElementId> = graph
            .element(element)
            .ports
            .iter()
            .take(MAX_CANDIDATES)
            .flat_map(|&b| [graph.bond(b).tail.element, graph.bond(b).head.element])
            .filter(|&e| {
                let kind = graph.element(e).kind;
                kind.is_junction() || matches!(kind, ElementKind::Tf | ElementKind::Gy)
            })
            .filter(|&e| seen.insert(e))
            .collect();
        around.sort_by_key(rank);
        found.extend(
            around
                .iter()
                .filter(|&&e| graph.element(e).kind.is_junction()),
        );
        queue.extend(around);
    }

    found.truncate(MAX_CANDIDATES);
    found
}
