//! What the tests share: from text to a subject, and random linear bond graphs.
#![allow(
    dead_code,
    reason = "every test file has its own copy and uses a part of it"
)]

use paynter::overlay::{LibraryOnly, Overlay};
use paynter::syntax::{Diagnostic, render};
use paynter::{Choice, Design, DesignError, Failed, LinearChoice, design_in};
use paynter_structure::{Findings, Subject, ask, control};
use std::fmt::Write as _;

/// Elaborates a text, with inputs and outputs; empty ones are left open.
pub fn try_design(text: &str, from: &str, to: &str) -> Result<Design, Failed> {
    try_design_wanting(text, [from, to, ""])
}

/// As [`try_design`], with wanted curves.
pub fn try_design_wanting(text: &str, [from, to, want]: [&str; 3]) -> Result<Design, Failed> {
    let given = |s: &str| (!s.is_empty()).then(|| s.to_owned());
    let choice = Choice {
        linear: Some(LinearChoice {
            from: given(from),
            to: given(to),
            want: given(want),
            ..LinearChoice::default()
        }),
        ..Choice::default()
    };
    let mut loader = Overlay::new(LibraryOnly);
    loader.set("model.bond", text);
    design_in(&mut loader, "model.bond", &choice).map_err(|e| match e {
        DesignError::Model(failed) => failed,
        DesignError::Unreadable(message) => panic!("{message}"),
    })
}

/// As [`try_design`], of a text without errors.
pub fn design(text: &str, from: &str, to: &str) -> Design {
    try_design(text, from, to)
        .unwrap_or_else(|f| panic!("{text}\n{}", render(&f.diagnostics, &f.sources, false)))
}

/// Controllability and observability of a text.
pub fn findings(text: &str, from: &str, to: &str) -> Result<Findings, Vec<Diagnostic>> {
    let design = design(text, from, to);
    let compiled = design.compile()?;
    control(&Subject::new(&design, ask(&design, None))?, &compiled)
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

    /// True once in `n` times.
    pub fn rarely(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }

    /// A value between 0.5 and 2, with enough digits to be like no other.
    pub fn value(&mut self) -> String {
        let x = 0.5 * 4.0_f64.powf((self.next() >> 11) as f64 / (1u64 << 53) as f64);
        format!("{x:.12}")
    }
}

/// A random linear bond graph: a tree of junctions, or with `n_loops` more bonds between them.
pub struct RandomGraph {
    pub text: String,
    pub from: String,
    pub to: String,
}

pub fn random_graph(seed: u64, n_loops: usize) -> RandomGraph {
    let dice = &mut Dice(seed.wrapping_mul(0x2545_f491_4f6c_dd1d).wrapping_add(77));
    let n = 2 + dice.below(5);
    let is_one: Vec<bool> = (0..n).map(|_| dice.rarely(2)).collect();
    let mut text = "model M {\n".to_owned();
    let mut outputs = Vec::new();
    for (k, one) in is_one.iter().enumerate() {
        let kind = if *one { "1" } else { "0" };
        // Every junction has an element, so that none is bare.
        let own = element(dice, &format!("a{k}"));
        let _ = writeln!(text, "    j{k}: {kind} -> {own}");
        if dice.rarely(2) {
            let own = element(dice, &format!("b{k}"));
            let _ = writeln!(text, "    j{k} -> {own}");
        }
    }
    let bond = |dice: &mut Dice, text: &mut String, from: usize, to: usize| {
        let between = match dice.below(4) {
            0 => format!("TF({}) -> ", dice.value()),
            1 => format!("GY({}) -> ", dice.value()),
            _ => String::new(),
        };
        let _ = writeln!(text, "    j{from} -> {between}j{to}");
    };
    for k in 1..n {
        let parent = dice.below(k);
        bond(dice, &mut text, parent, k);
    }
    for _ in 0..n_loops {
        let (a, b) = (dice.below(n), dice.below(n));
        if a != b {
            bond(dice, &mut text, a.min(b), a.max(b));
        }
    }
    let mut inputs = Vec::new();
    for k in 0..1 + dice.below(2) {
        let j = dice.below(n);
        let (kind, letter) = if is_one[j] { ("Se", "e") } else { ("Sf", "f") };
        let _ = writeln!(text, "    s{k}: {kind}(1) -> j{j}");
        inputs.push(format!("s{k}.{letter}"));
    }
    for _ in 0..1 + dice.below(2) {
        let j = dice.below(n);
        let output = format!("j{j}.{}", if is_one[j] { "f" } else { "e" });
        if !outputs.contains(&output) {
            outputs.push(output);
        }
    }
    text.push_str("}\n");
    RandomGraph {
        text,
        from: inputs.join(", "),
        to: outputs.join(", "),
    }
}

fn element(dice: &mut Dice, name: &str) -> String {
    let kind = ["R", "C", "I", "C", "I"][dice.below(5)];
    format!("{name}: {kind}({})", dice.value())
}
