//! Switches that no step may miss: gates of time at random, first crossings of guards that start at zero.
//!
//! In:  signals of time of random form and speed that open and close gates beside slow states, on their own, against a
//!      state, through a turning angle or through equations that are iterated; circuits at rest that a source sets in
//!      motion.
//! Out: the time for which each gate is open and how often it opens, against the signal itself; the branch of every
//!      law, against the flow through it.
//!
//! `PAYNTER_CASES` and `PAYNTER_SEED` ask for more cases and for others.

use crate::kit::{self, Seeded, assert_close, column, last, number_from, run_text};
use std::f64::consts::TAU;

const METHODS: [&str; 7] = [
    "auto",
    "tsit5",
    "dop853",
    "rodas5p",
    "bdf",
    "rk4(step = 0.07)",
    "euler(step = 0.11)",
];
const ADAPTIVE: usize = 5;

/// How many cases, and a generator for them.
fn cases(usual: usize, seed: u64) -> (usize, Seeded) {
    let n = number_from("PAYNTER_CASES").map_or(usual, |n| n as usize);
    (
        n,
        Seeded(number_from("PAYNTER_SEED").unwrap_or(0) << 32 ^ seed),
    )
}

/// A signal of time as text and as a function, with the shortest time in which it may turn.
struct Signal {
    text: String,
    at: Box<dyn Fn(f64) -> f64>,
    turn: f64,
}

fn signal(random: &mut Seeded, stop: f64) -> Signal {
    let w = random.between(3.0, 400.0) / stop * random.between(0.1, 1.0) * 6.3;
    let (p, a) = (random.between(-3.0, 3.0), random.between(0.5, 2.0));
    let turn = 0.3 / w;
    let of = |text: String, turn: f64, at: Box<dyn Fn(f64) -> f64>| Signal { text, at, turn };
    match random.below(9) {
        0 => of(
            format!("{a}*sin({w}*time + {p})"),
            turn,
            Box::new(move |t| a * (w * t + p).sin()),
        ),
        1 => of(
            format!("{a}*abs(cos({w}*time + {p})) - 0.5"),
            turn,
            Box::new(move |t| a * (w * t + p).cos().abs() - 0.5),
        ),
        2 => of(
            format!("{a}*exp(-time/{stop})*sin({w}*time + {p})"),
            turn,
            Box::new(move |t| a * (-t / stop).exp() * (w * t + p).sin()),
        ),
        3 => {
            let c = 0.5 * w / stop;
            of(
                format!("{a}*sin({c}*time^2 + {p})"),
                turn,
                Box::new(move |t| a * (c * t * t + p).sin()),
            )
        }
        4 => of(
            format!("{a}*sin({w}*time)*cos(0.13*{w}*time + {p})"),
            0.7 * turn,
            Box::new(move |t| a * (w * t).sin() * (0.13 * w * t + p).cos()),
        ),
        5 => of(
            format!("tanh(3*sin({w}*time + {p})) + 0.2*sin(2.7*{w}*time)"),
            0.2 * turn,
            Box::new(move |t| (3.0 * (w * t + p).sin()).tanh() + 0.2 * (2.7 * w * t).sin()),
        ),
        6 => of(
            format!("table([-1, 0.2, 0.4, 1], [-1, -0.5, 1.5, 0.8], sin({w}*time + {p}))"),
            0.2 * turn,
            Box::new(move |t| {
                let u = (w * t + p).sin();
                let line =
                    |x0: f64, y0: f64, x1: f64, y1: f64| y0 + (y1 - y0) * (u - x0) / (x1 - x0);
                if u < 0.2 {
                    line(-1.0, -1.0, 0.2, -0.5)
                } else if u < 0.4 {
                    line(0.2, -0.5, 0.4, 1.5)
                } else {
                    line(0.4, 1.5, 1.0, 0.8)
                }
            }),
        ),
        7 => of(
            format!("max(sin({w}*time + {p}), 0.3*cos(0.7*{w}*time))"),
            turn,
            Box::new(move |t| (w * t + p).sin().max(0.3 * (0.7 * w * t).cos())),
        ),
        _ => {
            // A triangle of time, as carriers are written, bent by a square.
            let f = w / 6.3;
            of(
                format!("(2*abs(2*({f}*time - floor({f}*time + 0.5))) - 1)^3 + 0.1*sin({w}*time)"),
                0.3 * turn,
                Box::new(move |t| {
                    let x = f * t;
                    let carrier: f64 = 2.0 * (2.0 * (x - (x + 0.5).floor())).abs() - 1.0;
                    carrier.powi(3) + 0.1 * (w * t).sin()
                }),
            )
        }
    }
}

