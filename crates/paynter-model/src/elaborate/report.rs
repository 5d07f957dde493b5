//! Collects messages, each cause once.
//!
//! In:  messages in the order in which errors are met.
//! Out: a list without repetition.
//!
//! **Invariant:** of one code there is at most one message per place in the text, so that an
//! error in a model used 10⁵ times is reported once.

use paynter_syntax::{Diagnostic, Span};
use rustc_hash::FxHashSet;

#[derive(Clone, Debug, Default)]
pub(super) struct Report {
    pub list: Vec<Diagnostic>,
    seen: FxHashSet<(&'static str, Span)>,
    /// Something was left out because its cause was reported, perhaps in another elaboration.
    pub is_silent: bool,
}

impl Report {
    /// Adds a message unless the same was already reported for the same place.
    pub(super) fn add(
        &mut self,
        code: &'static str,
        span: Span,
        make: impl FnOnce() -> Diagnostic,
    ) {
        if self.seen.insert((code, span)) {
            self.list.push(make());
        }
    }

    /// Adds a finished message under the same rule.
    pub(super) fn push(&mut self, message: Diagnostic) {
        let span = message
            .primary
            .as_ref()
            .map_or_else(Span::default, |label| label.span);
        self.add(message.code, span, || message);
    }

    /// Adds the messages of another elaboration, but not those about places that an earlier
    /// one has already reported.
    pub(super) fn merge(&mut self, messages: Vec<Diagnostic>) {
        let key = |m: &Diagnostic| {
            (
                m.code,
                m.primary.as_ref().map_or_else(Span::default, |l| l.span),
            )
        };
        let new: Vec<Diagnostic> = messages
            .into_iter()
            .filter(|m| !self.seen.contains(&key(m)))
            .collect();
        self.seen.extend(new.iter().map(key));
        self.list.extend(new);
    }

    /// Gives all messages in the order of the text, those without a place first.
    pub(super) fn in_text_order(mut self) -> Vec<Diagnostic> {
        self.list
            .sort_by_key(|m| m.primary.as_ref().map(|l| (l.span.file, l.span.start)));
        self.list
    }

    pub(super) fn has_errors(&self) -> bool {
        self.is_silent || self.list.iter().any(Diagnostic::is_error)
    }
}
