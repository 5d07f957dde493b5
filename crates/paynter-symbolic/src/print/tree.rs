//! The tree that all printers print.
//!
//! In:  an expression.
//! Out: sums and products as flat lists, signs at the terms, quotients with one bar.
//!
//! **Invariant:** no sum is directly in a sum, no product directly in a product, and no
//! number below a sum or product is negative.

use crate::expr::{Comparison, ExprId, Function1, Node, Pool, SymbolId};
use crate::print::order::Style;

/// A printed expression.
#[derive(Clone, Debug, PartialEq)]
pub enum Tree {
    /// A number.
    Number(f64),
    /// A symbol.
    Symbol(SymbolId),
    /// Terms with their signs; a single negative term is a negation.
    Sum(Vec<Term>),
    /// At least two factors.
    Product(Vec<Tree>),
    /// Above and below the bar.
    Quotient(Box<Tree>, Box<Tree>),
    /// Base and exponent.
    Power(Box<Tree>, Box<Tree>),
    /// A function of one number.
    Call1(Function1, Box<Tree>),
    /// Any other function, by its name.
    Call(String, Vec<Tree>),
    /// A comparison.
    Compare(Comparison, Box<Tree>, Box<Tree>),
    /// not a
    Not(Box<Tree>),
    /// a and b
    And(Box<Tree>, Box<Tree>),
    /// a or b
    Or(Box<Tree>, Box<Tree>),
    /// if a then b else c
    If(Box<[Tree; 3]>),
    /// An argument that is not a number: a file, the points of a table.
    Verbatim(String),
    /// Stands for something nested too deep to be read; see [`MAX_DEPTH`].
    Cut,
}

/// A term of a sum.
#[derive(Clone, Debug, PartialEq)]
pub struct Term {
    /// With a minus sign.
    pub negative: bool,
    /// What.
    pub tree: Tree,
}

impl Term {
    /// What is before it in a sum.
    pub(super) fn sign(&self, is_first: bool) -> &'static str {
        match (is_first, self.negative) {
            (true, false) => "",
            (true, true) => "-",
            (false, false) => " + ",
            (false, true) => " - ",
        }
    }
}

/// Nobody reads more levels of brackets than this, and printing recurses once per level.
/// LIMIT: what is deeper prints as `…`, shown by `what_is_nested_too_deep_is_cut`.
pub const MAX_DEPTH: usize = 200;

impl Tree {
    /// Counts the operations that are written.
    pub fn count_operations(&self) -> usize {
        let sum = |trees: &[Tree]| trees.iter().map(Tree::count_operations).sum::<usize>();
        match self {
            Tree::Number(_) | Tree::Symbol(_) | Tree::Verbatim(_) | Tree::Cut => 0,
            Tree::Sum(terms) => {
                let inside: usize = terms.iter().map(|t| t.tree.count_operations()).sum();
                let leading = usize::from(terms.first().is_some_and(|t| t.negative));
                inside + terms.len() - 1 + leading
            }
            Tree::Product(factors) => sum(factors) + factors.len() - 1,
            Tree::Quotient(a, b)
            | Tree::Power(a, b)
            | Tree::Compare(_, a, b)
            | Tree::And(a, b)
            | Tree::Or(a, b) => a.count_operations() + b.count_operations() + 1,
            Tree::Call1(_, a) | Tree::Not(a) => a.count_operations() + 1,
            Tree::Call(_, args) => sum(args) + 1,
            Tree::If(parts) => sum(&parts[..]) + 1,
        }
    }

    /// Counts the fraction bars that stand below another fraction bar.
    pub fn count_compound_fractions(&self) -> usize {
        self.count_fractions(false)
    }

