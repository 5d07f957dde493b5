//! Generalised speeds: the same motion as with multipliers, and as mechanics by hand says.
//!
//! In:  `lagrangian` blocks with `speed`, by hand and at random.
//! Out: their runs beside the same blocks without `speed`, whose constraints have reactions; closed equations of the
//!      literature integrated here; and what is printed and refused.

use crate::kit::{self, Seeded, assert_close, column, last, run_text, scratch};
use paynter::DesignError;
use paynter::lagrangian::proof_of;
use paynter::loader::DiskLoader;
use paynter::model::lagrange::Style;
use paynter::model::project::load;
use paynter::syntax::render;

/// The graph as text, with a proof that holds.
fn graph(text: &str) -> String {
    let file = scratch(text);
    let written =
        paynter::write_lagrangian(&file.0, None, Style::Ring).unwrap_or_else(|e| match e {
            DesignError::Model(f) => {
                panic!("{}\n{text}", render(&f.diagnostics, &f.sources, false))
            }
            DesignError::Unreadable(message) => panic!("{message}"),
        });
    assert!(written.holds(), "{text}\n{}", written.text);
    written.text
}

/// A statement of a text without its comment.
fn statements(text: &str) -> Vec<&str> {
    text.lines()
        .map(|line| line.split("//").next().unwrap_or("").trim())
        .collect()
}

/// The disc of the gallery; its experiment starts from the same motion.
fn disc(speeds: &str) -> String {
    let text = kit::gallery_models("rolling_disc/rolling_disc.bond");
    let marked = "constraint slip_x";
    assert!(text.contains(marked));
    let text = text.replacen(marked, &format!("{speeds}\n    {marked}"), 1);
    format!(
        "{text}\nexperiment e of RollingDisc {{
    start lean = 1.2 [rad], tip.f = 0.1 [rad/s], turn.f = 0.8 [rad/s], spin.f = 3 [rad/s]
    stop = 4 [s]; output_step = 0.04 [s]; rtol = 1e-11; method = dop853
    record x, y, lean, head, roll, system.energy as E }}"
    )
}

/// Thesis 7.2.1: Kane's method on the same disc. With whatever speeds, the numbers are those of the multipliers.
#[test]
fn a_rolling_disc_moves_alike_with_any_speeds() {
    let with_multipliers = run_text(&disc(""));
    for speeds in [
        "speed tip, across, about",
        "speed lean, head, roll",
        "speed tip, about, head",
    ] {
        let found = run_text(&disc(speeds));
        for name in ["x", "y", "lean", "head", "roll"] {
            let (a, b) = (column(&found, name), column(&with_multipliers, name));
            let far = kit::distance(a, b);
            assert!(
                far < 1e-9 * kit::size(b).max(1.0),
                "{speeds}: {name} {far:e}"
            );
        }
        let energy = column(&found, "E");
        assert!(kit::distance(energy, &vec![energy[0]; energy.len()]) < 1e-9);
    }
    // SymPy's LagrangesMethod with multipliers, as in the gallery.
    let found = run_text(&disc("speed tip, across, about"));
    assert_close(last(&found, "lean"), 0.8629700238510797, 1e-9);
    assert_close(last(&found, "head"), -13.085739628141086, 1e-8);
}

/// Body rates as speeds: partial velocities without Euler's singularity, and no reaction.
#[test]
fn partial_velocities_of_the_disc_are_those_of_the_textbook() {
    let shown = graph(&disc("speed tip, across, about"));
    let lines = statements(&shown);
    // v of the centre is r about · axle and r tip · up the lean: nothing of `across`, and nothing to divide by.
    assert!(
        lines.contains(&"tip -> TF(r*sin(head)*sin(lean)) -> sum_x_rate"),
        "{shown}"
    );
    assert!(
        lines.contains(&"about -> TF(-r*cos(head)) -> sum_x_rate"),
        "{shown}"
    );
    assert!(
        lines.contains(&"across -> TF(1/sin(lean)) -> turn: 1"),
        "{shown}"
    );
    assert!(!shown.contains("Sf("), "{shown}");
    assert!(
        shown.contains(
            "// partial velocities of x_rate: r*sin(head)*sin(lean) by tip, -r*cos(head) by about"
        ),
        "{shown}"
    );
    assert!(
        shown.contains("// speeds dependent where: sin(lean) = 0"),
        "{shown}"
    );
    assert!(
        shown.contains("equal to Kane's equations at 100 random points"),
        "{shown}"
    );
}

