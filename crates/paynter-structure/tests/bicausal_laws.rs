//! Bicausal strokes: what they leave to integrate is what the zeros of the model say.

mod kit;

use kit::{cases, design, random_graph, try_design};
use paynter::syntax::Diagnostic;
use paynter_structure::{Bicausal, Subject, ask, bicausal, channels};

fn found(text: &str, from: &str, to: &str) -> Result<Bicausal, Vec<Diagnostic>> {
    let design = design(text, from, to);
    bicausal(&Subject::new(&design, ask(&design, None))?)
}

/// A model driven by voltage whose last speed is given: everything differentiates (Gawthrop 1995, on position control of a motor).
const MOTOR: &str = "model Motor {
    supply: Se(1) -> coil: 1 -> l: I(0.1), r: R(2)
    coil -> GY(0.5) -> rotor: 1 -> j: I(0.3), d: R(0.2)
}";

#[test]
fn a_motor_is_inverted_along_its_gyrator() {
    let found = found(MOTOR, "supply.e", "rotor.f").expect("there is a line");
    assert!(found.integral.is_empty(), "{found:?}");
    assert_eq!(found.derivative, ["l", "j"]);
    assert_eq!(found.names, [["rotor", "GY", "coil", "supply"]]);
    // From the sensor to the source against the half arrows: sensor → rotor is along its own.
    let ways: Vec<bool> = found.lines[0].iter().map(|l| l.is_to_head).collect();
    assert_eq!(ways, [true, false, false, false]);
}

#[test]
fn a_collocated_output_leaves_what_hangs_beside_it() {
    // The force on a cart whose own speed is given: the pendulum on it swings by itself.
    let text = "model Cart {
        push: Se(1) -> cart: 1 -> m: I(2)
        cart -> gap: 0 -> bob: 1 -> n: I(1)
        gap -> link: 1 -> k: C(3), d: R(0.1)
    }";
    let found = found(text, "push.e", "cart.f").expect("there is a line");
    assert_eq!(found.derivative, ["m"]);
    assert_eq!(found.integral, ["n", "k"]);
}

#[test]
fn on_trees_the_states_of_the_inverse_are_the_zeros() {
    let (mut n_compared, mut n_with_zeros) = (0, 0);
    for seed in cases(400) {
        let graph = random_graph(seed, 0);
        let first = |names: &str| names.split(", ").next().unwrap_or_default().to_owned();
        let (from, to) = (first(&graph.from), first(&graph.to));
        let Ok(design) = try_design(&graph.text, &from, &to) else {
            continue;
        };
        let Ok(compiled) = design.compile() else {
            continue;
        };
        let subject = Subject::new(&design, ask(&design, None)).expect("inputs are sources");
        let Ok(strokes) = bicausal(&subject) else {
            continue;
        };
        let Ok(exact) = channels(&subject, &compiled) else {
            continue;
        };
        let Some(n_zeros) = exact.n_zeros.filter(|_| exact.is_invertible()) else {
            continue;
        };
        // Storages that no input reaches or no output sees are states of the inverse, and zeros that cancel poles.
        assert!(
            strokes.integral.len() >= n_zeros,
            "{strokes:?}\n{}",
            graph.text
        );
        if exact.channels[0].order == exact.n_states {
            assert_eq!(
                strokes.integral.len(),
                n_zeros,
                "{:?} {:?}\n{}",
                strokes.integral,
                strokes.derivative,
                graph.text
            );
            n_compared += 1;
            n_with_zeros += usize::from(n_zeros > 0);
        }
    }
    assert!(
        n_compared > 60 && n_with_zeros > 20,
        "{n_compared} {n_with_zeros}"
    );
}

#[test]
fn two_pairs_have_lines_without_a_common_junction() {
    let text = "model Two {
        a: Se(1) -> x: 1 -> m: I(1), r: R(1)
        x -> g: 0 -> c: C(2), s: R(3)
        b: Sf(1) -> g
    }";
    let both = found(text, "a.e, b.f", "x.f, g.e").expect("each at its own junction");
    assert!(both.integral.is_empty());
    assert_eq!(both.lines.len(), 2);
    // One junction cannot pass on two pairs.
    let text = "model One {
        a: Se(1) -> x: 1 -> m: I(1), r: R(1)
        b: Se(2) -> x
        x -> g: 0 -> c: C(2), s: R(3)
        g -> y: 1 -> n: I(1), t: R(1)
    }";
    let refused = found(text, "a.e, b.e", "g.e, y.f").expect_err("both lines need x");
    assert_eq!(refused[0].code, "E0862");
}

#[test]
fn what_no_junction_shares_is_refused() {
    let refused = found(MOTOR, "supply.e", "j.p").expect_err("a momentum");
    assert_eq!(refused[0].code, "E0860");
}
