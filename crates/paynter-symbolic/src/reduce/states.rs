//! Selects the states of a system whose constraints were differentiated.
//!
//! In:  a [`System`] after `pantelides`.
//! Out: the states, the rows that are kept by projection instead of being solved, and a
//!      [`Selector`] with which another choice can be made at a point.
//!
//! **Invariant:** the unknowns that are not states are as many as the rows that are not
//! dropped, and the Jacobian minors that the choice relies on are structurally regular.
//!
//! Method: dummy derivatives (Mattsson & Söderlind 1993). Because ∂g⁽ᶜ⁾/∂x⁽ᵈ⁾ = ∂g/∂x⁽ᵈ⁻ᶜ⁾,
//! all stages choose from one matrix J: stage j has the rows differentiated at least j times,
//! and picks as many columns among those of stage j − 1 such that the minor is regular; the
//! derivative of order d − j of a picked unknown is then computed, not integrated.

use super::Options;
use super::minor::{Choice, ConstraintMatrix, Order, Wishes};
use super::reselect::Selector;
use super::system::System;
use super::terms::Dependence;
use crate::expr::{ExprId, SymbolId};
use crate::reduced::{Known, State};

/// What to do where no fixed choice of states is safe everywhere, as for a pendulum in x and y.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DynamicSelection {
    /// Integrate all candidates; the constraints they must keep are [`crate::reduced::Reduced::constraints`].
    #[default]
    Project,
    /// Choose the preferred states and say so ([`crate::reduced::Reduced::is_selection_dynamic`]); the caller
    /// watches [`super::selection_condition`] and calls [`super::reselect`].
    Choose,
}

/// A choice of states.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Selection {
    /// The differential unknowns to integrate, most wanted first.
    pub states: Vec<SymbolId>,
}

/// Which symbols are integrated and which rows are solved.
#[derive(Clone, Debug, Default)]
pub(crate) struct StateSets {
    pub(crate) states: Vec<State>,
    pub(crate) is_state: Vec<bool>,
    /// Rows kept by projection.
    pub(crate) is_dropped: Vec<bool>,
    pub(crate) constraints: Vec<ExprId>,
    pub(crate) hidden: Vec<ExprId>,
    pub(crate) is_dynamic: bool,
    pub(crate) selector: Selector,
    pub(crate) structural_index: u32,
}

/// Chooses the states. The demands in `lock_rows` (positions among the given equations, in order)
/// are kept by projection.
pub(crate) fn select(
    system: &mut System,
    dependence: &mut Dependence,
    row_of_highest: &[u32],
    options: &Options,
    lock_rows: &[usize],
) -> StateSets {
    let wishes = Wishes::new(system, options);
    let levels = levels_of_constraints(system);
    let mut picked: Vec<usize> = Vec::new();
    let mut table = ConstraintMatrix::default();
    let mut unmatched: Vec<(usize, usize)> = Vec::new();
    let mut is_dynamic = false;
    if !levels.is_empty() {
        table = ConstraintMatrix::new(system, dependence, &levels);
        table.find_moved(system, row_of_highest, &levels);
        let is_lock = |level: &Vec<u32>| {
            let source = system.rows[level[0] as usize].source;
            lock_rows.binary_search(&source).is_ok()
        };
        let projected = levels.iter().map(is_lock).collect();
        let choice = choose(system, &table, &wishes, options.dynamic, projected);
        is_dynamic = !choice.dynamic_rows.is_empty();
        picked = choice.depth;
        unmatched = choice.unmatched;
    }

    let mut sets = StateSets {
        is_dynamic,
        ..StateSets::default()
    };
    sets.is_dropped = vec![false; system.rows.len()];
    for (row, level) in unmatched {
        let row = levels[row][level];
        sets.is_dropped[row as usize] = true;
        sets.constraints.push(system.residual(row));
    }

    let positions = system.dae.constraints.clone();
    for position in positions {
        sets.constraints.push(resolved(system, position.position));
    }
    for row in levels.iter().flat_map(|l| &l[..l.len() - 1]) {
        if !sets.is_dropped[*row as usize] && reads_only_candidates(system, *row) {
            let e = system.residual(*row);
            sets.hidden.push(e);
        }
    }

    sets.structural_index = structural_index(system, &levels);
    collect_states(system, &wishes, &table, &picked, &mut sets);
    sets.selector = table.into_selector();
    sets
}

