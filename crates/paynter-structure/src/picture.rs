//! Answers drawn on the bond graph of the model.
//!
//! In:  an answer and the design it is about.
//! Out: an SVG: what is out of reach marked, activities as bands behind the bonds, or the graph of an inverse with half strokes.

use crate::{Activities, Bicausal, Findings, Subject};
use paynter::Design;
use paynter::draw::diagram::{DiagramOptions, PowerFlow, diagram};
use paynter::draw::to_svg;
use paynter::model::graph::ElementId;

/// Marks storages out of reach of the inputs, and those that outputs do not see.
pub fn draw_control(design: &Design, found: &Findings) -> String {
    drawn(
        design,
        &|elements| is_out_of_reach(design, found, elements),
        None,
    )
}

/// Draws the mean size of the power on every bond as a band behind it.
pub fn draw_activities(design: &Design, found: &Activities) -> String {
    drawn(design, &|_| false, Some(found))
}

/// Draws the graph of an inverse: SS elements, half strokes at both ends of bicausal bonds.
pub fn draw_bicausal(subject: &Subject<'_>, found: &Bicausal) -> String {
    let lines = found.lines.iter().flatten();
    let quantities = subject.ask.to.iter().map(|q| q.column.name.clone());
    let sources = found.ends[subject.outputs.len()..].iter();
    let sources = sources.map(|&e| found.graph.element_name(e));
    let names: Vec<String> = quantities.chain(sources).collect();
    let options = DiagramOptions {
        title: format!("inverse of {}", subject.design.model),
        bicausal: lines.map(|l| (l.bond, l.is_to_head)).collect(),
        source_sensors: found.ends.iter().copied().zip(names).collect(),
        ..DiagramOptions::default()
    };
    let mut drawing = diagram(&found.graph, Some(&found.causality), &options);
    drawing.note =
        "SS: source-sensor; half strokes at both ends: effort and flow go the same way".to_owned();
    to_svg(&drawing)
}

/// Tells whether one of these elements has a state without a causal path, or in a hidden combination.
fn is_out_of_reach(design: &Design, found: &Findings, elements: &[ElementId]) -> bool {
    let graph = &design.graph;
    let states = elements.iter().flat_map(|&e| &graph.element(e).states);
    let names: Vec<String> = states.map(|&s| graph.signals.name_of(s)).collect();
    [&found.control, &found.observe]
        .into_iter()
        .flatten()
        .any(|side| {
            let hidden = side.generic.iter().flat_map(|r| r.hidden.iter().flatten());
            let mut hidden = hidden.map(|&k| &side.states[k]);
            side.unreached().any(|p| names.contains(&p.name)) || hidden.any(|n| names.contains(n))
        })
}

/// Draws the graph with some nodes marked, and activities as bands behind the bonds.
fn drawn(
    design: &Design,
    is_marked: &dyn Fn(&[ElementId]) -> bool,
    activities: Option<&Activities>,
) -> String {
    let options = DiagramOptions {
        title: design.model.clone(),
        power: activities.map(|found| {
            let (start, end) = found.span;
            let watts = found.bonds.iter().map(|b| b.joules / (end - start));
            PowerFlow {
                watts: watts.collect(),
                title: format!("mean size of power from {start} s to {end} s"),
            }
        }),
        ..DiagramOptions::default()
    };
    let causality = design.causality();
    let mut drawing = diagram(&design.graph, Some(&causality), &options);
    let mut n_marked = 0;
    for node in &mut drawing.nodes {
        if is_marked(&node.elements) {
            node.is_in_conflict = true;
            n_marked += 1;
        }
    }
    if activities.is_none() && n_marked > 0 {
        drawing.note = "marked: out of reach of the inputs, or not seen by the outputs".to_owned();
    }
    to_svg(&drawing)
}
