//! The matrix of the differentiated constraints, and which columns of it to solve for.
//!
//! In:  the constraints with their derivatives, and wishes for states.
//! Out: for each unknown how many of its derivatives are computed from constraints.
//!
//! **Invariant:** every minor picked is structurally regular, and regular in numbers at a made-up
//! point as far as that can be checked.

use super::Options;
use super::blocks::sort_blocks;
use super::graph::{Incidence, Marks, NONE};
use super::point::{Definitions, Point};
use super::reselect::{Chain, MIN_INDEPENDENT_PART, Selector};
use super::system::System;
use super::tearing::made_up;
use super::terms::Dependence;
use crate::calculus::gradient;
use crate::dae::Role;
use crate::expr::{ExprId, Function1, Node, SymbolId};

/// The matrix J of the differentiated constraints, by columns.
#[derive(Default)]
pub(crate) struct ConstraintMatrix {
    counts: Vec<u32>,
    pub(crate) chains: Vec<Chain>,
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

/// Which columns are picked first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Order {
    /// What never was a state, then states as wished.
    Wishes,
    /// What has a constant coefficient, even if something that was not a state becomes one: the
    /// rate of a slider in a turning hole instead of the momentum of the mass in x.
    ConstantsFirst,
}

/// A choice from a [`ConstraintMatrix`].
pub(crate) struct Choice {
    /// In how many stages each chain was picked.
    pub(crate) depth: Vec<usize>,
    /// (constraint, level): rows that are not used to compute anything.
    pub(crate) unmatched: Vec<(usize, usize)>,
    /// Constraints in minors whose determinant can vanish.
    pub(crate) dynamic_rows: Vec<usize>,
}

