//! From energies to a graph: the written model moves as Lagrange's equations say, found here by other means.
//!
//! Reference: L(q, q̇, t) as a Rust function over complex numbers. ∂L/∂q̇ of a quadratic function is an exact central
//! difference, derivatives along q and time are complex steps, and the motion is integrated by classical
//! Runge–Kutta steps. Nothing of it knows bonds, pools or the derivation under test.

use crate::kit::{self, column, run_text, scratch};
use crate::random::{RandomSystem, start};
use crate::reference::{Complex, System, c};
use paynter::DesignError;
use paynter::lagrangian::{Written, proof_of};
use paynter::loader::DiskLoader;
use paynter::model::lagrange::Style;
use paynter::model::project::load;
use paynter::syntax::render;

fn written(text: &str, style: Style) -> Written {
    let file = scratch(text);
    paynter::write_lagrangian(&file.0, None, style).unwrap_or_else(|e| match e {
        DesignError::Model(f) => panic!("{}", render(&f.diagnostics, &f.sources, false)),
        DesignError::Unreadable(message) => panic!("{message}"),
    })
}

/// Writes the graph, with a proof that holds.
fn graph(text: &str) -> String {
    let written = written(text, Style::Ring);
    assert!(written.holds(), "{}", written.text);
    written.text
}

fn gyrators(text: &str) -> Vec<&str> {
    let lines = text.lines().filter(|line| line.contains("GY("));
    lines
        .map(|line| line.split("//").next().unwrap_or("").trim())
        .collect()
}

const GYROSCOPE: &str = "units strict
lagrangian Gyroscope {
    param A = 2 [kg*m^2], A1 = 1.4 [kg*m^2], B1 = 1.2 [kg*m^2], C = 4 [kg*m^2], C1 = 2.6 [kg*m^2], C2 = 2.2 [kg*m^2]
    input N_theta = 0 [N*m], N_phi = 0 [N*m], N_psi = 0 [N*m]
    coordinate theta [rad], phi [rad], psi [rad]
    rate tilt = der(theta), turn = der(phi), rotor = der(psi)
    rate along = turn*cos(theta), across = turn*sin(theta), spin = along + rotor
    kinetic I1 = 0.5*(A + A1)*tilt^2, I2 = 0.5*C2*turn^2, I3 = 0.5*C*spin^2
    kinetic I4 = 0.5*C1*along^2, I5 = 0.5*(A + B1)*across^2
    effort theta = N_theta, phi = N_phi, psi = N_psi
}
";

const BALL_TABLE: &str = "units strict
lagrangian BallTable {
    param I0 = 0.05 [kg*m^2], J1 = 0.4 [kg*m^2], J2 = 0.1 [kg*m^2], J3 = 0.35 [kg*m^2], m = 2 [kg], l = 0.15 [m], g = 9.81 [m/s^2]
    coordinate theta [rad], psi [rad]
    rate tilt = der(theta), turn = der(psi), across = turn*sin(theta), along = turn*cos(theta)
    kinetic I1 = 0.5*J1*across^2, I2 = 0.5*J2*along^2, base = 0.5*I0*turn^2, I3 = 0.5*J3*tilt^2
    potential weight = -m*g*l*cos(theta)
}
";

const PENDULUM: &str = "units strict
lagrangian Pendulum {
    param m = 2 [kg], mu = 0.3 [kg*m^2], L = 0.8 [m], g = 9.81 [m/s^2]
    coordinate theta [rad]
    rate swing = der(theta), bob = L*swing
    kinetic hub = 0.5*mu*swing^2, mass = 0.5*m*bob^2
    potential weight = -m*g*L*cos(theta)
}
";

const FLIGHT_TABLE: &str = "units strict
lagrangian FlightTable {
    param Ix1 = 2e-3 [kg*m^2], Iy1 = 8e-3 [kg*m^2], Iz1 = 6e-3 [kg*m^2]
    param Ix2 = 12e-3 [kg*m^2], Iy2 = 16e-3 [kg*m^2], Iz2 = 14e-3 [kg*m^2], Iz3 = 20e-3 [kg*m^2]
    input M = 0 [N*m]
    coordinate alpha [rad], beta [rad], gamma [rad]
    rate y2 = der(beta), z3 = der(gamma), roll = der(alpha)
    rate x2 = -sin(beta)*z3, z2 = cos(beta)*z3
    rate x1 = roll + x2, y1 = cos(alpha)*y2 + sin(alpha)*z2, z1 = -sin(alpha)*y2 + cos(alpha)*z2
    kinetic Jx1 = 0.5*Ix1*x1^2, Jy1 = 0.5*Iy1*y1^2, Jz1 = 0.5*Iz1*z1^2
    kinetic Jx2 = 0.5*Ix2*x2^2, Jy2 = 0.5*Iy2*y2^2, Jz2 = 0.5*Iz2*z2^2, Jz3 = 0.5*Iz3*z3^2
    effort gamma = M
}
";

