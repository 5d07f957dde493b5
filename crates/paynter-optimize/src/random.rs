//! Random numbers that are the same on every machine.
//!
//! In:  a seed and the number of a stream.
//! Out: numbers between 0 and 1, normal ones, permutations.
//!
//! xoshiro256++ (Blackman & Vigna 2021), its state filled by SplitMix64 (Steele, Lea & Flood 2014).

/// One stream of random numbers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Random {
    state: [u64; 4],
}

fn split_mix(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut z = *state;
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

impl Random {
    /// Begins stream number `stream` of a seed; streams and neighbouring seeds are unrelated.
    pub fn new(seed: u64, stream: u64) -> Self {
        let mut mixed = seed;
        let mut state = split_mix(&mut mixed) ^ stream.wrapping_mul(0xd1b5_4a32_d192_ed03);
        Random {
            state: [0; 4].map(|_| split_mix(&mut state)),
        }
    }

    /// The next 64 random bits.
    pub fn bits(&mut self) -> u64 {
        let s = &mut self.state;
        let result = s[0].wrapping_add(s[3]).rotate_left(23).wrapping_add(s[0]);
        let t = s[1] << 17;
        s[2] ^= s[0];
        s[3] ^= s[1];
        s[1] ^= s[2];
        s[0] ^= s[3];
        s[2] ^= t;
        s[3] = s[3].rotate_left(45);
        result
    }

    /// A number from 0 (included) to 1 (not included).
    pub fn uniform(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// A whole number below `n`, which is not zero.
    pub fn below(&mut self, n: usize) -> usize {
        ((self.uniform() * n as f64) as usize).min(n.saturating_sub(1))
    }

    /// A normal number with mean 0 and deviation 1 (Marsaglia's polar method).
    pub fn normal(&mut self) -> f64 {
        loop {
            let (u, v) = (2.0 * self.uniform() - 1.0, 2.0 * self.uniform() - 1.0);
            let s = u * u + v * v;
            if s > 0.0 && s < 1.0 {
                return u * (-2.0 * s.ln() / s).sqrt();
            }
        }
    }

    /// The numbers below `n` in random order (Fisher & Yates).
    pub fn permutation(&mut self, n: usize) -> Vec<usize> {
        let mut order: Vec<usize> = (0..n).collect();
        for k in (1..n).rev() {
            order.swap(k, self.below(k + 1));
        }
        order
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_of_uniform_and_normal_numbers_are_those_of_their_laws() {
        let mut random = Random::new(5, 0);
        let n = 200_000;
        let (mut mean, mut square) = (0.0, 0.0);
        let (mut normal_mean, mut normal_square, mut fourth) = (0.0, 0.0, 0.0);
        for _ in 0..n {
            let u = random.uniform();
            mean += u;
            square += u * u;
            let x = random.normal();
            normal_mean += x;
            normal_square += x * x;
            fourth += x.powi(4);
        }
        let part = 1.0 / f64::from(n);
        // Five deviations of each mean over 200 000 draws.
        assert!((mean * part - 0.5).abs() < 5.0 * (1.0 / 12.0 * part).sqrt());
        assert!((square * part - 1.0 / 3.0).abs() < 5.0 * (4.0 / 45.0 * part).sqrt());
        assert!((normal_mean * part).abs() < 5.0 * part.sqrt());
        assert!((normal_square * part - 1.0).abs() < 5.0 * (2.0 * part).sqrt());
        assert!((fourth * part - 3.0).abs() < 5.0 * (96.0 * part).sqrt());
    }

    #[test]
    fn streams_differ_and_repeat() {
        let draw = |seed, stream| Random::new(seed, stream).bits();
        assert_eq!(draw(1, 2), draw(1, 2));
        assert_ne!(draw(1, 2), draw(1, 3));
        assert_ne!(draw(1, 2), draw(2, 2));
    }

    #[test]
    fn a_permutation_has_every_number_once() {
        let mut order = Random::new(3, 1).permutation(50);
        assert_ne!(order, (0..50).collect::<Vec<_>>());
        order.sort_unstable();
        assert_eq!(order, (0..50).collect::<Vec<_>>());
    }
}
