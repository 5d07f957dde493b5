//! What a drawing shows of a graph: scalars back to what the text says, large models collapsed.
//!
//! In:  a flat graph: `middle.ix`, three scalars of `rate: 1[3]`, nine of a matrix transformer.
//! Out: a [`View`]: one node for each thing of the text, one edge for each bond or multibond,
//!      submodels as frames or as closed boxes; arrays and then equal kinds as one node with a
//!      count, until the drawing has a size that a person can read.
//!
//! **Invariant:** nodes and frames are in the order of their names, not of the text. Linear in
//! the size of the graph.

use super::{NodeKind, Parts};
use paynter_model::graph::{Bond, BondGraph, BondId, ElementId, ElementKind, GroupId, Law};
use paynter_symbolic::dae::EnergyRole;
use paynter_symbolic::dae::Origin;
use paynter_symbolic::print::{Style, to_text, tree_of};
use paynter_symbolic::walk::count_written_operations;
use paynter_symbolic::{ExprId, Names, PathId};
use rustc_hash::FxHashMap;
use std::collections::{BTreeMap, BTreeSet};

/// A drawing with more nodes than this is one that people look into, not at: submodels are closed.
const MAX_NODES_OPEN: usize = 60;
/// More nodes than this on a level are collapsed even where the user asks to see them.
const MAX_NODES: usize = 300;
/// Things without an index that a drawing shows one by one.
const MAX_NODES_APART: usize = 200;
/// Longer names are cut: they would push everything else apart.
const MAX_LETTERS: usize = 22;
/// Longer moduli are not written: they are in the equations.
const MAX_MODULUS_LETTERS: usize = 18;

/// What is drawn.
#[derive(Clone, Debug, Default)]
pub(super) struct View {
    pub nodes: Vec<ViewNode>,
    pub edges: Vec<ViewEdge>,
    /// Outer ones first.
    pub frames: Vec<ViewFrame>,
    /// The node of each element.
    pub node_of: Vec<usize>,
    /// The box of each submodel that is drawn closed.
    pub box_of: FxHashMap<PathId, usize>,
    /// The frame of each submodel that is drawn open.
    pub frame_of: FxHashMap<PathId, usize>,
    /// What was left out.
    pub note: String,
}

/// A node before it has a place.
#[derive(Clone, Debug)]
pub(super) struct ViewNode {
    pub kind: NodeKind,
    pub text: String,
    pub small: String,
    pub elements: Vec<ElementId>,
    /// The frame that it is in, innermost.
    pub frame: Option<usize>,
    /// A source: power begins here.
    pub is_source: bool,
    /// Loses power: drawn above its junction if both sides are free, storages below.
    pub is_resistor: bool,
    /// Place given in the text.
    pub pinned: Option<(f64, f64)>,
}

/// A bond or multibond before it has a place.
#[derive(Clone, Debug)]
pub(super) struct ViewEdge {
    pub tail: usize,
    pub head: usize,
    pub bonds: Vec<BondId>,
    pub dimension: Option<usize>,
    pub port_names: [String; 2],
    /// It passes a port that hands on signals as well.
    pub carries_signals: bool,
}

/// An opened submodel.
#[derive(Clone, Debug)]
pub(super) struct ViewFrame {
    pub name: String,
    pub parent: Option<usize>,
}

/// Makes the view of a graph.
pub(super) fn view(graph: &BondGraph, parts: Parts) -> View {
    let things = collect_things(graph);
    let homes = find_homes(graph, &things);
    let (level, merging) = choose(graph, &things, &homes, parts);
    build(graph, &things, &homes, level, merging)
}

/// What the text writes as one: an element, a vector of elements, a matrix transformer.
#[derive(Clone, Debug)]
struct Thing {
    path: Option<PathId>,
    kind: ElementKind,
    elements: Vec<ElementId>,
}

struct Things {
    list: Vec<Thing>,
    of_element: Vec<usize>,
}

