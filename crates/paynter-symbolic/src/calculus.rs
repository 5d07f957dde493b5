//! Derivatives of expressions, exact.
//!
//! In:  an expression, and a symbol (partial derivative), several symbols (gradient), or the
//!      rates of all symbols (total derivative).
//! Out: expressions in the same pool.
//!
//! **Invariant:** cost and size are linear in the number of different nodes. Where the
//! expression is finite and smooth, so is the derivative: a branch of `if` that is not
//! chosen never enters the value. At a corner the derivative is that of one side.

use crate::expr::{Comparison, ExprId, Function1, Function2, Node, Pool, SymbolId};
use crate::walk::{below, for_each_argument, place};
use rustc_hash::{FxHashMap, FxHashSet};

/// Gives ∂e/∂s.
pub fn derivative(pool: &mut Pool, e: ExprId, with_respect_to: SymbolId) -> ExprId {
    let one = pool.number(1.0);
    total_derivative(pool, e, &mut |_, s| (s == with_respect_to).then_some(one))
}

/// Gives de/dt when each symbol s changes at `rate(s)`; `None` means that it is constant.
pub fn total_derivative(
    pool: &mut Pool,
    e: ExprId,
    rate: &mut dyn FnMut(&mut Pool, SymbolId) -> Option<ExprId>,
) -> ExprId {
    let zero = pool.number(0.0);
    // Constant parts are absent: most parts of most equations are.
    let mut rates: FxHashMap<ExprId, ExprId> = FxHashMap::default();
    for id in below(pool, &[e]) {
        let d = match pool.node(id) {
            Node::Symbol(s) => rate(pool, s),
            _ => rate_of_node(pool, id, &rates),
        };
        if let Some(d) = d
            && d != zero
        {
            rates.insert(id, d);
        }
    }
    rates.get(&e).copied().unwrap_or(zero)
}

/// Gives ∂e/∂s for each of some symbols, in one sweep from the result to the arguments.
///
/// Linear in the size of `e` however many symbols there are: a junction with 10⁵ bonds
/// has a gradient of 10⁵ entries, and takes 10⁵ steps.
pub fn gradient(pool: &mut Pool, e: ExprId, symbols: &[SymbolId]) -> Vec<ExprId> {
    let order = below(pool, &[e]);
    gradient_below(pool, e, &order, symbols)
}

/// As [`gradient`], where `order` lists every node below `e`.
pub(crate) fn gradient_below(
    pool: &mut Pool,
    e: ExprId,
    order: &[ExprId],
    symbols: &[SymbolId],
) -> Vec<ExprId> {
    // Most expressions are so small that searching the lists beats hashing.
    const FEW: usize = 64;
    if order.len() <= FEW && symbols.len() <= FEW && !order.iter().any(|&id| is_wall(pool.node(id)))
    {
        return gradient_of_few(pool, order, symbols);
    }

    let zero = pool.number(0.0);
    let wanted: FxHashMap<SymbolId, usize> =
        symbols.iter().enumerate().map(|(i, &s)| (s, i)).collect();
    let depends = dependent_nodes(pool, order, &wanted);
    let mut walls: FxHashMap<ExprId, Vec<(SymbolId, ExprId)>> = FxHashMap::default();
    for &id in order {
        if depends.contains(&id) && is_wall(pool.node(id)) {
            let through = gradient_through_wall(pool, id, &depends, &walls);
            walls.insert(id, through);
        }
    }

    let mut gradient = vec![zero; symbols.len()];
    for (s, d) in sweep(pool, e, &depends, &walls) {
        gradient[wanted[&s]] = d;
    }

    // A symbol asked for twice has one entry in `wanted`.
    for (i, s) in symbols.iter().enumerate() {
        gradient[i] = gradient[wanted[s]];
    }
    gradient
}

