//! Draws the causal graph: which variable is computed from which.
//!
//! In:  a bond graph with its strokes.
//! Out: [`Links`] between symbols, each with its kind and the element that makes it.
//!
//! **Invariant:** bonds without a stroke have no links; a link of kind [`Kind::Copy`] is the only
//! algebraic link into its symbol.

use super::laws::reads;
use super::{Causality, StorageForm};
use crate::graph::{BondGraph, Element, ElementId, ElementKind, End, Law, ReadingKind, Variable};
use crate::kinds::Memory;
use paynter_symbolic::dae::{Action, Role};
use paynter_symbolic::{ExprId, SymbolId};
use rustc_hash::FxHashSet;

/// What happens on the way from one symbol to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// The shared variable of a junction: the same value.
    Copy,
    /// Algebra along power bonds.
    Algebra,
    /// Algebra through a signal: a modulus, a definition.
    Signal,
    /// Integration over time.
    Integration,
    /// Differentiation by time.
    Differentiation,
    /// Acts at ticks and events only.
    Sampled,
}

/// One arrow of the causal graph.
#[derive(Clone, Copy, Debug)]
pub struct Link {
    /// What is read.
    pub from: SymbolId,
    /// What is computed.
    pub to: SymbolId,
    /// What happens on the way.
    pub kind: Kind,
    /// The element that computes it; none for a signal.
    pub by: Option<ElementId>,
}

/// The causal graph.
#[derive(Clone, Debug, Default)]
pub struct Links {
    all: Vec<Link>,
    out: Index,
    into: Index,
    /// Symbols x with `der(x) = …`.
    pub coordinates: Vec<SymbolId>,
}

/// Positions in [`Links::all`], sorted by symbol.
#[derive(Clone, Debug, Default)]
struct Index {
    offsets: Vec<u32>,
    links: Vec<u32>,
}

impl Index {
    fn new(n_symbols: usize, links: &[Link], end: impl Fn(&Link) -> SymbolId) -> Self {
        let mut offsets = vec![0u32; n_symbols + 1];
        for link in links {
            offsets[end(link).0 as usize + 1] += 1;
        }
        for i in 0..n_symbols {
            offsets[i + 1] += offsets[i];
        }
        let mut fill = offsets.clone();
        let mut positions = vec![0; links.len()];
        for (i, link) in links.iter().enumerate() {
            let at = &mut fill[end(link).0 as usize];
            positions[*at as usize] = i as u32;
            *at += 1;
        }
        Index {
            offsets,
            links: positions,
        }
    }

    fn of(&self, symbol: SymbolId) -> &[u32] {
        let s = symbol.0 as usize;
        &self.links[self.offsets[s] as usize..self.offsets[s + 1] as usize]
    }
}

impl Links {
    /// Lists all links.
    pub fn all(&self) -> &[Link] {
        &self.all
    }

    /// Lists what is computed from a symbol.
    pub fn out_of(&self, symbol: SymbolId) -> impl Iterator<Item = Link> + '_ {
        self.out.of(symbol).iter().map(|&i| self.all[i as usize])
    }

    /// Lists what a symbol is computed from.
    pub fn into(&self, symbol: SymbolId) -> impl Iterator<Item = Link> + '_ {
        self.into.of(symbol).iter().map(|&i| self.all[i as usize])
    }

    /// Finds the element that computes `to` from `from`.
    pub fn link(&self, from: SymbolId, to: SymbolId) -> Option<Link> {
        // The shorter of the two lists: a star has a long one at its hub only.
        if self.out.of(from).len() <= self.into.of(to).len() {
            self.out_of(from).find(|l| l.to == to)
        } else {
            self.into(to).find(|l| l.from == from)
        }
    }
}

impl Kind {
    /// Tells whether the value passes at once, without time.
    pub fn is_algebraic(self) -> bool {
        matches!(self, Kind::Copy | Kind::Algebra | Kind::Signal)
    }
}

