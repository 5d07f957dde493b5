//! Sine and cosine by additions and multiplications alone.
//!
//! In:  an angle.
//! Out: its sine or cosine, within one unit in the last place.
//!
//! The functions of the C library differ from machine to machine in the last digit, and cost a call each. These give
//! the same bits everywhere, and machine code can write them out for two angles at once: it takes its numbers from
//! here and its order of operations from [`sin`], so it gives these very bits as well.
//!
//! The multiple of π/2 nearest to the angle is taken off in three parts (Cody & Waite, *Software Manual for the
//! Elementary Functions*, 1980); what is left, at most π/4, goes into polynomials of least largest error, found by
//! Remez' exchange. Angles of [`LARGEST`] and more go to the C library.
//!
//! **Invariant:** no fused multiply-add, no branch below [`LARGEST`].

/// Angles below this are computed here, rad: less than 2²⁰ quarter turns, so that their products with the first two
/// parts of π/2 are exact.
pub const LARGEST: f64 = 1e6;

/// 2/π.
pub const QUARTERS_PER_RADIAN: f64 = std::f64::consts::FRAC_2_PI;

/// Adding this and taking it off again rounds to a whole number, whose last bits are then those of the sum.
pub const ROUNDER: f64 = 6_755_399_441_055_744.0;

/// π/2 in three parts; the first two have 33 bits each.
pub const QUARTER: [f64; 3] = [
    1.5707963267341256,
    6.077100506303966e-11,
    2.0222662487959506e-21,
];

/// (sin r − r) / r³ as a polynomial in r², to 3.5e-18 of sin r.
pub const SINE: [f64; 6] = [
    -0.16666666666666632,
    0.008333333333322403,
    -0.00019841269829798654,
    2.755731368860649e-6,
    -2.5050757576898397e-8,
    1.5896763363134004e-10,
];

/// (cos r − 1 + r²/2) / r⁴ as a polynomial in r², to 5e-20.
pub const COSINE: [f64; 6] = [
    0.0416666666666666,
    -0.001388888888887411,
    2.4801587289472525e-5,
    -2.7557314349418464e-7,
    2.0875722861261843e-9,
    -1.135962569943083e-11,
];

/// Gives the sine.
pub fn sin(angle: f64) -> f64 {
    if angle.abs() < LARGEST {
        Turned::new(angle).sine_after(0)
    } else {
        angle.sin()
    }
}

/// Gives the cosine.
pub fn cos(angle: f64) -> f64 {
    if angle.abs() < LARGEST {
        Turned::new(angle).sine_after(1)
    } else {
        angle.cos()
    }
}

/// Gives both, with the bits of each alone.
pub fn sin_cos(angle: f64) -> (f64, f64) {
    if angle.abs() < LARGEST {
        let turned = Turned::new(angle);
        (turned.sine_after(0), turned.sine_after(1))
    } else {
        (angle.sin(), angle.cos())
    }
}

/// An angle turned back by quarters into −π/4 … π/4.
struct Turned {
    /// A number whose last two bits count the quarters.
    quarters: u64,
    sine: f64,
    cosine: f64,
}

impl Turned {
    #[inline(always)]
    fn new(angle: f64) -> Self {
        let sum = angle * QUARTERS_PER_RADIAN + ROUNDER;
        let n = sum - ROUNDER;
        // What is left is `r`, and `tail` for what its roundings and the third part make.
        let coarse = angle - n * QUARTER[0];
        let middle = n * QUARTER[1];
        let r = coarse - middle;
        let tail = ((coarse - r) - middle) - n * QUARTER[2];

        let z = r * r;
        let zz = z * z;
        let half = 0.5 * z;
        let near_one = 1.0 - half;
        let sine = r + ((z * r) * polynomial(SINE, z, zz) + tail * near_one);
        let cosine =
            near_one + (((1.0 - near_one) - half) + (zz * polynomial(COSINE, z, zz) - r * tail));
        Turned {
            quarters: sum.to_bits(),
            sine,
            cosine,
        }
    }

    /// The sine of the angle that so many quarters more would give.
    #[inline(always)]
    fn sine_after(&self, quarters: u64) -> f64 {
        let quarters = self.quarters.wrapping_add(quarters);
        let value = if quarters & 1 == 0 {
            self.sine
        } else {
            self.cosine
        };
        f64::from_bits(value.to_bits() ^ ((quarters & 2) << 62))
    }
}

/// The polynomial in `z`, by pairs: few operations wait for one another.
#[inline(always)]
fn polynomial(c: [f64; 6], z: f64, zz: f64) -> f64 {
    ((c[0] + c[1] * z) + zz * (c[2] + c[3] * z)) + (zz * zz) * (c[4] + c[5] * z)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Distance in units in the last place of the second.
    fn distance(x: f64, exact: f64) -> f64 {
        let unit = f64::from_bits(exact.abs().to_bits() + 1) - exact.abs();
        (x - exact).abs() / unit
    }

    /// Angles of many sizes, by a multiplicative walk.
    fn angles() -> impl Iterator<Item = f64> {
        let mut bits = 0x3ff0_0000_0000_0001_u64;
        (0..400_000).map(move |k| {
            bits = bits
                .wrapping_mul(0x5851_f42d_4c95_7f2d)
                .wrapping_add(0x1405_7b7e_f767_814f);
            let unit = (bits >> 11) as f64 / (1_u64 << 53) as f64 - 0.5;
            unit * 10f64.powi(k % 13 - 6)
        })
    }

    #[test]
    fn agrees_with_the_library_to_the_last_digit() {
        for angle in angles() {
            assert!(distance(sin(angle), angle.sin()) <= 1.0, "sin {angle:e}");
            assert!(distance(cos(angle), angle.cos()) <= 1.0, "cos {angle:e}");
            assert_eq!(sin_cos(angle), (sin(angle), cos(angle)));
        }
    }

    #[test]
    fn keeps_its_digits_beside_multiples_of_half_a_turn() {
        // There the sine is the distance to the multiple, of which the angle holds few digits.
        for k in 1..200_000 {
            let angle = f64::from(k) * std::f64::consts::FRAC_PI_2;
            for angle in [angle, angle.next_up(), angle.next_down()] {
                assert!(distance(sin(angle), angle.sin()) <= 1.0, "sin {angle:e}");
                assert!(distance(cos(angle), angle.cos()) <= 1.0, "cos {angle:e}");
            }
        }
    }

    #[test]
    fn squares_add_up_to_one_and_symmetries_hold() {
        for angle in angles() {
            let (s, c) = sin_cos(angle);
            assert!((s * s + c * c - 1.0).abs() < 4e-16, "{angle:e}");
            assert_eq!(sin(-angle), -s, "{angle:e}");
            assert_eq!(cos(-angle), c, "{angle:e}");
        }
    }

    #[test]
    fn ends_of_the_range() {
        assert_eq!(sin(0.0), 0.0);
        assert_eq!(cos(0.0), 1.0);
        assert!(sin(f64::INFINITY).is_nan() && cos(f64::NAN).is_nan());
        for angle in [LARGEST, -LARGEST, 1e22, f64::MAX] {
            assert_eq!(sin(angle), angle.sin());
            assert_eq!(cos(angle), angle.cos());
        }
        for tiny in [f64::MIN_POSITIVE, 5e-324, 1e-160] {
            assert_eq!((sin(tiny), cos(tiny)), (tiny, 1.0));
        }
    }
}
