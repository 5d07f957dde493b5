//! What the caller may choose, what comes back, and how a run can fail.
//!
//! In:  method, tolerances, limits of step and work.
//! Out: plain data; no prose, so that the caller can put the model's names to the numbers.

use crate::methods::Method;
use crate::system::{EvalError, System};

/// Absolute tolerance: one for all variables, or one for each.
#[derive(Clone, Debug, PartialEq)]
pub enum Absolute {
    /// The same for every variable.
    Scalar(f64),
    /// One per variable, from its nominal value.
    PerVariable(Vec<f64>),
    /// For variables whose size nobody gave: it is learnt from what they have been.
    Growing {
        /// The tolerance of each variable at least.
        least: Vec<f64>,
        /// The tolerance as a part of the largest size so far; 0 keeps it at the least.
        share: Vec<f64>,
        /// Variables that learn from each other as well.
        groups: Vec<Alike>,
    },
}

/// Variables of one kind, each with the size at which it means as much as the others at theirs: one that stays near
/// zero gets its tolerance from those that move.
#[derive(Clone, Debug, PartialEq)]
pub struct Alike {
    /// The tolerance as a part of the largest size so far, where all have been as large as the largest of them.
    pub share: f64,
    /// (variable, size).
    pub sizes: Vec<(usize, f64)>,
}

/// Error allowed per step: `absolute + relative · |y|` for each variable.
#[derive(Clone, Debug, PartialEq)]
pub struct Tolerances {
    /// Relative part; must be positive and less than 1.
    pub relative: f64,
    /// Absolute part; positive.
    pub absolute: Absolute,
}

impl Default for Tolerances {
    fn default() -> Self {
        Self {
            relative: 1e-6,
            absolute: Absolute::Scalar(1e-9),
        }
    }
}

/// Choices of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Options {
    /// Method to use.
    pub method: Method,
    /// Error allowed; without effect on methods of fixed step.
    pub tolerances: Tolerances,
    /// Largest step; infinite means no limit but the length of the run.
    pub max_step: f64,
    /// First step; `None` lets the solver choose.
    pub initial_step: Option<f64>,
    /// Method with which `Auto` begins, where an earlier run over the same system ended with it.
    pub resume: Option<Method>,
    /// Step of the methods of fixed step; required by them.
    pub fixed_step: Option<f64>,
    /// Number of accepted and rejected steps after which the run ends as failed.
    pub max_steps: usize,
    /// What `Auto` does when it finds the system stiff.
    pub when_stiff: WhenStiff,
    /// What happens when the equations become less regular than others for the same motion.
    pub when_faded: WhenFaded,
    /// A method that reads its past keeps it over ticks: what they hold is a part of the formula.
    pub keeps_past: bool,
}

/// What `Auto` does when it finds the system stiff.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum WhenStiff {
    /// It goes on with an implicit method.
    #[default]
    ChangeMethod,
    /// It ends the run there, with the implicit method as its last choice: the caller has a form of the system that
    /// suits such methods better.
    Finish,
}

/// What happens when the equations become less regular than others for the same motion ([`System::has_better_form`]).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum WhenFaded {
    /// The run goes on with them.
    #[default]
    GoOn,
    /// The run ends there: the caller has the others.
    Finish,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            method: Method::Auto,
            tolerances: Tolerances::default(),
            max_step: f64::INFINITY,
            initial_step: None,
            resume: None,
            fixed_step: None,
            // A run of this many steps takes minutes even for a tiny system, so it is more
            // often a mistake in the model than a wish; the caller may raise it.
            max_steps: 100_000_000,
            when_stiff: WhenStiff::default(),
            when_faded: WhenFaded::default(),
            keeps_past: false,
        }
    }
}

