//! What all law tests share: from model text to columns, in one call.
//!
//! In:  model text; its first experiment is run.
//! Out: the outcome, or the messages.
#![allow(
    dead_code,
    reason = "every test file has its own copy and uses a part of it"
)]

use paynter::exec::Engine;
use paynter::experiment::Outcome;
use paynter::run::{RunChoice, run};
use paynter::simulate::Ending;
use paynter::syntax::{Diagnostic, render};
use paynter::{Choice, Design, DesignError, Failed};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

/// A file that disappears with its value.
pub struct Scratch(pub PathBuf);

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

/// Writes a text to a file of its own.
pub fn scratch(text: &str) -> Scratch {
    static COUNT: AtomicUsize = AtomicUsize::new(0);
    let n = COUNT.fetch_add(1, Ordering::Relaxed);
    let name = format!("paynter-law-{}-{n}.bond", std::process::id());
    // Inside of the project, so that texts may name files of the gallery.
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::write(&path, text).expect("the temporary folder can be written");
    Scratch(path)
}

/// Elaborates the first experiment of a text.
pub fn try_design(text: &str) -> Result<Design, Failed> {
    let file = scratch(text);
    paynter::design(&file.0, &Choice::default()).map_err(|e| match e {
        DesignError::Model(failed) => failed,
        DesignError::Unreadable(message) => panic!("{message}"),
    })
}

/// Elaborates a text without mistakes.
pub fn design(text: &str) -> Design {
    try_design(text).unwrap_or_else(|f| panic!("{}", render(&f.diagnostics, &f.sources, false)))
}

/// Runs the first experiment of a text; errors are those that keep it from starting.
pub fn try_run(text: &str) -> Result<Outcome, Failed> {
    let design = try_design(text)?;
    run_design(&design, Engine::Auto).map_err(|d| design.failed(d))
}

/// Runs a design.
pub fn run_design(design: &Design, engine: Engine) -> Result<Outcome, Vec<Diagnostic>> {
    let choice = RunChoice {
        engine,
        ..RunChoice::default()
    };
    run(design, &choice, &mut |_| ControlFlow::Continue(()))
}

/// Runs the first experiment of a text to its end.
pub fn run_text(text: &str) -> Outcome {
    let design = design(text);
    let outcome = run_design(&design, Engine::Auto)
        .unwrap_or_else(|d| panic!("{}", render(&d, &design.project.sources, false)));
    if let Ending::Failed {
        why: diagnostics, ..
    } = &outcome.run.ending
    {
        panic!("{}", render(diagnostics, &design.project.sources, false));
    }
    outcome
}

/// Every message of a text: of the file, the structure, the start, the run.
pub fn messages(text: &str) -> (Vec<Diagnostic>, String) {
    let (failed, sources) = match try_design(text) {
        Err(failed) => (failed.diagnostics, failed.sources),
        Ok(design) => {
            let messages = match run_design(&design, Engine::Auto) {
                Err(messages) => messages,
                Ok(outcome) => match outcome.run.ending {
                    Ending::Failed {
                        why: diagnostics, ..
                    } => diagnostics,
                    _ => Vec::new(),
                },
            };
            (messages, design.project.sources)
        }
    };
    let text = render(&failed, &sources, false);
    (failed, text)
}

/// A recorded column.
pub fn column<'a>(outcome: &'a Outcome, name: &str) -> &'a [f64] {
    let column = outcome.run.table.column(name);
    &column
        .unwrap_or_else(|| panic!("`{name}` is not recorded"))
        .values
}

/// The last value of a column.
pub fn last(outcome: &Outcome, name: &str) -> f64 {
    *column(outcome, name)
        .last()
        .expect("a run records at least one row")
}

/// Largest |x − y|.
pub fn distance(x: &[f64], y: &[f64]) -> f64 {
    assert_eq!(x.len(), y.len());
    let differences = x.iter().zip(y).map(|(a, b)| (a - b).abs());
    // NaN must not pass for agreement.
    differences.fold(
        0.0,
        |worst, d| if d.is_nan() || d > worst { d } else { worst },
    )
}

/// Largest |x|.
pub fn size(x: &[f64]) -> f64 {
    x.iter().fold(0.0, |s: f64, v| s.max(v.abs()))
}

/// Fails unless the values agree within an absolute difference.
#[track_caller]
pub fn assert_close(value: f64, expected: f64, within: f64) {
    let d = (value - expected).abs();
    assert!(d <= within, "{value:?} is not {expected:?}: {d:e} apart");
}

/// The folder of the gallery.
pub fn gallery() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../gallery")
}

