//! Rosenbrock method of order 5(4) with an interpolant of order 4, for stiff systems and for
//! systems with algebraic rows (index 1).
//!
//! Source: G. Steinebach, "Construction of Rosenbrock–Wanner method Rodas5P and numerical
//! benchmarks within the Julia Differential Equations package", BIT Numer. Math. 63 (2023) 27.
//! Each step takes one Jacobian, one factorisation and eight solutions; there is no Newton
//! iteration that could fail. The order tests of this crate check the coefficients.

use crate::jacobian::Jacobian;
use crate::linear::{IterationMatrix, Singular};
use crate::one_step::{Formula, Ready, Span, remove_along};
use crate::options::Function;
use crate::stepper::{Context, StepQuadrature, Trouble, combine, error_size, worst_index};

const STAGES: usize = 8;
const GAMMA: f64 = 0.21193756319429014;

/// Row `i` weighs the earlier stages in the argument of stage `i + 1`. The last two rows are
/// row 6 plus the stages before: each of those stages starts from the solution so far.
const A: [[f64; 5]; 6] = [
    [0.0; 5],
    [3.0, 0.0, 0.0, 0.0, 0.0],
    [2.849394379747939, 0.45842242204463923, 0.0, 0.0, 0.0],
    [
        -6.954028509809101,
        2.489845061869568,
        -10.358996098473584,
        0.0,
        0.0,
    ],
    [
        2.8029986275628964,
        0.5072464736228206,
        -0.3988312541770524,
        -0.04721187230404641,
        0.0,
    ],
    [
        -7.502846399306121,
        2.561846144803919,
        -11.627539656261098,
        -0.18268767659942256,
        0.030198172008377946,
    ],
];

/// Weights of earlier stages under the mass matrix.
const C: [[f64; 7]; STAGES] = [
    [0.0; 7],
    [-14.155112264123755, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0],
    [
        -17.97296035885952,
        -2.859693295451294,
        0.0,
        0.0,
        0.0,
        0.0,
        0.0,
    ],
    [
        147.12150275711716,
        -1.41221402718213,
        71.68940251302358,
        0.0,
        0.0,
        0.0,
        0.0,
    ],
    [
        165.43517024871676,
        -0.4592823456491126,
        42.90938336958603,
        -5.961986721573306,
        0.0,
        0.0,
        0.0,
    ],
    [
        24.854864614690072,
        -3.0009227002832186,
        47.4931110020768,
        5.5814197821558125,
        -0.6610691825249471,
        0.0,
        0.0,
    ],
    [
        30.91273214028599,
        -3.1208243349937974,
        77.79954646070892,
        34.28646028294783,
        -19.097331116725623,
        -28.087943162872662,
        0.0,
    ],
    [
        37.80277123390563,
        -3.2571969029072276,
        112.26918849496327,
        66.9347231244047,
        -40.06618937091002,
        -54.66780262877968,
        -9.48861652309627,
    ],
];

const NODES: [f64; STAGES] = [
    0.0,
    0.6358126895828704,
    0.4095798393397535,
    0.9769306725060716,
    0.4288403609558664,
    1.0,
    1.0,
    1.0,
];

/// Weights of `h ∂f/∂t`; 0 for the last three stages.
const D: [f64; 5] = [
    0.21193756319429014,
    -0.42387512638858027,
    -0.3384627126235924,
    1.8046452872882734,
    2.325825639765069,
];

/// Rows of the interpolant.
const H: [[f64; STAGES]; 3] = [
    [
        25.948786856663858,
        -2.5579724845846235,
        10.433815404888879,
        -2.3679251022685204,
        0.524948541321073,
        1.1241088310450404,
        0.4272876194431874,
        -0.17202221070155493,
    ],
    [
        -9.91568850695171,
        -0.9689944594115154,
        3.0438037242978453,
        -24.495224566215796,
        20.176138334709044,
        15.98066361424651,
        -6.789040303419874,
        -6.710236069923372,
    ],
    [
        11.419903575922262,
        2.8879645146136994,
        72.92137995996029,
        80.12511834622643,
        -52.072871366152654,
        -59.78993625266729,
        -0.15582684282751913,
        4.883087185713722,
    ],
];

