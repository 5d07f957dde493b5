//! Who asks for the model, and what they change in it.
//!
//! In:  a request or an experiment; or a check, which takes models as they are.
//! Out: what may stay open, and values given from outside (`changes` reads them).

use paynter_symbolic::PathId;
use rustc_hash::{FxHashMap, FxHashSet};

use super::changes::Change;
use super::data::*;
use paynter_syntax::{Span, ast};

/// How a model is to be elaborated.
#[derive(Debug, Default)]
pub(super) struct Asked<'a> {
    /// The model is checked alone: parameters, inputs and ports may be open.
    pub is_lenient: bool,
    /// The model is not part of another one, as far as its file tells.
    pub is_whole: bool,
    /// The scope in which an experiment reads the top model.
    pub experiment_scope: Option<ScopeId>,
    /// Inputs of the top model that an experiment linearizes from.
    pub free_inputs: FxHashSet<PathId>,
    pub changes: FxHashMap<PathId, Change<'a>>,
    pub changes_in_order: Vec<PathId>,
}

impl<'a> Asked<'a> {
    pub(super) fn add_change(
        &mut self,
        path: PathId,
        value: &'a ast::Expr,
        scope: ScopeId,
        span: Span,
    ) {
        self.changes.insert(
            path,
            Change {
                value,
                scope,
                span,
                is_used: false,
            },
        );
        self.changes_in_order.push(path);
    }

    /// The scope in which experiments read the top model.
    pub(super) fn reading_scope(&self) -> ScopeId {
        self.experiment_scope.unwrap_or(ScopeId(0))
    }
}
