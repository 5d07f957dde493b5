//! Looks at tokens, steps over them, and notes the nodes of the tree.
//!
//! In:  the position of the parser.
//! Out: kinds, texts and places of tokens as a statement sees them.
//!
//! **Invariant:** nothing is read after the limit of the innermost body.

use super::{MAX_DEPTH, Newlines, Parser};
use crate::ast;
use crate::code;
use crate::diagnostic::Diagnostic;
use crate::lex::TokenKind;
use crate::source::Span;
use crate::tree::{Mark, NodeKind};

impl<'t> Parser<'t> {
    /// Gives the kind of significant token `i`, whatever line it is on.
    pub(super) fn kind_at(&self, i: u32) -> TokenKind {
        self.work.set(self.work.get() + 1);
        self.places
            .get(i as usize)
            .map_or(TokenKind::End, |place| place.kind)
    }

    /// Gives the kind of the next token, whatever line it is on; `End` at the end of the body.
    pub(super) fn raw_kind(&self) -> TokenKind {
        if self.pos >= self.limit {
            TokenKind::End
        } else {
            self.kind_at(self.pos)
        }
    }

    /// Gives the kind of the next token of this statement; `End` where the statement ends.
    pub(super) fn kind(&self) -> TokenKind {
        if self.is_at_line_end() {
            TokenKind::End
        } else {
            self.raw_kind()
        }
    }

    /// Gives the kind of the token after the next one, if it belongs to this statement.
    pub(super) fn second_kind(&self) -> TokenKind {
        let next = self.pos + 1;
        if next >= self.limit || self.is_line_end_before(next) {
            TokenKind::End
        } else {
            self.kind_at(next)
        }
    }

    pub(super) fn is_at_line_end(&self) -> bool {
        self.pos > self.statement_start && self.is_line_end_before(self.pos)
    }

    pub(super) fn is_line_end_before(&self, i: u32) -> bool {
        if self.is_on_line_of_previous(i) {
            return false;
        }
        match self.newlines {
            Newlines::AreBlanks => return false,
            Newlines::EndIfOutdented
                if self.places[i as usize].indent > self.statement_indent() =>
            {
                return false;
            }
            _ => {}
        }
        let continues =
            self.kind_at(i - 1).continues_line() || self.kind_at(i).continues_from_above();
        !continues || self.places[i as usize].is_item_start
    }

    /// Gives the indentation of the line on which the statement began.
    pub(super) fn statement_indent(&self) -> u16 {
        self.places[self.statement_start as usize].indent
    }

    pub(super) fn is_on_line_of_previous(&self, i: u32) -> bool {
        i > 0 && self.places[i as usize].line == self.places[i as usize - 1].line
    }

    /// Tells whether the next token touches the one before it.
    pub(super) fn is_adjacent(&self) -> bool {
        let i = self.pos as usize;
        i > 0 && i < self.raw.len() && self.raw[i] == self.raw[i - 1] + 1
    }

    /// Gives the text of significant token `i`.
    pub(super) fn text_at(&self, i: u32) -> &'t str {
        match self.raw.get(i as usize) {
            Some(&raw) => self.tokens.text(raw as usize, self.text),
            None => "",
        }
    }

    /// Tells whether the next token of this statement is the word `word`.
    pub(super) fn is_word(&self, word: &str) -> bool {
        self.kind() == TokenKind::Ident && self.text_at(self.pos) == word
    }

    /// Gives the span of significant token `i`; at the end of the text an empty one.
    pub(super) fn span_at(&self, i: u32) -> Span {
        let range = match self.raw.get(i as usize) {
            Some(&raw) => self.tokens.range(raw as usize),
            None => self.text.len()..self.text.len(),
        };
        Span::new(self.file, range.start, range.end)
    }

    /// Gives the empty span after the last token read.
    pub(super) fn span_behind(&self) -> Span {
        let end = match self.pos.checked_sub(1) {
            Some(previous) => self.span_at(previous).end as usize,
            None => 0,
        };
        Span::new(self.file, end, end)
    }

    /// Gives the span from significant token `first` to the last one read.
    pub(super) fn span_from(&self, first: u32) -> Span {
        if self.pos <= first {
            return self.span_behind();
        }
        self.span_at(first).to(self.span_at(self.pos - 1))
    }

    // ---- moving on

    pub(super) fn bump(&mut self) -> u32 {
        let i = self.pos;
        self.pos = (self.pos + 1).min(self.limit);
        i
    }

    pub(super) fn eat(&mut self, kind: TokenKind) -> bool {
        let is_there = self.kind() == kind;
        if is_there {
            self.bump();
        }
        is_there
    }

    pub(super) fn eat_word(&mut self, word: &str) -> bool {
        let is_there = self.is_word(word);
        if is_there {
            self.bump();
        }
        is_there
    }

    /// Steps over `kind`, or reports that `what` was expected.
    pub(super) fn expect(&mut self, kind: TokenKind, what: &str) -> Option<u32> {
        if self.kind() == kind {
            return Some(self.bump());
        }
        self.expected(what);
        None
    }

    pub(super) fn expect_word(&mut self, word: &str) -> Option<()> {
        if self.eat_word(word) {
            return Some(());
        }
        self.expected(&format!("`{word}`"));
        None
    }

    /// Reads a name; `what` says whose.
    pub(super) fn name(&mut self, what: &str) -> Option<ast::Ident> {
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

    pub(super) fn ident(&self, i: u32) -> ast::Ident {
        ast::Ident {
            text: self.text_at(i).into(),
            span: self.span_at(i),
        }
    }

    // ---- the tree

    pub(super) fn mark(&self) -> (Mark, u32) {
        (self.nodes.mark(), self.pos)
    }

    /// Completes a node over the tokens since `mark`; one without tokens is left out.
    pub(super) fn complete(&mut self, (mark, first): (Mark, u32), kind: NodeKind) {
        if self.pos <= first {
            return;
        }
        let tokens = self.raw[first as usize]..self.raw[self.pos as usize - 1] + 1;
        self.nodes.complete(mark, kind, tokens);
    }

    /// Enters one level of nesting, or fails if there are too many.
    pub(super) fn enter(&mut self) -> Option<()> {
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

    pub(super) fn leave(&mut self) {
        self.depth -= 1;
    }

    /// Gives the documentation above significant token `i`.
    pub(super) fn docs_before(&self, i: u32) -> Option<String> {
        let end = *self.raw.get(i as usize)? as usize;
        let start = match i.checked_sub(1) {
            Some(previous) => self.raw[previous as usize] as usize + 1,
            None => 0,
        };
        // What comes after a `{` is about what follows in the block, too.
        let opens = |previous: u32| self.tokens.kind(self.raw[previous as usize] as usize);
        let mut is_first_of_line = i
            .checked_sub(1)
            .is_none_or(|previous| opens(previous) == TokenKind::LBrace);
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
}
