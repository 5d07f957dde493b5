//! Printed equations: true for every model of the gallery, and those of the documents as the documents print them.
//!
//! The text is read back with the language's own parser, so what is checked is what is printed.

use crate::printed::{Printed, Values};
use paynter::exec::Engine;
use paynter::experiment::{lay_out, run_spec};
use paynter::readable::{Readable, readable};
use paynter::simulate::{Ending, Wanted, prepare, simulate};
use paynter::symbolic::{Role, SymbolId};
use paynter::syntax::render;
use paynter::{Choice, Design};
use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

fn gallery() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../gallery")
}

fn open(path: &Path, experiment: Option<&str>) -> Design {
    let choice = Choice {
        experiment: experiment.map(str::to_owned),
        ..Choice::default()
    };
    paynter::design(path, &choice).expect("part of the gallery")
}

fn gallery_design(name: &str) -> Design {
    open(&gallery().join(name), None)
}

fn made_readable(design: &Design) -> Readable {
    readable(design)
        .unwrap_or_else(|messages| panic!("{}", render(&messages, &design.project.sources, false)))
}

fn text_of(design: &Design) -> String {
    let readable = made_readable(design);
    readable.present().to_text(&|s| readable.name(s))
}

/// How many points of a run are looked at.
const POINTS: usize = 23;

/// Compares every printed equation with what the compiled equations give during a run.
///
/// Gives the number of comparisons.
fn holds_during_a_run(design: &Design) -> usize {
    let readable = made_readable(design);
    let text = readable.present().to_text(&|s| readable.name(s));
    let printed = Printed::read(&text);
    let mut compiled = design.compile().expect("what can be printed can be run");
    let reduced = compiled.reduced.clone();
    let own: BTreeMap<String, SymbolId> = (0..reduced.dae.symbols.len() as u32)
        .map(|i| (reduced.dae.name_of(SymbolId(i)), SymbolId(i)))
        .collect();
    let shown = &readable.reduced.dae;
    let mut parameters = Values::new();
    let mut wanted: BTreeMap<String, SymbolId> = BTreeMap::new();
    for i in 0..shown.symbols.len() as u32 {
        let name = readable.name(SymbolId(i));
        let Some(&symbol) = own.get(&shown.name_of(SymbolId(i))) else {
            continue;
        };
        match reduced.dae.symbol(symbol).role {
            Role::Parameter { value, .. } => {
                parameters.insert(name, value);
            }
            Role::Unknown | Role::Derivative { .. } | Role::Discrete { .. } => {
                wanted.insert(name, symbol);
            }
            Role::Time | Role::Pre { .. } | Role::Mode { .. } => {}
        }
    }
    every_state_has_an_equation(&readable, &printed);
    let mut spec = run_spec(
        &design.plan,
        &lay_out(&design.plan),
        &[],
        Engine::Interpreter,
    );
    let reduced = &mut compiled.reduced;
    spec.measured.clear();
    spec.wanted = wanted
        .iter()
        .map(|(name, &s)| Wanted {
            name: name.clone(),
            value: reduced.dae.pool.symbol(s),
            unit: String::new(),
            factor: 1.0,
            offset: 0.0,
        })
        .collect();
    // The first tenth of a run is enough; no instant is that of a tick or a step of a source.
    let span = (spec.stop - spec.start)
        .min(1.0)
        .max(0.1 * (spec.stop - spec.start));
    spec.stop = spec.start + span;
    spec.rtol = spec.rtol.max(1e-6);
    spec.output_times = (0..POINTS)
        .map(|k| spec.start + span * (k as f64 + 0.3137) / (POINTS as f64 + 1.0))
        .collect();
    let fail = |messages: Vec<paynter::syntax::Diagnostic>| -> ! {
        panic!("{}", render(&messages, &design.project.sources, false))
    };
    let mut machine = prepare(&compiled, &spec).unwrap_or_else(|m| fail(m));
    let run = simulate(&mut machine, &compiled, &spec, &mut |_| {
        ControlFlow::Continue(())
    })
    .unwrap_or_else(|m| fail(m));
    if let Ending::Failed {
        why: diagnostics, ..
    } = run.ending
    {
        fail(diagnostics);
    }
    let mut n_compared = 0;
    for (row, &time) in run.table.time.iter().enumerate() {
        let mut values = parameters.clone();
        values.insert("time".to_owned(), time);
        for column in &run.table.columns {
            values.insert(column.name.clone(), column.values[row]);
        }
        n_compared += compare(&printed, &mut values, &text);
    }
    n_compared
}

