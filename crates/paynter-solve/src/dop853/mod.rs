//! Explicit Runge–Kutta method of order 8 with dense output of order 7.
//!
//! Source: Dormand & Prince's 8(5,3) method as in Hairer, Nørsett & Wanner, *Solving Ordinary
//! Differential Equations I*, 2nd ed., §II.5 and §II.6. Error estimates of orders 5 and
//! 3 are blended; the dense output takes three more evaluations, made only when asked for.
//! Zero coefficients are left out; the comment beside each number is the stage it weighs.

mod coefficients;

use crate::one_step::{Formula, Ready, Span, remove_along};
use crate::stepper::{
    Context, Stages, StepQuadrature, Stiffness, Trouble, combine, weighted_norm, worst_index, zeros,
};
use crate::tableau::Trial;
use coefficients::*;

/// The error is taken for this many times its estimate. An oscillation sums the errors of all
/// its steps up; with 2, a hundred periods keep their energy to ten times the tolerance. It
/// costs a tenth more steps.
const ERROR_WEIGHT: f64 = 2.0;

/// Where the defect of the interpolant is taken, and how many times the peak of the interpolant's error it is
/// there. Over all chains of integrations that end in t⁸ the quotient lies between 8.4 and 8.9, the peak at 0.83;
/// for the plain quadrature, whose error is a hundredth, it is 5.6.
const DEFECT_AT: f64 = 0.95;
const DEFECT_OVER_PEAK: f64 = 8.0;
/// An interpolant that errs by more times the tolerance than this is replaced. Its error is not carried on by the
/// next step as that of the end is, so it may be a little larger.
const MAX_INTERPOLANT_ERROR: f64 = 4.0;
/// Two halves may end so many tolerances beside the step that they go over: its own error, and theirs.
const MAX_GAP_OF_HALVES: f64 = 10.0;
/// Or, of a stable step, so many times what the interpolant of the whole errs by: a projection moves the end, and
/// variables that stay at zero have no tolerance to speak of.
const MAX_GAP_OVER_ERROR: f64 = 100.0;
/// Each halving divides the error by 2⁸; three are enough for a step sixteen million times too rough.
const MAX_HALVINGS: usize = 3;

/// Work arrays of the method.
pub(crate) struct Dop853 {
    /// Rates at stages 1 … 13, one after the other.
    k: Vec<f64>,
    stage: Vec<f64>,
    /// Errors by the estimates `E5`, `E5_ACROSS` and `E3`, one after the other.
    errors: Vec<f64>,
    /// Rates at stages 14, 15, 16, then the coefficients of the interpolant; made when first asked for.
    dense: Vec<f64>,
    /// Integrands of the quadratures at stages 1, 6 … 13.
    rates: Vec<f64>,
    /// Integrals over the step and the estimates of their errors.
    integrals: Vec<f64>,
    has_integrals: bool,
    stiffness: Option<Stiffness>,
    /// The step in two halves, where its interpolant was too rough; made when first needed.
    halves: Option<Box<[Half; 2]>>,
    is_halved: bool,
    /// How often the step that this goes over was halved.
    depth: usize,
}

/// Number of stages that every step evaluates, and of those among them whose integrands are taken.
const N_STAGES: usize = 13;
const N_WEIGHED: usize = 9;
const N_ERRORS: usize = 3;

impl Dop853 {
    pub(crate) fn new(n: usize, n_quadratures: usize) -> Self {
        Self {
            k: zeros(N_STAGES * n),
            stage: zeros(n),
            errors: zeros(N_ERRORS * n),
            dense: Vec::new(),
            rates: zeros(N_WEIGHED * n_quadratures),
            integrals: zeros(TABLEAU.integrals.len() * n_quadratures),
            has_integrals: false,
            stiffness: None,
            halves: None,
            is_halved: false,
            depth: 0,
        }
    }
}

/// Cuts S rows of equal length.
fn rows<const S: usize>(data: &mut [f64]) -> [&mut [f64]; S] {
    let n = data.len() / S;
    let mut rest = data;
    std::array::from_fn(|_| {
        let (row, after) = std::mem::take(&mut rest).split_at_mut(n);
        rest = after;
        row
    })
}

