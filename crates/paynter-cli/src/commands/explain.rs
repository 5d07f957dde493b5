//! `paynter explain E0301`: what a diagnostic code means.
//!
//! In:  a code, or none.
//! Out: its explanation, a list of all codes, or all explanations as a page of the book.

use crate::console::{OK, call_error};
use clap::Args;

/// Which code.
#[derive(Args)]
pub struct ExplainArgs {
    /// The code, such as E0301; all codes are listed without one
    code: Option<String>,
    /// Print every code with its explanation: the page of the book on messages
    #[arg(long, conflicts_with = "code")]
    all: bool,
}

/// Prints the explanation.
pub fn explain(args: &ExplainArgs) -> u8 {
    let mut codes = paynter::codes();
    codes.extend_from_slice(paynter_export::code::TABLE);
    codes.extend_from_slice(paynter_import::code::TABLE);
    codes.extend_from_slice(paynter_rewrite::code::TABLE);
    codes.extend_from_slice(paynter_structure::code::TABLE);
    codes.sort_unstable();
    if args.all {
        crate::say!("{}", page(&codes).trim_end());
        return OK;
    }

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

/// Lists and explains every code, in Markdown.
fn page(codes: &[(&str, &str, &str)]) -> String {
    let mut page = "# Messages\n\n\
        Every message has a code: E for an error, W for a warning. `paynter explain E0601` prints the explanation in the terminal;\n\
        `paynter explain` lists all codes. This page is the output of `paynter explain --all`.\n\n\
        | code | title |\n|---|---|\n"
        .to_owned();
    for (code, title, _) in codes {
        page += &format!("| [{code}](#{}) | {title} |\n", code.to_lowercase());
    }
    for (code, title, explanation) in codes {
        let anchor = code.to_lowercase();
        page += &format!("\n<a id=\"{anchor}\"></a>\n\n### {code}: {title}\n\n{explanation}\n");
    }
    page
}
