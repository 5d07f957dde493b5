//! What the tests share: rewriting of texts in memory, runs of both, random graphs.
#![allow(
    dead_code,
    reason = "every test file has its own copy and uses a part of it"
)]

use paynter::overlay::{LibraryOnly, Overlay};
use paynter::run::{RunChoice, run};
use paynter::syntax::render;
use paynter::table::Table;
use paynter::{Choice, DesignError, design_in};
use paynter_rewrite::{Rewritten, Wish, simplify};
use std::ops::ControlFlow;

pub const PATH: &str = "model.bond";

pub fn world(text: &str) -> Overlay<LibraryOnly> {
    let mut world = Overlay::new(LibraryOnly);
    world.set(PATH, text);
    world
}

/// The words of an error.
pub fn words(error: DesignError) -> String {
    match error {
        DesignError::Unreadable(message) => message,
        DesignError::Model(f) => render(&f.diagnostics, &f.sources, false),
    }
}

/// Simplifies a text with all rules.
pub fn simple(text: &str) -> Rewritten {
    simple_by(text, &[])
}

/// Simplifies a text with these rules.
pub fn simple_by(text: &str, only: &[&str]) -> Rewritten {
    let only: Vec<String> = only.iter().map(|o| (*o).to_owned()).collect();
    let found = simplify(&mut world(text), PATH, &Wish::default(), &only);
    found.unwrap_or_else(|e| panic!("{text}\n{}", words(e)))
}

/// Runs the first experiment of a text; none if it has errors or does not start.
pub fn ran_if_it_starts(text: &str) -> Option<Table> {
    let design = design_in(&mut world(text), PATH, &Choice::default()).ok()?;
    let outcome = run(&design, &RunChoice::default(), &mut |_| {
        ControlFlow::Continue(())
    });
    Some(outcome.ok()?.run.table)
}

/// Runs the first experiment of a text.
pub fn ran(text: &str) -> Table {
    ran_by(text, &Choice::default())
}

/// Runs an experiment of a text.
pub fn ran_named(text: &str, experiment: &str) -> Table {
    let choice = Choice {
        experiment: Some(experiment.to_owned()),
        ..Choice::default()
    };
    ran_by(text, &choice)
}

fn ran_by(text: &str, choice: &Choice) -> Table {
    let design = design_in(&mut world(text), PATH, choice);
    let design = design.unwrap_or_else(|e| panic!("{text}\n{}", words(e)));
    let outcome = run(&design, &RunChoice::default(), &mut |_| {
        ControlFlow::Continue(())
    });
    let outcome = outcome
        .unwrap_or_else(|m| panic!("{text}\n{}", render(&m, &design.project.sources, false)));
    outcome.run.table
}

/// The largest difference of two runs, column by column in their order, as a part of the largest value of all.
pub fn difference(a: &Table, b: &Table) -> f64 {
    assert_eq!(a.columns.len(), b.columns.len());
    assert_eq!(a.time, b.time);
    let mut worst = 0.0_f64;
    for (x, y) in a.columns.iter().zip(&b.columns) {
        let size = x.values.iter().fold(1e-3_f64, |m, v| m.max(v.abs()));
        for (p, q) in x.values.iter().zip(&y.values) {
            worst = worst.max((p - q).abs() / size);
        }
    }
    worst
}

/// Numbers of random cases: `PAYNTER_CASES` asks for more of them, `PAYNTER_SEED` for others (a million times it is the first).
pub fn cases(usual: u64) -> std::ops::Range<u64> {
    let number = |name: &str| std::env::var(name).ok().and_then(|n| n.parse::<u64>().ok());
    let first = 1_000_000 * number("PAYNTER_SEED").unwrap_or(0);
    first..first + number("PAYNTER_CASES").unwrap_or(usual)
}

/// Numbers that look random and are the same in every run (SplitMix64).
pub struct Dice(pub u64);

impl Dice {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub fn below(&mut self, n: usize) -> usize {
        (self.next() % n as u64) as usize
    }

    pub fn rarely(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }

    /// A value between 0.5 and 2.
    pub fn value(&mut self) -> String {
        let x = 0.5 * 4.0_f64.powf((self.next() >> 11) as f64 / (1u64 << 53) as f64);
        format!("{x:.6}")
    }
}

