//! Any bytes are read, come out as they went in, and are laid out only once.

#![no_main]

use libfuzzer_sys::fuzz_target;
use paynter_syntax::{FileId, SourceMap, format, parse_bytes, render};

fuzz_target!(|bytes: &[u8]| {
    let parsed = parse_bytes(FileId(0), bytes);
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    assert_eq!(parsed.tree.to_text(text), text);
    let mut sources = SourceMap::new();
    sources.add("fuzz.bond", text);
    render(&parsed.diagnostics, &sources, true);
    let once = format(FileId(0), text).text;
    assert_eq!(format(FileId(0), &once).text, once);
});
