//! Power and stored energy of every element, for the first-law audit.
//!
//! In:  elements with their laws.
//! Out: a [`PowerPort`] for each; stored energy comes from the law, never from ∫ e f dt,
//!      so that the audit can see an error in the equations.
//!
//! A law with a closed integral has its energy from 0. Any other is integrated over its own variables from an
//! anchor that follows the run ([`paynter_symbolic::dae::EnergyAnchor`]): between 0 and the state it may have
//! no value at all.

use super::Writer;
use super::line_work::{DOUBT, ENERGY, LineWork, PANELS, PortLaw};
use crate::graph::{
    BondGraph, BondId, Element, ElementId, ElementKind, End, Law, Memory, Variable,
};
use paynter_symbolic::antiderivative::antiderivative;
use paynter_symbolic::dae::{Balance, EnergyAnchor, EnergyRole, PowerPort, Symbol};
use paynter_symbolic::{ExprId, Function1, Function2, Names, Node, Role, SymbolId, walk};
use std::sync::Arc;

/// Adds a power port for every element that is not a junction, and a balance for what must pass on its power.
pub(super) fn write_power(w: &mut Writer) {
    let parts = parts_of(w.graph);
    for index in 0..w.graph.elements.len() {
        let id = ElementId(index as u32);
        let element = w.graph.element(id);
        let part = parts[index];
        let terms = match element.kind {
            _ if element.is_unpowered => Vec::new(),
            kind if kind.is_resistor() => w.powers_by_law(id),
            kind if is_conserving(kind) => w.powers_into(id),
            _ => Vec::new(),
        };
        if !terms.is_empty() {
            w.dae.balances.push(Balance {
                name: element.name.unwrap_or(Names::ROOT),
                is_of_law: element.kind.is_resistor(),
                part,
                terms,
                origin: element.origin,
            });
        }
        let Some(role) = element.kind.energy_role() else {
            continue;
        };
        let role = match element.is_unpowered {
            true => EnergyRole::Unpowered,
            false => role,
        };
        let power = w.element_power(id);
        let energy = (role == EnergyRole::Storage).then(|| w.stored_energy(id));
        let held = (role == EnergyRole::Storage).then(|| w.held(id));
        let is_heat = element.ports.iter().any(|&bond| w.is_pseudo(bond));
        let name = element.name.unwrap_or(Names::ROOT);
        w.dae.power.push(PowerPort {
            name,
            role,
            power,
            energy,
            held,
            part,
            is_heat,
            origin: element.origin,
        });
    }
}

fn is_conserving(kind: ElementKind) -> bool {
    matches!(kind.energy_role(), None | Some(EnergyRole::Conserving))
}

/// The number of the connected part that each element belongs to; parts are numbered as they first appear.
fn parts_of(graph: &BondGraph) -> Vec<u32> {
    let mut parent: Vec<u32> = (0..graph.elements.len() as u32).collect();
    for bond in &graph.bonds {
        let a = root(&mut parent, bond.tail.element.0);
        let b = root(&mut parent, bond.head.element.0);
        parent[a.max(b) as usize] = a.min(b);
    }
    let mut numbers = vec![u32::MAX; parent.len()];
    let mut n_parts = 0;
    (0..parent.len() as u32)
        .map(|element| {
            let number = &mut numbers[root(&mut parent, element) as usize];
            if *number == u32::MAX {
                *number = n_parts;
                n_parts += 1;
            }
            *number
        })
        .collect()
}

/// The element that stands for the set of this one.
fn root(parent: &mut [u32], mut at: u32) -> u32 {
    while parent[at as usize] != at {
        // Halve the way for whoever comes next.
        parent[at as usize] = parent[parent[at as usize] as usize];
        at = parent[at as usize];
    }
    at
}

/// Bonds of a 1 junction that carry heat to and from it, resistors left out.
#[derive(Clone, Copy, Debug, Default)]
struct HeatFlows {
    n_in: usize,
    n_out: usize,
    first_resistor: Option<ElementId>,
}

