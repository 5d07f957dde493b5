//! Carries out what an experiment asks of one run: columns, measures, comparisons, plots.
//!
//! In:  a [`Plan`] and a machine for its equations.
//! Out: an [`Outcome`]: the run, its measures, how it compares with references, its pictures.

use crate::compare::{Comparison, compare};
use crate::held::Held;
use crate::linear::{Linearization, Trim};
use crate::measure::Curve;
use crate::parameters::Parameters;
use crate::recorder::Progress;
use crate::simulate::{Run, RunSpec, Wanted, simulate};
use crate::table::{self, Table};
use paynter_draw::plot::{Panel, Plot, Series, panels_by_unit};
use paynter_draw::thin::looks_held;
use paynter_exec::{Engine, Machine};
use paynter_model::BondGraph;
use paynter_model::experiment::{self, Functional, Measure, Operation, Plan};
use paynter_model::units::Unit;
use paynter_solve::Method;
use paynter_symbolic::ExprId;
use paynter_symbolic::reduced::Reduced;
use paynter_syntax::Diagnostic;

/// Output points of a run whose experiment says nothing about them.
const DEFAULT_POINTS: f64 = 500.0;

/// What a run gave.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// The run; its table holds the recorded columns only.
    pub run: Run,
    /// Numbers read off the curves.
    pub measures: Vec<Measurement>,
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
}

impl Compared {
    /// Tells whether the run agrees with the reference.
    pub fn is_good(&self) -> bool {
        !self.result.columns.is_empty()
            && self.result.n_times > 0
            && self.result.worst() <= self.within
    }
}

/// The quantities of a plan in the order in which a run records them.
#[derive(Clone, Debug)]
pub struct Layout {
    /// All of them.
    pub wanted: Vec<Wanted>,
    /// The first ones are the columns of the table.
    pub n_recorded: usize,
    /// Margins that measures read: signal, gain margin in dB and phase margin in rad.
    pub margins: Vec<(ExprId, Option<(f64, f64)>)>,
}

/// Lists everything that the plan needs from the run.
pub fn lay_out(plan: &Plan) -> Layout {
    let mut wanted: Vec<Wanted> = plan.columns.iter().map(wanted_column).collect();
    let n_recorded = wanted.len();
    for plot in &plan.plots {
        wanted.extend(plot.ys.iter().chain(&plot.versus).map(wanted_column));
    }
    let mut curves = Vec::new();
    for measured in &plan.measures {
        curves_of(&measured.value, &mut curves);
    }
    wanted.extend(curves.into_iter().map(|value| Wanted {
        name: String::new(),
        value,
        unit: String::new(),
        factor: 1.0,
        offset: 0.0,
    }));
    Layout {
        wanted,
        n_recorded,
        margins: Vec::new(),
    }
}

fn wanted_column(column: &experiment::Column) -> Wanted {
    let (unit, factor, offset) = match &column.unit {
        Some(unit) => (unit.text.clone(), unit.factor, unit.offset),
        None => (String::new(), 1.0, 0.0),
    };
    Wanted {
        name: column.name.clone(),
        value: column.value,
        unit,
        factor,
        offset,
    }
}

fn curves_of(measure: &Measure, curves: &mut Vec<ExprId>) {
    let mut open = vec![measure];
    while let Some(measure) = open.pop() {
        match measure {
            Measure::Constant(_) | Measure::Earlier(_) => {}
            Measure::Of(functional) => curves.extend(functional_curves(functional)),
            Measure::Negative(a) | Measure::Call1(_, a) => open.push(a),
            Measure::Arithmetic(_, a, b) | Measure::Call2(_, a, b) => open.extend([&**a, &**b]),
        }
    }
}

