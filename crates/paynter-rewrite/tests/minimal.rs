//! `reduce --minimal`: dependent inertias at the velocities they follow from, on the documents' systems and on random ones.

mod kit;

use kit::{Dice, PATH, cases, difference, ran, words, world};
use paynter_rewrite::{Rewritten, Side, Wish, minimal, prove};

fn moved(text: &str, named: &[&str]) -> Result<Rewritten, String> {
    let named: Vec<String> = named.iter().map(|n| (*n).to_owned()).collect();
    minimal(&mut world(text), PATH, &Wish::default(), &named).map_err(words)
}

fn gallery(path: &str) -> String {
    let path = format!("{}/../../gallery/{path}", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(path).expect("the gallery has it");
    // References are compared elsewhere.
    let lines = text.lines();
    let lines = lines.filter(|l| !l.trim_start().starts_with("compare "));
    lines.map(|l| format!("{l}\n")).collect()
}

/// Both texts give the same first experiment.
fn same_run(old: &str, new: &Rewritten) -> f64 {
    assert!(new.holds(), "{}\n{:?}", new.text, new.lines());
    difference(&ran(old), &ran(&new.text))
}

fn model_of(text: &str) -> &str {
    &text[..text.find("\n}").expect("a model ends")]
}

const GEAR: &str = "units strict
model Gear {
    param n = 0.2, Jm = 0.02 [kg*m^2], Jl = 0.5 [kg*m^2]
    input u = 1 [N*m]
    drive: Se(u) -> motor: 1 -> jm: I(Jm)
    motor -> TF(n) -> load: 1 -> jl: I(Jl), rl: R(0.3 [N*m*s/rad])
}
experiment go of Gear { start motor.f = 1 [rad/s]; stop = 1 [s]; rtol = 1e-11; record motor.f, load.f, jl.p, jm.p, rl.power, system.energy }
";

#[test]
fn a_constant_ratio_gives_the_sum_of_inertias() {
    let found = moved(GEAR, &[]).expect("it moves");
    assert!(found.text.contains("I(Jl*n^2 + Jm)"), "{}", found.text);
    assert!(!found.text.contains("IC["), "{}", found.text);
    assert!(same_run(GEAR, &found) < 1e-9);
}

#[test]
fn the_disc_has_a_field_where_its_mass_slides() {
    let text = gallery("disc/disc.bond");
    let found = moved(&text, &[]).expect("it moves");
    let model = model_of(&found.text);
    assert!(
        model.contains(
            "(spin, slide) => inertia_spin: IC[2] { energy = p[1]^2/(2*(J + m*q[2]^2)) }"
        ),
        "{}",
        found.text
    );
    assert!(model.contains("inertia_slide: I(m)"), "{model}");
    // Closed rows: masses in the rest frame need no gyrator.
    assert!(!model.contains("GY("), "{model}");
    assert!(found.text.contains("// gyristor: "), "{}", found.text);
    assert!(same_run(&text, &found) < 1e-8);
}

#[test]
fn the_ring_of_the_gyroscope_is_in_the_energy_of_the_field() {
    let text = gallery("gyroscope/gyroscope.bond");
    let found = moved(&text, &[]).expect("it moves");
    let model = model_of(&found.text);
    assert!(model.contains("IC[3]") && !model.contains("GY("), "{model}");
    assert!(
        !model.contains("along: 1") && !model.contains("TF("),
        "{model}"
    );
    assert!(same_run(&text, &found) < 1e-8);
}

/// Boudon et al. 2019, figs 27 and 28: crank, rod and piston as moduli of the crank's speed.
const CRANK: &str = "units strict
model Crank {
    param r = 0.2 [m], l = 0.5 [m], g = 9.81 [m/s^2]
    sin_b = r/l*sin(theta)
    cos_b = sqrt(1 - sin_b^2)
    crank: 1 -> j1: I(1 [kg]*r^2/3)
    tilt = -r/l*cos(theta)/cos_b
    crank -> TF(tilt) -> rod: 1 -> j2: I(2 [kg]*l^2/12)
    crank -> TF(-r*sin(theta) + l/2*sin_b*tilt) -> rod_x: 1 -> mx: I(2 [kg])
    crank -> TF(0.5*r*cos(theta)) -> rod_y: 1 -> my: I(2 [kg])
    crank -> TF(-r*sin(theta) + l*sin_b*tilt) -> piston: 1 -> m3: I(1.5 [kg])
    crank -> TF(0.5*r*cos(theta)) -> crank_y: 1
    Se(-1 [kg]*g) -> crank_y
    Se(-2 [kg]*g) -> rod_y
    der(theta) = crank.f
    start theta = 60 [deg]
}
experiment fall of Crank { stop = 2 [s]; output_step = 0.02 [s]; rtol = 1e-11; method = dop853; record theta, crank.f, piston.f, system.energy }
";

#[test]
fn the_slider_crank_falls_as_the_reference_does() {
    let found = moved(CRANK, &[]).expect("it moves");
    assert!(found.text.contains("IC[2]"), "{}", found.text);
    assert!(same_run(CRANK, &found) < 1e-8);
    // slidercrank_gravity of the gallery, from free bodies and joints.
    let path = format!(
        "{}/../../gallery/slider_crank/reference/slidercrank_gravity.csv",
        env!("CARGO_MANIFEST_DIR")
    );
    let reference = std::fs::read_to_string(path).expect("the gallery has it");
    let last = reference.lines().last().expect("rows");
    let theta: f64 = last
        .split(',')
        .nth(1)
        .expect("theta")
        .parse()
        .expect("a number");
    let table = ran(&found.text);
    let own = *table
        .column("theta")
        .expect("recorded")
        .values
        .last()
        .expect("a row");
    assert!((own - theta).abs() < 1e-7, "{own} {theta}");
}

/// A pendulum in space on a turning table: the place is that of a spring, whose energy goes with the field.
const TABLE: &str = "units strict
model Table {
    param I0 = 0.05 [kg*m^2], J1 = 0.4 [kg*m^2], J2 = 0.1 [kg*m^2], J3 = 0.35 [kg*m^2], w = 3 [N*m]
    tilt: 1 -> I3: I(J3), weight: C { e = w*sin(q) }
    turn: 1 -> base: I(I0)
    turn -> TF(sin(theta)) -> across: 1 -> I1: I(J1)
    turn -> TF(cos(theta)) -> along: 1 -> I2: I(J2)
    along -> GY(I1.p) -> tilt -> GY(I2.p) -> across
    theta [rad] = weight.q
}
experiment free of Table { start weight.q = 0.7 [rad], turn.f = 2 [rad/s], tilt.f = 0.3 [rad/s]; stop = 2 [s]; rtol = 1e-11; record theta, turn.f, weight.e, weight.stored, I1.p, system.energy }
";

/// The same disc with its mass at the 0-junction itself, as `simplify` writes it, and one behind a transformer without a junction.
#[test]
fn an_inertia_without_a_junction_of_its_own_ties_nothing_when_it_goes() {
    let text = "model Disc {
    param J = 0.05, m = 0.5, n = 0.2
    spin: 1 -> disc: I(J)
    slide: 1 -> b: R(0.3)
    spin -> TF(x) -> across: 1
    slide -> TF(cos(gamma)) -> sum_x: 0 -> mx: I(m)
    slide -> TF(sin(gamma)) -> sum_y: 0 -> my: I(m)
    across -> TF(-sin(gamma)) -> sum_x
    across -> TF(cos(gamma)) -> sum_y
    slide -> TF(2) -> wheel: I(n)
    der(x) = slide.f
    der(gamma) = spin.f
}
experiment e of Disc { start x = 0.1, spin.f = 5, slide.f = 0; stop = 1; rtol = 1e-10; record x, gamma, slide.f as v }
";
    let found = moved(text, &[]).unwrap_or_else(|e| panic!("{e}"));
    assert!(found.holds(), "{}", found.text);
    let model = model_of(&found.text);
    assert!(
        model.contains("energy = p[1]^2/(2*(J + m*q[2]^2))"),
        "{model}"
    );
    assert!(!model.contains("TF("), "{model}");
    let apart = same_run(text, &found);
    assert!(apart < 1e-7, "{apart:e}");
}

