//! The trade-off between two aims: what one costs in terms of the other.
//!
//! In:  a design whose search has two aims, and how many points are wanted.
//! Out: a [`TradeOff`]: points at which neither aim can be better unless the other gets worse.
//!
//! The ends of the curve are the best points of each aim. Between them the second aim is kept below values that are spread evenly, and the
//! first is searched under that limit (the ε-constraint method: Haimes, Lasdon & Wismer 1971), which finds hollow parts of the curve as well
//! as bulging ones; weighted sums would miss them. Each search begins at the point before it. Points of all searches are pooled, so that none
//! is worse than one that another search met.
//!
//! **Invariant:** every point was run and meets all conditions; none is worse in both aims than another.

use super::choices::{Combination, combinations};
use super::optimum::{in_unit, unit_text};
use super::trials::{Stance, Trials, Values};
use super::{Progress, SearchRequest, Watch, cases::cases, options};
use paynter_design::code;
use paynter_design::design::{Choice, Design};
use paynter_design::digits::significant;
use paynter_draw::plot::{Panel, Plot, Series};
use paynter_model::experiment::{Aim, Optimize};
use paynter_optimize::search;
use paynter_run::table::{Column, Table};
use paynter_syntax::Diagnostic;
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::sync::Mutex;

/// Limits of the second aim give way by this part of its range: the best point itself must stay within.
const ROOM: f64 = 1e-9;
/// Points nearer to each other than this part of both ranges are one.
const SAME: f64 = 1e-6;

/// A point of the curve.
#[derive(Clone, Debug, PartialEq)]
pub struct TradePoint {
    /// Both aims, in their units.
    pub aims: [f64; 2],
    /// Searched values, in their units; in the order of [`TradeOff::values`].
    pub values: Vec<f64>,
    /// (name, value) of choices.
    pub choices: Vec<(String, String)>,
}

/// Name and unit of a number.
#[derive(Clone, Debug, PartialEq)]
pub struct Named {
    /// As written.
    pub name: String,
    /// Empty for a plain number.
    pub unit: String,
}

/// The trade-off between two aims.
#[derive(Clone, Debug)]
pub struct TradeOff {
    /// Experiment.
    pub experiment: String,
    /// Both aims.
    pub aims: [Named; 2],
    /// Small rather than large.
    pub is_small: [bool; 2],
    /// What was searched between bounds.
    pub values: Vec<Named>,
    /// From the best of the first aim to the best of the second.
    pub points: Vec<TradePoint>,
    /// Runs in all.
    pub n_runs: usize,
    /// Ended from outside.
    pub is_ended: bool,
}

/// A point of the pool: where, its aims as numbers to be made small, and which combination.
struct Candidate {
    x: Vec<f64>,
    aims: [f64; 2],
    combination: usize,
}

/// Finds the curve.
///
/// # Errors
///
/// What keeps the search from starting, or no point that meets all conditions.
pub fn trade_off(
    design: &Design,
    choice: &Choice,
    (request, n_points): (&SearchRequest, usize),
    watch: Watch<'_>,
) -> Result<TradeOff, Vec<Diagnostic>> {
    let refused = paynter_design::unsupported::in_plan(&design.plan);
    if !refused.is_empty() {
        return Err(refused);
    }

    let plan = design.plan.optimize.as_ref();
    let plan = plan.expect("the caller has looked");
    if plan.aims.len() != 2 {
        return Err(vec![not_two(plan)]);
    }

    let cases = cases(design, choice)?;
    let combinations = combinations(design, choice, plan)?;
    let mut pool = Vec::new();
    let (mut n_runs, mut is_ended) = (0, false);
    let mut made = Vec::new();
    for (k, combination) in combinations.iter().enumerate() {
        let shown = |p: &Progress| {
            watch(&Progress {
                n_runs: n_runs + p.n_runs,
                ..p.clone()
            })
        };
        let trials = Trials::new(&cases, combination, (choice, request.engine));
        let mut trials = trials.map_err(|messages| made.extend(messages)).ok();
        if let Some(trials) = &mut trials {
            is_ended = explore(trials, (request, n_points), &shown);
            n_runs += trials.n_runs();
            pool.extend(feasible(trials, k));
        }
        if is_ended {
            break;
        }
    }

    if pool.is_empty() {
        return Err(if made.is_empty() {
            vec![nothing(plan)]
        } else {
            made
        });
    }

    let points = chosen(&pool, n_points);
    Ok(read(
        design,
        (plan, &combinations),
        points,
        (n_runs, is_ended),
    ))
}

