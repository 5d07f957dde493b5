//! What sort of thing stands at a place, by the tokens before it.
//!
//! In:  a text, which need not be complete, and a byte.
//! Out: a [`Context`].
//!
//! The tree of a broken line is not there; tokens always are. So the place is judged by what stands before it: the
//! brackets that are open, the words that begin the statement, the sign just before.

use crate::document::Document;
use crate::signature::{Call, call_around};
use paynter::syntax::{TokenKind, Tokens};

/// What may stand at a place.
pub enum Context {
    /// Inside a comment or a number.
    Nothing,
    /// The start of an item.
    Item,
    /// The start of a statement of a model.
    Statement,
    /// The start of a statement of an experiment.
    ExperimentStatement,
    /// At the start of a statement of a Lagrangian.
    LagrangianStatement,
    /// Behind `name:`.
    Kind,
    /// Behind the colon of a port.
    PortKind,
    /// Behind an arrow.
    Node,
    /// Behind a dot: the names before it.
    Members(Vec<String>),
    /// In brackets behind a number or a declared name.
    Unit,
    /// Behind `use`.
    Library,
    /// Behind `use library:`.
    LibraryNames(String),
    /// Inside the quotes of `use "…"`.
    File,
    /// Behind `of` or `extends`.
    Model,
    /// Behind `method =`.
    Method,
    /// In an expression, perhaps inside of a call.
    Expression {
        /// The innermost call.
        call: Option<Call>,
    },
}

/// Judges the place before a byte.
pub fn context(document: &Document, offset: usize) -> Context {
    let tokens = document.parsed.tree.tokens();
    let text = &document.text;
    // The word that is being typed counts as not there yet.
    let typed = (0..tokens.len()).find(|&i| {
        let range = tokens.range(i);
        range.start < offset && offset <= range.end
    });
    if let Some(i) = typed {
        match tokens.kind(i) {
            TokenKind::Comment | TokenKind::DocComment | TokenKind::Number => {
                return Context::Nothing;
            }
            TokenKind::Text => {
                let before = significant_before(tokens, i).map(|k| tokens.text(k, text));
                return match before {
                    Some("use" | "compare") => Context::File,
                    _ => Context::Nothing,
                };
            }
            _ => {}
        }
    }
    let is_word =
        |i: usize| tokens.kind(i) == TokenKind::Ident || tokens.kind(i).is_reserved_word();
    let end = match typed {
        Some(i) if is_word(i) => i,
        Some(i) => i + 1,
        None => tokens.len(),
    };
    let end = (0..end)
        .rev()
        .find(|&i| tokens.range(i).start < offset)
        .map_or(0, |i| i + 1)
        .min(end);
    judge(tokens, text, end, offset)
}

fn significant_before(tokens: &Tokens, i: usize) -> Option<usize> {
    (0..i).rev().find(|&k| !tokens.kind(k).is_trivia())
}

fn judge(tokens: &Tokens, text: &str, end: usize, offset: usize) -> Context {
    let Some(last) = significant_before(tokens, end) else {
        return Context::Item;
    };
    let start = statement_start(tokens, end);
    let words: Vec<&str> = (start..end)
        .filter(|&i| !tokens.kind(i).is_trivia())
        .map(|i| tokens.text(i, text))
        .collect();
    let first = words.first().copied().unwrap_or("");
    let body = body_of(tokens, text, start);
    if tokens.kind(last) == TokenKind::Dot {
        return Context::Members(names_before(tokens, text, last));
    }
    if let Some(open) = open_bracket(tokens, start, end)
        && is_unit(tokens, text, open, first)
    {
        return Context::Unit;
    }
    if first == "use" {
        return match words.as_slice() {
            ["use"] => Context::Library,
            ["use", library, ":", ..] => Context::LibraryNames((*library).to_owned()),
            _ => Context::Nothing,
        };
    }

    match (body, words.last().copied()) {
        (None, Some("of" | "extends")) => return Context::Model,
        (_, None) => return start_of_statement(body),
        _ => {}
    }
    let is_call = open_bracket(tokens, start, end).is_some();
    let is_list = !is_call && has_arrow(tokens, start, end);
    behind_sign(tokens.kind(last), &words, body, is_list).unwrap_or_else(|| Context::Expression {
        call: call_around(text, tokens, offset).filter(|c| c.at >= tokens.range(start).start),
    })
}

/// What a statement may begin with, by the word that begins the body around it.
fn start_of_statement(body: Option<&str>) -> Context {
    match body {
        None => Context::Item,
        Some("experiment") => Context::ExperimentStatement,
        Some("model") => Context::Statement,
        Some("lagrangian") => Context::LagrangianStatement,
        Some(_) => Context::Expression { call: None },
    }
}

