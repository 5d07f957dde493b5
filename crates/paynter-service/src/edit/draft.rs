//! A copy of a text on which an edit is carried out step by step.
//!
//! In:  a text, and the model that is edited.
//! Out: the text as changed so far, read anew after each step; in the end what differs.
//!
//! **Invariant:** a draft that could be read can be read after each step, or the edit is refused.

use super::diff::diff;
use super::{Refusal, TextEdit};
use crate::analysis::Analysis;
use crate::document::Document;
use crate::view::{Reading, read_model};
use paynter::syntax::{FileId, Span, TokenKind, ast, format};
use std::sync::Arc;

/// Blanks before a statement of a model.
pub const INDENT: &str = "    ";

/// A text that is being edited.
pub struct Draft<'a> {
    /// What was known before the edit; imports and kinds are found there.
    pub analysis: &'a Analysis,
    /// The text as it was.
    original: &'a Document,
    /// The text as it is now.
    pub document: Document,
    /// The model that is edited.
    pub model: String,
}

impl<'a> Draft<'a> {
    /// Starts with the text as it is.
    ///
    /// # Errors
    ///
    /// There is no such model.
    pub fn new(
        analysis: &'a Analysis,
        original: &'a Document,
        model: &str,
    ) -> Result<Self, Refusal> {
        if original.model(model).is_none() {
            return Err(Refusal::new(format!("there is no model `{model}`")));
        }
        Ok(Draft {
            analysis,
            original,
            document: Document::new(original.text.clone()),
            model: model.to_owned(),
        })
    }

    /// The text as it is now.
    pub fn text(&self) -> &str {
        &self.document.text
    }

    /// The text under a span.
    pub fn slice(&self, span: Span) -> String {
        self.document.slice(span).to_owned()
    }

