//! Events at their exact instants: bounces, diodes, stick and slip, play, clocks, short dips.

use crate::kit::{self, assert_close, column, distance, last, run_text};
use paynter::simulate::Ending;

/// Thirty bounces against the closed form: the k-th flight takes 2 eᵏ t₀, t₀ = √(2h/g).
#[test]
fn ball_follows_its_closed_form_for_thirty_bounces_at_five_restitutions() {
    let (g, h) = (9.81_f64, 1.0_f64);
    for e in [0.5, 0.7, 0.8, 0.9, 0.99_f64] {
        let outcome = run_text(&format!(
            "model Ball {{
                v: 1 -> m: I(1)
                weight: Se(-9.81) -> v
                der(h) = v.f
                when bounce: h < 0 and v.f < 0 {{ reinit m.p = -{e}*m.p; n = pre(n) + 1 }}
                when enough: n >= 30 {{ stop \"thirty\" }}
                start h = 1
            }}
            experiment x of Ball {{ stop = 1000; rtol = 1e-10; record h }}"
        ));
        let Ending::Stopped { time, .. } = outcome.run.ending else {
            panic!("restitution {e}: {:?}", outcome.run.ending);
        };
        let fall = (2.0 * h / g).sqrt();
        let flights: f64 = (1..30).map(|k| 2.0 * e.powi(k)).sum();
        assert_close(time, fall * (1.0 + flights), 1e-9);
    }
}

#[test]
fn half_wave_rectifier_keeps_its_charge_for_a_thousand_periods() {
    let outcome = run_text(
        "model M {
            src: Se(10 [V]*sin(2*pi*50 [Hz]*time)) -> in: 1 -> out: 0 -> c: C(100 [uF]), r: R(100 [ohm])
            in -> rs: R(1 [ohm]), d: D()
            output charge [C] = integral(in.f), used [C] = integral(r.f)
        }
        experiment x of M { stop = 20 [s]; output_step = 0.02 [s]; rtol = 1e-8; record c.e as v, c.q as q, charge, used }",
    );
    let (v, used) = (column(&outcome, "v"), last(&outcome, "used"));
    // What came in either stands in the capacitor or went through the load.
    let balance = last(&outcome, "charge") - used - last(&outcome, "q");
    assert!(balance.abs() < 1e-6 * used, "{balance:e}");
    // After the first ten periods every period is like the one before.
    assert!(
        distance(&v[10..v.len() - 1], &v[11..]) < 1e-5,
        "{:e}",
        distance(&v[10..v.len() - 1], &v[11..])
    );
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
    p1 -> d1: D(Ron = 0.01 [ohm], Roff = 1e6 [ohm])
    p2 -> d2: D(Ron = 0.01 [ohm], Roff = 1e6 [ohm])
    p3 -> d3: D(Ron = 0.01 [ohm], Roff = 1e6 [ohm])
    p4 -> d4: D(Ron = 0.01 [ohm], Roff = 1e6 [ohm])
    plus -> out: 1 -> minus
    out -> load: R(100 [ohm])
    plus -> store: 1 -> minus
    store -> c: C(100 [uF])
    output up [C] = integral(p1.f) + integral(p2.f), used [C] = integral(out.f)
}
experiment x of M { stop = 1 [s]; output_step = 0.01 [s]; rtol = 1e-8; record c.e as v, c.q as q, up, used }";

#[test]
fn bridge_rectifier_keeps_its_charge_and_ripples_twice_each_period() {
    let outcome = run_text(BRIDGE);
    let used = last(&outcome, "used");
    let balance = last(&outcome, "up") - used - last(&outcome, "q");
    assert!(balance.abs() < 1e-6 * used, "{balance:e}");
    // Both half waves charge it: the voltage repeats every half period.
    let v = column(&outcome, "v");
    assert!(
        distance(&v[20..v.len() - 1], &v[21..]) < 1e-5,
        "{:e}",
        distance(&v[20..v.len() - 1], &v[21..])
    );
    assert!(outcome.run.audit.as_ref().is_some_and(|a| a.is_good()));
}

