//! `paynter reduce`: the model without coordinates whose momentum is conserved, under assumptions, or with dependent inertias moved.

use crate::commands::simplify::{RewriteArgs, rewriting};
use clap::Args;
use paynter_rewrite::{Reduction, Wish};

/// What is taken out.
#[derive(Args)]
pub struct ReduceArgs {
    #[command(flatten)]
    rewrite: RewriteArgs,
    /// The experiment that the reduced model is for; default: all of the model
    #[arg(long, short, value_name = "NAME")]
    experiment: Option<String>,
    /// A coordinate, or its 1-junction, whose momentum is conserved; default: all such
    #[arg(long, value_name = "NAME")]
    cyclic: Vec<String>,
    /// Assume this instead, such as "turn.f = 0", and say what error it makes (may be repeated)
    #[arg(long, value_name = "EQUATION", conflicts_with = "cyclic")]
    assume: Vec<String>,
    /// Move dependent inertias over transformers to the velocities they follow from, instead
    #[arg(long, conflicts_with_all = ["cyclic", "assume"])]
    minimal: bool,
    /// Move only this inertia (may be repeated)
    #[arg(long, value_name = "NAME", requires = "minimal")]
    inertia: Vec<String>,
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
        if args.minimal {
            return paynter_rewrite::minimal(loader, path, &wish, &args.inertia);
        }
        match args.assume.is_empty() {
            true => paynter_rewrite::reduce(loader, path, &wish, &what),
            false => paynter_rewrite::assume(loader, path, &wish, &args.assume),
        }
    })
}
