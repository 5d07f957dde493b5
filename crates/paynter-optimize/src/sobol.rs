//! Sobol's sequence of evenly spread points, with random digital shifts where several samples are wanted.
//!
//! In:  the number of coordinates.
//! Out: points of the unit cube, one after the other.
//!
//! Coordinate k > 1 belongs to the k-th primitive polynomial over the field of two elements, found here by
//! looking (Knuth, TAOCP 2, §3.2.2), with odd initial numbers from a fixed stream: every such choice gives a
//! sequence whose first 2^m points have one in each of 2^m equal layers of every coordinate (Sobol' 1967). Points follow
//! each other in Gray code order (Antonov & Saleev 1979).

use crate::random::Random;

const BITS: usize = 52;

/// Sobol's sequence.
#[derive(Clone, Debug)]
pub struct Sobol {
    directions: Vec<[u64; BITS]>,
    state: Vec<u64>,
    shift: Vec<u64>,
    next: u64,
}

impl Sobol {
    /// Begins the sequence at the point after the origin.
    pub fn new(n_coordinates: usize) -> Self {
        let mut polynomials = primitive_polynomials();
        let directions = (0..n_coordinates)
            .map(|k| match k {
                // The first coordinate is van der Corput's sequence.
                0 => std::array::from_fn(|bit| 1u64 << (BITS - 1 - bit)),
                _ => directions(polynomials.next().expect("there is one of every degree"), k),
            })
            .collect();
        Sobol {
            directions,
            state: vec![0; n_coordinates],
            shift: vec![0; n_coordinates],
            next: 0,
        }
    }

    /// The same sequence with its binary digits shifted at random: as even, and a fair sample.
    pub fn shifted(n_coordinates: usize, random: &mut Random) -> Self {
        let mut sequence = Sobol::new(n_coordinates);
        for shift in &mut sequence.shift {
            *shift = random.bits() >> (64 - BITS);
        }
        sequence
    }

    fn point(&self) -> Vec<f64> {
        // Half a last bit more, so that no point lies on a face of the cube.
        let place = |bits: u64| (bits as f64 + 0.5) / (1u64 << BITS) as f64;
        let digits = self.state.iter().zip(&self.shift);
        digits.map(|(state, shift)| place(state ^ shift)).collect()
    }
}

impl Iterator for Sobol {
    type Item = Vec<f64>;

    fn next(&mut self) -> Option<Vec<f64>> {
        // The point with number 0 is the origin, which is not a fair point unless it is shifted.
        if self.next > 0 || self.shift.iter().all(|s| *s == 0) {
            let number = self.next.max(1);
            let bit = number.trailing_zeros() as usize;
            for (state, directions) in self.state.iter_mut().zip(&self.directions) {
                *state ^= directions[bit.min(BITS - 1)];
            }
            self.next = number + 1;
        } else {
            self.next = 1;
        }
        Some(self.point())
    }
}

/// Direction numbers of one coordinate, from its polynomial's recurrence.
fn directions(polynomial: u64, coordinate: usize) -> [u64; BITS] {
    let degree = (63 - polynomial.leading_zeros()) as usize;
    let mut random = Random::new(0x50b0_1967, coordinate as u64);
    let mut m = [0u64; BITS];
    for i in 0..BITS {
        m[i] = if i < degree {
            // Odd and below 2^(i+1).
            2 * (random.bits() & ((1 << i) - 1)) + 1
        } else {
            let mut value = m[i - degree] ^ (m[i - degree] << degree);
            for k in 1..degree {
                if polynomial >> (degree - k) & 1 == 1 {
                    value ^= m[i - k] << k;
                }
            }
            value
        };
    }
    std::array::from_fn(|i| m[i] << (BITS - 1 - i))
}

/// Primitive polynomials as bits, by rising degree.
fn primitive_polynomials() -> impl Iterator<Item = u64> {
    (1..=24).flat_map(|degree: u32| {
        let candidates = (1u64 << degree | 1..1u64 << (degree + 1)).step_by(2);
        candidates.filter(move |p| is_primitive(*p, degree))
    })
}

/// Tells whether x generates all 2^d − 1 residues: x^((2^d−1)/p) ≠ 1 for every prime p of that number.
fn is_primitive(polynomial: u64, degree: u32) -> bool {
    let order = (1u64 << degree) - 1;
    let power = |exponent: u64| {
        let (mut result, mut base, mut e) = (1u64, 2u64, exponent);
        if degree == 1 {
            base = 1;
        }
        while e > 0 {
            if e & 1 == 1 {
                result = product(result, base, polynomial, degree);
            }
            base = product(base, base, polynomial, degree);
            e >>= 1;
        }
        result
    };
    power(order) == 1
        && primes(order)
            .into_iter()
            .all(|p| order == p || power(order / p) != 1)
}

fn product(a: u64, b: u64, polynomial: u64, degree: u32) -> u64 {
    let (mut a, mut b, mut result) = (a, b, 0);
    while b > 0 {
        if b & 1 == 1 {
            result ^= a;
        }
        b >>= 1;
        a <<= 1;
        if a >> degree & 1 == 1 {
            a ^= polynomial;
        }
    }
    result
}

fn primes(mut n: u64) -> Vec<u64> {
    let mut found = Vec::new();
    let mut p = 2;
    while p * p <= n {
        if n.is_multiple_of(p) {
            found.push(p);
            while n.is_multiple_of(p) {
                n /= p;
            }
        }
        p += 1;
    }
    if n > 1 {
        found.push(n);
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_are_as_many_primitive_polynomials_as_eulers_function_says() {
        // φ(2^d − 1)/d (Knuth, TAOCP 2, §3.2.2)
        for (degree, count) in [
            (1, 1),
            (2, 1),
            (3, 2),
            (4, 2),
            (5, 6),
            (6, 6),
            (7, 18),
            (8, 16),
        ] {
            let found = primitive_polynomials();
            let of_degree = found.take(60).filter(|p| p.ilog2() == degree).count();
            assert_eq!(of_degree, count, "degree {degree}");
        }
    }

    #[test]
    fn every_coordinate_has_one_point_in_every_layer() {
        for n_coordinates in [1, 2, 7, 40] {
            let shifted = Sobol::shifted(n_coordinates, &mut Random::new(8, 1));
            let points: Vec<Vec<f64>> = shifted.take(256).collect();
            for k in 0..n_coordinates {
                let mut layers: Vec<usize> =
                    points.iter().map(|p| (p[k] * 256.0) as usize).collect();
                layers.sort_unstable();
                assert_eq!(layers, (0..256).collect::<Vec<_>>(), "coordinate {k}");
            }
        }
    }

    #[test]
    fn an_integral_is_found_far_better_than_by_chance() {
        // ∫ Π (1 + (x_k − ½)/3) = 1 over six coordinates; 4096 random points err by 0.003.
        let f = |x: &Vec<f64>| x.iter().map(|x| 1.0 + (x - 0.5) / 3.0).product::<f64>();
        let mean = Sobol::new(6).take(4095).map(|x| f(&x)).sum::<f64>() / 4095.0;
        assert!((mean - 1.0).abs() < 3e-4, "{mean}");
    }
}
