//! Searches through the measures of a model: known optima, conditions with units, choices, cases, and what goes wrong.

use crate::kit::{self, design};
use paynter::Choice;
use paynter::optimize::{
    AtBound, Optimum, SearchRequest, TradeOff, optimize, to_json, to_table, to_text, trade_off,
    trade_off_to_table, trade_off_to_text, with_experiment,
};
use paynter::syntax::Diagnostic;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicUsize, Ordering};

fn ask(jobs: usize) -> SearchRequest {
    SearchRequest {
        jobs,
        n_starts: 6,
        ..SearchRequest::default()
    }
}

fn try_search(text: &str, ask: &SearchRequest) -> Result<Optimum, Vec<Diagnostic>> {
    optimize(&design(text), &Choice::default(), ask, &|_| {
        ControlFlow::Continue(())
    })
}

fn search(text: &str) -> Optimum {
    let found = try_search(text, &ask(2)).expect("the search starts");
    let wrong: Vec<_> = found.messages.iter().filter(|m| m.is_error()).collect();
    assert!(wrong.is_empty(), "{wrong:?}");
    found
}

fn codes(text: &str) -> Vec<&'static str> {
    match try_search(text, &ask(1)) {
        Err(messages) => messages.iter().map(|m| m.code).collect(),
        Ok(found) => found.messages.iter().map(|m| m.code).collect(),
    }
}

fn value(found: &Optimum, name: &str) -> f64 {
    let found = found.values.iter().find(|v| v.name == name);
    found.and_then(|v| v.value).expect("a number of this name")
}

fn aim(found: &Optimum) -> f64 {
    found.aim.as_ref().expect("a value").value
}

/// A model without dynamics worth the name, so that a measure is a function of its parameters.
fn function(parameters: &str, measures: &str, search: &str) -> String {
    format!(
        "model F {{ param {parameters}; Se(1) -> j: 1 -> R(1) }}\n\
         experiment e of F {{ stop = 1e-3; record j.f; {measures}\n optimize {search} }}"
    )
}

#[test]
fn rosenbrock_through_a_measure() {
    let found = search(&function(
        "x = -1.2, y = 1",
        "measure f = 100*(y - x^2)^2 + (1 - x)^2",
        "x in -2 .. 2, y in -1 .. 3 { minimize f }",
    ));
    assert!(aim(&found) < 1e-9, "{}", aim(&found));
    assert!((value(&found, "x") - 1.0).abs() < 1e-4 && (value(&found, "y") - 1.0).abs() < 2e-4);
    assert_eq!(found.starts.same, 6, "{:?}", found.starts);
}

/// (measures, search, optimum): problems 12, 29, 35, 43 and 76 of Hock & Schittkowski 1981.
const HOCK_SCHITTKOWSKI: &[(&str, &str, &str, f64)] = &[
    (
        "a = 0, b = 0",
        "measure f = 0.5*a^2 + b^2 - a*b - 7*a - 7*b, g = 4*a^2 + b^2",
        "a in -9 .. 10, b in -9 .. 10 { minimize f; subject g <= 25 }",
        -30.0,
    ),
    (
        "a = 1, b = 1, c = 1",
        "measure f = a*b*c, g = a^2 + 2*b^2 + 4*c^2",
        "a in -9 .. 10, b in -9 .. 10, c in -9 .. 10 { maximize f; subject g <= 48 }",
        22.627416997969522,
    ),
    (
        "a = 0.5, b = 0.5, c = 0.5",
        "measure f = 9 - 8*a - 6*b - 4*c + 2*a^2 + 2*b^2 + c^2 + 2*a*b + 2*a*c",
        "a in 0 .. 9, b in 0 .. 9, c in 0 .. 9 { minimize f; subject 3 > a + b + 2*c }",
        0.1111111111,
    ),
    (
        "a = 0, b = 0, c = 0, d = 0",
        "measure f = a^2 + b^2 + 2*c^2 + d^2 - 5*a - 5*b - 21*c + 7*d",
        "a in -5 .. 5, b in -5 .. 5, c in -5 .. 5, d in -5 .. 5 { minimize f; subject a^2 + b^2 + c^2 + d^2 + a - b + c - d <= 8, a^2 + 2*b^2 + c^2 + 2*d^2 - a - d <= 10, 5 >= 2*a^2 + b^2 + c^2 + 2*a - b - d }",
        -44.0,
    ),
    (
        "a = 0.5, b = 0.5, c = 0.5, d = 0.5",
        "measure f = a^2 + 0.5*b^2 + c^2 + 0.5*d^2 - a*c + c*d - a - 3*b + c - d",
        "a in 0 .. 8, b in 0 .. 8, c in 0 .. 8, d in 0 .. 8 { minimize f; subject a + 2*b + c + d < 5, 3*a + b + 2*c - d < 4, b + 4*c > 1.5 }",
        -4.6818181818,
    ),
];

