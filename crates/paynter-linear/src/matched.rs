//! From a continuous channel to one in steps by its roots.
//!
//! In:  the transfer function of a channel, and a step.
//! Out: poles and zeros at e^{sT}, as many zeros at z = −1 as there are further poles but one, and a gain that agrees at one frequency.
//!
//! One zero is left at infinity: a controller has a step in which to compute (Franklin, Powell & Workman, *Digital Control of Dynamic
//! Systems*, §6.2).

use crate::transfer::polynomial;
use crate::{Complex, Transfer};

/// Maps the roots. None where every frequency at which gains could be compared is a root, or the step is not positive.
pub fn matched(transfer: &Transfer, step: f64) -> Option<Transfer> {
    if step.is_nan() || step <= 0.0 || !step.is_finite() {
        return None;
    }
    let map = |roots: &[Complex]| -> Vec<Complex> {
        let each = roots.iter().map(|s| {
            let radius = (s.re * step).exp();
            let (sin, cos) = (s.im * step).sin_cos();
            Complex::new(radius * cos, radius * sin)
        });
        each.collect()
    };
    let poles = map(&transfer.poles);
    let mut zeros = map(&transfer.zeros);
    while zeros.len() + 1 < poles.len() {
        zeros.push(Complex::new(-1.0, 0.0));
    }
    let gain = match transfer.gain {
        0.0 => 0.0,
        _ => gain(transfer, (&zeros, &poles), step)?,
    };
    Some(Transfer {
        gain,
        numerator: polynomial(&zeros).iter().map(|c| c * gain).collect(),
        denominator: polynomial(&poles),
        zeros,
        poles,
    })
}

/// The gain that makes both agree at rest; where a root is there, a little beside it on the real axis.
fn gain(transfer: &Transfer, (zeros, poles): (&[Complex], &[Complex]), step: f64) -> Option<f64> {
    let fast = transfer
        .poles
        .iter()
        .chain(&transfer.zeros)
        .map(|r| r.norm());
    let fast = fast.fold(0.0, f64::max);

    // A hundredth of the corners: slow for the model, yet clear of roots at zero.
    let beside = 0.01
        * if fast > 0.0 {
            fast.min(1.0 / step)
        } else {
            1.0 / step
        };
    for s in [0.0, beside, 1.7 * beside] {
        let point = Complex::new(s, 0.0);
        let z = Complex::new((s * step).exp(), 0.0);
        let product = |roots: &[Complex], at: Complex| {
            roots
                .iter()
                .fold(Complex::new(1.0, 0.0), |p, r| p * (at - *r))
        };
        let size = |roots: &[Complex], at: Complex| {
            roots
                .iter()
                .fold(1.0, |p: f64, r| p * (at.norm() + r.norm()))
        };
        let factors = [
            (&transfer.zeros[..], point),
            (&transfer.poles[..], point),
            (zeros, z),
            (poles, z),
        ];
        let is_root = |(roots, at): &(&[Complex], Complex)| {
            product(roots, *at).norm() <= 1e-12 * size(roots, *at)
        };
        if factors.iter().any(is_root) {
            continue;
        }
        let [a, b, c, d] = factors.map(|(roots, at)| product(roots, at));
        let value = (a / b) * (d / c) * transfer.gain;
        return value.re.is_finite().then_some(value.re);
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(gain: f64, zeros: &[f64], poles: &[f64]) -> Transfer {
        let real = |list: &[f64]| {
            list.iter()
                .map(|x| Complex::new(*x, 0.0))
                .collect::<Vec<_>>()
        };
        Transfer {
            gain,
            zeros: real(zeros),
            poles: real(poles),
            numerator: Vec::new(),
            denominator: Vec::new(),
        }
    }

    #[test]
    fn a_lag_keeps_its_gain_at_rest_and_its_pole() {
        // 3/(s + 2) in steps of 0.1: pole e^−0.2, gain 1.5 (1 − e^−0.2).
        let found = matched(&of(3.0, &[], &[-2.0]), 0.1).expect("has one");
        let pole = (-0.2_f64).exp();
        assert!((found.poles[0].re - pole).abs() < 1e-15);
        assert!((found.gain - 1.5 * (1.0 - pole)).abs() < 1e-14);
        assert!(found.zeros.is_empty());
    }

    #[test]
    fn two_further_poles_give_one_zero_at_minus_one() {
        // 1/((s + 1)(s + 2)): (1 + e^0)... the gain at rest is 1/2.
        let found = matched(&of(1.0, &[], &[-1.0, -2.0]), 0.5).expect("has one");
        assert_eq!(found.zeros.len(), 1);
        assert_eq!(found.zeros[0].re, -1.0);
        let at_rest = found.numerator.iter().sum::<f64>() / found.denominator.iter().sum::<f64>();
        assert!((at_rest - 0.5).abs() < 1e-14, "{at_rest}");
    }

    #[test]
    fn an_integrator_agrees_beside_its_pole() {
        // 1/s in steps of T: K/(z − 1) with K = T up to terms of the place beside the pole.
        let found = matched(&of(1.0, &[], &[0.0]), 0.1).expect("has one");
        assert!((found.gain / 0.1 - 1.0).abs() < 0.01, "{}", found.gain);
        assert_eq!(matched(&of(1.0, &[], &[0.0]), 0.0), None);
    }
}
