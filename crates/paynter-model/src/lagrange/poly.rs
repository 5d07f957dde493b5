//! Polynomials in symbols, sines and cosines: enough algebra to see that l² − l² cos²a is (l sin a)².
//!
//! In:  expressions.
//! Out: sums of monomials, their products, exact quotients and square roots.
//!
//! Sines and cosines of one angle are two atoms with sin² + cos² = 1. Which of the two squares is replaced is
//! a choice for each angle (an [`Orientation`]): roots and quotients are looked for under all of them. Angles
//! that are sums are taken apart. What is no polynomial is an atom of its own.

use super::system::{Role, System};
use paynter_symbolic::expr::Function1;
use paynter_symbolic::{ExprId, Node, Pool, SymbolId};
use std::cmp::Ordering;
use std::collections::BTreeMap;

/// Something that a polynomial is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Atom {
    /// The same everywhere: may be divided by.
    Constant(SymbolId),
    /// Anything else that is no sine or cosine.
    Other(ExprId),
    /// The sine of an angle.
    Sin(ExprId),
    /// Its cosine.
    Cos(ExprId),
}

/// Π atomⁿ, ascending by atom, no n = 0.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub(super) struct Monomial(pub Vec<(Atom, i32)>);

impl Ord for Monomial {
    /// Lexicographic by exponents: an order that products keep.
    fn cmp(&self, other: &Self) -> Ordering {
        let (mut a, mut b) = (self.0.iter().peekable(), other.0.iter().peekable());
        loop {
            let (exponent_a, exponent_b) = match (a.peek(), b.peek()) {
                (None, None) => return Ordering::Equal,
                (Some(x), None) => (x.1, 0),
                (None, Some(y)) => (0, y.1),
                (Some(x), Some(y)) => match x.0.cmp(&y.0) {
                    Ordering::Less => (x.1, 0),
                    Ordering::Greater => (0, y.1),
                    Ordering::Equal => (x.1, y.1),
                },
            };
            if exponent_a != exponent_b {
                return exponent_a.cmp(&exponent_b);
            }
            // Equal and not zero: both stood at the same atom.
            a.next();
            b.next();
        }
    }
}

impl PartialOrd for Monomial {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Monomial {
    fn times(&self, other: &Monomial, sign: i32) -> Monomial {
        let mut powers: BTreeMap<Atom, i32> = self.0.iter().copied().collect();
        for &(atom, n) in &other.0 {
            *powers.entry(atom).or_insert(0) += sign * n;
        }
        Monomial(powers.into_iter().filter(|p| p.1 != 0).collect())
    }

    /// Only what is the same everywhere may stand below a bar.
    fn is_whole(&self) -> bool {
        let whole = |&(atom, n): &(Atom, i32)| n > 0 || matches!(atom, Atom::Constant(_));
        self.0.iter().all(whole)
    }

    fn power_of(&self, atom: Atom) -> i32 {
        self.0.iter().find(|p| p.0 == atom).map_or(0, |p| p.1)
    }
}

/// Σ c · monomial, no c = 0.
#[derive(Clone, Debug, PartialEq, Default)]
pub(super) struct Poly(pub BTreeMap<Monomial, f64>);

/// For each angle whether cosines are kept: sin² is replaced by 1 − cos².
type Orientation = Vec<(ExprId, bool)>;

/// More terms than this are not looked at: nobody reads such squares.
const MAX_TERMS: usize = 400;

/// Coefficients are sums of products of typed numbers: a few roundings apart from zero, not more.
const NOTHING: f64 = 1e-11;

/// More angles than this are not tried in all orientations.
const MAX_ANGLES: usize = 5;

impl Poly {
    pub fn is_zero(&self) -> bool {
        self.0.is_empty()
    }

    pub fn number(x: f64) -> Poly {
        Poly::term(Monomial::default(), x)
    }

