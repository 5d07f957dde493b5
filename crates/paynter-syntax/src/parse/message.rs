//! Words what is wrong, once per cause.
//!
//! In:  the position of the parser and what it hoped for.
//! Out: diagnostics.
//!
//! **Invariant:** one place and one broken statement give one message.

use super::{MAX_ERRORS, Newlines, Parser};
use crate::brackets::NONE;
use crate::code;
use crate::diagnostic::Diagnostic;
use crate::lex::TokenKind;
use crate::source::Span;

impl Parser<'_> {
    /// Reports an error after which the statement can still be read.
    pub(super) fn report(&mut self, diagnostic: Diagnostic) {
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
        // nothing, would be one cause reported twice.
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

    pub(super) fn is_on_bad_line(&self) -> bool {
        let previous = self.pos.saturating_sub(1);
        [previous, self.pos].iter().any(|&i| {
            self.places
                .get(i as usize)
                .is_some_and(|p| self.bad_lines.binary_search(&p.line).is_ok())
        })
    }

    /// Reports an error that ends the reading of this statement.
    pub(super) fn fail(&mut self, diagnostic: Diagnostic) {
        let diagnostic = match self.dangling_operator() {
            Some(operator) if !self.recovering => self.unfinished_line(operator, diagnostic),
            _ => diagnostic,
        };
        self.report(diagnostic);
        self.recovering = true;
    }

    /// Finds the operator or comma at the end of the line above that made this line part of
    /// the statement, although by its indentation it is a statement of its own.
    pub(super) fn dangling_operator(&self) -> Option<u32> {
        let mut first = self.pos;
        while self.is_on_line_of_previous(first) {
            first -= 1;
        }
        let operator = first
            .checked_sub(1)
            .filter(|&operator| operator > self.statement_start)?;
        let is_own_statement = self.places[first as usize].indent <= self.statement_indent();
        let is_dangling =
            self.newlines == Newlines::EndStatement && self.kind_at(operator).continues_line();
        (is_dangling && is_own_statement).then_some(operator)
    }

    pub(super) fn unfinished_line(&self, operator: u32, cause: Diagnostic) -> Diagnostic {
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

    /// Fails because `what` is expected here.
    pub(super) fn expected(&mut self, what: &str) {
        let diagnostic = self.expected_message(what);
        self.fail(diagnostic);
    }

    pub(super) fn expected_message(&self, what: &str) -> Diagnostic {
        let found = self.found();
        let span = self.span_here();
        let kind = self.kind();
        if kind.is_closer() && self.brackets.partner[self.pos as usize] == NONE {
            return Diagnostic::error(code::STRAY_CLOSER, format!("{found} closes nothing"))
                .primary(span, format!("expected {what}"))
                .help("delete it, or write the bracket that it closes");
        }
        Diagnostic::error(code::UNEXPECTED, format!("expected {what}, found {found}"))
            .primary(span, format!("expected {what}"))
    }

    /// Names the next token for a message.
    pub(super) fn found(&self) -> String {
        match self.kind() {
            TokenKind::End if self.pos as usize >= self.raw.len() => "the end of the file".into(),
            TokenKind::End if self.is_at_line_end() => "the end of the line".into(),
            TokenKind::End => "the end of the block".into(),
            TokenKind::Text => "a string in quotes".into(),
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

    /// Gives the place of the next token; where the line ends, the place after the last one.
    pub(super) fn span_here(&self) -> Span {
        match self.kind() {
            TokenKind::End => self.span_behind(),
            _ => self.span_at(self.pos),
        }
    }

    /// Reports characters and texts that no grammar could help, one a line.
    pub(super) fn report_bad_tokens(&mut self) {
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
                    Diagnostic::error(code::UNFINISHED_TEXT, "a string has no closing quote")
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
