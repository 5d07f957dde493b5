//! The response of a channel at any complex frequency.
//!
//! In:  a [`Channel`].
//! Out: G(s) = C (s − A)⁻¹ B + D₀ + D₁ s + …, for models in steps G(z) with z = e^{jωT} at a frequency.
//!
//! Small models are solved as they are, so that even gains far below all others keep their digits:
//! reflections would mix them with rounding of the large ones. Larger ones are balanced and brought to
//! Hessenberg form once (Laub 1981), so that one frequency costs n².

use crate::balance::balance_channel;
use crate::{Channel, Complex, Matrix};

/// A channel made ready to be asked at many frequencies.
#[derive(Clone, Debug)]
pub struct Response {
    /// Upper Hessenberg, if there are many states.
    h: Matrix,
    /// Entries below the diagonal that elimination has to look at.
    reach: usize,
    b: Vec<f64>,
    c: Vec<f64>,
    d: Vec<f64>,
    /// The step of a model in steps, s.
    step: Option<f64>,
}

/// Up to so many states a thousand frequencies take less than a second without further ado.
const FEW: usize = 64;

impl Response {
    /// Makes a channel ready.
    pub fn new(channel: &Channel) -> Self {
        let balanced = balance_channel(&channel.a, &channel.b, &channel.c);
        let (mut h, mut b, mut c) = (balanced.a, balanced.b, balanced.c);
        let n = b.len();
        let is_small = n <= FEW;
        for k in (0..n.saturating_sub(2)).take_while(|_| !is_small) {
            // Reflects the column below the subdiagonal to zero (Golub & Van Loan, Alg. 7.4.2).
            let below: Vec<f64> = (k + 1..n).map(|i| h[(i, k)]).collect();
            let size = below.iter().fold(0.0_f64, |sum, x| sum.hypot(*x));
            if below[1..].iter().all(|&x| x == 0.0) || size == 0.0 {
                continue;
            }
            let mut v = below;
            v[0] += size.copysign(v[0]);
            let vv: f64 = v.iter().map(|v| v * v).sum();
            let reflect = |x: &mut [f64]| {
                let share = 2.0 * x.iter().zip(&v).map(|(x, v)| x * v).sum::<f64>() / vv;
                x.iter_mut().zip(&v).for_each(|(x, v)| *x -= share * v);
            };
            for j in 0..n {
                let mut column: Vec<f64> = (k + 1..n).map(|i| h[(i, j)]).collect();
                reflect(&mut column);
                (k + 1..n).for_each(|i| h[(i, j)] = column[i - k - 1]);
            }
            for i in 0..n {
                let mut row: Vec<f64> = h.row(i)[k + 1..].to_vec();
                reflect(&mut row);
                (k + 1..n).for_each(|j| h[(i, j)] = row[j - k - 1]);
            }
            (k + 2..n).for_each(|i| h[(i, k)] = 0.0);
            reflect(&mut b[k + 1..]);
            reflect(&mut c[k + 1..]);
        }

        Response {
            h,
            reach: if is_small { n } else { 1 },
            b,
            c,
            d: channel.d.clone(),
            step: None,
        }
    }

    /// Makes a channel of a model in steps ready.
    pub fn in_steps(channel: &Channel, step: f64) -> Self {
        Response {
            step: Some(step),
            ..Self::new(channel)
        }
    }

    /// The frequency that steps can just show, π/T, rad/s; none for a continuous model.
    pub fn highest_frequency(&self) -> Option<f64> {
        self.step.map(|step| std::f64::consts::PI / step)
    }

    /// Computes G(s); not finite at a pole.
    pub fn at(&self, s: Complex) -> Complex {
        let direct = self
            .d
            .iter()
            .rev()
            .fold(Complex::new(0.0, 0.0), |sum, &d| sum * s + d);
        direct + self.through_states(s)
    }

    /// Computes G(jω), or G(e^{jωT}).
    pub fn at_frequency(&self, omega: f64) -> Complex {
        let Some(step) = self.step else {
            return self.at(Complex::new(0.0, omega));
        };
        // Half a turn per step is −1 itself, where the response is real.
        if Some(omega) == self.highest_frequency() {
            return self.at(Complex::new(-1.0, 0.0));
        }
        let (sin, cos) = (omega * step).sin_cos();
        self.at(Complex::new(cos, sin))
    }

    /// Computes the gain at rest, G(0), or G(1) in steps.
    pub fn at_rest(&self) -> f64 {
        let place = if self.step.is_some() { 1.0 } else { 0.0 };
        self.at(Complex::new(place, 0.0)).re
    }

    /// C (s − H)⁻¹ B by elimination with row exchanges, which keep the form of Hessenberg.
    fn through_states(&self, s: Complex) -> Complex {
        let n = self.b.len();
        let zero = Complex::new(0.0, 0.0);
        let mut x: Vec<Complex> = self.b.iter().map(|&b| Complex::new(b, 0.0)).collect();
        let mut m: Vec<Complex> = (0..n * n)
            .map(|at| {
                let (i, j) = (at / n, at % n);
                let own = if i == j { s } else { zero };
                own - self.h[(i, j)]
            })
            .collect();

        for k in 0..n.saturating_sub(1) {
            let below = k + 1..n.min(k + 1 + self.reach);
            let largest = |&a: &usize, &b: &usize| {
                let size = |i: usize| m[i * n + k].norm();
                // Of equals the upper one: nothing is exchanged without need.
                size(a).total_cmp(&size(b)).then(b.cmp(&a))
            };
            let pivot = (k..below.end).max_by(largest).unwrap_or(k);
            if pivot != k {
                for j in k..n {
                    m.swap(k * n + j, pivot * n + j);
                }
                x.swap(k, pivot);
            }
            for i in below {
                if m[i * n + k] == zero {
                    continue;
                }
                let factor = m[i * n + k] / m[k * n + k];
                for j in k..n {
                    let part = factor * m[k * n + j];
                    m[i * n + j] -= part;
                }
                let part = factor * x[k];
                x[i] -= part;
            }
        }

        for k in (0..n).rev() {
            let known = (k + 1..n).fold(zero, |sum, j| sum + m[k * n + j] * x[j]);
            x[k] = (x[k] - known) / m[k * n + k];
        }

        self.c
            .iter()
            .zip(&x)
            .fold(zero, |sum, (&c, &x)| sum + x * c)
    }
}
