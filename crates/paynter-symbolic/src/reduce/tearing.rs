//! Solves the groups of equations: as assignments, as linear systems, or by iteration.
//!
//! In:  groups from `blocks`, each with its unknowns.
//! Out: [`Block`]s.
//!
//! **Invariant:** an assignment divides by nothing that can vanish during a run: only by
//! numbers and by parameters that are not zero. What would need another divisor is torn and
//! left to a solver that pivots.
//!
//! Where locks are kept by unknown reactions, these are torn and nothing else: given them, every body moves by itself,
//! and what is left is A λ = b with A as sparse as the joints (Baraff 1996). Elsewhere torn first are derivatives of states, then what causality proposes, then the unknown whose
//! knowledge lets most equations follow (Carpanzano 2000; Cellier & Kofman 2006, §7.6).

use super::affine::{is_doubtful, linear_block, nonlinear_block};
use super::combine::N_POINTS;
use super::error::{EquationRef, Part};
use super::graph::NONE;
use super::system::System;
use super::terms::{Dependence, sum, terms_of};
use crate::dae::{Origin, Role};
use crate::evaluate::Evaluator;
use crate::expr::{ExprId, SymbolId};
use crate::linear::{is_affine, solve_for};
use crate::reduced::Block;
use crate::walk::Walker;
use rustc_hash::FxHashMap;

/// Above this many equations a group is torn only where physics says so and left whole
/// otherwise: searching costs the square of the size, sparse elimination does not.
const MAX_TORN_GROUP: usize = 200;

/// Above this many torn unknowns the dense torn system costs more than the sparse whole one.
const MAX_TORN_UNKNOWNS: usize = 40;

/// Rows of more unknowns than this are not tried in every direction in a large group.
const MAX_TRIED_DIRECTIONS: usize = 4;

/// Solves one group after the other.
pub(crate) struct Solver {
    pub(crate) dependence: Dependence,
    /// Derivatives of states.
    pub(crate) is_state_derivative: Vec<bool>,
    /// Place in the list of unknowns that causality proposes to tear.
    pub(crate) tearing_rank: Vec<u32>,
    /// Reactions of locks that are unknowns, by the equation that demands the flow of the lock.
    reactions: FxHashMap<usize, SymbolId>,
    is_reaction: Vec<bool>,
    pub(crate) walker: Walker,
    evaluator: Evaluator,
    /// The first group found that never has a unique solution.
    pub(crate) singular: Option<Part>,
    /// Some group seems to have no unique solution, but this is not sure.
    pub(crate) is_doubtful: bool,
    /// Values of parameters; NaN for everything else.
    parameters: Vec<f64>,
}

/// An equation written as the value of one of its unknowns.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Explicit {
    pub(crate) symbol: SymbolId,
    pub(crate) value: ExprId,
}

/// Which equations may be turned around.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Inversion {
    /// Only those of first degree in the unknown. Inside an iteration an inverse such as a
    /// logarithm may have no value at a trial point although the solution is harmless.
    Affine,
    /// Also one-to-one functions: without a value there is no solution at all.
    Full,
}

/// For which of its unknowns a row may be solved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Directions {
    /// The one that causality gives, else any.
    OfCausality,
    /// As before, but nothing else for long rows.
    OfCausalityIfLong,
}

/// A group after tearing.
#[derive(Clone, Debug, Default)]
pub(crate) struct Torn {
    /// Unknowns that the solver finds.
    pub(crate) unknowns: Vec<SymbolId>,
    /// What follows from them, in order.
    pub(crate) inner: Vec<Explicit>,
    /// Rows that are left over; as many as `unknowns`.
    pub(crate) residuals: Vec<u32>,
    /// All rows of the group.
    pub(crate) rows: Vec<u32>,
    /// All torn unknowns stand for derivatives of states: dependent storages seen from the
    /// independent ones; or all are reactions of locks.
    pub(crate) is_congruence: bool,
    /// What is left is as sparse as the group itself.
    pub(crate) is_sparse: bool,
}

