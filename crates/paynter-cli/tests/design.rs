//! Searches, fits, typed sweeps and controllers as a user meets them.

mod kit;

use kit::Folder;

const TABLE: &str = "units strict
model Table {
    param k = 4 [N/m], b = 0.3 [N*s/m]
    input force = 1 [N]
    push: Se(force) -> x: 1 -> m: I(1 [kg]), spring: C(1/k), R(b)
    output q [m] = spring.q
}
experiment soft of Table {
    stop = 30 [s]; record spring.q as q
    measure over = overshoot(spring.q), rise = rise_time(spring.q)
    optimize b in 0.1 [N*s/m] .. 5 [N*s/m] { minimize rise; subject over <= 20 [%] }
}
experiment impossible of Table {
    stop = 30 [s]; record spring.q as q
    measure over = overshoot(spring.q), rise = rise_time(spring.q)
    optimize b in 0.1 [N*s/m] .. 5 [N*s/m] { minimize rise; subject over <= 1 [%], rise < 0.1 [s] }
}
experiment plain of Table { stop = 1 [s]; record spring.q as q; measure last = final(spring.q) }
";

#[test]
fn a_search_prints_writes_and_exits_as_it_should() {
    let folder = Folder::with_model(TABLE);
    let (text, _) = folder.expect_both(0, &["optimize", "m.bond", "--write", "--table", "t.csv"]);
    assert!(
        text.contains("minimum of rise") && text.contains("active"),
        "{text}"
    );
    let model = std::fs::read_to_string(folder.0.join("m.bond")).expect("it was there before");
    assert!(model.contains("experiment soft_best of Table"), "{model}");
    folder.expect_both(0, &["run", "m.bond", "-e", "soft_best", "--no-report"]);
    let table = std::fs::read_to_string(folder.0.join("t.csv")).expect("it was asked for");
    assert!(table.lines().count() > 50, "{table}");
    let (json, _) = folder.expect_both(
        0,
        &["optimize", "m.bond", "--json", "--local", "--starts", "3"],
    );
    assert!(json.contains("\"is_feasible\":true"), "{json}");
    let (_, errors) = folder.expect_both(3, &["optimize", "m.bond", "-e", "impossible"]);
    assert!(errors.contains("E0833"), "{errors}");
    folder.expect_both(2, &["optimize", "m.bond", "-e", "plain"]);
    folder.expect_both(2, &["optimize", "m.bond", "--write", "3x"]);
    folder.expect_both(2, &["optimize", "m.bond", "--local", "--starts", "0"]);
}

#[test]
fn sweeps_can_be_typed() {
    let folder = Folder::with_model(TABLE);
    let (text, _) = folder.expect_both(
        0,
        &["sweep", "m.bond", "-e", "plain", "--sweep", "k=1..9:5"],
    );
    assert!(
        text.contains("5 runs, 0 failed") && text.contains("3 N/m"),
        "{text}"
    );
    let (text, _) = folder.expect_both(
        0,
        &[
            "sweep",
            "m.bond",
            "-e",
            "plain",
            "--sweep",
            "k=1,2 [kN/m]",
            "--sweep",
            "b=0.1 [N*s/m]..1 [N*s/m]:3",
        ],
    );
    assert!(text.contains("6 runs, 0 failed"), "{text}");
    for wrong in ["k", "k=1..9", "k=1..9:0", "k=1..x:3", "k=1 [m]..2 [kg]:3"] {
        folder.expect_both(2, &["sweep", "m.bond", "-e", "plain", "--sweep", wrong]);
    }
    for wrong in ["nothing=1..2:3", "k=1..2:3 [kg]", "k=1,,2"] {
        folder.expect_both(1, &["sweep", "m.bond", "-e", "plain", "--sweep", wrong]);
    }
}

#[test]
fn controllers_of_a_table() {
    let folder = Folder::with_model(TABLE);
    let call = |more: &[&str]| {
        let mut args = vec![
            more[0], "m.bond", "-e", "plain", "--from", "force", "--to", "q", "--json",
        ];
        args.extend(&more[1..]);
        folder.expect_both(0, &args).0
    };
    // s² + 0.3 s + 4 becomes (s + 2)(s + 3): stiffness 2 N/m and damping 4.7 N·s/m more; momentum is speed for 1 kg.
    let placed = call(&["place", "--poles", "-2, -3"]);
    for number in ["2.0", "4.7"] {
        let found: Vec<f64> = placed
            .split(['[', ']', ',', ':', '}'])
            .filter_map(|t| t.parse().ok())
            .collect();
        let wanted: f64 = number.parse().expect("a number");
        assert!(
            found.iter().any(|f| (f - wanted).abs() < 1e-9),
            "{number}: {placed}"
        );
    }
    assert!(call(&["lqr", "--r", "0.1"]).contains("\"K\""));
    assert!(call(&["lqr", "--step", "0.01"]).contains("\"step\":0.01"));
    assert!(call(&["c2d", "--step", "0.1"]).contains("\"A\""));
    assert!(call(&["c2d", "--step", "0.1", "--method", "tustin"]).contains("\"D\""));
    let wrong = |more: &[&str]| {
        let mut args = vec![
            more[0], "m.bond", "-e", "plain", "--from", "force", "--to", "q",
        ];
        args.extend(&more[1..]);
        folder.expect_both(2, &args);
    };
    wrong(&["place", "--poles", "-2"]);
    wrong(&["place", "--poles", "-2+i, -3"]);
    wrong(&["place", "--poles", "x"]);
    wrong(&["lqr", "--r", "-1"]);
    wrong(&["lqr", "--q", "1"]);
    wrong(&["c2d", "--step", "0"]);
    wrong(&["c2d", "--step", "0.1", "--at-frequency", "1"]);
}
