//! One model with many values: what sweeps, searches and fits have in common.
//!
//! In:  a design and the parameters that change.
//! Out: for each set of values what its run gave: measures, last values, warnings, failures.
//!
//! [`Shared`] is compiled once, and every thread has a [`Worker`] with copies of what runs. [`Anew`] elaborates the model
//! for values that make it another one.
//!
//! **Invariant:** what a run with some values gives depends on them alone, not on what ran before.

mod slopes;

pub(crate) use slopes::{Gradients, Here, SearchSlopes};

use crate::experiment::{
    Measurement, Outcome, Read, SearchValues, kept_limits, measure_all, search_values,
};
use crate::explain::explain;
use crate::layout::{Layout, lay_out, run_spec};
use crate::linear::{LinearError, LoopCuts};
use crate::named_runs::named_runs;
use crate::physics::Physics;
use crate::simulate::{Ending, RunSpec, prepare};
use paynter_design::code;
use paynter_design::compile::Compiled;
use paynter_design::design::{Choice, Design, DesignError};
use paynter_design::parameters::Parameters;
use paynter_exec::{Engine, Machine, StartReport};
use paynter_model::elaborate::Limit;
use paynter_model::experiment::Constraints;
use paynter_model::project::Override;
use paynter_run::audit::audit_totals;
use paynter_run::configuration::ConfigurationStore;
use paynter_run::hybrid::HybridRun;
use paynter_run::recorder::Rows;
use paynter_run::simulate::{Followed, follow, to_table};
use paynter_run::table::Table;
use paynter_symbolic::{ExprId, Role, SymbolId};
use paynter_syntax::{Diagnostic, ast};
use std::ops::ControlFlow;

/// Why a run has no result when it was ended from outside.
pub const CANCELLED: &str = "cancelled";

/// Compiled once, copied for every thread.
pub(crate) struct Shared {
    machine: Machine,
    compiled: Compiled,
    layout: Layout,
    spec: RunSpec,
    /// The parameters that change.
    symbols: Vec<SymbolId>,
    /// Declared ranges that depend on any of them.
    limits: Vec<Limit>,
    /// What was found about the model with its own values.
    physics: Physics,
    /// The loops whose margins are measured.
    loops: LoopCuts,
    /// What ideal contacts and sliding switches made necessary so far.
    store: ConfigurationStore,
    /// Every row is wanted, not only the last.
    keeps_rows: bool,
}

/// A parameter whose value does not shape the graph, by its path.
pub(crate) fn plain_parameter(design: &Design, path: &str) -> Option<SymbolId> {
    let dae = &design.graph.signals;
    let is_it = |s: &paynter_symbolic::Symbol| {
        matches!(s.role, Role::Parameter { .. }) && dae.names.display(s.name) == path
    };
    let index = dae.symbols.iter().position(is_it)?;
    let symbol = SymbolId(index as u32);
    (!design.structural.contains(&symbol)).then_some(symbol)
}

impl Shared {
    /// Compiles; none if other values of these parameters make other equations.
    ///
    /// # Errors
    ///
    /// What keeps the model from being compiled.
    pub(crate) fn new(
        design: &Design,
        symbols: Vec<SymbolId>,
        engine: Engine,
    ) -> Result<Option<Shared>, Vec<Diagnostic>> {
        // A point at rest is searched anew for each value.
        if !crate::linear::asks_margins_only(&design.plan) {
            return Ok(None);
        }

        let compiled = design.compile()?;
        // With other values of these the equations are others.
        if symbols
            .iter()
            .any(|s| compiled.reduced.decided_by.contains(s))
        {
            return Ok(None);
        }

        let loops = LoopCuts::new(design, &compiled, &symbols);
        let Some(loops) = loops.map_err(LinearError::into_messages)? else {
            return Ok(None);
        };
        let mut layout = lay_out(&design.plan);
        layout.named = named_runs(design, &crate::run::run_alone)?;
        let spec = run_spec(&design.plan, &layout, &[], engine);
        let mut machine = prepare(&compiled, &spec)?;

        // Copies cannot make code later.
        machine.compile();
        let changes: Vec<(SymbolId, f64)> = symbols.iter().map(|&s| (s, 0.0)).collect();
        let parameters = Parameters::new(&design.graph.signals, &changes);
        let is_touched = |limit: &&Limit| {
            let ends = [Some(limit.value), limit.low, limit.high];
            ends.into_iter().flatten().any(|e| parameters.is_changed(e))
        };
        let limits = design.limits.iter().filter(is_touched).cloned().collect();
        let physics = Physics::new(design, &symbols);

        Ok(Some(Shared {
            machine,
            compiled,
            layout,
            spec,
            symbols,
            limits,
            physics,
            loops,
            store: ConfigurationStore::default(),
            keeps_rows: false,
        }))
    }

