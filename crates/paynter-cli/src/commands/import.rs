//! `paynter import urdf FILE`: the model of another program as a model file.
//!
//! In:  the file of the other program, and where to write.
//! Out: a `.bond` file beside it that `paynter run` can run; messages about what was not taken over.

use crate::console::{MODEL_WRONG, OK, call_error, show};
use clap::{Args, Subcommand};
use paynter::Failed;
use paynter::output::write_new;
use std::path::PathBuf;

/// What to import.
#[derive(Args)]
pub struct ImportArgs {
    #[command(subcommand)]
    format: Format,
}

#[derive(Subcommand)]
enum Format {
    /// A robot in URDF: links, joints, inertias, limits, frames
    Urdf(UrdfArgs),
}

#[derive(Args)]
struct UrdfArgs {
    /// The URDF file
    file: PathBuf,
    /// Write the model here; default FILE.bond in the current folder
    #[arg(long, short, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Print messages as JSON
    #[arg(long)]
    json: bool,
}

/// Imports a file; never writes over one that is there.
pub fn import(args: &ImportArgs) -> u8 {
    let Format::Urdf(args) = &args.format;
    let text = match std::fs::read_to_string(&args.file) {
        Ok(text) => text,
        Err(error) => {
            return call_error(format!("{} cannot be read: {error}", args.file.display()));
        }
    };
    let imported = paynter_import::import_urdf(&args.file.display().to_string(), &text);
    let failed = Failed {
        diagnostics: imported.diagnostics,
        sources: imported.sources,
    };
    show(&failed, args.json);
    let Some(model) = imported.text else {
        return MODEL_WRONG;
    };
    let stem = args.file.file_stem().unwrap_or_default();
    let beside = PathBuf::from(stem).with_extension("bond");
    let path = args.out.as_ref().unwrap_or(&beside);
    match write_new(path, model.as_bytes()) {
        Ok(()) => {
            if !args.json {
                crate::say!("model written to {}", path.display());
            }
            OK
        }
        Err(error) => call_error(error),
    }
}
