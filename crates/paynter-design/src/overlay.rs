//! Texts in memory over another source of texts: what an editor holds and has not saved yet.
//!
//! In:  texts by path, and a [`Loader`] for everything else.
//! Out: a [`Loader`] that gives the texts in memory first.
//!
//! **Invariant:** a text in memory gives the same design as the same text in a file.

use crate::library;
use crate::loader::beside;
use paynter_model::project::Loader;
use std::collections::BTreeMap;
use std::path::{Component, Path, PathBuf};

/// Texts in memory, over what another loader finds.
#[derive(Clone, Debug, Default)]
pub struct Overlay<L> {
    texts: BTreeMap<PathBuf, String>,
    below: L,
}

impl<L: Loader> Overlay<L> {
    /// An empty overlay.
    pub fn new(below: L) -> Self {
        Overlay {
            texts: BTreeMap::new(),
            below,
        }
    }

    /// Puts a text at a path, in place of any that was there.
    pub fn set(&mut self, path: impl AsRef<Path>, text: impl Into<String>) {
        self.texts.insert(plain(path.as_ref()), text.into());
    }

    /// Takes the text at a path away: the loader below is asked again.
    pub fn remove(&mut self, path: impl AsRef<Path>) {
        self.texts.remove(&plain(path.as_ref()));
    }

    fn text(&self, path: &str, from: Option<&str>) -> Option<(&PathBuf, &String)> {
        self.texts.get_key_value(&plain(&beside(path, from)))
    }
}

impl<L: Loader> Loader for Overlay<L> {
    fn library(&mut self, name: &str) -> Option<String> {
        self.below.library(name)
    }

    fn file(&mut self, path: &str, from: Option<&str>) -> Result<(String, String), String> {
        match self.text(path, from) {
            Some((path, text)) => Ok((path.display().to_string(), text.clone())),
            None => self.below.file(path, from),
        }
    }

    fn bytes(&mut self, path: &str, from: Option<&str>) -> Result<Vec<u8>, String> {
        match self.text(path, from) {
            Some((_, text)) => Ok(text.clone().into_bytes()),
            None => self.below.bytes(path, from),
        }
    }

    fn libraries(&self) -> Vec<String> {
        self.below.libraries()
    }
}

/// Knows the library that travels inside the program, and no files.
#[derive(Clone, Copy, Debug, Default)]
pub struct LibraryOnly;

impl Loader for LibraryOnly {
    fn library(&mut self, name: &str) -> Option<String> {
        library::library(name).map(str::to_owned)
    }

    fn file(&mut self, _: &str, _: Option<&str>) -> Result<(String, String), String> {
        Err("there is no such file".to_owned())
    }

    fn libraries(&self) -> Vec<String> {
        library::library_names().map(str::to_owned).collect()
    }
}

/// A path without `.` and `..`, so that two ways to write one file meet; the disk is not asked.
fn plain(path: &Path) -> PathBuf {
    let mut out = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir if out.file_name().is_some() => {
                out.pop();
            }
            part => out.push(part),
        }
    }
    out
}
