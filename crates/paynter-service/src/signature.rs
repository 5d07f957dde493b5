//! How the call round a place is written.
//!
//! In:  a path and a byte.
//! Out: the signature of the function, model or element, and which argument the place is in.

use crate::describe::{built_in_function, element, function_text, interface};
use crate::workspace::Workspace;
use paynter::syntax::{Span, TokenKind, ast};
use serde::{Deserialize, Serialize};

/// A signature.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Signature {
    /// The whole: `step(time, height, at)`.
    pub label: String,
    /// Its arguments, each a stretch of the label in bytes.
    pub arguments: Vec<(usize, usize)>,
    /// Which of them the place is in.
    pub active: Option<usize>,
    /// What is said about it.
    pub doc: Option<String>,
}

/// The call that a place lies in: its name, what was written so far.
pub struct Call {
    /// What is called, with dots.
    pub name: String,
    /// First byte of the name.
    pub at: usize,
    /// How many commas stand before the place.
    pub n_commas: usize,
    /// The name of the argument that the place is in: `at = `.
    pub argument: Option<String>,
    /// Names of the arguments that are given already.
    pub given: Vec<String>,
}

/// Finds the call round a byte.
pub fn call_around(text: &str, tokens: &paynter::syntax::Tokens, offset: usize) -> Option<Call> {
    let mut depth = 0_i32;
    let mut n_commas = 0;
    let mut argument = None;
    let mut given = Vec::new();
    let end = (0..tokens.len())
        .take_while(|&i| tokens.range(i).end <= offset)
        .count();
    // Words behind the place are given as well: walk forward to the bracket that closes.
    let mut ahead = 0_i32;
    for i in end..tokens.len() {
        match tokens.kind(i) {
            k if k.is_opener() => ahead += 1,
            k if k.is_closer() => {
                ahead -= 1;
                if ahead < 0 {
                    break;
                }
            }
            TokenKind::Eq if ahead == 0 => given.extend(word_before(text, tokens, i)),
            _ => {}
        }
    }
    for i in (0..end).rev() {
        match tokens.kind(i) {
            k if k.is_closer() => depth += 1,
            TokenKind::LParen if depth == 0 => {
                let (name, at) = path_before(text, tokens, i)?;
                return Some(Call {
                    name,
                    at,
                    n_commas,
                    argument,
                    given,
                });
            }
            k if k.is_opener() && depth == 0 => match k {
                // A matrix inside of a call belongs to an argument of it.
                TokenKind::LBracket => {}
                _ => return None,
            },
            k if k.is_opener() => depth -= 1,
            TokenKind::Comma if depth == 0 => n_commas += 1,
            TokenKind::Eq if depth == 0 => {
                let word = word_before(text, tokens, i);
                if n_commas == 0 {
                    argument.clone_from(&word);
                }
                given.extend(word);
            }
            _ => {}
        }
    }
    None
}

fn before(tokens: &paynter::syntax::Tokens, i: usize) -> Option<usize> {
    (0..i).rev().find(|&k| !tokens.kind(k).is_trivia())
}

fn word_before(text: &str, tokens: &paynter::syntax::Tokens, i: usize) -> Option<String> {
    let at = before(tokens, i).filter(|&k| tokens.kind(k) == TokenKind::Ident)?;
    Some(tokens.text(at, text).to_owned())
}

/// The dotted name before a bracket; a size such as `[3]` is stepped over.
fn path_before(text: &str, tokens: &paynter::syntax::Tokens, i: usize) -> Option<(String, usize)> {
    let mut at = before(tokens, i)?;
    if tokens.kind(at) == TokenKind::RBracket {
        while tokens.kind(at) != TokenKind::LBracket {
            at = at.checked_sub(1)?;
        }
        at = before(tokens, at)?;
    }
    if tokens.kind(at) != TokenKind::Ident {
        return None;
    }
    let mut name = tokens.text(at, text).to_owned();
    let mut start = tokens.range(at).start;
    while let Some(dot) = before(tokens, at).filter(|&k| tokens.kind(k) == TokenKind::Dot) {
        at = before(tokens, dot).filter(|&k| tokens.kind(k) == TokenKind::Ident)?;
        name = format!("{}.{name}", tokens.text(at, text));
        start = tokens.range(at).start;
    }
    Some((name, start))
}

/// Gives the signature of the call round a byte.
pub fn signature(workspace: &Workspace, path: &str, offset: usize) -> Option<Signature> {
    let document = workspace.document(path)?;
    let call = call_around(&document.text, document.parsed.tree.tokens(), offset)?;
    let analysis = workspace.analysis(path)?;
    let found = analysis.find(&path_of(&call.name), 0);
    match found.map(|(file, item)| (file, item, &item.kind)) {
        Some((file, item, ast::ItemKind::Model(model))) => {
            let lines = interface(&analysis, file, model);
            let values = lines.iter().filter(|(title, _)| {
                matches!(*title, "Parameters" | "Inputs" | "Replaceable parts")
            });
            let texts: Vec<(String, String)> = values
                .flat_map(|(_, lines)| lines.iter().map(|l| (l.name.clone(), l.text.clone())))
                .collect();
            Some(assemble(&call, &texts, item.doc.clone()))
        }
        Some((file, item, ast::ItemKind::Function(f))) => {
            let params = f.params.iter().map(|p| {
                (
                    p.name.text.to_string(),
                    crate::describe::source(&analysis, file, p.span).to_owned(),
                )
            });
            let mut signature = assemble(&call, &params.collect::<Vec<_>>(), item.doc.clone());
            if signature.doc.is_none() {
                signature.doc = Some(function_text(&analysis, file, f));
            }
            Some(signature)
        }
        _ => {
            if let Some(kind) = element(&call.name) {
                return Some(assemble(
                    &call,
                    &[("value".to_owned(), "value".to_owned())],
                    Some(kind.what.to_owned()),
                ));
            }
            let (label, doc) = built_in_function(&call.name)?;
            let inside = label.split_once('(')?.1.trim_end_matches(')');
            let params = inside.split(", ").filter(|p| !p.is_empty());
            let params: Vec<(String, String)> = params
                .map(|p| (p.trim_end_matches('?').to_owned(), p.to_owned()))
                .collect();
            Some(assemble(&call, &params, Some(doc)))
        }
    }
}

fn path_of(text: &str) -> ast::Path {
    let segments = text.split('.').map(|s| ast::Ident {
        text: s.into(),
        span: Span::default(),
    });
    ast::Path {
        segments: segments.collect(),
        span: Span::default(),
    }
}

/// Writes a signature: arguments as (name, text).
fn assemble(call: &Call, params: &[(String, String)], doc: Option<String>) -> Signature {
    let mut label = format!("{}(", call.name);
    let mut arguments = Vec::new();
    for (i, (_, text)) in params.iter().enumerate() {
        if i > 0 {
            label.push_str(", ");
        }
        arguments.push((label.len(), label.len() + text.len()));
        label.push_str(text);
    }
    label.push(')');
    let active = match &call.argument {
        Some(name) => params.iter().position(|(n, _)| n == name),
        None => Some(call.n_commas).filter(|&n| n < params.len()),
    };
    Signature {
        label,
        arguments,
        active,
        doc,
    }
}