    /// Records at these times, and keeps what was recorded.
    pub(crate) fn record_at(&mut self, times: &[f64]) {
        self.spec.output_times = times.to_vec();
        self.keeps_rows = true;
    }

    /// Keeps what is recorded, at the times of the experiment.
    pub(crate) fn keep_rows(&mut self) {
        self.keeps_rows = true;
    }

    /// Changes settings for all runs.
    pub(crate) fn set(&mut self, settings: &Settings) {
        self.spec.rtol = settings.rtol.unwrap_or(self.spec.rtol);
        self.spec.max_steps = settings.max_steps.or(self.spec.max_steps);
    }
}

/// What a run gave.
#[derive(Clone, Debug)]
pub(crate) struct Ran {
    /// Numbers read off the curves.
    pub measures: Vec<Measurement>,
    /// Aims and conditions of a search, where there is one.
    pub search: Option<SearchValues>,
    /// Whether each limit is kept.
    pub limits: Vec<Option<bool>>,
    /// Last value of every recorded column.
    pub last: Vec<f64>,
    /// Residual of the first law as a part of the energy that moved.
    pub residual: f64,
    /// Why the run failed, with its code, if it did.
    pub failure: Option<(&'static str, String)>,
    /// Codes of what the user should know although the run went well.
    pub warnings: Vec<&'static str>,
    /// Steps taken.
    pub steps: usize,
    /// Recorded columns, where they are kept.
    pub table: Option<Table>,
}

impl Ran {
    fn failed(failure: (&'static str, String)) -> Self {
        Ran {
            measures: Vec::new(),
            search: None,
            limits: Vec::new(),
            last: Vec::new(),
            residual: f64::NAN,
            failure: Some(failure),
            warnings: Vec::new(),
            steps: 0,
            table: None,
        }
    }
}

/// A thread's copies.
pub(crate) struct Worker {
    machine: Machine,
    spec: RunSpec,
    physics: Physics,
}

impl Worker {
    pub(crate) fn new(shared: &Shared) -> Self {
        Worker {
            machine: shared.machine.clone(),
            spec: shared.spec.clone(),
            physics: shared.physics.clone(),
        }
    }

    /// Sets the parameters of a run. Tells whether the shared machine is that of a model with these values.
    pub(crate) fn can_take(&mut self, shared: &Shared, values: &[f64]) -> bool {
        let changes = &mut self.spec.parameters;
        changes.clear();
        changes.extend(shared.symbols.iter().copied().zip(values.iter().copied()));
        self.physics.is_as_before(changes)
    }

    /// Runs with the parameters that were set.
    pub(crate) fn run(
        &mut self,
        design: &Design,
        shared: &Shared,
        may_go_on: &dyn Fn() -> ControlFlow<()>,
    ) -> Ran {
        let ran = self.try_run(design, shared, may_go_on);
        ran.unwrap_or_else(Ran::failed)
    }

