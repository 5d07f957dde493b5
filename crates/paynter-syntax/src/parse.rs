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
//! parser then goes on behind it.

mod experiment;
mod expr;
mod function;
mod item;
mod model;
mod node;
mod unit;

use crate::ast;
use crate::brackets::{Brackets, NONE, Place, pair_brackets};
use crate::code;
use crate::diagnostic::Diagnostic;
use crate::lex::{TokenKind, Tokens, lex};
use crate::source::{FileId, Span};
use crate::tree::{Mark, NodeKind, Tree, TreeBuilder, is_opener};
use std::cell::Cell;

/// Blocks and expressions nest at most this deep. People nest five levels, generators
/// perhaps fifty; the parser needs under 2 KiB of stack per level.
const MAX_DEPTH: u32 = 200;

/// The height of an expression. `a + b + c + …` is as high as it is long, and later
/// stages walk expressions recursively.
const MAX_EXPR_HEIGHT: u32 = 500;

/// More errors than anyone reads at once.
const MAX_ERRORS: usize = 200;

/// The parser keeps up to thirty bytes per byte of text in memory, so this bounds it to
/// about 2 GiB; it is a circuit of a million elements.
const MAX_BYTES: usize = 64 << 20;

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
    let ast = parser.file();
    let mut diagnostics = parser.diagnostics;
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
            // What stands before the first bad byte is text, and spans must lie in the text.
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
    places: Vec<Place>,
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
    /// Inside `(` or `[`, newlines are blanks.
    ignores_newlines: bool,
    /// `record` allows a unit behind an expression.
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

/// How a body ends.
#[derive(Clone, Copy, PartialEq, Eq)]
enum BodyEnd {
    /// With its `}`, or with a `}` that has no `{` of its own.
    Brace,
    /// The `}` is missing; `open` is the `{`.
    Missing { open: u32 },
}

/// A body being read, with what must be restored behind it.
struct Body {
    mark: Mark,
    first: u32,
    end: BodyEnd,
    outer_limit: u32,
    outer_brackets: Vec<u32>,
    outer_ignores_newlines: bool,
}

impl<'t> Parser<'t> {
    fn new(file: FileId, text: &'t str) -> Self {
        let tokens = lex(text);
        let mut raw = Vec::with_capacity(tokens.len() / 2);
        let mut places: Vec<Place> = Vec::with_capacity(tokens.len() / 2 + 1);
        let (mut line, mut line_start) = (0, 0);
        for i in 0..tokens.len() {
            let kind = tokens.kind(i);
            let start = tokens.range(i).start;
            if kind == TokenKind::Newline {
                line += 1;
                line_start = start + 1;
            }
            if !kind.is_trivia() {
                let column = u16::try_from(start - line_start).unwrap_or(u16::MAX);
                raw.push(i as u32);
                places.push(Place {
                    line,
                    column,
                    kind,
                    is_item_start: false,
                });
            }
        }
        let mut item_starts = Vec::new();
        for i in 0..places.len() {
            if places[i].column == 0
                && starts_item(&places, i, |i| tokens.text(raw[i] as usize, text))
            {
                places[i].is_item_start = true;
                item_starts.push(i as u32);
            }
        }
        let brackets = pair_brackets(&places);
        let limit = places.len() as u32;
        // The end lies on a line of its own, so the last statement ends before it.
        places.push(Place {
            line: line + 1,
            column: 0,
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
            ignores_newlines: false,
            allows_unit_behind: false,
            open_brackets: Vec::new(),
            recovering: false,
            is_quiet: false,
            bad_lines: Vec::new(),
            depth: 0,
            height: 0,
        }
    }

    // ---- looking at tokens

    /// Gives the kind of significant token `i`, whatever line it is on.
    fn kind_at(&self, i: u32) -> TokenKind {
        self.work.set(self.work.get() + 1);
        self.places
            .get(i as usize)
            .map_or(TokenKind::End, |place| place.kind)
    }

    /// Gives the kind of the next token, whatever line it is on; `End` at the end of the body.
    fn raw_kind(&self) -> TokenKind {
        if self.pos >= self.limit {
            TokenKind::End
        } else {
            self.kind_at(self.pos)
        }
    }

    /// Gives the kind of the next token of this statement; `End` where the statement ends.
    fn kind(&self) -> TokenKind {
        if self.is_at_line_end() {
            TokenKind::End
        } else {
            self.raw_kind()
        }
    }

    /// Gives the kind of the token behind the next one, if it belongs to this statement.
    fn second_kind(&self) -> TokenKind {
        let next = self.pos + 1;
        if next >= self.limit || self.is_line_end_before(next) {
            TokenKind::End
        } else {
            self.kind_at(next)
        }
    }

    fn is_at_line_end(&self) -> bool {
        self.pos > self.statement_start && self.is_line_end_before(self.pos)
    }

    fn is_line_end_before(&self, i: u32) -> bool {
        if self.ignores_newlines || self.is_on_line_of_previous(i) {
            return false;
        }
        let continues =
            self.kind_at(i - 1).continues_line() || self.kind_at(i).continues_from_above();
        !continues || self.places[i as usize].is_item_start
    }

    /// Gives the indentation of the line on which the statement began.
    fn statement_indent(&self) -> u16 {
        let mut i = self.statement_start;
        while self.is_on_line_of_previous(i) {
            i -= 1;
        }
        self.places[i as usize].column
    }

    fn is_on_line_of_previous(&self, i: u32) -> bool {
        i > 0 && self.places[i as usize].line == self.places[i as usize - 1].line
    }

    /// Tells whether the next token touches the one before it.
    fn is_adjacent(&self) -> bool {
        let i = self.pos as usize;
        i > 0 && i < self.raw.len() && self.raw[i] == self.raw[i - 1] + 1
    }

    /// Gives the text of significant token `i`.
    fn text_at(&self, i: u32) -> &'t str {
        match self.raw.get(i as usize) {
            Some(&raw) => self.tokens.text(raw as usize, self.text),
            None => "",
        }
    }

