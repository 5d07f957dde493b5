//! Storages: what went in is kept, and pushes back.

use super::{Kind, Memory, Nature};
use crate::causality::{
    Collector, Reason, Shape, StorageKey, constant_value, is_zero, written_output,
};
use crate::equations::Writer;
use crate::equations::relations::{relate, variables};
use crate::graph::{Element, ElementId, ElementKind, End, Law, Variable};

pub(super) const C: Kind = Kind {
    letters: "C",
    article: "a",
    what: "capacitance or spring: q = C e, or a law `C { e = … }`",
    example: "c: C(10 [uF])",
    needs: "write `C(10 [uF])` or a law `C { e = … }`",
    readable: ".e .f .q .stored .power .energy",
    words: (
        &["capac", "spring", "compliance"],
        "a capacitance or a spring",
    ),
    yields_to_models: false,
    nature: Nature::Storage,
    memory: Some(Memory::Displacement),
    value: Some((Variable::Stored, Some(Variable::Effort))),
    letters_of_law: &[("e", Variable::Effort), ("q", Variable::Stored)],
    law_gives: &["e", "q"],
    as_written: None,
    ask,
    write: storage,
};

pub(super) const I: Kind = Kind {
    letters: "I",
    article: "an",
    what: "inertia, mass or inductance: p = I f, or a law `I { f = … }`",
    example: "i: I(2 [mH])",
    needs: "write `I(2 [mH])` or a law `I { f = … }`",
    readable: ".e .f .p .stored .power .energy",
    words: (&["induct", "inert", "mass"], "an inductance or a mass"),
    yields_to_models: false,
    nature: Nature::Storage,
    memory: Some(Memory::Momentum),
    value: Some((Variable::Stored, Some(Variable::Flow))),
    letters_of_law: &[("f", Variable::Flow), ("p", Variable::Stored)],
    law_gives: &["f", "p"],
    as_written: None,
    ask,
    write: storage,
};

/// Momenta at some ports and displacements at others, with one energy H(p, q): f = ∂H/∂p, e = ∂H/∂q.
pub(super) const IC: Kind = Kind {
    letters: "IC",
    article: "an",
    what: "inertia that depends on a position: a field with momenta at some ports and displacements at others, given by its energy, `IC[2] { energy = p[1]^2/(2*(J + m*q[2]^2)) }`",
    example: "(spin, slide) => ic: IC[2] { energy = p[1]^2/(2*(J + m*q[2]^2)) }",
    needs: "write its energy, with `p[k]` or `q[k]` for each port: `IC[2] { energy = p[1]^2/(2*(J + m*q[2]^2)) }`",
    readable: ".e .f .p .q .stored .power .energy",
    words: (&[], ""),
    yields_to_models: true,
    nature: Nature::Storage,
    memory: None,
    value: None,
    letters_of_law: &[("p", Variable::Stored), ("q", Variable::Stored)],
    law_gives: &[],
    as_written: None,
    ask,
    write: storage,
};

fn ask(c: &mut Collector, id: ElementId, element: &Element) {
    for port in 0..element.ports.len() as u32 {
        ask_storage(c, element, End { element: id, port });
    }
}

fn ask_storage(c: &mut Collector, element: &Element, end: End) {
    let graph = c.graph;
    // Integral: a C takes flow and gives effort, an I takes effort and gives flow.
    let integral = element.memory(end.port as usize) == Some(Memory::Momentum);
    let n = element.ports.len();
    let diagonal = |m: &[paynter_symbolic::ExprId]| m.get(end.port as usize * (n + 1)).copied();
    let (mut value, mut is_easy_to_invert) = (None, true);
    match &element.law {
        // q = 0 e: nothing is stored, the flow is always zero.
        Law::Gain(g) if is_zero(graph, *g) => return c.demand(end, !integral, Reason::Law(end)),
        // e = 0 q: the charge is counted but pushes nothing back.
        Law::InverseGain(g) if is_zero(graph, *g) => {
            return c.demand(end, integral, Reason::Law(end));
        }
        Law::Gain(g) => value = constant_value(graph, *g),
        Law::InverseGain(g) => value = constant_value(graph, *g).map(|k| 1.0 / k),
        Law::Field(m) => value = diagonal(m).and_then(|e| constant_value(graph, e)),
        Law::InverseField(m) => {
            value = diagonal(m)
                .and_then(|e| constant_value(graph, e))
                .map(|k| 1.0 / k)
        }
        Law::Explicit(_) => match written_output(graph, element, end) {
            Some((Variable::Stored, Some(Shape::Flat | Shape::Constant))) if n == 1 => {
                return c.demand(end, !integral, Reason::Law(end));
            }
            Some((Variable::Effort | Variable::Flow, Some(Shape::Flat | Shape::Constant)))
                if n == 1 =>
            {
                return c.demand(end, integral, Reason::Law(end));
            }
            Some((Variable::Effort | Variable::Flow, Some(Shape::Nonlinear | Shape::Flat))) => {
                is_easy_to_invert = false
            }
            _ => {}
        },
        _ => {}
    }

    let rank = c.ranking.element[end.element.0 as usize];
    let value = value.filter(|v| v.is_finite()).unwrap_or(0.0).abs();
    let key = StorageKey {
        is_easy_to_invert,
        depth: element.depth,
        value,
        rank,
        port: end.port,
    };

    if let Some(wish) = c.wish(end, integral, Reason::Integral(end)) {
        c.storages.push((key, wish));
    }
}

/// C: q' = f and a law between e and q. I: p' = e and a law between f and p.
fn storage(w: &mut Writer, id: ElementId, element: &Element) {
    for (port, &state) in element.states.iter().enumerate() {
        let bond = w.graph.bond(element.ports[port]);
        let is_c = element.memory(port) == Some(Memory::Displacement);
        let rate = if is_c { bond.flow } else { bond.effort };
        let derivative = w.derivative_of(state);
        let right = w.dae.pool.symbol(rate);
        let left = w.dae.pool.symbol(derivative);
        let solves = w.gives_effort(id, port).map(|gives_effort| {
            if gives_effort == is_c {
                derivative
            } else {
                rate
            }
        });
        w.equation(left, right, solves, element.origin);
    }

    // The ports of an IC answer in different ways, each as its law says.
    let answer = match element.kind {
        ElementKind::C => Variable::Effort,
        _ => Variable::Flow,
    };
    let stored = variables(w, element, Variable::Stored);
    let answers = variables(w, element, answer);
    relate(
        w,
        id,
        element,
        &stored,
        &answers,
        (Variable::Stored, answer),
    );
}
