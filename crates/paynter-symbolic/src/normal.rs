//! Rearranges an expression into the shape in which books print it.
//!
//! In:  an expression, names, and which symbols are states.
//! Out: a [`Tree`] that is easiest to read among a few shapes: as it stands, and
//!      as a sum of monomials over atoms, gathered by states, common factors in front,
//!      one fraction bar where a sum is divided by.
//!
//! **Invariant:** the value is kept wherever the expression is finite, up to rounding; where
//! a factor above and below the bar is zero the printed form may be finite when the
//! expression is not. So this is for reading, not for machine code (see `simplify`).
//!
//! Sums are never multiplied out with sums. An expression is read as Σ c · Π atomᵏ with
//! whole k of either sign; atoms are symbols, functions of rearranged arguments, and sums
//! that are divided by, multiplied with another sum, or raised to a power.

use crate::expr::{ExprId, Function1, Node, Pool, SymbolId};
use crate::print::order::Style;
use crate::print::tree::{Term, Tree, power, signed_number, tree_of};
use crate::walk::{below, count_written_operations, rebuild, symbols_of};
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;
use std::rc::Rc;

/// Larger expressions are printed as they stand: rearranging helps a reader of a line,
/// not of a page, and keeps the cost of printing linear.
const MAX_OPERATIONS: usize = 1000;

/// More terms than this in one sum are not gathered, for the same reason.
const MAX_TERMS: usize = 200;

/// Gives the shape with the fewest operations, roughly; see [`Tree`] for what counts.
///
/// The pool only grows by rearranged copies.
pub fn normal_form(pool: &mut Pool, e: ExprId, style: &Style<'_>) -> Tree {
    let size = count_written_operations(pool, e);
    if size > MAX_OPERATIONS {
        return tree_of(pool, e, style);
    }
    let mut best = tree_of(pool, e, style);
    let mut least = effort_of_reading(&best);
    for expand in [Expand::States, Expand::Everything] {
        let mut reader = Reader::new(pool, style, expand);
        let Some(poly) = reader.poly_of(e) else {
            continue;
        };
        for (shape, weight) in [
            (Shape::ByStates, 1.0),
            (Shape::ByCommonFactor, NESTING_WEIGHT),
        ] {
            let tree = Writer {
                reader: &mut reader,
                shape,
            }
            .tree(&poly, 0);
            let effort = weight * effort_of_reading(&tree);
            if effort < least {
                (best, least) = (tree, effort);
            }
        }
    }
    best
}

/// Terms gathered by states are easier to find than factors nested in factors, which must
/// therefore save a third of the operations to be preferred.
const NESTING_WEIGHT: f64 = 1.5;

/// A fraction below a fraction bar costs as much as this many operations: books clear them.
const COMPOUND_FRACTION: usize = 4;

fn effort_of_reading(tree: &Tree) -> f64 {
    (tree.count_operations() + COMPOUND_FRACTION * tree.count_compound_fractions()) as f64
}

/// Which sums a single factor is multiplied into.
#[derive(Clone, Copy, PartialEq)]
enum Expand {
    /// Only sums that read states or functions: sums of parameters stay together.
    States,
    /// All.
    Everything,
}

/// How a sum is grouped.
#[derive(Clone, Copy, PartialEq)]
enum Shape {
    /// By products of states, then common factors.
    ByStates,
    /// By the factor that most terms share, again and again.
    ByCommonFactor,
}

/// Π atomᵏ, ascending by atom, no k = 0.
type Monomial = Vec<(ExprId, i32)>;

/// Σ c · monomial, no c = 0.
type Poly = BTreeMap<Monomial, f64>;

struct Reader<'a, 'p, 's> {
    pool: &'p mut Pool,
    style: &'a Style<'s>,
    expand: Expand,
    polys: FxHashMap<ExprId, Rc<Poly>>,
    /// Atoms that are sums, with the sum.
    sums: FxHashMap<ExprId, Rc<Poly>>,
}

impl<'a, 'p, 's> Reader<'a, 'p, 's> {
    fn new(pool: &'p mut Pool, style: &'a Style<'s>, expand: Expand) -> Self {
        Reader {
            pool,
            style,
            expand,
            polys: FxHashMap::default(),
            sums: FxHashMap::default(),
        }
    }

