//! The efforts that a bond graph puts on the coordinates of a Lagrangian, or on its speeds.
//!
//! In:  a flat bond graph, the names of coordinates and of their junctions, the junctions that move by themselves
//!      (of coordinates, or of speeds), and a point: where everything is, how fast it moves, and how that changes.
//! Out: for each junction that moves by itself the effort that leaves it.
//!
//! Flows spread from these junctions, with their rates; efforts come back from inertias, springs,
//! resistors and gyrators. Causality is not used: at a point all flows are known.
//!
//! **Invariant:** what cannot be followed is an error, never left out.

use super::proof::Found;
use crate::graph::{BondGraph, BondId, Element, ElementId, ElementKind, Law, Variable};
use paynter_symbolic::calculus::total_derivative;
use paynter_symbolic::evaluate::Evaluator;
use paynter_symbolic::walk::symbols_of;
use paynter_symbolic::{ExprId, Pool, Role, Symbol, SymbolId};
use rustc_hash::FxHashMap;

/// A point at which loads are computed.
#[derive(Clone, Debug, Default)]
pub(super) struct Point {
    /// Parameters, inputs and time by name.
    pub constants: FxHashMap<String, f64>,
    /// Position, velocity and acceleration of each coordinate.
    pub coordinates: Vec<[f64; 3]>,
    /// Whether its motion is given.
    pub is_given: Vec<bool>,
    /// Flow of each junction that moves by itself, its rate, and whether a source drives it.
    pub tops: Vec<(Dual, bool)>,
    /// The effort of each constraint, by name.
    pub reactions: Vec<(String, f64)>,
    /// Sources whose value the graph alone knows: what one unit of it does to which of these junctions.
    pub foreign: Vec<(String, Vec<(usize, f64)>)>,
}

/// A graph made ready for many points.
pub(super) struct Loads<'g> {
    graph: &'g BondGraph,
    pool: Pool,
    /// Junctions that move by themselves.
    tops: Vec<ElementId>,
    /// Junction of each coordinate.
    junctions: Vec<ElementId>,
    /// Symbols that are a coordinate: its own, and the displacement of the C that holds it.
    positions: FxHashMap<SymbolId, usize>,
    /// Values of signals.
    definitions: FxHashMap<SymbolId, ExprId>,
    /// Moduli and laws with signals put in, and their rates.
    resolved: FxHashMap<ExprId, (ExprId, ExprId)>,
    /// Rate symbols of coordinates, for rates of moduli.
    rates: Vec<SymbolId>,
    elements: FxHashMap<String, ElementId>,
    /// Names of parameters and unknowns.
    names: Vec<Option<String>>,
}

/// A value and its rate.
pub(super) type Dual = (f64, f64);

impl<'g> Loads<'g> {
    /// Finds coordinates in the graph.
    ///
    /// # Errors
    ///
    /// What is not there.
    pub fn new(
        graph: &'g BondGraph,
        coordinates: &[(String, String)],
        tops: &[String],
    ) -> Result<Self, String> {
        let names = &graph.signals.names;
        let mut elements = FxHashMap::default();
        for (k, element) in graph.elements.iter().enumerate() {
            if let Some(name) = element.name {
                elements.insert(names.display(name), ElementId(k as u32));
            }
        }
        let mut definitions = FxHashMap::default();
        for equation in &graph.signals.equations {
            if let Some(s) = graph.signals.pool.as_symbol(equation.left) {
                definitions.insert(s, equation.right);
            }
        }
        let name_of = |symbol: &Symbol| match symbol.role {
            Role::Time => Some("time".to_owned()),
            Role::Parameter { .. } | Role::Unknown => Some(names.display(symbol.name)),
            _ => None,
        };
        let mut loads = Loads {
            graph,
            names: graph.signals.symbols.iter().map(name_of).collect(),
            pool: graph.signals.pool.clone(),
            tops: Vec::new(),
            junctions: Vec::new(),
            positions: FxHashMap::default(),
            definitions,
            resolved: FxHashMap::default(),
            rates: Vec::new(),
            elements,
        };
        let n_symbols = graph.signals.symbols.len();
        for top in tops {
            let junction = loads.junction(top)?;
            loads.tops.push(junction);
        }
        for (i, (coordinate, junction)) in coordinates.iter().enumerate() {
            let junction = loads.junction(junction)?;
            loads.junctions.push(junction);
            loads.rates.push(SymbolId((n_symbols + i) as u32));
            loads.find_positions(i, coordinate)?;
        }
        Ok(loads)
    }

