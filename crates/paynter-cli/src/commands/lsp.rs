//! `paynter lsp`: answers an editor over standard input and output (LSP 3.17).
//!
//! One thread reads messages, one answers, one checks texts, and each run has its own. Texts are those of the
//! service's workspace; nothing is known here that the service does not know.
//!
//! **Invariant:** every request gets one answer, in any case; a message that cannot be read is answered or passed
//! over; the command ends when the input does.

mod answers;
mod convert;
mod jobs;
mod server;
mod transport;

use crate::console::{OK, call_error};
use clap::Args;

/// No options: editors start it.
#[derive(Args)]
pub struct LspArgs {
    /// Accepted for editors that add it; standard input and output are always used
    #[arg(long)]
    stdio: bool,
}

/// Answers until the client says goodbye.
pub fn lsp(args: &LspArgs) -> u8 {
    let _ = args.stdio;
    match server::serve() {
        Ok(()) => OK,
        Err(message) => call_error(message),
    }
}
