//! A system by its energies: what a `lagrangian` block says, as expressions over one pool.
//!
//! In:  made by `read`.
//! Out: read by every other file of this folder, which add symbols and rates of their own.
//!
//! **Invariant:** the first symbol is time; a symbol's role tells where it may stand.

use super::points::Points;
use crate::units::Dimension;
use paynter_symbolic::simplify::simplify;
use paynter_symbolic::walk::{substitute, symbols_of};
use paynter_symbolic::{ExprId, Pool, SymbolId};
use paynter_syntax::Span;
use rustc_hash::{FxHashMap, FxHashSet};
use std::cell::RefCell;

/// What a symbol of a [`System`] stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    /// A parameter or a number with a unit: the same at all places and times.
    Constant,
    /// An input of the model: may change in time in a way that is not known here.
    Input,
    /// Time.
    Time,
    /// A coordinate or given motion, by its place in [`System::coordinates`].
    Position(usize),
    /// The rate of one.
    Velocity(usize),
    /// A rate with a name, by its place in [`System::rates`].
    Rate(usize),
    /// The momentum of an inertia.
    Momentum,
}

/// A coordinate, or a motion that is given.
#[derive(Clone, Debug)]
pub(super) struct Coordinate {
    pub name: String,
    /// As written, with the brackets; empty where none is given.
    pub unit: String,
    pub position: SymbolId,
    pub velocity: SymbolId,
    /// For a given motion: its value.
    pub given: Option<ExprId>,
    pub span: Span,
}

/// Something with a name and a value: an energy, a constraint.
#[derive(Clone, Debug)]
pub(super) struct Named {
    pub name: String,
    pub value: ExprId,
    pub span: Span,
}

/// A rate with a name.
#[derive(Clone, Debug)]
pub(super) struct Rate {
    pub name: String,
    pub symbol: SymbolId,
    /// In velocities and other rates.
    pub value: ExprId,
    /// As the user wrote it; empty for one that we made.
    pub text: String,
    pub span: Span,
}

/// A force on a coordinate or rate.
#[derive(Clone, Debug)]
pub(super) struct Effort {
    /// The velocity or rate that it drives.
    pub on: SymbolId,
    /// Name of its source.
    pub name: String,
    /// In the names of the model: a force may read anything that a source may.
    pub text: String,
    /// The same as an expression, where it has one here.
    pub value: Option<ExprId>,
    pub span: Span,
}

/// A line of the model that is taken over.
#[derive(Clone, Debug)]
pub(super) struct Kept {
    pub text: String,
    pub span: Span,
}

/// A system by its energies.
#[derive(Clone, Debug, Default)]
pub(super) struct System {
    pub name: String,
    /// The name of the block.
    pub span: Span,
    pub pool: Pool,
    /// Name and role of each symbol.
    pub symbols: Vec<(String, Role)>,
    /// What symbols measure, where that is known.
    pub dimensions: FxHashMap<SymbolId, Dimension>,
    /// Values of parameters that are plain numbers, in SI.
    pub values: FxHashMap<SymbolId, f64>,
    /// Free coordinates, then given motions.
    pub coordinates: Vec<Coordinate>,
    pub rates: Vec<Rate>,
    pub kinetic: Vec<Named>,
    pub potential: Vec<Named>,
    pub loss: Vec<Named>,
    pub effort: Vec<Effort>,
    /// What must be zero.
    pub constraints: Vec<Named>,
    /// Velocities and rates that ports stand for: (symbol, line).
    pub ports: Vec<SymbolId>,
    /// Velocities and rates that are the states, each with the place where it is chosen; none: the coordinates are.
    pub speeds: Vec<(SymbolId, Span)>,
    /// Statements that are taken over, before and behind the graph.
    pub head: Vec<Kept>,
    pub tail: Vec<Kept>,
    /// Names of signals and outputs of the model, which have no symbols here.
    pub values_named: FxHashSet<String>,
    /// Names of elements of the model.
    pub taken: FxHashSet<String>,
    /// Bare numbers are errors in this file.
    pub is_strict: bool,
    pub points: RefCell<Points>,
}

/// The symbol of time.
pub(super) const TIME: SymbolId = SymbolId(0);

impl System {
    /// Adds a symbol.
    pub fn add(&mut self, name: &str, role: Role) -> SymbolId {
        self.symbols.push((name.to_owned(), role));
        SymbolId(self.symbols.len() as u32 - 1)
    }

    pub fn role(&self, s: SymbolId) -> Role {
        self.symbols[s.0 as usize].1
    }

    pub fn symbol_name(&self, s: SymbolId) -> &str {
        &self.symbols[s.0 as usize].0
    }

    /// Number of coordinates that are free to move.
    pub fn n_free(&self) -> usize {
        self.coordinates
            .iter()
            .filter(|c| c.given.is_none())
            .count()
    }

    /// Symbols of an expression that have a certain role.
    pub fn reads(&self, e: ExprId, wanted: impl Fn(Role) -> bool) -> Vec<SymbolId> {
        let mut found = symbols_of(&self.pool, e);
        found.retain(|&s| wanted(self.role(s)));
        found.sort_unstable();
        found
    }

    /// Velocities and rates that an expression reads.
    pub fn rates_in(&self, e: ExprId) -> Vec<SymbolId> {
        self.reads(e, |role| matches!(role, Role::Velocity(_) | Role::Rate(_)))
    }

    /// Coordinates whose positions an expression reads.
    pub fn positions_in(&self, e: ExprId) -> Vec<usize> {
        let found = self.reads(e, |role| matches!(role, Role::Position(_)));
        let index = |s: &SymbolId| match self.role(*s) {
            Role::Position(i) => i,
            _ => unreachable!("only positions were asked for"),
        };
        found.iter().map(index).collect()
    }

    /// Tells whether an expression changes in time where nothing moves.
    pub fn reads_time(&self, e: ExprId) -> bool {
        !self
            .reads(e, |role| matches!(role, Role::Time | Role::Input))
            .is_empty()
    }

    /// Tells whether an expression is the same at all places and times.
    pub fn is_constant(&self, e: ExprId) -> bool {
        self.reads(e, |role| role != Role::Constant).is_empty()
    }

    /// Replaces symbols.
    pub fn substitute(&mut self, e: ExprId, map: &FxHashMap<SymbolId, ExprId>) -> ExprId {
        if map.is_empty() {
            return e;
        }
        substitute(&mut self.pool, e, &|s| map.get(&s).copied())
    }

    /// The shorter of an expression and its simplified form.
    pub fn simplify(&mut self, e: ExprId) -> ExprId {
        simplify(&mut self.pool, e)
    }

    /// An expression with all velocities and rates zero.
    pub fn at_rest(&mut self, e: ExprId) -> ExprId {
        let zero = self.pool.number(0.0);
        let map = self.rates_in(e).into_iter().map(|s| (s, zero)).collect();
        let e = self.substitute(e, &map);
        self.simplify(e)
    }

    /// A name that no element has yet, and takes it.
    pub fn fresh(&mut self, wanted: &str) -> String {
        let mut name = wanted.to_owned();
        while !self.taken.insert(name.clone()) {
            name.push('_');
        }
        name
    }
}
