//! `paynter simplify`, `reduce`, `scalarize`: their texts run, their exit status, and what they refuse.

use std::path::PathBuf;
use std::process::{Command, Output};
use std::sync::atomic::{AtomicUsize, Ordering};

/// A folder that disappears with its value.
struct Folder(PathBuf);

impl Folder {
    fn new() -> Folder {
        static COUNT: AtomicUsize = AtomicUsize::new(0);
        let n = COUNT.fetch_add(1, Ordering::Relaxed);
        let path = std::env::temp_dir().join(format!("paynter-rewrite-{}-{n}", std::process::id()));
        std::fs::create_dir_all(&path).expect("the temporary folder can be written");
        Folder(path)
    }

    fn write(&self, name: &str, text: &str) {
        std::fs::write(self.0.join(name), text).expect("the folder was just made");
    }

    fn call(&self, args: &[&str]) -> Output {
        Command::new(env!("CARGO_BIN_EXE_paynter"))
            .args(args)
            .current_dir(&self.0)
            .output()
            .expect("the command was built")
    }

    #[track_caller]
    fn expect(&self, status: i32, args: &[&str]) -> String {
        let output = self.call(args);
        let errors = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(status), "{args:?}\n{errors}");
        String::from_utf8_lossy(&output.stdout).into_owned()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

const SHAFT: &str = "model M {
    push: Se(1) -> a: 1 -> b: 1 -> m: I(2), r: R(1)
    output w = b.f
}
experiment go of M { stop = 1; output_step = 0.1; record w, a.f }
";

#[test]
fn the_simplified_text_runs_and_says_what_was_done() {
    let folder = Folder::new();
    folder.write("m.bond", SHAFT);
    let said = folder.expect(0, &["simplify", "m.bond", "--out", "n.bond"]);
    assert!(
        said.contains("merge: `b` is `a`") && said.contains("proof: "),
        "{said}"
    );
    folder.expect(0, &["run", "m.bond", "--no-report", "--out", "m.csv"]);
    folder.expect(0, &["run", "n.bond", "--no-report", "--out", "n.csv"]);
    let table = |name: &str| {
        let text = std::fs::read_to_string(folder.0.join(name)).expect("it was written");
        let lines = text.lines().filter(|l| !l.starts_with('#')).skip(1);
        lines.map(str::to_owned).collect::<Vec<String>>()
    };
    assert_eq!(table("m.csv").len(), table("n.csv").len());
    let json = folder.expect(0, &["simplify", "m.bond", "--json"]);
    assert!(json.contains("\"map\":{\"b.f\":\"a.f\"}"), "{json}");
}

#[test]
fn wrong_calls_are_told() {
    let folder = Folder::new();
    folder.write("m.bond", SHAFT);
    folder.expect(2, &["simplify", "m.bond", "--only", "everything"]);
    folder.expect(2, &["simplify", "none.bond"]);
    folder.expect(2, &["simplify", "m.bond", "--out", "m.txt"]);
    folder.expect(2, &["simplify", "m.bond", "--out", "m.bond"]);
    folder.expect(1, &["simplify", "m.bond", "--model", "N"]);
    folder.write("bad.bond", "model M { a: 1 -> }");
    folder.expect(1, &["simplify", "bad.bond"]);
}

const TUMBLER: &str = "model T {
    rate: 1[3] => i: I[3](diag([1, 2, 3]))
    rate => ejs: GY[3] { e = cross(f, i.p) }
    drag: R(0.1)
    rate.y -> drag
}
experiment go of T { start rate.x.f = 0.1, rate.y.f = 5; stop = 1; record rate.f as w }
";

#[test]
fn vectors_are_taken_apart_and_drawn() {
    let folder = Folder::new();
    folder.write("t.bond", TUMBLER);
    let text = folder.expect(0, &["scalarize", "t.bond"]);
    assert!(text.contains("rate_x -> GY(i_z.p) -> rate_y"), "{text}");
    folder.expect(0, &["diagram", "t.bond", "--scalar", "-o", "t.svg"]);
    let drawn = std::fs::read_to_string(folder.0.join("t.svg")).expect("it was drawn");
    assert!(
        drawn.contains("i_z"),
        "the scalar inertia is in the picture"
    );
}

#[test]
fn a_false_claim_of_a_cyclic_coordinate_is_an_error() {
    let folder = Folder::new();
    folder.write("m.bond", SHAFT);
    folder.expect(1, &["reduce", "m.bond", "--cyclic", "a"]);
    folder.expect(0, &["reduce", "m.bond"]);
    folder.expect(2, &["reduce", "m.bond", "-e", "none"]);
}

const CAR: &str = "model Car {
    road: Sf(0.1*sin(10*time)) -> tyre: 0 -> kt: C(1/193.9e3)
    tyre -> wheel: 1 -> mw: I(36.6)
    wheel -> gap: 0 -> body: 1 -> mb: I(267)
    gap -> susp: 1 -> k: C(1/18.7e3), b: R(700)
}
experiment drive of Car { stop = 5; record body.f as v }
";

#[test]
fn reducing_by_activity_is_the_answer_of_structure() {
    let folder = Folder::new();
    folder.write("car.bond", CAR);
    let said = folder.expect(
        0,
        &["reduce", "car.bond", "--activity", "95%", "-o", "a.bond"],
    );
    let other = folder.expect(
        0,
        &["structure", "car.bond", "--reduce", "95%", "-o", "b.bond"],
    );
    assert_eq!(said, other);
    assert!(said.contains("mw at `wheel`"), "{said}");
    let read = |name: &str| std::fs::read_to_string(folder.0.join(name)).expect("it was written");
    assert_eq!(read("a.bond"), read("b.bond"));
    assert!(read("a.bond").contains("mw: Se(0)"));
    folder.expect(0, &["run", "a.bond", "--no-report"]);
    // With a blank, as a part of one, and as JSON.
    for share in ["95 %", "0.95"] {
        let json = folder.expect(0, &["reduce", "car.bond", "--activity", share, "--json"]);
        let json: serde_json::Value = serde_json::from_str(&json).expect("it is JSON");
        assert_eq!(json["left_out"][0]["name"], "mw", "{json}");
    }
    // Another model of the file has the same names.
    let other = CAR.replacen("Car", "Other", 1);
    let other = other.split("experiment").next().expect("a model");
    folder.write("two.bond", &format!("{other}{CAR}"));
    let two = folder.expect(0, &["reduce", "two.bond", "--activity", "95%"]);
    assert_eq!(
        two.trim_end(),
        format!("{other}{}", read("a.bond").trim_end())
    );
    for share in ["", "0", "100%", "-3%", "much", "NaN"] {
        folder.expect(2, &["reduce", "car.bond", &format!("--activity={share}")]);
    }
    folder.expect(2, &["reduce", "car.bond", "--activity", "99.9999%"]);
    folder.expect(2, &["reduce", "car.bond", "--activity", "95%", "--minimal"]);
    folder.expect(
        1,
        &["reduce", "car.bond", "--activity", "95%", "-e", "none"],
    );
}
