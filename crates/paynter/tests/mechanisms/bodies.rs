//! Bodies and joints at default settings against mechanics written out by hand.
//!
//! In:  random trees of bodies, and mechanisms that once hung or failed.
//! Out: trees move as Kane's equations in joint coordinates say, integrated here by small steps of Runge's fourth-order
//!      formula; the others keep their joints closed, in a number of steps that fits their motion.

use crate::kane::{random_tree, reference, text_of};
use crate::kit::{self, column, run_text};
use paynter::exec::Engine;
use paynter::experiment::Outcome;
use paynter::symbolic::reduced::Block;

fn check_tree(seed: u64, n: usize) {
    let tree = random_tree(seed, n);
    let t_end = 0.5;
    let expected = reference(&tree, &[], t_end);
    let text = text_of(&tree, &[], t_end);
    let outcome = run_text(&text);
    for (k, r) in expected.iter().enumerate() {
        for (i, x) in r.iter().enumerate() {
            let got = *column(&outcome, &format!("r{k}[{}]", i + 1))
                .last()
                .expect("rows");
            assert!(
                (got - x).abs() < 1e-8,
                "seed {seed}, body {k}: {got} for {x}\n{text}"
            );
        }
    }
}

#[test]
fn random_trees_move_as_by_kanes_equations() {
    for seed in 1..=12 {
        check_tree(seed, 2 + seed as usize % 4);
    }
}

#[test]
fn tree_of_many_locks_moves_as_by_kanes_equations() {
    check_tree(77, 14);
}

/// A chain in space, its axes across each other in turn.
fn hinged_chain(n: usize) -> String {
    format!(
        "units strict
use mechanics3d: World, Rod, Revolute, ey, ez
model Chain {{
    world: World(gravity = [0, 0, -9.81] [m/s^2])
    for i in 1 .. {n} {{
        link[i]: Rod(m = 1 [kg], l = 1 [m], radius = 5 [cm])
        hinge[i]: Revolute(axis = if mod(i, 2) == 1 then ey else ez)
        hinge[i] => link[i].a
        guess link[i].r = [(i-0.5)*1 [m], 0 [m], 0 [m]]
        start hinge[i].angle = 0 [rad], hinge[i].rate = 0.5 [rad/s]
    }}
    world => hinge[1]
    for i in 2 .. {n} {{ link[i-1].b => hinge[i] }}
}}
experiment e of Chain {{ stop = 0.1 [s]; output_step = 0.1 [s]; rtol = 1e-8
    record link[{n}].b.r[1] as x, link[{n}].b.r[2] as y, link[{n}].b.r[3] as z }}
"
    )
}

#[test]
fn reactions_are_one_symmetric_system_as_large_as_there_are_locks() {
    let n = 12;
    let compiled = kit::design(&hinged_chain(n))
        .compile()
        .expect("it compiles");
    let mut large = compiled
        .reduced
        .blocks
        .iter()
        .filter_map(|block| match block {
            Block::Linear {
                unknowns,
                matrix,
                positive_definite,
                ..
            } if unknowns.len() > 6 => Some((unknowns.len(), matrix.len(), *positive_definite)),
            Block::Nonlinear { unknowns, .. } => Some((unknowns.len(), 0, false)),
            _ => None,
        });
    let (unknowns, entries, is_definite) = large.next().expect("one system");
    assert_eq!(unknowns, 5 * n);
    assert!(is_definite);
    // Each joint shares a body with two others at most.
    assert!(entries <= 5 * 5 * (3 * n - 2), "{entries} entries");
    assert_eq!(large.next(), None);
}

#[test]
fn machine_code_of_a_long_chain_gives_the_bits_of_the_interpreter() {
    let design = kit::design(&hinged_chain(40));
    let run = |engine| kit::run_design(&design, engine).expect("it runs");
    let (slow, fast) = (run(Engine::Interpreter), run(Engine::Jit));
    for name in ["x", "y", "z"] {
        assert_eq!(column(&slow, name), column(&fast, name), "{name}");
    }
}

fn steps(outcome: &Outcome) -> usize {
    outcome.run.statistics.steps
}

