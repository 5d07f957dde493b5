//! Numbers known to lie between two bounds, and functions of time known with two derivatives.
//!
//! In:  bounds.
//! Out: bounds of the result of an operation for all numbers between the given ones, roundings included
//!      (Moore, *Interval Analysis*, 1966).
//!
//! **Invariant:** `lo ≤ hi`, never NaN: what has no value somewhere in the range is [`Interval::ENTIRE`].

use paynter_symbolic::expr::Function1;

/// All numbers from `lo` to `hi`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Interval {
    pub lo: f64,
    pub hi: f64,
}

/// Library functions are right to this many units in the last place, to be safe.
const FUNCTION_ULPS: f64 = 4.0;

impl Interval {
    pub(crate) const ENTIRE: Self = Interval {
        lo: f64::NEG_INFINITY,
        hi: f64::INFINITY,
    };
    pub(crate) const ZERO: Self = Interval::point(0.0);

    pub(crate) const fn point(x: f64) -> Self {
        Interval { lo: x, hi: x }
    }

    /// Bounds as they are; whatever is not a pair of bounds is everything.
    pub(crate) fn new(lo: f64, hi: f64) -> Self {
        if lo <= hi {
            Interval { lo, hi }
        } else {
            Self::ENTIRE
        }
    }

    /// Bounds that were rounded once: one unit farther out holds the true ones. Zero stays: what is never negative
    /// must not become so by less than any number that matters.
    fn rounded(lo: f64, hi: f64) -> Self {
        let lo = if lo == 0.0 { 0.0 } else { lo.next_down() };
        let hi = if hi == 0.0 { 0.0 } else { hi.next_up() };
        Self::new(lo, hi)
    }

    /// Bounds from a library function.
    fn of_function(lo: f64, hi: f64) -> Self {
        let margin = |x: f64| match x.is_infinite() {
            true => 0.0,
            false => FUNCTION_ULPS * f64::EPSILON * x.abs() + f64::MIN_POSITIVE,
        };
        Self::new(lo - margin(lo), hi + margin(hi))
    }

    pub(crate) fn is_zero(self) -> bool {
        self.lo == 0.0 && self.hi == 0.0
    }

    pub(crate) fn is_positive(self) -> bool {
        self.lo > 0.0
    }

    pub(crate) fn is_negative(self) -> bool {
        self.hi < 0.0
    }

    /// Tells whether all numbers have one sign, zero excluded.
    pub(crate) fn has_sign(self) -> bool {
        self.is_positive() || self.is_negative()
    }

    /// Tells whether no two numbers have different signs.
    pub(crate) fn keeps_sign(self) -> bool {
        self.lo >= 0.0 || self.hi <= 0.0
    }

    /// The same without what is below zero, which cannot be.
    pub(crate) fn not_negative(self) -> Self {
        Interval::new(self.lo.max(0.0), self.hi.max(0.0))
    }

    pub(crate) fn contains(self, x: f64) -> bool {
        self.lo <= x && x <= self.hi
    }

    /// Tells whether all of another range lies inside.
    pub(crate) fn holds(self, other: Self) -> bool {
        self.lo <= other.lo && other.hi <= self.hi
    }

    pub(crate) fn width(self) -> f64 {
        self.hi - self.lo
    }

    pub(crate) fn middle(self) -> f64 {
        0.5 * self.lo + 0.5 * self.hi
    }

    pub(crate) fn hull(self, other: Self) -> Self {
        Self::new(self.lo.min(other.lo), self.hi.max(other.hi))
    }

    /// What both allow; the first where they contradict each other by rounding.
    pub(crate) fn meet(self, other: Self) -> Self {
        let (lo, hi) = (self.lo.max(other.lo), self.hi.min(other.hi));
        if lo <= hi { Interval { lo, hi } } else { self }
    }

    pub(crate) fn neg(self) -> Self {
        Interval {
            lo: -self.hi,
            hi: -self.lo,
        }
    }

    pub(crate) fn add(self, other: Self) -> Self {
        if self.is_zero() {
            return other;
        }
        if other.is_zero() {
            return self;
        }
        Self::rounded(self.lo + other.lo, self.hi + other.hi)
    }

    pub(crate) fn sub(self, other: Self) -> Self {
        self.add(other.neg())
    }

