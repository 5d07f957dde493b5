//! Potentials, losses and constraints as elements at junctions.
//!
//! In:  a system and its forms.
//! Out: C, R and locks as text, each with the statement that made it.
//!
//! Potentials that share a coordinate become one C, whose displacement *is* the coordinate. Two would hold
//! two copies of it with two start values, and no audit would see them part.

use super::forms::{Forms, Term, affine_terms, depends_on_time};
use super::names::{junction_of, shown, velocity_junction};
use super::points::{is_negative, is_number, is_zero};
use super::squares::{Square, rate_for, squares};
use super::system::{Named, Role, System, TIME};
use crate::code;
use crate::units::Dimension;
use paynter_symbolic::calculus::gradient;
use paynter_symbolic::{ExprId, SymbolId};
use paynter_syntax::{Diagnostic, Span};
use rustc_hash::FxHashMap;

/// A one-port at a junction.
#[derive(Clone, Debug)]
pub(super) struct Load {
    pub junction: String,
    pub text: String,
    pub span: Span,
}

/// A line of the model.
#[derive(Clone, Debug)]
pub(super) struct Written {
    pub text: String,
    pub comment: String,
    pub span: Span,
}

/// Everything at the junctions but inertias.
#[derive(Clone, Debug, Default)]
pub(super) struct Elements {
    pub loads: Vec<Load>,
    /// Fields, with what leads to them.
    pub fields: Vec<Written>,
    /// Locks, with what leads to them.
    pub locks: Vec<Written>,
    /// Start values of storages that follow a given motion.
    pub starts: Vec<Written>,
    /// For each coordinate how a C reads it, if one does.
    pub stored: Vec<Option<String>>,
}

/// Makes all elements.
///
/// # Errors
///
/// Potentials, losses and constraints that have no element.
pub(super) fn elements(
    system: &mut System,
    forms: &mut Forms,
) -> Result<Elements, Vec<Diagnostic>> {
    let mut elements = Elements {
        stored: vec![None; system.coordinates.len()],
        ..Elements::default()
    };
    let mut errors = Vec::new();
    let mut note = |result: Result<(), Box<Diagnostic>>| errors.extend(result.err().map(|m| *m));
    for group in groups(system, &mut note) {
        note(spring(system, &group, &mut elements));
    }
    for loss in system.loss.clone() {
        note(damper(system, forms, &loss, &mut elements));
    }
    for constraint in system.constraints.clone() {
        if system.speeds.is_empty() {
            note(lock(system, &constraint, &mut elements));
        } else {
            kept(system, &constraint, &mut elements);
        }
    }
    if errors.is_empty() {
        Ok(elements)
    } else {
        Err(errors)
    }
}

/// Potentials that share coordinates.
struct Group {
    places: Vec<usize>,
    names: Vec<String>,
    sum: ExprId,
    span: Span,
}

/// Joins potentials that share a coordinate. Parts that are linear in rates are gyrators, and left out here.
fn groups(system: &mut System, note: &mut impl FnMut(Result<(), Box<Diagnostic>>)) -> Vec<Group> {
    let mut groups: Vec<Group> = Vec::new();
    for named in system.potential.clone() {
        let rest = system.at_rest(named.value);
        if system.reads_time(rest) {
            note(Err(depends_on_time(system, &named, rest)));
            continue;
        }
        let places = system.positions_in(rest);
        if places.is_empty() {
            if system.rates_in(named.value).is_empty() {
                note(Err(Box::new(
                    Diagnostic::error(
                        code::POTENTIAL_FORM,
                        format!("the potential `{}` depends on no coordinate", named.name),
                    )
                    .primary(named.span, "it is the same everywhere")
                    .help("remove it, or read a coordinate in it"),
                )));
            }
            continue;
        }
        let mut merged = Group {
            places,
            names: vec![named.name],
            sum: rest,
            span: named.span,
        };
        let mut others = Vec::new();
        for mut group in groups {
            if group.places.iter().any(|p| merged.places.contains(p)) {
                group.places.extend(merged.places);
                group.names.extend(merged.names);
                group.sum = system.pool.add(group.sum, merged.sum);
                merged = group;
            } else {
                others.push(group);
            }
        }
        merged.places.sort_unstable();
        merged.places.dedup();
        groups = others;
        groups.push(merged);
    }
    groups
}

