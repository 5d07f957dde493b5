//! Brings strokes, reasons and domains of the flat graph back to what the text writes.
//!
//! In:  a reading, and the flat graph of the same model.
//! Out: the same reading with strokes, forms, domains and the structure filled in.
//!
//! A bond of the flat graph stands at the arrow of the outermost part it passes; of those at an arrow of this
//! model, the ones that lie wholly inside of a part belong to another level and are left out.
//!
//! **Invariant:** where the flat bonds of one arrow differ, the stroke is mixed; none is guessed.

use super::read::Reading;
use super::{Bond, Decided, Form, Node, NodeSort, StrokeAt, Structure};
use crate::analysis::Flat;
use paynter::model::causality::report::VariableNames;
use paynter::model::causality::{
    Causality, ConflictKind, Status, StorageForm, conflict_diagnostic, steps, why,
};
use paynter::model::graph::{BondGraph, BondId, ElementId, End, Stroke};
use paynter::symbolic::{Names, PathId};
use paynter::syntax::Span;
use std::collections::{BTreeMap, BTreeSet};

/// Reasons are written for models up to this size; larger ones are asked for bond by bond.
const MAX_BONDS_WITH_REASONS: usize = 500;

/// Fills in what the flat graph knows.
pub fn add_strokes(reading: &mut Reading<'_>, flat: &Flat) {
    let (graph, causality) = (&*flat.graph, &*flat.causality);
    let homes = find_homes(reading, graph);
    let in_conflict = bonds_in_conflict(causality);
    let mut at_arrow: BTreeMap<Span, Vec<BondId>> = BTreeMap::new();
    for (index, bond) in graph.bonds.iter().enumerate() {
        let id = BondId(index as u32);
        if is_of_this_level(graph, id) {
            at_arrow
                .entry(graph.span(bond.origin))
                .or_default()
                .push(id);
        }
    }
    let has_reasons = graph.bonds.len() <= MAX_BONDS_WITH_REASONS;
    let nodes = &reading.view.nodes;
    let index_of: BTreeMap<&str, usize> = nodes
        .iter()
        .enumerate()
        .map(|(i, n)| (n.id.as_str(), i))
        .collect();
    let mut n_at_arrow: BTreeMap<Span, usize> = BTreeMap::new();
    for place in &reading.bond_places {
        *n_at_arrow.entry(place.arrow_span).or_default() += 1;
    }
    for (bond, place) in reading.view.bonds.iter_mut().zip(&reading.bond_places) {
        let Some(candidates) = at_arrow.get(&place.arrow_span) else {
            continue;
        };
        let is_alone = n_at_arrow.get(&place.arrow_span) == Some(&1);
        let ends = [&bond.from.node, &bond.to.node].map(|id| index_of.get(id.as_str()).copied());
        let mine: Vec<BondId> = candidates
            .iter()
            .copied()
            .filter(|&b| is_alone || joins(graph, b, &homes, ends, nodes))
            .collect();
        fill_bond(bond, graph, causality, &mine);
        bond.is_conflict = mine.iter().any(|b| in_conflict.contains(b));
        if bond.is_conflict {
            bond.decided = Some(Decided::Conflict);
        }
        if let (Some(&first), true) = (mine.first(), has_reasons) {
            bond.reasons = why(graph, causality, first);
        }
    }
    fill_nodes(&mut reading.view.nodes, graph, causality, &homes);
    reading.view.structure = Some(structure(graph, causality));
}

