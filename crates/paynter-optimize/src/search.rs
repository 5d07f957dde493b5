//! The whole search: a sample, descents from many starts, an evolution of its own, and how far they agree.
//!
//! In:  a [`Problem`], its present point, and [`Options`].
//! Out: a [`Found`].
//!
//! Descents and evolution share nothing but the scales: where both end at one place, two independent ways lead there.

use crate::evolution::{Evolution, Evolving, evolve};
use crate::noise::noise_level;
use crate::problem::{Evaluation, Problem, Scales, Trial, Tried, compare, is_better};
use crate::random::Random;
use crate::sobol::Sobol;
use crate::sqp::{Descending, Descent, End, descend};
use crate::threads;

/// How to search.
#[derive(Clone, Debug, PartialEq)]
pub struct Options {
    /// Seed of everything random.
    pub seed: u64,
    /// Threads.
    pub jobs: usize,
    /// Descents; none for the evolution alone.
    pub n_starts: usize,
    /// Let a population evolve as well.
    pub is_global: bool,
    /// Trials after which the search ends, about.
    pub max_trials: usize,
}

/// Which part of the search tried a point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// The sample before.
    Sample,
    /// A descent, by its number from 0.
    Start(usize),
    /// The evolution.
    Evolution,
    /// The descent from the best point of all.
    Polish,
}

/// How the end of a descent compares with the best point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Agreement {
    /// The same place.
    Same,
    /// As good, elsewhere.
    AsGood,
    /// Worse.
    Worse,
    /// No feasible point.
    Infeasible,
}

/// The end of one descent.
#[derive(Clone, Debug)]
pub struct Local {
    /// Where it began.
    pub start: Vec<f64>,
    /// Its best point.
    pub best: Option<(Vec<f64>, Evaluation)>,
    /// How it ended.
    pub end: End,
    /// Beside the best of all.
    pub agreement: Agreement,
}

/// What was found.
#[derive(Clone, Debug)]
pub struct Found {
    /// The best point: the lowest feasible one, or the least violated one where none is feasible.
    pub best: Option<(Vec<f64>, Evaluation)>,
    /// Multipliers of the constraints there: how much the aim falls for a unit that a constraint gives.
    pub multipliers: Vec<f64>,
    /// All descents.
    pub locals: Vec<Local>,
    /// Where the evolution ended, polished, if there was one.
    pub global: Option<Local>,
    /// Everything that was tried.
    pub tried: Vec<(Phase, Tried)>,
    /// Variables that change neither aim nor constraints anywhere it was looked.
    pub is_inert: Vec<bool>,
    /// Sizes of aim and constraints.
    pub scales: Scales,
    /// Noise of aim and constraints, in their scales.
    pub noise: f64,
    /// Ended from outside.
    pub is_ended: bool,
}

/// Places nearer than this part of the cube's edge are one.
const SAME_PLACE: f64 = 0.01;
/// Aims nearer than this part of their spread are equal.
const SAME_AIM: f64 = 1e-4;

/// Searches.
pub fn search(problem: &dyn Problem, nominal: Option<&[f64]>, options: &Options) -> Found {
    let mut found = begin(problem, nominal, options);
    let mut good: Vec<(Vec<f64>, Evaluation)> = good_points(&found.tried);
    good.sort_by(|a, b| compare(&a.1, &b.1, &found.scales));
    if good.is_empty() || found.is_ended || problem.n_variables() == 0 {
        return conclude(found);
    }
    found.noise = noise(problem, &good, &found.scales, options, &mut found.tried);
    found.is_inert = inert(problem, &good, &found.scales, found.noise, &mut found.tried);
    let how = descending(found.noise, problem.n_variables(), options);

    let starts = choose_starts(&found, options.n_starts, nominal.is_some());
    let descents = threads::map(options.jobs, &starts, |_, start| {
        descend(problem, start, &found.scales, &how)
    });
    for (k, (start, descent)) in starts.into_iter().zip(descents).enumerate() {
        found.add(Phase::Start(k), start, descent);
    }
    if options.is_global && !found.is_ended {
        globally(problem, &mut found, options, &how);
    }
    polish(problem, &mut found, &how);
    conclude(found)
}

