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
use crate::digits::significant;
use crate::experiment::{Measurement, Outcome, measure_all};
use crate::layout::{Layout, lay_out, run_spec};
use crate::parameters::Parameters;
use crate::physics::Physics;
use crate::simulate::{self, Ending, RunSpec, follow, prepare};
use crate::structure::Stock;
use crate::table::{Column, Table};
use paynter_exec::{Engine, Machine};
use paynter_model::elaborate::Limit;
use paynter_model::experiment::{Constraints, Sweep, SweepSetting, SweepTarget};
use paynter_model::project::Override;
use paynter_symbolic::{ExprId, Role, SymbolId};
use paynter_syntax::{Diagnostic, ast};
use std::ops::ControlFlow;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// One run of a sweep.
#[derive(Clone, Debug, PartialEq)]
pub struct Point {
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
    let sweeps = &design.plan.sweeps;
    let n_points: usize = sweeps.iter().map(|s| s.values.len()).product();
    let refused = crate::unsupported::in_plan(&design.plan);
    if !refused.is_empty() {
        return Err(refused);
    }
    let common = compile_once(design, engine)?;
    let (next, n_done) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let may_go_on = || watch(n_done.load(Ordering::Relaxed));
    let results: Mutex<Vec<Option<Point>>> = Mutex::new(vec![None; n_points]);
    let work = || {
        let mut own = common.as_ref().map(Own::new);
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            if number >= n_points {
                return;
            }
            let place = place_in_grid(number, sweeps.iter().map(|s| s.values.len()));
            let both = common.as_ref().zip(own.as_mut());
            let fitting = both.and_then(|(common, own)| {
                let fits = own.can_take(design, common, &place);
                fits.then_some((common, own))
            });
            let point = match fitting {
                _ if may_go_on().is_break() => Point {
                    failure: Some(CANCELLED.to_owned()),
                    ..empty_point(design, &place)
                },
                Some((common, own)) => fast_point(design, common, own, &place, &may_go_on),
                None => slow_point(design, choice, engine, &place, &may_go_on),
            };
            n_done.fetch_add(1, Ordering::Relaxed);
            results
                .lock()
                .expect("no worker panics while it holds the list")[number] = Some(point);
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..jobs.clamp(1, n_points.max(1)) {
            scope.spawn(work);
        }
    });
    let results = results.into_inner().expect("all workers have ended");
    Ok(results
        .into_iter()
        .map(|p| p.expect("every number was taken once"))
        .collect())
}

