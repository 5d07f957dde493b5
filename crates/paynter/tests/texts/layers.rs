//! Crates depend on lower layers only, the modules of the façade do not import each other in circles,
//! ARCHITECTURE.md shows the crates as they are, and no file of tests is forgotten.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Who depends on whom.
type Graph = BTreeMap<String, BTreeSet<String>>;

/// The crates of the workspace, each with those it is built on.
fn crates() -> Graph {
    let mut graph = Graph::new();
    for entry in fs::read_dir(root().join("crates")).expect("the workspace has crates") {
        let folder = entry.expect("it was listed").path();
        let Ok(manifest) = fs::read_to_string(folder.join("Cargo.toml")) else {
            continue;
        };
        let name = folder.file_name().expect("a folder has a name");
        let section = manifest
            .split("\n[")
            .find(|s| s.starts_with("dependencies]"));
        let lines = section.unwrap_or_default().lines();
        let words = lines.filter_map(|line| line.split(['.', ' ', '=']).next());
        let used = words
            .filter(|w| w.starts_with("paynter"))
            .map(str::to_owned);
        graph.insert(name.display().to_string(), used.collect());
    }
    graph
}

/// The top modules of a crate, each with those it names as `crate::module` outside of tests and comments.
fn modules(name: &str) -> Graph {
    let mut graph = Graph::new();
    let source = root().join("crates").join(name).join("src");
    let mut open = vec![source.clone()];
    while let Some(path) = open.pop() {
        if path.is_dir() {
            let entries = fs::read_dir(&path).expect("it is a folder");
            open.extend(entries.map(|e| e.expect("it was listed").path()));
            continue;
        }
        let below = path.strip_prefix(&source).expect("found below it");
        let top = below.components().next().expect("a file has a name");
        let top = Path::new(&top).file_stem().expect("a file has a name");
        let top = top.display().to_string();
        if path.extension().is_none_or(|e| e != "rs") || ["lib", "main"].contains(&&*top) {
            continue;
        }
        let text = fs::read_to_string(&path).expect("a source file is a text");
        let text = text.split("#[cfg(test)]").next().unwrap_or_default();
        let code = text.lines().filter(|l| !l.trim_start().starts_with("//"));
        for rest in code.flat_map(|line| line.split("crate::").skip(1)) {
            let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_');
            let used = &rest[..end.unwrap_or(rest.len())];
            if used != top && !used.is_empty() {
                graph
                    .entry(top.clone())
                    .or_default()
                    .insert(used.to_owned());
            }
        }
    }
    graph
}

/// A circle in a graph, if there is one.
fn circle(graph: &Graph) -> Option<Vec<String>> {
    let mut left = graph.clone();
    // Whoever imports nobody that is left cannot be part of a cycle.
    loop {
        let names: BTreeSet<String> = left.keys().cloned().collect();
        let before = left.len();
        left.retain(|_, used| used.iter().any(|u| names.contains(u)));
        if left.len() == before {
            return (before > 0).then(|| left.into_keys().collect());
        }
    }
}

#[test]
fn crates_do_not_depend_on_each_other_in_circles() {
    assert_eq!(circle(&crates()), None);
}

#[test]
fn foundations_know_nothing_of_each_other() {
    let crates = crates();
    for name in [
        "paynter-syntax",
        "paynter-symbolic",
        "paynter-solve",
        "paynter-linear",
        "paynter-optimize",
    ] {
        assert!(crates[name].is_empty(), "{name} uses {:?}", crates[name]);
    }
}

#[test]
fn doors_see_the_model_through_the_facade() {
    let crates = crates();
    let inner = ["paynter-design", "paynter-run", "paynter-analysis"];
    let above: Vec<&String> = crates
        .iter()
        .filter(|(name, used)| {
            !inner.contains(&name.as_str()) && inner.iter().any(|i| used.contains(*i))
        })
        .map(|(name, _)| name)
        .collect();
    assert_eq!(above, ["paynter"]);
}

#[test]
fn runs_have_no_words_for_people() {
    assert!(!crates()["paynter-run"].contains("paynter-syntax"));
    assert!(!crates()["paynter-run"].contains("paynter-draw"));
}

#[test]
fn modules_of_the_crates_above_the_machine_form_no_circles() {
    for name in [
        "paynter-syntax",
        "paynter-linear",
        "paynter-optimize",
        "paynter-draw",
        "paynter-design",
        "paynter-run",
        "paynter-analysis",
        "paynter-rewrite",
        "paynter-structure",
        "paynter-export",
        "paynter-import",
        "paynter",
        "paynter-cli",
    ] {
        assert_eq!(circle(&modules(name)), None, "{name}");
    }
}

#[test]
fn the_architecture_page_shows_the_crates_as_they_are() {
    let page = fs::read_to_string(root().join("ARCHITECTURE.md")).expect("the project has one");
    let shown = page.split("<!-- crates -->").nth(1).unwrap_or_default();
    let lines = crates().into_iter().map(|(name, used)| {
        let used: Vec<&str> = used.iter().map(String::as_str).collect();
        format!(
            "{name:16} {}",
            if used.is_empty() {
                "–".to_owned()
            } else {
                used.join(", ")
            }
        )
    });
    let expected = format!("\n```text\n{}\n```\n", lines.collect::<Vec<_>>().join("\n"));
    assert_eq!(shown, expected, "copy the second text into ARCHITECTURE.md");
}

/// A file beside a `main.rs` of tests that does not name it would be neither compiled nor run.
#[test]
fn every_file_of_tests_is_named_by_its_program() {
    let mut forgotten = Vec::new();
    for package in fs::read_dir(root().join("crates")).expect("the workspace has crates") {
        let tests = package.expect("it was listed").path().join("tests");
        let Ok(groups) = fs::read_dir(tests) else {
            continue;
        };
        for group in groups.map(|g| g.expect("it was listed").path()) {
            let Ok(program) = fs::read_to_string(group.join("main.rs")) else {
                continue;
            };
            for file in fs::read_dir(&group).expect("it holds a program") {
                let file = file.expect("it was listed").path();
                let name = file.file_stem().expect("a file has a name").display();
                let is_source = file.extension().is_some_and(|e| e == "rs");
                let names_it = program.lines().any(|line| line == format!("mod {name};"));
                if is_source && !file.ends_with("main.rs") && !names_it {
                    forgotten.push(file);
                }
            }
        }
    }
    assert_eq!(forgotten, Vec::<PathBuf>::new());
}