    fn junction(&self, name: &str) -> Result<ElementId, String> {
        let found = self.elements.get(name).copied();
        found.ok_or_else(|| format!("there is no junction `{name}`"))
    }

    /// Finds the symbols that hold a coordinate.
    fn find_positions(&mut self, i: usize, coordinate: &str) -> Result<(), String> {
        let dae = &self.graph.signals;
        let is_value = |&k: &usize| {
            dae.symbols[k].role == Role::Unknown && self.names[k].as_deref() == Some(coordinate)
        };
        let own = (0..dae.symbols.len()).find(is_value);
        let Some(own) = own.map(|k| SymbolId(k as u32)) else {
            return Err(format!("there is no signal `{coordinate}`"));
        };
        self.positions.insert(own, i);
        // `theta = weight.q`: the C holds it.
        if let Some(&value) = self.definitions.get(&own)
            && let Some(held) = self.pool.as_symbol(value)
        {
            self.positions.insert(held, i);
        }
        Ok(())
    }

    /// Computes the loads at a point; none where a law has no value there.
    ///
    /// # Errors
    ///
    /// What cannot be followed.
    pub fn at(&mut self, point: &Point) -> Result<Option<Found>, String> {
        let n = self.graph.bonds.len();
        let mut pass = Pass {
            flows: vec![None; n],
            efforts: vec![None; n],
            values: FxHashMap::default(),
            evaluator: Evaluator::new(),
            size: 0.0,
        };
        for (&symbol, &i) in &self.positions {
            pass.values.insert(symbol, point.coordinates[i][0]);
        }
        for (&rate, c) in self.rates.iter().zip(&point.coordinates) {
            pass.values.insert(rate, c[1]);
        }
        self.constants(point, &mut pass);
        self.flows(point, &mut pass)?;
        self.given_springs(point, &mut pass)?;
        self.sources_of_effort(point, &mut pass)?;
        self.spread_efforts(&mut pass)?;
        let found = self.collect(point, &mut pass)?;
        let is_finite = found.loads.iter().chain(&found.gaps).all(|x| x.is_finite());
        Ok(is_finite.then_some(found))
    }

    fn constants(&self, point: &Point, pass: &mut Pass) {
        let dae = &self.graph.signals;
        for (k, symbol) in dae.symbols.iter().enumerate() {
            let s = SymbolId(k as u32);
            let value = self.names[k].as_ref();
            let value = value.and_then(|name| point.constants.get(name));
            if let (Some(&value), false) = (value, self.positions.contains_key(&s)) {
                pass.values.insert(s, value);
            } else if let Role::Parameter { value, .. } = symbol.role {
                pass.values.insert(s, value);
            }
        }
    }

    /// An expression with signals put in, and its rate.
    fn resolve(&mut self, e: ExprId, known: &Pass) -> (ExprId, ExprId) {
        if let Some(&done) = self.resolved.get(&e) {
            return done;
        }
        let mut value = e;
        // Signals read signals; they form no circle.
        for _ in 0..=self.definitions.len() {
            let read = symbols_of(&self.pool, value);
            let is_open =
                |s: &SymbolId| !known.values.contains_key(s) && self.definitions.contains_key(s);
            if !read.iter().any(is_open) {
                break;
            }
            let definitions = &self.definitions;
            value = paynter_symbolic::walk::substitute(&mut self.pool, value, &|s| {
                let is_known = known.values.contains_key(&s);
                definitions.get(&s).copied().filter(|_| !is_known)
            });
        }
        let (positions, rates) = (&self.positions, &self.rates);
        let time = self.graph.signals.time;
        let rate = total_derivative(&mut self.pool, value, &mut |pool, s| {
            if Some(s) == time {
                return Some(pool.number(1.0));
            }
            positions.get(&s).map(|&i| pool.symbol(rates[i]))
        });
        self.resolved.insert(e, (value, rate));
        (value, rate)
    }

    fn value(&mut self, e: ExprId, pass: &mut Pass) -> Result<Dual, String> {
        let (value, rate) = self.resolve(e, pass);
        for s in symbols_of(&self.pool, value) {
            if !pass.values.contains_key(&s) {
                let name = self.graph.signals.name_of(s);
                return Err(format!("`{name}` is read, and has no value at a point"));
            }
        }
        let Pass {
            values, evaluator, ..
        } = pass;
        let mut number = |e: ExprId| {
            let found = evaluator.evaluate(&self.pool, e, &|s| {
                values.get(&s).copied().unwrap_or(f64::NAN)
            });
            found.unwrap_or(f64::NAN)
        };
        Ok((number(value), number(rate)))
    }

