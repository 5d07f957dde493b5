//! Which energy domain each bond belongs to.
//!
//! In:  bonds between things; domains that ports declare; units of element values.
//! Out: the domain of every bond, where anything tells it.
//!
//! **Invariant:** bonds at one junction share a domain; TF, GY and RS lead from one to another.
//! A bond about which nothing is known has none, and then no unit is expected of its elements.

use paynter_syntax::{Diagnostic, Span, ast};

use rustc_hash::FxHashMap;

use super::data::*;
use super::read::is_two_port;
use super::{Elaborator, code};
use crate::graph::{DomainId, ElementKind, Variable};

impl<'a> Elaborator<'a> {
    /// Finds the domain of every bond.
    pub(super) fn infer_domains(&mut self) {
        let mut classes = Classes {
            parent: (0..self.graph.bonds.len() as u32).collect(),
        };
        for thing in &self.tables.things {
            if thing.kind.is_junction() && thing.size == 1 {
                for pair in thing.bonds.windows(2) {
                    classes.union(pair[0].1, pair[1].1);
                }
            } else if thing.kind.is_junction() {
                let mut first: Vec<Option<u32>> = vec![None; thing.size as usize];
                for &(port, bond) in &thing.bonds {
                    match first.get_mut(port as usize) {
                        Some(Some(other)) => classes.union(*other, bond),
                        Some(slot) => *slot = Some(bond),
                        None => {}
                    }
                }
            }
        }
        let mut known: Vec<Option<(DomainId, Span)>> = vec![None; self.graph.bonds.len()];
        self.domains_of_ports(&mut classes, &mut known);
        self.domains_of_elements(&mut classes, &mut known);
        self.domains_from_laws(&mut classes, &mut known);
        if self.domains_of_heat(&mut classes, &mut known) {
            self.domains_from_laws(&mut classes, &mut known);
        }
        self.set_domains(&mut classes, &known);
    }

    fn set_domains(&mut self, classes: &mut Classes, known: &[Option<(DomainId, Span)>]) {
        for bond in 0..self.graph.bonds.len() {
            let class = classes.find(bond as u32) as usize;
            let is_mixed = self.wiring.mixed_classes.contains(&(class as u32));
            self.graph.bonds[bond].domain = known[class].map(|k| k.0).filter(|_| !is_mixed);
        }
    }

    /// Finds domains of bonds about which values say nothing: from laws, and from signals that read bonds whose
    /// domain is known by now. What is known stays; each round makes more known, or is the last.
    fn domains_from_laws(&mut self, classes: &mut Classes, known: &mut [Option<(DomainId, Span)>]) {
        loop {
            self.set_domains(classes, known);
            let mut has_learned = false;
            for at in 0..self.tables.things.len() {
                let t = &self.tables.things[at];
                if t.bonds.len() > 1 && t.kind.is_storage() {
                    let found = self.domain_of_energy(ThingId(at as u32), classes, known);
                    if let Some((class, found)) = found {
                        known[class] = Some(found);
                        has_learned = true;
                    }
                    continue;
                }
                let [(_, bond)] = t.bonds[..] else { continue };
                if t.kind.is_junction() || is_two_port(t) {
                    continue;
                }
                let class = classes.find(bond) as usize;
                if known[class].is_none()
                    && let Some(found) = self.domain_of_law(ThingId(at as u32))
                {
                    known[class] = Some(found);
                    has_learned = true;
                }
            }
            if !has_learned {
                return;
            }
        }
    }

