//! What may be read of things, ports, bonds and the whole model: `.e .f .p .q .power` and so on.
//!
//! In:  a thing and the name after the dot.
//! Out: the symbols of its bonds and states, or a quantity that `finish` will define.
//!
//! **Invariant:** each quantity has one symbol, however often it is read.

use std::ops::Range;

use paynter_symbolic::{Names, PathId, Role, Symbol, SymbolId};
use paynter_syntax::{Span, ast};

use super::data::*;
use super::lower::{Ctx, Lowered, Stop, Target, letter_component};
use super::readings::EnergyQuantity;
use super::value::{Shape, Value};
use super::{Elaborator, Phase, code};
use crate::graph::{DomainId, ElementKind, Memory, ReadingKind, Variable};
use crate::units::Dimension;

/// A kind that remembers this alone: the dimension of what is stored is its.
pub(super) fn holder(memory: Option<Memory>) -> ElementKind {
    match memory {
        Some(Memory::Momentum) => ElementKind::I,
        _ => ElementKind::C,
    }
}

/// Stands for the only member of a port that is not a composite one.
pub(super) const WHOLE_PORT: u32 = u32::MAX;

impl<'a> Elaborator<'a> {
    pub(super) fn thing_field(
        &mut self,
        thing: ThingId,
        component: Option<u32>,
        name: &ast::Ident,
    ) -> Result<Target, Stop> {
        let t = &self.tables.things[thing.at()];
        let (kind, is_vector, size) = (t.kind, t.is_vector, t.size);
        let is_two_port = is_two_port(t);
        if let (Some(k), true, None) = (letter_component(&name.text), is_vector, component) {
            if k < size {
                return Ok(Target::Thing {
                    thing,
                    component: Some(k),
                });
            }
            self.report_component(name.span, size);
            return Err(Stop::Reported);
        }

        let letter = &*name.text;
        match (kind, letter) {
            (ElementKind::One, "f") => self.across(thing, component, Variable::Flow, name.span),
            (ElementKind::Zero, "e") => self.across(thing, component, Variable::Effort, name.span),
            _ if is_two_port => match letter {
                "in" => return Ok(Target::Side { thing, side: 0 }),
                "out" => return Ok(Target::Side { thing, side: 1 }),
                "ratio" if kind != ElementKind::Rs => self.ratio(thing),
                "power" | "energy" if kind == ElementKind::Rs => {
                    let what = if letter == "power" {
                        EnergyQuantity::Power
                    } else {
                        EnergyQuantity::Energy
                    };
                    Ok(self.quantity(thing, what))
                }
                _ => Err(self.not_readable(thing, name)),
            },
            (ElementKind::One | ElementKind::Zero, _) => Err(self.not_readable(thing, name)),
            (_, "e") => self.across(thing, component, Variable::Effort, name.span),
            (_, "f") => self.across(thing, component, Variable::Flow, name.span),
            (_, "power") => Ok(self.quantity(thing, EnergyQuantity::Power)),
            (_, "energy") => Ok(self.quantity(thing, EnergyQuantity::Energy)),
            (ElementKind::Ic, "p" | "q") => self.mixed_state(thing, component, name),
            _ if kind.memory().is_some_and(|m| m.letter() == letter) => {
                Ok(self.states(thing, component))
            }
            (_, "stored") if kind.is_storage() => Ok(self.quantity(thing, EnergyQuantity::Stored)),
            _ => Err(self.not_readable(thing, name)),
        }
        .map(Target::Value)
    }

    fn not_readable(&mut self, thing: ThingId, name: &ast::Ident) -> Stop {
        let t = &self.tables.things[thing.at()];
        let row = t.kind.describe();
        let help = match (t.kind, &*name.text) {
            (ElementKind::One, "e") => {
                "its bonds share the flow `.f`; each has its own effort: read that of an element or of a named bond".to_owned()
            }
            (ElementKind::Zero, "f") => {
                "its bonds share the effort `.e`; each has its own flow: read that of an element or of a named bond".to_owned()
            }
            (ElementKind::One, _) => "its flow `.f` can be read".to_owned(),
            (ElementKind::Zero, _) => "its effort `.e` can be read".to_owned(),
            _ => format!("`{}` can be read", row.readable),
        };
        let what = match t.kind.is_junction() {
            true => format!("a {}-junction", row.letters),
            false => format!("{} {}", row.article, row.letters),
        };
        self.has_no(name, &what, &help)
    }

