//! Backward differentiation of orders 1 to 5 with variable step, for large smooth stiff
//! systems, with or without algebraic rows.
//!
//! In:  a system whose projection, if any, never moves a state: the method lives on its past.
//! Out: accepted steps, each with the interpolating polynomial of the past as dense output.
//!
//! The past is kept as backward differences of a grid of equal steps; a change of step
//! re-interpolates them (quasi-constant step). The formulas are the numerical differentiation
//! formulas of Shampine & Reichelt, "The MATLAB ODE Suite", SIAM J. Sci. Comput. 18 (1997)
//! 1–22. Jacobian and factors are kept as long as Newton's method converges with them, as in
//! CVODE (Cohen & Hindmarsh 1996).

use crate::jacobian::Jacobian;
use crate::linear::{IterationMatrix, Singular};
use crate::one_step::fit;
use crate::options::Failure;
use crate::stepper::{
    Context, StepQuadrature, Stepper, Trouble, min_step, weighted_norm, worst_index,
};

const MAX_ORDER: usize = 5;
/// Differences of one more than the order are needed to judge the next higher order.
const N_DIFFERENCES: usize = MAX_ORDER + 3;

/// κ of the numerical differentiation formulas, by order; 0 gives plain backward differences.
const KAPPA: [f64; MAX_ORDER + 1] = [0.0, -0.1850, -1.0 / 9.0, -0.0823, -0.0415, 0.0];

/// Newton's method stops when it leaves this share of the error the step may make. Smaller
/// wastes iterations, larger puts noise into the differences that choose the order.
const NEWTON_SHARE: f64 = 0.03;
/// Algebraic variables have no inertia: what Newton's method leaves of them is not smoothed by
/// the next step, and their differences of order 5 magnify it by 2⁵. They also need factors of
/// the present `c`, not of one near it.
const NEWTON_SHARE_OF_ALGEBRAIC: f64 = 1e-3;
const MAX_NEWTON_ITERATIONS: usize = 4;
/// Beyond this rate of convergence a fresh Jacobian or a smaller step is cheaper.
const MAX_NEWTON_RATE: f64 = 0.9;
/// How much of the rate of convergence seen before is still believed (CVODE).
const RATE_MEMORY: f64 = 0.3;
/// Factors of `c M − J` are kept while `c` stays within this share of the factorised one;
/// the error in the corrections is then damped by `2 / (1 + ratio)` (CVODE).
const MAX_RATIO_DRIFT: f64 = 0.25;
/// Steps after which the Jacobian is computed anew even if Newton's method converges.
const MAX_JACOBIAN_AGE: usize = 50;
/// A step is not made longer for less than this: re-interpolation costs accuracy.
const MIN_GROWTH: f64 = 1.2;
/// Nor shorter for less than this: the error test allows it.
const MAX_SHRINKING_IGNORED: f64 = 0.9;
const MAX_GROWTH: f64 = 10.0;
const MIN_FACTOR: f64 = 0.2;
const FACTOR_AFTER_NEWTON_FAILURE: f64 = 0.25;
/// Share of the tolerance that the step-size law aims at, as a factor on the step.
const SAFETY: f64 = 0.8;

/// The error is taken for this many times its estimate, since errors of many steps add up; with
/// less, smooth problems err by more than ten times the tolerance. CVODE aims at a sixth.
const ERROR_WEIGHT: f64 = 5.0;
/// Below this relative tolerance the weight grows with the number of steps, which is as `rtol^(−1/6)` for
/// order 5: so many errors add up.
const RTOL_OF_MANY_STEPS: f64 = 1e-8;

