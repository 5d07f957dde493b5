//! The answer of a search in the model's words.
//!
//! In:  what was found for each combination of choices.
//! Out: an [`Optimum`]: values with the digits that count, conditions with their price, agreement, messages.

use super::choices::Combination;
use super::trials::{Reasons, SlopeSources, Trials};
use super::{Axis, Searched};
use crate::evaluator::headline;
use crate::experiment::Measurement;
use paynter_design::code;
use paynter_design::design::Design;
use paynter_design::digits::significant;
use paynter_model::experiment::{Condition, Optimize, Varied};
use paynter_model::units::Unit;
use paynter_optimize::search::Agreement;
use paynter_optimize::{Evaluation, Found, Phase};
use paynter_symbolic::Comparison;
use paynter_syntax::{Diagnostic, ast};

/// A value that was found.
#[derive(Clone, Debug)]
pub struct ValueFound {
    /// Its name.
    pub name: String,
    /// In its unit; none for what is no number.
    pub value: Option<f64>,
    /// As `with` takes it, all digits.
    pub written: String,
    /// Digits that count.
    pub digits: usize,
    /// Its unit; empty for a plain number.
    pub unit: String,
    /// Where it stands at a bound.
    pub at_bound: Option<AtBound>,
    /// Between which values the aim is within a hundredth of its best, among the points tried; in its unit.
    pub flat: Option<(f64, f64)>,
    /// It changes neither aim nor conditions.
    pub is_inert: bool,
    /// What is changed, as written.
    pub target: ast::Ref,
}

/// At which bound a value stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AtBound {
    /// The lower one.
    Lower,
    /// The upper one.
    Upper,
}

/// The aim at the best point.
#[derive(Clone, Debug, PartialEq)]
pub struct AimFound {
    /// As written.
    pub text: String,
    /// Small rather than large.
    pub is_small: bool,
    /// In its unit.
    pub value: f64,
    /// Its unit; empty for a plain number.
    pub unit: String,
    /// Digits that count.
    pub digits: usize,
}

/// A condition at the best point.
#[derive(Clone, Debug, PartialEq)]
pub struct ConditionFound {
    /// As written.
    pub text: String,
    /// The experiment, where several count.
    pub case: Option<String>,
    /// How far it is from its limit, in its unit; negative where it does not hold.
    pub slack: f64,
    /// Its left side, in its unit.
    pub left: f64,
    /// Its unit; empty for a plain number.
    pub unit: String,
    /// It holds.
    pub is_met: bool,
    /// It limits the aim: by how much the aim (in its unit) would change for one unit that the limit gives.
    pub price: Option<f64>,
    /// What the left side could reach at best among all points tried, in its unit.
    pub reached: f64,
}

/// One combination of choices.
#[derive(Clone, Debug, PartialEq)]
pub struct ChoiceFound {
    /// (name, value)
    pub labels: Vec<(String, String)>,
    /// The aim there, in its unit.
    pub aim: Option<f64>,
    /// All conditions hold there.
    pub is_feasible: bool,
    /// Why it has no value, if it has none.
    pub failure: Option<String>,
}

/// How many searches ended where.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// At the best point.
    pub same: usize,
    /// As good, elsewhere.
    pub as_good: usize,
    /// Worse.
    pub worse: usize,
    /// Without a feasible point.
    pub infeasible: usize,
}

/// What was found.
#[derive(Clone, Debug)]
pub struct Optimum {
    /// Experiment.
    pub experiment: String,
    /// Values at the best point.
    pub values: Vec<ValueFound>,
    /// The aim there.
    pub aim: Option<AimFound>,
    /// All conditions hold there.
    pub is_feasible: bool,
    /// The conditions there.
    pub conditions: Vec<ConditionFound>,
    /// Measures there.
    pub measures: Vec<Measurement>,
    /// Where descents ended.
    pub starts: Counts,
    /// Where the global search ended.
    pub global: Option<Agreement>,
    /// Every combination of choices, where there are choices.
    pub choices: Vec<ChoiceFound>,
    /// Runs in all.
    pub n_runs: usize,
    /// Points without a value: why, and how many.
    pub failures: Vec<(String, usize)>,
    /// Where the slopes of descents came from.
    pub slopes: SlopeSources,
    /// Ended from outside.
    pub is_ended: bool,
    /// What the user should know, errors included.
    pub messages: Vec<Diagnostic>,
    /// Every trial of the best combination: which part of the search, values in their units, aim, conditions.
    pub tried: Vec<TriedPoint>,
}

