//! The workspace: texts with their changes, and every answer about them.
//!
//! In:  folders, and what an editor opens, changes and closes.
//! Out: messages, views, edits and all other answers, as pure functions of the texts.
//!
//! Answers are kept as long as every text they were made from is the same; what is kept changes no answer.
//!
//! **Invariant:** a workspace that went through any sequence of changes answers as a new one with the same
//! texts does.

use crate::analysis::{Analysis, Checked};
use crate::document::Document;
use crate::edit::{Edit, Refusal, TextEdit};
use crate::message::{Message, messages_of};
use crate::place::Range;
use crate::view::{View, Whole, bonds_behind, read_model, view_inside, view_of};
use crate::world::{Asked, LIBRARY, Stamp, World, plain};
use paynter::check::Remembered;
use paynter::model::graph::{BondGraph, BondId};
use paynter::model::project::{Loader, Project};
use paynter::syntax::FileId;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// Texts in memory over folders on disk, and answers about them.
#[derive(Clone, Debug, Default)]
pub struct Workspace {
    world: World,
    roots: Vec<PathBuf>,
    /// Copies share what they know: it holds by the stamps of texts, whoever made it.
    kept: Arc<Mutex<Kept>>,
}

/// Answers that may still hold. Those about texts that nobody asked about for long are dropped.
#[derive(Debug, Default)]
struct Kept {
    documents: BTreeMap<String, (Stamp, Arc<Document>)>,
    analyses: BTreeMap<String, Arc<Analysis>>,
    checked: BTreeMap<String, Arc<Checked>>,
    /// Parts of what was checked that hold by the content of items, whatever else of the text changes.
    remembered: BTreeMap<String, Arc<Remembered>>,
    /// Messages, each with what they were made from.
    messages: BTreeMap<String, (Arc<Checked>, Arc<[Message]>)>,
}

/// Texts whose answers are kept at a time: more than anyone has open, and few enough to stay small.
const MAX_KEPT: usize = 64;

/// Texts of which items are remembered: those that somebody types in.
const MAX_REMEMBERED: usize = 8;

/// Folders below a root that are looked into for models.
const MAX_FOLDER_DEPTH: usize = 8;

/// Model files that are listed at most.
const MAX_FILES: usize = 10_000;

impl Workspace {
    /// Starts with folders whose models belong together.
    pub fn new(roots: impl IntoIterator<Item = PathBuf>) -> Self {
        Workspace {
            roots: roots.into_iter().collect(),
            ..Workspace::default()
        }
    }

    /// Takes over a text that an editor opened.
    pub fn open(&mut self, path: &str, text: impl Into<Arc<str>>) {
        self.world.set(path, text);
    }

    /// Takes over a change: the whole new text.
    pub fn change(&mut self, path: &str, text: impl Into<Arc<str>>) {
        self.world.set(path, text);
    }

    /// Gives a text back to the disk.
    pub fn close(&mut self, path: &str) {
        self.world.remove(path);
    }

    /// Gives the folders.
    pub fn roots(&self) -> &[PathBuf] {
        &self.roots
    }

    /// Adds a folder.
    pub fn add_root(&mut self, root: PathBuf) {
        if !self.roots.contains(&root) {
            self.roots.push(root);
        }
    }

    /// Takes a folder away.
    pub fn remove_root(&mut self, root: &Path) {
        self.roots.retain(|r| r != root);
    }

    /// Gives a text: from memory, from the library (`library:electrical`), or from disk.
    pub fn text(&self, path: &str) -> Option<Arc<str>> {
        // A text in memory need not be read to be given.
        match self.world.is_open(path) {
            true => self.world.text(path),
            false => self.document(path).map(|d| d.text.clone()),
        }
    }

    /// Tells whether a text is in memory.
    pub fn is_open(&self, path: &str) -> bool {
        self.world.is_open(path)
    }

    /// Lists the paths of texts in memory.
    pub fn open_files(&self) -> Vec<String> {
        self.world.open_paths().map(str::to_owned).collect()
    }

