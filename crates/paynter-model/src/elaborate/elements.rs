//! Things become the elements of the graph; vectors and matrices become scalars.
//!
//! In:  things with their bonds, and their laws.
//! Out: elements whose ports and bonds know each other; quantities such as `.power` defined.
//!
//! **Invariant:** a matrix transformer is expanded so that f₂ = M f₁ and e₁ = Mᵀ e₂ hold entry
//! by entry: entries that are the number 0 are absent, those that are 1 are plain bonds.

use paynter_symbolic::{Equation, ExprId, Names, Role, SymbolId};
use paynter_syntax::{Diagnostic, Span};

use super::data::*;
use super::law::Laws;
use super::read::is_two_port;
use super::readings::EnergyQuantity;
use super::value::{Shape, Value};
use super::{Elaborator, code};
use crate::graph::{BondId, Element, ElementId, ElementKind, End, Law, Reading, ReadingKind};

impl<'a> Elaborator<'a> {
    /// Expands matrix two-ports: a junction for every input and output, a scalar two-port for
    /// every entry that is not zero.
    pub(super) fn expand_matrices(&mut self) {
        for at in 0..self.tables.things.len() {
            let t = &self.tables.things[at];
            if !is_two_port(t) || t.kind == ElementKind::Rs || t.preset.is_some() {
                continue;
            }
            if t.size <= 1 && t.size_out <= 1 && !t.is_vector {
                continue;
            }
            self.expand_matrix(ThingId(at as u32));
        }
    }

    pub(super) fn expand_matrix(&mut self, thing: ThingId) {
        let (kind, n_in, n_out, span, scope, name) = {
            let t = &self.tables.things[thing.at()];
            (t.kind, t.size, t.size_out, t.span, t.scope, t.name)
        };
        if n_in == 0 || n_out == 0 {
            // One side is open; reported with the elements.
            return;
        }

        let Some((modulus, is_inverse)) = self.modulus(thing) else {
            self.tables.things[thing.at()].is_expanded = true;
            return;
        };
        let modulus = self.as_matrix(modulus, n_in, n_out);

        if modulus.shape.rows_columns() != (n_out, n_in) {
            let what = modulus.describe();
            report!(self, code::SHAPES, span, "the matrix of this {} has the wrong shape", kind.letters();
                "this is {what}; it leads from {n_in} to {n_out} components, so [{n_out},{n_in}] is needed");
            self.tables.things[thing.at()].is_expanded = true;
            return;
        }

        let group = self.add_group(name, Some(kind), n_in.max(n_out), span);
        // Flows add up at a 0-junction, efforts at a 1-junction.
        let (at_input, at_output) = match (kind, is_inverse) {
            (ElementKind::Tf, false) => (ElementKind::One, ElementKind::Zero),
            (ElementKind::Tf, true) => (ElementKind::Zero, ElementKind::One),
            (_, false) => (ElementKind::One, ElementKind::One),
            (_, true) => (ElementKind::Zero, ElementKind::Zero),
        };

        let junction = |this: &mut Self, kind: ElementKind, part: u32| {
            let id = this.add_thing(None, kind, None, scope, span);
            let t = &mut this.tables.things[id.at()];
            (t.group, t.part) = (Some(group), part);
            id
        };
        let inputs: Vec<ThingId> = (0..n_in).map(|k| junction(self, at_input, k)).collect();
        let outputs: Vec<ThingId> = (0..n_out)
            .map(|k| junction(self, at_output, n_in + k))
            .collect();
        self.move_bonds(thing, &inputs, &outputs);

        let mut part = n_in + n_out;
        for (i, &output) in outputs.iter().enumerate() {
            for (j, &input) in inputs.iter().enumerate() {
                let entry = modulus.elements[i * n_in as usize + j];
                let number = self.graph.signals.pool.as_number(entry);
                if number == Some(0.0) {
                    continue;
                }
                let is_plain = kind == ElementKind::Tf && number == Some(1.0);
                let law = match is_inverse {
                    true => Law::InverseGain(entry),
                    false => Law::Gain(entry),
                };
                let law = (!is_plain).then_some(law);
                self.entry_between((input, output), kind, law, (group, part));
                part += 1;
            }
        }
        self.tables.things[thing.at()].is_expanded = true;
    }

