//! Runs one experiment over a grid of values, on several cores.
//!
//! In:  a design whose plan has sweeps.
//! Out: one [`Point`] for each combination, in the order of the grid: the last sweep varies fastest.
//!
//! **Invariant:** a point depends on its values alone, so the number of cores changes no bit. Parameters
//! that do not shape the graph are set in a copy of one compiled machine; anything else
//! (sizes, replaceable parts, inputs that are signals, values with which laws are other laws) is elaborated
//! anew. What a run with these values refuses or warns of, the point does too.

use crate::evaluator::{
    Anew, Settings, Shared, Worker, failure, headline, path_of, plain_parameter,
};
use crate::experiment::{Measurement, Outcome};
use paynter_design::design::{Choice, Design};
use paynter_design::sweeps::is_numeric;
use paynter_exec::Engine;
use paynter_model::experiment::{SweepSetting, SweepTarget};
use paynter_model::project::Override;
use paynter_run::table::Table;
use paynter_syntax::Diagnostic;
use std::ops::{ControlFlow, Deref, Range};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Instant;

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
    /// Whether each limit is kept; none where a side has no value.
    pub limits: Vec<Option<bool>>,
    /// Last value of every recorded column.
    pub last: Vec<f64>,
    /// Residual of the first law as a part of the energy that moved.
    pub residual: f64,
    /// Why the run failed, if it did.
    pub failure: Option<String>,
    /// Codes of what the user should know although the run went well.
    pub warnings: Vec<&'static str>,
    /// Steps of the solver.
    pub steps: usize,
    /// How long the run took, s; only where the sweep is timed, since no two clocks agree.
    pub seconds: Option<f64>,
    /// What was recorded, where the sweep keeps curves.
    pub curves: Option<Table>,
}

/// What a sweep keeps of each run beside its numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Keep {
    /// Recorded curves.
    pub curves: bool,
    /// How long it took.
    pub times: bool,
}

/// A warning that some points of a sweep have in common.
#[derive(Clone, Debug, PartialEq)]
pub struct SharedWarning {
    /// In the words of the first point that has it.
    pub message: Diagnostic,
    /// Positions of all points that have it.
    pub points: Vec<usize>,
}

pub use crate::evaluator::CANCELLED;

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
    common: Option<Arc<Shared>>,
    keep: Keep,
}

impl<D: Deref<Target = Design> + Sync> Sweeper<D> {
    /// Compiles what the points have in common.
    ///
    /// # Errors
    ///
    /// What keeps every point from starting.
    pub fn new(design: D, choice: &Choice, engine: Engine) -> Result<Self, Vec<Diagnostic>> {
        Sweeper::keeping(design, choice, engine, Keep::default())
    }

    /// As [`Sweeper::new`], with more of each run kept.
    ///
    /// # Errors
    ///
    /// What keeps every point from starting.
    pub fn keeping(
        design: D,
        choice: &Choice,
        engine: Engine,
        keep: Keep,
    ) -> Result<Self, Vec<Diagnostic>> {
        let refused = paynter_design::unsupported::in_plan(&design.plan);
        if !refused.is_empty() {
            return Err(refused);
        }
        let mut common = compile_once(&design, engine)?;
        if let Some(shared) = common.as_mut().filter(|_| keep.curves) {
            shared.keep_rows();
        }
        // A point that is elaborated anew is not a sweep itself.
        let choice = Choice {
            sweep: None,
            ..choice.clone()
        };
        Ok(Sweeper {
            design,
            choice,
            engine,
            common: common.map(Arc::new),
            keep,
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
            let mut own = self.common.as_deref().map(Worker::new);
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
        own: Option<&mut Worker>,
        may_go_on: &dyn Fn() -> ControlFlow<()>,
    ) -> Point {
        let design = &*self.design;
        let place = design.plan.place(number);
        let both = self.common.as_deref().zip(own);
        let fitting = both.and_then(|(common, own)| {
            let fits = own.can_take(common, &numbers_at(design, &place));
            fits.then_some((common, own))
        });
        let began = self.keep.times.then(Instant::now);
        let point = match fitting {
            _ if may_go_on().is_break() => Point {
                failure: Some(CANCELLED.to_owned()),
                ..empty_point(design, &place)
            },
            Some(both) => fast_point(design, both, &place, may_go_on),
            None => {
                let mut point = slow_point(design, &self.choice, self.engine, &place, may_go_on);
                point.curves = point.curves.filter(|_| self.keep.curves);
                point
            }
        };

        let seconds = began.map(|t| t.elapsed().as_secs_f64());
        Point {
            number,
            seconds,
            ..point
        }
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
            keep: self.keep,
        })
    }
}

/// Compiles one machine for all points, if every swept value is a plain parameter.
fn compile_once(design: &Design, engine: Engine) -> Result<Option<Shared>, Vec<Diagnostic>> {
    let mut symbols = Vec::new();
    for sweep in &design.plan.sweeps {
        let SweepTarget::Variable { variable, .. } = &sweep.target else {
            return Ok(None);
        };
        match plain_parameter(design, &variable.path) {
            Some(symbol) if is_numeric(sweep) => symbols.push(symbol),
            _ => return Ok(None),
        }
    }
    Shared::new(design, symbols, engine)
}

/// The parameters of a point; places of what is not a number are left out.
fn numbers_at(design: &Design, place: &[usize]) -> Vec<f64> {
    let chosen = design.plan.sweeps.iter().zip(place);
    let numbers = chosen.filter_map(|(sweep, &at)| match sweep.values[at].setting {
        SweepSetting::Number(value, _) => Some(value),
        _ => None,
    });
    numbers.collect()
}

/// Runs one point on a worker's own copy of the machine, whose parameters are set.
fn fast_point(
    design: &Design,
    (shared, worker): (&Shared, &mut Worker),
    place: &[usize],
    may_go_on: &dyn Fn() -> ControlFlow<()>,
) -> Point {
    let ran = worker.run(design, shared, may_go_on);
    Point {
        measures: ran.measures,
        limits: ran.limits,
        last: ran.last,
        residual: ran.residual,
        failure: ran.failure.map(|(_, why)| why),
        warnings: ran.warnings,
        steps: ran.steps,
        curves: ran.table,
        ..empty_point(design, place)
    }
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
        Err(messages) => summarise(design, place, Err(headline(&messages).1)),
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
        ..Settings::default()
    };
    (changes, settings)
}

fn elaborate_and_run(
    design: &Design,
    choice: &Choice,
    engine: Engine,
    place: &[usize],
    may_go_on: &dyn Fn() -> ControlFlow<()>,
) -> Result<Outcome, Vec<Diagnostic>> {
    let (changes, settings) = changes_at(design, place);
    let anew = Anew {
        design,
        choice,
        engine,
    };
    anew.run(&changes, &settings, may_go_on)
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
        limits: Vec::new(),
        last: Vec::new(),
        residual: f64::NAN,
        failure: None,
        warnings: Vec::new(),
        steps: 0,
        seconds: None,
        curves: None,
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
            failure: failure(&outcome.run.ending).map(|(_, why)| why),
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
                .map_or(0.0, paynter_run::audit::Audit::relative),
            measures: outcome.measures,
            limits: outcome.limits,
            warnings: distinct(outcome.warnings.iter().map(|m| m.code)),
            steps: outcome.run.statistics.steps,
            curves: Some(outcome.run.table),
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