    pub(crate) fn mul(self, other: Self) -> Self {
        if self.is_zero() || other.is_zero() {
            return Self::ZERO;
        }
        // 0 · ∞ bounds nothing but itself: the factor that is zero is so exactly.
        let product = |a: f64, b: f64| if a == 0.0 || b == 0.0 { 0.0 } else { a * b };
        let ends = [
            product(self.lo, other.lo),
            product(self.lo, other.hi),
            product(self.hi, other.lo),
            product(self.hi, other.hi),
        ];
        Self::rounded(smallest(ends), largest(ends))
    }

    pub(crate) fn scale(self, factor: f64) -> Self {
        self.mul(Self::point(factor))
    }

    pub(crate) fn div(self, other: Self) -> Self {
        if other.contains(0.0) {
            return Self::ENTIRE;
        }
        if self.is_zero() {
            return Self::ZERO;
        }
        let ends = [
            self.lo / other.lo,
            self.lo / other.hi,
            self.hi / other.lo,
            self.hi / other.hi,
        ];
        if ends.iter().any(|x| x.is_nan()) {
            return Self::ENTIRE;
        }
        Self::rounded(smallest(ends), largest(ends))
    }

    pub(crate) fn square(self) -> Self {
        let (a, b) = (self.lo * self.lo, self.hi * self.hi);
        if self.contains(0.0) {
            Self::new(0.0, a.max(b).next_up())
        } else {
            Self::new(a.min(b).next_down().max(0.0), a.max(b).next_up())
        }
    }

    pub(crate) fn abs(self) -> Self {
        if self.lo >= 0.0 {
            self
        } else if self.hi <= 0.0 {
            self.neg()
        } else {
            Self::new(0.0, self.hi.max(-self.lo))
        }
    }

    /// A whole power.
    pub(crate) fn powi(self, n: i32) -> Self {
        if n < 0 {
            return Self::point(1.0).div(self.powi(-n));
        }
        let (a, b) = (self.lo.powi(n), self.hi.powi(n));
        let is_even = n % 2 == 0;
        // A power by repeated products is right to about one unit for each.
        let margin = |x: f64| 2.0 * f64::from(n) * f64::EPSILON * x.abs() + f64::MIN_POSITIVE;
        let wide = |lo: f64, hi: f64| Self::new(lo - margin(lo), hi + margin(hi));
        if n == 0 {
            Self::point(1.0)
        } else if !is_even {
            wide(a, b)
        } else if self.contains(0.0) {
            Self::new(0.0, wide(0.0, a.max(b)).hi)
        } else {
            wide(a.min(b), a.max(b))
        }
    }

    /// The range of a function that rises all along.
    pub(crate) fn rising(self, f: impl Fn(f64) -> f64) -> Self {
        let (lo, hi) = (f(self.lo), f(self.hi));
        if lo.is_nan() || hi.is_nan() {
            return Self::ENTIRE;
        }
        Self::of_function(lo, hi)
    }

    /// The range of a function that falls all along.
    pub(crate) fn falling(self, f: impl Fn(f64) -> f64) -> Self {
        self.rising(|x| -f(x)).neg()
    }

    pub(crate) fn sin(self) -> Self {
        self.wave(Function1::Sin, 0.25)
    }

    pub(crate) fn cos(self) -> Self {
        self.wave(Function1::Cos, 0.0)
    }

    /// A sine or cosine, whose first crest is at this part of a turn.
    fn wave(self, f: Function1, crest: f64) -> Self {
        // Beyond this many radians, neighbouring numbers are too far apart to say where in a turn they are.
        const FARTHEST: f64 = 1e14;
        let turn = std::f64::consts::TAU;
        let whole = Interval { lo: -1.0, hi: 1.0 };
        if !(self.lo >= -FARTHEST && self.hi <= FARTHEST) || self.width() >= turn {
            return whole;
        }
        let has = |at: f64| {
            // Roundings of the quotient count for "inside".
            let (lo, hi) = (self.lo / turn - at, self.hi / turn - at);
            let slack = 4.0 * f64::EPSILON * (1.0 + lo.abs().max(hi.abs()));
            (hi + slack).floor() >= (lo - slack).ceil()
        };
        let (a, b) = (f.eval(self.lo), f.eval(self.hi));
        let ends = Self::of_function(a.min(b), a.max(b));
        Interval {
            lo: if has(crest + 0.5) {
                -1.0
            } else {
                ends.lo.max(-1.0)
            },
            hi: if has(crest) { 1.0 } else { ends.hi.min(1.0) },
        }
    }
}

