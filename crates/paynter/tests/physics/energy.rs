//! The first law, as a law: conservative systems keep energy, passive ones never gain any, and the
//! audit objects when the equations are wrong.

use crate::kit::{self, column, design, gallery_models, passive_network, run_text};
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
    audit_of_changed(CIRCUIT, change)
}

fn audit_of_changed(text: &str, change: impl Fn(&mut Dae)) -> Option<Audit> {
    let design = design(text);
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

/// A flywheel of 4.5e12 J that coasts, and a circuit of some joules that has nothing to do with it.
const BESIDE_A_HUGE_STORE: &str = "model M {
    wheel: 1 -> fly: I(9e6), air: R(1e-3)
    supply: Se(10*sin(3*time)) -> mesh: 1 -> node: 0 -> t: TF(2) -> branch: 1
    mesh -> r1: R(1); node -> c1: C(1); branch -> r2: R(2), l1: I(1)
    start wheel.f = 1000
}
experiment x of M { stop = 5; rtol = 1e-6; record c1.e }";

/// The same circuit, driven by the flywheel through a weak gyrator.
const BEHIND_A_HUGE_STORE: &str = "model M {
    wheel: 1 -> fly: I(9e6), air: R(1e-3)
    wheel -> g: GY(1e-2) -> mesh: 1 -> node: 0 -> t: TF(2) -> branch: 1
    mesh -> r1: R(1); node -> c1: C(1); branch -> r2: R(2), l1: I(1)
    start wheel.f = 1000
}
experiment x of M { stop = 5; rtol = 1e-6; record c1.e }";

/// Equations of the junction structure of the circuit, and of the sizes of its resistors.
fn circuit_equations(text: &str) -> Vec<(usize, String)> {
    let design = design(text);
    let dae = build_equations(&design.graph, &design.causality());
    let all = (0..dae.equations.len()).map(|k| (k, shown(&dae, k)));
    let is_law_of_storage = |names: &[&str]| {
        names.iter().all(|n| n.contains("c1.")) || names.iter().all(|n| n.contains("l1."))
    };
    all.filter(|(_, text)| {
        let names: Vec<&str> = text.split(' ').collect();
        let is_other = ["fly", "air", "time", "supply", "g."];
        !is_law_of_storage(&names) && !names.iter().any(|n| is_other.iter().any(|o| n.contains(o)))
    })
    .collect()
}

fn words(audit: &Audit) -> String {
    let faults: Vec<String> = audit.faults.iter().map(ToString::to_string).collect();
    faults.join("\n")
}

#[test]
fn audit_names_the_part_where_energy_is_made_beside_a_huge_store() {
    for text in [BESIDE_A_HUGE_STORE, BEHIND_A_HUGE_STORE] {
        let right = audit_of_changed(text, |_| ()).expect("it runs");
        assert!(right.is_good(), "{}", words(&right));
        let (mut n_changed, mut n_hidden) = (0, 0);
        for (k, equation) in circuit_equations(text) {
            let audit = audit_of_changed(text, |dae| {
                let scale = dae.pool.number(1.1);
                dae.equations[k].right = dae.pool.mul(scale, dae.equations[k].right);
            });
            let Some(audit) = audit else { continue };
            // `0 = 1.1*(…)` is not a change.
            if audit == right {
                continue;
            }
            n_changed += 1;
            n_hidden += usize::from(audit.residual.abs() <= audit.allowed);
            assert!(!audit.is_good(), "{equation}: {audit:?}");
            let said = words(&audit);
            let circuit = ["mesh", "node", "branch", "`t`", "r1", "r2", "c1", "l1"];
            assert!(
                circuit.iter().any(|name| said.contains(name)),
                "{equation}: {said}"
            );
            assert!(!said.contains("fly"), "{equation}: {said}");
        }
        assert!(n_changed > 5, "only {n_changed} equations were changed");
        // What the whole alone would not have shown.
        assert!(n_hidden > 0, "no test of parts");
    }
}

#[test]
fn audit_names_a_junction_whose_sign_is_turned() {
    let right = audit_after(|_| ()).expect("it runs");
    let design = design(CIRCUIT);
    let dae = build_equations(&design.graph, &design.causality());
    let mut n_turned = 0;
    for k in 0..dae.equations.len() {
        let text = shown(&dae, k);
        // Sums of a junction have three bonds or more.
        if text.split(' ').count() < 3 || text.contains("time") {
            continue;
        }
        let audit = audit_after(|dae| {
            dae.equations[k].right = dae.pool.neg(dae.equations[k].right);
        });
        if let Some(audit) = audit.filter(|audit| *audit != right) {
            n_turned += 1;
            let said = words(&audit);
            assert!(
                !audit.is_good() && said.contains("that pass through it"),
                "{text}: {said}"
            );
        }
    }
    assert!(n_turned > 0, "no sign was turned");
}