/// Products with a Jacobian that serves many steps, for an estimate of its spectral radius.
const POWER_PRODUCTS: u8 = 8;
/// A step with a larger `h ρ(J)` could not have been made by an explicit method: the problem is stiff.
const STIFF_STEP: f64 = 2.0;
/// From this `h ρ(J)` on, the quadratures go the way of the states. Where nothing is stiff, polynomials through the
/// integrands are more right.
const MIN_STIFF_STEP: f64 = 0.1;
/// Where no step has been stiff, nothing may damp what a step errs by, so that the errors of all steps to the end
/// of the run add up. Each is about 0.2 of the tolerance divided by the weight; this many steps for each unit of
/// the weight make five tolerances of them.
const STEPS_PER_WEIGHT: f64 = 25.0;
/// The weight for undamped motion is at most this many times that for stiff problems, which costs half as many
/// steps again at order 5: where motion is damped, as cannot be known beforehand, all of it is given in vain.
const MAX_WEIGHT_RATIO: f64 = 10.0;

/// Constants of one order.
#[derive(Clone, Copy, Debug)]
struct OrderConstants {
    /// Σ 1/j for j up to the order.
    gamma: f64,
    /// `(1 − κ) γ`.
    alpha: f64,
    /// The error of a step is estimated as this times the next difference.
    error: f64,
}

fn constants(order: usize) -> OrderConstants {
    let gamma: f64 = (1..=order).map(|j| 1.0 / j as f64).sum();
    let kappa = KAPPA[order];
    OrderConstants {
        gamma,
        alpha: (1.0 - kappa) * gamma,
        error: kappa * gamma + 1.0 / (order + 1) as f64,
    }
}

/// The method in the middle of a run.
pub(crate) struct Bdf {
    /// How many times its estimate the error is taken for.
    error_weight: f64,
    /// The same where the problem is stiff.
    stiff_weight: f64,
    spectral_radius: f64,
    /// Whether a step was made that only a stiff method can make.
    was_stiff: bool,
    n_steps: usize,
    order: usize,
    h: f64,
    t0: f64,
    t1: f64,
    /// Backward differences at `t1` for steps of `h`; the zeroth is the state itself.
    differences: [Vec<f64>; N_DIFFERENCES],
    n_equal_steps: usize,
    /// Factor on the step and the order to use from the next step on.
    planned: (f64, usize),
    jacobian: Jacobian,
    jacobian_age: Option<usize>,
    matrix: IterationMatrix,
    /// `c` of the factors at hand.
    factored: Option<f64>,
    /// Rate of convergence of Newton's method with these factors; 1 if not yet known.
    newton_rate: f64,
    mass: Vec<f64>,
    has_algebraic_rows: bool,
    predicted: Vec<f64>,
    psi: Vec<f64>,
    /// Sum of the Newton corrections: the next difference.
    correction: Vec<f64>,
    y: Vec<f64>,
    f: Vec<f64>,
    delta: Vec<f64>,
    /// The new state with the whole of Newton's last correction, of which the state itself has a part: stiff
    /// components, whose rates magnify what is missing, want all of it. Kept if there are quadratures.
    settled: Vec<f64>,
    quadrature: Quadrature,
    inverse_scale: Vec<f64>,
}

/// The quadratures as further rows of the system, on which nothing depends.
///
/// What a step errs by in a storage that rests near its source is made up for by the source, whose power is that
/// error magnified. Only the same formula errs by the same in both, so that the sum is right.
struct Quadrature {
    /// Backward differences; the zeroth is not kept.
    differences: [Vec<f64>; N_DIFFERENCES],
    /// Integrands at the end of the last step.
    rates: Vec<f64>,
    correction: Vec<f64>,
    increments: Vec<f64>,
}

impl Quadrature {
    fn new(n: usize) -> Self {
        let zeros = || vec![0.0; n];
        Self {
            differences: std::array::from_fn(|_| zeros()),
            rates: zeros(),
            correction: zeros(),
            increments: zeros(),
        }
    }

    fn is_empty(&self) -> bool {
        self.rates.is_empty()
    }

    /// Takes the integrands at `(t, y)`; not a number if they have no value, which the points inside of the step
    /// will tell with their time.
    fn evaluate(&mut self, cx: &mut Context<'_>, t: f64, y: &[f64]) {
        if cx.system.quadrature_rates(t, y, &mut self.rates).is_err() {
            self.rates.fill(f64::NAN);
        }
    }

