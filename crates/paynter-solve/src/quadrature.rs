//! Integrals along the trajectory, outside of error control and of any Newton iteration.
//!
//! In:  a step, and the system's integrands.
//! Out: the integrals at its end, in the cheapest way that keeps the tolerance: the method's own weights over
//!      its stages, or the integrands at the ends of the last steps, or points on the interpolant.
//!
//! The last way works for any step: Gauss–Legendre quadrature with five points, exact for integrands of
//! degree 9; a step over which the integrands are rougher than that is halved. The others judge themselves by two
//! results of different order, and give the step to it when these differ too much.

use crate::observer::Dense;
use crate::options::{Failure, Function};
use crate::stepper::{Stages, StepQuadrature, Trouble, refuse_not_finite, zeros};
use crate::system::System;

/// Points on −1…1 and weights of the five-point rule (Abramowitz & Stegun, table 25.4).
const POINTS: [f64; 5] = [
    -0.906_179_845_938_664,
    -0.538_469_310_105_683,
    0.0,
    0.538_469_310_105_683,
    0.906_179_845_938_664,
];
const WEIGHTS: [f64; 5] = [
    0.236_926_885_056_189_1,
    0.478_628_670_499_366_5,
    0.568_888_888_888_888_9,
    0.478_628_670_499_366_5,
    0.236_926_885_056_189_1,
];

/// The five-point rule: points with their weights.
pub(crate) const FIVE_POINTS: [(f64, f64); 5] = {
    let mut rule = [(0.0, 0.0); 5];
    let mut k = 0;
    while k < 5 {
        rule[k] = (POINTS[k], WEIGHTS[k]);
        k += 1;
    }
    rule
};

/// Weights of the rule on the three inner points, which is exact for degree 3.
const ROUGH_WEIGHTS: [f64; 5] = {
    // ∫ x² dx = 2/3 on −1…1 fixes the outer weight: 2 w x² = 2/3.
    let outer = 1.0 / (3.0 * POINTS[3] * POINTS[3]);
    [0.0, outer, 2.0 - 2.0 * outer, outer, 0.0]
};

/// Share of the relative tolerance that the quadrature may add: it must not be seen beside the solver's error.
const SHARE_OF_TOLERANCE: f64 = 1e-2;
/// Bounds of the difference of the two rules below which a panel is smooth: rounding, and no more
/// than a rough look.
const SMOOTH_BOUNDS: (f64, f64) = (1e-5, 1e-2);
/// Halvings of a step whose integrands are rough: each gains a thousandfold where they are smooth after all, and a
/// factor of two beside a pole that can be integrated, such as that of a logarithm.
const MAX_HALVINGS: u32 = 40;
/// Panels of one step: enough to halve down to one pole.
const MOST_PANELS: usize = 100;

/// Error estimate over the stages, in relative tolerances of the energy moved in the step, up to which they
/// serve. The estimates are of lower order than the formula: for an oscillation, whose power turns twice as fast as
/// its state, the formula's own error is a hundred to a thousand times smaller.
const STAGE_ESTIMATE: f64 = 100.0;
/// Integrands at so many ends of steps are remembered: as many as a polynomial of the order of BDF needs.
const MOST_ENDS: usize = 6;
/// Points on 0…1 and weights of the three-point rule, exact for the polynomials through those ends.
const END_RULE: [(f64, f64); 3] = [
    (0.112_701_665_379_258_3, 0.277_777_777_777_777_8),
    (0.5, 0.444_444_444_444_444_4),
    (0.887_298_334_620_741_7, 0.277_777_777_777_777_8),
];

/// Running integrals.
#[derive(Clone, Debug)]
pub(crate) struct Quadratures {
    values: Vec<f64>,
    /// Sum of the sizes of what was added to each.
    variations: Vec<f64>,
    /// Sum of what the steps estimate each to be wrong by.
    errors: Vec<f64>,
    /// The first so many decide whether a way is good enough.
    n_checked: usize,
    rtol: f64,
    /// Whether `sum` holds the integrals over the present step by its stages, and they are good.
    stages_serve: bool,
    ends: Ends,
    /// What rounding took from `values` (Kahan): many steps add little to much.
    lost: Vec<f64>,
    sum: Vec<f64>,
    /// Room for points on the interpolant; empty until the first.
    rates: Vec<f64>,
    rough: Vec<f64>,
    y: Vec<f64>,
    /// Number of variables.
    n: usize,
    /// Difference of the two rules, as a part of the integrals, below which a panel is smooth.
    smooth: f64,
    /// Panels still to be summed: from, to, number of halvings.
    open: Vec<(f64, f64, u32)>,
}

