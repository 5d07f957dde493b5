//! Areas under recorded columns: their integrals, and those of their sizes, over the whole run.
//!
//! In:  steps as functions of time.
//! Out: an [`Area`] for each column: ∫x dt, ∫|x| dt, its least and its largest value.
//!
//! A size has a corner wherever its column changes sign, and no rule of quadrature sees that. So a column is a Chebyshev series over
//! each panel of a step, the panel is cut at the roots of the series, and the pieces are integrated exactly. A step over which the
//! series do not settle is halved.
//!
//! **Invariant:** |∫x dt| ≤ ∫|x| dt, and least ≤ largest.

use paynter_solve::{Dense, EvalError, System};
use std::f64::consts::PI;
use std::ops::Range;

/// What was seen of a column, SI units.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Area {
    /// ∫x dt.
    pub signed: f64,
    /// ∫|x| dt.
    pub size: f64,
    /// Least value.
    pub low: f64,
    /// Largest value.
    pub high: f64,
}

/// Degree of the series: a product of two states of a step, each of degree 7 as DOP853 has them, is exact.
const DEGREE: usize = 16;
const N_POINTS: usize = DEGREE + 1;
/// Values of a column at the points of a panel, or coefficients of its series.
type Series = [f64; N_POINTS];

/// Coefficients that tell whether a series has settled.
const TAIL: usize = 3;
/// Share of the relative tolerance that the tail may have: what is left out must not be seen beside the error of the run.
const SHARE_OF_TOLERANCE: f64 = 1e-2;
/// Roundings leave a tail, too.
const ROUNDING: f64 = 1e-13;
/// Halvings of a step.
const MAX_HALVINGS: u32 = 12;
/// Panels of one step, so that noise does not stop a run.
const MOST_PANELS: usize = 64;
/// Bisections of a root or of an extremum on −1…1: the area errs by the square of what they leave.
const BISECTIONS: usize = 44;

/// Areas of the columns of a run.
#[derive(Clone, Debug)]
pub(crate) struct Areas {
    found: Vec<Area>,
    /// Columns of one unit that decide whether a panel is fine enough.
    judged: Range<usize>,
    rtol: f64,
    /// cos(π k/DEGREE): the points of a panel, from its end to its start.
    cosines: [f64; 2 * DEGREE],
    /// Values at the points of a panel, row after row.
    rows: Vec<f64>,
    /// Series of each column over the present panel.
    series: Vec<Series>,
    /// Panels still to be summed: from, to, number of halvings.
    open: Vec<(f64, f64, u32)>,
}

impl Areas {
    pub(crate) fn new(n_columns: usize, judged: Range<usize>, rtol: f64) -> Self {
        let nothing = Area {
            signed: 0.0,
            size: 0.0,
            low: f64::INFINITY,
            high: f64::NEG_INFINITY,
        };
        Areas {
            found: vec![nothing; n_columns],
            judged,
            rtol,
            cosines: std::array::from_fn(|k| (PI * k as f64 / DEGREE as f64).cos()),
            rows: vec![0.0; n_columns * N_POINTS],
            series: vec![[0.0; N_POINTS]; n_columns],
            open: Vec::new(),
        }
    }

    /// What was found of each column.
    pub(crate) fn found(&self) -> impl Iterator<Item = Area> {
        self.found.iter().copied()
    }

    /// Adds a step.
    pub(crate) fn step(
        &mut self,
        dense: &dyn Dense,
        y: &mut [f64],
        system: &mut dyn System,
    ) -> Result<(), EvalError> {
        self.open.push((dense.t0(), dense.t1(), 0));
        let (mut whole, mut n_panels) = (0.0_f64, 0);
        while let Some((from, to, depth)) = self.open.pop() {
            self.fill(dense, (from, to), y, system)?;
            let (size, tail) = self.judge();
            let length = to - from;
            whole = whole.max(size * length);
            n_panels += 1;
            let allowed = (SHARE_OF_TOLERANCE * self.rtol * whole).max(ROUNDING * size * length);
            if tail * length > allowed && depth < MAX_HALVINGS && n_panels < MOST_PANELS {
                let middle = 0.5 * (from + to);
                self.open.push((middle, to, depth + 1));
                self.open.push((from, middle, depth + 1));
                continue;
            }
            let half = 0.5 * length;
            for (found, series) in self.found.iter_mut().zip(&self.series) {
                add(found, &Panel::new(series, &self.cosines), half);
            }
        }
        Ok(())
    }

    /// Makes the series of all columns over a panel.
    fn fill(
        &mut self,
        dense: &dyn Dense,
        (from, to): (f64, f64),
        y: &mut [f64],
        system: &mut dyn System,
    ) -> Result<(), EvalError> {
        let n = self.series.len();
        let (middle, half) = (0.5 * (from + to), 0.5 * (to - from));
        for j in 0..N_POINTS {
            let t = match j {
                0 => to,
                DEGREE => from,
                _ => middle + half * self.cosines[j],
            };
            dense.eval(t, y);
            system.observe(t, y, &mut self.rows[j * n..][..n])?;
        }
        for (column, series) in self.series.iter_mut().enumerate() {
            let value = |j: usize| self.rows[j * n + column];
            for (k, coefficient) in series.iter_mut().enumerate() {
                let ends = 0.5 * (value(0) + if k % 2 == 0 { 1.0 } else { -1.0 } * value(DEGREE));
                let inner = (1..DEGREE).map(|j| value(j) * self.cosines[j * k % (2 * DEGREE)]);
                let sum: f64 = ends + inner.sum::<f64>();
                let is_end = k == 0 || k == DEGREE;
                *coefficient = sum * if is_end { 1.0 } else { 2.0 } / DEGREE as f64;
            }
        }
        Ok(())
    }