/// Products with the Jacobian of each step, for an estimate of its spectral radius. They go on from step to step.
const POWER_PRODUCTS: u8 = 2;
/// From this `h ρ(J)` on, the quadratures go the way of the states. Where nothing is stiff, points on the interpolant are
/// more right.
const MIN_STEP_OF_OWN_SUMS: f64 = 0.1;
/// From this `h ρ(J)` on, ends of steps and interpolant are no longer equally right.
const MIN_STIFF_STEP: f64 = 1.0;
/// The interpolant may err by five times the tolerance at the middle of a step, before it is mended there.
const SHARE_OF_MIDDLE: f64 = 0.2;

/// Work arrays of the method.
pub(crate) struct Rodas5P {
    jacobian: Jacobian,
    matrix: IterationMatrix,
    /// 1 for differential rows, 0 for algebraic ones.
    mass: Vec<f64>,
    f0: Vec<f64>,
    /// `∂f/∂t`.
    ft: Vec<f64>,
    /// Stages.
    u: [Vec<f64>; STAGES],
    stage: Vec<f64>,
    f: Vec<f64>,
    dense: [Vec<f64>; 3],
    /// What the interpolant of the last attempt errs by at the middle of the step, by its defect.
    middle_error: Vec<f64>,
    spectral_radius: f64,
    /// `h ρ(J)` of the last attempt; infinite if there are algebraic rows.
    h_rho: f64,
    quadrature: Quadrature,
}

/// The quadratures as further rows of the system, on which nothing depends: their increments follow from the
/// integrands at the stages, and from one derivative of them.
struct Quadrature {
    /// Weights of the stages, for a step of 1.
    weights: [f64; STAGES],
    /// Integrands, stage after stage.
    rates: Vec<f64>,
    /// Integrands on both sides of the start of the step.
    beside: [Vec<f64>; 2],
    increments: Vec<f64>,
}

impl Quadrature {
    fn new(n: usize) -> Self {
        // Row by row (I − γ C) U = γ h G, and the increment is m U with the weights m of the stages in y1.
        let last = &A[STAGES - 3];
        let mut weights: [f64; STAGES] =
            std::array::from_fn(|s| last.get(s).copied().unwrap_or(1.0));
        for s in (0..STAGES).rev() {
            for later in s + 1..STAGES {
                weights[s] += GAMMA * C[later][s] * weights[later];
            }
        }
        Self {
            weights: weights.map(|weight| GAMMA * weight),
            rates: vec![0.0; STAGES * n],
            beside: std::array::from_fn(|_| vec![0.0; n]),
            increments: vec![0.0; n],
        }
    }

    /// Room for the integrands at a stage.
    fn stage(&mut self, s: usize) -> &mut [f64] {
        let n = self.increments.len();
        &mut self.rates[s * n..(s + 1) * n]
    }
}

/// Part of the sum of the stages by which integrands are taken beside the start of a step. Powers are mostly products of
/// two states, for which any part is right; a small one would magnify roundings.
const BESIDE: f64 = 1.0 / 16.0;

impl Rodas5P {
    pub(crate) fn new(cx: &Context<'_>) -> Self {
        let n = cx.system.n();
        let jacobian = Jacobian::new(cx.system);
        let algebraic = cx.system.algebraic();
        let matrix = IterationMatrix::new(n, jacobian.pattern(), algebraic);
        let is_algebraic = |i| algebraic.get(i).copied().unwrap_or(false);
        let zeros = || vec![0.0; n];
        Self {
            jacobian,
            matrix,
            mass: (0..n)
                .map(|i| if is_algebraic(i) { 0.0 } else { 1.0 })
                .collect(),
            f0: zeros(),
            ft: zeros(),
            u: std::array::from_fn(|_| zeros()),
            stage: zeros(),
            f: zeros(),
            dense: std::array::from_fn(|_| zeros()),
            middle_error: zeros(),
            spectral_radius: 0.0,
            h_rho: 0.0,
            quadrature: Quadrature::new(cx.system.n_quadratures()),
        }
    }