    /// The only domain that makes the energy of a field one of joules, where one of its ports is not known.
    fn domain_of_energy(
        &mut self,
        thing: ThingId,
        classes: &mut Classes,
        known: &[Option<(DomainId, Span)>],
    ) -> Option<(usize, (DomainId, Span))> {
        let t = &self.tables.things[thing.at()];
        let (scope, memories) = (t.scope, t.memories.clone());
        let [law] = t.written?.law.as_ref()?.as_slice() else {
            return None;
        };
        if &*law.target.text != "energy" {
            return None;
        }

        let ports: Vec<(u32, u32)> = t.bonds.clone();
        let class_of: Vec<(usize, usize)> = ports
            .iter()
            .map(|&(port, bond)| (port as usize, classes.find(bond) as usize))
            .collect();
        let mut unknown = class_of.iter().filter(|(_, c)| known[*c].is_none());
        let open = unknown.next()?.1;
        if unknown.any(|(_, c)| *c != open) {
            return None;
        }

        let mut found = None;
        let domains: Vec<DomainId> = self.texts.domains.iter().map(|(id, _)| id).collect();
        for id in domains {
            let mut dimensions = vec![None; memories.len()];
            for &(port, class) in &class_of {
                let domain = known[class].map_or(id, |k| k.0);
                let kind = super::read::holder(memories.get(port).copied());
                dimensions[port] = Some(self.texts.dimension_in(domain, Variable::Stored, kind));
            }
            self.units.guessed_field = Some(dimensions);
            let dimension = self.guess(&law.value, scope, 0).dimension;
            self.units.guessed_field = None;
            if dimension? == crate::units::Dimension::ENERGY && found.is_none() {
                found = Some(id);
            } else if dimension? == crate::units::Dimension::ENERGY {
                return None;
            }
        }
        Some((open, (found?, law.span)))
    }

    /// The only domain in which the value or the law of a one-port has the right units.
    fn domain_of_law(&mut self, thing: ThingId) -> Option<(DomainId, Span)> {
        let t = &self.tables.things[thing.at()];
        let (kind, scope, written) = (t.kind, t.scope, t.written?);
        if let Some(arg) = first_value(written) {
            let dimension = self.guess(&arg.value, scope, 0).dimension?;
            let domain = self
                .texts
                .domain_with(kind, dimension, arg.name.is_some())?;
            return Some((domain, arg.value.span));
        }
        let [law] = written.law.as_ref()?.as_slice() else {
            return None;
        };
        let variable = variable_called(&law.target.text)?;
        let mut found = None;
        let domains: Vec<DomainId> = self.texts.domains.iter().map(|(id, _)| id).collect();
        for id in domains {
            self.units.guessed_law = Some((id, kind));
            let dimension = self.guess(&law.value, scope, 0).dimension;
            self.units.guessed_law = None;
            if dimension? == self.texts.dimension_in(id, variable, kind) {
                if found.is_some() {
                    return None;
                }
                found = Some((id, law.span));
            }
        }
        found
    }

    /// What an RS makes is entropy, unless its neighbours say that it is heat. Tells whether any was found.
    fn domains_of_heat(
        &mut self,
        classes: &mut Classes,
        known: &mut [Option<(DomainId, Span)>],
    ) -> bool {
        let Some(thermal) = self.texts.domains.find("thermal") else {
            return false;
        };
        let mut has_found = false;
        let temperature = self.texts.domains.get(thermal).effort.unit.dimension;
        for at in 0..self.tables.things.len() {
            let t = &self.tables.things[at];
            let second = t.bonds.iter().find(|(port, _)| port % 2 == 1);
            let (true, Some(&(_, bond))) = (t.kind == ElementKind::Rs, second) else {
                continue;
            };
            let span = t.span;
            let class = classes.find(bond) as usize;
            let is_heat = known[class].is_some_and(|(id, _)| {
                let domain = self.texts.domains.get(id);
                domain.is_pseudo && domain.effort.unit.dimension == temperature
            });
            if !is_heat {
                has_found |= known[class].is_none();
                self.note_domain(classes, known, bond, thermal, span);
            }
        }
        has_found
    }

