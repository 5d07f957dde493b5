//! What the energies say of the motion as a whole.
//!
//! In:  a system, its forms and inertias.
//! Out: refusals of coordinates that nothing holds; closed rates; cyclic coordinates; places where inertia vanishes.
//!
//! All of it is decided in numbers, at random points.

use super::forms::{Forms, affine_terms};
use super::gyrators::{Gyrator, curl};
use super::names::junction_of;
use super::points::{POINTS, at_points, is_zero, random};
use super::speeds::{Basis, LinearForm};
use super::squares::Inertia;
use super::system::{Effort, Named, Role, System};
use crate::code;
use paynter_symbolic::calculus::gradient;
use paynter_symbolic::evaluate::Evaluator;
use paynter_symbolic::{ExprId, SymbolId};
use paynter_syntax::Diagnostic;
use std::f64::consts::PI;

/// Rows of which something is held along, by free coordinate.
type Rows = Vec<Vec<f64>>;

/// What is left of a row when others are taken off is nothing, beside this part of it.
const NOTHING: f64 = 1e-9;

/// Refuses directions in which nothing has inertia, stiffness, loss, a constraint or a port: any motion would do.
///
/// # Errors
///
/// Those directions; and rolling constraints that were put into the kinetic energy.
pub(super) fn refuse_idle(
    system: &mut System,
    forms: &Forms,
    inertias: &[Inertia],
) -> Result<(), Vec<Diagnostic>> {
    let n = system.n_free();
    let mut rows: Rows = Vec::new();
    for inertia in inertias {
        rows.push(at_first_point(
            system,
            &forms.of(system, inertia.rate).over,
            n,
        ));
    }
    for port in system.ports.clone() {
        rows.push(at_first_point(system, &forms.of(system, port).over, n));
    }
    for named in system.potential.clone() {
        let positions: Vec<SymbolId> = system.coordinates.iter().map(|c| c.position).collect();
        let slopes = gradient(&mut system.pool, named.value, &positions[..n]);
        rows.extend(at_all_points(system, &slopes));
    }
    for named in system.loss.clone() {
        rows.extend(loss_rows(system, forms, &named, n));
    }
    if let Some(message) = rolled(system, forms, &rows, n) {
        return Err(vec![message]);
    }
    for named in system.constraints.clone() {
        let over = constraint_form(system, forms, &named);
        rows.push(at_first_point(system, &over, n));
    }
    match null_direction(&rows, n) {
        None => Ok(()),
        Some(direction) => Err(vec![idle(system, &direction)]),
    }
}

fn at_first_point(system: &System, over: &[(usize, ExprId)], n: usize) -> Vec<f64> {
    let mut row = vec![0.0; n];
    for &(i, e) in over.iter().filter(|entry| entry.0 < n) {
        let values = at_points(system, e);
        row[i] = values.iter().copied().find(|x| !x.is_nan()).unwrap_or(1.0);
    }
    row
}

fn at_all_points(system: &System, slopes: &[ExprId]) -> Rows {
    let values: Vec<[f64; POINTS]> = slopes.iter().map(|&e| at_points(system, e)).collect();
    (0..POINTS)
        .map(|p| values.iter().map(|v| v[p]).collect::<Vec<f64>>())
        .filter(|row| row.iter().all(|x| !x.is_nan()))
        .collect()
}

fn loss_rows(system: &mut System, forms: &Forms, named: &Named, n: usize) -> Rows {
    let moving = system.rates_in(named.value);
    let slopes = gradient(&mut system.pool, named.value, &moving);
    let mut rows = vec![vec![0.0; n]; POINTS];
    for (&source, slope) in moving.iter().zip(slopes) {
        let values = at_points(system, slope);
        let form = at_first_point(system, &forms.of(system, source).over, n);
        for (row, value) in rows.iter_mut().zip(values) {
            let value = if value.is_nan() { 0.0 } else { value };
            row.iter_mut().zip(&form).for_each(|(x, t)| *x += value * t);
        }
    }
    rows
}

/// Coefficients of a constraint over velocities.
fn constraint_form(system: &mut System, forms: &Forms, named: &Named) -> Vec<(usize, ExprId)> {
    if system.rates_in(named.value).is_empty() {
        let places = system.positions_in(named.value);
        let symbols: Vec<SymbolId> = places
            .iter()
            .map(|&i| system.coordinates[i].position)
            .collect();
        let slopes = gradient(&mut system.pool, named.value, &symbols);
        return places.into_iter().zip(slopes).collect();
    }
    let terms = affine_terms(system, named.value).map_or(Vec::new(), |found| found.0);
    forms.over(system, &terms)
}

