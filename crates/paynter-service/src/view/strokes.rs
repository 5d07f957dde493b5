//! Brings strokes, reasons and domains of the flat graph back to what the text writes.
//!
//! In:  a reading, and a flat graph that the model is the whole of, or a part in.
//! Out: the same reading with strokes, forms, domains and the structure filled in.
//!
//! A bond of the flat graph stands at the arrow of the outermost part it passes; of those at an arrow of this
//! model, the ones that lie wholly inside of a part belong to another level and are left out.
//!
//! **Invariant:** where the flat bonds of one arrow differ, the stroke is mixed; none is guessed.

use super::read::Reading;
use super::{Bond, Decided, Form, Node, NodeSort, StrokeAt, Structure};
use paynter::model::causality::report::VariableNames;
use paynter::model::causality::{
    Causality, ConflictKind, Status, StorageForm, conflict_diagnostic, steps, why,
};
use paynter::model::graph::{BondGraph, BondId, ElementId, End, Stroke};
use paynter::model::project::Project;
use paynter::symbolic::{Names, PathId, SymbolId};
use paynter::syntax::{FileId, Span};
use std::collections::{BTreeMap, BTreeSet};

/// Reasons are written for models up to this size; larger ones are asked for bond by bond.
const MAX_BONDS_WITH_REASONS: usize = 500;

/// A flat graph, and the part of it that a text stands for: the model itself, or a part in it.
pub struct Whole<'a> {
    graph: &'a BondGraph,
    /// The part whose text is read; the root for the model itself.
    base: PathId,
    /// Files of the text's project as files of the graph's.
    files: BTreeMap<FileId, FileId>,
}

impl<'a> Whole<'a> {
    /// The model itself: text and graph are of one project.
    pub fn itself(graph: &'a BondGraph) -> Self {
        Whole {
            graph,
            base: Names::ROOT,
            files: BTreeMap::new(),
        }
    }

