//! How much of a linear model its inputs reach, and its outputs see.
//!
//! In:  A and B (or Aᵀ and Cᵀ, for what outputs see).
//! Out: a [`Staircase`]: the dimension that inputs reach, with what decided it.
//!
//! Orthogonal changes of states bring (A, B) to a staircase; each step of it is one more
//! integration away from the inputs, and its height is a rank that a singular-value decomposition decides
//! (Van Dooren 1981; Varga 1981). Powers of A, which lose all digits, are never formed.

use crate::{Complex, LinearModel, Matrix, NoEigenvalues, balance, eigenvalues};

/// The staircase form of (A, B).
#[derive(Clone, Debug, PartialEq)]
pub struct Staircase {
    /// The dimension that the inputs reach.
    pub dimension: usize,
    /// The height of each step: how many directions are this many integrations away from the inputs.
    pub steps: Vec<usize>,
    /// The smallest singular value that counted, relative to the size of [A B]; infinite if none did.
    pub smallest_kept: f64,
    /// The largest singular value that did not count, relative to the size of [A B].
    pub largest_dropped: f64,
    /// Directions that no input reaches: w with wᵀ x out of reach, one in each row, in the states of A.
    pub unreached: Matrix,
}

/// Singular values below this many roundings of the whole matrix are zero. The matrices come out of algebraic loops,
/// which lose four or five digits where terms nearly cancel.
const ROUNDINGS: f64 = 1e5;

/// Brings (A, B) to staircase form.
///
/// # Errors
///
/// Entries that are not finite.
pub fn staircase(a: &Matrix, b: &Matrix) -> Result<Staircase, NoEigenvalues> {
    let n = a.n_rows();
    if !a.is_finite() || !b.is_finite() {
        return Err(NoEigenvalues);
    }
    let Scaled { mut a, b, scales } = scale(a, b);
    let size = a.norm().hypot(b.norm());
    let floor = ROUNDINGS * f64::EPSILON * n.max(1) as f64;
    let mut found = Staircase {
        dimension: 0,
        steps: Vec::new(),
        smallest_kept: f64::INFINITY,
        largest_dropped: 0.0,
        unreached: Matrix::zeros(0, n),
    };

    // Columns of `turn` are the new axes in the scaled states.
    let mut turn = Matrix::identity(n);
    let mut front = b;
    while found.dimension < n && front.n_columns() > 0 && size > 0.0 {
        let (left, values) = left_vectors(&front)?;
        let counts = |s: &&f64| **s > floor * size;
        let height = values.iter().filter(counts).count();
        for &s in &values {
            if s > floor * size {
                found.smallest_kept = found.smallest_kept.min(s / size);
            } else {
                found.largest_dropped = found.largest_dropped.max(s / size);
            }
        }
        if height == 0 {
            break;
        }
        turn_rest(&mut a, &mut turn, found.dimension, &left);
        let done = found.dimension;
        found.dimension += height;
        found.steps.push(height);
        let rows: Vec<usize> = (found.dimension..n).collect();
        let columns: Vec<usize> = (done..found.dimension).collect();
        front = a.part(&rows, &columns);
    }

    let rest: Vec<usize> = (found.dimension..n).collect();
    // x = D x̃: a row in the scaled states divides by the scales.
    found.unreached = Matrix::from_fn(rest.len(), n, |i, j| turn[(j, rest[i])] / scales[j]);
    Ok(found)
}

struct Scaled {
    a: Matrix,
    b: Matrix,
    scales: Vec<f64>,
}

/// Balances the states, and gives every input the size of A: units must not decide.
fn scale(a: &Matrix, b: &Matrix) -> Scaled {
    let (a, scales) = balance(a);
    let size = match a.norm() {
        0.0 => 1.0,
        size => size,
    };
    let mut b = Matrix::from_fn(b.n_rows(), b.n_columns(), |i, j| b[(i, j)] / scales[i]);
    for j in 0..b.n_columns() {
        let length = b.column(j).iter().fold(0.0_f64, |sum, x| sum.hypot(*x));
        if length > 0.0 {
            (0..b.n_rows()).for_each(|i| b[(i, j)] *= size / length);
        }
    }
    Scaled { a, b, scales }
}

/// All left singular vectors, by columns, and the singular values, largest first.
fn left_vectors(m: &Matrix) -> Result<(Matrix, Vec<f64>), NoEigenvalues> {
    let svd = m.to_faer().svd().map_err(|_| NoEigenvalues)?;
    let (u, s) = (svd.U(), svd.S().column_vector());
    let values = (0..s.nrows()).map(|k| s[k]).collect();
    Ok((
        Matrix::from_fn(u.nrows(), u.ncols(), |i, j| u[(i, j)]),
        values,
    ))
}

/// Turns the states from number `from` on: A ← Qᵀ A Q, with Q = 1 before.
fn turn_rest(a: &mut Matrix, turn: &mut Matrix, from: usize, left: &Matrix) {
    let n = a.n_rows();
    let q = Matrix::from_fn(n, n, |i, j| match (i < from, j < from) {
        (false, false) => left[(i - from, j - from)],
        _ if i == j => 1.0,
        _ => 0.0,
    });
    let transposed = Matrix::from_fn(n, n, |i, j| q[(j, i)]);
    *a = transposed.times(a).times(&q);
    *turn = turn.times(&q);
}