impl ConstraintMatrix {
    pub(crate) fn new(
        system: &mut System,
        dependence: &mut Dependence,
        levels: &[Vec<u32>],
    ) -> ConstraintMatrix {
        let mut table = ConstraintMatrix::default();
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
            let residual = system.residual(level[0]);
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
    pub(crate) fn find_moved(
        &mut self,
        system: &System,
        row_of_highest: &[u32],
        levels: &[Vec<u32>],
    ) {
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

    /// Picks columns in all stages. Projected constraints pick nothing.
    pub(crate) fn choose(
        &self,
        system: &System,
        wishes: &Wishes,
        projected: &[bool],
        order: Order,
    ) -> Choice {
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
            minor.pick(stage, &candidates, projected, order);
            if let Some(better) = self.repick_by_numbers(system, stage, &candidates, &minor) {
                minor = Minor::new(self, stage);
                minor.pick(stage, &better, projected, order);
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
        let free = |s: SymbolId| made_up(&symbols[s.0 as usize].role, s, stage as u64);
        let definitions = Definitions::new(system);
        let mut point = Point::new(system, &definitions, &free);
        let mut basis = Basis::new(rows.len());
        let mut column_at = |k: usize| -> Option<Vec<f64>> {
            let mut column = vec![0.0; rows.len()];
            for entry in &self.columns[k] {
                if let Ok(i) = rows.binary_search(&(entry.row as usize)) {
                    column[i] = point.value(entry.value)?;
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

    pub(crate) fn into_selector(self) -> Selector {
        let mut entries = Vec::new();
        for (k, column) in self.columns.iter().enumerate() {
            entries.extend(column.iter().map(|e| (e.row, k as u32, e.value)));
        }
        Selector::new(self.counts, self.chains, entries)
    }
}

/// The numeric check of a choice costs the cube of the number of constraints; larger systems
/// rely on their structure.
const MAX_NUMERIC_ROWS: usize = 150;

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

/// A determinant that is this small a part of what its rows could span is about to vanish.
const NEARLY_ZERO: f64 = 1e-6;

/// Computes the determinant of a matrix whose rows are scaled to length 1, by elimination with
/// partial pivoting. A rotation gives 1, however large the quaternion that it was made from.
fn determinant(mut a: Vec<Vec<f64>>) -> f64 {
    let n = a.len();
    let mut product = 1.0;
    for row in &mut a {
        let size = norm(row);
        if size == 0.0 {
            return 0.0;
        }
        row.iter_mut().for_each(|x| *x /= size);
    }

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
    table: &'a ConstraintMatrix,
    is_active: Vec<bool>,
    n_free: usize,
    column_of: Vec<u32>,
    row_of: Vec<u32>,
    /// Whether some entry of each row is constant.
    has_constant: Vec<bool>,
    marks: Marks,
}

impl<'a> Minor<'a> {
    fn new(table: &'a ConstraintMatrix, stage: usize) -> Minor<'a> {
        let is_active: Vec<bool> = table.counts.iter().map(|&c| c as usize >= stage).collect();
        let mut has_constant = vec![false; table.counts.len()];
        let entries = table.columns.iter().flatten();
        entries.for_each(|e| has_constant[e.row as usize] |= e.is_constant);
        Minor {
            table,
            has_constant,
            n_free: is_active.iter().filter(|&&a| a).count(),
            is_active,
            column_of: vec![NONE; table.counts.len()],
            row_of: vec![NONE; table.chains.len()],
            marks: Marks::default(),
        }
    }

    /// Picks columns in the given order until every row has one; never for projected rows.
    fn pick(&mut self, stage: usize, candidates: &[usize], projected: &[bool], order: Order) {
        let (were_states, others): (Vec<usize>, Vec<usize>) = candidates
            .iter()
            .partition(|&&k| self.table.chains[k].was_state(stage));
        let is_fixed = |e: &Entry| e.is_constant && !projected[e.row as usize];
        let is_free = |e: &Entry| !projected[e.row as usize];
        for &k in &others {
            self.augment(k, &is_fixed);
        }
        if order == Order::ConstantsFirst {
            for &k in &were_states {
                self.augment(k, &is_fixed);
            }
        }
        for &k in others.iter().chain(&were_states) {
            self.augment(k, &is_free);
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
        let definitions = Definitions::new(system);
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
            if !is_constant && self.can_vanish(system, &definitions, &part) {
                dynamic_rows.extend(part.iter().map(|&r| r as usize));
            }
        }
    }

    /// Tells whether the determinant of a part changes sign or nearly vanishes at made-up points.
    ///
    /// The slope of a monotonic law does not; a direction cosine does.
    fn can_vanish(&self, system: &System, definitions: &Definitions, part: &[u32]) -> bool {
        let n = part.len();
        if n > MAX_NUMERIC_ROWS {
            return true;
        }
        let mut rows = part.to_vec();
        rows.sort_unstable();
        let symbols = &system.dae.symbols;
        let factors = self.factors_of(system, definitions, &rows);
        let mut signs = vec![(false, false); factors.len()];
        let mut determinants: Vec<f64> = Vec::new();
        for point in 0..N_SIGN_POINTS {
            let free = |s: SymbolId| match symbols[s.0 as usize].role {
                Role::Unknown | Role::Derivative { .. } => {
                    SIGN_RANGE * (2.0 * made_up(&Role::Unknown, s, point) - 1.5)
                }
                ref role => made_up(role, s, point),
            };
            let mut point = Point::new(system, definitions, &free);
            let mut a = vec![vec![0.0; n]; n];
            let mut is_finite = true;
            for (j, &r) in rows.iter().enumerate() {
                for entry in &self.table.columns[self.column_of[r as usize] as usize] {
                    let Ok(i) = rows.binary_search(&entry.row) else {
                        continue;
                    };
                    a[i][j] = point.value(entry.value).unwrap_or(f64::NAN);
                    is_finite &= a[i][j].is_finite();
                }
            }
            if is_finite {
                determinants.push(determinant(a));
            }
            for (sign, &factor) in signs.iter_mut().zip(&factors) {
                let value = point.value(factor).unwrap_or(f64::NAN);
                *sign = (sign.0 || value > 0.0, sign.1 || value < 0.0);
            }
        }

        let is_near_zero = |d: &f64| d.abs() <= NEARLY_ZERO;
        let has_both_signs =
            determinants.iter().any(|d| *d > 0.0) && determinants.iter().any(|d| *d < 0.0);
        (determinants.len() as u64) < N_SIGN_POINTS / 2
            || has_both_signs
            || determinants.iter().any(is_near_zero)
            || signs.contains(&(true, true))
    }

    /// The factors of a single entry: the square of a sine vanishes without a change of its sign, the sine changes it.
    fn factors_of(&self, system: &System, definitions: &Definitions, rows: &[u32]) -> Vec<ExprId> {
        let &[row] = rows else {
            return Vec::new();
        };
        // The slope of a cubic spring vanishes, too; where there is nothing else to solve for, it stays.
        if !self.has_constant[row as usize] {
            return Vec::new();
        }
        let column = &self.table.columns[self.column_of[row as usize] as usize];
        let pool = &system.dae.pool;
        let mut open: Vec<ExprId> = column
            .iter()
            .filter(|e| e.row == row)
            .map(|e| e.value)
            .collect();
        let mut factors = Vec::new();
        while let Some(e) = open.pop() {
            match pool.node(e) {
                Node::Neg(a) | Node::Div(a, _) | Node::Power(a, _) => open.push(a),
                Node::Call1(Function1::Abs, a) => open.push(a),
                Node::Mul(a, b) => open.extend([a, b]),
                Node::Symbol(s) => match definitions.of(s) {
                    Some(definition) => open.push(definition),
                    None => factors.push(e),
                },
                Node::Number(_) => {}
                _ => factors.push(e),
            }
        }
        factors
    }
}

/// How much each unknown is wanted as a state: the smaller the more.
pub(crate) struct Wishes {
    pub(crate) rank: Vec<u32>,
}

impl Wishes {
    pub(crate) fn new(system: &System, options: &Options) -> Wishes {
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
