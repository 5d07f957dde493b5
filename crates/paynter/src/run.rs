//! Runs one experiment of a design from beginning to end.
//!
//! In:  a [`Design`], and where its references lie.
//! Out: an [`Outcome`] with metadata in its table, or what kept it from starting.

use crate::code;
use crate::design::{Choice, Design, DesignError, design, unreadable_reference};
use crate::experiment::{Outcome, carry_out, lay_out, run_spec};
use crate::linear::{Ask, LinearError, Linearization, find_rest, linearize, margins_of_measures};
use crate::loader::beside;
use crate::recorder::Progress;
use crate::simulate::{Ending, prepare};
use crate::table::Table;
use paynter_exec::Engine;
use paynter_model::causality::Causality;
use paynter_model::experiment::{Constraints, Plan};
use paynter_symbolic::reduced::Reduced;
use paynter_syntax::{Diagnostic, render};
use std::hash::{Hash, Hasher};
use std::ops::ControlFlow;
use std::path::Path;

/// What a caller may choose beside the experiment.
#[derive(Clone, Debug, Default)]
pub struct RunChoice {
    /// Interpreter or machine code.
    pub engine: Engine,
    /// Record at these times instead of the experiment's.
    pub times: Option<Vec<f64>>,
    /// Find least and largest values over the whole run, not only among the recorded ones.
    pub wants_ranges: bool,
}

/// What lies between a design and its run, for reports.
#[derive(Clone, Debug)]
pub struct Stages {
    /// Strokes.
    pub causality: Causality,
    /// Equations.
    pub reduced: Reduced,
}

/// Runs the experiment of a design.
///
/// # Errors
///
/// What keeps it from starting: structure, start values, missing references.
pub fn run(
    design: &Design,
    choice: &RunChoice,
    progress: Progress<'_>,
) -> Result<Outcome, Vec<Diagnostic>> {
    run_staged(design, choice, progress).map(|(_, outcome)| outcome)
}

/// As [`run`], and gives the stages in between as well.
///
/// # Errors
///
/// As for [`run`].
pub fn run_staged(
    design: &Design,
    choice: &RunChoice,
    progress: Progress<'_>,
) -> Result<(Stages, Outcome), Vec<Diagnostic>> {
    let causality = design.causality();
    let (reduced, about_locks) = design.reduce_and_tell(&causality)?;
    let references = references(design)?;
    let mut layout = lay_out(&design.plan);
    layout.margins = margins_of_measures(design).map_err(LinearError::into_messages)?;
    let mut spec = run_spec(&design.plan, &layout, &references, choice.engine);
    spec.wants_ranges = choice.wants_ranges;
    if let Some(times) = &choice.times {
        spec.output_times = times.clone();
    }
    let mut trim = None;
    if !design.plan.trim.is_empty() {
        let (found, rest) = find_rest(design).map_err(LinearError::into_messages)?;
        spec.rest = rest.states;
        spec.parameters.extend(rest.parameters);
        trim = Some(found);
    }
    let linear = linear_models(design)?;
    let mut machine = prepare(&reduced, &design.graph, &spec)?;
    let mut outcome = carry_out(
        &mut machine,
        &reduced,
        &design.graph,
        &design.plan,
        &layout,
        &spec,
        &references,
        progress,
    )?;
    if let Ending::Failed { diagnostics, .. } = &mut outcome.run.ending {
        for message in diagnostics {
            *message = placed(message.clone(), &design.plan);
        }
    }
    outcome.run.table.metadata = metadata(design, &outcome);
    outcome.warnings = about_locks;
    for message in linear.iter().flat_map(|l| &l.warnings) {
        if !outcome.warnings.contains(message) {
            outcome.warnings.push(message.clone());
        }
    }
    (outcome.trim, outcome.linear) = (trim, linear);
    outcome
        .warnings
        .extend(warnings(design, &reduced, &outcome));
    Ok((Stages { causality, reduced }, outcome))
}

