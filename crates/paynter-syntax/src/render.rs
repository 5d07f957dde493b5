//! Draws messages for people and writes them for machines.
//!
//! In:  diagnostics and the files they point into.
//! Out: text for a terminal, or JSON.
//!
//! **Invariant:** never fails; a message whose file is unknown is drawn without its place. What the text of a
//! model has of control characters is not drawn.

use crate::diagnostic::{Diagnostic, Label, Severity};
use crate::harmless::harmless;
use crate::source::{FileId, SourceMap, Span};
use codespan_reporting::diagnostic as codespan;
use codespan_reporting::files::{Error, Files, column_index, line_starts};
use codespan_reporting::term::{self, Config, DisplayStyle};
use std::borrow::Cow;
use std::ops::Range;

/// Longer lines are not drawn: they are made by machines, and would hide the message.
const MAX_LINE_SHOWN: usize = 2000;

/// Draws messages under the text they are about, with colours if `color`.
///
/// ```
/// use paynter_syntax::{SourceMap, parse, render};
/// let mut sources = SourceMap::new();
/// let file = sources.add("a.bond", "model A { r1: R(50 ohm) }");
/// let shown = render(&parse(file, &sources.file(file).text).diagnostics, &sources, false);
/// assert!(shown.contains("a.bond:1:20"));
/// assert!(shown.contains("= help: write `50 [ohm]`"));
/// ```
pub fn render(diagnostics: &[Diagnostic], sources: &SourceMap, color: bool) -> String {
    use codespan_reporting::term::termcolor::{Ansi, NoColor};
    let diagnostics: Vec<Cow<'_, Diagnostic>> =
        diagnostics.iter().map(|d| at_origin(d, sources)).collect();
    let files = IndexedFiles::new(&diagnostics, sources);
    let mut bytes = Vec::new();
    for diagnostic in &diagnostics {
        let drawn = to_codespan(diagnostic, &files);
        let shows_text = files.is_readable(diagnostic);
        let display_style = if shows_text {
            DisplayStyle::Rich
        } else {
            DisplayStyle::Medium
        };
        let config = Config {
            display_style,
            start_context_lines: 1,
            ..Config::default()
        };
        let result = if color {
            term::emit_to_write_style(&mut Ansi::new(&mut bytes), &config, &files, &drawn)
        } else {
            term::emit_to_write_style(&mut NoColor::new(&mut bytes), &config, &files, &drawn)
        };
        // Writing into memory cannot fail, and all spans were clipped to their files.
        debug_assert!(result.is_ok(), "{result:?}");
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Writes messages as a JSON array, one object a message.
pub fn to_json(diagnostics: &[Diagnostic], sources: &SourceMap) -> String {
    let objects: Vec<String> = diagnostics
        .iter()
        .map(|d| json_object(&at_origin(d, sources), sources))
        .collect();
    format!("[{}]", objects.join(","))
}

/// Moves a message about derived text to the statement that the user wrote, and shows the derived line.
pub fn at_origin<'d>(diagnostic: &'d Diagnostic, sources: &SourceMap) -> Cow<'d, Diagnostic> {
    let is_derived = |label: &Label| sources.origin(label.span) != label.span;
    let mut labels = diagnostic.primary.iter().chain(&diagnostic.secondary);
    let Some(first) = labels.find(|label| is_derived(label)) else {
        return Cow::Borrowed(diagnostic);
    };
    let mut moved = diagnostic.clone();
    let line = sources.line(first.span);
    if sources.line(sources.origin(first.span)) != line {
        moved
            .notes
            .push(format!("the line derived from it is `{line}`"));
    }
    for label in moved.primary.iter_mut().chain(&mut moved.secondary) {
        label.span = sources.origin(label.span);
    }
    Cow::Owned(moved)
}

fn to_codespan(diagnostic: &Diagnostic, files: &IndexedFiles) -> codespan::Diagnostic<FileId> {
    let severity = match diagnostic.severity {
        Severity::Error => codespan::Severity::Error,
        Severity::Warning => codespan::Severity::Warning,
        Severity::Note => codespan::Severity::Note,
    };
    let label = |style, label: &Label| {
        let range = files.clip(label.span)?;
        Some(
            codespan::Label::new(style, label.span.file, range).with_message(harmless(&label.text)),
        )
    };

    let primary = diagnostic
        .primary
        .iter()
        .filter_map(|l| label(codespan::LabelStyle::Primary, l));
    let secondary = diagnostic
        .secondary
        .iter()
        .filter_map(|l| label(codespan::LabelStyle::Secondary, l));
    let help = diagnostic
        .help
        .iter()
        .map(|text| format!("help: {}", harmless(text)));
    let notes = diagnostic
        .notes
        .iter()
        .map(|text| format!("note: {}", harmless(text)));

    codespan::Diagnostic::new(severity)
        .with_code(diagnostic.code)
        .with_message(harmless(&diagnostic.message))
        .with_labels(primary.chain(secondary).collect())
        .with_notes(help.chain(notes).collect())
}

