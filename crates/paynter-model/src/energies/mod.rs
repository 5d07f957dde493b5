//! From a bond graph to its energies: T, V, D, forces, Lagrange's equations, and the Hamiltonian form.
//!
//! In:  a flat bond graph whose flows are linear in those of some 1-junctions: mechanical systems, and circuits of meshes.
//! Out: [`Energies`] over one pool, with a coordinate for each of these junctions.
//!
//! The equations come from the graph itself: what loads each junction, Σ t_ki ṗ_k and so on, with gyrators as they
//! stand. Whether they are those of Euler and Lagrange for the T that is printed is compared in numbers at random points;
//! where gyrators say more, what they add is listed.
//!
//! | file | does |
//! |---|---|
//! | `flows` | which junctions are coordinates, and all flows by theirs |
//! | `hamilton` | H, J, R, g, Casimirs, Jacobi's identity |

mod flows;
mod hamilton;

pub use hamilton::{Hamiltonian, hamiltonian};

use crate::graph::{BondGraph, Element, ElementId, ElementKind, Law, Variable};
use flows::{Flows, flows};
use paynter_symbolic::antiderivative::antiderivative;
use paynter_symbolic::calculus::{gradient, total_derivative};
use paynter_symbolic::evaluate::evaluate;
use paynter_symbolic::simplify::simplify;
use paynter_symbolic::walk::symbols_of;
use paynter_symbolic::{ExprId, Pool, SymbolId};
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;

/// A coordinate of a graph.
#[derive(Clone, Debug)]
pub struct Coordinate {
    /// Its name: of the signal or displacement that follows it, else of its junction.
    pub name: String,
    /// The 1-junction of its rate.
    pub junction: String,
    /// Its rate q̇.
    pub rate: SymbolId,
    /// Its acceleration q̈.
    pub acceleration: SymbolId,
}

/// A constraint: what must be zero, and the force that keeps it so.
#[derive(Clone, Debug)]
pub struct Lock {
    /// Name of its source.
    pub name: String,
    /// Its reaction.
    pub reaction: SymbolId,
    /// What must be zero, in rates.
    pub gap: ExprId,
}

/// Energies and equations of a graph.
#[derive(Clone, Debug)]
pub struct Energies {
    /// All expressions.
    pub pool: Pool,
    /// Names of symbols that are not those of the graph.
    pub own_names: FxHashMap<SymbolId, String>,
    /// Coordinates.
    pub coordinates: Vec<Coordinate>,
    /// Kinetic energy.
    pub kinetic: ExprId,
    /// Potential energy, of springs whose law has an integral in closed form.
    pub potential: ExprId,
    /// Rayleigh's function, of resistors whose law has an integral in closed form.
    pub loss: ExprId,
    /// Elements whose energy has no closed form: they are in the equations only.
    pub left_out: Vec<String>,
    /// Force of sources on each coordinate.
    pub forces: Vec<ExprId>,
    /// For each coordinate what leaves its junction but for sources; equal to the force.
    pub loads: Vec<ExprId>,
    /// What gyrators add to Euler and Lagrange's equations, by coordinate; zero where they are those of T.
    pub extra: Vec<ExprId>,
    /// Constraints.
    pub locks: Vec<Lock>,
    /// Parameters and inputs that forces read, in order.
    pub inputs: Vec<SymbolId>,
    /// States of the graph that follow coordinates: rate of each over coordinates.
    states: Vec<(SymbolId, BTreeMap<usize, ExprId>)>,
}

/// Why a graph has no energies of this form.
pub type Refusal = String;

/// Points at which two expressions are compared.
const N_POINTS: u64 = 12;