    fn note_domain(
        &mut self,
        classes: &mut Classes,
        known: &mut [Option<(DomainId, Span)>],
        bond: u32,
        domain: DomainId,
        span: Span,
    ) {
        let class = classes.find(bond) as usize;
        match known[class] {
            None => known[class] = Some((domain, span)),
            Some((other, _)) if other == domain => {}
            // One message for each net of bonds is enough.
            Some(_) if !self.wiring.mixed_classes.insert(class as u32) => {}
            Some((other, first)) => {
                let (first_domain, second_domain) = (
                    self.texts.domains.get(other),
                    self.texts.domains.get(domain),
                );
                let (a, b) = (first_domain.name.clone(), second_domain.name.clone());
                let measured = |d: &crate::domains::Domain| {
                    format!(
                        "effort in {}, flow in {}",
                        d.effort.unit.text, d.flow.unit.text
                    )
                };
                let (in_a, in_b) = (measured(first_domain), measured(second_domain));
                report!(self, code::DOMAIN_MISMATCH, span, "a bond joins two domains, {a} and {b}";
                    "this is {b}: {in_b}";
                    beside first => "this is {a}: {in_a}";
                    help: "a TF or GY leads from one domain to another");
            }
        }
    }

    fn domains_of_ports(&mut self, classes: &mut Classes, known: &mut [Option<(DomainId, Span)>]) {
        for at in 0..self.tables.ports.len() {
            let port = PortId(at as u32);
            let p = &self.tables.ports[at];
            let span = p.decl.span;
            if let (None, true, Some(domain)) = (&p.members, p.decl.binding.is_none(), p.domain) {
                for slot in p.first_slot..p.first_slot + p.size.unwrap_or(1) {
                    if let Some(bond) = self.wiring.slots[slot as usize].bond {
                        self.note_domain(classes, known, bond, domain, span);
                    }
                }
                continue;
            }
            let members = power_members(p);
            let is_open = p.decl.binding.is_none();
            for (member, domain, first_slot, size) in members {
                let Some(domain) = domain else { continue };
                if is_open {
                    for slot in first_slot..first_slot + size {
                        if let Some(bond) = self.wiring.slots[slot as usize].bond {
                            self.note_domain(classes, known, bond, domain, span);
                        }
                    }
                    continue;
                }
                let target = match member {
                    super::read::WHOLE_PORT => self.follow_port(port),
                    member => self.bound_member(port, member),
                };
                if let Ok(Some(super::lower::Target::Port(other))) = target
                    && self.tables.ports[other.at()].members.is_none()
                {
                    let other = &self.tables.ports[other.at()];
                    let (found, at) = (other.size.unwrap_or(1), other.decl.span);
                    if found != size {
                        self.report_port_size(span, at, found, size);
                    }
                    continue;
                }
                if let Ok(Some(super::lower::Target::Thing { thing, component })) = target {
                    let bound = BoundPort { domain, size, span };
                    self.domain_of_thing(classes, known, &bound, (thing, component));
                }
            }
        }
    }

    /// Notes the domain of a port at the thing that it stands for.
    fn domain_of_thing(
        &mut self,
        classes: &mut Classes,
        known: &mut [Option<(DomainId, Span)>],
        BoundPort { domain, size, span }: &BoundPort,
        (thing, component): (ThingId, Option<u32>),
    ) {
        if is_two_port(&self.tables.things[thing.at()]) {
            self.report_port_at_two_port(*span, thing);
            return;
        }
        let found = match component {
            Some(_) => 1,
            None => self.tables.things[thing.at()].size,
        };
        if found != *size {
            self.report_port_size(*span, self.tables.things[thing.at()].span, found, *size);
            return;
        }
        let bonds = self.tables.things[thing.at()].bonds.clone();
        // One bond per component is enough: the junction passes it on.
        let mut seen = vec![false; self.tables.things[thing.at()].size as usize];
        for (port, bond) in bonds {
            let is_wanted = component.is_none_or(|k| k == port);
            if is_wanted && !std::mem::replace(&mut seen[port as usize], true) {
                self.note_domain(classes, known, bond, *domain, *span);
            }
        }
    }

    /// A two-port has a bond on either side: a port would not say which is meant.
    fn report_port_at_two_port(&mut self, port: Span, thing: ThingId) {
        let (at, letters) = {
            let thing = &self.tables.things[thing.at()];
            (thing.span, thing.kind.letters())
        };
        self.report.add(code::NOT_A_NODE, port, || {
            let message = format!("a port cannot stand for a {letters}, which has two sides");
            Diagnostic::error(code::NOT_A_NODE, message)
                .primary(port, "which side is not said")
                .secondary(at, "both sides have a bond already, or need one")
                .help(
                    "let the port be open and join it: `port a: electrical` and `a -> TF(2) -> …`",
                )
        });
    }

