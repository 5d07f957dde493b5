//! Kinetic energies as inertias: which way is taken, and what is refused.
//!
//! In:  all kinetic energies of a system.
//! Out: inertias, and how they were found.
//!
//! Energies that are sums of squares as written are taken so. What is left over is taken apart together
//! (`general.rs`), with the others if it is not positive by itself.

use super::forms::{Forms, depends_on_time};
use super::general::{Field, Matrix, Way, as_field, by_parameters, by_roots};
use super::motion::direction_text;
use super::points::{is_zero, place_text};
use super::squares::{Inertia, as_written};
use super::system::{Named, System};
use crate::code;
use paynter_symbolic::calculus::gradient;
use paynter_syntax::{Diagnostic, Span};

/// All inertias.
#[derive(Clone, Debug, Default)]
pub(super) struct Kinetic {
    pub inertias: Vec<Inertia>,
    pub field: Option<Field>,
    /// Energies that were taken apart, and how.
    pub ways: Vec<String>,
}

impl Kinetic {
    /// All inertias, with one at each coordinate of the field: where something has inertia.
    pub fn everywhere(&self, system: &System) -> Vec<Inertia> {
        let mut all = self.inertias.clone();
        if let Some(field) = &self.field {
            all.extend(field.coordinates.iter().map(|&i| Inertia {
                name: field.name.clone(),
                rate: system.coordinates[i].velocity,
                size: field.matrix[0],
                span: field.span,
            }));
        }
        all
    }
}

/// Finds the inertias of all kinetic energies.
///
/// # Errors
///
/// Energies that are not quadratic in rates, or not positive.
pub(super) fn kinetic(system: &mut System, forms: &mut Forms) -> Result<Kinetic, Vec<Diagnostic>> {
    let mut errors = Vec::new();
    for named in system.kinetic.clone() {
        errors.extend(check_quadratic(system, &named).err().map(|m| *m));
    }
    if !errors.is_empty() {
        return Err(errors);
    }
    let before = (system.clone(), forms.clone());
    let mut found = Kinetic::default();
    let mut rest = Vec::new();
    for named in system.kinetic.clone() {
        match as_written(system, forms, &named) {
            Some(inertias) => found.inertias.extend(inertias),
            None => rest.push(named),
        }
    }
    if rest.is_empty() {
        return Ok(found);
    }
    let matrix = matrix_of(system, forms, &rest);
    if matrix.negative_direction(system).is_some() {
        // Perhaps positive together with the others; rates made for these are not needed then.
        (*system, *forms) = before;
        found = Kinetic::default();
        rest = system.kinetic.clone();
    }
    apart(system, forms, &rest, &mut found).map_err(|message| vec![*message])?;
    Ok(found)
}

fn matrix_of(system: &mut System, forms: &Forms, energies: &[Named]) -> Matrix {
    let mut sum = system.pool.number(0.0);
    for named in energies {
        sum = system.pool.add(sum, named.value);
    }
    Matrix::of(system, forms, sum)
}

/// Takes energies apart together.
fn apart(
    system: &mut System,
    forms: &mut Forms,
    energies: &[Named],
    found: &mut Kinetic,
) -> Result<(), Box<Diagnostic>> {
    let (name, span) = (energies[0].name.clone(), energies[0].span);
    let matrix = matrix_of(system, forms, energies);
    if let Some((point, direction)) = matrix.negative_direction(system) {
        return Err(indefinite(system, energies, (point, &direction)));
    }
    let place = (name.as_str(), span);
    let way = if let Some(inertias) = by_parameters(system, forms, &matrix, place) {
        found.inertias.extend(inertias);
        Way::Parameters
    } else if let Some(field) = as_field(system, &matrix, place) {
        found.field = Some(field);
        Way::Field
    } else if let Some(inertias) = by_roots(system, forms, &matrix, place) {
        found.inertias.extend(inertias);
        Way::Roots
    } else {
        return Err(doubtful(&name, span));
    };
    let names: Vec<&str> = energies.iter().map(|e| &*e.name).collect();
    found
        .ways
        .push(format!("{} as {}", names.join(" + "), way.words()));
    Ok(())
}