/// One trial.
#[derive(Clone, Debug)]
pub struct TriedPoint {
    /// Which part of the search.
    pub phase: Phase,
    /// Searched values in their units.
    pub values: Vec<f64>,
    /// The aim in its unit; not a number where there is none.
    pub aim: f64,
    /// How far each condition is from its limit, in its unit.
    pub slacks: Vec<f64>,
}

/// A value within this part of the range from a bound stands at it.
const AT_BOUND: f64 = 1e-6;
/// A condition nearer to its limit than this part of its spread is active.
const ACTIVE: f64 = 1e-4;
/// The aim is flat where it is within this part of its best.
const FLAT: f64 = 0.01;

/// Compares the combinations and reads the best.
pub(super) fn conclude(design: &Design, results: Vec<Searched<'_>>) -> Optimum {
    let search = design.plan.optimize.as_ref();
    let search = search.expect("the caller has looked");
    let mut n_runs = 0;
    let mut is_ended = false;
    let mut reasons = Reasons::new();
    let mut slopes = SlopeSources::default();
    let mut choices = Vec::new();
    let mut best: Option<(usize, Evaluation)> = None;

    for (k, (combination, result)) in results.iter().enumerate() {
        let mut choice = ChoiceFound::unsearched(combination.labels.clone());
        match result {
            Err(messages) => choice.failure = Some(headline(messages).1),
            Ok((trials, found)) => {
                n_runs += trials.n_runs();
                slopes.add(trials.sources());
                is_ended |= found.is_ended;
                for (reason, (example, n)) in trials.reasons() {
                    choice.failure.get_or_insert(example.clone());
                    reasons.entry(reason).or_insert((example, 0)).1 += n;
                }
                if let Some((_, value)) = &found.best {
                    choice.failure = None;
                    choice.aim = Some(in_unit(
                        signed(search, value.aim),
                        search.aims[0].unit.as_ref(),
                    ));
                    choice.is_feasible = value.is_feasible();
                    if best.as_ref().is_none_or(|(_, b)| is_better(value, b)) {
                        best = Some((k, value.clone()));
                    }
                }
            }
        }
        choices.push(choice);
    }
    let mut failures: Vec<(String, usize)> = reasons.into_values().collect();
    failures.sort_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(&b.0)));
    choices.retain(|c| !c.labels.is_empty());

    let mut optimum = Optimum {
        choices,
        n_runs,
        failures,
        slopes,
        is_ended,
        ..Optimum::unread(design)
    };

    match best {
        Some((k, value)) => {
            if let (combination, Ok((trials, found))) = &results[k] {
                read_best(&mut optimum, search, (combination, trials), (found, &value));
            }
        }
        None => optimum.messages.push(nothing(search, &optimum)),
    }
    add_warnings(&mut optimum, search);
    optimum
}

impl Optimum {
    /// One of which nothing has been read yet.
    fn unread(design: &Design) -> Self {
        Optimum {
            experiment: design.plan.name.clone().unwrap_or_default(),
            values: Vec::new(),
            aim: None,
            is_feasible: false,
            conditions: Vec::new(),
            measures: Vec::new(),
            starts: Counts::default(),
            global: None,
            choices: Vec::new(),
            n_runs: 0,
            failures: Vec::new(),
            slopes: SlopeSources::default(),
            is_ended: false,
            messages: Vec::new(),
            tried: Vec::new(),
        }
    }
}

impl ChoiceFound {
    fn unsearched(labels: Vec<(String, String)>) -> Self {
        ChoiceFound {
            labels,
            aim: None,
            is_feasible: false,
            failure: None,
        }
    }
}

fn is_better(a: &Evaluation, b: &Evaluation) -> bool {
    let violation = |e: &Evaluation| e.constraints.iter().map(|c| c.max(0.0)).sum::<f64>();
    match (a.is_feasible(), b.is_feasible()) {
        (true, true) => a.aim < b.aim,
        (true, false) => true,
        (false, true) => false,
        (false, false) => violation(a) < violation(b),
    }
}

fn signed(search: &Optimize, aim: f64) -> f64 {
    if search.aims[0].is_small { aim } else { -aim }
}

pub(super) fn in_unit(si: f64, unit: Option<&Unit>) -> f64 {
    unit.map_or(si, |u| u.from_si(si))
}

