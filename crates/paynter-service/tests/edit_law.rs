//! The law of edits: reading the text after an edit gives the edited graph; all other lines stay byte for byte;
//! `fmt` has nothing to do; undoing gives the old bytes. Random edits on random models, and on every model of
//! gallery and library.

mod kit;

use kit::{Graph, Random, graph, names, view_of};
use paynter::syntax::{FileId, format};
use paynter_service::edit::{apply, undo};
use paynter_service::view::{Bond, NodeSort, StrokeAt, View};
use paynter_service::{Edit, EndRef, Workspace};
use std::collections::BTreeSet;

/// One edit that was tried, and what came of it.
enum Outcome {
    Done,
    Refused,
}

/// Tries an edit and checks the law.
fn try_edit(workspace: &mut Workspace, path: &str, model: &str, edit: &Edit) -> Outcome {
    let before = workspace.text(path).expect("it is open");
    let old = view_of(workspace, path, model);
    let edits = match workspace.edit(path, model, edit) {
        Ok(edits) => edits,
        Err(refusal) => {
            assert!(!refusal.message.is_empty());
            assert!(
                !refusal.message.contains("lost on the way"),
                "{edit:?}\n{before}"
            );
            return Outcome::Refused;
        }
    };
    let after = apply(&before, &edits);
    assert_eq!(
        apply(&after, &undo(&before, &edits)),
        *before,
        "undo of {edit:?}"
    );
    workspace.apply(&edits);
    assert_eq!(workspace.text(path).as_deref(), Some(after.as_str()));

    let context = || format!("{edit:?}\n--- before\n{before}\n--- after\n{after}");
    if format(FileId(0), &before).text == *before {
        assert_eq!(
            format(FileId(0), &after).text,
            after,
            "fmt has work after {}",
            context()
        );
    }
    let new = view_of(workspace, path, model);
    assert_eq!(new.unresolved.len(), old.unresolved.len(), "{}", context());
    let known = names(&old);
    let expected = expected(&old, &known, edit, &new);
    let known = renamed(&known, edit);
    let found = graph(&new, &known);
    assert_eq!(found, expected, "{}", context());
    check_lines(&before, &after, &old, edit);
    Outcome::Done
}

fn renamed(known: &BTreeSet<String>, edit: &Edit) -> BTreeSet<String> {
    let mut known = known.clone();
    if let Edit::Rename { node, name } = edit {
        known.remove(node);
        known.insert(name.clone());
    }
    known
}

