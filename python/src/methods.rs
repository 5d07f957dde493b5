//! One experiment under every treatment of its locks, side by side.

use crate::design::Design;
use crate::errors::Interrupted;
use crate::watch::Watch;
use paynter::methods::{all_methods, compare_methods as compare, to_json, to_text};
use paynter::syntax::render;
use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::prelude::*;
use std::ops::ControlFlow;

/// Runs all methods: text, JSON, and why a method has no run.
#[pyfunction]
#[pyo3(signature = (design, *, progress))]
pub fn compare_methods(
    py: Python<'_>,
    design: PyRef<'_, Design>,
    progress: Option<Py<PyAny>>,
) -> PyResult<(String, String, String)> {
    let inner = &design.inner;
    let (start, stop) = (inner.plan.start, inner.plan.stop);
    let methods = all_methods(inner);
    let watch = Watch::new(progress);
    let runs = py.detach(|| {
        // A time that steps back is the next method's.
        let (mut n_done, mut latest) = (0.0, start);
        let mut look = |t: f64| -> ControlFlow<()> {
            if t < std::mem::replace(&mut latest, t) {
                n_done += 1.0;
            }
            let done = n_done + (t - start) / (stop - start);
            watch.look((done / methods.len() as f64).min(1.0))
        };
        compare(inner, &methods, &mut look)
    });
    match watch.stopped() {
        Some(error) if error.is_instance_of::<PyKeyboardInterrupt>(py) => {
            return Err(Interrupted::new_err("the comparison was interrupted"));
        }
        Some(error) => return Err(error),
        None => {}
    }
    let reasons = runs.iter().filter_map(|r| r.result.as_ref().err());
    let reasons: Vec<_> = reasons.flatten().cloned().collect();
    Ok((
        to_text(inner, &runs),
        to_json(inner, &runs).to_string(),
        render(&reasons, &inner.project.sources, false),
    ))
}