/// For each element of the flat graph the node of the view that it belongs to.
fn find_homes(reading: &Reading<'_>, graph: &BondGraph) -> Vec<Option<usize>> {
    let nodes = &reading.view.nodes;
    let by_id: BTreeMap<&str, usize> = nodes
        .iter()
        .enumerate()
        .map(|(i, n)| (n.id.as_str(), i))
        .collect();
    let by_name = |text: &str, index: Option<i64>| -> Option<usize> {
        let indexed = index.map(|i| format!("{text}[{i}]"));
        let id = indexed
            .and_then(|name| reading.names.get(&name))
            .or_else(|| reading.names.get(text))?;
        by_id.get(id.as_str()).copied()
    };
    let by_span: BTreeMap<Span, usize> = reading
        .node_spans
        .iter()
        .enumerate()
        .map(|(i, s)| (*s, i))
        .collect();
    let names = &graph.signals.names;
    let elements = graph.elements.iter().map(|element| {
        if element.part != Names::ROOT {
            let (text, index) = names.last(top(names, element.part));
            return by_name(text, index);
        }
        let group = element
            .part_of
            .and_then(|(g, _)| graph.groups.get(g.0 as usize));
        let name = group.and_then(|g| g.name).or(element.name);
        if let Some(name) = name {
            let (text, index) = names.last(top(names, name));
            return by_name(text, index);
        }
        let origin = group.map_or(element.origin, |g| g.origin);
        let span = graph.span(origin);
        by_span.get(&span).copied().or_else(|| {
            // What closes an open port stands at the port's name.
            let holds =
                |s: &Span| s.file == span.file && s.start <= span.start && span.end <= s.end;
            let spans = reading.node_spans.iter().enumerate();
            let held = spans.filter(|(_, s)| holds(s));
            held.min_by_key(|(_, s)| s.end - s.start).map(|(i, _)| i)
        })
    });
    elements.collect()
}

/// The ancestor of a path that is a child of the root.
fn top(names: &Names, path: PathId) -> PathId {
    let mut at = path;
    while let Some(parent) = names.parent(at) {
        if parent == Names::ROOT {
            break;
        }
        at = parent;
    }
    at
}

/// Tells whether a bond was written in the top model: it does not lie wholly inside of one part.
fn is_of_this_level(graph: &BondGraph, bond: BondId) -> bool {
    let names = &graph.signals.names;
    let ends = graph.bond(bond);
    let parts = [ends.tail, ends.head].map(|end| graph.element(end.element).part);
    if parts.contains(&Names::ROOT) {
        return true;
    }
    let [tail, head] = parts.map(|p| top(names, p));
    tail != head
        || graph
            .passages_of(bond)
            .iter()
            .any(|p| names.parent(p.port) == Some(tail))
}

/// Tells whether a flat bond joins the two nodes; a tuple joins where one of its members does.
fn joins(
    graph: &BondGraph,
    bond: BondId,
    homes: &[Option<usize>],
    ends: [Option<usize>; 2],
    nodes: &[Node],
) -> bool {
    let flat = graph.bond(bond);
    let matches = |end: End, node: Option<usize>| {
        let home = homes.get(end.element.0 as usize).copied().flatten();
        let (Some(home), Some(node)) = (home, node) else {
            return false;
        };
        home == node
            || nodes[node].sort == NodeSort::Tuple && nodes[node].members.contains(&nodes[home].id)
    };
    matches(flat.tail, ends[0]) && matches(flat.head, ends[1])
}

fn fill_bond(bond: &mut Bond, graph: &BondGraph, causality: &Causality, mine: &[BondId]) {
    let Some(&first) = mine.first() else { return };
    bond.dimension = Some(mine.len() as u32);
    bond.domain = domain(graph, graph.bond(first).domain);
    let strokes: BTreeSet<Option<Stroke>> = mine.iter().map(|&b| causality.stroke(b)).collect();
    let mut strokes = strokes.into_iter();
    bond.stroke = match (strokes.next().flatten(), strokes.next()) {
        (_, Some(_)) => Some(StrokeAt::Mixed),
        (Some(Stroke::Tail), None) => Some(StrokeAt::Tail),
        (Some(Stroke::Head), None) => Some(StrokeAt::Head),
        (None, None) => None,
    };
    bond.decided = Some(match causality.status(first) {
        Status::Fixed => Decided::Fixed,
        Status::Forced => Decided::Forced,
        Status::Preferred => Decided::Preferred,
        Status::Propagated => Decided::Propagated,
        Status::Chosen => Decided::Chosen,
        Status::Open => Decided::Conflict,
    });
    bond.is_derivative = mine.iter().any(|&b| {
        let flat = graph.bond(b);
        [flat.tail, flat.head].into_iter().any(|end| {
            causality.form(graph, end.element, end.port) == Some(StorageForm::Derivative)
        })
    });
}