const TUMBLING: &str = "lagrangian Body {
    param A = 1, B = 2, C = 3
    coordinate a, b, c
    rate p = der(a)*cos(b)*cos(c) + der(b)*sin(c), q = der(b)*cos(c) - der(a)*cos(b)*sin(c), r = der(c) + der(a)*sin(b)
    SPEEDS
    kinetic x = 0.5*A*p^2, y = 0.5*B*q^2, z = 0.5*C*r^2
}
experiment e of Body { start p.f = 0.5, q.f = 0.1, r.f = 0.3; stop = 3; rtol = 1e-12; record p.f as p, q.f as q, r.f as r, a, b, c }
";

/// Without constraints: the body rates of a rigid body leave nothing but Euler's ring.
#[test]
fn a_rigid_body_in_its_own_rates_is_eulers_ring() {
    let text = TUMBLING.replace("SPEEDS", "speed p, q, r");
    let shown = graph(&text);
    let lines = statements(&shown);
    let gyrators: Vec<&&str> = lines.iter().filter(|l| l.contains("GY(")).collect();
    assert_eq!(gyrators.len(), 3, "{shown}");
    for line in gyrators {
        let ends: Vec<&str> = line.split(" -> ").collect();
        assert!(
            ["p", "q", "r"].contains(&ends[0]) && ["p", "q", "r"].contains(&ends[2]),
            "{line}"
        );
    }
    let (by_speeds, plain) = (run_text(&text), run_text(&TUMBLING.replace("SPEEDS", "")));
    for name in ["p", "q", "r", "a", "b", "c"] {
        let far = kit::distance(column(&by_speeds, name), column(&plain, name));
        assert!(far < 1e-9, "{name}: {far:e}");
    }
}

/// Chaplygin's sleigh (Neimark & Fufaev 1972): with the blade a behind the centre, u' = a ω², (J + m a²) ω' = −m a u ω.
#[test]
fn chaplygins_sleigh_moves_as_its_two_equations_say() {
    let text = "units strict
lagrangian Sleigh {
    param m = 2 [kg], J = 0.3 [kg*m^2], a = 0.4 [m]
    coordinate x [m], y [m], turn [rad]
    rate east = der(x) - a*sin(turn)*der(turn), north = der(y) + a*cos(turn)*der(turn)
    rate along = der(x)*cos(turn) + der(y)*sin(turn), yaw = der(turn)
    kinetic mx = 0.5*m*east^2, my = 0.5*m*north^2, body = 0.5*J*yaw^2
    constraint blade: der(y)*cos(turn) == der(x)*sin(turn)
    speed along, yaw
}
experiment e of Sleigh { start along.f = 0.7 [m/s], yaw.f = 1.5 [rad/s]; stop = 3 [s]; rtol = 1e-12; record along.f as u, yaw.f as w, x, y, turn }";
    let (m, j, a) = (2.0, 0.3, 0.4);
    let rates = |s: [f64; 5]| {
        let [u, w, _, _, turn] = s;
        [
            a * w * w,
            -m * a * u * w / (j + m * a * a),
            u * turn.cos(),
            u * turn.sin(),
            w,
        ]
    };
    let mut s = [0.7, 1.5, 0.0, 0.0, 0.0];
    let (n, h) = (6000, 3.0 / 6000.0);
    let moved = |s: [f64; 5], k: [f64; 5], h: f64| std::array::from_fn(|i| s[i] + h * k[i]);
    for _ in 0..n {
        let k1 = rates(s);
        let k2 = rates(moved(s, k1, h / 2.0));
        let k3 = rates(moved(s, k2, h / 2.0));
        let k4 = rates(moved(s, k3, h));
        s = std::array::from_fn(|i| s[i] + h / 6.0 * (k1[i] + 2.0 * k2[i] + 2.0 * k3[i] + k4[i]));
    }
    let outcome = run_text(text);
    for (name, wanted) in ["u", "w", "x", "y", "turn"].iter().zip(s) {
        assert_close(last(&outcome, name), wanted, 1e-9);
    }
}

