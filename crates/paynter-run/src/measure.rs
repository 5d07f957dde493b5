//! Numbers an engineer reads off a curve: rise time, overshoot, settling time …
//!
//! In:  a curve as points, several in each step of the solver.
//! Out: one number each, read off polynomials through neighbouring points, so that it does not depend on where these
//!      lie; `None` where the curve never does what is asked.
//!
//! **Invariant:** a repeated time is a jump or a kink; no interpolation reaches across it, nor across points that were
//! left out ([`crate::trace`]).

/// Part of an interval that the golden section keeps.
const GOLDEN: f64 = 0.618_033_988_749_895;
/// A top that is higher than its neighbours by less than this part of the largest value is none.
const ROUNDING: f64 = 1e-12;
/// Points that a polynomial goes through: between them its error is far below that of the run.
const MOST_POINTS: usize = 6;

/// Value at `t` of the polynomial through at most [`MOST_POINTS`] points (Neville's scheme).
fn neville(times: &[f64], values: &[f64], t: f64) -> f64 {
    let mut p = [0.0; MOST_POINTS];
    let n = times.len();
    p[..n].copy_from_slice(values);
    for order in 1..n {
        for k in 0..n - order {
            let (a, b) = (times[k], times[k + order]);
            p[k] = ((t - a) * p[k + 1] + (b - t) * p[k]) / (b - a);
        }
    }
    p[0]
}

/// Slope at `t` of the same polynomial: Neville's scheme, differentiated.
fn neville_rate(times: &[f64], values: &[f64], t: f64) -> f64 {
    let (mut p, mut rate) = ([0.0; MOST_POINTS], [0.0; MOST_POINTS]);
    let n = times.len();
    p[..n].copy_from_slice(values);
    for order in 1..n {
        for k in 0..n - order {
            let (a, b) = (times[k], times[k + order]);
            let turned = p[k + 1] - p[k] + (t - a) * rate[k + 1] + (b - t) * rate[k];
            p[k] = ((t - a) * p[k + 1] + (b - t) * p[k]) / (b - a);
            rate[k] = turned / (b - a);
        }
    }
    rate[0]
}

/// The sum with what rounding takes from it put back (Neumaier): millions of pieces of one size err to one side.
fn sum(values: impl Iterator<Item = f64>) -> f64 {
    let (mut sum, mut lost) = (0.0_f64, 0.0);
    for x in values {
        let next = sum + x;
        lost += match sum.abs() >= x.abs() {
            true => (sum - next) + x,
            false => (x - next) + sum,
        };
        sum = next;
    }
    sum + lost
}

/// Areas below the first part of a curve.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Summed {
    /// The point up to which they are summed.
    pub until: usize,
    /// ∫ x dt
    pub area: f64,
    /// ∫ x² dt
    pub square: f64,
}

/// A curve.
#[derive(Clone, Copy, Debug)]
pub struct Curve<'a> {
    /// Never falling.
    pub(crate) t: &'a [f64],
    /// As long as `t`.
    pub(crate) x: &'a [f64],
    /// Points before which others are left out, ascending.
    pub(crate) gaps: &'a [usize],
    /// What is known of the part that has gaps.
    pub(crate) summed: Summed,
}

impl<'a> Curve<'a> {
    /// A curve with all its points: times never fall, a value for each.
    pub fn new(t: &'a [f64], x: &'a [f64]) -> Self {
        Curve {
            t,
            x,
            gaps: &[],
            summed: Summed::default(),
        }
    }
}

