//! What a drawn sample of runs says: statistics of measures, and how many runs keep the limits.
//!
//! In:  the points of a sweep whose axes are drawn.
//! Out: mean, deviation and quantiles of every measure with 95 % intervals; the yield of each limit and of all.

use crate::sweep::Point;
use paynter_design::design::Design;
use paynter_design::digits::significant;
use paynter_optimize::statistics::{Estimate, Summary, share, summarize};
use serde_json::{Value, json};
use std::fmt::Write as _;

/// Statistics of a sample.
#[derive(Clone, Debug, PartialEq)]
pub struct Statistics {
    /// (name, unit, description) of each measure; none where no run has a value.
    pub measures: Vec<(String, String, Option<Summary>)>,
    /// (as written, share of runs that keep it) of each limit.
    pub limits: Vec<(String, Option<Estimate>)>,
    /// Share of runs that keep all limits.
    pub all: Option<Estimate>,
    /// Runs without a result.
    pub n_failed: usize,
}

/// Describes a sample; none where no axis is drawn.
pub fn statistics(design: &Design, points: &[Point]) -> Option<Statistics> {
    let is_drawn = design.plan.sweeps.iter().any(|s| s.drawn.is_some());
    is_drawn.then(|| describe(design, points))
}

/// Describes points that are a sample wherever it comes from.
pub fn describe(design: &Design, points: &[Point]) -> Statistics {
    let plan = &design.plan;
    let good = || points.iter().filter(|p| p.failure.is_none());
    let measures = plan.measures.iter().enumerate().map(|(k, m)| {
        let values = good()
            .filter_map(|p| p.measures.get(k)?.value)
            .filter(|v| v.is_finite());
        let values: Vec<f64> = values.collect();
        let unit = points
            .iter()
            .find_map(|p| p.measures.get(k))
            .map(|m| m.unit.clone());
        (m.name.clone(), unit.unwrap_or_default(), summarize(&values))
    });
    let n = points.len();
    // A run that failed, or whose measure has no value, does not keep its limit.
    let keeps = |p: &Point, k: usize| p.failure.is_none() && p.limits.get(k) == Some(&Some(true));
    let limits = plan.limits.iter().enumerate().map(|(k, c)| {
        let n_kept = points.iter().filter(|p| keeps(p, k)).count();
        (c.texts.0.clone(), share(n_kept, n))
    });
    let keeps_all = |p: &&Point| (0..plan.limits.len()).all(|k| keeps(p, k));
    Statistics {
        measures: measures.collect(),
        limits: limits.collect(),
        all: (!plan.limits.is_empty())
            .then(|| share(points.iter().filter(keeps_all).count(), n))
            .flatten(),
        n_failed: n - good().count(),
    }
}

/// Prints for people.
pub fn to_text(statistics: &Statistics) -> String {
    let mut out = String::new();
    for (name, unit, summary) in &statistics.measures {
        let unit = if unit.is_empty() {
            String::new()
        } else {
            format!(" [{unit}]")
        };

        let Some(s) = summary else {
            let _ = writeln!(out, "\n{name}{unit}: no run has a value");
            continue;
        };
        write_summary(&mut out, &format!("{name}{unit}"), s);
    }

    let percent = |e: &Estimate| {
        let [v, l, h] = [e.value, e.low, e.high].map(|x| significant(100.0 * x, 4));
        format!("{v} % ({l} to {h})")
    };
    let all = statistics
        .all
        .as_ref()
        .map(|e| ("all limits".to_owned(), Some(*e)));
    let yields = statistics
        .limits
        .iter()
        .cloned()
        .chain(all.filter(|_| statistics.limits.len() > 1));
    for (k, (name, e)) in yields.enumerate() {
        if k == 0 {
            let _ = writeln!(out, "\nyield");
        }
        let _ = writeln!(
            out,
            "  {name}: {}",
            e.as_ref().map_or("—".to_owned(), percent)
        );
    }

    if !out.is_empty() {
        let _ = writeln!(out, "\nin brackets: 95 % intervals");
    }
    out
}

/// Mean, deviation, quantiles and range of a measure.
fn write_summary(out: &mut String, what: &str, s: &Summary) {
    let shown = |e: &Estimate| {
        format!(
            "{} ({} to {})",
            significant(e.value, 5),
            significant(e.low, 4),
            significant(e.high, 4)
        )
    };
    let _ = writeln!(out, "\n{what}, {} values", s.n);
    let _ = writeln!(out, "  mean       {}", shown(&s.mean));
    let _ = writeln!(out, "  deviation  {}", significant(s.deviation, 4));
    for (label, e) in ["5 %", "50 %", "95 %"].iter().zip(&s.quantiles) {
        let _ = writeln!(out, "  {label:9}  {}", shown(e));
    }
    let _ = writeln!(
        out,
        "  from       {} to {}",
        significant(s.range.0, 5),
        significant(s.range.1, 5)
    );
}

/// The same as JSON.
pub fn to_json(statistics: &Statistics) -> Value {
    let estimate = |e: &Estimate| json!({ "value": e.value, "low": e.low, "high": e.high });
    json!({
        "measures": statistics.measures.iter().map(|(name, unit, s)| json!({
            "name": name, "unit": unit, "n": s.as_ref().map(|s| s.n),
            "mean": s.as_ref().map(|s| estimate(&s.mean)), "deviation": s.as_ref().map(|s| s.deviation),
            "quantiles": s.as_ref().map(|s| json!({
                "5": estimate(&s.quantiles[0]), "50": estimate(&s.quantiles[1]), "95": estimate(&s.quantiles[2]),
            })),
            "min": s.as_ref().map(|s| s.range.0), "max": s.as_ref().map(|s| s.range.1),
        })).collect::<Vec<_>>(),
        "yield": statistics.limits.iter().map(|(text, e)| json!({
            "limit": text, "share": e.as_ref().map(estimate),
        })).collect::<Vec<_>>(),
        "yield_of_all": statistics.all.as_ref().map(estimate),
        "failed": statistics.n_failed,
    })
}
