//! Who is there: parts, things, ports and named values by id, and the ids by path.
//!
//! In:  filled by the first pass (`collect`, `declare`, `ports`, `things`).
//! Out: read by every later pass; `define` and `connect` complete the rows.
//!
//! **Invariant:** rows are only added, so an id stays valid; a path names at most one entity, beside a
//! value that shares its name.

use paynter_symbolic::PathId;
use paynter_syntax::{Span, ast};
use rustc_hash::FxHashMap;

use super::connect::Endpoint;
use super::data::*;
use super::lower::Stop;
use super::read::WHOLE_PORT;
use super::value::Value;
use crate::graph::ElementKind;

/// A model and those it extends, itself first.
#[derive(Debug)]
pub(super) struct Lineage<'a> {
    pub levels: Vec<Level<'a>>,
}

impl Lineage<'_> {
    /// Tells whether the model is, or extends, `model`.
    pub(super) fn has(&self, model: &ast::Model) -> bool {
        self.levels.iter().any(|l| std::ptr::eq(l.model, model))
    }
}

/// One model of a lineage.
#[derive(Debug)]
pub(super) struct Level<'a> {
    pub model: &'a ast::Model,
    pub file: u32,
    pub extends_args: &'a [ast::Arg],
}

/// `outer name: Model`
#[derive(Debug)]
pub(super) struct Outer<'a> {
    pub instance: InstanceId,
    pub name: &'a ast::Ident,
    pub path: &'a ast::Path,
    pub scope: ScopeId,
}

/// The rows of everything that has a name or a place in the model.
#[derive(Debug, Default)]
pub(super) struct Tables<'a> {
    pub scopes: Vec<Scope<'a>>,
    pub instances: Vec<Instance<'a>>,
    pub defs: Vec<Def<'a>>,
    pub things: Vec<Thing<'a>>,
    pub ports: Vec<Port<'a>>,
    pub outers: Vec<Outer<'a>>,
    pub named_bonds: Vec<NamedBond>,
    /// What each path names, by [`PathId`].
    entity_of: Vec<Entity>,
    /// Values that have the name of an element or part as well.
    namesakes: FxHashMap<PathId, DefId>,
}

impl<'a> Tables<'a> {
    pub(super) fn add_scope(&mut self, scope: Scope<'a>) -> ScopeId {
        self.scopes.push(scope);
        ScopeId((self.scopes.len() - 1) as u32)
    }

    /// Gives the place of a name in the text.
    pub(super) fn entity_span(&self, entity: Entity) -> Option<Span> {
        Some(match entity {
            Entity::Nothing => return None,
            Entity::Def(d) => self.defs[d.at()].span,
            Entity::Thing(t) => self.things[t.at()].span,
            Entity::Instance(i) => self.instances[i.at()].span,
            Entity::Port(p) => self.ports[p.at()].decl.name.span,
            Entity::Bond(b) => self.named_bonds[b.at()].span,
            Entity::Event(span) => span,
            Entity::Outer(o) => self.outers[o as usize].name.span,
        })
    }

    pub(super) fn entity(&self, path: PathId) -> Entity {
        self.entity_of
            .get(path.0 as usize)
            .copied()
            .unwrap_or(Entity::Nothing)
    }

    /// As [`Self::entity`], but the value where a value and a part share a name.
    pub(super) fn value_entity(&self, path: PathId) -> Entity {
        match self.namesakes.get(&path) {
            Some(&value) => Entity::Def(value),
            None => self.entity(path),
        }
    }

    /// Lets a value and an element or part have one name: `ks: C(1/ks)`. Which is meant is never in doubt:
    /// chains and dots mean the part, expressions the value.
    pub(super) fn share_name(&mut self, path: PathId, entity: Entity) -> bool {
        let is_node = |e| matches!(e, Entity::Thing(_) | Entity::Instance(_));
        if self.namesakes.contains_key(&path) {
            return false;
        }
        match (self.entity(path), entity) {
            (Entity::Def(value), part) if is_node(part) => {
                self.namesakes.insert(path, value);
                self.set_entity(path, part);
                true
            }
            (part, Entity::Def(value)) if is_node(part) => {
                self.namesakes.insert(path, value);
                true
            }
            _ => false,
        }
    }

    pub(super) fn set_entity(&mut self, path: PathId, entity: Entity) {
        let at = path.0 as usize;
        if self.entity_of.len() <= at {
            self.entity_of
                .resize((at + 1).max(self.entity_of.len() * 2), Entity::Nothing);
        }
        self.entity_of[at] = entity;
    }

    /// Gives the representative of the net that a composite port belongs to.
    pub(super) fn net_of(&mut self, port: PortId) -> PortId {
        let mut root = port;
        while self.ports[root.at()].net != root {
            root = self.ports[root.at()].net;
        }
        let mut at = port;
        while at != root {
            at = std::mem::replace(&mut self.ports[at.at()].net, root);
        }
        root
    }

    pub(super) fn slot_endpoint(
        &self,
        port: PortId,
        member: u32,
        component: Option<u32>,
    ) -> Endpoint {
        let (first, size, is_vector) = self.slots_of(port, member);
        match component {
            Some(k) => Endpoint::One(Terminal::Slot(first + k)),
            None if is_vector => {
                Endpoint::Many((first..first + size).map(Terminal::Slot).collect())
            }
            None => Endpoint::One(Terminal::Slot(first)),
        }
    }

