//! The inertia that each lock of a mechanism feels: what a spring in its place would have to hold.
//!
//! In:  equations in which every lock is a spring of stiffness 1, at rest at the start.
//! Out: for each spring 1/(G M⁻¹ Gᵀ), the mass or moment of inertia that it moves, all others left free.
//!
//! One spring is stretched by 1 at a time. The momenta gain what its effort gives them in a second; by how much its own
//! rate has changed then is one over its inertia. Rates are linear in the momenta, so the step need not be small.
//!
//! **Invariant:** nothing here changes the equations.

use paynter_solve::System;
use paynter_symbolic::reduced::Reduced;
use paynter_symbolic::{ExprId, SymbolId};

use crate::lower::{Engine, lower};

/// Finds the inertia at each spring, given by its displacement and rate; infinite where nothing moves it. None if the
/// equations have no start at `t0`.
pub fn inertias_at(reduced: &Reduced, t0: f64, springs: &[(SymbolId, ExprId)]) -> Option<Vec<f64>> {
    let rates: Vec<ExprId> = springs.iter().map(|s| s.1).collect();
    let mut machine = lower(reduced, &rates, Engine::Interpreter).ok()?;
    let start = machine.initialise(t0).ok()?.y0;
    let n = start.len();
    let (mut at_rest, mut stretched) = (vec![0.0; n], vec![0.0; n]);
    machine.rhs(t0, &start, &mut at_rest).ok()?;
    let (mut before, mut after) = (vec![0.0; springs.len()], vec![0.0; springs.len()]);
    machine.observe(t0, &start, &mut before).ok()?;

    let mut found = Vec::with_capacity(springs.len());
    for (k, (stored, _)) in springs.iter().enumerate() {
        let place = machine.states().iter().position(|s| s == stored)?;
        let mut y = start.clone();
        y[place] += 1.0;
        machine.rhs(t0, &y, &mut stretched).ok()?;
        y.copy_from_slice(&start);
        let gained = stretched.iter().zip(&at_rest);
        y.iter_mut().zip(gained).for_each(|(y, (s, r))| *y += s - r);
        machine.observe(t0, &y, &mut after).ok()?;
        found.push(1.0 / (after[k] - before[k]).abs());
    }
    Some(found)
}
