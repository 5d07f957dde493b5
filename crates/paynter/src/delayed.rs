//! Runs with delayed differentiation: what they need, and whether their loop gain allowed it.
//!
//! In:  the plan, the compiled model, and the columns of a run that hold inertias and moduli.
//! Out: the gain of all loops together over the run; an error where it reached the limit of the method, since the numbers are wrong then.

use crate::code;
use crate::digits::significant;
use crate::spec::Wanted;
use crate::table::Table;
use paynter_model::BondGraph;
use paynter_model::delay::{Delayed, NotDelayed};
use paynter_model::experiment::{Constraints, Method, Plan};
use paynter_syntax::Diagnostic;

/// The loop gain that a method of fixed step bears; none for other methods.
///
/// The error δ of a held rate comes back as −G δ. Euler and Runge–Kutta pass it on once a step: stable for G < 1. Adams–Bashforth of order 2
/// weighs it with 3/2 and −1/2: z² + G(3z − 1)/2 = 0 has a root at −1 for G = 1/2.
fn limit(method: Method) -> Option<f64> {
    match method {
        Method::Euler | Method::Rk4 => Some(1.0),
        Method::Ab2 => Some(0.5),
        _ => None,
    }
}

/// Refuses delayed differentiation with steps that vary.
pub(crate) fn refuse(plan: &Plan) -> Vec<Diagnostic> {
    let is_fixed = limit(plan.method).is_some() && plan.fixed_step.is_some();
    if plan.constraints != Constraints::Delayed || is_fixed {
        return Vec::new();
    }
    let message = Diagnostic::error(
        code::NOT_DELAYED,
        "differentiation is delayed by a step: all steps must be of one size",
    );
    vec![
        at_constraints(message, plan)
            .help("write `method = ab2(step = 1 [ms])`, `euler(step = …)` or `rk4(step = …)`"),
    ]
}

fn at_constraints(message: Diagnostic, plan: &Plan) -> Diagnostic {
    match plan.places.of(&["constraints"]) {
        Some(span) => message.primary(span, "asked for here"),
        None => message,
    }
}

/// Gives messages about the delay that have no place that of the experiment's word.
pub(crate) fn placed(messages: Vec<Diagnostic>, plan: &Plan) -> Vec<Diagnostic> {
    let place = |message: Diagnostic| match message.primary.is_none() {
        true if message.code == code::NOT_DELAYED => at_constraints(message, plan),
        _ => message,
    };
    messages.into_iter().map(place).collect()
}

/// Says why differentiation cannot be delayed.
pub(crate) fn explain(why: &NotDelayed, graph: &BondGraph) -> Diagnostic {
    let error = |message: String| Diagnostic::error(code::NOT_DELAYED, message);
    match why {
        NotDelayed::NothingDepends => error(
            "no storage depends on another: there is nothing to differentiate".to_owned(),
        )
        .help("leave `constraints = delayed` out"),
        NotDelayed::NotDependent(symbol) => {
            let origin = graph.signals.symbol(*symbol).origin;
            error(format!(
                "`{}` is no momentum or displacement of a storage in derivative form",
                graph.signals.name_of(*symbol)
            ))
            .primary(graph.span(origin), "this is not differentiated")
            .help("`paynter causality` lists the storages in derivative form")
        }
        NotDelayed::NoGain(names) => error(format!(
            "the loops through `{}` have no gain to judge the delay by: a field with several ports, or a junction whose flow is a state",
            names.join("`, `")
        ))
        .help("use `constraints = implicit`, which solves for them"),
        NotDelayed::Step => error("steps of this length have no exact rate".to_owned())
            .help("choose a step that is a fraction of a second with few digits, such as `2 [ms]`"),
    }
}

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
            "the loop gain is {} at t = {} s, and `{}` bears less than {}: differentiation with a delay is not stable",
            significant(gain, 4),
            significant(time, 4),
            plan.method.name(),
            significant(limit, 3)
        ),
    );
    let help = match plan.method {
        Method::Ab2 if gain < 1.0 => {
            "`method = euler(step = …)` bears gains below 1; or name fewer storages in `delayed(…)`: the others are solved for"
        }
        _ => {
            "name fewer storages in `delayed(…)`: the others are solved for. `paynter structure --loops` lists the gains"
        }
    };
    at_constraints(message, plan).help(help)
}
