//! Feedback that puts poles where they are wanted.
//!
//! In:  A, B and n poles, complex ones in pairs.
//! Out: K such that A − B K has these poles.
//!
//! With one input K is unique: in the Hessenberg form of (A, b) it is the last row of Π(H − p), divided by the product of the entries below
//! the diagonal (Ackermann's formula, which loses digits in any other form). With several, A X − X Λ = B G, Λ holding the poles, gives
//! K = G X⁻¹ (Bhattacharyya & de Souza 1982), and the best conditioned X of many seeded draws is taken. States are balanced first.

use crate::solve::solve;
use crate::staircase::transpose;
use crate::{Complex, Matrix, balance, eigenvalues};

/// Why poles cannot be placed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NotPlaced {
    /// Not as many poles as states.
    Count {
        /// States.
        n_states: usize,
    },
    /// A complex pole without its conjugate.
    Unpaired,
    /// No input reaches some mode.
    NotControllable,
    /// The gains are known, but rounding them to sixteen digits moves the poles away from where they should be.
    Rounding,
}

/// Draws of G for several inputs.
const DRAWS: usize = 40;

/// Finds K.
///
/// # Errors
///
/// See [`NotPlaced`].
pub fn place(a: &Matrix, b: &Matrix, poles: &[Complex]) -> Result<Matrix, NotPlaced> {
    let n = a.n_rows();
    if poles.len() != n {
        return Err(NotPlaced::Count { n_states: n });
    }
    let blocks = pairs(poles)?;
    if b.n_columns() == 1 {
        // A diagonal does not change with the scales, and must not choose them: beside a chain it may be tiny.
        let chain = Matrix::from_fn(n, n, |i, j| if i == j { 0.0 } else { a[(i, j)] });
        let (_, scales) = balance(&chain);
        let balanced = Matrix::from_fn(n, n, |i, j| a[(i, j)] * scales[j] / scales[i]);
        let scaled_b: Vec<f64> = (0..n).map(|i| b[(i, 0)] / scales[i]).collect();
        let row = for_one_input(&balanced, &scaled_b, &blocks);
        let row = row.ok_or(NotPlaced::NotControllable)?;
        let k = Matrix::from_fn(1, n, |_, j| row[j] / scales[j]);
        let is_good = is_placed(a, b, &k, poles);
        return is_good.then_some(k).ok_or(NotPlaced::Rounding);
    }

    let (balanced, scales) = balance(a);
    let scaled_b = Matrix::from_fn(n, b.n_columns(), |i, j| b[(i, j)] / scales[i]);
    // A pole that stays where it is makes A − λ singular: move all poles first.
    let own = eigenvalues(a).map_err(|_| NotPlaced::NotControllable)?;
    let size = own
        .iter()
        .map(|p| p.norm())
        .fold(f64::MIN_POSITIVE, f64::max);
    let is_kept = poles
        .iter()
        .any(|p| own.iter().any(|o| (*o - *p).norm() < 1e-3 * size));
    let m = b.n_columns();
    let mut draw = Draw(0x1982);
    let first = Matrix::from_fn(m, n, |_, _| 0.0);
    let first = match is_kept {
        false => first,
        true => {
            let reach = scaled_b.norm().max(f64::MIN_POSITIVE);
            let entries: Vec<f64> = (0..m * n).map(|_| draw.next() * size / reach).collect();
            Matrix::from_fn(m, n, |i, j| entries[i * n + j])
        }
    };
    let moved = balanced.plus(-1.0, &scaled_b.times(&first));
    let mut best: Option<(f64, Matrix)> = None;
    for _ in 0..DRAWS {
        let entries: Vec<f64> = (0..m * n).map(|_| draw.next()).collect();
        let g = Matrix::from_fn(m, n, |i, j| entries[i * n + j]);
        let Some((condition, k)) = gain_for(&moved, &scaled_b, &blocks, g) else {
            continue;
        };
        if best.as_ref().is_none_or(|b| condition < b.0) {
            best = Some((condition, k));
        }
    }

    let (_, k) = best.ok_or(NotPlaced::NotControllable)?;
    let k = k.plus(1.0, &first);
    let k = Matrix::from_fn(m, n, |i, j| k[(i, j)] / scales[j]);
    is_placed(a, b, &k, poles)
        .then_some(k)
        .ok_or(NotPlaced::NotControllable)
}

