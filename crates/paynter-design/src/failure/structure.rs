//! Why equations have no unique solution by their structure.
//!
//! In:  what `reduce` could not match, and the graph behind it.
//! Out: a diagnostic at the elements that say too much or too little.

use super::{MOST_NAMES, at_origins, in_parts, list_names, plural};
use crate::code;
use crate::floating::{Floating, floating};
use paynter_model::{BondGraph, Element};
use paynter_symbolic::dae::Dae;
use paynter_symbolic::reduce::{EquationRef, Part, StructuralError};
use paynter_syntax::{Diagnostic, Span};

/// Explains why the equations have no unique solution by their structure.
pub fn explain_structure(error: &StructuralError, dae: &Dae, graph: &BondGraph) -> Vec<Diagnostic> {
    let open = match error {
        StructuralError::UnderDetermined { part, .. }
        | StructuralError::Singular { under: part, .. }
        | StructuralError::SingularBlock(part) => floating(graph, &part.unknowns),
        _ => None,
    };

    if let Some(found) = open {
        return vec![no_ground(&found, graph)];
    }
    match error {
        StructuralError::OverDetermined(part) => vec![too_many(part, dae, graph)],
        StructuralError::UnderDetermined { part, redundant } => {
            vec![too_few(part, redundant, dae, graph)]
        }
        StructuralError::Singular {
            over,
            under,
            redundant,
        } => {
            vec![
                too_many(over, dae, graph),
                too_few(under, redundant, dae, graph),
            ]
        }
        StructuralError::SingularBlock(part) => vec![cancelling(part, dae, graph)],
        StructuralError::Dependent {
            part,
            is_contradiction,
        } => vec![dependent(part, *is_contradiction, dae, graph)],
        StructuralError::Contradiction {
            symbol,
            values,
            equations: (first, second),
        } => {
            let name = dae.name_of(*symbol);
            let (a, b) = values;
            let what = format!("`{name}` would have to be {a} and {b} at once");
            let d = Diagnostic::error(code::CONTRADICTION, what)
                .primary(graph.span(second.origin), format!("here it is {b}"))
                .secondary(graph.span(first.origin), format!("here it is {a}"))
                .help("remove one of the two, or put a resistance or compliance between them");
            vec![d]
        }
        StructuralError::False { equation, residual } => {
            let what =
                format!("this equation has no unknown left, and its sides differ by {residual}");
            let d = Diagnostic::error(code::CONTRADICTION, what)
                .primary(graph.span(equation.origin), "nothing here can adjust");
            vec![d]
        }
    }
}

/// Says that equations cancel in combination.
fn cancelling(part: &Part, dae: &Dae, graph: &BondGraph) -> Diagnostic {
    let names = list_names(&part.unknowns, dae);
    let what = format!(
        "these equations do not determine {names}: in combination they cancel, whatever the values"
    );
    let d = Diagnostic::error(code::UNDERDETERMINED, what);
    at_origins(d, part.equations.iter().map(|e| e.origin), "part of it", graph)
        .help("a ring of transformers or gyrators is redundant, or a coefficient is zero: open the ring, or add a resistance or compliance to it")
}

/// Says that a network has no reference, in the words of its domain.
fn no_ground(found: &Floating, graph: &BondGraph) -> Diagnostic {
    let (headline, help) = match found.domain.as_deref() {
        Some("electrical") => (
            "the circuit has no ground: only differences of its voltages are fixed",
            "connect one node to ground: `gnd: Ground()` from the library `electrical`, then `node -> gnd`; or, without the library, `Se(0 [V]) -> node`",
        ),
        Some("hydraulic") => (
            "the network has no reference pressure: only differences of its pressures are fixed",
            "connect one node to a tank: `Se(0 [Pa]) -> node`",
        ),
        Some("thermal" | "heat") => (
            "the network has no reference temperature: only differences of its temperatures are fixed",
            "give one node a temperature: `Se(293 [K]) -> node`",
        ),
        _ => (
            "the network has no reference: only differences of its efforts are fixed",
            "give one of its 0-junctions an effort: `Se(0) -> node`",
        ),
    };

    let mut spans: Vec<Span> = Vec::new();
    for &id in &found.junctions {
        let element = graph.element(id);
        let part = element.name.and_then(|name| graph.part_span(name));
        let span = part.unwrap_or_else(|| graph.span(element.origin));
        if !spans.contains(&span) {
            spans.push(span);
        }
    }

    spans.sort_unstable_by_key(|s| (s.file, s.start));
    let d = Diagnostic::error(code::UNDERDETERMINED, headline);
    let marked = spans.into_iter().take(MOST_NAMES).enumerate();
    let d = marked.fold(d, |d, (k, span)| match k {
        0 => d.primary(span, "nothing in this network is tied to a reference"),
        _ => d.secondary(span, "part of it"),
    });
    d.help(help)
}

