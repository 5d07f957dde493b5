//! Latin hypercube samples (McKay, Beckman & Conover 1979).
//!
//! In:  how many points of how many coordinates, and a stream of random numbers.
//! Out: points of the unit cube; every coordinate has exactly one point in each of n equal layers.

use crate::random::Random;

/// Draws `n` points.
pub fn latin_hypercube(n: usize, n_coordinates: usize, random: &mut Random) -> Vec<Vec<f64>> {
    let mut points = vec![vec![0.0; n_coordinates]; n];
    for k in 0..n_coordinates {
        for (point, layer) in points.iter_mut().zip(random.permutation(n)) {
            point[k] = (layer as f64 + random.uniform()) / n as f64;
        }
    }
    points
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_layer_has_one_point_in_every_coordinate() {
        let points = latin_hypercube(37, 4, &mut Random::new(1, 0));
        for k in 0..4 {
            let mut layers: Vec<usize> = points.iter().map(|p| (p[k] * 37.0) as usize).collect();
            layers.sort_unstable();
            assert_eq!(layers, (0..37).collect::<Vec<_>>());
        }
    }
}