impl Solver {
    pub(crate) fn new(
        system: &System,
        dependence: Dependence,
        reactions: &FxHashMap<usize, SymbolId>,
    ) -> Solver {
        let n = system.dae.symbols.len();
        let reactions: FxHashMap<usize, SymbolId> = reactions
            .iter()
            .map(|(&row, &reaction)| (row, system.kept(reaction)))
            .collect();
        let mut is_reaction = vec![false; n];
        reactions
            .values()
            .for_each(|s| is_reaction[s.0 as usize] = true);
        let mut tearing_rank = vec![u32::MAX; n];
        for (rank, s) in system.dae.tearing.iter().enumerate().rev() {
            tearing_rank[system.kept(*s).0 as usize] = rank as u32;
        }
        let parameters = system
            .dae
            .symbols
            .iter()
            .map(|s| match s.role {
                Role::Parameter { value, .. } => value,
                _ => f64::NAN,
            })
            .collect();

        Solver {
            dependence,
            is_state_derivative: vec![false; n],
            tearing_rank,
            reactions,
            is_reaction,
            walker: Walker::new(),
            evaluator: Evaluator::new(),
            singular: None,
            is_doubtful: false,
            parameters,
        }
    }

    /// Solves a group of rows for the unknowns paired with them.
    pub(crate) fn solve(&mut self, system: &mut System, rows: &[u32], column_of: &[u32]) -> Block {
        let unknowns: Vec<SymbolId> = rows
            .iter()
            .map(|&r| SymbolId(column_of[r as usize]))
            .collect();
        if let [row] = rows[..]
            && let Some(Explicit { symbol, value }) =
                self.explicit(system, row, unknowns[0], Inversion::Full)
        {
            return Block::Assign { symbol, value };
        }
        let whole = || Torn {
            unknowns: unknowns.clone(),
            inner: Vec::new(),
            residuals: rows.to_vec(),
            rows: rows.to_vec(),
            ..Torn::default()
        };

        if rows.len() == 1 {
            return self.finish(system, whole());
        }
        let Some(torn) = self.tear(system, rows, &unknowns) else {
            return self.finish(system, whole());
        };
        if torn.unknowns.len() > MAX_TORN_UNKNOWNS
            && !torn.is_sparse
            && let Some(block) = linear_block(system, self, &whole())
        {
            return block;
        }
        self.finish(system, torn)
    }

    fn finish(&mut self, system: &mut System, torn: Torn) -> Block {
        match linear_block(system, self, &torn) {
            Some(block) => block,
            None => {
                let block = nonlinear_block(system, &mut self.walker, &torn);
                self.is_doubtful |= is_doubtful(system, self, &block);
                block
            }
        }
    }

    /// Writes a row as the value of an unknown, if that needs no doubtful division.
    pub(crate) fn explicit(
        &mut self,
        system: &mut System,
        row: u32,
        symbol: SymbolId,
        inversion: Inversion,
    ) -> Option<Explicit> {
        let equation = system.rows[row as usize].equation;
        let pool = &mut system.dae.pool;
        // Most equations give their unknown as a plain term; the written form is kept then.
        if pool.as_symbol(equation.left) == Some(symbol)
            && !self.reads(system, equation.right, symbol)
        {
            return Some(Explicit {
                symbol,
                value: equation.right,
            });
        }

        let mut terms = Vec::new();
        terms_of(&system.dae.pool, &equation, &mut terms);
        let mut plain = None;
        let mut n_reading = 0;
        for (i, &(e, _)) in terms.iter().enumerate() {
            if system.dae.pool.as_symbol(e) == Some(symbol) {
                plain = Some(i);
                n_reading += 1;
            } else if self.reads(system, e, symbol) {
                n_reading += 1;
            }
        }

        let pool = &mut system.dae.pool;
        if let Some(i) = plain
            && n_reading == 1
        {
            let is_subtracted = terms.remove(i).1;
            let others = terms
                .into_iter()
                .map(|(e, negated)| (e, negated ^ !is_subtracted));
            return Some(Explicit {
                symbol,
                value: sum_nicely(pool, others),
            });
        }

        if inversion == Inversion::Affine {
            let residual = pool.sub(equation.left, equation.right);
            if !is_affine(pool, residual, &[symbol]) {
                return None;
            }
        }

        let solution = solve_for(pool, equation.left, equation.right, symbol)?;
        let is_safe = solution
            .divisor
            .is_none_or(|d| self.cannot_vanish(system, d));
        is_safe.then_some(Explicit {
            symbol,
            value: solution.value,
        })
    }

    fn reads(&mut self, system: &System, e: ExprId, symbol: SymbolId) -> bool {
        let mut found = false;
        let pool = &system.dae.pool;
        self.walker.restart();
        self.walker
            .visit(pool, e, |id| found |= pool.as_symbol(id) == Some(symbol));
        found
    }

