//! Reads model files from disk and library files from the program.
//!
//! In:  paths as the user or a `use` gives them.
//! Out: texts; a file that is not UTF-8, missing, too large or outside the project is an explained error.
//!
//! The user may name any file. A model may name files of its own project only: somebody else's model must not be
//! able to read what lies elsewhere on the disk.

use crate::library;
use paynter_model::project::Loader;
use std::fs;
use std::io::Read as _;
use std::path::{Path, PathBuf};

/// Largest model file that is read. A model of 10⁶ elements written out flat is about 50 MB.
pub const MAX_FILE_BYTES: u64 = 256 << 20;

/// Looks for files beside the file that names them.
#[derive(Clone, Debug, Default)]
pub struct DiskLoader {
    /// The folder whose files a model may name, once the first file is known.
    project: Option<PathBuf>,
}

impl Loader for DiskLoader {
    fn library(&mut self, name: &str) -> Option<String> {
        library::library(name).map(str::to_owned)
    }

    fn file(&mut self, path: &str, from: Option<&str>) -> Result<(String, String), String> {
        let full = self.find(path, from)?;
        let text = to_text(read_bytes(&full, Sort::named_by(from))?)?;
        let canonical = fs::canonicalize(&full).unwrap_or(full);
        Ok((canonical.display().to_string(), text))
    }

    fn bytes(&mut self, path: &str, from: Option<&str>) -> Result<Vec<u8>, String> {
        read_bytes(&self.find(path, from)?, Sort::named_by(from))
    }

    fn can_read(&mut self, path: &str, from: Option<&str>) -> Result<(), String> {
        open_file(&self.find(path, from)?, Sort::named_by(from)).map(drop)
    }

    fn libraries(&self) -> Vec<String> {
        library::library_names().map(str::to_owned).collect()
    }
}

impl DiskLoader {
    /// Gives where a file is; what a model names must lie in its project.
    fn find(&mut self, path: &str, from: Option<&str>) -> Result<PathBuf, String> {
        let full = beside(path, from);
        let main = from.map_or(full.as_path(), Path::new);
        if from.is_none() {
            self.project = None;
        }
        let project = &*self.project.get_or_insert_with(|| project_of(main));

        // What is not there, or no file, gets its own message when it is read.
        let Ok(real) = fs::canonicalize(&full) else {
            return Ok(full);
        };
        if from.is_some() && real.is_file() && !real.starts_with(project) {
            return Err(format!(
                "is outside the project folder {}; move it there, or mark the folder that holds both with an empty file `paynter.toml`",
                project.display()
            ));
        }
        Ok(full)
    }
}

/// The folder whose files a model may name: the nearest one above it with a `paynter.toml` or a `.git`; else the
/// folder the user works in, if the model lies below it; else the model's own.
fn project_of(main: &Path) -> PathBuf {
    let folder = main.parent().filter(|f| !f.as_os_str().is_empty());
    let folder = folder.unwrap_or(Path::new("."));
    let folder = fs::canonicalize(folder).unwrap_or_else(|_| folder.to_owned());
    let marked = |f: &&Path| f.join("paynter.toml").exists() || f.join(".git").exists();
    if let Some(project) = folder.ancestors().find(marked) {
        return project.to_owned();
    }

    // The top of a disk and a home folder are places to start from, not projects.
    let home = std::env::var_os("HOME").map(PathBuf::from);
    let working = std::env::current_dir().and_then(fs::canonicalize);
    match working {
        Ok(w) if folder.starts_with(&w) && w.parent().is_some() && Some(&w) != home.as_ref() => w,
        _ => folder,
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
    let file = open_file(path, sort)?;
    // What has no size, or grows meanwhile, is cut off here.
    let mut bytes = Vec::new();
    file.take(MAX_FILE_BYTES + 1)
        .read_to_end(&mut bytes)
        .map_err(|e| plain(&e))?;
    match bytes.len() as u64 > MAX_FILE_BYTES {
        true => Err(too_large()),
        false => Ok(bytes),
    }
}

/// Opens a file that may be read.
fn open_file(path: &Path, sort: Sort) -> Result<fs::File, String> {
    let facts = fs::metadata(path).map_err(|e| plain(&e))?;
    if facts.is_dir() {
        return Err("is a folder, not a file".to_owned());
    }
    if sort == Sort::Regular && !facts.is_file() {
        return Err("is a device or pipe; a model reads files only".to_owned());
    }
    if facts.len() > MAX_FILE_BYTES {
        return Err(too_large());
    }
    fs::File::open(path).map_err(|e| plain(&e))
}

fn too_large() -> String {
    format!("is larger than {} MB", MAX_FILE_BYTES >> 20)
}

fn plain(error: &std::io::Error) -> String {
    match error.kind() {
        std::io::ErrorKind::NotFound => "there is no such file".to_owned(),
        std::io::ErrorKind::PermissionDenied => "may not be read".to_owned(),
        _ => error.to_string(),
    }
}
