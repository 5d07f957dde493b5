//! From equations to an order of solution: states, and blocks that compute the rest.
//!
//! In:  a [`Dae`] with one equation for every unknown.
//! Out: a [`Reduced`] of index 1 or 0.
//!
//! **Invariant:** the order in which equations and symbols are given decides nothing that can
//! be seen in the solution: not the states, not the value of any unknown.
//!
//! The stages, each in its own file: `alias` removes ± copies and constants; `pantelides`
//! checks the structure and differentiates constraints; where terms cancel that the structure cannot see,
//! `combine` rewrites equations and all begins again; `states` selects the states;
//! `matching` and `blocks` order the equations; `tearing` and `affine` solve the groups.
//! Nothing here recurses, and all but the solution of large groups is linear in the size of the
//! equations.

mod affine;
mod alias;
mod blocks;
mod cancel;
mod combine;
mod error;
mod graph;
#[cfg(test)]
mod growth_tests;
mod matching;
mod minor;
mod pantelides;
mod point;
mod reselect;
mod states;
mod system;
mod tearing;
mod terms;
#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;

pub use error::{EquationRef, Part, StructuralError};
pub use reselect::{Selector, reselect, selection_condition};
pub use states::{DynamicSelection, Selection};

use crate::dae::{Dae, Equation, Origin, PositionConstraint};
use crate::expr::SymbolId;
use crate::reduced::{Block, Reduced};
use combine::Combined;
use graph::{Incidence, NONE};
use matching::{Matching, maximize, unpaired};
use rustc_hash::FxHashMap;
use states::StateSets;
use system::System;
use tearing::Solver;
use terms::Dependence;

/// What the caller may decide.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// States to prefer above [`Dae::preferred_states`], usually from [`reselect`].
    pub selection: Option<Selection>,
    /// What to do where no fixed choice of states is safe everywhere.
    pub dynamic: DynamicSelection,
    /// Locks that others imply, by position in [`Dae::constraints`]: their flow is not demanded
    /// again and their reaction is set to 0. Their positions stay in [`Reduced::constraints`].
    pub released: Vec<usize>,
    /// How the locks of [`Dae::constraints`] are kept.
    pub enforcement: Enforcement,
    /// The locks close no loop, so that they are independent wherever the bodies are: unknown reactions may be solved
    /// for by themselves. In a loop that comes near a dead centre that would square what is lost there.
    pub is_tree: bool,
}

/// How locks with a declared position are kept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Enforcement {
    /// As [`Enforcement::Implicit`] if there are few locks and one choice of states is safe everywhere, else as
    /// [`Enforcement::Multipliers`].
    #[default]
    Automatic,
    /// Each lock makes a storage depend on others.
    Implicit,
    /// All storages stay states. The reactions of the locks are unknowns that keep the lock's
    /// acceleration at zero; its rate and position are kept by projection.
    Multipliers,
}

/// Beyond this many locks reactions are unknowns in any case: storages that depend on others make a mass matrix without
/// zeros, which costs the cube of the number of bodies; reactions make one as sparse as the joints.
pub const MANY_LOCKS: usize = 40;

/// Reduces a system to index 1 or 0 with the states that it prefers.
///
/// # Errors
///
/// The parts of the system that have too many or too few equations, or equations that
/// contradict each other.
pub fn reduce(dae: Dae) -> Result<Reduced, StructuralError> {
    reduce_with(dae, &Options::default())
}

/// As [`reduce`], with options.
///
/// # Errors
///
/// As for [`reduce`].
pub fn reduce_with(dae: Dae, options: &Options) -> Result<Reduced, StructuralError> {
    let is_locked = options.released.len() < dae.constraints.len();
    match options.enforcement {
        Enforcement::Automatic if is_locked => {
            let n_locks = dae.constraints.len() - options.released.len();
            if n_locks > MANY_LOCKS
                && let Ok(reduced) = reduce_once(dae.clone(), options, true)
            {
                return Ok(reduced);
            }
            let first = reduce_once(dae.clone(), options, false);
            // Rates that had to be projected although locks were eliminated: no choice was safe.
            let is_safe = |r: &Reduced| r.constraints.len() == r.dae.constraints.len();
            if first.as_ref().is_ok_and(is_safe) {
                return first;
            }
            reduce_once(dae, options, true).or(first)
        }
        Enforcement::Automatic | Enforcement::Implicit => reduce_once(dae, options, false),
        Enforcement::Multipliers => reduce_once(dae, options, true),
    }
}

fn reduce_once(
    dae: Dae,
    options: &Options,
    by_multipliers: bool,
) -> Result<Reduced, StructuralError> {
    let is_locked = options.released.len() < dae.constraints.len();
    let mut reduced = reduce_as_told(dae, options, by_multipliers)?;
    reduced.closes_loops = is_locked && !options.is_tree;
    reduced.released.clone_from(&options.released);
    reduced.released.sort_unstable();
    Ok(reduced)
}