/// Why `Auto` chose a method.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Reason {
    /// The caller asked for it.
    Requested,
    /// `rtol ≤ 1e-6` and no sign of stiffness yet: high order pays.
    TightTolerance,
    /// Looser tolerance and no sign of stiffness yet.
    LooseTolerance,
    /// The system has algebraic rows.
    AlgebraicRows,
    /// An earlier part of the run ended with it.
    Resumed,
    /// Stability, not accuracy, limits the explicit step: `h |λ| ≈ h_lambda` for many steps.
    Stiff {
        /// Product of step and estimated dominant eigenvalue.
        h_lambda: f64,
        /// Cosine of the angle between that eigenvalue and the negative real axis: 1 for pure
        /// decay, 0 for undamped oscillation.
        damping: f64,
    },
    /// Explicit steps became too small to go on.
    StepCollapsed {
        /// The step that failed.
        h: f64,
    },
    /// Explicit steps made a switch go to and fro: what comes to rest there at once, as a tank that runs empty, is as
    /// stiff as can be.
    Chattered,
    /// The stiff method makes steps that an explicit one could do more cheaply.
    NoLongerStiff {
        /// Product of step and estimated spectral radius.
        h_rho: f64,
    },
}

/// A method and the time from which it was used.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Choice {
    /// Time of the choice.
    pub t: f64,
    /// Method used from then on.
    pub method: Method,
    /// Why.
    pub reason: Reason,
}

/// Work done in a run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Statistics {
    /// Accepted steps.
    pub steps: usize,
    /// Rejected steps.
    pub rejected: usize,
    /// Evaluations of the right-hand side, without those for finite-difference Jacobians.
    pub rhs: usize,
    /// Evaluations of the right-hand side for finite-difference Jacobians.
    pub rhs_for_jacobian: usize,
    /// Jacobians.
    pub jacobians: usize,
    /// Factorisations of the iteration matrix.
    pub factorisations: usize,
    /// Solutions with a factorised matrix.
    pub linear_solves: usize,
    /// Newton iterations.
    pub newton_iterations: usize,
    /// Newton iterations given up.
    pub newton_failures: usize,
    /// Times at which guards fired.
    pub state_events: usize,
    /// Exact time events.
    pub time_events: usize,
    /// Evaluations of the guards.
    pub guard_evaluations: usize,
    /// Steps after which the projection moved the state.
    pub projections: usize,
    /// Entries visited by factorisations and solutions, a measure of linear-algebra work.
    pub linear_work: u64,
    /// When singular positions were passed, s.
    pub passages: Vec<f64>,
    /// Methods used, with times and reasons, in order.
    pub choices: Vec<Choice>,
}

impl Statistics {
    /// Adds the work of a later part of the same run.
    pub fn add(&mut self, later: &Statistics) {
        self.steps += later.steps;
        self.rejected += later.rejected;
        self.rhs += later.rhs;
        self.rhs_for_jacobian += later.rhs_for_jacobian;
        self.jacobians += later.jacobians;
        self.factorisations += later.factorisations;
        self.linear_solves += later.linear_solves;
        self.newton_iterations += later.newton_iterations;
        self.newton_failures += later.newton_failures;
        self.state_events += later.state_events;
        self.time_events += later.time_events;
        self.guard_evaluations += later.guard_evaluations;
        self.projections += later.projections;
        self.linear_work += later.linear_work;
        self.passages.extend_from_slice(&later.passages);
        for choice in &later.choices {
            // Every part begins with a choice of its own; one that goes on as before is none.
            let goes_on =
                choice.reason == Reason::Requested && self.method() == Some(choice.method);
            if choice.reason != Reason::Resumed && !goes_on {
                self.choices.push(*choice);
            }
        }
    }

    /// Method in use at the end.
    pub fn method(&self) -> Option<Method> {
        self.choices.last().map(|choice| choice.method)
    }
}

/// Why a run ended well.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FinishReason {
    /// The end time is reached.
    ReachedEnd,
    /// The system asked for the end at an event.
    Stopped {
        /// Code chosen by the system.
        code: u32,
    },
    /// The observer asked for the end.
    Cancelled,
    /// The system is stiff, and [`WhenStiff::Finish`] was asked for.
    Stiff,
    /// Other equations are more regular, and [`WhenFaded::Finish`] was asked for.
    Faded,
}