/// Text of a gallery file, without its experiments.
pub fn gallery_models(file: &str) -> String {
    let text = gallery_text(file);
    let mut kept = String::new();
    let mut is_experiment = false;
    for line in text.lines() {
        is_experiment |= line.starts_with("experiment");
        if !is_experiment {
            kept.push_str(line);
            kept.push('\n');
        }
        if line.starts_with('}') || line.ends_with("}\n") {
            is_experiment = false;
        }
    }
    kept
}

/// Text of a gallery file.
pub fn gallery_text(file: &str) -> String {
    std::fs::read_to_string(gallery().join(file)).expect("part of the project")
}

/// The `.bond` files of one folder, in order.
pub fn bond_files(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).expect("the folder is part of the project");
    let mut files: Vec<PathBuf> = entries
        .flatten()
        .map(|e| e.path())
        .filter(|p| p.extension().is_some_and(|e| e == "bond"))
        .collect();
    files.sort();
    files
}

/// Every `.bond` file of the gallery, in order.
pub fn gallery_files() -> Vec<PathBuf> {
    let folders = std::fs::read_dir(gallery()).expect("part of the project");
    let folders = folders.flatten().map(|e| e.path()).filter(|p| p.is_dir());
    let mut found: Vec<PathBuf> = folders.flat_map(|folder| bond_files(&folder)).collect();
    found.sort();
    found
}

/// Seeded numbers: splitmix64 (Steele, Lea & Flood 2014), the same on every machine.
pub struct Seeded(pub u64);

impl Seeded {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A whole number below `n`.
    pub fn below(&mut self, n: usize) -> usize {
        (self.next() % n as u64) as usize
    }

    /// A number between `low` and `high`.
    pub fn between(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * (self.next() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// Mixes a list (Fisher–Yates).
    pub fn shuffle<T>(&mut self, list: &mut [T]) {
        for i in (1..list.len()).rev() {
            list.swap(i, self.below(i + 1));
        }
    }
}

/// A random network of resistors, storages, transformers and gyrators: nodes are 0-junctions, the
/// branches between them 1-junctions, so that loops arise. Every law rises, so every network is
/// well posed; storages may depend on each other. A pulse gives it energy for one second.
pub fn passive_network(seed: u64, wants_nonlinear: bool) -> String {
    let mut random = Seeded(seed);
    let n_nodes = 2 + random.below(4);
    let mut text = String::from("model M {\n");
    let element = |random: &mut Seeded, name: &str| {
        let (a, b) = (random.between(0.3, 3.0), random.between(0.1, 1.0));
        match random.below(if wants_nonlinear { 8 } else { 4 }) {
            0 | 1 => format!("{name}: R({a:.3})"),
            2 => format!("{name}: C({a:.3})"),
            3 => format!("{name}: I({a:.3})"),
            4 => format!("{name}: R {{ e = {a:.3}*f + {b:.3}*f^3 }}"),
            5 => format!("{name}: R {{ f = {a:.3}*e + {b:.3}*e^3 }}"),
            6 => format!("{name}: C {{ e = {a:.3}*q + {b:.3}*q^3 }}"),
            _ => format!("{name}: I {{ f = {a:.3}*p + {b:.3}*tanh(p) }}"),
        }
    };
    for k in 0..n_nodes {
        let own = element(&mut random, &format!("own{k}"));
        let leak = random.between(0.3, 3.0);
        text += &format!("n{k}: 0 -> {own}, leak{k}: R({leak:.3})\n");
    }
    // A tree first, then branches that close loops.
    for k in 1..n_nodes + random.below(3) {
        let (from, to) = match k < n_nodes {
            true => (random.below(k), k),
            false => (random.below(n_nodes), random.below(n_nodes)),
        };
        if from == to {
            continue;
        }
        let ratio = random.between(0.5, 2.0);
        let between = match random.below(4) {
            0 => format!("TF({ratio:.3}) -> "),
            1 => format!("GY({ratio:.3}) -> "),
            _ => String::new(),
        };
        let own = element(&mut random, &format!("on{k}"));
        let r = random.between(0.3, 3.0);
        text += &format!("n{from} -> {between}b{k}: 1 -> n{to}\nb{k} -> {own}, r{k}: R({r:.3})\n");
    }
    text += "s: Se(pulse(time, 1, from = 0, to = 1)) -> feed: 1 -> n0\nfeed -> rs: R(1)\n}\n";
    text + "experiment x of M { stop = 5; output_step = 0.05; rtol = 1e-8
        record system.energy as E, system.dissipated as D }\n"
}

/// A number from the environment: how many cases, which seed.
pub fn number_from(name: &str) -> Option<u64> {
    std::env::var(name).ok()?.parse().ok()
}