fn collect_things(graph: &BondGraph) -> Things {
    let mut list: Vec<Thing> = Vec::new();
    let mut of_group: FxHashMap<u32, usize> = FxHashMap::default();
    let mut of_element = Vec::with_capacity(graph.elements.len());
    for (index, element) in graph.elements.iter().enumerate() {
        let id = ElementId(index as u32);
        let group = element
            .part_of
            .and_then(|(g, _)| Some((g, graph.groups.get(g.0 as usize)?)))
            .and_then(|(g, group)| Some((g, group, group.kind?)));
        let at = match group {
            None => {
                list.push(Thing {
                    path: element.name,
                    kind: element.kind,
                    elements: vec![id],
                });
                list.len() - 1
            }
            Some((g, group, kind)) => {
                let at = *of_group.entry(g.0).or_insert_with(|| {
                    list.push(Thing {
                        path: group.name,
                        kind,
                        elements: Vec::new(),
                    });
                    list.len() - 1
                });
                list[at].elements.push(id);
                at
            }
        };
        of_element.push(at);
    }
    Things { list, of_element }
}

/// The submodel of each thing, as the chain of paths from the outermost.
fn find_homes(graph: &BondGraph, things: &Things) -> Vec<Vec<PathId>> {
    let names = &graph.signals.names;
    let home = |thing: &Thing| {
        let part = graph.element(thing.elements[0]).part;
        let mut chain = chain_above(names, part);
        chain.extend((part != Names::ROOT).then_some(part));
        chain
    };
    things.list.iter().map(home).collect()
}

fn neighbours(graph: &BondGraph, things: &Things, thing: usize) -> Vec<usize> {
    let mut near = Vec::new();
    for &e in &things.list[thing].elements {
        for &b in &graph.element(e).ports {
            let bond = graph.bond(b);
            near.extend(
                [bond.tail.element, bond.head.element].map(|e| things.of_element[e.0 as usize]),
            );
        }
    }
    near.retain(|&t| t != thing);
    near
}

/// The paths above a path, outermost first, without the root.
fn chain_above(names: &Names, path: PathId) -> Vec<PathId> {
    let mut chain = Vec::new();
    let mut at = names.parent(path);
    while let Some(path) = at.filter(|&p| p != Names::ROOT) {
        chain.push(path);
        at = names.parent(path);
    }
    chain.reverse();
    chain
}

/// How like things are drawn as one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Merging {
    /// Not.
    Nothing,
    /// Things that differ by an index only.
    Arrays,
    /// Things of a kind that differ by digits in their names only.
    Digits,
    /// Things of a kind.
    Kinds,
}

/// Finds the deepest level that is drawn open, and how much has to be merged.
fn choose(
    graph: &BondGraph,
    things: &Things,
    homes: &[Vec<PathId>],
    parts: Parts,
) -> (usize, Merging) {
    let deepest = homes.iter().map(Vec::len).max().unwrap_or(0);
    let count = |level: usize| {
        let mut closed: BTreeSet<PathId> = BTreeSet::new();
        let mut n = 0;
        for home in homes {
            match home.get(level) {
                Some(&path) => n += usize::from(closed.insert(path)),
                None => n += 1,
            }
        }
        n
    };

    let (level, limit) = match parts {
        Parts::Open if count(deepest) <= MAX_NODES => (deepest, MAX_NODES),
        Parts::Closed => (0, MAX_NODES),
        Parts::Open | Parts::Automatic => {
            let fits = (0..=deepest)
                .rev()
                .find(|&level| count(level) <= MAX_NODES_OPEN);
            (fits.unwrap_or(0), MAX_NODES_OPEN)
        }
    };

    if count(level) <= limit {
        return (level, Merging::Nothing);
    }
    for merging in [Merging::Arrays, Merging::Digits] {
        let keys: BTreeSet<String> = (0..things.list.len())
            .map(|t| key(graph, things, homes, t, level, merging))
            .collect();
        if keys.len() <= MAX_NODES_APART {
            return (level, merging);
        }
    }
    (level, Merging::Kinds)
}