    /// Tells whether the next token of this statement is the word `word`.
    fn is_word(&self, word: &str) -> bool {
        self.kind() == TokenKind::Ident && self.text_at(self.pos) == word
    }

    /// Gives the span of significant token `i`; at the end of the text an empty one.
    fn span_at(&self, i: u32) -> Span {
        let range = match self.raw.get(i as usize) {
            Some(&raw) => self.tokens.range(raw as usize),
            None => self.text.len()..self.text.len(),
        };
        Span::new(self.file, range.start, range.end)
    }

    /// Gives the empty span behind the last token read.
    fn span_behind(&self) -> Span {
        let end = match self.pos.checked_sub(1) {
            Some(previous) => self.span_at(previous).end as usize,
            None => 0,
        };
        Span::new(self.file, end, end)
    }

    /// Gives the span from significant token `first` to the last one read.
    fn span_from(&self, first: u32) -> Span {
        if self.pos <= first {
            return self.span_behind();
        }
        self.span_at(first).to(self.span_at(self.pos - 1))
    }

    // ---- moving on

    fn bump(&mut self) -> u32 {
        let i = self.pos;
        self.pos = (self.pos + 1).min(self.limit);
        i
    }

    fn eat(&mut self, kind: TokenKind) -> bool {
        let is_there = self.kind() == kind;
        if is_there {
            self.bump();
        }
        is_there
    }

    fn eat_word(&mut self, word: &str) -> bool {
        let is_there = self.is_word(word);
        if is_there {
            self.bump();
        }
        is_there
    }

    /// Steps over `kind`, or reports that `what` was expected.
    fn expect(&mut self, kind: TokenKind, what: &str) -> Option<u32> {
        if self.kind() == kind {
            return Some(self.bump());
        }
        self.expected(what);
        None
    }

    fn expect_word(&mut self, word: &str) -> Option<()> {
        if self.eat_word(word) {
            return Some(());
        }
        self.expected(&format!("`{word}`"));
        None
    }

    /// Reads a name; `what` says whose.
    fn name(&mut self, what: &str) -> Option<ast::Ident> {
        let kind = self.kind();
        if kind.is_reserved_word() {
            let word = self.text_at(self.pos);
            self.fail(
                Diagnostic::error(
                    code::RESERVED_WORD,
                    format!("`{word}` is a reserved word, not {what}"),
                )
                .primary(self.span_at(self.pos), "this word belongs to expressions")
                .help(format!("choose another name, such as `{word}_`")),
            );
            return None;
        }
        let i = self.expect(TokenKind::Ident, what)?;
        Some(self.ident(i))
    }

