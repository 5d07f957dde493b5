//! Cuts a step into parts over which all that may wind inside a guard is calm, so that few samples of each show it.
//!
//! In:  the functions that guards read, directly or through equations solved together, and that may turn more often
//!      than a step's polynomial: sines, exponentials, tables of time and states ([`Waves`]).
//! Out: instants inside a step between which each of them only rises, only falls, or bends one way; and so does the whole
//!      guard, as far as it comes to where it decides.
//!
//! A function of time beside slow states does not show in their error, so the step says nothing of it. States are
//! taken along the parabola through the ends and the middle: one that turns within the step moves a function of it
//! there and back.
//!
//! **Invariant:** where no function winds within a step, nothing is cut and the step is looked at as ever.

use super::interval::Interval;
use super::lines::{Ends, Lines};
use super::tape::Tape;
use super::{Cells, clear_cell};

/// An argument that moves by no more than this, in radians or e-folds, makes no turn that samples of a step would miss.
const CALM: f64 = 1.0;
/// What moves by no more than this part of itself stands still: bounds of its slope and bend tell no sign there.
const STILL_SHARE: f64 = 1e-3;
/// So often parts over which functions are calm are halved for the sake of a guard that is not: bounds of sums are wide.
const MOST_HALVINGS: u32 = 6;
/// Parts of one step. Beyond, the run would look at guards only.
const MOST_PARTS: usize = 20_000;

/// Room for one run.
#[derive(Clone, Debug, Default)]
pub(crate) struct Waves {
    lines: Lines,
    guards: Lines,
    /// Stretches still to be looked at, and how often each was halved for the sake of a guard.
    stack: Vec<(f64, f64, u32)>,
    /// What wound faster than could be followed, by its number, and when that was first seen.
    pub unresolved: Option<(usize, f64)>,
}

impl Waves {
    /// Adds the instants at which to cut. Tells whether they reach to the end of the step.
    pub(crate) fn cut(
        &mut self,
        (tapes, guards): (&[Tape], (&[Tape], &[Cells])),
        slots: &[f64],
        step: Ends<'_>,
        cuts: &mut Vec<f64>,
    ) -> bool {
        self.lines.bind(tapes, slots);
        self.lines.follow(step);
        self.guards.bind(guards.0, slots);
        self.guards.follow(step);
        let (t0, t1) = step.t;

        // Halves of what is as short as time can tell are the same again.
        let shortest = (1e-9 * (t1 - t0)).max(4.0 * f64::EPSILON * t1.abs());
        self.stack.clear();
        self.stack.push((t0, t1, 0));
        while let Some((a, b, halvings)) = self.stack.pop() {
            let stretch = Interval::new(a, b);
            let is_calm = (0..tapes.len()).all(|k| self.is_calm(&tapes[k], k, stretch));
            let is_plain = !is_calm
                || halvings >= MOST_HALVINGS
                || (0..guards.0.len())
                    .all(|k| self.is_plain((&guards.0[k], &guards.1[k]), k, stretch));
            if !(is_calm && is_plain) && b - a > shortest {
                let middle = a + 0.5 * (b - a);
                let halvings = if is_calm { halvings + 1 } else { halvings };
                self.stack.push((middle, b, halvings));
                self.stack.push((a, middle, halvings));
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

    /// Whether samples show all that a guard decides: it stays clear, goes one way, or bends one way.
    fn is_plain(&mut self, (tape, cells): (&Tape, &Cells), k: usize, stretch: Interval) -> bool {
        let jet = self.guards.along(tape, k, stretch);
        clear_cell(cells, jet.value).is_some() || jet.slope.keeps_sign() || jet.curve.keeps_sign()
    }

    /// The first whose argument still moves far: not a corner, but turns that are not seen.
    fn wide(&self, tapes: &[Tape]) -> Option<usize> {
        (0..tapes.len()).find(|&k| {
            let width = tapes[k].argument(self.lines.registers(k)).width();
            width > CALM && width < f64::INFINITY
        })
    }
}
