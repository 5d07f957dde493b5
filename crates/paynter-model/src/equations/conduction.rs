//! Equations of a graph whose ideal switches and diodes are each known to conduct or to block.
//!
//! In:  a graph, and for each ideal contact its [`Side`].
//! Out: equations with e = 0 or f = 0 in the place of every ideal contact, and an event that ends
//!      the run when a contact must change over; or with a resistance and a source in its place, through
//!      which the rest of the network is measured.
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

/// What replaces an ideal contact.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// It conducts.
    Conducts,
    /// It blocks.
    Blocks,
    /// Of a diode: a resistance in series with a source, both parameters. A passive network with resistances at its
    /// ports always has a solution, whatever its contacts short or cut.
    Port,
}

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
    /// A diode as a port: e = threshold + resistance f + source.
    Port {
        /// Its flow.
        s: SymbolId,
        /// How far its effort is below that of a diode that conducts the same flow.
        gap: ExprId,
        /// How far its flow is above that of a diode that blocks the same effort.
        flow: ExprId,
        /// Parameter: effort of the source.
        source: SymbolId,
        /// Parameter: the resistance.
        resistance: SymbolId,
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
    let is_zero = |e: ExprId| is_zero(&graph.signals, e);
    let ids = (0..graph.elements.len()).map(|index| ElementId(index as u32));
    ids.filter(|&id| match graph.element(id).law {
        Law::Switch { r_on, g_off, .. } | Law::Diode { r_on, g_off, .. } => {
            is_zero(r_on) || is_zero(g_off)
        }
        _ => false,
    })
    .collect()
}

/// Tells whether parameters make an expression zero.
fn is_zero(dae: &Dae, e: ExprId) -> bool {
    let value = |s: SymbolId| match dae.symbol(s).role {
        Role::Parameter { value, .. } => value,
        _ => f64::NAN,
    };
    evaluate::evaluate(&dae.pool, e, &value) == Ok(0.0)
}

/// A parameter that is zero as the number: equations that read it have another structure than with any other value.
fn folded(w: &mut Writer, e: ExprId) -> ExprId {
    match is_zero(&w.dae, e) {
        true => w.dae.pool.number(0.0),
        false => e,
    }
}

/// Writes the equations of a graph in which each ideal contact is on the side given.
pub fn build_equations_conducting(
    graph: &BondGraph,
    causality: &Causality,
    sides: &[(ElementId, Side)],
) -> Contacts {
    let mut writer = Writer::new(graph, causality);
    writer.sides = sides.iter().copied().collect();
    write_all(&mut writer);
    let first_when = writer.dae.whens.len();
    let mut contacts = std::mem::take(&mut writer.contacts);
    for (contact, &(_, side)) in contacts.iter().zip(sides) {
        watch(&mut writer, contact, side == Side::Conducts);
    }
    switches::freeze_all(&mut writer.dae);
    for (k, contact) in contacts.iter_mut().enumerate() {
        // The frozen command, read back from its event.
        if let Control::Command(on) = &mut contact.control {
            let condition = writer.dae.whens[first_when + k].condition;
            *on = if sides[k].1 == Side::Conducts {
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
        Control::Sign { s, band }
        | Control::Port {
            s, source: band, ..
        } => {
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
pub(crate) fn switch(w: &mut Writer, id: ElementId, element: &Element, side: Side) {
    let Law::Switch { on, r_on, g_off } = element.law else {
        unreachable!("Sw has a switch law")
    };
    let (r_on, g_off) = (folded(w, r_on), folded(w, g_off));
    let bond = w.graph.bond(element.ports[0]);
    let (e, f) = (bond.effort, bond.flow);
    let (set, gain, by) = match side {
        Side::Conducts => (e, r_on, f),
        Side::Blocks => (f, g_off, e),
        Side::Port => unreachable!("a switch obeys its command"),
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

/// f = s and e = threshold + r_on s, or e = threshold + s and f = g_off s; as a port f = s and
/// e = threshold + resistance s + source.
pub(crate) fn diode(w: &mut Writer, id: ElementId, element: &Element, side: Side) {
    let Law::Diode {
        r_on,
        g_off,
        threshold,
    } = element.law
    else {
        unreachable!("D has a diode law")
    };

    let (r_on, g_off) = (folded(w, r_on), folded(w, g_off));
    let s_symbol = w.hidden_unknown(id, "s");
    let band = hidden_parameter(w, id, "band", 0.0);
    let resistance = hidden_parameter(w, id, "resistance", 1.0);
    let bond = w.graph.bond(element.ports[0]);
    let (e, f) = (bond.effort, bond.flow);

    let pool = &mut w.dae.pool;
    let s = pool.symbol(s_symbol);
    let source = pool.symbol(band);
    let across = pool.symbol(resistance);
    let (drop, flow) = match side {
        Side::Conducts => (pool.mul(r_on, s), s),
        Side::Blocks => (s, pool.mul(g_off, s)),
        Side::Port => {
            let drop = pool.mul(across, s);
            (pool.add(drop, source), s)
        }
    };
    let effort = pool.add(threshold, drop);
    let control = match side {
        Side::Conducts | Side::Blocks => Control::Sign { s: s_symbol, band },
        Side::Port => {
            let (conducting, leak) = (pool.mul(r_on, s), pool.mul(g_off, drop));
            Control::Port {
                s: s_symbol,
                gap: pool.sub(conducting, drop),
                flow: pool.sub(s, leak),
                source: band,
                resistance,
            }
        }
    };

    w.define(e, effort, false, element.origin);
    w.define(f, flow, false, element.origin);
    w.contacts.push(Contact {
        element: id,
        effort: e,
        flow: f,
        control,
    });
}

/// Makes a parameter of a contact that the text does not name.
fn hidden_parameter(w: &mut Writer, id: ElementId, name: &str, value: f64) -> SymbolId {
    let symbol = w.hidden_unknown(id, name);
    w.dae.symbols[symbol.0 as usize].role = Role::Parameter {
        value,
        binding: None,
    };
    symbol
}