/// What the sign just before asks for; none if that is a value. `is_list` says that a comma parts nodes of a chain.
fn behind_sign(
    last: TokenKind,
    words: &[&str],
    body: Option<&str>,
    is_list: bool,
) -> Option<Context> {
    let first = words.first().copied().unwrap_or("");
    Some(match last {
        TokenKind::Colon if matches!(first, "port") => Context::PortKind,
        TokenKind::Colon if matches!(first, "replaceable" | "outer") => Context::Model,
        TokenKind::Colon if matches!(first, "when" | "bond") => Context::Node,
        TokenKind::Colon if body == Some("model") => Context::Kind,
        TokenKind::Colon if body == Some("port") => Context::PortKind,
        kind if kind.is_arrow() => Context::Node,
        TokenKind::Comma if is_list => Context::Node,
        TokenKind::Eq if words.get(words.len().wrapping_sub(2)) == Some(&"method") => {
            Context::Method
        }
        TokenKind::Ident
            if body.is_none()
                && matches!(first, "model" | "experiment" | "fn" | "domain" | "port") =>
        {
            Context::Nothing
        }
        _ => return None,
    })
}

/// The first token of the statement that ends before `end`.
fn statement_start(tokens: &Tokens, end: usize) -> usize {
    let mut depth = 0_i32;
    let mut start = end;
    let mut i = end;
    while i > 0 {
        i -= 1;
        match tokens.kind(i) {
            TokenKind::RParen | TokenKind::RBracket => depth += 1,
            TokenKind::LParen | TokenKind::LBracket => depth -= 1,
            // A bracket that is open holds the statement together over lines.
            TokenKind::LBrace | TokenKind::RBrace | TokenKind::Semicolon if depth <= 0 => {
                return start;
            }
            TokenKind::Newline if depth == 0 => {
                let before = significant_before(tokens, i).map(|k| tokens.kind(k));
                let next = (i..end)
                    .find(|&k| !tokens.kind(k).is_trivia())
                    .map(|k| tokens.kind(k));
                let goes_on = before.is_some_and(TokenKind::continues_line)
                    || next.is_some_and(TokenKind::continues_from_above);
                if !goes_on {
                    return start;
                }
            }
            kind if !kind.is_trivia() => start = i,
            _ => {}
        }
    }
    start
}

/// The word that begins the item whose braces hold a token: `model`, `experiment` … none at the top level.
fn body_of<'t>(tokens: &Tokens, text: &'t str, at: usize) -> Option<&'t str> {
    let mut depth = 0_i32;
    let mut i = at;
    let mut found = None;
    while i > 0 {
        i -= 1;
        match tokens.kind(i) {
            TokenKind::RBrace => depth += 1,
            TokenKind::LBrace if depth > 0 => depth -= 1,
            TokenKind::LBrace => {
                let start = statement_start(tokens, i);
                let word = tokens.text(start, text);
                found = Some(word);
                if matches!(
                    word,
                    "model" | "lagrangian" | "experiment" | "port" | "domain" | "fn"
                ) {
                    return found;
                }
            }
            _ => {}
        }
    }
    found
}

/// The innermost round or square bracket that is open.
fn open_bracket(tokens: &Tokens, start: usize, end: usize) -> Option<usize> {
    let mut open = Vec::new();
    for i in start..end {
        match tokens.kind(i) {
            TokenKind::LParen | TokenKind::LBracket => open.push(i),
            TokenKind::RParen | TokenKind::RBracket => {
                open.pop();
            }
            _ => {}
        }
    }
    open.pop()
}

/// Tells whether a bracket holds a unit: behind a number, a matrix, or a name that is declared.
fn is_unit(tokens: &Tokens, text: &str, open: usize, first: &str) -> bool {
    if tokens.kind(open) != TokenKind::LBracket {
        return false;
    }
    let Some(before) = significant_before(tokens, open) else {
        return false;
    };
    let is_declared = || {
        let earlier = significant_before(tokens, before).map(|k| tokens.text(k, text));
        matches!(first, "param" | "input" | "output" | "signal")
            && matches!(earlier, Some("param" | "input" | "output" | "signal" | ","))
    };
    match tokens.kind(before) {
        TokenKind::Number => tokens.range(before).end < tokens.range(open).start,
        TokenKind::Ident => {
            is_declared()
                || (tokens.text(before, text) == first
                    && tokens.range(before).end < tokens.range(open).start)
        }
        TokenKind::RBracket => true,
        _ => false,
    }
}

fn has_arrow(tokens: &Tokens, start: usize, end: usize) -> bool {
    (start..end).any(|i| tokens.kind(i).is_arrow())
}

/// The names before a dot: `middle.y.` gives `middle`, `y`; indices are stepped over.
fn names_before(tokens: &Tokens, text: &str, dot: usize) -> Vec<String> {
    let mut names = Vec::new();
    let mut at = dot;
    while let Some(mut before) = significant_before(tokens, at) {
        if tokens.kind(before) == TokenKind::RBracket {
            let mut depth = 0_i32;
            let mut i = before;
            loop {
                match tokens.kind(i) {
                    TokenKind::RBracket => depth += 1,
                    TokenKind::LBracket => depth -= 1,
                    _ => {}
                }
                if depth == 0 || i == 0 {
                    break;
                }
                i -= 1;
            }
            let Some(name) = significant_before(tokens, i) else {
                break;
            };
            before = name;
        }
        if tokens.kind(before) != TokenKind::Ident {
            break;
        }
        names.push(tokens.text(before, text).to_owned());
        match significant_before(tokens, before) {
            Some(next) if tokens.kind(next) == TokenKind::Dot => at = next,
            _ => break,
        }
    }
    names.reverse();
    names
}
