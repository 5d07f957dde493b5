//! `paynter fit`: parameters from measured data.

use crate::commands::outputs::Outputs;
use crate::commands::run::EngineName;
use crate::console::{
    MODEL_WRONG, OK, RUN_FAILED, call_error, design, interruption, progress_bar, show, show_json,
};
use crate::{ModelArgs, say};
use clap::Args;
use paynter::Design;
use paynter::fit::{self, Estimated, FitRequest};
use paynter::syntax::Diagnostic;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::atomic::Ordering;

/// What to fit and how.
#[derive(Args)]
pub struct FitArgs {
    #[command(flatten)]
    model: ModelArgs,
    /// Write data, model and residuals here, one row per sample (.csv, .parquet, .json)
    #[arg(long, value_name = "FILE")]
    table: Option<PathBuf>,
    /// Starting points: the present values, and points spread over the bounds
    #[arg(long, value_name = "N", default_value_t = 5)]
    starts: usize,
    /// Parallel runs; default: one per core
    #[arg(long, value_name = "N")]
    jobs: Option<usize>,
    /// How to execute the equations
    #[arg(long, value_enum, default_value = "auto")]
    engine: EngineName,
}

/// Fits, prints and writes.
pub fn fit(args: &FitArgs) -> u8 {
    let design = match design(&args.model) {
        Ok(design) => design,
        Err(status) => return status,
    };
    if design.plan.fit.is_none() {
        return call_error(
            "the experiment has no `fit`; write for instance `fit k in 1 .. 9 { data \"run.csv\" }`",
        );
    }

    let choice = match crate::console::choice(&args.model) {
        Ok(choice) => choice,
        Err(message) => return call_error(message),
    };

    let outputs = Outputs::of(&design);
    if let Some(path) = &args.table
        && let Err(error) = outputs.check_table(path)
    {
        return call_error(error);
    }

    let ask = FitRequest {
        engine: args.engine.engine(),
        jobs: args.jobs.unwrap_or_else(all_cores),
        n_starts: args.starts.max(1),
    };

    let is_cancelled = interruption();
    let bar = progress_bar(0, "{spinner} {pos} runs  {elapsed}");
    let result = fit::fit(&design, &choice, &ask, &|n_runs| {
        if !bar.is_hidden() {
            bar.set_position(n_runs as u64);
        }
        match is_cancelled.load(Ordering::Relaxed) {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        }
    });
    bar.finish_and_clear();

    let fitted = match result {
        Ok(fitted) => fitted,
        Err(messages) => {
            show(&design.failed(messages), args.model.json);
            return MODEL_WRONG;
        }
    };

    let written = args.table.as_ref().map_or(Ok(()), |path| {
        outputs.write_table(path, &fit::to_table(&fitted))
    });
    print_fitted(&design, &fitted, args.model.json);

    if let Err(message) = written {
        return call_error(message);
    }
    let is_wrong = fitted.messages.iter().any(Diagnostic::is_error);
    match is_wrong || is_cancelled.load(Ordering::Relaxed) {
        true => RUN_FAILED,
        false => OK,
    }
}

fn all_cores() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

fn print_fitted(design: &Design, fitted: &Estimated, is_json: bool) {
    match is_json {
        true => show_json(fit::to_json(fitted), &fitted.messages),
        false => {
            say!("{}", fit::to_text(fitted).trim_end());
            show(&design.failed(fitted.messages.clone()), false);
        }
    }
}
