//! Faults of the two tanks of the literature, and laws that any signature obeys.

mod kit;

use kit::{cases, design, random_graph, try_design};
use paynter::run::{RunChoice, run};
use paynter::table::Table;
use paynter_structure::{Faults, Subject, ask, balances, balances_on, faults};
use std::ops::ControlFlow;

fn found(text: &str, from: &str, to: &str) -> Faults {
    let design = design(text, from, to);
    let subject = Subject::new(&design, ask(&design, None)).expect("inputs are sources");
    faults(&subject).unwrap_or_else(|e| panic!("{e:?}"))
}

fn position(found: &Faults, name: &str) -> usize {
    let at = found.faults.iter().position(|f| f.name == name);
    at.unwrap_or_else(|| panic!("no fault of {name}"))
}

const TANKS: &str = "model Tanks {
    pump: Sf(1) -> t1: 0 -> c1: C(1)
    t1 -> pipe: 1 -> v1: R(3)
    pipe -> t2: 0 -> c2: C(2), v2: R(4)
}";

#[test]
fn two_tanks_with_two_levels_have_the_known_relations() {
    // From tank 1: pump, C1, valve 1, both levels. From tank 2: valve 1, C2, valve 2, both levels (Samantaray & Ould Bouamama 2008).
    let found = found(TANKS, "pump.f", "t1.e, t2.e");
    let signature = |names: &[&str]| {
        let mut list: Vec<usize> = names.iter().map(|n| position(&found, n)).collect();
        list.sort_unstable();
        found.residuals.iter().any(|r| r.faults == list)
    };
    assert!(
        signature(&["pump.f", "c1", "v1", "t1.e", "t2.e"]),
        "{found:?}"
    );
    assert!(signature(&["v1", "c2", "v2", "t1.e", "t2.e"]), "{found:?}");
    // The third one does without the valve between: what flows in and out of both tanks.
    assert!(
        signature(&["pump.f", "c1", "c2", "v2", "t1.e", "t2.e"]),
        "{found:?}"
    );
    assert!(found.faults.iter().all(|f| f.is_detectable));
    // What fills a tank and what leaves it cannot be told apart by levels.
    let alike = |a: &str, b: &str| {
        found.faults[position(&found, a)]
            .same_as
            .contains(&position(&found, b))
    };
    assert!(alike("pump.f", "c1") && alike("c2", "v2"));
    assert!(found.faults[position(&found, "v1")].same_as.is_empty());
}

#[test]
fn one_level_shows_all_faults_and_tells_none_apart() {
    let found = found(TANKS, "pump.f", "t2.e");
    assert_eq!(found.residuals.len(), 1);
    assert!(
        found
            .faults
            .iter()
            .all(|f| f.is_detectable && !f.same_as.is_empty())
    );
    // A further sensor helps, and the pipe is as good as the first tank.
    let sets: Vec<&String> = found.sensors.iter().flat_map(|s| &s.add).collect();
    assert!(!sets.is_empty());
}

#[test]
fn a_residual_contains_what_its_sensors_and_alike_faults_say() {
    let mut n_looked_at = 0;
    for seed in cases(120) {
        let graph = random_graph(seed, (seed % 3) as usize);
        let Ok(design) = try_design(&graph.text, &graph.from, &graph.to) else {
            continue;
        };
        if design.compile().is_err() {
            continue;
        }
        let subject = Subject::new(&design, ask(&design, None)).expect("inputs are sources");
        let found = faults(&subject).unwrap_or_else(|e| panic!("{e:?}\n{}", graph.text));
        for (k, fault) in found.faults.iter().enumerate() {
            let shown = found.residuals.iter().any(|r| r.faults.contains(&k));
            assert_eq!(
                shown, fault.is_detectable,
                "{} in {}",
                fault.name, graph.text
            );
            for &j in &fault.same_as {
                let same = found
                    .residuals
                    .iter()
                    .all(|r| r.faults.contains(&k) == r.faults.contains(&j));
                assert!(same, "{} in {}", fault.name, graph.text);
            }
            n_looked_at += 1;
        }
    }
    assert!(n_looked_at > 300, "{n_looked_at}");
}

/// What a plant shows: its first experiment, run.
fn measured(text: &str) -> Table {
    let design = design(text, "", "");
    let outcome = run(&design, &RunChoice::default(), &mut |_| {
        ControlFlow::Continue(())
    });
    outcome.unwrap_or_else(|e| panic!("{e:?}")).run.table
}