    fn gain(&mut self, element: &Element, pass: &mut Pass) -> Result<Option<Dual>, String> {
        match element.law {
            Law::Gain(e) => self.value(e, pass).map(Some),
            _ => Ok(None),
        }
    }

    // ---- flows

    fn flows(&mut self, point: &Point, pass: &mut Pass) -> Result<(), String> {
        let graph = self.graph;
        for (&junction, &(flow, _)) in self.tops.iter().zip(&point.tops) {
            for &bond in &graph.element(junction).ports {
                pass.flows[bond.0 as usize] = Some(flow);
            }
        }
        self.held(pass)?;
        // Every pass finds some flow, or none is left to be found.
        loop {
            let n_known = pass.flows.iter().flatten().count();
            for (k, element) in graph.elements.iter().enumerate() {
                match element.kind {
                    ElementKind::One => share(&element.ports, &mut pass.flows),
                    ElementKind::Zero => {
                        balance(graph, ElementId(k as u32), &mut pass.flows);
                    }
                    ElementKind::Tf => {
                        let [a, b] = two_ports(element)?;
                        let (fa, fb) = (pass.flows[a], pass.flows[b]);
                        if let (Some(fa), None) = (fa, fb) {
                            let n = self.gain(element, pass)?.ok_or(OTHER_LAW)?;
                            pass.flows[b] = Some((n.0 * fa.0, n.1 * fa.0 + n.0 * fa.1));
                        }
                    }
                    _ => {}
                }
            }
            if pass.flows.iter().flatten().count() == n_known {
                break;
            }
        }
        for (bond, flow) in graph.bonds.iter().zip(&pass.flows) {
            let Some(flow) = flow else {
                return Err("the flow of a bond does not follow from the coordinates".to_owned());
            };
            pass.values.insert(bond.flow, flow.0);
        }
        Ok(())
    }

    /// Flows of junctions that constraints hold, whatever the speeds are.
    fn held(&mut self, pass: &mut Pass) -> Result<(), String> {
        let graph = self.graph;
        for element in graph.elements.iter().filter(|e| e.kind == ElementKind::Sf) {
            let bond = graph.bond(element.ports[0]);
            let is_one = |e: ElementId| graph.element(e).kind == ElementKind::One;
            let (tail, head) = (bond.tail.element, bond.head.element);
            let junction = if is_one(tail) { tail } else { head };
            let flow = &mut pass.flows[element.ports[0].0 as usize];
            if let (None, true, Law::Source { value, .. }) = (&flow, is_one(junction), &element.law)
            {
                let value = *value;
                let asked = self.value(value, pass)?;
                pass.flows[element.ports[0].0 as usize] = Some(asked);
            }
        }
        Ok(())
    }

    /// A C at a given motion has no name for its displacement: it begins where the motion does, and follows it.
    fn given_springs(&mut self, point: &Point, pass: &mut Pass) -> Result<(), String> {
        let graph = self.graph;
        for element in graph.elements.iter().filter(|e| e.kind == ElementKind::C) {
            for (&state, &bond) in element.states.iter().zip(&element.ports) {
                if pass.values.contains_key(&state) {
                    continue;
                }
                let flow = pass.flows[bond.0 as usize].map_or(f64::NAN, |f| f.0);
                let is_it = |i: &usize| point.is_given[*i] && point.coordinates[*i][1] == flow;
                let target = |e: ExprId| self.pool.as_symbol(e) == Some(state);
                let has_start = graph.signals.starts.iter().any(|s| target(s.target));
                let found = (0..point.coordinates.len()).find(is_it);
                let (Some(i), true) = (found, has_start) else {
                    let name = graph.signals.name_of(state);
                    return Err(format!("`{name}` is held apart from the coordinates"));
                };
                pass.values.insert(state, point.coordinates[i][0]);
            }
        }
        Ok(())
    }

    // ---- efforts

