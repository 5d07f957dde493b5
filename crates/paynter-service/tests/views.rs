//! Views of all models of gallery and library: complete, placed, with the strokes of the flat graph.

mod kit;

use kit::{all_files, root};
use paynter_service::Workspace;
use paynter_service::view::{Decided, Form, NodeSort, StrokeAt};

#[test]
fn the_view_of_the_circuit_has_its_strokes_and_reasons() {
    let path = root()
        .join("gallery/circuit/circuit.bond")
        .display()
        .to_string();
    let workspace = Workspace::new([]);
    let view = workspace.view(&path, "Circuit").expect("it is there");
    assert!(!view.has_errors, "{view:?}");
    let bond = |id: &str| view.bonds.iter().find(|b| b.id == id).expect("it is there");
    assert_eq!(bond("supply->mesh").stroke, Some(StrokeAt::Head));
    assert_eq!(bond("supply->mesh").decided, Some(Decided::Fixed));
    assert_eq!(bond("node->c1").stroke, Some(StrokeAt::Tail));
    assert_eq!(bond("branch->l1").stroke, Some(StrokeAt::Head));
    assert_eq!(
        bond("mesh->r1").reasons.len(),
        2,
        "{:?}",
        bond("mesh->r1").reasons
    );
    let node = |id: &str| view.nodes.iter().find(|n| n.id == id).expect("it is there");
    assert_eq!(node("c1").form, Some(Form::Integral));
    assert_eq!(node("c1").value.as_deref(), Some("C1"));
    assert_eq!(node("c1").domain.as_deref(), Some("electrical"));
    let structure = view.structure.as_ref().expect("no errors");
    assert_eq!(structure.states, ["c1.q", "l1.p"]);
    assert_eq!(structure.order, 2);
    assert_eq!((structure.n_elements, structure.n_bonds), (8, 7));
    serde_json::to_string(&view).expect("a view can be sent");
}

#[test]
fn every_bond_of_gallery_and_library_has_a_stroke() {
    let (mut n_bonds, mut n_bare) = (0, 0);
    let mut bare = Vec::new();
    for path in all_files() {
        let workspace = Workspace::new([]);
        for model in workspace.models(&path) {
            let view = workspace.view(&path, &model).expect("it is there");
            assert_eq!(view.unresolved, [], "{path} {model}");
            assert!(!view.has_errors, "{path} {model}");
            for node in &view.nodes {
                assert_ne!(node.sort, NodeSort::Unknown, "{path} {model} {}", node.id);
            }
            for bond in &view.bonds {
                let is_there = |id: &str| view.nodes.iter().any(|n| n.id == id);
                assert!(
                    is_there(&bond.from.node) && is_there(&bond.to.node),
                    "{path} {model} {bond:?}"
                );
                n_bonds += 1;
                if bond.stroke.is_none() {
                    n_bare += 1;
                    bare.push(format!("{path} {model} {}", bond.id));
                }
            }
            let ids: std::collections::BTreeSet<_> = view.nodes.iter().map(|n| &n.id).collect();
            assert_eq!(ids.len(), view.nodes.len(), "ids of {path} {model}");
        }
    }
    println!(
        "{n_bonds} bonds, {n_bare} without a stroke\n{}",
        bare.join("\n")
    );
    assert!(
        n_bare * 20 < n_bonds,
        "{n_bare} of {n_bonds}:\n{}",
        bare.join("\n")
    );
}

#[test]
fn a_model_with_errors_still_has_a_view() {
    let mut workspace = Workspace::new([]);
    workspace.open(
        "m.bond",
        "model M {\n    s: Se(10) -> j: 1 -> r: Resistr(2)\n    j -> nowhere\n    x: C(\n    j -> c: C(1)\n}\n",
    );
    let view = workspace.view("m.bond", "M").expect("it can be read");
    assert!(view.has_errors);
    assert_eq!(view.structure, None);
    let ids: Vec<&str> = view.nodes.iter().map(|n| n.id.as_str()).collect();
    assert_eq!(ids, ["s", "j", "r", "c"]);
    assert_eq!(view.nodes[2].sort, NodeSort::Unknown);
    assert_eq!(view.unresolved.len(), 1);
    assert_eq!(view.unresolved[0].name, "nowhere");
    assert_eq!(view.bonds.len(), 4);
}