fn functional_curves(functional: &Functional) -> Vec<ExprId> {
    match *functional {
        Functional::Final(x)
        | Functional::Max(x)
        | Functional::Min(x)
        | Functional::Mean(x)
        | Functional::Rms(x)
        | Functional::Integral(x)
        | Functional::PeakTime(x)
        | Functional::SettlingTime { x, .. } => vec![x],
        Functional::RiseTime { x, target, .. }
        | Functional::Overshoot { x, target }
        | Functional::Undershoot { x, target } => std::iter::once(x).chain(target).collect(),
        // Margins belong to the linearised loop, not to a curve.
        Functional::GainMargin(_) | Functional::PhaseMargin(_) => Vec::new(),
    }
}

/// Turns a plan into what the solver needs. `references` add their times to the output times.
pub fn run_spec(plan: &Plan, layout: &Layout, references: &[Table], engine: Engine) -> RunSpec {
    RunSpec {
        start: plan.start,
        stop: plan.stop,
        output_times: output_times(plan, references),
        method: match plan.method {
            experiment::Method::Auto => Method::Auto,
            experiment::Method::Dop853 => Method::Dop853,
            experiment::Method::Tsit5 => Method::Tsit5,
            experiment::Method::Rodas5P => Method::Rodas5P,
            experiment::Method::Bdf => Method::Bdf,
            experiment::Method::Euler => Method::Euler,
            experiment::Method::Rk4 => Method::Rk4,
            experiment::Method::Ab2 => Method::Ab2,
        },
        fixed_step: plan.fixed_step,
        rtol: plan.rtol,
        atol: plan.atol,
        max_step: plan.max_step,
        max_steps: plan.max_steps,
        initial_step: plan.initial_step,
        engine,
        wanted: layout.wanted.clone(),
        wants_fine: !plan.measures.is_empty(),
        wants_ranges: false,
        parameters: Vec::new(),
        rest: Vec::new(),
    }
}

/// Two output times nearer than this part of the run are one.
const SAME_TIME: f64 = 1e-10;

fn output_times(plan: &Plan, references: &[Table]) -> Vec<f64> {
    let first = plan.output_start.unwrap_or(plan.start);
    let span = plan.stop - plan.start;
    let step = plan.output_step.unwrap_or(span / DEFAULT_POINTS);
    let mut times = Vec::new();
    if step > 0.0 {
        let n = ((plan.stop - first) / step * (1.0 + SAME_TIME))
            .floor()
            .max(0.0) as usize;
        times.extend((0..=n).map(|k| {
            let t = first + k as f64 * step;
            if (t - plan.stop).abs() <= SAME_TIME * span {
                plan.stop
            } else {
                t
            }
        }));
    }
    let width = SAME_TIME * span;
    let inside = |t: f64| t >= plan.start - width && t <= plan.stop + width;
    for reference in references {
        // A printed time is often cut off: the plan's own one is the better of two that are nearly equal.
        let n_own = times.len();
        for &t in reference.time.iter().filter(|&&t| inside(t)) {
            let next = times[..n_own].partition_point(|&own| own < t - width);
            if times[..n_own].get(next).is_none_or(|&own| own > t + width) {
                times.push(t.clamp(plan.start, plan.stop));
            }
        }
        times.sort_by(f64::total_cmp);
    }
    times
}

/// Runs the plan once.
///
/// # Errors
///
/// What keeps the run from starting.
pub fn carry_out(
    machine: &mut Machine,
    reduced: &Reduced,
    graph: &BondGraph,
    plan: &Plan,
    layout: &Layout,
    spec: &RunSpec,
    references: &[Table],
    progress: Progress<'_>,
) -> Result<Outcome, Vec<Diagnostic>> {
    let mut run = simulate(machine, reduced, graph, spec, progress)?;
    let parameters = Parameters::new(&reduced.dae, &spec.parameters);
    let measures = measure_all(plan, run.fine.as_ref(), layout, &parameters);
    let plots = plots(plan, &run, layout, references, graph);
    run.table.columns.truncate(layout.n_recorded);
    run.ranges.truncate(layout.n_recorded);
    let comparisons = plan
        .comparisons
        .iter()
        .zip(references)
        .map(|(asked, reference)| Compared {
            path: asked.path.clone(),
            within: asked.within,
            result: compare(&run.table, reference),
        })
        .collect();
    Ok(Outcome {
        run,
        measures,
        comparisons,
        plots,
        trim: None,
        linear: Vec::new(),
        warnings: Vec::new(),
    })
}