/// The graph that the edit must give, worked out on the old view alone.
fn expected(old: &View, known: &BTreeSet<String>, edit: &Edit, new: &View) -> Graph {
    let mut view = old.clone();
    let node = |view: &View, id: &str| view.nodes.iter().find(|n| n.id == id).cloned();
    match edit {
        Edit::AddNode {
            kind, value, at, ..
        } => {
            let mut made = view.nodes.first().unwrap_or(&new.nodes[0]).clone();
            made = blank(made, "#new", kind, value.clone());
            made.sort = sort_of(kind);
            let _ = at;
            made.ports = new
                .nodes
                .iter()
                .find(|n| n.kind == *kind)
                .map(|n| n.ports.clone())
                .unwrap_or_default();
            view.nodes.push(made);
        }
        Edit::Connect { from, to } => {
            let (mut from, mut to) = (from.clone(), to.clone());
            if node(&view, &from.node).is_some_and(|n| takes_power(&n)) {
                std::mem::swap(&mut from, &mut to);
            }
            // Another bond may join the same two nodes by other ports, or be a vector.
            let is_new = |b: &&Bond| {
                let mut all = old.bonds.iter();
                !all.any(|o| (&o.from, &o.to, o.is_multi) == (&b.from, &b.to, b.is_multi))
            };
            let joins = |b: &&Bond| b.from.node == from.node && b.to.node == to.node;
            let made = || new.bonds.iter().filter(joins);
            let mut bond = made()
                .find(is_new)
                .or_else(|| made().next())
                .cloned()
                .expect("the bond was made");
            let implied = |end: &EndRef, is_tail: bool| {
                let n = node(&view, &end.node).expect("it is there");
                let is_part = matches!(
                    n.sort,
                    NodeSort::Part | NodeSort::Replaceable | NodeSort::Outer
                );
                let second = n.ports.get(1).filter(|_| is_tail);
                let meant = second.or(n.ports.first()).filter(|_| is_part);
                end.port.clone().or(meant.map(|p| p.name.clone()))
            };
            bond.from.port = implied(&from, true);
            bond.to.port = implied(&to, false);
            bond.name = None;
            bond.forced = None;
            view.bonds.push(bond);
        }
        Edit::InsertOnBond {
            bond, kind, value, ..
        } => {
            let at = view
                .bonds
                .iter()
                .position(|b| b.id == *bond)
                .expect("it is there");
            let mut made = view.nodes.first().unwrap_or(&new.nodes[0]).clone();
            made = blank(made, "#new", kind, value.clone());
            made.sort = sort_of(kind);
            view.nodes.push(made);
            let mut second = view.bonds[at].clone();
            view.bonds[at].to.node = "#new".to_owned();
            view.bonds[at].to.port = None;
            second.from.node = "#new".to_owned();
            second.from.port = None;
            second.name = None;
            match second.forced {
                Some(StrokeAt::Head) => view.bonds[at].forced = None,
                _ => second.forced = None,
            }
            view.bonds.push(second);
        }
        Edit::Delete { nodes, bonds } => {
            view.nodes.retain(|n| !nodes.contains(&n.id));
            view.bonds.retain(|b| {
                !bonds.contains(&b.id)
                    && !nodes.contains(&b.from.node)
                    && !nodes.contains(&b.to.node)
            });
            for n in &mut view.nodes {
                n.members.retain(|m| !nodes.contains(m));
            }
            // Tuples and `_` that nothing joins any more are gone with their bond.
            let joined: BTreeSet<String> = view
                .bonds
                .iter()
                .flat_map(|b| [b.from.node.clone(), b.to.node.clone()])
                .collect();
            view.nodes
                .retain(|n| n.sort != NodeSort::Tuple || joined.contains(&n.id));
            let inner = view.nodes.iter().flat_map(|n| n.members.clone());
            let kept: BTreeSet<String> = joined.iter().cloned().chain(inner).collect();
            view.nodes
                .retain(|n| n.sort != NodeSort::Fixed || kept.contains(&n.id));
        }
        Edit::Reverse { bond } => {
            let bond = view
                .bonds
                .iter_mut()
                .find(|b| b.id == *bond)
                .expect("it is there");
            std::mem::swap(&mut bond.from, &mut bond.to);
            bond.forced = match bond.forced {
                Some(StrokeAt::Head) => Some(StrokeAt::Tail),
                Some(StrokeAt::Tail) => Some(StrokeAt::Head),
                other => other,
            };
        }
        Edit::ForceStroke { bond, at } => {
            let bond = view
                .bonds
                .iter_mut()
                .find(|b| b.id == *bond)
                .expect("it is there");
            bond.forced = Some(*at);
        }
        Edit::FreeStroke { bond } => {
            let bond = view
                .bonds
                .iter_mut()
                .find(|b| b.id == *bond)
                .expect("it is there");
            bond.forced = None;
        }
        Edit::SetValue { node, value, law } => {
            let n = view
                .nodes
                .iter_mut()
                .find(|n| n.id == *node)
                .expect("it is there");
            n.value.clone_from(value);
            n.law.clone_from(law);
        }
        Edit::SetKind { node, kind } => {
            let n = view
                .nodes
                .iter_mut()
                .find(|n| n.id == *node)
                .expect("it is there");
            n.kind.clone_from(kind);
            n.sort = sort_of(kind);
            if n.sort == NodeSort::Junction {
                n.value = None;
                n.law = None;
            }
            // Only parts have ports that are meant without being written.
            for bond in &mut view.bonds {
                for end in [&mut bond.from, &mut bond.to] {
                    if end.node == *node && end.is_implied {
                        end.port = None;
                    }
                }
            }
        }
        Edit::Move { places } => {
            for (id, x, y) in places {
                let n = view
                    .nodes
                    .iter_mut()
                    .find(|n| n.id == *id)
                    .expect("it is there");
                n.position = Some((*x, *y));
            }
        }
        Edit::Rename { node, name } => {
            // What reads the old name reads the new one: the texts of values are those of the new view.
            return graph_renamed(old, known, node, name, new);
        }
        Edit::Duplicate { nodes } => {
            let copies: Vec<_> = view
                .nodes
                .iter()
                .filter(|n| nodes.contains(&n.id))
                .cloned()
                .collect();
            let inner: Vec<_> = view
                .bonds
                .iter()
                .filter(|b| nodes.contains(&b.from.node) && nodes.contains(&b.to.node))
                .cloned()
                .collect();
            // Copies read each other where the originals did; they stand in the order in which they were named.
            let given = new
                .nodes
                .iter()
                .filter_map(|n| n.name.as_ref().filter(|name| !known.contains(*name)));
            let originals = nodes.iter().map(|id| {
                old.nodes
                    .iter()
                    .find(|n| n.id == *id)
                    .and_then(|n| n.name.clone())
            });
            let names: Vec<(String, String)> = originals
                .zip(given)
                .filter_map(|(old, new)| Some((old?, new.clone())))
                .collect();
            for mut copy in copies {
                copy.id = format!("#{}", copy.id);
                copy.name = None;
                copy.value = copy.value.map(|v| reread(&v, &names));
                copy.law = copy.law.map(|v| reread(&v, &names));
                copy.position = None;
                view.nodes.push(copy);
            }
            for mut bond in inner {
                bond.from.node = format!("#{}", bond.from.node);
                bond.to.node = format!("#{}", bond.to.node);
                bond.name = None;
                view.bonds.push(bond);
            }
        }
        other => panic!("not tried: {other:?}"),
    }
    graph(&view, known)
}

