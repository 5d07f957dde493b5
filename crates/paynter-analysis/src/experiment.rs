//! Carries out what an experiment asks of one run: columns, measures, comparisons, plots.
//!
//! In:  a [`Plan`] and its [`Compiled`] model.
//! Out: an [`Outcome`]: the run, its measures, how it compares with references, its pictures.

use crate::compare::{Comparison, compare};
use crate::delayed::{LoopGain, judge};
use crate::held::Held;
use crate::linear::{Linearization, MeasuredMargins, Trim};
use crate::simulate::{Ending, Run, RunSpec, simulate};
use crate::springs::SpringError;
use paynter_design::compile::Compiled;
use paynter_design::mobility::Mobility;
use paynter_design::parameters::Parameters;
use paynter_draw::plot::{Panel, Plot, Series, panels_by_unit};
use paynter_draw::thin::looks_held;
use paynter_exec::Machine;
use paynter_model::BondGraph;
use paynter_model::experiment::{self, Functional, Measure, Operation, Plan};
use paynter_model::units::Unit;
use paynter_run::gaps::{self, Gap};
use paynter_run::measure::Curve;
use paynter_run::recorder::Progress;
use paynter_run::table::{self, Table};
use paynter_run::trace::{Measured, Trace};
use paynter_symbolic::{Comparison as Comparing, ExprId};
use paynter_syntax::Diagnostic;

pub use crate::layout::{Layout, Named, lay_out, run_spec};

/// What a run gave.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// The run; its table holds the recorded columns only.
    pub run: Run,
    /// Numbers read off the curves.
    pub measures: Vec<Measurement>,
    /// Aims and conditions, where the experiment has a search.
    pub search: Option<SearchValues>,
    /// Whether each limit is kept; none where a side has no value.
    pub limits: Vec<Option<bool>>,
    /// Each reference beside which the run was laid.
    pub comparisons: Vec<Compared>,
    /// Pictures the experiment asks for.
    pub plots: Vec<Plot>,
    /// The point at rest that it started from, if the experiment trims.
    pub trim: Option<Trim>,
    /// The linear models that the experiment asks for.
    pub linear: Vec<Linearization>,
    /// What the user should know although the run went well.
    pub warnings: Vec<Diagnostic>,
    /// The count of bodies, joints and freedoms, for a mechanism.
    pub mobility: Option<Mobility>,
    /// How far each lock gave way, where that was looked at.
    pub gaps: Vec<Gap>,
    /// The error that springs in the place of locks make, where there are any.
    pub springs: Option<SpringError>,
    /// The gain of loops through delayed storages, where there are any.
    pub loop_gain: Option<LoopGain>,
}

/// A number read off the curves.
#[derive(Clone, Debug, PartialEq)]
pub struct Measurement {
    /// Its name.
    pub name: String,
    /// Its value in `unit`; none where the curve never does what was asked.
    pub value: Option<f64>,
    /// Its unit; empty for a plain number.
    pub unit: String,
}

/// A comparison with a reference.
#[derive(Clone, Debug, PartialEq)]
pub struct Compared {
    /// The reference file as written.
    pub path: String,
    /// The largest difference allowed.
    pub within: f64,
    /// What was found.
    pub result: Comparison,
    /// The run reached its end, so that nothing is missing from the comparison.
    pub is_whole: bool,
}

impl Compared {
    /// Tells whether the run agrees with the reference.
    pub fn is_good(&self) -> bool {
        self.is_whole
            && !self.result.columns.is_empty()
            && self.result.n_times > 0
            && self.result.worst() <= self.within
    }
}

/// What one run of a plan needs beside the model.
#[derive(Clone, Copy, Debug)]
pub struct Task<'t> {
    /// What to record, and in which order.
    pub layout: &'t Layout,
    /// What the solver needs.
    pub spec: &'t RunSpec,
    /// Tables to compare with, in the order of the plan.
    pub references: &'t [Table],
}

