//! Small models run end to end and compared with closed forms.

mod kit;

use kit::{Kit, assert_close, observe, run};
use paynter_exec::{Engine, Failure, Form, Lowering, StartError, lower, lower_with};
use paynter_solve::{EvalError, FinishReason, Method, System};
use paynter_symbolic::dae::{Action, EnergyRole, Switch};
use paynter_symbolic::expr::{ExprId, Function1};
use paynter_symbolic::{Comparison, Origin};

/// A capacitor loaded through a resistor; gives (kit, charge, voltage).
fn rc() -> (Kit, ExprId, ExprId) {
    let mut k = Kit::new();
    let (r, c, u) = (k.param("R", 2.0), k.param("C", 0.5), k.param("U", 3.0));
    let (q, e, f) = (k.unknown("q"), k.unknown("e"), k.unknown("f"));
    let dq = k.der(q);
    let q_over_c = k.div(q, c);
    k.eq(e, q_over_c);
    let drop = k.sub(u, e);
    let flow = k.div(drop, r);
    k.eq(f, flow);
    k.eq(dq, f);
    (k, q, e)
}

#[test]
fn a_capacitor_loads_as_one_minus_an_exponential() {
    let (k, _, e) = rc();
    let mut machine = k.machine(&[e]);
    let end = run(&mut machine, Method::Dop853, 1e-10, 2.0).expect("the run ends");
    // e = U (1 − exp(−t/RC)) with RC = 1 s; global error stays within 100 rtol here.
    let voltage = observe(&mut machine, 2.0, &end.y)[0];
    assert_close(voltage, 3.0 * (1.0 - (-2.0_f64).exp()), 1e-8);
}

#[test]
fn a_parameter_set_later_is_the_one_that_counts() {
    let (k, _, e) = rc();
    let machine = k.machine(&[e]);
    let resistance = machine
        .parameter_symbols()
        .into_iter()
        .find(|&s| k.dae.name_of(s) == "R")
        .expect("R is read");
    let mut other = machine.clone();
    other
        .set_parameter(resistance, 4.0)
        .expect("R is a parameter");
    for (mut machine, time_constant) in [(machine, 1.0), (other, 2.0)] {
        let end = run(&mut machine, Method::Dop853, 1e-10, 2.0).expect("the run ends");
        let voltage = observe(&mut machine, 2.0, &end.y)[0];
        assert_close(
            voltage,
            3.0 * (1.0 - (-2.0_f64 / time_constant).exp()),
            1e-8,
        );
    }
}

#[test]
fn bound_parameters_follow_unless_set_by_hand() {
    let mut k = Kit::new();
    let a = k.param("a", 2.0);
    let twice = k.scale(2.0, a);
    let b = k.bound("b", twice);
    let b2 = k.square(b);
    let c = k.bound("c", b2);
    let mut machine = k.machine(&[c]);
    machine.initialise(0.0).expect("no states, no trouble");
    assert_eq!(observe(&mut machine, 0.0, &[]), [16.0]);
    machine
        .set_parameter(k.id(a), 3.0)
        .expect("a is a parameter");
    assert_eq!(observe(&mut machine, 0.0, &[]), [36.0]);
    machine
        .set_parameter(k.id(b), 1.0)
        .expect("b is a parameter");
    assert_eq!(observe(&mut machine, 0.0, &[]), [1.0]);
}

