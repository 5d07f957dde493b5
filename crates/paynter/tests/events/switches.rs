//! Ideal switches and diodes with coils and capacitors, and laws that jump: the structure of the
//! equations changes, and the numbers stay those of the closed forms.

use crate::kit::{self, assert_close, column, distance, last, messages, run_text};
use paynter::simulate::Ending;

fn assert_sound(outcome: &paynter::experiment::Outcome) {
    assert_eq!(outcome.run.ending, Ending::Reached);
    let audit = outcome.run.audit.as_ref().expect("there is power");
    assert!(audit.is_good(), "{audit:?}");
}

#[test]
fn buck_with_ideal_switch_and_diode_gives_its_duty_of_the_supply() {
    let outcome = run_text(
        "model Buck {
            supply: Se(24 [V]) -> top: 1 -> n: 0 -> coil: 1 -> out: 0 -> load: R(5 [ohm])
            top -> t1: Sw(pwm(time, 50 [kHz], 0.5))
            ground: Se(0 [V]) -> free: 1 -> n
            free -> d1: D()
            coil -> l: I(100 [uH])
            out -> c: C(100 [uF])
            output charge = integral(c.e)
        }
        experiment e of Buck { stop = 30 [ms]; output_step = 20 [us]; rtol = 1e-9; record charge, l.f as i }",
    );
    assert_sound(&outcome);
    // In the steady state the mean voltage of the coil is zero, so the mean output is duty · supply.
    let charge = column(&outcome, "charge");
    let mean = (charge[charge.len() - 1] - charge[charge.len() - 2]) / 20e-6;
    assert_close(mean, 12.0, 1e-6);
    // The current is least at the ticks: load current less half the ripple (24 − 12)·10 µs/100 µH.
    assert_close(last(&outcome, "i"), 2.4 - 0.6, 2e-3);
}

#[test]
fn buck_at_light_load_lets_its_current_rest_at_zero() {
    let outcome = run_text(
        "model Buck {
            supply: Se(24 [V]) -> top: 1 -> n: 0 -> coil: 1 -> out: 0 -> load: R(200 [ohm])
            top -> t1: Sw(pwm(time, 50 [kHz], 0.5))
            ground: Se(0 [V]) -> free: 1 -> n
            free -> d1: D()
            coil -> l: I(100 [uH])
            out -> c: C(100 [uF])
            start c.e = 21 [V]
        }
        experiment e of Buck { stop = 0.1 [s]; output_step = 20 [us]; rtol = 1e-9; record c.e as v, l.f as i, d1.f as id }",
    );
    assert_sound(&outcome);
    // Erickson & Maksimović, Fundamentals of Power Electronics, §5.3: V/Vg = 2/(1 + √(1 + 4K/D²)), K = 2L/(RT).
    let k: f64 = 2.0 * 100e-6 / (200.0 * 20e-6);
    let expected = 24.0 * 2.0 / (1.0 + (1.0 + 4.0 * k / 0.25).sqrt());
    assert_close(last(&outcome, "v") / expected, 1.0, 1e-3);
    assert!(column(&outcome, "i").iter().all(|&i| i >= -1e-12));
    assert!(column(&outcome, "id").iter().all(|&i| i >= -1e-12));
}

#[test]
fn boost_with_ideal_switch_and_diode_doubles_its_supply() {
    let outcome = run_text(
        "model M {
            s: Se(12 [V]) -> coil: 1 -> n: 0
            coil -> l: I(100 [uH])
            n -> sw: Sw(pwm(time, 50 [kHz], 0.5))
            n -> dj: 1 -> out: 0 -> c: C(100 [uF]), r: R(10 [ohm])
            dj -> d: D()
            output volts = integral(n.e)
        }
        experiment x of M { stop = 40 [ms]; output_step = 20 [us]; rtol = 1e-9; record c.e as v, volts }",
    );
    assert_sound(&outcome);
    // The coil has no mean voltage: the switched node has that of the supply.
    let volts = column(&outcome, "volts");
    let mean = (volts[volts.len() - 1] - volts[volts.len() - 2]) / 20e-6;
    assert_close(mean, 12.0, 1e-6);
    assert_close(last(&outcome, "v"), 24.0, 0.2);
}

