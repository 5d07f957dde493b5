//! `paynter reduce`: the model without coordinates whose momentum is conserved, or under assumptions.

use crate::commands::simplify::{RewriteArgs, rewriting};
use clap::Args;
use paynter_rewrite::{Reduction, Wish};

/// What is taken out.
#[derive(Args)]
pub struct ReduceArgs {
    #[command(flatten)]
    rewrite: RewriteArgs,
    /// The experiment that the reduced model is for; all of the model unless given
    #[arg(long, short, value_name = "NAME")]
    experiment: Option<String>,
    /// A coordinate, or its 1-junction, whose momentum is conserved; all that can be unless given
    #[arg(long, value_name = "NAME")]
    cyclic: Vec<String>,
    /// Assume this instead, such as "turn.f = 0", and say what error it makes (may be repeated)
    #[arg(long, value_name = "EQUATION", conflicts_with = "cyclic")]
    assume: Vec<String>,
}

/// Reduces a model.
pub fn reduce(args: &ReduceArgs) -> u8 {
    let what = Reduction {
        cyclic: args.cyclic.clone(),
    };
    rewriting(&args.rewrite, |loader, path, wish| {
        let wish = Wish {
            experiment: args.experiment.clone(),
            ..wish.clone()
        };
        match args.assume.is_empty() {
            true => paynter_rewrite::reduce(loader, path, &wish, &what),
            false => paynter_rewrite::assume(loader, path, &wish, &args.assume),
        }
    })
}