    /// The view of the model as it is now, with the places in the text.
    pub fn read(&self) -> Reading<'_> {
        read_model(self.analysis, &self.document, &self.model)
            .expect("every step keeps the model readable")
    }

    /// The syntax of the model as it is now.
    pub fn syntax(&self) -> (&ast::Item, &ast::Model) {
        self.document
            .model(&self.model)
            .expect("every step keeps the model readable")
    }

    /// Replaces bytes, and reads the text anew.
    ///
    /// # Errors
    ///
    /// The text could be read before and cannot be read any more.
    pub fn replace(&mut self, start: usize, end: usize, by: &str) -> Result<(), Refusal> {
        let mut text = String::with_capacity(self.text().len() + by.len());
        text.push_str(&self.text()[..start]);
        text.push_str(by);
        text.push_str(&self.text()[end..]);
        let document = Document::new(Arc::from(text));
        let n_errors = |d: &Document| d.parsed.diagnostics.iter().filter(|m| m.is_error()).count();
        if n_errors(&document) > n_errors(&self.document) || document.model(&self.model).is_none() {
            let message = document.parsed.diagnostics.iter().find(|m| m.is_error());
            let why = message.map_or("the model would be lost", |m| m.message.as_str());
            return Err(Refusal::new(format!(
                "this would not be a model any more: {why}"
            )));
        }
        self.document = document;
        Ok(())
    }

    /// Replaces what a span covers.
    ///
    /// # Errors
    ///
    /// As for [`Draft::replace`].
    pub fn replace_span(&mut self, span: Span, by: &str) -> Result<(), Refusal> {
        self.replace(span.start as usize, span.end as usize, by)
    }

    /// Tells whether a statement has its lines for itself, but for a comment behind it.
    pub fn is_alone(&self, span: Span) -> bool {
        let (before, after) = self.around(span);
        let after = after.trim_start();
        before.trim().is_empty() && (after.is_empty() || after.starts_with("//"))
    }

    /// What stands on the lines of a statement before and behind it.
    fn around(&self, span: Span) -> (&str, &str) {
        let text = self.text();
        let line = text[..span.start as usize].rfind('\n').map_or(0, |i| i + 1);
        let end = self.line_end(span.end as usize);
        (
            &text[line..span.start as usize],
            &text[span.end as usize..end],
        )
    }

    /// The end of the line that holds a byte, before its line break.
    pub fn line_end(&self, at: usize) -> usize {
        self.text()[at..]
            .find('\n')
            .map_or(self.text().len(), |i| at + i)
    }

    /// Takes a statement away, with its documentation and, if it has its lines for itself, with these.
    ///
    /// # Errors
    ///
    /// As for [`Draft::replace`].
    pub fn remove_statement(&mut self, span: Span) -> Result<(), Refusal> {
        let text = self.text();
        let (start, end) = (span.start as usize, span.end as usize);
        if self.is_alone(span) {
            let mut first = text[..start].rfind('\n').map_or(0, |i| i + 1);
            while let Some(above) = text[..first].strip_suffix('\n') {
                let line = above.rfind('\n').map_or(0, |i| i + 1);
                if !text[line..first].trim_start().starts_with("///") {
                    break;
                }
                first = line;
            }
            let last = (self.line_end(end) + 1).min(text.len());
            return self.replace(first, last, "");
        }
        let after = &text[end..];
        let blanks = after.len() - after.trim_start_matches([' ', '\t']).len();
        if after[blanks..].starts_with(';') {
            let behind = &after[blanks + 1..];
            let more = behind.len() - behind.trim_start_matches([' ', '\t']).len();
            return self.replace(start, end + blanks + 1 + more, "");
        }
        let before = text[..start].trim_end();
        match before.strip_suffix(';') {
            Some(kept) => self.replace(kept.trim_end().len(), end, ""),
            None => self.replace(start, end, ""),
        }
    }

    /// Replaces a statement by others, each on a line of its own where the first has one.
    ///
    /// # Errors
    ///
    /// As for [`Draft::replace`].
    pub fn replace_statement(&mut self, span: Span, pieces: &[String]) -> Result<(), Refusal> {
        if pieces.is_empty() {
            return self.remove_statement(span);
        }
        if !self.is_alone(span) {
            return self.replace_span(span, &pieces.join("; "));
        }
        // The comment behind it stays with the first piece.
        let end = self.line_end(span.end as usize);
        let behind = self.text()[span.end as usize..end].to_owned();
        let mut text = format!("{}{behind}", pieces[0]);
        for piece in &pieces[1..] {
            text.push('\n');
            text.push_str(INDENT);
            text.push_str(piece);
        }
        self.replace(span.start as usize, end, &text)
    }

    /// Adds a statement where a person would look for it: behind the last line with bonds, else behind
    /// the last declaration.
    ///
    /// # Errors
    ///
    /// As for [`Draft::replace`].
    pub fn add_statement(&mut self, statement: &str) -> Result<(), Refusal> {
        let (_, model) = self.syntax();
        let is_power = |s: &&ast::Stmt| {
            matches!(
                s.kind,
                ast::StmtKind::Chain(_) | ast::StmtKind::NamedBond { .. }
            )
        };
        let is_not_layout = |s: &&ast::Stmt| !matches!(s.kind, ast::StmtKind::Layout(_));
        let last = model.body.iter().rfind(is_power);
        let after = last.or_else(|| model.body.iter().rfind(is_not_layout));
        let after = after.map(|s| s.span);
        self.add_behind(after, statement)
    }

    /// Adds a statement behind another one, or at the start of the body.
    ///
    /// # Errors
    ///
    /// As for [`Draft::replace`].
    pub fn add_behind(&mut self, after: Option<Span>, statement: &str) -> Result<(), Refusal> {
        let (open, close) = self.braces()?;
        let text = self.text();
        let is_one_line = !text[open..close].contains('\n');
        match after {
            None if is_one_line && text[open + 1..close].trim().is_empty() => {
                self.replace(open + 1, close, &format!("\n{INDENT}{statement}\n"))
            }
            None if is_one_line => self.replace(open + 1, open + 1, &format!(" {statement};")),
            None => {
                let end = self.line_end(open);
                self.replace(end, end, &format!("\n{INDENT}{statement}"))
            }
            Some(span) if is_one_line => {
                let end = span.end as usize;
                self.replace(end, end, &format!("; {statement}"))
            }
            Some(span) => {
                let end = self.line_end(span.end as usize);
                // A brace that closes the model on the same line stays behind what is added.
                let end = if end > close { span.end as usize } else { end };
                self.replace(end, end, &format!("\n{INDENT}{statement}"))
            }
        }
    }

    /// The braces of the model.
    ///
    /// # Errors
    ///
    /// The model is not closed.
    pub fn braces(&self) -> Result<(usize, usize), Refusal> {
        let (item, model) = self.syntax();
        let tokens = self.document.parsed.tree.tokens();
        let mut depth = 0_i32;
        let mut open = None;
        for i in 0..tokens.len() {
            let range = tokens.range(i);
            if range.start < model.name.span.end as usize || range.end > item.span.end as usize {
                continue;
            }
            match tokens.kind(i) {
                TokenKind::LParen | TokenKind::LBracket => depth += 1,
                TokenKind::RParen | TokenKind::RBracket => depth -= 1,
                TokenKind::LBrace if depth == 0 && open.is_none() => open = Some(range.start),
                _ => {}
            }
        }
        let close = (item.span.end as usize).saturating_sub(1);
        match open {
            Some(open) if close > open && self.text()[close..].starts_with('}') => {
                Ok((open, close))
            }
            _ => Err(Refusal::new(format!(
                "the braces of `{}` do not match; close it first",
                self.model
            ))),
        }
    }

    /// Lays the text out if it was laid out before, and gives what differs.
    ///
    /// # Errors
    ///
    /// None at present; a step that fails was refused before.
    pub fn finish(self) -> Result<Vec<TextEdit>, Refusal> {
        let before = format(FileId(0), &self.original.text);
        let was_laid_out = before.text == *self.original.text && !self.original.parsed.has_errors();
        let text = match was_laid_out {
            true => format(FileId(0), self.text()).text,
            false => self.text().to_owned(),
        };
        let stretches = diff(&self.original.text, &text);
        let edits = stretches.into_iter().map(|(start, end, text)| TextEdit {
            path: self.analysis.path.clone(),
            range: self.original.bytes(start, end),
            text,
        });
        Ok(edits.collect())
    }
}
