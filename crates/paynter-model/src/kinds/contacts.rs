//! Contacts: switches and diodes, which conduct or block.
//!
//! Ideal ones are written by `equations/conduction.rs` for a given configuration.

use super::{Kind, Nature};
use crate::causality::{Collector, Reason, strong_at_neighbour};
use crate::equations::{Writer, conduction};
use crate::graph::{Element, ElementId, End, Law};
use paynter_symbolic::Comparison;

pub(super) const SW: Kind = Kind {
    letters: "Sw",
    article: "an",
    what: "ideal switch, or one with resistances: `Sw(on, Ron = 1 [mohm], Roff = 1 [Mohm])`",
    example: "s: Sw(time > 1 [s])",
    needs: "write the condition: `Sw(time > 1 [s])`",
    readable: ".e .f .power .energy",
    words: (&["switch"], "a switch"),
    yields_to_models: false,
    nature: Nature::Contact,
    memory: None,
    value: None,
    letters_of_law: &[],
    law_gives: &[],
    as_written: None,
    ask,
    write: write_switch,
};

pub(super) const D: Kind = Kind {
    letters: "D",
    article: "a",
    what: "ideal diode, or one with resistances and a threshold: `D(Ron = 1 [mohm], threshold = 0.7 [V])`",
    example: "d: D()",
    needs: "write `D()`",
    readable: ".e .f .power .energy",
    words: (&["diode"], "a diode"),
    yields_to_models: false,
    nature: Nature::Contact,
    memory: None,
    value: None,
    letters_of_law: &[],
    law_gives: &[],
    as_written: None,
    ask,
    write: write_diode,
};

/// Takes either side, after everything else.
fn ask(c: &mut Collector, id: ElementId, element: &Element) {
    for port in 0..element.ports.len() as u32 {
        let end = End { element: id, port };
        let wish = strong_at_neighbour(c, end, Reason::Free(end));
        c.switching.extend(wish);
    }
}

fn write_switch(w: &mut Writer, id: ElementId, element: &Element) {
    match w.conduction(id) {
        Some(side) => conduction::switch(w, id, element, side),
        None => switch(w, element),
    }
}

fn write_diode(w: &mut Writer, id: ElementId, element: &Element) {
    match w.conduction(id) {
        Some(side) => conduction::diode(w, id, element, side),
        None => diode(w, id, element),
    }
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
