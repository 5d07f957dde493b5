//! Searches the values that an experiment's `optimize` asks for.
//!
//! In:  a design whose plan has a search, and an [`SearchRequest`]: seed, starts, limits.
//! Out: an [`Optimum`]: the best values, what limits them, how far searches agree, every trial.
//!
//! `cases` makes the experiments that count, `choices` goes through what is not a number between bounds, `trials` turns
//! a model into a function of the unit cube, `optimum` reads the answer in the model's words. The searching itself is in
//! `paynter-optimize`, which knows no models.
//!
//! **Invariant:** equal seeds give equal answers, whatever the number of threads. The best point found is kept when the
//! search is ended from outside.

mod cases;
mod choices;
mod optimum;
mod pareto;
mod text;
mod trials;
mod write;

use paynter_design::code;
use paynter_design::design::{Choice, Design};
use paynter_exec::Engine;
use paynter_optimize::{Found, Options, search};
use paynter_syntax::Diagnostic;
use std::ops::ControlFlow;

use cases::cases;
use choices::{Combination, combinations};
use trials::Trials;

pub(crate) use choices::change;
pub use trials::SlopeSources;
pub(crate) use trials::{Axis, present_values};

pub use optimum::{AimFound, AtBound, ChoiceFound, ConditionFound, Optimum, ValueFound};
pub use pareto::{
    TradeOff, TradePoint, trade_off, trade_off_plot, trade_off_to_json, trade_off_to_table,
    trade_off_to_text,
};
pub use text::{to_json, to_table, to_text};
pub use write::{WriteError, experiment_text, with_experiment};

/// How to search.
#[derive(Clone, Debug)]
pub struct SearchRequest {
    /// Interpreter or machine code.
    pub engine: Engine,
    /// Threads.
    pub jobs: usize,
    /// Seed of everything random.
    pub seed: u64,
    /// Descents from different starts.
    pub n_starts: usize,
    /// Let a population evolve as well.
    pub is_global: bool,
    /// Runs after which the search ends, for each combination of choices.
    pub max_runs: Option<usize>,
}

impl Default for SearchRequest {
    fn default() -> Self {
        SearchRequest {
            engine: Engine::Auto,
            jobs: 1,
            seed: 1,
            n_starts: 10,
            is_global: true,
            max_runs: None,
        }
    }
}

/// How far a search has come.
#[derive(Clone, Debug, PartialEq)]
pub struct Progress {
    /// Runs so far.
    pub n_runs: usize,
    /// The best value of the aim so far, in its unit, and whether all conditions hold there.
    pub best: Option<(f64, bool)>,
}

/// Asked during the search: may it go on?
pub type Watch<'a> = &'a (dyn Fn(&Progress) -> ControlFlow<()> + Sync);

/// One combination of choices, with what its search found or why it cannot be made.
type Searched<'a> = (Combination, Result<(Trials<'a>, Found), Vec<Diagnostic>>);

/// Searches.
///
/// # Errors
///
/// What keeps the search from starting. One that found nothing is not an error here: its messages say so.
pub fn optimize(
    design: &Design,
    choice: &Choice,
    request: &SearchRequest,
    watch: Watch<'_>,
) -> Result<Optimum, Vec<Diagnostic>> {
    let refused = paynter_design::unsupported::in_plan(&design.plan);
    if !refused.is_empty() {
        return Err(refused);
    }
    let plan = design
        .plan
        .optimize
        .as_ref()
        .expect("the caller has looked");
    if let [_, second, ..] = &plan.aims[..] {
        let message = Diagnostic::error(code::TWO_AIMS, "a search has one objective")
            .primary(second.span, "a second one")
            .secondary(plan.aims[0].span, "the first")
            .help("add them up with weights, such as `minimize a/1 [s] + 0.2*b/1 [J]`, or make all but one of them conditions; `paynter optimize --pareto` shows what one costs in terms of the other");
        return Err(vec![message]);
    }
    let cases = cases(design, choice)?;
    let combinations = combinations(design, choice, plan)?;

    let mut results: Vec<Searched<'_>> = Vec::new();
    let mut n_before = 0;
    for combination in combinations {
        let shown = |p: &Progress| {
            watch(&Progress {
                n_runs: n_before + p.n_runs,
                ..p.clone()
            })
        };
        let result =
            Trials::new(&cases, &combination, (choice, request.engine)).map(|mut trials| {
                let found = trials.watched(&shown, |problem| {
                    let nominal = problem.nominal();
                    search(
                        problem,
                        nominal.as_deref(),
                        &options(request, problem.axes.len()),
                    )
                });
                (trials, found)
            });
        let is_ended = result.as_ref().is_ok_and(|r| r.1.is_ended);
        n_before += result.as_ref().map_or(0, |r| r.0.n_runs());
        results.push((combination, result));
        if is_ended {
            break;
        }
    }
    // A model that cannot run at all says why, once.
    if results.iter().all(|r| r.1.is_err()) {
        let first = results.into_iter().find_map(|r| r.1.err());
        return Err(first.unwrap_or_default());
    }
    Ok(optimum::conclude(design, results))
}

fn options(request: &SearchRequest, n: usize) -> Options {
    // Enough for the evolution of 10 n members over a hundred generations and a hundred runs for each descent.
    let usual = 2000 * (n + 1);
    Options {
        seed: request.seed,
        jobs: request.jobs,
        n_starts: request.n_starts,
        is_global: request.is_global,
        max_trials: request.max_runs.unwrap_or(usual),
    }
}
