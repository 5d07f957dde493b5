//! Systems of higher index, dependent storages, algebraic loops, and ratios that pass through zero.

use crate::kit::{self, assert_close, column, gallery_models, last, messages, run_text, size};

#[test]
fn parallel_capacitors_charge_as_one() {
    let outcome = run_text(
        "model M { s: Se(1) -> j: 1 -> n: 0 -> c1: C(1), c2: C(3); j -> r: R(1) }
         experiment x of M { stop = 2; rtol = 1e-10; record n.e as v, c1.q, c2.q }",
    );
    let v = 1.0 - (-2.0_f64 / 4.0).exp();
    assert_close(last(&outcome, "v"), v, 1e-9);
    assert_close(last(&outcome, "c2.q"), 3.0 * last(&outcome, "c1.q"), 1e-14);
}

#[test]
fn capacitor_across_a_source_draws_the_derivative_of_its_voltage() {
    let outcome = run_text(
        "model M { s: Se(5 [V]*sin(3 [1/s]*time)) -> n: 0 -> c: C(2 [F]) }
         experiment x of M { stop = 2 [s]; rtol = 1e-10; record s.f as i, c.q }",
    );
    assert_close(last(&outcome, "i"), 30.0 * 6.0_f64.cos(), 1e-10);
    assert_close(last(&outcome, "c.q"), 10.0 * 6.0_f64.sin(), 1e-10);
}

#[test]
fn two_inertias_on_a_shaft_share_the_torque_by_size() {
    let outcome = run_text(
        "model M { s: Se(1) -> w: 1 -> a: I(1), b: I(3) }
         experiment x of M { stop = 2; record w.f as w, a.e, b.e }",
    );
    assert_close(last(&outcome, "w"), 0.5, 1e-12);
    assert_close(last(&outcome, "a.e"), 0.25, 1e-14);
    assert_close(last(&outcome, "b.e"), 0.75, 1e-14);
}

#[test]
fn inertias_behind_a_gear_depend_through_its_ratio() {
    let outcome = run_text(
        "model M { s: Se(1) -> w: 1 -> a: I(1); w -> TF(3) -> u: 1 -> b: I(2) }
         experiment x of M { stop = 1; record w.f as w, b.p }",
    );
    // 1 + 3²·2 = 19.
    assert_close(last(&outcome, "w"), 1.0 / 19.0, 1e-12);
    assert_close(last(&outcome, "b.p"), 6.0 / 19.0, 1e-12);
}

#[test]
fn inductor_in_series_with_a_flow_source_is_of_index_two() {
    let outcome = run_text(
        "model M { s: Sf(2 [A]*sin(3 [1/s]*time)) -> j: 1 -> l: I(5 [H]), r: R(1 [ohm]) }
         experiment x of M { stop = 2 [s]; rtol = 1e-10; record s.e as v }",
    );
    let exact = 30.0 * 6.0_f64.cos() + 2.0 * 6.0_f64.sin();
    assert_close(last(&outcome, "v"), exact, 1e-9);
}

/// Index 3: a mass held on a circle by a lock, in x and y.
const CARTESIAN: &str = "model P {
    vx: 1 -> mx: I(1)
    vy: 1 -> my: I(1)
    weight: Se(-9.81) -> vy
    der(x) = vx.f
    der(y) = vy.f
    vx -> TF(x) -> rod: 0
    vy -> TF(y) -> rod
    lock: Sf(0, position = (x^2 + y^2 - 1)/2) -> rod
    start x = 1, y = 0, vy.f = -8
}
experiment e of P { stop = 20; rtol = 1e-9; atol = 1e-9; output_step = 0.01
    record x, y, sqrt(x^2 + y^2) - 1 as gap, system.energy - system.supplied as E }";