/// A text that reads other names.
fn reread(text: &str, names: &[(String, String)]) -> String {
    let tokens = paynter::syntax::lex(text);
    let mut out = String::new();
    let mut before = "";
    for i in 0..tokens.len() {
        let word = tokens.text(i, text);
        let new = names
            .iter()
            .find(|(old, _)| old == word)
            .filter(|_| before != ".");
        let follows = (i + 1..tokens.len())
            .map(|k| tokens.text(k, text))
            .find(|t| !t.trim().is_empty());
        let is_argument = follows == Some("=");
        out.push_str(new.filter(|_| !is_argument).map_or(word, |(_, new)| new));
        before = word;
    }
    out
}

fn graph_renamed(
    old: &View,
    known: &BTreeSet<String>,
    node: &str,
    name: &str,
    new: &View,
) -> Graph {
    let swap = |text: &str| {
        if text == node {
            name.to_owned()
        } else {
            text.to_owned()
        }
    };
    let mut view = old.clone();
    for n in &mut view.nodes {
        n.id = swap(&n.id);
        n.name = n.name.as_deref().map(swap);
        n.members = n.members.iter().map(|m| swap(m)).collect();
    }
    for b in &mut view.bonds {
        b.from.node = swap(&b.from.node);
        b.to.node = swap(&b.to.node);
    }
    // Values that read the node have its new name; they are as many as before, in the same places.
    assert_eq!(view.nodes.len(), new.nodes.len());
    for (a, b) in view.nodes.iter_mut().zip(&new.nodes) {
        a.value.clone_from(&b.value);
        a.law.clone_from(&b.law);
        a.id.clone_from(&b.id);
        a.members.clone_from(&b.members);
    }
    for (a, b) in view.bonds.iter_mut().zip(&new.bonds) {
        a.from.node.clone_from(&b.from.node);
        a.to.node.clone_from(&b.to.node);
    }
    view.signals.clone_from(&new.signals);
    let mut known = known.clone();
    known.remove(node);
    known.insert(name.to_owned());
    graph(&view, &known)
}

