//! First pass: who is there. Makes parts, things, ports and named values; binds no name yet.
//!
//! In:  the body of the top model, and of every model it uses.
//! Out: the tables of `data`, and lists of what later passes have to do.
//!
//! **Invariant:** the order of lines changes nothing. Within a body, values are declared
//! before ports, ports before things and parts, and these before `for` and `if`, whose
//! ranges and conditions read parameters only.

use paynter_symbolic::PathId;
use paynter_syntax::{Diagnostic, Span, ast};

use super::data::*;
use super::{Elaborator, code};

/// Parts in all: ten times the largest model of the benchmarks, and about as many as fit into memory.
const MAX_PARTS: usize = 1_000_000;

/// Parts inside parts: five-deep models exist, fifty-deep ones contain themselves.
const MAX_DEPTH: u32 = 64;

impl<'a> Elaborator<'a> {
    /// Makes a part and everything in it.
    pub(super) fn instantiate(
        &mut self,
        model: &'a ast::Model,
        file: u32,
        path: PathId,
        parent: Option<InstanceId>,
        given: Vec<Given<'a>>,
        span: Span,
    ) -> Option<InstanceId> {
        // Where a model contains itself twice, every level has twice the parts of the one above: once the first
        // branch was found to have no end, the others are not followed.
        if self.has_endless_parts {
            return None;
        }
        let depth = parent.map_or(0, |p| self.instances[p.at()].depth + 1);
        self.has_endless_parts = depth > MAX_DEPTH || self.instances.len() >= MAX_PARTS;
        if depth > MAX_DEPTH {
            let mut around = parent;
            let mut contains_itself = false;
            while let Some(part) = around {
                let part = &self.instances[part.at()];
                contains_itself |= std::ptr::eq(part.model, model);
                around = part.parent;
            }
            if !contains_itself {
                self.report.add(code::RECURSION, Span::default(), || {
                    Diagnostic::error(
                        code::RECURSION,
                        format!("parts are nested more than {MAX_DEPTH} deep"),
                    )
                    .primary(span, "this part is too deep inside of others")
                    .help("put parts side by side, or into an array")
                });
                return None;
            }
            self.report.add(code::RECURSION, model.name.span, || {
                Diagnostic::error(
                    code::RECURSION,
                    format!("`{}` contains itself without end", model.name.text),
                )
                .primary(
                    model.name.span,
                    format!("parts are nested more than {MAX_DEPTH} deep"),
                )
                .secondary(span, "this part is inside one of its own kind")
            });
            return None;
        }
        if self.instances.len() >= MAX_PARTS {
            self.report.add(code::TOO_LARGE, Span::default(), || {
                Diagnostic::error(
                    code::TOO_LARGE,
                    format!("the model has more than {MAX_PARTS} parts"),
                )
                .primary(span, "one of too many")
                .help("parts inside of parts multiply: use fewer, or smaller arrays")
            });
            return None;
        }
        let lineage = self.lineage(model, file)?;
        let id = InstanceId(self.instances.len() as u32);
        let mut given = given;
        let mut scopes = Vec::with_capacity(lineage.levels.len());
        for level in &lineage.levels {
            let scope = self.add_scope(Scope {
                instance: Some(id),
                file: level.file,
                parent: None,
                variable: None,
            });
            scopes.push(scope);
            for arg in level.extends_args {
                match &arg.name {
                    Some(name) => given.push(Given {
                        name,
                        value: &arg.value,
                        scope,
                    }),
                    None => self.report_unnamed_argument(&arg.value, &level.model.name.text),
                }
            }
        }
        self.instances.push(Instance {
            path,
            model,
            parent,
            lineage: lineage.clone(),
            given,
            used: 0,
            ports: Vec::new(),
            depth,
            span,
        });
        let bodies = || lineage.levels.iter().zip(&scopes).rev();
        for (level, &scope) in bodies() {
            self.collect_values(id, scope, &level.model.body);
        }
        for (level, &scope) in bodies() {
            self.collect_ports(id, scope, &level.model.body);
        }
        for (level, &scope) in bodies() {
            self.collect_things(id, scope, &level.model.body);
        }
        for (level, &scope) in bodies() {
            self.collect_repeated(id, scope, &level.model.body);
        }
        self.check_given(id);
        Some(id)
    }

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
    fn share_name(&mut self, path: PathId, entity: Entity) -> bool {
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

    /// Gives a path to a new entity; false if the path is taken.
    pub(super) fn declare(&mut self, path: PathId, entity: Entity, span: Span) -> bool {
        let taken = self.entity(path);
        if taken == Entity::Nothing {
            self.set_entity(path, entity);
            return true;
        }
        if self.share_name(path, entity) {
            return true;
        }
        let taken = match entity {
            Entity::Def(_) => self.value_entity(path),
            _ => taken,
        };
        let first = self.entity_span(taken).filter(|first| *first != span);
        let is_node = |e| matches!(e, Entity::Thing(_) | Entity::Instance(_));
        let help = match (taken, entity) {
            _ if is_node(taken) && is_node(entity) => {
                "to mean the first one, write its name without the colon and kind"
            }
            (Entity::Def(_), Entity::Def(_)) => {
                "a name has one value; delete one line, or give it another name"
            }
            _ => "ports, bonds, events and what else a model holds share their names: rename one",
        };
        let names = &self.graph.signals.names;
        self.report.add(code::DUPLICATE_NAME, span, || {
            let message = Diagnostic::error(
                code::DUPLICATE_NAME,
                format!("there are two things called `{}`", names.display(path)),
            )
            .primary(span, "made again here");
            match first {
                Some(first) => message.secondary(first, "first made here").help(help),
                None => message.help("inside `for`, a name needs an index: `name[i]`"),
            }
        });
        false
    }

    pub(super) fn child(&mut self, parent: PathId, name: &str, index: Option<i64>) -> PathId {
        self.graph.signals.names.child(parent, name, index)
    }
}