/// The end of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Finish {
    /// Why the run ended.
    pub reason: FinishReason,
    /// Time reached.
    pub t: f64,
    /// State there.
    pub y: Vec<f64>,
    /// Quadratures from the start to `t`.
    pub quadratures: Vec<f64>,
    /// How far each quadrature went up and down, from step to step.
    pub variations: Vec<f64>,
    /// What the quadratures of all steps together estimate each to be wrong by.
    pub quadrature_errors: Vec<f64>,
    /// Work done.
    pub statistics: Statistics,
}

/// A run that did not reach its end; what was computed before stays true.
#[derive(Clone, Debug, PartialEq)]
pub struct SolveError {
    /// What went wrong.
    pub failure: Failure,
    /// Last time that was reached.
    pub t: f64,
    /// State there.
    pub y: Vec<f64>,
    /// Quadratures from the start to `t`.
    pub quadratures: Vec<f64>,
    /// How far each quadrature went up and down, from step to step.
    pub variations: Vec<f64>,
    /// What the quadratures of all steps together estimate each to be wrong by.
    pub quadrature_errors: Vec<f64>,
    /// Work done.
    pub statistics: Statistics,
}

impl std::fmt::Display for SolveError {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "{:?} at t = {}", self.failure, self.t)
    }
}

impl std::error::Error for SolveError {}

/// How a run can fail.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Failure {
    /// An option or the start makes no sense.
    BadInput(BadInput),
    /// The step size that the error demands cannot be told from zero.
    StepTooSmall {
        /// Time of the step.
        t: f64,
        /// Step that was tried.
        h: f64,
        /// Variable with the largest error.
        worst: usize,
    },
    /// A value is not finite, however small the step.
    NotFinite {
        /// Time of the evaluation.
        t: f64,
        /// Row of the right-hand side, or number of the guard or quadrature.
        index: usize,
        /// Which function.
        what: Function,
    },
    /// The system refused to evaluate, however small the step.
    Evaluation {
        /// Time of the evaluation.
        t: f64,
        /// The system's own reason.
        error: EvalError,
        /// Which function.
        what: Function,
    },
    /// More steps than the limit, or so many that the rest would go far beyond it.
    TooManySteps {
        /// Time reached.
        t: f64,
        /// Steps made up to there.
        steps: usize,
        /// The limit.
        limit: usize,
        /// Steps that the whole run would need at the pace up to here.
        needed: f64,
    },
    /// Newton's method did not converge, however small the step.
    NewtonFailed {
        /// Time of the step.
        t: f64,
        /// Step that was tried.
        h: f64,
        /// Variable with the largest correction.
        worst: usize,
    },
    /// The iteration matrix is singular, however small the step.
    Singular {
        /// Time of the step.
        t: f64,
        /// Variable at which the elimination failed, where known.
        index: Option<usize>,
    },
    /// One guard is chattering, or shows Zeno behaviour.
    Chattering {
        /// Time.
        t: f64,
        /// The guard.
        guard: usize,
        /// Events counted in the window.
        count: usize,
    },
    /// Events at one instant trigger each other without end.
    EventLoop {
        /// Time.
        t: f64,
        /// A guard that keeps firing.
        guard: usize,
        /// Rounds made.
        rounds: usize,
    },
}

/// Function of the system that failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Function {
    /// `System::rhs`.
    Rhs,
    /// `System::jacobian`.
    Jacobian,
    /// `System::time_derivative`.
    TimeDerivative,
    /// `System::guards`.
    Guards,
    /// `System::handle_event`.
    HandleEvent,
    /// `System::project`.
    Project,
    /// `System::quadrature_rates`.
    QuadratureRates,
}

/// Input that makes no sense.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BadInput {
    /// A time is not finite.
    TimeNotFinite,
    /// The end lies before the start.
    EndBeforeStart,
    /// The start state has the wrong length.
    StateLength,
    /// A start value is not finite.
    StateNotFinite {
        /// Its index.
        index: usize,
    },
    /// A tolerance is not positive, not finite, or the relative one is 1 or more.
    Tolerance,
    /// The list of absolute tolerances has the wrong length.
    ToleranceLength,
    /// A step size is not positive.
    StepSize,
    /// Fixed steps so small that the run would need more of them than are allowed.
    TooManySteps,
    /// The method needs a fixed step, which is not given.
    FixedStepMissing,
    /// The method cannot solve algebraic rows.
    AlgebraicRows,
    /// The method cannot keep its history over projections.
    Projection,
    /// `System::algebraic` or the Jacobian pattern has the wrong length.
    SystemShape,
}