#[test]
fn problems_of_hock_and_schittkowski_through_measures() {
    for (parameters, measures, what, optimum) in HOCK_SCHITTKOWSKI {
        let found = search(&function(parameters, measures, what));
        let got = aim(&found);
        assert!(
            (got - optimum).abs() < 3e-7 * (1.0 + optimum.abs()),
            "{what}: {got}"
        );
        assert!(
            found.conditions.iter().all(|c| c.is_met),
            "{what}: {:?}",
            found.conditions
        );
    }
}

/// The same with equalities: problems 6, 39, 40, 71 and 78.
const WITH_EQUALITIES: &[(&str, &str, &str, f64)] = &[
    (
        "a = -1.2, b = 1",
        "measure f = (1 - a)^2",
        "a in -3 .. 3, b in -3 .. 3 { minimize f; subject 10*(b - a^2) == 0 }",
        0.0,
    ),
    (
        "a = 2, b = 2, c = 2, d = 2",
        "measure f = -a",
        "a in -3 .. 3, b in -3 .. 3, c in -3 .. 3, d in -3 .. 3 { minimize f; subject b - a^3 == c^2, a^2 - b == d^2 }",
        -1.0,
    ),
    (
        "a = 0.8, b = 0.8, c = 0.8, d = 0.8",
        "measure f = -a*b*c*d",
        "a in 0 .. 3, b in 0 .. 3, c in 0 .. 3, d in 0 .. 3 { minimize f; subject a^3 + b^2 == 1, a^2*d == c, d^2 == b }",
        -0.25,
    ),
    (
        "a = 1, b = 5, c = 5, d = 1",
        "measure f = a*d*(a + b + c) + c",
        "a in 1 .. 5, b in 1 .. 5, c in 1 .. 5, d in 1 .. 5 { minimize f; subject a*b*c*d >= 25, a^2 + b^2 + c^2 + d^2 == 40 }",
        17.0140173,
    ),
    (
        "a = -2, b = 1.5, c = 2, d = -1, x = -1",
        "measure f = a*b*c*d*x",
        "a in -3 .. 3, b in -3 .. 3, c in -3 .. 3, d in -3 .. 3, x in -3 .. 3 { minimize f; subject a^2 + b^2 + c^2 + d^2 + x^2 == 10, b*c == 5*d*x, a^3 + b^3 == -1 }",
        -2.91970041,
    ),
];

#[test]
fn equalities_of_hock_and_schittkowski_through_measures() {
    for (parameters, measures, what, optimum) in WITH_EQUALITIES {
        let found = search(&function(parameters, measures, what));
        let got = aim(&found);
        assert!((got - optimum).abs() < 2e-5, "{what}: {got}");
        assert!(found.starts.same >= 2, "{what}: {:?}", found.starts);
        let (_, written) = what.split_once("subject").expect("it has conditions");
        assert_eq!(found.conditions.len(), written.split(',').count(), "{what}");
        assert!(found.conditions.iter().all(|c| c.is_met), "{what}");
    }
}