/// Position on each axis of point `number`; the last axis varies fastest.
fn place_in_grid(number: usize, sizes: impl DoubleEndedIterator<Item = usize>) -> Vec<usize> {
    let mut left = number;
    let mut place: Vec<usize> = sizes
        .rev()
        .map(|size| {
            let here = left % size.max(1);
            left /= size.max(1);
            here
        })
        .collect();
    place.reverse();
    place
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
    let sizes = || design.plan.sweeps.iter().map(|s| s.values.len());
    let mut found = Vec::new();
    for code in codes {
        let with_it: Vec<usize> = (0..points.len())
            .filter(|&k| points[k].warnings.contains(&code))
            .collect();
        let place = place_in_grid(with_it[0], sizes());
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

/// Puts the points into a table: one row each.
pub fn to_table(design: &Design, points: &[Point]) -> Table {
    let mut table = Table {
        axis: "point".to_owned(),
        time: (1..=points.len()).map(|k| k as f64).collect(),
        ..Table::default()
    };
    let mut add = |name: String, unit: String, value: &dyn Fn(&Point) -> f64| {
        table.columns.push(Column {
            name,
            unit,
            values: points.iter().map(value).collect(),
        });
    };
    for (k, sweep) in design.plan.sweeps.iter().enumerate() {
        let unit = target_unit(&sweep.target);
        add(target_name(&sweep.target), unit, &|p| p.values[k]);
    }
    for (k, measure) in design.plan.measures.iter().enumerate() {
        let unit = points
            .iter()
            .find_map(|p| p.measures.get(k))
            .map(|m| m.unit.clone())
            .unwrap_or_default();
        add(measure.name.clone(), unit, &|p| {
            p.measures.get(k).and_then(|m| m.value).unwrap_or(f64::NAN)
        });
    }
    for (k, column) in design.plan.columns.iter().enumerate() {
        let unit = column
            .unit
            .as_ref()
            .map(|u| u.text.clone())
            .unwrap_or_default();
        add(format!("final {}", column.name), unit, &|p| {
            p.last.get(k).copied().unwrap_or(f64::NAN)
        });
    }
    add("energy residual".to_owned(), String::new(), &|p| p.residual);
    add("failed".to_owned(), String::new(), &|p| {
        f64::from(u8::from(p.failure.is_some()))
    });
    // What is no number stands in the table as its place in the list, which is told beside it.
    for sweep in &design.plan.sweeps {
        if !is_numeric(sweep) {
            let name = format!("values of {}", target_name(&sweep.target));
            let labels: Vec<&str> = sweep.values.iter().map(|v| v.label.as_str()).collect();
            table.metadata.push((name, labels.join(", ")));
        }
    }
    for (k, point) in points.iter().enumerate() {
        if let Some(why) = &point.failure {
            table
                .metadata
                .push((format!("failure of point {}", k + 1), why.clone()));
        }
    }
    table
}

fn is_numeric(sweep: &Sweep) -> bool {
    let is_number = |s: &SweepSetting| matches!(s, SweepSetting::Number(..));
    sweep.values.iter().all(|v| is_number(&v.setting))
}

/// The SI unit of a swept value; empty for a plain number and for what is no number.
fn target_unit(target: &SweepTarget) -> String {
    match target {
        SweepTarget::Variable { variable, .. } => variable
            .dimension
            .filter(|d| !d.is_one())
            .map_or(String::new(), |d| d.unit().text),
        _ => String::new(),
    }
}

/// Puts the points into JSON: the table, with words where a swept value is no number, and what went wrong.
pub fn to_json(design: &Design, points: &[Point], warnings: &[SharedWarning]) -> serde_json::Value {
    let mut json = to_table(design, points).to_json();
    for (k, sweep) in design.plan.sweeps.iter().enumerate() {
        if !is_numeric(sweep) {
            let labels: Vec<&str> = points.iter().map(|p| p.labels[k].as_str()).collect();
            json["columns"][k]["values"] = labels.into();
        }
    }
    let failed = points.iter().enumerate();
    let failures: Vec<serde_json::Value> = failed
        .filter_map(|(k, p)| {
            let why = p.failure.as_ref()?;
            Some(serde_json::json!({ "point": k + 1, "reason": why }))
        })
        .collect();
    let warnings: Vec<serde_json::Value> = warnings
        .iter()
        .map(|w| {
            let points: Vec<usize> = w.points.iter().map(|k| k + 1).collect();
            serde_json::json!({ "code": w.message.code, "message": w.message.message, "points": points })
        })
        .collect();
    json["model"] = design.model.clone().into();
    json["experiment"] = design.plan.name.clone().into();
    json["is_good"] = failures.is_empty().into();
    json["failures"] = failures.into();
    json["warnings"] = warnings.into();
    json
}

fn target_name(target: &SweepTarget) -> String {
    match target {
        SweepTarget::Variable { variable, .. } => variable.path.clone(),
        SweepTarget::Constraints => "constraints".to_owned(),
        SweepTarget::Method => "method".to_owned(),
        SweepTarget::Rtol => "rtol".to_owned(),
    }
}

/// Prints the points for people.
pub fn to_text(design: &Design, points: &[Point]) -> String {
    const MOST: usize = 40;
    let mut out = String::new();
    let names: Vec<String> = design
        .plan
        .sweeps
        .iter()
        .map(|s| target_name(&s.target))
        .collect();
    let measures: Vec<&str> = design
        .plan
        .measures
        .iter()
        .map(|m| m.name.as_str())
        .collect();
    for name in &names {
        out.push_str(&format!("{name:>18}"));
    }
    for (k, name) in measures.iter().enumerate() {
        let unit = points.iter().find_map(|p| p.measures.get(k));
        let unit = unit.map(|m| m.unit.as_str()).filter(|u| !u.is_empty());
        let label = match unit {
            Some(unit) => format!("{name} [{unit}]"),
            None => (*name).to_owned(),
        };
        out.push_str(&format!(" {label:>15}"));
    }
    out.push('\n');
    for point in points.iter().take(MOST) {
        for label in &point.labels {
            out.push_str(&format!("{label:>18}"));
        }
        for k in 0..measures.len() {
            let value = point.measures.get(k).and_then(|m| m.value);
            let shown = value.map_or("—".to_owned(), |x| significant(x, 8));
            out.push_str(&format!(" {shown:>15}"));
        }
        if let Some(why) = &point.failure {
            let what = if why == CANCELLED { "" } else { "failed: " };
            out.push_str(&format!("  {what}{why}"));
        }
        out.push('\n');
    }
    if points.len() > MOST {
        out.push_str(&format!("… and {} more\n", points.len() - MOST));
    }
    let n_ended = points.iter().filter(|p| p.failure.is_some()).count();
    let is_cancelled = |p: &&Point| p.failure.as_deref() == Some(CANCELLED);
    let n_cancelled = points.iter().filter(is_cancelled).count();
    let n_failed = n_ended - n_cancelled;
    out.push_str(&format!("{} runs, {n_failed} failed", points.len()));
    if n_cancelled > 0 {
        out.push_str(&format!(", {n_cancelled} cancelled"));
    }
    out.push('\n');
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_axis_varies_fastest() {
        let places: Vec<Vec<usize>> = (0..6)
            .map(|n| place_in_grid(n, [2, 3].into_iter()))
            .collect();
        assert_eq!(places[1], [0, 1]);
        assert_eq!(places[3], [1, 0]);
        assert_eq!(places[5], [1, 2]);
    }
}
