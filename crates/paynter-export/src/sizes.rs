//! How large the variables become: what an importer's absolute tolerances are made from.
//!
//! In:  the machine at its start, and the span of the experiment.
//! Out: for each variable the largest size seen in a coarse run of bounded length; 0 where it stayed zero.

use paynter::exec::Machine;
use paynter::solve::{Dense, Observer, Options, System, Tolerances, integrate};
use std::ops::ControlFlow;

/// A coarse run is enough: sizes are wanted, not curves.
const COARSE: f64 = 1e-4;
/// Models that need more steps have shown their sizes by then.
const MOST_STEPS: usize = 2000;
/// What rounding leaves of a variable that stays zero, against the largest one.
const ROUNDING: f64 = 1e-14;

/// Finds the sizes.
pub(crate) fn sizes(machine: &Machine, start: &[f64], (t0, t_end): (f64, f64)) -> Vec<f64> {
    let mut machine = machine.clone();
    let mut largest = Largest(start.iter().map(|x| x.abs()).collect());
    let options = Options {
        tolerances: Tolerances {
            relative: COARSE,
            ..Tolerances::default()
        },
        max_steps: MOST_STEPS,
        ..Options::default()
    };
    // A run that fails or takes too long has shown as much as it could.
    let _ = integrate(&mut machine, t0, start, t_end, &options, &mut largest);
    let noise = ROUNDING * largest.0.iter().copied().fold(0.0, f64::max);
    let known = |x: f64| if x.is_finite() && x > noise { x } else { 0.0 };
    largest.0.into_iter().map(known).collect()
}

struct Largest(Vec<f64>);

impl Observer for Largest {
    fn needs_dense(&mut self, _t0: f64, _t1: f64) -> bool {
        false
    }

    fn step(&mut self, dense: &dyn Dense, _: &[f64], _: &mut dyn System) -> ControlFlow<()> {
        for (largest, x) in self.0.iter_mut().zip(dense.y1()) {
            *largest = largest.max(x.abs());
        }
        ControlFlow::Continue(())
    }
}