    fn ident(&self, i: u32) -> ast::Ident {
        ast::Ident {
            text: self.text_at(i).into(),
            span: self.span_at(i),
        }
    }

    // ---- the tree

    fn mark(&self) -> (Mark, u32) {
        (self.nodes.mark(), self.pos)
    }

    fn complete(&mut self, (mark, first): (Mark, u32), kind: NodeKind) {
        let raw = |i: u32| {
            self.raw
                .get(i as usize)
                .copied()
                .unwrap_or(self.tokens.len() as u32)
        };
        let start = raw(first);
        let end = if self.pos > first {
            raw(self.pos - 1) + 1
        } else {
            start
        };
        self.nodes.complete(mark, kind, start..end);
    }

    // ---- messages

    /// Reports an error after which the statement can still be read.
    fn report(&mut self, diagnostic: Diagnostic) {
        if self.recovering || self.is_quiet || self.diagnostics.len() > MAX_ERRORS {
            return;
        }
        if self.diagnostics.len() == MAX_ERRORS {
            let span = diagnostic
                .primary
                .map_or(self.span_behind(), |label| label.span);
            self.diagnostics.push(
                Diagnostic::error(
                    code::TOO_MANY_ERRORS,
                    format!("more than {MAX_ERRORS} errors; the others are not shown"),
                )
                .primary(span, "the next one is here"),
            );
            return;
        }
        // Two messages for one place, or a second one for a line with characters that mean
        // nothing, would be one cause told twice.
        let place = |d: &Diagnostic| d.primary.as_ref().map(|label| label.span.start);
        let is_told = self
            .diagnostics
            .last()
            .is_some_and(|d| place(d) == place(&diagnostic));
        if is_told || self.is_on_bad_line() {
            return;
        }
        self.diagnostics.push(diagnostic);
    }

    fn is_on_bad_line(&self) -> bool {
        let previous = self.pos.saturating_sub(1);
        [previous, self.pos].iter().any(|&i| {
            self.places
                .get(i as usize)
                .is_some_and(|p| self.bad_lines.binary_search(&p.line).is_ok())
        })
    }

    /// Reports an error that ends the reading of this statement.
    fn fail(&mut self, diagnostic: Diagnostic) {
        let diagnostic = match self.dangling_operator() {
            Some(operator) if !self.recovering => self.unfinished_line(operator, diagnostic),
            _ => diagnostic,
        };
        self.report(diagnostic);
        self.recovering = true;
    }

    /// Finds the operator or comma at the end of the line above that made this line part of
    /// the statement, although by its indentation it is a statement of its own.
    fn dangling_operator(&self) -> Option<u32> {
        let mut first = self.pos;
        while self.is_on_line_of_previous(first) {
            first -= 1;
        }
        let operator = first
            .checked_sub(1)
            .filter(|&operator| operator > self.statement_start)?;
        let is_own_statement = self.places[first as usize].column <= self.statement_indent();
        let is_dangling = !self.ignores_newlines && self.kind_at(operator).continues_line();
        (is_dangling && is_own_statement).then_some(operator)
    }

    fn unfinished_line(&self, operator: u32, cause: Diagnostic) -> Diagnostic {
        let sign = self.text_at(operator);
        let span = self.span_at(operator);
        let mut diagnostic = Diagnostic::error(
            code::UNEXPECTED,
            format!("nothing follows `{sign}` at the end of the line"),
        )
        .primary(span, "this makes the next line part of the statement");
        diagnostic.secondary.extend(cause.primary);
        diagnostic
    }

    /// Fails because `what` should stand here.
    fn expected(&mut self, what: &str) {
        let diagnostic = self.expected_message(what);
        self.fail(diagnostic);
    }

    fn expected_message(&self, what: &str) -> Diagnostic {
        let found = self.found();
        let span = self.span_here();
        let kind = self.kind();
        if matches!(
            kind,
            TokenKind::RBrace | TokenKind::RParen | TokenKind::RBracket
        ) && self.brackets.partner[self.pos as usize] == NONE
        {
            return Diagnostic::error(code::STRAY_CLOSER, format!("{found} closes nothing"))
                .primary(span, format!("expected {what}"))
                .help("delete it, or write the bracket that it closes");
        }
        Diagnostic::error(code::UNEXPECTED, format!("expected {what}, found {found}"))
            .primary(span, format!("expected {what}"))
    }