/// §2 of the direction: the gyrators of the documents, found unaided.
#[test]
fn gyrators_of_the_documents_are_found() {
    assert_eq!(
        gyrators(&graph(GYROSCOPE)),
        [
            "tilt -> GY(I3.p) -> across",
            "tilt -> GY(I4.p) -> across",
            "along -> GY(I5.p) -> tilt"
        ]
    );
    assert_eq!(
        gyrators(&graph(BALL_TABLE)),
        ["along -> GY(I1.p) -> tilt", "tilt -> GY(I2.p) -> across"]
    );
    assert!(gyrators(&graph(PENDULUM)).is_empty());
    assert_eq!(gyrators(&graph(FLIGHT_TABLE)).len(), 5);
}

/// The three tables of the gallery, from their Lagrangians: the same numbers.
#[test]
fn documents_move_as_their_references() {
    let gyroscope = format!(
        "{GYROSCOPE}experiment e of Gyroscope {{
    with N_theta = 1 [N*m]*sin(1 [rad/s]*time), N_phi = 0.5 [N*m]*cos(2 [rad/s]*time), N_psi = 0.3 [N*m]*sin(0.5 [rad/s]*time)
    start theta = 0.2 [rad]
    stop = 10 [s]; rtol = 1e-11; record theta, tilt.f as rate }}"
    );
    let outcome = run_text(&gyroscope);
    kit::assert_close(kit::last(&outcome, "theta"), 2.951501144973574, 1e-9);
    kit::assert_close(kit::last(&outcome, "rate"), 0.4194920117325813, 1e-9);

    let table = format!(
        "{BALL_TABLE}experiment e of BallTable {{ start theta = 0.6 [rad], turn.f = 4 [rad/s]
    stop = 5 [s]; rtol = 1e-11; record theta, psi }}"
    );
    let outcome = run_text(&table);
    kit::assert_close(kit::last(&outcome, "theta"), 0.665420673677942, 1e-9);
    kit::assert_close(kit::last(&outcome, "psi"), 18.05687545971035, 1e-9);

    let pendulum = format!(
        "{PENDULUM}experiment e of Pendulum {{ start theta = 1.2 [rad]; stop = 5 [s]; rtol = 1e-11; record theta }}"
    );
    kit::assert_close(
        kit::last(&run_text(&pendulum), "theta"),
        -0.2615111067742791,
        1e-9,
    );

    let flight = format!(
        "{FLIGHT_TABLE}experiment e of FlightTable {{
    with M = pulse(time, 0.1 [N*m], from = 0.2 [s], to = 0.4 [s])
    start alpha = 45 [deg], beta = 45 [deg]; stop = 2 [s]; rtol = 1e-11; record alpha, beta, gamma }}"
    );
    let outcome = run_text(&flight);
    kit::assert_close(kit::last(&outcome, "alpha"), 1.511667456881018, 1e-8);
    kit::assert_close(kit::last(&outcome, "beta"), 0.6764970859693852, 1e-8);
    kit::assert_close(kit::last(&outcome, "gamma"), 0.9191306532110834, 1e-8);
}

// ---- random Lagrangians

const N_SYSTEMS: u64 = 40;

/// Laws 1 and 5 of the direction: proofs hold, and runs agree with an independent integration.
#[test]
fn random_lagrangians_move_as_euler_and_lagrange_say() {
    for seed in 0..N_SYSTEMS {
        let random = RandomSystem::new(seed);
        let text = random.text();
        let written = written(&text, Style::Ring);
        assert!(written.holds(), "seed {seed}\n{text}\n{}", written.text);
        let outcome = run_text(&random.run_text(&text));
        let q: Vec<f64> = (0..random.n).map(|i| start(i).0).collect();
        let v: Vec<f64> = (0..random.n).map(|i| start(i).1).collect();
        let (expected, _) = random.system().integrate(q, v, 1.0, 1000);
        for (i, wanted) in expected.iter().enumerate() {
            let found = kit::last(&outcome, &format!("q{i}"));
            // Classical Runge–Kutta with steps of 1e-3 is good to 1e-10 here; rtol = 1e-11.
            assert!(
                (found - wanted).abs() < 2e-9,
                "seed {seed}: q{i} = {found}, not {wanted}\n{text}"
            );
        }
    }
}

/// Law 3: reversed statements and coordinates say the same.
#[test]
fn order_of_statements_does_not_matter() {
    for seed in 0..15 {
        let random = RandomSystem::new(seed);
        let mut lines = random.statements();
        let text = random.text();
        lines.reverse();
        let reversed = format!("lagrangian M {{\n{}\n}}\n", lines.join("\n"));
        let sorted = |text: &str| {
            let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
            lines.retain(|line| line.contains("GY(") || line.contains("TF("));
            lines.sort();
            lines
        };
        assert_eq!(
            sorted(&graph(&text)),
            sorted(&graph(&reversed)),
            "seed {seed}"
        );
    }
}

/// Law 4: L + dF/dt has the same graph; a curl that vanishes makes no gyrator.
#[test]
fn total_derivatives_change_nothing() {
    for seed in 0..15 {
        let random = RandomSystem::new(seed);
        let (i, j) = (0, random.n - 1);
        let gauge = format!("potential gauge = -(cos(q{i})*q{j}*der(q{i}) + sin(q{i})*der(q{j}))");
        let gauge = if i == j {
            "potential gauge = -sin(q0)*der(q0)".to_owned()
        } else {
            gauge
        };
        let mut lines = random.statements();
        let plain = graph(&random.text());
        lines.push(gauge);
        let gauged = graph(&format!("lagrangian M {{\n{}\n}}\n", lines.join("\n")));
        assert_eq!(gyrators(&plain), gyrators(&gauged), "seed {seed}");
    }
}

