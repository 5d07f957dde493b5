//! Delayed differentiation: what it needs of a plan and of a model.
//!
//! In:  the plan, or why a model cannot be delayed.
//! Out: messages. Whether the loop gain of a run allowed it is judged in `paynter-analysis/src/delayed.rs`.

use crate::code;
use paynter_model::BondGraph;
use paynter_model::delay::NotDelayed;
use paynter_model::experiment::{Constraints, Method, Plan};
use paynter_syntax::Diagnostic;

/// The loop gain that a method of fixed step bears; none for other methods.
///
/// The error δ of a held rate comes back as −G δ. Euler and Runge–Kutta pass it on once a step: stable for G < 1. Adams–Bashforth of order 2
/// weighs it with 3/2 and −1/2: z² + G(3z − 1)/2 = 0 has a root at −1 for G = 1/2.
pub fn limit(method: Method) -> Option<f64> {
    match method {
        Method::Euler | Method::Rk4 => Some(1.0),
        Method::Ab2 => Some(0.5),
        _ => None,
    }
}

/// Refuses delayed differentiation with steps that vary.
pub fn refuse(plan: &Plan) -> Vec<Diagnostic> {
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

/// Points at the word that asks for the delay.
pub fn at_constraints(message: Diagnostic, plan: &Plan) -> Diagnostic {
    match plan.places.of(&["constraints"]) {
        Some(span) => message.primary(span, "asked for here"),
        None => message,
    }
}

/// Gives messages about the delay that have no place that of the experiment's word.
pub fn placed(messages: Vec<Diagnostic>, plan: &Plan) -> Vec<Diagnostic> {
    let place = |message: Diagnostic| match message.primary.is_none() {
        true if message.code == code::NOT_DELAYED => at_constraints(message, plan),
        _ => message,
    };
    messages.into_iter().map(place).collect()
}

/// Says why differentiation cannot be delayed.
pub fn explain(why: &NotDelayed, graph: &BondGraph) -> Diagnostic {
    let error = |message: String| Diagnostic::error(code::NOT_DELAYED, message);
    match why {
        NotDelayed::NothingDepends => error(
            "no storage depends on another: there is nothing to differentiate".to_owned(),
        )
        .help("leave `constraints = delayed` out"),
        NotDelayed::NotDependent(symbol) => {
            let origin = graph.signals.symbol(*symbol).origin;
            error(format!(
                "`{}` is not a momentum or displacement of a storage in derivative form",
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
