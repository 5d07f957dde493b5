//! Measures the time from a keystroke to the messages: gallery models, and a ladder of 10 000 elements; and the memory after
//! ten thousand keystrokes.
//!
//! `cargo run --release --example keystroke -- FOLDER` prints p50 and p95 in milliseconds for each file below it. Where the system tells
//! it (Linux), this is time of the processor, which other programs do not lengthen.

use paynter_service::Workspace;
use std::fmt::Write as _;
use std::path::PathBuf;
use std::time::Instant;

/// Keystrokes per file: p95 is the third longest.
const N_STROKES: usize = 60;

fn main() {
    let folder = std::env::args()
        .nth(1)
        .unwrap_or_else(|| "gallery".to_owned());
    let workspace = Workspace::new([PathBuf::from(folder)]);
    let mut all = Vec::new();
    for path in workspace.files() {
        let Some(text) = workspace.text(&path) else {
            continue;
        };
        let mut times = type_into(&path, &text);
        report(&path, &mut times);
        all.extend(times);
    }
    if !all.is_empty() {
        report("all files", &mut all);
    }
    let mut times = type_into("ladder.bond", &ladder(10_000));
    report("ladder of 10 000 elements", &mut times);
    many_strokes();
}

/// Ten thousand keystrokes in one text: what the program keeps must not grow.
fn many_strokes() {
    let text = "model M {\n    s: Se(1 [V]) -> j: 1 -> r: R(2 [ohm]), i: I(3 [H])\n}\n\nexperiment go of M { stop = 1 [s]; record i.f }\n";
    let mut workspace = Workspace::new([]);
    workspace.open("m.bond", text);
    let mut sizes = Vec::new();
    for k in 0..=10_000_usize {
        workspace.change("m.bond", text.replace("R(2", &format!("R({}", k + 2)));
        let _ = workspace.messages("m.bond");
        let _ = workspace.view("m.bond", "M");
        if matches!(k, 1_000 | 10_000) {
            sizes.push(resident());
        }
    }
    println!("memory after 1000 and 10 000 edits: {sizes:?} kB");
}

/// Memory of this process, kB.
fn resident() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|l| l.starts_with("VmRSS:"))?;
    line.split_whitespace().nth(1)?.parse().ok()
}

/// Milliseconds of the processor, or on the clock.
fn now() -> f64 {
    let told = std::fs::read_to_string("/proc/thread-self/schedstat").ok();
    let spent = told.and_then(|t| t.split_whitespace().next()?.parse::<f64>().ok());
    match spent {
        Some(nanoseconds) => nanoseconds * 1e-6,
        None => START.elapsed().as_secs_f64() * 1e3,
    }
}

static START: std::sync::LazyLock<Instant> = std::sync::LazyLock::new(Instant::now);

/// Types a digit behind a number and takes it back, here and there in the text.
fn type_into(path: &str, text: &str) -> Vec<f64> {
    let mut workspace = Workspace::new([]);
    workspace.open(path, text);
    let _ = workspace.messages(path);
    let places: Vec<usize> = text
        .char_indices()
        .filter(|&(at, c)| {
            c.is_ascii_digit()
                && !text[at + 1..].starts_with(|n: char| n.is_alphanumeric() || n == '.')
        })
        .map(|(at, _)| at + 1)
        .collect();
    let mut times = Vec::new();
    for k in 0..N_STROKES {
        let Some(&at) = places.get(k * 7919 % places.len().max(1)) else {
            break;
        };
        let typed = format!("{}1{}", &text[..at], &text[at..]);
        workspace.change(path, typed);
        let start = now();
        let _ = workspace.messages(path);
        times.push(now() - start);
        workspace.change(path, text);
    }
    times
}

fn report(name: &str, times: &mut [f64]) {
    times.sort_by(f64::total_cmp);
    let at = |part: f64| {
        times
            .get(((times.len() as f64 * part) as usize).min(times.len().saturating_sub(1)))
            .copied()
            .unwrap_or(0.0)
    };
    println!("{name}: p50 {:.1} ms, p95 {:.1} ms", at(0.5), at(0.95));
}

/// A flat ladder written out line by line.
fn ladder(n_elements: usize) -> String {
    let mut text = String::from("model Ladder {\n    supply: Se(10) -> j0: 1 -> r0: R(1)\n");
    for k in 0..n_elements / 4 {
        let _ = writeln!(
            text,
            "    j{k} -> n{k}: 0 -> j{}: 1\n    n{k} -> c{k}: C(0.001)\n    j{} -> r{}: R(1)",
            k + 1,
            k + 1,
            k + 1
        );
    }
    text.push_str("}\n\nexperiment go of Ladder { stop = 1 }\n");
    text
}
