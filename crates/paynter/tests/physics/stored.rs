//! Stored energy, as a law: it is the work of the law between two states, whatever the law does below them, and takes
//! bounded work.

use crate::kit::{Seeded, assert_close, column, design, last, messages, run_text};
use paynter::exec::Engine;
use paynter::experiment::{lay_out, run_spec};
use paynter::simulate::{prepare, simulate};
use std::ops::ControlFlow;

#[test]
fn law_without_a_value_at_zero_runs_where_it_has_one() {
    let outcome = run_text(
        "model M { n: 0 -> c: C { e = sqrt(q - 1) }, r: R(1); start c.q = 3 }
         experiment e of M { stop = 1; rtol = 1e-10; record c.q, c.stored }",
    );
    // √(q − 1) = √2 − t/2
    let q = 1.0 + (2f64.sqrt() - 0.5).powi(2);
    assert_close(last(&outcome, "c.q"), q, 1e-8);
    let energy = |q: f64| (q - 1.0).powf(1.5) / 1.5;
    let stored = column(&outcome, "c.stored");
    assert_close(stored[0], 0.0, 0.0);
    assert_close(last(&outcome, "c.stored"), energy(q) - energy(3.0), 1e-8);
    let audit = outcome.run.audit.as_ref().expect("there is power");
    assert!(audit.is_good(), "{audit:?}");
    assert_close(audit.stored, energy(q) - energy(3.0), 1e-8);
}

#[test]
fn law_without_a_value_at_the_state_is_named() {
    for (law, start) in [("sqrt(q)", "-1"), ("1000*tanh(q)", "1/0"), ("log(q)", "-2")] {
        let text = format!(
            "model M {{ n: 0 -> c: C {{ e = {law} }}, r: R(1); start c.q = {start} }}
             experiment e of M {{ stop = 1; record c.q }}"
        );
        let (found, words) = messages(&text);
        assert!(!found.is_empty(), "{text}");
        assert!(words.contains("`c."), "{words}");
    }
}

#[test]
fn charges_that_repel_store_the_work_done_since_the_start() {
    let outcome = run_text(
        "model H { v: 1 -> m: I(1), c: C { e = -1/q^2 }; start v.f = -0.1, c.q = 1 }
         experiment e of H { stop = 1; rtol = 1e-10; record c.q, c.stored, m.stored, system.energy }",
    );
    let (q, stored) = (column(&outcome, "c.q"), column(&outcome, "c.stored"));
    for (q, stored) in q.iter().zip(stored) {
        assert_close(*stored, 1.0 / q - 1.0, 1e-9);
    }
    for energy in column(&outcome, "system.energy") {
        assert_close(*energy, 0.005, 1e-9);
    }
    let audit = outcome.run.audit.as_ref().expect("there is power");
    assert!(audit.is_good(), "{audit:?}");
}

#[test]
fn logarithm_may_start_at_its_pole() {
    // The law is −∞ at q = 0, but its work from there is finite: q log q − q.
    let outcome = run_text(
        "model M { s: Sf(1) -> n: 0 -> c: C { e = log(q) }; start c.q = 0 }
         experiment e of M { stop = 1; rtol = 1e-10; record c.q, c.stored }",
    );
    assert_close(last(&outcome, "c.stored"), -1.0, 1e-9);
    let audit = outcome.run.audit.as_ref().expect("there is power");
    assert_close(audit.stored, -1.0, 1e-9);
}

/// A law with its energy, both as functions of q in the language; around q = 2 it holds back.
fn random_law(seeded: &mut Seeded) -> (String, String) {
    let a = 0.5 + seeded.below(100) as f64 / 50.0;
    let laws = [
        ("-A/q^2", "A/q"),
        ("-A*q^(-1.4)", "A/0.4*q^(-0.4)"),
        ("A*log(q/3)", "A*(q*log(q/3) - q)"),
        ("A*sqrt(q - 1)", "A*(q - 1)^1.5/1.5"),
        ("A/(5 - q)", "-A*log(5 - q)"),
        ("A*tanh(q)", "A*log(cosh(q))"),
        ("A*q^3", "A*q^4/4"),
        ("A*exp(q/2)", "2*A*exp(q/2)"),
        ("A*q/sqrt(1 + q^2)", "A*sqrt(1 + q^2)"),
        (
            "if q < 2 then A*q else A*(3*q - 4)",
            "if q < 2 then A*q^2/2 else A*(1.5*q^2 - 4*q + 4)",
        ),
        ("A*(q + 0.2*sin(30*q))", "A*(q^2/2 - cos(30*q)/150)"),
        ("A*q*abs(q)", "A*q^2*abs(q)/3"),
    ];
    let (law, energy) = laws[seeded.below(laws.len())];
    let a = format!("{a}");
    (law.replace('A', &a), energy.replace('A', &a))
}

/// Cells of a mass on a storage that rests near q = 2, joined by resistors.
fn random_network(seed: u64) -> (String, usize) {
    let mut seeded = Seeded(seed);
    let n = 1 + seeded.below(3);
    let mut text = String::from("model M {\n");
    for k in 0..n {
        let (law, energy) = random_law(&mut seeded);
        let at_rest = law.replace('q', "2").replace("s2rt", "sqrt");
        let speed = 0.1 + 0.02 * seeded.below(20) as f64;
        text += &format!(
            "  push{k}: Se({at_rest}) -> v{k}: 1 -> m{k}: I(1), c{k}: C {{ e = {law} }}, d{k}: R(0.05)\n"
        );
        let energy = energy
            .replace('q', &format!("c{k}.q"))
            .replace(&format!("sc{k}.qrt"), "sqrt");
        text += &format!("  h{k} = {energy}\n  start c{k}.q = 2, v{k}.f = {speed}\n");
        if k > 0 {
            text += &format!("  v{} -> n{k}: 0 -> v{k}; n{k} -> r{k}: R(3)\n", k - 1);
        }
    }
    text += "}\nexperiment e of M { stop = 5; rtol = 1e-9; output_step = 0.5; record ";
    let columns: Vec<String> = (0..n).map(|k| format!("c{k}.stored, h{k}")).collect();
    text += &columns.join(", ");
    text += " }\n";
    (text, n)
}

