//! What a run tells of locks that it left out as redundant in turn.
//!
//! In:  a run that has ended.
//! Out: one note, at the joint whose lock was left out first, however often the choice has changed.

use crate::simulate::Run;
use paynter_design::code;
use paynter_design::failure::seconds;
use paynter_model::BondGraph;
use paynter_symbolic::reduced::Reduced;
use paynter_syntax::Diagnostic;

/// Names in one sentence.
const MOST_NAMES: usize = 4;

/// Tells that other locks were left out as redundant in the course of the run.
pub(crate) fn report(reduced: &Reduced, graph: &BondGraph, run: &Run) -> Option<Diagnostic> {
    let first = run.rechosen.first()?;
    let again = match run.rechosen.len() {
        1 => "",
        _ => ", and others again later",
    };
    let left_out = names(reduced, &first.left_out);
    let kept = names(reduced, &first.kept);
    let lock = reduced.dae.constraints.get(*first.left_out.first()?)?;
    let span = graph.part_span(lock.name);
    let is = if first.left_out.len() == 1 {
        "is"
    } else {
        "are"
    };
    let message = format!(
        "other redundant locks are left out from t = {}{again}",
        seconds(first.t)
    );
    Some(
        Diagnostic::note(code::LOCKS_RECHOSEN, message)
            .primary(
                span.unwrap_or_else(|| graph.span(lock.origin)),
                format!("{left_out} {is} left out there, and {kept} kept instead"),
            )
            .fact("the locks kept before became nearly dependent, although the mechanism is regular; its motion is the same either way")
            .fact("the reaction of a lock is given as zero while it is left out, so that these reactions jump there"),
    )
}

fn names(reduced: &Reduced, locks: &[usize]) -> String {
    let dae = &reduced.dae;
    let name = |&lock: &usize| format!("`{}`", dae.names.display(dae.constraints[lock].name));
    let mut list: Vec<String> = locks.iter().take(MOST_NAMES).map(name).collect();
    if locks.len() > MOST_NAMES {
        list.push(format!("{} more", locks.len() - MOST_NAMES));
    }
    match list.split_last() {
        Some((last, rest)) if !rest.is_empty() => format!("{} and {last}", rest.join(", ")),
        _ => list.concat(),
    }
}
