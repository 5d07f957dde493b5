//! Calculus on texts: derivatives, products and sums of what a model says, written in its own names again.
//!
//! In:  expressions as texts.
//! Out: expressions that can be differentiated, compared with zero and written as text.
//!
//! A name, a dotted path and a literal with a unit are symbols; a function that is not known here is a symbol, too, and what it reads is kept in
//! mind, so that nobody differentiates through it.

use crate::dice::Dice;
use crate::expression::{Parsed, parse};
use crate::walk::{dotted, each};
use paynter::model::lagrange::shortest;
use paynter::symbolic::calculus::derivative;
use paynter::symbolic::evaluate::evaluate;
use paynter::symbolic::normal::normal_form;
use paynter::symbolic::print::order::Style;
use paynter::symbolic::print::text::{function_name, to_text};
use paynter::symbolic::print::tree::tree_of;
use paynter::symbolic::walk::{count_written_operations, depends_on, symbols_of};
use paynter::symbolic::{ExprId, Function1, Pool, SymbolId};
use paynter::syntax::ast::{BinaryOp, Expr, ExprKind, UnaryOp};
use std::collections::BTreeSet;

/// Points at which an expression is compared with zero.
const N_POINTS: usize = 8;

/// What sums of some hundred terms of size one leave of zero.
const NOTHING: f64 = 1e-10;

/// Functions of one number that can be differentiated.
const FUNCTIONS: &[Function1] = &[
    Function1::Sin,
    Function1::Cos,
    Function1::Tan,
    Function1::Asin,
    Function1::Acos,
    Function1::Atan,
    Function1::Sinh,
    Function1::Cosh,
    Function1::Tanh,
    Function1::Exp,
    Function1::Log,
    Function1::Sqrt,
];

/// A symbol and what stands behind it.
struct Leaf {
    text: String,
    /// Names that it reads, where it is more than a name.
    reads: BTreeSet<String>,
}

/// Expressions over the names of a model.
pub struct Algebra {
    /// The expressions.
    pub pool: Pool,
    leaves: Vec<Leaf>,
    constants: BTreeSet<String>,
}

impl Algebra {
    /// Nothing yet; `constants` are the names that never change.
    pub fn new(constants: &BTreeSet<String>) -> Algebra {
        Algebra {
            pool: Pool::new(),
            leaves: Vec::new(),
            constants: constants.clone(),
        }
    }

    /// Further names that never change.
    pub fn add_constants(&mut self, names: impl Iterator<Item = String>) {
        self.constants.extend(names);
    }

    /// The symbol of a text.
    pub fn symbol(&mut self, text: &str) -> SymbolId {
        self.leaf(text, BTreeSet::new())
    }

    fn leaf(&mut self, text: &str, reads: BTreeSet<String>) -> SymbolId {
        let known = self.leaves.iter().position(|l| l.text == text);
        let at = known.unwrap_or_else(|| {
            let text = text.to_owned();
            self.leaves.push(Leaf { text, reads });
            self.leaves.len() - 1
        });
        SymbolId(at as u32)
    }

    /// A name or path as an expression.
    pub fn name(&mut self, text: &str) -> ExprId {
        let symbol = self.symbol(text);
        self.pool.symbol(symbol)
    }

    /// Reads a text; none where it has errors.
    pub fn read(&mut self, text: &str) -> Option<ExprId> {
        let parsed = parse(text)?;
        Some(self.lower(&parsed, &parsed.expr))
    }

    fn lower(&mut self, source: &Parsed, e: &Expr) -> ExprId {
        if let Some(path) = dotted(e) {
            return self.name(&path.join("."));
        }
        match &e.kind {
            ExprKind::Number { value, unit: None } => self.pool.number(*value),
            ExprKind::Number { value: 0.0, .. } => self.pool.number(0.0),
            ExprKind::Unary {
                op: UnaryOp::Plus,
                of,
            } => self.lower(source, of),
            ExprKind::Unary {
                op: UnaryOp::Neg,
                of,
            } => {
                let of = self.lower(source, of);
                self.pool.neg(of)
            }
            ExprKind::Binary { op, left, right } => self
                .binary(source, *op, (left, right))
                .unwrap_or_else(|| self.opaque(source, e)),
            ExprKind::Call { function, args } if args.len() == 1 => {
                let name = function.segments.last().map_or("", |s| &s.text);
                let known = FUNCTIONS.iter().find(|f| function_name(**f) == name);
                match known {
                    Some(&f) => {
                        let of = self.lower(source, &args[0].value);
                        self.pool.call1(f, of)
                    }
                    None => self.opaque(source, e),
                }
            }
            _ => self.opaque(source, e),
        }
    }

    fn binary(
        &mut self,
        source: &Parsed,
        op: BinaryOp,
        (left, right): (&Expr, &Expr),
    ) -> Option<ExprId> {
        let make = match op {
            BinaryOp::Add => Pool::add,
            BinaryOp::Sub => Pool::sub,
            BinaryOp::Mul => Pool::mul,
            BinaryOp::Div => Pool::div,
            BinaryOp::Pow => Pool::pow,
            _ => return None,
        };
        let (a, b) = (self.lower(source, left), self.lower(source, right));
        Some(make(&mut self.pool, a, b))
    }

