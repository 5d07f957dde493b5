//! Sweeps: what one compiled machine gives for many points must be what each point gives alone.

mod kit;

use kit::{design, run_design};
use paynter::Choice;
use paynter::exec::Engine;
use paynter::simulate::Ending;
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

/// A model in which most wrong values are wrong in their own way: sizes, resistances, fields, ranges, settings.
const PHYSICS: &str = "\
model M {
    param r = 1, c = 1, m = 1, b = 0.2, z = 0.2, top = 1 in -2 .. 2, tau = 1
    param half = c/2
    s: Se(1) -> j: 1 -> R(r), cap: C(half), I(m)
    x: 1 -> I(1)
    y: 1 -> I(1)
    (x, y) => field: C[2] { e[1] = q[1] + b*q[2]; e[2] = z*q[1] + q[2] }
    sample at 10 [Hz] { u = pre(u) + 1 }
    start x.f = top, u = tau
}
experiment e of M { stop = 0.5*min(abs(tau), 4); rtol = 1e-8; record cap.q, field.q[1], u; SWEEP }
";

#[test]
fn a_point_is_refused_exactly_where_a_run_with_its_values_is() {
    let mut random = kit::Seeded(7);
    let (mut n_refused, mut n_run) = (0, 0);
    for name in ["r", "c", "m", "b", "z", "top", "tau"] {
        let values: Vec<String> = (0..8)
            .map(|_| ["-1e308", "-3", "-0.5", "0", "0.2", "0.7", "1", "2.5"][random.below(8)])
            .map(str::to_owned)
            .collect();
        let sweep_line = format!("sweep {name} in [{}]", values.join(", "));
        let points = points(&PHYSICS.replace("SWEEP", &sweep_line));
        for (point, value) in points.iter().zip(&values) {
            let file = kit::scratch(&PHYSICS.replace("SWEEP", ""));
            let choice = Choice {
                overrides: vec![(name.to_owned(), value.clone())],
                ..Choice::default()
            };
            let alone =
                paynter::design(&file.0, &choice).map(|d| run_design(&d, Engine::Interpreter));
            match (alone, &point.failure) {
                (Ok(Ok(outcome)), why) if matches!(outcome.run.ending, Ending::Failed { .. }) => {
                    assert!(why.is_some(), "{name} = {value} fails alone");
                    n_refused += 1;
                }
                (Ok(Ok(outcome)), None) => {
                    n_run += 1;
                    let columns = outcome.run.table.columns.iter();
                    let last: Vec<f64> = columns.map(|c| *c.values.last().expect("rows")).collect();
                    assert_eq!(point.last, last, "{name} = {value}");
                }
                (Ok(Ok(_)), Some(why)) => panic!("{name} = {value} runs alone, but: {why}"),
                (_, None) => panic!("{name} = {value} is refused alone"),
                (_, Some(_)) => n_refused += 1,
            }
        }
    }
    assert!(
        n_refused > 8 && n_run > 8,
        "{n_refused} refused, {n_run} run"
    );
}

#[test]
fn warnings_of_points_are_counted_once() {
    let design = design(
        "model M { param k = 1; v: 1 -> m: I(1), f: R { e = k*sign(f) }; start m.p = 1; y = log(k - 1 - v.f) }
         experiment e of M { stop = 2; record v.f, y; sweep k in [0.5, 3, 4] }",
    );
    let choice = Choice::default();
    let points = sweep(&design, &choice, Engine::Auto, 1).expect("the sweep starts");
    let warnings = paynter::sweep::shared_warnings(&design, &choice, Engine::Auto, &points);
    let find = |code: &str| warnings.iter().find(|w| w.message.code == code);
    assert_eq!(find("W0735").map(|w| w.points.clone()), Some(vec![0]));
    assert!(
        find("W0743").is_some_and(|w| w.points.len() >= 2),
        "{warnings:?}"
    );
}

/// What a cluster relies on: any cut of a sweep, with numbers set later, gives the bits of the whole.
#[test]
fn parts_of_a_sweep_with_other_numbers_are_the_whole_sweep() {
    use paynter::sweep::Sweeper;
    use std::ops::ControlFlow;
    use std::sync::Arc;

    let design = Arc::new(design(OSCILLATOR));
    let choice = Choice::default();
    let sweeper = Sweeper::new(design, &choice, Engine::Auto).expect("it compiles");
    let masses: Vec<f64> = (0..37).map(|k| 0.5 + 0.05 * f64::from(k)).collect();
    let go_on = |_: usize| ControlFlow::Continue(());
    let many = sweeper
        .with_values(std::slice::from_ref(&masses))
        .expect("numbers");
    let whole = many.run(0..37, 3, &go_on);
    let mut parts = Vec::new();
    for (from, to) in [(0, 1), (1, 20), (20, 37)] {
        parts.extend(many.run(from..to, 2, &go_on));
    }
    assert_eq!(parts, whole);
    // The numbers written in the text give the same.
    let list: Vec<String> = masses.iter().map(|m| format!("{m:?}")).collect();
    let text = OSCILLATOR.replace(
        "[0.5, 1, 2, 2.75, 4] [kg]",
        &format!("[{}] [kg]", list.join(", ")),
    );
    for (one, other) in points(&text).iter().zip(&whole) {
        assert_eq!(
            (&one.values, &one.last, &one.failure),
            (&other.values, &other.last, &other.failure)
        );
    }
    assert!(sweeper.with_values(&[vec![f64::NAN]]).is_err());
    assert!(sweeper.with_values(&[]).is_err());
}