/// A healthy model, and the values of its parameters that can go wrong, with sensors and inputs.
struct Plant {
    text: &'static str,
    parameters: &'static [(&'static str, &'static str)],
    from: &'static str,
    to: &'static str,
}

const PLANTS: [Plant; 2] = [
    Plant {
        text: "model Tanks {
            param g = 1, kc1 = 1, kv1 = 3, kc2 = 2, kv2 = 4
            pump: Sf(g*(1 + 0.5*sin(2*time))) -> t1: 0 -> c1: C(kc1)
            t1 -> pipe: 1 -> v1: R(kv1)
            pipe -> t2: 0 -> c2: C(kc2), v2: R(kv2)
        }
        experiment e of Tanks { stop = 6 [s]; output_step = 0.002 [s]; rtol = 1e-10; record t1.e, t2.e }",
        parameters: &[("g = 1", "pump.f"), ("kc1 = 1", "c1"), ("kv1 = 3", "v1"), ("kc2 = 2", "c2"), ("kv2 = 4", "v2")],
        from: "pump.f",
        to: "t1.e, t2.e",
    },
    Plant {
        text: "model Motor {
            param u = 1, kl = 0.5, kr = 2, kj = 0.4, kd = 0.3, ks = 2, kj2 = 0.6, kd2 = 0.7
            supply: Se(u*(1 + 0.5*sin(2*time))) -> coil: 1 -> l: I(kl), r: R(kr)
            coil -> GY(0.8) -> rotor: 1 -> j: I(kj), d: R(kd)
            rotor -> shaft: 0 -> load: 1 -> j2: I(kj2), d2: R(kd2)
            shaft -> twist: C(1/ks)
        }
        experiment e of Motor { stop = 6 [s]; output_step = 0.002 [s]; rtol = 1e-10; record coil.f, rotor.f, load.f }",
        parameters: &[
            ("u = 1", "supply.e"), ("kl = 0.5", "l"), ("kr = 2", "r"), ("kj = 0.4", "j"), ("kd = 0.3", "d"),
            ("ks = 2", "twist"), ("kj2 = 0.6", "j2"), ("kd2 = 0.7", "d2"),
        ],
        from: "supply.e",
        to: "coil.f, rotor.f, load.f",
    },
];

/// Which balances are off on data: beyond interpolation, and by a fault of half its value.
fn off(plant: &Plant, data: &Table) -> Vec<bool> {
    let design = design(plant.text, plant.from, plant.to);
    let subject = Subject::new(&design, ask(&design, None)).expect("inputs are sources");
    let (_, found) = balances_on(&subject, data).unwrap_or_else(|e| panic!("{e:?}"));
    found
        .iter()
        .map(|b| {
            let part = b.worst / b.scale;
            assert!(!(1e-3..1e-2).contains(&part), "{b:?} is neither on nor off");
            part > 1e-2
        })
        .collect()
}

#[test]
fn an_injected_fault_shows_in_exactly_the_balances_of_its_signature() {
    for plant in &PLANTS {
        let design = design(plant.text, plant.from, plant.to);
        let subject = Subject::new(&design, ask(&design, None)).expect("inputs are sources");
        let signatures = balances(&subject).unwrap_or_else(|e| panic!("{e:?}"));
        let healthy = measured(plant.text);
        assert!(
            off(plant, &healthy).iter().all(|is_off| !is_off),
            "nothing is wrong yet"
        );
        for (parameter, fault) in plant.parameters {
            let (name, value) = parameter.split_once(" = ").expect("written so");
            let wrong = format!("{name} = {}", 1.5 * value.parse::<f64>().expect("a number"));
            let data = measured(&plant.text.replacen(parameter, &wrong, 1));
            let expected: Vec<bool> = signatures
                .iter()
                .map(|s| s.faults.iter().any(|f| f == fault))
                .collect();
            assert_eq!(off(plant, &data), expected, "{fault}");
        }
        for (k, sensor) in plant.to.split(", ").enumerate() {
            let mut data = healthy.clone();
            data.columns[k].values.iter_mut().for_each(|v| *v *= 1.5);
            let expected: Vec<bool> = signatures
                .iter()
                .map(|s| s.faults.iter().any(|f| f == sensor))
                .collect();
            assert_eq!(off(plant, &data), expected, "{sensor}");
        }
    }
}
