//! What the first pass leaves for later ones, in the order of the text.
//!
//! In:  chains, definitions of parts from outside, blocks, starts and places as they are met.
//! Out: each list is taken once, by the pass that does the work.
//!
//! **Invariant:** nothing is left when `finish` ends.

use paynter_symbolic::PathId;
use paynter_syntax::{Span, ast};
use rustc_hash::{FxHashMap, FxHashSet};

use super::data::*;

/// `solve x, y { … }`
#[derive(Debug)]
pub(super) struct PendingSolve<'a> {
    pub scope: ScopeId,
    pub sought: Vec<DefId>,
    pub equations: &'a [ast::Demand],
    pub span: Span,
}

/// `sample rate { … }`
#[derive(Debug)]
pub(super) struct PendingClock<'a> {
    pub scope: ScopeId,
    pub rate: &'a ast::Expr,
    pub defs: Vec<DefId>,
    pub span: Span,
}

/// `when condition { … }`
#[derive(Debug)]
pub(super) struct PendingWhen<'a> {
    pub scope: ScopeId,
    pub path: PathId,
    pub condition: &'a ast::Expr,
    pub actions: &'a [ast::Action],
    pub defs: Vec<(DefId, &'a ast::Expr)>,
    pub span: Span,
}

/// Work of later passes.
#[derive(Debug, Default)]
pub(super) struct Pending<'a> {
    pub chains: Vec<(ScopeId, &'a ast::Chain, Option<NamedBondId>)>,
    /// `part.input = …`
    pub remote_defines: Vec<(ScopeId, &'a ast::Define)>,
    pub solves: Vec<PendingSolve<'a>>,
    pub clocks: Vec<PendingClock<'a>>,
    pub whens: Vec<PendingWhen<'a>>,
    /// Values that some `when` sets.
    pub when_defs: FxHashSet<DefId>,
    pub invariants: Vec<(ScopeId, &'a ast::Demand)>,
    /// Start values, and whether each is only a guess.
    pub starts: Vec<(ScopeId, &'a ast::Assign, bool)>,
    /// The same by what they start, once something asks for them.
    pub starts_by_path: Option<FxHashMap<PathId, (&'a ast::Expr, ScopeId)>>,
    pub layouts: Vec<(ScopeId, &'a ast::LayoutEntry)>,
    pub top_outputs: Vec<DefId>,
}
