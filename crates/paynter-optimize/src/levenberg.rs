//! Least squares within bounds: Levenberg's and Marquardt's method.
//!
//! In:  residuals as a function of parameters in the unit cube, and a start.
//! Out: a [`Fit`]: the best parameters, the Jacobian there, how it ended.
//!
//! Damping in the size of each column (Marquardt 1963), parameters at a bound that would leave the cube held there, gain ratio
//! after Nielsen 1999. Residuals that are not there (`None`) make a step fail.

use crate::dense::{Dense, dot, largest};

/// Residuals at a point; none where the model has no values.
pub type Residuals<'r> = &'r (dyn Fn(&[f64]) -> Option<Vec<f64>> + Sync);

/// Slopes of the residuals by the parameters at a point, one row for each residual; none where they are not known.
pub type Slopes<'r> = &'r (dyn Fn(&[f64]) -> Option<Dense> + Sync);

/// What is fitted, and how slopes are found.
#[derive(Clone, Copy)]
pub struct Fitting<'r> {
    /// Residuals.
    pub residuals: Residuals<'r>,
    /// Exact slopes; central differences where there are none.
    pub slopes: Option<Slopes<'r>>,
    /// Step of differences.
    pub step: f64,
    /// Threads for the residuals of differences.
    pub jobs: usize,
}

/// How a fit ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FitEnd {
    /// No smaller sum of squares nearby.
    Converged,
    /// Too many iterations.
    Exhausted,
    /// No residuals at the start, or around the point.
    Blocked,
}

/// A fit.
#[derive(Clone, Debug)]
pub struct Fit {
    /// Parameters, parts of the cube.
    pub x: Vec<f64>,
    /// Residuals there.
    pub residuals: Vec<f64>,
    /// Slopes of the residuals there: one row each.
    pub jacobian: Dense,
    /// How it ended.
    pub end: FitEnd,
}

/// Iterations after which a fit is stopped.
const MOST_ITERATIONS: usize = 100;

/// How much the steps are damped, by the rule of Nielsen (1999): eased by what a step gained of what it promised,
/// tightened faster and faster while steps gain nothing.
struct Damping {
    value: f64,
    growth: f64,
}

impl Default for Damping {
    fn default() -> Self {
        Damping {
            value: 1e-3,
            growth: 2.0,
        }
    }
}

impl Damping {
    /// Whether a smaller step is worth trying.
    fn tighten(&mut self) -> bool {
        self.value *= self.growth;
        self.growth *= 2.0;
        self.value <= 1e20
    }

    fn relax(&mut self, ratio: f64) {
        self.value *= (1.0 - (2.0 * ratio - 1.0).powi(3)).max(1.0 / 3.0);
        self.growth = 2.0;
    }
}

/// Fits from a start.
pub fn fit(fitting: Fitting<'_>, start: &[f64]) -> Fit {
    let x = start.to_vec();
    let first = (fitting.residuals)(&x).and_then(|r| Some((jacobian(fitting, &x, &r)?, r)));
    let Some((j, r)) = first else {
        return Fit {
            jacobian: Dense::zeros(0, x.len()),
            x,
            residuals: Vec::new(),
            end: FitEnd::Blocked,
        };
    };

    let mut at = Iterate { x, r, j };
    let mut damping = Damping::default();
    let mut end = None;
    for _ in 0..MOST_ITERATIONS {
        end = at.step(fitting, &mut damping);
        if end.is_some() {
            break;
        }
    }
    Fit {
        x: at.x,
        residuals: at.r,
        jacobian: at.j,
        end: end.unwrap_or(FitEnd::Exhausted),
    }
}

/// Where the search is: parameters, residuals and their slopes.
struct Iterate {
    x: Vec<f64>,
    r: Vec<f64>,
    j: Dense,
}

