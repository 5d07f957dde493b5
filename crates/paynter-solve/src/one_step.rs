//! Step-size control shared by the one-step methods with an error estimate.
//!
//! In:  a [`Formula`]: one attempt at a step, with its error.
//! Out: a [`Stepper`]: accepted steps that land on demanded times, carry their size over
//!      events, and are projected on the invariants.

use crate::options::Failure;
use crate::stepper::{
    Context, StepQuadrature, Stepper, Stiffness, Trouble, error_size, min_step, weighted_norm,
    zeros,
};

/// A step this many tolerances off is not projected, and one that the projection moves by more is made again.
const WORTH_PROJECTING: f64 = 1e3;

/// One-step formula with an error estimate and an interpolant.
pub(crate) trait Formula {
    /// `p` in `h_new = h · error^(−1/p)`.
    const ERROR_ORDER: f64;
    /// Weight of the last error in the step-size law (β of Gustafsson's PI controller).
    const BETA: f64;
    /// Largest growth of the step from one to the next, once the error has told what size is right.
    const MAX_GROWTH: f64;
    /// Where it evaluates between the ends of its step, as shares of it.
    const NODES: &'static [f64];
    /// Whether roundings of the rates go into the step as they are: an implicit method damps those of fast variables.
    const IS_EXPLICIT: bool;

    /// How many times its estimate the error of a step is taken for, at this relative tolerance: errors of
    /// many steps add up, and an estimate of a low order sees too little of a long step.
    fn error_weight(_relative: f64) -> f64 {
        1.0
    }

    /// Computes what depends on `(t, y)` only, before the first attempt of a step.
    /// Not called when `accept` promised that `shift` is enough. `h` is the step planned.
    fn begin(&mut self, cx: &mut Context<'_>, t: f64, y: &[f64], h: f64) -> Result<(), Trouble>;

    /// Tries a step and writes the new state.
    fn attempt(
        &mut self,
        cx: &mut Context<'_>,
        time_and_step: (f64, f64),
        y0: &[f64],
        y1: &mut [f64],
    ) -> Result<(), Trouble>;

    /// Size of the error of the attempt relative to the tolerance, and the worst variable.
    fn error_norm(&self, h: f64, inverse_scale: &[f64]) -> f64;
    /// Variable with the largest error.
    fn worst(&self, inverse_scale: &[f64]) -> usize;
    /// Takes the part along `direction` out of the error, since the projection removed it.
    fn remove_error_along(&mut self, direction: &[f64], inverse_scale: &[f64]);

    /// Closes an accepted step. `moved` tells that the projection changed `y1` after the
    /// attempt.
    fn accept(
        &mut self,
        cx: &mut Context<'_>,
        step: Span,
        states: (&[f64], &[f64]),
        moved: bool,
    ) -> Result<Ready, Trouble>;

    /// Begins the next step with what `accept` left.
    fn shift(&mut self) {}

    /// Prepares the interpolant of the accepted step, as right inside as the step is at its end.
    fn prepare_dense(
        &mut self,
        cx: &mut Context<'_>,
        step: Span,
        states: (&[f64], &[f64]),
        inverse_scale: &[f64],
    ) -> Result<(), Trouble>;

    /// How the integrals over the accepted step of length `h` are found.
    fn quadrature(&self, _h: f64) -> StepQuadrature<'_> {
        StepQuadrature::Dense
    }

    /// Evaluates the interpolant at `t0 + θ h`.
    fn interpolate(&self, theta: f64, h: f64, y0: &[f64], y1: &[f64], out: &mut [f64]);

    /// `h |λ|` at which an explicit formula becomes unstable; infinite for implicit ones.
    const STABILITY_LIMIT: f64;

    /// The eigenvalue that dominates the accepted step, where the formula shows it.
    fn stiffness(&self) -> Option<Stiffness> {
        None
    }

    /// Bound of the spectral radius at the start of the step, where the formula has it.
    fn spectral_bound(&self) -> Option<f64> {
        None
    }
}