#[test]
fn heat_is_audited_by_its_flow() {
    // A node with a loss to the outside: what flows into the resistor leaves.
    let outcome = run_text(
        "model A { s: Sf(10 [W]) -> t: 0 -> c: C(5 [J/K]), r: R(2 [K/W]) }
        experiment e of A { stop = 100 [s]; rtol = 1e-9; record t.e, r.energy }",
    );
    let audit = audit_of(&outcome);
    assert!(audit.is_good(), "{audit:?}");
    kit::assert_close(audit.supplied, 1000.0, 1e-6);
    // T = 20 K (1 − exp(−t/10 s))
    let stored = 100.0 * (1.0 - (-10f64).exp());
    kit::assert_close(audit.stored, stored, 1e-5);
    kit::assert_close(audit.dissipated, 1000.0 - stored, 1e-5);
    kit::assert_close(kit::last(&outcome, "r.energy"), 1000.0 - stored, 1e-5);
}

#[test]
fn heat_between_two_nodes_is_neither_made_nor_lost() {
    let conduction = "model P {
            heater: Sf(1 [kW]) -> h1: 0 -> c1: C(10 [kJ/K])
            h1 -> way: 1 -> h2: 0 -> c2: C(10 [kJ/K])
            way -> r: R(0.01 [K/W])
            start c1.q = 3e6, c2.q = 3e6 }
        experiment e of P { stop = 100 [s]; record h1.e, h2.e }";
    // The same by signals: the domain of the second node follows from its law, and from the unit of the flow.
    let signals = "units strict
        model P {
            heater: Sf(1 [kW]) -> h1: 0 -> c1: C { e = q/(10 [kJ/K]) }
            flow = 100 [W/K]*(h1.e - h2.e)
            h1 -> a: Sf(flow)
            b: Sf(flow) -> h2: 0 -> c2: C { e = q/(10 [kJ/K]) }
            start h1.e = 300 [K], h2.e = 300 [K] }
        experiment e of P { stop = 100 [s]; record h1.e, h2.e, a.power, b.power }";
    for text in [conduction, signals] {
        let outcome = run_text(text);
        let audit = audit_of(&outcome);
        assert!(audit.is_good(), "{audit:?}\n{text}");
        kit::assert_close(audit.stored, 1e5, 1.0);
        kit::assert_close(audit.dissipated, 0.0, 1.0);
    }
    let outcome = run_text(signals);
    // An Sf that takes what flows gives −power.
    for (a, b) in column(&outcome, "a.power")
        .iter()
        .zip(column(&outcome, "b.power"))
    {
        kit::assert_close(*a, -b, 1e-9);
        assert!((0.0..1000.0).contains(b), "{b}");
    }
}

#[test]
fn resistor_that_heats_itself_may_give_entropy_or_heat() {
    for (storage, start) in [
        ("C(5 [J/K])", "th.q = 100"),
        ("C { e = 300*exp(q/5) }", "th.q = 0"),
    ] {
        let outcome = run_text(&format!(
            "model M {{ n0: 0 -> c: C(0.01 [F])
                n0 -> rs: RS {{ e1 = 10 [ohm]*f1 }} -> n: 0 -> th: {storage}
                start c.q = 1, {start} }}
            experiment e of M {{ stop = 1; rtol = 1e-10; record c.q, th.stored, rs.energy }}"
        ));
        let audit = audit_of(&outcome);
        assert!(audit.is_good(), "{audit:?}");
        let q = (-10f64).exp();
        kit::assert_close(kit::last(&outcome, "c.q"), q, 1e-9);
        // ½ q²/C is all in the heat.
        let heat = 50.0 * (1.0 - q * q);
        let stored = column(&outcome, "th.stored");
        kit::assert_close(stored[stored.len() - 1] - stored[0], heat, 1e-6);
        kit::assert_close(kit::last(&outcome, "rs.energy"), heat, 1e-6);
    }
}

#[test]
fn resistor_that_gives_energy_is_reported_with_a_way_out() {
    let text = "model A { k = sin(time); v: 1 -> m: I(1), r: R(k); start v.f = 1 }
        experiment e of A { start = 3.2; stop = 6.2; record v.f }";
    let outcome = run_text(text);
    let told = outcome.warnings.iter().find(|w| w.code == "W0739");
    let told = told.expect("it gives energy");
    assert!(told.help.iter().any(|h| h.contains("unpowered")));
    // Declared so, it is a source.
    let outcome = run_text(&text.replace("R(k)", "R(k) unpowered"));
    assert!(!outcome.warnings.iter().any(|w| w.code == "W0739"));
    let audit = audit_of(&outcome);
    assert!(audit.unpowered > 0.0 && audit.is_good(), "{audit:?}");
}

#[test]
fn right_runs_are_not_accused_at_any_tolerance() {
    for seed in 0..20 {
        for rtol in ["1e-3", "1e-5", "1e-8", "1e-11", "1e-13"] {
            let text = passive_network(500 + seed, seed % 2 == 0);
            let at = text.find("rtol = ").expect("it has a tolerance");
            let end = at + text[at..].find([';', '}', '\n']).expect("it ends");
            let text = format!("{}rtol = {rtol}{}", &text[..at], &text[end..]);
            let outcome = run_text(&text);
            let audit = audit_of(&outcome);
            assert!(audit.is_good(), "{}\n{audit:?}\n{text}", words(audit));
        }
    }
}