#[test]
fn buck_converter_gives_its_duty_of_the_supply() {
    let outcome = run_text(
        "model M {
            s: Se(24 [V]) -> in: 1 -> n: 0
            in -> t: Sw(pwm(time, 10000 [Hz], 0.5) > 0.5, Ron = 1e-3 [ohm], Roff = 1e6 [ohm])
            ground: Se(0 [V]) -> free: 1 -> n
            free -> d: D(Ron = 1e-3 [ohm], Roff = 1e6 [ohm])
            n -> coil: 1 -> out: 0 -> c: C(100 [uF]), r: R(5 [ohm])
            coil -> l: I(1 [mH])
        }
        experiment x of M { stop = 0.03 [s]; output_step = 0.1 [ms]; rtol = 1e-8; record c.e as v }",
    );
    // Half of 24 V, less what the switches take: 2.4 A through 1 mΩ. At the ticks the ripple of
    // at most (V − v) D T²/(8 L C) = 15 mV is at one phase.
    assert_close(last(&outcome, "v"), 12.0, 0.02);
    assert!(outcome.run.audit.as_ref().is_some_and(|a| a.is_good()));
}

#[test]
fn play_lets_a_mass_through_freely_and_gives_its_energy_back() {
    // Between the flanks it moves at 1 m/s for 0.2 s, on each flank half an oscillation of π s.
    let outcome = run_text(
        "model M {
            v: 1 -> m: I(1), tooth: C { e = if q > 0.1 then q - 0.1 else if q < -0.1 then q + 0.1 else 0 }
            start m.f = 1
        }
        experiment x of M { stop = 66.83185307179586; rtol = 1e-11; record tooth.q as x, m.f as v, system.energy as E }",
    );
    // Ten full rounds of 2·0.2 + 2π.
    assert_close(last(&outcome, "x"), 0.0, 1e-8);
    assert_close(last(&outcome, "v"), 1.0, 1e-8);
    assert_close(last(&outcome, "E"), 0.5, 1e-9);
}

#[test]
fn mass_on_a_rough_floor_comes_to_rest_where_the_closed_form_says() {
    // v = 2 m/s, F = 1 N, m = 1 kg: rest after v²/(2 F/m) = 2 m; tanh(v/v0) instead of sign(v)
    // adds v0² π²/12 · m/F = 8.2e-7 m.
    let outcome = run_text(
        "use translational: Mass, CoulombFriction, Fixed
        model M {
            wall: Fixed()
            body: Mass(m = 1 [kg]) -> rub: CoulombFriction(F = 1 [N]) -> wall
            start body.v = 2 [m/s]
        }
        experiment e of M { stop = 4 [s]; rtol = 1e-10; record body.x as x }",
    );
    assert_close(last(&outcome, "x"), 2.0 + 8.2e-7, 1e-8);
}

#[test]
fn belt_drags_a_mass_that_sticks_and_slips_in_a_steady_rhythm() {
    let outcome = run_text(
        "model M {
            drive: Sf(0.1) -> gap: 0 -> v: 1 -> m: I(1)
            gap -> k: C(0.1)
            v -> rub: R { e = (1 + exp(-(f/0.01)^2))*tanh(f/1e-4) }
            when loose: v.f > 0.01 { n = pre(n) + 1; at = time; since = time - pre(at) }
        }
        experiment e of M { stop = 20; rtol = 1e-8; output_step = 0.5; record n, since, v.f as v }",
    );
    let n = last(&outcome, "n");
    assert!(n >= 5.0, "{n} slips");
    // Every slip takes the time of the one before, once the start is forgotten.
    let since = column(&outcome, "since");
    assert_close(
        since[since.len() - 1],
        since[since.len() / 2],
        1e-4 * last(&outcome, "since"),
    );
    assert!(outcome.run.audit.as_ref().is_some_and(|a| a.is_good()));
}

