//! `scalarize`: vector models in scalar bonds, the same trajectories.

mod kit;

use kit::{Dice, PATH, cases, difference, ran, words, world};
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
fn a_flow_of_a_vector_junction_may_be_a_state() {
    // Tiernego & Bos 1985, fig. 9: nothing but the turned mass gives the velocity in the hole.
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../gallery/disc");
    let text = std::fs::read_to_string(format!("{folder}/disc_multibond.bond"));
    let text = text.expect("the gallery has it");
    let lines = text.lines().filter(|l| !l.contains("compare "));
    let text: String = lines.map(|l| format!("{l}\n")).collect();
    let found = scalar(&text);
    assert!(!model(&found.text).contains("=>"), "{}", found.text);
    assert!(
        difference(&ran(&text), &ran(&found.text)) < 1e-9,
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

/// A tree of bodies with vector bonds: turned by rotations about moving axes, by fixed matrices, or held at a joint with an axis
/// of its own; springs, dampers, rings and forces on them.
fn random_bodies(seed: u64) -> String {
    let dice = &mut Dice(seed.wrapping_mul(0x51a5_38b1).wrapping_add(3));
    let n = 1 + dice.below(3);
    let mut text = "model M {\n    param c = 0.3\n    w0: 1[3] => i0: I[3](diag([1, 2, 1.5]))\n    der(a0) = w0.x.f\n".to_owned();
    let mut record = vec!["w0.f as f0".to_owned(), "a0".to_owned()];
    for k in 1..=n {
        let (from, angle) = (dice.below(k), dice.below(k));
        let matrix = [
            format!("rot_x(a{angle})"),
            format!("rot_y(c)*rot_z(a{angle})"),
            format!("rot_z({})", dice.value()),
            "[1, 0.2, 0; c, 1.5, 0; 0, -0.4, 1]".to_owned(),
            "-skew([0.3, -0.2, c])".to_owned(),
            "-eye(3)".to_owned(),
        ][dice.below(6)]
        .clone();
        if dice.rarely(2) {
            // A joint: the body turns about x by itself.
            text += &format!(
                "    w{from} => TF({matrix}) => z{k}: 0[3] => w{k}: 1[3]\n    s{k}: 1 -> z{k}.x\n    s{k} -> r{k}: R(0.2)\n    der(a{k}) = s{k}.f\n"
            );
            record.push(format!("s{k}.f as s{k}"));
        } else {
            text +=
                &format!("    w{from} => TF({matrix}) => w{k}: 1[3]\n    der(a{k}) = w{k}.y.f\n");
        }
        let inertia = [
            format!("diag([{}, 0.7, {}])", dice.value(), dice.value()),
            "[2, 0.3, 0.1; 0.3, 1.4, -0.2; 0.1, -0.2, 1.1]".to_owned(),
        ][dice.below(2)]
        .clone();
        text += &format!("    w{k} => i{k}: I[3]({inertia})\n");
        record.push(format!("a{k}"));
        record.push(format!("w{k}.f as f{k}"));
    }
    for k in 0..=n {
        if dice.rarely(2) {
            text += &format!("    w{k} => e{k}: GY[3] {{ e = cross(f, i{k}.p) }}\n");
        }
        if dice.rarely(3) {
            text += &format!("    w{k} => k{k}: C[3](diag([1, {}, 2]))\n", dice.value());
        }
        if dice.rarely(3) {
            text += &format!("    w{k} => d{k}: R[3](0.1*eye(3))\n");
        }
        if dice.rarely(3) {
            text += &format!("    Se(0.5*sin(3*time)) -> w{k}.z\n");
        }
    }
    text + &format!(
        "}}\nexperiment go of M {{\n    start w0.x.f = {}, w0.y.f = 0.4, w0.z.f = -0.3\n    stop = 0.5; output_step = 0.05; rtol = 1e-11\n    record {}\n}}\n",
        dice.value(),
        record.join(", ")
    )
}

#[test]
fn random_bodies_move_as_before() {
    let mut n_scalar = 0;
    let seeds = cases(40);
    let n_seeds = seeds.end - seeds.start;
    for seed in seeds {
        let text = random_bodies(seed);
        let found = scalar(&text);
        if model(&found.text).contains("[3] ") {
            continue;
        }
        n_scalar += 1;
        let apart = difference(&ran(&text), &ran(&found.text));
        assert!(apart < 1e-8, "{seed}: {apart:e}\n{text}\n{}", found.text);
    }
    assert!(2 * n_scalar > n_seeds, "{n_scalar} of {n_seeds}");
}
