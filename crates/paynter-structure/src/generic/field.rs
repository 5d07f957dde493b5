//! Numbers modulo the prime p = 2⁶¹ − 1: exact arithmetic in which a generic rank is a rank.
//!
//! A polynomial in the parameters of a model that is not zero for all values is zero at a random point
//! of this field with a chance of its degree over 2·10¹⁸ (Schwartz, Zippel). So what vanishes here
//! vanishes for all values, and no tolerance is needed to tell.
//!
//! **Invariant:** a [`Number`] is below p.

use std::ops::{Add, Mul, Neg, Sub};

const P: u64 = (1 << 61) - 1;

/// A number modulo p.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Number(u64);

impl Number {
    /// 0
    pub const ZERO: Number = Number(0);
    /// 1
    pub const ONE: Number = Number(1);

    /// Gives a double exactly: its mantissa times a power of two. None for infinity and NaN.
    pub fn exact(x: f64) -> Option<Number> {
        if !x.is_finite() {
            return None;
        }
        let bits = x.to_bits();
        let exponent = ((bits >> 52) & 0x7ff) as i64;
        let fraction = bits & ((1 << 52) - 1);
        let (mantissa, exponent) = match exponent {
            0 => (fraction, -1074),
            e => (fraction | (1 << 52), e - 1075),
        };
        // 2⁶¹ = 1 modulo p.
        let size = Number(mantissa % P) * Number(1 << exponent.rem_euclid(61));
        Some(if x < 0.0 { -size } else { size })
    }

    /// Gives a number that looks random and is the same for the same two keys; never 0.
    pub fn random(kind: u64, key: u64) -> Number {
        // SplitMix64 (Steele, Lea & Flood 2014), twice.
        let mix = |mut z: u64| {
            z = z.wrapping_add(0x9e37_79b9_7f4a_7c15);
            z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            z ^ (z >> 31)
        };
        Number(mix(mix(kind).wrapping_add(key)) % (P - 1) + 1)
    }

    /// Tells whether it is 0.
    pub fn is_zero(self) -> bool {
        self.0 == 0
    }

    /// Gives 1/x; none for 0.
    pub fn inverse(self) -> Option<Number> {
        (!self.is_zero()).then(|| self.power(P - 2))
    }

    /// Gives xⁿ.
    pub fn power(self, mut n: u64) -> Number {
        let (mut base, mut result) = (self, Number::ONE);
        while n > 0 {
            if n & 1 == 1 {
                result = result * base;
            }
            base = base * base;
            n >>= 1;
        }
        result
    }
}

impl Add for Number {
    type Output = Number;
    fn add(self, other: Number) -> Number {
        let sum = self.0 + other.0;
        Number(if sum >= P { sum - P } else { sum })
    }
}

impl Sub for Number {
    type Output = Number;
    fn sub(self, other: Number) -> Number {
        self + -other
    }
}

impl Neg for Number {
    type Output = Number;
    fn neg(self) -> Number {
        Number(if self.0 == 0 { 0 } else { P - self.0 })
    }
}

impl Mul for Number {
    type Output = Number;
    fn mul(self, other: Number) -> Number {
        let product = u128::from(self.0) * u128::from(other.0);
        // product = high 2⁶¹ + low, and 2⁶¹ = 1.
        let (low, high) = ((product as u64) & P, (product >> 61) as u64);
        let sum = low + high;
        Number(if sum >= P { sum - P } else { sum })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn halves_and_tenths_are_what_they_are_in_binary() {
        let number = |x| Number::exact(x).expect("finite");
        assert_eq!(number(0.5) + number(0.5), Number::ONE);
        assert_eq!(number(-3.0) + number(3.0), Number::ZERO);
        assert_eq!(number(0.1) * number(4.0), number(0.4));
        assert_eq!(
            number(1e300) * number(1e300).inverse().expect("not 0"),
            Number::ONE
        );
        assert_eq!(
            number(f64::MIN_POSITIVE / 4.0) * number(4.0),
            number(f64::MIN_POSITIVE)
        );
        assert_eq!(Number::exact(f64::NAN), None);
    }

    #[test]
    fn every_number_but_zero_has_an_inverse() {
        for key in 0..1000 {
            let x = Number::random(1, key);
            assert_eq!(x * x.inverse().expect("never 0"), Number::ONE);
        }
        assert_eq!(Number::ZERO.inverse(), None);
    }
}