/// A difference in a unit: its zero does not count.
fn step_in_unit(si: f64, unit: Option<&Unit>) -> f64 {
    unit.map_or(si, |u| si / u.factor)
}

pub(super) fn unit_text(unit: Option<&Unit>) -> String {
    unit.map_or(String::new(), |u| u.text.clone())
}

fn read_best(
    optimum: &mut Optimum,
    search: &Optimize,
    (combination, trials): (&Combination, &Trials<'_>),
    (found, value): (&Found, &Evaluation),
) {
    let Some((x, _)) = &found.best else { return };
    optimum.is_feasible = value.is_feasible();
    let aim = &search.aims[0];
    let si = signed(search, value.aim);
    let noise = (found.noise * found.scales.aim).max(1e-16 * si.abs());
    optimum.aim = Some(AimFound {
        text: aim.text.clone(),
        is_small: aim.is_small,
        value: in_unit(si, aim.unit.as_ref()),
        unit: unit_text(aim.unit.as_ref()),
        digits: digits(si, noise),
    });
    optimum.values = values_of(search, (combination, trials), (found, x, value));
    optimum.conditions = conditions_of(search, trials, (found, value));
    optimum.measures = trials.again(x).measures;
    for local in &found.locals {
        let counts = &mut optimum.starts;
        *match local.agreement {
            Agreement::Same => &mut counts.same,
            Agreement::AsGood => &mut counts.as_good,
            Agreement::Worse => &mut counts.worse,
            Agreement::Infeasible => &mut counts.infeasible,
        } += 1;
    }
    optimum.global = found.global.as_ref().map(|g| g.agreement);
    optimum.tried = tried(search, trials, found);
    if !optimum.is_feasible {
        optimum.messages.push(infeasible(search, optimum));
    }
}

/// Digits of a number that is known within an error.
fn digits(x: f64, error: f64) -> usize {
    if x == 0.0 || error <= 0.0 {
        return 8;
    }
    ((x.abs() / error).log10().floor().max(0.0) as usize).clamp(2, 10)
}

fn values_of(
    search: &Optimize,
    (combination, trials): (&Combination, &Trials<'_>),
    (found, x, best): (&Found, &[f64], &Evaluation),
) -> Vec<ValueFound> {
    let mut values = Vec::new();
    for varied in &search.over {
        let path = &varied.variable.path;
        let blank = ValueFound {
            name: path.clone(),
            value: None,
            written: String::new(),
            digits: 10,
            unit: varied
                .unit
                .as_ref()
                .map_or(String::new(), |u| u.0.text.clone()),
            at_bound: None,
            flat: None,
            is_inert: false,
            target: varied.target.clone(),
        };

        if let Some((_, label)) = combination.labels.iter().find(|l| l.0 == *path) {
            values.push(chosen(varied, label, blank));
            continue;
        }

        let k = trials
            .axes
            .iter()
            .position(|a| a.varied.variable.path == *path);
        let k = k.expect("what is no choice is an axis");
        let axis = &trials.axes[k];
        let unit = varied.unit.as_ref().map(|u| &u.0);
        let si = axis.value(x[k]);
        let shown = in_unit(si, unit);
        values.push(ValueFound {
            value: Some(shown),
            written: with_unit(shown, &blank.unit),
            digits: known_digits(found, axis, k, si),
            at_bound: match x[k] {
                part if part <= AT_BOUND => Some(AtBound::Lower),
                part if part >= 1.0 - AT_BOUND => Some(AtBound::Upper),
                _ => None,
            },
            flat: flat(found, best, k)
                .map(|(a, b)| (in_unit(axis.value(a), unit), in_unit(axis.value(b), unit))),
            is_inert: found.is_inert[k],
            ..blank
        });
    }
    values
}

/// A choice that was fixed: its label is the value.
fn chosen(varied: &Varied, label: &str, blank: ValueFound) -> ValueFound {
    let number = label.split(' ').next().and_then(|n| n.parse().ok());
    let written = match (&varied.unit, number) {
        (Some((unit, _)), Some(number)) => with_unit(number, &unit.text),
        _ => label.to_owned(),
    };
    ValueFound {
        value: number,
        written,
        ..blank
    }
}

/// How many digits of a value are known: ends of searches that agree say it.
fn known_digits(found: &Found, axis: &Axis, k: usize, si: f64) -> usize {
    let ends = found.locals.iter().chain(&found.global);
    let ends = ends
        .filter(|l| l.agreement == Agreement::Same)
        .filter_map(|l| l.best.as_ref());
    let spreads: Vec<f64> = ends
        .map(|e| (axis.value(e.0[k]) - si).abs())
        .filter(|s| *s > 0.0)
        .collect();
    let spread = spreads
        .iter()
        .copied()
        .fold(0.0, f64::max)
        .max(1e-9 * si.abs());
    if spreads.len() > 1 {
        digits(si, spread)
    } else {
        5
    }
}

fn with_unit(value: f64, unit: &str) -> String {
    match unit {
        "" | "1" => format!("{value}"),
        unit => format!("{value} [{unit}]"),
    }
}

/// Between which parts of an axis feasible points have aims within a hundredth of the best.
fn flat(found: &Found, best: &Evaluation, k: usize) -> Option<(f64, f64)> {
    if !best.is_feasible() || best.aim == 0.0 {
        return None;
    }
    let worst = best.aim + FLAT * best.aim.abs();
    let near = found.tried.iter().filter_map(|(_, t)| {
        let value = t.value.as_ref()?;
        (value.is_feasible() && value.aim <= worst).then_some(t.x[k])
    });
    let (low, high) = near.fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), x| {
        (l.min(x), h.max(x))
    });
    (low <= high).then_some((low, high))
}

