//! Laws of sampled loops: poles, margins and steps against closed forms and against runs of the model itself.

use crate::kit::{assert_close, column, gallery, run_text, scratch};
use paynter::linear::{
    LinearError, Linearization, LoopReport, bode, linear_request, linearize, loop_margins, steps,
};
use paynter::linear_algebra::{Complex, eigenvalues};
use paynter::syntax::render;
use paynter::{Choice, Design, DesignError, LinearChoice};
use std::f64::consts::PI;
use std::path::Path;

struct Asked<'a> {
    from: &'a str,
    to: &'a str,
    cut: &'a str,
    quantiser_gain: Option<f64>,
}

const NOTHING: Asked<'static> = Asked {
    from: "",
    to: "",
    cut: "",
    quantiser_gain: None,
};

fn open(path: &Path, experiment: Option<&str>, asked: &Asked<'_>) -> Design {
    let given = |s: &str| (!s.is_empty()).then(|| s.to_owned());
    let choice = Choice {
        experiment: experiment.map(str::to_owned),
        linear: Some(LinearChoice {
            from: given(asked.from),
            to: given(asked.to),
            cut: given(asked.cut),
            quantiser_gain: asked.quantiser_gain,
            ..LinearChoice::default()
        }),
        ..Choice::default()
    };
    paynter::design(path, &choice).unwrap_or_else(|e| match e {
        DesignError::Model(f) => panic!("{}", render(&f.diagnostics, &f.sources, false)),
        DesignError::Unreadable(message) => panic!("{message}"),
    })
}

fn linear(text: &str, from: &str, to: &str) -> Linearization {
    let file = scratch(text);
    let design = open(
        &file.0,
        None,
        &Asked {
            from,
            to,
            ..NOTHING
        },
    );
    made(&design).unwrap_or_else(|e| {
        let messages = e.into_messages();
        panic!("{}", render(&messages, &design.project.sources, false))
    })
}

fn made(design: &Design) -> Result<Linearization, LinearError> {
    let compiled = design.compile().expect("compiles");
    linearize(design, &compiled, &linear_request(design, None, false))
}

fn margins_at(text: &str, cut: &str) -> Result<LoopReport, String> {
    let file = scratch(text);
    let design = open(&file.0, None, &Asked { cut, ..NOTHING });
    let compiled = design.compile().expect("compiles");
    loop_margins(&design, &compiled, &design.linear.cut[0], None)
        .map_err(|e| e.into_messages()[0].code.to_owned())
}

fn poles(linear: &Linearization) -> Vec<Complex> {
    eigenvalues(&linear.model.a).expect("finite")
}

/// An integrator held at a rate, with a gain and some ticks of delay.
fn integrator(gain: f64, hertz: u32, delay: usize) -> String {
    let stages: String = (0..delay)
        .map(|k| {
            format!(
                "d{} = pre({})\n",
                k + 1,
                if k == 0 { "u".into() } else { format!("d{k}") }
            )
        })
        .collect();
    let last = if delay == 0 {
        "u".to_owned()
    } else {
        format!("d{delay}")
    };
    format!(
        "model M {{
            input r = 0
            drive = {last}
            sensed = x
            sample at {hertz} [Hz] {{
                u = {gain}*(r - sensed)
                {stages}
            }}
            der(x) = drive
            output y = x
        }}
        experiment e of M {{ stop = 1 [s]; record x }}"
    )
}

#[test]
fn margins_of_a_held_integrator_with_delay_are_exact() {
    for (gain, hertz, delay) in [(3.0, 10, 1), (0.7, 4, 2), (20.0, 100, 0), (5.0, 50, 5)] {
        let step = 1.0 / f64::from(hertz);
        let text = integrator(gain, hertz, delay);
        let d = delay as f64;
        // L = K T z⁻ᵈ/(z − 1): arg L = −π/2 − (d + ½) ωT, |L| = K T/(2 sin(ωT/2)).
        let omega = PI / (2.0 * d + 1.0) / step;
        let margin = 2.0 * (omega * step / 2.0).sin() / (gain * step);
        let crossing = 2.0 * (gain * step / 2.0).asin() / step;
        let phase = PI / 2.0 - (d + 0.5) * crossing * step;
        let last = if delay == 0 {
            "u".to_owned()
        } else {
            format!("d{delay}")
        };
        for cut in ["u", &last, "drive", "sensed"] {
            let report = margins_at(&text, cut).unwrap_or_else(|c| panic!("{cut}: {c}"));
            let found = report.margins.gain_margin().expect("it crosses");
            assert_close(found.gain_margin, margin, 1e-11);
            assert_close(found.omega, omega, 1e-9);
            let found = report.margins.phase_margin().expect("it crosses");
            assert_close(found.omega, crossing, 1e-11);
            assert_close(found.phase_margin, phase, 1e-10);
            assert_eq!(report.is_stable(), margin > 1.0, "{cut}");
            assert_eq!(report.linear.step(), Some(step));
        }
    }
}