#[test]
fn an_equality_has_one_price() {
    // The nearest point of a line: f = t^2/2, which grows by t with t.
    let found = search(&function(
        "a = 0, b = 3",
        "measure f = a^2 + b^2",
        "a in -4 .. 4, b in -4 .. 4 { minimize f; subject a + b == 2 }",
    ));
    let [condition] = &found.conditions[..] else {
        panic!("{:?}", found.conditions);
    };
    let price = condition.price.expect("it is active");
    assert!((price - 2.0).abs() < 1e-4, "{price}");
    assert!((condition.left - 2.0).abs() < 3e-6, "{}", condition.left);

    // What cannot be met says how near it came.
    let missed = function(
        "a = 0, b = 3",
        "measure f = a^2 + b^2",
        "a in 0 .. 1, b in 0 .. 1 { minimize f; subject a + b == 5 }",
    );
    let found = try_search(&missed, &ask(1)).expect("the search starts");
    assert!(!found.is_feasible);
    let [condition] = &found.conditions[..] else {
        panic!("{:?}", found.conditions);
    };
    assert!((condition.left - 2.0).abs() < 1e-3 && (condition.slack + 3.0).abs() < 1e-3);
}

#[test]
fn rastrigin_needs_the_evolution() {
    let found = search(
        "model F { param x = 3, y = 3; Se(1) -> j: 1 -> R(1)
           fx = x^2 - 10*cos(2*pi*x); fy = y^2 - 10*cos(2*pi*y) }
         experiment e of F { stop = 1e-3; record j.f; measure f = 20 + final(fx) + final(fy)
           optimize x in -5.12 .. 4.1, y in -5.12 .. 4.1 { minimize f } }",
    );
    assert!(aim(&found).abs() < 1e-8, "{}", aim(&found));
    assert!(
        found.starts.worse > 0,
        "descents alone end in other minima: {:?}",
        found.starts
    );
}

/// A damped oscillator: overshoot exp(−π ζ/√(1−ζ²)) with ζ = b/(2 √(k m)).
const OSCILLATOR: &str = "\
model M {
    param b = 0.3 [N*s/m], k = 4 [N/m]
    Se(1 [N]) -> x: 1 -> I(1 [kg]), spring: C(1/k), R(b)
}
experiment e of M {
    stop = 30 [s]; record spring.q as q
    measure over = overshoot(spring.q), rise = rise_time(spring.q)
    optimize b in 0.1 [N*s/m] .. 5 [N*s/m] { AIM }
}
";

#[test]
fn a_condition_in_percent_is_active_with_its_price() {
    let found = search(&OSCILLATOR.replace("AIM", "minimize rise; subject over <= 20 [%]"));
    let z = 0.2f64.ln().abs() / (std::f64::consts::PI.powi(2) + 0.2f64.ln().powi(2)).sqrt();
    // ζ = b/(2 √(k m)) = b/4
    let b = value(&found, "b");
    assert!((b - 4.0 * z).abs() < 1e-5, "{b} {}", 4.0 * z);
    let condition = &found.conditions[0];
    assert!(
        (condition.left - 20.0).abs() < 1e-4 && condition.unit == "%",
        "{condition:?}"
    );
    // One per cent more is paid by the rise time: compared with the search at 21 %.
    let price = condition.price.expect("it is active");
    let more = search(&OSCILLATOR.replace("AIM", "minimize rise; subject over <= 20.1 [%]"));
    let exact = (aim(&more) - aim(&found)) / 0.1;
    assert!(
        (price - exact).abs() < 0.02 * exact.abs(),
        "{price} {exact}"
    );
    let text = to_text(&found);
    assert!(text.contains("active: 1 % more would give -"), "{text}");
}

#[test]
fn descents_follow_exact_slopes_where_the_model_has_them() {
    let found = search(&OSCILLATOR.replace("AIM", "minimize rise; subject over <= 20 [%]"));
    assert!(found.slopes.n_exact > 10, "{:?}", found.slopes);
    assert_eq!(found.slopes.n_differences, 0, "{:?}", found.slopes);
    assert!(
        to_text(&found).contains("slopes: exact"),
        "{}",
        to_text(&found)
    );
    // A sampled controller has none: differences, and why.
    let sampled = "\
model M { param k = 0.5; der(x) = -u; start x = 1; sample at 10 [Hz] { u = k*x } }
experiment e of M {
    stop = 2 [s]; record x
    optimize k in 0.1 .. 9 { minimize integral(x^2) + 0.1*k^2*1 [s] }
}
";
    let found = search(sampled);
    assert_eq!(found.slopes.n_exact, 0);
    let text = to_text(&found);
    assert!(
        text.contains("slopes: by differences of runs: the model has sampled blocks"),
        "{text}"
    );
}

