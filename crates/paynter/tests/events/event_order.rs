//! What happens at one instant does not depend on the order of the text.
//!
//! In:  `when`s that become true together, or by each other's doing, and set the same things.
//! Out: the same run in any order of lines, or one message that names two lines.

use crate::kit::{self, Seeded, last, messages, run_text};

fn assert_conflict(text: &str, parts: &[&str]) {
    let (all, shown) = messages(text);
    assert!(all.iter().any(|d| d.code == "E0746"), "{shown}");
    for part in parts {
        assert!(shown.contains(part), "`{part}` is missing:\n{shown}");
    }
}

#[test]
fn two_reinits_of_one_state_at_one_instant_are_named() {
    for (a, b) in [("x + 0.1", "0"), ("0", "x + 0.1")] {
        assert_conflict(
            &format!(
                "model A {{
                    der(x) = 1
                    when w: x > 0.3 {{ reinit x = {a} }}
                    when w2: x > 0.3 {{ reinit x = {b} }}
                }}
                experiment c of A {{ stop = 1; record x }}"
            ),
            &["`x` gets two different values at t = 0.3 s"],
        );
    }
}

#[test]
fn two_values_of_a_discrete_name_at_one_instant_are_named() {
    assert_conflict(
        "model A {
            der(x) = 1
            when w: x > 0.3 { n = 1 }
            when w2: x > 0.3 { n = 2 }
        }
        experiment c of A { stop = 1; record n }",
        &["`n` gets two different values", "here 1", "here 2"],
    );
}

#[test]
fn different_names_of_one_state_conflict_as_well() {
    // The charge is the voltage times 2, and both are set.
    assert_conflict(
        "model A {
            s: Sf(1) -> j: 0 -> c: C(2)
            when w: j.e > 0.3 { reinit c.q = 1 }
            when w2: j.e > 0.3 { reinit j.e = 1 }
        }
        experiment c of A { stop = 1; record j.e }",
        &["cannot both get the values"],
    );
    // One `when` that asks for both is no better.
    assert_conflict(
        "model A {
            s: Sf(1) -> j: 0 -> c: C(2)
            when w: j.e > 0.3 { reinit c.q = 1; reinit j.e = 1 }
        }
        experiment c of A { stop = 1; record j.e }",
        &["cannot both get the values"],
    );
}

#[test]
fn equal_values_are_no_conflict() {
    let outcome = run_text(
        "model A {
            s: Sf(1) -> j: 0 -> c: C(2)
            when w: j.e > 0.3 { reinit c.q = 0.2; n = 3 }
            when w2: j.e > 0.3 { reinit j.e = 0.1; n = 1 + 2 }
            when w3: c.q > 0.6 { reinit c.q = 0.6/3; n = 3 }
        }
        experiment c of A { stop = 0.7; record j.e, n }",
    );
    kit::assert_close(last(&outcome, "j.e"), 0.15, 1e-9);
    assert_eq!(last(&outcome, "n"), 3.0);
}

#[test]
fn what_follows_from_an_event_acts_after_it() {
    // The second becomes true by the first, sees its value, and its own holds.
    for lines in [
        [
            "when w: x > 0.3 { reinit x = 5; n = 1 }",
            "when w2: x > 4 { reinit x = x - 4.5; n = pre(n) + 1 }",
        ],
        [
            "when w2: x > 4 { reinit x = x - 4.5; n = pre(n) + 1 }",
            "when w: x > 0.3 { reinit x = 5; n = 1 }",
        ],
    ] {
        let outcome = run_text(&format!(
            "model A {{
                der(x) = 1
                {}
            }}
            experiment c of A {{ stop = 0.4; record x, n }}",
            lines.join("\n")
        ));
        kit::assert_close(last(&outcome, "x"), 0.6, 1e-9);
        assert_eq!(last(&outcome, "n"), 2.0);
    }
}

#[test]
fn a_state_that_is_set_stays_when_another_quantity_is_set_too() {
    // x1 + x2 is asked for while x1 is given: x2 moves, whichever line comes first.
    for lines in [
        "reinit a.q = 1; reinit j.f = 5",
        "reinit j.f = 5; reinit a.q = 1",
    ] {
        let outcome = run_text(&format!(
            "model M {{
                a: C(1)
                b: C(1)
                j: 1 -> a, b, r: R(1)
                when w: time > 0.5 {{ {lines} }}
                start a.q = 1, b.q = 2
            }}
            experiment c of M {{ stop = 0.5001; rtol = 1e-9; record a.q as a, b.q as b, j.f as f }}"
        ));
        // f = −(a + b): b jumps to −6.
        kit::assert_close(last(&outcome, "a"), 1.0, 1e-2);
        kit::assert_close(last(&outcome, "b"), -6.0, 1e-2);
    }
}

