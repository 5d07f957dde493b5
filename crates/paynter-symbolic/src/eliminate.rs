//! Collects from a reduced system what each quantity is computed from.
//!
//! In:  a [`Reduced`], and the quantities that are asked for.
//! Out: for everything they need, in the order of computation: its own formula, and its
//!      formula with everything else put in. Groups that are not worth solving by formula
//!      stay systems.
//!
//! **Invariant:** own formulas read states, time, parameters, unknowns of systems and earlier
//! formulas; full formulas read no earlier formula. Total cost is linear in the size of the
//! equations: full formulas share their parts.

use crate::dae::Role;
use crate::events::{restore_functions, thaw};
use crate::expr::{ExprId, Pool, SymbolId};
use crate::reduced::{Block, Known, Reduced};
use crate::walk::{count_written_with, substitute, substitute_all, symbols_of};
use rustc_hash::{FxHashMap, FxHashSet};

/// Equations that are solved together.
#[derive(Clone, Debug)]
pub(crate) struct System {
    pub(crate) unknowns: Vec<SymbolId>,
    pub(crate) kind: SystemKind,
}

#[derive(Clone, Debug)]
pub(crate) enum SystemKind {
    /// Entries (row, column, value) and right side.
    Linear {
        matrix: Vec<(u32, u32, ExprId)>,
        right: Vec<ExprId>,
        is_symmetric: bool,
    },
    /// Each is zero.
    Nonlinear { residuals: Vec<ExprId> },
}

impl System {
    /// All expressions of the system.
    pub(crate) fn expressions(&self) -> Vec<ExprId> {
        match &self.kind {
            SystemKind::Linear { matrix, right, .. } => matrix
                .iter()
                .map(|entry| entry.2)
                .chain(right.iter().copied())
                .collect(),
            SystemKind::Nonlinear { residuals } => residuals.clone(),
        }
    }
}

/// A formula with everything put in.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Full {
    pub(crate) value: ExprId,
    /// Operations in its written text.
    pub(crate) n_operations: usize,
}

/// What is needed, and how it is computed.
#[derive(Clone, Debug)]
pub(crate) struct Elimination {
    pub(crate) pool: Pool,
    /// In the order of computation.
    pub(crate) order: Vec<SymbolId>,
    pub(crate) own: FxHashMap<SymbolId, ExprId>,
    pub(crate) full: FxHashMap<SymbolId, Full>,
    /// Unknowns of groups that were solved by formula and that several formulas read: they
    /// stay in full formulas by name.
    pub(crate) kept: FxHashSet<SymbolId>,
    /// Systems that are needed, with their position in [`Reduced::blocks`].
    pub(crate) systems: Vec<(usize, System)>,
    /// ± copies, resolved.
    aliases: FxHashMap<SymbolId, ExprId>,
}

/// Whether unknowns of groups that were solved by formula keep their names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Keep {
    /// Where several formulas read them, and they are not derivatives of states.
    LoopUnknowns,
    /// None: full formulas read states and inputs only.
    Nothing,
}

/// A formula of so few operations is copied rather than named.
const LONGEST_COPY: usize = 3;

/// The unknowns that keep their names: textbooks call them tearing variables.
fn kept_unknowns(
    pool: &Pool,
    own: &FxHashMap<SymbolId, ExprId>,
    solved: &[SymbolId],
    keep: Keep,
) -> FxHashSet<SymbolId> {
    if keep == Keep::Nothing || solved.is_empty() {
        return FxHashSet::default();
    }
    let mut n_readers: FxHashMap<SymbolId, usize> = FxHashMap::default();
    for &e in own.values() {
        for s in symbols_of(pool, e) {
            *n_readers.entry(s).or_insert(0) += 1;
        }
    }
    solved
        .iter()
        .copied()
        .filter(|s| n_readers.get(s).is_some_and(|&n| n >= 2))
        .collect()
}

