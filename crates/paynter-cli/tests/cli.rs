//! The command as a user meets it: exit status, files, text for machines.

mod kit;

use kit::{Folder, GOOD, with_good};
use std::path::{Path, PathBuf};

#[test]
fn good_run_exits_with_0() {
    with_good().expect(0, &["run", "m.bond", "--no-report"]);
}

#[test]
fn wrong_model_exits_with_1() {
    let folder = Folder::new();
    folder.write(
        "m.bond",
        "model M { s: Se(1) -> n: 0; t: Se(2) -> n; n -> r: R(1) }",
    );
    folder.expect(1, &["check", "m.bond"]);
    folder.expect(1, &["run", "m.bond"]);
    folder.write("m.bond", "model M {");
    folder.expect(1, &["check", "m.bond"]);
    folder.expect(1, &["fmt", "m.bond"]);
}

#[test]
fn wrong_call_exits_with_2() {
    let folder = with_good();
    folder.expect(2, &["run", "missing.bond"]);
    folder.expect(2, &["run", "m.bond", "--no-such-option"]);
    folder.expect(2, &["run", "m.bond", "--set", "k"]);
    folder.expect(2, &["run", "m.bond", "--no-report", "--out", "x.xls"]);
    folder.expect(
        2,
        &["run", "m.bond", "--no-report", "--out", "m.bond/x.csv"],
    );
    folder.expect(2, &["sweep", "m.bond", "-e", "swing"]);
}

#[test]
fn failed_run_exits_with_3_and_keeps_what_it_computed() {
    let folder = Folder::new();
    folder.write(
        "m.bond",
        "model M { der(x) = x^2; start x = 1 }
         experiment e of M { stop = 2 [s]; output_step = 0.1 [s]; record x }",
    );
    folder.expect(3, &["run", "m.bond", "--no-report", "--out", "x.csv"]);
    assert!(folder.read("x.csv").lines().count() > 9);
}

#[test]
fn reference_that_is_missed_exits_with_3() {
    let folder = with_good();
    folder.write("r.csv", "time,x\n0,1\n1,5\n");
    let text = GOOD.replace("plot x }", "compare \"r.csv\" within 1e-3 }");
    folder.write("m.bond", &text);
    folder.expect(3, &["run", "m.bond", "--no-report"]);
}

#[test]
fn every_json_can_be_read() {
    let folder = with_good();
    for args in [
        &["run", "m.bond", "--no-report", "--json"][..],
        &["sweep", "m.bond", "-e", "stiffer", "--json"],
        &["check", "m.bond", "--json"],
        &["causality", "m.bond", "--json"],
        &["equations", "m.bond", "--format", "json"],
    ] {
        let out = folder.expect(0, args);
        let value: Result<serde_json::Value, _> = serde_json::from_str(&out);
        assert!(value.is_ok(), "{args:?}: {value:?}\n{out}");
    }
    folder.write("bad.bond", "model M { s: Sx(1) -> n: 0 }");
    let out = folder.expect(1, &["check", "bad.bond", "--json"]);
    let messages: serde_json::Value = serde_json::from_str(&out).expect("messages are JSON too");
    assert!(out.contains("Sx"), "{messages}");
}

fn gallery_files() -> Vec<PathBuf> {
    let gallery = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../gallery");
    let folders = std::fs::read_dir(gallery).expect("part of the project");
    let mut files: Vec<PathBuf> = folders
        .flatten()
        .filter_map(|f| std::fs::read_dir(f.path()).ok())
        .flat_map(|entries| entries.flatten())
        .map(|e| e.path())
        .filter(|p| p.extension().is_some_and(|e| e == "bond"))
        .collect();
    files.sort();
    files
}

