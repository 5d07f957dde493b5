//! What is wrong with a text, placed in it, with what would fix it.
//!
//! In:  the diagnostics of a text and everything it uses.
//! Out: [`Message`]s of this text alone, in text order.
//!
//! **Invariant:** no error is lost: one that lies in another text is shown where this text uses that one.

use crate::analysis::{Analysis, Checked};
use crate::document::Document;
use crate::fix::fixes_of;
use crate::place::Range;
use paynter::syntax::{Diagnostic, FileId, Severity as Level, Span};
use serde::{Deserialize, Serialize};

/// How bad it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// The model cannot be used.
    Error,
    /// The model can be used, but probably not as meant.
    Warning,
    /// Worth knowing.
    Note,
}

/// Another place that explains a message.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Label {
    /// The text it lies in; this one if none is named.
    pub path: Option<String>,
    /// Where.
    pub range: Range,
    /// What, in a few words.
    pub text: String,
}

/// An edit that would do what a help line says.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Fix {
    /// The help line.
    pub title: String,
    /// What to put where, in this text.
    pub edits: Vec<(Range, String)>,
}

/// One message about a text.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Message {
    /// Stable code such as `E0301`.
    pub code: String,
    /// How bad.
    pub severity: Severity,
    /// The place it is about.
    pub range: Range,
    /// The headline.
    pub text: String,
    /// What is said about the place itself.
    pub at: String,
    /// Other places.
    pub labels: Vec<Label>,
    /// What to do.
    pub helps: Vec<String>,
    /// Further facts.
    pub notes: Vec<String>,
    /// Help that a click can carry out.
    pub fixes: Vec<Fix>,
}

/// Gives the messages of the main text of an analysis.
pub fn messages_of(document: &Document, checked: &Checked) -> Vec<Message> {
    let analysis = &*checked.analysis;
    let texts = Texts { document, analysis };
    let mut messages: Vec<Message> = Vec::new();
    let mut told_elsewhere = Vec::new();
    for diagnostic in &checked.diagnostics {
        let diagnostic = &*paynter::syntax::at_origin(diagnostic, &analysis.project.sources);
        match own_place(diagnostic) {
            Some(span) => messages.push(message(&texts, diagnostic, span)),
            None => {
                let file = diagnostic.primary.as_ref().map(|l| l.span.file);
                if diagnostic.is_error() && !told_elsewhere.contains(&file) {
                    told_elsewhere.push(file);
                    messages.push(elsewhere(&texts, diagnostic, file));
                }
            }
        }
    }
    messages.sort_by_key(|m| m.range.bytes);
    messages
}

/// The first place of a message that lies in the main text.
fn own_place(diagnostic: &Diagnostic) -> Option<Span> {
    let labels = diagnostic.primary.iter().chain(&diagnostic.secondary);
    let mut own = labels.map(|l| l.span).filter(|s| s.file == FileId(0));
    match &diagnostic.primary {
        None => Some(Span::default()),
        Some(_) => own.next(),
    }
}

/// What messages are placed in.
struct Texts<'t> {
    document: &'t Document,
    analysis: &'t Analysis,
}

fn message(texts: &Texts<'_>, diagnostic: &Diagnostic, span: Span) -> Message {
    let Texts { document, analysis } = *texts;
    let primary = diagnostic.primary.as_ref();
    let is_primary = primary.is_some_and(|p| p.span == span);
    let others = diagnostic
        .secondary
        .iter()
        .chain(primary.filter(|_| !is_primary));
    Message {
        code: diagnostic.code.to_owned(),
        severity: match diagnostic.severity {
            Level::Error => Severity::Error,
            Level::Warning => Severity::Warning,
            Level::Note => Severity::Note,
        },
        range: document.range(span),
        text: diagnostic.message.clone(),
        at: primary
            .filter(|_| is_primary)
            .map(|p| p.text.clone())
            .unwrap_or_default(),
        labels: others
            .map(|label| Label {
                path: path_of(analysis, label.span.file),
                range: range_in(texts, label.span),
                text: label.text.clone(),
            })
            .collect(),
        helps: diagnostic.help.clone(),
        notes: diagnostic.notes.clone(),
        fixes: fixes_of(document, diagnostic),
    }
}

/// The path of a file of the project; none for the main text.
fn path_of(analysis: &Analysis, file: FileId) -> Option<String> {
    if file == FileId(0) {
        return None;
    }
    let files = &analysis.project.files;
    let found = files.iter().find(|f| f.file == file);
    found.map(|f| f.canonical_name.clone())
}

fn range_in(texts: &Texts<'_>, span: Span) -> Range {
    if span.file == FileId(0) {
        return texts.document.range(span);
    }
    let sources = &texts.analysis.project.sources;
    let n_files = sources.files().count();
    if span.file.0 as usize >= n_files {
        return Range::default();
    }
    let text = &sources.file(span.file).text;
    crate::place::LineIndex::new(text).range(text, span.start as usize, span.end as usize)
}

/// Says that another text has errors, at the `use` that leads there.
fn elsewhere(texts: &Texts<'_>, diagnostic: &Diagnostic, file: Option<FileId>) -> Message {
    let Texts { document, analysis } = *texts;
    let path = file.and_then(|f| path_of(analysis, f));
    let label = diagnostic.primary.as_ref().map(|label| Label {
        path: path.clone(),
        range: range_in(texts, label.span),
        text: diagnostic.message.clone(),
    });
    Message {
        code: diagnostic.code.to_owned(),
        severity: Severity::Error,
        range: document.range(use_that_leads_to(analysis, file)),
        text: format!(
            "`{}` has errors: {}",
            path.as_deref().unwrap_or("a file used here"),
            diagnostic.message
        ),
        at: "used here".to_owned(),
        labels: label.into_iter().collect(),
        helps: Vec::new(),
        notes: Vec::new(),
        fixes: Vec::new(),
    }
}

/// The `use` of the main text through which a file is reached.
fn use_that_leads_to(analysis: &Analysis, file: Option<FileId>) -> Span {
    let files = &analysis.project.files;
    let Some(main) = files.first() else {
        return Span::default();
    };
    for import in &main.imports {
        let mut open = vec![import.file];
        let mut seen = Vec::new();
        while let Some(next) = open.pop() {
            if Some(files[next].file) == file {
                return import.span;
            }
            if !seen.contains(&next) {
                seen.push(next);
                open.extend(files[next].imports.iter().map(|i| i.file));
            }
        }
    }
    Span::default()
}
