//! One experiment of a file, run and summed up in a line: what `paynter gallery --run` shows.
//!
//! In:  a file and the name of an experiment.
//! Out: a [`RunSummary`]: whether all is well, and how far it is from its references.

use paynter_analysis::run::{RunChoice, run};
use paynter_design::design::{Choice, Design, DesignError};
use paynter_design::disk::design;
use paynter_exec::Engine;
use paynter_run::spec::Ending;
use paynter_syntax::render;
use std::ops::ControlFlow;
use std::path::Path;

/// A run with many thousand events adds up more error than ten tolerances; below a millionth of the
/// energy that moved it is still accounted for.
const SMALL_RESIDUAL: f64 = 1e-6;

/// A run in one line.
#[derive(Clone, Debug)]
pub struct RunSummary {
    /// It reached its end, agrees with its references and keeps the first law.
    pub is_good: bool,
    /// For people.
    pub text: String,
}

/// Runs one experiment of a file and sums it up in a line.
///
/// # Errors
///
/// The messages, rendered.
pub fn run_experiment(path: &Path, experiment: &str) -> Result<RunSummary, String> {
    let choice = Choice {
        experiment: Some(experiment.to_owned()),
        ..Choice::default()
    };
    let design = design(path, &choice).map_err(|e| match e {
        DesignError::Unreadable(message) => message,
        DesignError::Model(failed) => render(&failed.diagnostics, &failed.sources, false),
    })?;
    let outcome = run(&design, &RunChoice::default(), &mut |_| {
        ControlFlow::Continue(())
    })
    .map_err(|messages| render(&messages, &design.project.sources, false))?;
    let mut is_good = true;
    let mut text = match &outcome.run.ending {
        Ending::Reached => format!("{} steps", outcome.run.statistics.steps),
        Ending::Stopped { time, message } => format!("stopped at {time}: {message}"),
        Ending::Cancelled { .. } => "cancelled".to_owned(),
        Ending::Failed {
            why: diagnostics, ..
        } => {
            is_good = false;
            render(diagnostics, &design.project.sources, false)
        }
    };

    for compared in &outcome.comparisons {
        is_good &= compared.is_good();
        text.push_str(&format!(
            ", differs by {:.1e} (≤ {:e})",
            compared.result.worst(),
            compared.within
        ));
        if !compared.is_good() {
            for c in &compared.result.columns {
                text.push_str(&format!(
                    "\n        {} {:.3e} at {}",
                    c.name, c.scaled, c.time
                ));
            }
        }
    }

    if let Some(audit) = &outcome.run.audit {
        is_good &=
            audit.is_good() || (audit.faults.is_empty() && audit.relative() <= SMALL_RESIDUAL);
        text.push_str(&format!(", energy residual {:.1e}", audit.relative()));
    }

    if !design.plan.sweeps.is_empty() {
        let (swept_well, words) = run_ends_of_sweeps(&design, &choice)?;
        is_good &= swept_well;
        text.push_str(&words);
    }
    Ok(RunSummary { is_good, text })
}

/// Runs the first and the last value of every sweep: enough to see that it works.
fn run_ends_of_sweeps(design: &Design, choice: &Choice) -> Result<(bool, String), String> {
    let n_all = design.plan.n_points();
    let mut ends = design.clone();
    for sweep in &mut ends.plan.sweeps {
        let last = sweep.values.len().saturating_sub(1);
        let mut at = 0;
        sweep.values.retain(|_| {
            at += 1;
            at == 1 || at == last + 1
        });
    }
    let jobs = std::thread::available_parallelism().map_or(1, usize::from);
    let points = paynter_analysis::sweep::sweep(&ends, choice, Engine::default(), jobs)
        .map_err(|messages| render(&messages, &design.project.sources, false))?;
    let failures: Vec<String> = points
        .iter()
        .filter_map(|p| Some(format!("{}: {}", p.labels.join(", "), p.failure.as_ref()?)))
        .collect();
    let mut text = format!(
        ", {} of {n_all} sweep points run (the rest by `paynter sweep`)",
        points.len()
    );
    for failure in &failures {
        text.push_str(&format!("\n        {failure}"));
    }
    Ok((failures.is_empty(), text))
}
