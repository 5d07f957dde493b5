//! Integrals along the trajectory, outside of error control and of any Newton iteration.
//!
//! In:  a step's interpolant and the system's integrands.
//! Out: the integrals, advanced by Gauss–Legendre quadrature with five points per step: exact
//!      for integrands of degree 9, more than the interpolants themselves can carry.

use crate::observer::Dense;
use crate::options::{Failure, Function};
use crate::stepper::{Trouble, refuse_not_finite};
use crate::system::System;

/// Points on −1…1 and weights of the five-point rule (Abramowitz & Stegun, table 25.4).
const POINTS: [f64; 5] = [
    -0.906_179_845_938_664,
    -0.538_469_310_105_683,
    0.0,
    0.538_469_310_105_683,
    0.906_179_845_938_664,
];
const WEIGHTS: [f64; 5] = [
    0.236_926_885_056_189_1,
    0.478_628_670_499_366_5,
    0.568_888_888_888_888_9,
    0.478_628_670_499_366_5,
    0.236_926_885_056_189_1,
];

/// Running integrals.
#[derive(Clone, Debug)]
pub(crate) struct Quadratures {
    values: Vec<f64>,
    /// What rounding took from `values` (Kahan): many steps add little to much.
    lost: Vec<f64>,
    rates: Vec<f64>,
    sum: Vec<f64>,
    y: Vec<f64>,
}

impl Quadratures {
    pub(crate) fn new(n_quadratures: usize, n: usize) -> Self {
        Self {
            values: vec![0.0; n_quadratures],
            lost: vec![0.0; n_quadratures],
            rates: vec![0.0; n_quadratures],
            sum: vec![0.0; n_quadratures],
            y: vec![0.0; n],
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    pub(crate) fn values(&self) -> &[f64] {
        &self.values
    }

    /// Adds the integrals over one step.
    pub(crate) fn advance(
        &mut self,
        dense: &dyn Dense,
        system: &mut dyn System,
    ) -> Result<(), Failure> {
        let half = 0.5 * (dense.t1() - dense.t0());
        let middle = dense.t0() + half;
        self.sum.fill(0.0);
        for (point, weight) in POINTS.into_iter().zip(WEIGHTS) {
            let t = middle + half * point;
            dense.eval(t, &mut self.y);
            let what = Function::QuadratureRates;
            system
                .quadrature_rates(t, &self.y, &mut self.rates)
                .map_err(|error| Trouble::Evaluation { t, error, what })
                .and_then(|()| refuse_not_finite(t, &self.rates, what))
                .map_err(Trouble::into_failure)?;
            for (sum, rate) in self.sum.iter_mut().zip(&self.rates) {
                *sum += weight * rate;
            }
        }
        for i in 0..self.values.len() {
            let increment = half * self.sum[i] - self.lost[i];
            let total = self.values[i] + increment;
            self.lost[i] = (total - self.values[i]) - increment;
            self.values[i] = total;
        }
        Ok(())
    }
}
