//! Mechanisms that are held more often than needed move alike whichever of their redundant locks are left out.
//!
//! In:  three cranks on one plate, which have a closed form; Bennett's linkage, whose digits come from a program of our own
//!      in Python (absolute coordinates, reactions by least squares); a driven door on two hinges.
//! Out: the motion, with no step across a position at which only the choice of locks is singular; the same for all names,
//!      which decide what is left out at first, in minimal coordinates and with reactions.
//!
//! LIMIT: `constraints = implicit` is refused where no choice of dependent storages is good everywhere, as in Bennett's linkage
//! (E0765).

use crate::kit::{column, design, run_text};
use paynter::experiment::Outcome;
use paynter::simulate::Ending;

fn last(outcome: &Outcome, name: &str) -> f64 {
    let values = column(outcome, name);
    values[values.len() - 1]
}

/// A plate on three equal cranks whose pivots are not in line. Any two cranks hold it, but for where they are in line with it;
/// the third one says once more what they say, and the three together are regular everywhere. Pins are named by `names`.
fn three_cranks(names: [&str; 6], more: &str) -> String {
    let pivots = ["0, 0", "1, 0", "0.4, 0.7"];
    let corners = ["-0.5, -0.2", "0.5, -0.2", "-0.1, 0.5"];
    let mut parts = String::new();
    for k in 0..3 {
        let (foot, head) = (names[2 * k], names[2 * k + 1]);
        let (pivot, corner) = (pivots[k], corners[k]);
        parts += &format!(
            "    ground{k}: Ground(r = [{pivot}] [m])
    crank{k}: Bar(m = 1 [kg], l = 0.5 [m])
    ground{k}.fixed => {foot}: Pin => crank{k}.a
    plate.cg => corner{k}: Spot(c = [{corner}] [m])
    crank{k}.b => {head}: Pin => corner{k}.out
    Se[2]([0, -9.81] [N]) => crank{k}.v
    guess crank{k}.r = [{pivot}] [m] + 0.25 [m]*[cos(40 [deg]), sin(40 [deg])], crank{k}.angle = 40 [deg], crank{k}.w.f = 6 [rad/s]
"
        );
    }
    format!(
        "units strict
use mechanics2d: Ground, Plate, Bar, Spot, Pin
model ThreeCranks {{
    plate: Plate(m = 2 [kg], J = 0.3 [kg*m^2])
    Se[2]([0, -19.62] [N]) => plate.v
    guess plate.r = [0.5 + 0.5*cos(40 [deg]), 0.2 + 0.5*sin(40 [deg])] [m], plate.angle = 0 [deg]
{parts}
    Se(1 [N*m]) -> crank0.w
    start crank0.angle = 40 [deg], crank0.w.f = 6 [rad/s]
}}
experiment e of ThreeCranks {{ stop = 5 [s]; output_step = 0.5 [s]; rtol = 1e-9{more}; record crank0.angle as angle, plate.angle as tilt }}
"
    )
}

/// (3 m l²/3 + M l²) θ″ = T − (3 m l/2 + M l) g cos θ, by the method of Störmer in its fourth-order composition (Yoshida 1990).
fn angle_of_cranks(t_end: f64) -> f64 {
    let pull = |angle: f64| (1.0 - (0.75 + 1.0) * 9.81 * angle.cos()) / 0.75;
    let (mut angle, mut rate) = (40_f64.to_radians(), 6.0);
    let cube = 2_f64.cbrt();
    let shares = [1.0, -cube, 1.0].map(|x| x / (2.0 - cube));
    let n = 50_000;
    for _ in 0..n {
        for share in shares {
            let h = share * t_end / f64::from(n);
            rate += 0.5 * h * pull(angle);
            angle += h * rate;
            rate += 0.5 * h * pull(angle);
        }
    }
    angle
}

const NAMES: [[&str; 6]; 3] = [
    ["f0", "h0", "f1", "h1", "f2", "h2"],
    ["z0", "a0", "c", "b", "d", "y"],
    ["b", "z", "y", "a", "x", "c"],
];

/// The plate stays level, and its cranks are where one crank with all of the inertia is.
fn check_plate(outcome: &Outcome, way: &str) {
    let (angle, expected) = (last(outcome, "angle"), angle_of_cranks(5.0));
    assert!(
        (angle - expected).abs() < 2e-7,
        "{way}: {angle} for {expected}"
    );
    assert!(last(outcome, "tilt").abs() < 1e-8, "{way}");
}

#[test]
fn plate_on_three_cranks_moves_alike_whichever_pin_is_left_out() {
    for names in NAMES {
        let outcome = run_text(&three_cranks(names, ""));
        check_plate(&outcome, &format!("{names:?}"));
        // The crank turns more than once: every lock that can be left out becomes needed somewhere.
        assert!(!outcome.run.rechosen.is_empty(), "{names:?}");
        let passages = &outcome.run.statistics.passages;
        assert!(passages.is_empty(), "{names:?}: {passages:?}");
        let audit = outcome.run.audit.as_ref().expect("there is power");
        assert!(audit.is_good(), "{names:?}: {audit:?}");
        let told = outcome.warnings.iter().filter(|w| w.code == "W0747");
        assert_eq!(told.count(), 1, "{names:?}");
    }
}