    /// Reads an expression; `None` if a sum grows too long.
    fn poly_of(&mut self, e: ExprId) -> Option<Rc<Poly>> {
        for id in below(self.pool, &[e]) {
            if self.polys.contains_key(&id) {
                continue;
            }
            let mut poly = self.poly_of_node(id);
            self.fold_pythagoras(&mut poly);
            if poly.len() > MAX_TERMS {
                return None;
            }
            self.polys.insert(id, Rc::new(poly));
        }
        self.polys.get(&e).cloned()
    }

    fn poly_of_node(&mut self, id: ExprId) -> Poly {
        let at = |reader: &Self, a: ExprId| reader.polys[&a].clone();
        match self.pool.node(id) {
            Node::Number(bits) => constant(f64::from_bits(bits)),
            Node::Symbol(_) => atom(id, 1),
            Node::Smooth(a) => (*at(self, a)).clone(),
            Node::Neg(a) => scaled(&at(self, a), &Monomial::new(), -1.0),
            Node::Add(a, b) => sum(&at(self, a), &at(self, b), 1.0),
            Node::Sub(a, b) => sum(&at(self, a), &at(self, b), -1.0),
            Node::Mul(a, b) => {
                let (a, b) = (at(self, a), at(self, b));
                self.product(&a, &b)
            }
            Node::Div(a, b) => {
                let (a, b) = (at(self, a), at(self, b));
                self.quotient(id, &a, &b)
            }
            Node::Power(a, n) => match self.pool.as_number(n) {
                Some(n) if n.fract() == 0.0 && (1.0..=16.0).contains(&n.abs()) => {
                    let base = at(self, a);
                    self.whole_power(id, &base, n as i32)
                }
                _ => self.opaque(id),
            },
            Node::Call1(f, a) => {
                let a = at(self, a);
                self.function(f, &a)
            }
            _ => self.opaque(id),
        }
    }

    /// A node of which only the arguments are rearranged.
    fn opaque(&mut self, id: ExprId) -> Poly {
        let mut arguments = Vec::new();
        crate::walk::for_each_argument(self.pool, id, |a| arguments.push(a));
        let mut new: FxHashMap<ExprId, ExprId> = FxHashMap::default();
        for a in arguments {
            let poly = self.polys[&a].clone();
            let rearranged = self.expression(&poly);
            new.insert(a, rearranged);
        }
        let rebuilt = rebuild(self.pool, id, &|a| new[&a]);
        match self.pool.as_number(rebuilt) {
            Some(x) => constant(x),
            None => atom(rebuilt, 1),
        }
    }

    fn function(&mut self, f: Function1, a: &Rc<Poly>) -> Poly {
        use Function1::{Abs, Asin, Atan, Cos, Cosh, Sign, Sin, Sinh, Tan, Tanh};
        let all_negative = !a.is_empty() && a.values().all(|&c| c < 0.0);
        let (a, sign) = match f {
            Sin | Tan | Asin | Atan | Sinh | Tanh | Sign if all_negative => {
                (Rc::new(scaled(a, &Monomial::new(), -1.0)), -1.0)
            }
            Cos | Cosh | Abs if all_negative => (Rc::new(scaled(a, &Monomial::new(), -1.0)), 1.0),
            _ => (a.clone(), 1.0),
        };
        let argument = self.expression(&a);
        let call = self.pool.call1(f, argument);
        match self.pool.as_number(call) {
            Some(x) => constant(sign * x),
            None => scaled(&atom(call, 1), &Monomial::new(), sign),
        }
    }

    fn product(&mut self, a: &Rc<Poly>, b: &Rc<Poly>) -> Poly {
        let (a, b) = match (single(a), single(b)) {
            (Some((m, c)), Some((n, d))) => return term(times(&m, &n), c * d),
            (Some((m, c)), None) => return self.spread(b, &m, c),
            (None, Some((n, d))) => return self.spread(a, &n, d),
            (None, None) => (a, b),
        };
        let (m, c) = self.as_atom(a);
        let (n, d) = self.as_atom(b);
        term(times(&m, &n), c * d)
    }

