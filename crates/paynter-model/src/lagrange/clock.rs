//! Time in rates and potentials: one more coordinate, which goes as the clock does.
//!
//! In:  a system as it is written.
//! Out: the same system; where a rate, an energy or a constraint of places reads time, it reads a given motion `now` = time instead,
//!      and what a rate has without any der(…) is a part of der(now).
//!
//! The drive of `now` is a source of flow 1. Its effort is the power by which what moves in time feeds the system:
//! dE/dt = Σ Q_i q̇_i + e_now. Nothing comes from nowhere, and the audit stays right.
//!
//! **Invariant:** inputs are left alone: how they change is not known here.

use super::points::is_zero;
use super::system::{Coordinate, Role, System, TIME};
use crate::units::Dimension;
use paynter_symbolic::ExprId;
use paynter_syntax::Span;
use rustc_hash::FxHashMap;

/// Makes time a coordinate where something needs it.
pub(super) fn make_time_a_coordinate(system: &mut System) {
    let Some(span) = reader(system) else {
        return;
    };
    let now = add_clock(system, span);
    let clock = &system.coordinates[now];
    let (position, velocity) = (clock.position, clock.velocity);
    let position = system.pool.symbol(position);
    let velocity = system.pool.symbol(velocity);
    let map = FxHashMap::from_iter([(TIME, position)]);
    for k in 0..system.rates.len() {
        let value = system.rates[k].value;
        // What is left where all rates are zero moves by itself: with the clock.
        let free = system.at_rest(value);
        let mut value = value;
        if !is_zero(system, free) {
            let rest = system.pool.sub(value, free);
            let driven = system.pool.mul(free, velocity);
            value = system.pool.add(rest, driven);
        }
        system.rates[k].value = system.substitute(value, &map);
    }
    for k in 0..system.kinetic.len() {
        let value = system.kinetic[k].value;
        system.kinetic[k].value = system.substitute(value, &map);
    }
    for k in 0..system.potential.len() {
        let value = system.potential[k].value;
        system.potential[k].value = system.substitute(value, &map);
    }
    for k in 0..system.constraints.len() {
        if is_of_places(system, k) {
            let value = system.constraints[k].value;
            system.constraints[k].value = system.substitute(value, &map);
        }
    }
}

/// Tells whether a constraint is one of places: only these are differentiated. A rolling one may read time as it is.
fn is_of_places(system: &System, k: usize) -> bool {
    system.rates_in(system.constraints[k].value).is_empty()
}

/// Where time is read by something that would feed the system.
fn reader(system: &System) -> Option<Span> {
    let reads = |e: ExprId| !system.reads(e, |role| role == Role::Time).is_empty();
    let rates = system.rates.iter().map(|r| (r.value, r.span));
    let energies = system.kinetic.iter().chain(&system.potential);
    let energies = energies.map(|n| (n.value, n.span));
    let constraints = system.constraints.iter().enumerate();
    let constraints = constraints
        .filter(|(k, _)| is_of_places(system, *k))
        .map(|(_, c)| (c.value, c.span));
    let mut all = rates.chain(energies).chain(constraints);
    all.find(|&(e, _)| reads(e)).map(|(_, span)| span)
}

/// Adds the coordinate `now`.
fn add_clock(system: &mut System, span: Span) -> usize {
    let index = system.coordinates.len();
    let mut name = "now".to_owned();
    let is_taken = |system: &System, name: &str| {
        let junction = format!("{name}_rate");
        let symbols = system.symbols.iter().any(|s| s.0 == name);
        symbols || system.taken.contains(&junction) || system.values_named.contains(name)
    };
    while is_taken(system, &name) {
        name.push('_');
    }
    let position = system.add(&name, Role::Position(index));
    let velocity = system.add(&format!("der({name})"), Role::Velocity(index));
    // Without units in the text, `cos(time)` has none either.
    if system.is_strict {
        let passing = Dimension::TIME.per(Dimension::TIME);
        system.dimensions.insert(position, Dimension::TIME);
        system.dimensions.insert(velocity, passing);
    }
    let unit = if system.is_strict { "[s]" } else { "" };
    system.taken.insert(format!("{name}_rate"));
    let time = system.pool.symbol(TIME);
    system.coordinates.push(Coordinate {
        name,
        unit: unit.to_owned(),
        position,
        velocity,
        given: Some(time),
        span,
    });
    index
}
