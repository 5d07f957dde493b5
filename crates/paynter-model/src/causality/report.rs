//! Writes down everything that causality found, for people and for machines.
//!
//! In:  a graph, its [`Causality`], and what its equations say.
//! Out: text, or JSON with the same content.
//!
//! **Invariant:** everything is listed by name, so reordering the text of a model changes no byte.

mod json;

use super::alternatives::{Alternative, Change};
use super::explain::sentence;
use super::ranking::{describe, describe_bond, natural, rank};
use super::{Causality, Dependence, Solved, Status, StorageForm};
use crate::graph::{BondGraph, BondId, ElementId, ElementKind, End, ReadingKind, Stroke};
use paynter_symbolic::SymbolId;
use rustc_hash::{FxHashMap, FxHashSet};
use std::fmt::Write as _;

pub use json::to_json;

/// Names variables as the model would: `r3.e` for the effort of a one-port's bond.
pub struct VariableNames<'g> {
    graph: &'g BondGraph,
    /// The bond of each effort (false) and flow (true).
    owner: FxHashMap<SymbolId, (BondId, bool)>,
    /// The name that the text gives to an `integral(…)`: `gamma` in `gamma = integral(outer.f)`.
    defined_as: FxHashMap<SymbolId, SymbolId>,
}

impl<'g> VariableNames<'g> {
    /// Prepares to name the variables of a graph.
    pub fn new(graph: &'g BondGraph) -> Self {
        let integrals: FxHashSet<SymbolId> = graph
            .readings
            .iter()
            .filter(|r| matches!(r.what, ReadingKind::Integral(_)))
            .map(|r| r.symbol)
            .collect();
        let mut defined_as = FxHashMap::default();
        if !integrals.is_empty() {
            let pool = &graph.signals.pool;
            for equation in &graph.signals.equations {
                let sides = pool
                    .as_symbol(equation.left)
                    .zip(pool.as_symbol(equation.right));
                if let Some((name, of)) = sides.filter(|(_, of)| integrals.contains(of)) {
                    defined_as.entry(of).or_insert(name);
                }
            }
        }
        VariableNames {
            graph,
            owner: super::loops::owners(graph),
            defined_as,
        }
    }

    /// Names one variable.
    pub fn name(&self, symbol: SymbolId) -> String {
        let graph = self.graph;
        let Some(&(bond, is_flow)) = self.owner.get(&symbol) else {
            let symbol = self.defined_as.get(&symbol).copied().unwrap_or(symbol);
            return graph.signals.name_of(symbol);
        };
        let bond = graph.bond(bond);
        let letter = if is_flow { "f" } else { "e" };
        if let Some(path) = bond.name {
            return format!("{}.{letter}", graph.signals.names.display(path));
        }
        let is_one_port = |e: ElementId| {
            graph.element(e).ports.len() == 1 && !graph.element(e).kind.is_junction()
        };
        let shares = |e: ElementId| {
            graph.element(e).kind
                == if is_flow {
                    ElementKind::One
                } else {
                    ElementKind::Zero
                }
        };

        let ends = [bond.tail.element, bond.head.element];
        let owner = ends
            .into_iter()
            .find(|&e| is_one_port(e))
            .or_else(|| ends.into_iter().find(|&e| shares(e)));
        match owner.and_then(|e| graph.element(e).name) {
            Some(path) => format!("{}.{letter}", graph.signals.names.display(path)),
            None => graph.signals.name_of(symbol),
        }
    }
}

/// Writes a bond with its stroke: `supply ->| mesh`.
pub fn stroke_text(graph: &BondGraph, causality: &Causality, bond: BondId) -> String {
    let ends = graph.bond(bond);
    let arrow = match causality.stroke(bond) {
        Some(Stroke::Head) => "->|",
        Some(Stroke::Tail) => "|->",
        None => "->",
    };
    format!(
        "{} {arrow} {}",
        plain(graph, ends.tail.element),
        plain(graph, ends.head.element)
    )
}

