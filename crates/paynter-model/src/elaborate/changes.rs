//! Values given from outside: by `with` of an experiment, or on the command line.
//!
//! In:  the changes an experiment and a request ask for.
//! Out: one value for each path, in the scope it is read in; the declaration takes it when it is made.
//!
//! **Invariant:** a change that no declaration took is reported, at the change.

use paynter_symbolic::Names;
use paynter_syntax::{Diagnostic, Span, ast};

use super::data::*;
use super::{Elaborator, code};
use crate::project::Request;
use crate::suggest::nearest;

/// A value given from outside.
#[derive(Debug)]
pub(super) struct Change<'a> {
    pub(super) value: &'a ast::Expr,
    pub(super) scope: ScopeId,
    pub(super) span: Span,
    pub(super) is_used: bool,
}

impl<'a> Elaborator<'a> {
    /// Collects `with` and `--set`; the latter wins.
    pub(super) fn read_changes(
        &mut self,
        experiment: Option<&'a ast::Experiment>,
        request: &'a Request,
        scope: ScopeId,
    ) {
        if let Some(experiment) = experiment {
            for stmt in experiment.statements() {
                let ast::ExperimentKind::With(list) = &stmt.kind else {
                    continue;
                };
                for assign in list {
                    let mut path = Names::ROOT;
                    for part in &assign.target.parts {
                        let index = match part.index.as_slice() {
                            [] => None,
                            [
                                ast::Expr {
                                    kind: ast::ExprKind::Number { value, .. },
                                    ..
                                },
                            ] => Some(*value as i64),
                            [index, ..] => {
                                let span = index.span;
                                report!(self, code::BAD_OVERRIDE, span, "an index here must be a number";
                                    "not a number");
                                None
                            }
                        };
                        path = self.graph.signals.names.child(path, &part.name.text, index);
                    }
                    let span = assign.target.span;
                    if let Some(first) = self.asked.changes.get(&path) {
                        let first = first.span;
                        let text = self.project.sources.text(span);
                        report!(self, code::DUPLICATE_NAME, span, "the experiment gives `{text}` twice";
                            "given again";
                            beside first => "first here";
                            help: "write one experiment for each value, or a `sweep`");
                    }
                    self.asked.add_change(path, &assign.value, scope, span);
                }
            }
        }

        for change in &request.overrides {
            let mut path = Names::ROOT;
            for (name, index) in &change.path {
                path = self.graph.signals.names.child(path, name, *index);
            }
            self.asked
                .add_change(path, &change.value, scope, change.span);
        }
    }

    pub(super) fn report_unused_changes(&mut self) {
        for path in std::mem::take(&mut self.asked.changes_in_order) {
            let Some(change) = self.asked.changes.get(&path) else {
                continue;
            };
            if change.is_used {
                continue;
            }
            let span = change.span;
            let name = self.graph.signals.names.display(path);
            let is_other = self.tables.entity(path) != Entity::Nothing;
            let defined = self.tables.entity_span(self.tables.entity(path));
            let parent = self.graph.signals.names.parent(path).unwrap_or(Names::ROOT);
            let owner = match (parent == Names::ROOT, self.tables.entity(parent)) {
                (true, _) => Some(InstanceId(0)),
                (false, Entity::Instance(part)) => Some(part),
                _ => None,
            };
            let (last, _) = self.graph.signals.names.last(path);
            let near = owner.and_then(|o| nearest(last, self.tables.names_in(o)));
            // A long list helps nobody.
            const MAX_SHOWN: usize = 12;
            let mut known = owner.map_or(Vec::new(), |o| self.tables.declared_names(o));
            known.truncate(MAX_SHOWN);
            // `r1.R = 5`: the value of an element that the model did not make a parameter.
            let element = match (self.tables.entity(path), self.tables.entity(parent)) {
                (Entity::Thing(thing), _) | (_, Entity::Thing(thing)) => Some(thing),
                _ => None,
            };
            if let Some(thing) = element.filter(|t| self.tables.things[t.at()].written.is_some()) {
                self.report_element_change(thing, span);
                continue;
            }
            self.report.add(code::BAD_OVERRIDE, span, || {
                let message = if is_other {
                    Diagnostic::error(
                        code::BAD_OVERRIDE,
                        format!("`{name}` cannot be changed from outside"),
                    )
                    .primary(span, "not a parameter, input or replaceable part")
                    .secondary(defined.unwrap_or(span), "defined here")
                } else {
                    Diagnostic::error(
                        code::BAD_OVERRIDE,
                        format!("there is no `{name}` to change"),
                    )
                    .primary(span, "unknown name")
                };
                match near {
                    Some(near) if !is_other => message.help(format!("did you mean `{near}`?")),
                    _ if !known.is_empty() => {
                        message.fact(format!("what can be changed: `{}`", known.join("`, `")))
                    }
                    _ => message,
                }
            });
        }
    }

    /// Reports a change of an element's value, and how to make it one that can be changed.
    fn report_element_change(&mut self, thing: ThingId, span: Span) {
        let t = &self.tables.things[thing.at()];
        let names = &self.graph.signals.names;
        let Some(name) = t.name.map(|n| names.last(n).0.to_owned()) else {
            return;
        };
        let (at, letters) = (t.span, t.kind.letters());
        let value = t.written.and_then(|w| w.args.as_ref()?.first());
        let value = value.map(|arg| self.project.sources.text(arg.value.span));
        self.report.add(code::BAD_OVERRIDE, span, || {
            let message = Diagnostic::error(
                code::BAD_OVERRIDE,
                format!("the value of `{name}` cannot be changed from outside"),
            )
            .primary(span, "not a parameter, input or replaceable part")
            .secondary(at, format!("an element {letters}"));
            match value {
                Some(value) => message.help(format!(
                    "make it a parameter, `param {name}_value = {value}` and `{name}: {letters}({name}_value)`, and change that"
                )),
                None => message,
            }
        });
    }
}
