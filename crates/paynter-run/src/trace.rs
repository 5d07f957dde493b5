//! A curve that measures read, taken down while the run goes on.
//!
//! In:  points in the order of time, several in each step of the solver, and what the measures read of them.
//! Out: the [`Curve`] that gives each measure.
//!
//! **Invariant:** what is left out cannot change a measure. A run of some thousand points keeps them all; a longer one
//! keeps those near the ends and the extremes, and those that set a record when a measure asks for crossings. Areas
//! of what is left out are summed before.

use crate::measure::{Curve, Summed};

/// Points after which what no measure needs is left out, for the first time.
const FIRST_LIMIT: usize = 1 << 15;
/// Polynomials reach so far from the interval that they serve.
const REACH: usize = 6;
/// The last points, whose polynomials still wait for later ones.
const TAIL: usize = 2 * REACH;

/// What measures read of a curve, beside its first and last value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Reads {
    /// Extremes.
    pub extremes: bool,
    /// The area below it.
    pub area: bool,
    /// The area below its square.
    pub square: bool,
    /// When it first crosses or last leaves a level that is known at the end of the run only.
    pub levels: bool,
    /// All of it.
    pub whole: bool,
}

impl Reads {
    /// What either needs.
    pub fn or(self, other: Reads) -> Reads {
        Reads {
            extremes: self.extremes | other.extremes,
            area: self.area | other.area,
            square: self.square | other.square,
            levels: self.levels | other.levels,
            whole: self.whole | other.whole,
        }
    }

    /// Tells whether points inside the steps matter.
    pub(crate) fn is_inside(self) -> bool {
        self != Reads::default()
    }
}

/// A column of a run that measures read.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Measured {
    /// Which of the wanted quantities.
    pub column: usize,
    /// What is read of it.
    pub reads: Reads,
    /// Nothing but its value at this time is read.
    pub at: Option<f64>,
}

/// The points of one column.
#[derive(Clone, Debug)]
pub struct Trace {
    measured: Measured,
    t: Vec<f64>,
    x: Vec<f64>,
    /// Points before which others are left out, ascending.
    gaps: Vec<usize>,
    summed: Summed,
    limit: usize,
}

impl Trace {
    pub(crate) fn new(measured: Measured) -> Self {
        Trace {
            measured,
            t: Vec::new(),
            x: Vec::new(),
            gaps: Vec::new(),
            summed: Summed::default(),
            limit: FIRST_LIMIT,
        }
    }

    /// Which of the wanted quantities it is.
    pub(crate) fn column(&self) -> usize {
        self.measured.column
    }

    /// Tells whether points inside the steps matter.
    pub(crate) fn is_inside(&self) -> bool {
        self.measured.reads.is_inside()
    }

    /// The only time that matters, if there is one.
    pub(crate) fn at(&self) -> Option<f64> {
        self.measured.at
    }

    /// The curve for measures.
    pub fn curve(&self) -> Curve<'_> {
        Curve {
            t: &self.t,
            x: &self.x,
            gaps: &self.gaps,
            summed: self.summed,
        }
    }

    /// Takes down a point, not before the last one.
    pub(crate) fn push(&mut self, t: f64, x: f64) {
        if !self.is_inside() {
            // Only the ends matter.
            self.t.truncate(1);
            self.x.truncate(1);
        }
        self.t.push(t);
        self.x.push(x);
        if self.t.len() >= self.limit && !self.measured.reads.whole {
            self.leave_out();
            self.limit = FIRST_LIMIT.max(2 * self.t.len());
        }
    }

    /// Leaves out what no measure needs any more.
    fn leave_out(&mut self) {
        let (n, reads) = (self.t.len(), self.measured.reads);
        let until = n - TAIL;
        let curve = self.curve();
        let area = curve.area(reads.area, until);
        let square = curve.squared_area(reads.square, until);

        let mut is_kept = vec![false; n];
        let mut keep = |i: usize| {
            is_kept[i.saturating_sub(REACH)..(i + REACH + 1).min(n)].fill(true);
        };
        keep(0);
        (until - TAIL..n).for_each(&mut keep);
        let extremes = [1.0, -1.0].map(|sign| curve.highest(sign));
        extremes.into_iter().flatten().for_each(&mut keep);
        if reads.levels {
            records(self.x.iter().copied().enumerate(), &mut keep);
            records(self.x.iter().copied().enumerate().rev(), &mut keep);
        }

        self.compact(&is_kept);
        self.summed = Summed {
            until: self.t.len() - TAIL,
            area,
            square,
        };
    }

    fn compact(&mut self, is_kept: &[bool]) {
        let old_gaps = std::mem::take(&mut self.gaps);
        let mut old_gaps = old_gaps.into_iter().peekable();
        let (mut n, mut is_joined) = (0, true);
        for i in 0..is_kept.len() {
            is_joined &= old_gaps.next_if_eq(&i).is_none();
            if !is_kept[i] {
                is_joined = false;
                continue;
            }
            if !is_joined {
                self.gaps.push(n);
            }
            (self.t[n], self.x[n]) = (self.t[i], self.x[i]);
            n += 1;
            is_joined = true;
        }
        self.t.truncate(n);
        self.x.truncate(n);
    }
}

