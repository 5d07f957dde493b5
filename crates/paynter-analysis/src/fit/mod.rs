//! Finds parameters from measured data: the `fit` of an experiment.
//!
//! In:  a design whose plan has a fit, with its data, and an [`FitRequest`].
//! Out: an [`Estimated`]: values with intervals, what the data cannot tell apart, residuals.
//!
//! Every data file belongs to an experiment: its own run gives the recorded columns at the times of the data. Columns of the same name
//! are compared; a cell that is not a number is left out. Columns without a `sigma` are weighted by what they turn out to scatter.

mod data;
mod estimate;
mod text;

use paynter_design::code;
use paynter_design::design::{Choice, Design};
use paynter_exec::Engine;
use paynter_optimize::levenberg::{Fit, FitEnd, Fitting, fit as levenberg};
use paynter_optimize::sobol::Sobol;
use paynter_syntax::Diagnostic;
use std::ops::ControlFlow;

use data::{Measured, measured};
use estimate::estimate;

pub use estimate::{ColumnFit, Estimated, Unresolved, ValueEstimated};
pub use text::{to_json, to_table, to_text};

/// How to fit.
#[derive(Clone, Debug)]
pub struct FitRequest {
    /// Interpreter or machine code.
    pub engine: Engine,
    /// Threads.
    pub jobs: usize,
    /// Starting points: the present values, and points spread over the bounds.
    pub n_starts: usize,
}

impl Default for FitRequest {
    fn default() -> Self {
        FitRequest {
            engine: Engine::Auto,
            jobs: 1,
            n_starts: 5,
        }
    }
}

/// Asked during the fit, with the number of runs: may it go on?
pub type Watch<'a> = &'a (dyn Fn(usize) -> ControlFlow<()> + Sync);

/// Step of differences, as a part of the range: the cube root of the tolerance of runs.
const STEP: f64 = 1e-3;
/// Rounds in which weights of columns are learned from their residuals.
const ROUNDS: usize = 6;

/// Fits.
///
/// # Errors
///
/// What keeps it from starting: data that cannot be read or used, a model that does not run anywhere.
pub fn fit(
    design: &Design,
    choice: &Choice,
    request: &FitRequest,
    watch: Watch<'_>,
) -> Result<Estimated, Vec<Diagnostic>> {
    let refused = paynter_design::unsupported::in_plan(&design.plan);
    if !refused.is_empty() {
        return Err(refused);
    }
    let mut data = measured(design, choice, request.engine)?;
    let best = best_of_starts(&data, request, watch).ok_or_else(|| vec![nowhere(design, &data)])?;
    let best = reweighted(&mut data, best, request, watch);
    Ok(estimate(design, &data, &best))
}

/// The lowest sum of squares from several starts.
fn best_of_starts(data: &Measured<'_>, request: &FitRequest, watch: Watch<'_>) -> Option<Fit> {
    let n = data.axes.len();
    let mut starts: Vec<Vec<f64>> = data.nominal().into_iter().collect();
    starts.extend(Sobol::new(n).take(request.n_starts.saturating_sub(starts.len()).max(1)));
    let fits = starts.iter().map(|s| from_start(data, s, request, watch));
    let good = fits.filter(|f| f.end != FitEnd::Blocked);
    let sum = |f: &Fit| f.residuals.iter().map(|r| r * r).sum::<f64>();
    good.min_by(|a, b| sum(a).total_cmp(&sum(b)))
}

/// One descent, with exact slopes where the model allows them.
fn from_start(data: &Measured<'_>, start: &[f64], request: &FitRequest, watch: Watch<'_>) -> Fit {
    let residuals = |x: &[f64]| data.residuals(x, watch);
    let slopes = |x: &[f64]| data.slopes(x, watch);
    let fitting = Fitting {
        residuals: &residuals,
        slopes: Some(&slopes),
        step: STEP,
        jobs: request.jobs,
    };
    levenberg(fitting, start)
}

/// Weights columns by their own scatter and fits again, until the weights stay.
fn reweighted(data: &mut Measured<'_>, first: Fit, request: &FitRequest, watch: Watch<'_>) -> Fit {
    let mut best = first;
    for _ in 0..ROUNDS {
        let change = data.learn_weights(&best);
        let next = from_start(data, &best.x, request, watch);
        if next.end == FitEnd::Blocked {
            return best;
        }
        best = next;
        if change < 1e-3 {
            break;
        }
    }
    best
}

fn nowhere(design: &Design, data: &Measured<'_>) -> Diagnostic {
    let span = design.plan.fit.as_ref().map(|f| f.span).unwrap_or_default();
    let message = Diagnostic::error(
        code::FIT_NOWHERE,
        "the model has no values at any start of the fit",
    )
    .primary(span, "fitted here")
    .help("choose other bounds, or look at one point with `paynter run --set`");
    match data.failure() {
        Some(why) => message.fact(why),
        None => message,
    }
}
