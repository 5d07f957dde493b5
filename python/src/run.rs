//! A run and its results: columns that share the engine's memory; everything else is made when asked for.

use crate::columns::Table;
use crate::design::Design;
use crate::errors::{CallError, Interrupted, loads, run_error, unknown};
use crate::watch::Watch;
use paynter::exec::Engine;
use paynter::experiment::Outcome;
use paynter::outcome_json::outcome_facts;
use paynter::report::{Further, report};
use paynter::run::{Ready, RunChoice, ready, run_staged};
use paynter::scene::film;
use paynter::simulate::Ending;
use paynter::syntax::{Diagnostic, render};
use paynter::table;
use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::prelude::*;
use std::ops::ControlFlow;
use std::sync::Arc;

/// What a run gave.
#[pyclass(frozen, module = "paynter._paynter")]
pub struct Run {
    design: Arc<paynter::Design>,
    choice: paynter::Choice,
    whole: Arc<Whole>,
}

/// What a run gave, with its table.
struct Whole(Outcome);

impl AsRef<table::Table> for Whole {
    fn as_ref(&self) -> &table::Table {
        &self.0.run.table
    }
}

#[pymethods]
impl Run {
    /// Time and recorded columns.
    #[getter]
    fn table(&self) -> Table {
        Table {
            held: self.whole.clone(),
            words: None,
        }
    }

    /// Ending, audit, measures, comparisons, statistics.
    #[getter]
    fn facts<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let facts = outcome_facts(&self.design, &self.whole.0);
        loads(py, &facts.to_string())
    }

    /// Times of state events, s.
    #[getter]
    fn event_times(&self) -> Vec<f64> {
        self.whole.0.run.event_times.clone()
    }

    /// Time on the clock without compiling, s.
    #[getter]
    fn elapsed(&self) -> f64 {
        self.whole.0.run.elapsed.as_secs_f64()
    }

    /// Warnings, rendered.
    #[getter]
    fn warnings(&self) -> String {
        let warnings = &self.whole.0.warnings;
        render(warnings, &self.design.project.sources, false)
    }

    /// The plots of the experiment as SVG.
    #[getter]
    fn plots(&self, py: Python<'_>) -> Vec<String> {
        py.detach(|| self.whole.0.plots.iter().map(|p| p.to_svg()).collect())
    }

    /// The report page; bodies are shown in motion.
    fn report(&self, py: Python<'_>, structure: bool) -> PyResult<String> {
        let design = &self.design;
        let watch = Watch::new(None);
        let page = py.detach(|| {
            let film = film(design, &self.choice, &mut |_| watch.look(0.0)).ok();
            let sections = match structure {
                true => paynter_structure::sections(design, &self.choice),
                false => Vec::new(),
            };
            let further = Further { film, sections };
            report(design, &design.causality(), &self.whole.0, further)
        });
        watch.stopped().map_or(Ok(page), Err)
    }
}

/// Runs the experiment of a design.
pub fn run(
    py: Python<'_>,
    design: &Design,
    engine: &str,
    times: Option<Vec<f64>>,
    progress: Option<Py<PyAny>>,
) -> PyResult<Run> {
    let inner = &design.inner;
    let (start, stop) = (inner.plan.start, inner.plan.stop);
    check_times(times.as_deref(), start, stop)?;
    let choice = RunChoice {
        engine: engine_called(engine)?,
        times,
        ..RunChoice::default()
    };
    let watch = Watch::new(progress);
    let found = py.detach(|| {
        let mut look = |t: f64| -> ControlFlow<()> { watch.look((t - start) / (stop - start)) };
        match kept(design, choice.engine)? {
            Some(ready) => ready.run(inner, &choice, &mut look),
            None => run_staged(inner, &choice, &mut look).map(|(_, outcome)| outcome),
        }
    });
    let outcome = found.map_err(|messages| design.wrong(py, &messages))?;
    let failure = match &outcome.run.ending {
        Ending::Failed {
            why: diagnostics, ..
        } => Some(diagnostics.clone()),
        _ => None,
    };
    let run = Run {
        design: inner.clone(),
        choice: design.choice.clone(),
        whole: Arc::new(Whole(outcome)),
    };
    if let Some(error) = watch.stopped() {
        return Err(interrupted(py, error, run)?);
    }
    match failure {
        Some(messages) => Err(failed(py, design, &messages, run)?),
        None => Ok(run),
    }
}

/// The compiled experiment, from the second run on.
fn kept(design: &Design, engine: Engine) -> Result<Option<Arc<Ready>>, Vec<Diagnostic>> {
    let mut kept = design
        .ready
        .lock()
        .expect("nobody panics while it is locked");
    kept.n_runs += 1;
    if let Some((made_for, ready)) = &kept.ready
        && *made_for == engine
    {
        return Ok(Some(ready.clone()));
    }
    if kept.n_runs < 2 {
        return Ok(None);
    }
    let mut made = ready(&design.inner, engine)?;
    made.make_code();
    let made = Arc::new(made);
    kept.ready = Some((engine, made.clone()));
    Ok(Some(made))
}

/// Output times must be those of the run, in order.
fn check_times(times: Option<&[f64]>, start: f64, stop: f64) -> PyResult<()> {
    let Some(times) = times else {
        return Ok(());
    };
    let inside = |t: &f64| (start..=stop).contains(t);
    if let Some(t) = times.iter().find(|t| !inside(t)) {
        return Err(CallError::new_err(format!(
            "{t} s is not a time of the run, which goes from {start} s to {stop} s"
        )));
    }
    match times.is_sorted() {
        true => Ok(()),
        false => Err(CallError::new_err("times must rise from one to the next")),
    }
}

/// The engine of this name.
pub fn engine_called(name: &str) -> PyResult<Engine> {
    match name {
        "auto" => Ok(Engine::Auto),
        "interpreter" => Ok(Engine::Interpreter),
        "jit" => Ok(Engine::Jit),
        other => Err(unknown("engine", other, "auto, interpreter or jit")),
    }
}

/// Ctrl-C keeps what was computed; an exception of the progress call is passed on as it is.
fn interrupted(py: Python<'_>, error: PyErr, run: Run) -> PyResult<PyErr> {
    if !error.is_instance_of::<PyKeyboardInterrupt>(py) {
        return Ok(error);
    }
    let error = Interrupted::new_err("the run was interrupted; `result` holds what was computed");
    error.value(py).setattr("result", Py::new(py, run)?)?;
    Ok(error)
}

fn failed(py: Python<'_>, design: &Design, messages: &[Diagnostic], run: Run) -> PyResult<PyErr> {
    let error = run_error(py, messages, &design.inner.project.sources);
    error.value(py).setattr("result", Py::new(py, run)?)?;
    Ok(error)
}
