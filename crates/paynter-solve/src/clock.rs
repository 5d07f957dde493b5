//! Clocks that tick at exact rational times.
//!
//! In:  periods and phases as fractions of integers, e.g. 1/6000 s and 1/1200 s.
//! Out: the next instant at which any clock ticks, and which clocks tick there.
//!
//! **Invariant:** tick `k` of a clock is at `phase + k · period`, computed as a fraction and
//! rounded to a floating-point number once. Whether two clocks tick together is decided by
//! the fractions, never by the rounded numbers, so a million ticks later they still agree.

/// A non-negative fraction of integers, in lowest terms.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Rational {
    numerator: u64,
    denominator: u64,
}

impl Rational {
    /// Builds `numerator / denominator`; `None` if the denominator is 0.
    pub fn new(numerator: u64, denominator: u64) -> Option<Self> {
        if denominator == 0 {
            return None;
        }
        let divisor = gcd(numerator, denominator);
        Some(Self {
            numerator: numerator / divisor,
            denominator: denominator / divisor,
        })
    }

    /// Finds the fraction of smallest denominator that rounds to `value`, as a user who
    /// writes `1/6000` or `0.1` meant it; `None` if `value` is negative, not finite, or no
    /// fraction of moderate size does.
    ///
    /// ```
    /// use paynter_solve::Rational;
    /// let period = Rational::from_f64(1.0 / 6000.0).unwrap();
    /// assert_eq!((period.numerator(), period.denominator()), (1, 6000));
    /// ```
    pub fn from_f64(value: f64) -> Option<Self> {
        if !value.is_finite() || value < 0.0 {
            return None;
        }
        // Continued fraction; each convergent is the best of its size. 2³² keeps sums of
        // two such fractions exact in the arithmetic below.
        const LIMIT: f64 = 4_294_967_296.0;
        let (mut before, mut last) = ((0.0, 1.0), (1.0, 0.0));
        let mut rest = value;
        for _ in 0..64 {
            let whole = rest.floor();
            let next = (whole * last.0 + before.0, whole * last.1 + before.1);
            if next.0 > LIMIT || next.1 > LIMIT {
                return None;
            }
            if next.0 / next.1 == value {
                return Self::new(next.0 as u64, next.1 as u64);
            }
            (before, last) = (last, next);
            rest = 1.0 / (rest - whole);
            if !rest.is_finite() {
                return None;
            }
        }
        None
    }

    /// Numerator, in lowest terms.
    pub fn numerator(self) -> u64 {
        self.numerator
    }

    /// Denominator, in lowest terms.
    pub fn denominator(self) -> u64 {
        self.denominator
    }
}

/// A clock that ticks at `phase + k · period` for `k = 0, 1, 2, …`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Clock {
    period: Rational,
    phase: Rational,
    /// Denominator common to period and phase; both as multiples of its inverse.
    denominator: u64,
    period_units: u64,
    phase_units: u64,
}

impl Clock {
    /// Builds a clock; `None` if the period is 0 or the fractions are too unlike to be
    /// written over one denominator of 64 bits.
    pub fn new(period: Rational, phase: Rational) -> Option<Self> {
        if period.numerator == 0 {
            return None;
        }
        let divisor = gcd(period.denominator, phase.denominator);
        let denominator = period
            .denominator
            .checked_mul(phase.denominator / divisor)?;
        let units = |r: Rational| r.numerator.checked_mul(denominator / r.denominator);
        Some(Self {
            period,
            phase,
            denominator,
            period_units: units(period)?,
            phase_units: units(phase)?,
        })
    }

    /// Builds a clock of so many ticks per second, the first at 0; `None` for 0 ticks.
    pub fn per_second(ticks: u64) -> Option<Self> {
        Self::new(Rational::new(1, ticks)?, Rational::new(0, 1)?)
    }

    /// Time between ticks.
    pub fn period(self) -> Rational {
        self.period
    }

    /// Time of the first tick.
    pub fn phase(self) -> Rational {
        self.phase
    }

