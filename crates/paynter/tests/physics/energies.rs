//! From a graph back to its energies: T, V, D, Q, equations of motion, and the Hamiltonian form.

use crate::kit::{self, Seeded, design, gallery_text};
use crate::reference::{System, c};
use paynter::Design;
use paynter::energies::{hamiltonian, lagrange};
use paynter::listing::Format;
use paynter::model::energies::{Energies, energies, hamiltonian as hamiltonian_of};
use paynter::symbolic::calculus::gradient;
use paynter::symbolic::evaluate::evaluate;
use paynter::symbolic::{ExprId, SymbolId};
use std::collections::HashMap;

fn lagrange_text(text: &str) -> String {
    lagrange(&design(text), Format::Text).unwrap_or_else(|why| panic!("{why}"))
}

fn hamiltonian_text(text: &str) -> String {
    hamiltonian(&design(text), Format::Text).unwrap_or_else(|why| panic!("{why}"))
}

const PENDULUM: &str = "model Pendulum {
    param m = 2, mu = 0.3, L = 0.8, g = 9.81, b = 0.1
    input N = 0
    swing: 1 -> hub: I(mu), weight: C { e = m*g*L*sin(q) }, drag: R(b)
    swing -> TF(L) -> bob: 1 -> mass: I(m)
    Se(N) -> swing
    theta = weight.q
}
experiment e of Pendulum { stop = 1 }";

/// T, V, D, M and H of a pendulum, in numbers.
#[test]
fn energies_of_a_pendulum() {
    let design = design(PENDULUM);
    let mut energies = energies(&design.graph).expect("it is mechanical");
    let (m, mu, l, g, b) = (2.0, 0.3, 0.8, 9.81, 0.1);
    let values = [
        ("m", m),
        ("mu", mu),
        ("L", l),
        ("g", g),
        ("b", b),
        ("N", 0.7),
    ];
    let mut point: HashMap<String, f64> = values.map(|(name, x)| (name.to_owned(), x)).into();
    let (theta, speed, p) = (0.6_f64, 1.1, 0.9);
    point.insert("theta".to_owned(), theta);
    point.insert("theta'".to_owned(), speed);
    point.insert("p_theta".to_owned(), p);
    let found = hamiltonian_of(&mut energies).expect("it is free");
    let inertia = mu + m * l * l;
    let potential = m * g * l * (1.0 - theta.cos());
    let number = |e: ExprId| value(&design, &energies, e, &point);
    kit::assert_close(
        number(energies.kinetic),
        0.5 * inertia * speed * speed,
        1e-12,
    );
    // Counted from any zero.
    let at_rest = {
        let mut point = point.clone();
        point.insert("theta".to_owned(), 0.0);
        value(&design, &energies, energies.potential, &point)
    };
    kit::assert_close(number(energies.potential) - at_rest, potential, 1e-12);
    kit::assert_close(number(energies.loss), 0.5 * b * speed * speed, 1e-12);
    kit::assert_close(number(energies.forces[0]), 0.7, 1e-12);
    kit::assert_close(number(found.inertia[0]), inertia, 1e-12);
    let total = number(found.hamiltonian.expect("one coordinate is inverted")) - at_rest;
    kit::assert_close(total, p * p / (2.0 * inertia) + potential, 1e-12);
    let shown = lagrange_text(PENDULUM);
    assert!(
        shown.starts_with("coordinates: theta (rate swing.f)"),
        "{shown}"
    );
}

/// The gallery's graphs, drawn by hand from Lagrangians, give those Lagrangians back.
#[test]
fn gyrators_of_the_gallery_are_those_of_lagrange() {
    for file in [
        "gyroscope/gyroscope.bond",
        "ball_joint/ball_joint.bond",
        "disc/disc.bond",
    ] {
        let shown = lagrange_text(&gallery_text(file));
        assert!(
            shown.contains("these are the equations of Euler and Lagrange"),
            "{file}\n{shown}"
        );
    }
}

/// A gyrator that is dropped or added is not of T: it is listed.
#[test]
fn other_gyrators_are_listed() {
    let text = gallery_text("ball_joint/ball_joint.bond");
    let mutated = text.replace("    tilt  -> GY(I2.p) -> across\n", "");
    assert_ne!(text, mutated);
    let shown = lagrange_text(&mutated);
    assert!(shown.contains("gyrators add on the left"), "{shown}");

    let motor = "model Motor { param L = 1, R = 2, k = 0.5, J = 3
    input u = 0
    Se(u) -> mesh: 1 -> l: I(L), r: R(R)
    mesh -> GY(k) -> shaft: 1 -> j: I(J) }
