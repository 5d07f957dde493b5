//! Assumptions: the rewritten model is that of the assumption, and the error that is reported is the one it makes.

mod kit;

use kit::{PATH, words, world};
use paynter::DesignError;
use paynter::compare::compare;
use paynter::loader::DiskLoader;
use paynter::overlay::{LibraryOnly, Overlay};
use paynter::syntax::render;
use paynter::table::Table;
use paynter_rewrite::{Rewritten, Wish, assume, scalarize};

fn assumed(text: &str, asked: &[&str]) -> Result<Rewritten, String> {
    let mut loader = Overlay::new(LibraryOnly);
    loader.set("m.bond", text);
    let asked: Vec<String> = asked.iter().map(|a| (*a).to_owned()).collect();
    assume(&mut loader, "m.bond", &Wish::default(), &asked).map_err(|e| match e {
        DesignError::Model(f) => render(&f.diagnostics, &f.sources, false),
        DesignError::Unreadable(message) => message,
    })
}

/// A stiff coupling between two discs: the second hardly moves against the first.
const DISCS: &str = "model Discs {
    param J = 2, k = 1e6
    input M = 0
    push: Se(M) -> one: 1 -> j1: I(J), r: R(1)
    one -> gap: 0 -> two: 1 -> j2: I(3)
    gap -> slip: 1 -> spring: C(1/k), d: R(100)
}
experiment e of Discs {
    with M = sin(time)
    start two.f = 0
    stop = 5 [s]; rtol = 1e-9; record one.f as w1
}
";

#[test]
fn what_is_assumed_to_rest_goes_and_the_error_is_that_of_the_slip() {
    let found = assumed(DISCS, &["slip.f = 0"]).unwrap_or_else(|e| panic!("{e}"));
    assert!(found.holds(), "{:?}", found.lines());
    assert!(!found.text.contains("spring: C"), "{}", found.text);
    let error = found.steps.iter().find(|s| s.rule == "error");
    let text = &error.expect("it is measured").text;
    assert!(text.contains("`slip.f` is up to"), "{text}");
    // Rigid discs move as the stiff coupling does, but for M/k.
    let size: f64 = text
        .rsplit_once("w1 ")
        .and_then(|(_, x)| x.parse().ok())
        .unwrap_or_else(|| panic!("{text}"));
    assert!(size < 1e-4, "{text}");
}

#[test]
fn a_speed_that_is_held_takes_its_start_value_away() {
    let text = "model Gyro {
    param J = 0.1
    rotor: 1 -> jr: I(0.5), drag: R(1e-4)
    tilt: 1 -> jt: I(J), spring: C(1), damp: R(0.3)
    swing: 1 -> js: I(0.2), hold: C(2)
    tilt -> GY(jr.p) -> swing
}
experiment e of Gyro {
    start rotor.f = 10, tilt.f = 0.1
    stop = 3 [s]; rtol = 1e-9; record tilt.f as w
}
";
    let found = assumed(text, &["rotor.f = 10"]).unwrap_or_else(|e| panic!("{e}"));
    assert!(found.holds(), "{:?}", found.lines());
    assert!(found.text.contains("start tilt.f = 0.1"), "{}", found.text);
    let lines = found.lines().join("\n");
    assert!(
        lines.contains("the start value `rotor.f = 10` goes"),
        "{lines}"
    );
    // The drag slows the rotor by R t/J: 6e-4 of its speed in 3 s.
    assert!(lines.contains("`rotor.f` is up to 5.99"), "{lines}");
}

#[test]
fn nonsense_is_refused() {
    for (asked, why) in [
        ("one.f", "it is not an equation"),
        ("one.e = 0", "shares its flow"),
        ("gap.f = 0", "shares its effort"),
        ("nobody.f = 0", "not a junction of `Discs`"),
        ("one.f = ", "it has no value"),
        ("one.f = nobody", "nothing is called `nobody`"),
    ] {
        let message = assumed(DISCS, &[asked]).expect_err(asked);
        assert!(
            message.contains(why) && message.contains("E0884"),
            "{message}"
        );
    }
}

#[test]
fn a_value_in_another_unit_is_refused() {
    let text = "units strict
model M { pull: Se(2 [N*m]) -> a: 1 -> j: I(1 [kg*m^2]), b: R(1 [N*m*s/rad]) }
experiment e of M { stop = 1 [s]; record a.f }
";
    for asked in ["a.f = 3", "a.f = 3 [m]", "a.f = 0 [m]"] {
        let message = assumed(text, &[asked]).expect_err(asked);
        assert!(
            message.contains("E0884") && message.contains("rad/s"),
            "{message}"
        );
    }
}

