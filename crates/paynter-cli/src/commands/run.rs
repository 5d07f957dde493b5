//! `paynter run`: simulates one experiment and says what happened.

use crate::commands::picture::{write, write_svg};
use crate::console::{
    MODEL_WRONG, OK, RUN_FAILED, call_error, design, interruption, progress_bar, show, wants_colour,
};
use crate::{ModelArgs, say};
use clap::Args;
use paynter::experiment::Outcome;
use paynter::report::report;
use paynter::run::{RunChoice, Stages, run_staged};
use paynter::simulate::Ending;
use paynter::table::Table;
use paynter::{Design, exec::Engine};
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::atomic::Ordering;

/// What to run and where to put it.
#[derive(Args)]
pub struct RunArgs {
    #[command(flatten)]
    model: ModelArgs,
    /// Write the recorded columns here (.csv, .parquet, .json)
    #[arg(long, short, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Write the plots of the experiment here (.svg, .png)
    #[arg(long, value_name = "FILE")]
    plot: Option<PathBuf>,
    /// Write the report page here; EXPERIMENT.html unless given
    #[arg(long, value_name = "FILE")]
    report: Option<PathBuf>,
    /// Write no report page
    #[arg(long, conflicts_with = "report")]
    no_report: bool,
    /// Record at the times of this file's first column
    #[arg(long, value_name = "FILE")]
    times: Option<PathBuf>,
    /// How to execute the equations
    #[arg(long, value_enum, default_value = "auto")]
    engine: EngineName,
}

/// Names of engines.
#[derive(Clone, Copy, clap::ValueEnum)]
pub enum EngineName {
    /// Machine code where it can be made
    Auto,
    /// One operation after another
    Interpreter,
    /// Machine code
    Jit,
}

impl EngineName {
    /// The engine.
    pub fn engine(self) -> Engine {
        match self {
            EngineName::Auto => Engine::Auto,
            EngineName::Interpreter => Engine::Interpreter,
            EngineName::Jit => Engine::Jit,
        }
    }
}

/// Runs the experiment; a failed run still writes what it computed.
pub fn run(args: &RunArgs) -> u8 {
    let design = match design(&args.model) {
        Ok(design) => design,
        Err(status) => return status,
    };
    let times = match args
        .times
        .as_ref()
        .map(|path| Table::read(path))
        .transpose()
    {
        Ok(table) => table.map(|t| t.time),
        Err(error) => return call_error(error),
    };
    let choice = RunChoice {
        engine: args.engine.engine(),
        times,
    };
    if let Some(path) = &args.out
        && let Err(error) = Table::can_write(path)
    {
        return call_error(error);
    }
    let (stages, outcome) = match run_with_progress(&design, &choice) {
        Ok(done) => done,
        Err(messages) => {
            show(&design.failed(messages), args.model.json);
            return MODEL_WRONG;
        }
    };
    if let Some(path) = &args.out
        && let Err(error) = outcome.run.table.write(path)
    {
        return call_error(error);
    }
    if let Some(path) = &args.plot {
        let Some(plot) = outcome.plots.first() else {
            return call_error("the experiment plots nothing; add `plot NAME` to it");
        };
        if let Err(message) = write_svg(path, &plot.to_svg()) {
            return call_error(message);
        }
    }
    let report_path = (!args.no_report).then(|| {
        let name = design.plan.name.as_ref().unwrap_or(&design.model);
        args.report
            .clone()
            .unwrap_or_else(|| PathBuf::from(format!("{name}.html")))
    });
    if let Some(path) = &report_path
        && let Err(message) = write(
            path,
            report(&design, &stages.causality, &outcome).as_bytes(),
        )
    {
        return call_error(message);
    }
    if args.model.json {
        say!("{}", crate::commands::summary::json(&design, &outcome));
    } else {
        crate::commands::summary::print(
            &design,
            &outcome,
            args.out.as_deref(),
            report_path.as_deref(),
        );
    }
    if !args.model.json {
        eprint!(
            "{}",
            paynter::syntax::render(&outcome.warnings, &design.project.sources, wants_colour())
        );
    }
    match &outcome.run.ending {
        Ending::Failed { diagnostics, .. } => {
            if !args.model.json {
                eprint!(
                    "{}",
                    paynter::syntax::render(diagnostics, &design.project.sources, wants_colour())
                );
            }
            RUN_FAILED
        }
        // Whoever waits for the result must not take a part for the whole.
        Ending::Cancelled { .. } => RUN_FAILED,
        _ if outcome.comparisons.iter().any(|c| !c.is_good()) => RUN_FAILED,
        _ => OK,
    }
}

/// Shows a bar on a terminal, and lets Ctrl-C end the run with what was computed.
fn run_with_progress(
    design: &Design,
    choice: &RunChoice,
) -> Result<(Stages, Outcome), Vec<paynter::syntax::Diagnostic>> {
    let is_cancelled = interruption();
    let (start, stop) = (design.plan.start, design.plan.stop);
    let bar = progress_bar(1000, "{bar:40} {percent}%  {elapsed}, {eta} left");
    let result = run_staged(design, choice, &mut |t| {
        bar.set_position((1000.0 * (t - start) / (stop - start)) as u64);
        if is_cancelled.load(Ordering::Relaxed) {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    });
    bar.finish_and_clear();
    result
}
