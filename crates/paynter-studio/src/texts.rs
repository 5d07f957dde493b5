//! The open texts: each with its version, the steps that led to it, and what is on disk.
//!
//! In:  steps of windows, each based on a version.
//! Out: one order of steps for all windows; a step based on an older version is refused, and its window
//!      moves it over the newer ones.
//!
//! **Invariant:** the text is what the steps make of the first text; the version is the number of steps.

use crate::changes;
use crate::folder::{Folder, Stamp};
use crate::wire::Update;
use std::collections::BTreeMap;

/// One open text.
#[derive(Debug)]
pub struct Text {
    /// As the editors have it: lines end with `\n`.
    pub text: String,
    /// Steps since it was opened.
    pub steps: Vec<Update>,
    /// What was last read from or written to disk.
    saved: String,
    /// The file then.
    pub stamp: Stamp,
    /// Every line of the file ends with `\r\n`.
    has_returns: bool,
    /// What was last said about the file: `same`, `changed` or `deleted`.
    pub told: &'static str,
}

impl Text {
    fn new(raw: &str, stamp: Stamp) -> Self {
        // A file with mixed endings stays as it is, character by character.
        let has_returns =
            raw.contains('\n') && raw.matches('\n').count() == raw.matches("\r\n").count();
        let text = if has_returns {
            raw.replace("\r\n", "\n")
        } else {
            raw.to_owned()
        };
        Text {
            saved: text.clone(),
            text,
            steps: Vec::new(),
            stamp,
            has_returns,
            told: "same",
        }
    }

    /// Gives the version.
    pub fn version(&self) -> usize {
        self.steps.len()
    }

    /// Tells whether the text differs from the one on disk.
    pub fn is_dirty(&self) -> bool {
        self.text != self.saved
    }

    /// Gives the text as it goes to disk.
    fn raw(&self) -> String {
        if self.has_returns {
            self.text.replace('\n', "\r\n")
        } else {
            self.text.clone()
        }
    }
}

/// All open texts of a folder, by path.
#[derive(Debug, Default)]
pub struct Texts {
    open: BTreeMap<String, Text>,
}

impl Texts {
    /// Gives an open text.
    pub fn get(&self, path: &str) -> Option<&Text> {
        self.open.get(path)
    }

    /// Lists open texts.
    pub fn iter(&self) -> impl Iterator<Item = (&String, &Text)> {
        self.open.iter()
    }

    /// Opens a text, or gives the one that is open.
    ///
    /// # Errors
    ///
    /// Why it cannot be read.
    pub fn open(&mut self, folder: &Folder, path: &str) -> Result<&Text, String> {
        if !self.open.contains_key(path) {
            let stamp = folder.stamp(path);
            let raw = folder.read(path)?;
            self.open.insert(path.to_owned(), Text::new(&raw, stamp));
        }
        self.open.get(path).ok_or_else(|| not_open(path))
    }

    /// Takes steps that are based on a version: true if they were taken, false if others were first.
    ///
    /// # Errors
    ///
    /// A step that does not fit the text; then none is taken.
    pub fn push(&mut self, path: &str, version: usize, updates: &[Update]) -> Result<bool, String> {
        let text = self.open.get_mut(path).ok_or_else(|| not_open(path))?;
        if version != text.version() {
            return Ok(false);
        }
        let mut next = text.text.clone();
        for update in updates {
            next = changes::apply(&next, &update.changes)?;
        }
        text.text = next;
        text.steps.extend_from_slice(updates);
        Ok(true)
    }

    /// Writes a text to disk; false if the file has changed meanwhile and that is not to be written over.
    ///
    /// # Errors
    ///
    /// Why it cannot be written.
    pub fn save(&mut self, folder: &Folder, path: &str, over: bool) -> Result<bool, String> {
        let text = self.open.get_mut(path).ok_or_else(|| not_open(path))?;
        if !over && folder.stamp(path) != text.stamp {
            return Ok(false);
        }
        folder.write(path, &text.raw())?;
        text.saved.clone_from(&text.text);
        text.stamp = folder.stamp(path);
        text.told = "same";
        Ok(true)
    }

    /// Looks for files that changed on disk: (path, what is to be said).
    pub fn look(&mut self, folder: &Folder) -> Vec<(String, &'static str)> {
        let mut news = Vec::new();
        for (path, text) in &mut self.open {
            let stamp = folder.stamp(path);
            let state = match (&stamp, stamp == text.stamp) {
                (_, true) => "same",
                (None, _) => "deleted",
                (Some(_), false) => match folder.read(path) {
                    // Touched, or written by ourselves: the same text is no news.
                    Ok(raw) if raw == text.raw() => {
                        text.stamp = stamp;
                        text.saved.clone_from(&text.text);
                        "same"
                    }
                    _ => "changed",
                },
            };
            if state != text.told {
                text.told = state;
                news.push((path.clone(), state));
            }
        }
        news
    }
}

fn not_open(path: &str) -> String {
    format!("{path} is not open")
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn scratch(name: &str, text: &str) -> (Folder, std::path::PathBuf) {
        let root =
            std::env::temp_dir().join(format!("paynter_texts_{name}_{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&root);
        std::fs::create_dir_all(&root).expect("made");
        std::fs::write(root.join("m.bond"), text).expect("written");
        (Folder::open(&root).expect("opens"), root)
    }

    fn step(changes: serde_json::Value) -> Update {
        Update {
            client: "a".to_owned(),
            changes,
        }
    }

    #[test]
    fn a_step_behind_another_is_refused() {
        let (folder, root) = scratch("order", "abc");
        let mut texts = Texts::default();
        texts.open(&folder, "m.bond").expect("opens");
        assert_eq!(
            texts.push("m.bond", 0, &[step(json!([[0, "x"], 3]))]),
            Ok(true)
        );
        assert_eq!(
            texts.push("m.bond", 0, &[step(json!([3, [0, "y"]]))]),
            Ok(false)
        );
        assert!(texts.push("m.bond", 1, &[step(json!([99]))]).is_err());
        assert_eq!(texts.get("m.bond").expect("open").text, "xabc");
        let _ = std::fs::remove_dir_all(root);
    }

    #[test]
    fn a_file_changed_meanwhile_is_not_written_over() {
        let (folder, root) = scratch("disk", "one\r\ntwo\r\n");
        let mut texts = Texts::default();
        texts.open(&folder, "m.bond").expect("opens");
        assert_eq!(
            texts.push("m.bond", 0, &[step(json!([[3, "ONE"], 5]))]),
            Ok(true)
        );
        assert!(texts.look(&folder).is_empty());
        std::fs::write(root.join("m.bond"), "other text").expect("written");
        assert_eq!(texts.look(&folder), [("m.bond".to_owned(), "changed")]);
        assert_eq!(texts.save(&folder, "m.bond", false), Ok(false));
        assert_eq!(
            std::fs::read_to_string(root.join("m.bond")).expect("read"),
            "other text"
        );
        assert_eq!(texts.save(&folder, "m.bond", true), Ok(true));
        // Line ends stay those of the file.
        assert_eq!(
            std::fs::read_to_string(root.join("m.bond")).expect("read"),
            "ONE\r\ntwo\r\n"
        );
        std::fs::remove_file(root.join("m.bond")).expect("removed");
        assert_eq!(texts.look(&folder), [("m.bond".to_owned(), "deleted")]);
        assert_eq!(texts.save(&folder, "m.bond", true), Ok(true));
        assert!(texts.get("m.bond").is_some_and(|t| !t.is_dirty()));
        let _ = std::fs::remove_dir_all(root);
    }
}