/// Runs the plan once, on a machine that was prepared for it.
///
/// # Errors
///
/// What keeps the run from starting.
pub fn carry_out(
    machine: &mut Machine,
    compiled: &Compiled,
    plan: &Plan,
    task: &Task<'_>,
    progress: Progress<'_>,
) -> Result<Outcome, Vec<Diagnostic>> {
    let &Task {
        layout,
        spec,
        references,
    } = task;
    let mut run = simulate(machine, compiled, spec, progress)?;
    let parameters = Parameters::new(&compiled.reduced.dae, &spec.parameters);
    let read = Read {
        traces: &run.traces,
        layout,
        margins: &layout.margins,
        parameters: &parameters,
    };

    let measures = measure_all(plan, &read);
    let search = search_values(plan, &read);
    let limits = kept_limits(plan, &read);
    let drawn = Drawn::of(&run);
    let plots = plots(plan, &drawn, (layout, references), &compiled.graph);
    let first_lock = run.table.columns.len() - layout.n_locks;
    let loop_gain = judge_delay(&mut run, compiled, plan, layout);
    let locks = &run.table.columns[first_lock..];
    let gaps = gaps::read(&compiled.locks, locks);
    let energy = locks.get(compiled.locks.len());
    let springs = SpringError::new(compiled, &gaps, energy, run.audit.as_ref());
    run.table.columns.truncate(layout.n_recorded);
    run.ranges.truncate(layout.n_recorded);
    let comparisons = plan
        .comparisons
        .iter()
        .zip(references)
        .map(|(asked, reference)| Compared {
            path: asked.path.clone(),
            within: asked.within,
            is_whole: matches!(run.ending, Ending::Reached | Ending::Stopped { .. }),
            result: compare(&run.table, reference, plan.rtol),
        })
        .collect();

    Ok(Outcome {
        run,
        measures,
        search,
        limits,
        comparisons,
        plots,
        trim: None,
        linear: Vec::new(),
        warnings: Vec::new(),
        mobility: None,
        gaps,
        springs,
        loop_gain,
    })
}

/// Finds the gain of delayed loops; a run in which it was too large has failed.
fn judge_delay(
    run: &mut Run,
    compiled: &Compiled,
    plan: &Plan,
    layout: &Layout,
) -> Option<LoopGain> {
    let delayed = compiled.delayed.as_ref().filter(|_| layout.n_gains > 0)?;
    let first = run.table.columns.len() - layout.n_locks - layout.n_gains;
    match judge(delayed, &run.table, first, plan) {
        Ok(gain) => gain,
        Err((time, message)) => {
            run.ending = Ending::Failed {
                time,
                why: vec![*message],
            };
            None
        }
    }
}

/// What measures are computed from.
pub(crate) struct Read<'a> {
    /// In the order of [`Layout::measured`].
    pub traces: &'a [Trace],
    pub layout: &'a Layout,
    /// Of the loops that measures cut.
    pub margins: &'a [MeasuredMargins],
    pub parameters: &'a Parameters<'a>,
}

pub(crate) fn measure_all(plan: &Plan, read: &Read<'_>) -> Vec<Measurement> {
    let values = named_values(plan, read);
    plan.measures
        .iter()
        .zip(values)
        .map(|(measured, value)| {
            let unit: Option<Unit> = measured
                .unit
                .clone()
                .or_else(|| measured.dimension.filter(|d| !d.is_one()).map(|d| d.unit()));
            Measurement {
                name: measured.name.clone(),
                value: match &unit {
                    Some(unit) => value.map(|v| unit.from_si(v)),
                    None => value,
                },
                unit: unit.map(|u| u.text).unwrap_or_default(),
            }
        })
        .collect()
}

/// Values of the measures with names, SI.
fn named_values(plan: &Plan, read: &Read<'_>) -> Vec<Option<f64>> {
    let mut values: Vec<Option<f64>> = Vec::new();
    for measured in &plan.measures {
        let value = value_of(&measured.value, &values, read);
        values.push(value);
    }
    values
}

/// What a search looks at, SI; none where a curve never does what is asked.
#[derive(Clone, Debug, PartialEq)]
pub struct SearchValues {
    /// Its aims.
    pub aims: Vec<Option<f64>>,
    /// Both sides of its conditions.
    pub conditions: Vec<(Option<f64>, Option<f64>)>,
}

/// Computes aims and conditions of a plan that has a search.
pub(crate) fn search_values(plan: &Plan, read: &Read<'_>) -> Option<SearchValues> {
    let search = plan.optimize.as_ref()?;
    let values = named_values(plan, read);
    let value = |m: &Measure| value_of(m, &values, read);
    let both = |c: &experiment::Condition| (value(&c.left), value(&c.right));
    Some(SearchValues {
        aims: search.aims.iter().map(|a| value(&a.value)).collect(),
        conditions: search.conditions.iter().map(both).collect(),
    })
}

