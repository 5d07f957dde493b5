//! Laws of inversion: what the inverse needs gives what was wanted.

mod kit;

use kit::{cases, random_graph, try_design_wanting};
use paynter::syntax::render;
use paynter_structure::{Inverse, Subject, ask, inverse};

fn inverted(text: &str, ports: [&str; 3]) -> Result<Inverse, String> {
    let design =
        try_design_wanting(text, ports).map_err(|f| render(&f.diagnostics, &f.sources, false))?;
    let said = |m: Vec<_>| render(&m, &design.project.sources, false);
    let compiled = design.compile().map_err(said)?;
    let subject = Subject::new(&design, ask(&design, None)).map_err(said)?;
    inverse(&subject, &compiled, &design.linear.want).map_err(said)
}

/// Two copies of a plant: the first is driven, the second is asked for the input that makes it follow the first.
fn twins(parts: &str, input: &str) -> String {
    format!(
        "model Plant {{ {parts} }}
        model Twins {{
            input needed = 0
            first: Plant(u = {input})
            second: Plant(u = needed)
            given = {input}
        }}
        experiment e of Twins {{ stop = 3 [s]; rtol = 1e-11; record given }}"
    )
}

/// The largest difference between the needed input and the one that was given.
fn error(found: &Inverse, given: impl Fn(f64) -> f64) -> f64 {
    let column = &found.table.columns[0];
    let pairs = found.table.time.iter().zip(&column.values);
    pairs
        .map(|(t, u)| (u - given(*t)).abs())
        .fold(0.0, f64::max)
}

#[test]
fn the_inverse_undoes_the_model() {
    let tanks = "input u = 0
        pump: Sf(u) -> t1: 0 -> c1: C(1)
        t1 -> pipe: 1 -> r1: R(3)
        pipe -> t2: 0 -> c2: C(2), r2: R(4)
        output y = t2.e";
    let motor = "input u = 0
        supply: Se(u) -> coil: 1 -> l: I(0.1), r: R(2)
        coil -> GY(0.5) -> rotor: 1 -> j: I(0.3), d: R(0.2)
        output y = rotor.f";
    let hardening = "input u = 0
        push: Se(u) -> v: 1 -> m: I(2), d: R { e = f + f^3 }, s: C { e = q + q^3 }
        output y = s.q";
    for (parts, order) in [(tanks, 2), (motor, 2), (hardening, 2)] {
        let text = twins(parts, "sin(2*time) + 0.5*time");
        let found =
            inverted(&text, ["needed", "second.y", "first.y"]).unwrap_or_else(|e| panic!("{e}"));
        assert_eq!(found.differentiations, [order]);
        let worst = error(&found, |t| (2.0 * t).sin() + 0.5 * t);
        assert!(worst < 1e-8, "{worst:e} for {parts}");
    }
}

#[test]
fn an_algebraic_loop_in_the_inverse_is_solved() {
    // The current of a source is wanted behind resistors in a loop: nothing is integrated on the way.
    let parts = "input u = 0
        supply: Se(u) -> in: 1 -> r0: R(1), n: 0
        n -> r1: R(2), b: 1
        b -> r2: R { e = f + f^3 }, c: C(1)
        output y = in.f";
    let text = twins(parts, "sin(2*time) + 0.5*time");
    let found =
        inverted(&text, ["needed", "second.y", "first.y"]).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(found.differentiations, [0]);
    let worst = error(&found, |t| (2.0 * t).sin() + 0.5 * t);
    assert!(worst < 1e-8, "{worst:e}");
}

#[test]
fn two_inputs_follow_two_wanted_curves() {
    let parts = "input u = 0, w = 0
        a: Se(u) -> x: 1 -> m: I(1), r: R(1)
        x -> g: 0 -> c: C(2), s: R(3)
        b: Sf(w) -> g
        output y = x.f, z = g.e";
    let text = format!(
        "model Plant {{ {parts} }}
        model Twins {{
            input left = 0, right = 0
            first: Plant(u = sin(time), w = cos(3*time))
            second: Plant(u = left, w = right)
        }}
        experiment e of Twins {{ stop = 3 [s]; rtol = 1e-11; record first.y }}"
    );
    let found = inverted(
        &text,
        ["left, right", "second.y, second.z", "first.y, first.z"],
    );
    let found = found.unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(found.differentiations, [1, 1]);
    assert!(error(&found, f64::sin) < 1e-8);
    let second = &found.table.columns[1];
    let pairs = found.table.time.iter().zip(&second.values);
    let worst = pairs
        .map(|(t, w)| (w - (3.0 * t).cos()).abs())
        .fold(0.0, f64::max);
    assert!(worst < 1e-8, "{worst:e}");
}

