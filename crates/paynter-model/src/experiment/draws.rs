//! Joint draws: several `sweep`s in `random`, `latin` or `sobol` numbers are one sample, not a grid.
//!
//! In:  `sweep m in latin(200, seed = 1, from = 1 [kg], to = 2 [kg])`, `sweep k in latin(200, mean = 4 [N/m], deviation = 0.2 [N/m])`.
//! Out: one value of each axis for every point of the sample.
//!
//! **Invariant:** the same seed gives the same sample, and one axis does not know of another unless they are spread together.

use paynter_optimize::Random;
use paynter_optimize::distributions::normal_quantile;
use paynter_optimize::latin::latin_hypercube;
use paynter_optimize::sobol::Sobol;
use paynter_syntax::{Diagnostic, Span, ast};

use super::{Planner, SweepValue, Variable};
use crate::code;
use crate::units::Dimension;

/// How a sample is spread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Spread {
    /// Each number by itself.
    Random,
    /// A Latin hypercube: every layer of every axis once.
    Latin,
    /// Sobol's sequence, with its digits shifted at random.
    Sobol,
}

/// An axis whose values are drawn.
#[derive(Clone, Debug, PartialEq)]
pub struct Drawn {
    /// How the sample is spread.
    pub spread: Spread,
    /// Its seed.
    pub seed: u64,
    /// Points.
    pub n: usize,
    /// The law.
    pub law: Law,
    /// A value as it is written, for the unit.
    pub like: ast::Expr,
}

/// What is drawn from, SI.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Law {
    /// Evenly between two bounds.
    Uniform(f64, f64),
    /// Normal, by mean and deviation.
    Normal(f64, f64),
}

impl Law {
    /// The value below which a part `p` lies.
    pub fn quantile(&self, p: f64) -> f64 {
        match *self {
            Law::Uniform(low, high) => low + (high - low) * p,
            Law::Normal(mean, deviation) => mean + deviation * normal_quantile(p),
        }
    }
}

/// Most points of a sample: each is a run.
const MOST_POINTS: f64 = 100_000.0;

/// The way of drawing that a word means.
pub(super) fn spread(word: &str) -> Option<Spread> {
    match word {
        "random" => Some(Spread::Random),
        "latin" => Some(Spread::Latin),
        "sobol" => Some(Spread::Sobol),
        _ => None,
    }
}

impl Planner<'_> {
    /// Reads `latin(n, seed = …, from = …, to = …)` or `latin(n, mean = …, deviation = …)`.
    pub(super) fn drawn(
        &mut self,
        (spread, args): (Spread, &[ast::Arg]),
        variable: &Variable,
        span: Span,
    ) -> Option<Drawn> {
        let names = ["n", "seed", "from", "to", "mean", "deviation"];
        let mut slots: [Option<&ast::Expr>; 6] = [None; 6];
        for (position, arg) in args.iter().enumerate() {
            let slot = match &arg.name {
                None => Some(position),
                Some(name) => names.iter().position(|n| *n == &*name.text),
            };
            match slot.and_then(|slot| slots.get_mut(slot)) {
                Some(slot) => *slot = Some(&arg.value),
                None => {
                    self.report(wrong_call(arg.value.span));
                    return None;
                }
            }
        }
        let [Some(n), seed, from, to, mean, deviation] = slots else {
            self.report(wrong_call(span));
            return None;
        };
        let whole = |name: &str, e: &ast::Expr| ast::Ident {
            text: name.into(),
            span: e.span,
        };
        let is_count: fn(f64) -> bool = |x| x.fract() == 0.0 && (1.0..=MOST_POINTS).contains(&x);
        let is_seed: fn(f64) -> bool = |x| x.fract() == 0.0 && (0.0..=1e15).contains(&x);
        let one = Some(Dimension::ONE);
        let rule = "a whole number from 1 to 100000";
        let n_points = self.number(&whole("n", n), n, one, is_count, rule);
        let seed = match seed {
            None => Some(0.0),
            Some(e) => self.number(&whole("seed", e), e, one, is_seed, "a whole number"),
        };
        let (law, like) = match (from, to, mean, deviation) {
            (Some(from), Some(to), None, None) => {
                let (low, high) = (self.value_of(from, variable), self.value_of(to, variable));
                (Law::Uniform(low?, high?), from)
            }
            (None, None, Some(mean), Some(deviation)) => {
                let centre = self.value_of(mean, variable);
                let width = self.value_of(deviation, variable);
                let width = width?;
                if width < 0.0 {
                    let message =
                        Diagnostic::error(code::SWEEP_VALUES, "a deviation is not negative");
                    self.report(message.primary(deviation.span, format!("is {width}")));
                    return None;
                }
                (Law::Normal(centre?, width), mean)
            }
            _ => {
                self.report(wrong_call(span));
                return None;
            }
        };
        Some(Drawn {
            spread,
            seed: seed? as u64,
            n: n_points? as usize,
            law,
            like: like.clone(),
        })
    }

    /// Draws all axes together, once all are known.
    pub(super) fn draw(&mut self) {
        let axes: Vec<(usize, Drawn)> = self
            .plan
            .sweeps
            .iter()
            .enumerate()
            .filter_map(|(k, s)| Some((k, s.drawn.clone()?)))
            .collect();
        let Some((first, leader)) = axes.first().cloned() else {
            return;
        };
        for (k, axis) in &axes {
            if (axis.n, axis.spread) != (leader.n, leader.spread) {
                let span = self.plan.sweeps[*k].span;
                let before = self.plan.sweeps[first].span;
                let message = Diagnostic::error(
                    code::SWEEP_VALUES,
                    "axes that are drawn make one sample, with as many values each",
                )
                .primary(span, format!("{} values", axis.n))
                .secondary(before, format!("{} values", leader.n))
                .help("draw as many of each, in the same way");
                self.report(message);
                return;
            }
        }
        let parts = sample(&leader, axes.len());
        for (column, (k, axis)) in axes.iter().enumerate() {
            let values: Vec<SweepValue> = (0..axis.n)
                .map(|i| self.shown(axis.law.quantile(parts[i][column]), &axis.like))
                .collect();
            self.plan.sweeps[*k].values = values;
        }
    }
}

/// Points of the unit cube.
fn sample(leader: &Drawn, n_axes: usize) -> Vec<Vec<f64>> {
    // The first axis of a random sample is what a single axis has always been.
    let random = |i: usize, axis: usize| match axis {
        0 => super::studies::uniform(leader.seed, i as u64),
        axis => Random::new(leader.seed.wrapping_add(i as u64), axis as u64).uniform(),
    };
    match leader.spread {
        Spread::Random => (0..leader.n)
            .map(|i| (0..n_axes).map(|axis| random(i, axis)).collect())
            .collect(),
        Spread::Latin => latin_hypercube(leader.n, n_axes, &mut Random::new(leader.seed, 0x1a)),
        Spread::Sobol => {
            let sequence = Sobol::shifted(n_axes, &mut Random::new(leader.seed, 0x50b));
            sequence.take(leader.n).collect()
        }
    }
}

fn wrong_call(span: Span) -> Diagnostic {
    Diagnostic::error(code::SWEEP_VALUES, "a drawn axis needs a number of values, and two bounds or a mean and a deviation")
        .primary(span, "draws values")
        .help("write `random(20, seed = 1, from = 1 [N/m], to = 2 [N/m])` or `latin(20, mean = 1 [N/m], deviation = 0.1 [N/m])`")
}