/// Refuses energies that are not quadratic in rates, or that change by themselves.
fn check_quadratic(system: &mut System, named: &Named) -> Result<(), Box<Diagnostic>> {
    if system.reads_time(named.value) {
        return Err(depends_on_time(system, named, named.value));
    }
    let moving = system.rates_in(named.value);
    let refused = |what: &str, why: &str| {
        Diagnostic::error(
            code::NOT_QUADRATIC,
            format!("`{}` is not quadratic in {what}", named.name),
        )
        .primary(named.span, why.to_owned())
    };
    let not_quadratic = |what: &str, why: &str| {
        Box::new(refused(what, why).help("an inertia stores 0.5*I*f^2; write a relativistic or other law as an `I { f = … }` in a model"))
    };
    let rest = system.at_rest(named.value);
    if moving.is_empty() || !is_zero(system, rest) {
        let why = "it is not zero where all coordinates are at rest";
        let message = refused("the rates", why);
        return Err(Box::new(message.help(
            "what reads no rate belongs in `potential`; a turning frame or moving support is a given motion: `given phi = w*time`, and der(phi) for w here",
        )));
    }
    let slopes = gradient(&mut system.pool, named.value, &moving);
    for (&source, slope) in moving.iter().zip(slopes) {
        let name = system.symbol_name(source).to_owned();
        let rest = system.at_rest(slope);
        if !is_zero(system, rest) {
            let message = refused(
                &format!("`{name}`"),
                "it has a part that is linear in rates",
            );
            return Err(Box::new(message.help(format!(
                "write that part, with its sign turned, as a potential: `potential U = -a*{name}`"
            ))));
        }
        let bends = gradient(&mut system.pool, slope, &moving);
        for bend in bends {
            let others = system.rates_in(bend);
            let third = gradient(&mut system.pool, bend, &others);
            if !third.iter().all(|&e| is_zero(system, e)) {
                return Err(not_quadratic(
                    &format!("`{name}`"),
                    "its third derivative is not zero",
                ));
            }
            let at_rest = system.at_rest(bend);
            let jump = system.pool.sub(bend, at_rest);
            if !is_zero(system, jump) {
                return Err(not_quadratic(
                    &format!("`{name}`"),
                    "motion in the opposite direction has another inertia",
                ));
            }
        }
    }
    Ok(())
}

fn indefinite(
    system: &System,
    energies: &[Named],
    (point, direction): (usize, &[f64]),
) -> Box<Diagnostic> {
    let mut read: Vec<usize> = Vec::new();
    for named in energies {
        read.extend(system.positions_in(named.value));
        for rate in &system.rates {
            read.extend(system.positions_in(rate.value));
        }
    }
    read.sort_unstable();
    read.dedup();
    let place = match read.as_slice() {
        [] => String::new(),
        _ => format!(" where {}", place_text(system, &read, point)),
    };
    let names: Vec<&str> = energies.iter().map(|e| &*e.name).collect();
    Box::new(
        Diagnostic::error(
            code::INDEFINITE,
            format!(
                "`{}` is negative for motion along `{}`{place}",
                names.join(" + "),
                direction_text(system, direction)
            ),
        )
        .primary(
            energies[0].span,
            "this motion would have less energy than rest",
        )
        .help("check the signs; what is subtracted from T belongs in `potential`"),
    )
}

/// A pivot that is negative where the whole matrix is not: beyond what numbers at a few points can tell.
fn doubtful(name: &str, span: Span) -> Box<Diagnostic> {
    Box::new(
        Diagnostic::error(
            code::INDEFINITE,
            format!("`{name}` is not clearly positive"),
        )
        .primary(span, "quadratic, but not taken apart")
        .help("give body rates names and square these: `rate across = der(phi)*sin(theta)`, `kinetic bob = 0.5*m*across^2`"),
    )
}
