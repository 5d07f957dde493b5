//! Combines equations that cancel each other, so that their structure shows what they determine.
//!
//! In:  a [`System`] whose structure promises more than its coefficients keep: in a ring of gyrators
//!      between joined junctions the terms e/r of two equations cancel in a third.
//! Out: an equivalent system in which every group of highest derivatives can be solved; or
//!      the equations that say the same twice, and what they leave open.
//!
//! **Invariant:** an equation is only ever replaced by itself plus multiples of others and of their
//! derivatives, so the solutions stay the same.
//!
//! Method: the system Jacobian J = ∂fᵢ⁽ᶜ⁾/∂xⱼ⁽ᵈ⁾ of Pantelides' offsets c and d is looked at group by group. A row
//! of a group that earlier ones with at least its offset make zero is replaced by that combination, which reads only
//! lower derivatives, so the sum of the offsets falls with every round (Murota 1995, combinatorial relaxation;
//! Tan, Nedialkov & Pryce 2017, the linear combination method). A group of its own is enough: J is block triangular,
//! and without the highest derivatives of its group the row finds no partner at the old offsets.

use super::blocks::sort_blocks;
use super::cancel::{Entry, Number, Rows, Symbolic, reduce_rows};
use super::error::{EquationRef, Part, StructuralError};
use super::graph::NONE;
use super::pantelides::{check_structure, differentiate};
use super::point::{Definitions, Point};
use super::system::System;
use super::tearing::made_up;
use super::terms::Dependence;
use crate::calculus::gradient;
use crate::dae::Role;
use crate::expr::{ExprId, SymbolId};
use crate::linear::linear_in;
use crate::walk::symbols_of;
use rustc_hash::{FxHashMap, FxHashSet};

/// Every round lowers the number of states or the index; more than this many are a sign that
/// cancellation is not recognised as such.
const MAX_ROUNDS: usize = 60;

/// Elimination without regard to fill costs up to the cube of the size; larger groups are left as they are.
const MAX_GROUP: usize = 1000;

/// A system after [`combine`].
pub(crate) struct Combined {
    pub(crate) system: System,
    /// Parameters with whose present values terms cancel; with others they would not.
    pub(crate) decided_by: Vec<SymbolId>,
    /// Some row was replaced.
    pub(crate) is_changed: bool,
}

/// Replaces rows of a system that was not differentiated yet.
///
/// # Errors
///
/// Rows that say the same twice, or contradict each other.
pub(crate) fn combine(
    mut system: System,
    dependence: &mut Dependence,
) -> Result<Combined, StructuralError> {
    let mut origins: Vec<Vec<u32>> = (0..system.rows.len() as u32).map(|r| vec![r]).collect();
    let mut decided_by: Vec<SymbolId> = Vec::new();
    let mut is_changed = false;
    for _ in 0..MAX_ROUNDS {
        check_structure(&mut system, &[])?;
        let row_of = differentiate(&mut system);
        let found = find_combinations(&mut system, dependence, &row_of);
        if found.is_empty() {
            break;
        }
        is_changed = true;

        let mut empty: Option<(u32, bool)> = None;
        for one in &found {
            let mut rows: Vec<u32> = one
                .rows
                .iter()
                .flat_map(|&r| origins[r as usize].clone())
                .collect();
            rows.sort_unstable();
            rows.dedup();
            origins[one.row as usize] = rows;
            decided_by.extend(&one.decided_by);
            if let Remainder::Nothing { is_zero } = one.remainder {
                empty.get_or_insert((one.row, is_zero));
            }
        }
        system = system.restarted(&found.iter().map(|one| (one.row, one.residual)).collect());
        if let Some((row, is_zero)) = empty {
            return Err(dependent(&mut system, &origins[row as usize], is_zero));
        }
    }

    decided_by.sort_unstable();
    decided_by.dedup();
    let system = system.restarted(&FxHashMap::default());
    Ok(Combined {
        system,
        decided_by,
        is_changed,
    })
}

