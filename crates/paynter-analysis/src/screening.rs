//! Screening: which parameters a measure depends on, over their whole ranges.
//!
//! In:  a design with a paired sweep of two values, low and high, for each parameter; a method and its size.
//! Out: a [`Screening`]: for every measure, each parameter's effect or share, largest first.
//!
//! The runs are those of a sweep: compiled once, on all cores, the same bits whatever their number.

use crate::refused::Refused;
use crate::sweep::{Point, Sweeper, Watch};
use paynter_design::design::{Choice, Design};
use paynter_design::digits::significant;
use paynter_exec::Engine;
use paynter_model::experiment::SweepTarget;
use paynter_optimize::screening::{
    Effect, Share, morris_design, morris_effects, sobol_design, sobol_shares,
};
use serde_json::{Value, json};
use std::fmt::Write as _;

/// Method.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// Elementary effects along so many ways.
    Morris(usize),
    /// Shares of the variance from so many base points.
    Sobol(usize),
}

/// What each parameter counts for, for one measure.
#[derive(Clone, Debug, PartialEq)]
pub enum Ranking {
    /// By Morris' method, in the unit of the measure.
    Effects(Vec<Effect>),
    /// By Sobol's method; none where the measure does not vary.
    Shares(Option<Vec<Share>>),
}

/// The outcome of a screening.
#[derive(Clone, Debug)]
pub struct Screening {
    /// The parameters.
    pub parameters: Vec<String>,
    /// Each measure with its unit, how many runs had no value of it, and what counts.
    pub measures: Vec<(String, String, usize, Ranking)>,
    /// Runs made.
    pub n_runs: usize,
    /// Runs that failed.
    pub n_failed: usize,
}

