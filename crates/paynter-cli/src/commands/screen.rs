//! `paynter screen`: which parameters matter over their whole ranges.

use crate::console::{
    OK, RUN_FAILED, call_error, choice, interruption, open, progress_bar, refuse,
};
use crate::{ModelArgs, say};
use clap::{Args, ValueEnum};
use paynter::screening::{Method, screen as run, screening_to_json, screening_to_text};
use paynter::typed_sweeps::spelled_out;
use paynter::{Choice, Design, SweepChoice};
use std::ops::ControlFlow;
use std::sync::atomic::Ordering;

/// Over what, and how.
#[derive(Args)]
pub struct ScreenArgs {
    #[command(flatten)]
    model: ModelArgs,
    /// A parameter with its range, such as `--range "R1=10..50"`; may be given again
    #[arg(long, value_name = "PATH=LOW..HIGH", required = true)]
    range: Vec<String>,
    /// Method
    #[arg(long, value_enum, default_value = "morris")]
    method: MethodName,
    /// Paths of Morris' method (default 20), or base points of Sobol's (default 512)
    #[arg(long, value_name = "N")]
    size: Option<usize>,
    /// Another sample
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// Parallel runs; default: one per core
    #[arg(long, value_name = "N")]
    jobs: Option<usize>,
}

/// Method.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum MethodName {
    /// Elementary effects: few runs
    Morris,
    /// Shares of the variance: many runs
    Sobol,
}

/// Prints what counts.
pub fn screen(args: &ScreenArgs) -> u8 {
    screen_and_show(args).unwrap_or_else(|status| status)
}

/// The exit status, also of what is in the way.
fn screen_and_show(args: &ScreenArgs) -> Result<u8, u8> {
    const MOST: usize = 1_000_000;
    let method = match args.method {
        MethodName::Morris => Method::Morris(args.size.unwrap_or(20)),
        MethodName::Sobol => Method::Sobol(args.size.unwrap_or(512)),
    };
    if args.size.is_some_and(|n| !(2..=MOST).contains(&n)) {
        return Err(call_error(format!(
            "`--size` takes a whole number from 2 to {MOST}"
        )));
    }

    let mut choice = choice(&args.model).map_err(call_error)?;
    let plain = open(&args.model, &choice)?;
    choice.sweep = Some(SweepChoice {
        over: ranges(args, &plain, &choice).map_err(call_error)?,
        is_paired: true,
    });
    let design = open(&args.model, &choice)?;

    let bar = progress_bar(
        number_of_runs(method, args.range.len()) as u64,
        "{bar:40} {pos} of {len}  {elapsed}, {eta} left",
    );
    let is_cancelled = interruption();
    let watch = |n_done: usize| {
        if !bar.is_hidden() {
            bar.set_position(n_done as u64);
        }
        match is_cancelled.load(Ordering::Relaxed) {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        }
    };

    let failed = design.clone();
    let all_cores = || std::thread::available_parallelism().map_or(1, usize::from);
    let jobs = args.jobs.unwrap_or_else(all_cores);
    let found = run(design, &choice, (method, args.seed), (jobs, &watch));
    bar.finish_and_clear();
    let found = found.map_err(|why| refuse(&failed, why, args.model.json))?;

    match args.model.json {
        true => say!("{}", screening_to_json(&found)),
        false => say!("{}", screening_to_text(&found).trim_end()),
    }
    match found.n_failed == found.n_runs {
        true => Ok(RUN_FAILED),
        false => Ok(OK),
    }
}

fn number_of_runs(method: Method, n_ranges: usize) -> usize {
    match method {
        Method::Morris(ways) => ways * (n_ranges + 1),
        Method::Sobol(base) => base * (n_ranges + 2),
    }
}

/// The ranges, spelled out as values of a sweep.
fn ranges(args: &ScreenArgs, plain: &Design, choice: &Choice) -> Result<Vec<String>, String> {
    // Two values each: where the range begins and where it ends.
    let ends = |text: &String| match text.split_once('[') {
        Some((numbers, unit)) => format!("{}:2 [{unit}", numbers.trim()),
        None => format!("{text}:2"),
    };
    let over = args
        .range
        .iter()
        .map(|text| match text.contains("..") && !text.contains(':') {
            true => spelled_out(plain, choice, &ends(text)),
            false => Err(format!(
                "`--range {text}` is not a range; write for instance --range \"R1=10..50\""
            )),
        });
    over.collect()
}
