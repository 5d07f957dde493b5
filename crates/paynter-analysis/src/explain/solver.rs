//! Why an integration ended early.
//!
//! In:  typed errors of the integrators, with what the machine knows of the place.
//! Out: a diagnostic that names the state, switch or block that was in the way.

use paynter_design::code;
use paynter_design::failure::{
    constant_without_value, explain_machine, mind_switches, mind_zero_states, seconds,
};
use paynter_model::BondGraph;
use paynter_run::trouble::Stuck;
use paynter_solve::{BadInput, EvalError, Failure};
use paynter_symbolic::reduced::Reduced;
use paynter_syntax::Diagnostic;

/// Explains why a run ended too soon.
pub(crate) fn explain_failure(stuck: &Stuck, reduced: &Reduced, graph: &BondGraph) -> Diagnostic {
    let place = Place {
        stuck,
        reduced,
        graph,
    };
    let d = place.explain();
    if matches!(d.code, code::NOT_FINITE | code::SINGULAR_BLOCK) {
        mind_switches(d, graph)
    } else {
        d
    }
}

/// Where an integrator gave up, and the model that its numbers belong to.
struct Place<'a> {
    stuck: &'a Stuck,
    reduced: &'a Reduced,
    graph: &'a BondGraph,
}

impl Place<'_> {
    fn explain(&self) -> Diagnostic {
        match self.stuck.error.failure {
            Failure::BadInput(BadInput::StateNotFinite { index }) => {
                let text = format!("{} is not a number at the start", self.name(index));
                let d = Diagnostic::error(code::START_FAILED, text)
                    .help("give it another `start` or `guess` value");
                self.about(d, index, "starts at infinity or NaN")
            }
            Failure::BadInput(what) => bad_input(what),
            Failure::StepTooSmall { t, h, worst } | Failure::NewtonFailed { t, h, worst } => {
                let text = format!(
                    "step size fell to {h:.1e} s at t = {}; {} changes fastest",
                    seconds(t),
                    self.name(worst)
                );
                let d = Diagnostic::error(code::STEP_TOO_SMALL, text);
                self.about(d, worst, "changes fastest here")
            }
            Failure::NotFinite { t, index, .. } => self.not_finite(t, index),
            Failure::Evaluation { t, error, .. } => self.not_evaluated(t, error),
            Failure::TooManySteps {
                t,
                steps,
                limit,
                needed,
            } => too_many_steps(t, (steps, limit), needed),
            Failure::Singular { t, index } => {
                let text = format!(
                    "the matrix of the implicit step is singular at t = {}",
                    seconds(t)
                );
                let d = Diagnostic::error(code::SINGULAR_BLOCK, text);
                match index {
                    Some(index) => self.about(d, index, "nothing fixes this one"),
                    None => d,
                }
            }
            Failure::Chattering { t, .. } => self.chattering(t),
            Failure::EventLoop { t, .. } => {
                let text = format!("switches keep changing each other at t = {}", seconds(t));
                let d = Diagnostic::error(code::EVENT_LOOP, text);
                self.at_switch(d, "this is one of them")
            }
        }
    }

    /// The rate of a variable is infinite or NaN.
    fn not_finite(&self, t: f64, index: usize) -> Diagnostic {
        let when = format!("at t = {}", seconds(t));
        let (stuck, reduced, graph) = (self.stuck, self.reduced, self.graph);
        let behind = stuck.behind.clone();
        match behind.or_else(|| constant_without_value(reduced, graph)) {
            Some(failure) => {
                let d = explain_machine(&failure, code::NOT_FINITE, &when, reduced, graph);
                mind_zero_states(d, &failure, (&stuck.states, &stuck.error.y), graph)
            }
            None => {
                let text = format!("the rate of {} is not a number {when}", self.name(index));
                let d = Diagnostic::error(code::NOT_FINITE, text);
                self.about(d, index, "this one")
            }
        }
    }

    /// The right-hand side could not be computed.
    fn not_evaluated(&self, t: f64, error: EvalError) -> Diagnostic {
        let when = format!("at t = {}", seconds(t));
        match (&self.stuck.behind, error) {
            (Some(failure), _) => {
                explain_machine(failure, code::NOT_FINITE, &when, self.reduced, self.graph)
            }
            (None, EvalError::NotFinite { index }) => {
                let text = format!("{} is not a number {when}", self.name(index));
                let d = Diagnostic::error(code::NOT_FINITE, text);
                self.about(d, index, "this one")
            }
            (None, EvalError::Failed { .. } | EvalError::Fatal { .. }) => {
                unreachable!("the machine describes what it failed at")
            }
        }
    }

    fn chattering(&self, t: f64) -> Diagnostic {
        let text = format!("a switch is chattering at t = {}", seconds(t));
        let d = Diagnostic::error(code::CHATTERING, text);
        let moves_states = self.stuck.switch.is_some_and(|(_, moves)| moves);
        let d = if moves_states {
            d.help("each `reinit` lets the condition come true again sooner: let it leave the state at a distance or at rest, or end the run there with `when … { stop }`")
        } else {
            d.help("add hysteresis, use `smooth`, or end the run there with `when … { stop }`")
        };
        self.at_switch(d, "this switches faster than time advances")
    }

    fn name(&self, index: usize) -> String {
        let state = self.stuck.states.get(index);
        state.map_or("a variable".to_owned(), |&s| {
            format!("`{}`", self.reduced.dae.name_of(s))
        })
    }

    /// Points at a variable of the solver.
    fn about(&self, d: Diagnostic, index: usize, text: &str) -> Diagnostic {
        match self.stuck.states.get(index) {
            Some(&s) => d.primary(self.graph.span(self.reduced.dae.symbol(s).origin), text),
            None => d,
        }
    }

    /// Points at the switch that is in the way.
    fn at_switch(&self, d: Diagnostic, text: &str) -> Diagnostic {
        match self.stuck.switch {
            Some((mode, _)) => {
                d.primary(self.graph.span(self.reduced.dae.symbol(mode).origin), text)
            }
            None => d,
        }
    }
}

/// A setting that no run can have.
fn bad_input(what: BadInput) -> Diagnostic {
    let (why, help) = match what {
        BadInput::TooManySteps => (
            "the fixed step is so small that the run would not end",
            "make the step of the method longer, the run shorter, or `max_steps` larger",
        ),
        BadInput::EndBeforeStart => (
            "the run ends before it starts",
            "make `stop` later than `start`",
        ),
        BadInput::TimeNotFinite => ("its start or end is not a time", "give both as numbers"),
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
        .help("leave the choice to `method = auto`, which finds methods for stiff models; stop earlier, loosen `rtol`, give an `atol` if some states stay close to zero, or look for a fast oscillation in the model")
}
