//! Reduces equations with locks: finds the redundant ones by numbers first, and leaves them out.
//!
//! In:  the equations of a model, which may hold a mechanism more often than needed.
//! Out: reduced equations, and what to say about the locks.
//!
//! **Invariant:** the positions of all locks, redundant ones too, stay among the constraints that the
//! start must meet and that projection keeps.

use crate::code;
use crate::failure::{explain_start, no_direction};
use crate::mobility::Mobility;
use paynter_exec::{
    Assembly, MechanismScales, Mismatch, Redundant, StartError, assemble, scales_of_mechanism,
};
use paynter_model::BondGraph;
use paynter_symbolic::reduce::{Enforcement, Options, StructuralError, reduce_with};
use paynter_symbolic::reduced::Reduced;
use paynter_symbolic::{Dae, PathId, SymbolId};
use paynter_syntax::{Diagnostic, Span};

/// Why equations with locks could not be reduced.
pub(crate) enum LockError {
    /// By their structure.
    Structure(StructuralError),
    /// By what was found when putting the mechanism together, already explained.
    Explained(Vec<Diagnostic>),
}

/// Equations with locks, reduced.
pub(crate) struct Locked {
    pub reduced: Reduced,
    /// Warnings about locks.
    pub messages: Vec<Diagnostic>,
    /// Reactions of the redundant locks that were left out.
    pub released: Vec<SymbolId>,
    /// What the mechanism is made of, where it could be put together.
    pub mobility: Option<Mobility>,
}

/// Reduces; for a mechanism with redundant locks leaves these out and says so.
///
/// # Errors
///
/// As for [`reduce`]; locks that cannot all be met, where nothing else explains the failure.
pub(crate) fn reduce_locked(
    dae: Dae,
    graph: &BondGraph,
    t0: f64,
    enforcement: Enforcement,
) -> Result<Locked, LockError> {
    let plain = |dae: Dae| reduce_all_kept(dae, enforcement);
    if dae.constraints.is_empty() {
        return plain(dae);
    }
    let all = Options {
        released: (0..dae.constraints.len()).collect(),
        ..Options::default()
    };
    let Ok(released) = reduce_with(dae.clone(), &all) else {
        return plain(dae);
    };
    // So many variables has the mechanism with all its joints open.
    let n_free = released.states.len();
    match assemble(&released, t0, &by_name(&dae)) {
        Ok(Some(assembly)) => {
            // Two sets of reduced equations at a time are more than a long chain should hold.
            drop(released);
            reduce_assembled(dae, graph, &assembly, (enforcement, n_free))
        }
        // A model that is only looked at needs no start; a run finds out by itself.
        Err(error @ StartError::Constraints { .. }) => {
            plain(dae).map_err(|_| LockError::Explained(explain_start(&error, &released, graph)))
        }
        _ => plain(dae),
    }
}

/// Reduces with every lock kept.
fn reduce_all_kept(dae: Dae, enforcement: Enforcement) -> Result<Locked, LockError> {
    let options = Options {
        enforcement,
        ..Options::default()
    };
    let reduced = reduce_with(dae, &options).map_err(LockError::Structure)?;
    Ok(Locked {
        reduced,
        messages: Vec::new(),
        released: Vec::new(),
        mobility: None,
    })
}

/// Reduces a mechanism that could be put together, without the locks that are redundant there; `n_free` is how many states
/// it has with all its joints open.
fn reduce_assembled(
    dae: Dae,
    graph: &BondGraph,
    assembly: &Assembly,
    (enforcement, n_free): (Enforcement, usize),
) -> Result<Locked, LockError> {
    let mut messages = explain_locks(assembly, &dae, graph);
    if messages.iter().any(Diagnostic::is_error) {
        return Err(LockError::Explained(messages));
    }
    let mobility = Mobility::new(graph, &dae, assembly);
    messages.extend(mobility.messages(graph, &dae));

    let options = Options {
        released: assembly.redundant.iter().map(|r| r.lock).collect(),
        enforcement,
        is_tree: mobility.is_tree(),
        ..Options::default()
    };
    let locks = options.released.iter();
    let released = locks.map(|&i| dae.constraints[i].reaction).collect();
    let first = assembly.redundant.first().map(|r| r.lock);
    let span = first.map(|lock| lock_span(lock, &dae, graph));
    let reduced = reduce_with(dae, &options).map_err(LockError::Structure)?;
    if let Some(span) = span.filter(|_| enforcement == Enforcement::Implicit)
        && reduced.states.len() > MOST_VARIABLES * n_free
    {
        return Err(LockError::Explained(vec![no_dependent_storages(span)]));
    }
    Ok(Locked {
        reduced,
        messages,
        released,
        mobility: Some(mobility),
    })
}

