//! Steps over singular positions: instants at which the right-hand side has no value, although the motion goes on smoothly.
//!
//! In:  accepted steps, and how regular the system says it is at their ends ([`System::regularity`]).
//! Out: a [`Bridge`] from before such an instant to as far beyond it, which the driver treats as any other step.
//!
//! A closed mechanism in line with itself has more than one way to go on. Its accelerations are the quotient of two
//! quantities that vanish there together: a stage of a Runge–Kutta step, which lies a little beside the trajectory, meets a
//! pole instead of the limit. The motion itself is analytic on each branch, so its rates before the instant tell those
//! beyond it: they are continued as a polynomial and integrated (an explicit Adams formula with free nodes; Hairer,
//! Nørsett & Wanner, *Solving ODEs I*, §III.5). That is the smooth branch. The end is projected, and must be as regular as
//! the beginning.
//!
//! A step of the method must not lie across such an instant either: its end may be right, but what is read between its ends is
//! made of evaluations beside the pole. Where the next step would reach it, it is cut to half of the way there, so that the
//! approach ends in a bridge.
//!
//! A mechanism that only comes near such a position must not be led across. The continued measure of regularity has to
//! vanish there; where it stays away from zero the steps of the method find the way.
//!
//! **Invariant:** a bridge keeps the tolerance, by the difference of two orders; otherwise there is none, and the next step
//! is asked again, nearer to the instant.

use crate::options::{Failure, Function};
use crate::stepper::{Context, StepQuadrature, Stepper, error_size, min_step, refuse_not_finite};

/// States looked at inside of each step of an approach.
const SAMPLES_PER_STEP: usize = 12;
/// An instant this many steps ahead is worth a look.
const HORIZON: f64 = 8.0;
/// Nodes of the polynomial. More carry the noise of the steps further than they gain.
const MOST_NODES: usize = 9;
/// A step that is shorter than this share of the way to the instant needs no cut.
const STAYS_BEFORE: f64 = 0.7;
/// A step that would reach the instant goes this share of the way. Halves give the nodes of the polynomial their spread.
const SHARE_OF_WAY: f64 = 0.5;
/// An approach ends this share of its way before the instant: where no bridge was found so far, none will be.
const NEAREST: f64 = 1.0 / 256.0;
/// Fewer nodes say too little about their own error.
const FEWEST_NODES: usize = 6;
/// Each node is this many times as far from the instant as the one before: near ones for accuracy, far ones against noise.
const SPREAD: f64 = 1.3;
/// A measure that falls below this share of its largest value does vanish: that of a loop which misses its singular
/// position by the square of it, as a part of its lengths, and so by less than positions are assembled to.
const VANISHES: f64 = 1e-4;
/// A measure that keeps this share of its present value does not vanish.
const STAYS: f64 = 0.2;
/// The measure beyond the instant is the one before it, up to this factor: otherwise the end is on another branch.
const ALIKE: f64 = 3.0;
/// The end may be this many tolerances beside the constraints. It is off in the directions that the projection puts right.
const MOST_MOVE: f64 = 1e3;
/// The end of a run this near to the instant, as a share of the way to it, cannot be projected.
const TOO_NEAR: f64 = 0.2;
/// A measure that has fallen by this factor may have a better form to go on with.
const FADED: f64 = 0.5;
/// Iterations of the secant method; a root that takes more is none.
const MAX_ITERATIONS: usize = 30;

/// Watches the regularity of a system from step to step.
#[derive(Debug)]
pub(crate) struct Approach {
    /// False once the system has said that it cannot become singular.
    is_watching: bool,
    /// False for methods whose steps are given.
    may_bridge: bool,
    /// States on the way to an instant, the newest last.
    samples: Vec<(f64, Vec<f64>)>,
    /// Measures at the end of the last step; empty if it is not known.
    last: Vec<f64>,
    /// Measures at the end of the present step.
    now: Vec<f64>,
    /// The largest value of each.
    largest: Vec<f64>,
    /// The value of each when the system was last asked for a better form.
    asked: Vec<f64>,
    /// Where the next step has to end, and how far the instant was away when the approach began.
    limit: Option<f64>,
    first_way: f64,
}

