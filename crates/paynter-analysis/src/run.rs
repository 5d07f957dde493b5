//! Runs one experiment of a design from beginning to end.
//!
//! In:  a [`Design`], and where its references lie.
//! Out: an [`Outcome`] with metadata in its table, or what kept it from starting.

use crate::experiment::{Outcome, Task, carry_out};
use crate::layout::{Layout, lay_out, run_spec};
use crate::linear::{
    LinearError, LinearRequest, Linearization, Trim, find_rest, in_steps, linearize,
    margins_of_measures,
};
use crate::named_runs::named_runs;
use crate::simulate::{Ending, RunSpec, prepare};
use crate::watching::{Watch, Watched};
use paynter_design::check::unreadable_reference;
use paynter_design::code;
use paynter_design::compile::{Compiled, Treatment};
use paynter_design::design::Design;
use paynter_design::digits::significant;
use paynter_exec::{Engine, MAX_ROWS_OF_MINIMAL, Machine};
use paynter_model::experiment::{Constraints, Plan};
use paynter_run::audit::Audit;
use paynter_run::gaps;
use paynter_run::recorder::Progress;
use paynter_run::table::{EVENT_TIMES, Table};
use paynter_symbolic::reduced::Reduced;
use paynter_syntax::Diagnostic;
use std::hash::{Hash, Hasher};
use std::ops::ControlFlow;

/// What a caller may choose beside the experiment.
#[derive(Clone, Debug, Default)]
pub struct RunChoice {
    /// Interpreter or machine code.
    pub engine: Engine,
    /// Record at these times instead of the experiment's.
    pub times: Option<Vec<f64>>,
    /// Find least and largest values over the whole run, not only among the recorded ones.
    pub wants_ranges: bool,
    /// Look how far locks give way.
    pub wants_gaps: bool,
    /// Sees the plots while the run goes on.
    pub watch: Option<Watch>,
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

/// Runs an experiment that another one compares with.
pub(crate) fn run_alone(design: &Design) -> Result<Outcome, Vec<Diagnostic>> {
    let mut go_on = |_: f64| ControlFlow::Continue(());
    run(design, &RunChoice::default(), &mut go_on)
}

/// As [`run`], and gives the compiled model as well, for reports.
///
/// # Errors
///
/// As for [`run`].
pub fn run_staged(
    design: &Design,
    choice: &RunChoice,
    progress: Progress<'_>,
) -> Result<(Compiled, Outcome), Vec<Diagnostic>> {
    let Ready { stages, machine } = ready_with(design, choice.engine, choice.wants_gaps)?;
    let outcome = stages.run_on(machine, design, choice, progress)?;
    Ok((stages.compiled, outcome))
}

/// An experiment that is compiled and laid out: it runs many times, and in many threads at once.
#[derive(Debug)]
pub struct Ready {
    stages: Stages,
    machine: Machine,
}

/// What all runs of one experiment have in common.
#[derive(Debug)]
struct Stages {
    compiled: Compiled,
    references: Vec<Table>,
    layout: Layout,
    spec: RunSpec,
    trim: Option<Trim>,
    linear: Vec<Linearization>,
}

/// Makes the experiment of a design ready to run.
///
/// # Errors
///
/// What keeps it from running: structure, missing references, no point at rest.
pub fn ready(design: &Design, engine: Engine) -> Result<Ready, Vec<Diagnostic>> {
    ready_with(design, engine, false)
}

fn ready_with(design: &Design, engine: Engine, wants_gaps: bool) -> Result<Ready, Vec<Diagnostic>> {
    let refused = paynter_design::delayed::refuse(&design.plan);
    if !refused.is_empty() {
        return Err(refused);
    }

    let compiled = design.compile();
    let compiled = compiled.map_err(|m| paynter_design::delayed::placed(m, &design.plan))?;
    let references = references(design)?;
    refuse_large_minimal(design, &compiled)?;
    let mut layout = lay_out(&design.plan);
    if let Some(delayed) = &compiled.delayed {
        layout.n_gains = delayed.numbers.len();
        layout.wanted.extend(crate::delayed::wanted(delayed));
    }

    if wants_gaps || matches!(compiled.settings.treatment, Treatment::Parasitic(..)) {
        layout.n_locks = compiled.locks.len();
        layout.wanted.extend(gaps::wanted(&compiled.locks));
        if let Some(springs) = &compiled.springs {
            layout.n_locks += 1;
            layout.wanted.push(gaps::energy(springs.energy));
        }
    }

    layout.named = named_runs(design, &run_alone)?;
    layout.margins = margins_of_measures(design, &compiled).map_err(LinearError::into_messages)?;
    let mut spec = run_spec(&design.plan, &layout, &references, engine);
    let mut trim = None;
    if !design.plan.trim.is_empty() {
        let (found, rest) = find_rest(design, &compiled).map_err(LinearError::into_messages)?;
        spec.rest = rest.states;
        spec.parameters.extend(rest.parameters);
        trim = Some(found);
    }

    let linear = linear_models(design, &compiled)?;
    let machine = prepare(&compiled, &spec)?;
    let stages = Stages {
        compiled,
        references,
        layout,
        spec,
        trim,
        linear,
    };
    Ok(Ready { stages, machine })
}

impl Ready {
    /// Makes machine code now: worth it for an experiment that runs more than once.
    pub fn make_code(&mut self) {
        self.machine.compile();
    }

