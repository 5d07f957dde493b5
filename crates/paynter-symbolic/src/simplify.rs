//! Shortens expressions without changing their value.
//!
//! In:  an expression.
//! Out: one with fewer operations, or the same one.
//!
//! **Invariant:** wherever the expression is finite the result is too, and equal up to
//! rounding; so it is safe for machine code. Nothing is cancelled that might be zero, and
//! nothing is multiplied out. (For printing, `normal` goes further.)

use crate::expr::{ExprId, Function1, Node, Pool};
use crate::walk::{below, count_operations, rebuild};
use rustc_hash::FxHashMap;

/// Shortens one expression.
///
/// Collects like terms and equal factors, gathers numbers, folds sin² + cos², moves signs
/// out of even and odd functions. Linear in the size of the expression.
pub fn simplify(pool: &mut Pool, e: ExprId) -> ExprId {
    let mut simplifier = Simplifier::default();
    for id in below(pool, &[e]) {
        let new = simplifier.node(pool, id);
        simplifier.new_ids.insert(id, new);
    }
    let new = simplifier.new_ids[&e];
    if count_operations(pool, new) < count_operations(pool, e) {
        new
    } else {
        e
    }
}

/// Longer sums and products are not searched for like parts, so that the cost stays linear.
const MAX_PARTS: usize = 32;

#[derive(Default)]
struct Simplifier {
    new_ids: FxHashMap<ExprId, ExprId>,
    /// Of new expressions: Σ coefficient · base; the base of a number is absent.
    sums: FxHashMap<ExprId, Vec<(f64, Option<ExprId>)>>,
    /// Of new expressions: coefficient · Π baseⁿ, n > 0.
    products: FxHashMap<ExprId, (f64, Vec<(ExprId, i32)>)>,
    signs: FxHashMap<ExprId, Sign>,
}

/// What is known of the sign of a finite value.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Sign {
    Unknown,
    NotNegative,
    Positive,
}

impl Simplifier {
    fn node(&mut self, pool: &mut Pool, id: ExprId) -> ExprId {
        let new_ids = &self.new_ids;
        let new = rebuild(pool, id, &|a| new_ids[&a]);
        match pool.node(new) {
            Node::Add(a, b) => self.sum(pool, new, (1.0, a), (1.0, b)),
            Node::Sub(a, b) => self.sum(pool, new, (1.0, a), (-1.0, b)),
            Node::Mul(a, b) => self.product(pool, new, a, b),
            Node::Div(a, b) => self.quotient(pool, new, a, b),
            Node::Power(a, n) => self.power(pool, new, a, n),
            Node::Call1(f, a) => function(pool, new, f, a),
            Node::If(condition, a, b) => match pool.node(condition) {
                Node::Not(c) => pool.if_else(c, b, a),
                _ => new,
            },
            _ => new,
        }
    }

    fn terms_of(&self, pool: &Pool, e: ExprId) -> Vec<(f64, Option<ExprId>)> {
        if let Some(terms) = self.sums.get(&e) {
            return terms.clone();
        }
        if let Some(x) = pool.as_number(e) {
            return vec![(x, None)];
        }
        if let Node::Neg(a) = pool.node(e) {
            return self.terms_of_positive(pool, a, -1.0);
        }
        self.terms_of_positive(pool, e, 1.0)
    }

    fn terms_of_positive(&self, pool: &Pool, e: ExprId, sign: f64) -> Vec<(f64, Option<ExprId>)> {
        if let Some(terms) = self.sums.get(&e) {
            return terms.iter().map(|&(c, base)| (sign * c, base)).collect();
        }
        if let Node::Mul(a, b) = pool.node(e) {
            for (number, base) in [(a, b), (b, a)] {
                if let Some(c) = pool.as_number(number)
                    && c.is_finite()
                {
                    return vec![(sign * c, Some(base))];
                }
            }
        }
        vec![(sign, Some(e))]
    }