/// A measure of regularity that is about to vanish.
#[derive(Clone, Copy, Debug)]
struct Ahead {
    measure: usize,
    /// When, by a straight line.
    t: f64,
}

/// What is known on the trajectory before the instant.
#[derive(Default)]
struct Nodes {
    times: Vec<f64>,
    rates: Vec<Vec<f64>>,
    integrands: Vec<Vec<f64>>,
    measures: Vec<Vec<f64>>,
}

impl Approach {
    pub(crate) fn new(may_bridge: bool) -> Self {
        Self {
            is_watching: true,
            may_bridge,
            samples: Vec::new(),
            last: Vec::new(),
            now: Vec::new(),
            largest: Vec::new(),
            asked: Vec::new(),
            limit: None,
            first_way: 0.0,
        }
    }

    /// Forgets the steps before: the trajectory is about to jump or to bend.
    pub(crate) fn forget(&mut self) {
        self.samples.clear();
        self.last.clear();
        self.limit = None;
    }

    /// Where the next step has to end at the latest, lest it lie across the instant.
    pub(crate) fn limit(&self) -> Option<f64> {
        self.limit
    }

    /// Cuts the next step before the instant if it would reach it.
    fn cut_next_step(&mut self, ahead: Ahead, stepper: &dyn Stepper) {
        let t1 = stepper.t1();
        let way = ahead.t - t1;
        let is_near = way < NEAREST * self.first_way || way < 64.0 * min_step(t1);
        if stepper.natural_step() > STAYS_BEFORE * way && !is_near {
            self.limit = Some(t1 + SHARE_OF_WAY * way);
        }
    }

    /// Measures the end of the step just made; false if there is nothing to be watched.
    pub(crate) fn measure(&mut self, cx: &mut Context<'_>, stepper: &dyn Stepper) -> bool {
        if !self.is_watching {
            return false;
        }
        self.now.clear();
        match cx
            .system
            .regularity(stepper.t1(), stepper.y1(), &mut self.now)
        {
            Ok(true) => {}
            Ok(false) => {
                self.is_watching = false;
                return false;
            }
            Err(_) => {
                self.forget();
                self.now.clear();
                return false;
            }
        }
        self.largest.resize(self.now.len(), 0.0);
        self.asked.resize(self.now.len(), f64::INFINITY);
        let sizes = self.largest.iter_mut().zip(&self.now);
        sizes.for_each(|(largest, now)| *largest = largest.max(*now));
        true
    }

    /// Tells whether other equations should go on from the step just measured. Asks the system where a measure is by
    /// [`FADED`] smaller than when it was asked last, or than its largest value.
    pub(crate) fn leaves(&mut self, cx: &mut Context<'_>, stepper: &dyn Stepper) -> bool {
        let mut has_faded = false;
        let measures = self.now.iter().zip(&self.largest).zip(&mut self.asked);
        for ((now, largest), asked) in measures {
            if *now < FADED * asked.min(*largest) || asked.is_infinite() {
                *asked = *now;
                has_faded = true;
            }
            // What has grown again may fade again.
            *asked = asked.max(FADED * now);
        }
        has_faded && cx.system.has_better_form(stepper.t1(), stepper.y1())
    }

