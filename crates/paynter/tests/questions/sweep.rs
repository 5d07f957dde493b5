//! Sweeps: what one compiled machine gives for many points must be what each point gives alone.

use crate::kit::{self, design, run_design};
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

/// y = a (1 − e^{−t}): every curve is a multiple of one.
fn scaled(sweep: &str) -> String {
    format!(
        "model S {{ param a = 1; input u = a; der(y) = u - y }}\n\
         experiment e of S {{ stop = 2 [s]; output_step = 0.25 [s]; rtol = 1e-10; record y\n\
         measure mid = at(y, 0.6 [s]), end = at(y, 2 [s]), first = at(y, 0 [s])\n {sweep} }}"
    )
}

fn kept(text: &str) -> (paynter::Design, Vec<Point>) {
    use paynter::sweep::{Keep, Sweeper};
    let design = design(text);
    let keep = Keep {
        curves: true,
        times: true,
    };
    let points = {
        let sweeper = Sweeper::keeping(&design, &Choice::default(), Engine::Auto, keep);
        let sweeper = sweeper
            .map_err(|m| m[0].message.clone())
            .expect("it starts");
        let n = design.plan.n_points();
        sweeper.run(0..n, 2, &|_| std::ops::ControlFlow::Continue(()))
    };
    (design, points)
}

#[test]
fn a_curve_is_read_at_a_time() {
    let (_, points) = kept(&scaled("sweep a in [1, 3]"));
    for (point, a) in points.iter().zip([1.0, 3.0]) {
        let values: Vec<f64> = point.measures.iter().filter_map(|m| m.value).collect();
        let exact = [0.6, 2.0, 0.0].map(|t: f64| a * (1.0 - (-t).exp()));
        for (found, exact) in values.iter().zip(exact) {
            assert!((found - exact).abs() < 1e-9, "{values:?}");
        }
    }
    // At an event the value after it, as in a table.
    let text = "model J { u = step(time, 3, at = 0.5 [s]); der(x) = u }\n\
                experiment e of J { stop = 1 [s]; record x; measure m = at(u, 0.5 [s]), before = at(u, 0.4999 [s]) }";
    let outcome = run_design(&design(text), Engine::Auto).expect("it runs");
    let values: Vec<_> = outcome.measures.iter().map(|m| m.value).collect();
    assert_eq!(values, [Some(3.0), Some(0.0)]);
    for wrong in ["at(u, 1.5 [s])", "at(u, 1 [m])", "at(u)", "at(u, x)"] {
        let text = text.replace("at(u, 0.5 [s])", wrong);
        assert!(kit::try_design(&text).is_err(), "{wrong}");
    }
}

#[test]
fn curves_of_all_runs_are_one_table_and_quantiles_follow_their_order() {
    use paynter::sweep_curves::{bands, bands_to_table, to_table};
    let (design, points) = kept(&scaled("sweep a in random(41, seed = 3, from = 1, to = 2)"));
    let table = to_table(&design, &points);
    assert_eq!(table.time.len(), 41 * 9);
    let names: Vec<&str> = table.columns.iter().map(|c| c.name.as_str()).collect();
    assert_eq!(names, ["time", "a", "y"]);
    for row in 0..table.time.len() {
        let [t, a, y] = [0, 1, 2].map(|k: usize| table.columns[k].values[row]);
        assert!((y - a * (1.0 - (-t).exp())).abs() < 1e-8);
    }
    // Quantiles of multiples of one curve are multiples of it, by quantiles of the factor.
    let found = bands(&points);
    let mut factors: Vec<f64> = points.iter().map(|p| p.values[0]).collect();
    factors.sort_by(f64::total_cmp);
    for (k, p) in paynter::sweep_curves::QUANTILES.iter().enumerate() {
        let factor = paynter::optimization::statistics::quantile_of(&factors, *p).value;
        for (t, q) in found[0].time.iter().zip(&found[0].quantiles[k]) {
            assert!((q - factor * (1.0 - (-t).exp())).abs() < 1e-8);
        }
    }
    assert_eq!(found[0].n, [41; 9]);
    assert_eq!(bands_to_table(&found).columns.len(), 6);
    assert!(points.iter().all(|p| p.steps > 0 && p.seconds.is_some()));
}

#[test]
fn sweeps_are_drawn_as_curves_maps_histograms_families_and_fans() {
    use paynter::sweep_pictures::{family, measures};
    let drawn = |sweep: &str| {
        let (design, points) = kept(&scaled(sweep));
        let first = measures(&design, &points).expect("has measures").to_svg();
        let second = family(&design, &points).expect("has curves").to_svg();
        assert!(!first.contains("NaN") && !second.contains("NaN"));
        (first, second)
    };
    let (line, few) = drawn("sweep a in [1, 2, 3]");
    assert!(line.contains("<polyline") && few.contains(">a = 2<"));
    let (_, many) = drawn("sweep a in 1 .. 2 by 0.05");
    // Twenty-one colours from dark to light, and no names.
    assert!(!many.contains(">a = "));
    let colours: std::collections::BTreeSet<&str> =
        many.split("stroke=\"").skip(1).map(|t| &t[..7]).collect();
    assert!(colours.len() >= 21, "{}", colours.len());
    let (histogram, fan) = drawn("sweep a in latin(200, mean = 2, deviation = 0.1)");
    assert_eq!(histogram.matches("class=\"band\"").count(), 3);
    assert!(histogram.contains("mid of 200 runs"));
    assert!(fan.contains("5 to 95 % of the runs") && fan.contains("median"));
    let text = scaled("sweep a in [1, 2, 3]").replace("param a = 1", "param a = 1, b = 1");
    let text = text.replace("der(y) = u - y", "der(y) = u - b*y");
    let text = text.replace(
        "sweep a in [1, 2, 3]",
        "sweep a in [1, 2, 3]; sweep b in [1, 2]",
    );
    let (design, points) = kept(&text);
    let map = measures(&design, &points).expect("has measures").to_svg();
    // Three measures, six cells each; the first value is 0 everywhere and still has a colour.
    assert_eq!(map.matches("class=\"cell\"").count(), 18);
}
