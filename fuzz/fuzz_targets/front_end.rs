//! Any bytes go through the front end: read, laid out, checked, elaborated, reported.
//!
//! In:  bytes from the fuzzer.
//! Out: nothing; a panic, a hang or a broken law is what it looks for.
//!
//! **Invariant:** the tree gives back the text it was read from; a text that is laid out stays as it is
//! when laid out again.

#![no_main]

use libfuzzer_sys::fuzz_target;
use paynter_model::check::check;
use paynter_model::elaborate::elaborate;
use paynter_model::project::{Loader, Request, load};
use paynter_syntax::{FileId, format, parse_bytes, render};

/// There are no other files.
struct Nowhere;

impl Loader for Nowhere {
    fn library(&mut self, _: &str) -> Option<String> {
        None
    }

    fn file(&mut self, _: &str, _: Option<&str>) -> Result<(String, String), String> {
        Err("there is no such file".to_owned())
    }

    fn libraries(&self) -> Vec<String> {
        Vec::new()
    }
}

fuzz_target!(|bytes: &[u8]| {
    let parsed = parse_bytes(FileId(0), bytes);
    let Ok(text) = std::str::from_utf8(bytes) else {
        return;
    };
    assert_eq!(parsed.tree.to_text(text), text);
    let once = format(FileId(0), text).text;
    assert_eq!(format(FileId(0), &once).text, once);
    let (project, mut found) = load("fuzz.bond", text, &mut Nowhere);
    found.extend(check(&project));
    found.extend(elaborate(&project, &Request::default()).diagnostics);
    let _ = render(&found, &project.sources, false);
});