/// A constraint that asks for a flow keeps a source: what it takes is booked, and the reaction is there.
#[test]
fn a_moving_belt_gives_its_power() {
    let text = |speeds: &str| {
        format!(
            "units strict
lagrangian Wheel {{
    param m = 2 [kg], J = 0.1 [kg*m^2], r = 0.3 [m], v = 0.5 [m/s], k = 40 [N/m], b = 0.6 [N*s/m]
    coordinate x [m], phi [rad]
    rate walk = der(x), roll = der(phi)
    kinetic mass = 0.5*m*walk^2, wheel = 0.5*J*roll^2
    potential spring = 0.5*k*x^2
    loss drag = 0.5*b*walk^2
    constraint belt: walk - r*roll == v
    {speeds}
}}
experiment e of Wheel {{ start x = 0 [m], walk.f = 0 [m/s]; stop = 4 [s]; rtol = 1e-11; method = dop853; record x, phi, belt.e as pull, system.supplied as W, system.residual as gap }}"
        )
    };
    let (a, b) = (run_text(&text("speed x")), run_text(&text("")));
    for name in ["x", "phi", "W"] {
        let far = kit::distance(column(&a, name), column(&b, name));
        assert!(far < 1e-9, "{name}: {far:e}");
    }
    // The reaction of the lock, but for its sign: one source gives the flow, the other takes it.
    let turned: Vec<f64> = column(&a, "pull").iter().map(|x| -x).collect();
    let far = kit::distance(column(&b, "pull"), &turned)
        .min(kit::distance(column(&b, "pull"), column(&a, "pull")));
    assert!(far < 1e-7, "{far:e}");
    assert!(kit::size(column(&a, "gap")) < 1e-9);
}

/// A given motion beside speeds: a blade on a cart that is pushed to and fro.
#[test]
fn given_motions_and_speeds_go_together() {
    let text = |speeds: &str| {
        format!(
            "lagrangian Skate {{
    param m = 2, J = 0.3, a = 0.1
    coordinate x, y, turn
    given s = 0.2*sin(3*time)
    rate along = der(x)*cos(turn) + der(y)*sin(turn) + der(s)*cos(turn)
    kinetic mx = 0.5*m*(der(x) + der(s) - a*sin(turn)*der(turn))^2, my = 0.5*m*(der(y) + a*cos(turn)*der(turn))^2, body = 0.5*J*der(turn)^2
    constraint blade: der(y)*cos(turn) == (der(x) + der(s))*sin(turn)
    {speeds}
}}
experiment e of Skate {{ start turn_rate.f = 0.4, along.f = 0.8; stop = 3; rtol = 1e-11; method = dop853; record x, y, turn, s_drive.e as push, system.supplied as W }}"
        )
    };
    let (a, b) = (run_text(&text("speed along, turn")), run_text(&text("")));
    for name in ["x", "y", "turn", "push", "W"] {
        let far = kit::distance(column(&a, name), column(&b, name));
        assert!(far < 1e-8, "{name}: {far:e}");
    }
}