    /// Time of tick `k`, rounded once.
    pub fn tick(self, k: u64) -> f64 {
        round_fraction(self.tick_units(k), self.denominator)
    }

    /// First tick strictly after `t`.
    pub fn first_tick_after(self, t: f64) -> u64 {
        if t < self.tick(0) {
            return 0;
        }
        let period = self.period_units as f64 / self.denominator as f64;
        let phase = self.phase_units as f64 / self.denominator as f64;
        let guess = ((t - phase) / period).floor().max(0.0) as u64;
        // The quotient is good to a few units in its last place.
        let mut k = guess.saturating_sub(1 + guess / (1 << 50));
        while self.tick(k) <= t {
            k += 1;
        }
        k
    }

    /// Tick `k` as a multiple of the inverse denominator.
    fn tick_units(self, k: u64) -> u128 {
        u128::from(self.phase_units) + u128::from(k) * u128::from(self.period_units)
    }
}

/// Several clocks, merged into one sequence of instants.
#[derive(Clone, Debug)]
pub struct Clocks {
    clocks: Vec<Clock>,
    /// Number of the next tick of each clock.
    next: Vec<u64>,
    ticking: Vec<usize>,
}

impl Clocks {
    /// Merges `clocks`, from the first ticks strictly after `t` on.
    pub fn new(clocks: Vec<Clock>, t: f64) -> Self {
        let next = clocks
            .iter()
            .map(|clock| clock.first_tick_after(t))
            .collect();
        Self {
            ticking: Vec::with_capacity(clocks.len()),
            clocks,
            next,
        }
    }

    /// Time of the next instant; `None` without clocks.
    pub fn next_time(&self) -> Option<f64> {
        let earliest = self.earliest()?;
        Some(self.clocks[earliest].tick(self.next[earliest]))
    }

    /// Number of the next tick of one clock.
    pub fn next_tick(&self, clock: usize) -> u64 {
        self.next[clock]
    }

    /// Goes over the next instant; returns the clocks that tick at it, in order.
    pub fn advance(&mut self) -> &[usize] {
        self.ticking.clear();
        let Some(earliest) = self.earliest() else {
            return &self.ticking;
        };
        let now = (
            self.clocks[earliest].tick_units(self.next[earliest]),
            self.clocks[earliest].denominator,
        );
        for (index, clock) in self.clocks.iter().enumerate() {
            let tick = (clock.tick_units(self.next[index]), clock.denominator);
            if compare_fractions(tick, now).is_eq() {
                self.next[index] += 1;
                self.ticking.push(index);
            }
        }
        &self.ticking
    }

    fn earliest(&self) -> Option<usize> {
        let tick = |index: usize| {
            let clock = self.clocks[index];
            (clock.tick_units(self.next[index]), clock.denominator)
        };
        (0..self.clocks.len()).min_by(|&a, &b| compare_fractions(tick(a), tick(b)))
    }
}

fn gcd(mut a: u64, mut b: u64) -> u64 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a.max(1)
}

/// Compares `a.0 / a.1` with `b.0 / b.1` exactly: whole parts first, then remainders, whose
/// products fit into 128 bits.
fn compare_fractions(a: (u128, u64), b: (u128, u64)) -> std::cmp::Ordering {
    let (a_denominator, b_denominator) = (u128::from(a.1), u128::from(b.1));
    let whole = (a.0 / a_denominator).cmp(&(b.0 / b_denominator));
    whole.then_with(|| {
        let a_rest = (a.0 % a_denominator) * b_denominator;
        let b_rest = (b.0 % b_denominator) * a_denominator;
        a_rest.cmp(&b_rest)
    })
}

