//! FMUs of ours as parts: what is exported and read back gives the same run.
//!
//! The importer knows nothing of who made an FMU, so this is a law about both: Model Exchange within 1e-8 of the
//! range, Co-Simulation within 1e-6 at its steps.

mod kit;

use kit::{design_of_file, design_of_text, has_compiler, work_folder};
use paynter::design::Design;
use paynter::run::{RunChoice, run};
use paynter::simulate::Ending;
use paynter::syntax::render;
use paynter::table::Table;
use paynter_export::fmu::{Options, Version, pack, write};
use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

/// What may differ, relative to the range of a column.
const EXCHANGE: f64 = 1e-8;
const SAMPLED: f64 = 1e-6;

/// Writes the FMU of a model once, and gives its file.
fn fmu(name: &str, text: &str, version: Version) -> PathBuf {
    static MADE: Mutex<BTreeMap<String, PathBuf>> = Mutex::new(BTreeMap::new());
    let mut made = MADE.lock().unwrap_or_else(PoisonError::into_inner);
    let key = format!("{name}{}", u8::from(version == Version::Three));
    let make = || write_fmu(name, text, version);
    made.entry(key).or_insert_with(make).clone()
}

fn write_fmu(name: &str, text: &str, version: Version) -> PathBuf {
    let export = paynter_export::export(&design_of_text(name, text)).expect("it can be exported");
    let options = Options {
        version,
        is_sources_only: false,
    };
    let made = write(&export, &options).expect("it can be written");
    assert!(made.no_binary.is_none(), "{:?}", made.no_binary);
    let path = work_folder().join(format!("{name}_{version:?}.fmu"));
    std::fs::write(&path, made.bytes).expect("it can be written");
    path
}

fn table_of(design: &Design) -> Table {
    let outcome = run(design, &RunChoice::default(), &mut |_| {
        ControlFlow::Continue(())
    });
    let outcome = match outcome {
        Ok(outcome) => outcome,
        Err(messages) => panic!("{messages:?}"),
    };
    assert!(
        !matches!(outcome.run.ending, Ending::Failed { .. }),
        "{:?}",
        outcome.run.ending
    );
    outcome.run.table
}

/// A design of a text that lies beside the FMUs.
fn beside(name: &str, text: &str) -> Design {
    static NUMBER: AtomicUsize = AtomicUsize::new(0);
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    let path = work_folder().join(format!("{name}_around{number}.bond"));
    std::fs::write(&path, text).expect("it can be written");
    design_of_file(&path)
}

/// The largest difference of two columns, relative to the range of the first.
fn difference(own: &Table, other: &Table, column: &str) -> f64 {
    let of = |t: &Table| t.column(column).expect("it was recorded").values.clone();
    let (a, b) = (of(own), of(other));
    assert_eq!(a.len(), b.len(), "as many rows of `{column}`");
    let most = a.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let least = a.iter().copied().fold(f64::INFINITY, f64::min);
    let size = (most - least).max(0.1 * most.abs()).max(1e-12);
    let gaps = a.iter().zip(&b).map(|(a, b)| (a - b).abs());
    gaps.fold(0.0, f64::max) / size
}

/// A model, how its part is driven from outside, and what is looked at.
struct Case {
    name: &'static str,
    model: &'static str,
    /// The input and what is given to it.
    input: (&'static str, &'static str),
    /// Other arguments, each with a comma before it.
    given: &'static str,
    columns: &'static [&'static str],
    stop: &'static str,
    /// Distance of outputs, s, and its inverse.
    step: (&'static str, &'static str),
}