#[test]
fn clocks_of_six_and_one_point_two_kilohertz_meet_exactly() {
    let outcome = run_text(
        "model M {
            sample at 6000 [Hz] { fast = pre(fast) + 1; at_fast = time }
            sample at 1200 [Hz] { slow = pre(slow) + 1; seen = fast; at_slow = time }
        }
        experiment x of M { stop = 10 [s]; output_step = 0.1 [s]; record fast, slow, seen, at_fast, at_slow }",
    );
    // Tick k is at k/6000: in whole numbers, not by adding up.
    let fast = column(&outcome, "fast");
    let slow = column(&outcome, "slow");
    for (k, t) in outcome.run.table.time.iter().enumerate() {
        assert_eq!(fast[k], (6000.0 * t).round() + 1.0);
        assert_eq!(slow[k], (1200.0 * t).round() + 1.0);
    }
    assert_eq!(column(&outcome, "seen"), fast);
    assert_eq!(column(&outcome, "at_fast"), column(&outcome, "at_slow"));
    assert_eq!(last(&outcome, "at_fast"), 10.0);
}

#[test]
fn two_clocks_keep_time_for_a_million_ticks() {
    let outcome = run_text(
        "model M {
            sample at 6000 [Hz] { fast = pre(fast) + 1; at = time }
            sample at 1200 [Hz] { slow = pre(slow) + 1 }
        }
        experiment x of M { stop = 166.66666666666666 [s]; output_step = 1 [s]; record fast, slow, at }",
    );
    assert_eq!(last(&outcome, "fast"), 6000.0 * 166.0 + 1.0);
    assert_eq!(last(&outcome, "slow"), 1200.0 * 166.0 + 1.0);
    assert_eq!(last(&outcome, "at"), 166.0);
    assert_eq!(outcome.run.statistics.time_events, 1_000_000);
}

#[test]
fn pwm_spends_its_duty_switched_on() {
    let outcome = run_text(
        "model M {
            u = pwm(time, 1000 [Hz], 0.3)
            s: Se(10 [V]*u) -> j: 1 -> r: R(1 [ohm]), l: I(10 [mH])
            area [s] = integral(u)
        }
        experiment x of M { stop = 0.1 [s]; rtol = 1e-9; record area, s.energy as E, r.energy as D, l.stored as L }",
    );
    assert_close(last(&outcome, "area"), 0.03, 1e-12);
    let balance = last(&outcome, "E") - last(&outcome, "D") - last(&outcome, "L");
    assert_close(balance, 0.0, 1e-9 * last(&outcome, "E"));
}

#[test]
fn dip_of_a_ten_thousandth_of_a_step_is_seen() {
    // y < 0 for 1e-5 s in the middle; steps are about 0.1 s.
    let outcome = run_text(
        "model M {
            der(x) = 1
            y = (x - 0.513)^2 - 2.5e-11
            when dip: y < 0 { n = pre(n) + 1 }
        }
        experiment e of M { stop = 1; rtol = 1e-4; record n }",
    );
    assert_eq!(last(&outcome, "n"), 1.0);
    assert!(outcome.run.statistics.steps < 100);
}

#[test]
fn two_guards_at_one_instant_both_act() {
    let outcome = run_text(
        "model M {
            der(x) = 1
            when a: x > 0.5 { n = pre(n) + 1 }
            when b: 2*x > 1 { m = pre(m) + 1 }
        }
        experiment e of M { stop = 1; record n, m }",
    );
    assert_eq!((last(&outcome, "n"), last(&outcome, "m")), (1.0, 1.0));
}

#[test]
fn tick_sees_a_source_that_steps_at_the_same_instant() {
    let outcome = run_text(
        "model M {
            u = step(time, 1, at = 0.5 [s])
            sample at 10 [Hz] { s = u }
        }
        experiment e of M { stop = 1 [s]; output_step = 0.1 [s]; record s }",
    );
    let expected: Vec<f64> = (0..=10).map(|k| f64::from(u8::from(k >= 5))).collect();
    assert_eq!(column(&outcome, "s"), expected);
}

