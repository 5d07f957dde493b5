//! How numbers read off a curve follow a parameter.
//!
//! In:  a curve x(t), at the same points its slope s = ∂x/∂θ by the parameter, and how instants of events follow it.
//! Out: for each number of [`crate::measure`] its slope; `None` where it has none.
//!
//! The numbers are those of the polynomials through the points, and so are the slopes. At the top of a smooth curve
//! ẋ = 0, so that it follows s alone; where a level ℓ is crossed, x(t, θ) = ℓ(θ) gives dt/dθ = (dℓ/dθ − s)/ẋ; a jump at an
//! event τ(θ) moves areas by (x⁻ − x⁺) dτ/dθ (Leibniz).
//!
//! **Invariant:** nothing is perturbed by a finite amount.

use crate::measure::Curve;

/// When an event happened, and how its instant follows each parameter.
pub type Instant = (f64, Vec<f64>);

/// A number with its slope by a parameter.
pub type Dual = (f64, f64);

/// A curve beside its slope by one parameter.
#[derive(Clone, Copy, Debug)]
pub struct Following<'a> {
    curve: Curve<'a>,
    slope: Curve<'a>,
    instants: &'a [Instant],
    /// Which of the parameters.
    parameter: usize,
}

impl<'a> Following<'a> {
    /// Puts a curve and its slope together; none where points of either were left out.
    pub fn new(
        (curve, slope): (Curve<'a>, Curve<'a>),
        instants: &'a [Instant],
        parameter: usize,
    ) -> Option<Self> {
        let is_whole = curve.gaps.is_empty() && slope.gaps.is_empty() && curve.t == slope.t;
        is_whole.then_some(Following {
            curve,
            slope,
            instants,
            parameter,
        })
    }

    /// The last value.
    pub fn last(&self) -> Option<Dual> {
        Some((self.curve.last()?, self.slope.last()?))
    }

    fn first(&self) -> Option<Dual> {
        Some((*self.curve.x.first()?, *self.slope.x.first()?))
    }

    /// The largest value, or the smallest for a negative sign.
    pub fn extreme(&self, sign: f64) -> Option<Dual> {
        let best = self.curve.highest(sign)?;
        match self.curve.top_beside(best, sign) {
            Some((i, t, x)) => Some((x, self.slope.value(i, t))),
            // A top at an event moves along the curve with it.
            None => {
                let moved = match self.shift(best) {
                    0.0 => 0.0,
                    shift => shift * self.rate_beside(best)?,
                };
                Some((self.curve.x[best], self.slope.x[best] + moved))
            }
        }
    }

    /// ∫ x dt
    pub fn integral(&self) -> Dual {
        let jumps = self.jumps().map(|i| {
            let (before, after) = (self.curve.x[i - 1], self.curve.x[i]);
            (before - after) * self.shift(i)
        });
        let by_events: f64 = jumps.sum();
        (self.curve.integral(), self.slope.integral() + by_events)
    }

    /// The mean over time.
    pub fn mean(&self) -> Option<Dual> {
        let span = self.curve.t.last()? - self.curve.t.first()?;
        let (area, slope) = self.integral();
        (span > 0.0).then(|| (area / span, slope / span))
    }

    /// The root of the mean square.
    pub fn rms(&self) -> Option<Dual> {
        let span = self.curve.t.last()? - self.curve.t.first()?;
        let rms = self.curve.rms()?;
        let products: Vec<f64> = (self.curve.x.iter().zip(self.slope.x))
            .map(|(x, s)| x * s)
            .collect();
        let jumps = self.jumps().map(|i| {
            let (before, after) = (self.curve.x[i - 1], self.curve.x[i]);
            0.5 * (before * before - after * after) * self.shift(i)
        });
        let by_events: f64 = jumps.sum();
        // d √(∫x²/T) = (∫ x s + jumps) / (T · rms)
        let turned = Curve::new(self.curve.t, &products).integral() + by_events;
        (span > 0.0 && rms > 0.0).then(|| (rms, turned / (span * rms)))
    }

    /// Time from the part `low` to the part `high` of the way from the first value to `target`.
    pub fn rise_time(&self, low: f64, high: f64, target: Dual) -> Option<Dual> {
        let first = self.first()?;
        let level = |part: f64| {
            let on_way = |first: f64, target: f64| first + part * (target - first);
            (on_way(first.0, target.0), on_way(first.1, target.1))
        };
        let (from, to) = (self.reached(level(low))?, self.reached(level(high))?);
        Some((to.0 - from.0, to.1 - from.1))
    }