    /// Finds an argument by name and marks it as used.
    pub(super) fn take_given(&mut self, id: InstanceId, name: &str) -> Option<Given<'a>> {
        let instance = &mut self.instances[id.at()];
        let mut found = None;
        for (at, given) in instance.given.iter().enumerate() {
            if &*given.name.text == name {
                instance.used |= 1 << at.min(63);
                found = found.or(Some(*given));
            }
        }
        found
    }

    /// Lists parameters, inputs and replaceable parts of a part, for messages.
    pub(super) fn declared_names(&self, id: InstanceId) -> Vec<String> {
        let mut names = Vec::new();
        for level in &self.instances[id.at()].lineage.levels {
            for stmt in &level.model.body {
                match &stmt.kind {
                    ast::StmtKind::Param(decls) | ast::StmtKind::Input(decls) => {
                        names.extend(decls.iter().map(|d| d.name.text.to_string()));
                    }
                    ast::StmtKind::Replaceable { name, .. } => names.push(name.text.to_string()),
                    _ => {}
                }
            }
        }
        names
    }

    pub(super) fn def_value(&self, def: DefId) -> Option<Value> {
        match &self.defs[def.at()].progress {
            Progress::Done(value) => Some(value.clone()),
            _ => None,
        }
    }

    pub(super) fn bond_of(&self, thing: ThingId, port: u32) -> Result<u32, Stop> {
        match self.things[thing.at()]
            .bonds
            .iter()
            .find(|(p, _)| *p == port)
        {
            Some(&(_, bond)) => Ok(bond),
            // Reported as an open port.
            None => Err(Stop::Reported),
        }
    }

    /// Tells whether this is `p[k]` or `q[k]` of an IC.
    pub(super) fn is_mixed_state(
        &self,
        thing: ThingId,
        name: &ast::Ident,
        index: &[ast::Expr],
    ) -> bool {
        let t = &self.things[thing.at()];
        t.kind == ElementKind::Ic
            && t.is_vector
            && !index.is_empty()
            && matches!(&*name.text, "p" | "q")
    }

    /// Lists the names that a part declares, for messages.
    pub(super) fn names_in(&self, instance: InstanceId) -> Vec<String> {
        let mut found = Vec::new();
        for level in &self.instances[instance.at()].lineage.levels {
            let mut blocks: Vec<&[ast::Stmt]> = vec![&level.model.body];
            while let Some(body) = blocks.pop() {
                for stmt in body {
                    names_of(stmt, &mut found, &mut blocks);
                }
                // A list this long helps nobody to find a slip of the finger.
                if found.len() > 5_000 {
                    return found;
                }
            }
        }
        found
    }

    /// Tells whether a part declares a name outside any `if` or `for`: it is made in any case, if not yet.
    pub(super) fn always_makes(&self, instance: InstanceId, name: &str) -> bool {
        let lineage = &self.instances[instance.at()].lineage;
        let (mut found, mut blocks) = (Vec::new(), Vec::new());
        for stmt in lineage.levels.iter().flat_map(|l| &l.model.body) {
            names_of(stmt, &mut found, &mut blocks);
        }
        found.iter().any(|n| n == name)
    }

    /// Gives the scalar slots of an open port or member: (first, number, written as a vector).
    pub(super) fn slots_of(&self, port: PortId, member: u32) -> (u32, u32, bool) {
        let p = &self.ports[port.at()];
        match &p.members {
            Some(members) if member != WHOLE_PORT => match members[member as usize].what {
                MemberKind::Power {
                    first_slot,
                    size,
                    is_vector,
                    ..
                } => (first_slot, size, is_vector),
                MemberKind::Signal(_) => (0, 0, false),
            },
            _ => (p.first_slot, p.size.unwrap_or(1), p.size.is_some()),
        }
    }
}

fn names_of<'s>(stmt: &'s ast::Stmt, found: &mut Vec<String>, blocks: &mut Vec<&'s [ast::Stmt]>) {
    let mut add = |ident: &ast::Ident| found.push(ident.text.to_string());
    match &stmt.kind {
        ast::StmtKind::Param(list) | ast::StmtKind::Input(list) | ast::StmtKind::Output(list) => {
            list.iter().for_each(|d| add(&d.name));
        }
        ast::StmtKind::Port(list) => list.iter().for_each(|d| add(&d.name)),
        ast::StmtKind::Outer { name, .. }
        | ast::StmtKind::Replaceable { name, .. }
        | ast::StmtKind::NamedBond { name, .. } => add(name),
        ast::StmtKind::Chain(chain) => {
            for node in chain.groups.iter().flatten() {
                if let ast::NodeKind::Thing { name, .. } = &node.kind {
                    add(name);
                }
            }
        }
        ast::StmtKind::Define(define) => {
            if let [part] = define.target.parts.as_slice() {
                add(&part.name);
            }
        }
        ast::StmtKind::Solve { unknowns, .. } => unknowns.iter().for_each(add),
        ast::StmtKind::Sample { body, .. } => {
            for define in body {
                if let [part] = define.target.parts.as_slice() {
                    add(&part.name);
                }
            }
        }
        ast::StmtKind::For { body, .. } => blocks.push(body),
        ast::StmtKind::If {
            then, otherwise, ..
        } => {
            blocks.push(then);
            blocks.push(otherwise);
        }
        _ => {}
    }
}
