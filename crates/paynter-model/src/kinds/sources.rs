//! Sources: an effort or a flow that the world sets.

use super::{Kind, Nature};
use crate::causality::{Collector, Reason};
use crate::equations::Writer;
use crate::graph::{Element, ElementId, ElementKind, End, Law, Variable};
use paynter_symbolic::dae::PositionConstraint;

pub(super) const SE: Kind = Kind {
    letters: "Se",
    article: "an",
    what: "source of effort: voltage, force, torque, pressure",
    example: "s: Se(10 [V])",
    needs: "write `Se(…)`",
    readable: ".e .f .power .energy",
    words: (
        &["voltage", "force", "effort"],
        "a source of effort: voltage, force, pressure",
    ),
    yields_to_models: false,
    nature: Nature::Source,
    memory: None,
    value: Some((Variable::Effort, None)),
    letters_of_law: &[],
    law_gives: &[],
    as_written: None,
    ask,
    write: source,
};

pub(super) const SF: Kind = Kind {
    letters: "Sf",
    article: "an",
    what: "source of flow: current, velocity; `Sf(0, position = x)` is a lock",
    example: "s: Sf(2 [A])",
    needs: "write `Sf(…)`",
    readable: ".e .f .power .energy",
    words: (
        &["current", "velocity", "flow"],
        "a source of flow: current, velocity",
    ),
    yields_to_models: false,
    nature: Nature::Source,
    memory: None,
    value: Some((Variable::Flow, None)),
    letters_of_law: &[],
    law_gives: &[],
    as_written: None,
    ask,
    write: source,
};

/// A source sets its variable, whatever the rest wants.
fn ask(c: &mut Collector, id: ElementId, element: &Element) {
    let effort_is_input = element.kind == ElementKind::Sf;
    for port in 0..element.ports.len() as u32 {
        let end = End { element: id, port };
        c.demand(end, effort_is_input, Reason::Source(id));
    }
}

fn source(w: &mut Writer, id: ElementId, element: &Element) {
    let Law::Source { value, position } = element.law else {
        unreachable!("a source has a source law")
    };
    let bond = w.graph.bond(element.ports[0]);
    let (set, answer) = match element.kind {
        ElementKind::Se => (bond.effort, bond.flow),
        _ => (bond.flow, bond.effort),
    };
    // Strokes of a graph with reactions: the flow of a lock is what bodies make of it, and is demanded to be zero.
    let is_reaction = position.is_some() && w.gives_effort(id, 0) == Some(true);
    w.define(set, value, !is_reaction, element.origin);
    if let Some(position) = position {
        let flow = w.dae.pool.symbol(set);
        w.dae.constraints.push(PositionConstraint {
            position,
            flow,
            reaction: answer,
            name: element.name.unwrap_or(paynter_symbolic::Names::ROOT),
            origin: element.origin,
        });
    }
}
