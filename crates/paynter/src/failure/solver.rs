//! Why an integration ended early.
//!
//! In:  typed errors of the integrators.
//! Out: a diagnostic that names the state, switch or block that was in the way.

use super::machine::{constant_without_value, explain_machine, mind_switches, mind_zero_states};
use super::seconds;
use crate::code;
use paynter_exec::Machine;
use paynter_model::BondGraph;
use paynter_solve::{BadInput, EvalError, Failure, SolveError};
use paynter_symbolic::reduced::Reduced;
use paynter_syntax::Diagnostic;

/// Explains why a run ended too soon.
pub(crate) fn explain_failure(
    machine: &mut Machine,
    error: &SolveError,
    reduced: &Reduced,
    graph: &BondGraph,
) -> Diagnostic {
    let d = explain_solver(machine, error, reduced, graph);
    if matches!(d.code, code::NOT_FINITE | code::SINGULAR_BLOCK) {
        mind_switches(d, graph)
    } else {
        d
    }
}

fn explain_solver(
    machine: &mut Machine,
    error: &SolveError,
    reduced: &Reduced,
    graph: &BondGraph,
) -> Diagnostic {
    let dae = &reduced.dae;
    let states = machine.states().to_vec();
    let about = |d: Diagnostic, index: usize, text: &str| match states.get(index) {
        Some(&s) => d.primary(graph.span(dae.symbol(s).origin), text),
        None => d,
    };
    let name = |index: usize| {
        states.get(index).map_or("a variable".to_owned(), |&s| {
            format!("`{}`", dae.name_of(s))
        })
    };
    match error.failure {
        Failure::BadInput(BadInput::StateNotFinite { index }) => {
            let d = Diagnostic::error(
                code::START_FAILED,
                format!("{} is not a number at the start", name(index)),
            )
            .help("give it another `start` or `guess` value");
            about(d, index, "starts at infinity or NaN")
        }
        Failure::BadInput(what) => {
            let (why, help) = match what {
                BadInput::TooManySteps => (
                    "the fixed step is so small that the run would not end",
                    "make the step of the method longer, the run shorter, or `max_steps` larger",
                ),
                BadInput::EndBeforeStart => (
                    "the run ends before it starts",
                    "make `stop` later than `start`",
                ),
                BadInput::TimeNotFinite => {
                    ("its start or end is not a time", "give both as numbers")
                }
                BadInput::Tolerance | BadInput::ToleranceLength => (
                    "a tolerance is not a positive number below 1",
                    "set `rtol` and `atol`",
                ),
                BadInput::StepSize | BadInput::FixedStepMissing => (
                    "a step is missing or not positive",
                    "write `method = rk4(step = 1 [ms])`",
                ),
                BadInput::AlgebraicRows | BadInput::Projection => (
                    "this method cannot keep the constraints of the model",
                    "leave the choice to `method = auto`",
                ),
                BadInput::StateNotFinite { .. } | BadInput::StateLength | BadInput::SystemShape => {
                    unreachable!("the machine fits its own system")
                }
            };
            Diagnostic::error(code::BAD_SETTING, format!("the run cannot start: {why}")).help(help)
        }
        Failure::StepTooSmall { t, h, worst } | Failure::NewtonFailed { t, h, worst } => {
            let d = Diagnostic::error(
                code::STEP_TOO_SMALL,
                format!(
                    "step size fell to {h:.1e} s at t = {}; {} changes fastest",
                    seconds(t),
                    name(worst)
                ),
            );
            about(d, worst, "changes fastest here")
        }
        Failure::NotFinite { t, index, .. } => {
            let when = format!("at t = {}", seconds(t));
            let found = machine.find_not_finite(t, &error.y);
            match found.or_else(|| constant_without_value(reduced, graph)) {
                Some(failure) => {
                    let d = explain_machine(&failure, code::NOT_FINITE, &when, reduced, graph);
                    mind_zero_states(d, &failure, (&states, &error.y), graph)
                }
                None => {
                    let d = Diagnostic::error(
                        code::NOT_FINITE,
                        format!("the rate of {} is not a number {when}", name(index)),
                    );
                    about(d, index, "this one")
                }
            }
        }
        Failure::Evaluation {
            t, error: inner, ..
        } => {
            let when = format!("at t = {}", seconds(t));
            match inner {
                EvalError::Failed { code } | EvalError::Fatal { code } => explain_machine(
                    &machine.describe_failure(code),
                    code::NOT_FINITE,
                    &when,
                    reduced,
                    graph,
                ),
                EvalError::NotFinite { index } => {
                    let d = Diagnostic::error(
                        code::NOT_FINITE,
                        format!("{} is not a number {when}", name(index)),
                    );
                    about(d, index, "this one")
                }
            }
        }
        Failure::TooManySteps {
            t,
            steps,
            limit,
            needed,
        } => too_many_steps(t, (steps, limit), needed),
        Failure::Singular { t, index } => {
            let d = Diagnostic::error(
                code::SINGULAR_BLOCK,
                format!(
                    "the matrix of the implicit step is singular at t = {}",
                    seconds(t)
                ),
            );
            match index {
                Some(index) => about(d, index, "nothing fixes this one"),
                None => d,
            }
        }
        Failure::Chattering { t, guard, .. } => {
            let d = Diagnostic::error(
                code::CHATTERING,
                format!("a switch is chattering at t = {}", seconds(t)),
            );
            let mode = machine.mode_of_guard(guard);
            let d = if mode.is_some_and(|mode| machine.moves_states(mode)) {
                d.help("each `reinit` lets the condition come true again sooner: let it leave the state at a distance or at rest, or end the run there with `when … { stop }`")
            } else {
                d.help("add hysteresis, use `smooth`, or end the run there with `when … { stop }`")
            };
            match mode {
                Some(mode) => d.primary(
                    graph.span(dae.symbol(mode).origin),
                    "this switches faster than time advances",
                ),
                None => d,
            }
        }
        Failure::EventLoop { t, guard, .. } => {
            let d = Diagnostic::error(
                code::EVENT_LOOP,
                format!(
                    "switches change each other without end at t = {}",
                    seconds(t)
                ),
            );
            match machine.mode_of_guard(guard) {
                Some(mode) => d.primary(graph.span(dae.symbol(mode).origin), "this is one of them"),
                None => d,
            }
        }
    }
}

/// Says how far a run came with the steps it may take.
fn too_many_steps(t: f64, (steps, limit): (usize, usize), needed: f64) -> Diagnostic {
    let text = match steps < limit {
        true => format!(
            "the end is out of reach: {steps} steps led to t = {}, and at this pace the run would take {needed:.0e}",
            seconds(t)
        ),
        false => format!(
            "{limit} steps are not enough for this run; t = {} was reached",
            seconds(t)
        ),
    };
    Diagnostic::error(code::TOO_MANY_STEPS, text)
        .help("leave the choice to `method = auto`, which finds methods for stiff models; stop earlier, loosen `rtol`, or look for a fast oscillation in the model")
}
