//! Pictures of a sweep.
//!
//! In:  the points of a sweep, with their curves where families are drawn.
//! Out: [`Plot`]s: measures over what was swept (a curve, a map of two axes, histograms of a drawn sample), and recorded curves of
//!      all runs (a family in colours, or a fan of quantiles of a drawn sample).

use crate::sweep::Point;
use crate::sweep_curves::{QUANTILES, bands};
use crate::sweep_table::target_unit;
use paynter_design::design::Design;
use paynter_design::sweeps::{is_numeric, target_name};
use paynter_draw::plot::{Band, Cells, Panel, Plot, Scale, Series};
use paynter_draw::thin::looks_held;
use paynter_model::experiment::Sweep;

/// Families of so many curves have names in a legend; larger ones have colours.
const MOST_NAMES: usize = 8;

/// Draws the measures; final values where there are none.
///
/// # Errors
///
/// Why there is nothing to draw.
pub fn measures(design: &Design, points: &[Point]) -> Result<Plot, String> {
    let sweeps = &design.plan.sweeps;
    let quantities = quantities(design, points);
    if quantities.is_empty() {
        return Err(
            "there is no measure to draw; write for instance `measure top = max(x)`".to_owned(),
        );
    }
    let drawn = sweeps.iter().filter(|s| s.drawn.is_some()).count();
    let panels = match &sweeps[..] {
        _ if drawn == sweeps.len() => quantities.iter().map(histogram).collect(),
        _ if drawn > 0 || design.plan.is_paired => over_number(&quantities, points),
        [only] if is_numeric(only) => over_one(only, &quantities, points),
        [down, across] if is_numeric(down) && is_numeric(across) => {
            let maps = quantities.iter();
            maps.map(|q| map((down, across), q, points)).collect()
        }
        _ => over_number(&quantities, points),
    };
    Ok(Plot {
        title: design.plan.name.clone().unwrap_or_default(),
        panels,
    })
}

/// A number of every run.
struct RunValues {
    name: String,
    unit: String,
    values: Vec<f64>,
}

impl RunValues {
    fn label(&self) -> String {
        in_unit(&self.name, &self.unit)
    }
}

fn in_unit(name: &str, unit: &str) -> String {
    match unit {
        "" | "1" => name.to_owned(),
        unit => format!("{name} [{unit}]"),
    }
}

fn quantities(design: &Design, points: &[Point]) -> Vec<RunValues> {
    let plan = &design.plan;
    let measure = |(k, m): (usize, &paynter_model::experiment::Measured)| RunValues {
        name: m.name.clone(),
        unit: points
            .iter()
            .find_map(|p| p.measures.get(k))
            .map(|m| m.unit.clone())
            .unwrap_or_default(),
        values: points
            .iter()
            .map(|p| p.measures.get(k).and_then(|m| m.value).unwrap_or(f64::NAN))
            .collect(),
    };
    if !plan.measures.is_empty() {
        return plan.measures.iter().enumerate().map(measure).collect();
    }
    let last = |(k, c): (usize, &paynter_model::experiment::Column)| RunValues {
        name: format!("final {}", c.name),
        unit: c.unit.as_ref().map_or(String::new(), |u| u.text.clone()),
        values: points
            .iter()
            .map(|p| p.last.get(k).copied().unwrap_or(f64::NAN))
            .collect(),
    };
    plan.columns.iter().enumerate().map(last).collect()
}

/// Every quantity over the one swept value.
fn over_one(sweep: &Sweep, quantities: &[RunValues], points: &[Point]) -> Vec<Panel> {
    let mut order: Vec<usize> = (0..points.len()).collect();
    order.sort_by(|&a, &b| points[a].values[0].total_cmp(&points[b].values[0]));
    let panel = |q: &RunValues| Panel {
        x_label: in_unit(&target_name(&sweep.target), &target_unit(&sweep.target)),
        y_label: in_unit("", &q.unit),
        series: vec![Series {
            name: q.name.clone(),
            x: order.iter().map(|&i| points[i].values[0]).collect(),
            y: order.iter().map(|&i| q.values[i]).collect(),
            ..Series::default()
        }],
        ..Panel::default()
    };
    quantities.iter().map(panel).collect()
}

/// Every quantity over the number of the run, where nothing else puts runs in a row.
fn over_number(quantities: &[RunValues], points: &[Point]) -> Vec<Panel> {
    let panel = |q: &RunValues| Panel {
        x_label: "run".to_owned(),
        y_label: in_unit("", &q.unit),
        series: vec![Series {
            name: q.name.clone(),
            x: points.iter().map(|p| (p.number + 1) as f64).collect(),
            y: q.values.clone(),
            ..Series::default()
        }],
        ..Panel::default()
    };
    quantities.iter().map(panel).collect()
}