    /// Forgets the past, for steps of `h` at order 1.
    fn restart(&mut self, h: f64) {
        for difference in &mut self.differences {
            difference.fill(0.0);
        }
        for (first, rate) in self.differences[1].iter_mut().zip(&self.rates) {
            *first = h * rate;
        }
    }

    /// Goes over one step of length `h` with the integrands at its end.
    fn advance(&mut self, h: f64, order: usize) {
        let alpha = constants(order).alpha;
        for i in 0..self.rates.len() {
            let (mut sum, mut psi) = (0.0, 0.0);
            for j in 1..=order {
                sum += self.differences[j][i];
                psi += constants(j).gamma / alpha * self.differences[j][i];
            }
            self.correction[i] = h * self.rates[i] / alpha - psi;
            self.increments[i] = sum + self.correction[i];
        }
        sum_differences(&mut self.differences, &self.correction, order);
    }
}

/// How an attempt at a step ended.
enum Attempt {
    Accepted { error: f64, iterations: usize },
    Rejected { factor: f64, trouble: Trouble },
}

impl Bdf {
    pub(crate) fn new(cx: &Context<'_>) -> Self {
        let n = cx.system.n();
        let jacobian = Jacobian::new(cx.system);
        let algebraic = cx.system.algebraic();
        let matrix = IterationMatrix::new(n, jacobian.pattern(), algebraic);
        let is_algebraic = |i| algebraic.get(i).copied().unwrap_or(false);
        let zeros = || vec![0.0; n];
        let many_steps = (RTOL_OF_MANY_STEPS / cx.weights.relative()).max(1.0);
        let stiff_weight = ERROR_WEIGHT * many_steps.powf(1.0 / 6.0);

        Self {
            error_weight: stiff_weight,
            stiff_weight,
            spectral_radius: 0.0,
            was_stiff: false,
            n_steps: 0,
            order: 1,
            h: 0.0,
            t0: 0.0,
            t1: 0.0,
            differences: std::array::from_fn(|_| zeros()),
            n_equal_steps: 0,
            planned: (1.0, 1),
            jacobian,
            jacobian_age: None,
            matrix,
            factored: None,
            newton_rate: 1.0,
            mass: (0..n)
                .map(|i| if is_algebraic(i) { 0.0 } else { 1.0 })
                .collect(),
            has_algebraic_rows: algebraic.contains(&true),
            predicted: zeros(),
            psi: zeros(),
            correction: zeros(),
            y: zeros(),
            f: zeros(),
            delta: zeros(),
            settled: if cx.system.n_quadratures() > 0 {
                zeros()
            } else {
                Vec::new()
            },
            quadrature: Quadrature::new(cx.system.n_quadratures()),
            inverse_scale: zeros(),
        }
    }

    /// First step for order 1, from the sizes of `y`, `ẏ` and a difference of `ẏ`.
    fn first_step(&mut self, cx: &mut Context<'_>, t: f64) -> f64 {
        let n = self.y.len();
        let y0 = &self.differences[0];
        cx.weights.inverse_scale(y0, &mut self.inverse_scale);
        let size = weighted_norm(y0, &self.inverse_scale);
        let rate = &self.differences[1];
        let speed = weighted_norm(rate, &self.inverse_scale);
        let guess = if size < 1e-5 || speed < 1e-5 {
            1e-6
        } else {
            0.01 * size / speed
        };
        let guess = guess.min(cx.h_max);
        for i in 0..n {
            self.y[i] = y0[i] + guess * rate[i];
        }
        if cx.rhs(t + guess, &self.y, &mut self.f).is_err() {
            return guess * 1e-3;
        }
        for i in 0..n {
            self.delta[i] = (self.f[i] - rate[i]) * self.mass[i];
        }

        let bend = weighted_norm(&self.delta, &self.inverse_scale) / guess;
        // Order 1 errs by h² ÿ / 2.
        let steepest = speed.max(bend);
        let by_order = if steepest <= 1e-15 {
            (guess * 1e-3).max(1e-6)
        } else {
            (0.01 / steepest).sqrt()
        };
        (100.0 * guess).min(by_order).min(cx.h_max)
    }