/// The errors of fifth order, of fifth order across, and of third order, from the stages that the step weighs.
#[inline]
fn estimate_errors(
    [error5, across5, error3]: [&mut [f64]; N_ERRORS],
    weighed: [&[f64]; 8],
    h: f64,
) {
    let n = error5.len();
    let weighed = weighed.map(|stage| &stage[..n]);
    let (across5, error3) = (&mut across5[..n], &mut error3[..n]);
    for i in 0..n {
        let first = weighed[0][i];
        let (mut sum5, mut across, mut sum3) = (E5[0] * first, E5_ACROSS[0] * first, E3[0] * first);
        for j in 1..8 {
            sum5 += E5[j] * weighed[j][i];
            across += E5_ACROSS[j] * weighed[j][i];
            sum3 += E3[j] * weighed[j][i];
        }
        error5[i] = h * sum5;
        across5[i] = h * across;
        error3[i] = h * sum3;
    }
}

impl Formula for Dop853 {
    const ERROR_ORDER: f64 = 8.0;
    const BETA: f64 = 0.0;
    const MAX_GROWTH: f64 = 6.0;
    /// Neither the step nor its error estimate weighs the first stages after the start.
    const NODES: &'static [f64] = coefficients::C.split_at(11).0.split_at(5).1;
    const IS_EXPLICIT: bool = true;
    /// Along the negative real axis (Hairer & Wanner, *Solving ODEs II*, §IV.2).
    const STABILITY_LIMIT: f64 = 6.1;

    fn begin(&mut self, cx: &mut Context<'_>, t: f64, y: &[f64], _h: f64) -> Result<(), Trouble> {
        let n_quadratures = self.rates.len() / N_WEIGHED;
        let (k1, p1) = (&mut self.k[..y.len()], &mut self.rates[..n_quadratures]);
        cx.rhs_and_rates(t, y, k1, p1)
    }

    fn attempt(
        &mut self,
        cx: &mut Context<'_>,
        (t, h): (f64, f64),
        y0: &[f64],
        y1: &mut [f64],
    ) -> Result<(), Trouble> {
        let is_made = cx.step(Trial {
            tableau: &TABLEAU,
            t,
            h,
            y0,
            rates: &mut self.k,
            integrands: &mut self.rates,
            last_stage: &mut self.stage,
            y1,
            errors: &mut self.errors,
            integrals: &mut self.integrals,
        });
        self.has_integrals = is_made;
        if is_made {
            return Ok(());
        }
        let [k1, k2, k3, k4, k5, k6, k7, k8, k9, k10, k11, k12, _] = rows::<N_STAGES>(&mut self.k);
        let [_, p6, p7, p8, p9, p10, p11, p12, _] = rows::<N_WEIGHED>(&mut self.rates);
        let g = &mut self.stage;
        combine(g, y0, h, A2, [k1]);
        cx.rhs(t + C[1] * h, g, k2)?;
        combine(g, y0, h, A3, [k1, k2]);
        cx.rhs(t + C[2] * h, g, k3)?;
        combine(g, y0, h, A4, [k1, k3]);
        cx.rhs(t + C[3] * h, g, k4)?;
        combine(g, y0, h, A5, [k1, k3, k4]);
        cx.rhs(t + C[4] * h, g, k5)?;
        combine(g, y0, h, A6, [k1, k4, k5]);
        cx.rhs_and_rates(t + C[5] * h, g, k6, p6)?;
        combine(g, y0, h, A7, [k1, k4, k5, k6]);
        cx.rhs_and_rates(t + C[6] * h, g, k7, p7)?;
        combine(g, y0, h, A8, [k1, k4, k5, k6, k7]);
        cx.rhs_and_rates(t + C[7] * h, g, k8, p8)?;
        combine(g, y0, h, A9, [k1, k4, k5, k6, k7, k8]);
        cx.rhs_and_rates(t + C[8] * h, g, k9, p9)?;
        combine(g, y0, h, A10, [k1, k4, k5, k6, k7, k8, k9]);
        cx.rhs_and_rates(t + C[9] * h, g, k10, p10)?;
        combine(g, y0, h, A11, [k1, k4, k5, k6, k7, k8, k9, k10]);
        cx.rhs_and_rates(t + C[10] * h, g, k11, p11)?;
        combine(g, y0, h, A12, [k1, k4, k5, k6, k7, k8, k9, k10, k11]);
        cx.rhs_and_rates(t + h, g, k12, p12)?;

        let weighed: [&[f64]; 8] = [k1, k6, k7, k8, k9, k10, k11, k12];
        combine(y1, y0, h, B, weighed);
        estimate_errors(rows::<N_ERRORS>(&mut self.errors), weighed, h);
        Ok(())
    }

