//! `paynter scalarize`: vector bonds as scalar ones.

use crate::commands::simplify::{RewriteArgs, rewriting};
use clap::Args;

/// Which model.
#[derive(Args)]
pub struct ScalarizeArgs {
    #[command(flatten)]
    rewrite: RewriteArgs,
}

/// Writes a model in scalar bonds.
pub fn scalarize(args: &ScalarizeArgs) -> u8 {
    rewriting(&args.rewrite, |loader, path, wish| {
        paynter_rewrite::scalarize(loader, path, wish)
    })
}
