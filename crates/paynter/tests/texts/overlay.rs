//! Texts in memory run like files on disk; what an editor has not saved is what counts.

use paynter::overlay::{LibraryOnly, Overlay};
use paynter::run::{RunChoice, run};
use paynter::{Choice, design_in};
use std::ops::ControlFlow;

const PART: &str = "model Load { port p: electrical = n; n: 0 -> r: R(2) }";
const MAIN: &str = "use \"parts/load.bond\": Load
    model M { s: Se(10) -> j: 1 -> i: I(1); load: Load(); j -> load.p; output w = i.f }
    experiment go of M { stop = 1; record w; compare \"parts/../w.csv\" within 1e-6 }";

/// The time constant is 1/2 s: w(1) = 5 (1 − e⁻²).
fn texts() -> Overlay<LibraryOnly> {
    let mut world = Overlay::new(LibraryOnly);
    world.set("m.bond", MAIN);
    world.set("./parts/load.bond", PART);
    let end = 5.0 * (1.0 - (-2.0_f64).exp());
    world.set("w.csv", format!("time,w\n0,0\n1,{end:?}\n"));
    world
}

#[test]
fn a_model_of_several_texts_runs_without_a_disk() {
    let mut world = texts();
    let design = design_in(&mut world, "m.bond", &Choice::default()).expect("no errors");
    let outcome = run(&design, &RunChoice::default(), &mut |_| {
        ControlFlow::Continue(())
    });
    let outcome = outcome.expect("it starts");
    assert!(
        outcome.comparisons[0].is_good(),
        "{:?}",
        outcome.comparisons
    );
}

#[test]
fn an_unsaved_change_is_what_counts() {
    let mut world = texts();
    world.set("parts/load.bond", PART.replace("R(2)", "R(4)"));
    let design = design_in(&mut world, "m.bond", &Choice::default()).expect("no errors");
    let outcome = run(&design, &RunChoice::default(), &mut |_| {
        ControlFlow::Continue(())
    });
    assert!(!outcome.expect("it starts").comparisons[0].is_good());
}

#[test]
fn what_is_taken_away_is_missing() {
    let mut world = texts();
    world.remove("parts/load.bond");
    assert!(design_in(&mut world, "m.bond", &Choice::default()).is_err());
}
