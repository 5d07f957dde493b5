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
    /// What stays by name however short it is: inputs.
    pub(crate) always: FxHashSet<SymbolId>,
    /// Systems that are needed, with their position in [`Reduced::blocks`].
    pub(crate) systems: Vec<(usize, System)>,
    /// ± copies, resolved.
    aliases: FxHashMap<SymbolId, ExprId>,
}

/// Whether unknowns of groups that were solved by formula keep their names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Keep<'a> {
    /// Where several formulas read them, and they are not derivatives of states.
    LoopUnknowns {
        /// These keep their names, too, however short their formulas are.
        always: &'a [SymbolId],
    },
    /// These only: full formulas read them and states.
    Only(&'a [SymbolId]),
}

/// A formula of so few operations is copied rather than named.
const LONGEST_COPY: usize = 3;

/// The unknowns that keep their names: textbooks call them tearing variables.
fn kept_unknowns(
    pool: &Pool,
    own: &FxHashMap<SymbolId, ExprId>,
    solved: &[SymbolId],
    keep: Keep<'_>,
) -> FxHashSet<SymbolId> {
    if matches!(keep, Keep::Only(_)) || solved.is_empty() {
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
    keep: Keep<'_>,
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
    let (Keep::LoopUnknowns { always } | Keep::Only(always)) = keep;
    let always: FxHashSet<SymbolId> = always
        .iter()
        .filter_map(|s| aliases.get(s).map_or(Some(*s), |&e| pool.as_symbol(e)))
        .collect();
    let mut full: FxHashMap<SymbolId, Full> = FxHashMap::default();
    for symbol in &order {
        let e = own[symbol];
        let n_operations =
            count_written_with(&pool, e, &|s| full.get(&s).map_or(0, |f| f.n_operations));
        let value = substitute(&mut pool, e, &|s| full.get(&s).map(|f| f.value));
        if (kept.contains(symbol) && n_operations > LONGEST_COPY) || always.contains(symbol) {
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
        always,
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

    /// As [`Elimination::resolved`], with `abs`, `min` and `max` written as such again.
    pub(crate) fn thawed(&mut self, e: ExprId) -> ExprId {
        let e = self.resolved(e);
        restore_functions(&mut self.pool, e)
    }

    /// What a symbol is a copy of; itself if it is none, or a negative one.
    pub(crate) fn original(&self, s: SymbolId) -> SymbolId {
        let copied = self.aliases.get(&s).and_then(|&e| self.pool.as_symbol(e));
        copied.unwrap_or(s)
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

    // A part's parameter that is given by another one is that one: `arm.J` is `J`.
    for i in 0..reduced.dae.symbols.len() {
        let target = given_by(reduced, SymbolId(i as u32));
        if target != SymbolId(i as u32) {
            let e = pool.symbol(target);
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

/// Follows parameters that are given by other parameters as they are.
pub(crate) fn given_by(reduced: &Reduced, mut s: SymbolId) -> SymbolId {
    // Bindings are made in order, so a cycle cannot be; the bound keeps a broken promise finite.
    for _ in 0..reduced.dae.symbols.len() {
        let Role::Parameter {
            binding: Some(e), ..
        } = reduced.dae.symbol(s).role
        else {
            break;
        };
        match reduced.dae.pool.as_symbol(e) {
            Some(other) if matches!(reduced.dae.symbol(other).role, Role::Parameter { .. }) => {
                s = other;
            }
            _ => break,
        }
    }
    s
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
    let mut found = Definitions::default();
    for (i, known) in reduced.known.iter().enumerate() {
        if let Known::Expression(e) = known {
            found.own.push((SymbolId(i as u32), *e));
        }
    }
    for (i, block) in reduced.blocks.iter().enumerate() {
        found.add_block(reduced, pool, (i, block), (solve_up_to, unsolved));
    }

    let values: Vec<ExprId> = found.own.iter().map(|d| d.1).collect();
    let values = resolve(reduced, pool, aliases, &values);
    let own = found.own.iter().map(|d| d.0).zip(values).collect();
    let mut system_of = FxHashMap::default();
    for (k, (_, system)) in found.systems.iter_mut().enumerate() {
        resolve_system(reduced, pool, aliases, system);
        system_of.extend(system.unknowns.iter().map(|&s| (s, k)));
    }

    Collected {
        own,
        systems: found.systems,
        system_of,
        solved: found.solved,
    }
}

/// What the blocks define, before aliases are resolved.
#[derive(Default)]
struct Definitions {
    own: Vec<(SymbolId, ExprId)>,
    systems: Vec<(usize, System)>,
    solved: Vec<SymbolId>,
}

impl Definitions {
    /// Adds a block with its number. Groups up to a size are solved by formula, unless they are among the unsolved.
    fn add_block(
        &mut self,
        reduced: &Reduced,
        pool: &mut Pool,
        (i, block): (usize, &Block),
        (solve_up_to, unsolved): (usize, &FxHashSet<usize>),
    ) {
        match block {
            Block::Assign { symbol, value } => self.own.push((*symbol, *value)),
            Block::Linear {
                unknowns,
                matrix,
                right,
                positive_definite,
                inner,
                ..
            } => {
                self.own.extend(inner.iter().copied());
                let mut group = Group {
                    unknowns: unknowns.clone(),
                    matrix: matrix.clone(),
                    right: right.clone(),
                };
                if unknowns.len() > solve_up_to {
                    self.own.extend(group.without_efforts(reduced, pool));
                }
                if group.unknowns.len() <= solve_up_to && !unsolved.contains(&i) {
                    self.solve_group(reduced, pool, &group);
                    return;
                }
                let kind = SystemKind::Linear {
                    matrix: group.matrix,
                    right: group.right,
                    is_symmetric: *positive_definite,
                };
                let unknowns = group.unknowns;
                self.systems.push((i, System { unknowns, kind }));
            }
            Block::Nonlinear {
                unknowns,
                inner,
                residuals,
                ..
            } => {
                self.own.extend(inner.iter().copied());
                let unknowns = unknowns.clone();
                let residuals = residuals.clone();
                let kind = SystemKind::Nonlinear { residuals };
                self.systems.push((i, System { unknowns, kind }));
            }
        }
    }

    fn solve_group(&mut self, reduced: &Reduced, pool: &mut Pool, group: &Group) {
        let is_rate = |s: &SymbolId| is_rate(reduced, *s);
        let unknowns = &group.unknowns;
        let values = solve_by_formula(pool, unknowns, &group.matrix, &group.right, &is_rate);
        self.own.extend(unknowns.iter().copied().zip(values));
        let others = unknowns.iter().copied().filter(|s| !is_rate(s));
        self.solved.extend(others);
    }
}

fn is_rate(reduced: &Reduced, s: SymbolId) -> bool {
    matches!(reduced.dae.symbol(s).role, Role::Derivative { .. })
}

/// Linear equations A z = b on their way to the reader.
struct Group {
    unknowns: Vec<SymbolId>,
    matrix: Vec<(u32, u32, ExprId)>,
    right: Vec<ExprId>,
}

impl Group {
    /// Takes out unknowns that are not rates, as books do with reactions: where one is in a
    /// row with a factor that never varies, that row gives it. Gives their formulas.
    fn without_efforts(&mut self, reduced: &Reduced, pool: &mut Pool) -> Vec<(SymbolId, ExprId)> {
        let mut formulas = Vec::new();
        if !self.unknowns.iter().any(|&s| is_rate(reduced, s)) || self.unknowns.len() > MOST_TAKEN {
            return formulas;
        }

        while let Some((row, column, pivot)) = self.constant_pivot(reduced, pool) {
            let unknown = self.unknowns[column as usize];
            let own: Vec<(u32, ExprId)> = self
                .matrix
                .iter()
                .filter(|&&(r, c, _)| r == row && c != column)
                .map(|&(_, c, e)| (c, e))
                .collect();
            let mut value = self.right[row as usize];
            for &(c, e) in &own {
                let z = pool.symbol(self.unknowns[c as usize]);
                let part = pool.mul(e, z);
                value = pool.sub(value, part);
            }
            formulas.push((unknown, pool.div(value, pivot)));
            let below: Vec<(u32, ExprId)> = self
                .matrix
                .iter()
                .filter(|&&(r, c, _)| c == column && r != row)
                .map(|&(r, _, e)| (r, e))
                .collect();
            for (r, e) in below {
                let factor = pool.div(e, pivot);
                let part = pool.mul(factor, self.right[row as usize]);
                self.right[r as usize] = pool.sub(self.right[r as usize], part);
                for &(c, e) in &own {
                    let part = pool.mul(factor, e);
                    let part = pool.neg(part);
                    self.add(pool, r, c, part);
                }
            }
            self.remove(row, column);
        }
        formulas
    }

    /// A factor that reads no state, of an unknown that is not a rate.
    fn constant_pivot(&self, reduced: &Reduced, pool: &Pool) -> Option<(u32, u32, ExprId)> {
        if self.unknowns.len() < 2 {
            return None;
        }
        self.matrix.iter().copied().find(|&(_, column, e)| {
            !is_rate(reduced, self.unknowns[column as usize])
                && pool.as_number(e) != Some(0.0)
                && symbols_of(pool, e)
                    .iter()
                    .all(|&s| matches!(reduced.dae.symbol(s).role, Role::Parameter { .. }))
        })
    }

    fn add(&mut self, pool: &mut Pool, row: u32, column: u32, e: ExprId) {
        let place = self
            .matrix
            .iter()
            .position(|&(r, c, _)| (r, c) == (row, column));
        match place {
            Some(k) => self.matrix[k].2 = pool.add(self.matrix[k].2, e),
            None => self.matrix.push((row, column, e)),
        }
    }

    fn remove(&mut self, row: u32, column: u32) {
        self.matrix.retain(|&(r, c, _)| r != row && c != column);
        for (r, c, _) in &mut self.matrix {
            *r -= u32::from(*r > row);
            *c -= u32::from(*c > column);
        }
        self.right.remove(row as usize);
        self.unknowns.remove(column as usize);
    }
}

/// Larger groups are not rearranged: nobody reads what they become.
const MOST_TAKEN: usize = 12;

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