#[test]
fn coil_behind_a_diode_follows_its_closed_form() {
    let outcome = run_text(
        "model M {
            s: Se(10 [V]*sin(2*pi*50 [Hz]*time)) -> j: 1 -> l: I(10 [mH]), r: R(1 [ohm]), d: D()
        }
        experiment x of M { stop = 0.1 [s]; rtol = 1e-9; record l.f as i, d.e as e }",
    );
    assert_sound(&outcome);
    let (w, r, l) = (100.0 * std::f64::consts::PI, 1.0_f64, 0.01_f64);
    let z = r.hypot(w * l);
    let phase = (w * l).atan2(r);
    let expected = |t: f64| {
        let t = t % 0.02;
        let i = 10.0 / z * ((w * t - phase).sin() + phase.sin() * (-r * t / l).exp());
        // It never conducts again before the next period: the other half wave blocks it.
        if t > 0.005 && i < 0.0 { 0.0 } else { i }
    };
    let i = column(&outcome, "i");
    for (k, &t) in outcome.run.table.time.iter().enumerate() {
        assert_close(i[k], expected(t).max(0.0), 2e-7);
    }
    assert!(column(&outcome, "e").iter().all(|&e| e <= 1e-12));
}

const BRIDGE: &str = "model M {
    src: Se(10 [V]*sin(2*pi*50 [Hz]*time)) -> in: 1 -> rs: R(1 [ohm])
    minus: 0
    ground: Se(0 [V]) -> minus
    b: 0 -> in -> a: 0
    a -> p1: 1 -> plus: 0
    b -> p2: 1 -> plus
    minus -> p3: 1 -> a
    minus -> p4: 1 -> b
    p1 -> d1: D()
    p2 -> d2: D()
    p3 -> d3: D()
    p4 -> d4: D()
    plus -> out: 1 -> minus
    out -> load: R(100 [ohm])
    plus -> store: 1 -> minus
    store -> c: C(100 [uF])
    output up [C] = integral(p1.f) + integral(p2.f), used [C] = integral(out.f)
}";

#[test]
fn bridge_of_ideal_diodes_keeps_its_charge_for_a_thousand_periods() {
    let outcome = run_text(&format!(
        "{BRIDGE}
        experiment x of M {{ stop = 20 [s]; output_step = 0.01 [s]; rtol = 1e-8; record c.e as v, c.q as q, up, used }}"
    ));
    assert_sound(&outcome);
    let used = last(&outcome, "used");
    let balance = last(&outcome, "up") - used - last(&outcome, "q");
    assert!(balance.abs() < 1e-6 * used, "{balance:e}");
    // Both half waves charge it alike: the voltage repeats every half period.
    let v = column(&outcome, "v");
    let change = distance(&v[20..v.len() - 1], &v[21..]);
    assert!(change < 1e-7, "{change:e}");
    // An independent solution by Runge–Kutta with 2·10⁵ steps per half period gave 6.371832 V.
    assert_close(last(&outcome, "v"), 6.371_832, 1e-6);
}

#[test]
fn bridge_fed_through_a_coil_switches_over_without_a_jump() {
    let text = BRIDGE.replace("rs: R(1 [ohm])", "rs: R(1 [ohm]), ls: I(5 [mH])");
    let outcome = run_text(&format!(
        "{text}
        experiment x of M {{ stop = 0.5 [s]; output_step = 1 [ms]; rtol = 1e-9; record c.e as v, c.q as q, up, used, d1.f as f1, d1.e as e1 }}"
    ));
    assert_sound(&outcome);
    assert!(outcome.run.losses.is_empty());
    let used = last(&outcome, "used");
    let balance = last(&outcome, "up") - used - last(&outcome, "q");
    assert!(balance.abs() < 1e-7 * used, "{balance:e}");
    assert!(column(&outcome, "f1").iter().all(|&f| f >= -1e-9));
    assert!(column(&outcome, "e1").iter().all(|&e| e <= 1e-9));
}

