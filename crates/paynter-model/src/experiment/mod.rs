//! What an experiment asks for, as a plain [`Plan`].
//!
//! In:  an [`ast::Experiment`], and a [`Scope`] that reads expressions in the model it is of.
//! Out: a [`Plan`] in SI, everything checked, including what only later work executes.
//!
//! `with`, `start` and `guess` change the model or its start and are read by `elaborate`;
//! they leave no trace here.
//!
//! **Invariant:** times and tolerances are finite and in order; every expression of the plan
//! is in the pool of the graph; what could not be read is missing here and has a message.

mod columns;
mod draws;
mod elaborated;
mod fits;
mod measures;
mod recorded;
mod searches;
mod settings;
mod studies;

pub use paynter_solve::Method;
use paynter_symbolic::{Comparison, ExprId, Function1, Function2, Pool, SymbolId};
use paynter_syntax::{Diagnostic, Span, ast};

use crate::units::{Dimension, Unit};

pub use columns::{default_columns, default_plan};
pub use draws::{Correlated, Distribution, Drawn, Spread};
pub use elaborated::{default_inputs, plan, quantities, with_sweeps};

/// Reads expressions in the scope of the model that an experiment is of.
pub trait Scope {
    /// Gives the meaning of an expression; `None` if it has none and that was reported.
    fn read(&mut self, e: &ast::Expr) -> Option<Read>;

    /// Gives the value of an expression that does not change during a run.
    fn constant(&mut self, e: ExprId) -> Option<f64>;

    /// Tells whether an expression has such a value, without making use of it.
    fn is_constant(&mut self, e: ExprId) -> bool {
        self.constant(e).is_some()
    }

    /// Finds what `with` may set and a sweep may vary; `None` if there is none and that was
    /// reported.
    fn variable(&mut self, target: &ast::Ref) -> Option<SettableValue>;

    /// Tells whether the model has something of this name.
    fn knows(&mut self, name: &ast::Ident) -> bool;

    /// Gives the text under a span.
    fn text(&self, span: Span) -> String;

    /// The pool of the model.
    fn pool(&mut self) -> &mut Pool;

    /// Takes a message.
    fn report(&mut self, diagnostic: Diagnostic);
}

/// A lowered expression.
#[derive(Clone, Debug, PartialEq)]
pub struct Read {
    /// Its numbers with the endings of their names: `""` for one number, `[2]`, `[1,3]`.
    pub entries: Vec<(String, ExprId)>,
    /// What they measure, where known.
    pub dimension: Option<Dimension>,
    /// The unit that the name is shown in, where one was declared.
    pub unit: Option<Unit>,
}

/// Something that an experiment may set.
#[derive(Clone, Debug, PartialEq)]
pub struct SettableValue {
    /// Its dotted path.
    pub path: String,
    /// What it measures, where known.
    pub dimension: Option<Dimension>,
    /// A replaceable part: its values are models.
    pub is_part: bool,
    /// The unit that it was declared with.
    pub unit: Option<Box<Unit>>,
}