    /// Says that a thing has no quantity of this name, and which it has.
    fn has_no(&mut self, name: &ast::Ident, what: &str, help: &str) -> Stop {
        let span = name.span;
        let help = match letter_of(&name.text) {
            Some(letter) if help.contains(letter) => format!("what you mean is `{letter}`: {help}"),
            _ => help.to_owned(),
        };
        report!(self, code::NOT_READABLE, span, "{what} has no `.{}`", name.text;
            "cannot be read";
            help: "{help}");
        Stop::Reported
    }

    /// Refuses readings of power while the shape of the model is still being found out.
    fn need_bonds(&mut self, span: Span) -> Result<(), Stop> {
        if self.phase >= Phase::Connected {
            return Ok(());
        }
        report!(self, code::NOT_CONSTANT, span, "the shape of a model cannot depend on its motion";
            "this varies in time";
            help: "sizes, `for` and `if {{ }}` may read parameters only");
        Err(Stop::Reported)
    }

    /// Reads effort or flow of every component, or of one.
    fn across(
        &mut self,
        thing: ThingId,
        component: Option<u32>,
        variable: Variable,
        span: Span,
    ) -> Lowered {
        self.need_bonds(span)?;
        let t = &self.tables.things[thing.at()];
        let (size, is_vector) = (t.size, t.is_vector);
        let range = match component {
            Some(k) => k..k + 1,
            None => 0..size,
        };
        let shape = if is_vector && component.is_none() {
            Shape::Vector(size)
        } else {
            Shape::Scalar
        };
        let ports: Vec<u32> = range.collect();
        self.bond_variables(thing, &ports, shape, variable)
    }

    fn bond_variables(
        &mut self,
        thing: ThingId,
        ports: &[u32],
        shape: Shape,
        variable: Variable,
    ) -> Lowered {
        let mut elements = Vec::with_capacity(ports.len());
        let mut dimensions = Vec::with_capacity(ports.len());
        for &port in ports {
            let Some(bond) = self.bond_to_read(thing, port, variable) else {
                // The missing bond is reported with the elements, as the cause.
                return Err(Stop::Reported);
            };
            elements.push(self.bond_symbol(bond, variable));
            let domain = self.bond_domain(bond);
            dimensions.push(domain.map(|d| self.texts.dimension_in(d, variable, ElementKind::C)));
        }
        let elements = elements
            .into_iter()
            .map(|s| self.pool().symbol(s))
            .collect();
        Ok(Value::array(shape, elements).measured_apart(dimensions))
    }

    /// Chooses the bond whose variable is read. All bonds of a junction share it, so the
    /// choice is by name: the order of lines must not show.
    fn bond_to_read(&mut self, thing: ThingId, port: u32, variable: Variable) -> Option<u32> {
        let t = &self.tables.things[thing.at()];
        let mut own = t
            .bonds
            .iter()
            .filter(|(p, _)| *p == port)
            .map(|(_, bond)| *bond);
        if !t.kind.is_junction() {
            return own.next();
        }
        if let Some(&known) = self.wiring.shared_bonds.get(&(thing, port)) {
            return Some(known);
        }
        let name_of = |bond: u32| {
            let name = self
                .graph
                .signals
                .symbol(self.bond_symbol(bond, variable))
                .name;
            let is_own = self.graph.signals.names.parent(name) == t.name;
            (!is_own, self.graph.signals.names.display(name))
        };
        let chosen = own.min_by_key(|&bond| name_of(bond))?;
        self.wiring.shared_bonds.insert((thing, port), chosen);
        Some(chosen)
    }

    fn bond_symbol(&self, bond: u32, variable: Variable) -> SymbolId {
        let bond = &self.graph.bonds[bond as usize];
        match variable {
            Variable::Effort => bond.effort,
            _ => bond.flow,
        }
    }

    pub(super) fn bond_domain(&self, bond: u32) -> Option<DomainId> {
        self.graph.bonds[bond as usize].domain
    }