pub(crate) fn measure_all(
    plan: &Plan,
    fine: Option<&Table>,
    layout: &Layout,
    parameters: &Parameters<'_>,
) -> Vec<Measurement> {
    let Some(fine) = fine else {
        return Vec::new();
    };
    let mut values: Vec<Option<f64>> = Vec::new();
    for measured in &plan.measures {
        let value = value_of(&measured.value, &values, fine, layout, parameters);
        values.push(value);
    }
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

fn value_of(
    measure: &Measure,
    earlier: &[Option<f64>],
    fine: &Table,
    layout: &Layout,
    parameters: &Parameters<'_>,
) -> Option<f64> {
    let again = |m: &Measure| value_of(m, earlier, fine, layout, parameters);
    match measure {
        Measure::Constant(e) => parameters.value(*e),
        Measure::Of(functional) => functional_value(functional, fine, layout),
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

fn functional_value(functional: &Functional, fine: &Table, layout: &Layout) -> Option<f64> {
    // Measures read SI: the curves behind the plots have a factor of 1 and no name.
    let curve = |x: ExprId| {
        let k = layout
            .wanted
            .iter()
            .position(|w| w.value == x && w.name.is_empty())?;
        Some(Curve {
            t: &fine.time,
            x: &fine.columns[k].values,
        })
    };
    let margin = |x: ExprId| layout.margins.iter().find(|m| m.0 == x)?.1;
    let target_of = |x: ExprId, target: Option<ExprId>| curve(target.unwrap_or(x))?.last();
    match *functional {
        Functional::Final(x) => curve(x)?.last(),
        Functional::Max(x) => curve(x)?.max(),
        Functional::Min(x) => curve(x)?.min(),
        Functional::Mean(x) => curve(x)?.mean(),
        Functional::Rms(x) => curve(x)?.rms(),
        Functional::Integral(x) => Some(curve(x)?.integral()),
        Functional::PeakTime(x) => curve(x)?.peak_time(),
        Functional::RiseTime {
            x,
            low,
            high,
            target,
        } => curve(x)?.rise_time(low, high, target_of(x, target)?),
        Functional::Overshoot { x, target } => curve(x)?.overshoot(target_of(x, target)?),
        Functional::Undershoot { x, target } => curve(x)?.undershoot(target_of(x, target)?),
        Functional::SettlingTime { x, band } => curve(x)?.settling_time(band),
        Functional::GainMargin(x) => margin(x).map(|m| m.0),
        Functional::PhaseMargin(x) => margin(x).map(|m| m.1),
    }
}

fn plots(
    plan: &Plan,
    run: &Run,
    layout: &Layout,
    references: &[Table],
    graph: &BondGraph,
) -> Vec<Plot> {
    let held = Held::new(&graph.signals);
    let mut next = layout.n_recorded;
    let mut panels = Vec::new();
    if plan.plots.is_empty() {
        panels = panels_of_columns(
            &run.table.columns[..layout.n_recorded],
            run,
            plan,
            references,
        );
    }
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
            None => run.event_times.as_slice(),
            Some(_) => &[],
        };
        panels.extend(panels_by_unit(curves, &x_label, marks));
    }
    if panels.is_empty() {
        return Vec::new();
    }
    vec![Plot {
        title: plan.name.clone().unwrap_or_default(),
        panels,
    }]
}

/// Where no plot is asked for, what is recorded is drawn over time, each column by itself.
fn panels_of_columns(
    columns: &[table::Column],
    run: &Run,
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
        panels_by_unit(curves, "time [s]", &run.event_times)
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
