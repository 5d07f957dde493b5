//! Least and largest values of recorded quantities over the whole run, between the recorded points too.
//!
//! In:  values at the ends of steps and at events, and inside those steps in which a range may grow.
//! Out: the least and the largest value of each column.
//!
//! Looking inside a step costs evaluations. It is done only where the last step, drawn out, would leave the
//! range seen so far: elsewhere an extremum inside the step cannot be a new one of the run.

use paynter_solve::{Dense, EvalError, System};

/// Places inside a step; a parabola through the best three leaves about a thousandth of what they miss.
const PARTS: usize = 8;
/// How much farther than in the last step a quantity may go in the next one before it is missed.
const REACH: f64 = 2.0;
/// Larger systems and tables are seen at the ends of steps only.
const MOST_STATES: usize = 2000;
const MOST_COLUMNS: usize = 200;

/// What has been seen of every column.
#[derive(Clone, Debug)]
pub(crate) struct Ranges {
    low: Vec<f64>,
    high: Vec<f64>,
    /// Values at the end of the last step, and of the one before it.
    last: Vec<f64>,
    before: Vec<f64>,
    /// Its length; 0 where nothing is known of the one that comes.
    length: f64,
    /// Rows inside a step.
    rows: Vec<Vec<f64>>,
}

impl Ranges {
    pub(crate) fn new(n_columns: usize) -> Self {
        Ranges {
            low: vec![f64::INFINITY; n_columns],
            high: vec![f64::NEG_INFINITY; n_columns],
            last: vec![0.0; n_columns],
            before: vec![0.0; n_columns],
            length: 0.0,
            rows: vec![vec![0.0; n_columns]; PARTS + 1],
        }
    }

    /// Least and largest value of each column; none where it was never a number.
    pub(crate) fn found(&self) -> impl Iterator<Item = Option<(f64, f64)>> {
        let pairs = self.low.iter().zip(&self.high);
        pairs.map(|(&low, &high)| (low <= high).then_some((low, high)))
    }

    /// Sees the values at the start or after an event.
    pub(crate) fn begin(&mut self, row: &[f64]) {
        self.see(row);
        self.last.copy_from_slice(row);
        self.length = 0.0;
    }

    fn see(&mut self, row: &[f64]) {
        for ((low, high), &x) in self.low.iter_mut().zip(&mut self.high).zip(row) {
            // Comparisons that leave out what is not a number.
            *low = low.min(x);
            *high = high.max(x);
        }
    }

    /// Tells whether a step of this length may hold a new extremum.
    pub(crate) fn may_grow(&self, length: f64) -> bool {
        if self.last.len() > MOST_COLUMNS {
            return false;
        }
        if self.length == 0.0 {
            return true;
        }
        let share = REACH * length / self.length;
        let mut columns = self
            .last
            .iter()
            .zip(&self.before)
            .zip(&self.low)
            .zip(&self.high);
        columns.any(|(((&last, &before), &low), &high)| {
            let reach = share * (last - before).abs();
            last + reach > high || last - reach < low
        })
    }

    /// Sees a step.
    pub(crate) fn step(
        &mut self,
        dense: &dyn Dense,
        y: &mut [f64],
        system: &mut dyn System,
    ) -> Result<(), EvalError> {
        let (t0, t1) = (dense.t0(), dense.t1());
        let looks_inside = y.len() <= MOST_STATES && self.may_grow(t1 - t0);
        let mut rows = std::mem::take(&mut self.rows);
        rows[0].copy_from_slice(&self.last);
        let first = if looks_inside { 1 } else { PARTS };
        for part in first..PARTS {
            let t = t0 + (t1 - t0) * part as f64 / PARTS as f64;
            dense.eval(t, y);
            system.observe(t, y, &mut rows[part])?;
        }
        y.copy_from_slice(dense.y1());
        system.observe(t1, y, &mut rows[PARTS])?;

        for row in &rows[first..] {
            self.see(row);
        }
        if looks_inside {
            self.see_peaks(&rows);
        }
        std::mem::swap(&mut self.before, &mut self.last);
        self.last.copy_from_slice(&rows[PARTS]);
        self.length = t1 - t0;
        self.rows = rows;
        Ok(())
    }

    /// Sees the tops of parabolas through three values of which the middle one is an extremum.
    fn see_peaks(&mut self, rows: &[Vec<f64>]) {
        for three in rows.windows(3) {
            for k in 0..self.low.len() {
                let (a, b, c) = (three[0][k], three[1][k], three[2][k]);
                let bend = a - 2.0 * b + c;
                let is_peak = (b >= a && b >= c) || (b <= a && b <= c);
                let top = b - (c - a) * (c - a) / (8.0 * bend);
                if is_peak && top.is_finite() {
                    self.low[k] = self.low[k].min(top);
                    self.high[k] = self.high[k].max(top);
                }
            }
        }
    }
}
