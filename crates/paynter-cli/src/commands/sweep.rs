//! `paynter sweep`: one experiment over many values, on all cores.

use crate::commands::run::EngineName;
use crate::console::{MODEL_WRONG, OK, RUN_FAILED, call_error, design, show};
use crate::{ModelArgs, say};
use clap::Args;
use std::path::PathBuf;

/// What to sweep and where to put it.
#[derive(Args)]
pub struct SweepArgs {
    #[command(flatten)]
    model: ModelArgs,
    /// Write one row per run here (.csv, .parquet, .json)
    #[arg(long, short, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Runs at a time; all cores unless given
    #[arg(long, value_name = "N")]
    jobs: Option<usize>,
    /// How to execute the equations
    #[arg(long, value_enum, default_value = "auto")]
    engine: EngineName,
}

/// Runs every point; a failed one is recorded with its reason and the rest go on.
pub fn sweep(args: &SweepArgs) -> u8 {
    let design = match design(&args.model) {
        Ok(design) => design,
        Err(status) => return status,
    };
    if design.plan.sweeps.is_empty() {
        return call_error(
            "the experiment has no `sweep` line; write for instance `sweep R1 in [10, 20, 50] [ohm]`",
        );
    }
    let choice = match crate::console::choice(&args.model) {
        Ok(choice) => choice,
        Err(message) => return call_error(message),
    };
    let jobs = args
        .jobs
        .unwrap_or_else(|| std::thread::available_parallelism().map_or(1, usize::from));
    let points = match paynter::sweep::sweep(&design, &choice, args.engine.engine(), jobs) {
        Ok(points) => points,
        Err(messages) => {
            show(&design.failed(messages), args.model.json);
            return MODEL_WRONG;
        }
    };
    let table = paynter::sweep::to_table(&design, &points);
    if let Some(path) = &args.out
        && let Err(error) = table.write(path)
    {
        return call_error(error);
    }
    if args.model.json {
        say!("{}", table.to_json());
    } else {
        say!("{}", paynter::sweep::to_text(&design, &points).trim_end());
    }
    if points.iter().any(|p| p.failure.is_some()) {
        RUN_FAILED
    } else {
        OK
    }
}
