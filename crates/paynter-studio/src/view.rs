//! A view of the service as the page draws it.
//!
//! In:  one level of a model with strokes and reasons.
//! Out: the same for the canvas: how each node is drawn, what the colour of each bond says, which signals run
//!      between nodes, and chains of reasons with what they speak of.

use crate::wire::{BondView, NodeView, Reason, SignalView, Span, View};
use paynter_service::place::Range;
use paynter_service::view::{Bond, Decided, Node, NodeSort, Signal, SignalSort, StrokeAt};
use paynter_service::{Message, View as Level};
use std::collections::{BTreeMap, BTreeSet};

/// Turns a view into one for the canvas.
pub fn canvas(level: &Level, way: &[String], is_foreign: bool, messages: &[Message]) -> View {
    let values: BTreeMap<&str, &Signal> =
        level.signals.iter().map(|s| (s.name.as_str(), s)).collect();
    let ids: BTreeSet<&str> = level.nodes.iter().map(|n| n.id.as_str()).collect();
    let mut nodes: Vec<NodeView> = level.nodes.iter().map(|n| node(n, &values)).collect();
    let own = |n: &Node| (n.inherited.is_none() && !is_foreign).then(|| span(&n.range));
    let mut node_spans: Vec<Option<Span>> = level.nodes.iter().map(own).collect();
    // A bond to a name that nothing makes is drawn to a node that says so.
    for missing in level
        .unresolved
        .iter()
        .filter(|u| !ids.contains(u.name.as_str()))
    {
        if !nodes.iter().any(|n| n.id == missing.name) {
            nodes.push(unresolved(&missing.name));
            node_spans.push(Some(span(&missing.range)));
        }
    }
    let known: BTreeSet<&str> = nodes.iter().map(|n| n.id.as_str()).collect();
    let is_drawn = |b: &&Bond| known.contains(&*b.from.node) && known.contains(&*b.to.node);
    let drawn: Vec<&Bond> = level.bonds.iter().filter(is_drawn).collect();
    let arrow = |b: &&Bond| b.inherited.is_none().then(|| span(&b.range));
    View {
        model: level.model.clone(),
        is_foreign,
        level: way.to_vec(),
        bonds: drawn.iter().map(|b| bond(b)).collect(),
        bond_spans: drawn.iter().map(arrow).collect(),
        node_spans,
        signals: signals(level),
        conflict: way_of_conflict(level, messages, way),
        nodes,
    }
}

fn span(range: &Range) -> Span {
    Span {
        from: range.utf16.0,
        to: range.utf16.1,
    }
}

fn node(node: &Node, values: &BTreeMap<&str, &Signal>) -> NodeView {
    let written = node.value.clone().unwrap_or_default();
    let law = node
        .law
        .as_ref()
        .map(|l| l.split_whitespace().collect::<Vec<_>>().join(" "));
    let shown = match (values.get(written.as_str()), law) {
        // A parameter is shown with its value.
        (Some(signal), _) if signal.sort == SignalSort::Param => {
            let value = signal.value.as_deref().unwrap_or("?");
            format!(
                "{} = {value}{}",
                signal.name,
                in_brackets(signal.unit.as_deref())
            )
        }
        (_, Some(law)) if written.is_empty() => law,
        _ => written.clone(),
    };
    let is_box = matches!(
        node.sort,
        NodeSort::Part | NodeSort::Replaceable | NodeSort::Outer
    );
    let is_modulated = node.is_modulated && !matches!(node.kind.as_str(), "0" | "1") && !is_box;
    NodeView {
        id: node.id.clone(),
        kind: drawn_as(node),
        letters: format!("{}{}", if is_modulated { "M" } else { "" }, letters(node)),
        name: node.name.clone().unwrap_or_default(),
        value: shown,
        written,
        at: node.position,
        model: if is_box {
            part_kind(node).to_owned()
        } else {
            String::new()
        },
        trouble: node.errors.join("; "),
        doc: node
            .inherited
            .as_ref()
            .map(|m| format!("from {m}"))
            .unwrap_or_default(),
    }
}

fn in_brackets(unit: Option<&str>) -> String {
    unit.map(|u| format!(" [{u}]")).unwrap_or_default()
}

fn drawn_as(node: &Node) -> &'static str {
    match node.sort {
        NodeSort::Junction => "junction",
        NodeSort::Element if node.is_two_port() => "twoport",
        NodeSort::Element => "element",
        NodeSort::Part | NodeSort::Replaceable | NodeSort::Outer => "box",
        NodeSort::Port => "port",
        NodeSort::Tuple | NodeSort::Fixed => "many",
        NodeSort::For | NodeSort::If => "code",
        NodeSort::Unknown => "unknown",
    }
}

fn letters(node: &Node) -> String {
    match node.sort {
        NodeSort::For => "for".to_owned(),
        NodeSort::If => "if".to_owned(),
        NodeSort::Tuple => format!("({})", node.members.join(", ")),
        NodeSort::Fixed => "fixed".to_owned(),
        _ => part_kind(node).to_owned(),
    }
}