#[test]
fn an_oscillator_keeps_its_energy_and_the_audit_sees_it() {
    let mut k = Kit::new();
    let (q, p) = (k.unknown("q"), k.unknown("p"));
    let (dq, dp) = (k.der(q), k.der(p));
    let (mass, stiffness) = (k.param("m", 2.0), k.param("k", 8.0));
    let v = k.div(p, mass);
    let force = k.mul(stiffness, q);
    let minus = k.neg(force);
    k.eq(dq, v);
    k.eq(dp, minus);
    k.start(q, 1.0);
    let power = k.mul(force, v);
    let into_mass = k.neg(power);
    let (p2, q2) = (k.square(p), k.square(q));
    let kinetic = k.div(p2, mass);
    let kinetic = k.scale(0.5, kinetic);
    let potential = k.mul(stiffness, q2);
    let potential = k.scale(0.5, potential);
    k.power(EnergyRole::Storage, power, Some(potential));
    k.power(EnergyRole::Storage, into_mass, Some(kinetic));
    let mut machine = k.machine(&[]);
    let end = run(&mut machine, Method::Dop853, 1e-10, 10.0).expect("the run ends");
    let stored = machine
        .stored_energy(10.0, &end.y)
        .expect("energies have values");
    assert_close(stored.total, 4.0, 1e-8);
    assert_eq!(stored.elements.len(), 2);
    let layout = machine.audit_layout().clone();
    assert_eq!(end.quadratures.len(), layout.len());
    let totals = layout
        .totals(&end.quadratures, &end.variations)
        .expect("storages have power");
    assert_eq!(totals.supplied, 0.0);
    // ∫ |P| over both storages is 8 J per quarter period of the potential energy of 4 J; steps in which the power
    // turns show less.
    let quarters = 2.0 * 10.0 / std::f64::consts::FRAC_PI_2;
    assert!(totals.scale < 8.0 * quarters + 8.0);
    assert!(totals.scale > 0.9 * 8.0 * (quarters - 1.0));
    let (first, into_spring) = layout
        .elements(&end.quadratures)
        .next()
        .expect("the spring is the first element");
    assert_eq!(first, 0);
    let spring = stored.elements[0].1;
    assert_close(into_spring, spring - 4.0, 1e-6);
}

#[test]
fn a_pendulum_swings_with_its_period_of_elliptic_integrals() {
    let mut k = Kit::new();
    let (theta, omega) = (k.unknown("theta"), k.unknown("omega"));
    let (dtheta, domega) = (k.der(theta), k.der(omega));
    let sin = k.call(Function1::Sin, theta);
    let torque = k.neg(sin);
    k.eq(dtheta, omega);
    k.eq(domega, torque);
    k.start(theta, 1.0);
    let mut machine = k.machine(&[]);
    // T = 4 K(sin(θ₀/2)) = 6.699 856 … for θ₀ = 1 (AGM: 2π / agm(1, cos(θ₀/2))).
    let (mut a, mut b) = (1.0_f64, 0.5_f64.cos());
    for _ in 0..10 {
        (a, b) = ((a + b) / 2.0, (a * b).sqrt());
    }
    let period = 2.0 * std::f64::consts::PI / a;
    let end = run(&mut machine, Method::Dop853, 1e-11, period).expect("the run ends");
    assert_close(end.y[0], 1.0, 1e-9);
    assert_close(end.y[1], 0.0, 1e-9);
}

/// Two inertias on one shaft over a gear n: J₁ ω̇ + n² J₂ ω̇ = τ.
fn geared() -> (Kit, ExprId, ExprId) {
    let mut k = Kit::new();
    let (j1, j2, n, tau) = (
        k.param("J1", 2.0),
        k.param("J2", 3.0),
        k.param("n", 4.0),
        k.param("tau", 5.0),
    );
    let (p1, p2, w1, w2, e) = (
        k.unknown("p1"),
        k.unknown("p2"),
        k.unknown("w1"),
        k.unknown("w2"),
        k.unknown("e"),
    );
    let (dp1, dp2) = (k.der(p1), k.der(p2));
    let l1 = k.mul(j1, w1);
    k.eq(p1, l1);
    let l2 = k.mul(j2, w2);
    k.eq(p2, l2);
    let geared = k.mul(n, w1);
    k.eq(w2, geared);
    k.eq(dp2, e);
    let back = k.mul(n, e);
    let net = k.sub(tau, back);
    k.eq(dp1, net);
    let first = k.id(p1);
    k.dae.preferred_states.push(first);
    (k, w1, w2)
}

#[test]
fn a_geared_inertia_counts_with_the_square_of_the_ratio() {
    let (k, w1, w2) = geared();
    for mut machine in k.machines(&[w1, w2]) {
        assert_eq!(machine.states().len(), 1);
        let end = run(&mut machine, Method::Dop853, 1e-10, 3.0).expect("the run ends");
        let speeds = observe(&mut machine, 3.0, &end.y);
        // ω₁ = τ t / (J₁ + n² J₂) = 15/50
        assert_close(speeds[0], 0.3, 1e-12);
        assert_close(speeds[1], 1.2, 1e-12);
    }
}