/// Rounding of some hundred operations, and the tolerance of Newton's method.
const ALLOWED: f64 = 1e-8;

/// What is smaller is compared with zero: a sum of numbers near 1 that cancel leaves some 1e-15.
const SMALL: f64 = 1e-5;

fn compare(printed: &Printed, values: &mut Values, text: &str) -> usize {
    let mut n_compared = 0;
    let known = values.clone();
    printed.solve(values);
    for equation in &printed.equations {
        let left = if equation.left == "0" {
            0.0
        } else if let Some(&left) = known.get(&equation.left) {
            left
        } else {
            continue;
        };
        let Some(right) = printed.compute(&equation.right, values) else {
            continue;
        };
        assert!(
            (left - right.value).abs() <= ALLOWED * (left.abs() + right.size + SMALL),
            "{} is {left}, and not {}\n{}\n{text}",
            equation.left,
            right.value,
            equation.text
        );
        n_compared += 1;
    }
    for matrix in &printed.matrices {
        let rows = printed
            .system(matrix, values)
            .expect("every entry is printed");
        let z: Vec<f64> = matrix.unknowns.iter().map(|name| values[name]).collect();
        for row in rows {
            let (h, entries) = row.split_last().expect("a right side");
            let terms: Vec<f64> = entries.iter().zip(&z).map(|(m, z)| m * z).collect();
            let size = terms.iter().fold(h.abs(), |size, t| size.max(t.abs()));
            let sum: f64 = terms.iter().sum();
            assert!(
                (sum - h).abs() <= ALLOWED * (size + SMALL),
                "a row gives {sum}, and not {h} (terms up to {size})\n{text}"
            );
            n_compared += 1;
        }
    }
    n_compared
}

/// Each rate is a left side, an unknown of a system, or another state.
fn every_state_has_an_equation(readable: &Readable, printed: &Printed) {
    let states: Vec<String> = readable
        .reduced
        .states
        .iter()
        .map(|s| readable.name(s.symbol))
        .collect();
    for state in &states {
        let rate = format!("{state}'");
        let is_left = printed.equations.iter().any(|e| e.left == rate);
        let is_unknown = printed.matrices.iter().any(|m| m.unknowns.contains(&rate));
        assert!(
            is_left || is_unknown || states.contains(&rate),
            "`{rate}` has no equation"
        );
    }
}

fn folder_holds(name: &str) {
    let mut n_files = 0;
    let folder = std::fs::read_dir(gallery().join(name)).expect("part of the project");
    for path in folder.flatten().map(|e| e.path()) {
        if path.extension().is_none_or(|e| e != "bond") {
            continue;
        }
        // One experiment for each model: the equations do not depend on the numbers.
        let mut models: Vec<String> = Vec::new();
        for experiment in paynter::experiments(&path).expect("part of the gallery") {
            let design = open(&path, Some(&experiment));
            if models.contains(&design.model) {
                continue;
            }
            models.push(design.model.clone());
            let n = holds_during_a_run(&design);
            let n_states = made_readable(&design).reduced.states.len();
            assert!(
                n >= POINTS * n_states / 2,
                "{experiment}: only {n} comparisons"
            );
        }
        n_files += 1;
    }
    assert!(n_files > 0);
}

macro_rules! printed_equations_hold {
    ($($name:ident)*) => {$(
        #[test]
        fn $name() {
            folder_holds(stringify!($name));
        }
    )*};
}