#[test]
fn fmt_lays_out_crooked_text_once_and_for_all() {
    let folder = Folder::new();
    for file in gallery_files() {
        let straight = std::fs::read_to_string(&file).expect("part of the project");
        let crooked: String = straight
            .lines()
            .map(|l| format!("  {}  \n", l.trim()))
            .collect();
        folder.write("m.bond", &crooked);
        folder.expect(0, &["fmt", "m.bond"]);
        let once = folder.read("m.bond");
        folder.expect(0, &["fmt", "--check", "m.bond"]);
        folder.expect(0, &["fmt", "m.bond"]);
        assert_eq!(folder.read("m.bond"), once, "{}", file.display());
    }
}

#[test]
fn starter_runs_as_it_is() {
    let folder = Folder::new();
    folder.expect(0, &["new", "first"]);
    folder.expect(0, &["check", "first.bond"]);
    folder.expect(0, &["run", "first.bond", "--out", "x.csv"]);
    assert!(folder.read("x.csv").starts_with("time,x,speed"));
    // Never writes over a file that is there.
    folder.expect(2, &["new", "first"]);
    folder.expect(2, &["new", "no/such"]);
}

#[test]
fn gallery_model_can_be_copied_and_run() {
    let folder = Folder::new();
    folder.expect(0, &["new", "mine", "--from", "circuit"]);
    folder.expect(0, &["run", "mine/circuit.bond", "--no-report"]);
}

#[test]
fn every_format_holds_the_same_numbers() {
    let folder = with_good();
    let mut tables = Vec::new();
    for name in ["x.csv", "x.json", "x.parquet"] {
        folder.expect(0, &["run", "m.bond", "--no-report", "--out", name]);
        let table = paynter::table::Table::read(&folder.0.join(name)).expect("just written");
        tables.push((
            table.time,
            table
                .columns
                .into_iter()
                .map(|c| (c.name, c.values))
                .collect::<Vec<_>>(),
        ));
    }
    assert_eq!(tables[0].0.len(), 11);
    assert_eq!(tables[0], tables[1]);
    assert_eq!(tables[0], tables[2]);
}

#[test]
fn sweep_gives_the_same_numbers_on_one_core_and_on_two() {
    let folder = with_good();
    for jobs in ["1", "2"] {
        let out = format!("s{jobs}.csv");
        folder.expect(
            0,
            &[
                "sweep", "m.bond", "-e", "stiffer", "--jobs", jobs, "--out", &out,
            ],
        );
    }
    let one = folder.read("s1.csv");
    assert_eq!(one, folder.read("s2.csv"));
    assert_eq!(one.lines().count(), 7);
}

#[test]
fn failed_point_of_a_sweep_does_not_stop_the_others() {
    let folder = Folder::new();
    folder.write(
        "m.bond",
        "model M { param a = 1; der(x) = a*x^2; start x = 1 }
         experiment e of M { stop = 2 [s]; record x; measure end = final(x); sweep a in [0.1, 1, 0.2] }",
    );
    folder.expect(3, &["sweep", "m.bond", "--out", "s.csv"]);
    let table = paynter::table::Table::read(&folder.0.join("s.csv")).expect("just written");
    let failed = table.column("failed").expect("every sweep has this column");
    assert_eq!(failed.values, [0.0, 1.0, 0.0]);
}

#[test]
fn report_fetches_nothing() {
    let folder = with_good();
    folder.expect(0, &["run", "m.bond", "--report", "r.html"]);
    let page = folder.read("r.html");
    assert!(page.contains("<svg"));
    for fetch in [
        "src=\"http",
        "href=\"http",
        "url(http",
        "@import",
        "<link rel=\"stylesheet\"",
        "src=\"//",
    ] {
        assert!(!page.contains(fetch), "the page has {fetch}");
    }
}

#[test]
fn explain_knows_every_code() {
    let folder = Folder::new();
    let mut codes = paynter::codes();
    codes.extend_from_slice(paynter_rewrite::code::TABLE);
    codes.extend_from_slice(paynter_structure::code::TABLE);
    codes.extend_from_slice(paynter_import::code::TABLE);
    for (code, title, _) in codes {
        let out = folder.expect(0, &["explain", code]);
        assert!(out.contains(title), "{code}: {out}");
    }
    folder.expect(2, &["explain", "E9999"]);
}