    fn term(monomial: Monomial, c: f64) -> Poly {
        let mut poly = Poly::default();
        poly.add_term(monomial, c);
        poly
    }

    fn atom(atom: Atom) -> Poly {
        Poly::term(Monomial(vec![(atom, 1)]), 1.0)
    }

    fn add_term(&mut self, monomial: Monomial, c: f64) {
        let sum = self.0.get(&monomial).copied().unwrap_or(0.0) + c;
        if sum.abs() <= NOTHING * c.abs().max(1e-300) || sum == 0.0 {
            self.0.remove(&monomial);
        } else {
            self.0.insert(monomial, sum);
        }
    }

    pub fn plus(&self, other: &Poly, factor: f64) -> Poly {
        let mut sum = self.clone();
        for (monomial, &c) in &other.0 {
            sum.add_term(monomial.clone(), factor * c);
        }
        sum
    }

    pub fn times(&self, other: &Poly) -> Option<Poly> {
        if self.0.len() * other.0.len() > MAX_TERMS {
            return None;
        }
        let mut product = Poly::default();
        for (a, &x) in &self.0 {
            for (b, &y) in &other.0 {
                product.add_term(a.times(b, 1), x * y);
            }
        }
        Some(product)
    }

    fn angles(&self) -> Vec<ExprId> {
        let mut found: Vec<ExprId> = Vec::new();
        for (atom, _) in self.0.keys().flat_map(|m| &m.0) {
            if let Atom::Sin(angle) | Atom::Cos(angle) = atom
                && !found.contains(angle)
            {
                found.push(*angle);
            }
        }
        found
    }

    /// The same with squares of sines, or of cosines, replaced.
    fn oriented(&self, orientation: &Orientation) -> Option<Poly> {
        let mut poly = self.clone();
        for &(angle, keeps_cosine) in orientation {
            let (gone, kept) = match keeps_cosine {
                true => (Atom::Sin(angle), Atom::Cos(angle)),
                false => (Atom::Cos(angle), Atom::Sin(angle)),
            };
            loop {
                let found = poly.0.iter().find(|(m, _)| m.power_of(gone) >= 2);
                let Some((monomial, c)) = found.map(|(m, &c)| (m.clone(), c)) else {
                    break;
                };
                let rest = monomial.times(&Monomial(vec![(gone, 2)]), -1);
                let other = rest.times(&Monomial(vec![(kept, 2)]), 1);
                poly.0.remove(&monomial);
                poly.add_term(rest, c);
                poly.add_term(other, -c);
                if poly.0.len() > MAX_TERMS {
                    return None;
                }
            }
        }
        Some(poly)
    }

    /// The shortest form over all orientations; zero if it is zero.
    pub fn reduced(&self) -> Poly {
        let all = orientations(&self.angles());
        let forms = all.iter().filter_map(|o| self.oriented(o));
        forms
            .min_by_key(|p| p.0.len())
            .unwrap_or_else(|| self.clone())
    }

    fn leading(&self) -> Option<(&Monomial, f64)> {
        self.0.last_key_value().map(|(m, &c)| (m, c))
    }

    /// k > 0 and s with k s² = this, if there are such.
    pub fn square_root(&self) -> Option<(f64, Poly)> {
        orientations(&self.angles())
            .iter()
            .find_map(|o| self.oriented(o)?.root_in(o))
    }

    fn root_in(&self, orientation: &Orientation) -> Option<(f64, Poly)> {
        let (monomial, c) = self.leading()?;
        if c <= 0.0 || monomial.0.iter().any(|p| p.1 % 2 != 0) {
            return None;
        }
        // (2a + b)² is that; 3 a² is 3 times a².
        let root = c.sqrt();
        let is_nice = (root * 4.0 - (root * 4.0).round()).abs() < 1e-12;
        let k = if is_nice { 1.0 } else { c };
        let half = Monomial(monomial.0.iter().map(|&(a, n)| (a, n / 2)).collect());
        let first = (c / k).sqrt();
        let mut s = Poly::term(half.clone(), first);
        for _ in 0..MAX_TERMS {
            let square = s.times(&s)?.oriented(orientation)?;
            let rest = self.plus(&square, -k);
            let Some((next, c)) = rest.leading() else {
                return Some((k, s));
            };
            let term = next.times(&half, -1);
            // Behind the leading term, every further one is smaller; else it goes on for ever.
            if !term.is_whole() || term >= half {
                return None;
            }
            s.add_term(term, c / (2.0 * k * first));
        }
        None
    }