/// Law 6: a rate in another scale with its inertia in the square of it says the same.
#[test]
fn scaled_rates_change_nothing() {
    for seed in 0..15 {
        let mut random = RandomSystem::new(seed);
        let plain = run_text(&random.run_text(&random.text()));
        random.scale = 2.5;
        let text = random.text();
        let shown = graph(&text);
        let scaled = run_text(&random.run_text(&text));
        for i in 0..random.n {
            let name = format!("q{i}");
            let far = kit::distance(column(&plain, &name), column(&scaled, &name));
            assert!(far < 1e-9, "seed {seed}: {name} {far:e}\n{shown}");
        }
    }
}

/// Law 6 with numbers that are written out: what is small by itself is not zero, neither in a rate nor in a potential.
#[test]
fn small_numbers_are_not_taken_for_zero() {
    let text = |scale: f64, inertia: f64| {
        format!(
            "lagrangian Tip {{
    coordinate a, b
    rate tip = {scale:e}*cos(a)*der(b) + {scale:e}*der(a)
    kinetic ja = 0.5*der(a)^2, jb = 0.5*der(b)^2, mt = 0.5*{inertia:e}*tip^2
    potential v = 0.5*a^2 - cos(b)
}}
experiment e of Tip {{ start a = 0.4, b = 1, a_rate.f = 1, b_rate.f = 0.5; stop = 2; rtol = 1e-10; method = dop853; record a, b }}"
        )
    };
    let (one, tiny) = (run_text(&text(0.5, 4.0)), run_text(&text(0.5e-9, 4e18)));
    for name in ["a", "b"] {
        let far = kit::distance(column(&one, name), column(&tiny, name));
        assert!(far < 1e-8, "{name}: {far:e}");
    }
    assert_eq!(gyrators(&graph(&text(0.5e-9, 4e18))).len(), 1);

    // A coil and a mass of some micrograms: the field between them is a gyrator of 4e-10 x.
    let text = |c: f64| {
        format!(
            "lagrangian Coil {{
    coordinate x, q
    kinetic mass = 0.5*{:e}*der(x)^2, coil = 0.5*{:e}*der(q)^2
    potential spring = 0.5*{:e}*x^2, field = -{:e}*x^2*der(q), cap = 0.5*{:e}*q^2
}}
experiment e of Coil {{ start x = 0.4, q_rate.f = 0.5; stop = 2; rtol = 1e-10; method = dop853; record x, q }}",
            2.0 * c, c, 3.0 * c, 2.0 * c, c
        )
    };
    let (one, tiny) = (run_text(&text(1.0)), run_text(&text(1e-10)));
    for name in ["x", "q"] {
        let far = kit::distance(column(&one, name), column(&tiny, name));
        assert!(far < 1e-8, "{name}: {far:e}");
    }
}

/// Law 7: other coordinates, q = K z with constant K, say the same.
#[test]
fn other_coordinates_change_nothing() {
    for seed in 0..15 {
        let random = RandomSystem::new(seed);
        let plain = run_text(&random.run_text(&random.text()));
        let text = random.turned_text(seed);
        let shown = graph(&text);
        let turned = run_text(&random.run_text(&text));
        for i in 0..random.n {
            let name = format!("q{i}");
            let far = kit::distance(column(&plain, &name), column(&turned, &name));
            assert!(far < 1e-8, "seed {seed}: {name} {far:e}\n{shown}");
        }
    }
}

/// Law 8: a gyrator dropped or turned round is found by the proof, every time.
#[test]
fn a_missing_gyrator_is_caught_by_the_proof() {
    let mut n_mutations = 0;
    let documents = [GYROSCOPE, BALL_TABLE, FLIGHT_TABLE].map(str::to_owned);
    let random = (0..15).map(|seed| RandomSystem::new(seed).text());
    for text in documents.into_iter().chain(random) {
        let (project, _) = load("m.bond", &text, &mut DiskLoader::default());
        let block = project.block(0, 0).expect("the first item is a lagrangian");
        let right = graph(&text);
        let lines: Vec<&str> = right.lines().collect();
        for (k, line) in lines.iter().enumerate() {
            if !line.contains("GY(") {
                continue;
            }
            let plain = line.split("//").next().unwrap_or("").trim();
            let parts: Vec<&str> = plain.split(" -> ").collect();
            let turned = format!("    {} -> {} -> {}", parts[2], parts[1], parts[0]);
            for mutated in ["", turned.as_str()] {
                let mut lines = lines.clone();
                lines[k] = mutated;
                let proof = proof_of(
                    &mut DiskLoader::default(),
                    "m.bond",
                    &lines.join("\n"),
                    &block,
                );
                let proof = proof.expect("the mutated text is a model");
                assert!(!proof.holds(), "{line} as `{mutated}`: {}", proof.line());
                n_mutations += 1;
            }
        }
    }
    assert!(n_mutations >= 40, "only {n_mutations} mutations");
}