/// Gives the rank of [A B], the states balanced and the inputs brought to one size before.
///
/// # Errors
///
/// Entries that are not finite.
pub fn joint_rank(a: &Matrix, b: &Matrix) -> Result<usize, NoEigenvalues> {
    let (n, m) = (a.n_rows(), b.n_columns());
    if !a.is_finite() || !b.is_finite() {
        return Err(NoEigenvalues);
    }
    let Scaled { a, b, .. } = scale(a, b);
    let size = a.norm().hypot(b.norm());
    if n == 0 || size == 0.0 {
        return Ok(0);
    }
    let joined = Matrix::from_fn(n, n + m, |i, j| match j < n {
        true => a[(i, j)],
        false => b[(i, j - n)],
    });
    let (_, values) = left_vectors(&joined)?;
    let floor = ROUNDINGS * f64::EPSILON * n as f64 * size;
    Ok(values.iter().filter(|s| **s > floor).count())
}

/// How far (A, B) is from having a mode that no input reaches: the smallest singular value of
/// [A − λ, B] over all poles λ, relative to the size of A (Popov, Belevitch, Hautus). The states are balanced
/// and the inputs brought to one size before.
///
/// # Errors
///
/// As [`eigenvalues`].
pub fn reach_margin(a: &Matrix, b: &Matrix) -> Result<f64, NoEigenvalues> {
    let poles = eigenvalues(a)?;
    let Scaled { a, b, .. } = scale(a, b);
    let (n, m) = (a.n_rows(), b.n_columns());
    let size = a.norm().hypot(b.norm());
    let mut margin = f64::INFINITY;
    for pole in poles.iter().filter(|p| p.im >= 0.0) {
        let tested = faer::Mat::from_fn(n, n + m, |i, j| match j < n {
            true if i == j => Complex::new(a[(i, j)], 0.0) - *pole,
            true => Complex::new(a[(i, j)], 0.0),
            false => Complex::new(b[(i, j - n)], 0.0),
        });
        let values = tested.singular_values().map_err(|_| NoEigenvalues)?;
        let smallest = values.iter().fold(f64::INFINITY, |x, y| x.min(*y));
        margin = margin.min(smallest / size);
    }
    Ok(if margin.is_finite() { margin } else { 0.0 })
}

/// Turns inputs into outputs and back: Aᵀ, Cᵀ, Bᵀ.
pub fn transpose(m: &Matrix) -> Matrix {
    Matrix::from_fn(m.n_columns(), m.n_rows(), |i, j| m[(j, i)])
}

impl LinearModel {
    /// What the inputs reach.
    ///
    /// # Errors
    ///
    /// As [`staircase`].
    pub fn reached(&self) -> Result<Staircase, NoEigenvalues> {
        staircase(&self.a, &self.b)
    }

    /// What the outputs see; `unreached` holds states that no output sees, by their directions.
    ///
    /// # Errors
    ///
    /// As [`staircase`].
    pub fn seen(&self) -> Result<Staircase, NoEigenvalues> {
        staircase(&transpose(&self.a), &transpose(&self.c))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn matrix(rows: &[&[f64]]) -> Matrix {
        Matrix::from_rows(rows)
    }

    #[test]
    fn a_chain_of_integrators_is_reached_step_by_step() {
        let a = matrix(&[&[0.0, 1.0, 0.0], &[0.0, 0.0, 1e6], &[0.0, 0.0, 0.0]]);
        let found = staircase(&a, &matrix(&[&[0.0], &[0.0], &[1e-9]])).expect("finite");
        assert_eq!((found.dimension, found.steps), (3, vec![1, 1, 1]));
    }

    #[test]
    fn two_equal_lags_hide_their_difference_whatever_the_units() {
        for scale in [1.0, 1e9] {
            let a = matrix(&[&[-1.0, 0.0], &[0.0, -1.0]]);
            let found = staircase(&a, &matrix(&[&[1.0], &[scale]])).expect("finite");
            assert_eq!(found.dimension, 1, "{found:?}");
            // What stays is x₂ − scale x₁; the small entry is as exact as the large one allows.
            let (w0, w1) = (found.unreached[(0, 0)], found.unreached[(0, 1)]);
            assert!((w0 + scale * w1).abs() < 16.0 * f64::EPSILON * scale * w0.abs());
            assert!(reach_margin(&a, &matrix(&[&[1.0], &[scale]])).expect("finite") < 1e-12);
        }
    }

    #[test]
    fn rank_does_not_depend_on_units() {
        // Two integrators in a row, their states in units 10⁹ apart.
        let a = matrix(&[&[0.0, 1e9], &[0.0, 0.0]]);
        assert_eq!(joint_rank(&a, &matrix(&[&[0.0], &[1e-9]])), Ok(2));
        assert_eq!(joint_rank(&a, &matrix(&[&[3.0], &[0.0]])), Ok(1));
        assert_eq!(
            joint_rank(&Matrix::zeros(2, 2), &Matrix::zeros(2, 1)),
            Ok(0)
        );
    }
}
