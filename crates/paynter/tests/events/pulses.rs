//! Short pulses that no stage of a step would see, and laws that end where they switch.
//!
//! In:  pulses of random form, width and place, of time or of a state, in sources, moduli and resistances; roots and
//!      logarithms whose argument passes zero at a switch.
//! Out: what the pulse leaves behind, against its integral; runs that pass the switch, against closed forms.

use crate::kit::{Seeded, assert_close, last, number_from, run_text};
use std::f64::consts::{LN_2, PI};

const METHODS: [&str; 5] = ["auto", "tsit5", "dop853", "rodas5p", "bdf"];

/// A pulse of height 1 as a function of `x`, and its integral.
fn pulse(random: &mut Seeded, x: &str, at: f64, width: f64) -> (String, f64) {
    let from = format!("(({x} - {at})/{width})");
    match random.below(5) {
        0 => (format!("exp(-{from}^2)"), width * PI.sqrt()),
        1 => (
            format!("0.5*(tanh({from} + 4) - tanh({from} - 4))"),
            8.0 * width,
        ),
        2 => (format!("1/cosh({from})"), PI * width),
        3 => (format!("(exp(-abs({from})))^2"), width),
        _ => {
            let x = |share: f64| at + share * width;
            let table = format!(
                "[{}, {}, {}, {}], [0, 1, 1, 0]",
                x(-1.0),
                x(-0.5),
                x(0.5),
                x(1.0)
            );
            let argument = if from.contains("time") { "time" } else { "x" };
            (format!("table({table}, {argument})"), 1.5 * width)
        }
    }
}

#[test]
fn short_pulses_are_not_stepped_over() {
    let n = number_from("PAYNTER_CASES").unwrap_or(120) as usize;
    let mut random = Seeded(number_from("PAYNTER_SEED").unwrap_or(0) << 32 ^ 31);
    let mut lost = Vec::new();
    for case in 0..n {
        let stop = random.between(5.0, 20.0);
        let at = stop * random.between(0.15, 0.85);
        let width = stop * 10_f64.powf(random.between(-5.5, -2.5));
        let is_of_state = random.below(3) == 0;
        let (text, area) = pulse(
            &mut random,
            if is_of_state { "x" } else { "time" },
            at,
            width,
        );
        let (line, expected) = match random.below(4) {
            0 => (format!("der(y) = {text}"), area),
            1 => (
                format!("s: Se(0.7*({text})/0.7) -> j: 1 -> i: I(1)\ny = i.p"),
                area,
            ),
            2 => (
                format!("s: Sf(1) -> TF({text}) -> n: 0 -> c: C(3)\ny = c.q"),
                area,
            ),
            // q' = (pulse + 1e-9)(1 − q/20)
            _ => (
                format!("s: Se(2) -> j: 1 -> r: R(2/(1e-9 + {text})), c: C(10)\ny = c.q"),
                20.0 * (1.0 - (-area / 20.0).exp()),
            ),
        };
        let method = METHODS[case % METHODS.len()];
        let text = format!(
            "model M {{\nder(x) = 1\n{line}\n}}\n\
             experiment e of M {{ stop = {stop}; method = {method}; record y }}"
        );
        let y = last(&run_text(&text), "y");
        let error = (y - expected).abs();
        if error.is_nan() || error > 2e-3 * expected + 1e-8 * stop {
            lost.push(format!("case {case}: {y:e} for {expected:e}\n{text}"));
        }
    }
    assert!(
        lost.is_empty(),
        "{} of {n} lost\n{}",
        lost.len(),
        lost.join("\n")
    );
}

/// A charge that decays from `x0` with `tau`, and z, the integral of `rate` of it.
fn integral_over_decay(rate: &str, (x0, tau, stop): (f64, f64, f64), method: &str) -> f64 {
    let text = format!(
        "model M {{ n: 0 -> c: C(1), r: R({tau})\n start c.q = {x0}\n x = c.q\n der(z) = {rate} }}\n\
         experiment e of M {{ stop = {stop}; method = {method}; record z }}"
    );
    last(&run_text(&text), "z")
}