    /// Names the next token for a message.
    fn found(&self) -> String {
        match self.kind() {
            TokenKind::End if self.pos as usize >= self.raw.len() => "the end of the file".into(),
            TokenKind::End if self.is_at_line_end() => "the end of the line".into(),
            TokenKind::End => "the end of the block".into(),
            TokenKind::Text => "a text in quotes".into(),
            _ => {
                // A hostile name may have megabytes.
                let text = self.text_at(self.pos);
                let short: String = text.chars().take(40).collect();
                if short.len() < text.len() {
                    format!("`{short}…`")
                } else {
                    format!("`{short}`")
                }
            }
        }
    }

    /// Gives the place of the next token; where the line ends, the place behind the last one.
    fn span_here(&self) -> Span {
        match self.kind() {
            TokenKind::End => self.span_behind(),
            _ => self.span_at(self.pos),
        }
    }

    /// Enters one level of nesting, or fails if there are too many.
    fn enter(&mut self) -> Option<()> {
        if self.depth < MAX_DEPTH {
            self.depth += 1;
            return Some(());
        }
        self.fail(
            Diagnostic::error(code::NESTED_TOO_DEEP, "this is nested too deep to be read")
                .primary(
                    self.span_here(),
                    format!("more than {MAX_DEPTH} levels deep here"),
                )
                .help("give the inner parts names of their own"),
        );
        None
    }

    fn leave(&mut self) {
        self.depth -= 1;
    }

    // ---- brackets and lists

    /// Steps over `(` or `[`: newlines mean nothing up to its partner.
    fn open(&mut self) -> Open {
        let token = self.bump();
        self.open_brackets.push(token);
        let outer = Open {
            token,
            ignored_newlines: self.ignores_newlines,
            allowed_unit_behind: self.allows_unit_behind,
        };
        // A bracket that is never closed should not swallow the lines below.
        self.ignores_newlines |= self.brackets.partner[token as usize] != NONE;
        self.allows_unit_behind = false;
        outer
    }

    /// Steps over the closing bracket. If it is missing, and what follows can follow it,
    /// says so and reads on.
    fn close(&mut self, open: Open, kind: TokenKind) -> Option<()> {
        self.ignores_newlines = open.ignored_newlines;
        self.allows_unit_behind = open.allowed_unit_behind;
        let next = self.raw_kind();
        if next == kind {
            self.open_brackets.pop();
            self.bump();
            return Some(());
        }
        let is_unpaired = self.brackets.partner[open.token as usize] == NONE;
        let may_follow = self.is_at_line_end()
            || next.is_arrow()
            || matches!(
                next,
                TokenKind::End
                    | TokenKind::Semicolon
                    | TokenKind::RParen
                    | TokenKind::RBracket
                    | TokenKind::RBrace
                    | TokenKind::LBrace
                    | TokenKind::Comma
                    | TokenKind::Eq
            );
        if is_unpaired && may_follow {
            let opener = self.text_at(open.token);
            let closer = closer_text(kind);
            self.report(
                Diagnostic::error(code::UNCLOSED, format!("`{opener}` is never closed"))
                    .primary(self.span_behind(), format!("expected `{closer}`"))
                    .secondary(self.span_at(open.token), "opened here"),
            );
            self.is_quiet = true;
            self.open_brackets.pop();
            return Some(());
        }
        self.expected(match kind {
            TokenKind::RParen => "`,` or `)`",
            _ => "`,` or `]`",
        });
        None
    }

    /// Reads `element {"," element}`.
    fn list<T>(&mut self, mut element: impl FnMut(&mut Self) -> Option<T>) -> Option<Vec<T>> {
        let mut all = vec![element(self)?];
        while self.eat(TokenKind::Comma) {
            all.push(element(self)?);
        }
        Some(all)
    }

    /// Reads a list up to the closing bracket; a comma forgotten between two elements on
    /// one line is reported and supplied.
    fn list_until<T>(
        &mut self,
        close: TokenKind,
        mut element: impl FnMut(&mut Self) -> Option<T>,
    ) -> Option<Vec<T>> {
        let mut all = Vec::new();
        while self.raw_kind() != close {
            all.push(element(self)?);
            if self.eat(TokenKind::Comma) {
                continue;
            }
            let starts_element = matches!(
                self.kind(),
                TokenKind::Ident | TokenKind::Number | TokenKind::Text
            );
            if !(starts_element && self.is_on_line_of_previous(self.pos)) {
                break;
            }
            let diagnostic = self.expected_message(&format!("`,` or `{}`", closer_text(close)));
            self.report(diagnostic);
            self.is_quiet = true;
        }
        Some(all)
    }

