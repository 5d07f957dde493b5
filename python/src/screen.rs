//! Which parameters count over their whole ranges.
//!
//! In:  a design whose sweeps have two values each, where a range begins and where it ends.
//! Out: text and JSON; Ctrl-C ends the runs.

use crate::design::Design;
use crate::errors::{CallError, Interrupted, unknown};
use crate::watch::{Watch, go_on};
use paynter::refused::Refused;
use paynter::screening::{Method, screen as run, screening_to_json, screening_to_text};
use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::prelude::*;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// Runs the design of a screening: text, JSON, runs, and those that failed.
#[pyfunction]
#[pyo3(signature = (design, *, method, size, seed, jobs, progress))]
pub fn screen(
    py: Python<'_>,
    design: PyRef<'_, Design>,
    method: &str,
    size: Option<usize>,
    seed: u64,
    jobs: Option<usize>,
    progress: Option<Py<PyAny>>,
) -> PyResult<(String, String, usize, usize)> {
    let n = design.inner.plan.sweeps.len();
    let (method, n_runs) = match method {
        "morris" => {
            let ways = size.unwrap_or(20);
            (Method::Morris(ways), ways * (n + 1))
        }
        "sobol" => {
            let base = size.unwrap_or(512);
            (Method::Sobol(base), base * (n + 2))
        }
        other => return Err(unknown("method", other, "morris or sobol")),
    };
    let all_cores = || std::thread::available_parallelism().map_or(1, usize::from);
    let jobs = jobs.unwrap_or_else(all_cores);
    let (inner, choice) = ((*design.inner).clone(), &design.choice);
    let watch = Watch::new(progress);
    let n_done = AtomicUsize::new(0);
    let share = || n_done.load(Ordering::Relaxed) as f64 / n_runs.max(1) as f64;
    let found = py.detach(|| {
        let work = |must_stop: &AtomicBool| {
            let told = |done: usize| {
                n_done.fetch_max(done, Ordering::Relaxed);
                go_on(must_stop)
            };
            run(inner, choice, (method, seed), (jobs, &told))
        };
        watch.during(work, |py, call| call.call1(py, (share(),)).map(|_| ()))
    });
    match watch.stopped() {
        // What is ranked by a part of the runs would be wrong.
        Some(error) if error.is_instance_of::<PyKeyboardInterrupt>(py) => {
            return Err(Interrupted::new_err("the screening was interrupted"));
        }
        Some(error) => return Err(error),
        None => {}
    }
    let found = found.map_err(|error| match error {
        Refused::Call(message) => {
            let typed = "`--range \"R1=10..50\"`";
            CallError::new_err(message.replace(typed, "ranges={\"R1\": (10, 50)}"))
        }
        why => design.refused(py, why),
    })?;
    Ok((
        screening_to_text(&found),
        screening_to_json(&found).to_string(),
        found.n_runs,
        found.n_failed,
    ))
}