/// Collects what `roots` need; linear groups of up to `solve_up_to` unknowns are solved by
/// formula unless their block is listed in `unsolved`.
pub(crate) fn eliminate(
    reduced: &Reduced,
    roots: &[SymbolId],
    solve_up_to: usize,
    unsolved: &FxHashSet<usize>,
    keep: Keep,
) -> Elimination {
    let mut pool = reduced.dae.pool.clone();
    let aliases = resolve_aliases(reduced, &mut pool);
    let mut collected = collect(reduced, &mut pool, &aliases, solve_up_to, unsolved);
    let roots: Vec<SymbolId> = roots
        .iter()
        .flat_map(|s| aliases.get(s).map_or(vec![*s], |&e| symbols_of(&pool, e)))
        .collect();
    let (order, systems) = order_of_need(&pool, &collected, &roots);
    let own: FxHashMap<SymbolId, ExprId> = order
        .iter()
        .filter_map(|s| Some((*s, collected.own.remove(s)?)))
        .collect();
    let kept = kept_unknowns(&pool, &own, &collected.solved, keep);
    let mut full: FxHashMap<SymbolId, Full> = FxHashMap::default();
    for symbol in &order {
        let e = own[symbol];
        let n_operations =
            count_written_with(&pool, e, &|s| full.get(&s).map_or(0, |f| f.n_operations));
        let value = substitute(&mut pool, e, &|s| full.get(&s).map(|f| f.value));
        if kept.contains(symbol) && n_operations > LONGEST_COPY {
            continue;
        }
        let formula = Full {
            value,
            n_operations,
        };
        full.insert(*symbol, formula);
    }
    let systems = systems
        .into_iter()
        .map(|i| collected.systems[i].clone())
        .collect();
    Elimination {
        pool,
        order,
        own,
        full,
        kept,
        systems,
        aliases,
    }
}

impl Elimination {
    /// Puts what is copied in the place of copies.
    pub(crate) fn resolved(&mut self, e: ExprId) -> ExprId {
        let aliases = &self.aliases;
        substitute(&mut self.pool, e, &|s| aliases.get(&s).copied())
    }

    /// Puts everything into an expression of the reduced system.
    pub(crate) fn full_of(&mut self, e: ExprId) -> ExprId {
        let e = self.resolved(e);
        let full = &self.full;
        substitute(&mut self.pool, e, &|s| full.get(&s).map(|f| f.value))
    }

    /// The formula of one symbol with everything put in.
    pub(crate) fn full_of_symbol(&mut self, s: SymbolId) -> ExprId {
        let e = self.pool.symbol(s);
        self.full_of(e)
    }
}

/// ± copies as expressions of what they copy, and modes as the switches they stand for.
fn resolve_aliases(reduced: &Reduced, pool: &mut Pool) -> FxHashMap<SymbolId, ExprId> {
    let mut resolved: FxHashMap<SymbolId, ExprId> = FxHashMap::default();
    for i in 0..reduced.known.len() {
        let (mut at, mut is_negated) = (SymbolId(i as u32), false);
        let mut is_alias = false;
        while let Some(&Known::Alias { of, negated }) = reduced.known.get(at.0 as usize) {
            (at, is_negated, is_alias) = (of, is_negated != negated, true);
        }
        if is_alias {
            let e = pool.symbol(at);
            let e = if is_negated { pool.neg(e) } else { e };
            resolved.insert(SymbolId(i as u32), e);
        }
    }
    let modes: Vec<_> = reduced
        .dae
        .modes
        .iter()
        .map(|m| (m.symbol, m.switch))
        .collect();
    for (symbol, e) in thaw(pool, &modes) {
        let e = substitute(pool, e, &|s| resolved.get(&s).copied());
        resolved.insert(symbol, e);
    }
    resolved
}

struct Collected {
    own: FxHashMap<SymbolId, ExprId>,
    systems: Vec<(usize, System)>,
    system_of: FxHashMap<SymbolId, usize>,
    /// Unknowns of groups that were solved by formula, derivatives of states left out.
    solved: Vec<SymbolId>,
}

