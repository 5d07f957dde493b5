//! The opened folder: what lies in it, reading and writing its files, and nothing outside of it.
//!
//! In:  paths below the folder, with `/`.
//! Out: texts, or why not; listings; stamps by which a change on disk is seen.
//!
//! **Invariant:** no path leads out of the folder, not by `..`, not by a link, not by being absolute.

use crate::wire::Entry;
use paynter::output::{make_folder, write_new, write_whole};
use std::fs;
use std::path::{Component, Path, PathBuf};
use std::time::SystemTime;

/// Largest text that is opened in the page: an editor with more lines than that helps nobody.
pub const MAX_OPEN_BYTES: u64 = 4 << 20;
/// Entries that are listed at most, and folders below each other.
const MAX_ENTRIES: usize = 2_000;
const MAX_DEPTH: usize = 6;

/// A folder that was opened.
#[derive(Clone, Debug)]
pub struct Folder {
    /// Without links.
    root: PathBuf,
}

/// When a file was written and how long it is; none if it is not there.
pub type Stamp = Option<(Option<SystemTime>, u64)>;

impl Folder {
    /// Opens a folder.
    ///
    /// # Errors
    ///
    /// Why it cannot be opened.
    pub fn open(path: &Path) -> Result<Self, String> {
        let why = |e: std::io::Error| format!("{}: {}", path.display(), plain(&e));
        let root = fs::canonicalize(path).map_err(why)?;
        fs::read_dir(&root).map_err(why)?;
        Ok(Folder { root })
    }

    /// Gives the folder itself.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Gives the full path of a file in the folder; it need not exist.
    ///
    /// # Errors
    ///
    /// The path leads out of the folder.
    pub fn full(&self, path: &str) -> Result<PathBuf, String> {
        let outside = || format!("{path} lies outside the opened folder");
        let parts = Path::new(path).components();
        if path.is_empty() || parts.clone().any(|c| !matches!(c, Component::Normal(_))) {
            return Err(outside());
        }
        let full = self.root.join(path);
        // What exists of the way must not lead out by a link.
        let mut exists = full.as_path();
        while fs::symlink_metadata(exists).is_err() {
            exists = exists.parent().ok_or_else(outside)?;
        }
        let real = fs::canonicalize(exists).map_err(|_| outside())?;
        if real.starts_with(&self.root) {
            Ok(full)
        } else {
            Err(outside())
        }
    }

    /// Reads a text.
    ///
    /// # Errors
    ///
    /// Why it cannot be read.
    pub fn read(&self, path: &str) -> Result<String, String> {
        let full = self.full(path)?;
        let size = fs::metadata(&full)
            .map_err(|e| format!("{path}: {}", plain(&e)))?
            .len();
        if size > MAX_OPEN_BYTES {
            return Err(format!("{path}: {}", too_large(size)));
        }
        paynter::loader::read_text(&full).map_err(|why| format!("{path}: {why}"))
    }

    /// Writes a text so that a broken-off write leaves the old one.
    ///
    /// # Errors
    ///
    /// Why it cannot be written.
    pub fn write(&self, path: &str, text: &str) -> Result<(), String> {
        let full = self.full(path)?;
        write_whole(&full, text.as_bytes()).map_err(|e| e.to_string())
    }

    /// Writes a text where nothing was.
    ///
    /// # Errors
    ///
    /// Why it cannot be written.
    pub fn write_new(&self, path: &str, text: &str) -> Result<(), String> {
        let full = self.full(path)?;
        make_folder(&full).map_err(|e| e.to_string())?;
        write_new(&full, text.as_bytes()).map_err(|e| e.to_string())
    }

    /// Gives the stamp of a file.
    pub fn stamp(&self, path: &str) -> Stamp {
        let facts = fs::metadata(self.full(path).ok()?).ok()?;
        Some((facts.modified().ok(), facts.len()))
    }

    /// Lists models and folders that hold some, sorted, folders first.
    pub fn list(&self) -> Vec<Entry> {
        let mut entries = Vec::new();
        self.list_below(&self.root, "", 0, &mut entries);
        entries
    }

