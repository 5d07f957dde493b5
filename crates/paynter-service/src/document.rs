//! One text with what reading it alone gives.
//!
//! In:  a text.
//! Out: its tree, its meaning, its lines; made once, shared by all who ask.
//!
//! **Invariant:** nothing here depends on another text.

use crate::place::{LineIndex, Range};
use paynter::model::project::ReadText;
use paynter::syntax::{FileId, Span, ast};
use std::sync::Arc;

/// A text that was read.
#[derive(Debug)]
pub struct Document {
    /// The text.
    pub text: Arc<str>,
    /// Tree, meaning and messages; spans are of file 0.
    pub parsed: Arc<ReadText>,
    /// Its lines.
    pub lines: LineIndex,
}

impl Document {
    /// Reads a text.
    pub fn new(text: Arc<str>) -> Self {
        let parsed = Arc::new(ReadText::new(FileId(0), &text));
        Document::of(text, parsed)
    }

    /// Takes over a text that was read as file 0.
    pub fn of(text: Arc<str>, parsed: Arc<ReadText>) -> Self {
        Document {
            parsed,
            lines: LineIndex::new(&text),
            text,
        }
    }

    /// Gives a span in all counts.
    pub fn range(&self, span: Span) -> Range {
        self.lines
            .range(&self.text, span.start as usize, span.end as usize)
    }

    /// Gives bytes `start..end` in all counts.
    pub fn bytes(&self, start: usize, end: usize) -> Range {
        self.lines.range(&self.text, start, end)
    }

    /// Gives the text under a span.
    pub fn slice(&self, span: Span) -> &str {
        self.text
            .get(span.start as usize..span.end as usize)
            .unwrap_or("")
    }

    /// Finds a model by name.
    pub fn model(&self, name: &str) -> Option<(&ast::Item, &ast::Model)> {
        self.parsed
            .ast
            .items
            .iter()
            .find_map(|item| match &item.kind {
                ast::ItemKind::Model(model) if &*model.name.text == name => Some((item, model)),
                _ => None,
            })
    }
}
