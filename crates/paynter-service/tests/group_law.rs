//! Groups and parts opened in place: the flat graph stays what it was, opening a group gives the old view back, names that are
//! read elsewhere follow, undoing gives the old bytes. On random models, and on gallery and library. What was copied and is
//! pasted is the graph that was copied.

mod kit;

use kit::{Random, graph, names, view_of};
use paynter::syntax::{FileId, format};
use paynter_service::edit::{apply, copy, undo};
use paynter_service::view::{NodeSort, View};
use paynter_service::{Edit, Refusal, Severity, Workspace};
use std::collections::BTreeSet;

/// Carries out an edit; checks undo, layout and messages. Gives why it was refused.
fn carry_out(
    workspace: &mut Workspace,
    (path, model): (&str, &str),
    edit: &Edit,
) -> Result<(), Refusal> {
    let before = workspace.text(path).expect("it is open");
    let errors = |w: &Workspace| {
        let all = w.messages(path);
        all.iter().filter(|m| m.severity == Severity::Error).count()
    };
    let n_errors = errors(workspace);
    let edits = workspace.edit(path, model, edit)?;
    let after = apply(&before, edits.iter().filter(|e| e.path == path));
    assert_eq!(
        apply(&after, &undo(&before, &edits)),
        *before,
        "undo of {edit:?}"
    );
    workspace.apply(&edits);
    if format(FileId(0), &before).text == *before {
        let laid_out = format(FileId(0), &after).text;
        assert_eq!(laid_out, after, "fmt has work after {edit:?}");
    }
    assert!(
        errors(workspace) <= n_errors,
        "{edit:?}\n--- before\n{before}\n--- after\n{after}\n{:?}",
        workspace.messages(path)
    );
    Ok(())
}

/// Elements of the flat graph by kind and by the last of their names, bonds by those of their ends.
fn flat(workspace: &Workspace, path: &str, model: &str) -> Option<(Vec<String>, Vec<String>)> {
    let analysis = workspace.analysis(path)?;
    let flat = analysis.flat(model)?;
    let graph = &flat.graph;
    let label = |k: u32| {
        let element = &graph.elements[k as usize];
        element.kind.letters().to_owned()
    };
    let elements = (0..graph.elements.len() as u32).map(label);
    let bonds = graph.bonds.iter().map(|b| {
        format!(
            "{} -> {} {:?}",
            label(b.tail.element.0),
            label(b.head.element.0),
            b.forced
        )
    });
    let (mut elements, mut bonds): (Vec<String>, Vec<String>) =
        (elements.collect(), bonds.collect());
    elements.sort();
    bonds.sort();
    Some((elements, bonds))
}

/// A node and some of its neighbours.
fn cluster(random: &mut Random, view: &View) -> Option<Vec<String>> {
    let can = |id: &str| {
        view.nodes.iter().any(|n| {
            n.id == id
                && n.inherited.is_none()
                && matches!(
                    n.sort,
                    NodeSort::Junction | NodeSort::Element | NodeSort::Part
                )
        })
    };
    let own: Vec<&str> = view.nodes.iter().map(|n| n.id.as_str()).collect();
    let first = *random.pick(&own)?;
    let mut chosen = vec![first.to_owned()];
    for _ in 0..1 + random.below(5) {
        let around: Vec<&str> = view
            .bonds
            .iter()
            .filter_map(
                |b| match (chosen.contains(&b.from.node), chosen.contains(&b.to.node)) {
                    (true, false) => Some(b.to.node.as_str()),
                    (false, true) => Some(b.from.node.as_str()),
                    _ => None,
                },
            )
            .filter(|id| can(id))
            .collect();
        match random.pick(&around) {
            Some(next) => chosen.push((*next).to_owned()),
            None => break,
        }
    }
    Some(chosen)
}