fn not_two(plan: &Optimize) -> Diagnostic {
    let n = plan.aims.len();
    Diagnostic::error(code::NO_TRADE, "a trade-off is between two objectives")
        .primary(plan.span, format!("this search has {n}"))
        .help("write two, such as `minimize rise, over`")
}

fn nothing(plan: &Optimize) -> Diagnostic {
    Diagnostic::error(code::NO_FEASIBLE, "no point meets all conditions")
        .primary(plan.span, "in this search")
        .help("leave one objective out and run `paynter optimize` without --pareto: it says which condition is missed, and by how much")
}

/// Searches both ends, then the points between; true if it was ended from outside.
fn explore(
    trials: &mut Trials<'_>,
    (request, n_points): (&SearchRequest, usize),
    watch: Watch<'_>,
) -> bool {
    trials.log = Some(Mutex::new(Vec::new()));
    let descend =
        |trials: &mut Trials<'_>, stance: Stance, from: Option<&[f64]>, request: &SearchRequest| {
            trials.stance = stance;
            trials.watched(watch, |problem| {
                let nominal = from.map(<[f64]>::to_vec).or_else(|| problem.nominal());
                search(
                    problem,
                    nominal.as_deref(),
                    &options(request, problem.axes.len()),
                )
            })
        };

    // The whole search for both ends; between them the neighbours are known.
    for aim in [1, 0] {
        let stance = Stance { aim, limit: None };
        if descend(trials, stance, None, request).is_ended {
            return true;
        }
    }

    let near = SearchRequest {
        n_starts: request.n_starts.min(4),
        is_global: false,
        ..request.clone()
    };
    let ends = feasible(trials, 0);
    let (Some(first), Some(second)) = (best(&ends, 0), best(&ends, 1)) else {
        return false;
    };
    let (mut at, range) = (first.x.clone(), first.aims[1] - second.aims[1]);

    // One point is best for both: nothing lies between.
    if range <= ROOM * (first.aims[1].abs() + second.aims[1].abs()) {
        return false;
    }

    trials.limit_size = Some(range);
    for k in 1..n_points.max(2) {
        let part = k as f64 / (n_points.max(2) - 1) as f64;
        let most = first.aims[1] - range * part + ROOM * range.abs();
        let stance = Stance {
            aim: 0,
            limit: Some((1, most)),
        };
        let found = descend(trials, stance, Some(&at), &near);
        if found.is_ended {
            return true;
        }
        if let Some((x, value)) = found.best
            && value.is_feasible()
        {
            at = x;
        }
    }
    false
}

/// All points that meet the conditions of the model, in an order that threads do not change.
fn feasible(trials: &Trials<'_>, combination: usize) -> Vec<Candidate> {
    let log = trials.log.as_ref().expect("kept from the start");
    let log = log.lock().expect("no thread panics with it");
    let is_feasible = |v: &Values| v.constraints.iter().all(|c| *c <= 0.0);
    let good = log.iter().filter(|(_, v)| is_feasible(v));
    let mut good: Vec<Candidate> = good
        .map(|(x, v)| Candidate {
            x: x.clone(),
            aims: [v.aims[0], v.aims[1]],
            combination,
        })
        .collect();
    let key = |c: &Candidate| -> Vec<f64> { c.aims.iter().chain(&c.x).copied().collect() };
    good.sort_by(|a, b| {
        let pairs = key(a).into_iter().zip(key(b));
        let mut orders = pairs.map(|(a, b)| a.total_cmp(&b));
        orders
            .find(|o| o.is_ne())
            .unwrap_or(std::cmp::Ordering::Equal)
    });
    good
}