    /// Gives the step over a singular position that lies shortly after the step just measured, if there is one and the
    /// steps so far are enough to tell what is beyond it.
    pub(crate) fn bridge(
        &mut self,
        cx: &mut Context<'_>,
        stepper: &mut dyn Stepper,
        t_stop: f64,
    ) -> Result<Option<Bridge>, Failure> {
        self.limit = None;
        let Some(ahead) = self.look(cx, stepper)? else {
            return Ok(None);
        };
        self.cut_next_step(ahead, stepper);
        let nodes = self.nodes(cx, ahead);
        let Some(nodes) = nodes.filter(|n| n.times.len() >= FEWEST_NODES) else {
            return Ok(None);
        };
        let t1 = stepper.t1();
        let Some(t_singular) = nodes.root(ahead) else {
            return Ok(None);
        };
        if !(t_singular > t1 && self.all_vanish_or_stay(&nodes, ahead.measure, t_singular)) {
            return Ok(None);
        }

        let way = t_singular - t1;
        let end = (t_singular + way).min(t_stop);
        if end < t_singular - TOO_NEAR * way || end - t1 < min_step(t1) {
            return Ok(None);
        }

        let y1 = stepper.y1();
        let Some(mut bridge) = Bridge::new(cx, nodes, (t1, y1), end) else {
            return Ok(None);
        };
        bridge.t_singular = t_singular;
        let is_regular = end > t_singular + TOO_NEAR * way;
        if is_regular && !self.lands(cx, &mut bridge, ahead.measure) {
            return Ok(None);
        }

        self.forget();
        cx.statistics.steps += 1;
        cx.statistics.passages.push(t_singular);
        Ok(Some(bridge))
    }

    /// Samples the step just measured where some measure is about to vanish.
    fn look(
        &mut self,
        cx: &mut Context<'_>,
        stepper: &mut dyn Stepper,
    ) -> Result<Option<Ahead>, Failure> {
        if !self.may_bridge || !self.is_watching || self.now.is_empty() {
            return Ok(None);
        }
        let (t0, t1) = (stepper.t0(), stepper.t1());
        let h = t1 - t0;
        let ahead = |(measure, (before, now)): (usize, (&f64, &f64))| {
            let share = now / (before - now);
            (share > 0.0 && share <= HORIZON).then_some((measure, share))
        };
        let pairs = self.last.iter().zip(&self.now).enumerate();
        let first = pairs.filter_map(ahead).min_by(|a, b| a.1.total_cmp(&b.1));
        std::mem::swap(&mut self.last, &mut self.now);
        let Some((measure, share)) = first else {
            self.samples.clear();
            return Ok(None);
        };
        if self.samples.is_empty() {
            self.first_way = h * share;
        }

        stepper.prepare_dense(cx)?;
        for k in 1..SAMPLES_PER_STEP {
            let t = t0 + h * k as f64 / SAMPLES_PER_STEP as f64;
            let mut y = vec![0.0; stepper.y1().len()];
            stepper.interpolate(t, &mut y);
            self.samples.push((t, y));
        }

        self.samples.push((t1, stepper.y1().to_vec()));
        let t = t1 + h * share;
        Ok(Some(Ahead { measure, t }))
    }

    /// Evaluates the system at some of the samples; None where it cannot be.
    fn nodes(&self, cx: &mut Context<'_>, ahead: Ahead) -> Option<Nodes> {
        let mut nodes = Nodes::default();
        let mut farthest = 0.0;
        for (t, sample) in self.samples.iter().rev() {
            let distance = ahead.t - t;
            if distance < SPREAD * farthest {
                continue;
            }
            farthest = distance;
            let mut y = sample.clone();
            let mut rates = vec![0.0; y.len()];
            let mut integrands = vec![0.0; cx.system.n_quadratures()];
            let mut measures = Vec::new();
            cx.project(*t, &mut y).ok()?;
            cx.rhs_and_rates(*t, &y, &mut rates, &mut integrands).ok()?;
            refuse_not_finite(*t, &integrands, Function::QuadratureRates).ok()?;
            cx.system.regularity(*t, &y, &mut measures).ok()?;
            nodes.times.push(*t);
            nodes.rates.push(rates);
            nodes.integrands.push(integrands);
            nodes.measures.push(measures);
            if nodes.times.len() == MOST_NODES {
                break;
            }
        }
        Some(nodes)
    }

