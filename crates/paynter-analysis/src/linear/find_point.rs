//! Runs a model to the point at which it is looked at.
//!
//! In:  the model's own equations, what is wanted at the point, and which point.
//! Out: a [`Finder`], compiled once, and the [`Point`] it finds for any values of the parameters.

use super::operating_point::{At, failed};
use super::{LinearError, model_error};
use crate::explain::explain_with;
use crate::layout::{Layout, run_spec};
use paynter_design::code;
use paynter_design::design::Design;
use paynter_design::failure::{explain_lowering, seconds};
use paynter_exec::{Engine, Machine};
use paynter_run::hybrid::{End, HybridRun};
use paynter_run::recorder::Recorder;
use paynter_run::spec::{Ending, RunSpec, Wanted, prepare_wanted};
use paynter_run::trouble::Trouble;
use paynter_symbolic::reduced::Reduced;
use paynter_symbolic::{ExprId, SymbolId};
use paynter_syntax::{Diagnostic, Span};
use std::ops::ControlFlow;
use std::sync::Arc;

/// A model at a point of its run.
pub(super) struct Point {
    pub machine: Machine,
    pub t: f64,
    /// What was wanted there.
    pub row: Vec<f64>,
}

/// A model that is ready to be run to a point; copies share what was compiled.
#[derive(Clone)]
pub(super) struct Finder {
    plain: Arc<Reduced>,
    machine: Machine,
    spec: RunSpec,
    /// The time of the run; its start where none is given.
    time: Option<f64>,
    asked: Span,
}

impl Finder {
    /// Compiles the model's own equations.
    pub(super) fn new(
        design: &Design,
        plain: Arc<Reduced>,
        wanted: &[ExprId],
        at: &At<'_>,
        asked: Span,
    ) -> Result<Self, LinearError> {
        let layout = Layout::of(wanted.iter().map(|&value| unnamed(value)).collect());

        let mut spec = run_spec(&design.plan, &layout, &[], Engine::Auto);
        spec.output_times.clear();
        if let Some(time) = at.time {
            spec.stop = time;
        }
        if let Some(rest) = at.rest {
            spec.rest.clone_from(&rest.states);
        }

        let explain = |e| LinearError::Model(vec![explain_lowering(&e, &plain, &design.graph)]);
        let machine = prepare_wanted(&plain, &spec, &[]).map_err(explain)?;
        Ok(Finder {
            plain,
            machine,
            spec,
            time: at.time,
            asked,
        })
    }

    /// Runs the model to the point, with these values of parameters.
    pub(super) fn find(
        mut self,
        design: &Design,
        parameters: &[(SymbolId, f64)],
    ) -> Result<Point, LinearError> {
        let (plain, graph, asked) = (&*self.plain, &design.graph, self.asked);
        for &(symbol, value) in parameters {
            let is_set = self.machine.set_parameter(symbol, value);
            is_set.map_err(|_| no_value(value, asked))?;
        }

        let mut hybrid = HybridRun::new(&mut self.machine, plain, graph, &self.spec, None);
        let words = |trouble: &Trouble| explain_with(trouble, plain, graph);
        let start = hybrid.start();
        let start = start.map_err(|trouble| LinearError::Model(words(&trouble)))?;
        let (mut t, mut y) = (self.spec.start, start.y0);
        if self.time.is_some_and(|at| at > t) {
            let mut go_on = |_: f64| ControlFlow::Continue(());
            let n_wanted = self.spec.wanted.len();
            let mut recorder = Recorder::new(Vec::new(), n_wanted, &[], &mut go_on);
            let End {
                t: end,
                y: last,
                ending,
            } = hybrid.go(&y, &mut recorder);
            match ending {
                Ending::Reached => (t, y) = (end, last),
                Ending::Failed { why, .. } => return Err(LinearError::Run(words(&why))),
                Ending::Stopped { time, message } => {
                    return Err(ends_before(time, &message, asked));
                }
                Ending::Cancelled { .. } => unreachable!("nothing breaks this run off"),
            }
        }

        if let Some(&(mode, _, _)) = hybrid.slides.last()
            && hybrid.is_sliding()
        {
            return Err(model_error(
                Diagnostic::error(
                    code::NO_LINEAR_FORM,
                    "a switch slides between its sides here: its law has no slope",
                )
                .primary(graph.span(plain.dae.symbol(mode).origin), "this switch")
                .secondary(asked, "asked for here")
                .help("use `smooth`, or linearize where it does not slide"),
            ));
        }

        drop(hybrid);
        let mut row = vec![0.0; self.spec.wanted.len()];
        let result = self.machine.observe(t, &y, &mut row);
        result.map_err(|e| failed(e, &mut self.machine, t, plain, design))?;

        Ok(Point {
            machine: self.machine,
            t,
            row,
        })
    }
}

fn no_value(value: f64, asked: Span) -> LinearError {
    let message = format!("{value} is not a value for a parameter");
    let message = Diagnostic::error(code::BAD_SETTING, message);
    model_error(message.primary(asked, "asked for here"))
}

fn ends_before(time: f64, message: &str, asked: Span) -> LinearError {
    let at = seconds(time);
    LinearError::Run(vec![
        Diagnostic::error(
            code::NO_LINEAR_FORM,
            format!("the run ends before that: {message} at t = {at}"),
        )
        .primary(asked, "no point to linearize at")
        .help("linearize at an earlier time"),
    ])
}

fn unnamed(value: ExprId) -> Wanted {
    Wanted {
        name: String::new(),
        value,
        unit: String::new(),
        factor: 1.0,
        offset: 0.0,
    }
}
