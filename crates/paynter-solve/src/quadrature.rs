//! Integrals along the trajectory, outside of error control and of any Newton iteration.
//!
//! In:  a step's interpolant and the system's integrands.
//! Out: the integrals, advanced by Gauss–Legendre quadrature with five points per step, exact
//!      for integrands of degree 9. A step over which the integrands are rougher than that is halved.

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

/// Weights of the rule on the three inner points, which is exact for degree 3.
const ROUGH_WEIGHTS: [f64; 5] = {
    // ∫ x² dx = 2/3 on −1…1 fixes the outer weight: 2 w x² = 2/3.
    let outer = 1.0 / (3.0 * POINTS[3] * POINTS[3]);
    [0.0, outer, 2.0 - 2.0 * outer, outer, 0.0]
};

/// Share of the relative tolerance that the quadrature may add: it must not be seen beside the solver's error.
const SHARE_OF_TOLERANCE: f64 = 1e-2;
/// Bounds of the difference of the two rules below which a panel is smooth: rounding, and no more
/// than a rough look.
const SMOOTH_BOUNDS: (f64, f64) = (1e-5, 1e-2);
/// Halvings of a step whose integrands are rough: each gains a thousandfold.
const MAX_HALVINGS: u32 = 4;

/// Running integrals.
#[derive(Clone, Debug)]
pub(crate) struct Quadratures {
    values: Vec<f64>,
    /// What rounding took from `values` (Kahan): many steps add little to much.
    lost: Vec<f64>,
    rates: Vec<f64>,
    sum: Vec<f64>,
    rough: Vec<f64>,
    y: Vec<f64>,
    /// Difference of the two rules, as a part of the integrals, below which a panel is smooth.
    smooth: f64,
    /// Panels still to be summed: from, to, number of halvings.
    open: Vec<(f64, f64, u32)>,
}

impl Quadratures {
    pub(crate) fn new(n_quadratures: usize, n: usize, rtol: f64) -> Self {
        // The error of the rule of degree 9 is about the 5/2 power of that of degree 3.
        let (low, high) = SMOOTH_BOUNDS;
        Self {
            smooth: (SHARE_OF_TOLERANCE * rtol).powf(0.4).clamp(low, high),
            values: vec![0.0; n_quadratures],
            lost: vec![0.0; n_quadratures],
            rates: vec![0.0; n_quadratures],
            sum: vec![0.0; n_quadratures],
            rough: vec![0.0; n_quadratures],
            y: vec![0.0; n],
            open: Vec::new(),
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
        self.open.push((dense.t0(), dense.t1(), 0));
        while let Some((from, to, depth)) = self.open.pop() {
            let half = 0.5 * (to - from);
            let middle = from + half;
            let roughness = self.panel(middle, half, dense, system)?;
            if roughness > self.smooth && depth < MAX_HALVINGS {
                self.open.push((middle, to, depth + 1));
                self.open.push((from, middle, depth + 1));
                continue;
            }
            self.add(half);
        }
        Ok(())
    }

    /// Sums one panel; gives the difference to the rule of three points, as a part of the integrals.
    fn panel(
        &mut self,
        middle: f64,
        half: f64,
        dense: &dyn Dense,
        system: &mut dyn System,
    ) -> Result<f64, Failure> {
        self.sum.fill(0.0);
        self.rough.fill(0.0);
        for ((point, weight), rough) in POINTS.into_iter().zip(WEIGHTS).zip(ROUGH_WEIGHTS) {
            let t = middle + half * point;
            dense.eval(t, &mut self.y);
            let what = Function::QuadratureRates;
            system
                .quadrature_rates(t, &self.y, &mut self.rates)
                .map_err(|error| Trouble::Evaluation { t, error, what })
                .and_then(|()| refuse_not_finite(t, &self.rates, what))
                .map_err(Trouble::into_failure)?;
            for i in 0..self.rates.len() {
                self.sum[i] += weight * self.rates[i];
                self.rough[i] += rough * self.rates[i];
            }
        }
        let difference: f64 = self
            .sum
            .iter()
            .zip(&self.rough)
            .map(|(a, b)| (a - b).abs())
            .sum();
        let size: f64 = self.sum.iter().map(|a| a.abs()).sum();
        Ok(if size > 0.0 { difference / size } else { 0.0 })
    }

    fn add(&mut self, half: f64) {
        for i in 0..self.values.len() {
            let increment = half * self.sum[i] - self.lost[i];
            let total = self.values[i] + increment;
            self.lost[i] = (total - self.values[i]) - increment;
            self.values[i] = total;
        }
    }
}
