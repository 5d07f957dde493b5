//! `paynter sweep`: one experiment over many values, on all cores.

use crate::commands::outputs::Outputs;
use crate::commands::run::EngineName;
use crate::console::{
    MODEL_WRONG, OK, RUN_FAILED, call_error, design, interruption, progress_bar, show,
};
use crate::{ModelArgs, say};
use clap::Args;
use paynter::exec::Engine;
use paynter::sweep::{CANCELLED, Point, SharedWarning};
use paynter::syntax::Diagnostic;
use paynter::{Choice, Design};
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::atomic::Ordering;

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
    let outputs = Outputs::of(&design);
    if let Some(path) = &args.out
        && let Err(error) = outputs.check_table(path)
    {
        return call_error(error);
    }
    let jobs = args
        .jobs
        .unwrap_or_else(|| std::thread::available_parallelism().map_or(1, usize::from));
    let points = match sweep_with_progress(&design, &choice, args.engine.engine(), jobs) {
        Ok(points) => points,
        Err(messages) => {
            show(&design.failed(messages), args.model.json);
            return MODEL_WRONG;
        }
    };
    let table = paynter::sweep::to_table(&design, &points);
    let warnings = paynter::sweep::shared_warnings(&design, &choice, args.engine.engine(), &points);
    // Hours of work are shown even where they cannot be kept.
    let written = args
        .out
        .as_ref()
        .map_or(Ok(()), |path| outputs.write_table(path, &table));
    if args.model.json {
        say!("{}", paynter::sweep::to_json(&design, &points, &warnings));
    } else {
        say!("{}", paynter::sweep::to_text(&design, &points).trim_end());
        show_warnings(&design, &warnings, points.len());
    }
    let is_cancelled = |p: &&Point| p.failure.as_deref() == Some(CANCELLED);
    let n_cancelled = points.iter().filter(is_cancelled).count();
    if n_cancelled > 0 {
        crate::tell!(
            "cancelled after {} of {} runs; what was computed is kept",
            points.len() - n_cancelled,
            points.len()
        );
    }
    if let Err(message) = written {
        return call_error(message);
    }
    if points.iter().any(|p| p.failure.is_some()) {
        RUN_FAILED
    } else {
        OK
    }
}

/// Shows each warning once, with the number of runs that have it.
fn show_warnings(design: &Design, warnings: &[SharedWarning], n_points: usize) {
    let counted = |w: &SharedWarning| {
        let n = w.points.len();
        let first = w.points[0] + 1;
        let count = format!("in {n} of {n_points} runs; these are the words of run {first}");
        w.message.clone().fact(count)
    };
    show(
        &design.failed(warnings.iter().map(counted).collect()),
        false,
    );
}

/// Shows a bar on a terminal, and lets Ctrl-C end the sweep with the points that are done.
fn sweep_with_progress(
    design: &Design,
    choice: &Choice,
    engine: Engine,
    jobs: usize,
) -> Result<Vec<Point>, Vec<Diagnostic>> {
    let is_cancelled = interruption();
    let n_points: usize = design.plan.sweeps.iter().map(|s| s.values.len()).product();
    let bar = progress_bar(
        n_points as u64,
        "{bar:40} {pos} of {len}  {elapsed}, {eta} left",
    );
    let result = paynter::sweep::sweep_while(design, choice, engine, jobs, &|n_done| {
        // A bar that is not shown would still cost a lock for every step.
        if !bar.is_hidden() {
            bar.set_position(n_done as u64);
        }
        if is_cancelled.load(Ordering::Relaxed) {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    });
    bar.finish_and_clear();
    result
}
