//! `paynter sweep`: one experiment over many values, on all cores.

use crate::commands::outputs::{Outputs, PICTURES};
use crate::commands::run::EngineName;
use crate::console::{
    MODEL_WRONG, OK, RUN_FAILED, call_error, choice, interruption, open, progress_bar, show,
};
use crate::{ModelArgs, say};
use clap::Args;
use paynter::shards::{Cut, Shard, merge, shard_table};
use paynter::statistics::Statistics;
use paynter::sweep::{CANCELLED, Keep, Point, SharedWarning, Sweeper};
use paynter::syntax::Diagnostic;
use paynter::table::Table;
use paynter::typed_sweeps::{rows_of, spelled_out};
use paynter::{Choice, Design, SweepChoice, sweep_curves, sweep_pictures};
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::atomic::Ordering;

/// What to sweep and where to put it.
#[derive(Args)]
pub struct SweepArgs {
    #[command(flatten)]
    model: ModelArgs,
    /// With --merge: further shards
    #[arg(value_name = "SHARDS", requires = "merge")]
    further: Vec<PathBuf>,
    /// Run over these values instead of the experiment's sweeps, such as `--over "R1 in [10, 20] [ohm]"`
    #[arg(long, value_name = "SWEEP")]
    over: Vec<String>,
    /// The same in short, such as `--sweep "R1=10..50:5"` or `--sweep "R1=10,22,47"`; may be given again
    #[arg(long, value_name = "PATH=VALUES", conflicts_with = "over")]
    sweep: Vec<String>,
    /// Run over the rows of a table, a sample: its columns are named like what they set (.csv, .parquet, .json)
    #[arg(long, value_name = "FILE", conflicts_with_all = ["over", "sweep"])]
    draws: Option<PathBuf>,
    /// Pair the values of all --over: the first of each, then the second of each; default: a grid
    #[arg(long, requires = "over")]
    paired: bool,
    /// Run one shard only: `--shard 3/8` is the third of eight; needs -o
    #[arg(long, value_name = "I/N", requires = "out")]
    shard: Option<String>,
    /// Put shards together: `paynter sweep --merge part*.parquet -o all.parquet`
    #[arg(long, requires = "out", conflicts_with_all = ["shard", "over", "set", "experiment", "jobs", "curves", "bands", "plot", "family", "timed"])]
    merge: bool,
    /// Write one row per run here (.csv, .parquet, .json)
    #[arg(long, short, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Write the recorded curves of all runs here, one row for each run and time (.csv, .parquet, .json)
    #[arg(long, value_name = "FILE")]
    curves: Option<PathBuf>,
    /// Write quantiles of the recorded curves over time here (.csv, .parquet, .json)
    #[arg(long, value_name = "FILE")]
    bands: Option<PathBuf>,
    /// Draw the measures: over the swept value, as a map over two, as histograms of a sample (.svg, .png)
    #[arg(long, value_name = "FILE")]
    plot: Option<PathBuf>,
    /// Draw the recorded curves of all runs; of a sample its quantiles (.svg, .png)
    #[arg(long, value_name = "FILE")]
    family: Option<PathBuf>,
    /// Add steps and run time of each run to the table
    #[arg(long)]
    timed: bool,
    /// Parallel runs; default: one per core
    #[arg(long, value_name = "N")]
    jobs: Option<usize>,
    /// How to execute the equations
    #[arg(long, value_enum, default_value = "auto")]
    engine: EngineName,
}

/// Runs every point; a failed one is recorded with its reason and the rest go on.
pub fn sweep(args: &SweepArgs) -> u8 {
    match args.merge {
        true => merge_shards(args),
        false => run_all(args).unwrap_or_else(|status| status),
    }
}