/// The kind of a node; of one that can be replaced, what stands there unless it is.
pub fn part_kind(node: &Node) -> &str {
    let default = node
        .value
        .as_deref()
        .filter(|_| node.sort == NodeSort::Replaceable);
    let head = default.and_then(|v| v.split(['(', '{', ' ']).next());
    head.filter(|h| !h.is_empty()).unwrap_or(&node.kind)
}

fn unresolved(name: &str) -> NodeView {
    NodeView {
        id: name.to_owned(),
        kind: "unknown",
        letters: "?".to_owned(),
        name: name.to_owned(),
        written: String::new(),
        value: String::new(),
        at: None,
        model: String::new(),
        trouble: format!("nothing makes {name}"),
        doc: String::new(),
    }
}

fn bond(bond: &Bond) -> BondView {
    let port = |end: &paynter_service::view::BondEnd| match end.is_implied {
        true => String::new(),
        false => end.port.clone().unwrap_or_default(),
    };
    BondView {
        id: bond.id.clone(),
        tail: bond.from.node.clone(),
        head: bond.to.node.clone(),
        tail_port: port(&bond.from),
        head_port: port(&bond.to),
        dimension: bond.dimension.unwrap_or(1),
        is_multi: bond.is_multi || bond.dimension.is_some_and(|n| n > 1),
        stroke: match bond.stroke {
            None => "none",
            Some(StrokeAt::Tail) => "tail",
            Some(StrokeAt::Head) => "head",
            Some(StrokeAt::Mixed) => "both",
        },
        class: class(bond),
        forced: bond.forced.is_some(),
        label: bond.name.clone().unwrap_or_default(),
        trouble: bond.errors.join("; "),
    }
}

fn class(bond: &Bond) -> &'static str {
    match bond.decided {
        _ if bond.is_conflict => "conflict",
        _ if bond.stroke.is_none() => "undetermined",
        _ if bond.is_derivative => "derivative",
        _ if bond.forced.is_some() => "forced",
        Some(Decided::Preferred) => "preferred",
        // A storage whose integral form follows from others has what it prefers, too.
        _ if bond.is_integral => "preferred",
        _ => "plain",
    }
}

/// Signals between nodes: from what a definition reads to whatever uses its name.
fn signals(level: &Level) -> Vec<SignalView> {
    let ids: BTreeSet<&str> = level.nodes.iter().map(|n| n.id.as_str()).collect();
    let by_name: BTreeMap<&str, &Signal> =
        level.signals.iter().map(|s| (s.name.as_str(), s)).collect();
    let mut found: BTreeMap<(String, String), String> = BTreeMap::new();
    for node in &level.nodes {
        let texts = [node.value.as_deref(), node.law.as_deref()];
        for name in texts.into_iter().flatten().flat_map(words) {
            for (from, label) in sources(&name, &by_name, &ids) {
                if from != node.id {
                    found.entry((from, node.id.clone())).or_insert(label);
                }
            }
        }
    }
    // `ctrl.err = …` acts on `ctrl`.
    for signal in &level.signals {
        let Some((part, member)) = signal.name.split_once('.') else {
            continue;
        };
        if !ids.contains(part) {
            continue;
        }
        let read = signal.value.as_deref().into_iter().flat_map(words);
        let direct = signal.reads.iter().map(|n| (n.clone(), member.to_owned()));
        let through = read.flat_map(|name| sources(&name, &by_name, &ids));
        for (from, label) in direct.chain(through) {
            if from != part {
                found.entry((from, part.to_owned())).or_insert(label);
            }
        }
    }
    let views = found.into_iter().map(|((from, to), label)| SignalView {
        id: format!("signal {from} {to}"),
        from,
        to,
        label,
    });
    views.collect()
}

/// The nodes that a name stands for, through definitions: itself, or what its definition reads.
fn sources(
    name: &str,
    by_name: &BTreeMap<&str, &Signal>,
    ids: &BTreeSet<&str>,
) -> Vec<(String, String)> {
    if ids.contains(name) {
        return vec![(name.to_owned(), String::new())];
    }
    let mut found = Vec::new();
    let mut seen = BTreeSet::new();
    let mut open = vec![name.to_owned()];
    while let Some(next) = open.pop() {
        let Some(signal) = by_name
            .get(next.as_str())
            .filter(|_| seen.insert(next.clone()))
        else {
            continue;
        };
        if signal.sort == SignalSort::Param {
            continue;
        }
        found.extend(signal.reads.iter().map(|n| (n.clone(), name.to_owned())));
        open.extend(signal.value.as_deref().into_iter().flat_map(words));
    }
    found
}

