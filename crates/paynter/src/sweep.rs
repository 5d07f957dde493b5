//! Runs one experiment over a grid of values, on several cores.
//!
//! In:  a design whose plan has sweeps.
//! Out: one [`Point`] for each combination, in the order of the grid: the last sweep varies fastest.
//!
//! **Invariant:** a point depends on its values alone, so the number of cores changes no bit. Parameters
//! that do not shape the graph are set in a copy of one compiled machine; anything else
//! (sizes, replaceable parts, inputs that are signals, values with which laws are other laws) is elaborated
//! anew. What a run with these values refuses or warns of, the point does too.

use crate::audit::audit_totals;
use crate::code;
use crate::compile::Compiled;
use crate::course::Course;
use crate::design::{Choice, Design, DesignError};
use crate::experiment::{Measurement, Outcome, measure_all};
use crate::layout::{Layout, lay_out, run_spec};
use crate::parameters::Parameters;
use crate::physics::Physics;
use crate::simulate::{self, Ending, RunSpec, follow, prepare};
use crate::structure::Stock;
use paynter_exec::{Engine, Machine};
use paynter_model::elaborate::Limit;
use paynter_model::experiment::{Constraints, Sweep, SweepSetting, SweepTarget, SweepValue};
use paynter_model::project::Override;
use paynter_model::units::format_number;
use paynter_symbolic::{ExprId, Role, SymbolId};
use paynter_syntax::{Diagnostic, Span, ast};
use std::ops::{ControlFlow, Deref, Range};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

/// One run of a sweep.
#[derive(Clone, Debug, PartialEq)]
pub struct Point {
    /// Its number in the sweep, from 0.
    pub number: usize,
    /// The swept values as shown.
    pub labels: Vec<String>,
    /// The swept values in SI; a position in the list where they are not numbers.
    pub values: Vec<f64>,
    /// Numbers read off the curves.
    pub measures: Vec<Measurement>,
    /// Last value of every recorded column.
    pub last: Vec<f64>,
    /// Residual of the first law as a part of the energy that moved.
    pub residual: f64,
    /// Why the run failed, if it did.
    pub failure: Option<String>,
    /// Codes of what the user should know although the run went well.
    pub warnings: Vec<&'static str>,
}

/// A warning that some points of a sweep have in common.
#[derive(Clone, Debug, PartialEq)]
pub struct SharedWarning {
    /// In the words of the first point that has it.
    pub message: Diagnostic,
    /// Positions of all points that have it.
    pub points: Vec<usize>,
}

/// Compiled once, copied for every point.
struct Common {
    machine: Machine,
    compiled: Compiled,
    layout: Layout,
    spec: RunSpec,
    /// The parameter that each sweep sets.
    symbols: Vec<SymbolId>,
    /// Declared ranges that depend on any of them.
    limits: Vec<Limit>,
    /// What was found about the model with its own values.
    physics: Physics,
    /// What ideal contacts and sliding switches made necessary so far.
    stock: Stock,
}

/// Why a point has no result when the sweep was ended from outside.
pub const CANCELLED: &str = "cancelled";

/// Asked while points run, with the number of those done: may the sweep go on?
pub type Watch<'a> = &'a (dyn Fn(usize) -> ControlFlow<()> + Sync);

/// Runs all points.
///
/// # Errors
///
/// What keeps every point from starting.
pub fn sweep(
    design: &Design,
    choice: &Choice,
    engine: Engine,
    jobs: usize,
) -> Result<Vec<Point>, Vec<Diagnostic>> {
    sweep_while(design, choice, engine, jobs, &|_| ControlFlow::Continue(()))
}

/// Runs all points as long as `watch` allows; those that did not reach their end have the failure [`CANCELLED`].
///
/// # Errors
///
/// What keeps every point from starting.
pub fn sweep_while(
    design: &Design,
    choice: &Choice,
    engine: Engine,
    jobs: usize,
    watch: Watch<'_>,
) -> Result<Vec<Point>, Vec<Diagnostic>> {
    let sweeper = Sweeper::new(design, choice, engine)?;
    Ok(sweeper.run(0..design.plan.n_points(), jobs, watch))
}

/// A sweep that is compiled: any part of it can be run, in any order and anywhere.
///
/// `D` is a `&Design` or an `Arc<Design>`.
#[derive(Clone)]
pub struct Sweeper<D> {
    design: D,
    choice: Choice,
    engine: Engine,
    /// None where every point is elaborated anew.
    common: Option<Arc<Common>>,
}

