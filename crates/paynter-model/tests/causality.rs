//! Fixtures of causality: each model has the messages written beside it.
//!
//! The name of a model begins with the code that it must provoke. To see new messages, run with
//! `PAYNTER_WRITE_EXPECTED=1`, then read the difference.

use paynter_model::causality::{Solved, assign_causality, causality_diagnostics};
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
    let found = causality_diagnostics(graph, &assign_causality(graph), &Solved::default());
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
    for (code, title, _) in paynter_model::code::all() {
        if code[1..].starts_with("06") {
            assert!(
                names.iter().any(|n| n.starts_with(code)),
                "no fixture for {code} ({title})"
            );
        }
    }
}

/// Order, independent and dependent storages of a sketch, by name.
fn storages(file: &str, model: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/sketches")
        .join(file);
    let text = std::fs::read_to_string(path).expect("the sketch can be read");
    let (project, _) = load(file, &text, &mut NoFiles);
    let request = Request {
        model: Some(model.to_owned()),
        ..Request::default()
    };
    let elaboration = elaborate(&project, &request);
    let errors = render(&elaboration.diagnostics, &project.sources, false);
    let Some(elaborated) = elaboration.elaborated else {
        panic!("{file}\n{errors}")
    };
    let graph = elaborated.graph();
    let causality = assign_causality(graph);
    assert!(causality.is_complete(), "{file}: {:?}", causality.conflicts);
    assert!(
        causality.reversed_moduli.is_empty(),
        "{file} divides by a modulus that can vanish"
    );
    let names = |ends: Vec<paynter_model::graph::End>| -> String {
        let names: Vec<String> = ends
            .iter()
            .map(|end| graph.element_name(end.element))
            .collect();
        names.join(" ")
    };
    let dependent = causality.dependent.iter().map(|d| d.storage).collect();
    format!(
        "{}: {} | {}",
        causality.order(),
        names(causality.independent.clone()),
        names(dependent)
    )
}

#[test]
fn sketches_have_the_storages_of_their_sources() {
    assert_eq!(
        storages("s1_gyroscope.bond", "Gyroscope"),
        "4: i1 i2 i3 | i4 i5"
    );
    assert_eq!(
        storages("s2_table_scalar.bond", "FlightTable"),
        "5: inner.ix iz3 middle.iy | inner.iy inner.iz middle.ix middle.iz"
    );
    assert_eq!(storages("s8_wheatstone.bond", "Wheatstone"), "2: c1 c2 | ");
}