/// The name without backticks, for tables.
fn plain(graph: &BondGraph, element: ElementId) -> String {
    describe(graph, element).replace('`', "")
}

/// Names a storage port: `c1`, or `field[2]` for the second port of a field.
fn port_name(graph: &BondGraph, end: End) -> String {
    let name = plain(graph, end.element);
    if graph.element(end.element).ports.len() == 1 {
        name
    } else {
        format!("{name}[{}]", end.port + 1)
    }
}

fn path_names(graph: &BondGraph, elements: &[ElementId]) -> String {
    elements
        .iter()
        .map(|&e| plain(graph, e))
        .collect::<Vec<_>>()
        .join(" → ")
}

/// The elements between a dependent storage and what sets it, both left out.
fn between(on: &Dependence, storage: End) -> Vec<ElementId> {
    on.through
        .iter()
        .copied()
        .filter(|&e| e != on.element && e != storage.element)
        .collect()
}

fn status_word(status: Status) -> &'static str {
    match status {
        Status::Fixed => "fixed",
        Status::Forced => "forced",
        Status::Preferred => "preferred",
        Status::Propagated => "propagated",
        Status::Chosen => "chosen",
        Status::Open => "open",
    }
}

fn plural(n: usize, one: &str, many: &str) -> String {
    format!("{n} {}", if n == 1 { one } else { many })
}

/// Long lists are cut here in text; JSON has everything.
const MAX_LINES: usize = 60;

/// Writes the report for people.
pub fn to_text(graph: &BondGraph, causality: &Causality, solved: &Solved) -> String {
    let names_of = VariableNames::new(graph);
    let mut out = String::new();
    let head = format!(
        "order {}: {}",
        causality.order(),
        order_text(graph, causality)
    );
    let _ = writeln!(out, "{head}");
    section(&mut out, "storages", storage_lines(graph, causality));
    section(
        &mut out,
        "coordinates",
        coordinate_lines(causality, &names_of),
    );

    let mut loops = loop_lines(causality, &names_of);
    loops.extend(storage_loop_lines(graph, causality));
    section(&mut out, "algebraic loops", loops);

    let paths = causality.zero_order_paths.iter().map(|p| {
        let names: Vec<String> = p.elements.iter().map(|&e| plain(graph, e)).collect();
        (format!("class {}", p.class.number()), cut_path(&names))
    });
    section(&mut out, "zero-order causal paths", paths.collect());
    if let Some(index) = solved.structural_index {
        let _ = writeln!(out, "\nstructural index of the equations: {index}");
    }

    section(
        &mut out,
        "used against the written direction",
        against_lines(graph, causality, solved),
    );

    let split = causality.split_multibonds.iter().filter_map(|bonds| {
        let first = *bonds.first()?;
        Some((
            describe_bond(graph, first).replace('`', ""),
            "components have different strokes".to_owned(),
        ))
    });
    section(&mut out, "multibonds taken apart", split.collect());

    let bonds = rank(graph).bonds.into_iter().map(|b| {
        (
            stroke_text(graph, causality, b),
            status_word(causality.status(b)).to_owned(),
        )
    });
    section(&mut out, "bonds", bonds.collect());
    out
}

/// The coordinates, and whether the dynamics has them as states.
fn coordinate_lines(causality: &Causality, names_of: &VariableNames<'_>) -> Vec<(String, String)> {
    let mut coordinates = Vec::new();
    for &s in &causality.coordinates {
        coordinates.push((names_of.name(s), "state of the dynamics".to_owned()));
    }
    for &s in &causality.outside {
        coordinates.push((
            names_of.name(s),
            "no state of the dynamics: nothing reads it back".to_owned(),
        ));
    }

    coordinates.sort_by(|a, b| natural(&a.0, &b.0));
    coordinates
}