/// The gradient of the last node of a short list in which there are no walls.
fn gradient_of_few(pool: &mut Pool, order: &[ExprId], symbols: &[SymbolId]) -> Vec<ExprId> {
    let zero = pool.number(0.0);
    let mut depends = vec![false; order.len()];
    for (k, &id) in order.iter().enumerate() {
        let mut does = pool.as_symbol(id).is_some_and(|s| symbols.contains(&s));
        for_each_argument(pool, id, |a| does |= depends[place(order, a)]);
        depends[k] = does;
    }

    let mut gradient = vec![zero; symbols.len()];
    let mut weights: Vec<Option<ExprId>> = vec![None; order.len()];
    if let Some((last, true)) = weights.iter_mut().zip(depends.iter().copied()).next_back() {
        *last = Some(pool.number(1.0));
    }

    let mut arguments = Vec::new();
    for (k, &id) in order.iter().enumerate().rev() {
        let Some(weight) = weights[k] else { continue };
        if let Some(s) = pool.as_symbol(id) {
            // One node stands for all readings of a symbol, so its weight is complete here.
            let entries = gradient.iter_mut().zip(symbols);
            entries.filter(|e| *e.1 == s).for_each(|e| *e.0 = weight);
            continue;
        }
        arguments.clear();
        for_each_argument(pool, id, |a| arguments.push(a));
        for (number, &a) in arguments.iter().enumerate() {
            let at = place(order, a);
            if depends[at] {
                let term = weigh(pool, id, number, weight);
                weights[at] = Some(match weights[at] {
                    Some(sum) => pool.add(sum, term),
                    None => term,
                });
            }
        }
    }
    gradient
}

/// The rates of two alternatives, zero for one that does not change; `None` if neither does.
fn either(pool: &mut Pool, a: Option<ExprId>, b: Option<ExprId>) -> Option<(ExprId, ExprId)> {
    if a.is_none() && b.is_none() {
        return None;
    }
    let zero = pool.number(0.0);
    Some((a.unwrap_or(zero), b.unwrap_or(zero)))
}

/// The chain rule for one node; `None` if no argument changes.
fn rate_of_node(pool: &mut Pool, id: ExprId, rates: &FxHashMap<ExprId, ExprId>) -> Option<ExprId> {
    let rate = |a: ExprId| rates.get(&a).copied();
    match pool.node(id) {
        Node::Number(_)
        | Node::Symbol(_)
        | Node::Compare(..)
        | Node::Not(_)
        | Node::And(..)
        | Node::Or(..) => None,
        Node::Neg(a) => {
            let da = rate(a)?;
            Some(pool.neg(da))
        }
        Node::Add(a, b) => match (rate(a), rate(b)) {
            (Some(da), Some(db)) => Some(pool.add(da, db)),
            (da, db) => da.or(db),
        },
        Node::Sub(a, b) => match (rate(a), rate(b)) {
            (Some(da), Some(db)) => Some(pool.sub(da, db)),
            (da, None) => da,
            (None, Some(db)) => Some(pool.neg(db)),
        },
        Node::Div(a, b) => {
            // (a/b)' = (a' − (a/b) b') / b: the quotient itself is already there.
            let part = rate(b).map(|db| pool.mul(id, db));
            let top = match (rate(a), part) {
                (None, None) => return None,
                (Some(da), None) => da,
                (Some(da), Some(part)) => pool.sub(da, part),
                (None, Some(part)) => pool.neg(part),
            };
            Some(pool.div(top, b))
        }
        Node::If(condition, a, b) => {
            let (da, db) = either(pool, rate(a), rate(b))?;
            Some(pool.if_else(condition, da, db))
        }
        Node::Call2(f @ (Function2::Min | Function2::Max), a, b) => {
            let (da, db) = either(pool, rate(a), rate(b))?;
            let second = second_is_chosen(pool, f, a, b);
            Some(pool.if_else(second, db, da))
        }
        Node::Smooth(a) => {
            let da = rate(a)?;
            Some(pool.smooth(da))
        }
        _ => {
            let mut sum: Option<ExprId> = None;
            for (a, da) in changing_arguments(pool, id, &rate) {
                let slope = slope(pool, id, a);
                let term = times(pool, slope, da);
                sum = Some(match sum {
                    Some(sum) => pool.add(sum, term),
                    None => term,
                });
            }
            sum
        }
    }
}

/// Which argument of a node, first to last.
type Place = usize;

fn changing_arguments(
    pool: &Pool,
    id: ExprId,
    rate: &dyn Fn(ExprId) -> Option<ExprId>,
) -> Vec<(Place, ExprId)> {
    let mut changing = Vec::new();
    let mut place = 0;
    for_each_argument(pool, id, |a| {
        changing.extend(rate(a).map(|da| (place, da)));
        place += 1;
    });
    changing
}

