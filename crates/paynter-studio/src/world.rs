//! The texts that a run reads: those open in the page over those of the folder.
//!
//! **Invariant:** no file outside of the opened folder is read, whatever a model names.

use paynter::loader::{DiskLoader, beside};
use paynter::model::project::Loader;
use paynter::overlay::Overlay;
use std::path::PathBuf;

/// Open texts over the files of a folder.
pub type World = Overlay<Confined>;

/// Makes the world of a run: the folder, and open texts by full path.
pub fn world(root: PathBuf, open: impl IntoIterator<Item = (String, String)>) -> World {
    let mut world = Overlay::new(Confined {
        root,
        disk: DiskLoader::default(),
    });
    for (path, text) in open {
        world.set(path, text);
    }
    world
}

/// Files on disk, none outside of a folder.
#[derive(Clone, Debug)]
pub struct Confined {
    root: PathBuf,
    disk: DiskLoader,
}

impl Confined {
    fn check(&self, path: &str, from: Option<&str>) -> Result<(), String> {
        // What is not there gets its own message when it is read.
        match std::fs::canonicalize(beside(path, from)) {
            Ok(real) if !real.starts_with(&self.root) => Err(format!(
                "lies outside the opened folder {}",
                self.root.display()
            )),
            _ => Ok(()),
        }
    }
}

impl Loader for Confined {
    fn library(&mut self, name: &str) -> Option<String> {
        self.disk.library(name)
    }

    fn file(&mut self, path: &str, from: Option<&str>) -> Result<(String, String), String> {
        self.check(path, from)?;
        self.disk.file(path, from)
    }

    fn bytes(&mut self, path: &str, from: Option<&str>) -> Result<Vec<u8>, String> {
        self.check(path, from)?;
        self.disk.bytes(path, from)
    }

    fn libraries(&self) -> Vec<String> {
        self.disk.libraries()
    }
}
