//! Grants the wishes of all ports, most important first, as far as they agree.
//!
//! In:  the junction rules ([`Network`]) and the [`Wishes`] of the ports.
//! Out: a complete table of strokes, and the conflicts among demands.
//!
//! Each wish is tried by propagation and taken back if it leads to a clash. On a graph without
//! junction loops that is exact: rules of the form "exactly one" on a forest never dead-end once
//! propagation is done. With loops it may dead-end late. A run that reaches the end proves itself:
//! every refusal followed from what was granted before, and the complete table shows that
//! everything granted is possible together. A run that dead-ends is repeated with a
//! [`Witness`] beside it, a complete matching that is repaired after each wish, so that nothing is
//! granted that cannot be completed.
//!
//! The sets of storages that can be integral together form a matroid (they are the covered
//! vertices of matchings), so granting one by one gives as many as any assignment has.
//!
//! Where a modulus that can vanish would have to be divided by, the variable of a junction takes the
//! place of a storage as independent variable (see [`super::velocities`]): such a junction is *free*,
//! and all its bonds get their variable from it.
//!
//! **Invariant:** what was granted is never taken back by a later wish.

use super::Reason;
use super::conflict::{Conflict, explain_clash, explain_shortage};
use super::matching::Witness;
use super::propagate::{Network, StrokeTable, opposite};
use super::ranking::Ranking;
use super::wishes::{Wish, Wishes};
use crate::graph::{BondGraph, BondId, ElementId, Stroke};
use std::collections::BTreeMap;

/// The outcome of granting.
#[derive(Clone, Debug)]
pub(super) struct Granted {
    pub table: StrokeTable,
    pub conflicts: Vec<Conflict>,
    /// How many storages are integral.
    pub n_integral: usize,
    /// Junctions whose variable is independent though no storage sets it.
    pub free: Vec<ElementId>,
    /// A free junction has its variable set by a demand after all.
    pub is_refused: bool,
    /// Ports looked at, matching included.
    pub n_visits: u64,
    /// A complete matching had to be kept beside propagation.
    pub is_matched: bool,
}

/// What is fixed for all runs on one graph.
pub(super) struct Problem<'a> {
    pub network: &'a Network,
    pub ranking: &'a Ranking,
    pub wishes: &'a Wishes,
    multibonds: Vec<Vec<BondId>>,
}

/// What one run adds to the wishes of the ports.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Order<'a> {
    /// Moduli that can vanish: those listed come before the storages, the others after.
    pub moduli_first: &'a [usize],
    /// Wishes that come before all others, to explore alternatives.
    pub extra: &'a [Wish],
    /// Junctions whose variable is independent.
    pub free: &'a [ElementId],
}

/// The search for the largest set of moduli that costs no integral storage runs the whole
/// assignment each time; beyond this many runs the moduli not yet tried come after the storages.
pub(super) const MAX_RUNS: usize = 200;

impl Granted {
    /// Storages in integral form, and junctions whose variable takes the place of one.
    pub fn n_independent(&self) -> usize {
        self.n_integral + self.free.len()
    }
}

impl<'a> Problem<'a> {
    pub fn new(
        graph: &'a BondGraph,
        network: &'a Network,
        ranking: &'a Ranking,
        wishes: &'a Wishes,
    ) -> Self {
        let mut groups: BTreeMap<u32, Vec<(u32, BondId)>> = BTreeMap::new();
        for (index, bond) in graph.bonds.iter().enumerate() {
            if let Some((group, component)) = bond.part_of {
                groups
                    .entry(group.0)
                    .or_default()
                    .push((component, BondId(index as u32)));
            }
        }
        let mut multibonds: Vec<Vec<BondId>> = groups
            .into_values()
            .map(|mut members| {
                members.sort_unstable();
                members.into_iter().map(|(_, b)| b).collect()
            })
            .collect();
        multibonds.sort_by_key(|m: &Vec<BondId>| m.first().map(|b| ranking.bond[b.0 as usize]));
        Problem {
            network,
            ranking,
            wishes,
            multibonds,
        }
    }

    pub fn multibonds(&self) -> &[Vec<BondId>] {
        &self.multibonds
    }
}

