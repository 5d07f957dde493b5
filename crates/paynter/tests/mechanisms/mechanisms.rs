//! Mechanisms held by locks: assembled, held once, said so where they are held more often.

use crate::kit::{self, assert_close, column, design, distance, last, messages, run_text, size};
use paynter::model::causality::causality_diagnostics;
use paynter_syntax::Diagnostic;

fn of_code<'a>(found: &'a [Diagnostic], code: &str) -> Vec<&'a Diagnostic> {
    found.iter().filter(|d| d.code == code).collect()
}

/// A bob on a rod in x, y and z; `more` holds it further.
fn bob(more: &str, record: &str) -> String {
    format!(
        "model Bob {{
            param L = 1 [m]
            vx: 1 -> mx: I(1 [kg])
            vy: 1 -> my: I(1 [kg])
            vz: 1 -> mz: I(1 [kg])
            weight: Se(-9.81 [N]) -> vy
            der(x) = vx.f
            der(y) = vy.f
            der(z) = vz.f
            vx -> TF(x/L) -> rod: 0
            vy -> TF(y/L) -> rod
            vz -> TF(z/L) -> rod
            lock: Sf(0 [m/s], position = (x^2 + y^2 + z^2 - L^2)/(2*L)) -> rod
            plane: Sf(0 [m/s], position = z) -> vz
            start x = 1 [m], y = 0 [m]
            {more}
        }}
        experiment e of Bob {{ stop = 3 [s]; output_step = 0.05 [s]; rtol = 1e-9; record x, y, lock.e as tension{record} }}"
    )
}

const SECOND_ROD: &str = "vx -> TF(2*x/L) -> second: 0
    vy -> TF(2*y/L) -> second
    vz -> TF(2*z/L) -> second
    lock2: Sf(0 [m/s], position = (x^2 + y^2 + z^2 - L^2)/L) -> second";

#[test]
fn second_rod_beside_the_first_is_named_and_changes_nothing() {
    let single = run_text(&bob("", ""));
    assert!(of_code(&single.warnings, "W0736").is_empty());
    let double = run_text(&bob(SECOND_ROD, ", lock2.e as second"));
    let told = of_code(&double.warnings, "W0736");
    assert_eq!(told.len(), 1, "{:?}", double.warnings);
    assert!(told[0].message.contains("`lock`"), "{}", told[0].message);
    assert!(told[0].message.contains("`lock2`"), "{}", told[0].message);
    for name in ["x", "y", "tension"] {
        let d = distance(column(&single, name), column(&double, name));
        // Two runs at rtol 1e-9 with different rounding.
        assert!(d < 1e-6, "{name}: {d:e}");
    }
    assert_eq!(size(column(&double, "second")), 0.0);
}

#[test]
fn order_of_the_text_does_not_decide_which_lock_is_redundant() {
    let forwards = bob("vz -> c: 0\n ceiling: Sf(0 [m/s], position = z) -> c", "");
    let backwards = forwards
        .replace("plane: Sf(0 [m/s], position = z) -> vz", "")
        .replace(
            "vz -> c: 0",
            "plane: Sf(0 [m/s], position = z) -> vz\n vz -> c: 0",
        );
    for text in [forwards, backwards] {
        let outcome = run_text(&text);
        let told = of_code(&outcome.warnings, "W0736");
        let expected = "`ceiling` already holds what `plane` holds";
        assert_eq!(told.len(), 1, "{:?}", outcome.warnings);
        assert_eq!(told[0].message, expected);
    }
}

