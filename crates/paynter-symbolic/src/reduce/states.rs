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
use super::blocks::sort_blocks;
use super::graph::{Incidence, Marks, NONE};
use super::system::System;
use super::tearing::made_up;
use super::terms::Dependence;
use crate::calculus::gradient;
use crate::dae::Role;
use crate::evaluate::Evaluator;
use crate::expr::{ExprId, SymbolId};
use crate::reduced::{Known, Reduced, State};

/// What to do where no fixed choice of states is safe everywhere, as for a pendulum in x and y.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DynamicSelection {
    /// Integrate all candidates; the constraints they must keep are [`Reduced::constraints`].
    #[default]
    Project,
    /// Choose the preferred states and say so ([`Reduced::is_selection_dynamic`]); the caller
    /// watches [`selection_condition`] and calls [`reselect`].
    Choose,
}

/// A choice of states.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Selection {
    /// The differential unknowns to integrate, most wanted first.
    pub states: Vec<SymbolId>,
}

/// The matrix from which states are chosen.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Selector {
    /// How often each constraint was differentiated.
    counts: Vec<u32>,
    /// Each candidate with its derivatives.
    chains: Vec<Chain>,
    /// ∂constraint/∂candidate: (constraint, chain, value).
    entries: Vec<(u32, u32, ExprId)>,
}

#[derive(Clone, Debug, Default, PartialEq)]
struct Chain {
    /// x, ẋ, ẍ …
    symbols: Vec<SymbolId>,
    /// How many of `symbols` the given system had; later ones came from differentiation.
    n_given: usize,
}

impl Chain {
    /// The unknown that is computed if the chain is picked in a stage.
    fn computed_in(&self, stage: usize) -> SymbolId {
        self.symbols[self.symbols.len() - 1 - stage]
    }