mod printed_equations_hold_in {
    use super::folder_holds;
    printed_equations_hold! {
        ball_joint circuit disc flight_table gear_train gyroscope missile pendulum platform
        rate_gyro servo slider_crank spring_mass_damper wheatstone
    }
}

/// Compares printed rates with formulas of a document at a hundred random points or more.
///
/// `formulas` are (left side, formula in the names of the document); `names` give each name of
/// the document an expression in the printed names.
fn agrees_with_document(text: &str, names: &[(&str, &str)], formulas: &[(&str, &str)]) {
    let printed = Printed::read(text);
    let book: String = names
        .iter()
        .chain(formulas)
        .map(|(left, right)| format!("book_{left} = {}\n", right))
        .collect();
    // Names of the document on right sides are those defined before.
    let mut book_text = String::new();
    for line in book.lines() {
        let (left, right) = line.split_once(" = ").expect("an equation");
        let mut right = right.to_owned();
        let is_formula = formulas.iter().any(|(l, _)| format!("book_{l}") == left);
        if is_formula {
            for (name, _) in names {
                right = replace_word(&right, name, &format!("book_{name}"));
            }
        }
        book_text.push_str(&format!("{left} = {right}\n"));
    }
    let book = Printed::read(&book_text);
    let lefts: Vec<&String> = printed.equations.iter().map(|e| &e.left).collect();
    let mut free: Vec<&String> = printed
        .names()
        .chain(book.names())
        .filter(|n| !lefts.contains(n) && !n.starts_with("book_"))
        .collect();
    free.sort();
    free.dedup();
    let mut seed = 1_u64;
    let mut random = || {
        // Numerical Recipes' linear congruence is random enough for points.
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        0.7 + (seed >> 33) as f64 / 2_f64.powi(31)
    };
    let mut n_meaningful = 0;
    for _ in 0..200 {
        let mut values: Values = free.iter().map(|n| ((*n).clone(), random())).collect();
        values.insert("time".to_owned(), random());
        printed.solve(&mut values);
        book.solve(&mut values);
        for (left, _) in formulas {
            let (ours, theirs) = (values[*left], values[&format!("book_{left}")]);
            if ours.is_nan() && theirs.is_nan() {
                continue;
            }
            n_meaningful += 1;
            // All values are near 1 and there are less than a hundred operations.
            assert!(
                (ours - theirs).abs() <= 1e-11 * (1.0 + theirs.abs()),
                "{left}: {ours} and in the document {theirs}\n{text}"
            );
        }
    }
    assert!(
        n_meaningful >= 100 * formulas.len(),
        "{n_meaningful} points"
    );
}

/// Replaces a name where it stands alone.
fn replace_word(text: &str, word: &str, by: &str) -> String {
    let is_part = |c: char| c.is_alphanumeric() || "_.'".contains(c);
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = rest.find(word) {
        let before = rest[..at].chars().next_back();
        let after = rest[at + word.len()..].chars().next();
        let is_alone = !before.is_some_and(is_part) && !after.is_some_and(is_part);
        out.push_str(&rest[..at]);
        out.push_str(if is_alone { by } else { word });
        rest = &rest[at + word.len()..];
    }
    out + rest
}

mod as_in_the_document {
    use super::{Printed, Values, agrees_with_document, gallery_design, text_of};
    use insta::assert_snapshot;

    #[test]
    fn circuit_3_5_and_3_7() {
        let text = text_of(&gallery_design("circuit/circuit.bond"));
        assert_snapshot!(text);
        agrees_with_document(
            &text,
            &[("q", "c1.q"), ("p", "l1.p"), ("SE", "Vs")],
            &[
                ("c1.q'", "(SE - q/C1)/R1 - p/L1"),
                ("l1.p'", "q/C1 - R2/L1*p"),
            ],
        );
    }