/// Cranks of equal length joined by couplers: parallelograms that pass through their dead centres.
const FOUR_BARS: &str = "units strict
use mechanics2d: Ground, Bar, Pin
model FourBars {
    param N = 2
    for i in 1 .. N+1 {
        g[i]: Ground(r = [(i-1)*1 [m], 0 [m]])
        c[i]: Bar(m = 1 [kg], l = 1 [m])
        g[i].fixed => j[i]: Pin => c[i].a
        Se[2]([0, -9.81] [N]) => c[i].v
        guess c[i].angle = 90 [deg], c[i].r = [(i-1)*1 [m], 0.5 [m]]
        guess c[i].w.f = -1 [rad/s]
    }
    for i in 1 .. N {
        k[i]: Bar(m = 1 [kg], l = 1 [m])
        c[i].b => h[i]: Pin => k[i].a
        k[i].b => e[i]: Pin => c[i+1].b
        Se[2]([0, -9.81] [N]) => k[i].v
        guess k[i].angle = 0 [deg], k[i].r = [(i-0.5)*1 [m], 1 [m]]
    }
    start c[1].angle = 90 [deg], c[1].w.f = -1 [rad/s]
}
";

#[test]
fn four_bars_pass_their_dead_centres_in_the_steps_of_their_motion() {
    let text = format!(
        "{FOUR_BARS}experiment e of FourBars {{ stop = 10 [s]; output_step = 0.1 [s]; rtol = 1e-8
            record c[1].b.r[1] as x, c[1].b.r[2] as y }}"
    );
    let outcome = run_text(&text);
    assert!(steps(&outcome) < 300, "{} steps", steps(&outcome));
    // Cranks and couplers move as one pendulum: (3 m/3 + 2 m) θ″ = −(3 m/2 + 2 m) g cos θ / l.
    let (mut angle, mut rate) = (std::f64::consts::FRAC_PI_2, -1.0);
    let h = 1e-4;
    let pull = |angle: f64| -(3.5 / 3.0) * 9.81 * angle.cos();
    for _ in 0..100_000 {
        // Störmer and Verlet: second order, and no drift.
        let half = rate + 0.5 * h * pull(angle);
        angle += h * half;
        rate = half + 0.5 * h * pull(angle);
    }
    let (x, y) = (column(&outcome, "x"), column(&outcome, "y"));
    let end = (x[x.len() - 1], y[y.len() - 1]);
    assert!((end.0 - angle.cos()).abs() < 1e-4, "{end:?} for {angle}");
    assert!((end.1 - angle.sin()).abs() < 1e-4, "{end:?} for {angle}");
}

#[test]
fn directions_in_which_nothing_moves_do_not_set_the_step() {
    let door = "units strict
use mechanics3d: World, Body, Point, Spherical
model Door {
    world: World()
    world.fixed => L: Point(c = [0, 0, 0.3] [m])
    world.fixed => H: Point(c = [0, 0, 1.7] [m])
    door: Body(m = 20 [kg], J = diag([6, 7, 1.5] [kg*m^2]))
    door.cg => dl: Point(c = [-0.4, 0, -0.7] [m])
    door.cg => dh: Point(c = [-0.4, 0, 0.7] [m])
    L.out => low: Spherical => dl.out
    H.out => high: Spherical => dh.out
    start door.w.f[3] = 2 [rad/s]
    guess door.r = [0.4, 0, 1] [m]
}
experiment e of Door { stop = 1 [s]; rtol = 1e-9; output_step = 0.1 [s]; record door.w.f[3] as w, door.A[2,1] as s }
";
    let outcome = run_text(door);
    assert!(steps(&outcome) < 40, "{} steps", steps(&outcome));
    let turned = *column(&outcome, "s").last().expect("rows");
    assert!((turned - 2.0_f64.sin()).abs() < 1e-8, "{turned}");
}

#[test]
fn mechanism_with_large_blocks_begins_explicit() {
    let chain = "units strict
use mechanics3d: World, Rod, Spherical
model Chain {
    world: World(gravity = [0, -9.81, 0] [m/s^2])
    for i in 1 .. 3 { link[i]: Rod(m = 1 [kg], l = 1 [m]); hinge[i]: Spherical(); hinge[i] => link[i].a; guess link[i].r = [(i-0.5)*1 [m], 0 [m], 0 [m]]; start link[i].w.f = [0, 0.3, 0] [rad/s] }
    world => hinge[1]
    for i in 2 .. 3 { link[i-1].b => hinge[i] }
}
experiment e of Chain { stop = 1 [s]; output_step = 1 [s]; record system.energy as E }
";
    let outcome = run_text(chain);
    let choices = &outcome.run.statistics.choices;
    assert!(
        choices
            .iter()
            .all(|c| c.method == paynter::solve::Method::Dop853),
        "{choices:?}"
    );
    assert!(steps(&outcome) < 400, "{} steps", steps(&outcome));
}

