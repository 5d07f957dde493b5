//! Words conflicts as messages that point into the model text.
//!
//! In:  a graph, its [`Causality`], and what its equations say.
//! Out: one [`Diagnostic`] for each conflict, and notes on what is unusual.

use super::conflict::{Conflict, ConflictKind, Hop};
use super::explain::{sentence, shared};
use super::ranking::{describe, describe_bond};
use super::{Causality, Reason, Ring, Solved};
use crate::code;
use crate::graph::{BondGraph, ElementId, ElementKind, Law};
use paynter_syntax::{Diagnostic, Span};

/// Gives a message for every conflict and every remark.
pub fn causality_diagnostics(
    graph: &BondGraph,
    causality: &Causality,
    solved: &Solved,
) -> Vec<Diagnostic> {
    let mut found: Vec<Diagnostic> = causality
        .conflicts
        .iter()
        .map(|c| conflict_diagnostic(graph, c))
        .collect();
    found.extend(
        causality
            .rings
            .iter()
            .take(MAX_RINGS)
            .map(|r| ring(graph, r)),
    );

    let divides = |e: &&ElementId| !solved.harmless_moduli.contains(e);
    for &element in causality.reversed_moduli.iter().filter(divides) {
        let name = describe(graph, element);
        found.push(
            Diagnostic::warning(code::MODULUS_INVERTED, format!("the equations divide by the modulus of {name}, which can vanish"))
                .primary(graph.span(graph.element(element).origin), "used against the direction in which its law is written")
                .in_part(graph, element)
                .help("let the storages or sources around it leave its direction open, or write its law in the other direction"),
        );
    }

    for &end in &causality.inverted_laws {
        let name = describe(graph, end.element);
        found.push(
            Diagnostic::note(
                code::LAW_INVERTED,
                format!("the law of {name} is solved for its input in every step"),
            )
            .primary(
                graph.span(graph.element(end.element).origin),
                "what this law computes is given from outside",
            )
            .in_part(graph, end.element)
            .help("write the law solved for the other variable if it can be"),
        );
    }

    for bonds in &causality.split_multibonds {
        let Some(&first) = bonds.first() else {
            continue;
        };
        let bond = graph.bond(first);
        found.push(
            Diagnostic::note(
                code::MULTIBOND_SPLIT,
                format!(
                    "the components of the multibond {} have different strokes",
                    describe_bond(graph, first)
                ),
            )
            .primary(graph.span(bond.origin), "taken apart into scalar bonds"),
        );
    }
    found
}

/// Rings that are reported; more say the same.
const MAX_RINGS: usize = 20;

/// Words a ring of two-ports or bonds.
fn ring(graph: &BondGraph, ring: &Ring) -> Diagnostic {
    let names = members(graph, ring);

    let (what, other) = if ring.is_of_flows {
        ("flow", "effort")
    } else {
        ("effort", "flow")
    };
    let mut diagnostic = ring_headline(ring, &names, (what, other));
    let mut told: Vec<Span> = Vec::new();
    if let Some(end) = ring.left_out_port() {
        let bond = graph.bond(graph.element(end.element).ports[end.port as usize]);
        let span = graph.span(bond.origin);
        let label = format!("closes the ring; its {other} is taken as zero");
        diagnostic = diagnostic.primary(span, label);
        told.push(span);
    }

    for &member in ring.members.iter().rev() {
        let element = graph.element(member);
        let place = element.name.and_then(|n| graph.part_span(n));
        let span = place.unwrap_or_else(|| graph.span(element.origin));
        if told.contains(&span) || told.len() == MAX_NAMES {
            continue;
        }
        diagnostic = match (told.is_empty(), ring.is_redundant()) {
            (true, true) => diagnostic.primary(
                span,
                format!("closes the ring; its {other} is taken as zero"),
            ),
            (true, false) => diagnostic.primary(span, "closes the ring"),
            _ => diagnostic.secondary(span, "in the ring"),
        };
        told.push(span);
    }
    diagnostic
}