    /// The quotient by another, if there is no rest.
    pub fn over(&self, divisor: &Poly) -> Option<Poly> {
        if self.is_zero() {
            return Some(Poly::default());
        }
        let mut angles = self.angles();
        angles.extend(divisor.angles());
        angles.sort_unstable();
        angles.dedup();
        orientations(&angles).iter().find_map(|o| {
            let (mut rest, divisor) = (self.oriented(o)?, divisor.oriented(o)?);
            let (leading, c) = divisor.leading().map(|(m, c)| (m.clone(), c))?;
            let mut quotient = Poly::default();
            for _ in 0..MAX_TERMS {
                let Some((next, x)) = rest.leading() else {
                    return Some(quotient);
                };
                let term = next.times(&leading, -1);
                if !term.is_whole() {
                    return None;
                }
                let part = Poly::term(term, x / c);
                rest = rest.plus(&part.times(&divisor)?.oriented(o)?, -1.0);
                quotient = quotient.plus(&part, 1.0);
            }
            None
        })
    }
}

fn orientations(angles: &[ExprId]) -> Vec<Orientation> {
    let n = angles.len().min(MAX_ANGLES);
    (0..1_usize << n)
        .map(|bits| {
            let choice = |(k, &angle): (usize, &ExprId)| (angle, k < n && bits >> k & 1 == 1);
            angles.iter().enumerate().map(choice).collect()
        })
        .collect()
}

/// Reads an expression; none where it grows too long.
pub(super) fn poly_of(system: &mut System, e: ExprId) -> Option<Poly> {
    let mut pool = std::mem::take(&mut system.pool);
    let is_constant = |s: SymbolId| system.role(s) == Role::Constant;
    let poly = Reading {
        pool: &mut pool,
        is_constant: &is_constant,
    }
    .poly_of(e);
    system.pool = pool;
    poly
}

/// The shortest form of an expression as a polynomial, with sin² + cos² = 1 used where that helps; zero where it is zero.
pub fn shortest(pool: &mut Pool, e: ExprId, is_constant: &dyn Fn(SymbolId) -> bool) -> ExprId {
    let poly = Reading {
        pool: &mut *pool,
        is_constant,
    }
    .poly_of(e);
    match poly {
        Some(poly) => {
            let reduced = poly.reduced();
            let is_shorter = reduced.0.len() < poly.0.len();
            expression_in(pool, if is_shorter { &reduced } else { &poly })
        }
        None => e,
    }
}

/// Expressions that are read, and which symbols are the same everywhere.
struct Reading<'r> {
    pool: &'r mut Pool,
    is_constant: &'r dyn Fn(SymbolId) -> bool,
}