/// Both outputs feel the first input first, so that no static feedback decouples them. What is left to integrate is the capacitor behind the
/// speeds, with its resistor: a zero at −1/(R C).
#[test]
fn outputs_that_cannot_be_decoupled_are_inverted_with_their_zeros() {
    let text = |r: f64| {
        format!(
            "model M {{
                input u = 0, w = 0
                a: Se(u) -> x: 1 -> m1: I(1)
                x -> g: 0 -> k: C(2)
                g -> y: 1 -> m2: I(3)
                b: Se(w) -> y
                y -> h: 0 -> c2: C(0.5), r2: R({r}) unpowered
                output v = x.f, z = x.f + k.q
            }}
            experiment e of M {{ stop = 2 [s]; rtol = 1e-11; record v }}"
        )
    };
    let found = inverted(
        &text(4.0),
        ["u, w", "v, z", "sin(time), sin(time) + time^2"],
    );
    let found = found.unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(found.zeros.len(), 1);
    let zero = found.zeros[0];
    assert!(
        (zero.re + 0.5).abs() < 1e-9 && zero.im.abs() < 1e-9,
        "{zero:?}"
    );
    // v = sin t, q = t²: the spring pulls with t²/2, so u = cos t + t²/2.
    assert!(error(&found, |t| t.cos() + t * t / 2.0) < 1e-8);
    let grows = inverted(
        &text(-4.0),
        ["u, w", "v, z", "sin(time), sin(time) + time^2"],
    );
    assert!(grows.expect_err("a zero at 0.5").contains("E0857"));
}

/// The first input of a random tree is asked for the curve that the first output of its twin has.
#[test]
fn the_inverse_undoes_random_models_or_says_why_not() {
    let (mut n_undone, mut n_unstable) = (0, 0);
    for seed in cases(150) {
        let graph = random_graph(seed, 0);
        let first = |names: &str| names.split(", ").next().unwrap_or_default().to_owned();
        let body = graph.text.replacen("model M {", "", 1);
        let body = body.trim_end().trim_end_matches('}');
        let body = ["Se", "Sf"].iter().fold(body.to_owned(), |body, kind| {
            body.replace(&format!("s0: {kind}(1)"), &format!("s0: {kind}(u)"))
        });
        let parts = format!("input u = 0\n{body}\noutput y = {}\n", first(&graph.to));
        let text = twins(&parts, "sin(2*time) + 0.5*time");
        match inverted(&text, ["needed", "second.y", "first.y"]) {
            Ok(found) => {
                let worst = error(&found, |t| (2.0 * t).sin() + 0.5 * t);
                assert!(worst < 1e-8, "seed {seed}: {worst:e}\n{text}");
                // The twin begins where the first one does.
                let other = found.warnings.iter().find(|w| w.code == "W0865");
                assert!(other.is_none(), "seed {seed}: {other:?}\n{text}");
                n_undone += 1;
            }
            Err(why) if why.contains("E0857") => n_unstable += 1,
            // No causality for the plant itself, or no way from the input to the output.
            Err(why) => assert!(
                why.contains("E0856") || !is_regular(&graph.text),
                "seed {seed}: {why}\n{text}"
            ),
        }
    }
    assert!(n_undone > 40, "{n_undone} undone, {n_unstable} unstable");
}

fn is_regular(text: &str) -> bool {
    let design = try_design_wanting(text, ["", "", ""]);
    design.is_ok_and(|d| d.compile().is_ok())
}

const TANKS: &str = "model Tanks {
    pump: Sf(1) -> t1: 0 -> c1: C(1)
    t1 -> pipe: 1 -> r1: R(3)
    pipe -> t2: 0 -> c2: C(2), r2: R(4)
}
experiment e of Tanks { stop = 2 [s]; rtol = 1e-10; record t2.e }";

#[test]
fn needed_flow_and_power_are_those_of_the_formula() {
    // y = t³: u = C1 ṗ1 + (p1 − p2)/R1 with p1 = y + R1 (C2 ẏ + y/R2).
    let found = inverted(TANKS, ["pump.f", "t2.e", "time^3"]).unwrap_or_else(|e| panic!("{e}"));
    let p1 = |t: f64| t.powi(3) + 3.0 * (6.0 * t * t + t.powi(3) / 4.0);
    let rate = |t: f64| 3.0 * t * t + 3.0 * (12.0 * t + 0.75 * t * t);
    let u = |t: f64| rate(t) + (p1(t) - t.powi(3)) / 3.0;
    assert!(error(&found, u) < 1e-8 * u(2.0));
    let power = &found.actuators[0].sources[0];
    assert!((power.peak - p1(2.0) * u(2.0)).abs() < 1e-9 * power.peak);
    // ∫p1 u dt by Simpson's rule, which is exact to 1e-13 here.
    let power_at = |t: f64| p1(t) * u(t);
    let h = 1e-3;
    let simpson = |k: u32| {
        let t = h * f64::from(k);
        h / 6.0 * (power_at(t) + 4.0 * power_at(t + h / 2.0) + power_at(t + h))
    };
    let energy: f64 = (0..2000).map(simpson).sum();
    assert!((power.energy() - energy).abs() < 1e-9 * energy);
    assert!(found.warnings.is_empty(), "{:?}", found.warnings);
}

