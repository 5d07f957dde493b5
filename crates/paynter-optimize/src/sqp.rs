//! Local descent under constraints: sequential quadratic programming.
//!
//! In:  a problem, a start, scales, and the step of differences, for problems that do not know their slopes.
//! Out: a [`Descent`]: where it ended, its multipliers, how it ended, every trial.
//!
//! Damped BFGS (Powell 1978), an ℓ₁ merit function with a second-order correction against Maratos' effect (Nocedal & Wright 2006,
//! ch. 18), and a program with a slack that always has an answer where the linearised constraints contradict each other.
//!
//! **Invariant:** trials never leave the unit cube. The answer is the best point that was tried, not the last.

use crate::dense::{Dense, dot, largest};
use crate::problem::{Evaluation, Problem, Scales, Slopes, Trial, Tried, is_better};
use crate::quadratic::{Minimum, NoMinimum, Quadratic, minimize};
use crate::slopes::{NoSlopes, slopes};

/// How a descent is made.
#[derive(Clone, Debug)]
pub struct Descending {
    /// Step of differences, as a part of the cube's edge.
    pub step: f64,
    /// Constraints are to keep this distance from zero, in their scales: differences leave so much open.
    pub margin: f64,
    /// Trials after which it is stopped.
    pub max_trials: usize,
    /// Ended where no step longer than this is left.
    pub smallest_step: f64,
}

/// How a descent ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// No direction leads further down.
    Converged,
    /// The merit function does not fall although slopes say it should: a kink, or noise.
    Stalled,
    /// Too many trials.
    Exhausted,
    /// No values around the point.
    Blocked,
    /// Ended from outside.
    Ended,
}

/// A descent.
#[derive(Clone, Debug)]
pub struct Descent {
    /// The best point.
    pub best: Option<(Vec<f64>, Evaluation)>,
    /// Multipliers of the constraints at the end: by how much the aim falls for a unit that a constraint gives.
    pub multipliers: Vec<f64>,
    /// How it ended.
    pub end: End,
    /// Everything that was tried.
    pub tried: Vec<Tried>,
}

/// Largest compressed value of a constraint that counts: an infinite margin is as good as one of e^40.
const FAR: f64 = 40.0;
/// Weight of the slack in programs that have no answer, against the largest multiplier.
const SLACK: f64 = 1e3;
/// Violation, in scales, up to which a careful descent leaves the points that meet all constraints.
const LEEWAY: f64 = 0.1;

/// Descends from a point.
pub fn descend(problem: &dyn Problem, start: &[f64], scales: &Scales, how: &Descending) -> Descent {
    let mut walk = Walk {
        problem,
        scales,
        how,
        tried: Vec::new(),
        best: None,
        multipliers: vec![0.0; problem.n_constraints()],
    };
    let end = walk.go(start).unwrap_or_else(|end| end);
    let multipliers = match &walk.best {
        Some((_, value)) => {
            let each = walk.multipliers.iter().enumerate();
            each.map(|(k, m)| scales.multiplier(k, *m, value)).collect()
        }
        None => walk.multipliers,
    };
    Descent {
        multipliers,
        best: walk.best,
        end,
        tried: walk.tried,
    }
}

struct Walk<'w> {
    problem: &'w dyn Problem,
    scales: &'w Scales,
    how: &'w Descending,
    tried: Vec<Tried>,
    best: Option<(Vec<f64>, Evaluation)>,
    multipliers: Vec<f64>,
}

/// A point with its scaled values.
#[derive(Clone)]
struct Place {
    x: Vec<f64>,
    value: Evaluation,
}

impl Place {
    fn violation(&self) -> f64 {
        violation(&self.value)
    }
}

/// By how much constraints are violated, in scales.
fn violation(value: &Evaluation) -> f64 {
    value.constraints.iter().map(|c| c.max(0.0)).sum()
}

/// A way down.
struct Path {
    end: End,
    last: Place,
    /// The last point that met all constraints, where a step led far away from those.
    left: Option<Place>,
}

/// What violated constraints cost.
struct Toll<'w> {
    weights: &'w [f64],
    /// No step goes beyond this violation.
    most: f64,
}