/// Words equations of which a combination reads no unknown.
fn dependent(part: &Part, is_contradiction: bool, dae: &Dae, graph: &BondGraph) -> Diagnostic {
    let elements = list_elements(&part.equations, graph);
    let d = if is_contradiction {
        Diagnostic::error(
            code::CONTRADICTION,
            format!("{elements} contradict each other, whatever the states are"),
        )
        .help("remove one of the sources, or put a resistance or compliance between them")
    } else {
        let names = list_names(&part.unknowns, dae);
        Diagnostic::error(
            code::UNDERDETERMINED,
            format!("nothing determines {names}: {elements} are redundant"),
        )
        .help("remove one of them, or add a resistance or compliance; a network that floats needs a ground")
    };
    let origins = part.equations.iter().map(|e| e.origin);
    let d = at_origins(d, origins, "part of it", graph);
    in_parts(d, &part.unknowns, dae, graph)
}

/// Names the elements that equations come from, each once.
fn list_elements(equations: &[EquationRef], graph: &BondGraph) -> String {
    let mut names: Vec<String> = Vec::new();
    for equation in equations {
        let is_source = |e: &&Element| e.origin == equation.origin && e.name.is_some();
        let Some(element) = graph.elements.iter().find(is_source) else {
            continue;
        };
        let name = format!(
            "`{}`",
            graph
                .signals
                .names
                .display(element.name.expect("it has one"))
        );
        if !names.contains(&name) {
            names.push(name);
        }
    }

    let n = names.len();
    if n > MOST_NAMES {
        names.truncate(MOST_NAMES);
        names.push(format!("{} more", n - MOST_NAMES));
    }

    match names.split_last() {
        Some((last, rest)) if !rest.is_empty() => {
            format!("the equations of {} and {last}", rest.join(", "))
        }
        Some((only, _)) => format!("the equations of {only}"),
        None => "these equations".to_owned(),
    }
}

fn too_many(part: &Part, dae: &Dae, graph: &BondGraph) -> Diagnostic {
    let names = list_names(&part.unknowns, dae);
    let n = part.unknowns.len();
    let headline = match n {
        0 => "an equation reads nothing that could adjust".to_owned(),
        _ => format!(
            "{} equations for {n} unknown{}: {names}",
            part.equations.len(),
            plural(n)
        ),
    };
    let d = Diagnostic::error(code::OVERDETERMINED, headline);
    let d = at_origins(
        d,
        part.equations.iter().map(|e| e.origin),
        "part of it",
        graph,
    );
    if n == 0 {
        return d.help(
            "a `solve` block finds its unknowns: each of its equations has to read one of them",
        );
    }
    in_parts(d, &part.unknowns, dae, graph)
        .help("two of these elements set the same effort or flow; remove one, or put a resistance or compliance between them")
}

fn too_few(part: &Part, redundant: &[EquationRef], dae: &Dae, graph: &BondGraph) -> Diagnostic {
    let names = list_names(&part.unknowns, dae);
    let d = Diagnostic::error(code::UNDERDETERMINED, format!("nothing determines {names}"));
    let d = at_origins(
        d,
        part.equations.iter().map(|e| e.origin),
        "leaves it open",
        graph,
    );
    let d = match (&d.primary, part.unknowns.first()) {
        (None, Some(s)) if (s.0 as usize) < dae.symbols.len() => {
            d.primary(graph.span(dae.symbol(*s).origin), "no equation reads it")
        }
        _ => d,
    };
    let d = in_parts(d, &part.unknowns, dae, graph);
    let d = redundant.iter().take(MOST_NAMES).fold(d, |d, e| {
        d.secondary(
            graph.span(e.origin),
            "this is redundant: other equations imply it",
        )
    });
    d.help("connect a source, storage or resistor that sets it, or define it by a signal")
}