#[test]
fn cartesian_pendulum_keeps_its_length_through_twenty_turns() {
    let outcome = run_text(CARTESIAN);
    let (x, y) = (column(&outcome, "x"), column(&outcome, "y"));
    let mut turned = 0.0;
    for k in 1..x.len() {
        let (sin, cos) = (
            x[k - 1] * y[k] - y[k - 1] * x[k],
            x[k - 1] * x[k] + y[k - 1] * y[k],
        );
        turned += sin.atan2(cos);
    }
    assert!(
        turned.abs() > 20.0 * std::f64::consts::TAU,
        "only {} turns",
        turned / std::f64::consts::TAU
    );
    // The demand: below 10 atol all along.
    assert!(
        size(column(&outcome, "gap")) < 1e-8,
        "{:e}",
        size(column(&outcome, "gap"))
    );
    let e = column(&outcome, "E");
    // 100 rtol of the energy that is there.
    assert!(e.iter().all(|x| (x - e[0]).abs() < 1e-7 * e[0]));
}

/// Five point masses on rods, held together by locks only; the top one hangs from a fixed point.
const CHAIN: &str = "model Chain {
    param n = 5
    for i in 1 .. n {
        vx[i]: 1 -> mx[i]: I(1)
        vy[i]: 1 -> my[i]: I(1)
        weight[i]: Se(-9.81) -> vy[i]
        der(x[i]) = vx[i].f
        der(y[i]) = vy[i].f
        start x[i] = i
        guess y[i] = 0
    }
    vx[1] -> TF(x[1]) -> rod[1]: 0
    vy[1] -> TF(y[1]) -> rod[1]
    lock[1]: Sf(0, position = (x[1]^2 + y[1]^2 - 1)/2) -> rod[1]
    for i in 2 .. n {
        vx[i] -> TF(x[i] - x[i-1]) -> rod[i]: 0
        vy[i] -> TF(y[i] - y[i-1]) -> rod[i]
        vx[i-1] -> TF(x[i-1] - x[i]) -> rod[i]
        vy[i-1] -> TF(y[i-1] - y[i]) -> rod[i]
        lock[i]: Sf(0, position = ((x[i] - x[i-1])^2 + (y[i] - y[i-1])^2 - 1)/2) -> rod[i]
    }
}
experiment e of Chain { stop = 1000; output_step = 0.5; rtol = 1e-8; atol = 1e-8
    record system.energy - system.supplied as drift, system.energy as E
    record sqrt(x[1]^2 + y[1]^2) - 1 as gap1, sqrt((x[5] - x[4])^2 + (y[5] - y[4])^2) - 1 as gap5 }";

#[test]
fn chain_of_five_holds_together_for_a_thousand_seconds() {
    let outcome = run_text(CHAIN);
    // The demands: gaps below 10 atol, energy within 100 rtol.
    for gap in ["gap1", "gap5"] {
        let gap = size(column(&outcome, gap));
        assert!(gap < 1e-7, "{gap:e}");
    }
    let (drift, energy) = (size(column(&outcome, "drift")), size(column(&outcome, "E")));
    assert!(drift < 1e-6 * energy, "{drift:e} of {energy}");
}

#[test]
fn cartesian_pendulum_agrees_with_the_one_in_its_angle() {
    let cartesian = run_text(CARTESIAN);
    let polar = run_text(
        "model P { w: 1 -> i: I(1), weight: C { e = 9.81*sin(q) }; start weight.q = pi/2, w.f = -8 }
         experiment e of P { stop = 20; rtol = 1e-11; output_step = 0.01; record sin(weight.q) as x }",
    );
    // Phase errors of 1e-9 per unit of angle over 20 turns.
    let d = kit::distance(column(&cartesian, "x"), column(&polar, "x"));
    assert!(d < 1e-5, "{d:e}");
}

#[test]
fn pendulum_guessed_off_its_circle_is_assembled() {
    let text = CARTESIAN.replace("start x = 1, y = 0, vy.f = -8", "guess x = 1.1, y = 0");
    let outcome = run_text(&text);
    assert!(
        column(&outcome, "gap")[0].abs() < 1e-9,
        "{}",
        column(&outcome, "gap")[0]
    );
}

/// Runs the flight table from a state and gives its energy.
fn flight_table(start: &str) -> Vec<f64> {
    let text = gallery_models("flight_table/flight_table.bond").replace(
        "start alpha = 45 [deg], beta = 45 [deg]",
        &format!("start {start}"),
    ) + "experiment x of FlightTable {
            stop = 5 [s]; rtol = 1e-10; output_step = 0.01 [s]
            record system.energy as E, alpha, beta }";
    let outcome = run_text(&text);
    for name in ["E", "alpha", "beta"] {
        assert!(
            column(&outcome, name).iter().all(|x| x.is_finite()),
            "{name} from {start}"
        );
    }
    column(&outcome, "E").to_vec()
}