    /// One number on a multibond is that number times the unit matrix.
    fn as_matrix(&mut self, modulus: Value, n_in: u32, n_out: u32) -> Value {
        match (modulus.as_scalar(), n_in == n_out) {
            (Some(e), true) if n_in > 1 => {
                let zero = self.pool().number(0.0);
                let n = n_in as usize;
                let elements = (0..n * n)
                    .map(|k| if k % (n + 1) == 0 { e } else { zero })
                    .collect();
                Value {
                    shape: Shape::Matrix(n_in, n_in),
                    elements,
                    ..modulus
                }
            }
            _ => modulus,
        }
    }

    /// Moves the bonds of a two-port to the junctions that take its place.
    fn move_bonds(&mut self, thing: ThingId, inputs: &[ThingId], outputs: &[ThingId]) {
        for (port, bond) in std::mem::take(&mut self.tables.things[thing.at()].bonds) {
            let (side, k) = (port % 2, (port / 2) as usize);
            let new = if side == 0 { inputs[k] } else { outputs[k] };
            self.tables.things[new.at()].bonds.push((0, bond));
            let bond = &mut self.graph.bonds[bond as usize];
            let end = if bond.head.element.0 == thing.0 {
                &mut bond.head
            } else {
                &mut bond.tail
            };
            *end = End {
                element: ElementId(new.0),
                port: 0,
            };
        }
    }

    /// Joins two junctions by one entry of a matrix two-port; without a law by a bond.
    fn entry_between(
        &mut self,
        (input, output): (ThingId, ThingId),
        kind: ElementKind,
        law: Option<Law>,
        (group, part): (crate::graph::GroupId, u32),
    ) {
        let (span, scope) = (
            self.tables.things[input.at()].span,
            self.tables.things[input.at()].scope,
        );

        let domain_of = |this: &Self, thing: ThingId| {
            this.tables.things[thing.at()]
                .bonds
                .first()
                .and_then(|b| this.bond_domain(b.1))
        };
        let (first, second) = (domain_of(self, input), domain_of(self, output));
        let end = |thing, port| Terminal::Thing { thing, port };
        let bond = |this: &mut Self, tail, head, domain| {
            let made = this.make_bond(tail, head, None, span, Some((group, part)), None);
            if let Some(bond) = made {
                this.graph.bonds[bond as usize].domain = domain;
            }
        };

        let Some(law) = law else {
            bond(self, end(input, 0), end(output, 0), first);
            return;
        };

        let two_port = self.add_thing(None, kind, None, scope, span);
        let t = &mut self.tables.things[two_port.at()];
        t.preset = Some(Box::new(law));
        (t.size, t.size_out, t.group, t.part) = (1, 1, Some(group), part);
        bond(self, end(input, 0), end(two_port, 0), first);
        bond(self, end(two_port, 1), end(output, 0), second);
    }

    pub(super) fn modulus(&mut self, thing: ThingId) -> Option<(Value, bool)> {
        loop {
            match self.two_port_modulus(thing) {
                Ok(found) => return Some(found),
                Err(super::lower::Stop::Reported) => return None,
                Err(super::lower::Stop::Blocked(def)) => self.settle(def),
            }
        }
    }

    pub(super) fn make_elements(&mut self) {
        let unset = End {
            element: ElementId(u32::MAX),
            port: 0,
        };
        let mut ends: Vec<[End; 2]> = vec![[unset; 2]; self.graph.bonds.len()];
        self.graph.elements.reserve(self.tables.things.len());
        for at in 0..self.tables.things.len() {
            if !self.tables.things[at].is_expanded {
                self.make_element(ThingId(at as u32), &mut ends);
            }
        }
        // A bond whose element could not be made: errors were reported, or a model is checked alone.
        self.excused.lacks_elements |= ends.iter().flatten().any(|end| end.element.0 == u32::MAX);
        for (bond, [tail, head]) in self.graph.bonds.iter_mut().zip(ends) {
            (bond.tail, bond.head) = (tail, head);
        }
    }

    pub(super) fn make_element(&mut self, thing: ThingId, ends: &mut [[End; 2]]) {
        let first = self.graph.elements.len() as u32;
        self.tables.things[thing.at()].first = first;
        let kind = self.tables.things[thing.at()].kind;
        if kind.is_junction() {
            self.make_junctions(thing, ends);
        } else if is_two_port(&self.tables.things[thing.at()]) {
            self.make_two_port(thing, ends);
        } else {
            self.make_one_ports(thing, ends);
        }
        self.tables.things[thing.at()].n_elements = self.graph.elements.len() as u32 - first;
    }