/// Finds the energies of a graph.
///
/// # Errors
///
/// What the graph has that is not mechanical in this sense, in words.
pub fn energies(graph: &BondGraph) -> Result<Energies, Refusal> {
    let mut flows = flows(graph)?;
    let mut builder = Builder {
        graph,
        kinetic: flows.pool.number(0.0),
        potential: flows.pool.number(0.0),
        loss: flows.pool.number(0.0),
        left_out: Vec::new(),
        momenta: FxHashMap::default(),
        loads: Vec::new(),
        forces: Vec::new(),
        gyrations: Vec::new(),
    };
    let zero = flows.pool.number(0.0);
    let n = flows.coordinates.len();
    builder.loads = vec![zero; n];
    builder.forces = vec![zero; n];
    builder.gyrations = vec![zero; n];
    for (k, element) in graph.elements.iter().enumerate() {
        if element.kind == ElementKind::I {
            builder.inertia(&mut flows, element, ElementId(k as u32))?;
        }
    }
    for (k, element) in graph.elements.iter().enumerate() {
        builder.element(&mut flows, element, ElementId(k as u32))?;
    }
    finish(flows, builder)
}

struct Builder<'g> {
    graph: &'g BondGraph,
    kinetic: ExprId,
    potential: ExprId,
    loss: ExprId,
    left_out: Vec<String>,
    /// Momentum of each inertia in coordinates.
    momenta: FxHashMap<SymbolId, ExprId>,
    loads: Vec<ExprId>,
    forces: Vec<ExprId>,
    /// What gyrators alone load.
    gyrations: Vec<ExprId>,
}