#[test]
fn margins_in_a_search_are_those_of_a_run() {
    // L = k/(s (s + 1) (s + 3)): the gain margin is 12/k; with k small x follows slowly.
    let text = "\
model M { param k = 1; input r = 1; u = k*(r - y); der(v) = u - v; der(w) = v - 3*w; der(y) = w }
experiment e of M {
    stop = 20 [s]; record y
    measure error = integral((1 - y)^2)
    optimize k in 0.5 .. 20 { minimize error; subject gain_margin(u) > 6 [dB] }
}
";
    let found = search(text);
    let margin = &found.conditions[0];
    assert!(margin.price.is_some() || margin.slack > 0.0, "{margin:?}");
    let k = value(&found, "k");
    assert!(
        (margin.left - 20.0 * (12.0 / k).log10()).abs() < 1e-6,
        "{margin:?} at {k}"
    );
    assert_eq!(found.slopes.n_differences, 0, "{:?}", found.slopes);
}

#[test]
fn a_maximum_at_a_bound_is_told() {
    let found = search(&OSCILLATOR.replace("AIM", "maximize max(spring.q)"));
    assert_eq!(found.values[0].at_bound, Some(AtBound::Lower));
    assert!((value(&found, "b") - 0.1).abs() < 1e-9);
    assert!(to_text(&found).contains("at its lower bound"));
}

#[test]
fn the_number_of_threads_changes_nothing() {
    let text = OSCILLATOR.replace("AIM", "minimize rise; subject over <= 20 [%]");
    let by = |jobs| try_search(&text, &ask(jobs)).expect("the search starts");
    let (one, three) = (by(1), by(3));
    assert_eq!(to_json(&one), to_json(&three));
    assert_eq!(to_table(&one), to_table(&three));
}

#[test]
fn choices_are_enumerated_and_sizes_are_whole_numbers() {
    // n resistors of 3 Ω in series and a list of sources: nearest to 1 A.
    let text = "\
model M {
    param n = 2, u = 10 [V]
    Se(u) -> j: 1
    for i in 1 .. n { j -> r[i]: R(3 [ohm]) }
}
experiment e of M {
    stop = 1 [ms]; record j.f
    measure miss = abs(final(j.f) - 1 [A])
    optimize n in 1 .. 6, u in [8, 10, 15.5] [V] { minimize miss }
}
";
    let found = search(text);
    assert_eq!(found.choices.len(), 18);
    assert_eq!(value(&found, "n"), 5.0);
    assert_eq!(value(&found, "u"), 15.5);
    assert!((aim(&found) - (15.5 / 15.0 - 1.0)).abs() < 1e-12);
}

#[test]
fn the_worst_of_several_experiments_counts() {
    let text = "\
model M { param x = 0, c = 1; Se(1) -> j: 1 -> R(1) }
experiment e of M {
    with c = 1
    stop = 1 [ms]; record j.f; measure f = (x - c)^2
    optimize x in -5 .. 5 { minimize f; WHICH }
}
experiment far of M { with c = 3; stop = 1 [ms]; record j.f; measure f = (x - c)^2 }
";
    let worst = search(&text.replace("WHICH", "worst far"));
    assert!(
        (value(&worst, "x") - 2.0).abs() < 1e-3,
        "{:?}",
        worst.values
    );
    let mean = search(&text.replace("WHICH", "mean 3*far"));
    assert!((value(&mean, "x") - 2.5).abs() < 1e-4, "{:?}", mean.values);
    assert_eq!(codes(&text.replace("WHICH", "worst nowhere")), ["E0831"]);
    assert_eq!(codes(&text.replace("WHICH", "worst e")), ["E0831"]);
}