/// An `input` that sets a source, by itself or through a gain: the power is that of the source. Half of the energy that an ideal spring is given comes
/// back in each period.
#[test]
fn an_actuator_is_sized_by_the_power_of_its_source() {
    for (law, gain) in [("u", 1.0), ("5*u", 5.0)] {
        let text = format!(
            "model M {{
                input u = 0
                drive: Se({law}) -> v: 1 -> s: C(0.5)
            }}
            experiment e of M {{ stop = 6.283185307179586 [s]; rtol = 1e-10; record s.q }}"
        );
        let found = inverted(&text, ["u", "s.q", "sin(time)"]).unwrap_or_else(|e| panic!("{e}"));
        let actuator = &found.actuators[0];
        let power = &actuator.sources[0];
        assert_eq!(power.source, "drive");
        // u = 2 sin t/gain, power 2 sin t cos t.
        assert!((actuator.range.1 * gain - 2.0).abs() < 1e-9, "{actuator:?}");
        for (found, expected) in [
            (power.peak, 1.0),
            (power.braking, 1.0),
            (power.given, 2.0),
            (power.taken, 2.0),
            (power.energy(), 0.0),
        ] {
            assert!((found - expected).abs() < 1e-8, "{power:?}");
        }
    }
}

/// Where the curves begin with values that the model does not start from, a warning says so: reaching them would take an
/// impulse.
#[test]
fn a_curve_that_begins_elsewhere_is_told() {
    let said = |start: &str, want: &str| {
        let text = TANKS.replace("record", &format!("{start} record"));
        let found = inverted(&text, ["pump.f", "t2.e", want]).unwrap_or_else(|e| panic!("{e}"));
        let other = found.warnings.into_iter().find(|w| w.code == "W0865");
        other.map(|w| w.notes.join("; "))
    };
    // From empty tanks: value and slope are those of the model, and only then.
    assert_eq!(said("", "time^2"), None);
    let jumps = said("", "1").expect("it begins at 1");
    assert!(jumps.contains("`c1.q` at 1.75 (the model: 0)"), "{jumps}");
    assert!(jumps.contains("`c2.q` at 2 (the model: 0)"), "{jumps}");
    let bends = said("", "time").expect("its slope is 1");
    assert!(
        bends.contains("`c1.q`") && !bends.contains("`c2.q`"),
        "{bends}"
    );
    // From full ones.
    assert_eq!(said("start c1.q = 1.75, c2.q = 2;", "1 + time^2"), None);
    assert!(said("start c1.q = 1.75, c2.q = 2;", "time^2").is_some());
}

/// The state of the inverse begins where the model does: a spring under load, which the wanted speed does not tell.
#[test]
fn what_curves_leave_free_begins_where_the_model_does() {
    let text = "model M {
        input u = 0
        push: Se(u) -> v: 1 -> m: I(2), s: C(0.25), load: Se(-3)
        start s.q = -0.7
    }
    experiment e of M { stop = 2 [s]; rtol = 1e-10; record v.f }";
    let found = inverted(text, ["u", "v.f", "sin(time)"]).unwrap_or_else(|e| panic!("{e}"));
    assert!(found.warnings.is_empty(), "{:?}", found.warnings);
    let worst = error(&found, |t| {
        2.0 * t.cos() + 4.0 * (-0.7 + 1.0 - t.cos()) - 3.0
    });
    assert!(worst < 1e-8, "{worst:e}");
}

#[test]
fn a_curve_may_have_corners_only_in_its_highest_derivative() {
    let refused = |want: &str| {
        inverted(TANKS, ["pump.f", "t2.e", want])
            .err()
            .unwrap_or_default()
    };
    assert!(refused("if time > 1 then 1 else 0").contains("it jumps at 1.0"));
    assert!(refused("if time > 1 then time - 1 else 0").contains("its slope jumps"));
    assert_eq!(refused("if time > 1 then (time - 1)^2 else 0"), "");
    assert!(refused("sin(time), cos(time)").contains("E0856"));
}