/// Makes the linear models that an experiment asks for.
fn linear_models(design: &Design) -> Result<Vec<Linearization>, Vec<Diagnostic>> {
    let asked = design.plan.linearize.iter().map(|l| Ask {
        from: l.from.clone(),
        to: l.to.clone(),
        ..Ask::default()
    });
    let models = asked.map(|ask| linearize(design, &ask));
    let models: Result<Vec<Linearization>, LinearError> = models.collect();
    models.map_err(LinearError::into_messages)
}

fn references(design: &Design) -> Result<Vec<Table>, Vec<Diagnostic>> {
    let from = design.path.display().to_string();
    let mut tables = Vec::new();
    let mut messages = Vec::new();
    for asked in &design.plan.comparisons {
        match Table::read(&beside(&asked.path, Some(&from))) {
            Ok(table) => tables.push(table),
            Err(error) => messages.push(unreadable_reference(error.to_string(), asked.span)),
        }
    }
    if messages.is_empty() {
        Ok(tables)
    } else {
        Err(messages)
    }
}

/// Gives a message about a run its place in the experiment: that of the first of these words.
fn in_words(message: Diagnostic, plan: &Plan, words: &[&str], label: &str) -> Diagnostic {
    match plan.places.of(words) {
        Some(span) if message.primary.is_none() => message.primary(span, label),
        _ => message,
    }
}

/// Gives a message about a run that ended too soon a place, if it has none.
fn placed(message: Diagnostic, plan: &Plan) -> Diagnostic {
    match message.code {
        code::TOO_MANY_STEPS => in_words(message, plan, &["max_steps", "stop"], "in this run"),
        code::BAD_SETTING => {
            let words = ["method", "rtol", "atol", "max_step", "stop"];
            in_words(message, plan, &words, "set here")
        }
        _ => in_words(message, plan, &[], "in this run"),
    }
}

/// What the user should know although the run went well.
fn warnings(design: &Design, reduced: &Reduced, outcome: &Outcome) -> Vec<Diagnostic> {
    let plan = &design.plan;
    let mut found = Vec::new();
    let mut not_yet = |is_asked: bool, what: &str, word: &str| {
        if is_asked {
            let message = Diagnostic::warning(
                code::NOT_CARRIED_OUT,
                format!("{what} is read and checked, but not carried out yet"),
            );
            found.push(in_words(message, plan, &[word], "asked for here"));
        }
    };
    not_yet(plan.optimize.is_some(), "`optimize`", "optimize");
    let is_locked =
        !design.graph.signals.constraints.is_empty() || !reduced.dae.constraints.is_empty();
    let is_other = !matches!(
        plan.constraints,
        Constraints::Minimal | Constraints::Implicit | Constraints::Multiplier
    );
    not_yet(
        is_other && (is_locked || plan.constraints == Constraints::Delayed),
        "this choice of `constraints`",
        "constraints",
    );
    for change in &outcome.run.start.changed {
        let origin = reduced.dae.starts[change.start].origin;
        found.push(
            Diagnostic::warning(
                code::START_CHANGED,
                format!(
                    "a start value gave way: {} was demanded, {} is used (SI units)",
                    change.asked, change.got
                ),
            )
            .primary(design.graph.span(origin), "a constraint does not allow it")
            .help("make it a `guess`, or give the value that the constraint allows"),
        );
    }
    for column in &outcome.run.table.columns {
        if let Some(row) = column.values.iter().position(|x| !x.is_finite()) {
            let time = outcome.run.table.time[row];
            let message = Diagnostic::warning(
                code::NOT_FINITE_COLUMN,
                format!("`{}` is not a number at t = {time} s", column.name),
            );
            let word = format!("record {}", column.name);
            found.push(in_words(message, plan, &[&word], "recorded here"));
        }
    }
    found.extend(crate::impulse::warnings(reduced, &design.graph));
    found.extend(crate::contacts::reports(design, reduced, &outcome.run));
    let open = outcome.run.left_open.as_ref();
    found.extend(open.map(|open| crate::failure::explain_open(open, reduced, &design.graph)));
    if let Some(audit) = outcome.run.audit.as_ref().filter(|a| !a.is_good()) {
        let worst = audit
            .worst
            .as_ref()
            .map_or(String::new(), |(name, _)| format!("; `{name}` is off most"));
        let message = Diagnostic::warning(
            code::AUDIT,
            format!("{:.1e} of the energy that moved is not accounted for{worst}", audit.relative()),
        )
        .help("a smaller `rtol` should shrink it; if it does not, the laws of the model do not agree with each other");
        found.push(in_words(message, plan, &["method", "rtol"], "in this run"));
    }
    found
}

