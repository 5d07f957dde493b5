//! A smaller model by activity, for `paynter reduce --activity` and `paynter structure --reduce`.
//!
//! In:  a design, and the share of the activity to keep, as it was written.
//! Out: the proposed text in the file that was asked for, or printed; what was left out and the errors that makes.
//!
//! **Invariant:** both commands give the same answer for the same share.

use crate::ModelArgs;
use crate::commands::outputs::Outputs;
use crate::console::choice;
use crate::{say, tell};
use paynter::Design;
use paynter::refused::Refused;
use paynter_structure::text::{proposal_json, proposal_text};
use paynter_structure::{activities, reduce};
use std::path::Path;

/// Proposes and shows a model that keeps a share of the activity.
///
/// # Errors
///
/// See [`Refused`]; `option` is what the share was written after.
pub fn smaller(
    args: &ModelArgs,
    design: &Design,
    (option, share): (&str, &str),
    out: Option<&Path>,
) -> Result<(), Refused> {
    let keep = read_share(share).ok_or_else(|| no_share(option, share, "99% or 0.99"))?;
    let outputs = Outputs::of(design);
    if let Some(path) = out {
        outputs.check(path, &["bond"]).map_err(Refused::Call)?;
    }
    let choice = choice(args).map_err(Refused::Call)?;
    let found = activities(design)?;
    let proposal = reduce(design, &found, keep, &choice).map_err(|why| why.refused(share))?;
    if let Some(path) = out {
        outputs
            .write(path, proposal.text.as_bytes())
            .map_err(Refused::Call)?;
    }
    if args.json {
        say!("{}", proposal_json(&proposal));
    } else if out.is_some() {
        say!("{}", proposal_text(&proposal).trim_end());
    } else {
        tell!("{}", proposal_text(&proposal).trim_end());
        say!("{}", proposal.text.trim_end());
    }
    Ok(())
}

/// A part of a whole: `5%` or `0.05`.
pub fn read_share(text: &str) -> Option<f64> {
    let number: f64 = text.trim().trim_end_matches('%').trim().parse().ok()?;
    let share = match text.contains('%') {
        true => number / 100.0,
        false => number,
    };
    (share > 0.0 && share < 1.0).then_some(share)
}

/// Says that a text is not a share.
pub fn no_share(option: &str, text: &str, usual: &str) -> Refused {
    Refused::Call(format!(
        "`{option} {text}` is not a share of the activity; write {usual}"
    ))
}