    /// Reads p or q of one port of an IC.
    fn mixed_state(
        &mut self,
        thing: ThingId,
        component: Option<u32>,
        name: &ast::Ident,
    ) -> Lowered {
        let t = &self.tables.things[thing.at()];
        let port = component.or((t.size == 1).then_some(0));
        let memory = port.and_then(|k| t.memories.get(k as usize).copied());
        match (port, memory) {
            (Some(_), Some(memory)) if memory.letter() == &*name.text => {
                Ok(self.states(thing, component))
            }
            (Some(k), Some(memory)) => {
                let what = format!("port {} of an IC", k + 1);
                let help = format!("its energy reads `{}[{}]`", memory.letter(), k + 1);
                Err(self.has_no(name, &what, &help))
            }
            _ => {
                let help = format!("name one port: `{}[1]`", name.text);
                Err(self.has_no(name, "an IC as a whole", &help))
            }
        }
    }

    /// Reads q or p.
    fn states(&mut self, thing: ThingId, component: Option<u32>) -> Value {
        let t = &self.tables.things[thing.at()];
        let (symbols, shape) = match component {
            Some(k) => (vec![t.states[k as usize]], Shape::Scalar),
            None if t.is_vector => (t.states.clone(), Shape::Vector(t.size)),
            None => (t.states.clone(), Shape::Scalar),
        };
        let memories = &t.memories;
        let ports = match component {
            Some(k) => k..k + 1,
            None => 0..t.states.len() as u32,
        };
        let dimensions = ports.map(|port| {
            let (_, bond) = t.bonds.iter().find(|(p, _)| *p == port)?;
            let domain = self.bond_domain(*bond)?;
            let kind = holder(memories.get(port as usize).copied());
            Some(self.texts.dimension_in(domain, Variable::Stored, kind))
        });
        let dimensions: Vec<Option<Dimension>> = dimensions.collect();
        let elements = symbols.into_iter().map(|s| self.pool().symbol(s)).collect();
        Value::array(shape, elements).measured_apart(dimensions)
    }

    /// Reads a quantity that is defined when all bonds and laws are known.
    fn quantity(&mut self, thing: ThingId, what: EnergyQuantity) -> Value {
        let key = (thing, what);
        let symbol = match self.readings.of_things.get(&key) {
            Some(&symbol) => symbol,
            None => {
                let t = &self.tables.things[thing.at()];
                let (parent, span) = (t.name.unwrap_or(Names::ROOT), t.span);
                let symbol = self.new_unknown(parent, what.letters(), span);
                self.readings.of_things.insert(key, symbol);
                self.readings.undefined_of_things.push((key, symbol));
                symbol
            }
        };
        let dimension = what.dimension();
        let e = self.pool().symbol(symbol);
        Value::scalar(e).measured(Some(dimension), None)
    }

    pub(super) fn new_unknown(&mut self, parent: PathId, name: &str, span: Span) -> SymbolId {
        let name = self.graph.signals.names.child(parent, name, None);
        let origin = self.origin(span);
        self.graph.signals.add_symbol(Symbol {
            name,
            role: Role::Unknown,
            nominal: 0.0,
            origin,
        })
    }

    pub(super) fn side_field(
        &mut self,
        thing: ThingId,
        side: u32,
        name: &ast::Ident,
    ) -> Result<Target, Stop> {
        let variable = match &*name.text {
            "e" => Variable::Effort,
            "f" => Variable::Flow,
            _ => return Err(self.not_readable(thing, name)),
        };
        self.need_bonds(name.span)?;
        let t = &self.tables.things[thing.at()];
        let n = if side == 0 { t.size } else { t.size_out }.max(1);
        let shape = if t.is_vector {
            Shape::Vector(n)
        } else {
            Shape::Scalar
        };
        let ports: Vec<u32> = (0..n).map(|k| 2 * k + side).collect();
        self.bond_variables(thing, &ports, shape, variable)
            .map(Target::Value)
    }

    /// Reads the modulus of a TF or GY.
    fn ratio(&mut self, thing: ThingId) -> Lowered {
        if let Some(value) = &self.tables.things[thing.at()].ratio {
            return Ok((**value).clone());
        }
        if !self.readings.ratios_started.insert(thing) {
            let span = self.tables.things[thing.at()].span;
            report!(self, code::SIGNAL_CYCLE, span, "a ratio depends on itself"; "its value reads its own ratio");
            return Err(Stop::Reported);
        }
        let result = self.two_port_modulus(thing).map(|(value, _)| value);
        self.readings.ratios_started.remove(&thing);
        let value = result?;
        self.tables.things[thing.at()].ratio = Some(Box::new(value.clone()));
        Ok(value)
    }

