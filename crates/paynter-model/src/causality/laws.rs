//! Reads from a law which directions of use it allows.
//!
//! In:  expressions of laws.
//! Out: their constant value, their [`Shape`] in one variable, and what they read.
//!
//! **Invariant:** every walk is a loop with its own stack and visits a shared
//! sub-expression once; nothing here depends on how deep an expression is nested.

use crate::graph::BondGraph;
use paynter_symbolic::dae::Role;
use paynter_symbolic::walk::below;
use paynter_symbolic::{ExprId, Function1, Function2, Node, Pool, SymbolId};
use rustc_hash::FxHashSet;

/// How an expression depends on one variable, as far as inverting it goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shape {
    /// Does not read the variable: nothing to invert.
    Constant,
    /// a x + b: inverted by a division.
    Affine,
    /// Can be inverted at best numerically.
    Nonlinear,
    /// Has flat or jumping pieces (dead zone, sign, limits): no inverse exists.
    Flat,
}

/// Puts the sub-expressions of a node on a stack, the first on top.
pub(super) fn push_children(pool: &Pool, e: ExprId, stack: &mut Vec<ExprId>) {
    let below = stack.len();
    pool.each_argument(e, |a| stack.push(a));
    stack[below..].reverse();
}

/// Lists what an expression reads, each symbol once, in the order in which it is met.
pub(super) fn reads(pool: &Pool, e: ExprId) -> Vec<SymbolId> {
    // Most expressions are one symbol, or so small that looking through a list beats hashing.
    const FEW: usize = 24;
    if let Node::Symbol(s) = pool.node(e) {
        return vec![s];
    }
    let mut few: Vec<ExprId> = Vec::new();
    let mut many: FxHashSet<ExprId> = FxHashSet::default();
    let mut found = Vec::new();
    let mut stack = vec![e];
    while let Some(e) = stack.pop() {
        let is_new = if few.len() < FEW {
            !few.contains(&e)
        } else {
            !few.contains(&e) && many.insert(e)
        };
        if !is_new {
            continue;
        }
        if few.len() < FEW {
            few.push(e);
        }
        match pool.node(e) {
            Node::Symbol(s) => found.push(s),
            _ => push_children(pool, e, &mut stack),
        }
    }
    found
}

/// Computes every node below `e` once, children first.
fn fold<T: Copy>(pool: &Pool, e: ExprId, value: impl Fn(ExprId, &dyn Fn(ExprId) -> T) -> T) -> T {
    let order = below(pool, &[e]);
    let mut known: Vec<T> = Vec::with_capacity(order.len());
    for &e in &order {
        let v = value(e, &|child| {
            let place = order.binary_search(&child);
            known[place.expect("children are folded before their parent")]
        });
        known.push(v);
    }
    *known.last().expect("the root is folded last")
}

/// Gives the value of an expression of numbers and parameters; none if it reads anything else.
pub(crate) fn constant_value(graph: &BondGraph, e: ExprId) -> Option<f64> {
    evaluate(
        &graph.signals.pool,
        e,
        &|s| match graph.signals.symbol(s).role {
            Role::Parameter { value, .. } => Some(value),
            _ => None,
        },
    )
}

/// Gives the value of an expression from those of its symbols; none if one has none.
pub(super) fn evaluate(
    pool: &Pool,
    e: ExprId,
    symbol: &dyn Fn(SymbolId) -> Option<f64>,
) -> Option<f64> {
    // The usual cases, without a table.
    match pool.node(e) {
        Node::Number(bits) => return Some(f64::from_bits(bits)),
        Node::Symbol(s) => return symbol(s),
        _ => {}
    }

    fold::<Option<f64>>(pool, e, |e, of| {
        let truth = |b: bool| Some(f64::from(u8::from(b)));
        match pool.node(e) {
            Node::Number(bits) => Some(f64::from_bits(bits)),
            Node::Symbol(s) => symbol(s),
            Node::Neg(a) => Some(-of(a)?),
            Node::Add(a, b) => Some(of(a)? + of(b)?),
            Node::Sub(a, b) => Some(of(a)? - of(b)?),
            Node::Mul(a, b) => Some(of(a)? * of(b)?),
            Node::Div(a, b) => Some(of(a)? / of(b)?),
            Node::Power(a, b) => Some(of(a)?.powf(of(b)?)),
            Node::Call1(f, a) => Some(f.eval(of(a)?)),
            Node::Call2(f, a, b) => Some(f.eval(of(a)?, of(b)?)),
            Node::Compare(c, a, b) => truth(c.holds(of(a)?, of(b)?)),
            Node::Not(a) => truth(of(a)? == 0.0),
            Node::And(a, b) => truth(of(a)? != 0.0 && of(b)? != 0.0),
            Node::Or(a, b) => truth(of(a)? != 0.0 || of(b)? != 0.0),
            Node::If(c, a, b) => {
                if of(c)? != 0.0 {
                    of(a)
                } else {
                    of(b)
                }
            }
            Node::Smooth(a) => of(a),
            Node::External(..) | Node::ExternalSlope(..) => None,
        }
    })
}