    /// Tells whether an expression is a number or a parameter expression that is not zero.
    pub(crate) fn cannot_vanish(&mut self, system: &System, e: ExprId) -> bool {
        self.dependence
            .update(&system.dae.pool, &system.dae.symbols);
        if !self.dependence.is_constant(e) {
            return false;
        }
        self.evaluator.restart();
        let parameters = &self.parameters;
        let value = self.evaluator.evaluate(&system.dae.pool, e, &|s| {
            parameters.get(s.0 as usize).copied().unwrap_or(f64::NAN)
        });
        value.is_ok_and(|v| v.is_finite() && v != 0.0)
    }

    /// Notes a group that has no unique solution at any point.
    pub(crate) fn note_singular(&mut self, system: &System, torn: &Torn) {
        let mut equations: Vec<EquationRef> =
            torn.rows.iter().map(|&r| system.reference(r)).collect();
        equations.sort_unstable();
        equations.dedup();
        let inner = torn.inner.iter().map(|e| e.symbol);
        let mut unknowns: Vec<SymbolId> = torn.unknowns.iter().copied().chain(inner).collect();
        unknowns.sort_unstable();
        self.singular.get_or_insert(Part {
            equations,
            unknowns,
        });
    }

    /// Computes a matrix at a made-up point; `None` if some entry has no value there.
    pub(crate) fn dense_at(
        &mut self,
        system: &System,
        n: usize,
        matrix: &[(u32, u32, ExprId)],
        point: u64,
    ) -> Option<Vec<f64>> {
        let mut dense = vec![0.0; n * n];
        for (i, j, value) in self.entries_at(system, matrix, point)? {
            dense[i as usize * n + j as usize] += value;
        }
        Some(dense)
    }

    /// Computes the entries of a matrix at a made-up point, in the order given; `None` if some entry has no value there.
    pub(crate) fn entries_at(
        &mut self,
        system: &System,
        matrix: &[(u32, u32, ExprId)],
        point: u64,
    ) -> Option<Vec<(u32, u32, f64)>> {
        self.evaluator.restart();
        let symbols = &system.dae.symbols;
        let value = |&(i, j, e): &(u32, u32, ExprId)| {
            let value = self.evaluator.evaluate(&system.dae.pool, e, &|s| {
                made_up(&symbols[s.0 as usize].role, s, point)
            });
            Some((i, j, value.ok().filter(|v| v.is_finite())?))
        };
        matrix.iter().map(value).collect()
    }

    /// Computes entries at several made-up points; `None` if one is zero somewhere, or has no value.
    pub(crate) fn values_at_points(
        &mut self,
        system: &System,
        entries: &[(u32, u32, ExprId)],
    ) -> Option<Vec<[f64; N_POINTS]>> {
        let symbols = &system.dae.symbols;
        let mut values = vec![[0.0; N_POINTS]; entries.len()];
        for point in 0..N_POINTS {
            self.evaluator.restart();
            for (&(_, _, e), at) in entries.iter().zip(&mut values) {
                let value = self.evaluator.evaluate(&system.dae.pool, e, &|s| {
                    made_up(&symbols[s.0 as usize].role, s, point as u64)
                });
                at[point] = value.ok().filter(|v| v.is_finite() && *v != 0.0)?;
            }
        }
        Some(values)
    }

    /// Chooses torn unknowns and the order in which the others follow; `None` if a large group
    /// does not fall apart at the few unknowns that physics proposes.
    fn tear(&mut self, system: &mut System, rows: &[u32], unknowns: &[SymbolId]) -> Option<Torn> {
        if let Some(torn) = self.tear_at_reactions(system, rows, unknowns) {
            return Some(torn);
        }
        let is_large = rows.len() > MAX_TORN_GROUP;
        let mut group = Group::new(system, rows, unknowns);
        let first: Vec<usize> = (0..unknowns.len())
            .filter(|&v| self.is_state_derivative[unknowns[v].0 as usize])
            .collect();
        let mut proposed: Vec<usize> = (0..unknowns.len())
            .filter(|&v| self.tearing_rank[unknowns[v].0 as usize] != u32::MAX)
            .collect();
        if is_large && first.len() > MAX_TORN_UNKNOWNS {
            return None;
        }
        let directions = if is_large {
            Directions::OfCausalityIfLong
        } else {
            Directions::OfCausality
        };
        group.find_directions(self, system, directions);
        group.find_flow_rates(self, system, &first);
        let mut torn = Torn {
            rows: rows.to_vec(),
            ..Torn::default()
        };
        for v in first {
            group.tear(group.torn_instead[v], &mut torn);
        }
        group.follow(&mut torn);
        torn.is_congruence = group.n_open == 0 && !torn.unknowns.is_empty();
        proposed.sort_by_key(|&v| self.tearing_rank[unknowns[v].0 as usize]);
        for v in proposed.into_iter().take(MAX_TORN_UNKNOWNS) {
            group.tear(v, &mut torn);
            group.follow(&mut torn);
        }

        while group.n_open > 0 {
            if is_large {
                return None;
            }
            let v = group.choose();
            group.tear(v, &mut torn);
            group.follow(&mut torn);
        }

        torn.residuals = group.residuals(&torn);
        Some(torn)
    }