    /// Finds what a bound port stands for; none for an open one.
    pub(super) fn follow_port(&mut self, port: PortId) -> Result<Option<Target>, Stop> {
        let (decl, scope) = {
            let p = &self.tables.ports[port.at()];
            (p.decl, p.scope)
        };
        let Some(ast::PortBinding::Node(node)) = &decl.binding else {
            return Ok(None);
        };
        if self.tables.ports[port.at()].is_followed {
            let span = decl.span;
            report!(self, code::RECURSION, span, "port `{}` stands for itself", decl.name.text;
                "comes back to this port");
            return Err(Stop::Reported);
        }
        self.tables.ports[port.at()].is_followed = true;
        let target = self.ref_target(node, Ctx::of_part(scope));
        self.tables.ports[port.at()].is_followed = false;
        target.map(Some)
    }

    pub(super) fn port_field(&mut self, port: PortId, name: &ast::Ident) -> Result<Target, Stop> {
        if let Some(members) = &self.tables.ports[port.at()].members {
            let Some(at) = members.iter().position(|m| m.name.text == name.text) else {
                let names: Vec<String> = members.iter().map(|m| m.name.text.to_string()).collect();
                let span = name.span;
                report!(self, code::UNKNOWN_NAME, span, "the port has no member `{}`", name.text;
                    "unknown member";
                    help: "its members are `{}`", names.join("`, `"));
                return Err(Stop::Reported);
            };
            let what = members[at].what.clone();
            if let MemberKind::Signal(def) = what {
                return self.read_def(def).map(Target::Value);
            }
            // A port that stands for another one has its power there.
            if let Some(Target::Port(other)) = self.follow_port(port)? {
                return self.port_field(other, name);
            }
            return Ok(Target::Member {
                port,
                member: at as u32,
                component: None,
            });
        }

        match self.follow_port(port)? {
            Some(target) => {
                let scope = self.tables.ports[port.at()].scope;
                self.field(target, name, &[], Ctx::of(scope))
            }
            None => self.member_field(port, WHOLE_PORT, None, name),
        }
    }

    /// Gives what a power member of a composite port is bound to.
    pub(super) fn bound_member(
        &mut self,
        port: PortId,
        member: u32,
    ) -> Result<Option<Target>, Stop> {
        let p = &self.tables.ports[port.at()];
        let scope = p.scope;
        let bound = match &p.members {
            Some(members) => match members[member as usize].what {
                MemberKind::Power { bound, .. } => bound,
                MemberKind::Signal(_) => None,
            },
            None => None,
        };
        match bound {
            Some(e) => self.target(e, Ctx::of_part(scope)).map(Some),
            None => Ok(None),
        }
    }

    pub(super) fn member_field(
        &mut self,
        port: PortId,
        member: u32,
        component: Option<u32>,
        name: &ast::Ident,
    ) -> Result<Target, Stop> {
        let scope = self.tables.ports[port.at()].scope;
        if member != WHOLE_PORT
            && let Some(target) = self.bound_member(port, member)?
        {
            let target = match (target, component) {
                (Target::Thing { thing, .. }, Some(k)) => Target::Thing {
                    thing,
                    component: Some(k),
                },
                (target, _) => target,
            };
            return self.field(target, name, &[], Ctx::of(scope));
        }

        let (first, size, is_vector) = self.tables.slots_of(port, member);
        if let (Some(k), None, true) = (letter_component(&name.text), component, is_vector) {
            if k < size {
                return Ok(Target::Member {
                    port,
                    member,
                    component: Some(k),
                });
            }
            self.report_component(name.span, size);
            return Err(Stop::Reported);
        }

        let variable = match &*name.text {
            "e" => Variable::Effort,
            "f" => Variable::Flow,
            _ => {
                return Err(self.has_no(
                    name,
                    "an open port",
                    "its effort `.e` and flow `.f` can be read",
                ));
            }
        };
        self.need_bonds(name.span)?;
        let (slots, shape) = match component {
            Some(k) => (first + k..first + k + 1, Shape::Scalar),
            None if is_vector => (first..first + size, Shape::Vector(size)),
            None => (first..first + size, Shape::Scalar),
        };
        self.bond_values(slots, shape, variable)
    }

