//! Why ideal contacts cannot go on.
//!
//! In:  the contacts that are in each other's way, and when.
//! Out: a diagnostic at the lines that make them.

use paynter_design::code;
use paynter_design::failure::seconds;
use paynter_model::graph::{ElementId, Law};
use paynter_model::{BondGraph, Element};
use paynter_syntax::Diagnostic;

/// More names than these are not read.
const MOST_NAMES: usize = 6;

/// Says that no choice of conducting and blocking contacts fits.
pub(super) fn no_configuration(contacts: &[ElementId], t: f64, graph: &BondGraph) -> Diagnostic {
    let name = |id: &ElementId| name_of(graph.element(*id), "an unnamed contact", graph);
    let mut names: Vec<String> = contacts.iter().take(MOST_NAMES).map(name).collect();
    if contacts.len() > MOST_NAMES {
        names.push(format!("{} more", contacts.len() - MOST_NAMES));
    }
    let headline = format!(
        "no choice of conducting and blocking contacts fits at t = {}: {}",
        seconds(t),
        names.join(", ")
    );

    let mut d = Diagnostic::error(code::NO_CONDUCTION, headline);
    for (place, &id) in contacts.iter().take(MOST_NAMES).enumerate() {
        let element = graph.element(id);
        // The line that makes the part, rather than a line of the library.
        let in_part = element.name.and_then(|name| graph.part_span(name));
        let span = in_part.unwrap_or_else(|| graph.span(element.origin));
        let what = match element.law {
            Law::Switch { .. } => "an ideal switch",
            _ => "an ideal diode",
        };
        d = match place {
            0 => d.primary(span, what),
            _ => d.secondary(span, what),
        };
    }
    d.help("ideal contacts may short a source or leave a part without connection: give them resistances, such as `Sw(on, Ron = 1 [mohm], Roff = 1 [Mohm])`")
}

/// Says that no states were found after a switching.
pub(super) fn no_states(t: f64) -> Diagnostic {
    let text = format!(
        "no states were found after the switching at t = {}",
        seconds(t)
    );
    Diagnostic::error(code::NO_CONDUCTION, text)
        .help("give the contacts a small `Ron` and a large `Roff`: then nothing has to jump")
}

/// Says that an opening contact would cut the flow of an inertia: an effort without bound would be needed.
pub(super) fn cut_flow(
    (inertia, momentum): (ElementId, f64),
    contact: ElementId,
    t: f64,
    graph: &BondGraph,
) -> Diagnostic {
    let (element, switch) = (graph.element(inertia), graph.element(contact));
    Diagnostic::error(
        code::CUT_FLOW,
        format!(
            "the flow of {} has no path when {} opens at t = {}",
            name_of(element, "an element", graph),
            name_of(switch, "an element", graph),
            seconds(t)
        ),
    )
    .primary(graph.span(switch.origin), "cuts it off")
    .secondary(
        graph.span(element.origin),
        format!("holds a momentum of {momentum:.4e} (SI units) at that instant"),
    )
    .help("give the flow another path, such as a diode or a resistance across the inertia, or give the switch a leak: `Roff = 1 [Mohm]`")
}

fn name_of(element: &Element, unnamed: &str, graph: &BondGraph) -> String {
    element.name.map_or(unnamed.to_owned(), |n| {
        format!("`{}`", graph.signals.names.display(n))
    })
}
