//! `paynter explain E0301`: what a diagnostic code means.

use crate::console::{OK, call_error};
use clap::Args;

/// Which code.
#[derive(Args)]
pub struct ExplainArgs {
    /// The code, such as E0301; all codes are listed without one
    code: Option<String>,
}

/// Prints the explanation.
pub fn explain(args: &ExplainArgs) -> u8 {
    let mut codes = paynter::codes();
    codes.extend_from_slice(paynter_structure::code::ALL);
    let Some(wanted) = &args.code else {
        for (code, title, _) in codes {
            crate::say!("{code}  {title}");
        }
        return OK;
    };
    let find = |wanted: &str| {
        let mut codes = codes.iter();
        codes.find(|(code, ..)| code.eq_ignore_ascii_case(wanted))
    };
    // The number alone is enough, and a warning may be asked for by the letter of an error.
    let number = wanted.trim_start_matches(['E', 'e', 'W', 'w']);
    let found = find(wanted).or_else(|| find(&format!("E{number}")));
    match found.or_else(|| find(&format!("W{number}"))) {
        Some((code, title, explanation)) => {
            crate::say!("{code}: {title}\n\n{explanation}");
            OK
        }
        None => call_error(format!(
            "there is no code `{wanted}`; `paynter explain` lists all"
        )),
    }
}