    /// Multiplies a sum by one factor, term by term unless the sum should stay together.
    fn spread(&mut self, poly: &Rc<Poly>, factor: &Monomial, c: f64) -> Poly {
        let keep = self.expand == Expand::States && poly.len() > 1 && !self.reads_states(poly);
        if keep && !factor.is_empty() {
            let (m, d) = self.as_atom(poly);
            return term(times(&m, factor), c * d);
        }
        scaled(poly, factor, c)
    }

    fn quotient(&mut self, id: ExprId, a: &Rc<Poly>, b: &Rc<Poly>) -> Poly {
        if b.is_empty() {
            // A division by zero is printed as it was written.
            return atom(id, 1);
        }
        let (m, c) = match single(b) {
            Some(one) => one,
            None => {
                let bottom = self.as_atom(b);
                // (k S)/S: the sum cancels as a whole.
                if a.len() == b.len() {
                    let top = self.as_atom(a);
                    let ratio = times(&top.0, &inverse(&bottom.0));
                    if ratio.iter().all(|(atom, _)| !self.sums.contains_key(atom)) {
                        return term(ratio, top.1 / bottom.1);
                    }
                }
                bottom
            }
        };
        self.spread(a, &inverse(&m), 1.0 / c)
    }

    fn whole_power(&mut self, id: ExprId, base: &Rc<Poly>, n: i32) -> Poly {
        if base.is_empty() {
            return atom(id, 1);
        }
        let (m, c) = match single(base) {
            Some(one) => one,
            None => self.as_atom(base),
        };
        term(m.iter().map(|&(a, k)| (a, k * n)).collect(), c.powi(n))
    }

    /// Writes a sum as factor · (sum without common factor), with the sum as an atom.
    ///
    /// The atom has whole positive powers only, and the same sum up to a factor gives the same atom.
    fn as_atom(&mut self, poly: &Rc<Poly>) -> (Monomial, f64) {
        if let Some(one) = single(poly) {
            return one;
        }
        let common = lowest_powers(poly);
        let mut content = numeric_content(poly);
        let n_negative = poly.values().filter(|&&c| c < 0.0).count();
        let first_is_negative = poly.values().next().is_some_and(|&c| c < 0.0);
        if 2 * n_negative > poly.len() || (2 * n_negative == poly.len() && first_is_negative) {
            content = -content;
        }
        let primitive = Rc::new(scaled(poly, &inverse(&common), 1.0 / content));
        let atom = self.expression(&primitive);
        self.sums.insert(atom, primitive);
        (times(&common, &vec![(atom, 1)]), content)
    }

    fn reads_states(&self, poly: &Poly) -> bool {
        poly.keys().flatten().any(|&(a, _)| self.atom_varies(a))
    }

    fn atom_varies(&self, atom: ExprId) -> bool {
        match self.pool.node(atom) {
            Node::Symbol(s) => (self.style.is_state)(s),
            _ => symbols_of(self.pool, atom)
                .into_iter()
                .any(|s| (self.style.is_state)(s)),
        }
    }

    /// Makes an expression of a sum; equal sums give equal expressions.
    fn expression(&mut self, poly: &Poly) -> ExprId {
        let mut total = self.pool.number(0.0);
        for (monomial, &c) in poly {
            let mut product = self.pool.number(1.0);
            for &(atom, k) in monomial {
                let factor = self.pool.powi(atom, k);
                product = self.pool.mul(product, factor);
            }
            let c = self.pool.number(c);
            let t = self.pool.mul(c, product);
            total = self.pool.add(total, t);
        }
        total
    }

    /// c·m·sin²x + c·m·cos²x = c·m: two terms become one.
    fn fold_pythagoras(&mut self, poly: &mut Poly) {
        loop {
            let found = poly.iter().find_map(|(monomial, &c)| {
                monomial.iter().find_map(|&(a, k)| {
                    let Node::Call1(Function1::Sin, x) = self.pool.node(a) else {
                        return None;
                    };
                    if k < 2 {
                        return None;
                    }
                    let cos = self.pool.intern(Node::Call1(Function1::Cos, x));
                    let rest = times(monomial, &vec![(a, -2)]);
                    let partner = times(&rest, &vec![(cos, 2)]);
                    // Exactly the same number: it was copied, not computed.
                    (poly.get(&partner) == Some(&c)).then(|| (monomial.clone(), partner, rest, c))
                })
            });
            let Some((one, other, rest, c)) = found else {
                return;
            };
            poly.remove(&one);
            poly.remove(&other);
            add_term(poly, rest, c);
        }
    }
}

