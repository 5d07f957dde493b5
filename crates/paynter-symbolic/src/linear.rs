//! Affine parts of expressions, and exact solutions of single equations.
//!
//! In:  an expression and symbols; or an equation and the symbol it should give.
//! Out: coefficients and rest; or the symbol's value and what that value divides by.
//!
//! **Invariant:** nothing is expanded and nothing is guessed: `e = Σ cᵢ sᵢ + rest` holds
//! identically, and a solution is the only one wherever its divisor is not zero. Where an
//! equation has no solution the value is NaN, never a wrong number.

use crate::calculus::gradient_below;
use crate::expr::{ExprId, Function1, Node, Pool, SymbolId};
use crate::walk::{below, depends_on, for_each_argument, place, substitute_below};
use rustc_hash::FxHashSet;

/// Writes e = Σ cᵢ sᵢ + rest with cᵢ and rest free of the symbols; `None` if e is not affine.
///
/// Linear in the size of `e`. A condition that reads one of the symbols makes `e` not affine.
pub fn linear_in(
    pool: &mut Pool,
    e: ExprId,
    symbols: &[SymbolId],
) -> Option<(Vec<ExprId>, ExprId)> {
    if symbols.is_empty() {
        return Some((Vec::new(), e));
    }
    let order = below(pool, &[e]);
    if !is_affine_below(pool, &order, symbols) {
        return None;
    }
    let coefficients = gradient_below(pool, e, &order, symbols);
    let zero = pool.number(0.0);
    let symbols = SymbolSet::new(symbols);
    let rest = substitute_below(pool, &order, &|s| symbols.contains(s).then_some(zero));
    let rest = *rest.last().expect("an expression is below itself");
    Some((coefficients, rest))
}

/// Tells whether an expression is affine in some symbols together.
pub fn is_affine(pool: &Pool, e: ExprId, symbols: &[SymbolId]) -> bool {
    is_affine_below(pool, &below(pool, &[e]), symbols)
}

/// As [`is_affine`], from the list of all nodes below the expression.
fn is_affine_below(pool: &Pool, order: &[ExprId], symbols: &[SymbolId]) -> bool {
    let symbols = SymbolSet::new(symbols);
    // Whether each is of first degree in the symbols, else of degree 0; anything higher ends the search.
    let mut linear: Vec<bool> = Vec::with_capacity(order.len());
    for &id in order {
        let is_linear = |a: ExprId| linear[place(order, a)];
        let mut n_linear = 0;
        for_each_argument(pool, id, |a| n_linear += usize::from(is_linear(a)));
        let stays_affine = match pool.node(id) {
            Node::Symbol(s) => {
                n_linear = usize::from(symbols.contains(s));
                true
            }
            _ if n_linear == 0 => true,
            Node::Neg(_) | Node::Add(..) | Node::Sub(..) | Node::Smooth(_) => true,
            Node::Mul(..) => n_linear == 1,
            Node::Div(_, b) => !is_linear(b),
            Node::If(condition, ..) => !is_linear(condition),
            _ => false,
        };
        if !stays_affine {
            return false;
        }
        linear.push(n_linear > 0);
    }
    true
}

/// Symbols that are asked for often.
enum SymbolSet<'a> {
    /// So few that looking through a list beats hashing.
    Few(&'a [SymbolId]),
    Many(FxHashSet<SymbolId>),
}

impl<'a> SymbolSet<'a> {
    fn new(symbols: &'a [SymbolId]) -> Self {
        const FEW: usize = 8;
        if symbols.len() <= FEW {
            SymbolSet::Few(symbols)
        } else {
            SymbolSet::Many(symbols.iter().copied().collect())
        }
    }

    fn contains(&self, s: SymbolId) -> bool {
        match self {
            SymbolSet::Few(list) => list.contains(&s),
            SymbolSet::Many(set) => set.contains(&s),
        }
    }
}

/// What [`solve_for`] found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Solution {
    /// The value of the symbol, free of the symbol.
    pub value: ExprId,
    /// What must not be zero for the value to be the only solution; `None` if nothing can go wrong.
    pub divisor: Option<ExprId>,
}

