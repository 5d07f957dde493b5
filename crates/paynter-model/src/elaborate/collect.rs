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
        if self.excused.has_endless_parts {
            return None;
        }
        let depth = parent.map_or(0, |p| self.tables.instances[p.at()].depth + 1);
        self.excused.has_endless_parts =
            depth > MAX_DEPTH || self.tables.instances.len() >= MAX_PARTS;
        if depth > MAX_DEPTH {
            let mut around = parent;
            let mut contains_itself = false;
            while let Some(part) = around {
                let part = &self.tables.instances[part.at()];
                contains_itself |= std::ptr::eq(part.model, model);
                around = part.parent;
            }
            if !contains_itself {
                self.report.add(code::RECURSION, Span::default(), || {
                    Diagnostic::error(
                        code::RECURSION,
                        format!("parts are nested more than {MAX_DEPTH} deep"),
                    )
                    .primary(span, "this part is too deep inside others")
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
        if self.tables.instances.len() >= MAX_PARTS {
            self.report.add(code::TOO_LARGE, Span::default(), || {
                Diagnostic::error(
                    code::TOO_LARGE,
                    format!("the model has more than {MAX_PARTS} parts"),
                )
                .primary(span, "this one exceeds the limit")
                .help("parts inside parts multiply: use fewer, or smaller arrays")
            });
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
            _ => "everything in a model needs a name of its own (ports, bonds, events, …): rename one",
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
