//! Ticks at exact fractions of a second.
//!
//! In:  a rate as a fraction.
//! Out: the time of tick k, rounded once from the exact value, so that ticks never drift and
//!      ticks of different clocks at one instant have equal times.

/// Ticks per second, and the number of the next tick.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Ticks {
    numerator: u64,
    denominator: u64,
    pub next: i64,
}

impl Ticks {
    pub(crate) fn new(rate: (u64, u64)) -> Self {
        Ticks {
            numerator: rate.0.max(1),
            denominator: rate.1.max(1),
            next: 0,
        }
    }

    /// Time of tick k: k · denominator / numerator, before zero as well.
    pub(crate) fn time(&self, k: i64) -> f64 {
        let after_zero = self.time_after_zero(k.unsigned_abs());
        if k < 0 { -after_zero } else { after_zero }
    }

    fn time_after_zero(&self, k: u64) -> f64 {
        let product = u128::from(k) * u128::from(self.denominator);
        let divisor = u128::from(self.numerator);
        let whole = product / divisor;
        let rest = product % divisor;
        if product < 1 << 53 && divisor < 1 << 53 {
            // Both are exact, so the quotient is rounded once.
            return product as f64 / divisor as f64;
        }
        // The rest is below one second: its error is far below the last digit of the whole.
        whole as f64 + rest as f64 / divisor as f64
    }

    /// Makes the first tick at or after t the next one.
    pub(crate) fn start(&mut self, t: f64) {
        let guess = t * self.numerator as f64 / self.denominator as f64;
        let mut k = (guess.floor() as i64).saturating_sub(1);
        while self.time(k) < t {
            k += 1;
        }
        self.next = k;
    }

    /// Time of the next tick.
    pub(crate) fn next_time(&self) -> f64 {
        self.time(self.next)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_million_ticks_do_not_drift_and_fractions_coincide() {
        let fast = Ticks::new((6000, 1));
        let slow = Ticks::new((1200, 1));
        assert_eq!(fast.time(1_000_000), 1_000_000.0 / 6000.0);
        for k in 0..100_000 {
            assert_eq!(fast.time(5 * k), slow.time(k));
        }
    }

    #[test]
    fn the_first_tick_is_at_or_after_the_start() {
        let mut ticks = Ticks::new((3, 10));
        ticks.start(0.0);
        assert_eq!((ticks.next, ticks.next_time()), (0, 0.0));
        ticks.start(7.0);
        assert_eq!(ticks.next_time(), 30.0 / 3.0);
        // A run may begin before zero.
        ticks.start(-7.0);
        assert_eq!((ticks.next, ticks.next_time()), (-2, -20.0 / 3.0));
    }
}
