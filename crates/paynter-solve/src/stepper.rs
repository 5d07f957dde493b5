//! The common shape of all methods, seen by the driver.
//!
//! In:  a system and a state to start from.
//! Out: one accepted step after the other, each with its interpolant.
//!
//! **Invariant:** after `advance`, `t0 < t1 ≤ t_stop`, `y0` and `y1` are the states at both
//! ends, and `interpolate` is continuous between them.

use crate::noise::Noise;
use crate::options::{Absolute, Alike, Failure, Function, Statistics, Tolerances};
use crate::system::{EvalError, Projection, System};
use crate::tableau::Trial;

/// What a method works with besides its own memory.
pub(crate) struct Context<'a> {
    pub(crate) system: &'a mut dyn System,
    pub(crate) statistics: &'a mut Statistics,
    pub(crate) weights: &'a mut Weights,
    pub(crate) h_max: f64,
    /// Where the run ends, if nothing ends it before.
    pub(crate) t_end: f64,
    pub(crate) max_steps: usize,
}

impl Context<'_> {
    /// Evaluates `f`, counts it, and refuses values that are not finite.
    #[inline]
    pub(crate) fn rhs(&mut self, t: f64, y: &[f64], f: &mut [f64]) -> Result<(), Trouble> {
        self.statistics.rhs += 1;
        let outcome = self.system.rhs(t, y, f);
        outcome.map_err(|error| Trouble::Evaluation {
            t,
            error,
            what: Function::Rhs,
        })?;
        refuse_not_finite(t, f, Function::Rhs)
    }

    /// Evaluates `f` and the integrands of the quadratures together. Integrands that are not
    /// finite are left to whoever adds them up.
    #[inline]
    pub(crate) fn rhs_and_rates(
        &mut self,
        t: f64,
        y: &[f64],
        f: &mut [f64],
        rates: &mut [f64],
    ) -> Result<(), Trouble> {
        if rates.is_empty() {
            return self.rhs(t, y, f);
        }
        self.statistics.rhs += 1;
        let outcome = self.system.rhs_and_quadrature_rates(t, y, f, rates);
        outcome.map_err(|error| Trouble::Evaluation {
            t,
            error,
            what: Function::Rhs,
        })?;
        refuse_not_finite(t, f, Function::Rhs)
    }

    /// Lets the system make all stages of a step at once, and counts them. False if it cannot, or if anything is
    /// odd: then stage by stage will show it.
    #[inline]
    pub(crate) fn step(&mut self, trial: Trial<'_>) -> bool {
        let n_stages = trial.tableau.stages.len();
        let is_made = self.system.step(trial);
        if is_made {
            self.statistics.rhs += n_stages;
        }
        is_made
    }

    /// Projects `y` on the invariants.
    pub(crate) fn project(&mut self, t: f64, y: &mut [f64]) -> Result<Projection, Trouble> {
        let outcome = self.system.project(t, y);
        let projection = outcome.map_err(|error| Trouble::Evaluation {
            t,
            error,
            what: Function::Project,
        })?;
        refuse_not_finite(t, y, Function::Project)?;
        self.statistics.projections += usize::from(projection.moved);
        Ok(projection)
    }

    /// Ends the run when the limit of steps is reached.
    pub(crate) fn check_work(&self, t: f64) -> Result<(), Failure> {
        let steps = self.statistics.steps + self.statistics.rejected;
        if steps >= self.max_steps {
            return Err(Failure::TooManySteps {
                t,
                steps,
                limit: self.max_steps,
                needed: f64::INFINITY,
            });
        }
        Ok(())
    }
}

/// Returns the first entry that is not finite as trouble.
#[inline]
pub(crate) fn refuse_not_finite(t: f64, values: &[f64], what: Function) -> Result<(), Trouble> {
    // A sum is finite only if each term is, up to overflow of the sum itself, which the exact
    // search below sorts out; one pass without branches is what the inner loops can afford.
    let probe: f64 = values.iter().map(|value| value * 0.0).sum();
    if probe == 0.0 {
        return Ok(());
    }
    match values.iter().position(|value| !value.is_finite()) {
        Some(index) => Err(Trouble::Evaluation {
            t,
            error: EvalError::NotFinite { index },
            what,
        }),
        None => Ok(()),
    }
}

/// Why one attempt at a step failed; a smaller step may cure it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Trouble {
    /// The system could not be evaluated.
    Evaluation {
        t: f64,
        error: EvalError,
        what: Function,
    },
    /// The iteration matrix is singular.
    Singular { t: f64, index: Option<usize> },
    /// Newton's method did not converge.
    Newton { t: f64, h: f64, worst: usize },
    /// The estimated error is too large.
    Error { t: f64, h: f64, worst: usize },
}