/// A direction that no row sees, if there is one.
pub(super) fn null_direction(rows: &[Vec<f64>], n: usize) -> Option<Vec<f64>> {
    // Gram–Schmidt, twice for the sake of rounding.
    let mut basis: Rows = Vec::new();
    for row in rows {
        let size = norm(row);
        let mut rest = row.clone();
        for _ in 0..2 {
            for known in &basis {
                let part = dot(&rest, known);
                rest.iter_mut().zip(known).for_each(|(x, b)| *x -= part * b);
            }
        }
        let left = norm(&rest);
        if left > NOTHING * size && left > 0.0 {
            rest.iter_mut().for_each(|x| *x /= left);
            basis.push(rest);
        }
        if basis.len() == n {
            return None;
        }
    }
    let mut best = vec![0.0; n];
    for i in 0..n {
        let mut rest = vec![0.0; n];
        rest[i] = 1.0;
        for known in &basis {
            let part = dot(&rest, known);
            rest.iter_mut().zip(known).for_each(|(x, b)| *x -= part * b);
        }
        if norm(&rest) > norm(&best) {
            best = rest;
        }
    }
    let largest = best.iter().fold(0.0_f64, |m, x| m.max(x.abs()));
    if largest == 0.0 {
        return None;
    }
    best.iter_mut().for_each(|x| *x /= largest);
    Some(best)
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(x, y)| x * y).sum()
}

fn norm(a: &[f64]) -> f64 {
    dot(a, a).sqrt()
}

/// A direction in the user's names: `der(a) - 0.5*der(b)`.
pub(super) fn direction_text(system: &System, direction: &[f64]) -> String {
    let mut out = String::new();
    for (i, &x) in direction.iter().enumerate() {
        if x.abs() < 1e-6 {
            continue;
        }
        let sign = match (out.is_empty(), x < 0.0) {
            (true, false) => "",
            (true, true) => "-",
            (false, false) => " + ",
            (false, true) => " - ",
        };
        let size = (x.abs() * 1000.0).round() / 1000.0;
        let factor = if size == 1.0 {
            String::new()
        } else {
            format!("{size}*")
        };
        out.push_str(&format!(
            "{sign}{factor}der({})",
            system.coordinates[i].name
        ));
    }
    out
}

fn idle(system: &System, direction: &[f64]) -> Diagnostic {
    let parts: Vec<usize> = (0..direction.len())
        .filter(|&i| direction[i].abs() > 1e-6)
        .collect();
    let first = &system.coordinates[parts.first().copied().unwrap_or(0)];
    let message = match parts.as_slice() {
        [_] => format!("no energy depends on the coordinate `{}`", first.name),
        _ => format!(
            "nothing resists motion along `{}`",
            direction_text(system, direction)
        ),
    };
    Diagnostic::error(code::IDLE_COORDINATE, message)
        .primary(
            first.span,
            "neither inertia, stiffness, loss, constraint nor port there",
        )
        .help("remove the coordinate, or write the energy that holds it")
}

/// A coordinate that only a rolling constraint holds: its inertia went into T by way of the constraint.
fn rolled(system: &mut System, forms: &Forms, rows: &Rows, n: usize) -> Option<Diagnostic> {
    for named in system.constraints.clone() {
        if system.rates_in(named.value).is_empty() {
            continue;
        }
        let over = constraint_form(system, forms, &named);
        // d(rφ − x) = 0: that is a constraint of places, and may be put in.
        if curl(system, &over).is_zero() {
            continue;
        }
        for &(i, _) in over.iter().filter(|entry| entry.0 < n) {
            let is_seen = rows.iter().any(|row| row[i].abs() > NOTHING * norm(row));
            let position = system.coordinates[i].position;
            let is_read = system
                .rates
                .iter()
                .any(|r| paynter_symbolic::walk::depends_on(&system.pool, r.value, position));
            let velocity = system.coordinates[i].velocity;
            let is_driven = system.effort.iter().any(|e| e.on == velocity);
            if !is_seen && !is_read && !is_driven {
                return Some(substituted(system, &named, i));
            }
        }
    }
    None
}

fn substituted(system: &System, named: &Named, i: usize) -> Diagnostic {
    let coordinate = &system.coordinates[i];
    Diagnostic::error(
        code::ROLLING_SUBSTITUTED,
        format!(
            "`{}` has no energy of its own, and the rolling constraint `{}` does not replace it",
            coordinate.name, named.name
        ),
    )
    .primary(named.span, "its reaction would do no work on anything")
    .secondary(coordinate.span, "no kinetic energy reads its rate")
    .fact("a rolling constraint that is put into T before differentiating gives other equations: the terms that differ are powerless, and no energy audit sees them")
    .help(format!(
        "write the kinetic energy with der({}) and keep the constraint; if `{}` is only to be followed, integrate it as an output",
        coordinate.name, coordinate.name
    ))
}

/// Rates of inertias that need no gyrator: speeds of something.
pub(super) fn closed(system: &System, inertias: &[Inertia], gyrators: &[Gyrator]) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for inertia in inertias {
        let name = junction_of(system, inertia.rate);
        let start = format!("-d({name}) ");
        let turns = gyrators.iter().any(|g| g.why.starts_with(&start));
        if !turns && !names.contains(&name) {
            names.push(name);
        }
    }
    names
}

