//! Finds when a function of time leaves a range, ahead of the integration.
//!
//! In:  a [`Tape`], the range it is in, where to begin and where to end.
//! Out: the first instant at which it is beyond, to a few units in the last place; or up to where it surely stays.
//!
//! Branch and bound: a stretch over which the bounds stay inside holds no exit; where the slope has one sign, the end
//! decides; where the curvature has, the turning point and the end do; else the stretch is halved. A function that
//! only touches the bound, to rounding, has not left. The work is per exit, not per step of anything.
//!
//! **Invariant:** no exit before the instant returned is passed over.

use super::interval::{Interval, Jet};
use super::tape::Tape;

/// Outcome of a search.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Exit {
    /// It leaves at this instant.
    At(f64),
    /// It stays inside up to here; farther nobody has looked.
    NotBefore(f64),
}

/// Stretches looked at in one search. A function that winds on without leaving is searched on when the run gets there.
const MOST_STRETCHES: usize = 4096;
/// Width below which two instants are one, in units of the last place.
pub(crate) const TIME_ULPS: f64 = 4.0;
/// Bounds that are no wider than so many roundings of the value itself tell no more when halved.
const ROUNDINGS: f64 = 4.0;

/// A function of time and the range that it is in.
pub(crate) struct Search<'a> {
    pub tape: &'a Tape,
    pub registers: &'a mut [Jet],
    pub range: Interval,
    /// Length of the stretch that was decisive last time; where to begin.
    pub scale: &'a mut f64,
    /// Whether something was met of which not even the value at an instant is known.
    pub is_blind: bool,
}

/// A value at an instant that is less certain than this part of all that the function does is not known.
pub(crate) const BLIND_SHARE: f64 = 1e-3;
/// Stretches shorter than this many units in the last place do not show all that the function does.
pub(crate) const SHORT_ULPS: f64 = 1e6;

/// What a stretch shows.
enum Look {
    Stays,
    Leaves(f64),
    Open,
}