const CASES: &[Case] = &[
    Case {
        name: "circuit",
        model: "model Circuit {
            param R1 = 100 [ohm], C1 = 100 [uF], R2 = 10 [ohm], L1 = 0.1 [H]
            input u = 0 [V]
            supply: Se(u) -> mesh: 1 -> node: 0 -> branch: 1
            mesh -> r1: R(R1)
            node -> c1: C(C1)
            branch -> r2: R(R2), l1: I(L1)
            output v = c1.e, i = l1.f, direct = u + c1.e
        }",
        input: ("u", "10 [V]*sin(100*time/1 [s])"),
        given: ", R2 = 20 [ohm]",
        columns: &["v", "i", "direct"],
        stop: "0.1 [s]",
        step: ("0.001", "1000"),
    },
    Case {
        name: "ball",
        // A parameter with a unit may be negative.
        model: "model Ball {
            param k = 0.8, h0 = 1 [m], pull = -9.81 [N]
            input wind = 0 [N]
            weight: Se(pull + wind) -> body: 1 -> mass: I(1)
            der(h) = body.f
            when bounce: h < 0 and body.f < 0 { reinit mass.p = -k*mass.p }
            start h = h0
            output height = h, speed = body.f
        }",
        input: ("wind", "0.5 [N]"),
        given: ", h0 = 2 [m]",
        columns: &["height", "speed"],
        stop: "2.5 [s]",
        step: ("0.01", "100"),
    },
    Case {
        name: "relay",
        model: "model Relay {
            input u = 0
            der(x) = (if u > 0.2 then 1 else -1) - x
            der(z) = abs(x) + (if time > 0.33 then 2 else 0)
            output y = x, w = z
        }",
        // At the start the relay is on, though the input of the FMU starts at 0.
        input: ("u", "cos(7*time)"),
        given: "",
        columns: &["y", "w"],
        stop: "2",
        step: ("0.01", "100"),
    },
    Case {
        name: "sampled",
        model: "model Sampled {
            input target = 1
            sample at 100 {
                err = target - y
                u = pre(u) + 0.02*err
            }
            der(y) = (u - y)/0.2
            output out = y, control = u
        }",
        input: ("target", "2"),
        given: "",
        columns: &["out", "control"],
        stop: "1",
        step: ("0.004", "250"),
    },
];

impl Case {
    /// A model around a part, with an experiment.
    fn around(&self, part: &str, before: &str) -> String {
        let columns = self.columns.iter();
        let outputs: Vec<String> = columns.map(|c| format!("{c} = part.{c}")).collect();
        format!(
            "model Around {{ {before}\n part: {part}\n output {} }}
            experiment go of Around {{ stop = {}; output_step = {} [s]; rtol = 1e-10; atol = 1e-12; record {} }}",
            outputs.join(", "),
            self.stop,
            self.step.0,
            self.columns.join(", ")
        )
    }

    /// The part written as a model, with something for its input.
    fn own(&self, value: &str) -> String {
        let of = self.model.split_whitespace().nth(1).expect("a name");
        format!("{of}({} = {value}{})", self.input.0, self.given)
    }

    /// The part as an FMU.
    fn foreign(&self, file: &Path, value: &str, more: &str) -> String {
        let file = file.file_name().and_then(|n| n.to_str()).expect("a name");
        format!(
            "Fmu(\"{file}\", {} = {value}{}{more})",
            self.input.0, self.given
        )
    }

    fn compare(&self, expected: &Table, found: &Table, within: f64, what: &str) {
        for column in self.columns {
            let gap = difference(expected, found, column);
            let name = self.name;
            assert!(gap < within, "{name}, {what}, {column}: {gap:e}");
        }
    }
}

const VERSIONS: [Version; 2] = [Version::Two, Version::Three];

#[test]
fn model_exchange_gives_the_same_run() {
    if !has_compiler() {
        return;
    }
    for case in CASES {
        let own = case.around(&case.own(case.input.1), "");
        let expected = table_of(&beside(case.name, &format!("{}\n{own}", case.model)));
        for version in VERSIONS {
            let file = fmu(case.name, case.model, version);
            let part = case.foreign(&file, case.input.1, "");
            let found = table_of(&beside(case.name, &case.around(&part, "")));
            case.compare(&expected, &found, EXCHANGE, &format!("{version:?}"));
        }
    }
}

#[test]
fn co_simulation_gives_the_same_run_at_its_steps() {
    if !has_compiler() {
        return;
    }
    for case in CASES {
        // The FMU sees its inputs as they were at the last step.
        let hold = format!(
            "sample at {} [Hz] {{ held = {} }}",
            case.step.1, case.input.1
        );
        let own = case.around(&case.own("held"), &hold);
        let expected = table_of(&beside(case.name, &format!("{}\n{own}", case.model)));
        for version in VERSIONS {
            let file = fmu(case.name, case.model, version);
            let period = format!(", period = {} [s]", case.step.0);
            let part = case.foreign(&file, case.input.1, &period);
            let found = table_of(&beside(case.name, &case.around(&part, "")));
            case.compare(&expected, &found, SAMPLED, &format!("{version:?}"));
        }
    }
}

