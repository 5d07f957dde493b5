//! Faults of the two tanks of the literature, and laws that any signature obeys.

mod kit;

use kit::{design, random_graph, try_design};
use paynter_structure::{Faults, Subject, ask, faults};

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
    for seed in 0..120 {
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