/// Names the node that a thing belongs to; things with equal keys are drawn as one.
///
/// Keys sort by name, numbers in them by size.
fn key(
    graph: &BondGraph,
    things: &Things,
    homes: &[Vec<PathId>],
    t: usize,
    level: usize,
    merging: Merging,
) -> String {
    let names = &graph.signals.names;
    let thing = &things.list[t];
    let letters = thing.kind.letters();
    if merging == Merging::Kinds {
        return letters.to_owned();
    }
    let path_key = |path: PathId| path_key(names, path, merging);
    if let Some(&closed) = homes[t].get(level) {
        return path_key(closed);
    }
    if let Some(path) = thing.path {
        // Unlike kinds never become one node, and with every index left out they might.
        return match merging {
            Merging::Nothing => path_key(path),
            _ => format!("{}:{letters}", path_key(path)),
        };
    }

    // Without a name: known by its neighbours, and among equals by its place in the text.
    let mut near: Vec<String> = neighbours(graph, things, t)
        .into_iter()
        .map(|n| things.list[n].path.map_or_else(String::new, path_key))
        .collect();
    near.sort();
    let home = homes[t].last().map_or_else(String::new, |&p| path_key(p));
    match merging {
        Merging::Nothing => format!("{home}.~{letters}({})~{t:09}", near.join(",")),
        _ => {
            near.dedup();
            format!("{home}.~{letters}({})", near.join(","))
        }
    }
}

fn path_key(names: &Names, path: PathId, merging: Merging) -> String {
    let mut chain = chain_above(names, path);
    chain.push(path);
    let mut out = String::new();
    for path in chain {
        let (text, index) = names.last(path);
        if !out.is_empty() {
            out.push('.');
        }
        match merging {
            Merging::Nothing => sortable(&mut out, text),
            Merging::Arrays | Merging::Kinds => out.push_str(text),
            Merging::Digits => out.extend(text.chars().filter(|c| !c.is_ascii_digit())),
        }
        match index {
            Some(i) if merging == Merging::Nothing => out.push_str(&format!("[{i:012}]")),
            Some(_) => out.push_str("[]"),
            None => {}
        }
    }
    out
}

/// Writes numbers in names with leading zeros, so that `r2` sorts before `r10`.
fn sortable(out: &mut String, text: &str) {
    let mut digits = String::new();
    for c in text.chars().chain(['\0']) {
        if c.is_ascii_digit() {
            digits.push(c);
            continue;
        }
        if !digits.is_empty() {
            out.push_str(&format!("{digits:0>8}"));
            digits.clear();
        }
        if c != '\0' {
            out.push(c);
        }
    }
}

fn build(
    graph: &BondGraph,
    things: &Things,
    homes: &[Vec<PathId>],
    level: usize,
    merging: Merging,
) -> View {
    let mut members: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    for t in 0..things.list.len() {
        members
            .entry(key(graph, things, homes, t, level, merging))
            .or_default()
            .push(t);
    }

    let mut view = View {
        node_of: vec![0; graph.elements.len()],
        ..View::default()
    };

    let pins: FxHashMap<PathId, (f64, f64)> = graph
        .layout
        .iter()
        .map(|&(path, x, y)| (path, (x, y)))
        .collect();

    let mut frames: BTreeMap<String, usize> = BTreeMap::new();
    for things_here in members.values() {
        let frame = frame_of(
            graph,
            &homes[things_here[0]],
            level,
            merging,
            &mut frames,
            &mut view,
        );
        let mut node = make_node(graph, things, homes, things_here, level, merging);
        node.frame = frame;
        node.pinned = pin(&pins, things, homes, things_here[0], level);
        for &t in things_here {
            if let Some(&closed) = homes[t].get(level) {
                view.box_of.insert(closed, view.nodes.len());
            }
            for &e in &things.list[t].elements {
                view.node_of[e.0 as usize] = view.nodes.len();
                node.elements.push(e);
            }
        }
        view.nodes.push(node);
    }

    add_edges(graph, &mut view);
    if view.nodes.is_empty() {
        view.note = "no elements to draw".to_owned();
    }
    if merging != Merging::Nothing {
        view.note = format!(
            "{} elements and {} bonds, like ones drawn as one",
            graph.elements.len(),
            graph.bonds.len()
        );
    }
    view
}

