//! The box that a body looks like.
//!
//! In:  mass and inertia matrix.
//! Out: edges and axes of the box of even density that has them.

/// A symmetric 3×3 matrix, or axes as columns, row by row.
pub type Matrix = [[f64; 3]; 3];

/// Rounds of rotations after which a 3×3 matrix is diagonal to rounding.
const MAX_ROUNDS: usize = 30;
/// The thinnest edge against the thickest: a disc without thickness is still seen.
const THINNEST: f64 = 0.04;

/// Edges along three axes, and those axes as columns. None if the numbers make no body.
pub fn box_of(mass: f64, inertia: &Matrix) -> Option<([f64; 3], Matrix)> {
    let is_good = mass > 0.0 && mass.is_finite() && inertia.iter().flatten().all(|v| v.is_finite());
    if !is_good {
        return None;
    }
    let (moments, axes) = principal(inertia);
    let sum: f64 = moments.iter().sum();
    // J₁ = m (b² + c²)/12 and so on, solved for a².
    let squares = moments.map(|j| 6.0 * (sum - 2.0 * j) / mass);
    let edges = squares.map(|s| s.max(0.0).sqrt());
    let largest = edges.iter().copied().fold(0.0, f64::max);
    (largest > 0.0).then(|| (edges.map(|e| e.max(THINNEST * largest)), axes))
}

/// Principal moments and axes of a symmetric matrix, by Jacobi's rotations.
fn principal(matrix: &Matrix) -> ([f64; 3], Matrix) {
    let mut a = *matrix;
    let mut v = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
    for _ in 0..MAX_ROUNDS {
        for (p, q) in [(0, 1), (0, 2), (1, 2)] {
            if a[p][q].abs() <= 1e-15 * (a[p][p].abs() + a[q][q].abs()) {
                continue;
            }
            let theta = (a[q][q] - a[p][p]) / (2.0 * a[p][q]);
            let t = theta.signum() / (theta.abs() + theta.hypot(1.0));
            let c = 1.0 / t.hypot(1.0);
            rotate(&mut a, &mut v, (p, q), (c, t * c));
        }
    }
    ([a[0][0], a[1][1], a[2][2]], v)
}

/// A ← Gᵀ A G and V ← V G, G the rotation in the plane (p, q).
fn rotate(a: &mut Matrix, v: &mut Matrix, (p, q): (usize, usize), (c, s): (f64, f64)) {
    for row in a.iter_mut().chain(v.iter_mut()) {
        let (x, y) = (row[p], row[q]);
        (row[p], row[q]) = (c * x - s * y, s * x + c * y);
    }
    for k in 0..3 {
        let (x, y) = (a[p][k], a[q][k]);
        (a[p][k], a[q][k]) = (c * x - s * y, s * x + c * y);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn inertia_of(mass: f64, [a, b, c]: [f64; 3]) -> [f64; 3] {
        [b * b + c * c, a * a + c * c, a * a + b * b].map(|s| mass * s / 12.0)
    }

    /// A box, turned at random, comes back with its edges and axes.
    #[test]
    fn a_turned_box_is_found_again() {
        let mut seed = 7_u64;
        let mut random = || {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (seed >> 33) as f64 / (1_u64 << 31) as f64
        };
        for _ in 0..200 {
            let edges = [0.2 + random(), 0.2 + random(), 0.2 + random()];
            let q = [
                random() - 0.5,
                random() - 0.5,
                random() - 0.5,
                random() - 0.5,
            ];
            let n = q.iter().map(|x| x * x).sum::<f64>().sqrt();
            let [w, x, y, z] = q.map(|x| x / n);
            let r = [
                [
                    1.0 - 2.0 * (y * y + z * z),
                    2.0 * (x * y - w * z),
                    2.0 * (x * z + w * y),
                ],
                [
                    2.0 * (x * y + w * z),
                    1.0 - 2.0 * (x * x + z * z),
                    2.0 * (y * z - w * x),
                ],
                [
                    2.0 * (x * z - w * y),
                    2.0 * (y * z + w * x),
                    1.0 - 2.0 * (x * x + y * y),
                ],
            ];
            let j = inertia_of(3.0, edges);
            let mut turned = [[0.0; 3]; 3];
            for (i, row) in turned.iter_mut().enumerate() {
                for (k, entry) in row.iter_mut().enumerate() {
                    *entry = (0..3).map(|m| r[i][m] * j[m] * r[k][m]).sum();
                }
            }
            let (found, axes) = box_of(3.0, &turned).expect("given");
            let (mut a, mut b) = (edges, found);
            a.sort_by(f64::total_cmp);
            b.sort_by(f64::total_cmp);
            for (x, y) in a.iter().zip(b) {
                assert!((x - y).abs() < 1e-9, "{a:?} {b:?}");
            }
            // J axis = moment axis.
            let moments = inertia_of(3.0, found);
            for k in 0..3 {
                for i in 0..3 {
                    let left: f64 = (0..3).map(|m| turned[i][m] * axes[m][k]).sum();
                    assert!((left - moments[k] * axes[i][k]).abs() < 1e-9);
                }
            }
        }
    }

    #[test]
    fn a_thin_rod_is_seen_and_nonsense_is_not() {
        let (edges, _) =
            box_of(1.0, &[[0.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]).expect("given");
        assert!((edges[0] - 12_f64.sqrt()).abs() < 1e-12 && edges[1] > 0.0);
        assert!(box_of(0.0, &[[1.0; 3]; 3]).is_none());
        assert!(box_of(1.0, &[[f64::NAN; 3]; 3]).is_none());
        assert!(box_of(1.0, &[[0.0; 3]; 3]).is_none());
    }
}