/// Groups and opens again; gives whether it was done.
fn there_and_back(workspace: &mut Workspace, path: &str, model: &str, chosen: &[String]) -> bool {
    let text = workspace.text(path).expect("it is open");
    let old = view_of(workspace, path, model);
    let (known, was) = (names(&old), flat(workspace, path, model));
    let group = Edit::Group {
        nodes: chosen.to_vec(),
        model: "Grouped".to_owned(),
    };
    if let Err(refusal) = carry_out(workspace, (path, model), &group) {
        assert!(!refusal.message.is_empty());
        return false;
    }
    let grouped = workspace.text(path).unwrap_or_default();
    let context = || format!("{chosen:?}\n--- before\n{text}\n--- after\n{grouped}");
    let new = view_of(workspace, path, model);
    let part = new.nodes.iter().find(|n| n.kind == "Grouped");
    let part = part
        .unwrap_or_else(|| panic!("the part is there: {}", context()))
        .id
        .clone();
    assert_eq!(new.nodes.len(), old.nodes.len() - chosen.len() + 1);
    let inside = view_of(workspace, path, "Grouped");
    let is_port = |n: &&paynter_service::view::Node| n.sort == NodeSort::Port;
    let n_inside = inside.nodes.len() - inside.nodes.iter().filter(is_port).count();
    assert_eq!(n_inside, chosen.len(), "{}", context());
    if was.is_some() {
        assert_eq!(flat(workspace, path, model), was, "{}", context());
    }
    let ungroup = Edit::Ungroup { node: part };
    match carry_out(workspace, (path, model), &ungroup) {
        // A stroke or name on a bond of a port has no place inside.
        Err(refusal) => {
            let words = ["stroke or a name", "has no name", "block"];
            assert!(
                words.iter().any(|w| refusal.message.contains(w)),
                "{refusal}\n{}",
                context()
            );
        }
        Ok(()) => {
            let back = view_of(workspace, path, model);
            assert_eq!(graph(&back, &known), graph(&old, &known), "{}", context());
        }
    }
    true
}

fn campaign(workspace: &mut Workspace, path: &str, n: usize, seed: u64) -> (usize, usize) {
    let mut random = Random(seed | 1);
    let text = workspace.text(path).expect("it is open");
    let (mut done, mut refused) = (0, 0);
    let models = workspace.models(path);
    for _ in 0..n {
        let Some(model) = random.pick(&models) else {
            break;
        };
        workspace.change(path, text.clone());
        let view = view_of(workspace, path, model);
        let Some(chosen) = cluster(&mut random, &view) else {
            continue;
        };
        match there_and_back(workspace, path, model, &chosen) {
            true => done += 1,
            false => refused += 1,
        }
    }
    workspace.change(path, text);
    (done, refused)
}

#[test]
fn groups_of_random_models_can_be_opened_again() {
    let (mut done, mut refused) = (0, 0);
    for seed in 1..=60_u64 {
        let mut random = Random(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1);
        let mut workspace = Workspace::new([]);
        workspace.open("m.bond", kit::random_model(&mut random));
        let (d, r) = campaign(&mut workspace, "m.bond", 3, random.next());
        done += d;
        refused += r;
    }
    println!("{done} groups, {refused} refused");
    assert!(done > refused, "{done} done, {refused} refused");
}

#[test]
fn groups_of_gallery_and_library_can_be_opened_again() {
    let (mut done, mut refused) = (0, 0);
    for path in kit::all_files() {
        let text = std::fs::read_to_string(&path).expect("it was listed");
        let mut workspace = Workspace::new([]);
        workspace.open(&path, text);
        let (d, r) = campaign(&mut workspace, &path, 2, 5 + path.len() as u64);
        done += d;
        refused += r;
    }
    println!("{done} groups, {refused} refused");
    assert!(2 * done > refused, "{done} done, {refused} refused");
}

const GYRO: &str = "units strict

model Drive {
    param R1 = 2 [ohm], k = 0.1 [V*s/rad]
    supply: Se(10 [V]) -> mesh: 1 -> r: R(R1), l: I(1 [mH])   // the winding
    mesh -> GY(k) -> shaft: 1 -> j: I(0.01 [kg*m^2]), b: R(0.02 [N*m*s/rad]*(1 + 0.1*r.f/1 [A]))
    output w [rpm] = shaft.f, i [A] = l.f
    layout {
        mesh 10 20
        l 30 40
    }
}

experiment go of Drive { start l.p = 1e-3 [Wb]; stop = 1 [s]; record w, l.f, j.p }
";

fn ids(list: &[&str]) -> Vec<String> {
    list.iter().map(|s| (*s).to_owned()).collect()
}

#[test]
fn a_group_reads_as_a_person_would_write_it() {
    let mut workspace = Workspace::new([]);
    workspace.open("drive.bond", GYRO);
    let group = Edit::Group {
        nodes: ids(&["mesh", "r", "l"]),
        model: "Winding".to_owned(),
    };
    carry_out(&mut workspace, ("drive.bond", "Drive"), &group).expect("it can be done");
    let text = workspace.text("drive.bond").expect("it is open");
    for line in [
        "model Winding {",
        "    param R1 = 2 [ohm]",
        "    port a: electrical = mesh",
        "    winding1: Winding(R1 = R1)",
        "output w [rpm] = shaft.f, i [A] = winding1.l.f",
        "start winding1.l.p = 1e-3 [Wb]",
        "record w, winding1.l.f, j.p",
        "(1 + 0.1*winding1.r.f/1 [A])",
    ] {
        assert!(text.contains(line), "{line}\n{text}");
    }
    let ungroup = Edit::Ungroup {
        node: "winding1".to_owned(),
    };
    carry_out(&mut workspace, ("drive.bond", "Drive"), &ungroup).expect("it can be done");
    let text = workspace.text("drive.bond").expect("it is open");
    assert!(text.contains("record w, l.f, j.p"), "{text}");
    assert!(text.contains("start l.p = 1e-3 [Wb]"), "{text}");
}