impl Builder<'_> {
    /// T = ½ Σ p f, and ṗ on what drives it.
    fn inertia(
        &mut self,
        flows: &mut Flows,
        element: &Element,
        id: ElementId,
    ) -> Result<(), Refusal> {
        let n = element.ports.len();
        let entries = match &element.law {
            Law::Gain(e) => vec![*e],
            Law::Field(entries) => entries.clone(),
            _ => return Err(other_law(self.graph, id)),
        };
        let f: Vec<ExprId> = element.ports.iter().map(|&b| flows.flow(b)).collect();
        for i in 0..n {
            let mut p = flows.pool.number(0.0);
            for j in 0..n {
                let m = flows.resolve(entries[i * n + j])?;
                let part = flows.pool.mul(m, f[j]);
                p = flows.pool.add(p, part);
            }
            self.momenta.insert(element.states[i], p);
            let product = flows.pool.mul(p, f[i]);
            let half = flows.pool.number(0.5);
            let energy = flows.pool.mul(half, product);
            self.kinetic = flows.pool.add(self.kinetic, energy);
            let rate = flows.rate_of(p);
            load(flows, &mut self.loads, element.ports[i], rate, 1.0);
        }
        Ok(())
    }

    fn element(
        &mut self,
        flows: &mut Flows,
        element: &Element,
        id: ElementId,
    ) -> Result<(), Refusal> {
        let graph = self.graph;
        match element.kind {
            ElementKind::C => self.spring(flows, element, id),
            ElementKind::R => self.resistor(flows, element, id),
            ElementKind::Se => {
                let Law::Source { value, .. } = element.law else {
                    return Err(other_law(graph, id));
                };
                let value = flows.resolve(value)?;
                let bond = element.ports[0];
                let is_out = graph.bond(bond).tail.element == id;
                let sign = if is_out { 1.0 } else { -1.0 };
                load(flows, &mut self.forces, bond, value, sign);
                Ok(())
            }
            ElementKind::Gy => {
                let (&[a, b], Law::Gain(r)) = (element.ports.as_slice(), &element.law) else {
                    return Err(other_law(graph, id));
                };
                let r = flows.resolve(*r)?;
                let r = flows.substitute(r, &self.momenta);
                let (fa, fb) = (flows.flow(a), flows.flow(b));
                let (ea, eb) = (flows.pool.mul(r, fb), flows.pool.mul(r, fa));
                load(flows, &mut self.gyrations, a, ea, 1.0);
                load(flows, &mut self.gyrations, b, eb, -1.0);
                Ok(())
            }
            kind if kind.loses_power() => Err(other_law(graph, id)),
            _ => Ok(()),
        }
    }

    fn spring(
        &mut self,
        flows: &mut Flows,
        element: &Element,
        id: ElementId,
    ) -> Result<(), Refusal> {
        let n = element.ports.len();
        let q: Vec<ExprId> = element
            .states
            .iter()
            .map(|&s| flows.pool.symbol(s))
            .collect();

        let mut efforts = vec![None; n];
        match &element.law {
            Law::Gain(c) if n == 1 => {
                let c = flows.resolve(*c)?;
                efforts[0] = Some(flows.pool.div(q[0], c));
            }
            Law::InverseGain(k) if n == 1 => {
                let k = flows.resolve(*k)?;
                efforts[0] = Some(flows.pool.mul(k, q[0]));
            }
            Law::InverseField(entries) => {
                for i in 0..n {
                    let mut sum = flows.pool.number(0.0);
                    for j in 0..n {
                        let k = flows.resolve(entries[i * n + j])?;
                        let part = flows.pool.mul(k, q[j]);
                        sum = flows.pool.add(sum, part);
                    }
                    efforts[i] = Some(sum);
                }
            }
            Law::Explicit(rows) => {
                for &(port, variable, e) in rows {
                    if variable == Variable::Effort {
                        efforts[port as usize] = Some(flows.resolve(e)?);
                    }
                }
            }
            _ => {}
        }

        let efforts: Option<Vec<ExprId>> = efforts.into_iter().collect();
        let efforts = efforts.ok_or_else(|| other_law(self.graph, id))?;
        for (&bond, &effort) in element.ports.iter().zip(&efforts) {
            load(flows, &mut self.loads, bond, effort, 1.0);
        }
        match potential_of(&mut flows.pool, &efforts, &element.states) {
            Some(energy) => self.potential = flows.pool.add(self.potential, energy),
            None => self.left_out.push(self.graph.element_name(id)),
        }
        Ok(())
    }

    fn resistor(
        &mut self,
        flows: &mut Flows,
        element: &Element,
        id: ElementId,
    ) -> Result<(), Refusal> {
        let &[bond] = element.ports.as_slice() else {
            return Err(other_law(self.graph, id));
        };
        let flow = self.graph.bond(bond).flow;
        let symbol = flows.pool.symbol(flow);
        let effort = match &element.law {
            Law::Gain(r) => {
                let r = flows.resolve(*r)?;
                flows.pool.mul(r, symbol)
            }
            Law::InverseGain(g) => {
                let g = flows.resolve(*g)?;
                flows.pool.div(symbol, g)
            }
            Law::Explicit(rows) => match rows.as_slice() {
                &[(0, Variable::Effort, e)] => flows.resolve(e)?,
                _ => return Err(other_law(self.graph, id)),
            },
            _ => return Err(other_law(self.graph, id)),
        };

        let own = flows.flow(bond);
        let map = FxHashMap::from_iter([(flow, own)]);
        match antiderivative(&mut flows.pool, effort, flow) {
            Some(loss) => {
                let loss = flows.substitute(loss, &map);
                self.loss = flows.pool.add(self.loss, loss);
            }
            None => self.left_out.push(self.graph.element_name(id)),
        }

        let effort = flows.substitute(effort, &map);
        load(flows, &mut self.loads, bond, effort, 1.0);
        Ok(())
    }
}

fn other_law(graph: &BondGraph, id: ElementId) -> Refusal {
    let element = graph.element(id);
    format!(
        "`{}` is {} {} whose law has no energy in closed form",
        graph.element_name(id),
        element.kind.describe().article,
        element.kind.letters()
    )
}

/// Adds an effort on a bond to the loads of coordinates: by the power it takes there.
fn load(
    flows: &mut Flows,
    loads: &mut [ExprId],
    bond: crate::graph::BondId,
    effort: ExprId,
    sign: f64,
) {
    for (i, t) in flows.over(bond) {
        let part = flows.pool.mul(t, effort);
        loads[i] = if sign > 0.0 {
            flows.pool.add(loads[i], part)
        } else {
            flows.pool.sub(loads[i], part)
        };
    }
}

