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
//! Freeing one junction after the other takes some runs of the whole assignment for each. In a chain of many bodies
//! the same has to be done at each of them: what has helped one modulus is tried for all the others at once.
//!
//! **Invariant:** integral storages and free junctions together are as many as the integral storages
//! of the assignment without free junctions.

use super::assign::{Granted, MAX_RUNS, Order, Problem, assign, grant};
use super::wishes::reversed_moduli;
use crate::graph::{BondGraph, ElementId, ElementKind};
use rustc_hash::FxHashSet;
use std::collections::VecDeque;

/// Junctions looked at around one modulus, nearest first: a velocity that replaces a storage
/// is next to the modulus, or beyond a few other transformers and sums.
const MAX_CANDIDATES: usize = 24;

/// With more moduli left than this, what has helped one of them is tried for all: fewer are looked at one by one within
/// the runs that a search may take.
const MANY_ALIKE: usize = 8;

/// Assigns all strokes; frees junctions where that saves a modulus that can vanish.
pub(super) fn assign_safely(graph: &BondGraph, problem: &Problem) -> Granted {
    let mut n_runs = 0;
    let best = assign(problem, &[], &mut n_runs);
    let mut search = Search {
        n_independent: best.n_integral,
        n_conflicts: best.conflicts.len(),
        reversed: turned_round(graph, problem, &best),
        best,
        n_runs,
        graph,
        problem,
    };

    let mut tried: FxHashSet<ElementId> = FxHashSet::default();
    let mut next = 0;
    while let Some(&modulus) = search.reversed.get(next) {
        let candidates = junctions_around(graph, problem, modulus);
        let helpful = candidates
            .iter()
            .position(|&j| tried.insert(j) && search.free(&[j]));
        match helpful {
            Some(place) => {
                if search.reversed.len() > MANY_ALIKE {
                    search.free_alike(place);
                }
                next = 0;
                tried.clear();
            }
            None => next += 1,
        }
    }
    search.best
}

/// The best assignment so far, and what a better one must keep.
struct Search<'a> {
    graph: &'a BondGraph,
    problem: &'a Problem<'a>,
    n_independent: usize,
    n_conflicts: usize,
    best: Granted,
    /// Moduli that it turns round, by name.
    reversed: Vec<ElementId>,
    n_runs: usize,
}

impl Search<'_> {
    /// Frees these junctions too, if that is allowed and leaves fewer moduli turned round.
    fn free(&mut self, junctions: &[ElementId]) -> bool {
        if self.n_runs >= MAX_RUNS {
            return false;
        }
        let mut free = self.best.free.clone();
        free.extend_from_slice(junctions);
        self.n_runs += 1;
        let order = Order {
            free: &free,
            ..Order::default()
        };
        let unguarded = grant(self.problem, order);
        if unguarded.is_refused || unguarded.n_independent() != self.n_independent {
            return false;
        }
        let granted = assign(self.problem, &free, &mut self.n_runs);
        let left = turned_round(self.graph, self.problem, &granted);
        let is_better = !granted.is_refused
            && granted.n_independent() == self.n_independent
            && granted.conflicts.len() == self.n_conflicts
            && left.len() < self.reversed.len();
        if is_better {
            (self.best, self.reversed) = (granted, left);
        }
        is_better
    }

    /// Frees for each modulus that is left the junction at the same place among those around it.
    fn free_alike(&mut self, place: usize) {
        let around = |&m: &ElementId| {
            let candidates = junctions_around(self.graph, self.problem, m);
            candidates.get(place).copied()
        };
        let mut alike: Vec<ElementId> = Vec::new();
        for junction in self.reversed.iter().filter_map(around) {
            if !alike.contains(&junction) && !self.best.free.contains(&junction) {
                alike.push(junction);
            }
        }
        // Where it does not help all of them they are looked at one by one.
        if !alike.is_empty() {
            self.free(&alike);
        }
    }
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