/// What is to be done.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// Name of the experiment; none for a model alone.
    pub name: Option<String>,
    /// First time, s.
    pub start: f64,
    /// Last time, s.
    pub stop: f64,
    /// Nobody gave the last time; it is a guess.
    pub is_stop_default: bool,
    /// How to integrate.
    pub method: Method,
    /// Step of methods with a fixed step, s.
    pub fixed_step: Option<f64>,
    /// Relative tolerance.
    pub rtol: f64,
    /// Absolute tolerance in SI; none takes it from the sizes of the variables.
    pub atol: Option<f64>,
    /// Distance of output points, s; none lets the engine choose.
    pub output_step: Option<f64>,
    /// First output point, s; none means the start.
    pub output_start: Option<f64>,
    /// Largest step, s.
    pub max_step: Option<f64>,
    /// Steps after which a run is stopped.
    pub max_steps: Option<usize>,
    /// First step, s.
    pub initial_step: Option<f64>,
    /// How locks are enforced.
    pub constraints: Constraints,
    /// States of the storages that `delayed(…)` names; empty means all that depend on others.
    pub delayed: Vec<SymbolId>,
    /// The gain to use for quantisers of sampled blocks in linear models.
    pub quantiser_gain: Option<f64>,
    /// Recorded columns; empty means the default of [`default_columns`].
    pub columns: Vec<Column>,
    /// Pictures.
    pub plots: Vec<Plot>,
    /// Numbers read off the curves.
    pub measures: Vec<Measured>,
    /// Runs to repeat with other values; several make a grid, the last varies fastest.
    pub sweeps: Vec<Sweep>,
    /// The sweeps are not a grid: all take their first values, then all their second ones, and so on.
    pub is_paired: bool,
    /// Values to search.
    pub optimize: Option<Optimize>,
    /// Values to find from data.
    pub fit: Option<Fit>,
    /// What runs of a sample should keep.
    pub limits: Vec<Condition>,
    /// Other experiments of the file that measures compare with.
    pub named_runs: Vec<NamedRun>,
    /// Files to compare with.
    pub comparisons: Vec<Comparing>,
    /// Quantities whose values at rest are searched.
    pub trim: Vec<Quantity>,
    /// Linear models to make.
    pub linearize: Vec<Linearize>,
    /// Where things are in the text.
    pub places: Places,
}

impl Plan {
    /// Number of runs that the sweeps ask for.
    pub fn n_points(&self) -> usize {
        match self.is_paired {
            true => {
                let sizes = self.sweeps.iter().map(|s| s.values.len());
                sizes.min().unwrap_or(0)
            }
            false => {
                let mut sizes = self.axes().map(|(_, size)| size);
                sizes.try_fold(1, usize::checked_mul).unwrap_or(usize::MAX)
            }
        }
    }

    /// The axes of the grid, each a sweep and the number of its values; all drawn ones together are one.
    fn axes(&self) -> impl DoubleEndedIterator<Item = (usize, usize)> {
        let leader = self.drawn();
        let sweeps = self.sweeps.iter().enumerate();
        let counted = sweeps.filter(move |(k, s)| s.drawn.is_none() || Some(*k) == leader);
        counted.map(|(k, s)| (k, s.values.len()))
    }

    /// The first sweep that is drawn.
    fn drawn(&self) -> Option<usize> {
        self.sweeps.iter().position(|s| s.drawn.is_some())
    }

    /// Position on each sweep of run `number`; in a grid the last sweep varies fastest.
    pub fn place(&self, number: usize) -> Vec<usize> {
        if self.is_paired {
            return vec![number; self.sweeps.len()];
        }
        let mut left = number;
        let mut place = vec![0; self.sweeps.len()];
        for (k, size) in self.axes().rev() {
            place[k] = left % size.max(1);
            left /= size.max(1);
        }
        if let Some(leader) = self.drawn() {
            for (k, sweep) in self.sweeps.iter().enumerate() {
                if sweep.drawn.is_some() {
                    place[k] = place[leader];
                }
            }
        }
        place
    }
}

/// Where the statements of an experiment are, by their first word; for messages about a run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Places {
    /// The name of the experiment, or of the model that runs without one.
    pub whole: Option<Span>,
    /// `stop`, `method`, `trim`, … and recorded columns as `record NAME`.
    pub words: Vec<(String, Span)>,
}

impl Places {
    /// Finds the first of these words that the experiment has, or else the whole.
    pub fn of(&self, words: &[&str]) -> Option<Span> {
        let find = |word: &&str| self.words.iter().find(|(w, _)| w == word);
        let found = words.iter().find_map(find);
        found.map(|(_, span)| *span).or(self.whole)
    }
}

/// Length of a run nobody gave: a guess that shows something for most small models.
pub const DEFAULT_STOP: f64 = 1.0;
/// Relative tolerance nobody gave: curves are right to well below the width of a line.
pub const DEFAULT_RTOL: f64 = 1e-6;

