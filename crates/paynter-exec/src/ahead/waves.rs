//! Cuts a step into parts over which all that may wind inside a guard is calm, so that few samples of each show it.
//!
//! In:  the functions that guards read, directly or through equations solved together, and that may turn more often
//!      than a step's polynomial: sines, exponentials, tables of time and states ([`Waves`]).
//! Out: instants inside a step between which each of them only rises, only falls, or bends one way.
//!
//! A function of time beside slow states does not show in their error, so the step says nothing of it. States are
//! taken along the line from one end of the step to the other, which step control keeps them near.
//!
//! **Invariant:** where no function winds within a step, nothing is cut and the step is looked at as ever.

use super::interval::{Interval, Jet};
use super::tape::{Drift, Tape};

/// An argument that moves by no more than this, in radians or e-folds, makes no turn that samples of a step would miss.
const CALM: f64 = 1.0;
/// Parts of one step. Beyond, the run would look at guards only.
const MOST_PARTS: usize = 20_000;

/// Room for one run.
#[derive(Clone, Debug, Default)]
pub(crate) struct Waves {
    registers: Vec<Vec<Jet>>,
    held: Vec<Vec<f64>>,
    drift: Drift,
    stack: Vec<(f64, f64)>,
    /// What wound faster than could be followed, by its number, and when that was first seen.
    pub unresolved: Option<(usize, f64)>,
}

/// A step: its ends and the states there.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ends<'a> {
    pub t: (f64, f64),
    pub y: (&'a [f64], &'a [f64]),
}

impl Waves {
    /// Writes the instants at which to cut. Tells whether they reach to the end of the step.
    pub(crate) fn cut(
        &mut self,
        tapes: &[Tape],
        slots: &[f64],
        step: Ends<'_>,
        cuts: &mut Vec<f64>,
    ) -> bool {
        cuts.clear();
        self.bind(tapes, slots);
        let (t0, t1) = step.t;
        let h = t1 - t0;
        self.drift.t0 = t0;
        self.drift.y0.clear();
        self.drift.y0.extend_from_slice(step.y.0);
        self.drift.slopes.clear();
        let ends = step.y.0.iter().zip(step.y.1);
        self.drift.slopes.extend(ends.map(|(a, b)| (b - a) / h));

        let shortest = 1e-9 * h;
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
        let registers = &mut self.registers[k];
        let jet = tape.along(registers, stretch, Some(&self.drift));
        tape.argument(registers).width() <= CALM || jet.slope.keeps_sign() || jet.curve.keeps_sign()
    }

    /// The first whose argument still moves far: not a corner, but turns that are not seen.
    fn wide(&self, tapes: &[Tape]) -> Option<usize> {
        let mut each = tapes.iter().zip(&self.registers);
        each.position(|(tape, registers)| {
            let width = tape.argument(registers).width();
            width > CALM && width < f64::INFINITY
        })
    }

    fn bind(&mut self, tapes: &[Tape], slots: &[f64]) {
        self.registers.resize(tapes.len(), Vec::new());
        self.held.resize(tapes.len(), Vec::new());
        for (k, tape) in tapes.iter().enumerate() {
            let now = tape.slots.iter().map(|&slot| slots[slot as usize]);
            let is_bound =
                !self.registers[k].is_empty() && now.clone().eq(self.held[k].iter().copied());
            if !is_bound {
                self.held[k].clear();
                self.held[k].extend(now);
                tape.bind(&mut self.registers[k], slots);
            }
        }
    }
}
