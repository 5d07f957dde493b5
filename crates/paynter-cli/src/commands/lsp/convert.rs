//! Between the words of the service and those of LSP.
//!
//! In:  ranges, messages, edits of the service.
//! Out: JSON as LSP 3.17 has it; paths for URIs.

use paynter_service::edit::TextEdit;
use paynter_service::message::{Message, Severity};
use paynter_service::place::{Position, Range};
use paynter_service::{Workspace, world};
use serde_json::{Map, Value, json};
use std::path::PathBuf;

/// Gives the path of a URI; a URI that is not a file names itself.
pub fn path_of(uri: &str) -> String {
    let Some(rest) = uri.strip_prefix("file://") else {
        return uri.to_owned();
    };
    // A host is between the second and the third slash; only the own one is meant.
    let path = &rest[rest.find('/').unwrap_or(0)..];
    let mut bytes = Vec::with_capacity(path.len());
    let mut rest = path.as_bytes();
    while let Some((&first, tail)) = rest.split_first() {
        let code = rest.get(1..3).and_then(|hex| std::str::from_utf8(hex).ok());
        let code = code.and_then(|hex| u8::from_str_radix(hex, 16).ok());
        match (first, code) {
            (b'%', Some(byte)) => {
                bytes.push(byte);
                rest = &rest[3..];
            }
            _ => {
                bytes.push(first);
                rest = tail;
            }
        }
    }
    let path = String::from_utf8_lossy(&bytes).into_owned();
    // `/C:/models` of a URI is `C:/models`.
    let is_drive = path.as_bytes().get(2) == Some(&b':') && cfg!(windows);
    world::plain(if is_drive { &path[1..] } else { &path })
}

/// Gives the URI of a path. Library files are laid into a folder of their own first, since editors open files.
pub fn uri_of(path: &str) -> String {
    if let Some(name) = path.strip_prefix(world::LIBRARY) {
        if let Some(file) = library_file(name) {
            return uri_of(&file.display().to_string());
        }
        return path.to_owned();
    }
    if path.contains(':') && !path.starts_with('/') && !cfg!(windows) {
        return path.to_owned();
    }
    let mut uri = String::from("file://");
    if !path.starts_with('/') {
        uri.push('/');
    }
    for byte in path.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'/' | b'-' | b'_' | b'.' | b'~' | b':' => {
                uri.push(byte as char)
            }
            _ => uri.push_str(&format!("%{byte:02X}")),
        }
    }
    uri
}

/// Lays a library file where an editor can open it, for reading.
fn library_file(name: &str) -> Option<PathBuf> {
    let text = paynter::library::library(name)?;
    let folder =
        std::env::temp_dir().join(format!("paynter-library-{}", env!("CARGO_PKG_VERSION")));
    let path = folder.join(format!("{name}.bond"));
    let is_there = std::fs::read_to_string(&path).is_ok_and(|t| t == text);
    if !is_there {
        std::fs::create_dir_all(&folder).ok()?;
        std::fs::write(&path, text).ok()?;
    }
    Some(path)
}

/// A position.
pub fn position(p: Position) -> Value {
    json!({ "line": p.line, "character": p.character })
}

/// A range.
pub fn range(r: &Range) -> Value {
    json!({ "start": position(r.start), "end": position(r.end) })
}

/// Reads a position; nonsense is the start of the text.
pub fn to_position(value: &Value) -> Position {
    let number = |name: &str| {
        let n = value.get(name).and_then(Value::as_u64).unwrap_or(0);
        u32::try_from(n).unwrap_or(u32::MAX)
    };
    Position {
        line: number("line"),
        character: number("character"),
    }
}

/// The byte that a position means in a text.
pub fn offset(workspace: &Workspace, path: &str, value: &Value) -> usize {
    workspace
        .document(path)
        .map_or(0, |d| d.lines.offset(&d.text, to_position(value)))
}

/// A place in some text.
pub fn location(path: &str, r: &Range) -> Value {
    json!({ "uri": uri_of(path), "range": range(r) })
}

/// An edit of one text.
pub fn text_edit(r: &Range, text: &str) -> Value {
    json!({ "range": range(r), "newText": text })
}

/// Edits of several texts.
pub fn workspace_edit(edits: &[TextEdit]) -> Value {
    let mut changes: Map<String, Value> = Map::new();
    for edit in edits {
        let list = changes
            .entry(uri_of(&edit.path))
            .or_insert_with(|| json!([]));
        if let Value::Array(list) = list {
            list.push(text_edit(&edit.range, &edit.text));
        }
    }
    json!({ "changes": changes })
}

/// A message as a diagnostic.
pub fn diagnostic(path: &str, message: &Message) -> Value {
    let severity = match message.severity {
        Severity::Error => 1,
        Severity::Warning => 2,
        Severity::Note => 3,
    };
    let mut text = message.text.clone();
    if !message.at.is_empty() {
        text.push_str(&format!("\n{}", message.at));
    }
    for note in &message.notes {
        text.push_str(&format!("\nnote: {note}"));
    }
    for help in &message.helps {
        text.push_str(&format!("\nhelp: {help}"));
    }

    let related: Vec<Value> = message
        .labels
        .iter()
        .map(|label| {
            let at = label.path.as_deref().unwrap_or(path);
            json!({ "location": location(at, &label.range), "message": label.text })
        })
        .collect();

    json!({
        "range": range(&message.range),
        "severity": severity,
        "code": message.code,
        "source": "paynter",
        "message": text,
        "relatedInformation": related,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_survive_as_uris() {
        for path in ["/a/b c/ü%20.bond", "/m.bond", "/x#y/1?2.bond"] {
            assert_eq!(path_of(&uri_of(path)), path);
        }
        assert_eq!(path_of("untitled:Untitled-1"), "untitled:Untitled-1");
        assert_eq!(path_of("file:///a/../b.bond"), "/b.bond");
        assert_eq!(path_of("file:///%zz%4"), "/%zz%4");
    }
}
