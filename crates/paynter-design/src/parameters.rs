//! Values of expressions in parameters, some of which were changed after elaboration.
//!
//! In:  a system of equations, and the parameters that a sweep has set.
//! Out: numbers; bound parameters follow what they are bound to, unless they were set themselves.

use paynter_symbolic::evaluate::evaluate;
use paynter_symbolic::walk::symbols_of;
use paynter_symbolic::{Dae, ExprId, Role, SymbolId};
use std::collections::BTreeMap;

/// The parameters of one run.
#[derive(Clone, Copy, Debug)]
pub struct Parameters<'a> {
    dae: &'a Dae,
    changes: &'a [(SymbolId, f64)],
}

impl<'a> Parameters<'a> {
    /// The parameters of a model, some of them changed.
    pub fn new(dae: &'a Dae, changes: &'a [(SymbolId, f64)]) -> Self {
        Parameters { dae, changes }
    }

    /// Computes an expression; none if it has no value, or depends on more than parameters.
    pub fn value(&self, e: ExprId) -> Option<f64> {
        let mut known: BTreeMap<SymbolId, f64> = self.changes.iter().copied().collect();
        let pool = &self.dae.pool;
        // Each entry waits for those above it; a parameter is never bound to itself.
        let mut open: Vec<(Option<SymbolId>, ExprId)> = vec![(None, e)];
        while let Some(&(symbol, e)) = open.last() {
            let before = open.len();
            for needed in symbols_of(pool, e) {
                if known.contains_key(&needed) {
                    continue;
                }
                match self.dae.symbol(needed).role {
                    Role::Parameter {
                        binding: Some(binding),
                        ..
                    } => open.push((Some(needed), binding)),
                    Role::Parameter { value, .. } => {
                        known.insert(needed, value);
                    }
                    _ => return None,
                }
            }
            if open.len() > before {
                continue;
            }
            open.pop();
            let value = evaluate(pool, e, &|s| known[&s]).ok()?;
            match symbol {
                Some(symbol) => known.insert(symbol, value),
                None => return Some(value),
            };
        }
        None
    }

    /// Tells whether an expression depends on any of the changed parameters.
    pub fn is_changed(&self, e: ExprId) -> bool {
        let mut seen = std::collections::BTreeSet::new();
        let mut open = vec![e];
        while let Some(e) = open.pop() {
            for symbol in symbols_of(&self.dae.pool, e) {
                if self.changes.iter().any(|change| change.0 == symbol) {
                    return true;
                }
                if seen.insert(symbol)
                    && let Role::Parameter {
                        binding: Some(binding),
                        ..
                    } = self.dae.symbol(symbol).role
                {
                    open.push(binding);
                }
            }
        }
        false
    }
}
