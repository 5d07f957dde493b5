//! What must not matter: the order of lines, names, the engine, units.

use crate::kit::{self, Seeded, distance, gallery, gallery_text, passive_network, run_text, size};
use paynter::Choice;
use paynter::exec::Engine;
use paynter::experiment::Outcome;
use std::path::Path;

/// Gallery text that runs from any folder: without comparisons, other files by full path.
fn portable(file: &str) -> String {
    let servo = gallery().join("servo/servo.bond").display().to_string();
    let lines = gallery_text(file);
    let kept: Vec<&str> = lines
        .lines()
        .filter(|l| !l.trim_start().starts_with("compare"))
        .collect();
    kept.join("\n").replace("../servo/servo.bond", &servo) + "\n"
}

/// Mixes the statements of every model; a statement is a line, with all lines of its braces.
fn shuffle_models(text: &str, seed: u64) -> String {
    let mut random = Seeded(seed);
    let mut out = String::new();
    let mut body: Vec<String> = Vec::new();
    let (mut is_model, mut depth) = (false, 0_i32);
    for line in text.lines() {
        let code = line.split("//").next().unwrap_or("");
        let before = depth;
        depth += code.matches('{').count() as i32 - code.matches('}').count() as i32;
        if before == 0 {
            is_model = line.starts_with("model");
            out.push_str(line);
            out.push('\n');
        } else if depth == 0 {
            random.shuffle(&mut body);
            out.push_str(&body.concat());
            body.clear();
            out.push_str(line);
            out.push('\n');
        } else if !is_model {
            body.clear();
            out.push_str(line);
            out.push('\n');
        } else if line.trim_start().starts_with("///") {
            // Documentation would stay behind when its statement moves.
        } else if before == 1 {
            body.push(format!("{line}\n"));
        } else {
            let open = body.last_mut().expect("the line that opened the brace");
            open.push_str(line);
            open.push('\n');
        }
    }
    out
}

/// Largest difference of any column, as a part of its size.
fn difference(a: &Outcome, b: &Outcome) -> f64 {
    let pairs = a.run.table.columns.iter().zip(&b.run.table.columns);
    pairs
        .map(|(x, y)| distance(&x.values, &y.values) / size(&x.values).max(f64::MIN_POSITIVE))
        .fold(0.0, f64::max)
}

/// Roundings only: other lines, same numbers.
const SAME: f64 = 1e-12;

/// Largest difference between a text and five orders of its lines.
fn order_matters_by(text: &str) -> f64 {
    let plain = run_text(text);
    (0..5)
        .map(|seed| difference(&plain, &run_text(&shuffle_models(text, seed))))
        .fold(0.0, f64::max)
}

fn assert_order_does_not_matter(file: &str) {
    let d = order_matters_by(&portable(file));
    assert!(d <= SAME, "{file}: {d:e}");
}

#[test]
fn order_of_lines_does_not_matter_in_the_gyroscope() {
    let text = portable("gyroscope/gyroscope.bond");
    let fixed = text.replace("method = dop853", "method = rk4(step = 1 [ms])");
    assert!(fixed != text);
    let d = order_matters_by(&fixed);
    assert!(d <= SAME, "{d:e}");
    // LIMIT: sums in another order differ by roundings, and at rtol 1e-11 a rounding may decide
    // whether a step is rejected. The trajectories then differ by no more than the error asked for.
    let d = order_matters_by(&text);
    assert!(d <= 10.0 * 1e-11, "{d:e}");
}

#[test]
fn order_of_lines_does_not_matter_in_the_linear_servo() {
    assert_order_does_not_matter("servo/linear_servo.bond");
}

#[test]
fn order_of_lines_does_not_matter_in_the_bridge() {
    assert_order_does_not_matter("wheatstone/wheatstone.bond");
}

#[test]
fn order_of_lines_does_not_matter_in_the_flight_table() {
    assert_order_does_not_matter("flight_table/flight_table.bond");
}

#[test]
fn order_of_lines_does_not_matter_among_dependent_capacitors() {
    let run = |lines: &str| {
        run_text(&format!(
            "model M {{\n{lines}\ns: Se(1) -> j: 1 -> n\nj -> r: R(1)\nn: 0\n}}
            experiment x of M {{ stop = 1; rtol = 1e-8; record c1.q, c2.q }}"
        ))
    };
    let d = difference(
        &run("n -> c1: C(1)\nn -> c2: C(3)"),
        &run("n -> c2: C(3)\nn -> c1: C(1)"),
    );
    assert!(d <= SAME, "{d:e}");
}

/// Ten thousand tolerances: far above what methods may differ by, far below a wrong equation.
const SAME_BY_ANOTHER_METHOD: f64 = 1e-4;

#[test]
fn method_and_order_of_lines_do_not_matter_in_random_networks() {
    for seed in 0..60 {
        let text = passive_network(5000 + seed, true);
        let plain = run_text(&text);
        for method in ["rodas5p", "bdf", "tsit5"] {
            let other = text.replace("rtol = 1e-8", &format!("rtol = 1e-8; method = {method}"));
            let d = difference(&plain, &run_text(&other));
            assert!(d <= SAME_BY_ANOTHER_METHOD, "{method} {d:e}\n{text}");
        }
        // Ten tolerances: a step may be rejected by a rounding.
        let d = difference(&plain, &run_text(&shuffle_models(&text, seed)));
        assert!(d <= 1e-7, "{d:e}\n{text}");
    }
}

