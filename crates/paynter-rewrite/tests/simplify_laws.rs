//! Laws of `simplify`: same trajectories through the name map, refusals where a condition fails, proofs that see errors.

mod kit;

use kit::{
    Dice, PATH, cases, difference, ran, ran_if_it_starts, random_graph, random_graph_with_starts,
    simple, world,
};
use paynter::{Choice, design_in};
use paynter_rewrite::{Side, Wish, prove, simplify};
use std::collections::BTreeMap;

const N_GRAPHS: u64 = 120;

/// Graphs that the language accepts and that have one solution.
fn graphs() -> impl Iterator<Item = (u64, String)> {
    cases(N_GRAPHS).filter_map(|seed| {
        let text = random_graph(seed);
        let design = design_in(&mut world(&text), PATH, &Choice::default()).ok()?;
        design.compile().ok()?;
        Some((seed, text))
    })
}

#[test]
fn random_graphs_keep_their_trajectories() {
    let (mut n, mut used) = (0, BTreeMap::new());
    for (seed, text) in graphs() {
        let found = simple(&text);
        for step in &found.steps {
            *used.entry(step.rule).or_insert(0) += 1;
        }
        let Some(proof) = &found.proof else { continue };
        assert!(
            proof.holds(),
            "seed {seed}: {}\n{text}\n{}",
            proof.line(),
            found.text
        );
        let apart = difference(&ran(&text), &ran(&found.text));
        // Both runs are held to rtol = 1e-11; different equations take different steps.
        assert!(
            apart < 1e-9,
            "seed {seed}: {apart:e}\n{text}\n{}",
            found.text
        );
        n += 1;
    }
    assert!(n > 30, "only {n} graphs were rewritten; {used:?}");
    for rule in ["zero", "merge", "junction", "chain", "over", "parallel"] {
        assert!(
            used.contains_key(rule),
            "no graph needed `{rule}`: {used:?}"
        );
    }
}

#[test]
fn random_graphs_keep_their_trajectories_from_given_starts() {
    let (mut n, mut n_given) = (0, 0);
    for seed in cases(N_GRAPHS) {
        let text = random_graph_with_starts(seed);
        // Start values may contradict each other.
        let Some(old) = ran_if_it_starts(&text) else {
            continue;
        };
        let found = simple(&text);
        let Some(proof) = &found.proof else { continue };
        let line = proof.line();
        assert!(proof.holds(), "seed {seed}: {line}\n{text}\n{}", found.text);
        let apart = difference(&old, &ran(&found.text));
        assert!(
            apart < 1e-8,
            "seed {seed}: {apart:e}\n{text}\n{}",
            found.text
        );
        n += 1;
        n_given += usize::from(text.contains("    start "));
    }
    assert!(n > 20 && 2 * n_given > n, "{n_given} of {n} have starts");
}

/// Two capacitors in series at a source: which one begins empty decides how the charge is divided for ever, and after the rewriting the
/// other one is the state.
#[test]
fn another_state_begins_where_the_old_one_did() {
    let text = random_graph(9_000_238);
    let found = simple(&text);
    assert!(found.holds(), "{}", found.text);
    assert!(
        found.text.contains("    start x10_j1.q = 0\n"),
        "{}",
        found.text
    );
    let step = found.steps.iter().find(|s| s.rule == "start");
    assert_eq!(
        step.map(|s| &*s.text),
        Some("every run begins with `x10.p` = 0 as before, where another storage is the state now")
    );
    assert!(difference(&ran(&text), &ran(&found.text)) < 1e-9);
}

/// What nothing reads may have been something that is gone now: then there is no image to tell of.
#[test]
fn no_image_is_something_that_is_gone() {
    let found = simple(&random_graph(9_000_781));
    assert!(found.holds(), "{}", found.text);
    assert!(
        !found.map.iter().any(|(_, new)| new.contains("j3.")),
        "{:?}",
        found.map
    );
}

/// Inertias side by side at a 0-junction have equal momenta in every run; here the one that is tied to the other follows from a third.
#[test]
fn a_tie_between_storages_that_are_no_states_is_kept_by_the_proof() {
    let text = random_graph(9_000_168);
    let found = simple(&text);
    assert!(found.proof.is_some() && found.holds(), "{}", found.text);
}

#[test]
fn what_was_simplified_is_simple() {
    for (seed, text) in graphs().take(30) {
        let once = simple(&text);
        let twice = simple(&once.text);
        assert!(
            twice.steps.is_empty(),
            "seed {seed}: {:?}\n{}",
            twice.steps,
            once.text
        );
    }
}

#[test]
fn a_changed_value_or_a_turned_arrow_is_seen_by_the_proof() {
    let (mut n_seen, mut n) = (0, 0);
    for (seed, text) in graphs().take(60) {
        let found = simplify(&mut world(&text), PATH, &Wish::default(), &[]).expect("it is read");
        if found.proof.is_none() {
            continue;
        }
        let model_end = found.text.find("\n}").expect("a model ends");
        let (model, rest) = found.text.split_at(model_end);
        let dice = &mut Dice(seed + 1);
        // A value that an element has: one is added to it.
        let places: Vec<usize> = ["I(", "C(", "R(", "TF(", "GY("]
            .iter()
            .flat_map(|k| model.match_indices(k).map(|(at, k)| at + k.len()))
            .collect();
        if places.is_empty() {
            continue;
        }
        let at = places[dice.below(places.len())];
        let mutated = format!("{}1.01 + {}{rest}", &model[..at], &model[at..]);
        let side = |text| Side {
            path: PATH,
            text,
            model: "M",
        };
        let loader = paynter::overlay::LibraryOnly;
        let proof = prove(
            &loader,
            &side(&text),
            &side(&mutated),
            &found.correspondence,
        );
        n += 1;
        n_seen += usize::from(!proof.holds());
    }
    // A value may be idle: an inertia that a source drives, a resistor at a source of effort.
    assert!(n > 15 && n_seen * 10 >= n * 7, "{n_seen} of {n}");
}

#[test]
fn shuffled_lines_give_the_same_graph() {
    for (seed, text) in graphs().take(20) {
        let (head, body) = text.split_once("input u = 0.4\n").expect("as written");
        let (body, tail) = body.split_once("}\n").expect("as written");
        let mut lines: Vec<&str> = body.lines().collect();
        lines.reverse();
        let shuffled = format!("{head}input u = 0.4\n{}\n}}\n{tail}", lines.join("\n"));
        let (a, b) = (simple(&text), simple(&shuffled));
        let count = |r: &paynter_rewrite::Rewritten| r.text.matches(": ").count() > 0;
        assert!(
            count(&a) && b.holds(),
            "seed {seed}: {:?}\n{shuffled}\n{}",
            b.lines(),
            b.text
        );
        assert!(
            difference(&ran(&a.text), &ran(&b.text)) < 1e-9,
            "seed {seed}"
        );
    }
}