/// Names the rows that say the same twice, and what stays open without one of them.
fn dependent(system: &mut System, rows: &[u32], is_zero: bool) -> StructuralError {
    let unknowns = match check_structure(system, &[]) {
        Err(StructuralError::Singular { under, .. }) => under.unknowns,
        Err(StructuralError::UnderDetermined { part, .. }) => part.unknowns,
        _ => Vec::new(),
    };
    let mut equations: Vec<EquationRef> = rows.iter().map(|&r| system.reference(r)).collect();
    equations.sort_unstable();
    equations.dedup();
    StructuralError::Dependent {
        part: Part {
            equations,
            unknowns,
        },
        is_contradiction: !is_zero,
    }
}

/// A row that is replaced.
struct Combination {
    row: u32,
    /// What it becomes: residual = 0.
    residual: ExprId,
    remainder: Remainder,
    /// The rows that take part, itself included.
    rows: Vec<u32>,
    decided_by: Vec<SymbolId>,
}

/// What is left of a combination.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Remainder {
    /// An equation between unknowns.
    Equation,
    /// No unknown: 0 = 0, or something that is false.
    Nothing { is_zero: bool },
}

/// A row of a group: the row as it was given, and how often it was differentiated.
#[derive(Clone, Copy)]
struct Member {
    row: u32,
    count: u32,
}

/// Looks for rows that cancel in every group of highest derivatives.
fn find_combinations(
    system: &mut System,
    dependence: &mut Dependence,
    row_of: &[u32],
) -> Vec<Combination> {
    let top: Vec<u32> = (0..system.rows.len() as u32)
        .filter(|&r| system.rows[r as usize].derivative.is_none())
        .collect();
    let mut work = 0;
    let groups = sort_blocks(&system.incidence, row_of, &top, &mut work);
    system.work += work;
    let mut column_of = vec![NONE; system.rows.len()];
    for (s, &r) in row_of.iter().enumerate().filter(|(_, r)| **r != NONE) {
        column_of[r as usize] = s as u32;
    }
    let mut found = Vec::new();
    for group in groups.into_iter().filter(|g| g.len() <= MAX_GROUP) {
        let columns: FxHashMap<u32, u32> = group
            .iter()
            .map(|&r| column_of[r as usize])
            .zip(0..)
            .collect();
        let mut members: Vec<Member> = group.iter().map(|&r| member(system, r)).collect();
        // Rows with a larger offset are taken first: a row may only be replaced by those.
        members.sort_by_key(|m| (std::cmp::Reverse(m.count), m.row));
        found.extend(combine_group(system, dependence, &members, &columns));
    }
    found
}

/// Goes back from a derivative to the row as it was given.
fn member(system: &System, top: u32) -> Member {
    let rows = std::iter::successors(Some(top), |&r| system.rows[r as usize].integral);
    let (row, count) = rows
        .zip(0..)
        .last()
        .expect("a row is its own first ancestor");
    Member { row, count }
}

/// Goes back from an unknown by some derivatives.
fn integrated(system: &System, s: SymbolId, count: u32) -> Option<SymbolId> {
    (0..count).try_fold(s, |s, _| system.integral_of(s))
}

fn combine_group(
    system: &mut System,
    dependence: &mut Dependence,
    members: &[Member],
    columns: &FxHashMap<u32, u32>,
) -> Vec<Combination> {
    let matrix = slopes(system, members, columns);
    let expressions: Vec<ExprId> = matrix.iter().flatten().map(|&(_, e)| e).collect();
    let values = values_of(system, dependence, &expressions);
    let entries = |row: &Vec<(u32, ExprId)>| {
        let entry = |&(j, e): &(u32, ExprId)| (j, Entry::new(e, values[&e]));
        row.iter().map(entry).collect()
    };
    let rows: Rows = matrix.iter().map(entries).collect();
    if reduce_rows(&rows, &mut Number).is_empty() {
        return Vec::new();
    }

    dependence.update(&system.dae.pool, &system.dae.symbols);
    let is_constant = |e: &ExprId| dependence.is_constant(*e);
    let constant: FxHashSet<ExprId> = expressions.iter().copied().filter(is_constant).collect();
    let mut arithmetic = Symbolic {
        pool: &mut system.dae.pool,
        constant,
        vanished: Vec::new(),
    };
    let combinations = reduce_rows(&rows, &mut arithmetic);
    let vanished = arithmetic.vanished;
    let decided_by = parameters_of(system, vanished);
    let highest = || columns.keys().map(|&s| SymbolId(s));

    let mut found = Vec::new();
    for weights in combinations {
        // The row itself is the last to have got a weight, and has the smallest offset.
        let Some(target) = weights.iter().map(|&(i, _)| i).max() else {
            continue;
        };
        let target = members[target as usize];
        let cancelled = highest().filter_map(|s| integrated(system, s, target.count));
        let cancelled: FxHashSet<SymbolId> = cancelled.collect();
        let terms = weights.iter().map(|&(i, w)| (members[i as usize], w));
        let terms: Vec<(Member, Entry)> = terms.collect();
        if let Some((residual, remainder)) = add_up(system, dependence, target, &terms, &cancelled)
        {
            found.push(Combination {
                row: target.row,
                residual,
                remainder,
                rows: terms.iter().map(|(m, _)| m.row).collect(),
                decided_by: decided_by.clone(),
            });
        }
    }
    found
}