    pub(super) fn new_element(
        &mut self,
        thing: ThingId,
        component: Option<u32>,
        law: Law,
    ) -> Element {
        let t = &self.tables.things[thing.at()];
        let (name, kind, span, scope) = (t.name, t.kind, t.span, t.scope);
        let part_of = match (t.group, component) {
            (Some(group), Some(k)) => Some((group, k)),
            (Some(group), None) => Some((group, t.part)),
            _ => None,
        };

        let is_unpowered = t
            .written
            .is_some_and(|w| w.flags.iter().any(|f| &*f.text == "unpowered"));
        let size = t.size;
        let name = match (name, component) {
            (Some(path), Some(k)) => {
                Some(self.component_path(path, Shape::Vector(size), k as usize))
            }
            (name, _) => name,
        };

        let instance = self.tables.scopes[scope.at()].instance;
        let (depth, part) = instance.map_or((0, Names::ROOT), |i| {
            let instance = &self.tables.instances[i.at()];
            (instance.depth, instance.path)
        });

        Element {
            name,
            kind,
            ports: Vec::new(),
            states: Vec::new(),
            law,
            is_modulated: false,
            can_vanish: false,
            is_unpowered,
            depth,
            part,
            part_of,
            domain: None,
            origin: self.origin(span),
        }
    }

    /// Puts an element into the graph, with the bonds at its ports.
    pub(super) fn add_element(
        &mut self,
        thing: ThingId,
        mut element: Element,
        ports: impl Iterator<Item = (u32, u32)>,
        ends: &mut [[End; 2]],
    ) {
        let id = ElementId(self.graph.elements.len() as u32);
        element.ports.reserve_exact(ports.size_hint().0);
        for (port, bond) in ports {
            let place = element.ports.len() as u32;
            element.ports.push(BondId(bond));
            let b = &self.graph.bonds[bond as usize];
            let is_tail = b.tail.element.0 == thing.0
                && b.tail.port == port
                && ends[bond as usize][0].element.0 == u32::MAX;
            ends[bond as usize][usize::from(!is_tail)] = End {
                element: id,
                port: place,
            };
        }
        element.domain = element.ports.first().and_then(|b| self.bond_domain(b.0));
        self.mark_modulation(&mut element);
        self.graph.elements.push(element);
    }

    pub(super) fn mark_modulation(&mut self, element: &mut Element) {
        let exprs = element.law.expressions();
        let mut own: Vec<SymbolId> = Vec::new();
        if matches!(element.law, Law::Explicit(_)) {
            own.extend(&element.states);
            for bond in &element.ports {
                let bond = self.graph.bond(*bond);
                own.extend([bond.effort, bond.flow]);
            }
        }
        for e in exprs {
            if self.fixed.constants.value(&self.graph.signals, e).is_some() {
                continue;
            }
            element.is_modulated |= paynter_symbolic::walk::symbols_of(&self.graph.signals.pool, e)
                .into_iter()
                .any(|s| {
                    !own.contains(&s)
                        && !matches!(self.graph.signals.symbol(s).role, Role::Parameter { .. })
                });
        }
        element.can_vanish =
            element.is_modulated && matches!(element.kind, ElementKind::Tf | ElementKind::Gy);
    }

    pub(super) fn make_junctions(&mut self, thing: ThingId, ends: &mut [[End; 2]]) {
        let t = &self.tables.things[thing.at()];
        let (is_vector, size) = (t.is_vector, t.size);
        let bonds = std::mem::take(&mut self.tables.things[thing.at()].bonds);
        if !is_vector {
            let element = self.new_element(thing, None, Law::Junction);
            self.add_element(thing, element, bonds.iter().copied(), ends);
            self.tables.things[thing.at()].bonds = bonds;
            return;
        }
        let mut by_component: Vec<Vec<(u32, u32)>> = vec![Vec::new(); size as usize];
        for &(port, bond) in &bonds {
            by_component[port as usize].push((port, bond));
        }
        self.tables.things[thing.at()].bonds = bonds;
        for (k, bonds) in by_component.into_iter().enumerate() {
            let element = self.new_element(thing, Some(k as u32), Law::Junction);
            self.add_element(thing, element, bonds.into_iter(), ends);
        }
    }

