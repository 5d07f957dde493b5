//! Laws of sensitivities along a run: closed forms to 1e-9, also through blocks, starts and events; refusals.

use crate::kit::{self, run_text, scratch};
use paynter::linear::{LinearError, Sensitivities, Varying, linear_request, sensitivities};
use paynter::syntax::render;
use paynter::{Choice, DesignError, LinearChoice};

fn try_find(text: &str, by: &str, of: &str) -> Result<Sensitivities, String> {
    let file = scratch(text);
    let choice = Choice {
        linear: Some(LinearChoice {
            from: Some(by.to_owned()),
            to: Some(of.to_owned()),
            ..LinearChoice::default()
        }),
        ..Choice::default()
    };
    let design = paynter::design(&file.0, &choice).map_err(|e| match e {
        DesignError::Model(f) => render(&f.diagnostics, &f.sources, false),
        DesignError::Unreadable(message) => message,
    })?;
    let told = |e: LinearError| render(&e.into_messages(), &design.project.sources, false);
    let named = design.linear.from.iter();
    let over: Vec<Varying> = named.map(|q| Varying::of(&design, q)).collect();
    let compiled = design.compile().map_err(|m| told(LinearError::Model(m)))?;
    let to = linear_request(&design, None, false).to;
    sensitivities(&design, &compiled, (&over, &to)).map_err(told)
}

/// Compares the first output's slopes with closed forms f(t), one for each parameter, at every time.
#[track_caller]
fn agree(text: &str, by: &str, of: &str, exact: &[&dyn Fn(f64) -> f64]) {
    let found = try_find(text, by, of).unwrap_or_else(|m| panic!("{m}"));
    assert!(found.time.len() > 10);
    assert_eq!(found.parameters.len(), exact.len());
    for (k, exact) in exact.iter().enumerate() {
        let size = found.time.iter().map(|&t| exact(t).abs());
        let size = size.fold(0.0, f64::max);
        for (t, slope) in found.time.iter().zip(&found.outputs[0].slopes[k]) {
            let d = (slope - exact(*t)).abs();
            let name = &found.parameters[k].name;
            assert!(
                d <= 1e-9 * size,
                "{name} at {t}: {slope} is not {}",
                exact(*t)
            );
        }
    }
}

#[test]
fn decay_follows_its_rate_and_its_start() {
    let text = "model M { param k = 3, a = 2; der(x) = -k*x; start x = a }
        experiment e of M { stop = 1 [s]; record x; rtol = 1e-12 }";
    agree(
        text,
        "k, a",
        "x",
        &[&|t| -2.0 * t * (-3.0 * t).exp(), &|t| (-3.0 * t).exp()],
    );
}

#[test]
fn a_charging_circuit_follows_its_elements_and_demands_on_the_start() {
    // v = V + (v₀ − V) e^{−t/RC}; the start is demanded of the voltage, the state is the charge.
    let text = "model M {
            param R = 2 [kohm], C = 3 [mF], V = 5 [V], v0 = 1 [V]
            Se(V) -> loop: 1 -> R(R), c: C(C)
            start c.e = v0
            output v = c.e
        }
        experiment e of M { stop = 9 [s]; record v; rtol = 1e-12 }";
    let e = |t: f64| (-t / 6.0).exp();
    // In volts per kΩ, per mF, per V.
    agree(
        text,
        "R, C, V, v0",
        "v",
        &[
            &|t| -4.0 * e(t) * t / 12.0,
            &|t| -4.0 * e(t) * t / 18.0,
            &|t| 1.0 - e(t),
            &|t| e(t),
        ],
    );
}

#[test]
fn solved_blocks_are_differentiated_through() {
    // a f + b f³ = 10 t: ∂f/∂a = −f/(a + 3 b f²).
    let text = "model M {
            param a = 2, b = 0.5
            s: Se(10*time) -> j: 1 -> r: R { e = a*f + b*f^3 }
            der(w) = r.f
            output f = r.f
        }
        experiment e of M { stop = 1 [s]; record f; rtol = 1e-12 }";
    let flow = |t: f64| {
        let mut f = 0.0_f64;
        for _ in 0..200 {
            f -= (2.0 * f + 0.5 * f.powi(3) - 10.0 * t) / (2.0 + 1.5 * f * f);
        }
        f
    };
    agree(
        text,
        "a, b",
        "f",
        &[&|t| -flow(t) / (2.0 + 1.5 * flow(t).powi(2)), &|t| {
            -flow(t).powi(3) / (2.0 + 1.5 * flow(t).powi(2))
        }],
    );
}

#[test]
fn derived_parameters_and_dependent_storages_are_followed() {
    // Two masses on one shaft: ω = M t/(J + n J).
    let text = "model M {
            param J = 2, n = 3, M = 5
            param J2 = n*J
            Se(M) -> shaft: 1 -> one: I(J), two: I(J2)
            output w = shaft.f
        }
        experiment e of M { stop = 2 [s]; record w; rtol = 1e-12 }";
    agree(
        text,
        "J, n, M",
        "w",
        &[
            &|t| -5.0 * t / (4.0 * 4.0),
            &|t| -5.0 * t / (2.0 * 16.0),
            &|t| t / 8.0,
        ],
    );
}

