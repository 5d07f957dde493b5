//! The equations on their way from the given ones to an order of solution.
//!
//! In:  what `alias` keeps.
//! Out: rows that `pantelides` adds to, `states` selects from and `tearing` solves.
//!
//! **Invariant:** `incidence` row i lists exactly the unknowns that row i reads, by symbol id.

use super::alias::Kept;
use super::error::EquationRef;
use super::graph::Incidence;
use crate::dae::{Dae, Equation, Origin, Role};
use crate::expr::{ExprId, SymbolId};
use crate::reduced::Known;
use crate::walk::{Walker, substitute, symbols_of};
use rustc_hash::FxHashMap;

/// An equation and its place among its own derivatives.
#[derive(Clone, Copy, Debug)]
pub(crate) struct EquationRow {
    /// The equation, aliases removed.
    pub(crate) equation: Equation,
    /// The equation of the given [`Dae`] that it is, or is a derivative of.
    pub(crate) source: usize,
    /// The row that is its time derivative.
    pub(crate) derivative: Option<u32>,
    /// The row whose time derivative it is.
    pub(crate) integral: Option<u32>,
}

/// Rows, unknowns, and which reads which.
#[derive(Debug)]
pub(crate) struct System {
    pub(crate) dae: Dae,
    pub(crate) rows: Vec<EquationRow>,
    pub(crate) incidence: Incidence,
    pub(crate) known: Vec<Known>,
    /// The derivative of each unknown that has one.
    pub(crate) derivative: Vec<Option<SymbolId>>,
    /// Whether equations must give a symbol: unknowns and derivatives that were not removed.
    pub(crate) is_unknown: Vec<bool>,
    /// Symbols below this number were given; later ones were made here.
    pub(crate) n_given_symbols: usize,
    /// Frozen quantities met in differentiated equations.
    pub(crate) differentiated_switches: Vec<(Origin, SymbolId, ExprId)>,
    /// Incidences looked at by graph algorithms.
    pub(crate) work: u64,
    walker: Walker,
    symbols: Vec<SymbolId>,
}

impl System {
    /// Takes over what `alias` keeps.
    pub(crate) fn new(dae: Dae, kept: Kept) -> System {
        let n = dae.symbols.len();
        let mut is_unknown: Vec<bool> = (0..n)
            .map(|s| {
                kept.known[s] == Known::Itself
                    && matches!(dae.symbols[s].role, Role::Unknown | Role::Derivative { .. })
            })
            .collect();

        for quadrature in &dae.quadratures {
            is_unknown[quadrature.symbol.0 as usize] = false;
        }
        let mut system = System {
            rows: Vec::with_capacity(kept.rows.len()),
            incidence: Incidence::default(),
            known: kept.known,
            derivative: kept.derivative,
            is_unknown,
            n_given_symbols: n,
            differentiated_switches: Vec::new(),
            work: 0,
            walker: Walker::new(),
            symbols: Vec::new(),
            dae,
        };

        for (equation, source) in kept.rows {
            system.push(EquationRow {
                equation,
                source,
                derivative: None,
                integral: None,
            });
        }
        system
    }

    /// Takes back all differentiation, and replaces some rows (left = 0) on the way.
    ///
    /// Derivatives that were made for a row which stays are made again, all others are gone.
    pub(crate) fn restarted(mut self, replaced: &FxHashMap<u32, ExprId>) -> System {
        let zero = self.dae.pool.number(0.0);
        let mut rows: Vec<EquationRow> = std::mem::take(&mut self.rows);
        rows.retain(|r| r.integral.is_none());
        for (r, row) in rows.iter_mut().enumerate() {
            row.derivative = None;
            if let Some(&residual) = replaced.get(&(r as u32)) {
                row.equation.left = residual;
                row.equation.right = zero;
                row.equation.solves = None;
            }
        }

        let made = self.made_derivatives(&rows);

        let n = self.n_given_symbols;
        self.dae.symbols.truncate(n);
        self.known.truncate(n);
        self.derivative.truncate(n);
        self.is_unknown.truncate(n);
        for d in &mut self.derivative {
            *d = d.filter(|d| (d.0 as usize) < n);
        }
        self.incidence = Incidence::default();
        self.differentiated_switches.clear();
        let new: FxHashMap<SymbolId, SymbolId> = made
            .into_iter()
            .map(|(old, base, count)| {
                let new = (0..count).fold(base, |s, _| self.derivative_of(s));
                (old, new)
            })
            .collect();

        for mut row in rows {
            row.equation = self.renamed(row.equation, &new);
            self.push(row);
        }
        self
    }

