//! Every code has a model that provokes it, and its message reads as it was read by a person.
//!
//! A fixture is `tests/diagnostics/E0201_name.bond` (W… for a warning), the expected text stands beside it as
//! `.txt`. With `UPDATE_FIXTURES` set, the texts are written anew: read the difference.

use paynter_model::check::check;
use paynter_model::elaborate::elaborate;
use paynter_model::project::{Loader, Request, load};
use std::fs;
use std::path::{Path, PathBuf};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/diagnostics")
}

/// Finds files in the folder of fixtures.
struct Beside;

impl Loader for Beside {
    fn library(&mut self, _: &str) -> Option<String> {
        None
    }

    fn file(&mut self, path: &str, _: Option<&str>) -> Result<(String, String), String> {
        match fs::read_to_string(folder().join(path)) {
            Ok(text) => Ok((path.to_owned(), text)),
            Err(_) => Err("there is no such file".to_owned()),
        }
    }

    fn bytes(&mut self, path: &str, _: Option<&str>) -> Result<Vec<u8>, String> {
        fs::read(folder().join(path)).map_err(|_| "there is no such file".to_owned())
    }

    fn libraries(&self) -> Vec<String> {
        vec!["mechanics3d".to_owned()]
    }
}

fn fixtures() -> Vec<String> {
    let mut names: Vec<String> = fs::read_dir(folder())
        .expect("the folder of fixtures is there")
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
        .filter(|name| name.starts_with(['E', 'W']) && name.ends_with(".bond"))
        .collect();
    names.sort();
    names
}

/// All messages about a fixture: of `check`, or of elaboration where `check` is lenient.
fn messages(name: &str) -> (Vec<&'static str>, String) {
    let text = fs::read_to_string(folder().join(name)).expect("a fixture can be read");
    let (project, mut found) = load(name, &text, &mut Beside);
    found.extend(check(&project));
    if found.is_empty() {
        found = elaborate(&project, &Request::default()).diagnostics;
    }
    let codes = found.iter().map(|m| m.code).collect();
    (
        codes,
        paynter_syntax::render(&found, &project.sources, false),
    )
}

#[test]
fn every_message_reads_as_expected() {
    let is_update = std::env::var_os("UPDATE_FIXTURES").is_some();
    let mut wrong = Vec::new();
    for name in fixtures() {
        let (codes, text) = messages(&name);
        if !codes.contains(&&name[..5]) {
            wrong.push(format!("{name} does not provoke its code:\n{text}"));
        }
        // The letter of a code says how grave a message is.
        if text.contains("warning[E") || text.contains("error[W") {
            wrong.push(format!("{name}: a code with the wrong letter:\n{text}"));
        }
        let beside = folder().join(name.replace(".bond", ".txt"));
        if is_update {
            fs::write(&beside, &text).expect("the folder can be written");
        } else if fs::read_to_string(&beside).unwrap_or_default() != text {
            wrong.push(format!("{name} now reads:\n{text}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn no_code_lacks_a_fixture() {
    let mut names = fixtures();
    // Conflicts of causality are provoked, and worded, in a folder of their own.
    let causality = folder().with_file_name("causality");
    for entry in fs::read_dir(causality).expect("the folder is there") {
        names.extend(entry.ok().and_then(|e| e.file_name().into_string().ok()));
    }
    let missing: Vec<&str> = paynter_model::code::all()
        .map(|row| row.0)
        .filter(|code| !names.iter().any(|name| name.starts_with(code)))
        .collect();
    assert!(missing.is_empty(), "no fixture for {}", missing.join(", "));
}

#[test]
fn codes_are_not_used_twice() {
    let mut codes: Vec<&str> = paynter_model::code::all().map(|row| row.0).collect();
    codes.sort_unstable();
    let n = codes.len();
    codes.dedup();
    assert_eq!(codes.len(), n);
}