    fn report_port_size(&mut self, port: Span, thing: Span, found: u32, wanted: u32) {
        self.report.add(code::SIZE_MISMATCH, port, || {
            let components = super::connect::components;
            Diagnostic::error(
                code::SIZE_MISMATCH,
                format!(
                    "a port of {} stands for {}",
                    components(wanted as usize),
                    components(found as usize)
                ),
            )
            .primary(port, components(wanted as usize))
            .secondary(thing, components(found as usize))
            .help(match found {
                1 => "write the port without a size, or give the junction one: `1[3]`".to_owned(),
                n => format!("write the size after the domain: `[{n}]`"),
            })
        });
    }

    fn domains_of_elements(
        &mut self,
        classes: &mut Classes,
        known: &mut [Option<(DomainId, Span)>],
    ) {
        // The same few values are in most elements.
        let mut tried = FxHashMap::default();
        for at in 0..self.tables.things.len() {
            let t = &self.tables.things[at];
            let (kind, scope, written) = (t.kind, t.scope, t.written);
            if kind.is_junction() || is_two_port(t) || t.bonds.is_empty() {
                continue;
            }
            let Some(arg) = written.and_then(first_value) else {
                continue;
            };
            let Some(dimension) = self.guess(&arg.value, scope, 0).dimension else {
                continue;
            };
            let is_inverse = arg.name.is_some();
            let found = *tried
                .entry((kind, dimension, is_inverse))
                .or_insert_with(|| self.texts.domain_with(kind, dimension, is_inverse));
            if let Some(domain) = found {
                let span = arg.value.span;
                for k in 0..self.tables.things[at].bonds.len() {
                    let (_, bond) = self.tables.things[at].bonds[k];
                    self.note_domain(classes, known, bond, domain, span);
                }
            }
        }
    }
}

/// The power members of a port: number, domain, first slot and number of slots of each.
fn power_members(p: &Port<'_>) -> Vec<(u32, Option<DomainId>, u32, u32)> {
    match &p.members {
        None => vec![(
            super::read::WHOLE_PORT,
            p.domain,
            p.first_slot,
            p.size.unwrap_or(1),
        )],
        Some(members) => members
            .iter()
            .enumerate()
            .filter_map(|(k, m)| match m.what {
                MemberKind::Power {
                    domain,
                    first_slot,
                    size,
                    ..
                } => Some((k as u32, domain, first_slot, size)),
                MemberKind::Signal(_) => None,
            })
            .collect(),
    }
}

/// A port that stands for something inside its part.
struct BoundPort {
    domain: DomainId,
    size: u32,
    span: Span,
}

/// The variable that a letter of a law means.
pub(super) fn variable_called(letter: &str) -> Option<Variable> {
    match letter {
        "e" => Some(Variable::Effort),
        "f" => Some(Variable::Flow),
        "q" | "p" => Some(Variable::Stored),
        _ => None,
    }
}

fn first_value(kind: &ast::Kind) -> Option<&ast::Arg> {
    kind.args.as_ref()?.iter().find(|a| match &a.name {
        None => true,
        Some(name) => &*name.text == "inverse",
    })
}

/// Sets of bonds that share a domain.
struct Classes {
    parent: Vec<u32>,
}

impl Classes {
    fn find(&mut self, of: u32) -> u32 {
        let mut root = of;
        while self.parent[root as usize] != root {
            root = self.parent[root as usize];
        }
        let mut at = of;
        while at != root {
            at = std::mem::replace(&mut self.parent[at as usize], root);
        }
        root
    }

    fn union(&mut self, a: u32, b: u32) {
        let (a, b) = (self.find(a), self.find(b));
        self.parent[a.max(b) as usize] = a.min(b);
    }
}