impl Iterate {
    /// Tries one step, taken if it gains; gives the end where there is nothing more to gain.
    fn step(&mut self, fitting: Fitting<'_>, damping: &mut Damping) -> Option<FitEnd> {
        let Iterate { x, r, j } = self;
        let gradient = j.transposed_times(r);
        let free: Vec<usize> = (0..x.len())
            .filter(|&k| !(x[k] <= 0.0 && gradient[k] > 0.0 || x[k] >= 1.0 && gradient[k] < 0.0))
            .collect();
        let Some(d) = damped_step(j, &gradient, &free, damping.value) else {
            return (!damping.tighten()).then_some(FitEnd::Converged);
        };
        let next: Vec<f64> = x
            .iter()
            .zip(&d)
            .map(|(x, d)| (x + d).clamp(0.0, 1.0))
            .collect();
        let moved: Vec<f64> = next.iter().zip(&*x).map(|(a, b)| a - b).collect();
        if largest(&moved) < 1e-10 {
            return Some(FitEnd::Converged);
        }

        let along = j.times(&moved);
        let promised = -2.0 * dot(r, &along) - dot(&along, &along);
        let gained = (fitting.residuals)(&next).map(|new| (dot(r, r) - dot(&new, &new), new));
        let Some((gain, new)) = gained.filter(|(gain, _)| *gain > 0.0) else {
            return (!damping.tighten()).then_some(FitEnd::Converged);
        };
        let ratio = gain / promised.max(f64::MIN_POSITIVE);
        let is_done = gain <= 1e-14 * dot(r, r);
        (*x, *r) = (next, new);
        let Some(slopes) = jacobian(fitting, x, r) else {
            return Some(FitEnd::Blocked);
        };
        *j = slopes;
        damping.relax(ratio);
        is_done.then_some(FitEnd::Converged)
    }
}

fn damped_step(j: &Dense, gradient: &[f64], free: &[usize], damping: f64) -> Option<Vec<f64>> {
    let n = free.len();
    if n == 0 {
        return Some(vec![0.0; gradient.len()]);
    }
    let mut normal = Dense::zeros(n, n);
    for row in 0..j.n_rows {
        let row = j.row(row);
        for (a, &p) in free.iter().enumerate() {
            for (b, &q) in free.iter().enumerate() {
                normal[(a, b)] += row[p] * row[q];
            }
        }
    }
    let size = (0..n).map(|k| normal[(k, k)]).fold(0.0, f64::max);
    for k in 0..n {
        // A column of zeros is damped like the smallest that means anything.
        normal[(k, k)] += damping * normal[(k, k)].max(1e-12 * size).max(f64::MIN_POSITIVE);
    }
    let right: Vec<f64> = free.iter().map(|&k| -gradient[k]).collect();
    let solution = normal.cholesky()?.solve(&right);
    let mut d = vec![0.0; gradient.len()];
    for (&k, s) in free.iter().zip(solution) {
        d[k] = s;
    }
    Some(d)
}

/// Exact slopes, or central differences; one-sided ones at a face or beside a point without residuals.
fn jacobian(fitting: Fitting<'_>, x: &[f64], here: &[f64]) -> Option<Dense> {
    let exact = fitting.slopes.and_then(|slopes| slopes(x));
    if let Some(exact) = exact.filter(|j| j.n_rows == here.len()) {
        return Some(exact);
    }

    let Fitting {
        residuals,
        step,
        jobs,
        ..
    } = fitting;

    let sides: Vec<(usize, f64)> = (0..x.len()).flat_map(|k| [(k, -step), (k, step)]).collect();
    let values = crate::threads::map(jobs, &sides, |_, &(k, h)| {
        let mut at = x.to_vec();
        at[k] += h;
        let is_inside = (0.0..=1.0).contains(&at[k]);
        let moved = at[k] - x[k];
        is_inside
            .then(|| residuals(&at))
            .flatten()
            .filter(|r| r.len() == here.len())
            .map(|r| (moved, r))
    });

    let mut j = Dense::zeros(here.len(), x.len());
    for k in 0..x.len() {
        let (left, right) = (&values[2 * k], &values[2 * k + 1]);
        let (low, high) = match (left, right) {
            (None, None) => return None,
            (left, right) => (left.as_ref(), right.as_ref()),
        };
        let (a, ra) = low.map_or((0.0, here), |(h, r)| (*h, r));
        let (b, rb) = high.map_or((0.0, here), |(h, r)| (*h, r));
        for i in 0..here.len() {
            j[(i, k)] = (rb[i] - ra[i]) / (b - a);
        }
    }
    Some(j)
}