/// Any style of gyrators is the same system.
#[test]
fn every_style_is_proved() {
    for seed in 0..10 {
        let text = RandomSystem::new(seed).text();
        for style in [Style::Ring, Style::Factored, Style::Coordinate] {
            let written = written(&text, style);
            assert!(written.holds(), "seed {seed} {style:?}\n{}", written.text);
        }
    }
    for text in [GYROSCOPE, BALL_TABLE, PENDULUM, FLIGHT_TABLE] {
        for style in [Style::Factored, Style::Coordinate] {
            assert!(written(text, style).holds(), "{style:?} of {text}");
        }
    }
}

// ---- kinetic energy that is written out

const EXPANDED_CART: &str = "lagrangian Cart {
    param M = 1.5, m1 = 0.8, m2 = 0.5, l1 = 0.7, l2 = 0.5, g = 9.81
    coordinate x, a, c
    kinetic T = 0.5*(M + m1 + m2)*der(x)^2 + 0.5*(m1 + m2)*l1^2*der(a)^2 + 0.5*m2*l2^2*der(c)^2 + (m1 + m2)*l1*cos(a)*der(x)*der(a) + m2*l2*cos(c)*der(x)*der(c) + m2*l1*l2*cos(a - c)*der(a)*der(c)
    potential weight1 = -(m1 + m2)*g*l1*cos(a), weight2 = -m2*g*l2*cos(c)
}
";

/// §3 of the direction: the ways are tried in order, and the text says which.
#[test]
fn written_out_energies_are_taken_apart() {
    let cart = graph(EXPANDED_CART);
    assert!(
        cart.contains("T as squares for each inertia parameter"),
        "{cart}"
    );
    assert!(
        gyrators(&cart).is_empty(),
        "Cartesian speeds need no gyrator\n{cart}"
    );

    let gyroscope = graph("lagrangian G {
    param A = 2, B = 1.2, C = 4, D = 2.2
    coordinate theta, phi, psi
    kinetic T = 0.5*A*der(theta)^2 + 0.5*(D + B*sin(theta)^2 + C*cos(theta)^2)*der(phi)^2 + C*cos(theta)*der(phi)*der(psi) + 0.5*C*der(psi)^2
}\n");
    assert!(
        gyroscope.contains("squares for each inertia parameter"),
        "{gyroscope}"
    );

    let field = graph(
        "lagrangian F {
    param m = 1, k = 0.5
    coordinate x, y
    kinetic T = 0.5*m*der(x)^2 + k*der(x)*der(y) + 0.5*m*der(y)^2
}\n",
    );
    assert!(field.contains("I[2]([m, k; k, m])"), "{field}");

    let roots = graph(
        "units strict
lagrangian B {
    param J = 1 [kg*m^2]
    coordinate a [rad], b [rad]
    kinetic T = 0.5*J*(2 + cos(b))*der(a)^2 + 0.3*J*sin(a)*der(a)*der(b) + 0.5*J*der(b)^2
}\n",
    );
    assert!(roots.contains("roots of pivots"), "{roots}");
    assert!(roots.contains("I(1 [kg*m^2])"), "{roots}");

    let offset = graph("lagrangian O {
    param m = 1, l = 2, r = 0.5, J = 0.1
    coordinate t, p
    kinetic T = 0.5*m*l^2*der(t)^2 + 0.5*J*der(p)^2 + 0.5*m*(r^2 + 2*r*l*sin(t) + l^2*sin(t)^2)*der(p)^2
}\n");
    assert!(
        !offset.contains("sqrt"),
        "(r + l sin t)² has a root\n{offset}"
    );
}

/// A part that is not positive by itself is, together with the others.
#[test]
fn cross_terms_may_stand_apart() {
    let shown = graph(
        "lagrangian M {
    param m = 1, l = 0.8
    coordinate x, a
    kinetic own = 0.5*m*der(x)^2 + 0.5*m*l^2*der(a)^2, cross = m*l*cos(a)*der(x)*der(a)
}\n",
    );
    assert!(shown.contains("own + cross as squares"), "{shown}");
}

/// The written-out cart runs as the one of squares does.
#[test]
fn a_written_out_cart_moves_as_it_should() {
    let text = format!(
        "{EXPANDED_CART}experiment e of Cart {{ start a = 1, c = 0.5; stop = 1; rtol = 1e-11; record x, a, c }}"
    );
    let outcome = run_text(&text);
    let system = System {
        n: 3,
        lagrangian: Box::new(|q, v, _| {
            let east1 = v[0] + c(0.7) * q[1].cos() * v[1];
            let up1 = c(0.7) * q[1].sin() * v[1];
            let east2 = east1 + c(0.5) * q[2].cos() * v[2];
            let up2 = up1 + c(0.5) * q[2].sin() * v[2];
            let square = |x: Complex| x * x;
            c(0.75) * square(v[0])
                + c(0.4) * (square(east1) + square(up1))
                + c(0.25) * (square(east2) + square(up2))
                + c(1.3 * 9.81 * 0.7) * q[1].cos()
                + c(0.5 * 9.81 * 0.5) * q[2].cos()
        }),
        forces: Box::new(|_, _, _| vec![0.0; 3]),
        constraints: Box::new(|_, _| Vec::new()),
    };
    let (q, _) = system.integrate(vec![0.0, 1.0, 0.5], vec![0.0; 3], 1.0, 4000);
    for (name, wanted) in ["x", "a", "c"].iter().zip(q) {
        kit::assert_close(kit::last(&outcome, name), wanted, 1e-9);
    }
}

