//! Reads model files from disk and library files from the program.
//!
//! In:  paths as the user or a `use` gives them.
//! Out: texts; a file that is not UTF-8, missing or too large is an explained error.

use crate::library;
use paynter_model::project::Loader;
use std::fs;
use std::io::Read as _;
use std::path::{Path, PathBuf};

/// Largest model file that is read. A model of 10⁶ elements written out flat is about 50 MB.
pub const MAX_FILE_BYTES: u64 = 256 << 20;

/// Looks for files beside the file that names them.
#[derive(Clone, Copy, Debug, Default)]
pub struct DiskLoader;

impl Loader for DiskLoader {
    fn library(&mut self, name: &str) -> Option<String> {
        library::library(name).map(str::to_owned)
    }

    fn file(&mut self, path: &str, from: Option<&str>) -> Result<(String, String), String> {
        let full = beside(path, from);
        let text = to_text(read_bytes(&full, Sort::named_by(from))?)?;
        let canonical = fs::canonicalize(&full).unwrap_or(full);
        Ok((canonical.display().to_string(), text))
    }

    fn bytes(&mut self, path: &str, from: Option<&str>) -> Result<Vec<u8>, String> {
        read_bytes(&beside(path, from), Sort::named_by(from))
    }

    fn libraries(&self) -> Vec<String> {
        library::library_names().map(str::to_owned).collect()
    }
}

/// Gives `path` as seen from the folder of the file `from`.
pub fn beside(path: &str, from: Option<&str>) -> PathBuf {
    let path = Path::new(path);
    match from.and_then(|f| Path::new(f).parent()) {
        Some(folder) if path.is_relative() => folder.join(path),
        _ => path.to_owned(),
    }
}

/// Reads a text file whole.
///
/// # Errors
///
/// Why it cannot be read, in a few words.
pub fn read_text(path: &Path) -> Result<String, String> {
    to_text(read_bytes(path, Sort::Any)?)
}

fn to_text(bytes: Vec<u8>) -> Result<String, String> {
    String::from_utf8(bytes).map_err(|e| {
        format!(
            "is not a text file: byte {} is not UTF-8",
            e.utf8_error().valid_up_to() + 1
        )
    })
}

/// What sort of file may be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sort {
    /// A file on a disk: what a model names. A pipe or device might never end.
    Regular,
    /// Anything: what the user names, such as the output of another program.
    Any,
}

impl Sort {
    /// What may be read for whoever names it: another file, or else the user.
    fn named_by(from: Option<&str>) -> Sort {
        match from {
            Some(_) => Sort::Regular,
            None => Sort::Any,
        }
    }
}

/// Reads a file whole, unless it is too large.
///
/// # Errors
///
/// Why it cannot be read, in a few words.
pub fn read_bytes(path: &Path, sort: Sort) -> Result<Vec<u8>, String> {
    let facts = fs::metadata(path).map_err(|e| plain(&e))?;
    if facts.is_dir() {
        return Err("is a folder, not a file".to_owned());
    }
    if sort == Sort::Regular && !facts.is_file() {
        return Err("is a device or pipe; a model reads files only".to_owned());
    }
    let too_large = || format!("is larger than {} MB", MAX_FILE_BYTES >> 20);
    if facts.len() > MAX_FILE_BYTES {
        return Err(too_large());
    }
    // What has no size, or grows meanwhile, is cut off here.
    let mut bytes = Vec::new();
    let file = fs::File::open(path).map_err(|e| plain(&e))?;
    file.take(MAX_FILE_BYTES + 1)
        .read_to_end(&mut bytes)
        .map_err(|e| plain(&e))?;
    match bytes.len() as u64 > MAX_FILE_BYTES {
        true => Err(too_large()),
        false => Ok(bytes),
    }
}

fn plain(error: &std::io::Error) -> String {
    match error.kind() {
        std::io::ErrorKind::NotFound => "there is no such file".to_owned(),
        std::io::ErrorKind::PermissionDenied => "may not be read".to_owned(),
        _ => error.to_string(),
    }
}