/// Finds or makes the frames around a node; gives the innermost.
fn frame_of(
    graph: &BondGraph,
    home: &[PathId],
    level: usize,
    merging: Merging,
    frames: &mut BTreeMap<String, usize>,
    view: &mut View,
) -> Option<usize> {
    if merging == Merging::Kinds {
        return None;
    }
    let names = &graph.signals.names;
    let mut parent = None;
    for &path in home.iter().take(level) {
        let key = path_key(names, path, merging);
        let next = view.frames.len();
        let at = *frames.entry(key).or_insert(next);
        if at == next {
            let (text, index) = names.last(path);
            let name = match (index, merging) {
                (None, _) => text.to_owned(),
                (Some(i), Merging::Nothing) => format!("{text}[{i}]"),
                (Some(_), _) => format!("{text}[…]"),
            };
            view.frames.push(ViewFrame {
                name: cut(&name),
                parent,
            });
        }
        view.frame_of.insert(path, at);
        parent = Some(at);
    }
    parent
}

fn make_node(
    graph: &BondGraph,
    things: &Things,
    homes: &[Vec<PathId>],
    here: &[usize],
    level: usize,
    merging: Merging,
) -> ViewNode {
    let names = &graph.signals.names;
    let first = &things.list[here[0]];
    let mut node = ViewNode::plain();

    let closed = homes[here[0]]
        .get(level)
        .filter(|_| merging != Merging::Kinds);
    if let Some(&path) = closed {
        let boxes: BTreeSet<PathId> = here
            .iter()
            .filter_map(|&t| homes[t].get(level).copied())
            .collect();
        node.kind = if boxes.len() > 1 {
            NodeKind::Many
        } else {
            NodeKind::Closed
        };
        node.text = many_names(names, path, &boxes);
        return node;
    }

    let letters = letters(graph, first);
    node.is_source = first.kind.is_source();
    node.is_resistor = first.kind.energy_role() == Some(EnergyRole::Dissipator);
    if here.len() > 1 {
        node.kind = NodeKind::Many;
        node.text = many_text(graph, things, here, merging);
        return node;
    }

    let name = first.path.map(|p| local_name(names, p)).unwrap_or_default();
    node.kind = match first.kind {
        kind if kind.is_junction() => NodeKind::Junction,
        kind if kind.energy_role() == Some(EnergyRole::Conserving)
            && n_sides(graph, first) == 2 =>
        {
            NodeKind::TwoPort
        }
        _ => NodeKind::Element,
    };

    if node.kind == NodeKind::Junction {
        (node.text, node.small) = (letters, name);
        return node;
    }

    node.text = if name.is_empty() {
        letters
    } else {
        format!("{letters}:{name}")
    };

    if node.kind == NodeKind::TwoPort && first.elements.len() == 1 {
        node.small = modulus(graph, first.elements[0], homes[here[0]].last().copied());
    }
    node
}

impl ViewNode {
    /// An element without text.
    fn plain() -> Self {
        ViewNode {
            kind: NodeKind::Element,
            text: String::new(),
            small: String::new(),
            elements: Vec::new(),
            frame: None,
            is_source: false,
            is_resistor: false,
            pinned: None,
        }
    }
}

/// What many elements of a kind are called: by their common name, or by their number.
fn many_text(graph: &BondGraph, things: &Things, here: &[usize], merging: Merging) -> String {
    let names = &graph.signals.names;
    let first = &things.list[here[0]];
    let letters = letters(graph, first);

    let paths: BTreeSet<PathId> = here.iter().filter_map(|&t| things.list[t].path).collect();
    let is_named = merging != Merging::Kinds && !paths.is_empty();
    match first.path.filter(|_| is_named) {
        Some(path) => format!("{letters}:{}", many_names(names, path, &paths)),
        None => format!("{letters} ×{}", here.len()),
    }
}

