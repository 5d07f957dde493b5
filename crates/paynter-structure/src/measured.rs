//! Measured columns as curves of time.
//!
//! In:  times and values.
//! Out: a [`Piecewise`] polynomial through all of them, a function that equations can read and differentiate.
//!
//! Cubics are robust where the column has corners, and have one continuous slope; quintics follow what is smooth to the sixth
//! order, and have two.

use paynter::symbolic::expr::External;
use std::sync::Arc;

/// A polynomial between each two points.
#[derive(Clone, Debug, PartialEq)]
pub struct Piecewise {
    x: Vec<f64>,
    /// Coefficients in t − x of the left point, lowest first; one row fewer than points, and one row for a single point.
    rows: Vec<Vec<f64>>,
}

/// How often a quintic may be differentiated until what is left jumps: its third derivative does.
pub const MOST_DIFFERENTIATIONS: usize = 3;

/// Neighbours that the slope and curvature at a point of a quintic are found from.
const NEIGHBOURS: usize = 7;

impl Piecewise {
    /// Cubics with the slopes of parabolas through three neighbours.
    pub fn cubic(time: &[f64], values: &[f64]) -> Self {
        Self::through(time, values, 3, |x, y, slopes| {
            let h = x[1] - x[0];
            let (d, m0, m1) = ((y[1] - y[0]) / h, slopes[0][1], slopes[1][1]);
            vec![
                y[0],
                m0,
                (3.0 * d - 2.0 * m0 - m1) / h,
                (m0 + m1 - 2.0 * d) / (h * h),
            ]
        })
    }

    /// Quintics with slopes and curvatures of polynomials through seven neighbours.
    pub fn quintic(time: &[f64], values: &[f64]) -> Self {
        Self::through(time, values, NEIGHBOURS, |x, y, slopes| {
            let h = x[1] - x[0];
            let [_, m0, k0] = slopes[0];
            let [_, m1, k1] = slopes[1];
            // Value, slope and curvature at the right end, less what the first three coefficients give there.
            let a = y[1] - y[0] - h * (m0 + 0.5 * h * k0);
            let b = (m1 - m0 - h * k0) * h;
            let c = (k1 - k0) * h * h;
            let cube = h * h * h;
            vec![
                y[0],
                m0,
                0.5 * k0,
                (10.0 * a - 4.0 * b + 0.5 * c) / cube,
                (-15.0 * a + 7.0 * b - c) / (cube * h),
                (6.0 * a - 3.0 * b + 0.5 * c) / (cube * h * h),
            ]
        })
    }

    fn through(
        time: &[f64],
        values: &[f64],
        n_neighbours: usize,
        between: impl Fn([f64; 2], [f64; 2], [[f64; 3]; 2]) -> Vec<f64>,
    ) -> Self {
        // Of two rows at one time the later one counts.
        let mut points: Vec<(f64, f64)> = Vec::new();
        for (&t, &v) in time.iter().zip(values) {
            match points.last_mut() {
                Some(last) if last.0 >= t => last.1 = v,
                _ => points.push((t, v)),
            }
        }
        let (x, y): (Vec<f64>, Vec<f64>) = points.into_iter().unzip();
        let n = x.len();
        if n < 2 {
            return Piecewise {
                rows: vec![y.clone()],
                x,
            };
        }
        let at: Vec<[f64; 3]> = (0..n).map(|k| taylor(&x, &y, k, n_neighbours)).collect();
        let row = |k: usize| between([x[k], x[k + 1]], [y[k], y[k + 1]], [at[k], at[k + 1]]);
        Piecewise {
            rows: (0..n - 1).map(row).collect(),
            x,
        }
    }

    /// The derivative, piece by piece.
    pub fn derivative(&self) -> Self {
        let slope = |row: &Vec<f64>| {
            let terms = row.iter().enumerate().skip(1);
            terms.map(|(k, c)| k as f64 * c).collect()
        };
        Piecewise {
            x: self.x.clone(),
            rows: self.rows.iter().map(slope).collect(),
        }
    }

    /// Its value; beyond the ends, that at the end.
    pub fn at(&self, t: f64) -> f64 {
        let (row, s) = self.piece(t);
        row.iter().rev().fold(0.0, |sum, c| sum * s + c)
    }

    fn slope_at(&self, t: f64) -> f64 {
        let (row, s) = self.piece(t);
        let terms = row.iter().enumerate().skip(1).rev();
        terms.fold(0.0, |sum, (n, c)| sum * s + n as f64 * c)
    }

