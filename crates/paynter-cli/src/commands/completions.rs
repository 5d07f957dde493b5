//! `paynter completions SHELL` and `paynter man`: made from the table of commands itself.

use crate::console::{OK, call_error};
use clap::{Args, Command, ValueEnum};

/// Which shell.
#[derive(Args)]
pub struct CompletionsArgs {
    /// The shell to complete for
    shell: ShellName,
}

/// Shells that are known.
#[derive(Clone, Copy, ValueEnum)]
enum ShellName {
    Bash,
    Zsh,
    Fish,
    Powershell,
    Elvish,
}

/// Prints the script that completes commands and options.
pub fn completions(args: &CompletionsArgs, mut command: Command) -> u8 {
    use clap_complete::Shell;
    let shell = match args.shell {
        ShellName::Bash => Shell::Bash,
        ShellName::Zsh => Shell::Zsh,
        ShellName::Fish => Shell::Fish,
        ShellName::Powershell => Shell::PowerShell,
        ShellName::Elvish => Shell::Elvish,
    };
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut command, "paynter", &mut script);
    print(&script)
}

/// Prints the manual page.
pub fn man(command: Command) -> u8 {
    let mut page = Vec::new();
    match clap_mangen::Man::new(command).render(&mut page) {
        Ok(()) => print(&page),
        Err(error) => call_error(format!("the page cannot be made: {error}")),
    }
}

/// Writes bytes as they are: they are ours, and a shell reads them.
fn print(bytes: &[u8]) -> u8 {
    use std::io::Write as _;
    // A reader that went away (`| head`) is not an error.
    let _ = std::io::stdout().write_all(bytes);
    OK
}