#[test]
fn pulses_of_an_angle_come_with_every_turn() {
    let mut random = Seeded(number_from("PAYNTER_SEED").unwrap_or(0) << 32 ^ 47);
    for case in 0..number_from("PAYNTER_CASES").unwrap_or(60) {
        let (x0, tau) = (random.between(0.5, 2.0), random.between(0.5, 5.0));
        let stop = tau * random.between(0.5, 2.0);
        let (k, p) = (random.between(5.0, 40.0), random.between(-3.0, 3.0));
        let (angle, method) = (format!("{k}*x + {p}"), METHODS[random.below(METHODS.len())]);
        let (rate, of_cosine): (String, fn(f64) -> f64) = match random.below(3) {
            0 => (
                format!("table([-1, 0.98, 0.99, 1], [0, 0, 5, 0], cos({angle}))"),
                |c| 500.0 * (c - 0.98).clamp(0.0, 0.01) - 500.0 * (c - 0.99).clamp(0.0, 0.01),
            ),
            1 => (format!("cos({angle})^200"), |c| c.powi(200)),
            _ => (format!("exp(-300*(1 - cos({angle})))"), |c| {
                (-300.0 * (1.0 - c)).exp()
            }),
        };
        // dt = −τ dx/x
        let (n, x1) = (400_000, x0 * (-stop / tau).exp());
        let dx = (x0 - x1) / f64::from(n);
        let middles = (0..n).map(|i| x1 + dx * (f64::from(i) + 0.5));
        let expected: f64 = middles
            .map(|x| of_cosine((k * x + p).cos()) * tau / x * dx)
            .sum();
        let z = integral_over_decay(&rate, (x0, tau, stop), method);
        assert!(
            (z - expected).abs() < 1e-3 * expected + 1e-5,
            "case {case}, {method}: {z} for {expected}: {rate}, x from {x0} with {tau} s for {stop} s"
        );
    }
}

#[test]
fn a_short_steep_ramp_between_two_events_keeps_its_area() {
    let mut random = Seeded(number_from("PAYNTER_SEED").unwrap_or(0) << 32 ^ 53);
    for case in 0..number_from("PAYNTER_CASES").unwrap_or(60) {
        let (x0, tau) = (random.between(0.5, 2.0), random.between(0.5, 5.0));
        let at = x0 * random.between(0.3, 0.9);
        let width = 10_f64.powf(random.between(-5.0, -2.0));
        let method = METHODS[random.below(METHODS.len())];
        let rate = format!("max(0, 1 - abs(x - {at})/{width})/{width}");
        let z = integral_over_decay(&rate, (x0, tau, 1.5 * tau), method);
        // dt = −τ dx/x, in powers of width/at
        let share = width / at;
        let expected = tau / at * (1.0 + share.powi(2) / 6.0);
        assert!(
            (z - expected).abs() < 1e-4 * expected,
            "case {case}, {method}: {z} for {expected}: {rate}, x from {x0} with {tau} s"
        );
    }
}

#[test]
fn what_a_pulse_gives_is_in_the_energy_as_well() {
    let outcome = run_text(
        "model M { s: Se(100*exp(-((time - 3.3)*2000)^2)) -> j: 1 -> r: R(1), i: I(10) }
        experiment e of M { stop = 10; record i.p }",
    );
    // The pulse is over in no time: p jumps by its area and decays with L/R = 10 s.
    let expected = 100.0 * PI.sqrt() / 2000.0 * (-0.67_f64).exp();
    assert_close(last(&outcome, "i.p"), expected, 1e-4 * expected);
    assert!(outcome.run.audit.as_ref().is_some_and(|a| a.is_good()));
}