fn blank(
    mut node: paynter_service::view::Node,
    id: &str,
    kind: &str,
    value: Option<String>,
) -> paynter_service::view::Node {
    node.id = id.to_owned();
    node.kind = kind.to_owned();
    node.name = None;
    node.value = value;
    node.law = None;
    node.size = None;
    node.position = None;
    node.members = Vec::new();
    node
}

fn sort_of(kind: &str) -> NodeSort {
    match kind {
        "0" | "1" => NodeSort::Junction,
        _ => NodeSort::Element,
    }
}

fn takes_power(node: &paynter_service::view::Node) -> bool {
    node.sort == NodeSort::Element
        && (matches!(node.kind.as_str(), "R" | "C" | "I" | "Sw" | "D")
            || node.kind == "GY" && node.size.is_some() && node.law.is_some())
}

/// A line that goes or changes mentions something that the edit is about.
fn check_lines(before: &str, after: &str, old: &View, edit: &Edit) {
    let bond_ends = |ids: &[String]| -> Vec<String> {
        let bonds = old.bonds.iter().filter(|b| ids.contains(&b.id));
        bonds
            .flat_map(|b| [b.from.node.clone(), b.to.node.clone()])
            .collect()
    };
    let ids: Vec<String> = match edit {
        Edit::AddNode { .. } | Edit::Duplicate { .. } => Vec::new(),
        Edit::Connect { from, to } => vec![from.node.clone(), to.node.clone()],
        Edit::InsertOnBond { bond, .. }
        | Edit::Reverse { bond }
        | Edit::ForceStroke { bond, .. }
        | Edit::FreeStroke { bond } => bond_ends(std::slice::from_ref(bond)),
        Edit::Delete { nodes, bonds } => [nodes.clone(), bond_ends(bonds)].concat(),
        Edit::SetValue { node, .. } | Edit::SetKind { node, .. } | Edit::Rename { node, .. } => {
            vec![node.clone()]
        }
        Edit::Move { places } => places.iter().map(|p| p.0.clone()).collect(),
        _ => return,
    };
    let words: Vec<String> = ids
        .iter()
        .map(|id| {
            let node = old.nodes.iter().find(|n| n.id == *id);
            let name = node.and_then(|n| n.name.clone());
            let name = name.unwrap_or_else(|| node.map_or(String::new(), |n| n.kind.clone()));
            name.split('[')
                .next()
                .unwrap_or("")
                .trim_matches(['(', ')'])
                .to_owned()
        })
        .collect();
    let mut kept: Vec<&str> = after.lines().collect();
    for line in before.lines() {
        if let Some(at) = kept.iter().position(|l| *l == line) {
            kept.remove(at);
            continue;
        }
        let is_plain = line.trim().is_empty()
            || line.trim_start().starts_with("///")
            || line.contains("layout");
        let mentions = words.iter().any(|w| line.contains(w.as_str()));
        // A model on one line is edited in that line; a block may be several.
        let is_brace = line.trim() == "}" || line.contains("model ");
        let is_block = ids
            .iter()
            .any(|id| id.starts_with("for") || id.starts_with("if"));
        assert!(
            is_plain || mentions || is_brace || is_block,
            "{edit:?} changed {line:?}\n--- before\n{before}\n--- after\n{after}"
        );
    }
}

