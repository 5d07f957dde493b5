//! State equations that people can read.
//!
//! In:  a [`Reduced`].
//! Out: one line for each state, then systems that are solved together, what happens at
//!      ticks and events, then what they need under "where"; as text, LaTeX or JSON.
//!
//! **Invariant:** every quantity on a right side is a state, a parameter with a value of its
//! own, time, an unknown of a printed system, or has its own line. The whole text has at most
//! [`BUDGET_FACTOR`] times the operations of the equations nothing was put into.
//!
//! A line gets everything put in if it stays short. Otherwise only what is used once or is
//! very short is put in, and the rest keeps its name and its line under "where".

mod group;
mod happenings;
mod wrap;
mod write;

use crate::eliminate::{Elimination, Keep, SystemKind, eliminate, varies};
use crate::expr::{ExprId, SymbolId};
use crate::normal::normal_form;
use crate::print::{Style, Tree};
use crate::reduced::Reduced;
use crate::walk::{
    below, count_written_operations, count_written_with, for_each_argument, substitute,
};
use rustc_hash::{FxHashMap, FxHashSet};

pub use group::Loop;
pub use happenings::{Cause, Effect, Happening};

/// Longest line into which everything is put, in operations: about three printed lines.
pub const LONGEST_LINE: usize = 60;

/// What is this short is put in wherever it is used, in operations.
pub const SHORT: usize = 3;

/// Writing everything out may make the text this many times longer.
pub const BUDGET_FACTOR: usize = 3;

/// Groups of more unknowns are printed as a matrix equation.
const SOLVE_UP_TO: usize = 2;

/// Longer texts are not even tried: rearranging never shortens them to [`LONGEST_LINE`].
const HOPELESS: usize = 400;

/// What the caller may decide.
#[derive(Clone, Copy, Default)]
pub struct Options<'a> {
    /// Names to print; [`crate::dae::Dae::name_of`] with `x'` for derivatives if absent.
    pub name: Option<&'a dyn Fn(SymbolId) -> String>,
    /// Quantities to print besides the states.
    pub outputs: &'a [SymbolId],
    /// Quantities that keep their names, with their formulas under "where": inputs.
    pub named: &'a [SymbolId],
}

/// `symbol = right`, once or for a range of indices.
#[derive(Clone, Debug, PartialEq)]
pub struct Line {
    /// Left side.
    pub symbol: SymbolId,
    /// Right side.
    pub right: Tree,
    /// For which indices, and how names read then.
    pub range: Option<Loop>,
}

/// M z = h.
#[derive(Clone, Debug, PartialEq)]
pub struct MatrixEquation {
    /// z
    pub unknowns: Vec<SymbolId>,
    /// Entries of M that are not zero: (row, column, value); above the diagonal only if symmetric.
    pub matrix: Vec<(u32, u32, Tree)>,
    /// h
    pub right: Vec<Tree>,
    /// M is symmetric.
    pub is_symmetric: bool,
}

/// r(z) = 0.
#[derive(Clone, Debug, PartialEq)]
pub struct ImplicitEquations {
    /// z
    pub unknowns: Vec<SymbolId>,
    /// r
    pub residuals: Vec<Tree>,
}

/// Readable equations.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Presentation {
    /// One for each state that has a formula, in order.
    pub states: Vec<Line>,
    /// Linear groups.
    pub matrices: Vec<MatrixEquation>,
    /// Nonlinear groups.
    pub implicit: Vec<ImplicitEquations>,
    /// Asked for besides the states.
    pub outputs: Vec<Line>,
    /// What happens at ticks and events.
    pub happenings: Vec<Happening>,
    /// What the others use; parameters that follow from others last.
    pub where_lines: Vec<Line>,
}

