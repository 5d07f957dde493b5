//! Help lines that a click can carry out.
//!
//! In:  a diagnostic of a text.
//! Out: for each help line that says exactly what to type, the edit that types it.
//!
//! **Invariant:** a fix is offered only where the place of the message is exactly what it replaces.

use crate::document::Document;
use crate::message::Fix;
use paynter::syntax::{Diagnostic, FileId, Span};

/// Gives the fixes of a diagnostic that lie in this text.
pub fn fixes_of(document: &Document, diagnostic: &Diagnostic) -> Vec<Fix> {
    let Some(primary) = &diagnostic.primary else {
        return Vec::new();
    };
    if primary.span.file != FileId(0) {
        return Vec::new();
    }
    let helps = diagnostic.help.iter();
    helps
        .filter_map(|help| meant_name(document, diagnostic, primary.span, help))
        .collect()
}

/// `did you mean X?`: the last name in the place that the headline quotes becomes X.
fn meant_name(document: &Document, diagnostic: &Diagnostic, span: Span, help: &str) -> Option<Fix> {
    let rest = help.split_once("did you mean `")?.1;
    let meant = rest.split_once("`?")?.0;
    let under = document.slice(span);
    // The name as typed is one of those that the headline quotes.
    let quoted = diagnostic.message.split('`').skip(1).step_by(2);
    let typed = quoted
        .flat_map(|q| [q, q.rsplit('.').next().unwrap_or(q)])
        .find(|q| !q.is_empty() && is_word_in(under, q))?;
    let at = span.start as usize + word_position(under, typed)?;
    Some(Fix {
        title: format!("replace `{typed}` by `{meant}`"),
        edits: vec![(document.bytes(at, at + typed.len()), meant.to_owned())],
    })
}

fn is_word_in(text: &str, word: &str) -> bool {
    word_position(text, word).is_some()
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