    /// Collects like terms; the sum stays as it is if there are none.
    fn sum(&mut self, pool: &mut Pool, new: ExprId, a: (f64, ExprId), b: (f64, ExprId)) -> ExprId {
        let mut terms: Vec<(f64, Option<ExprId>)> = Vec::new();
        let mut is_collected = false;
        for (sign, e) in [a, b] {
            let parts = self.terms_of(pool, e);
            if terms.len() + parts.len() > MAX_PARTS {
                return new;
            }
            for (c, base) in parts {
                match terms.iter_mut().find(|t| t.1 == base) {
                    Some(term) => {
                        term.0 += sign * c;
                        is_collected = true;
                    }
                    None => terms.push((sign * c, base)),
                }
            }
        }

        is_collected |= fold_pythagoras(pool, &mut terms);
        terms.retain(|t| t.0 != 0.0);
        if !is_collected {
            self.sums.insert(new, terms);
            return new;
        }
        let mut sum = pool.number(0.0);

        // The number last: x + y − 1.
        terms.sort_by_key(|t| t.1.is_none());
        for &(c, base) in &terms {
            let size = pool.number(c.abs());
            let term = match base {
                Some(base) => pool.mul(size, base),
                None => size,
            };
            sum = if c < 0.0 {
                pool.sub(sum, term)
            } else {
                pool.add(sum, term)
            };
        }

        self.sums.insert(sum, terms);
        sum
    }

    fn factors_of(&self, pool: &Pool, e: ExprId) -> (f64, Vec<(ExprId, i32)>) {
        if let Some(known) = self.products.get(&e) {
            return known.clone();
        }
        match pool.node(e) {
            Node::Number(bits) => (f64::from_bits(bits), Vec::new()),
            Node::Neg(a) => {
                let (c, factors) = self.factors_of_positive(pool, a);
                (-c, factors)
            }
            _ => self.factors_of_positive(pool, e),
        }
    }

    fn factors_of_positive(&self, pool: &Pool, e: ExprId) -> (f64, Vec<(ExprId, i32)>) {
        if let Some(known) = self.products.get(&e) {
            return known.clone();
        }
        if let Node::Power(a, n) = pool.node(e)
            && let Some(n) = whole_power(pool, n)
        {
            return (1.0, vec![(a, n)]);
        }
        (1.0, vec![(e, 1)])
    }

    /// Gathers numbers and equal factors; the product stays as it is if there are none.
    fn product(&mut self, pool: &mut Pool, new: ExprId, a: ExprId, b: ExprId) -> ExprId {
        let (mut c, mut factors) = self.factors_of(pool, a);
        let (d, more) = self.factors_of(pool, b);
        if factors.len() + more.len() > MAX_PARTS || !c.is_finite() || !d.is_finite() {
            return new;
        }
        let mut is_gathered = c.abs() != 1.0 && d.abs() != 1.0;
        c *= d;
        for (base, n) in more {
            match factors.iter_mut().find(|f| f.0 == base) {
                Some(factor) => {
                    factor.1 += n;
                    is_gathered = true;
                }
                None => factors.push((base, n)),
            }
        }
        if c == 0.0 || !c.is_finite() {
            return new;
        }
        if !is_gathered {
            self.products.insert(new, (c, factors));
            return new;
        }
        let product = write_product(pool, c, &factors);
        self.products.insert(product, (c, factors));
        product
    }

    /// Divides numbers, and cancels factors that cannot be zero.
    fn quotient(&mut self, pool: &mut Pool, new: ExprId, a: ExprId, b: ExprId) -> ExprId {
        let (mut c, mut above) = self.factors_of(pool, a);
        let (d, mut below) = self.factors_of(pool, b);
        let both_numbers = c.abs() != 1.0 && d.abs() != 1.0;
        let mut is_changed = both_numbers && d != 0.0 && d.is_finite() && c.is_finite();
        if !is_changed && d.abs() != 1.0 {
            return new;
        }
        if is_changed || d.abs() == 1.0 {
            c /= d;
        }
        for i in 0..above.len() {
            let base = above[i].0;
            let Some(j) = below.iter().position(|f| f.0 == base) else {
                continue;
            };
            if self.sign(pool, base) == Sign::Positive {
                let shared = above[i].1.min(below[j].1);
                above[i].1 -= shared;
                below[j].1 -= shared;
                is_changed = true;
            }
        }

        if !is_changed || c == 0.0 || !c.is_finite() {
            return new;
        }
        above.retain(|f| f.1 > 0);
        below.retain(|f| f.1 > 0);
        let (top, bottom) = (
            write_product(pool, c, &above),
            write_product(pool, 1.0, &below),
        );
        pool.div(top, bottom)
    }