    fn sources_of_effort(&mut self, point: &Point, pass: &mut Pass) -> Result<(), String> {
        let graph = self.graph;
        // Momenta first: gyrators read them.
        for element in graph.elements.iter().filter(|e| e.kind == ElementKind::I) {
            self.inertia(element, pass)?;
        }
        for (k, element) in graph.elements.iter().enumerate() {
            match element.kind {
                ElementKind::C | ElementKind::R => self.one_port(element, pass)?,
                ElementKind::Se => {
                    let Law::Source { value, .. } = element.law else {
                        return Err(OTHER_LAW.to_owned());
                    };
                    let value = self.value(value, pass)?.0;
                    pass.give(element.ports[0], value);
                }
                ElementKind::Sf => {
                    let name = graph.element_name(ElementId(k as u32));
                    // The effort of a given motion is what it takes: compared, not given.
                    let reaction = point.reactions.iter().find(|r| r.0 == name);
                    if let Some(&(_, reaction)) = reaction {
                        pass.give(element.ports[0], reaction);
                    }
                }
                ElementKind::Gy => {
                    let [a, b] = two_ports(element)?;
                    let r = self.gain(element, pass)?.ok_or(OTHER_LAW)?.0;
                    let flow = |bond: usize| pass.flows[bond].map_or(f64::NAN, |f| f.0);
                    let (ea, eb) = (r * flow(b), r * flow(a));
                    pass.give(BondId(a as u32), ea);
                    pass.give(BondId(b as u32), eb);
                }
                _ => {}
            }
        }
        Ok(())
    }

    fn inertia(&mut self, element: &Element, pass: &mut Pass) -> Result<(), String> {
        let flows: Vec<Dual> = element
            .ports
            .iter()
            .map(|b| pass.flows[b.0 as usize].unwrap_or((f64::NAN, f64::NAN)))
            .collect();
        let n = flows.len();
        let entries = match &element.law {
            Law::Gain(e) => vec![*e],
            Law::Field(entries) => entries.clone(),
            _ => return Err(OTHER_LAW.to_owned()),
        };
        for i in 0..n {
            let mut p = (0.0, 0.0);
            for j in 0..n {
                let m = self.value(entries[i * n + j], pass)?;
                p.0 += m.0 * flows[j].0;
                p.1 += m.1 * flows[j].0 + m.0 * flows[j].1;
            }
            pass.values.insert(element.states[i], p.0);
            pass.give(element.ports[i], p.1);
        }
        Ok(())
    }

    fn one_port(&mut self, element: &Element, pass: &mut Pass) -> Result<(), String> {
        match &element.law {
            Law::Explicit(rows) => {
                for &(port, variable, e) in rows {
                    if variable != Variable::Effort {
                        return Err(OTHER_LAW.to_owned());
                    }
                    let value = self.value(e, pass)?.0;
                    pass.give(element.ports[port as usize], value);
                }
            }
            Law::Gain(e) if element.kind == ElementKind::R => {
                let bond = element.ports[0];
                let flow = pass.flows[bond.0 as usize].map_or(f64::NAN, |f| f.0);
                let value = self.value(*e, pass)?.0 * flow;
                pass.give(bond, value);
            }
            Law::Gain(e) | Law::InverseGain(e) => {
                let is_stiffness = matches!(element.law, Law::InverseGain(_));
                let modulus = self.value(*e, pass)?.0;
                let Some(&q) = element.states.first().and_then(|s| pass.values.get(s)) else {
                    return Err(OTHER_LAW.to_owned());
                };
                let value = if is_stiffness {
                    modulus * q
                } else {
                    q / modulus
                };
                pass.give(element.ports[0], value);
            }
            _ => return Err(OTHER_LAW.to_owned()),
        }
        Ok(())
    }

    fn spread_efforts(&mut self, pass: &mut Pass) -> Result<(), String> {
        let graph = self.graph;
        loop {
            let n_known = pass.efforts.iter().flatten().count();
            for (k, element) in graph.elements.iter().enumerate() {
                match element.kind {
                    ElementKind::Zero => share(&element.ports, &mut pass.efforts),
                    ElementKind::One if !self.tops.contains(&ElementId(k as u32)) => {
                        balance(graph, ElementId(k as u32), &mut pass.efforts);
                    }
                    ElementKind::Tf => {
                        let [a, b] = two_ports(element)?;
                        if let (None, Some(eb)) = (pass.efforts[a], pass.efforts[b]) {
                            let n = self.gain(element, pass)?.ok_or(OTHER_LAW)?.0;
                            pass.efforts[a] = Some((n * eb.0, 0.0));
                        }
                    }
                    _ => {}
                }
            }
            if pass.efforts.iter().flatten().count() == n_known {
                return Ok(());
            }
        }
    }

