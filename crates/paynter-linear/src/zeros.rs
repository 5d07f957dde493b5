//! Zeros of a channel: the s at which nothing passes.
//!
//! In:  a [`Channel`].
//! Out: its finite zeros, or none if nothing passes at any s.
//!
//! While the output does not read the input directly, a reflection turns the states so that the
//! output is one of them; holding it at zero leaves one state less, and its rate as the new output
//! (Emami-Naeini & Van Dooren 1982, for one input and one output). In the end D ≠ 0, and the zeros are
//! the eigenvalues of A − B D⁻¹ C. No infinite zeros arise that would have to be told from large ones.

use crate::balance::balance_channel;
use crate::eigen::{NoEigenvalues, eigenvalues};
use crate::{Channel, Complex, Matrix};

/// A direct gain below this share of its row is what rounding left of nothing.
const NOISE: f64 = 1e-13;

/// Computes the finite zeros of a channel; `None` where the output does not depend on the input.
///
/// # Errors
///
/// As [`eigenvalues`].
pub fn zeros(channel: &Channel) -> Result<Option<Vec<Complex>>, NoEigenvalues> {
    let (mut a, mut b, mut c, mut d) = proper(channel);
    let balanced = balance_channel(&a, &b, &c);
    (a, b, c) = (balanced.a, balanced.b, balanced.c);
    let mut is_given = true;
    loop {
        let n = b.len();
        let (in_size, out_size) = (length(&b), length(&c));
        // A gain that is given may be what rounding left of nothing, beside what passes through the states
        // in a time in which they change.
        let speed = a.norm();
        let is_noise = is_given && speed > 0.0 && d.abs() <= NOISE * in_size * out_size / speed;
        is_given = false;
        if d != 0.0 && !is_noise {
            let closed = Matrix::from_fn(n, n, |i, j| a[(i, j)] - b[i] * (c[j] / d));
            return eigenvalues(&closed).map(Some);
        }
        if out_size == 0.0 || n == 0 {
            return Ok(None);
        }
        // H = 1 − 2 v vᵀ/vᵀv with c H = ∓‖c‖ eₙ.
        let mut v = c.clone();
        v[n - 1] += out_size.copysign(v[n - 1]);
        let vv: f64 = v.iter().map(|v| v * v).sum();
        let reflect = |x: &mut [f64]| {
            let share = 2.0 * x.iter().zip(&v).map(|(x, v)| x * v).sum::<f64>() / vv;
            x.iter_mut().zip(&v).for_each(|(x, v)| *x -= share * v);
        };
        for i in 0..n {
            let mut row = a.row(i).to_vec();
            reflect(&mut row);
            (0..n).for_each(|j| a[(i, j)] = row[j]);
        }
        // From the left, row by row: Vᵀ A first, then A − 2 V (Vᵀ A)/vᵀv.
        let mut sums = vec![0.0; n];
        for i in (0..n).filter(|&i| v[i] != 0.0) {
            (0..n).for_each(|j| sums[j] += v[i] * a[(i, j)]);
        }
        for i in (0..n).filter(|&i| v[i] != 0.0) {
            (0..n).for_each(|j| a[(i, j)] -= 2.0 * v[i] * sums[j] / vv);
        }
        reflect(&mut b);
        let rest: Vec<usize> = (0..n - 1).collect();
        c = rest.iter().map(|&j| a[(n - 1, j)]).collect();
        d = b[n - 1];
        // What rounding leaves of a gain or a path that is not there.
        if d.abs() <= NOISE * in_size {
            d = 0.0;
        }
        if length(&c) <= NOISE * speed {
            c.fill(0.0);
        }
        a = a.part(&rest, &rest);
        b.truncate(n - 1);
    }
}

fn length(x: &[f64]) -> f64 {
    x.iter().fold(0.0_f64, |sum, x| sum.hypot(*x))
}

/// Rates of the input are outputs of integrators that the input drives backwards: as states
/// u, u̇, …, with the highest rate as the input. Their poles are no zeros of the channel, since the
/// highest rate is nothing but sᵏ u.
fn proper(channel: &Channel) -> (Matrix, Vec<f64>, Vec<f64>, f64) {
    let n = channel.b.len();
    let k = channel.d.len() - 1;
    let (b, c) = (channel.b.clone(), channel.c.clone());
    let a = Matrix::from_fn(n + k, n + k, |i, j| match (i < n, j < n) {
        (true, true) => channel.a[(i, j)],
        (true, false) if j == n => b[i],
        (false, false) if j == i + 1 => 1.0,
        _ => 0.0,
    });
    if k == 0 {
        return (a, b, c, channel.d[0]);
    }
    let mut b = vec![0.0; n + k];
    b[n + k - 1] = 1.0;
    let mut c = c;
    c.extend_from_slice(&channel.d[..k]);
    (a, b, c, channel.d[k])
}