/// What is wrong with a ring, without its places.
fn ring_headline(ring: &Ring, names: &str, (what, other): (&str, &str)) -> Diagnostic {
    if ring.left_out_port().is_some() {
        let headline = match ring.members.len() {
            2 => format!("two bonds join {names}: how they share the {other} is not determined"),
            _ => format!("the {other} circulating in the ring of {names} is not determined"),
        };
        return Diagnostic::warning(code::RING_REDUNDANT, headline).help(
            "remove one of the two paths, or put an element into it, to know how they share the load",
        );
    }
    if ring.is_redundant() {
        let headline = format!("the {other} circulating in the ring of {names} is not determined");
        return Diagnostic::warning(code::RING_REDUNDANT, headline)
            .help("the ratios multiply to 1, so the ring closes; open it, or make one of its members elastic, to know how they share the load");
    }
    let headline = match ring.product {
        Some(k) => format!(
            "the ratios of {names} multiply to {} round their ring, not to 1: its {what} is held at zero",
            short(k)
        ),
        None => format!(
            "the ratios of {names} do not multiply to 1 round their ring: its {what} is held at zero"
        ),
    };
    Diagnostic::error(code::RING_LOCKS, headline)
        .help("make the ratios agree (write 1/3, not 0.333), or open the ring")
}

/// The members of a ring in words, the first few of them by name.
fn members(graph: &BondGraph, ring: &Ring) -> String {
    let mut names: Vec<String> = ring.members.iter().map(|&e| describe(graph, e)).collect();
    if names.len() > MAX_NAMES {
        let more = names.len() - MAX_NAMES;
        names.truncate(MAX_NAMES);
        names.push(format!("{more} more"));
    }

    match names.split_last() {
        Some((last, rest)) if !rest.is_empty() => format!("{} and {last}", rest.join(", ")),
        _ => names.concat(),
    }
}

