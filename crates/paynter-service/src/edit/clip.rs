//! Copies of nodes: to a clipboard, back from it, or both at once.
//!
//! In:  ids, or statements that were copied.
//! Out: statements that make the same nodes and the bonds between them, under names that are free.
//!
//! **Invariant:** what is pasted reads its own copies where it read the originals, and everything else where
//! it is.

use super::Refusal;
use super::connect::node;
use super::draft::Draft;
use super::layout::place;
use super::names::{numbered, taken};
use crate::view::{Node, NodeSort};
use crate::workspace::Workspace;
use paynter::syntax::{FileId, TokenKind, ast, lex, parse};
use std::collections::{BTreeMap, BTreeSet};

/// How far a duplicate is put from its original.
const DUPLICATE_OFFSET: f64 = 40.0;

/// Gives statements that make nodes of a model and the bonds between them: what a clipboard holds.
///
/// # Errors
///
/// One of them cannot be copied.
pub fn copy(
    workspace: &Workspace,
    path: &str,
    model: &str,
    nodes: &[String],
) -> Result<String, Refusal> {
    let missing = || Refusal::new(format!("there is no text `{path}`"));
    let analysis = workspace.analysis(path).ok_or_else(missing)?;
    let document = workspace.document(path).ok_or_else(missing)?;
    let draft = Draft::new(&analysis, &document, model)?;
    copied(&draft, nodes).map(|lines| lines.join("\n"))
}

fn copied(draft: &Draft<'_>, ids: &[String]) -> Result<Vec<String>, Refusal> {
    if ids.is_empty() {
        return Err(Refusal::new("nothing is chosen"));
    }
    let reading = draft.read();
    let mut lines = Vec::new();
    let mut names: BTreeMap<&str, String> = BTreeMap::new();
    let mut used = taken(draft);
    for id in ids {
        let found = reading.view.nodes.iter().find(|n| n.id == *id);
        let found = found.ok_or_else(|| Refusal::new(format!("there is no `{id}`")))?;
        let (name, line) = line_of(draft, found, &mut used)?;
        names.insert(id, name);
        lines.push(line);
    }
    for bond in &reading.view.bonds {
        let ends = [&bond.from, &bond.to];
        let texts: Vec<String> = ends
            .iter()
            .filter_map(|end| {
                let name = names.get(end.node.as_str())?;
                Some(match end.port.as_ref().filter(|_| !end.is_implied) {
                    Some(port) if port.starts_with('[') => format!("{name}{port}"),
                    Some(port) => format!("{name}.{port}"),
                    None => name.clone(),
                })
            })
            .collect();
        if let [from, to] = texts.as_slice() {
            let arrow = match (bond.is_multi, bond.forced) {
                (false, None) => "->",
                (false, Some(crate::view::StrokeAt::Tail)) => "|->",
                (false, Some(_)) => "->|",
                (true, None) => "=>",
                (true, Some(crate::view::StrokeAt::Tail)) => "|=>",
                (true, Some(_)) => "=>|",
            };
            lines.push(format!("{from} {arrow} {to}"));
        }
    }
    Ok(lines)
}

fn line_of(
    draft: &Draft<'_>,
    node: &Node,
    used: &mut BTreeSet<String>,
) -> Result<(String, String), Refusal> {
    let is_copyable = matches!(
        node.sort,
        NodeSort::Junction
            | NodeSort::Element
            | NodeSort::Part
            | NodeSort::Replaceable
            | NodeSort::Unknown
    );
    if !is_copyable || node.inherited.is_some() {
        return Err(Refusal::new(format!("`{}` cannot be copied", node.id)));
    }
    let (start, end) = node.range.bytes;
    let text = draft.text()[start..end].to_owned();
    match &node.name {
        Some(name) if name.contains('[') => Err(Refusal::new(format!(
            "`{name}` is one of an array; it cannot be copied alone"
        ))),
        Some(name) => Ok((name.clone(), text)),
        None => {
            let stem = node.kind.to_lowercase();
            let stem = match node.kind.as_str() {
                "0" => "n",
                "1" => "j",
                _ => &stem,
            };
            let name = numbered(stem, |n| used.contains(n));
            used.insert(name.clone());
            Ok((name.clone(), format!("{name}: {text}")))
        }
    }
}