#[test]
fn a_group_follows_into_other_files() {
    let mut workspace = Workspace::new([]);
    workspace.open("drive.bond", GYRO);
    workspace.open(
        "use.bond",
        "use \"drive.bond\": Drive\nexperiment other of Drive { stop = 1 [s]; record l.f, shaft.f }\n",
    );
    let group = Edit::Group {
        nodes: ids(&["mesh", "r", "l"]),
        model: "Winding".to_owned(),
    };
    let edits = workspace
        .edit("drive.bond", "Drive", &group)
        .expect("it can be done");
    workspace.apply(&edits);
    let other = workspace.text("use.bond").expect("it is open");
    // A text that is not below a root is known by the texts that are open.
    if edits.iter().any(|e| e.path == "use.bond") {
        assert!(other.contains("record winding1.l.f, shaft.f"), "{other}");
    }
}

#[test]
fn parts_of_the_library_can_be_opened() {
    let text = "use electromechanical: DcMotor\n\nmodel M {\n    supply: Se(10 [V]) -> bus: 0 -> motor: DcMotor()\n    motor -> shaft: 1 -> j: I(0.01 [kg*m^2])\n}\n";
    let mut workspace = Workspace::new([]);
    workspace.open("m.bond", text);
    let was = flat(&workspace, "m.bond", "M");
    let ungroup = Edit::Ungroup {
        node: "motor".to_owned(),
    };
    carry_out(&mut workspace, ("m.bond", "M"), &ungroup).expect("it can be done");
    assert_eq!(flat(&workspace, "m.bond", "M"), was);
}

#[test]
fn what_cannot_be_grouped_is_refused_in_words() {
    let mut workspace = Workspace::new([]);
    workspace.open("drive.bond", GYRO);
    let refused = [
        (ids(&[]), "W", "nothing is chosen"),
        (ids(&["nobody"]), "W", "there is no `nobody`"),
        (ids(&["mesh"]), "Drive", "already"),
        (ids(&["mesh"]), "R", "not a name"),
        (ids(&["mesh"]), "3x", "not a name"),
    ];
    for (nodes, model, words) in refused {
        let group = Edit::Group {
            nodes,
            model: model.to_owned(),
        };
        let found = workspace.edit("drive.bond", "Drive", &group);
        let refusal = found.expect_err("it makes no sense");
        assert!(refusal.message.contains(words), "{refusal}");
    }
    let ungroup = Edit::Ungroup {
        node: "mesh".to_owned(),
    };
    let refusal = workspace.edit("drive.bond", "Drive", &ungroup);
    assert!(refusal.expect_err("no part").message.contains("opened"));
}

#[test]
fn pasting_what_was_copied_duplicates_it() {
    let (mut done, mut refused) = (0, 0);
    let mut texts: Vec<(String, String)> = kit::all_files()
        .into_iter()
        .map(|p| {
            let text = std::fs::read_to_string(&p).expect("it was listed");
            (p, text)
        })
        .collect();
    for seed in 1..=30_u64 {
        let mut random = Random(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1);
        texts.push(("m.bond".to_owned(), kit::random_model(&mut random)));
    }
    for (k, (path, text)) in texts.iter().enumerate() {
        let mut random = Random(1 + 2 * k as u64);
        let mut workspace = Workspace::new([]);
        workspace.open(path, text.clone());
        for model in workspace.models(path) {
            workspace.change(path, text.clone());
            let view = view_of(&workspace, path, &model);
            let Some(nodes) = cluster(&mut random, &view) else {
                continue;
            };
            let Ok(copied) = copy(&workspace, path, &model, &nodes) else {
                refused += 1;
                continue;
            };
            let known: BTreeSet<String> = names(&view);
            let duplicated = workspace.edit(path, &model, &Edit::Duplicate { nodes });
            let pasted = Edit::Paste {
                text: copied,
                at: None,
            };
            let pasted = workspace.edit(path, &model, &pasted);
            let (Ok(duplicated), Ok(pasted)) = (duplicated, pasted) else {
                refused += 1;
                continue;
            };
            let read = |edits: &[paynter_service::TextEdit]| {
                let mut after = Workspace::new([]);
                after.open(path, apply(text, edits));
                graph(&view_of(&after, path, &model), &known)
            };
            assert_eq!(read(&pasted), read(&duplicated), "{path} {model}");
            done += 1;
        }
    }
    println!("{done} pasted, {refused} refused");
    assert!(done > refused, "{done} done, {refused} refused");
}
