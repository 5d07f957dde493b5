//! Reads a file: any text gives a tree, its meaning, and all independent errors.
//!
//! In:  text.
//! Out: [`Parsed`]: the lossless tree, the plain [`ast::File`], the diagnostics.
//!
//! One pass of recursive descent builds tree and `ast` together. Newlines are not tokens
//! here: a statement ends where the line number changes, unless a bracket is open or the
//! line goes on (see [`TokenKind::continues_line`]).
//!
//! **Invariant:** total and linear. Recursion is bounded by [`MAX_DEPTH`], every loop moves
//! forward, and each statement reports at most one error that makes it unreadable; the
//! parser then goes on after it.

mod block;
mod cursor;
mod experiment;
mod expr;
mod extend;
mod function;
mod item;
mod lagrangian;
mod message;
mod model;
mod node;
mod unit;

use crate::ast;
use crate::brackets::{Brackets, TokenPlace, pair_brackets};
use crate::code;
use crate::diagnostic::Diagnostic;
use crate::lex::{TokenKind, Tokens, lex};
use crate::source::{FileId, Span};
use crate::tree::{Tree, TreeBuilder};
use std::cell::Cell;

/// Blocks and expressions nest at most this deep. People nest five levels, generators
/// perhaps fifty; the parser needs under 2 KiB of stack per level.
const MAX_DEPTH: u32 = 200;

/// The height of an expression. `a + b + c + …` is as high as it is long, and later
/// stages walk expressions recursively.
const MAX_EXPR_HEIGHT: u32 = 500;

/// More errors than anyone reads at once.
const MAX_ERRORS: usize = 200;

/// Dense text takes some eighty bytes of memory per byte as plain data, so this bounds a
/// file to 3 GiB. It is a flat network of half a million elements.
const MAX_BYTES: usize = 32 << 20;

/// What reading a file gives.
#[derive(Clone, Debug)]
pub struct Parsed {
    /// The text as a tree, nothing left out.
    pub tree: Tree,
    /// What it means. Parts with errors are missing.
    pub ast: ast::File,
    /// In text order.
    pub diagnostics: Vec<Diagnostic>,
    /// Number of looks at a token: the measure by which parsing is linear.
    pub work: u64,
}

impl Parsed {
    /// Tells whether the file cannot be used.
    pub fn has_errors(&self) -> bool {
        self.diagnostics.iter().any(Diagnostic::is_error)
    }
}

/// Reads the text of a file.
///
/// ```
/// let parsed = paynter_syntax::parse(Default::default(), "model Empty { }");
/// assert!(parsed.diagnostics.is_empty());
/// assert_eq!(parsed.ast.items.len(), 1);
/// ```
pub fn parse(file: FileId, text: &str) -> Parsed {
    if text.len() > MAX_BYTES {
        return refuse_large(file, text.len());
    }
    let mut parser = Parser::new(file, text);
    parser.report_bad_tokens();
    let mut ast = parser.file();
    let mut diagnostics = parser.diagnostics;
    let unextended = extend::extend_experiments(&mut ast);
    // A base that could not be read has its message already.
    if diagnostics.is_empty() {
        diagnostics.extend(unextended);
    }
    diagnostics.sort_by_key(|d| {
        d.primary
            .as_ref()
            .map_or(u32::MAX, |label| label.span.start)
    });
    let work = parser.work.get();
    Parsed {
        tree: parser.nodes.finish(parser.tokens),
        ast,
        diagnostics,
        work,
    }
}

/// Reads the bytes of a file. Bytes that are not UTF-8 give a diagnostic that says where.
pub fn parse_bytes(file: FileId, bytes: &[u8]) -> Parsed {
    match std::str::from_utf8(bytes) {
        Ok(text) => parse(file, text),
        Err(error) => {
            // What is before the first bad byte is text, and spans must lie in the text.
            let at = error.valid_up_to();
            let good = String::from_utf8_lossy(&bytes[..at.min(MAX_BYTES)]);
            let line = good.bytes().filter(|&b| b == b'\n').count() + 1;
            let diagnostic = Diagnostic::error(code::NOT_TEXT, "the file is not UTF-8 text")
                .primary(
                    Span::new(file, 0, 0),
                    format!("byte {at}, on line {line}, is not text"),
                )
                .help("save the file as UTF-8, or check that it is a model and not data");
            Parsed {
                tree: TreeBuilder::default().finish(Tokens::default()),
                ast: ast::File::default(),
                diagnostics: vec![diagnostic],
                work: 0,
            }
        }
    }
}

fn refuse_large(file: FileId, length: usize) -> Parsed {
    let mib = length.div_ceil(1 << 20);
    let diagnostic = Diagnostic::error(
        code::TOO_LARGE,
        format!("the file is too large to read: {mib} MiB"),
    )
    .primary(
        Span::new(file, 0, 0),
        format!("at most {} MiB are read", MAX_BYTES >> 20),
    )
    .help("write repeated parts with `for`, or spread the model over several files");
    Parsed {
        tree: TreeBuilder::default().finish(Tokens::one_unknown(length)),
        ast: ast::File::default(),
        diagnostics: vec![diagnostic],
        work: 0,
    }
}

