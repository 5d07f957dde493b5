//! The slopes of an external function as a function of their own.
//!
//! In:  an external function with its slopes.
//! Out: an external function that gives those slopes, so that they can be differentiated.
//!
//! An external function gives no second derivatives, so here they are central differences
//! of its slopes.
//! LIMIT: they are good to about ten digits where the function is smooth, and show the
//! kink of a table as a steep ramp of width 2 × the step.

use crate::expr::External;
use std::sync::Arc;

/// Step of the central differences, relative to the size of the argument. The cube root
/// of the rounding unit balances truncation (h²) against rounding (ε/h).
const RELATIVE_STEP: f64 = 6.0e-6;

/// Gives the slopes of another function as outputs, row by output.
#[derive(Debug)]
pub struct SlopesOf {
    function: Arc<dyn External>,
    name: String,
}

impl SlopesOf {
    /// Takes the function whose slopes are wanted.
    pub fn new(function: Arc<dyn External>) -> Self {
        let name = format!("{}'", function.name());
        SlopesOf { function, name }
    }
}

impl External for SlopesOf {
    fn name(&self) -> &str {
        &self.name
    }

    fn n_inputs(&self) -> usize {
        self.function.n_inputs()
    }

    fn n_outputs(&self) -> usize {
        self.function.n_inputs() * self.function.n_outputs()
    }

    fn call(&self, inputs: &[f64], outputs: &mut [f64]) -> Result<(), String> {
        self.function.slopes(inputs, outputs)
    }

    fn slopes(&self, inputs: &[f64], slopes: &mut [f64]) -> Result<(), String> {
        let (n_inputs, n_outputs) = (self.n_inputs(), self.n_outputs());
        let mut at = inputs.to_vec();
        let (mut above, mut below) = (vec![0.0; n_outputs], vec![0.0; n_outputs]);
        for j in 0..n_inputs {
            let h = RELATIVE_STEP * inputs[j].abs().max(1.0);
            at[j] = inputs[j] + h;
            self.call(&at, &mut above)?;
            at[j] = inputs[j] - h;
            self.call(&at, &mut below)?;
            at[j] = inputs[j];
            for i in 0..n_outputs {
                slopes[i * n_inputs + j] = (above[i] - below[i]) / (2.0 * h);
            }
        }
        Ok(())
    }

    fn corners(&self) -> &[f64] {
        self.function.corners()
    }
}