fn constant(c: f64) -> Poly {
    term(Monomial::new(), c)
}

fn atom(id: ExprId, k: i32) -> Poly {
    term(vec![(id, k)], 1.0)
}

fn term(m: Monomial, c: f64) -> Poly {
    let mut poly = Poly::new();
    if c != 0.0 {
        poly.insert(m, c);
    }
    poly
}

fn single(poly: &Poly) -> Option<(Monomial, f64)> {
    match poly.len() {
        0 => Some((Monomial::new(), 0.0)),
        1 => poly.iter().next().map(|(m, &c)| (m.clone(), c)),
        _ => None,
    }
}

fn add_term(poly: &mut Poly, m: Monomial, c: f64) {
    match poly.entry(m) {
        std::collections::btree_map::Entry::Vacant(place) => {
            place.insert(c);
        }
        std::collections::btree_map::Entry::Occupied(mut place) => {
            let new = *place.get() + c;
            if new == 0.0 {
                place.remove();
            } else {
                place.insert(new);
            }
        }
    }
}

fn sum(a: &Poly, b: &Poly, sign: f64) -> Poly {
    let mut poly = a.clone();
    for (m, &c) in b {
        add_term(&mut poly, m.clone(), sign * c);
    }
    poly
}

fn scaled(poly: &Poly, factor: &Monomial, c: f64) -> Poly {
    poly.iter()
        .map(|(m, &d)| (times(m, factor), c * d))
        .filter(|(_, c)| *c != 0.0)
        .collect()
}

fn times(a: &Monomial, b: &Monomial) -> Monomial {
    let mut powers: BTreeMap<ExprId, i32> = a.iter().copied().collect();
    for &(atom, k) in b {
        *powers.entry(atom).or_insert(0) += k;
    }
    powers.into_iter().filter(|&(_, k)| k != 0).collect()
}

fn inverse(m: &Monomial) -> Monomial {
    m.iter().map(|&(a, k)| (a, -k)).collect()
}

/// For each atom its lowest power over all terms, counting 0 where it is absent.
fn lowest_powers(poly: &Poly) -> Monomial {
    powers_over_terms(poly, |powers, n_absent| {
        let lowest = powers.iter().copied().min().unwrap_or(0);
        if n_absent > 0 { lowest.min(0) } else { lowest }
    })
}

/// For each atom the power that all terms share, with the same sign in all of them.
fn shared_powers(poly: &Poly) -> Monomial {
    powers_over_terms(poly, |powers, n_absent| {
        if n_absent > 0 {
            0
        } else if powers.iter().all(|&k| k > 0) {
            powers.iter().copied().min().unwrap_or(0)
        } else if powers.iter().all(|&k| k < 0) {
            powers.iter().copied().max().unwrap_or(0)
        } else {
            0
        }
    })
}

fn powers_over_terms(poly: &Poly, choose: impl Fn(&[i32], usize) -> i32) -> Monomial {
    let mut powers: BTreeMap<ExprId, Vec<i32>> = BTreeMap::new();
    for m in poly.keys() {
        for &(a, k) in m {
            powers.entry(a).or_default().push(k);
        }
    }
    powers
        .into_iter()
        .map(|(a, powers)| (a, choose(&powers, poly.len() - powers.len())))
        .filter(|&(_, k)| k != 0)
        .collect()
}

/// A positive number that divides all coefficients without making them unreadable.
fn numeric_content(poly: &Poly) -> f64 {
    let Some(first) = poly.values().next().map(|c| c.abs()) else {
        return 1.0;
    };
    if poly.values().all(|c| c.abs() == first) {
        return first;
    }
    // Whole numbers below 2⁵³ are exact.
    if poly.values().all(|c| c.fract() == 0.0 && c.abs() < 9.0e15) {
        return poly.values().map(|c| c.abs() as u64).fold(0, gcd) as f64;
    }
    1.0
}

fn gcd(mut a: u64, mut b: u64) -> u64 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

/// Sums nest as deep as atoms do; deeper ones are printed as they stand.
const MAX_DEPTH: usize = 60;

struct Writer<'r, 'a, 'p, 's> {
    reader: &'r mut Reader<'a, 'p, 's>,
    shape: Shape,
}

