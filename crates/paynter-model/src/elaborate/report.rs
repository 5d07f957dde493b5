//! Collects messages, each cause once.
//!
//! In:  messages in the order in which errors are met.
//! Out: a list without repetition.
//!
//! **Invariant:** of one code there is at most one message per place in the text, so that an
//! error in a model used 10⁵ times is reported once.

use paynter_syntax::{Diagnostic, Span};
use rustc_hash::{FxHashMap, FxHashSet};

use super::lower::covers;

/// Reports an error in one line, unless the same was reported for the same place: the message, the label at the place,
/// then labels at other places, facts and help, each a format with its arguments.
///
/// ```text
/// report!(self, code::BAD_SIZE, span, "{n} is not a size"; "a whole number is needed"; help: "write `[3]`");
/// report!(self, code::DUPLICATE_NAME, span, "two items"; "defined again"; beside first => "first defined here");
/// ```
macro_rules! report {
    (
        $this:expr, $code:expr, $span:expr, $($message:expr),+; $($label:expr),+
        $(; beside $place:expr => $($note:expr),+)*
        $(; fact: $($fact:expr),+)*
        $(; help: $($help:expr),+)*
    ) => {{
        let (code, span) = ($code, $span);
        $this.report.add(code, span, || {
            paynter_syntax::Diagnostic::error(code, format!($($message),+))
                .primary(span, format!($($label),+))
                $(.secondary($place, format!($($note),+)))*
                $(.fact(format!($($fact),+)))*
                $(.help(format!($($help),+)))*
        });
    }};
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Report {
    pub list: Vec<Diagnostic>,
    seen: FxHashSet<(&'static str, Span)>,
    /// Something was left out because its cause was reported, perhaps in another elaboration.
    pub is_silent: bool,
}

impl Report {
    /// Adds a message unless the same was already reported for the same place.
    pub(crate) fn add(
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
    pub(crate) fn push(&mut self, message: Diagnostic) {
        let span = message
            .primary
            .as_ref()
            .map_or_else(Span::default, |label| label.span);
        self.add(message.code, span, || message);
    }

    /// Adds the messages of another elaboration, but not those about places that an earlier
    /// one has already reported.
    pub(crate) fn merge(&mut self, messages: Vec<Diagnostic>) {
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
    pub(crate) fn in_text_order(mut self) -> Vec<Diagnostic> {
        self.list
            .sort_by_key(|m| m.primary.as_ref().map(|l| (l.span.file, l.span.start)));
        self.list
    }

    pub(crate) fn has_errors(&self) -> bool {
        self.is_silent || self.list.iter().any(Diagnostic::is_error)
    }
}

/// How often a declaration is named as the origin of a wrong unit.
pub(crate) const ENOUGH_BLAME: u32 = 2;

/// What was reported and is met again: once is enough.
#[derive(Debug, Default)]
pub(super) struct Told {
    /// Places of units that are not known.
    pub units: FxHashSet<Span>,
    /// Bonds and values that are missing: the place of the part and that of the declaration.
    pub missing_bonds: FxHashSet<(Span, Span)>,
    /// Names that nothing has, by model.
    pub unknown_names: FxHashSet<(Span, Box<str>)>,
    /// How often a declaration was named as the origin of a wrong unit.
    pub blamed: FxHashMap<Span, u32>,
    /// It was reported for this chain that elements have no named ports.
    pub is_port_told: bool,
}

impl Told {
    /// Tells whether a declaration has been blamed for a wrong unit often enough: a parameter
    /// with a wrong unit is wrong wherever it is read.
    pub(crate) fn is_blamed(&mut self, from: Option<Span>, span: Span) -> bool {
        let Some(from) = from.filter(|&from| from != span && !covers(span, from)) else {
            return false;
        };
        let times = self.blamed.entry(from).or_insert(0);
        *times += 1;
        *times > ENOUGH_BLAME
    }
}