/// Lists the parameters that expressions read.
fn parameters_of(system: &System, expressions: Vec<ExprId>) -> Vec<SymbolId> {
    let is_parameter = |s: &SymbolId| matches!(system.dae.symbol(*s).role, Role::Parameter { .. });
    let pool = &system.dae.pool;
    let read = expressions.into_iter().flat_map(|e| symbols_of(pool, e));
    read.filter(is_parameter).collect()
}

/// Computes ∂fᵢ/∂xⱼ⁽ᵈ⁻ᶜ⁾ = ∂fᵢ⁽ᶜ⁾/∂xⱼ⁽ᵈ⁾ for the rows of a group.
fn slopes(
    system: &mut System,
    members: &[Member],
    columns: &FxHashMap<u32, u32>,
) -> Vec<Vec<(u32, ExprId)>> {
    let lows: Vec<FxHashMap<SymbolId, u32>> = members
        .iter()
        .map(|m| {
            let low = |(&s, &j): (&u32, &u32)| Some((integrated(system, SymbolId(s), m.count)?, j));
            columns.iter().filter_map(low).collect()
        })
        .collect();
    let mut matrix = Vec::with_capacity(members.len());
    for (m, lows) in members.iter().zip(lows) {
        let read = system.incidence.row(m.row).iter().map(|&s| SymbolId(s));
        let symbols: Vec<SymbolId> = read.filter(|s| lows.contains_key(s)).collect();
        let residual = system.residual(m.row);
        let slopes = gradient(&mut system.dae.pool, residual, &symbols);
        let pool = &system.dae.pool;
        let entries = symbols.iter().map(|s| lows[s]).zip(slopes);
        let mut row: Vec<(u32, ExprId)> = entries
            .filter(|&(_, e)| pool.as_number(e) != Some(0.0))
            .collect();
        row.sort_unstable_by_key(|&(j, _)| j);
        matrix.push(row);
    }
    matrix
}

/// The first points have the present values of parameters, the others made-up ones: what is zero
/// at the first only depends on these values.
pub(super) const N_POINTS: usize = 4;
/// How many points have the present values of parameters.
pub(super) const N_PRESENT: usize = 2;

/// Computes expressions at all points.
///
/// What switches, or happens to be zero or undefined at a point, may be anything elsewhere: it gets
/// a number of its own that cancels with nothing else.
fn values_of(
    system: &System,
    dependence: &mut Dependence,
    expressions: &[ExprId],
) -> FxHashMap<ExprId, [f64; N_POINTS]> {
    dependence.update(&system.dae.pool, &system.dae.symbols);
    let definitions = Definitions::new(system);
    let symbols = &system.dae.symbols;
    let mut values: FxHashMap<ExprId, [f64; N_POINTS]> = FxHashMap::default();
    for number in 0..N_POINTS {
        let free = |s: SymbolId| {
            let own = made_up(&Role::Unknown, s, 7 + number as u64);
            match symbols[s.0 as usize].role {
                Role::Parameter { value, .. } if number >= N_PRESENT && value != 0.0 => {
                    value * (0.5 + own)
                }
                ref role => made_up(role, s, 7 + number as u64),
            }
        };
        let mut point = Point::new(system, &definitions, &free);
        for &e in expressions {
            let value = point.value(e).filter(|v| *v != 0.0).unwrap_or(f64::NAN);
            values.entry(e).or_insert([f64::NAN; N_POINTS])[number] = value;
        }
    }

    for (&e, values) in &mut values {
        let pool = &system.dae.pool;
        let is_number = pool.as_number(e).is_some();
        if dependence.reads_switch(e) || values.iter().any(|v| v.is_nan()) && !is_number {
            for (number, value) in values.iter_mut().enumerate() {
                *value = made_up(&Role::Unknown, SymbolId(e.0), 1000 + number as u64);
            }
        }
    }
    values
}

