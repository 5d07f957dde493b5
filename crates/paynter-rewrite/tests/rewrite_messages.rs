//! Every code of this crate has a model that provokes it, and its message reads as it was read by a person.
//!
//! A fixture is `tests/diagnostics/E0880_name.bond`, its first line may say `// reduce --cyclic NAME`, `// reduce --minimal NAME` or `// scalarize`; the expected text stands beside it as `.txt`. With `UPDATE_FIXTURES` set,
//! the texts are written anew: read the difference.

mod kit;

use kit::{PATH, words, world};
use paynter::syntax::render;
use paynter_rewrite::{Reduction, Wish, assume, minimal, reduce, scalarize, simplify};
use std::fs;
use std::path::{Path, PathBuf};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/diagnostics")
}

fn fixtures() -> Vec<String> {
    let mut names: Vec<String> = fs::read_dir(folder())
        .expect("the folder of fixtures is there")
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
        .filter(|name| name.ends_with(".bond"))
        .collect();
    names.sort();
    names
}

fn messages(name: &str) -> String {
    let text = fs::read_to_string(folder().join(name)).expect("the fixture is there");
    let first = text.lines().next().unwrap_or_default();
    let wish = Wish::default();
    let assumption = first.strip_prefix("// reduce --assume ");
    let found = match first.strip_prefix("// reduce --cyclic ") {
        Some(name) => {
            let what = Reduction {
                cyclic: vec![name.to_owned()],
            };
            reduce(&mut world(&text), PATH, &wish, &what)
        }
        None if assumption.is_some() => {
            let asked: Vec<String> = assumption.map(str::to_owned).into_iter().collect();
            assume(&mut world(&text), PATH, &wish, &asked)
        }
        None if first.starts_with("// reduce --minimal ") => {
            let named: Vec<String> = first
                .split_whitespace()
                .skip(3)
                .map(str::to_owned)
                .collect();
            minimal(&mut world(&text), PATH, &wish, &named)
        }
        None if first == "// scalarize" => scalarize(&mut world(&text), PATH, &wish),
        None => simplify(&mut world(&text), PATH, &wish, &[]),
    };
    match found {
        Err(error) => words(error),
        Ok(written) => match written.failed() {
            Some(f) => render(&f.diagnostics, &f.sources, false),
            None => written.lines().join("\n"),
        },
    }
}

#[test]
fn every_message_reads_as_expected() {
    let is_update = std::env::var_os("UPDATE_FIXTURES").is_some();
    let mut wrong = Vec::new();
    for name in fixtures() {
        let text = messages(&name);
        let (code, _) = name
            .split_once('_')
            .expect("a fixture is named by its code");
        if !text.contains(code) {
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
fn no_code_lacks_a_fixture() {
    let names = fixtures();
    for (code, _, _) in paynter_rewrite::code::TABLE {
        assert!(
            names.iter().any(|name| name.starts_with(code)),
            "no fixture for {code}"
        );
    }
}

#[test]
fn codes_differ_from_those_of_all_other_stages() {
    let others = paynter::codes();
    for (code, _, _) in paynter_rewrite::code::TABLE {
        assert!(others.iter().all(|row| row.0 != *code), "{code} is taken");
    }
}
