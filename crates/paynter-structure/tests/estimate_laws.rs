//! Laws of bicausal estimation: what a model did tells the sizes of its elements, whatever sizes another model believes in.

mod kit;

use kit::{Dice, cases, design, random_graph, try_design};
use paynter::run::{RunChoice, run};
use paynter::syntax::render;
use paynter::table::Table;
use paynter_structure::{Estimates, ask, estimate};
use std::ops::ControlFlow;

/// What an experiment records.
fn data(text: &str) -> Table {
    let design = design(text, "", "");
    let outcome = run(&design, &RunChoice::default(), &mut |_| {
        ControlFlow::Continue(())
    })
    .unwrap_or_else(|m| panic!("{text}\n{}", render(&m, &design.project.sources, false)));
    outcome.run.table
}

fn estimated(
    text: &str,
    ports: [&str; 2],
    names: &[&str],
    data: &Table,
) -> Result<Estimates, String> {
    let design = try_design(text, ports[0], ports[1])
        .map_err(|f| render(&f.diagnostics, &f.sources, false))?;
    let names: Vec<String> = names.iter().map(|&n| n.to_owned()).collect();
    estimate(&design, ask(&design, None), &names, data)
        .map_err(|m| render(&m, &design.project.sources, false))
}

const CAR: &str = "units strict
model Quarter {
    param m = 300 [kg], b = 1200 [N*s/m], k = 20 [kN/m], kt = 180 [kN/m], mt = 40 [kg]
    input v = 0.3 [m/s]*sin(9 [rad/s]*time) + 0.2 [m/s]*sin(23 [rad/s]*time)
    road: Sf(v) -> ground: 0 -> tyre: C(1/kt)
    ground -> wheel: 1 -> hub: I(mt)
    wheel -> gap: 0 -> leg: 1 -> spring: C(1/k), damper: R(b)
    gap -> body: 1 -> mass: I(m)
}
experiment e of Quarter { stop = 2 [s]; output_step = 2 [ms]; rtol = 1e-11
    record body.f, wheel.f, leg.f, ground.e }
";

/// Every element from the sensor beside it, with a model that believes in another size.
#[test]
fn a_quarter_car_tells_its_elements() {
    let data = data(CAR);
    for (parameter, wrong, element, sensor, wanted) in [
        ("b = 1200", "b = 700", "damper", "body.f", 1200.0),
        ("b = 1200", "b = 700", "damper", "leg.f", 1200.0),
        (
            "k = 20 [kN/m]",
            "k = 31 [kN/m]",
            "spring",
            "body.f",
            1.0 / 20e3,
        ),
        ("m = 300", "m = 250", "mass", "body.f", 300.0),
        ("mt = 40", "mt = 60", "hub", "wheel.f", 40.0),
        ("kt = 180", "kt = 100", "tyre", "ground.e", 1.0 / 180e3),
    ] {
        let text = CAR.replace(parameter, wrong);
        assert!(text != CAR);
        let found = estimated(&text, ["v", sensor], &[element], &data)
            .unwrap_or_else(|e| panic!("{element}: {e}"));
        let value = found.list[0].value;
        assert!(
            (value / wanted - 1.0).abs() < 1e-4,
            "{element} from {sensor}: {value} not {wanted}, {:?}",
            found.list
        );
        assert!((found.list[0].given.expect("a number") / wanted - 1.0).abs() > 0.1);
    }
}

/// Two elements at once from two sensors.
#[test]
fn two_sensors_tell_two_elements() {
    let text = "units strict
model Pair {
    input F = 3 [N]*sin(4 [rad/s]*time)
    push: Se(F) -> v1: 1 -> m1: I(2 [kg]), b1: R(0.7 [N*s/m])
    v1 -> gap: 0 -> spring: C(0.02 [m/N])
    gap -> v2: 1 -> m2: I(1 [kg]), b2: R(1.9 [N*s/m])
}
experiment e of Pair { stop = 6 [s]; output_step = 10 [ms]; rtol = 1e-11; record v1.f, v2.f }
";
    let data = data(text);
    let wrong = text.replace("0.7 [N", "2.7 [N").replace("1.9 [N", "0.9 [N");
    let found = estimated(&wrong, ["F", "v1.f,v2.f"], &["b1", "b2"], &data);
    let found = found.unwrap_or_else(|e| panic!("{e}"));
    for (estimate, wanted) in found.list.iter().zip([0.7, 1.9]) {
        assert!(
            (estimate.value / wanted - 1.0).abs() < 1e-4,
            "{:?}",
            found.list
        );
        assert_eq!(estimate.unit, "N*s/m");
    }
}

/// Known inputs come from the data where it has them.
#[test]
fn measured_inputs_are_used() {
    let recorded = CAR.replace("record body.f", "record v, body.f");
    let data = data(&recorded);
    let text = CAR.replace("b = 1200", "b = 700").replace(
        "v = 0.3 [m/s]*sin(9 [rad/s]*time) + 0.2 [m/s]*sin(23 [rad/s]*time)",
        "v = 0 [m/s]",
    );
    let found =
        estimated(&text, ["v", "body.f"], &["damper"], &data).unwrap_or_else(|e| panic!("{e}"));
    assert!(
        (found.list[0].value / 1200.0 - 1.0).abs() < 1e-3,
        "{:?}",
        found.list
    );
}