/// The exit status, also of what is in the way.
fn run_all(args: &SweepArgs) -> Result<u8, u8> {
    let (design, choice) = open_sweep(args)?;
    let shard = args.shard.as_deref().map(Shard::parse).transpose();
    let shard = shard.map_err(call_error)?;
    let mut outputs = Outputs::of(&design);
    if let Some(path) = &args.draws {
        outputs = outputs.and_keep(path);
    }
    args.check_outputs(&outputs).map_err(call_error)?;

    let points = sweep_with_progress(&design, &choice, args, shard).map_err(|messages| {
        show(&design.failed(messages), args.model.json);
        MODEL_WRONG
    })?;

    let n_cancelled = points.iter().filter(is_cancelled).count();
    // A shard that is not whole would be merged as if it were.
    let is_broken_shard = shard.is_some() && n_cancelled > 0;
    let table = match shard {
        Some(shard) => shard_table(&design, &Cut::new(&design, shard), &points),
        None => paynter::sweep_table::to_table(&design, &points),
    };
    let engine = args.engine.engine();
    let warnings = paynter::sweep::shared_warnings(&design, &choice, engine, &points);
    let statistics = match args.draws.is_some() {
        true => Some(paynter::statistics::describe(&design, &points)),
        false => paynter::statistics::statistics(&design, &points),
    };

    // Hours of work are shown even where they cannot be kept.
    let written = args
        .out
        .as_ref()
        .filter(|_| !is_broken_shard)
        .map_or(Ok(()), |path| outputs.write_table(path, &table));
    let written = written.and_then(|()| args.write_more(&outputs, &design, &points));
    let found = Found {
        points: &points,
        warnings: &warnings,
        statistics: statistics.as_ref(),
    };
    match args.model.json {
        true => say!("{}", found.to_json(&design)),
        false => found.print(&design),
    }
    if n_cancelled > 0 {
        tell_cancelled(n_cancelled, points.len(), is_broken_shard);
    }

    written.map_err(call_error)?;
    match points.iter().any(|p| p.failure.is_some()) {
        true => Ok(RUN_FAILED),
        false => Ok(OK),
    }
}

fn tell_cancelled(n_cancelled: usize, n_points: usize, is_broken_shard: bool) {
    crate::tell!(
        "cancelled after {} of {} runs; {}",
        n_points - n_cancelled,
        n_points,
        match is_broken_shard {
            true => "the shard was not written",
            false => "what was computed is kept",
        }
    );
}

/// What a sweep found, to be shown.
struct Found<'a> {
    points: &'a [Point],
    warnings: &'a [SharedWarning],
    statistics: Option<&'a Statistics>,
}

impl Found<'_> {
    fn to_json(&self, design: &Design) -> serde_json::Value {
        let mut json = paynter::sweep_table::to_json(design, self.points, self.warnings);
        if let Some(found) = self.statistics {
            json["statistics"] = paynter::statistics::to_json(found);
        }
        json
    }

    fn print(&self, design: &Design) {
        say!(
            "{}",
            paynter::sweep_table::to_text(design, self.points).trim_end()
        );
        if let Some(found) = self.statistics {
            say!("{}", paynter::statistics::to_text(found).trim_end());
        }
        show_warnings(design, self.warnings, self.points);
    }
}

impl SweepArgs {
    /// What is kept of each run.
    fn keep(&self) -> Keep {
        Keep {
            curves: self.curves.is_some() || self.bands.is_some() || self.family.is_some(),
            times: self.timed,
        }
    }

    /// Tells before the runs what could not be written after them.
    fn check_outputs(&self, outputs: &Outputs) -> Result<(), String> {
        for path in [&self.out, &self.curves, &self.bands].into_iter().flatten() {
            outputs.check_table(path)?;
        }
        for path in [&self.plot, &self.family].into_iter().flatten() {
            outputs.check(path, PICTURES)?;
        }
        Ok(())
    }

    /// Writes curves and pictures.
    fn write_more(
        &self,
        outputs: &Outputs,
        design: &Design,
        points: &[Point],
    ) -> Result<(), String> {
        if let Some(path) = &self.curves {
            outputs.write_table(path, &sweep_curves::to_table(design, points))?;
        }
        if let Some(path) = &self.bands {
            let bands = sweep_curves::bands(points);
            outputs.write_table(path, &sweep_curves::bands_to_table(&bands))?;
        }
        if let Some(path) = &self.plot {
            let plot = sweep_pictures::measures(design, points)?;
            outputs.write_svg(path, &plot.to_svg())?;
        }
        if let Some(path) = &self.family {
            let plot = sweep_pictures::family(design, points)?;
            outputs.write_svg(path, &plot.to_svg())?;
        }
        Ok(())
    }
}