/// Assigns all strokes, with these junctions free.
///
/// Moduli that can vanish come before the storages, except those that would cost a
/// storage its integral form: an order that is too low is worse than a division.
pub(super) fn assign(problem: &Problem, free: &[ElementId], n_runs: &mut usize) -> Granted {
    let all: Vec<usize> = (0..problem.wishes.moduli.len()).collect();
    let run = |moduli_first: &[usize]| {
        grant(
            problem,
            Order {
                moduli_first,
                free,
                ..Order::default()
            },
        )
    };

    let with_all = run(&all);
    *n_runs += 1;
    if all.is_empty() || with_all.is_refused || with_all.n_integral == problem.wishes.storages.len()
    {
        return with_all;
    }
    let best = run(&[]).n_integral;
    *n_runs += 1;
    if with_all.n_integral >= best {
        return with_all;
    }
    let mut first: Vec<usize> = Vec::new();
    let mut next = 0;
    let mut costs_nothing = |first: &[usize], more: std::ops::Range<usize>| {
        *n_runs += 1;
        let tried: Vec<usize> = first.iter().copied().chain(more).collect();
        *n_runs <= MAX_RUNS && run(&tried).n_integral >= best
    };

    // Bisection for the first modulus that costs something; skip it; go on after it.
    while next < all.len() {
        let (mut good, mut bad) = (next, all.len() + 1);
        while bad - good > 1 {
            let middle = if bad > all.len() {
                all.len()
            } else {
                good.midpoint(bad)
            };
            if costs_nothing(&first, next..middle) {
                good = middle;
            } else {
                bad = middle;
            }
            if good == all.len() {
                break;
            }
        }
        first.extend(next..good);
        next = good + 1;
    }
    run(&first)
}

/// Grants everything in order, once.
pub(super) fn grant(problem: &Problem, order: Order) -> Granted {
    let mut run = Run::new(problem, None);
    if run.all(order).is_err() {
        let n_visits = run.table.n_visits;
        run = Run::new(
            problem,
            Some(Witness::new(problem.network, problem.ranking)),
        );
        run.table.n_visits = n_visits;
        // With a witness nothing is granted that cannot be completed.
        run.all(order).unwrap_or(());
    }
    let n_visits = run.table.n_visits + run.witness.as_ref().map_or(0, |w| w.n_visits);
    let integral = |w: &&Wish| run.table.stroke(w.bond) == Some(w.stroke);
    let n_integral = problem.wishes.storages.iter().filter(integral).count();
    Granted {
        n_integral,
        free: order.free.to_vec(),
        is_refused: run.is_refused,
        n_visits,
        is_matched: run.witness.is_some(),
        table: run.table,
        conflicts: run.conflicts,
    }
}

/// Neither stroke of some bond is possible any more.
struct DeadEnd;

struct Run<'a> {
    problem: &'a Problem<'a>,
    table: StrokeTable,
    witness: Option<Witness>,
    conflicts: Vec<Conflict>,
    is_refused: bool,
}

impl<'a> Run<'a> {
    fn new(problem: &'a Problem<'a>, witness: Option<Witness>) -> Self {
        Run {
            problem,
            table: StrokeTable::new(problem.network),
            witness,
            conflicts: Vec::new(),
            is_refused: false,
        }
    }

    fn all(&mut self, order: Order) -> Result<(), DeadEnd> {
        let wishes = self.problem.wishes;
        let first = order.moduli_first;
        for &junction in order.free {
            self.table.break_rule(junction);
        }
        self.start();
        for &demand in &wishes.demands {
            self.demand(demand);
        }
        for &junction in order.free {
            self.free(junction);
        }
        for &wish in order.extra {
            self.prefer(wish)?;
        }
        for &unit in first {
            self.prefer_all(&wishes.moduli[unit])?;
        }
        self.prefer_all(&wishes.storages)?;
        if first.len() < wishes.moduli.len() {
            for unit in &wishes.moduli {
                self.prefer_all(unit)?;
            }
        }

        self.even_out_multibonds()?;
        self.prefer_all(&wishes.one_sided)?;
        self.prefer_all(&wishes.free)?;
        self.prefer_all(&wishes.switching)?;
        self.even_out_multibonds()?;
        for &bond in &self.problem.ranking.bonds {
            self.prefer(Wish {
                bond,
                stroke: Stroke::Head,
                reason: Reason::Arbitrary,
            })?;
        }
        Ok(())
    }

    /// Sets what the junction rules imply alone; rules that contradict each other are given up.
    fn start(&mut self) {
        let network = self.problem.network;
        let mut single: Vec<ElementId> = (0..network.n_elements() as u32)
            .map(ElementId)
            .filter(|&e| network.bonds_at(e).len() == 1)
            .collect();
        single.sort_by_key(|e| self.problem.ranking.element[e.0 as usize]);
        for element in single {
            let mark = self.table.trail().len();
            if let Err(clash) = self.table.start(network, element) {
                self.conflicts
                    .push(explain_clash(network, &self.table, clash, None));
                self.table.undo(network, mark);
                self.table.break_rule(element);
            }
        }

        let Some(witness) = &mut self.witness else {
            return;
        };
        while let Err(shortage) = witness.complete(network, &self.table) {
            let rank = |e: &ElementId| self.problem.ranking.element[e.0 as usize];
            let broken = witness
                .elements_of(shortage.vertex)
                .into_iter()
                .filter(|&e| self.table.has_rule(network, e))
                .min_by_key(rank);
            let competing = witness.competing();
            self.conflicts
                .push(explain_shortage(network, &mut self.table, competing, None));
            match broken {
                Some(element) => self.table.break_rule(element),
                // A bond between elements without rules takes any stroke.
                None => return,
            }
        }
    }