impl<D: Deref<Target = Design> + Sync> Sweeper<D> {
    /// Compiles what the points have in common.
    ///
    /// # Errors
    ///
    /// What keeps every point from starting.
    pub fn new(design: D, choice: &Choice, engine: Engine) -> Result<Self, Vec<Diagnostic>> {
        let refused = crate::unsupported::in_plan(&design.plan);
        if !refused.is_empty() {
            return Err(refused);
        }
        let common = compile_once(&design, engine)?.map(Arc::new);
        // A point that is elaborated anew is no sweep itself.
        let choice = Choice {
            sweep: None,
            ..choice.clone()
        };
        Ok(Sweeper {
            design,
            choice,
            engine,
            common,
        })
    }

    /// The design with its sweeps.
    pub fn design(&self) -> &Design {
        &self.design
    }

    /// Runs the points of a range as long as `watch` allows.
    pub fn run(&self, numbers: Range<usize>, jobs: usize, watch: Watch<'_>) -> Vec<Point> {
        let (n_points, first) = (numbers.len(), numbers.start);
        let (next, n_done) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let may_go_on = || watch(n_done.load(Ordering::Relaxed));
        let results: Mutex<Vec<Option<Point>>> = Mutex::new(vec![None; n_points]);
        let work = || {
            let mut own = self.common.as_deref().map(Own::new);
            loop {
                let index = next.fetch_add(1, Ordering::Relaxed);
                if index >= n_points {
                    return;
                }
                let point = self.point(first + index, own.as_mut(), &may_go_on);
                n_done.fetch_add(1, Ordering::Relaxed);
                results
                    .lock()
                    .expect("no worker panics while it holds the list")[index] = Some(point);
            }
        };
        std::thread::scope(|scope| {
            for _ in 0..jobs.clamp(1, n_points.max(1)) {
                scope.spawn(work);
            }
        });
        let results = results.into_inner().expect("all workers have ended");
        results
            .into_iter()
            .map(|p| p.expect("every number was taken once"))
            .collect()
    }

    /// Points that did not run, all for one reason: their worker died, for instance.
    pub fn refuse(&self, numbers: Range<usize>, reason: &str) -> Vec<Point> {
        let refused = |number: usize| Point {
            number,
            failure: Some(reason.to_owned()),
            ..empty_point(&self.design, &self.design.plan.place(number))
        };
        numbers.map(refused).collect()
    }

    /// Runs one point, on a worker's copy of the common machine where that fits its values.
    fn point(
        &self,
        number: usize,
        own: Option<&mut Own>,
        may_go_on: &dyn Fn() -> ControlFlow<()>,
    ) -> Point {
        let design = &*self.design;
        let place = design.plan.place(number);
        let both = self.common.as_deref().zip(own);
        let fitting = both.and_then(|(common, own)| {
            let fits = own.can_take(design, common, &place);
            fits.then_some((common, own))
        });
        let point = match fitting {
            _ if may_go_on().is_break() => Point {
                failure: Some(CANCELLED.to_owned()),
                ..empty_point(design, &place)
            },
            Some((common, own)) => fast_point(design, common, own, &place, may_go_on),
            None => slow_point(design, &self.choice, self.engine, &place, may_go_on),
        };
        Point { number, ..point }
    }
}

impl Sweeper<Arc<Design>> {
    /// The design with its sweeps, to keep.
    pub fn design_arc(&self) -> Arc<Design> {
        self.design.clone()
    }

    /// The same sweeps over other numbers, in SI units: one list for each sweep. Nothing is compiled again.
    ///
    /// # Errors
    ///
    /// Lists that do not fit the sweeps, or numbers that are not finite.
    pub fn with_values(&self, values: &[Vec<f64>]) -> Result<Self, String> {
        let mut design = Design::clone(&self.design);
        design.set_sweep_values(values)?;
        Ok(Sweeper {
            design: Arc::new(design),
            choice: self.choice.clone(),
            engine: self.engine,
            common: self.common.clone(),
        })
    }
}

impl Design {
    /// The numbers of each sweep in SI units; none where some are no numbers, or settings of the run.
    pub fn sweep_values(&self) -> Option<Vec<Vec<f64>>> {
        let number = |value: &SweepValue| match value.setting {
            SweepSetting::Number(x, _) => Some(x),
            _ => None,
        };
        let sweeps = self.plan.sweeps.iter();
        sweeps
            .map(|sweep| match sweep.target {
                SweepTarget::Variable { .. } => sweep.values.iter().map(number).collect(),
                _ => None,
            })
            .collect()
    }