impl Search<'_> {
    /// Finds the first exit after `from`.
    pub(crate) fn first_exit(&mut self, from: f64, until: f64) -> Exit {
        let all = self.tape.over(self.registers, Interval::new(from, until));
        let is_short = until - from <= SHORT_ULPS * f64::EPSILON * until.abs();
        let known = if is_short {
            f64::INFINITY
        } else {
            BLIND_SHARE * all.value.width()
        };
        let mut stack = vec![(from, until)];

        // Where exits come in a rhythm, the next is about as far away as the last was.
        let near = from + 8.0 * *self.scale;
        if near > from && near < until {
            stack = vec![(near, until), (from, near)];
        }

        for _ in 0..MOST_STRETCHES {
            let Some((a, b)) = stack.pop() else {
                return Exit::NotBefore(until);
            };
            match self.look(a, b, known) {
                Look::Stays => {}
                Look::Leaves(t) => {
                    *self.scale = b - a;
                    return Exit::At(t.max(from.next_up()));
                }
                Look::Open => {
                    let middle = a + 0.5 * (b - a);
                    stack.push((middle, b));
                    stack.push((a, middle));
                }
            }
        }
        Exit::NotBefore(stack.last().map_or(until, |&(a, _)| a))
    }

    fn stays(&self, value: Interval) -> bool {
        value.lo >= self.range.lo && value.hi <= self.range.hi
    }

    fn is_beyond(&self, value: Interval) -> bool {
        value.hi < self.range.lo || value.lo > self.range.hi
    }

    fn look(&mut self, a: f64, b: f64, known: f64) -> Look {
        let jet = self.tape.over(self.registers, Interval::new(a, b));
        if self.is_beyond(jet.value) {
            return Look::Leaves(a);
        }
        if self.stays(jet.value) || jet.slope.is_zero() {
            return Look::Stays;
        }
        if jet.slope.keeps_sign() {
            return self.look_along(a, b, jet.slope.hi > 0.0);
        }
        if b - a <= TIME_ULPS * f64::EPSILON * a.abs().max(b.abs()) {
            return Look::Stays;
        }

        // u(t) = u(m) + u′(m)(t − m) + ½u″(t − m)², bounded around the middle.
        let middle = a + 0.5 * (b - a);
        let there = self.tape.at(self.registers, middle);
        if jet.value.width() <= ROUNDINGS * there.value.width() {
            self.is_blind |= there.value.width() >= known;
            return Look::Stays;
        }
        let reach = Interval::new(a - middle, b - middle);
        let first = there.value.add(jet.slope.mul(reach));
        let bend = jet.curve.mul(reach.square()).scale(0.5);
        let second = there.value.add(there.slope.mul(reach)).add(bend);
        let tight = jet.value.meet(first).meet(second);
        if self.stays(tight) {
            return Look::Stays;
        }
        if self.is_beyond(tight) {
            return Look::Leaves(a);
        }
        if jet.curve.has_sign() {
            return self.look_around_a_turn(a, b);
        }
        Look::Open
    }

    /// Looks at a stretch over which the function only rises, or only falls.
    fn look_along(&mut self, a: f64, b: f64, is_rising: bool) -> Look {
        let level = if is_rising {
            self.range.hi
        } else {
            self.range.lo
        };
        if level.is_infinite() {
            return Look::Stays;
        }
        let end = self.tape.at(self.registers, b).value;
        // An end that is on the level, to rounding, leaves the decision to the stretch after it.
        let is_across = if is_rising {
            end.lo > level
        } else {
            end.hi < level
        };
        if is_across {
            Look::Leaves(self.crossing(a, b, level))
        } else {
            Look::Stays
        }
    }

    /// Looks at a stretch over which the slope only rises, or only falls: the function turns once at most.
    fn look_around_a_turn(&mut self, a: f64, b: f64) -> Look {
        let at_a = self.tape.at(self.registers, a).slope;
        let at_b = self.tape.at(self.registers, b).slope;
        match (at_a.has_sign(), at_b.has_sign()) {
            (true, true) if at_a.is_positive() != at_b.is_positive() => {
                let turn = self.turn(a, b, at_a.is_positive());
                match self.look_along(a, turn, at_a.is_positive()) {
                    Look::Stays => self.look_along(turn, b, at_b.is_positive()),
                    found => found,
                }
            }
            (true, _) => self.look_along(a, b, at_a.is_positive()),
            (false, true) => self.look_along(a, b, at_b.is_positive()),
            (false, false) => Look::Stays,
        }
    }

    /// Finds where a slope changes its sign, by halves.
    fn turn(&mut self, mut a: f64, mut b: f64, is_rising_at_a: bool) -> f64 {
        loop {
            let middle = a + 0.5 * (b - a);
            if middle <= a || middle >= b {
                return middle;
            }
            let slope = self.tape.at(self.registers, middle).slope;
            if !slope.has_sign() {
                return middle;
            }
            if slope.is_positive() == is_rising_at_a {
                a = middle;
            } else {
                b = middle;
            }
        }
    }

    /// Finds the first instant beyond a level that is crossed once, by the Illinois rule with halves where it is slow.
    fn crossing(&mut self, mut a: f64, mut b: f64, level: f64) -> f64 {
        let height =
            |this: &mut Self, t: f64| this.tape.at(this.registers, t).value.middle() - level;
        let (mut f_a, mut f_b) = (height(self, a), height(self, b));
        if f_a == 0.0 || (f_a > 0.0) == (f_b > 0.0) {
            // It began there, to rounding.
            return a;
        }

        let is_above = f_b > 0.0;
        let mut last = 0;
        let mut width_before = f64::INFINITY;
        for round in 0..200 {
            let width = b - a;
            let smallest = 0.5 * TIME_ULPS * f64::EPSILON * a.abs().max(b.abs());
            if width <= smallest {
                break;
            }
            let is_slow = round % 3 == 2 && width > 0.5 * width_before;
            if round % 3 == 2 {
                width_before = width;
            }
            let secant = a + width * (f_a / (f_a - f_b));
            let t = if is_slow || !secant.is_finite() {
                a + 0.5 * width
            } else {
                secant.clamp(a + 0.25 * smallest, b - 0.25 * smallest)
            };
            if t <= a || t >= b {
                break;
            }
            let f = height(self, t);
            if f != 0.0 && (f > 0.0) == is_above {
                (b, f_b) = (t, f);
                f_a *= if last == 1 { 0.5 } else { 1.0 };
                last = 1;
            } else {
                (a, f_a) = (t, f);
                f_b *= if last == -1 { 0.5 } else { 1.0 };
                last = -1;
            }
        }
        b
    }
}
