//! Joint draws: several `sweep`s in `random`, `latin` or `sobol` numbers are one sample, not a grid.
//!
//! In:  `sweep m in latin(200, seed = 1, from = 1 [kg], to = 2 [kg])`, `sweep k in latin(200, mean = 4 [N/m], deviation = 0.2 [N/m])`.
//! Out: one value of each axis for every point of the sample; axes may be correlated (`with = m, correlation = 0.7`).
//!
//! **Invariant:** the same seed gives the same sample, and one axis does not know of another unless they are spread together.

use paynter_optimize::Random;
use paynter_optimize::dense::Dense;
use paynter_optimize::distributions::{normal_below, normal_quantile};
use paynter_optimize::latin::latin_hypercube;
use paynter_optimize::sobol::Sobol;
use paynter_syntax::{Diagnostic, Span, ast};

use super::{Planner, SettableValue, SweepTarget, SweepValue};
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
    pub law: Distribution,
    /// A value as it is written, for the unit.
    pub like: ast::Expr,
    /// The other axis that it is correlated with, and how much.
    pub correlated: Option<Correlated>,
}

/// A correlation with another axis.
#[derive(Clone, Debug, PartialEq)]
pub struct Correlated {
    /// The path of the other.
    pub with: String,
    /// Between −1 and 1, of the normal numbers behind both.
    pub by: f64,
    /// Where it is written.
    pub span: Span,
}

/// What is drawn from, SI.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Distribution {
    /// Evenly between two bounds.
    Uniform(f64, f64),
    /// Normal, by mean and deviation.
    Normal(f64, f64),
    /// Its logarithm is normal: the median, and the factor of one deviation.
    LogNormal(f64, f64),
    /// A triangle between two bounds with its top at a value: low, top, high.
    Triangle(f64, f64, f64),
}

impl Distribution {
    /// The value below which a part `p` lies.
    pub fn quantile(&self, p: f64) -> f64 {
        match *self {
            Distribution::Uniform(low, high) => low + (high - low) * p,
            Distribution::Normal(mean, deviation) => mean + deviation * normal_quantile(p),
            Distribution::LogNormal(median, factor) => median * factor.powf(normal_quantile(p)),
            Distribution::Triangle(low, top, high) => {
                let (width, left) = (high - low, top - low);
                match p * width <= left {
                    true => low + (p * width * left).sqrt(),
                    false => high - ((1.0 - p) * width * (high - top)).sqrt(),
                }
            }
        }
    }
}

/// Arguments of a drawn axis.
const NAMES: [&str; 11] = [
    "n",
    "seed",
    "from",
    "to",
    "mean",
    "deviation",
    "median",
    "factor",
    "top",
    "with",
    "correlation",
];

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
    /// Reads `latin(n, seed = …, from = …, to = …, top = …)`, `latin(n, mean = …, deviation = …)` or
    /// `latin(n, median = …, factor = …)`, each with `with = …, correlation = …` where it follows another axis.
    pub(super) fn drawn(
        &mut self,
        (spread, args): (Spread, &[ast::Arg]),
        variable: &SettableValue,
        span: Span,
    ) -> Option<Drawn> {
        let mut slots: [Option<&ast::Expr>; NAMES.len()] = [None; NAMES.len()];
        for (position, arg) in args.iter().enumerate() {
            let slot = match &arg.name {
                None => Some(position),
                Some(name) => NAMES.iter().position(|n| *n == &*name.text),
            };
            match slot.and_then(|slot| slots.get_mut(slot)) {
                Some(slot) => *slot = Some(&arg.value),
                None => {
                    self.report(wrong_call(arg.value.span));
                    return None;
                }
            }
        }

        let Some(n) = slots[0] else {
            self.report(wrong_call(span));
            return None;
        };
        let is_count: fn(f64) -> bool = |x| x.fract() == 0.0 && (1.0..=MOST_POINTS).contains(&x);
        let is_seed: fn(f64) -> bool = |x| x.fract() == 0.0 && (0.0..=1e15).contains(&x);
        let one = Some(Dimension::ONE);
        let rule = "a whole number from 1 to 100000";
        let n_points = self.number(&named("n", n), n, one, is_count, rule);
        let seed = match slots[1] {
            None => Some(0.0),
            Some(e) => self.number(&named("seed", e), e, one, is_seed, "a whole number"),
        };
        let (law, like) = self.law(&slots, variable, span)?;
        let correlated = match (slots[9], slots[10]) {
            (None, None) => None,
            (Some(with), Some(by)) => {
                let is_part: fn(f64) -> bool = |x| (-1.0..=1.0).contains(&x);
                let rule = "between -1 and 1";
                let strength = self.number(&named("correlation", by), by, one, is_part, rule)?;
                Some(Correlated {
                    with: self.scope.text(with.span).trim().to_owned(),
                    by: strength,
                    span: with.span.to(by.span),
                })
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
            correlated,
        })
    }

    /// The law that the arguments give, and one of them as written.
    fn law<'e>(
        &mut self,
        slots: &[Option<&'e ast::Expr>; NAMES.len()],
        variable: &SettableValue,
        span: Span,
    ) -> Option<(Distribution, &'e ast::Expr)> {
        let [_, _, from, to, mean, deviation, median, factor, top, ..] = *slots;
        match (from, to, mean, deviation, median, factor, top) {
            (Some(from), Some(to), None, None, None, None, None) => {
                let (low, high) = (self.value_of(from, variable), self.value_of(to, variable));
                Some((Distribution::Uniform(low?, high?), from))
            }
            (Some(from), Some(to), None, None, None, None, Some(top)) => {
                let ends = (self.value_of(from, variable), self.value_of(to, variable));
                let (low, high, at) = (ends.0?, ends.1?, self.value_of(top, variable)?);
                if low <= at && at <= high && low < high {
                    return Some((Distribution::Triangle(low, at, high), from));
                }
                self.refuse_law(top, "the top lies outside the bounds", at)
            }
            (None, None, Some(mean), Some(deviation), None, None, None) => {
                let centre = self.value_of(mean, variable);
                let width = self.value_of(deviation, variable)?;
                if width >= 0.0 {
                    return Some((Distribution::Normal(centre?, width), mean));
                }
                self.refuse_law(deviation, "a deviation is not negative", width)
            }
            (None, None, None, None, Some(median), Some(factor), None) => {
                let centre = self.value_of(median, variable)?;
                let is_factor: fn(f64) -> bool = |x| x >= 1.0;
                let one = Some(Dimension::ONE);
                let rule = "at least 1: what one deviation multiplies by";
                let factor = self.number(&named("factor", factor), factor, one, is_factor, rule)?;
                if centre != 0.0 {
                    return Some((Distribution::LogNormal(centre, factor), median));
                }
                self.refuse_law(median, "a median of zero has no logarithm", 0.0)
            }
            _ => {
                self.report(wrong_call(span));
                None
            }
        }
    }

    /// Says why there is no law with this argument.
    fn refuse_law<T>(&mut self, at: &ast::Expr, message: &str, value: f64) -> Option<T> {
        let label = format!("is {value}");
        self.report(Diagnostic::error(code::SWEEP_VALUES, message).primary(at.span, label));
        None
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

        let mut parts = sample(&leader, axes.len());
        if axes.iter().any(|a| a.1.correlated.is_some()) {
            let Some(factor) = self.correlations(&axes) else {
                return;
            };
            parts.iter_mut().for_each(|p| together(p, &factor));
        }

        for (column, (k, axis)) in axes.iter().enumerate() {
            let values: Vec<SweepValue> = (0..axis.n)
                .map(|i| self.shown(axis.law.quantile(parts[i][column]), &axis.like))
                .collect();
            self.plan.sweeps[*k].values = values;
        }
    }
}