#[test]
fn a_forced_stroke_that_cannot_be_is_shown_as_a_conflict() {
    let mut workspace = Workspace::new([]);
    workspace.open(
        "m.bond",
        "model M {\n    s: Se(10) |-> j: 1 -> r: R(2)\n    j -> c: C(1)\n}\n",
    );
    let view = workspace.view("m.bond", "M").expect("it can be read");
    let bond = &view.bonds[0];
    assert!(bond.is_conflict, "{view:?}");
    assert_eq!(bond.forced, Some(StrokeAt::Tail));
    assert_eq!(bond.decided, Some(Decided::Conflict));
}

const CIRCUIT: &str = "model M {\n    s: Se(10) -> j: 1 -> r: R(2), c: C(1)\n}\n";

#[test]
fn an_error_in_an_experiment_leaves_the_strokes_of_the_models() {
    let wrong = [
        "experiment e of M { stop = ( }\n",
        "experiment e of M { stop = 1; record c.\n",
        "experiment e of M {\n    with k =\n}\n",
        "experiment e of\n",
        "experiment\n",
    ];
    for text in wrong {
        let mut workspace = Workspace::new([]);
        workspace.open("m.bond", format!("{CIRCUIT}\n{text}"));
        let view = workspace.view("m.bond", "M").expect("it can be read");
        assert!(!workspace.messages("m.bond").is_empty(), "{text}");
        assert!(view.bonds.iter().all(|b| b.stroke.is_some()), "{text}");
        assert_eq!(view.structure.map(|s| s.order), Some(1), "{text}");
    }
}

#[test]
fn an_error_in_a_model_leaves_no_strokes_that_may_be_wrong() {
    let wrong = [
        CIRCUIT.replace("c: C(1)", "c: C("),
        CIRCUIT.replace("c: C(1)\n", "c: C(1)\n    d: ->\n"),
        format!("model P {{\n    p: port electrical\n    p -> r: R(\n}}\n{CIRCUIT}"),
        format!("{}\nfn f(x) = (\n", CIRCUIT.replace("C(1)", "C(f(1))")),
    ];
    for text in wrong {
        let mut workspace = Workspace::new([]);
        workspace.open("m.bond", text.clone());
        let Some(view) = workspace.view("m.bond", "M") else {
            continue;
        };
        assert!(view.bonds.iter().all(|b| b.stroke.is_none()), "{text}");
    }
}

#[test]
fn a_storage_that_follows_from_others_is_integral_as_well() {
    let mut workspace = Workspace::new([]);
    // The inertia sets the flow of the junction, so that of the spring follows.
    let text = "model M {\n    s: Se(1) -> j: 1 -> i: I(1), c: C { e = 3*q }\n}\n";
    workspace.open("m.bond", text);
    let view = workspace.view("m.bond", "M").expect("it can be read");
    let bond = |to: &str| {
        (view.bonds.iter())
            .find(|b| b.to.node == to)
            .expect("there")
    };
    assert!(bond("i").is_integral && bond("c").is_integral);
    assert!(!bond("j").is_integral);
}

#[test]
fn the_bonds_of_an_algebraic_loop_are_known() {
    let mut workspace = Workspace::new([]);
    // Two resistors on either side of a 0-junction: the effort between them is sought.
    let text = "model M {\n    s: Se(1) -> a: 1 -> r1: R(1), b: 0\n    b -> d: 1 -> r2: R(2), r3: R(3)\n    b -> r4: R(4)\n}\n";
    workspace.open("m.bond", text);
    let view = workspace.view("m.bond", "M").expect("it can be read");
    let structure = view.structure.expect("no errors");
    assert!(!structure.loops.is_empty());
    assert_eq!(structure.loops.len(), structure.loop_bonds.len());
    for bonds in &structure.loop_bonds {
        assert!(bonds.len() >= 2, "{bonds:?}");
        assert!(
            bonds
                .iter()
                .all(|id| view.bonds.iter().any(|b| b.id == *id))
        );
    }
}