/// Integrands at the ends of the last steps, the newest first.
#[derive(Clone, Debug, Default)]
struct Ends {
    times: Vec<f64>,
    rates: Vec<Vec<f64>>,
}

impl Ends {
    fn push(&mut self, t: f64, rates: &[f64]) {
        let mut room = if self.times.len() == MOST_ENDS {
            self.times.pop();
            self.rates.pop().expect("as many rates as times")
        } else {
            vec![0.0; rates.len()]
        };
        room.copy_from_slice(rates);
        self.times.insert(0, t);
        self.rates.insert(0, room);
    }

    /// Weights of the newest `n` ends in the integral over the last step, of length h.
    fn weights(&self, n: usize) -> [f64; MOST_ENDS] {
        let h = self.times[0] - self.times[1];
        let place = |j: usize| (self.times[j] - self.times[1]) / h;
        let mut weights = [0.0; MOST_ENDS];
        for (j, weight) in weights.iter_mut().enumerate().take(n) {
            for (x, share) in END_RULE {
                // Lagrange's polynomial that is 1 at end j and 0 at the others.
                let mut basis = share * h;
                for k in (0..n).filter(|&k| k != j) {
                    basis *= (x - place(k)) / (place(j) - place(k));
                }
                *weight += basis;
            }
        }
        weights
    }

    fn integral(&self, weights: &[f64], i: usize) -> f64 {
        weights
            .iter()
            .zip(&self.rates)
            .map(|(weight, rates)| weight * rates[i])
            .sum()
    }
}