// ---- hard cases

/// A spherical pendulum: φ̇ stands behind sin θ alone, and there is not a junction of cos θ.
#[test]
fn spherical_pendulum() {
    let text = "lagrangian M { param m = 1.3, l = 0.7, g = 9.81
    coordinate theta, phi
    rate lon = l*der(theta), lat = l*sin(theta)*der(phi)
    kinetic a = 0.5*m*lon^2, b = 0.5*m*lat^2
    potential weight = -m*g*l*cos(theta) }\n";
    let shown = graph(text);
    assert!(shown.contains("// cyclic: phi"), "{shown}");
    assert!(
        shown.contains("// singular where: sin(theta) = 0"),
        "{shown}"
    );
    let run = format!(
        "{text}experiment e of M {{ start theta = 0.8, phi_rate.f = 3, theta_rate.f = 0.2; stop = 2; rtol = 1e-11; record theta, phi }}"
    );
    let outcome = run_text(&run);
    let system = System {
        n: 2,
        lagrangian: Box::new(|q, v, _| {
            let (m, l, g) = (c(1.3), c(0.7), c(9.81));
            let lat = l * q[0].sin() * v[1];
            c(0.5) * m * (l * l * v[0] * v[0] + lat * lat) + m * g * l * q[0].cos()
        }),
        forces: Box::new(|_, _, _| vec![0.0; 2]),
        constraints: Box::new(|_, _| Vec::new()),
    };
    let (q, _) = system.integrate(vec![0.8, 0.0], vec![0.2, 3.0], 2.0, 4000);
    kit::assert_close(kit::last(&outcome, "theta"), q[0], 1e-9);
    kit::assert_close(kit::last(&outcome, "phi"), q[1], 1e-8);
}

const ROLLING_DISC: &str = "lagrangian Disc {
    param m = 1.2, r = 0.4, A = 0.048, C = 0.096, g = 9.81
    coordinate x, y, lean, head, roll
    rate tip = der(lean), across = der(head)*sin(lean), spin = der(roll) + der(head)*cos(lean)
    kinetic mx = 0.5*m*der(x)^2, my = 0.5*m*der(y)^2, mz = 0.5*m*(r*cos(lean)*tip)^2
    kinetic Itip = 0.5*A*tip^2, Iacross = 0.5*A*across^2, Ispin = 0.5*C*spin^2
    potential weight = m*g*r*sin(lean)
    constraint slip_x: der(x) == r*(sin(lean)*sin(head)*tip - cos(lean)*cos(head)*der(head) - cos(head)*der(roll))
    constraint slip_y: der(y) == -r*(sin(lean)*cos(head)*tip + cos(lean)*sin(head)*der(head) + sin(head)*der(roll))
}
";

/// A thin disc that rolls on a plane: five coordinates, two rolling constraints.
///
/// x and y are those of its centre. Against the same L with multipliers.
#[test]
fn rolling_disc() {
    let shown = graph(ROLLING_DISC);
    assert!(
        shown.contains("rolling: its effort is the reaction"),
        "{shown}"
    );
    let (lean, rates) = (1.2_f64, [0.1_f64, 0.8, 3.0]);
    let r = 0.4;
    // At head = 0.
    let vx = r * (-(lean.cos()) * rates[1] - rates[2]);
    let vy = -r * (lean.sin() * rates[0]);
    let run = format!(
        "{ROLLING_DISC}experiment e of Disc {{ start lean = {lean}, tip.f = {}, head_rate.f = {}, roll_rate.f = {}
    stop = 2; rtol = 1e-11; record x, y, lean, head, roll }}",
        rates[0], rates[1], rates[2]
    );
    let outcome = run_text(&run);
    let system = System {
        n: 5,
        lagrangian: Box::new(|q, v, _| {
            let (m, r, a, b, g) = (c(1.2), c(0.4), c(0.048), c(0.096), c(9.81));
            let up = r * q[2].cos() * v[2];
            let across = v[3] * q[2].sin();
            let spin = v[4] + v[3] * q[2].cos();
            c(0.5) * m * (v[0] * v[0] + v[1] * v[1] + up * up)
                + c(0.5) * a * (v[2] * v[2] + across * across)
                + c(0.5) * b * spin * spin
                - m * g * r * q[2].sin()
        }),
        forces: Box::new(|_, _, _| vec![0.0; 5]),
        constraints: Box::new(|q, v| {
            let r = c(0.4);
            let (sl, cl, sh, ch) = (q[2].sin(), q[2].cos(), q[3].sin(), q[3].cos());
            vec![
                v[0] - r * (sl * sh * v[2] - cl * ch * v[3] - ch * v[4]),
                v[1] + r * (sl * ch * v[2] + cl * sh * v[3] + sh * v[4]),
            ]
        }),
    };
    let start = vec![0.0, 0.0, lean, 0.0, 0.0];
    let (q, _) = system.integrate(start, vec![vx, vy, rates[0], rates[1], rates[2]], 2.0, 4000);
    for (name, wanted) in ["x", "y", "lean", "head", "roll"].iter().zip(q) {
        kit::assert_close(kit::last(&outcome, name), wanted, 1e-7);
    }
}