/// Tells how an expression depends on `variable`.
pub(super) fn shape(graph: &BondGraph, e: ExprId, variable: SymbolId) -> Shape {
    let pool = &graph.signals.pool;
    fold(pool, e, |e, of| match pool.node(e) {
        Node::Number(_) => Shape::Constant,
        Node::Symbol(s) if s == variable => Shape::Affine,
        Node::Symbol(_) => Shape::Constant,
        Node::Neg(a) | Node::Smooth(a) => of(a),
        Node::Add(a, b) | Node::Sub(a, b) => sum(of(a), of(b)),
        Node::Mul(a, b) => match (of(a), of(b)) {
            (Shape::Constant, Shape::Constant) => Shape::Constant,
            (Shape::Constant, other) if pool.as_number(a) != Some(0.0) => other,
            (other, Shape::Constant) if pool.as_number(b) != Some(0.0) => other,
            (Shape::Constant, _) | (_, Shape::Constant) => Shape::Constant,
            (Shape::Flat, Shape::Flat) => Shape::Flat,
            _ => Shape::Nonlinear,
        },
        Node::Div(a, b) => match (of(a), of(b)) {
            (other, Shape::Constant) => other,
            (Shape::Flat, Shape::Flat) => Shape::Flat,
            _ => Shape::Nonlinear,
        },
        Node::Power(a, b) => match (of(a), of(b)) {
            (Shape::Constant, Shape::Constant) => Shape::Constant,
            (Shape::Flat, _) => Shape::Flat,
            _ => Shape::Nonlinear,
        },
        Node::Call1(f, a) => of_call1(f, of(a)),
        Node::Call2(f, a, b) => of_call2(f, of(a), of(b)),
        Node::Compare(_, a, b) | Node::And(a, b) | Node::Or(a, b) => match (of(a), of(b)) {
            (Shape::Constant, Shape::Constant) => Shape::Constant,
            _ => Shape::Flat,
        },
        Node::Not(a) => match of(a) {
            Shape::Constant => Shape::Constant,
            _ => Shape::Flat,
        },
        Node::If(c, a, b) => match (of(c), of(a), of(b)) {
            (Shape::Constant, Shape::Constant, Shape::Constant) => Shape::Constant,
            (_, Shape::Constant | Shape::Flat, _) | (_, _, Shape::Constant | Shape::Flat) => {
                Shape::Flat
            }
            (Shape::Constant, Shape::Affine, Shape::Affine) => Shape::Affine,
            _ => Shape::Nonlinear,
        },
        Node::External(_, args, _) | Node::ExternalSlope(_, args, _) => {
            if pool.args(args).iter().all(|&a| of(a) == Shape::Constant) {
                Shape::Constant
            } else {
                Shape::Nonlinear
            }
        }
    })
}

fn of_call1(f: Function1, a: Shape) -> Shape {
    match (a, f) {
        (Shape::Constant, _) => Shape::Constant,
        (Shape::Flat, _)
        | (_, Function1::Sign | Function1::Floor | Function1::Ceil | Function1::Round) => {
            Shape::Flat
        }
        _ => Shape::Nonlinear,
    }
}

fn of_call2(f: Function2, a: Shape, b: Shape) -> Shape {
    match (a, b, f) {
        (Shape::Constant, Shape::Constant, _) => Shape::Constant,
        // A limit: beyond it the value stays where it is.
        (Shape::Constant, _, Function2::Min | Function2::Max)
        | (_, Shape::Constant, Function2::Min | Function2::Max)
        | (_, _, Function2::Mod) => Shape::Flat,
        _ => Shape::Nonlinear,
    }
}

fn sum(a: Shape, b: Shape) -> Shape {
    match (a, b) {
        (Shape::Constant, other) | (other, Shape::Constant) => other,
        (Shape::Affine, Shape::Affine) => Shape::Affine,
        (Shape::Flat, Shape::Flat) => Shape::Flat,
        // A steep line under a jump (viscous plus dry friction) can still be inverted.
        _ => Shape::Nonlinear,
    }
}