/// A planar four-bar made of points in space: both ends of the coupler are held in the plane, and so is its middle.
const FOUR_BAR: &str = "model FourBar {
    for i in 1 .. 2 {
        vx[i]: 1 -> mx[i]: I(1 [kg])
        vy[i]: 1 -> my[i]: I(1 [kg])
        vz[i]: 1 -> mz[i]: I(1 [kg])
        weight[i]: Se(-9.81 [N]) -> vy[i]
        der(x[i]) = vx[i].f
        der(y[i]) = vy[i].f
        der(z[i]) = vz[i].f
        plane[i]: Sf(0 [m/s], position = z[i]) -> vz[i]
    }
    param A = 1 [m], B = 4 [m], C = 3 [m], D = 4 [m]
    vx[1] -> TF(x[1]/A) -> crank: 0
    vy[1] -> TF(y[1]/A) -> crank
    crank_lock: Sf(0 [m/s], position = (x[1]^2 + y[1]^2 - A^2)/(2*A)) -> crank
    vx[2] -> TF((x[2] - D)/C) -> rocker: 0
    vy[2] -> TF(y[2]/C) -> rocker
    rocker_lock: Sf(0 [m/s], position = ((x[2] - D)^2 + y[2]^2 - C^2)/(2*C)) -> rocker
    vx[1] -> TF((x[1] - x[2])/B) -> coupler: 0
    vy[1] -> TF((y[1] - y[2])/B) -> coupler
    vx[2] -> TF((x[2] - x[1])/B) -> coupler
    vy[2] -> TF((y[2] - y[1])/B) -> coupler
    coupler_lock: Sf(0 [m/s], position = ((x[2] - x[1])^2 + (y[2] - y[1])^2 - B^2)/(2*B)) -> coupler
    start x[1] = 0 [m], y[1] = 1 [m]
    guess x[2] = 4 [m], y[2] = 2 [m]
}";

const RUN_FOUR_BAR: &str = "experiment e of FourBar { stop = 2 [s]; rtol = 1e-9; atol = 1e-9
    record x[1] as xa, y[1] as ya, x[2] as xb, y[2] as yb
    record sqrt((x[2] - x[1])^2 + (y[2] - y[1])^2) - B as gap, system.energy - system.supplied as drift }";

#[test]
fn four_bar_is_assembled_from_a_guess_and_stays_together() {
    let outcome = run_text(&format!("{FOUR_BAR}\n{RUN_FOUR_BAR}"));
    assert!(of_code(&outcome.warnings, "W0736").is_empty());
    // The circles about (0, 1) and (4, 0) with radii 4 and 3 meet there.
    let (xb, yb) = (column(&outcome, "xb")[0], column(&outcome, "yb")[0]);
    assert_close(xb.powi(2) + (yb - 1.0).powi(2), 16.0, 1e-8);
    assert_close((xb - 4.0).powi(2) + yb.powi(2), 9.0, 1e-8);
    assert!(size(column(&outcome, "gap")) < 1e-8);
    assert!(size(column(&outcome, "drift")) < 1e-6);
}

#[test]
fn plane_held_at_both_ends_and_in_the_middle_is_held_once_too_often() {
    let middle = "vz[1] -> TF(0.5) -> mid: 0
        vz[2] -> TF(0.5) -> mid
        zz: Sf(0 [m/s], position = (z[1] + z[2])/2) -> mid
    }";
    let cut = FOUR_BAR.trim_end().trim_end_matches('}');
    let outcome = run_text(&format!("{cut}{middle}\n{RUN_FOUR_BAR}"));
    let told = of_code(&outcome.warnings, "W0736");
    assert_eq!(told.len(), 1, "{:?}", outcome.warnings);
    let expected = "`plane[1]` and `plane[2]` together hold what `zz` holds";
    assert_eq!(told[0].message, expected);
    let plain = run_text(&format!("{FOUR_BAR}\n{RUN_FOUR_BAR}"));
    for name in ["xa", "ya", "xb", "yb"] {
        let d = distance(column(&plain, name), column(&outcome, name));
        assert!(d < 1e-6, "{name}: {d:e}");
    }
}

#[test]
fn coupler_that_is_too_short_cannot_be_assembled_and_the_gap_is_told() {
    // The crank ends 1 m from (0, 0) at most and the rocker 1 m from (4, 0): 2 m stay between them at
    // least, and the coupler has 1.7 m.
    let short = FOUR_BAR.replace("B = 4 [m], C = 3 [m]", "B = 1.7 [m], C = 1 [m]");
    let short = short.replace(
        "start x[1] = 0 [m], y[1] = 1 [m]",
        "guess x[1] = 0.9 [m], y[1] = 0.1 [m]",
    );
    let (found, shown) = messages(&format!("{short}\n{RUN_FOUR_BAR}"));
    let told = of_code(&found, "E0713");
    assert_eq!(told.len(), 1, "{shown}");
    for word in [
        "`coupler_lock`",
        "`crank_lock`",
        "`rocker_lock`",
        "stays open by",
    ] {
        assert!(shown.contains(word), "{word} in {shown}");
    }
}