/// A pendulum on a moving support with friction: the drive's power is booked.
#[test]
fn pendulum_on_a_moving_support() {
    let text = "units strict
lagrangian M { param m = 1 [kg], l = 0.5 [m], g = 9.81 [m/s^2], b = 0.05 [N*m*s/rad]
    coordinate a [rad]
    given s = 0.15 [m]*sin(7 [rad/s]*time)
    rate east = der(s) + l*cos(a)*der(a), up = l*sin(a)*der(a)
    kinetic me = 0.5*m*east^2, mu = 0.5*m*up^2
    potential weight = -m*g*l*cos(a)
    loss hinge = 0.5*b*der(a)^2 }
experiment e of M { start a = 0.4 [rad]; stop = 3 [s]; rtol = 1e-11; record a, system.energy as E, system.supplied as W, system.dissipated as D }";
    let model = text
        .split("experiment")
        .next()
        .expect("the model comes first");
    assert!(gyrators(&graph(model)).is_empty());
    let outcome = run_text(text);
    let system = System {
        n: 1,
        lagrangian: Box::new(|q, v, t| {
            let (m, l, g) = (c(1.0), c(0.5), c(9.81));
            let east = c(0.15 * 7.0) * (c(7.0) * t).cos() + l * q[0].cos() * v[0];
            let up = l * q[0].sin() * v[0];
            c(0.5) * m * (east * east + up * up) + m * g * l * q[0].cos()
        }),
        forces: Box::new(|_, v, _| vec![-0.05 * v[0]]),
        constraints: Box::new(|_, _| Vec::new()),
    };
    let (q, _) = system.integrate(vec![0.4], vec![0.0], 3.0, 6000);
    kit::assert_close(kit::last(&outcome, "a"), q[0], 1e-9);
    let [e, w, d] = ["E", "W", "D"].map(|name| column(&outcome, name));
    let lost: Vec<f64> = (0..e.len()).map(|k| w[k] - d[k] - (e[k] - e[0])).collect();
    assert!(kit::size(&lost) < 1e-9, "the drive's power is missing");
}

/// A bead on a hoop that turns: with time in its rates as with a given angle, and what feeds it is booked.
#[test]
fn time_in_rates_is_a_coordinate() {
    let hoop = |statements: &str, shown: &str| {
        format!(
            "units strict
lagrangian Hoop {{
    param m = 0.4 [kg], r = 0.5 [m], Om = 6 [rad/s], g = 9.81 [m/s^2]
    coordinate theta [rad]
    {statements}
    kinetic mx = 0.5*m*vx^2, my = 0.5*m*vy^2, mz = 0.5*m*vz^2
    potential weight = -m*g*r*cos(theta)
}}
experiment e of Hoop {{ start theta = 0.4 [rad]; stop = 3 [s]; rtol = 1e-11; method = dop853; record theta, {shown}, system.supplied as W, system.residual as gap }}"
        )
    };
    let rates = |phi: &str, turn: &str| {
        format!(
            "rate vx = r*cos(theta)*cos({phi})*der(theta) - r*sin(theta)*sin({phi})*{turn}, vy = r*cos(theta)*sin({phi})*der(theta) + r*sin(theta)*cos({phi})*{turn}, vz = r*sin(theta)*der(theta)"
        )
    };
    let explicit = hoop(&rates("Om*time", "Om"), "now_drive.e as P");
    let given = format!(
        "given phi [rad] = Om*time\n    {}",
        rates("phi", "der(phi)")
    );
    let given = hoop(&given, "Om*phi_drive.e as P");
    for text in [&explicit, &given] {
        graph(text);
    }
    let (a, b) = (run_text(&explicit), run_text(&given));
    for name in ["theta", "P", "W"] {
        let far = kit::distance(column(&a, name), column(&b, name));
        assert!(far < 1e-9 * kit::size(column(&b, name)), "{name}: {far:e}");
        assert!(kit::size(column(&b, name)) > 0.1);
    }
    assert!(kit::size(column(&a, "gap")) < 1e-9);
}

/// A spring whose stiffness changes in time: what changes it gives or takes the energy ½ k' x².
#[test]
fn time_in_a_potential_gives_its_power() {
    let text = "units strict
lagrangian Pumped {
    param m = 1 [kg], k = 4 [N/m], w = 3 [rad/s]
    coordinate x [m]
    kinetic T = 0.5*m*der(x)^2
    potential V = 0.5*k*(1 + 0.5*sin(w*time))*x^2
}
experiment e of Pumped { start x = 1 [m]; stop = 5 [s]; rtol = 1e-11; method = dop853; record x, now_drive.e as P, system.residual as gap }";
    graph(text);
    let outcome = run_text(text);
    let (x, p) = (column(&outcome, "x"), column(&outcome, "P"));
    let time = &outcome.run.table.time;
    for ((t, x), p) in time.iter().zip(x).zip(p) {
        kit::assert_close(*p, 0.5 * 4.0 * 0.5 * 3.0 * (3.0 * t).cos() * x * x, 1e-8);
    }
    let system = System {
        n: 1,
        lagrangian: Box::new(|q, v, t| {
            let k = c(4.0) * (c(1.0) + c(0.5) * (c(3.0) * t).sin());
            c(0.5) * v[0] * v[0] - c(0.5) * k * q[0] * q[0]
        }),
        forces: Box::new(|_, _, _| vec![0.0]),
        constraints: Box::new(|_, _| Vec::new()),
    };
    let (q, _) = system.integrate(vec![1.0], vec![0.0], 5.0, 10_000);
    kit::assert_close(kit::last(&outcome, "x"), q[0], 1e-8);
}

