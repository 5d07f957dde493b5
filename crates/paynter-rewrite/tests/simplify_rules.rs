//! Each rule of `simplify` on the smallest graph that shows it, and where its condition fails.

mod kit;

use kit::{difference, ran, simple, simple_by};

/// Lines of the model without blanks.
fn model(text: &str) -> String {
    let end = text.find("\n}").unwrap_or(text.len());
    let words: Vec<&str> = text[..end].split_whitespace().collect();
    words.join(" ")
}

fn has(text: &str, part: &str) -> bool {
    let found = simple(text);
    assert!(found.holds(), "{:?}", found.lines());
    let is_there = model(&found.text).contains(part);
    if !is_there {
        println!("{}", found.text);
    }
    is_there
}

#[test]
fn equal_junctions_are_merged_and_keep_the_name_that_is_read() {
    let text =
        "model M { Se(1) -> a: 1 -> b: 1 -> m: I(2), r: R(1)\n a -> c: C(1)\n output w = b.f }";
    assert!(has(text, "Se(1) -> b"));
    let found = simple(text);
    assert_eq!(found.map, [("a.f".to_owned(), "b.f".to_owned())]);
}

#[test]
fn a_junction_in_line_is_a_bond_but_not_one_with_both_arrows_out() {
    assert!(has(
        "model M { Se(1) -> a: 1 -> z: 0 -> r: R(1)\n z -> c: C(1)\n a -> m: I(1)\n z -> n: 1 -> k: I(2)\n}",
        "z -> k: I(2)"
    ));
    let both_out = "model M { a: 0 -> r: R(1), c: C(1)\n b: 0 -> k: C(2), s: R(3)\n j: 1 -> a\n j -> b\n Sf(1) -> a }";
    assert!(simple_by(both_out, &["junction"]).steps.is_empty());
}

#[test]
fn the_motor_seen_from_its_shaft_has_the_resistor_of_the_document() {
    // Tiernego & van Dixhoorn 1979: R = Rm + K²/Ra.
    let text = "model M { param K = 0.5, Ra = 2, Rm = 0.1, J = 0.02
        input u = 1
        supply: Se(u) -> coil: 1 -> ra: R(Ra)
        coil -> GY(K) -> rotor: 1 -> jm: I(J), rm: R(Rm)
        output i = coil.f }
        experiment go of M { stop = 1; rtol = 1e-11; record i, rotor.f, ra.e, supply.f }";
    let found = simple(text);
    assert!(found.holds(), "{:?}", found.lines());
    let lines = model(&found.text);
    assert!(
        lines.contains("R(Rm + K^2/Ra)") || lines.contains("R(K^2/Ra + Rm)"),
        "{lines}"
    );
    assert!(lines.contains("Se(K*u/Ra)"), "{lines}");
    assert!(difference(&ran(text), &ran(&found.text)) < 1e-9);
    // What the supply gives is not what the torque gives.
    let asks = text.replace("record i", "record system.supplied, i");
    let kept = simple(&asks);
    assert!(
        kept.refused.iter().any(|r| r.contains("system.supplied")),
        "{:?}",
        kept.refused
    );
}

#[test]
fn elements_move_over_two_ports() {
    let with = |far: &str| {
        format!(
            "model M {{ param n = 2, r = 3, v = 5\n Se(1) -> a: 1 -> m: I(1), b: R(1)\n a -> {far} }}"
        )
    };
    for (far, near) in [
        ("TF(n) -> x: R(v)", "R(n^2*v)"),
        ("TF(n) -> x: I(v)", "I(n^2*v)"),
        ("TF(n) -> x: C(v)", "C(v/n^2)"),
        ("GY(r) -> x: R(v)", "R(r^2/v)"),
        ("GY(r) -> x: I(v)", "C(v/r^2)"),
        ("GY(r) -> x: C(v)", "I(r^2*v)"),
        ("TF(sin(time)) -> x: R(v)", "R(sin(time)^2*v)"),
        ("TF(n) -> x: Se(v)", "Se(n*v)"),
        ("GY(r) -> x: Sf(v)", "Se(r*v)"),
    ] {
        let found = simple_by(&with(far), &["over"]);
        assert!(found.holds(), "{far}: {:?}", found.lines());
        assert!(model(&found.text).contains(near), "{far}: {}", found.text);
    }
    for far in [
        "TF(2 + sin(time)) -> x: I(v)",
        "GY(m.p) -> x: C(v)",
        "GY(m.p) -> x: Se(v)",
    ] {
        let found = simple_by(&with(far), &["over"]);
        assert!(found.steps.is_empty(), "{far}");
        assert!(
            found
                .refused
                .iter()
                .any(|r| r.contains("is not a constant")),
            "{far}: {:?}",
            found.refused
        );
    }
}

#[test]
fn start_values_move_with_the_element() {
    let text = "model M { param n = 2, r = 3
        a: 1 -> m: I(1), b: R(1)
        a -> TF(n) -> x: C(4)
        a -> GY(r) -> y: I(5) }
        experiment go of M { start x.q = 0.6, y.f = 0.2; stop = 2; rtol = 1e-11; record x.q, y.f, y.p, x.e, a.f }";
    let found = simple(text);
    assert!(found.holds(), "{:?}", found.lines());
    assert!(!found.text.contains("TF("), "{}", found.text);
    assert!(
        difference(&ran(text), &ran(&found.text)) < 1e-9,
        "{}",
        found.text
    );
}