impl Default for Plan {
    fn default() -> Self {
        Plan {
            name: None,
            start: 0.0,
            stop: DEFAULT_STOP,
            is_stop_default: true,
            method: Method::Auto,
            fixed_step: None,
            rtol: DEFAULT_RTOL,
            atol: None,
            output_step: None,
            output_start: None,
            max_step: None,
            max_steps: None,
            quantiser_gain: None,
            initial_step: None,
            constraints: Constraints::Auto,
            delayed: Vec::new(),
            columns: Vec::new(),
            plots: Vec::new(),
            measures: Vec::new(),
            sweeps: Vec::new(),
            is_paired: false,
            optimize: None,
            fit: None,
            limits: Vec::new(),
            named_runs: Vec::new(),
            comparisons: Vec::new(),
            trim: Vec::new(),
            linearize: Vec::new(),
            places: Places::default(),
        }
    }
}

/// How locks (`Sf(0, position = …)`) are enforced.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Constraints {
    /// Dependent storages where one choice of them is safe, multipliers else.
    Auto,
    /// As few coordinates as the mechanism has freedoms.
    Minimal,
    /// All coordinates with multipliers, kept on the positions.
    Multiplier,
    /// Stiff springs and dampers.
    Parasitic(Parasitic),
    /// Storages that depend on others, as causality has them.
    Implicit,
    /// Dependent storages differentiate with a delay of one step (Tiernego & van Dixhoorn 1979); which: [`Plan::delayed`].
    Delayed,
}

/// Springs and dampers in the place of locks, in SI units.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Parasitic {
    /// Stiffness of all locks, N/m and N·m/rad; from inertias and `time` where none is given.
    pub k: Option<f64>,
    /// Damping of all locks, N·s/m and N·m·s/rad.
    pub b: Option<f64>,
    /// Stiffness of locks that hold rotations, where another one is given.
    pub k_turn: Option<f64>,
    /// Their damping.
    pub b_turn: Option<f64>,
    /// The time in which a spring swings, s; where none is given, a small part of the run and of the time in which the
    /// mechanism moves by its own size.
    pub time: Option<f64>,
}

/// Part of a run in which a spring swings where nobody says how fast: motions that take a tenth of the run err by
/// about a millionth then.
const SWING: f64 = 1e-4;

impl Parasitic {
    /// The longest time in which springs swing in a run of this length.
    pub fn time_scale(&self, length: f64) -> f64 {
        self.time.unwrap_or(SWING * length)
    }

    /// Stiffness and damping of a lock, where they are given.
    pub fn of_lock(&self, is_turning: bool) -> (Option<f64>, Option<f64>) {
        match is_turning {
            true => (self.k_turn.or(self.k), self.b_turn.or(self.b)),
            false => (self.k, self.b),
        }
    }
}

/// A recorded column.
#[derive(Clone, Debug, PartialEq)]
pub struct Column {
    /// Its name in the file.
    pub name: String,
    /// Its value in SI.
    pub value: ExprId,
    /// The unit it is written in; none means SI of unknown dimension.
    pub unit: Option<Unit>,
}

/// A picture.
#[derive(Clone, Debug, PartialEq)]
pub struct Plot {
    /// Upwards.
    pub ys: Vec<Column>,
    /// To the right; time unless given.
    pub versus: Option<Column>,
}

/// A number read off the curves.
#[derive(Clone, Debug, PartialEq)]
pub struct Measured {
    /// Its name.
    pub name: String,
    /// How it is computed.
    pub value: Measure,
    /// The unit it is shown in; none for a plain number.
    pub unit: Option<Unit>,
    /// What it measures, where known.
    pub dimension: Option<Dimension>,
    /// Where it is written.
    pub span: Span,
}

/// How a measure is computed.
#[derive(Clone, Debug, PartialEq)]
pub enum Measure {
    /// An expression of parameters.
    Constant(ExprId),
    /// A number of a whole curve.
    Of(Functional),
    /// A measure written earlier, by its position in [`Plan::measures`].
    Earlier(usize),
    /// −a
    Negative(Box<Measure>),
    /// a ∘ b
    Arithmetic(Operation, Box<Measure>, Box<Measure>),
    /// f(a)
    Call1(Function1, Box<Measure>),
    /// f(a, b)
    Call2(Function2, Box<Measure>, Box<Measure>),
}