/// A voice coil: inductance that depends on the place, and a permanent magnet as a potential linear in rates.
#[test]
fn voice_coil() {
    let text = "units strict
lagrangian Coil { param m = 0.02 [kg], k = 400 [N/m], L0 = 1 [mH], a = 8 [mm], Bl = 6 [N/A], R = 4 [ohm]
    coordinate q [C], x [m]
    rate current = der(q), speed = der(x)
    kinetic coil = 0.5*L0/(1 + (x/a)^2)*current^2, cone = 0.5*m*speed^2
    potential spring = 0.5*k*x^2, magnet = -Bl*x*current
    loss heat = 0.5*R*current^2
    effort q = 5 [V]*sin(200 [rad/s]*time) }
experiment e of Coil { stop = 0.05 [s]; rtol = 1e-11; record x [m], q [C] }";
    graph(
        text.split("experiment")
            .next()
            .expect("the model comes first"),
    );
    let outcome = run_text(text);
    let system = System {
        n: 2,
        lagrangian: Box::new(|q, v, _| {
            let x = q[1] * c(1.0 / 8e-3);
            let inductance = c(1e-3) / (c(1.0) + x * x);
            c(0.5) * inductance * v[0] * v[0] + c(0.01) * v[1] * v[1] - c(200.0) * q[1] * q[1]
                + c(6.0) * q[1] * v[0]
        }),
        forces: Box::new(|_, v, t| vec![5.0 * (200.0 * t).sin() - 4.0 * v[0], 0.0]),
        constraints: Box::new(|_, _| Vec::new()),
    };
    let (q, _) = system.integrate(vec![0.0, 0.0], vec![0.0, 0.0], 0.05, 20_000);
    kit::assert_close(kit::last(&outcome, "x"), q[1], 1e-9);
    kit::assert_close(kit::last(&outcome, "q"), q[0], 1e-9);
}

/// A charge in a magnetic field: one gyrator, from the potential alone.
#[test]
fn charge_in_a_magnetic_field() {
    let text = "lagrangian M { param m = 1.5, B = 2
    coordinate x, y
    kinetic a = 0.5*m*der(x)^2, b = 0.5*m*der(y)^2
    potential field = -0.5*B*(x*der(y) - y*der(x)) }\n";
    assert_eq!(gyrators(&graph(text)).len(), 1);
    let run = format!(
        "{text}experiment e of M {{ start x_rate.f = 1; stop = 2; rtol = 1e-11; record x, y }}"
    );
    let outcome = run_text(&run);
    // A circle of radius m v/B at ω = B/m; the force is B (ẏ, −ẋ).
    let (radius, angle) = (0.75_f64, 2.0 / 1.5 * 2.0_f64);
    kit::assert_close(kit::last(&outcome, "x"), radius * angle.sin(), 1e-9);
    kit::assert_close(kit::last(&outcome, "y"), radius * (angle.cos() - 1.0), 1e-9);
}

// ---- language

/// A lagrangian is a part like any other, bonded to through its ports.
#[test]
fn a_lagrangian_is_a_part() {
    let text = "units strict
lagrangian Arm { param m = 2 [kg], l = 0.8 [m], g = 9.81 [m/s^2]
    coordinate theta [rad]
    port shaft: rotational = theta
    kinetic bob = 0.5*m*(l*der(theta))^2
    potential weight = -m*g*l*cos(theta)
    output height [m] = -l*cos(theta) }
model Driven {
    arm: Arm(m = 1.5 [kg])
    drive: Se(3 [N*m]) -> shaft: 1 -> wheel: I(0.4 [kg*m^2]), drag: R(0.2 [N*m*s/rad])
    shaft -> arm.shaft
    output theta [rad] = arm.theta, height [m] = arm.height
}
experiment e of Driven { stop = 2 [s]; rtol = 1e-11; record theta, height }";
    let outcome = run_text(text);
    let system = System {
        n: 1,
        lagrangian: Box::new(|q, v, _| {
            c(0.5 * (1.5 * 0.64 + 0.4)) * v[0] * v[0] + c(1.5 * 9.81 * 0.8) * q[0].cos()
        }),
        forces: Box::new(|_, v, _| vec![3.0 - 0.2 * v[0]]),
        constraints: Box::new(|_, _| Vec::new()),
    };
    let (q, _) = system.integrate(vec![0.0], vec![0.0], 2.0, 4000);
    kit::assert_close(kit::last(&outcome, "theta"), q[0], 1e-9);
    kit::assert_close(kit::last(&outcome, "height"), -0.8 * q[0].cos(), 1e-9);
}

