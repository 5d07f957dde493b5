//! Cuts a step where the system says that guards wind, and shows each part as a step of its own.
//!
//! In:  a step's interpolant, and the system ([`crate::System::cut_step`]).
//! Out: instants inside of it, ascending; parts between them.

use crate::observer::Dense;
use crate::stepper::Context;

/// Writes the instants that cut a step; see [`crate::System::cut_step`]. Each half is asked about with states of its own
/// middle: two parabolas are near to what a step can do.
pub(super) fn cut(cx: &mut Context<'_>, dense: &dyn Dense, cuts: &mut Vec<f64>) -> bool {
    cuts.clear();
    let (t0, t1) = (dense.t0(), dense.t1());
    let at = |share: f64| t0 + share * (t1 - t0);
    let mut y = [0.25, 0.5, 0.75].map(|_| vec![0.0; dense.y0().len()]);
    for (share, y) in [0.25, 0.5, 0.75].into_iter().zip(&mut y) {
        dense.eval(at(share), y);
    }
    let [first, half, last] = &y;
    if !cx
        .system
        .cut_step((t0, at(0.5)), [dense.y0(), first, half], cuts)
    {
        return false;
    }
    let n_before = cuts.len();
    cuts.push(at(0.5));
    let reaches_end = cx
        .system
        .cut_step((at(0.5), t1), [half, last, dense.y1()], cuts);
    if cuts.len() == 1 && n_before == 0 && reaches_end {
        cuts.clear();
    }
    reaches_end
}

/// A part of a step.
pub(super) struct Part<'a> {
    pub(super) dense: &'a dyn Dense,
    pub(super) t: (f64, f64),
    /// States at its ends.
    pub(super) y: &'a [Vec<f64>; 2],
}

impl Dense for Part<'_> {
    fn t0(&self) -> f64 {
        self.t.0
    }

    fn t1(&self) -> f64 {
        self.t.1
    }

    fn y0(&self) -> &[f64] {
        &self.y[0]
    }

    fn y1(&self) -> &[f64] {
        &self.y[1]
    }

    fn eval(&self, t: f64, y: &mut [f64]) {
        if t <= self.t.0 {
            y.copy_from_slice(&self.y[0]);
        } else if t >= self.t.1 {
            y.copy_from_slice(&self.y[1]);
        } else {
            self.dense.eval(t, y);
        }
    }

    fn error_norm(&self, inverse_scale: &[f64]) -> f64 {
        self.dense.error_norm(inverse_scale)
    }
}
