//! Every code of imports has a file that provokes it, and its message reads as it was read by a person.
//!
//! A fixture is `tests/diagnostics/E0900_name.urdf`, the expected text stands beside it as `.txt`. With `UPDATE_FIXTURES`
//! set, the texts are written anew: read the difference.

use paynter_import::{code, import_urdf};
use paynter_syntax::render;
use std::fs;
use std::path::{Path, PathBuf};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/diagnostics")
}

fn fixtures() -> Vec<String> {
    let mut names: Vec<String> = fs::read_dir(folder())
        .expect("the folder of fixtures is there")
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
        .filter(|name| name.ends_with(".urdf"))
        .collect();
    names.sort();
    names
}

#[test]
fn every_message_reads_as_expected() {
    let is_update = std::env::var_os("UPDATE_FIXTURES").is_some();
    let mut wrong = Vec::new();
    for name in fixtures() {
        let text = fs::read_to_string(folder().join(&name)).expect("a fixture can be read");
        let imported = import_urdf(&name, &text);
        let shown = render(&imported.diagnostics, &imported.sources, false);
        if !imported
            .diagnostics
            .iter()
            .any(|m| name.starts_with(m.code))
        {
            wrong.push(format!("{name} does not provoke its code:\n{shown}"));
        }
        let is_refused = imported.diagnostics.iter().any(|m| m.is_error());
        assert_eq!(imported.text.is_none(), is_refused, "{name}");
        let beside = folder().join(name.replace(".urdf", ".txt"));
        if is_update {
            fs::write(&beside, &shown).expect("the folder can be written");
        } else if fs::read_to_string(&beside).unwrap_or_default() != shown {
            wrong.push(format!("{name} now reads:\n{shown}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_code_has_a_fixture() {
    let names = fixtures();
    for (code, ..) in code::TABLE {
        assert!(names.iter().any(|n| n.starts_with(code)), "{code} has none");
    }
}

/// Whatever is cut off or put in, reading ends with a model or a message.
#[test]
fn no_text_is_too_strange() {
    let whole = fs::read_to_string(folder().join("W0908_left_out.urdf")).expect("it is there");
    for end in (0..whole.len()).filter(|&k| whole.is_char_boundary(k)) {
        let imported = import_urdf("cut.urdf", &whole[..end]);
        assert!(imported.text.is_some() || !imported.diagnostics.is_empty());
    }
    for (from, to) in [
        ("1", "1e999"),
        ("1", "nan"),
        ("\"1\"", "\"\""),
        ("upper", "é\u{1F980}"),
        ("upper", "model"),
    ] {
        let imported = import_urdf("odd.urdf", &whole.replace(from, to));
        assert!(imported.text.is_some() || !imported.diagnostics.is_empty());
    }
}
