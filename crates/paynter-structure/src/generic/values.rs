//! Evaluates expressions in the prime field, each symbol at a random number.
//!
//! **Invariant:** the same expression has the same value, in every call and every run.

use super::field::Number;
use paynter::symbolic::walk::below;
use paynter::symbolic::{Dae, ExprId, Node, Pool, Role, SymbolId};
use rustc_hash::FxHashMap;

/// Kinds of random number: by symbol, and by expression that has no value in the field.
const OF_SYMBOL: u64 = 1;
const OF_EXPRESSION: u64 = 2;
/// Bindings of parameters that read each other are a circle beyond this depth; elaboration refuses them.
const DEEPEST: u32 = 64;

/// Values of expressions.
#[derive(Default)]
pub(super) struct Values {
    known: FxHashMap<ExprId, Number>,
}

impl Values {
    /// Gives the value of an expression.
    pub fn of(&mut self, dae: &Dae, e: ExprId) -> Number {
        self.at_depth(dae, e, 0)
    }

    fn at_depth(&mut self, dae: &Dae, e: ExprId, depth: u32) -> Number {
        if let Some(&known) = self.known.get(&e) {
            return known;
        }
        for id in below(&dae.pool, &[e]) {
            if !self.known.contains_key(&id) {
                let value = self.node(dae, id, depth);
                self.known.insert(id, value);
            }
        }
        self.known[&e]
    }

    fn node(&mut self, dae: &Dae, id: ExprId, depth: u32) -> Number {
        let pool: &Pool = &dae.pool;
        let of = |e: ExprId| self.known.get(&e).copied().unwrap_or_default();
        let other = || Number::random(OF_EXPRESSION, u64::from(id.0));
        match pool.node(id) {
            Node::Number(bits) => Number::exact(f64::from_bits(bits)).unwrap_or_else(other),
            Node::Symbol(s) => self.symbol(dae, s, depth),
            Node::Neg(a) => -of(a),
            Node::Add(a, b) => of(a) + of(b),
            Node::Sub(a, b) => of(a) - of(b),
            Node::Mul(a, b) => of(a) * of(b),
            Node::Div(a, b) => match of(b).inverse() {
                Some(inverse) => of(a) * inverse,
                None => other(),
            },
            Node::Power(a, b) => match pool.as_number(b) {
                Some(n) if n.fract() == 0.0 && n.abs() < 1e6 => {
                    let power = of(a).power(n.abs() as u64);
                    let inverse = || power.inverse().unwrap_or_else(other);
                    if n < 0.0 { inverse() } else { power }
                }
                _ => other(),
            },
            Node::Smooth(a) => of(a),
            Node::If(_, a, b) if of(a) == of(b) => of(a),
            _ => other(),
        }
    }

    fn symbol(&mut self, dae: &Dae, s: SymbolId, depth: u32) -> Number {
        match dae.symbol(s).role {
            Role::Parameter {
                binding: Some(binding),
                ..
            } if depth < DEEPEST => self.at_depth(dae, binding, depth + 1),
            _ => Number::random(OF_SYMBOL, u64::from(s.0)),
        }
    }
}