fn reduce_as_told(
    mut dae: Dae,
    options: &Options,
    by_multipliers: bool,
) -> Result<Reduced, StructuralError> {
    let mut demands = demands_of_locks(&dae);
    release(&mut dae, &options.released, &demands);
    let mut lock_rows = Vec::new();
    let mut reactions = FxHashMap::default();
    if by_multipliers {
        options.released.iter().for_each(|&i| {
            if let Some(demand) = demands.get_mut(i) {
                *demand = None;
            }
        });
        let locks = demands.iter().zip(&dae.constraints);
        reactions.extend(locks.filter_map(|(demand, lock)| Some(((*demand)?, lock.reaction))));
        lock_rows.extend(demands.into_iter().flatten());
        lock_rows.sort_unstable();
    }
    let mut dependence = Dependence::default();
    let kept = alias::remove_aliases(&mut dae, &mut dependence, &lock_rows)?;
    let redundant = kept.redundant.clone();
    let mut system = System::new(dae, kept);
    pantelides::check_structure(&mut system, &redundant)?;
    let locks = Locks {
        rows: lock_rows,
        reactions,
    };
    let first = solve_system(&mut system, &mut dependence, options, &locks);
    let error = match first {
        Ok(solved) if !solved.is_doubtful => return Ok(finish(system, solved, Vec::new())),
        Ok(_) => None,
        Err(error) => Some(error),
    };
    // The structure was right and the numbers were not: terms cancel. Locks that are kept by projection are
    // looked at in numbers elsewhere, and must stay as they are.
    let mut combined = Combined {
        system: system.restarted(&FxHashMap::default()),
        decided_by: Vec::new(),
        is_changed: false,
    };
    if !by_multipliers {
        combined = combine::combine(combined.system, &mut dependence)?;
    }
    match error {
        Some(error) if !combined.is_changed => return Err(error),
        _ => {}
    }
    let mut system = combined.system;
    pantelides::check_structure(&mut system, &redundant)?;
    let solved = solve_system(&mut system, &mut dependence, options, &locks)?;
    Ok(finish(system, solved, combined.decided_by))
}

/// Locks that are kept by projection.
struct Locks {
    /// The equations that demand their flows, in order.
    rows: Vec<usize>,
    /// Their reactions, by those equations.
    reactions: FxHashMap<usize, SymbolId>,
}

/// What [`solve_system`] gives.
struct Solved {
    sets: StateSets,
    blocks: Vec<Block>,
    /// Some group seems to have no unique solution, but this is not sure.
    is_doubtful: bool,
}

/// Differentiates constraints, selects states and solves the rest, group by group.
fn solve_system(
    system: &mut System,
    dependence: &mut Dependence,
    options: &Options,
    locks: &Locks,
) -> Result<Solved, StructuralError> {
    let row_of_highest = pantelides::differentiate(system);
    let sets = states::select(system, dependence, &row_of_highest, options, &locks.rows);
    let joined = Some(locks).filter(|_| options.is_tree);
    let (order, matching) = order_rows(system, &sets, joined)?;
    let dependence = std::mem::take(dependence);
    let mut solver = Solver::new(system, dependence, &locks.reactions);
    let blocks = solve_groups(system, &mut solver, &sets, &order, &matching)?;
    Ok(Solved {
        sets,
        blocks,
        is_doubtful: solver.is_doubtful,
    })
}

/// Finds for each lock the equation that demands its flow to be zero.
fn demands_of_locks(dae: &Dae) -> Vec<Option<usize>> {
    let mut by_origin: FxHashMap<Origin, Vec<usize>> = FxHashMap::default();
    for lock in &dae.constraints {
        by_origin.entry(lock.origin).or_default();
    }
    if by_origin.is_empty() {
        return Vec::new();
    }
    for (i, equation) in dae.equations.iter().enumerate() {
        if let Some(list) = by_origin.get_mut(&equation.origin) {
            list.push(i);
        }
    }
    let demand = |lock: &PositionConstraint| {
        let is_demand = |e: &Equation| e.left == lock.flow || e.right == lock.flow;
        let mut candidates = by_origin[&lock.origin].iter().copied();
        candidates.find(|&i| is_demand(&dae.equations[i]))
    };
    dae.constraints.iter().map(demand).collect()
}

/// Replaces the demand of each released lock by `reaction = 0`.
fn release(dae: &mut Dae, released: &[usize], demands: &[Option<usize>]) {
    for &i in released {
        let (Some(&lock), Some(&Some(demand))) = (dae.constraints.get(i), demands.get(i)) else {
            continue;
        };
        let demand = &mut dae.equations[demand];
        demand.left = dae.pool.symbol(lock.reaction);
        demand.right = dae.pool.number(0.0);
        demand.solves = Some(lock.reaction);
    }
}