/// Arithmetic on measures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say it")]
pub enum Operation {
    Add,
    Subtract,
    Multiply,
    Divide,
    Power,
}

/// A number of a whole curve.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Functional {
    /// Last value.
    Final(ExprId),
    /// Largest value.
    Max(ExprId),
    /// Smallest value.
    Min(ExprId),
    /// Mean over time.
    Mean(ExprId),
    /// Root of the mean square.
    Rms(ExprId),
    /// ∫ x dt
    Integral(ExprId),
    /// When the largest value is reached.
    PeakTime(ExprId),
    /// Its value at one time.
    At {
        /// The curve.
        x: ExprId,
        /// The time, s.
        time: f64,
    },
    /// Time from the part `low` to the part `high` of the way from the first value to the target.
    RiseTime {
        /// The curve.
        x: ExprId,
        /// Such as 0.1.
        low: f64,
        /// Such as 0.9.
        high: f64,
        /// Its last value is the target; the last of `x` itself if none is given.
        target: Option<ExprId>,
    },
    /// How far beyond the target, as a part of the way.
    Overshoot {
        /// The curve.
        x: ExprId,
        /// Its last value is the target; the last of `x` itself if none is given.
        target: Option<ExprId>,
        /// Where the way begins; the first value of `x` if none is given.
        start: Option<f64>,
    },
    /// How far the wrong way, as a part of the way.
    Undershoot {
        /// The curve.
        x: ExprId,
        /// As for overshoot.
        target: Option<ExprId>,
        /// As for overshoot.
        start: Option<f64>,
    },
    /// When the curve has come to stay within a part `band` of the way around its last value.
    SettlingTime {
        /// The curve.
        x: ExprId,
        /// Such as 0.02.
        band: f64,
    },
    /// Its last value; every point of the curve is kept, to be compared with another run.
    Kept(ExprId),
    /// The largest difference from the same curve in another run.
    Difference {
        /// The curve.
        x: ExprId,
        /// Which of [`Plan::named_runs`].
        run: usize,
    },
    /// The root of the mean square of that difference.
    RmsDifference {
        /// The curve.
        x: ExprId,
        /// Which of [`Plan::named_runs`].
        run: usize,
    },
    /// What a measure gives in another run: which of [`Plan::named_runs`].
    InRun(usize),
    /// Gain margin of the loop cut at a signal, dB.
    GainMargin(ExprId),
    /// Phase margin of the loop cut at a signal, rad.
    PhaseMargin(ExprId),
}

/// Runs repeated with other values of one thing.
#[derive(Clone, Debug, PartialEq)]
pub struct Sweep {
    /// What is varied.
    pub target: SweepTarget,
    /// The values in order.
    pub values: Vec<SweepValue>,
    /// They are drawn, together with those of all other drawn axes.
    pub drawn: Option<Drawn>,
    /// Where it is written.
    pub span: Span,
}

/// What a sweep varies.
#[derive(Clone, Debug, PartialEq)]
pub enum SweepTarget {
    /// A parameter, an input or a replaceable part, by its path as in `with`.
    Variable {
        /// As written.
        target: ast::Ref,
        /// What it is.
        variable: SettableValue,
    },
    /// How locks are enforced.
    Constraints,
    /// How to integrate.
    Method,
    /// The relative tolerance.
    Rtol,
}

/// One value of a sweep.
#[derive(Clone, Debug, PartialEq)]
pub struct SweepValue {
    /// As it is shown: `340 N*m/rad`, `multiplier`.
    pub label: String,
    /// What is set.
    pub setting: SweepSetting,
}