#[test]
fn a_demand_on_a_dependent_flow_sets_the_state() {
    let (mut k, w1, w2) = geared();
    k.start(w2, 2.0);
    let mut machine = k.machine(&[w1]);
    let start = machine.initialise(0.0).expect("one demand, one state");
    assert!(start.defaulted.is_empty());
    assert_close(observe(&mut machine, 0.0, &start.y0)[0], 0.5, 1e-14);
}

#[test]
fn demands_that_contradict_each_other_are_named_in_pairs() {
    let (mut k, w1, w2) = geared();
    k.start(w2, 2.0);
    k.start(w1, 1.0);
    let error = k
        .machine(&[])
        .initialise(0.0)
        .expect_err("the gear allows one speed only");
    assert_eq!(
        error,
        StartError::Conflict {
            pairs: vec![(0, 1)]
        }
    );
}

#[test]
fn a_demand_on_what_no_state_moves_is_unreachable() {
    let (mut k, _, _) = geared();
    let five = k.num(5.0);
    let tau = k.unknown("tau_now");
    k.eq(tau, five);
    k.start(tau, 6.0);
    let error = k
        .machine(&[])
        .initialise(0.0)
        .expect_err("the torque is given");
    assert_eq!(error, StartError::Unreachable { starts: vec![0] });
}

#[test]
fn states_nobody_mentions_start_at_zero_and_are_listed() {
    let (mut k, q, _) = rc();
    let x = k.unknown("x");
    let dx = k.der(x);
    k.eq(dx, q);
    k.start(x, 7.0);
    let mut machine = k.machine(&[]);
    let start = machine.initialise(0.0).expect("nothing is demanded twice");
    assert_eq!(start.defaulted, [k.id(q)]);
    let place = machine
        .states()
        .iter()
        .position(|&s| s == k.id(x))
        .expect("x is a state");
    assert_eq!(start.y0[place], 7.0);
    assert_eq!(start.y0[1 - place], 0.0);
}

/// A ball that falls on the floor; gives (kit, height, momentum).
fn ball(restitution: f64) -> (Kit, ExprId, ExprId, ExprId) {
    let mut k = Kit::new();
    let (h, p, v) = (k.unknown("h"), k.unknown("p"), k.unknown("v"));
    let (dh, dp) = (k.der(h), k.der(p));
    let (mass, weight) = (k.param("m", 2.0), k.num(-2.0 * 9.81));
    let speed = k.div(p, mass);
    k.eq(v, speed);
    k.eq(dh, v);
    k.eq(dp, weight);
    k.start(h, 1.0);
    let zero = k.num(0.0);
    let below = k.less(h, zero);
    let falling = k.less(v, zero);
    let hit = k.dae.pool.and(below, falling);
    let count = k.discrete("count", 0.0);
    let before = k.pre(count);
    let one = k.num(1.0);
    let next = k.sum(before, one);
    let back = k.scale(-restitution, p);
    let (p_id, count_id) = (k.id(p), k.id(count));
    k.when(
        hit,
        vec![
            Action::Reinit {
                target: p_id,
                value: back,
                origin: Origin(0),
            },
            Action::Assign {
                target: count_id,
                value: next,
                origin: Origin(0),
            },
        ],
    );
    let energy = {
        let p2 = k.square(p);
        let kinetic = k.div(p2, mass);
        k.scale(0.5, kinetic)
    };
    let power = k.mul(weight, v);
    k.power(EnergyRole::Storage, power, Some(energy));
    (k, h, p, count)
}