fn ensure(holds: bool, problem: BadInput) -> Result<(), BadInput> {
    if holds { Ok(()) } else { Err(problem) }
}

fn is_positive(value: f64) -> bool {
    value.is_finite() && value > 0.0
}

/// Checks the tolerances of a system of `n` variables.
fn check_tolerances(tolerances: &Tolerances, n: usize) -> Result<(), BadInput> {
    let Tolerances { relative, absolute } = tolerances;
    let is_relative = is_positive(*relative) && *relative < 1.0;
    ensure(is_relative, BadInput::Tolerance)?;
    match absolute {
        Absolute::Scalar(value) => ensure(is_positive(*value), BadInput::Tolerance),
        Absolute::PerVariable(values) => {
            ensure(values.len() == n, BadInput::ToleranceLength)?;
            let are_positive = values.iter().all(|&value| is_positive(value));
            ensure(are_positive, BadInput::Tolerance)
        }
        Absolute::Growing {
            least,
            share,
            groups,
        } => {
            let members = || groups.iter().flat_map(|group| &group.sizes);
            let has_all = least.len() == n && share.len() == n;
            ensure(
                has_all && members().all(|member| member.0 < n),
                BadInput::ToleranceLength,
            )?;
            let are_positive = members().all(|member| is_positive(member.1))
                && least.iter().all(|&value| is_positive(value));
            let are_shares = share.iter().all(|&part| (0.0..1.0).contains(&part));
            ensure(are_positive && are_shares, BadInput::Tolerance)
        }
    }
}

/// Checks the sizes of steps over a time of this length.
fn check_steps(options: &Options, length: f64) -> Result<(), BadInput> {
    ensure(options.max_step > 0.0, BadInput::StepSize)?;
    let given = options.initial_step.into_iter().chain(options.fixed_step);
    for step in given {
        ensure(is_positive(step), BadInput::StepSize)?;
    }
    if options.method.has_fixed_step() {
        ensure(options.fixed_step.is_some(), BadInput::FixedStepMissing)?;
        let n_steps = options.fixed_step.map_or(0.0, |step| length / step);
        ensure(n_steps <= options.max_steps as f64, BadInput::TooManySteps)?;
    }
    Ok(())
}

/// Checks options and start against the system.
pub(crate) fn check(
    system: &dyn System,
    (t0, t_end): (f64, f64),
    y0: &[f64],
    options: &Options,
) -> Result<(), BadInput> {
    let n = system.n();
    ensure(t0.is_finite() && t_end.is_finite(), BadInput::TimeNotFinite)?;
    ensure(t_end >= t0, BadInput::EndBeforeStart)?;
    ensure(y0.len() == n, BadInput::StateLength)?;
    if let Some(index) = y0.iter().position(|value| !value.is_finite()) {
        return Err(BadInput::StateNotFinite { index });
    }
    let pattern_fits = system.jacobian_pattern().is_none_or(|p| p.n() == n);
    let algebraic = system.algebraic();
    ensure(
        pattern_fits && (algebraic.is_empty() || algebraic.len() == n),
        BadInput::SystemShape,
    )?;

    check_tolerances(&options.tolerances, n)?;
    check_steps(options, t_end - t0)?;
    let has_algebraic_rows = algebraic.iter().any(|&is_algebraic| is_algebraic);
    let is_explicit = options.method != Method::Auto && !options.method.is_implicit();
    ensure(
        !(is_explicit && has_algebraic_rows),
        BadInput::AlgebraicRows,
    )?;
    ensure(
        !(options.method == Method::Bdf && system.projects()),
        BadInput::Projection,
    )
}
