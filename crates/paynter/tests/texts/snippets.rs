//! Every snippet of the README and the book is what the tool accepts.
//!
//! A block marked `bond` must check without errors, and its experiments must run. A block marked
//! `bond wrong E0301` must give exactly that error.

use paynter::{Choice, DesignError};
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

struct Snippet {
    place: String,
    wrong: Option<String>,
    text: String,
}

fn snippets() -> Vec<Snippet> {
    let mut files = vec![root().join("README.md")];
    let mut open = vec![root().join("docs/src")];
    while let Some(folder) = open.pop() {
        for path in std::fs::read_dir(folder)
            .into_iter()
            .flatten()
            .flatten()
            .map(|e| e.path())
        {
            if path.is_dir() {
                open.push(path);
            } else if path.extension().is_some_and(|e| e == "md") {
                files.push(path);
            }
        }
    }
    files.sort();
    let mut found = Vec::new();
    for file in files {
        let text = std::fs::read_to_string(&file).expect("part of the project");
        let mut lines = text.lines().enumerate();
        while let Some((number, line)) = lines.next() {
            let Some(kind) = line.trim().strip_prefix("```bond") else {
                continue;
            };
            let kind = kind.replace(',', " ");
            let mut words = kind.split_whitespace();
            let wrong =
                (words.next() == Some("wrong")).then(|| words.next().unwrap_or("").to_owned());
            let body: Vec<&str> = lines
                .by_ref()
                .map(|(_, l)| l)
                .take_while(|l| l.trim() != "```")
                .collect();
            let name = file
                .file_name()
                .map(|n| n.to_string_lossy().into_owned())
                .unwrap_or_default();
            found.push(Snippet {
                place: format!("{name}:{}", number + 1),
                wrong,
                text: body.join("\n"),
            });
        }
    }
    found
}

#[test]
fn every_snippet_does_what_the_text_says() {
    let folder = std::env::temp_dir().join(format!("paynter-snippets-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a temporary folder can be made");
    let all = snippets();
    assert!(!all.is_empty(), "the README has at least one snippet");
    for (number, snippet) in all.iter().enumerate() {
        let path = folder.join(format!("snippet{number}.bond"));
        std::fs::write(&path, &snippet.text).expect("the folder was just made");
        let checked = paynter::check(&path).expect("it was just written");
        let text = paynter::syntax::render(&checked.diagnostics, &checked.sources, false);
        let errors: Vec<&str> = checked
            .diagnostics
            .iter()
            .filter(|d| d.is_error())
            .map(|d| d.code)
            .collect();
        match &snippet.wrong {
            Some(code) => {
                let later = if errors.is_empty() {
                    later_errors(&path)
                } else {
                    Vec::new()
                };
                let all: Vec<String> = errors.iter().map(|&e| e.to_owned()).chain(later).collect();
                assert!(
                    all.contains(code),
                    "{} should give {code}, gives {all:?}:\n{text}",
                    snippet.place
                );
            }
            None => {
                assert!(errors.is_empty(), "{}:\n{text}", snippet.place);
                for experiment in paynter::experiments(&path).expect("it parses") {
                    let summary = paynter::run_experiment(&path, &experiment)
                        .unwrap_or_else(|m| panic!("{} {experiment}:\n{m}", snippet.place));
                    assert!(
                        summary.is_good,
                        "{} {experiment}: {}",
                        snippet.place, summary.text
                    );
                }
            }
        }
    }
    std::fs::remove_dir_all(folder).expect("made above");
}

/// Codes of what goes wrong after checking: causality, structure, start.
fn later_errors(path: &Path) -> Vec<String> {
    let design = match paynter::design(path, &Choice::default()) {
        Ok(design) => design,
        Err(DesignError::Model(failed)) => {
            return failed
                .diagnostics
                .iter()
                .map(|d| d.code.to_owned())
                .collect();
        }
        Err(DesignError::Unreadable(message)) => panic!("{message}"),
    };
    let causality = design.causality();
    let solved = paynter::model::causality::Solved::default();
    let mut found: Vec<String> =
        paynter::model::causality::causality_diagnostics(&design.graph, &causality, &solved)
            .iter()
            .map(|d| d.code.to_owned())
            .collect();
    let run = paynter::run::run(&design, &Default::default(), &mut |_| {
        std::ops::ControlFlow::Continue(())
    });
    match run {
        Err(messages) => found.extend(messages.iter().map(|d| d.code.to_owned())),
        Ok(outcome) => {
            if let paynter::simulate::Ending::Failed {
                why: diagnostics, ..
            } = outcome.run.ending
            {
                found.extend(diagnostics.iter().map(|d| d.code.to_owned()));
            }
        }
    }
    found
}