/// Two for a transformer, one for a field: a matrix transformer has many scalar ports but two sides.
fn n_sides(graph: &BondGraph, thing: &Thing) -> usize {
    if thing.elements.len() > 1 {
        2
    } else {
        graph.element(thing.elements[0]).ports.len()
    }
}

/// `MTF` for a modulated transformer.
fn letters(graph: &BondGraph, thing: &Thing) -> String {
    let is_modulated = !thing.kind.is_junction()
        && thing
            .elements
            .iter()
            .any(|&e| graph.element(e).is_modulated);
    let prefix = if is_modulated { "M" } else { "" };
    format!("{prefix}{}", thing.kind.letters())
}

pub(super) fn local_name(names: &Names, path: PathId) -> String {
    let (text, index) = names.last(path);
    match index {
        Some(i) => cut(&format!("{text}[{i}]")),
        None => cut(text),
    }
}

/// `cell[1..100] ×100`.
fn many_names(names: &Names, path: PathId, all: &BTreeSet<PathId>) -> String {
    if all.len() == 1 {
        return local_name(names, path);
    }
    let text = cut(names.last(path).0);
    let indices: Vec<Option<i64>> = all.iter().map(|&p| names.last(p).1).collect();
    let is_same_text = all.iter().all(|&p| names.last(p).0 == names.last(path).0);
    let range = (
        indices.iter().min().copied().flatten(),
        indices.iter().max().copied().flatten(),
    );
    match range {
        (Some(low), Some(high)) if is_same_text => format!("{text}[{low}..{high}] ×{}", all.len()),
        _ => {
            let stem: String = text.chars().filter(|c| !c.is_ascii_digit()).collect();
            format!("{stem}… ×{}", all.len())
        }
    }
}

fn cut(name: &str) -> String {
    if name.chars().count() <= MAX_LETTERS {
        return name.to_owned();
    }
    name.chars().take(MAX_LETTERS - 1).chain(['…']).collect()
}

/// The modulus of a transformer or gyrator, if it is short.
fn modulus(graph: &BondGraph, element: ElementId, home: Option<PathId>) -> String {
    let (is_inverse, e): (bool, ExprId) = match &graph.element(element).law {
        Law::Gain(e) => (false, *e),
        Law::InverseGain(e) => (true, *e),
        _ => return String::new(),
    };

    let dae = &graph.signals;
    // Each operation takes two letters at least.
    if 2 * count_written_operations(&dae.pool, e) > MAX_MODULUS_LETTERS {
        return String::new();
    }

    // Inside its own submodel a name is written without the path to it.
    let home = home
        .map(|p| format!("{}.", dae.names.display(p)))
        .unwrap_or_default();
    let name = |s| {
        let full = dae.name_of(s);
        full.strip_prefix(&home).map(str::to_owned).unwrap_or(full)
    };

    let style = Style {
        name: &name,
        is_state: &|_| false,
    };
    let text = to_text(&tree_of(&dae.pool, e, &style), &name);
    let is_word = text
        .chars()
        .all(|c| c.is_alphanumeric() || "._[]".contains(c));

    // e₁ : e₂ along the half arrow, as the textbook writes ratios: a modulus that may vanish is not
    // divided by.
    let is_gyrator = graph.element(element).kind == ElementKind::Gy;
    let text = match (is_inverse, is_gyrator, is_word) {
        (false, _, _) => text,
        (true, false, _) => format!("1 : {text}"),
        (true, true, true) => format!("1/{text}"),
        (true, true, false) => format!("1/({text})"),
    };
    if text.chars().count() <= MAX_MODULUS_LETTERS {
        text
    } else {
        String::new()
    }
}

