//! Fixtures of causality: each model has the messages written beside it.
//!
//! The name of a model begins with the code that it must provoke. To see new messages, run with
//! `PAYNTER_WRITE_EXPECTED=1`, then read the difference.

use paynter_model::causality::{assign_causality, causality_diagnostics};
use paynter_model::elaborate::elaborate;
use paynter_model::project::{NoFiles, Request, load};
use paynter_syntax::render;
use std::path::{Path, PathBuf};

fn fixtures(folder: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
    let entries = std::fs::read_dir(folder).expect("the fixtures are there");
    let mut paths: Vec<PathBuf> = entries
        .map(|entry| entry.expect("the folder can be read").path())
        .filter(|path| path.extension().is_some_and(|e| e == "bond"))
        .collect();
    paths.sort();
    paths
}

/// The codes and the drawn messages of a model.
fn messages(path: &Path) -> (Vec<&'static str>, String) {
    let text = std::fs::read_to_string(path).expect("the fixture can be read");
    let (project, syntax) = load("model.bond", &text, &mut NoFiles);
    assert!(syntax.is_empty(), "{path:?}: {syntax:#?}");
    let request = Request::default();
    let elaboration = elaborate(&project, &request);
    let errors = render(&elaboration.diagnostics, &project.sources, false);
    let Some(elaborated) = elaboration.elaborated else {
        panic!("{path:?}\n{errors}")
    };
    let graph = elaborated.graph();
    let found = causality_diagnostics(graph, &assign_causality(graph));
    (
        found.iter().map(|m| m.code).collect(),
        render(&found, &project.sources, false),
    )
}

#[test]
fn every_fixture_gives_the_messages_beside_it() {
    let mut wrong = String::new();
    for path in fixtures("tests/causality") {
        let name = path
            .file_name()
            .expect("a file")
            .to_string_lossy()
            .into_owned();
        let (codes, text) = messages(&path);
        let beside = path.with_extension("txt");
        if std::env::var_os("PAYNTER_WRITE_EXPECTED").is_some() {
            std::fs::write(&beside, &text).expect("the folder can be written");
        }
        let expected = std::fs::read_to_string(&beside).unwrap_or_default();
        if codes != [&name[..5]] {
            wrong += &format!("{name} gives {codes:?}\n");
        }
        if text != expected {
            wrong += &format!("{name}: expected\n{expected}\nfound\n{text}\n");
        }
    }
    assert!(wrong.is_empty(), "\n{wrong}");
}

#[test]
fn every_code_of_causality_has_a_fixture() {
    let names: Vec<String> = fixtures("tests/causality")
        .iter()
        .map(|p| {
            p.file_name()
                .expect("a file")
                .to_string_lossy()
                .into_owned()
        })
        .collect();
    for (code, title, _) in paynter_model::code::TABLE {
        if code.starts_with("E06") {
            assert!(
                names.iter().any(|n| n.starts_with(code)),
                "no fixture for {code} ({title})"
            );
        }
    }
}