    /// Lets a junction give its variable to all its bonds, as if a source of it stood there.
    fn free(&mut self, junction: ElementId) {
        let network = self.problem.network;
        for &bond in network.bonds_at(junction) {
            let mark = self.table.trail().len();
            let stroke = opposite(network.strong_stroke(bond, network.side(bond, junction)));
            let reason = Reason::Independent(junction);
            let is_set = self.table.assume(network, bond, stroke, reason).is_ok();
            let is_completable = is_set
                && self
                    .witness
                    .as_mut()
                    .is_none_or(|w| w.repair(network, &self.table, mark).is_ok());
            if !is_completable {
                self.table.undo(network, mark);
                self.is_refused = true;
                if let Some(witness) = &mut self.witness {
                    witness.complete(network, &self.table).unwrap_or(());
                }
                return;
            }
        }
    }

    fn demand(&mut self, demand: Wish) {
        let network = self.problem.network;
        let mark = self.table.trail().len();
        if self.table.stroke(demand.bond) == Some(demand.stroke) {
            self.table.confirm(demand.bond, demand.reason);
            return;
        }
        if let Err(clash) = self
            .table
            .assume(network, demand.bond, demand.stroke, demand.reason)
        {
            self.conflicts
                .push(explain_clash(network, &self.table, clash, Some(demand)));
            self.table.undo(network, mark);
            return;
        }

        let Some(witness) = &mut self.witness else {
            return;
        };
        if witness.repair(network, &self.table, mark).is_err() {
            self.table.undo(network, mark);
            let competing = witness.competing();
            self.conflicts.push(explain_shortage(
                network,
                &mut self.table,
                competing,
                Some(demand),
            ));
            // Without the demand there was a complete assignment, so there is one again.
            witness.complete(network, &self.table).unwrap_or(());
        }
    }

    fn prefer_all(&mut self, wishes: &[Wish]) -> Result<(), DeadEnd> {
        wishes.iter().try_for_each(|&w| self.prefer(w))
    }

    fn prefer(&mut self, wish: Wish) -> Result<(), DeadEnd> {
        if self.table.stroke(wish.bond).is_some() {
            return Ok(());
        }
        let network = self.problem.network;
        let mark = self.table.trail().len();
        if let Err(clash) = self
            .table
            .assume(network, wish.bond, wish.stroke, wish.reason)
        {
            let blamed = self.table.blame(network, clash, mark);
            let refused = self
                .table
                .stroke(blamed)
                .expect("the trail holds strokes that are set");
            self.table.undo(network, mark);
            self.imply(blamed, opposite(refused))?;
            // The wish implies what was just ruled out.
            return self.imply(wish.bond, opposite(wish.stroke));
        }
        let Some(witness) = &mut self.witness else {
            return Ok(());
        };
        if witness.repair(network, &self.table, mark).is_ok() {
            return Ok(());
        }
        self.table.undo(network, mark);
        self.imply(wish.bond, opposite(wish.stroke))
    }

    /// Sets a stroke whose opposite was found impossible.
    fn imply(&mut self, bond: BondId, stroke: Stroke) -> Result<(), DeadEnd> {
        if self.table.stroke(bond) == Some(stroke) {
            return Ok(());
        }
        let network = self.problem.network;
        let mark = self.table.trail().len();
        if self
            .table
            .assume(network, bond, stroke, Reason::Excluded)
            .is_err()
        {
            self.table.undo(network, mark);
            return Err(DeadEnd);
        }
        match &mut self.witness {
            Some(witness) => witness
                .repair(network, &self.table, mark)
                .map_err(|_| DeadEnd),
            None => Ok(()),
        }
    }

    /// Rule C1: a component that is still open takes the stroke of the first that is not.
    fn even_out_multibonds(&mut self) -> Result<(), DeadEnd> {
        for members in &self.problem.multibonds {
            let Some(stroke) = members.iter().find_map(|&b| self.table.stroke(b)) else {
                continue;
            };
            for &bond in members {
                self.prefer(Wish {
                    bond,
                    stroke,
                    reason: Reason::Multibond,
                })?;
            }
        }
        Ok(())
    }
}
