//! Sweeps: what one compiled machine gives for many points must be what each point gives alone.

mod kit;

use kit::{design, run_design};
use paynter::Choice;
use paynter::exec::Engine;
use paynter::sweep::{Point, sweep};

const OSCILLATOR: &str = "\
model M {
    param m = 1 [kg] in 0.5 [kg] .. 3 [kg]
    param k = 4 [N/m], top = 2 * m
    param load = top in 0 [kg] .. 5 [kg]
    x: 1 -> I(m)
    x -> spring: C(1/k)
    x -> R(0.1 [N*s/m])
    Se(1 [N]) -> x
}
experiment e of M {
    stop = 3 [s]; rtol = 1e-9; record x.f, spring.q
    measure last = final(x.f)
    measure per_mass = m * final(x.f)
    sweep m in [0.5, 1, 2, 2.75, 4] [kg]
}
";

fn points(text: &str) -> Vec<Point> {
    let design = design(text);
    sweep(&design, &Choice::default(), Engine::Auto, 2).expect("the sweep starts")
}

#[test]
fn a_point_is_the_run_of_its_values() {
    for (point, m) in points(OSCILLATOR).iter().zip(["0.5", "1", "2"]) {
        let text = OSCILLATOR.replace("param m = 1 [kg]", &format!("param m = {m} [kg]"));
        let alone = run_design(&design(&text), Engine::Interpreter).expect("it runs");
        let last: Vec<f64> = alone
            .run
            .table
            .columns
            .iter()
            .map(|c| c.values[500])
            .collect();
        assert_eq!(point.last, last, "m = {m}");
        assert_eq!(point.measures, alone.measures, "m = {m}");
        let residual = alone.run.audit.expect("the model has power").relative();
        assert_eq!(point.residual, residual);
        assert_eq!(point.failure, None);
    }
}

#[test]
fn a_point_outside_a_declared_range_fails_and_says_so() {
    let points = points(OSCILLATOR);
    let why = |k: usize| points[k].failure.clone().unwrap_or_default();
    assert_eq!(why(2), "");
    // The range of a parameter that follows the swept one.
    assert_eq!(why(3), "`load` is 5.5, outside its range");
    assert_eq!(why(4), "`m` is 4 kg, outside its range");
}

/// An ideal diode behind a coil: the coil's current is a state only while it conducts.
const RECTIFIER: &str = "\
model M {
    param r = 1 [ohm], f = 50 [Hz]
    source: Se(10 [V]*sin(2*pi*f*time)) -> j: 1 -> coil: I(10 [mH]), load: R(r), d: D()
}
experiment e of M {
    stop = 50 [ms]; rtol = 1e-8; record coil.f, d.e
    measure most = max(coil.f)
    sweep r in [0.5, 1, 2, 4, 8, 16] [ohm]
}
";

#[test]
fn structures_made_for_one_point_serve_the_others_and_change_no_number() {
    let swept = design(RECTIFIER);
    let by = |jobs: usize| {
        sweep(&swept, &Choice::default(), Engine::Auto, jobs).expect("the sweep starts")
    };
    let (alone, together) = (by(1), by(3));
    for (a, b) in alone.iter().zip(&together) {
        assert_eq!((&a.last, &a.measures), (&b.last, &b.measures));
        assert_eq!((a.residual, &a.failure), (b.residual, &None));
    }
    for (point, r) in alone.iter().zip(["0.5", "1", "2", "4", "8", "16"]) {
        let text = RECTIFIER.replace("param r = 1 [ohm]", &format!("param r = {r} [ohm]"));
        let own = run_design(&design(&text), Engine::Interpreter).expect("it runs");
        assert_eq!(point.measures, own.measures, "r = {r}");
    }
}
