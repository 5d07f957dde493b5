//! Collects messages, each cause once.
//!
//! In:  messages in the order in which errors are met.
//! Out: a list without repetition.
//!
//! **Invariant:** of one code there is at most one message per place in the text, so that an
//! error in a model used 10⁵ times is told once.

use paynter_syntax::{Diagnostic, Span};
use rustc_hash::FxHashSet;

#[derive(Clone, Debug, Default)]
pub(super) struct Report {
    pub list: Vec<Diagnostic>,
    seen: FxHashSet<(&'static str, Span)>,
}

impl Report {
    /// Adds a message unless the same was already told about the same place.
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

    pub(super) fn has_errors(&self) -> bool {
        self.list.iter().any(Diagnostic::is_error)
    }
}