    fn count_fractions(&self, is_below: bool) -> usize {
        match self {
            Tree::Number(_) | Tree::Symbol(_) | Tree::Verbatim(_) | Tree::Cut => 0,
            Tree::Sum(terms) => terms.iter().map(|t| t.tree.count_fractions(is_below)).sum(),
            Tree::Product(factors) => factors.iter().map(|f| f.count_fractions(is_below)).sum(),
            Tree::Quotient(a, b) => {
                usize::from(is_below) + a.count_fractions(is_below) + b.count_fractions(true)
            }
            Tree::Power(a, b) => a.count_fractions(is_below) + b.count_fractions(false),
            // What stands in brackets of a function starts afresh.
            Tree::Compare(_, a, b) | Tree::And(a, b) | Tree::Or(a, b) => {
                a.count_fractions(false) + b.count_fractions(false)
            }
            Tree::Call1(_, a) | Tree::Not(a) => a.count_fractions(false),
            Tree::Call(_, args) => args.iter().map(|a| a.count_fractions(false)).sum(),
            Tree::If(parts) => parts.iter().map(|a| a.count_fractions(false)).sum(),
        }
    }

    /// Writes symbols that are named by a number as that number, and `not x >= 1` as `x < 1`.
    ///
    /// Numbers of the text that must not be multiplied together before they are printed are
    /// symbols until then: `p/4.5e-7` says more than `2222222.2 p`.
    pub fn for_reading(self, name: &dyn Fn(SymbolId) -> String) -> Tree {
        let boxed = |tree: Box<Tree>| Box::new(tree.for_reading(name));
        let all = |trees: Vec<Tree>| -> Vec<Tree> {
            trees.into_iter().map(|t| t.for_reading(name)).collect()
        };

        match self {
            Tree::Symbol(s) => {
                let text = name(s);
                match text.parse() {
                    Ok(x) if text.starts_with(|c: char| c.is_ascii_digit()) => Tree::Number(x),
                    _ => Tree::Symbol(s),
                }
            }
            Tree::Number(_) | Tree::Verbatim(_) | Tree::Cut => self,
            Tree::Sum(terms) => Tree::Sum(
                terms
                    .into_iter()
                    .map(|t| Term {
                        negative: t.negative,
                        tree: t.tree.for_reading(name),
                    })
                    .collect(),
            ),
            Tree::Product(factors) => Tree::Product(all(factors)),
            Tree::Quotient(a, b) => without_equal_numbers(a.for_reading(name), b.for_reading(name)),
            Tree::Power(a, b) => Tree::Power(boxed(a), boxed(b)),
            Tree::Call1(f, a) => Tree::Call1(f, boxed(a)),
            Tree::Call(f, args) => Tree::Call(f, all(args)),
            Tree::Compare(c, a, b) => Tree::Compare(c, boxed(a), boxed(b)),
            // not x >= 1 is read as x < 1; they differ only where x is not a number, and there a run stops.
            Tree::Not(a) => match a.for_reading(name) {
                Tree::Compare(c, left, right) => Tree::Compare(opposite(c), left, right),
                inside => Tree::Not(Box::new(inside)),
            },
            Tree::And(a, b) => Tree::And(boxed(a), boxed(b)),
            Tree::Or(a, b) => Tree::Or(boxed(a), boxed(b)),
            Tree::If(parts) => {
                let [a, b, c] = *parts;
                Tree::If(Box::new([
                    a.for_reading(name),
                    b.for_reading(name),
                    c.for_reading(name),
                ]))
            }
        }
    }

    /// −tree
    pub fn negated(self) -> Tree {
        match self {
            Tree::Number(0.0) => Tree::Number(0.0),
            Tree::Sum(mut terms) if terms.len() == 1 && terms[0].negative => {
                terms.pop().map_or(Tree::Number(0.0), |t| t.tree)
            }
            tree => Tree::Sum(vec![Term {
                negative: true,
                tree,
            }]),
        }
    }

    /// Makes a sum of terms; inner sums are opened.
    pub fn sum(terms: Vec<Term>, style: &Style<'_>) -> Tree {
        let mut flat = Vec::with_capacity(terms.len());
        let mut stack: Vec<Term> = terms.into_iter().rev().collect();
        while let Some(term) = stack.pop() {
            let negative = term.negative;
            match term.tree {
                Tree::Sum(inner) => stack.extend(inner.into_iter().rev().map(|t| Term {
                    negative: t.negative != negative,
                    tree: t.tree,
                })),
                Tree::Number(x) if x < 0.0 => flat.push(Term {
                    negative: !negative,
                    tree: Tree::Number(-x),
                }),
                Tree::Number(0.0) => {}
                tree => flat.push(Term { negative, tree }),
            }
        }
        style.sort_terms(&mut flat);
        match flat.as_slice() {
            [] => Tree::Number(0.0),
            [one] if !one.negative => flat.pop().map_or(Tree::Number(0.0), |t| t.tree),
            _ => Tree::Sum(flat),
        }
    }

