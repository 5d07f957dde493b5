//! Runs a method over a span of time, with events, quadratures and an observer.
//!
//! In:  a system, a start, an end, options, an observer.
//! Out: the state at the end and the work done; or the failure, with all that was computed
//!      before it.
//!
//! Each accepted step is searched for events. Up to the first one the step is given to the
//! observer; the system reacts; if the reaction changed anything the method starts anew from
//! the right limit, otherwise the search goes on in the rest of the same step.

use std::ops::ControlFlow;

use crate::bridge::Approach;
use crate::choose::{choice_after_failure, first_choice, next_choice};
use crate::events::{Found, Guards, time_width};
use crate::methods::Method;
use crate::observer::{Dense, EventRecord, Observer};
use crate::options::{
    BadInput, Failure, Finish, FinishReason, Function, Options, SolveError, Statistics, WhenFaded,
    WhenStiff, check,
};
use crate::quadrature::Quadratures;
use crate::stepper::{Context, StepQuadrature, Stepper, Trouble, Weights, min_step, zeros};
use crate::system::{Crossing, EvalError, EventOutcome, Passed, Stepped, System};

/// Rounds of reactions at one instant in which all guards that fired count together.
const ROUNDS_TOGETHER: usize = 8;
/// Rounds of reactions at one instant after which they are called a loop. After the first ones only one guard counts in
/// each, the first of those that fired: switches of a passive network settle so in a few rounds for each of them
/// (least-index pivoting, Murty 1974), while all together may go round in a cycle.
const MAX_EVENT_ROUNDS: usize = 200;
/// With guards, no step is longer than this share of the run: a guard that depends on time
/// alone would otherwise be sampled too rarely when the states hardly move.
const MAX_STEP_SHARE_WITH_GUARDS: f64 = 0.1;
/// After so many steps it is judged whether the end can be reached.
const STEPS_BEFORE_JUDGEMENT: usize = 200_000;
/// A run that would take this many times the steps allowed does not reach its end, even if it
/// becomes faster.
const HOPELESS: f64 = 1e3;
/// Share of the run for a step of a system without states, where no error limits it.
const MAX_STEP_SHARE_WITHOUT_STATES: f64 = 0.02;

/// Integrates `system` from `(t0, y0)` to `t_end`.
///
/// # Errors
///
/// See [`Failure`]; the error carries time, state, quadratures and statistics up to there.
#[expect(
    clippy::result_large_err,
    reason = "returned once per run, where its size is nothing beside the state it carries"
)]
pub fn integrate(
    system: &mut dyn System,
    t0: f64,
    y0: &[f64],
    t_end: f64,
    options: &Options,
    observer: &mut dyn Observer,
) -> Result<Finish, SolveError> {
    let n = system.n();
    let mut statistics = Statistics::default();
    if let Err(problem) = check(system, (t0, t_end), y0, options) {
        return Err(refused(system, t0, y0, problem));
    }

    system.expect_end(t_end);
    let mut weights = Weights::new(n, &options.tolerances);
    let mut run = Run {
        t: t0,
        t_begin: t0,
        t_end,
        y: y0.to_vec(),
        y_before: zeros(n),
        approach: Approach::new(!options.method.has_fixed_step()),
        guards: Guards::new(system.n_guards(), n),
        quadratures: Quadratures::new(system, options.tolerances.relative),
        fired: Vec::new(),
        options,
        observer,
    };

    let mut cx = Context {
        h_max: largest_step(system, t_end - t0, options),
        t_end,
        max_steps: options.max_steps,
        system,
        statistics: &mut statistics,
        weights: &mut weights,
    };

    let outcome = run.go(&mut cx);
    let (t, y) = (run.t, run.y);
    let [quadratures, variations, quadrature_errors] = run.quadratures.into_values();
    match outcome {
        Ok(reason) => Ok(Finish {
            reason,
            t,
            y,
            quadratures,
            variations,
            quadrature_errors,
            statistics,
        }),
        Err(failure) => Err(SolveError {
            failure,
            t,
            y,
            quadratures,
            variations,
            quadrature_errors,
            statistics,
        }),
    }
}