    /// Applies a change of step to the differences.
    fn rescale(&mut self, factor: f64) {
        rescale_differences(&mut self.differences, self.order, factor);
        if !self.quadrature.is_empty() {
            rescale_differences(&mut self.quadrature.differences, self.order, factor);
        }
        self.h *= factor;
        self.n_equal_steps = 0;
    }

    fn try_until_accepted(&mut self, cx: &mut Context<'_>, t_stop: f64) -> Result<(), Failure> {
        let (factor, order) = self.planned;
        self.planned = (1.0, order);
        if order != self.order {
            self.n_equal_steps = 0;
            self.order = order;
        }

        let mut h_wanted = (self.h * factor).min(cx.h_max);
        let mut n_rejected = 0;
        loop {
            cx.check_work(self.t0)?;
            let h = fit(h_wanted, t_stop - self.t0);
            let lands = h >= t_stop - self.t0;
            if h != self.h {
                self.rescale(h / self.h);
                self.h = h;
            }
            self.t1 = if lands { t_stop } else { self.t0 + h };
            match self.attempt(cx) {
                Attempt::Accepted { error, iterations } => {
                    if !self.quadrature.is_empty() {
                        self.quadrature.evaluate(cx, self.t1, &self.settled);
                        self.quadrature.advance(self.h, self.order);
                    }
                    self.accept(cx, error, iterations, n_rejected > 0);
                    return Ok(());
                }
                Attempt::Rejected { factor, trouble } => {
                    cx.statistics.rejected += 1;
                    n_rejected += 1;
                    h_wanted = self.h * factor;
                    self.distrust_the_past(cx, n_rejected)?;
                    let is_too_small = h_wanted < min_step(self.t0) || h_wanted.is_nan();
                    if trouble.is_fatal() || is_too_small {
                        return Err(trouble.into_failure());
                    }
                }
            }
        }
    }

    /// After rejections in a row, doubts first Newton's rate, then the Jacobian, then the
    /// whole past: a jump in the right-hand side makes the differences worthless (CVODE).
    fn distrust_the_past(
        &mut self,
        cx: &mut Context<'_>,
        n_rejected: usize,
    ) -> Result<(), Failure> {
        self.newton_rate = 1.0;
        if n_rejected >= 2 {
            self.jacobian_age = None;
        }
        if n_rejected >= 4 && n_rejected.is_multiple_of(2) {
            self.order = 1;
            self.planned.1 = 1;
            self.n_equal_steps = 0;
            cx.rhs(self.t0, &self.differences[0], &mut self.f)
                .map_err(Trouble::into_failure)?;
            for difference in &mut self.differences[2..] {
                difference.fill(0.0);
            }
            for i in 0..self.f.len() {
                self.differences[1][i] = self.h * self.f[i] * self.mass[i];
            }
            self.quadrature.restart(self.h);
        }
        Ok(())
    }

    /// Predicts, corrects by Newton's method, and tests the error.
    fn attempt(&mut self, cx: &mut Context<'_>) -> Attempt {
        let OrderConstants { alpha, error, .. } = constants(self.order);
        self.predict(alpha);
        cx.weights
            .inverse_scale(&self.predicted, &mut self.inverse_scale);
        let c = alpha / self.h;
        let iterations = match self.correct_with_fresh_jacobian_if_needed(cx, c) {
            Ok(iterations) => iterations,
            Err(trouble) => {
                return Attempt::Rejected {
                    factor: FACTOR_AFTER_NEWTON_FAILURE,
                    trouble,
                };
            }
        };

        cx.weights.inverse_scale(&self.y, &mut self.inverse_scale);
        let size = self.error_weight * error * weighted_norm(&self.correction, &self.inverse_scale);
        if size <= 1.0 {
            return Attempt::Accepted {
                error: size,
                iterations,
            };
        }

        let factor = SAFETY * size.powf(-1.0 / (self.order + 1) as f64);
        let worst = worst_index(&self.correction, &self.inverse_scale);
        Attempt::Rejected {
            factor: factor.max(MIN_FACTOR),
            trouble: Trouble::Error {
                t: self.t0,
                h: self.h,
                worst,
            },
        }
    }

