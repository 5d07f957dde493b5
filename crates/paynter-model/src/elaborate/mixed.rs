//! The IC field: momenta at some ports, displacements at others, one energy.
//!
//! In:  `IC[n] { energy = … }` as written.
//! Out: what each port remembers, and its law: f = ∂H/∂p at a port that the energy reads as `p[k]`, e = ∂H/∂q at one that it reads as
//!      `q[k]`. The field is reciprocal by construction.
//!
//! **Invariant:** every port has one letter.

use super::Elaborator;
use super::data::*;
use super::law::Laws;
use super::lower::Stop;
use crate::graph::{ElementKind, Memory};
use paynter_syntax::Span;
use paynter_syntax::ast::{self, ExprKind};

/// What is wrong with the letters of an energy, and where.
pub(super) type Fault = (Span, String);

/// What each port remembers, by the letters that the energy reads.
///
/// # Errors
///
/// A port with both letters or none, or a letter without a number.
pub(super) fn memories(written: Option<&ast::Kind>, size: u32) -> Result<Vec<Memory>, Fault> {
    let whole = written.map(|w| w.span).unwrap_or_default();
    let law = written.and_then(|w| w.law.as_deref());
    let Some([energy]) = law.filter(|l| l.iter().all(|e| &*e.target.text == "energy")) else {
        return Err((whole, "an IC is given by `energy = …` alone".to_owned()));
    };
    let mut found: Vec<Option<Memory>> = vec![None; size as usize];
    let mut fault = None;
    read_letters(&energy.value, &mut |letter, number, span| {
        let memory = match letter {
            "p" => Memory::Momentum,
            _ => Memory::Displacement,
        };
        let number = number.or((size == 1).then_some(1));
        let place = number.and_then(|k| usize::try_from(k - 1).ok());
        match place.and_then(|k| found.get_mut(k)) {
            None => {
                let text = format!("write the number of the port, 1 to {size}: `{letter}[1]`");
                fault.get_or_insert((span, text));
            }
            Some(known) if known.is_some_and(|m| m != memory) => {
                let text = "this port is read with `p` and with `q`: it has one of them".to_owned();
                fault.get_or_insert((span, text));
            }
            Some(known) => *known = Some(memory),
        }
    });

    if let Some(fault) = fault {
        return Err(fault);
    }
    let unread = found.iter().position(Option::is_none);
    match unread {
        Some(k) => Err((
            energy.value.span,
            format!("port {0} stores nothing: read `p[{0}]` or `q[{0}]`", k + 1),
        )),
        None => Ok(found.into_iter().flatten().collect()),
    }
}

/// Calls back for every `p`, `q`, `p[k]` and `q[k]`; none in the place of the number where there is none or it is not a literal.
fn read_letters(e: &ast::Expr, found: &mut dyn FnMut(&str, Option<i64>, Span)) {
    let letter = |e: &ast::Expr| match &e.kind {
        ExprKind::Name(name) if matches!(&*name.text, "p" | "q") => Some(name.text.to_string()),
        _ => None,
    };
    if let Some(letter) = letter(e) {
        found(&letter, None, e.span);
        return;
    }
    if let ExprKind::Index { of, index } = &e.kind
        && let (Some(letter), [one]) = (letter(of), index.as_slice())
    {
        found(&letter, port_number(std::slice::from_ref(one)), e.span);
        return;
    }
    children(e, &mut |child| read_letters(child, found));
}

/// The number of a port, where it is written as one.
pub(super) fn port_number(index: &[ast::Expr]) -> Option<i64> {
    match index {
        [one] => match &one.kind {
            ExprKind::Number { value, unit: None } if value.fract() == 0.0 => Some(*value as i64),
            _ => None,
        },
        _ => None,
    }
}

/// The parts of an expression.
fn children(e: &ast::Expr, each: &mut dyn FnMut(&ast::Expr)) {
    match &e.kind {
        ExprKind::Number { .. } | ExprKind::Bool(_) | ExprKind::Text(_) | ExprKind::Name(_) => {}
        ExprKind::Matrix { rows, .. } => rows.iter().flatten().for_each(each),
        ExprKind::Field { of, .. } | ExprKind::Unary { of, .. } | ExprKind::Transpose(of) => {
            each(of);
        }
        ExprKind::Index { of, index } => {
            each(of);
            index.iter().for_each(each);
        }
        ExprKind::Call { args, .. } => args.iter().for_each(|a| each(&a.value)),
        ExprKind::Comprehension { body, .. } => each(body),
        ExprKind::Binary { left, right, .. } => {
            each(left);
            each(right);
        }
        ExprKind::If {
            condition,
            then,
            otherwise,
        } => {
            each(condition);
            each(then);
            each(otherwise);
        }
    }
}

impl<'a> Elaborator<'a> {
    /// The law of an IC.
    pub(super) fn mixed(&mut self, thing: ThingId, written: &'a ast::Kind) -> Result<Laws, Stop> {
        let Some(law) = &written.law else {
            return Err(self.missing_value(written, ElementKind::Ic));
        };
        if let Some(arg) = written.args.as_ref().and_then(|a| a.first()) {
            let text = "a law in braces takes no value in parentheses";
            return Err(self.bad_law(arg.value.span, text));
        }
        if let Err((span, text)) = memories(Some(written), self.tables.things[thing.at()].size) {
            return Err(self.bad_law(span, &text));
        }
        self.explicit(thing, law)
    }
}
