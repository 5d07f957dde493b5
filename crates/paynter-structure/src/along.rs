//! Ranks along a run: a nonlinear model may be controllable at one point and not at another.
//!
//! In:  a design with an experiment, and how many instants.
//! Out: at each [`Instant`] the ranks of the linear model there, or why it has none.

use crate::control::numeric;
use crate::findings::{NumericRank, Side};
use crate::subject::{Subject, ask};
use paynter::syntax::Diagnostic;
use paynter::{Compiled, Design};

/// What holds at one instant.
#[derive(Clone, Debug, PartialEq)]
pub struct Instant {
    /// When, s.
    pub time: f64,
    /// For the inputs; none if there are none.
    pub control: Option<Result<NumericRank, String>>,
    /// For the outputs; none if there are none.
    pub observe: Option<Result<NumericRank, String>>,
}

/// Looks at `n` instants of the run, its first and last among them.
///
/// # Errors
///
/// An input that is no single quantity, or neither inputs nor outputs.
pub fn along(
    design: &Design,
    compiled: &Compiled,
    n: usize,
) -> Result<Vec<Instant>, Vec<Diagnostic>> {
    let (start, stop) = (design.plan.start, design.plan.stop);
    let step = (stop - start) / (n.max(2) - 1) as f64;
    (0..n.max(2))
        .map(|k| start + k as f64 * step)
        .map(|time| {
            let subject = Subject::new(design, ask(design, Some(time)))?;
            if subject.outputs.is_empty() {
                subject.needs_input()?;
            }
            let linear = subject.linear(compiled).map_err(|e| {
                let messages = e.into_messages();
                let first = messages.first();
                first.map_or_else(String::new, |m| m.message.clone())
            });
            let dynamics = linear.clone().map(|l| subject.linear_dynamics(l));
            let reached = || numeric(dynamics.as_ref(), Side::Control);
            let seen = || numeric(linear.as_ref(), Side::Observe);
            Ok(Instant {
                time,
                control: (!subject.inputs.is_empty()).then(reached),
                observe: (!subject.outputs.is_empty()).then(seen),
            })
        })
        .collect()
}