/// V with ∂V/∂q_i = e_i, in closed form.
fn potential_of(pool: &mut Pool, efforts: &[ExprId], q: &[SymbolId]) -> Option<ExprId> {
    let mut sum = pool.number(0.0);
    for (i, &effort) in efforts.iter().enumerate() {
        let known = gradient(pool, sum, &[q[i]])[0];
        let rest = pool.sub(effort, known);
        let rest = simplify(pool, rest);
        let part = antiderivative(pool, rest, q[i])?;
        sum = pool.add(sum, part);
    }
    let slopes = gradient(pool, sum, q);
    let same = slopes.iter().zip(efforts).all(|(&a, &b)| {
        let difference = pool.sub(a, b);
        is_zero_somewhere_random(pool, difference)
    });
    same.then(|| simplify(pool, sum))
}

/// The value of a symbol at a point.
fn random_value(s: SymbolId, point: u64) -> f64 {
    let mut x = (u64::from(s.0) << 20 ^ point).wrapping_add(0x9e37_79b9_7f4a_7c15);
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^= x >> 31;
    0.3 + 1.4 * (x >> 11) as f64 / (1_u64 << 53) as f64
}

/// Tells whether an expression is zero at all random points where it has a value.
fn is_zero_somewhere_random(pool: &Pool, e: ExprId) -> bool {
    let mut n_values = 0;
    for point in 0..N_POINTS {
        let value = evaluate(pool, e, &|s| random_value(s, point));
        match value {
            Ok(x) if x.is_finite() => {
                n_values += 1;
                // Values are of order one: rounding of some hundred operations.
                if x.abs() > 1e-8 {
                    return false;
                }
            }
            _ => {}
        }
    }
    n_values > 0
}

/// Puts everything together, and compares gyrators with those of T.
fn finish(mut flows: Flows, builder: Builder<'_>) -> Result<Energies, Refusal> {
    let n = flows.coordinates.len();
    let rates: Vec<SymbolId> = flows.coordinates.iter().map(|c| c.rate).collect();
    let momenta = gradient(&mut flows.pool, builder.kinetic, &rates);
    let mut extra = Vec::new();
    let mut loads = Vec::new();
    for i in 0..n {
        // d/dt ∂T/∂q̇_i − ∂T/∂q_i, against Σ t_ki ṗ_k + gyrators.
        let change = flows.rate_of(momenta[i]);
        let slope = flows.slope(builder.kinetic, i);
        let wanted = flows.pool.sub(change, slope);
        let all = flows.pool.add(builder.loads[i], builder.gyrations[i]);
        loads.push(simplify(&mut flows.pool, all));
        extra.push(wanted);
    }

    let kinetic_loads = kinetic_loads(&mut flows, &builder)?;
    for i in 0..n {
        let own = flows.pool.add(kinetic_loads[i], builder.gyrations[i]);
        let difference = flows.pool.sub(own, extra[i]);
        extra[i] = if is_zero_somewhere_random(&flows.pool, difference) {
            flows.pool.number(0.0)
        } else {
            simplify(&mut flows.pool, difference)
        };
    }

    let forces: Vec<ExprId> = builder
        .forces
        .iter()
        .map(|&e| simplify(&mut flows.pool, e))
        .collect();
    let mut inputs: Vec<SymbolId> = forces
        .iter()
        .flat_map(|&e| symbols_of(&flows.pool, e))
        .filter(|s| builder.graph.inputs.contains(s))
        .collect();
    inputs.sort_unstable();
    inputs.dedup();
    let [kinetic, potential, loss] =
        [builder.kinetic, builder.potential, builder.loss].map(|e| simplify(&mut flows.pool, e));
    let locks = flows.locks()?;
    Ok(Energies {
        kinetic,
        potential,
        loss,
        left_out: builder.left_out,
        forces,
        loads,
        extra,
        locks,
        inputs,
        states: flows.states.clone(),
        coordinates: flows.coordinates,
        own_names: flows.own_names,
        pool: flows.pool,
    })
}