impl Trouble {
    /// Tells whether a smaller step cannot help.
    pub(crate) fn is_fatal(self) -> bool {
        matches!(
            self,
            Self::Evaluation {
                error: EvalError::Fatal { .. },
                ..
            }
        )
    }

    /// The failure to report when smaller steps did not help.
    pub(crate) fn into_failure(self) -> Failure {
        match self {
            Self::Evaluation {
                t,
                error: EvalError::NotFinite { index },
                what,
            } => Failure::NotFinite { t, index, what },
            Self::Evaluation { t, error, what } => Failure::Evaluation { t, error, what },
            Self::Singular { t, index } => Failure::Singular { t, index },
            Self::Newton { t, h, worst } => Failure::NewtonFailed { t, h, worst },
            Self::Error { t, h, worst } => Failure::StepTooSmall { t, h, worst },
        }
    }
}

/// A method in the middle of a run.
pub(crate) trait Stepper {
    /// Starts anew from `(t, y)`, forgetting the past except for the step size `h`.
    fn restart(
        &mut self,
        cx: &mut Context<'_>,
        t: f64,
        y: &[f64],
        h: Option<f64>,
    ) -> Result<(), Failure>;

    /// Goes on from the end of the last step with its past, where what the system holds or the state `y` has changed.
    fn go_on(&mut self, cx: &mut Context<'_>, y: &[f64]) -> Result<(), Failure> {
        self.restart(cx, self.t1(), y, None)
    }

    /// Makes one accepted step that does not pass `t_stop`.
    fn advance(&mut self, cx: &mut Context<'_>, t_stop: f64) -> Result<(), Failure>;

    /// Start of the last step.
    fn t0(&self) -> f64;
    /// End of the last step.
    fn t1(&self) -> f64;
    /// State at its end.
    fn y1(&self) -> &[f64];

    /// Makes `interpolate` ready for the last step, at the price of further evaluations.
    fn prepare_dense(&mut self, cx: &mut Context<'_>) -> Result<(), Failure>;

    /// Writes the state at `t` inside of the last step.
    fn interpolate(&self, t: f64, y: &mut [f64]);

    /// How the integrals over the last step are found.
    fn quadrature(&self) -> StepQuadrature<'_> {
        StepQuadrature::Dense
    }

    /// Where the method evaluates between the ends of its step, as shares of it. Methods with a history see the ends only.
    fn nodes(&self) -> &'static [f64] {
        &[]
    }

    /// Size of the error of the last step, by these inverse allowances instead of those it was accepted with; 0 where
    /// none is estimated.
    fn error_norm(&self, _inverse_scale: &[f64]) -> f64 {
        0.0
    }

    /// Step size the method would take next if nothing limited it.
    fn natural_step(&self) -> f64;

    /// What limits the steps, when stability rather than accuracy has done so for a while.
    fn stiffness(&self) -> Option<Stiffness> {
        None
    }

    /// `h ρ` when a stiff method has for a while made steps that an explicit one could make.
    fn calm(&self) -> Option<f64> {
        None
    }
}

/// How the integrals over a step are found.
#[derive(Clone, Copy, Debug)]
pub(crate) enum StepQuadrature<'a> {
    /// By points on the interpolant.
    Dense,
    /// From the integrands at the ends of this step and of those before it: the step is short against
    /// what a multistep method remembers. The integrands at the end of this step.
    Ends(&'a [f64]),
    /// By the method's own formula: it evaluated the integrands at its stages.
    Stages(Stages<'a>),
    /// The method has found them, as if they were states: of stiff components, only its own stages know what they
    /// brought over the step.
    Done(&'a [f64]),
}

/// Integrands at the stages of a Runge–Kutta step, and what to do with them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stages<'a> {
    pub(crate) h: f64,
    /// Integrands, stage after stage.
    pub(crate) rates: &'a [f64],
    /// Weights of the stages in the integral, and in two estimates of its error, of a higher and of a lower order.
    pub(crate) weights: &'static [&'static [f64]],
    /// What these give, if whoever made the step has summed it.
    pub(crate) sums: Option<&'a [f64]>,
}

/// The eigenvalue that limits an explicit method.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Stiffness {
    h: f64,
    /// Squares and product of two small vectors, the second of which is `J` times the first.
    vv: f64,
    ww: f64,
    vw: f64,
}

