//! Switches that a straight line of time decides on.
//!
//! In:  slope · t + offset, and how large the terms of the offset are.
//! Out: the mode that holds from an instant on, the one at the very instant, and the next instant at which it changes.
//!
//! **Invariant:** instants are compared, never values near zero: at the instant that [`TimeLine::next_change`] announces
//! [`TimeLine::mode`] gives another mode.

use crate::events::{mode_at, truth_on_side};
use crate::image::SwitchKind;

/// Roundings by which values or instants may differ and still be the same: slope, offset and their quotient are a few
/// operations away from the text.
const ROUNDINGS: f64 = 8.0;

/// slope · t + offset, with the size of the terms that the offset is made of.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TimeLine {
    pub slope: f64,
    pub offset: f64,
    pub size: f64,
}

impl TimeLine {
    /// The instant at which it is at `level`.
    fn instant(&self, level: f64) -> f64 {
        (level - self.offset) / self.slope
    }

    /// Tells whether the instant of a level has come. A line that another switch has moved to its threshold at t itself
    /// crosses within some roundings of t, and of the terms that cancel there: that is now, or a switch would go there
    /// and back.
    fn has_reached(&self, level: f64, t: f64) -> bool {
        let at = self.instant(level);
        let size = at.abs() + (self.size + level.abs()) / self.slope.abs();
        let rounding = ROUNDINGS * f64::EPSILON * size;
        t >= at - if rounding.is_finite() { rounding } else { 0.0 }
    }

    /// The mode that holds from t on, by comparing instants: never by a value near zero.
    pub(crate) fn mode(&self, kind: SwitchKind, t: f64) -> f64 {
        let (slope, offset) = (self.slope, self.offset);
        if slope == 0.0 || !slope.is_finite() || !offset.is_finite() {
            return mode_at(kind, slope * t + offset, None);
        }
        match kind {
            SwitchKind::Relation(comparison) => {
                truth_on_side(comparison, self.has_reached(0.0, t) == (slope > 0.0))
            }
            SwitchKind::Sign if self.has_reached(0.0, t) == (slope > 0.0) => 1.0,
            SwitchKind::Sign => -1.0,
            SwitchKind::Floor => self.whole_number(t),
        }
    }

    /// The mode at the very instant t, by the value there: at t = 0, `time > 0` does not hold yet.
    pub(crate) fn mode_at_instant(&self, kind: SwitchKind, t: f64) -> f64 {
        let value = self.slope * t + self.offset;
        let rounding = ROUNDINGS * f64::EPSILON * ((self.slope * t).abs() + self.size);
        let bound = match kind {
            SwitchKind::Relation(_) | SwitchKind::Sign => 0.0,
            SwitchKind::Floor => value.round(),
        };
        let is_on_bound = (value - bound).abs() <= rounding;
        mode_at(kind, if is_on_bound { bound } else { value }, None)
    }

    fn whole_number(&self, t: f64) -> f64 {
        let mut m = (self.slope * t + self.offset).floor();
        // Beyond 2⁵³ there are no neighbours to tell apart.
        if m.abs() > 9e15 {
            return m;
        }
        if self.slope > 0.0 {
            while self.has_reached(m + 1.0, t) {
                m += 1.0;
            }
            while !self.has_reached(m, t) {
                m -= 1.0;
            }
        } else {
            // A falling line leaves m at the instant at which it reaches it.
            while self.has_reached(m, t) {
                m -= 1.0;
            }
            while !self.has_reached(m + 1.0, t) {
                m += 1.0;
            }
        }
        m
    }

    /// The next instant after t at which a mode changes that is `held` now.
    pub(crate) fn next_change(&self, kind: SwitchKind, held: f64, t: f64) -> Option<f64> {
        if self.slope == 0.0 || !self.slope.is_finite() || !self.offset.is_finite() {
            return None;
        }
        let at = match kind {
            SwitchKind::Relation(_) | SwitchKind::Sign => self.instant(0.0),
            SwitchKind::Floor if self.slope > 0.0 => self.instant(held + 1.0),
            SwitchKind::Floor => self.instant(held),
        };
        (at > t).then_some(at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use paynter_symbolic::expr::Comparison;

    fn line(slope: f64, offset: f64) -> TimeLine {
        TimeLine {
            slope,
            offset,
            size: offset.abs(),
        }
    }

    #[test]
    fn a_floor_of_time_changes_at_the_very_instant_announced() {
        // f = 1/3 Hz has no exact slope: comparing values instead of instants would miss ticks.
        let line = line(1.0 / 3.0, 0.0);
        let mut m = line.mode(SwitchKind::Floor, 0.0);
        assert_eq!(m, 0.0);
        for _ in 0..10_000 {
            let at = line.instant(m + 1.0);
            let next = line.mode(SwitchKind::Floor, at);
            assert_eq!(next, m + 1.0);
            m = next;
        }
    }

    #[test]
    fn at_the_very_instant_a_line_on_its_bound_is_on_neither_side() {
        use Comparison::{Greater, GreaterEqual};
        let zero = line(1.0, -0.3);
        assert_eq!(
            zero.mode_at_instant(SwitchKind::Relation(Greater), 0.3),
            0.0
        );
        assert_eq!(
            zero.mode_at_instant(SwitchKind::Relation(GreaterEqual), 0.3),
            1.0
        );
        assert_eq!(zero.mode_at_instant(SwitchKind::Sign, 0.3), 0.0);
        assert_eq!(
            line(-10.0, 0.0).mode_at_instant(SwitchKind::Floor, 0.3),
            -3.0
        );
        assert_eq!(line(-10.0, 0.0).mode(SwitchKind::Floor, 0.3), -4.0);
    }

    #[test]
    fn relations_hold_on_their_own_side() {
        use Comparison::{Greater, Less};
        assert_eq!(line(1.0, -0.1).mode(SwitchKind::Relation(Less), 0.1), 0.0);
        assert_eq!(line(1.0, -0.1).mode(SwitchKind::Relation(Less), 0.0), 1.0);
        assert_eq!(
            line(-1.0, 0.1).mode(SwitchKind::Relation(Greater), 0.1),
            0.0
        );
    }
}
