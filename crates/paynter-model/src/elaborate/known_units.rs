//! What is known of units while values are read.
//!
//! In:  units as written, and those that follow from equations.
//! Out: parsed units, and the dimensions of states that nobody wrote.
//!
//! **Invariant:** hints come from an earlier elaboration of the same model, so ids mean the same.

use rustc_hash::FxHashMap;
use std::sync::Arc;

use super::data::*;
use super::value::Value;
use crate::graph::{DomainId, ElementKind};
use crate::units::{Dimension, Unit};

/// Units by their text, and what is only known later or only guessed.
#[derive(Debug, Default)]
pub(super) struct KnownUnits<'a> {
    /// By their text.
    pub parsed: FxHashMap<&'a str, Arc<Unit>>,
    /// Units of states and discrete values that an earlier elaboration found in their equations.
    pub hints: FxHashMap<DefId, Dimension>,
    /// The same, found now: they come too late for those who have read the value.
    pub learned: FxHashMap<DefId, Dimension>,
    /// While the unit of a law is guessed: the domain that is tried, and the kind of its element.
    pub guessed_law: Option<(DomainId, ElementKind)>,
    /// While the domain of one port of a field is looked for: the dimensions of `p[k]` and `q[k]`.
    pub guessed_field: Option<Vec<Option<Dimension>>>,
}

impl KnownUnits<'_> {
    /// Notes the unit of a value that was read before its equation was known.
    pub(super) fn learn(&mut self, def: DefId, own: &Value, value: &Value) {
        if let (None, Some(found)) = (own.dimension, value.dimension) {
            self.learned.insert(def, found);
        }
    }
}