/// Rounds a fraction to the nearest floating-point number, ties to even, once.
fn round_fraction(numerator: u128, denominator: u64) -> f64 {
    if numerator == 0 {
        return 0.0;
    }
    let denominator = u128::from(denominator);
    // Scale so that the quotient has 54 to 64 significant bits, then let the remainder decide
    // what lies below them.
    let shift =
        56 + numerator.leading_zeros().cast_signed() - denominator.leading_zeros().cast_signed();
    // Either shift leaves at most 56 + 64 bits.
    let (scaled, divisor) = if shift >= 0 {
        (numerator << shift, denominator)
    } else {
        (numerator, denominator << -shift)
    };
    let quotient = scaled / divisor;
    let has_rest = scaled % divisor != 0;
    // A sticky last bit stands for everything below; the quotient has at least 55 bits, so
    // it never is the bit that ties.
    let sticky = (quotient << 1) | u128::from(has_rest);
    sticky as f64 * (-(f64::from(shift) + 1.0)).exp2()
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn two_clocks_agree_after_a_million_ticks() {
        let fast = Clock::per_second(6000).unwrap();
        let slow = Clock::per_second(1200).unwrap();
        let mut clocks = Clocks::new(vec![fast, slow], 0.0);
        let (mut fast_ticks, mut slow_ticks, mut instants) = (0_u64, 0_u64, 0_u64);
        let mut last = 0.0;
        while fast_ticks < 1_000_000 {
            let t = clocks.next_time().unwrap();
            assert!(t > last);
            last = t;
            instants += 1;
            let ticking = clocks.advance();
            let is_slow = ticking.contains(&1);
            assert!(ticking.contains(&0), "every slow tick is a fast one");
            fast_ticks += 1;
            assert_eq!(is_slow, fast_ticks.is_multiple_of(5));
            slow_ticks += u64::from(is_slow);
            assert_eq!(t, fast_ticks as f64 / 6000.0);
        }
        assert_eq!((instants, slow_ticks), (1_000_000, 200_000));
    }

    #[test]
    fn clocks_without_common_ticks_interleave() {
        let a = Clock::new(Rational::new(1, 3).unwrap(), Rational::new(0, 1).unwrap()).unwrap();
        let b = Clock::new(Rational::new(1, 2).unwrap(), Rational::new(1, 7).unwrap()).unwrap();
        let mut clocks = Clocks::new(vec![a, b], -1.0);
        let mut sequence = Vec::new();
        for _ in 0..5 {
            let t = clocks.next_time().unwrap();
            sequence.push((t, clocks.advance().to_vec()));
        }
        let expected = [
            (0.0, vec![0]),
            (1.0 / 7.0, vec![1]),
            (1.0 / 3.0, vec![0]),
            (9.0 / 14.0, vec![1]),
            (2.0 / 3.0, vec![0]),
        ];
        assert_eq!(sequence, expected);
    }

    #[test]
    fn the_first_tick_is_strictly_later() {
        let clock = Clock::per_second(6000).unwrap();
        assert_eq!(clock.first_tick_after(-1.0), 0);
        assert_eq!(clock.first_tick_after(0.0), 1);
        for k in (0..10_000_000).step_by(9973) {
            assert_eq!(clock.first_tick_after(clock.tick(k)), k + 1);
            assert_eq!(clock.first_tick_after(clock.tick(k).next_down()), k);
        }
    }

    #[test]
    fn periods_written_as_decimals_become_the_fractions_that_were_meant() {
        for (value, fraction) in [(0.1, (1, 10)), (1e-3, (1, 1000)), (2.5, (5, 2))] {
            let found = Rational::from_f64(value).unwrap();
            assert_eq!((found.numerator(), found.denominator()), fraction);
        }
        assert_eq!(Rational::from_f64(f64::NAN), None);
        assert_eq!(Rational::from_f64(-1.0), None);
    }

    proptest! {
        #[test]
        fn fractions_are_rounded_as_division_rounds(a in 0_u64..1 << 53, b in 1_u64..1 << 53) {
            prop_assert_eq!(round_fraction(u128::from(a), b), a as f64 / b as f64);
        }

        #[test]
        fn fractions_survive_the_way_through_floating_point(a in 1_u64..1_000_000, b in 1_u64..1_000_000) {
            let fraction = Rational::new(a, b).unwrap();
            let value = a as f64 / b as f64;
            prop_assert_eq!(Rational::from_f64(value), Some(fraction));
        }
    }
}