#[test]
fn a_ball_bounces_at_the_instants_of_the_closed_form() {
    let restitution: f64 = 0.9;
    let (k, h, _, count) = ball(restitution);
    // Fall time T = √(2/g); bounce n at T (1 + 2 (e + … + eⁿ⁻¹)). End between bounce 10 and 11.
    let fall = (2.0 / 9.81_f64).sqrt();
    let bounce = |n: i32| fall * (1.0 + 2.0 * (1..n).map(|k| restitution.powi(k)).sum::<f64>());
    let t_end = 0.5 * (bounce(10) + bounce(11));
    for mut machine in k.machines(&[h, count]) {
        let end = run(&mut machine, Method::Dop853, 1e-10, t_end).expect("the run ends");
        let columns = observe(&mut machine, t_end, &end.y);
        assert_eq!(columns[1], 10.0);
        // At half time between two bounces the ball is at its top, e²ⁿ times the first height.
        assert_close(columns[0], restitution.powi(20), 1e-9);
        // Energy lost: m g h₀ (1 − e²ⁿ)
        let lost = 2.0 * 9.81 * (1.0 - restitution.powi(20));
        assert_close(machine.energy_jumps()[0], -lost, 1e-7);
    }
}

#[test]
fn a_stop_ends_the_run_with_its_message() {
    let (mut k, q, _) = rc();
    let one = k.num(1.0);
    let full = k.mode(Switch::Relation {
        comparison: Comparison::Greater,
        left: q,
        right: one,
    });
    k.when(
        full,
        vec![Action::Stop {
            message: "full".to_owned(),
        }],
    );
    let mut machine = k.machine(&[]);
    let end = run(&mut machine, Method::Dop853, 1e-10, 100.0).expect("the run ends");
    let FinishReason::Stopped { code } = end.reason else {
        panic!("ended by {:?}", end.reason)
    };
    assert_eq!(
        machine.describe_failure(code),
        Failure::Stop {
            message: "full".to_owned(),
            when: 0
        }
    );
    // q = 1.5 (1 − exp(−t)) reaches 1 at ln 3.
    assert_close(end.t, 3.0_f64.ln(), 1e-9);
}

#[test]
fn a_sampled_integrator_sums_left_limits_at_exact_ticks() {
    let mut k = Kit::new();
    let x = k.unknown("x");
    let dx = k.der(x);
    let (u, sum) = (k.discrete("u", 0.0), k.discrete("sum", 0.0));
    let before = k.pre(sum);
    // ẋ = u; u = 1 + sum; sum = pre(sum) + x: all at 10 Hz.
    k.eq(dx, u);
    let one = k.num(1.0);
    let value = k.sum(one, sum);
    let next = k.sum(before, x);
    k.clock((10, 1), &[(u, value), (sum, next)]);
    let mut machine = k.machine(&[sum, x]);
    let end = run(&mut machine, Method::Tsit5, 1e-9, 0.95).expect("the run ends");
    let (mut state, mut total) = (0.0, 0.0);
    for tick in 0..10 {
        total += state;
        state += (1.0 + total) * if tick == 9 { 0.05 } else { 0.1 };
    }
    let columns = observe(&mut machine, 0.95, &end.y);
    assert_close(columns[0], total, 1e-12);
    assert_close(columns[1], state, 1e-12);
    assert_eq!(machine.counters().ticks, 10);
}

#[test]
fn two_clocks_that_coincide_run_as_one_sorted_system() {
    let mut k = Kit::new();
    let (fast, slow) = (k.discrete("fast", 0.0), k.discrete("slow", 0.0));
    let before = k.pre(fast);
    let one = k.num(1.0);
    let next = k.sum(before, one);
    // The slow clock is written first and reads the fast one of the same tick.
    k.clock((1200, 1), &[(slow, fast)]);
    k.clock((6000, 1), &[(fast, next)]);
    let mut machine = k.machine(&[fast, slow]);
    let end = run(&mut machine, Method::Tsit5, 1e-6, 0.01).expect("the run ends");
    // Ticks 0‥60 of the fast clock; the last coincidence is at tick 60 = 0.01 s, which is the end.
    let columns = observe(&mut machine, 0.01, &end.y);
    assert_eq!(columns, [61.0, 61.0]);
}

