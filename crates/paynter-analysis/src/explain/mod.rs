//! Puts the model's names to a run that went wrong.
//!
//! In:  a [`Trouble`] of `paynter-run`, and the compiled model that ran.
//! Out: diagnostics that point into the text. What a machine, a start or a structure lacks is explained in
//!      `paynter-design`; here are integrators and contacts.

mod contacts;
mod solver;

pub(crate) use solver::explain_failure as explain_stuck;

use paynter_design::code;
use paynter_design::compile::Compiled;
use paynter_design::failure::{explain_lowering, explain_machine, explain_start, seconds};
use paynter_model::BondGraph;
use paynter_run::trouble::{Cause, Trouble};
use paynter_symbolic::reduced::Reduced;
use paynter_syntax::Diagnostic;

/// Explains what went wrong in a run of a compiled model.
pub fn explain(trouble: &Trouble, compiled: &Compiled) -> Vec<Diagnostic> {
    explain_with(trouble, &compiled.reduced, &compiled.graph)
}

/// As [`explain`], for equations that were made from those of a compiled model.
pub(crate) fn explain_with(
    trouble: &Trouble,
    reduced: &Reduced,
    graph: &BondGraph,
) -> Vec<Diagnostic> {
    let reduced = trouble.equations.as_deref().unwrap_or(reduced);
    let time = trouble.time;
    let one = match &trouble.cause {
        Cause::NoStart(error) => return explain_start(error, reduced, graph),
        Cause::NotRunnable(error) => explain_lowering(error, reduced, graph),
        Cause::Solver(stuck) => solver::explain_failure(stuck, reduced, graph),
        Cause::NotRecorded(behind) => {
            let when = format!("at t = {}", seconds(time));
            match behind {
                Some(failure) => explain_machine(failure, code::NOT_FINITE, &when, reduced, graph),
                None => Diagnostic::error(
                    code::NOT_FINITE,
                    format!("a recorded quantity is not a number {when}"),
                ),
            }
        }
        Cause::NoConfiguration { contacts } => contacts::no_configuration(contacts, time, graph),
        Cause::NoStates => contacts::no_states(time),
        Cause::CutFlow {
            inertia,
            momentum,
            contact,
        } => contacts::cut_flow((*inertia, *momentum), *contact, time, graph),
    };
    vec![one]
}