/// Solves `left = right` for a symbol, where one formula gives the only solution.
///
/// Affine equations, and chains of one-to-one functions (exp, log, sinh, tanh, odd powers,
/// x |x|, ±√|x|) around an affine part.
pub fn solve_for(
    pool: &mut Pool,
    left: ExprId,
    right: ExprId,
    symbol: SymbolId,
) -> Option<Solution> {
    let (mut inside, mut target) = match (
        depends_on(pool, left, symbol),
        depends_on(pool, right, symbol),
    ) {
        (true, false) => (left, right),
        (false, true) => (right, left),
        (true, true) => (pool.sub(left, right), pool.number(0.0)),
        (false, false) => return None,
    };

    let mut divisors: Vec<ExprId> = Vec::new();
    // Each turn removes one node from around the symbol.
    for _ in 0..MAX_LAYERS {
        if let Some((coefficients, rest)) = linear_in(pool, inside, &[symbol]) {
            let difference = pool.sub(target, rest);
            let value = divide(pool, difference, coefficients[0], &mut divisors)?;
            return Some(Solution {
                value,
                divisor: product(pool, divisors),
            });
        }
        let marks = marks_of(pool, inside, symbol);
        (inside, target) = peel(pool, inside, target, &marks, &mut divisors)?;
    }
    None
}

/// A formula that undoes more operations than this is no help to a reader, and Newton's
/// method does as well; the limit keeps the search linear in the size of the equation.
const MAX_LAYERS: usize = 64;

/// The nodes below `e` that read the symbol.
fn marks_of(pool: &Pool, e: ExprId, symbol: SymbolId) -> FxHashSet<ExprId> {
    let mut marks = FxHashSet::default();
    for id in below(pool, &[e]) {
        let mut reads = pool.as_symbol(id) == Some(symbol);
        for_each_argument(pool, id, |a| reads |= marks.contains(&a));
        if reads {
            marks.insert(id);
        }
    }
    marks
}

/// Divides, with a/(b/c) written (a c)/b, and notes what it divides by.
fn divide(
    pool: &mut Pool,
    mut top: ExprId,
    mut bottom: ExprId,
    divisors: &mut Vec<ExprId>,
) -> Option<ExprId> {
    loop {
        match pool.node(bottom) {
            Node::Number(bits) if f64::from_bits(bits) == 0.0 => return None,
            Node::Neg(b) => (top, bottom) = (pool.neg(top), b),
            Node::Div(a, b) => (top, bottom) = (pool.mul(top, b), a),
            Node::Number(_) | Node::Call1(Function1::Exp | Function1::Cosh, _) => break,
            _ => {
                divisors.push(bottom);
                break;
            }
        }
    }
    Some(pool.div(top, bottom))
}

fn product(pool: &mut Pool, factors: Vec<ExprId>) -> Option<ExprId> {
    factors.into_iter().reduce(|a, b| pool.mul(a, b))
}

/// Undoes the outermost operation of `inside = target`.
fn peel(
    pool: &mut Pool,
    inside: ExprId,
    target: ExprId,
    marks: &FxHashSet<ExprId>,
    divisors: &mut Vec<ExprId>,
) -> Option<(ExprId, ExprId)> {
    let reads = |a: ExprId| marks.contains(&a);
    Some(match pool.node(inside) {
        Node::Neg(a) => (a, pool.neg(target)),
        Node::Add(a, b) if !reads(b) => (a, pool.sub(target, b)),
        Node::Add(a, b) if !reads(a) => (b, pool.sub(target, a)),
        Node::Sub(a, b) if !reads(b) => (a, pool.add(target, b)),
        Node::Sub(a, b) if !reads(a) => (b, pool.sub(a, target)),
        Node::Mul(a, b) if !reads(b) => (a, divide(pool, target, b, divisors)?),
        Node::Mul(a, b) if !reads(a) => (b, divide(pool, target, a, divisors)?),
        Node::Mul(a, b) => {
            undo_odd_product(pool, a, b, target).or_else(|| undo_odd_product(pool, b, a, target))?
        }
        Node::Div(a, b) if !reads(b) => (a, pool.mul(target, b)),
        // a/x = t: with a = 0 there is no solution or no single one, so a is a divisor too.
        Node::Div(a, b) if !reads(a) => {
            if pool.as_number(a).is_none_or(|a| a == 0.0) {
                divisors.push(a);
            }
            (b, divide(pool, a, target, divisors)?)
        }
        Node::Power(a, n) if !reads(n) => {
            let n = pool.as_number(n)?;
            // Other whole powers are not one-to-one, broken ones are not defined everywhere.
            if n.rem_euclid(2.0) != 1.0 || n < 0.0 {
                return None;
            }
            let exponent = pool.number(1.0 / n);
            (
                a,
                odd_root(pool, target, |pool, size| pool.pow(size, exponent)),
            )
        }
        Node::Power(base, n) if !reads(base) && pool.as_number(base).is_some_and(|a| a > 1.0) => {
            let log = pool.call1(Function1::Log, target);
            let base = pool.call1(Function1::Log, base);
            (n, pool.div(log, base))
        }
        Node::Call1(f, a) => (a, undo_function(pool, f, target)?),
        Node::Smooth(a) => (a, target),
        _ => return None,
    })
}

