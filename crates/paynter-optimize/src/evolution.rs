//! Global search: differential evolution whose parameters adapt themselves (jDE: Brest et al. 2006), constraints by
//! feasibility first (Deb 2000).
//!
//! In:  a problem, a first population, a seed.
//! Out: every trial, and the best point.
//!
//! All trials of a generation are drawn before the first is made, so that the number of threads changes nothing.

use crate::problem::{Evaluation, Problem, Scales, Trial, Tried, is_better};
use crate::random::Random;
use crate::threads;

/// How a population evolves.
#[derive(Clone, Debug)]
pub struct Evolving {
    /// Threads.
    pub jobs: usize,
    /// Generations after which it ends.
    pub max_generations: usize,
    /// Ended where the population is this small a part of the cube.
    pub smallest_spread: f64,
    /// Seed.
    pub seed: u64,
}

/// A finished evolution.
#[derive(Clone, Debug)]
pub struct Evolution {
    /// The best point.
    pub best: Option<(Vec<f64>, Evaluation)>,
    /// Everything that was tried, generation by generation.
    pub tried: Vec<Tried>,
    /// The population has drawn together.
    pub is_settled: bool,
    /// Ended from outside.
    pub is_ended: bool,
}

#[derive(Clone)]
struct Member {
    x: Vec<f64>,
    value: Option<Evaluation>,
    weight: f64,
    crossing: f64,
}

/// Lets a population evolve.
pub fn evolve(
    problem: &dyn Problem,
    first: Vec<Tried>,
    scales: &Scales,
    how: &Evolving,
) -> Evolution {
    let mut random = Random::new(how.seed, 0xde);
    let mut members: Vec<Member> = first
        .into_iter()
        .map(|t| Member {
            x: t.x,
            value: t.value,
            weight: 0.5,
            crossing: 0.9,
        })
        .collect();

    let mut result = Evolution {
        best: None,
        tried: Vec::new(),
        is_settled: false,
        is_ended: false,
    };

    if members.len() < 5 {
        return result;
    }
    for _ in 0..how.max_generations {
        let trials: Vec<Member> = (0..members.len())
            .map(|k| offspring(&members, k, &mut random))
            .collect();
        let values = threads::map(how.jobs, &trials, |_, t| problem.evaluate(&t.x));
        for (member, (mut trial, value)) in members.iter_mut().zip(trials.into_iter().zip(values)) {
            trial.value = match value {
                Trial::Good(value) if value.is_finite() => Some(value),
                Trial::Good(_) | Trial::Bad => None,
                Trial::Ended => {
                    result.is_ended = true;
                    continue;
                }
            };
            result.tried.push(Tried {
                x: trial.x.clone(),
                value: trial.value.clone(),
            });
            if !is_better(member.value.as_ref(), trial.value.as_ref(), scales) {
                *member = trial;
            }
        }
        result.is_settled = spread(&members) < how.smallest_spread;
        if result.is_ended || result.is_settled {
            break;
        }
    }

    for member in &members {
        let best = result.best.as_ref().map(|b| &b.1);
        if is_better(member.value.as_ref(), best, scales) {
            result.best = member.value.clone().map(|v| (member.x.clone(), v));
        }
    }
    result
}

/// Mixes one member with three others: rand/1/bin.
fn offspring(members: &[Member], k: usize, random: &mut Random) -> Member {
    let parent = &members[k];
    let n = parent.x.len();
    // One in ten draws its own weight and crossing anew; what works stays with what it made (jDE).
    let weight = if random.uniform() < 0.1 {
        0.1 + 0.9 * random.uniform()
    } else {
        parent.weight
    };
    let crossing = if random.uniform() < 0.1 {
        random.uniform()
    } else {
        parent.crossing
    };
    let mut others = [k; 3];
    for i in 0..3 {
        loop {
            others[i] = random.below(members.len());
            if others[i] != k && !others[..i].contains(&others[i]) {
                break;
            }
        }
    }

    let [a, b, c] = others.map(|o| &members[o].x);
    let certain = random.below(n);
    let x = (0..n)
        .map(|i| {
            if i != certain && random.uniform() >= crossing {
                return parent.x[i];
            }
            let moved = a[i] + weight * (b[i] - c[i]);
            // Beyond a face: halfway back to it, so that faces can be reached but do not collect points.
            if moved < 0.0 {
                0.5 * parent.x[i] * random.uniform()
            } else if moved > 1.0 {
                1.0 - 0.5 * (1.0 - parent.x[i]) * random.uniform()
            } else {
                moved
            }
        })
        .collect();

    Member {
        x,
        value: None,
        weight,
        crossing,
    }
}

fn spread(members: &[Member]) -> f64 {
    let n = members[0].x.len();
    let width = |i: usize| {
        let values = members.iter().map(|m| m.x[i]);
        let high = values.clone().fold(f64::NEG_INFINITY, f64::max);
        high - values.fold(f64::INFINITY, f64::min)
    };
    (0..n).map(width).fold(0.0, f64::max)
}