    /// The piece at a time, and where in it.
    fn piece(&self, t: f64) -> (&[f64], f64) {
        let (Some(&first), Some(&last)) = (self.x.first(), self.x.last()) else {
            return (&[], 0.0);
        };
        let t = t.clamp(first, last);
        let k = self
            .x
            .partition_point(|x| *x <= t)
            .clamp(1, self.rows.len())
            - 1;
        (&self.rows[k], t - self.x[k])
    }
}

/// Value, slope and curvature at a point of the polynomial through its nearest neighbours.
///
/// Weights of derivatives by Fornberg's recursion (*Mathematics of Computation* 51, 1988, 699–706).
fn taylor(x: &[f64], y: &[f64], k: usize, n_neighbours: usize) -> [f64; 3] {
    let n = n_neighbours.min(x.len());
    let first = k.saturating_sub(n / 2).min(x.len() - n);
    let (x, y, at) = (&x[first..first + n], &y[first..first + n], x[k]);
    let mut weights = vec![[0.0; 3]; n];
    weights[0][0] = 1.0;
    let (mut c1, mut c4) = (1.0, x[0] - at);
    for i in 1..n {
        let (mut c2, c5) = (1.0, c4);
        c4 = x[i] - at;
        for j in 0..i {
            let c3 = x[i] - x[j];
            c2 *= c3;
            if j == i - 1 {
                for d in (0..3).rev() {
                    let below = if d > 0 {
                        d as f64 * weights[j][d - 1]
                    } else {
                        0.0
                    };
                    weights[i][d] = c1 * (below - c5 * weights[j][d]) / c2;
                }
            }
            for d in (0..3).rev() {
                let below = if d > 0 {
                    d as f64 * weights[j][d - 1]
                } else {
                    0.0
                };
                weights[j][d] = (c4 * weights[j][d] - below) / c3;
            }
        }
        c1 = c2;
    }
    std::array::from_fn(|d| weights.iter().zip(y).map(|(w, y)| w[d] * y).sum())
}

impl External for Piecewise {
    fn name(&self) -> &str {
        "measured"
    }

    fn n_inputs(&self) -> usize {
        1
    }

    fn n_outputs(&self) -> usize {
        1
    }

    fn call(&self, inputs: &[f64], outputs: &mut [f64]) -> Result<(), String> {
        outputs[0] = self.at(inputs[0]);
        Ok(())
    }

    fn slopes(&self, inputs: &[f64], slopes: &mut [f64]) -> Result<(), String> {
        slopes[0] = self.slope_at(inputs[0]);
        Ok(())
    }

    fn slope_function(&self) -> Option<Arc<dyn External>> {
        Some(Arc::new(self.derivative()))
    }
}

#[cfg(test)]
mod tests {
    use super::Piecewise;

    #[test]
    fn a_parabola_is_met_everywhere_with_its_slope() {
        let x: Vec<f64> = [0.0, 0.5, 1.5, 2.0].to_vec();
        let y: Vec<f64> = x.iter().map(|t| t * t - t).collect();
        for curve in [Piecewise::cubic(&x, &y), Piecewise::quintic(&x, &y)] {
            let slope = curve.derivative();
            for t in [0.0, 0.2, 0.9, 1.7, 2.0] {
                assert!((curve.at(t) - (t * t - t)).abs() < 1e-12, "{t}");
                assert!((slope.at(t) - (2.0 * t - 1.0)).abs() < 1e-12, "{t}");
            }
        }
    }

    /// Three derivatives of a sine, each an order of the step less exact; the second does not jump.
    #[test]
    fn quintics_follow_a_sine_and_its_derivatives() {
        let x: Vec<f64> = (0..101).map(|k| 0.05 * f64::from(k)).collect();
        let y: Vec<f64> = x.iter().map(|t| t.sin()).collect();
        let mut curve = Piecewise::quintic(&x, &y);
        for (n, within) in [1e-9, 1e-7, 3e-6, 3e-4].into_iter().enumerate() {
            for k in 0..500 {
                let t = 0.01 * f64::from(k);
                let wanted = (t + n as f64 * std::f64::consts::FRAC_PI_2).sin();
                assert!(
                    (curve.at(t) - wanted).abs() < within,
                    "{n} {t}: {}",
                    curve.at(t) - wanted
                );
            }
            curve = curve.derivative();
        }
    }
}