    pub(super) fn make_two_port(&mut self, thing: ThingId, ends: &mut [[End; 2]]) {
        let t = &self.tables.things[thing.at()];
        let (kind, preset) = (t.kind, t.preset.clone());
        let find = |side: u32| t.bonds.iter().find(|(p, _)| p % 2 == side).copied();
        let (Some(entrance), Some(exit)) = (find(0), find(1)) else {
            let (span, name) = (t.span, self.thing_name(thing));
            let which = if find(0).is_none() { "into" } else { "out of" };
            if t.is_excused {
                return;
            }
            report!(self, code::PORT_OPEN, span, "{name} has no bond {which} it";
                "a two-port has one bond in and one bond out");
            return;
        };

        let law = match (preset, kind) {
            (Some(law), _) => Some(*law),
            (None, ElementKind::Rs) => loop {
                match self.heating_law(thing) {
                    Ok(law) => break Some(law),
                    Err(super::lower::Stop::Reported) => break None,
                    Err(super::lower::Stop::Blocked(def)) => self.settle(def),
                }
            },
            _ => {
                let Some((modulus, is_inverse)) = self.modulus(thing) else {
                    return;
                };
                let span = self.tables.things[thing.at()].span;
                let Ok(e) = self.scalar_of(&modulus, span) else {
                    return;
                };
                Some(if is_inverse {
                    Law::InverseGain(e)
                } else {
                    Law::Gain(e)
                })
            }
        };

        let Some(law) = law else { return };
        let element = self.new_element(thing, None, law);
        self.add_element(thing, element, [entrance, exit].into_iter(), ends);
    }

    pub(super) fn make_one_ports(&mut self, thing: ThingId, ends: &mut [[End; 2]]) {
        let t = &self.tables.things[thing.at()];
        let (size, is_vector) = (t.size, t.is_vector);
        let mut bonds: Vec<(u32, u32)> = t.bonds.clone();
        bonds.sort_unstable();
        if bonds.len() < size as usize {
            let (span, kind, name) = (t.span, t.kind, self.thing_name(thing));
            let n = bonds.len();
            if !t.is_excused {
                self.report.add(code::PORT_OPEN, span, || {
                    let text = match (n, is_vector) {
                        (0, _) => "no bond leads to it".to_owned(),
                        _ => format!("{n} of its {size} components are joined"),
                    };
                    Diagnostic::error(code::PORT_OPEN, format!("{name} is not connected"))
                        .primary(span, text)
                        .help(format!(
                            "join it to a junction: `junction -> name: {}(…)`",
                            kind.letters()
                        ))
                });
            }
            // Its values may hold errors of their own.
        }

        let laws = loop {
            match self.one_port_laws(thing) {
                Ok(laws) => break laws,
                Err(super::lower::Stop::Reported) => return,
                Err(super::lower::Stop::Blocked(def)) => self.settle(def),
            }
        };

        if bonds.len() < size as usize {
            return;
        }
        match laws {
            Laws::Field(law) => {
                let mut element = self.new_element(thing, None, law);
                element.states = self.tables.things[thing.at()].states.clone();
                self.tables.things[thing.at()].expansion = Expansion::Field;
                self.add_element(thing, element, bonds.into_iter(), ends);
            }
            Laws::Scalars(list) => {
                for (k, law) in list.into_iter().enumerate() {
                    let component = is_vector.then_some(k as u32);
                    let mut element = self.new_element(thing, component, law);
                    element.states = self.tables.things[thing.at()]
                        .states
                        .get(k)
                        .copied()
                        .into_iter()
                        .collect();
                    self.add_element(thing, element, std::iter::once(bonds[k]), ends);
                }
            }
        }
    }

