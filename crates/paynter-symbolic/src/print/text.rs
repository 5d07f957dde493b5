//! Prints a tree as plain text, in the model language's own notation.
//!
//! In:  a tree and names.
//! Out: `2*P1*P2*sin(theta)*cos(theta)*(I4 - I5)`.
//!
//! **Invariant:** brackets are only where leaving them out would change the value.

use crate::expr::{Comparison, Function1, SymbolId};
use crate::print::tree::Tree;
use std::fmt::Write as _;

/// Prints a tree.
pub fn to_text(tree: &Tree, name: &dyn Fn(SymbolId) -> String) -> String {
    let mut out = String::new();
    write(&mut out, tree, Binding::Loosest, name);
    out
}

/// How tightly the surroundings bind; what binds less needs brackets.
#[derive(Clone, Copy, PartialEq, PartialOrd)]
enum Binding {
    Loosest,
    And,
    Not,
    Comparison,
    Sum,
    Product,
    /// Right of a `/`.
    Divisor,
    Base,
}

fn binding_of(tree: &Tree) -> Binding {
    match tree {
        Tree::If(_) | Tree::Or(..) => Binding::Loosest,
        Tree::And(..) => Binding::And,
        Tree::Not(_) => Binding::Not,
        Tree::Compare(..) => Binding::Comparison,
        Tree::Sum(_) => Binding::Sum,
        Tree::Number(x) if *x < 0.0 => Binding::Sum,
        Tree::Number(x) if pi_multiple(*x).is_some_and(|part| part != (1, 1)) => Binding::Product,
        Tree::Product(_) | Tree::Quotient(..) => Binding::Product,
        Tree::Power(..) => Binding::Divisor,
        Tree::Number(_)
        | Tree::Symbol(_)
        | Tree::Call1(..)
        | Tree::Call(..)
        | Tree::Verbatim(_)
        | Tree::Cut => Binding::Base,
    }
}

fn write(out: &mut String, tree: &Tree, around: Binding, name: &dyn Fn(SymbolId) -> String) {
    if binding_of(tree) < around {
        out.push('(');
        write(out, tree, Binding::Loosest, name);
        out.push(')');
        return;
    }

    match tree {
        Tree::Number(x) => out.push_str(&readable_number(*x)),
        Tree::Symbol(s) => out.push_str(&name(*s)),
        Tree::Sum(terms) => {
            for (i, term) in terms.iter().enumerate() {
                out.push_str(term.sign(i == 0));
                write(out, &term.tree, Binding::Product, name);
            }
        }
        Tree::Product(factors) => product(out, factors, name),
        Tree::Quotient(top, bottom) => {
            write(out, top, Binding::Product, name);
            out.push('/');
            write(out, bottom, Binding::Divisor, name);
        }
        Tree::Power(base, exponent) => {
            write(out, base, Binding::Base, name);
            out.push('^');
            write(out, exponent, Binding::Base, name);
        }
        Tree::Call1(f, a) => call(out, function_name(*f), std::slice::from_ref(&**a), name),
        Tree::Call(f, args) => call(out, f, args, name),
        Tree::Compare(c, a, b) => {
            write(out, a, Binding::Sum, name);
            let _ = write!(out, " {} ", comparison_sign(*c));
            write(out, b, Binding::Sum, name);
        }
        Tree::Not(a) => {
            out.push_str("not ");
            write(out, a, Binding::Not, name);
        }
        Tree::And(a, b) | Tree::Or(a, b) => {
            write(out, a, Binding::And, name);
            out.push_str(match tree {
                Tree::And(..) => " and ",
                _ => " or ",
            });
            write(out, b, Binding::And, name);
        }
        Tree::If(parts) => {
            let [condition, a, b] = &**parts;
            out.push_str("if ");
            write(out, condition, Binding::And, name);
            out.push_str(" then ");
            write(out, a, Binding::And, name);
            out.push_str(" else ");
            write(out, b, Binding::Loosest, name);
        }
        Tree::Verbatim(text) => out.push_str(text),
        Tree::Cut => out.push('…'),
    }
}

fn product(out: &mut String, factors: &[Tree], name: &dyn Fn(SymbolId) -> String) {
    for (i, factor) in factors.iter().enumerate() {
        if i > 0 {
            out.push('*');
        }
        // A quotient may only lead: a*(b/c) read from the left is (a*b)/c, in other bits.
        let around = if i == 0 {
            Binding::Product
        } else {
            Binding::Divisor
        };
        write(out, factor, around, name);
    }
}

fn call(out: &mut String, f: &str, args: &[Tree], name: &dyn Fn(SymbolId) -> String) {
    out.push_str(f);
    out.push('(');
    for (i, arg) in args.iter().enumerate() {
        if i > 0 {
            out.push_str(", ");
        }
        write(out, arg, Binding::Loosest, name);
    }
    out.push(')');
}

/// The shortest digits that read back as the same number.
pub fn number(x: f64) -> String {
    if x != 0.0 && !(1e-4..1e7).contains(&x.abs()) {
        format!("{x:e}")
    } else {
        format!("{x}")
    }
}

/// As [`number`], with parts and multiples of π written as such: `100*pi`, `pi/36`.
fn readable_number(x: f64) -> String {
    let sign = if x < 0.0 { "-" } else { "" };
    match pi_multiple(x) {
        Some((n, d)) => {
            let top = if n == 1 {
                "pi".to_owned()
            } else {
                format!("{n}*pi")
            };
            let bottom = if d == 1 {
                String::new()
            } else {
                format!("/{d}")
            };
            format!("{sign}{top}{bottom}")
        }
        None => number(x),
    }
}

/// Finds n and d with |x| = n π/d, d a divisor of 180: angles in degrees, and circular frequencies.
///
/// Two roundings are allowed: the conversion of a unit makes one, the product another. A number
/// of sixteen digits that agrees so well with n ≤ 10⁶ by chance does not occur.
pub fn pi_multiple(x: f64) -> Option<(u64, u64)> {
    let n = (x.abs() * 180.0 / std::f64::consts::PI).round();
    if !(1.0..1e6).contains(&n) {
        return None;
    }
    let exact = n * std::f64::consts::PI / 180.0;
    if (exact - x.abs()).abs() > 2.0 * f64::EPSILON * exact {
        return None;
    }
    let (mut a, mut b) = (n as u64, 180);
    while b != 0 {
        (a, b) = (b, a % b);
    }
    Some((n as u64 / a, 180 / a))
}

/// The name of a function in the model language.
pub fn function_name(f: Function1) -> &'static str {
    match f {
        Function1::Sin => "sin",
        Function1::Cos => "cos",
        Function1::Tan => "tan",
        Function1::Asin => "asin",
        Function1::Acos => "acos",
        Function1::Atan => "atan",
        Function1::Sinh => "sinh",
        Function1::Cosh => "cosh",
        Function1::Tanh => "tanh",
        Function1::Exp => "exp",
        Function1::Log => "log",
        Function1::Log10 => "log10",
        Function1::Sqrt => "sqrt",
        Function1::Abs => "abs",
        Function1::Sign => "sign",
        Function1::Floor => "floor",
        Function1::Ceil => "ceil",
        Function1::Round => "round",
    }
}

pub(crate) fn comparison_sign(c: Comparison) -> &'static str {
    match c {
        Comparison::Less => "<",
        Comparison::LessEqual => "<=",
        Comparison::Greater => ">",
        Comparison::GreaterEqual => ">=",
        Comparison::Equal => "==",
        Comparison::NotEqual => "!=",
    }
}
