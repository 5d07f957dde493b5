//! The calls of the façade for files on disk.
//!
//! In:  paths as the user gives them.
//! Out: what the same calls over a [`Loader`](paynter_model::project::Loader) give.

use crate::check::{check_in, check_text_in};
use crate::design::{Choice, Design, DesignError, Failed, design_in, experiments_in, format_text};
use crate::lagrangian::{Written, write_lagrangians};
use crate::loader::{DiskLoader, read_text};
use paynter_model::lagrange::Style;
use std::path::Path;

/// Reads a file and elaborates the chosen model.
///
/// # Errors
///
/// The file cannot be read, or the model has errors.
pub fn design(path: &Path, choice: &Choice) -> Result<Design, DesignError> {
    design_in(&mut DiskLoader::default(), &name(path), choice)
}

/// Checks every model and experiment of a file.
///
/// # Errors
///
/// The file cannot be read.
pub fn check(path: &Path) -> Result<Failed, String> {
    check_in(&mut DiskLoader::default(), &name(path))
}

/// Checks a text as if it stood in a file; what it uses is found from there.
pub fn check_text(path: &Path, text: &str) -> Failed {
    check_text_in(&mut DiskLoader::default(), &name(path), text)
}

/// Lists the experiments of a file.
///
/// # Errors
///
/// The file cannot be read, or its text has errors.
pub fn experiments(path: &Path) -> Result<Vec<String>, DesignError> {
    experiments_in(&mut DiskLoader::default(), &name(path))
}

/// Gives the text of a file as `paynter fmt` lays it out; none if it is laid out already.
///
/// # Errors
///
/// The file cannot be read, or its text has errors.
pub fn format_file(path: &Path) -> Result<Option<String>, DesignError> {
    let text =
        read_text(path).map_err(|e| DesignError::Unreadable(format!("{}: {e}", path.display())))?;
    format_text(&name(path), &text).map_err(DesignError::Model)
}

/// Writes the models of the `lagrangian` blocks of a file, or of the one that is named.
///
/// # Errors
///
/// The file cannot be read, has errors, or has no such block.
pub fn lagrangian(path: &Path, model: Option<&str>, style: Style) -> Result<Written, DesignError> {
    write_lagrangians(&mut DiskLoader::default(), &name(path), model, style)
}

fn name(path: &Path) -> String {
    path.display().to_string()
}