    fn predict(&mut self, alpha: f64) {
        // One pass over memory, whatever the order.
        let mut weights = [0.0; MAX_ORDER + 1];
        for (j, weight) in weights.iter_mut().enumerate().skip(1) {
            *weight = constants(j).gamma / alpha;
        }
        let n = self.y.len();
        let differences: [&[f64]; MAX_ORDER + 1] =
            std::array::from_fn(|j| &self.differences[j][..n]);
        let (predicted, psi) = (&mut self.predicted[..n], &mut self.psi[..n]);
        let mut pass = |order: usize| {
            for i in 0..n {
                let (mut sum, mut weighed) = (differences[0][i], 0.0);
                for j in 1..=order {
                    sum += differences[j][i];
                    weighed += weights[j] * differences[j][i];
                }
                (predicted[i], psi[i]) = (sum, weighed);
            }
        };
        // The compiler unrolls the inner loop of each.
        match self.order {
            1 => pass(1),
            2 => pass(2),
            3 => pass(3),
            4 => pass(4),
            _ => pass(5),
        }
    }

    fn correct_with_fresh_jacobian_if_needed(
        &mut self,
        cx: &mut Context<'_>,
        c: f64,
    ) -> Result<usize, Trouble> {
        loop {
            let is_fresh = self.jacobian_age.is_none_or(|age| age >= MAX_JACOBIAN_AGE);
            if is_fresh {
                cx.rhs(self.t1, &self.predicted, &mut self.f)?;
                self.jacobian
                    .evaluate(cx, self.t1, &self.predicted, &self.f)?;
                self.jacobian_age = Some(0);
                self.spectral_radius = self.jacobian.spectral_radius(POWER_PRODUCTS);
                self.factored = None;
            }
            let max_drift = if self.has_algebraic_rows {
                0.0
            } else {
                MAX_RATIO_DRIFT
            };
            let is_factored = self
                .factored
                .is_some_and(|factored| (c / factored - 1.0).abs() <= max_drift);
            if !is_factored {
                cx.statistics.factorisations += 1;
                let work = self.matrix.factor(c, &self.jacobian.values);
                let t = self.t1;
                cx.statistics.linear_work +=
                    work.map_err(|Singular(index)| Trouble::Singular { t, index })?;
                self.factored = Some(c);
                self.newton_rate = 1.0;
            }
            match self.correct(cx, c) {
                Ok(iterations) => return Ok(iterations),
                Err(trouble) => {
                    cx.statistics.newton_failures += 1;
                    let was_current = self.jacobian_age == Some(0);
                    self.jacobian_age = None;
                    if was_current || trouble.is_fatal() {
                        // Not the Jacobian is to blame, but the length of the step.
                        return Err(trouble);
                    }
                }
            }
        }
    }