    /// Finds the increments of the quadratures over the step from `(t, y0)`.
    ///
    /// The sum of `wₛ (g(tₛ, yₛ) + ∂g/∂y uₛ + h dₛ ∂g/∂t)`. The second term is one derivative along a line; the last
    /// one vanishes, since the weights of the stages alone integrate what depends on time only.
    fn find_increments(
        &mut self,
        cx: &mut Context<'_>,
        (t, h): (f64, f64),
        y0: &[f64],
    ) -> Result<(), Trouble> {
        let weights = self.quadrature.weights;
        let what = Function::QuadratureRates;
        for (beside, part) in self.quadrature.beside.iter_mut().zip([BESIDE, -BESIDE]) {
            let parts = weights.map(|weight| part * weight);
            weigh::<STAGES>(&mut self.stage, Some(y0), &parts, &self.u);
            cx.system
                .quadrature_rates(t, &self.stage, beside)
                .map_err(|error| Trouble::Evaluation { t, error, what })?;
        }
        let n = self.quadrature.increments.len();
        let [ahead, behind] = &self.quadrature.beside;
        let rates = &self.quadrature.rates;
        for (i, increment) in self.quadrature.increments.iter_mut().enumerate() {
            let mut sum = (ahead[i] - behind[i]) / (2.0 * BESIDE);
            for (s, weight) in weights.iter().enumerate() {
                sum += weight * rates[s * n + i];
            }
            *increment = h * sum;
        }
        Ok(())
    }

    /// Writes what the interpolant errs by at `t0 + θ h` into `stage`.
    ///
    /// Ends of stiff steps lie where the fast components have come to rest, as the last stages see to; the interpolant
    /// between them does not know it. Its defect `f − M ẏ`, solved with the factors of the step, tells how far it is
    /// from there. Components that are not stiff are moved within the error of the interpolant.
    fn find_error_inside(
        &mut self,
        cx: &mut Context<'_>,
        (t, h): (f64, f64),
        theta: f64,
        (y0, y1): (&[f64], &[f64]),
    ) -> Result<(), Trouble> {
        let n = y0.len();
        let mut y = std::mem::take(&mut self.f);
        self.interpolate(theta, h, y0, y1, &mut y);
        self.f = y;
        cx.rhs(t + theta * h, &self.f, &mut self.stage)?;
        let [d2, d3, d4] = &self.dense;
        let rest = 1.0 - theta;
        for i in 0..n {
            let bend = d2[i] + theta * (d3[i] + theta * d4[i]);
            let slope = d3[i] + 2.0 * theta * d4[i];
            let rate = y1[i] - y0[i] + (rest - theta) * bend + theta * rest * slope;
            self.stage[i] -= self.mass[i] * rate / h;
        }
        cx.statistics.linear_solves += 1;
        cx.statistics.linear_work += self.matrix.solve(&mut self.stage);
        Ok(())
    }

    /// Computes `∂f/∂t`, by a difference quotient where the system does not give it.
    fn find_time_derivative(
        &mut self,
        cx: &mut Context<'_>,
        t: f64,
        y: &[f64],
        h: f64,
    ) -> Result<(), Trouble> {
        let what = Function::TimeDerivative;
        let is_given = cx
            .system
            .time_derivative(t, y, &mut self.ft)
            .map_err(|error| Trouble::Evaluation { t, error, what })?;
        if is_given {
            return refuse(t, &self.ft, what);
        }
        // A small part of the step resolves whatever the step itself resolves; at least so
        // much that rounding of t does not spoil the quotient.
        let wished = (1e-7 * h).max(1e4 * f64::EPSILON * t.abs());
        let increment = (t + wished) - t;
        cx.rhs(t + increment, y, &mut self.ft)?;
        for (ft, f0) in self.ft.iter_mut().zip(&self.f0) {
            *ft = (*ft - f0) / increment;
        }
        Ok(())
    }
}

impl Rodas5P {
    /// Makes the interpolant of the formula itself.
    fn find_dense(&mut self) {
        for (row, dense) in H.iter().zip(&mut self.dense) {
            weigh::<STAGES>(dense, None, row, &self.u);
        }
    }
}

fn refuse(t: f64, values: &[f64], what: Function) -> Result<(), Trouble> {
    crate::stepper::refuse_not_finite(t, values, what)
}

