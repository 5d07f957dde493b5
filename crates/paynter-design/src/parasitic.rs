//! Locks as stiff springs and dampers: the graph, and which stiffness.
//!
//! In:  a graph with locks, and what the experiment says about springs.
//! Out: a graph in which every lock gives way a little, and the count of the mechanism.
//!
//! Where no stiffness is given, each spring gets the one that swings the inertia at its lock within the time scale asked
//! for: k = m/τ². Every spring is then equally fast, whatever it holds, and the step of a solver is not set by one
//! of them. The motion errs by about (τ/T)², where T is a time in which the motion itself changes.
//!
//! **Invariant:** stiffness and damping are positive.

use crate::assembly::look_at_locks;
use crate::mobility::Mobility;
use paynter_exec::inertias_at;
use paynter_model::BondGraph;
use paynter_model::causality::{assign_causality, follow_strokes};
use paynter_model::equations::build_equations;
use paynter_model::experiment::Parasitic;
use paynter_model::relax::{Spring, relax_locks};
use paynter_symbolic::reduce::reduce;
use paynter_symbolic::{Role, SymbolId};
use paynter_syntax::Diagnostic;

/// Part of the critical damping where none is given: swings die within a few of their periods, and the loss in
/// slow motion stays small.
const DAMPING: f64 = 0.7;

/// A graph with springs and dampers.
pub(crate) struct Springs {
    pub graph: BondGraph,
    /// The count of the mechanism.
    pub mobility: Option<Mobility>,
    /// Parameters whose values decide how it is written.
    pub decided_by: Vec<SymbolId>,
}

/// A typical acceleration, m/s² and rad/s²: what a spring holds, it holds against something like its weight.
const LOAD: f64 = 10.0;

/// Gives positions and momenta the sizes that they have in the rigid mechanism: springs do not tell them.
fn give_sizes(graph: &mut BondGraph, sizes: &[(SymbolId, f64)]) {
    for &(symbol, size) in sizes {
        if let Some(symbol) = graph.signals.symbols.get_mut(symbol.0 as usize)
            && symbol.nominal == 0.0
        {
            symbol.nominal = size;
        }
    }
}

/// Puts springs and dampers in the place of locks.
///
/// # Errors
///
/// Locks that cannot all be met at the start; positions that are not those of their locks.
pub(crate) fn with_springs(
    graph: &BondGraph,
    start: f64,
    (asked, time): (Parasitic, f64),
) -> Result<Springs, Vec<Diagnostic>> {
    let rigid = build_equations(graph, &assign_causality(graph));
    let (mobility, rigid_sizes) = look_at_locks(&rigid, graph, start)?;
    let (mut relaxed, springs) = relax_locks(graph);
    let decided_by = follow_strokes(&mut relaxed);
    give_sizes(&mut relaxed, &rigid_sizes);
    let inertias = inertias(&relaxed, &springs, start);
    for (spring, m) in springs.iter().zip(inertias) {
        let (k, b) = asked.of_lock(spring.is_turning);
        let k = k.unwrap_or(m / time.powi(2));
        let b = b.unwrap_or(2.0 * DAMPING * (k * m).sqrt());
        relaxed.signals.symbols[spring.stored.0 as usize].nominal = LOAD * m / k;
        for (symbol, value) in [(spring.stiffness, k), (spring.damping, b)] {
            relaxed.signals.symbols[symbol.0 as usize].role = Role::Parameter {
                value,
                binding: None,
            };
        }
    }
    Ok(Springs {
        graph: relaxed,
        mobility,
        decided_by,
    })
}

/// The inertia at each spring.
fn inertias(graph: &BondGraph, springs: &[Spring], t0: f64) -> Vec<f64> {
    let ends: Vec<_> = springs.iter().map(|s| (s.stored, s.flow)).collect();
    // What has no solution or no start is an error of the run, which says why.
    let reduced = reduce(build_equations(graph, &assign_causality(graph)));
    let found = reduced.ok().and_then(|r| inertias_at(&r, t0, &ends));
    let found = found.unwrap_or_else(|| vec![1.0; springs.len()]);
    let is_usable = |m: f64| m.is_finite() && m > 0.0;
    // Nothing moves a lock between two places of the ground: the stiffest spring among the others will do.
    let largest = |is_turning: bool| {
        let alike = springs.iter().zip(&found);
        let alike = alike.filter(|(s, m)| s.is_turning == is_turning && is_usable(**m));
        let largest = alike.map(|a| *a.1).fold(0.0, f64::max);
        if largest > 0.0 { largest } else { 1.0 }
    };
    let of_spring = |(spring, &m): (&Spring, &f64)| match is_usable(m) {
        true => m,
        false => largest(spring.is_turning),
    };
    springs.iter().zip(&found).map(of_spring).collect()
}