#[test]
fn a_spring_at_the_place_is_in_the_same_field() {
    let found = moved(TABLE, &[]).expect("it moves");
    let model = model_of(&found.text);
    assert!(
        model.contains("IC[2]") && !model.contains("weight") && !model.contains("GY("),
        "{model}"
    );
    assert!(same_run(TABLE, &found) < 1e-8);
    // Flown from the start in both: the place is one, not two copies.
    assert!(
        found.text.contains("start inertia_turn.q[2]"),
        "{}",
        found.text
    );
}

#[test]
fn a_mass_that_moves_with_another_place_keeps_a_gyrator() {
    // ω = sin(x) v with x' of another junction and no gyrator in the model: not the rate of anything.
    let text = "model M {
    a: 1 -> i1: I(2)
    s: 1 -> i2: I(0.7), k: C(0.3)
    a -> TF(1 + 0.5*sin(x)) -> b: 1 -> i3: I(1.5)
    der(x) = s.f
}
experiment go of M { start a.f = 1, s.f = 0.4; stop = 2; rtol = 1e-11; record a.f, s.f, x, i3.f, system.energy }
";
    let found = moved(text, &[]).expect("it moves");
    assert!(
        found.text.contains("-> GY(") && found.text.contains("IC[2]"),
        "{}",
        found.text
    );
    assert!(same_run(text, &found) < 1e-8);
    // The proof, not the audit, sees it: a gyrator is powerless.
    let line = found
        .text
        .lines()
        .find(|l| l.contains("-> GY(") && !l.trim_start().starts_with("//"));
    let mutated = found.text.replacen(line.expect("it is there"), "", 1);
    let side = |text| Side {
        path: PATH,
        text,
        model: "M",
    };
    let loader = paynter::overlay::LibraryOnly;
    let proof = prove(&loader, &side(text), &side(&mutated), &found.correspondence);
    assert!(!proof.holds(), "{}", proof.line());
}

