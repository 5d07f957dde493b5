//! What a fit says about the parameters.
//!
//! In:  data and the best fit.
//! Out: an [`Estimated`]: values, deviations, intervals, and the combinations that the data cannot tell apart.

use super::data::Measured;
use crate::optimize::Axis;
use paynter_design::code;
use paynter_design::design::Design;
use paynter_design::digits::significant;
use paynter_optimize::dense::{Dense, dot};
use paynter_optimize::distributions::student_quantile;
use paynter_optimize::levenberg::{Fit, Information, information};
use paynter_syntax::{Diagnostic, ast};

/// A fitted parameter.
#[derive(Clone, Debug)]
pub struct ValueEstimated {
    /// Its name.
    pub name: String,
    /// In its unit.
    pub value: f64,
    /// Its unit; empty for a plain number.
    pub unit: String,
    /// Standard deviation, in its unit; none where the data do not fix it.
    pub deviation: Option<f64>,
    /// The interval that holds the true value in 95 of 100 such experiments.
    pub interval: Option<(f64, f64)>,
    /// It is at a bound.
    pub is_at_bound: bool,
    /// As written in the model.
    pub target: ast::Ref,
}

/// A combination of parameters that the data say nothing about.
#[derive(Clone, Debug, PartialEq)]
pub struct Unresolved {
    /// (name, change in per cent of its value): together they change no residual.
    pub changes: Vec<(String, f64)>,
}

/// A compared column.
#[derive(Clone, Debug, PartialEq)]
pub struct ColumnFit {
    /// Its name.
    pub name: String,
    /// Its unit.
    pub unit: String,
    /// Samples.
    pub n: usize,
    /// Root of the mean square of its residuals, in its unit.
    pub rms: f64,
    /// The deviation it was weighted with, in its unit.
    pub sigma: f64,
    /// It was given.
    pub is_given: bool,
}

/// A finished fit.
#[derive(Clone, Debug)]
pub struct Estimated {
    /// Experiment.
    pub experiment: String,
    /// Parameters.
    pub values: Vec<ValueEstimated>,
    /// Correlations between them; empty where the data do not fix them all.
    pub correlations: Vec<Vec<f64>>,
    /// What the data cannot tell apart.
    pub unresolved: Vec<Unresolved>,
    /// Columns.
    pub columns: Vec<ColumnFit>,
    /// Every sample: column, time, data, model; in its unit.
    pub samples: Vec<(usize, f64, f64, f64)>,
    /// Runs.
    pub n_runs: usize,
    /// Slopes came from the variational equations, not from differences of runs.
    pub has_exact_slopes: bool,
    /// χ² over its freedom, where every σ was given.
    pub chi_square: Option<f64>,
    /// What the user should know.
    pub messages: Vec<Diagnostic>,
}

/// A direction of the parameters with a share below this of the best seen one is not seen: differences are no better.
const UNSEEN: f64 = 1e-5;
/// A parameter with less than this share in an unseen direction stands still along it.
const STILL: f64 = 1e-3;
/// Changes below this part of the largest do not belong to a combination.
const BESIDE: f64 = 0.02;

/// Reads values and intervals off the fit.
pub(super) fn estimate(design: &Design, data: &Measured<'_>, fit: &Fit) -> Estimated {
    let n = fit.x.len();
    let samples = data.samples();
    let freedom = (samples.len().saturating_sub(n)).max(1) as f64;
    let sum = dot(&fit.residuals, &fit.residuals);
    let all_given = data.columns.iter().all(|c| c.is_given);

    // With weights that were learned the residuals have deviation one by construction.
    let info = information(&fit.jacobian);
    let deviations: Vec<Option<f64>> = (0..n).map(|k| deviation(&info, k)).collect();
    let covariance = info
        .covariance
        .as_ref()
        .filter(|_| deviations.iter().all(Option::is_some));
    let t = if all_given {
        student_quantile(0.975, 1e9)
    } else {
        student_quantile(0.975, freedom)
    };

    let mut values = Vec::new();
    for (k, axis) in data.axes.iter().enumerate() {
        values.push(value_estimated(axis, fit.x[k], deviations[k], t));
    }
    let correlations = covariance.map_or(Vec::new(), correlations);

    let mut estimated = Estimated {
        experiment: design.plan.name.clone().unwrap_or_default(),
        unresolved: unresolved(data, fit),
        values,
        correlations,
        columns: columns(data, fit),
        samples: samples
            .iter()
            .zip(&fit.residuals)
            .map(|((c, t, v), r)| (*c, *t, *v, v + r * data.columns[*c].sigma))
            .collect(),
        n_runs: data.n_runs(),
        has_exact_slopes: data.is_exact(),
        chi_square: all_given.then(|| sum / freedom),
        messages: Vec::new(),
    };
    add_messages(&mut estimated, design);
    estimated
}

