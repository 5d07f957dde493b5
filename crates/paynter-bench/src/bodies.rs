//! What a mechanism costs: set-up, memory, code, and one right-hand side.
//!
//! In:  files, each with the experiment to take (`FILE[:EXPERIMENT]`), and the number of bodies in it.
//! Out: one line for each. `benches/bodies.py` writes the models, starts a process for each and fits exponents.

use crate::meter::{cpu_clock, highest_memory, median};
use paynter::exec::{Counters, Engine};
use paynter::experiment::{lay_out, run_spec};
use paynter::simulate::prepare;
use paynter::solve::System;
use paynter::{Choice, design};
use std::hint::black_box;
use std::path::Path;

/// Each measurement of the right-hand side takes at least this long, s.
const ENOUGH: f64 = 0.1;
/// Measurements of which the median counts.
const REPETITIONS: usize = 5;

/// Measures one mechanism.
pub fn bodies(file: &str, experiment: Option<&str>, n_bodies: usize) {
    let choice = Choice {
        experiment: experiment.map(str::to_owned),
        ..Choice::default()
    };
    let (set_up, made) = cpu_clock(|| {
        let design = design(Path::new(file), &choice).map_err(|e| format!("{e:?}"))?;
        let compiled = design.compile().map_err(|e| format!("{e:?}"))?;
        let spec = run_spec(&design.plan, &lay_out(&design.plan), &[], Engine::Jit);
        let mut machine = prepare(&compiled, &spec).map_err(|e| format!("{e:?}"))?;
        let start = machine
            .initialise(spec.start)
            .map_err(|e| format!("{e:?}"))?;
        Ok::<_, String>((machine, start.y0, spec.start))
    });
    let (mut machine, y, t0) = match made {
        Ok(made) => made,
        Err(why) => {
            eprintln!("{file}: {why}");
            return;
        }
    };
    let memory = highest_memory();

    let mut f = vec![0.0; y.len()];
    let mut evaluate = |times: usize| {
        for _ in 0..times {
            let outcome = machine.rhs(t0, black_box(&y), &mut f);
            outcome.expect("it has a value at the start");
            black_box(&f);
        }
    };
    // The kernel counts CPU time in ticks of some milliseconds: each measurement lasts many of them.
    let mut times = 1;
    while cpu_clock(|| evaluate(times)).0 < ENOUGH {
        times *= 2;
    }
    let mut measured: Vec<f64> = (0..REPETITIONS)
        .map(|_| cpu_clock(|| evaluate(times)).0 / times as f64)
        .collect();
    let rhs = median(&mut measured);
    let Counters { rhs: n, .. } = machine.counters();
    println!(
        "{n_bodies} bodies, {} variables: set-up {set_up:.3} s, {memory:.1} MB, code {} bytes, right-hand side {:.2} us, {:.3} us per body ({n} evaluations)",
        y.len(),
        machine.machine_code().unwrap_or(0),
        rhs * 1e6,
        rhs * 1e6 / n_bodies as f64,
    );
}