#[test]
fn a_state_that_turns_within_a_step_winds_a_guard_there_and_back() {
    for method in METHODS {
        let outcome = run_text(&format!(
            "model M {{
                v: 1 -> m: I(1), c: C(1)
                start c.q = 1
                der(y) = if sin(200*c.q) > 0.7 then 1 else 0
                when a: sin(200*c.q) > 0.7 {{ n = pre(n) + 1 }}
            }}
            experiment e of M {{ stop = 20; method = {method}; rtol = 1e-8; record y, n }}"
        ));
        let gate = |t: f64| (200.0 * t.cos()).sin() > 0.7;
        let n = 2_000_000;
        let at = |k: usize| 20.0 * k as f64 / n as f64;
        let open = (0..n).filter(|&k| gate(at(k) + 5e-6)).count() as f64 * 20.0 / n as f64;
        let rises = (1..=n).filter(|&k| gate(at(k)) && !gate(at(k - 1))).count();
        assert_eq!(last(&outcome, "n"), rises as f64, "{method}");
        assert_close(last(&outcome, "y"), open, 2e-4);
    }
}

#[test]
fn roots_and_logarithms_pass_the_switch_of_their_argument() {
    for method in METHODS {
        let outcome = run_text(&format!(
            "model M {{
                der(x) = 1
                der(a) = sqrt(abs(x - 1))
                der(b) = abs(x - 1)^1.5
                der(c) = if x > 1 then sqrt(x - 1) else -sqrt(1 - x)
                der(d) = sqrt(max(x - 1, 0))
                der(k) = if x > 1 then (x - 1)*log(x - 1) else 0
                der(g) = if sqrt(abs(x - 1.3)) < 0.1 then 1 else 0
            }}
            experiment e of M {{ stop = 3; rtol = 1e-7; method = {method}; record a, b, c, d, k, g }}"
        ));
        let upper = 2.0 / 3.0 * 2_f64.powf(1.5);
        for (name, expected) in [
            ("a", upper + 2.0 / 3.0),
            ("b", 0.4 * (1.0 + 2_f64.powf(2.5))),
            ("c", upper - 2.0 / 3.0),
            ("d", upper),
            ("k", 2.0 * LN_2 - 1.0),
            ("g", 0.02),
        ] {
            let error = (last(&outcome, name) - expected).abs();
            assert!(error < 3e-5, "{method} {name}: {error:e}");
        }
    }
}

#[test]
fn an_orifice_turns_its_flow_round() {
    // q' = −1 − √q until q = 0 at t = 2 − 2 ln 2, then |q|' = 1 − √|q|: q(1) = −1/4.
    for law in [
        "sign(e)*sqrt(abs(e))",
        "if e > 0 then sqrt(e) else -sqrt(-e)",
        "if 2*e/0.9 >= 0 then sqrt(0.9*e/0.9) else -sqrt(abs(e))",
    ] {
        for method in METHODS {
            let outcome = run_text(&format!(
                "model M {{
                    tank: 0 -> c: C(1), r: R {{ f = {law} }}
                    out: Sf(-1) -> tank
                    start c.q = 1
                }}
                experiment e of M {{ stop = 1; rtol = 1e-8; method = {method}; record c.q }}"
            ));
            assert_close(last(&outcome, "c.q"), -0.25, 1e-6);
        }
    }
}

#[test]
fn friction_that_sticks_and_slips_at_one_instant_has_no_other_value_between() {
    let outcome = run_text(
        "model M {
            F: Se(3*sin(2*time)) -> v1: 1 -> m1: I(1)
            v1 -> d: 0
            d -> v2: 1 -> m2: I(1), g: R { e = 0.7*sign(f) }
            d -> b: 1 -> fr: R { e = sign(f) }
        }
        experiment e of M { stop = 10; record fr.e; measure top = max(fr.e), low = min(fr.e) }",
    );
    for measure in &outcome.measures {
        let value = measure.value.expect("both have a value");
        assert_close(value.abs(), 1.0, 1e-6);
    }
}