#[test]
fn a_gain_at_the_margin_puts_a_pole_on_the_circle() {
    for delay in [0, 1, 3] {
        let report = margins_at(&integrator(2.0, 20, delay), "u").expect("a loop");
        let factor = report.margins.gain_margin().expect("crosses").gain_margin;
        let m = linear(&integrator(2.0 * factor, 20, delay), "r", "x");
        let largest = poles(&m).iter().map(|p| p.norm()).fold(0.0, f64::max);
        assert_close(largest, 1.0, 1e-9);
    }
}

#[test]
fn poles_of_a_held_lag_are_those_of_its_difference_equation() {
    // x' = u − x under u(k) = −3 x(k−1): z² − a z + 3 b = 0 with a = e⁻ᵀ, b = 1 − a.
    let text = "model M {
        input r = 0
        sample at 5 [Hz] { y = x; u = 3*(r - pre(y)) }
        der(x) = u - x
    }
    experiment e of M { stop = 1 [s]; record x }";
    let m = linear(text, "r", "x");
    let a = (-0.2_f64).exp();
    let b = 1.0 - a;
    let disc = a * a - 12.0 * b;
    assert!(disc < 0.0);
    let found = poles(&m);
    assert_eq!(found.len(), 2);
    assert_close(found[0].re, a / 2.0, 1e-14);
    assert_close(found[0].im, (-disc).sqrt() / 2.0, 1e-14);
    // From r to x at the ticks: 3 b z/(z² − a z + 3 b); the gain at rest is 3/4.
    let file = scratch(text);
    let design = open(
        &file.0,
        None,
        &Asked {
            from: "r",
            to: "x",
            ..NOTHING
        },
    );
    let m = made(&design).expect("a linear form");
    let curve = &bode(&design, &m, Some((0.1, 5.0 * PI)))
        .expect("finite")
        .channels[0];
    assert_close(curve.at_rest.expect("finite"), 0.75, 1e-13);
    for (w, value) in curve.sweep.omega.iter().zip(&curve.sweep.values) {
        let z = Complex::new((w * 0.2).cos(), (w * 0.2).sin());
        let exact = z * (3.0 * b) / (z * z - z * a + 3.0 * b);
        assert!((*value - exact).norm() < 1e-12 * exact.norm(), "{w}");
    }
}

const MULTIRATE: &str = "model M {
    param k = 2
    input r = 0
    sample at 20 [Hz] { f = 0.5*pre(f) + 0.5*x }
    sample at 10 [Hz] { u = k*(r - f) }
    der(x) = u - x
    output y = x
}
experiment e of M { with r = 1; stop = 3 [s]; output_step = 0.1 [s]; record x, u, f; rtol = 1e-11 }";

#[test]
fn two_rates_are_put_together_exactly() {
    // Over 0.1 s, written out: f⁺ = (f + x)/2, u = 2(r − f⁺), half a period, f again, half a period.
    let a = (-0.05_f64).exp();
    let b = 1.0 - a;
    // x₁ = a x + b u, f₂ = (f⁺ + x₁)/2, x₂ = a x₁ + b u with u = −2 f⁺ = −(f + x).
    let x1 = [a - b, -b];
    let x2 = [a * x1[0] - b, a * x1[1] - b];
    let f2 = [0.5 * (0.5 + x1[0]), 0.5 * (0.5 + x1[1])];
    let (trace, det) = (x2[0] + f2[1], x2[0] * f2[1] - x2[1] * f2[0]);
    let m = linear(MULTIRATE, "r", "x");
    let found = poles(&m);
    assert_eq!(found.len(), 2);
    assert_eq!(m.step(), Some(0.1));
    let sum: Complex = found[0] + found[1];
    let product = found[0] * found[1];
    assert_close(sum.re, trace, 1e-13);
    assert_close(product.re, det, 1e-13);
}

#[test]
fn a_step_of_the_linear_model_is_the_run_of_a_linear_loop() {
    let file = scratch(MULTIRATE);
    let design = open(
        &file.0,
        None,
        &Asked {
            from: "r",
            to: "x,u,f",
            ..NOTHING
        },
    );
    // The point is at rest at r = 0; the run steps to 1 at its start.
    let m = made(&design).expect("a linear form");
    let curves = steps(&design, &m, Some(3.0)).expect("finite");
    let outcome = run_text(MULTIRATE);
    let table = &outcome.run.table;
    for (k, name) in ["x", "u", "f"].iter().enumerate() {
        let values = column(&outcome, name);
        let mut n = 0;
        for (t, y) in table.time.iter().zip(values) {
            // Between two ticks the step shows no left limits; look where both have a point.
            let at = curves.time.iter().position(|s| (s - t).abs() < 1e-9);
            if let Some(at) = at {
                assert!(
                    (curves.curves[k].values[at] - y).abs() < 1e-8,
                    "{name} at {t}"
                );
                n += 1;
            }
        }
        assert!(n > 20, "{n}");
    }
}