    /// Gives the sweeps other numbers, in SI units: one list for each sweep.
    ///
    /// # Errors
    ///
    /// Lists that do not fit the sweeps, or numbers that are not finite.
    pub fn set_sweep_values(&mut self, values: &[Vec<f64>]) -> Result<(), String> {
        let sweeps = &mut self.plan.sweeps;
        if sweeps.len() != values.len() {
            let (n, m) = (sweeps.len(), values.len());
            return Err(format!("there are {n} sweeps and {m} lists of values"));
        }
        for (sweep, list) in sweeps.iter_mut().zip(values) {
            let name = target_name(&sweep.target);
            if !matches!(sweep.target, SweepTarget::Variable { .. }) || !is_numeric(sweep) {
                return Err(format!("`{name}` does not take numbers"));
            }
            if let Some(at) = list.iter().position(|x| !x.is_finite()) {
                return Err(format!(
                    "value {} of `{name}` is {}, not a finite number",
                    at + 1,
                    list[at]
                ));
            }
            let span = sweep.span;
            sweep.values = list.iter().map(|&x| sweep_number(x, span)).collect();
        }
        if self.plan.is_paired && values.iter().any(|list| list.len() != values[0].len()) {
            return Err(
                "sweeps that vary together must have as many values as each other".to_owned(),
            );
        }
        Ok(())
    }
}

/// Tells whether all values of a sweep are numbers.
pub(crate) fn is_numeric(sweep: &Sweep) -> bool {
    let is_number = |s: &SweepSetting| matches!(s, SweepSetting::Number(..));
    sweep.values.iter().all(|v| is_number(&v.setting))
}

/// The name of what a sweep varies.
pub(crate) fn target_name(target: &SweepTarget) -> String {
    match target {
        SweepTarget::Variable { variable, .. } => variable.path.clone(),
        SweepTarget::Constraints => "constraints".to_owned(),
        SweepTarget::Method => "method".to_owned(),
        SweepTarget::Rtol => "rtol".to_owned(),
    }
}

fn sweep_number(x: f64, span: Span) -> SweepValue {
    let kind = ast::ExprKind::Number {
        value: x,
        unit: None,
    };
    SweepValue {
        label: format_number(x),
        setting: SweepSetting::Number(x, ast::Expr { span, kind }),
    }
}

