//! Measures Paynter beside hand-written Rust.
//!
//! In:  what to measure: `gyroscope`, `rhs`, `ladder`, `sweep`, `points COUNT [hand]`, `growth FILES`, `stages FILE [STAGE]`,
//!      `bodies FILE COUNT [EXPERIMENT]`.
//! Out: lines for `BENCHMARKS.md`. `benches/run.sh` calls it.

mod bodies;
mod dop853;
mod gyroscope;
mod ladder;
mod meter;
mod stages;
mod unaudited;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let models: PathBuf = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../benches/models");
    match arguments.first().map(String::as_str) {
        Some("gyroscope") => gyroscope::whole_run(&models),
        Some("rhs") => gyroscope::rhs(&models),
        Some("ladder") => ladder::ladder(&models),
        Some("sweep") => gyroscope::sweep(&models),
        Some("points") => {
            let n_points = arguments.get(1).and_then(|n| n.parse().ok());
            let is_by_hand = arguments.get(2).is_some_and(|how| how == "hand");
            gyroscope::points(&models, n_points.unwrap_or(1000), is_by_hand);
        }
        Some("growth") => stages::growth(&arguments[1..]),
        Some("stages") if arguments.len() > 1 => {
            let last = arguments.get(2).map_or("step", String::as_str);
            stages::stages(Path::new(&arguments[1]), last);
        }
        Some("bodies") if arguments.len() > 2 => {
            let n_bodies = arguments[2].parse().unwrap_or(1);
            let experiment = arguments.get(3).map(String::as_str);
            bodies::bodies(&arguments[1], experiment, n_bodies);
        }
        _ => {
            eprintln!(
                "usage: paynter-bench gyroscope|rhs|ladder|sweep|points COUNT [hand]|growth FILES|stages FILE [{}]|bodies FILE COUNT [EXPERIMENT]",
                stages::STAGES.join("|")
            );
            return ExitCode::from(2);
        }
    }
    ExitCode::SUCCESS
}