    fn try_run(
        &mut self,
        design: &Design,
        shared: &Shared,
        may_go_on: &dyn Fn() -> ControlFlow<()>,
    ) -> Result<Ran, (&'static str, String)> {
        let Worker { machine, spec, .. } = self;
        set_parameters(machine, spec, design, shared)?;

        let margins = shared.loops.margins(design, &spec.parameters);
        let margins = margins.map_err(|e| headline(&e.into_messages()))?;
        let hybrid = HybridRun::new(
            machine,
            &shared.compiled.reduced,
            &shared.compiled.graph,
            spec,
            Some(&shared.store),
        );
        let mut hybrid = hybrid.choosing_locks_of(&shared.compiled);
        let start = hybrid.start();
        let start = start.map_err(|trouble| headline(&explain(&trouble, &shared.compiled)))?;

        let run = follow(&mut hybrid, &start, spec, &mut |_| may_go_on());
        let n_recorded = shared.layout.n_recorded;
        let last = last_values(&run, spec, n_recorded);
        let is_wild = recorded_is_wild(&run.rows.values, spec.wanted.len(), n_recorded);
        let booked = std::mem::take(&mut hybrid.booked);
        let steps = hybrid.statistics.steps;

        let signs = signs_of_run(&hybrid, &start, &shared.compiled);
        let (machine, _) = hybrid.at_present();
        let energy = run.energy.as_ref();
        let audit = energy
            .and_then(|(before, after)| audit_totals(machine, (before, after), &booked, spec));
        let is_open = machine.left_open().is_some();
        let is_off = audit.as_ref().is_some_and(|a| !a.is_good());
        let first = [(is_wild, code::NOT_FINITE_COLUMN)];
        let last_signs = [(is_open, code::LEFT_OPEN), (is_off, code::AUDIT)];
        let signs = first.into_iter().chain(signs).chain(last_signs);
        let warnings = signs.filter(|s| s.0).map(|s| s.1).collect();

        let parameters = Parameters::new(&shared.compiled.reduced.dae, &spec.parameters);
        let read = Read {
            traces: &run.traces,
            layout: &shared.layout,
            margins: &margins,
            parameters: &parameters,
        };
        Ok(Ran {
            measures: measure_all(&design.plan, &read),
            search: search_values(&design.plan, &read),
            limits: kept_limits(&design.plan, &read),
            last,
            residual: audit.map_or(0.0, |audit| audit.relative()),
            failure: failure(&run.ending.map(|why| explain(&why, &shared.compiled))),
            warnings,
            steps,
            table: shared
                .keeps_rows
                .then(|| recorded_table(&run.rows, spec, n_recorded)),
        })
    }
}

/// What happened in a run that the user should know, with its codes.
fn signs_of_run(
    hybrid: &HybridRun<'_>,
    start: &StartReport,
    compiled: &Compiled,
) -> [(bool, &'static str); 5] {
    [
        (!start.changed.is_empty(), code::START_CHANGED),
        (!hybrid.losses.is_empty(), code::CONTACT_LOSS),
        (!hybrid.slides.is_empty(), code::SLIDING),
        (!hybrid.rechosen.is_empty(), code::LOCKS_RECHOSEN),
        (
            !compiled.reduced.differentiated_switches.is_empty(),
            code::IMPULSE,
        ),
    ]
}

/// Sets the parameters of a run, within their declared ranges.
fn set_parameters(
    machine: &mut Machine,
    spec: &RunSpec,
    design: &Design,
    shared: &Shared,
) -> Result<(), (&'static str, String)> {
    let parameters = Parameters::new(&design.graph.signals, &spec.parameters);
    for limit in &shared.limits {
        if let Some(complaint) = broken(limit, &parameters) {
            return Err((code::BAD_SETTING, complaint));
        }
    }
    for &(symbol, value) in &spec.parameters {
        machine.set_parameter(symbol, value).map_err(|_| {
            let why = format!("{value} is not a value for a parameter");
            (code::BAD_SETTING, why)
        })?;
    }
    Ok(())
}

/// Last values of what is recorded, in their units; not a number where nothing was recorded.
fn last_values(run: &Followed, spec: &RunSpec, n_recorded: usize) -> Vec<f64> {
    let last_row = run.rows.values.len().checked_sub(spec.wanted.len());
    spec.wanted[..n_recorded]
        .iter()
        .enumerate()
        .map(|(k, wanted)| {
            last_row.map_or(f64::NAN, |first| wanted.to_unit(run.rows.values[first + k]))
        })
        .collect()
}

/// The recorded columns, without those that only measures read.
fn recorded_table(rows: &Rows, spec: &RunSpec, n_recorded: usize) -> Table {
    let mut table = to_table(rows, &spec.wanted);
    table.columns.truncate(n_recorded);
    table
}

/// Tells whether a recorded value, one of the first in each row, is infinite or not a number.
fn recorded_is_wild(values: &[f64], n_columns: usize, n_recorded: usize) -> bool {
    let mut rows = values.chunks_exact(n_columns.max(1));
    rows.any(|row| row[..n_recorded].iter().any(|x| !x.is_finite()))
}

/// Says how a parameter breaks its declared range, if it does.
fn broken(limit: &Limit, parameters: &Parameters<'_>) -> Option<String> {
    let value = parameters.value(limit.value)?;
    let end = |e: Option<ExprId>| e.and_then(|e| parameters.value(e));
    let is_broken = end(limit.low).is_some_and(|low| value < low)
        || end(limit.high).is_some_and(|high| value > high);
    is_broken.then(|| limit.complaint(value))
}

/// Settings of a run that differ from the experiment's.
#[derive(Clone, Debug, Default)]
pub(crate) struct Settings {
    /// Method and its step.
    pub method: Option<(paynter_model::experiment::Method, Option<f64>)>,
    /// How locks are enforced.
    pub constraints: Option<Constraints>,
    /// Relative tolerance.
    pub rtol: Option<f64>,
    /// Steps after which a run is stopped.
    pub max_steps: Option<usize>,
    /// Record at these times.
    pub times: Option<Vec<f64>>,
}

/// Elaborates a model for every set of values.
#[derive(Clone, Copy)]
pub(crate) struct Anew<'a> {
    pub design: &'a Design,
    pub choice: &'a Choice,
    pub engine: Engine,
}

impl Anew<'_> {
    /// The same design with other values.
    ///
    /// # Errors
    ///
    /// The model with these values has errors.
    pub(crate) fn varied(&self, changes: &[Override]) -> Result<Design, Vec<Diagnostic>> {
        let mut choice = self.choice.clone();
        choice.experiment = choice.experiment.or_else(|| self.design.plan.name.clone());
        self.design.varied(&choice, changes).map_err(|e| match e {
            DesignError::Unreadable(_) => unreachable!("no file is read"),
            DesignError::Model(failed) => failed.diagnostics,
        })
    }