/// Start and end of a step; `t0 + h` may differ from `t1` by rounding.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Span {
    pub(crate) t0: f64,
    pub(crate) t1: f64,
    pub(crate) h: f64,
}

/// What the next step needs before its first attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ready {
    /// Nothing.
    Begun,
    /// A call of `Formula::shift`.
    Shift,
    /// A call of `Formula::begin`.
    NotBegun,
}

/// A formula with step-size control.
pub(crate) struct OneStep<F> {
    formula: F,
    span: Span,
    y0: Vec<f64>,
    y1: Vec<f64>,
    before_projection: Vec<f64>,
    inverse_scale: Vec<f64>,
    h_next: f64,
    /// The first step was a guess, and the error has not told the right size yet.
    is_guess: bool,
    last_error: f64,
    ready: Ready,
    dense_is_ready: bool,
    stiff_count: usize,
    calm_count: usize,
    stiffness: Option<Stiffness>,
    h_rho: f64,
}

/// Safety factor of the step-size law (Hairer, Nørsett & Wanner, *Solving ODEs I*, §II.4).
const SAFETY: f64 = 0.9;
/// Largest shrinking after a rejected step, same source.
const MIN_FACTOR: f64 = 0.2;
/// Rates of at least this part of the largest one, in units of the tolerance, tell how long the first step may be.
const RATE_THAT_MATTERS: f64 = 1e-2;
/// Largest growth after a first step that was far too short: what starts at rest shows no size to guess from.
const MAX_GROWTH_OF_GUESS: f64 = 50.0;
/// Reduction after a step that could not be evaluated: the border of the domain may be near,
/// and nothing tells how near.
const FACTOR_AFTER_TROUBLE: f64 = 0.25;
/// Steps in a row beyond the stability limit that prove stiffness, and calm ones that
/// disprove it (Hairer & Wanner, *Solving ODEs II*, §IV.2).
const STIFF_STEPS: usize = 15;
const CALM_STEPS: usize = 6;
/// A stiff method that makes this many steps in a row with `h ρ` below the bound, well inside
/// of the stability regions of the explicit ones, is no longer needed.
const CALM_STEPS_OF_STIFF_METHOD: usize = 50;
const CALM_H_RHO: f64 = 1.0;

impl<F: Formula> OneStep<F> {
    pub(crate) fn new(formula: F, n: usize) -> Self {
        Self {
            formula,
            span: Span {
                t0: 0.0,
                t1: 0.0,
                h: 0.0,
            },
            y0: zeros(n),
            y1: zeros(n),
            before_projection: zeros(n),
            inverse_scale: zeros(n),
            h_next: 0.0,
            is_guess: false,
            last_error: 1e-4,
            ready: Ready::NotBegun,
            dense_is_ready: false,
            stiff_count: 0,
            calm_count: 0,
            stiffness: None,
            h_rho: 0.0,
        }
    }