fn is_cancelled(point: &&Point) -> bool {
    point.failure.as_deref() == Some(CANCELLED)
}

/// Reads the model with its sweeps.
fn open_sweep(args: &SweepArgs) -> Result<(Design, Choice), u8> {
    let mut choice = choice(&args.model).map_err(call_error)?;
    if !args.over.is_empty() {
        choice.sweep = Some(SweepChoice {
            over: args.over.clone(),
            is_paired: args.paired,
        });
    }

    let mut design = open(&args.model, &choice)?;
    if !args.sweep.is_empty() {
        let over = args.sweep.iter().map(|t| spelled_out(&design, &choice, t));
        let over: Result<Vec<String>, String> = over.collect();
        choice.sweep = Some(SweepChoice {
            over: over.map_err(call_error)?,
            is_paired: false,
        });
        design = open(&args.model, &choice)?;
    }

    if let Some(path) = &args.draws {
        let table = Table::read(path).map_err(call_error)?;
        let over = rows_of(&design, &choice, &table);
        choice.sweep = Some(SweepChoice {
            over: over.map_err(|why| call_error(format!("{}: {why}", path.display())))?,
            is_paired: true,
        });
        design = open(&args.model, &choice)?;
    }

    if design.plan.sweeps.is_empty() {
        return Err(call_error(
            "the experiment has no `sweep` line; write for instance `sweep R1 in [10, 20, 50] [ohm]`, or give --over or --sweep",
        ));
    }
    Ok((design, choice))
}

/// Reads all shards and writes the table of the whole sweep.
fn merge_shards(args: &SweepArgs) -> u8 {
    let files = || std::iter::once(&args.model.file).chain(&args.further);
    let outputs = Outputs::beside(files().map(PathBuf::as_path));
    let path = args.out.as_ref().expect("--merge requires --out");
    if let Err(message) = outputs.check_table(path) {
        return call_error(message);
    }

    let mut shards = Vec::new();
    for file in files() {
        match Table::read(file) {
            Ok(table) => shards.push((file.display().to_string(), table)),
            Err(error) => return call_error(error),
        }
    }

    let n_shards = shards.len();
    let written = merge(shards).and_then(|whole| {
        outputs.write_table(path, &whole)?;
        Ok(whole)
    });
    let whole = match written {
        Ok(whole) => whole,
        Err(message) => return call_error(message),
    };
    let failed = whole
        .column("failed")
        .map_or(0.0, |c| c.values.iter().sum());
    say!(
        "{} runs of {n_shards} shards, {failed} failed; table in {}",
        whole.time.len(),
        path.display()
    );
    if failed > 0.0 { RUN_FAILED } else { OK }
}

/// Shows each warning once, with the number of runs that have it.
fn show_warnings(design: &Design, warnings: &[SharedWarning], points: &[Point]) {
    let n_points = points.len();
    let counted = |w: &SharedWarning| {
        let n = w.points.len();
        let first = points[w.points[0]].number + 1;
        let count = format!("in {n} of {n_points} runs; this is the message of run {first}");
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
    args: &SweepArgs,
    shard: Option<Shard>,
) -> Result<Vec<Point>, Vec<Diagnostic>> {
    let is_cancelled = interruption();
    let n_points = design.plan.n_points();
    let numbers = shard.map_or(0..n_points, |shard| shard.range(n_points));
    let all_cores = || std::thread::available_parallelism().map_or(1, usize::from);
    let jobs = args.jobs.unwrap_or_else(all_cores);
    let bar = progress_bar(
        numbers.len() as u64,
        "{bar:40} {pos} of {len}  {elapsed}, {eta} left",
    );
    let sweeper = Sweeper::keeping(design, choice, args.engine.engine(), args.keep())?;
    let points = sweeper.run(numbers, jobs, &|n_done| {
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
    Ok(points)
}
