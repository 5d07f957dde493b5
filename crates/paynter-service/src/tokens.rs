//! What each word of a text is, for colours.
//!
//! In:  a text with what its names mean.
//! Out: tokens in text order, each on one line, never overlapping.

use crate::analysis::Analysis;
use crate::describe::WORDS;
use crate::document::Document;
use crate::symbol::{Symbol, occurrences};
use paynter::model::kinds::ElementKind;
use paynter::syntax::{NodeKind, TokenKind, ast};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// What a token is. The order is that of the legend.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[repr(u32)]
pub enum TokenSort {
    /// A library.
    Namespace,
    /// A model, a kind of element, a domain, a port type.
    Type,
    /// A function.
    Function,
    /// A parameter or input, a parameter of a function.
    Parameter,
    /// A signal or running name.
    Variable,
    /// A node or part.
    Property,
    /// A word of the language.
    Keyword,
    /// A comment.
    Comment,
    /// A text in quotes.
    Text,
    /// A number.
    Number,
    /// An arrow.
    Operator,
    /// A unit.
    Unit,
}

/// Names of the sorts as LSP knows them, in order.
pub const LEGEND: &[&str] = &[
    "namespace",
    "type",
    "function",
    "parameter",
    "variable",
    "property",
    "keyword",
    "comment",
    "string",
    "number",
    "operator",
    "enumMember",
];

/// A coloured token.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Token {
    /// First byte.
    pub start: usize,
    /// One past the last.
    pub end: usize,
    /// What it is.
    pub sort: TokenSort,
}

/// Words that are keywords inside of statements.
const INNER_WORDS: &[&str] = &[
    "of",
    "at",
    "in",
    "by",
    "as",
    "vs",
    "within",
    "from",
    "to",
    "return",
    "external",
    "strict",
    "signal",
    "effort",
    "flow",
    "momentum",
    "displacement",
    "pseudo",
    "minimize",
    "maximize",
    "subject",
];

/// Gives the tokens of the main text.
pub fn tokens(document: &Document, analysis: &Analysis) -> Vec<Token> {
    let tree = &document.parsed.tree;
    let all = tree.tokens();
    let nodes = tree.innermost_kinds();
    let meanings: BTreeMap<(usize, usize), TokenSort> = occurrences(analysis, 0)
        .into_iter()
        .map(|o| {
            let range = (o.span.start as usize, o.span.end as usize);
            (range, sort_of(analysis, &o.symbol))
        })
        .collect();
    let mut found = Vec::new();
    let mut before = TokenKind::End;
    for i in 0..all.len() {
        let (range, kind) = (all.range(i), all.kind(i));
        let sort = match kind {
            TokenKind::Comment | TokenKind::DocComment => Some(TokenSort::Comment),
            TokenKind::Text => Some(TokenSort::Text),
            TokenKind::If
            | TokenKind::Then
            | TokenKind::Else
            | TokenKind::And
            | TokenKind::Or
            | TokenKind::Not
            | TokenKind::True
            | TokenKind::False => Some(TokenSort::Keyword),
            TokenKind::Number if is_junction(&document.text, range.start, range.end, nodes[i]) => {
                Some(TokenSort::Type)
            }
            TokenKind::Number => Some(TokenSort::Number),
            TokenKind::Ident if nodes[i] == NodeKind::Unit => Some(TokenSort::Unit),
            TokenKind::Ident => {
                let known = meanings.get(&(range.start, range.end)).copied();
                known.or_else(|| word_sort(&document.text, range.start, range.end, before))
            }
            kind if kind.is_arrow() => Some(TokenSort::Operator),
            _ => None,
        };
        if let Some(sort) = sort {
            // A line break belongs to no token, but a carriage return may end a comment.
            let end = range.start + document.text[range.clone()].trim_end().len();
            found.push(Token {
                start: range.start,
                end,
                sort,
            });
        }
        if !kind.is_trivia() {
            before = kind;
        }
    }
    found
}

fn is_junction(text: &str, start: usize, end: usize, node: NodeKind) -> bool {
    node == NodeKind::Kind && matches!(&text[start..end], "0" | "1")
}

fn word_sort(text: &str, start: usize, end: usize, before: TokenKind) -> Option<TokenSort> {
    let word = &text[start..end];
    let after = text[end..].trim_start();
    if before == TokenKind::Dot {
        return Some(TokenSort::Property);
    }
    if ElementKind::called(word).is_some() {
        return Some(TokenSort::Type);
    }
    if after.starts_with('(') {
        return Some(TokenSort::Function);
    }
    let is_word = WORDS.iter().any(|(w, _)| *w == word) || INNER_WORDS.contains(&word);
    is_word.then_some(TokenSort::Keyword)
}

fn sort_of(analysis: &Analysis, symbol: &Symbol) -> TokenSort {
    match symbol {
        Symbol::Library(_) => TokenSort::Namespace,
        Symbol::Experiment { .. } => TokenSort::Function,
        Symbol::Measure { .. } | Symbol::PortMember { .. } => TokenSort::Variable,
        Symbol::Local { .. } => TokenSort::Parameter,
        Symbol::Item { path, name } => {
            let files = &analysis.project.files;
            let file = files.iter().find(|f| f.canonical_name == *path);
            let item = file.and_then(|f| {
                let named = |i: &&ast::Item| {
                    crate::analysis::item_name(i).is_some_and(|n| &*n.text == name.as_str())
                };
                f.ast.items.iter().find(named)
            });
            match item.map(|i| &i.kind) {
                Some(ast::ItemKind::Function(_)) => TokenSort::Function,
                Some(ast::ItemKind::Constant(_)) => TokenSort::Variable,
                _ => TokenSort::Type,
            }
        }
        Symbol::Member { path, model, name } => member_sort(analysis, path, model, name),
    }
}

fn member_sort(analysis: &Analysis, path: &str, model: &str, name: &str) -> TokenSort {
    let files = &analysis.project.files;
    let items = files
        .iter()
        .filter(|f| f.canonical_name == path)
        .flat_map(|f| &f.ast.items);
    let found = items.filter_map(|i| match &i.kind {
        ast::ItemKind::Model(m) if &*m.name.text == model => Some(m),
        _ => None,
    });
    let body = found.flat_map(|m| &m.body);
    let has = |list: &[ast::Decl]| list.iter().any(|d| &*d.name.text == name);
    let defines =
        |d: &ast::Define| matches!(d.target.parts.as_slice(), [only] if &*only.name.text == name);
    for statement in body {
        match &statement.kind {
            ast::StmtKind::Param(list) | ast::StmtKind::Input(list) if has(list) => {
                return TokenSort::Parameter;
            }
            ast::StmtKind::Output(list) if has(list) => return TokenSort::Variable,
            ast::StmtKind::Define(d) if defines(d) => return TokenSort::Variable,
            _ => {}
        }
    }
    TokenSort::Property
}