    /// A literal with a unit, or a function that is not known here.
    fn opaque(&mut self, source: &Parsed, e: &Expr) -> ExprId {
        let mut reads = BTreeSet::new();
        each(e, &mut |e| match dotted(e) {
            Some(path) => {
                reads.insert(path.join("."));
                false
            }
            None => true,
        });
        let text = source.slice(e).to_owned();
        let symbol = self.leaf(&text, reads);
        self.pool.symbol(symbol)
    }

    /// ∂e/∂name; none where a function that is not known here reads the name.
    pub fn slope(&mut self, e: ExprId, name: &str) -> Option<ExprId> {
        let symbol = self.symbol(name);
        let hides = |s: &SymbolId| self.leaves[s.0 as usize].reads.contains(name);
        if symbols_of(&self.pool, e).iter().any(hides) {
            return None;
        }
        Some(derivative(&mut self.pool, e, symbol))
    }

    /// Tells whether an expression reads a name.
    pub fn reads(&mut self, e: ExprId, name: &str) -> bool {
        let symbol = self.symbol(name);
        depends_on(&self.pool, e, symbol)
    }

    /// What an expression reads that may change: names, and what is hidden in functions.
    pub fn varying(&self, e: ExprId) -> BTreeSet<String> {
        let mut names = BTreeSet::new();
        for s in symbols_of(&self.pool, e) {
            let leaf = &self.leaves[s.0 as usize];
            match parse(&leaf.text).is_some_and(|p| dotted(&p.expr).is_some()) {
                true => names.extend([leaf.text.clone()]),
                false => names.extend(leaf.reads.iter().cloned()),
            }
        }
        names.retain(|n| !self.constants.contains(n));
        names
    }

    /// The same with symbols replaced.
    pub fn with(&mut self, e: ExprId, new: &dyn Fn(&str) -> Option<ExprId>) -> ExprId {
        let leaves = &self.leaves;
        let image = |s: SymbolId| new(&leaves[s.0 as usize].text);
        paynter::symbolic::walk::substitute(&mut self.pool, e, &image)
    }

    /// Tells whether an expression is zero, whatever it reads.
    pub fn is_zero(&self, e: ExprId) -> bool {
        if self.pool.as_number(e) == Some(0.0) {
            return true;
        }
        let values: Vec<f64> = self.samples(e);
        !values.is_empty() && values.iter().all(|x| x.abs() <= NOTHING)
    }

    /// Values at random points.
    pub fn samples(&self, e: ExprId) -> Vec<f64> {
        let points = 0..N_POINTS;
        let values = points.filter_map(|point| {
            let at = |s: SymbolId| {
                let mut dice = Dice(0x9e37 + 7919 * point as u64 + 104_729 * u64::from(s.0));
                dice.between(0.3, 1.7)
            };
            evaluate(&self.pool, e, &at).ok()
        });
        values.filter(|x| x.is_finite()).collect()
    }

    /// The shortest form.
    pub fn short(&mut self, e: ExprId) -> ExprId {
        let (leaves, constants) = (&self.leaves, &self.constants);
        let is_constant = |s: SymbolId| constants.contains(&leaves[s.0 as usize].text);
        let short = shortest(&mut self.pool, e, &is_constant);
        // Products of sums, and angles that were taken apart, are not shorter.
        let effort = |e: ExprId| count_written_operations(&self.pool, e);
        match effort(short) <= effort(e) {
            true => short,
            false => e,
        }
    }

    /// Writes an expression.
    pub fn text(&mut self, e: ExprId) -> String {
        let leaves = &self.leaves;
        let name = |s: SymbolId| leaves[s.0 as usize].text.clone();
        let constants = &self.constants;
        let style = Style {
            name: &name,
            is_state: &|s| !constants.contains(&leaves[s.0 as usize].text),
        };
        let plain = to_text(&tree_of(&self.pool, e, &style), &name);
        let arranged = to_text(&normal_form(&mut self.pool, e, &style), &name);
        match arranged.len() < plain.len() {
            true => arranged,
            false => plain,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn squares_of_sine_and_cosine_add_to_one() {
        let constants = BTreeSet::from(["m".to_owned(), "J".to_owned()]);
        let mut a = Algebra::new(&constants);
        let e = a
            .read("J + m*(-x*sin(g))^2 + m*(x*cos(g))^2")
            .expect("it reads");
        let e = a.short(e);
        assert_eq!(a.text(e), "J + m*x^2");
        let slope = a.slope(e, "x").expect("a polynomial");
        let wanted = a.read("2*m*x").expect("it reads");
        let rest = a.pool.sub(slope, wanted);
        assert!(a.is_zero(rest) && !a.is_zero(slope));
    }

    #[test]
    fn nobody_differentiates_through_an_unknown_function() {
        let mut a = Algebra::new(&BTreeSet::new());
        let e = a.read("2*cam(x)").expect("it reads");
        assert!(a.slope(e, "x").is_none() && a.slope(e, "y").is_some());
        assert_eq!(a.varying(e), BTreeSet::from(["x".to_owned()]));
    }
}
