//! Amplitude spectra of columns.

use crate::columns::Table;
use crate::errors::{CallError, unknown};
use paynter::spectrum::{
    Window, spectra, spectra_plot, spectra_to_csv, spectra_to_json, spectra_to_text,
};
use pyo3::prelude::*;

/// Amplitude spectra of columns between two times: text, JSON, SVG, CSV.
#[pyfunction]
pub fn spectrum(
    py: Python<'_>,
    table: PyRef<'_, Table>,
    columns: Vec<String>,
    window: &str,
    span: (Option<f64>, Option<f64>),
) -> PyResult<(String, String, String, String)> {
    let window = match window {
        "rectangular" => Window::Rectangular,
        "hann" => Window::Hann,
        "hamming" => Window::Hamming,
        "blackman" => Window::Blackman,
        "flat-top" => Window::FlatTop,
        other => {
            let known = "rectangular, hann, hamming, blackman or flat-top";
            return Err(unknown("window", other, known));
        }
    };
    let held = table.held.clone();
    let found = py.detach(|| spectra((*held).as_ref(), &columns, window, span));
    let found = found.map_err(CallError::new_err)?;
    Ok((
        spectra_to_text(&found),
        spectra_to_json(&found).to_string(),
        spectra_plot(&found, "").to_svg(),
        spectra_to_csv(&found),
    ))
}