    /// Tells whether the measure that is about to vanish does so at this time, and whether all others either do so as well
    /// or stay away from zero.
    fn all_vanish_or_stay(&self, nodes: &Nodes, first: usize, t: f64) -> bool {
        (0..self.largest.len()).all(|measure| {
            let now = nodes.measures[0][measure];
            let n = nodes.times.len();
            // Squares: the measure itself may be continued across zero whether it gets there or not.
            let there = [n, n - 1].map(|n| nodes.square(measure, t, n));
            let least = VANISHES * self.largest[measure];
            let vanishes = there.iter().all(|d| d.abs().sqrt() <= least);
            let stays = there.iter().all(|&d| d >= (STAYS * now).powi(2));
            vanishes || (stays && measure != first)
        })
    }

    /// Projects the end, and tells whether it is on the branch of the beginning.
    fn lands(&mut self, cx: &mut Context<'_>, bridge: &mut Bridge, measure: usize) -> bool {
        let mut end = bridge.y1.clone();
        if cx.system.projects() && cx.project(bridge.t1, &mut end).is_err() {
            return false;
        }
        let moves: Vec<f64> = end.iter().zip(&bridge.y1).map(|(a, b)| a - b).collect();
        let mut inverse = vec![0.0; end.len()];
        cx.weights
            .inverse_scale_of_step(&bridge.y0, &end, &mut inverse);
        let mut there = Vec::new();
        let is_known = cx.system.regularity(bridge.t1, &end, &mut there);
        if !matches!(is_known, Ok(true)) {
            return false;
        }
        // The way beyond the instant may be shorter than the one before it.
        let share = (bridge.t1 - bridge.t_singular) / (bridge.t_singular - bridge.t0);
        let expected = share * bridge.nodes.measures[0][measure];
        let is_alike = there[measure] <= ALIKE * expected && expected <= ALIKE * there[measure];
        let is_near = error_size(&moves, &inverse) <= MOST_MOVE;
        bridge.y1 = end;
        bridge.moves = moves;
        is_alike && is_near
    }
}

impl Nodes {
    /// Continues a measure until it vanishes.
    fn root(&self, ahead: Ahead) -> Option<f64> {
        let value = |t: f64| {
            let weights = values_at(&self.times, t);
            let terms = weights.iter().zip(&self.measures);
            terms.map(|(w, m)| w * m[ahead.measure]).sum::<f64>()
        };
        let (mut a, mut b) = (self.times[0], ahead.t);
        let (mut at_a, mut at_b) = (value(a), value(b));
        let scale = at_a.abs();
        for _ in 0..MAX_ITERATIONS {
            if at_b.abs() <= 1e-12 * scale {
                return b.is_finite().then_some(b);
            }
            let next = b - at_b * (b - a) / (at_b - at_a);
            // Beyond twice the way a polynomial through what is behind tells nothing.
            if !next.is_finite() || next > b.max(a) + 2.0 * (ahead.t - self.times[0]) {
                return None;
            }
            (a, at_a) = (b, at_b);
            (b, at_b) = (next, value(next));
        }
        None
    }

    /// Continues the square of a measure, from the newest `n` nodes.
    fn square(&self, measure: usize, t: f64, n: usize) -> f64 {
        let weights = values_at(&self.times[..n], t);
        let terms = weights.iter().zip(&self.measures);
        terms.map(|(w, m)| w * m[measure] * m[measure]).sum()
    }
}

/// A step across a singular position.
pub(crate) struct Bridge {
    nodes: Nodes,
    t0: f64,
    t1: f64,
    y0: Vec<f64>,
    y1: Vec<f64>,
    /// What the projection added at the end.
    moves: Vec<f64>,
    integrals: Vec<f64>,
    t_singular: f64,
}

