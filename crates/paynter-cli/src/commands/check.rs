//! `paynter check`: every model and experiment of a file, without running anything.

use crate::console::{MODEL_WRONG, OK, call_error, show};
use clap::Args;
use std::path::PathBuf;

/// Files to check.
#[derive(Args)]
pub struct CheckArgs {
    /// Model files (.bond)
    #[arg(required = true)]
    files: Vec<PathBuf>,
    /// Print as JSON
    #[arg(long)]
    json: bool,
}

/// Checks each file; the worst decides the exit status.
pub fn check(args: &CheckArgs) -> u8 {
    let mut status = OK;
    for file in &args.files {
        let checked = match paynter::check(file) {
            Ok(checked) => checked,
            Err(message) => {
                status = status.max(call_error(message));
                continue;
            }
        };
        show(&checked, args.json);
        let n_errors = checked.diagnostics.iter().filter(|d| d.is_error()).count();
        let n_others = checked.diagnostics.len() - n_errors;
        if n_errors > 0 {
            status = status.max(MODEL_WRONG);
        }
        if !args.json {
            let verdict = match (n_errors, n_others) {
                (0, 0) => "no errors found".to_owned(),
                (0, n) => format!("usable, {n} remark{}", plural(n)),
                (n, _) => format!("{n} error{}", plural(n)),
            };
            crate::say!("{}: {verdict}", file.display());
        }
    }
    status
}

fn plural(n: usize) -> &'static str {
    if n == 1 { "" } else { "s" }
}
