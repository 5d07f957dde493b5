//! The equations of each kind of element, as the textbook has them.
//!
//! In:  an element with its law and bonds.
//! Out: one equation for each of its ports, in the form in which the law was written;
//!      the direction in which causality uses it is only a hint (`solves`).

use super::Writer;
use crate::causality::Closing;
use crate::graph::{Element, ElementId, ElementKind, End, Law, Variable};
use paynter_symbolic::dae::PositionConstraint;
use paynter_symbolic::{Comparison, ExprId, SymbolId};

/// Writes the equations of one element.
pub(super) fn write(w: &mut Writer, id: ElementId) {
    let graph = w.graph;
    let element = graph.element(id);
    match element.kind {
        ElementKind::Zero | ElementKind::One => junction(w, id, element),
        ElementKind::Se | ElementKind::Sf => source(w, id, element),
        ElementKind::R => resistor(w, id, element),
        ElementKind::C | ElementKind::I => storage(w, id, element),
        ElementKind::Tf | ElementKind::Gy if let_out(w, id, element) => {}
        ElementKind::Tf => transformer(w, id, element),
        ElementKind::Gy => gyrator(w, id, element),
        ElementKind::Rs => entropy_resistor(w, id, element),
        ElementKind::Sw => match w.conduction(id) {
            Some(side) => super::conduction::switch(w, id, element, side),
            None => switch(w, element),
        },
        ElementKind::D => match w.conduction(id) {
            Some(side) => super::conduction::diode(w, id, element, side),
            None => diode(w, id, element),
        },
    }
}

/// All bonds share one variable; the other, counted along the arrows, sums to zero.
///
/// The strong bond brings the shared variable; causality computes its other variable from the sum.
fn junction(w: &mut Writer, id: ElementId, element: &Element) {
    let shares_effort = element.kind == ElementKind::Zero;
    let (left_out, ports): (Vec<usize>, Vec<usize>) = (0..element.ports.len()).partition(|&port| {
        let port = port as u32;
        w.causality.is_left_out(End { element: id, port })
    });
    for port in left_out {
        close_ring(w, element, port);
    }
    let strong =
        (ports.iter().copied()).find(|&port| w.gives_effort(id, port) == Some(!shares_effort));
    let Some(reference) = strong.or(ports.first().copied()) else {
        return;
    };
    let Some(&reference_bond) = element.ports.get(reference) else {
        return;
    };
    let is_in = |port: usize| {
        w.graph.points_in(
            element.ports[port],
            End {
                element: id,
                port: port as u32,
            },
        )
    };
    let reference_is_in = is_in(reference);
    let others: Vec<(usize, bool)> = (ports.iter().copied())
        .filter(|&port| port != reference)
        .map(|port| (port, is_in(port)))
        .collect();

    let mut sum = w.dae.pool.number(0.0);
    for (port, other_is_in) in others {
        let bond = w.graph.bond(element.ports[port]);
        let (shared, summed) = if shares_effort {
            (bond.effort, bond.flow)
        } else {
            (bond.flow, bond.effort)
        };
        let common = if shares_effort {
            w.effort(reference_bond)
        } else {
            w.flow(reference_bond)
        };
        w.define(shared, common, strong.is_some(), element.origin);
        let summed = w.dae.pool.symbol(summed);
        // Power in = power out: what points the other way than the reference bond adds to it.
        sum = if other_is_in == reference_is_in {
            w.dae.pool.sub(sum, summed)
        } else {
            w.dae.pool.add(sum, summed)
        };
    }
    let bond = w.graph.bond(reference_bond);
    let summed = if shares_effort {
        bond.flow
    } else {
        bond.effort
    };
    w.define(summed, sum, strong.is_some(), element.origin);
}