#[test]
fn only_the_inertias_that_are_named_move() {
    // Tiernego & van Dixhoorn 1979, fig. 11: the middle gimbal goes to the outer one, the inner one stays.
    let text = "model M {
    outer: 1 -> iz3: I(20)
    outer -> TF(-sin(beta)) -> mx: 1 -> ix2: I(12)
    outer -> TF(cos(beta)) -> mz: 1 -> iz2: I(14)
    y: 1 -> iy2: I(16)
    mz -> TF(0.5) -> inner: 1 -> iz1: I(6)
    der(beta) = y.f
}
experiment go of M { start outer.f = 1, y.f = 0.5, beta = 0.4; stop = 1; rtol = 1e-11; record outer.f, y.f, beta, iz1.p, system.energy }
";
    let found = moved(text, &["ix2", "iz2"]).expect("they move");
    let model = model_of(&found.text);
    assert!(
        model.contains("IC[2]") && model.contains("iz1: I(6)") && !model.contains("ix2"),
        "{model}"
    );
    assert!(same_run(text, &found) < 1e-8);
}

/// Four velocities tied by one mass: constant moduli leave a matrix, moduli of places an energy.
#[test]
fn four_velocities_are_tied_together() {
    let text = |modulus: &str| {
        format!(
            "model M {{
    a: 1 -> ia: I(1)
    b: 1 -> ib: I(2)
    c: 1 -> ic: I(1.5)
    d: 1 -> id: I(0.7)
    sum: 0 -> m: 1 -> j: I(3)
    a -> sum
    b -> TF({modulus}) -> sum
    c -> TF(0.3) -> sum
    d -> TF(-0.8) -> sum
    a -> k: C(0.5)
    der(x) = b.f
}}
experiment go of M {{ start a.f = 1, b.f = 0.5, c.f = -0.3, d.f = 0.2, x = 0.4; stop = 1; rtol = 1e-11; record a.f, b.f, c.f, d.f, x, j.p, system.energy }}
"
        )
    };
    for (modulus, kind) in [("0.4", "I[4](["), ("cos(x)", "IC[5] {")] {
        let text = text(modulus);
        let found = moved(&text, &[]).expect("they move");
        assert!(found.holds(), "{}", found.text);
        assert!(model_of(&found.text).contains(kind), "{}", found.text);
        assert!(same_run(&text, &found) < 1e-8, "{}", found.text);
    }
}