    /// How far the curve goes beyond `target`, as a part of the way from its first value or from `start`.
    pub fn overshoot(&self, start: Option<f64>, target: Dual) -> Option<Dual> {
        let start = self.start(start)?;
        let sign = direction(start, target)?;
        let top = self.extreme(sign)?;
        let beyond = (sign * (top.0 - target.0), sign * (top.1 - target.1));
        Some(part_of_way(beyond, start, target))
    }

    /// How far the curve goes the wrong way, likewise.
    pub fn undershoot(&self, start: Option<f64>, target: Dual) -> Option<Dual> {
        let start = self.start(start)?;
        let sign = direction(start, target)?;
        let bottom = self.extreme(-sign)?;
        let back = (sign * (start.0 - bottom.0), sign * (start.1 - bottom.1));
        Some(part_of_way(back, start, target))
    }

    /// Time after which the curve stays within `band` around its last value.
    pub fn settling_time(&self, band: f64) -> Option<Dual> {
        let (first, last) = (self.first()?, self.last()?);
        let (i, level, side) = self.curve.settled(band)?;
        let width_slope = band * (last.0 - first.0).signum() * (last.1 - first.1);
        let at = self.crossing(i, (level, last.1 + side * width_slope))?;
        Some((at.0 - self.curve.t.first()?, at.1))
    }

    fn start(&self, given: Option<f64>) -> Option<Dual> {
        given.map(|x| (x, 0.0)).or_else(|| self.first())
    }

    /// When the curve first reaches a level.
    fn reached(&self, level: Dual) -> Option<Dual> {
        match self.curve.crossed(level.0)? {
            // It starts there: whether it does so for other values of the parameter is not known.
            0 => None,
            i => self.crossing(i, level),
        }
    }

    /// When it meets a level in interval `i`.
    fn crossing(&self, i: usize, level: Dual) -> Option<Dual> {
        let t = self.curve.crossing(i, level.0);
        if self.curve.t[i] <= self.curve.t[i - 1] {
            return Some((t, self.shift(i)));
        }
        let rate = self.curve.rate(i, t);
        (rate != 0.0).then(|| (t, (level.1 - self.slope.value(i, t)) / rate))
    }

    /// Points at which a time is repeated.
    fn jumps(&self) -> impl Iterator<Item = usize> {
        let t = self.curve.t;
        (1..t.len()).filter(move |&i| t[i] <= t[i - 1])
    }

    /// How the instant of the event at a point follows the parameter; zero where there is none.
    fn shift(&self, k: usize) -> f64 {
        let t = self.curve.t[k];
        let own = self.instants.iter().rev().find(|i| i.0 == t);
        own.map_or(0.0, |i| i.1[self.parameter])
    }

    /// The slope over time beside a point at an event, on its own side.
    fn rate_beside(&self, k: usize) -> Option<f64> {
        let t = self.curve.t;
        let is_smooth = |i: usize| i > 0 && i < t.len() && t[i] > t[i - 1];
        let i = [k, k + 1].into_iter().find(|&i| is_smooth(i))?;
        Some(self.curve.rate(i, t[k]))
    }
}

/// Which way leads from the start to the target.
fn direction(start: Dual, target: Dual) -> Option<f64> {
    let way = target.0 - start.0;
    (way != 0.0).then(|| way.signum())
}