    /// A graph of `project`, and what lies in it at the end of `way`; the text to be compared with it is of the project
    /// `own`. None if there is no such part.
    pub fn inside(
        (graph, project): (&'a BondGraph, &Project),
        own: &Project,
        way: &[String],
    ) -> Option<Self> {
        let mut files = BTreeMap::new();
        for (id, source) in own.sources.files() {
            let mut same = project.sources.files().filter(|f| f.1.text == source.text);
            files.extend(same.next().map(|(found, _)| (id, found)));
        }
        Some(Whole {
            graph,
            base: part_at(graph, way)?,
            files,
        })
    }

    /// A place of the text as one of the graph; one in a file that the graph does not know is nowhere.
    fn place(&self, span: Span) -> Span {
        if self.files.is_empty() {
            return span;
        }
        match self.files.get(&span.file) {
            Some(&file) => Span { file, ..span },
            None => Span::default(),
        }
    }

    /// The ancestor of a path that is a child of the part; none for the part itself and what lies elsewhere.
    fn child(&self, path: PathId) -> Option<PathId> {
        let names = &self.graph.signals.names;
        let mut at = path;
        loop {
            let parent = names.parent(at)?;
            if parent == self.base {
                return Some(at);
            }
            at = parent;
        }
    }
}

/// The part that a way of instances leads to.
fn part_at(graph: &BondGraph, way: &[String]) -> Option<PathId> {
    if way.is_empty() {
        return Some(Names::ROOT);
    }
    let names = &graph.signals.names;
    let wanted = way.join(".");
    let up = |path: PathId| std::iter::successors(Some(path), |p| names.parent(*p));
    let parts: BTreeSet<PathId> = graph.elements.iter().flat_map(|e| up(e.part)).collect();
    parts.into_iter().find(|&p| names.display(p) == wanted)
}

/// The scalar bonds of the graph behind each bond of a view, in the order of the view.
pub fn bonds_behind(reading: &Reading<'_>, whole: &Whole<'_>) -> Vec<Vec<BondId>> {
    bonds_between(reading, whole, &find_homes(reading, whole))
}

fn bonds_between(
    reading: &Reading<'_>,
    whole: &Whole<'_>,
    homes: &[Option<usize>],
) -> Vec<Vec<BondId>> {
    let graph = whole.graph;
    let mut at_arrow: BTreeMap<Span, Vec<BondId>> = BTreeMap::new();
    // Bonds that leave the part: their arrows stand outside of it.
    let mut at_port: BTreeMap<String, Vec<BondId>> = BTreeMap::new();
    for (index, bond) in graph.bonds.iter().enumerate() {
        let id = BondId(index as u32);
        if !is_of_this_level(whole, id) {
            continue;
        }
        let place = graph.span(bond.origin);
        at_arrow.entry(place).or_default().push(id);
        for passage in graph.passages_of(id) {
            let names = &graph.signals.names;
            if names.parent(passage.port) == Some(whole.base) && whole.base != Names::ROOT {
                let (text, index) = names.last(passage.port);
                let name = index.map_or_else(|| text.to_owned(), |i| format!("{text}[{i}]"));
                at_port.entry(name).or_default().push(id);
            }
        }
    }
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
    let pairs = reading.view.bonds.iter().zip(&reading.bond_places);
    let found = pairs.map(|(bond, place)| {
        let ends = [&bond.from.node, &bond.to.node].map(|id| index_of.get(id.as_str()).copied());
        let is_port = |end: Option<usize>| {
            end.filter(|&i| nodes[i].sort == NodeSort::Port && whole.base != Names::ROOT)
        };
        let port = ends.into_iter().find_map(is_port);
        let candidates = match port {
            Some(i) => at_port.get(&nodes[i].id),
            None => at_arrow.get(&whole.place(place.arrow_span)),
        };
        let is_alone = port.is_none() && n_at_arrow.get(&place.arrow_span) == Some(&1);
        let mine = candidates.into_iter().flatten().copied();
        mine.filter(|&b| is_alone || joins(graph, b, homes, ends, nodes))
            .collect()
    });
    found.collect()
}

/// Fills in what the flat graph knows.
pub fn add_strokes(reading: &mut Reading<'_>, whole: &Whole<'_>, causality: &Causality) {
    let graph = whole.graph;
    let homes = find_homes(reading, whole);
    let behind = bonds_between(reading, whole, &homes);
    let in_conflict = bonds_in_conflict(causality);
    let has_reasons = graph.bonds.len() <= MAX_BONDS_WITH_REASONS;
    let mut view_bonds: BTreeMap<BondId, String> = BTreeMap::new();
    for (bond, mine) in reading.view.bonds.iter_mut().zip(&behind) {
        if mine.is_empty() {
            continue;
        }
        fill_bond(bond, graph, causality, mine);
        view_bonds.extend(mine.iter().map(|&b| (b, bond.id.clone())));
        bond.is_conflict = mine.iter().any(|b| in_conflict.contains(b));
        if bond.is_conflict {
            bond.decided = Some(Decided::Conflict);
        }
        if let (Some(&first), true) = (mine.first(), has_reasons) {
            bond.reasons = why(graph, causality, first);
        }
    }
    fill_nodes(&mut reading.view.nodes, graph, causality, &homes);
    let mut structure = structure(graph, causality);
    structure.loop_bonds = loop_bonds(graph, causality, &view_bonds);
    reading.view.structure = Some(structure);
}

/// For each element of the flat graph the node of the view that it belongs to.
fn find_homes(reading: &Reading<'_>, whole: &Whole<'_>) -> Vec<Option<usize>> {
    let graph = whole.graph;
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
    let spans: Vec<Span> = (reading.node_spans.iter().map(|s| whole.place(*s))).collect();
    let by_span: BTreeMap<Span, usize> = spans.iter().enumerate().map(|(i, s)| (*s, i)).collect();
    let names = &graph.signals.names;
    let elements = graph.elements.iter().map(|element| {
        if element.part != whole.base {
            let (text, index) = names.last(whole.child(element.part)?);
            return by_name(text, index);
        }
        let group = element
            .part_of
            .and_then(|(g, _)| graph.groups.get(g.0 as usize));
        let name = group.and_then(|g| g.name).or(element.name);
        if let Some(name) = name.and_then(|name| whole.child(name)) {
            let (text, index) = names.last(name);
            return by_name(text, index);
        }
        let origin = group.map_or(element.origin, |g| g.origin);
        let span = graph.span(origin);
        by_span.get(&span).copied().or_else(|| {
            // What closes an open port stands at the port's name.
            let holds =
                |s: &Span| s.file == span.file && s.start <= span.start && span.end <= s.end;
            let held = spans.iter().enumerate().filter(|(_, s)| holds(s));
            held.min_by_key(|(_, s)| s.end - s.start).map(|(i, _)| i)
        })
    });
    elements.collect()
}

/// Tells whether a bond was written in the part itself: it does not lie wholly inside of one of its parts, nor outside.
fn is_of_this_level(whole: &Whole<'_>, bond: BondId) -> bool {
    let graph = whole.graph;
    let ends = graph.bond(bond);
    let parts = [ends.tail, ends.head].map(|end| graph.element(end.element).part);
    if parts.contains(&whole.base) {
        return true;
    }
    let [tail, head] = parts.map(|p| whole.child(p));
    if tail.is_none() && head.is_none() {
        return false;
    }
    tail != head
        || graph
            .passages_of(bond)
            .iter()
            .any(|p| graph.signals.names.parent(p.port) == tail)
}

/// Tells whether a flat bond joins the two nodes; a tuple joins where one of its members does, a port whatever is outside.
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
            return home.is_none() && node.is_some_and(|i| nodes[i].sort == NodeSort::Port);
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
    let has_form = |b: BondId, form: StorageForm| {
        let flat = graph.bond(b);
        let ends = [flat.tail, flat.head].into_iter();
        let mut forms = ends.map(|end| causality.form(graph, end.element, end.port));
        forms.any(|found| found == Some(form))
    };
    bond.is_derivative = (mine.iter()).any(|&b| has_form(b, StorageForm::Derivative));
    bond.is_integral = (mine.iter()).all(|&b| has_form(b, StorageForm::Integral));
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

/// The bonds of the view whose efforts and flows are on each algebraic loop.
fn loop_bonds(
    graph: &BondGraph,
    causality: &Causality,
    view_bonds: &BTreeMap<BondId, String>,
) -> Vec<Vec<String>> {
    if causality.loops.is_empty() {
        return Vec::new();
    }
    let mut carriers = BTreeMap::new();
    for (index, bond) in graph.bonds.iter().enumerate() {
        let id = BondId(index as u32);
        carriers.extend([(bond.effort, id), (bond.flow, id)]);
    }
    let bonds_of = |path: &[SymbolId]| {
        let mut found: Vec<String> = Vec::new();
        for bond in path.iter().filter_map(|s| carriers.get(s)) {
            let id = view_bonds.get(bond).filter(|id| !found.contains(id));
            found.extend(id.cloned());
        }
        found
    };
    causality.loops.iter().map(|l| bonds_of(&l.path)).collect()
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
        loop_bonds: Vec::new(),
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