/// One C with a port at each coordinate that a group of potentials reads.
fn spring(
    system: &mut System,
    group: &Group,
    elements: &mut Elements,
) -> Result<(), Box<Diagnostic>> {
    let span = group.span;
    let name = match group.names.as_slice() {
        [only] => only.clone(),
        // Fifty names in a row are no name.
        [first, .., last] if group.names.len() > 4 => system.fresh(&format!("{first}_to_{last}")),
        several => system.fresh(&several.join("_")),
    };
    let positions = group.places.iter().map(|&i| system.coordinates[i].position);
    let positions: Vec<SymbolId> = positions.collect();
    let slopes = gradient(&mut system.pool, group.sum, &positions);
    let slopes: Vec<(SymbolId, ExprId)> = positions.into_iter().zip(slopes).collect();
    let is_single = group.places.len() == 1;
    let letter_at = |k: usize| match is_single {
        true => "q".to_owned(),
        false => format!("q[{}]", k + 1),
    };

    // A field has one domain: coordinates of another unit come through a transformer of size one.
    let places = group.places.iter();
    let scales: Vec<Option<SymbolId>> = places.map(|&i| scale(system, group, i)).collect();
    let laws = spring_laws(system, &slopes, &scales, &letter_at, (&name, span))?;
    for (k, &i) in group.places.iter().enumerate() {
        store(
            system,
            elements,
            i,
            format!("{name}.{}", letter_at(k)),
            scales[k],
        );
    }
    if let &[place] = group.places.as_slice() {
        elements.loads.push(Load {
            junction: velocity_junction(system, place),
            text: format!("{name}: C {{ e = {} }}", laws[0]),
            span,
        });
        return Ok(());
    }

    let ports = group.places.iter().zip(&scales);
    let nodes: Vec<String> = ports
        .map(|(&i, &scale)| field_port(system, elements, i, scale, (&name, span)))
        .collect();
    let lines = laws.iter().enumerate();
    let lines: Vec<String> = lines
        .map(|(k, law)| format!("e[{}] = {law}", k + 1))
        .collect();
    let (tuple, n, lines) = (nodes.join(", "), nodes.len(), lines.join("; "));
    elements.fields.push(Written {
        text: format!("({tuple}) => {name}: C[{n}] {{ {lines} }}"),
        comment: String::new(),
        span,
    });
    Ok(())
}

/// The junction at which a field takes a coordinate: its own, or one after a transformer to the unit of the field.
fn field_port(
    system: &mut System,
    elements: &mut Elements,
    i: usize,
    scale: Option<SymbolId>,
    (name, span): (&str, Span),
) -> String {
    let junction = velocity_junction(system, i);
    let Some(scale) = scale else {
        return junction;
    };
    let coordinate = system.coordinates[i].name.clone();
    let scaled = system.fresh(&format!("{name}_{coordinate}"));
    let size = system.symbol_name(scale);
    elements.fields.push(Written {
        text: format!("{junction} -> TF({size}) -> {scaled}: 1"),
        comment: "all ports of a field are of one domain".to_owned(),
        span,
    });
    scaled
}

/// The effort of each port of a C in its own displacements, `q` or `q[k]`; `slopes` are those of its energy by positions.
fn spring_laws(
    system: &mut System,
    slopes: &[(SymbolId, ExprId)],
    scales: &[Option<SymbolId>],
    letter_at: &dyn Fn(usize) -> String,
    (name, span): (&str, Span),
) -> Result<Vec<String>, Box<Diagnostic>> {
    let mut own: FxHashMap<SymbolId, ExprId> = FxHashMap::default();
    let mut letters = Vec::new();
    for (k, &(position, _)) in slopes.iter().enumerate() {
        let letter = system.add(&letter_at(k), Role::Constant);
        letters.push(letter);
        let value = system.pool.symbol(letter);
        own.insert(position, over_scale(system, value, scales[k]));
    }

    let mut laws = Vec::new();
    for (k, &(_, slope)) in slopes.iter().enumerate() {
        let slope = system.simplify(slope);
        let law = system.substitute(slope, &own);
        let law = over_scale(system, law, scales[k]);
        refuse_letters(system, law, &letters, ("e", "q"), (name, span))?;
        laws.push(shown(system, law));
    }
    Ok(laws)
}

/// A value divided by the size of the transformer at its port, if there is one.
fn over_scale(system: &mut System, value: ExprId, scale: Option<SymbolId>) -> ExprId {
    match scale {
        Some(scale) => {
            let scale = system.pool.symbol(scale);
            system.pool.div(value, scale)
        }
        None => value,
    }
}

/// Notes that a C holds a coordinate; that of a given motion starts where the motion does.
fn store(
    system: &mut System,
    elements: &mut Elements,
    i: usize,
    port: String,
    scale: Option<SymbolId>,
) {
    let coordinate = system.coordinates[i].clone();
    let Some(given) = coordinate.given else {
        elements.stored[i] = Some(match scale {
            Some(scale) => format!("{port}/{}", system.symbol_name(scale)),
            None => port,
        });
        return;
    };
    let zero = system.pool.number(0.0);
    let start = system.substitute(given, &FxHashMap::from_iter([(TIME, zero)]));
    let mut start = system.simplify(start);
    if let Some(scale) = scale {
        let scale = system.pool.symbol(scale);
        start = system.pool.mul(start, scale);
    }
    let text = format!("start {port} = {}", shown(system, start));
    elements.starts.push(Written {
        text,
        comment: format!("where {} begins", coordinate.name),
        span: coordinate.span,
    });
}

