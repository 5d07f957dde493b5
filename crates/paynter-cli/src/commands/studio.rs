//! `paynter studio`: the page in the browser.

use crate::console::{OK, call_error};
use clap::Args;
use paynter_studio::{Options, studio as serve};
use std::path::PathBuf;
use std::process::{Command, Stdio};

/// What to open.
#[derive(Args)]
pub struct StudioArgs {
    /// A model file or a folder of models; default: the current folder
    path: Option<PathBuf>,
    /// Print the address and open no browser
    #[arg(long)]
    no_browser: bool,
    /// The port on loopback; default: a free one
    #[arg(long, value_name = "PORT")]
    port: Option<u16>,
    /// The secret in the address, 16 to 64 letters and digits; default: a new one
    #[arg(long, value_name = "KEY")]
    key: Option<String>,
}

/// Serves the page until it is stopped.
pub fn studio(args: &StudioArgs) -> u8 {
    let options = Options {
        path: args.path.clone(),
        port: args.port,
        secret: args.key.clone(),
    };
    let served = serve(&options, |address| {
        crate::say!("Paynter Studio: {address}\nStop it with Ctrl C.");
        if !args.no_browser {
            open_browser(address);
        }
    });
    match served {
        Ok(()) => OK,
        Err(message) => call_error(message),
    }
}

/// Shows an address in the browser of the machine; where that fails, the address is printed anyway.
fn open_browser(address: &str) {
    let (program, first): (&str, &[&str]) = match std::env::consts::OS {
        "macos" => ("open", &[]),
        "windows" => ("cmd", &["/c", "start", ""]),
        _ => ("xdg-open", &[]),
    };
    let mut call = Command::new(program);
    call.args(first).arg(address);
    let _ = call
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn();
}
