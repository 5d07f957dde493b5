//! Changes of the graph as one change of the text.
//!
//! In:  what the hand did on the canvas.
//! Out: what to write where, as one step for the editor's history, and what to select afterwards.
//!
//! The service says what a person would write; a hand's one move may take two of its edits (a new element and
//! its bond), which are carried out on a copy and handed out together.

use crate::changes::difference;
use crate::wire::{GraphEdit, TextChange};
use paynter::model::kinds::Nature;
use paynter_service::view::StrokeAt;
use paynter_service::{Edit, EndRef, View, Workspace};

/// What an edit gives.
#[derive(Debug, PartialEq)]
pub struct Edited {
    /// At most one.
    pub changes: Vec<TextChange>,
    /// The node that is new.
    pub select: Option<String>,
}

/// Turns an edit into a change of the text.
///
/// # Errors
///
/// Why it cannot be done, in words.
pub fn edit(
    workspace: &Workspace,
    path: &str,
    model: &str,
    edit: &GraphEdit,
) -> Result<Edited, String> {
    let old = workspace.text(path).ok_or("the text is not open")?;
    let mut copy = copy_of(workspace);
    let select = carry_out(&mut copy, (path, model), edit)?;
    let new = copy.text(path).ok_or("the text is not open")?;
    let change = difference(&old, &new);
    let changes = change.map(|(from, to, insert)| TextChange { from, to, insert });
    Ok(Edited {
        changes: changes.into_iter().collect(),
        select,
    })
}

/// Carries an edit out on texts that nobody else sees; gives what to select afterwards.
///
/// # Errors
///
/// Why it cannot be done, in words.
pub fn carry_out(
    copy: &mut Workspace,
    (path, model): (&str, &str),
    edit: &GraphEdit,
) -> Result<Option<String>, String> {
    let before = view_of(copy, path, model)?;
    let mut select = None;
    match edit {
        GraphEdit::Add {
            part,
            value,
            at,
            to,
        } => {
            let step = Edit::AddNode {
                kind: part.clone(),
                name: None,
                value: some(value),
                at: *at,
            };
            select = Some(add((copy, &before), (path, model), &step, to.as_deref())?);
        }
        GraphEdit::Insert { bond, part, value } => {
            let step = Edit::InsertOnBond {
                bond: bond.clone(),
                kind: part.clone(),
                name: None,
                value: some(value),
                at: None,
            };
            select = place(copy, &before, (path, model), &step)?;
        }
        GraphEdit::Connect { from, to } => {
            let (from, to) = drawn_direction(&before, from, to);
            apply(copy, path, model, &Edit::Connect { from, to })?;
        }
        GraphEdit::Paste { text, at } => {
            let step = Edit::Paste {
                text: text.clone(),
                at: *at,
            };
            select = place(copy, &before, (path, model), &step)?;
        }
        GraphEdit::Duplicate { .. } | GraphEdit::Group { .. } => {
            let step = simple(edit, &before);
            select = place(copy, &before, (path, model), &step)?;
        }
        GraphEdit::Rename { node, name } => {
            let step = Edit::Rename {
                node: node.clone(),
                name: name.clone(),
            };
            apply(copy, path, model, &step)?;
            select = Some(name.clone());
        }
        // Needs a loader of its own: `rewrites`.
        GraphEdit::Rewrite { .. } => return Err("a rewriting is not an edit by hand".to_owned()),
        other => apply(copy, path, model, &simple(other, &before))?,
    }
    Ok(select)
}

/// Carries a step out that makes something; gives what is new.
fn place(
    copy: &mut Workspace,
    before: &View,
    (path, model): (&str, &str),
    step: &Edit,
) -> Result<Option<String>, String> {
    apply(copy, path, model, step)?;
    Ok(new_node(before, &view_of(copy, path, model)?))
}

/// Adds a part, with a bond to another one where the hand drew it from there; gives what to select.
fn add(
    (copy, before): (&mut Workspace, &View),
    (path, model): (&str, &str),
    step: &Edit,
    to: Option<&str>,
) -> Result<String, String> {
    apply(copy, path, model, step)?;
    let after = view_of(copy, path, model)?;
    let new = new_node(before, &after).ok_or("the new part cannot be found in the text")?;
    if let Some(to) = to {
        let (from, to) = direction(&after, to, &new);
        apply(copy, path, model, &Edit::Connect { from, to })?;
    }
    // What ends a chain leaves the hand where it was, so that the next part hangs on the same junction.
    let ends = is_source(&after, &new) || is_sink(&after, &new);
    let stays = to.filter(|_| ends);
    Ok(stays.map_or(new, str::to_owned))
}