/// Where no choice of dependent storages is good everywhere, all that could be chosen is integrated and projected: flows of
/// junctions beside the storages. A few more are harmless, as for a plate on cranks. In space they are five times as many as the
/// variables of the mechanism with all its joints open, and runs of redundant locks ended or crawled there.
const MOST_VARIABLES: usize = 2;

/// Says that `implicit` means nothing here: no storage depends on others wherever the mechanism is.
fn no_dependent_storages(span: Span) -> Diagnostic {
    Diagnostic::error(
        code::NOT_DEPENDENT,
        "no inertia of this mechanism depends on the others in all its positions",
    )
    .primary(span, "it is held more often than needed, here for instance")
    .help("write `constraints = multiplier`, `minimal` or `parasitic`")
}

/// A mechanism as counted, if it is one, and its scales.
type Looked = (Option<Mobility>, MechanismScales);

/// Counts a mechanism, tells how large and how fast it is, and finds what keeps it from being put together.
///
/// # Errors
///
/// Locks that cannot all be met; positions that are not those of their locks.
pub(crate) fn look_at_locks(
    dae: &Dae,
    graph: &BondGraph,
    t0: f64,
) -> Result<Looked, Vec<Diagnostic>> {
    let all = Options {
        released: (0..dae.constraints.len()).collect(),
        ..Options::default()
    };
    let Ok(released) = reduce_with(dae.clone(), &all) else {
        return Ok((None, MechanismScales::default()));
    };
    let scales = scales_of_mechanism(&released, t0).unwrap_or_default();
    match assemble(&released, t0, &by_name(dae)) {
        Ok(Some(assembly)) => {
            let mut messages = explain_locks(&assembly, dae, graph);
            messages.retain(Diagnostic::is_error);
            match messages.is_empty() {
                true => Ok((Some(Mobility::new(graph, dae, &assembly)), scales)),
                false => Err(messages),
            }
        }
        Err(error @ StartError::Constraints { .. }) => Err(explain_start(&error, &released, graph)),
        _ => Ok((None, scales)),
    }
}

/// Locks in the order of their names, so that the order of the text does not decide which is redundant.
fn by_name(dae: &Dae) -> Vec<usize> {
    let mut order: Vec<usize> = (0..dae.constraints.len()).collect();
    order.sort_by_cached_key(|&i| {
        let name = dae.names.display(dae.constraints[i].name);
        // Numbers in names count as numbers: pad them.
        let mut key = String::new();
        let mut digits = String::new();
        for c in name.chars().chain([' ']) {
            if c.is_ascii_digit() {
                digits.push(c);
            } else {
                key.push_str(&format!("{digits:0>20}"));
                digits.clear();
                key.push(c);
            }
        }
        key
    });
    order
}

/// A position that changes so many times as fast as its flow is in another unit; beyond, it is another quantity.
const SCALES: std::ops::Range<f64> = 1e-6..1e6;

/// Names in one sentence.
const MOST_NAMES: usize = 6;

fn names(dae: &Dae, locks: &[usize]) -> String {
    let name = |&i: &usize| format!("`{}`", lock_name(dae, dae.constraints[i].name));
    let mut list: Vec<String> = locks.iter().take(MOST_NAMES).map(name).collect();
    if locks.len() > MOST_NAMES {
        list.push(format!("{} more", locks.len() - MOST_NAMES));
    }
    match list.split_last() {
        Some((last, rest)) if !rest.is_empty() => format!("{} and {last}", rest.join(", ")),
        _ => list.concat(),
    }
}

fn lock_name(dae: &Dae, name: PathId) -> String {
    match dae.names.display(name) {
        name if name.is_empty() => "the lock without a name".to_owned(),
        name => name,
    }
}

fn explain_locks(assembly: &Assembly, dae: &Dae, graph: &BondGraph) -> Vec<Diagnostic> {
    if let Some(found) = no_direction(&assembly.without_direction, dae, graph) {
        return vec![found];
    }
    let mut found = wrong_positions(assembly, dae, graph);
    if !found.is_empty() {
        // What else was found rests on positions that are wrong. One joint is reported once.
        found.dedup_by_key(|d| d.primary.as_ref().map(|p| p.span));
        return found;
    }
    found.extend(scaled_positions(assembly, dae, graph));
    found.extend(redundant_locks(assembly, dae, graph));
    found.extend(dead_centre(assembly, dae, graph));
    found
}

/// The line that makes the joint, rather than a line of the library.
fn lock_span(lock: usize, dae: &Dae, graph: &BondGraph) -> Span {
    let lock = &dae.constraints[lock];
    let in_part = graph.part_span(lock.name);
    in_part.unwrap_or_else(|| graph.span(lock.origin))
}