#[test]
fn values_set_in_the_call_reach_the_run() {
    let folder = with_good();
    folder.expect(
        0,
        &[
            "run",
            "m.bond",
            "--no-report",
            "--set",
            "k=16 [N/m]",
            "--out",
            "x.csv",
        ],
    );
    let table = paynter::table::Table::read(&folder.0.join("x.csv")).expect("just written");
    let x = &table.column("x").expect("it is recorded").values;
    assert!((x[10] - 4.0_f64.cos()).abs() < 1e-4, "{}", x[10]);
}

#[test]
fn times_of_a_file_are_the_times_of_the_table() {
    let folder = with_good();
    folder.write("t.csv", "time\n0\n0.125\n0.9\n");
    folder.expect(
        0,
        &[
            "run",
            "m.bond",
            "--no-report",
            "--times",
            "t.csv",
            "--out",
            "x.csv",
        ],
    );
    let table = paynter::table::Table::read(&folder.0.join("x.csv")).expect("just written");
    assert_eq!(table.time, [0.0, 0.125, 0.9]);
}

const PNG: &[u8] = b"\x89PNG\r\n\x1a\n";

#[track_caller]
fn is_png(folder: &Folder, name: &str) {
    let bytes = std::fs::read(folder.0.join(name)).unwrap_or_else(|e| panic!("{name}: {e}"));
    assert!(bytes.starts_with(PNG) && bytes.len() > 2000, "{name}");
}

#[test]
fn pictures_are_written_as_their_ending_says() {
    let folder = with_good();
    let run = ["run", "m.bond", "--no-report", "--out", "x.csv"];
    folder.expect(0, &[&run[..], &["--plot", "p.png"]].concat());
    is_png(&folder, "p.png");
    folder.expect(0, &["plot", "x.csv", "-o", "new/q.png"]);
    is_png(&folder, "new/q.png");
    folder.expect(0, &["diagram", "m.bond", "-o", "d.png"]);
    is_png(&folder, "d.png");
    folder.expect(0, &["diagram", "m.bond", "--frames", "-o", "f.png"]);
    is_png(&folder, "f.png");
    folder.expect(2, &["plot", "x.csv", "-o", "q.gif"]);
    folder.expect(2, &["diagram", "m.bond", "-o", "q.gif"]);
    folder.expect(2, &["diagram", "m.bond", "--frames", "-o", "q.tex"]);
    folder.expect(2, &["run", "m.bond", "--no-report", "--plot", "q.gif"]);
}

#[test]
fn plot_knows_units_groups_and_other_runs() {
    let folder = with_good();
    folder.expect(0, &["run", "m.bond", "--no-report", "--out", "x.csv"]);
    folder.expect(0, &["plot", "x.csv", "x[mm],v", "-o", "p.svg"]);
    let svg = folder.read("p.svg");
    assert!(svg.contains("[mm]") && svg.contains("[m/s]") && svg.contains("1000"));
    // One panel: one label of the axis of time.
    assert_eq!(svg.matches("time [s]").count(), 1);
    folder.write("ref.csv", "time,x\n0,1\n1,-0.4\n");
    folder.expect(0, &["plot", "x.csv", "ref.csv", "x", "-o", "both.svg"]);
    let svg = folder.read("both.svg");
    assert!(svg.contains("x (ref)") && svg.contains("curve ref"));
    folder.expect(
        0,
        &[
            "plot",
            "x.csv",
            "--versus",
            "x",
            "-c",
            "v",
            "-o",
            "phase.svg",
        ],
    );
    assert!(folder.read("phase.svg").contains("x [m]"));
    for wrong in [
        &["plot", "x.csv", "y"][..],
        &["plot", "x.csv", "x[V]"],
        &["plot", "x.csv", "x", "--versus", "y"],
        &["plot", "x"],
        &["plot", "missing.csv"],
    ] {
        folder.expect(2, wrong);
    }
}