    #[test]
    fn wheatstone_4_21() {
        let text = text_of(&gallery_design("wheatstone/wheatstone.bond"));
        assert_snapshot!(text);
        agrees_with_document(
            &text,
            &[("q4", "c1.q"), ("q11", "c2.q")],
            &[(
                "eB9_R3",
                "R3*(C2*R5*(R2 + R4)*q4 - C1*R2*(R4 + R5)*q11)/(C1*C2*(R2*R3*R4 + R2*R3*R5 + R3*R4*R5 + R2*R4*R5))",
            )],
        );
    }

    #[test]
    fn gear_train_of_4_2_3() {
        let text = text_of(&gallery_design("gear_train/gear_train.bond"));
        assert_snapshot!(text);
        // J1 turns with the speed of J2 by r2/r1, so it is felt as J1 (r2/r1)² on that shaft.
        agrees_with_document(
            &text,
            &[("p2", "I2.p"), ("p3", "I3.p"), ("q", "twist.q")],
            &[
                ("I2.p'", "J2*(tau*r2/r1 - k*q)/(J2 + J1*(r2/r1)^2)"),
                ("I3.p'", "k*q - b*p3/J3"),
                ("twist.q'", "p2/J2 - p3/J3"),
            ],
        );
    }

    #[test]
    fn spring_mass_damper_of_4_4() {
        let text = text_of(&gallery_design(
            "spring_mass_damper/spring_mass_damper.bond",
        ));
        assert_snapshot!(text);
        agrees_with_document(
            &text,
            &[("V1", "I1.p/m1"), ("V2", "I2.p/m2")],
            &[
                ("I1.p'", "K1*spring1.q + B1*(V2 - V1)"),
                (
                    "I2.p'",
                    "K2*spring2.q + B2*(Vi - V2) - K1*spring1.q - B1*(V2 - V1)",
                ),
            ],
        );
    }

    #[test]
    fn gyroscope_44_45_50_51() {
        let text = text_of(&gallery_design("gyroscope/gyroscope.bond"));
        assert_snapshot!(text);
        agrees_with_document(
            &text,
            &[
                ("P1", "I1.p"),
                ("P2", "I2.p"),
                ("P3", "I3.p"),
                ("M1", "A + A1"),
                ("M2", "C2"),
                ("M4", "C1"),
                ("M5", "A + B1"),
            ],
            &[
                (
                    "I2.p'",
                    "(M2*M1*(N_phi - N_psi*cos(theta)) + P1*P3*M2*sin(theta) + 2*P1*P2*sin(theta)*cos(theta)*(M4 - M5))/(M1*(M2 + M4*cos(theta)^2 + M5*sin(theta)^2))",
                ),
                ("I3.p'", "N_psi"),
                (
                    "I1.p'",
                    "N_theta - P2*P3/M2*sin(theta) + (P2/M2)^2*sin(theta)*cos(theta)*(M5 - M4)",
                ),
                ("theta'", "P1/M1"),
            ],
        );
    }