#[test]
fn flight_table_passes_through_its_singular_attitudes() {
    for start in [
        "alpha = 0 [deg], beta = 0 [deg], a.f = 1 [rad/s], outer.f = 2 [rad/s]",
        "alpha = 0 [deg], beta = 90 [deg], middle.y.f = 1 [rad/s], outer.f = 2 [rad/s]",
        "alpha = 10 [deg], beta = -90 [deg], a.f = 1 [rad/s], outer.f = 2 [rad/s]",
        "alpha = -30 [deg], beta = -100 [deg], a.f = 1 [rad/s], middle.y.f = 2 [rad/s]",
    ] {
        let energy = flight_table(start);
        assert!(
            energy
                .iter()
                .all(|e| (e - energy[0]).abs() < 1e-8 * energy[0]),
            "{start}"
        );
    }
}

#[test]
fn gyroscope_passes_through_zero_and_half_a_turn_of_tilt() {
    let text = gallery_models("gyroscope/gyroscope.bond")
        + "experiment x of Gyroscope {
            start theta = 1 [rad], tilt.f = 5 [rad/s], turn.f = 0 [rad/s], rotor.f = 0 [rad/s]
            stop = 10 [s]; rtol = 1e-10; record theta, system.energy as E }";
    let outcome = run_text(&text);
    let (theta, energy) = (column(&outcome, "theta"), column(&outcome, "E"));
    // Without spin it tumbles on at the same rate.
    assert_close(last(&outcome, "theta"), 51.0, 1e-7);
    assert!(theta.iter().all(|x| x.is_finite()));
    assert!(
        energy
            .iter()
            .all(|e| (e - energy[0]).abs() < 1e-9 * energy[0])
    );
}

#[test]
fn start_values_that_contradict_each_other_are_reported_as_a_pair() {
    let (found, text) = messages(
        "model M { w: 1 -> a: I(1), b: I(3); start a.p = 1, b.f = 2 }
         experiment x of M { stop = 2; record w.f }",
    );
    assert_eq!(found.len(), 1, "{text}");
    assert_eq!(found[0].code, paynter::code::START_CONFLICT, "{text}");
    assert_eq!(found[0].secondary.len(), 1, "{text}");
}

#[test]
fn linear_loop_is_solved_exactly() {
    // A bridge of equal resistors with one of 2: node voltages by hand.
    let outcome = run_text(
        "model M {
            s: Se(1) -> in: 0
            in -> j1: 1 -> a: 0 -> r2: R(2)
            j1 -> r1: R(1)
            in -> j3: 1 -> b: 0 -> r4: R(1)
            j3 -> r3: R(1)
            a -> m: 1 -> b
            m -> r5: R(1)
        }
        experiment x of M { stop = 1; record a.e as a, b.e as b }",
    );
    // (1−a) = a/2 + (a−b) and (1−b) + (a−b) = b, so a = 4/6.5 and b = 3.5/6.5.
    assert_close(last(&outcome, "a"), 4.0 / 6.5, 1e-14);
    assert_close(last(&outcome, "b"), 3.5 / 6.5, 1e-14);
}

#[test]
fn nonlinear_loop_meets_its_equations() {
    let outcome = run_text(
        "model M { s: Se(2) -> j: 1 -> n: 0 -> r1: R { e = f + f^3 }, r2: R(1); j -> r: R { f = e^3 + e } }
         experiment x of M { stop = 1; record n.e as v, r.f as f, r1.f as f1 }",
    );
    let (v, f, f1) = (
        last(&outcome, "v"),
        last(&outcome, "f"),
        last(&outcome, "f1"),
    );
    let e = 2.0 - v;
    assert_close(f, e.powi(3) + e, 1e-12);
    assert_close(v, f1 + f1.powi(3), 1e-12);
    assert_close(f, f1 + v, 1e-12);
}

#[test]
fn implicit_signals_follow_their_solution_through_time() {
    let outcome = run_text(
        "model M { u = 1 + time/1 [s]; solve y { y^3 + y == u } ; der(x) = y }
         experiment e of M { stop = 1 [s]; rtol = 1e-10; record y, u }",
    );
    for (y, u) in column(&outcome, "y").iter().zip(column(&outcome, "u")) {
        assert_close(y.powi(3) + y, *u, 1e-11);
    }
}