/// Tiernego & van Dixhoorn 1979, figs 8 to 11: the x and z inertias of the middle gimbal move to the outer one. A gyrator of theirs that stands between
/// rates of the inner gimbal goes with them; the motion stays.
#[test]
fn a_gyrator_behind_transformers_goes_with_its_inertia() {
    let text = "model M {
    a: 1
    y2: 1 -> iy2: I(16)
    outer: 1 -> iz3: I(20)
    outer -> TF(-sin(beta)) -> x2: 1 -> ix2: I(12)
    outer -> TF(cos(beta)) -> z2: 1 -> iz2: I(14)
    sum_x1: 0 -> x1: 1 -> ix1: I(2)
    a -> sum_x1
    x2 -> sum_x1
    sum_y1: 0 -> y1: 1 -> iy1: I(8)
    y2 -> TF(cos(alpha)) -> sum_y1
    z2 -> TF(sin(alpha)) -> sum_y1
    sum_z1: 0 -> z1: 1 -> iz1: I(6)
    y2 -> TF(-sin(alpha)) -> sum_z1
    z2 -> TF(cos(alpha)) -> sum_z1
    y1 -> GY(ix1.p) -> z1 -> GY(iy1.p) -> x1 -> GY(iz1.p) -> y1
    y1 -> GY(ix2.p) -> z1
    x2 -> GY(iz2.p) -> y2
    der(alpha) = a.f
    der(beta) = y2.f
}
experiment go of M { start a.f = 0.3, y2.f = 0.5, outer.f = 1, alpha = 0.7, beta = 0.4; stop = 1; rtol = 1e-11; record alpha, beta, outer.f, a.f, system.energy }
";
    let found = moved(text, &["ix2", "iz2"]).expect("they move");
    assert!(found.holds(), "{}", found.text);
    assert_eq!(
        model_of(&found.text).matches("GY(").count(),
        3,
        "{}",
        found.text
    );
    assert!(same_run(text, &found) < 1e-8);
    let read = text.replace("record alpha", "record sum_z1.e, alpha");
    let why = moved(&read, &["ix2", "iz2"]).expect_err("its effort is read");
    assert!(why.contains("sum_z1.e"), "{why}");
}

#[test]
fn what_cannot_move_is_refused_with_the_reason() {
    let timed = GEAR.replace("TF(n)", "TF(1 + 0.1*sin(1 [rad/s]*time))");
    let why = moved(&timed, &["jl"]).expect_err("time is no place");
    assert!(why.contains("E0885") && why.contains("time"), "{why}");
    let kept = moved(&timed, &[]).expect("nothing is done");
    assert!(
        kept.steps.is_empty() && kept.refused.iter().any(|r| r.contains("time")),
        "{:?}",
        kept.refused
    );
    let read = GEAR.replace("record motor.f", "record jl.e, motor.f");
    let why = moved(&read, &["jl"]).expect_err("its effort is read");
    assert!(why.contains("jl.e"), "{why}");
    let driven = GEAR
        .replace("drive: Se(u)", "drive: Sf(u*1 [rad/(s*N*m)])")
        .replace("start motor.f = 1 [rad/s]; ", "");
    let why = moved(&driven, &["jl"]).expect_err("a source sets it");
    assert!(why.contains("drive"), "{why}");
    let why = moved(GEAR, &["nothing"]).expect_err("no such name");
    assert!(why.contains("E0885") && why.contains("nothing"), "{why}");
    let table = GEAR.replace("TF(n)", "TF(cam(x))") + "fn cam(x) = 1 + 0.1*sin(x)\n";
    let table = table.replace("    input u", "    der(x) = motor.f\n    input u");
    let why = moved(&table, &["jl"]).expect_err("a function that is not looked into");
    assert!(why.contains("slope"), "{why}");
}

/// Coordinates with inertias and springs, and masses behind random moduli of all of them.
fn random_mechanism(seed: u64) -> String {
    let dice = &mut Dice(seed.wrapping_mul(0x9e37_79b9) + 17);
    let n = 1 + dice.below(3);
    let mut text = "model M {\n    param c = 0.4\n".to_owned();
    for i in 0..n {
        text += &format!(
            "    v{i}: 1 -> i{i}: I({})\n    der(x{i}) = v{i}.f\n",
            dice.value()
        );
        if dice.rarely(2) {
            text += &format!("    v{i} -> r{i}: R({})\n", dice.value());
        }
    }
    for k in 0..1 + dice.below(3) {
        let mut ways = Vec::new();
        for i in 0..n {
            if dice.rarely(2) || (i == n - 1 && ways.is_empty()) {
                let (a, b) = (dice.below(n), dice.below(n));
                let moduli = [
                    "c".to_owned(),
                    format!("cos(x{a})"),
                    format!("c*sin(x{a} - x{b})"),
                    format!("0.5 + x{a}/4"),
                    format!("sin(x{a})*cos(x{b})"),
                ];
                ways.push(format!("v{i} -> TF({}) -> s{k}", moduli[dice.below(5)]));
            }
        }
        text += &format!("    s{k}: 0 -> m{k}: 1 -> j{k}: I({})\n", dice.value());
        for way in ways {
            text += &format!("    {way}\n");
        }
    }
    let starts: Vec<String> = (0..n)
        .map(|i| format!("v{i}.f = {}, x{i} = {}", dice.value(), dice.value()))
        .collect();
    let records: Vec<String> = (0..n)
        .map(|i| format!("x{i}, v{i}.f as f{i}, i{i}.p as p{i}"))
        .collect();
    text + &format!(
        "}}\nexperiment go of M {{\n    start {}\n    stop = 1; output_step = 0.1; rtol = 1e-11\n    record {}, j0.p as q, m0.f as g, system.energy as E\n}}\n",
        starts.join(", "),
        records.join(", ")
    )
}