    // ---- bodies and statements

    /// Steps over the `{` of a body. If there is none, reports it, and still finds the body
    /// if its `}` exists.
    fn open_body(&mut self, what: &str) -> Option<Body> {
        let mark = self.nodes.mark();
        if self.raw_kind() != TokenKind::LBrace {
            self.expected(what);
            if !self.find_body_in_line() {
                return self.open_body_without_brace(mark);
            }
        }
        let open = self.pos;
        let partner = self.brackets.partner[open as usize];
        let (limit, end) = match self.brackets.missing_close(open) {
            _ if partner != NONE => (partner, BodyEnd::Brace),
            Some(before) => (before, BodyEnd::Missing { open }),
            None => (self.limit, BodyEnd::Missing { open }),
        };
        if self.enter().is_none() {
            self.pos = (limit + u32::from(end == BodyEnd::Brace)).min(self.limit);
            return None;
        }
        self.bump();
        Some(self.begin_body(mark, open, limit.clamp(open + 1, self.limit), end))
    }

    /// Moves to a `{` further on in this line.
    fn find_body_in_line(&mut self) -> bool {
        let mut i = self.pos;
        while i < self.limit && self.is_on_line_of_previous(i) {
            match self.kind_at(i) {
                TokenKind::LBrace => {
                    self.pos = i;
                    return true;
                }
                TokenKind::Semicolon | TokenKind::RBrace => return false,
                _ => i += 1,
            }
        }
        false
    }

    /// Takes the body up to the next `}` that has no `{`.
    fn open_body_without_brace(&mut self, mark: Mark) -> Option<Body> {
        let end = self
            .brackets
            .next_stray(self.pos)
            .filter(|&end| end < self.limit)?;
        let next_item = self
            .item_starts
            .partition_point(|&start| start < self.pos.max(1));
        if self
            .item_starts
            .get(next_item)
            .is_some_and(|&start| start < end)
        {
            return None;
        }
        self.enter()?;
        Some(self.begin_body(mark, self.pos, end, BodyEnd::Brace))
    }

    fn begin_body(&mut self, mark: Mark, first: u32, limit: u32, end: BodyEnd) -> Body {
        let body = Body {
            mark,
            first,
            end,
            outer_limit: self.limit,
            outer_brackets: std::mem::take(&mut self.open_brackets),
            outer_ignores_newlines: self.ignores_newlines,
        };
        self.limit = limit;
        self.ignores_newlines = false;
        self.recovering = false;
        self.is_quiet = false;
        body
    }

    /// Steps over the `}` of a body, or reports that it is missing.
    fn close_body(&mut self, body: Body, kind: NodeKind) {
        self.recovering = false;
        self.is_quiet = false;
        let ended_early = self.pos < self.limit;
        self.limit = body.outer_limit;
        self.open_brackets = body.outer_brackets;
        self.ignores_newlines = body.outer_ignores_newlines;
        self.leave();
        match body.end {
            BodyEnd::Brace if !ended_early => {
                self.bump();
            }
            BodyEnd::Brace => {}
            BodyEnd::Missing { open } => self.report(
                Diagnostic::error(code::UNCLOSED, "`{` is never closed")
                    .primary(self.end_of_body(open), "expected `}`")
                    .secondary(self.span_at(open), "opened here"),
            ),
        }
        self.complete((body.mark, body.first), kind);
    }

    /// Gives the place where the `}` for `open` is missing: behind the last token of the
    /// body, or behind the last comment that is indented like the body.
    fn end_of_body(&self, open: u32) -> Span {
        let mut first = open;
        while self.is_on_line_of_previous(first) {
            first -= 1;
        }
        let indent = usize::from(self.places[first as usize].column);
        let raw = |i: u32| {
            self.raw
                .get(i as usize)
                .map_or(self.tokens.len(), |&raw| raw as usize)
        };
        let mut end = self.span_behind();
        let mut line_start = None;
        for token in raw(self.pos - 1) + 1..raw(self.pos) {
            let range = self.tokens.range(token);
            match self.tokens.kind(token) {
                TokenKind::Newline => line_start = Some(range.end),
                TokenKind::Comment | TokenKind::DocComment
                    if line_start.is_some_and(|start| range.start - start > indent) =>
                {
                    end = Span::new(self.file, range.end, range.end);
                }
                _ => {}
            }
        }
        end
    }