#[test]
fn plate_on_three_cranks_moves_alike_in_minimal_coordinates_and_with_reactions() {
    for way in ["minimal", "multiplier"] {
        let outcome = run_text(&three_cranks(NAMES[0], &format!("; constraints = {way}")));
        check_plate(&outcome, way);
    }
}

#[test]
fn plate_on_three_cranks_moves_alike_with_dependent_inertias() {
    // The dependent inertias go with the locks that are kept: both change over together.
    for names in NAMES {
        let outcome = run_text(&three_cranks(names, "; constraints = implicit"));
        assert!(
            matches!(outcome.run.ending, Ending::Reached),
            "{names:?}: {:?}",
            outcome.run.ending
        );
        check_plate(&outcome, &format!("{names:?}"));
        assert!(!outcome.run.rechosen.is_empty(), "{names:?}");
        let audit = outcome.run.audit.as_ref().expect("there is power");
        assert!(audit.is_good(), "{names:?}: {audit:?}");
    }
}

#[test]
fn linkage_in_space_whose_inertias_do_not_depend_on_each_other_is_refused() {
    let text = include_str!("../models/bennett.bond");
    let text = text.replace("stop = 5 [s]", "stop = 5 [s]; constraints = implicit");
    let found = design(&text)
        .compile()
        .expect_err("no choice is good everywhere");
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!(found[0].code, "E0765");
}

#[test]
fn fixed_steps_change_the_choice_as_well() {
    let expected = angle_of_cranks(5.0);
    let text = three_cranks(NAMES[0], "; method = rk4(step = 1 [ms])");
    let outcome = run_text(&text);
    let angle = last(&outcome, "angle");
    assert!((angle - expected).abs() < 1e-7, "{angle} for {expected}");
    assert!(!outcome.run.rechosen.is_empty());
}

#[test]
fn bennetts_linkage_changes_the_locks_that_it_keeps() {
    let text = include_str!("../models/bennett.bond");
    let text = text.replace("stop = 5 [s]", "stop = 5 [s]; rtol = 1e-9");
    let expected = [
        ("link[2].r[1]", 1.699779662360324),
        ("link[2].r[2]", -0.6849163241446818),
        ("link[2].r[3]", -0.29155425941992147),
        ("w[1]", 1.12011313611446),
        ("w[2]", -4.532613912294695),
        ("w[3]", 6.03857512775154),
    ];
    let renamed = text
        .replace("j1", "jz")
        .replace("j2", "jy")
        .replace("j3", "jx");
    for text in [text, renamed] {
        let outcome = run_text(&text);
        for (name, value) in expected {
            let got = last(&outcome, name);
            assert!((got - value).abs() < 2e-7, "{name}: {got} for {value}");
        }
        let passages = &outcome.run.statistics.passages;
        assert!(passages.is_empty(), "{passages:?}");
    }
}

#[test]
fn driven_door_on_two_hinges_speeds_up_as_on_one() {
    let text = "units strict
use mechanics3d: World, Body, Point, Revolute, ez
model Door {
    world: World()
    world.fixed => low: Point(c = [0, 0, 0.3] [m])
    world.fixed => high: Point(c = [0, 0, 1.7] [m])
    door: Body(m = 20 [kg], J = diag([6, 7, 1.5] [kg*m^2]))
    door.cg => dl: Point(c = [-0.4, 0, -0.7] [m])
    door.cg => dh: Point(c = [-0.4, 0, 0.7] [m])
    low.out => h1: Revolute(axis = ez) => dl.out
    high.out => h2: Revolute(axis = ez) => dh.out
    drive: Se(2 [N*m]) -> h1.turn
    start h1.angle = 0 [rad], h1.rate = 0 [rad/s]
    guess door.r = [0.4, 0, 1] [m]
}
experiment e of Door { stop = 10 [s]; output_step = 1 [s]; record h1.angle as angle, h2.rate as rate, h1.force + h2.force as load }
";
    let outcome = run_text(text);
    // J + m c² = 1.5 + 20 · 0.16.
    let acceleration = 2.0 / 4.7;
    let (angle, rate) = (last(&outcome, "angle"), last(&outcome, "rate"));
    assert!((angle - 50.0 * acceleration).abs() < 1e-4, "{angle}");
    assert!((rate - 10.0 * acceleration).abs() < 1e-5, "{rate}");
    let up = last(&outcome, "load[3]");
    assert!((up - 20.0 * 9.81).abs() < 1e-6, "{up}");
    assert!(
        outcome.run.rechosen.is_empty(),
        "a door is alike at every angle"
    );
}
