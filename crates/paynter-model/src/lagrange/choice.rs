//! Whether the speeds of a block tell its motion, once and completely.
//!
//! In:  what speeds and constraints say of the velocities.
//! Out: nothing, or which speed is one too many, or which motion is left open.
//!
//! Decided in numbers at a random place: rows that depend on each other there do so everywhere, but for an
//! accident of probability zero.

use super::forms::Forms;
use super::motion::{direction_text, null_direction};
use super::names::original;
use super::points::{POINTS, at_points};
use super::speeds::Equation;
use super::system::{Role, System};
use crate::code;
use paynter_symbolic::{ExprId, SymbolId};
use paynter_syntax::Diagnostic;
use std::collections::BTreeMap;

/// What is left of a row when others are taken off is nothing, beside this part of it.
const NOTHING: f64 = 1e-9;

/// The left sides as numbers, at a point where all of them have a value.
pub(super) fn values_at_a_point(system: &System, equations: &[Equation]) -> Vec<Vec<f64>> {
    let lefts: Vec<BTreeMap<usize, ExprId>> = equations
        .iter()
        .map(|e| e.left.iter().map(|(&i, &e)| (i, e)).collect())
        .collect();
    let mut rows = Vec::new();
    for point in 0..POINTS {
        rows = lefts.iter().map(|left| row(system, left, point)).collect();
        if rows.iter().flatten().all(|x: &f64| x.is_finite()) {
            break;
        }
    }
    rows
}

fn row(system: &System, left: &BTreeMap<usize, ExprId>, point: usize) -> Vec<f64> {
    let mut row = vec![0.0; system.n_free()];
    for (&i, &e) in left {
        row[i] = at_points(system, e)[point];
    }
    row
}

/// Refuses speeds that depend on each other, and speeds that are too few.
///
/// # Errors
///
/// Which.
pub(super) fn check(
    system: &System,
    forms: &Forms,
    equations: &[Equation],
    values: &[Vec<f64>],
) -> Result<(), Box<Diagnostic>> {
    let mut span = Span::default();
    let mut n_held = 0;
    for (k, (equation, row)) in equations.iter().zip(values).enumerate() {
        match span.add(k, row) {
            None if !equation.is_speed => n_held += 1,
            Some(others) if equation.is_speed => {
                let others: Vec<&Equation> = others.into_iter().map(|k| &equations[k]).collect();
                return Err(Box::new(dependent(equation, &others)));
            }
            _ => {}
        }
    }
    let n = system.n_free();
    match null_direction(values, n) {
        None => Ok(()),
        Some(direction) => Err(Box::new(too_few(
            system,
            forms,
            (&direction, n - n_held),
            &span,
        ))),
    }
}

/// Rows that were looked at, made orthogonal, each with what it is made of.
#[derive(Default)]
struct Span {
    /// Unit vectors, and their combination of the rows by number.
    basis: Vec<(Vec<f64>, BTreeMap<usize, f64>)>,
}

impl Span {
    /// Adds a row; where it depends on earlier ones, tells on which.
    fn add(&mut self, number: usize, row: &[f64]) -> Option<Vec<usize>> {
        let mut made_of = BTreeMap::from([(number, 1.0)]);
        let mut rest = row.to_vec();
        // Twice for the sake of rounding.
        for _ in 0..2 {
            for (known, of) in &self.basis {
                let part: f64 = rest.iter().zip(known).map(|(x, y)| x * y).sum();
                rest.iter_mut().zip(known).for_each(|(x, b)| *x -= part * b);
                for (&k, c) in of {
                    *made_of.entry(k).or_insert(0.0) -= part * c;
                }
            }
        }
        let size = |v: &[f64]| v.iter().map(|x| x * x).sum::<f64>().sqrt();
        let left = size(&rest);
        if left > NOTHING * size(row) && left > 0.0 {
            rest.iter_mut().for_each(|x| *x /= left);
            made_of.values_mut().for_each(|c| *c /= left);
            self.basis.push((rest, made_of));
            return None;
        }
        let others = made_of.into_iter();
        let others = others.filter(|&(k, c)| k != number && c.abs() > NOTHING);
        Some(others.map(|(k, _)| k).collect())
    }