/// K of a single input; none where it does not reach every state.
fn for_one_input(a: &Matrix, b: &[f64], blocks: &[(f64, f64)]) -> Option<Vec<f64>> {
    let n = a.n_rows();
    // An entry below the diagonal that is rounding beside the matrix cuts the chain of states.
    let smallest = 4.0 * f64::EPSILON * a.norm();
    let Chain { h, first, turns } = chain_of(a, b);
    if first == 0.0 || (1..n).any(|i| h[(i, i - 1)].abs() <= smallest) {
        return None;
    }

    let mut row = vec![0.0; n];
    row[n - 1] = 1.0;
    let mut links = vec![first];
    links.extend((1..n).map(|i| h[(i, i - 1)]));

    // Each factor is divided by one link, so that no product overflows.
    let mut links = links.into_iter().rev();
    let mut shared = |row: &mut Vec<f64>| {
        let link = links.next().expect("as many links as poles");
        row.iter_mut().for_each(|x| *x /= link);
    };
    for &(re, im) in blocks {
        if im == 0.0 {
            row = times_shifted(&row, &h, re);
            shared(&mut row);
        } else {
            // (H − p)(H − p̄) = (H − re)² + im²
            let twice = times_shifted(&times_shifted(&row, &h, re), &h, re);
            row = twice
                .iter()
                .zip(&row)
                .map(|(t, r)| t + im * im * r)
                .collect();
            shared(&mut row);
            shared(&mut row);
        }
    }

    // Back to the states of `a`: the turns in the other order.
    for v in turns.iter().rev() {
        reflect(&mut row, v);
    }
    Some(row)
}

/// (A, b) as a chain: b = first · e₁, and H = Qᵀ A Q with nothing below its first subdiagonal.
struct Chain {
    h: Matrix,
    first: f64,
    /// Householder vectors whose reflections make up Q.
    turns: Vec<Vec<f64>>,
}

fn chain_of(a: &Matrix, b: &[f64]) -> Chain {
    let n = a.n_rows();
    let (mut h, mut b) = (a.clone(), b.to_vec());
    let mut turns = Vec::new();
    for k in 0..n {
        let mut v = vec![0.0; n];
        for (i, x) in v.iter_mut().enumerate().skip(k) {
            *x = if k == 0 { b[i] } else { h[(i, k - 1)] };
        }
        let length = v.iter().fold(0.0_f64, |l, x| l.hypot(*x));
        if length == 0.0 {
            continue;
        }
        v[k] += length.copysign(v[k]);
        let size = v.iter().fold(0.0_f64, |l, x| l.hypot(*x));
        v.iter_mut().for_each(|x| *x /= size);
        reflect(&mut b, &v);
        for j in 0..n {
            let mut column = h.column(j);
            reflect(&mut column, &v);
            (0..n).for_each(|i| h[(i, j)] = column[i]);
        }
        for i in 0..n {
            let mut row = h.row(i).to_vec();
            reflect(&mut row, &v);
            (0..n).for_each(|j| h[(i, j)] = row[j]);
        }
        turns.push(v);
    }

    Chain {
        h,
        first: b[0],
        turns,
    }
}

/// x − 2 v (v·x), for a v of length one.
fn reflect(x: &mut [f64], v: &[f64]) {
    let along: f64 = 2.0 * x.iter().zip(v).map(|(x, v)| x * v).sum::<f64>();
    x.iter_mut().zip(v).for_each(|(x, v)| *x -= along * v);
}

/// row · (H − shift)
fn times_shifted(row: &[f64], h: &Matrix, shift: f64) -> Vec<f64> {
    let n = row.len();
    let of = |j: usize| (0..n).map(|i| row[i] * h[(i, j)]).sum::<f64>() - shift * row[j];
    (0..n).map(of).collect()
}

/// Poles as real blocks: one number, or the real and imaginary part of a pair; equal ones follow each other.
fn pairs(poles: &[Complex]) -> Result<Vec<(f64, f64)>, NotPlaced> {
    let mut left: Vec<Complex> = poles.to_vec();
    left.sort_by(|a, b| {
        a.re.total_cmp(&b.re)
            .then(a.im.abs().total_cmp(&b.im.abs()))
    });
    let mut blocks = Vec::new();
    while let Some(p) = left.pop() {
        if p.im == 0.0 {
            blocks.push((p.re, 0.0));
            continue;
        }
        let is_partner = |q: &Complex| (*q - p.conj()).norm() <= 1e-9 * p.norm();
        let Some(k) = left.iter().position(is_partner) else {
            return Err(NotPlaced::Unpaired);
        };
        left.remove(k);
        blocks.push((p.re, p.im.abs()));
    }
    Ok(blocks)
}