/// Tells for each limit of a plan whether it is kept; none where a side has no value.
pub(crate) fn kept_limits(plan: &Plan, read: &Read<'_>) -> Vec<Option<bool>> {
    if plan.limits.is_empty() {
        return Vec::new();
    }
    let values = named_values(plan, read);
    let value = |m: &Measure| value_of(m, &values, read);
    let kept = |c: &experiment::Condition| {
        let (a, b) = value(&c.left).zip(value(&c.right))?;
        Some(match c.comparison {
            Comparing::Less => a < b,
            Comparing::LessEqual => a <= b,
            Comparing::Greater => a > b,
            Comparing::GreaterEqual => a >= b,
            Comparing::Equal => a == b,
            Comparing::NotEqual => a != b,
        })
    };
    plan.limits.iter().map(kept).collect()
}

fn value_of(measure: &Measure, earlier: &[Option<f64>], read: &Read<'_>) -> Option<f64> {
    let again = |m: &Measure| value_of(m, earlier, read);
    match measure {
        Measure::Constant(e) => read.parameters.value(*e),
        Measure::Of(functional) => functional_value(functional, read),
        Measure::Earlier(k) => earlier.get(*k).copied().flatten(),
        Measure::Negative(a) => again(a).map(|a| -a),
        Measure::Arithmetic(operation, a, b) => {
            let (a, b) = (again(a)?, again(b)?);
            Some(match operation {
                Operation::Add => a + b,
                Operation::Subtract => a - b,
                Operation::Multiply => a * b,
                Operation::Divide => a / b,
                Operation::Power => paynter_symbolic::expr::power(a, b),
            })
        }
        Measure::Call1(f, a) => again(a).map(|a| f.eval(a)),
        Measure::Call2(f, a, b) => Some(f.eval(again(a)?, again(b)?)),
    }
}

fn functional_value(functional: &Functional, read: &Read<'_>) -> Option<f64> {
    let taken = |x: ExprId, at: Option<f64>| {
        let is_it = |m: &(ExprId, Measured)| m.0 == x && m.1.at == at;
        let k = read.layout.measured.iter().position(is_it)?;
        read.traces.get(k).map(Trace::curve)
    };
    let curve = |x: ExprId| taken(x, None);
    let margin = |x: ExprId| read.margins.iter().find(|m| m.0 == x)?.1;
    let named_curve = |run: usize| match read.layout.named.get(run)? {
        Named::Curve(trace) => Some(trace.curve()),
        Named::Number(_) => None,
    };
    let target_of = |x: ExprId, target: Option<ExprId>| curve(target.unwrap_or(x))?.last();

    match *functional {
        Functional::Final(x) => curve(x)?.last(),
        Functional::Max(x) => curve(x)?.max(),
        Functional::Min(x) => curve(x)?.min(),
        Functional::Mean(x) => curve(x)?.mean(),
        Functional::Rms(x) => curve(x)?.rms(),
        Functional::Integral(x) => Some(curve(x)?.integral()),
        Functional::PeakTime(x) => curve(x)?.peak_time(),
        Functional::At { x, time } => taken(x, Some(time))?.last(),
        Functional::RiseTime {
            x,
            low,
            high,
            target,
        } => curve(x)?.rise_time(low, high, target_of(x, target)?),
        Functional::Overshoot { x, target, start } => {
            curve(x)?.overshoot_from(start, target_of(x, target)?)
        }
        Functional::Undershoot { x, target, start } => {
            curve(x)?.undershoot_from(start, target_of(x, target)?)
        }
        Functional::SettlingTime { x, band } => curve(x)?.settling_time(band),
        Functional::Kept(x) => curve(x)?.last(),
        Functional::Difference { x, run } => {
            let (t, d) = curve(x)?.difference(&named_curve(run)?);
            let difference = Curve::new(&t, &d);
            let (high, low) = (difference.max()?, difference.min()?);
            Some(high.abs().max(low.abs()))
        }
        Functional::RmsDifference { x, run } => {
            let (t, d) = curve(x)?.difference(&named_curve(run)?);
            Curve::new(&t, &d).rms()
        }
        Functional::InRun(run) => match read.layout.named.get(run)? {
            Named::Number(value) => *value,
            Named::Curve(_) => None,
        },
        Functional::GainMargin(x) => margin(x).map(|m| m.0),
        Functional::PhaseMargin(x) => margin(x).map(|m| m.1),
    }
}

/// What plots are drawn from: the table of a run with all its columns, whole or so far.
#[derive(Clone, Copy)]
pub(crate) struct Drawn<'a> {
    pub table: &'a Table,
    pub event_times: &'a [f64],
}

impl<'a> Drawn<'a> {
    fn of(run: &'a Run) -> Self {
        Drawn {
            table: &run.table,
            event_times: &run.event_times,
        }
    }
}

