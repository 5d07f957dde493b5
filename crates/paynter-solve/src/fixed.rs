//! Methods of fixed step: Euler, classical Runge–Kutta 4, Adams–Bashforth 2.
//!
//! In:  the step, chosen by the caller. No error is estimated and no step is rejected.
//! Out: steps on the grid `t_start + k h`, shortened only to land on a demanded time; the
//!      grid starts anew after a restart.
//!
//! The interpolant is the cubic Hermite polynomial of the two ends, which is exact enough for
//! orders up to 3 and loses one order under Runge–Kutta 4.

use crate::options::Failure;
use crate::stepper::{Context, Stepper, Trouble, combine};

/// Which formula makes the step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FixedFormula {
    /// `y + h f`.
    Euler,
    /// Kutta's formula of order 4.
    Rk4,
    /// `y + h (3/2 f − 1/2 f_before)`, in its form for unequal steps.
    Ab2,
}

/// A method of fixed step in the middle of a run.
pub(crate) struct Fixed {
    formula: FixedFormula,
    h: f64,
    grid_start: f64,
    grid_count: u64,
    first_step: Option<f64>,
    t0: f64,
    t1: f64,
    y0: Vec<f64>,
    y1: Vec<f64>,
    f0: Vec<f64>,
    f1: Vec<f64>,
    /// Derivative one step back and the length of that step; for Adams–Bashforth.
    f_before: Vec<f64>,
    h_before: Option<f64>,
    k: [Vec<f64>; 3],
    stage: Vec<f64>,
}

/// A step is stretched by this share rather than leaving a sliver before a demanded time;
/// it covers the rounding of a period that is a multiple of the step.
const STRETCH: f64 = 1e-9;

impl Fixed {
    pub(crate) fn new(formula: FixedFormula, h: f64, n: usize) -> Self {
        let zeros = || vec![0.0; n];
        Self {
            formula,
            h,
            grid_start: 0.0,
            grid_count: 0,
            first_step: None,
            t0: 0.0,
            t1: 0.0,
            y0: zeros(),
            y1: zeros(),
            f0: zeros(),
            f1: zeros(),
            f_before: zeros(),
            h_before: None,
            k: std::array::from_fn(|_| zeros()),
            stage: zeros(),
        }
    }

    fn step(&mut self, cx: &mut Context<'_>, h: f64) -> Result<(), Trouble> {
        let (t, y0, y1, f0) = (self.t0, &self.y0, &mut self.y1, &self.f0);
        let [k2, k3, k4] = &mut self.k;
        let g = &mut self.stage;
        match (self.formula, self.h_before) {
            (FixedFormula::Euler, _) => combine(y1, y0, h, [1.0], [f0]),
            (FixedFormula::Rk4, _) => {
                combine(g, y0, h, [0.5], [f0]);
                cx.rhs(t + 0.5 * h, g, k2)?;
                combine(g, y0, h, [0.5], [k2]);
                cx.rhs(t + 0.5 * h, g, k3)?;
                combine(g, y0, h, [1.0], [k3]);
                cx.rhs(t + h, g, k4)?;
                let weights = [1.0 / 6.0, 1.0 / 3.0, 1.0 / 3.0, 1.0 / 6.0];
                combine(y1, y0, h, weights, [f0, k2, k3, k4]);
            }
            (FixedFormula::Ab2, Some(h_before)) => {
                // Integral over the step of the line through the last two derivatives.
                let half = 0.5 * h / h_before;
                combine(y1, y0, h, [1.0 + half, -half], [f0, &self.f_before]);
            }
            (FixedFormula::Ab2, None) => {
                // No past yet: Heun's formula keeps the order.
                combine(g, y0, h, [1.0], [f0]);
                cx.rhs(t + h, g, k2)?;
                combine(y1, y0, h, [0.5, 0.5], [f0, k2]);
            }
        }

        if cx.system.projects() {
            cx.project(self.t1, &mut self.y1)?;
        }
        cx.rhs(self.t1, &self.y1, &mut self.f1)
    }
}

impl Stepper for Fixed {
    fn restart(
        &mut self,
        cx: &mut Context<'_>,
        t: f64,
        y: &[f64],
        h: Option<f64>,
    ) -> Result<(), Failure> {
        // The search for events may ask for one shorter step.
        self.first_step = h.filter(|&h| h < self.h);
        (self.t0, self.t1, self.grid_start, self.grid_count) = (t, t, t, 0);
        self.y1.copy_from_slice(y);
        self.h_before = None;
        cx.rhs(t, y, &mut self.f1).map_err(Trouble::into_failure)
    }

    fn go_on(&mut self, cx: &mut Context<'_>, y: &[f64]) -> Result<(), Failure> {
        self.y1.copy_from_slice(y);
        let t = self.t1;
        cx.rhs(t, y, &mut self.f1).map_err(Trouble::into_failure)
    }

    fn advance(&mut self, cx: &mut Context<'_>, t_stop: f64) -> Result<(), Failure> {
        cx.check_work(self.t1)?;
        if self.t1 > self.t0 {
            self.h_before = Some(self.t1 - self.t0);
            std::mem::swap(&mut self.f_before, &mut self.f0);
        }
        self.t0 = self.t1;
        std::mem::swap(&mut self.y0, &mut self.y1);
        std::mem::swap(&mut self.f0, &mut self.f1);

        let is_first = self.first_step.is_some();
        // Multiples of h, not sums of it: no drift over many steps.
        let on_grid = match self.first_step.take() {
            Some(h) => self.t0 + h,
            None => self.grid_start + (self.grid_count + 1) as f64 * self.h,
        };
        if on_grid + STRETCH * self.h >= t_stop {
            self.t1 = t_stop;
            (self.grid_start, self.grid_count) = (t_stop, 0);
        } else if is_first {
            self.t1 = on_grid;
            (self.grid_start, self.grid_count) = (on_grid, 0);
        } else {
            self.t1 = on_grid;
            self.grid_count += 1;
        }
        match self.step(cx, self.t1 - self.t0) {
            Ok(()) => {
                cx.statistics.steps += 1;
                Ok(())
            }
            Err(trouble) => {
                self.t1 = self.t0;
                self.y1.copy_from_slice(&self.y0);
                Err(trouble.into_failure())
            }
        }
    }

    fn t0(&self) -> f64 {
        self.t0
    }

    fn t1(&self) -> f64 {
        self.t1
    }

    fn y1(&self) -> &[f64] {
        &self.y1
    }

    fn prepare_dense(&mut self, _cx: &mut Context<'_>) -> Result<(), Failure> {
        Ok(())
    }

    fn interpolate(&self, t: f64, y: &mut [f64]) {
        let h = self.t1 - self.t0;
        let theta = (t - self.t0) / h;
        let rest = 1.0 - theta;
        for i in 0..y.len() {
            let gap = self.y1[i] - self.y0[i];
            let start = h * self.f0[i] - gap;
            let end = gap - h * self.f1[i];
            y[i] = self.y0[i] + theta * (gap + rest * (rest * start + theta * end));
        }
    }

    fn natural_step(&self) -> f64 {
        self.h
    }
}
