//! What was read so far: each quantity, derivative or integral gets one symbol, however often it is read.
//!
//! In:  filled by `read`, `call`, `unwrap` and `define` as expressions ask.
//! Out: `elements` defines what is still undefined when the laws are known.
//!
//! **Invariant:** equal questions give the same symbol.

use paynter_symbolic::{ExprId, SymbolId};
use paynter_syntax::Span;
use rustc_hash::{FxHashMap, FxHashSet};

use super::data::*;
use super::value::Value;
use crate::units::Dimension;

/// Quantities of things and bonds that are defined when laws are known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum EnergyQuantity {
    Power,
    Energy,
    Stored,
}

impl EnergyQuantity {
    pub(super) fn letters(self) -> &'static str {
        match self {
            EnergyQuantity::Power => "power",
            EnergyQuantity::Energy => "energy",
            EnergyQuantity::Stored => "stored",
        }
    }

    pub(super) fn dimension(self) -> Dimension {
        match self {
            EnergyQuantity::Power => Dimension::POWER,
            EnergyQuantity::Energy | EnergyQuantity::Stored => Dimension::ENERGY,
        }
    }
}

/// Symbols of what was read, by what was asked for.
#[derive(Debug, Default)]
pub(super) struct Readings {
    pub of_things: FxHashMap<(ThingId, EnergyQuantity), SymbolId>,
    pub of_bonds: FxHashMap<(NamedBondId, EnergyQuantity), SymbolId>,
    /// Read, but not yet defined by an equation or a reading of the graph.
    pub undefined_of_things: Vec<((ThingId, EnergyQuantity), SymbolId)>,
    pub undefined_of_bonds: Vec<((NamedBondId, EnergyQuantity), SymbolId)>,
    pub of_system: [Option<SymbolId>; 4],
    pub integrals: FxHashMap<ExprId, SymbolId>,
    pub derivatives: FxHashMap<SymbolId, SymbolId>,
    /// Left limits: `pre(x)`.
    pub befores: FxHashMap<SymbolId, SymbolId>,
    /// Angles that count turns, by angle and rate.
    pub unwrapped: FxHashMap<(ExprId, ExprId), Value>,
    /// The state that counts the turns of an angle.
    pub turn_counters: FxHashMap<ExprId, SymbolId>,
    pub transfers: FxHashMap<(Span, ScopeId, ExprId), Value>,
    pub n_transfer_states: i64,
    /// Two-ports whose modulus is being read now.
    pub ratios_started: FxHashSet<ThingId>,
    /// Definitions that are being resolved now, the outermost first.
    pub being_resolved: Vec<DefId>,
}
