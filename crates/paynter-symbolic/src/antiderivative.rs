//! Integrals of expressions in closed form.
//!
//! In:  an expression, and the symbol to integrate over.
//! Out: an expression whose derivative it is, where one is known that has a value on the whole real line.
//!
//! **Invariant:** what is given back is smooth everywhere, so its difference between any two points is the
//! integral between them. Roots, logarithms, quotients and corners are left to quadrature: an antiderivative across
//! a pole would give a number where there is none.

use crate::expr::{Comparison, ExprId, Function1, Node, Pool, SymbolId};
use crate::walk::depends_on;

/// Gives ∫ e ds where a closed form without poles is known.
pub fn antiderivative(pool: &mut Pool, e: ExprId, s: SymbolId) -> Option<ExprId> {
    if !depends_on(pool, e, s) {
        let x = pool.symbol(s);
        return Some(pool.mul(e, x));
    }
    match pool.node(e) {
        Node::Symbol(_) => Some(monomial(pool, s, 1)),
        Node::Neg(a) => {
            let a = antiderivative(pool, a, s)?;
            Some(pool.neg(a))
        }
        Node::Add(a, b) => {
            let (a, b) = (antiderivative(pool, a, s)?, antiderivative(pool, b, s)?);
            Some(pool.add(a, b))
        }
        Node::Sub(a, b) => {
            let (a, b) = (antiderivative(pool, a, s)?, antiderivative(pool, b, s)?);
            Some(pool.sub(a, b))
        }
        Node::Mul(..) => product(pool, e, s),
        Node::Div(a, b) if !depends_on(pool, b, s) => {
            let a = antiderivative(pool, a, s)?;
            Some(pool.div(a, b))
        }
        Node::Power(u, n) => power_of_line(pool, u, n, s),
        Node::Call1(f, u) => function_of_line(pool, f, u, s),
        _ => None,
    }
}

/// sⁿ⁺¹/(n + 1)
fn monomial(pool: &mut Pool, s: SymbolId, n: i32) -> ExprId {
    let x = pool.symbol(s);
    let power = pool.powi(x, n + 1);
    let below = pool.number(f64::from(n + 1));
    pool.div(power, below)
}

/// A constant times one factor, or times a power of the symbol itself. Other products are not multiplied out:
/// the terms could cancel.
fn product(pool: &mut Pool, e: ExprId, s: SymbolId) -> Option<ExprId> {
    let mut constant = pool.number(1.0);
    let mut others = Vec::new();
    let mut open = vec![e];
    while let Some(factor) = open.pop() {
        match pool.node(factor) {
            _ if !depends_on(pool, factor, s) => constant = pool.mul(factor, constant),
            Node::Mul(a, b) => open.extend([b, a]),
            Node::Neg(a) => {
                constant = pool.neg(constant);
                open.push(a);
            }
            Node::Div(a, b) if !depends_on(pool, b, s) => {
                constant = pool.div(constant, b);
                open.push(a);
            }
            _ => others.push(factor),
        }
    }
    let integral = match others.as_slice() {
        [only] => antiderivative(pool, *only, s)?,
        many => {
            let degrees = many.iter().map(|&factor| degree(pool, factor, s));
            let degree: i32 = degrees.collect::<Option<Vec<i32>>>()?.into_iter().sum();
            monomial(pool, s, degree)
        }
    };
    Some(pool.mul(constant, integral))
}

/// n where the factor is sⁿ.
fn degree(pool: &Pool, factor: ExprId, s: SymbolId) -> Option<i32> {
    match pool.node(factor) {
        Node::Symbol(_) => Some(1),
        Node::Power(base, n) if pool.as_symbol(base) == Some(s) => whole(pool, n),
        _ => None,
    }
}

/// A whole exponent that makes no pole.
fn whole(pool: &Pool, n: ExprId) -> Option<i32> {
    let n = pool.as_number(n)?;
    (n.fract() == 0.0 && (0.0..=64.0).contains(&n)).then_some(n as i32)
}

/// ∂u/∂s of a straight line u = α s + β, where its form shows that it is one.
fn slope_of_line(pool: &mut Pool, u: ExprId, s: SymbolId) -> Option<ExprId> {
    if !depends_on(pool, u, s) {
        return Some(pool.number(0.0));
    }
    match pool.node(u) {
        Node::Symbol(_) => Some(pool.number(1.0)),
        Node::Neg(a) => {
            let a = slope_of_line(pool, a, s)?;
            Some(pool.neg(a))
        }
        Node::Add(a, b) => {
            let (a, b) = (slope_of_line(pool, a, s)?, slope_of_line(pool, b, s)?);
            Some(pool.add(a, b))
        }
        Node::Sub(a, b) => {
            let (a, b) = (slope_of_line(pool, a, s)?, slope_of_line(pool, b, s)?);
            Some(pool.sub(a, b))
        }
        Node::Mul(a, b) => {
            let (line, factor) = match (depends_on(pool, a, s), depends_on(pool, b, s)) {
                (true, false) => (a, b),
                (false, true) => (b, a),
                _ => return None,
            };
            let slope = slope_of_line(pool, line, s)?;
            Some(pool.mul(factor, slope))
        }
        Node::Div(a, b) if !depends_on(pool, b, s) => {
            let slope = slope_of_line(pool, a, s)?;
            Some(pool.div(slope, b))
        }
        _ => None,
    }
}

/// uⁿ⁺¹/((n + 1) α)
fn power_of_line(pool: &mut Pool, u: ExprId, n: ExprId, s: SymbolId) -> Option<ExprId> {
    let n = whole(pool, n)?;
    let whole_power = pool.powi(u, n + 1);
    let below = pool.number(f64::from(n + 1));
    let integral = pool.div(whole_power, below);
    let integrand = pool.powi(u, n);
    by_slope(pool, (u, integrand, integral), s)
}

