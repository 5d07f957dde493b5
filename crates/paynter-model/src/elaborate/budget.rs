//! How much work a model may ask for, and how much of it is spent.
//!
//! In:  counts from `lower`, `define` and `structure`.
//! Out: where to stop. No text may make the program hang or overflow its stack.

use paynter_syntax::Span;

/// Counters of work, each with a limit where it is counted.
#[derive(Debug, Default)]
pub(super) struct Budget {
    /// Definitions inside definitions that are being resolved.
    pub nested: u32,
    /// Height of the expression that is lowered.
    pub height: u32,
    /// Repetitions of all `for` so far.
    pub iterations: u64,
    /// Steps spent on the present expression, and where it is.
    pub work: u64,
    pub work_at: Span,
}
