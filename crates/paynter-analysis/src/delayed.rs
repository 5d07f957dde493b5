//! Whether the loop gain of a run allowed delayed differentiation.
//!
//! In:  the columns of a run that hold inertias and moduli.
//! Out: the gain of all loops together over the run; an error where it reached the limit of the method, since the numbers are wrong then.

use paynter_design::code;
use paynter_design::delayed::{at_constraints, limit};
use paynter_design::digits::significant;
use paynter_model::delay::Delayed;
use paynter_model::experiment::{Method, Plan};
use paynter_run::spec::Wanted;
use paynter_run::table::Table;
use paynter_syntax::Diagnostic;

/// Columns that the gain is computed from.
pub(crate) fn wanted(delayed: &Delayed) -> impl Iterator<Item = Wanted> {
    delayed.numbers.iter().map(|&value| Wanted {
        name: String::new(),
        value,
        unit: String::new(),
        factor: 1.0,
        offset: 0.0,
    })
}

/// The gain of all loops together in a run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LoopGain {
    /// The smallest.
    pub low: f64,
    /// The largest.
    pub high: f64,
    /// What the method bears.
    pub limit: f64,
}

/// Reads the gain off the last columns of a table.
///
/// # Errors
///
/// When it reached the limit, and the message.
pub(crate) fn judge(
    delayed: &Delayed,
    table: &Table,
    first: usize,
    plan: &Plan,
) -> Result<Option<LoopGain>, (f64, Box<Diagnostic>)> {
    let Some(limit) = limit(plan.method) else {
        return Ok(None);
    };
    let columns = &table.columns[first..first + delayed.numbers.len()];
    let mut found: Option<LoopGain> = None;
    for (row, &time) in table.time.iter().enumerate() {
        let numbers: Vec<f64> = columns.iter().map(|c| c.values[row]).collect();
        let gain = delayed.gains.radius(&numbers, &|d| delayed.is_delayed[d]);
        let Some(gain) = gain else { continue };
        // At the limit itself errors neither grow nor die out.
        if gain >= limit * (1.0 - 1e-9) {
            return Err((time, Box::new(too_large(gain, limit, time, plan))));
        }
        let (low, high) = found.map_or((gain, gain), |g| (g.low.min(gain), g.high.max(gain)));
        found = Some(LoopGain { low, high, limit });
    }
    Ok(found)
}

fn too_large(gain: f64, limit: f64, time: f64, plan: &Plan) -> Diagnostic {
    let message = Diagnostic::error(
        code::LOOP_GAIN,
        format!(
            "the loop gain is {} at t = {} s, and `{}` is stable only below {}: differentiation with a delay is not stable",
            significant(gain, 4),
            significant(time, 4),
            plan.method.name(),
            significant(limit, 3)
        ),
    );
    let help = match plan.method {
        Method::Ab2 if gain < 1.0 => {
            "`method = euler(step = …)` is stable for gains below 1; or name fewer storages in `delayed(…)`: the others are solved for"
        }
        _ => {
            "name fewer storages in `delayed(…)`: the others are solved for. `paynter structure --loops` lists the gains"
        }
    };
    at_constraints(message, plan).help(help)
}
