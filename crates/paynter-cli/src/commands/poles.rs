//! `paynter poles`: poles, modes and zeros of the linear model.

use crate::commands::linear::{LinearArgs, failed};
use crate::console::OK;
use crate::say;
use clap::Args;
use paynter::linear::{poles as find, poles_to_json, poles_to_text};

/// Of which linear model.
#[derive(Args)]
pub struct PolesArgs {
    #[command(flatten)]
    linear: LinearArgs,
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
        Err(error) => return failed(&design, error, json),
    };
    if json {
        say!("{}", poles_to_json(&linear, &table));
    } else {
        say!("{}", poles_to_text(&linear, &table).trim_end());
    }
    OK
}
