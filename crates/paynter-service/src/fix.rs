//! Help lines that a click can carry out.
//!
//! In:  a diagnostic of a text.
//! Out: for each help line that says exactly what to type, the edit that types it.
//!
//! **Invariant:** a fix is offered only where the place of the message is exactly what it replaces.

use crate::analysis::item_name;
use crate::document::Document;
use crate::message::Fix;
use crate::place::Range;
use paynter::syntax::{Diagnostic, FileId, Span, ast, parse};

/// The code of a model or element that nobody knows.
const UNKNOWN_MODEL: &str = "E0203";

/// Gives the fixes of a diagnostic that lie in this text.
pub fn fixes_of(document: &Document, diagnostic: &Diagnostic) -> Vec<Fix> {
    let Some(primary) = &diagnostic.primary else {
        return Vec::new();
    };
    let span = primary.span;
    if span.file != FileId(0) {
        return Vec::new();
    }
    let mut fixes = Vec::new();
    for help in &diagnostic.help {
        fixes.extend(meant_name(document, diagnostic, span, help));
        fixes.extend(written_out(document, span, help));
    }
    if diagnostic.code == UNKNOWN_MODEL {
        fixes.extend(from_library(document, span));
    }
    fixes
}

/// `did you mean X?`: the name in the place that the headline quotes becomes X.
fn meant_name(document: &Document, diagnostic: &Diagnostic, span: Span, help: &str) -> Option<Fix> {
    let rest = help.split_once("did you mean `")?.1;
    let meant = rest.split_once("`?")?.0;
    let under = document.slice(span);
    // The name as typed is one of those that the headline quotes.
    let quoted = diagnostic.message.split('`').skip(1).step_by(2);
    let typed = quoted
        .flat_map(|q| [q, q.rsplit('.').next().unwrap_or(q)])
        .find(|q| !q.is_empty() && word_position(under, q).is_some())?;
    let at = span.start as usize + word_position(under, typed)?;
    Some(Fix {
        title: format!("replace `{typed}` by `{meant}`"),
        edits: vec![(document.bytes(at, at + typed.len()), meant.to_owned())],
    })
}

/// Help that quotes the whole of what is to stand there: a number with its unit, another arrow, a word instead.
fn written_out(document: &Document, span: Span, help: &str) -> Option<Fix> {
    let under = document.slice(span);
    let quoted = help.split('`').nth(1)?;
    let is_arrow = |t: &str| matches!(t, "->" | "=>");
    let says_instead =
        (help.starts_with("type `") || help.starts_with("write `")) && help.ends_with("` instead");
    let says_whole = help == format!("write `{quoted}`");
    // `5` becomes `5 [V]`: the place is the number, and only a unit is added.
    let adds_unit = says_whole
        && !under.is_empty()
        && quoted
            .strip_prefix(under)
            .is_some_and(|u| u.starts_with(" [") && u.ends_with(']'));
    let turns_arrow = says_whole && is_arrow(quoted) && is_arrow(under);
    let fits =
        adds_unit || turns_arrow || (says_instead && !under.contains('\n') && !under.is_empty());
    (fits && quoted != under).then(|| Fix {
        title: format!("write `{quoted}`"),
        edits: vec![(document.range(span), quoted.to_owned())],
    })
}

/// A model that the library offers and the text does not use.
fn from_library(document: &Document, span: Span) -> Vec<Fix> {
    let name = document.slice(span);
    let mut fixes = Vec::new();
    for library in paynter::library::library_names() {
        let text = paynter::library::library(library).unwrap_or("");
        // Reading a library takes longer than looking for the word.
        if !text.contains(&format!("model {name}")) {
            continue;
        }
        let offers = parse(FileId(0), text)
            .ast
            .items
            .iter()
            .any(|i| match &i.kind {
                ast::ItemKind::Model(m) => &*m.name.text == name,
                _ => false,
            });
        if let (true, Some(edit)) = (offers, use_edit(document, library, name)) {
            fixes.push(Fix {
                title: format!("use {library}: {name}"),
                edits: vec![edit],
            });
        }
    }
    fixes
}

/// The edit that takes a name from a library into a text: a longer `use`, or a new one. None if it is taken already.
pub fn use_edit(document: &Document, library: &str, name: &str) -> Option<(Range, String)> {
    let file = &document.parsed.ast;
    if file
        .items
        .iter()
        .filter_map(item_name)
        .any(|n| &*n.text == name)
    {
        return None;
    }
    let mut last_use = None;
    for item in &file.items {
        let ast::ItemKind::Use(used) = &item.kind else {
            continue;
        };
        last_use = Some(item.span);
        let is_it = matches!(&used.from, ast::UseFrom::Library(path) if crate::view::path_text(path) == library);
        if !is_it {
            continue;
        }
        let last = used.names.last()?;
        if used.names.iter().any(|n| &*n.text == name) {
            return None;
        }
        let end = last.span.end as usize;
        return Some((document.bytes(end, end), format!(", {name}")));
    }
    let line = format!("use {library}: {name}");
    match last_use.or(file.units_strict) {
        Some(span) => {
            let at = span.end as usize;
            let end = document.text[at..]
                .find('\n')
                .map_or(document.text.len(), |i| at + i);
            Some((document.bytes(end, end), format!("\n{line}")))
        }
        None => {
            let first = file.items.first().map_or(0, |i| i.span.start as usize);
            let start = start_with_docs(&document.text, first);
            Some((document.bytes(start, start), format!("{line}\n\n")))
        }
    }
}

/// The start of an item with the documentation above it.
fn start_with_docs(text: &str, at: usize) -> usize {
    let mut start = text[..at].rfind('\n').map_or(0, |i| i + 1);
    while let Some(above) = text[..start].strip_suffix('\n') {
        let line = above.rfind('\n').map_or(0, |i| i + 1);
        if !text[line..start].trim_start().starts_with("///") {
            break;
        }
        start = line;
    }
    start
}

/// Where a word stands in a text, if it stands there once and as a whole word.
fn word_position(text: &str, word: &str) -> Option<usize> {
    let is_letter = |c: char| c.is_alphanumeric() || c == '_';
    let mut places = text.match_indices(word).filter(|(at, _)| {
        let before = text[..*at].chars().next_back();
        let after = text[at + word.len()..].chars().next();
        !before.is_some_and(is_letter) && !after.is_some_and(is_letter)
    });
    let first = places.next()?.0;
    places.next().is_none().then_some(first)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The text after the first fix of its first message.
    fn fixed(text: &str) -> Option<String> {
        let document = Document::new(text.into());
        let diagnostic = document.parsed.diagnostics.first()?;
        let fix = fixes_of(&document, diagnostic).into_iter().next()?;
        let mut text = text.to_owned();
        for (range, new) in fix.edits {
            text.replace_range(range.bytes.0..range.bytes.1, &new);
        }
        Some(text)
    }

    #[test]
    fn a_comparison_written_as_a_definition_gets_its_second_sign() {
        for condition in ["if x = 0 then 1 else 2", "if (x = 0) then 1 else 2"] {
            let text = format!("model A {{ y = {condition} }}");
            let expected = text.replace("x = 0", "x == 0");
            assert_eq!(fixed(&text), Some(expected));
        }
        let demand = "model A { solve x { x = 2 } }";
        assert_eq!(
            fixed(demand).as_deref(),
            Some("model A { solve x { x == 2 } }")
        );
    }

    #[test]
    fn a_power_with_stars_becomes_one_with_a_hat() {
        let text = "model A { y = a**2 }";
        assert_eq!(fixed(text).as_deref(), Some("model A { y = a^2 }"));
    }
}