impl Curve<'_> {
    /// The last value.
    pub fn last(&self) -> Option<f64> {
        self.x.last().copied()
    }

    /// The largest value, between points as at them.
    pub fn max(&self) -> Option<f64> {
        self.extreme(1.0).map(|(_, x)| x)
    }

    /// The smallest value.
    pub fn min(&self) -> Option<f64> {
        self.extreme(-1.0).map(|(_, x)| x)
    }

    /// When the largest value is reached.
    pub fn peak_time(&self) -> Option<f64> {
        self.extreme(1.0).map(|(t, _)| t)
    }

    /// The point with the largest value, or the smallest for a negative sign.
    pub(crate) fn highest(&self, sign: f64) -> Option<usize> {
        (0..self.x.len()).max_by(|&a, &b| (sign * self.x[a]).total_cmp(&(sign * self.x[b])))
    }

    fn extreme(&self, sign: f64) -> Option<(f64, f64)> {
        let best = self.highest(sign)?;
        let top = self.top_beside(best, sign);
        Some(top.map_or((self.t[best], self.x[best]), |(_, t, x)| (t, x)))
    }

    /// The top between two points beside the highest one, as interval, time and value; none where the point itself is it.
    pub(crate) fn top_beside(&self, best: usize, sign: f64) -> Option<(usize, f64, f64)> {
        let mut top = None;
        let mut highest = self.x[best];
        let size = self.x.iter().fold(0.0, |size: f64, x| size.max(x.abs()));
        let noise = ROUNDING * size;

        // The top lies beside the highest point, on one side or the other.
        for i in [best, best + 1] {
            if i == 0 || i == self.x.len() || self.t[i] <= self.t[i - 1] {
                continue;
            }
            let (mut low, mut high) = (self.t[i - 1], self.t[i]);
            let inside = |part: f64, low: f64, high: f64| {
                let t = low + part * (high - low);
                (t, self.value(i, t))
            };
            // Each round keeps the golden section of the interval; the value is settled after half as many as the time.
            let (mut a, mut b) = (inside(1.0 - GOLDEN, low, high), inside(GOLDEN, low, high));
            for _ in 0..40 {
                if sign * a.1 >= sign * b.1 {
                    high = b.0;
                    (a, b) = (inside(1.0 - GOLDEN, low, high), a);
                } else {
                    low = a.0;
                    (a, b) = (b, inside(GOLDEN, low, high));
                }
            }
            if sign * (a.1 - highest) > noise {
                highest = a.1;
                top = Some((i, a.0, a.1));
            }
        }
        top
    }

    /// Value at `t` between the points `i − 1` and `i`, by the polynomial through up to six points of the same smooth
    /// stretch; by a cubic where six points wiggle.
    pub(crate) fn value(&self, i: usize, t: f64) -> f64 {
        let (cubic, high) = (self.of_order(4, i, t), self.of_order(MOST_POINTS, i, t));
        match self.is_calm(i, t, (cubic, high)) {
            true => high,
            false => cubic,
        }
    }

    /// The slope of the same polynomial over time.
    pub(crate) fn rate(&self, i: usize, t: f64) -> f64 {
        let (cubic, high) = (self.of_order(4, i, t), self.of_order(MOST_POINTS, i, t));
        let most = match self.is_calm(i, t, (cubic, high)) {
            true => MOST_POINTS,
            false => 4,
        };
        let near = self.stretch(i, most);
        neville_rate(&self.t[near.clone()], &self.x[near], t)
    }

    /// Tells whether six points do not wiggle between the points `i − 1` and `i`.
    fn is_calm(&self, i: usize, t: f64, (cubic, high): (f64, f64)) -> bool {
        (high - cubic).abs() <= (cubic - self.of_order(2, i, t)).abs()
    }

    fn of_order(&self, most: usize, i: usize, t: f64) -> f64 {
        let near = self.stretch(i, most);
        neville(&self.t[near.clone()], &self.x[near], t)
    }

    /// At most so many points of a smooth stretch around the interval before point `i`.
    fn stretch(&self, i: usize, most: usize) -> std::ops::RangeInclusive<usize> {
        let (mut first, mut last) = (i - 1, i);
        while last - first + 1 < most {
            let is_smooth =
                |k: usize| self.t[k + 1] > self.t[k] && self.gaps.binary_search(&(k + 1)).is_err();
            let to_left = first > 0 && is_smooth(first - 1);
            let to_right = last + 1 < self.t.len() && is_smooth(last);
            // The nearer end first.
            let (left, right) = (i - first, last + 1 - i);
            if to_left && (left <= right || !to_right) {
                first -= 1;
            } else if to_right {
                last += 1;
            } else {
                break;
            }
        }
        first..=last
    }

    /// ∫ x dt over the whole curve.
    pub fn integral(&self) -> f64 {
        self.area(true, self.t.len().saturating_sub(1))
    }

    /// ∫ x dt from the start to a point that is not before those summed; zero where nobody asks.
    pub(crate) fn area(&self, is_asked: bool, until: usize) -> f64 {
        if !is_asked {
            return 0.0;
        }
        let pieces = (self.summed.until + 1..=until).map(|i| self.piece(i));
        sum(std::iter::once(self.summed.area).chain(pieces))
    }

    /// ∫ x² dt, likewise.
    pub(crate) fn squared_area(&self, is_asked: bool, until: usize) -> f64 {
        if !is_asked {
            return 0.0;
        }
        let squares: Vec<f64> = self.x.iter().map(|x| x * x).collect();
        let area = self.summed.square;
        Curve {
            x: &squares,
            summed: Summed {
                area,
                ..self.summed
            },
            ..*self
        }
        .area(true, until)
    }

    /// ∫ x dt over one interval, by the rule of Gauss that is exact for the polynomial.
    fn piece(&self, i: usize) -> f64 {
        let h = self.t[i] - self.t[i - 1];
        if h <= 0.0 {
            return 0.0;
        }
        let middle = self.t[i - 1] + 0.5 * h;
        let outer = 0.5 * h * 0.6_f64.sqrt();
        let outside = self.value(i, middle - outer) + self.value(i, middle + outer);
        h * (5.0 * outside + 8.0 * self.value(i, middle)) / 18.0
    }

    /// The mean over time.
    pub fn mean(&self) -> Option<f64> {
        let span = self.t.last()? - self.t.first()?;
        match span > 0.0 {
            true => Some(self.integral() / span),
            false => self.last(),
        }
    }

    /// The root of the mean square.
    pub fn rms(&self) -> Option<f64> {
        let span = self.t.last()? - self.t.first()?;
        match span > 0.0 {
            true => Some((self.squared_area(true, self.t.len() - 1) / span).sqrt()),
            false => self.last().map(f64::abs),
        }
    }

    /// When the curve first reaches `level`,
    fn first_crossing(&self, level: f64) -> Option<f64> {
        match self.crossed(level)? {
            0 => self.t.first().copied(),
            i => Some(self.crossing(i, level)),
        }
    }

    /// The interval in which the curve first reaches `level`; 0 where it starts there.
    pub(crate) fn crossed(&self, level: f64) -> Option<usize> {
        let first = *self.x.first()?;
        if first == level {
            return Some(0);
        }
        (1..self.x.len()).find(|&i| (self.x[i] >= level) != (first >= level))
    }

    /// Where the curve meets `level` in interval `i`, by bisection: the interval encloses it.
    pub(crate) fn crossing(&self, i: usize, level: f64) -> f64 {
        let h = self.t[i] - self.t[i - 1];
        if h <= 0.0 {
            return self.t[i];
        }
        let starts_above = self.x[i - 1] >= level;
        let (mut low, mut high) = (0.0, 1.0);
        for _ in 0..50 {
            let middle = 0.5 * (low + high);
            if (self.value(i, self.t[i - 1] + middle * h) >= level) == starts_above {
                low = middle
            } else {
                high = middle
            }
        }
        self.t[i - 1] + 0.5 * (low + high) * h
    }

    /// Time from the part `low` to the part `high` of the way from the first value to `target`.
    pub fn rise_time(&self, low: f64, high: f64, target: f64) -> Option<f64> {
        let first = *self.x.first()?;
        let from = self.first_crossing(first + low * (target - first))?;
        let to = self.first_crossing(first + high * (target - first))?;
        Some(to - from)
    }

    /// How far the curve goes beyond `target`, as a part of the way from its first value; 0 if it never does.
    pub fn overshoot(&self, target: f64) -> Option<f64> {
        self.overshoot_from(None, target)
    }

    /// The same with a way that begins at `start` instead of the first value.
    pub fn overshoot_from(&self, start: Option<f64>, target: f64) -> Option<f64> {
        let way = target - start.or(self.x.first().copied())?;
        if way == 0.0 {
            return None;
        }
        let beyond = if way > 0.0 {
            self.max()? - target
        } else {
            target - self.min()?
        };
        Some((beyond / way.abs()).max(0.0))
    }

    /// How far the curve first goes the wrong way, as a part of the way from its first value to `target`.
    pub fn undershoot(&self, target: f64) -> Option<f64> {
        self.undershoot_from(None, target)
    }

    /// The same with a way that begins at `start`: a curve that jumps the wrong way at once is counted from before its jump.
    pub fn undershoot_from(&self, start: Option<f64>, target: f64) -> Option<f64> {
        let first = start.or(self.x.first().copied())?;
        let way = target - first;
        if way == 0.0 {
            return None;
        }
        let back = if way > 0.0 {
            first - self.min()?
        } else {
            self.max()? - first
        };
        Some((back / way.abs()).max(0.0))
    }

    /// Time after which the curve stays within `band` (a part of the way) around its last value.
    pub fn settling_time(&self, band: f64) -> Option<f64> {
        let (i, level, _) = self.settled(band)?;
        Some(self.crossing(i, level) - self.t.first()?)
    }

    /// The interval in which the curve comes into its band for good, the level there, and on which side of the last value
    /// it is.
    pub(crate) fn settled(&self, band: f64) -> Option<(usize, f64, f64)> {
        let (first, last) = (*self.x.first()?, self.last()?);
        let width = band * (last - first).abs();
        let outside = (0..self.x.len())
            .rev()
            .find(|&i| (self.x[i] - last).abs() > width)?;
        let side = if self.x[outside] > last { 1.0 } else { -1.0 };
        (outside + 1 < self.x.len()).then_some((outside + 1, last + side * width, side))
    }
}