/// Makes readable equations.
pub fn present(reduced: &Reduced, options: &Options<'_>) -> Presentation {
    let own_name = |s: SymbolId| plain_name(reduced, s);
    let name: &dyn Fn(SymbolId) -> String = match options.name {
        Some(name) => name,
        None => &own_name,
    };
    let is_state = |s: SymbolId| varies(reduced, s);
    let style = Style {
        name,
        is_state: &is_state,
    };
    let mut roots: Vec<SymbolId> = reduced.states.iter().map(|s| s.derivative).collect();
    roots.extend(options.outputs);
    roots.extend(happenings::symbols(reduced));
    let keep = Keep::LoopUnknowns {
        always: options.named,
    };
    let mut elimination = eliminate(reduced, &roots, SOLVE_UP_TO, &FxHashSet::default(), keep);
    let unsolved = groups_without_short_formula(reduced, &mut elimination, &style);
    if !unsolved.is_empty() {
        elimination = eliminate(reduced, &roots, SOLVE_UP_TO, &unsolved, keep);
    }

    let mut named = options.named.to_vec();
    named.extend(quantities_of_rates(reduced, &elimination));
    if named.len() > options.named.len() {
        let keep = Keep::LoopUnknowns { always: &named };
        elimination = eliminate(reduced, &roots, SOLVE_UP_TO, &unsolved, keep);
    }

    let mut presenter = Presenter::new(elimination, style, PutIn::Everything);
    let everything = presenter.present(reduced, options);
    if everything.longest_line() <= COMFORTABLE_LINE || everything.count_operations() > LARGE {
        return everything;
    }

    let mut presenter = Presenter::new(presenter.elimination, style, PutIn::ShortParts);
    let short = presenter.present(reduced, options);
    let is_much_shorter =
        short.count_operations() as f64 <= WORTH_NAMES * everything.count_operations() as f64;
    if is_much_shorter { short } else { everything }
}

/// Lines up to this length are read without help, in operations: the longest state equation
/// of the gyroscope papers has 29.
const COMFORTABLE_LINE: usize = 30;

/// Named parts must save this much of the text to be preferred to lines that stand alone.
const WORTH_NAMES: f64 = 0.7;

/// A longer text is not read as a whole; it is then not made twice to compare.
const LARGE: usize = 5000;

/// What is put into a line first.
#[derive(Clone, Copy, Debug, PartialEq)]
enum PutIn {
    Everything,
    ShortParts,
}

/// Gives the name of a symbol with a prime for a derivative: `cap.q'`.
pub fn plain_name(reduced: &Reduced, s: SymbolId) -> String {
    match reduced.dae.symbol(s).role {
        crate::dae::Role::Derivative { of } => format!("{}'", plain_name(reduced, of)),
        _ => reduced.dae.name_of(s),
    }
}

/// What systems give the rates of: a system for ω' is written in ω, not in p/J.
fn quantities_of_rates(reduced: &Reduced, elimination: &Elimination) -> Vec<SymbolId> {
    let unknowns = elimination.systems.iter().flat_map(|(_, s)| &s.unknowns);
    unknowns
        .filter_map(|&z| match reduced.dae.symbol(z).role {
            crate::dae::Role::Derivative { of } => Some(elimination.original(of)),
            _ => None,
        })
        .filter(|s| elimination.own.contains_key(s))
        .collect()
}

/// Blocks of two unknowns whose formulas would be too long; one unknown is always solved.
fn groups_without_short_formula(
    reduced: &Reduced,
    elimination: &mut Elimination,
    style: &Style<'_>,
) -> FxHashSet<usize> {
    let mut unsolved = FxHashSet::default();
    for (i, block) in reduced.blocks.iter().enumerate() {
        let crate::reduced::Block::Linear { unknowns, .. } = block else {
            continue;
        };
        if unknowns.len() < 2 || unknowns.len() > SOLVE_UP_TO {
            continue;
        }
        for z in unknowns {
            let Some(full) = elimination.full.get(z).copied() else {
                continue;
            };
            let is_short = full.n_operations <= HOPELESS
                && normal_form(&mut elimination.pool, full.value, style).count_operations()
                    <= LONGEST_LINE;
            if !is_short {
                unsolved.insert(i);
            }
        }
    }
    unsolved
}