/// Copies nodes and the bonds between them, beside the originals.
///
/// # Errors
///
/// One of them cannot be copied.
pub fn duplicate(draft: &mut Draft<'_>, ids: &[String]) -> Result<(), Refusal> {
    let lines = copied(draft, ids)?;
    let mut places = Vec::new();
    for id in ids {
        places.push(node(draft, id)?.position);
    }
    let names = paste_lines(draft, &lines.join("\n"))?;
    for (name, position) in names.iter().zip(places) {
        if let Some((x, y)) = position {
            place(draft, name, x + DUPLICATE_OFFSET, y + DUPLICATE_OFFSET)?;
        }
    }
    Ok(())
}

/// Adds statements that were copied; gives the names they have now.
///
/// # Errors
///
/// The text is not a list of statements with nodes and bonds.
pub fn paste(
    draft: &mut Draft<'_>,
    text: &str,
    at: Option<(f64, f64)>,
) -> Result<Vec<String>, Refusal> {
    let names = paste_lines(draft, text)?;
    if let Some((x, y)) = at {
        for (i, name) in names.iter().enumerate() {
            let shift = i as f64 * DUPLICATE_OFFSET;
            place(draft, name, x + shift, y + shift)?;
        }
    }
    Ok(names)
}

fn paste_lines(draft: &mut Draft<'_>, text: &str) -> Result<Vec<String>, Refusal> {
    let wrapped = format!("model Pasted {{\n{text}\n}}\n");
    let parsed = parse(FileId(0), &wrapped);
    let model = match parsed.ast.items.as_slice() {
        [
            ast::Item {
                kind: ast::ItemKind::Model(model),
                ..
            },
        ] if !parsed.has_errors() => model,
        _ => {
            return Err(Refusal::new(
                "what is pasted is not a list of nodes and bonds",
            ));
        }
    };
    let mut made = Vec::new();
    for statement in &model.body {
        match &statement.kind {
            ast::StmtKind::Chain(chain) => {
                for node in chain.groups.iter().flatten() {
                    if let ast::NodeKind::Thing { name, .. } = &node.kind {
                        made.push(name.text.to_string());
                    }
                }
            }
            ast::StmtKind::Replaceable { name, .. } => made.push(name.text.to_string()),
            _ => {
                return Err(Refusal::new(
                    "what is pasted is not a list of nodes and bonds",
                ));
            }
        }
    }
    let mut used = taken(draft);
    let mut names: BTreeMap<String, String> = BTreeMap::new();
    for name in &made {
        let stem = name.trim_end_matches(|c: char| c.is_ascii_digit());
        let new = match used.contains(name) {
            true => numbered(if stem.is_empty() { name } else { stem }, |n| {
                used.contains(n)
            }),
            false => name.clone(),
        };
        used.insert(new.clone());
        names.insert(name.clone(), new);
    }
    for statement in &model.body {
        let span = statement.span;
        let line = &wrapped[span.start as usize..span.end as usize];
        draft.add_statement(&renamed(line, &names))?;
    }
    Ok(made.iter().map(|n| names[n].clone()).collect())
}

/// The statement with other names: words that begin a reference, not members behind a dot nor names of arguments.
fn renamed(line: &str, names: &BTreeMap<String, String>) -> String {
    let tokens = lex(line);
    let significant = |i: usize| !tokens.kind(i).is_trivia();
    let mut out = String::new();
    let mut before = TokenKind::End;
    for i in 0..tokens.len() {
        let text = tokens.text(i, line);
        let next = (i + 1..tokens.len())
            .find(|&k| significant(k))
            .map(|k| tokens.kind(k));
        let is_argument =
            next == Some(TokenKind::Eq) && matches!(before, TokenKind::LParen | TokenKind::Comma);
        match names.get(text) {
            Some(new)
                if tokens.kind(i) == TokenKind::Ident
                    && before != TokenKind::Dot
                    && !is_argument =>
            {
                out.push_str(new);
            }
            _ => out.push_str(text),
        }
        if significant(i) {
            before = tokens.kind(i);
        }
    }
    out
}
