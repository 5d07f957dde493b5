//! Causality on a drawing: all at once, or step by step for teaching.
//!
//! In:  a drawing without strokes, the graph and its [`Causality`].
//! Out: strokes, classes, conflicts; or one drawing for each decision with the strokes set so far.
//!
//! **Invariant:** a stroke is drawn at an end exactly if the table has it there for some bond
//! of the line; nothing moves between the steps.

use super::{BondClass, Diagram, DiagramOptions, Strokes, diagram, svg};
use paynter_model::causality::{Causality, ConflictKind, Hop, Status, StorageForm, sentence};
use paynter_model::graph::{BondGraph, BondId, ElementId, Stroke};
use rustc_hash::FxHashSet;

/// More steps than this are not looked at one by one; the last drawing shows the rest.
const MAX_FRAMES: usize = 40;

/// Draws the assignment step by step: first no stroke, then each decision with what follows.
pub fn frames(graph: &BondGraph, causality: &Causality, options: &DiagramOptions) -> Vec<Diagram> {
    // Drawn with all strokes, so that none has to move when it is set.
    let mut plain = diagram(graph, Some(causality), options);
    mark(&mut plain, graph, causality, &|_| false);
    for line in &mut plain.bonds {
        line.class = BondClass::Plain;
    }
    for node in &mut plain.nodes {
        node.is_in_conflict = false;
    }
    if plain.note.is_empty() {
        // Room for the sentence of a step below the drawing.
        plain.size.1 += 22.0;
    }
    plain.note = "no stroke yet".to_owned();
    let mut steps: Vec<(String, Vec<BondId>)> = Vec::new();
    for &bond in &causality.sequence {
        let Some(stroke) = causality.stroke(bond) else {
            continue;
        };
        let follows = causality.status(bond) == Status::Propagated || steps.len() >= MAX_FRAMES;
        match steps.last_mut() {
            Some((_, bonds)) if follows => bonds.push(bond),
            _ => {
                let hop = Hop {
                    bond,
                    stroke,
                    reason: causality.reason(bond),
                };
                steps.push((sentence(graph, hop), vec![bond]));
            }
        }
    }

    let mut set: FxHashSet<BondId> = FxHashSet::default();
    let mut drawings = vec![plain.clone()];
    for (number, (text, bonds)) in steps.into_iter().enumerate() {
        set.extend(&bonds);
        let mut drawing = plain.clone();
        mark(&mut drawing, graph, causality, &|b| set.contains(&b));
        for line in &mut drawing.bonds {
            line.is_new = line.bonds.iter().any(|b| bonds.contains(b));
        }
        let others = match bonds.len() - 1 {
            0 => String::new(),
            1 => "; one more follows".to_owned(),
            n => format!("; {n} more follow"),
        };
        drawing.note = format!("{}. {}{others}", number + 1, text.replace('`', ""));
        drawings.push(drawing);
    }
    drawings
}

/// Draws the assignment step by step into one SVG, numbered frames below each other.
pub fn frames_svg(graph: &BondGraph, causality: &Causality, options: &DiagramOptions) -> String {
    svg::stack(&frames(graph, causality, options))
}

/// Puts strokes and classes on the lines of a drawing, for the bonds that `is_shown` picks.
pub(super) fn mark(
    diagram: &mut Diagram,
    graph: &BondGraph,
    causality: &Causality,
    is_shown: &dyn Fn(BondId) -> bool,
) {
    let (bonds, elements) = conflict_places(causality);
    for line in &mut diagram.bonds {
        let shown: Vec<BondId> = line
            .bonds
            .iter()
            .copied()
            .filter(|&b| is_shown(b))
            .collect();
        let has = |end: Stroke| shown.iter().any(|&b| causality.stroke(b) == Some(end));
        line.strokes = match (has(Stroke::Tail), has(Stroke::Head)) {
            (false, false) => Strokes::None,
            (true, false) => Strokes::Tail,
            (false, true) => Strokes::Head,
            (true, true) => Strokes::Both,
        };
        line.is_forced = line.bonds.iter().any(|&b| graph.bond(b).forced.is_some());
        line.class = line
            .bonds
            .iter()
            .filter(|b| shown.contains(b) || bonds.contains(b))
            .map(|&b| {
                if bonds.contains(&b) {
                    BondClass::Conflict
                } else {
                    class(graph, causality, b)
                }
            })
            .max()
            .unwrap_or_default();
    }

    for node in &mut diagram.nodes {
        node.is_in_conflict = node.elements.iter().any(|e| elements.contains(e));
    }
}

/// Bonds and elements at which demands meet.
fn conflict_places(causality: &Causality) -> (FxHashSet<BondId>, FxHashSet<ElementId>) {
    let mut bonds = FxHashSet::default();
    let mut elements = FxHashSet::default();
    for conflict in &causality.conflicts {
        match conflict.kind {
            ConflictKind::Bond(bond) => {
                bonds.insert(bond);
            }
            ConflictKind::Twice(element) | ConflictKind::Never(element) => {
                elements.insert(element);
            }
            ConflictKind::Together => {}
        }
        elements.extend(conflict.elements.iter().copied());
        bonds.extend(
            conflict
                .sides
                .iter()
                .filter_map(|side| side.last())
                .map(|hop| hop.bond),
        );
    }
    (bonds, elements)
}

fn class(graph: &BondGraph, causality: &Causality, bond: BondId) -> BondClass {
    let ends = [graph.bond(bond).tail, graph.bond(bond).head];
    let forms = ends.map(|end| causality.form(graph, end.element, end.port));
    if forms.contains(&Some(StorageForm::Derivative)) {
        return BondClass::Derivative;
    }
    if graph.bond(bond).forced.is_some() {
        return BondClass::Forced;
    }
    match causality.status(bond) {
        Status::Open => BondClass::Undetermined,
        Status::Forced => BondClass::Forced,
        Status::Preferred => BondClass::Preferred,
        // A storage whose integral form follows from others has what it prefers, too.
        _ if forms.contains(&Some(StorageForm::Integral)) => BondClass::Preferred,
        Status::Fixed | Status::Propagated | Status::Chosen => BondClass::Plain,
    }
}
