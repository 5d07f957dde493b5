//! Puts the model's names to numbers that went wrong.
//!
//! In:  typed errors of `reduce`, `lower`, `initialise` and of the machine; those of runs are explained above.
//! Out: diagnostics that point into the text: one file for each stage, and here what they share.

mod machine;
mod start;
mod structure;

pub use machine::{
    constant_without_value, explain_machine, explain_open, explain_recording, mind_switches,
    mind_zero_states,
};
pub(crate) use start::no_direction;
pub use start::{explain_lowering, explain_start};
pub use structure::explain_structure;

use paynter_model::BondGraph;
use paynter_symbolic::SymbolId;
use paynter_symbolic::dae::{Dae, Origin};
use paynter_syntax::Diagnostic;

/// More names than this in one sentence are not read.
const MOST_NAMES: usize = 6;

/// Adds the lines that make the parts in which the unknowns lie: the equations of a library part point
/// into the library.
fn in_parts(d: Diagnostic, unknowns: &[SymbolId], dae: &Dae, graph: &BondGraph) -> Diagnostic {
    let mut spans = Vec::new();
    for &s in unknowns {
        let span = graph.part_span(dae.symbol(s).name);
        if let Some(span) = span.filter(|s| !spans.contains(s)) {
            spans.push(span);
        }
        if spans.len() == MOST_NAMES {
            break;
        }
    }
    spans
        .into_iter()
        .fold(d, |d, span| d.secondary(span, "in this part"))
}

fn at_origins(
    d: Diagnostic,
    origins: impl Iterator<Item = Origin>,
    text: &str,
    graph: &BondGraph,
) -> Diagnostic {
    let mut seen = Vec::new();
    for origin in origins {
        let span = graph.span(origin);
        if !seen.contains(&span) && seen.len() < MOST_NAMES {
            seen.push(span);
        }
    }
    let mut d = d;
    for (k, span) in seen.into_iter().enumerate() {
        d = if k == 0 {
            d.primary(span, text)
        } else {
            d.secondary(span, "and this")
        };
    }
    d
}

fn list_names(symbols: &[SymbolId], dae: &Dae) -> String {
    // Derivatives that index reduction made have no name in the model.
    let symbols: Vec<SymbolId> = symbols
        .iter()
        .copied()
        .filter(|s| (s.0 as usize) < dae.symbols.len())
        .collect();
    if symbols.is_empty() {
        return "the rates of some quantities".to_owned();
    }
    let mut names: Vec<String> = symbols
        .iter()
        .take(MOST_NAMES)
        .map(|&s| format!("`{}`", dae.name_of(s)))
        .collect();
    if symbols.len() > MOST_NAMES {
        names.push(format!("and {} more", symbols.len() - MOST_NAMES));
    }
    names.join(", ")
}

fn plural(n: usize) -> &'static str {
    if n == 1 { "" } else { "s" }
}

/// Prints a time with as many digits as are read.
pub fn seconds(t: f64) -> String {
    // Six places say nothing of a time far below a second; the first trial step of a run is its start.
    const NO_TIME: f64 = 1e-18;
    if t.abs() > NO_TIME && t.abs() < 1e-3 {
        return format!("{} s", crate::digits::significant(t, 4));
    }
    let text = format!("{t:.6}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    format!(
        "{} s",
        if text.is_empty() || text == "-0" {
            "0"
        } else {
            text
        }
    )
}