impl Bridge {
    /// Continues the rates up to `end`; None if that is not as accurate as the steps are.
    fn new(cx: &Context<'_>, nodes: Nodes, start: (f64, &[f64]), end: f64) -> Option<Self> {
        let (t0, y0) = start;
        let n = nodes.times.len();
        let fine = integrals_over(&nodes.times, t0, end);
        let coarse = integrals_over(&nodes.times[..n - 1], t0, end);
        let mut y1 = y0.to_vec();
        let mut error = vec![0.0; y0.len()];
        for (k, rates) in nodes.rates.iter().enumerate() {
            let difference = fine[k] - coarse.get(k).copied().unwrap_or(0.0);
            for (i, rate) in rates.iter().enumerate() {
                y1[i] += fine[k] * rate;
                error[i] += difference * rate;
            }
        }

        let mut inverse = vec![0.0; y0.len()];
        cx.weights.inverse_scale_of_step(y0, &y1, &mut inverse);
        let error = error_size(&error, &inverse);
        if error.is_nan() || error > 1.0 {
            return None;
        }

        let mut integrals = vec![0.0; nodes.integrands[0].len()];
        for (weight, integrands) in fine.iter().zip(&nodes.integrands) {
            let sums = integrals.iter_mut().zip(integrands);
            sums.for_each(|(sum, x)| *sum += weight * x);
        }

        Some(Self {
            t0,
            t1: end,
            y0: y0.to_vec(),
            moves: vec![0.0; y1.len()],
            y1,
            nodes,
            integrals,
            t_singular: f64::NAN,
        })
    }
}

impl Stepper for Bridge {
    fn restart(
        &mut self,
        _: &mut Context<'_>,
        _: f64,
        _: &[f64],
        _: Option<f64>,
    ) -> Result<(), Failure> {
        unreachable!("a bridge is one step")
    }

    fn advance(&mut self, _: &mut Context<'_>, _: f64) -> Result<(), Failure> {
        unreachable!("a bridge is one step")
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

    fn prepare_dense(&mut self, _: &mut Context<'_>) -> Result<(), Failure> {
        Ok(())
    }

    fn interpolate(&self, t: f64, y: &mut [f64]) {
        let weights = integrals_over(&self.nodes.times, self.t0, t);
        let share = (t - self.t0) / (self.t1 - self.t0);
        for ((y, y0), added) in y.iter_mut().zip(&self.y0).zip(&self.moves) {
            *y = y0 + share * added;
        }
        for (weight, rates) in weights.iter().zip(&self.nodes.rates) {
            y.iter_mut().zip(rates).for_each(|(y, f)| *y += weight * f);
        }
    }

    fn quadrature(&self) -> StepQuadrature<'_> {
        StepQuadrature::Done(&self.integrals)
    }

    fn natural_step(&self) -> f64 {
        0.5 * (self.t1 - self.t0)
    }
}

/// Values at `t` of the polynomials that are 1 at one node and 0 at the others (Lagrange).
fn values_at(nodes: &[f64], t: f64) -> Vec<f64> {
    let basis = |j: usize| {
        let others = (0..nodes.len()).filter(|&k| k != j);
        others.fold(1.0, |product, k| {
            product * (t - nodes[k]) / (nodes[j] - nodes[k])
        })
    };
    (0..nodes.len()).map(basis).collect()
}

/// Integrals of these polynomials, by the rule of five points, which is exact for degree 9.
fn integrals_over(nodes: &[f64], from: f64, to: f64) -> Vec<f64> {
    let (middle, half) = (0.5 * (from + to), 0.5 * (to - from));
    let mut sums = vec![0.0; nodes.len()];
    for (point, weight) in crate::quadrature::FIVE_POINTS {
        let values = values_at(nodes, middle + half * point);
        let terms = sums.iter_mut().zip(values);
        terms.for_each(|(sum, value)| *sum += half * weight * value);
    }
    sums
}

#[cfg(test)]
mod tests {
    use std::ops::ControlFlow;