/// Gives ∂node/∂argument as an expression of the arguments and of the node itself.
///
/// Not for walls (`if`, `min`, `max`, `smooth`): their slopes must stay inside.
fn slope(pool: &mut Pool, id: ExprId, place: Place) -> ExprId {
    match pool.node(id) {
        Node::Neg(_) => pool.number(-1.0),
        Node::Add(..) => pool.number(1.0),
        Node::Sub(..) => pool.number(if place == 0 { 1.0 } else { -1.0 }),
        Node::Mul(a, b) => {
            if place == 0 {
                b
            } else {
                a
            }
        }
        Node::Div(_, b) => {
            let top = if place == 0 {
                pool.number(1.0)
            } else {
                pool.neg(id)
            };
            pool.div(top, b)
        }
        Node::Power(a, n) if place == 0 => {
            let one = pool.number(1.0);
            let less = pool.sub(n, one);
            let power = pool.pow(a, less);
            pool.mul(n, power)
        }
        Node::Power(a, _) => {
            let log = pool.call1(Function1::Log, a);
            pool.mul(id, log)
        }
        Node::Call1(f, a) => slope_of_function(pool, id, f, a),
        Node::Call2(f, a, b) => slope_of_function2(pool, id, f, (a, b), place),
        Node::External(f, args, output) => {
            let n_inputs = pool.external(f).n_inputs();
            let number = output as usize * n_inputs + place;
            pool.intern(Node::ExternalSlope(f, args, number as u32))
        }
        Node::ExternalSlope(f, args, number) => {
            let n_inputs = pool.external(f).n_inputs();
            let slopes = pool.slopes_as_external(f);
            let number = number as usize * n_inputs + place;
            pool.intern(Node::ExternalSlope(slopes, args, number as u32))
        }
        Node::Number(_)
        | Node::Symbol(_)
        | Node::Compare(..)
        | Node::Not(_)
        | Node::And(..)
        | Node::Or(..)
        | Node::If(..)
        | Node::Smooth(_) => pool.number(0.0),
    }
}

fn slope_of_function(pool: &mut Pool, id: ExprId, f: Function1, a: ExprId) -> ExprId {
    let one = pool.number(1.0);
    match f {
        Function1::Sin => pool.call1(Function1::Cos, a),
        Function1::Cos => {
            let sin = pool.call1(Function1::Sin, a);
            pool.neg(sin)
        }
        Function1::Tan => {
            let square = pool.powi(id, 2);
            pool.add(one, square)
        }
        Function1::Asin | Function1::Acos => {
            let square = pool.powi(a, 2);
            let inside = pool.sub(one, square);
            let root = pool.call1(Function1::Sqrt, inside);
            let slope = pool.div(one, root);
            if f == Function1::Asin {
                slope
            } else {
                pool.neg(slope)
            }
        }
        Function1::Atan => {
            let square = pool.powi(a, 2);
            let sum = pool.add(one, square);
            pool.div(one, sum)
        }
        Function1::Sinh => pool.call1(Function1::Cosh, a),
        Function1::Cosh => pool.call1(Function1::Sinh, a),
        Function1::Tanh => {
            let square = pool.powi(id, 2);
            pool.sub(one, square)
        }
        Function1::Exp => id,
        Function1::Log => pool.div(one, a),
        Function1::Log10 => {
            let ln10 = pool.number(std::f64::consts::LN_10);
            let bottom = pool.mul(ln10, a);
            pool.div(one, bottom)
        }
        Function1::Sqrt => {
            let half = pool.number(0.5);
            pool.div(half, id)
        }
        Function1::Abs => pool.call1(Function1::Sign, a),
        Function1::Sign | Function1::Floor | Function1::Ceil | Function1::Round => pool.number(0.0),
    }
}

