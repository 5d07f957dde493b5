//! `scalarize`: vector models in scalar bonds, the same trajectories.

mod kit;

use kit::{PATH, difference, ran, words, world};
use paynter_rewrite::{Rewritten, Wish, scalarize};

fn scalar(text: &str) -> Rewritten {
    let found = scalarize(&mut world(text), PATH, &Wish::default());
    let found = found.unwrap_or_else(|e| panic!("{text}\n{}", words(e)));
    assert!(found.holds(), "{:?}\n{}", found.proof, found.text);
    found
}

fn model(text: &str) -> &str {
    &text[..text.find("\n}").unwrap_or(text.len())]
}

#[test]
fn a_tumbling_body_is_a_ring_of_three_gyrators() {
    let text = "model Tumbler {
    param a = 1, b = 2, c = 3
    rate: 1[3] => i: I[3](diag([a, b, c]))
    rate => ejs: GY[3] { e = cross(f, i.p) }
    brake: 1 -> drag: R(0.1)
    brake -> rate.y
    output w: [3] = rate.f
}
experiment flip of Tumbler { start rate.x.f = 0.1, rate.y.f = 5; stop = 3; rtol = 1e-11; record w, drag.e, i.p as h }
";
    let found = scalar(text);
    let lines = model(&found.text);
    assert!(
        !lines.contains("=>") && !lines.contains("1[3]"),
        "{}",
        found.text
    );
    assert_eq!(lines.matches("GY(").count(), 3, "{lines}");
    assert!(
        difference(&ran(text), &ran(&found.text)) < 1e-9,
        "{}",
        found.text
    );
}

#[test]
fn two_rotations_carry_a_full_inertia() {
    // The flight table of Tiernego & van Dixhoorn 1979 in vectors, with an inner body that is not symmetric.
    let text = "model Table {
    param J: [3,3] = [2e-3, 5e-4, -3e-4; 5e-4, 8e-3, 4e-4; -3e-4, 4e-4, 6e-3]
    input M = 0
    outer: 1 -> iz3: I(20e-3)
    (_, _, outer) => TF(rot_y(beta)) => j32: 0[3] => w2: 1[3]
    w2 => i2: I[3](diag([12e-3, 16e-3, 14e-3]))
    w2 => e2: GY[3] { e = cross(f, i2.p) }
    b: 1 -> j32.y
    w2 => TF(rot_x(alpha)) => j21: 0[3] => w1: 1[3]
    w1 => i1: I[3](J)
    w1 => e1: GY[3] { e = cross(f, i1.p) }
    a: 1 -> j21.x
    Se(M) -> outer
    der(alpha) = a.f
    der(beta) = b.f
    start alpha = 0.7, beta = 0.7
}
experiment go of Table { with M = pulse(time, 0.1, from = 0.2, to = 0.4); stop = 1; rtol = 1e-11; record alpha, beta, outer.f, w1.f as w1, i1.p as h }
";
    let found = scalar(text);
    assert!(
        found.text.contains("TF(-sin(beta))")
            && found.text.contains("(w1_x, w1_y, w1_z) => i1: I[3](J)"),
        "{}",
        found.text
    );
    assert!(
        difference(&ran(text), &ran(&found.text)) < 1e-8,
        "{}",
        found.text
    );
}

#[test]
fn efforts_pass_a_rotation_the_other_way_round() {
    // Springs give efforts to both sides: the stroke asks for the structure of efforts.
    let text = "model M {
    a: 1[3] => m: I[3](diag([1, 2, 3]))
    a => k: C[3](diag([1, 1, 2]))
    z: 0[3] => c: C[3](eye(3))
    z => TF(rot_z(0.3)) => a
}
experiment go of M { start a.x.f = 1, a.y.f = 0.5; stop = 2; rtol = 1e-11; record a.f as w, c.q as q }
";
    let found = scalar(text);
    assert!(
        difference(&ran(text), &ran(&found.text)) < 1e-9,
        "{}",
        found.text
    );
}

#[test]
fn a_scalar_model_stays_as_it_is() {
    let text = "model M { Se(1) -> a: 1 -> m: I(1), r: R(1) }";
    let found = scalarize(&mut world(text), PATH, &Wish::default()).expect("it is read");
    assert!(found.steps.is_empty() && found.text == text);
}