/// Samples the cube, and reads sizes off the values.
fn begin(problem: &dyn Problem, nominal: Option<&[f64]>, options: &Options) -> Found {
    let n = problem.n_variables();
    let n_points = population(n)
        .max(options.n_starts)
        .min(options.max_trials.max(8));
    let mut points: Vec<Vec<f64>> = nominal.map(<[f64]>::to_vec).into_iter().collect();
    points.extend(Sobol::shifted(n, &mut Random::new(options.seed, 0x50b)).take(n_points));

    // A single point is the whole cube without coordinates.
    points.truncate(if n == 0 { 1 } else { points.len() });
    let values = threads::map(options.jobs, &points, |_, x| problem.evaluate(x));
    let mut tried = Vec::new();
    let mut is_ended = false;
    for (x, value) in points.into_iter().zip(values) {
        let value = match value {
            Trial::Good(value) => Some(value).filter(Evaluation::is_finite),
            Trial::Bad => None,
            Trial::Ended => {
                is_ended = true;
                continue;
            }
        };
        tried.push((Phase::Sample, Tried { x, value }));
    }

    let values: Vec<Evaluation> = tried.iter().filter_map(|t| t.1.value.clone()).collect();
    Found {
        best: None,
        multipliers: vec![0.0; problem.n_constraints()],
        locals: Vec::new(),
        global: None,
        is_inert: vec![false; n],
        scales: Scales::of(&values, &problem.constraint_sizes()),
        noise: 0.0,
        tried,
        is_ended,
    }
}

/// Members of a population, and points of the sample.
fn population(n: usize) -> usize {
    (10 * n).clamp(24, 100)
}

fn good_points(tried: &[(Phase, Tried)]) -> Vec<(Vec<f64>, Evaluation)> {
    let good = tried
        .iter()
        .filter_map(|(_, t)| Some((t.x.clone(), t.value.clone()?)));
    good.collect()
}

/// Measures noise along a short line through the best point, as the largest in scales.
fn noise(
    problem: &dyn Problem,
    good: &[(Vec<f64>, Evaluation)],
    scales: &Scales,
    options: &Options,
    tried: &mut Vec<(Phase, Tried)>,
) -> f64 {
    // Seven values give three orders of differences that agree; 1e-6 of the cube is straight for most functions.
    const POINTS: usize = 7;
    const SPACING: f64 = 1e-6;

    // Rounding alone, where nothing else is seen.
    const ROUNDING: f64 = 1e-15;
    let Some((centre, _)) = good.iter().min_by(|a, b| compare(&a.1, &b.1, scales)) else {
        return ROUNDING;
    };
    let mut random = Random::new(options.seed, 0xec);
    let towards: Vec<f64> = centre
        .iter()
        .map(|x| if *x > 0.5 { -1.0 } else { 1.0 } * (0.5 + 0.5 * random.uniform()))
        .collect();
    let line: Vec<Vec<f64>> = (0..POINTS)
        .map(|k| {
            centre
                .iter()
                .zip(&towards)
                .map(|(x, d)| x + SPACING * k as f64 * d)
                .collect()
        })
        .collect();

    let values = threads::map(options.jobs, &line, |_, x| problem.evaluate(x));
    let mut curves: Vec<Evaluation> = Vec::new();
    for (x, value) in line.into_iter().zip(values) {
        if let Trial::Good(value) = value {
            curves.push(value.clone());
            tried.push((
                Phase::Sample,
                Tried {
                    x,
                    value: Some(value),
                },
            ));
        }
    }

    let level = |values: Vec<f64>| {
        let size = values.iter().fold(0.0, |m: f64, v| m.max(v.abs()));
        let seen = noise_level(&values)
            .filter(|l| l.is_finite())
            .unwrap_or(0.0);
        seen.max(ROUNDING * size)
    };

    let mut worst = level(curves.iter().map(|c| scales.aim_of(c.aim)).collect());
    for j in 0..scales.constraints.len() {
        let values = curves
            .iter()
            .map(|c| scales.constraint_of(j, c.constraints[j]));
        let values: Vec<f64> = values.collect();
        if values.iter().all(|v| v.is_finite()) {
            worst = worst.max(level(values));
        }
    }
    worst.clamp(ROUNDING, 1e-2)
}