    /// Makes coefficient · Π above / Π below with at most one bar; inner products are opened.
    pub fn product(
        coefficient: f64,
        above: Vec<Tree>,
        below: Vec<Tree>,
        style: &Style<'_>,
    ) -> Tree {
        let mut sides = Sides {
            coefficient,
            divisor: 1.0,
            above: Vec::new(),
            below: Vec::new(),
        };
        for tree in above {
            sides.put(tree, Side::Above);
        }
        for tree in below {
            sides.put(tree, Side::Below);
        }
        sides.into_tree(style)
    }
}

/// 2 x/2 is x.
fn without_equal_numbers(top: Tree, bottom: Tree) -> Tree {
    let factors = |tree: Tree| match tree {
        Tree::Product(factors) => factors,
        tree => vec![tree],
    };
    let (mut above, mut below) = (factors(top), factors(bottom));
    let shared = above.iter().enumerate().find_map(|(i, tree)| match tree {
        Tree::Number(_) => below.iter().position(|t| t == tree).map(|j| (i, j)),
        _ => None,
    });
    if let Some((i, j)) = shared {
        above.remove(i);
        below.remove(j);
    }
    let join = |mut factors: Vec<Tree>| match factors.len() {
        0 => Tree::Number(1.0),
        1 => factors.remove(0),
        _ => Tree::Product(factors),
    };
    if below.is_empty() {
        return join(above);
    }
    Tree::Quotient(Box::new(join(above)), Box::new(join(below)))
}

#[derive(Clone, Copy, PartialEq)]
enum Side {
    Above,
    Below,
}

/// Both sides of a fraction bar while it is put together.
struct Sides {
    coefficient: f64,
    divisor: f64,
    above: Vec<Tree>,
    below: Vec<Tree>,
}

impl Sides {
    fn put(&mut self, tree: Tree, side: Side) {
        let other = if side == Side::Above {
            Side::Below
        } else {
            Side::Above
        };
        match tree {
            Tree::Number(x) if side == Side::Above => self.coefficient *= x,
            Tree::Number(x) if x != 0.0 => self.divisor *= x,
            Tree::Product(factors) => factors.into_iter().for_each(|f| self.put(f, side)),
            Tree::Quotient(top, bottom) => {
                self.put(*top, side);
                self.put(*bottom, other);
            }
            Tree::Sum(mut terms) if terms.len() == 1 => {
                if let Some(term) = terms.pop() {
                    if term.negative {
                        self.coefficient = -self.coefficient;
                    }
                    self.put(term.tree, side);
                }
            }
            tree if side == Side::Above => self.above.push(tree),
            tree => self.below.push(tree),
        }
    }

    fn into_tree(mut self, style: &Style<'_>) -> Tree {
        if self.divisor < 0.0 {
            self.divisor = -self.divisor;
            self.coefficient = -self.coefficient;
        }
        let is_negative = self.coefficient < 0.0;
        let mut coefficient = self.coefficient.abs();
        if self.divisor != 1.0 {
            // 4 x/2 is 2 x; 1 x/3 stays a fraction, as 0.333… x is not readable.
            let ratio = coefficient / self.divisor;
            if ratio * self.divisor == coefficient && (ratio.fract() == 0.0 || coefficient != 1.0) {
                (coefficient, self.divisor) = (ratio, 1.0);
            }
        }
        if self.divisor == 1.0 && !(self.above.is_empty() && self.below.is_empty()) {
            (coefficient, self.divisor) = as_fraction(coefficient);
        }
        let top = assemble(coefficient, self.above, style);
        let tree = if self.below.is_empty() && self.divisor == 1.0 {
            top
        } else {
            let bottom = assemble(self.divisor, self.below, style);
            Tree::Quotient(Box::new(top), Box::new(bottom))
        };
        if is_negative { tree.negated() } else { tree }
    }
}