#[test]
fn quantisers_count_at_the_stated_gain_and_are_refused_without_one() {
    let text = "model M {
        input r = 0
        sample at 10 [Hz] { u = 0.1*sign(r - x)*floor(abs(r - x)/0.1) }
        der(x) = 3*u
    }
    experiment e of M { stop = 1 [s]; record x }";
    let file = scratch(text);
    let with = |quantiser_gain| {
        let asked = Asked {
            from: "r",
            to: "x",
            quantiser_gain,
            ..NOTHING
        };
        made(&open(&file.0, None, &asked))
    };
    let refused = with(None).expect_err("a quantiser has no slope");
    assert_eq!(refused.into_messages()[0].code, "E0751");
    for gain in [1.0, 0.5, 1.27] {
        let m = with(Some(gain)).expect("a linear form");
        assert_close(poles(&m)[0].re, 1.0 - 0.3 * gain, 1e-14);
        assert!(
            m.warnings.is_empty(),
            "sign and abs share their side at zero"
        );
    }
    let stated = text.replace("stop = 1 [s]", "stop = 1 [s]; quantiser_gain = 0.5");
    assert_close(poles(&linear(&stated, "r", "x"))[0].re, 0.85, 1e-14);
}

#[test]
fn a_relay_at_its_threshold_is_a_kink() {
    let text = "model M {
        input r = 0
        sample at 10 [Hz] { u = r - x + 0.02*sign(r - x) }
        der(x) = u
    }
    experiment e of M { stop = 1 [s]; record x }";
    let m = linear(text, "r", "x");
    assert_close(poles(&m)[0].re, 0.9, 1e-14);
    assert_eq!(m.warnings.len(), 1);
    assert_eq!(m.warnings[0].code, "W0753");
}

#[test]
fn generators_of_random_numbers_stand_still() {
    let text = "model M {
        input r = 0
        sample at 10 [Hz] { s = mod(16807*pre(s), 2147483647); u = r - x + 1e-9*s }
        start s = 1
        der(x) = u
    }
    experiment e of M { stop = 1 [s]; record x }";
    let m = linear(text, "r", "x");
    assert_close(poles(&m)[0].re, 0.9, 1e-14);
    assert_eq!(poles(&m).len(), 1);
}

#[test]
fn cuts_that_are_partly_continuous_or_pass_twice_are_refused() {
    let inner = "model M {
        input r = 0
        sample at 10 [Hz] { u = r - x }
        both = u - x
        der(x) = both
    }
    experiment e of M { stop = 1 [s]; record x }";
    assert_eq!(margins_at(inner, "both").err().as_deref(), Some("E0751"));
    assert!(margins_at(inner, "u").is_ok());
    assert_eq!(margins_at(MULTIRATE, "f").err().as_deref(), Some("E0751"));
    assert!(margins_at(MULTIRATE, "u").is_ok());
    let odd = MULTIRATE.replace("20 [Hz]", "20.000001 [Hz]");
    let file = scratch(&odd);
    let design = open(
        &file.0,
        None,
        &Asked {
            from: "r",
            to: "x",
            ..NOTHING
        },
    );
    let refused = made(&design).expect_err("no short common period");
    assert_eq!(refused.into_messages()[0].code, "E0751");
}

#[test]
fn measured_margins_of_sampled_loops_are_those_of_the_command() {
    let text = integrator(3.0, 10, 1).replace(
        "record x",
        "record x; measure g = gain_margin(u), p = phase_margin(u)",
    );
    let report = margins_at(&text, "u").expect("a loop");
    let outcome = run_text(&text);
    let measured = |name: &str| {
        let found = outcome.measures.iter().find(|m| m.name == name);
        found.and_then(|m| m.value).expect("measured")
    };
    assert_close(measured("g"), report.gain_margin().expect("stable"), 1e-12);
    assert_close(
        measured("p"),
        report.phase_margin().expect("stable").to_degrees(),
        1e-12,
    );
}

#[test]
fn the_servo_of_the_gallery_has_margins_at_a_stated_gain() {
    let path = gallery().join("servo/servo.bond");
    let asked = Asked {
        cut: "ctrl.p",
        quantiser_gain: Some(1.0),
        ..NOTHING
    };
    let design = open(&path, Some("ch5_nl_step5_hm6_NL2"), &asked);
    let compiled = design.compile().expect("compiles");
    let report = loop_margins(&design, &compiled, &design.linear.cut[0], Some(1.4));
    let report = report.expect("a loop");
    assert_close(report.linear.step().expect("sampled"), 1.0 / 1200.0, 1e-15);
}