fn slope_of_function2(
    pool: &mut Pool,
    id: ExprId,
    f: Function2,
    (a, b): (ExprId, ExprId),
    place: Place,
) -> ExprId {
    match f {
        Function2::Atan2 => {
            // atan2(y, x): ∂/∂y = x / (x² + y²), ∂/∂x = −y / (x² + y²)
            let (y2, x2) = (pool.powi(a, 2), pool.powi(b, 2));
            let r2 = pool.add(y2, x2);
            let top = if place == 0 { b } else { pool.neg(a) };
            pool.div(top, r2)
        }
        Function2::Hypot => pool.div(if place == 0 { a } else { b }, id),
        Function2::Mod => {
            if place == 0 {
                return pool.number(1.0);
            }
            let ratio = pool.div(a, b);
            let turns = pool.call1(Function1::Floor, ratio);
            pool.neg(turns)
        }
        Function2::Min | Function2::Max => {
            let second = second_is_chosen(pool, f, a, b);
            if place == 1 { second } else { pool.not(second) }
        }
    }
}

/// `min` and `max` give the first argument where both are equal.
fn second_is_chosen(pool: &mut Pool, f: Function2, a: ExprId, b: ExprId) -> ExprId {
    let c = if f == Function2::Min {
        Comparison::Less
    } else {
        Comparison::Greater
    };
    pool.compare(c, b, a)
}

/// Nodes whose slopes must not be pulled out as factors: 0 · (slope of the other branch)
/// is NaN where that slope is not finite, and the switches of a slope under `smooth`
/// would make events.
fn is_wall(node: Node) -> bool {
    matches!(
        node,
        Node::If(..) | Node::Smooth(_) | Node::Call2(Function2::Min | Function2::Max, ..)
    )
}

fn dependent_nodes(
    pool: &Pool,
    order: &[ExprId],
    wanted: &FxHashMap<SymbolId, usize>,
) -> FxHashSet<ExprId> {
    let mut depends: FxHashSet<ExprId> = FxHashSet::default();
    for &id in order {
        let mut does = pool.as_symbol(id).is_some_and(|s| wanted.contains_key(&s));
        for_each_argument(pool, id, |a| does |= depends.contains(&a));
        if does {
            depends.insert(id);
        }
    }
    depends
}

fn gradient_through_wall(
    pool: &mut Pool,
    id: ExprId,
    depends: &FxHashSet<ExprId>,
    walls: &FxHashMap<ExprId, Vec<(SymbolId, ExprId)>>,
) -> Vec<(SymbolId, ExprId)> {
    let (condition, a, b) = match pool.node(id) {
        Node::If(condition, a, b) => (condition, a, b),
        Node::Call2(f, a, b) => (second_is_chosen(pool, f, a, b), b, a),
        Node::Smooth(a) => {
            let inside = sweep(pool, a, depends, walls);
            return inside
                .into_iter()
                .map(|(s, d)| (s, pool.smooth(d)))
                .collect();
        }
        _ => return Vec::new(),
    };

    let zero = pool.number(0.0);
    let mut both: Vec<(SymbolId, ExprId, ExprId)> = sweep(pool, a, depends, walls)
        .into_iter()
        .map(|(s, d)| (s, d, zero))
        .collect();
    let places: FxHashMap<SymbolId, usize> = both
        .iter()
        .enumerate()
        .map(|(i, entry)| (entry.0, i))
        .collect();

    for (s, d) in sweep(pool, b, depends, walls) {
        match places.get(&s) {
            Some(&i) => both[i].2 = d,
            None => both.push((s, zero, d)),
        }
    }

    both.into_iter()
        .map(|(s, da, db)| (s, pool.if_else(condition, da, db)))
        .collect()
}

/// Goes from `e` down to the symbols, stopping at walls, whose gradients are known.
fn sweep(
    pool: &mut Pool,
    e: ExprId,
    depends: &FxHashSet<ExprId>,
    walls: &FxHashMap<ExprId, Vec<(SymbolId, ExprId)>>,
) -> Vec<(SymbolId, ExprId)> {
    let mut weights: FxHashMap<ExprId, ExprId> = FxHashMap::default();
    let mut found: FxHashMap<SymbolId, ExprId> = FxHashMap::default();
    if depends.contains(&e) {
        weights.insert(e, pool.number(1.0));
    }
    for id in below_until_walls(pool, e, depends).into_iter().rev() {
        let Some(&weight) = weights.get(&id) else {
            continue;
        };
        if let Node::Symbol(s) = pool.node(id) {
            add_to(pool, &mut found, s, weight);
            continue;
        }
        if let Some(inside) = walls.get(&id) {
            for &(s, d) in inside {
                let term = pool.mul(weight, d);
                add_to(pool, &mut found, s, term);
            }
            continue;
        }
        let mut arguments = Vec::new();
        for_each_argument(pool, id, |a| arguments.push(a));
        for (place, a) in arguments.into_iter().enumerate() {
            if depends.contains(&a) {
                let term = weigh(pool, id, place, weight);
                add_to(pool, &mut weights, a, term);
            }
        }
    }

    let mut found: Vec<(SymbolId, ExprId)> = found.into_iter().collect();
    found.sort_unstable();
    found
}