    /// (xᵐ)ⁿ = xᵐⁿ for whole positive m and n.
    fn power(&mut self, pool: &mut Pool, new: ExprId, a: ExprId, n: ExprId) -> ExprId {
        let Some(n) = whole_power(pool, n) else {
            return new;
        };
        let Node::Power(x, m) = pool.node(a) else {
            return new;
        };
        match whole_power(pool, m) {
            Some(m) if m * n <= 64 => pool.powi(x, m * n),
            _ => new,
        }
    }

    /// What is known of the sign, looking a few levels deep.
    fn sign(&mut self, pool: &Pool, e: ExprId) -> Sign {
        for id in below(pool, &[e]) {
            if !self.signs.contains_key(&id) {
                let sign = self.sign_of_node(pool, id);
                self.signs.insert(id, sign);
            }
        }
        self.signs[&e]
    }

    fn sign_of_node(&self, pool: &Pool, id: ExprId) -> Sign {
        let at = |a: ExprId| self.signs.get(&a).copied().unwrap_or(Sign::Unknown);
        match pool.node(id) {
            Node::Number(bits) => match f64::from_bits(bits) {
                x if x > 0.0 => Sign::Positive,
                0.0 => Sign::NotNegative,
                _ => Sign::Unknown,
            },
            Node::Add(a, b) if at(a) != Sign::Unknown && at(b) != Sign::Unknown => at(a).max(at(b)),
            // A product of tiny positive numbers can round to zero.
            Node::Mul(a, b) if a == b => Sign::NotNegative,
            Node::Mul(a, b) if at(a) != Sign::Unknown && at(b) != Sign::Unknown => {
                Sign::NotNegative
            }
            Node::Power(_, n) if whole_power(pool, n).is_some_and(|n| n % 2 == 0) => {
                Sign::NotNegative
            }
            // exp underflows to zero below −745, so it is not known to be positive.
            Node::Call1(Function1::Cosh, _) => Sign::Positive,
            Node::Call1(Function1::Exp | Function1::Abs | Function1::Sqrt, _) => Sign::NotNegative,
            Node::Smooth(a) => at(a),
            _ => Sign::Unknown,
        }
    }
}

fn whole_power(pool: &Pool, n: ExprId) -> Option<i32> {
    let n = pool.as_number(n)?;
    (n.fract() == 0.0 && (1.0..=64.0).contains(&n)).then_some(n as i32)
}

fn write_product(pool: &mut Pool, c: f64, factors: &[(ExprId, i32)]) -> ExprId {
    let mut product = pool.number(1.0);
    for &(base, n) in factors {
        let factor = pool.powi(base, n);
        product = pool.mul(product, factor);
    }
    let size = pool.number(c.abs());
    let product = pool.mul(size, product);
    if c < 0.0 { pool.neg(product) } else { product }
}