fn domain(graph: &BondGraph, id: Option<paynter::model::graph::DomainId>) -> Option<String> {
    let domain = graph.domains.get(id?.0 as usize)?;
    Some(domain.name.clone())
}

fn bonds_in_conflict(causality: &Causality) -> BTreeSet<BondId> {
    let mut found = BTreeSet::new();
    for conflict in &causality.conflicts {
        if let ConflictKind::Bond(bond) = conflict.kind {
            found.insert(bond);
        }
        // Where the chains of reasons meet is the last hop of each.
        found.extend(
            conflict
                .sides
                .iter()
                .filter_map(|s| s.last())
                .map(|h| h.bond),
        );
    }
    found
}

fn fill_nodes(
    nodes: &mut [Node],
    graph: &BondGraph,
    causality: &Causality,
    homes: &[Option<usize>],
) {
    let mut forms: BTreeMap<usize, BTreeSet<StorageForm>> = BTreeMap::new();
    for (index, element) in graph.elements.iter().enumerate() {
        let Some(home) = homes[index] else { continue };
        let node = &mut nodes[home];
        let is_own = matches!(node.sort, NodeSort::Junction | NodeSort::Element);
        if !is_own {
            continue;
        }
        let group = element
            .part_of
            .and_then(|(g, _)| graph.groups.get(g.0 as usize));
        node.dimension = Some(group.map_or(1, |g| g.size));
        node.is_modulated |= element.is_modulated;
        if node.domain.is_none() {
            node.domain = domain(graph, element.domain);
        }
        if element.kind.is_storage() {
            let id = ElementId(index as u32);
            let ports = 0..element.ports.len() as u32;
            let found = ports.filter_map(|port| causality.form(graph, id, port));
            forms.entry(home).or_default().extend(found);
        }
    }
    for (home, forms) in forms {
        let has = |form| forms.contains(&form);
        nodes[home].form = match (has(StorageForm::Integral), has(StorageForm::Derivative)) {
            (true, true) => Some(Form::Mixed),
            (true, false) => Some(Form::Integral),
            (false, true) => Some(Form::Derivative),
            (false, false) => None,
        };
    }
}

fn structure(graph: &BondGraph, causality: &Causality) -> Structure {
    let names = VariableNames::new(graph);
    let state = |end: &End| {
        let element = graph.element(end.element);
        let symbol = element.states.get(end.port as usize);
        symbol.map_or_else(|| graph.element_name(end.element), |s| names.name(*s))
    };
    let mut states: Vec<String> = causality.independent.iter().map(state).collect();
    states.extend(causality.free.iter().map(|f| names.name(f.symbol)));
    states.extend(causality.coordinates.iter().map(|s| names.name(*s)));
    let variables = |path: &[paynter::symbolic::SymbolId]| {
        path.iter().map(|s| names.name(*s)).collect::<Vec<String>>()
    };
    let is_small = graph.bonds.len() <= MAX_BONDS_WITH_REASONS;
    let all_steps = if is_small {
        steps(graph, causality)
    } else {
        Vec::new()
    };
    Structure {
        order: causality.order(),
        states,
        dependent: causality
            .dependent
            .iter()
            .map(|d| state(&d.storage))
            .collect(),
        loops: causality.loops.iter().map(|l| variables(&l.path)).collect(),
        conflicts: causality
            .conflicts
            .iter()
            .map(|c| conflict_diagnostic(graph, c).message)
            .collect(),
        steps: all_steps
            .into_iter()
            .map(|s| (s.decision, s.follows))
            .collect(),
        n_elements: graph.elements.len(),
        n_bonds: graph.bonds.len(),
    }
}