struct Presenter<'a> {
    elimination: Elimination,
    style: Style<'a>,
    /// With what is used once or short put in.
    partial: FxHashMap<SymbolId, ExprId>,
    /// What is put in everywhere.
    is_inlined: FxHashSet<SymbolId>,
    /// Operations that may still be written.
    budget: usize,
    put_in: PutIn,
    /// Left sides of lines among the states and outputs.
    printed_names: FxHashSet<String>,
}

impl<'a> Presenter<'a> {
    fn new(elimination: Elimination, style: Style<'a>, put_in: PutIn) -> Self {
        let mut presenter = Presenter {
            elimination,
            style,
            partial: FxHashMap::default(),
            is_inlined: FxHashSet::default(),
            budget: 0,
            put_in,
            printed_names: FxHashSet::default(),
        };
        let n_operations: usize = presenter.count_unsubstituted();
        // A model of two or three lines may always be written out.
        presenter.budget = (BUDGET_FACTOR * n_operations).max(2 * LONGEST_LINE);
        presenter.put_in_short_ones();
        presenter
    }

    /// The formulas of all quantities and systems, with nothing put in.
    fn all_formulas(&self) -> impl Iterator<Item = ExprId> {
        let Elimination {
            order,
            own,
            systems,
            ..
        } = &self.elimination;
        let of_systems = systems.iter().flat_map(|(_, s)| s.expressions());
        order.iter().map(|s| own[s]).chain(of_systems)
    }

    fn count_unsubstituted(&self) -> usize {
        let pool = &self.elimination.pool;
        let formulas = self.all_formulas();
        formulas.map(|e| count_written_operations(pool, e)).sum()
    }

    /// Decides what is put in when not everything is.
    fn put_in_short_ones(&mut self) {
        let uses = self.count_uses();
        let Elimination {
            pool,
            order,
            own,
            kept,
            always,
            ..
        } = &mut self.elimination;
        let mut n_operations: FxHashMap<SymbolId, usize> = FxHashMap::default();
        for &symbol in order.iter() {
            let e = own[&symbol];
            let n = count_written_with(pool, e, &|s| n_operations.get(&s).copied().unwrap_or(0));
            let (inlined, partial) = (&self.is_inlined, &self.partial);
            let value = substitute(pool, e, &|s| inlined.contains(&s).then(|| partial[&s]));
            self.partial.insert(symbol, value);
            let is_used_once = uses.get(&symbol).copied().unwrap_or(0) <= 1;
            let is_kept = kept.contains(&symbol);
            if always.contains(&symbol) {
                continue;
            }
            if n <= SHORT || (is_used_once && n <= LONGEST_LINE && !is_kept) {
                self.is_inlined.insert(symbol);
                n_operations.insert(symbol, n);
            }
        }
    }

    /// How often each quantity is written in the formulas nothing was put into.
    fn count_uses(&self) -> FxHashMap<SymbolId, usize> {
        let pool = &self.elimination.pool;
        let mut uses: FxHashMap<SymbolId, usize> = FxHashMap::default();
        for e in self.all_formulas() {
            if let Some(s) = pool.as_symbol(e) {
                *uses.entry(s).or_insert(0) += 1;
            }
            for id in below(pool, &[e]) {
                for_each_argument(pool, id, |a| {
                    if let Some(s) = pool.as_symbol(a) {
                        *uses.entry(s).or_insert(0) += 1;
                    }
                });
            }
        }
        uses
    }