experiment e of Motor { stop = 1 }";
    let shown = lagrange_text(motor);
    assert!(shown.contains("G_mesh = k*shaft'"), "{shown}");
    let shown = hamiltonian_text(motor);
    assert!(shown.contains("Jacobi's identity holds"), "{shown}");
}

#[test]
fn what_has_no_such_form_is_refused() {
    let circuit = "model RC { s: Se(5) -> a: 1 -> r: R(10)\na -> n: 0 -> c: C(1), r2: R(3) }
experiment e of RC { stop = 1 }";
    let why =
        lagrange(&design(circuit), Format::Text).expect_err("flows of r2 follow from an effort");
    assert!(why.contains("does not follow"), "{why}");
    let diode = "model Bridge { s: Se(5) -> a: 1 -> r: R(10), d: D(), l: I(1) }
experiment e of Bridge { stop = 1 }";
    assert!(lagrange(&design(diode), Format::Text).is_err());
    let rolling = "lagrangian K { param m = 1, J = 2
    coordinate x, y, h
    kinetic T = 0.5*m*(der(x)^2 + der(y)^2), U = 0.5*J*der(h)^2
    constraint knife: sin(h)*der(x) == cos(h)*der(y) }
experiment e of K { stop = 1 }";
    let why = hamiltonian(&design(rolling), Format::Text).expect_err("it has a constraint");
    assert!(why.contains("almost Poisson"), "{why}");
    let shown = lagrange_text(rolling);
    assert!(shown.contains("knife holds"), "{shown}");
}

/// A random system of two or three coordinates with a magnetic field, a loss and a force.
struct Random {
    n: usize,
    size: Vec<f64>,
    field: f64,
    loss: f64,
}

impl Random {
    fn new(seed: u64) -> Self {
        let mut random = Seeded(seed);
        let n = 2 + random.below(2);
        Random {
            n,
            size: (0..2 * n).map(|_| random.between(0.4, 2.0)).collect(),
            field: random.between(0.2, 1.0),
            loss: random.between(0.1, 0.4),
        }
    }

    fn text(&self) -> String {
        let n = self.n;
        let names: Vec<String> = (0..n).map(|i| format!("q{i}")).collect();
        let mut text = format!(
            "lagrangian M {{ input u = 0\ncoordinate {}\n",
            names.join(", ")
        );
        for i in 0..n {
            let j = (i + 1) % n;
            text += &format!(
                "rate r{i} = der(q{i}) + 0.5*sin(q{j})*der(q{j})*cos(q{i})\nkinetic a{i} = 0.5*{}*r{i}^2, b{i} = 0.5*{}*der(q{i})^2\n",
                self.size[i],
                self.size[n + i]
            );
            text += &format!("potential v{i} = 0.5*q{i}^2 - cos(q{i})\n");
        }
        text + &format!(
            "potential field = -{}*sin(q1)*der(q0)\nloss d = 0.5*{}*der(q0)^2\neffort q1 = u }}\nexperiment e of M {{ stop = 1 }}",
            self.field, self.loss
        )
    }

    fn system(&self, u: f64) -> System<'_> {
        let n = self.n;
        System {
            n,
            lagrangian: Box::new(move |q, v, _| {
                let mut sum = c(self.field) * q[1].sin() * v[0];
                for i in 0..n {
                    let j = (i + 1) % n;
                    let f = v[i] + c(0.5) * q[j].sin() * v[j] * q[i].cos();
                    sum = sum
                        + c(0.5 * self.size[i]) * f * f
                        + c(0.5 * self.size[n + i]) * v[i] * v[i];
                    sum = sum - c(0.5) * q[i] * q[i] + q[i].cos();
                }
                sum
            }),
            forces: Box::new(move |_, v, _| {
                let mut forces = vec![0.0; n];
                forces[0] = -self.loss * v[0];
                forces[1] = u;
                forces
            }),
            constraints: Box::new(|_, _| Vec::new()),
        }
    }
}

/// Values of an expression at a point given by names.
fn value(design: &Design, energies: &Energies, e: ExprId, point: &HashMap<String, f64>) -> f64 {
    let found = |s: SymbolId| {
        let name = energies.name(&design.graph, s);
        *point
            .get(&name)
            .unwrap_or_else(|| panic!("`{name}` has no value"))
    };
    evaluate(&energies.pool, e, &found).expect("it has a value")
}