    /// Lists all models of the workspace: those in memory and those in its folders, sorted.
    pub fn files(&self) -> Vec<String> {
        let mut found: Vec<String> = self.open_files();
        for root in &self.roots {
            let mut open = vec![(root.clone(), 0)];
            while let Some((folder, depth)) = open.pop() {
                let Ok(entries) = std::fs::read_dir(&folder) else {
                    continue;
                };
                for entry in entries.flatten() {
                    let path = entry.path();
                    let name = entry.file_name();
                    let is_hidden = name.to_string_lossy().starts_with('.');
                    let Ok(kind) = entry.file_type() else {
                        continue;
                    };
                    if kind.is_dir() && depth < MAX_FOLDER_DEPTH && !is_hidden {
                        open.push((path, depth + 1));
                    } else if kind.is_file() && path.extension().is_some_and(|e| e == "bond") {
                        found.push(plain(&path.display().to_string()));
                    }
                }
                if found.len() > MAX_FILES {
                    break;
                }
            }
        }
        found.sort_unstable();
        found.dedup();
        found
    }

    /// Reads a text alone; none if there is no such text.
    pub fn document(&self, path: &str) -> Option<Arc<Document>> {
        let path = plain(path);
        let stamp = self.world.stamp(&path);
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((known, document)) = kept.documents.get(&path)
            && *known == stamp
        {
            return Some(document.clone());
        }
        let text = self.world.text(&path)?;
        let parsed = self.world.read(FileId(0), &path, &text);
        let document = Arc::new(Document::of(text, parsed));
        if kept.documents.len() >= MAX_KEPT {
            kept.documents.clear();
        }
        kept.documents.insert(path, (stamp, document.clone()));
        Some(document)
    }

    /// Gives what is known of a text and everything it uses; none if there is no such text.
    pub fn analysis(&self, path: &str) -> Option<Arc<Analysis>> {
        let path = plain(path);
        let known = {
            let kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
            kept.analyses.get(&path).cloned()
        };
        if let Some(known) = known.filter(|a| a.holds(&self.world)) {
            return Some(known);
        }
        let analysis = Arc::new(Analysis::new(&self.world, &path)?);
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.analyses.len() >= MAX_KEPT {
            kept.analyses.clear();
        }
        kept.analyses.insert(path, analysis.clone());
        Some(analysis)
    }

    /// Gives the messages about a text and everything it uses; none if there is no such text.
    pub fn checked(&self, path: &str) -> Option<Arc<Checked>> {
        let path = plain(path);
        let known = {
            let kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
            kept.checked.get(&path).cloned()
        };
        if let Some(known) = known.filter(|c| c.holds(&self.world)) {
            return Some(known);
        }
        let remembered = self.remembered(&path);
        let checked = Arc::new(Checked::new(
            &self.world,
            self.analysis(&path)?,
            &remembered,
        ));
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.checked.len() >= MAX_KEPT {
            kept.checked.clear();
        }
        kept.checked.insert(path, checked.clone());
        Some(checked)
    }

    /// What is remembered of the items of a text from before it was changed.
    fn remembered(&self, path: &str) -> Arc<Remembered> {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.remembered.len() >= MAX_REMEMBERED && !kept.remembered.contains_key(path) {
            kept.remembered.clear();
        }
        kept.remembered.entry(path.to_owned()).or_default().clone()
    }

    /// Tells by what a text is known to be the same.
    pub fn stamp(&self, path: &str) -> Stamp {
        self.world.stamp(path)
    }

    /// Tells whether the texts that were checked are still the same.
    pub fn is_current(&self, checked: &Checked) -> bool {
        checked.holds(&self.world)
    }

    /// Hands out a loader over the texts, for calls of the façade.
    pub fn with_loader<T>(&self, work: impl FnOnce(&mut dyn Loader) -> T) -> T {
        work(&mut Asked::new(&self.world))
    }

