//! Names for new things, and new names for old ones.
//!
//! In:  a draft.
//! Out: a name that nothing has yet; the edits that rename something everywhere.

use super::draft::Draft;
use super::{Refusal, TextEdit};
use crate::workspace::Workspace;
use paynter::syntax::{TokenKind, lex};
use std::collections::BTreeSet;

/// Words of the language that would not read well as names, or could not be read at all.
const RESERVED: &[&str] = &[
    "time", "system", "pi", "if", "then", "else", "and", "or", "not", "true", "false",
];

/// Finds a name for a new thing of a kind: `r2`, `tf1`, `motor1`; junctions are `j1`, `n1`.
pub fn fresh_name(draft: &Draft<'_>, kind: &str) -> String {
    let taken = taken(draft);
    let stem = match kind {
        "0" => "n".to_owned(),
        "1" => "j".to_owned(),
        _ => {
            let last = kind.rsplit('.').next().unwrap_or(kind);
            let mut stem = String::new();
            let mut before = 'X';
            for c in last.chars() {
                if c.is_uppercase() && before.is_lowercase() {
                    stem.push('_');
                }
                stem.extend(c.to_lowercase());
                before = c;
            }
            stem.trim_end_matches(|c: char| c.is_ascii_digit())
                .to_owned()
        }
    };
    numbered(&stem, |name| taken.contains(name))
}

/// The first of `stem1`, `stem2` … that is free.
pub fn numbered(stem: &str, is_taken: impl Fn(&str) -> bool) -> String {
    let stem = if is_name(stem) { stem } else { "part" };
    (1..)
        .map(|n| format!("{stem}{n}"))
        .find(|name| !is_taken(name))
        .expect("there are more numbers than names")
}

/// Every word of the model, and every name it inherits: a new name must be none of them.
pub fn taken(draft: &Draft<'_>) -> BTreeSet<String> {
    let (item, _) = draft.syntax();
    let text = draft.slice(item.span);
    let tokens = lex(&text);
    let words = (0..tokens.len()).filter(|&i| tokens.kind(i) == TokenKind::Ident);
    let mut found: BTreeSet<String> = words.map(|i| tokens.text(i, &text).to_owned()).collect();
    let reading = draft.read();
    found.extend(reading.view.nodes.iter().filter_map(|n| n.name.clone()));
    found.extend(reading.view.signals.iter().map(|s| s.name.clone()));
    found.extend(RESERVED.iter().map(|w| (*w).to_owned()));
    found
}

/// Names that mean something in the model already: what it makes, and every word of it that is no member of something else.
pub fn names_in_scope(draft: &Draft<'_>) -> BTreeSet<String> {
    let (item, _) = draft.syntax();
    let text = draft.slice(item.span);
    let tokens = lex(&text);
    let mut found: BTreeSet<String> = RESERVED.iter().map(|w| (*w).to_owned()).collect();
    let mut before = TokenKind::End;
    for i in 0..tokens.len() {
        if tokens.kind(i) == TokenKind::Ident && before != TokenKind::Dot {
            found.insert(tokens.text(i, &text).to_owned());
        }
        if !tokens.kind(i).is_trivia() {
            before = tokens.kind(i);
        }
    }
    let reading = draft.read();
    found.extend(reading.view.nodes.iter().filter_map(|n| n.name.clone()));
    found.extend(reading.view.signals.iter().map(|s| s.name.clone()));
    found
}

/// Tells whether a text is one name.
pub fn is_name(text: &str) -> bool {
    let tokens = lex(text);
    tokens.len() == 1 && tokens.kind(0) == TokenKind::Ident
}

/// Checks a name that the user gave for something new.
///
/// # Errors
///
/// It is no name, or taken.
pub fn check_new_name(draft: &Draft<'_>, name: &str) -> Result<(), Refusal> {
    if !is_name(name) || RESERVED.contains(&name) {
        return Err(Refusal::new(format!("`{name}` is not a name")));
    }
    let reading = draft.read();
    let has_node = reading.names.contains_key(name);
    let has_signal = reading.view.signals.iter().any(|s| s.name == name);
    if has_node || has_signal {
        return Err(Refusal::new(format!("there is a `{name}` already")));
    }
    Ok(())
}

/// Renames a node or signal everywhere.
///
/// # Errors
///
/// The new name is taken, or the thing has no name in this text.
pub fn rename(
    workspace: &Workspace,
    draft: &Draft<'_>,
    node: &str,
    name: &str,
) -> Result<Vec<TextEdit>, Refusal> {
    check_new_name(draft, name)?;
    let reading = draft.read();
    let found = reading.view.nodes.iter().find(|n| n.id == node);
    let signal = reading.view.signals.iter().find(|s| s.name == node);
    let (range, inherited) = match (found, signal) {
        (Some(node), _) if node.name.is_some() => (node.name_range, &node.inherited),
        (Some(node), _) => {
            // An unnamed node gets a name.
            let kind_start = node.range.bytes.0;
            let at = draft.document.bytes(kind_start, kind_start);
            return Ok(vec![TextEdit {
                path: draft.analysis.path.clone(),
                range: at,
                text: format!("{name}: "),
            }]);
        }
        (None, Some(signal)) => (signal.range, &signal.inherited),
        (None, None) => return Err(Refusal::new(format!("there is no `{node}`"))),
    };
    if let Some(model) = inherited {
        return Err(Refusal::new(format!(
            "`{node}` is made in `{model}`, which this model extends; rename it there"
        )));
    }
    let offset = range.bytes.0;
    crate::rename::rename_at(workspace, &draft.analysis.path, offset, name)
}