impl Planner<'_> {
    /// The lower factor of the correlations of all drawn axes.
    fn correlations(&mut self, axes: &[(usize, Drawn)]) -> Option<Dense> {
        let n = axes.len();
        let path = |k: usize| match &self.plan.sweeps[k].target {
            SweepTarget::Variable { variable, .. } => variable.path.clone(),
            _ => String::new(),
        };
        let names: Vec<String> = axes.iter().map(|a| path(a.0)).collect();
        let mut matrix = Dense::diagonal(n, 1.0);
        for (i, (_, axis)) in axes.iter().enumerate() {
            let Some(asked) = &axis.correlated else {
                continue;
            };
            let other = names.iter().position(|name| *name == asked.with);
            let Some(j) = other.filter(|&j| j != i) else {
                let message = format!("`{}` is not another axis that is drawn", asked.with);
                let message = Diagnostic::error(code::SWEEP_VALUES, message);
                self.report(message.primary(asked.span, "correlated with it"));
                return None;
            };
            matrix[(i, j)] = asked.by;
            matrix[(j, i)] = asked.by;
        }

        // Correlations of one are a limit: a hair of freedom keeps the factor.
        for k in 0..n {
            matrix[(k, k)] += 1e-14;
        }
        let factor = lower_factor(&matrix);
        if factor.is_none() {
            let last = axes.iter().rev().find_map(|a| a.1.correlated.as_ref());
            let span = last.map(|c| c.span).unwrap_or_default();
            let message = Diagnostic::error(
                code::SWEEP_VALUES,
                "these correlations contradict each other",
            );
            let label = "no numbers are correlated in this way";
            self.report(
                message
                    .primary(span, label)
                    .help("make some of them smaller"),
            );
        }
        factor
    }
}

/// L with L Lᵀ = A for a positive A.
fn lower_factor(a: &Dense) -> Option<Dense> {
    let n = a.n_rows;
    let mut l = Dense::zeros(n, n);
    for i in 0..n {
        for j in 0..=i {
            let known: f64 = (0..j).map(|k| l[(i, k)] * l[(j, k)]).sum();
            let left = a[(i, j)] - known;
            if i == j {
                if left <= 0.0 {
                    return None;
                }
                l[(i, i)] = left.sqrt();
            } else {
                l[(i, j)] = left / l[(j, j)];
            }
        }
    }
    Some(l)
}

/// Correlates a point of the unit cube through normal numbers: each coordinate stays evenly spread (a Gaussian copula, Nelsen 2006).
fn together(point: &mut [f64], factor: &Dense) {
    let normal: Vec<f64> = point.iter().map(|p| normal_quantile(*p)).collect();
    for (i, p) in point.iter_mut().enumerate() {
        let mixed: f64 = (0..=i).map(|k| factor[(i, k)] * normal[k]).sum();
        *p = normal_below(mixed);
    }
}

fn named(name: &str, e: &ast::Expr) -> ast::Ident {
    ast::Ident {
        text: name.into(),
        span: e.span,
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
    Diagnostic::error(code::SWEEP_VALUES, "a drawn axis needs a number of values, and two bounds, a mean and a deviation, or a median and a factor")
        .primary(span, "draws values")
        .help("write `random(20, seed = 1, from = 1 [N/m], to = 2 [N/m])` or `latin(20, mean = 1 [N/m], deviation = 0.1 [N/m])`")
}
