//! How large the parts of an expression are, so that its value can be told from their rounding.
//!
//! In:  an expression, and the values of its parts at a point.
//! Out: its value there, and its magnitude: what it would be if nothing in it cancelled.
//!
//! x − x is zero beside 2|x|, and 0.5e-9 cos a is not zero beside itself.
//!
//! **Invariant:** the magnitude is at least the absolute value.

use paynter_symbolic::expr::Function1;
use paynter_symbolic::{ExprId, Node, Pool};
use rustc_hash::FxHashMap;

/// Value and magnitude of an expression; `value` computes any part of it.
pub(super) fn magnitude(
    pool: &Pool,
    e: ExprId,
    value: &mut dyn FnMut(&Pool, ExprId) -> f64,
) -> (f64, f64) {
    let mut known: FxHashMap<ExprId, f64> = FxHashMap::default();
    let mut open = vec![e];
    while let Some(&next) = open.last() {
        let missing: Vec<ExprId> = arguments(pool, next)
            .into_iter()
            .flatten()
            .filter(|a| !known.contains_key(a))
            .collect();
        if missing.is_empty() {
            let size = own(pool, next, &known, value);
            known.insert(next, size);
            open.pop();
        } else {
            open.extend(missing);
        }
    }
    (value(pool, e), known[&e])
}

/// What a magnitude is computed from; other operations are taken as they are.
fn arguments(pool: &Pool, e: ExprId) -> [Option<ExprId>; 2] {
    match pool.node(e) {
        Node::Add(a, b) | Node::Sub(a, b) | Node::Mul(a, b) | Node::Div(a, b) => [Some(a), Some(b)],
        Node::Neg(a) | Node::Power(a, _) | Node::Call1(_, a) | Node::Smooth(a) => [Some(a), None],
        _ => [None, None],
    }
}

/// The magnitude of a node, from those of its arguments: what relative errors of one size in all leaves would do to it, in that size.
fn own(
    pool: &Pool,
    e: ExprId,
    known: &FxHashMap<ExprId, f64>,
    value: &mut dyn FnMut(&Pool, ExprId) -> f64,
) -> f64 {
    let x = value(pool, e).abs();
    let size = match pool.node(e) {
        Node::Add(a, b) | Node::Sub(a, b) => known[&a] + known[&b],
        Node::Mul(a, b) => known[&a] * known[&b],
        Node::Div(a, b) => {
            let below = value(pool, b).abs();
            known[&a] / below * (known[&b] / below)
        }
        Node::Neg(a) | Node::Smooth(a) => known[&a],
        Node::Power(a, n) => match pool.as_number(n) {
            Some(n) if n >= 1.0 => known[&a].powf(n),
            _ => x,
        },
        Node::Call1(f, a) => {
            let at = value(pool, a);
            let slope = match f {
                Function1::Sin => at.cos().abs(),
                Function1::Cos => at.sin().abs(),
                Function1::Exp => x,
                Function1::Sqrt => 0.5 / x,
                // Most others are as steep as 1 somewhere, and none much steeper around values of order 1.
                _ => 1.0,
            };
            x + slope * known[&a]
        }
        _ => x,
    };
    size.max(x)
}

#[cfg(test)]
mod tests {
    use super::magnitude;
    use paynter_symbolic::evaluate::evaluate;
    use paynter_symbolic::expr::Function1;
    use paynter_symbolic::{Pool, SymbolId};

    #[test]
    fn what_cancels_is_small_beside_its_parts_and_what_is_small_is_not() {
        let mut pool = Pool::default();
        let x = pool.symbol(SymbolId(0));
        let sin = pool.call1(Function1::Sin, x);
        let cos = pool.call1(Function1::Cos, x);
        let (s2, c2) = (pool.powi(sin, 2), pool.powi(cos, 2));
        let one = pool.number(1.0);
        let sum = pool.add(s2, c2);
        let nothing = pool.sub(sum, one);
        let tiny = pool.number(5e-10);
        let small = pool.mul(tiny, cos);
        let mut at = |pool: &Pool, e| evaluate(pool, e, &|_| 0.7).unwrap_or(f64::NAN);
        let (value, size) = magnitude(&pool, nothing, &mut at);
        assert!(value.abs() < 1e-15 && size > 1.0);
        let (value, size) = magnitude(&pool, small, &mut at);
        assert!(value.abs() > 0.5 * size && size < 1e-9);
    }
}