#[test]
fn tick_reads_the_left_limit_of_what_it_writes() {
    // The plant integrates the held value: exact staircase, one tick behind.
    let outcome = run_text(
        "model M {
            der(x) = u
            sample at 10 [Hz] { u = x + 1 }
        }
        experiment e of M { stop = 0.3 [s]; output_step = 0.1 [s]; rtol = 1e-10; record x }",
    );
    // x[k+1] = x[k] + 0.1 (x[k] + 1)
    let mut x = 0.0;
    for value in column(&outcome, "x") {
        assert_close(*value, x, 1e-12);
        x += 0.1 * (x + 1.0);
    }
}

#[test]
fn bounces_without_end_are_reported_and_what_was_computed_is_kept() {
    let text = "model M {
            v: 1 -> m: I(1)
            weight: Se(-9.81) -> v
            der(h) = v.f
            when bounce: h < 0 and v.f < 0 { reinit m.p = -0.5*m.p }
            start h = 1
        }
        experiment x of M { stop = 3; record h }";
    let outcome = kit::try_run(text).unwrap_or_else(|f| panic!("{:?}", f.diagnostics));
    let Ending::Failed {
        time,
        why: diagnostics,
    } = &outcome.run.ending
    else {
        panic!("{:?}", outcome.run.ending)
    };
    assert_eq!(diagnostics[0].code, paynter::code::CHATTERING);
    // All bounces end at 3 √(2h/g).
    assert_close(*time, 3.0 * (2.0_f64 / 9.81).sqrt(), 1e-6);
    assert!(outcome.run.table.time.len() > 100);
}

#[test]
fn kinked_law_whose_effort_dies_away_does_not_chatter() {
    let outcome = run_text(
        "model M {
            n: 0 -> r: R { f = 0.776*e + 0.118*e*abs(e) }, leak: R(0.5)
            n -> GY(1.764) -> b: 1 -> i: I(1), rb: R(2)
            start i.p = 1
        }
        experiment x of M { stop = 50; rtol = 1e-8; record i.p as p }",
    );
    assert_eq!(outcome.run.ending, Ending::Reached);
    assert!(last(&outcome, "p").abs() < 1e-12);
}

#[test]
fn a_tank_that_runs_empty_stays_empty_and_fills_again() {
    let laws = [
        "1e-6*sign(e)*sqrt(abs(e))",
        "if e > 0 then 1e-6*sqrt(e) else -1e-6*sqrt(-e)",
        "1e-6*sqrt(max(e, 0))",
    ];
    // √q falls evenly to zero at 200 s. From 300 s on, as much flows in as the orifice passes at 1 Pa.
    for law in laws {
        for rtol in ["1e-4", "1e-6", "1e-9"] {
            let outcome = run_text(&format!(
                "model Vat {{ n: 0 -> c: C(1e-6), r: R {{ f = {law} }}\n start c.q = 0.01\n \
                 inflow: Sf(if time > 300 then 1e-6 else 0) -> n }}\n\
                 experiment e of Vat {{ stop = 400; rtol = {rtol}; output_step = 1; record c.q, n.e }}"
            ));
            let (q, e) = (column(&outcome, "c.q"), column(&outcome, "n.e"));
            for (t, q) in (0..=300).zip(q) {
                let expected = 0.01 * (1.0 - f64::from(t) / 200.0).max(0.0).powi(2);
                assert!((q - expected).abs() < 2e-5, "{law}, {rtol}: {q} at {t} s");
            }
            let settled = e.last().expect("it was recorded");
            assert!((settled - 1.0).abs() < 0.02, "{law}, {rtol}: {settled} Pa");
        }
    }
}

#[test]
fn laws_with_abs_are_solved_on_both_sides_of_their_kink() {
    let outcome = run_text(
        "model M {
            s: Se(10*sin(time)) -> j: 1 -> r1: R(2), n: 0
            n -> r: R { f = 0.362*e + 0.917*e*abs(e) }
            n -> r2: R(3)
        }
        experiment x of M { stop = 10; record s.e as s, r.e as e }",
    );
    for (s, e) in column(&outcome, "s").iter().zip(column(&outcome, "e")) {
        // Kirchhoff: (s − e)/2 = e/3 + 0.362 e + 0.917 e |e|
        assert_close(
            (s - e) / 2.0,
            e / 3.0 + 0.362 * e + 0.917 * e * e.abs(),
            1e-12,
        );
    }
}