#[test]
fn pulse_width_modulation_switches_at_exact_times() {
    let mut k = Kit::new();
    let (f, duty) = (k.param("f", 50.0), k.param("duty", 0.3));
    let time = k.time();
    let phase = k.mul(time, f);
    let turns = k.mode(Switch::Floor { of: phase });
    let part = k.sub(phase, turns);
    let is_on = k.less(part, duty);
    let x = k.unknown("x");
    let dx = k.der(x);
    k.eq(dx, is_on);
    let mut machine = k.machine(&[x, is_on]);
    assert_eq!(machine.n_guards(), 0);
    let end = run(&mut machine, Method::Tsit5, 1e-9, 1.0).expect("the run ends");
    assert_close(end.y[0], 0.3, 1e-12);
    // 50 times on and 50 times off, less the one at the start; the last is the end itself.
    assert!(
        (99..=100).contains(&end.statistics.time_events),
        "{}",
        end.statistics.time_events
    );
}

#[test]
fn a_rectified_sine_crosses_where_it_should() {
    let mut k = Kit::new();
    let time = k.time();
    let sine = k.call(Function1::Sin, time);
    let s = k.unknown("s");
    k.eq(s, sine);
    let zero = k.num(0.0);
    let is_negative = k.less(s, zero);
    let minus = k.neg(s);
    let size = k.dae.pool.if_else(is_negative, minus, s);
    let x = k.unknown("x");
    let dx = k.der(x);
    k.eq(dx, size);
    let mut machine = k.machine(&[]);
    let t_end = 10.0 * std::f64::consts::PI;
    let end = run(&mut machine, Method::Dop853, 1e-9, t_end).expect("the run ends");
    assert_close(end.y[0], 20.0, 1e-7);
    // Time alone decides: the crossings are known ahead.
    assert!(end.statistics.time_events >= 9);
}

#[test]
fn coulomb_friction_reverses_with_the_sign_of_speed() {
    // v̇ = −sign(v) from v = 1 stays at rest from t = 1 on only if the sign can be 0 there; here
    // a push of 0.5 remains, so after the reversal v̇ = −0.5 + 1 … : v̇ = −0.5 − sign(v).
    let mut k = Kit::new();
    let v = k.unknown("v");
    let dv = k.der(v);
    let sign = k.mode(Switch::Sign { of: v });
    let push = k.num(-1.5);
    let sum = k.sub(push, sign);
    k.eq(dv, sum);
    k.start(v, 1.0);
    let mut machine = k.machine(&[sign]);
    let end = run(&mut machine, Method::Dop853, 1e-9, 1.4).expect("the run ends");
    // −2.5 until 0.4 s, then −0.5.
    assert_close(end.y[0], -0.5, 1e-8);
    assert_eq!(observe(&mut machine, 1.4, &end.y), [-1.0]);
}

#[test]
fn a_quantiser_follows_its_argument_both_ways() {
    let mut k = Kit::new();
    let (x, n) = (k.unknown("x"), k.unknown("n"));
    let dx = k.der(x);
    let time = k.time();
    let cos = k.call(Function1::Cos, time);
    let rate = k.scale(3.3, cos);
    k.eq(dx, rate);
    let floor = k.mode(Switch::Floor { of: x });
    k.eq(n, floor);
    let total = k.unknown("total");
    let dtotal = k.der(total);
    k.eq(dtotal, n);
    let mut machine = k.machine(&[n, total]);
    let end = run(&mut machine, Method::Dop853, 1e-9, 4.0).expect("the run ends");
    let columns = observe(&mut machine, 4.0, &end.y);
    assert_eq!(columns[0], (3.3 * 4.0_f64.sin()).floor());
    // ∫ ⌊3.3 sin t⌋ dt by the instants of its steps: up at asin(k/3.3), down at π − asin(k/3.3).
    let at = |k: f64| (k / 3.3_f64).asin();
    let pi = std::f64::consts::PI;
    let mut integral = 0.0;
    for level in 1..=3 {
        integral += pi - 2.0 * at(f64::from(level));
    }
    integral -= 4.0 - pi;
    for level in 1..=2 {
        integral -= 4.0 - (pi + at(f64::from(level)));
    }
    let index = machine
        .states()
        .iter()
        .position(|&s| s == k.id(total))
        .expect("total is a state");
    assert_close(end.y[index], integral, 1e-7);
}