    /// Tears at the reactions of locks; `None` if there are none, or if they do not give everything else.
    fn tear_at_reactions(
        &mut self,
        system: &mut System,
        rows: &[u32],
        unknowns: &[SymbolId],
    ) -> Option<Torn> {
        let is_reaction = |v: &usize| self.is_reaction[unknowns[*v].0 as usize];
        let reactions: Vec<usize> = (0..unknowns.len()).filter(is_reaction).collect();
        if reactions.is_empty() {
            return None;
        }
        let mut group = Group::new(system, rows, unknowns);
        let mut torn = Torn {
            rows: rows.to_vec(),
            is_congruence: true,
            is_sparse: true,
            ..Torn::default()
        };

        group.look_at_short_rows();
        for v in reactions {
            group.tear(v, &mut torn);
        }
        group.follow_anywhere(self, system, &mut torn);
        if group.n_open > 0 {
            return None;
        }

        // Each lock has its own row at the place of its reaction: A is symmetric then.
        let place: FxHashMap<SymbolId, usize> = (torn.unknowns.iter().enumerate())
            .map(|(i, &s)| (s, i))
            .collect();
        let mut residuals = vec![NONE; torn.unknowns.len()];
        for at in (0..rows.len()).filter(|&at| !group.is_used[at]) {
            let source = system.rows[rows[at] as usize].source;
            let i = *place.get(self.reactions.get(&source)?)?;
            if residuals[i] != NONE {
                return None;
            }
            residuals[i] = rows[at];
        }

        torn.residuals = residuals;
        Some(torn)
    }
}

/// Adds terms up beginning with a positive one, so that it reads `a − b`, not `−b + a`.
fn sum_nicely(
    pool: &mut crate::expr::Pool,
    terms: impl IntoIterator<Item = (ExprId, bool)>,
) -> ExprId {
    let (plus, minus): (Vec<_>, Vec<_>) = terms.into_iter().partition(|t| !t.1);
    sum(pool, plus.into_iter().chain(minus))
}

/// A group of rows under work; rows and unknowns by their place in the group.
struct Group {
    rows: Vec<u32>,
    unknowns: Vec<SymbolId>,
    /// Unknowns of each row.
    reads: Vec<Vec<usize>>,
    /// Rows of each unknown.
    users: Vec<Vec<usize>>,
    /// For each row the unknowns it may be solved for, with the value.
    directions: Vec<Vec<(usize, Explicit)>>,
    /// The unknown that causality computes from a row.
    hint: Vec<Option<usize>>,
    /// Itself, or the unknown that is torn in the place of a state derivative.
    torn_instead: Vec<usize>,
    is_known: Vec<bool>,
    is_used: Vec<bool>,
    n_unknown: Vec<usize>,
    /// Unknowns neither torn nor computed.
    n_open: usize,
    queue: Vec<usize>,
}

impl Group {
    fn new(system: &System, rows: &[u32], unknowns: &[SymbolId]) -> Group {
        let place: FxHashMap<u32, usize> =
            unknowns.iter().enumerate().map(|(i, s)| (s.0, i)).collect();
        let reads: Vec<Vec<usize>> = rows
            .iter()
            .map(|&r| {
                system
                    .incidence
                    .row(r)
                    .iter()
                    .filter_map(|c| place.get(c).copied())
                    .collect()
            })
            .collect();

        let mut users = vec![Vec::new(); unknowns.len()];
        for (row, reads) in reads.iter().enumerate() {
            reads.iter().for_each(|&v| users[v].push(row));
        }
        let hint = rows
            .iter()
            .map(|&r| {
                system.rows[r as usize]
                    .equation
                    .solves
                    .and_then(|s| place.get(&s.0).copied())
            })
            .collect();

        Group {
            rows: rows.to_vec(),
            unknowns: unknowns.to_vec(),
            n_unknown: reads.iter().map(Vec::len).collect(),
            reads,
            users,
            directions: vec![Vec::new(); rows.len()],
            hint,
            torn_instead: (0..unknowns.len()).collect(),
            is_known: vec![false; unknowns.len()],
            is_used: vec![false; rows.len()],
            n_open: unknowns.len(),
            queue: Vec::new(),
        }
    }

