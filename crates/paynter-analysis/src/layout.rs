//! What a run of an experiment records, in which order, and when.
//!
//! In:  a [`Plan`].
//! Out: a [`Layout`] of everything its table, plots and measures read, and the [`RunSpec`] for it.

use paynter_exec::Engine;
use paynter_model::experiment::{self, Constraints, Functional, Measure, Plan};
use paynter_run::spec::{RunSpec, Wanted};
use paynter_run::table::Table;
use paynter_run::trace::{Measured, Reads, Trace};
use paynter_symbolic::ExprId;

/// Output points of a run whose experiment says nothing about them.
const DEFAULT_POINTS: f64 = 500.0;

/// The quantities of a plan in the order in which a run records them.
#[derive(Clone, Debug)]
pub struct Layout {
    /// All of them.
    pub wanted: Vec<Wanted>,
    /// The first ones are the columns of the table.
    pub n_recorded: usize,
    /// The last ones are the positions of so many locks, and the energy that their gaps are compared with.
    pub n_locks: usize,
    /// So many before them are what the gain of delayed loops is computed from.
    pub n_gains: usize,
    /// Curves that measures read.
    pub measured: Vec<(ExprId, Measured)>,
    /// What measures read of other runs, in the order of the plan.
    pub named: Vec<Named>,
    /// Margins that measures read: signal, gain margin in dB and phase margin in rad.
    pub margins: Vec<(ExprId, Option<(f64, f64)>)>,
}

impl Layout {
    /// Quantities that nothing else is computed from.
    pub fn of(wanted: Vec<Wanted>) -> Self {
        Layout {
            wanted,
            n_recorded: 0,
            n_locks: 0,
            n_gains: 0,
            measured: Vec::new(),
            named: Vec::new(),
            margins: Vec::new(),
        }
    }
}

/// What a measure reads of another run.
#[derive(Clone, Debug)]
pub enum Named {
    /// A curve, with all its points.
    Curve(Trace),
    /// A number; none where the curve never does what is asked.
    Number(Option<f64>),
}

/// Lists everything that the plan needs from the run.
pub fn lay_out(plan: &Plan) -> Layout {
    let mut wanted: Vec<Wanted> = plan.columns.iter().map(wanted_column).collect();
    let n_recorded = wanted.len();
    for plot in &plan.plots {
        wanted.extend(plot.ys.iter().chain(&plot.versus).map(wanted_column));
    }

    let mut curves: Vec<Curve> = Vec::new();
    for (_, _, measure) in plan.all_measures() {
        curves_of(measure, &mut curves);
    }

    // Measures read SI: curves of their own, without names.
    let first = wanted.len();
    wanted.extend(curves.iter().map(|&(value, ..)| Wanted {
        name: String::new(),
        value,
        unit: String::new(),
        factor: 1.0,
        offset: 0.0,
    }));

    let measured = curves.into_iter().enumerate();
    let measured = measured.map(|(k, (value, reads, at))| {
        let column = first + k;
        (value, Measured { column, reads, at })
    });

    Layout {
        wanted,
        n_recorded,
        n_locks: 0,
        n_gains: 0,
        measured: measured.collect(),
        named: Vec::new(),
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

/// A curve, what is read of it, and the time if it is read at one time only.
type Curve = (ExprId, Reads, Option<f64>);

/// Adds what a measure reads to what others read.
fn curves_of(measure: &Measure, curves: &mut Vec<Curve>) {
    let mut open = vec![measure];
    while let Some(measure) = open.pop() {
        match measure {
            Measure::Constant(_) | Measure::Earlier(_) => {}
            Measure::Of(functional) => {
                for (value, reads, at) in functional_curves(functional) {
                    match curves.iter_mut().find(|c| c.0 == value && c.2 == at) {
                        Some(known) => known.1 = known.1.or(reads),
                        None => curves.push((value, reads, at)),
                    }
                }
            }
            Measure::Negative(a) | Measure::Call1(_, a) => open.push(a),
            Measure::Arithmetic(_, a, b) | Measure::Call2(_, a, b) => open.extend([&**a, &**b]),
        }
    }
}

fn functional_curves(functional: &Functional) -> Vec<Curve> {
    let ends = Reads::default();
    let extremes = Reads {
        extremes: true,
        ..ends
    };
    let area = Reads { area: true, ..ends };
    let square = Reads {
        square: true,
        ..ends
    };
    let levels = Reads {
        levels: true,
        ..ends
    };
    let whole = Reads {
        whole: true,
        ..ends
    };
    let towards = |x, reads, target: Option<ExprId>| {
        let target = target.map(|target| (target, ends, None));
        std::iter::once((x, reads, None)).chain(target).collect()
    };

    match *functional {
        Functional::Final(x) => vec![(x, ends, None)],
        Functional::Kept(x)
        | Functional::Difference { x, .. }
        | Functional::RmsDifference { x, .. } => vec![(x, whole, None)],
        Functional::Max(x) | Functional::Min(x) | Functional::PeakTime(x) => {
            vec![(x, extremes, None)]
        }
        Functional::Mean(x) | Functional::Integral(x) => vec![(x, area, None)],
        Functional::At { x, time } => vec![(x, ends, Some(time))],
        Functional::Rms(x) => vec![(x, square, None)],
        Functional::SettlingTime { x, .. } => vec![(x, levels, None)],
        Functional::RiseTime { x, target, .. } => towards(x, levels, target),
        Functional::Overshoot { x, target, .. } | Functional::Undershoot { x, target, .. } => {
            towards(x, extremes, target)
        }
        // Margins belong to the linearised loop, others to another run.
        Functional::GainMargin(_) | Functional::PhaseMargin(_) | Functional::InRun(_) => Vec::new(),
    }
}

/// Turns a plan into what the solver needs. `references` add their times to the output times.
pub fn run_spec(plan: &Plan, layout: &Layout, references: &[Table], engine: Engine) -> RunSpec {
    RunSpec {
        start: plan.start,
        stop: plan.stop,
        output_times: output_times(plan, references),
        method: plan.method,
        fixed_step: plan.fixed_step,
        rtol: plan.rtol,
        atol: plan.atol,
        max_step: plan.max_step,
        max_steps: plan.max_steps,
        initial_step: plan.initial_step,
        engine,
        wanted: layout.wanted.clone(),
        measured: layout.measured.iter().map(|m| m.1).collect(),
        wants_ranges: false,
        wants_areas: None,
        parameters: Vec::new(),
        is_minimal: plan.constraints == Constraints::Minimal,
        keeps_past: plan.constraints == Constraints::Delayed,
        rest: Vec::new(),
        onlooker: None,
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