/// A map over two axes: the first upwards, the second to the right.
fn map((down, across): (&Sweep, &Sweep), quantity: &RunValues, points: &[Point]) -> Panel {
    let values_of = |k: usize| {
        let mut values: Vec<f64> = points.iter().map(|p| p.values[k]).collect();
        values.sort_by(f64::total_cmp);
        values.dedup();
        values
    };

    let (ys, xs) = (values_of(0), values_of(1));
    let mut values = vec![f64::NAN; xs.len() * ys.len()];
    for (point, value) in points.iter().zip(&quantity.values) {
        let place = |list: &[f64], x: f64| list.iter().position(|v| *v == x);
        if let (Some(row), Some(column)) =
            (place(&ys, point.values[0]), place(&xs, point.values[1]))
        {
            values[row * xs.len() + column] = *value;
        }
    }

    let label = quantity.label();
    let scale = Scale::over(&label, values.iter().copied());
    Panel {
        x_label: in_unit(&target_name(&across.target), &target_unit(&across.target)),
        y_label: in_unit(&target_name(&down.target), &target_unit(&down.target)),
        cells: Some(Cells {
            x: borders(&xs),
            y: borders(&ys),
            values: values.clone(),
        }),
        // One value everywhere still has a colour.
        scale: scale.or_else(|| {
            let only = values
                .iter()
                .copied()
                .find(|v| v.is_finite())
                .unwrap_or(0.0);
            let room = if only == 0.0 { 1.0 } else { 0.1 * only.abs() };
            Scale::over(&label, [only - room, only + room].into_iter())
        }),
        ..Panel::default()
    }
}

/// Borders half-way between the values, and as far outside of the first and the last.
fn borders(values: &[f64]) -> Vec<f64> {
    let n = values.len();
    if n < 2 {
        let x = values.first().copied().unwrap_or(0.0);
        let room = if x == 0.0 { 0.5 } else { 0.5 * x.abs() };
        return vec![x - room, x + room];
    }
    let mut borders = vec![1.5 * values[0] - 0.5 * values[1]];
    borders.extend(values.windows(2).map(|w| 0.5 * (w[0] + w[1])));
    borders.push(1.5 * values[n - 1] - 0.5 * values[n - 2]);
    borders
}

/// Bars of how many runs have which value.
fn histogram(quantity: &RunValues) -> Panel {
    let mut values = quantity.values.clone();
    values.retain(|x| x.is_finite());
    values.sort_by(f64::total_cmp);
    let (edges, counts) = bins(&values);
    // Stairs: up at the left of each bar, down at its right.
    let mut stairs = Band {
        name: format!("{} of {} runs", quantity.name, values.len()),
        shade: 0.45,
        ..Band::default()
    };
    for (k, n) in counts.iter().enumerate() {
        stairs.x.extend([edges[k], edges[k + 1]]);
        stairs.high.extend([*n as f64; 2]);
        stairs.low.extend([0.0; 2]);
    }
    Panel {
        x_label: quantity.label(),
        y_label: "runs".to_owned(),
        bands: vec![stairs],
        ..Panel::default()
    }
}

/// Bins of equal width after Freedman & Diaconis (1981): twice the range of the middle half, over the cube root of the number.
fn bins(sorted: &[f64]) -> (Vec<f64>, Vec<usize>) {
    let (Some(&low), Some(&high)) = (sorted.first(), sorted.last()) else {
        return (vec![0.0, 1.0], vec![0]);
    };
    let n = sorted.len();
    if high <= low {
        let room = if low == 0.0 { 0.5 } else { 0.05 * low.abs() };
        return (vec![low - room, low + room], vec![n]);
    }
    let middle = sorted[(3 * n / 4).min(n - 1)] - sorted[n / 4];
    let width = 2.0 * middle / (n as f64).cbrt();
    let wanted = if width > 0.0 {
        ((high - low) / width).ceil()
    } else {
        1.0
    };
    let n_bins = wanted.clamp(1.0, 60.0) as usize;
    let edge = |k: usize| low + (high - low) * k as f64 / n_bins as f64;
    let mut counts = vec![0; n_bins];
    for x in sorted {
        let k = ((x - low) / (high - low) * n_bins as f64) as usize;
        counts[k.min(n_bins - 1)] += 1;
    }
    ((0..=n_bins).map(edge).collect(), counts)
}