impl Curve<'_> {
    /// The difference from another curve at every time that either has a point, over the time that both have: times and
    /// values. Where one of them jumps, both limits are there.
    pub fn difference(&self, other: &Curve<'_>) -> (Vec<f64>, Vec<f64>) {
        let (mut times, mut values) = (Vec::new(), Vec::new());
        let ends = |c: &Curve<'_>| Some((*c.t.first()?, *c.t.last()?));
        let (Some(own), Some(others)) = (ends(self), ends(other)) else {
            return (times, values);
        };
        let (first, last) = (own.0.max(others.0), own.1.min(others.1));
        let (mut i, mut j) = (0, 0);
        loop {
            let next = |c: &Curve<'_>, k: usize| c.t.get(k).copied().unwrap_or(f64::INFINITY);
            let t = next(self, i).min(next(other, j));
            if t > last || t == f64::INFINITY {
                break;
            }
            let (before, after) = (self.limits(i, t), other.limits(j, t));
            (i, j) = (before.2, after.2);
            if t < first {
                continue;
            }
            let is_jump = before.3 || after.3;
            times.push(t);
            values.push(before.0 - after.0);
            if is_jump {
                times.push(t);
                values.push(before.1 - after.1);
            }
        }
        (times, values)
    }

    /// The values before and after time `t`, where point `k` is the first one not before it; the first point after it, and
    /// whether it is a jump.
    fn limits(&self, k: usize, t: f64) -> (f64, f64, usize, bool) {
        let mut next = k;
        while self.t.get(next) == Some(&t) {
            next += 1;
        }
        match next - k {
            // Between two points; beyond the ends nobody asks for the value.
            0 if k == 0 || k == self.t.len() => (f64::NAN, f64::NAN, k, false),
            0 => {
                let x = self.value(k, t);
                (x, x, k, false)
            }
            1 => (self.x[k], self.x[k], next, false),
            _ => (self.x[k], self.x[next - 1], next, true),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sampled(f: impl Fn(f64) -> f64, end: f64, n: usize) -> (Vec<f64>, Vec<f64>) {
        let t: Vec<f64> = (0..=n).map(|i| end * i as f64 / n as f64).collect();
        let x = t.iter().map(|&t| f(t)).collect();
        (t, x)
    }

    #[test]
    fn rise_time_of_a_lag_is_ln_9_time_constants() {
        let (t, x) = sampled(|t| 1.0 - (-t).exp(), 40.0, 400);
        let rise = Curve::new(&t, &x)
            .rise_time(0.1, 0.9, 1.0)
            .expect("it rises");
        // Six points at h = 0.1: h⁶ / 6! times the products of distances, about 1e-8 of the time constant.
        assert!((rise - 9f64.ln()).abs() < 3e-8, "{rise}");
    }

    #[test]
    fn overshoot_of_a_damped_oscillation_follows_its_formula() {
        let (z, w) = (0.3, (1.0 - 0.09f64).sqrt());
        let (t, x) = sampled(
            |t| 1.0 - (-z * t).exp() * ((w * t).cos() + z / w * (w * t).sin()),
            30.0,
            300,
        );
        let curve = Curve::new(&t, &x);
        let exact = (-std::f64::consts::PI * z / w).exp();
        assert!((curve.overshoot(1.0).expect("it moves") - exact).abs() < 1e-9);
        let peak = curve.peak_time().expect("it has points");
        assert!((peak - std::f64::consts::PI / w).abs() < 1e-6);
        assert_eq!(curve.undershoot(1.0), Some(0.0));
        // Counted from 0.2 the way is 0.8 long; the curve starts 0.2 on the wrong side of it.
        let from = |start| curve.overshoot_from(Some(start), 1.0).expect("it moves");
        assert!((from(0.2) - exact / 0.8).abs() < 1e-9);
        assert_eq!(curve.undershoot_from(Some(0.2), 1.0), Some(0.25));
    }

    #[test]
    fn integral_of_a_cubic_is_exact_and_jumps_are_respected() {
        let (t, x) = sampled(|t| t * t, 3.0, 10);
        assert!((Curve::new(&t, &x).integral() - 9.0).abs() < 1e-12);
        let curve = Curve::new(&[0.0, 1.0, 1.0, 2.0], &[0.0, 0.0, 5.0, 5.0]);
        assert_eq!(curve.integral(), 5.0);
    }

    #[test]
    fn curves_on_different_points_are_subtracted() {
        let (t, x) = sampled(f64::sin, 6.0, 60);
        let (u, y) = sampled(|t| t.sin() + 0.01 * t, 5.0, 77);
        let (times, values) = Curve::new(&u, &y).difference(&Curve::new(&t, &x));
        assert_eq!((times[0], times[times.len() - 1]), (0.0, 5.0));
        // Six points 0.1 apart: 1e-8 of the amplitude.
        let errs = times.iter().zip(&values).map(|(t, d)| (d - 0.01 * t).abs());
        assert!(errs.fold(0.0, f64::max) < 1e-7);
        let jumping = Curve::new(&[0.0, 1.0, 1.0, 2.0], &[0.0, 0.0, 3.0, 3.0]);
        let flat = Curve::new(&[0.0, 2.0], &[1.0, 1.0]);
        let (times, values) = jumping.difference(&flat);
        assert_eq!(times, [0.0, 1.0, 1.0, 2.0]);
        assert_eq!(values, [-1.0, -1.0, 2.0, 2.0]);
    }

    #[test]
    fn extremes_stay_within_jumps_and_kinks() {
        // A ramp that is cut off: the top is the kink itself, which an event marks by a repeated time.
        let curve = Curve::new(
            &[0.0, 0.5, 1.0, 1.5, 1.5, 2.0, 2.5, 3.0],
            &[0.0, 0.5, 1.0, 1.5, 1.5, 1.0, 0.5, 0.0],
        );
        assert_eq!(curve.max(), Some(1.5));
        assert!((curve.integral() - 2.25).abs() < 1e-14);
        // One that nothing marks: a little beyond it, not far.
        let curve = Curve::new(
            &[0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0],
            &[0.0, 1.0, 2.0, 3.0, 2.0, 1.0, 0.0],
        );
        let top = curve.max().expect("it has points");
        assert!((3.0..3.1).contains(&top), "{top}");
    }
}