/// What the data say about parameters.
#[derive(Clone, Debug)]
pub struct Information {
    /// Covariance for residuals of deviation one.
    pub covariance: Option<Dense>,
    /// Singular values of the Jacobian with columns of length one, largest first.
    pub singular_values: Vec<f64>,
    /// Their directions in the parameters (scaled by the column lengths).
    pub directions: Vec<Vec<f64>>,
    /// Lengths of the columns.
    pub lengths: Vec<f64>,
}

/// Reads the information off a Jacobian.
pub fn information(jacobian: &Dense) -> Information {
    let n = jacobian.n_columns;
    let lengths: Vec<f64> = (0..n)
        .map(|k| {
            (0..jacobian.n_rows)
                .map(|i| jacobian[(i, k)].powi(2))
                .sum::<f64>()
                .sqrt()
        })
        .collect();

    let mut scaled = jacobian.clone();
    for k in 0..n {
        for i in 0..jacobian.n_rows {
            scaled[(i, k)] /= if lengths[k] > 0.0 { lengths[k] } else { 1.0 };
        }
    }

    let (singular_values, directions) = right_singular(&scaled);
    // Directions that the data do not see have no covariance.
    let is_seen =
        singular_values.last().is_some_and(|s| *s > 1e-10) && lengths.iter().all(|l| *l > 0.0);
    let covariance = is_seen.then(|| {
        let mut c = Dense::zeros(n, n);
        for (s, v) in singular_values.iter().zip(&directions) {
            for a in 0..n {
                for b in 0..n {
                    c[(a, b)] += v[a] * v[b] / (s * s) / (lengths[a] * lengths[b]);
                }
            }
        }
        c
    });

    Information {
        covariance,
        singular_values,
        directions,
        lengths,
    }
}