impl Formula for Rodas5P {
    const ERROR_ORDER: f64 = 5.0;
    const BETA: f64 = 0.0;
    const MAX_GROWTH: f64 = 6.0;
    const NODES: &'static [f64] = NODES.split_at(5).0.split_at(1).1;
    const IS_EXPLICIT: bool = false;
    const STABILITY_LIMIT: f64 = f64::INFINITY;

    /// Undamped motion sums the errors of all steps up; with this, a pendulum of four periods errs by less
    /// than ten times the tolerance.
    fn error_weight(_relative: f64) -> f64 {
        1.5
    }

    fn begin(&mut self, cx: &mut Context<'_>, t: f64, y: &[f64], h: f64) -> Result<(), Trouble> {
        cx.rhs_and_rates(t, y, &mut self.f0, self.quadrature.stage(0))?;
        self.find_time_derivative(cx, t, y, h)?;
        self.jacobian.evaluate(cx, t, y, &self.f0)?;
        self.spectral_radius = if self.mass.contains(&0.0) {
            f64::INFINITY
        } else {
            self.jacobian.spectral_radius(POWER_PRODUCTS)
        };
        Ok(())
    }

    fn attempt(
        &mut self,
        cx: &mut Context<'_>,
        (t, h): (f64, f64),
        y0: &[f64],
        y1: &mut [f64],
    ) -> Result<(), Trouble> {
        let n = y0.len();
        cx.statistics.factorisations += 1;
        let work = self.matrix.factor(1.0 / (h * GAMMA), &self.jacobian.values);
        cx.statistics.linear_work +=
            work.map_err(|Singular(index)| Trouble::Singular { t, index })?;
        for s in 0..STAGES {
            let (earlier, rest) = self.u.split_at_mut(s);
            let u = &mut rest[0][..n];
            if s == 0 {
                self.f.copy_from_slice(&self.f0);
            } else {
                match s {
                    1 => weigh::<1>(&mut self.stage, Some(y0), &A[1], earlier),
                    2 => weigh::<2>(&mut self.stage, Some(y0), &A[2], earlier),
                    3 => weigh::<3>(&mut self.stage, Some(y0), &A[3], earlier),
                    4 => weigh::<4>(&mut self.stage, Some(y0), &A[4], earlier),
                    5 => weigh::<5>(&mut self.stage, Some(y0), &A[5], earlier),
                    // The last two start from the argument before plus the stage before.
                    _ => add(&mut self.stage, &earlier[s - 1]),
                }
                let rates = self.quadrature.stage(s);
                cx.rhs_and_rates(t + NODES[s] * h, &self.stage, &mut self.f, rates)?;
            }
            match s {
                0 => u.fill(0.0),
                1 => weigh::<1>(u, None, &C[1], earlier),
                2 => weigh::<2>(u, None, &C[2], earlier),
                3 => weigh::<3>(u, None, &C[3], earlier),
                4 => weigh::<4>(u, None, &C[4], earlier),
                5 => weigh::<5>(u, None, &C[5], earlier),
                6 => weigh::<6>(u, None, &C[6], earlier),
                _ => weigh::<7>(u, None, &C[7], earlier),
            }
            let time_weight = D.get(s).map_or(0.0, |d| h * d);
            let inverse_h = 1.0 / h;
            let (f, ft, mass) = (&self.f[..n], &self.ft[..n], &self.mass[..n]);
            for i in 0..n {
                u[i] = f[i] + time_weight * ft[i] + mass[i] * inverse_h * u[i];
            }
            cx.statistics.linear_solves += 1;
            cx.statistics.linear_work += self.matrix.solve(u);
        }

        y1.copy_from_slice(&self.stage);
        add(y1, &self.u[STAGES - 1]);
        refuse(t + h, y1, Function::Rhs).map_err(|_| Trouble::Singular { t, index: None })?;
        self.h_rho = h * self.spectral_radius;
        if self.h_rho > MIN_STIFF_STEP {
            self.find_dense();
            self.find_error_inside(cx, (t, h), 0.5, (y0, y1))?;
            std::mem::swap(&mut self.middle_error, &mut self.stage);
        }
        Ok(())
    }

