//! Messages for the person who wrote the model.
//!
//! In:  a code, a headline, places in the text, a help line.
//! Out: a plain value; `render` draws it, `--json` prints it.
//!
//! **Invariant:** every code is listed in [`crate::code`]; a fixture provokes each.

use crate::source::Span;

/// How bad it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Severity {
    /// The model cannot be used.
    Error,
    /// The model can be used, but probably not as meant.
    Warning,
    /// Worth knowing.
    Note,
}

/// A place and what is to be said about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Label {
    /// Where.
    pub span: Span,
    /// What, in a few words; may be empty.
    pub text: String,
}

/// One message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// How bad.
    pub severity: Severity,
    /// Stable code such as `E0301`.
    pub code: &'static str,
    /// The headline: makes sense alone. Lower case, no full stop, names in backticks.
    pub message: String,
    /// The place the message is about, first.
    pub primary: Option<Label>,
    /// Other places that explain it.
    pub secondary: Vec<Label>,
    /// What to type, where that is known.
    pub help: Vec<String>,
    /// Further facts.
    pub notes: Vec<String>,
}

impl Diagnostic {
    /// Starts an error.
    pub fn error(code: &'static str, message: impl Into<String>) -> Self {
        Self::new(Severity::Error, code, message)
    }

    /// Starts a warning.
    pub fn warning(code: &'static str, message: impl Into<String>) -> Self {
        Self::new(Severity::Warning, code, message)
    }

    /// Starts a note.
    pub fn note(code: &'static str, message: impl Into<String>) -> Self {
        Self::new(Severity::Note, code, message)
    }

    fn new(severity: Severity, code: &'static str, message: impl Into<String>) -> Self {
        Diagnostic {
            severity,
            code,
            message: message.into(),
            primary: None,
            secondary: Vec::new(),
            help: Vec::new(),
            notes: Vec::new(),
        }
    }

    /// Says where.
    #[must_use]
    pub fn primary(mut self, span: Span, text: impl Into<String>) -> Self {
        self.primary = Some(Label {
            span,
            text: text.into(),
        });
        self
    }

    /// Points at another place.
    #[must_use]
    pub fn secondary(mut self, span: Span, text: impl Into<String>) -> Self {
        self.secondary.push(Label {
            span,
            text: text.into(),
        });
        self
    }

    /// Says what to type.
    #[must_use]
    pub fn help(mut self, text: impl Into<String>) -> Self {
        self.help.push(text.into());
        self
    }

    /// Adds a fact.
    #[must_use]
    pub fn fact(mut self, text: impl Into<String>) -> Self {
        self.notes.push(text.into());
        self
    }

    /// Tells whether the model cannot be used because of this.
    pub fn is_error(&self) -> bool {
        self.severity == Severity::Error
    }
}