#[test]
fn a_result_file_that_is_not_one_is_explained() {
    let folder = with_good();
    folder.write("a.csv", "hello\nworld\n");
    folder.write("b.json", "{\"a\": 1}");
    folder.write("c.parquet", "PAR1 this is none PAR1");
    folder.write("d.csv", "time,x\n0,1\n");
    folder.write("d.csv.meta.json", "[1, 2");
    std::fs::write(folder.0.join("e.csv"), [0xff, 0xfe, 0, 1]).expect("the folder is there");
    folder.write("f.csv", "");
    for name in [
        "m.bond",
        "a.csv",
        "b.json",
        "c.parquet",
        "d.csv",
        "e.csv",
        "f.csv",
    ] {
        let output = folder.call(&["plot", name, "-o", "p.svg"]);
        let message = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{name}: {message}");
        assert!(
            message.starts_with("error: ") && message.contains(name),
            "{message}"
        );
    }
}

#[test]
fn diagram_shows_where_power_flows() {
    let folder = with_good();
    folder.expect(0, &["diagram", "m.bond", "--power", "-o", "p.svg"]);
    let svg = folder.read("p.svg");
    assert!(svg.contains("mean power from 0 s to 1 s") && svg.contains("class=\"band\""));
    for name in ["p.svg", "p.pdf", "p.tex", "p.png"] {
        folder.expect(0, &["diagram", "m.bond", "--power=100 [ms]", "-o", name]);
    }
    assert!(folder.read("p.svg").contains("power at 0.1 s"));
    folder.expect(2, &["diagram", "m.bond", "--power=2"]);
    folder.expect(2, &["diagram", "m.bond", "--power=soon"]);
    folder.expect(0, &["run", "m.bond", "--no-report", "--out", "x.csv"]);
    let from_result = ["diagram", "m.bond", "--power", "--result", "x.csv"];
    let output = folder.call(&from_result);
    let message = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(message.contains("`record m.power, s.power`"), "{message}");
    folder.write(
        "m.bond",
        &GOOD.replace("record x, v.f as v", "record m.power"),
    );
    folder.expect(0, &["run", "m.bond", "--no-report", "--out", "x.csv"]);
    folder.expect(0, &from_result);
}

#[test]
fn table_that_cannot_be_written_is_told_before_the_run() {
    let folder = with_good();
    folder.write("file", "not a folder");
    // A run of a century would not end in this test.
    folder.write(
        "long.bond",
        &format!("{GOOD}\nexperiment long of M {{ stop = 3e9 [s]; record x }}\n"),
    );
    for out in ["file/out.csv", "out.xyz", "out"] {
        let output = folder.call(&["run", "long.bond", "-e", "long", "--no-report", "-o", out]);
        assert_eq!(output.status.code(), Some(2), "{out}");
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(said.contains(out), "{said}");
    }
    // A table that already exists is not touched by the look.
    folder.write("old.csv", "time,x\n0.0,1.0\n");
    folder.expect(1, &["run", "m.bond", "-e", "nobody", "-o", "old.csv"]);
    assert_eq!(folder.read("old.csv"), "time,x\n0.0,1.0\n");
}

fn json_of(folder: &Folder, status: i32, args: &[&str]) -> serde_json::Value {
    let out = folder.expect(status, args);
    serde_json::from_str(&out).unwrap_or_else(|e| panic!("{args:?}: {e}\n{out}"))
}

#[test]
fn run_json_holds_time_and_signals() {
    let folder = with_good();
    let json = json_of(&folder, 0, &["run", "m.bond", "--no-report", "--json"]);
    assert_eq!(json["is_good"], true);
    assert_eq!(json["time"].as_array().map(Vec::len), Some(11));
    let x = &json["signals"][0];
    assert_eq!((&x["name"], &x["unit"]), (&"x".into(), &"m".into()));
    assert_eq!(x["max"], 1.0);
    assert_eq!(x["values"][10], x["final"]);
}