#[test]
fn six_ideal_diodes_rectify_three_phases() {
    let mut text = String::from("model M {\nground: Se(0 [V]) -> star: 0\nminus: 0\nplus: 0\n");
    for (k, name) in ["u", "v", "w"].iter().enumerate() {
        text += &format!(
            "s{name}: Se(100 [V]*sin(2*pi*50 [Hz]*time - {k}*2*pi/3)) -> j{name}: 1 -> {name}: 0\nstar -> j{name}\n\
             {name} -> t{name}: 1 -> plus\nt{name} -> dt{name}: D()\n\
             minus -> b{name}: 1 -> {name}\nb{name} -> db{name}: D()\n"
        );
    }
    text += "plus -> out: 1 -> minus\nout -> r: R(10 [ohm])\noutput mean = integral(r.e)\n}
        experiment e of M { stop = 0.1 [s]; rtol = 1e-9; record r.e as v, mean }";
    let outcome = run_text(&text);
    assert_sound(&outcome);
    // 3√3/π of the phase amplitude.
    let expected = 3.0 * 3.0_f64.sqrt() / std::f64::consts::PI * 100.0;
    assert_close(last(&outcome, "mean") / 0.1, expected, 1e-5);
}

#[test]
fn capacitors_that_an_ideal_switch_joins_share_their_charge() {
    let outcome = run_text(
        "model M {
            a: 0 -> c1: C(1 [uF]), r: R(1 [Mohm])
            a -> j: 1 -> b: 0 -> c2: C(3 [uF])
            j -> sw: Sw(time > 1 [ms])
            start c1.e = 8 [V]
        }
        experiment x of M { stop = 2 [ms]; rtol = 1e-10; record c1.e as a, c2.e as b }",
    );
    assert_sound(&outcome);
    let before = 8.0 * (-1e-3_f64).exp();
    let after = before / 4.0 * (-1e-3 / 4.0_f64).exp();
    assert_close(last(&outcome, "a"), after, 1e-8);
    assert_close(last(&outcome, "b"), after, 1e-8);
    // ½ C₁C₂/(C₁ + C₂) ΔV²
    let lost = 0.5 * 0.75e-6 * before * before;
    assert_close(outcome.run.losses[0].2 / lost, 1.0, 1e-8);
    assert!(outcome.warnings.iter().any(|w| w.code == "W0742"));
}

#[test]
fn current_that_a_switch_cuts_off_is_named() {
    let (all, text) = messages(
        "model M {
            s: Se(12 [V]) -> j: 1 -> l: I(100 [uH]), r: R(1 [ohm]), sw: Sw(time < 1 [ms])
        }
        experiment x of M { stop = 2 [ms] }",
    );
    assert!(all.iter().any(|d| d.code == "E0740"), "{text}");
    assert!(
        text.contains("the flow of `l` has no path when `sw` opens at t = 0.001 s"),
        "{text}"
    );
}

#[test]
fn contacts_that_share_a_current_nothing_divides_are_named() {
    let (all, text) = messages(
        "model M {
            s: Se(12 [V]) -> j: 1 -> r: R(1 [ohm])
            j -> n: 0 -> a: Sw(time > 1), b: Sw(time > 1)
        }
        experiment x of M { stop = 2 }",
    );
    assert!(all.iter().any(|d| d.code == "E0741"), "{text}");
}

