//! Measures that compare with the run of another experiment.

use crate::kit::{design, run_design, run_text};
use paynter::Choice;
use paynter::exec::Engine;
use paynter::sweep::Sweeper;
use std::ops::ControlFlow;

/// x = e^(−kt): against k = 1, |x − x₁| is largest where k e^(−kt) = e^(−t).
const DECAYS: &str = "\
model M { param k = 1; der(x) = -k*x; start x = 1 }
experiment fast of M {
    with k = 3
    stop = 4 [s]; rtol = 1e-10; record x as shown
    measure last = final(x), off = difference(shown, slow), rms = rms_difference(x, slow)
    measure more = change(last, slow), half = change(at(x, 0.5 [s]), slow)
}
experiment slow of M { stop = 3 [s]; rtol = 1e-10; record x as shown; measure last = final(x) }
";

fn value(outcome: &paynter::experiment::Outcome, name: &str) -> f64 {
    let found = outcome.measures.iter().find(|m| m.name == name);
    found.and_then(|m| m.value).expect("it has a value")
}

#[test]
fn curves_and_numbers_are_compared() {
    let outcome = run_text(DECAYS);
    let t = 3f64.ln() / 2.0;
    let largest = (-t).exp() - (-3.0 * t).exp();
    assert!((value(&outcome, "off") - largest).abs() < 1e-8);
    // Over the three seconds that both have: ∫ (e^(−3t) − e^(−t))² dt.
    let part = |a: f64| (1.0 - (-a * 3.0).exp()) / a;
    let square: f64 = (part(6.0) - 2.0 * part(4.0) + part(2.0)) / 3.0;
    assert!((value(&outcome, "rms") - square.sqrt()).abs() < 1e-8);
    let more = (-12.0f64).exp() - (-3.0f64).exp();
    assert!((value(&outcome, "more") - more).abs() < 1e-9);
    let half = (-1.5f64).exp() - (-0.5f64).exp();
    assert!((value(&outcome, "half") - half).abs() < 1e-9);
}

#[test]
fn a_sweep_does_not_reach_the_named_run() {
    let text = DECAYS.replace("with k = 3", "sweep k in [1, 3, 5]");
    let text = text.replace("shown, slow", "x, slow");
    let design = design(&text);
    let sweeper = Sweeper::new(&design, &Choice::default(), Engine::Auto).expect("it compiles");
    let points = sweeper.run(0..3, 1, &|_| ControlFlow::Continue(()));
    let off: Vec<f64> = points
        .iter()
        .map(|p| p.measures[1].value.expect("it has one"))
        .collect();
    assert!(off[0] < 1e-9, "{off:?}");
    let t = 5f64.ln() / 4.0;
    assert!((off[2] - ((-t).exp() - (-5.0 * t).exp())).abs() < 1e-8);
}

#[test]
fn what_cannot_be_compared_is_said() {
    let code = |from: &str, to: &str| {
        let design = design(&DECAYS.replace(from, to));
        let messages = run_design(&design, Engine::Auto).expect_err("it is refused");
        (messages[0].code, messages[0].message.clone())
    };
    assert_eq!(code("shown, slow", "shown, fast").0, "E0841");
    assert_eq!(code("shown, slow", "shown, nowhere").0, "E0841");
    let chain = code(
        "measure last = final(x) }",
        "measure last = final(x), back = change(final(x), fast) }",
    );
    assert!(
        chain.1.contains("compares with another run itself"),
        "{chain:?}"
    );
    // A measure that the other experiment has not.
    let missing = code("change(last, slow)", "change(off, slow)");
    assert_ne!(missing.0, "E0841");
}
