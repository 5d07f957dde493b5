//! CPU time and memory of every stage from text to the first step.
//!
//! In:  a file, and perhaps an experiment.
//! Out: one line per stage.

use crate::meter::{cpu, memory};
use paynter::exec::Engine;
use paynter::experiment::{lay_out, run_spec};
use paynter::simulate::prepare;
use paynter::solve::{Method, Options, integrate};
use paynter::symbolic::present;
use paynter::{Choice, design};
use std::path::Path;

/// The stages up to which one can go.
pub const STAGES: [&str; 6] = ["graph", "causality", "reduced", "machine", "step", "print"];

/// Goes through the stages up to `last`.
pub fn stages(path: &Path, last: &str) {
    let mut before = cpu();
    let begin = before;
    let mut tell = |what: &str| {
        let now = cpu();
        println!(
            "{what:10} {:6.2} s CPU {:7.2} s so far {:8.1} MB",
            now - before,
            now - begin,
            memory()
        );
        before = now;
    };
    let design = match design(path, &Choice::default()) {
        Ok(design) => design,
        Err(error) => {
            eprintln!("{}: {error:?}", path.display());
            return;
        }
    };
    tell("graph");
    println!(
        "           {} elements, {} bonds",
        design.graph.elements.len(),
        design.graph.bonds.len()
    );
    if last == "graph" {
        return;
    }
    let causality = design.causality();
    tell("causality");
    if last == "causality" {
        return;
    }
    drop(causality);
    let compiled = match design.compile() {
        Ok(compiled) => compiled,
        Err(messages) => {
            eprintln!("{messages:?}");
            return;
        }
    };
    tell("reduced");
    if last == "print" {
        let begin = std::time::Instant::now();
        let shown = present::present(&compiled.reduced, &present::Options::default());
        let text = shown.to_text(&|s| present::plain_name(&compiled.reduced, s));
        tell("print");
        println!(
            "           {:.2} ms on the clock, {} lines",
            begin.elapsed().as_secs_f64() * 1e3,
            text.lines().count()
        );
    }
    if last == "reduced" || last == "print" {
        return;
    }
    let spec = run_spec(&design.plan, &lay_out(&design.plan), &[], Engine::Auto);
    let mut machine = match prepare(&compiled, &spec) {
        Ok(machine) => machine,
        Err(messages) => {
            eprintln!("{messages:?}");
            return;
        }
    };
    tell("machine");
    if last == "machine" {
        return;
    }
    let Ok(start) = machine.initialise(spec.start) else {
        eprintln!("no start");
        return;
    };
    tell("start");
    let options = Options {
        method: Method::Bdf,
        max_steps: 1,
        ..Options::default()
    };
    // One step is all that is allowed, so the run ends with an error; the step was made.
    let end = integrate(
        &mut machine,
        spec.start,
        &start.y0,
        spec.stop,
        &options,
        &mut paynter::solve::NoObserver,
    );
    let steps = match end {
        Ok(finish) => finish.statistics.steps,
        Err(error) => error.statistics.steps,
    };
    tell("step");
    println!("           {steps} steps");
}

/// CPU milliseconds of `work`, repeated until the clock of the kernel can tell, and its result.
fn cpu_milliseconds<R>(work: impl Fn() -> R) -> (f64, R) {
    // 2 % of this is one tick.
    const ENOUGH: f64 = 0.5;
    let begin = cpu();
    let mut n_runs = 1.0;
    let mut result = work();
    while cpu() - begin < ENOUGH {
        result = work();
        n_runs += 1.0;
    }
    ((cpu() - begin) / n_runs * 1e3, result)
}

/// CPU time of each stage for each file.
pub fn growth(files: &[String]) {
    for file in files {
        let (graph, design) = cpu_milliseconds(|| design(Path::new(file), &Choice::default()));
        let Ok(design) = design else {
            eprintln!("{file}: has mistakes");
            return;
        };
        let (strokes, _) = cpu_milliseconds(|| design.causality());
        let (equations, compiled) = cpu_milliseconds(|| design.compile());
        if compiled.is_err() {
            eprintln!("{file}: cannot be reduced");
            return;
        }
        let name = Path::new(file).file_stem().unwrap_or_default();
        println!(
            "{:20} graph {graph:9.2} ms, causality {strokes:8.2} ms, compiled (with causality) {equations:9.2} ms",
            name.display()
        );
    }
}
