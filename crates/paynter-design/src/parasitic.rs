//! Locks as stiff springs and dampers: the graph, and which stiffness.
//!
//! In:  a graph with locks, and what the experiment says about springs.
//! Out: a graph in which every lock gives way a little, and the count of the mechanism.
//!
//! Where no stiffness is given, each spring gets the one that swings the inertia at its lock within the time scale asked
//! for: k = m/τ². Every spring is then equally fast, whatever it holds, and the step of a solver is not set by one
//! of them. Where no time is asked for either, it is a small part of the time T in which the mechanism moves by its own size,
//! as its speeds and accelerations at the start tell, and of the run.
//!
//! Springs give way by about (τ/T)² of the mechanism's size, and the motion errs by as much of its way. Dampers take about (τ/T)³
//! of its energy in every T. Both are read off the run in the end (`paynter-analysis/src/springs.rs`): a drive may have
//! made it faster than it began.
//!
//! **Invariant:** stiffness and damping are positive.

use crate::assembly::look_at_locks;
use crate::mobility::Mobility;
use paynter_exec::{LockScale, inertias_at};
use paynter_model::BondGraph;
use paynter_model::causality::{assign_causality, follow_strokes};
use paynter_model::equations::build_equations;
use paynter_model::experiment::Parasitic;
use paynter_model::relax::{Spring, relax_locks};
use paynter_symbolic::reduce::reduce;
use paynter_symbolic::reduced::Reduced;
use paynter_symbolic::{ExprId, Role, SymbolId};
use paynter_syntax::Diagnostic;

/// Part of the critical damping where none is given: swings die within a few of their periods, and the loss in
/// slow motion stays small.
const DAMPING: f64 = 0.7;

/// Springs swing within this part of the time in which the mechanism moves by its own size: they give way by about a
/// millionth of it then.
const SHARE_OF_MOTION: f64 = 1e-3;

/// What a spring in the place of a lock is measured by.
#[derive(Clone, Debug, PartialEq)]
pub struct SpringScales {
    /// The time in which springs swing whose stiffness was not given, s.
    pub time: f64,
    /// How far joints are from the middles of their bodies, m; 0 where all are there.
    pub length: f64,
    /// Energy in the storages of the model, those of the springs left out, J.
    pub energy: ExprId,
}

/// A graph with springs and dampers.
pub(crate) struct Springs {
    pub graph: BondGraph,
    /// The time in which springs swing, s.
    pub time: f64,
    /// The size of the mechanism, m.
    pub length: f64,
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
    let (mobility, scales) = look_at_locks(&rigid, graph, start)?;
    let (mut relaxed, springs) = relax_locks(graph);
    let (length, pace) = length_and_pace(&springs, &scales.locks);
    let time = match asked.time {
        Some(time) => time,
        None if pace > 0.0 => time.min(SHARE_OF_MOTION / pace),
        None => time,
    };
    let decided_by = follow_strokes(&mut relaxed);
    give_sizes(&mut relaxed, &scales.states);
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
        time,
        length,
        mobility,
        decided_by,
    })
}

/// A joint this much nearer to the middle of its body than others, as a part of theirs, is in the middle.
const SHORT: f64 = 0.1;

/// How large a mechanism is, m, and how many of its own sizes, or radians, it moves per second: by its speeds at the start, or
/// from rest by the accelerations there.
fn length_and_pace(springs: &[Spring], locks: &[LockScale]) -> (f64, f64) {
    let all = || springs.iter().zip(locks);
    let sliding = all().filter(|(spring, _)| !spring.is_turning);
    let length = sliding.fold(0.0, |most: f64, (_, lock)| most.max(lock.term));
    let pace = |(spring, lock): (&Spring, &LockScale)| {
        // A short crank turns as fast as it turns, however long the other bars are.
        let size = match spring.is_turning {
            true => 1.0,
            false => lock.term.max(SHORT * length),
        };
        match size > 0.0 {
            true => (lock.speed / size).max((lock.acceleration / size).sqrt()),
            false => 0.0,
        }
    };
    (length, all().map(pace).fold(0.0, f64::max))
}

/// The energy in all storages but the springs of locks.
pub(crate) fn energy_without_springs(reduced: &mut Reduced, springs: &[String]) -> ExprId {
    let dae = &mut reduced.dae;
    let mut sum = dae.pool.number(0.0);
    for port in &dae.power {
        let Some(energy) = port.energy else { continue };
        let name = dae.names.display(port.name);
        if !springs.contains(&name) {
            sum = dae.pool.add(sum, energy);
        }
    }
    sum
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