fn rate_gyro() -> String {
    let path = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../gallery/rate_gyro/rate_gyro.bond"
    );
    without_comparisons(&std::fs::read_to_string(path).expect("the gallery has it"))
}

fn without_comparisons(text: &str) -> String {
    let lines = text.lines();
    let lines = lines.filter(|l| !l.trim_start().starts_with("compare "));
    lines.map(|l| format!("{l}\n")).collect()
}

/// Tiernego & Bos 1985, figs 19 to 21: what is left of the full gyro is equation 12, with an error of |J1y + Js − J1z − Jt| ψ̇ sin α/(Js Ω).
#[test]
fn a_fast_rotor_leaves_one_gyrator() {
    let wish = Wish {
        model: Some("RateGyro".to_owned()),
        experiment: None,
    };
    let asked = ["turn.f << Omega".to_owned()];
    let found = assume(&mut world(&rate_gyro()), PATH, &wish, &asked).map_err(words);
    let found = found.expect("it is small");
    assert!(found.holds(), "{}", found.text);
    let start = found.text.find("model RateGyro").expect("it is there");
    let model = &found.text[start..start + found.text[start..].find("\n}").expect("it ends")];
    // The casing's rate is given, so that its gyrator is a torque.
    assert!(
        model.contains("Se(cos(alpha)*(Js*Omega)*psi_dot) -> tilt"),
        "{model}"
    );
    assert!(
        !model.contains("TF(") && !model.contains("rotor"),
        "{model}"
    );
    assert!(
        found.text.contains("measure dropped = max(abs("),
        "{}",
        found.text
    );
    let error = found
        .steps
        .iter()
        .find(|s| s.rule == "error")
        .expect("it is measured");
    // ε = 3e-5·1·sin(0.0522)/(1e-4·2500) = 6.27e-6, and α differs by about as much.
    assert!(
        error.text.contains("6.257e-6") && error.text.contains("alpha 6.09e-6"),
        "{}",
        error.text
    );
}

/// The gallery's folder of the rate gyro.
const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../gallery/rate_gyro");

/// `rate_gyro_reduced.bond` is what `paynter reduce rate_gyro.bond --assume "turn.f << Omega"` writes.
#[test]
fn the_reduced_gyro_of_the_gallery_is_that_of_the_tool() {
    let asked = ["turn.f << Omega".to_owned()];
    let path = format!("{FOLDER}/rate_gyro.bond");
    let found = assume(&mut DiskLoader::default(), &path, &Wish::default(), &asked);
    let found = found.map_err(words).expect("it is small");
    let written = std::fs::read_to_string(format!("{FOLDER}/rate_gyro_reduced.bond"));
    assert_eq!(found.text, written.expect("the gallery has it"));
    // The reference of the full gyro went, that of equation 12 stayed.
    assert!(!found.text.contains("rategyro_step_full.csv\" within"));
    assert!(
        found
            .text
            .contains("compare \"reference/rategyro_step_seed12.csv\"")
    );
}

/// What is left of the gyro, beside equation 12: J α'' + b α' + k α = Js Ω ψ' cos α.
#[test]
fn the_derived_gyro_is_that_of_equation_12() {
    let asked = ["Omega >> turn.f".to_owned()];
    let found = assume(&mut world(&rate_gyro()), PATH, &Wish::default(), &asked).map_err(words);
    let text = found.expect("it is small").text;
    let (j, js, omega, k, b) = (8e-5, 1e-4, 2500.0, 5.0, 0.028);
    for (experiment, rate) in [
        ("rategyro_step", None),
        ("rategyro_sin", Some((2.0, 40.0_f64))),
    ] {
        let rates = |t: f64, [alpha, speed]: [f64; 2]| {
            let psi = rate.map_or(1.0, |(size, w)| size * (w * t).sin());
            let torque = js * omega * psi * alpha.cos() - b * speed - k * alpha;
            [speed, torque / j]
        };
        let (n, mut s) = (20_000, [0.0; 2]);
        let h = 0.2 / f64::from(n);
        let moved = |s: [f64; 2], k: [f64; 2], h: f64| [s[0] + h * k[0], s[1] + h * k[1]];
        for step in 0..n {
            let t = h * f64::from(step);
            let k1 = rates(t, s);
            let k2 = rates(t + h / 2.0, moved(s, k1, h / 2.0));
            let k3 = rates(t + h / 2.0, moved(s, k2, h / 2.0));
            let k4 = rates(t + h, moved(s, k3, h));
            for i in 0..2 {
                s[i] += h / 6.0 * (k1[i] + 2.0 * k2[i] + 2.0 * k3[i] + k4[i]);
            }
        }
        let table = kit::ran_named(&text, experiment);
        let column = table.column("alpha").expect("recorded");
        let last = *column.values.last().expect("a row");
        assert!((last - s[0]).abs() < 1e-9, "{experiment}: {last} {}", s[0]);
        // The gallery's tables of equation 12, which were computed apart from this program.
        let file = format!("{FOLDER}/reference/{experiment}_seed12.csv");
        let reference = Table::read(file.as_ref()).expect("the gallery has it");
        let differences = compare(&table, &reference, 1e-9);
        assert!(differences.worst() < 1e-8, "{experiment}: {differences:?}");
    }
}

