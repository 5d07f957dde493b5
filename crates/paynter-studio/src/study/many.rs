//! Studies of many runs: sweeps, drawn samples, searches, treatments of locks.

use super::table::number;
use super::{Answer, Sheet, Watch, words};
use paynter::draw::plot::{Panel, Plot, Series};
use paynter::exec::Engine;
use paynter::methods::{MethodResult, all_methods, compare_methods};
use paynter::optimize::{Optimum, Progress, SearchRequest};
use paynter::statistics::{Statistics, statistics};
use paynter::sweep::{CANCELLED, Keep, Point, Sweeper};
use paynter::sweeps::target_name;
use paynter::table::Table;
use paynter::{Choice, Design};
use serde_json::{Value, json};
use std::sync::Mutex;

/// Runs at a time: one core is left for the page.
fn jobs() -> usize {
    std::thread::available_parallelism().map_or(1, |n| n.get().saturating_sub(1).max(1))
}

/// One experiment over many values.
pub fn sweep(design: &Design, choice: &Choice, watch: Watch<'_>) -> Result<Answer, String> {
    if design.plan.sweeps.is_empty() {
        return Err(
            "the experiment has no `sweep` line; type one, such as `R1 in [10, 20, 50] [ohm]`"
                .to_owned(),
        );
    }
    let n = design.plan.n_points();
    let keep = Keep {
        curves: n <= MAX_OVERLAID,
        ..Keep::default()
    };
    let sweeper = Sweeper::keeping(design, choice, Engine::Auto, keep).map_err(|m| words(&m))?;
    let points = sweeper.run(0..n, jobs(), &|done| watch(done as f64 / n.max(1) as f64));
    let table = paynter::sweep_table::to_table(design, &points);
    let mut sheet = Sheet::of("Runs", &table);
    with_labels(design, &points, &mut sheet);
    let mut answer = Answer {
        plots: curves(design, &table)
            .into_iter()
            .chain(overlaid(design, &points))
            .collect(),
        ..Answer::default()
    };
    let n_cancelled = points
        .iter()
        .filter(|p| p.failure.as_deref() == Some(CANCELLED))
        .count();
    if n_cancelled > 0 {
        answer
            .notes
            .push(format!("cancelled after {} of {n} runs", n - n_cancelled));
        sheet.rows.retain(|r| r.last() != Some(&json!(1.0)));
    }
    for p in points
        .iter()
        .filter(|p| p.failure.is_some() && p.failure.as_deref() != Some(CANCELLED))
        .take(5)
    {
        answer.notes.push(format!(
            "run {}: {}",
            p.number + 1,
            p.failure.as_deref().unwrap_or_default()
        ));
    }
    answer
        .sheets
        .extend(statistics(design, &points).iter().flat_map(sample));
    answer.sheets.insert(0, sheet);
    Ok(answer)
}

/// Swept values that are no numbers are shown as written.
fn with_labels(design: &Design, points: &[Point], sheet: &mut Sheet) {
    for (k, sweep) in design.plan.sweeps.iter().enumerate() {
        let is_number = sweep.drawn.is_some()
            || sweep.values.iter().all(|v| {
                v.label
                    .trim_start()
                    .starts_with(|c: char| c.is_ascii_digit() || "+-.".contains(c))
            });
        if is_number {
            continue;
        }
        for (row, point) in sheet.rows.iter_mut().zip(points) {
            if let (Some(cell), Some(label)) = (row.get_mut(k + 1), point.labels.get(k)) {
                *cell = json!(label);
            }
        }
    }
}

/// Every measure over the swept value; final values where there are no measures. With several axes, over the number of
/// the run.
fn curves(design: &Design, table: &Table) -> Option<Plot> {
    let n_axes = design.plan.sweeps.len();
    let (x, x_label) = match n_axes {
        1 => {
            let c = table.columns.first()?;
            (c.values.clone(), in_unit(&c.name, &c.unit))
        }
        _ => (table.time.clone(), "run".to_owned()),
    };
    let mut order: Vec<usize> = (0..x.len()).collect();
    order.sort_by(|&a, &b| x[a].total_cmp(&x[b]));
    let n_measures = design.plan.measures.len();
    let shown = table.columns.iter().skip(n_axes).take(if n_measures > 0 {
        n_measures
    } else {
        design.plan.columns.len()
    });
    let panel = |c: &paynter::table::Column| Panel {
        x_label: x_label.clone(),
        y_label: if c.unit.is_empty() {
            String::new()
        } else {
            format!("[{}]", c.unit)
        },
        series: vec![Series {
            name: c.name.clone(),
            x: order.iter().map(|&i| x[i]).collect(),
            y: order.iter().map(|&i| c.values[i]).collect(),
            ..Series::default()
        }],
        ..Panel::default()
    };
    Some(Plot {
        panels: shown.map(panel).collect(),
        ..Plot::default()
    })
}

/// More runs over one another than this cannot be told apart.
const MAX_OVERLAID: usize = 24;
/// Recorded quantities whose curves are shown for every run.
const MAX_QUANTITIES: usize = 4;