/// The files that messages point into, with the start of each line found once.
struct IndexedFiles<'s> {
    sources: &'s SourceMap,
    line_starts: Vec<Option<Vec<usize>>>,
    /// Names and texts as they are drawn.
    shown: Vec<Option<(Cow<'s, str>, Cow<'s, str>)>>,
}

impl<'s> IndexedFiles<'s> {
    fn new(diagnostics: &[Cow<'_, Diagnostic>], sources: &'s SourceMap) -> Self {
        let mut starts: Vec<Option<Vec<usize>>> = sources.files().map(|_| None).collect();
        let labels = diagnostics
            .iter()
            .flat_map(|d| d.primary.iter().chain(&d.secondary));
        for label in labels {
            if let Some(entry @ None) = starts.get_mut(label.span.file.0 as usize) {
                *entry = Some(line_starts(&sources.file(label.span.file).text).collect());
            }
        }
        let files = sources.files().zip(&starts);
        let shown = files
            .map(|((_, file), starts)| {
                starts.as_ref()?;
                Some((harmless(&file.name), harmless(&file.text)))
            })
            .collect();
        IndexedFiles {
            sources,
            line_starts: starts,
            shown,
        }
    }

    fn shown(&self, id: FileId) -> Result<&(Cow<'s, str>, Cow<'s, str>), Error> {
        let entry = self.shown.get(id.0 as usize);
        entry.and_then(Option::as_ref).ok_or(Error::FileMissing)
    }

    fn starts(&self, id: FileId) -> Result<&[usize], Error> {
        self.line_starts
            .get(id.0 as usize)
            .and_then(|s| s.as_deref())
            .ok_or(Error::FileMissing)
    }

    /// Tells whether the lines that a message points at are short enough to be shown.
    fn is_readable(&self, diagnostic: &Diagnostic) -> bool {
        diagnostic
            .primary
            .iter()
            .chain(&diagnostic.secondary)
            .all(|label| {
                let Some(bytes) = self.clip(label.span) else {
                    return true;
                };
                [bytes.start, bytes.end].iter().all(|&at| {
                    let line = self.line_index(label.span.file, at);
                    let range = line.and_then(|line| self.line_range(label.span.file, line));
                    range.is_ok_and(|range| range.len() <= MAX_LINE_SHOWN)
                })
            })
    }

    /// Gives the bytes of a span, moved into the file and onto character boundaries.
    fn clip(&self, span: Span) -> Option<Range<usize>> {
        self.starts(span.file).ok()?;
        let text = &self.sources.file(span.file).text;
        let floor = |at: u32| {
            let mut at = (at as usize).min(text.len());
            while !text.is_char_boundary(at) {
                at -= 1;
            }
            at
        };
        let start = floor(span.start);
        Some(start..floor(span.end).max(start))
    }
}

impl<'a> Files<'a> for IndexedFiles<'_> {
    type FileId = FileId;
    type Name = &'a str;
    type Source = &'a str;

