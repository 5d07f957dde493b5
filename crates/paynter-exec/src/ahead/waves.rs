//! Cuts a step into parts over which all that may wind inside a guard is calm, so that few samples of each show it.
//!
//! In:  the functions that guards read, directly or through equations solved together, and that may turn more often
//!      than a step's polynomial: sines, exponentials, tables of time and states ([`Waves`]).
//! Out: instants inside a step between which each of them only rises, only falls, or bends one way.
//!
//! A function of time beside slow states does not show in their error, so the step says nothing of it. States are
//! taken along the parabola through the ends and the middle: one that turns within the step moves a function of it
//! there and back.
//!
//! **Invariant:** where no function winds within a step, nothing is cut and the step is looked at as ever.

use super::interval::Interval;
use super::lines::{Ends, Lines};
use super::tape::Tape;

/// An argument that moves by no more than this, in radians or e-folds, makes no turn that samples of a step would miss.
const CALM: f64 = 1.0;
/// What moves by no more than this part of itself stands still: bounds of its slope and bend tell no sign there.
const STILL_SHARE: f64 = 1e-3;
/// Parts of one step. Beyond, the run would look at guards only.
const MOST_PARTS: usize = 20_000;

/// Room for one run.
#[derive(Clone, Debug, Default)]
pub(crate) struct Waves {
    lines: Lines,
    stack: Vec<(f64, f64)>,
    /// What wound faster than could be followed, by its number, and when that was first seen.
    pub unresolved: Option<(usize, f64)>,
}

impl Waves {
    /// Adds the instants at which to cut. Tells whether they reach to the end of the step.
    pub(crate) fn cut(
        &mut self,
        tapes: &[Tape],
        slots: &[f64],
        step: Ends<'_>,
        cuts: &mut Vec<f64>,
    ) -> bool {
        self.lines.bind(tapes, slots);
        self.lines.follow(step);
        let (t0, t1) = step.t;
        // Halves of what is as short as time can tell are the same again.
        let shortest = (1e-9 * (t1 - t0)).max(4.0 * f64::EPSILON * t1.abs());
        self.stack.clear();
        self.stack.push((t0, t1));
        while let Some((a, b)) = self.stack.pop() {
            let is_calm = (0..tapes.len()).all(|k| self.is_calm(&tapes[k], k, Interval::new(a, b)));
            if !is_calm && b - a > shortest {
                let middle = a + 0.5 * (b - a);
                self.stack.push((middle, b));
                self.stack.push((a, middle));
                continue;
            }
            if !is_calm && self.unresolved.is_none() {
                self.unresolved = self.wide(tapes).map(|k| (k, a));
            }
            if b < t1 {
                cuts.push(b);
            }
            if cuts.len() >= MOST_PARTS {
                return false;
            }
        }
        true
    }

    fn is_calm(&mut self, tape: &Tape, k: usize, stretch: Interval) -> bool {
        let jet = self.lines.along(tape, k, stretch);
        let argument = tape.argument(self.lines.registers(k));
        let size = jet.value.lo.abs().max(jet.value.hi.abs());
        argument.width() <= CALM
            || jet.slope.keeps_sign()
            || jet.curve.keeps_sign()
            || jet.value.width() <= STILL_SHARE * size
    }

    /// The first whose argument still moves far: not a corner, but turns that are not seen.
    fn wide(&self, tapes: &[Tape]) -> Option<usize> {
        (0..tapes.len()).find(|&k| {
            let width = tapes[k].argument(self.lines.registers(k)).width();
            width > CALM && width < f64::INFINITY
        })
    }
}
