//! Reads what is bracketed, listed or lined up, and finds where to go on after an error.
//!
//! In:  a function that reads one element or statement.
//! Out: all of them.
//!
//! **Invariant:** every loop moves forward. A missing `)`, `}` or comma is reported and
//! supplied; a broken statement is left at its end, out of its brackets and over its blocks.

use super::{Newlines, Parser};
use crate::brackets::NONE;
use crate::code;
use crate::diagnostic::Diagnostic;
use crate::lex::TokenKind;
use crate::source::Span;
use crate::tree::{Mark, NodeKind};

/// How far below a statement the end of a bracket is looked for that it does not open.
const MAX_MATRIX_LINES: u32 = 30;

/// How many tokens above a stray `}` the start of its block is looked for.
const MAX_BLOCK_TOKENS: u32 = 1000;

/// How a body ends.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum BodyEnd {
    /// With its `}`, or with a `}` that has no `{` of its own.
    Brace,
    /// The `}` is missing; `open` is the `{`.
    Missing { open: u32 },
}

/// A body being read, with what must be restored after it.
pub(super) struct Body {
    mark: Mark,
    first: u32,
    end: BodyEnd,
    outer_limit: u32,
    outer_brackets: Vec<u32>,
    outer_newlines: Newlines,
}

/// An open bracket, with what must be restored after it.
#[derive(Clone, Copy)]
pub(super) struct Open {
    token: u32,
    newlines: Newlines,
    allowed_unit_behind: bool,
}