    fn name(&'a self, id: FileId) -> Result<&'a str, Error> {
        Ok(&self.shown(id)?.0)
    }

    fn source(&'a self, id: FileId) -> Result<&'a str, Error> {
        Ok(&self.shown(id)?.1)
    }

    fn line_index(&'a self, id: FileId, byte_index: usize) -> Result<usize, Error> {
        Ok(self
            .starts(id)?
            .partition_point(|&start| start <= byte_index)
            .saturating_sub(1))
    }

    fn line_range(&'a self, id: FileId, line_index: usize) -> Result<Range<usize>, Error> {
        let starts = self.starts(id)?;
        let too_large = Error::LineTooLarge {
            given: line_index,
            max: starts.len(),
        };
        let start = *starts.get(line_index).ok_or(too_large)?;
        let end = starts.get(line_index + 1).copied();
        Ok(start..end.unwrap_or(self.sources.file(id).text.len()))
    }

    fn column_number(&'a self, id: FileId, line: usize, byte_index: usize) -> Result<usize, Error> {
        let range = self.line_range(id, line)?;
        Ok(column_index(&self.sources.file(id).text, range, byte_index) + 1)
    }
}

fn json_object(diagnostic: &Diagnostic, sources: &SourceMap) -> String {
    let severity = match diagnostic.severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Note => "note",
    };
    let texts = |all: &[String]| {
        all.iter()
            .map(|t| json_text(t))
            .collect::<Vec<_>>()
            .join(",")
    };

    let secondary: Vec<String> = diagnostic
        .secondary
        .iter()
        .map(|label| json_label(label, sources))
        .collect();

    format!(
        "{{\"severity\":\"{severity}\",\"code\":{},\"message\":{},\"primary\":{},\
         \"secondary\":[{}],\"help\":[{}],\"notes\":[{}]}}",
        json_text(diagnostic.code),
        json_text(&diagnostic.message),
        diagnostic
            .primary
            .as_ref()
            .map_or("null".to_owned(), |label| json_label(label, sources)),
        secondary.join(","),
        texts(&diagnostic.help),
        texts(&diagnostic.notes),
    )
}

fn json_label(label: &Label, sources: &SourceMap) -> String {
    let is_known = sources.files().any(|(id, _)| id == label.span.file);
    let (name, (line, column)) = if is_known {
        (
            sources.file(label.span.file).name.as_str(),
            sources.line_column(label.span),
        )
    } else {
        ("", (0, 0))
    };
    format!(
        "{{\"file\":{},\"line\":{line},\"column\":{column},\"start\":{},\"end\":{},\"text\":{}}}",
        json_text(name),
        label.span.start,
        label.span.end,
        json_text(&label.text),
    )
}

/// Writes a text with the quotes and escapes of JSON (RFC 8259, §7).
fn json_text(text: &str) -> String {
    let mut json = String::with_capacity(text.len() + 2);
    json.push('"');
    for c in text.chars() {
        match c {
            '"' => json.push_str("\\\""),
            '\\' => json.push_str("\\\\"),
            '\n' => json.push_str("\\n"),
            '\r' => json.push_str("\\r"),
            '\t' => json.push_str("\\t"),
            c if (c as u32) < 0x20 => json.push_str(&format!("\\u{:04x}", c as u32)),
            c => json.push(c),
        }
    }
    json.push('"');
    json
}

#[cfg(test)]
mod tests {
    use super::*;

    fn two_places() -> (Vec<Diagnostic>, SourceMap) {
        let mut sources = SourceMap::new();
        let text = "model Drive {\n    battery: Se(12 [V]) -> bus: 0\n\n    charger: Se(14 [V]) -> bus\n}\n";
        let file = sources.add("drive.bond", text);
        let span = |word: &str| {
            let start = text.find(word).expect("the word is in the text");
            Span::new(file, start, start + word.len())
        };
        let diagnostic = Diagnostic::error("E0301", "two sources set the effort of `bus`")
            .primary(span("charger"), "this source would set it again")
            .secondary(span("battery"), "already set by this one")
            .help("put a resistance in series with one source");
        (vec![diagnostic], sources)
    }

    #[test]
    fn a_message_shows_both_places_and_the_help() {
        let (diagnostics, sources) = two_places();
        let expected = "\
error[E0301]: two sources set the effort of `bus`
  ┌─ drive.bond:4:5
  │
2 │     battery: Se(12 [V]) -> bus: 0
  │     ------- already set by this one
3 │ 
4 │     charger: Se(14 [V]) -> bus
  │     ^^^^^^^ this source would set it again
  │
  = help: put a resistance in series with one source

";
        assert_eq!(render(&diagnostics, &sources, false), expected);
        assert!(render(&diagnostics, &sources, true).contains("\u{1b}["));
    }

    #[test]
    fn a_span_outside_of_its_file_is_still_drawn() {
        let mut sources = SourceMap::new();
        let file = sources.add("a.bond", "θ");
        let far = Span::new(file, 1, 900);
        let nowhere = Span::new(FileId(7), 0, 1);
        let diagnostics = [
            Diagnostic::warning("E0101", "far").primary(far, "here"),
            Diagnostic::note("E0101", "nowhere").primary(nowhere, "here"),
        ];
        let shown = render(&diagnostics, &sources, false);
        assert!(
            shown.contains("a.bond:1:1") && shown.contains("nowhere"),
            "{shown}"
        );
        assert!(to_json(&diagnostics, &sources).contains("\"line\":0"));
    }

    #[test]
    fn a_line_too_long_to_read_is_not_drawn() {
        let mut sources = SourceMap::new();
        let file = sources.add("a.bond", "x".repeat(100_000));
        let diagnostics = [Diagnostic::error("E0101", "long")
            .primary(Span::new(file, 9, 10), "here")
            .help("h")];
        let shown = render(&diagnostics, &sources, false);
        assert_eq!(shown, "a.bond:1:10: error[E0101]: long\n = help: h\n");
    }

    #[test]
    fn json_has_lines_and_escapes() {
        let (diagnostics, sources) = two_places();
        let json = to_json(&diagnostics, &sources);
        assert!(json.contains("\"line\":4,\"column\":5"), "{json}");
        assert_eq!(json_text("a\"\\\n\u{1}"), "\"a\\\"\\\\\\n\\u0001\"");
    }
}