/// How long a function is positive within 0 and `stop`, how often it becomes so, and whether it comes so near to zero
/// without crossing that the count is a matter of roundings.
fn gate(f: &dyn Fn(f64) -> f64, stop: f64, turn: f64) -> (f64, f64, bool) {
    let n = (60.0 * stop / turn).ceil() as usize;
    let at = |k: usize| stop * k as f64 / n as f64;
    let (mut open, mut count, mut is_close) = (0.0, 0.0, false);
    let mut before = f(0.0);
    let mut rate = 0.0;
    for k in 1..=n {
        let now = f(at(k));
        let turns = (now - before) * rate < 0.0;
        // At a kink, the grid tells the bottom to its own change of value only.
        is_close |= turns && before.abs() < (2.0 * (now - before).abs()).max(2e-3);
        rate = now - before;
        match (before > 0.0, now > 0.0) {
            (true, true) => open += at(k) - at(k - 1),
            (false, false) => {}
            (was, _) => {
                let (mut a, mut b) = (at(k - 1), at(k));
                for _ in 0..60 {
                    let m = 0.5 * (a + b);
                    if (f(m) > 0.0) == was { a = m } else { b = m }
                }
                open += if was { b - at(k - 1) } else { at(k) - b };
                count += f64::from(u8::from(!was));
            }
        }
        before = now;
    }
    (
        open,
        count,
        is_close || f(0.0).abs() < 1e-3 || before.abs() < 1e-3,
    )
}

#[test]
fn gates_of_time_are_open_as_long_and_as_often_as_the_signal_says() {
    let (n, mut random) = cases(500, 21);
    for case in 0..n {
        let stop = random.between(1.0, 20.0);
        let Signal { text, at, turn } = signal(&mut random, stop);
        let level = random.between(-0.9, 0.95);
        let (open, count, is_close) = gate(&|t| at(t) - level, stop, turn);
        if is_close {
            continue;
        }
        let method = METHODS[case % METHODS.len()];
        let text = format!(
            "model M {{
                s = {text}
                u = if s > {level} then 1 else 0
                der(y) = u
                when up: s > {level} {{ n = pre(n) + 1 }}
                slow: Se(1) -> j: 1 -> r: R(1), c: C(50)
            }}
            experiment e of M {{ stop = {stop}; method = {method}; record y, n }}"
        );
        let outcome = run_text(&text);
        assert_eq!(last(&outcome, "n"), count, "case {case}, {method}\n{text}");
        let error = (last(&outcome, "y") - open).abs();
        assert!(
            error < 1e-8 * stop,
            "case {case}, {method}: {error:e}\n{text}"
        );
    }
}

/// ∫ floor(a cos(k x + p) + b) dt while x decays from `x0` with `tau`, and how often the whole number changes.
fn floored_wave(
    (a, k, p, b): (f64, f64, f64, f64),
    (x0, tau): (f64, f64),
    stop: f64,
) -> (f64, usize) {
    let x1 = x0 * (-stop / tau).exp();
    let mut times = vec![0.0, stop];
    let levels = (b - a).floor() as i64..=(b + a).ceil() as i64;
    for angle in levels.map(|level| ((level as f64 - b) / a).acos()) {
        // No level at all where the wave does not reach it: nothing compares with the angle then.
        for angle in [angle, -angle] {
            let first = ((k * x1 + p - angle) / TAU).floor() as i64;
            let turns = (first..).map(|n| (angle + TAU * n as f64 - p) / k);
            let reached = turns.take_while(|&x| x < x0).filter(|&x| x > x1);
            times.extend(reached.map(|x| -tau * (x / x0).ln()));
        }
    }
    times.sort_by(f64::total_cmp);
    let whole = |t: f64| (a * (k * x0 * (-t / tau).exp() + p).cos() + b).floor();
    let areas = times
        .windows(2)
        .map(|w| (w[1] - w[0]) * whole(0.5 * (w[0] + w[1])));
    (areas.sum(), times.len() - 2)
}