#[test]
fn joint_that_keeps_a_loop_open_is_singled_out_with_its_direction() {
    // Two rods of 1 m between places 3 m apart; a door whose second hinge is 1 mm out of line.
    let rods = "units strict
use mechanics3d: World, Rod, Point, Revolute, ez
model M {
    world: World()
    world.fixed => far: Point(c = [3, 0, 0] [m])
    a: Rod(m = 1 [kg], l = 1 [m])
    b: Rod(m = 1 [kg], l = 1 [m])
    world => j1: Revolute(axis = ez) => a.a
    a.b => j2: Revolute(axis = ez) => b.a
    b.b => j3: Revolute(axis = ez) => far.out
}
experiment e of M { stop = 1 [s] }";
    let (found, shown) = messages(rods);
    let told = of_code(&found, "E0713");
    assert_eq!(told.len(), 1, "{shown}");
    let expected = "the mechanism cannot be assembled: with all other joints closed, `j3` stays open by 1000 mm";
    assert!(told[0].message.starts_with(expected), "{shown}");

    let door = "units strict
use mechanics3d: World, Body, Point, Revolute, ez
model Door {
    world: World()
    world.fixed => low: Point(c = [0, 0, 0.3] [m])
    world.fixed => high: Point(c = [0, 0.001, 1.7] [m])
    door: Body(m = 20 [kg], J = diag([6, 7, 1.5] [kg*m^2]))
    door.cg => dl: Point(c = [-0.4, 0, -0.7] [m])
    door.cg => dh: Point(c = [-0.4, 0, 0.7] [m])
    low.out => h1: Revolute(axis = ez) => dl.out
    high.out => h2: Revolute(axis = ez) => dh.out
    guess door.r = [0.4, 0, 1] [m]
}
experiment e of Door { stop = 1 [s] }";
    let (found, shown) = messages(door);
    assert_eq!(of_code(&found, "E0713").len(), 1, "{shown}");
    assert!(shown.contains("`h2` stays open by 1 mm"), "{shown}");
}

#[test]
fn crank_and_rocker_in_line_are_a_dead_centre_not_a_redundant_lock() {
    // A parallelogram laid flat: it can open to either side.
    let flat = FOUR_BAR.replace("C = 3 [m]", "C = 1 [m]");
    let flat = flat.replace("x[1] = 0 [m], y[1] = 1 [m]", "x[1] = 1 [m], y[1] = 0 [m]");
    let flat = flat.replace("x[2] = 4 [m], y[2] = 2 [m]", "x[2] = 5 [m], y[2] = 0 [m]");
    let design = design(&format!("{flat}\n{RUN_FOUR_BAR}"));
    let compiled = design.compile();
    let told = compiled
        .expect("its equations are regular elsewhere")
        .warnings;
    assert_eq!(of_code(&told, "W0737").len(), 1, "{told:?}");
    assert!(of_code(&told, "W0736").is_empty(), "{told:?}");
}

#[test]
fn position_that_is_not_the_integral_of_the_flow_is_refused() {
    let wrong = bob("", "").replace("x^2 + y^2 + z^2 - L^2", "x^2 + 3*y^2 + z^2 - L^2");
    let (found, shown) = messages(&wrong);
    assert_eq!(of_code(&found, "E0714").len(), 1, "{shown}");
    assert!(shown.contains("`lock`"), "{shown}");
}

#[test]
fn position_in_another_scale_than_the_flow_is_told_and_runs() {
    let twice = bob("", "").replace("/(2*L)) -> rod", "/L) -> rod");
    let outcome = run_text(&twice);
    let told = of_code(&outcome.warnings, "W0738");
    assert_eq!(told.len(), 1, "{:?}", outcome.warnings);
    assert!(
        told[0].message.contains("at 2 times"),
        "{}",
        told[0].message
    );
    let right = run_text(&bob("", ""));
    assert_close(last(&outcome, "x"), last(&right, "x"), 1e-6);
}