/// Divisors that are looked for in a coefficient with many digits.
const LARGEST_DIVISOR: u32 = 12;

/// 0.5 x is read as x/2, and 0.666… x as 2 x/3; the quotient has the same bits.
fn as_fraction(coefficient: f64) -> (f64, f64) {
    const MANY_DIGITS: usize = 8;
    if [0.5, 0.25, 0.125].contains(&coefficient) {
        return (1.0, 1.0 / coefficient);
    }
    if coefficient.fract() == 0.0 || super::text::number(coefficient).len() < MANY_DIGITS {
        return (coefficient, 1.0);
    }
    let by_whole = (2..=LARGEST_DIVISOR)
        .map(|d| ((coefficient * f64::from(d)).round(), f64::from(d)))
        .find(|&(n, d)| n / d == coefficient && n < 1e6);
    // 0.0034112… x is x/293.15.
    let by_short = (1..=9)
        .map(|n| (f64::from(n), f64::from(n) / coefficient))
        .find(|&(n, d)| n / d == coefficient && super::text::number(d).len() < MANY_DIGITS);
    by_whole.or(by_short).unwrap_or((coefficient, 1.0))
}

fn assemble(coefficient: f64, mut factors: Vec<Tree>, style: &Style<'_>) -> Tree {
    if coefficient == 0.0 {
        return Tree::Number(0.0);
    }
    if coefficient != 1.0 || factors.is_empty() {
        factors.push(Tree::Number(coefficient));
    }
    style.sort_factors(&mut factors);
    if factors.len() == 1
        && let Some(only) = factors.pop()
    {
        return only;
    }
    Tree::Product(factors)
}

/// Makes the tree of an expression as it stands: nothing is expanded or collected.
///
/// Shared parts are written out at each use: ask [`crate::walk::count_written_operations`]
/// first whether that can be afforded.
pub fn tree_of(pool: &Pool, e: ExprId, style: &Style<'_>) -> Tree {
    build(pool, e, style, 0)
}

fn build(pool: &Pool, e: ExprId, style: &Style<'_>, depth: usize) -> Tree {
    if depth > MAX_DEPTH {
        return Tree::Cut;
    }
    let tree = |a: ExprId| build(pool, a, style, depth + 1);
    let boxed = |a: ExprId| Box::new(build(pool, a, style, depth + 1));

    match pool.node(e) {
        Node::Number(bits) => signed_number(f64::from_bits(bits)),
        Node::Symbol(s) => Tree::Symbol(s),
        Node::Neg(_) | Node::Add(..) | Node::Sub(..) => {
            let term = |(negative, a)| Term {
                negative,
                tree: tree(a),
            };
            let terms = flat_terms(pool, e).into_iter().map(term).collect();
            Tree::sum(terms, style)
        }
        Node::Mul(..) | Node::Div(..) => {
            let (above, below) = flat_factors(pool, e);
            let above = above.into_iter().map(tree).collect();
            let below = below.into_iter().map(tree).collect();
            Tree::product(1.0, above, below, style)
        }
        Node::Power(a, n) => match pool.as_number(n) {
            Some(n) if n < 0.0 => {
                let base = tree(a);
                let bottom = power(base, Tree::Number(-n));
                Tree::product(1.0, Vec::new(), vec![bottom], style)
            }
            _ => power(tree(a), tree(n)),
        },
        Node::Call1(f, a) => Tree::Call1(f, boxed(a)),
        Node::Call2(f, a, b) => Tree::Call(format!("{f:?}").to_lowercase(), vec![tree(a), tree(b)]),
        Node::Compare(c, a, b) => Tree::Compare(c, boxed(a), boxed(b)),
        Node::Not(a) => Tree::Not(boxed(a)),
        Node::And(a, b) => Tree::And(boxed(a), boxed(b)),
        Node::Or(a, b) => Tree::Or(boxed(a), boxed(b)),
        Node::If(a, b, c) => Tree::If(Box::new([tree(a), tree(b), tree(c)])),
        Node::Smooth(a) => tree(a),
        Node::External(f, args, output) => {
            let function = pool.external(f);
            let (name, fixed) = function.written();
            let name = match function.n_outputs() {
                1 => name,
                _ => format!("{name}[{}]", output + 1),
            };
            let fixed = fixed.into_iter().map(Tree::Verbatim);
            let inputs = pool.args(args).iter().map(|&a| tree(a));
            Tree::Call(name, fixed.chain(inputs).collect())
        }
        Node::ExternalSlope(f, args, slope) => {
            let function = pool.external(f);
            let name = match (function.n_outputs(), function.n_inputs()) {
                (1, 1) => format!("{}'", function.name()),
                _ => format!("{}'[{}]", function.name(), slope + 1),
            };
            Tree::Call(name, pool.args(args).iter().map(|&a| tree(a)).collect())
        }
    }
}