impl Parser<'_> {
    /// Steps over `(` or `[`: newlines mean nothing up to its partner.
    pub(super) fn open(&mut self) -> Open {
        let token = self.bump();
        self.open_brackets.push(token);
        let outer = Open {
            token,
            newlines: self.newlines,
            allowed_unit_behind: self.allows_unit_behind,
        };
        self.newlines = match self.newlines {
            Newlines::AreBlanks => Newlines::AreBlanks,
            _ if self.brackets.partner[token as usize] != NONE => Newlines::AreBlanks,
            // A bracket that is never closed should not swallow the lines below.
            _ => Newlines::EndIfOutdented,
        };
        self.allows_unit_behind = false;
        outer
    }

    /// Steps over the closing bracket. If it is missing, and what follows can follow it,
    /// says so and reads on.
    pub(super) fn close(&mut self, open: Open, kind: TokenKind) -> Option<()> {
        self.newlines = open.newlines;
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
    pub(super) fn list<T>(
        &mut self,
        mut element: impl FnMut(&mut Self) -> Option<T>,
    ) -> Option<Vec<T>> {
        let mut all = vec![element(self)?];
        while self.eat(TokenKind::Comma) {
            all.push(element(self)?);
        }
        Some(all)
    }

    /// Reads a list up to the closing bracket; a comma forgotten between two elements on
    /// one line is reported and supplied.
    pub(super) fn list_until<T>(
        &mut self,
        close: TokenKind,
        mut element: impl FnMut(&mut Self) -> Option<T>,
    ) -> Option<Vec<T>> {
        // Most lists are short; a file has many, so spare capacity counts.
        let mut all = Vec::with_capacity(1);
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
        all.shrink_to_fit();
        Some(all)
    }

    // ---- bodies and statements

    /// Steps over the `{` of a body. If there is none, reports it, and still finds the body
    /// if its `}` exists.
    pub(super) fn open_body(&mut self, what: &str) -> Option<Body> {
        let mark = self.nodes.mark();
        if self.recovering {
            self.leave_brackets();
        }
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
    pub(super) fn find_body_in_line(&mut self) -> bool {
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
    pub(super) fn open_body_without_brace(&mut self, mark: Mark) -> Option<Body> {
        let end = self
            .brackets
            .next_stray_brace(self.pos)
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

    pub(super) fn begin_body(&mut self, mark: Mark, first: u32, limit: u32, end: BodyEnd) -> Body {
        let body = Body {
            mark,
            first,
            end,
            outer_limit: self.limit,
            outer_brackets: std::mem::take(&mut self.open_brackets),
            outer_newlines: self.newlines,
        };
        self.limit = limit;
        self.newlines = Newlines::EndStatement;
        self.recovering = false;
        self.is_quiet = false;
        body
    }

    /// Steps over the `}` of a body, or reports that it is missing.
    pub(super) fn close_body(&mut self, body: Body, kind: NodeKind) {
        self.recovering = false;
        self.is_quiet = false;
        let ended_early = self.pos < self.limit;
        self.limit = body.outer_limit;
        self.open_brackets = body.outer_brackets;
        self.newlines = body.outer_newlines;
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

    /// Gives the place where the `}` for `open` is missing: after the last token of the
    /// body, or after the last comment that is indented like the body.
    pub(super) fn end_of_body(&self, open: u32) -> Span {
        let indent = usize::from(self.places[open as usize].indent);
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
    pub(super) fn block<T>(
        &mut self,
        what: &str,
        kind: NodeKind,
        mut statement: impl FnMut(&mut Self) -> Option<T>,
    ) -> Option<Vec<T>> {
        let body = self.open_body(what)?;
        let mut all = Vec::new();
        let n_errors = self.diagnostics.len();
        while self.raw_kind() != TokenKind::End {
            if self.eat_stray_separator() {
                continue;
            }
            all.extend(self.statement(&mut statement));
            // `TF { e2 = p*e1 -> coil`: the law ends where the chain goes on.
            let chain_goes_on = kind == NodeKind::Law
                && matches!(body.end, BodyEnd::Missing { .. })
                && (self.raw_kind().is_arrow() || self.is_flag());
            if chain_goes_on {
                break;
            }
            self.finish_statement();
            // A law has few lines. If one is wrong, this may not be a law at all but the
            // block of a statement without its keyword.
            if kind == NodeKind::Law && self.diagnostics.len() > n_errors {
                self.pos = self.limit;
            }
        }
        self.close_body(body, kind);
        all.shrink_to_fit();
        Some(all)
    }

    /// Steps over a `;`, or over a `}` that closes nothing, which is an error.
    pub(super) fn eat_stray_separator(&mut self) -> bool {
        match self.raw_kind() {
            TokenKind::Semicolon => {}
            TokenKind::RBrace => {
                self.statement_start = self.pos;
                self.recovering = false;
                self.is_quiet = false;
                let diagnostic = self.stray_brace();
                self.report(diagnostic);
            }
            _ => return false,
        }
        self.bump();
        true
    }

    /// Words that the `}` at the position closes nothing. If the lines above it look like a
    /// block, the place is the line before that block.
    fn stray_brace(&self) -> Diagnostic {
        let diagnostic = Diagnostic::error(code::STRAY_CLOSER, "`}` closes nothing");
        let brace = self.span_at(self.pos);
        match self.header_above() {
            Some(last) => diagnostic
                .primary(
                    Span::new(
                        self.file,
                        self.span_at(last).end as usize,
                        self.span_at(last).end as usize,
                    ),
                    "is a `{` missing here?",
                )
                .secondary(brace, "there is no `{` for this"),
            None => diagnostic
                .primary(brace, "there is no `{` for this")
                .help("delete it, or write the `{` that it closes"),
        }
    }

    /// Finds the last token of the line that the indented lines above a `}` belong to.
    fn header_above(&self) -> Option<u32> {
        let indent = self.places[self.pos as usize].indent;
        let is_first_of_line = !self.is_on_line_of_previous(self.pos);
        let lowest = self.pos.saturating_sub(MAX_BLOCK_TOKENS);
        let last = (lowest..self.pos)
            .rev()
            .find(|&i| self.places[i as usize].indent <= indent)?;
        let has_block = last + 1 < self.pos;
        let is_header = self.places[last as usize].indent == indent
            && !matches!(self.kind_at(last), TokenKind::LBrace | TokenKind::RBrace);
        (is_first_of_line && has_block && is_header).then_some(last)
    }

    /// Reads one statement, without what ends it.
    pub(super) fn statement<T>(
        &mut self,
        read: &mut impl FnMut(&mut Self) -> Option<T>,
    ) -> Option<T> {
        let mark = self.mark();
        self.statement_start = self.pos;
        self.newlines = Newlines::EndStatement;
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
    pub(super) fn finish_statement(&mut self) {
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

    pub(super) fn junk_behind_statement(&mut self) {
        let diagnostic = self.expected_message("the end of the line");
        let diagnostic = match self.kind() {
            TokenKind::Comma => diagnostic
                .help("begin the line with `param`, or write each definition on a line of its own"),
            TokenKind::Ident | TokenKind::Number | TokenKind::LParen | TokenKind::Text => {
                diagnostic.help("an operator, an arrow, a comma or `;` is missing before this")
            }
            TokenKind::Eq => diagnostic
                .help("a value is written `name = …` without a type, a part `name: Kind(…)`"),
            _ => diagnostic,
        };
        self.fail(diagnostic);
    }

    /// Moves out of the round and square brackets of a broken statement.
    fn leave_brackets(&mut self) {
        self.newlines = Newlines::EndStatement;
        self.allows_unit_behind = false;
        let partners = self
            .open_brackets
            .iter()
            .map(|&open| self.brackets.partner[open as usize]);
        let outermost = partners
            .into_iter()
            .find(|&close| close != NONE && close < self.limit);
        if let Some(close) = outermost {
            self.pos = self.pos.max(close + 1);
        }
        self.open_brackets.clear();
    }

    /// Moves after the broken statement: out of its brackets, over whole blocks, to the end
    /// of its last line. Lines indented more than its first are part of it.
    pub(super) fn skip_statement(&mut self) {
        let mark = self.mark();
        let indent = self.statement_indent();
        self.leave_brackets();
        while self.pos < self.limit {
            let place = self.places[self.pos as usize];
            if self.is_at_line_end() && place.indent <= indent {
                break;
            }
            if place.kind == TokenKind::Semicolon {
                let Some(stray) = self.closer_of_statement(indent) else {
                    break;
                };
                self.pos = stray;
            }
            let partner = self.brackets.partner[self.pos as usize];
            let is_pair = place.kind.is_opener() && partner != NONE && partner < self.limit;
            self.pos = if is_pair { partner + 1 } else { self.pos + 1 };
        }
        self.complete(mark, NodeKind::Skipped);
    }

    /// Finds the closing bracket whose opening one is missing from the broken statement:
    /// in `A = 1, 2; 3, 4]` or `R e = k*f; … }` a `;` does not end it.
    fn closer_of_statement(&self, indent: u16) -> Option<u32> {
        let stray = self
            .brackets
            .next_stray(self.pos)
            .filter(|&stray| stray < self.limit)?;
        let (end, here) = (self.places[stray as usize], self.places[self.pos as usize]);
        let is_on_line = end.line == here.line;
        let is_indented = end.indent > indent && end.line - here.line < MAX_MATRIX_LINES;
        (is_on_line || is_indented).then_some(stray)
    }
}

fn closer_text(kind: TokenKind) -> &'static str {
    match kind {
        TokenKind::RParen => ")",
        TokenKind::RBracket => "]",
        _ => "}",
    }
}
