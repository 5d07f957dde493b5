//! Measures the time from a keystroke to the messages: gallery models, and a ladder of 10 000 elements; and the memory after
//! ten thousand keystrokes.
//!
//! `cargo run --release --example keystroke -- FOLDER` prints p50 and p95 in milliseconds on the clock for each file below it, and
//! where the system tells it (Linux) the mean time of all processors, which other programs do not lengthen.

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
        let spent = processor();
        let mut times = type_into(&path, &text);
        report(&path, &mut times, processor() - spent);
        all.extend(times);
    }
    if !all.is_empty() {
        report("all files", &mut all, processor());
    }
    let spent = processor();
    let mut times = type_into("ladder.bond", &ladder(10_000));
    let spent = processor() - spent;
    report("ladder of 10 000 elements", &mut times, spent);
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

/// Milliseconds of all processors so far; 0 where the system does not tell.
fn processor() -> f64 {
    let told = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let behind_name = told.rsplit(')').next().unwrap_or("");
    // Fields 14 and 15 of the file, in hundredths of a second.
    let ticks = behind_name.split_whitespace().skip(11).take(2);
    ticks.filter_map(|t| t.parse::<f64>().ok()).sum::<f64>() * 10.0
}

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
        let start = Instant::now();
        let _ = workspace.messages(path);
        times.push(start.elapsed().as_secs_f64() * 1e3);
        workspace.change(path, text);
    }
    times
}

fn report(name: &str, times: &mut [f64], spent: f64) {
    times.sort_by(f64::total_cmp);
    let at = |part: f64| {
        times
            .get(((times.len() as f64 * part) as usize).min(times.len().saturating_sub(1)))
            .copied()
            .unwrap_or(0.0)
    };
    println!(
        "{name}: p50 {:.1} ms, p95 {:.1} ms; {:.1} ms of the processors each",
        at(0.5),
        at(0.95),
        spent / times.len().max(1) as f64
    );
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