    #[test]
    fn flight_table_in_lagrange_form() {
        let text = text_of(&gallery_design("flight_table/flight_table.bond"));
        assert_snapshot!(text);
        assert!(text.lines().count() <= 60);
        assert_eq!(text.matches("M*[").count(), 1, "one symmetric matrix");
        assert!(text.contains("M[1,2] = M[2,1]"));
        let printed = Printed::read(&text);
        let mut seed = 7_u64;
        let mut random = || {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            0.5 + (seed >> 33) as f64 / 2_f64.powi(31)
        };
        for _ in 0..100 {
            let names = [
                "inner.Ix",
                "inner.Iy",
                "inner.Iz",
                "middle.Ix",
                "middle.Iy",
                "middle.Iz",
                "inner.ix.p",
                "middle.iy.p",
                "iz3.p",
                "alpha",
                "beta",
                "M_alpha",
                "M_beta",
                "M_gamma",
                "friction",
            ];
            let mut v: Values = names.iter().map(|n| ((*n).to_owned(), random())).collect();
            v.insert("time".to_owned(), 0.0);
            // A rate near 1, as the others are.
            v.insert("iz3.p".to_owned(), 0.02 * v["iz3.p"]);
            printed.solve(&mut v);
            let inertias = [
                v["inner.Ix"],
                v["inner.Iy"],
                v["inner.Iz"],
                v["middle.Ix"],
                v["middle.Iy"],
                v["middle.Iz"],
                0.02,
            ];
            let rates = [v["alpha'"], v["beta'"], v["gamma'"]];
            // Ωx1 = α' − sin β γ' is the momentum over Ix1, so its rate gives α''.
            let (sin, cos) = v["beta"].sin_cos();
            let alpha =
                v["inner.ix.p'"] / v["inner.Ix"] + cos * rates[1] * rates[2] + sin * v["gamma''"];
            let accelerations = [alpha, v["beta''"], v["gamma''"]];
            let angles = [v["alpha"], v["beta"], 0.0];
            let torques = ["M_alpha", "M_beta", "M_gamma"];
            for k in 0..3 {
                let torque = v[torques[k]] - v["friction"] * rates[k];
                let inertial = lagrange(&inertias, angles, rates, accelerations, k);
                // Differences of a smooth function with a step of 1e-4 are good to 1e-7 of its size.
                let size = torque.abs() + accelerations[k].abs() + 1.0;
                assert!(
                    (inertial - torque).abs() < 1e-5 * size,
                    "{inertial} {torque}"
                );
            }
        }
    }

    /// Kinetic energy of the three gimbals, from the body rates of Tiernego & van Dixhoorn 1979.
    fn kinetic(inertias: &[f64; 7], angles: [f64; 3], [a, b, c]: [f64; 3]) -> f64 {
        let ((sa, ca), (sb, cb)) = (angles[0].sin_cos(), angles[1].sin_cos());
        let rates = [
            a - sb * c,
            ca * b + sa * cb * c,
            -sa * b + ca * cb * c,
            -sb * c,
            b,
            cb * c,
            c,
        ];
        let terms = inertias.iter().zip(rates).map(|(i, w)| 0.5 * i * w * w);
        terms.sum()
    }

    /// d/dt ∂T/∂q̇ − ∂T/∂q by central differences.
    fn lagrange(inertias: &[f64; 7], q: [f64; 3], v: [f64; 3], a: [f64; 3], k: usize) -> f64 {
        const H: f64 = 1e-4;
        let moved =
            |x: [f64; 3], d: [f64; 3], h: f64| [x[0] + h * d[0], x[1] + h * d[1], x[2] + h * d[2]];
        let mut unit = [0.0; 3];
        unit[k] = 1.0;
        // T is a square in v: its difference is exact for any step.
        let momentum = |q: [f64; 3], v: [f64; 3]| {
            (kinetic(inertias, q, moved(v, unit, 1.0)) - kinetic(inertias, q, moved(v, unit, -1.0)))
                / 2.0
        };
        let later = momentum(moved(q, v, H), moved(v, a, H));
        let before = momentum(moved(q, v, -H), moved(v, a, -H));
        let slope = (kinetic(inertias, moved(q, unit, H), v)
            - kinetic(inertias, moved(q, unit, -H), v))
            / (2.0 * H);
        (later - before) / (2.0 * H) - slope
    }

    #[test]
    fn rate_gyro_12() {
        let text = text_of(&gallery_design("rate_gyro/rate_gyro_reduced.bond"));
        assert_snapshot!(text);
        agrees_with_document(
            &text,
            &[("a", "spring.q"), ("w", "Ix.p/(J1x + Jt)")],
            &[
                ("Ix.p'", "cos(a)*Js*Omega*psi_dot - k*a - b*w"),
                ("spring.q'", "w"),
            ],
        );
    }

    #[test]
    fn disc_with_a_sliding_mass() {
        let text = text_of(&gallery_design("disc/disc.bond"));
        assert_snapshot!(text);
        agrees_with_document(
            &text,
            &[("w", "disc.p/J"), ("v", "x'")],
            &[
                (
                    "disc.p'",
                    "J*(tau - m*g*x*cos(gamma) - 2*m*x*v*w)/(J + m*x^2)",
                ),
                ("x''", "x*w^2 - b*v/m - g*sin(gamma)"),
            ],
        );
    }