#[test]
fn body_on_a_rough_floor_comes_to_rest_and_breaks_loose_again() {
    // Friction of 1 N against a push of 2 sin t: it sticks until 2 sin t = 1.
    let outcome = run_text(
        "model M {
            v: 1 -> m: I(1), rub: R { e = sign(f) }
            push: Se(2*sin(time)) -> v
        }
        experiment e of M { stop = 1; rtol = 1e-10; output_step = 0.1; record v.f as v, rub.e as F }",
    );
    assert_sound(&outcome);
    let loose = std::f64::consts::FRAC_PI_6;
    let speed = |t: f64| {
        if t < loose {
            0.0
        } else {
            2.0 * (loose.cos() - t.cos()) - (t - loose)
        }
    };
    for (k, &t) in outcome.run.table.time.iter().enumerate() {
        assert_close(column(&outcome, "v")[k], speed(t), 1e-9);
        let force = if t < loose { 2.0 * t.sin() } else { 1.0 };
        assert_close(column(&outcome, "F")[k], force, 1e-9);
    }
    assert!(outcome.warnings.iter().any(|w| w.code == "W0743"));
}

#[test]
fn belt_with_ideal_friction_sticks_and_slips_in_a_steady_rhythm() {
    // Static friction 2 N, sliding friction 1 N, c = 0.1 m/N, m = 1 kg, belt 0.1 m/s. Stuck until the spring
    // pulls 2 N; then x'' = … with ω = √10: the slip ends when the speed is again that of the floor.
    let outcome = run_text(
        "model M {
            drive: Sf(0.1) -> gap: 0 -> v: 1 -> m: I(1)
            gap -> k: C(0.1)
            v -> rub: R { e = if abs(f) > 0 then sign(f) else sign(f) }
            when loose: v.f > 0.01 { n = pre(n) + 1; at = time; since = time - pre(at) }
        }
        experiment e of M { stop = 20; rtol = 1e-9; output_step = 0.5; record n, since, v.f as v, k.e as pull }",
    );
    assert_eq!(outcome.run.ending, Ending::Reached);
    // Without a drop of friction it slides on at the speed of the belt, swinging about it undamped: the pull
    // starts at 1 N with speed 0, so v = 0.1 (1 − cos ωt) and it just touches rest once in each period.
    let period = 2.0 * std::f64::consts::PI / 10.0_f64.sqrt();
    assert_close(last(&outcome, "since"), period, 1e-5);
}

#[test]
fn relay_that_is_driven_back_gives_its_mean() {
    let outcome = run_text(
        "model M { der(x) = 0.3 - u; u = if x > 0 then 1 else -1; start x = 1 }
        experiment e of M { stop = 3; rtol = 1e-9; output_step = 0.25; record x, u }",
    );
    assert_eq!(outcome.run.ending, Ending::Reached);
    for (k, &t) in outcome.run.table.time.iter().enumerate() {
        assert_close(column(&outcome, "x")[k], (1.0 - 0.7 * t).max(0.0), 1e-9);
        let u = if t < 1.0 / 0.7 { 1.0 } else { 0.3 };
        assert_close(column(&outcome, "u")[k], u, 1e-9);
    }
}

#[test]
fn blocked_diodes_are_told_open_only_without_a_leakage() {
    let run = |leakage: &str| {
        kit::run_text(&format!(
            "model M {{
                param Is = 1e-12, Vt = 0.02585
                s: Se(-5) -> j: 1 -> d1: R {{ f = Is*(exp(e/Vt) - 1){leakage} }}
                j -> d2: R {{ f = Is*(exp(e/Vt) - 1){leakage} }}
                j -> rs: R(1)
            }}
            experiment x of M {{ stop = 1; record d1.e, d2.e }}"
        ))
    };
    let is_told =
        |outcome: &paynter::experiment::Outcome| outcome.warnings.iter().any(|w| w.code == "W0744");
    assert!(is_told(&run("")));
    let shared = run(" + e/1e9");
    assert!(!is_told(&shared));
    // Equal diodes share equally, but for 2.5e-9 V that the leakage drops across the resistor.
    kit::assert_close(kit::last(&shared, "d1.e"), -2.5, 1e-8);
}