impl Quadratures {
    pub(crate) fn new(system: &dyn System, rtol: f64) -> Self {
        let (n_quadratures, n) = (system.n_quadratures(), system.n());
        // The error of the rule of degree 9 is about the 5/2 power of that of degree 3.
        let (low, high) = SMOOTH_BOUNDS;
        Self {
            n_checked: system.n_checked_quadratures().min(n_quadratures),
            rtol,
            stages_serve: false,
            ends: Ends::default(),
            smooth: (SHARE_OF_TOLERANCE * rtol).powf(0.4).clamp(low, high),
            values: zeros(n_quadratures),
            variations: zeros(n_quadratures),
            errors: zeros(n_quadratures),
            lost: zeros(n_quadratures),
            rates: Vec::new(),
            sum: zeros(n_quadratures),
            rough: Vec::new(),
            y: Vec::new(),
            n,
            open: Vec::new(),
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    pub(crate) fn values(&self) -> &[f64] {
        &self.values
    }

    /// Gives the integrals, their variations and their estimated errors.
    pub(crate) fn into_values(self) -> [Vec<f64>; 3] {
        [self.values, self.variations, self.errors]
    }

    /// Forgets the steps before: the trajectory is about to jump or to bend.
    pub(crate) fn forget(&mut self) {
        self.ends.times.clear();
        self.ends.rates.clear();
    }

    /// Tells whether the interpolant of a step that has just been made will be needed.
    pub(crate) fn needs_dense(&mut self, way: StepQuadrature<'_>) -> bool {
        if self.is_empty() {
            return false;
        }
        self.stages_serve = match way {
            StepQuadrature::Stages(stages) => self.sum_stages(&stages),
            StepQuadrature::Done(increments) => {
                self.sum.copy_from_slice(increments);
                // What has no value shows on the interpolant, with its time.
                increments.iter().all(|increment| increment.is_finite())
            }
            StepQuadrature::Dense | StepQuadrature::Ends(_) => false,
        };
        !self.stages_serve
    }

    /// Adds the integrals over one step, or over a part of it by its interpolant.
    pub(crate) fn advance(
        &mut self,
        way: StepQuadrature<'_>,
        dense: &dyn Dense,
        system: &mut dyn System,
    ) -> Result<(), Failure> {
        match way {
            StepQuadrature::Stages(stages) if self.stages_serve => {
                self.note_error_of_stages(&stages);
                self.add(1.0);
                return Ok(());
            }
            StepQuadrature::Done(_) if self.stages_serve => {
                self.note_error_of_states();
                self.add(1.0);
                return Ok(());
            }
            StepQuadrature::Ends(end) => {
                if self.sum_ends(dense, end, system)? {
                    self.note_error_of_states();
                    self.add(1.0);
                    return Ok(());
                }
            }
            StepQuadrature::Stages(_) | StepQuadrature::Done(_) | StepQuadrature::Dense => {
                self.forget();
            }
        }

        self.open.push((dense.t0(), dense.t1(), 0));
        let (mut whole, mut n_panels) = (0.0f64, 0);
        while let Some((from, to, depth)) = self.open.pop() {
            let half = 0.5 * (to - from);
            let middle = from + half;
            let roughness = self.panel(middle, half, dense, system)?;
            let size = half * self.size();
            whole = whole.max(size);
            n_panels += 1;
            // What is rough but small beside the step needs no closer look.
            let is_rough = roughness > self.smooth;
            let counts = roughness * size > SHARE_OF_TOLERANCE * self.rtol * whole;
            if is_rough && counts && depth < MAX_HALVINGS && n_panels < MOST_PANELS {
                self.open.push((middle, to, depth + 1));
                self.open.push((from, middle, depth + 1));
                continue;
            }
            self.note_error_of_panel(half, is_rough);
            self.add(half);
        }
        Ok(())
    }

    /// The estimate of high order, less what it is known to be too large by.
    fn note_error_of_stages(&mut self, stages: &Stages<'_>) {
        let n = self.errors.len();
        let sums = stages.sums.unwrap_or(&self.rough);
        for (error, estimate) in self.errors.iter_mut().zip(&sums[n..]) {
            *error += estimate.abs() / STAGE_ESTIMATE;
        }
    }

    /// What was integrated by the formula of the states errs as they do.
    fn note_error_of_states(&mut self) {
        for (error, part) in self.errors.iter_mut().zip(&self.sum) {
            *error += self.rtol * part.abs();
        }
    }

    /// What the two rules differ by; on a smooth panel to the power by which their degrees do, since the rule of degree 9
    /// is that much better.
    fn note_error_of_panel(&mut self, half: f64, is_rough: bool) {
        let parts = self.sum.iter().zip(&self.rough);
        for (error, (fine, rough)) in self.errors.iter_mut().zip(parts) {
            let difference = (fine - rough).abs();
            let size = fine.abs().max(difference);
            if is_rough {
                *error += half * difference;
            } else if size > 0.0 {
                let part = difference / size;
                *error += half * size * part * part * part.sqrt();
            }
        }
    }

    /// Takes the sums over the stages of a step; tells whether they are good enough.
    fn sum_stages(&mut self, stages: &Stages<'_>) -> bool {
        let n = self.sum.len();
        let sums = match stages.sums {
            Some(sums) => sums,
            None => {
                self.rough.resize(3 * n, 0.0);
                let lists = stages.weights.iter();
                for (weights, sums) in lists.zip(self.rough.chunks_exact_mut(n)) {
                    sum_rows(stages.h, weights, stages.rates, sums);
                }
                &self.rough
            }
        };
        self.sum.copy_from_slice(&sums[..n]);
        let squares = |row: usize| -> f64 {
            let checked = &sums[row * n..][..self.n_checked];
            checked.iter().map(|error| error * error).sum()
        };
        let (sum_high, sum_low) = (squares(1), squares(2));
        // Blended as the method blends them for its states.
        let blend = sum_high + 0.01 * sum_low;
        let estimate = if blend > 0.0 {
            sum_high / blend.sqrt()
        } else {
            blend
        };
        let size = self.size();
        // NaN compares as false: the points on the interpolant will say what has no value.
        estimate <= STAGE_ESTIMATE * self.rtol * size && size.is_finite()
    }

    /// Integrates the polynomial through the ends of the last steps; tells whether that is good enough.
    fn sum_ends(
        &mut self,
        dense: &dyn Dense,
        end: &[f64],
        system: &mut dyn System,
    ) -> Result<bool, Failure> {
        if self.ends.times.first() != Some(&dense.t0()) {
            self.forget();
            self.evaluate(dense.t0(), dense.y0(), system)?;
            self.ends.push(dense.t0(), &self.rates);
        }

        refuse_not_finite(dense.t1(), end, Function::QuadratureRates)
            .map_err(Trouble::into_failure)?;
        self.ends.push(dense.t1(), end);

        // Of the polynomials of all degrees the one that differs least from its forerunner.
        let mut best = (f64::INFINITY, [0.0; MOST_ENDS]);
        let mut before = self.ends.weights(1);
        for n in 2..=self.ends.times.len() {
            let weights = self.ends.weights(n);
            let difference: f64 = (0..self.n_checked)
                .map(|i| (self.ends.integral(&weights, i) - self.ends.integral(&before, i)).abs())
                .sum();
            if difference < best.0 {
                best = (difference, weights);
            }
            before = weights;
        }

        for i in 0..self.sum.len() {
            self.sum[i] = self.ends.integral(&best.1, i);
        }
        Ok(best.0 <= self.rtol * self.size())
    }

    /// Energy that moved in the step, or what stands for it.
    fn size(&self) -> f64 {
        self.sum.iter().map(|x| x.abs()).sum()
    }

    fn evaluate(&mut self, t: f64, y: &[f64], system: &mut dyn System) -> Result<(), Failure> {
        let what = Function::QuadratureRates;
        self.rates.resize(self.values.len(), 0.0);
        system
            .quadrature_rates(t, y, &mut self.rates)
            .map_err(|error| Trouble::Evaluation { t, error, what })
            .and_then(|()| refuse_not_finite(t, &self.rates, what))
            .map_err(Trouble::into_failure)
    }

    /// Sums one panel; gives the difference to the rule of three points, as a part of the integrals.
    fn panel(
        &mut self,
        middle: f64,
        half: f64,
        dense: &dyn Dense,
        system: &mut dyn System,
    ) -> Result<f64, Failure> {
        self.sum.fill(0.0);
        self.rough.clear();
        self.rough.resize(self.values.len(), 0.0);
        self.y.resize(self.n, 0.0);
        for ((point, weight), rough) in POINTS.into_iter().zip(WEIGHTS).zip(ROUGH_WEIGHTS) {
            let t = middle + half * point;
            let mut y = std::mem::take(&mut self.y);
            dense.eval(t, &mut y);
            let outcome = self.evaluate(t, &y, system);
            self.y = y;
            outcome?;
            for i in 0..self.rates.len() {
                self.sum[i] += weight * self.rates[i];
                self.rough[i] += rough * self.rates[i];
            }
        }

        let difference: f64 = self.sum[..self.n_checked]
            .iter()
            .zip(&self.rough)
            .map(|(a, b)| (a - b).abs())
            .sum();
        let size = self.size();
        Ok(if size > 0.0 { difference / size } else { 0.0 })
    }

    /// Adds `factor` times what was summed.
    fn add(&mut self, factor: f64) {
        let sums = self.values.iter_mut().zip(&mut self.lost).zip(&self.sum);
        for (((value, lost), sum), variation) in sums.zip(&mut self.variations) {
            let part = factor * sum;
            *variation += part.abs();
            let increment = part - *lost;
            let total = *value + increment;
            *lost = (total - *value) - increment;
            *value = total;
        }
    }
}

/// `h Σ weight rates`, in the order in which [`crate::Trial`] demands it.
fn sum_rows(h: f64, weights: &[f64], rates: &[f64], sums: &mut [f64]) {
    let rows = rates.chunks_exact(sums.len());
    for (number, (weight, rates)) in weights.iter().zip(rows).enumerate() {
        for (sum, rate) in sums.iter_mut().zip(rates) {
            *sum = if number == 0 {
                weight * rate
            } else {
                *sum + weight * rate
            };
        }
    }
    sums.iter_mut().for_each(|sum| *sum *= h);
}
