//! Models written anew: with fewer elements, without coordinates, in scalar bonds; and models of other programs.
//!
//! In:  texts by path, and what is wished.
//! Out: the new text with its steps, names and proof. A text without a proof that holds is an exception.

use crate::design::{Texts, world};
use crate::errors::{CallError, design_error, model_error};
use paynter::DesignError;
use paynter::loader::DiskLoader;
use paynter::overlay::Overlay;
use paynter::syntax::render;
use paynter_rewrite::{RULES, Reduction, Rewritten, Wish};
use pyo3::prelude::*;

/// Text; rule and words of each step; old names and new ones; what could not be done; lines about all of it; the proof: its
/// line, largest difference, number of points, experiments that were run.
type Told = (
    String,
    Vec<(String, String)>,
    Vec<(String, String)>,
    Vec<String>,
    Vec<String>,
    Option<(String, f64, usize, Vec<String>)>,
);

/// The model with fewer junctions and elements.
#[pyfunction]
#[pyo3(signature = (path, texts, *, model, only))]
pub fn simplify(
    py: Python<'_>,
    path: &str,
    texts: Texts,
    model: Option<String>,
    only: Vec<String>,
) -> PyResult<Told> {
    let known: Vec<&str> = RULES.iter().map(|r| r.0).collect();
    if let Some(unknown) = only.iter().find(|o| !known.contains(&o.as_str())) {
        return Err(CallError::new_err(format!(
            "there is no rule `{unknown}`; the rules are {}",
            known.join(", ")
        )));
    }
    let wish = Wish {
        model,
        experiment: None,
    };
    rewritten(py, texts, |world| {
        paynter_rewrite::simplify(world, path, &wish, &only)
    })
}

/// The model without coordinates whose momentum is conserved, under assumptions, or with dependent inertias moved.
#[pyfunction]
#[pyo3(signature = (path, texts, *, model, experiment, cyclic, assume, minimal))]
pub fn reduce(
    py: Python<'_>,
    path: &str,
    texts: Texts,
    model: Option<String>,
    experiment: Option<String>,
    cyclic: Vec<String>,
    assume: Vec<String>,
    minimal: Option<Vec<String>>,
) -> PyResult<Told> {
    let wish = Wish { model, experiment };
    let what = Reduction { cyclic };
    rewritten(py, texts, |world| match (minimal, assume.is_empty()) {
        (Some(inertias), _) => paynter_rewrite::minimal(world, path, &wish, &inertias),
        (None, true) => paynter_rewrite::reduce(world, path, &wish, &what),
        (None, false) => paynter_rewrite::assume(world, path, &wish, &assume),
    })
}

/// The model in scalar bonds.
#[pyfunction]
#[pyo3(signature = (path, texts, *, model, experiment=None))]
pub fn scalarize(
    py: Python<'_>,
    path: &str,
    texts: Texts,
    model: Option<String>,
    experiment: Option<String>,
) -> PyResult<Told> {
    let wish = Wish { model, experiment };
    rewritten(py, texts, |world| {
        paynter_rewrite::scalarize(world, path, &wish)
    })
}

fn rewritten(
    py: Python<'_>,
    texts: Texts,
    call: impl FnOnce(&mut Overlay<DiskLoader>) -> Result<Rewritten, DesignError> + Send,
) -> PyResult<Told> {
    let written = py.detach(|| call(&mut world(texts)));
    let written = written.map_err(|e| design_error(py, e))?;
    if let Some(failed) = written.failed() {
        return Err(model_error(py, &failed.diagnostics, &failed.sources));
    }
    let steps = written.steps.iter();
    let proof = written.proof.as_ref();
    Ok((
        written.text.clone(),
        steps.map(|s| (s.rule.to_owned(), s.text.clone())).collect(),
        written.map.clone(),
        written.refused.clone(),
        written.lines(),
        proof.map(|p| (p.line(), p.largest, p.n_points, p.runs.clone())),
    ))
}

/// The model of a robot in URDF, and what was not taken over.
#[pyfunction]
pub fn import_urdf(py: Python<'_>, name: &str, text: &str) -> PyResult<(String, String)> {
    let imported = py.detach(|| paynter_import::import_urdf(name, text));
    match imported.text {
        Some(text) => Ok((
            text,
            render(&imported.diagnostics, &imported.sources, false),
        )),
        None => Err(model_error(py, &imported.diagnostics, &imported.sources)),
    }
}