fn collect(
    reduced: &Reduced,
    pool: &mut Pool,
    aliases: &FxHashMap<SymbolId, ExprId>,
    solve_up_to: usize,
    unsolved: &FxHashSet<usize>,
) -> Collected {
    let mut definitions: Vec<(SymbolId, ExprId)> = Vec::new();
    let mut systems: Vec<(usize, System)> = Vec::new();
    let mut solved: Vec<SymbolId> = Vec::new();
    for (i, known) in reduced.known.iter().enumerate() {
        if let Known::Expression(e) = known {
            definitions.push((SymbolId(i as u32), *e));
        }
    }
    for (i, block) in reduced.blocks.iter().enumerate() {
        match block {
            Block::Assign { symbol, value } => definitions.push((*symbol, *value)),
            Block::Linear {
                unknowns,
                matrix,
                right,
                positive_definite,
                inner,
                ..
            } => {
                definitions.extend(inner.iter().copied());
                let n = unknowns.len();
                if n <= solve_up_to && !unsolved.contains(&i) {
                    let is_rate = |s: &SymbolId| {
                        matches!(reduced.dae.symbol(*s).role, Role::Derivative { .. })
                    };
                    let values = solve_by_formula(pool, unknowns, matrix, right, &is_rate);
                    definitions.extend(unknowns.iter().copied().zip(values));
                    solved.extend(unknowns.iter().copied().filter(|s| !is_rate(s)));
                } else {
                    let kind = SystemKind::Linear {
                        matrix: matrix.clone(),
                        right: right.clone(),
                        is_symmetric: *positive_definite,
                    };
                    systems.push((
                        i,
                        System {
                            unknowns: unknowns.clone(),
                            kind,
                        },
                    ));
                }
            }
            Block::Nonlinear {
                unknowns,
                inner,
                residuals,
                ..
            } => {
                definitions.extend(inner.iter().copied());
                let kind = SystemKind::Nonlinear {
                    residuals: residuals.clone(),
                };
                systems.push((
                    i,
                    System {
                        unknowns: unknowns.clone(),
                        kind,
                    },
                ));
            }
        }
    }
    let values: Vec<ExprId> = definitions.iter().map(|d| d.1).collect();
    let mut own = FxHashMap::default();
    for ((symbol, _), value) in definitions
        .iter()
        .zip(resolve(reduced, pool, aliases, &values))
    {
        own.insert(*symbol, value);
    }
    let mut system_of = FxHashMap::default();
    for (k, (_, system)) in systems.iter_mut().enumerate() {
        resolve_system(reduced, pool, aliases, system);
        system_of.extend(system.unknowns.iter().map(|&s| (s, k)));
    }
    Collected {
        own,
        systems,
        system_of,
        solved,
    }
}

fn resolve(
    reduced: &Reduced,
    pool: &mut Pool,
    aliases: &FxHashMap<SymbolId, ExprId>,
    expressions: &[ExprId],
) -> Vec<ExprId> {
    let resolved = substitute_all(pool, expressions, &|s| aliases.get(&s).copied());
    if reduced.dae.modes.is_empty() {
        return resolved;
    }
    resolved
        .into_iter()
        .map(|e| restore_functions(pool, e))
        .collect()
}

fn resolve_system(
    reduced: &Reduced,
    pool: &mut Pool,
    aliases: &FxHashMap<SymbolId, ExprId>,
    system: &mut System,
) {
    match &mut system.kind {
        SystemKind::Linear { matrix, right, .. } => {
            let values: Vec<ExprId> = matrix.iter().map(|entry| entry.2).collect();
            for (entry, value) in matrix
                .iter_mut()
                .zip(resolve(reduced, pool, aliases, &values))
            {
                entry.2 = value;
            }
            *right = resolve(reduced, pool, aliases, right);
        }
        SystemKind::Nonlinear { residuals } => {
            *residuals = resolve(reduced, pool, aliases, residuals);
        }
    }
}

