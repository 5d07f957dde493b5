//! Lyapunov's equations, continuous and in steps.
//!
//! In:  A and a symmetric Q.
//! Out: the symmetric X of Aᵀ X + X A + Q = 0, or of Aᵀ X A − X + Q = 0.
//!
//! Smith's doubling (1968) where A is stable, after Cayley's transformation in the continuous case; equations for all entries at once
//! where it is not. The residual is then solved for once more: rounding of the doubling is taken out.

use crate::solve::{solve, symmetric};
use crate::staircase::transpose;
use crate::{Matrix, eigenvalues};

/// Entries are solved for together up to this order: n² unknowns.
const MOST_TOGETHER: usize = 24;

/// Solves Aᵀ X + X A + Q = 0; none where two eigenvalues of A add up to zero, or A is large and neither stable nor all unstable.
pub fn lyapunov(a: &Matrix, q: &Matrix) -> Option<Matrix> {
    let poles = eigenvalues(a).ok()?;
    let is_stable = poles.iter().all(|p| p.re < 0.0);
    if is_stable {
        let pace = poles.iter().map(|p| p.norm());
        let fast = pace.clone().fold(0.0, f64::max);
        let slow = pace.fold(f64::INFINITY, f64::min);
        return refined(|q| cayley(a, q, (fast * slow).sqrt()), q, &|x| {
            residual(a, x, q)
        });
    }
    if poles.iter().all(|p| p.re > 0.0) {
        return lyapunov(&a.clone().scaled(-1.0), q).map(|x| x.scaled(-1.0));
    }
    let n = a.n_rows();
    if n > MOST_TOGETHER {
        return None;
    }
    let at = transpose(a);
    let row = |i: usize, j: usize, k: usize, l: usize| {
        // (Aᵀ X + X A)ᵢⱼ by Xₖₗ
        (if l == j { at[(i, k)] } else { 0.0 }) + if k == i { a[(l, j)] } else { 0.0 }
    };
    together(n, q, row)
}

/// Solves Aᵀ X A − X + Q = 0; none where a product of two eigenvalues of A is one.
pub fn discrete_lyapunov(a: &Matrix, q: &Matrix) -> Option<Matrix> {
    let poles = eigenvalues(a).ok()?;
    if poles.iter().all(|p| p.norm() < 1.0) {
        return refined(|q| doubled(a, q), q, &|x| discrete_residual(a, x, q));
    }
    let n = a.n_rows();
    if n > MOST_TOGETHER {
        return None;
    }
    let row = |i: usize, j: usize, k: usize, l: usize| {
        a[(k, i)] * a[(l, j)] - if (i, j) == (k, l) { 1.0 } else { 0.0 }
    };
    together(n, q, row)
}

fn residual(a: &Matrix, x: &Matrix, q: &Matrix) -> Matrix {
    let xa = x.times(a);
    transpose(&xa).plus(1.0, &xa).plus(1.0, q)
}

fn discrete_residual(a: &Matrix, x: &Matrix, q: &Matrix) -> Matrix {
    transpose(a).times(&x.times(a)).plus(-1.0, x).plus(1.0, q)
}

/// Solves, and solves again for what is left over.
fn refined(
    solve: impl Fn(&Matrix) -> Option<Matrix>,
    q: &Matrix,
    residual: &dyn Fn(&Matrix) -> Matrix,
) -> Option<Matrix> {
    let mut x = symmetric(&solve(q)?);
    let mut size = residual(&x).norm();
    for _ in 0..3 {
        let better = symmetric(&x.plus(1.0, &solve(&residual(&x))?));
        let left = residual(&better).norm();
        if left.is_nan() || left >= size {
            break;
        }
        (x, size) = (better, left);
    }
    x.is_finite().then_some(x)
}

/// With Ad = (p − A)⁻¹ (p + A) the equation is one in steps.
fn cayley(a: &Matrix, q: &Matrix, p: f64) -> Option<Matrix> {
    let n = a.n_rows();
    let unit = Matrix::identity(n).scaled(p);
    let minus = unit.plus(-1.0, a);
    let ad = solve(&minus, &unit.plus(1.0, a))?;
    let half = solve(&transpose(&minus), q)?;
    let qd = transpose(&solve(&transpose(&minus), &transpose(&half))?).scaled(2.0 * p);
    doubled(&ad, &qd)
}

/// X = Σ Aᵀᵏ Q Aᵏ, twice as many terms each time.
fn doubled(a: &Matrix, q: &Matrix) -> Option<Matrix> {
    let (mut a, mut x) = (a.clone(), q.clone());
    for _ in 0..64 {
        let more = transpose(&a).times(&x.times(&a));
        x = x.plus(1.0, &more);
        if !x.is_finite() {
            return None;
        }
        if more.norm() <= 1e-17 * x.norm() {
            return Some(x);
        }
        a = a.times(&a);
    }
    None
}

/// Solves for all entries at once.
fn together(
    n: usize,
    q: &Matrix,
    row: impl Fn(usize, usize, usize, usize) -> f64,
) -> Option<Matrix> {
    let all = Matrix::from_fn(n * n, n * n, |r, c| row(r / n, r % n, c / n, c % n));
    let right = Matrix::from_fn(n * n, 1, |r, _| -q[(r / n, r % n)]);
    let x = solve(&all, &right)?;
    // A singular matrix gives numbers as well; they do not solve the equations.
    let left = all.times(&x).plus(-1.0, &right).norm();
    let is_good = left <= 1e-6 * (right.norm() + all.norm() * x.norm() * 1e-8);
    is_good.then(|| symmetric(&Matrix::from_fn(n, n, |i, j| x[(i * n + j, 0)])))
}