/// A constraint of places: its speed is kept, and the place is an invariant.
#[test]
fn a_rod_in_x_and_y_has_one_speed() {
    let text = |speeds: &str| {
        format!(
            "lagrangian Rod {{
    param m = 2, l = 0.7, g = 9.81
    coordinate x, y
    rate swing = (der(x)*y - der(y)*x)/l
    kinetic mx = 0.5*m*der(x)^2, my = 0.5*m*der(y)^2
    potential weight = m*g*y
    constraint rod: x^2 + y^2 == l^2
    {speeds}
}}
experiment e of Rod {{ start x = 0.7, y = 0; stop = 2; rtol = 1e-11; method = dop853; record x, y }}"
        )
    };
    let (a, b) = (run_text(&text("speed swing")), run_text(&text("")));
    for name in ["x", "y"] {
        let far = kit::distance(column(&a, name), column(&b, name));
        assert!(far < 1e-8, "{name}: {far:e}");
    }
}

// ---- random systems

const ENTRIES: [&str; 6] = [
    "1",
    "cos(a)",
    "sin(b)",
    "cos(a - b)",
    "(0.5 + a/4)",
    "sin(a)*cos(b)",
];

fn entry(random: &mut Seeded, n: usize) -> String {
    let (a, b) = (random.below(n), random.below(n));
    let text = ENTRIES[random.below(ENTRIES.len())];
    // Names of the functions hold these letters, too.
    let text = text
        .replace("(a", &format!("(q{a}"))
        .replace("b)", &format!("q{b})"));
    text.replace("+ a/4", &format!("+ q{a}/4"))
}

/// Random masses, potentials and rolling constraints; speeds that are sums of rates.
fn random_block(seed: u64) -> (String, Vec<String>) {
    let mut random = Seeded(seed);
    let n = 2 + random.below(4);
    let n_constraints = random.below(n.min(3));
    let mut lines = vec![format!(
        "coordinate {}",
        (0..n)
            .map(|i| format!("q{i}"))
            .collect::<Vec<_>>()
            .join(", ")
    )];
    for i in 0..n {
        lines.push(format!(
            "kinetic m{i} = {:.3}*der(q{i})^2",
            random.between(0.3, 1.5)
        ));
        lines.push(format!(
            "potential v{i} = {:.3}*q{i}^2",
            random.between(0.2, 2.0)
        ));
    }
    for k in 0..1 + random.below(3) {
        let (i, j) = (random.below(n), random.below(n));
        let (e, f) = (entry(&mut random, n), entry(&mut random, n));
        lines.push(format!("rate r{k} = {e}*der(q{i}) + 0.5*{f}*der(q{j})"));
        lines.push(format!(
            "kinetic t{k} = {:.3}*r{k}^2",
            random.between(0.2, 1.0)
        ));
    }
    lines.push(format!("loss d = 0.05*der(q{})^2", random.below(n)));
    // The last coordinates are held: each with a part of its own, so that constraints are independent.
    let n_speeds = n - n_constraints;
    for k in 0..n_constraints {
        let (i, e) = (random.below(n_speeds), entry(&mut random, n));
        lines.push(format!(
            "constraint c{k}: der(q{}) == 0.6*{e}*der(q{i})",
            n_speeds + k
        ));
    }
    let mut speeds = Vec::new();
    for k in 0..n_speeds {
        let (j, e) = (random.below(n), entry(&mut random, n));
        lines.push(format!("rate w{k} = 2*der(q{k}) + 0.4*{e}*der(q{j})"));
        speeds.push(format!("w{k}"));
    }
    (lines.join("\n    "), speeds)
}

