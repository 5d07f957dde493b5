//! `paynter linearize`: A, B, C, D at a point.

use crate::commands::linear::LinearArgs;
use crate::commands::outputs::{Outputs, ending};
use crate::console::{OK, call_error};
use crate::say;
use clap::Args;
use paynter::linear::{to_csv, to_json, to_text};
use std::path::PathBuf;

/// What to linearize and where to put it.
#[derive(Args)]
pub struct LinearizeArgs {
    #[command(flatten)]
    linear: LinearArgs,
    /// Write the matrices here (.csv, .json)
    #[arg(long, short, value_name = "FILE")]
    out: Option<PathBuf>,
}

/// Prints the linear model.
pub fn linearize(args: &LinearizeArgs) -> u8 {
    let (design, linear) = match args.linear.linearize() {
        Ok(done) => done,
        Err(status) => return status,
    };
    if let Some(path) = &args.out {
        let text = match ending(path).as_str() {
            "csv" => to_csv(&linear),
            _ => to_json(&linear).to_string(),
        };
        let outputs = Outputs::of(&design);
        let written = outputs
            .check(path, &["csv", "json"])
            .and_then(|()| outputs.write(path, text.as_bytes()));
        if let Err(message) = written {
            return call_error(message);
        }
    }
    if args.linear.model.json {
        say!("{}", to_json(&linear));
    } else {
        say!("{}", to_text(&linear).trim_end());
    }
    OK
}