/// Looks which variables change nothing, at a few points of the sample.
fn inert(
    problem: &dyn Problem,
    good: &[(Vec<f64>, Evaluation)],
    scales: &Scales,
    noise: f64,
    tried: &mut Vec<(Phase, Tried)>,
) -> Vec<bool> {
    const PLACES: usize = 3;
    let same = |a: f64, b: f64| a == b || (a - b).abs() <= 10.0 * noise;
    let is_same = |a: &Evaluation, b: &Evaluation| {
        let mut pairs = a.constraints.iter().zip(&b.constraints).enumerate();
        same(scales.aim_of(a.aim), scales.aim_of(b.aim))
            && pairs
                .all(|(k, (a, b))| same(scales.constraint_of(k, *a), scales.constraint_of(k, *b)))
    };

    let n = problem.n_variables();
    let mut has_effect = vec![false; n];
    for (x, value) in good.iter().take(PLACES) {
        for k in (0..n).filter(|k| !has_effect[*k]).collect::<Vec<_>>() {
            let mut moved = x.clone();
            // An odd part of the way round: a variable with a period is not met again.
            moved[k] = (moved[k] + 0.37).rem_euclid(1.0);
            match problem.evaluate(&moved) {
                Trial::Good(other) => {
                    has_effect[k] = !is_same(value, &other);
                    tried.push((
                        Phase::Sample,
                        Tried {
                            x: moved,
                            value: Some(other),
                        },
                    ));
                }
                Trial::Bad => has_effect[k] = true,
                Trial::Ended => return vec![false; n],
            }
        }
    }
    has_effect.into_iter().map(|e| !e).collect()
}

/// Steps that fit the noise: central differences err least at its cube root.
fn descending(noise: f64, n: usize, options: &Options) -> Descending {
    let share = options.max_trials / 2 / options.n_starts.max(1);
    Descending {
        step: (3.0 * noise).cbrt().clamp(1e-5, 2e-2),
        margin: (4.0 * noise).clamp(1e-8, 1e-4),
        max_trials: share.max(20 * (2 * n + 2)),
        smallest_step: (0.1 * noise.sqrt()).clamp(1e-9, 1e-4),
    }
}

/// The present point, the best of the sample, and as many others from its better half.
fn choose_starts(found: &Found, n_starts: usize, has_nominal: bool) -> Vec<Vec<f64>> {
    let sample = found.tried.iter().filter(|t| t.0 == Phase::Sample);
    let good: Vec<&Tried> = sample.map(|t| &t.1).filter(|t| t.value.is_some()).collect();
    let mut order: Vec<usize> = (0..good.len()).collect();
    order.sort_by(|&a, &b| match (&good[a].value, &good[b].value) {
        (Some(a), Some(b)) => compare(a, b, &found.scales),
        _ => std::cmp::Ordering::Equal,
    });
    let is_nominal_good = has_nominal && found.tried.first().is_some_and(|t| t.1.value.is_some());
    let mut chosen: Vec<Vec<f64>> = Vec::new();
    let far = |chosen: &[Vec<f64>], x: &[f64]| {
        chosen
            .iter()
            .all(|c| c.iter().zip(x).any(|(a, b)| (a - b).abs() > SAME_PLACE))
    };
    if is_nominal_good && n_starts > 0 {
        chosen.push(found.tried[0].1.x.clone());
    }

    for &k in &order {
        if chosen.len() < n_starts.div_ceil(2) && far(&chosen, &good[k].x) {
            chosen.push(good[k].x.clone());
        }
    }

    // Others from the better half: from where a model is unstable no way leads down.
    let half: Vec<usize> = order[..order.len().div_ceil(2)].to_vec();
    for (_, tried) in good.iter().enumerate().filter(|(k, _)| half.contains(k)) {
        if chosen.len() < n_starts && far(&chosen, &tried.x) {
            chosen.push(tried.x.clone());
        }
    }

    chosen.truncate(n_starts);
    chosen
}

