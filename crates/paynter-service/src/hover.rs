//! What is said about a place in a text.
//!
//! In:  a path and a byte.
//! Out: Markdown and the range it is about: names, bonds with their stroke and reason, units, functions, words.

use crate::describe::{BUILT_IN, LAW_LETTERS, WORDS, built_in_function, describe, element};
use crate::document::Document;
use crate::place::Range;
use crate::rename::symbol_at;
use crate::view::{Bond, StrokeAt, View};
use crate::workspace::Workspace;
use paynter::model::domains::Domains;
use paynter::model::units::{Unit, format_number};
use paynter::syntax::{NodeKind, TokenKind, ast};
use serde::{Deserialize, Serialize};

/// What is said about a place.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Hover {
    /// The place.
    pub range: Range,
    /// Markdown.
    pub text: String,
}

/// Describes what stands at a byte of a text.
pub fn hover(workspace: &Workspace, path: &str, offset: usize) -> Option<Hover> {
    let document = workspace.document(path)?;
    let tokens = document.parsed.tree.tokens();
    let token = token_at(tokens, offset)?;
    let range = tokens.range(token);
    let say = |text: String| Hover {
        range: document.bytes(range.start, range.end),
        text,
    };
    if tokens.kind(token).is_arrow() {
        return bonds_at(workspace, path, range.start).map(say);
    }
    if document.parsed.tree.innermost_kinds().get(token) == Some(&NodeKind::Unit) {
        return unit_text(&document.text, range.start).map(say);
    }
    let word = tokens.text(token, &document.text);
    if let Some((symbol, span)) = symbol_at(workspace, path, offset) {
        let analysis = workspace.analysis(path)?;
        let mut text = describe(&analysis, &symbol)?;
        if let crate::symbol::Symbol::Member { name, .. } = &symbol
            && let Some(more) = form_text(workspace, path, offset, name)
        {
            text.push_str(&more);
        }
        return Some(Hover {
            range: document.range(span),
            text,
        });
    }
    if !matches!(tokens.kind(token), TokenKind::Ident | TokenKind::Number) {
        return None;
    }
    word_text(&document.text, range.start, word)
        .or_else(|| column_text(&document, range.start, word))
        .map(say)
}

/// A column that an experiment records under a name of its own.
fn column_text(document: &Document, at: usize, word: &str) -> Option<String> {
    let items = document.parsed.ast.items.iter();
    let mut around = items.filter(|i| (i.span.start as usize..i.span.end as usize).contains(&at));
    let ast::ItemKind::Experiment(experiment) = &around.next()?.kind else {
        return None;
    };
    let lists = experiment.body.iter().filter_map(|s| match &s.kind {
        ast::ExperimentKind::Record(list) => Some(list),
        _ => None,
    });
    let named = |r: &&ast::Record| r.alias.as_ref().is_some_and(|a| &*a.text == word);
    let found = lists.flatten().find(named)?;
    let end = found.alias.as_ref().map_or(found.value.span, |a| a.span);
    let text = document.slice(found.value.span.to(end));
    Some(format!(
        "```bond\nrecord {text}\n```\na column of the result"
    ))
}

