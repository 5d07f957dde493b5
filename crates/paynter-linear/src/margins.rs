//! How far a loop is from losing stability.
//!
//! In:  the response L of a loop that is cut, with the sign of negative feedback, on a grid.
//! Out: every crossing of |L| = 1 and of arg L = −180°, and the smallest margins.
//!
//! **Invariant:** crossings lie between neighbours of the grid and are located to rounding; the
//! grid of `frequency_sweep` has points on both flanks of every resonance.

use crate::{Complex, Response, Sweep};
use std::f64::consts::{PI, TAU};

/// |L| = 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GainCrossing {
    /// rad/s
    pub omega: f64,
    /// 180° + arg L in (−180°, 180°], rad: the lag that may be added.
    pub phase_margin: f64,
    /// The delay that brings this crossing to −1, s.
    pub delay_margin: f64,
}

/// L is real and negative.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PhaseCrossing {
    /// rad/s
    pub omega: f64,
    /// 1/|L|: the factor on the gain that brings this crossing to −1.
    pub gain_margin: f64,
}

/// All crossings of a loop.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Margins {
    /// In ascending frequency.
    pub gain_crossings: Vec<GainCrossing>,
    /// In ascending frequency.
    pub phase_crossings: Vec<PhaseCrossing>,
}

impl Margins {
    /// The crossing with the smallest gain margin upwards: the least factor above 1.
    pub fn gain_margin(&self) -> Option<PhaseCrossing> {
        let above = self.phase_crossings.iter().filter(|c| c.gain_margin >= 1.0);
        above
            .copied()
            .min_by(|a, b| a.gain_margin.total_cmp(&b.gain_margin))
    }

    /// The crossing with the smallest gain margin downwards: the largest factor below 1.
    pub fn gain_reduction(&self) -> Option<PhaseCrossing> {
        let below = self.phase_crossings.iter().filter(|c| c.gain_margin < 1.0);
        below
            .copied()
            .max_by(|a, b| a.gain_margin.total_cmp(&b.gain_margin))
    }

    /// The crossing with the smallest phase margin by size.
    pub fn phase_margin(&self) -> Option<GainCrossing> {
        let all = self.gain_crossings.iter().copied();
        all.min_by(|a, b| a.phase_margin.abs().total_cmp(&b.phase_margin.abs()))
    }

    /// The crossing that the shortest delay brings to −1.
    pub fn delay_margin(&self) -> Option<GainCrossing> {
        let all = self.gain_crossings.iter().copied();
        all.min_by(|a, b| a.delay_margin.total_cmp(&b.delay_margin))
    }
}

/// Finds all crossings of a loop between the points of its grid.
pub fn margins(response: &Response, sweep: &Sweep) -> Margins {
    let mut found = Margins::default();
    let log_gain = |z: Complex| z.norm().ln();
    for k in 1..sweep.omega.len() {
        let (w0, w1) = (sweep.omega[k - 1], sweep.omega[k]);
        let (z0, z1) = (sweep.values[k - 1], sweep.values[k]);
        if crosses(log_gain(z0), log_gain(z1)) {
            let omega = locate((w0, w1), |w| log_gain(response.at_frequency(w)));
            let arg = response.at_frequency(omega).arg();
            // In (−π, π]: −180° itself is not a margin.
            let phase_margin = if arg > 0.0 { arg - PI } else { arg + PI };
            let lag = if phase_margin < 0.0 {
                phase_margin + TAU
            } else {
                phase_margin
            };
            found.gain_crossings.push(GainCrossing {
                omega,
                phase_margin,
                delay_margin: lag / omega,
            });
        }
        // Where the real part stays negative the imaginary one may pass zero.
        let is_left = z0.re < 0.0 || z1.re < 0.0;
        if is_left && crosses(z0.im, z1.im) {
            let omega = locate((w0, w1), |w| response.at_frequency(w).im);
            let value = response.at_frequency(omega);
            // A jump through infinity at a pole on the axis is not a crossing.
            if value.re < 0.0 && value.im.abs() <= 1e-6 * value.norm() {
                found.phase_crossings.push(PhaseCrossing {
                    omega,
                    gain_margin: 1.0 / value.norm(),
                });
            }
        }
    }
    found
}

/// Tells whether a sign changes; a zero counts at its right end.
fn crosses(a: f64, b: f64) -> bool {
    a.is_finite() && b.is_finite() && ((a < 0.0 && b >= 0.0) || (a > 0.0 && b <= 0.0))
}

/// Bisects in the logarithm of the frequency to the last bit.
fn locate((mut low, mut high): (f64, f64), f: impl Fn(f64) -> f64) -> f64 {
    let is_up = f(low) < 0.0;
    loop {
        let middle = (low * high).sqrt();
        if !(middle > low && middle < high) {
            return high;
        }
        let value = f(middle);
        if value == 0.0 {
            return middle;
        }
        if (value < 0.0) == is_up {
            low = middle;
        } else {
            high = middle;
        }
    }
}
