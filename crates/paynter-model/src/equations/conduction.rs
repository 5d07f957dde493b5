//! Equations of a graph whose ideal switches and diodes are each known to conduct or to block.
//!
//! In:  a graph, and for each ideal contact whether it conducts.
//! Out: equations with e = 0 or f = 0 in the place of every ideal contact, and an event that ends
//!      the run when a contact must change over.
//!
//! An ideal contact in series with a coil, or across a capacitor, changes which storages are
//! independent: no one set of equations serves both of its states, so each combination has its own.
//!
//! **Invariant:** symbols and modes of all combinations of one graph have the same numbers, so that
//! what is held between events can be carried from one to the next.

use super::{Writer, prefer_states, switches, write_all};
use crate::causality::Causality;
use crate::graph::{BondGraph, Element, ElementId, Law};
use paynter_symbolic::dae::{Action, Dae, Role, Symbol, When};
use paynter_symbolic::{Comparison, ExprId, Names, SymbolId, evaluate};

/// One ideal contact.
#[derive(Clone, Debug, PartialEq)]
pub struct Contact {
    /// The switch or diode.
    pub element: ElementId,
    /// Its effort.
    pub effort: SymbolId,
    /// Its flow.
    pub flow: SymbolId,
    /// What decides on it.
    pub control: Control,
}

/// What decides whether a contact conducts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Control {
    /// A switch: conducts while this holds.
    Command(ExprId),
    /// A diode: its flow while it conducts, its effort beyond the threshold while it blocks. The
    /// one must not fall below zero, the other not rise above it, by more than the parameter `band`.
    Sign {
        /// The curve parameter.
        s: SymbolId,
        /// How far beyond zero it may be: what rounding left at the last event.
        band: SymbolId,
    },
}

/// Equations with given conduction.
#[derive(Clone, Debug)]
pub struct Contacts {
    /// The equations.
    pub dae: Dae,
    /// The contacts, in the order in which conduction was given.
    pub contacts: Vec<Contact>,
    /// Events from this one on end the run for a contact.
    pub first_when: usize,
}

/// Lists the switches and diodes without resistance when they conduct or without conductance when
/// they block.
pub fn ideal_contacts(graph: &BondGraph) -> Vec<ElementId> {
    let dae = &graph.signals;
    let value = |s: SymbolId| match dae.symbol(s).role {
        Role::Parameter { value, .. } => value,
        _ => f64::NAN,
    };
    let is_zero = |e: ExprId| evaluate::evaluate(&dae.pool, e, &value) == Ok(0.0);
    let ids = (0..graph.elements.len()).map(|index| ElementId(index as u32));
    ids.filter(|&id| match graph.element(id).law {
        Law::Switch { r_on, g_off, .. } | Law::Diode { r_on, g_off, .. } => {
            is_zero(r_on) || is_zero(g_off)
        }
        _ => false,
    })
    .collect()
}

/// Writes the equations of a graph in which each ideal contact conducts or blocks as given.
pub fn build_equations_conducting(
    graph: &BondGraph,
    causality: &Causality,
    conducting: &[(ElementId, bool)],
) -> Contacts {
    let mut writer = Writer::new(graph, causality);
    writer.conducting = conducting.iter().copied().collect();
    write_all(&mut writer);
    let first_when = writer.dae.whens.len();
    let mut contacts = std::mem::take(&mut writer.contacts);
    for (contact, &(_, conducts)) in contacts.iter().zip(conducting) {
        watch(&mut writer, contact, conducts);
    }
    switches::freeze_all(&mut writer.dae);
    for (k, contact) in contacts.iter_mut().enumerate() {
        // The frozen command, read back from its event.
        if let Control::Command(on) = &mut contact.control {
            let condition = writer.dae.whens[first_when + k].condition;
            *on = if conducting[k].1 {
                writer.dae.pool.not(condition)
            } else {
                condition
            };
        }
    }
    prefer_states(&mut writer);
    Contacts {
        dae: writer.dae,
        contacts,
        first_when,
    }
}

/// Ends the run when a contact must change over.
fn watch(w: &mut Writer, contact: &Contact, conducts: bool) {
    let graph = w.graph;
    let element = graph.element(contact.element);
    let name = element.name.unwrap_or(Names::ROOT);
    let condition = match contact.control {
        Control::Command(on) if conducts => w.dae.pool.not(on),
        Control::Command(on) => on,
        Control::Sign { s, band } => {
            // Both comparisons in either case, so that modes have the same numbers; a parameter
            // chooses, because a constant would be folded.
            let chosen = w.dae.add_symbol(Symbol {
                name,
                role: Role::Parameter {
                    value: f64::from(u8::from(conducts)),
                    binding: None,
                },
                nominal: 1.0,
                origin: element.origin,
            });
            let pool = &mut w.dae.pool;
            let (s, band) = (pool.symbol(s), pool.symbol(band));
            let below = pool.neg(band);
            let runs_back = pool.compare(Comparison::Less, s, below);
            let lets_through = pool.compare(Comparison::Greater, s, band);
            let chosen = pool.symbol(chosen);
            pool.if_else(chosen, runs_back, lets_through)
        }
    };
    w.dae.whens.push(When {
        name,
        condition,
        actions: vec![Action::Stop {
            message: String::new(),
        }],
        origin: element.origin,
    });
}

/// e = r_on f, or f = g_off e.
pub(super) fn switch(w: &mut Writer, id: ElementId, element: &Element, conducts: bool) {
    let Law::Switch { on, r_on, g_off } = element.law else {
        unreachable!("Sw has a switch law")
    };
    let bond = w.graph.bond(element.ports[0]);
    let (e, f) = (bond.effort, bond.flow);
    let (set, gain, by) = if conducts {
        (e, r_on, f)
    } else {
        (f, g_off, e)
    };
    let by = w.dae.pool.symbol(by);
    let value = w.dae.pool.mul(gain, by);
    w.define(set, value, false, element.origin);
    w.contacts.push(Contact {
        element: id,
        effort: e,
        flow: f,
        control: Control::Command(on),
    });
}

/// f = s and e = threshold + r_on s, or e = threshold + s and f = g_off s.
pub(super) fn diode(w: &mut Writer, id: ElementId, element: &Element, conducts: bool) {
    let Law::Diode {
        r_on,
        g_off,
        threshold,
    } = element.law
    else {
        unreachable!("D has a diode law")
    };
    let s_symbol = w.hidden_unknown(id, "s");
    let band = w.hidden_unknown(id, "band");
    w.dae.symbols[band.0 as usize].role = Role::Parameter {
        value: 0.0,
        binding: None,
    };
    let bond = w.graph.bond(element.ports[0]);
    let (e, f) = (bond.effort, bond.flow);
    let pool = &mut w.dae.pool;
    let s = pool.symbol(s_symbol);
    let (drop, flow) = if conducts {
        (pool.mul(r_on, s), s)
    } else {
        (s, pool.mul(g_off, s))
    };
    let effort = pool.add(threshold, drop);
    w.define(e, effort, false, element.origin);
    w.define(f, flow, false, element.origin);
    w.contacts.push(Contact {
        element: id,
        effort: e,
        flow: f,
        control: Control::Sign { s: s_symbol, band },
    });
}