impl Writer<'_> {
    /// Tells whether the flow of this bond is itself a power.
    pub(crate) fn is_pseudo(&self, bond: BondId) -> bool {
        let domain = self.graph.bond(bond).domain;
        domain.is_some_and(|d| {
            self.graph
                .domains
                .get(d.0 as usize)
                .is_some_and(|d| d.is_pseudo)
        })
    }

    /// Power along the arrow of a bond.
    pub(crate) fn bond_power(&mut self, bond: BondId) -> ExprId {
        let flow = self.flow(bond);
        if self.is_pseudo(bond) {
            return flow;
        }
        let effort = self.effort(bond);
        self.dae.pool.mul(effort, flow)
    }

    /// Tells whether the heat that a resistor takes by this bond goes on along the other bonds of a 1 junction,
    /// which all have the same flow. Where they do not carry all of it on, the first resistor there takes the rest.
    fn passes_heat_on(&self, id: ElementId, bond: BondId) -> bool {
        let ends = [self.graph.bond(bond).tail, self.graph.bond(bond).head];
        let other = ends.into_iter().find(|end| end.element != id);
        let Some(junction) = other.map(|end| end.element) else {
            return false;
        };
        if !self.is_pseudo(bond) || self.graph.element(junction).kind != ElementKind::One {
            return false;
        }
        let rest = self.heat_left_over(junction);
        rest.n_in == rest.n_out || rest.first_resistor != Some(id)
    }

    fn heat_left_over(&self, junction: ElementId) -> HeatFlows {
        let mut flows = HeatFlows::default();
        for (port, &bond) in self.graph.element(junction).ports.iter().enumerate() {
            let end = End {
                element: junction,
                port: port as u32,
            };
            let ends = [self.graph.bond(bond).tail, self.graph.bond(bond).head];
            let other = ends.into_iter().find(|end| end.element != junction);
            let resistor = other
                .map(|end| end.element)
                .filter(|&e| self.graph.element(e).kind.is_resistor());
            match resistor {
                Some(resistor) => flows.first_resistor = flows.first_resistor.or(Some(resistor)),
                None if self.graph.points_in(bond, end) => flows.n_in += 1,
                None => flows.n_out += 1,
            }
        }
        flows
    }

    /// Net power into an element; for a source, out of it.
    pub(super) fn element_power(&mut self, id: ElementId) -> ExprId {
        let element = self.graph.element(id);
        let is_source = element.kind.is_source();
        let mut total = self.dae.pool.number(0.0);
        for (port, &bond) in element.ports.iter().enumerate() {
            if element.kind.is_resistor() && self.passes_heat_on(id, bond) {
                continue;
            }
            let enters = self.graph.points_in(
                bond,
                End {
                    element: id,
                    port: port as u32,
                },
            );
            let power = self.bond_power(bond);
            total = if enters == is_source {
                self.dae.pool.sub(total, power)
            } else {
                self.dae.pool.add(total, power)
            };
        }
        total
    }

    /// Power into an element along each bond; none for a resistor that passes heat on.
    fn powers_into(&mut self, id: ElementId) -> Vec<ExprId> {
        let element = self.graph.element(id);
        let mut terms = Vec::with_capacity(element.ports.len());
        for (port, &bond) in element.ports.iter().enumerate() {
            let ends = [self.graph.bond(bond).tail, self.graph.bond(bond).head];
            let other = ends.into_iter().find(|end| end.element != id);
            let passes = other.is_some_and(|end| {
                let is_resistor = self.graph.element(end.element).kind.is_resistor();
                is_resistor && self.passes_heat_on(end.element, bond)
            });
            if passes {
                continue;
            }
            let end = End {
                element: id,
                port: port as u32,
            };
            let power = self.bond_power(bond);
            terms.push(match self.graph.points_in(bond, end) {
                true => power,
                false => self.dae.pool.neg(power),
            });
        }
        terms
    }

    /// Power into a resistor of constant or modulated size, and what its law takes: e f and −R f². Nothing for other laws:
    /// they may have switches, which are frozen in equations only.
    fn powers_by_law(&mut self, id: ElementId) -> Vec<ExprId> {
        let element = self.graph.element(id);
        let &[bond] = element.ports.as_slice() else {
            return Vec::new();
        };
        let (e, f) = (self.effort(bond), self.flow(bond));
        let (size, variable) = match element.law {
            Law::Gain(resistance) => (resistance, f),
            Law::InverseGain(conductance) => (conductance, e),
            _ => return Vec::new(),
        };
        let has_switch = |id: &ExprId| {
            use Function1::{Abs, Ceil, Floor, Round, Sign};
            use Function2::{Max, Min, Mod};
            matches!(
                self.dae.pool.node(*id),
                Node::Compare(..)
                    | Node::Call1(Abs | Ceil | Floor | Round | Sign, _)
                    | Node::Call2(Max | Min | Mod, ..)
            )
        };
        if self.is_pseudo(bond) || walk::below(&self.dae.pool, &[size]).iter().any(has_switch) {
            return Vec::new();
        }
        let pool = &mut self.dae.pool;
        let power = pool.mul(e, f);
        let square = pool.mul(variable, variable);
        let by_law = pool.mul(size, square);
        vec![power, pool.neg(by_law)]
    }

    /// Σ e q or Σ f p; the heat itself in a pseudo domain.
    fn held(&mut self, id: ElementId) -> ExprId {
        let element = self.graph.element(id);
        let mut sum = self.dae.pool.number(0.0);
        for (port, &state) in element.states.iter().enumerate() {
            let bond = element.ports[port];
            let stored = self.dae.pool.symbol(state);
            let term = if self.is_pseudo(bond) {
                stored
            } else {
                let answer = match element.memory(port) {
                    Some(Memory::Displacement) => self.effort(bond),
                    _ => self.flow(bond),
                };
                self.dae.pool.mul(answer, stored)
            };
            sum = self.dae.pool.add(sum, term);
        }
        sum
    }

    /// What `.power` of an element reads: the heat through a resistor though it goes on, and what an RS takes
    /// although it gives all of it away.
    pub(super) fn power_as_read(&mut self, id: ElementId) -> ExprId {
        let element = self.graph.element(id);
        let is_source = element.kind.is_source();
        let counted = match element.kind {
            ElementKind::Rs => 1,
            _ => element.ports.len(),
        };
        let mut total = self.dae.pool.number(0.0);
        for (port, &bond) in element.ports.iter().take(counted).enumerate() {
            let end = End {
                element: id,
                port: port as u32,
            };
            let power = self.bond_power(bond);
            total = match self.graph.points_in(bond, end) != is_source {
                true => self.dae.pool.add(total, power),
                false => self.dae.pool.sub(total, power),
            };
        }
        total
    }

    /// Energy in a storage, from its law.
    pub(super) fn stored_energy(&mut self, id: ElementId) -> ExprId {
        if let Some(&known) = self.energies.get(&id) {
            return known;
        }
        let energy = self.write_stored_energy(id);
        self.energies.insert(id, energy);
        energy
    }

    fn write_stored_energy(&mut self, id: ElementId) -> ExprId {
        let element = self.graph.element(id);
        // In a pseudo domain the flow is the power, so the charge is the energy.
        if element.ports.iter().all(|&bond| self.is_pseudo(bond)) {
            let states: Vec<ExprId> = element
                .states
                .iter()
                .map(|&s| self.dae.pool.symbol(s))
                .collect();
            let zero = self.dae.pool.number(0.0);
            return states
                .into_iter()
                .fold(zero, |sum, q| self.dae.pool.add(sum, q));
        }

        match &element.law {
            Law::Explicit(entries) => explicit_energy(self, element, entries),
            Law::Gain(gain) if element.ports.len() == 1 => {
                // H = q²/(2C), p²/(2I)
                let stored = self.dae.pool.symbol(element.states[0]);
                let square = self.dae.pool.powi(stored, 2);
                let two = self.dae.pool.number(2.0);
                let below = self.dae.pool.mul(two, *gain);
                self.dae.pool.div(square, below)
            }
            // Linear laws of any number of ports: H = ½ Σ eᵢ qᵢ or ½ Σ fᵢ pᵢ.
            _ => {
                let mut sum = self.dae.pool.number(0.0);
                for (port, &state) in element.states.iter().enumerate() {
                    let answer = match element.memory(port) {
                        Some(Memory::Displacement) => self.effort(element.ports[port]),
                        _ => self.flow(element.ports[port]),
                    };
                    let stored = self.dae.pool.symbol(state);
                    let term = self.dae.pool.mul(answer, stored);
                    sum = self.dae.pool.add(sum, term);
                }
                let half = self.dae.pool.number(0.5);
                self.dae.pool.mul(half, sum)
            }
        }
    }
}