    fn error_norm(&self, _h: f64, inverse_scale: &[f64]) -> f64 {
        let at_end = error_size(&self.u[STAGES - 1], inverse_scale);
        if self.h_rho > MIN_STIFF_STEP {
            at_end.max(SHARE_OF_MIDDLE * error_size(&self.middle_error, inverse_scale))
        } else {
            at_end
        }
    }

    fn worst(&self, inverse_scale: &[f64]) -> usize {
        worst_index(&self.u[STAGES - 1], inverse_scale)
    }

    fn remove_error_along(&mut self, direction: &[f64], inverse_scale: &[f64]) {
        remove_along(&mut self.u[STAGES - 1], direction, inverse_scale);
    }

    fn accept(
        &mut self,
        cx: &mut Context<'_>,
        step: Span,
        (y0, _): (&[f64], &[f64]),
        _moved: bool,
    ) -> Result<Ready, Trouble> {
        if !self.quadrature.increments.is_empty() && self.h_rho > MIN_STEP_OF_OWN_SUMS {
            self.find_increments(cx, (step.t0, step.h), y0)?;
        }
        Ok(Ready::NotBegun)
    }

    fn prepare_dense(
        &mut self,
        cx: &mut Context<'_>,
        step: Span,
        states: (&[f64], &[f64]),
        _inverse_scale: &[f64],
    ) -> Result<(), Trouble> {
        self.find_dense();
        if self.h_rho <= MIN_STIFF_STEP {
            return Ok(());
        }
        let n = states.0.len();
        let mut quarter = vec![0.0; n];
        self.find_error_inside(cx, (step.t0, step.h), 0.25, states)?;
        quarter.copy_from_slice(&self.stage);
        self.find_error_inside(cx, (step.t0, step.h), 0.75, states)?;
        // θ (1 − θ) (c₂ + c₃ θ + c₄ θ²) with the errors found as its values at ¼, ½ and ¾.
        let [d2, d3, d4] = &mut self.dense;
        for i in 0..n {
            let left = quarter[i] * (16.0 / 3.0);
            let middle = self.middle_error[i] * 4.0;
            let right = self.stage[i] * (16.0 / 3.0);
            d2[i] += 3.0 * left - 3.0 * middle + right;
            d3[i] += -10.0 * left + 16.0 * middle - 6.0 * right;
            d4[i] += 8.0 * left - 16.0 * middle + 8.0 * right;
        }
        Ok(())
    }

    fn quadrature(&self, _h: f64) -> StepQuadrature<'_> {
        if self.h_rho > MIN_STEP_OF_OWN_SUMS {
            StepQuadrature::Done(&self.quadrature.increments)
        } else {
            StepQuadrature::Dense
        }
    }

    fn interpolate(&self, theta: f64, _h: f64, y0: &[f64], y1: &[f64], out: &mut [f64]) {
        let rest = 1.0 - theta;
        let [d2, d3, d4] = &self.dense;
        for i in 0..out.len() {
            let bend = d2[i] + theta * (d3[i] + theta * d4[i]);
            out[i] = rest * y0[i] + theta * (y1[i] + rest * bend);
        }
    }

    fn spectral_bound(&self) -> Option<f64> {
        // Algebraic rows leave no choice of method.
        let is_ode = self.mass.iter().all(|&mass| mass == 1.0);
        is_ode.then(|| self.jacobian.column_norm())
    }
}

/// `sum = base + Σ aⱼ uⱼ` over the first `S` terms, in one pass.
fn weigh<const S: usize>(sum: &mut [f64], base: Option<&[f64]>, a: &[f64], u: &[Vec<f64>]) {
    let n = sum.len();
    let a: [f64; S] = std::array::from_fn(|j| a[j]);
    let u: [&[f64]; S] = std::array::from_fn(|j| &u[j][..n]);
    match base {
        Some(base) => combine(sum, base, 1.0, a, u),
        None => {
            for i in 0..n {
                let mut total = 0.0;
                for j in 0..S {
                    total += a[j] * u[j][i];
                }
                sum[i] = total;
            }
        }
    }
}

fn add(sum: &mut [f64], term: &[f64]) {
    for (sum, term) in sum.iter_mut().zip(term) {
        *sum += term;
    }
}
