//! Searches: the best values of an `optimize`, its trade-off between two aims, the parameters of a `fit`.
//!
//! In:  a design whose experiment has such a block, and how to search.
//! Out: text, JSON and a table of all trials or samples. Ctrl-C ends a search with the best it has.

use crate::columns::Table;
use crate::design::Design;
use crate::errors::{CallError, Interrupted, run_error};
use crate::run::engine_called;
use crate::watch::{Watch, go_on};
use paynter::syntax::{Diagnostic, render};
use paynter::{fit as estimation, optimize as search};
use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::prelude::*;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

/// What a search found.
#[pyclass(frozen, module = "paynter._paynter")]
pub struct Found {
    /// Plain text.
    #[pyo3(get)]
    text: String,
    /// Everything as JSON.
    #[pyo3(get)]
    json: String,
    /// What the user should know, rendered.
    #[pyo3(get)]
    warnings: String,
    table: paynter::table::Table,
    optimum: Option<(Arc<paynter::Design>, search::Optimum)>,
}

#[pymethods]
impl Found {
    /// Every trial, or every sample.
    #[getter]
    fn table(&self) -> Table {
        Table::alone(self.table.clone())
    }

    /// A text with the found values written into it as an experiment.
    fn written(&self, text: &str, name: &str) -> PyResult<String> {
        let Some((design, optimum)) = &self.optimum else {
            return Err(CallError::new_err("a fit is not written as an experiment"));
        };
        search::with_experiment(design, text, optimum, name)
            .map_err(|e| CallError::new_err(e.to_string()))
    }
}

/// Searches the values that make a measure smallest or largest.
#[pyfunction]
#[pyo3(signature = (design, *, starts, is_local, max_runs, seed, jobs, engine, progress))]
pub fn optimize(
    py: Python<'_>,
    design: PyRef<'_, Design>,
    starts: usize,
    is_local: bool,
    max_runs: Option<usize>,
    seed: u64,
    jobs: Option<usize>,
    engine: &str,
    progress: Option<Py<PyAny>>,
) -> PyResult<Found> {
    let inner = design.inner.clone();
    let ask = request(&inner, (starts, is_local), (max_runs, seed), (jobs, engine))?;
    let watch = Watch::new(progress);
    let choice = &design.choice;
    let result = searching(py, &watch, |told| {
        search::optimize(&inner, choice, &ask, told)
    });
    let optimum = result.map_err(|messages| design.wrong(py, &messages))?;
    let messages = optimum.messages.clone();
    let found = Found {
        text: search::to_text(&optimum),
        json: search::to_json(&optimum).to_string(),
        warnings: render(&messages, &inner.project.sources, false),
        table: search::to_table(&optimum),
        optimum: Some((inner.clone(), optimum)),
    };
    ended(py, &design, watch, &messages, found)
}

/// What a search is asked for, if there is something to search.
fn request(
    design: &paynter::Design,
    (starts, is_local): (usize, bool),
    (max_runs, seed): (Option<usize>, u64),
    (jobs, engine): (Option<usize>, &str),
) -> PyResult<search::SearchRequest> {
    if design.plan.optimize.is_none() {
        return Err(CallError::new_err(
            "the experiment has no `optimize`; write for instance `optimize K in 1 .. 9 { minimize cost }`",
        ));
    }
    if is_local && starts == 0 {
        return Err(CallError::new_err(
            "local=True with starts=0 leaves nothing to search with",
        ));
    }
    Ok(search::SearchRequest {
        engine: engine_called(engine)?,
        jobs: jobs.unwrap_or_else(all_cores),
        seed,
        n_starts: starts,
        is_global: !is_local,
        max_runs,
    })
}

