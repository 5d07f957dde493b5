//! Which of many parameters count, over their whole ranges.
//!
//! In:  the number of parameters; later, the values of a function at the points of a design.
//! Out: designs in the unit cube, and from the values elementary effects (Morris 1991; Campolongo et al. 2007) or the shares
//!      of the variance (Sobol' 1993; Saltelli et al. 2010; Jansen 1999).
//!
//! **Invariant:** a point without a value (not finite) takes the comparisons that need it with it, and is counted.

use crate::random::Random;
use crate::sobol::Sobol;

/// Levels of Morris' grid.
const LEVELS: usize = 4;

/// Effect of one parameter on one function, by Morris' method.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Effect {
    /// Mean of the elementary effects: change of the function for the whole range of the parameter.
    pub mean: f64,
    /// Mean of their sizes, μ*: what it counts for.
    pub size: f64,
    /// Their standard deviation: large beside μ* where it acts with others, or not linearly.
    pub spread: f64,
    /// How many there are.
    pub n: usize,
}

/// Share of one parameter in the variance of one function.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Share {
    /// By itself.
    pub first: f64,
    /// With everything that it does together with others.
    pub total: f64,
    /// Half the width of the 95 % intervals of both, by resampling.
    pub doubt: (f64, f64),
}

/// Ways through the grid on which one parameter after the other changes: `n_ways` times (n + 1) points.
pub fn morris_design(n: usize, n_ways: usize, seed: u64) -> Vec<Vec<f64>> {
    let mut random = Random::new(seed, 0);
    // Half the levels: every level is met as often as every other one (Morris 1991, §3).
    let step = LEVELS as f64 / (2.0 * (LEVELS - 1) as f64);
    let mut points = Vec::new();
    for _ in 0..n_ways {
        let mut at: Vec<f64> = (0..n)
            .map(|_| random.below(LEVELS / 2) as f64 / (LEVELS - 1) as f64)
            .collect();
        // Half of the ways of each parameter lead down.
        let is_down: Vec<bool> = (0..n).map(|_| random.below(2) == 1).collect();
        for (x, &down) in at.iter_mut().zip(&is_down) {
            *x += if down { step } else { 0.0 };
        }
        points.push(at.clone());
        for k in random.permutation(n) {
            at[k] += if is_down[k] { -step } else { step };
            points.push(at.clone());
        }
    }
    points
}

/// Reads the effects off the values at the points of [`morris_design`].
pub fn morris_effects(points: &[Vec<f64>], values: &[f64]) -> Vec<Effect> {
    let n = points.first().map_or(0, Vec::len);
    let mut all: Vec<Vec<f64>> = vec![Vec::new(); n];
    for (ways, values) in points.chunks(n + 1).zip(values.chunks(n + 1)) {
        for k in 1..ways.len() {
            let moved = (0..n).find(|&j| ways[k][j] != ways[k - 1][j]);
            let Some(j) = moved else {
                continue;
            };
            let effect = (values[k] - values[k - 1]) / (ways[k][j] - ways[k - 1][j]);
            if effect.is_finite() {
                all[j].push(effect);
            }
        }
    }
    all.iter().map(|own| effect_of(own)).collect()
}

fn effect_of(own: &[f64]) -> Effect {
    let n = own.len();
    if n == 0 {
        return Effect {
            mean: f64::NAN,
            size: f64::NAN,
            spread: f64::NAN,
            n,
        };
    }
    let mean = own.iter().sum::<f64>() / n as f64;
    let square: f64 = own.iter().map(|x| (x - mean).powi(2)).sum();
    Effect {
        mean,
        size: own.iter().map(|x| x.abs()).sum::<f64>() / n as f64,
        spread: if n > 1 {
            (square / (n - 1) as f64).sqrt()
        } else {
            f64::NAN
        },
        n,
    }
}

/// Two samples and their mixtures: for each of `n_base` rows A, B, then A with coordinate i of B for every i.
pub fn sobol_design(n: usize, n_base: usize, seed: u64) -> Vec<Vec<f64>> {
    let mut random = Random::new(seed, 1);
    let rows = Sobol::shifted(2 * n, &mut random).take(n_base);
    let mut points = Vec::new();
    for row in rows {
        let (a, b) = row.split_at(n);
        points.push(a.to_vec());
        points.push(b.to_vec());
        for i in 0..n {
            let mut mixed = a.to_vec();
            mixed[i] = b[i];
            points.push(mixed);
        }
    }
    points
}

/// Resamplings of the intervals.
const RESAMPLINGS: usize = 200;

/// Reads shares of the variance off the values at the points of [`sobol_design`]; none where the function does not vary.
pub fn sobol_shares(n: usize, values: &[f64], seed: u64) -> Option<Vec<Share>> {
    let rows: Vec<&[f64]> = values
        .chunks_exact(n + 2)
        .filter(|row| row.iter().all(|x| x.is_finite()))
        .collect();
    if rows.len() < 2 {
        return None;
    }

    let own: Vec<usize> = (0..rows.len()).collect();
    let found = shares_of(&rows, &own, n)?;
    let mut random = Random::new(seed, 2);
    let mut again: Vec<Vec<(f64, f64)>> = vec![Vec::new(); n];
    for _ in 0..RESAMPLINGS {
        let drawn: Vec<usize> = own.iter().map(|_| random.below(rows.len())).collect();
        if let Some(shares) = shares_of(&rows, &drawn, n) {
            again
                .iter_mut()
                .zip(shares)
                .for_each(|(all, s)| all.push(s));
        }
    }

    // 1.96 deviations: 95 % of a normal distribution.
    let doubt = |all: &[(f64, f64)], of: fn(&(f64, f64)) -> f64| {
        let mean = all.iter().map(of).sum::<f64>() / all.len() as f64;
        let square: f64 = all.iter().map(|x| (of(x) - mean).powi(2)).sum();
        1.96 * (square / all.len() as f64).sqrt()
    };
    let pairs = found.into_iter().zip(&again);
    let share = |((first, total), all): ((f64, f64), &Vec<(f64, f64)>)| Share {
        first,
        total,
        doubt: (doubt(all, |x| x.0), doubt(all, |x| x.1)),
    };
    Some(pairs.map(share).collect())
}

/// First and total share of each parameter from some rows.
fn shares_of(rows: &[&[f64]], chosen: &[usize], n: usize) -> Option<Vec<(f64, f64)>> {
    let count = chosen.len() as f64;
    let both = || chosen.iter().flat_map(|&r| [rows[r][0], rows[r][1]]);
    let mean = both().sum::<f64>() / (2.0 * count);
    let variance = both().map(|x| (x - mean).powi(2)).sum::<f64>() / (2.0 * count);
    let size = both().fold(0.0_f64, |m, x| m.max(x.abs()));
    // What rounding leaves of a constant is not a variance.
    if variance <= (1e-13 * size).powi(2) {
        return None;
    }
    let share = |i: usize| {
        let (mut first, mut total) = (0.0, 0.0);
        for &r in chosen {
            let (a, b, mixed) = (rows[r][0], rows[r][1], rows[r][2 + i]);
            // Saltelli et al. 2010, table 2, (b) and (f); the mean is taken out, which lowers the noise.
            first += (b - mean) * (mixed - a);
            total += (a - mixed).powi(2);
        }
        (first / count / variance, total / (2.0 * count) / variance)
    };
    Some((0..n).map(share).collect())
}
