//! The power through bonds obeys the laws that the drawing shows.

use paynter::power::{When, powers_of_run, powers_of_table, read_when};
use paynter::refused::Refused;
use paynter::run::{RunChoice, run};
use paynter::symbolic::dae::EnergyRole;
use paynter::{Choice, Design, design, exec::Engine};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

fn open(path: &Path, experiment: Option<&str>) -> Design {
    let choice = Choice {
        experiment: experiment.map(str::to_owned),
        ..Choice::default()
    };
    design(path, &choice).unwrap_or_else(|e| panic!("{}: {e:?}", path.display()))
}

fn gallery(file: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../gallery")
        .join(file)
}

fn powers(design: &Design, when: When) -> Vec<f64> {
    powers_of_run(design, when, Engine::Auto, &mut |_| {
        ControlFlow::Continue(())
    })
    .expect("the gallery runs")
    .watts
}

const FILES: [&str; 4] = [
    "circuit/circuit.bond",
    "servo/linear_servo.bond",
    "gyroscope/gyroscope.bond",
    "flight_table/flight_table.bond",
];

#[test]
fn power_into_junctions_transformers_and_gyrators_sums_to_zero() {
    for file in FILES {
        let design = open(&gallery(file), None);
        let middle = 0.5 * (design.plan.start + design.plan.stop);
        for when in [When::Mean, When::At(middle)] {
            let watts = powers(&design, when);
            let largest = watts.iter().fold(0.0_f64, |a, w| a.max(w.abs()));
            let graph = &design.graph;
            for (index, element) in graph.elements.iter().enumerate() {
                let role = element.kind.letters();
                if !["0", "1", "TF", "GY"].contains(&role) {
                    continue;
                }
                let into = |b: &paynter::model::BondId| {
                    let is_head = graph.bond(*b).head.element.0 as usize == index;
                    watts[b.0 as usize] * if is_head { 1.0 } else { -1.0 }
                };
                let sum: f64 = element.ports.iter().map(into).sum();
                // Means come from quadratures that keep a tenth of rtol; 1e-6 is far above.
                assert!(
                    sum.abs() <= 1e-6 * largest,
                    "{file} {role}: {sum} of {largest}"
                );
            }
        }
    }
}

#[test]
fn mean_powers_of_one_ports_are_what_the_audit_books() {
    let design = open(&gallery(FILES[0]), None);
    let watts = powers(&design, When::Mean);
    let outcome = run(&design, &RunChoice::default(), &mut |_| {
        ControlFlow::Continue(())
    })
    .expect("the gallery runs");
    let audit = outcome.run.audit.expect("the circuit has power");
    let span = design.plan.stop - design.plan.start;
    let mut n_found = 0;
    for (name, role, joules) in &audit.elements {
        let graph = &design.graph;
        let is_it = |e: paynter::model::ElementId| graph.element_name(e) == *name;
        let at = graph
            .bonds
            .iter()
            .position(|b| is_it(b.tail.element) || is_it(b.head.element))
            .expect("every element has a bond");
        if matches!(role, EnergyRole::Conserving) {
            continue;
        }
        n_found += 1;
        let (a, b) = (watts[at] * span, *joules);
        assert!((a - b).abs() <= 1e-9 * audit.scale, "{name}: {a} and {b}");
    }
    assert_eq!(n_found, 5);
}

const RECORDED: &str = "model M {
    s: Se(10 [V]) -> mesh: 1 -> r: R(100 [ohm]), l: I(0.1 [H])
    mesh -> n: 0 -> c: C(1e-4 [F])
    bond out: n -> load: R(50 [ohm])
}
experiment e of M { stop = 0.02 [s]; output_step = 1e-4 [s]; record s.power [mW], r.e, r.f, l.power, c.power }
experiment less of M { stop = 0.02 [s]; record s.power }";

fn recorded(name: &str, experiment: &str) -> (Design, paynter::table::Table) {
    let folder = std::env::temp_dir().join(format!("paynter-power-{}-{name}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("the temporary folder can be written");
    let file = folder.join("m.bond");
    std::fs::write(&file, RECORDED).expect("just made");
    let design = open(&file, Some(experiment));
    let outcome = run(&design, &RunChoice::default(), &mut |_| {
        ControlFlow::Continue(())
    })
    .expect("the model runs");
    std::fs::remove_dir_all(folder).expect("made above");
    (design, outcome.run.table)
}

#[test]
fn columns_of_a_result_and_power_balance_give_what_the_run_gives() {
    let (design, table) = recorded("columns", "e");
    for (when, tolerance) in [
        (When::At(0.005), 1e-9),
        // The trapezoidal rule over 201 rows.
        (When::Mean, 1e-3),
    ] {
        let own = powers(&design, when);
        let read = powers_of_table(&design, &table, when).expect("the rest follows");
        let largest = own.iter().fold(0.0_f64, |a, w| a.max(w.abs()));
        for (a, b) in own.iter().zip(&read.watts) {
            assert!(
                (a - b).abs() <= tolerance * largest,
                "{when:?}: {a} and {b}"
            );
        }
    }
}

#[test]
fn a_result_without_enough_columns_says_what_to_record() {
    let (design, table) = recorded("less", "less");
    match powers_of_table(&design, &table, When::Mean) {
        Err(Refused::Call(message)) => {
            assert!(
                message.contains("`record r.power, l.power, c.power, load.power`"),
                "{message}"
            )
        }
        other => panic!("{other:?}"),
    }
    match powers_of_table(&design, &table, When::At(1.0)) {
        Err(Refused::Call(message)) => assert!(message.contains("outside"), "{message}"),
        other => panic!("{other:?}"),
    }
}

#[test]
fn instants_are_read_with_units() {
    assert_eq!(read_when("mean"), Ok(When::Mean));
    assert_eq!(read_when("0.5"), Ok(When::At(0.5)));
    assert_eq!(read_when("20 [ms]"), Ok(When::At(0.02)));
    for wrong in ["", "m.bond", "1 [V]", "inf", "1 [ms", "NaN"] {
        assert!(read_when(wrong).is_err(), "{wrong}");
    }
}