    use crate::observer::{Dense, Observer};
    use crate::options::{Absolute, Finish, Options, Tolerances};
    use crate::system::{EvalError, Projection, System};

    /// Four bars whose crank and ground are together as long as coupler and rocker: with the crank turned to the far side
    /// all are in line. The inertias are flywheels at the pins, so that nothing but the loop makes it move unevenly.
    struct FourBar {
        /// Of crank, coupler, rocker and ground, m.
        lengths: [f64; 4],
    }

    const INERTIAS: [f64; 3] = [1.0, 2.0, 1.5];

    impl FourBar {
        fn gaps(&self, q: &[f64]) -> [f64; 2] {
            let [a, b, c, d] = self.lengths;
            let x = a * q[0].cos() + b * q[1].cos() - c * q[2].cos() - d;
            let y = a * q[0].sin() + b * q[1].sin() - c * q[2].sin();
            [x, y]
        }

        fn slopes(&self, q: &[f64]) -> [[f64; 3]; 2] {
            let [a, b, c, _] = self.lengths;
            let signed = [a, b, -c];
            [
                [0, 1, 2].map(|k| -signed[k] * q[k].sin()),
                [0, 1, 2].map(|k| signed[k] * q[k].cos()),
            ]
        }

        /// The shortest x with G x = b, in the measure of the inertias.
        fn solve(&self, q: &[f64], b: [f64; 2]) -> [f64; 3] {
            let g = self.slopes(q);
            let product = |i: usize, j: usize| -> f64 {
                (0..3).map(|k| g[i][k] * g[j][k] / INERTIAS[k]).sum()
            };
            let (aa, ab, bb) = (product(0, 0), product(0, 1), product(1, 1));
            let det = aa * bb - ab * ab;
            let (m, n) = ((bb * b[0] - ab * b[1]) / det, (aa * b[1] - ab * b[0]) / det);
            [0, 1, 2].map(|k| (g[0][k] * m + g[1][k] * n) / INERTIAS[k])
        }
    }

    impl System for FourBar {
        fn n(&self) -> usize {
            6
        }

        fn rhs(&mut self, _: f64, y: &[f64], f: &mut [f64]) -> Result<(), EvalError> {
            let [a, b, c, _] = self.lengths;
            let signed = [a, b, -c];
            let part = |turn: fn(f64) -> f64| -> f64 {
                (0..3)
                    .map(|k| signed[k] * turn(y[k]) * y[3 + k] * y[3 + k])
                    .sum()
            };
            let accelerations = self.solve(y, [part(f64::cos), part(f64::sin)]);
            f[..3].copy_from_slice(&y[3..]);
            f[3..].copy_from_slice(&accelerations);
            Ok(())
        }

        fn projects(&self) -> bool {
            true
        }

        fn project(&mut self, _: f64, y: &mut [f64]) -> Result<Projection, EvalError> {
            for _ in 0..20 {
                let gaps = self.gaps(y);
                let step = self.solve(y, gaps);
                (0..3).for_each(|k| y[k] -= step[k]);
                if step.iter().all(|x| x.abs() < 1e-14) {
                    break;
                }
            }
            let g = self.slopes(y);
            let along = |i: usize| (0..3).map(|k| g[i][k] * y[3 + k]).sum();
            let step = self.solve(y, [along(0), along(1)]);
            (0..3).for_each(|k| y[3 + k] -= step[k]);
            Ok(Projection {
                moved: true,
                size: 1.0,
            })
        }

        fn regularity(&mut self, _: f64, y: &[f64], out: &mut Vec<f64>) -> Result<bool, EvalError> {
            let g = self.slopes(y);
            let dot = |i: usize, j: usize| -> f64 { (0..3).map(|k| g[i][k] * g[j][k]).sum() };
            let det = dot(0, 0) * dot(1, 1) - dot(0, 1).powi(2);
            out.extend([1.0, det.max(0.0).sqrt()]);
            Ok(true)
        }
    }