    fn list_below(&self, folder: &Path, prefix: &str, depth: usize, entries: &mut Vec<Entry>) {
        let Ok(found) = fs::read_dir(folder) else {
            return;
        };
        let mut found: Vec<_> = found.flatten().collect();
        found.sort_by_key(|e| (!e.path().is_dir(), e.file_name()));
        for entry in found {
            let name = entry.file_name().to_string_lossy().into_owned();
            let path = format!("{prefix}{name}");
            let Ok(kind) = entry.file_type() else {
                continue;
            };
            if entries.len() >= MAX_ENTRIES || name.starts_with('.') {
                continue;
            }
            let row = |kind, trouble| Entry {
                path: path.clone(),
                name: name.clone(),
                depth,
                kind,
                trouble,
            };
            if kind.is_dir() && !["target", "node_modules"].contains(&name.as_str()) {
                let trouble = fs::read_dir(entry.path())
                    .err()
                    .map(|e| plain(&e))
                    .unwrap_or_default();
                let at = entries.len();
                entries.push(row("folder", trouble.clone()));
                if depth < MAX_DEPTH {
                    self.list_below(&entry.path(), &format!("{path}/"), depth + 1, entries);
                }
                // A folder without models is not shown.
                if entries.len() == at + 1 && trouble.is_empty() {
                    entries.pop();
                }
            } else if name.ends_with(".bond") && self.full(&path).is_ok() {
                entries.push(row("model", file_trouble(&entry.path())));
            }
        }
    }
}

/// Why a file cannot be opened; empty if it can.
fn file_trouble(path: &Path) -> String {
    match fs::File::open(path).and_then(|f| f.metadata()) {
        Ok(facts) if facts.len() > MAX_OPEN_BYTES => too_large(facts.len()),
        Ok(_) => String::new(),
        Err(e) => plain(&e),
    }
}

fn too_large(size: u64) -> String {
    format!(
        "{} MB is too large for the page (max {} MB); use the command line",
        size >> 20,
        MAX_OPEN_BYTES >> 20
    )
}

fn plain(error: &std::io::Error) -> String {
    match error.kind() {
        std::io::ErrorKind::NotFound => "there is no such file or folder".to_owned(),
        std::io::ErrorKind::PermissionDenied => "may not be read".to_owned(),
        std::io::ErrorKind::NotADirectory => "is not a folder".to_owned(),
        _ => error.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scratch(name: &str) -> PathBuf {
        let path =
            std::env::temp_dir().join(format!("paynter_studio_{name}_{}", std::process::id()));
        let _ = fs::remove_dir_all(&path);
        fs::create_dir_all(&path).expect("made");
        path
    }

    #[test]
    fn no_path_leads_out() {
        let outside = scratch("outside");
        fs::write(outside.join("secret.bond"), "x").expect("written");
        let root = scratch("inside");
        #[cfg(unix)]
        std::os::unix::fs::symlink(&outside, root.join("link")).expect("linked");
        let folder = Folder::open(&root).expect("opens");
        let absolute = outside.join("secret.bond").display().to_string();
        for path in [
            "../x.bond",
            "a/../../x.bond",
            "/etc/passwd",
            "link/secret.bond",
            "link/new.bond",
            "",
            ".",
            &absolute,
        ] {
            assert!(folder.full(path).is_err(), "{path}");
            assert!(folder.read(path).is_err(), "{path}");
            assert!(folder.write(path, "y").is_err(), "{path}");
        }
        assert!(folder.full("new/model.bond").is_ok());
        assert!(folder.list().iter().all(|e| !e.path.contains("secret")));
        let _ = fs::remove_dir_all(outside);
        let _ = fs::remove_dir_all(root);
    }

    #[test]
    fn files_that_cannot_be_opened_say_why() {
        let root = scratch("large");
        fs::write(root.join("large.bond"), vec![b'/'; 10 << 20]).expect("written");
        fs::write(root.join("small.bond"), "model M {}\n").expect("written");
        let folder = Folder::open(&root).expect("opens");
        let list = folder.list();
        let trouble = |name: &str| {
            list.iter()
                .find(|e| e.name == name)
                .expect("listed")
                .trouble
                .clone()
        };
        assert!(
            trouble("large.bond").contains("too large"),
            "{}",
            trouble("large.bond")
        );
        assert_eq!(trouble("small.bond"), "");
        assert!(
            folder
                .read("large.bond")
                .expect_err("refused")
                .contains("too large")
        );
        assert!(
            folder
                .read("gone.bond")
                .expect_err("refused")
                .contains("no such file")
        );
        let _ = fs::remove_dir_all(root);
    }
}
