//! Chooses coordinates of a graph, and writes every flow by their rates.
//!
//! In:  a flat bond graph.
//! Out: [`Flows`]: coordinates, and for each bond its flow Σ t_i q̇_i + b.
//!
//! A 1-junction is a coordinate if its flow does not follow from others. Those that a displacement or an integrated
//! signal follows come first, so that transformers lead away from them.

use super::{Coordinate, Lock, Refusal, change, slope};
use crate::graph::{BondGraph, BondId, Element, ElementId, ElementKind, Law};
use paynter_symbolic::simplify::simplify;
use paynter_symbolic::walk::{substitute, symbols_of};
use paynter_symbolic::{ExprId, Pool, Role, SymbolId};
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;

/// Σ t_i q̇_i + b.
#[derive(Clone, Debug)]
struct Flow {
    over: BTreeMap<usize, ExprId>,
    free: ExprId,
}

/// All flows of a graph.
pub(super) struct Flows<'g> {
    graph: &'g BondGraph,
    pub pool: Pool,
    pub coordinates: Vec<Coordinate>,
    pub own_names: FxHashMap<SymbolId, String>,
    flows: Vec<Option<Flow>>,
    definitions: FxHashMap<SymbolId, ExprId>,
    /// Displacements and integrated signals, with their rates over coordinates.
    pub states: Vec<(SymbolId, BTreeMap<usize, ExprId>)>,
    /// How every symbol changes.
    rates: FxHashMap<SymbolId, ExprId>,
    next: u32,
}

/// Finds coordinates and flows.
///
/// # Errors
///
/// Flows that do not follow from any 1-junctions.
pub(super) fn flows(graph: &BondGraph) -> Result<Flows<'_>, Refusal> {
    let dae = &graph.signals;
    let mut definitions = FxHashMap::default();
    for equation in &dae.equations {
        if let Some(s) = dae.pool.as_symbol(equation.left) {
            definitions.insert(s, equation.right);
        }
    }
    let mut flows = Flows {
        graph,
        pool: dae.pool.clone(),
        coordinates: Vec::new(),
        own_names: FxHashMap::default(),
        flows: vec![None; graph.bonds.len()],
        definitions,
        states: Vec::new(),
        rates: FxHashMap::default(),
        next: dae.symbols.len() as u32,
    };
    flows.choose()?;
    flows.follow()?;
    Ok(flows)
}

