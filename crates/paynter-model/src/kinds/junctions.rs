//! Junctions: bonds that share one variable, while the other sums to zero.
//!
//! What their strokes imply is the work of `causality/propagate.rs`; they ask for nothing themselves.

use super::{Kind, Nature};
use crate::equations::Writer;
use crate::graph::{Element, ElementId, ElementKind, End};

pub(super) const ZERO: Kind = Kind {
    letters: "0",
    article: "a",
    what: "0-junction: one effort, flows sum to zero",
    example: "bus: 0",
    needs: "",
    readable: ".e",
    words: (&[], ""),
    yields_to_models: false,
    nature: Nature::Junction,
    memory: None,
    value: None,
    letters_of_law: &[],
    law_gives: &[],
    as_written: None,
    ask: |_, _, _| {},
    write: junction,
};

pub(super) const ONE: Kind = Kind {
    letters: "1",
    article: "a",
    what: "1-junction: one flow, efforts sum to zero",
    example: "mesh: 1",
    needs: "",
    readable: ".f",
    words: (&[], ""),
    yields_to_models: false,
    nature: Nature::Junction,
    memory: None,
    value: None,
    letters_of_law: &[],
    law_gives: &[],
    as_written: None,
    ask: |_, _, _| {},
    write: junction,
};

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