/// Chooses as wished if that is safe everywhere, else by constant coefficients, else as asked.
fn choose(
    system: &System,
    table: &ConstraintMatrix,
    wishes: &Wishes,
    dynamic: DynamicSelection,
    mut projected: Vec<bool>,
) -> Choice {
    let wished = table.choose(system, wishes, &projected, Order::Wishes);
    if wished.dynamic_rows.is_empty() {
        return wished;
    }
    let mut choice = table.choose(system, wishes, &projected, Order::ConstantsFirst);
    if !choice.dynamic_rows.is_empty() && dynamic == DynamicSelection::Choose {
        return wished;
    }
    // Each round projects at least one constraint more, so there are not many.
    while !choice.dynamic_rows.is_empty() {
        choice
            .dynamic_rows
            .iter()
            .for_each(|&r| projected[r] = true);
        choice = table.choose(system, wishes, &projected, Order::ConstantsFirst);
    }
    choice
}

/// Lists for each row that was differentiated the row and its derivatives.
fn levels_of_constraints(system: &System) -> Vec<Vec<u32>> {
    let is_root = |r: &u32| {
        let row = &system.rows[*r as usize];
        row.integral.is_none() && row.derivative.is_some()
    };
    (0..system.rows.len() as u32)
        .filter(is_root)
        .map(|r| std::iter::successors(Some(r), |&r| system.rows[r as usize].derivative).collect())
        .collect()
}

/// Writes a given expression in the unknowns that stay.
fn resolved(system: &mut System, e: ExprId) -> ExprId {
    let symbols = crate::walk::symbols_of(&system.dae.pool, e);
    let new: Vec<ExprId> = symbols
        .iter()
        .map(|&s| match system.known[s.0 as usize] {
            Known::Itself => system.dae.pool.symbol(s),
            Known::Expression(e) => e,
            Known::Alias { of, negated } => {
                let of = system.dae.pool.symbol(of);
                if negated { system.dae.pool.neg(of) } else { of }
            }
        })
        .collect();
    crate::walk::substitute(&mut system.dae.pool, e, &|s| {
        symbols.binary_search(&s).ok().map(|i| new[i])
    })
}

/// Tells whether a row holds between quantities that could be states, and their derivatives.
fn reads_only_candidates(system: &System, row: u32) -> bool {
    let is_given = |s: SymbolId| (s.0 as usize) < system.n_given_symbols;
    system.incidence.row(row).iter().all(|&s| {
        let s = SymbolId(s);
        let has_derivative = system.derivative[s.0 as usize].is_some_and(is_given);
        is_given(s) && (has_derivative || system.integral_of(s).is_some())
    })
}

/// The structural index (Pryce 2001): how often the worst constraint was differentiated, and
/// one more if some unknown is not integrated at all.
fn structural_index(system: &System, levels: &[Vec<u32>]) -> u32 {
    let n_differentiations = levels.iter().map(|l| l.len() - 1).max().unwrap_or(0) as u32;
    let has_algebraic = (0..system.dae.symbols.len()).any(|s| {
        system.is_unknown[s]
            && system.derivative[s].is_none()
            && system.integral_of(SymbolId(s as u32)).is_none()
    });
    n_differentiations + u32::from(has_algebraic)
}

/// Lists the states in order of preference, then of their ids.
fn collect_states(
    system: &System,
    wishes: &Wishes,
    table: &ConstraintMatrix,
    picked: &[usize],
    sets: &mut StateSets,
) {
    let n = system.dae.symbols.len();
    sets.is_state = (0..n)
        .map(|s| system.is_unknown[s] && system.derivative[s].is_some())
        .collect();
    for (chain, &depth) in table.chains.iter().zip(picked) {
        for stage in 1..=depth {
            sets.is_state[chain.computed_in(stage).0 as usize] = false;
        }
    }
    let mut states: Vec<State> = (0..n)
        .filter(|&s| sets.is_state[s])
        .filter_map(|s| {
            Some(State {
                symbol: SymbolId(s as u32),
                derivative: system.derivative[s]?,
            })
        })
        .collect();
    states.sort_by_key(|s| (wishes.rank[s.symbol.0 as usize], s.symbol));
    sets.states = states;
}
