//! Why a model has no machine, or no start.
//!
//! In:  errors of lowering and of the search for a consistent start.
//! Out: diagnostics at the start values, locks and definitions that disagree.

use super::machine::explain_machine;
use super::{MOST_NAMES, list_names};
use crate::code;
use crate::digits::significant;
use paynter_exec::{LowerError, Misfit, StartError, single_out, without_direction};
use paynter_model::BondGraph;
use paynter_symbolic::dae::{Dae, PositionConstraint};
use paynter_symbolic::reduced::Reduced;
use paynter_symbolic::walk::symbols_of;
use paynter_symbolic::{Names, PathId, Role, SymbolId};
use paynter_syntax::{Diagnostic, Span};

/// Explains why equations cannot be turned into a machine.
pub fn explain_lowering(error: &LowerError, reduced: &Reduced, graph: &BondGraph) -> Diagnostic {
    let dae = &reduced.dae;
    match error {
        LowerError::Undefined { symbol } => Diagnostic::error(
            code::NOT_RUNNABLE,
            format!("nothing defines `{}`", dae.name_of(*symbol)),
        )
        .primary(
            graph.span(dae.symbol(*symbol).origin),
            "it is read, but has no equation",
        ),
        LowerError::SampleLoop { symbols } => {
            let names = list_names(symbols, dae);
            let d = Diagnostic::error(
                code::NOT_RUNNABLE,
                format!("sampled signals need each other's new values: {names}"),
            )
            .help("use `pre(…)` for one of them: its value at the last tick");
            match symbols.first() {
                Some(&s) => d.primary(graph.span(dae.symbol(s).origin), "in this block"),
                None => d,
            }
        }
        LowerError::NoMachineCode { reason } => Diagnostic::error(
            code::NOT_RUNNABLE,
            format!("no machine code can be made here: {reason}"),
        )
        .help("use --engine interpreter"),
    }
}

/// Says that locks have no direction where they hold.
pub(crate) fn no_direction(locks: &[usize], dae: &Dae, graph: &BondGraph) -> Option<Diagnostic> {
    let span = |lock: &PositionConstraint| {
        let in_part = graph.part_span(lock.name);
        in_part.unwrap_or_else(|| graph.span(lock.origin))
    };
    let (&first, others) = locks.split_first()?;
    let first = &dae.constraints[first];
    let mut d = Diagnostic::error(
        code::NO_DIRECTION,
        format!(
            "`{}` has no direction at the position that it holds",
            dae.names.display(first.name)
        ),
    )
    .primary(span(first), "its reaction could point anywhere");
    for &other in others.iter().take(MOST_NAMES) {
        d = d.secondary(span(&dae.constraints[other]), "neither has this one");
    }
    Some(d.help(
        "two points at a distance of 0 are held by `Pin` in a plane and `Spherical` in space; otherwise give it a length",
    ))
}

/// As [`no_direction`], where the search for a start ended; of the locks that stayed open.
fn open_without_direction(
    rows: &[(usize, f64)],
    (t, place): (f64, &[f64]),
    reduced: &Reduced,
    graph: &BondGraph,
) -> Option<Diagnostic> {
    let dae = &reduced.dae;
    let first_lock = reduced.constraints.len() - dae.constraints.len();
    let mut locks = without_direction(reduced, t, place);
    locks.retain(|lock| rows.iter().any(|row| row.0 == first_lock + lock));
    no_direction(&locks, dae, graph)
}