fn smallest(x: [f64; 4]) -> f64 {
    x[0].min(x[1]).min(x[2].min(x[3]))
}

fn largest(x: [f64; 4]) -> f64 {
    x[0].max(x[1]).max(x[2].max(x[3]))
}

/// A function of time over a stretch: bounds of its value, of its slope and of its curvature there.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Jet {
    pub value: Interval,
    pub slope: Interval,
    pub curve: Interval,
}

impl Jet {
    pub(crate) const ENTIRE: Self = Jet {
        value: Interval::ENTIRE,
        slope: Interval::ENTIRE,
        curve: Interval::ENTIRE,
    };

    /// What does not change.
    pub(crate) fn constant(value: Interval) -> Self {
        Jet {
            value,
            slope: Interval::ZERO,
            curve: Interval::ZERO,
        }
    }

    /// What jumps somewhere in the stretch: of its slope nothing is known.
    pub(crate) fn jumping(value: Interval) -> Self {
        Jet {
            value,
            slope: Interval::ENTIRE,
            curve: Interval::ENTIRE,
        }
    }

    pub(crate) fn neg(self) -> Self {
        Jet {
            value: self.value.neg(),
            slope: self.slope.neg(),
            curve: self.curve.neg(),
        }
    }

    pub(crate) fn add(self, other: Self) -> Self {
        Jet {
            value: self.value.add(other.value),
            slope: self.slope.add(other.slope),
            curve: self.curve.add(other.curve),
        }
    }

    pub(crate) fn sub(self, other: Self) -> Self {
        self.add(other.neg())
    }

    pub(crate) fn mul(self, other: Self) -> Self {
        let (a, b) = (self, other);
        // (ab)″ = a″b + 2a′b′ + ab″
        let twice = a.slope.mul(b.slope).scale(2.0);
        let outer = a.curve.mul(b.value).add(a.value.mul(b.curve));
        Jet {
            value: a.value.mul(b.value),
            slope: a.slope.mul(b.value).add(a.value.mul(b.slope)),
            curve: outer.add(twice),
        }
    }

    pub(crate) fn div(self, other: Self) -> Self {
        let (a, b) = (self, other);
        // q = a/b: q′ = (a′ − q b′)/b, q″ = (a″ − 2 q′b′ − q b″)/b
        let value = a.value.div(b.value);
        let slope = a.slope.sub(value.mul(b.slope)).div(b.value);
        let inner = slope.mul(b.slope).scale(2.0).add(value.mul(b.curve));
        Jet {
            value,
            slope,
            curve: a.curve.sub(inner).div(b.value),
        }
    }

    /// f(a), from bounds of f, f′ and f″ over the values of a.
    pub(crate) fn chain(self, f: [Interval; 3]) -> Self {
        Jet {
            value: f[0],
            slope: f[1].mul(self.slope),
            curve: f[2].mul(self.slope.square()).add(f[1].mul(self.curve)),
        }
    }

    /// Either of two that meet without a jump, at a corner.
    pub(crate) fn corner(self, other: Self) -> Self {
        Jet {
            value: self.value.hull(other.value),
            slope: self.slope.hull(other.slope),
            curve: Interval::ENTIRE,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sine_of_a_range_holds_the_sine_of_every_number_in_it() {
        for k in 0..2000 {
            let lo = -20.0 + 0.0237 * f64::from(k);
            let width = 0.001 * f64::from(k % 97) * f64::from(k % 31);
            let range = Interval::new(lo, lo + width);
            let (sin, cos) = (range.sin(), range.cos());
            for part in 0..=50 {
                let x = (lo + width * f64::from(part) / 50.0).min(lo + width);
                assert!(
                    sin.contains(x.sin()) && cos.contains(x.cos()),
                    "{range:?} {x}"
                );
            }
        }
    }

    #[test]
    fn products_with_what_is_unbounded_stay_ranges() {
        let zero = Interval::ZERO;
        assert_eq!(zero.mul(Interval::ENTIRE), zero);
        let half = Interval::new(0.0, 1.0);
        assert_eq!(half.mul(Interval::ENTIRE), Interval::ENTIRE);
        assert_eq!(half.div(half), Interval::ENTIRE);
    }
}