    /// Lists the derivatives in some rows that were made here: (symbol, given unknown, how often differentiated).
    fn made_derivatives(&self, rows: &[EquationRow]) -> Vec<(SymbolId, SymbolId, u32)> {
        let is_made = |s: &SymbolId| s.0 as usize >= self.n_given_symbols;
        let pool = &self.dae.pool;
        let sides = rows
            .iter()
            .flat_map(|r| [r.equation.left, r.equation.right]);
        let mut made: Vec<SymbolId> = sides
            .flat_map(|e| symbols_of(pool, e))
            .filter(is_made)
            .collect();
        made.sort_unstable();
        made.dedup();
        let traced = made.into_iter().map(|old| {
            let (mut base, mut count) = (old, 0);
            while is_made(&base)
                && let Role::Derivative { of } = self.dae.symbol(base).role
            {
                (base, count) = (of, count + 1);
            }
            (old, base, count)
        });
        traced.collect()
    }

    fn renamed(&mut self, mut equation: Equation, new: &FxHashMap<SymbolId, SymbolId>) -> Equation {
        if new.is_empty() {
            return equation;
        }
        let symbols: FxHashMap<SymbolId, ExprId> = new
            .iter()
            .map(|(&old, &new)| (old, self.dae.pool.symbol(new)))
            .collect();
        for side in [&mut equation.left, &mut equation.right] {
            *side = substitute(&mut self.dae.pool, *side, &|s| symbols.get(&s).copied());
        }
        equation.solves = equation.solves.map(|s| new.get(&s).copied().unwrap_or(s));
        equation
    }

    /// Adds a row.
    pub(crate) fn push(&mut self, row: EquationRow) -> u32 {
        self.walker.restart();
        self.symbols.clear();
        let (pool, symbols) = (&self.dae.pool, &mut self.symbols);
        for e in [row.equation.left, row.equation.right] {
            self.walker
                .visit(pool, e, |id| symbols.extend(pool.as_symbol(id)));
        }
        symbols.sort_unstable();
        let is_unknown = &self.is_unknown;
        self.incidence.push(
            symbols
                .iter()
                .map(|s| s.0)
                .filter(|&s| is_unknown[s as usize]),
        );
        self.rows.push(row);
        (self.rows.len() - 1) as u32
    }

    /// Writes a row as left − right.
    pub(crate) fn residual(&mut self, row: u32) -> ExprId {
        let equation = self.rows[row as usize].equation;
        self.dae.pool.sub(equation.left, equation.right)
    }

    /// Gives the unknown that stays for `s`.
    pub(crate) fn kept(&self, s: SymbolId) -> SymbolId {
        match self.known[s.0 as usize] {
            Known::Alias { of, .. } => of,
            Known::Itself | Known::Expression(_) => s,
        }
    }

    /// Names the given equation behind a row.
    pub(crate) fn reference(&self, row: u32) -> EquationRef {
        let row = &self.rows[row as usize];
        EquationRef {
            index: row.source,
            origin: row.equation.origin,
        }
    }

    /// Gives the derivative of an unknown, making it if there is none yet.
    pub(crate) fn derivative_of(&mut self, s: SymbolId) -> SymbolId {
        if let Some(d) = self.derivative[s.0 as usize] {
            return d;
        }
        let mut symbol = self.dae.symbol(s).clone();
        symbol.role = Role::Derivative { of: s };
        symbol.nominal = 0.0;
        let d = self.dae.add_symbol(symbol);
        self.derivative[s.0 as usize] = Some(d);
        self.derivative.push(None);
        self.known.push(Known::Itself);
        self.is_unknown.push(true);
        d
    }

    /// Gives the unknown whose derivative `s` is, if `s` is one.
    pub(crate) fn integral_of(&self, s: SymbolId) -> Option<SymbolId> {
        match self.dae.symbol(s).role {
            Role::Derivative { of } if self.is_unknown[of.0 as usize] => Some(of),
            _ => None,
        }
    }
}
