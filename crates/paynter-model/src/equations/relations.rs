//! What the equations of several kinds of element have in common.
//!
//! In:  an element with its law and bonds.
//! Out: one equation for each of its ports, in the form in which the law was written; the direction in which causality
//!      uses it is only a hint (`solves`). Which kind writes what is in `kinds/`.

use super::Writer;
use crate::graph::{Element, ElementId, Law, Variable};
use crate::kinds::Memory;
use paynter_symbolic::{ExprId, SymbolId};

/// Writes the law between two kinds of variable, `outputs` = M `inputs` for a gain or field:
/// R: e = M f, C: q = M e, I: p = M f; the inverse forms the other way round.
pub(crate) fn relate(
    w: &mut Writer,
    id: ElementId,
    element: &Element,
    outputs: &[SymbolId],
    inputs: &[SymbolId],
    kinds: (Variable, Variable),
) {
    let solved = |w: &Writer, port: usize, variable: Variable| -> Option<bool> {
        let gives_effort = w.gives_effort(id, port)?;
        Some(match (variable, element.memory(port)) {
            (Variable::Effort, _) => gives_effort,
            (Variable::Flow, _) => !gives_effort,
            // In derivative causality the storage computes its q or p from the law.
            (Variable::Stored, Some(Memory::Displacement)) => !gives_effort,
            (Variable::Stored, _) => gives_effort,
        })
    };

    match &element.law {
        Law::Gain(gain) => linear(w, element, outputs, inputs, &[*gain], |w, port| {
            solved(w, port, kinds.0)
        }),
        Law::InverseGain(gain) => {
            linear(w, element, inputs, outputs, &[*gain], |w, port| {
                solved(w, port, kinds.1)
            });
        }
        Law::Field(matrix) => linear(w, element, outputs, inputs, matrix, |w, port| {
            solved(w, port, kinds.0)
        }),
        Law::InverseField(matrix) => {
            linear(w, element, inputs, outputs, matrix, |w, port| {
                solved(w, port, kinds.1)
            });
        }
        Law::Explicit(entries) => explicit(w, id, element, entries),
        _ => unreachable!("elaboration gives R, C and I a gain, a field or an explicit law"),
    }
}

/// `left` = matrix · `right`. Causality solves row i for left i where `is_output` says so;
/// for a single port the other direction is known as well.
fn linear(
    w: &mut Writer,
    element: &Element,
    left: &[SymbolId],
    right: &[SymbolId],
    matrix: &[ExprId],
    is_output: impl Fn(&Writer, usize) -> Option<bool>,
) {
    let n = left.len();
    for row in 0..n {
        let mut sum = w.dae.pool.number(0.0);
        for column in 0..n {
            let x = w.dae.pool.symbol(right[column]);
            let term = w.dae.pool.mul(matrix[row * n + column], x);
            sum = w.dae.pool.add(sum, term);
        }
        let solves = match is_output(w, row) {
            Some(true) => Some(left[row]),
            Some(false) if n == 1 => Some(right[row]),
            _ => None,
        };
        let symbol = w.dae.pool.symbol(left[row]);
        w.equation(symbol, sum, solves, element.origin);
    }
}

/// Each entry of a law as it is written.
pub(crate) fn explicit(
    w: &mut Writer,
    id: ElementId,
    element: &Element,
    entries: &[(u32, Variable, ExprId)],
) {
    for &(port, variable, value) in entries {
        let symbol = variable_of(w, element, port as usize, variable);
        let is_output = match (w.gives_effort(id, port as usize), variable) {
            (Some(gives_effort), Variable::Effort) => gives_effort,
            (Some(gives_effort), Variable::Flow) => !gives_effort,
            _ => false,
        };
        w.define(symbol, value, is_output, element.origin);
    }
}

/// One variable of every port.
pub(crate) fn variables(w: &Writer, element: &Element, variable: Variable) -> Vec<SymbolId> {
    (0..element.ports.len())
        .map(|port| variable_of(w, element, port, variable))
        .collect()
}

fn variable_of(w: &Writer, element: &Element, port: usize, variable: Variable) -> SymbolId {
    let bond = w.graph.bond(element.ports[port]);
    match variable {
        Variable::Effort => bond.effort,
        Variable::Flow => bond.flow,
        Variable::Stored => element.states[port],
    }
}

/// `left = ratio · right`, used forwards, backwards, or undecided.
pub(crate) fn two_way(
    w: &mut Writer,
    element: &Element,
    left: SymbolId,
    ratio: ExprId,
    right: SymbolId,
    is_forward: Option<bool>,
) {
    let x = w.dae.pool.symbol(right);
    let product = w.dae.pool.mul(ratio, x);
    let symbol = w.dae.pool.symbol(left);
    let solves = is_forward.map(|forward| if forward { left } else { right });
    w.equation(symbol, product, solves, element.origin);
}