/// The state of reading one file.
struct Parser<'t> {
    file: FileId,
    text: &'t str,
    tokens: Tokens,
    /// For each significant token its number among all tokens.
    raw: Vec<u32>,
    /// For each significant token what and where it is; one more for the end of the text.
    places: Vec<TokenPlace>,
    brackets: Brackets,
    /// Items in column 0.
    item_starts: Vec<u32>,
    nodes: TreeBuilder,
    diagnostics: Vec<Diagnostic>,

    /// The next significant token.
    pos: u32,
    /// The end of the innermost body: nothing in it reads further.
    limit: u32,
    /// Where the present statement began; its first token does not end the line.
    statement_start: u32,
    /// What a new line means here.
    newlines: Newlines,
    /// `record` allows a unit after an expression.
    allows_unit_behind: bool,
    /// Round and square brackets open in this statement.
    open_brackets: Vec<u32>,
    /// An error was reported; say no more until the next statement.
    recovering: bool,
    /// A missing sign was reported and supplied; what else is wrong with this statement
    /// may be a wrong guess of ours, so say no more about it.
    is_quiet: bool,
    /// Lines with characters or texts that were reported before parsing, in order.
    bad_lines: Vec<u32>,
    depth: u32,
    /// Height of the expression completed last.
    height: u32,
    work: Cell<u64>,
}

/// What a new line means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Newlines {
    /// It ends the statement, unless an operator or arrow says that it goes on.
    EndStatement,
    /// Inside of a bracket that is never closed: it ends the statement if it is not
    /// indented more than the first line.
    EndIfOutdented,
    /// Inside of a pair of brackets: it is a blank.
    AreBlanks,
}

/// What is not white space or a comment: its numbers among all tokens, what and where it is; and the number of newlines.
fn significant_tokens(tokens: &Tokens) -> (Vec<u32>, Vec<TokenPlace>, u32) {
    let mut raw = Vec::with_capacity(tokens.len() / 2);
    let mut places: Vec<TokenPlace> = Vec::with_capacity(tokens.len() / 2 + 1);
    let (mut line, mut line_start, mut indent) = (0, 0, 0);
    for i in 0..tokens.len() {
        let kind = tokens.kind(i);
        let start = tokens.range(i).start;
        if kind == TokenKind::Newline {
            line += 1;
            line_start = start + 1;
        }
        if !kind.is_trivia() {
            let is_first_of_line = places.last().is_none_or(|place| place.line != line);
            if is_first_of_line {
                indent = u16::try_from(start - line_start).unwrap_or(u16::MAX);
            }
            raw.push(i as u32);
            places.push(TokenPlace {
                line,
                indent,
                kind,
                is_item_start: false,
            });
        }
    }
    (raw, places, line)
}

impl<'t> Parser<'t> {
    fn new(file: FileId, text: &'t str) -> Self {
        let tokens = lex(text);
        let (raw, mut places, n_newlines) = significant_tokens(&tokens);
        let mut item_starts = Vec::new();
        for i in 0..places.len() {
            if places[i].indent == 0
                && starts_item(&places, i, |i| tokens.text(raw[i] as usize, text))
            {
                places[i].is_item_start = true;
                item_starts.push(i as u32);
            }
        }

        let brackets = pair_brackets(&places);
        let limit = places.len() as u32;
        // The end lies on a line of its own, so the last statement ends before it.
        places.push(TokenPlace {
            line: n_newlines + 1,
            indent: 0,
            kind: TokenKind::End,
            is_item_start: false,
        });

        Parser {
            file,
            text,
            work: Cell::new(tokens.len() as u64),
            tokens,
            raw,
            places,
            brackets,
            item_starts,
            nodes: TreeBuilder::default(),
            diagnostics: Vec::new(),
            pos: 0,
            limit,
            statement_start: 0,
            newlines: Newlines::EndStatement,
            allows_unit_behind: false,
            open_brackets: Vec::new(),
            recovering: false,
            is_quiet: false,
            bad_lines: Vec::new(),
            depth: 0,
            height: 0,
        }
    }
}

/// Tells whether an item that cannot be a statement of a body starts at token `i`.
fn starts_item<'t>(places: &[TokenPlace], i: usize, text: impl Fn(usize) -> &'t str) -> bool {
    let kind = |i: usize| places.get(i).map_or(TokenKind::End, |p| p.kind);
    let is_first_of_line = i == 0 || places[i - 1].line != places[i].line;
    if !is_first_of_line || kind(i) != TokenKind::Ident {
        return false;
    }
    let next = kind(i + 1);
    match text(i) {
        "model" | "lagrangian" | "experiment" | "fn" | "domain" => next == TokenKind::Ident,
        "use" => matches!(next, TokenKind::Ident | TokenKind::Text),
        "external" => next == TokenKind::Ident && text(i + 1) == "fn",
        "port" => next == TokenKind::Ident && kind(i + 2) == TokenKind::LBrace,
        _ => false,
    }
}