const BALL: &str = "model Ball {
        param g = 10, h = 5, c = 0.8
        der(x) = v; der(v) = -g
        start x = h
        when x < 0 { reinit v = -c*v }
    }
    experiment e of Ball { stop = 1.7 [s]; output_step = 0.0501 [s]; record x; rtol = 1e-12 }";

#[test]
fn a_bouncing_ball_follows_everything_through_its_bounce() {
    // t₁ = √(2h/g) = 1; after it x = c g t₁ (t − t₁) − g (t − t₁)²/2.
    let fall = |t: f64| t < 1.0;
    let t1_h = 1.0 / (10.0 * 1.0);
    let t1_g = -1.0 / 20.0;
    // ∂x/∂t₁ after the bounce, c g t₁ explicit as well.
    let by_t1 = |t: f64| 8.0 * (t - 1.0) - 8.0 + 10.0 * (t - 1.0);
    agree(
        BALL,
        "g, h, c",
        "x",
        &[
            &|t| match fall(t) {
                true => -t * t / 2.0,
                false => 0.8 * (t - 1.0) - (t - 1.0).powi(2) / 2.0 + by_t1(t) * t1_g,
            },
            &|t| match fall(t) {
                true => 1.0,
                false => by_t1(t) * t1_h,
            },
            &|t| match fall(t) {
                true => 0.0,
                false => 10.0 * (t - 1.0),
            },
        ],
    );
}

#[test]
fn thresholds_and_switching_times_move_the_motion() {
    let threshold = "model M { param c = 0.4; der(x) = if x < c then 1 else 2 }
        experiment e of M { stop = 1 [s]; output_step = 0.03 [s]; record x; rtol = 1e-12 }";
    agree(
        threshold,
        "c",
        "x",
        &[&|t| if t < 0.4 { 0.0 } else { -1.0 }],
    );
    let instant = "model M { param t0 = 0.4 [s], a = 3; der(x) = step(time, a, at = t0) }
        experiment e of M { stop = 1 [s]; output_step = 0.03 [s]; record x; rtol = 1e-12 }";
    agree(
        instant,
        "t0, a",
        "x",
        &[&|t| if t < 0.4 { 0.0 } else { -3.0 }, &|t| {
            (t - 0.4).max(0.0)
        }],
    );
    // The slope of |x| changes its sign where x passes zero; nothing jumps.
    let corner = "model M { param k = 2; der(x) = -k; start x = 1; output y = abs(x) }
        experiment e of M { stop = 1 [s]; output_step = 0.03 [s]; record y; rtol = 1e-12 }";
    agree(corner, "k", "y", &[&|t| if t < 0.5 { -t } else { t }]);
}

#[test]
fn an_oscillator_with_random_values_agrees_with_its_closed_form() {
    // x = a cos ωt with ω = √(k/m); fixed seed.
    let mut seed = 7_u64;
    let mut random = || {
        seed = seed
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        0.5 + (seed >> 33) as f64 / (1u64 << 31) as f64
    };
    for _ in 0..5 {
        let (k, m, a) = (10.0 * random(), random(), random());
        let w = (k / m).sqrt();
        let text = format!(
            "model M {{
                param k = {k}, m = {m}, a = {a}
                v: 1 -> I(m), s: C(1/k)
                start s.q = a
                output x = s.q
            }}
            experiment e of M {{ stop = 3 [s]; record x; rtol = 1e-12 }}"
        );
        agree(
            &text,
            "k, m, a",
            "x",
            &[
                &|t| -a * t * (w * t).sin() * w / (2.0 * k),
                &|t| a * t * (w * t).sin() * w / (2.0 * m),
                &|t| (w * t).cos(),
            ],
        );
    }
}

#[test]
fn several_bounces_agree_with_differences_of_runs() {
    let text = BALL.replace("stop = 1.7", "stop = 4.1");
    let found = try_find(&text, "c", "x").unwrap_or_else(|m| panic!("{m}"));
    assert!(found.n_events >= 3);
    let end = |c: f64| {
        let outcome = run_text(&text.replace("c = 0.8", &format!("c = {c:?}")));
        *kit::column(&outcome, "x").last().expect("a row")
    };
    // Fourth-order differences.
    let h = 1e-3;
    let slope = (8.0 * (end(0.8 + h) - end(0.8 - h)) - (end(0.8 + 2.0 * h) - end(0.8 - 2.0 * h)))
        / (12.0 * h);
    let own = *found.outputs[0].slopes[0].last().expect("a row");
    assert!((own - slope).abs() < 1e-6 * slope.abs(), "{own} {slope}");
}

