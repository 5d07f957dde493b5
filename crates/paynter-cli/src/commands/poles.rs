//! `paynter poles`: poles, modes and zeros of the linear model.

use crate::commands::linear::LinearArgs;
use crate::commands::outputs::{Outputs, PICTURES};
use crate::console::{OK, call_error, refuse};
use crate::say;
use clap::Args;
use paynter::linear::{pole_map, poles as find, poles_to_json, poles_to_text};
use std::path::PathBuf;

/// Of which linear model.
#[derive(Args)]
pub struct PolesArgs {
    #[command(flatten)]
    linear: LinearArgs,
    /// Draw poles and zeros here (.svg, .png)
    #[arg(long, value_name = "FILE")]
    plot: Option<PathBuf>,
}

/// Prints poles and zeros.
pub fn poles(args: &PolesArgs) -> u8 {
    let json = args.linear.model.json;
    let (design, linear) = match args.linear.linearize() {
        Ok(done) => done,
        Err(status) => return status,
    };
    let table = match find(&design, &linear) {
        Ok(table) => table,
        Err(error) => return refuse(&design, error, json),
    };
    if let Some(path) = &args.plot {
        let outputs = Outputs::of(&design);
        let title = design.plan.name.as_ref().unwrap_or(&design.model);
        let picture = || pole_map(&linear, &table, title).to_svg();
        let written = outputs
            .check(path, PICTURES)
            .and_then(|()| outputs.write_svg(path, &picture()));
        if let Err(message) = written {
            return call_error(message);
        }
    }
    if json {
        say!("{}", poles_to_json(&linear, &table));
    } else {
        say!("{}", poles_to_text(&linear, &table).trim_end());
    }
    OK
}
