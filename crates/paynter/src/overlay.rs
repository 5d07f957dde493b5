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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::design::{Choice, design_in};
    use crate::run::{RunChoice, run};
    use std::ops::ControlFlow;

    const PART: &str = "model Load { port p: electrical = n; n: 0 -> r: R(2) }";
    const MAIN: &str = "use \"parts/load.bond\": Load
        model M { s: Se(10) -> j: 1 -> i: I(1); load: Load(); j -> load.p; output w = i.f }
        experiment go of M { stop = 1; record w; compare \"parts/../w.csv\" within 1e-6 }";

    /// The time constant is 1/2 s: w(1) = 5 (1 − e⁻²).
    fn texts() -> Overlay<LibraryOnly> {
        let mut world = Overlay::new(LibraryOnly);
        world.set("m.bond", MAIN);
        world.set("./parts/load.bond", PART);
        let end = 5.0 * (1.0 - (-2.0_f64).exp());
        world.set("w.csv", format!("time,w\n0,0\n1,{end:?}\n"));
        world
    }

    #[test]
    fn a_model_of_several_texts_runs_without_a_disk() {
        let mut world = texts();
        let design = design_in(&mut world, "m.bond", &Choice::default()).expect("no errors");
        let outcome = run(&design, &RunChoice::default(), &mut |_| {
            ControlFlow::Continue(())
        });
        let outcome = outcome.expect("it starts");
        assert!(
            outcome.comparisons[0].is_good(),
            "{:?}",
            outcome.comparisons
        );
    }

    #[test]
    fn an_unsaved_change_is_what_counts() {
        let mut world = texts();
        world.set("parts/load.bond", PART.replace("R(2)", "R(4)"));
        let design = design_in(&mut world, "m.bond", &Choice::default()).expect("no errors");
        let outcome = run(&design, &RunChoice::default(), &mut |_| {
            ControlFlow::Continue(())
        });
        assert!(!outcome.expect("it starts").comparisons[0].is_good());
    }

    #[test]
    fn what_is_taken_away_is_missing() {
        let mut world = texts();
        world.remove("parts/load.bond");
        assert!(design_in(&mut world, "m.bond", &Choice::default()).is_err());
    }
}