#[test]
fn random_laws_store_their_closed_form() {
    for seed in 0..60 {
        let (text, n) = random_network(seed);
        let outcome = run_text(&text);
        for k in 0..n {
            let stored = column(&outcome, &format!("c{k}.stored"));
            let exact = column(&outcome, &format!("h{k}"));
            for (a, b) in stored.iter().zip(exact) {
                let scale = exact[0].abs().max(1.0);
                assert_close(a - stored[0], b - exact[0], 1e-9 * scale);
            }
        }
        let audit = outcome.run.audit.as_ref().expect("there is power");
        assert!(audit.is_good(), "{audit:?}\n{text}");
    }
}

/// Runs a text; gives panels of quadratures, steps and the audit's verdict.
fn work_of(text: &str) -> (u64, u64, bool) {
    let design = design(text);
    let compiled = design.compile().expect("it compiles");
    let layout = lay_out(&design.plan);
    let spec = run_spec(&design.plan, &layout, &[], Engine::Auto);
    let mut machine = prepare(&compiled, &spec).expect("it can be prepared");
    let run = simulate(&mut machine, &compiled, &spec, &mut |_| {
        ControlFlow::Continue(())
    });
    let run = run.expect("it starts");
    let audit = run.audit.expect("there is power");
    assert!(audit.is_good(), "{audit:?}\n{text}");
    (
        machine.panels_of_stored_energy(),
        run.statistics.steps as u64,
        audit.is_good(),
    )
}

#[test]
fn cogging_rotor_takes_bounded_work_with_and_without_a_closed_form() {
    let rotor = |law: &str| {
        format!(
            "model T {{ shaft: 1 -> j: I(0.01), cog: C {{ e = {law} }}; start shaft.f = 300 }}
             experiment e of T {{ stop = 1; rtol = 1e-9; record shaft.f }}"
        )
    };
    let (panels, ..) = work_of(&rotor("0.1*sin(24*q)"));
    assert_eq!(panels, 0);
    let (panels, steps, _) = work_of(&rotor("0.1*sin(24*q + 0.1*sin(q))"));
    assert!(
        panels > 0 && panels < 64 * steps,
        "{panels} panels in {steps} steps"
    );
}

#[test]
fn smooth_law_costs_a_few_panels_every_few_steps() {
    let (panels, steps, _) = work_of(
        "model T { v: 1 -> m: I(1), c: C { e = q/sqrt(1 + q^2) }; start v.f = 1 }
         experiment e of T { stop = 100; record v.f }",
    );
    // A look every 16 steps takes some ten panels.
    assert!(panels < 4 * steps, "{panels} panels in {steps} steps");
}

#[test]
fn orbit_around_a_pole_keeps_its_energy() {
    // The straight line from the start to the far side meets the pole.
    let outcome = run_text(
        "model K {
            vx: 1 -> mx: I(1); vy: 1 -> my: I(1)
            r3 = (g.q[1]^2 + g.q[2]^2)^1.5
            (vx, vy) => g: C[2] { e[1] = q[1]/(q[1]^2 + q[2]^2)^1.5; e[2] = q[2]/(q[1]^2 + q[2]^2)^1.5 }
            h = -1/(g.q[1]^2 + g.q[2]^2)^0.5
            start g.q = [1, 0], vy.f = 1.1, vx.f = 0 }
         experiment e of K { stop = 20; rtol = 1e-10; record g.stored, h, system.energy }",
    );
    let (stored, exact) = (column(&outcome, "g.stored"), column(&outcome, "h"));
    for (a, b) in stored.iter().zip(exact) {
        assert_close(a - stored[0], b - exact[0], 1e-9);
    }
    let audit = outcome.run.audit.as_ref().expect("there is power");
    assert!(audit.is_good(), "{audit:?}");
}

#[test]
fn jump_between_two_states_is_booked_by_the_law() {
    let outcome = run_text(
        "model J { s: Sf(-1) -> n: 0 -> c: C { e = -1/q^2 }
            start c.q = 2
            when c.q < 0.5 { reinit c.q = 2 } }
         experiment e of J { stop = 2; rtol = 1e-10; record c.q }",
    );
    let audit = outcome.run.audit.as_ref().expect("there is power");
    // H = 1/q: from 1/0.5 to 1/2.
    assert_close(audit.jumps, -1.5, 1e-8);
    assert!(audit.is_good(), "{audit:?}");
}

#[test]
fn jump_over_a_gap_of_the_law_is_said_to_be_unknown() {
    let outcome = run_text(
        "model J { s: Sf(-1) -> n: 0 -> c: C { e = sqrt(q^2 - 1) }
            start c.q = 3
            when c.q < 2 { reinit c.q = -2 } }
         experiment e of J { stop = 1.5; rtol = 1e-10; record c.q }",
    );
    let audit = outcome.run.audit.as_ref().expect("there is power");
    assert_eq!(audit.unknown.as_deref(), Some("c"));
    assert!(
        outcome
            .warnings
            .iter()
            .any(|w| w.message.contains("is not known"))
    );
}