    /// Solves `M (ψ + d) c = f(t, y_predicted + d)` for `d`; returns the iterations made.
    fn correct(&mut self, cx: &mut Context<'_>, c: f64) -> Result<usize, Trouble> {
        let (t, h) = (self.t1, self.h);
        // Factors of another `c` give slow components a correction that is too large by the
        // ratio, stiff ones the right one; the mean serves both (CVODE).
        let ratio = self.factored.expect("factorised before") / c;
        let damping = 0.5 * (1.0 + ratio);

        // What the mean leaves of the fastest and slowest components, at best.
        let drift = 0.5 * (ratio - 1.0).abs();
        let share = if self.has_algebraic_rows {
            NEWTON_SHARE_OF_ALGEBRAIC
        } else {
            NEWTON_SHARE
        } / (self.error_weight * constants(self.order).error);
        let mut last_size = 0.0;
        for iteration in 1..=MAX_NEWTON_ITERATIONS {
            cx.statistics.newton_iterations += 1;
            // Before the first correction there is nothing to add to what was predicted.
            let is_first = iteration == 1;
            let at = if is_first { &self.predicted } else { &self.y };
            cx.rhs(t, at, &mut self.f)?;
            self.residual(c, is_first);
            cx.statistics.linear_solves += 1;
            cx.statistics.linear_work += self.matrix.solve(&mut self.delta);
            let size = weighted_norm(&self.delta, &self.inverse_scale);
            self.add_correction(damping, is_first);
            if !size.is_finite() {
                return Err(Trouble::Singular { t, index: None });
            }
            let rate = size / last_size;
            if iteration > 1 {
                // Remembered over steps, so that one iteration can be enough.
                self.newton_rate = rate.max(RATE_MEMORY * self.newton_rate);
            }
            let is_done = size * self.newton_rate.max(drift).min(1.0) < share;
            if is_done {
                let rest = 1.0 - damping;
                for ((settled, y), delta) in self.settled.iter_mut().zip(&self.y).zip(&self.delta) {
                    *settled = y + rest * delta;
                }
                return Ok(iteration);
            }
            if iteration > 1 && rate > MAX_NEWTON_RATE {
                break;
            }
            last_size = size;
        }

        let worst = worst_index(&self.delta, &self.inverse_scale);
        Err(Trouble::Newton { t, h, worst })
    }

    /// Writes f − c M (ψ + d) for the correction d so far into `delta`.
    fn residual(&mut self, c: f64, is_first: bool) {
        let n = self.y.len();
        let (f, mass, psi) = (&self.f[..n], &self.mass[..n], &self.psi[..n]);
        let (delta, correction) = (&mut self.delta[..n], &self.correction[..n]);
        if is_first {
            for i in 0..n {
                delta[i] = f[i] - c * mass[i] * psi[i];
            }
        } else {
            for i in 0..n {
                delta[i] = f[i] - c * mass[i] * (psi[i] + correction[i]);
            }
        }
    }

    /// Adds what Newton's method found to the correction, and moves `y` with it.
    fn add_correction(&mut self, damping: f64, is_first: bool) {
        let n = self.y.len();
        let (delta, predicted) = (&self.delta[..n], &self.predicted[..n]);
        let (correction, y) = (&mut self.correction[..n], &mut self.y[..n]);
        if is_first {
            for i in 0..n {
                correction[i] = damping * delta[i];
                y[i] = predicted[i] + correction[i];
            }
        } else {
            for i in 0..n {
                correction[i] += damping * delta[i];
                y[i] = predicted[i] + correction[i];
            }
        }
    }

    /// Makes the correction the newest difference.
    fn update_differences(&mut self) {
        sum_differences(&mut self.differences, &self.correction, self.order);
        // The state is what Newton's method found, not a sum with other roundings.
        self.differences[0].copy_from_slice(&self.y);
    }

    /// How many times its estimate the error is taken for from now on.
    fn weigh_errors(&mut self, t_end: f64) {
        self.n_steps += 1;
        self.was_stiff |= self.h * self.spectral_radius > STIFF_STEP;
        self.error_weight = if self.was_stiff || self.has_algebraic_rows {
            self.stiff_weight
        } else {
            let n_all = self.n_steps as f64 + (t_end - self.t1) / self.h;
            let largest = MAX_WEIGHT_RATIO * self.stiff_weight;
            (n_all / STEPS_PER_WEIGHT).clamp(self.stiff_weight, largest)
        };
    }