/// A lag whose output has a direct part.
const LAG: &str = "model Lag {
    param T = 0.5, g = 0.25
    input u = 0
    der(x) = (u - x)/T
    output y = x + g*u, slow = x
}";

/// Runs a text in which `Lag(…)` is a model or an FMU, and gives the column `y`.
fn with_lag(text: &str, lag: Option<&Path>) -> Table {
    let text = match lag {
        None => format!("{LAG}\n{text}"),
        Some(file) => {
            let file = file.file_name().and_then(|n| n.to_str()).expect("a name");
            text.replace("Lag(", &format!("Fmu(\"{file}\", "))
        }
    };
    table_of(&beside("lag", &text))
}

#[test]
fn parts_close_loops_through_fmus() {
    if !has_compiler() {
        return;
    }
    let experiment = "experiment go of M { stop = 3; output_step = 0.01; rtol = 1e-10; atol = 1e-12; record y, z }";
    let texts = [
        // Two parts of one file, with different and with equal parameters.
        "model M { a: Lag(T = 0.3, u = 1); b: Lag(T = 0.7, u = a.y); output y = b.y, z = a.y }",
        "model M { a: Lag(u = sin(time)); b: Lag(u = a.slow); output y = b.slow, z = a.slow }",
        // Through a state of ours, and through nothing but the direct part.
        "model M { a: Lag(u = 1 - w); der(w) = a.y - w; output y = w, z = a.slow }",
        "model M { a: Lag(u = w); solve w { w == 1 - 2*a.y }\n output y = a.y, z = a.slow }",
        // Through an output that does not depend on the input at once.
        "model M { a: Lag(u = 1 - 2*a.slow); output y = a.y, z = a.slow }",
    ];
    for version in VERSIONS {
        let file = fmu("lag", LAG, version);
        for text in texts {
            let text = format!("{text}\n{experiment}");
            let (own, other) = (with_lag(&text, None), with_lag(&text, Some(&file)));
            for column in ["y", "z"] {
                let gap = difference(&own, &other, column);
                assert!(gap < EXCHANGE, "{text} {version:?} {column}: {gap:e}");
            }
        }
    }
}

/// Compiles the ball of `foreign2.c`, and packs it with a description.
fn foreign_ball(flag: &str, description: &str) -> PathBuf {
    static NUMBER: AtomicUsize = AtomicUsize::new(0);
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    let (source, library) = (format!("foreign{number}.c"), format!("foreign{number}.so"));
    let folder = work_folder();
    let text = include_str!("kit/foreign2.c");
    std::fs::write(folder.join(&source), text).expect("it can be written");
    let mut compiler = Command::new("cc");
    compiler.args(["-std=c99", "-O1", "-fPIC", "-shared", flag, "-o"]);
    let status = compiler
        .args([&library, &source])
        .current_dir(&folder)
        .status();
    assert!(status.expect("it runs").success());
    let library = std::fs::read(folder.join(&library)).expect("it was made");
    let file = folder.join(format!("foreign{number}.fmu"));
    let platform = "binaries/linux64/ball.so";
    let bytes = pack(&[
        ("modelDescription.xml", description.as_bytes()),
        (platform, &library),
    ]);
    std::fs::write(&file, bytes).expect("it can be written");
    file
}

const FOREIGN: &str = include_str!("kit/foreign2.xml");

/// The same ball in our own words, in metres.
const BALL: &str = "model Ball {
    param g = 9.81, e = 0.5
    input push = 0
    der(h) = v
    der(v) = push + wind - g
    when h <= 0 and v < 0 { reinit v = -e*v; reinit h = 0; n = pre(n) + 1 }
    when time >= 0.5 { wind = 2 }
    start h = 1
    output y = h, bounces = n
}";

const BALL_RUN: &str =
    "stop = 1.2 [s]; output_step = 0.01 [s]; rtol = 1e-10; atol = 1e-12; record y, n";