    /// The longest way that the crank turned backwards, and the least and largest energy anywhere in a step.
    struct Backwards(f64, [f64; 2]);

    impl Default for Backwards {
        fn default() -> Self {
            Backwards(0.0, [f64::INFINITY, f64::NEG_INFINITY])
        }
    }

    impl Observer for Backwards {
        fn needs_dense(&mut self, _: f64, _: f64) -> bool {
            true
        }

        fn step(&mut self, d: &dyn Dense, _: &[f64], _: &mut dyn System) -> ControlFlow<()> {
            self.0 = self.0.max(d.y0()[0] - d.y1()[0]);
            for k in 1..8 {
                let mut y = vec![0.0; d.y0().len()];
                d.eval(d.t0() + f64::from(k) / 8.0 * (d.t1() - d.t0()), &mut y);
                self.1 = [self.1[0].min(energy(&y)), self.1[1].max(energy(&y))];
            }
            ControlFlow::Continue(())
        }
    }

    fn start(bars: &mut FourBar) -> Vec<f64> {
        let mut y = vec![1.6, 0.23, 2.1, 6.0, 0.0, 0.0];
        bars.project(0.0, &mut y).expect("it can be assembled");
        y
    }

    fn run(bars: &mut FourBar, y: &[f64], rtol: f64, seen: &mut dyn Observer) -> Finish {
        let options = Options {
            tolerances: Tolerances {
                relative: rtol,
                absolute: Absolute::Scalar(rtol),
            },
            ..Options::default()
        };
        crate::integrate(bars, 0.0, y, 8.0, &options, seen).expect("it moves on")
    }

    fn energy(y: &[f64]) -> f64 {
        (0..3)
            .map(|k| 0.5 * INERTIAS[k] * y[3 + k] * y[3 + k])
            .sum()
    }

    #[test]
    fn bars_in_line_go_on_the_way_they_came() {
        let mut bars = FourBar {
            lengths: [1.0, 3.0, 2.0, 4.0],
        };
        let begin = start(&mut bars);
        for rtol in [1e-6, 1e-8, 1e-10] {
            let mut seen = Backwards::default();
            let there = run(&mut bars, &begin, rtol, &mut seen);
            assert_eq!(seen.0, 0.0, "the crank turned back at {rtol:e}");
            assert!(there.statistics.passages.len() > 3);
            // Errors of all steps and passages add up.
            let kept = energy(&there.y) / energy(&begin) - 1.0;
            assert!(kept.abs() < 1e3 * rtol, "{kept:e} at {rtol:e}");
            // Between the ends of steps as well: none lies across the line.
            for within in seen.1 {
                let kept = within / energy(&begin) - 1.0;
                assert!(kept.abs() < 1e3 * rtol, "{kept:e} at {rtol:e}");
            }
            // The same way back.
            let mut back = there.y.clone();
            back[3..].iter_mut().for_each(|v| *v = -*v);
            let home = run(&mut bars, &back, rtol, &mut crate::NoObserver);
            for (home, begin) in home.y.iter().zip(&begin).take(3) {
                let off = home - begin;
                assert!(off.abs() < 1e4 * rtol, "{off:e} at {rtol:e}");
            }
        }
    }

    #[test]
    fn bars_that_miss_the_line_by_little_turn_back_before_it() {
        // A ground too long by a ten-thousandth: the crank cannot turn all the way round.
        let mut bars = FourBar {
            lengths: [1.0, 3.0, 2.0, 4.0001],
        };
        let begin = start(&mut bars);
        let mut seen = Backwards::default();
        let there = run(&mut bars, &begin, 1e-8, &mut seen);
        assert!(
            there.statistics.passages.is_empty(),
            "{:?}",
            there.statistics.passages
        );
        assert!(seen.0 > 0.0, "the crank went through");
        let kept = energy(&there.y) / energy(&begin) - 1.0;
        assert!(kept.abs() < 1e-5, "{kept:e}");
    }
}
