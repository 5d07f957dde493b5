//! Any text is checked, and run if it can be: messages or numbers, never a panic, a hang or all the memory.
//!
//! In:  bytes from the fuzzer; the gallery and the library are good seeds.
//! Out: nothing; a panic, a hang (`-timeout`) or too much memory (`-rss_limit_mb`) is what it looks for.
//!
//! **Invariant:** every recorded column is as long as time; a design without errors has no errors when checked.

#![no_main]

use libfuzzer_sys::fuzz_target;
use paynter::check::check_text_in;
use paynter::exec::Engine;
use paynter::overlay::{LibraryOnly, Overlay};
use paynter::run::{RunChoice, run};
use paynter::{Choice, design_in};
use std::ops::ControlFlow;

/// Larger texts are slow without being different.
const MOST_BYTES: usize = 20_000;
/// Steps of a run: enough for starts, events and restarts.
const MOST_STEPS: usize = 2_000;
/// Times that progress is told of, every 64 steps, before the run is ended from outside.
const MOST_CALLS: usize = 64;

fuzz_target!(|bytes: &[u8]| {
    let Ok(text) = std::str::from_utf8(bytes) else {
        return;
    };
    if text.len() > MOST_BYTES {
        return;
    }
    let mut loader = Overlay::new(LibraryOnly);
    loader.set("m.bond", text);
    let _ = check_text_in(&mut loader, "m.bond", text);
    let Ok(mut design) = design_in(&mut loader, "m.bond", &Choice::default()) else {
        return;
    };
    let most = design.plan.max_steps.unwrap_or(MOST_STEPS).min(MOST_STEPS);
    design.plan.max_steps = Some(most);
    // A table of a billion rows is what was asked for.
    let span = design.plan.stop - design.plan.start;
    if design
        .plan
        .output_step
        .is_some_and(|step| span / step > 1e5)
    {
        design.plan.output_step = None;
    }
    let choice = RunChoice {
        engine: Engine::Interpreter,
        ..RunChoice::default()
    };
    let mut calls = 0;
    let outcome = run(&design, &choice, &mut |_| {
        calls += 1;
        match calls < MOST_CALLS {
            true => ControlFlow::Continue(()),
            false => ControlFlow::Break(()),
        }
    });
    if let Ok(outcome) = outcome {
        let table = &outcome.run.table;
        assert!(
            table
                .columns
                .iter()
                .all(|c| c.values.len() == table.time.len())
        );
    }
});