/// Compiles one machine for all points, if every swept value is a plain parameter.
fn compile_once(design: &Design, engine: Engine) -> Result<Option<Common>, Vec<Diagnostic>> {
    let mut symbols = Vec::new();
    for sweep in &design.plan.sweeps {
        let SweepTarget::Variable { variable, .. } = &sweep.target else {
            return Ok(None);
        };
        let is_numeric = sweep
            .values
            .iter()
            .all(|v| matches!(v.setting, SweepSetting::Number(..)));
        match parameter(design, &variable.path) {
            Some(symbol) if is_numeric && !design.structural.contains(&symbol) => {
                symbols.push(symbol)
            }
            _ => return Ok(None),
        }
    }
    // A point at rest is searched anew for each value.
    if crate::linear::is_asked(&design.plan) {
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
    let layout = lay_out(&design.plan);
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
    Ok(Some(Common {
        machine,
        compiled,
        layout,
        spec,
        symbols,
        limits,
        physics,
        stock: Stock::default(),
    }))
}

fn parameter(design: &Design, path: &str) -> Option<SymbolId> {
    let dae = &design.graph.signals;
    let is_it = |s: &paynter_symbolic::Symbol| {
        matches!(s.role, Role::Parameter { .. }) && dae.names.display(s.name) == path
    };
    dae.symbols
        .iter()
        .position(is_it)
        .map(|index| SymbolId(index as u32))
}

/// A worker's copies.
struct Own {
    machine: Machine,
    spec: RunSpec,
    physics: Physics,
}

impl Own {
    fn new(common: &Common) -> Self {
        Own {
            machine: common.machine.clone(),
            spec: common.spec.clone(),
            physics: common.physics.clone(),
        }
    }

    /// Sets the parameters of a point. Tells whether the common machine is that of a model with these values.
    fn can_take(&mut self, design: &Design, common: &Common, place: &[usize]) -> bool {
        let changes = &mut self.spec.parameters;
        changes.clear();
        for ((sweep, &at), &symbol) in design.plan.sweeps.iter().zip(place).zip(&common.symbols) {
            if let SweepSetting::Number(value, _) = sweep.values[at].setting {
                changes.push((symbol, value));
            }
        }
        self.physics.is_as_before(changes)
    }
}

/// Runs one point on a worker's own copy of the machine, whose parameters are set.
fn fast_point(
    design: &Design,
    common: &Common,
    own: &mut Own,
    place: &[usize],
    may_go_on: &dyn Fn() -> ControlFlow<()>,
) -> Point {
    let mut point = empty_point(design, place);
    point.failure = run_fast(design, common, own, &mut point, may_go_on).err();
    point
}

fn run_fast(
    design: &Design,
    common: &Common,
    Own { machine, spec, .. }: &mut Own,
    point: &mut Point,
    may_go_on: &dyn Fn() -> ControlFlow<()>,
) -> Result<(), String> {
    let parameters = Parameters::new(&design.graph.signals, &spec.parameters);
    for limit in &common.limits {
        if let Some(complaint) = broken(limit, &parameters) {
            return Err(complaint);
        }
    }
    for &(symbol, value) in &spec.parameters {
        machine
            .set_parameter(symbol, value)
            .map_err(|_| format!("{value} is no value for a parameter"))?;
    }
    let mut course = Course::new(
        machine,
        &common.compiled.reduced,
        &common.compiled.graph,
        spec,
        Some(&common.stock),
    );
    let start = course.start().map_err(|messages| headline(&messages))?;
    let run = follow(&mut course, &start, spec, &mut |_| may_go_on());
    let n = spec.wanted.len();
    let last_row = run.rows.values.len().checked_sub(n);
    point.last = spec.wanted[..common.layout.n_recorded]
        .iter()
        .enumerate()
        .map(|(k, wanted)| {
            last_row.map_or(f64::NAN, |first| wanted.to_unit(run.rows.values[first + k]))
        })
        .collect();
    let has_wild_value = recorded_is_wild(&run.rows.values, n, common.layout.n_recorded);
    let booked = std::mem::take(&mut course.booked);
    let signs = [
        (has_wild_value, code::NOT_FINITE_COLUMN),
        (!start.changed.is_empty(), code::START_CHANGED),
        (!course.losses.is_empty(), code::CONTACT_LOSS),
        (!course.slides.is_empty(), code::SLIDING),
        (
            !common.compiled.reduced.differentiated_switches.is_empty(),
            code::IMPULSE,
        ),
    ];
    let (machine, _) = course.at_present();
    let audit = run
        .energy
        .as_ref()
        .and_then(|(before, after)| audit_totals(machine, (before, after), &booked, spec));
    let signs = signs.into_iter().chain([
        (machine.left_open().is_some(), code::LEFT_OPEN),
        (audit.as_ref().is_some_and(|a| !a.is_good()), code::AUDIT),
    ]);
    point.warnings = signs.filter(|s| s.0).map(|s| s.1).collect();
    point.residual = audit.map_or(0.0, |audit| audit.relative());
    if let Some(fine) = &run.fine {
        let fine = simulate::to_table(fine, &spec.wanted);
        let parameters = Parameters::new(&common.compiled.reduced.dae, &spec.parameters);
        point.measures = measure_all(&design.plan, Some(&fine), &common.layout, &parameters);
    }
    failure(&run.ending).map_or(Ok(()), Err)
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

fn slow_point(
    design: &Design,
    choice: &Choice,
    engine: Engine,
    place: &[usize],
    may_go_on: &dyn Fn() -> ControlFlow<()>,
) -> Point {
    match elaborate_and_run(design, choice, engine, place, may_go_on) {
        Ok(outcome) => summarise(design, place, Ok(outcome)),
        Err(messages) => summarise(design, place, Err(headline(&messages))),
    }
}

/// What a point changes: values in the model, and settings of the run.
fn changes_at(design: &Design, place: &[usize]) -> (Vec<Override>, Settings) {
    let mut changes = Vec::new();
    let mut method = None;
    let mut constraints = None;
    for (sweep, &at) in design.plan.sweeps.iter().zip(place) {
        match (&sweep.target, &sweep.values[at].setting) {
            (
                SweepTarget::Variable { target, .. },
                SweepSetting::Number(_, e) | SweepSetting::Expression(e),
            ) => {
                changes.push(Override {
                    path: path_of(target),
                    value: e.clone(),
                    span: sweep.span,
                });
            }
            (SweepTarget::Method, SweepSetting::Method(m, step)) => method = Some((*m, *step)),
            (SweepTarget::Constraints, SweepSetting::Constraints(c)) => constraints = Some(*c),
            _ => {}
        }
    }
    let rtol = design.plan.sweeps.iter().zip(place).find_map(|(s, &at)| {
        match (&s.target, &s.values[at].setting) {
            (SweepTarget::Rtol, SweepSetting::Number(x, _)) => Some(*x),
            _ => None,
        }
    });
    let settings = Settings {
        method,
        constraints,
        rtol,
    };
    (changes, settings)
}

/// Settings of a run that a sweep varies.
struct Settings {
    method: Option<(paynter_model::experiment::Method, Option<f64>)>,
    constraints: Option<Constraints>,
    rtol: Option<f64>,
}

fn elaborate_and_run(
    design: &Design,
    choice: &Choice,
    engine: Engine,
    place: &[usize],
    may_go_on: &dyn Fn() -> ControlFlow<()>,
) -> Result<Outcome, Vec<Diagnostic>> {
    let (changes, settings) = changes_at(design, place);
    let mut choice = choice.clone();
    choice.experiment = choice.experiment.or_else(|| design.plan.name.clone());
    let mut varied = design.varied(&choice, &changes).map_err(|e| match e {
        DesignError::Unreadable(_) => unreachable!("no file is read"),
        DesignError::Model(failed) => failed.diagnostics,
    })?;
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
    let choice = crate::run::RunChoice {
        engine,
        ..crate::run::RunChoice::default()
    };
    let mut outcome = crate::run::run(&varied, &choice, &mut |_| may_go_on())?;
    // What is said of the model with its own values is said once, before the sweep.
    let is_new = |message: &&Diagnostic| !design.diagnostics.contains(message);
    let about_values = varied.diagnostics.iter().filter(is_new).cloned();
    outcome.warnings.extend(about_values);
    Ok(outcome)
}

/// Collects the warnings of all points, each once, with a message of the first point that has it.
///
/// Points that ran on the common machine know what sort of warning they have: the first of a sort runs once more
/// to put it in words.
pub fn shared_warnings(
    design: &Design,
    choice: &Choice,
    engine: Engine,
    points: &[Point],
) -> Vec<SharedWarning> {
    let mut codes: Vec<&'static str> = points.iter().flat_map(|p| p.warnings.clone()).collect();
    codes.sort_unstable();
    codes.dedup();
    let mut found = Vec::new();
    for code in codes {
        let with_it: Vec<usize> = (0..points.len())
            .filter(|&k| points[k].warnings.contains(&code))
            .collect();
        let place = design.plan.place(points[with_it[0]].number);
        let again = || ControlFlow::Continue(());
        let messages = elaborate_and_run(design, choice, engine, &place, &again)
            .map_or_else(|messages| messages, |outcome| outcome.warnings);
        // The audit of a whole run allows for more than totals tell: then there is nothing to warn of.
        if let Some(message) = messages.into_iter().find(|m| m.code == code) {
            found.push(SharedWarning {
                message,
                points: with_it,
            });
        }
    }
    found
}

fn path_of(target: &ast::Ref) -> Vec<(String, Option<i64>)> {
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
fn failure(ending: &Ending) -> Option<String> {
    match ending {
        Ending::Failed { diagnostics, .. } => Some(headline(diagnostics)),
        Ending::Cancelled { .. } => Some(CANCELLED.to_owned()),
        Ending::Reached | Ending::Stopped { .. } => None,
    }
}

fn headline(messages: &[Diagnostic]) -> String {
    messages
        .iter()
        .find(|m| m.is_error())
        .or(messages.first())
        .map_or(String::new(), |m| m.message.clone())
}

/// A point that has not run.
fn empty_point(design: &Design, place: &[usize]) -> Point {
    let sweeps = || design.plan.sweeps.iter().zip(place);
    Point {
        number: 0,
        labels: sweeps()
            .map(|(s, &at)| s.values[at].label.clone())
            .collect(),
        values: sweeps()
            .map(|(s, &at)| match s.values[at].setting {
                SweepSetting::Number(x, _) => x,
                _ => at as f64,
            })
            .collect(),
        measures: Vec::new(),
        last: Vec::new(),
        residual: f64::NAN,
        failure: None,
        warnings: Vec::new(),
    }
}

fn summarise(design: &Design, place: &[usize], result: Result<Outcome, String>) -> Point {
    let point = empty_point(design, place);
    match result {
        Err(why) => Point {
            failure: Some(why),
            ..point
        },
        Ok(outcome) => Point {
            failure: failure(&outcome.run.ending),
            last: outcome
                .run
                .table
                .columns
                .iter()
                .map(|c| c.values.last().copied().unwrap_or(f64::NAN))
                .collect(),
            residual: outcome
                .run
                .audit
                .as_ref()
                .map_or(0.0, crate::audit::Audit::relative),
            measures: outcome.measures,
            warnings: distinct(outcome.warnings.iter().map(|m| m.code)),
            ..point
        },
    }
}

fn distinct(codes: impl Iterator<Item = &'static str>) -> Vec<&'static str> {
    let mut codes: Vec<&'static str> = codes.collect();
    codes.sort_unstable();
    codes.dedup();
    codes
}
