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
    /// ∫|x| dt; from zero to zero for the columns that say how finely to look.
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
/// A half whose tail is larger than this part of that of the whole is noise, or has a corner: where series settle, a half has a thousandth.
const NO_BETTER: f64 = 0.1;
/// What a step leaves of the noise that those before have shown.
const FORGOTTEN: f64 = 0.9;
/// Beside the largest of the judged columns, a value whose changes of sign are not searched: it is the rounding of others.
const NEGLIGIBLE: f64 = 1e-12;
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
    /// Weights of every point, and of every second.
    weights: [Series; 2],
    /// Panels still to be summed.
    open: Vec<Open>,
    /// Size of tails that halving does not make smaller: roundings of quantities that cancel.
    noise: f64,
}

/// A panel still to be summed.
#[derive(Clone, Copy, Debug)]
struct Open {
    from: f64,
    to: f64,
    /// Number of halvings.
    depth: u32,
    /// The tail of the panel that it is a half of.
    tail_before: f64,
}

impl Open {
    /// The second half, and the first, which is looked at next.
    fn halves(self, tail: f64) -> [Open; 2] {
        let middle = 0.5 * (self.from + self.to);
        let half = Open {
            depth: self.depth + 1,
            tail_before: tail,
            ..self
        };
        [
            Open {
                from: middle,
                ..half
            },
            Open { to: middle, ..half },
        ]
    }
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
            weights: [weights(DEGREE), weights(DEGREE / 2)],
            open: Vec::new(),
            noise: 0.0,
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
        let first = Open {
            from: dense.t0(),
            to: dense.t1(),
            depth: 0,
            tail_before: f64::INFINITY,
        };
        self.open.push(first);
        self.noise *= FORGOTTEN;
        let (mut whole, mut n_panels) = (0.0_f64, 0);
        while let Some(panel) = self.open.pop() {
            let length = panel.to - panel.from;
            let mut stride = 2;
            self.look((dense, &panel), y, system, stride)?;
            let (mut size, mut tail) = self.judge(stride);
            whole = whole.max(size * length);
            if tail * length > self.allowed(size * length, whole, length) {
                stride = 1;
                self.look((dense, &panel), y, system, stride)?;
                (size, tail) = self.judge(stride);
            }
            n_panels += 1;
            let is_rough = tail * length > self.allowed(size * length, whole, length);
            if is_rough && tail > NO_BETTER * panel.tail_before {
                self.noise = self.noise.max(tail);
            } else if is_rough && panel.depth < MAX_HALVINGS && n_panels < MOST_PANELS {
                self.open.extend(panel.halves(tail));
                continue;
            }
            self.sum(0.5 * length, stride);
        }
        Ok(())
    }

    /// What a tail may leave out of a panel of this size, beside the largest of its step.
    fn allowed(&self, size: f64, whole: f64, length: f64) -> f64 {
        let share = SHARE_OF_TOLERANCE * self.rtol * whole;
        share.max(ROUNDING * size).max(2.0 * self.noise * length)
    }

    /// Takes the values at every second point of a panel, or at those between.
    fn look(
        &mut self,
        (dense, panel): (&dyn Dense, &Open),
        y: &mut [f64],
        system: &mut dyn System,
        stride: usize,
    ) -> Result<(), EvalError> {
        let n = self.found.len();
        let (middle, half) = (0.5 * (panel.from + panel.to), 0.5 * (panel.to - panel.from));
        let first = if stride == 2 { 0 } else { 1 };
        for j in (first..N_POINTS).step_by(2) {
            let t = match j {
                0 => panel.to,
                DEGREE => panel.from,
                _ => middle + half * self.cosines[j],
            };
            dense.eval(t, y);
            system.observe(t, y, &mut self.rows[j * n..][..n])?;
        }
        Ok(())
    }

    /// Size of the judged columns over a panel that was looked at at every point, or at every second, and of the last terms of their series.
    fn judge(&self, stride: usize) -> (f64, f64) {
        let degree = DEGREE / stride;
        let (mut size, mut tail) = (0.0_f64, 0.0_f64);
        for column in self.judged.clone() {
            let values = self.values(column, stride);
            let values = &values[..=degree];
            size += values.iter().map(|x| x.abs()).sum::<f64>() / values.len() as f64;
            for k in degree + 1 - TAIL..=degree {
                tail += self.coefficient(values, k).abs();
            }
        }
        (size, tail)
    }

    /// Values of a column, from the end of the panel to its start.
    fn values(&self, column: usize, stride: usize) -> Series {
        let n = self.found.len();
        let mut values = [0.0; N_POINTS];
        for (value, j) in values.iter_mut().zip((0..N_POINTS).step_by(stride)) {
            *value = self.rows[j * n + column];
        }
        values
    }

    /// A coefficient of the Chebyshev series through these values.
    fn coefficient(&self, values: &[f64], k: usize) -> f64 {
        let degree = values.len() - 1;
        let stride = DEGREE / degree;
        let sign = if k.is_multiple_of(2) { 1.0 } else { -1.0 };
        let ends = 0.5 * (values[0] + sign * values[degree]);
        let cosine = |j: usize| self.cosines[j * stride * k % (2 * DEGREE)];
        let inner: f64 = (1..degree).map(|j| values[j] * cosine(j)).sum();
        let share = if k == 0 || k == degree { 1.0 } else { 2.0 };
        share * (ends + inner) / degree as f64
    }

    /// Adds the present panel, of this half length.
    fn sum(&mut self, half: f64, stride: usize) {
        let degree = DEGREE / stride;
        let judged = self.found[self.judged.clone()].iter();
        let peak = judged.fold(0.0_f64, |m, f| m.max(f.high).max(-f.low));
        let floor = NEGLIGIBLE * peak;
        for column in 0..self.found.len() {
            let values = self.values(column, stride);
            let values = &values[..=degree];
            let found = &mut self.found[column];
            for &value in values {
                found.low = found.low.min(value);
                found.high = found.high.max(value);
            }
            let largest = values.iter().fold(0.0_f64, |m, x| m.max(x.abs()));
            let counts = self.judged.contains(&column) && largest > floor;
            if is_plain(found, values, counts) {
                for (x, weight) in values.iter().zip(&self.weights[stride - 1]) {
                    found.signed += half * weight * x;
                    found.size += half * weight * x.abs();
                }
                continue;
            }
            let mut series = [0.0; N_POINTS];
            for (k, coefficient) in series.iter_mut().enumerate().take(degree + 1) {
                *coefficient = self.coefficient(values, k);
            }
            add(
                &mut self.found[column],
                &Panel::new(&series, &self.cosines),
                half,
            );
        }
    }
}