/// weight · ∂node/∂argument; quotients keep the form in which people write them.
fn weigh(pool: &mut Pool, id: ExprId, place: Place, weight: ExprId) -> ExprId {
    match (pool.node(id), place) {
        (Node::Div(_, b), 0) => pool.div(weight, b),
        (Node::Div(_, b), _) => {
            let part = pool.mul(weight, id);
            let part = pool.div(part, b);
            pool.neg(part)
        }
        _ => {
            let slope = slope(pool, id, place);
            times(pool, slope, weight)
        }
    }
}

/// slope · d, with a slope n/b written (n d)/b.
fn times(pool: &mut Pool, slope: ExprId, d: ExprId) -> ExprId {
    match pool.node(slope) {
        Node::Div(n, b) => {
            let top = pool.mul(n, d);
            pool.div(top, b)
        }
        _ => pool.mul(slope, d),
    }
}

fn add_to<K: std::hash::Hash + Eq>(
    pool: &mut Pool,
    sums: &mut FxHashMap<K, ExprId>,
    key: K,
    term: ExprId,
) {
    match sums.entry(key) {
        std::collections::hash_map::Entry::Occupied(mut sum) => {
            let new = pool.add(*sum.get(), term);
            sum.insert(new);
        }
        std::collections::hash_map::Entry::Vacant(place) => {
            place.insert(term);
        }
    }
}