/// The best point of one aim; of equal ones the best of the other.
fn best(pool: &[Candidate], aim: usize) -> Option<&Candidate> {
    let order = |a: &&Candidate, b: &&Candidate| {
        let first = a.aims[aim].total_cmp(&b.aims[aim]);
        first.then(a.aims[1 - aim].total_cmp(&b.aims[1 - aim]))
    };
    pool.iter().min_by(order)
}

/// The best point of the pool below each limit, without those that another one beats in both aims.
fn chosen(pool: &[Candidate], n_points: usize) -> Vec<&Candidate> {
    let (Some(first), Some(second)) = (best(pool, 0), best(pool, 1)) else {
        return Vec::new();
    };
    let ranges = [
        second.aims[0] - first.aims[0],
        first.aims[1] - second.aims[1],
    ];
    let n = n_points.max(2);
    let mut points: Vec<&Candidate> = Vec::new();
    for k in 0..n {
        let most = first.aims[1] - ranges[1] * k as f64 / (n - 1) as f64 + ROOM * ranges[1].abs();
        let below = pool.iter().filter(|c| c.aims[1] <= most);
        let lowest = below.min_by(|a, b| {
            let first = a.aims[0].total_cmp(&b.aims[0]);
            first.then(a.aims[1].total_cmp(&b.aims[1]))
        });
        points.extend(lowest);
    }

    points.push(second);
    let is_beaten = |c: &Candidate| {
        pool.iter()
            .any(|o| o.aims[0] <= c.aims[0] && o.aims[1] <= c.aims[1] && o.aims != c.aims)
    };
    points.retain(|c| !is_beaten(c));
    points.sort_by(|a, b| a.aims[0].total_cmp(&b.aims[0]));

    // Of two that are as good as equal in one aim, the better in the other stays.
    let mut kept: Vec<&Candidate> = Vec::new();
    for point in points {
        let is_near =
            |k: usize, o: &Candidate| (point.aims[k] - o.aims[k]).abs() <= SAME * ranges[k].abs();
        match kept.last() {
            Some(before) if is_near(1, before) => {}
            Some(before) if is_near(0, before) => *kept.last_mut().expect("not empty") = point,
            _ => kept.push(point),
        }
    }
    kept
}

fn read(
    design: &Design,
    (plan, combinations): (&Optimize, &[Combination]),
    points: Vec<&Candidate>,
    (n_runs, is_ended): (usize, bool),
) -> TradeOff {
    let open = &combinations[points.first().map_or(0, |p| p.combination)].open;
    let axes: Vec<super::Axis> = open.iter().map(super::Axis::new).collect();
    let unit = |a: &super::Axis| a.varied.unit.as_ref().map(|u| u.0.clone());
    let aim = |k: usize, small: f64| {
        let aim: &Aim = &plan.aims[k];
        let si = if aim.is_small { small } else { -small };
        in_unit(si, aim.unit.as_ref())
    };
    let point = |c: &&Candidate| TradePoint {
        aims: [aim(0, c.aims[0]), aim(1, c.aims[1])],
        values: axes
            .iter()
            .zip(&c.x)
            .map(|(a, x)| in_unit(a.value(*x), unit(a).as_ref()))
            .collect(),
        choices: combinations[c.combination].labels.clone(),
    };

    let named = |k: usize| Named {
        name: plan.aims[k].text.clone(),
        unit: unit_text(plan.aims[k].unit.as_ref()),
    };

    TradeOff {
        experiment: design.plan.name.clone().unwrap_or_default(),
        aims: [named(0), named(1)],
        is_small: [plan.aims[0].is_small, plan.aims[1].is_small],
        values: axes
            .iter()
            .map(|a| Named {
                name: a.varied.variable.path.clone(),
                unit: unit_text(unit(a).as_ref()),
            })
            .collect(),
        points: points.iter().map(point).collect(),
        n_runs,
        is_ended,
    }
}

fn label(named: &Named) -> String {
    match named.unit.as_str() {
        "" | "1" => named.name.clone(),
        unit => format!("{} [{unit}]", named.name),
    }
}