/// c sin²x + c cos²x = c.
fn fold_pythagoras(pool: &Pool, terms: &mut Vec<(f64, Option<ExprId>)>) -> bool {
    let square_of = |e: ExprId, f: Function1| -> Option<ExprId> {
        let base = match pool.node(e) {
            Node::Power(base, n) if pool.as_number(n) == Some(2.0) => base,
            Node::Mul(a, b) if a == b => a,
            _ => return None,
        };
        match pool.node(base) {
            Node::Call1(g, x) if g == f => Some(x),
            _ => None,
        }
    };

    for i in 0..terms.len() {
        let Some(x) = terms[i].1.and_then(|e| square_of(e, Function1::Sin)) else {
            continue;
        };
        let partner = terms.iter().position(|t| {
            t.0 == terms[i].0 && t.1.and_then(|e| square_of(e, Function1::Cos)) == Some(x)
        });
        if let Some(j) = partner {
            let c = terms[i].0;
            terms.remove(i.max(j));
            terms.remove(i.min(j));
            match terms.iter_mut().find(|t| t.1.is_none()) {
                Some(number) => number.0 += c,
                None => terms.push((c, None)),
            }
            return true;
        }
    }
    false
}

/// Even functions forget a sign, odd ones pass it on; both exactly.
fn function(pool: &mut Pool, new: ExprId, f: Function1, a: ExprId) -> ExprId {
    use Function1::{Abs, Asin, Atan, Cos, Cosh, Sign, Sin, Sinh, Tan, Tanh};
    let Node::Neg(inside) = pool.node(a) else {
        return new;
    };
    match f {
        Cos | Cosh | Abs => pool.call1(f, inside),
        Sin | Tan | Asin | Atan | Sinh | Tanh | Sign => {
            let value = pool.call1(f, inside);
            pool.neg(value)
        }
        _ => new,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::print::{Style, to_text, tree_of};
    use crate::testing::{Names, RandomExpressions, evaluate_at, largest_part, parse};

    fn simplified(text: &str) -> String {
        let (mut pool, mut names) = (Pool::new(), Names::default());
        let e = parse(&mut pool, &mut names, text);
        let new = simplify(&mut pool, e);
        let style = Style {
            name: &|s| names.name(s),
            is_state: &|_| false,
        };
        to_text(&tree_of(&pool, new, &style), style.name)
    }

    #[test]
    fn like_terms_and_numbers_are_collected() {
        assert_eq!(simplified("x + y - x"), "y");
        assert_eq!(simplified("2*x + y + 3*x"), "5*x + y");
        assert_eq!(simplified("1 + x + 2 - (x + 3)"), "0");
        assert_eq!(simplified("2*(3*x)"), "6*x");
        assert_eq!(simplified("3*x/2 - 1.5*x"), "0");
        assert_eq!(simplified("sin(x)^2 + y + cos(x)*cos(x)"), "1 + y");
        assert_eq!(
            simplified("if not (x < y) then x else y"),
            "if x < y then y else x"
        );
        assert_eq!(simplified("cos(-x) + sin(-x)"), "cos(x) - sin(x)");
    }

    #[test]
    fn only_what_cannot_be_zero_is_cancelled() {
        assert_eq!(simplified("x*y/x"), "x*y/x");
        assert_eq!(simplified("(1 + x^2)*y/(1 + x^2)"), "y");
        assert_eq!(simplified("cosh(x)*y/cosh(x)"), "y");
    }

    #[test]
    fn simplifying_keeps_values_and_never_lengthens() {
        let mut random = RandomExpressions::new(33);
        let (mut n_compared, mut n_shorter) = (0, 0);
        for _ in 0..6000 {
            let mut pool = Pool::new();
            let e = random.any(&mut pool, 5, 3);
            let new = simplify(&mut pool, e);
            let (before, after) = (count_operations(&pool, e), count_operations(&pool, new));
            assert!(after <= before);
            n_shorter += usize::from(after < before);
            let at = random.point(3);
            let (expected, found) = (evaluate_at(&pool, e, &at), evaluate_at(&pool, new, &at));
            let size = largest_part(&pool, e, &at).max(largest_part(&pool, new, &at));
            if expected.is_finite() && size < 1e5 {
                n_compared += 1;
                assert!(
                    (expected - found).abs() <= 1e-12 * size * size,
                    "{expected} {found}"
                );
            }
        }
        assert!(
            n_compared > 2000,
            "only {n_compared} points were meaningful"
        );
        assert!(
            n_shorter > 300,
            "only {n_shorter} expressions became shorter"
        );
    }
}