    /// Finds for what each row may be solved: where causality was complete in its direction
    /// only, else for every unknown that can be isolated without a doubtful division.
    ///
    /// In a large group long rows have only the direction of causality: trying all would cost
    /// the square of their length.
    fn find_directions(&mut self, solver: &mut Solver, system: &mut System, which: Directions) {
        self.look_at_short_rows();
        for row in 0..self.rows.len() {
            let mut found = Vec::new();
            if let Some(v) = self.hint[row]
                && let Some(explicit) =
                    solver.explicit(system, self.rows[row], self.unknowns[v], Inversion::Affine)
            {
                self.directions[row].push((v, explicit));
                continue;
            }
            if which == Directions::OfCausalityIfLong
                && self.reads[row].len() > MAX_TRIED_DIRECTIONS
            {
                continue;
            }
            for &v in &self.reads[row] {
                if let Some(explicit) =
                    solver.explicit(system, self.rows[row], self.unknowns[v], Inversion::Affine)
                {
                    found.push((v, explicit));
                }
            }
            self.directions[row] = found;
        }
    }

    /// Puts the rows that can be solved at once in the queue.
    fn look_at_short_rows(&mut self) {
        self.queue = (0..self.rows.len())
            .filter(|&row| self.n_unknown[row] == 1)
            .collect();
    }

    fn tear(&mut self, v: usize, torn: &mut Torn) {
        if !self.is_known[v] {
            torn.unknowns.push(self.unknowns[v]);
            self.know(v);
        }
    }

    fn know(&mut self, v: usize) {
        self.is_known[v] = true;
        self.n_open -= 1;
        for &row in &self.users[v] {
            self.n_unknown[row] -= 1;
            if self.n_unknown[row] == 1 {
                self.queue.push(row);
            }
        }
    }

    /// Computes all that follows from what is known.
    fn follow(&mut self, torn: &mut Torn) {
        while let Some(row) = self.queue.pop() {
            if self.is_used[row] || self.n_unknown[row] != 1 {
                continue;
            }
            let direction = self.directions[row]
                .iter()
                .find(|(v, _)| !self.is_known[*v]);
            if let Some(&(v, explicit)) = direction {
                self.is_used[row] = true;
                torn.inner.push(explicit);
                self.know(v);
            }
        }
    }

    /// As [`Group::follow`], whatever causality says: where reactions are unknowns, it does not hold. A row is written as
    /// the value of the one unknown that it is found to give, and of no other.
    fn follow_anywhere(&mut self, solver: &mut Solver, system: &mut System, torn: &mut Torn) {
        while let Some(row) = self.queue.pop() {
            if self.is_used[row] || self.n_unknown[row] != 1 {
                continue;
            }
            let mut open = self.reads[row].iter().filter(|&&v| !self.is_known[v]);
            let Some(&v) = open.next() else { continue };
            let symbol = self.unknowns[v];
            if let Some(explicit) =
                solver.explicit(system, self.rows[row], symbol, Inversion::Affine)
            {
                self.is_used[row] = true;
                torn.inner.push(explicit);
                self.know(v);
            }
        }
    }

    /// Chooses the next unknown to tear.
    fn choose(&self) -> usize {
        let mut best = None;
        for v in 0..self.unknowns.len() {
            if self.is_known[v] {
                continue;
            }
            let symbol = self.unknowns[v];
            let n_following = self.users[v]
                .iter()
                .filter(|&&row| {
                    self.n_unknown[row] == 2
                        && self.directions[row]
                            .iter()
                            .any(|(w, _)| *w != v && !self.is_known[*w])
                })
                .count();
            // What no row can be solved for must be torn at some time.
            let can_follow = self.users[v].iter().any(|&row| {
                !self.is_used[row] && self.directions[row].iter().any(|(w, _)| *w == v)
            });
            let rank = (
                !can_follow,
                n_following,
                self.users[v].len(),
                std::cmp::Reverse(symbol),
            );
            if best.as_ref().is_none_or(|(_, b)| rank > *b) {
                best = Some((v, rank));
            }
        }
        best.expect("an unknown is open").0
    }