#[test]
fn nothing_of_a_failed_run_is_good() {
    let folder = Folder::new();
    folder.write("r.csv", "time,x\n0,1\n0.1,1.1111111111\n");
    folder.write(
        "m.bond",
        "model M { der(x) = x^2; start x = 1; s: Se(1) -> R(1) }
         experiment e of M { stop = 2 [s]; output_step = 0.1 [s]; record x; compare \"r.csv\" within 0.1 }",
    );
    let out = folder.expect(3, &["run", "m.bond", "--no-report", "--json"]);
    assert!(!out.contains("\"is_good\":true"), "{out}");
}

#[test]
fn sweep_json_names_methods_and_units() {
    let folder = with_good();
    let text = format!(
        "{GOOD}experiment ways of M {{ stop = 1; record x; sweep method in [dop853, bdf] }}\n"
    );
    folder.write("m.bond", &text);
    let json = json_of(&folder, 0, &["sweep", "m.bond", "-e", "ways", "--json"]);
    assert_eq!(
        json["columns"][0]["values"],
        serde_json::json!(["dop853", "bdf"])
    );
    let json = json_of(&folder, 0, &["sweep", "m.bond", "-e", "stiffer", "--json"]);
    assert_eq!(json["columns"][0]["unit"], "N/m");
    assert_eq!(json["failures"], serde_json::json!([]));
}

#[test]
fn diagram_json_tells_what_was_drawn() {
    let folder = with_good();
    let json = json_of(&folder, 0, &["diagram", "m.bond", "--json", "-o", "d.svg"]);
    assert_eq!(json["file"], "d.svg");
    assert_eq!(json["elements"].as_array().map(Vec::len), Some(3));
    assert_eq!(json["bonds"].as_array().map(Vec::len), Some(2));
}

#[test]
fn numbers_of_the_metadata_are_numbers() {
    let folder = with_good();
    folder.expect(0, &["run", "m.bond", "--no-report", "-o", "x.csv"]);
    let facts: serde_json::Value =
        serde_json::from_str(&folder.read("x.csv.meta.json")).expect("it is JSON");
    for key in ["rtol", "steps", "rhs", "param k"] {
        assert!(facts[key].is_number(), "{key}: {facts}");
    }
}

#[test]
fn delayed_differentiation_is_refused_where_it_is_not_carried_out() {
    let folder = Folder::new();
    folder.write(
        "m.bond",
        "model M { param k = 4; a: 1 -> m: I(k), n: I(1), r: R(1); start a.f = 1 }
         experiment e of M { stop = 1; record a.f; method = euler(step = 0.01); constraints = delayed; sweep k in [4, 5] }
         experiment steps of M { stop = 1; record a.f; constraints = delayed }
         experiment fine of M { stop = 1; record a.f; method = euler(step = 0.01); constraints = delayed }",
    );
    folder.expect(1, &["check", "m.bond"]);
    folder.expect(1, &["sweep", "m.bond", "--experiment", "e"]);
    folder.expect(
        1,
        &["run", "m.bond", "--experiment", "steps", "--no-report"],
    );
    folder.expect(0, &["run", "m.bond", "--experiment", "fine", "--no-report"]);
}

#[test]
fn no_escape_of_a_model_reaches_the_terminal() {
    let folder = Folder::new();
    folder.write(
        "m.bond",
        "model A { when x: time > 0.5 { stop \"evil \u{1b}]0;title\u{7} \u{1b}[2J\" }\n der(z) = 1 }
         experiment e of A { stop = 1; record z }",
    );
    folder.write("bad.bond", "model A { x = \u{1b}[31m 1 // \u{1b}[2J\n }");
    folder.write("t.csv", "time,\u{1b}[2Jname\n0,1\n");
    for args in [
        &["run", "m.bond", "--no-report"][..],
        &["run", "m.bond", "--no-report", "--json"],
        &["check", "bad.bond"],
        &["plot", "t.csv", "nobody"],
        &["check", "\u{1b}[2J.bond"],
    ] {
        let output = folder.call(args);
        let said = [output.stdout, output.stderr].concat();
        assert!(!said.contains(&0x1b) && !said.contains(&7), "{args:?}");
    }
}

const TANKS: &str = "model Tanks {
    pump: Sf(1) -> t1: 0 -> c1: C(1)
    t1 -> pipe: 1 -> v1: R(3)
    pipe -> t2: 0 -> c2: C(2), v2: R(4)
    output h = t2.e
}
experiment fill of Tanks { stop = 2 [s]; output_step = 0.01 [s]; record t1.e, t2.e }
";