impl Toll<'_> {
    fn of(&self, value: &Evaluation) -> f64 {
        let each = value.constraints.iter().zip(self.weights);
        each.map(|(c, w)| w * c.max(0.0)).sum()
    }

    /// The ℓ₁ merit function.
    fn merit(&self, value: &Evaluation) -> f64 {
        value.aim + self.of(value)
    }
}

impl Walk<'_> {
    /// Tries a point; its values come back in scales.
    fn try_at(&mut self, x: &[f64]) -> Result<Option<Evaluation>, End> {
        if self.tried.len() >= self.how.max_trials {
            return Err(End::Exhausted);
        }
        let value = match self.problem.evaluate(x) {
            Trial::Good(value) if value.is_finite() => Some(value),
            Trial::Good(_) | Trial::Bad => None,
            Trial::Ended => return Err(End::Ended),
        };
        if is_better(
            value.as_ref(),
            self.best.as_ref().map(|b| &b.1),
            self.scales,
        ) {
            self.best = value.clone().map(|v| (x.to_vec(), v));
        }
        let scaled = value.as_ref().map(|v| self.scaled(v));
        self.tried.push(Tried {
            x: x.to_vec(),
            value,
        });
        Ok(scaled)
    }

    /// What a constraint keeps from zero: half of its room at most.
    fn margin(&self, constraint: usize) -> f64 {
        let room = self.problem.room(constraint) / self.scales.constraints[constraint];
        self.how.margin.min(0.5 * room)
    }

    fn scaled(&self, value: &Evaluation) -> Evaluation {
        let each = value.constraints.iter().enumerate();
        Evaluation {
            aim: self.scales.aim_of(value.aim),
            constraints: each
                .map(|(k, c)| self.scales.constraint_of(k, *c) + self.margin(k))
                .map(|c| c.clamp(-FAR, FAR))
                .collect(),
        }
    }

    fn slopes_at(&mut self, place: &Place) -> Result<Slopes, End> {
        if let Some(exact) = self.exact_slopes(place) {
            return Ok(exact);
        }
        let mut ended = End::Ended;
        let step = self.how.step;
        let found = slopes(&place.x, &place.value, step, &mut |x| {
            self.try_at(x).map_err(|end| {
                ended = end;
                NoSlopes::Ended
            })
        });
        found.map_err(|why| match why {
            NoSlopes::Blocked => End::Blocked,
            NoSlopes::Ended => ended,
        })
    }

    /// Slopes that the problem knows, in scales.
    fn exact_slopes(&self, place: &Place) -> Option<Slopes> {
        let known = self.problem.slopes(&place.x)?;
        let mut at = place.value.clone();
        for (k, c) in at.constraints.iter_mut().enumerate() {
            *c -= self.margin(k);
        }
        let mut slopes = self.scales.slopes_of(known, &at);
        // What is clamped does not move.
        for (j, c) in place.value.constraints.iter().enumerate() {
            if c.abs() >= FAR {
                (0..place.x.len()).for_each(|k| slopes.constraints[(j, k)] = 0.0);
            }
        }
        slopes.is_finite().then_some(slopes)
    }

    /// Descends boldly: a step across points that violate constraints may lead to a better region. Where it ended among
    /// such points, with no slope that leads back, it starts again where it left the others, carefully.
    fn go(&mut self, start: &[f64]) -> Result<End, End> {
        let Some(value) = self.try_at(start)? else {
            return Ok(End::Blocked);
        };
        let x = start.to_vec();
        let bold = self.walk_from(Place { x, value }, f64::INFINITY)?;
        match bold.left {
            Some(left) if bold.last.violation() > 0.0 => Ok(self.walk_from(left, LEEWAY)?.end),
            _ => Ok(bold.end),
        }
    }

    fn walk_from(&mut self, mut here: Place, leeway: f64) -> Result<Path, End> {
        let n = here.x.len();
        let mut h = Dense::diagonal(n, 1.0);
        let mut weights = vec![1.0; here.value.constraints.len()];
        let mut slopes = self.slopes_at(&here)?;
        let mut is_fresh = true;
        let mut left = None;
        let end = loop {
            let Some(step) = direction(&h, &slopes, &here) else {
                break End::Stalled;
            };
            self.multipliers.clone_from(&step.multipliers);
            if largest(&step.d) <= self.shortest_step(&here) {
                break End::Converged;
            }
            for (w, m) in weights.iter_mut().zip(&step.multipliers) {
                // A little above the multipliers, and never falling fast: the merit function stays the same one.
                *w = (1.5 * m).max(0.5 * (*w + m)).max(*w * 0.5).max(1e-6);
            }
            let toll = Toll {
                weights: &weights,
                most: here.violation().max(leeway),
            };
            let Some(next) = self.line_search(&here, &slopes, (&h, &step), &toll)? else {
                // What was learned of the curvature may be wrong; steepest descent has the last word.
                if is_fresh {
                    break End::Stalled;
                }
                h = Dense::diagonal(n, 1.0);
                is_fresh = true;
                continue;
            };
            let new_slopes = self.slopes_at(&next)?;
            update(
                &mut h,
                (&here, &slopes),
                (&next, &new_slopes),
                &step.multipliers,
            );
            is_fresh = false;
            if here.violation() == 0.0 && next.violation() > LEEWAY {
                left = Some(here);
            }
            (here, slopes) = (next, new_slopes);
        };

        let last = here;
        Ok(Path { end, last, left })
    }

    /// The step at which a descent has arrived. A point just outside is no answer: the step inside is as short as the
    /// margin is small.
    fn shortest_step(&self, here: &Place) -> f64 {
        let mut constraints = here.value.constraints.iter().enumerate();
        match constraints.all(|(k, c)| *c <= 0.9 * self.margin(k)) {
            true => self.how.smallest_step,
            false => 1e-3 * self.how.smallest_step.min(self.how.margin),
        }
    }

    /// Goes along a step until the merit function falls enough; tries a bent step first where the straight one fails.
    fn line_search(
        &mut self,
        here: &Place,
        slopes: &Slopes,
        (h, step): (&Dense, &Step),
        toll: &Toll<'_>,
    ) -> Result<Option<Place>, End> {
        // Part of the promised fall that must come (Armijo).
        const SUFFICIENT: f64 = 1e-4;
        let before = toll.merit(&here.value);
        let promised = dot(&slopes.aim, &step.d) - toll.of(&here.value);

        // A rounding of the merit function is not a rise.
        let rounding = 1e-15 * (1.0 + before.abs());
        let mut length = 1.0;
        loop {
            let x = inside(&here.x, &step.d, length);
            let value = self.try_at(&x)?;
            let demanded = before + SUFFICIENT * length * promised.min(0.0) + rounding;
            let serves = |v: &Evaluation| toll.merit(v) <= demanded && violation(v) <= toll.most;
            if let Some(value) = value.clone().filter(serves) {
                return Ok(Some(Place { x, value }));
            }
            if length == 1.0
                && let Some(value) = value
                && let Some(bent) = corrected(h, slopes, here, (&step.d, &value))
            {
                let x = inside(&here.x, &bent, 1.0);
                if let Some(value) = self.try_at(&x)?.filter(serves) {
                    return Ok(Some(Place { x, value }));
                }
            }
            length *= if length == 1.0 { 0.4 } else { 0.3 };
            if length * largest(&step.d) <= 1e-3 * self.how.smallest_step.min(self.how.margin) {
                return Ok(None);
            }
        }
    }
}