/// The inverse of a function that takes each value at most once. Out of its range it is NaN.
fn undo_function(pool: &mut Pool, f: Function1, target: ExprId) -> Option<ExprId> {
    let one = pool.number(1.0);
    Some(match f {
        Function1::Exp => pool.call1(Function1::Log, target),
        Function1::Log => pool.call1(Function1::Exp, target),
        Function1::Log10 => {
            let ten = pool.number(10.0);
            pool.pow(ten, target)
        }
        // asinh t = sign(t) ln(|t| + √(t² + 1)); the written-out form with t instead of
        // |t| loses all digits at large negative t.
        Function1::Sinh => odd_root(pool, target, |pool, size| {
            let root = pool.call2(crate::expr::Function2::Hypot, size, one);
            let sum = pool.add(size, root);
            pool.call1(Function1::Log, sum)
        }),
        Function1::Tanh => {
            let (above, under) = (pool.add(one, target), pool.sub(one, target));
            let ratio = pool.div(above, under);
            let log = pool.call1(Function1::Log, ratio);
            let half = pool.number(0.5);
            pool.mul(half, log)
        }
        // Not sqrt, asin, acos, atan: their inverses give a number also where the
        // equation has no solution.
        _ => return None,
    })
}

/// Undoes `x |x|`, `sign(x) xⁿ` and `sign(x) √|x|`, as flow through orifices is written.
fn undo_odd_product(
    pool: &mut Pool,
    first: ExprId,
    second: ExprId,
    target: ExprId,
) -> Option<(ExprId, ExprId)> {
    let two = pool.number(2.0);
    match (pool.node(first), pool.node(second)) {
        (_, Node::Call1(Function1::Abs, x)) if x == first => Some((
            x,
            odd_root(pool, target, |pool, size| pool.call1(Function1::Sqrt, size)),
        )),
        (Node::Call1(Function1::Sign, x), Node::Power(y, n)) if x == y && n == two => Some((
            x,
            odd_root(pool, target, |pool, size| pool.call1(Function1::Sqrt, size)),
        )),
        (Node::Call1(Function1::Sign, x), Node::Mul(y, z)) if x == y && x == z => Some((
            x,
            odd_root(pool, target, |pool, size| pool.call1(Function1::Sqrt, size)),
        )),
        (Node::Call1(Function1::Sign, x), Node::Call1(Function1::Sqrt, size)) => {
            let Node::Call1(Function1::Abs, y) = pool.node(size) else {
                return None;
            };
            if x != y {
                return None;
            }
            let size = pool.call1(Function1::Abs, target);
            Some((x, pool.mul(target, size)))
        }
        _ => None,
    }
}