#[test]
fn what_cannot_be_searched_is_said() {
    let two = OSCILLATOR.replace("AIM", "minimize rise, over");
    assert_eq!(codes(&two), ["E0830"]);
    // Less than 4 % overshoot and a rise below 0.1 s contradict each other.
    let text = OSCILLATOR.replace(
        "AIM",
        "minimize rise; subject over <= 4 [%], rise < 0.1 [s]",
    );
    let found = try_search(&text, &ask(1)).expect("it starts");
    assert!(!found.is_feasible);
    let message = found
        .messages
        .iter()
        .find(|m| m.code == "E0833")
        .expect("told");
    assert!(
        message.message.contains("the least violated one is b ="),
        "{}",
        message.message
    );
    // Each by itself: the overshoot can be met, the rise cannot.
    assert!(found.conditions[0].reached < 4.0 && found.conditions[1].reached > 0.1);

    let nothing = function("x = 1", "measure f = log(-x)", "x in 1 .. 2 { minimize f }");
    assert_eq!(codes(&nothing), ["E0832"]);
    let half = function(
        "x = 1",
        "measure f = sqrt(x) + x",
        "x in -1 .. 2 { minimize f }",
    );
    assert_eq!(codes(&half), ["W0836"]);
    let dead = function(
        "x = 1, y = 1",
        "measure f = (x - 1.5)^2",
        "x in 1 .. 2, y in 0 .. 1 { minimize f }",
    );
    assert_eq!(codes(&dead), ["W0835"]);
}

#[test]
fn runs_that_blow_up_do_not_stop_the_search() {
    // x' = a x³: for a > 0 infinite before the end. The best a is just where |x(1)| is 2.
    let text = "\
model M { param a = -1; Se(1) -> s: 1 -> R(1); der(x) = a*x^3; start x = 1 }
experiment e of M {
    stop = 1 [s]; record s.f; measure miss = (final(x) - 2)^2
    optimize a in -2 .. 3 { minimize miss }
}
";
    let found = try_search(text, &ask(2)).expect("it starts");
    // 1/x² = 1 − 2 a t, so that x(1) = 2 for a = 3/8.
    assert!(
        (value(&found, "a") - 0.375).abs() < 1e-4,
        "{:?}",
        found.values
    );
    assert!(!found.failures.is_empty());
    assert!(
        found.messages.iter().any(|m| m.code == "W0836"),
        "{:?}",
        found.messages
    );
}

#[test]
fn a_search_that_is_ended_keeps_its_best() {
    let text = OSCILLATOR.replace("AIM", "minimize rise; subject over <= 20 [%]");
    let count = AtomicUsize::new(0);
    let stop_soon =
        |_: &paynter::optimize::Progress| match count.fetch_add(1, Ordering::Relaxed) > 400 {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        };
    let found =
        optimize(&design(&text), &Choice::default(), &ask(1), &stop_soon).expect("it starts");
    assert!(found.is_ended && found.aim.is_some());
}

#[test]
fn found_values_are_written_back_as_an_experiment_that_runs() {
    let text = OSCILLATOR.replace("AIM", "minimize rise; subject over <= 20 [%]");
    let before = design(&text);
    let found = search(&text);
    let written = with_experiment(&before, &text, &found, "e_best").expect("there are values");
    let again = design(&written);
    assert_eq!(again.experiments, ["e", "e_best"]);
    let twice = with_experiment(&again, &written, &found, "e_best").expect("it was written here");
    assert_eq!(twice, written);
    assert!(with_experiment(&before, &text, &found, "e").is_err());
    let file = kit::scratch(&written);
    let choice = Choice {
        experiment: Some("e_best".to_owned()),
        ..Choice::default()
    };
    let best = paynter::design(&file.0, &choice).expect("it is a model");
    assert!(best.plan.optimize.is_none());
    let outcome = kit::run_design(&best, paynter::exec::Engine::Auto).expect("it runs");
    let rise = outcome
        .measures
        .iter()
        .find(|m| m.name == "rise")
        .and_then(|m| m.value);
    assert!((rise.expect("it rises") - aim(&found)).abs() < 1e-5);
}

