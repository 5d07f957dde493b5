//! The rank of [A B] (or [A; C]) read off the strokes: which storages stay in integral form where
//! derivative form is preferred.
//!
//! In:  a bond graph, and the sources (sensors) that may be turned round.
//! Out: a [`Leftover`]; order minus what is left over is the rank (Sueur & Dauphin-Tanguy 1991).
//!
//! A storage in derivative form takes the stroke that its dual takes in integral form. So the graph with C and I
//! exchanged, given the usual preference, shows the strokes that are looked for. A source that may be turned
//! round gives or takes, whatever suits the storages: it has the strokes of a resistor.

use paynter::model::causality::{StorageForm, assign_causality};
use paynter::model::graph::{
    BondGraph, BondId, Element, ElementId, ElementKind, Law, Memory, Stroke, Variable,
};

/// Strokes with derivative form preferred.
#[derive(Clone, Debug, PartialEq)]
pub struct Leftover {
    /// Storages that stay in integral form, by element and port.
    pub integral: Vec<(ElementId, u32)>,
    /// The strokes, by bond.
    pub strokes: Vec<Option<Stroke>>,
}

/// Assigns strokes with derivative form preferred, `turned` sources free; none where demands contradict each other.
pub fn prefer_derivative(graph: &BondGraph, turned: &[ElementId]) -> Option<Leftover> {
    let mut dual = graph.clone();
    let one = dual.signals.pool.number(1.0);
    for element in &mut dual.elements {
        exchange(element, one);
    }
    for id in turned {
        let element = &mut dual.elements[id.0 as usize];
        element.kind = ElementKind::R;
        element.law = Law::Gain(one);
    }
    let causality = assign_causality(&dual);
    if !causality.is_complete() {
        return None;
    }
    let mut integral = Vec::new();
    for (index, element) in dual.elements.iter().enumerate() {
        let id = ElementId(index as u32);
        for port in 0..element.ports.len() as u32 {
            if causality.form(&dual, id, port) == Some(StorageForm::Derivative) {
                integral.push((id, port));
            }
        }
    }
    let bonds = (0..graph.bonds.len() as u32).map(BondId);
    Some(Leftover {
        integral,
        strokes: bonds.map(|b| causality.stroke(b)).collect(),
    })
}

/// Turns a storage into its dual; laws that allow one direction only are linear for small changes.
fn exchange(element: &mut Element, one: paynter::symbolic::ExprId) {
    element.can_vanish = false;
    let n = element.ports.len();
    if element.kind == ElementKind::Ic {
        return exchange_ports(element, one);
    }
    let is_written_out = matches!(element.law, Law::Explicit(_));
    match element.kind {
        ElementKind::C => element.kind = ElementKind::I,
        ElementKind::I => element.kind = ElementKind::C,
        ElementKind::R => {}
        _ => return,
    }
    if is_written_out {
        element.law = match n {
            1 => Law::Gain(one),
            n => Law::Field(vec![one; n * n]),
        };
    }
}

/// Turns every port of an IC into its dual.
fn exchange_ports(element: &mut Element, one: paynter::symbolic::ExprId) {
    if let ([_], Some(memory)) = (element.ports.as_slice(), element.memory(0)) {
        element.kind = match memory {
            Memory::Momentum => ElementKind::C,
            Memory::Displacement => ElementKind::I,
        };
        element.law = Law::Gain(one);
        return;
    }
    let Law::Explicit(rows) = &mut element.law else {
        return;
    };
    for (_, variable, _) in rows {
        *variable = match variable {
            Variable::Effort => Variable::Flow,
            _ => Variable::Effort,
        };
    }
}
