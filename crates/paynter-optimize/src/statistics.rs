//! What a sample says about the whole, and how surely.
//!
//! In:  numbers; those that are not finite are the caller's to count.
//! Out: mean, deviation and quantiles with intervals of confidence; a share with its interval.

use crate::distributions::{normal_quantile, student_quantile};

/// Confidence of all intervals: 95 %.
pub const CONFIDENCE: f64 = 0.95;

/// A sample described.
#[derive(Clone, Debug, PartialEq)]
pub struct Summary {
    /// Numbers.
    pub n: usize,
    /// Mean, with its interval.
    pub mean: Estimate,
    /// Standard deviation.
    pub deviation: f64,
    /// Smallest and largest.
    pub range: (f64, f64),
    /// Quantiles at 5, 50 and 95 %, with intervals.
    pub quantiles: [Estimate; 3],
}

/// A number with the interval that holds the true one in 95 of 100 samples.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    /// The number.
    pub value: f64,
    /// From.
    pub low: f64,
    /// To.
    pub high: f64,
}

/// Describes a sample of finite numbers; none if it is empty.
pub fn summarize(values: &[f64]) -> Option<Summary> {
    let n = values.len();
    if n == 0 {
        return None;
    }

    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let mean = values.iter().sum::<f64>() / n as f64;
    let squares: f64 = values.iter().map(|x| (x - mean) * (x - mean)).sum();
    let deviation = if n > 1 {
        (squares / (n - 1) as f64).sqrt()
    } else {
        0.0
    };
    let width = match n {
        1 => f64::INFINITY,
        _ => {
            student_quantile(0.5 + 0.5 * CONFIDENCE, (n - 1) as f64) * deviation / (n as f64).sqrt()
        }
    };

    Some(Summary {
        n,
        mean: Estimate {
            value: mean,
            low: mean - width,
            high: mean + width,
        },
        deviation,
        range: (sorted[0], sorted[n - 1]),
        quantiles: [0.05, 0.5, 0.95].map(|p| quantile_of(&sorted, p)),
    })
}

/// A quantile of sorted numbers, with the interval between order statistics (binomial, by its normal limit).
pub fn quantile_of(sorted: &[f64], p: f64) -> Estimate {
    let n = sorted.len();
    let at = |place: f64| {
        // Hyndman & Fan 1996, definition 7.
        let place = place.clamp(0.0, (n - 1) as f64);
        let below = place.floor() as usize;
        let part = place - below as f64;
        let above = (below + 1).min(n - 1);
        sorted[below] + part * (sorted[above] - sorted[below])
    };
    let spread = normal_quantile(0.5 + 0.5 * CONFIDENCE) * (n as f64 * p * (1.0 - p)).sqrt();
    let rank = n as f64 * p;
    Estimate {
        value: at(p * (n - 1) as f64),
        low: at((rank - spread).floor() - 1.0),
        high: at((rank + spread).ceil()),
    }
}

/// The share of `k` out of `n`, with Wilson's interval: right even for none and for all.
pub fn share(k: usize, n: usize) -> Option<Estimate> {
    if n == 0 {
        return None;
    }
    let (k, n) = (k as f64, n as f64);
    let z = normal_quantile(0.5 + 0.5 * CONFIDENCE);
    let p = k / n;
    let centre = (p + z * z / (2.0 * n)) / (1.0 + z * z / n);
    let half = z / (1.0 + z * z / n) * (p * (1.0 - p) / n + z * z / (4.0 * n * n)).sqrt();
    Some(Estimate {
        value: p,
        low: (centre - half).max(0.0),
        high: (centre + half).min(1.0),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    #[test]
    fn intervals_hold_the_truth_as_often_as_they_say() {
        let mut random = Random::new(4, 0);
        let (mut n_mean, mut n_median, mut n_share, mut n_tail) = (0, 0, 0, 0);
        const REPEATED: usize = 2000;
        for _ in 0..REPEATED {
            let values: Vec<f64> = (0..60).map(|_| 3.0 + 2.0 * random.normal()).collect();
            let found = summarize(&values).expect("there are numbers");
            let holds = |e: &Estimate, x: f64| e.low <= x && x <= e.high;
            n_mean += usize::from(holds(&found.mean, 3.0));
            n_median += usize::from(holds(&found.quantiles[1], 3.0));
            n_tail += usize::from(holds(&found.quantiles[2], 3.0 + 2.0 * 1.644853626951473));
            let k = values.iter().filter(|x| **x < 4.0).count();
            let part = share(k, 60).expect("there are numbers");
            n_share += usize::from(holds(&part, 0.691462461274013));
        }
        // 95 % of 2000 within five deviations of a binomial count (10); a quantile's interval is never too narrow.
        let expected = 0.95 * REPEATED as f64;
        assert!((n_mean as f64 - expected).abs() < 50.0, "mean {n_mean}");
        assert!((n_share as f64 - expected).abs() < 70.0, "share {n_share}");
        assert!(n_median as f64 > expected - 50.0, "median {n_median}");
        assert!(n_tail as f64 > expected - 110.0, "tail {n_tail}");
    }
}