/// A workspace with the same open texts.
pub fn copy_of(workspace: &Workspace) -> Workspace {
    let mut copy = Workspace::new([]);
    for open in workspace.open_files() {
        if let Some(text) = workspace.text(&open) {
            copy.open(&open, text);
        }
    }
    copy
}

/// What a bond would be if it were drawn.
#[derive(Debug, PartialEq)]
pub struct Preview {
    /// It would run the other way: sources give, losses and storages take.
    pub is_turned: bool,
    /// The end of its stroke; none if it has none.
    pub stroke: Option<StrokeAt>,
    /// The model would have a conflict.
    pub is_conflict: bool,
}

/// Tells what a bond between two nodes would be; nothing is changed.
///
/// # Errors
///
/// Why there can be no such bond, in words.
pub fn preview(
    workspace: &Workspace,
    path: &str,
    model: &str,
    (from, to): (&str, &str),
) -> Result<Preview, String> {
    let text = workspace.text(path).ok_or("the text is not open")?;
    let mut copy = Workspace::new([]);
    copy.open(path, text);
    let before = view_of(&copy, path, model)?;
    let (tail, head) = drawn_direction(&before, from, to);
    let is_turned = tail.node != from;
    let step = Edit::Connect {
        from: tail,
        to: head,
    };
    apply(&mut copy, path, model, &step)?;
    let after = view_of(&copy, path, model)?;
    let is_new = |b: &&paynter_service::view::Bond| !before.bonds.iter().any(|o| o.id == b.id);
    let new = after.bonds.iter().find(is_new);
    Ok(Preview {
        is_turned,
        stroke: new.and_then(|b| b.stroke),
        is_conflict: after.bonds.iter().any(|b| b.is_conflict),
    })
}

fn simple(edit: &GraphEdit, view: &View) -> Edit {
    match edit.clone() {
        GraphEdit::Delete { nodes, bonds } => Edit::Delete { nodes, bonds },
        GraphEdit::Move { nodes } => Edit::Move {
            places: nodes
                .into_iter()
                .map(|m| (m.node, m.at.0, m.at.1))
                .collect(),
        },
        GraphEdit::Reverse { bond } => Edit::Reverse { bond },
        GraphEdit::Force { bond, end } => match end.as_str() {
            "tail" => Edit::ForceStroke {
                bond,
                at: StrokeAt::Tail,
            },
            "head" => Edit::ForceStroke {
                bond,
                at: StrokeAt::Head,
            },
            _ => Edit::FreeStroke { bond },
        },
        GraphEdit::Value { node, value } => {
            // A law in braces stays as it is.
            let law = view
                .nodes
                .iter()
                .find(|n| n.id == node)
                .and_then(|n| n.law.clone());
            Edit::SetValue {
                node,
                value: Some(value),
                law,
            }
        }
        GraphEdit::Kind { node, part } => Edit::SetKind { node, kind: part },
        GraphEdit::Duplicate { nodes } => Edit::Duplicate { nodes },
        GraphEdit::Group { nodes, name } => Edit::Group { nodes, model: name },
        GraphEdit::Ungroup { node } => Edit::Ungroup { node },
        GraphEdit::Add { .. }
        | GraphEdit::Insert { .. }
        | GraphEdit::Connect { .. }
        | GraphEdit::Paste { .. }
        | GraphEdit::Rewrite { .. }
        | GraphEdit::Rename { .. } => {
            unreachable!("these take more than one step")
        }
    }
}

fn view_of(workspace: &Workspace, path: &str, model: &str) -> Result<View, String> {
    workspace
        .view(path, model)
        .ok_or_else(|| format!("the text has no model `{model}`"))
}

/// Carries out one edit; one that would change another file is refused, since its text is not open here.
fn apply(workspace: &mut Workspace, path: &str, model: &str, edit: &Edit) -> Result<(), String> {
    let edits = workspace
        .edit(path, model, edit)
        .map_err(|refusal| refusal.message)?;
    let is_other = |p: &str| workspace_path(p) != workspace_path(path);
    if let Some(other) = edits.iter().find(|e| is_other(&e.path)) {
        return Err(format!(
            "this would change {} as well; open that file and change it there",
            other.path
        ));
    }
    workspace.apply(&edits);
    Ok(())
}

fn workspace_path(path: &str) -> String {
    paynter_service::world::plain(path)
}

fn some(text: &str) -> Option<String> {
    Some(text.trim().to_owned()).filter(|t| !t.is_empty())
}

fn new_node(before: &View, after: &View) -> Option<String> {
    let was_there = |id: &str| before.nodes.iter().any(|n| n.id == id);
    after
        .nodes
        .iter()
        .find(|n| !was_there(&n.id))
        .map(|n| n.id.clone())
}

fn end(node: &str) -> EndRef {
    EndRef {
        node: node.to_owned(),
        port: None,
    }
}

