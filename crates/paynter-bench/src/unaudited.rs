//! A machine without its energy audit: what the hand-written programs compute, and no more.

use paynter::exec::Machine;
use paynter::solve::{EvalError, Pattern, System, Trial};

/// Hides the quadratures of a model without events and constraints.
pub struct Unaudited<'a>(pub &'a mut Machine);

impl System for Unaudited<'_> {
    fn n(&self) -> usize {
        self.0.n()
    }

    fn rhs(&mut self, t: f64, y: &[f64], f: &mut [f64]) -> Result<(), EvalError> {
        self.0.rhs(t, y, f)
    }

    fn step(&mut self, trial: Trial<'_>) -> bool {
        self.0.step(trial)
    }

    fn jacobian_pattern(&self) -> Option<&Pattern> {
        self.0.jacobian_pattern()
    }

    fn jacobian(&mut self, t: f64, y: &[f64], values: &mut [f64]) -> Result<bool, EvalError> {
        self.0.jacobian(t, y, values)
    }

    fn time_derivative(&mut self, t: f64, y: &[f64], ft: &mut [f64]) -> Result<bool, EvalError> {
        self.0.time_derivative(t, y, ft)
    }
}