#[test]
fn a_wave_that_turns_just_beyond_a_whole_number_is_seen_there() {
    let (n, mut random) = cases(120, 0xF01D);
    for case in 0..n {
        let method = METHODS[random.below(ADAPTIVE)];
        let (a, k, p) = (
            random.between(0.8, 4.0),
            random.between(10.0, 60.0),
            random.between(-3.0, 3.0),
        );
        let excess = 10_f64.powf(random.between(-4.0, -0.7));
        let b = random.below(7) as f64 - 3.0 + excess - a;
        let (x0, tau) = (random.between(0.5, 2.0), random.between(0.5, 5.0));
        let stop = tau * random.between(0.5, 2.0);
        let (area, count) = floored_wave((a, k, p, b), (x0, tau), stop);
        let text = format!(
            "model M {{ n: 0 -> c: C(1), r: R({tau})\n start c.q = {x0}\n \
             der(z) = floor({a}*cos({k}*c.q + {p}) + ({b})) }}\n\
             experiment e of M {{ stop = {stop}; method = {method}; record z }}"
        );
        let outcome = run_text(&text);
        let z = last(&outcome, "z");
        assert!(
            (z - area).abs() < 2e-4 * (1.0 + area.abs()),
            "case {case}: {z} for {area} with {count} changes\n{text}"
        );
    }
}

#[test]
fn a_sum_that_turns_where_none_of_its_parts_does_is_seen() {
    // Falls back for 12 ms on its way up: the saw's cube is flat there, and the sine comes down.
    let value = |t: f64| {
        let x = 5.09955660346761 * t;
        let saw = 2.0 * (2.0 * (x - (x + 0.5).floor())).abs() - 1.0;
        saw.powi(3) + 0.1 * (32.12720660184594 * t).sin() - 0.5679290783030823
            + 0.13262754514108427 * t
    };
    let (stop, n) = (10.97, 1_000_000);
    let h = stop / f64::from(n);
    let is_open: Vec<bool> = (0..n)
        .map(|k| value((f64::from(k) + 0.5) * h) > 0.0)
        .collect();
    let open = h * is_open.iter().filter(|is| **is).count() as f64;
    let count = is_open.windows(2).filter(|w| !w[0] && w[1]).count() as f64;
    for method in &METHODS[..ADAPTIVE] {
        let outcome = run_text(&format!(
            "model M {{
                saw = 2*abs(2*(5.09955660346761*time - floor(5.09955660346761*time + 0.5))) - 1
                s = saw^3 + 0.1*sin(32.12720660184594*time)
                der(x) = -0.13262754514108427
                start x = 0.5679290783030823
                der(y) = if s > x then 1 else 0
                when up: s > x {{ n = pre(n) + 1 }}
            }}
            experiment e of M {{ stop = {stop}; method = {method}; record y, n }}"
        ));
        assert_eq!(last(&outcome, "n"), count, "{method}");
        assert_close(last(&outcome, "y"), open, 3.0 * h * count);
    }
}

#[test]
fn gates_of_a_slow_state_and_a_fast_signal_miss_nothing() {
    let (n, mut random) = cases(200, 22);
    for case in 0..n {
        let stop = random.between(1.0, 20.0);
        let Signal { text, at, turn } = signal(&mut random, stop);
        let (x0, x1) = (random.between(-0.9, 0.9), random.between(-0.9, 0.9));
        let rate = (x1 - x0) / stop;
        let (open, count, is_close) = gate(&|t| at(t) - x0 - rate * t, stop, turn);
        if is_close {
            continue;
        }
        let method = METHODS[case % ADAPTIVE];
        let text = format!(
            "model M {{
                s = {text}
                der(x) = {rate}
                start x = {x0}
                u = if s > x then 1 else 0
                der(y) = u
                when up: s > x {{ n = pre(n) + 1 }}
            }}
            experiment e of M {{ stop = {stop}; method = {method}; record y, n }}"
        );
        let outcome = run_text(&text);
        assert_eq!(last(&outcome, "n"), count, "case {case}, {method}\n{text}");
        let error = (last(&outcome, "y") - open).abs();
        assert!(
            error < 1e-7 * stop,
            "case {case}, {method}: {error:e}\n{text}"
        );
    }
}