/// A random graph that gives every rule something to do, and an experiment that reads much of it.
pub fn random_graph(seed: u64) -> String {
    let dice = &mut Dice(seed.wrapping_mul(0x2545_f491_4f6c_dd1d).wrapping_add(5));
    let n = 3 + dice.below(4);
    let is_one: Vec<bool> = (0..n).map(|_| dice.rarely(2)).collect();
    let mut text = "model M {\n    param k = 1.3, g = 0.7\n    input u = 0.4\n".to_owned();
    let mut read = Vec::new();
    for (j, one) in is_one.iter().enumerate() {
        let (kind, shared) = if *one { ("1", "f") } else { ("0", "e") };
        text += &format!("    j{j}: {kind}\n");
        read.push(format!("j{j}.{shared}"));
        for e in 0..dice.below(3) {
            let name = format!("x{j}{e}");
            let value = [dice.value(), format!("{}*k", dice.value()), "g".to_owned()]
                [dice.below(3)]
            .clone();
            let letter = ["R", "R", "C", "I"][dice.below(4)];
            text += &format!(
                "    j{j} -> {}{name}: {letter}({value})\n",
                two_port(dice, true)
            );
            read.push(format!("{name}.e"));
            read.push(format!("{name}.f"));
        }
        if dice.rarely(4) {
            let source = ["Se(0)", "Sf(0)", "Se(u)", "Sf(u*sin(time))"][dice.below(4)];
            text += &format!("    {source} -> j{j}\n");
        }
    }
    for j in 1..n {
        let parent = dice.below(j);
        text += &format!("    j{parent} -> {}j{j}\n", two_port(dice, false));
    }
    text += "    j0 -> last: R(1)\n    Se(u) -> TF(1) -> e0: 1 -> j0\n    e0 -> e0r: R(0.9)\n}\n";
    // Half of the quantities are read: rules are held up by some of them.
    let kept: Vec<String> = read.into_iter().filter(|_| dice.rarely(2)).collect();
    let records: String = kept.iter().map(|r| format!("    record {r}\n")).collect();
    text + &format!(
        "experiment go of M {{\n    stop = 0.5; output_step = 0.05; rtol = 1e-11\n    record last.f\n{records}}}\n"
    )
}

/// A random graph whose model and experiment give start values to some of its storages and junctions.
pub fn random_graph_with_starts(seed: u64) -> String {
    let text = random_graph(seed);
    let dice = &mut Dice(seed.wrapping_mul(0x9fb2_1c65).wrapping_add(29));
    let (mut in_model, mut in_experiment) = (Vec::new(), Vec::new());
    for line in text.lines() {
        let letter = match ["C(", "I("]
            .iter()
            .position(|k| line.contains(&format!(": {k}")))
        {
            Some(0) => "q",
            Some(_) => "p",
            None => continue,
        };
        let name = line.split(": ").next().and_then(|l| l.rsplit(' ').next());
        let quantity = [letter, letter, "f", "e"][dice.below(4)];
        let start = format!(
            "{}.{quantity} = {}",
            name.expect("storages have names"),
            dice.value()
        );
        match dice.below(4) {
            0 => in_model.push(start),
            1 => in_experiment.push(start),
            _ => {}
        }
    }
    let line = |all: &[String]| match all.is_empty() {
        true => String::new(),
        false => format!("    start {}\n", all.join(", ")),
    };
    let (model, experiment) = text
        .split_once("}\nexperiment go of M {\n")
        .expect("as written");
    format!(
        "{model}{}}}\nexperiment go of M {{\n{}{experiment}",
        line(&in_model),
        line(&in_experiment)
    )
}

/// Two-ports on the way of a bond.
fn two_port(dice: &mut Dice, is_end: bool) -> String {
    let one = |dice: &mut Dice| match dice.below(4) {
        0 => "TF(k) -> ".to_owned(),
        1 => format!("TF({}) -> ", dice.value()),
        2 => format!("GY({}) -> ", dice.value()),
        _ => "TF(1 + 0.3*sin(time)) -> ".to_owned(),
    };
    match dice.below(if is_end { 5 } else { 4 }) {
        0 => one(dice),
        1 => one(dice) + &one(dice),
        _ => String::new(),
    }
}