impl Flows<'_> {
    fn add_symbol(&mut self, name: String) -> SymbolId {
        let symbol = SymbolId(self.next);
        self.next += 1;
        self.own_names.insert(symbol, name);
        symbol
    }

    // ---- coordinates

    fn choose(&mut self) -> Result<(), Refusal> {
        let graph = self.graph;
        let mut candidates: Vec<(u8, ElementId)> = Vec::new();
        for (k, element) in graph.elements.iter().enumerate() {
            if element.kind == ElementKind::One {
                let id = ElementId(k as u32);
                candidates.push((self.rank(element, id), id));
            }
        }

        candidates.sort();
        self.sources()?;
        self.spread()?;
        for (_, junction) in candidates {
            let ports = graph.element(junction).ports.clone();
            if ports.iter().any(|b| self.flows[b.0 as usize].is_some()) {
                continue;
            }
            let i = self.coordinates.len();
            let (name, one) = (self.coordinate_name(junction), self.pool.number(1.0));
            let rate = self.add_symbol(format!("{name}'"));
            let acceleration = self.add_symbol(format!("{name}''"));
            self.coordinates.push(Coordinate {
                name,
                junction: graph.element_name(junction),
                rate,
                acceleration,
            });
            let flow = Flow {
                over: BTreeMap::from([(i, one)]),
                free: self.pool.number(0.0),
            };
            for bond in ports {
                self.flows[bond.0 as usize] = Some(flow.clone());
            }
            self.spread()?;
        }

        if self.coordinates.is_empty() {
            return Err("no 1-junction of the graph is free to move".to_owned());
        }
        let open = self.flows.iter().position(Option::is_none);
        if let Some(bond) = open {
            let end = graph.bonds[bond].head.element;
            return Err(format!(
                "the flow into `{}` does not follow from the flows of 1-junctions: this form is for mechanical systems and meshes",
                graph.element_name(end)
            ));
        }
        Ok(())
    }

    /// Junctions that something follows first, then those from which transformers and sums only lead away, then
    /// those with inertias, then others. A rate beyond a sum is often the speed of nothing.
    fn rank(&self, element: &Element, id: ElementId) -> u8 {
        let graph = self.graph;
        let mut is_led_to = false;
        let mut has_inertia = false;
        for &b in &element.ports {
            let bond = graph.bond(b);
            let is_in = bond.head.element == id;
            let other = if is_in { bond.tail } else { bond.head };
            match graph.element(other.element).kind {
                ElementKind::Tf | ElementKind::Zero | ElementKind::One => is_led_to |= is_in,
                ElementKind::I => has_inertia = true,
                _ => {}
            }
        }
        match (self.followed_by(id), is_led_to, has_inertia) {
            (Some(_), ..) => 0,
            (None, false, _) => 1,
            (None, true, true) => 2,
            (None, true, false) => 3,
        }
    }

    /// The integrated signal or displacement that follows a junction.
    fn followed_by(&self, id: ElementId) -> Option<SymbolId> {
        let graph = self.graph;
        let dae = &graph.signals;
        let ports = &graph.element(id).ports;
        let own: Vec<SymbolId> = ports.iter().map(|&b| graph.bond(b).flow).collect();
        for equation in &dae.equations {
            let Some(left) = dae.pool.as_symbol(equation.left) else {
                continue;
            };
            let (Role::Derivative { of }, Some(right)) =
                (dae.symbol(left).role, dae.pool.as_symbol(equation.right))
            else {
                continue;
            };
            let value = self
                .definitions
                .get(&right)
                .and_then(|&e| dae.pool.as_symbol(e));
            if own.contains(&right) || value.is_some_and(|s| own.contains(&s)) {
                return Some(of);
            }
        }

        let springs = graph.elements.iter().filter(|e| e.kind == ElementKind::C);
        for spring in springs {
            for (&state, bond) in spring.states.iter().zip(&spring.ports) {
                if ports.contains(bond) {
                    return Some(state);
                }
            }
        }
        None
    }

    /// The name of a signal that is just this displacement is better than that of the element.
    fn coordinate_name(&self, junction: ElementId) -> String {
        let dae = &self.graph.signals;
        let Some(state) = self.followed_by(junction) else {
            return self.graph.element_name(junction);
        };
        let is_it = |e: &ExprId| dae.pool.as_symbol(*e) == Some(state);
        let signals = self.definitions.iter().filter(|(_, e)| is_it(e));
        let mut names: Vec<String> = signals
            .filter(|(s, _)| dae.symbol(**s).role == Role::Unknown)
            .map(|(&s, _)| dae.name_of(s))
            .collect();
        names.sort_by_key(|name| (name.contains('.'), name.clone()));
        names
            .into_iter()
            .next()
            .unwrap_or_else(|| dae.name_of(state))
    }

    // ---- flows

    /// Sources of flow at 1-junctions; those at 0-junctions are constraints.
    fn sources(&mut self) -> Result<(), Refusal> {
        for (k, element) in self.graph.elements.iter().enumerate() {
            let Some((bond, value)) = self.source(element) else {
                continue;
            };
            if self.is_lock(element, ElementId(k as u32)) {
                continue;
            }
            let free = self.resolve(value)?;
            self.flows[bond.0 as usize] = Some(Flow {
                over: BTreeMap::new(),
                free,
            });
        }
        Ok(())
    }

    fn source(&self, element: &Element) -> Option<(BondId, ExprId)> {
        match (element.kind, &element.law) {
            (ElementKind::Sf, Law::Source { value, .. }) => Some((element.ports[0], *value)),
            _ => None,
        }
    }

    fn is_lock(&self, element: &Element, id: ElementId) -> bool {
        let bond = self.graph.bond(element.ports[0]);
        let other = if bond.tail.element == id {
            bond.head
        } else {
            bond.tail
        };
        self.graph.element(other.element).kind == ElementKind::Zero
    }

    /// Passes flows on until nothing more follows.
    fn spread(&mut self) -> Result<(), Refusal> {
        let graph = self.graph;
        loop {
            let n_known = self.flows.iter().flatten().count();
            for (k, element) in graph.elements.iter().enumerate() {
                match element.kind {
                    ElementKind::One => {
                        let known = element
                            .ports
                            .iter()
                            .find_map(|b| self.flows[b.0 as usize].clone());
                        for bond in &element.ports {
                            let place = &mut self.flows[bond.0 as usize];
                            if place.is_none() {
                                place.clone_from(&known);
                            }
                        }
                    }
                    ElementKind::Zero => self.balance(ElementId(k as u32)),
                    ElementKind::Tf => self.transform(element, ElementId(k as u32))?,
                    _ => {}
                }
            }
            if self.flows.iter().flatten().count() == n_known {
                return Ok(());
            }
        }
    }

    fn transform(&mut self, element: &Element, id: ElementId) -> Result<(), Refusal> {
        let &[a, b] = element.ports.as_slice() else {
            return Ok(());
        };
        let (fa, fb) = (
            self.flows[a.0 as usize].clone(),
            self.flows[b.0 as usize].clone(),
        );
        let (from, to, is_forward) = match (fa, fb) {
            (Some(f), None) => (f, b, true),
            (None, Some(f)) => (f, a, false),
            _ => return Ok(()),
        };

        let (modulus, is_inverse) = match &element.law {
            Law::Gain(n) => (*n, false),
            Law::InverseGain(m) => (*m, true),
            _ => {
                return Err(format!(
                    "`{}` is a TF whose law is not a plain ratio",
                    self.graph.element_name(id)
                ));
            }
        };

        let multiplies = is_forward != is_inverse;
        // Where the modulus can vanish it is not divided by: another junction is found first.
        if !multiplies && element.can_vanish {
            return Ok(());
        }
        let n = self.resolve(modulus)?;
        let mut scale = |e: ExprId| {
            if multiplies {
                self.pool.mul(n, e)
            } else {
                self.pool.div(e, n)
            }
        };

        let flow = Flow {
            over: from.over.iter().map(|(&i, &e)| (i, scale(e))).collect(),
            free: scale(from.free),
        };
        self.flows[to.0 as usize] = Some(flow);
        Ok(())
    }

    /// The last flow at a 0-junction from all others.
    fn balance(&mut self, id: ElementId) {
        let graph = self.graph;
        let ports = &graph.element(id).ports;
        let mut open = ports.iter().filter(|b| self.flows[b.0 as usize].is_none());
        let (Some(&last), None) = (open.next(), open.next()) else {
            return;
        };
        let points_in = |b: BondId| graph.bond(b).head.element == id;
        let mut sum = Flow {
            over: BTreeMap::new(),
            free: self.pool.number(0.0),
        };

        for &bond in ports.iter().filter(|&&b| b != last) {
            let Some(flow) = self.flows[bond.0 as usize].clone() else {
                return;
            };
            let is_plus = points_in(bond) != points_in(last);
            sum.free = match is_plus {
                true => self.pool.add(sum.free, flow.free),
                false => self.pool.sub(sum.free, flow.free),
            };
            for (i, e) in flow.over {
                let zero = self.pool.number(0.0);
                let old = sum.over.get(&i).copied().unwrap_or(zero);
                let new = match is_plus {
                    true => self.pool.add(old, e),
                    false => self.pool.sub(old, e),
                };
                sum.over.insert(i, new);
            }
        }
        self.flows[last.0 as usize] = Some(sum);
    }

    // ---- states

    /// Finds displacements and integrated signals, and how they change.
    fn follow(&mut self) -> Result<(), Refusal> {
        let graph = self.graph;
        let dae = &graph.signals;
        let mut found: Vec<(SymbolId, Flow)> = Vec::new();
        for spring in graph.elements.iter().filter(|e| e.kind == ElementKind::C) {
            for (&state, &bond) in spring.states.iter().zip(&spring.ports) {
                let flow = self.flows[bond.0 as usize].clone();
                found.extend(flow.map(|flow| (state, flow)));
            }
        }

        for equation in &dae.equations {
            let Some(left) = dae.pool.as_symbol(equation.left) else {
                continue;
            };
            if let Role::Derivative { of } = dae.symbol(left).role
                && let Some(flow) = self.flow_of(equation.right)
            {
                found.push((of, flow));
            }
        }

        for c in &self.coordinates {
            let acceleration = self.pool.symbol(c.acceleration);
            self.rates.insert(c.rate, acceleration);
        }

        if let Some(time) = dae.time {
            let one = self.pool.number(1.0);
            self.rates.insert(time, one);
        }

        for (state, mut flow) in found {
            for e in flow.over.values_mut() {
                *e = simplify(&mut self.pool, *e);
            }
            let mut rate = flow.free;
            for (&i, &t) in &flow.over {
                let velocity = self.pool.symbol(self.coordinates[i].rate);
                let part = self.pool.mul(t, velocity);
                rate = self.pool.add(rate, part);
            }
            self.rates.insert(state, rate);
            self.states.push((state, flow.over));
        }
        Ok(())
    }

    /// The flow that an expression is, if it is just one.
    fn flow_of(&self, e: ExprId) -> Option<Flow> {
        let mut symbol = self.pool.as_symbol(e)?;
        if let Some(value) = self
            .definitions
            .get(&symbol)
            .and_then(|&e| self.pool.as_symbol(e))
        {
            symbol = value;
        }
        let bond = self.graph.bonds.iter().position(|b| b.flow == symbol)?;
        self.flows[bond].clone()
    }

    /// An expression with signals put in.
    ///
    /// # Errors
    ///
    /// It reads flows or efforts: then it is not a function of places.
    pub fn resolve(&mut self, e: ExprId) -> Result<ExprId, Refusal> {
        let mut value = e;
        for _ in 0..=self.definitions.len() {
            let read = symbols_of(&self.pool, value);
            if !read.iter().any(|s| self.definitions.contains_key(s)) {
                break;
            }
            let definitions = &self.definitions;
            value = substitute(&mut self.pool, value, &|s| definitions.get(&s).copied());
        }
        Ok(value)
    }

    pub fn substitute(&mut self, e: ExprId, map: &FxHashMap<SymbolId, ExprId>) -> ExprId {
        substitute(&mut self.pool, e, &|s| map.get(&s).copied())
    }

    /// The flow of a bond as an expression in rates.
    pub fn flow(&mut self, bond: BondId) -> ExprId {
        let flow = self.flows[bond.0 as usize].clone();
        let flow = flow.expect("every flow was found");
        let mut sum = flow.free;
        for (i, t) in flow.over {
            let velocity = self.pool.symbol(self.coordinates[i].rate);
            let part = self.pool.mul(t, velocity);
            sum = self.pool.add(sum, part);
        }
        sum
    }

    /// Coefficients of rates in the flow of a bond.
    pub fn over(&self, bond: BondId) -> Vec<(usize, ExprId)> {
        let flow = self.flows[bond.0 as usize].as_ref();
        flow.map_or(Vec::new(), |f| {
            f.over.iter().map(|(&i, &e)| (i, e)).collect()
        })
    }

    /// de/dt along the motion.
    pub fn rate_of(&mut self, e: ExprId) -> ExprId {
        change(&mut self.pool, e, &self.rates)
    }

    /// ∂e/∂q_i.
    pub fn slope(&mut self, e: ExprId, i: usize) -> ExprId {
        slope(&mut self.pool, &self.states, e, i)
    }

    /// Constraints, with their reactions.
    ///
    /// # Errors
    ///
    /// As for [`Flows::resolve`].
    pub fn locks(&mut self) -> Result<Vec<Lock>, Refusal> {
        let mut locks = Vec::new();
        for (k, element) in self.graph.elements.iter().enumerate() {
            let id = ElementId(k as u32);
            let Some((bond, value)) = self.source(element) else {
                continue;
            };
            if !self.is_lock(element, id) {
                continue;
            }
            let name = self.graph.element_name(id);
            let reaction = self.add_symbol(format!("{name}.e"));
            let asked = self.resolve(value)?;
            let flow = self.flow(bond);
            let gap = self.pool.sub(asked, flow);
            locks.push(Lock {
                name,
                reaction,
                gap: simplify(&mut self.pool, gap),
            });
        }
        Ok(locks)
    }
}