#[test]
fn what_cannot_be_followed_is_refused() {
    let run = "experiment e of M { stop = 1 [s]; record x }";
    for (model, by) in [
        (
            "model M { param k = 1; sample at 10 [Hz] { u = k*x }; der(x) = -u }",
            "k",
        ),
        (
            "model M { param k = 1; der(x) = -k*n; when x < -0.5 { n = pre(n) + x } }",
            "k",
        ),
        ("model M { param k = 1; der(x) = -k }", "x"),
        ("model M { param k = 1; der(x) = -k }", "2*k"),
        (
            "model M { param n = 3; der(x) = -sum(i for i in 1 .. n) }",
            "n",
        ),
        (
            "model M { param k = 1; s: Se(sin(9*time)) -> a: 1 -> d: D(), r: R(k), c: C(1); x = c.q }",
            "k",
        ),
    ] {
        let told = try_find(&format!("{model}\n{run}"), by, "x");
        let told = told.err().unwrap_or_else(|| "nothing".to_owned());
        let is_refused = told.contains("E0761") || told.contains("E0724") || told.contains("E02");
        assert!(is_refused, "{model} by {by}: {told}");
    }
    assert!(
        try_find(
            "model M { param k = 1; der(x) = -k }\nexperiment e of M { stop = 1 [s]; record x }",
            "q",
            "x"
        )
        .is_err()
    );
}

/// A complex number with what a complex step of a pendulum needs.
#[derive(Clone, Copy)]
struct Complex(f64, f64);

impl Complex {
    fn plus(self, other: Complex) -> Complex {
        Complex(self.0 + other.0, self.1 + other.1)
    }
    fn times(self, other: Complex) -> Complex {
        Complex(
            self.0 * other.0 - self.1 * other.1,
            self.0 * other.1 + self.1 * other.0,
        )
    }
    fn scaled(self, factor: f64) -> Complex {
        Complex(factor * self.0, factor * self.1)
    }
    fn sin(self) -> Complex {
        Complex(self.0.sin() * self.1.cosh(), self.0.cos() * self.1.sinh())
    }
}

/// x'' = −k sin x − b x'³ from x = a, by classical Runge-Kutta steps of 1e-4 s, whose error at 2 s is below 1e-14.
fn pendulum(k: Complex, b: Complex, a: Complex) -> Complex {
    const STEPS: usize = 20_000;
    let h = 2.0 / STEPS as f64;
    let rate = |x: Complex, v: Complex| {
        let drag = b.times(v.times(v).times(v));
        (v, k.times(x.sin()).plus(drag).scaled(-1.0))
    };
    let (mut x, mut v) = (a, Complex(0.0, 0.0));
    for _ in 0..STEPS {
        let at = |(p, q): (Complex, Complex), part: f64| {
            rate(x.plus(p.scaled(part * h)), v.plus(q.scaled(part * h)))
        };
        let k1 = rate(x, v);
        let k2 = at(k1, 0.5);
        let k3 = at(k2, 0.5);
        let k4 = at(k3, 1.0);
        let sum = |f: &dyn Fn((Complex, Complex)) -> Complex| {
            let middle = f(k2).plus(f(k3)).scaled(2.0);
            f(k1).plus(middle).plus(f(k4)).scaled(h / 6.0)
        };
        (x, v) = (x.plus(sum(&|k| k.0)), v.plus(sum(&|k| k.1)));
    }
    x
}

#[test]
fn a_pendulum_agrees_with_the_complex_step() {
    let text = "model M { param k = 9.81, b = 0.3, a = 1.2
          der(x) = v; der(v) = -k*sin(x) - b*v^3; start x = a, v = 0 }
        experiment e of M { stop = 2 [s]; record x; rtol = 1e-12; method = dop853 }";
    let found = try_find(text, "k, b, a", "x").unwrap_or_else(|m| panic!("{m}"));
    const STEP: f64 = 1e-30;
    let real = [9.81, 0.3, 1.2];
    for (number, slopes) in found.outputs[0].slopes.iter().enumerate() {
        let at = |j: usize| Complex(real[j], if j == number { STEP } else { 0.0 });
        let exact = pendulum(at(0), at(1), at(2)).1 / STEP;
        let last = slopes[slopes.len() - 1];
        let name = &found.parameters[number].name;
        assert!(
            (last - exact).abs() <= 1e-9 * exact.abs(),
            "{name}: {last} is not {exact}"
        );
    }
}

#[test]
fn a_parameter_that_varies_by_itself_leaves_its_binding() {
    // x' = a + 10 b with b = 3 a: b varied beside a does not follow it.
    let text = "model M { param a = 2, b = 3*a; der(x) = a + 10*b; start x = 0 }
        experiment e of M { stop = 1 [s]; record x }";
    agree(text, "a, b", "x", &[&|t| t, &|t| 10.0 * t]);
    agree(text, "a", "x", &[&|t| 31.0 * t]);
}