#[test]
fn structure_answers_in_words_and_for_machines() {
    let folder = Folder::new();
    folder.write("tanks.bond", TANKS);
    let text = folder.expect(0, &["structure", "tanks.bond"]);
    assert!(text.contains("controllable from `pump.f`"), "{text}");
    assert!(text.contains("c2.q  2 integrations"), "{text}");
    for question in ["--channels", "--activity", "--faults"] {
        let answer = folder.expect(0, &["structure", "tanks.bond", "--json", question]);
        let answer: Result<serde_json::Value, _> = serde_json::from_str(&answer);
        assert!(answer.is_ok(), "{question}");
    }
    folder.expect(0, &["structure", "tanks.bond", "--svg", "reach.svg"]);
    folder.expect(
        0,
        &[
            "structure",
            "tanks.bond",
            "--activity",
            "--svg",
            "activity.svg",
        ],
    );
    assert!(
        folder.read("reach.svg").contains("<svg") && folder.read("activity.svg").contains("<svg")
    );
}

#[test]
fn structure_inverts_reduces_and_checks_data() {
    let folder = Folder::new();
    folder.write("tanks.bond", TANKS);
    let want = [
        "structure",
        "tanks.bond",
        "--want",
        "time^3",
        "-o",
        "needed.csv",
    ];
    assert!(folder.expect(0, &want).contains("differentiated 2 times"));
    assert!(folder.read("needed.csv").starts_with("time,pump.f,h"));
    folder.expect(
        1,
        &[
            "structure",
            "tanks.bond",
            "--want",
            "if time > 1 then 1 else 0",
        ],
    );
    folder.expect(1, &["structure", "tanks.bond", "--want", "sin("]);
    folder.expect(1, &["structure", "tanks.bond", "--from", "c1.q"]);
    folder.expect(1, &["structure", "tanks.bond", "--to", "3"]);
    folder.expect(0, &["run", "tanks.bond", "-o", "data.csv"]);
    let faults = ["structure", "tanks.bond", "--to", "t1.e, t2.e", "--faults"];
    assert!(folder.expect(0, &faults).contains("not told apart"));
    let on_data = [&faults[..], &["--data", "data.csv", "-o", "balance.csv"]].concat();
    assert!(!folder.expect(0, &on_data).contains("out of balance"));
    folder.expect(2, &[&faults[..], &["--data", "missing.csv"]].concat());
    for share in ["0%", "100%", "many", "-3"] {
        let reduce = format!("--reduce={share}");
        folder.expect(2, &["structure", "tanks.bond", &reduce]);
    }
    let reduced = [
        "structure",
        "tanks.bond",
        "--reduce",
        "60%",
        "-o",
        "small.bond",
    ];
    folder.expect(0, &reduced);
    folder.expect(0, &["run", "small.bond"]);
}