/// A distance as a part of the way, not below zero.
fn part_of_way(distance: Dual, start: Dual, target: Dual) -> Dual {
    let way = target.0 - start.0;
    let (way, way_slope) = (way.abs(), way.signum() * (target.1 - start.1));
    match distance.0 > 0.0 {
        true => {
            let part = distance.0 / way;
            (part, (distance.1 - part * way_slope) / way)
        }
        false => (0.0, 0.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A damped oscillation x(t, z) = 1 − e^(−zt) cos t and ∂x/∂z = t e^(−zt) cos t.
    fn ringing(z: f64) -> (Vec<f64>, Vec<f64>, Vec<f64>) {
        let t: Vec<f64> = (0..=3000).map(|i| i as f64 * 0.01).collect();
        let x = t.iter().map(|t| 1.0 - (-z * t).exp() * t.cos()).collect();
        let s = t.iter().map(|t| t * (-z * t).exp() * t.cos()).collect();
        (t, x, s)
    }

    /// Compares the slope of a number with the difference of the same number at two values of the parameter.
    fn agrees(what: &str, number: impl Fn(&Following<'_>) -> Option<Dual>) {
        const STEP: f64 = 1e-4;
        let at = |z: f64| {
            let (t, x, s) = ringing(z);
            let both = (Curve::new(&t, &x), Curve::new(&t, &s));
            let following = Following::new(both, &[], 0).expect("all points are there");
            number(&following).expect("the curve has it")
        };
        let (low, high) = (at(0.3 - STEP), at(0.3 + STEP));
        let difference = (high.0 - low.0) / (2.0 * STEP);
        let exact = at(0.3).1;
        // Central differences err by the third derivative times h²/6, and both numbers are read between samples.
        let allowed = 3e-6 * (1.0 + exact.abs());
        assert!(
            (difference - exact).abs() < allowed,
            "{what}: {exact} {difference}"
        );
    }

    #[test]
    fn slopes_are_those_of_the_numbers() {
        agrees("last", |f| f.last());
        agrees("max", |f| f.extreme(1.0));
        agrees("min", |f| f.extreme(-1.0));
        agrees("integral", |f| Some(f.integral()));
        agrees("mean", |f| f.mean());
        agrees("rms", |f| f.rms());
        agrees("rise", |f| f.rise_time(0.1, 0.9, (1.0, 0.0)));
        agrees("rise to the end", |f| f.rise_time(0.1, 0.9, f.last()?));
        agrees("overshoot", |f| f.overshoot(None, (1.0, 0.0)));
        agrees("overshoot of the end", |f| f.overshoot(None, f.last()?));
        agrees("overshoot from below", |f| {
            f.overshoot(Some(-0.5), (1.0, 0.0))
        });
        agrees("undershoot", |f| f.undershoot(Some(0.2), (1.0, 0.0)));
        agrees("settling", |f| f.settling_time(0.05));
    }

    #[test]
    fn a_jump_at_a_moving_event_moves_area_and_crossing() {
        // x = 2t until τ = 1 + θ, then 5: ∫ over [0, 2] = τ² + 5 (2 − τ), its slope at θ = 0 is 2 − 5.
        let (t, x) = (
            [0.0, 0.5, 1.0, 1.0, 1.5, 2.0],
            [0.0, 1.0, 2.0, 5.0, 5.0, 5.0],
        );
        let zero = [0.0; 6];
        let instants = [(1.0, vec![1.0])];
        let both = (Curve::new(&t, &x), Curve::new(&t, &zero));
        let following = Following::new(both, &instants, 0).expect("all points are there");
        assert_eq!(following.integral(), (6.0, -3.0));
        // ∫ x² = 4 τ³/3 + 25 (2 − τ): slope 4 − 25; rms = √(∫/2).
        let rms = (79.0_f64 / 6.0).sqrt();
        let found = following.rms().expect("it moves");
        assert!((found.0 - rms).abs() < 1e-12 && (found.1 + 21.0 / (4.0 * rms)).abs() < 1e-12);
        // 3 is met by the jump: at τ.
        let rise = following.rise_time(0.2, 0.6, (5.0, 0.0)).expect("it rises");
        assert!((rise.0 - 0.5).abs() < 1e-12 && rise.1 == 1.0, "{rise:?}");
    }

    #[test]
    fn a_top_at_a_moving_kink_moves_along_the_curve() {
        // Up with slope 1 until τ = 1 + θ, then down: the top is τ.
        let (t, x) = (
            [0.0, 0.5, 1.0, 1.0, 1.5, 2.0],
            [0.0, 0.5, 1.0, 1.0, 0.5, 0.0],
        );
        // After the kink x = 2τ − t.
        let slope = [0.0, 0.0, 0.0, 2.0, 2.0, 2.0];
        let instants = [(1.0, vec![1.0])];
        let both = (Curve::new(&t, &x), Curve::new(&t, &slope));
        let following = Following::new(both, &instants, 0).expect("all points are there");
        let (top, by) = following.extreme(1.0).expect("it has points");
        assert!(top == 1.0 && (by - 1.0).abs() < 1e-12, "{by}");
    }
}