/// By how much a position is scaled, where that is a usual slip (radius and diameter, degrees and radians).
fn slip_of_scale(m: &Mismatch) -> Option<f64> {
    m.factor.map(f64::abs).filter(|f| SCALES.contains(f))
}

fn wrong_positions(assembly: &Assembly, dae: &Dae, graph: &BondGraph) -> Vec<Diagnostic> {
    let wrong = assembly
        .mismatched
        .iter()
        .filter(|m| slip_of_scale(m).is_none());
    let message = |m: &Mismatch| {
        let name = names(dae, &[m.lock]);
        let rates = format!(
            "at an assembled place the position changes by {:.6} per second and the flow is {:.6} (SI units)",
            m.rate, m.flow
        );
        Diagnostic::error(
            code::LOCK_POSITION,
            format!("the position of {name} is not the integral of its flow"),
        )
        .primary(lock_span(m.lock, dae, graph), rates)
        .help("correct the position, or the ratios of the transformers that make the flow")
    };
    wrong.map(message).collect()
}

fn scaled_positions(assembly: &Assembly, dae: &Dae, graph: &BondGraph) -> Vec<Diagnostic> {
    let message = |m: &Mismatch| {
        let factor = slip_of_scale(m)?;
        // Six digits: more are rounding of the place looked at.
        let text = format!("{factor:.6}");
        let factor = text.trim_end_matches('0').trim_end_matches('.');
        let name = names(dae, &[m.lock]);
        Some(
            Diagnostic::warning(
                code::LOCK_SCALE,
                format!("the position of {name} changes at {factor} times its flow"),
            )
            .primary(
                lock_span(m.lock, dae, graph),
                "position and flow agree except for a factor",
            )
            .help(format!("divide the position by {factor}")),
        )
    };
    assembly.mismatched.iter().filter_map(message).collect()
}

fn redundant_locks(assembly: &Assembly, dae: &Dae, graph: &BondGraph) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    let (idle, implied): (Vec<_>, Vec<_>) =
        (assembly.redundant.iter()).partition(|r| r.implied_by.is_empty());
    let idle: Vec<usize> = idle.into_iter().map(|r| r.lock).collect();
    if let [first, rest @ ..] = idle.as_slice() {
        let verb = if rest.is_empty() { "holds" } else { "hold" };
        found.push(
            Diagnostic::warning(
                code::REDUNDANT_LOCK,
                format!("{} {verb} something that cannot move", names(dae, &idle)),
            )
            .primary(
                lock_span(*first, dae, graph),
                "redundant: left out, and the reaction is given as zero",
            )
            .help("remove it, or join it to something that moves"),
        );
    }
    found.extend(
        implied
            .into_iter()
            .map(|r| implied_lock(r, assembly, dae, graph)),
    );
    found
}

/// A lock that others imply, with those others.
fn implied_lock(r: &Redundant, assembly: &Assembly, dae: &Dae, graph: &BondGraph) -> Diagnostic {
    let name = names(dae, &[r.lock]);
    let text = match r.implied_by.as_slice() {
        [one] => {
            let one = names(dae, &[*one]);
            format!("{one} already holds what {name} holds")
        }
        many => format!("{} together hold what {name} holds", names(dae, many)),
    };
    let span = |lock| lock_span(lock, dae, graph);
    let mut d = Diagnostic::warning(code::REDUNDANT_LOCK, text).primary(
        span(r.lock),
        format!("{name} is redundant: it is left out, and its reaction is given as zero"),
    );
    let mut told = vec![span(r.lock)];
    for &other in &r.implied_by {
        if !told.contains(&span(other)) && told.len() < MOST_NAMES {
            told.push(span(other));
            d = d.secondary(span(other), "part of it");
        }
    }
    let n = dae.constraints.len();
    d.fact(format!("{} of {n} locks are independent", assembly.rank))
        .help("how these locks share the load is not determined by rigid bodies: remove one, or make a part elastic")
}

fn dead_centre(assembly: &Assembly, dae: &Dae, graph: &BondGraph) -> Option<Diagnostic> {
    let singular: Vec<usize> = assembly.singular.iter().map(|r| r.lock).collect();
    let &first = singular.first()?;
    let verb = if singular.len() == 1 { "holds" } else { "hold" };
    let name = names(dae, &singular);
    Some(
        Diagnostic::warning(
            code::SINGULAR_PLACE,
            format!("the mechanism starts at a dead centre: here {name} {verb} nothing new"),
        )
        .primary(
            lock_span(first, dae, graph),
            "implied by the others at the start, and only there",
        )
        .help("start a little away from it"),
    )
}