#[test]
fn four_exponential_diodes_rectify() {
    let diode = "R { f = 1e-12*(exp(e/0.026) - 1) }";
    let outcome = run_text(&format!(
        "model M {{
            src: Se(10*sin(2*pi*50*time)) -> in: 1 -> rs: R(1)
            minus: 0
            ground: Se(0) -> minus
            b: 0 -> in -> a: 0
            a -> p1: 1 -> plus: 0
            b -> p2: 1 -> plus
            minus -> p3: 1 -> a
            minus -> p4: 1 -> b
            p1 -> d1: {diode}\np2 -> d2: {diode}\np3 -> d3: {diode}\np4 -> d4: {diode}
            plus -> out: 1 -> minus
            out -> load: R(100)
        }}
        experiment x of M {{ stop = 0.04; output_step = 1e-3; record src.e as s, load.f as i }}"
    ));
    // Two diodes in series: |s| = 2·0.026 ln(i/1e-12 + 1) + 101 i, but for what leaks back.
    for (s, i) in column(&outcome, "s").iter().zip(column(&outcome, "i")) {
        if s.abs() > 2.0 {
            assert_close(
                2.0 * 0.026 * (i / 1e-12 + 1.0).ln() + 101.0 * i,
                s.abs(),
                1e-6,
            );
        }
    }
}

#[test]
fn state_put_back_on_its_threshold_and_driven_on_is_reported() {
    // A condition that is false after the action and true again at once has no next instant.
    for (rate, condition, level) in [
        ("1", "x > 0.5", 0.5),
        ("-1", "x < -0.5", -0.5),
        ("cos(time)", "x > 0.5", 0.5),
    ] {
        let (found, text) = kit::messages(&format!(
            "model M {{
                der(x) = {rate}
                when top: {condition} {{ reinit x = {level} }}
            }}
            experiment e of M {{ stop = 2; record x }}"
        ));
        assert!(found.iter().any(|d| d.code == "E0724"), "{text}");
        assert!(text.contains("at a distance or at rest"), "{text}");
    }
}

#[test]
fn state_put_back_on_its_threshold_fires_again_when_it_comes_back() {
    // Between two walls, exactly on which it is put at each bounce: every half second one.
    for (up, down) in [(">", "<"), (">=", "<="), (">", "<="), (">=", "<")] {
        for method in ["auto", "tsit5", "rodas5p", "bdf"] {
            let outcome = run_text(&format!(
                "model M {{
                    der(x) = v
                    der(v) = 0
                    when right: x {up} 0.5 {{ reinit x = 0.5; reinit v = -v; n = pre(n) + 1; at = time }}
                    when left: x {down} 0 {{ reinit x = 0; reinit v = -v; n = pre(n) + 1; at = time }}
                    start x = 0.25, v = 1
                }}
                experiment e of M {{ stop = 10.1; method = {method}; record n, at, x }}"
            ));
            assert_eq!(last(&outcome, "n"), 20.0, "{up} {down} {method}");
            kit::assert_close(last(&outcome, "at"), 9.75, 1e-12);
            kit::assert_close(last(&outcome, "x"), 0.35, 1e-12);
        }
    }
}

#[test]
fn condition_that_stays_true_after_its_action_acts_once() {
    let outcome = run_text(
        "model M {
            der(x) = 1
            when top: x >= 0.5 { reinit x = 0.5; n = pre(n) + 1 }
        }
        experiment e of M { stop = 2; record n, x }",
    );
    assert_eq!(last(&outcome, "n"), 1.0);
    kit::assert_close(last(&outcome, "x"), 2.0, 1e-12);
}