    /// Chooses the first step from the sizes of `y`, `f` and a difference quotient of `f`
    /// (Hairer, Nørsett & Wanner, *Solving ODEs I*, §II.4, "starting step size").
    fn first_step(&mut self, cx: &mut Context<'_>, t: f64) -> Result<f64, Trouble> {
        let mut rate = zeros(self.y0.len());
        cx.rhs(t, &self.y0, &mut rate)?;
        // Algebraic rows hold residuals, not rates.
        for (rate, is_algebraic) in rate.iter_mut().zip(cx.system.algebraic()) {
            if *is_algebraic {
                *rate = 0.0;
            }
        }
        cx.weights.inverse_scale(&self.y0, &mut self.inverse_scale);
        let size = weighted_norm(&self.y0, &self.inverse_scale);
        let speed = weighted_norm(&rate, &self.inverse_scale);
        let guess = if size < 1e-5 || speed < 1e-5 {
            1e-6
        } else {
            0.01 * size / speed
        };
        let guess = guess.min(cx.h_max);
        let change_time = cx.weights.change_time(&self.y0, &rate);

        for i in 0..self.y1.len() {
            self.y1[i] = self.y0[i] + guess * rate[i];
        }
        let rate_there = &mut self.before_projection;
        if cx.rhs(t + guess, &self.y1, rate_there).is_err() {
            return Ok(guess * 1e-3);
        }
        // How long the rates that matter stay what they are, and how long variables that are not zero do: a step
        // beyond either would be a leap in the dark. What starts at zero has no size to keep.
        let mut longest = cx.h_max;
        let largest = rate.iter().zip(&self.inverse_scale);
        let largest = largest.fold(0.0, |max: f64, (rate, inverse)| {
            max.max((rate * inverse).abs())
        });
        for i in 0..rate.len() {
            let is_algebraic = cx.system.algebraic().get(i).copied().unwrap_or(false);
            let change = if is_algebraic {
                0.0
            } else {
                rate_there[i] - rate[i]
            };
            if (rate[i] * self.inverse_scale[i]).abs() > RATE_THAT_MATTERS * largest {
                longest = longest.min(guess * (rate[i] / change).abs());
            }
            rate[i] = change;
        }
        let bend = weighted_norm(&rate, &self.inverse_scale) / guess;
        longest = longest.min(change_time);
        let steepest = speed.max(bend);
        let by_order = if steepest <= 1e-15 {
            (guess * 1e-3).max(1e-6)
        } else {
            (0.01 / steepest).powf(1.0 / F::ERROR_ORDER)
        };
        let is_at_rest = size < 1e-5 || speed < 1e-5;
        if is_at_rest {
            longest = longest.min(100.0 * guess);
        }
        // The guess is good to a digit at most: as a power of two it does not carry the roundings of a difference
        // quotient into every step.
        Ok(by_order.min(longest).log2().floor().exp2())
    }

    /// Tries steps until one is accepted; returns what the next one needs.
    fn try_until_accepted(&mut self, cx: &mut Context<'_>, t_stop: f64) -> Result<Ready, Failure> {
        let t0 = self.span.t0;
        let remaining = t_stop - t0;
        let projects = cx.system.projects();
        let mut h_natural = self.h_next.min(cx.h_max);
        let mut was_rejected = false;
        cx.keep_noise_fresh(t0, &self.y0);
        loop {
            cx.check_work(t0)?;
            let h = fit(h_natural, remaining);
            let lands = h >= remaining;
            let t1 = if lands { t_stop } else { t0 + h };
            self.span = Span { t0, t1, h };

            let (factor, trouble) = match self.attempt(cx, projects) {
                Ok((error, moved)) if error <= 1.0 => {
                    let states = (&self.y0[..], &self.y1[..]);
                    match self.formula.accept(cx, self.span, states, moved) {
                        Ok(ready) => {
                            self.choose_next(cx, error, was_rejected, h_natural);
                            return Ok(ready);
                        }
                        Err(trouble) => (FACTOR_AFTER_TROUBLE, trouble),
                    }
                }
                Ok((error, _)) => {
                    let worst = self.formula.worst(&self.inverse_scale);
                    let factor = SAFETY * error.powf(-1.0 / F::ERROR_ORDER);
                    (factor.max(MIN_FACTOR), Trouble::Error { t: t0, h, worst })
                }
                Err(trouble) => (FACTOR_AFTER_TROUBLE, trouble),
            };
            cx.statistics.rejected += 1;
            was_rejected = true;
            if F::IS_EXPLICIT && matches!(trouble, Trouble::Error { .. }) {
                cx.look_for_noise(t0, &self.y0);
            }
            h_natural = h * factor.min(SAFETY);
            if trouble.is_fatal() || h_natural < min_step(t0) || h_natural.is_nan() {
                return Err(trouble.into_failure());
            }
        }
    }