/// Cramer's rule, for the small groups for which a formula is readable. Of two unknowns, a
/// rate that stands alone in a row (with a number before it) is written with the other one.
fn solve_by_formula(
    pool: &mut Pool,
    unknowns: &[SymbolId],
    matrix: &[(u32, u32, ExprId)],
    right: &[ExprId],
    is_rate: &dyn Fn(&SymbolId) -> bool,
) -> Vec<ExprId> {
    let n = unknowns.len();
    let zero = pool.number(0.0);
    let mut a = vec![vec![zero; n]; n];
    for &(row, column, value) in matrix {
        let entry = &mut a[row as usize][column as usize];
        *entry = pool.add(*entry, value);
    }
    let all: Vec<usize> = (0..n).collect();
    let det = determinant(pool, &a, 0, &all);
    let mut values: Vec<ExprId> = (0..n)
        .map(|column| {
            let mut replaced = a.clone();
            for row in 0..n {
                replaced[row][column] = right[row];
            }
            let top = determinant(pool, &replaced, 0, &all);
            pool.div(top, det)
        })
        .collect();
    if n == 2 {
        let is_number = |pool: &Pool, e: ExprId| pool.as_number(e).is_some_and(|x| x != 0.0);
        let alone = (0..2)
            .flat_map(|row| (0..2).map(move |column| (row, column)))
            .find(|&(row, column)| {
                is_number(pool, a[row][column])
                    && is_rate(&unknowns[column])
                    && !is_rate(&unknowns[1 - column])
            });
        if let Some((row, column)) = alone {
            // a z_c + b z_d = h gives z_c = (h − b z_d)/a
            let other = pool.symbol(unknowns[1 - column]);
            let part = pool.mul(a[row][1 - column], other);
            let top = pool.sub(right[row], part);
            values[column] = pool.div(top, a[row][column]);
        }
    }
    values
}

/// Expands along the first of the remaining rows.
fn determinant(pool: &mut Pool, a: &[Vec<ExprId>], row: usize, columns: &[usize]) -> ExprId {
    if let [only] = columns {
        return a[row][*only];
    }
    let mut sum = pool.number(0.0);
    for (i, &column) in columns.iter().enumerate() {
        if pool.as_number(a[row][column]) == Some(0.0) {
            continue;
        }
        let rest: Vec<usize> = columns.iter().copied().filter(|&c| c != column).collect();
        let minor = determinant(pool, a, row + 1, &rest);
        let term = pool.mul(a[row][column], minor);
        sum = if i % 2 == 0 {
            pool.add(sum, term)
        } else {
            pool.sub(sum, term)
        };
    }
    sum
}

/// Lists what the roots need, definitions before their users, and the systems that are met.
fn order_of_need(
    pool: &Pool,
    collected: &Collected,
    roots: &[SymbolId],
) -> (Vec<SymbolId>, Vec<usize>) {
    let mut order = Vec::new();
    let mut systems = Vec::new();
    let mut seen_systems: FxHashSet<usize> = FxHashSet::default();
    let mut seen: FxHashSet<SymbolId> = FxHashSet::default();
    let mut stack: Vec<(SymbolId, bool)> = roots.iter().rev().map(|&s| (s, false)).collect();
    let mut next_system = 0;
    loop {
        while let Some((symbol, is_done)) = stack.pop() {
            if is_done {
                order.push(symbol);
                continue;
            }
            if !seen.insert(symbol) {
                continue;
            }
            if let Some(&k) = collected.system_of.get(&symbol) {
                if seen_systems.insert(k) {
                    systems.push(k);
                }
            } else if let Some(&e) = collected.own.get(&symbol) {
                stack.push((symbol, true));
                stack.extend(symbols_of(pool, e).into_iter().rev().map(|s| (s, false)));
            }
        }
        // What a system reads comes after it: a nonlinear one reads its own unknowns.
        let Some(&k) = systems.get(next_system) else {
            break;
        };
        next_system += 1;
        for e in collected.systems[k].1.expressions() {
            stack.extend(symbols_of(pool, e).into_iter().rev().map(|s| (s, false)));
        }
    }
    (order, systems)
}

/// Tells whether a symbol varies and is not given: a state, or what has no formula.
pub(crate) fn varies(reduced: &Reduced, s: SymbolId) -> bool {
    matches!(
        reduced.dae.symbol(s).role,
        Role::Unknown | Role::Derivative { .. }
    )
}
