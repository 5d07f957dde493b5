//! Angles of joints count turns: springs on them act as closed forms say, at any start, through many turns.

use crate::kit::{assert_close, column, last, messages, run_text};
use std::f64::consts::PI;

/// A bar on a hinge with a spring on its angle: J φ″ = −k φ, J = m l²/3.
fn sprung(start: &str, rate: f64, settings: &str, axis: &str) -> String {
    format!(
        "use mechanics3d: World, Rod, Revolute
        units strict
        model Spin {{
            world: World(gravity = [0, 0, 0] [m/s^2])
            bar: Rod(m = 1 [kg], l = 0.5 [m])
            world => top: Revolute(axis = {axis}) => bar.a
            spring: Se(-0.01 [N*m/rad]*top.angle) -> top.turn
            start top.angle = {start}, top.turn.f = {rate} [rad/s]
        }}
        experiment e of Spin {{ stop = 6 [s]; rtol = 1e-9; {settings} record top.angle as a, top.turn.f as w }}"
    )
}

#[test]
fn a_spring_on_a_hinge_winds_up_through_many_turns() {
    // About the axis across the bar it has m l²/3; the amplitude is more than three turns.
    let (k, j) = (0.01_f64, 0.25 / 3.0);
    let omega = (k / j).sqrt();
    for degrees in [180.0, 370.0, -1000.0] {
        for axis in ["[0, 0, 1]", "[0, 1, 1]"] {
            let text = sprung(&format!("{degrees} [deg]"), 7.0, "", axis);
            let outcome = run_text(&text);
            let start = degrees * PI / 180.0;
            let times = &outcome.run.table.time;
            for (&t, &angle) in times.iter().zip(column(&outcome, "a")) {
                let exact = start * (omega * t).cos() + 7.0 / omega * (omega * t).sin();
                assert_close(angle, exact, 1e-5);
            }
        }
    }
}

#[test]
fn turns_are_counted_however_constraints_are_enforced() {
    for constraints in ["minimal", "implicit", "multiplier"] {
        let settings = format!("constraints = {constraints};");
        let outcome = run_text(&sprung("90 [deg]", 6.0, &settings, "[0, 0, 1]"));
        let omega = (0.12_f64).sqrt();
        let exact = PI / 2.0 * (omega * 6.0).cos() + 6.0 / omega * (omega * 6.0).sin();
        assert_close(last(&outcome, "a"), exact, 1e-5);
        let audit = outcome.run.audit.expect("the run has an audit");
        assert!(audit.is_good(), "{audit:?}");
    }
}

#[test]
fn the_angle_stays_with_the_orientation_over_a_hundred_turns() {
    let text = "use mechanics3d: World, Rod, Revolute, ez
        units strict
        model Spin {
            world: World(gravity = [0, 0, 0] [m/s^2])
            bar: Rod(m = 1 [kg], l = 0.5 [m])
            world => top: Revolute(axis = ez) => bar.a
            start top.angle = 0 [deg], top.turn.f = 6.283185307179586 [rad/s]
            output beside = cos(top.angle) - bar.A[1,1]
        }
        experiment e of Spin { stop = 100 [s]; rtol = 1e-8; record top.angle as a, beside }";
    let outcome = run_text(text);
    assert_close(last(&outcome, "a") / (2.0 * PI), 100.0, 1e-3);
    for &x in column(&outcome, "beside") {
        assert_close(x, 0.0, 1e-6);
    }
}

#[test]
fn an_angle_follows_the_body_where_nobody_gives_it() {
    let text = "use mechanics3d: World, Rod, Revolute, ez
        units strict
        model Back {
            world: World(gravity = [0, 0, 0] [m/s^2])
            bar: Rod(m = 1 [kg], l = 0.5 [m])
            world => top: Revolute(axis = ez) => bar.a
            start bar.Q = [0, 0, 0, 1], top.turn.f = -1 [rad/s]
        }
        experiment e of Back { stop = 10 [s]; rtol = 1e-9; record top.angle as a }";
    let outcome = run_text(text);
    let angles = column(&outcome, "a");
    assert_close(angles[0].abs(), PI, 1e-9);
    assert_close(angles[angles.len() - 1] - angles[0], -10.0, 1e-6);
    // Half a turn away from the axes, where the angle of the body jumps, nothing does.
    assert!(angles.windows(2).all(|w| (w[1] - w[0]).abs() < 0.1));
}

#[test]
fn unwrap_counts_the_turns_of_any_angle() {
    let text = "model M {
            param w = 7
            raw = atan2(sin(w*time + 1), cos(w*time + 1))
            output whole = unwrap(raw, rate = w), also = unwrap(raw, w)
        }
        experiment e of M { stop = 30; record whole, also }";
    let outcome = run_text(text);
    for (&t, &x) in outcome.run.table.time.iter().zip(column(&outcome, "whole")) {
        assert_close(x, 7.0 * t + 1.0, 1e-9);
    }
    assert_eq!(column(&outcome, "whole"), column(&outcome, "also"));
}

#[test]
fn unwrap_says_what_it_needs() {
    for call in [
        "unwrap(time)",
        "unwrap(1, 2, 3)",
        "unwrap(1, speed = 2)",
        "unwrap(1 [m], 2 [m/s])",
    ] {
        let text = format!("model M {{ output x = {call} }}\nexperiment e of M {{ stop = 1 }}");
        let (found, text) = messages(&text);
        assert_eq!(found.len(), 1, "{text}");
        assert!(text.contains("E0205"), "{text}");
    }
}
