//! Strictly convex quadratic programs (Goldfarb & Idnani 1983).
//!
//! In:  ½ xᵀ G x + aᵀ x with G positive definite, and rows nᵀ x ≥ b.
//! Out: the minimum with its multipliers, or the fact that no x meets all rows.
//!
//! The method begins at the free minimum and adds violated rows one by one, so that it needs no feasible start.
//! Factors are computed anew each time: with a few dozen variables that costs nothing beside a single trial.

use crate::dense::{Cholesky, Dense, dot};

/// A program.
#[derive(Clone, Debug)]
pub struct Quadratic<'q> {
    /// G
    pub g: &'q Dense,
    /// a
    pub a: &'q [f64],
    /// Rows n and their bounds b.
    pub rows: &'q [(Vec<f64>, f64)],
}

/// A minimum.
#[derive(Clone, Debug, PartialEq)]
pub struct Minimum {
    /// x
    pub x: Vec<f64>,
    /// Multipliers of all rows, zero where a row does not bind.
    pub multipliers: Vec<f64>,
}

/// Why there is none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoMinimum {
    /// G is not positive definite.
    NotConvex,
    /// Rows contradict each other.
    Infeasible,
    /// Rounding made rows come and go.
    Cycling,
}

/// A row counts as met within this part of its own terms.
const ROUNDING: f64 = 1e-12;

/// Solves a program.
///
/// # Errors
///
/// See [`NoMinimum`].
pub fn minimize(program: &Quadratic<'_>) -> Result<Minimum, NoMinimum> {
    let factor = program.g.cholesky().ok_or(NoMinimum::NotConvex)?;
    let n_rows = program.rows.len();
    let mut x: Vec<f64> = factor.solve(program.a).iter().map(|v| -v).collect();
    let mut active: Vec<usize> = Vec::new();
    let mut u: Vec<f64> = Vec::new();

    // Every round adds a row; rows may leave and come back, but not for ever.
    for _ in 0..20 * (n_rows + x.len() + 1) {
        let Some(p) = most_violated(program, &x, &active) else {
            let mut multipliers = vec![0.0; n_rows];
            for (row, u) in active.iter().zip(&u) {
                multipliers[*row] = *u;
            }
            return Ok(Minimum { x, multipliers });
        };
        add_row(program, &factor, p, (&mut x, &mut active, &mut u))?;
    }
    Err(NoMinimum::Cycling)
}

fn most_violated(program: &Quadratic<'_>, x: &[f64], active: &[usize]) -> Option<usize> {
    let slack = |k: usize| {
        let (n, b) = &program.rows[k];
        let size = n.iter().zip(x).map(|(n, x)| (n * x).abs()).sum::<f64>() + b.abs();
        let length = dot(n, n).sqrt();
        (
            (dot(n, x) - b) / length.max(f64::MIN_POSITIVE),
            size / length.max(f64::MIN_POSITIVE),
        )
    };
    let violated = (0..program.rows.len())
        .filter(|k| !active.contains(k))
        .map(|k| (k, slack(k)))
        .filter(|(_, (s, size))| *s < -ROUNDING * (1.0 + size));
    violated
        .min_by(|a, b| a.1.0.total_cmp(&b.1.0))
        .map(|(k, _)| k)
}

/// Steps in the primal and dual until row `p` is met with non-negative multipliers.
fn add_row(
    program: &Quadratic<'_>,
    factor: &Cholesky,
    p: usize,
    (x, active, u): (&mut Vec<f64>, &mut Vec<usize>, &mut Vec<f64>),
) -> Result<(), NoMinimum> {
    let (n, b) = &program.rows[p];
    let mut own = 0.0;
    for _ in 0..=2 * program.rows.len() + 2 {
        let (z, r) = directions(program, factor, active, n);
        // How far the dual step may go until a multiplier vanishes.
        let blocking = (0..active.len())
            .filter(|&k| r[k] > 0.0)
            .map(|k| (k, u[k] / r[k]))
            .min_by(|a, b| a.1.total_cmp(&b.1));
        let slope = dot(&z, n);
        let full = if slope > ROUNDING * dot(n, &factor.solve(n)) {
            (b - dot(n, x)) / slope
        } else {
            f64::INFINITY
        };
        let step = full.min(blocking.map_or(f64::INFINITY, |b| b.1));
        if step.is_infinite() {
            return Err(NoMinimum::Infeasible);
        }
        if full.is_finite() {
            for (x, z) in x.iter_mut().zip(&z) {
                *x += step * z;
            }
        }
        for (u, r) in u.iter_mut().zip(&r) {
            *u -= step * r;
        }
        own += step;
        match blocking {
            Some((k, limit)) if limit < full => {
                active.remove(k);
                u.remove(k);
            }
            _ => {
                active.push(p);
                u.push(own);
                return Ok(());
            }
        }
    }
    Err(NoMinimum::Cycling)
}