fn around_ball(file: &Path, given: &str) -> String {
    let file = file.file_name().and_then(|n| n.to_str()).expect("a name");
    format!(
        "units strict
        model M {{
            ball: Fmu(\"{file}\"{given})
            output y [m] = ball.h, n = ball.bounces, v = ball.body_v_1
        }}
        experiment go of M {{ {BALL_RUN} }}"
    )
}

#[test]
fn an_fmu_of_somebody_else_runs() {
    if !has_compiler() || !cfg!(all(target_os = "linux", target_pointer_width = "64")) {
        return;
    }
    let own = format!(
        "{BALL}\nmodel M {{ ball: Ball(push = sin(9*time), e = 0.7); output y = ball.y, n = ball.bounces }}
        experiment go of M {{ {} }}",
        BALL_RUN.replace(" [s]", "")
    );
    let expected = table_of(&beside("own", &own));
    let given = ", push = 1 [m/s^2]*sin(9*time/1 [s]), v_start = 0.7";
    // One instance must take turns with itself; many need not.
    for is_only in ["false", "true"] {
        let text = FOREIGN.replace("Process=\"false\"", &format!("Process=\"{is_only}\""));
        let file = foreign_ball("-DPLAIN", &text);
        let found = table_of(&beside("foreign", &around_ball(&file, given)));
        for column in ["y", "n"] {
            let gap = difference(&expected, &found, column);
            assert!(gap < EXCHANGE, "{is_only} {column}: {gap:e}");
        }
    }
}

/// All messages about a run that fails.
fn failure_of(text: &str) -> String {
    let design = beside("bad", text);
    let outcome = run(&design, &RunChoice::default(), &mut |_| {
        ControlFlow::Continue(())
    });
    let messages = match outcome {
        Err(messages) => messages,
        Ok(outcome) => match outcome.run.ending {
            Ending::Failed {
                why: diagnostics, ..
            } => diagnostics,
            other => panic!("it runs: {other:?}"),
        },
    };
    render(&messages, &design.project.sources, false)
}

#[test]
fn what_goes_wrong_in_an_fmu_is_a_message_where_it_is_named() {
    if !has_compiler() || !cfg!(all(target_os = "linux", target_pointer_width = "64")) {
        return;
    }
    let says = |file: &Path, given: &str, words: &str| {
        let text = failure_of(&around_ball(file, given));
        assert!(text.contains(words), "{words}:\n{text}");
        assert!(text.contains("ball: Fmu("), "{text}");
    };
    let good = foreign_ball("-DPLAIN", FOREIGN);
    says(&good, ", v_start = -1", "e must not be negative");
    let file = foreign_ball("-DNO_RATES", FOREIGN);
    says(
        &file,
        "",
        "its library has no function `fmi2GetDerivatives`",
    );
    let file = foreign_ball("-DPLAIN", &FOREIGN.replace("{ball}", "{cube}"));
    says(&file, "", "this is another ball");
    let file = foreign_ball("-DWANTS_EVENTS", FOREIGN);
    says(&file, "", "asks for an event");
    let no_library = pack(&[
        ("modelDescription.xml", FOREIGN.as_bytes()),
        ("binaries/linux64/ball.so", b"no library"),
    ]);
    let file = work_folder().join("no_library.fmu");
    std::fs::write(&file, no_library).expect("it can be written");
    says(&file, "", "cannot be loaded");
}

#[test]
fn an_fmu_may_end_the_run() {
    if !has_compiler() || !cfg!(all(target_os = "linux", target_pointer_width = "64")) {
        return;
    }
    let file = foreign_ball("-DENDS", FOREIGN);
    let design = beside("ends", &around_ball(&file, ""));
    let outcome = run(&design, &RunChoice::default(), &mut |_| {
        ControlFlow::Continue(())
    });
    let run = outcome.expect("it starts").run;
    assert!(
        matches!(run.ending, Ending::Stopped { .. }),
        "{:?}",
        run.ending
    );
}

#[test]
fn what_needs_more_than_an_fmu_gives_is_refused() {
    if !has_compiler() || !cfg!(all(target_os = "linux", target_pointer_width = "64")) {
        return;
    }
    let file = foreign_ball("-DPLAIN", FOREIGN);
    let text = around_ball(&file, "").replace("record", "linearize from ball.push to y; record");
    let text = failure_of(&text);
    assert!(
        text.contains("E0752") && text.contains("gives no derivatives"),
        "{text}"
    );
    let design = beside("export", &around_ball(&file, ""));
    let Err(messages) = paynter_export::export(&design) else {
        panic!("a model with an FMU was exported");
    };
    let text = render(&messages, &design.project.sources, false);
    assert!(
        text.contains("E0871") && text.contains("ball: Fmu("),
        "{text}"
    );
}
