//! The shape of a text: symbols, folds, selections.
//!
//! In:  a text.
//! Out: a tree of what it declares, stretches that can be folded, and what grows round a place.

use crate::analysis::item_name;
use crate::document::Document;
use crate::place::Range;
use crate::workspace::Workspace;
use paynter::syntax::{Span, TokenKind, ast};
use serde::{Deserialize, Serialize};

/// What a symbol of the outline is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OutlineSort {
    /// `model`
    Model,
    /// `experiment`
    Experiment,
    /// `fn`
    Function,
    /// A constant of a file.
    Constant,
    /// `domain`
    Domain,
    /// `port Name { … }`
    PortType,
    /// `param`
    Param,
    /// `input`
    Input,
    /// `output`
    Output,
    /// `port`
    Port,
    /// A node or part.
    Node,
    /// A definition.
    Signal,
}

/// One entry of the outline.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Outline {
    /// Its name.
    pub name: String,
    /// What it is, in a few words.
    pub detail: String,
    /// What it is.
    pub sort: OutlineSort,
    /// The whole.
    pub range: Range,
    /// Its name in the text.
    pub name_range: Range,
    /// What it declares.
    pub children: Vec<Outline>,
}

/// A symbol of the workspace.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Found {
    /// The text.
    pub path: String,
    /// The symbol, without children.
    pub symbol: Outline,
    /// The model or experiment it belongs to.
    pub container: Option<String>,
}

/// Symbols that are listed at most for one query.
const MAX_FOUND: usize = 500;

/// Gives the outline of a text.
pub fn outline(document: &Document) -> Vec<Outline> {
    let items = document.parsed.ast.items.iter();
    items
        .filter_map(|item| item_outline(document, item))
        .collect()
}

fn item_outline(document: &Document, item: &ast::Item) -> Option<Outline> {
    let name = item_name(item)?;
    let (sort, detail, children) = match &item.kind {
        ast::ItemKind::Model(model) => {
            let base = model
                .extends
                .as_ref()
                .map(|e| format!("extends {}", document.slice(e.path.span)));
            (
                OutlineSort::Model,
                base.unwrap_or_default(),
                members(document, &model.body),
            )
        }
        ast::ItemKind::Experiment(e) => {
            let detail = format!("of {}", document.slice(e.of.span));
            (OutlineSort::Experiment, detail, Vec::new())
        }
        ast::ItemKind::Function(f) => {
            let params: Vec<&str> = f.params.iter().map(|p| &*p.name.text).collect();
            (
                OutlineSort::Function,
                format!("({})", params.join(", ")),
                Vec::new(),
            )
        }
        ast::ItemKind::Constant(_) => (OutlineSort::Constant, String::new(), Vec::new()),
        ast::ItemKind::Domain(_) => (OutlineSort::Domain, String::new(), Vec::new()),
        ast::ItemKind::PortType(_) => (OutlineSort::PortType, String::new(), Vec::new()),
        ast::ItemKind::Use(_) | ast::ItemKind::Lagrangian(_) => return None,
    };
    Some(Outline {
        name: name.text.to_string(),
        detail,
        sort,
        range: document.range(item.span),
        name_range: document.range(name.span),
        children,
    })
}

fn members(document: &Document, body: &[ast::Stmt]) -> Vec<Outline> {
    let mut found = Vec::new();
    let mut open: Vec<&ast::Stmt> = body.iter().rev().collect();
    while let Some(statement) = open.pop() {
        use ast::StmtKind as S;
        match &statement.kind {
            S::For { body, .. } => open.extend(body.iter().rev()),
            S::If {
                then, otherwise, ..
            } => {
                open.extend(otherwise.iter().rev());
                open.extend(then.iter().rev());
            }
            _ => declared_by(statement, &mut |name, span, sort, detail| {
                found.push(Outline {
                    name: name.text.to_string(),
                    detail: detail.to_owned(),
                    sort,
                    range: document.range(span),
                    name_range: document.range(name.span),
                    children: Vec::new(),
                });
            }),
        }
    }
    found
}

/// Passes on each name that a statement declares: its place, what it is, and the words beside it.
fn declared_by(statement: &ast::Stmt, add: &mut dyn FnMut(&ast::Ident, Span, OutlineSort, &str)) {
    use crate::view::{kind_text, path_text};
    use ast::StmtKind as S;
    match &statement.kind {
        S::Param(list) => list
            .iter()
            .for_each(|d| add(&d.name, d.span, OutlineSort::Param, "param")),
        S::Input(list) => list
            .iter()
            .for_each(|d| add(&d.name, d.span, OutlineSort::Input, "input")),
        S::Output(list) => list
            .iter()
            .for_each(|d| add(&d.name, d.span, OutlineSort::Output, "output")),
        S::Port(list) => list
            .iter()
            .for_each(|p| add(&p.name, p.span, OutlineSort::Port, "port")),
        S::Chain(chain) | S::NamedBond { chain, .. } => {
            for (name, kind, span) in things(chain) {
                add(name, span, OutlineSort::Node, &kind_text(kind));
            }
        }
        S::Replaceable {
            name, bound: path, ..
        }
        | S::Outer { name, path } => {
            add(name, statement.span, OutlineSort::Node, &path_text(path));
        }
        S::Define(d) => {
            if let [only] = d.target.parts.as_slice() {
                add(&only.name, d.span, OutlineSort::Signal, "");
            }
        }
        S::Sample { body, .. } => {
            for d in body {
                if let [only] = d.target.parts.as_slice() {
                    add(&only.name, d.span, OutlineSort::Signal, "sampled");
                }
            }
        }
        _ => {}
    }
}