/// The fact of a result that holds the times of its state events, in s, with spaces between.
pub const EVENT_TIMES: &str = "event_times";
/// More events than this cannot be marked in a plot, and are only counted.
const MOST_EVENT_TIMES: usize = 1000;

fn metadata(design: &Design, outcome: &Outcome) -> Vec<(String, String)> {
    let statistics = &outcome.run.statistics;
    let mut facts = vec![
        (
            "generator".to_owned(),
            format!("paynter {}", env!("CARGO_PKG_VERSION")),
        ),
        ("model".to_owned(), design.model.clone()),
        (
            "model_hash".to_owned(),
            format!("{:016x}", text_hash(design)),
        ),
        (
            "experiment".to_owned(),
            design.plan.name.clone().unwrap_or_default(),
        ),
        (
            "method".to_owned(),
            statistics
                .method()
                .map_or(String::new(), |m| format!("{m:?}").to_lowercase()),
        ),
        ("rtol".to_owned(), format!("{:e}", design.plan.rtol)),
        (
            "atol".to_owned(),
            design
                .plan
                .atol
                .map_or("by nominal values".to_owned(), |a| format!("{a:e}")),
        ),
        ("steps".to_owned(), statistics.steps.to_string()),
        ("rejected".to_owned(), statistics.rejected.to_string()),
        ("rhs".to_owned(), statistics.rhs.to_string()),
        ("jacobians".to_owned(), statistics.jacobians.to_string()),
        (
            "events".to_owned(),
            (statistics.state_events + statistics.time_events).to_string(),
        ),
    ];
    let event_times = &outcome.run.event_times;
    if !event_times.is_empty() && event_times.len() <= MOST_EVENT_TIMES {
        let times: Vec<String> = event_times.iter().map(|t| format!("{t:?}")).collect();
        facts.push((EVENT_TIMES.to_owned(), times.join(" ")));
    }
    let dae = &design.graph.signals;
    for symbol in &dae.symbols {
        if let paynter_symbolic::Role::Parameter { value, .. } = symbol.role
            && facts.len() < 500
        {
            facts.push((
                format!("param {}", dae.names.display(symbol.name)),
                format!("{value:?}"),
            ));
        }
    }
    facts
}

/// A number that changes with any byte of the texts (FNV-1a, stable between versions and machines).
fn text_hash(design: &Design) -> u64 {
    struct Fnv(u64);
    impl Hasher for Fnv {
        fn finish(&self) -> u64 {
            self.0
        }
        fn write(&mut self, bytes: &[u8]) {
            for &b in bytes {
                self.0 = (self.0 ^ u64::from(b)).wrapping_mul(0x0100_0000_01b3);
            }
        }
    }
    let mut hash = Fnv(0xcbf2_9ce4_8422_2325);
    for (_, source) in design.project.sources.files() {
        source.text.as_bytes().hash(&mut hash);
    }
    hash.finish()
}

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
        Ending::Failed { diagnostics, .. } => {
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
        is_good &= audit.is_good() || audit.relative() <= SMALL_RESIDUAL;
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
    let n_all: usize = design.plan.sweeps.iter().map(|s| s.values.len()).product();
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
    let points = crate::sweep::sweep(&ends, choice, Engine::default(), jobs)
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