fn conditions_of(
    search: &Optimize,
    trials: &Trials<'_>,
    (found, value): (&Found, &Evaluation),
) -> Vec<ConditionFound> {
    let names = trials.case_names();
    let n = search.conditions.len();
    let aim_unit = search.aims[0].unit.as_ref();
    let place = |j: usize| (&search.conditions[j % n], names[j / n].clone());
    let limits = found
        .best
        .as_ref()
        .map_or(Vec::new(), |b| trials.limits_at(&b.0));
    let mut conditions: Vec<ConditionFound> = Vec::new();
    for j in 0..value.constraints.len() {
        let (condition, case) = place(j);
        if is_second_half(condition) {
            continue;
        }
        let unit = condition.unit.as_ref();
        let limit = limits.get(j).copied().unwrap_or(f64::NAN);
        let left = |violation: f64| match condition.comparison {
            Comparison::Greater | Comparison::GreaterEqual => limit - violation,
            _ => limit + violation + trials.room(j),
        };

        let violation = violation_of(condition, j, &value.constraints);
        let multiplier = match condition.is_half {
            true => found.multipliers[j] - found.multipliers[j + 1],
            false => found.multipliers[j],
        };
        let is_near = violation.abs() <= ACTIVE * found.scales.constraints[j];
        let is_active = is_near && (multiplier > 0.0 || condition.is_half);
        let price = multiplier * unit.map_or(1.0, |u| u.factor);
        let price = step_in_unit(price, aim_unit);

        let tried = found.tried.iter().filter_map(|t| t.1.value.as_ref());
        let mildest = tried.min_by(|a, b| {
            let violation = |e: &Evaluation| violation_of(condition, j, &e.constraints);
            violation(a).total_cmp(&violation(b))
        });
        let reached = mildest.map_or(f64::INFINITY, |e| e.constraints[j]);
        conditions.push(ConditionFound {
            text: condition.texts.0.clone(),
            case,
            slack: step_in_unit(-violation, unit),
            left: in_unit(left(value.constraints[j]), unit),
            unit: unit_text(unit),
            is_met: violation <= 0.0,
            price: is_active.then_some(if search.aims[0].is_small {
                -price
            } else {
                price
            }),
            reached: in_unit(left(reached), unit),
        });
    }
    conditions
}

/// An equality is reported once, by its first half.
fn is_second_half(condition: &Condition) -> bool {
    condition.is_half && condition.comparison == Comparison::GreaterEqual
}

/// By how much a condition is violated, SI: an equality by the worse of its halves.
fn violation_of(condition: &Condition, j: usize, constraints: &[f64]) -> f64 {
    match condition.is_half {
        true => constraints[j].max(constraints[j + 1]),
        false => constraints[j],
    }
}