    /// Runs the model with other values and settings.
    ///
    /// # Errors
    ///
    /// What keeps it from starting.
    pub(crate) fn run(
        &self,
        changes: &[Override],
        settings: &Settings,
        may_go_on: &dyn Fn() -> ControlFlow<()>,
    ) -> Result<Outcome, Vec<Diagnostic>> {
        let mut varied = self.varied(changes)?;
        if let Some((method, step)) = settings.method {
            varied.plan.method = method;
            varied.plan.fixed_step = step.or(varied.plan.fixed_step);
        }
        if let Some(rtol) = settings.rtol {
            varied.plan.rtol = rtol;
        }
        if let Some(constraints) = settings.constraints {
            varied.plan.constraints = constraints;
        }
        varied.plan.max_steps = settings.max_steps.or(varied.plan.max_steps);
        let choice = crate::run::RunChoice {
            engine: self.engine,
            times: settings.times.clone(),
            ..crate::run::RunChoice::default()
        };
        let mut outcome = crate::run::run(&varied, &choice, &mut |_| may_go_on())?;
        // What is said of the model with its own values is said once, before.
        let is_new = |message: &&Diagnostic| !self.design.diagnostics.contains(message);
        let about_values = varied.diagnostics.iter().filter(is_new).cloned();
        outcome.warnings.extend(about_values);
        Ok(outcome)
    }

    /// As [`Anew::run`], as a thread's machine would give it.
    pub(crate) fn ran(
        &self,
        changes: &[Override],
        settings: &Settings,
        may_go_on: &dyn Fn() -> ControlFlow<()>,
    ) -> Ran {
        match self.run(changes, settings, may_go_on) {
            Err(messages) => Ran::failed(headline(&messages)),
            Ok(outcome) => Ran {
                failure: failure(&outcome.run.ending),
                residual: outcome.run.audit.as_ref().map_or(0.0, |a| a.relative()),
                last: Vec::new(),
                measures: outcome.measures,
                search: outcome.search,
                limits: outcome.limits,
                warnings: outcome.warnings.iter().map(|m| m.code).collect(),
                steps: outcome.run.statistics.steps,
                table: settings.times.is_some().then_some(outcome.run.table),
            },
        }
    }
}

/// The path of a reference as `elaborate` takes it.
pub(crate) fn path_of(target: &ast::Ref) -> Vec<(String, Option<i64>)> {
    target
        .parts
        .iter()
        .map(|part| {
            let index = part.index.first().and_then(|e| match e.kind {
                ast::ExprKind::Number { value, .. } => Some(value as i64),
                _ => None,
            });
            (part.name.text.to_string(), index)
        })
        .collect()
}

/// Why a run did not reach its end, if it did not.
pub fn failure(ending: &Ending) -> Option<(&'static str, String)> {
    match ending {
        Ending::Failed { why, .. } => Some(headline(why)),
        Ending::Cancelled { .. } => Some(("", CANCELLED.to_owned())),
        Ending::Reached | Ending::Stopped { .. } => None,
    }
}

/// Code and words of the first error.
pub fn headline(messages: &[Diagnostic]) -> (&'static str, String) {
    messages
        .iter()
        .find(|m| m.is_error())
        .or(messages.first())
        .map_or(("", String::new()), |m| (m.code, m.message.clone()))
}
