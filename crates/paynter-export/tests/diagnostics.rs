//! Every code of exports has a model that provokes it, and its message reads as it was read by a person.
//!
//! A fixture is `tests/diagnostics/E0870_name.bond`, the expected text stands beside it as `.txt`. With
//! `UPDATE_FIXTURES` set, the texts are written anew: read the difference.

#[path = "../../paynter/tests/kit/fixtures.rs"]
mod fixtures;
mod kit;

use fixtures::Fixtures;
use paynter::DesignError;
use paynter::syntax::{Diagnostic, render};

fn fixtures() -> Fixtures {
    Fixtures::of(env!("CARGO_MANIFEST_DIR"))
}

fn messages(name: &str) -> (Vec<Diagnostic>, String) {
    let folder = fixtures().folder;
    let path = folder.join(name);
    let (found, sources) = match paynter::design(&path, &kit::choice()) {
        Err(DesignError::Unreadable(message)) => panic!("{message}"),
        Err(DesignError::Model(failed)) => (failed.diagnostics, failed.sources),
        Ok(design) => {
            let found = match paynter_export::export_audited(&design, &kit::choice()) {
                Ok(export) => export.warnings,
                Err(messages) => messages,
            };
            (found, design.project.sources)
        }
    };
    let place = format!("{}/", folder.display());
    let text = render(&found, &sources, false).replace(&place, "");
    (found, text)
}

#[test]
fn every_message_reads_as_expected() {
    fixtures().check(|name| {
        let (found, text) = messages(name);
        (found.iter().map(|m| m.code.to_owned()).collect(), text)
    });
}

#[test]
fn no_code_lacks_a_fixture_or_is_taken() {
    fixtures().cover(paynter_export::code::TABLE.iter().map(|row| row.0));
    for (code, ..) in paynter_export::code::TABLE {
        let is_taken = paynter::codes().iter().any(|c| c.0 == *code);
        assert!(!is_taken, "{code} is used twice");
    }
}