#[test]
fn smallness_without_something_large_is_refused() {
    let wish = Wish {
        model: Some("RateGyro".to_owned()),
        experiment: None,
    };
    for (asked, why) in [
        ("turn.f << k", "no modulus has `k`"),
        ("wheel.f << Omega", "wheel.f"),
        ("wy.f << Omega", "wy.f"),
        ("turn.f <<", "does not say beside what"),
        ("<< Omega", "does not say what is small"),
        (">>", "does not say"),
        ("turn.f << Omega << k", "more than two"),
    ] {
        let found = assume(&mut world(&rate_gyro()), PATH, &wish, &[asked.to_owned()]);
        let words = words(found.expect_err("it cannot be assumed"));
        assert!(words.contains("E0884") && words.contains(why), "{words}");
    }
}

/// Tiernego & Bos 1985: from the multibonds of fig. 19 to the scalar graph of fig. 20 to that of fig. 21, which is equation 12.
#[test]
fn the_rate_gyro_of_the_gallery_becomes_equation_12() {
    let text = std::fs::read_to_string(format!("{FOLDER}/rate_gyro_multibond.bond"));
    let text = text.expect("the gallery has it");
    let lines = text.lines().filter(|l| !l.contains("compare "));
    let text: String = lines.map(|l| format!("{l}\n")).collect();
    let scalar = scalarize(&mut world(&text), PATH, &Wish::default());
    let scalar = scalar.unwrap_or_else(|e| panic!("{}", words(e)));
    let simple = kit::simple(&scalar.text);
    assert!(scalar.holds() && simple.holds(), "{}", simple.text);
    let found = assumed(&simple.text, &["turn.f << Omega"]).unwrap_or_else(|e| panic!("{e}"));
    assert!(found.holds(), "{}", found.text);
    let model = &found.text[..found.text.find("\n}").expect("a model ends")];
    assert!(
        !model.contains("GY(") && !model.contains("rotor_y") && !model.contains("motor"),
        "{model}"
    );
    let derived = std::fs::read_to_string(format!("{FOLDER}/rate_gyro_reduced.bond"));
    let derived = without_comparisons(&derived.expect("the gallery has it"));
    let apart = kit::difference(&kit::ran(&derived), &kit::ran(&found.text));
    assert!(apart < 1e-9, "{apart:e}\n{}", found.text);
}

/// The report of an assumption that does not hold in the run.
#[test]
fn an_assumption_that_does_not_hold_in_a_run_is_called_so() {
    let soft = DISCS
        .replace("k = 1e6", "k = 1")
        .replace("d: R(100)", "d: R(0.1)");
    for (text, holds) in [(DISCS, true), (&*soft, false)] {
        for asked in ["slip.f = 0", "slip.f == 0"] {
            let found = assumed(text, &[asked]).unwrap_or_else(|e| panic!("{e}"));
            let lines = found.lines().join("\n");
            let is_told = lines.contains("the assumption does not hold in this run");
            assert_eq!(is_told, !holds, "{lines}");
        }
    }
    for wrong in [
        "slip.f = ",
        "slip.f = )",
        "slip.f",
        "slip.e = 0",
        "nothing.f = 0",
    ] {
        let why = assumed(DISCS, &[wrong]).expect_err("it says nothing");
        assert!(why.contains("E0884"), "{wrong}: {why}");
    }
}
