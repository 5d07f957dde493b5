//! Kinetic energies as squares of rates: each becomes one inertia.
//!
//! In:  kinetic energies as written.
//! Out: inertias ½ I f² with I the same everywhere; rates that had no name get one.
//!
//! An addend is c·(rate)², where the rate may be any sum that is linear in rates. Where c depends on the
//! place, its root goes into the rate: ½ m x² φ̇² is the inertia m of the rate x φ̇.

use super::forms::{Forms, Term, affine_terms};
use super::points::{is_negative, is_positive, is_zero};
use super::poly::{expression_of, poly_of};
use super::system::{Named, Rate, Role, System};
use paynter_symbolic::expr::Function1;
use paynter_symbolic::{ExprId, Node, SymbolId};
use paynter_syntax::Span;

/// One inertia.
#[derive(Clone, Debug)]
pub(super) struct Inertia {
    pub name: String,
    /// The velocity or rate it moves with.
    pub rate: SymbolId,
    /// I in ½ I f².
    pub size: ExprId,
    pub span: Span,
}

/// c·(linear)², an addend of an energy.
#[derive(Clone, Copy, Debug)]
pub(super) struct Square {
    pub factor: ExprId,
    pub linear: ExprId,
}

/// Makes the inertias of one kinetic energy from its addends as written; none where some addend has another form.
pub(super) fn as_written(
    system: &mut System,
    forms: &mut Forms,
    named: &Named,
) -> Option<Vec<Inertia>> {
    let squares = match squares(system, named.value) {
        Some(squares) => squares,
        None => {
            let shorter = system.simplify(named.value);
            squares(system, shorter)?
        }
    };
    let mut parts: Vec<(ExprId, ExprId, Vec<Term>)> = Vec::new();
    for square in squares {
        for (constant, varying) in factors(system, square)? {
            let mut linear = square.linear;
            if let Some(varying) = varying {
                let root = root(system, varying);
                linear = system.pool.mul(root, linear);
            }
            let (terms, free) = affine_terms(system, linear)?;
            if terms.is_empty() || !is_zero(system, free) {
                return None;
            }
            parts.push((constant, linear, terms));
        }
    }
    let is_only = parts.len() == 1;
    let mut found = Vec::new();
    for (number, (constant, linear, terms)) in parts.into_iter().enumerate() {
        let two = system.pool.number(2.0);
        let size = system.pool.mul(two, constant);
        let size = system.simplify(size);
        let name = if is_only {
            named.name.clone()
        } else {
            let wanted = part_name(system, &named.name, &terms, number);
            system.fresh(&wanted)
        };
        let rate = rate_for(system, forms, linear, terms, (&name, named.span));
        found.push(Inertia {
            name,
            rate,
            size,
            span: named.span,
        });
    }
    Some(found)
}

/// Takes an energy apart into addends that are squares, if it is a sum of such.
pub(super) fn squares(system: &mut System, e: ExprId) -> Option<Vec<Square>> {
    let mut found = Vec::new();
    let one = system.pool.number(1.0);
    let mut open = vec![(e, one)];
    while let Some((e, factor)) = open.pop() {
        let moves = |system: &System, e: ExprId| !system.rates_in(e).is_empty();
        match system.pool.node(e) {
            Node::Add(a, b) => open.extend([(b, factor), (a, factor)]),
            Node::Sub(a, b) => {
                let negative = system.pool.neg(factor);
                open.extend([(b, negative), (a, factor)]);
            }
            Node::Neg(a) => {
                let negative = system.pool.neg(factor);
                open.push((a, negative));
            }
            Node::Mul(a, b) if a == b && moves(system, a) => {
                found.push(Square { factor, linear: a });
            }
            Node::Mul(a, b) if moves(system, a) && !moves(system, b) => {
                let factor = system.pool.mul(factor, b);
                open.push((a, factor));
            }
            Node::Mul(a, b) if moves(system, b) && !moves(system, a) => {
                let factor = system.pool.mul(factor, a);
                open.push((b, factor));
            }
            Node::Div(a, b) if moves(system, a) && !moves(system, b) => {
                let factor = system.pool.div(factor, b);
                open.push((a, factor));
            }
            Node::Power(a, n) if system.pool.as_number(n) == Some(2.0) && moves(system, a) => {
                found.push(Square { factor, linear: a });
            }
            _ => return None,
        }
    }
    // They were taken from a stack.
    found.sort_by_key(|square| square.linear);
    Some(found)
}

