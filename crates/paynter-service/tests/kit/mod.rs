//! What the tests of the service share: random numbers, models to try things on, graphs to compare.
#![allow(dead_code, reason = "each test file uses a part of it")]

use paynter_service::view::{Reading, StrokeAt, View, read_model};
use paynter_service::{Workspace, view};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// Random numbers (xorshift64*, Vigna 2016), the same on every machine.
pub struct Random(pub u64);

impl Random {
    pub fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_F491_4F6C_DD1D)
    }

    pub fn below(&mut self, n: usize) -> usize {
        (self.next() >> 33) as usize % n.max(1)
    }

    pub fn pick<'t, T>(&mut self, list: &'t [T]) -> Option<&'t T> {
        match list.is_empty() {
            true => None,
            false => Some(&list[self.below(list.len())]),
        }
    }
}

pub fn root() -> PathBuf {
    let below = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    below.canonicalize().expect("the workspace is there")
}

/// All models of gallery and library.
pub fn all_files() -> Vec<String> {
    let mut found = Vec::new();
    let mut open = vec![root().join("gallery"), root().join("library")];
    while let Some(folder) = open.pop() {
        for entry in std::fs::read_dir(folder).expect("it is a folder") {
            let path = entry.expect("it was listed").path();
            if path.is_dir() {
                open.push(path);
            } else if path.extension().is_some_and(|e| e == "bond") {
                found.push(path.display().to_string());
            }
        }
    }
    found.sort();
    found
}

/// A random model: junctions with elements, chains, lists, strokes, two-ports, parts, comments.
pub fn random_model(random: &mut Random) -> String {
    let mut text = String::from(
        "units strict\n\n/// A part.\nmodel Part {\n    param k = 2\n    port a: electrical, b: electrical\n    a -> j: 1 -> b\n    j -> r: R(3 [ohm])\n}\n\nmodel M {\n    param k = 5 [ohm], c = 1e-3 [F]\n",
    );
    let n = 2 + random.below(4);
    for i in 0..n {
        let kind = if i % 2 == 0 { "1" } else { "0" };
        let line = match random.below(4) {
            0 => format!("    j{i}: {kind}\n"),
            1 => format!("    j{i}: {kind} -> r{i}: R(k)   // a comment\n"),
            2 => format!("    j{i}: {kind} -> r{i}: R(k), c{i}: C(c)\n"),
            _ => format!("    /// Kept.\n    s{i}: Se(10 [V]) -> j{i}: {kind}\n"),
        };
        text.push_str(&line);
    }
    for i in 1..n {
        let before = i - 1;
        let line = match random.below(7) {
            0 => format!("    j{before} -> j{i}\n"),
            1 => format!("    j{before} ->| j{i}\n"),
            2 => format!("    j{before} -> TF(2) -> j{i}\n"),
            3 => format!("    j{before} -> g{i}: GY(3) -> j{i}   // turns\n"),
            4 => format!("    j{before} -> p{i}: Part(k = 3) -> j{i}\n"),
            5 => format!("    bond b{i}: j{before} -> j{i}\n"),
            _ => format!("    j{before} -> m{i}: 0 -> j{i}\n    m{i} -> x{i}: I(1 [H])\n"),
        };
        text.push_str(&line);
        if random.below(3) == 0 {
            text.push('\n');
        }
    }
    if random.below(2) == 0 {
        text.push_str("    output v [V] = j1.e\n");
    }
    if random.below(2) == 0 {
        text.push_str("    layout {\n        j0 10 20\n        j1 30 40\n    }\n");
    }
    text.push_str("}\n\nexperiment go of M { stop = 1 [s]; record j0.f }\n");
    text
}

/// What a model says, free of lines: what an edit must change and what it must not.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Graph {
    /// By name: sort, kind, value, law, place.
    pub named: BTreeMap<String, String>,
    /// Nodes without a known name: what they are, and what they join.
    pub unnamed: Vec<String>,
    /// Ends and arrow.
    pub bonds: Vec<String>,
    /// Name, sort, value.
    pub signals: Vec<String>,
}

/// Reads the graph of a view. Nodes whose names are not known count as unnamed: names may be given.
pub fn graph(view: &View, known: &BTreeSet<String>) -> Graph {
    let is_known = |name: &Option<String>| name.as_ref().is_some_and(|n| known.contains(n));
    let what = |n: &view::Node| {
        format!(
            "{:?} {} [{}] ({}) {{{}}} @{:?} <{}>",
            n.sort,
            n.kind,
            n.size.as_deref().unwrap_or(""),
            view::tight(n.value.as_deref().unwrap_or("")),
            view::tight(n.law.as_deref().unwrap_or("")),
            if is_known(&n.name) { n.position } else { None },
            n.members
                .iter()
                .map(|m| label(view, known, m))
                .collect::<Vec<_>>()
                .join(",")
        )
    };
    let mut graph = Graph::default();
    for node in &view.nodes {
        match &node.name {
            Some(name) if known.contains(name) => {
                graph.named.insert(name.clone(), what(node));
            }
            _ => {
                let mut joined: Vec<String> = Vec::new();
                for bond in &view.bonds {
                    if bond.from.node == node.id {
                        joined.push(format!("to {}", label(view, known, &bond.to.node)));
                    }
                    if bond.to.node == node.id {
                        joined.push(format!("from {}", label(view, known, &bond.from.node)));
                    }
                }
                joined.sort();
                graph.unnamed.push(format!("{} {joined:?}", what(node)));
            }
        }
    }
    for bond in &view.bonds {
        graph.bonds.push(bond_text(view, known, bond));
    }
    graph.unnamed.sort();
    graph.bonds.sort();
    for s in &view.signals {
        let value = view::tight(s.value.as_deref().unwrap_or(""));
        graph
            .signals
            .push(format!("{:?} {} = {value} [{:?}]", s.sort, s.name, s.unit));
    }
    graph
}

pub fn bond_text(view: &View, known: &BTreeSet<String>, bond: &view::Bond) -> String {
    let end = |end: &view::BondEnd| match &end.port {
        Some(port) => format!("{}.{port}", label(view, known, &end.node)),
        None => label(view, known, &end.node),
    };
    let arrow = match (bond.is_multi, bond.forced) {
        (m, None) => if m { "=>" } else { "->" }.to_owned(),
        (m, Some(StrokeAt::Tail)) => if m { "|=>" } else { "|->" }.to_owned(),
        (m, Some(_)) => if m { "=>|" } else { "->|" }.to_owned(),
    };
    format!(
        "{} {arrow} {} {:?}",
        end(&bond.from),
        end(&bond.to),
        bond.name
    )
}

/// How a node is written in the texts of a graph.
pub fn label(view: &View, known: &BTreeSet<String>, id: &str) -> String {
    match view.nodes.iter().find(|n| n.id == id) {
        Some(n) => match &n.name {
            Some(name) if known.contains(name) => name.clone(),
            _ => format!(
                "?{}({})",
                n.kind,
                view::tight(n.value.as_deref().unwrap_or(""))
            ),
        },
        None => id.to_owned(),
    }
}

/// The names that a view knows.
pub fn names(view: &View) -> BTreeSet<String> {
    view.nodes.iter().filter_map(|n| n.name.clone()).collect()
}

/// The view of a model from its text alone.
pub fn view_of(workspace: &Workspace, path: &str, model: &str) -> View {
    let analysis = workspace.analysis(path).expect("the text is there");
    let document = workspace.document(path).expect("the text is there");
    let reading: Reading<'_> = read_model(&analysis, &document, model).expect("the model is there");
    reading.view
}