#[test]
fn random_mechanisms_move_as_before() {
    let seeds = cases(40);
    let n_seeds = seeds.end - seeds.start;
    let (mut n_moved, mut n_gyrators) = (0, 0);
    for seed in seeds {
        let text = random_mechanism(seed);
        let found = moved(&text, &[]).unwrap_or_else(|e| panic!("{text}\n{e}"));
        assert!(found.holds(), "{seed}: {text}\n{}", found.text);
        if found.steps.is_empty() {
            continue;
        }
        n_moved += 1;
        n_gyrators += usize::from(model_of(&found.text).contains("GY("));
        let apart = difference(&ran(&text), &ran(&found.text));
        assert!(apart < 1e-7, "{seed}: {apart:e}\n{}", found.text);
    }
    assert!(
        n_moved as u64 > n_seeds / 2 && n_gyrators > 0,
        "{n_moved} {n_gyrators}"
    );
}

/// A cart with a double pendulum and friction in its hinge, as `paynter lagrangian` writes it: the hinge turns with what `c` has beside `a`, so
/// that a 0-junction has two ways out.
const CART: &str = "model Cart {
    cart: 1 -> k0: I(1.5), rail: R(0.1)
    a_rate: 1 -> v1: C { e = 8.9271*sin(q) }
    c_rate: 1 -> v2: C { e = 2.4525*sin(q) }
    sum_e1: 0 -> e1: 1 -> k1: I(0.8)
    a_rate -> TF(0.7*cos(a)) -> sum_e1
    cart -> sum_e1
    a_rate -> TF(0.7*sin(a)) -> u1: 1 -> k2: I(0.8)
    sum_e2: 0 -> e2: 1 -> k3: I(0.5)
    c_rate -> TF(cos(c)/2) -> sum_e2
    e1 -> sum_e2
    sum_u2: 0 -> u2: 1 -> k4: I(0.5)
    c_rate -> TF(sin(c)/2) -> sum_u2
    u1 -> sum_u2
    sum_rel: 0 -> rel: 1 -> hinge: R(0.02)
    sum_rel -> a_rate
    c_rate -> sum_rel
    F: Se(sin(3*time)) -> cart
    der(x) = cart.f
    a = v1.q
    c = v2.q
}
experiment e of Cart { start a = 0.4, c = -0.3, c_rate.f = 1; stop = 3; rtol = 1e-11; record x, a, c, rel.f as w, hinge.power as loss }
";

#[test]
fn a_relative_speed_does_not_keep_inertias_from_moving() {
    let found = moved(CART, &[]).expect("it is a model");
    assert!(
        found.text.contains("IC["),
        "{:?}\n{}",
        found.lines(),
        found.text
    );
    let model = model_of(&found.text);
    assert!(
        !["k1:", "k2:", "k3:", "k4:"]
            .iter()
            .any(|k| model.contains(k)),
        "{model}"
    );
    assert!(same_run(CART, &found) < 1e-8);
}

#[test]
fn where_nothing_moves_the_reason_is_told() {
    // Two junctions without storages: either could be what is left.
    let text = CART.replace(
        "rel: 1 -> hinge: R(0.02)",
        "rel: 1 -> hinge: R(0.02)\n    sum_rel -> more: 1 -> slip: R(3)",
    );
    let found = moved(&text, &[]).expect("it is a model");
    let lines = found.lines();
    assert!(
        lines
            .iter()
            .any(|l| l.starts_with("not done: minimal") && l.contains("several junctions")),
        "{lines:?}"
    );
}
