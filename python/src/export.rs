//! Models for other programs: FMUs, C code, the bond graph of a Lagrangian; and the pages of library parts.

use crate::design::{Design, Texts, world};
use crate::errors::{CallError, design_error, unknown};
use paynter::lagrangian::write_lagrangians;
use paynter::model::lagrange::Style;
use paynter::output;
use paynter::syntax::render;
use paynter_export::{c, fmu};
use paynter_service::part::{part_page, parts};
use pyo3::prelude::*;
use std::path::{Path, PathBuf};

/// Writes an FMU: warnings, and its platform; none where it has sources only.
#[pyfunction]
#[pyo3(signature = (design, path, *, fmi, sources_only))]
pub fn export_fmu(
    py: Python<'_>,
    design: PyRef<'_, Design>,
    path: PathBuf,
    fmi: u8,
    sources_only: bool,
) -> PyResult<(String, Option<String>)> {
    let version = match fmi {
        2 => fmu::Version::Two,
        3 => fmu::Version::Three,
        other => return Err(CallError::new_err(format!("fmi is 2 or 3, not {other}"))),
    };
    may_write(&design, &path, "fmu")?;
    let (inner, choice) = (&design.inner, &design.choice);
    let made = py.detach(|| {
        let export = paynter_export::export_audited(inner, choice)?;
        let options = fmu::Options {
            version,
            is_sources_only: sources_only,
        };
        let made = fmu::write(&export, &options);
        Ok((export.warnings, made))
    });
    let (warnings, made) = made.map_err(|m: Vec<_>| design.wrong(py, &m))?;
    let made = made.map_err(CallError::new_err)?;
    write(&path, &made.bytes)?;
    let mut told = render(&warnings, &inner.project.sources, false);
    if let Some(reason) = made.no_binary.filter(|_| !sources_only) {
        told.push_str(&format!(
            "warning: {} has sources and no binary: {reason}\n",
            path.display()
        ));
    }
    Ok((told, made.platform))
}

/// Writes C code: warnings, and the path of the header beside the source.
#[pyfunction]
#[pyo3(signature = (design, path, *, is_float))]
pub fn export_c(
    py: Python<'_>,
    design: PyRef<'_, Design>,
    path: PathBuf,
    is_float: bool,
) -> PyResult<(String, PathBuf)> {
    may_write(&design, &path, "c")?;
    let inner = &design.inner;
    let options = c::Options {
        is_float,
        prefix: path.file_stem().map(|s| s.to_string_lossy().into_owned()),
    };
    let made = py.detach(|| {
        let export = paynter_export::export(inner)?;
        let files = c::write(&export, &options);
        Ok((export.warnings, files))
    });
    let (warnings, files) = made.map_err(|m: Vec<_>| design.wrong(py, &m))?;
    // The source names the header by what all its names begin with.
    let header = path.with_file_name(format!("{}.h", files.prefix));
    may_write(&design, &header, "h")?;
    write(&path, files.source.as_bytes())?;
    write(&header, files.header.as_bytes())?;
    Ok((render(&warnings, &inner.project.sources, false), header))
}

/// Refuses another ending, and files that the model is made of.
fn may_write(design: &Design, path: &Path, ending: &str) -> PyResult<()> {
    let is_right = path
        .extension()
        .is_some_and(|e| e.eq_ignore_ascii_case(ending));
    if !is_right {
        let message = format!("unknown ending of {}; use .{ending}", path.display());
        return Err(CallError::new_err(message));
    }
    let wrong = |e: output::FileError| CallError::new_err(e.to_string());
    design.inner.guard().check(path).map_err(wrong)?;
    output::can_write(path).map_err(wrong)
}

fn write(path: &Path, bytes: &[u8]) -> PyResult<()> {
    let made = output::make_folder(path).and_then(|_| output::write_whole(path, bytes));
    made.map_err(|e| CallError::new_err(e.to_string()))
}

/// One model that was derived: its name, the line of its proof, the proof's largest difference and number of points, whether
/// it holds, its gyrators, its cyclic coordinates, where its inertia vanishes.
type Proved = (
    String,
    String,
    f64,
    usize,
    bool,
    usize,
    Vec<String>,
    Vec<String>,
);

/// The text with models in place of `lagrangian` blocks, and the models.
#[pyfunction]
#[pyo3(signature = (path, texts, *, model, gyrators))]
pub fn lagrangian(
    py: Python<'_>,
    path: &str,
    texts: Texts,
    model: Option<&str>,
    gyrators: &str,
) -> PyResult<(String, Vec<Proved>)> {
    let style = match gyrators {
        "ring" => Style::Ring,
        "factored" => Style::Factored,
        "coordinate" => Style::Coordinate,
        other => return Err(unknown("gyrators", other, "ring, factored or coordinate")),
    };
    let written = py.detach(|| write_lagrangians(&mut world(texts), path, model, style));
    let written = written.map_err(|e| design_error(py, e))?;
    let models = written.models.into_iter().map(|(derived, proof)| {
        (
            derived.name,
            proof.line(),
            proof.largest,
            proof.n_points,
            proof.holds(),
            derived.n_gyrators,
            derived.cyclic,
            derived.singular,
        )
    });
    Ok((written.text, models.collect()))
}

/// The page of a part: ports, parameters, an example.
#[pyfunction]
#[pyo3(signature = (part, file=None))]
pub fn doc(py: Python<'_>, part: &str, file: Option<&str>) -> PyResult<String> {
    py.detach(|| part_page(part, file))
        .map_err(CallError::new_err)
}

/// All parts: library, name, first line of the description.
#[pyfunction]
#[pyo3(signature = (file=None))]
pub fn all_parts(py: Python<'_>, file: Option<&str>) -> Vec<(String, String, String)> {
    py.detach(|| parts(file))
}