/// Holonomic constraints: a rod in x and y is a pendulum.
#[test]
fn a_rod_in_x_and_y_is_a_pendulum() {
    let text = "units strict
lagrangian Rod { param m = 1 [kg], l = 1 [m], g = 9.81 [m/s^2]
    coordinate x [m], y [m]
    kinetic T = 0.5*m*(der(x)^2 + der(y)^2)
    potential weight = m*g*y
    constraint rod: x^2 + y^2 == l^2 }
experiment e of Rod { start x = 0.6 [m], y = -0.8 [m]; stop = 2 [s]; rtol = 1e-10; record x, y }";
    graph(
        text.split("experiment")
            .next()
            .expect("the model comes first"),
    );
    let outcome = run_text(text);
    let system = System {
        n: 1,
        lagrangian: Box::new(|q, v, _| c(0.5) * v[0] * v[0] + c(9.81) * q[0].cos()),
        forces: Box::new(|_, _, _| vec![0.0]),
        constraints: Box::new(|_, _| Vec::new()),
    };
    let (q, _) = system.integrate(vec![0.6_f64.atan2(0.8)], vec![0.0], 2.0, 4000);
    kit::assert_close(kit::last(&outcome, "x"), q[0].sin(), 1e-7);
    kit::assert_close(kit::last(&outcome, "y"), -q[0].cos(), 1e-7);
}

/// Coordinates of different units in one potential, and functions and constants of the file.
#[test]
fn mixed_units_functions_and_constants() {
    let text = "units strict
stiff = 30 [N/m]
fn square(x) = x*x
lagrangian M { param m = 1 [kg], J = 0.2 [kg*m^2], r = 0.3 [m]
    coordinate x [m], a [rad]
    stretch = x - r*a
    kinetic T = 0.5*m*square(der(x)), U = 0.5*J*square(der(a))
    potential spring = 0.5*stiff*square(stretch)
    loss d = 0.5*0.4 [N*s/m]*(der(x) - r*der(a))^2 }
experiment e of M { start x = 0.1 [m], a = -0.5 [rad]; stop = 2 [s]; rtol = 1e-11; record x, a }";
    graph(
        text.split("experiment")
            .next()
            .expect("the model comes first"),
    );
    let outcome = run_text(text);
    let system = System {
        n: 2,
        lagrangian: Box::new(|q, v, _| {
            let d = q[0] - c(0.3) * q[1];
            c(0.5) * v[0] * v[0] + c(0.1) * v[1] * v[1] - c(15.0) * d * d
        }),
        forces: Box::new(|_, v, _| {
            let f = 0.4 * (v[0] - 0.3 * v[1]);
            vec![-f, 0.3 * f]
        }),
        constraints: Box::new(|_, _| Vec::new()),
    };
    let (q, _) = system.integrate(vec![0.1, -0.5], vec![0.0, 0.0], 2.0, 4000);
    kit::assert_close(kit::last(&outcome, "x"), q[0], 1e-9);
    kit::assert_close(kit::last(&outcome, "a"), q[1], 1e-9);
}

/// The written text is laid out as `paynter fmt` would, and runs as the block does.
#[test]
fn written_text_is_laid_out() {
    for text in [GYROSCOPE, BALL_TABLE, PENDULUM, FLIGHT_TABLE, ROLLING_DISC] {
        let shown = graph(text);
        let file = scratch(&shown);
        let formatted = paynter::format_file(&file.0).expect("a written text has no errors");
        assert_eq!(formatted.unwrap_or(shown.clone()), shown);
    }
}

/// Messages about a derived line are shown at the statement that made it.
#[test]
fn messages_point_at_the_statement() {
    let text = "lagrangian M {
    param m = 1 [kg], k = 2 [N/m]
    coordinate x [m]
    kinetic T = 0.5*m*der(x)^2
    effort x = k
}
experiment e of M { stop = 1 [s] }";
    let (_, shown) = kit::messages(text);
    assert!(shown.contains(":5:12"), "{shown}");
    assert!(
        shown.contains("the line derived from it is `k: Se(k) -> x_rate`"),
        "{shown}"
    );
}

/// A chain of fifty links: text, proof and graph in about a second.
#[test]
fn a_chain_of_fifty_links_is_quick() {
    let mut text = String::from("lagrangian Chain { param m = 1, l = 0.1, g = 9.81\n");
    for k in 1..=50 {
        let (east, up) = match k {
            1 => (String::new(), String::new()),
            _ => (format!("east{} + ", k - 1), format!("up{} + ", k - 1)),
        };
        text += &format!(
            "coordinate a{k}\nrate east{k} = {east}l*cos(a{k})*der(a{k}), up{k} = {up}l*sin(a{k})*der(a{k})
kinetic me{k} = 0.5*m*east{k}^2, mu{k} = 0.5*m*up{k}^2
potential w{k} = -{}*m*g*l*cos(a{k})\n",
            51 - k
        );
    }
    text += "}\n";
    let begin = std::time::Instant::now();
    let shown = graph(&text);
    let took = begin.elapsed().as_secs_f64();
    assert!(gyrators(&shown).is_empty());
    // About a second alone on a machine; tests share theirs.
    assert!(took < 10.0, "{took} s");
}