/// F(u)/α with F' = f.
fn function_of_line(pool: &mut Pool, f: Function1, u: ExprId, s: SymbolId) -> Option<ExprId> {
    let integral = match f {
        Function1::Sin => {
            let cosine = pool.call1(Function1::Cos, u);
            pool.neg(cosine)
        }
        Function1::Cos => pool.call1(Function1::Sin, u),
        Function1::Sinh => pool.call1(Function1::Cosh, u),
        Function1::Cosh => pool.call1(Function1::Sinh, u),
        Function1::Exp => pool.call1(Function1::Exp, u),
        Function1::Tanh => log_cosh(pool, u),
        Function1::Atan => {
            // u atan u − ½ log(1 + u²)
            let angle = pool.call1(Function1::Atan, u);
            let first = pool.mul(u, angle);
            let (one, half) = (pool.number(1.0), pool.number(0.5));
            let square = pool.powi(u, 2);
            let inside = pool.add(one, square);
            let log = pool.call1(Function1::Log, inside);
            let second = pool.mul(half, log);
            pool.sub(first, second)
        }
        _ => return None,
    };
    let integrand = pool.call1(f, u);
    by_slope(pool, (u, integrand, integral), s)
}

/// log cosh u = |u| + log(½ + ½ exp(−2|u|)), which does not overflow.
fn log_cosh(pool: &mut Pool, u: ExprId) -> ExprId {
    let size = pool.call1(Function1::Abs, u);
    let (minus_two, half) = (pool.number(-2.0), pool.number(0.5));
    let exponent = pool.mul(minus_two, size);
    let small = pool.call1(Function1::Exp, exponent);
    let small = pool.mul(half, small);
    let inside = pool.add(half, small);
    let log = pool.call1(Function1::Log, inside);
    let sum = pool.add(size, log);
    // The corner of |u| is made up for by the logarithm.
    pool.smooth(sum)
}

/// Divides by the slope of the line. A slope that is a parameter may be zero: then f is constant.
fn by_slope(
    pool: &mut Pool,
    (u, integrand, integral): (ExprId, ExprId, ExprId),
    s: SymbolId,
) -> Option<ExprId> {
    let slope = slope_of_line(pool, u, s)?;
    let quotient = pool.div(integral, slope);
    if pool.as_number(slope).is_some_and(|slope| slope != 0.0) {
        return Some(quotient);
    }
    let (x, zero) = (pool.symbol(s), pool.number(0.0));
    let flat = pool.mul(integrand, x);
    let is_flat = pool.compare(Comparison::Equal, slope, zero);
    Some(pool.if_else(is_flat, flat, quotient))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::calculus::derivative;
    use crate::evaluate::evaluate;

    const X: SymbolId = SymbolId(0);
    const K: SymbolId = SymbolId(1);

    /// Compares the derivative of the integral with the integrand, for two values of the parameter.
    fn check(build: impl Fn(&mut Pool, ExprId, ExprId) -> ExprId) {
        let mut pool = Pool::new();
        let (x, k) = (pool.symbol(X), pool.symbol(K));
        let e = build(&mut pool, x, k);
        let integral = antiderivative(&mut pool, e, X).expect("a closed form is known");
        let slope = derivative(&mut pool, integral, X);
        for k in [0.0, -1.7] {
            for x in [-900.0, -2.3, -0.4, 0.0, 0.7, 3.1] {
                let at = |s: SymbolId| if s == X { x } else { k };
                let (a, b) = (evaluate(&pool, slope, &at), evaluate(&pool, e, &at));
                let (a, b) = (a.expect("no table"), b.expect("no table"));
                assert!((a - b).abs() <= 1e-12 * b.abs().max(1.0), "{a} {b} at {x}");
            }
        }
    }

    #[test]
    fn derivative_of_the_integral_is_the_integrand() {
        check(|p, x, k| p.mul(k, x));
        check(|p, x, k| {
            let cube = p.powi(x, 3);
            let cube = p.mul(k, cube);
            let three = p.number(3.0);
            let line = p.div(x, three);
            p.sub(line, cube)
        });
        for f in [
            Function1::Sin,
            Function1::Cos,
            Function1::Tanh,
            Function1::Atan,
        ] {
            check(|p, x, k| {
                let two = p.number(2.0);
                let scaled = p.mul(k, x);
                let line = p.add(scaled, two);
                let value = p.call1(f, line);
                p.mul(two, value)
            });
        }
        check(|p, x, k| {
            let line = p.sub(x, k);
            let fourth = p.powi(line, 4);
            p.neg(fourth)
        });
    }

    #[test]
    fn tanh_is_integrated_without_overflow() {
        let mut pool = Pool::new();
        let x = pool.symbol(X);
        let e = pool.call1(Function1::Tanh, x);
        let integral = antiderivative(&mut pool, e, X).expect("a closed form is known");
        let value = evaluate(&pool, integral, &|_| 1e4).expect("no table");
        // log cosh x = |x| − log 2 for large x
        assert!((value - (1e4 - 2f64.ln())).abs() < 1e-11);
    }

    #[test]
    fn what_has_poles_roots_or_corners_is_left_to_quadrature() {
        let mut pool = Pool::new();
        let (x, one) = (pool.symbol(X), pool.number(1.0));
        let inverse = pool.div(one, x);
        let root = pool.call1(Function1::Sqrt, x);
        let log = pool.call1(Function1::Log, x);
        let corner = pool.call1(Function1::Abs, x);
        let negative = pool.powi(x, -2);
        for e in [inverse, root, log, corner, negative] {
            assert_eq!(antiderivative(&mut pool, e, X), None);
        }
    }
}