    /// Size of the judged columns over the present panel, and of what their series leave out.
    fn judge(&self) -> (f64, f64) {
        let judged = &self.series[self.judged.clone()];
        let of = |part: &[f64]| part.iter().map(|c| c.abs()).sum::<f64>();
        let size = judged.iter().map(|s| of(s)).sum();
        let tail = judged.iter().map(|s| of(&s[N_POINTS - TAIL..])).sum();
        (size, tail)
    }
}

/// One column over one panel, on −1…1.
struct Panel<'s> {
    series: &'s Series,
    /// Its antiderivative.
    integral: [f64; N_POINTS + 1],
    /// Points and values there, from the start to the end.
    points: [(f64, f64); N_POINTS],
}

impl<'s> Panel<'s> {
    fn new(series: &'s Series, cosines: &[f64; 2 * DEGREE]) -> Self {
        let c = |k: usize| series.get(k).copied().unwrap_or(0.0);
        let mut integral = [0.0; N_POINTS + 1];
        for (k, term) in integral.iter_mut().enumerate().skip(1) {
            let before = if k == 1 { 2.0 * c(0) } else { c(k - 1) };
            *term = (before - c(k + 1)) / (2.0 * k as f64);
        }
        let point = |j: usize| match j {
            0 => -1.0,
            DEGREE => 1.0,
            _ => cosines[DEGREE - j],
        };
        Panel {
            series,
            integral,
            points: std::array::from_fn(|j| (point(j), clenshaw(series, point(j)))),
        }
    }

    fn value(&self, x: f64) -> f64 {
        clenshaw(self.series, x)
    }

    fn between(&self, a: f64, b: f64) -> f64 {
        clenshaw(&self.integral, b) - clenshaw(&self.integral, a)
    }

    /// Where the value changes its sign between `a` and `b`, at which it has different ones.
    fn root(&self, mut a: f64, mut b: f64) -> f64 {
        let is_positive = self.value(a) > 0.0;
        for _ in 0..BISECTIONS {
            let middle = 0.5 * (a + b);
            match (self.value(middle) > 0.0) == is_positive {
                true => a = middle,
                false => b = middle,
            }
        }
        0.5 * (a + b)
    }

    /// The place of the largest value of `sign` times the column between `a` and `b`, by thirds.
    fn top(&self, sign: f64, mut a: f64, mut b: f64) -> f64 {
        for _ in 0..BISECTIONS {
            let third = (b - a) / 3.0;
            match sign * self.value(a + third) < sign * self.value(b - third) {
                true => a += third,
                false => b -= third,
            }
        }
        0.5 * (a + b)
    }
}

/// Σ c_k T_k(x), by Clenshaw's recurrence.
fn clenshaw(series: &[f64], x: f64) -> f64 {
    let (mut b1, mut b2) = (0.0, 0.0);
    for &c in series[1..].iter().rev() {
        (b1, b2) = (c + 2.0 * x * b1 - b2, b1);
    }
    series[0] + x * b1 - b2
}

/// Adds a panel of this half length.
fn add(found: &mut Area, panel: &Panel<'_>, half: f64) {
    for &(_, value) in &panel.points {
        found.low = found.low.min(value);
        found.high = found.high.max(value);
    }
    let mut cuts = vec![-1.0];
    for three in panel.points.windows(3) {
        if let Some(top) = peak(found, panel, three) {
            cuts.push(top);
        }
    }
    cuts.extend(panel.points.iter().map(|p| p.0));
    cuts.sort_by(f64::total_cmp);
    // Between neighbours the value changes its sign once or not at all.
    let mut from = -1.0;
    let mut add_up_to = |to: f64| {
        let part = half * panel.between(from, to);
        found.signed += part;
        found.size += part.abs();
        from = to;
    };
    for pair in cuts.windows(2) {
        let (a, b) = (panel.value(pair[0]), panel.value(pair[1]));
        if (a > 0.0) != (b > 0.0) {
            add_up_to(panel.root(pair[0], pair[1]));
        }
    }
    add_up_to(1.0);
}

/// The place of an extremum between three points that is a new one of the run, or beyond zero while the points are not.
fn peak(found: &mut Area, panel: &Panel<'_>, three: &[(f64, f64)]) -> Option<f64> {
    let ((a, before), (_, here), (b, after)) = (three[0], three[1], three[2]);
    let sign = match () {
        () if here >= before && here >= after => 1.0,
        () if here <= before && here <= after => -1.0,
        () => return None,
    };
    // A parabola goes beyond its middle point by an eighth of this at most.
    let bend = (before - 2.0 * here + after).abs();
    let reach = here + 0.5 * sign * bend;
    let is_new = reach > found.high || reach < found.low;
    let is_across = reach * here < 0.0;
    if !(is_new || is_across) {
        return None;
    }
    let place = panel.top(sign, a, b);
    let value = panel.value(place);
    found.low = found.low.min(value);
    found.high = found.high.max(value);
    (value * here < 0.0).then_some(place)
}
