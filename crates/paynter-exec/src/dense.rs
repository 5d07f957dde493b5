//! Small dense linear algebra: LU and Cholesky for blocks, orthogonal least squares for starts.
//!
//! In:  matrices row by row in plain slices.
//! Out: factors in place, solutions, ranks.
//!
//! **Invariant:** a factor is only reported when every pivot stands clear of rounding noise.

/// Why a matrix has no factor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NoFactor {
    /// A pivot is nothing but rounding noise.
    Singular,
    /// An entry is not a finite number.
    NotFinite,
}

/// A pivot below this share of its scaled column is made of rounding errors of the
/// eliminations before it, which grow like n ε (Higham 2002, §9.3).
pub(crate) fn smallest_pivot(n: usize) -> f64 {
    4.0 * f64::EPSILON * n as f64
}

/// Divides each row by its largest entry.
fn scale_rows(matrix: &mut [f64], n: usize, scales: &mut [f64]) -> Result<(), NoFactor> {
    for row in 0..n {
        let entries = &mut matrix[row * n..(row + 1) * n];
        let largest = entries.iter().fold(0.0, |m: f64, x| m.max(x.abs()));
        if !entries.iter().all(|x| x.is_finite()) {
            return Err(NoFactor::NotFinite);
        }
        if largest == 0.0 {
            return Err(NoFactor::Singular);
        }
        scales[row] = 1.0 / largest;
        entries.iter_mut().for_each(|x| *x *= scales[row]);
    }
    Ok(())
}

/// Row and value of the largest entry of column k on and below the diagonal.
fn find_pivot(matrix: &[f64], n: usize, k: usize) -> Result<(usize, f64), NoFactor> {
    let mut best = k;
    for row in k + 1..n {
        if matrix[row * n + k].abs() > matrix[best * n + k].abs() {
            best = row;
        }
    }
    let pivot = matrix[best * n + k];
    if pivot.is_nan() {
        return Err(NoFactor::NotFinite);
    }
    Ok((best, pivot))
}

/// Factors in place, rows scaled by their largest entry and exchanged: P D A = L U.
pub(crate) fn factor_lu(
    matrix: &mut [f64],
    n: usize,
    scales: &mut [f64],
    pivots: &mut [u32],
) -> Result<(), NoFactor> {
    scale_rows(matrix, n, scales)?;
    for k in 0..n {
        let column = (0..n).fold(0.0, |m: f64, row| m.max(matrix[row * n + k].abs()));
        let (best, pivot) = find_pivot(matrix, n, k)?;
        if pivot.abs() <= smallest_pivot(n) * column || pivot == 0.0 {
            return Err(NoFactor::Singular);
        }
        pivots[k] = best as u32;
        if best != k {
            for column in 0..n {
                matrix.swap(k * n + column, best * n + column);
            }
        }
        let (above, below) = matrix.split_at_mut((k + 1) * n);
        let own = &above[k * n + k + 1..];
        for row in below.chunks_exact_mut(n) {
            let factor = row[k] / pivot;
            row[k] = factor;
            if factor != 0.0 {
                for (x, &y) in row[k + 1..].iter_mut().zip(own) {
                    *x -= factor * y;
                }
            }
        }
    }
    Ok(())
}

/// As [`factor_lu`], for matrices whose entries span many decades, such as the conductances of diodes of which
/// some block: a pivot is noise only against the terms that made it up, not against its column. Costs twice as much.
pub(crate) fn factor_graded_lu(
    matrix: &mut [f64],
    n: usize,
    scales: &mut [f64],
    pivots: &mut [u32],
) -> Result<(), NoFactor> {
    scale_rows(matrix, n, scales)?;
    // The terms that each entry is made of, without their signs.
    let mut terms: Vec<f64> = matrix.iter().map(|x| x.abs()).collect();
    for k in 0..n {
        let (best, pivot) = find_pivot(matrix, n, k)?;
        if pivot.abs() <= smallest_pivot(n) * terms[best * n + k] || pivot == 0.0 {
            return Err(NoFactor::Singular);
        }
        pivots[k] = best as u32;
        if best != k {
            for column in 0..n {
                matrix.swap(k * n + column, best * n + column);
                terms.swap(k * n + column, best * n + column);
            }
        }
        for row in k + 1..n {
            let factor = matrix[row * n + k] / pivot;
            matrix[row * n + k] = factor;
            if factor != 0.0 {
                for column in k + 1..n {
                    matrix[row * n + column] -= factor * matrix[k * n + column];
                    terms[row * n + column] += factor.abs() * terms[k * n + column];
                }
            }
        }
    }
    Ok(())
}