/// Some edit of the model, drawn by lot.
fn random_edit(random: &mut Random, view: &View, n: usize) -> Option<Edit> {
    let own: Vec<_> = view
        .nodes
        .iter()
        .filter(|n| n.inherited.is_none())
        .collect();
    let named: Vec<_> = view.nodes.iter().filter(|n| n.name.is_some()).collect();
    let bonds: Vec<_> = view
        .bonds
        .iter()
        .filter(|b| b.inherited.is_none())
        .collect();
    let kinds = ["0", "1", "R", "C", "I", "Se", "Sf", "TF", "GY"];
    Some(match random.below(14) {
        0 => Edit::AddNode {
            kind: (*random.pick(&kinds)?).to_owned(),
            name: None,
            value: Some("3".to_owned()).filter(|_| random.below(2) == 0),
            at: None,
        },
        1 | 2 => {
            let (a, b) = (random.pick(&named)?, random.pick(&named)?);
            let end = |n: &paynter_service::view::Node| EndRef {
                node: n.id.clone(),
                port: None,
            };
            Edit::Connect {
                from: end(a),
                to: end(b),
            }
        }
        3 => Edit::InsertOnBond {
            bond: random.pick(&bonds)?.id.clone(),
            kind: (*random.pick(&["0", "1", "TF"])?).to_owned(),
            name: None,
            value: None,
            at: None,
        },
        4 => Edit::Delete {
            nodes: vec![random.pick(&own)?.id.clone()],
            bonds: Vec::new(),
        },
        5 => Edit::Delete {
            nodes: Vec::new(),
            bonds: vec![random.pick(&bonds)?.id.clone()],
        },
        6 => Edit::Reverse {
            bond: random.pick(&bonds)?.id.clone(),
        },
        7 => Edit::ForceStroke {
            bond: random.pick(&bonds)?.id.clone(),
            at: if random.below(2) == 0 {
                StrokeAt::Head
            } else {
                StrokeAt::Tail
            },
        },
        8 => Edit::FreeStroke {
            bond: random.pick(&bonds)?.id.clone(),
        },
        9 => Edit::SetValue {
            node: random.pick(&own)?.id.clone(),
            value: Some(format!("{}*2", n + 1)).filter(|_| random.below(4) > 0),
            law: None,
        },
        10 => Edit::SetKind {
            node: random.pick(&own)?.id.clone(),
            kind: (*random.pick(&kinds)?).to_owned(),
        },
        11 => Edit::Move {
            places: vec![(
                random.pick(&named)?.id.clone(),
                random.below(500) as f64,
                1.5 - random.below(300) as f64,
            )],
        },
        12 => Edit::Rename {
            node: random.pick(&own).filter(|n| n.name.is_some())?.id.clone(),
            name: format!("renamed{n}"),
        },
        _ => {
            let mut nodes: Vec<String> = Vec::new();
            for _ in 0..1 + random.below(3) {
                let id = random.pick(&own)?.id.clone();
                if !nodes.contains(&id) {
                    nodes.push(id);
                }
            }
            Edit::Duplicate { nodes }
        }
    })
}

/// A sequence of edits; gives how many were done and how many refused.
fn campaign(
    workspace: &mut Workspace,
    path: &str,
    model: &str,
    seed: u64,
    n: usize,
) -> (usize, usize) {
    let mut random = Random(seed | 1);
    let (mut done, mut refused) = (0, 0);
    for k in 0..n {
        let view = view_of(workspace, path, model);
        let Some(edit) = random_edit(&mut random, &view, k) else {
            continue;
        };
        match try_edit(workspace, path, model, &edit) {
            Outcome::Done => done += 1,
            Outcome::Refused => refused += 1,
        }
    }
    (done, refused)
}

#[test]
fn random_edits_of_random_models_keep_the_law() {
    let (mut done, mut refused) = (0, 0);
    for seed in 1..=150_u64 {
        let mut random = Random(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1);
        let mut workspace = Workspace::new([]);
        workspace.open("m.bond", kit::random_model(&mut random));
        let (d, r) = campaign(&mut workspace, "m.bond", "M", random.next(), 30);
        done += d;
        refused += r;
    }
    println!("{done} edits, {refused} refused");
    assert!(done > 3 * refused, "{done} done, {refused} refused");
}

#[test]
fn random_edits_of_gallery_and_library_keep_the_law() {
    let (mut done, mut refused) = (0, 0);
    for path in kit::all_files() {
        let text = std::fs::read_to_string(&path).expect("it was listed");
        let mut workspace = Workspace::new([]);
        workspace.open(&path, text.clone());
        for (k, model) in workspace.models(&path).iter().enumerate() {
            workspace.change(&path, text.clone());
            let (d, r) = campaign(
                &mut workspace,
                &path,
                model,
                77 + 31 * k as u64 + path.len() as u64,
                12,
            );
            done += d;
            refused += r;
        }
    }
    println!("{done} edits, {refused} refused");
    assert!(done > refused, "{done} done, {refused} refused");
}