/// Law: for any constraints and any speeds, graph and Kane's equations agree, and runs are those of the multipliers.
#[test]
fn random_speeds_move_as_multipliers_do() {
    let n = kit::number_from("PAYNTER_CASES").unwrap_or(40);
    let first = 1_000_000 * kit::number_from("PAYNTER_SEED").unwrap_or(0);
    for seed in first..first + n {
        let (body, speeds) = random_block(seed);
        let n_speeds = speeds.len();
        let with = format!(
            "lagrangian M {{\n    {body}\n    speed {}\n}}\n",
            speeds.join(", ")
        );
        let without = format!("lagrangian M {{\n    {body}\n}}\n");
        graph(&with);
        let starts: Vec<String> = (0..n_speeds)
            .map(|k| format!("w{k}.f = {}", 0.3 + 0.1 * k as f64))
            .collect();
        let n_coordinates = body.matches("kinetic m").count();
        let names: Vec<String> = (0..n_coordinates).map(|i| format!("q{i}")).collect();
        let experiment = format!(
            "experiment e of M {{ start q0 = 0.4, {}; stop = 1; rtol = 1e-11; method = dop853; record {} }}",
            starts.join(", "),
            names.join(", ")
        );
        println!("seed {seed}\n{with}{experiment}");
        let a = run_text(&format!("{with}{experiment}"));
        let b = run_text(&format!("{without}{experiment}"));
        for name in &names {
            let far = kit::distance(column(&a, name), column(&b, name));
            assert!(
                far < 1e-8,
                "seed {seed}: {name} {far:e}, {} and {}\n{with}{experiment}",
                last(&a, name),
                last(&b, name)
            );
        }
    }
}

/// A snakeboard sets out from rest along a line: its speed across is a rounding of the others, of which no digits can be
/// asked for. Reference: Kane's equations in three speeds, which have no such state.
#[test]
fn a_state_that_is_rounding_does_not_stop_a_run() {
    let text = |speeds: &str, settings: &str| {
        format!(
            "lagrangian Snake {{
    param m = 6, J = 0.1, Jr = 0.05, Jp = 0.01, l = 0.3
    coordinate x, y, th, psi, phi
    rate along = der(x)*cos(th) + der(y)*sin(th)
    kinetic mx = 0.5*m*der(x)^2, my = 0.5*m*der(y)^2, body = 0.5*J*der(th)^2, rotor = 0.5*Jr*(der(th) + der(psi))^2
    kinetic front = 0.5*Jp*(der(th) + der(phi))^2, back = 0.5*Jp*(der(th) - der(phi))^2
    constraint f: cos(th + phi)*(der(y) + l*cos(th)*der(th)) == sin(th + phi)*(der(x) - l*sin(th)*der(th))
    constraint b: cos(th - phi)*(der(y) - l*cos(th)*der(th)) == sin(th - phi)*(der(x) + l*sin(th)*der(th))
    effort psi = 0.03*sin(2*time), phi = -0.02*sin(5*time)
    {speeds}
}}
experiment e of Snake {{ start phi = 0.3; stop = 3; {settings}; record x, y, th }}"
        )
    };
    let reference = run_text(&text("speed along, psi, phi", "rtol = 1e-12; atol = 1e-14"));
    for rtol in ["1e-7", "1e-9", "1e-11"] {
        let outcome = run_text(&text("", &format!("rtol = {rtol}")));
        let steps = outcome.run.statistics.steps;
        assert!(steps < 2000, "{steps} steps at {rtol}");
        let allowed = 100.0 * rtol.parse::<f64>().expect("a number");
        for name in ["x", "y", "th"] {
            let far = kit::distance(column(&outcome, name), column(&reference, name));
            assert!(far < allowed, "{name} at {rtol}: {far:e}");
        }
    }
}

/// The square of a sine vanishes without a change of its sign: a momentum behind it is not a state.
#[test]
fn a_partial_velocity_that_touches_zero_is_not_divided_by() {
    let outcome = run_text(
        "lagrangian M {
    coordinate q0, q1
    kinetic m0 = 0.4*der(q0)^2, m1 = 1.4*der(q1)^2
    rate r = sin(q1)*der(q1)
    kinetic t = 0.6*r^2
    potential v0 = 0.8*q0^2
    constraint c: der(q1) == 0.6*sin(q1)*der(q0)
    rate w = 2*der(q0) + 0.4*sin(q0)*der(q0)
    speed w
}
experiment e of M { start q0 = 0.4, w.f = 0.3; stop = 1; rtol = 1e-11; record q0, q1 }",
    );
    // At q1 = 0 only q0 moves, as a mass of 0.8 on a spring of 1.6.
    let omega = 2.0_f64.sqrt();
    let speed = 0.3 / (2.0 + 0.4 * 0.4_f64.sin());
    let expected = 0.4 * omega.cos() + speed / omega * omega.sin();
    assert!((last(&outcome, "q0") - expected).abs() < 1e-9);
    assert!(last(&outcome, "q1").abs() < 1e-12);
}