    /// The compiled model.
    pub fn compiled(&self) -> &Compiled {
        &self.stages.compiled
    }

    /// Runs a copy of the machine. `design` is the one that this was made of; the engine is chosen already.
    ///
    /// # Errors
    ///
    /// What keeps the run from starting.
    pub fn run(
        &self,
        design: &Design,
        choice: &RunChoice,
        progress: Progress<'_>,
    ) -> Result<Outcome, Vec<Diagnostic>> {
        let machine = self.machine.clone();
        self.stages.run_on(machine, design, choice, progress)
    }
}

impl Stages {
    fn run_on(
        &self,
        mut machine: Machine,
        design: &Design,
        choice: &RunChoice,
        progress: Progress<'_>,
    ) -> Result<Outcome, Vec<Diagnostic>> {
        let mut spec = self.spec.clone();
        spec.wants_ranges = choice.wants_ranges;
        if let Some(times) = &choice.times {
            spec.output_times.clone_from(times);
        }
        spec.onlooker = choice.watch.as_ref().map(|watch| {
            let watched = Watched {
                plan: design.plan.clone(),
                layout: self.layout.clone(),
                references: self.references.clone(),
                graph: self.compiled.graph.clone(),
            };
            watch.onlooker(watched)
        });

        let task = Task {
            layout: &self.layout,
            spec: &spec,
            references: &self.references,
        };
        let compiled = &self.compiled;
        let mut outcome = carry_out(&mut machine, compiled, &design.plan, &task, progress)?;
        if let Ending::Failed {
            why: diagnostics, ..
        } = &mut outcome.run.ending
        {
            for message in diagnostics {
                *message = placed(message.clone(), &design.plan);
            }
        }

        outcome.run.table.metadata = metadata(design, &outcome);
        outcome.warnings.clone_from(&compiled.warnings);
        outcome.mobility.clone_from(&compiled.mobility);
        for message in self.linear.iter().flat_map(|l| &l.warnings) {
            if !outcome.warnings.contains(message) {
                outcome.warnings.push(message.clone());
            }
        }

        (outcome.trim, outcome.linear) = (self.trim.clone(), self.linear.clone());
        let found = warnings(design, &compiled.reduced, &outcome);
        outcome.warnings.extend(found);
        Ok(outcome)
    }
}

/// Refuses minimal coordinates where every evaluation would take a large dense factor.
fn refuse_large_minimal(design: &Design, compiled: &Compiled) -> Result<(), Vec<Diagnostic>> {
    let reduced = &compiled.reduced;
    let n = reduced.constraints.len() + reduced.dae.invariants.len();
    if compiled.settings.treatment != Treatment::Minimal || n <= MAX_ROWS_OF_MINIMAL {
        return Ok(());
    }
    let message = Diagnostic::error(
        code::TOO_LARGE_FOR_MINIMAL,
        format!("minimal coordinates of a mechanism with {n} constraints would take too long"),
    )
    .help("write `constraints = multiplier`");
    let words = ["constraints"];
    Err(vec![in_words(
        message,
        &design.plan,
        &words,
        "asked for here",
    )])
}

/// Makes the linear models that an experiment asks for.
fn linear_models(
    design: &Design,
    compiled: &Compiled,
) -> Result<Vec<Linearization>, Vec<Diagnostic>> {
    let asked = design.plan.linearize.iter().map(|l| LinearRequest {
        from: l.from.clone(),
        to: l.to.clone(),
        sampled: in_steps(design),
        ..LinearRequest::default()
    });
    let models = asked.map(|request| linearize(design, compiled, &request));
    let models: Result<Vec<Linearization>, LinearError> = models.collect();
    models.map_err(LinearError::into_messages)
}

fn references(design: &Design) -> Result<Vec<Table>, Vec<Diagnostic>> {
    let mut tables = Vec::new();
    let mut messages = Vec::new();
    for (asked, found) in design.plan.comparisons.iter().zip(&design.references) {
        let bytes = found.bytes.as_ref().map_err(String::clone);
        match bytes.and_then(|b| Table::from_bytes(&asked.path, b)) {
            Ok(table) => tables.push(table),
            Err(why) => {
                let why = format!("{}: {why}", asked.path);
                messages.push(unreadable_reference(why, asked.span));
            }
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
    for change in &outcome.run.start.changed {
        let origin = reduced.dae.starts[change.start].origin;
        found.push(
            Diagnostic::warning(
                code::START_CHANGED,
                format!(
                    "a start value was adjusted to meet a constraint: {} was asked for, {} is used (SI units)",
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
    found.extend(crate::rechosen::report(
        reduced,
        &design.graph,
        &outcome.run,
    ));
    if let (Some(springs), Constraints::Parasitic(asked)) = (&outcome.springs, &plan.constraints) {
        let warning = springs.warning(asked.k.is_some());
        found.extend(warning.map(|w| in_words(w, plan, &["constraints"], "in this run")));
    }

    let open = outcome.run.left_open.as_ref();
    found.extend(
        open.map(|open| paynter_design::failure::explain_open(open, reduced, &design.graph)),
    );

    // A run that failed has said why; where it stopped, a law may have no value.
    let has_failed = matches!(outcome.run.ending, Ending::Failed { .. });
    if let Some(audit) = outcome.run.audit.as_ref().filter(|_| !has_failed) {
        found.extend(about_energy(design, audit));
    }
    found
}

/// What the audit objects to.
fn about_energy(design: &Design, audit: &Audit) -> Vec<Diagnostic> {
    let plan = &design.plan;
    let mut found = Vec::new();
    if !audit.is_good() {
        found.push(in_words(
            not_accounted_for(audit, plan),
            plan,
            &["method", "rtol"],
            "in this run",
        ));
    }

    if let Some(name) = &audit.unknown {
        let message = Diagnostic::warning(
            code::AUDIT,
            format!("the energy stored in `{name}` is not known: its law has no value between two states of the run"),
        )
        .help("the audit takes it as unchanged there");
        found.push(in_words(message, plan, &[], "in this run"));
    }

    for active in &audit.active {
        // A diode with a threshold and a leak gives a trifle between 0 and the threshold: that is its law.
        let mut elements = design.graph.elements.iter();
        let element = elements.find(|e| e.origin == active.origin);
        if element.is_none_or(|e| !e.kind.is_resistor()) {
            continue;
        }
        let span = design.graph.span(active.origin);
        // A law that was seen to create power before the run needs no second message.
        let is_known = design.diagnostics.iter().any(|w| {
            let at = w.primary.as_ref().map(|label| label.span);
            w.code == paynter_model::code::RESISTOR_MAY_CREATE_POWER && at == Some(span)
        });
        if is_known {
            continue;
        }
        found.push(
            Diagnostic::warning(
                code::ACTIVE_IN_RUN,
                format!(
                    "`{}` gave {} J during the run, though it is a resistor",
                    active.name,
                    significant(active.given, 3)
                ),
            )
            .primary(span, "e·f was negative")
            .help("if an active element is meant, write `unpowered` after it; the audit then lists what it gives as a source"),
        );
    }
    found
}

/// Says where energy is not accounted for.
fn not_accounted_for(audit: &Audit, plan: &Plan) -> Diagnostic {
    const MOST_FAULTS: usize = 4;
    let is_whole = audit.residual.abs() > audit.allowed;
    let mut faults = audit.faults.iter().map(ToString::to_string);
    let headline = if is_whole {
        let worst = audit
            .worst
            .as_ref()
            .map_or(String::new(), |(name, _)| format!("; `{name}` is off most"));
        format!(
            "{:.1e} of the energy that moved is not accounted for{worst}",
            audit.relative()
        )
    } else {
        let first = faults.next().unwrap_or_default();
        format!("energy is not accounted for: {first}")
    };
    let mut message = Diagnostic::warning(code::AUDIT, headline);
    for fault in faults.take(MOST_FAULTS) {
        message = message.fact(fault);
    }
    let what = match plan.method.has_fixed_step() {
        true => "step",
        false => "`rtol`",
    };
    message.help(format!("a smaller {what} should shrink it; if it does not, the laws of the model do not agree with each other"))
}

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
                .map_or(String::new(), |m| m.name().to_owned()),
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

    let ending = match &outcome.run.ending {
        Ending::Reached => "reached".to_owned(),
        Ending::Stopped { time, .. } => format!("stopped at {time} s"),
        Ending::Cancelled { time } => format!("cancelled at {time} s"),
        Ending::Failed { time, .. } => format!("failed at {time} s"),
    };
    facts.push(("ending".to_owned(), ending));

    let event_times = &outcome.run.event_times;
    if !event_times.is_empty() && event_times.len() <= MOST_EVENT_TIMES {
        let times: Vec<String> = event_times.iter().map(|t| format!("{t:?}")).collect();
        facts.push((EVENT_TIMES.to_owned(), times.join(" ")));
    }

    add_parameters(&mut facts, &design.graph.signals);
    facts
}

/// Adds the values of parameters, as far as there is room.
fn add_parameters(facts: &mut Vec<(String, String)>, dae: &paynter_symbolic::Dae) {
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
}

/// A number that changes with any byte of the texts.
fn text_hash(design: &Design) -> u64 {
    let mut hash = Fnv::new();
    hash_texts(design, &mut hash);
    hash.finish()
}

/// Takes in every text of a design.
pub(crate) fn hash_texts(design: &Design, hash: &mut Fnv) {
    for (_, source) in design.project.sources.files() {
        source.text.as_bytes().hash(hash);
    }
}

/// FNV-1a: stable between versions and machines.
pub(crate) struct Fnv(u64);

impl Fnv {
    pub(crate) fn new() -> Fnv {
        Fnv(0xcbf2_9ce4_8422_2325)
    }
}

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