    fn error_norm(&self, _h: f64, inverse_scale: &[f64]) -> f64 {
        let n = inverse_scale.len();
        let (error5, rest) = self.errors.split_at(n);
        let (error5_across, error3) = rest.split_at(n);
        let (mut sum5, mut squares5, mut sum3) = (0.0, 0.0, 0.0);
        for i in 0..n {
            let e5 = error5[i] * inverse_scale[i];
            let across = error5_across[i] * inverse_scale[i];
            let e3 = error3[i] * inverse_scale[i];
            let square = e5 * e5 + across * across;
            sum5 += square;
            squares5 += square * square;
            sum3 += e3 * e3;
        }
        let blend = sum5 + 0.01 * sum3;
        if blend > 0.0 {
            // In place of √n, as in `error_size`: the variables that share the error.
            ERROR_WEIGHT * (squares5 / blend).sqrt()
        } else {
            // Keeps NaN from being taken for a perfect step.
            blend
        }
    }

    fn worst(&self, inverse_scale: &[f64]) -> usize {
        worst_index(&self.errors[..inverse_scale.len()], inverse_scale)
    }

    fn remove_error_along(&mut self, direction: &[f64], inverse_scale: &[f64]) {
        for error in rows::<N_ERRORS>(&mut self.errors) {
            remove_along(error, direction, inverse_scale);
        }
    }

    fn accept(
        &mut self,
        cx: &mut Context<'_>,
        step: Span,
        (_, y1): (&[f64], &[f64]),
        moved: bool,
    ) -> Result<Ready, Trouble> {
        let n = y1.len();
        let n_quadratures = self.rates.len() / N_WEIGHED;
        let (k12, k13) = self.k[(N_STAGES - 2) * n..].split_at_mut(n);
        let p13 = &mut self.rates[(N_WEIGHED - 1) * n_quadratures..];
        cx.rhs_and_rates(step.t1, y1, k13, p13)?;
        // Stages 12 and 13 are at the same time, unless the projection moved the latter.
        self.stiffness = if moved {
            None
        } else {
            Stiffness::estimate(step.h, (&self.stage, y1), (k12, k13))
        };
        Ok(Ready::Shift)
    }

    fn shift(&mut self) {
        let n = self.stage.len();
        self.k.copy_within((N_STAGES - 1) * n.., 0);
        let n = self.rates.len() / N_WEIGHED;
        self.rates.copy_within((N_WEIGHED - 1) * n.., 0);
    }

    fn prepare_dense(
        &mut self,
        cx: &mut Context<'_>,
        step: Span,
        states: (&[f64], &[f64]),
        inverse_scale: &[f64],
    ) -> Result<(), Trouble> {
        self.is_halved = false;
        self.make_interpolant(cx, step, states.0)?;
        if self.depth >= MAX_HALVINGS {
            return Ok(());
        }
        let error = self.interpolant_error(cx, step, states, inverse_scale)?;
        if error <= MAX_INTERPOLANT_ERROR {
            return Ok(());
        }
        let gap = self.halve(cx, step, states, inverse_scale)?;
        let is_unstable = self
            .stiffness
            .is_some_and(|s| s.exceeds(Self::STABILITY_LIMIT));
        let loosely = MAX_GAP_OVER_ERROR * error;
        self.is_halved = gap <= MAX_GAP_OF_HALVES || (!is_unstable && gap <= loosely);
        if !self.is_halved {
            // The cubic through both ends, with their slopes: no stage can carry it away.
            let n = states.0.len();
            self.dense[3 * n..].fill(0.0);
        }
        Ok(())
    }

