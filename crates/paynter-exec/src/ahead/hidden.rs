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
use paynter_solve::{Passed, Stepped};

/// For methods that see the ends only, what is within this part of all that was seen in the run is the top of a wave.
const TOP_SHARE: f64 = 0.05;
/// What goes beyond the values seen by less than this part of all that the function may do is not a pulse. Tails of one
/// would otherwise be followed down to nothing.
const SMALL_SHARE: f64 = 0.02;
/// Stretches looked at in one step for one function. Bounds that are still too wide then are those of a function that
/// winds, which the stages see.
const MOST_STRETCHES: usize = 256;
/// Pulses shorter than this part of a step are not looked for.
const SHORTEST_SHARE: f64 = 1e-9;

/// A function of the sine of an angle, in radians, has its pulses again and again. Within this, no two are alike.
const LARGEST_TURN: f64 = 2.5;

/// Room for one run.
#[derive(Clone, Debug, Default)]
pub(crate) struct Hidden {
    lines: Lines,
    angles: Lines,
    stack: Vec<(f64, f64)>,
    /// What the stages of this step saw of each function; empty while that is not known.
    at_nodes: Vec<Interval>,
    /// All that was seen of each function in this run, and up to when.
    ever: Vec<Interval>,
    t: f64,
}

impl Hidden {
    /// Tells what lies inside of a step: an angle that turned too far, or the first pulse found that no stage saw.
    pub(crate) fn look_into(
        &mut self,
        (pulses, angles): (&[Tape], &[Tape]),
        slots: &[f64],
        step: &Stepped<'_>,
    ) -> Passed {
        let ends = Ends {
            t: step.t,
            y: step.y,
            middle: None,
        };
        if let Some(t) = self.turned_too_far(angles, slots, ends) {
            return Passed::At(t);
        }

        if step.t.0 < self.t {
            // Another run.
            self.ever.clear();
        }

        self.t = step.t.0;
        self.lines.bind(pulses, slots);
        self.take_seen(pulses, step);
        self.lines.follow(ends);
        let mut first = Passed::Nothing;
        for (k, pulse) in pulses.iter().enumerate() {
            first = match (first, self.look(pulse, k, step)) {
                (Passed::At(a), Passed::At(b)) => Passed::At(a.min(b)),
                (Passed::At(t), _) | (_, Passed::At(t)) => Passed::At(t),
                (Passed::Unsure, _) | (_, Passed::Unsure) => Passed::Unsure,
                (Passed::Nothing, Passed::Nothing) => Passed::Nothing,
            };
        }
        first
    }

    /// Gives an instant up to which all angles turn little enough, where one does not over the whole step.
    fn turned_too_far(&mut self, angles: &[Tape], slots: &[f64], step: Ends<'_>) -> Option<f64> {
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
        (most > LARGEST_TURN && share > SHORTEST_SHARE).then_some(t0 + share * (t1 - t0))
    }

    /// Takes what the stages saw of each function, where their states are known.
    fn take_seen(&mut self, pulses: &[Tape], step: &Stepped<'_>) {
        self.at_nodes.clear();
        let (t0, t1) = step.t;
        for (share, y) in step.nodes.iter().zip(step.at_nodes) {
            let t = t0 + share * (t1 - t0);
            self.lines.follow(Ends {
                t: (t, t + (t1 - t0)),
                y: (y, y),
                middle: None,
            });
            for (k, pulse) in pulses.iter().enumerate() {
                let value = self.at(pulse, k, t);
                match self.at_nodes.get_mut(k) {
                    Some(seen) => *seen = seen.hull(value),
                    None => self.at_nodes.push(value),
                }
            }
        }
    }

    fn look(&mut self, tape: &Tape, k: usize, step: &Stepped<'_>) -> Passed {
        let (t0, t1) = step.t;
        let all = self.lines.along(tape, k, Interval::new(t0, t1));
        if all.slope.keeps_sign() || all.curve.keeps_sign() {
            return Passed::Nothing;
        }

        // What the ends saw is certain. Where the stages were in between is not, while their states are on a line.
        let at_ends = self.at(tape, k, t0).hull(self.at(tape, k, t1));
        let mut seen = at_ends;
        match self.at_nodes.get(k) {
            Some(&at_nodes) => seen = seen.hull(at_nodes),
            None => {
                for share in step.nodes {
                    seen = seen.hull(self.at(tape, k, t0 + share * (t1 - t0)));
                }
            }
        }
        let usual = self.usual(k, all.value, seen, step.nodes.is_empty());
        if !usual.holds(all.value)
            && let Some(t) = self.search(tape, k, (t0, t1), usual)
        {
            return Passed::At(t);
        }

        let is_certain = step.nodes.is_empty() || !step.at_nodes.is_empty() || !tape.reads_states();
        let by_ends = self.usual(k, all.value, at_ends, false);
        match is_certain || by_ends.holds(seen) {
            true => Passed::Nothing,
            false => Passed::Unsure,
        }
    }

    /// The values that a function may have without being beyond what was seen of it.
    fn usual(&mut self, k: usize, all: Interval, seen: Interval, sees_ends_only: bool) -> Interval {
        let mut slack = seen.width();
        if sees_ends_only {
            if self.ever.len() <= k {
                self.ever.resize(k + 1, seen);
            }
            self.ever[k] = self.ever[k].hull(seen);
            slack = slack.max(TOP_SHARE * self.ever[k].width());
        }
        if all.width() < f64::INFINITY {
            slack = slack.max(SMALL_SHARE * all.width());
        }
        Interval::new(seen.lo - slack, seen.hi + slack)
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