fn inside(x: &[f64], d: &[f64], length: f64) -> Vec<f64> {
    let moved = x
        .iter()
        .zip(d)
        .map(|(x, d)| (x + length * d).clamp(0.0, 1.0));
    moved.collect()
}

/// A step with the multipliers it goes with.
struct Step {
    d: Vec<f64>,
    multipliers: Vec<f64>,
}

/// The step to the minimum of the quadratic model within the cube.
fn direction(h: &Dense, slopes: &Slopes, here: &Place) -> Option<Step> {
    step_for(h, slopes, &here.x, &here.value.constraints)
}

/// The step again, with constraints as they are at its end: it follows their bend.
fn corrected(
    h: &Dense,
    slopes: &Slopes,
    here: &Place,
    (d, there): (&[f64], &Evaluation),
) -> Option<Vec<f64>> {
    let along = slopes.constraints.times(d);
    let bent: Vec<f64> = there
        .constraints
        .iter()
        .zip(&along)
        .map(|(c, a)| c - a)
        .collect();
    step_for(h, slopes, &here.x, &bent).map(|s| s.d)
}

fn step_for(h: &Dense, slopes: &Slopes, x: &[f64], constraints: &[f64]) -> Option<Step> {
    let n = x.len();
    let n_constraints = constraints.len();
    let mut rows: Vec<(Vec<f64>, f64)> = Vec::new();
    for (j, c) in constraints.iter().enumerate() {
        let row = slopes.constraints.row(j).iter().map(|a| -a).collect();
        rows.push((row, *c));
    }

    let unit = |k: usize, sign: f64| {
        let mut row = vec![0.0; n];
        row[k] = sign;
        row
    };
    for k in 0..n {
        rows.push((unit(k, 1.0), -x[k]));
        rows.push((unit(k, -1.0), x[k] - 1.0));
    }

    let program = Quadratic {
        g: h,
        a: &slopes.aim,
        rows: &rows,
    };

    match minimize(&program) {
        Ok(Minimum { x: d, multipliers }) => Some(Step {
            d,
            multipliers: multipliers[..n_constraints].to_vec(),
        }),
        Err(NoMinimum::NotConvex) => None,
        Err(NoMinimum::Infeasible | NoMinimum::Cycling) => elastic(h, slopes, rows, n_constraints),
    }
}