#[test]
fn gates_behind_iterated_equations_and_turning_angles_miss_nothing() {
    let (n, mut random) = cases(100, 23);
    for case in 0..n {
        let stop = random.between(1.0, 20.0);
        let w = random.between(20.0, 600.0) / stop;
        let level = random.between(-0.95, 0.95);
        let (open, count, is_close) = gate(&|t| (w * t + 0.1).sin() - level, stop, 0.3 / w);
        if is_close {
            continue;
        }
        let method = METHODS[case % ADAPTIVE];
        // The flow through a rising law has the sign of its effort, whatever the iteration finds.
        let model = match case % 3 {
            0 => format!(
                "s: Se(sin({w}*time + 0.1) - {level}) -> j: 1 -> rn: R {{ e = f + 0.2*f^3 }}, rl: R(0.5)
                g = j.f"
            ),
            1 => format!("der(phi) = {w}\n start phi = 0.1\n g = sin(phi) - {level}"),
            _ => format!("turn: Sf({w}) -> axle: 1 -> c: C(1e9)\n start c.q = 0.1\n g = sin(c.q) - {level}"),
        };
        let text = format!(
            "model M {{
                {model}
                der(y) = if g > 0 then 1 else 0
                when up: g > 0 {{ n = pre(n) + 1 }}
            }}
            experiment e of M {{ stop = {stop}; method = {method}; record y, n }}"
        );
        let outcome = run_text(&text);
        assert_eq!(last(&outcome, "n"), count, "case {case}, {method}\n{text}");
        let error = (last(&outcome, "y") - open).abs();
        assert!(
            error < 1e-6 * stop,
            "case {case}, {method}: {error:e}\n{text}"
        );
    }
}

#[test]
fn whole_numbers_of_a_saw_have_no_other_value_at_its_ends() {
    let (n, mut random) = cases(40, 0x5A3);
    for _ in 0..n {
        let (rate, shift) = (random.between(0.3, 5.0), random.between(-3.0, 3.0));
        let (period, factor) = (random.between(0.5, 1.5), random.between(1.1, 4.0));
        let method = METHODS[random.below(ADAPTIVE)];
        // The saw is never negative, so the first whole number is never below 0, and the second never below 1.
        let outcome = run_text(&format!(
            "model M {{ saw = mod({rate}*time + ({shift}), {period})\n \
             down = floor({factor}*saw)\n up = ceil({factor}*saw)\n der(x) = -x\n start x = 1\n \
             when a: down < -0.5 {{ n = pre(n) + 1 }}\n when b: up < 0.5 {{ m = pre(m) + 1 }} }}\n\
             experiment e of M {{ stop = 40; method = {method}; record n, m }}"
        ));
        assert_eq!([last(&outcome, "n"), last(&outcome, "m")], [0.0, 0.0]);
    }
}

#[test]
fn a_gate_that_an_event_moves_is_searched_anew() {
    // The level of the gate is moved by a state event, and a deadline is set by one: both are held values.
    let outcome = run_text(
        "model M {
            der(x) = 1
            when half: x > 5.003 { level = 0.5; due = time + 1.25 }
            when late: time > due and level > 0 { n = pre(n) + 1; at = time }
            der(y) = if sin(60*time) > level then 1 else 0
        }
        experiment e of M { stop = 10; record y, n, at }",
    );
    let (first, ..) = gate(
        &|t| (60.0 * t).sin() * f64::from(u8::from(t < 5.003)),
        10.0,
        1e-3,
    );
    let (second, ..) = gate(
        &|t| f64::from(u8::from(t > 5.003)) * ((60.0 * t).sin() - 0.5),
        10.0,
        1e-3,
    );
    assert_close(last(&outcome, "y"), first + second, 1e-7);
    assert_eq!(last(&outcome, "n"), 1.0);
    assert_close(last(&outcome, "at"), 6.253, 1e-9);
}