/// Loops of variables: where each is torn, and its way.
fn loop_lines(causality: &Causality, names_of: &VariableNames<'_>) -> Vec<(String, String)> {
    let loops = causality.loops.iter().map(|l| {
        let mut path: Vec<String> = l.path.iter().map(|&s| names_of.name(s)).collect();
        // Both bonds of a junction carry its flow.
        path.dedup();
        let class = l.class.map_or("through signals".to_owned(), |c| {
            format!("class {}", c.number())
        });
        (
            format!("tear {}", names_of.name(l.tearing)),
            format!("{class}: {} →", cut_path(&path)),
        )
    });
    loops.collect()
}

/// Loops through dependent storages: which rates are solved for together.
fn storage_loop_lines(graph: &BondGraph, causality: &Causality) -> Vec<(String, String)> {
    let through_storages = causality.storage_loops.iter().map(|l| {
        let way: Vec<String> = l.elements.iter().map(|&e| plain(graph, e)).collect();
        let with: Vec<String> = l.together_with.iter().map(|&e| rate(graph, e)).collect();
        let with = match with.as_slice() {
            [] => String::new(),
            others => format!(", together with {}", cut_list(others)),
        };
        (
            format!("solve {}", rate(graph, l.independent)),
            format!("class 1{with}: {} and back", cut_path(&way)),
        )
    });
    through_storages.collect()
}

/// Moduli and laws that are used against the direction in which they are written.
fn against_lines(
    graph: &BondGraph,
    causality: &Causality,
    solved: &Solved,
) -> Vec<(String, String)> {
    let name_of = |&e: &ElementId| {
        let text = if solved.harmless_moduli.contains(&e) {
            "reversed by the strokes; the equations are solved without dividing by its modulus"
        } else {
            "divides by a modulus that can vanish"
        };
        (plain(graph, e), text.to_owned())
    };
    let mut lines: Vec<(String, String)> = causality.reversed_moduli.iter().map(name_of).collect();
    lines.extend(causality.inverted_laws.iter().map(|&end| {
        (
            port_name(graph, end),
            "law is inverted numerically".to_owned(),
        )
    }));
    lines
}

/// What the order is made of.
fn order_text(graph: &BondGraph, causality: &Causality) -> String {
    let kinds = |kind: ElementKind, junction: ElementKind| {
        let storages = causality.independent.iter().map(|end| end.element);
        storages
            .map(|e| graph.element(e).kind == kind)
            .chain(
                causality
                    .free
                    .iter()
                    .map(|f| graph.element(f.junction).kind == junction),
            )
            .all(|is| is)
    };

    let mut parts = Vec::new();
    let n_all = causality.independent.len() + causality.free.len();
    if !causality.free.is_empty() && kinds(ElementKind::I, ElementKind::One) {
        let text = plural(n_all, "independent velocity", "independent velocities");
        parts.push(text);
    } else {
        let n = causality.independent.len();
        parts.push(plural(n, "independent storage", "independent storages"));
        if !causality.free.is_empty() {
            let n = causality.free.len();
            parts.push(plural(n, "independent junction", "independent junctions"));
        }
    }

    if !causality.coordinates.is_empty() {
        let n = causality.coordinates.len();
        parts.push(plural(n, "coordinate", "coordinates"));
    }

    match parts.split_last() {
        Some((last, rest)) if !rest.is_empty() => format!("{} and {last}", rest.join(", ")),
        _ => parts.concat(),
    }
}

/// Names the rate of an independent variable: `disc.f'`, the acceleration of an inertia.
fn rate(graph: &BondGraph, element: ElementId) -> String {
    let letter = match graph.element(element).kind {
        ElementKind::I | ElementKind::Ic | ElementKind::One => "f",
        _ => "e",
    };
    format!("{}.{letter}'", plain(graph, element))
}