impl Writer<'_, '_, '_, '_> {
    fn tree(&mut self, poly: &Poly, depth: usize) -> Tree {
        if let Some((m, c)) = single(poly) {
            return self.monomial(&m, c, None, depth);
        }

        // First what all terms share, then one fraction for each different sum below the bar.
        let common = shared_powers(poly);
        let content = numeric_content(poly);
        let sign = if poly.values().all(|&c| c < 0.0) {
            -1.0
        } else {
            1.0
        };
        let rest = scaled(poly, &inverse(&common), sign / content);
        let has_divisor = common.iter().any(|&p| self.is_divided_sum(p));
        let mut by_divisor: BTreeMap<Monomial, Poly> = BTreeMap::new();
        for (m, &c) in &rest {
            // A sum below the bar of all terms: then everything goes over that one bar.
            let divisor: Monomial = m
                .iter()
                .copied()
                .filter(|&p| !has_divisor && self.is_divided_sum(p))
                .collect();
            let top = times(m, &inverse(&divisor));
            by_divisor.entry(divisor).or_default().insert(top, c);
        }

        let mut terms = Vec::new();
        for (divisor, top) in by_divisor {
            if divisor.is_empty() && !has_divisor {
                terms.extend(self.grouped(&top, depth));
            } else {
                // All over one bar: the lowest powers are what has to go below it.
                let below: Monomial = lowest_powers(&top)
                    .into_iter()
                    .filter(|&(_, k)| k < 0)
                    .collect();
                let top = scaled(&top, &inverse(&below), 1.0);
                let inside = self.grouped(&top, depth);
                let inside = Tree::sum(inside, self.reader.style);
                let tree = self.monomial(&times(&divisor, &below), 1.0, Some(inside), depth);
                terms.push(Term {
                    negative: false,
                    tree,
                });
            }
        }

        let inside = Tree::sum(terms, self.reader.style);
        self.monomial(&common, sign * content, Some(inside), depth)
    }

    fn is_divided_sum(&self, (atom, k): (ExprId, i32)) -> bool {
        k < 0 && self.reader.sums.contains_key(&atom)
    }

    /// The terms of a sum, gathered.
    fn grouped(&mut self, poly: &Poly, depth: usize) -> Vec<Term> {
        match self.shape {
            Shape::ByStates => self.grouped_by_states(poly, depth),
            Shape::ByCommonFactor => self.grouped_by_factor(poly, depth),
        }
    }

    fn grouped_by_states(&mut self, poly: &Poly, depth: usize) -> Vec<Term> {
        let mut groups: BTreeMap<Monomial, Poly> = BTreeMap::new();
        for (m, &c) in poly {
            let states: Monomial = m
                .iter()
                .copied()
                .filter(|&(a, _)| self.is_state(a))
                .collect();
            groups.entry(states).or_default().insert(m.clone(), c);
        }

        let mut terms = Vec::new();
        for group in groups.into_values() {
            let common = shared_powers(&group);
            // Nothing in common: the terms are side by side.
            if group.len() == 1 || (common.is_empty() && numeric_content(&group) == 1.0) {
                let has_shared = group.len() > 2;
                if has_shared {
                    terms.extend(self.grouped_by_factor(&group, depth));
                } else {
                    for (m, c) in group {
                        let tree = self.monomial(&m, c, None, depth);
                        terms.push(Term {
                            negative: false,
                            tree,
                        });
                    }
                }
            } else {
                let tree = self.tree_of_group(&group, &common, depth);
                terms.push(Term {
                    negative: false,
                    tree,
                });
            }
        }
        terms
    }

    fn tree_of_group(&mut self, group: &Poly, common: &Monomial, depth: usize) -> Tree {
        let content = numeric_content(group);
        let sign = if group.values().all(|&c| c < 0.0) {
            -1.0
        } else {
            1.0
        };
        let rest = scaled(group, &inverse(common), sign / content);
        let inside = self.grouped_by_factor(&rest, depth);
        let inside = Tree::sum(inside, self.reader.style);
        self.monomial(common, sign * content, Some(inside), depth)
    }