/// The error of input that makes no sense.
fn refused(system: &dyn System, t0: f64, y0: &[f64], problem: BadInput) -> SolveError {
    let none = vec![0.0; system.n_quadratures()];
    SolveError {
        failure: Failure::BadInput(problem),
        t: t0,
        y: y0.to_vec(),
        quadratures: none.clone(),
        variations: none.clone(),
        quadrature_errors: none,
        statistics: Statistics::default(),
    }
}

fn largest_step(system: &dyn System, length: f64, options: &Options) -> f64 {
    let mut limit = options.max_step.min(length);
    if system.n_guards() > 0 {
        limit = limit.min(MAX_STEP_SHARE_WITH_GUARDS * length);
    }
    if system.n() == 0 {
        limit = limit.min(MAX_STEP_SHARE_WITHOUT_STATES * length);
    }
    limit
}

/// Next exact time event. One that is not later than `t` would stop the clock; the contract
/// excludes it, and it is passed over.
fn next_time_event(cx: &mut Context<'_>, t: f64) -> Option<f64> {
    cx.system.next_time_event(t).filter(|&next| next > t)
}

/// A run under way: where it is and what accompanies it.
struct Run<'a> {
    t: f64,
    t_begin: f64,
    t_end: f64,
    y: Vec<f64>,
    y_before: Vec<f64>,
    approach: Approach,
    guards: Guards,
    quadratures: Quadratures,
    fired: Vec<Crossing>,
    options: &'a Options,
    observer: &'a mut dyn Observer,
}

/// What follows from an event.
enum Reaction {
    GoOn,
    /// The method starts anew from the present state, with a step of this size.
    Restart {
        h: f64,
    },
    Finish(FinishReason),
}