/// The program with a slack t ≥ 0 that all constraints may use, at a price.
fn elastic(
    h: &Dense,
    slopes: &Slopes,
    rows: Vec<(Vec<f64>, f64)>,
    n_constraints: usize,
) -> Option<Step> {
    let n = slopes.aim.len();
    let price = SLACK * (1.0 + largest(&slopes.aim));
    let mut wide = Dense::zeros(n + 1, n + 1);
    for i in 0..n {
        for j in 0..n {
            wide[(i, j)] = h[(i, j)];
        }
    }

    wide[(n, n)] = 1e-3 * price;
    let mut a = slopes.aim.clone();
    a.push(price);
    let mut wide_rows: Vec<(Vec<f64>, f64)> = rows;
    for (k, (row, _)) in wide_rows.iter_mut().enumerate() {
        row.push(if k < n_constraints { 1.0 } else { 0.0 });
    }

    let mut slack = vec![0.0; n + 1];
    slack[n] = 1.0;
    wide_rows.push((slack, 0.0));
    let found = minimize(&Quadratic {
        g: &wide,
        a: &a,
        rows: &wide_rows,
    })
    .ok()?;

    Some(Step {
        d: found.x[..n].to_vec(),
        multipliers: found.multipliers[..n_constraints].to_vec(),
    })
}

/// Learns the curvature of the Lagrange function from two places (damped BFGS).
fn update(h: &mut Dense, from: (&Place, &Slopes), to: (&Place, &Slopes), multipliers: &[f64]) {
    let lagrange = |slopes: &Slopes| {
        let mut gradient = slopes.aim.clone();
        let pull = slopes.constraints.transposed_times(multipliers);
        for (g, p) in gradient.iter_mut().zip(&pull) {
            *g += p;
        }
        gradient
    };

    let s: Vec<f64> = to.0.x.iter().zip(&from.0.x).map(|(a, b)| a - b).collect();
    let (new, old) = (lagrange(to.1), lagrange(from.1));
    let y: Vec<f64> = new.iter().zip(&old).map(|(a, b)| a - b).collect();
    let hs = h.times(&s);
    let (shs, sy) = (dot(&s, &hs), dot(&s, &y));
    if shs.is_nan() || shs <= 0.0 {
        return;
    }

    // Powell's damping keeps h positive definite where the curvature is negative.
    let share = if sy >= 0.2 * shs {
        1.0
    } else {
        0.8 * shs / (shs - sy)
    };
    let r: Vec<f64> = y
        .iter()
        .zip(&hs)
        .map(|(y, h)| share * y + (1.0 - share) * h)
        .collect();
    let sr = dot(&s, &r);
    if sr.is_nan() || sr <= 0.0 {
        return;
    }

    let n = s.len();
    for i in 0..n {
        for j in 0..n {
            h[(i, j)] += r[i] * r[j] / sr - hs[i] * hs[j] / shs;
        }
    }
}