    fn quadrature(&self, h: f64) -> StepQuadrature<'_> {
        StepQuadrature::Stages(Stages {
            h,
            rates: &self.rates,
            weights: TABLEAU.integrals,
            sums: self.has_integrals.then_some(&self.integrals),
        })
    }

    fn interpolate(&self, theta: f64, h: f64, y0: &[f64], y1: &[f64], out: &mut [f64]) {
        match &self.halves {
            Some(halves) if self.is_halved => interpolate_halves(halves, theta, h, y1, out),
            _ => self.interpolate_whole(theta, h, y0, y1, out),
        }
    }

    fn stiffness(&self) -> Option<Stiffness> {
        self.stiffness
    }
}

impl Dop853 {
    /// Three more stages, and the coefficients of the interpolant.
    fn make_interpolant(
        &mut self,
        cx: &mut Context<'_>,
        step: Span,
        y0: &[f64],
    ) -> Result<(), Trouble> {
        let Span { t0, h, .. } = step;
        let [k1, _, _, _, _, k6, k7, k8, k9, k10, k11, k12, k13] = rows::<N_STAGES>(&mut self.k);
        self.dense.resize(7 * y0.len(), 0.0);
        let [k14, k15, k16, d4, d5, d6, d7] = rows::<7>(&mut self.dense);
        let g = &mut self.stage;
        combine(g, y0, h, A14, [k1, k7, k8, k9, k10, k11, k12, k13]);
        cx.rhs(t0 + C[13] * h, g, k14)?;
        combine(g, y0, h, A15, [k1, k6, k7, k8, k11, k12, k13, k14]);
        cx.rhs(t0 + C[14] * h, g, k15)?;
        combine(g, y0, h, A16, [k1, k6, k7, k8, k9, k13, k14, k15]);
        cx.rhs(t0 + C[15] * h, g, k16)?;
        let weighed: [&[f64]; 12] = [k1, k6, k7, k8, k9, k10, k11, k12, k13, k14, k15, k16];
        for (row, dense) in [D4, D5, D6, D7].into_iter().zip([d4, d5, d6, d7]) {
            for i in 0..dense.len() {
                let mut sum = 0.0;
                for j in 0..12 {
                    sum += row[j] * weighed[j][i];
                }
                dense[i] = h * sum;
            }
        }
        Ok(())
    }

    /// Size of the interpolant's own error at its peak, by the defect `u̇ − f(u)` at one point: its leading
    /// term has nearly the same course over the step whatever the equation. A step that stability limits,
    /// not accuracy, shows up, too: there the interpolant magnifies what is left of the fast modes.
    fn interpolant_error(
        &mut self,
        cx: &mut Context<'_>,
        step: Span,
        (y0, y1): (&[f64], &[f64]),
        inverse_scale: &[f64],
    ) -> Result<f64, Trouble> {
        let Span { t0, h, .. } = step;
        let n = y0.len();
        let mut y = std::mem::take(&mut self.stage);
        self.interpolate_whole(DEFECT_AT, h, y0, y1, &mut y);

        // The error of the accepted step has been used; its place is free.
        let outcome = cx.rhs(t0 + DEFECT_AT * h, &y, &mut self.errors[..n]);
        self.stage = y;
        outcome?;
        let (f0, f1) = (&self.k[..n], &self.k[(N_STAGES - 1) * n..]);
        let dense = |row: usize| &self.dense[row * n..(row + 1) * n];
        let [d4, d5, d6, d7] = [3, 4, 5, 6].map(dense);
        let (theta, rest) = (DEFECT_AT, 1.0 - DEFECT_AT);

        for i in 0..n {
            let gap = y1[i] - y0[i];
            let bend = h * f0[i] - gap;
            let twist = gap - h * f1[i] - bend;
            // The nested products of the interpolant, from the inside out, each with its derivative by θ.
            let (p, dp) = (d6[i] + theta * d7[i], d7[i]);
            let (p, dp) = (d5[i] + rest * p, rest * dp - p);
            let (p, dp) = (d4[i] + theta * p, p + theta * dp);
            let (p, dp) = (twist + rest * p, rest * dp - p);
            let (p, dp) = (bend + theta * p, p + theta * dp);
            let (p, dp) = (gap + rest * p, rest * dp - p);
            let slope = p + theta * dp;
            self.errors[i] = (slope - h * self.errors[i]) / DEFECT_OVER_PEAK;
        }
        Ok(weighted_norm(&self.errors[..n], inverse_scale))
    }

