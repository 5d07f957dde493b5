//! What the tests of this crate share.

use paynter_syntax::{FileId, Parsed, SourceMap, parse, parse_bytes};
use std::path::{Path, PathBuf};

/// Gives name and text of every file that must parse.
#[allow(dead_code, reason = "each test file uses its own part of this module")]
pub fn sketches() -> Vec<(String, String)> {
    files("tests/sketches")
}

/// Gives name and text of every `.bond` file of a folder of this crate, by name.
pub fn files(folder: &str) -> Vec<(String, String)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
    let mut paths: Vec<PathBuf> = std::fs::read_dir(&folder)
        .expect("the folder of test files exists")
        .map(|entry| entry.expect("a folder entry can be read").path())
        .filter(|path| path.extension().is_some_and(|e| e == "bond"))
        .collect();
    paths.sort();
    assert!(!paths.is_empty());
    paths
        .into_iter()
        .map(|path| {
            let name = path
                .file_name()
                .expect("a file has a name")
                .to_string_lossy()
                .into_owned();
            (
                name,
                std::fs::read_to_string(&path).expect("a test file is text"),
            )
        })
        .collect()
}

/// Parses text that is alone in the world.
pub fn read(text: &str) -> Parsed {
    parse(FileId(0), text)
}

/// Parses bytes that are alone in the world.
#[allow(dead_code, reason = "each test file uses its own part of this module")]
pub fn read_bytes(bytes: &[u8]) -> Parsed {
    parse_bytes(FileId(0), bytes)
}

/// Writes each message as `line: code message`.
#[allow(dead_code, reason = "each test file uses its own part of this module")]
pub fn messages(text: &str) -> Vec<String> {
    let mut sources = SourceMap::new();
    sources.add("test.bond", text);
    read(text)
        .diagnostics
        .iter()
        .map(|d| {
            let span = d.primary.as_ref().expect("a syntax error has a place").span;
            format!("{}: {} {}", sources.line_column(span).0, d.code, d.message)
        })
        .collect()
}

/// Writes the meaning of a file without the places in its text.
#[allow(dead_code, reason = "each test file uses its own part of this module")]
pub fn meaning(parsed: &Parsed) -> String {
    let full = format!("{:?}", parsed.ast);
    let mut meaning = String::new();
    let mut rest = full.as_str();
    while let Some(start) = rest.find("Span {") {
        meaning.push_str(&rest[..start]);
        let end = rest[start..].find("end: ").expect("a span shows its end") + start;
        rest = &rest[end..];
        let close = rest.find('}').expect("a span is closed");
        rest = &rest[close + 1..];
    }
    meaning + rest
}
