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
        (model, file): (&'a ast::Model, u32),
        path: PathId,
        parent: Option<InstanceId>,
        given: Vec<Given<'a>>,
        span: Span,
    ) -> Option<InstanceId> {
        let depth = parent.map_or(0, |p| self.tables.instances[p.at()].depth + 1);
        if !self.has_room(model, parent, depth, span) {
            return None;
        }
        let lineage = self.lineage(model, file)?;
        let id = InstanceId(self.tables.instances.len() as u32);

        let mut given = given;
        let mut scopes = Vec::with_capacity(lineage.levels.len());
        for level in &lineage.levels {
            let scope = self.tables.add_scope(Scope {
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

        self.tables.instances.push(Instance {
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

        // Each sort of statement reads those before it, in this model and in those that it extends.
        let sorts = [
            Self::collect_values,
            Self::collect_ports,
            Self::collect_things,
            Self::collect_repeated,
        ];
        for collect in sorts {
            for (level, &scope) in lineage.levels.iter().zip(&scopes).rev() {
                collect(self, id, scope, &level.model.body);
            }
        }
        self.check_given(id);
        Some(id)
    }

    /// Tells whether another part may be made: parts are bounded in number and depth.
    fn has_room(
        &mut self,
        model: &ast::Model,
        parent: Option<InstanceId>,
        depth: u32,
        span: Span,
    ) -> bool {
        // Where a model contains itself twice, every level has twice the parts of the one above: once the first
        // branch was found to have no end, the others are not followed.
        if self.excused.has_endless_parts {
            return false;
        }
        let has_too_many = self.tables.instances.len() >= MAX_PARTS;
        self.excused.has_endless_parts = depth > MAX_DEPTH || has_too_many;

        // These two have no place of their own: one message is enough, wherever the limit is met.
        let nowhere = Span::default();
        if depth > MAX_DEPTH && self.contains_itself(model, parent) {
            report!(self, code::RECURSION, model.name.span, "`{}` contains itself without end", model.name.text;
                "parts are nested more than {MAX_DEPTH} deep";
                beside span => "this part is inside one of its own kind");
        } else if depth > MAX_DEPTH {
            self.report.add(code::RECURSION, nowhere, || {
                let message = format!("parts are nested more than {MAX_DEPTH} deep");
                Diagnostic::error(code::RECURSION, message)
                    .primary(span, "this part is too deep inside others")
                    .help("put parts side by side, or in an array")
            });
        } else if has_too_many {
            self.report.add(code::TOO_LARGE, nowhere, || {
                let message = format!("the model has more than {MAX_PARTS} parts");
                Diagnostic::error(code::TOO_LARGE, message)
                    .primary(span, "this one exceeds the limit")
                    .help("parts inside parts multiply: use fewer, or smaller arrays")
            });
        }
        !self.excused.has_endless_parts
    }

    /// Tells whether one of the parts around is of this model.
    fn contains_itself(&self, model: &ast::Model, parent: Option<InstanceId>) -> bool {
        let parts = std::iter::successors(parent, |p| self.tables.instances[p.at()].parent);
        let mut models = parts.map(|p| self.tables.instances[p.at()].model);
        models.any(|m| std::ptr::eq(m, model))
    }

    /// Gives a path to a new entity; false if the path is taken.
    pub(super) fn declare(&mut self, path: PathId, entity: Entity, span: Span) -> bool {
        let taken = self.tables.entity(path);
        if taken == Entity::Nothing {
            self.tables.set_entity(path, entity);
            return true;
        }
        if self.tables.share_name(path, entity) {
            return true;
        }
        let taken = match entity {
            Entity::Def(_) => self.tables.value_entity(path),
            _ => taken,
        };

        let first = self
            .tables
            .entity_span(taken)
            .filter(|first| *first != span);
        let is_node = |e| matches!(e, Entity::Thing(_) | Entity::Instance(_));
        let help = match (taken, entity) {
            _ if is_node(taken) && is_node(entity) => {
                "to refer to the first one, write its name without the colon and kind"
            }
            (Entity::Def(_), Entity::Def(_)) => {
                "a name has one value; delete one line, or give it another name"
            }
            _ => {
                "everything in a model needs a name of its own (ports, bonds, events, …): rename one"
            }
        };

        let names = &self.graph.signals.names;
        self.report.add(code::DUPLICATE_NAME, span, || {
            let message = Diagnostic::error(
                code::DUPLICATE_NAME,
                format!("there are two things called `{}`", names.display(path)),
            )
            .primary(span, "declared again here");
            match first {
                Some(first) => message.secondary(first, "first declared here").help(help),
                None => message.help("inside `for`, a name needs an index: `name[i]`"),
            }
        });
        false
    }

    pub(super) fn child(&mut self, parent: PathId, name: &str, index: Option<i64>) -> PathId {
        self.graph.signals.names.child(parent, name, index)
    }
}