/// Runs the design of a screening.
///
/// # Errors
///
/// See [`Refused`].
pub fn screen(
    mut design: Design,
    choice: &Choice,
    (method, seed): (Method, u64),
    (jobs, watch): (usize, Watch<'_>),
) -> Result<Screening, Refused> {
    let call = |text: &str| Refused::Call(text.to_owned());
    if design.plan.measures.is_empty() {
        return Err(call(
            "the experiment has no `measure`; write for instance `measure end = final(x)`",
        ));
    }

    let ranges = design.sweep_values();
    let ranges = ranges.ok_or_else(|| call("ranges are of numbers"))?;
    let n = ranges.len();
    if n == 0 || ranges.iter().any(|r| r.len() != 2 || r[0] == r[1]) {
        return Err(call(
            "each parameter needs a range, such as `--range \"R1=10..50\"`",
        ));
    }

    let unit_points = match method {
        Method::Morris(ways) => morris_design(n, ways, seed),
        Method::Sobol(base) => sobol_design(n, base, seed),
    };
    let values: Vec<Vec<f64>> = (0..n)
        .map(|j| {
            let (low, high) = (ranges[j][0], ranges[j][1]);
            let place = |p: &Vec<f64>| low + p[j] * (high - low);
            unit_points.iter().map(place).collect()
        })
        .collect();

    design.set_sweep_values(&values).map_err(Refused::Call)?;
    let parameters = design.plan.sweeps.iter().map(|s| match &s.target {
        SweepTarget::Variable { variable, .. } => variable.path.clone(),
        _ => String::new(),
    });
    let parameters: Vec<String> = parameters.collect();
    let sweeper = Sweeper::new(&design, choice, Engine::Auto)?;
    let points = sweeper.run(0..unit_points.len(), jobs, watch);

    Ok(Screening {
        parameters,
        measures: rankings(&design, &unit_points, &points, (method, seed)),
        n_runs: points.len(),
        n_failed: points.iter().filter(|p| p.failure.is_some()).count(),
    })
}

fn rankings(
    design: &Design,
    unit_points: &[Vec<f64>],
    points: &[Point],
    (method, seed): (Method, u64),
) -> Vec<(String, String, usize, Ranking)> {
    let n = unit_points.first().map_or(0, Vec::len);
    let measures = design.plan.measures.iter().enumerate();
    measures
        .map(|(k, measured)| {
            let value = |p: &Point| p.measures.get(k).and_then(|m| m.value);
            let values: Vec<f64> = points
                .iter()
                .map(|p| value(p).unwrap_or(f64::NAN))
                .collect();
            let unit = points.iter().find_map(|p| p.measures.get(k));
            let unit = unit.map(|m| m.unit.clone()).unwrap_or_default();
            let n_missing = values.iter().filter(|x| !x.is_finite()).count();
            let ranking = match method {
                Method::Morris(_) => Ranking::Effects(morris_effects(unit_points, &values)),
                Method::Sobol(_) => Ranking::Shares(sobol_shares(n, &values, seed)),
            };
            (measured.name.clone(), unit, n_missing, ranking)
        })
        .collect()
}

/// Writes the rankings for people, what counts most first.
pub fn screening_to_text(found: &Screening) -> String {
    let mut out = format!("{} runs, {} failed\n", found.n_runs, found.n_failed);
    let width = found.parameters.iter().map(|p| p.chars().count()).max();
    let width = width.unwrap_or(0);
    for (name, unit, n_missing, ranking) in &found.measures {
        let unit = match unit.as_str() {
            "" => String::new(),
            unit => format!(" [{unit}]"),
        };
        let missing = match n_missing {
            0 => String::new(),
            n => format!(", {n} runs without a value left out"),
        };
        let order = |key: &dyn Fn(usize) -> f64| {
            let mut all: Vec<usize> = (0..found.parameters.len()).collect();
            all.sort_by(|&a, &b| key(b).total_cmp(&key(a)).then(a.cmp(&b)));
            all
        };
        match ranking {
            Ranking::Effects(effects) => {
                let _ = writeln!(
                    out,
                    "\n{name}{unit}: mean size of the effect of the whole range, mean, spread{missing}"
                );
                for k in order(&|k| effects[k].size) {
                    let e = effects[k];
                    let cells =
                        [e.size, e.mean, e.spread].map(|x| format!("{:>12}", significant(x, 4)));
                    let _ = writeln!(out, "  {:<width$}{}", found.parameters[k], cells.concat());
                }
            }
            Ranking::Shares(Some(shares)) => {
                let _ = writeln!(
                    out,
                    "\n{name}{unit}: share of the variance by itself, and with others (± 95 %){missing}"
                );
                for k in order(&|k| shares[k].total) {
                    let s = shares[k];
                    let cell = |x: f64, d: f64| format!("{x:>8.3} ± {d:.3}");
                    let _ = writeln!(
                        out,
                        "  {:<width$}{}{}",
                        found.parameters[k],
                        cell(s.first, s.doubt.0),
                        cell(s.total, s.doubt.1)
                    );
                }
            }
            Ranking::Shares(None) => {
                let _ = writeln!(
                    out,
                    "\n{name}{unit}: does not vary, or has too few values{missing}"
                );
            }
        }
    }
    out
}

/// Writes everything for machines.
pub fn screening_to_json(found: &Screening) -> Value {
    let measure = |(name, unit, n_missing, ranking): &(String, String, usize, Ranking)| {
        let rows: Vec<Value> = match ranking {
            Ranking::Effects(all) => found
                .parameters
                .iter()
                .zip(all)
                .map(|(p, e)| json!({"parameter": p, "size": e.size, "mean": e.mean, "spread": e.spread, "effects": e.n}))
                .collect(),
            Ranking::Shares(Some(all)) => found
                .parameters
                .iter()
                .zip(all)
                .map(|(p, s)| json!({"parameter": p, "first": s.first, "total": s.total, "first_doubt": s.doubt.0, "total_doubt": s.doubt.1}))
                .collect(),
            Ranking::Shares(None) => Vec::new(),
        };
        json!({"name": name, "unit": unit, "without_value": n_missing, "parameters": rows})
    };
    json!({
        "runs": found.n_runs, "failed": found.n_failed,
        "measures": found.measures.iter().map(measure).collect::<Vec<_>>(),
    })
}