    /// Efforts or flows of the bonds at slots of ports.
    fn bond_values(
        &mut self,
        slots: Range<u32>,
        shape: Shape,
        variable: Variable,
    ) -> Result<Target, Stop> {
        let mut elements = Vec::new();
        let mut domain = None;
        for slot in slots {
            let Some(bond) = self.wiring.slots[slot as usize].bond else {
                return Err(Stop::Reported);
            };
            let symbol = self.bond_symbol(bond, variable);
            domain = domain.or(self.bond_domain(bond));
            elements.push(self.pool().symbol(symbol));
        }

        let dimension = domain.map(|d| self.texts.dimension_in(d, variable, ElementKind::C));
        Ok(Target::Value(
            Value::array(shape, elements).measured(dimension, None),
        ))
    }

    pub(super) fn bond_field(&mut self, bond: NamedBondId, name: &ast::Ident) -> Lowered {
        self.need_bonds(name.span)?;
        let bonds = self.tables.named_bonds[bond.at()].bonds.clone();
        if bonds.is_empty() {
            return Err(Stop::Reported);
        }
        let shape = match bonds.len() {
            1 => Shape::Scalar,
            n => Shape::Vector(n as u32),
        };
        let domain = self.bond_domain(bonds[0]);
        let variable = match &*name.text {
            "e" => Variable::Effort,
            "f" => Variable::Flow,
            "power" | "energy" => {
                let what = if &*name.text == "power" {
                    EnergyQuantity::Power
                } else {
                    EnergyQuantity::Energy
                };
                let symbol = match self.readings.of_bonds.get(&(bond, what)) {
                    Some(&symbol) => symbol,
                    None => {
                        let (path, span) = {
                            let b = &self.tables.named_bonds[bond.at()];
                            (b.path, b.span)
                        };
                        let symbol = self.new_unknown(path, what.letters(), span);
                        self.readings.of_bonds.insert((bond, what), symbol);
                        self.readings
                            .undefined_of_bonds
                            .push(((bond, what), symbol));
                        symbol
                    }
                };
                let e = self.pool().symbol(symbol);
                return Ok(Value::scalar(e).measured(Some(what.dimension()), None));
            }
            _ => {
                return Err(self.has_no(name, "a bond", "`.e .f .power .energy` can be read"));
            }
        };

        let symbols: Vec<SymbolId> = bonds
            .iter()
            .map(|&b| self.bond_symbol(b, variable))
            .collect();
        let elements = symbols.into_iter().map(|s| self.pool().symbol(s)).collect();
        let dimension = domain.map(|d| self.texts.dimension_in(d, variable, ElementKind::C));
        Ok(Value::array(shape, elements).measured(dimension, None))
    }

    pub(super) fn system_field(&mut self, name: &ast::Ident) -> Lowered {
        let what = match &*name.text {
            "energy" => ReadingKind::SystemEnergy,
            "supplied" => ReadingKind::SystemSupplied,
            "dissipated" => ReadingKind::SystemDissipated,
            "residual" => ReadingKind::SystemResidual,
            _ => {
                return Err(self.has_no(
                    name,
                    "the system",
                    "`system.energy .supplied .dissipated .residual` can be read",
                ));
            }
        };

        let at = ["energy", "supplied", "dissipated", "residual"]
            .iter()
            .position(|n| *n == &*name.text)
            .expect("matched above");
        let symbol = match self.readings.of_system[at] {
            Some(symbol) => symbol,
            None => {
                let system = self.graph.signals.names.child(Names::ROOT, "system", None);
                let symbol = self.new_unknown(system, &name.text, name.span);
                self.readings.of_system[at] = Some(symbol);
                self.graph
                    .readings
                    .push(crate::graph::Reading { symbol, what });
                symbol
            }
        };

        let e = self.pool().symbol(symbol);
        Ok(Value::scalar(e).measured(Some(Dimension::ENERGY), None))
    }
}

/// Tells whether a thing has an entrance and an exit.
pub(super) fn is_two_port(thing: &Thing<'_>) -> bool {
    match thing.kind {
        ElementKind::Tf | ElementKind::Rs => true,
        ElementKind::Gy => !thing.is_one_port_gyrator(),
        _ => false,
    }
}

/// The letter of a quantity that an engineer calls by the name it has in one domain.
fn letter_of(name: &str) -> Option<&'static str> {
    Some(match name {
        "v" | "V" | "u" | "voltage" | "force" | "F" | "torque" | "T" | "pressure"
        | "temperature" | "effort" => ".e",
        "i" | "current" | "velocity" | "speed" | "w" | "omega" | "Q" | "flow" => ".f",
        "charge" | "displacement" | "angle" | "position" | "x" | "volume" => ".q",
        "momentum" | "flux" => ".p",
        _ => return None,
    })
}