    /// One attempt: the relative error, and whether the projection moved the new state.
    fn attempt(&mut self, cx: &mut Context<'_>, projects: bool) -> Result<(f64, bool), Trouble> {
        let Span { t0, t1, h } = self.span;
        self.formula.attempt(cx, (t0, h), &self.y0, &mut self.y1)?;
        cx.weights
            .inverse_scale_of_step(&self.y0, &self.y1, &mut self.inverse_scale);
        cx.weights.noise.allow(h, &mut self.inverse_scale);
        let mut moved = false;
        // A step far beyond the tolerance is rejected anyway, and its end may lie too far
        // off for the projection to find its way back.
        let is_worth_projecting =
            projects && self.formula.error_norm(h, &self.inverse_scale) <= WORTH_PROJECTING;
        if is_worth_projecting {
            self.before_projection.copy_from_slice(&self.y1);
            moved = cx.project(t1, &mut self.y1)?.moved;
            if moved {
                for (before, after) in self.before_projection.iter_mut().zip(&self.y1) {
                    *before = after - *before;
                }
                // Beyond this the nearest place that meets the constraints may be on another branch of the motion.
                if error_size(&self.before_projection, &self.inverse_scale) > WORTH_PROJECTING {
                    return Ok((f64::INFINITY, moved));
                }
                self.formula
                    .remove_error_along(&self.before_projection, &self.inverse_scale);
            }
        }
        let weight = F::error_weight(cx.weights.relative());
        let error = weight * self.formula.error_norm(h, &self.inverse_scale);
        let error = if error.is_nan() { f64::INFINITY } else { error };
        Ok((error, moved))
    }

    /// Chooses the next step after an accepted one of natural size `h_natural`.
    fn choose_next(
        &mut self,
        cx: &mut Context<'_>,
        error: f64,
        was_rejected: bool,
        h_natural: f64,
    ) {
        cx.statistics.steps += 1;
        let exponent = 1.0 / F::ERROR_ORDER - 0.75 * F::BETA;
        let memory = if F::BETA == 0.0 {
            1.0
        } else {
            self.last_error.powf(F::BETA)
        };
        let factor = SAFETY * error.max(1e-12).powf(-exponent) * memory;
        self.is_guess &= !was_rejected && factor > F::MAX_GROWTH;
        let limit = match (was_rejected, self.is_guess) {
            (true, _) => 1.0,
            (false, true) => MAX_GROWTH_OF_GUESS,
            (false, false) => F::MAX_GROWTH,
        };
        let h_new = self.span.h * factor.clamp(MIN_FACTOR, limit);
        // A step cut short by an event says nothing against the size before the cut.
        let was_cut = self.span.h < h_natural;
        self.h_next = if was_cut { h_new.max(h_natural) } else { h_new };
        self.last_error = error.max(1e-4);
    }

    fn watch_stiffness(&mut self) {
        if let Some(bound) = self.formula.spectral_bound() {
            self.h_rho = self.span.h * bound;
            self.calm_count = if self.h_rho < CALM_H_RHO {
                self.calm_count + 1
            } else {
                0
            };
        }
        let Some(stiffness) = self.formula.stiffness() else {
            return;
        };
        if stiffness.exceeds(F::STABILITY_LIMIT) {
            self.calm_count = 0;
            self.stiff_count += 1;
            self.stiffness = Some(stiffness);
        } else if self.stiff_count > 0 {
            self.calm_count += 1;
            if self.calm_count >= CALM_STEPS {
                self.stiff_count = 0;
                self.calm_count = 0;
            }
        }
    }
}

/// Cuts a step so that the time to stop is met without a sliver before it.
pub(crate) fn fit(h: f64, remaining: f64) -> f64 {
    // A hundred-thousandth more than planned changes the error by less than its own estimate
    // is worth.
    if h * (1.0 + 1e-5) >= remaining {
        remaining
    } else if 2.0 * h > remaining {
        0.5 * remaining
    } else {
        h
    }
}

impl<F: Formula> Stepper for OneStep<F> {
    fn restart(
        &mut self,
        cx: &mut Context<'_>,
        t: f64,
        y: &[f64],
        h: Option<f64>,
    ) -> Result<(), Failure> {
        self.span = Span {
            t0: t,
            t1: t,
            h: 0.0,
        };
        self.y0.copy_from_slice(y);
        self.y1.copy_from_slice(y);
        self.dense_is_ready = false;
        self.is_guess = h.is_none();
        self.h_next = match h {
            Some(h) => h,
            None => self.first_step(cx, t).map_err(Trouble::into_failure)?,
        };
        self.formula
            .begin(cx, t, &self.y0, self.h_next)
            .map_err(Trouble::into_failure)?;
        self.ready = Ready::Begun;
        // `first_step` uses `y1` as scratch.
        self.y1.copy_from_slice(y);
        Ok(())
    }

