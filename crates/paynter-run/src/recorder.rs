//! Takes down the trajectory while it is computed.
//!
//! In:  accepted steps and events from the integrator.
//! Out: the wanted quantities at the output times, and what measures read inside every step.
//!
//! **Invariant:** at the time of an event the row holds the values after it. Output never
//! changes the steps: values come from the dense output.

use crate::areas::Areas;
use crate::ranges::Ranges;
use crate::trace::{Measured, Trace};
use paynter_solve::{Dense, EvalError, EventRecord, Observer, System};
use std::fmt;
use std::ops::ControlFlow;
use std::sync::Arc;

/// Points taken inside every step for measures such as rise times; cubic interpolation
/// between them leaves an error far below that of the step itself.
const POINTS_PER_STEP: usize = 8;

/// Called with the present time now and then; says whether to go on.
pub type Progress<'a> = &'a mut dyn FnMut(f64) -> ControlFlow<()>;

/// Rows over time.
#[derive(Clone, Debug, Default)]
pub struct Rows {
    /// When.
    pub time: Vec<f64>,
    /// Row after row.
    pub values: Vec<f64>,
}

impl Rows {
    /// One of the columns.
    pub fn column(&self, n_columns: usize, column: usize) -> Vec<f64> {
        self.values
            .chunks_exact(n_columns.max(1))
            .map(|row| row[column])
            .collect()
    }
}

/// Looks at what has been recorded so far as often as progress is reported: rows, and times of events.
#[derive(Clone)]
pub struct Onlooker(Arc<Look>);

type Look = dyn Fn(&Rows, &[f64]) + Send + Sync;

impl Onlooker {
    /// Calls `look` with what there is; the run waits until it returns.
    pub fn new(look: impl Fn(&Rows, &[f64]) + Send + Sync + 'static) -> Self {
        Onlooker(Arc::new(look))
    }
}

impl fmt::Debug for Onlooker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Onlooker")
    }
}

/// Writes down columns at given times.
pub struct Recorder<'a> {
    output_times: Vec<f64>,
    next: usize,
    /// What was written down.
    pub rows: Rows,
    /// What measures read.
    pub traces: Vec<Trace>,
    /// Some of it lies inside the steps.
    reads_inside: bool,
    /// When states switched.
    pub event_times: Vec<f64>,
    progress: Progress<'a>,
    steps_since_progress: u32,
    /// Who looks on.
    pub(crate) onlooker: Option<Onlooker>,
    has_started: bool,
    y: Vec<f64>,
    row: Vec<f64>,
    /// Least and largest values, where they are asked for.
    pub(crate) ranges: Option<Ranges>,
    /// Integrals of the columns and of their sizes, where they are asked for.
    pub(crate) areas: Option<Areas>,
    /// What went wrong while computing a recorded quantity.
    pub failure: Option<(f64, EvalError)>,
}

impl<'a> Recorder<'a> {
    /// A recorder of so many columns at these times.
    pub fn new(
        output_times: Vec<f64>,
        n_columns: usize,
        measured: &[Measured],
        progress: Progress<'a>,
    ) -> Self {
        Recorder {
            output_times,
            next: 0,
            rows: Rows::default(),
            traces: measured.iter().map(|&m| Trace::new(m)).collect(),
            reads_inside: measured.iter().any(|m| m.reads.is_inside()),
            event_times: Vec::new(),
            progress,
            steps_since_progress: 0,
            onlooker: None,
            has_started: false,
            y: Vec::new(),
            row: vec![0.0; n_columns],
            ranges: None,
            areas: None,
            failure: None,
        }
    }

    fn observe(&mut self, t: f64, y: &[f64], system: &mut dyn System) -> ControlFlow<()> {
        match system.observe(t, y, &mut self.row) {
            Ok(()) => ControlFlow::Continue(()),
            Err(error) => {
                self.failure = Some((t, error));
                ControlFlow::Break(())
            }
        }
    }

    /// Takes down the present row for measures; `is_inside` a step, it matters to some of them only.
    fn trace(&mut self, t: f64, is_inside: bool) {
        for trace in &mut self.traces {
            let is_read = match trace.at() {
                Some(at) => !is_inside && is_same(at, t),
                None => !is_inside || trace.is_inside(),
            };
            if is_read {
                trace.push(t, self.row[trace.column()]);
            }
        }
    }

    /// Takes down curves that are read at one time, where that lies inside a step.
    fn trace_instants(
        &mut self,
        dense: &dyn Dense,
        y: &mut [f64],
        system: &mut dyn System,
    ) -> ControlFlow<()> {
        for k in 0..self.traces.len() {
            let Some(at) = self.traces[k].at() else {
                continue;
            };
            let is_end = is_same(at, dense.t1()) || is_same(at, dense.t0());
            if is_end || at < dense.t0() || at > dense.t1() {
                continue;
            }
            dense.eval(at, y);
            self.observe(at, y, system)?;
            let value = self.row[self.traces[k].column()];
            self.traces[k].push(at, value);
        }
        ControlFlow::Continue(())
    }

    fn keep(rows: &mut Rows, t: f64, row: &[f64]) {
        rows.time.push(t);
        rows.values.extend_from_slice(row);
    }
}