/// Pairs every row with an unknown and groups the rows in the order of solution.
fn order_rows(
    system: &mut System,
    sets: &StateSets,
    joined: Option<&Locks>,
) -> Result<(Vec<Vec<u32>>, Matching), StructuralError> {
    let n_columns = system.dae.symbols.len();
    let mut graph = Incidence::default();
    let mut matching = Matching::new(system.rows.len(), n_columns);
    let is_asked = |s: u32| !sets.is_state[s as usize];
    for r in 0..system.rows.len() as u32 {
        if sets.is_dropped[r as usize] {
            graph.push([]);
            continue;
        }
        let row = system.incidence.row(r);
        graph.push(row.iter().copied().filter(|&s| is_asked(s)));
        if let Some(s) = system.rows[r as usize].equation.solves
            && is_asked(s.0)
            && row.binary_search(&s.0).is_ok()
        {
            matching.pair(r, s.0);
        }
    }
    maximize(&graph, &mut matching);
    let rows: Vec<u32> = (0..system.rows.len() as u32)
        .filter(|&r| !sets.is_dropped[r as usize])
        .collect();
    if rows.iter().any(|&r| matching.column_of[r as usize] == NONE) {
        return Err(not_solvable(system, sets, &graph, &matching));
    }
    let needs = joined.and_then(|locks| with_reactions(system, &graph, locks));
    let needs = needs.as_ref().unwrap_or(&graph);
    let groups = blocks::sort_blocks(needs, &matching.row_of, &rows, &mut system.work);
    system.work += matching.work;
    Ok((groups, matching))
}

/// Lets the demand of each lock need its reaction, where reactions are unknowns.
///
/// Three locks that hold a point against the ground fix its acceleration by themselves, and the point would be solved
/// for before the bodies. The reactions that hold it would then have no demand of their own: demand and reaction must
/// stay in one group for it to be torn there, as A λ = b.
fn with_reactions(system: &System, graph: &Incidence, locks: &Locks) -> Option<Incidence> {
    if locks.reactions.is_empty() {
        return None;
    }
    let mut needs = Incidence::default();
    for r in 0..system.rows.len() as u32 {
        let own = graph.row(r).iter().copied();
        let reaction = locks.reactions.get(&system.rows[r as usize].source);
        let reaction = reaction.filter(|_| !graph.row(r).is_empty());
        needs.push(own.chain(reaction.map(|&s| system.kept(s).0)));
    }
    Some(needs)
}

/// The selected states leave some row without an unknown: constraints repeat each other.
fn not_solvable(
    system: &System,
    sets: &StateSets,
    graph: &Incidence,
    matching: &Matching,
) -> StructuralError {
    let counts = |c: u32| system.is_unknown[c as usize] && !sets.is_state[c as usize];
    let parts = unpaired(graph, matching, &counts);
    let part = |(rows, columns): (Vec<u32>, Vec<u32>)| {
        let rows = rows.into_iter().filter(|&r| !sets.is_dropped[r as usize]);
        let mut equations: Vec<EquationRef> = rows.map(|r| system.reference(r)).collect();
        equations.sort_unstable();
        equations.dedup();
        Part {
            equations,
            unknowns: columns.into_iter().map(SymbolId).collect(),
        }
    };
    StructuralError::Singular {
        over: part(parts.over),
        under: part(parts.under),
        redundant: Vec::new(),
    }
}

fn solve_groups(
    system: &mut System,
    solver: &mut Solver,
    sets: &StateSets,
    order: &[Vec<u32>],
    matching: &Matching,
) -> Result<Vec<Block>, StructuralError> {
    for state in &sets.states {
        solver.is_state_derivative[state.derivative.0 as usize] = true;
    }
    let blocks = order
        .iter()
        .map(|rows| solver.solve(system, rows, &matching.column_of))
        .collect();
    match solver.singular.take() {
        Some(part) => Err(StructuralError::SingularBlock(part)),
        None => Ok(blocks),
    }
}

fn finish(system: System, solved: Solved, decided_by: Vec<SymbolId>) -> Reduced {
    let Solved { sets, blocks, .. } = solved;
    let System {
        mut dae,
        rows,
        known,
        mut differentiated_switches,
        work,
        ..
    } = system;
    differentiated_switches.sort_unstable();
    differentiated_switches.dedup();
    dae.equations.extend(
        rows.iter()
            .filter(|r| r.integral.is_some())
            .map(|r| r.equation),
    );
    Reduced {
        dae,
        states: sets.states,
        blocks,
        known,
        constraints: sets.constraints,
        hidden: sets.hidden,
        closes_loops: false,
        released: Vec::new(),
        is_selection_dynamic: sets.is_dynamic,
        selector: sets.selector,
        structural_index: sets.structural_index,
        differentiated_switches,
        decided_by,
        work,
    }
}