    /// Tells whether that unknown could be integrated in the given system.
    fn was_state(&self, stage: usize) -> bool {
        self.symbols.len() - stage < self.n_given
    }
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

/// Chooses the states.
pub(crate) fn select(
    system: &mut System,
    dependence: &mut Dependence,
    row_of_highest: &[u32],
    options: &Options,
) -> StateSets {
    let wishes = Wishes::new(system, options);
    let levels = levels_of_constraints(system);
    let mut picked: Vec<usize> = Vec::new();
    let mut table = Table::default();
    let mut unmatched: Vec<(usize, usize)> = Vec::new();
    let mut is_dynamic = false;
    if !levels.is_empty() {
        table = Table::new(system, dependence, &levels);
        table.find_moved(system, row_of_highest, &levels);
        let mut projected = vec![false; levels.len()];
        loop {
            let choice = table.choose(system, &wishes, &projected);
            let is_new = choice.dynamic_rows.iter().any(|&r| !projected[r]);
            for &r in &choice.dynamic_rows {
                projected[r] = true;
            }
            picked = choice.depth;
            unmatched = choice.unmatched;
            is_dynamic = is_new;
            if options.dynamic == DynamicSelection::Choose || !is_new {
                break;
            }
        }
    }
    let mut sets = StateSets {
        is_dynamic,
        ..StateSets::default()
    };
    sets.is_dropped = vec![false; system.rows.len()];
    for (row, level) in unmatched {
        let row = levels[row][level];
        sets.is_dropped[row as usize] = true;
        sets.constraints.push(residual(system, row));
    }
    let positions = system.dae.constraints.clone();
    for position in positions {
        sets.constraints.push(resolved(system, position.position));
    }
    for row in levels.iter().flat_map(|l| &l[..l.len() - 1]) {
        if !sets.is_dropped[*row as usize] && reads_only_candidates(system, *row) {
            let e = residual(system, *row);
            sets.hidden.push(e);
        }
    }
    sets.structural_index = structural_index(system, &levels);
    collect_states(system, &wishes, &table, &picked, &mut sets);
    sets.selector = table.into_selector();
    sets
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

fn residual(system: &mut System, row: u32) -> ExprId {
    let equation = system.rows[row as usize].equation;
    system.dae.pool.sub(equation.left, equation.right)
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

/// How much each unknown is wanted as a state: the smaller the more.
struct Wishes {
    rank: Vec<u32>,
}

impl Wishes {
    fn new(system: &System, options: &Options) -> Wishes {
        let mut rank = vec![u32::MAX; system.dae.symbols.len()];
        let selected = options.selection.iter().flat_map(|s| &s.states);
        let wanted: Vec<SymbolId> = selected
            .chain(&system.dae.preferred_states)
            .copied()
            .collect();
        for (place, s) in wanted.iter().enumerate().rev() {
            rank[system.kept(*s).0 as usize] = place as u32;
        }
        Wishes { rank }
    }
}

/// Lists the states in order of preference, then of their ids.
fn collect_states(
    system: &System,
    wishes: &Wishes,
    table: &Table,
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

/// The matrix J of the differentiated constraints, by columns.
#[derive(Default)]
struct Table {
    counts: Vec<u32>,
    chains: Vec<Chain>,
    /// For each chain its entries, constant ones first.
    columns: Vec<Vec<Entry>>,
    /// Whether a constraint acts back on the highest derivative of each chain. An unknown that
    /// moves as it likes (a prescribed angle) is a poor choice to be computed from a constraint.
    is_moved: Vec<bool>,
}

#[derive(Clone, Copy)]
struct Entry {
    row: u32,
    value: ExprId,
    is_constant: bool,
}

/// A choice from a [`Table`].
struct Choice {
    /// In how many stages each chain was picked.
    depth: Vec<usize>,
    /// (constraint, level): rows that are not used to compute anything.
    unmatched: Vec<(usize, usize)>,
    /// Constraints in minors whose determinant can vanish.
    dynamic_rows: Vec<usize>,
}

impl Table {
    fn new(system: &mut System, dependence: &mut Dependence, levels: &[Vec<u32>]) -> Table {
        let mut table = Table::default();
        let mut chain_of = vec![NONE; system.dae.symbols.len()];
        for (i, level) in levels.iter().enumerate() {
            let count = level.len() - 1;
            table.counts.push(count as u32);
            let mut symbols = Vec::new();
            for &s in system.incidence.row(level[0]) {
                let chain = table.chain(system, &mut chain_of, SymbolId(s));
                let symbols_of_chain = &table.chains[chain as usize].symbols;
                let order = symbols_of_chain.iter().position(|&x| x.0 == s);
                if order.map(|o| o + count) == Some(symbols_of_chain.len() - 1) {
                    symbols.push((SymbolId(s), chain));
                }
            }
            let residual = residual(system, level[0]);
            let list: Vec<SymbolId> = symbols.iter().map(|&(s, _)| s).collect();
            let slopes = gradient(&mut system.dae.pool, residual, &list);
            dependence.update(&system.dae.pool, &system.dae.symbols);
            for ((_, chain), value) in symbols.into_iter().zip(slopes) {
                if system.dae.pool.as_number(value) != Some(0.0) {
                    let is_constant = dependence.is_constant(value);
                    let entry = Entry {
                        row: i as u32,
                        value,
                        is_constant,
                    };
                    table.columns[chain as usize].push(entry);
                }
            }
        }
        for column in &mut table.columns {
            column.sort_by_key(|e| (!e.is_constant, e.row));
        }
        table
    }

    /// Finds the chains whose highest derivative is solved together with a constraint on it.
    fn find_moved(&mut self, system: &System, row_of_highest: &[u32], levels: &[Vec<u32>]) {
        let top: Vec<u32> = (0..system.rows.len() as u32)
            .filter(|&r| system.rows[r as usize].derivative.is_none())
            .collect();
        let groups = sort_blocks(&system.incidence, row_of_highest, &top, &mut 0);
        let mut group_of = vec![usize::MAX; system.rows.len()];
        for (number, group) in groups.iter().enumerate() {
            group.iter().for_each(|&r| group_of[r as usize] = number);
        }
        let group_of_constraint: Vec<usize> = levels
            .iter()
            .map(|l| group_of[l[l.len() - 1] as usize])
            .collect();
        self.is_moved = (self.chains.iter().zip(&self.columns))
            .map(|(chain, column)| {
                let highest = chain.computed_in(0);
                let row = row_of_highest[highest.0 as usize];
                row != NONE
                    && column
                        .iter()
                        .any(|e| group_of_constraint[e.row as usize] == group_of[row as usize])
            })
            .collect();
    }

    /// Finds or makes the chain of an unknown.
    fn chain(&mut self, system: &System, chain_of: &mut [u32], s: SymbolId) -> u32 {
        if chain_of[s.0 as usize] != NONE {
            return chain_of[s.0 as usize];
        }
        let mut base = s;
        while let Some(of) = system.integral_of(base) {
            base = of;
        }
        let symbols: Vec<SymbolId> =
            std::iter::successors(Some(base), |s| system.derivative[s.0 as usize]).collect();
        let is_given = |s: &&SymbolId| (s.0 as usize) < system.n_given_symbols;
        let n_given = symbols.iter().take_while(is_given).count();
        let chain = self.chains.len() as u32;
        symbols.iter().for_each(|s| chain_of[s.0 as usize] = chain);
        self.chains.push(Chain { symbols, n_given });
        self.columns.push(Vec::new());
        chain
    }

    /// Picks columns in all stages. Projected constraints pick only what was never a state.
    fn choose(&self, system: &System, wishes: &Wishes, projected: &[bool]) -> Choice {
        let n_stages = self.counts.iter().copied().max().unwrap_or(0) as usize;
        let mut choice = Choice {
            depth: vec![0; self.chains.len()],
            unmatched: Vec::new(),
            dynamic_rows: Vec::new(),
        };
        let mut candidates: Vec<usize> = (0..self.chains.len()).collect();
        for stage in 1..=n_stages {
            candidates.retain(|&k| self.chains[k].symbols.len() > stage);
            self.sort_by_wish(system, wishes, stage, &mut candidates);
            let mut minor = Minor::new(self, stage);
            minor.pick(stage, &candidates, projected);
            if let Some(better) = self.repick_by_numbers(system, stage, &candidates, &minor) {
                minor = Minor::new(self, stage);
                minor.pick(stage, &better, projected);
            }
            minor.note_dynamic_rows(system, &mut choice.dynamic_rows);
            for row in 0..self.counts.len() {
                if minor.is_active[row] && minor.column_of[row] == NONE {
                    choice
                        .unmatched
                        .push((row, self.counts[row] as usize - stage));
                }
            }
            candidates.retain(|&k| minor.row_of[k] != NONE);
            candidates.iter().for_each(|&k| choice.depth[k] = stage);
        }
        choice.dynamic_rows.sort_unstable();
        choice.dynamic_rows.dedup();
        choice
    }

    /// Sorts candidates: what should rather be computed than integrated comes first.
    fn sort_by_wish(
        &self,
        system: &System,
        wishes: &Wishes,
        stage: usize,
        candidates: &mut [usize],
    ) {
        candidates.sort_by_cached_key(|&k| {
            let chain = &self.chains[k];
            let symbol = chain.computed_in(stage);
            let was_state = chain.was_state(stage);
            let rank = wishes.rank[symbol.0 as usize];
            let is_sure = self.columns[k].iter().any(|e| e.is_constant);
            // Names, so that the order of the text decides nothing.
            let name = if was_state {
                system.dae.name_of(symbol)
            } else {
                String::new()
            };
            (
                was_state,
                std::cmp::Reverse(rank),
                !self.is_moved[k],
                !is_sure,
                name,
                symbol,
            )
        });
    }

    /// If the structural choice happens to be singular (equal constants), chooses by rank.
    fn repick_by_numbers(
        &self,
        system: &System,
        stage: usize,
        candidates: &[usize],
        minor: &Minor,
    ) -> Option<Vec<usize>> {
        let rows: Vec<usize> = (0..self.counts.len())
            .filter(|&r| minor.column_of[r] != NONE)
            .collect();
        if rows.len() > MAX_NUMERIC_ROWS {
            return None;
        }
        let symbols = &system.dae.symbols;
        let mut evaluator = Evaluator::new();
        let mut basis = Basis::new(rows.len());
        let mut column_at = |k: usize| -> Option<Vec<f64>> {
            let mut column = vec![0.0; rows.len()];
            for entry in &self.columns[k] {
                if let Ok(i) = rows.binary_search(&(entry.row as usize)) {
                    let value = evaluator.evaluate(&system.dae.pool, entry.value, &|s| {
                        made_up(&symbols[s.0 as usize].role, s, stage as u64)
                    });
                    column[i] = value.ok().filter(|v| v.is_finite())?;
                }
            }
            Some(column)
        };
        let mut is_regular = true;
        for &k in candidates.iter().filter(|&&k| minor.row_of[k] != NONE) {
            is_regular &= basis.add(column_at(k)?);
        }
        if is_regular {
            return None;
        }
        let mut basis = Basis::new(rows.len());
        let mut chosen = Vec::new();
        for &k in candidates {
            if basis.add(column_at(k)?) {
                chosen.push(k);
            }
        }
        (chosen.len() == rows.len()).then_some(chosen)
    }

    fn into_selector(self) -> Selector {
        let mut entries = Vec::new();
        for (k, column) in self.columns.iter().enumerate() {
            entries.extend(column.iter().map(|e| (e.row, k as u32, e.value)));
        }
        Selector {
            counts: self.counts,
            chains: self.chains,
            entries,
        }
    }
}

/// The numeric check of a choice costs the cube of the number of constraints; larger systems
/// rely on their structure.
const MAX_NUMERIC_ROWS: usize = 150;

/// A column that is this small a part of itself after removing what earlier columns span is
/// taken to be dependent: far above rounding, far below any coefficient that means something.
const MIN_INDEPENDENT_PART: f64 = 1e-9;

/// Orthogonal vectors that span the columns accepted so far.
struct Basis {
    n: usize,
    vectors: Vec<Vec<f64>>,
}

impl Basis {
    fn new(n: usize) -> Basis {
        Basis {
            n,
            vectors: Vec::new(),
        }
    }

    /// Adds a column if it is independent of the earlier ones (Gram–Schmidt, twice for accuracy).
    fn add(&mut self, mut column: Vec<f64>) -> bool {
        let size = norm(&column);
        if size == 0.0 || self.vectors.len() == self.n {
            return false;
        }
        for _ in 0..2 {
            for v in &self.vectors {
                let share: f64 = v.iter().zip(&column).map(|(a, b)| a * b).sum();
                column.iter_mut().zip(v).for_each(|(c, v)| *c -= share * v);
            }
        }
        let left = norm(&column);
        let is_independent = left > MIN_INDEPENDENT_PART * size;
        if is_independent {
            column.iter_mut().for_each(|c| *c /= left);
            self.vectors.push(column);
        }
        is_independent
    }
}

fn norm(v: &[f64]) -> f64 {
    v.iter().map(|x| x * x).sum::<f64>().sqrt()
}

/// Looking at the sign of a determinant in this many points misses a change of sign with a
/// probability of about 2⁻²³ if both signs are as likely.
const N_SIGN_POINTS: u64 = 24;

/// Unknowns are tried between plus and minus this: a little less than half a turn, so that
/// angles see all signs of sine and cosine.
const SIGN_RANGE: f64 = 3.0;

/// A determinant that is this small a part of its largest value is about to vanish.
const NEARLY_ZERO: f64 = 1e-6;

/// Computes a determinant by elimination with partial pivoting.
fn determinant(mut a: Vec<Vec<f64>>) -> f64 {
    let n = a.len();
    let mut product = 1.0;
    for k in 0..n {
        let pivot = (k..n)
            .max_by(|&i, &j| a[i][k].abs().total_cmp(&a[j][k].abs()))
            .unwrap_or(k);
        if pivot != k {
            a.swap(k, pivot);
            product = -product;
        }
        product *= a[k][k];
        if a[k][k] == 0.0 {
            return 0.0;
        }
        let pivot_row = a[k].clone();
        for row in &mut a[k + 1..] {
            let factor = row[k] / pivot_row[k];
            row.iter_mut()
                .zip(&pivot_row)
                .for_each(|(x, y)| *x -= factor * y);
        }
    }
    product
}

/// The matching of one stage.
struct Minor<'a> {
    table: &'a Table,
    is_active: Vec<bool>,
    n_free: usize,
    column_of: Vec<u32>,
    row_of: Vec<u32>,
    marks: Marks,
}

impl<'a> Minor<'a> {
    fn new(table: &'a Table, stage: usize) -> Minor<'a> {
        let is_active: Vec<bool> = table.counts.iter().map(|&c| c as usize >= stage).collect();
        Minor {
            table,
            n_free: is_active.iter().filter(|&&a| a).count(),
            is_active,
            column_of: vec![NONE; table.counts.len()],
            row_of: vec![NONE; table.chains.len()],
            marks: Marks::default(),
        }
    }

    /// Picks columns in the given order until every row has one.
    fn pick(&mut self, stage: usize, candidates: &[usize], projected: &[bool]) {
        let (were_states, others): (Vec<usize>, Vec<usize>) = candidates
            .iter()
            .partition(|&&k| self.table.chains[k].was_state(stage));
        let is_fixed = |e: &Entry| e.is_constant && !projected[e.row as usize];
        for &k in &others {
            self.augment(k, &is_fixed);
        }
        for &k in others
            .iter()
            .filter(|&&k| self.table.columns[k].iter().any(|e| !is_fixed(e)))
        {
            self.augment(k, &|_| true);
        }
        for &k in &were_states {
            self.augment(k, &|e| !projected[e.row as usize]);
        }
    }

    /// Finds a row for a column along alternating paths of allowed entries.
    fn augment(&mut self, column: usize, is_allowed: &dyn Fn(&Entry) -> bool) {
        if self.n_free == 0 || self.row_of[column] != NONE {
            return;
        }
        self.marks.restart(self.column_of.len());
        // (column, place of its next entry)
        let mut path: Vec<(usize, usize)> = vec![(column, 0)];
        while let Some((k, at)) = path.pop() {
            let Some(entry) = self.table.columns[k].get(at) else {
                continue;
            };
            path.push((k, at + 1));
            let row = entry.row;
            if !self.is_active[row as usize] || !is_allowed(entry) || !self.marks.add(row) {
                continue;
            }
            let other = self.column_of[row as usize];
            if other != NONE {
                path.push((other as usize, 0));
                continue;
            }
            for &(k, next) in &path {
                let row = self.table.columns[k][next - 1].row;
                self.row_of[k] = row;
                self.column_of[row as usize] = k as u32;
            }
            self.n_free -= 1;
            return;
        }
    }

    /// Adds the rows of the parts of the minor whose determinant can vanish.
    fn note_dynamic_rows(&self, system: &System, dynamic_rows: &mut Vec<usize>) {
        let n_rows = self.column_of.len();
        let mut lists: Vec<Vec<u32>> = vec![Vec::new(); n_rows];
        for (k, column) in self.table.columns.iter().enumerate() {
            if self.row_of[k] != NONE {
                column
                    .iter()
                    .for_each(|e| lists[e.row as usize].push(k as u32));
            }
        }
        let mut graph = Incidence::default();
        for (row, list) in lists.into_iter().enumerate() {
            let is_in_minor = self.column_of[row] != NONE;
            graph.push(list.into_iter().filter(|_| is_in_minor));
        }
        let rows: Vec<u32> = (0..n_rows as u32)
            .filter(|&r| self.column_of[r as usize] != NONE)
            .collect();
        let mut evaluator = Evaluator::new();
        let mut part_of = vec![usize::MAX; n_rows];
        for (number, part) in sort_blocks(&graph, &self.row_of, &rows, &mut 0)
            .into_iter()
            .enumerate()
        {
            part.iter().for_each(|&r| part_of[r as usize] = number);
            let is_in_part = |row: u32| part_of[row as usize] == number;
            let is_constant = part.iter().all(|&r| {
                let k = self.column_of[r as usize] as usize;
                self.table.columns[k]
                    .iter()
                    .all(|e| e.is_constant || !is_in_part(e.row))
            });
            if !is_constant && self.can_vanish(system, &mut evaluator, &part) {
                dynamic_rows.extend(part.iter().map(|&r| r as usize));
            }
        }
    }

    /// Tells whether the determinant of a part changes sign or nearly vanishes at made-up points.
    ///
    /// The slope of a monotonic law does not; a direction cosine does.
    fn can_vanish(&self, system: &System, evaluator: &mut Evaluator, part: &[u32]) -> bool {
        let n = part.len();
        if n > MAX_NUMERIC_ROWS {
            return true;
        }
        let mut rows = part.to_vec();
        rows.sort_unstable();
        let symbols = &system.dae.symbols;
        let mut determinants: Vec<f64> = Vec::new();
        for point in 0..N_SIGN_POINTS {
            evaluator.restart();
            let at = |s: SymbolId| match symbols[s.0 as usize].role {
                Role::Unknown | Role::Derivative { .. } => {
                    SIGN_RANGE * (2.0 * made_up(&Role::Unknown, s, point) - 1.5)
                }
                ref role => made_up(role, s, point),
            };
            let mut a = vec![vec![0.0; n]; n];
            let mut is_finite = true;
            for (j, &r) in rows.iter().enumerate() {
                for entry in &self.table.columns[self.column_of[r as usize] as usize] {
                    let Ok(i) = rows.binary_search(&entry.row) else {
                        continue;
                    };
                    let value = evaluator.evaluate(&system.dae.pool, entry.value, &at);
                    a[i][j] = value.unwrap_or(f64::NAN);
                    is_finite &= a[i][j].is_finite();
                }
            }
            if is_finite {
                determinants.push(determinant(a));
            }
        }
        let largest = determinants.iter().fold(0.0_f64, |m, d| m.max(d.abs()));
        let is_near_zero = |d: &f64| d.abs() <= NEARLY_ZERO * largest;
        let has_both_signs =
            determinants.iter().any(|d| *d > 0.0) && determinants.iter().any(|d| *d < 0.0);
        (determinants.len() as u64) < N_SIGN_POINTS / 2
            || has_both_signs
            || determinants.iter().any(is_near_zero)
    }
}

/// Chooses states by the size of numbers at a point: where the present choice is close to
/// singular, the result is another one, for [`Options::selection`] of a new reduction.
///
/// `values` gives every symbol of the reduced system at the point. `None` if the constraints
/// are dependent or have no value there.
pub fn reselect(reduced: &Reduced, values: &dyn Fn(SymbolId) -> f64) -> Option<Selection> {
    let selector = &reduced.selector;
    let dense = selector.dense_at(reduced, values)?;
    let mut depth = vec![0; selector.chains.len()];
    let mut candidates: Vec<usize> = (0..selector.chains.len()).collect();
    for stage in 1..=selector.n_stages() {
        candidates.retain(|&k| selector.chains[k].symbols.len() > stage);
        let rows = selector.rows_in(stage);
        candidates = pick_by_size(selector, stage, &rows, &candidates, &dense)?.columns;
        candidates.iter().for_each(|&k| depth[k] = stage);
    }
    let mut states: Vec<SymbolId> = Vec::new();
    for (chain, &depth) in selector.chains.iter().zip(&depth) {
        // The last symbol has no derivative, so it is never a state.
        let n_states = chain.symbols.len() - 1 - depth;
        states.extend(&chain.symbols[..n_states]);
    }
    states.sort_unstable();
    Some(Selection { states })
}

/// Measures how well the present states are chosen at a point: the ratio of the largest to the
/// smallest pivot of the minors behind the choice. 1 is best; infinite where the choice fails.
///
/// 1 if there was nothing to choose. Compare with its value when the choice was made.
pub fn selection_condition(reduced: &Reduced, values: &dyn Fn(SymbolId) -> f64) -> f64 {
    let selector = &reduced.selector;
    let Some(dense) = selector.dense_at(reduced, values) else {
        return f64::INFINITY;
    };
    let is_state = |s: &&SymbolId| reduced.states.iter().any(|state| state.symbol == **s);
    let depth: Vec<usize> = selector
        .chains
        .iter()
        .map(|chain| chain.symbols.len() - 1 - chain.symbols.iter().filter(is_state).count())
        .collect();
    let mut worst = 1.0_f64;
    for stage in 1..=selector.n_stages() {
        let columns: Vec<usize> = (0..depth.len()).filter(|&k| depth[k] >= stage).collect();
        let rows = selector.rows_in(stage);
        if columns.len() < rows.len() {
            // Constraints kept by projection choose nothing.
            continue;
        }
        match pick_by_size(selector, stage, &rows, &columns, &dense) {
            Some(picked) => worst = worst.max(picked.ratio),
            None => return f64::INFINITY,
        }
    }
    worst
}

impl Selector {
    fn n_stages(&self) -> usize {
        self.counts.iter().copied().max().unwrap_or(0) as usize
    }

    fn rows_in(&self, stage: usize) -> Vec<usize> {
        (0..self.counts.len())
            .filter(|&r| self.counts[r] as usize >= stage)
            .collect()
    }

    /// Computes the whole matrix, row by row.
    fn dense_at(&self, reduced: &Reduced, values: &dyn Fn(SymbolId) -> f64) -> Option<Vec<f64>> {
        let n_columns = self.chains.len();
        let mut evaluator = Evaluator::new();
        let mut dense = vec![0.0; self.counts.len() * n_columns];
        for &(row, k, e) in &self.entries {
            let value = evaluator.evaluate(&reduced.dae.pool, e, values).ok()?;
            dense[row as usize * n_columns + k as usize] = Some(value).filter(|v| v.is_finite())?;
        }
        Some(dense)
    }
}

/// Columns picked by [`pick_by_size`].
struct Picked {
    columns: Vec<usize>,
    /// Largest pivot over smallest.
    ratio: f64,
}

/// Picks as many columns as rows by elimination with complete pivoting; those that never were
/// states come first.
fn pick_by_size(
    selector: &Selector,
    stage: usize,
    rows: &[usize],
    candidates: &[usize],
    dense: &[f64],
) -> Option<Picked> {
    let n_columns = selector.chains.len();
    let mut a: Vec<Vec<f64>> = rows
        .iter()
        .map(|&r| {
            candidates
                .iter()
                .map(|&k| dense[r * n_columns + k])
                .collect()
        })
        .collect();
    let size = a.iter().flatten().fold(0.0_f64, |m, x| m.max(x.abs()));
    let mut is_row_used = vec![false; rows.len()];
    let mut picked: Vec<usize> = Vec::new();
    let mut pivots = (0.0_f64, f64::INFINITY);
    let mut is_picked = vec![false; candidates.len()];
    for were_states in [false, true] {
        while picked.len() < rows.len() {
            let mut best: Option<(usize, usize)> = None;
            for i in (0..rows.len()).filter(|&i| !is_row_used[i]) {
                for j in (0..candidates.len()).filter(|&j| !is_picked[j]) {
                    let is_of_kind = selector.chains[candidates[j]].was_state(stage) == were_states;
                    let is_better = best.is_none_or(|(p, q)| a[i][j].abs() > a[p][q].abs());
                    if is_of_kind && is_better {
                        best = Some((i, j));
                    }
                }
            }
            let Some((p, q)) = best else { break };
            if a[p][q].abs() <= MIN_INDEPENDENT_PART * size {
                break;
            }
            is_row_used[p] = true;
            is_picked[q] = true;
            picked.push(candidates[q]);
            pivots = (pivots.0.max(a[p][q].abs()), pivots.1.min(a[p][q].abs()));
            let pivot_row = a[p].clone();
            for i in (0..rows.len()).filter(|&i| !is_row_used[i]) {
                let factor = a[i][q] / pivot_row[q];
                a[i].iter_mut()
                    .zip(&pivot_row)
                    .for_each(|(x, y)| *x -= factor * y);
            }
        }
    }
    (picked.len() == rows.len()).then(|| Picked {
        columns: picked,
        ratio: (pivots.0 / pivots.1).max(1.0),
    })
}