    /// Reads `{ statement … }`; `what` names the `{` in messages.
    fn block<T>(
        &mut self,
        what: &str,
        kind: NodeKind,
        mut statement: impl FnMut(&mut Self) -> Option<T>,
    ) -> Option<Vec<T>> {
        let body = self.open_body(what)?;
        let mut all = Vec::new();
        while self.raw_kind() != TokenKind::End {
            if self.eat_stray_separator() {
                continue;
            }
            all.extend(self.statement(&mut statement));
            // `TF { e2 = p*e1 -> coil`: the law ends where the chain goes on.
            let chain_goes_on = kind == NodeKind::Law
                && matches!(body.end, BodyEnd::Missing { .. })
                && self.raw_kind().is_arrow();
            if chain_goes_on {
                break;
            }
            self.finish_statement();
        }
        self.close_body(body, kind);
        Some(all)
    }

    /// Steps over a `;`, or over a `}` that closes nothing, which is an error.
    fn eat_stray_separator(&mut self) -> bool {
        match self.raw_kind() {
            TokenKind::Semicolon => {}
            TokenKind::RBrace => {
                self.statement_start = self.pos;
                self.recovering = false;
                self.is_quiet = false;
                let span = self.span_at(self.pos);
                self.report(
                    Diagnostic::error(code::STRAY_CLOSER, "`}` closes nothing")
                        .primary(span, "there is no `{` for this")
                        .help("delete it, or write the `{` that it closes"),
                );
            }
            _ => return false,
        }
        self.bump();
        true
    }

    /// Reads one statement, without what ends it.
    fn statement<T>(&mut self, read: &mut impl FnMut(&mut Self) -> Option<T>) -> Option<T> {
        let mark = self.mark();
        self.statement_start = self.pos;
        self.ignores_newlines = false;
        self.allows_unit_behind = false;
        self.recovering = false;
        self.is_quiet = false;
        self.open_brackets.clear();
        let start = self.pos;
        let value = read(self);
        self.statement_start = start;
        self.complete(mark, NodeKind::Statement);
        value
    }

    /// Sees that the statement ends here, and otherwise moves to where it ends.
    fn finish_statement(&mut self) {
        let is_end = |p: &Self| matches!(p.kind(), TokenKind::End | TokenKind::Semicolon);
        if !self.recovering && !is_end(self) {
            self.junk_behind_statement();
        }
        if self.recovering {
            self.skip_statement();
        }
        if self.pos == self.statement_start {
            self.bump();
        }
    }

    fn junk_behind_statement(&mut self) {
        let diagnostic = self.expected_message("the end of the line");
        let diagnostic = match self.kind() {
            TokenKind::Comma => diagnostic.help("write each definition on a line of its own"),
            _ => diagnostic,
        };
        self.fail(diagnostic);
    }

    /// Moves behind the broken statement: out of its brackets, over whole blocks, to the end
    /// of the line.
    fn skip_statement(&mut self) {
        let mark = self.mark();
        self.ignores_newlines = false;
        let partners = self
            .open_brackets
            .iter()
            .map(|&open| self.brackets.partner[open as usize]);
        if let Some(close) = partners.into_iter().find(|&p| p != NONE && p < self.limit) {
            self.pos = self.pos.max(close + 1);
        }
        while self.pos < self.limit && !self.is_at_line_end() {
            let kind = self.kind_at(self.pos);
            if kind == TokenKind::Semicolon {
                // `R e = k*f; … }` with its `{` missing: all up to the `}` is one law.
                let stray = self.brackets.next_stray(self.pos).filter(|&stray| {
                    stray < self.limit
                        && self.places[stray as usize].line == self.places[self.pos as usize].line
                });
                let Some(stray) = stray else { break };
                self.pos = stray;
            }
            let partner = self.brackets.partner[self.pos as usize];
            let is_pair = is_opener(kind) && partner != NONE && partner < self.limit;
            self.pos = if is_pair { partner + 1 } else { self.pos + 1 };
        }
        self.complete(mark, NodeKind::Skipped);
    }

    // ---- small things

