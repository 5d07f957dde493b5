//! Short forms of quotients: cos θ sin θ/sin θ is cos θ, and cos²θ/sin θ + sin θ is 1/sin θ.
//!
//! In:  expressions that came out of an elimination.
//! Out: equal ones without what cancels.
//!
//! A quotient is read as a polynomial with the atom 1/b for each divisor b; where the factor of 1/b can be divided by b,
//! it is.

use super::poly::{Atom, Monomial, Poly, expression_of, poly_of};
use super::system::System;
use paynter_symbolic::{ExprId, Node};

/// The shortest form of an expression that is found here.
pub(super) fn tidy(system: &mut System, e: ExprId) -> ExprId {
    if system.pool.as_number(e).is_some() || system.pool.as_symbol(e).is_some() {
        return e;
    }
    let e = system.simplify(e);
    let Some(mut poly) = poly_of(system, e) else {
        return e;
    };
    for divisor in divisors(system, &poly) {
        poly = cancelled(system, poly, divisor);
    }
    let reduced = poly.reduced();
    if reduced.0.len() < poly.0.len() {
        poly = reduced;
    }
    let short = expression_of(system, &poly);
    let short = system.simplify(short);
    if size(system, short) <= size(system, e) {
        short
    } else {
        e
    }
}

/// Atoms 1/b, with b.
fn divisors(system: &System, poly: &Poly) -> Vec<(Atom, ExprId)> {
    let mut found: Vec<(Atom, ExprId)> = Vec::new();
    for &(atom, _) in poly.0.keys().flat_map(|m| &m.0) {
        let Atom::Other(e) = atom else { continue };
        let Node::Div(top, b) = system.pool.node(e) else {
            continue;
        };
        let is_known = found.iter().any(|d| d.0 == atom);
        if system.pool.as_number(top) == Some(1.0) && !is_known {
            found.push((atom, b));
        }
    }
    found
}

/// A polynomial with factors of 1/b divided by b where that leaves no rest, or brought over b where that is shorter.
fn cancelled(system: &mut System, poly: Poly, (atom, b): (Atom, ExprId)) -> Poly {
    let Some(divisor) = poly_of(system, b) else {
        return poly;
    };
    let mut powers = by_power(&poly, atom);
    for n in (1..powers.len()).rev() {
        if let Some(quotient) = powers[n].over(&divisor) {
            powers[n - 1] = powers[n - 1].plus(&quotient, 1.0);
            powers[n] = Poly::default();
            continue;
        }
        let over_b = powers[n - 1].times(&divisor);
        if let Some(sum) = over_b.map(|over_b| over_b.plus(&powers[n], 1.0).reduced())
            && sum.0.len() < powers[n].0.len() + powers[n - 1].0.len()
        {
            powers[n] = sum;
            powers[n - 1] = Poly::default();
        }
    }
    let mut sum = Poly::default();
    for (n, factor) in powers.into_iter().enumerate() {
        for (monomial, c) in factor.0 {
            let mut all = monomial.0;
            if n > 0 {
                all.push((atom, n as i32));
                all.sort_unstable();
            }
            sum = sum.plus(&Poly([(Monomial(all), c)].into()), 1.0);
        }
    }
    sum
}

/// Factors of atomⁿ, by n.
fn by_power(poly: &Poly, atom: Atom) -> Vec<Poly> {
    let mut powers = vec![Poly::default()];
    for (monomial, &c) in &poly.0 {
        let (own, others): (Vec<_>, Vec<_>) = monomial.0.iter().copied().partition(|p| p.0 == atom);
        let n = own.first().map_or(0, |p| p.1.max(0) as usize);
        if powers.len() <= n {
            powers.resize(n + 1, Poly::default());
        }
        powers[n].0.insert(Monomial(others), c);
    }
    powers
}

/// Parts that are shared are counted as often as they are written, so the count may double with every level.
const MAX_SIZE: usize = 10_000;

/// Operations of an expression, each as often as it is written.
fn size(system: &System, e: ExprId) -> usize {
    let mut n = 0;
    let mut open = vec![e];
    while let Some(e) = open.pop() {
        n += 1;
        if n > MAX_SIZE {
            break;
        }
        match system.pool.node(e) {
            Node::Add(a, b) | Node::Sub(a, b) | Node::Mul(a, b) | Node::Div(a, b) => {
                open.extend([a, b]);
            }
            Node::Power(a, b) => open.extend([a, b]),
            Node::Neg(a) | Node::Call1(_, a) => open.push(a),
            _ => {}
        }
    }
    n
}
