//! How much of a computed value is noise.
//!
//! In:  values of one function at equally spaced points that lie so close together that it is straight between them.
//! Out: the size of its noise, from differences of high order (Hamming; Moré & Wild 2011).

/// Estimates the noise of values at equally spaced points; none where the differences say nothing.
pub fn noise_level(values: &[f64]) -> Option<f64> {
    let mut differences = values.to_vec();
    let mut factor = 1.0;
    let mut levels = Vec::new();
    for order in 1..values.len() {
        for k in 0..values.len() - order {
            differences[k] = differences[k + 1] - differences[k];
        }
        // The variance of the k-th difference of noise is (2k)!/(k!)² of its own.
        factor *= order as f64 / (2.0 * (2.0 * order as f64 - 1.0));
        let now = &differences[..values.len() - order];
        let mean = now.iter().map(|d| d * d).sum::<f64>() / now.len() as f64;
        let changes_sign = now.iter().any(|d| *d > 0.0) && now.iter().any(|d| *d < 0.0);
        levels.push(((factor * mean).sqrt(), changes_sign));
    }
    // Noise gives the same level at three orders; what is smooth dies away with the order.
    let settled = levels.windows(3).find(|w| {
        let high = w.iter().fold(0.0, |m: f64, l| m.max(l.0));
        let low = w.iter().fold(f64::INFINITY, |m, l| m.min(l.0));
        w[0].1 && high <= 4.0 * low
    });
    settled.map(|w| w[0].0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    #[test]
    fn noise_on_a_slope_is_found_within_a_factor_of_four() {
        let mut random = Random::new(2, 0);
        for level in [1e-3, 1e-8, 1e-12] {
            let n_good = (0..100)
                .filter(|_| {
                    let values: Vec<f64> = (0..9)
                        .map(|k| 2.0 + 1e-3 * f64::from(k) * level + level * random.normal())
                        .collect();
                    noise_level(&values).is_some_and(|l| l > level / 4.0 && l < level * 4.0)
                })
                .count();
            assert!(n_good > 80, "{n_good} at {level}");
        }
    }
}