fn below_until_walls(pool: &Pool, e: ExprId, depends: &FxHashSet<ExprId>) -> Vec<ExprId> {
    let mut seen: FxHashSet<ExprId> = FxHashSet::default();
    let mut found = Vec::new();
    let mut stack = vec![e];
    while let Some(id) = stack.pop() {
        if depends.contains(&id) && seen.insert(id) {
            found.push(id);
            if !is_wall(pool.node(id)) {
                for_each_argument(pool, id, |a| stack.push(a));
            }
        }
    }
    found.sort_unstable();
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Complex, RandomExpressions, complex_value, evaluate_at};

    /// Complex step has no cancellation: what remains is the rounding of both formulas,
    /// enlarged by cancellation inside the random expressions.
    const COMPLEX_STEP: f64 = 1e-30;

    #[test]
    fn derivatives_match_complex_step_at_random_points() {
        let mut random = RandomExpressions::new(7);
        let mut n_compared = 0;
        for _ in 0..3000 {
            let mut pool = Pool::new();
            let e = random.analytic(&mut pool, 4, 3);
            let point = random.point(3);
            let symbols: Vec<SymbolId> = (0..3).map(SymbolId).collect();
            let gradient = gradient(&mut pool, e, &symbols);
            for s in symbols {
                let d = derivative(&mut pool, e, s);
                let mut at: Vec<Complex> = point.iter().map(|&x| Complex::new(x, 0.0)).collect();
                at[s.0 as usize].im = COMPLEX_STEP;
                let (value, size) = complex_value(&pool, e, &at);
                let expected = value.im / COMPLEX_STEP;
                if !expected.is_finite() || size > 1e3 {
                    continue;
                }
                let tolerance = 1e-12 * size * (1.0 + expected.abs());
                for found in [d, gradient[s.0 as usize]] {
                    let found = evaluate_at(&pool, found, &point);
                    assert!(
                        (found - expected).abs() <= tolerance,
                        "found {found}, expected {expected}, size {size}"
                    );
                }
                n_compared += 1;
            }
        }
        assert!(
            n_compared > 5000,
            "only {n_compared} comparisons were meaningful"
        );
    }

    #[test]
    fn a_branch_that_is_not_chosen_does_not_spoil_the_gradient() {
        let mut pool = Pool::new();
        let (x, y) = (pool.symbol(SymbolId(0)), pool.symbol(SymbolId(1)));
        let zero = pool.number(0.0);
        let positive = pool.compare(Comparison::Greater, x, zero);
        let root = pool.call1(Function1::Sqrt, x);
        let safe = pool.if_else(positive, root, zero);
        let e = pool.mul(safe, y);
        let gradient = gradient(&mut pool, e, &[SymbolId(0), SymbolId(1)]);
        assert_eq!(evaluate_at(&pool, gradient[0], &[-1.0, 3.0]), 0.0);
        assert_eq!(evaluate_at(&pool, gradient[1], &[-1.0, 3.0]), 0.0);
        assert_eq!(evaluate_at(&pool, gradient[0], &[4.0, 3.0]), 0.75);
    }

    #[test]
    fn whole_powers_make_no_logarithm() {
        let mut pool = Pool::new();
        let x = pool.symbol(SymbolId(0));
        let e = pool.powi(x, 3);
        let d = derivative(&mut pool, e, SymbolId(0));
        assert_eq!(evaluate_at(&pool, d, &[-2.0]), 12.0);
    }

    #[test]
    fn corners_and_steps_have_the_derivative_of_one_side() {
        let mut pool = Pool::new();
        let (x, y) = (pool.symbol(SymbolId(0)), pool.symbol(SymbolId(1)));
        let smaller = pool.call2(Function2::Min, x, y);
        let d = derivative(&mut pool, smaller, SymbolId(1));
        assert_eq!(evaluate_at(&pool, d, &[1.0, 2.0]), 0.0);
        assert_eq!(evaluate_at(&pool, d, &[2.0, 1.0]), 1.0);
        let turned = pool.call2(Function2::Mod, x, y);
        let d = derivative(&mut pool, turned, SymbolId(1));
        assert_eq!(evaluate_at(&pool, d, &[7.0, 2.0]), -3.0);
        let step = pool.call1(Function1::Floor, x);
        let d = derivative(&mut pool, step, SymbolId(0));
        assert_eq!(pool.as_number(d), Some(0.0));
    }

    #[test]
    fn rates_of_symbols_enter_by_the_chain_rule() {
        let mut pool = Pool::new();
        let (x, v) = (pool.symbol(SymbolId(0)), pool.symbol(SymbolId(1)));
        let sin = pool.call1(Function1::Sin, x);
        let d = total_derivative(&mut pool, sin, &mut |_, s| (s == SymbolId(0)).then_some(v));
        assert_eq!(evaluate_at(&pool, d, &[0.0, 5.0]), 5.0);
    }

    #[derive(Debug)]
    struct Product;

    impl crate::expr::External for Product {
        fn name(&self) -> &str {
            "product"
        }
        fn n_inputs(&self) -> usize {
            2
        }
        fn n_outputs(&self) -> usize {
            1
        }
        fn call(&self, inputs: &[f64], outputs: &mut [f64]) -> Result<(), String> {
            outputs[0] = inputs[0] * inputs[1] * inputs[1];
            Ok(())
        }
        fn slopes(&self, inputs: &[f64], slopes: &mut [f64]) -> Result<(), String> {
            slopes[0] = inputs[1] * inputs[1];
            slopes[1] = 2.0 * inputs[0] * inputs[1];
            Ok(())
        }
    }

    #[test]
    fn external_functions_have_exact_first_and_close_second_derivatives() {
        let mut pool = Pool::new();
        let (x, y) = (pool.symbol(SymbolId(0)), pool.symbol(SymbolId(1)));
        let f = pool.add_external(std::sync::Arc::new(Product));
        let xx = pool.mul(x, x);
        let e = pool.call_external(f, &[xx, y], 0);
        let d = derivative(&mut pool, e, SymbolId(1));
        assert_eq!(evaluate_at(&pool, d, &[3.0, 5.0]), 90.0);
        let dd = derivative(&mut pool, d, SymbolId(0));
        // ∂²(x²y²)/∂x∂y = 4xy = 60; central differences of a quadratic are exact to rounding/h.
        assert!((evaluate_at(&pool, dd, &[3.0, 5.0]) - 60.0).abs() < 1e-7);
    }
}