/// Does a search while Python looks on: it is told the number of runs and the best value so far.
fn searching<R: Send>(
    py: Python<'_>,
    watch: &Watch,
    search: impl FnOnce(search::Watch<'_>) -> R + Send,
) -> R {
    let state = Mutex::new((0, None));
    py.detach(|| {
        let work = |must_stop: &AtomicBool| {
            search(&|told| {
                *state.lock().expect("nobody panics while holding it") = (told.n_runs, told.best);
                go_on(must_stop)
            })
        };
        watch.during(work, |py, call| {
            let told: (usize, Option<(f64, bool)>) =
                *state.lock().expect("nobody panics while holding it");
            call.call1(py, told).map(|_| ())
        })
    })
}

/// The trade-off between two aims: text, JSON, SVG, one row for each point; those found until Ctrl-C where it was pressed.
#[pyfunction]
#[pyo3(signature = (design, points, *, starts, is_local, max_runs, seed, jobs, engine, progress))]
pub fn trade_off(
    py: Python<'_>,
    design: PyRef<'_, Design>,
    points: usize,
    starts: usize,
    is_local: bool,
    max_runs: Option<usize>,
    seed: u64,
    jobs: Option<usize>,
    engine: &str,
    progress: Option<Py<PyAny>>,
) -> PyResult<(String, String, String, Table)> {
    let inner = design.inner.clone();
    let ask = request(&inner, (starts, is_local), (max_runs, seed), (jobs, engine))?;
    let watch = Watch::new(progress);
    let choice = &design.choice;
    let result = searching(py, &watch, |told| {
        search::trade_off(&inner, choice, (&ask, points), told)
    });
    let stopped = watch.stopped();
    let is_interrupted = |e: &PyErr| e.is_instance_of::<PyKeyboardInterrupt>(py);
    match stopped {
        Some(error) if is_interrupted(&error) => {}
        Some(error) => return Err(error),
        None => {}
    }
    let found = result.map_err(|messages| {
        let is_infeasible = |m: &Diagnostic| m.code == paynter::code::NO_FEASIBLE;
        match messages.iter().any(is_infeasible) {
            true => run_error(py, &messages, &inner.project.sources),
            false => design.wrong(py, &messages),
        }
    })?;
    let told = (
        search::trade_off_to_text(&found),
        search::trade_off_to_json(&found).to_string(),
        search::trade_off_plot(&found).to_svg(),
        Table::alone(search::trade_off_to_table(&found)),
    );
    if !found.is_ended {
        return Ok(told);
    }
    let error = Interrupted::new_err("the search was interrupted; `result` holds what was found");
    error.value(py).setattr("result", told)?;
    Err(error)
}

/// Finds parameters from measured data.
#[pyfunction]
#[pyo3(signature = (design, *, starts, jobs, engine, progress))]
pub fn fit(
    py: Python<'_>,
    design: PyRef<'_, Design>,
    starts: usize,
    jobs: Option<usize>,
    engine: &str,
    progress: Option<Py<PyAny>>,
) -> PyResult<Found> {
    let inner = design.inner.clone();
    if inner.plan.fit.is_none() {
        return Err(CallError::new_err(
            "the experiment has no `fit`; write for instance `fit k in 1 .. 9 { data \"run.csv\" }`",
        ));
    }
    let ask = estimation::FitRequest {
        engine: engine_called(engine)?,
        jobs: jobs.unwrap_or_else(all_cores),
        n_starts: starts.max(1),
    };
    let watch = Watch::new(progress);
    let n_runs = AtomicUsize::new(0);
    let choice = &design.choice;
    let result = py.detach(|| {
        let work = |must_stop: &AtomicBool| {
            estimation::fit(&inner, choice, &ask, &|n| {
                n_runs.fetch_max(n, Ordering::Relaxed);
                go_on(must_stop)
            })
        };
        watch.during(work, |py, call| {
            let told = (n_runs.load(Ordering::Relaxed), None::<(f64, bool)>);
            call.call1(py, told).map(|_| ())
        })
    });
    let fitted = result.map_err(|messages| design.wrong(py, &messages))?;
    let found = Found {
        text: estimation::to_text(&fitted),
        json: estimation::to_json(&fitted).to_string(),
        warnings: render(&fitted.messages, &inner.project.sources, false),
        table: estimation::to_table(&fitted),
        optimum: None,
    };
    ended(py, &design, watch, &fitted.messages, found)
}

fn all_cores() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// The answer, or an exception that holds it: the search was interrupted, or found nothing that will do.
fn ended(
    py: Python<'_>,
    design: &Design,
    watch: Watch,
    messages: &[Diagnostic],
    found: Found,
) -> PyResult<Found> {
    let error = match watch.stopped() {
        Some(error) if error.is_instance_of::<PyKeyboardInterrupt>(py) => {
            Interrupted::new_err("the search was interrupted; `result` holds the best so far")
        }
        Some(error) => return Err(error),
        None if messages.iter().any(Diagnostic::is_error) => {
            run_error(py, messages, &design.inner.project.sources)
        }
        None => return Ok(found),
    };
    error.value(py).setattr("result", Py::new(py, found)?)?;
    Err(error)
}
