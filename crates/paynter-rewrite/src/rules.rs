//! The rules, in the order in which they are tried.
//!
//! In:  a [`Net`].
//! Out: one [`Step`] for each time a rule applies; the net is simpler by it.
//!
//! **Invariant:** every rule takes away an element, a junction or a bond, so that the rules come to an end.

mod chains;
mod gyrators;
mod junctions;
mod motors;
mod over;
mod parallel;
mod zeros;

use crate::net::{Net, Step};

/// A rule: applies itself once, where it can.
type Rule = fn(&mut Net) -> Option<Step>;

/// The rules by name.
pub const RULES: &[(&str, Rule)] = &[
    ("zero", zeros::zero),
    ("idle", zeros::idle),
    ("ring", gyrators::idle_gyrators),
    ("merge", junctions::merge),
    ("junction", junctions::in_line),
    ("chain", chains::chain),
    ("over", over::over),
    ("motor", motors::motor),
    ("parallel", parallel::parallel),
];

/// Applies the rules (those that are named, if any) until none applies.
pub fn apply(net: &mut Net, only: &[String]) -> Vec<Step> {
    let mut steps = Vec::new();
    loop {
        net.refused.clear();
        let chosen = RULES
            .iter()
            .filter(|(name, _)| only.is_empty() || only.iter().any(|o| o == name));
        let mut next = None;
        for (_, rule) in chosen {
            next = rule(net);
            if next.is_some() {
                break;
            }
        }
        match next {
            Some(step) => steps.push(step),
            None => return steps,
        }
    }
}
