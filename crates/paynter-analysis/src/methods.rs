//! One model under every treatment of its locks, side by side.
//!
//! In:  a design, and the treatments to compare.
//! Out: for each the work it took and how its curves differ from those of minimal coordinates.
//!
//! **Invariant:** nothing but `constraints` differs between the runs.

mod text;

use crate::experiment::Outcome;
use crate::run::{RunChoice, run};
use crate::simulate::Ending;
use paynter_design::design::Design;
use paynter_model::experiment::{Constraints, Parasitic};
use paynter_run::audit::Audit;
use paynter_run::gaps::{Gap, worst};
use paynter_run::recorder::Progress;
use paynter_syntax::Diagnostic;
use std::time::Duration;

pub use text::{to_json, to_text};

/// What one treatment gave.
#[derive(Clone, Debug)]
pub struct MethodRun {
    /// As written in an experiment.
    pub method: String,
    /// What came of it, or why there was no run.
    pub result: Result<MethodResult, Vec<Diagnostic>>,
}

/// The figures of one run.
#[derive(Clone, Debug)]
pub struct MethodResult {
    /// Variables that are integrated.
    pub states: usize,
    /// Steps of the solver.
    pub steps: usize,
    /// Right-hand sides.
    pub rhs: usize,
    /// Jacobians.
    pub jacobians: usize,
    /// Name of the integration method that the run ended with.
    pub solver: String,
    /// Time of the run on the clock, without compiling.
    pub elapsed: Duration,
    /// For each recorded column the largest difference to minimal coordinates, in the unit of the column; empty where
    /// there is nothing to compare with.
    pub differences: Vec<Difference>,
    /// How far the locks gave way: the worst sliding and the worst turning one.
    pub gaps: Vec<Gap>,
    /// Energy that is not accounted for, as a share of what moved.
    pub residual: Option<f64>,
    /// Why the run ended before its time.
    pub failure: Option<String>,
}

/// How a column differs from that of minimal coordinates.
#[derive(Clone, Debug, PartialEq)]
pub struct Difference {
    /// The column.
    pub column: String,
    /// Its unit.
    pub unit: String,
    /// The largest difference.
    pub absolute: f64,
    /// The same as a share of the largest value of the column.
    pub relative: f64,
}

impl MethodResult {
    /// The column that differs most for its size.
    pub fn worst_difference(&self) -> Option<&Difference> {
        let differences = self.differences.iter();
        differences.max_by(|a, b| a.relative.total_cmp(&b.relative))
    }
}

/// The treatments that are compared where an experiment names none.
pub fn all_methods(design: &Design) -> Vec<(String, Constraints)> {
    let plan = &design.plan;
    let parasitic = match plan.constraints {
        Constraints::Parasitic(asked) => asked,
        _ => Parasitic::default(),
    };
    let named = |name: &str, c: Constraints| (name.to_owned(), c);
    vec![
        named("minimal", Constraints::Minimal),
        named("implicit", Constraints::Implicit),
        named("multiplier", Constraints::Multiplier),
        named("parasitic", Constraints::Parasitic(parasitic)),
    ]
}

/// Runs a design under each treatment. The first one is what the others are compared with.
pub fn compare_methods(
    design: &Design,
    methods: &[(String, Constraints)],
    progress: Progress<'_>,
) -> Vec<MethodRun> {
    let mut first: Option<Outcome> = None;
    let mut runs = Vec::new();
    for (method, constraints) in methods {
        let mut varied = design.clone();
        varied.plan.constraints = *constraints;
        let choice = RunChoice {
            wants_gaps: true,
            ..RunChoice::default()
        };
        let outcome = run(&varied, &choice, progress);
        let result = outcome.map(|outcome| {
            let result = figures(&outcome, first.as_ref());
            first.get_or_insert(outcome);
            result
        });
        runs.push(MethodRun {
            method: method.clone(),
            result,
        });
    }
    runs
}

fn figures(outcome: &Outcome, first: Option<&Outcome>) -> MethodResult {
    let run = &outcome.run;
    let statistics = &run.statistics;
    MethodResult {
        states: run.states.len(),
        steps: statistics.steps,
        rhs: statistics.rhs,
        jacobians: statistics.jacobians,
        solver: statistics
            .method()
            .map_or(String::new(), |m| m.name().to_owned()),
        elapsed: run.elapsed,
        differences: first.map_or(Vec::new(), |first| differences(outcome, first)),
        gaps: worst(&outcome.gaps).into_iter().cloned().collect(),
        residual: run.audit.as_ref().map(Audit::relative),
        failure: match &run.ending {
            Ending::Failed { time, why } => {
                let why = why.first().map_or("", |d| d.message.as_str());
                Some(format!("at t = {time} s: {why}"))
            }
            _ => None,
        },
    }
}

/// Compares columns at the times that both runs have.
fn differences(outcome: &Outcome, first: &Outcome) -> Vec<Difference> {
    let (a, b) = (&outcome.run.table, &first.run.table);
    let columns = a.columns.iter().zip(&b.columns);
    columns
        .map(|(a, b)| {
            let pairs = a.values.iter().zip(&b.values);
            let absolute = pairs.map(|(x, y)| (x - y).abs()).fold(0.0, f64::max);
            let size = b.values.iter().fold(0.0_f64, |m, x| m.max(x.abs()));
            Difference {
                column: a.name.clone(),
                unit: a.unit.clone(),
                absolute,
                relative: if size > 0.0 {
                    absolute / size
                } else {
                    absolute
                },
            }
        })
        .collect()
}