/// H of a law written out. For a law q(e) the work ∫ q de is the co-energy, and H = e q − ∫ q de.
fn explicit_energy(
    w: &mut Writer,
    element: &Element,
    entries: &[(u32, Variable, ExprId)],
) -> ExprId {
    let laws: Vec<PortLaw> = entries
        .iter()
        .map(|&(port, variable, value)| {
            let bond = w.graph.bond(element.ports[port as usize]);
            let gives_stored = variable == Variable::Stored;
            let argument = match (gives_stored, element.memory(port as usize)) {
                (false, _) => element.states[port as usize],
                (true, Some(Memory::Displacement)) => bond.effort,
                (true, _) => bond.flow,
            };
            PortLaw {
                argument,
                value,
                gives_stored,
            }
        })
        .collect();
    match laws.as_slice() {
        [only] => closed_form(w, only).unwrap_or_else(|| work_along_run(w, element, &laws)),
        _ => work_along_run(w, element, &laws),
    }
}

/// H from 0, where the law has an antiderivative without poles.
fn closed_form(w: &mut Writer, law: &PortLaw) -> Option<ExprId> {
    let pool = &mut w.dae.pool;
    let integral = antiderivative(pool, law.value, law.argument)?;
    let zero = pool.number(0.0);
    let at_zero = walk::substitute(pool, integral, &|s| (s == law.argument).then_some(zero));
    let work = pool.sub(integral, at_zero);
    if !law.gives_stored {
        return Some(work);
    }
    let x = pool.symbol(law.argument);
    let product = pool.mul(x, law.value);
    Some(pool.sub(product, work))
}

