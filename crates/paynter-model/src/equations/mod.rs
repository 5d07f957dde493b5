//! Turns a bond graph with its causality into differential-algebraic equations.
//!
//! In:  the flat [`BondGraph`] and its [`Causality`] (complete or not).
//! Out: a [`Dae`] in residual form: one equation per port, the signals of the graph,
//!      every quantity that the text reads, frozen switches, power for the audit.
//!
//! **Invariant:** as many equations as unknowns; each equation has an origin; where
//! causality is complete, `solves` names the variable it computes from that equation.

pub(crate) mod conduction;
mod energy;
mod line_work;
mod readings;
pub(crate) mod relations;
mod switches;

use crate::causality::Causality;
use crate::graph::{BondGraph, BondId, ElementId, End, Memory};
use paynter_symbolic::dae::{Dae, Equation, Origin, Role, Symbol};
use paynter_symbolic::{ExprId, PathId, SymbolId};
use rustc_hash::FxHashMap;

pub use conduction::{
    Contact, Contacts, Control, Side, build_equations_conducting, ideal_contacts,
};

/// Writes the equations of a bond graph.
///
/// Linear in the number of ports. Causality only adds hints: a graph without a complete
/// assignment gives the same equations.
pub fn build_equations(graph: &BondGraph, causality: &Causality) -> Dae {
    let mut writer = Writer::new(graph, causality);
    write_all(&mut writer);
    switches::freeze_all(&mut writer.dae);
    prefer_states(&mut writer);
    writer.dae
}

fn write_all(writer: &mut Writer) {
    for index in 0..writer.graph.elements.len() {
        let (id, graph) = (ElementId(index as u32), writer.graph);
        let element = graph.element(id);
        (element.kind.describe().write)(writer, id, element);
    }
    energy::write_power(writer);
    readings::write(writer);
}

/// The equations written so far, and what is needed to write more.
pub(crate) struct Writer<'a> {
    pub(crate) graph: &'a BondGraph,
    pub(crate) causality: &'a Causality,
    pub(crate) dae: Dae,
    /// der(x) by x.
    derivatives: FxHashMap<SymbolId, SymbolId>,
    /// What replaces ideal contacts, where that is given.
    sides: FxHashMap<ElementId, Side>,
    /// What was written for them.
    contacts: Vec<Contact>,
    /// Stored energies that were written.
    energies: FxHashMap<ElementId, ExprId>,
}

impl<'a> Writer<'a> {
    fn new(graph: &'a BondGraph, causality: &'a Causality) -> Self {
        let dae = graph.signals.clone();
        let derivatives = dae
            .symbols
            .iter()
            .enumerate()
            .filter_map(|(i, s)| match s.role {
                Role::Derivative { of } => Some((of, SymbolId(i as u32))),
                _ => None,
            })
            .collect();
        Writer {
            graph,
            causality,
            dae,
            derivatives,
            sides: FxHashMap::default(),
            contacts: Vec::new(),
            energies: FxHashMap::default(),
        }
    }

    /// Tells what replaces an ideal contact, where that is given.
    pub(crate) fn conduction(&self, id: ElementId) -> Option<Side> {
        self.sides.get(&id).copied()
    }

    /// Adds `left = right`.
    pub(crate) fn equation(
        &mut self,
        left: ExprId,
        right: ExprId,
        solves: Option<SymbolId>,
        origin: Origin,
    ) {
        self.dae.equations.push(Equation {
            left,
            right,
            solves,
            origin,
        });
    }

    /// Adds `symbol = right`, computed for `symbol` if `is_output`.
    pub(crate) fn define(
        &mut self,
        symbol: SymbolId,
        right: ExprId,
        is_output: bool,
        origin: Origin,
    ) {
        let left = self.dae.pool.symbol(symbol);
        self.equation(left, right, is_output.then_some(symbol), origin);
    }

    /// Gives der(x), making it if it is new.
    pub(crate) fn derivative_of(&mut self, x: SymbolId) -> SymbolId {
        if let Some(&d) = self.derivatives.get(&x) {
            return d;
        }
        let Symbol { name, origin, .. } = *self.dae.symbol(x);
        let d = self.dae.add_symbol(Symbol {
            name,
            role: Role::Derivative { of: x },
            nominal: 0.0,
            origin,
        });
        self.derivatives.insert(x, d);
        d
    }

    /// Makes an unknown with a name below that of `element`.
    pub(crate) fn hidden_unknown(&mut self, element: ElementId, name: &str) -> SymbolId {
        let graph = self.graph;
        let element = graph.element(element);
        let parent = element.name.unwrap_or(paynter_symbolic::Names::ROOT);
        let name: PathId = self.dae.names.child(parent, name, None);
        self.dae.add_symbol(Symbol {
            name,
            role: Role::Unknown,
            nominal: 0.0,
            origin: element.origin,
        })
    }

    pub(crate) fn effort(&mut self, bond: BondId) -> ExprId {
        let symbol = self.graph.bond(bond).effort;
        self.dae.pool.symbol(symbol)
    }

    pub(crate) fn flow(&mut self, bond: BondId) -> ExprId {
        let symbol = self.graph.bond(bond).flow;
        self.dae.pool.symbol(symbol)
    }

    /// Tells whether causality has the element give the effort of this port; none where undecided.
    pub(crate) fn gives_effort(&self, element: ElementId, port: usize) -> Option<bool> {
        self.causality
            .effort_is_input(
                self.graph,
                End {
                    element,
                    port: port as u32,
                },
            )
            .map(|is_input| !is_input)
    }
}

/// Lists the independent storages as states and proposes where to tear; and what is zero where nothing moves.
fn prefer_states(writer: &mut Writer) {
    let flows = writer.graph.bonds.iter().map(|bond| bond.flow);
    writer.dae.rates.extend(flows);
    for (index, element) in writer.graph.elements.iter().enumerate() {
        for (port, &state) in element.states.iter().enumerate() {
            let gives_effort = writer.gives_effort(ElementId(index as u32), port);
            if element.memory(port) == Some(Memory::Momentum) {
                writer.dae.rates.push(state);
            }
            // What is only remembered is integrated whichever way the strokes are.
            let is_integral = !element.kind.is_storage()
                || gives_effort == Some(element.memory(port) == Some(Memory::Displacement));
            if is_integral {
                writer.dae.preferred_states.push(state);
            }
        }
    }
    let free = writer.causality.free.iter().map(|f| f.symbol);
    writer.dae.preferred_states.extend(free);
    writer.dae.tearing = writer.causality.tearing_symbols();
}