#[test]
fn a_reinit_of_a_dependent_flow_moves_the_state_behind_it() {
    let (mut k, w1, w2) = geared();
    let time = k.time();
    let one = k.num(1.0);
    let late = k.mode(Switch::Relation {
        comparison: Comparison::GreaterEqual,
        left: time,
        right: one,
    });
    let eight = k.num(8.0);
    let target = k.id(w2);
    k.when(
        late,
        vec![Action::Reinit {
            target,
            value: eight,
            origin: Origin(0),
        }],
    );
    let mut machine = k.machine(&[w1]);
    let end = run(&mut machine, Method::Dop853, 1e-10, 3.0).expect("the run ends");
    assert_close(observe(&mut machine, 3.0, &end.y)[0], 2.0 + 0.2, 1e-11);
}

#[test]
fn an_invariant_is_kept_by_projection() {
    let mut k = Kit::new();
    let (x, y) = (k.unknown("x"), k.unknown("y"));
    let (dx, dy) = (k.der(x), k.der(y));
    let minus = k.neg(y);
    k.eq(dx, minus);
    k.eq(dy, x);
    k.start(x, 1.0);
    let (x2, y2) = (k.square(x), k.square(y));
    let r2 = k.sum(x2, y2);
    let one = k.num(1.0);
    let residual = k.sub(r2, one);
    k.invariant(residual);
    let mut machine = k.machine(&[]);
    let end = run(&mut machine, Method::Tsit5, 1e-4, 50.0).expect("the run ends");
    assert_close(end.y[0].hypot(end.y[1]), 1.0, 1e-14);
}

#[test]
fn a_start_off_its_constraint_is_moved_onto_it_and_said_so() {
    let mut k = Kit::new();
    let (x, y) = (k.unknown("x"), k.unknown("y"));
    let (dx, dy) = (k.der(x), k.der(y));
    let minus = k.neg(y);
    k.eq(dx, minus);
    k.eq(dy, x);
    k.start(x, 1.001);
    k.start(y, 0.0);
    let (x2, y2) = (k.square(x), k.square(y));
    let r2 = k.sum(x2, y2);
    let one = k.num(1.0);
    let residual = k.sub(r2, one);
    k.invariant(residual);
    let start = k
        .machine(&[])
        .initialise(0.0)
        .expect("the constraint can be met");
    assert_close(start.y0[0], 1.0, 1e-12);
    assert_eq!(start.changed.len(), 1);
    assert_eq!((start.changed[0].start, start.changed[0].asked), (0, 1.001));
}

#[test]
fn a_nonlinear_loop_is_solved_inside_or_beside_the_states() {
    // ẋ = −i with a diode-like law: i + (exp(i) − 1) = x.
    let mut k = Kit::new();
    let (x, i) = (k.unknown("x"), k.unknown("i"));
    let dx = k.der(x);
    let exp = k.call(Function1::Exp, i);
    let one = k.num(1.0);
    let diode = k.sub(exp, one);
    let sum = k.sum(i, diode);
    k.eq(sum, x);
    let minus = k.neg(i);
    k.eq(dx, minus);
    k.start(x, 5.0);
    let mut explicit = k.machine(&[i]);
    let end = run(&mut explicit, Method::Dop853, 1e-10, 2.0).expect("the run ends");
    let reduced = k.reduce();
    let lowering = Lowering {
        form: Form::Dae,
        engine: Engine::Interpreter,
        ..Lowering::default()
    };
    let mut dae = lower_with(&reduced, &[i], lowering).expect("the equations can be lowered");
    assert_eq!(dae.n(), 2);
    assert_eq!(dae.algebraic(), [false, true]);
    let end_dae = run(&mut dae, Method::Rodas5P, 1e-9, 2.0).expect("the run ends");
    assert_close(end.y[0], end_dae.y[0], 1e-7);
    // di/dt (1 + eⁱ) = −i: an independent check by fixed steps on i itself.
    let mut current = observe(&mut explicit, 0.0, &[5.0])[0];
    let slope = |i: f64| -i / (1.0 + i.exp());
    for _ in 0..20_000 {
        let h = 1e-4;
        let middle = current + 0.5 * h * slope(current);
        current += h * slope(middle);
    }
    assert_close(observe(&mut explicit, 2.0, &end.y)[0], current, 1e-7);
}