/// Prints the curve for people.
pub fn trade_off_to_text(found: &TradeOff) -> String {
    let mut out = String::new();
    let [a, b] = &found.aims;
    if let [only] = &found.points[..] {
        let _ = writeln!(
            out,
            "one point is best for both: {} = {}, {} = {}",
            a.name,
            significant(only.aims[0], 8),
            b.name,
            significant(only.aims[1], 8)
        );
    } else {
        let _ = writeln!(out, "trade-off between {} and {}", a.name, b.name);
    }

    out.push('\n');
    let heads = found.aims.iter().chain(&found.values).map(label);
    let choices = found.points.first().map_or(&[][..], |p| &p.choices);
    let heads: Vec<String> = heads.chain(choices.iter().map(|c| c.0.clone())).collect();
    let rows = found.points.iter().map(|p| {
        let numbers = p.aims.iter().map(|x| significant(*x, 7));
        let values = p.values.iter().map(|x| significant(*x, 6));
        let words = p.choices.iter().map(|c| c.1.clone());
        numbers.chain(values).chain(words).collect::<Vec<_>>()
    });

    let rows: Vec<Vec<String>> = rows.collect();
    let width = |k: usize| {
        let cells = rows.iter().map(|r| r[k].chars().count());
        cells.chain([heads[k].chars().count()]).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..heads.len()).map(width).collect();
    for row in std::iter::once(&heads).chain(&rows) {
        let cells = row.iter().zip(&widths).map(|(c, w)| format!("{c:>w$}"));
        let _ = writeln!(out, "  {}", cells.collect::<Vec<_>>().join("  "));
    }

    let end = if found.is_ended {
        ", ended before it was done"
    } else {
        ""
    };
    let _ = writeln!(
        out,
        "\n{} points; {} runs{end}",
        found.points.len(),
        found.n_runs
    );
    out
}

/// The curve as a table, one row for each point.
pub fn trade_off_to_table(found: &TradeOff) -> Table {
    let n = found.points.len();
    let mut table = Table {
        axis: "point".to_owned(),
        time: (1..=n).map(|k| k as f64).collect(),
        ..Table::default()
    };
    let mut add = |named: &Named, value: &dyn Fn(&TradePoint) -> f64| {
        table.columns.push(Column {
            name: named.name.clone(),
            unit: named.unit.clone(),
            values: found.points.iter().map(value).collect(),
        });
    };
    for (k, aim) in found.aims.iter().enumerate() {
        add(aim, &|p| p.aims[k]);
    }
    for (k, value) in found.values.iter().enumerate() {
        add(value, &|p| p.values[k]);
    }
    for (k, point) in found.points.iter().enumerate() {
        for (name, value) in &point.choices {
            let name = format!("{name} of point {}", k + 1);
            table.metadata.push((name, value.clone()));
        }
    }
    table
}

/// The curve as JSON.
pub fn trade_off_to_json(found: &TradeOff) -> Value {
    let named = |n: &Named| json!({ "name": n.name, "unit": n.unit });
    json!({
        "experiment": found.experiment,
        "is_cancelled": found.is_ended,
        "aims": found.aims.iter().zip(found.is_small).map(|(n, is_small)| {
            json!({ "text": n.name, "unit": n.unit, "is_minimum": is_small })
        }).collect::<Vec<_>>(),
        "values": found.values.iter().map(named).collect::<Vec<_>>(),
        "points": found.points.iter().map(|p| json!({
            "aims": p.aims, "values": p.values,
            "choices": p.choices.iter().map(|(n, v)| json!({ "name": n, "value": v })).collect::<Vec<_>>(),
        })).collect::<Vec<_>>(),
        "runs": found.n_runs,
    })
}

/// Draws the curve: the second aim upwards over the first.
pub fn trade_off_plot(found: &TradeOff) -> Plot {
    Plot {
        title: found.experiment.clone(),
        panels: vec![Panel {
            x_label: label(&found.aims[0]),
            y_label: label(&found.aims[1]),
            series: vec![Series {
                name: "trade-off".to_owned(),
                x: found.points.iter().map(|p| p.aims[0]).collect(),
                y: found.points.iter().map(|p| p.aims[1]).collect(),
                ..Series::default()
            }],
            ..Panel::default()
        }],
    }
}
