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
    // 1/(s² + 0.3 s + 4) at rest is 0.25, in steps as well.
    let matched = call(&["c2d", "--step", "0.1", "--method", "matched"]);
    let json: serde_json::Value = serde_json::from_str(&matched).expect("JSON");
    let sum = |key: &str| -> f64 {
        let list = json["channels"][0][key].as_array().expect("a list");
        list.iter().filter_map(serde_json::Value::as_f64).sum()
    };
    let at_rest = sum("numerator") / sum("denominator");
    assert!((at_rest - 0.25).abs() < 1e-12, "{at_rest}");
    // White force of intensity 2 moves the mass by σ² = q/(2 b k) and its speed by q/(2 b m).
    let spread = call(&["lyap", "--q", "2"]);
    let json: serde_json::Value = serde_json::from_str(&spread).expect("JSON");
    let deviation = json["deviations"][0].as_f64().expect("a number");
    assert!(
        (deviation.powi(2) - 2.0 / (2.0 * 0.3 * 4.0)).abs() < 1e-12,
        "{deviation}"
    );
    // Kalman's filter: its error is smaller than the spread without it.
    let filter = call(&["lqe", "--q", "2", "--r", "0.01"]);
    let json: serde_json::Value = serde_json::from_str(&filter).expect("JSON");
    let error = json["covariance"][0][0].as_f64().expect("a number");
    assert!(error > 0.0 && error < deviation.powi(2), "{filter}");
    assert!(call(&["lqe", "--step", "0.1"]).contains("\"step\":0.1"));
    assert!(call(&["lqi", "--r", "0.1"]).contains("\"integrals\":[\"q\"]"));
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
    wrong(&["c2d", "--step", "-1", "--method", "matched"]);
    wrong(&["lqe", "--r", "0"]);
    wrong(&["lqe", "--q", "1,2"]);
    wrong(&["lqi", "--q", "1"]);
    wrong(&["lyap", "--q", "-1"]);
    wrong(&["d2c"]);
}

#[test]
fn a_trade_off_is_printed_drawn_and_written() {
    let text = TABLE.replace(
        "{ minimize rise; subject over <= 20 [%] }",
        "{ minimize rise, over }",
    );
    let folder = Folder::with_model(&text);
    let call = [
        "optimize", "m.bond", "-e", "soft", "--pareto", "5", "--table", "t.csv", "--plot", "p.svg",
    ];
    let (out, _) = folder.expect_both(0, &call);
    assert!(out.starts_with("trade-off between rise and over"), "{out}");
    let table = folder.read("t.csv");
    assert_eq!(table.lines().count(), 6, "{table}");
    assert!(folder.has("p.svg"));
    let (json, _) = folder.expect_both(
        0,
        &[
            "optimize", "m.bond", "-e", "soft", "--pareto", "3", "--json",
        ],
    );
    assert!(json.contains("\"points\""), "{json}");
    // One aim has no trade-off, and two have no single best value.
    folder.expect_both(1, &["optimize", "m.bond", "-e", "impossible", "--pareto"]);
    folder.expect_both(1, &["optimize", "m.bond", "-e", "soft"]);
    folder.expect_both(2, &["optimize", "m.bond", "-e", "soft", "--pareto", "1"]);
}

#[test]
fn curves_and_pictures_of_a_sweep_are_written() {
    let folder = Folder::with_model(TABLE);
    let call = [
        "sweep", "m.bond", "-e", "plain", "--sweep", "k=1..9:5", "--curves", "c.csv", "--bands",
        "b.csv", "--plot", "m.svg", "--family", "f.png", "--timed", "-o", "t.csv",
    ];
    folder.expect_both(0, &call);
    let read = |name: &str| folder.read(name);
    let curves = read("c.csv");
    assert!(curves.starts_with("point,time,k,q\n"), "{}", &curves[..60]);
    assert!(
        read("t.csv")
            .lines()
            .next()
            .unwrap_or_default()
            .contains("steps,run time")
    );
    assert!(read("b.csv").starts_with("time,"));
    assert!(read("m.svg").starts_with("<svg"));
    // What cannot be written is reported before the runs.
    folder.expect_both(
        2,
        &[
            "sweep", "m.bond", "-e", "plain", "--sweep", "k=1..9:5", "--plot", "m.txt",
        ],
    );
}

#[test]
fn draws_come_from_a_file() {
    let folder = Folder::with_model(TABLE);
    folder.write("d.csv", "draw,k,b\n1,4,0.3\n2,5,0.2\n3,3.5,0.25\n");
    let (out, _) = folder.expect_both(0, &["sweep", "m.bond", "-e", "plain", "--draws", "d.csv"]);
    assert!(
        out.contains("3 runs, 0 failed") && out.contains("last [m], 3 values"),
        "{out}"
    );
    folder.write("w.csv", "draw,k\n1,4\n2,NaN\n");
    let (_, errors) =
        folder.expect_both(2, &["sweep", "m.bond", "-e", "plain", "--draws", "w.csv"]);
    assert!(errors.contains("row 2 has no number for `k`"), "{errors}");
    folder.write("u.csv", "draw,nothing\n1,4\n");
    folder.expect_both(1, &["sweep", "m.bond", "-e", "plain", "--draws", "u.csv"]);
}