    fn present(&mut self, reduced: &Reduced, options: &Options<'_>) -> Presentation {
        let mut needed: Vec<ExprId> = Vec::new();
        let in_system: FxHashSet<SymbolId> = self
            .elimination
            .systems
            .iter()
            .flat_map(|(_, system)| system.unknowns.iter().copied())
            .collect();
        let states: Vec<SymbolId> = reduced.states.iter().map(|s| s.derivative).collect();
        let states = self.formulas(&states, &in_system, &mut needed);
        let outputs = self.formulas(options.outputs, &in_system, &mut needed);
        let (matrices, implicit) = self.systems(&mut needed);
        let happenings = self.happenings(reduced, &mut needed);
        let mut where_lines = self.where_formulas(&needed);
        needed.extend(where_lines.iter().map(|line| line.1));
        where_lines.extend(self.computed_parameters(reduced, &needed));
        Presentation {
            happenings,
            states: group::lines(&mut self.elimination.pool, &self.style, &states),
            matrices,
            implicit,
            outputs: group::lines(&mut self.elimination.pool, &self.style, &outputs),
            where_lines: group::lines(&mut self.elimination.pool, &self.style, &where_lines),
        }
    }

    fn formulas(
        &mut self,
        symbols: &[SymbolId],
        in_system: &FxHashSet<SymbolId>,
        needed: &mut Vec<ExprId>,
    ) -> Vec<(SymbolId, ExprId)> {
        let mut formulas = Vec::new();
        for &s in symbols.iter().filter(|s| !in_system.contains(s)) {
            let symbol = self.elimination.pool.symbol(s);
            let own = self.elimination.own.get(&s).copied();
            let resolved = self.elimination.resolved(symbol);
            let own = own.unwrap_or(resolved);
            let value = self.choose(own);
            // A copy that is printed under the name asked for says nothing, `x' = x'`; but what
            // is copied may have a formula.
            let same = self
                .elimination
                .pool
                .as_symbol(value)
                .filter(|&v| (self.style.name)(v) == (self.style.name)(s));
            let value = match same.map(|v| (v, self.elimination.own.get(&v).copied())) {
                None => value,
                Some((v, Some(own))) if v != s => self.choose(own),
                Some(_) => continue,
            };
            needed.push(value);
            self.printed_names.insert((self.style.name)(s));
            formulas.push((s, value));
        }
        formulas
    }

    /// The formula with everything put in if that stays short, else with the short parts.
    fn choose(&mut self, own: ExprId) -> ExprId {
        if self.put_in == PutIn::ShortParts {
            return self.with_short_parts(own);
        }
        let full_operations = {
            let full = &self.elimination.full;
            let pool = &self.elimination.pool;
            count_written_with(pool, own, &|s| full.get(&s).map_or(0, |f| f.n_operations))
        };
        if full_operations <= HOPELESS && full_operations <= self.budget.max(LONGEST_LINE) {
            let full = &self.elimination.full;
            let value = substitute(&mut self.elimination.pool, own, &|s| {
                full.get(&s).map(|f| f.value)
            });
            let n = if full_operations <= LONGEST_LINE {
                full_operations
            } else {
                normal_form(&mut self.elimination.pool, value, &self.style).count_operations()
            };
            if n <= LONGEST_LINE && n <= self.budget {
                self.budget -= n;
                return value;
            }
        }
        self.with_short_parts(own)
    }

    /// As [`Presenter::choose`], but what a residual would repeat keeps its name.
    fn choose_if_not_repeated(&mut self, own: ExprId) -> ExprId {
        let (full, short) = (self.choose(own), self.with_short_parts(own));
        let length = |presenter: &mut Self, e| presenter.tree(e).count_operations() as f64;
        if length(self, short) <= WORTH_NAMES * length(self, full) {
            short
        } else {
            full
        }
    }

    fn with_short_parts(&mut self, own: ExprId) -> ExprId {
        let (inlined, partial) = (&self.is_inlined, &self.partial);
        substitute(&mut self.elimination.pool, own, &|s| {
            inlined.contains(&s).then(|| partial[&s])
        })
    }