/// Lines of events that often meet: few thresholds, few values, few names.
fn random_events(random: &mut Seeded) -> Vec<String> {
    let n = 2 + random.below(4);
    (0..n)
        .map(|k| {
            let state = ["x", "y"][random.below(2)];
            let condition = match random.below(5) {
                0 => format!("time > {}", 1 + random.below(2)),
                1 => format!("n > {}", random.below(3)),
                2 => format!("{state} > {} and m < 2", 1 + random.below(2)),
                _ => format!("{state} > {}", 1 + random.below(2)),
            };
            let actions: Vec<String> = (0..1 + random.below(2))
                .map(|place| match (place + random.below(2)) % 3 {
                    0 => format!("n = pre(n) + {}", random.below(3)),
                    1 => format!("m = {}", random.below(3)),
                    _ => format!("reinit {state} = {state} - {}", 1 + random.below(2)),
                })
                .collect();
            let unique: std::collections::BTreeMap<&str, &String> = actions
                .iter()
                .map(|a| (a.split('=').next().unwrap_or_default(), a))
                .collect();
            let actions: Vec<&str> = unique.values().map(|a| a.as_str()).collect();
            format!("when w{k}: {condition} {{ {} }}", actions.join("; "))
        })
        .collect()
}

/// Code of the first error, or the last values.
fn outcome(lines: &[String]) -> Result<Vec<u64>, String> {
    let text = format!(
        "model M {{
            der(x) = 1
            der(y) = 1
            when never: time > 99 {{ n = 0; m = 0 }}
            {}
        }}
        experiment c of M {{ stop = 2.5; record x, y, n, m }}",
        lines.join("\n")
    );
    let (all, _) = messages(&text);
    match all.first() {
        Some(error) => Err(format!("{} {}", error.code, error.message)),
        None => {
            let run = run_text(&text);
            let names = ["x", "y", "n", "m"];
            Ok(names.map(|name| last(&run, name).to_bits()).to_vec())
        }
    }
}

#[test]
fn the_order_of_lines_decides_nothing() {
    let mut random = Seeded(26);
    let (mut conflicts, mut runs) = (0, 0);
    for case in 0..200 {
        let mut lines = random_events(&mut random);
        let first = outcome(&lines);
        match &first {
            Ok(_) => runs += 1,
            Err(message) if message.starts_with("E0746") => conflicts += 1,
            Err(_) => {}
        }
        for _ in 0..3 {
            random.shuffle(&mut lines);
            let other = outcome(&lines);
            // Of several conflicts at one instant, any may be the one that is shown.
            let is_same = match (&first, &other) {
                (Err(a), Err(b)) => a[..5] == b[..5],
                (a, b) => a == b,
            };
            assert!(
                is_same,
                "case {case}: {first:?} and {other:?}\n{}",
                lines.join("\n")
            );
        }
    }
    // The generator must meet both.
    assert!(conflicts >= 20 && runs >= 50, "{conflicts} {runs}");
}

// LIMIT: a condition on a switch of time, as `sign(time) > 0`, is held by what the switch is right after the start, and does
// not act there.
#[test]
fn what_becomes_true_right_after_the_start_acts_there() {
    // Whether time decides along a line, a curve, or through a state: false at 0, true from there on.
    let rising = [
        "time > 0",
        "1 - time < 1",
        "time^2 > 0",
        "sin(time) > 0",
        "x > 0",
    ];
    let true_already = ["time >= 0", "x >= 0", "floor(time) < 1", "time < 9"];
    let over_at_once = ["time <= 0", "time == 0"];
    for method in ["auto", "tsit5", "rodas5p", "bdf"] {
        let count = |condition: &str| {
            let text = format!(
                "model M {{ der(x) = 1; when w: {condition} {{ n = pre(n) + 1; at = time }} }}
                 experiment e of M {{ stop = 0.9; method = {method}; record n, at }}"
            );
            let outcome = run_text(&text);
            (last(&outcome, "n"), last(&outcome, "at"))
        };
        for condition in rising {
            assert_eq!(count(condition), (1.0, 0.0), "{condition}, {method}");
        }
        for condition in true_already.iter().chain(&over_at_once) {
            assert_eq!(count(condition).0, 0.0, "{condition}, {method}");
        }
    }
}