/// What a run of a sweep sets.
#[derive(Clone, Debug, PartialEq)]
pub enum SweepSetting {
    /// A number in SI, and the expression to hand to `elaborate`.
    Number(f64, ast::Expr),
    /// Another model for a replaceable part, or a truth value.
    Expression(ast::Expr),
    /// Another way to enforce locks.
    Constraints(Constraints),
    /// Another method, with its step.
    Method(Method, Option<f64>),
}

/// A search for values.
#[derive(Clone, Debug, PartialEq)]
pub struct Optimize {
    /// What is varied.
    pub over: Vec<Varied>,
    /// What is to become small or large.
    pub aims: Vec<Aim>,
    /// What must hold.
    pub conditions: Vec<Condition>,
    /// Other experiments that count as well.
    pub cases: Cases,
    /// Where it is written.
    pub span: Span,
}

/// Something that a search varies.
#[derive(Clone, Debug, PartialEq)]
pub struct Varied {
    /// As written.
    pub target: ast::Ref,
    /// What it is.
    pub variable: SettableValue,
    /// Among what.
    pub range: Searched,
    /// The unit in which its values are written; none for plain numbers.
    pub unit: Option<(Unit, ast::Unit)>,
    /// Where its range is written.
    pub span: Span,
}

impl Varied {
    /// The text of a value in SI, such as `with` takes it.
    pub fn expression(&self, si: f64) -> ast::Expr {
        let (value, unit) = match &self.unit {
            Some((unit, written)) => (unit.from_si(si), Some(written.clone())),
            None => (si, None),
        };
        ast::Expr {
            span: self.span,
            kind: ast::ExprKind::Number { value, unit },
        }
    }
}

/// The values that a search may give.
#[derive(Clone, Debug, PartialEq)]
pub enum Searched {
    /// Any between two bounds, SI.
    Between(f64, f64),
    /// One of these.
    Among(Vec<SweepValue>),
}

/// What a search makes small or large.
#[derive(Clone, Debug, PartialEq)]
pub struct Aim {
    /// How it is computed.
    pub value: Measure,
    /// Small rather than large.
    pub is_small: bool,
    /// As written.
    pub text: String,
    /// The unit it is shown in; none for a plain number.
    pub unit: Option<Unit>,
    /// Where it is written.
    pub span: Span,
}

/// `left ≤ right`
#[derive(Clone, Debug, PartialEq)]
pub struct Condition {
    /// Left.
    pub left: Measure,
    /// Which way.
    pub comparison: Comparison,
    /// Half of an `==`: searched as `<=` followed by `>=`, with a little room on both sides.
    pub is_half: bool,
    /// Right.
    pub right: Measure,
    /// As written: the whole, and the left side.
    pub texts: (String, String),
    /// The unit it is shown in; none for plain numbers.
    pub unit: Option<Unit>,
    /// Where it is written.
    pub span: Span,
}

/// Further experiments of a search.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Cases {
    /// None.
    #[default]
    Alone,
    /// The worst of all counts; names of the others.
    Worst(Vec<ast::Ident>),
    /// The weighted mean of all counts; names and weights of the others, this one has weight 1.
    Mean(Vec<(ast::Ident, f64)>),
}

impl Plan {
    /// Every measure that a run must be able to compute: those with names, aims and both sides of conditions,
    /// each with a name and a place for messages.
    pub fn all_measures(&self) -> Vec<(&str, Span, &Measure)> {
        let named = self.measures.iter();
        let mut all: Vec<_> = named.map(|m| (&*m.name, m.span, &m.value)).collect();
        if let Some(search) = &self.optimize {
            all.extend(search.aims.iter().map(|a| (&*a.text, a.span, &a.value)));
            for c in &search.conditions {
                all.extend([
                    (&*c.texts.0, c.span, &c.left),
                    (&*c.texts.0, c.span, &c.right),
                ]);
            }
        }
        for c in &self.limits {
            all.extend([
                (&*c.texts.0, c.span, &c.left),
                (&*c.texts.0, c.span, &c.right),
            ]);
        }
        all
    }

