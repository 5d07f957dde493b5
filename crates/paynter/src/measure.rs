//! Numbers an engineer reads off a curve: rise time, overshoot, settling time …
//!
//! In:  a curve as points, dense enough that a cubic between four of them is exact to its own error.
//! Out: one number each; `None` where the curve never does what is asked.
//!
//! **Invariant:** a repeated time is a jump; no interpolation reaches across it.

/// A curve.
#[derive(Clone, Copy, Debug)]
pub struct Curve<'a> {
    /// Never falling.
    pub t: &'a [f64],
    /// As long as `t`.
    pub x: &'a [f64],
}

impl Curve<'_> {
    /// The last value.
    pub fn last(&self) -> Option<f64> {
        self.x.last().copied()
    }

    /// The largest value, refined by a parabola through the three highest neighbours.
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

    fn extreme(&self, sign: f64) -> Option<(f64, f64)> {
        let best =
            (0..self.x.len()).max_by(|&a, &b| (sign * self.x[a]).total_cmp(&(sign * self.x[b])))?;
        let here = (self.t[best], self.x[best]);
        if best == 0 || best + 1 == self.x.len() {
            return Some(here);
        }
        let (h1, h2) = (
            self.t[best] - self.t[best - 1],
            self.t[best + 1] - self.t[best],
        );
        if h1 <= 0.0 || h2 <= 0.0 {
            return Some(here);
        }
        // x(t) ≈ x₀ + a s + b s² around the highest point; its top lies at s = −a/2b.
        let (d1, d2) = (
            (here.1 - self.x[best - 1]) / h1,
            (self.x[best + 1] - here.1) / h2,
        );
        let b = (d2 - d1) / (h1 + h2);
        let a = d1 + b * h1;
        if b * sign >= 0.0 {
            return Some(here);
        }
        let s = (-a / (2.0 * b)).clamp(-h1, h2);
        Some((here.0 + s, here.1 + s * (a + b * s)))
    }

    /// ∫ x dt over the whole curve, by the parabola through each three points.
    pub fn integral(&self) -> f64 {
        let mut sum = 0.0;
        for i in 1..self.t.len() {
            sum += self.piece(i, self.x);
        }
        sum
    }

    /// ∫ x dt over one interval; cubic Hermite with slopes of neighbouring parabolas.
    fn piece(&self, i: usize, x: &[f64]) -> f64 {
        let h = self.t[i] - self.t[i - 1];
        if h <= 0.0 {
            return 0.0;
        }
        let (left, right) = (self.slope(i - 1, i, x), self.slope(i, i - 1, x));
        h * (0.5 * (x[i - 1] + x[i]) + h / 12.0 * (left - right))
    }

    /// Slope at point `at`, looking into the interval towards `inner`; one-sided at ends and jumps.
    fn slope(&self, at: usize, inner: usize, x: &[f64]) -> f64 {
        let chord = (x[inner] - x[at]) / (self.t[inner] - self.t[at]);
        let beyond = if inner > at {
            at.checked_sub(1)
        } else {
            Some(at + 1).filter(|&i| i < x.len())
        };
        let Some(beyond) = beyond.filter(|&i| (self.t[i] - self.t[at]).abs() > 0.0) else {
            // Second-order one-sided slope from the next interval inside, where there is one.
            let further = if inner > at {
                Some(inner + 1).filter(|&i| i < x.len())
            } else {
                inner.checked_sub(1)
            };
            return match further.filter(|&i| (self.t[i] - self.t[inner]).abs() > 0.0) {
                Some(f) => {
                    let next = (x[f] - x[inner]) / (self.t[f] - self.t[inner]);
                    chord - (next - chord) * (self.t[inner] - self.t[at]) / (self.t[f] - self.t[at])
                }
                None => chord,
            };
        };
        let other = (x[at] - x[beyond]) / (self.t[at] - self.t[beyond]);
        let (h, k) = (
            (self.t[inner] - self.t[at]).abs(),
            (self.t[at] - self.t[beyond]).abs(),
        );
        (chord * k + other * h) / (h + k)
    }

    /// The mean over time.
    pub fn mean(&self) -> Option<f64> {
        let span = self.t.last()? - self.t.first()?;
        if span > 0.0 {
            Some(self.integral() / span)
        } else {
            self.last()
        }
    }

    /// The root of the mean square.
    pub fn rms(&self) -> Option<f64> {
        let squares: Vec<f64> = self.x.iter().map(|x| x * x).collect();
        Curve {
            t: self.t,
            x: &squares,
        }
        .mean()
        .map(f64::sqrt)
    }

    /// When the curve first reaches `level`, from index `from` on.
    fn first_crossing(&self, level: f64) -> Option<f64> {
        let above = self.x.first()? >= &level;
        if self.x.first()? == &level {
            return self.t.first().copied();
        }
        (1..self.x.len())
            .find(|&i| (self.x[i] >= level) != above)
            .map(|i| self.crossing(i, level))
    }

    /// Where the cubic of interval `i` meets `level`, by bisection: the interval encloses it.
    fn crossing(&self, i: usize, level: f64) -> f64 {
        let h = self.t[i] - self.t[i - 1];
        if h <= 0.0 {
            return self.t[i];
        }
        let (x0, x1) = (self.x[i - 1], self.x[i]);
        let (m0, m1) = (
            self.slope(i - 1, i, self.x) * h,
            self.slope(i, i - 1, self.x) * h,
        );
        let at = |s: f64| {
            let (s2, s3) = (s * s, s * s * s);
            (2.0 * s3 - 3.0 * s2 + 1.0) * x0
                + (s3 - 2.0 * s2 + s) * m0
                + (3.0 * s2 - 2.0 * s3) * x1
                + (s3 - s2) * m1
        };
        let starts_above = x0 >= level;
        let (mut low, mut high) = (0.0, 1.0);
        for _ in 0..60 {
            let middle = 0.5 * (low + high);
            if (at(middle) >= level) == starts_above {
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
        let way = target - self.x.first()?;
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
        let first = *self.x.first()?;
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
        let (first, last) = (*self.x.first()?, self.last()?);
        let width = band * (last - first).abs();
        let outside = (0..self.x.len())
            .rev()
            .find(|&i| (self.x[i] - last).abs() > width)?;
        let level = if self.x[outside] > last {
            last + width
        } else {
            last - width
        };
        if outside + 1 >= self.x.len() {
            return None;
        }
        Some(self.crossing(outside + 1, level) - self.t.first()?)
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
        let (t, x) = sampled(|t| 1.0 - (-t).exp(), 40.0, 2000);
        let rise = Curve { t: &t, x: &x }
            .rise_time(0.1, 0.9, 1.0)
            .expect("it rises");
        // Slopes from neighbouring points are right to h², so the cubic at h = 0.02 to about h⁴/10.
        assert!((rise - 9f64.ln()).abs() < 5e-8, "{rise}");
    }

    #[test]
    fn overshoot_of_a_damped_oscillation_follows_its_formula() {
        let (z, w) = (0.3, (1.0 - 0.09f64).sqrt());
        let (t, x) = sampled(
            |t| 1.0 - (-z * t).exp() * ((w * t).cos() + z / w * (w * t).sin()),
            30.0,
            3000,
        );
        let curve = Curve { t: &t, x: &x };
        let exact = (-std::f64::consts::PI * z / w).exp();
        assert!((curve.overshoot(1.0).expect("it moves") - exact).abs() < 1e-6);
        assert_eq!(curve.undershoot(1.0), Some(0.0));
    }

    #[test]
    fn integral_of_a_cubic_is_exact_and_jumps_are_respected() {
        let (t, x) = sampled(|t| t * t, 3.0, 10);
        assert!((Curve { t: &t, x: &x }.integral() - 9.0).abs() < 1e-12);
        let curve = Curve {
            t: &[0.0, 1.0, 1.0, 2.0],
            x: &[0.0, 0.0, 5.0, 5.0],
        };
        assert_eq!(curve.integral(), 5.0);
    }
}
