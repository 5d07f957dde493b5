//! `paynter fmt`: one layout for every file, meaning and comments untouched.

use crate::console::{MODEL_WRONG, OK, call_error, show};
use clap::Args;
use std::path::PathBuf;

/// Files to format.
#[derive(Args)]
pub struct FmtArgs {
    /// Model files (.bond)
    #[arg(required = true)]
    files: Vec<PathBuf>,
    /// Change nothing; fail if a file is not formatted
    #[arg(long)]
    check: bool,
}

/// Formats each file in place.
pub fn fmt(args: &FmtArgs) -> u8 {
    let mut status = OK;
    for file in &args.files {
        match paynter::format_file(file) {
            Err(paynter::DesignError::Unreadable(message)) => {
                status = status.max(call_error(message))
            }
            Err(paynter::DesignError::Model(failed)) => {
                show(&failed, false);
                status = status.max(MODEL_WRONG);
            }
            Ok(None) => {}
            Ok(Some(_)) if args.check => {
                crate::say!("{}: not formatted; run paynter fmt on it", file.display());
                status = status.max(MODEL_WRONG);
            }
            Ok(Some(text)) => {
                if let Err(error) = paynter::output::write_whole(file, text.as_bytes()) {
                    status = status.max(call_error(error));
                }
            }
        }
    }
    status
}