    /// Takes the new differences and plans step and order of the next step.
    fn accept(&mut self, cx: &mut Context<'_>, error: f64, iterations: usize, was_rejected: bool) {
        cx.statistics.steps += 1;
        self.n_equal_steps += 1;
        if let Some(age) = &mut self.jacobian_age {
            *age += 1;
        }

        let order = self.order;
        self.update_differences();
        self.weigh_errors(cx.t_end);
        if self.n_equal_steps < order + 1 {
            return;
        }

        let newton_share = (2 * MAX_NEWTON_ITERATIONS + 1) as f64
            / (2 * MAX_NEWTON_ITERATIONS + iterations) as f64;
        let factor = |size: f64, order: usize| size.max(1e-10).powf(-1.0 / (order + 1) as f64);
        let norm =
            |j: usize| self.error_weight * weighted_norm(&self.differences[j], &self.inverse_scale);
        let mut best = (factor(error, order), order);
        if order > 1 {
            let lower = factor(constants(order - 1).error * norm(order), order - 1);
            if lower > best.0 {
                best = (lower, order - 1);
            }
        }

        if order < MAX_ORDER {
            let higher = factor(constants(order + 1).error * norm(order + 2), order + 1);
            if higher > best.0 {
                best = (higher, order + 1);
            }
        }

        let growth = (SAFETY * newton_share * best.0).min(MAX_GROWTH);
        let growth = if was_rejected {
            growth.min(1.0)
        } else {
            growth
        };
        self.planned = if (MAX_SHRINKING_IGNORED..MIN_GROWTH).contains(&growth) {
            (1.0, best.1)
        } else {
            (growth.max(MIN_FACTOR), best.1)
        };
    }
}

/// Makes the correction the newest difference and sums the others up.
///
/// Difference by difference: loops over two lists are what the compiler makes vectors of.
fn sum_differences(differences: &mut [Vec<f64>], correction: &[f64], order: usize) {
    let (upper, newest) = differences.split_at_mut(order + 2);
    let last = &mut upper[order + 1];
    for ((newest, last), d) in newest[0].iter_mut().zip(last).zip(correction) {
        *newest = d - *last;
        *last = *d;
    }
    for j in (1..=order).rev() {
        let (lower, upper) = differences.split_at_mut(j + 1);
        for (sum, next) in lower[j].iter_mut().zip(&upper[0]) {
            *sum += next;
        }
    }
}

/// Re-interpolates differences of step `h` to steps of `factor · h`
/// (Shampine & Reichelt 1997, §2.2: `D' = D R(factor) U`).
fn rescale_differences(differences: &mut [Vec<f64>], order: usize, factor: f64) {
    let r = step_change_matrix(order, factor);
    let u = step_change_matrix(order, 1.0);
    let mut ru = [[0.0; MAX_ORDER + 1]; MAX_ORDER + 1];
    for i in 0..=order {
        for j in 0..=order {
            ru[i][j] = (0..=order).map(|k| r[i][k] * u[k][j]).sum();
        }
    }
    match order {
        1 => combine::<1>(differences, &ru),
        2 => combine::<2>(differences, &ru),
        3 => combine::<3>(differences, &ru),
        4 => combine::<4>(differences, &ru),
        _ => combine::<5>(differences, &ru),
    }
}

/// D'ⱼ = Σₖ ruₖⱼ Dₖ for the differences 1 to `ORDER`; the compiler unrolls the inner loops.
fn combine<const ORDER: usize>(
    differences: &mut [Vec<f64>],
    ru: &[[f64; MAX_ORDER + 1]; MAX_ORDER + 1],
) {
    let n = differences[0].len();
    let mut rows = differences[1..].iter_mut();
    let rows: [&mut [f64]; ORDER] = std::array::from_fn(|_| {
        let row = rows.next().expect("there are differences of every order");
        &mut row[..n]
    });
    for v in 0..n {
        let old: [f64; ORDER] = std::array::from_fn(|k| rows[k][v]);
        for j in 0..ORDER {
            let mut sum = 0.0;
            for k in 0..ORDER {
                sum += ru[k + 1][j + 1] * old[k];
            }
            rows[j][v] = sum;
        }
    }
}

fn step_change_matrix(order: usize, factor: f64) -> [[f64; MAX_ORDER + 1]; MAX_ORDER + 1] {
    let mut matrix = [[0.0; MAX_ORDER + 1]; MAX_ORDER + 1];
    matrix[0] = [1.0; MAX_ORDER + 1];
    for i in 1..=order {
        matrix[i][0] = 0.0;
        for j in 1..=order {
            matrix[i][j] = matrix[i - 1][j] * ((i - 1) as f64 - factor * j as f64) / i as f64;
        }
    }
    matrix
}

