//! Finds what a step has passed over: a pulse of the right-hand side that none of its stages saw.
//!
//! In:  functions of time, and pulses of states, in the right-hand side ([`Tape`]); a step that was just made.
//! Out: an instant inside of the step at which one of them is far beyond all that the step saw of it; or up to which an
//!      angle inside of one has turned as far as one step may let it.
//!
//! A pulse much shorter than the step moves no error estimate, which is made of the same few stages as the step. Its
//! bounds over the step show it all the same: where they reach beyond what was seen, halves are looked at until they
//! do not, or until a value is found there. The step is then made again up to that instant, where its last stage sees
//! the pulse, and the error estimate decides.
//!
//! **Invariant:** a function that only rises, only falls or bends one way within a step hides nothing in it, and costs
//! one look.

use super::interval::Interval;
use super::lines::{Ends, Lines};
use super::tape::Tape;

/// For methods that see the ends only, what is within this part of all that was seen in the run is the top of a wave.
const TOP_SHARE: f64 = 0.05;
/// What goes beyond the values seen by less than this part of all that the function may do is no pulse. Tails of one
/// would otherwise be followed down to nothing.
const SMALL_SHARE: f64 = 0.02;
/// Stretches looked at in one step for one function. Bounds that are still too wide then are those of a function that
/// winds, which the stages see.
const MOST_STRETCHES: usize = 256;
/// Pulses shorter than this part of a step are not looked for.
const SHORTEST_SHARE: f64 = 1e-9;

/// A function of the sine of an angle, in radians, has its pulses again and again. Within this, no two are alike, and a
/// parabola through the ends of the step and its middle tells where the stages were.
const LARGEST_TURN: f64 = 2.5;

/// Room for one run.
#[derive(Clone, Debug, Default)]
pub(crate) struct Hidden {
    lines: Lines,
    angles: Lines,
    stack: Vec<(f64, f64)>,
    /// All that was seen of each function in this run, and up to when.
    ever: Vec<Interval>,
    t: f64,
}

impl Hidden {
    /// Gives an instant up to which all angles turn little enough, where one does not over the whole step.
    pub(crate) fn turned_too_far(
        &mut self,
        angles: &[Tape],
        slots: &[f64],
        step: Ends<'_>,
    ) -> Option<f64> {
        if angles.is_empty() {
            return None;
        }
        self.angles.bind(angles, slots);
        self.angles.follow(step);
        let (t0, t1) = step.t;
        let mut most = 0.0_f64;
        for (k, angle) in angles.iter().enumerate() {
            let [a, b] = [t0, t1].map(|t| self.angles.along(angle, k, Interval::point(t)).value);
            most = most.max((b.middle() - a.middle()).abs());
        }
        let share = 0.9 * LARGEST_TURN / most;
        (most > LARGEST_TURN && share > SHORTEST_SHARE).then(|| t0 + share * (t1 - t0))
    }

    /// Gives the first instant found at which a function is beyond what the step saw of it.
    ///
    /// `nodes` are where the method has evaluated between the ends, as shares of the step.
    pub(crate) fn first(
        &mut self,
        tapes: &[Tape],
        slots: &[f64],
        step: Ends<'_>,
        nodes: &[f64],
    ) -> Option<f64> {
        self.lines.bind(tapes, slots);
        self.lines.follow(step);
        if step.t.0 < self.t {
            // Another run.
            self.ever.clear();
        }
        self.t = step.t.0;
        let found = (0..tapes.len()).filter_map(|k| self.look(&tapes[k], k, step.t, nodes));
        found.min_by(f64::total_cmp)
    }

    fn look(&mut self, tape: &Tape, k: usize, (t0, t1): (f64, f64), nodes: &[f64]) -> Option<f64> {
        let all = self.lines.along(tape, k, Interval::new(t0, t1));
        if all.slope.keeps_sign() || all.curve.keeps_sign() {
            return None;
        }
        let mut seen = self.at(tape, k, t0).hull(self.at(tape, k, t1));
        for share in nodes {
            seen = seen.hull(self.at(tape, k, t0 + share * (t1 - t0)));
        }
        let mut slack = seen.width();
        if nodes.is_empty() {
            if self.ever.len() <= k {
                self.ever.resize(k + 1, seen);
            }
            self.ever[k] = self.ever[k].hull(seen);
            slack = slack.max(TOP_SHARE * self.ever[k].width());
        }
        if all.value.width() < f64::INFINITY {
            slack = slack.max(SMALL_SHARE * all.value.width());
        }
        let usual = Interval::new(seen.lo - slack, seen.hi + slack);
        if usual.holds(all.value) {
            return None;
        }
        self.search(tape, k, (t0, t1), usual)
    }

    /// Searches a value that is not among the usual ones.
    fn search(
        &mut self,
        tape: &Tape,
        k: usize,
        (t0, t1): (f64, f64),
        usual: Interval,
    ) -> Option<f64> {
        let is_far = |value: Interval| value.lo > usual.hi || value.hi < usual.lo;
        self.stack.clear();
        self.stack.push((t0, t1));
        for _ in 0..MOST_STRETCHES {
            let (a, b) = self.stack.pop()?;
            let over = self.lines.along(tape, k, Interval::new(a, b));
            if usual.holds(over.value) {
                continue;
            }
            let middle = a + 0.5 * (b - a);
            if is_far(self.at(tape, k, middle)) {
                return Some(middle);
            }
            // What only rises or falls is farthest at an end, and neighbours have looked there.
            let is_short = b - a <= (SHORTEST_SHARE * (t1 - t0)).max(4.0 * f64::EPSILON * t1.abs());
            if is_short || over.slope.keeps_sign() && !is_far(self.at(tape, k, b)) {
                continue;
            }
            self.stack.push((middle, b));
            self.stack.push((a, middle));
        }
        None
    }

    fn at(&mut self, tape: &Tape, k: usize, t: f64) -> Interval {
        self.lines.along(tape, k, Interval::point(t)).value
    }
}
