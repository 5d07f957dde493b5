//! Slopes of measures by parameters: closed forms, differences of fine runs, and what has none.

use crate::kit::{design, run_text};
use paynter::linear::default_parameters;
use paynter::measure_slopes::{MeasureSlopes, measure_slopes};

fn slopes(text: &str) -> Vec<MeasureSlopes> {
    let design = design(text);
    measure_slopes(&design, &default_parameters(&design)).expect("it compiles")
}

fn of<'m>(all: &'m [MeasureSlopes], name: &str) -> &'m (f64, Vec<f64>) {
    let found = all.iter().find(|m| m.name == name).expect("it is measured");
    found
        .found
        .as_ref()
        .unwrap_or_else(|why| panic!("{name}: {why}"))
}

#[track_caller]
fn close(name: &str, found: f64, exact: f64, within: f64) {
    let error = (found - exact).abs();
    assert!(
        error <= within * exact.abs().max(1e-3),
        "{name}: {found} is not {exact}"
    );
}

#[test]
fn measures_of_a_decay_follow_their_closed_forms() {
    // x = a e^(−kt) over [0, 2], k = 1.5, a = 2.
    let all = slopes(
        "model M { param k = 1.5, a = 2; der(x) = -k*x; start x = a }
         experiment e of M { stop = 2 [s]; rtol = 1e-11; record x
           measure last = final(x), half = at(x, 1 [s]), area = integral(x), mean = mean(x), rms = rms(x)
           measure top = max(x), low = min(x), sum = 3*last - area^2 + k*a, root = sqrt(abs(-last)) }",
    );
    let (k, a, t): (f64, f64, f64) = (1.5, 2.0, 2.0);
    let e = (-k * t).exp();
    let area = (1.0 - e) / k;
    let by_k = (t * e * k - (1.0 - e)) / (k * k);
    let exact = |name: &str, by: [f64; 2]| {
        let (_, slopes) = of(&all, name);
        close(name, slopes[0], by[0], 1e-8);
        close(name, slopes[1], by[1], 1e-8);
    };
    exact("last", [-a * t * e, e]);
    exact("half", [-a * (-k).exp(), (-k).exp()]);
    exact("area", [a * by_k, area]);
    exact("mean", [a * by_k / t, area / t]);
    // ∫x²/T = a² (1 − e²)/(2kT)
    let square = a * a * (1.0 - e * e) / (2.0 * k * t);
    let square_by_k = a * a * (2.0 * t * e * e * k - (1.0 - e * e)) / (2.0 * k * k * t);
    exact(
        "rms",
        [square_by_k / (2.0 * square.sqrt()), square.sqrt() / a],
    );
    exact("top", [0.0, 1.0]);
    exact("low", [-a * t * e, e]);
    let two = 2.0 * a * area;
    exact(
        "sum",
        [
            -3.0 * a * t * e - two * a * by_k + a,
            3.0 * e - two * area + k,
        ],
    );
    let root = 0.5 / (a * e).sqrt();
    exact("root", [-root * a * t * e, root * e]);
}

/// A step response with events on the way: a spring that stops pulling at a threshold.
const STEP: &str = "\
model M {
    param b = B, k = K, u = 1
    Se(u) -> x: 1 -> I(1), spring: C(1/k), R(b)
    soft = if spring.q > 0.3 then 2*x.f else x.f
}
experiment e of M {
    stop = 12; rtol = 1e-12; method = dop853; record spring.q
    measure over = overshoot(spring.q), rise = rise_time(spring.q), settle = settling_time(spring.q, 0.1)
    measure under = undershoot(spring.q, start = 0.05), top = max(spring.q), fast = max(x.f), area = integral(soft)
    measure size = rms(soft), best = max(top, 0.1), late = peak_time(spring.q)
}
";

#[test]
fn slopes_agree_with_differences_of_fine_runs() {
    let text = |b: f64, k: f64| {
        STEP.replace('B', &format!("{b:?}"))
            .replace('K', &format!("{k:?}"))
    };
    let (b, k, h) = (0.4, 1.7, 1e-4);
    let all = slopes(&text(b, k));
    let measured = |b: f64, k: f64| run_text(&text(b, k)).measures;
    let (left, right) = (measured(b - h, k), measured(b + h, k));
    let (below, above) = (measured(b, k - h), measured(b, k + h));
    for (i, measure) in left.iter().enumerate().filter(|m| m.1.name != "late") {
        let value = |m: &[paynter::experiment::Measurement]| m[i].value.expect("it has one");
        let (_, exact) = of(&all, &measure.name);
        // Central differences: h² f'''/6, and what the run errs by over h.
        let by_b = (value(&right) - value(&left)) / (2.0 * h);
        let by_k = (value(&above) - value(&below)) / (2.0 * h);
        close(&measure.name, exact[0], by_b, 2e-6);
        close(&measure.name, exact[1], by_k, 2e-6);
    }
    let late = all.iter().find(|m| m.name == "late").expect("measured");
    assert!(
        late.found.as_ref().is_err_and(|why| why.contains("peak")),
        "{late:?}"
    );
}

#[test]
fn slopes_of_margins_are_those_of_the_loop() {
    // L = k/(s (s + 1)): the phase margin is 90° − atan ω at ω² = (√(1 + 4k²) − 1)/2.
    let all = slopes(
        "model M { param k = 2; input r = 1; e = r - y; u = k*e; der(v) = u - v; der(y) = v }
         experiment e of M { stop = 1; record y; measure margin = phase_margin(u) }",
    );
    let k: f64 = 2.0;
    let root = (1.0 + 4.0 * k * k).sqrt();
    let w = ((root - 1.0) / 2.0).sqrt();
    let w_by_k = (4.0 * k / root) / (4.0 * w);
    let exact = -w_by_k / (1.0 + w * w);
    let (value, slopes) = of(&all, "margin");
    close("margin", *value, 90.0 - w.atan().to_degrees(), 1e-9);
    close("margin", slopes[0], exact.to_degrees(), 1e-7);
}

#[test]
fn what_varies_by_itself_does_not_follow_its_binding() {
    // b is bound to a; varied beside it, it stands by itself.
    let all = slopes(
        "model M { param a = 2, b = 3*a; der(x) = a + 10*b; start x = 0 }
         experiment e of M { stop = 1; record x; measure last = final(x) }",
    );
    let (value, slopes) = of(&all, "last");
    close("last", *value, 62.0, 1e-9);
    // `default_parameters` varies free parameters only: a, with b following.
    close("last by a", slopes[0], 31.0, 1e-9);
}

#[test]
fn what_has_no_exact_slope_says_why() {
    let all = slopes(
        "model M { param g = 0.5; der(x) = -u; start x = 1; sample at 10 [Hz] { u = g*x } }
         experiment e of M { stop = 1 [s]; record x; measure last = final(x) }",
    );
    let why = all[0].found.as_ref().expect_err("sampled");
    assert!(why.contains("sampled blocks"), "{why}");
}