    /// Tells whether a row is not made of these.
    fn is_new(&self, row: &[f64]) -> bool {
        let mut trial = Span {
            basis: self.basis.clone(),
        };
        trial.add(usize::MAX, row).is_none()
    }
}

fn dependent(speed: &Equation, others: &[&Equation]) -> Diagnostic {
    let (speeds, constraints): (Vec<&Equation>, Vec<&Equation>) =
        others.iter().partition(|e| e.is_speed);
    let list = |equations: &[&Equation]| {
        let names: Vec<&str> = equations.iter().map(|e| &*e.name).collect();
        names.join("`, `")
    };
    let many = |n: usize| if n == 1 { "" } else { "s" };
    let by_constraints = match constraints.len() {
        0 => String::new(),
        n => format!("the constraint{} `{}`", many(n), list(&constraints)),
    };
    let message = match (speeds.len(), constraints.len()) {
        (0, _) => format!(
            "`{}` cannot be a speed: {by_constraints} holds it",
            speed.name
        ),
        (_, 0) => format!(
            "`{}` follows from the speed{} `{}`",
            speed.name,
            many(speeds.len()),
            list(&speeds)
        ),
        _ => format!(
            "`{}` follows from the speed{} `{}` and {by_constraints}",
            speed.name,
            many(speeds.len()),
            list(&speeds)
        ),
    };
    let mut diagnostic =
        Diagnostic::error(code::SPEEDS, message).primary(speed.span, "one speed too many");
    for other in speeds {
        diagnostic = diagnostic.secondary(other.span, "chosen here");
    }
    diagnostic.help("remove it, or choose a rate that is free when the others are held")
}

fn too_few(
    system: &System,
    forms: &Forms,
    (direction, n_wanted): (&[f64], usize),
    span: &Span,
) -> Diagnostic {
    let n = system.speeds.len();
    let verb = if n == 1 { "is" } else { "are" };
    let (_, place) = system.speeds[n - 1];
    let message = Diagnostic::error(
        code::SPEEDS,
        format!(
            "the speeds leave the motion along `{}` open",
            direction_text(system, direction)
        ),
    )
    .primary(
        place,
        format!(
            "{n_wanted} speeds are needed, coordinates less constraints, and {n} {verb} chosen"
        ),
    );
    match candidates(system, forms, span).as_slice() {
        [] => message.help("declare a `rate` along it and add it to `speed`"),
        names => message.help(format!(
            "add a rate that moves so: `{}`",
            names.join("`, `")
        )),
    }
}

/// Rates and coordinates that the speeds do not tell.
fn candidates(system: &System, forms: &Forms, span: &Span) -> Vec<String> {
    let n = system.n_free();
    let rates = system.rates.iter().map(|r| (r.symbol, r.name.clone()));
    let coordinates = system.coordinates[..n].iter();
    let coordinates = coordinates.map(|c| (c.velocity, c.name.clone()));
    let is_new = |symbol: SymbolId| {
        let form = &forms.of(system, symbol).over;
        let form = form.iter().copied().filter(|entry| entry.0 < n).collect();
        span.is_new(&row(system, &form, 0))
    };
    let has_own_name = |symbol: SymbolId| {
        let is_velocity = matches!(system.role(symbol), Role::Velocity(_));
        !is_velocity
            || !system
                .rates
                .iter()
                .any(|r| original(system, r.symbol) == symbol)
    };
    rates
        .chain(coordinates)
        .filter(|&(symbol, _)| has_own_name(symbol) && is_new(symbol))
        .map(|(_, name)| name)
        .collect()
}

/// A constraint that asks for something else than the others.
pub(super) fn contradiction(constraint: &Equation) -> Diagnostic {
    Diagnostic::error(
        code::SPEEDS,
        format!(
            "the constraint `{}` contradicts the others",
            constraint.name
        ),
    )
    .primary(
        constraint.span,
        "they hold the same motion, and ask for another flow",
    )
    .help("remove one of them")
}
