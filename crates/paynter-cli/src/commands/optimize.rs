//! `paynter optimize`: the values that make a measure smallest or largest.

use crate::commands::outputs::{Outputs, PICTURES};
use crate::commands::run::EngineName;
use crate::console::{
    MODEL_WRONG, OK, RUN_FAILED, call_error, design, interruption, progress_bar, show, show_json,
};
use crate::{ModelArgs, say};
use clap::Args;
use paynter::optimize::{self, Optimum, Progress, SearchRequest};
use paynter::syntax::Diagnostic;
use paynter::{Choice, Design};
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::atomic::Ordering;

/// What to search and how.
#[derive(Args)]
pub struct OptimizeArgs {
    #[command(flatten)]
    model: ModelArgs,
    /// Write the found values into the model file as an experiment; default NAME_best
    #[arg(long, value_name = "NAME", num_args = 0..=1)]
    write: Option<Option<String>>,
    /// Write every trial here, one row each (.csv, .parquet, .json)
    #[arg(long, value_name = "FILE")]
    table: Option<PathBuf>,
    /// Show what one of two objectives costs in terms of the other, at this many points
    #[arg(long, value_name = "N", num_args = 0..=1, default_missing_value = "11", conflicts_with = "write")]
    pareto: Option<usize>,
    /// With --pareto: draw the curve (.svg, .png)
    #[arg(long, value_name = "FILE", requires = "pareto")]
    plot: Option<PathBuf>,
    /// Descents from different starts
    #[arg(long, value_name = "N", default_value_t = 10)]
    starts: usize,
    /// Descents only: no evolution of a population
    #[arg(long)]
    local: bool,
    /// Stop after about this many runs for each combination of choices
    #[arg(long, value_name = "N")]
    max_runs: Option<usize>,
    /// Seed of everything random
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// Parallel runs; default: one per core
    #[arg(long, value_name = "N")]
    jobs: Option<usize>,
    /// How to execute the equations
    #[arg(long, value_enum, default_value = "auto")]
    engine: EngineName,
}

/// Searches, prints and writes.
pub fn optimize(args: &OptimizeArgs) -> u8 {
    let design = match design(&args.model) {
        Ok(design) => design,
        Err(status) => return status,
    };
    if design.plan.optimize.is_none() {
        return call_error(
            "the experiment has no `optimize`; write for instance `optimize K in 1 .. 9 { minimize cost }`",
        );
    }

    if args.local && args.starts == 0 {
        return call_error("--local with --starts 0 leaves nothing to search with");
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

    if let Some(n_points) = args.pareto {
        return trade_off(args, (&design, &choice), &outputs, n_points);
    }
    let optimum = match search_with_progress(&design, &choice, args) {
        Ok(optimum) => optimum,
        Err(messages) => {
            show(&design.failed(messages), args.model.json);
            return MODEL_WRONG;
        }
    };

    // What was found is shown even where it cannot be kept.
    let written = args.table.as_ref().map_or(Ok(()), |path| {
        outputs.write_table(path, &optimize::to_table(&optimum))
    });
    match args.model.json {
        true => show_json(optimize::to_json(&optimum), &optimum.messages),
        false => {
            say!("{}", optimize::to_text(&optimum).trim_end());
            show(&design.failed(optimum.messages.clone()), false);
        }
    }

    if let Err(message) = written {
        return call_error(message);
    }
    if let Some(name) = &args.write
        && let Err(status) = write_back(&design, args, &optimum, name.as_deref())
    {
        return status;
    }

    match optimum.messages.iter().any(Diagnostic::is_error) || optimum.is_ended {
        true => RUN_FAILED,
        false => OK,
    }
}

/// Puts the found values into the model file.
fn write_back(
    design: &Design,
    args: &OptimizeArgs,
    optimum: &Optimum,
    name: Option<&str>,
) -> Result<(), u8> {
    let path = &args.model.file;
    let usual = format!("{}_best", optimum.experiment);
    let name = name.unwrap_or(&usual);
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    if !name.chars().all(is_word)
        || name.starts_with(|c: char| c.is_ascii_digit())
        || name.is_empty()
    {
        return Err(call_error(format!(
            "`{name}` is not a name for an experiment"
        )));
    }
    let text = std::fs::read_to_string(path);
    let text = text.map_err(|e| call_error(format!("{}: {e}", path.display())))?;
    let new = optimize::with_experiment(design, &text, optimum, name).map_err(call_error)?;
    paynter::output::write_whole(path, new.as_bytes()).map_err(call_error)?;
    crate::tell!("experiment {name} written to {}", path.display());
    Ok(())
}

/// Finds the trade-off between two objectives, prints and writes it.
fn trade_off(
    args: &OptimizeArgs,
    (design, choice): (&Design, &Choice),
    outputs: &Outputs,
    n_points: usize,
) -> u8 {
    if !(2..=1000).contains(&n_points) {
        return call_error("--pareto takes a number of points from 2 to 1000");
    }
    if let Some(path) = &args.plot
        && let Err(error) = outputs.check(path, PICTURES)
    {
        return call_error(error);
    }

    let found = with_progress(args, |ask, watch| {
        optimize::trade_off(design, choice, (ask, n_points), watch)
    });
    let found = match found {
        Ok(found) => found,
        Err(messages) => {
            let status = match messages
                .iter()
                .any(|m| m.code == paynter::code::NO_FEASIBLE)
            {
                true => RUN_FAILED,
                false => MODEL_WRONG,
            };
            show(&design.failed(messages), args.model.json);
            return status;
        }
    };

    let table = args.table.as_ref().map_or(Ok(()), |path| {
        outputs.write_table(path, &optimize::trade_off_to_table(&found))
    });
    let written = table.and_then(|()| {
        args.plot.as_ref().map_or(Ok(()), |path| {
            outputs.write_svg(path, &optimize::trade_off_plot(&found).to_svg())
        })
    });
    match args.model.json {
        true => say!("{}", optimize::trade_off_to_json(&found)),
        false => say!("{}", optimize::trade_off_to_text(&found).trim_end()),
    }

    match written {
        Err(message) => call_error(message),
        Ok(()) if found.is_ended => RUN_FAILED,
        Ok(()) => OK,
    }
}

/// Shows the best value so far on a terminal, and lets Ctrl-C end the search with it.
fn search_with_progress(
    design: &Design,
    choice: &Choice,
    args: &OptimizeArgs,
) -> Result<Optimum, Vec<Diagnostic>> {
    with_progress(args, |ask, watch| {
        optimize::optimize(design, choice, ask, watch)
    })
}

/// As above, for any search.
fn with_progress<R>(
    args: &OptimizeArgs,
    search: impl FnOnce(&SearchRequest, optimize::Watch<'_>) -> R,
) -> R {
    let ask = SearchRequest {
        engine: args.engine.engine(),
        jobs: args
            .jobs
            .unwrap_or_else(|| std::thread::available_parallelism().map_or(1, usize::from)),
        seed: args.seed,
        n_starts: args.starts,
        is_global: !args.local,
        max_runs: args.max_runs,
    };

    let is_cancelled = interruption();
    let bar = progress_bar(0, "{spinner} {pos} runs  {elapsed}  {msg}");
    let result = search(&ask, &|progress: &Progress| {
        if !bar.is_hidden() {
            bar.set_position(progress.n_runs as u64);
            if let Some((best, is_feasible)) = progress.best {
                let note = if is_feasible {
                    ""
                } else {
                    ", not feasible yet"
                };
                bar.set_message(format!("best so far {best:.6}{note}"));
            }
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