/// Solves for X block by block; gives the size of X⁻¹ and K.
fn gain_for(a: &Matrix, b: &Matrix, blocks: &[(f64, f64)], g: Matrix) -> Option<(f64, Matrix)> {
    let n = a.n_rows();
    let mut columns: Vec<Vec<f64>> = Vec::new();
    let mut before: Option<((f64, f64), usize)> = None;
    for &block in blocks {
        let (re, im) = block;
        let width = if im == 0.0 { 1 } else { 2 };
        let at = columns.len();
        // B G of these columns, and with a repeated pole the columns before: a chain, so that X stays regular.
        let chained = before.filter(|b| b.0 == block).map(|b| b.1);
        let right = |c: usize| -> Vec<f64> {
            (0..n)
                .map(|i| {
                    let bg: f64 = (0..b.n_columns()).map(|k| b[(i, k)] * g[(k, at + c)]).sum();
                    bg + chained.map_or(0.0, |from| columns[from + c][i])
                })
                .collect()
        };
        let solution = if width == 1 {
            let shifted = a.plus(-re, &Matrix::identity(n));
            let r = right(0);
            let x = solve(&shifted, &Matrix::from_fn(n, 1, |i, _| r[i]))?;
            vec![x.column(0)]
        } else {
            // A [x y] − [x y] [re im; −im re] = [r s]
            let (r, s) = (right(0), right(1));
            let wide = Matrix::from_fn(2 * n, 2 * n, |i, j| {
                let same = f64::from(u8::from(i % n == j % n));
                match (i < n, j < n) {
                    (true, true) | (false, false) => a[(i % n, j % n)] - re * same,
                    (true, false) => im * same,
                    (false, true) => -im * same,
                }
            });
            let x = solve(
                &wide,
                &Matrix::from_fn(2 * n, 1, |i, _| if i < n { r[i] } else { s[i - n] }),
            )?;
            let x = x.column(0);
            vec![x[..n].to_vec(), x[n..].to_vec()]
        };
        before = Some((block, at));
        columns.extend(solution);
    }

    // Columns of one length are compared by their directions.
    let lengths: Vec<f64> = columns
        .iter()
        .map(|c| c.iter().map(|x| x * x).sum::<f64>().sqrt())
        .collect();
    if lengths.iter().any(|l| *l == 0.0 || !l.is_finite()) {
        return None;
    }
    let x = Matrix::from_fn(n, n, |i, j| columns[j][i] / lengths[j]);
    let g = Matrix::from_fn(g.n_rows(), n, |i, j| g[(i, j)] / lengths[j]);
    let inverse = solve(&x, &Matrix::identity(n))?;
    let k = transpose(&solve(&transpose(&x), &transpose(&g))?);

    // A − B K has the poles if K = −…: A X − X Λ = B G gives (A − B G X⁻¹) X = X Λ.
    Some((inverse.norm(), k))
}

/// Tells whether the poles are where they were wanted, as far as their sensitivity lets one see.
fn is_placed(a: &Matrix, b: &Matrix, k: &Matrix, poles: &[Complex]) -> bool {
    let Ok(found) = eigenvalues(&a.plus(-1.0, &b.times(k))) else {
        return false;
    };
    let size = poles
        .iter()
        .map(|p| p.norm())
        .fold(f64::MIN_POSITIVE, f64::max);
    // n-fold poles move by the n-th root of rounding.
    let multiplicity = poles.iter().map(|p| {
        poles
            .iter()
            .filter(|q| (**q - *p).norm() < 1e-6 * size)
            .count()
    });
    let multiplicity = multiplicity.max().unwrap_or(1);
    let tolerance = if multiplicity > 1 {
        1e-10_f64.powf(1.0 / multiplicity as f64)
    } else {
        1e-4
    };
    let mut left = found;
    poles.iter().all(|p| {
        let near = (0..left.len())
            .min_by(|&a, &b| (left[a] - *p).norm().total_cmp(&(left[b] - *p).norm()));
        near.is_some_and(|at| (left.swap_remove(at) - *p).norm() <= tolerance * size)
    })
}

/// Numbers between −1 and 1, the same every time.
struct Draw(u64);

impl Draw {
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    }
}