/// A list in one line, cut where it gets long.
fn cut_list(names: &[String]) -> String {
    const MAX_NAMES: usize = 8;
    if names.len() <= MAX_NAMES {
        return names.join(", ");
    }
    format!(
        "{} and {} more",
        names[..MAX_NAMES].join(", "),
        names.len() - MAX_NAMES
    )
}

/// A path in one line; the middle of a very long one is left out.
fn cut_path(names: &[String]) -> String {
    const MAX_NAMES: usize = 16;
    if names.len() <= MAX_NAMES {
        return names.join(" → ");
    }
    let (first, last) = (
        &names[..MAX_NAMES / 2],
        &names[names.len() - MAX_NAMES / 2..],
    );
    format!(
        "{} → … {} more … → {}",
        first.join(" → "),
        names.len() - MAX_NAMES,
        last.join(" → ")
    )
}

fn section(out: &mut String, title: &str, lines: Vec<(String, String)>) {
    if lines.is_empty() {
        return;
    }
    let _ = writeln!(out, "\n{title}");
    let shown = &lines[..lines.len().min(MAX_LINES)];
    let width = shown
        .iter()
        .map(|(name, _)| name.chars().count())
        .max()
        .unwrap_or(0);
    for (name, text) in shown {
        let _ = writeln!(out, "  {name:width$}  {text}");
    }
    if lines.len() > shown.len() {
        let _ = writeln!(out, "  … and {} more", lines.len() - shown.len());
    }
}

fn storage_lines(graph: &BondGraph, causality: &Causality) -> Vec<(String, String)> {
    let mut lines: Vec<(String, String)> = causality
        .independent
        .iter()
        .map(|&end| (port_name(graph, end), "integral".to_owned()))
        .collect();

    for free in &causality.free {
        let what = if graph.element(free.junction).kind == ElementKind::One {
            "an independent velocity: its flow is a state"
        } else {
            "its effort is a state"
        };
        lines.push((
            plain(graph, free.junction),
            format!("junction, {what}, so that no modulus that can vanish is divided by"),
        ));
    }

    for (number, dependent) in causality.dependent.iter().enumerate() {
        let mut text = "derivative".to_owned();
        // Beyond what is printed anyway the paths are not drawn.
        for on in dependent.on.iter().filter(|_| number < MAX_LINES) {
            let way = between(on, dependent.storage);
            let _ = write!(text, ", set by {}", describe(graph, on.element));
            if !way.is_empty() {
                let _ = write!(text, " through {}", path_names(graph, &way));
            }
        }
        lines.push((port_name(graph, dependent.storage), text));
    }

    lines.sort_by(|a, b| natural(&a.0, &b.0));
    lines
}

/// Writes other assignments for people.
pub fn alternatives_to_text(graph: &BondGraph, alternatives: &[Alternative]) -> String {
    if alternatives.is_empty() {
        return "no other assignment has as few dependent storages\n".to_owned();
    }
    let mut out = String::new();
    for (number, alternative) in alternatives.iter().enumerate() {
        let _ = writeln!(out, "alternative {}", number + 1);
        for &change in &alternative.changes {
            let _ = writeln!(out, "  {}", change_text(graph, change));
        }
        for &element in &alternative.reversed_moduli {
            let _ = writeln!(
                out,
                "  {} divides by its modulus, which can vanish",
                describe(graph, element)
            );
        }
    }
    out
}

fn change_text(graph: &BondGraph, change: Change) -> String {
    match change {
        Change::Storage(end, StorageForm::Integral) => {
            format!("{} becomes integral", describe(graph, end.element))
        }
        Change::Storage(end, StorageForm::Derivative) => {
            format!("{} becomes derivative", describe(graph, end.element))
        }
        Change::Resistor { end, gives_effort } => {
            format!(
                "{} gives {}",
                describe(graph, end.element),
                if gives_effort { "effort" } else { "flow" }
            )
        }
    }
}