const CIRCLE: &str = "model Circle {
    param n = 0.1, k = 1/(3*n)
    motor: Se(1) -> a: 1 -> ja: I(1)
    a -> g1: TF(n) -> b: 1
    b -> g2: TF(3) -> c: 1 -> jc: I(2)
    c -> g3: TF(k) -> a
}
experiment e of Circle { stop = 1; rtol = 1e-10; record a.f as w, c.f as u }";

#[test]
fn gears_in_a_circle_that_agree_turn_and_the_open_torque_is_told() {
    // 0.1 · 3 · 1/0.3 is 1 but for rounding.
    let outcome = run_text(CIRCLE);
    assert_eq!(
        of_code(&outcome.warnings, "W0610").len(),
        1,
        "{:?}",
        outcome.warnings
    );
    // (1 + (0.3)²·2) w' = 1.
    assert_close(last(&outcome, "w"), 1.0 / 1.18, 1e-9);
    assert_close(last(&outcome, "u"), 0.3 / 1.18, 1e-9);
}

#[test]
fn gears_in_a_circle_that_disagree_are_refused_with_their_product() {
    let (found, shown) = messages(&CIRCLE.replace("k = 1/(3*n)", "k = 3"));
    assert_eq!(of_code(&found, "E0609").len(), 1, "{shown}");
    for word in ["`g1`", "`g2`", "`g3`", "0.9"] {
        assert!(shown.contains(word), "{word} in {shown}");
    }
}

#[test]
fn two_levers_that_agree_at_one_angle_only_are_refused() {
    let (found, shown) = messages(
        "model M { s: Se(1) -> a: 1 -> j: I(1); a -> g1: TF(2) -> b: 1 -> k: I(1); a -> g2: TF(2*cos(th)) -> b
                   der(th) = a.f }
         experiment e of M { stop = 1; record a.f }",
    );
    assert_eq!(of_code(&found, "E0609").len(), 1, "{shown}");
}

#[test]
fn two_levers_that_agree_at_every_angle_run() {
    let outcome = run_text(
        "model M { s: Se(1) -> a: 1 -> j: I(1); a -> g1: TF(2 + cos(th)) -> b: 1 -> k: I(1); a -> g2: TF(cos(th) + 2) -> b
                   der(th) = a.f }
         experiment e of M { stop = 1; rtol = 1e-9; record a.f as w, system.energy - system.supplied as drift }",
    );
    assert_eq!(of_code(&outcome.warnings, "W0610").len(), 1);
    assert!(last(&outcome, "w") > 0.05);
    assert!(size(column(&outcome, "drift")) < 1e-7);
}

/// Boudon et al. 2019: with hinges at all pins the slider-crank has 20 locks on 18 rates, three too many.
#[test]
fn slider_crank_with_three_hinges_moves_as_with_one_and_names_three_redundant_locks() {
    let hinges = kit::gallery_text("slider_crank/slider_crank.bond")
        .replace("Joint = Spherical()", "Joint = Revolute(axis = ez)")
        .replace(
            "Joint = Cylindrical(axis = ez)",
            "Joint = Revolute(axis = ez)",
        )
        .lines()
        .filter(|line| !line.trim_start().starts_with("compare"))
        .collect::<Vec<_>>()
        .join("\n");
    // Left out, the redundant locks do not make strokes contradict each other, and what is kept by
    // multipliers is not divided by.
    let shown = design(&hinges).strokes();
    let messages = causality_diagnostics(&shown.graph, &shown.causality, &shown.solved);
    assert!(!messages.iter().any(|m| m.is_error()), "{messages:?}");
    assert!(of_code(&messages, "W0606").is_empty(), "{messages:?}");
    let outcome = run_text(&hinges);
    let told = of_code(&outcome.warnings, "W0736");
    assert_eq!(told.len(), 3, "{:?}", outcome.warnings);
    for d in told {
        assert!(d.message.contains("`wrist."), "{}", d.message);
        let facts = format!("{d:?}");
        assert!(facts.contains("17 of 20 locks are independent"), "{facts}");
    }
    // The reference of the isostatic one (planar Lagrange equations).
    assert_close(last(&outcome, "theta"), 1.028992206237354, 1e-7);
    assert_close(last(&outcome, "x_piston"), 0.5728567915441184, 1e-8);
    assert_close(last(&outcome, "v_piston"), 0.1224541988389339, 1e-7);
}