/// Singular values and right singular vectors by one-sided Jacobi rotations: small ones keep their digits.
fn right_singular(m: &Dense) -> (Vec<f64>, Vec<Vec<f64>>) {
    let (rows, n) = (m.n_rows, m.n_columns);
    let mut u: Vec<Vec<f64>> = (0..n)
        .map(|k| (0..rows).map(|i| m[(i, k)]).collect())
        .collect();
    let mut v: Vec<Vec<f64>> = (0..n)
        .map(|k| (0..n).map(|i| f64::from(u8::from(i == k))).collect())
        .collect();
    for _ in 0..60 {
        let mut is_done = true;
        for p in 0..n {
            for q in p + 1..n {
                let (a, b, c) = (dot(&u[p], &u[p]), dot(&u[q], &u[q]), dot(&u[p], &u[q]));
                if c.abs() <= 1e-15 * (a * b).sqrt() || c == 0.0 {
                    continue;
                }
                is_done = false;
                let zeta = (b - a) / (2.0 * c);
                let t = zeta.signum() / (zeta.abs() + (1.0 + zeta * zeta).sqrt());
                let t = if zeta == 0.0 { 1.0 } else { t };
                let cos = 1.0 / (1.0 + t * t).sqrt();
                let sin = cos * t;
                for list in [&mut u, &mut v] {
                    for i in 0..list[p].len() {
                        let (x, y) = (list[p][i], list[q][i]);
                        list[p][i] = cos * x - sin * y;
                        list[q][i] = sin * x + cos * y;
                    }
                }
            }
        }
        if is_done {
            break;
        }
    }

    let mut order: Vec<usize> = (0..n).collect();
    let size: Vec<f64> = u.iter().map(|c| dot(c, c).sqrt()).collect();
    order.sort_by(|&a, &b| size[b].total_cmp(&size[a]));

    // v holds, by columns of the rotated basis, the parameters' shares.
    let directions = order.iter().map(|&k| v[k].clone()).collect();
    (order.iter().map(|&k| size[k]).collect(), directions)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn by_differences(residuals: Residuals<'_>, jobs: usize) -> Fitting<'_> {
        Fitting {
            residuals,
            slopes: None,
            step: 1e-5,
            jobs,
        }
    }

    #[test]
    fn exact_slopes_give_the_jacobian_to_the_last_digits() {
        // y = a e^{−b t} with a = 2x₀, b = 3x₁, at ten times.
        let times: Vec<f64> = (0..10).map(|k| 0.2 * f64::from(k)).collect();
        let model = |x: &[f64], t: f64| 2.0 * x[0] * (-3.0 * x[1] * t).exp();
        let residuals = |x: &[f64]| {
            let each = times.iter().map(|&t| model(x, t) - model(&[0.6, 0.4], t));
            Some(each.collect::<Vec<f64>>())
        };
        let slopes = |x: &[f64]| {
            let mut j = Dense::zeros(times.len(), 2);
            for (i, &t) in times.iter().enumerate() {
                j[(i, 0)] = model(x, t) / x[0];
                j[(i, 1)] = -3.0 * t * model(x, t);
            }
            Some(j)
        };
        let exact = Fitting {
            slopes: Some(&slopes),
            ..by_differences(&residuals, 1)
        };
        let found = fit(exact, &[0.9, 0.9]);
        assert!((found.x[0] - 0.6).abs() < 1e-12 && (found.x[1] - 0.4).abs() < 1e-12);
        assert_eq!(Some(found.jacobian), slopes(&found.x));
    }

    #[test]
    fn an_exponential_is_fitted_to_its_digits() {
        let times: Vec<f64> = (0..40).map(|k| 0.1 * f64::from(k)).collect();
        let model = |x: &[f64], t: f64| 5.0 * x[0] * (-3.0 * x[1] * t).exp();
        let truth = [0.42, 0.31];
        let data: Vec<f64> = times.iter().map(|&t| model(&truth, t)).collect();
        let residuals = |x: &[f64]| {
            Some(
                times
                    .iter()
                    .zip(&data)
                    .map(|(&t, d)| model(x, t) - d)
                    .collect(),
            )
        };
        let found = fit(by_differences(&residuals, 1), &[0.9, 0.9]);
        assert_eq!(found.end, FitEnd::Converged);
        assert!(
            found.x.iter().zip(truth).all(|(a, b)| (a - b).abs() < 1e-9),
            "{:?}",
            found.x
        );
    }

    #[test]
    fn a_product_of_parameters_is_told_apart_from_nothing() {
        // Only x·y is seen: the direction (1, −1) in relative terms is not.
        let residuals = |x: &[f64]| {
            Some(
                (1..9)
                    .map(|t| x[0] * x[1] * f64::from(t) - 0.2 * f64::from(t))
                    .collect(),
            )
        };
        let found = fit(by_differences(&residuals, 2), &[0.5, 0.9]);
        assert!((found.x[0] * found.x[1] - 0.2).abs() < 1e-9);
        let info = information(&found.jacobian);
        assert!(info.singular_values[1] < 1e-8, "{:?}", info.singular_values);
        assert!(info.covariance.is_none());
        let d = &info.directions[1];
        assert!((d[0] + d[1]).abs() < 1e-6 && d[0].abs() > 0.7, "{d:?}");
    }

    #[test]
    fn intervals_hold_the_truth_as_often_as_they_say() {
        use crate::distributions::student_quantile;
        use crate::random::Random;
        let times: Vec<f64> = (0..30).map(|k| 0.1 * f64::from(k)).collect();
        let model = |x: &[f64], t: f64| 2.0 * x[0] * (-2.0 * x[1] * t).exp();
        let truth = [0.5, 0.5];
        let mut random = Random::new(9, 0);
        let mut n_inside = [0; 2];
        for _ in 0..400 {
            let data: Vec<f64> = times
                .iter()
                .map(|&t| model(&truth, t) + 0.01 * random.normal())
                .collect();
            let residuals = |x: &[f64]| {
                Some(
                    times
                        .iter()
                        .zip(&data)
                        .map(|(&t, d)| model(x, t) - d)
                        .collect(),
                )
            };
            let found = fit(by_differences(&residuals, 1), &[0.7, 0.3]);
            let covariance = information(&found.jacobian)
                .covariance
                .expect("both are seen");
            let freedom = (times.len() - 2) as f64;
            let variance = dot(&found.residuals, &found.residuals) / freedom;
            for k in 0..2 {
                let half =
                    student_quantile(0.975, freedom) * (variance * covariance[(k, k)]).sqrt();
                n_inside[k] += usize::from((found.x[k] - truth[k]).abs() <= half);
            }
        }
        // 95 % of 400 within four deviations of the count (4.4).
        for n in n_inside {
            assert!((n as f64 - 380.0).abs() < 18.0, "{n_inside:?}");
        }
    }
}
