//! `paynter lagrangian`: the bond graph of a Lagrangian as text, with its proof.

use crate::commands::outputs::Outputs;
use crate::console::{MODEL_WRONG, OK, call_error, show};
use clap::Args;
use paynter::DesignError;
use paynter::model::lagrange::Style;
use std::path::PathBuf;

/// Which block, and how.
#[derive(Args)]
pub struct LagrangianArgs {
    /// The model file (.bond)
    file: PathBuf,
    /// The lagrangian to write; default: all of the file
    #[arg(long, value_name = "NAME")]
    model: Option<String>,
    /// Between which junctions gyrators are put
    #[arg(long, value_enum, default_value = "ring")]
    gyrators: Gyrators,
    /// Write the text to this file
    #[arg(long, short, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Print messages as JSON
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Copy, PartialEq, clap::ValueEnum)]
enum Gyrators {
    /// Rings and single gyrators between any junctions, else between coordinates
    Ring,
    /// As ring, and two gyrators where one is not enough
    Factored,
    /// Between coordinates only
    Coordinate,
}

/// Writes the text; a proof that fails is an error.
pub fn lagrangian(args: &LagrangianArgs) -> u8 {
    let outputs = Outputs::beside([args.file.as_path()]);
    if let Some(path) = &args.out
        && let Err(message) = outputs.check(path, &["bond"])
    {
        return call_error(message);
    }

    let style = match args.gyrators {
        Gyrators::Ring => Style::Ring,
        Gyrators::Factored => Style::Factored,
        Gyrators::Coordinate => Style::Coordinate,
    };
    let written = match paynter::write_lagrangian(&args.file, args.model.as_deref(), style) {
        Ok(written) => written,
        Err(DesignError::Unreadable(message)) => return call_error(message),
        Err(DesignError::Model(failed)) => {
            show(&failed, args.json);
            return MODEL_WRONG;
        }
    };

    match &args.out {
        None => crate::say!("{}", written.text.trim_end()),
        Some(path) => {
            if let Err(message) = outputs.write(path, written.text.as_bytes()) {
                return call_error(message);
            }
            for (derived, proof) in &written.models {
                crate::say!("{}: {}", derived.name, proof.line());
            }
        }
    }

    if written.holds() {
        return OK;
    }
    crate::tell!("error: the graph is not equal to the Lagrangian; do not use it");
    MODEL_WRONG
}
