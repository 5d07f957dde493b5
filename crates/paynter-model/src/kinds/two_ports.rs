//! Transformers and gyrators: power passes from side to side.

use super::{Kind, Nature};
use crate::causality::{Closing, Collector, Reason, is_zero};
use crate::equations::Writer;
use crate::equations::relations::{explicit, two_way};
use crate::graph::{Element, ElementId, ElementKind, End, Law, Variable};

pub(super) const TF: Kind = Kind {
    letters: "TF",
    article: "a",
    what: "transformer or lever: f2 = n f1, e1 = n e2; `TF { e2 = m*e1 }` is the effort-forward form",
    example: "t: TF(2)",
    needs: "write `TF(n)`, which means f2 = n f1, or `TF { e2 = m*e1 }`",
    readable: ".in.e .in.f .out.e .out.f .ratio",
    words: (&["transf", "gear", "lever"], "a transformer or a lever"),
    yields_to_models: false,
    nature: Nature::TwoPort,
    memory: None,
    value: None,
    letters_of_law: &[],
    law_gives: &[],
    as_written: None,
    ask: ask_two_port,
    write: transformer,
};

pub(super) const GY: Kind = Kind {
    letters: "GY",
    article: "a",
    what: "gyrator or motor: e1 = r f2, e2 = r f1",
    example: "g: GY(0.1)",
    needs: "write `GY(r)`, which means e1 = r f2 and e2 = r f1",
    readable: ".in.e .in.f .out.e .out.f .ratio",
    words: (&["gyrat", "motor"], "a gyrator or a motor"),
    yields_to_models: false,
    nature: Nature::TwoPort,
    memory: None,
    value: None,
    letters_of_law: &[("e", Variable::Effort), ("f", Variable::Flow)],
    law_gives: &["e", "f"],
    as_written: None,
    ask: ask_two_port,
    write: gyrator,
};

fn ask_two_port(c: &mut Collector, id: ElementId, element: &Element) {
    let is_scalar_two_port = element.ports.len() == 2;
    let rows: Vec<(u32, bool)> = match &element.law {
        Law::Gain(_) if element.kind == ElementKind::Tf => vec![(1, true), (0, false)],
        Law::InverseGain(_) if element.kind == ElementKind::Tf => vec![(1, false), (0, true)],
        Law::Gain(_) => vec![(0, false), (1, false)],
        Law::InverseGain(_) => vec![(0, true), (1, true)],
        Law::Explicit(rows) => rows
            .iter()
            .filter(|&&(port, variable, _)| {
                variable != Variable::Stored && (port as usize) < element.ports.len()
            })
            .map(|&(port, variable, _)| (port, variable == Variable::Flow))
            .collect(),
        _ => Vec::new(),
    };

    // A two-port passes power on; the ports of a powerless n-port all take it in.
    let passes_on = is_scalar_two_port
        && !c.graph.points_in(
            element.ports[1],
            End {
                element: id,
                port: 1,
            },
        );

    if !is_scalar_two_port
        || element.kind == ElementKind::Gy && !passes_on && matches!(element.law, Law::Explicit(_))
    {
        // A powerless n-port gyrator: rule C2, its law is its only direction.
        for (port, effort_is_input) in rows {
            let end = End { element: id, port };
            c.demand(end, effort_is_input, Reason::Law(end));
        }
        return;
    }

    let is_dead =
        matches!(&element.law, Law::Gain(g) | Law::InverseGain(g) if is_zero(c.graph, *g));
    let Some(&(port, effort_is_input)) = rows.first() else {
        return;
    };
    let end = End { element: id, port };
    if is_dead {
        c.demand(end, effort_is_input, Reason::Law(end));
    } else if element.can_vanish {
        let group = element.part_of.map(|(g, _)| g.0);
        if let Some(wish) = c.wish(end, effort_is_input, Reason::Modulus(id)) {
            c.moduli
                .push((element.depth, c.ranking.element[id.0 as usize], group, wish));
        }
    }
}

/// Writes the equations of a two-port that closes a redundant ring: what the ring has already it takes, and of
/// the other sort it gives nothing. False for every other two-port.
fn let_out(w: &mut Writer, id: ElementId, element: &Element) -> bool {
    let rings = &w.causality.rings;
    let Some(closes) = rings
        .iter()
        .find(|r| r.left_out() == Some(id))
        .map(|r| r.closes)
    else {
        return false;
    };
    let Closing::TwoPort {
        first_is_flow,
        second_is_flow,
    } = closes
    else {
        return false;
    };
    for (port, takes_flow) in [(0, first_is_flow), (1, second_is_flow)] {
        let bond = w.graph.bond(element.ports[port]);
        let given = if takes_flow { bond.effort } else { bond.flow };
        let zero = w.dae.pool.number(0.0);
        w.define(given, zero, true, element.origin);
    }
    true
}

/// f₂ = n f₁, e₁ = n e₂; effort-forward: e₂ = m e₁, f₁ = m f₂.
fn transformer(w: &mut Writer, id: ElementId, element: &Element) {
    if let_out(w, id, element) {
        return;
    }
    let (one, two) = (
        w.graph.bond(element.ports[0]),
        w.graph.bond(element.ports[1]),
    );

    // Port 1 (out) gives effort exactly if the flow enters there.
    let effort_leaves_at_two = w.gives_effort(id, 1);
    match &element.law {
        Law::Gain(n) => {
            two_way(
                w,
                element,
                two.flow,
                *n,
                one.flow,
                effort_leaves_at_two.map(|b| !b),
            );
            two_way(
                w,
                element,
                one.effort,
                *n,
                two.effort,
                effort_leaves_at_two.map(|b| !b),
            );
        }
        Law::InverseGain(m) => {
            two_way(w, element, two.effort, *m, one.effort, effort_leaves_at_two);
            two_way(w, element, one.flow, *m, two.flow, effort_leaves_at_two);
        }
        Law::Explicit(entries) => explicit(w, id, element, entries),
        _ => unreachable!("a transformer has a ratio or an explicit law"),
    }
}

/// e₁ = r f₂, e₂ = r f₁; inverse: f₁ = g e₂, f₂ = g e₁. With one port list only: e = law(f).
fn gyrator(w: &mut Writer, id: ElementId, element: &Element) {
    if let_out(w, id, element) {
        return;
    }
    if let Law::Explicit(entries) = &element.law {
        explicit(w, id, element, entries);
        return;
    }

    let (one, two) = (
        w.graph.bond(element.ports[0]),
        w.graph.bond(element.ports[1]),
    );
    let gives_effort = w.gives_effort(id, 0);
    match &element.law {
        Law::Gain(r) => {
            two_way(w, element, one.effort, *r, two.flow, gives_effort);
            two_way(w, element, two.effort, *r, one.flow, gives_effort);
        }
        Law::InverseGain(g) => {
            two_way(
                w,
                element,
                one.flow,
                *g,
                two.effort,
                gives_effort.map(|b| !b),
            );
            two_way(
                w,
                element,
                two.flow,
                *g,
                one.effort,
                gives_effort.map(|b| !b),
            );
        }
        _ => unreachable!("a gyrator has a ratio or an explicit law"),
    }
}