    fn tree(&mut self, e: ExprId) -> Tree {
        normal_form(&mut self.elimination.pool, e, &self.style).for_reading(self.style.name)
    }

    fn systems(
        &mut self,
        needed: &mut Vec<ExprId>,
    ) -> (Vec<MatrixEquation>, Vec<ImplicitEquations>) {
        let (mut matrices, mut implicit) = (Vec::new(), Vec::new());
        for (_, system) in self.elimination.systems.clone() {
            let mut print = |presenter: &mut Self, e: ExprId| {
                let value = presenter.choose(e);
                needed.push(value);
                presenter.tree(value)
            };
            match system.kind {
                SystemKind::Linear {
                    matrix,
                    right,
                    is_symmetric,
                } => {
                    let mut entries: Vec<(u32, u32, ExprId)> = matrix
                        .into_iter()
                        .filter(|(row, column, _)| !is_symmetric || row <= column)
                        .collect();
                    entries.sort_unstable();
                    let matrix = entries
                        .into_iter()
                        .map(|(r, c, e)| (r, c, print(self, e)))
                        .collect();
                    let right = right.into_iter().map(|e| print(self, e)).collect();
                    matrices.push(MatrixEquation {
                        unknowns: system.unknowns,
                        matrix,
                        right,
                        is_symmetric,
                    });
                }
                SystemKind::Nonlinear { residuals } => {
                    let residuals = residuals
                        .into_iter()
                        .map(|e| {
                            let value = self.choose_if_not_repeated(e);
                            needed.push(value);
                            self.tree(value)
                        })
                        .collect();
                    implicit.push(ImplicitEquations {
                        unknowns: system.unknowns,
                        residuals,
                    });
                }
            }
        }
        (matrices, implicit)
    }

    /// Formulas of everything that is read and not put in, in the order of computation.
    fn where_formulas(&mut self, needed: &[ExprId]) -> Vec<(SymbolId, ExprId)> {
        let mut is_read: FxHashSet<SymbolId> = FxHashSet::default();
        self.add_symbols(needed, &mut is_read);
        let mut formulas = Vec::new();
        for symbol in self.elimination.order.clone().into_iter().rev() {
            let is_printed = self.printed_names.contains(&(self.style.name)(symbol));
            if is_read.contains(&symbol) && !is_printed {
                let value = self.choose(self.elimination.own[&symbol]);
                self.add_symbols(&[value], &mut is_read);
                formulas.push((symbol, value));
            }
        }
        formulas.reverse();
        formulas
    }

    /// Formulas of parameters that are computed from others, those they read first.
    fn computed_parameters(
        &mut self,
        reduced: &Reduced,
        needed: &[ExprId],
    ) -> Vec<(SymbolId, ExprId)> {
        let mut is_read: FxHashSet<SymbolId> = FxHashSet::default();
        self.add_symbols(needed, &mut is_read);
        let mut open: Vec<SymbolId> = is_read.into_iter().collect();
        let mut bindings: FxHashMap<SymbolId, ExprId> = FxHashMap::default();
        while let Some(s) = open.pop() {
            if let crate::dae::Role::Parameter {
                binding: Some(e), ..
            } = reduced.dae.symbol(s).role
                && !bindings.contains_key(&s)
            {
                let e = self.elimination.resolved(e);
                bindings.insert(s, e);
                open.extend(crate::walk::symbols_of(&self.elimination.pool, e));
            }
        }
        // A parameter is declared after those it is computed from.
        let mut formulas: Vec<(SymbolId, ExprId)> = bindings.into_iter().collect();
        formulas.sort_unstable();
        formulas
    }

    fn add_symbols(&self, expressions: &[ExprId], symbols: &mut FxHashSet<SymbolId>) {
        let pool = &self.elimination.pool;
        symbols.extend(
            below(pool, expressions)
                .into_iter()
                .filter_map(|id| pool.as_symbol(id)),
        );
    }
}

#[cfg(test)]
mod tests;