/// What one unit of a coordinate is in the unit of the first of its group, where they differ.
fn scale(system: &mut System, group: &Group, i: usize) -> Option<SymbolId> {
    let dimension = |i: usize| {
        system
            .dimensions
            .get(&system.coordinates[i].position)
            .copied()
    };
    let (first, own) = (dimension(group.places[0])?, dimension(i)?);
    let ratio: Dimension = first.per(own);
    if ratio.is_one() {
        return None;
    }
    let text = format!("1 [{}]", ratio.unit().text);
    let known = system.symbols.iter().position(|s| s.0 == text);
    let symbol = match known {
        Some(at) => SymbolId(at as u32),
        None => system.add(&text, Role::Constant),
    };
    system.dimensions.insert(symbol, ratio);
    system.values.insert(symbol, 1.0);
    Some(symbol)
}

/// In a law its letters mean the element's own variables: another thing of that name cannot be read there.
fn refuse_letters(
    system: &System,
    law: ExprId,
    own: &[SymbolId],
    letters: (&str, &str),
    (name, span): (&str, Span),
) -> Result<(), Box<Diagnostic>> {
    let is_letter = |s: &SymbolId| {
        let text = system.symbol_name(*s);
        !own.contains(s) && (text == letters.0 || text == letters.1)
    };
    let read = system.reads(law, |_| true);
    let Some(&wrong) = read.iter().find(|s| is_letter(s)) else {
        return Ok(());
    };
    let wrong = system.symbol_name(wrong);
    Err(Box::new(
        Diagnostic::error(
            code::LETTER_TAKEN,
            format!("`{wrong}` cannot be read in the law of `{name}`"),
        )
        .primary(
            span,
            format!("in the law of an element `{wrong}` is its own variable"),
        )
        .help(format!("give `{wrong}` another name")),
    ))
}

/// ½ R (rate)² is a resistor at the junction of the rate; so is any other function of one rate.
fn damper(
    system: &mut System,
    forms: &mut Forms,
    loss: &Named,
    elements: &mut Elements,
) -> Result<(), Box<Diagnostic>> {
    let wrong = |why: &str| not_a_loss(loss, why);
    let moving = system.rates_in(loss.value);
    if moving.is_empty() {
        return Err(wrong("it reads no rate"));
    }
    let shorter = system.simplify(loss.value);
    let found = squares(system, loss.value).or_else(|| squares(system, shorter));
    if let Some(found) = found {
        let is_only = found.len() == 1;
        for (number, square) in found.into_iter().enumerate() {
            let name = match is_only {
                true => None,
                false => Some(format!("{}_{}", loss.name, number + 1)),
            };
            let load = linear_damper(system, forms, loss, (name, square))?;
            elements.loads.push(load);
        }
        return Ok(());
    }

    let [rate] = moving.as_slice() else {
        return Err(wrong("it is not a sum of squares, and reads several rates"));
    };
    let letter = system.add("f", Role::Constant);
    let own = system.pool.symbol(letter);
    let slope = gradient(&mut system.pool, loss.value, &[*rate])[0];
    let law = system.simplify(slope);
    let law = system.substitute(law, &FxHashMap::from_iter([(*rate, own)]));
    refuse_letters(system, law, &[letter], ("e", "f"), (&loss.name, loss.span))?;
    elements.loads.push(Load {
        junction: junction_of(system, *rate),
        text: format!("{}: R {{ e = {} }}", loss.name, shown(system, law)),
        span: loss.span,
    });
    Ok(())
}

fn not_a_loss(loss: &Named, why: &str) -> Box<Diagnostic> {
    let message = format!("`{}` is not a loss of single rates", loss.name);
    Box::new(
        Diagnostic::error(code::LOSS_FORM, message)
            .primary(loss.span, why.to_owned())
            .help("write `loss rail = 0.5*b*cart^2`, or any function of one rate with a name; the power lost is rate times slope"),
    )
}