const CRANE: &str = "units strict
lagrangian Crane {
    param M = 3 [kg], m = 1 [kg], l = 0.8 [m], g = 9.81 [m/s^2]
    coordinate x [m], a [rad]
    rate east = der(x) + l*cos(a)*der(a), up = l*sin(a)*der(a)
    kinetic cart = 0.5*M*der(x)^2, me = 0.5*m*east^2, mu = 0.5*m*up^2
    potential weight = -m*g*l*cos(a)
}
experiment swing of Crane { start a = 0.5 [rad]; stop = 1 [s]; record x, a }
";

#[test]
fn a_lagrangian_is_written_with_its_proof() {
    let folder = Folder::new();
    folder.write("crane.bond", CRANE);
    let printed = folder.expect(0, &["lagrangian", "crane.bond"]);
    let last = printed.lines().last().unwrap_or_default();
    assert!(
        last.starts_with("// proof: equal to Euler–Lagrange at 100 random points"),
        "{last}"
    );

    // What is written runs as the block does.
    folder.expect(0, &["lagrangian", "crane.bond", "--out", "graph.bond"]);
    assert_eq!(folder.read("graph.bond").trim_end(), printed.trim_end());
    let runs = ["crane.bond", "graph.bond"].map(|file| {
        folder.expect(0, &["run", file, "--no-report", "--out", "t.csv"]);
        folder.read("t.csv")
    });
    assert_eq!(runs[0], runs[1]);
}

#[test]
fn a_lagrangian_that_is_not_there_is_named() {
    let folder = with_good();
    folder.expect(2, &["lagrangian", "m.bond"]);
    folder.write("crane.bond", CRANE);
    folder.expect(2, &["lagrangian", "crane.bond", "--model", "Nobody"]);
    folder.expect(2, &["lagrangian", "crane.bond", "--out", "graph.txt"]);
    folder.expect(2, &["lagrangian", "crane.bond", "--out", "crane.bond"]);
    folder.expect(2, &["lagrangian", "missing.bond"]);
    folder.write(
        "wrong.bond",
        &CRANE.replace("0.5*M*der(x)^2", "-0.5*M*der(x)^2"),
    );
    folder.expect(1, &["lagrangian", "wrong.bond"]);
}

#[test]
fn energies_are_listed() {
    let folder = Folder::new();
    folder.write("crane.bond", CRANE);
    let shown = folder.expect(0, &["equations", "crane.bond", "--form", "lagrange"]);
    assert!(
        shown.contains("these are the equations of Euler and Lagrange"),
        "{shown}"
    );
    let shown = folder.expect(0, &["equations", "crane.bond", "--form", "hamiltonian"]);
    assert!(
        shown.contains("0 Casimirs; Jacobi's identity holds"),
        "{shown}"
    );
    folder.write(
        "d.bond",
        "model Bridge { s: Se(5) -> a: 1 -> r: R(10), d: D(), l: I(1) }",
    );
    folder.expect(1, &["equations", "d.bond", "--form", "lagrange"]);
}

#[test]
fn a_urdf_becomes_a_model_that_runs() {
    let folder = Folder::new();
    let urdf = "<robot name='arm'><link name='base'/><link name='bob'><inertial><origin xyz='0 0 -1'/><mass value='1'/>\
        <inertia ixx='0.01' iyy='0.01' izz='0.01'/></inertial></link>\
        <joint name='pivot' type='continuous'><parent link='base'/><child link='bob'/><axis xyz='0 1 0'/></joint></robot>";
    folder.write("arm.urdf", urdf);
    let out = folder.expect(0, &["import", "urdf", "arm.urdf"]);
    assert!(out.contains("arm.bond"), "{out}");
    folder.expect(0, &["run", "arm.bond", "--no-report"]);
    // What is there is not written over, and what is no URDF is the user's error.
    folder.expect(2, &["import", "urdf", "arm.urdf"]);
    folder.write("bad.urdf", "<robot");
    folder.expect(1, &["import", "urdf", "bad.urdf"]);
    folder.expect(2, &["import", "urdf", "missing.urdf"]);
}