/// Noise gives a deviation that says how far off the value is.
#[test]
fn the_deviation_tells_the_noise() {
    let text = "model M { input u = sin(3*time)
        drive: Se(u) -> v: 1 -> m: I(2), b: R(0.7), s: C(0.5) }
    experiment e of M { stop = 10; output_step = 0.05; rtol = 1e-11; record v.f }";
    let mut data = data(text);
    let mut dice = Dice(5);
    for x in &mut data.columns[0].values {
        *x += 1e-4 * ((dice.next() >> 11) as f64 / (1u64 << 53) as f64 - 0.5);
    }
    let found = estimated(&text.replace("R(0.7)", "R(2)"), ["u", "v.f"], &["b"], &data)
        .unwrap_or_else(|e| panic!("{e}"));
    let b = &found.list[0];
    assert!((b.value - 0.7).abs() < 4.0 * b.deviation, "{b:?}");
    assert!(b.deviation > 1e-6 && b.deviation < 0.05, "{b:?}");
    assert_eq!(found.differentiations, [1]);
}

/// Law: on random linear graphs the resistance follows from what a sensor measures, or is refused with a reason.
#[test]
fn random_graphs_tell_their_resistors_or_say_why_not() {
    let (mut n_told, mut n_refused) = (0, 0);
    for seed in cases(60) {
        let random = random_graph(seed, 0);
        let Some(resistor) = first_resistor(&random.text) else {
            continue;
        };
        let sensor = random.to.split(',').next().unwrap_or_default().to_owned();
        if sensor.is_empty() {
            continue;
        }
        let input = random.from.split(',').next().unwrap_or_default().to_owned();
        let experiment = format!(
            "experiment e of M {{ stop = 4; output_step = 0.02; rtol = 1e-11; record {sensor} }}\n"
        );
        let driven = random.text.replace("(1) ->", "(sin(2*time)) ->");
        let text = format!("{driven}{experiment}");
        let Ok(model) = try_design(&text, "", "") else {
            continue;
        };
        let Ok(outcome) = run(&model, &RunChoice::default(), &mut |_| {
            ControlFlow::Continue(())
        }) else {
            continue;
        };
        let (name, size) = resistor;
        let wrong = text.replacen(&format!("{name}: R({size})"), &format!("{name}: R(3.3)"), 1);
        assert!(wrong != text);
        match estimated(&wrong, [&input, &sensor], &[&name], &outcome.run.table) {
            Ok(found) => {
                let value = found.list[0].value;
                let wanted: f64 = size.parse().expect("a number");
                assert!(
                    (value / wanted - 1.0).abs() < 2e-2,
                    "{seed}: {value} {wanted} {:?}\n{text}",
                    found
                );
                n_told += 1;
            }
            Err(why) => {
                assert!(
                    why.contains("E0863") || why.contains("E0857") || why.contains("E0856"),
                    "{seed}: {why}\n{text}"
                );
                n_refused += 1;
            }
        }
    }
    assert!(n_told > 8 && n_refused > 3, "{n_told} {n_refused}");
}

fn first_resistor(text: &str) -> Option<(String, String)> {
    let (before, after) = text.split_once(": R(")?;
    let name = before
        .rsplit(|c: char| c.is_whitespace() || c == ',')
        .next()?;
    let size = after.split_once(')')?.0;
    Some((name.to_owned(), size.to_owned()))
}

/// What is not there is said.
#[test]
fn what_the_data_does_not_tell_is_refused() {
    let text = "model M { input u = 1
        drive: Se(u) -> a: 1 -> m: I(2), b: R(0.7)
        other: Se(1) -> c: 1 -> n: I(1), d: R(1), wall: R { e = f^3 }
        c -> far: 0 -> s1: C(1)
        far -> t: 1 -> m2: I(1)
        t -> g: 0 -> s2: C(1), leak: R(5)
        g -> h: 1 -> m3: I(1)
        h -> z: 0 -> s4: C(1), r4: R(1) }
    experiment e of M { stop = 1; output_step = 0.01; record a.f, c.f, z.e }";
    let data = data(text);
    for (sensors, elements, why) in [
        ("a.f", &["d"][..], "reaches no sensor"),
        ("a.f", &["wall"], "not that of one size"),
        ("a.f", &["nothing"], "no element of this name"),
        ("a.f", &["a"], "no R, C or I"),
        ("a.f", &["b", "m"], "2 elements to estimate, and 1 sensor"),
        ("a.f,c.f", &["b", "m"], "without the laws of `b`, `m`"),
        ("z.e", &["d"], "differentiated"),
        ("g.e", &["leak"], "no column `g.e`"),
    ] {
        let found = estimated(text, ["u", sensors], elements, &data);
        let said = found.expect_err("refused");
        assert!(said.contains(why), "{elements:?} from {sensors}: {said}");
    }
    let still = text.replace("input u = 1", "input u = 0");
    let mut rest = data.clone();
    rest.columns[0].values.iter_mut().for_each(|x| *x = 0.0);
    let said = estimated(&still, ["u", "a.f"], &["b"], &rest).expect_err("nothing moves");
    assert!(said.contains("does not move"), "{said}");
}