/// Solves with the factor of [`factor_lu`], in place.
pub(crate) fn solve_lu(matrix: &[f64], n: usize, scales: &[f64], pivots: &[u32], x: &mut [f64]) {
    for row in 0..n {
        x[row] *= scales[row];
    }
    for k in 0..n {
        x.swap(k, pivots[k] as usize);
    }
    for row in 0..n {
        for column in 0..row {
            x[row] -= matrix[row * n + column] * x[column];
        }
    }
    for row in (0..n).rev() {
        for column in row + 1..n {
            x[row] -= matrix[row * n + column] * x[column];
        }
        x[row] /= matrix[row * n + row];
    }
}

/// Factors a symmetric positive definite matrix in place, A = L Lᵀ, lower half.
pub(crate) fn factor_cholesky(matrix: &mut [f64], n: usize) -> Result<(), NoFactor> {
    for k in 0..n {
        let diagonal = matrix[k * n + k];
        let mut pivot = diagonal;
        for column in 0..k {
            pivot -= matrix[k * n + column] * matrix[k * n + column];
        }
        if !pivot.is_finite() {
            return Err(NoFactor::NotFinite);
        }
        if pivot <= smallest_pivot(n) * diagonal.abs() {
            return Err(NoFactor::Singular);
        }
        let root = pivot.sqrt();
        matrix[k * n + k] = root;
        for row in k + 1..n {
            let mut entry = matrix[row * n + k];
            for column in 0..k {
                entry -= matrix[row * n + column] * matrix[k * n + column];
            }
            matrix[row * n + k] = entry / root;
        }
    }
    Ok(())
}

/// Solves with the factor of [`factor_cholesky`], in place.
pub(crate) fn solve_cholesky(matrix: &[f64], n: usize, x: &mut [f64]) {
    for row in 0..n {
        for column in 0..row {
            x[row] -= matrix[row * n + column] * x[column];
        }
        x[row] /= matrix[row * n + row];
    }
    for row in (0..n).rev() {
        for column in row + 1..n {
            x[row] -= matrix[column * n + row] * x[column];
        }
        x[row] /= matrix[row * n + row];
    }
}

/// Householder QR with column exchanges: A Π = Q R, kept as the list of reflections.
#[derive(Clone, Debug)]
pub(crate) struct PivotedQr {
    n_rows: usize,
    n_columns: usize,
    /// R above the diagonal and on it; reflections below it. Row by row.
    entries: Vec<f64>,
    /// Leading entries of the reflections.
    heads: Vec<f64>,
    /// Which column of A is at each place.
    pub order: Vec<usize>,
    /// Pivots above noise.
    pub rank: usize,
}

/// Factors a matrix given row by row. `noise` is the share of the largest pivot below
/// which a pivot counts as zero.
pub(crate) fn pivoted_qr(matrix: &[f64], n_rows: usize, n_columns: usize, noise: f64) -> PivotedQr {
    let mut a = matrix.to_vec();
    let mut order: Vec<usize> = (0..n_columns).collect();
    let n_steps = n_rows.min(n_columns);
    let mut heads = vec![0.0; n_steps];
    let mut work = vec![0.0; n_columns];
    let mut rank = n_steps;
    let mut first_pivot = 0.0;
    for k in 0..n_steps {
        lengths(&a, k, n_columns, &mut work);
        let mut best = k;
        let mut largest = work[k];
        for column in k + 1..n_columns {
            let norm = work[column];
            // The first of equal columns stays: results do not depend on rounding of ties.
            if norm > largest * (1.0 + 1e-12) {
                (best, largest) = (column, norm);
            }
        }
        if k == 0 {
            first_pivot = largest;
        }
        if largest <= noise * first_pivot || largest == 0.0 || !largest.is_finite() {
            rank = k;
            break;
        }
        if best != k {
            order.swap(k, best);
            for row in 0..n_rows {
                a.swap(row * n_columns + k, row * n_columns + best);
            }
        }
        reflect(&mut a, &mut heads, k, n_columns, largest, &mut work);
    }

    PivotedQr {
        n_rows,
        n_columns,
        entries: a,
        heads,
        order,
        rank,
    }
}

