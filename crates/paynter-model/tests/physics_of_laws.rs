//! Fixtures of units, functions, laws and experiments: each provokes the code in its name.

use paynter_model::elaborate::check;
use paynter_model::project::{NoFiles, load};
use std::path::Path;

/// Codes that a text provokes.
fn codes(text: &str) -> Vec<&'static str> {
    let (project, mut messages) = load("model.bond", text, &mut NoFiles);
    if !messages.iter().any(|m| m.is_error()) {
        messages.extend(check(&project));
    }
    messages.iter().map(|m| m.code).collect()
}

#[test]
fn every_fixture_provokes_its_code_and_nothing_else() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/diagnostics");
    let mut wrong = String::new();
    let mut names: Vec<_> = std::fs::read_dir(folder)
        .expect("the fixtures are there")
        .map(|entry| entry.expect("the folder can be read").path())
        .collect();
    names.sort();
    for path in names {
        let name = path.file_name().expect("a file").to_string_lossy().into_owned();
        let is_ours = ["E030", "E031", "E033", "E045", "E046", "E05"];
        if !is_ours.iter().any(|start| name.starts_with(start)) {
            continue;
        }
        let text = std::fs::read_to_string(&path).expect("the fixture can be read");
        let found = codes(&text);
        if found != [&name[..5]] {
            wrong.push_str(&format!("{name}: {found:?}\n"));
        }
    }
    assert!(wrong.is_empty(), "\n{wrong}");
}
