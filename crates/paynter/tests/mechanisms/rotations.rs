//! Rotations work in both directions: their inverse is their transpose.
//!
//! In:  masses, resistors and sources on both sides of random rotations, one behind the other.
//! Out: every mass keeps its state whichever side it is on, and a rotation written the other way round gives the
//!      same motion; what is not a rotation works in the direction in which it is written only.

use crate::kit::{self, Seeded, design, distance, run_text};

/// One to three turns about axes of the body, by angles that grow.
fn rotation(random: &mut Seeded) -> String {
    let turns: Vec<String> = (0..1 + random.below(3))
        .map(|_| {
            let axis = ["x", "y", "z"][random.below(3)];
            let (start, rate) = (random.between(-3.0, 3.0), random.between(-1.5, 1.5));
            format!("rot_{axis}({start:.3} + {rate:.3}*time)")
        })
        .collect();
    turns.join("*")
}

/// Velocities v0, v1, …, each turned against the one before; a mass on one of them and a push on another.
fn chain(seed: u64, is_turned_round: impl Fn(usize) -> bool) -> String {
    let mut random = Seeded(seed);
    let n = 2 + random.below(3);
    let mut text = String::from("model M {\n");
    (0..n).for_each(|k| text += &format!("v{k}: 1[3]\n"));
    for k in 1..n {
        let (before, r) = (k - 1, rotation(&mut random));
        text += &match is_turned_round(k) {
            false => format!("v{before} => TF({r}) => v{k}\n"),
            true => format!("v{k} => TF(({r})') => v{before}\n"),
        };
    }
    let (mass, push, loss) = (random.below(n), random.below(n), random.below(n));
    let m = random.between(0.5, 2.0);
    text += &format!("v{mass} => mass: I[3]({m:.3}*eye(3))\n");
    text += &format!("push: Se[3]([sin(time), 2, -time]) => v{push}\n");
    text += &format!("v{loss} => loss: R[3](0.4*eye(3))\n}}\n");
    text + "experiment x of M { stop = 3; rtol = 1e-10; atol = 1e-12; output_step = 0.1
        record mass.p[1] as p1, mass.p[2] as p2, mass.p[3] as p3, loss.e[1] as e1, push.f[2] as f2 }\n"
}

#[test]
fn a_mass_keeps_its_states_on_either_side_of_rotations() {
    for seed in 0..24 {
        for text in [
            chain(seed, |_| false),
            chain(seed, |_| true),
            chain(seed, |k| k % 2 == 0),
        ] {
            let causality = design(&text).causality();
            assert!(causality.is_complete(), "{text}");
            assert_eq!(causality.independent.len(), 3, "{text}");
            assert!(
                causality.dependent.is_empty() && causality.free.is_empty(),
                "{text}"
            );
            assert!(causality.reversed_moduli.is_empty(), "{text}");
            assert!(causality.storage_loops.is_empty(), "{text}");
        }
    }
}

#[test]
fn a_rotation_written_the_other_way_round_gives_the_same_motion() {
    for seed in 0..12 {
        let one = run_text(&chain(seed, |_| false));
        for text in [chain(seed, |_| true), chain(seed, |k| k % 2 == 0)] {
            let other = run_text(&text);
            for name in ["p1", "p2", "p3", "e1", "f2"] {
                let (a, b) = (kit::column(&one, name), kit::column(&other, name));
                assert!(
                    distance(a, b) < 1e-8 * (1.0 + kit::size(a)),
                    "{name}: {text}"
                );
            }
        }
    }
}

#[test]
fn what_is_no_rotation_stays_as_written() {
    // A shear has an inverse, but it is not its transpose.
    let text = |matrix: &str| {
        format!(
            "model M {{
                v0: 1[2]
                v1: 1[2]
                v0 => TF({matrix}) => v1
                v1 => mass: I[2](2*eye(2))
                push: Se[2]([1, 2]) => v0
            }}
            experiment x of M {{ stop = 1; record mass.p[1] as p1 }}"
        )
    };
    let kept = |matrix: &str| design(&text(matrix)).causality().independent.len();
    assert_eq!(kept("[cos(time), -sin(time); sin(time), cos(time)]"), 2);
    assert_eq!(kept("[cos(time), sin(time); sin(time), -cos(time)]"), 2);
    // Only the velocity that meets the entry 1 can be followed backwards.
    assert_eq!(kept("[1, sin(time); 0, 1 + cos(time)^2]"), 1);
}