    /// Takes out the factor that most terms share, as long as two of them share one.
    fn grouped_by_factor(&mut self, poly: &Poly, depth: usize) -> Vec<Term> {
        let mut left = poly.clone();
        let mut terms = Vec::new();
        while let Some(factor) = self.most_shared(&left) {
            let group: Poly = left
                .iter()
                .filter(|(m, _)| m.iter().any(|&(a, k)| (a, k.signum()) == factor))
                .map(|(m, &c)| (m.clone(), c))
                .collect();
            left.retain(|m, _| !group.contains_key(m));
            let common = shared_powers(&group);
            let tree = self.tree_of_group(&group, &common, depth);
            terms.push(Term {
                negative: false,
                tree,
            });
        }
        for (m, c) in left {
            let tree = self.monomial(&m, c, None, depth);
            terms.push(Term {
                negative: false,
                tree,
            });
        }
        terms
    }

    /// The atom, above or below the bar, that occurs in most terms; by name if several do.
    fn most_shared(&self, poly: &Poly) -> Option<(ExprId, i32)> {
        let mut counts: BTreeMap<(ExprId, i32), usize> = BTreeMap::new();
        for m in poly.keys() {
            for &(a, k) in m {
                *counts.entry((a, k.signum())).or_insert(0) += 1;
            }
        }
        let most = counts.values().copied().max().filter(|&n| n >= 2)?;
        counts
            .into_iter()
            .filter(|&(_, n)| n == most)
            .map(|(factor, _)| factor)
            .min_by_key(|&(a, sign)| (-sign, self.atom_name(a)))
    }

    fn atom_name(&self, atom: ExprId) -> crate::print::order::NaturalText {
        let tree = tree_of(self.reader.pool, atom, self.reader.style);
        crate::print::order::NaturalText(crate::print::to_text(&tree, self.reader.style.name))
    }

    fn is_state(&self, atom: ExprId) -> bool {
        self.reader
            .pool
            .as_symbol(atom)
            .is_some_and(|s: SymbolId| (self.reader.style.is_state)(s))
    }

    /// c · monomial · (sum)
    fn monomial(&mut self, m: &Monomial, c: f64, inside: Option<Tree>, depth: usize) -> Tree {
        let (mut above, mut below) = (Vec::new(), Vec::new());
        above.extend(inside);
        for &(atom, k) in m {
            let base = self.atom(atom, depth);
            let factor = power(base, Tree::Number(f64::from(k.abs())));
            if k > 0 {
                above.push(factor);
            } else {
                below.push(factor);
            }
        }
        if above.is_empty() && below.is_empty() {
            return signed_number(c);
        }
        Tree::product(c, above, below, self.reader.style)
    }