/// z = H n: the step in x that keeps the active rows; r = N* n: how their multipliers change.
fn directions(
    program: &Quadratic<'_>,
    factor: &Cholesky,
    active: &[usize],
    n: &[f64],
) -> (Vec<f64>, Vec<f64>) {
    let by_factor = factor.solve(n);
    if active.is_empty() {
        return (by_factor, Vec::new());
    }

    let columns: Vec<Vec<f64>> = active
        .iter()
        .map(|&k| factor.solve(&program.rows[k].0))
        .collect();
    let m = active.len();
    let mut gram = Dense::zeros(m, m);
    for i in 0..m {
        for j in 0..m {
            gram[(i, j)] = dot(&program.rows[active[i]].0, &columns[j]);
        }
    }

    let right: Vec<f64> = active
        .iter()
        .map(|&k| dot(&program.rows[k].0, &by_factor))
        .collect();
    let r = match gram.cholesky() {
        Some(gram) => gram.solve(&right),
        None => vec![0.0; m],
    };
    let mut z = by_factor;
    for (column, r) in columns.iter().zip(&r) {
        for (z, c) in z.iter_mut().zip(column) {
            *z -= r * c;
        }
    }
    (z, r)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    #[test]
    fn random_programs_meet_the_conditions_of_karush_kuhn_and_tucker() {
        let mut random = Random::new(11, 0);
        let mut n_bound = 0;
        for _ in 0..300 {
            let n = 1 + random.below(6);
            let mut g = Dense::diagonal(n, 0.1);
            for _ in 0..n {
                let v: Vec<f64> = (0..n).map(|_| random.normal()).collect();
                for i in 0..n {
                    for j in 0..n {
                        g[(i, j)] += v[i] * v[j];
                    }
                }
            }
            let a: Vec<f64> = (0..n).map(|_| 3.0 * random.normal()).collect();
            // Rows that hold at the origin can be met together.
            let rows: Vec<(Vec<f64>, f64)> = (0..random.below(9))
                .map(|_| ((0..n).map(|_| random.normal()).collect(), -random.uniform()))
                .collect();
            let program = Quadratic {
                g: &g,
                a: &a,
                rows: &rows,
            };
            let found = minimize(&program).expect("the origin meets all rows");
            let mut gradient = g.times(&found.x);
            for (d, a) in gradient.iter_mut().zip(&a) {
                *d += a;
            }
            for ((row, b), u) in rows.iter().zip(&found.multipliers) {
                let slack = dot(row, &found.x) - b;
                assert!(slack > -1e-9 && *u >= 0.0, "slack {slack}, multiplier {u}");
                assert!((slack * u).abs() < 1e-8, "slack {slack}, multiplier {u}");
                n_bound += usize::from(*u > 0.0);
                for (d, r) in gradient.iter_mut().zip(row) {
                    *d -= u * r;
                }
            }
            assert!(crate::dense::largest(&gradient) < 1e-8, "{gradient:?}");
        }
        assert!(n_bound > 100, "{n_bound}");
    }

    #[test]
    fn rows_that_contradict_each_other_are_told() {
        let g = Dense::diagonal(2, 1.0);
        let rows = [(vec![1.0, 1.0], 1.0), (vec![-1.0, -1.0], 0.0)];
        let program = Quadratic {
            g: &g,
            a: &[0.0, 0.0],
            rows: &rows,
        };
        assert_eq!(minimize(&program), Err(NoMinimum::Infeasible));
    }
}