#[test]
fn ways_to_keep_locks_give_the_same_motion() {
    // One text; only the setting differs. With multipliers all momenta are states, and the reactions unknowns.
    let run = |constraints: &str| {
        let outcome = run_text(&format!(
            "use mechanics2d: Ground, Bar, Pin
            model M {{
                ground: Ground()
                bar: Bar(m = 1 [kg], l = 1 [m])
                ground.fixed => hinge: Pin => bar.a
                weight: Se[2]([0, -9.81] [N]) => bar.v
                start hinge.angle = 0 [rad], hinge.rate = 0 [rad/s]
            }}
            experiment e of M {{
                stop = 5 [s]; output_step = 0.1 [s]; rtol = 1e-10; constraints = {constraints}
                record hinge.angle as angle, hinge.force[2] as up, bar.pa.out.r[1] as gap
            }}"
        ));
        assert!(outcome.warnings.is_empty(), "{:?}", outcome.warnings);
        outcome
    };
    let minimal = run("minimal");
    for constraints in ["multiplier", "implicit"] {
        let other = run(constraints);
        for name in ["angle", "up"] {
            let far = kit::distance(column(&minimal, name), column(&other, name));
            assert!(far < 1e-7, "{constraints}: {name} differs by {far:e}");
        }
        let gap = column(&other, "gap")
            .iter()
            .fold(0.0, |m: f64, x| m.max(x.abs()));
        // Steps end on the circle to a hundredth of the tolerance; between them it is as right as asked for.
        assert!(gap < 1e-10, "{constraints}: {gap:e} m open");
    }
    // An angle and a momentum; three of each and a hinge that is not counted twice.
    assert_eq!(minimal.run.states.len(), 2);
    assert_eq!(run("multiplier").run.states.len(), 6);
}

/// A bob on a link of this length, which hangs at rest; `more` goes into the experiment.
fn bob_on_link(length: &str, more: &str) -> String {
    format!(
        "use mechanics2d: Ground, Plate, Weight, Link
        model M {{
            ground: Ground()
            bob: Plate(m = 2 [kg], J = 0.01 [kg*m^2])
            ground.fixed => link: Link(l = {length}) => bob.cg
            pull: Weight(m = 2 [kg]) => bob.cg
            start bob.angle = 0 [rad], bob.w.f = 0 [rad/s]
            guess bob.r = [0, -1] [m]
        }}
        experiment x of M {{ stop = 1 [ms]; {more} record bob.r }}"
    )
}

#[test]
fn link_of_no_length_is_refused_at_its_line_however_it_is_kept() {
    for way in ["auto", "minimal", "implicit", "multiplier", "parasitic"] {
        let text = bob_on_link("0 [m]", &format!("constraints = {way};"));
        let (found, told) = messages(&text);
        assert_eq!(found[0].code, "E0766", "{way}: {told}");
        assert!(told.contains("link: Link(l = 0 [m])"), "{way}: {told}");
    }
    // However short, a link has a direction.
    let (found, told) = messages(&bob_on_link("1 [um]", ""));
    assert!(found.is_empty(), "{told}");
}

#[test]
fn link_of_no_length_between_bars_is_refused_too() {
    let text = "use mechanics2d: Ground, Bar, Weight, Link, Pin
        model M {
            g: Ground()
            a: Bar(m = 1 [kg], l = 1 [m])
            b: Bar(m = 1 [kg], l = 1 [m])
            g.fixed => p: Pin => a.a
            a.b => q: Link(l = 0 [m]) => b.a
            wb: Weight(m = 1 [kg]) => b.cg
            start p.angle = 0 [rad]
            guess a.r = [0.5, 0] [m], b.r = [1.5, 0] [m]
        }
        experiment x of M { stop = 1 [s]; record p.angle }";
    let (found, told) = messages(text);
    assert_eq!(found[0].code, "E0766", "{told}");
    assert!(told.contains("q: Link(l = 0 [m])"), "{told}");
}