/// Σ t_ki ṗ_k alone.
fn kinetic_loads(flows: &mut Flows, builder: &Builder<'_>) -> Result<Vec<ExprId>, Refusal> {
    let zero = flows.pool.number(0.0);
    let mut loads = vec![zero; flows.coordinates.len()];
    for element in &builder.graph.elements {
        if element.kind != ElementKind::I {
            continue;
        }
        for (&state, &bond) in element.states.iter().zip(&element.ports) {
            let rate = flows.rate_of(builder.momenta[&state]);
            load(flows, &mut loads, bond, rate, 1.0);
        }
    }
    Ok(loads)
}

impl Energies {
    /// The matrix of inertia, row by row.
    pub fn inertia_matrix(&mut self) -> Vec<ExprId> {
        let rates: Vec<SymbolId> = self.coordinates.iter().map(|c| c.rate).collect();
        let slopes = gradient(&mut self.pool, self.kinetic, &rates);
        let mut entries = Vec::new();
        for slope in slopes {
            for bend in gradient(&mut self.pool, slope, &rates) {
                let entry = simplify(&mut self.pool, bend);
                entries.push(match is_zero_somewhere_random(&self.pool, entry) {
                    true => self.pool.number(0.0),
                    false => entry,
                });
            }
        }
        entries
    }

    /// ∂e/∂q_i, by the states that follow the coordinate.
    fn slope(&mut self, e: ExprId, i: usize) -> ExprId {
        slope(&mut self.pool, &self.states, e, i)
    }

    /// States that follow coordinates without being one, with their rates.
    pub fn followers(&mut self) -> Vec<(SymbolId, ExprId)> {
        let mut found = Vec::new();
        for (state, over) in self.states.clone() {
            let mut rate = self.pool.number(0.0);
            for (&i, &t) in &over {
                let velocity = self.pool.symbol(self.coordinates[i].rate);
                let part = self.pool.mul(t, velocity);
                rate = self.pool.add(rate, part);
            }
            if self.coordinate_of(state).is_none() {
                found.push((state, rate));
            }
        }
        found
    }

    /// The coordinate that a state alone follows.
    fn coordinate_of(&self, s: SymbolId) -> Option<usize> {
        let follows = |over: &BTreeMap<usize, ExprId>| match over.iter().collect::<Vec<_>>()[..] {
            [(&i, &t)] if self.pool.as_number(t) == Some(1.0) => Some(i),
            _ => None,
        };
        let own = self.states.iter().find(|state| state.0 == s);
        let i = own.and_then(|state| follows(&state.1))?;
        let same = self
            .states
            .iter()
            .filter(|state| follows(&state.1) == Some(i));
        (same.count() == 1).then_some(i)
    }

    /// The name of a symbol, given those of the graph. A displacement that alone follows a coordinate has its name.
    pub fn name(&self, graph: &BondGraph, s: SymbolId) -> String {
        if let Some(name) = self.own_names.get(&s) {
            return name.clone();
        }
        if let Some(i) = self.coordinate_of(s) {
            return self.coordinates[i].name.clone();
        }
        graph.signals.name_of(s)
    }
}

/// ∂e/∂q_i by the chain rule over states that follow coordinates.
fn slope(
    pool: &mut Pool,
    states: &[(SymbolId, BTreeMap<usize, ExprId>)],
    e: ExprId,
    i: usize,
) -> ExprId {
    let symbols: Vec<SymbolId> = states.iter().map(|s| s.0).collect();
    let slopes = gradient(pool, e, &symbols);
    let mut sum = pool.number(0.0);
    for ((_, over), slope) in states.iter().zip(slopes) {
        if let Some(&t) = over.get(&i) {
            let part = pool.mul(slope, t);
            sum = pool.add(sum, part);
        }
    }
    sum
}

/// de/dt where states and rates change as coordinates do.
fn change(pool: &mut Pool, e: ExprId, rates: &FxHashMap<SymbolId, ExprId>) -> ExprId {
    total_derivative(pool, e, &mut |_, s| rates.get(&s).copied())
}