/// The printed equations of motion hold for accelerations found by other means.
#[test]
fn equations_of_motion_hold() {
    for seed in 0..8 {
        let random = Random::new(seed);
        let design = design(&random.text());
        let energies = energies(&design.graph).expect("it is mechanical");
        let mut numbers = Seeded(100 + seed);
        let n = random.n;
        let q: Vec<f64> = (0..n).map(|_| numbers.between(-1.0, 1.0)).collect();
        let v: Vec<f64> = (0..n).map(|_| numbers.between(-1.0, 1.0)).collect();
        let u = 0.7;
        let a = random.system(u).accelerations(&q, &v, 0.0);
        let mut point = HashMap::from([("u".to_owned(), u)]);
        for c in &energies.coordinates {
            let i: usize = c.name[1..].parse().expect("coordinates are q0, q1, …");
            point.insert(c.name.clone(), q[i]);
            point.insert(format!("{}'", c.name), v[i]);
            point.insert(format!("{}''", c.name), a[i]);
        }
        for i in 0..n {
            let load = value(&design, &energies, energies.loads[i], &point);
            let force = value(&design, &energies, energies.forces[i], &point);
            kit::assert_close(load, force, 1e-11);
        }
    }
}

/// x' = (J − R) ∂H + g u, with p = M q', is the same motion.
#[test]
fn the_hamiltonian_form_is_the_same_motion() {
    for seed in 0..8 {
        let random = Random::new(seed);
        let design = design(&random.text());
        let mut energies = energies(&design.graph).expect("it is mechanical");
        let found = hamiltonian_of(&mut energies).expect("it is free");
        assert_eq!((found.n_casimirs, found.is_poisson), (0, true));
        let n = random.n;
        let order: Vec<usize> = energies
            .coordinates
            .iter()
            .map(|c| c.name[1..].parse().expect("coordinates are q0, q1, …"))
            .collect();
        let mut numbers = Seeded(300 + seed);
        let q: Vec<f64> = (0..n).map(|_| numbers.between(-1.0, 1.0)).collect();
        let v: Vec<f64> = (0..n).map(|_| numbers.between(-1.0, 1.0)).collect();
        let u = -0.4;
        let a = random.system(u).accelerations(&q, &v, 0.0);
        let point_at = |q: &[f64]| {
            let names = order
                .iter()
                .flat_map(|&i| [(format!("q{i}"), q[i]), (format!("q{i}'"), v[i])]);
            names
                .chain([("u".to_owned(), u)])
                .collect::<HashMap<_, _>>()
        };
        let momenta = |energies: &Energies, q: &[f64], v: &[f64]| -> Vec<f64> {
            let point = point_at(q);
            let m = |i: usize, j: usize| value(&design, energies, found.inertia[i * n + j], &point);
            (0..n)
                .map(|i| (0..n).map(|j| m(i, j) * v[order[j]]).sum())
                .collect()
        };
        // ṗ along the motion, by a central difference.
        let h = 1e-5;
        let moved = |sign: f64| {
            let q: Vec<f64> = (0..n)
                .map(|i| q[i] + sign * h * v[i] + h * h / 2.0 * a[i])
                .collect();
            let v: Vec<f64> = (0..n).map(|i| v[i] + sign * h * a[i]).collect();
            momenta(&energies, &q, &v)
        };
        let (plus, minus) = (moved(1.0), moved(-1.0));
        let p = momenta(&energies, &q, &v);
        let mut point = point_at(&q);
        for (i, &s) in found.momenta.iter().enumerate() {
            point.insert(energies.name(&design.graph, s), p[i]);
        }
        let total = found.hamiltonian.expect("three coordinates are inverted");
        let slopes = gradient(&mut energies.pool, total, &found.momenta);
        let rates: Vec<f64> = slopes
            .iter()
            .map(|&e| value(&design, &energies, e, &point))
            .collect();
        for i in 0..n {
            kit::assert_close(rates[i], v[order[i]], 1e-10);
        }
        for i in 0..n {
            // −∂H/∂q by a central difference, since displacements stand for coordinates.
            let shifted = |sign: f64| {
                let mut point = point.clone();
                point.insert(format!("q{}", order[i]), q[order[i]] + sign * h);
                value(&design, &energies, total, &point)
            };
            let mut rate = -(shifted(1.0) - shifted(-1.0)) / (2.0 * h);
            for &(row, column, e) in &found.gyroscopic {
                if row == i {
                    rate += value(&design, &energies, e, &point) * rates[column];
                }
            }
            for &(row, column, e) in &found.resistive {
                if row == i {
                    rate -= value(&design, &energies, e, &point) * rates[column];
                }
            }
            for &(row, _, e) in &found.ports {
                if row == i {
                    rate += value(&design, &energies, e, &point) * u;
                }
            }
            kit::assert_close(rate, (plus[i] - minus[i]) / (2.0 * h), 1e-7);
        }
    }
}

#[test]
fn all_formats_carry_the_same() {
    let design = design(PENDULUM);
    for format in [Format::Text, Format::Latex, Format::Json] {
        for listed in [lagrange(&design, format), hamiltonian(&design, format)] {
            let text = listed.expect("it is mechanical");
            assert!(text.len() > 100, "{text}");
        }
    }
}