/// Makes the part of column k below the diagonal zero and applies the reflection to the rest: all columns at once, row
/// by row as they lie in memory.
fn reflect(
    a: &mut [f64],
    heads: &mut [f64],
    k: usize,
    n_columns: usize,
    norm: f64,
    work: &mut [f64],
) {
    let diagonal = a[k * n_columns + k];
    let target = if diagonal > 0.0 { -norm } else { norm };
    let head = diagonal - target;
    heads[k] = head;
    let scale = target * head;
    let (above, below) = a.split_at_mut((k + 1) * n_columns);
    let own = &mut above[k * n_columns + k..];
    let factors = &mut work[k + 1..n_columns];

    for (factor, &x) in factors.iter_mut().zip(&own[1..]) {
        *factor = head * x;
    }
    for row in below.chunks_exact(n_columns) {
        let share = row[k];
        for (factor, &x) in factors.iter_mut().zip(&row[k + 1..]) {
            *factor += share * x;
        }
    }
    factors.iter_mut().for_each(|factor| *factor /= scale);
    for (x, &factor) in own[1..].iter_mut().zip(&*factors) {
        *x += factor * head;
    }
    for row in below.chunks_exact_mut(n_columns) {
        let share = row[k];
        for (x, &factor) in row[k + 1..].iter_mut().zip(&*factors) {
            *x += factor * share;
        }
    }
    own[0] = target;
}

/// Writes the length of each column from `k` on, in the rows from `k` on.
fn lengths(a: &[f64], k: usize, n_columns: usize, norms: &mut [f64]) {
    let norms = &mut norms[k..n_columns];
    norms.fill(0.0);
    for row in a[k * n_columns..].chunks_exact(n_columns) {
        for (norm, &x) in norms.iter_mut().zip(&row[k..]) {
            *norm += x * x;
        }
    }
    norms.iter_mut().for_each(|norm| *norm = norm.sqrt());
}

impl PivotedQr {
    /// Gives the x of least norm among those with the least |A x − b|.
    pub(crate) fn least_squares(&self, b: &[f64]) -> Vec<f64> {
        let (m, n, r) = (self.n_rows, self.n_columns, self.rank);
        let mut y = b.to_vec();
        for k in 0..r {
            let target = self.entries[k * n + k];
            let mut dot = self.heads[k] * y[k];
            for row in k + 1..m {
                dot += self.entries[row * n + k] * y[row];
            }
            let factor = dot / (target * self.heads[k]);
            y[k] += factor * self.heads[k];
            for row in k + 1..m {
                y[row] += factor * self.entries[row * n + k];
            }
        }
        let z = if r == n {
            self.solve_upper(&y)
        } else {
            self.least_norm(&y)
        };
        let mut x = vec![0.0; n];
        for (place, &column) in self.order.iter().enumerate() {
            x[column] = z[place];
        }
        x
    }

    fn solve_upper(&self, y: &[f64]) -> Vec<f64> {
        let n = self.n_columns;
        let mut z = vec![0.0; n];
        for row in (0..self.rank).rev() {
            let mut sum = y[row];
            for column in row + 1..self.rank {
                sum -= self.entries[row * n + column] * z[column];
            }
            z[row] = sum / self.entries[row * n + row];
        }
        z
    }

