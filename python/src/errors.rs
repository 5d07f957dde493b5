//! Failures as Python exceptions: the rendered text is the message, the parts are attributes.
//!
//! `messages` has everything as `--json` does; `code`, `file` and `line` are those of the first error.

use paynter::syntax::{Diagnostic, SourceMap, render};
use paynter::{DesignError, Failed, diagnostics_json};
use pyo3::create_exception;
use pyo3::exceptions::{PyException, PyKeyboardInterrupt};
use pyo3::prelude::*;

create_exception!(
    paynter,
    PaynterError,
    PyException,
    "Anything that Paynter refuses. `str()` is the message that the command line shows."
);
create_exception!(
    paynter,
    ModelError,
    PaynterError,
    "The model has errors; see `messages`, `code`, `file`, `line`."
);
create_exception!(
    paynter,
    RunError,
    PaynterError,
    "A run failed; `result` holds what was computed until then."
);
create_exception!(
    paynter,
    CallError,
    PaynterError,
    "The call asks for something that is not there."
);
create_exception!(
    paynter,
    Interrupted,
    PyKeyboardInterrupt,
    "The user interrupted the work; `result` holds what was computed."
);

/// Adds the exceptions to the module.
pub fn register(m: &Bound<'_, PyModule>) -> PyResult<()> {
    let py = m.py();
    m.add("PaynterError", py.get_type::<PaynterError>())?;
    m.add("ModelError", py.get_type::<ModelError>())?;
    m.add("RunError", py.get_type::<RunError>())?;
    m.add("CallError", py.get_type::<CallError>())?;
    m.add("Interrupted", py.get_type::<Interrupted>())
}

/// An exception about the model, with the messages of the command line.
pub fn model_error(py: Python<'_>, messages: &[Diagnostic], sources: &SourceMap) -> PyErr {
    let error = ModelError::new_err(render(messages, sources, false));
    with_messages(py, error, messages, sources)
}

/// An exception about a failed run.
pub fn run_error(py: Python<'_>, messages: &[Diagnostic], sources: &SourceMap) -> PyErr {
    let error = RunError::new_err(render(messages, sources, false));
    with_messages(py, error, messages, sources)
}

/// An exception about a model that could not be designed.
pub fn design_error(py: Python<'_>, error: DesignError) -> PyErr {
    match error {
        DesignError::Unreadable(message) => CallError::new_err(message),
        DesignError::Model(Failed {
            sources,
            diagnostics,
        }) => model_error(py, &diagnostics, &sources),
    }
}

fn with_messages(
    py: Python<'_>,
    error: PyErr,
    messages: &[Diagnostic],
    sources: &SourceMap,
) -> PyErr {
    match attach(py, &error, messages, sources) {
        Ok(()) => error,
        Err(other) => other,
    }
}

fn attach(
    py: Python<'_>,
    error: &PyErr,
    messages: &[Diagnostic],
    sources: &SourceMap,
) -> PyResult<()> {
    let value = error.value(py);
    value.setattr("messages", loads(py, &diagnostics_json(messages, sources))?)?;
    let first = messages.iter().find(|m| m.is_error()).or(messages.first());
    let place = first.and_then(|m| m.primary.as_ref()).map(|label| {
        let (line, _) = sources.line_column(label.span);
        (sources.file(label.span.file).name.clone(), line)
    });
    value.setattr("code", first.map(|m| m.code))?;
    value.setattr("file", place.as_ref().map(|(file, _)| file))?;
    value.setattr("line", place.as_ref().map(|(_, line)| line))
}

/// An option that is none of those there are.
pub fn unknown(option: &str, given: &str, known: &str) -> PyErr {
    CallError::new_err(format!("{option} = {given:?} is not known; use {known}"))
}

/// Reads JSON into plain Python objects.
pub fn loads<'py>(py: Python<'py>, json: &str) -> PyResult<Bound<'py, PyAny>> {
    py.import("json")?.call_method1("loads", (json,))
}