impl Run<'_> {
    fn go(&mut self, cx: &mut Context<'_>) -> Result<FinishReason, Failure> {
        if let Some(reason) = self.show_start(cx)? {
            return Ok(reason);
        }
        cx.weights.learn(&self.y);
        let method = first_choice(cx, self.t, self.options);
        let mut stepper = method.make(cx, self.options);
        stepper.restart(cx, self.t, &self.y, self.options.initial_step)?;
        if let Some(reason) = self.begin(cx, stepper.as_mut())? {
            return Ok(reason);
        }

        let mut time_event = next_time_event(cx, self.t);
        loop {
            self.refuse_hopeless(cx)?;
            let next_unknown = cx.system.known_until().max(self.t.next_up());
            let t_known = self.t_end.min(next_unknown);
            let t_stop = time_event.map_or(t_known, |t| t.min(t_known));
            let reaction = match self.step(cx, stepper.as_mut(), (t_stop, time_event)) {
                Ok(reaction) => reaction,
                Err(failure) => {
                    let method = choice_after_failure(cx, self.t, self.options, failure)?;
                    self.approach.forget();
                    match self.change_method(cx, &mut stepper, method)? {
                        Some(reason) => return Ok(reason),
                        None => continue,
                    }
                }
            };

            let reaction = match reaction {
                Reaction::GoOn => self.pass_ahead(cx, stepper.as_mut(), (t_stop, time_event))?,
                reaction => {
                    self.approach.forget();
                    reaction
                }
            };
            match reaction {
                Reaction::GoOn => {}
                Reaction::Restart { h } => self.restart(cx, stepper.as_mut(), h)?,
                Reaction::Finish(reason) => return Ok(reason),
            }
            if self.t >= self.t_end {
                return Ok(FinishReason::ReachedEnd);
            }
            // A reaction may have moved what time events depend on.
            let is_passed = time_event.is_some_and(|t| t <= self.t) || self.t >= t_known;
            if is_passed || matches!(reaction, Reaction::Restart { .. }) {
                time_event = next_time_event(cx, self.t);
            }
            cx.weights.learn(&self.y);
            if let Some(method) = next_choice(cx, self.t, self.options, stepper.as_ref())
                && let Some(reason) = self.change_method(cx, &mut stepper, method)?
            {
                return Ok(reason);
            }
        }
    }

    /// Projects the start and shows it to the observer; tells whether the run ends right there.
    fn show_start(&mut self, cx: &mut Context<'_>) -> Result<Option<FinishReason>, Failure> {
        if cx.system.projects() {
            cx.project(self.t, &mut self.y)
                .map_err(Trouble::into_failure)?;
        }
        if let ControlFlow::Break(()) = self.observer.start(self.t, &self.y, cx.system) {
            return Ok(Some(FinishReason::Cancelled));
        }
        Ok((self.t >= self.t_end).then_some(FinishReason::ReachedEnd))
    }

    /// Makes one step and passes the events in it. Where it cannot be passed, a shorter one may, or one across the edge
    /// that stopped it.
    #[inline]
    fn step(
        &mut self,
        cx: &mut Context<'_>,
        stepper: &mut dyn Stepper,
        (t_stop, time_event): (f64, Option<f64>),
    ) -> Result<Reaction, Failure> {
        let limit = self.approach.limit().filter(|&t| t > self.t);
        let t_cut = limit.map_or(t_stop, |t| t.min(t_stop));
        let outcome = match stepper.advance(cx, t_cut) {
            Ok(()) => match self.pass_step(cx, stepper, time_event) {
                Err(failure) => self.shorten(stepper, failure),
                reaction => reaction,
            },
            Err(failure) => Err(failure),
        };
        match outcome {
            Err(failure) => self.cross_the_edge(cx, stepper.natural_step(), failure),
            reaction => reaction,
        }
    }

    /// Begins anew after an event with a step of size `h`; a method that keeps its past goes on after a mere tick.
    fn restart(
        &mut self,
        cx: &mut Context<'_>,
        stepper: &mut dyn Stepper,
        h: f64,
    ) -> Result<(), Failure> {
        self.quadratures.forget();
        if self.options.keeps_past && cx.system.has_only_ticked() {
            stepper.go_on(cx, &self.y)
        } else {
            stepper.restart(cx, self.t, &self.y, Some(h))
        }
    }

    /// Goes on with another method, unless the caller takes over before it is used.
    fn change_method(
        &mut self,
        cx: &mut Context<'_>,
        stepper: &mut Box<dyn Stepper>,
        method: Method,
    ) -> Result<Option<FinishReason>, Failure> {
        if method.is_implicit() && self.options.when_stiff == WhenStiff::Finish {
            return Ok(Some(FinishReason::Stiff));
        }
        *stepper = method.make(cx, self.options);
        self.quadratures.forget();
        stepper.restart(cx, self.t, &self.y, None)?;
        Ok(None)
    }

    /// Takes the sides of the guards, and lets the system react where one is across from the first moment, or where
    /// time switches something right there.
    fn begin(
        &mut self,
        cx: &mut Context<'_>,
        stepper: &mut dyn Stepper,
    ) -> Result<Option<FinishReason>, Failure> {
        let h = stepper.natural_step();
        let has_fired = !self.guards.is_empty() && self.guards.arm(cx, self.t, &self.y, h)?;
        let is_due = cx.system.is_due(self.t);
        if !has_fired && !is_due {
            return Ok(None);
        }
        self.y_before.copy_from_slice(&self.y);
        match self.react(cx, h, has_fired, is_due)? {
            Reaction::GoOn => Ok(None),
            Reaction::Restart { h } => {
                stepper.restart(cx, self.t, &self.y, Some(h))?;
                Ok(None)
            }
            Reaction::Finish(reason) => Ok(Some(reason)),
        }
    }

    /// Ends a run that would need far more steps than are allowed: its end is out of reach.
    fn refuse_hopeless(&self, cx: &Context<'_>) -> Result<(), Failure> {
        let steps = cx.statistics.steps;
        if steps == 0 || !steps.is_multiple_of(STEPS_BEFORE_JUDGEMENT) {
            return Ok(());
        }
        let done = (self.t - self.t_begin) / (self.t_end - self.t_begin);
        let limit = cx.max_steps;
        if done * HOPELESS * limit as f64 <= steps as f64 {
            return Err(Failure::TooManySteps {
                t: self.t,
                steps,
                limit,
                needed: steps as f64 / done,
            });
        }
        Ok(())
    }

    /// A guard without a value inside a step: the step may have gone beyond the event after which
    /// the equations are others (a law with a kink, followed too far). A shorter one stays before it.
    fn shorten(&self, stepper: &dyn Stepper, failure: Failure) -> Result<Reaction, Failure> {
        let h = 0.25 * (stepper.t1() - self.t);
        let can_help = match failure {
            Failure::Evaluation { what, error, .. } => {
                what == Function::Guards && !matches!(error, EvalError::Fatal { .. })
            }
            Failure::NotFinite { what, .. } => what == Function::Guards,
            _ => false,
        };
        if can_help && h > 16.0 * min_step(self.t) {
            Ok(Reaction::Restart { h })
        } else {
            Err(failure)
        }
    }

    /// No step can be made, because the equations have no value beyond a place where a guard is about to cross: √x ends
    /// where x passes zero, and the switch that puts another law in its place waits for the crossing. Goes there along
    /// the tangent, by some units in the last place of time, and lets it fire. Gives the failure back where no guard is
    /// that near.
    fn cross_the_edge(
        &mut self,
        cx: &mut Context<'_>,
        h: f64,
        failure: Failure,
    ) -> Result<Reaction, Failure> {
        let has_no_value = match failure {
            Failure::NotFinite { .. } => true,
            Failure::Evaluation { error, .. } => !matches!(error, EvalError::Fatal { .. }),
            _ => false,
        };
        if !has_no_value || self.guards.is_empty() {
            return Err(failure);
        }
        let Some(ahead) = self.guards.reach_the_edge(cx, self.t, &mut self.y) else {
            return Err(failure);
        };
        if self.t + ahead >= self.t_end {
            return Err(failure);
        }
        self.t += ahead;
        self.y_before.copy_from_slice(&self.y);
        match self.react(cx, h, true, false)? {
            // Nothing took its place.
            Reaction::GoOn => Err(failure),
            reaction => Ok(reaction),
        }
    }

    /// Passes a singular position shortly after the step just made, if there is one.
    fn pass_ahead(
        &mut self,
        cx: &mut Context<'_>,
        stepper: &mut dyn Stepper,
        (t_stop, time_event): (f64, Option<f64>),
    ) -> Result<Reaction, Failure> {
        if self.t >= t_stop {
            return Ok(Reaction::GoOn);
        }
        let may_leave = self.options.when_faded == WhenFaded::Finish;
        let is_measured = self.approach.measure(cx, stepper);
        if is_measured && may_leave && self.approach.leaves(cx, stepper) {
            return Ok(Reaction::Finish(FinishReason::Faded));
        }
        let Some(mut bridge) = self.approach.bridge(cx, stepper, t_stop)? else {
            return Ok(Reaction::GoOn);
        };
        let h = bridge.natural_step();
        Ok(match self.pass_step(cx, &mut bridge, time_event)? {
            Reaction::GoOn => Reaction::Restart { h },
            reaction => reaction,
        })
    }

    /// Goes over the step just made: events, quadratures, observer, time event at its end.
    fn pass_step(
        &mut self,
        cx: &mut Context<'_>,
        stepper: &mut dyn Stepper,
        time_event: Option<f64>,
    ) -> Result<Reaction, Failure> {
        if let Some(h) = self.step_to_what_was_passed(cx, stepper)? {
            return Ok(Reaction::Restart { h });
        }

        // Asked in any case: it sums the integrals where the method itself has found them.
        let wants_dense = self.quadratures.needs_dense(stepper.quadrature())
            || !self.guards.is_empty()
            || self.observer.needs_dense(stepper.t0(), stepper.t1());
        if wants_dense {
            stepper.prepare_dense(cx)?;
        }

        let end = stepper.t1();
        let ends_at_time_event = time_event == Some(end);
        loop {
            let found = match self.find_event(cx, stepper, ends_at_time_event)? {
                Found::Nothing => None,
                Found::Event(t) => Some(t),
                Found::LookCloser(h) => return Ok(Reaction::Restart { h }),
            };
            let t_next = found.unwrap_or(end);
            if let ControlFlow::Break(()) = self.show_segment(cx, stepper, t_next)? {
                return Ok(Reaction::Finish(FinishReason::Cancelled));
            }
            let is_time_event = ends_at_time_event && t_next >= end;
            if found.is_none() && !is_time_event {
                return Ok(Reaction::GoOn);
            }
            let reaction =
                self.react(cx, stepper.natural_step(), found.is_some(), is_time_event)?;
            match reaction {
                Reaction::GoOn if t_next < end => {}
                reaction => return Ok(reaction),
            }
        }
    }

    /// Gives the step up to a pulse that the one just made has passed over. Fixed steps are as they were asked for.
    fn step_to_what_was_passed(
        &mut self,
        cx: &mut Context<'_>,
        stepper: &mut dyn Stepper,
    ) -> Result<Option<f64>, Failure> {
        if self.options.method.has_fixed_step() {
            return Ok(None);
        }
        let (t0, t1) = (self.t, stepper.t1());
        let nodes = stepper.nodes();
        let passed = cx.system.passed_over(&Stepped {
            t: (t0, t1),
            y: (&self.y, stepper.y1()),
            nodes,
            at_nodes: &[],
        });

        let passed = match passed {
            Passed::Unsure => {
                stepper.prepare_dense(cx)?;
                let at_nodes: Vec<Vec<f64>> = nodes
                    .iter()
                    .map(|share| {
                        let mut y = vec![0.0; self.y.len()];
                        stepper.interpolate(t0 + share * (t1 - t0), &mut y);
                        y
                    })
                    .collect();
                cx.system.passed_over(&Stepped {
                    t: (t0, t1),
                    y: (&self.y, stepper.y1()),
                    nodes,
                    at_nodes: &at_nodes,
                })
            }
            known => known,
        };

        Ok(match passed {
            Passed::At(t) if t - t0 > 16.0 * min_step(t0) => Some(t - t0),
            _ => None,
        })
    }

    /// Searches the rest of the step, from `self.t` on.
    fn find_event(
        &mut self,
        cx: &mut Context<'_>,
        stepper: &dyn Stepper,
        ends_at_time_event: bool,
    ) -> Result<Found, Failure> {
        if self.guards.is_empty() {
            return Ok(Found::Nothing);
        }
        let segment = Segment {
            stepper,
            t0: self.t,
            t1: stepper.t1(),
            y0: &self.y,
            y1: stepper.y1(),
        };
        let found = self.guards.scan(cx, &segment)?;
        // One instant, not two, when a guard fires together with a time event.
        match found {
            Found::Event(t)
                if ends_at_time_event && segment.t1 - t <= 2.0 * time_width(&segment) =>
            {
                Ok(Found::Event(segment.t1))
            }
            found => Ok(found),
        }
    }

    /// Gives the part of the step up to `t_next` to quadratures and observer, and goes there.
    fn show_segment(
        &mut self,
        cx: &mut Context<'_>,
        stepper: &dyn Stepper,
        t_next: f64,
    ) -> Result<ControlFlow<()>, Failure> {
        if t_next < stepper.t1() {
            stepper.interpolate(t_next, &mut self.y_before);
        } else {
            self.y_before.copy_from_slice(stepper.y1());
        }

        let mut flow = ControlFlow::Continue(());
        if t_next > self.t {
            let segment = Segment {
                stepper,
                t0: self.t,
                t1: t_next,
                y0: &self.y,
                y1: &self.y_before,
            };
            if !self.quadratures.is_empty() {
                let is_whole_step = self.t == stepper.t0() && t_next == stepper.t1();
                let way = if is_whole_step {
                    stepper.quadrature()
                } else {
                    StepQuadrature::Dense
                };
                self.quadratures.advance(way, &segment, cx.system)?;
            }
            cx.system.step_done(t_next, &self.y_before);
            flow = self
                .observer
                .step(&segment, self.quadratures.values(), cx.system);
        }

        self.t = t_next;
        self.y.copy_from_slice(&self.y_before);
        Ok(flow)
    }

    /// Lets the system react to the event at `self.t`, in rounds, until nothing new fires.
    fn react(
        &mut self,
        cx: &mut Context<'_>,
        h: f64,
        is_state_event: bool,
        is_time_event: bool,
    ) -> Result<Reaction, Failure> {
        let t = self.t;
        cx.statistics.state_events += usize::from(is_state_event);
        cx.statistics.time_events += usize::from(is_time_event);
        self.fired.clear();
        if is_state_event {
            self.fired.extend_from_slice(self.guards.fired());
        }

        let (has_changed, finish) = self.react_in_rounds(cx, h)?;
        let record = EventRecord {
            t,
            y_before: &self.y_before,
            y_after: &self.y,
            fired: &self.fired,
            is_time_event,
            is_last: finish.is_some(),
        };

        let flow = self.observer.event(&record, cx.system);
        Ok(match (finish, flow) {
            (Some(reason), _) => Reaction::Finish(reason),
            (None, ControlFlow::Break(())) => Reaction::Finish(FinishReason::Cancelled),
            (None, ControlFlow::Continue(())) if has_changed => Reaction::Restart { h },
            (None, ControlFlow::Continue(())) => Reaction::GoOn,
        })
    }

    /// Hands the guards in `self.fired` to the system, and adds those that its reaction makes fire, until none does.
    /// Tells whether anything changed, and whether the run ends.
    fn react_in_rounds(
        &mut self,
        cx: &mut Context<'_>,
        h: f64,
    ) -> Result<(bool, Option<FinishReason>), Failure> {
        let t = self.t;
        let mut first_of_round = 0;
        let mut has_changed = false;
        for round in 0.. {
            let fired = &self.fired[first_of_round..];
            let outcome = cx.system.handle_event(t, &mut self.y, fired);
            let outcome = outcome.map_err(|error| {
                let what = Function::HandleEvent;
                Trouble::Evaluation { t, error, what }.into_failure()
            })?;
            match outcome {
                EventOutcome::Stop { code } => {
                    return Ok((has_changed, Some(FinishReason::Stopped { code })));
                }
                EventOutcome::Continue { changed: false } => break,
                EventOutcome::Continue { changed: true } => has_changed = true,
            }

            let max_fired = match round < ROUNDS_TOGETHER {
                true => usize::MAX,
                false => 1,
            };
            if self.guards.is_empty() || !self.guards.settle(cx, (t, &self.y), h, max_fired)? {
                break;
            }
            first_of_round = self.fired.len();
            self.fired.extend_from_slice(self.guards.fired());
            if round >= MAX_EVENT_ROUNDS {
                let guard = self.fired[first_of_round].guard;
                let rounds = round;
                return Err(Failure::EventLoop { t, guard, rounds });
            }
        }
        Ok((has_changed, None))
    }
}

/// A part of a method's last step, from one event to the next or to its end.
struct Segment<'a> {
    stepper: &'a dyn Stepper,
    t0: f64,
    t1: f64,
    y0: &'a [f64],
    y1: &'a [f64],
}

impl Dense for Segment<'_> {
    fn t0(&self) -> f64 {
        self.t0
    }

    fn t1(&self) -> f64 {
        self.t1
    }

    fn y0(&self) -> &[f64] {
        self.y0
    }

    fn y1(&self) -> &[f64] {
        self.y1
    }

    fn eval(&self, t: f64, y: &mut [f64]) {
        if t <= self.t0 {
            y.copy_from_slice(self.y0);
        } else if t >= self.t1 {
            y.copy_from_slice(self.y1);
        } else {
            self.stepper.interpolate(t, y);
        }
    }

    fn error_norm(&self, inverse_scale: &[f64]) -> f64 {
        self.stepper.error_norm(inverse_scale)
    }
}