/// The place that the text gives to a node.
///
/// LIMIT: a place inside an opened submodel counts from the place of the submodel, and is not
/// used if that has none.
fn pin(
    pins: &FxHashMap<PathId, (f64, f64)>,
    things: &Things,
    homes: &[Vec<PathId>],
    thing: usize,
    level: usize,
) -> Option<(f64, f64)> {
    let home = &homes[thing];
    let own = match home.get(level) {
        Some(closed) => pins.get(closed)?,
        None => pins.get(&things.list[thing].path?)?,
    };
    let mut at = *own;
    for frame in home.iter().take(level) {
        let outer = pins.get(frame)?;
        at = (at.0 + outer.0, at.1 + outer.1);
    }
    Some(at)
}

/// Bonds between nodes; what one arrow of the text makes between two nodes is one edge.
fn add_edges(graph: &BondGraph, view: &mut View) {
    let mut at: FxHashMap<EdgeKey, usize> = FxHashMap::default();
    for (index, bond) in graph.bonds.iter().enumerate() {
        let id = BondId(index as u32);
        let ends = [bond.tail.element, bond.head.element];
        let [tail, head] = ends.map(|e| view.node_of[e.0 as usize]);
        if tail == head {
            continue;
        }
        let ports = [tail, head].map(|node| port_of(graph, view, node, id));
        let key = edge_key(view, bond, id, [tail, head], ports);
        let next = view.edges.len();
        let edge = *at.entry(key).or_insert(next);
        if edge == next {
            let name = |k: usize| end_name(graph, view, [tail, head][k], ends[k], ports[k]);
            let port_names = [name(0), name(1)];
            view.edges.push(ViewEdge {
                tail,
                head,
                bonds: Vec::new(),
                dimension: None,
                port_names,
                carries_signals: graph.passages_of(id).iter().any(|p| p.carries_signals),
            });
        }
        view.edges[edge].bonds.push(id);
    }

    for edge in &mut view.edges {
        edge.dimension = (edge.bonds.len() > 1).then_some(edge.bonds.len());
    }
    view.edges.sort_by_key(|e| (e.tail, e.head, e.bonds[0]));
}

/// Bonds with equal keys are drawn as one line.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct EdgeKey {
    nodes: [usize; 2],
    which: Which,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Which {
    /// All bonds between nodes that stand for many.
    Bundle,
    /// What one arrow joins to ports of closed submodels: a composite port is one line.
    Ports([Option<PathId>; 2], Origin),
    /// The components of a multibond.
    Group(GroupId),
    Scalar(BondId),
}

fn edge_key(
    view: &View,
    bond: &Bond,
    id: BondId,
    nodes: [usize; 2],
    ports: [Option<PathId>; 2],
) -> EdgeKey {
    let is_many = |&n: &usize| view.nodes[n].kind == NodeKind::Many;
    let which = match bond.part_of {
        _ if nodes.iter().any(is_many) => Which::Bundle,
        _ if ports != [None, None] => Which::Ports(ports, bond.origin),
        Some((group, _)) => Which::Group(group),
        None => Which::Scalar(id),
    };
    EdgeKey { nodes, which }
}

/// The port of a closed submodel that a bond passes.
fn port_of(graph: &BondGraph, view: &View, node: usize, bond: BondId) -> Option<PathId> {
    let parent = |port: PathId| graph.signals.names.parent(port);
    let is_own = |port: &PathId| parent(*port).is_some_and(|p| view.box_of.get(&p) == Some(&node));
    let ports = graph.passages_of(bond).iter().map(|p| p.port);
    ports
        .filter(|_| view.nodes[node].kind == NodeKind::Closed)
        .find(is_own)
}

/// What is written at the end of a bond: the port of a closed submodel, or the thing inside that the
/// text names there.
fn end_name(
    graph: &BondGraph,
    view: &View,
    node: usize,
    element: ElementId,
    port: Option<PathId>,
) -> String {
    let names = &graph.signals.names;
    if view.nodes[node].kind != NodeKind::Closed {
        return String::new();
    }
    if let Some(port) = port {
        return local_name(names, port);
    }
    let element = graph.element(element);
    let name = |p: PathId| match element.part_of {
        // All components at once.
        Some(_) => cut(names.last(p).0),
        None => local_name(names, p),
    };
    element.name.map(name).unwrap_or_default()
}