    /// Goes over the step once more in two halves, for reading only: the end of the step stays what it is. Tells how
    /// many tolerances beside it they end. Where the step was far beyond the limit of stability, and passed because
    /// all was at rest, the roundings of the halves need not cancel.
    fn halve(
        &mut self,
        cx: &mut Context<'_>,
        step: Span,
        (y0, y1): (&[f64], &[f64]),
        inverse_scale: &[f64],
    ) -> Result<f64, Trouble> {
        let n = y0.len();
        let depth = self.depth + 1;
        let halves = self
            .halves
            .get_or_insert_with(|| Box::new([Half::new(n, depth), Half::new(n, depth)]));
        let [left, right] = &mut **halves;
        let h = 0.5 * step.h;
        let middle = step.t0 + h;
        left.y0.copy_from_slice(y0);
        left.method.k[..n].copy_from_slice(&self.k[..n]);
        let first = Span {
            t0: step.t0,
            t1: middle,
            h,
        };
        let second = Span {
            t0: middle,
            t1: step.t1,
            h,
        };
        let mut outcome = left.pass(cx, first, inverse_scale);
        if outcome.is_ok() {
            right.y0.copy_from_slice(&left.y1);
            let last = (N_STAGES - 1) * n;
            right.method.k[..n].copy_from_slice(&left.method.k[last..]);
            outcome = right.pass(cx, second, inverse_scale);
        }

        match outcome {
            Err(trouble) if trouble.is_fatal() => return Err(trouble),
            Err(_) => return Ok(f64::INFINITY),
            Ok(()) => {}
        }

        let gaps = y1.iter().zip(&right.y1).map(|(a, b)| a - b);
        self.errors[..n]
            .iter_mut()
            .zip(gaps)
            .for_each(|(to, gap)| *to = gap);
        Ok(weighted_norm(&self.errors[..n], inverse_scale))
    }

    fn interpolate_whole(&self, theta: f64, h: f64, y0: &[f64], y1: &[f64], out: &mut [f64]) {
        let rest = 1.0 - theta;
        let n = out.len();
        let (f0, f1) = (&self.k[..n], &self.k[(N_STAGES - 1) * n..]);
        let dense = |row: usize| &self.dense[row * n..(row + 1) * n];
        let [d4, d5, d6, d7] = [3, 4, 5, 6].map(dense);
        for i in 0..out.len() {
            let gap = y1[i] - y0[i];
            let bend = h * f0[i] - gap;
            let twist = gap - h * f1[i] - bend;
            let high = d4[i] + theta * (d5[i] + rest * (d6[i] + theta * d7[i]));
            out[i] = y0[i] + theta * (gap + rest * (bend + theta * (twist + rest * high)));
        }
    }
}

/// One half of a step that is gone over again.
struct Half {
    method: Dop853,
    y0: Vec<f64>,
    y1: Vec<f64>,
}

impl Half {
    fn new(n: usize, depth: usize) -> Self {
        Self {
            method: Dop853 {
                depth,
                ..Dop853::new(n, 0)
            },
            y0: zeros(n),
            y1: zeros(n),
        }
    }

    /// Makes the step from `y0` and its interpolant; the first stage is there.
    fn pass(
        &mut self,
        cx: &mut Context<'_>,
        step: Span,
        inverse_scale: &[f64],
    ) -> Result<(), Trouble> {
        let Self { method, y0, y1 } = self;
        method.attempt(cx, (step.t0, step.h), y0, y1)?;
        method.accept(cx, step, (y0, y1), false)?;
        method.prepare_dense(cx, step, (y0, y1), inverse_scale)
    }
}

/// Reads the half that `θ` lies in. The halves end a little beside the step's own end; the gap is spread over
/// the step without a kink.
fn interpolate_halves(halves: &[Half; 2], theta: f64, h: f64, y1: &[f64], out: &mut [f64]) {
    let [left, right] = halves;
    let (half, theta_of_half) = if theta < 0.5 {
        (left, 2.0 * theta)
    } else {
        (right, 2.0 * theta - 1.0)
    };
    half.method
        .interpolate(theta_of_half, 0.5 * h, &half.y0, &half.y1, out);
    let share = theta * theta * (3.0 - 2.0 * theta);
    for i in 0..out.len() {
        out[i] += share * (y1[i] - right.y1[i]);
    }
}