/// A crank, a coupler between two balls, and a rocker.
const RSSR: &str = "units strict
use mechanics3d: World, Rod, Point, Revolute, Spherical, ex, ey, ez
model RSSR {
    world: World(gravity = [0, 0, -9.81] [m/s^2])
    world.fixed => A: Point(c = [0, 0, 0] [m])
    world.fixed => D: Point(c = [1, 0.3, 0] [m])
    crank: Rod(m = 1 [kg], l = 0.3 [m])
    coup: Rod(m = 1 [kg], l = 1 [m])
    rock: Rod(m = 1 [kg], l = 0.8 [m])
    A.out => R1: Revolute(axis = ez) => crank.a
    crank.b => S1: Spherical => coup.a
    coup.b => S2: Spherical => rock.b
    D.out => R2: Revolute(axis = ey) => rock.a
    motor: Se(1 [N*m]) -> R1.turn
    R2.turn -> R(0.2 [N*m*s/rad])
    start R1.angle = 0 [rad], R1.rate = 3 [rad/s]
    guess crank.r = [0.15, 0, 0] [m], coup.r = [0.7, 0.1, 0.3] [m], rock.r = [1, 0.3, 0.4] [m], rock.Q = [0.7071, 0, -0.7071, 0]
}
experiment e of RSSR { stop = 0.2 [s]; rtol = 1e-9; output_step = 0.05 [s]; record coup.w.f[1] as spin, R1.rate as rate }
";

#[test]
fn rates_that_nobody_gives_stay_zero_while_positions_are_found() {
    let outcome = run_text(RSSR);
    let spin = column(&outcome, "spin")[0];
    // What is left are roundings of a momentum, over an inertia of 5e-5 kg m².
    assert!(spin.abs() < 1e-6, "{spin}");
    assert!((column(&outcome, "rate")[0] - 3.0).abs() < 1e-9);
    let named = outcome
        .run
        .defaulted
        .iter()
        .any(|name| name == "coup.ir.p[1]");
    assert!(named, "{:?}", outcome.run.defaulted);
}

const HINGE: &str = "units strict
use mechanics3d: World, Body, Point, Revolute
model G {
    world: World(gravity = [0, 0, -9.81] [m/s^2])
    b: Body(m = 1 [kg], J = diag([0.1, 0.2, 0.15] [kg*m^2]))
    b.cg => p: Point(c = [0.3, 0, 0] [m])
    world => j: Revolute(axis = [0, 0, 1]) => p.out
    start j.angle = 0.1 [rad], j.rate = 0 [rad/s]
    GUESS
}
experiment e of G { stop = 0.01 [s]; output_step = 0.01 [s]; record b.Q, j.n[1,1] as n11, j.angle as angle }
";

#[test]
fn hinge_with_its_axis_reversed_is_turned_round() {
    // Exactly reversed, and nearly so, with and without a turn.
    for guess in [
        "[0, 1, 0, 0]",
        "[0.1, 1, 0, 0]",
        "[0, 0.6, 0.8, 0]",
        "[0.01, 0, 1, 0.3]",
    ] {
        let outcome = run_text(&HINGE.replace("GUESS", &format!("guess b.Q = {guess}")));
        assert!((column(&outcome, "n11")[0] - 1.0).abs() < 1e-12, "{guess}");
        assert!((column(&outcome, "angle")[0] - 0.1).abs() < 1e-9, "{guess}");
    }
}

#[test]
fn guess_of_the_surrounding_model_wins_over_that_of_the_part() {
    let text = "units strict
use mechanics3d: World, Body
model Free { world: World(); b: Body(m = 1 [kg], J = diag([1, 1, 1] [kg*m^2])); guess b.Q = [0, 1, 0, 0] }
experiment e of Free { stop = 0.01 [s]; output_step = 0.01 [s]; record b.Q }
";
    let outcome = run_text(text);
    let start: Vec<f64> = (1..=4)
        .map(|i| column(&outcome, &format!("b.Q[{i}]"))[0])
        .collect();
    assert_eq!(start, [0.0, 1.0, 0.0, 0.0]);
}

#[test]
fn mechanism_is_counted() {
    let outcome = run_text(RSSR);
    let mobility = outcome.mobility.expect("it is a mechanism");
    assert_eq!(
        mobility.summary(),
        "3 bodies, 4 joints, 16 locks, 2 freedoms"
    );
    let joints = mobility.joint_freedoms();
    assert_eq!(joints, ["R1 1", "S1 3", "S2 3", "R2 1"]);
}

#[test]
fn no_modulus_of_a_long_chain_is_turned_round_by_strokes() {
    // One after the other, junctions that save a modulus took four assignments a link, and the search ends after 200.
    let design = kit::design(&hinged_chain(60));
    let strokes = paynter::model::causality::assign_causality(&design.graph);
    assert!(strokes.is_complete());
    assert_eq!(strokes.reversed_moduli, []);
    // As many independent variables as freedoms.
    assert_eq!(strokes.independent.len() + strokes.free.len(), 60);
}
