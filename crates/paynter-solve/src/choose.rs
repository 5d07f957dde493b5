//! Chooses the method, at the start and whenever the run shows that another is better.
//!
//! In:  the caller's wish, the tolerances, and what the steps so far have shown.
//! Out: a method, and in the statistics the time and the reason of each choice.
//!
//! `auto` starts explicit (order 8 for tight tolerances, 5 for loose ones) unless algebraic
//! rows forbid it. When stability limits the step it changes to Rodas5P, or to BDF if the
//! system is large, strongly damped, never projected and rarely interrupted by time events:
//! BDF damps oscillations that the model does not damp, and loses its order at each event.

use crate::methods::Method;
use crate::options::{Choice, Failure, Options, Reason};
use crate::stepper::{Context, Stepper};

/// At tighter relative tolerances the steps of order 8 win over the cheaper ones of order 5.
const DOP853_RTOL: f64 = 1e-6;
/// Up to this size one factorisation per step of Rodas5P is affordable in any case.
const MAX_RODAS: usize = 1000;
/// BDF needs this many steps after a jump to regain its order; events more frequent than
/// that make it a method of low order.
const STEPS_TO_REGAIN_ORDER: usize = 50;
/// Cosine of the greatest angle from the negative real axis at which BDF of order 5 still
/// damps rightly and keeps stable (its sector has half-angle 51.8°).
const MIN_DAMPING_FOR_BDF: f64 = 0.75;

/// Chooses the method to start with.
pub(crate) fn first_choice(cx: &mut Context<'_>, t: f64, options: &Options) -> Method {
    let has_algebraic_rows = cx.system.algebraic().contains(&true);
    let is_tight = cx.weights.relative() <= DOP853_RTOL;
    let (method, reason) = match options.method {
        Method::Auto if options.resume.is_some() => {
            (options.resume.unwrap_or(Method::Auto), Reason::Resumed)
        }
        Method::Auto if has_algebraic_rows => (stiff_method(cx, 1.0), Reason::AlgebraicRows),
        Method::Auto if is_tight => (Method::Dop853, Reason::TightTolerance),
        Method::Auto => (Method::Tsit5, Reason::LooseTolerance),
        method => (method, Reason::Requested),
    };
    record(cx, t, method, reason)
}

/// Chooses another method after a step, if the steps so far ask for it.
pub(crate) fn next_choice(
    cx: &mut Context<'_>,
    t: f64,
    options: &Options,
    stepper: &dyn Stepper,
) -> Option<Method> {
    if options.method != Method::Auto {
        return None;
    }
    if let Some(stiffness) = stepper.stiffness() {
        let method = stiff_method(cx, stiffness.damping());
        let reason = Reason::Stiff {
            h_lambda: stiffness.h_lambda(),
            damping: stiffness.damping(),
        };
        return Some(record(cx, t, method, reason));
    }
    let h_rho = stepper.calm()?;
    let is_tight = cx.weights.relative() <= DOP853_RTOL;
    let method = if is_tight {
        Method::Dop853
    } else {
        Method::Tsit5
    };
    Some(record(cx, t, method, Reason::NoLongerStiff { h_rho }))
}

/// Chooses a stiff method after an explicit one failed; gives the failure back if there is
/// nothing else to try.
pub(crate) fn choice_after_failure(
    cx: &mut Context<'_>,
    t: f64,
    options: &Options,
    failure: Failure,
) -> Result<Method, Failure> {
    let was_explicit = matches!(cx.statistics.method(), Some(Method::Tsit5 | Method::Dop853));
    match failure {
        Failure::StepTooSmall { h, .. } if options.method == Method::Auto && was_explicit => {
            Ok(record(cx, t, Method::Rodas5P, Reason::StepCollapsed { h }))
        }
        failure => Err(failure),
    }
}

fn stiff_method(cx: &Context<'_>, damping: f64) -> Method {
    let done = &cx.statistics;
    let n_events = done.time_events + done.state_events;
    let is_often_interrupted = n_events * STEPS_TO_REGAIN_ORDER > done.steps;
    let suits_bdf = cx.system.n() > MAX_RODAS
        && !cx.system.projects()
        && !is_often_interrupted
        && damping >= MIN_DAMPING_FOR_BDF;
    if suits_bdf {
        Method::Bdf
    } else {
        Method::Rodas5P
    }
}

fn record(cx: &mut Context<'_>, t: f64, method: Method, reason: Reason) -> Method {
    cx.statistics.choices.push(Choice { t, method, reason });
    method
}