    #[test]
    fn ball_joint_from_its_lagrangian() {
        let text = text_of(&gallery_design("ball_joint/ball_joint.bond"));
        assert_snapshot!(text);
        agrees_with_document(
            &text,
            &[("th", "weight.q"), ("thd", "I3.p/J3"), ("psd", "base.p/I0")],
            &[
                ("I3.p'", "(J1 - J2)*psd^2*sin(th)*cos(th) - m*g*l*sin(th)"),
                (
                    "base.p'",
                    "-2*I0*(J1 - J2)*sin(th)*cos(th)*thd*psd/(I0 + J1*sin(th)^2 + J2*cos(th)^2)",
                ),
            ],
        );
    }

    #[test]
    fn linear_servo_of_chapter_5() {
        let text = text_of(&gallery_design("servo/linear_servo.bond"));
        assert_snapshot!(text);
        agrees_with_document(
            &text,
            &[
                ("i", "lm.p/0.0006"),
                ("wm", "jm.p/4.5e-7"),
                ("wf", "jf.p/0.0003"),
                ("tw", "tooth.q"),
            ],
            &[
                ("jm.p'", "1.5*i - 0.3*wm - gr1*K*tw"),
                ("tooth.q'", "gr1*wm - gr2*wf"),
                ("jf.p'", "gr2*K*tw - 0.04*wf + hm*hinge.q"),
                ("hinge.q'", "wf"),
            ],
        );
    }

    #[test]
    fn servo_of_chapter_5_with_its_sampled_controller() {
        let text = text_of(&gallery_design("servo/servo.bond"));
        assert_snapshot!(text);
    }

    #[test]
    fn missile_of_chapter_6() {
        let text = text_of(&gallery_design("missile/missile.bond"));
        assert_snapshot!(text);
        agrees_with_document(
            &text,
            &[
                ("al", "if body.frozen then body.alpha_trim else body.alpha"),
                ("q", "body.iyy.p/body.Iyy"),
            ],
            &[
                (
                    "body.alpha'",
                    "q - body.Q*(2*body.Sref + 1.5*body.Splan*al + 8*(body.Sw + body.St)/body.beta)/(body.mass*body.Vm)*body.alpha + body.Z_delta*delta",
                ),
                (
                    "body.iyy.p'",
                    "body.Q*(body.c0 + body.c1*al)*body.alpha + body.M_delta*body.Iyy*delta",
                ),
            ],
        );
    }
}

#[test]
fn a_matrix_is_not_called_like_something_of_the_model() {
    let text = "model Chain {
        param l = 0.7, M = 1.3, g = 9.81
        w1: 1; der(a) = w1.f; w1 -> TF(l*cos(a)) -> x1: 0; w1 -> TF(l*sin(a)) -> y1: 0
        w2: 1; der(b) = w2.f; w2 -> TF(l*cos(b)) -> x2: 0; w2 -> TF(l*sin(b)) -> y2: 0
        x1 -> vx1: 1 -> I(M); y1 -> vy1: 1 -> I(M); vy1 -> Se(M*g); vx1 -> x2; vy1 -> y2
        x2 -> vx2: 1 -> I(M); y2 -> vy2: 1 -> I(M); vy2 -> Se(M*g)
        w1 -> R(0.05); w2 -> d: 0 -> w1; d -> rel: 1 -> R(0.05)
    }";
    let folder = std::env::temp_dir().join(format!("paynter-matrix-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a temporary folder can be made");
    let path = folder.join("chain.bond");
    std::fs::write(&path, text).expect("the temporary folder can be written");
    let printed = text_of(&open(&path, None));
    std::fs::remove_dir_all(&folder).expect("the folder was made here");
    // M is the mass, b an angle, h free.
    assert!(printed.contains("A*[a'', b''] = h"), "{printed}");
    assert!(printed.contains("A[2,2] = M*l^2"), "{printed}");
}