/// Tells whether an output time is meant to be that of an event: `4 · 0.00333…` and `16/1200` differ
/// by roundings only.
fn is_same(output: f64, event: f64) -> bool {
    (output - event).abs() <= 8.0 * f64::EPSILON * event.abs()
}

impl Observer for Recorder<'_> {
    fn needs_dense(&mut self, t0: f64, t1: f64) -> bool {
        let is_read_at = |t: &Trace| t.at().is_some_and(|at| at > t0 && at < t1);
        self.reads_inside
            || self.areas.is_some()
            || self.traces.iter().any(is_read_at)
            || self.output_times.get(self.next).is_some_and(|&t| t < t1)
            || self.ranges.as_ref().is_some_and(|r| r.may_grow(t1 - t0))
    }

    fn start(&mut self, t: f64, y: &[f64], system: &mut dyn System) -> ControlFlow<()> {
        self.y = y.to_vec();
        self.observe(t, y, system)?;
        if let Some(ranges) = &mut self.ranges {
            ranges.begin(&self.row);
        }
        if std::mem::replace(&mut self.has_started, true) {
            // A later part of the run: at the change of structure the row holds the values after it.
            if self.rows.time.last().is_some_and(|&last| is_same(last, t)) {
                let at = self.rows.values.len() - self.row.len();
                self.rows.values[at..].copy_from_slice(&self.row);
            }
        } else if self.output_times.first() == Some(&t) {
            self.next = 1;
            Self::keep(&mut self.rows, t, &self.row);
        }
        self.trace(t, false);
        ControlFlow::Continue(())
    }

    fn step(&mut self, dense: &dyn Dense, _: &[f64], system: &mut dyn System) -> ControlFlow<()> {
        let (t0, t1) = (dense.t0(), dense.t1());
        let mut y = std::mem::take(&mut self.y);
        while let Some(&t) = self.output_times.get(self.next).filter(|&&t| t <= t1) {
            dense.eval(t, &mut y);
            self.observe(t, &y, system)?;
            Self::keep(&mut self.rows, t, &self.row);
            self.next += 1;
        }

        if self.reads_inside {
            for point in 1..POINTS_PER_STEP {
                let t = t0 + (t1 - t0) * point as f64 / POINTS_PER_STEP as f64;
                dense.eval(t, &mut y);
                self.observe(t, &y, system)?;
                self.trace(t, true);
            }
        }

        self.trace_instants(dense, &mut y, system)?;
        if !self.traces.is_empty() {
            self.observe(t1, dense.y1(), system)?;
            self.trace(t1, false);
        }

        if let Some(ranges) = &mut self.ranges
            && let Err(error) = ranges.step(dense, &mut y, system)
        {
            self.failure = Some((t1, error));
            return ControlFlow::Break(());
        }
        if let Some(areas) = &mut self.areas
            && let Err(error) = areas.step(dense, &mut y, system)
        {
            self.failure = Some((t1, error));
            return ControlFlow::Break(());
        }

        self.y = y;
        // Asking the clock or drawing a bar at every step would cost more than a small model's step.
        self.steps_since_progress += 1;
        if self.steps_since_progress >= 64 {
            self.steps_since_progress = 0;
            if let Some(Onlooker(look)) = &self.onlooker {
                look(&self.rows, &self.event_times);
            }
            (self.progress)(t1)?;
        }
        ControlFlow::Continue(())
    }

    fn event(&mut self, event: &EventRecord<'_>, system: &mut dyn System) -> ControlFlow<()> {
        self.note_event(event);
        self.see_right_limit(event.t, event.y_after, system)
    }
}

impl Recorder<'_> {
    /// Notes the time of an event.
    pub(crate) fn note_event(&mut self, event: &EventRecord<'_>) {
        if !event.fired.is_empty() {
            self.event_times.push(event.t);
        }
    }

    /// Sees the values after the event that ended the run: they are the last row, on the grid of outputs or not.
    pub(crate) fn see_end(&mut self, t: f64, y: &[f64], system: &mut dyn System) {
        // There is nothing left to be stopped.
        let _ = self.see_right_limit(t, y, system);
        let is_later = |&last: &f64| last < t && !is_same(last, t);
        if self.rows.time.last().is_some_and(is_later) && self.observe(t, y, system).is_continue() {
            Self::keep(&mut self.rows, t, &self.row);
        }
    }

    fn see_right_limit(&mut self, t: f64, y: &[f64], system: &mut dyn System) -> ControlFlow<()> {
        let replaces_last = self.rows.time.last().is_some_and(|&last| is_same(last, t));
        if !replaces_last && self.traces.is_empty() && self.ranges.is_none() {
            return ControlFlow::Continue(());
        }
        self.observe(t, y, system)?;
        if let Some(ranges) = &mut self.ranges {
            ranges.begin(&self.row);
        }
        if replaces_last {
            let at = self.rows.values.len() - self.row.len();
            self.rows.values[at..].copy_from_slice(&self.row);
        }
        // Both limits stay, so that a jump is seen as one.
        self.trace(t, false);
        ControlFlow::Continue(())
    }
}