#[test]
fn two_ports_in_a_row_are_one_unless_a_modulus_may_vanish() {
    let with = |between: &str| {
        format!(
            "model M {{ param n = 2, r = 3\n Se(1) -> a: 1 -> m: I(1), b: R(1)\n a -> {between} -> c: 1 -> k: I(2), d: R(1), h: C(1) }}"
        )
    };
    for (between, joined) in [
        ("TF(n) -> TF(0.25)", "TF(n*0.25)"),
        ("TF(n) -> GY(r)", "GY(n*r)"),
        ("GY(r) -> GY(n)", "TF(r/n)"),
        ("GY(r) -> TF(n)", "GY(r/n)"),
        ("TF(n) -> TF(1/n)", "Se(1) -> a: 1"),
    ] {
        let found = simple_by(&with(between), &["chain"]);
        assert!(
            found.holds() && model(&found.text).contains(joined),
            "{between}: {}",
            found.text
        );
    }
    for between in ["GY(r) -> GY(m.p)", "GY(r) -> TF(sin(time))"] {
        let found = simple_by(&with(between), &["chain"]);
        assert!(
            found.steps.is_empty() && !found.refused.is_empty(),
            "{between}"
        );
    }
}

#[test]
fn minus_one_turns_an_arrow() {
    let text =
        "model M { Se(1) -> a: 1 -> m: I(1), b: R(1)\n a -> TF(-1) -> z: 0 -> c: C(1), r: R(2) }";
    let found = simple(text);
    assert!(
        found.holds() && model(&found.text).contains("z -> a"),
        "{}",
        found.text
    );
}

#[test]
fn an_eulerian_ring_vanishes_for_equal_inertias_only() {
    let with = |j: [&str; 3]| {
        format!(
        "model M {{ param J = 2, K = 2\n wx: 1 -> ix: I({})\n wy: 1 -> iy: I({})\n wz: 1 -> iz: I({})
        wx -> GY(iz.p) -> wy -> GY(ix.p) -> wz -> GY(iy.p) -> wx\n Se(1) -> wx }}", j[0], j[1], j[2]
    )
    };
    let found = simple(&with(["J", "J", "J"]));
    assert!(
        found.holds() && !found.text.contains("GY(iz"),
        "{}",
        found.text
    );
    // K has the same value now, which is no reason.
    let kept = simple(&with(["J", "J", "K"]));
    assert!(model(&kept.text).contains("GY(iz.p)"), "{}", kept.text);
}

#[test]
fn sources_of_zero_hold_their_junctions() {
    let text = "model M { param n = 2
        lock: Sf(0) -> still: 1 -> i: I(1), r: R(2)
        still -> TF(n) -> z: 0
        a: 1 -> z -> b: 1 -> k: I(1), d: R(1)
        Se(1) -> a
        g: Se(0) -> earth: 0
        b -> earth
        output zero = still.f }
        experiment go of M { stop = 1; rtol = 1e-11; record k.f, zero, i.p }";
    let found = simple(text);
    assert!(found.holds(), "{:?}", found.lines());
    assert!(
        !found.text.contains("lock:") && !found.text.contains("earth:"),
        "{}",
        found.text
    );
    assert!(difference(&ran(text), &ran(&found.text)) < 1e-9);
    // The reaction of the lock has no image.
    let kept = simple(&text.replace("record k.f", "record lock.e, k.f"));
    assert!(
        kept.text.contains("lock:") && kept.refused.iter().any(|r| r.contains("lock.e")),
        "{:?}",
        kept.refused
    );
}

#[test]
fn springs_in_series_with_start_values_stay() {
    let text = "model M { a: 1 -> m: I(1), c1: C(1), c2: C(2), r: R(1) }
        experiment go of M { start m.f = 1; stop = 3; rtol = 1e-11; record c1.e, c2.q, a.f }";
    let found = simple(text);
    assert!(
        found.holds() && model(&found.text).contains("C(2/(1 + 2))"),
        "{}",
        found.text
    );
    assert!(difference(&ran(text), &ran(&found.text)) < 1e-9);
    let kept = simple(&text.replace("start m.f = 1", "start m.f = 1, c1.q = 0.5"));
    assert!(
        kept.steps.is_empty()
            && kept
                .refused
                .iter()
                .any(|r| r.contains("constant would be lost")),
        "{:?}",
        kept.refused
    );
}

#[test]
fn locks_ports_blocks_and_vectors_stay() {
    let text = "model M { port p: rotational = b
        x: 1 -> Sf(0, position = s)
        x -> m: I(1)
        der(s) = x.f
        a: 1 -> b: 1 -> k: I(2)
        if true { b -> q: R(1) } }
        ";
    let found = simple(text);
    assert!(
        model(&found.text).contains("port p: rotational = b"),
        "{}",
        found.text
    );
    assert!(found.text.contains("position = s"), "{}", found.text);
}
