//! Every code of exports has a model that provokes it, and its message reads as it was read by a person.
//!
//! A fixture is `tests/diagnostics/E0870_name.bond`, the expected text stands beside it as `.txt`. With
//! `UPDATE_FIXTURES` set, the texts are written anew: read the difference.

mod kit;

use paynter::DesignError;
use paynter::syntax::{Diagnostic, render};
use std::fs;
use std::path::{Path, PathBuf};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/diagnostics")
}

fn fixtures() -> Vec<String> {
    let entries = fs::read_dir(folder()).expect("the folder of fixtures is there");
    let mut names: Vec<String> = entries
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
        .filter(|name| name.ends_with(".bond"))
        .collect();
    names.sort();
    names
}

fn messages(name: &str) -> (Vec<Diagnostic>, String) {
    let path = folder().join(name);
    let (found, sources) = match paynter::design(&path, &kit::choice()) {
        Err(DesignError::Unreadable(message)) => panic!("{message}"),
        Err(DesignError::Model(failed)) => (failed.diagnostics, failed.sources),
        Ok(design) => {
            let found = match paynter_export::export(&design) {
                Ok(export) => export.warnings,
                Err(messages) => messages,
            };
            (found, design.project.sources)
        }
    };
    let place = format!("{}/", folder().display());
    let text = render(&found, &sources, false).replace(&place, "");
    (found, text)
}

#[test]
fn every_message_reads_as_expected() {
    let is_update = std::env::var_os("UPDATE_FIXTURES").is_some();
    let mut wrong = Vec::new();
    for name in fixtures() {
        let (found, text) = messages(&name);
        if !found.iter().any(|m| name.starts_with(m.code)) {
            wrong.push(format!("{name} does not provoke its code:\n{text}"));
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
fn no_code_lacks_a_fixture_or_is_taken() {
    let names = fixtures();
    for (code, ..) in paynter_export::code::ALL {
        assert!(
            names.iter().any(|name| name.starts_with(code)),
            "no fixture for {code}"
        );
        assert!(
            !paynter::codes().iter().any(|c| c.0 == *code),
            "{code} is used twice"
        );
    }
}
