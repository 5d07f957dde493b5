//! The resistor: a law between effort and flow, at one port or several.

use super::{Kind, Nature};
use crate::causality::{Collector, Reason, Shape, is_zero, strong_at_neighbour, written_output};
use crate::equations::Writer;
use crate::equations::relations::{relate, variables};
use crate::graph::{Element, ElementId, End, Law, Variable};

pub(super) const R: Kind = Kind {
    letters: "R",
    article: "an",
    what: "resistance or damper: e = R f, or a law `R { e = … }`",
    example: "r: R(50 [ohm])",
    needs: "write `R(50 [ohm])` or a law `R { e = … }`",
    readable: ".e .f .power .energy",
    words: (
        &["resist", "damper", "friction"],
        "a resistance or a damper",
    ),
    yields_to_models: false,
    nature: Nature::Resistor,
    memory: None,
    value: Some((Variable::Effort, Some(Variable::Flow))),
    letters_of_law: &[("e", Variable::Effort), ("f", Variable::Flow)],
    law_gives: &["e", "f"],
    as_written: None,
    ask,
    write: resistor,
};

/// Asks for every port.
pub(super) fn ask(c: &mut Collector, id: ElementId, element: &Element) {
    for port in 0..element.ports.len() as u32 {
        ask_resistor(c, element, End { element: id, port }, element.ports.len());
    }
}

/// Asks for one of `n_resistive` ports that a law relates: either side where it has an inverse, else the side on
/// which it is written.
pub(super) fn ask_resistor(c: &mut Collector, element: &Element, end: End, n_resistive: usize) {
    let graph = c.graph;
    match &element.law {
        Law::Gain(g) if is_zero(graph, *g) => c.demand(end, false, Reason::Law(end)),
        Law::InverseGain(g) if is_zero(graph, *g) => c.demand(end, true, Reason::Law(end)),
        Law::Field(m) => field_port(c, end, m, n_resistive, false),
        Law::InverseField(m) => field_port(c, end, m, n_resistive, true),
        Law::Explicit(_) => {
            let Some((variable, shape)) = written_output(graph, element, end) else {
                let wish = strong_at_neighbour(c, end, Reason::Free(end));
                return c.free.extend(wish);
            };
            let effort_is_input = variable == Variable::Flow;
            match shape {
                Some(Shape::Flat | Shape::Constant) if n_resistive == 1 => {
                    c.demand(end, effort_is_input, Reason::Law(end));
                }
                Some(Shape::Affine) if n_resistive == 1 => {
                    let wish = strong_at_neighbour(c, end, Reason::Free(end));
                    c.free.extend(wish);
                }
                _ => {
                    let wish = c.wish(end, effort_is_input, Reason::OneSided(end));
                    c.one_sided.extend(wish);
                }
            }
        }
        _ => {
            let wish = strong_at_neighbour(c, end, Reason::Free(end));
            c.free.extend(wish);
        }
    }
}

/// A row of zeros gives zero whatever comes in; any other field keeps the direction in which it
/// is written where that is possible, because a part of it may have no inverse.
fn field_port(
    c: &mut Collector,
    end: End,
    m: &[paynter_symbolic::ExprId],
    n: usize,
    effort_is_input: bool,
) {
    let start = end.port as usize * n;
    let row = m.get(start..start + n).unwrap_or_default();
    if !row.is_empty() && row.iter().all(|&e| is_zero(c.graph, e)) {
        c.demand(end, effort_is_input, Reason::Law(end));
    } else {
        let wish = c.wish(end, effort_is_input, Reason::OneSided(end));
        c.one_sided.extend(wish);
    }
}

/// e = M f at all ports, or as the law is written.
pub(super) fn resistor(w: &mut Writer, id: ElementId, element: &Element) {
    let efforts = variables(w, element, Variable::Effort);
    let flows = variables(w, element, Variable::Flow);
    relate(
        w,
        id,
        element,
        &efforts,
        &flows,
        (Variable::Effort, Variable::Flow),
    );
}
