//! Zeros of a channel: the s at which nothing passes.
//!
//! In:  a [`Channel`].
//! Out: its finite zeros, or none if nothing passes at any s.
//!
//! While the output does not read the input directly, a reflection turns the states so that the
//! output is one of them; holding it at zero leaves one state less, and its rate as the new output
//! (Emami-Naeini & Van Dooren 1982, for one input and one output). In the end D ≠ 0, and the zeros are
//! the eigenvalues of A − B D⁻¹ C. How many states go is counted before, along the paths from input to
//! output, so that no infinite zero has to be told from a large one.

use crate::balance::{Balanced, balance_channel};
use crate::eigen::{NoEigenvalues, eigenvalues};
use crate::{Channel, Complex, Matrix};

/// A sum of paths below this share of the sum of their sizes has cancelled, but for rounding.
const CANCELLED: f64 = 1e-12;

/// Computes the finite zeros of a channel; `None` where the output does not depend on the input.
///
/// # Errors
///
/// As [`eigenvalues`].
pub fn zeros(channel: &Channel) -> Result<Option<Vec<Complex>>, NoEigenvalues> {
    let (a, b, c, d) = proper(channel);
    let Balanced {
        mut a,
        mut b,
        mut c,
        ..
    } = balance_channel(&a, &b, &c);

    let Some(Passage { delay, gain, log }) = passage(&a, &b, &c, d) else {
        return Ok(None);
    };

    // The gain that is left at the end, from that of the passage: rounding in the reflections would
    // spoil it, where states of very different pace are mixed.
    let (mut log, mut sign) = (log, gain.signum());
    for _ in 0..delay {
        let size = reflect_output(&mut a, &mut b, &c);
        log -= size.abs().ln();
        sign *= size.signum();
        let n = b.len();
        let rest: Vec<usize> = (0..n - 1).collect();
        c = a.row(n - 1)[..n - 1].to_vec();
        a = a.part(&rest, &rest);
        b.truncate(n - 1);
    }

    let d = sign * log.exp();
    let n = b.len();
    let closed = Matrix::from_fn(n, n, |i, j| a[(i, j)] - b[i] * (c[j] / d));
    let mut found = eigenvalues(&closed)?;
    let mut largest = found.iter().map(|z| z.norm()).fold(0.0, f64::max);
    if n == 1 {
        largest = a[(0, 0)].abs() + (b[0] * (c[0] / d)).abs();
    }

    found.iter_mut().for_each(|zero| settle(zero, largest));
    Ok(Some(found))
}

/// Takes what rounding leaves of a zero at the origin, or on the imaginary axis, for one that is there.
fn settle(zero: &mut Complex, largest: f64) {
    // Eigenvalues are known to roundings of the largest at best. No more than that: a small zero beside a large one is real.
    const ROUNDINGS: f64 = 4.0;
    let rounding = ROUNDINGS * f64::EPSILON * largest;
    if zero.norm() <= rounding {
        *zero = Complex::new(0.0, 0.0);
    } else if zero.im != 0.0 && zero.re.abs() <= rounding {
        zero.re = 0.0;
    }
}

/// How the input first reaches the output.
struct Passage {
    /// How many integrations lie between them: the relative degree.
    delay: usize,
    /// C Aᵏ⁻¹ B, or D: its sign counts.
    gain: f64,
    /// ln |gain|, which may be beyond all numbers.
    log: f64,
}

/// Finds the first of D, C B, C A B, … that is not zero. Sums of path gains that cancel down to rounding are
/// zero: the sizes of the paths, added up, tell.
fn passage(a: &Matrix, b: &[f64], c: &[f64], d: f64) -> Option<Passage> {
    if d != 0.0 {
        return Some(Passage {
            delay: 0,
            gain: d,
            log: d.abs().ln(),
        });
    }

    let n = b.len();
    let (mut reached, mut sizes) = (b.to_vec(), b.iter().map(|b| b.abs()).collect::<Vec<f64>>());
    let mut log = 0.0;
    for delay in 1..=n {
        let gain: f64 = c.iter().zip(&reached).map(|(c, x)| c * x).sum();
        let most: f64 = c.iter().zip(&sizes).map(|(c, x)| (c * x).abs()).sum();
        if gain.abs() > CANCELLED * most {
            let log = log + gain.abs().ln();
            return Some(Passage { delay, gain, log });
        }
        let through = |x: &[f64], of: &dyn Fn(f64) -> f64| -> Vec<f64> {
            let row = |i: usize| a.row(i).iter().zip(x).map(|(a, x)| of(*a) * x).sum();
            (0..n).map(row).collect()
        };
        reached = through(&reached, &|a| a);
        sizes = through(&sizes, &f64::abs);
        let largest = sizes.iter().fold(0.0_f64, |m, x| m.max(*x));
        if largest == 0.0 {
            return None;
        }
        log += largest.ln();
        reached
            .iter_mut()
            .chain(&mut sizes)
            .for_each(|x| *x /= largest);
    }
    None
}

/// Turns the states so that the output is a multiple of the last one, y = σ xₙ; gives σ.
fn reflect_output(a: &mut Matrix, b: &mut [f64], c: &[f64]) -> f64 {
    let n = b.len();
    let size = c.iter().fold(0.0_f64, |sum, x| sum.hypot(*x));
    // H = 1 − 2 v vᵀ/vᵀv with c H = ∓‖c‖ eₙ.
    let mut v = c.to_vec();
    let sign = 1.0_f64.copysign(c[n - 1]);
    v[n - 1] += sign * size;
    let vv: f64 = v.iter().map(|v| v * v).sum();
    if vv == 0.0 {
        return 0.0;
    }
    let reflect = |x: &mut [f64]| {
        let share = 2.0 * x.iter().zip(&v).map(|(x, v)| x * v).sum::<f64>() / vv;
        x.iter_mut().zip(&v).for_each(|(x, v)| *x -= share * v);
    };

    for i in 0..n {
        let mut row = a.row(i).to_vec();
        reflect(&mut row);
        (0..n).for_each(|j| a[(i, j)] = row[j]);
    }

    // From the left, row by row: vᵀ A first, then A − 2 v (vᵀ A)/vᵀv.
    let mut sums = vec![0.0; n];
    for i in (0..n).filter(|&i| v[i] != 0.0) {
        (0..n).for_each(|j| sums[j] += v[i] * a[(i, j)]);
    }
    for i in (0..n).filter(|&i| v[i] != 0.0) {
        (0..n).for_each(|j| a[(i, j)] -= 2.0 * v[i] * sums[j] / vv);
    }
    reflect(b);
    -sign * size
}

/// Rates of the input are outputs of integrators that the input drives backwards: as states
/// u, u̇, …, with the highest rate as the input. Their poles are not zeros of the channel, since the
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