impl Stepper for Bdf {
    fn restart(
        &mut self,
        cx: &mut Context<'_>,
        t: f64,
        y: &[f64],
        h: Option<f64>,
    ) -> Result<(), Failure> {
        (self.t0, self.t1) = (t, t);
        for difference in &mut self.differences {
            difference.fill(0.0);
        }

        self.differences[0].copy_from_slice(y);
        let mut rate = std::mem::take(&mut self.differences[1]);
        let outcome = cx.rhs(t, y, &mut rate);
        self.differences[1] = rate;
        outcome.map_err(Trouble::into_failure)?;
        for (rate, mass) in self.differences[1].iter_mut().zip(&self.mass) {
            *rate *= mass;
        }

        // A step that high orders could afford says nothing about order 1.
        let first = self.first_step(cx, t);
        self.h = h.map_or(first, |h| h.min(first));
        for rate in &mut self.differences[1] {
            *rate *= self.h;
        }

        if !self.quadrature.is_empty() {
            self.quadrature.evaluate(cx, t, y);
            self.quadrature.restart(self.h);
        }

        self.order = 1;
        self.planned = (1.0, 1);
        self.n_equal_steps = 0;
        self.jacobian_age = None;
        Ok(())
    }

    fn advance(&mut self, cx: &mut Context<'_>, t_stop: f64) -> Result<(), Failure> {
        self.t0 = self.t1;
        let outcome = self.try_until_accepted(cx, t_stop);
        if outcome.is_err() {
            self.t1 = self.t0;
        }
        outcome
    }

    fn t0(&self) -> f64 {
        self.t0
    }

    fn t1(&self) -> f64 {
        self.t1
    }

    fn y1(&self) -> &[f64] {
        &self.differences[0]
    }

    fn prepare_dense(&mut self, _cx: &mut Context<'_>) -> Result<(), Failure> {
        Ok(())
    }

    fn interpolate(&self, t: f64, y: &mut [f64]) {
        // Newton's backward interpolation from t1 over the past grid.
        y.copy_from_slice(&self.differences[0]);
        let s = (t - self.t1) / self.h;
        let mut product = 1.0;
        for j in 1..=self.order {
            product *= (s + (j - 1) as f64) / j as f64;
            for (y, difference) in y.iter_mut().zip(&self.differences[j]) {
                *y += product * difference;
            }
        }
    }

    fn quadrature(&self) -> StepQuadrature<'_> {
        if self.h * self.spectral_radius > MIN_STIFF_STEP || self.has_algebraic_rows {
            StepQuadrature::Done(&self.quadrature.increments)
        } else {
            StepQuadrature::Ends(&self.quadrature.rates)
        }
    }

    fn error_norm(&self, inverse_scale: &[f64]) -> f64 {
        constants(self.order).error * weighted_norm(&self.correction, inverse_scale)
    }

    fn natural_step(&self) -> f64 {
        self.h * self.planned.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_of_step_keeps_a_polynomial_of_the_order() {
        // Differences of t³ − 2t at t = 0 with h = 1, then with h = 0.4: the same cubic.
        let p = |t: f64| t * t * t - 2.0 * t;
        let table = |h: f64| {
            let mut d: Vec<f64> = (0..4).map(|k| p(-h * f64::from(k))).collect();
            for level in 1..4 {
                for k in (level..4).rev() {
                    d[k] = d[k - 1] - d[k];
                }
            }
            d
        };
        let mut differences: Vec<Vec<f64>> = table(1.0).into_iter().map(|d| vec![d]).collect();
        rescale_differences(&mut differences, 3, 0.4);
        for (found, exact) in differences.iter().zip(table(0.4)) {
            assert!((found[0] - exact).abs() < 1e-13);
        }
    }
}