/// The resistor of one square in a loss; `name` is its name where the loss has several.
fn linear_damper(
    system: &mut System,
    forms: &mut Forms,
    loss: &Named,
    (name, square): (Option<String>, Square),
) -> Result<Load, Box<Diagnostic>> {
    if is_negative(system, square.factor) {
        return Err(not_a_loss(loss, "a loss that is negative would drive"));
    }
    let Some((terms, free)) = affine_terms(system, square.linear) else {
        return Err(not_a_loss(loss, "what is squared is not linear in rates"));
    };
    if !is_zero(system, free) {
        let why = "what is squared has a part without any rate: declare that motion as `given`";
        return Err(not_a_loss(loss, why));
    }
    let name = match name {
        Some(name) => system.fresh(&name),
        None => loss.name.clone(),
    };
    let rate = rate_for(system, forms, square.linear, terms, (&name, loss.span));
    let two = system.pool.number(2.0);
    let size = system.pool.mul(two, square.factor);
    let size = system.simplify(size);
    Ok(Load {
        junction: junction_of(system, rate),
        text: format!("{name}: R({})", shown(system, size)),
        span: loss.span,
    })
}

/// A constraint of rates: Σ a f + free = 0.
pub(super) struct Held {
    pub terms: Vec<Term>,
    pub free: ExprId,
    /// Written in rates, not in places.
    pub is_rolling: bool,
}

/// Reads a constraint as one of rates: as written, or differentiated.
///
/// # Errors
///
/// Constraints that are not linear in rates, hold nothing, or change by themselves.
pub(super) fn held(system: &mut System, constraint: &Named) -> Result<Held, Box<Diagnostic>> {
    let (name, span) = (&constraint.name, constraint.span);
    let is_rolling = !system.rates_in(constraint.value).is_empty();
    let (terms, free) = if is_rolling {
        affine_terms(system, constraint.value).ok_or_else(|| {
            Box::new(
                Diagnostic::error(
                    code::CONSTRAINT_FORM,
                    format!("the constraint `{name}` is not linear in the rates"),
                )
                .primary(span, "a product or function of rates")
                .help("a force that keeps it would not be determined: write `a*der(x) + b*der(y) == c`"),
            )
        })?
    } else {
        if system.reads_time(constraint.value) {
            return Err(depends_on_time(system, constraint, constraint.value));
        }
        (slopes_of(system, constraint.value), system.pool.number(0.0))
    };
    if terms.is_empty() {
        return Err(Box::new(
            Diagnostic::error(
                code::CONSTRAINT_FORM,
                format!("the constraint `{name}` holds no coordinate"),
            )
            .primary(span, "nothing that moves is read here"),
        ));
    }
    Ok(Held {
        terms,
        free,
        is_rolling,
    })
}

/// ∂g/∂q_i for each velocity q̇_i, where it is not zero.
fn slopes_of(system: &mut System, g: ExprId) -> Vec<Term> {
    let places = system.positions_in(g);
    let symbols: Vec<SymbolId> = places
        .iter()
        .map(|&i| system.coordinates[i].position)
        .collect();
    let slopes = gradient(&mut system.pool, g, &symbols);
    let mut terms = Vec::new();
    for (&i, slope) in places.iter().zip(slopes) {
        let coefficient = system.simplify(slope);
        if !is_zero(system, coefficient) {
            terms.push(Term {
                source: system.coordinates[i].velocity,
                coefficient,
            });
        }
    }
    terms
}

/// A constraint is a source of no flow at a 0-junction that sums Σ a_i q̇_i; its effort is the reaction.
fn lock(
    system: &mut System,
    constraint: &Named,
    elements: &mut Elements,
) -> Result<(), Box<Diagnostic>> {
    let (name, span) = (&constraint.name, constraint.span);
    let held = held(system, constraint)?;
    let gap = system.fresh(&format!("{name}_gap"));
    let mut line = |text: String, comment: &str| {
        elements.locks.push(Written {
            text,
            comment: comment.to_owned(),
            span,
        });
    };
    if held.is_rolling {
        // Flows into the junction sum to zero: free + Σ a f = 0.
        line(
            format!("{name}: Sf({}) -> {gap}: 0", shown(system, held.free)),
            "rolling: its effort is the reaction",
        );
    } else {
        let position = shown(system, constraint.value);
        line(
            format!("{name}: Sf(0, position = {position}) -> {gap}: 0"),
            "its effort is the reaction",
        );
    }
    for term in held.terms {
        let (junction, ratio) = (junction_of(system, term.source), term.coefficient);
        let text = if is_number(system, ratio, 1.0) {
            format!("{junction} -> {gap}")
        } else if is_number(system, ratio, -1.0) {
            format!("{gap} -> {junction}")
        } else {
            format!("{junction} -> TF({}) -> {gap}", shown(system, ratio))
        };
        line(text, "");
    }
    Ok(())
}

/// Speeds keep a constraint by themselves; what is left of one of places is that the motion begins on it.
fn kept(system: &mut System, constraint: &Named, elements: &mut Elements) {
    if system.rates_in(constraint.value).is_empty() {
        elements.locks.push(Written {
            text: format!("invariant {} == 0", shown(system, constraint.value)),
            comment: constraint.name.clone(),
            span: constraint.span,
        });
    }
}
