//! `paynter gallery`: lists the models of the gallery, or runs all of them.

use crate::console::{OK, RUN_FAILED, call_error, show};
use clap::Args;
use paynter::DesignError;
use std::path::PathBuf;

/// What to do with the gallery.
#[derive(Args)]
pub struct GalleryArgs {
    /// Run every experiment of every model below this folder and compare with its reference
    #[arg(long, num_args = 0..=1, default_missing_value = "gallery", value_name = "FOLDER")]
    run: Option<PathBuf>,
}

/// Lists or runs.
pub fn gallery(args: &GalleryArgs) -> u8 {
    match &args.run {
        None => list(),
        Some(folder) => run_all(folder),
    }
}

fn list() -> u8 {
    for (name, files) in paynter::library::gallery() {
        let title = files
            .iter()
            .find(|(below, _)| *below == "README.md")
            .and_then(|(_, text)| text.lines().find_map(|l| l.strip_prefix("# ")))
            .unwrap_or("");
        crate::say!("{name:<20} {title}");
    }
    crate::say!("\nStart from one: paynter new NAME --from gyroscope");
    OK
}

fn run_all(folder: &std::path::Path) -> u8 {
    let mut files = Vec::new();
    let Ok(entries) = std::fs::read_dir(folder) else {
        return call_error(format!("{}: there is no such folder", folder.display()));
    };
    for entry in entries.flatten() {
        if let Ok(inside) = std::fs::read_dir(entry.path()) {
            files.extend(
                inside
                    .flatten()
                    .map(|e| e.path())
                    .filter(|p| p.extension().is_some_and(|e| e == "bond")),
            );
        }
    }

    files.sort();
    let (mut n_passed, mut n_failed) = (0, 0);
    for file in &files {
        let experiments = match paynter::experiments(file) {
            Ok(names) => names,
            Err(DesignError::Unreadable(message)) => return call_error(message),
            Err(DesignError::Model(failed)) => {
                show(&failed, false);
                n_failed += 1;
                continue;
            }
        };
        let shown = file.strip_prefix(folder).unwrap_or(file).display();
        for name in experiments {
            match paynter::run_experiment(file, &name) {
                Ok(summary) if summary.is_good => {
                    n_passed += 1;
                    crate::say!("ok    {shown} {name}: {}", summary.text);
                }
                Ok(summary) => {
                    n_failed += 1;
                    crate::say!("FAIL  {shown} {name}: {}", summary.text);
                }
                Err(message) => {
                    n_failed += 1;
                    crate::say!("FAIL  {shown} {name}\n{message}");
                }
            }
        }
    }

    crate::say!("{n_passed} passed, {n_failed} failed");
    if n_failed == 0 { OK } else { RUN_FAILED }
}