impl Found {
    fn add(&mut self, phase: Phase, start: Vec<f64>, descent: Descent) {
        self.is_ended |= descent.end == End::Ended;
        let is_new = is_better(
            descent.best.as_ref().map(|b| &b.1),
            self.best.as_ref().map(|b| &b.1),
            &self.scales,
        );
        if is_new {
            self.best.clone_from(&descent.best);
            self.multipliers = descent.multipliers;
        }
        let local = Local {
            start,
            best: descent.best,
            end: descent.end,
            agreement: Agreement::Worse,
        };
        match phase {
            Phase::Start(_) => self.locals.push(local),
            Phase::Evolution => self.global = Some(local),
            Phase::Sample | Phase::Polish => {}
        }
        self.tried
            .extend(descent.tried.into_iter().map(|t| (phase, t)));
    }
}

/// Lets the sample evolve, and descends from where it ends.
fn globally(problem: &dyn Problem, found: &mut Found, options: &Options, how: &Descending) {
    let n = population(problem.n_variables());
    let first = found.tried.iter().filter(|t| t.0 == Phase::Sample).take(n);
    let first: Vec<Tried> = first.map(|t| t.1.clone()).collect();
    let evolving = Evolving {
        jobs: options.jobs,
        max_generations: (options.max_trials / 2 / first.len().max(1)).max(5),
        smallest_spread: 1e-3,
        seed: options.seed,
    };

    let Evolution {
        best,
        tried,
        is_ended,
        ..
    } = evolve(problem, first, &found.scales, &evolving);

    found.is_ended |= is_ended;
    found
        .tried
        .extend(tried.into_iter().map(|t| (Phase::Evolution, t)));
    let Some((x, value)) = best else { return };
    if is_ended {
        found.global = None;
        return;
    }

    let mut descent = descend(problem, &x, &found.scales, how);
    if is_better(
        Some(&value),
        descent.best.as_ref().map(|b| &b.1),
        &found.scales,
    ) {
        descent.best = Some((x.clone(), value));
    }
    found.add(Phase::Evolution, x, descent);
}

/// Descends once more from the best point of all, so that its multipliers belong to it.
fn polish(problem: &dyn Problem, found: &mut Found, how: &Descending) {
    let best = good_points(&found.tried)
        .into_iter()
        .min_by(|a, b| compare(&a.1, &b.1, &found.scales));
    let Some((x, value)) = best else { return };
    found.best = Some((x.clone(), value));
    if found.is_ended {
        return;
    }
    let descent = descend(problem, &x, &found.scales, how);
    let multipliers = descent.multipliers.clone();
    found.add(Phase::Polish, x, descent);
    found.multipliers = multipliers;
}

/// Compares every descent with the best of all.
fn conclude(mut found: Found) -> Found {
    let all = good_points(&found.tried).into_iter();
    found.best = all.min_by(|a, b| compare(&a.1, &b.1, &found.scales));
    let Some((x, value)) = found.best.clone() else {
        return found;
    };
    // An aim of zero is as good as one of a hundredth of the spread.
    let size = value.aim.abs().max(1e-2 * found.scales.aim);
    let tolerance = SAME_AIM * size.min(found.scales.aim) + 20.0 * found.noise * found.scales.aim;
    let agreement = |local: &Local| match &local.best {
        Some((_, v)) if !v.is_feasible() => Agreement::Infeasible,
        Some((at, v)) => {
            let is_near = at.iter().zip(&x).all(|(a, b)| (a - b).abs() <= SAME_PLACE);
            match (v.aim - value.aim <= tolerance, is_near) {
                (true, true) => Agreement::Same,
                (true, false) => Agreement::AsGood,
                (false, _) => Agreement::Worse,
            }
        }
        None => Agreement::Infeasible,
    };
    for local in &mut found.locals {
        local.agreement = agreement(local);
    }
    if let Some(global) = &mut found.global {
        global.agreement = agreement(global);
    }
    found
}
