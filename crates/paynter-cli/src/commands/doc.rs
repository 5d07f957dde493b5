//! `paynter doc DcMotor`: what a part is, its ports and parameters, and an example.

use crate::console::{OK, call_error};
use clap::Args;
use paynter_service::part::{part_page, parts};
use std::path::PathBuf;

/// Which part.
#[derive(Args)]
pub struct DocArgs {
    /// The part, such as DcMotor or electrical.Resistor; all parts are listed without one
    part: Option<String>,
    /// Look in this model file instead of the library
    #[arg(long, value_name = "FILE")]
    file: Option<PathBuf>,
}

/// Prints the page of a part.
pub fn doc(args: &DocArgs) -> u8 {
    let file = args.file.as_ref().map(|f| f.display().to_string());
    let Some(part) = &args.part else {
        for (library, name, line) in parts(file.as_deref()) {
            crate::say!("{:32} {line}", format!("{library}.{name}"));
        }
        return OK;
    };
    match part_page(part, file.as_deref()) {
        Ok(page) => {
            crate::say!("{}", page.trim_end());
            OK
        }
        Err(message) => call_error(message),
    }
}