    fn advance(&mut self, cx: &mut Context<'_>, t_stop: f64) -> Result<(), Failure> {
        std::mem::swap(&mut self.y0, &mut self.y1);
        self.span.t0 = self.span.t1;
        self.dense_is_ready = false;
        let begun = match self.ready {
            Ready::Begun => Ok(()),
            Ready::Shift => {
                self.formula.shift();
                Ok(())
            }
            Ready::NotBegun => self.formula.begin(cx, self.span.t0, &self.y0, self.h_next),
        };
        let outcome = begun
            .map_err(Trouble::into_failure)
            .and_then(|()| self.try_until_accepted(cx, t_stop));
        match outcome {
            Ok(ready) => {
                self.ready = ready;
                self.watch_stiffness();
                Ok(())
            }
            Err(failure) => {
                // The state before the failed step is still the truth.
                self.span.t1 = self.span.t0;
                self.y1.copy_from_slice(&self.y0);
                self.ready = Ready::NotBegun;
                Err(failure)
            }
        }
    }

    fn t0(&self) -> f64 {
        self.span.t0
    }

    fn t1(&self) -> f64 {
        self.span.t1
    }

    fn y1(&self) -> &[f64] {
        &self.y1
    }

    fn prepare_dense(&mut self, cx: &mut Context<'_>) -> Result<(), Failure> {
        if !self.dense_is_ready {
            let states = (&self.y0[..], &self.y1[..]);
            self.formula
                .prepare_dense(cx, self.span, states, &self.inverse_scale)
                .map_err(Trouble::into_failure)?;
            self.dense_is_ready = true;
        }
        Ok(())
    }

    fn interpolate(&self, t: f64, y: &mut [f64]) {
        let theta = (t - self.span.t0) / self.span.h;
        self.formula
            .interpolate(theta, self.span.h, &self.y0, &self.y1, y);
    }

    fn quadrature(&self) -> StepQuadrature<'_> {
        self.formula.quadrature(self.span.h)
    }

    fn nodes(&self) -> &'static [f64] {
        F::NODES
    }

    fn error_norm(&self, inverse_scale: &[f64]) -> f64 {
        self.formula.error_norm(self.span.h, inverse_scale)
    }

    fn natural_step(&self) -> f64 {
        self.h_next
    }

    fn stiffness(&self) -> Option<Stiffness> {
        self.stiffness.filter(|_| self.stiff_count >= STIFF_STEPS)
    }

    fn calm(&self) -> Option<f64> {
        let has_bound = self.formula.spectral_bound().is_some();
        (has_bound && self.calm_count >= CALM_STEPS_OF_STIFF_METHOD).then_some(self.h_rho)
    }
}

/// `x −= (x·d / d·d) d` in the scalar product of the tolerances.
pub(crate) fn remove_along(x: &mut [f64], d: &[f64], inverse_scale: &[f64]) {
    let mut along = 0.0;
    let mut length = 0.0;
    for i in 0..x.len() {
        let weight = inverse_scale[i] * inverse_scale[i];
        along += x[i] * d[i] * weight;
        length += d[i] * d[i] * weight;
    }
    if length > 0.0 {
        let share = along / length;
        for i in 0..x.len() {
            x[i] -= share * d[i];
        }
    }
}

#[cfg(test)]
mod tests {
    use super::fit;

    #[test]
    fn a_step_is_stretched_or_halved_rather_than_leaving_a_sliver() {
        assert_eq!(fit(1.0, 1.000_001), 1.000_001);
        assert_eq!(fit(1.0, 1.5), 0.75);
        assert_eq!(fit(1.0, 3.0), 1.0);
        assert_eq!(fit(2.0, 1.0), 1.0);
    }
}