impl Stiffness {
    /// Estimates it from two states at the same time, and their derivatives: with `v` their
    /// difference, `J v` is the difference of the derivatives, and `v` has grown along the
    /// dominant eigenvector (Hairer & Wanner, *Solving ODEs II*, §IV.2).
    pub(crate) fn estimate(h: f64, y: (&[f64], &[f64]), f: (&[f64], &[f64])) -> Option<Self> {
        let n = y.0.len();
        let (mut vv, mut ww, mut vw) = (0.0, 0.0, 0.0);
        let (y0, y1, f0, f1) = (&y.0[..n], &y.1[..n], &f.0[..n], &f.1[..n]);
        for i in 0..n {
            let v = y1[i] - y0[i];
            let w = f1[i] - f0[i];
            vv += v * v;
            ww += w * w;
            vw += v * w;
        }
        let is_usable = vv > 0.0 && ww > 0.0;
        is_usable.then_some(Self { h, vv, ww, vw })
    }

    /// Tells whether `h |λ|` exceeds a limit.
    pub(crate) fn exceeds(&self, limit: f64) -> bool {
        self.h * self.h * self.ww > limit * limit * self.vv
    }

    /// `h |λ|`.
    pub(crate) fn h_lambda(&self) -> f64 {
        self.h * (self.ww / self.vv).sqrt()
    }

    /// `−Re λ / |λ|`.
    pub(crate) fn damping(&self) -> f64 {
        -self.vw / (self.vv * self.ww).sqrt()
    }
}

/// Absolute and relative tolerance, ready for norms.
#[derive(Clone, Debug)]
pub(crate) struct Weights {
    relative: f64,
    absolute: Vec<f64>,
    /// Tolerance as a part of the largest size so far; empty if all tolerances stay.
    share: Vec<f64>,
    /// Variables that learn from each other, with the largest multiple of their sizes so far.
    groups: Vec<(Alike, f64)>,
    /// What roundings leave of the rates.
    pub(crate) noise: Noise,
}

impl Weights {
    pub(crate) fn new(n: usize, tolerances: &Tolerances) -> Self {
        let absolute = match &tolerances.absolute {
            Absolute::Scalar(value) => vec![*value; n],
            Absolute::PerVariable(values) => values.clone(),
            Absolute::Growing { least, .. } => least.clone(),
        };
        let share = match &tolerances.absolute {
            Absolute::Growing { share, .. } if share.iter().any(|&part| part > 0.0) => {
                share.clone()
            }
            _ => Vec::new(),
        };
        let groups = match &tolerances.absolute {
            Absolute::Growing { groups, .. } => groups.iter().map(|g| (g.clone(), 0.0)).collect(),
            _ => Vec::new(),
        };
        Self {
            relative: tolerances.relative,
            absolute,
            share,
            groups,
            noise: Noise::default(),
        }
    }

    /// Learns the sizes of the variables from a state of the trajectory.
    pub(crate) fn learn(&mut self, y: &[f64]) {
        let n = self.share.len().min(y.len());
        let (absolute, share, sizes) = (&mut self.absolute[..n], &self.share[..n], &y[..n]);
        for i in 0..n {
            absolute[i] = absolute[i].max(share[i] * sizes[i].abs());
        }
        for (group, largest) in &mut self.groups {
            let multiples = group.sizes.iter().map(|&(k, size)| y[k].abs() / size);
            let now = multiples.fold(0.0, f64::max);
            if now > *largest {
                *largest = now;
                for &(k, size) in &group.sizes {
                    let atol = &mut self.absolute[k];
                    *atol = atol.max(group.share * now * size);
                }
            }
        }
    }

    pub(crate) fn relative(&self) -> f64 {
        self.relative
    }

    /// Writes `1 / (atol + rtol |y|)`.
    pub(crate) fn inverse_scale(&self, y: &[f64], inverse: &mut [f64]) {
        for ((inverse, y), atol) in inverse.iter_mut().zip(y).zip(&self.absolute) {
            *inverse = 1.0 / (atol + self.relative * y.abs());
        }
    }

    /// Writes a size that each variable may be thought to have: its own, or at least the one
    /// below which the absolute tolerance rules.
    pub(crate) fn typical_size(&self, y: &[f64], size: &mut [f64]) {
        for ((size, y), atol) in size.iter_mut().zip(y).zip(&self.absolute) {
            *size = y.abs().max(atol / self.relative);
        }
    }

