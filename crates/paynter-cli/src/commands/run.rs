//! `paynter run`: simulates one experiment and says what happened.

use crate::commands::outputs::{Outputs, PICTURES};
use crate::console::{
    MODEL_WRONG, OK, RUN_FAILED, call_error, choice as model_choice, interruption, open,
    progress_bar, show, wants_colour,
};
use crate::{ModelArgs, say};
use clap::Args;
use paynter::Compiled;
use paynter::experiment::Outcome;
use paynter::outcome_json::outcome_json;
use paynter::report::{Further, report};
use paynter::run::{RunChoice, run_staged};
use paynter::scene::{self, Film};
use paynter::simulate::Ending;
use paynter::table::Table;
use paynter::{Choice, Design, exec::Engine};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// A film of bodies is made by a second run. Where nobody asked for the page by name, it may take this long.
const SHORT: Duration = Duration::from_secs(3);

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
    /// Write the report page here; default EXPERIMENT.html
    #[arg(long, value_name = "FILE")]
    report: Option<PathBuf>,
    /// Answer the questions of `paynter structure` in the report page
    #[arg(long, conflicts_with = "no_report")]
    structure: bool,
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
    /// Machine code where possible
    Auto,
    /// Interpreter
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
    run_and_keep(args).unwrap_or_else(|status| status)
}

/// The exit status, also of what is in the way.
fn run_and_keep(args: &RunArgs) -> Result<u8, u8> {
    let asked = model_choice(&args.model).map_err(call_error)?;
    let design = open(&args.model, &asked)?;
    let choice = RunChoice {
        engine: args.engine.engine(),
        times: read_times(args).map_err(call_error)?,
        wants_ranges: true,
        ..RunChoice::default()
    };

    let mut outputs = Outputs::of(&design);
    if let Some(path) = &args.times {
        outputs = outputs.and_keep(path);
    }
    let report_path = report_path(args, &design);
    check_outputs(args, &outputs, report_path.as_deref()).map_err(call_error)?;

    let is_cancelled = interruption();
    let begin = Instant::now();
    let (compiled, outcome) =
        run_with_progress(&design, &choice, &is_cancelled).map_err(|messages| {
            show(&design.failed(messages), args.model.json);
            MODEL_WRONG
        })?;

    let wants_film = args.report.is_some() || begin.elapsed() < SHORT;
    let sections = match args.structure {
        true => paynter_structure::sections(&design, &asked),
        false => Vec::new(),
    };
    let page = || -> String {
        let film = wants_film.then(|| film(&design, &asked, &is_cancelled));
        let further = Further {
            film: film.flatten(),
            sections: sections.clone(),
        };
        report(&design, &compiled.causality, &outcome, further)
    };

    let report_to = report_path.as_deref();
    let written = write_files(
        args,
        &outputs,
        &outcome,
        report_to.map(|path| (path, &page as &dyn Fn() -> String)),
    );

    // Hours of work are summed up even where they cannot be kept.
    let is_kept = |k: usize| matches!(written[k], Some(Ok(())));
    let table_path = args.out.as_deref().filter(|_| is_kept(0));
    let report_path = report_path.as_deref().filter(|_| is_kept(2));
    if args.model.json {
        say!("{}", outcome_json(&design, &outcome));
    } else {
        print_outcome(&design, &outcome, table_path, report_path);
    }

    let mut status = ending_status(&design, &outcome, args.model.json);
    for failed in written.into_iter().flatten().filter_map(Result::err) {
        status = call_error(failed);
    }
    Ok(status)
}

/// Writes table, plot and report as asked; what was not asked for is none.
fn write_files(
    args: &RunArgs,
    outputs: &Outputs,
    outcome: &Outcome,
    report: Option<(&Path, &dyn Fn() -> String)>,
) -> [Option<Result<(), String>>; 3] {
    [
        args.out
            .as_ref()
            .map(|path| outputs.write_table(path, &outcome.run.table)),
        args.plot.as_ref().map(|path| match outcome.plots.first() {
            Some(plot) => outputs.write_svg(path, &plot.to_svg()),
            None => Err("the experiment plots nothing; add `plot NAME` to it".to_owned()),
        }),
        report.map(|(path, page)| outputs.write(path, page().as_bytes())),
    ]
}

/// Times of a table, at which to record.
fn read_times(args: &RunArgs) -> Result<Option<Vec<f64>>, String> {
    let table = args
        .times
        .as_ref()
        .map(|path| Table::read(path))
        .transpose();
    table
        .map(|t| t.map(|t| t.time))
        .map_err(|error| error.to_string())
}

/// Sums the run up, with its warnings.
fn print_outcome(
    design: &Design,
    outcome: &Outcome,
    table_path: Option<&Path>,
    report_path: Option<&Path>,
) {
    crate::commands::summary::print(design, outcome, table_path, report_path);
    eprint!(
        "{}",
        paynter::syntax::render(&outcome.warnings, &design.project.sources, wants_colour())
    );
}

/// The film of the bodies of a design, if it has any. What keeps it from being made keeps the run from its end as
/// well, and was reported.
fn film(design: &Design, asked: &Choice, is_cancelled: &AtomicBool) -> Option<Film> {
    let mut go_on = |_: f64| match is_cancelled.load(Ordering::Relaxed) {
        true => ControlFlow::Break(()),
        false => ControlFlow::Continue(()),
    };
    scene::film(design, asked, &mut go_on).ok()
}

/// Where the report goes, if one is wanted.
fn report_path(args: &RunArgs, design: &Design) -> Option<PathBuf> {
    let name = design.plan.name.as_ref().unwrap_or(&design.model);
    let given = args.report.clone();
    (!args.no_report).then(|| given.unwrap_or_else(|| PathBuf::from(format!("{name}.html"))))
}

/// Looks before the run whether everything that is asked for can be written.
fn check_outputs(
    args: &RunArgs,
    outputs: &Outputs,
    report_path: Option<&Path>,
) -> Result<(), String> {
    if let Some(path) = &args.out {
        outputs.check_table(path)?;
    }
    if let Some(path) = &args.plot {
        outputs.check(path, PICTURES)?;
    }
    match report_path {
        Some(path) if args.report.is_some() => outputs.check(path, &["html", "htm"]),
        Some(path) => outputs.check_unasked(path, "--report"),
        None => Ok(()),
    }
}

/// Shows why a run did not reach its end, and gives the exit status.
fn ending_status(design: &Design, outcome: &Outcome, json: bool) -> u8 {
    match &outcome.run.ending {
        Ending::Failed {
            why: diagnostics, ..
        } => {
            if !json {
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
    is_cancelled: &Arc<AtomicBool>,
) -> Result<(Compiled, Outcome), Vec<paynter::syntax::Diagnostic>> {
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
