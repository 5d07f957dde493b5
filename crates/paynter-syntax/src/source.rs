//! Files of model text and places in them.
//!
//! In:  a name and the text of each file.
//! Out: [`FileId`]s and [`Span`]s that every later stage carries along.
//!
//! **Invariant:** a span lies inside its file, on character boundaries.

use std::sync::Arc;

/// Names one file of a [`SourceMap`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct FileId(pub u32);

/// A stretch of text: bytes `start..end` of one file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct Span {
    /// The file.
    pub file: FileId,
    /// First byte.
    pub start: u32,
    /// One past the last byte.
    pub end: u32,
}

impl Span {
    /// Makes the span of bytes `start..end` of `file`.
    pub fn new(file: FileId, start: usize, end: usize) -> Self {
        let clip = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
        Span {
            file,
            start: clip(start),
            end: clip(end),
        }
    }

    /// Covers both spans; they must be of one file, else `self` is returned.
    #[must_use]
    pub fn to(self, other: Span) -> Span {
        if self.file != other.file {
            return self;
        }
        Span {
            file: self.file,
            start: self.start.min(other.start),
            end: self.end.max(other.end),
        }
    }
}

/// One file of model text.
#[derive(Clone, Debug)]
pub struct Source {
    /// The name shown in messages: a path as the user gave it.
    pub name: String,
    /// The text. Bytes that are not UTF-8 are refused where the file is read.
    pub text: Arc<str>,
    /// Of a text that was derived from another one: where its stretches come from, as (end, place), ascending.
    origins: Vec<(u32, Span)>,
}

/// All files read for one model.
#[derive(Clone, Debug, Default)]
pub struct SourceMap {
    files: Vec<Source>,
}

impl SourceMap {
    /// Makes an empty map.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a file and names it.
    pub fn add(&mut self, name: impl Into<String>, text: impl Into<Arc<str>>) -> FileId {
        self.add_derived(name, text, Vec::new())
    }

    /// Adds a text that was derived from others: each stretch, given by its end, comes from a place in them.
    pub fn add_derived(
        &mut self,
        name: impl Into<String>,
        text: impl Into<Arc<str>>,
        origins: Vec<(u32, Span)>,
    ) -> FileId {
        let id = FileId(u32::try_from(self.files.len()).expect("fewer than 2^32 files"));
        self.files.push(Source {
            name: name.into(),
            text: text.into(),
            origins,
        });
        id
    }

    /// Gives the place that the user wrote: the span itself, or what a derived text comes from there.
    pub fn origin(&self, span: Span) -> Span {
        let Some(source) = self.files.get(span.file.0 as usize) else {
            return span;
        };
        let at = source
            .origins
            .partition_point(|&(end, _)| end <= span.start);
        match source.origins.get(at).or(source.origins.last()) {
            Some(&(_, place)) => place,
            None => span,
        }
    }

    /// Gives the line of text that a span begins in, without blanks around it.
    pub fn line(&self, span: Span) -> &str {
        let text = &self.file(span.file).text;
        let start = (span.start as usize).min(text.len());
        let (before, after) = text.split_at_checked(start).unwrap_or((text, ""));
        let first = before.rfind('\n').map_or(0, |i| i + 1);
        let end = start + after.find('\n').unwrap_or(after.len());
        text.get(first..end).unwrap_or("").trim()
    }

    /// Gives the file that `id` names.
    pub fn file(&self, id: FileId) -> &Source {
        &self.files[id.0 as usize]
    }

    /// Gives all files in the order they were added.
    pub fn files(&self) -> impl Iterator<Item = (FileId, &Source)> {
        self.files
            .iter()
            .enumerate()
            .map(|(i, f)| (FileId(i as u32), f))
    }

    /// Gives the text under a span.
    pub fn text(&self, span: Span) -> &str {
        self.file(span.file)
            .text
            .get(span.start as usize..span.end as usize)
            .unwrap_or("")
    }

    /// Gives line and column (both from 1, column in characters) of the start of a span.
    pub fn line_column(&self, span: Span) -> (usize, usize) {
        let text = &self.file(span.file).text;
        let start = (span.start as usize).min(text.len());
        let before = &text.as_bytes()[..start];
        let line = before.iter().filter(|&&b| b == b'\n').count() + 1;
        let line_start = before
            .iter()
            .rposition(|&b| b == b'\n')
            .map_or(0, |i| i + 1);
        let column = String::from_utf8_lossy(&before[line_start..])
            .chars()
            .count()
            + 1;
        (line, column)
    }
}
