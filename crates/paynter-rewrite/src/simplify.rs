//! `simplify`: the rules of `rules` until none applies.

use crate::rules::apply;
use crate::session::{Rewritten, Wish, rewrite};
use paynter::DesignError;
use paynter::model::project::Loader;

/// Simplifies a model; `only` names rules, and means all where it is empty.
///
/// # Errors
///
/// The file cannot be read or has errors, or the model is none that can be rewritten.
pub fn simplify<L: Loader + Clone>(
    loader: &mut L,
    path: &str,
    wish: &Wish,
    only: &[String],
) -> Result<Rewritten, DesignError> {
    rewrite(loader, path, wish, &mut |net, _| Ok(apply(net, only)))
}