    /// Time in which the variables that are not zero, taken together, would change by their own size;
    /// infinite if none moves.
    pub(crate) fn change_time(&self, y: &[f64], rate: &[f64]) -> f64 {
        let (mut size, mut speed) = (0.0, 0.0);
        for ((y, rate), atol) in y.iter().zip(rate).zip(&self.absolute) {
            // Smaller than what the absolute tolerance rules is zero.
            if self.relative * y.abs() > *atol {
                let scale = atol + self.relative * y.abs();
                size += (y / scale) * (y / scale);
                speed += (rate / scale) * (rate / scale);
            }
        }
        if speed > 0.0 {
            (size / speed).sqrt()
        } else {
            f64::INFINITY
        }
    }

    /// Writes `1 / (atol + rtol max(|y0|, |y1|))`.
    #[inline]
    pub(crate) fn inverse_scale_of_step(&self, y0: &[f64], y1: &[f64], inverse: &mut [f64]) {
        let n = inverse.len();
        let (y0, y1, absolute) = (&y0[..n], &y1[..n], &self.absolute[..n]);
        for i in 0..n {
            let size = y0[i].abs().max(y1[i].abs());
            inverse[i] = 1.0 / (absolute[i] + self.relative * size);
        }
    }
}

/// Root of the mean square of `x · inverse_scale`; 0 for no variables.
#[inline]
pub(crate) fn weighted_norm(x: &[f64], inverse_scale: &[f64]) -> f64 {
    if x.is_empty() {
        return 0.0;
    }
    let square = |x: f64, inverse: f64| (x * inverse) * (x * inverse);
    // Long sums in several parts: one addition need not wait for the one before.
    const PARTS: usize = 8;
    let sum: f64 = if x.len() < 4 * PARTS {
        let pairs = x.iter().zip(inverse_scale);
        pairs.map(|(&x, &inverse)| square(x, inverse)).sum()
    } else {
        let mut parts = [0.0; PARTS];
        let (xs, scales) = (x.chunks_exact(PARTS), inverse_scale.chunks_exact(PARTS));
        let rest = xs.remainder().iter().zip(scales.remainder());
        let rest: f64 = rest.map(|(&x, &inverse)| square(x, inverse)).sum();
        for (x, inverse) in xs.zip(scales) {
            for k in 0..PARTS {
                parts[k] += square(x[k], inverse[k]);
            }
        }
        parts.iter().sum::<f64>() + rest
    };
    (sum / x.len() as f64).sqrt()
}

/// Size of an error: the mean of its squares, each weighed by itself, so that a few variables that move count
/// as they do alone, whatever the number of those that rest beside them. Between the root of the mean square
/// and the largest entry; 0 for no variables.
#[inline]
pub(crate) fn error_size(x: &[f64], inverse_scale: &[f64]) -> f64 {
    let (mut squares, mut fourths) = (0.0, 0.0);
    for (x, inverse) in x.iter().zip(inverse_scale) {
        let square = (x * inverse) * (x * inverse);
        squares += square;
        fourths += square * square;
    }
    if squares > 0.0 {
        (fourths / squares).sqrt()
    } else {
        // Keeps NaN from being taken for a perfect step.
        squares
    }
}

/// Index of the largest `|x · inverse_scale|`; 0 for no variables.
pub(crate) fn worst_index(x: &[f64], inverse_scale: &[f64]) -> usize {
    let mut worst = (0, -1.0);
    for (index, (x, inverse)) in x.iter().zip(inverse_scale).enumerate() {
        let size = (x * inverse).abs();
        if size > worst.1 || size.is_nan() {
            worst = (index, size);
        }
    }
    worst.0
}

/// So many zeros, from the memory that this thread has given back last: short runs spend a good part of their time on
/// allocation, and the allocator takes memory that it promises to be zero from elsewhere.
pub(crate) fn zeros(n: usize) -> Vec<f64> {
    std::iter::repeat_n(0.0, n).collect()
}

/// Smallest step that still moves `t` by several representable numbers.
pub(crate) fn min_step(t: f64) -> f64 {
    // Sixteen units in the last place: fewer, and the stages of a step would share one time.
    (16.0 * f64::EPSILON * t.abs()).max(f64::MIN_POSITIVE / f64::EPSILON)
}

/// `out = y + h Σ aⱼ kⱼ`, with the number of terms known to the compiler.
#[inline]
pub(crate) fn combine<const S: usize>(
    out: &mut [f64],
    y: &[f64],
    h: f64,
    a: [f64; S],
    k: [&[f64]; S],
) {
    let n = out.len();
    let y = &y[..n];
    let k = k.map(|stage| &stage[..n]);
    for i in 0..n {
        let mut sum = a[0] * k[0][i];
        for j in 1..S {
            sum += a[j] * k[j][i];
        }
        out[i] = y[i] + h * sum;
    }
}
