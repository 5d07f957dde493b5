//! The texts of a workspace: what editors hold, over what lies on disk.
//!
//! In:  texts by path, and folders.
//! Out: a [`Loader`] over them that notes what it was asked for.
//!
//! **Invariant:** two ways to write a path meet in one text; an answer that was made from texts with
//! these stamps holds as long as the stamps do.

use paynter::loader::{DiskLoader, beside};
use paynter::model::project::{Loader, ReadText};
use paynter::syntax::FileId;
use std::collections::BTreeMap;
use std::path::{Component, Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

/// Texts in memory, each with the number of the change that made it.
#[derive(Clone, Debug, Default)]
pub struct World {
    texts: BTreeMap<String, (u64, Arc<str>)>,
    n_changes: u64,
    /// Texts that were read, by their number in a project and their name. Copies share them: a text is what it is.
    read: Arc<Mutex<BTreeMap<(u32, String), Known>>>,
}

/// A text and what reading it gave.
type Known = (Arc<str>, Arc<ReadText>);

/// Texts that are kept as read: those of a few projects with their libraries.
const MAX_READ: usize = 256;

/// By what it is known that a text has not changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stamp {
    /// In memory: the number of its last change.
    Open(u64),
    /// On disk: when it was written and how long it is.
    Disk(Option<SystemTime>, u64),
    /// Not there.
    Missing,
}

impl World {
    /// Puts a text at a path.
    pub fn set(&mut self, path: &str, text: impl Into<Arc<str>>) {
        self.n_changes += 1;
        self.texts
            .insert(plain(path), (self.n_changes, text.into()));
    }

    /// Takes a text away: the disk is asked again.
    pub fn remove(&mut self, path: &str) {
        self.texts.remove(&plain(path));
    }

    /// Gives a text: from memory, from the library, or from disk.
    pub fn text(&self, path: &str) -> Option<Arc<str>> {
        let path = plain(path);
        if let Some((_, text)) = self.texts.get(&path) {
            return Some(text.clone());
        }
        if let Some(name) = path.strip_prefix(LIBRARY) {
            return paynter::library::library(name).map(Arc::from);
        }
        let text = paynter::loader::read_text(Path::new(&path)).ok()?;
        Some(text.into())
    }

    /// Reads a text that is this file of a project, or gives what reading the same text gave before.
    pub fn read(&self, file: FileId, name: &str, text: &str) -> Arc<ReadText> {
        let key = (file.0, name.to_owned());
        let kept = || self.read.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((known, read)) = kept().get(&key)
            && **known == *text
        {
            return read.clone();
        }
        let read = Arc::new(ReadText::new(file, text));
        let mut kept = kept();
        if kept.len() >= MAX_READ {
            kept.clear();
        }
        kept.insert(key, (Arc::from(text), read.clone()));
        read
    }

    /// Lists the paths of texts in memory.
    pub fn open_paths(&self) -> impl Iterator<Item = &str> {
        self.texts.keys().map(String::as_str)
    }

    /// Tells whether a text is in memory.
    pub fn is_open(&self, path: &str) -> bool {
        self.texts.contains_key(&plain(path))
    }

    /// Gives the stamp of a text as it is now.
    pub fn stamp(&self, path: &str) -> Stamp {
        let path = plain(path);
        if let Some((change, _)) = self.texts.get(&path) {
            return Stamp::Open(*change);
        }
        if path.starts_with(LIBRARY) {
            return Stamp::Disk(None, 0);
        }
        match std::fs::metadata(&path) {
            Ok(facts) => Stamp::Disk(facts.modified().ok(), facts.len()),
            Err(_) => Stamp::Missing,
        }
    }
}

/// Before the name of a library file, in paths: `library:electrical`.
pub const LIBRARY: &str = "library:";

/// A path without `.` and `..`; the disk is not asked.
pub fn plain(path: &str) -> String {
    if path.starts_with(LIBRARY) {
        return path.to_owned();
    }
    let mut out = PathBuf::new();
    for part in Path::new(path).components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir if out.file_name().is_some() => {
                out.pop();
            }
            part => out.push(part),
        }
    }
    out.display().to_string()
}

/// Finds texts for one answer and notes which.
pub struct Asked<'w> {
    world: &'w World,
    disk: DiskLoader,
    /// Every text that was asked for, there or not.
    pub asked: Vec<(String, Stamp)>,
}

impl<'w> Asked<'w> {
    /// Starts with nothing asked.
    pub fn new(world: &'w World) -> Self {
        Asked {
            world,
            disk: DiskLoader::default(),
            asked: Vec::new(),
        }
    }

    fn note(&mut self, path: &str) {
        if !self.asked.iter().any(|(p, _)| p == path) {
            let stamp = self.world.stamp(path);
            self.asked.push((path.to_owned(), stamp));
        }
    }

    fn full(path: &str, from: Option<&str>) -> String {
        // What a library names would lie beside it, and nothing does.
        let from = from.filter(|f| !f.starts_with(LIBRARY));
        plain(&beside(path, from).display().to_string())
    }
}

impl Loader for Asked<'_> {
    fn library(&mut self, name: &str) -> Option<String> {
        self.disk.library(name)
    }

    fn file(&mut self, path: &str, from: Option<&str>) -> Result<(String, String), String> {
        let full = Self::full(path, from);
        self.note(&full);
        if let Some((_, text)) = self.world.texts.get(&full) {
            return Ok((full, text.to_string()));
        }
        let (_, text) = self.disk.file(&full, from)?;
        Ok((full, text))
    }

    fn bytes(&mut self, path: &str, from: Option<&str>) -> Result<Vec<u8>, String> {
        if let Some(name) = path.strip_prefix(LIBRARY) {
            let text = self.disk.library(name);
            return text
                .map(String::into_bytes)
                .ok_or_else(|| "there is no such library".to_owned());
        }
        let full = Self::full(path, from);
        self.note(&full);
        match self.world.texts.get(&full) {
            Some((_, text)) => Ok(text.to_string().into_bytes()),
            None => self.disk.bytes(&full, from),
        }
    }

    fn can_read(&mut self, path: &str, from: Option<&str>) -> Result<(), String> {
        if path.starts_with(LIBRARY) {
            return self.bytes(path, from).map(drop);
        }
        let full = Self::full(path, from);
        self.note(&full);
        match self.world.texts.contains_key(&full) {
            true => Ok(()),
            false => self.disk.can_read(&full, from),
        }
    }

    fn libraries(&self) -> Vec<String> {
        self.disk.libraries()
    }

    fn read(&mut self, file: FileId, name: &str, text: &str) -> Arc<ReadText> {
        self.world.read(file, name, text)
    }
}
