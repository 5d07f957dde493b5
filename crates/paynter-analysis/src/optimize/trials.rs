//! A model as a function of the unit cube.
//!
//! In:  the experiments that count, one combination of choices, and what is searched between bounds.
//! Out: [`Trials`], a [`Problem`]: aim and constraints at a point, from runs of every experiment.
//!
//! Models whose equations stay the same are compiled once. What has no value is counted by reason.

use super::cases::Case;
use super::choices::{Combination, change};
use super::{Progress, Watch};
use crate::evaluator::{
    Anew, CANCELLED, Gradients, Here, Ran, SearchSlopes, Settings, Shared, Worker, plain_parameter,
};
use crate::experiment::SearchValues;
use crate::linear::Varying;
use paynter_design::design::{Choice, Design, DesignError};
use paynter_exec::Engine;
use paynter_model::experiment::{Cases, Condition, Searched, Varied};
use paynter_model::project::Override;
use paynter_optimize::dense::Dense;
use paynter_optimize::problem::Slopes;
use paynter_optimize::{Evaluation, Problem, Trial};
use paynter_symbolic::{Comparison, Role};
use paynter_syntax::Diagnostic;
use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Bounds further apart than this factor are searched on a logarithmic scale.
const DECADES: f64 = 100.0;
/// Tolerance of runs whose experiment gives none: differences of aims must mean something.
const RTOL: f64 = 1e-9;
/// A run that takes this many times the steps of the first one is given up …
const MORE_STEPS: usize = 50;
/// … but never before this many.
const FEWEST_STEPS: usize = 20_000;

/// Both sides of an equality may differ by this part of its limit, or of one unit where the limit is zero.
pub(super) const EQUAL: f64 = 1e-6;

/// A quantity between two bounds.
#[derive(Clone)]
pub(crate) struct Axis {
    pub varied: Varied,
    pub low: f64,
    pub high: f64,
    pub is_logarithmic: bool,
}

impl Axis {
    pub(crate) fn new(varied: &Varied) -> Self {
        let Searched::Between(low, high) = varied.range else {
            unreachable!("choices were taken out");
        };
        Axis {
            varied: varied.clone(),
            low,
            high,
            is_logarithmic: low > 0.0 && high / low >= DECADES,
        }
    }

    /// The value at a part of the way from bound to bound.
    pub(crate) fn value(&self, part: f64) -> f64 {
        self.extended(part).clamp(self.low, self.high)
    }

    /// The same beyond the bounds.
    pub(crate) fn extended(&self, part: f64) -> f64 {
        if self.is_logarithmic {
            self.low * (self.high / self.low).powf(part)
        } else {
            self.low + part * (self.high - self.low)
        }
    }

    /// How fast the value grows with the part of the way, SI.
    pub(crate) fn slope(&self, part: f64) -> f64 {
        if self.is_logarithmic {
            self.value(part) * (self.high / self.low).ln()
        } else {
            self.high - self.low
        }
    }

    fn part(&self, value: f64) -> Option<f64> {
        let part = if self.is_logarithmic {
            (value / self.low).ln() / (self.high / self.low).ln()
        } else {
            (value - self.low) / (self.high - self.low)
        };
        (0.0..=1.0).contains(&part).then_some(part)
    }
}

/// The values that a model has now, as parts of their ranges; none where one lies outside.
pub(crate) fn present_values(design: &Design, axes: &[Axis]) -> Option<Vec<f64>> {
    let dae = &design.graph.signals;
    let present = |axis: &Axis| {
        let path = &axis.varied.variable.path;
        let is_it = |s: &&paynter_symbolic::Symbol| dae.names.display(s.name) == *path;
        let symbol = dae.symbols.iter().find(is_it)?;
        match symbol.role {
            Role::Parameter { value, .. } => axis.part(value),
            _ => None,
        }
    };
    axes.iter().map(present).collect()
}

/// One experiment, ready to be run with many values.
struct Runner<'a> {
    case: &'a Case,
    /// With the choices made.
    design: Design,
    shared: Option<Shared>,
    /// What slopes are read off, or why they are differences.
    gradients: Result<Gradients, String>,
    idle: Mutex<Vec<Worker>>,
}