/// Coordinates whose momentum is constant: nothing reads them, and nothing pushes or holds them.
pub(super) fn cyclic(system: &mut System, forms: &Forms) -> Vec<String> {
    let mut found = Vec::new();
    let mut held: Vec<usize> = Vec::new();
    for named in system.constraints.clone() {
        held.extend(constraint_form(system, forms, &named).iter().map(|e| e.0));
    }
    for named in system.loss.clone() {
        for source in system.rates_in(named.value) {
            held.extend(forms.of(system, source).over.iter().map(|e| e.0));
        }
    }
    for &port in &system.ports {
        held.extend(forms.of(system, port).over.iter().map(|e| e.0));
    }
    let rates = system.rates.iter().map(|r| r.value);
    let energies = system.kinetic.iter().chain(&system.potential);
    let energies = energies.chain(&system.loss).chain(&system.constraints);
    let values: Vec<ExprId> = rates.chain(energies.map(|n| n.value)).collect();
    for i in 0..system.n_free() {
        let is_read = values.iter().any(|&e| system.positions_in(e).contains(&i));
        if is_read || held.contains(&i) {
            continue;
        }
        let drives: Vec<&Effort> = system
            .effort
            .iter()
            .filter(|e| forms.of(system, e.on).over.iter().any(|entry| entry.0 == i))
            .filter(|e| e.value.is_none_or(|value| !is_zero(system, value)))
            .collect();
        // An input that drives it may rest; a force that is written out does not.
        let rests = |e: &&Effort| {
            let symbol = e.value.and_then(|value| system.pool.as_symbol(value));
            symbol.is_some_and(|s| system.role(s) == Role::Input)
        };
        let name = &system.coordinates[i].name;
        if drives.is_empty() {
            found.push(name.clone());
        } else if drives.iter().all(rests) {
            let names: Vec<&str> = drives.iter().map(|e| &*e.text).collect();
            found.push(format!("{name} (while {} = 0)", names.join(" = ")));
        }
    }
    found
}

/// More coordinates than this are not searched for places where inertia vanishes: the matrix is factored at
/// some places for each.
const MAX_COORDINATES: usize = 12;

/// Places where inertia vanishes along some direction, as conditions on single coordinates.
pub(super) fn singular(
    system: &mut System,
    (forms, basis): (&Forms, &Basis),
    inertias: &[Inertia],
) -> Vec<String> {
    let mut rows = Vec::new();
    for inertia in inertias {
        let over = forms.of(system, inertia.rate).over.clone();
        rows.push(basis.over(system, &over));
    }
    vanishing(system, &rows, basis.n_free())
}

/// Places where speeds and constraints do not tell all velocities.
pub(super) fn dependent_speeds(system: &mut System, forms: &Forms) -> Vec<String> {
    let mut rows = Vec::new();
    for (speed, _) in system.speeds.clone() {
        rows.push(forms.of(system, speed).over.clone());
    }
    if rows.is_empty() {
        return Vec::new();
    }
    for named in system.constraints.clone() {
        rows.push(constraint_form(system, forms, &named));
    }
    vanishing(system, &rows, system.n_free())
}

/// Conditions on single coordinates under which rows of n entries no longer see every direction.
fn vanishing(system: &System, rows: &[LinearForm], n: usize) -> Vec<String> {
    let n_coordinates = system.n_free();
    let is_small = n > 0 && n_coordinates <= MAX_COORDINATES;
    if !is_small || is_singular(system, rows, n, None) {
        return Vec::new();
    }
    let mut found = Vec::new();
    for i in 0..n_coordinates {
        let at = |x: f64| is_singular(system, rows, n, Some((i, x)));
        let name = &system.coordinates[i].name;
        match (at(0.0), at(PI / 2.0), at(PI)) {
            (true, false, true) => found.push(format!("sin({name}) = 0")),
            (false, true, _) => found.push(format!("cos({name}) = 0")),
            (true, false, false) => found.push(format!("{name} = 0")),
            (true, true, _) => found.push(format!("sin(2*{name}) = 0")),
            (false, false, _) => {}
        }
    }
    found
}

/// Tells whether rows miss a direction at a random place, or one with a coordinate set.
fn is_singular(system: &System, forms: &[LinearForm], n: usize, set: Option<(usize, f64)>) -> bool {
    let mut evaluator = Evaluator::new();
    let mut rows: Rows = Vec::new();
    for form in forms {
        let mut row = vec![0.0; n];
        for &(i, e) in form.iter().filter(|entry| entry.0 < n) {
            let value = evaluator.evaluate(&system.pool, e, &|s| match (system.role(s), set) {
                (Role::Position(k), Some((i, x))) if k == i => x,
                _ => 0.3 + 1.4 * random(u64::from(s.0), 77),
            });
            row[i] = value.ok().filter(|x| x.is_finite()).unwrap_or(1.0);
        }
        // A sine of π is no zero in numbers.
        let size = norm(&row);
        row.iter_mut().for_each(|x| {
            if x.abs() < 1e-12 {
                *x = 0.0;
            }
        });
        if size > 1e-12 {
            rows.push(row);
        }
    }
    null_direction(&rows, n).is_some()
}
