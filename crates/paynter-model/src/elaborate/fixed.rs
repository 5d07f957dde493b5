//! Which values are fixed, and which of them shape the model.
//!
//! In:  expressions, as sizes, ranges, conditions and checks read them.
//! Out: their values, the parameters a sweep may not just change, and the ranges it must keep.

use paynter_symbolic::SymbolId;
use rustc_hash::FxHashSet;

use super::Limit;
use super::constants::Constants;

/// What is built into the graph.
#[derive(Debug, Default)]
pub(super) struct Fixed {
    pub constants: Constants,
    /// Parameters that shape the graph, in the order in which they were met.
    pub structural: Vec<SymbolId>,
    pub seen: FxHashSet<SymbolId>,
    /// Declared ranges of parameters.
    pub limits: Vec<Limit>,
    /// A model checked alone has values that nobody knows.
    pub has_placeholder: bool,
}