fn try_trade(text: &str, n_points: usize) -> Result<TradeOff, Vec<Diagnostic>> {
    let go_on = |_: &paynter::optimize::Progress| ControlFlow::Continue(());
    trade_off(
        &design(text),
        &Choice::default(),
        (&ask(2), n_points),
        &go_on,
    )
}

#[test]
fn schaffers_trade_off_follows_its_closed_form() {
    // x² against (x − 2)²: √f₁ + √f₂ = 2 between 0 and 4, x = √f₁.
    let text = function(
        "x = 0.3",
        "measure a = x^2, b = (x - 2)^2",
        "x in -5 .. 5 { minimize a, b }",
    );
    let found = try_trade(&text, 9).expect("the search starts");
    assert_eq!(found.points.len(), 9);
    for p in &found.points {
        let sum = p.aims[0].max(0.0).sqrt() + p.aims[1].max(0.0).sqrt();
        assert!((sum - 2.0).abs() < 1e-5, "{p:?}");
        assert!((p.values[0].powi(2) - p.aims[0]).abs() < 1e-12, "{p:?}");
    }
    let table = trade_off_to_table(&found);
    assert_eq!(table.time.len(), 9);
    assert!(trade_off_to_text(&found).starts_with("trade-off between a and b"));
}

#[test]
fn a_hollow_trade_off_is_found_where_weighted_sums_see_its_ends_only() {
    // Fonseca and Fleming 1995 in one variable: fᵢ = 1 − e^{−(x ∓ 1)²}; its curve bulges towards worse values.
    let text = function(
        "x = 0.3",
        "measure a = 1 - exp(-(x - 1)^2), b = 1 - exp(-(x + 1)^2)",
        "x in -4 .. 4 { minimize a, b }",
    );
    let found = try_trade(&text, 7).expect("the search starts");
    assert_eq!(found.points.len(), 7);
    for p in &found.points {
        // x = 1 − √(−ln(1 − f₁)) on the curve.
        let x = 1.0 - (-(1.0 - p.aims[0]).ln()).max(0.0).sqrt();
        let exact = 1.0 - (-(x + 1.0).powi(2)).exp();
        assert!((p.aims[1] - exact).abs() < 1e-6, "{p:?} {exact}");
        assert!((-1.001..=1.001).contains(&p.values[0]), "{p:?}");
    }
    // None is better than another in both.
    let beats = |p: &[f64; 2], q: &[f64; 2]| p[0] <= q[0] && p[1] <= q[1] && p != q;
    let pairs = found
        .points
        .iter()
        .flat_map(|p| found.points.iter().map(move |q| (p, q)));
    assert!(!pairs.into_iter().any(|(p, q)| beats(&p.aims, &q.aims)));
}

#[test]
fn a_trade_off_keeps_conditions_and_may_have_one_point() {
    let limited = function(
        "x = 0.3",
        "measure a = x^2, b = (x - 2)^2",
        "x in -5 .. 5 { minimize a, b; subject a <= 1 }",
    );
    let found = try_trade(&limited, 5).expect("the search starts");
    let last = found.points.last().expect("there are points");
    assert!(
        last.aims[0] <= 1.0 && (last.aims[1] - 1.0).abs() < 1e-5,
        "{last:?}"
    );
    let agreed = function(
        "x = 0.3",
        "measure a = x^2, b = 3*x^2 + 1",
        "x in -5 .. 5 { minimize a, b }",
    );
    let found = try_trade(&agreed, 5).expect("the search starts");
    assert_eq!(found.points.len(), 1, "{:?}", found.points);
    assert!(trade_off_to_text(&found).starts_with("one point is best for both"));
    let impossible = function(
        "x = 0.3",
        "measure a = x^2, b = (x - 2)^2",
        "x in -5 .. 5 { minimize a, b; subject a <= 1, b <= 0.5 }",
    );
    let refused = try_trade(&impossible, 5).expect_err("nothing meets both");
    assert_eq!(refused[0].code, "E0833");
}