    /// Sums what leaves each junction that moves by itself.
    fn collect(&mut self, point: &Point, pass: &mut Pass) -> Result<Found, String> {
        let graph = self.graph;
        let mut loads = Vec::new();
        for (i, &junction) in self.tops.iter().enumerate() {
            let mut sum = 0.0;
            for &bond in &graph.element(junction).ports {
                let b = graph.bond(bond);
                let is_out = b.tail.element == junction;
                let other = if is_out { b.head } else { b.tail };
                let is_drive = graph.element(other.element).kind == ElementKind::Sf;
                if point.tops[i].1 && is_drive {
                    continue;
                }
                let Some(effort) = pass.efforts[bond.0 as usize] else {
                    let name = graph.element_name(junction);
                    return Err(format!("an effort on `{name}` does not follow"));
                };
                sum += if is_out { effort.0 } else { -effort.0 };
            }
            loads.push(sum);
        }
        // What the graph alone knows was not subtracted on the other side.
        for (name, row) in &point.foreign {
            let element = self.elements.get(name).copied();
            let bond = element.and_then(|e| graph.element(e).ports.first().copied());
            let effort = bond.and_then(|b| pass.efforts[b.0 as usize]);
            let Some(effort) = effort else {
                return Err(format!("there is no source `{name}`"));
            };
            for &(i, t) in row {
                loads[i] += effort.0 * t;
            }
        }
        let mut gaps = Vec::new();
        for (name, _) in &point.reactions {
            gaps.push(self.gap(name, pass)?);
        }
        let flow = |j: &ElementId| {
            let bond = graph.element(*j).ports.first();
            let flow = bond.and_then(|b| pass.flows[b.0 as usize]);
            flow.map_or(f64::NAN, |f| f.0)
        };
        Ok(Found {
            velocities: self.junctions.iter().map(flow).collect(),
            loads,
            size: pass.size,
            gaps,
        })
    }

    /// How far a constraint is from holding: the flow that its source asks for, less what the coordinates give.
    fn gap(&mut self, name: &str, pass: &mut Pass) -> Result<f64, String> {
        let found = self.elements.get(name);
        let &lock = found.ok_or_else(|| format!("there is no lock `{name}`"))?;
        let element = self.graph.element(lock);
        let Law::Source { value, .. } = element.law else {
            return Err(OTHER_LAW.to_owned());
        };
        let asked = self.value(value, pass)?.0;
        let flow = pass.flows[element.ports[0].0 as usize].map_or(f64::NAN, |f| f.0);
        Ok(asked - flow)
    }
}

const OTHER_LAW: &str = "an element has a law that is not looked into";

struct Pass {
    flows: Vec<Option<Dual>>,
    /// The second is not used.
    efforts: Vec<Option<Dual>>,
    values: FxHashMap<SymbolId, f64>,
    evaluator: Evaluator,
    size: f64,
}

impl Pass {
    fn give(&mut self, bond: BondId, effort: f64) {
        self.efforts[bond.0 as usize] = Some((effort, 0.0));
        self.size = self.size.max(effort.abs());
    }
}

fn two_ports(element: &Element) -> Result<[usize; 2], String> {
    match element.ports.as_slice() {
        &[a, b] => Ok([a.0 as usize, b.0 as usize]),
        _ => Err(OTHER_LAW.to_owned()),
    }
}

/// One value for all bonds of a junction.
fn share(ports: &[BondId], values: &mut [Option<Dual>]) {
    let Some(known) = ports.iter().find_map(|b| values[b.0 as usize]) else {
        return;
    };
    for bond in ports {
        values[bond.0 as usize].get_or_insert(known);
    }
}

/// The last value at a junction from all others: they sum to zero.
fn balance(graph: &BondGraph, id: ElementId, values: &mut [Option<Dual>]) {
    let element = graph.element(id);
    let mut open = element
        .ports
        .iter()
        .filter(|b| values[b.0 as usize].is_none());
    let (Some(&last), None) = (open.next(), open.next()) else {
        return;
    };
    let points_in = |bond: BondId| graph.bond(bond).head.element == id;
    let mut sum = (0.0, 0.0);
    for &bond in element.ports.iter().filter(|&&b| b != last) {
        let Some(value) = values[bond.0 as usize] else {
            return;
        };
        let sign = if points_in(bond) { 1.0 } else { -1.0 };
        sum = (sum.0 + sign * value.0, sum.1 + sign * value.1);
    }
    let sign = if points_in(last) { -1.0 } else { 1.0 };
    values[last.0 as usize] = Some((sign * sum.0, sign * sum.1));
}
