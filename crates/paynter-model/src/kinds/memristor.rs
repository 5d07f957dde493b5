//! The memristor: a resistance that depends on what has passed (Chua 1971; as a bond-graph element Oster & Auslander 1972).
//!
//! `M { e = (a + b*q)*f }` remembers the displacement q = ∫ f dt, and `M { f = (a + b*p)*e }` the momentum p = ∫ e dt.
//! It keeps no energy: what goes in is lost, and q or p is a state all the same.

use super::resistor::{ask, resistor};
use super::{ElementKind, Kind, Memory, Nature};
use crate::equations::Writer;
use crate::graph::{Element, ElementId, Variable};
use paynter_syntax::ast;

pub(super) const M: Kind = Kind {
    letters: "M",
    article: "an",
    what: "memristor: a resistance that depends on the charge that has passed, `M { e = (a + b*q)*f }`; or a conductance that depends on the flux, `M { f = (a + b*p)*e }`",
    example: "m: M { e = (100 + 3*q)*f }",
    needs: "write a law: `M { e = (a + b*q)*f }` or `M { f = (a + b*p)*e }`",
    readable: ".e .f .q .power .energy",
    words: (&["memrist"], "a memristor"),
    yields_to_models: true,
    nature: Nature::Resistor,
    memory: Some(Memory::Displacement),
    value: Some((Variable::Effort, Some(Variable::Flow))),
    letters_of_law: &[
        ("e", Variable::Effort),
        ("f", Variable::Flow),
        ("q", Variable::Stored),
    ],
    law_gives: &["e"],
    as_written: Some(choose),
    ask,
    write: memristor,
};

/// The same, with a law that gives the flow.
pub(super) const MP: Kind = Kind {
    letters: "M",
    article: "an",
    what: "memristor: a conductance that depends on the flux that has passed, `M { f = (a + b*p)*e }`",
    example: "m: M { f = (0.01 + 3*p)*e }",
    needs: "write a law: `M { f = (a + b*p)*e }`",
    readable: ".e .f .p .power .energy",
    words: (&[], ""),
    yields_to_models: true,
    nature: Nature::Resistor,
    memory: Some(Memory::Momentum),
    value: Some((Variable::Effort, Some(Variable::Flow))),
    letters_of_law: &[
        ("e", Variable::Effort),
        ("f", Variable::Flow),
        ("p", Variable::Stored),
    ],
    law_gives: &["f"],
    as_written: Some(choose),
    ask,
    write: memristor,
};

/// A law that gives the flow, or the inverse of a value, remembers the momentum.
fn choose(written: &ast::Kind) -> ElementKind {
    let law = written.law.iter().flatten();
    let gives_flow = law
        .into_iter()
        .any(|equation| &*equation.target.text == "f");
    let arguments = written.args.iter().flatten();
    let is_inverse = |a: &ast::Arg| a.name.as_ref().is_some_and(|n| &*n.text == "inverse");
    match gives_flow || arguments.into_iter().any(is_inverse) {
        true => ElementKind::Mp,
        false => ElementKind::M,
    }
}

/// q' = f or p' = e, and the law of a resistor.
fn memristor(w: &mut Writer, id: ElementId, element: &Element) {
    for (port, &state) in element.states.iter().enumerate() {
        let bond = w.graph.bond(element.ports[port]);
        let rate = match element.kind.memory() {
            Some(Memory::Momentum) => bond.effort,
            _ => bond.flow,
        };
        let derivative = w.derivative_of(state);
        let right = w.dae.pool.symbol(rate);
        // It is remembered whichever way the strokes are: nothing is ever computed from it backwards.
        w.define(derivative, right, true, element.origin);
    }
    resistor(w, id, element);
}