fn tried(search: &Optimize, trials: &Trials<'_>, found: &Found) -> Vec<TriedPoint> {
    let n = search.conditions.len();
    let points = found.tried.iter().map(|(phase, t)| {
        let values = trials.values(&t.x);
        let units = trials
            .axes
            .iter()
            .map(|a| a.varied.unit.as_ref().map(|u| &u.0));
        let slacks = |constraints: &[f64]| -> Vec<f64> {
            let all = (0..constraints.len()).map(|j| (j, &search.conditions[j % n]));
            all.filter(|(_, condition)| !is_second_half(condition))
                .map(|(j, c)| step_in_unit(-violation_of(c, j, constraints), c.unit.as_ref()))
                .collect()
        };
        let value = t.value.as_ref();
        TriedPoint {
            phase: *phase,
            values: values
                .into_iter()
                .zip(units)
                .map(|(v, u)| in_unit(v, u))
                .collect(),
            aim: value.map_or(f64::NAN, |v| {
                in_unit(signed(search, v.aim), search.aims[0].unit.as_ref())
            }),
            slacks: match value {
                Some(v) => slacks(&v.constraints),
                None => vec![f64::NAN; found.multipliers.len()],
            },
        }
    });
    points.collect()
}

/// No point has a value.
fn nothing(search: &Optimize, optimum: &Optimum) -> Diagnostic {
    let failed = optimum.choices.iter().filter_map(|c| c.failure.as_ref());
    let why = optimum.failures.first().map(|f| f.0.clone());
    let why = why.or_else(|| failed.min().cloned());
    let message = Diagnostic::error(
        code::NO_VALUES,
        format!("none of {} runs has a value for the search", optimum.n_runs),
    )
    .primary(search.span, "searched here");
    match why {
        _ if optimum.is_ended => message.fact("the search was ended before"),
        Some(why) => message.fact(format!("most often: {why}")),
        None => message,
    }
}

/// No point meets all conditions: which one is missed, by how much, and whether it can be met at all.
fn infeasible(search: &Optimize, optimum: &Optimum) -> Diagnostic {
    let missed: Vec<&ConditionFound> = optimum.conditions.iter().filter(|c| !c.is_met).collect();
    let at: Vec<String> = optimum
        .values
        .iter()
        .map(|v| format!("{} = {}", v.name, shown(v)))
        .collect();
    let mut message = Diagnostic::error(
        code::NO_FEASIBLE,
        format!(
            "no point meets all conditions; the least violated one is {}",
            at.join(", ")
        ),
    );
    let span_of = |text: &str| {
        let same = |c: &&Condition| c.texts.0 == text;
        search.conditions.iter().find(same).map(|c| c.span)
    };
    for (k, c) in missed.iter().enumerate() {
        let span = span_of(&c.text).unwrap_or(search.span);
        let unit = if c.unit.is_empty() {
            String::new()
        } else {
            format!(" {}", c.unit)
        };
        let label = format!("is {}{unit} there", significant(c.left, 5));
        message = if k == 0 {
            message.primary(span, label)
        } else {
            message.secondary(span, label)
        };
        let alone = match c.reached {
            _ if optimum.conditions.len() == 1 => String::new(),
            reached => format!(
                ": at best {}{unit} among all points",
                significant(reached, 5)
            ),
        };
        let by = significant(-c.slack, 3);
        message = message.fact(format!("`{}` is missed by {by}{unit}{alone}", c.text));
    }
    message.help("widen the bounds, or relax a condition")
}

/// A value with the digits that count, and its unit.
pub(super) fn shown(value: &ValueFound) -> String {
    let number = value.value.map(|v| significant(v, value.digits));
    match (number, value.unit.as_str()) {
        (None, _) => value.written.clone(),
        (Some(number), "" | "1") => number,
        (Some(number), unit) => format!("{number} {unit}"),
    }
}

fn add_warnings(optimum: &mut Optimum, search: &Optimize) {
    for value in optimum.values.iter().filter(|v| v.is_inert) {
        let message = format!(
            "`{}` changes neither the objective nor a condition",
            value.name
        );
        let message = Diagnostic::warning(code::INERT, message)
            .primary(value.target.span, "its value means nothing")
            .help("leave it out of the search, or check whether the model reads it");
        optimum.messages.push(message);
    }
    let n_bad: usize = optimum.failures.iter().map(|f| f.1).sum();
    if n_bad > 0 && optimum.aim.is_some() {
        let n = optimum.n_runs;
        let mut message = Diagnostic::warning(
            code::SKIPPED,
            format!("{n_bad} of {n} runs have no value and were skipped"),
        )
        .primary(search.span, "in this search");
        for (why, n) in &optimum.failures {
            message = message.fact(format!("{n}: {why}"));
        }
        optimum.messages.push(message);
    }
}