/// Says which joint stays open while all others are closed, in which directions and by how much; none where no joint can be
/// blamed alone.
fn open_joint(
    rows: &[(usize, f64)],
    (t, places): (f64, &[Vec<f64>; 2]),
    reduced: &Reduced,
    graph: &BondGraph,
) -> Option<Diagnostic> {
    let dae = &reduced.dae;
    let mut joints: Vec<(PathId, Vec<usize>)> = Vec::new();
    for (number, lock) in dae.constraints.iter().enumerate() {
        let joint = dae.names.parent(lock.name);
        let joint = joint.filter(|&p| p != Names::ROOT).unwrap_or(lock.name);
        match joints.iter_mut().find(|j| j.0 == joint) {
            Some((_, locks)) => locks.push(number),
            None => joints.push((joint, vec![number])),
        }
    }

    let locks: Vec<Vec<usize>> = joints.iter().map(|j| j.1.clone()).collect();
    let found = single_out(reduced, (t, places), rows, &locks);
    // Of joints that are as good an explanation, the one written last is that which closes the loop.
    let (first, others) = found.split_last()?;
    let told = |misfit: &Misfit| {
        let name = dae.names.display(joints[misfit.joint].0);
        let gap = |&(lock, x): &(usize, f64)| {
            let lock = &dae.constraints[lock];
            let gap = displacement(graph, lock.reaction, (x, 3));
            match dae.names.display(lock.name) {
                own if own == name => gap,
                own => format!("{gap} (`{}`)", own.rsplit('.').next().unwrap_or(&own)),
            }
        };
        let gaps: Vec<String> = misfit.gaps.iter().map(gap).collect();
        format!("`{name}` stays open by {}", gaps.join(" and "))
    };

    let span = |misfit: &Misfit| {
        let lock = &dae.constraints[locks[misfit.joint][0]];
        let in_part = graph.part_span(lock.name);
        in_part.unwrap_or_else(|| graph.span(lock.origin))
    };
    let headline = format!(
        "the mechanism cannot be assembled: with all other joints closed, {}",
        told(first)
    );
    let mut d = Diagnostic::error(code::START_CONSTRAINT, headline)
        .primary(span(first), "as narrow as the others allow");
    for other in others.iter().take(MOST_NAMES) {
        d = d.secondary(span(other), format!("or {} instead", told(other)));
    }
    Some(d.help("check lengths and axes, or give a better `guess`"))
}

/// Says which joints and invariants stay open, in which direction and by how much; the widest gap first.
fn cannot_assemble(rows: &[(usize, f64)], reduced: &Reduced, graph: &BondGraph) -> Diagnostic {
    let dae = &reduced.dae;
    // Positions of locks are the last of the constraints; invariants come after them.
    let n = reduced.constraints.len();
    let first_lock = n - dae.constraints.len();
    let mut rows = rows.to_vec();

    // Locks before invariants, the widest gap first.
    let is_invariant = |row: usize| row >= n;
    rows.sort_by(|a, b| {
        let by_kind = is_invariant(a.0).cmp(&is_invariant(b.0));
        by_kind.then(b.1.abs().total_cmp(&a.1.abs()))
    });
    let mut open: Vec<(String, Span)> = Vec::new();
    let mut joints: Vec<PathId> = Vec::new();
    for (row, missing) in rows {
        if (first_lock..n).contains(&row) {
            let lock = &dae.constraints[row - first_lock];
            // Each joint once, with the direction in which it is open most.
            let joint = dae.names.parent(lock.name).filter(|&p| p != Names::ROOT);
            if joint.is_some_and(|joint| joints.contains(&joint)) {
                continue;
            }
            joints.extend(joint);
            open.push(open_lock(lock, missing, dae, graph));
        } else if let Some(invariant) = row.checked_sub(n).and_then(|i| dae.invariants.get(i)) {
            // An open joint pulls at these too; it is the one to look at.
            if !joints.is_empty() {
                continue;
            }
            let text = format!("an invariant is off by {missing:.6}");
            open.push((text, graph.span(invariant.origin)));
        } else if let Some(&constraint) = reduced.constraints.get(row) {
            let tied = symbols_of(&dae.pool, constraint);
            let tied: Vec<SymbolId> = tied
                .into_iter()
                .filter(|&s| !matches!(dae.symbol(s).role, Role::Parameter { .. } | Role::Time))
                .collect();
            if let Some(&first) = tied.first() {
                let names = list_names(&tied, dae);
                let text = format!("what ties {names} is off by {missing:.6} (SI units)");
                open.push((text, graph.span(dae.symbol(first).origin)));
            }
        }
    }

    let what = match open.first() {
        Some((text, _)) if open.len() == 1 => {
            format!("the constraints cannot be assembled: {text}")
        }
        Some((text, _)) => format!(
            "the constraints cannot be assembled: {text}, and {} more stay open",
            open.len() - 1
        ),
        None => "no start meets all constraints".to_owned(),
    };

    let mut d = Diagnostic::error(code::START_CONSTRAINT, what);
    for (k, (text, span)) in open.into_iter().take(MOST_NAMES).enumerate() {
        d = match k {
            0 => d.primary(span, text),
            _ => d.secondary(span, text),
        };
    }
    d.help("check lengths and axes, or give a better `guess`")
}

