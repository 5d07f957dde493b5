//! Fixtures of messages, walked in one way by all crates.
//!
//! A fixture is `tests/diagnostics/E0701_name.bond`; the expected text stands beside it as `.txt`. With
//! `UPDATE_FIXTURES` set, the texts are written anew: read the difference.

use std::fs;
use std::path::{Path, PathBuf};

/// Fixtures of one crate.
pub struct Fixtures {
    /// The folder that they lie in.
    pub folder: PathBuf,
}

impl Fixtures {
    /// The fixtures of the crate with this manifest folder.
    pub fn of(manifest: &str) -> Fixtures {
        Fixtures {
            folder: Path::new(manifest).join("tests/diagnostics"),
        }
    }

    /// Names of all fixtures, sorted.
    pub fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(&self.folder).expect("the folder of fixtures is there");
        let mut names: Vec<String> = entries
            .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
            .filter(|name| name.ends_with(".bond"))
            .collect();
        names.sort();
        names
    }

    /// Compares what every fixture says with what it said; `messages` gives the codes and the text.
    pub fn check(&self, messages: impl Fn(&str) -> (Vec<String>, String)) {
        let is_update = std::env::var_os("UPDATE_FIXTURES").is_some();
        let mut wrong = Vec::new();
        for name in self.names() {
            let (codes, text) = messages(&name);
            if !codes.iter().any(|code| name.starts_with(code)) {
                wrong.push(format!("{name} does not provoke its code:\n{text}"));
            }
            let beside = self.folder.join(name.replace(".bond", ".txt"));
            if is_update {
                fs::write(&beside, &text).expect("the folder can be written");
            } else if fs::read_to_string(&beside).unwrap_or_default() != text {
                wrong.push(format!("{name} now reads:\n{text}"));
            }
        }
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    }

    /// Every code has a fixture.
    pub fn cover<'c>(&self, codes: impl IntoIterator<Item = &'c str>) {
        let names = self.names();
        let has_none = |code: &&str| !names.iter().any(|name| name.starts_with(code));
        let missing: Vec<&str> = codes.into_iter().filter(has_none).collect();
        assert!(missing.is_empty(), "no fixture for {}", missing.join(", "));
    }
}