/// Weights of Clenshaw and Curtis: what integrates the series through degree + 1 points exactly.
fn weights(degree: usize) -> Series {
    let weight = |j: usize| {
        let terms = (1..=degree / 2).map(|k| {
            let share = if 2 * k == degree { 1.0 } else { 2.0 };
            let angle = 2.0 * PI * (j * k) as f64 / degree as f64;
            share * angle.cos() / (4.0 * (k * k) as f64 - 1.0)
        });
        let share = if j == 0 || j == degree { 1.0 } else { 2.0 };
        share * (1.0 - terms.sum::<f64>()) / degree as f64
    };
    std::array::from_fn(|j| if j <= degree { weight(j) } else { 0.0 })
}

/// Tells whether a column does not go beyond what was seen over a panel, between these points either, and where its sign counts, keeps that.
fn is_plain(found: &Area, values: &[f64], counts: bool) -> bool {
    let keeps_sign = || values.iter().all(|x| *x > 0.0) || values.iter().all(|x| *x < 0.0);
    let calm = |three: &[f64]| match extremum([three[0], three[1], three[2]]) {
        Some((_, reach)) => !(is_new(found, reach) || counts && reach * three[1] < 0.0),
        None => true,
    };
    (!counts || keeps_sign()) && values.windows(3).all(calm)
}

/// The sign of an extremum at the middle of three values, and how far it may reach between them.
fn extremum([before, here, after]: [f64; 3]) -> Option<(f64, f64)> {
    let sign = match () {
        () if here >= before && here >= after => 1.0,
        () if here <= before && here <= after => -1.0,
        () => return None,
    };
    // A parabola goes beyond its middle point by an eighth of this at most.
    let bend = (before - 2.0 * here + after).abs();
    Some((sign, here + 0.5 * sign * bend))
}

fn is_new(found: &Area, reach: f64) -> bool {
    reach > found.high || reach < found.low
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

/// The place of an extremum between three points that lies beyond zero while the points do not.
fn peak(found: &mut Area, panel: &Panel<'_>, three: &[(f64, f64)]) -> Option<f64> {
    let ((a, before), (_, here), (b, after)) = (three[0], three[1], three[2]);
    let (sign, reach) = extremum([before, here, after])?;
    if !is_new(found, reach) && reach * here >= 0.0 {
        return None;
    }
    let place = panel.top(sign, a, b);
    let value = panel.value(place);
    found.low = found.low.min(value);
    found.high = found.high.max(value);
    (value * here < 0.0).then_some(place)
}