/// Names in an expression: the first word of each dotted one.
fn words(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut in_unit = false;
    let mut word = String::new();
    let mut before = ' ';
    for c in text.chars().chain([' ']) {
        if c.is_alphanumeric() || c == '_' {
            word.push(c);
            continue;
        }
        let is_name = word.starts_with(|c: char| c.is_alphabetic() || c == '_');
        if is_name && !in_unit && before != '.' {
            found.push(word.clone());
        }
        word.clear();
        before = c;
        in_unit = match c {
            '[' => true,
            ']' => false,
            _ => in_unit,
        };
    }
    found
}

/// The way of the first conflict, as the engine tells it.
pub fn way_of_conflict(level: &Level, messages: &[Message], way: &[String]) -> Vec<Reason> {
    let Some(structure) = &level.structure else {
        return Vec::new();
    };
    let is_conflict = |m: &&Message| structure.conflicts.contains(&m.text);
    let Some(message) = messages.iter().find(is_conflict) else {
        return Vec::new();
    };
    let mut sentences: Vec<String> = message
        .notes
        .iter()
        .flat_map(|n| n.split("; "))
        .map(str::to_owned)
        .collect();
    sentences.push(message.text.clone());
    reasons(level, &sentences, way)
}

/// Sentences with the nodes that they name in backticks and the bonds between these; names begin with the way to the level.
pub fn reasons(level: &Level, sentences: &[String], way: &[String]) -> Vec<Reason> {
    let before_name = way.iter().fold(String::new(), |all, part| all + part + ".");
    let mut before: Vec<String> = Vec::new();
    let mut chain = Vec::new();
    for text in sentences {
        let quoted = text.split('`').skip(1).step_by(2);
        let own = quoted.filter_map(|name| name.strip_prefix(before_name.as_str()));
        let nodes: Vec<String> = own.filter_map(|name| node_named(level, name)).collect();
        let around: BTreeSet<&String> = nodes.iter().chain(before.last()).collect();
        let inside = |b: &&Bond| around.contains(&b.from.node) && around.contains(&b.to.node);
        let bonds = level
            .bonds
            .iter()
            .filter(inside)
            .map(|b| b.id.clone())
            .collect();
        if !nodes.is_empty() {
            before.clone_from(&nodes);
        }
        chain.push(Reason {
            text: text.clone(),
            nodes,
            bonds,
        });
    }
    chain
}

/// The node that a name of the engine belongs to: itself, or the part it lies in.
fn node_named(level: &Level, name: &str) -> Option<String> {
    let first = name.split('.').next().unwrap_or(name);
    let ids = level.nodes.iter();
    let mut found =
        ids.filter(|n| n.id == name || n.id == first || n.name.as_deref() == Some(first));
    found.next().map(|n| n.id.clone())
}

#[cfg(test)]
mod tests {
    use super::*;
    use paynter_service::Workspace;

    fn shown(text: &str, model: &str) -> View {
        let mut workspace = Workspace::new([]);
        workspace.open("/m.bond", text);
        let level = workspace.view("/m.bond", model).expect("it has a view");
        canvas(&level, &[], false, &workspace.messages("/m.bond"))
    }

    const CIRCUIT: &str =
        "model M {\n    param R1 = 100 [ohm]\n    s: Se(10) -> j: 1 -> r: R(R1), c: C(1e-6)\n}\n";

    #[test]
    fn strokes_and_colours_are_those_of_the_textbook() {
        let view = shown(CIRCUIT, "M");
        let bond = |head: &str| view.bonds.iter().find(|b| b.head == head).expect("drawn");
        assert_eq!((bond("c").stroke, bond("c").class), ("tail", "preferred"));
        assert_eq!((bond("r").stroke, bond("r").class), ("head", "plain"));
        assert_eq!((bond("j").stroke, bond("j").class), ("head", "plain"));
        let r = view.nodes.iter().find(|n| n.id == "r").expect("drawn");
        assert_eq!(r.value, "R1 = 100 [ohm]");
    }

    #[test]
    fn a_conflict_is_a_way_through_the_graph() {
        let text = "model M {\n    a: Sf(1) -> x: 1 -> g: TF(2) -> y: 1\n    b: Sf(2) -> y\n    x -> i: I(1)\n}\n";
        let view = shown(text, "M");
        assert!(view.conflict.len() >= 2, "{:?}", view.conflict);
        assert!(view.conflict.iter().any(|r| !r.bonds.is_empty()));
        assert!(view.bonds.iter().any(|b| b.class == "conflict"));
    }

    #[test]
    fn a_signal_runs_from_what_is_read_to_what_uses_it() {
        let text = "model M {\n    v = 2*c.e\n    s: Se(10 - v) -> j: 1 -> r: R(1), c: C(1)\n}\n";
        let view = shown(text, "M");
        assert_eq!(
            view.signals
                .iter()
                .map(|s| (&*s.from, &*s.to, &*s.label))
                .collect::<Vec<_>>(),
            [("c", "s", "v")]
        );
    }

    #[test]
    fn names_in_units_are_no_names() {
        assert_eq!(words("10 [V]*sin(w*time) + a.b"), ["sin", "w", "time", "a"]);
    }
}