#[test]
fn state_put_a_little_inside_fires_each_time_it_comes_back() {
    for (step, count) in [(0.5, 3.0), (1e-2, 150.0), (1e-4, 15_000.0)] {
        let outcome = run_text(&format!(
            "model M {{
                der(x) = 1
                when top: x > 0.5 {{ reinit x = 0.5 - {step:e}; n = pre(n) + 1 }}
            }}
            experiment e of M {{ stop = {}; record n }}",
            // The last one half a distance before the end.
            0.5 + (count - 0.5) * step
        ));
        assert_eq!(last(&outcome, "n"), count);
    }
}

#[test]
fn sawtooth_of_two_tanks_fires_both_ways() {
    // Two whens that hand the level to and fro; crossings of both at one instant every third time.
    let outcome = run_text(
        "model M {
            der(x) = 2
            der(y) = -3
            when top: x > 1 { reinit x = 0; n = pre(n) + 1 }
            when low: y < -1 { reinit y = 0; m = pre(m) + 1 }
        }
        experiment e of M { stop = 10.1; record n, m }",
    );
    assert_eq!((last(&outcome, "n"), last(&outcome, "m")), (20.0, 30.0));
}

#[test]
fn diodes_in_series_share_what_they_block_by_their_leakage() {
    // Strings of three, five and eight, driven far into reverse and back; with leakage 1 pS each takes its share.
    for n in [3, 5, 8] {
        let diodes: String = (0..n)
            .map(|k| format!("in -> d{k}: R {{ f = 1e-12*(exp(e/0.026) - 1) + 1e-12*e }}\n"))
            .collect();
        let outcome = run_text(&format!(
            "model M {{
                in: 1 -> rs: R(100)
                src: Se(50*sin(2*pi*50*time)) -> in
                {diodes}
            }}
            experiment x of M {{ stop = 0.04; output_step = 1e-3; record src.e as s, d0.e as first, d{}.e as final, in.f as i }}",
            n - 1
        ));
        let s = column(&outcome, "s");
        for ((s, first), (last, i)) in s
            .iter()
            .zip(column(&outcome, "first"))
            .zip(column(&outcome, "final").iter().zip(column(&outcome, "i")))
        {
            assert_close(*first, *last, 1e-9);
            assert_close(f64::from(n) * first + 100.0 * i, *s, 1e-6);
        }
    }
}

#[test]
fn diodes_in_series_without_leakage_are_told_what_they_lack() {
    let diodes: String = (0..5)
        .map(|k| format!("in -> d{k}: R {{ f = 1e-12*(exp(e/0.026) - 1) }}\n"))
        .collect();
    let (_, text) = kit::messages(&format!(
        "model M {{
            in: 1 -> rs: R(100)
            src: Se(20*sin(2*pi*50*time)) -> in
            {diodes}
        }}
        experiment x of M {{ stop = 0.04; record in.f }}"
    ));
    assert!(text.contains("a large resistance in parallel"), "{text}");
}

#[test]
fn voltage_that_rests_at_the_threshold_of_a_diode_does_not_chatter() {
    // Explicit steps over the fast side of the diode leave noise within the tolerance on both sides of 200 V.
    let models = kit::gallery_models("servo/servo.bond");
    for rtol in ["1e-5", "1e-6", "1e-7"] {
        let outcome = run_text(&format!(
            "{models}\nexperiment rest of Servo {{ stop = 0.1 [s]; rtol = {rtol}; record cb.e as v }}"
        ));
        assert_eq!(outcome.run.ending, Ending::Reached, "{rtol}");
        assert_close(last(&outcome, "v"), 200.0, 200.0 * 1e-5);
    }
}

