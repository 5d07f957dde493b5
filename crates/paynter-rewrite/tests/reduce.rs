//! `reduce` on the documents' gyroscope, and where a momentum is not conserved.

mod kit;

use kit::{Dice, PATH, cases, difference, ran, ran_named, words, world};
use paynter_rewrite::{Reduction, Rewritten, Side, Wish, prove, reduce};

/// McBride & Cellier 2001, fig. 4, with the experiments of the gallery.
fn gyroscope() -> String {
    from_gallery("gyroscope.bond")
}

fn from_gallery(name: &str) -> String {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../gallery/gyroscope");
    let path = format!("{folder}/{name}");
    let text = std::fs::read_to_string(path).expect("the gallery has it");
    // References are compared elsewhere.
    let lines = text
        .lines()
        .filter(|l| !l.trim_start().starts_with("compare "));
    lines.map(|l| format!("{l}\n")).collect()
}

fn reduced(text: &str, experiment: Option<&str>, cyclic: &[&str]) -> Result<Rewritten, String> {
    let wish = Wish {
        model: None,
        experiment: experiment.map(str::to_owned),
    };
    let what = Reduction {
        cyclic: cyclic.iter().map(|c| (*c).to_owned()).collect(),
    };
    reduce(&mut world(text), PATH, &wish, &what).map_err(words)
}

fn only(text: &str, experiment: &str) -> String {
    // The experiment that is run is the first of a text.
    let at = text
        .find(&format!("experiment {experiment} of"))
        .expect("it is there");
    let end = at + text[at..].find("\n}").expect("it ends") + 2;
    let before = text.find("\nexperiment ").expect("there are experiments");
    format!(
        "{}\n{}\n{}",
        &text[..before],
        &text[at..end],
        &text[before..].replace(&text[at..end], "")
    )
}

#[test]
fn a_rotor_without_momentum_leaves_three_states() {
    let text = gyroscope();
    let found = reduced(&text, Some("gyro2_reduced_P3zero"), &["psi"]).expect("it is cyclic");
    assert!(found.holds(), "{:?}", found.lines());
    let model = &found.text[..found.text.find("\n}").expect("a model ends")];
    // Eqs 53 and 54: no rotor, no gyrator of its momentum.
    assert!(!model.contains("I3") && !model.contains("rotor"), "{model}");
    assert_eq!(model.matches("GY(").count(), 2, "{model}");
    let old = ran(&only(&text, "gyro2_reduced_P3zero"));
    let new = ran(&only(&found.text, "gyro2_reduced_P3zero"));
    assert!(difference(&old, &new) < 1e-9);
}

#[test]
fn a_rotor_with_momentum_keeps_its_gyrator_as_a_parameter() {
    let text = gyroscope();
    let found = reduced(&text, Some("gyro2_free"), &[]).expect("it is cyclic");
    assert!(found.holds(), "{:?}", found.lines());
    assert!(found.text.contains("GY(p_I3)"), "{}", found.text);
    // gyro2_free of the references ends at θ = −0.0759351763690434, ψ̇ = 5.44799932942026.
    let table = ran(&only(&found.text, "gyro2_free"));
    let last = |name: &str| {
        *table
            .column(name)
            .expect("recorded")
            .values
            .last()
            .expect("a row")
    };
    assert!(
        (last("theta") + 0.0759351763690434).abs() < 1e-8,
        "{}",
        last("theta")
    );
    assert!((last("psi_dot") - 5.44799932942026).abs() < 1e-8);
    assert!((last("E") - 66.7602454446382).abs() < 1e-7, "{}", last("E"));
    assert!(
        (last("P3")
            - ran(&only(&text, "gyro2_free"))
                .column("P3")
                .expect("recorded")
                .values[0])
            .abs()
            < 1e-9
    );
}

#[test]
fn driven_and_loaded_coordinates_are_refused() {
    let text = gyroscope();
    let why = reduced(&text, Some("gyro2_sin"), &["psi"]).expect_err("it is driven");
    assert!(why.contains("E0882") && why.contains("SE6"), "{why}");
    let why = reduced(&text, Some("gyro2_sin"), &["phi"]).expect_err("it is driven");
    assert!(why.contains("E0882") && why.contains("SE12"), "{why}");
    let why = reduced(&text, Some("gyro2_free"), &["theta"]).expect_err("moduli read it");
    assert!(why.contains("E0882") && why.contains("theta"), "{why}");
    let why = reduced(&text, Some("gyro2_free"), &["nothing"]).expect_err("no such name");
    assert!(why.contains("E0882") && why.contains("nothing"), "{why}");
    let braked = text.replace(
        "rotor: 1 -> sum",
        "rotor: 1 -> sum\n    rotor -> brake: R(1 [N*m*s/rad])",
    );
    let why = reduced(&braked, Some("gyro2_free"), &["psi"]).expect_err("a brake acts");
    assert!(why.contains("brake"), "{why}");
}