/// A port that closes a ring of bonds takes what the junction shares and gives nothing.
fn close_ring(w: &mut Writer, element: &Element, port: usize) {
    let bond = w.graph.bond(element.ports[port]);
    let given = match element.kind {
        ElementKind::Zero => bond.flow,
        _ => bond.effort,
    };
    let zero = w.dae.pool.number(0.0);
    w.define(given, zero, true, element.origin);
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

fn resistor(w: &mut Writer, id: ElementId, element: &Element) {
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

/// C: q' = f and a law between e and q. I: p' = e and a law between f and p.
fn storage(w: &mut Writer, id: ElementId, element: &Element) {
    let is_c = element.kind == ElementKind::C;
    let (rate, answer) = if is_c {
        (Variable::Flow, Variable::Effort)
    } else {
        (Variable::Effort, Variable::Flow)
    };
    for (port, &state) in element.states.iter().enumerate() {
        let bond = w.graph.bond(element.ports[port]);
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
    debug_assert!(rate != answer);
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

/// Writes the law between two kinds of variable, `outputs` = M `inputs` for a gain or field:
/// R: e = M f, C: q = M e, I: p = M f; the inverse forms the other way round.
fn relate(
    w: &mut Writer,
    id: ElementId,
    element: &Element,
    outputs: &[SymbolId],
    inputs: &[SymbolId],
    kinds: (Variable, Variable),
) {
    let solved = |w: &Writer, port: usize, variable: Variable| -> Option<bool> {
        let gives_effort = w.gives_effort(id, port)?;
        Some(match (variable, element.kind) {
            (Variable::Effort, _) => gives_effort,
            (Variable::Flow, _) => !gives_effort,
            // In derivative causality the storage computes its q or p from the law.
            (Variable::Stored, ElementKind::C) => !gives_effort,
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

fn explicit(w: &mut Writer, id: ElementId, element: &Element, entries: &[(u32, Variable, ExprId)]) {
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

/// `left = ratio · right`, used forwards, backwards, or undecided.
fn two_way(
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

/// The law of port 1 as written; what is lost there leaves as heat: e₂ f₂ = e₁ f₁.
fn entropy_resistor(w: &mut Writer, id: ElementId, element: &Element) {
    let Law::Explicit(entries) = &element.law else {
        unreachable!("RS has an explicit law")
    };
    explicit(w, id, element, entries);
    if entries.iter().any(|&(port, ..)| port == 1) {
        return;
    }
    let (one, two) = (element.ports[0], element.ports[1]);
    let power = w.bond_power(one);
    let two_is_pseudo = w.is_pseudo(two);
    let effort = w.effort(two);
    let flow = if two_is_pseudo {
        power
    } else {
        w.dae.pool.div(power, effort)
    };
    let symbol = w.graph.bond(two).flow;
    w.define(symbol, flow, true, element.origin);
}

/// e = r_on f when on, f = g_off e when off.
fn switch(w: &mut Writer, element: &Element) {
    let Law::Switch { on, r_on, g_off } = element.law else {
        unreachable!("Sw has a switch law")
    };
    let (e, f) = (w.effort(element.ports[0]), w.flow(element.ports[0]));
    let pool = &mut w.dae.pool;
    let closed = pool.mul(r_on, f);
    let closed = pool.sub(e, closed);
    let open = pool.mul(g_off, e);
    let open = pool.sub(f, open);
    let residual = pool.if_else(on, closed, open);
    let zero = pool.number(0.0);
    w.equation(residual, zero, None, element.origin);
}

/// A curve with parameter s: for s > 0 it conducts (f = s, e = threshold + r_on s),
/// for s ≤ 0 it blocks (e = threshold + s, f = g_off s).
fn diode(w: &mut Writer, id: ElementId, element: &Element) {
    let Law::Diode {
        r_on,
        g_off,
        threshold,
    } = element.law
    else {
        unreachable!("D has a diode law")
    };
    let s_symbol = w.hidden_unknown(id, "s");
    let bond = w.graph.bond(element.ports[0]);
    let pool = &mut w.dae.pool;
    let s = pool.symbol(s_symbol);
    let zero = pool.number(0.0);
    let conducts = pool.compare(Comparison::Greater, s, zero);
    let drop = pool.mul(r_on, s);
    let drop = pool.if_else(conducts, drop, s);
    let effort = pool.add(threshold, drop);
    let leak = pool.mul(g_off, s);
    let flow = pool.if_else(conducts, s, leak);
    w.define(bond.effort, effort, false, element.origin);
    w.define(bond.flow, flow, false, element.origin);
}

fn variables(w: &Writer, element: &Element, variable: Variable) -> Vec<SymbolId> {
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