/// Puts other names for whole words.
fn rename(text: &str, names: &[(&str, &str)]) -> String {
    let mut out = String::new();
    let mut word = String::new();
    let close = |word: &mut String, out: &mut String| {
        let new = names.iter().find(|(old, _)| old == word);
        out.push_str(new.map_or(word.as_str(), |(_, new)| new));
        word.clear();
    };
    for c in text.chars() {
        if c.is_alphanumeric() || c == '_' {
            word.push(c);
        } else {
            close(&mut word, &mut out);
            out.push(c);
        }
    }
    close(&mut word, &mut out);
    out
}

#[test]
fn names_do_not_matter_in_the_gyroscope() {
    let text = portable("gyroscope/gyroscope.bond");
    let names = [
        ("tilt", "zz"),
        ("turn", "aa"),
        ("spin", "mm"),
        ("along", "q9"),
        ("across", "b2"),
        ("I1", "y1"),
        ("I5", "a5"),
        ("sum", "nn"),
    ];
    let d = difference(&run_text(&text), &run_text(&rename(&text, &names)));
    assert!(d <= SAME, "{d:e}");
}

#[test]
fn names_do_not_matter_in_the_bridge() {
    let text = portable("wheatstone/wheatstone.bond");
    let names = [
        ("r1", "z1"),
        ("r3", "a3"),
        ("c1", "zc"),
        ("c2", "ac"),
        ("ab", "u"),
        ("ad", "h"),
    ];
    let d = difference(&run_text(&text), &run_text(&rename(&text, &names)));
    assert!(d <= SAME, "{d:e}");
}

#[test]
fn names_do_not_matter_in_the_flight_table() {
    let text = portable("flight_table/flight_table.bond");
    let names = [
        ("wx", "zx"),
        ("wz", "az"),
        ("ix", "zi"),
        ("inner", "k"),
        ("middle", "c"),
    ];
    let d = difference(&run_text(&text), &run_text(&rename(&text, &names)));
    assert!(d <= SAME, "{d:e}");
}

/// Experiments of one file differ in values more than in code, and the interpreter is slow.
const MOST_EXPERIMENTS: usize = 5;

/// Interpreter and machine code give the same bits on the experiments of a folder.
fn assert_engines_agree(folder: &str) {
    let mut n_runs = 0;
    for file in kit::gallery_files() {
        if file.parent().and_then(Path::file_name) != Some(folder.as_ref()) {
            continue;
        }
        let experiments = paynter::experiments(&file).expect("the file parses");
        let step = experiments.len().div_ceil(MOST_EXPERIMENTS);
        for experiment in experiments.into_iter().step_by(step.max(1)) {
            let choice = Choice {
                experiment: Some(experiment.clone()),
                ..Choice::default()
            };
            let design = paynter::design(&file, &choice).expect("the gallery has no mistakes");
            let run = |engine| kit::run_design(&design, engine).expect("the gallery runs");
            let (slow, fast) = (run(Engine::Interpreter), run(Engine::Jit));
            for (a, b) in slow.run.table.columns.iter().zip(&fast.run.table.columns) {
                let is_same = |(x, y): (&f64, &f64)| x.to_bits() == y.to_bits();
                let pairs = a.values.iter().zip(&b.values);
                assert!(pairs.clone().all(is_same), "{experiment}: {}", a.name);
                assert_eq!(a.values.len(), b.values.len());
            }
            n_runs += 1;
        }
    }
    assert!(n_runs > 0, "{folder} has experiments");
}

macro_rules! engines_agree_in {
    ($($name:ident),* $(,)?) => {
        mod interpreter_and_machine_code_give_the_same_bits_in {
            $(#[test] fn $name() { super::assert_engines_agree(stringify!($name)); })*
        }
    };
}

engines_agree_in!(
    ball_joint,
    circuit,
    disc,
    flight_table,
    gear_train,
    gyroscope,
    missile,
    pendulum,
    rate_gyro,
    servo,
    spring_mass_damper,
    wheatstone,
);

/// Writes every number in feet or slugs in metres and kilograms.
fn in_si(text: &str) -> String {
    const FOOT: f64 = 0.3048;
    // lbf s²/ft with the standard pound-force of 4.4482216152605 N.
    const SLUG: f64 = 4.4482216152605 / FOOT;
    let units = [
        ("slug/ft^3", SLUG / (FOOT * FOOT * FOOT), "kg/m^3"),
        ("ft/s^2", FOOT, "m/s^2"),
        ("ft/s", FOOT, "m/s"),
        ("ft", FOOT, "m"),
        ("slug", SLUG, "kg"),
    ];
    let mut out = text.to_owned();
    for (imperial, factor, metric) in units {
        let bracket = format!(" [{imperial}]");
        let mut rest = out.as_str();
        let mut next = String::new();
        while let Some(at) = rest.find(&bracket) {
            let digits = |c: char| c.is_ascii_digit() || c == '.';
            let from = rest[..at].trim_end_matches(digits).len();
            match rest[from..at].parse::<f64>() {
                Ok(x) => {
                    next.push_str(&rest[..from]);
                    next.push_str(&format!("{:?} [{metric}]", x * factor));
                }
                Err(_) => next.push_str(&rest[..at + bracket.len()]),
            }
            rest = &rest[at + bracket.len()..];
        }
        next.push_str(rest);
        out = next;
    }
    out
}

#[test]
fn missile_in_feet_and_slugs_flies_as_in_metres_and_kilograms() {
    let text = portable("missile/missile.bond");
    let metric = in_si(&text);
    assert!(metric.contains("[kg/m^3]") && metric.contains("9.80") && metric != text);
    let d = difference(&run_text(&text), &run_text(&metric));
    assert!(d <= SAME, "{d:e}");
}
