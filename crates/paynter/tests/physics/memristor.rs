//! The memristor remembers what has passed, and keeps no energy.

use crate::kit::{column, messages, run_text};

/// Reads the end of a column.
fn last(outcome: &paynter::experiment::Outcome, name: &str) -> f64 {
    *column(outcome, name).last().expect("something is recorded")
}

/// A voltage U sin ωt drives e = (a + b q) f: the flux φ = ∫ e dt = a q + b q²/2 gives q in closed form.
#[test]
fn charge_follows_from_flux() {
    let (a, b, amplitude, omega): (f64, f64, f64, f64) = (100.0, 2e4, 5.0, 40.0);
    let outcome = run_text(&format!(
        "model Circuit {{ s: Se({amplitude}*sin({omega}*time)) -> j: 1 -> m: M {{ e = ({a} + {b}*q)*f }}; start m.q = 0 }}
         experiment go of Circuit {{ stop = 0.1; rtol = 1e-10; record m.q, m.f, m.energy }}"
    ));
    let flux = amplitude / omega * (1.0 - (omega * 0.1).cos());
    let q = ((a * a + 2.0 * b * flux).sqrt() - a) / b;
    let f = amplitude * (omega * 0.1).sin() / (a + b * q);
    assert!((last(&outcome, "m.q") - q).abs() < 1e-8 * q, "{q}");
    assert!((last(&outcome, "m.f") - f).abs() < 1e-7 * f.abs(), "{f}");

    // Everything that went in is lost: the audit has no storage to look at.
    let audit = outcome.run.audit.as_ref().expect("there is one");
    assert!(audit.is_good(), "{}", audit.relative());
    assert!(last(&outcome, "m.energy") > 0.0);
    assert_eq!(outcome.run.states[0], "m.q");
}

/// The dual: f = (g + h p) e driven by a flow has q = g p + h p²/2.
#[test]
fn flux_follows_from_charge() {
    let (g, h, rate): (f64, f64, f64) = (0.01, 0.3, 2e-3);
    let outcome = run_text(&format!(
        "model Circuit {{ s: Sf({rate}) -> j: 0 -> m: M {{ f = ({g} + {h}*p)*e }}; start m.p = 0 }}
         experiment go of Circuit {{ stop = 2; rtol = 1e-10; record m.p }}"
    ));
    let charge = rate * 2.0;
    let p = ((g * g + 2.0 * h * charge).sqrt() - g) / h;
    assert!((last(&outcome, "m.p") - p).abs() < 1e-8 * p, "{p}");
}

/// A memory does not set strokes: in series with a coil the law is used as it is written, driven by the coil's flow.
#[test]
fn a_coil_drives_it() {
    // L f' = −(a + b q) f, so that L f + a q + b q²/2 is constant.
    let outcome = run_text(
        "model M { j: 1 -> l: I(0.5), m: M { e = (3 + 2*q)*f }; start l.f = 4; start m.q = 0 }
         experiment go of M { stop = 3; rtol = 1e-10; record l.f, m.q }",
    );
    let (f, q) = (last(&outcome, "l.f"), last(&outcome, "m.q"));
    assert!((0.5 * f + 3.0 * q + q * q - 2.0).abs() < 1e-8, "{f} {q}");
}

/// `M(r)` with a constant is a resistor that counts charge.
#[test]
fn a_constant_counts_charge() {
    let outcome = run_text(
        "units strict
         model Circuit { s: Se(6 [V]) -> j: 1 -> m: M(3 [ohm]) }
         experiment go of Circuit { stop = 2 [s]; record m.q [C] }",
    );
    assert!((last(&outcome, "m.q") - 4.0).abs() < 1e-12);
}

#[test]
fn what_cannot_be_meant_is_said() {
    let about = |body: &str| {
        let text =
            format!("model X {{ s: Se(1) -> j: 1 -> {body} }}\nexperiment e of X {{ stop = 1 }}");
        messages(&text).1
    };
    let no_law = about("m: M");
    assert!(no_law.contains("this M has no value"), "{no_law}");
    assert!(
        no_law.contains("write a law: `M { e = (a + b*q)*f }`"),
        "{no_law}"
    );
    let wrong = about("m: M { q = 2*e }");
    assert!(wrong.contains("a law of M gives `e`"), "{wrong}");
    let momentum = about("m: M { e = p*f }");
    assert!(momentum.contains('p'), "{momentum}");
    // What a message offers must be there: one that remembers q has no p.
    let other = about("m: M { e = (1 + q)*f }; output x = m.p");
    assert!(
        other.contains("`.e .f .q .power .energy` can be read"),
        "{other}"
    );
    let creates = about("m: M { e = -(1 + q^2)*f }");
    assert!(creates.contains("power"), "{creates}");
}

/// A model called `M` is meant where there is one, but for what has a law in braces: `a_coil_drives_it` is called so itself.
#[test]
fn a_model_may_be_called_so() {
    let outcome = run_text(
        "model M { port p: electrical = j; j: 1 -> r: R(2) }
         model Top { m: M(); s: Se(4) -> m.p; output f = s.f }
         experiment e of Top { stop = 1; record f }",
    );
    assert!((last(&outcome, "f") - 2.0).abs() < 1e-12);
}