    /// Tears at flow rates ḟ instead of state derivatives ṗ where the law is ṗ = I ḟ, with one
    /// constant I or a field of them, and makes the law compute ṗ.
    ///
    /// With ḟ torn the system matrix is I + Tᵀ I T, symmetric and positive definite; with ṗ
    /// torn its columns would be divided by I.
    fn find_flow_rates(&mut self, solver: &mut Solver, system: &mut System, first: &[usize]) {
        // The ports of a field come in the same order on both sides of its law.
        let key = |s: SymbolId| system.integral_of(s);
        let mut laws: Vec<(usize, usize, Vec<usize>)> = Vec::new();
        for &v in first {
            let is_law = |row: &usize| {
                let mut rates = self.reads[*row].iter().filter(|&&f| f != v);
                self.hint[*row] != Some(v)
                    && self.reads[*row].len() > 1
                    && rates.all(|&f| self.is_flow_rate(solver, system, f))
            };
            if let Some(row) = self.users[v].iter().copied().find(is_law) {
                let mut rates: Vec<usize> = self.reads[row]
                    .iter()
                    .copied()
                    .filter(|&f| f != v)
                    .collect();
                rates.sort_by_key(|&f| key(self.unknowns[f]));
                laws.push((v, row, rates));
            }
        }

        laws.sort_by_key(|(v, _, rates)| (rates.clone(), key(self.unknowns[*v])));
        for field in laws.chunk_by(|a, b| a.2 == b.2) {
            let values: Option<Vec<Explicit>> = field
                .iter()
                .map(|(v, row, _)| {
                    let (row, v) = (self.rows[*row], self.unknowns[*v]);
                    solver.explicit(system, row, v, Inversion::Affine)
                })
                .collect();
            let Some(values) = values.filter(|_| field.len() == field[0].2.len()) else {
                continue;
            };
            for (place, ((v, row, rates), value)) in field.iter().zip(values).enumerate() {
                self.torn_instead[*v] = rates[place];
                self.directions[*row] = vec![(*v, value)];
                // The row that causality solves for ṗ, the balance of efforts, is the residual.
                for &balance in &self.users[*v] {
                    if self.hint[balance] == Some(*v) {
                        self.directions[balance].clear();
                    }
                }
            }
        }
    }

    /// Tells whether an unknown is the derivative of something that is not a state.
    fn is_flow_rate(&self, solver: &Solver, system: &System, f: usize) -> bool {
        let symbol = self.unknowns[f];
        system.integral_of(symbol).is_some() && !solver.is_state_derivative[symbol.0 as usize]
    }

    /// Lists the unused rows; those that causality pairs with a torn unknown at its place.
    fn residuals(&self, torn: &Torn) -> Vec<u32> {
        let mut places = vec![NONE; torn.unknowns.len()];
        let mut left = Vec::new();
        for row in (0..self.rows.len()).filter(|&row| !self.is_used[row]) {
            let wanted = self.hint[row]
                .map(|v| self.unknowns[self.torn_instead[v]])
                .and_then(|s| torn.unknowns.iter().position(|&t| t == s))
                .filter(|&i| places[i] == NONE);
            match wanted {
                Some(i) => places[i] = self.rows[row],
                None => left.push(self.rows[row]),
            }
        }
        let mut left = left.into_iter();
        places
            .into_iter()
            .map(|r| {
                if r == NONE {
                    left.next().expect("a row for each torn unknown")
                } else {
                    r
                }
            })
            .collect()
    }
}

/// Gives parameters their values and everything else a number between 0.25 and 1.25 that
/// depends on nothing but the symbol and the point.
pub(crate) fn made_up(role: &Role, s: SymbolId, point: u64) -> f64 {
    match *role {
        Role::Parameter { value, .. } => value,
        Role::Discrete { start } => start,
        _ => {
            // One round of splitmix64 (Steele, Lea & Flood 2014).
            let mut x = (u64::from(s.0) + (point << 32)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
            x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            0.25 + ((x ^ (x >> 31)) >> 11) as f64 / (1u64 << 53) as f64
        }
    }
}

/// Lists the origins of rows, each once.
pub(crate) fn origins_of(system: &System, rows: &[u32]) -> Vec<Origin> {
    let mut origins: Vec<Origin> = rows
        .iter()
        .map(|&r| system.rows[r as usize].equation.origin)
        .collect();
    origins.sort_unstable();
    origins.dedup();
    origins
}