/// Compiles what slopes are read off.
fn gradients(design: &Design, shared: Option<&Shared>, axes: &[Axis]) -> Result<Gradients, String> {
    let shared = shared.ok_or("other values make another model")?;
    let varying = axes.iter().map(|axis| Varying {
        name: axis.varied.variable.path.clone(),
        symbol: plain_parameter(design, &axis.varied.variable.path),
        unit: None,
        span: axis.varied.span,
    });
    Gradients::new(design, shared, &varying.collect::<Vec<_>>())
}

/// Where the slopes of a search came from: at how many points, and why not all of them are exact.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SlopeSources {
    /// From the variational equations of the run.
    pub n_exact: usize,
    /// From differences of runs.
    pub n_differences: usize,
    /// Why differences were needed, by how often.
    pub reasons: BTreeMap<String, usize>,
}

impl SlopeSources {
    /// Adds those of another search.
    pub(super) fn add(&mut self, other: SlopeSources) {
        self.n_exact += other.n_exact;
        self.n_differences += other.n_differences;
        for (why, n) in other.reasons {
            *self.reasons.entry(why).or_default() += n;
        }
    }
}

/// Why points have no value: code and an example, by how many.
pub(super) type Reasons = BTreeMap<String, (String, usize)>;

/// Which of several aims is made small, and which is kept below a value meanwhile.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Stance {
    pub aim: usize,
    /// As a number to be made small.
    pub limit: Option<(usize, f64)>,
}

/// All aims as numbers to be made small, and all constraints, at one point.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Values {
    pub aims: Vec<f64>,
    pub constraints: Vec<f64>,
}

impl Values {
    fn seen_from(&self, stance: Stance) -> Evaluation {
        let mut constraints = self.constraints.clone();
        constraints.extend(stance.limit.map(|(k, most)| self.aims[k] - most));
        Evaluation {
            aim: self.aims[stance.aim],
            constraints,
        }
    }
}

/// A point of the unit cube and its values.
type Logged = (Vec<f64>, Values);

/// A function of the unit cube.
pub(super) struct Trials<'a> {
    /// What is asked just now.
    pub stance: Stance,
    /// The size of a limited aim.
    pub limit_size: Option<f64>,
    /// Every point that has values, where somebody wants them all.
    pub log: Option<Mutex<Vec<Logged>>>,
    pub axes: Vec<Axis>,
    runners: Vec<Runner<'a>>,
    fixed: Vec<Override>,
    choice: &'a Choice,
    engine: Engine,
    settings: Settings,
    reasons: Mutex<Reasons>,
    n_runs: AtomicUsize,
    /// Where slopes came from.
    sources: Mutex<SlopeSources>,
    best: Mutex<Option<(f64, bool)>>,
    /// Sizes of the limits of all conditions, SI, where they are not zero.
    sizes: Vec<Option<f64>>,
    /// How far both sides of an equality may differ, SI; zero for other conditions.
    rooms: Vec<f64>,
}