/// sign(t) f(|t|): continuous, so its switches make no events.
fn odd_root(
    pool: &mut Pool,
    target: ExprId,
    f: impl FnOnce(&mut Pool, ExprId) -> ExprId,
) -> ExprId {
    let sign = pool.call1(Function1::Sign, target);
    let size = pool.call1(Function1::Abs, target);
    let root = f(pool, size);
    let odd = pool.mul(sign, root);
    pool.smooth(odd)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::expr::Comparison;
    use crate::testing::{RandomExpressions, evaluate_at};

    const X: SymbolId = SymbolId(0);
    const Y: SymbolId = SymbolId(1);

    fn xy() -> (Pool, ExprId, ExprId) {
        let mut pool = Pool::new();
        let (x, y) = (pool.symbol(X), pool.symbol(Y));
        (pool, x, y)
    }

    #[test]
    fn coefficients_and_rest_make_up_the_expression() {
        let mut random = RandomExpressions::new(11);
        let mut n_affine = 0;
        for _ in 0..3000 {
            let mut pool = Pool::new();
            let e = random.any(&mut pool, 4, 3);
            let Some((c, rest)) = linear_in(&mut pool, e, &[X, Y]) else {
                continue;
            };
            n_affine += 1;
            for id in [c[0], c[1], rest] {
                assert!(!depends_on(&pool, id, X) && !depends_on(&pool, id, Y));
            }
            let at = random.point(3);
            let value = evaluate_at(&pool, e, &at);
            let terms = [
                evaluate_at(&pool, c[0], &at) * at[0],
                evaluate_at(&pool, c[1], &at) * at[1],
                evaluate_at(&pool, rest, &at),
            ];
            let size: f64 = terms.iter().map(|t| t.abs()).sum::<f64>() + 1.0;
            if value.is_finite() && size.is_finite() {
                // A few roundings per operation, at most a hundred operations.
                assert!((value - terms.iter().sum::<f64>()).abs() <= 1e-13 * size);
            }
        }
        assert!(n_affine > 500, "only {n_affine} expressions were affine");
    }

    #[test]
    fn a_condition_free_of_the_symbols_keeps_an_if_affine() {
        let (mut pool, x, y) = xy();
        let zero = pool.number(0.0);
        let on = pool.compare(Comparison::Greater, y, zero);
        let double = pool.add(x, x);
        let e = pool.if_else(on, x, double);
        assert!(is_affine(&pool, e, &[X]));
        assert!(!is_affine(&pool, e, &[X, Y]));
    }

    #[test]
    fn a_junction_with_many_bonds_is_split_in_linear_time() {
        let mut pool = Pool::new();
        let symbols: Vec<SymbolId> = (0..100_000).map(SymbolId).collect();
        let mut sum = pool.number(0.0);
        for &s in &symbols {
            let x = pool.symbol(s);
            sum = pool.sub(sum, x);
        }
        let (c, rest) = linear_in(&mut pool, sum, &symbols).expect("a sum is affine");
        assert!(c.iter().all(|&c| pool.as_number(c) == Some(-1.0)));
        assert_eq!(pool.as_number(rest), Some(0.0));
    }

    /// Solves `e(x) = y` for x and checks that e(x) gives y again.
    fn check_inverse(build: impl Fn(&mut Pool, ExprId) -> ExprId, targets: &[f64]) {
        let (mut pool, x, y) = xy();
        let e = build(&mut pool, x);
        let solution = solve_for(&mut pool, e, y, X).expect("has one solution");
        for &target in targets {
            let x = evaluate_at(&pool, solution.value, &[f64::NAN, target]);
            let back = evaluate_at(&pool, e, &[x, target]);
            assert!(
                (back - target).abs() <= 1e-12 * (1.0 + target.abs()),
                "{back} for {target}"
            );
        }
    }

    #[test]
    fn one_to_one_laws_are_inverted() {
        let both = [-3.0, -0.5, 0.0, 0.7, 9.0];
        check_inverse(
            |pool, x| {
                let (thermal, saturation) = (pool.number(0.025), pool.number(1e-3));
                let ratio = pool.div(x, thermal);
                let exp = pool.call1(Function1::Exp, ratio);
                let one = pool.number(1.0);
                let less = pool.sub(exp, one);
                pool.mul(saturation, less)
            },
            &[-0.0005, 0.0, 2.0],
        );
        check_inverse(|pool, x| pool.powi(x, 3), &both);
        check_inverse(|pool, x| pool.call1(Function1::Sinh, x), &both);
        check_inverse(|pool, x| pool.call1(Function1::Tanh, x), &[-0.9, 0.0, 0.3]);
        check_inverse(
            |pool, x| {
                let size = pool.call1(Function1::Abs, x);
                pool.mul(x, size)
            },
            &both,
        );
        check_inverse(
            |pool, x| {
                let size = pool.call1(Function1::Abs, x);
                let root = pool.call1(Function1::Sqrt, size);
                let sign = pool.call1(Function1::Sign, x);
                pool.mul(sign, root)
            },
            &both,
        );
    }

    #[test]
    fn what_a_solution_divides_by_is_told() {
        let (mut pool, x, y) = xy();
        let z = pool.symbol(SymbolId(2));
        let left = pool.mul(z, x);
        let solution = solve_for(&mut pool, left, y, X).expect("affine");
        assert_eq!(solution.divisor, Some(z));
        let left = pool.div(x, z);
        let solution = solve_for(&mut pool, left, y, X).expect("affine");
        assert_eq!(
            solution,
            Solution {
                value: pool.mul(y, z),
                divisor: None
            }
        );
    }

    #[test]
    fn laws_with_several_or_no_solutions_are_left_alone() {
        let (mut pool, x, y) = xy();
        let square = pool.powi(x, 2);
        assert_eq!(solve_for(&mut pool, square, y, X), None);
        let root = pool.call1(Function1::Sqrt, x);
        assert_eq!(solve_for(&mut pool, root, y, X), None);
        let sin = pool.call1(Function1::Sin, x);
        let sum = pool.add(sin, x);
        assert_eq!(solve_for(&mut pool, sum, y, X), None);
        let same = pool.mul(x, y);
        let zero = pool.number(0.0);
        let nothing = pool.mul(zero, same);
        assert_eq!(solve_for(&mut pool, nothing, y, X), None);
    }
}
