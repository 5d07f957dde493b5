//! What all commands share: exit statuses, colours, and how failures are shown.

use crate::ModelArgs;
use indicatif::{ProgressBar, ProgressStyle};
use paynter::refused::Refused;
use paynter::syntax::Diagnostic;
use paynter::{Choice, Design, Failed};
use std::io::IsTerminal;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// All well.
pub const OK: u8 = 0;
/// The model is wrong.
pub const MODEL_WRONG: u8 = 1;
/// The call is wrong.
pub const CALL_WRONG: u8 = 2;
/// The simulation failed.
pub const RUN_FAILED: u8 = 3;

/// Prints to standard output; a reader that went away (`| head`) is not an error. What names and texts of a model
/// hold of control characters does not reach the terminal.
#[macro_export]
macro_rules! say {
    ($($arg:tt)*) => {{
        use std::io::Write as _;
        let text = std::fmt::format(format_args!($($arg)*));
        let _ = writeln!(std::io::stdout(), "{}", paynter::syntax::harmless(&text));
    }};
}

/// The same to standard error. Messages that `render` draws have colours and were looked at already.
#[macro_export]
macro_rules! tell {
    ($($arg:tt)*) => {{
        let text = std::fmt::format(format_args!($($arg)*));
        eprintln!("{}", paynter::syntax::harmless(&text));
    }};
}

/// Tells whether messages may be coloured.
pub fn wants_colour() -> bool {
    std::io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none()
}

/// Messages shown to people at once: more than anybody reads, and few enough to find the first.
const MOST_SHOWN: usize = 100;

/// Shows diagnostics: as text on standard error, or as JSON on standard output.
pub fn show(failed: &Failed, json: bool) {
    if json {
        say!(
            "{}",
            paynter::diagnostics_json(&failed.diagnostics, &failed.sources)
        );
    } else if !failed.diagnostics.is_empty() {
        let n_shown = failed.diagnostics.len().min(MOST_SHOWN);
        let shown = &failed.diagnostics[..n_shown];
        eprint!(
            "{}",
            paynter::syntax::render(shown, &failed.sources, wants_colour())
        );
        let n_more = failed.diagnostics.len() - n_shown;
        if n_more > 0 {
            tell!("… and {n_more} more; fix these first, or see all with --json");
        }
    }
}

/// Prints a result as JSON, with the messages about it.
pub fn show_json(mut result: serde_json::Value, messages: &[Diagnostic]) {
    let messages = messages.iter();
    let messages = messages.map(|m| serde_json::json!({ "code": m.code, "message": m.message }));
    result["messages"] = messages.collect();
    say!("{result}");
}

/// Says what is wrong with the call.
pub fn call_error(message: impl std::fmt::Display) -> u8 {
    tell!("error: {message}");
    CALL_WRONG
}

/// Says why a question about this design has no answer.
pub fn refuse(design: &Design, why: impl Into<Refused>, json: bool) -> u8 {
    let (messages, status) = match why.into() {
        Refused::Call(message) => return call_error(message),
        Refused::Model(messages) => (messages, MODEL_WRONG),
        Refused::Run(messages) => (messages, RUN_FAILED),
    };
    show(&design.failed(messages), json);
    status
}

/// Reads `--model`, `--experiment` and `--set`.
pub fn choice(args: &ModelArgs) -> Result<Choice, String> {
    let mut overrides = Vec::new();
    for text in &args.set {
        let Some((path, value)) = text.split_once('=') else {
            return Err(format!("`--set {text}` has no `=`; write --set path=value"));
        };
        overrides.push((path.trim().to_owned(), value.trim().to_owned()));
    }
    Ok(Choice {
        model: args.model.clone(),
        experiment: args.experiment.clone(),
        overrides,
        ..Choice::default()
    })
}

/// Reads the model and elaborates it; shows what is wrong.
///
/// # Errors
///
/// The exit status, after the messages were shown.
pub fn design(args: &ModelArgs) -> Result<Design, u8> {
    let choice = choice(args).map_err(call_error)?;
    open(args, &choice)
}

/// As [`design`], with a choice that says more than the arguments.
///
/// # Errors
///
/// As for [`design`].
pub fn open(args: &ModelArgs, choice: &Choice) -> Result<Design, u8> {
    let design = paynter::design(&args.file, choice).map_err(|failed| match failed {
        paynter::DesignError::Unreadable(message) => call_error(message),
        paynter::DesignError::Model(failed) => {
            show(&failed, args.json);
            MODEL_WRONG
        }
    })?;
    if !args.json && !design.diagnostics.is_empty() {
        eprint!(
            "{}",
            paynter::syntax::render(&design.diagnostics, &design.project.sources, wants_colour())
        );
    }
    Ok(design)
}

/// True once the user has pressed Ctrl-C.
pub fn interruption() -> Arc<AtomicBool> {
    let is_cancelled = Arc::new(AtomicBool::new(false));
    let flag = is_cancelled.clone();
    // A second handler cannot be set; without one Ctrl-C simply ends the program.
    let _ = ctrlc::set_handler(move || flag.store(true, Ordering::Relaxed));
    is_cancelled
}

/// A bar on a terminal; nothing elsewhere.
pub fn progress_bar(length: u64, template: &str) -> ProgressBar {
    if !std::io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let bar = ProgressBar::new(length);
    if let Ok(style) = ProgressStyle::with_template(template) {
        bar.set_style(style);
    }
    bar
}
