//! How the outside watches an integration: each step as a function of time, each event.
//!
//! In:  accepted steps and events, in the order of time.
//! Out: nothing but the wish to go on or to stop; an observer never changes the trajectory.

use std::ops::ControlFlow;

use crate::system::{Crossing, System};

/// The solution over one accepted step, as a continuous function of time.
pub trait Dense {
    /// Start of the step.
    fn t0(&self) -> f64;
    /// End of the step; an event may have made it shorter than the method wanted.
    fn t1(&self) -> f64;
    /// State at the start.
    fn y0(&self) -> &[f64];
    /// State at the end (left limit if an event follows).
    fn y1(&self) -> &[f64];
    /// Writes the state at `t`, which lies in `t0..=t1`. Exact copies at both ends.
    fn eval(&self, t: f64, y: &mut [f64]);

    /// How large the error of the step is, by these inverse allowances; 0 where the method does not estimate it.
    fn error_norm(&self, _inverse_scale: &[f64]) -> f64 {
        0.0
    }
}

/// What happened at one event.
#[derive(Clone, Copy, Debug)]
pub struct EventRecord<'a> {
    /// Time of the event.
    pub t: f64,
    /// State before (left limit).
    pub y_before: &'a [f64],
    /// State after (right limit), where the method goes on.
    pub y_after: &'a [f64],
    /// Guards that crossed, in all rounds of the event; empty at a pure time event.
    pub fired: &'a [Crossing],
    /// Whether this is also an exact time event.
    pub is_time_event: bool,
    /// Whether the run ends with it, by the system's wish.
    pub is_last: bool,
}

/// Takes output points, shows progress, asks for the end.
pub trait Observer {
    /// Tells whether [`Dense::eval`] will be called inside this step. Some methods need
    /// further evaluations of the right-hand side for it, so saying false saves work;
    /// `t0`, `t1`, `y0`, `y1` are right in any case.
    fn needs_dense(&mut self, _t0: f64, _t1: f64) -> bool {
        true
    }

    /// Sees the start: the state (after a projection, if any) before the first step.
    fn start(&mut self, _t: f64, _y: &[f64], _system: &mut dyn System) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }

    /// Sees one accepted step, with the quadratures at its end. `system` is for evaluating
    /// outputs; its modes are those of the step.
    fn step(
        &mut self,
        dense: &dyn Dense,
        quadratures: &[f64],
        system: &mut dyn System,
    ) -> ControlFlow<()>;

    /// Sees one event, after the system has reacted to it.
    fn event(&mut self, _event: &EventRecord<'_>, _system: &mut dyn System) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }
}

/// An observer that looks at nothing: only the end state is wanted.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoObserver;

impl Observer for NoObserver {
    fn needs_dense(&mut self, _t0: f64, _t1: f64) -> bool {
        false
    }

    fn step(
        &mut self,
        _dense: &dyn Dense,
        _quadratures: &[f64],
        _system: &mut dyn System,
    ) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }
}
