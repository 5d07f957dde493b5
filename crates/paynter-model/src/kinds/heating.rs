//! The resistor whose loss becomes heat or entropy at its second port.

use super::resistor::ask_resistor;
use super::{Kind, Nature};
use crate::causality::{Collector, Reason};
use crate::equations::Writer;
use crate::equations::relations::explicit;
use crate::graph::{Element, ElementId, End, Law};

pub(super) const RS: Kind = Kind {
    letters: "RS",
    article: "an",
    what: "resistor whose loss becomes entropy at its second port",
    example: "p: RS { e1 = b*f1 }",
    needs: "write `RS(…)`",
    readable: ".in.e .in.f .out.e .out.f .power .energy",
    words: (&[], ""),
    yields_to_models: false,
    nature: Nature::Heater,
    memory: None,
    value: None,
    letters_of_law: &[],
    law_gives: &[],
    as_written: None,
    ask,
    write: entropy_resistor,
};

/// The first port is a resistor's; the second gives what flows there.
fn ask(c: &mut Collector, id: ElementId, element: &Element) {
    for port in 0..element.ports.len() as u32 {
        let end = End { element: id, port };
        if port == 0 {
            ask_resistor(c, element, end, 1);
        } else {
            c.demand(end, true, Reason::Law(end));
        }
    }
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