    fn atom(&mut self, atom: ExprId, depth: usize) -> Tree {
        if depth < MAX_DEPTH
            && let Some(sum) = self.reader.sums.get(&atom).cloned()
        {
            return self.tree(&sum, depth + 1);
        }
        tree_of(self.reader.pool, atom, self.reader.style)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::print::to_text;
    use crate::testing::{Names, RandomExpressions, evaluate_at, parse};

    /// Rearranges text; states are named p, q, P1, P2, … and theta.
    fn normal(text: &str) -> String {
        let (mut pool, mut names) = (Pool::new(), Names::default());
        let e = parse(&mut pool, &mut names, text);
        let style = Style {
            name: &|s| names.name(s),
            is_state: &|s| names.is_state(s),
        };
        let tree = normal_form(&mut pool, e, &style);
        to_text(&tree, style.name)
    }

    #[test]
    fn what_is_short_already_stays() {
        assert_eq!(normal("(Vs - q/C1)/R1 - p/L1"), "(Vs - q/C1)/R1 - p/L1");
        assert_eq!(normal("q/C1 - R2*(p/L1)"), "q/C1 - R2*p/L1");
    }

    #[test]
    fn like_terms_are_gathered() {
        assert_eq!(
            normal(
                "P1*cos(theta)*I4*P2*sin(theta) - 2*P1*P2*cos(theta)*sin(theta)*I5 + sin(theta)*P2*I4*P1*cos(theta)"
            ),
            "2*P1*P2*sin(theta)*cos(theta)*(I4 - I5)"
        );
        assert_eq!(
            normal("q/(C*R1) + q/(C*R2) + q/(C*R3)"),
            "q*(1/R1 + 1/R2 + 1/R3)/C"
        );
        assert_eq!(normal("a*sin(x)^2 + b + cos(x)*cos(x)*a"), "a + b");
        assert_eq!(normal("sin(x)*sin(-x) + 1 - cos(x)^2"), "0");
        assert_eq!(normal("0*q + (a + b)/(2*b + 2*a)"), "0.5");
    }

    #[test]
    fn a_gyroscope_has_the_denominator_of_the_book() {
        // As congruence gives it, before anything is rearranged.
        let a = "(1 + cos(theta)*(I4*(cos(theta)/I2)) + sin(theta)*(I5*(sin(theta)/I2)))";
        let b = "(SE12 - cos(theta)*(SE6 - I4*(sin(theta)*(P1/I1)*(P2/I2)) + I5*(sin(theta)*(P2/I2))*(P1/I1))\
                 - sin(theta)*(I5*(cos(theta)*(P1/I1)*(P2/I2)) - (P1/I1)*(P3 + I4*(cos(theta)*(P2/I2)))))";
        assert_eq!(
            normal(&format!("{b}/{a}")),
            "(I1*I2*(SE12 - SE6*cos(theta)) + 2*P1*P2*sin(theta)*cos(theta)*(I4 - I5) + I2*P1*P3*sin(theta))/(I1*(I2 + I4*cos(theta)^2 + I5*sin(theta)^2))"
        );
        assert_eq!(
            normal(
                "SE15 + (I5*sin(theta)*P2/I2)*(cos(theta)*(P2/I2)) - (P3 + I4*(cos(theta)*(P2/I2)))*(sin(theta)*(P2/I2))"
            ),
            "SE15 - P2*P3*sin(theta)/I2 + P2^2*sin(theta)*cos(theta)*(I5 - I4)/I2^2"
        );
    }

    #[test]
    fn sums_of_parameters_stay_together_and_fractions_share_one_bar() {
        assert_eq!(
            normal("(u + a*(p/(A + B)))/(1 + cos(theta)^2/(C + D))"),
            "(C + D)*(u*(A + B) + a*p)/((A + B)*(C + D + cos(theta)^2))"
        );
        assert_eq!(normal("q*(C1 - (A + B1)) + 2*q"), "q*(2 - A - B1 + C1)");
    }

    #[test]
    fn a_bridge_has_the_shape_of_the_thesis() {
        let a = "(1 + R3*(1/R2 + 1/R4 + 1/R5))";
        let b = "R3*((q4/C1)*(1/R2 + 1/R4) - (q11/C2)/R4 - (q11/C2)/R5)";
        assert_eq!(
            normal(&format!("{b}/{a}")),
            "R3*(C2*R5*q4*(R2 + R4) - C1*R2*q11*(R4 + R5))/(C1*C2*(R2*R4*R5 + R3*(R2*(R4 + R5) + R4*R5)))"
        );
    }

    #[test]
    fn rearranging_keeps_values_and_never_lengthens() {
        let mut random = RandomExpressions::new(21);
        let mut n_compared = 0;
        for i in 0..4000 {
            let mut pool = Pool::new();
            let e = if i % 2 == 0 {
                random.analytic(&mut pool, 4, 3)
            } else {
                random.any(&mut pool, 4, 3)
            };
            let mut names = Names::default();
            for name in ["q", "a", "p"] {
                names.id(name);
            }
            let style = Style {
                name: &|s| names.name(s),
                is_state: &|s| names.is_state(s),
            };
            let as_it_stands = effort_of_reading(&tree_of(&pool, e, &style));
            let tree = normal_form(&mut pool, e, &style);
            assert!(effort_of_reading(&tree) <= as_it_stands);
            let text = to_text(&tree, style.name);
            let again = parse(&mut pool, &mut names.clone(), &text);
            let at = random.point(3);
            let (expected, found) = (evaluate_at(&pool, e, &at), evaluate_at(&pool, again, &at));
            let size = crate::testing::largest_part(&pool, e, &at)
                .max(crate::testing::largest_part(&pool, again, &at));
            if expected.is_finite() && size < 1e6 {
                n_compared += 1;
                assert!(
                    (expected - found).abs() <= 1e-12 * size * size,
                    "{expected} {found} {text}"
                );
            }
        }
        assert!(
            n_compared > 2000,
            "only {n_compared} points were meaningful"
        );
    }
}
