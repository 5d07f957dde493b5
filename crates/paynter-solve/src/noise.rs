//! What roundings leave of the rates, so that no step is asked for more.
//!
//! In:  a state at which steps were rejected for their error, and the system's word on the noise of its rates there.
//! Out: weights that allow for it.
//!
//! A momentum that should stay zero is a rounding of the others, and so is its error in every step: it falls with the
//! step, not with its eighth power. Beside a tolerance that is made for a value of that size, steps would shrink for ever.
//!
//! **Invariant:** tolerances that lie well above the noise stay what they are, bit by bit. A measurement serves for the
//! next few steps only.

use crate::stepper::Context;

/// The second rejected step within so many accepted ones leads to a measurement, the next of which is not before as many.
const PERIOD: usize = 10;
/// Noise below this part of the tolerance of a step does not count.
const SHARE_THAT_COUNTS: f64 = 0.03;
/// The error of a step made of noise is to be this part of its tolerance: larger ones shrink the next step.
const SHARE_AIMED_AT: f64 = 0.03;

/// Noise of the rates, measured where steps are rejected again and again.
#[derive(Clone, Debug, Default)]
pub(crate) struct Noise {
    /// Of each rate; empty where it is not known, or does not count.
    rates: Vec<f64>,
    /// Accepted steps of the run up to which a rejection is a second one.
    watched_until: usize,
    /// Accepted steps of the run from which on it may be measured again.
    next_at: usize,
    /// Some tolerance allowed for it since it was measured.
    has_counted: bool,
}

impl Noise {
    /// Lowers the weights of variables whose error in a step of length `h` is rounding.
    #[inline]
    pub(crate) fn allow(&mut self, h: f64, inverse_scale: &mut [f64]) {
        for (inverse, rate) in inverse_scale.iter_mut().zip(&self.rates) {
            let noise = h * rate;
            if noise * *inverse > SHARE_THAT_COUNTS {
                *inverse = 1.0 / (1.0 / *inverse + noise / SHARE_AIMED_AT);
                self.has_counted = true;
            }
        }
    }
}

impl Context<'_> {
    /// Measures the noise of the rates at a state where a step was rejected, if it was not the first one lately.
    pub(crate) fn look_for_noise(&mut self, t: f64, y: &[f64]) {
        let n_steps = self.statistics.steps;
        let noise = &mut self.weights.noise;
        let is_second = n_steps < noise.watched_until;
        noise.watched_until = n_steps + PERIOD;
        if is_second && n_steps >= noise.next_at {
            self.measure_noise(t, y);
        }
    }

    /// Measures again what is in use: the state moves on, and what was noise there need not be noise here.
    #[inline]
    pub(crate) fn keep_noise_fresh(&mut self, t: f64, y: &[f64]) {
        let noise = &mut self.weights.noise;
        if noise.rates.is_empty() || self.statistics.steps < noise.next_at {
            return;
        }
        match noise.has_counted {
            true => self.measure_noise(t, y),
            false => noise.rates.clear(),
        }
    }

    /// Where the system cannot tell, the tolerances stay.
    #[cold]
    fn measure_noise(&mut self, t: f64, y: &[f64]) {
        let noise = &mut self.weights.noise;
        noise.next_at = self.statistics.steps + PERIOD;
        noise.has_counted = false;
        let mut rates = std::mem::take(&mut noise.rates);
        rates.resize(y.len(), 0.0);
        let is_known = self.system.noise(t, y, &mut rates).unwrap_or(false);
        if is_known && rates.iter().all(|rate| rate.is_finite()) {
            // Algebraic rows hold residuals, not rates.
            for (rate, is_algebraic) in rates.iter_mut().zip(self.system.algebraic()) {
                if *is_algebraic {
                    *rate = 0.0;
                }
            }
            self.weights.noise.rates = rates;
        }
    }
}