/// Adds rows up, each at the level of `target`, without the symbols that are known to cancel.
///
/// `None` if some row is not affine in these, or a weight reads one of them.
fn add_up(
    system: &mut System,
    dependence: &mut Dependence,
    target: Member,
    terms: &[(Member, Entry)],
    cancelled: &FxHashSet<SymbolId>,
) -> Option<(ExprId, Remainder)> {
    let pool = &system.dae.pool;
    let reads_cancelled = |e: ExprId| symbols_of(pool, e).iter().any(|s| cancelled.contains(s));
    if terms.iter().any(|(_, w)| reads_cancelled(w.value)) {
        return None;
    }
    let mut parts: Vec<(Option<SymbolId>, Entry, ExprId)> = Vec::new();
    for &(member, weight) in terms {
        let row = (target.count..member.count)
            .try_fold(member.row, |r, _| system.rows[r as usize].derivative)?;
        let residual = system.residual(row);
        let read: Vec<SymbolId> = system
            .incidence
            .row(row)
            .iter()
            .map(|&s| SymbolId(s))
            .collect();
        let some: Vec<SymbolId> = read
            .iter()
            .copied()
            .filter(|s| cancelled.contains(s))
            .collect();
        let pool = &mut system.dae.pool;
        let (symbols, (slopes, rest)) = match linear_in(pool, residual, &read) {
            Some(form) => (read, form),
            None => (some.clone(), linear_in(pool, residual, &some)?),
        };
        parts.extend(
            symbols
                .into_iter()
                .zip(slopes)
                .map(|(s, e)| (Some(s), weight, e)),
        );
        parts.push((None, weight, rest));
    }

    parts.retain(|&(s, _, e)| {
        let is_cancelled = s.is_some_and(|s| cancelled.contains(&s));
        !is_cancelled && system.dae.pool.as_number(e) != Some(0.0)
    });
    parts.sort_by_key(|&(s, ..)| s);
    sum_parts(system, dependence, &parts)
}

/// Adds products of weights and coefficients up, symbol by symbol, and drops what cancels.
fn sum_parts(
    system: &mut System,
    dependence: &mut Dependence,
    parts: &[(Option<SymbolId>, Entry, ExprId)],
) -> Option<(ExprId, Remainder)> {
    let expressions: Vec<ExprId> = parts.iter().map(|&(_, _, e)| e).collect();
    let values = values_of(system, dependence, &expressions);
    let pool = &mut system.dae.pool;
    let mut total = pool.number(0.0);
    let mut constant = pool.number(0.0);
    let mut constant_entry: Option<Entry> = None;
    for group in parts.chunk_by(|a, b| a.0 == b.0) {
        let mut sum: Option<Entry> = None;
        for &(_, weight, e) in group {
            let product = weight.times(&Entry::new(e, values[&e]), pool);
            sum = Some(match sum {
                None => product,
                Some(sum) => sum.plus(&product, pool),
            });
        }
        let sum = sum?;
        match group[0].0 {
            _ if sum.is_zero() => {}
            Some(s) => {
                let symbol = pool.symbol(s);
                let term = pool.mul(sum.value, symbol);
                total = pool.add(total, term);
            }
            None => {
                constant = sum.value;
                constant_entry = Some(sum);
            }
        }
    }

    let residual = pool.add(total, constant);
    let read = symbols_of(&system.dae.pool, residual);
    let has_unknown = read.iter().any(|s| system.is_unknown[s.0 as usize]);
    let remainder = match has_unknown {
        true => Remainder::Equation,
        false => Remainder::Nothing {
            is_zero: constant_entry.is_none(),
        },
    };
    Some((residual, remainder))
}