    /// [R₁ R₂] z = y with the smallest z: z = [R₁ R₂]ᵀ w, by QR of the transpose.
    fn least_norm(&self, y: &[f64]) -> Vec<f64> {
        let (n, r) = (self.n_columns, self.rank);
        let mut transpose = vec![0.0; n * r];
        for row in 0..r {
            for column in row..n {
                transpose[column * r + row] = self.entries[row * n + column];
            }
        }

        let mut heads = vec![0.0; r];
        let mut work = vec![0.0; r];
        for k in 0..r {
            let norm = (k..n)
                .map(|row| transpose[row * r + k].powi(2))
                .sum::<f64>()
                .sqrt();
            reflect(&mut transpose, &mut heads, k, r, norm, &mut work);
        }

        // Sᵀ w = y with S the upper triangle, then z = Q [w; 0].
        let mut z = vec![0.0; n];
        for row in 0..r {
            let mut sum = y[row];
            for column in 0..row {
                sum -= transpose[column * r + row] * z[column];
            }
            z[row] = sum / transpose[row * r + row];
        }

        for k in (0..r).rev() {
            let mut dot = heads[k] * z[k];
            for row in k + 1..n {
                dot += transpose[row * r + k] * z[row];
            }
            let factor = dot / (transpose[k * r + k] * heads[k]);
            z[k] += factor * heads[k];
            for row in k + 1..n {
                z[row] += factor * transpose[row * r + k];
            }
        }
        z
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn multiply(a: &[f64], x: &[f64]) -> Vec<f64> {
        a.chunks(x.len())
            .map(|row| row.iter().zip(x).map(|(a, x)| a * x).sum())
            .collect()
    }

    // Solutions of matrices this small and this well conditioned are right to a few ulps.
    const CLOSE: f64 = 1e-13;

    #[test]
    fn lu_solves_a_matrix_with_a_zero_diagonal() {
        let a = [0.0, 2.0, 1.0, 1.0, 0.0, 3.0, 4.0, 1.0, 0.0];
        let mut lu = a.to_vec();
        let (mut scales, mut pivots) = ([0.0; 3], [0; 3]);
        factor_lu(&mut lu, 3, &mut scales, &mut pivots).expect("the matrix is regular");
        let mut x = [7.0, 10.0, 6.0];
        solve_lu(&lu, 3, &scales, &pivots, &mut x);
        for (got, want) in multiply(&a, &x).iter().zip([7.0, 10.0, 6.0]) {
            assert!((got - want).abs() < CLOSE);
        }
    }

    #[test]
    fn a_singular_matrix_is_refused_whatever_its_scale() {
        for scale in [1e-12, 1.0, 1e12] {
            let mut a = [1.0, 2.0, 3.0, 6.0].map(|x: f64| x * scale / 3.0);
            let result = factor_lu(&mut a, 2, &mut [0.0; 2], &mut [0; 2]);
            assert_eq!(result, Err(NoFactor::Singular));
        }
        let mut a = [f64::NAN, 1.0, 1.0, 1.0];
        let result = factor_lu(&mut a, 2, &mut [0.0; 2], &mut [0; 2]);
        assert_eq!(result, Err(NoFactor::NotFinite));
    }

    #[test]
    fn cholesky_agrees_with_lu() {
        let a = [4.0, 1.0, 0.5, 1.0, 3.0, 0.25, 0.5, 0.25, 2.0];
        let mut factor = a.to_vec();
        factor_cholesky(&mut factor, 3).expect("the matrix is positive definite");
        let mut x = [1.0, 2.0, 3.0];
        solve_cholesky(&factor, 3, &mut x);
        for (got, want) in multiply(&a, &x).iter().zip([1.0, 2.0, 3.0]) {
            assert!((got - want).abs() < CLOSE);
        }
    }

    #[test]
    fn a_wide_system_gets_its_shortest_solution() {
        let qr = pivoted_qr(&[1.0, 1.0, 1.0], 1, 3, 1e-12);
        for x in qr.least_squares(&[6.0]) {
            assert!((x - 2.0).abs() < CLOSE);
        }
    }

    #[test]
    fn a_rank_deficient_system_is_seen_and_solved_in_the_least_squares_sense() {
        let qr = pivoted_qr(&[1.0, 1.0, 1.0, 1.0, 0.0, 0.0], 3, 2, 1e-12);
        assert_eq!(qr.rank, 1);
        for x in qr.least_squares(&[1.0, 3.0, 0.0]) {
            assert!((x - 1.0).abs() < CLOSE);
        }
    }
}