    /// Gives the documentation above significant token `i`.
    fn docs_before(&self, i: u32) -> Option<String> {
        let end = *self.raw.get(i as usize)? as usize;
        let start = match i.checked_sub(1) {
            Some(previous) => self.raw[previous as usize] as usize + 1,
            None => 0,
        };
        let mut is_first_of_line = i == 0;
        let mut lines = Vec::new();
        for token in start..end {
            match self.tokens.kind(token) {
                TokenKind::Newline => is_first_of_line = true,
                TokenKind::DocComment if is_first_of_line => {
                    let line = self.tokens.text(token, self.text).trim_start_matches('/');
                    lines.push(line.strip_prefix(' ').unwrap_or(line).trim_end());
                }
                _ => {}
            }
        }
        if lines.is_empty() {
            None
        } else {
            Some(lines.join("\n"))
        }
    }

    /// Reports characters and texts that no grammar could help, one a line.
    fn report_bad_tokens(&mut self) {
        let mut bad_lines = Vec::new();
        let mut line = 0;
        for i in 0..self.tokens.len() {
            let kind = self.tokens.kind(i);
            if kind == TokenKind::Newline {
                line += 1;
            }
            if !matches!(kind, TokenKind::Unknown | TokenKind::Text)
                || bad_lines.last() == Some(&line)
            {
                continue;
            }
            let range = self.tokens.range(i);
            let span = Span::new(self.file, range.start, range.end);
            let text = self.tokens.text(i, self.text);
            if kind == TokenKind::Unknown {
                self.report(unknown_character(text, span));
            } else if text.len() < 2 || !text.ends_with('"') {
                self.report(
                    Diagnostic::error(code::UNFINISHED_TEXT, "a text has no closing quote")
                        .primary(span, "it begins here and reaches to the end of the line")
                        .help("close it with `\"`"),
                );
            } else {
                continue;
            }
            bad_lines.push(line);
        }
        self.bad_lines = bad_lines;
    }
}

/// An open bracket, with what must be restored behind it.
#[derive(Clone, Copy)]
struct Open {
    token: u32,
    ignored_newlines: bool,
    allowed_unit_behind: bool,
}

fn closer_text(kind: TokenKind) -> &'static str {
    match kind {
        TokenKind::RParen => ")",
        TokenKind::RBracket => "]",
        _ => "}",
    }
}

/// Tells whether an item that cannot be a statement of a body starts at token `i`.
fn starts_item<'t>(places: &[Place], i: usize, text: impl Fn(usize) -> &'t str) -> bool {
    let kind = |i: usize| places.get(i).map_or(TokenKind::End, |p| p.kind);
    let is_first_of_line = i == 0 || places[i - 1].line != places[i].line;
    if !is_first_of_line || kind(i) != TokenKind::Ident {
        return false;
    }
    let next = kind(i + 1);
    match text(i) {
        "model" | "experiment" | "fn" | "domain" => next == TokenKind::Ident,
        "use" => matches!(next, TokenKind::Ident | TokenKind::Text),
        "external" => next == TokenKind::Ident && text(i + 1) == "fn",
        "port" => next == TokenKind::Ident && kind(i + 2) == TokenKind::LBrace,
        _ => false,
    }
}

/// Words for a run of characters that mean nothing.
fn unknown_character(text: &str, span: Span) -> Diagnostic {
    let first = text.chars().next().unwrap_or(' ');
    let shown = if first.is_control() || first == '\u{fffd}' {
        format!("U+{:04X}", first as u32)
    } else {
        first.to_string()
    };
    let diagnostic = Diagnostic::error(
        code::UNKNOWN_CHARACTER,
        format!("`{shown}` means nothing here"),
    )
    .primary(span, "not part of the language");
    let meant = match first {
        '−' | '–' | '—' => "-",
        '·' | '×' | '⋅' => "*",
        '÷' => "/",
        '→' | '⇀' | '⟶' => "->",
        '⇒' | '⟹' => "=>",
        '≤' => "<=",
        '≥' => ">=",
        '≠' | '!' => "!=",
        '“' | '”' | '„' => "\"",
        '’' | '′' => "'",
        '²' => "^2",
        '³' => "^3",
        '°' => "deg",
        '|' => "or",
        '&' => "and",
        '#' => "//",
        _ => return diagnostic,
    };
    diagnostic.help(format!("type `{meant}` instead"))
}
