//! The first law, as a law: conservative systems keep energy, passive ones never gain any, and the
//! audit objects when the equations are wrong.

mod kit;

use kit::{column, design, gallery_models, passive_network, run_text};
use paynter::Compiled;
use paynter::audit::Audit;
use paynter::exec::Engine;
use paynter::experiment::{Outcome, lay_out, run_spec};
use paynter::model::equations::build_equations;
use paynter::simulate::{prepare, simulate};
use paynter::symbolic::Dae;
use paynter::symbolic::reduce::reduce;
use std::ops::ControlFlow;

/// Largest relative change of the recorded energy.
fn energy_change(outcome: &Outcome) -> f64 {
    let e = column(outcome, "E");
    e.iter()
        .map(|x| ((x - e[0]) / e[0]).abs())
        .fold(0.0, f64::max)
}

fn audit_of(outcome: &Outcome) -> &Audit {
    outcome.run.audit.as_ref().expect("the model has power")
}

// The demand on all three: energy within 1e-9 over 100 periods at rtol 1e-10.

#[test]
fn oscillator_keeps_its_energy_for_a_hundred_periods() {
    let outcome = run_text(
        "model M { v: 1 -> m: I(1), k: C(1); start k.q = 1 }
         experiment x of M { stop = 628.3185307179587; rtol = 1e-10; record system.energy as E }",
    );
    assert!(
        energy_change(&outcome) < 1e-9,
        "{:e}",
        energy_change(&outcome)
    );
}

#[test]
fn inductor_and_capacitor_keep_their_energy_for_a_hundred_periods() {
    let outcome = run_text(
        "model M { loop: 1 -> l: I(1 [mH]), c: C(1 [uF]); start c.e = 10 [V] }
         experiment x of M { stop = 19.869176531592202 [ms]; rtol = 1e-10; record system.energy as E }",
    );
    assert!(
        energy_change(&outcome) < 1e-9,
        "{:e}",
        energy_change(&outcome)
    );
}

#[test]
fn gyroscope_keeps_its_energy_for_a_hundred_nutations() {
    // The nutation takes about 1.5 s: 100 of them.
    let text = gallery_models("gyroscope/gyroscope.bond")
        + "experiment x of Gyroscope {
            start theta = 0.5 [rad], tilt.f = 0.3 [rad/s], turn.f = 0.8 [rad/s], rotor.f = 5 [rad/s]
            stop = 150 [s]; rtol = 1e-10; record system.energy as E }";
    let outcome = run_text(&text);
    assert!(
        energy_change(&outcome) < 1e-9,
        "{:e}",
        energy_change(&outcome)
    );
}

fn assert_passive(text: &str) {
    let outcome = run_text(text);
    let audit = audit_of(&outcome);
    assert!(audit.is_good(), "{audit:?}\n{text}");
    let scale = audit.scale;
    let lost = column(&outcome, "D");
    // Energy lost never comes back; what stands at the outputs carries the error of the solver.
    assert!(
        lost.windows(2).all(|d| d[1] >= d[0] - 1e-7 * scale),
        "{text}"
    );
    let (energy, time) = (column(&outcome, "E"), &outcome.run.table.time);
    for k in 1..energy.len() {
        if time[k - 1] >= 1.0 {
            assert!(energy[k] <= energy[k - 1] + 1e-7 * scale, "{text}");
        }
    }
}

#[test]
fn random_linear_networks_never_gain_energy() {
    for seed in 0..300 {
        assert_passive(&passive_network(seed, false));
    }
}

#[test]
fn random_nonlinear_networks_never_gain_energy() {
    for seed in 0..200 {
        assert_passive(&passive_network(1000 + seed, true));
    }
}

const CIRCUIT: &str = "model M {
    supply: Se(10*sin(3*time)) -> mesh: 1 -> node: 0 -> t: TF(2) -> branch: 1 -> g: GY(3) -> far: 1
    mesh -> r1: R(1); node -> c1: C(1); branch -> r2: R(2), l1: I(1); far -> m: I(2), b: R(0.5)
}
experiment x of M { stop = 5; rtol = 1e-9; record c1.e }";

/// Runs a design whose equations were changed behind its back; none where they have no solution.
fn audit_after(change: impl Fn(&mut Dae)) -> Option<Audit> {
    let design = design(CIRCUIT);
    let mut dae = build_equations(&design.graph, &design.causality());
    change(&mut dae);
    let compiled = Compiled {
        reduced: reduce(dae).ok()?,
        ..design.compile().ok()?
    };
    let layout = lay_out(&design.plan);
    let spec = run_spec(&design.plan, &layout, &[], Engine::Auto);
    let mut machine = prepare(&compiled, &spec).ok()?;
    let run = simulate(&mut machine, &compiled, &spec, &mut |_| {
        ControlFlow::Continue(())
    });
    run.ok()?.audit
}