/// The token that holds a byte, or ends there.
pub fn token_at(tokens: &paynter::syntax::Tokens, offset: usize) -> Option<usize> {
    let (mut low, mut high) = (0, tokens.len());
    while low < high {
        let middle = (low + high) / 2;
        if tokens.range(middle).end <= offset {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    let here = Some(low).filter(|&t| t < tokens.len());
    let before = low
        .checked_sub(1)
        .filter(|&t| tokens.range(t).end == offset);
    match (here, before) {
        (Some(t), _) if !tokens.kind(t).is_trivia() => Some(t),
        (_, Some(t)) if !tokens.kind(t).is_trivia() => Some(t),
        (here, before) => here.or(before),
    }
}

/// Says of the bonds of an arrow which stroke each has, and why.
fn bonds_at(workspace: &Workspace, path: &str, start: usize) -> Option<String> {
    let view = view_around(workspace, path, start)?;
    let bonds = view
        .bonds
        .iter()
        .filter(|b| b.inherited.is_none() && b.range.bytes.0 == start);
    let texts: Vec<String> = bonds.map(bond_text).collect();
    (!texts.is_empty()).then(|| texts.join("\n\n"))
}

fn bond_text(bond: &Bond) -> String {
    let arrow = match (bond.stroke, bond.is_multi) {
        (Some(StrokeAt::Head), false) => "->|",
        (Some(StrokeAt::Tail), false) => "|->",
        (Some(StrokeAt::Head), true) => "=>|",
        (Some(StrokeAt::Tail), true) => "|=>",
        (_, false) => "->",
        (_, true) => "=>",
    };
    let mut text = format!("```bond\n{} {arrow} {}\n```", bond.from.node, bond.to.node);
    match (&bond.stroke, bond.is_conflict) {
        (_, true) => text.push_str("\nrequirements on this bond contradict each other"),
        (Some(StrokeAt::Mixed), _) => text.push_str("\nits components have different strokes"),
        (None, _) => text.push_str("\nno stroke: the model has errors or waits for others"),
        _ => {}
    }
    if let Some(domain) = &bond.domain {
        text.push_str(&format!("\n{domain}"));
        if let Some(n) = bond.dimension.filter(|&n| n > 1) {
            text.push_str(&format!(", {n} components"));
        }
    }
    for reason in &bond.reasons {
        text.push_str(&format!("\n- {reason}"));
    }
    text
}

/// The view of the model that a byte lies in.
pub fn view_around(workspace: &Workspace, path: &str, offset: usize) -> Option<View> {
    let document = workspace.document(path)?;
    let items = document.parsed.ast.items.iter().rev();
    let mut names = items.filter_map(|item| match &item.kind {
        paynter::syntax::ast::ItemKind::Model(model) => {
            let holds = (item.span.start as usize..=item.span.end as usize).contains(&offset);
            holds.then(|| model.name.text.to_string())
        }
        _ => None,
    });
    let name = names.next()?;
    workspace.view(path, &name)
}

/// How a storage is used, and what a junction or element belongs to.
fn form_text(workspace: &Workspace, path: &str, offset: usize, name: &str) -> Option<String> {
    let view = view_around(workspace, path, offset)?;
    let node = view
        .nodes
        .iter()
        .find(|n| n.name.as_deref() == Some(name))?;
    let mut text = String::new();
    if let Some(domain) = &node.domain {
        text.push_str(&format!("\n\n{domain}"));
    }
    if let Some(form) = node.form {
        text.push_str(match form {
            crate::view::Form::Integral => "\n\nintegral form: a state",
            crate::view::Form::Derivative => "\n\nderivative form: it follows from other states",
            crate::view::Form::Mixed => "\n\nsome components are states, some follow from others",
        });
    }
    (!text.is_empty()).then_some(text)
}

/// A unit in SI: `[N*m]`.
fn unit_text(text: &str, at: usize) -> Option<String> {
    let open = text[..=at.min(text.len().saturating_sub(1))].rfind('[')?;
    let close = open + text[open..].find(']')?;
    let inside = &text[open + 1..close];
    let unit = Unit::parse_text(inside).ok()?;
    let mut out = format!("unit `{inside}`");
    if unit.offset != 0.0 {
        out.push_str(&format!(
            ": x in it is {}·x + {} in SI",
            format_number(unit.factor),
            format_number(unit.offset)
        ));
    } else if unit.factor != 1.0 {
        out.push_str(&format!(" = {} in SI", format_number(unit.factor)));
    }
    Some(out)
}

fn word_text(text: &str, at: usize, word: &str) -> Option<String> {
    let before = text[..at].trim_end();
    let after = text[at + word.len()..].trim_start();
    // A comment above may end with a full stop.
    if text[..at].ends_with('.') {
        return quantity_text(word);
    }
    if after.starts_with('(')
        && let Some((signature, summary)) = built_in_function(word)
    {
        return Some(format!("```bond\n{signature}\n```\n{summary}"));
    }
    if let Some(kind) = element(word) {
        let (letters, what) = (kind.letters, kind.what);
        let (example, readable) = (kind.example, kind.readable);
        // A number is a junction only where a node may stand.
        let is_node = before.ends_with([':', '>', '|', ',', '('])
            || after.starts_with("->")
            || after.starts_with("=>");
        let is_digit = matches!(letters, "0" | "1");
        if !is_digit || (before.ends_with(':') && is_node) {
            return Some(format!(
                "**{letters}** {what}\n```bond\n{example}\n```\nreadable: `{readable}`"
            ));
        }
        return None;
    }
    if let Some((name, what)) = BUILT_IN.iter().find(|b| b.0 == word) {
        return Some(format!("**{name}** {what}"));
    }
    if let Some((name, what)) = WORDS.iter().find(|w| w.0 == word) {
        return Some(format!("**{name}** {what}"));
    }
    if let Some((letter, what)) = LAW_LETTERS.iter().find(|l| l.0 == word) {
        return Some(format!("**{letter}** {what}"));
    }
    let domains = Domains::built_in();
    let domain = domains.get(domains.find(word)?);
    Some(format!(
        "**{word}** a domain: effort is {} [{}], flow is {} [{}]",
        domain.effort.name, domain.effort.unit.text, domain.flow.name, domain.flow.unit.text
    ))
}

/// What stands behind the dot of an element.
fn quantity_text(word: &str) -> Option<String> {
    let what = match word {
        "e" => "effort",
        "f" => "flow",
        "q" => "displacement: ∫ flow",
        "p" => "momentum: ∫ effort",
        "power" => "effort · flow, W",
        "energy" => "∫ power since the start, J",
        "stored" => "energy in the storage, J",
        "ratio" => "the modulus of a TF or GY",
        "supplied" => "energy given by all sources since the start, J",
        "dissipated" => "energy lost in all resistors since the start, J",
        "residual" => "supplied − dissipated − change of stored energy, J",
        _ => return None,
    };
    Some(format!("**.{word}** {what}"))
}