    pub(super) fn define_quantities(&mut self) {
        let wanted = std::mem::take(&mut self.readings.undefined_of_things);
        for ((thing, what), symbol) in wanted {
            let t = &self.tables.things[thing.at()];
            let elements: Vec<ElementId> =
                (t.first..t.first + t.n_elements).map(ElementId).collect();
            let span = t.span;
            match what {
                EnergyQuantity::Power => {
                    let powers: Vec<ExprId> =
                        elements.iter().map(|&e| self.element_power(e)).collect();
                    self.define_sum(symbol, powers, span);
                }
                EnergyQuantity::Stored => {
                    self.define_readings(symbol, &elements, ReadingKind::Stored, span)
                }
                EnergyQuantity::Energy => {
                    self.define_readings(symbol, &elements, ReadingKind::ElementEnergy, span);
                }
            }
        }

        let wanted = std::mem::take(&mut self.readings.undefined_of_bonds);
        for ((bond, what), symbol) in wanted {
            let named = &self.tables.named_bonds[bond.at()];
            let (bonds, span) = (named.bonds.clone(), named.span);
            match what {
                EnergyQuantity::Power => {
                    let powers: Vec<ExprId> =
                        bonds.iter().map(|&b| self.bond_power(BondId(b))).collect();
                    self.define_sum(symbol, powers, span);
                }
                _ => match bonds.as_slice() {
                    [only] => {
                        let what = ReadingKind::BondEnergy(BondId(*only));
                        self.graph.readings.push(Reading { symbol, what });
                    }
                    many => {
                        let parts = many.iter().map(|&b| ReadingKind::BondEnergy(BondId(b)));
                        let parts: Vec<ReadingKind> = parts.collect();
                        self.define_parts(symbol, parts, span);
                    }
                },
            }
        }
    }

    pub(super) fn define_readings(
        &mut self,
        symbol: SymbolId,
        elements: &[ElementId],
        kind: fn(ElementId) -> ReadingKind,
        span: Span,
    ) {
        match elements {
            [only] => self.graph.readings.push(Reading {
                symbol,
                what: kind(*only),
            }),
            many => {
                let parts = many.iter().map(|&e| kind(e)).collect();
                self.define_parts(symbol, parts, span);
            }
        }
    }

    pub(super) fn define_parts(&mut self, symbol: SymbolId, parts: Vec<ReadingKind>, span: Span) {
        let name = self.graph.signals.symbol(symbol).name;
        let n = parts.len() as u32;
        let mut terms = Vec::new();
        for (k, what) in parts.into_iter().enumerate() {
            let path = self.component_path(name, Shape::Vector(n), k);
            let origin = self.origin(span);
            let part = self.graph.signals.add_symbol(paynter_symbolic::Symbol {
                name: path,
                role: Role::Unknown,
                nominal: 0.0,
                origin,
            });
            self.graph.readings.push(Reading { symbol: part, what });
            terms.push(self.pool().symbol(part));
        }
        self.define_sum(symbol, terms, span);
    }

    pub(super) fn define_sum(&mut self, symbol: SymbolId, terms: Vec<ExprId>, span: Span) {
        let mut right = self.pool().number(0.0);
        for term in terms {
            right = self.pool().add(right, term);
        }
        let left = self.pool().symbol(symbol);
        let origin = self.origin(span);
        let equation = Equation {
            left,
            right,
            solves: Some(symbol),
            origin,
        };
        self.graph.signals.equations.push(equation);
    }

    pub(super) fn bond_power(&mut self, bond: BondId) -> ExprId {
        let b = self.graph.bond(bond);
        let (e, f, domain) = (b.effort, b.flow, b.domain);
        if domain.is_some_and(|d| self.texts.domains.get(d).is_pseudo) {
            return self.pool().symbol(f);
        }
        let e = self.pool().symbol(e);
        let f = self.pool().symbol(f);
        self.pool().mul(e, f)
    }

    /// Power into an element; out of a source.
    pub(super) fn element_power(&mut self, id: ElementId) -> ExprId {
        let element = self.graph.element(id);
        let (kind, ports) = (element.kind, element.ports.clone());
        let is_source = matches!(kind, ElementKind::Se | ElementKind::Sf);
        let mut total = self.pool().number(0.0);
        // Of an RS, what it takes from the first port; all of it leaves by the second as heat.
        let counted = if kind == ElementKind::Rs {
            1
        } else {
            ports.len()
        };
        for (port, &bond) in ports.iter().take(counted).enumerate() {
            let power = self.bond_power(bond);
            let end = End {
                element: id,
                port: port as u32,
            };
            let is_into = self.graph.points_in(bond, end);
            total = match is_into != is_source {
                true => self.pool().add(total, power),
                false => self.pool().sub(total, power),
            };
        }
        total
    }
}