/// Numbers that are added before they meet a symbol leave a rounding, 0.2·0.1·… − … = −5.6e-17; it is not a partial velocity, and what would
/// follow from it through a division is singular.
#[test]
fn a_rounding_is_no_partial_velocity() {
    let (body, speeds) = random_block(3_000_399);
    let with = format!(
        "lagrangian M {{\n    {body}\n    speed {}\n}}\n",
        speeds.join(", ")
    );
    let shown = graph(&with);
    let numbers = statements(&shown).into_iter().filter_map(|line| {
        let modulus = line.split_once("TF(")?.1.split_once(')')?.0;
        modulus.parse::<f64>().ok()
    });
    let numbers: Vec<f64> = numbers.collect();
    assert!(
        !numbers.is_empty() && numbers.iter().all(|x| x.abs() > 1e-9),
        "{shown}"
    );
    let experiment =
        "experiment e of M { start q0 = 0.4, w0.f = 0.3, w1.f = 0.4, w2.f = 0.5, w3.f = 0.6
    stop = 1; rtol = 1e-11; method = dop853; record q0, q1, q2, q3 }";
    let a = run_text(&format!("{with}{experiment}"));
    let b = run_text(&format!("lagrangian M {{\n    {body}\n}}\n{experiment}"));
    for name in ["q0", "q1", "q2", "q3"] {
        let far = kit::distance(column(&a, name), column(&b, name));
        assert!(far < 1e-8, "{name}: {far:e}");
    }
}

/// Law 8 with speeds: any transformer or gyrator that is dropped or turned round is caught.
#[test]
fn a_missing_partial_velocity_is_caught_by_the_proof() {
    let mut n_mutations = 0;
    let random = (0..12).map(|seed| {
        let (body, speeds) = random_block(seed);
        format!(
            "lagrangian M {{\n    {body}\n    speed {}\n}}\n",
            speeds.join(", ")
        )
    });
    for text in [disc("speed tip, across, about")].into_iter().chain(random) {
        let (project, _) = load("m.bond", &text, &mut DiskLoader::default());
        let block = project.block(0, 0).expect("the first item is a lagrangian");
        let right = graph(&text);
        let lines: Vec<&str> = right.lines().collect();
        for (k, line) in lines.iter().enumerate() {
            let plain = line.split("//").next().unwrap_or("").trim();
            let parts: Vec<&str> = plain.split(" -> ").collect();
            let [from, two_port, to] = parts.as_slice() else {
                continue;
            };
            let is_plain = !to.contains(':') && two_port.contains('(');
            let mutated = match (
                is_plain,
                two_port.starts_with("GY"),
                two_port.starts_with("TF"),
            ) {
                (true, true, _) => vec![String::new(), format!("    {to} -> {two_port} -> {from}")],
                (true, _, true) => vec![format!(
                    "    {from} -> {} -> {to}",
                    two_port.replacen("TF(", "TF(1.5*", 1)
                )],
                _ => continue,
            };
            for mutated in mutated {
                let mut lines = lines.clone();
                lines[k] = &mutated;
                let proof = proof_of(
                    &mut DiskLoader::default(),
                    "m.bond",
                    &lines.join("\n"),
                    &block,
                );
                let proof = proof.expect("the mutated text is a model");
                assert!(
                    !proof.holds(),
                    "{line} as `{mutated}`: {}\n{right}",
                    proof.line()
                );
                n_mutations += 1;
            }
        }
    }
    assert!(n_mutations >= 40, "only {n_mutations} mutations");
}