impl Reading<'_> {
    fn poly_of(&mut self, e: ExprId) -> Option<Poly> {
        match self.pool.node(e) {
            Node::Number(bits) => Some(Poly::number(f64::from_bits(bits))),
            Node::Symbol(s) => Some(Poly::atom(match (self.is_constant)(s) {
                true => Atom::Constant(s),
                false => Atom::Other(e),
            })),
            Node::Neg(a) => Some(Poly::default().plus(&self.poly_of(a)?, -1.0)),
            Node::Add(a, b) => {
                let (a, b) = (self.poly_of(a)?, self.poly_of(b)?);
                Some(a.plus(&b, 1.0)).filter(|p| p.0.len() <= MAX_TERMS)
            }
            Node::Sub(a, b) => {
                let (a, b) = (self.poly_of(a)?, self.poly_of(b)?);
                Some(a.plus(&b, -1.0)).filter(|p| p.0.len() <= MAX_TERMS)
            }
            Node::Mul(a, b) => {
                let (a, b) = (self.poly_of(a)?, self.poly_of(b)?);
                a.times(&b)
            }
            Node::Div(a, b) => {
                let (top, bottom) = (self.poly_of(a)?, self.poly_of(b)?);
                if let (1, Some((monomial, c))) = (bottom.0.len(), bottom.leading()) {
                    let inverse = Monomial::default().times(monomial, -1);
                    if inverse.is_whole() {
                        return top.times(&Poly::term(inverse, 1.0 / c));
                    }
                }
                let one = self.pool.number(1.0);
                let below = self.pool.div(one, b);
                top.times(&Poly::atom(Atom::Other(below)))
            }
            Node::Power(a, n) => match self.pool.as_number(n) {
                Some(n) if n.fract() == 0.0 && (1.0..=8.0).contains(&n) => {
                    let base = self.poly_of(a)?;
                    let mut product = base.clone();
                    for _ in 1..n as usize {
                        product = product.times(&base)?;
                    }
                    Some(product)
                }
                _ => Some(Poly::atom(Atom::Other(e))),
            },
            Node::Call1(Function1::Sin, a) => Some(self.angle_of(a)?.0),
            Node::Call1(Function1::Cos, a) => Some(self.angle_of(a)?.1),
            _ => Some(Poly::atom(Atom::Other(e))),
        }
    }

    /// Sine and cosine of an angle; sums are taken apart.
    fn angle_of(&mut self, e: ExprId) -> Option<(Poly, Poly)> {
        let (a, b, sign) = match self.pool.node(e) {
            Node::Add(a, b) => (a, b, 1.0),
            Node::Sub(a, b) => (a, b, -1.0),
            Node::Neg(a) => {
                let (sin, cos) = self.angle_of(a)?;
                return Some((Poly::default().plus(&sin, -1.0), cos));
            }
            Node::Mul(a, b) => {
                // 2 a is a + a.
                let whole = |x: ExprId| self.pool.as_number(x).filter(|n| *n == 2.0);
                match (whole(a), whole(b)) {
                    (Some(_), _) => (b, b, 1.0),
                    (_, Some(_)) => (a, a, 1.0),
                    _ => return Some((Poly::atom(Atom::Sin(e)), Poly::atom(Atom::Cos(e)))),
                }
            }
            _ => return Some((Poly::atom(Atom::Sin(e)), Poly::atom(Atom::Cos(e)))),
        };
        let ((sa, ca), (sb, cb)) = (self.angle_of(a)?, self.angle_of(b)?);
        let sin = sa.times(&cb)?.plus(&ca.times(&sb)?, sign);
        let cos = ca.times(&cb)?.plus(&sa.times(&sb)?, -sign);
        Some((sin, cos))
    }
}

/// Writes a polynomial as an expression.
pub(super) fn expression_of(system: &mut System, poly: &Poly) -> ExprId {
    expression_in(&mut system.pool, poly)
}

fn expression_in(pool: &mut Pool, poly: &Poly) -> ExprId {
    let mut sum = pool.number(0.0);
    for (monomial, &c) in &poly.0 {
        let mut product = pool.number(c);
        for &(atom, n) in &monomial.0 {
            let base = match atom {
                Atom::Constant(s) => pool.symbol(s),
                Atom::Other(e) => e,
                Atom::Sin(angle) => pool.call1(Function1::Sin, angle),
                Atom::Cos(angle) => pool.call1(Function1::Cos, angle),
            };
            let power = pool.powi(base, n.abs());
            product = if n > 0 {
                pool.mul(product, power)
            } else {
                pool.div(product, power)
            };
        }
        sum = pool.add(sum, product);
    }
    sum
}
