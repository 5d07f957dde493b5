//! Delayed differentiation: dependent storages answer with the change of their momentum (or displacement) over the step before.
//!
//! In:  the equations of a graph, its strokes, the step, and which dependent storages are meant (all of them if none is named).
//! Out: equations without the loops through these storages; [`Delayed`] with the gains that decide whether that is stable.
//!
//! A storage in derivative form differentiates: e = ṗ. Here e is held from step to step, eₙ = (pₙ − pₙ₋₁)/h, which is a sampled block at the
//! steps of the method (Tiernego & van Dixhoorn 1979). The impulses add up to what the momentum gained, one step late: the error is of first
//! order in the step. With loop gain G the error of a step comes back as −G times itself (Euler), so that G < 1 is needed, and
//! G < ½ with Adams–Bashforth of order 2.
//!
//! **Invariant:** momenta, their laws and energies stay what they are; only the rate is another one.

use crate::causality::Causality;
use crate::gains::{LoopGains, loop_gains};
use crate::graph::BondGraph;
use paynter_symbolic::dae::{Clock, Dae, Symbol};
use paynter_symbolic::{ExprId, Role, SymbolId};

/// Dependent storages that differentiate with a delay.
#[derive(Clone, Debug, PartialEq)]
pub struct Delayed {
    /// All loops of class 1.
    pub gains: LoopGains,
    /// Which of its dependent storages are meant.
    pub is_delayed: Vec<bool>,
    /// What [`LoopGains::radius`] needs, in the pool of the equations.
    pub numbers: Vec<ExprId>,
}

/// Why differentiation cannot be delayed.
#[derive(Clone, Debug, PartialEq)]
pub enum NotDelayed {
    /// The graph has no storage that depends on others.
    NothingDepends,
    /// This is not a momentum or displacement of a dependent storage.
    NotDependent(SymbolId),
    /// The loops through these storages have no gain: fields, independent junctions.
    NoGain(Vec<String>),
    /// Steps of this length have no exact rate.
    Step,
}

/// Delays differentiation in some equations.
///
/// # Errors
///
/// See [`NotDelayed`].
pub fn delay(
    dae: &mut Dae,
    graph: &BondGraph,
    causality: &Causality,
    (step, states): (f64, &[SymbolId]),
) -> Result<Delayed, NotDelayed> {
    let gains = loop_gains(graph, causality, dae);
    let unknown: Vec<String> = gains
        .unknown
        .iter()
        .map(|&e| graph.element_name(e))
        .collect();
    if !unknown.is_empty() {
        return Err(NotDelayed::NoGain(unknown));
    }
    if gains.dependent.is_empty() {
        return Err(NotDelayed::NothingDepends);
    }

    let is_dependent = |s: &&SymbolId| gains.dependent.iter().any(|d| d.state == **s);
    if let Some(&other) = states.iter().find(|s| !is_dependent(s)) {
        return Err(NotDelayed::NotDependent(other));
    }

    let is_meant = |s: SymbolId| states.is_empty() || states.contains(&s);
    let is_delayed: Vec<bool> = gains.dependent.iter().map(|d| is_meant(d.state)).collect();
    let rate = crate::elaborate::fraction(1.0 / step).ok_or(NotDelayed::Step)?;
    let meant = gains.dependent.iter().zip(&is_delayed);
    let meant: Vec<SymbolId> = meant.filter(|(_, is)| **is).map(|(d, _)| d.state).collect();
    hold_rates(dae, rate, &meant);
    let numbers = gains.numbers(&mut dae.pool);

    Ok(Delayed {
        gains,
        is_delayed,
        numbers,
    })
}

/// Makes the rates of states discrete: what they gained over the last tick.
fn hold_rates(dae: &mut Dae, rate: (u64, u64), states: &[SymbolId]) {
    let one = dae.pool.number(1.0);
    let per_second = dae.pool.number(rate.0 as f64 / rate.1 as f64);
    let first = states[0];

    // Nothing is known of the time before the first tick.
    let has_begun = held(dae, first, "has_begun");
    let began_before = before(dae, has_begun);
    let mut equations = vec![(has_begun, one)];
    for &state in states {
        let last = held(dae, state, "last");
        let last_before = before(dae, last);
        let now = dae.pool.symbol(state);
        equations.push((last, now));
        let gained = dae.pool.sub(now, last_before);
        let per_step = dae.pool.mul(gained, per_second);
        let value = dae.pool.mul(began_before, per_step);
        let name = dae.symbol(state).name;
        let name = dae.names.child(name, "rate", None);
        let rates = dae.symbols.iter_mut().enumerate();
        let mut rates = rates.filter(|(_, s)| s.role == Role::Derivative { of: state });
        let (k, rate) = rates.next().expect("a storage has a rate");
        (rate.role, rate.name) = (Role::Discrete { start: 0.0 }, name);
        equations.push((SymbolId(k as u32), value));
    }

    dae.preferred_states.retain(|s| !states.contains(s));
    dae.clocks.push(Clock {
        rate,
        equations,
        origin: dae.symbol(first).origin,
    });
}

/// A discrete symbol beside a state.
fn held(dae: &mut Dae, state: SymbolId, word: &str) -> SymbolId {
    let Symbol { name, origin, .. } = *dae.symbol(state);
    let name = dae.names.child(name, word, None);
    dae.add_symbol(Symbol {
        name,
        role: Role::Discrete { start: 0.0 },
        nominal: 0.0,
        origin,
    })
}

/// Its value before the tick.
fn before(dae: &mut Dae, of: SymbolId) -> ExprId {
    let Symbol { name, origin, .. } = *dae.symbol(of);
    let symbol = dae.add_symbol(Symbol {
        name,
        role: Role::Pre { of },
        nominal: 0.0,
        origin,
    });
    dae.pool.symbol(symbol)
}
