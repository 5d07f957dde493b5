//! What all windows share: the folder, the open texts, the workspace, and who listens.
//!
//! **Invariant:** the workspace holds the same text as the open texts: both change under one lock, which is
//! taken before that of the workspace.

use crate::folder::Folder;
use crate::texts::Texts;
use crate::wire::Update;
use crate::world::{World, world};
use axum::extract::ws::Message;
use paynter_service::Workspace;
use serde::Serialize;
use serde_json::json;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError, RwLock, RwLockReadGuard};
use tokio::sync::mpsc::UnboundedSender;

/// What goes to one window.
#[derive(Clone, Debug)]
pub struct Out {
    sender: UnboundedSender<Message>,
}

impl Out {
    /// Wraps the sending end of a window's queue.
    pub fn new(sender: UnboundedSender<Message>) -> Self {
        Out { sender }
    }

    /// Sends a text. A window that is gone hears nothing.
    pub fn text(&self, text: String) {
        let _ = self.sender.send(Message::Text(text.into()));
    }

    /// Sends a frame.
    pub fn binary(&self, bytes: Vec<u8>) {
        let _ = self.sender.send(Message::Binary(bytes.into()));
    }

    /// Sends an event.
    pub fn event(&self, event: &impl Serialize) {
        if let Ok(text) = serde_json::to_string(event) {
            self.text(text);
        }
    }
}

/// One listening window.
struct Window {
    out: Out,
    /// Called when a text has changed.
    nudge: Box<dyn Fn(&str) + Send + Sync>,
}

/// What all windows share.
pub struct Hub {
    /// The opened folder.
    pub folder: Folder,
    /// The file named on the command line, below the folder.
    pub opened: Option<String>,
    texts: Mutex<Texts>,
    workspace: RwLock<Workspace>,
    windows: Mutex<BTreeMap<u64, Window>>,
    next_window: AtomicU64,
}

impl Hub {
    /// Starts with a folder.
    pub fn new(folder: Folder, opened: Option<String>) -> Self {
        let root = folder.root().to_owned();
        Hub {
            folder,
            opened,
            texts: Mutex::default(),
            workspace: RwLock::new(Workspace::new([root])),
            windows: Mutex::default(),
            next_window: AtomicU64::new(1),
        }
    }

    /// Gives the full path of a file in the folder.
    ///
    /// # Errors
    ///
    /// The path leads out of the folder.
    pub fn full(&self, path: &str) -> Result<String, String> {
        self.folder.full(path).map(|p| p.display().to_string())
    }

    /// The open texts.
    pub fn texts(&self) -> MutexGuard<'_, Texts> {
        self.texts.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The workspace, to ask.
    pub fn workspace(&self) -> RwLockReadGuard<'_, Workspace> {
        self.workspace
            .read()
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// The version of a text with a copy of the workspace that holds it: nobody who types waits for who reads it.
    pub fn at_version(&self, path: &str) -> (usize, Workspace) {
        let texts = self.texts();
        let version = texts.get(path).map_or(0, crate::texts::Text::version);
        (version, self.workspace().clone())
    }

    /// The texts for a run.
    pub fn world(&self) -> World {
        let texts = self.texts();
        let open = texts
            .iter()
            .filter_map(|(path, text)| Some((self.full(path).ok()?, text.text.clone())));
        world(self.folder.root().to_owned(), open.collect::<Vec<_>>())
    }

    /// Opens a text: (text, version, whether it differs from the disk).
    ///
    /// # Errors
    ///
    /// Why it cannot be opened.
    pub fn open(&self, path: &str) -> Result<(String, usize, bool), String> {
        let full = self.full(path)?;
        let mut texts = self.texts();
        let text = texts.open(&self.folder, path)?;
        let opened = (text.text.clone(), text.version(), text.is_dirty());
        self.put(&full, &opened.0);
        Ok(opened)
    }

    /// Takes steps of a window and tells all; false if others were first.
    ///
    /// # Errors
    ///
    /// A step that does not fit the text.
    pub fn push(&self, path: &str, version: usize, updates: &[Update]) -> Result<bool, String> {
        let full = self.full(path)?;
        let mut texts = self.texts();
        if !texts.push(path, version, updates)? {
            // The window is behind: it gets what it lacks.
            return Ok(false);
        }
        let text = texts.get(path).map(|t| (t.text.clone(), t.version()));
        let (text, version) = text.unwrap_or_default();
        self.put(&full, &text);
        let event =
            json!({ "event": "updates", "path": path, "version": version, "updates": updates });
        let windows = self.windows();
        for window in windows.values() {
            window.out.event(&event);
            (window.nudge)(path);
        }
        Ok(true)
    }

    fn put(&self, full: &str, text: &str) {
        let mut workspace = self
            .workspace
            .write()
            .unwrap_or_else(PoisonError::into_inner);
        if workspace.text(full).as_deref() != Some(text) || !workspace.is_open(full) {
            workspace.change(full, text);
        }
    }

    fn windows(&self) -> MutexGuard<'_, BTreeMap<u64, Window>> {
        self.windows.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Lets a window listen; gives its number.
    pub fn enter(&self, out: Out, nudge: Box<dyn Fn(&str) + Send + Sync>) -> u64 {
        let id = self.next_window.fetch_add(1, Ordering::SeqCst);
        self.windows().insert(id, Window { out, nudge });
        id
    }

    /// A window is gone.
    pub fn leave(&self, id: u64) {
        self.windows().remove(&id);
    }

    /// Tells all windows.
    pub fn tell(&self, event: &impl Serialize) {
        for window in self.windows().values() {
            window.out.event(event);
        }
    }

    /// Looks at the disk once: files that others changed, came or went.
    pub fn look(&self, listed: &mut Vec<crate::wire::Entry>) {
        if self.windows().is_empty() {
            return;
        }
        let news = self.texts().look(&self.folder);
        for (path, state) in news {
            self.tell(&json!({ "event": "disk", "path": path, "state": state }));
        }
        let files = self.folder.list();
        if files != *listed {
            *listed = files;
            self.tell(&json!({ "event": "files", "files": listed }));
        }
    }
}