/// Calls `found` for each value above or below all that come before it. The first crossing of any level is at one of
/// them; from the end, the last one outside of any band.
fn records(values: impl Iterator<Item = (usize, f64)>, found: &mut impl FnMut(usize)) {
    let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
    for (i, x) in values {
        if x < low || x > high {
            found(i);
        }
        (low, high) = (low.min(x), high.max(x));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: Reads = Reads {
        extremes: true,
        area: true,
        square: true,
        levels: true,
        whole: false,
    };

    /// A step response that rings on for long, with a jump every tenth point, as samples make them.
    fn ringing(n: usize) -> impl Iterator<Item = (f64, f64)> {
        (0..n).map(|i| {
            let t = (i - i / 10) as f64 * 0.01;
            let jump = if i % 20 < 10 { 0.0 } else { 1e-3 };
            (t, 1.0 - (-0.01 * t).exp() * (0.7 * t).cos() + jump)
        })
    }

    #[test]
    fn leaving_points_out_changes_no_measure() {
        let n = 400_000;
        let column = Measured {
            column: 0,
            reads: ALL,
            at: None,
        };
        let mut trace = Trace::new(column);
        ringing(n).for_each(|(t, x)| trace.push(t, x));
        let (t, x): (Vec<f64>, Vec<f64>) = ringing(n).unzip();
        let (short, whole) = (trace.curve(), Curve::new(&t, &x));

        assert!(trace.t.len() < n / 4, "{} points", trace.t.len());
        assert_eq!(short.max(), whole.max());
        assert_eq!(short.min(), whole.min());
        assert_eq!(short.peak_time(), whole.peak_time());
        assert_eq!(
            short.rise_time(0.1, 0.9, 1.0),
            whole.rise_time(0.1, 0.9, 1.0)
        );
        for band in [0.5, 0.1, 0.02] {
            assert_eq!(short.settling_time(band), whole.settling_time(band));
        }
        let close = |a: Option<f64>, b: Option<f64>| {
            let (a, b) = a.zip(b).expect("both have a value");
            assert!((a - b).abs() <= 1e-13 * b.abs(), "{a} {b}");
        };
        close(Some(short.integral()), Some(whole.integral()));
        close(short.mean(), whole.mean());
        close(short.rms(), whole.rms());
    }

    #[test]
    fn extremes_and_areas_need_a_bounded_number_of_points() {
        let reads = Reads {
            levels: false,
            ..ALL
        };
        let mut trace = Trace::new(Measured {
            column: 0,
            reads,
            at: None,
        });
        // A ramp sets a record at each point.
        (0..200_000).for_each(|i| trace.push(i as f64, i as f64));
        assert!(trace.t.len() <= FIRST_LIMIT, "{} points", trace.t.len());
        assert_eq!(trace.curve().max(), Some(199_999.0));
        let exact = 199_999.0_f64.powi(2) / 2.0;
        assert!((trace.curve().integral() / exact - 1.0).abs() < 1e-12);
    }

    #[test]
    fn the_last_value_needs_two_points() {
        let mut trace = Trace::new(Measured {
            column: 0,
            reads: Reads::default(),
            at: None,
        });
        (0..100).for_each(|i| trace.push(i as f64, -(i as f64)));
        assert_eq!(trace.t.len(), 2);
        assert_eq!(trace.curve().last(), Some(-99.0));
    }
}