/// A factor in as many digits as it needs, at most ten.
fn short(k: f64) -> String {
    let text = format!("{k:.9}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// What a conflict is, in one line.
pub fn headline(graph: &BondGraph, conflict: &Conflict) -> String {
    let name = |e: ElementId| describe(graph, e);
    let roots: Vec<Hop> = conflict
        .sides
        .iter()
        .filter_map(|s| s.first().copied())
        .collect();

    let all_sources =
        roots.len() >= 2 && roots.iter().all(|r| matches!(r.reason, Reason::Source(_)));
    match conflict.kind {
        ConflictKind::Twice(e) if graph.element(e).kind.is_junction() => {
            let what = format!("the {} of {}", shared(graph, e), name(e));
            match only_cause(&roots) {
                Some(cause) => format!("{} sets {what} in two ways", name(cause)),
                None if all_sources => format!("two sources set {what}"),
                None => format!("two elements set {what}"),
            }
        }
        ConflictKind::Never(e) if graph.element(e).kind.is_junction() => {
            format!("nothing can set the {} of {}", shared(graph, e), name(e))
        }
        ConflictKind::Twice(e) | ConflictKind::Never(e) => {
            let what = match (graph.element(e).kind, conflict.kind) {
                (ElementKind::Tf, ConflictKind::Twice(_)) => "both sides set the effort",
                (ElementKind::Tf, _) => "both sides set the flow",
                _ => "one side sets the effort and the other the flow",
            };
            format!("{what} of {}", name(e))
        }
        ConflictKind::Bond(b) => format!("{} is required both ways", describe_bond(graph, b)),
        ConflictKind::Together => {
            let mut names: Vec<String> = conflict
                .elements
                .iter()
                .filter(|&&e| graph.element(e).kind.is_junction())
                .map(|&e| name(e))
                .collect();
            names.sort_by(|a, b| super::ranking::natural(a, b));
            let n = names.len();
            if n > MAX_NAMES {
                names.truncate(MAX_NAMES);
                names.push(format!("{} more", n - MAX_NAMES));
            }
            match names.split_last() {
                Some((last, rest)) if !rest.is_empty() => {
                    format!(
                        "{} and {last} cannot all have their effort or flow set",
                        rest.join(", ")
                    )
                }
                Some((only, _)) => format!("{only} cannot have its effort or flow set"),
                None => "a ring of transformers and gyrators contradicts itself".to_owned(),
            }
        }
    }
}

/// The one element that all chains begin at, if they do: its effort or flow circulates.
fn only_cause(roots: &[Hop]) -> Option<ElementId> {
    let cause = roots.first()?.reason.element()?;
    let is_same = |r: &Hop| r.reason.element() == Some(cause);
    (roots.len() >= 2 && roots.iter().all(is_same)).then_some(cause)
}

/// Names in a headline; the rest are in the chains.
const MAX_NAMES: usize = 5;

/// Hops of one chain that are reported; the middle of a longer one says nothing new.
const MAX_HOPS: usize = 12;

/// Tells whether a conflict comes from a law with flat or jumping pieces that would have to be inverted.
pub fn needs_an_inverse(graph: &BondGraph, conflict: &Conflict) -> bool {
    let roots = conflict.sides.iter().filter_map(|side| side.first());
    roots.into_iter().any(|root| match root.reason {
        Reason::Law(end) => {
            let element = graph.element(end.element);
            (element.kind.is_resistor() || element.kind.is_storage())
                && matches!(element.law, Law::Explicit(_))
        }
        _ => false,
    })
}

/// Tells whether a conflict comes from a stroke that the text demands: the user wants to hear of it
/// even where the equations can be solved without it.
pub fn denies_a_stroke(conflict: &Conflict) -> bool {
    let mut roots = conflict.sides.iter().filter_map(|side| side.first());
    roots.any(|root| root.reason == Reason::Forced)
}

/// Words a conflict.
pub fn conflict_diagnostic(graph: &BondGraph, conflict: &Conflict) -> Diagnostic {
    let code = match conflict.kind {
        ConflictKind::Twice(e) if shared(graph, e) == "flow" => code::FLOW_SET_TWICE,
        ConflictKind::Twice(_) => code::EFFORT_SET_TWICE,
        ConflictKind::Never(_) => code::NOTHING_SETS,
        ConflictKind::Bond(_) => code::BOND_BOTH_WAYS,
        ConflictKind::Together => code::JUNCTIONS_DISAGREE,
    };
    let mut diagnostic = Diagnostic::error(code, headline(graph, conflict));

    // The last side is that of the demand which came too late; equal places are pointed at once.
    let mut told: Vec<Span> = Vec::new();
    let mut point = |mut diagnostic: Diagnostic, span: Span, label: String| {
        if !told.contains(&span) {
            diagnostic = match told.is_empty() {
                true => diagnostic.primary(span, label),
                false => diagnostic.secondary(span, label),
            };
            told.push(span);
        }
        diagnostic
    };

    for root in conflict.sides.iter().rev().filter_map(|s| s.first()) {
        // A line of a library says less than the line that makes the part.
        if let Some((span, label)) = part_label(graph, *root) {
            diagnostic = point(diagnostic, span, label);
        }
    }

    for root in conflict.sides.iter().rev().filter_map(|s| s.first()) {
        let (span, label) = (root_span(graph, *root), root_label(graph, *root));
        diagnostic = point(diagnostic, span, label);
    }
    if diagnostic.primary.is_none()
        && let Some(&element) = conflict.elements.first()
    {
        diagnostic = diagnostic.primary(graph.span(graph.element(element).origin), "here");
    }
    for side in conflict.sides.iter().filter(|s| s.len() > 1) {
        diagnostic = diagnostic.fact(chain_text(graph, side));
    }
    match help(graph, conflict) {
        Some(help) => diagnostic.help(help),
        None => diagnostic,
    }
}

fn chain_text(graph: &BondGraph, side: &[Hop]) -> String {
    let mut parts: Vec<String> = side.iter().map(|&hop| sentence(graph, hop)).collect();
    if parts.len() > MAX_HOPS {
        let n = parts.len() - MAX_HOPS;
        parts.splice(
            MAX_HOPS / 2..MAX_HOPS / 2 + n,
            [format!("({n} more steps)")],
        );
    }
    parts.join("; ")
}

fn root_span(graph: &BondGraph, root: Hop) -> Span {
    let bond_span = graph.span(graph.bond(root.bond).origin);
    match root.reason {
        Reason::Forced
        | Reason::Assumed
        | Reason::Multibond
        | Reason::Arbitrary
        | Reason::Excluded => bond_span,
        other => other
            .element()
            .map_or(bond_span, |e| graph.span(graph.element(e).origin)),
    }
}

/// Where the part is made that holds the first cause of a chain, and what it does there.
fn part_label(graph: &BondGraph, root: Hop) -> Option<(Span, String)> {
    let element = root.reason.element()?;
    let span = graph.part_span(graph.element(element).name?)?;
    let name = describe(graph, element);
    let what = match root.reason {
        Reason::Source(e) if graph.element(e).kind == ElementKind::Se => "sets an effort",
        Reason::Source(_) => "sets a flow",
        Reason::Law(_) => "works in one direction only",
        Reason::Last { .. } => "has no other bond",
        _ => "part of it",
    };
    Some((span, format!("{name} of this part {what}")))
}

/// Adds the line that makes the part to a message about an element of a library.
trait InPart {
    fn in_part(self, graph: &BondGraph, element: ElementId) -> Self;
}

impl InPart for Diagnostic {
    fn in_part(self, graph: &BondGraph, element: ElementId) -> Self {
        match graph.element(element).name.and_then(|n| graph.part_span(n)) {
            Some(span) => self.secondary(span, "in this part"),
            None => self,
        }
    }
}

fn root_label(graph: &BondGraph, root: Hop) -> String {
    match root.reason {
        Reason::Source(e) if graph.element(e).kind == ElementKind::Se => {
            "this source sets an effort".to_owned()
        }
        Reason::Source(_) => "this source sets a flow".to_owned(),
        Reason::Law(_) => "this law works in one direction only".to_owned(),
        Reason::Ring(_) => "this closes a ring of bonds".to_owned(),
        Reason::Forced => "this stroke is forced".to_owned(),
        Reason::Last { element } => format!("{} has no other bond", describe(graph, element)),
        Reason::Assumed => "neither stroke is possible here".to_owned(),
        _ => sentence(graph, root),
    }
}

fn help(graph: &BondGraph, conflict: &Conflict) -> Option<String> {
    let roots: Vec<Hop> = conflict
        .sides
        .iter()
        .filter_map(|s| s.first().copied())
        .collect();
    if roots.iter().any(|r| r.reason == Reason::Forced) {
        return Some("remove the forced stroke, or reverse it".to_owned());
    }
    if only_cause(&roots).is_some() {
        return Some(
            "open the ring: remove one of the two paths, or put a resistance or compliance into it"
                .to_owned(),
        );
    }

    let has_law = roots.iter().any(|r| matches!(r.reason, Reason::Law(_)));
    Some(match conflict.kind {
        ConflictKind::Twice(e) if graph.element(e).kind == ElementKind::One => {
            if has_law {
                "put a C or R between them at a 0-junction, or give the law an inverse".to_owned()
            } else {
                "put a C or R between the two at a 0-junction, or make one of them a source of effort".to_owned()
            }
        }
        ConflictKind::Twice(e) if graph.element(e).kind == ElementKind::Zero => {
            if has_law {
                "put an I or R in series at a 1-junction, or give the law an inverse".to_owned()
            } else {
                "put a resistance in series with one of them at a 1-junction, or make one of them a source of flow".to_owned()
            }
        }
        ConflictKind::Never(e) if graph.element(e).kind == ElementKind::One => {
            format!(
                "join an I or R to {}, or make one of the sources a source of flow",
                describe(graph, e)
            )
        }
        ConflictKind::Never(e) if graph.element(e).kind == ElementKind::Zero => {
            format!(
                "join a C or R to {}, or make one of the sources a source of effort",
                describe(graph, e)
            )
        }
        ConflictKind::Together => {
            "join a storage or a resistor to one of these junctions, or remove one of the sources"
                .to_owned()
        }
        _ => "put a storage or a resistor between the two".to_owned(),
    })
}