/// Draws what was recorded in all runs: a fan of quantiles of a drawn sample, else every curve.
///
/// # Errors
///
/// Why there is nothing to draw.
pub fn family(design: &Design, points: &[Point]) -> Result<Plot, String> {
    let n_columns = points
        .iter()
        .find_map(|p| p.curves.as_ref())
        .map_or(0, |t| t.columns.len());
    if n_columns == 0 {
        return Err("no run recorded a curve".to_owned());
    }
    let sweeps = &design.plan.sweeps;
    let is_sample = !sweeps.is_empty() && sweeps.iter().all(|s| s.drawn.is_some());
    let panels = match is_sample {
        true => fans(points),
        false => (0..n_columns).map(|k| curves(design, points, k)).collect(),
    };
    Ok(Plot {
        title: design.plan.name.clone().unwrap_or_default(),
        panels,
    })
}

fn fans(points: &[Point]) -> Vec<Panel> {
    let all = bands(points).into_iter();
    let percent = |k: usize| format!("{}", 100.0 * QUANTILES[k]);
    all.map(|b| {
        let [outer_low, low, middle, high, outer_high] = b.quantiles;
        let band = |(from, to): (usize, usize), low: Vec<f64>, high: Vec<f64>, shade: f64| Band {
            name: format!("{} to {} % of the runs", percent(from), percent(to)),
            x: b.time.clone(),
            low,
            high,
            shade,
        };
        Panel {
            x_label: "time [s]".to_owned(),
            y_label: in_unit(&b.name, &b.unit),
            series: vec![Series {
                name: "median".to_owned(),
                x: b.time.clone(),
                y: middle,
                ..Series::default()
            }],
            bands: vec![
                band((0, 4), outer_low, outer_high, 0.18),
                band((1, 3), low, high, 0.35),
            ],
            ..Panel::default()
        }
    })
    .collect()
}

/// Column `k` of every run: with names where they are few, else in the colours of the first swept number.
fn curves(design: &Design, points: &[Point], k: usize) -> Panel {
    let sweeps = &design.plan.sweeps;
    let with_curves = || points.iter().filter_map(|p| Some((p, p.curves.as_ref()?)));
    let n = with_curves().count();
    let leader = sweeps.iter().position(is_numeric);
    let scale = leader.filter(|_| n > MOST_NAMES).and_then(|at| {
        let target = &sweeps[at].target;
        let label = in_unit(&target_name(target), &target_unit(target));
        Scale::over(&label, points.iter().map(|p| p.values[at]))
    });
    let name = |p: &Point| {
        let parts = sweeps.iter().zip(&p.labels);
        let parts: Vec<String> = parts
            .map(|(s, label)| format!("{} = {label}", target_name(&s.target)))
            .collect();
        parts.join(", ")
    };

    let series = with_curves().map(|(p, table)| Series {
        name: name(p),
        x: table.time.clone(),
        y: table.columns[k].values.clone(),
        is_held: looks_held(&table.columns[k].values),
        level: leader.map(|at| p.values[at]),
        ..Series::default()
    });

    let first = with_curves().next().map(|(_, t)| &t.columns[k]);
    Panel {
        x_label: "time [s]".to_owned(),
        y_label: first.map_or(String::new(), |c| in_unit(&c.name, &c.unit)),
        series: series.collect(),
        scale,
        ..Panel::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bins_hold_every_value_once() {
        let values: Vec<f64> = (0..1000).map(|k| (f64::from(k) * 0.618).fract()).collect();
        let mut sorted = values;
        sorted.sort_by(f64::total_cmp);
        let (edges, counts) = bins(&sorted);
        assert_eq!(counts.iter().sum::<usize>(), 1000);
        assert_eq!(edges.len(), counts.len() + 1);
        // Evenly spread numbers: width 2 · 0.5/10, so ten bars of nearly a hundred each.
        assert_eq!(counts.len(), 10);
        assert!(
            counts.iter().all(|&n| (95..=105).contains(&n)),
            "{counts:?}"
        );
        assert_eq!(bins(&[2.0, 2.0]).1, [2]);
        assert_eq!(bins(&[]).1, [0]);
    }

    #[test]
    fn borders_lie_half_way() {
        assert_eq!(borders(&[1.0, 2.0, 4.0]), [0.5, 1.5, 3.0, 5.0]);
        assert_eq!(borders(&[2.0]), [1.0, 3.0]);
    }
}