pub(crate) fn plots(
    plan: &Plan,
    run: &Drawn<'_>,
    (layout, references): (&Layout, &[Table]),
    graph: &BondGraph,
) -> Vec<Plot> {
    let panels = match plan.plots.is_empty() {
        true => panels_of_columns(
            &run.table.columns[..layout.n_recorded],
            run,
            plan,
            references,
        ),
        false => panels_of_plots(plan, run, layout, references, graph),
    };
    if panels.is_empty() {
        return Vec::new();
    }
    vec![Plot {
        title: plan.name.clone().unwrap_or_default(),
        panels,
    }]
}

/// The panels of the plots that the experiment asks for: their columns follow those that it records.
fn panels_of_plots(
    plan: &Plan,
    run: &Drawn<'_>,
    layout: &Layout,
    references: &[Table],
    graph: &BondGraph,
) -> Vec<Panel> {
    let held = Held::new(&graph.signals);
    let mut next = layout.n_recorded;
    let mut panels = Vec::new();
    for plot in &plan.plots {
        let ys = &run.table.columns[next..next + plot.ys.len()];
        let values = &layout.wanted[next..next + plot.ys.len()];
        next += plot.ys.len();
        let versus = plot.versus.as_ref().map(|versus| {
            next += 1;
            (&run.table.columns[next - 1], versus)
        });
        let (x, x_label) = match versus {
            Some((column, versus)) => (
                column.values.clone(),
                label(&versus.name, versus.unit.as_ref()),
            ),
            None => (run.table.time.clone(), "time [s]".to_owned()),
        };
        let mut curves: Vec<(Series, String)> = Vec::new();
        for (column, wanted) in ys.iter().zip(values) {
            let is_step = || held.is_held(wanted.value) || looks_held(&column.values);
            let own = Series {
                name: column.name.clone(),
                x: x.clone(),
                y: column.values.clone(),
                is_held: versus.is_none() && is_step(),
                ..Series::default()
            };
            curves.push((own, column.unit.clone()));
            let beside = references
                .iter()
                .filter_map(|r| beside(plan, r, column, versus.map(|(c, _)| c)));
            curves.extend(beside.map(|series| (series, column.unit.clone())));
        }

        let marks = match versus {
            None => run.event_times,
            Some(_) => &[],
        };
        panels.extend(panels_by_unit(curves, &x_label, marks));
    }
    panels
}

/// Where no plot is asked for, what is recorded is drawn over time, each column by itself.
fn panels_of_columns(
    columns: &[table::Column],
    run: &Drawn<'_>,
    plan: &Plan,
    references: &[Table],
) -> Vec<Panel> {
    // No wall of pictures: who records more knows what to plot.
    const MOST_PLOTS: usize = 12;
    let panels = columns.iter().take(MOST_PLOTS).flat_map(|column| {
        let own = Series {
            name: column.name.clone(),
            x: run.table.time.clone(),
            y: column.values.clone(),
            is_held: looks_held(&column.values),
            ..Series::default()
        };
        let beside = references
            .iter()
            .filter_map(|r| beside(plan, r, column, None));
        let curves = std::iter::once(own).chain(beside);
        let curves = curves.map(|series| (series, column.unit.clone())).collect();
        panels_by_unit(curves, "time [s]", run.event_times)
    });
    panels.collect()
}

/// The curve of a reference for a plotted quantity, if the run is compared with it there: both then
/// have the unit in which the quantity is recorded.
fn beside(
    plan: &Plan,
    reference: &Table,
    y: &table::Column,
    versus: Option<&table::Column>,
) -> Option<Series> {
    let find = |wanted: &table::Column| {
        let unit =
            |c: &experiment::Column| c.unit.as_ref().map_or("", |u| u.text.as_str()) == wanted.unit;
        plan.columns
            .iter()
            .find(|c| c.name == wanted.name && unit(c))?;
        Some(reference.column(&wanted.name)?.values.clone())
    };
    let values = find(y)?;
    Some(Series {
        name: format!("{}, reference", y.name),
        x: match versus {
            None => reference.time.clone(),
            Some(x) => find(x)?,
        },
        is_held: versus.is_none() && looks_held(&values),
        y: values,
        is_reference: true,
        ..Series::default()
    })
}

fn label(name: &str, unit: Option<&Unit>) -> String {
    match unit {
        Some(unit) if !unit.text.is_empty() => format!("{name} [{}]", unit.text),
        _ => name.to_owned(),
    }
}