fn opposite(c: Comparison) -> Comparison {
    match c {
        Comparison::Less => Comparison::GreaterEqual,
        Comparison::LessEqual => Comparison::Greater,
        Comparison::Greater => Comparison::LessEqual,
        Comparison::GreaterEqual => Comparison::Less,
        Comparison::Equal => Comparison::NotEqual,
        Comparison::NotEqual => Comparison::Equal,
    }
}

pub(crate) fn signed_number(x: f64) -> Tree {
    if x < 0.0 {
        Tree::Number(-x).negated()
    } else {
        Tree::Number(x)
    }
}

/// base^exponent, with exponent 1 left out and powers of powers of symbols as they stand.
pub(crate) fn power(base: Tree, exponent: Tree) -> Tree {
    if exponent == Tree::Number(1.0) {
        return base;
    }
    Tree::Power(Box::new(base), Box::new(exponent))
}

/// The terms of a sum of sums, without recursion: a junction may have 10⁵ of them.
fn flat_terms(pool: &Pool, e: ExprId) -> Vec<(bool, ExprId)> {
    let mut terms = Vec::new();
    let mut stack = vec![(false, e)];
    while let Some((negative, id)) = stack.pop() {
        match pool.node(id) {
            Node::Neg(a) => stack.push((!negative, a)),
            Node::Smooth(a) => stack.push((negative, a)),
            Node::Add(a, b) => stack.extend([(negative, b), (negative, a)]),
            Node::Sub(a, b) => stack.extend([(!negative, b), (negative, a)]),
            _ => terms.push((negative, id)),
        }
    }
    terms
}

/// The factors above and below the bar of a product of products and quotients.
fn flat_factors(pool: &Pool, e: ExprId) -> (Vec<ExprId>, Vec<ExprId>) {
    let (mut above, mut below) = (Vec::new(), Vec::new());
    let mut stack = vec![(false, e)];
    while let Some((is_below, id)) = stack.pop() {
        match pool.node(id) {
            Node::Smooth(a) => stack.push((is_below, a)),
            Node::Mul(a, b) => stack.extend([(is_below, b), (is_below, a)]),
            Node::Div(a, b) => stack.extend([(!is_below, b), (is_below, a)]),
            _ if is_below => below.push(id),
            _ => above.push(id),
        }
    }
    (above, below)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::print::to_text;

    #[test]
    fn what_is_nested_too_deep_is_cut() {
        let mut pool = Pool::new();
        let mut e = pool.symbol(SymbolId(0));
        for _ in 0..100_000 {
            e = pool.call1(Function1::Sin, e);
        }
        let style = Style {
            name: &|_| "x".to_owned(),
            is_state: &|_| false,
        };
        let text = to_text(&tree_of(&pool, e, &style), style.name);
        assert!(text.contains('…') && text.len() < 10 * MAX_DEPTH);
    }

    #[test]
    fn a_sum_of_many_terms_is_one_flat_list() {
        let mut pool = Pool::new();
        let mut e = pool.number(0.0);
        for i in 0..50_000 {
            let x = pool.symbol(SymbolId(i));
            e = if i % 2 == 0 {
                pool.add(e, x)
            } else {
                pool.sub(e, x)
            };
        }
        let style = Style {
            name: &|s| format!("x{}", s.0),
            is_state: &|_| false,
        };
        let tree = tree_of(&pool, e, &style);
        assert!(to_text(&tree, style.name).starts_with("x0 - x1 + x2 - x3 + x4"));
    }
}