#[test]
fn sixty_periods_have_a_hundred_and_twenty_events() {
    let outcome = run_text(
        "model A { s: Se(if sin(376.99111843077515*time - 1) > 0.3 then 1 else 0) -> j: 1 -> r: R(1), c: C(1) }
        experiment e of A { stop = 1; record c.e }",
    );
    let work = &outcome.run.statistics;
    assert_eq!(work.time_events + work.state_events, 120);
}

/// Circuits at rest that a source sets in motion, with a law that has another branch on either side of zero.
#[test]
fn first_crossings_of_circuits_at_rest_are_taken() {
    let (n, mut random) = cases(150, 24);
    for case in 0..n {
        let mut number = |low: f64, high: f64| random.between(low, high);
        let (w, k, a) = (number(0.5, 8.0), number(0.1, 1.0), number(0.2, 5.0));
        let (ron, roff) = (number(0.05, 0.5), number(2.0, 30.0));
        let (c, l) = (number(0.2, 3.0), number(0.1, 2.0));
        let sign = if case % 2 == 0 { 1.0 } else { -1.0 };
        let source = match (case / 2) % 4 {
            0 => format!("{sign}*{a}*sin({w}*time)"),
            1 => format!("{sign}*{a}*time"),
            2 => format!("{sign}*{a}*(1 - exp(-{w}*time))"),
            _ => format!("{sign}*{a}*time^2"),
        };
        let law = match (case / 8) % 4 {
            0 => format!("d: D(Ron = {ron}, Roff = {roff})"),
            1 => format!("d: R {{ e = if f > 0 then {ron}*f else {roff}*f }}"),
            2 => format!("d: R {{ e = {ron}*max(f, 0) + {roff}*min(f, 0) }}"),
            _ => format!("d: R {{ e = 0.5*({ron} + {roff})*f + 0.5*({ron} - {roff})*abs(f) }}"),
        };
        let others = match (case / 32) % 3 {
            0 => format!("c: C({c})"),
            1 => format!("l: I({l}), c: C({c})"),
            _ => format!("r: R({l})"),
        };
        let method = METHODS[case % ADAPTIVE];
        let text = format!(
            "model M {{
                s: Se({source}) -> j: 1 -> rn: R {{ e = f + {k}*f^3 }}, {law}, {others}
                der(y) = 1
                when on: j.f > 0 {{ n = pre(n) + 1 }}
            }}
            experiment e of M {{ stop = 3; output_step = 0.01; rtol = 1e-8; method = {method}; record j.f, d.e, n }}"
        );
        let outcome = run_text(&text);
        let (f, e) = (column(&outcome, "j.f"), column(&outcome, "d.e"));
        let size = kit::size(f);
        let mut count = 0.0;
        let mut was_positive = false;
        for (row, (&f, &e)) in f.iter().zip(e).enumerate() {
            let law = if f > 0.0 { ron * f } else { roff * f };
            assert!(
                (e - law).abs() <= 1e-6 * roff * size,
                "case {case}, {method}, row {row}: {f} {e}\n{text}"
            );
            if f.abs() > 1e-9 * size {
                count += f64::from(u8::from(f > 0.0 && !was_positive));
                was_positive = f > 0.0;
            }
        }
        // LIMIT: a flow that sets out with no slope, through an inertia or from t², is rounding for the first 1e-17 s: its
        // condition may become true more often there. The law itself is right at every row.
        let sets_out_flat = others.starts_with('l') || source.ends_with("^2");
        if sets_out_flat {
            assert!(
                last(&outcome, "n") >= count,
                "case {case}, {method}\n{text}"
            );
        } else {
            assert_eq!(last(&outcome, "n"), count, "case {case}, {method}\n{text}");
        }
    }
}
