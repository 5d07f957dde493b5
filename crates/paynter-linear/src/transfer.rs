//! A channel as a quotient of polynomials.
//!
//! In:  a [`Channel`].
//! Out: gain, zeros and poles, and the coefficients of numerator and denominator, highest power first.
//!
//! Roots are computed first and multiplied out: coefficients of many roots lose digits, roots do not. Roots that numerator
//! and denominator share are not cancelled: the state behind them is there.

use crate::eigen::{NoEigenvalues, eigenvalues};
use crate::{Channel, Complex, Response, zeros};

/// A transfer function.
#[derive(Clone, Debug, PartialEq)]
pub struct Transfer {
    /// What is before the products of (s − zero) and 1/(s − pole).
    pub gain: f64,
    /// Zeros.
    pub zeros: Vec<Complex>,
    /// Poles.
    pub poles: Vec<Complex>,
    /// Coefficients above the line, highest power first.
    pub numerator: Vec<f64>,
    /// Coefficients below it; the first is 1.
    pub denominator: Vec<f64>,
}

/// A root this small against the largest is one at zero.
const AT_ZERO: f64 = 1e-12;

/// Makes the transfer function of a channel; one through which nothing passes is 0.
///
/// # Errors
///
/// As [`eigenvalues`].
pub fn transfer(channel: &Channel) -> Result<Transfer, NoEigenvalues> {
    let mut poles = eigenvalues(&channel.a)?;
    let found = zeros(channel)?;
    let passes = found.is_some();
    let mut zeros = found.unwrap_or_default();
    let size = |roots: &[Complex]| roots.iter().map(|r| r.norm()).fold(0.0, f64::max);
    let largest = size(&poles).max(size(&zeros));
    for root in poles.iter_mut().chain(&mut zeros) {
        if root.norm() <= AT_ZERO * largest {
            *root = Complex::new(0.0, 0.0);
        }
    }
    let gain = match passes {
        true => gain(channel, &zeros, &poles, largest),
        false => 0.0,
    };
    let numerator: Vec<f64> = polynomial(&zeros).iter().map(|c| c * gain).collect();
    Ok(Transfer {
        numerator: if passes { numerator } else { vec![0.0] },
        denominator: polynomial(&poles),
        gain,
        zeros,
        poles,
    })
}

/// G(s) Π (s − p)/Π (s − z) at a place beyond all roots, where nothing cancels.
fn gain(channel: &Channel, zeros: &[Complex], poles: &[Complex], largest: f64) -> f64 {
    let s = Complex::new(if largest > 0.0 { 2.0 * largest } else { 1.0 }, 0.0);
    let mut value = Response::new(channel).at(s);
    // In turn, so that no product overflows.
    for k in 0..zeros.len().max(poles.len()) {
        if let Some(&pole) = poles.get(k) {
            value *= s - pole;
        }
        if let Some(&zero) = zeros.get(k) {
            value /= s - zero;
        }
    }
    value.re
}

/// Π (s − root), highest power first.
pub(crate) fn polynomial(roots: &[Complex]) -> Vec<f64> {
    let mut all = vec![Complex::new(1.0, 0.0)];
    for &root in roots {
        let mut next = all.clone();
        next.push(Complex::new(0.0, 0.0));
        for (k, &c) in all.iter().enumerate() {
            next[k + 1] -= c * root;
        }
        all = next;
    }
    all.iter().map(|c| c.re).collect()
}
