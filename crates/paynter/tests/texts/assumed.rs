//! What a run takes for granted is right or said: names shared by values and parts, ranges between recorded
//! points, plots nobody asked for, sources that only seem to jump.

use crate::kit::{design, last, messages, run_design, run_text};
use paynter::assumed::other_models;
use paynter::exec::Engine;
use paynter::run::{RunChoice, run};
use std::ops::ControlFlow;

#[test]
fn a_value_and_a_part_may_have_one_name() {
    let text = "model Inner { param k = 2; input F = 1; port p: translational = v
            v: 1 -> k: C(1/k), F: R(F)
            output x = k.q*k }
        model M {
            param ks = 100, m = 2, c = [1, 2, 3]
            input F = 3
            F: Se(F) -> v: 1 -> m: I(m), ks: C(1/ks)
            for i in 1 .. 3 { v -> c[i]: C(1/c[i]) }
            v -> inner: Inner(k = ks, F = F).p
            output v = v.f, p = m.p/m, pull = ks*ks.q, second = c[2]*c[2].q - c[2].e, k = inner.k - inner.k.e/inner.k.q
            start v.f = 1
        }
        experiment e of M { with ks = 50; stop = 0.3; record v, p, pull, ks.e as e, second, k }";
    let text = text
        .replace("inner: Inner(k = ks, F = F).p", "inner.p")
        .replace(
            "input F = 3\n",
            "input F = 3\n            inner: Inner(k = ks, F = F)\n",
        );
    let outcome = run_text(&text);
    assert!((last(&outcome, "v") - last(&outcome, "p")).abs() < 1e-12);
    assert!((last(&outcome, "pull") - last(&outcome, "e")).abs() < 1e-12);
    assert!(last(&outcome, "second").abs() < 1e-12 && last(&outcome, "k").abs() < 1e-9);
}

#[test]
fn two_values_or_two_parts_of_one_name_are_refused_once() {
    for wrong in [
        "param k = 1; k = 2; s: Se(1) -> j: 1 -> r: R(1)",
        "s: Se(1) -> j: 1 -> k: R(1), k: C(1)",
        "param k = 1, k = 2; s: Se(1) -> j: 1 -> k: R(1)",
        "param k = 1; s: Se(1) -> j: 1 -> k: R(1), k: C(1)",
    ] {
        let text = format!("model M {{ {wrong} }}\nexperiment e of M {{ stop = 1 }}");
        let (found, text) = messages(&text);
        assert_eq!(found.len(), 1, "{text}");
        assert_eq!(found[0].code, "E0202", "{text}");
    }
}

#[test]
fn the_range_of_a_signal_is_that_of_the_whole_curve() {
    // Recorded once a period, at the zeros; x runs between −1 and 1, y jumps to 5 for a moment.
    let text = "model M {
            n: 0 -> c: C(1), l: I(1)
            start c.e = 1
            output x = c.e, s = l.f, y = pulse(time, 5, from = 1, to = 1.001), z = c.e*l.f
        }
        experiment e of M { stop = 31.41592653589793; output_step = 3.141592653589793; rtol = 1e-9 }";
    let design = design(text);
    let choice = RunChoice {
        wants_ranges: true,
        ..RunChoice::default()
    };
    let outcome = run(&design, &choice, &mut |_| ControlFlow::Continue(())).expect("it runs");
    let expected = [(-1.0, 1.0), (-1.0, 1.0), (0.0, 5.0), (-0.5, 0.5)];
    for (range, (low, high)) in outcome.run.ranges.iter().zip(expected) {
        let (a, b) = range.expect("a number");
        assert!((a - low).abs() < 1e-4 && (b - high).abs() < 1e-4, "{a} {b}");
    }
    assert_eq!(outcome.run.ranges.len(), expected.len());
}

#[test]
fn what_is_recorded_is_drawn_where_no_plot_is_asked_for() {
    let text = "model M { s: Se(1) -> j: 1 -> r: R(1), c: C(1) }
        experiment e of M { stop = 1; record c.e, r.f }";
    let outcome = run_text(text);
    let panels: usize = outcome.plots.iter().map(|p| p.panels.len()).sum();
    assert_eq!(panels, 2);
}

#[test]
fn a_model_that_is_not_run_is_named() {
    let a = "model A { s: Se(1) -> j: 1 -> r: R(1) }
        model B { s: Se(2) -> j: 1 -> r: R(1) }";
    assert_eq!(other_models(&design(a)), ["A"]);
    let part = "model A { port p: electrical = j
            j: 1 -> r: R(1) }
        model B { s: Se(2) -> a.p
            a: A() }";
    assert!(other_models(&design(part)).is_empty());
}

fn warnings_of(law: &str) -> Vec<&'static str> {
    let text = format!(
        "model M {{ {law}
            road: Sf(der(h)) -> p: 0 -> v: 1 -> m: I(1)
            p -> k: C(0.01) }}
        experiment e of M {{ stop = 2 }}"
    );
    let design = design(&text);
    let outcome = run_design(&design, Engine::Auto).expect("it starts");
    outcome.warnings.iter().map(|w| w.code).collect()
}

#[test]
fn an_if_whose_branches_meet_needs_no_impulse() {
    for law in [
        "h = if time < 1 then 0 else time - 1",
        "h = if time < 1 then 0 else 3*(time - 1)^2",
        "h = if 2*time > 1 then sin(time - 0.5) else 0",
        "h = abs(time - 1)",
        "h = max(time - 1, 0)",
        "u = time - 1; h = if u < 0 then 0 else 2*u",
    ] {
        assert!(!warnings_of(law).contains(&"W0733"), "{law}");
    }
    for law in [
        "h = if time < 1 then 0 else time",
        "h = if time < 1 then 0 else 1e-3",
        "h = 0.1*floor(3*time)",
        "h = sign(time - 1)",
    ] {
        assert!(warnings_of(law).contains(&"W0733"), "{law}");
    }
}
