//! Equations as sums: which terms they add, and what the terms read.
//!
//! In:  expressions.
//! Out: signed terms of left − right with equal ones cancelled; what each node depends on.
//!
//! **Invariant:** Σ ± terms equals left − right identically.

use crate::dae::{Equation, Role, Symbol};
use crate::expr::{ExprId, Node, Pool};
use crate::walk::for_each_argument;

/// What a node depends on, as a set of bits.
#[derive(Clone, Debug, Default)]
pub(crate) struct Dependence {
    flags: Vec<u8>,
}

const READS_PARAMETER: u8 = 1;
const READS_TIME: u8 = 2;
const READS_SWITCH: u8 = 4;
const READS_UNKNOWN: u8 = 8;

impl Dependence {
    /// Looks at the nodes made since the last call.
    pub(crate) fn update(&mut self, pool: &Pool, symbols: &[Symbol]) {
        for id in self.flags.len()..pool.len() {
            let e = ExprId(id as u32);
            let mut flags = match pool.node(e) {
                Node::Symbol(s) => match symbols[s.0 as usize].role {
                    Role::Parameter { .. } => READS_PARAMETER,
                    Role::Time => READS_TIME,
                    Role::Discrete { .. } | Role::Pre { .. } | Role::Mode { .. } => READS_SWITCH,
                    Role::Unknown | Role::Derivative { .. } => READS_UNKNOWN,
                },
                _ => 0,
            };
            for_each_argument(pool, e, |a| flags |= self.flags[a.0 as usize]);
            self.flags.push(flags);
        }
    }

    /// Tells whether an expression reads something that changes at events only.
    pub(crate) fn reads_switch(&self, e: ExprId) -> bool {
        self.flags[e.0 as usize] & READS_SWITCH != 0
    }

    /// Tells whether an expression keeps its value during a run.
    pub(crate) fn is_constant(&self, e: ExprId) -> bool {
        self.flags[e.0 as usize] & !READS_PARAMETER == 0
    }
}

/// A term and whether it is subtracted.
pub(crate) type Term = (ExprId, bool);

/// Writes left − right as a sum of terms into `terms`, equal terms of opposite sign cancelled.
///
/// Tells whether anything was cancelled.
pub(crate) fn terms_of(pool: &Pool, equation: &Equation, terms: &mut Vec<Term>) -> bool {
    terms.clear();
    let mut stack = vec![(equation.right, true), (equation.left, false)];
    while let Some((e, negated)) = stack.pop() {
        match pool.node(e) {
            Node::Add(a, b) => stack.extend([(b, negated), (a, negated)]),
            Node::Sub(a, b) => stack.extend([(b, !negated), (a, negated)]),
            Node::Neg(a) => stack.push((a, !negated)),
            Node::Number(bits) if f64::from_bits(bits) == 0.0 => {}
            _ => terms.push((e, negated)),
        }
    }
    cancel(terms)
}

/// Below this length comparing all pairs is faster than sorting.
const SHORT_SUM: usize = 12;

fn cancel(terms: &mut Vec<Term>) -> bool {
    let has_pair = |terms: &[Term]| {
        terms
            .iter()
            .enumerate()
            .any(|(i, a)| terms[..i].iter().any(|b| a.0 == b.0 && a.1 != b.1))
    };
    if terms.len() < SHORT_SUM && !has_pair(terms) {
        return false;
    }
    let mut order: Vec<usize> = (0..terms.len()).collect();
    order.sort_unstable_by_key(|&i| (terms[i].0, i));
    let mut is_gone = vec![false; terms.len()];
    let mut at = 0;
    while at < order.len() {
        let mut end = at;
        let mut open: Vec<usize> = Vec::new();
        while end < order.len() && terms[order[end]].0 == terms[order[at]].0 {
            let i = order[end];
            match open.last() {
                Some(&j) if terms[j].1 != terms[i].1 => {
                    is_gone[i] = true;
                    is_gone[j] = true;
                    open.pop();
                }
                _ => open.push(i),
            }
            end += 1;
        }
        at = end;
    }

    let n_before = terms.len();
    let mut i = 0;
    terms.retain(|_| {
        i += 1;
        !is_gone[i - 1]
    });
    terms.len() < n_before
}

/// Adds signed terms up.
pub(crate) fn sum(pool: &mut Pool, terms: impl IntoIterator<Item = Term>) -> ExprId {
    let mut total = pool.number(0.0);
    for (e, negated) in terms {
        total = if negated {
            pool.sub(total, e)
        } else {
            pool.add(total, e)
        };
    }
    total
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dae::Origin;
    use crate::expr::SymbolId;

    #[test]
    fn equal_terms_on_both_sides_cancel() {
        let mut pool = Pool::new();
        let [a, b, c] = [0, 1, 2].map(|i| pool.symbol(SymbolId(i)));
        let left = pool.add(a, b);
        let right = pool.sub(a, c);
        let equation = Equation {
            left,
            right,
            solves: None,
            origin: Origin(0),
        };
        let mut terms = Vec::new();
        assert!(terms_of(&pool, &equation, &mut terms));
        assert_eq!(terms, [(b, false), (c, false)]);
    }
}
