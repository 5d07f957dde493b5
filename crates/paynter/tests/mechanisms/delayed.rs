//! Delayed differentiation is the scheme of Tiernego and van Dixhoorn (1979): step by step the recurrence that it stands for, of first
//! order, stable below the gain that the method bears and refused beyond.

use crate::kit::{self, column, messages, run_text};

/// A mass with another one behind a lever, a damper and a force.
struct Lever {
    m: f64,
    n: f64,
    k: f64,
}

const FORCE: f64 = 3.0;
const DAMPING: f64 = 0.7;

impl Lever {
    fn gain(&self) -> f64 {
        self.k * self.k * self.n / self.m
    }

    fn text(&self, method: &str, step: f64) -> String {
        let Lever { m, n, k } = self;
        format!(
            "model M {{
    push: Se({FORCE}) -> a: 1 -> m: I({m}), r: R({DAMPING})
    a -> TF({k}) -> b: 1 -> n: I({n})
}}
experiment e of M {{
    stop = 0.4 [s]; output_step = {step} [s]; method = {method}(step = {step} [s]); constraints = delayed(n.p)
    record m.p as p, n.p as pn
    start m.p = 1
}}"
        )
    }

    /// The recurrence, written out.
    fn by_hand(&self, method: &str, h: f64, n_steps: usize) -> Vec<f64> {
        let other = |p: f64| self.k * self.n * p / self.m;
        let rate = |p: f64, held: f64| FORCE - DAMPING * p / self.m - self.k * held;
        let (mut p, mut held, mut before) = (1.0, 0.0, None);
        let mut all = vec![p];
        for _ in 0..n_steps {
            let f = rate(p, held);
            let next = match (method, before) {
                ("euler", _) => p + h * f,
                ("ab2", Some(f_before)) => p + h * (1.5 * f - 0.5 * f_before),
                ("ab2", None) => p + 0.5 * h * (f + rate(p + h * f, held)),
                _ => {
                    let k2 = rate(p + 0.5 * h * f, held);
                    let k3 = rate(p + 0.5 * h * k2, held);
                    let k4 = rate(p + h * k3, held);
                    p + h / 6.0 * (f + 2.0 * k2 + 2.0 * k3 + k4)
                }
            };
            held = (other(next) - other(p)) / h;
            before = Some(f);
            p = next;
            all.push(p);
        }
        all
    }
}

#[test]
fn every_step_is_that_of_the_recurrence() {
    let lever = Lever {
        m: 2.0,
        n: 0.6,
        k: 0.8,
    };
    for method in ["euler", "ab2", "rk4"] {
        let outcome = run_text(&lever.text(method, 0.02));
        let expected = lever.by_hand(method, 0.02, 20);
        let found = column(&outcome, "p");
        assert_eq!(found.len(), expected.len(), "{method}");
        for (k, (a, b)) in found.iter().zip(&expected).enumerate() {
            assert!((a - b).abs() < 1e-12, "{method}, step {k}: {a} {b}");
        }
        let gain = outcome.loop_gain.expect("it has a loop");
        assert!((gain.high - lever.gain()).abs() < 1e-14, "{gain:?}");
    }
}

#[test]
fn the_error_falls_with_the_step() {
    let lever = Lever {
        m: 2.0,
        n: 0.6,
        k: 0.8,
    };
    // m' p' = F − R p/m with the inertia m' of both.
    let (both, t) = (1.0 + lever.gain(), 0.4);
    let rest = FORCE * lever.m / DAMPING;
    let exact = rest + (1.0 - rest) * (-DAMPING * t / (lever.m * both)).exp();
    let error = |h: f64| {
        let outcome = run_text(&lever.text("ab2", h));
        (kit::last(&outcome, "p") - exact).abs()
    };
    let ratio = error(0.01) / error(0.005);
    assert!((1.9..2.1).contains(&ratio), "{ratio}");
}

#[test]
fn gains_at_the_limit_are_refused() {
    // The larger inertia is the independent one; the lever makes the other large.
    let of_gain = |gain: f64| Lever {
        m: 1.0,
        n: 0.5,
        k: (2.0 * gain).sqrt(),
    };
    for (method, below, beyond) in [
        ("euler", 0.99, 1.01),
        ("rk4", 0.99, 1.01),
        ("ab2", 0.49, 0.51),
    ] {
        run_text(&of_gain(below).text(method, 0.01));
        let (found, text) = messages(&of_gain(beyond).text(method, 0.01));
        assert!(found.iter().any(|m| m.code == "E0763"), "{method}: {text}");
    }
}

#[test]
fn what_is_not_named_is_solved_for() {
    // 2 and 3 move with 4 at once and 1 is delayed: 1/(4 + 2 + 3).
    let text = "model M {
    Se(1) -> a: 1 -> big: I(4), two: I(2), three: I(3), one: I(1)
}
experiment e of M {
    stop = 1 [s]; method = euler(step = 10 [ms]); constraints = delayed(one.p)
    record a.f as v
}";
    let outcome = run_text(text);
    let gain = outcome.loop_gain.expect("it has a loop");
    assert!((gain.high - 1.0 / 9.0).abs() < 1e-14, "{gain:?}");
    // The first step sees nine masses, the others ten but for the step.
    let v = kit::last(&outcome, "v");
    assert!((v - 0.1).abs() < 1e-3, "{v}");
}