/// A value with its interval of ± `t` deviations; all are parts of the axis before.
fn value_estimated(axis: &Axis, x: f64, half: Option<f64>, t: f64) -> ValueEstimated {
    let unit = axis.varied.unit.as_ref().map(|u| &u.0);
    let shown = |si: f64| unit.map_or(si, |u| u.from_si(si));
    let ends = half.map(|h| (axis.extended(x - t * h), axis.extended(x + t * h)));
    let value = axis.value(x);
    ValueEstimated {
        name: axis.varied.variable.path.clone(),
        value: shown(value),
        unit: unit.map_or(String::new(), |u| u.text.clone()),
        deviation: half
            .map(|h| (axis.extended(x + h) - value).abs() / unit.map_or(1.0, |u| u.factor)),
        interval: ends.map(|(a, b)| (shown(a), shown(b))),
        is_at_bound: x <= 1e-9 || x >= 1.0 - 1e-9,
        target: axis.varied.target.clone(),
    }
}

/// The covariance scaled to ones on the diagonal.
fn correlations(c: &Dense) -> Vec<Vec<f64>> {
    let n = c.n_rows;
    let row = |i: usize| {
        (0..n)
            .map(|j| c[(i, j)] / (c[(i, i)] * c[(j, j)]).sqrt())
            .collect()
    };
    (0..n).map(row).collect()
}

/// The deviation of a parameter for residuals of deviation one, as a part of its range; none where a direction that the data do not see
/// moves it.
fn deviation(info: &Information, k: usize) -> Option<f64> {
    let largest = info.singular_values.first().copied().unwrap_or(0.0);
    let mut variance = 0.0;
    for (s, direction) in info.singular_values.iter().zip(&info.directions) {
        if *s > UNSEEN * largest {
            variance += (direction[k] / s).powi(2);
        } else if direction[k].abs() > STILL {
            return None;
        }
    }
    (info.lengths[k] > 0.0).then(|| variance.sqrt() / info.lengths[k])
}

/// Combinations of parameters that change no residual.
fn unresolved(data: &Measured<'_>, fit: &Fit) -> Vec<Unresolved> {
    let info = information(&fit.jacobian);
    let name = |k: usize| data.axes[k].varied.variable.path.clone();
    let mut found = Vec::new();
    for k in 0..fit.x.len() {
        if info.lengths[k] == 0.0 {
            found.push(Unresolved {
                changes: vec![(name(k), 1.0)],
            });
        }
    }

    let largest = info.singular_values.first().copied().unwrap_or(0.0);
    for (s, direction) in info.singular_values.iter().zip(&info.directions) {
        if *s > UNSEEN * largest {
            continue;
        }
        // A step along it, as parts of the values themselves.
        let parts: Vec<(usize, f64)> = (0..fit.x.len())
            .filter(|&k| info.lengths[k] > 0.0)
            .map(|k| {
                let axis = &data.axes[k];
                let h = 1e-6;
                let slope = (axis.extended(fit.x[k] + h) - axis.extended(fit.x[k] - h)) / (2.0 * h);
                let value = axis.value(fit.x[k]);
                let size = if value == 0.0 {
                    axis.high - axis.low
                } else {
                    value
                };
                (k, direction[k] / info.lengths[k] * slope / size)
            })
            .collect();
        let most = parts.iter().fold(0.0, |m: f64, p| m.max(p.1.abs()));
        if most == 0.0 {
            continue;
        }
        let sign = parts
            .iter()
            .find(|p| p.1.abs() > BESIDE * most)
            .map_or(1.0, |p| p.1.signum());
        let changes = parts.iter().filter(|p| p.1.abs() > BESIDE * most);
        let changes: Vec<(String, f64)> =
            changes.map(|(k, p)| (name(*k), sign * p / most)).collect();
        found.push(Unresolved { changes });
    }
    found
}

fn columns(data: &Measured<'_>, fit: &Fit) -> Vec<ColumnFit> {
    let samples = data.samples();
    let all = data.columns.iter().enumerate().map(|(k, c)| {
        let own = samples.iter().zip(&fit.residuals).filter(|(s, _)| s.0 == k);
        let sum: f64 = own.map(|(_, r)| r * r).sum();
        ColumnFit {
            name: c.name.clone(),
            unit: c.unit.clone(),
            n: c.n,
            rms: c.sigma * (sum / c.n.max(1) as f64).sqrt(),
            sigma: c.sigma,
            is_given: c.is_given,
        }
    });
    all.collect()
}

fn add_messages(estimated: &mut Estimated, design: &Design) {
    let Some(fit) = &design.plan.fit else { return };
    for one in &estimated.unresolved {
        let message = match &one.changes[..] {
            [(name, _)] => format!("the data say nothing about `{name}`"),
            changes => {
                let names: Vec<String> = changes.iter().map(|c| format!("`{}`", c.0)).collect();
                format!("the data cannot tell {} apart", names.join(" and "))
            }
        };
        let steps: Vec<String> = one
            .changes
            .iter()
            .map(|(name, part)| {
                format!(
                    "{name} by {}{} %",
                    if *part > 0.0 { "+" } else { "" },
                    significant(*part, 3)
                )
            })
            .collect();
        let message = Diagnostic::warning(code::FIT_UNRESOLVED, message)
            .primary(fit.span, "fitted here")
            .fact(format!(
                "changing {} changes no residual",
                steps.join(" and ")
            ))
            .help("fix one of them, or add data that depend on them in another way");
        estimated.messages.push(message);
    }
}