    /// Gives a range of a text in all counts.
    pub fn range(&self, path: &str, start: usize, end: usize) -> Range {
        self.document(path)
            .map(|d| d.bytes(start, end))
            .unwrap_or_default()
    }

    /// Gives everything that is wrong with a text, in text order.
    pub fn messages(&self, path: &str) -> Arc<[Message]> {
        let (Some(document), Some(checked)) = (self.document(path), self.checked(path)) else {
            return Arc::default();
        };
        let kept = || self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let path = plain(path);
        if let Some((of, messages)) = kept().messages.get(&path)
            && Arc::ptr_eq(of, &checked)
        {
            return messages.clone();
        }
        let messages: Arc<[Message]> = messages_of(&document, &checked).into();
        let mut kept = kept();
        if kept.messages.len() >= MAX_KEPT {
            kept.messages.clear();
        }
        kept.messages.insert(path, (checked, messages.clone()));
        messages
    }

    /// Lists the models of a text.
    pub fn models(&self, path: &str) -> Vec<String> {
        let Some(document) = self.document(path) else {
            return Vec::new();
        };
        let items = document.parsed.ast.items.iter();
        let models = items.filter_map(|item| match &item.kind {
            paynter::syntax::ast::ItemKind::Model(m) => Some(m.name.text.to_string()),
            _ => None,
        });
        models.collect()
    }

    /// Gives one level of a model as written; none if there is no such model.
    pub fn view(&self, path: &str, model: &str) -> Option<View> {
        let analysis = self.analysis(path)?;
        let messages = self.messages(path);
        let document = self.document(path)?;
        view_of(&analysis, &document, model, &messages)
    }

    /// Gives one level of a model as a part of another one: `way` leads to it from the model `top` of the text `whole`.
    /// Its strokes are those that it has there; none if there is no such part, or the other model has errors.
    pub fn view_inside(
        &self,
        (path, model): (&str, &str),
        (whole, top): (&str, &str),
        way: &[String],
    ) -> Option<View> {
        let analysis = self.analysis(path)?;
        let messages = self.messages(path);
        let document = self.document(path)?;
        let text = (&*analysis, &*document, &*messages);
        view_inside(text, model, (&*self.analysis(whole)?, top), way)
    }

    /// Gives the scalar bonds of a graph behind each bond of a level: `way` leads to the level in that graph, which is one
    /// of `project`. None if there is no such part.
    pub fn bonds_behind(
        &self,
        (path, model): (&str, &str),
        graph: (&BondGraph, &Project),
        way: &[String],
    ) -> Option<Vec<(String, Vec<BondId>)>> {
        let analysis = self.analysis(path)?;
        let document = self.document(path)?;
        let reading = read_model(&analysis, &document, model)?;
        let whole = Whole::inside(graph, &analysis.project, way)?;
        let ids = reading.view.bonds.iter().map(|b| b.id.clone());
        Some(ids.zip(bonds_behind(&reading, &whole)).collect())
    }

    /// Turns an edit of a model's graph into edits of texts; nothing is changed yet.
    ///
    /// # Errors
    ///
    /// Why it cannot be done.
    pub fn edit(&self, path: &str, model: &str, edit: &Edit) -> Result<Vec<TextEdit>, Refusal> {
        crate::edit::edit(self, path, model, edit)
    }

    /// Applies edits to the texts in memory.
    pub fn apply(&mut self, edits: &[TextEdit]) {
        let mut texts: BTreeMap<String, Vec<&TextEdit>> = BTreeMap::new();
        for edit in edits {
            texts.entry(plain(&edit.path)).or_default().push(edit);
        }
        for (path, edits) in texts {
            if let Some(text) = self.text(&path) {
                let text = crate::edit::apply(&text, edits);
                self.world.set(&path, text);
            }
        }
    }

    /// Tells whether a path is that of a library file, which nobody can change.
    pub fn is_library(path: &str) -> bool {
        path.starts_with(LIBRARY)
    }
}