    /// As [`Plan::all_measures`], to be changed.
    pub fn all_measures_mut(&mut self) -> Vec<(String, Span, &mut Measure)> {
        let named = self.measures.iter_mut();
        let mut all: Vec<_> = named
            .map(|m| (m.name.clone(), m.span, &mut m.value))
            .collect();
        if let Some(search) = &mut self.optimize {
            let aims = search.aims.iter_mut();
            all.extend(aims.map(|a| ("aim".to_owned(), a.span, &mut a.value)));
            for c in &mut search.conditions {
                for side in [&mut c.left, &mut c.right] {
                    all.push(("condition".to_owned(), c.span, side));
                }
            }
        }
        for c in &mut self.limits {
            for side in [&mut c.left, &mut c.right] {
                all.push(("limit".to_owned(), c.span, side));
            }
        }
        all
    }
}

/// Something that is read off the run of another experiment.
#[derive(Clone, Debug, PartialEq)]
pub struct NamedRun {
    /// The experiment.
    pub experiment: ast::Ident,
    /// A curve or a measure, to be read in its words.
    pub value: ast::Expr,
    /// The whole curve is wanted.
    pub is_curve: bool,
}

/// Parameters to be found from data.
#[derive(Clone, Debug, PartialEq)]
pub struct Fit {
    /// What is varied, each between bounds.
    pub over: Vec<Varied>,
    /// Data files.
    pub data: Vec<FitData>,
    /// Deviations of columns, in the columns' units.
    pub sigmas: Vec<(ast::Ident, f64)>,
    /// Where it is written.
    pub span: Span,
}

/// A data file of a fit.
#[derive(Clone, Debug, PartialEq)]
pub struct FitData {
    /// Its path as written.
    pub path: String,
    /// Where it is written.
    pub span: Span,
    /// The experiment whose run gives it; the one with the fit unless given.
    pub of: Option<ast::Ident>,
}

/// A file to compare with.
#[derive(Clone, Debug, PartialEq)]
pub struct Comparing {
    /// Its path as written.
    pub path: String,
    /// The largest difference allowed, as a part of each column's range.
    pub within: f64,
    /// Where it is written.
    pub span: Span,
}

/// A linear model to make.
#[derive(Clone, Debug, PartialEq)]
pub struct Linearize {
    /// Inputs: what small changes are added to.
    pub from: Vec<Quantity>,
    /// Outputs: what follows them.
    pub to: Vec<Quantity>,
}

/// A quantity by its name, with its place in the text.
#[derive(Clone, Debug, PartialEq)]
pub struct Quantity {
    /// Its name, value and unit.
    pub column: Column,
    /// Where it is named.
    pub span: Span,
}

/// Largest difference to a file nobody gave: what [`DEFAULT_RTOL`] leaves after a run.
const DEFAULT_WITHIN: f64 = 1e-5;

/// Reads an experiment in any scope; [`plan`] does so in an elaborated model.
///
/// Every independent mistake is reported to the scope; the plan holds the rest.
pub fn plan_in(experiment: &ast::Experiment, scope: &mut dyn Scope) -> Plan {
    let name = Some(experiment.name.text.to_string());
    let mut planner = Planner {
        scope,
        plan: Plan {
            name,
            places: places(experiment),
            ..Plan::default()
        },
        given: Vec::new(),
        recorded: Vec::new(),
        instants: Vec::new(),
    };
    planner.find_recorded(experiment);
    for statement in experiment.statements() {
        planner.statement(statement);
    }
    for statement in experiment.statements() {
        planner.fit(statement);
    }
    planner.draw();
    planner.check_times();
    planner.check_instants();
    planner.plan
}

/// Puts sweeps given from outside in the place of those of an experiment.
///
/// Paired ones must be equally long; what is wrong is reported to the scope.
fn replace_sweeps(
    plan: Plan,
    sweeps: &[ast::ExperimentStmt],
    is_paired: bool,
    scope: &mut dyn Scope,
) -> Plan {
    let plan = Plan {
        sweeps: Vec::new(),
        is_paired,
        ..plan
    };
    let mut planner = Planner {
        scope,
        plan,
        given: Vec::new(),
        recorded: Vec::new(),
        instants: Vec::new(),
    };
    for statement in sweeps {
        planner.statement(statement);
    }
    planner.draw();
    planner.check_pairs();
    planner.plan
}

