//! `paynter watch FILE`: checks on every save, and runs if all is well.

use crate::console::{OK, call_error, show};
use clap::Args;
use paynter_service::Workspace;
use std::path::PathBuf;
use std::time::Duration;

/// How often the files are looked at: quicker than a person turns to the terminal.
const BETWEEN_LOOKS: Duration = Duration::from_millis(200);

/// What to watch.
#[derive(Args)]
pub struct WatchArgs {
    /// The model file (.bond)
    file: PathBuf,
    /// The experiment to run; default: the first of the file
    #[arg(long, short, value_name = "NAME")]
    experiment: Option<String>,
    /// Check only, do not run
    #[arg(long)]
    check: bool,
    /// Stop after this many changes
    #[arg(long, value_name = "N")]
    times: Option<usize>,
}

/// Watches a file and everything it uses until it is interrupted.
pub fn watch(args: &WatchArgs) -> u8 {
    let path = args.file.display().to_string();
    let workspace = Workspace::new([]);
    let mut n_done = 0;
    loop {
        let Some(checked) = workspace.checked(&path) else {
            // An editor may replace the file: wait for the new one, unless there never was one.
            if n_done == 0 {
                return call_error(format!("{path}: there is no such file"));
            }
            std::thread::sleep(BETWEEN_LOOKS);
            continue;
        };
        look(args, &path);
        n_done += 1;
        if args.times.is_some_and(|n| n_done >= n) {
            return OK;
        }
        while workspace.is_current(&checked) {
            std::thread::sleep(BETWEEN_LOOKS);
        }
    }
}

fn look(args: &WatchArgs, path: &str) {
    let checked = match paynter::check(&args.file) {
        Ok(checked) => checked,
        Err(message) => return crate::say!("{message}"),
    };
    show(&checked, false);
    let n_errors = checked.diagnostics.iter().filter(|d| d.is_error()).count();
    if n_errors > 0 {
        return crate::say!(
            "{path}: {n_errors} error{}",
            if n_errors == 1 { "" } else { "s" }
        );
    }
    crate::say!("{path}: no errors");
    if args.check {
        return;
    }
    let experiments = paynter::experiments(&args.file).unwrap_or_default();
    let Some(experiment) = args.experiment.clone().or(experiments.into_iter().next()) else {
        return;
    };
    match paynter::run_experiment(&args.file, &experiment) {
        Ok(summary) => crate::say!("{experiment}: {}", summary.text),
        Err(message) => crate::say!("{experiment}: {message}"),
    }
}