#[test]
fn start_may_ask_for_what_other_states_give() {
    // In either order, through a signal, and through two steps.
    for starts in [
        "start x = 2; start y = x^2 + 1; start z = twice + 1",
        "start z = twice + 1; start y = x^2 + 1; start x = 2",
    ] {
        let outcome = run_text(&format!(
            "model M {{
                der(x) = 0
                der(y) = 0
                der(z) = 0
                twice = 2*y
                {}
            }}
            experiment e of M {{ stop = 1; record x, y, z }}",
            starts.replace("; ", "\n")
        ));
        assert_close(last(&outcome, "x"), 2.0, 1e-12);
        assert_close(last(&outcome, "y"), 5.0, 1e-12);
        assert_close(last(&outcome, "z"), 11.0, 1e-12);
    }
}

#[test]
fn switches_that_keep_an_equation_from_overflowing_are_set_before_it_is_solved() {
    // With its whole number at 0, the saw would be 30.25 and its exponential infinite.
    let outcome = run_text(
        "model M {
            der(x) = -1
            start x = 30.25
            solve w { w + w^3 == exp((2*(x - floor(x)) - 1)^2 - 1) + (if w > 5 then 1/(x - 30) else 0) }
        }
        experiment e of M { stop = 0.1; record w, x }",
    );
    let w = column(&outcome, "w")[0];
    assert_close(w + w.powi(3), (-0.75_f64).exp(), 1e-12);
}

/// A demand on a rate is met by momenta: an angle that nobody mentions stays at zero, though a modulus reads it.
#[test]
fn a_start_of_a_rate_moves_no_place() {
    let text = |starts: &str| {
        format!(
            "model M {{
    v: 1 -> m: I(1)
    sum: 0 -> w: 1 -> j: I(2)
    v -> TF(0.5 + x) -> sum
    u: 1 -> n: I(1)
    u -> sum
    der(x) = u.f
}}
experiment e of M {{ start {starts}; stop = 1; record x, u.f as u, v.f as v, w.f as w }}"
        )
    };
    for starts in [
        "v.f = 3, u.f = 1",
        "v.f = 3, w.f = 2.5",
        "u.f = 1, w.f = 2.5",
    ] {
        let outcome = run_text(&text(starts));
        for (name, wanted) in [("x", 0.0), ("u", 1.0), ("v", 3.0), ("w", 2.5)] {
            let found = column(&outcome, name)[0];
            assert!((found - wanted).abs() < 1e-12, "{starts}: {name} {found}");
        }
        assert_eq!(outcome.run.defaulted, ["x"], "{starts}");
    }
    // Where momenta alone cannot meet it, the place has to.
    let outcome = run_text(&text("v.f = 3, u.f = 1, w.f = 4"));
    assert!((column(&outcome, "x")[0] - 0.5).abs() < 1e-9);
}

#[test]
fn a_guess_moves_no_state_that_nothing_searches_for() {
    // The demand on d is linear, so that d is not an unknown of a search: only a could meet the hint.
    for guess in ["guess d = 0", "guess d = 5", ""] {
        let outcome = run_text(&format!(
            "model M {{ der(a) = -a + d; solve d {{ d == 1 - 0.5*d + a }}; {guess} }}
             experiment e of M {{ stop = 1; record a, d }}"
        ));
        assert_eq!(column(&outcome, "a")[0], 0.0, "{guess}");
        assert_eq!(outcome.run.defaulted, ["a"], "{guess}");
    }
    // Where a search is made, the hint still chooses among the solutions.
    for (guess, expected) in [("guess d = 3", 2.0), ("guess d = -3", -2.0)] {
        let outcome = run_text(&format!(
            "model M {{ der(a) = -a; solve d {{ d^2 == 4 + a }}; {guess} }}
             experiment e of M {{ stop = 1; record a, d }}"
        ));
        assert!(
            (column(&outcome, "d")[0] - expected).abs() < 1e-9,
            "{guess}"
        );
        assert_eq!(column(&outcome, "a")[0], 0.0);
    }
}