impl<'a> Trials<'a> {
    /// Makes the choices and compiles.
    ///
    /// # Errors
    ///
    /// What keeps the model with these choices from being compiled.
    pub(super) fn new(
        cases: &'a [Case],
        combination: &Combination,
        (choice, engine): (&'a Choice, Engine),
    ) -> Result<Self, Vec<Diagnostic>> {
        let axes: Vec<Axis> = combination.open.iter().map(Axis::new).collect();
        let mut runners = Vec::new();
        for case in cases {
            let design = match combination.changes.is_empty() {
                true => case.design.clone(),
                false => with_changes(case, choice, &combination.changes)?,
            };
            let plain = |a: &Axis| plain_parameter(&design, &a.varied.variable.path);
            let symbols: Option<Vec<_>> = axes.iter().map(plain).collect();
            let shared = match symbols {
                Some(symbols) => Shared::new(&design, symbols, engine)?,
                None => None,
            };
            runners.push(Runner {
                case,
                gradients: gradients(&design, shared.as_ref(), &axes),
                design,
                shared,
                idle: Mutex::new(Vec::new()),
            });
        }

        let plan = &cases[0].design.plan;
        let has_tolerance = plan.places.words.iter().any(|w| w.0 == "rtol");
        let mut trials = Trials {
            stance: Stance::default(),
            limit_size: None,
            log: None,
            axes,
            runners,
            fixed: combination.changes.clone(),
            choice,
            engine,
            settings: Settings {
                rtol: (!has_tolerance).then(|| plan.rtol.min(RTOL)),
                ..Settings::default()
            },
            reasons: Mutex::new(Reasons::new()),
            n_runs: AtomicUsize::new(0),
            sources: Mutex::new(SlopeSources::default()),
            best: Mutex::new(None),
            sizes: Vec::new(),
            rooms: Vec::new(),
        };

        trials.set();
        trials.look();
        Ok(trials)
    }

    fn set(&mut self) {
        for runner in &mut self.runners {
            if let Some(shared) = &mut runner.shared {
                shared.set(&self.settings);
            }
        }
    }

    /// Runs once in the middle, or at the present values, to learn how many steps a run takes and how large limits are.
    fn look(&mut self) {
        let x = self.nominal().unwrap_or_else(|| vec![0.5; self.axes.len()]);
        let values = self.values(&x);
        let go_on = || ControlFlow::Continue(());
        let mut most = 0;
        for k in 0..self.runners.len() {
            let ran = self.run(k, &values, &go_on);
            most = most.max(ran.steps);
            let plan = &self.runners[k].design.plan;
            let n = plan.optimize.as_ref().map_or(0, |s| s.conditions.len());
            let found = ran.search.map_or(Vec::new(), |s| s.conditions);
            let size = |j: usize| {
                let limit = found.get(j)?.1?.abs();
                (limit > 0.0 && limit.is_finite()).then_some(limit)
            };
            let sizes: Vec<Option<f64>> = (0..n).map(size).collect();
            let conditions = plan.optimize.iter().flat_map(|s| &s.conditions);
            let rooms = conditions.zip(&sizes).map(|(c, size)| room_of(c, *size));
            self.rooms.extend(rooms);
            self.sizes.extend(sizes);
        }
        let is_limited = self
            .runners
            .iter()
            .all(|r| r.design.plan.max_steps.is_some());
        if !is_limited {
            self.settings.max_steps = Some((MORE_STEPS * most).max(FEWEST_STEPS));
            self.set();
        }
        for runner in &mut self.runners {
            runner.idle = Mutex::new(Vec::new());
        }
    }

    /// The present values, where they lie between the bounds.
    pub(super) fn nominal(&self) -> Option<Vec<f64>> {
        present_values(&self.runners[0].design, &self.axes)
    }

    pub(super) fn n_runs(&self) -> usize {
        self.n_runs.load(Ordering::Relaxed)
    }

    /// Where slopes came from.
    pub(super) fn sources(&self) -> SlopeSources {
        let sources = self.sources.lock().expect("no thread panics with it");
        sources.clone()
    }

    pub(super) fn reasons(&self) -> Reasons {
        self.reasons
            .lock()
            .expect("no thread panics with it")
            .clone()
    }

    /// Searches while somebody looks on.
    pub(super) fn watched<R>(
        &mut self,
        watch: Watch<'_>,
        work: impl FnOnce(&Watched<'_, 'a>) -> R,
    ) -> R {
        work(&Watched {
            trials: self,
            watch,
        })
    }

    /// Values of the searched quantities at a point.
    pub(super) fn values(&self, x: &[f64]) -> Vec<f64> {
        self.axes.iter().zip(x).map(|(a, x)| a.value(*x)).collect()
    }

    /// Names of the experiments, where there are several.
    pub(super) fn case_names(&self) -> Vec<Option<String>> {
        self.runners.iter().map(|r| r.case.name.clone()).collect()
    }

    /// How far both sides of an equality may differ, SI; zero for other conditions.
    pub(super) fn room(&self, constraint: usize) -> f64 {
        self.rooms.get(constraint).copied().unwrap_or(0.0)
    }

    /// The limit of a condition at a point, SI.
    pub(super) fn limits_at(&self, x: &[f64]) -> Vec<f64> {
        let all = (0..self.runners.len()).flat_map(|k| {
            let ran = self.run(k, &self.values(x), &|| ControlFlow::Continue(()));
            let conditions = ran.search.map_or(Vec::new(), |s| s.conditions);
            conditions
                .into_iter()
                .map(|c| c.1.unwrap_or(f64::NAN))
                .collect::<Vec<_>>()
        });
        all.collect()
    }

    /// What the first experiment gives at a point.
    pub(super) fn again(&self, x: &[f64]) -> Ran {
        self.run(0, &self.values(x), &|| ControlFlow::Continue(()))
    }

    /// Runs one experiment.
    fn run(&self, k: usize, values: &[f64], may_go_on: &dyn Fn() -> ControlFlow<()>) -> Ran {
        let runner = &self.runners[k];
        if let Some(shared) = &runner.shared {
            let idle = runner.idle.lock().expect("no thread panics with it").pop();
            let mut worker = idle.unwrap_or_else(|| Worker::new(shared));
            let ran = worker
                .can_take(shared, values)
                .then(|| worker.run(&runner.design, shared, may_go_on));
            runner
                .idle
                .lock()
                .expect("no thread panics with it")
                .push(worker);
            if let Some(ran) = ran {
                return ran;
            }
        }
        let mut changes = self.fixed.clone();
        let open = self.axes.iter().zip(values);
        changes.extend(open.map(|(axis, v)| change(&axis.varied, axis.varied.expression(*v))));
        let choice = with_experiment(&runner.case.design, self.choice);
        let anew = Anew {
            design: &runner.case.design,
            choice: &choice,
            engine: self.engine,
        };
        anew.ran(&changes, &self.settings, may_go_on)
    }

    fn evaluate(&self, x: &[f64], watch: Watch<'_>) -> Trial {
        let progress = || Progress {
            n_runs: self.n_runs(),
            best: *self.best.lock().expect("no thread panics with it"),
        };
        let may_go_on = || watch(&progress());
        if may_go_on().is_break() {
            return Trial::Ended;
        }

        let values = self.values(x);
        let mut found = Vec::new();
        for k in 0..self.runners.len() {
            let ran = self.run(k, &values, &may_go_on);
            self.n_runs.fetch_add(1, Ordering::Relaxed);
            if ran.failure.as_ref().is_some_and(|f| f.1 == CANCELLED) {
                return Trial::Ended;
            }
            match self.read(k, ran) {
                Ok(one) => found.push(one),
                Err((reason, example)) => {
                    let mut reasons = self.reasons.lock().expect("no thread panics with it");
                    let entry = reasons.entry(reason).or_insert((example.clone(), 0));
                    // Whichever thread comes first: the example is the same.
                    entry.0 = entry.0.clone().min(example);
                    entry.1 += 1;
                    return Trial::Bad;
                }
            }
        }

        let values = self.combined(&found);
        let value = values.seen_from(self.stance);
        self.note(&value);
        if let Some(log) = &self.log {
            let mut log = log.lock().expect("no thread panics with it");
            log.push((x.to_vec(), values));
        }
        Trial::Good(value)
    }

    /// Exact slopes of aim and constraints by the coordinates of the cube; none where the model has none there.
    fn exact_slopes(&self, x: &[f64], watch: Watch<'_>) -> Option<Slopes> {
        let progress = Progress {
            n_runs: self.n_runs(),
            best: *self.best.lock().expect("no thread panics with it"),
        };
        if watch(&progress).is_break() {
            return None;
        }
        let values = self.values(x);
        let units: Vec<f64> = self.axes.iter().zip(x).map(|(a, x)| a.slope(*x)).collect();
        let here = Here {
            values: &values,
            units: &units,
        };
        let cases = (0..self.runners.len()).map(|k| self.graded(k, here));
        let cases: Result<Vec<SearchSlopes>, String> = cases.collect();
        let mut sources = self.sources.lock().expect("no thread panics with it");
        match cases {
            Ok(cases) => {
                sources.n_exact += 1;
                drop(sources);
                Some(self.combined_slopes(&cases))
            }
            Err(why) => {
                sources.n_differences += 1;
                *sources.reasons.entry(why).or_default() += 1;
                None
            }
        }
    }

    /// Aims and conditions of one experiment with their slopes.
    fn graded(&self, k: usize, here: Here<'_>) -> Result<SearchSlopes, String> {
        let runner = &self.runners[k];
        let gradients = runner.gradients.as_ref().map_err(String::clone)?;
        let shared = runner.shared.as_ref().expect("it has gradients");
        let idle = runner.idle.lock().expect("no thread panics with it").pop();
        let mut worker = idle.unwrap_or_else(|| Worker::new(shared));
        let graded = worker.slopes(&runner.design, (shared, gradients), here);
        let mut idle = runner.idle.lock().expect("no thread panics with it");
        idle.push(worker);
        self.n_runs.fetch_add(1, Ordering::Relaxed);
        graded
    }

    /// Slopes of the worst case or of the mean, and of all constraints, as [`Trials::combined`] has the values.
    fn combined_slopes(&self, cases: &[SearchSlopes]) -> Slopes {
        let search = self.runners[0].design.plan.optimize.as_ref();
        let search = search.expect("every case has the search");
        let weights: Vec<f64> = self.runners.iter().map(|r| r.case.weight).collect();
        let aim = |k: usize| {
            let sign = if search.aims[k].is_small { 1.0 } else { -1.0 };
            let of_case = |c: &SearchSlopes, w: f64| -> Vec<f64> {
                c.aims[k].slopes.iter().map(|s| w * sign * s).collect()
            };
            if matches!(search.cases, Cases::Mean(_)) {
                let total: f64 = weights.iter().sum();
                let each = cases.iter().zip(&weights);
                each.map(|(c, w)| of_case(c, w / total))
                    .reduce(|a, b| a.iter().zip(&b).map(|(a, b)| a + b).collect())
            } else {
                let worse = |a: &&SearchSlopes, b: &&SearchSlopes| {
                    (sign * a.aims[k].value).total_cmp(&(sign * b.aims[k].value))
                };
                cases.iter().max_by(worse).map(|c| of_case(c, 1.0))
            }
            .unwrap_or_default()
        };

        let mut rows: Vec<Vec<f64>> = Vec::new();
        for case in cases {
            for (condition, (left, right)) in search.conditions.iter().zip(&case.conditions) {
                let sign = side(condition.comparison, left.value - right.value);
                let pairs = left.slopes.iter().zip(&right.slopes);
                rows.push(pairs.map(|(l, r)| sign * (l - r)).collect());
            }
        }

        rows.extend(self.stance.limit.map(|(k, _)| aim(k)));
        let n = self.axes.len();
        Slopes {
            aim: aim(self.stance.aim),
            constraints: Dense {
                n_rows: rows.len(),
                n_columns: n,
                entries: rows.concat(),
            },
        }
    }

    /// Aim and constraints of one experiment; a reason and an example where there are none.
    fn read(&self, k: usize, ran: Ran) -> Result<Values, (String, String)> {
        if let Some((code, why)) = ran.failure {
            return Err((format!("failed {code}"), format!("the run failed: {why}")));
        }
        let search = self.runners[k].design.plan.optimize.as_ref();
        let search = search.expect("every case has the search");
        let SearchValues { aims, conditions } =
            ran.search.expect("a plan with a search computes it");
        let missing = |text: &str| {
            let why = format!("`{text}` has no value");
            (why.clone(), why)
        };
        let mut small = Vec::new();
        for (aim, value) in search.aims.iter().zip(aims) {
            let value = value.filter(|v| v.is_finite());
            let value = value.ok_or_else(|| missing(&aim.text))?;
            small.push(if aim.is_small { value } else { -value });
        }

        let mut constraints = Vec::new();
        let first = k * search.conditions.len();
        for (j, (condition, sides)) in search.conditions.iter().zip(conditions).enumerate() {
            let (Some(left), Some(right)) = sides else {
                return Err(missing(&condition.texts.0));
            };
            let violation =
                side(condition.comparison, left - right) * (left - right) - self.room(first + j);
            if violation.is_nan() {
                return Err(missing(&condition.texts.0));
            }
            constraints.push(violation);
        }

        Ok(Values {
            aims: small,
            constraints,
        })
    }

    /// The worst, or the weighted mean, of all experiments; constraints of all.
    fn combined(&self, found: &[Values]) -> Values {
        let search = self.runners[0].design.plan.optimize.as_ref();
        let is_mean = search.is_some_and(|s| matches!(s.cases, Cases::Mean(_)));
        let weights = || self.runners.iter().map(|r| r.case.weight);
        let aim = |k: usize| {
            let each = found.iter().map(|v| v.aims[k]);
            if is_mean {
                let sum: f64 = each.zip(weights()).map(|(aim, w)| w * aim).sum();
                sum / weights().sum::<f64>()
            } else {
                each.fold(f64::NEG_INFINITY, f64::max)
            }
        };
        let n_aims = found.first().map_or(0, |v| v.aims.len());
        Values {
            aims: (0..n_aims).map(aim).collect(),
            constraints: found.iter().flat_map(|e| e.constraints.clone()).collect(),
        }
    }

    /// Keeps the best value for whoever looks on.
    fn note(&self, value: &Evaluation) {
        let search = self.runners[0].design.plan.optimize.as_ref();
        let aim = &search.expect("every case has the search").aims[self.stance.aim];
        let si = if aim.is_small { value.aim } else { -value.aim };
        let shown = aim.unit.as_ref().map_or(si, |u| u.from_si(si));
        let is_feasible = value.is_feasible();
        let mut best = self.best.lock().expect("no thread panics with it");
        let is_better = match *best {
            None => true,
            Some((_, false)) => is_feasible,
            Some((old, true)) => {
                is_feasible
                    && if aim.is_small {
                        shown < old
                    } else {
                        shown > old
                    }
            }
        };
        if is_better {
            *best = Some((shown, is_feasible));
        }
    }
}

/// How far both sides of an equality may differ, by the size of its limit.
fn room_of(condition: &Condition, size: Option<f64>) -> f64 {
    let one = condition.unit.as_ref().map_or(1.0, |unit| unit.factor);
    match condition.is_half {
        true => EQUAL * size.unwrap_or(one),
        false => 0.0,
    }
}

/// Which sign of left − right violates a condition.
fn side(comparison: Comparison, difference: f64) -> f64 {
    match comparison {
        Comparison::Less | Comparison::LessEqual => 1.0,
        Comparison::Greater | Comparison::GreaterEqual => -1.0,
        Comparison::Equal | Comparison::NotEqual => difference.signum(),
    }
}

/// A choice that names the experiment of a design.
fn with_experiment(design: &Design, choice: &Choice) -> Choice {
    Choice {
        experiment: design
            .plan
            .name
            .clone()
            .or_else(|| choice.experiment.clone()),
        ..choice.clone()
    }
}

fn with_changes(
    case: &Case,
    choice: &Choice,
    changes: &[Override],
) -> Result<Design, Vec<Diagnostic>> {
    let choice = with_experiment(&case.design, choice);
    case.design.varied(&choice, changes).map_err(|e| match e {
        DesignError::Unreadable(_) => unreachable!("no file is read"),
        DesignError::Model(failed) => failed.diagnostics,
    })
}

/// Trials that somebody looks on.
pub(super) struct Watched<'w, 'a> {
    trials: &'w Trials<'a>,
    watch: Watch<'w>,
}

impl<'a> std::ops::Deref for Watched<'_, 'a> {
    type Target = Trials<'a>;
    fn deref(&self) -> &Trials<'a> {
        self.trials
    }
}

impl Problem for Watched<'_, '_> {
    fn n_variables(&self) -> usize {
        self.trials.axes.len()
    }

    fn n_constraints(&self) -> usize {
        let each = self.trials.runners.iter().map(|r| {
            let search = r.design.plan.optimize.as_ref();
            search.map_or(0, |s| s.conditions.len())
        });
        each.sum::<usize>() + usize::from(self.trials.stance.limit.is_some())
    }

    fn evaluate(&self, x: &[f64]) -> Trial {
        self.trials.evaluate(x, self.watch)
    }

    fn slopes(&self, x: &[f64]) -> Option<Slopes> {
        self.trials.exact_slopes(x, self.watch)
    }

    fn constraint_sizes(&self) -> Vec<Option<f64>> {
        let mut sizes = self.trials.sizes.clone();
        sizes.extend(self.trials.stance.limit.map(|_| self.trials.limit_size));
        sizes
    }

    fn room(&self, constraint: usize) -> f64 {
        match self.trials.room(constraint) {
            0.0 => f64::INFINITY,
            room => room,
        }
    }
}