/// H by quadrature from an anchor that the run moves on.
fn work_along_run(w: &mut Writer, element: &Element, laws: &[PortLaw]) -> ExprId {
    let work = LineWork::new(&w.dae.pool, laws);
    let mut held = |name: &str, k: Option<i64>| {
        let parent = element.name.unwrap_or(Names::ROOT);
        let name = w.dae.names.child(parent, name, k);
        w.dae.add_symbol(Symbol {
            name,
            role: Role::Discrete { start: 0.0 },
            nominal: 0.0,
            origin: element.origin,
        })
    };

    let anchor: Vec<SymbolId> = (1..=laws.len())
        .map(|k| held("anchor", Some(k as i64)))
        .collect();
    let energy_at_anchor = held("energy at anchor", None);
    let inputs: Vec<SymbolId> = laws
        .iter()
        .map(|law| law.argument)
        .chain(anchor.iter().copied())
        .chain([energy_at_anchor])
        .chain(work.others().iter().copied())
        .collect();

    // What reads a signal has another energy at each of its values: the work is done from 0, at the present one.
    let is_fixed = |&s: &SymbolId| matches!(w.dae.symbol(s).role, Role::Parameter { .. });
    let can_move = work.others().iter().all(is_fixed);
    let pool = &mut w.dae.pool;
    let args: Vec<ExprId> = inputs.iter().map(|&s| pool.symbol(s)).collect();
    let external = pool.add_external(Arc::new(work));
    let [energy, panels, doubt] =
        [ENERGY, PANELS, DOUBT].map(|output| pool.call_external(external, &args, output as u32));
    if can_move {
        w.dae.anchors.push(EnergyAnchor {
            name: element.name.unwrap_or(Names::ROOT),
            arguments: args[..laws.len()].to_vec(),
            anchor,
            energy_at_anchor,
            energy,
            panels,
            doubt,
        });
    }
    energy
}