/// The factor of a square as a sum of (constant, what depends on the place); none where it is negative.
fn factors(system: &mut System, square: Square) -> Option<Vec<(ExprId, Option<ExprId>)>> {
    if is_negative(system, square.factor) {
        return None;
    }
    let (constant, varying) = split_factor(system, square.factor);
    let Some(varying) = varying else {
        return Some(vec![(constant, None)]);
    };
    // (J + m x²) φ̇² is an inertia J and an inertia m, both readable.
    if let Node::Add(a, b) = system.pool.node(varying) {
        let mut parts = Vec::new();
        for addend in [a, b] {
            let factor = system.pool.mul(constant, addend);
            let linear = square.linear;
            match factors(system, Square { factor, linear }) {
                Some(found) => parts.extend(found),
                None => {
                    return is_positive(system, varying).then(|| vec![(constant, Some(varying))]);
                }
            }
        }
        return Some(parts);
    }
    is_positive(system, varying).then(|| vec![(constant, Some(varying))])
}

/// The part of a factor that is the same everywhere, and the rest.
fn split_factor(system: &mut System, factor: ExprId) -> (ExprId, Option<ExprId>) {
    if system.is_constant(factor) {
        return (factor, None);
    }
    match system.pool.node(factor) {
        Node::Mul(a, b) => {
            let (a, rest_a) = split_factor(system, a);
            let (b, rest_b) = split_factor(system, b);
            let rest = match (rest_a, rest_b) {
                (Some(a), Some(b)) => Some(system.pool.mul(a, b)),
                (a, b) => a.or(b),
            };
            (system.pool.mul(a, b), rest)
        }
        Node::Div(a, b) => {
            let (a, rest_a) = split_factor(system, a);
            let (b, rest_b) = split_factor(system, b);
            let one = system.pool.number(1.0);
            let rest = match (rest_a, rest_b) {
                (Some(a), Some(b)) => Some(system.pool.div(a, b)),
                (None, Some(b)) => Some(system.pool.div(one, b)),
                (a, None) => a,
            };
            (system.pool.div(a, b), rest)
        }
        Node::Neg(a) => {
            let (a, rest) = split_factor(system, a);
            (system.pool.neg(a), rest)
        }
        _ => (system.pool.number(1.0), Some(factor)),
    }
}

/// The root of a positive expression, without a root where it is a square.
fn root(system: &mut System, e: ExprId) -> ExprId {
    // r² + 2 r l sin θ + l² sin²θ is (r + l sin θ)².
    if let Some((k, root)) = poly_of(system, e).and_then(|poly| poly.square_root())
        && k == 1.0
    {
        return expression_of(system, &root);
    }
    match system.pool.node(e) {
        Node::Mul(a, b) if a == b => a,
        Node::Mul(a, b) => {
            let (a, b) = (root(system, a), root(system, b));
            system.pool.mul(a, b)
        }
        Node::Div(a, b) => {
            let (a, b) = (root(system, a), root(system, b));
            system.pool.div(a, b)
        }
        Node::Power(a, n) => match system.pool.as_number(n) {
            Some(n) if n % 2.0 == 0.0 => {
                let half = system.pool.number(n / 2.0);
                system.pool.pow(a, half)
            }
            _ => system.pool.call1(Function1::Sqrt, e),
        },
        _ => system.pool.call1(Function1::Sqrt, e),
    }
}

/// One of several addends is named by its rate, too.
fn part_name(system: &System, name: &str, terms: &[Term], number: usize) -> String {
    match terms {
        [only] => {
            let source = match system.role(only.source) {
                Role::Velocity(i) => &system.coordinates[i].name,
                _ => system.symbol_name(only.source),
            };
            format!("{name}_{source}")
        }
        _ => format!("{name}_{}", number + 1),
    }
}

/// The rate that something linear is: one that there is, or a new one.
pub(super) fn rate_for(
    system: &mut System,
    forms: &mut Forms,
    linear: ExprId,
    terms: Vec<Term>,
    (name, span): (&str, Span),
) -> SymbolId {
    let own = system.pool.as_symbol(linear);
    if let Some(symbol) = own
        && matches!(system.role(symbol), Role::Velocity(_) | Role::Rate(_))
    {
        return symbol;
    }
    // The same rate without a name may be squared more than once: in a kinetic energy and in a loss.
    if let Some(rate) = system.rates.iter().find(|rate| rate.value == linear) {
        return rate.symbol;
    }
    let name = system.fresh(&format!("{name}_rate"));
    let symbol = system.add(&name, Role::Rate(system.rates.len()));
    system.rates.push(Rate {
        name,
        symbol,
        value: linear,
        text: String::new(),
        span,
    });
    forms.push(system, terms);
    symbol
}
