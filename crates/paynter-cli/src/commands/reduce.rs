//! `paynter reduce`: the model without coordinates whose momentum is conserved, under assumptions, with dependent inertias moved, or
//! without elements that move little energy.

use crate::ModelArgs;
use crate::commands::simplify::{RewriteArgs, rewriting};
use crate::commands::smaller::smaller;
use crate::console::{OK, design, refuse};
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
    /// Run the experiment and leave out elements that move little energy, so that this share of the activity is kept, such as `99%`
    #[arg(long, value_name = "SHARE", conflicts_with_all = ["cyclic", "assume", "minimal"])]
    activity: Option<String>,
}

/// Reduces a model.
pub fn reduce(args: &ReduceArgs) -> u8 {
    if let Some(share) = &args.activity {
        return by_activity(args, share);
    }
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

/// Leaves out elements that move little energy in a run. The result is another model: its error is printed instead of a proof.
fn by_activity(args: &ReduceArgs, share: &str) -> u8 {
    let model = ModelArgs {
        file: args.rewrite.file.clone(),
        model: args.rewrite.model.clone(),
        experiment: args.experiment.clone(),
        set: Vec::new(),
        json: args.rewrite.json,
    };
    let design = match design(&model) {
        Ok(design) => design,
        Err(status) => return status,
    };
    let written = ("--activity", share);
    match smaller(&model, &design, written, args.rewrite.out.as_deref()) {
        Ok(()) => OK,
        Err(why) => refuse(&design, why, model.json),
    }
}