/// The parts that a chain declares, in the order of the text.
fn things(chain: &ast::Chain) -> Vec<(&ast::Ident, &ast::Kind, Span)> {
    let mut found = Vec::new();
    let mut nodes: Vec<&ast::Node> = chain.groups.iter().flatten().rev().collect();
    while let Some(node) = nodes.pop() {
        match &node.kind {
            ast::NodeKind::Thing { name, kind, .. } => found.push((name, &**kind, node.span)),
            ast::NodeKind::Tuple(list) => nodes.extend(list.iter().rev()),
            _ => {}
        }
    }
    found
}

/// Finds symbols of the workspace whose names hold the letters of a query in order.
pub fn workspace_symbols(workspace: &Workspace, query: &str) -> Vec<Found> {
    let mut found = Vec::new();
    for path in workspace.files() {
        let Some(document) = workspace.document(&path) else {
            continue;
        };
        for item in outline(&document) {
            let mut all = item.children.clone();
            let name = item.name.clone();
            let own = Outline {
                children: Vec::new(),
                ..item
            };
            let inner = all.drain(..).map(|s| (s, Some(name.clone())));
            for (symbol, container) in std::iter::once((own, None)).chain(inner) {
                if is_match(query, &symbol.name) {
                    found.push(Found {
                        path: path.clone(),
                        symbol,
                        container,
                    });
                }
            }
        }
        if found.len() >= MAX_FOUND {
            found.truncate(MAX_FOUND);
            break;
        }
    }
    found
}

/// Tells whether the letters of a query stand in a name, in order, capitals or not.
fn is_match(query: &str, name: &str) -> bool {
    let mut letters = name.chars().flat_map(char::to_lowercase);
    let mut wanted = query.chars().flat_map(char::to_lowercase);
    wanted.all(|q| letters.any(|c| c == q))
}

/// A stretch that can be folded: first and last line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fold {
    /// First line, from 0.
    pub start: u32,
    /// Last line, from 0.
    pub end: u32,
    /// A run of comments.
    pub is_comment: bool,
}

/// Finds everything that can be folded: braces on several lines, runs of comments, runs of `use`.
pub fn folds(document: &Document) -> Vec<Fold> {
    let tokens = document.parsed.tree.tokens();
    let mut found = Vec::new();
    let mut open: Vec<u32> = Vec::new();
    let line = |at: usize| document.lines.line_of(at) as u32;
    let mut comments: Option<(u32, u32)> = None;
    for i in 0..tokens.len() {
        let range = tokens.range(i);
        match tokens.kind(i) {
            TokenKind::LBrace => open.push(line(range.start)),
            TokenKind::RBrace => {
                if let Some(start) = open.pop() {
                    let end = line(range.start);
                    if end > start + 1 {
                        // The brace that closes stays visible.
                        found.push(Fold {
                            start,
                            end: end - 1,
                            is_comment: false,
                        });
                    }
                }
            }
            TokenKind::Comment | TokenKind::DocComment => {
                let at = line(range.start);
                let is_first = document.text[document.lines.line_start(at as usize)..range.start]
                    .trim()
                    .is_empty();
                comments = match comments {
                    Some((start, end)) if is_first && at == end + 1 => Some((start, at)),
                    known => {
                        push_comments(&mut found, known);
                        is_first.then_some((at, at))
                    }
                };
            }
            _ => {}
        }
    }
    push_comments(&mut found, comments);
    found.sort_by_key(|f| (f.start, f.end));
    found
}

fn push_comments(found: &mut Vec<Fold>, run: Option<(u32, u32)>) {
    if let Some((start, end)) = run.filter(|(start, end)| end > start) {
        found.push(Fold {
            start,
            end,
            is_comment: true,
        });
    }
}

/// The stretches that hold a place, the smallest first.
pub fn selections(document: &Document, offset: usize) -> Vec<Range> {
    let tree = &document.parsed.tree;
    let mut found: Vec<(usize, usize)> = Vec::new();
    if let Some(token) = crate::hover::token_at(tree.tokens(), offset) {
        let range = tree.tokens().range(token);
        if !tree.tokens().kind(token).is_trivia() {
            found.push((range.start, range.end));
        }
    }
    for node in tree.nodes() {
        let range = tree.byte_range(node);
        let text = document.text.get(range.clone()).unwrap_or("");
        let end = range.start + text.trim_end().len();
        let start = range.start + (text.len() - text.trim_start().len()).min(end - range.start);
        if start <= offset && offset <= end && start < end {
            found.push((start, end));
        }
    }
    found.push((0, document.text.len()));
    found.sort_by_key(|(start, end)| end - start);
    found.dedup();
    let mut nested: Vec<(usize, usize)> = Vec::new();
    for (start, end) in found {
        let holds = nested
            .last()
            .is_none_or(|&(s, e)| start <= s && e <= end && (s, e) != (start, end));
        if holds {
            nested.push((start, end));
        }
    }
    nested
        .into_iter()
        .map(|(s, e)| document.bytes(s, e))
        .collect()
}