#[test]
fn a_ball_that_is_put_a_hair_above_the_floor_bounces_again() {
    // Foreign models put it there, 2.2e-308 m above, so that they see no crossing at the bounce itself.
    let outcome = run_text(
        "model Ball { der(h) = v; der(v) = -9.81; start h = 1
         when up: h > 0 { n = pre(n) + 1 }
         when down: h <= 0 {
            reinit v = if h <= 0 and v < 0 then -0.7*v else v
            reinit h = if h <= 0 and v < 0 then 2.2e-308 else h
         } }
         experiment e of Ball { stop = 1.5; rtol = 1e-9; atol = 1e-12; record h, n }",
    );
    let (g, fall) = (9.81, (2.0 / 9.81_f64).sqrt());
    // Two bounces, at `fall` and after a flight with 0.7 of the speed; then with 0.49 of it.
    let t = 1.5 - fall - 2.0 * 0.7 * fall;
    let h = 0.49 * g * fall * t - g * t * t / 2.0;
    assert_close(last(&outcome, "h"), h, 1e-8);
    assert_eq!(last(&outcome, "n"), 2.0);
}

#[test]
fn an_angle_switches_at_its_cut_and_nowhere_else() {
    // Eleven turns and a bit, either way round: of a state, of time, and of a point on a circle that grows.
    for method in ["tsit5", "dop853", "rodas5p", "bdf"] {
        for way in ["", "-"] {
            for point in [
                "sin(x), cos(x)",
                "sin(w*time), cos(w*time)",
                "x*sin(x), x*cos(x)",
            ] {
                // Where x counts down, x sin(x) and x cos(x) are a point on the other side.
                let is_opposite = way == "-" && point.starts_with("x*");
                let point = if is_opposite {
                    "-x*sin(x), -x*cos(x)"
                } else {
                    point
                };
                let outcome = run_text(&format!(
                    "model M {{
                        param w = {way}7
                        der(x) = w
                        start x = 1e-3*w
                        angle = atan2({point})
                        der(open) = if angle > 1 then 1 else 0
                        der(sum) = angle
                        when high: angle > 1 {{ n = pre(n) + 1 }}
                        when low: angle > -1 {{ m = pre(m) + 1 }}
                    }}
                    experiment e of M {{ stop = 10; method = {method}; rtol = 1e-8; record open, sum, n, m }}"
                ));
                let name = format!("{method}, atan2({point}) at {way}7 rad/s");
                assert_eq!(last(&outcome, "n"), 11.0, "{name}");
                // It holds from the start on: forwards until the cut, backwards until −1.
                assert_eq!(last(&outcome, "m"), 11.0, "{name}");
                let open = 11.0 * (std::f64::consts::PI - 1.0) / 7.0;
                assert!((last(&outcome, "open") - open).abs() < 1e-6, "{name}");
                // Whole turns cancel; what is left is the last part of a turn.
                let start = if point.contains("time") { 0.0 } else { 7e-3 };
                let end = 70.0 + start - 22.0 * std::f64::consts::PI;
                let sign = if way.is_empty() { 1.0 } else { -1.0 };
                let sum = sign * (end * end - start * start) / 14.0;
                assert!((last(&outcome, "sum") - sum).abs() < 1e-5, "{name}");
            }
        }
    }
}

#[test]
fn a_run_that_stops_itself_ends_with_the_values_of_that_instant() {
    // The grid of outputs ends at 2.34 s.
    let outcome = run_text(
        "model M { der(x) = 1; when far: x > 2.345 { stop \"far enough\" } }
         experiment e of M { stop = 10; output_step = 0.02; record x, 2*x as twice }",
    );
    let table = &outcome.run.table;
    let end = *table.time.last().expect("it has rows");
    assert_close(end, 2.345, 1e-9);
    assert_close(last(&outcome, "x"), 2.345, 1e-9);
    assert_close(last(&outcome, "twice"), 4.69, 1e-9);
    assert_eq!(table.time.len(), 119, "118 points of the grid, and the end");
}

#[test]
fn a_run_that_begins_before_zero_ticks_from_its_start_on() {
    let outcome = run_text(
        "model M { der(x) = 1; sample at 2 [Hz] { k = pre(k) + 1; seen = x } }
         experiment e of M { start = -3.2; stop = 2.1; record k, seen }",
    );
    // At -3, -2.5, … 2 s.
    assert_eq!(last(&outcome, "k"), 11.0);
    assert_close(last(&outcome, "seen"), 5.2, 1e-9);
}
