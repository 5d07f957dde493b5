//! External functions that want to know of every step: FMUs with a memory of their own.
//!
//! In:  the calls of the right-hand side.
//! Out: their arguments at the end of each accepted step, told to the functions.
//!
//! **Invariant:** nothing is computed for a model without such functions.

use crate::code::{ExternalCall, Step, run};
use crate::machine::Machine;

/// Finds the calls of functions that want to know.
pub(crate) fn listeners(steps: &[Step]) -> Vec<ExternalCall> {
    let calls = steps.iter().filter_map(|step| match step {
        Step::External(call) if !call.wants_slopes && call.function.minds_steps() => Some(call),
        _ => None,
    });
    calls.cloned().collect()
}

impl Machine {
    /// Tells all listeners that a step ended here.
    pub(crate) fn tell_listeners(&mut self, t: f64, y: &[f64]) {
        let image = self.image.clone();
        let steps = &image.rhs.routine.steps;
        // What has no value here shows elsewhere, with its name.
        if self.load(t, y).is_err() || run(steps, &mut self.memory).is_err() {
            return;
        }
        for call in &image.listeners {
            let slots = call.inputs.iter();
            let inputs: Vec<f64> = slots.map(|&s| self.memory.slots[s as usize]).collect();
            call.function.step_done(&inputs);
        }
    }
}
