//! Functions of time and states over parts of a step, with the states on the parabola through its ends and its middle,
//! or on the line from one end to the other.
//!
//! In:  tapes, what is held, the states at the ends of a step, and perhaps in its middle.
//! Out: bounds of each tape over any stretch of the step.
//!
//! **Invariant:** what does not move is computed once for each set of held values.

use super::interval::{Interval, Jet};
use super::tape::{Drift, Tape};

/// A step: its ends, the states there, and those in the middle where they are known.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ends<'a> {
    pub t: (f64, f64),
    pub y: (&'a [f64], &'a [f64]),
    pub middle: Option<&'a [f64]>,
}

/// Room for the tapes of one run.
#[derive(Clone, Debug, Default)]
pub(crate) struct Lines {
    registers: Vec<Vec<Jet>>,
    held: Vec<Vec<f64>>,
    drift: Drift,
}

impl Lines {
    /// Computes what does not move, where it is not that of last time.
    pub(crate) fn bind(&mut self, tapes: &[Tape], slots: &[f64]) {
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

    /// Takes the way of the states over a step.
    pub(crate) fn follow(&mut self, step: Ends<'_>) {
        let (t0, t1) = step.t;
        self.drift.t0 = t0;
        self.drift.y0.clear();
        self.drift.y0.extend_from_slice(step.y.0);
        self.drift.slopes.clear();
        let ends = step.y.0.iter().zip(step.y.1);
        let slopes = ends.map(|(a, b)| (b - a) / (t1 - t0));
        self.drift.slopes.extend(slopes);
        self.drift.h = t1 - t0;
        self.drift.bends.clear();
        if let Some(middle) = step.middle {
            // y(τ) = y₀ + s τ + c τ (h − τ) is off the line by c h²/4 in the middle.
            let ends = step.y.0.iter().zip(step.y.1).zip(middle);
            let bends = ends.map(|((a, b), m)| 4.0 * (m - 0.5 * (a + b)) / (t1 - t0).powi(2));
            self.drift.bends.extend(bends);
        }
    }

    /// Bounds the k-th tape over a stretch.
    pub(crate) fn along(&mut self, tape: &Tape, k: usize, stretch: Interval) -> Jet {
        tape.along(&mut self.registers[k], stretch, Some(&self.drift))
    }

    /// What the operations of the k-th tape gave last.
    pub(crate) fn registers(&self, k: usize) -> &[Jet] {
        &self.registers[k]
    }
}