#[test]
fn a_value_that_is_not_finite_is_traced_to_its_definition() {
    let mut k = Kit::new();
    let (x, y, z) = (k.unknown("x"), k.unknown("y"), k.unknown("z"));
    let dx = k.der(x);
    let root = k.call(Function1::Sqrt, x);
    k.eq(y, root);
    let sine = k.call(Function1::Sin, y);
    k.eq(z, sine);
    let minus_one = k.num(-1.0);
    let rate = k.sum(minus_one, z);
    k.eq(dx, rate);
    let mut machine = k.machine(&[]);
    assert_eq!(machine.find_not_finite(0.0, &[1.0]), None);
    let found = machine.find_not_finite(0.0, &[-1.0]);
    assert_eq!(
        found,
        Some(Failure::NotFinite {
            symbol: Some(k.id(y))
        })
    );
}

#[test]
fn a_singular_block_names_its_unknowns() {
    // Two equations a + b c = 1, a + b = 2 with c a state: singular at c = 1.
    let mut k = Kit::new();
    let (a, b, c) = (k.unknown("a"), k.unknown("b"), k.unknown("c"));
    let dc = k.der(c);
    let (one, two) = (k.num(1.0), k.num(2.0));
    let bc = k.mul(b, c);
    let left = k.sum(a, bc);
    k.eq(left, one);
    let sum = k.sum(a, b);
    k.eq(sum, two);
    k.eq(dc, a);
    for engine in [Engine::Interpreter, Engine::Jit] {
        let mut machine = lower(&k.reduce(), &[b], engine).expect("lowers");
        let mut f = [0.0];
        machine.rhs(0.0, &[0.5], &mut f).expect("regular here");
        let Err(EvalError::Failed { code }) = machine.rhs(0.0, &[1.0], &mut f) else {
            panic!("{engine:?}: c = 1 is singular, got {f:?}")
        };
        let Failure::Singular { unknowns, .. } = machine.describe_failure(code) else {
            panic!("{engine:?}: {:?}", machine.describe_failure(code))
        };
        let block = [k.id(a), k.id(b)];
        assert!(unknowns.iter().all(|s| block.contains(s)), "{unknowns:?}");
    }
}

/// Piecewise linear through (0, 0), (0.3, 3), (1, 1), constant after.
#[derive(Debug)]
struct Tent;

impl paynter_symbolic::expr::External for Tent {
    fn name(&self) -> &str {
        "tent"
    }
    fn n_inputs(&self) -> usize {
        1
    }
    fn n_outputs(&self) -> usize {
        1
    }
    fn call(&self, inputs: &[f64], outputs: &mut [f64]) -> Result<(), String> {
        let u = inputs[0];
        if u < 0.0 {
            return Err(format!("no value at {u}"));
        }
        outputs[0] = if u < 0.3 {
            10.0 * u
        } else if u < 1.0 {
            3.0 - (u - 0.3) / 0.35
        } else {
            1.0
        };
        Ok(())
    }
    fn slopes(&self, inputs: &[f64], slopes: &mut [f64]) -> Result<(), String> {
        let u = inputs[0];
        slopes[0] = if u < 0.3 {
            10.0
        } else if u < 1.0 {
            -1.0 / 0.35
        } else {
            0.0
        };
        Ok(())
    }
    fn corners(&self) -> &[f64] {
        &[0.3, 1.0]
    }
}