/// Draws all links.
pub fn draw_links(graph: &BondGraph, causality: &Causality) -> Links {
    let mut w = Writer {
        graph,
        causality,
        links: Vec::new(),
    };
    for (index, element) in graph.elements.iter().enumerate() {
        w.element(ElementId(index as u32), element);
    }
    let coordinates = w.signals();
    w.readings();
    let n = graph.signals.symbols.len();
    let out = Index::new(n, &w.links, |l| l.from);
    let into = Index::new(n, &w.links, |l| l.to);
    Links {
        all: w.links,
        out,
        into,
        coordinates,
    }
}

struct Writer<'a> {
    graph: &'a BondGraph,
    causality: &'a Causality,
    links: Vec<Link>,
}

/// A port with its two variables sorted by direction.
#[derive(Clone, Copy)]
struct Sides {
    input: SymbolId,
    output: SymbolId,
    effort_is_input: bool,
}

impl Writer<'_> {
    fn link(&mut self, from: SymbolId, to: SymbolId, kind: Kind, by: Option<ElementId>) {
        self.links.push(Link { from, to, kind, by });
    }

    fn sides(&self, id: ElementId, port: usize) -> Option<Sides> {
        let bond = self.graph.bond(*self.graph.element(id).ports.get(port)?);
        let effort_is_input = self.causality.effort_is_input(
            self.graph,
            End {
                element: id,
                port: port as u32,
            },
        )?;
        let (input, output) = if effort_is_input {
            (bond.effort, bond.flow)
        } else {
            (bond.flow, bond.effort)
        };
        Some(Sides {
            input,
            output,
            effort_is_input,
        })
    }

    fn element(&mut self, id: ElementId, element: &Element) {
        // Passes nothing on.
        if self
            .causality
            .rings
            .iter()
            .any(|r| r.left_out() == Some(id))
        {
            return;
        }
        match element.kind {
            ElementKind::Zero | ElementKind::One => self.junction(id, element),
            ElementKind::Tf | ElementKind::Gy if element.ports.len() == 2 => {
                for port in 0..2 {
                    if let (Some(here), Some(there)) =
                        (self.sides(id, port), self.sides(id, 1 - port))
                    {
                        self.link(there.input, here.output, Kind::Algebra, Some(id));
                    }
                }
                self.modulation(id, element);
            }
            kind if kind.is_storage() => self.storage(id, element),
            _ => self.resistive(id, element),
        }
    }

    fn junction(&mut self, id: ElementId, element: &Element) {
        let shares_effort = element.kind == ElementKind::Zero;
        let takes_part = |&port: &usize| {
            let port = port as u32;
            !self.causality.is_left_out(End { element: id, port })
        };
        let sides: Vec<Option<Sides>> = (0..element.ports.len())
            .filter(takes_part)
            .map(|p| self.sides(id, p))
            .collect();
        let Some(strong) = sides
            .iter()
            .flatten()
            .find(|s| s.effort_is_input == shares_effort)
            .copied()
        else {
            return self.free_junction(id, sides.into_iter().flatten());
        };
        for weak in sides
            .into_iter()
            .flatten()
            .filter(|s| s.effort_is_input != shares_effort)
        {
            self.link(strong.input, weak.output, Kind::Copy, Some(id));
            self.link(weak.input, strong.output, Kind::Algebra, Some(id));
        }
    }

    /// A free junction gives its variable to all bonds; what they answer with changes it over time.
    fn free_junction(&mut self, id: ElementId, sides: impl Iterator<Item = Sides>) {
        let Some(free) = self.causality.free.iter().find(|f| f.junction == id) else {
            return;
        };
        let symbol = free.symbol;
        for weak in sides {
            if weak.output != symbol {
                self.link(symbol, weak.output, Kind::Copy, Some(id));
            }
            self.link(weak.input, symbol, Kind::Integration, Some(id));
        }
    }

    /// What the law reads beside the element's own variables acts on all its outputs.
    fn modulation(&mut self, id: ElementId, element: &Element) {
        let expressions = element.law.expressions();
        if expressions
            .iter()
            .all(|&e| self.graph.signals.pool.as_number(e).is_some())
        {
            return;
        }
        let mut own: FxHashSet<SymbolId> = element.states.iter().copied().collect();
        for &b in &element.ports {
            own.extend([self.graph.bond(b).effort, self.graph.bond(b).flow]);
        }
        let mut foreign: Vec<SymbolId> = Vec::new();
        for e in expressions {
            foreign.extend(self.varying(e).into_iter().filter(|s| !own.contains(s)));
        }
        foreign.sort_unstable();
        foreign.dedup();
        for port in 0..element.ports.len() {
            let Some(sides) = self.sides(id, port) else {
                continue;
            };
            for &symbol in &foreign {
                self.link(symbol, sides.output, Kind::Signal, Some(id));
            }
        }
    }

    fn varying(&self, e: ExprId) -> Vec<SymbolId> {
        let is_varying = |s: &SymbolId| {
            !matches!(
                self.graph.signals.symbol(*s).role,
                Role::Parameter { .. } | Role::Time
            )
        };
        reads(&self.graph.signals.pool, e)
            .into_iter()
            .filter(is_varying)
            .collect()
    }

    fn storage(&mut self, id: ElementId, element: &Element) {
        self.modulation(id, element);
        for (port, &state) in element.states.iter().enumerate() {
            let Some(sides) = self.sides(id, port) else {
                continue;
            };
            match self.causality.form(self.graph, id, port as u32) {
                Some(StorageForm::Integral) => {
                    self.link(sides.input, state, Kind::Integration, Some(id));
                    for &any in &element.states {
                        self.link(any, sides.output, Kind::Algebra, Some(id));
                    }
                }
                Some(StorageForm::Derivative) => {
                    self.link(sides.input, state, Kind::Algebra, Some(id));
                    for (other, &any) in element.states.iter().enumerate() {
                        let is_integral = self.causality.form(self.graph, id, other as u32)
                            == Some(StorageForm::Integral);
                        if is_integral {
                            self.link(any, state, Kind::Algebra, Some(id));
                        }
                    }
                    self.link(state, sides.output, Kind::Differentiation, Some(id));
                }
                None => {}
            }
        }
    }

    /// What an element only remembers: integrated from its flow or effort, it modulates what it gives.
    fn memory(&mut self, id: ElementId, element: &Element) {
        for (port, &state) in element.states.iter().enumerate() {
            let bond = self.graph.bond(element.ports[port]);
            let rate = match element.kind.memory() {
                Some(Memory::Momentum) => bond.effort,
                _ => bond.flow,
            };
            self.link(rate, state, Kind::Integration, Some(id));
            if let Some(sides) = self.sides(id, port) {
                self.link(state, sides.output, Kind::Signal, Some(id));
            }
        }
    }

    /// R, RS, switches, diodes, sources, powerless n-port gyrators.
    fn resistive(&mut self, id: ElementId, element: &Element) {
        self.modulation(id, element);
        if element.kind.is_source() {
            return;
        }
        self.memory(id, element);
        let n = element.ports.len();
        for port in 0..n {
            let Some(here) = self.sides(id, port) else {
                continue;
            };
            for other in self.coupled_ports(element, port, here.effort_is_input) {
                if let Some(there) = self.sides(id, other) {
                    self.link(there.input, here.output, Kind::Algebra, Some(id));
                }
            }
        }
    }

    /// The ports whose inputs act on the output of `port`.
    fn coupled_ports(&self, element: &Element, port: usize, effort_is_input: bool) -> Vec<usize> {
        let n = element.ports.len();
        if n == 1 {
            return vec![0];
        }

        match &element.law {
            // Entropy flow of the thermal port needs everything; the lossy port needs what its law reads.
            Law::Field(m) | Law::InverseField(m) if m.len() == n * n => {
                let is_as_written = matches!(element.law, Law::InverseField(_)) == effort_is_input;
                let zero = |e: ExprId| self.graph.signals.pool.as_number(e) == Some(0.0);
                (0..n)
                    .filter(|&j| !is_as_written || !zero(m[port * n + j]))
                    .collect()
            }
            Law::Explicit(rows) => {
                let as_written = rows.iter().find(|&&(p, v, _)| {
                    p as usize == port
                        && (v == Variable::Flow) == effort_is_input
                        && v != Variable::Stored
                });
                match as_written {
                    Some(&(_, _, e)) => {
                        let read: FxHashSet<SymbolId> =
                            reads(&self.graph.signals.pool, e).into_iter().collect();
                        (0..n)
                            .filter(|&j| {
                                let bond = self.graph.bond(element.ports[j]);
                                read.contains(&bond.effort) || read.contains(&bond.flow)
                            })
                            .collect()
                    }
                    None => (0..n).collect(),
                }
            }
            _ if element.kind == ElementKind::Rs && port == 0 => vec![0],
            _ => (0..n).collect(),
        }
    }

    /// Definitions, derivatives, clocks and events; gives the coordinates.
    fn signals(&mut self) -> Vec<SymbolId> {
        let signals = &self.graph.signals;
        let mut defined: FxHashSet<SymbolId> = signals
            .equations
            .iter()
            .filter_map(|e| signals.pool.as_symbol(e.left))
            .collect();

        for bond in &self.graph.bonds {
            defined.extend([bond.effort, bond.flow]);
        }

        for equation in &signals.equations {
            let right = self.varying(equation.right);
            match signals.pool.as_symbol(equation.left) {
                Some(target) => right
                    .into_iter()
                    .for_each(|s| self.link(s, target, Kind::Signal, None)),
                // An implicit equation: whatever is defined nowhere else is found from it.
                None => {
                    let read: Vec<SymbolId> = self
                        .varying(equation.left)
                        .into_iter()
                        .chain(right)
                        .collect();
                    for &target in read.iter().filter(|s| !defined.contains(s)) {
                        for &from in read.iter().filter(|&&s| s != target) {
                            self.link(from, target, Kind::Signal, None);
                        }
                    }
                }
            }
        }

        let mut coordinates = Vec::new();
        for index in 0..signals.symbols.len() as u32 {
            let symbol = SymbolId(index);
            match signals.symbol(symbol).role {
                Role::Derivative { of } if defined.contains(&symbol) => {
                    self.link(symbol, of, Kind::Integration, None);
                    coordinates.push(of);
                }
                Role::Derivative { of } => self.link(of, symbol, Kind::Differentiation, None),
                Role::Pre { of } => self.link(of, symbol, Kind::Sampled, None),
                _ => {}
            }
        }

        self.clocks_and_events();
        coordinates
    }

    /// What sampled blocks and `when`s set follows what they read.
    fn clocks_and_events(&mut self) {
        let signals = &self.graph.signals;
        for (target, e) in signals
            .clocks
            .iter()
            .flat_map(|c| c.equations.iter().copied())
        {
            self.varying(e)
                .into_iter()
                .for_each(|s| self.link(s, target, Kind::Sampled, None));
        }

        for when in &signals.whens {
            let condition = self.varying(when.condition);
            for action in &when.actions {
                let (Action::Reinit { target, value, .. } | Action::Assign { target, value, .. }) =
                    action
                else {
                    continue;
                };
                for s in self
                    .varying(*value)
                    .into_iter()
                    .chain(condition.iter().copied())
                {
                    self.link(s, *target, Kind::Sampled, None);
                }
            }
        }
    }

    fn readings(&mut self) {
        for reading in &self.graph.readings {
            match reading.what {
                ReadingKind::Stored(element) => {
                    for &state in &self.graph.element(element).states {
                        self.link(state, reading.symbol, Kind::Signal, None);
                    }
                }
                ReadingKind::Integral(e) => {
                    self.varying(e)
                        .into_iter()
                        .for_each(|s| self.link(s, reading.symbol, Kind::Integration, None));
                }
                ReadingKind::ElementEnergy(element) => {
                    for &b in &self.graph.element(element).ports {
                        let bond = self.graph.bond(b);
                        self.link(bond.effort, reading.symbol, Kind::Integration, None);
                        self.link(bond.flow, reading.symbol, Kind::Integration, None);
                    }
                }
                ReadingKind::BondEnergy(b) => {
                    let bond = self.graph.bond(b);
                    self.link(bond.effort, reading.symbol, Kind::Integration, None);
                    self.link(bond.flow, reading.symbol, Kind::Integration, None);
                }
                // Sums over the whole model: nothing in a law should read them.
                ReadingKind::SystemEnergy
                | ReadingKind::SystemSupplied
                | ReadingKind::SystemDissipated
                | ReadingKind::SystemResidual => {}
            }
        }
    }
}