#[test]
fn the_proof_sees_a_gyrator_that_was_lost() {
    let text = gyroscope();
    let found = reduced(&text, Some("gyro2_free"), &[]).expect("it is cyclic");
    let mutated = found.text.replacen("tilt -> GY(p_I3) -> across", "", 1);
    let mutated = mutated.replacen("tilt  -> GY(p_I3) -> across", "", 1);
    assert!(mutated != found.text, "{}", found.text);
    let side = |text| Side {
        path: PATH,
        text,
        model: "Gyroscope",
    };
    let loader = paynter::overlay::LibraryOnly;
    let proof = prove(
        &loader,
        &side(&text),
        &side(&mutated),
        &found.correspondence,
    );
    assert!(!proof.holds(), "{}", proof.line());
}

/// φ moves four inertias through two transformers: Routh's reduction. With ψ two states are left, and one C that stores kinetic energy.
#[test]
fn several_inertias_leave_a_parameter_in_the_energy() {
    let text = gyroscope();
    for (cyclic, kind) in [(&["phi"][..], "IC[2]"), (&["phi", "psi"][..], ": C {")] {
        let found = reduced(&text, Some("gyro2_free"), cyclic).expect("they are cyclic");
        assert!(found.holds(), "{}", found.text);
        let model = &found.text[..found.text.find("\n}").expect("a model ends")];
        assert!(
            model.contains(kind) && model.contains("param p_phi"),
            "{model}"
        );
        assert!(
            !model.contains("GY(") && !model.contains("turn: 1"),
            "{model}"
        );
        let table = ran(&only(&found.text, "gyro2_free"));
        let last = |name: &str| {
            let column = table.column(name).expect("recorded");
            *column.values.last().expect("a row")
        };
        // gyro2_free of the references.
        assert!(
            (last("theta") + 0.0759351763690434).abs() < 1e-8,
            "{}",
            last("theta")
        );
        assert!(
            (last("psi_dot") - 5.44799932942026).abs() < 1e-7,
            "{}",
            last("psi_dot")
        );
        assert!((last("E") - 66.7602454446382).abs() < 1e-7, "{}", last("E"));
    }
}

/// `gyroscope_reduced.bond` is what `paynter reduce gyroscope.bond --experiment gyro2_reduced_P3zero --cyclic psi` writes.
#[test]
fn the_reduced_gyroscope_of_the_gallery_is_that_of_the_tool() {
    let found = reduced(&gyroscope(), Some("gyro2_reduced_P3zero"), &["psi"]);
    let written = from_gallery("gyroscope_reduced.bond");
    assert_eq!(found.expect("it is cyclic").text, written);
}

/// An experiment that extends another one has its starts and its drives.
#[test]
fn experiments_that_extend_others_begin_as_before() {
    let text = "model M {
    input u = 0
    turn: 1 -> s: 0
    spin: 1 -> rotor: I(2)
    s -> spin
    tilt: 1 -> s
    Se(u) -> turn
    tilt -> i: I(3), k: C(1)
    tilt -> GY(rotor.p) -> side: 1 -> j: I(1)
}
experiment slow of M { start rotor.p = 0.5, i.p = 0.3; stop = 1; output_step = 0.1; rtol = 1e-11; record tilt.f, side.f }
experiment fast extends slow { start rotor.p = 4 }
experiment driven extends slow { with u = 1 }
";
    let alone = text.replace("experiment driven extends slow { with u = 1 }\n", "");
    for experiment in [None, Some("fast"), Some("slow")] {
        let found = reduced(&alone, experiment, &["turn"]).unwrap_or_else(|e| panic!("{e}"));
        assert!(found.holds(), "{}", found.text);
        assert!(
            !model_of(&found.text).contains("rotor: I"),
            "{}",
            found.text
        );
        for name in ["slow", "fast"] {
            if found.text.contains(&format!("experiment {name} ")) {
                let (old, new) = (ran_named(&alone, name), ran_named(&found.text, name));
                assert!(difference(&old, &new) < 1e-9, "{name}: {}", found.text);
            }
        }
    }
    // A start value of the model itself is the value of the parameter.
    let started = alone.replace(
        "}\nexperiment slow",
        "    start rotor.p = 3\n}\nexperiment slow",
    );
    let found = reduced(&started, None, &["turn"]).unwrap_or_else(|e| panic!("{e}"));
    assert!(
        found.holds() && found.text.contains("param p_rotor = 3.0\n"),
        "{}",
        found.text
    );
    let why = reduced(text, Some("driven"), &["turn"]).expect_err("it is driven");
    assert!(why.contains("E0882"), "{why}");
}

fn model_of(text: &str) -> &str {
    text.split("\n}").next().unwrap_or(text)
}