/// What was recorded over time, the runs over one another.
fn overlaid(design: &Design, points: &[Point]) -> Option<Plot> {
    let runs: Vec<(&Point, &Table)> = points
        .iter()
        .filter_map(|p| Some((p, p.curves.as_ref()?)))
        .collect();
    let (_, first) = runs.first()?;
    let panel = |k: usize| {
        let series = runs.iter().map(|(point, table)| Series {
            name: run_name(design, point),
            x: table.time.clone(),
            y: table.columns[k].values.clone(),
            ..Series::default()
        });
        Panel {
            x_label: "time [s]".to_owned(),
            y_label: in_unit(&first.columns[k].name, &first.columns[k].unit),
            series: series.collect(),
            ..Panel::default()
        }
    };
    let n = first.columns.len().min(MAX_QUANTITIES);
    Some(Plot {
        panels: (0..n).map(panel).collect(),
        ..Plot::default()
    })
}

/// The values of a run: `R = 10 [ohm], C = 2 [F]`.
fn run_name(design: &Design, point: &Point) -> String {
    let sweeps = design.plan.sweeps.iter().zip(&point.labels);
    let values = sweeps.map(|(sweep, label)| format!("{} = {label}", target_name(&sweep.target)));
    values.collect::<Vec<_>>().join(", ")
}

fn in_unit(name: &str, unit: &str) -> String {
    if unit.is_empty() {
        name.to_owned()
    } else {
        format!("{name} [{unit}]")
    }
}

/// What a drawn sample says.
fn sample(statistics: &Statistics) -> Vec<Sheet> {
    let mut sheet = Sheet::new(
        "The sample, with 95 % intervals",
        &[
            "measure",
            "unit",
            "mean",
            "from",
            "to",
            "deviation",
            "min",
            "5 %",
            "median",
            "95 %",
            "max",
        ],
    );
    for (name, unit, found) in &statistics.measures {
        let Some(s) = found else { continue };
        let [low, middle, high] = s.quantiles;
        let mut row = vec![json!(name), json!(unit)];
        row.extend(
            [
                s.mean.value,
                s.mean.low,
                s.mean.high,
                s.deviation,
                s.range.0,
                low.value,
                middle.value,
                high.value,
                s.range.1,
            ]
            .map(number),
        );
        sheet.rows.push(row);
    }
    let mut all = vec![sheet];
    if !statistics.limits.is_empty() {
        let mut limits = Sheet::new(
            "Limits of the sample",
            &["limit", "kept by [%]", "from [%]", "to [%]"],
        );
        let whole = ("all".to_owned(), statistics.all);
        for (text, share) in statistics.limits.iter().chain(std::iter::once(&whole)) {
            let numbers = share.map(|s| [s.value, s.low, s.high].map(|x| number(100.0 * x)));
            let mut row = vec![json!(text)];
            row.extend(numbers.unwrap_or([Value::Null, Value::Null, Value::Null]));
            limits.rows.push(row);
        }
        all.push(limits);
    }
    all
}

/// Runs after which nobody waits any longer: what was found so far is shown.
const MAX_RUNS: usize = 100_000;

/// The search of an experiment.
pub fn optimize(design: &Design, choice: &Choice, watch: Watch<'_>) -> Result<Answer, String> {
    if design.plan.optimize.is_none() {
        return Err("the experiment has no `optimize`; write for instance `optimize K in 1 .. 9 { minimize cost }`".to_owned());
    }
    let ask = SearchRequest {
        jobs: jobs(),
        max_runs: Some(MAX_RUNS),
        ..SearchRequest::default()
    };
    // How long a search takes is not known: the bar shows runs as a part that never gets full.
    let shown = |p: &Progress| watch(1.0 - 1.0 / (1.0 + p.n_runs as f64 / 300.0));
    let found = paynter::optimize::optimize(design, choice, &ask, &shown).map_err(|m| words(&m))?;
    Ok(optimum(&found))
}

fn optimum(found: &Optimum) -> Answer {
    let values = values_sheet(found);
    let aim = aims_sheet(found);

    let mut notes: Vec<String> = found
        .messages
        .iter()
        .map(|m| format!("{}: {}", m.code, m.message))
        .collect();
    if found.is_ended {
        notes.insert(
            0,
            format!(
                "cancelled after {} runs; this is the best so far",
                found.n_runs
            ),
        );
    }
    notes.push(format!("{} runs", found.n_runs));
    Answer {
        plots: progress_of(found).into_iter().collect(),
        sheets: vec![values, aim],
        notes,
        facts: json!({ "values": found.values.iter().filter_map(|v| Some(json!([v.name, v.value?]))).collect::<Vec<_>>() }),
    }
}