fn places(experiment: &ast::Experiment) -> Places {
    use ast::ExperimentKind as Kind;
    let mut words = Vec::new();
    for statement in experiment.statements() {
        let word = match &statement.kind {
            Kind::Setting { name, .. } => &*name.text,
            Kind::Measure(list) => {
                words.extend(
                    list.iter()
                        .map(|(name, _)| (name.text.to_string(), name.span)),
                );
                continue;
            }
            Kind::Optimize { .. } => "optimize",
            Kind::Fit { .. } => "fit",
            Kind::Trim(_) => "trim",
            Kind::Linearize { .. } => "linearize",
            _ => continue,
        };
        words.push((word.to_owned(), statement.span));
    }
    Places {
        whole: Some(experiment.name.span),
        words,
    }
}

struct Planner<'s> {
    scope: &'s mut dyn Scope,
    plan: Plan,
    /// Settings given so far, for "given twice".
    given: Vec<(String, Span)>,
    /// Columns with names of their own, which plots, measures and linear models may read.
    recorded: Vec<ast::Record>,
    /// Times at which measures read curves, with their places.
    instants: Vec<(f64, Span)>,
}

impl Planner<'_> {
    fn statement(&mut self, statement: &ast::ExperimentStmt) {
        use ast::ExperimentKind as Kind;
        match &statement.kind {
            // Read by `elaborate`: they change the model and its start.
            Kind::With(_) | Kind::Start(_) | Kind::Guess(_) => {}
            Kind::Setting { name, value } => self.setting(name, value),
            Kind::Record(records) => records.iter().for_each(|r| self.record(r)),
            Kind::Plot { ys, versus } => self.plot(ys, versus.as_ref()),
            Kind::Measure(measures) => {
                measures
                    .iter()
                    .for_each(|(name, value)| self.measure(name, value));
            }
            Kind::Sweep { target, over } => self.sweep(target, over, statement.span),
            Kind::Optimize { .. } => self.optimize(statement),
            Kind::Limit(list) => {
                for e in list {
                    let found = self.condition(e);
                    self.plan.limits.extend(found);
                }
            }
            // Reads recorded columns, which may occur below it.
            Kind::Fit { .. } => {}
            Kind::Compare {
                path,
                path_span,
                within,
            } => {
                self.compare(path, *path_span, within.as_ref());
            }
            Kind::Trim(states) => {
                let found = self.readings(states);
                self.plan.trim.extend(found);
            }
            Kind::Linearize { from, to } => {
                let (from, to) = (self.readings(from), self.readings(to));
                self.plan.linearize.push(Linearize { from, to });
            }
        }
    }

    fn report(&mut self, diagnostic: Diagnostic) {
        self.scope.report(diagnostic);
    }
}

/// Turns `link[3].f` into the expression that reads it.
fn expression_of(reference: &ast::Ref) -> ast::Expr {
    let mut parts = reference.parts.iter();
    let first = parts.next().expect("a reference has a part");
    let span_to = |name: &ast::Ident| first.name.span.to(name.span);
    let indexed = |e: ast::Expr, part: &ast::RefPart| match part.index.is_empty() {
        true => e,
        false => ast::Expr {
            span: e.span,
            kind: ast::ExprKind::Index {
                of: Box::new(e),
                index: part.index.clone(),
            },
        },
    };

    let name = ast::ExprKind::Name(first.name.clone());
    let mut e = indexed(
        ast::Expr {
            span: first.name.span,
            kind: name,
        },
        first,
    );

    for part in parts {
        let field = ast::ExprKind::Field {
            of: Box::new(e),
            name: part.name.clone(),
        };
        e = indexed(
            ast::Expr {
                span: span_to(&part.name),
                kind: field,
            },
            part,
        );
    }
    e
}

#[cfg(test)]
mod tests;