/// Says how far a lock stays open, at the line that makes its joint rather than a line of the library.
fn open_lock(
    lock: &PositionConstraint,
    missing: f64,
    dae: &Dae,
    graph: &BondGraph,
) -> (String, Span) {
    let gap = displacement(graph, lock.reaction, (missing, 6));
    let name = dae.names.display(lock.name);
    let in_part = graph.part_span(lock.name);
    let span = in_part.unwrap_or_else(|| graph.span(lock.origin));
    (format!("`{name}` stays open by {gap}"), span)
}

/// A displacement at the bond of a lock in the unit that an engineer reads it in, with so many digits.
fn displacement(graph: &BondGraph, reaction: SymbolId, (x, n_digits): (f64, usize)) -> String {
    let bond = graph
        .bonds
        .iter()
        .find(|b| b.effort == reaction || b.flow == reaction);
    let domain = bond
        .and_then(|b| b.domain)
        .map(|d| &graph.domains[d.0 as usize]);
    let digits = |x: f64| significant(x.abs(), n_digits);
    match domain.map(|d| d.name.as_str()) {
        Some("translational") => format!("{} mm", digits(1e3 * x)),
        Some("rotational") => format!("{} deg", digits(x.to_degrees())),
        Some("electrical") => format!("{} C", digits(x)),
        Some("hydraulic") => format!("{} m^3", digits(x)),
        _ => format!("{} (SI units)", digits(x)),
    }
}

/// Explains why there is no start.
pub fn explain_start(error: &StartError, reduced: &Reduced, graph: &BondGraph) -> Vec<Diagnostic> {
    let starts = &reduced.dae.starts;
    match error {
        StartError::Conflict { pairs } => pairs
            .iter()
            .map(|&(a, b)| {
                Diagnostic::error(
                    code::START_CONFLICT,
                    "two start values contradict each other",
                )
                .primary(
                    graph.span(starts[b].origin),
                    "cannot hold together with the other",
                )
                .secondary(graph.span(starts[a].origin), "demanded here")
                .help("remove one of the two, or make it a `guess`")
            })
            .collect(),
        StartError::Unreachable { starts: which } => which
            .iter()
            .map(|&k| {
                Diagnostic::error(
                    code::START_UNREACHABLE,
                    "no choice of the states gives this start value",
                )
                .primary(
                    graph.span(starts[k].origin),
                    "fixed by the equations to another value",
                )
                .help("remove it, or give a start value to a state instead")
            })
            .collect(),
        StartError::Constraints { rows, t, places } => {
            let one = open_without_direction(rows, (*t, &places[1]), reduced, graph)
                .or_else(|| open_joint(rows, (*t, places), reduced, graph));
            vec![one.unwrap_or_else(|| cannot_assemble(rows, reduced, graph))]
        }
        StartError::Failure(failure) => {
            vec![explain_machine(
                failure,
                code::START_FAILED,
                "at the start",
                reduced,
                graph,
            )]
        }
    }
}