/// Text of an equation, to find and to blame it.
fn shown(dae: &Dae, k: usize) -> String {
    let pool = &dae.pool;
    let equation = dae.equations[k];
    let mut names = Vec::new();
    let mut open = vec![equation.left, equation.right];
    while let Some(e) = open.pop() {
        if let Some(s) = pool.as_symbol(e) {
            names.push(dae.name_of(s));
        }
        pool.each_argument(e, |a| open.push(a));
    }
    names.sort();
    names.join(" ")
}

#[test]
fn audit_is_content_with_the_true_equations() {
    assert!(audit_after(|_| ()).expect("it runs").is_good());
}

#[test]
fn audit_objects_to_every_wrong_equation_of_the_junction_structure() {
    let design = design(CIRCUIT);
    let dae = build_equations(&design.graph, &design.causality());
    let mut n_changed = 0;
    for k in 0..dae.equations.len() {
        let text = shown(&dae, k);
        let names: Vec<&str> = text.split(' ').collect();
        // A law of R, a source or a signal may be any function: another one is another model.
        let elements: std::collections::BTreeSet<&str> = names
            .iter()
            .map(|n| n.split('.').next().unwrap_or(n))
            .collect();
        if elements.len() < 2 || names.contains(&"time") {
            continue;
        }
        let audit = audit_after(|dae| {
            let scale = dae.pool.number(1.1);
            dae.equations[k].right = dae.pool.mul(scale, dae.equations[k].right);
        });
        if let Some(audit) = audit {
            n_changed += 1;
            assert!(!audit.is_good(), "{text}: {audit:?}");
        }
    }
    assert!(n_changed > 5, "only {n_changed} equations were changed");
}

#[test]
fn audit_objects_to_a_storage_that_does_not_keep_its_law() {
    for storage in ["c1", "l1", "m"] {
        let audit = audit_after(|dae| {
            let law = (0..dae.equations.len())
                .find(|&k| {
                    let text = shown(dae, k);
                    text.starts_with(storage)
                        && !text.contains("der(")
                        && text.split(' ').all(|n| n.starts_with(storage))
                })
                .expect("every storage has a law");
            let scale = dae.pool.number(1.1);
            dae.equations[law].right = dae.pool.mul(scale, dae.equations[law].right);
        });
        let audit = audit.expect("it runs");
        assert!(!audit.is_good(), "{storage}: {audit:?}");
    }
}

#[test]
fn residual_shrinks_with_the_tolerance() {
    let residual = |rtol: &str| {
        let text = CIRCUIT.replace("1e-9", rtol);
        audit_of(&run_text(&text)).relative()
    };
    let residuals = [residual("1e-4"), residual("1e-6"), residual("1e-8")];
    // Two decades of tolerance give at least one of residual.
    assert!(
        residuals.windows(2).all(|r| r[1] < 0.1 * r[0]),
        "{residuals:?}"
    );
}

#[test]
fn residual_does_not_depend_on_the_output_interval() {
    let residual = |step: &str| {
        let text = CIRCUIT.replace("stop = 5;", &format!("stop = 5; output_step = {step};"));
        audit_of(&run_text(&text)).residual
    };
    assert_eq!(residual("2.5"), residual("0.001"));
}

#[test]
fn impulse_into_a_storage_tied_to_a_jumping_source_is_booked() {
    let outcome = kit::run_text(
        "model P { s: Se(step(time, 3, at = 1)) -> n: 0 -> c: C(2), r: R(5) }
        experiment p of P { stop = 2; record c.e }",
    );
    let audit = outcome.run.audit.as_ref().expect("there is power");
    // ½ C V²
    kit::assert_close(audit.jumps, 9.0, 1e-12);
    assert!(audit.is_good(), "{audit:?}");
    assert!(outcome.warnings.iter().any(|w| w.code == "W0733"));
}

#[test]
fn a_wheel_that_nearly_rests_at_its_speed_is_accounted_for() {
    // It holds 13 J, to its tolerance; what moves is a ten-thousandth of that.
    let outcome = run_text(
        "model M { param J = 26
            torque = -625*J*(alpha - 0.5)
            Se(torque) -> w: 1 -> fly: I(J)
            der(alpha) = w.f - 2*alpha }
        experiment e of M {
            start alpha = 0.5 + 1e-7, w.f = 1; stop = 1; rtol = 1e-8; method = dop853; record w.f }",
    );
    let audit = audit_of(&outcome);
    let of_what_moved = 10.0 * 1e-8 * audit.scale;
    assert!(audit.residual.abs() > of_what_moved, "no test: {audit:?}");
    assert!(audit.is_good(), "{audit:?}");
    // No more than what the wheel itself may err by.
    assert!(audit.allowed < 2.0 * 10.0 * 1e-8 * 13.0, "{audit:?}");
}