/// Velocities with inertias of their own, and masses behind moduli: constant ones from v0, so that its momentum is conserved, and for
/// the others moduli that read all places but x0.
fn random_cyclic(seed: u64) -> String {
    let dice = &mut Dice(seed.wrapping_mul(0x6c62_272e).wrapping_add(11));
    let n = 2 + dice.below(2);
    let mut text = "model M {\n    param c = 0.4\n".to_owned();
    for i in 0..n {
        text += &format!(
            "    v{i}: 1 -> i{i}: I({})\n    der(x{i}) = v{i}.f\n",
            dice.value()
        );
        if i > 0 {
            text += &format!("    v{i} -> k{i}: C({})\n", dice.value());
        }
    }
    for k in 0..1 + dice.below(3) {
        text += &format!("    s{k}: 0 -> m{k}: 1 -> j{k}: I({})\n", dice.value());
        for i in 0..n {
            let (a, b) = (1 + dice.below(n - 1), 1 + dice.below(n - 1));
            let modulus = match i {
                0 => ["c".to_owned(), dice.value(), format!("-{}", dice.value())][dice.below(3)]
                    .clone(),
                _ => [
                    "c".to_owned(),
                    format!("cos(x{a})"),
                    format!("0.5 + c*sin(x{a} - x{b})"),
                    format!("sin(x{a})*cos(x{b})"),
                ][dice.below(4)]
                .clone(),
            };
            if i == 0 || dice.rarely(2) {
                text += &format!("    v{i} -> TF({modulus}) -> s{k}\n");
            }
        }
    }
    let starts: Vec<String> = (0..n)
        .map(|i| format!("v{i}.f = {}, x{i} = {}", dice.value(), dice.value()))
        .collect();
    let records: Vec<String> = (0..n).map(|i| format!("x{i}, v{i}.f as f{i}")).collect();
    text + &format!(
        "}}\nexperiment go of M {{\n    start {}\n    stop = 1; output_step = 0.1; rtol = 1e-11\n    record {}\n}}\n",
        starts.join(", "),
        records.join(", ")
    )
}

#[test]
fn random_mechanisms_move_as_before_without_a_cyclic_coordinate() {
    let (mut n_reduced, mut refused) = (0, Vec::new());
    let seeds = cases(40);
    let n_seeds = seeds.end - seeds.start;
    for seed in seeds {
        let text = random_cyclic(seed);
        let found = match reduced(&text, Some("go"), &["x0"]) {
            Ok(found) => found,
            Err(why) => {
                refused.push(why);
                continue;
            }
        };
        assert!(found.holds(), "{seed}: {text}\n{}", found.text);
        n_reduced += 1;
        let apart = difference(&ran(&text), &ran(&found.text));
        assert!(apart < 1e-7, "{seed}: {apart:e}\n{text}\n{}", found.text);
    }
    assert!(
        4 * n_reduced > n_seeds,
        "{n_reduced} of {n_seeds}: {}",
        refused.join("\n")
    );
}

/// A heavy top as `paynter lagrangian` writes it: a transformer leads straight into the sum of flows, and nothing drives the spin.
const TOP: &str = "model Top {
    param A = 0.3, C = 0.1, mgl = 1.2
    th_rate: 1 -> A_th: I(A), V: C { e = -mgl*sin(q) }
    ph_rate: 1
    ps_rate: 1
    ph_rate -> TF(sin(th)) -> A_ph_rate: 1 -> A_ph: I(A)
    sum_C_ph_rate: 0 -> C_ph_rate: 1 -> C_ph: I(C)
    ph_rate -> TF(cos(th)) -> sum_C_ph_rate
    ps_rate -> sum_C_ph_rate
    ph_rate -> GY(A_ph.p*cos(th)) -> th_rate
    th_rate -> GY(C_ph.p) -> A_ph_rate
    th = V.q
    der(ph) = ph_rate.f
    der(ps) = ps_rate.f
}
experiment e of Top { start th = 0.8, ph_rate.f = 1, ps_rate.f = 40; stop = 1.5; rtol = 1e-11; record th, ph, ps }
";

#[test]
fn a_transformer_into_the_sum_is_no_obstacle() {
    let found = reduced(TOP, None, &[]).expect("the spin is cyclic");
    assert!(found.holds(), "{:?}", found.lines());
    let model = &found.text[..found.text.find("\n}").expect("a model ends")];
    assert!(
        !model.contains("sum_C_ph_rate") && model.contains("GY(p_C_ph)"),
        "{model}"
    );
    assert!(difference(&ran(TOP), &ran(&found.text)) < 1e-9);
}

/// With the top upright, where all coordinates are zero, precession has no momentum of its own; the experiment says where it begins.
#[test]
fn momenta_without_a_value_at_zero_come_from_the_experiment() {
    let found = reduced(TOP, None, &["ph", "ps"]).expect("both are cyclic");
    assert!(found.holds(), "{:?}", found.lines());
    assert!(!found.text.contains("NaN"), "{}", found.text);
    let (old, new) = (ran(TOP), ran(&found.text));
    assert!(difference(&old, &new) < 1e-9);
}