fn values_sheet(found: &Optimum) -> Sheet {
    let mut values = Sheet::new(
        "Values found",
        &["name", "value", "unit", "within 1 % from", "to", "note"],
    );
    for v in &found.values {
        let note = match () {
            () if v.is_inert => "changes nothing",
            () if v.at_bound.is_some() => "at its bound",
            () => "",
        };
        let flat = v
            .flat
            .map_or([Value::Null, Value::Null], |(a, b)| [number(a), number(b)]);
        let [low, high] = flat;
        values.rows.push(vec![
            json!(v.name),
            v.value.map_or(json!(v.written), number),
            json!(v.unit),
            low,
            high,
            json!(note),
        ]);
    }
    values
}

/// The objective, then conditions and measures at the values found.
fn aims_sheet(found: &Optimum) -> Sheet {
    let mut aim = Sheet::new(
        "Objective, conditions and measures",
        &["what", "value", "unit", "note"],
    );
    if let Some(a) = &found.aim {
        let way = if a.is_small { "smallest" } else { "largest" };
        aim.rows.push(vec![
            json!(a.text),
            number(a.value),
            json!(a.unit),
            json!(way),
        ]);
    }
    for c in &found.conditions {
        let note = match (c.is_met, c.price) {
            (false, _) => "does not hold",
            (_, Some(_)) => "holds, limits the objective",
            _ => "holds",
        };
        aim.rows.push(vec![
            json!(c.text),
            number(c.left),
            json!(c.unit),
            json!(note),
        ]);
    }
    for m in &found.measures {
        aim.rows.push(vec![
            json!(m.name),
            m.value.map_or(Value::Null, number),
            json!(m.unit),
            json!(""),
        ]);
    }
    aim
}

/// The best aim so far over the trials, conditions kept.
fn progress_of(found: &Optimum) -> Option<Plot> {
    let aim = found.aim.as_ref()?;
    let mut best = f64::NAN;
    let mut series = Series {
        name: aim.text.clone(),
        ..Series::default()
    };
    for (i, trial) in found.tried.iter().enumerate() {
        let is_good = trial.aim.is_finite() && trial.slacks.iter().all(|s| *s >= 0.0);
        let is_better = best.is_nan()
            || if aim.is_small {
                trial.aim < best
            } else {
                trial.aim > best
            };
        if is_good && is_better {
            best = trial.aim;
        }
        if !best.is_nan() {
            series.x.push((i + 1) as f64);
            series.y.push(best);
        }
    }
    let panel = Panel {
        x_label: "trial".to_owned(),
        y_label: if aim.unit.is_empty() {
            String::new()
        } else {
            format!("[{}]", aim.unit)
        },
        series: vec![series],
        ..Panel::default()
    };
    Some(Plot {
        panels: vec![panel],
        ..Plot::default()
    })
}

/// Every treatment of the locks, side by side.
pub fn methods(design: &Design, watch: Watch<'_>) -> Result<Answer, String> {
    let all = all_methods(design);
    let (start, stop) = (design.plan.start, design.plan.stop);
    // Each treatment starts again from the beginning: the bar counts those that are done.
    let state = Mutex::new((0_usize, start));
    let mut progress = |t: f64| {
        let mut state = state
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner);
        if t < state.1 {
            state.0 += 1;
        }
        state.1 = t;
        let part = (t - start) / (stop - start).max(f64::MIN_POSITIVE);
        watch((state.0 as f64 + part) / all.len() as f64)
    };
    let runs = compare_methods(design, &all, &mut progress);
    let mut sheet = Sheet::new(
        "Methods, one model",
        &[
            "constraints",
            "states",
            "steps",
            "right-hand sides",
            "time [ms]",
            "apart from the first",
            "drift [m]",
            "drift [rad]",
            "energy residual",
            "solver",
        ],
    );
    let mut answer = Answer::default();
    for run in &runs {
        match &run.result {
            Ok(result) => {
                sheet.rows.push(row(&run.method, result));
                answer.notes.extend(
                    result
                        .failure
                        .iter()
                        .map(|why| format!("{}: {why}", run.method)),
                );
            }
            Err(messages) => {
                let mut cells = vec![json!(run.method)];
                cells.resize(sheet.columns.len(), Value::Null);
                sheet.rows.push(cells);
                answer
                    .notes
                    .push(format!("{} has no run: {}", run.method, words(messages)));
            }
        }
    }
    answer.sheets.push(sheet);
    answer.notes.push("apart: the largest difference of a recorded column to the first method, as a share of its largest value; energy: what is not accounted for, as a share of what moved".to_owned());
    Ok(answer)
}

fn row(method: &str, result: &MethodResult) -> Vec<Value> {
    let drift = |is_turning: bool| {
        let alike = result.gaps.iter().find(|g| g.is_turning == is_turning);
        alike.map_or(Value::Null, |g| number(g.size))
    };
    vec![
        json!(method),
        json!(result.states),
        json!(result.steps),
        json!(result.rhs),
        number(result.elapsed.as_secs_f64() * 1e3),
        result
            .worst_difference()
            .map_or(Value::Null, |d| number(d.relative)),
        drift(false),
        drift(true),
        result.residual.map_or(Value::Null, number),
        json!(result.solver),
    ]
}