#[test]
fn corners_of_a_function_of_time_are_exact_time_events() {
    let mut k = Kit::new();
    let tent = k.dae.pool.add_external(std::sync::Arc::new(Tent));
    let time = k.time();
    let half = k.scale(0.5, time);
    let value = k.dae.pool.call_external(tent, &[half], 0);
    let (x, u) = (k.unknown("x"), k.unknown("u"));
    let dx = k.der(x);
    k.eq(u, value);
    k.eq(dx, u);
    for mut machine in k.machines(&[u]) {
        machine.initialise(0.0).expect("nothing is demanded");
        assert_eq!(machine.next_time_event(0.0), Some(0.6));
        assert_eq!(machine.next_time_event(0.6), Some(2.0));
        assert_eq!(machine.next_time_event(2.0), None);
        let end = run(&mut machine, Method::Tsit5, 1e-6, 3.0).expect("the run ends");
        // Twice the area of the tent up to 1.5: 0.45 + 1.4 + 0.5. Exact but for rounding,
        // because each piece is linear and no step crosses a corner.
        assert_close(end.y[0], 2.0 * 2.35, 1e-12);
        let mut slope = [0.0];
        machine
            .time_derivative(1.0, &end.y, &mut slope)
            .expect("the tent has slopes");
        assert_close(slope[0], -0.5 / 0.35, 1e-12);
    }
}

#[test]
fn an_external_function_without_an_answer_says_so_in_its_own_words() {
    let mut k = Kit::new();
    let tent = k.dae.pool.add_external(std::sync::Arc::new(Tent));
    let x = k.unknown("x");
    let dx = k.der(x);
    let value = k.dae.pool.call_external(tent, &[x], 0);
    k.eq(dx, value);
    let mut machine = k.machine(&[]);
    let Err(EvalError::Failed { code }) = machine.rhs(0.0, &[-1.0], &mut [0.0]) else {
        panic!("the tent has no value at -1")
    };
    let message = "tent: no value at -1".to_owned();
    assert_eq!(
        machine.describe_failure(code),
        Failure::External { message }
    );
}

#[test]
fn switches_that_drive_each_other_are_named() {
    // a = (b < 0), b = 2 a − 1 through algebra: a true makes b = 1, a false makes b = −1.
    let mut k = Kit::new();
    let b = k.unknown("b");
    let zero = k.num(0.0);
    let a = k.less(b, zero);
    let twice = k.scale(2.0, a);
    let one = k.num(1.0);
    let value = k.sub(twice, one);
    k.eq(b, value);
    let error = k
        .machine(&[])
        .initialise(0.0)
        .expect_err("no value of the switch is right");
    let StartError::Failure(Failure::EventLoop { modes }) = error else {
        panic!("{error:?}")
    };
    assert!(modes.contains(&k.id(a)));
}

#[test]
fn a_diode_given_by_a_curve_parameter_switches_once_per_crossing() {
    // (v, i) = (s, G s) blocking, (R₀ s, s) conducting; sin t = v + R i.
    let mut k = Kit::new();
    let (s, v, i) = (k.unknown("s"), k.unknown("v"), k.unknown("i"));
    let (r, r0, g) = (k.param("R", 10.0), k.param("R0", 0.1), k.param("G", 1e-4));
    let zero = k.num(0.0);
    let blocks = k.less(s, zero);
    let on = k.mul(r0, s);
    let voltage = k.dae.pool.if_else(blocks, s, on);
    k.eq(v, voltage);
    let leak = k.mul(g, s);
    let current = k.dae.pool.if_else(blocks, leak, s);
    k.eq(i, current);
    let time = k.time();
    let source = k.call(Function1::Sin, time);
    let drop = k.mul(r, i);
    let sum = k.sum(v, drop);
    k.eq(sum, source);
    let q = k.unknown("q");
    let dq = k.der(q);
    k.eq(dq, i);
    for mut machine in k.machines(&[]) {
        let n_periods = 20.0;
        let t_end = n_periods * 2.0 * std::f64::consts::PI;
        let end = run(&mut machine, Method::Dop853, 1e-9, t_end).expect("the run ends");
        let per_period = 2.0 / (0.1 + 10.0) - 2.0 * 1e-4 / (1.0 + 10.0 * 1e-4);
        assert_close(end.y[0], n_periods * per_period, 1e-7);
        // Written out, the curve parameter is a function of time alone.
        let events = end.statistics.state_events + end.statistics.time_events;
        assert!((39..=41).contains(&events), "{events} events");
    }
}
