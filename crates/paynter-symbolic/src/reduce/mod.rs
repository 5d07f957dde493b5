//! From equations to an order of solution: states, and blocks that compute the rest.
//!
//! In:  a [`Dae`] with one equation for every unknown.
//! Out: a [`Reduced`] of index 1 or 0.
//!
//! **Invariant:** the order in which equations and symbols are given decides nothing that can
//! be seen in the solution: not the states, not the value of any unknown.
//!
//! The stages, each in its own file: `alias` removes ± copies and constants; `pantelides`
//! checks the structure and differentiates constraints; `states` selects the states;
//! `matching` and `blocks` order the equations; `tearing` and `affine` solve the groups.
//! Nothing here recurses, and all but the solution of large groups is linear in the size of the
//! equations.

mod affine;
mod alias;
mod blocks;
mod error;
mod graph;
#[cfg(test)]
mod growth_tests;
mod matching;
mod minor;
mod pantelides;
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

use crate::dae::Dae;
use crate::expr::SymbolId;
use crate::reduced::{Block, Reduced};
use graph::{Incidence, NONE};
use matching::{Matching, maximize, unpaired};
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
}

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
pub fn reduce_with(mut dae: Dae, options: &Options) -> Result<Reduced, StructuralError> {
    release(&mut dae, &options.released);
    let mut dependence = Dependence::default();
    let kept = alias::remove_aliases(&mut dae, &mut dependence)?;
    let redundant = kept.redundant.clone();
    let mut system = System::new(dae, kept);
    pantelides::check_structure(&mut system, &redundant)?;
    let row_of_highest = pantelides::differentiate(&mut system);
    let sets = states::select(&mut system, &mut dependence, &row_of_highest, options);
    let (order, matching) = order_rows(&mut system, &sets)?;
    let blocks = solve_groups(&mut system, dependence, &sets, &order, &matching)?;
    Ok(finish(system, sets, blocks))
}

/// Replaces the demand of each released lock by `reaction = 0`.
fn release(dae: &mut Dae, released: &[usize]) {
    for &i in released {
        let Some(&lock) = dae.constraints.get(i) else {
            continue;
        };
        let is_demand = |e: &&mut crate::dae::Equation| {
            e.origin == lock.origin && (e.left == lock.flow || e.right == lock.flow)
        };
        if let Some(demand) = dae.equations.iter_mut().find(is_demand) {
            demand.left = dae.pool.symbol(lock.reaction);
            demand.right = dae.pool.number(0.0);
            demand.solves = Some(lock.reaction);
        }
    }
}

/// Pairs every row with an unknown and groups the rows in the order of solution.
fn order_rows(
    system: &mut System,
    sets: &StateSets,
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
    let groups = blocks::sort_blocks(&graph, &matching.row_of, &rows, &mut system.work);
    system.work += matching.work;
    Ok((groups, matching))
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
    dependence: Dependence,
    sets: &StateSets,
    order: &[Vec<u32>],
    matching: &Matching,
) -> Result<Vec<Block>, StructuralError> {
    let mut solver = Solver::new(system, dependence);
    for state in &sets.states {
        solver.is_state_derivative[state.derivative.0 as usize] = true;
    }
    let blocks = order
        .iter()
        .map(|rows| solver.solve(system, rows, &matching.column_of))
        .collect();
    match solver.singular {
        Some(part) => Err(StructuralError::SingularBlock(part)),
        None => Ok(blocks),
    }
}

fn finish(system: System, sets: StateSets, blocks: Vec<Block>) -> Reduced {
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
        is_selection_dynamic: sets.is_dynamic,
        selector: sets.selector,
        structural_index: sets.structural_index,
        differentiated_switches,
        work,
    }
}