/// Power goes from a source, and into everything else that hangs on one bond.
fn direction(view: &View, old: &str, new: &str) -> (EndRef, EndRef) {
    if is_source(view, new) {
        (end(new), end(old))
    } else {
        (end(old), end(new))
    }
}

/// As drawn, but never into a source or out of a loss or storage.
fn drawn_direction(view: &View, from: &str, to: &str) -> (EndRef, EndRef) {
    if is_source(view, to) || is_sink(view, from) {
        (end(to), end(from))
    } else {
        (end(from), end(to))
    }
}

fn nature_of(view: &View, node: &str) -> Option<Nature> {
    view.nodes.iter().find(|n| n.id == node)?.nature()
}

fn is_source(view: &View, node: &str) -> bool {
    nature_of(view, node) == Some(Nature::Source)
}

fn is_sink(view: &View, node: &str) -> bool {
    matches!(
        nature_of(view, node),
        Some(Nature::Resistor | Nature::Contact | Nature::Storage)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(text: &str, steps: &[GraphEdit]) -> String {
        let mut workspace = Workspace::new([]);
        workspace.open("/m.bond", text);
        for step in steps {
            let edited =
                edit(&workspace, "/m.bond", "M", step).unwrap_or_else(|e| panic!("{step:?}: {e}"));
            let mut text: Vec<u16> = workspace
                .text("/m.bond")
                .expect("open")
                .encode_utf16()
                .collect();
            for c in &edited.changes {
                text.splice(c.from..c.to, c.insert.encode_utf16());
            }
            workspace.open("/m.bond", String::from_utf16(&text).expect("text"));
        }
        workspace.text("/m.bond").expect("open").to_string()
    }

    #[test]
    fn what_is_copied_can_be_pasted_under_new_names() {
        let text = "model M {\n    s: Se(1) -> j: 1 -> r: R(2), c: C(3)\n}\n";
        let mut workspace = Workspace::new([]);
        workspace.open("/m.bond", text);
        let nodes = ["j".to_owned(), "r".to_owned()];
        let copied =
            paynter_service::edit::copy(&workspace, "/m.bond", "M", &nodes).expect("copied");
        let pasted = after(
            text,
            &[GraphEdit::Paste {
                text: copied,
                at: Some((100.0, 40.0)),
            }],
        );
        workspace.open("/m.bond", pasted.as_str());
        let view = workspace.view("/m.bond", "M").expect("a view");
        assert_eq!((view.nodes.len(), view.bonds.len()), (6, 4), "{pasted}");
    }

    #[test]
    fn a_bond_tells_what_it_would_be_before_it_is_drawn() {
        let see = |text: &str, from: &str, to: &str| {
            let mut workspace = Workspace::new([]);
            workspace.open("/m.bond", text);
            preview(&workspace, "/m.bond", "M", (from, to))
        };
        let loose = "model M {\n    s: Se(1) -> j: 1 -> r: R(2)\n    c: C(3)\n}\n";
        let good = see(loose, "j", "c").expect("a bond");
        assert_eq!((good.is_conflict, good.is_turned), (false, false));
        // A capacitor gives effort to its junction.
        assert_eq!(good.stroke, Some(StrokeAt::Tail));
        assert!(see(loose, "j", "nothing").is_err());
        // A second source of flow at one junction.
        let two = "model M {\n    t: Sf(1) -> k: 1 -> q: R(1)\n    u: Sf(2)\n}\n";
        assert!(see(two, "u", "k").expect("a bond").is_conflict);
    }

    fn add(part: &str, value: &str, to: Option<&str>) -> GraphEdit {
        GraphEdit::Add {
            part: part.to_owned(),
            value: value.to_owned(),
            at: None,
            to: to.map(str::to_owned),
        }
    }

    #[test]
    fn a_circuit_grows_from_nothing() {
        let steps = [add("1", "", None)];
        let text = after("model M {\n}\n", &steps);
        let mut workspace = Workspace::new([]);
        workspace.open("/m.bond", &*text);
        let junction = workspace.view("/m.bond", "M").expect("view").nodes[0]
            .id
            .clone();
        let on = Some(junction.as_str());
        let text = after(
            &text,
            &[
                add("Se", "5 [V]", on),
                add("R", "1000 [ohm]", on),
                add("C", "1e-6 [F]", on),
            ],
        );
        workspace.open("/m.bond", &*text);
        let view = workspace.view("/m.bond", "M").expect("view");
        assert_eq!(
            (view.nodes.len(), view.bonds.len(), view.has_errors),
            (4, 3, false),
            "{text}"
        );
        assert_eq!(view.structure.expect("strokes").order, 1);
        // Power runs out of the source, whichever end was drawn first.
        assert!(
            view.bonds
                .iter()
                .any(|b| b.to.node == junction && b.from.node != junction),
            "{text}"
        );
    }

    #[test]
    fn every_kind_can_be_placed_as_the_palette_offers_it() {
        for card in crate::library::kinds() {
            let mut workspace = Workspace::new([]);
            let text = "model Net {\n    s: Se(1) -> j: 1 -> r: R(2)\n}\n";
            workspace.open("/m.bond", text);
            let step = add(card.kind, card.value, Some("j"));
            let edited = edit(&workspace, "/m.bond", "Net", &step)
                .unwrap_or_else(|e| panic!("{}: {e}", card.kind));
            let mut new: Vec<u16> = text.encode_utf16().collect();
            for c in &edited.changes {
                new.splice(c.from..c.to, c.insert.encode_utf16());
            }
            let new = String::from_utf16(&new).expect("text");
            workspace.open("/m.bond", new.as_str());
            let view = workspace.view("/m.bond", "Net").expect("view");
            // A two-port still wants its other side, a junction further bonds.
            let is_whole = !matches!(card.nature, "twoport" | "junction");
            assert!(!is_whole || !view.has_errors, "{new}");
            assert_eq!((view.nodes.len(), view.bonds.len()), (4, 3), "{new}");
            let node = view
                .nodes
                .iter()
                .find(|n| n.kind == card.kind && n.id != "s" && n.id != "j" && n.id != "r");
            let node = node.unwrap_or_else(|| panic!("{new}"));
            let takes = matches!(card.nature, "loss" | "storage");
            let own = view
                .bonds
                .iter()
                .find(|b| b.from.node == node.id || b.to.node == node.id);
            let own = own.expect("it hangs on the junction");
            assert!(!takes || own.to.node == node.id, "{new}");
        }
    }

    #[test]
    fn nodes_become_a_part_and_a_part_its_nodes() {
        let text = "model M {\n    s: Se(1 [V]) -> j: 1 -> r: R(2 [ohm]), c: C(3 [F])\n}\n";
        let grouped = after(
            text,
            &[GraphEdit::Group {
                nodes: vec!["j".to_owned(), "r".to_owned(), "c".to_owned()],
                name: "Load".to_owned(),
            }],
        );
        assert!(grouped.contains("model Load {"), "{grouped}");
        let mut workspace = Workspace::new([]);
        workspace.open("/m.bond", &*grouped);
        let view = workspace.view("/m.bond", "M").expect("view");
        assert!(view.nodes.len() == 2 && !view.has_errors, "{grouped}");
        let part = view
            .nodes
            .iter()
            .find(|n| n.kind == "Load")
            .expect("a part");
        let node = part.id.clone();
        let opened = after(&grouped, &[GraphEdit::Ungroup { node }]);
        workspace.open("/m.bond", &*opened);
        let view = workspace.view("/m.bond", "M").expect("view");
        assert!(view.nodes.len() == 4 && !view.has_errors, "{opened}");
    }

    #[test]
    fn a_node_changes_its_kind_and_nodes_are_doubled() {
        let text = "model M {\n    s: Se(1) -> j: 1 -> r: R(2), c: C(3)\n}\n";
        let kind = GraphEdit::Kind {
            node: "c".to_owned(),
            part: "I".to_owned(),
        };
        let turned = after(text, &[kind]);
        assert!(turned.contains("c: I(3)"), "{turned}");
        let nodes = vec!["j".to_owned(), "r".to_owned()];
        let doubled = after(text, &[GraphEdit::Duplicate { nodes }]);
        let mut workspace = Workspace::new([]);
        workspace.open("/m.bond", &*doubled);
        let view = workspace.view("/m.bond", "M").expect("view");
        assert_eq!((view.nodes.len(), view.bonds.len()), (6, 4), "{doubled}");
    }

    #[test]
    fn refusals_are_sentences() {
        let mut workspace = Workspace::new([]);
        workspace.open("/m.bond", "model M {\n    s: Se(1) -> j: 1 -> r: R(1)\n}\n");
        for bad in [
            GraphEdit::Rename {
                node: "s".to_owned(),
                name: "not a name".to_owned(),
            },
            GraphEdit::Rename {
                node: "nobody".to_owned(),
                name: "x".to_owned(),
            },
            GraphEdit::Reverse {
                bond: "nothing".to_owned(),
            },
            GraphEdit::Connect {
                from: "s".to_owned(),
                to: "nobody".to_owned(),
            },
            add("Nonsense kind", "", None),
        ] {
            let why = edit(&workspace, "/m.bond", "M", &bad).expect_err("refused");
            assert!(why.len() > 5, "{bad:?}: {why}");
        }
    }
}
