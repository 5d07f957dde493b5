//! First pass, values: parameters, inputs, outputs, signals, and what events and clocks set.
//!
//! In:  the statements of a body that define a name by `=`, and what was given from outside.
//! Out: one definition for each name, not yet lowered; lists of `solve`, `sample` and `when`.
//!
//! **Invariant:** a name is defined once; what is given from outside meets a declaration or a message.

use paynter_symbolic::PathId;
use paynter_syntax::{Diagnostic, Span, ast};

use super::data::*;
use super::lower::Ctx;
use super::pending::{PendingClock, PendingSolve, PendingWhen};
use super::tables::Outer;
use super::{Elaborator, code};
use crate::suggest::nearest;

/// A value as a line of the text makes it.
struct Declared<'a> {
    path: PathId,
    kind: DefKind,
    /// Its declaration, if the line is one.
    decl: Option<&'a ast::Decl>,
    value: Option<(&'a ast::Expr, ScopeId)>,
    span: Span,
}

impl<'a> Declared<'a> {
    /// A value that is defined without a declaration.
    fn named(
        path: PathId,
        kind: DefKind,
        value: Option<(&'a ast::Expr, ScopeId)>,
        span: Span,
    ) -> Self {
        Declared {
            path,
            kind,
            decl: None,
            value,
            span,
        }
    }
}

impl<'a> Elaborator<'a> {
    pub(super) fn collect_values(&mut self, id: InstanceId, scope: ScopeId, body: &'a [ast::Stmt]) {
        use ast::StmtKind as S;
        for stmt in body {
            match &stmt.kind {
                S::Param(decls) => {
                    for decl in decls {
                        self.declare_value(id, scope, decl, DefKind::Param);
                    }
                }
                S::Input(decls) => {
                    for decl in decls {
                        self.declare_value(id, scope, decl, DefKind::Input);
                    }
                }
                S::Output(decls) => {
                    for decl in decls {
                        let def = self.declare_value(id, scope, decl, DefKind::Output);
                        if let (Some(def), None) = (def, self.tables.instances[id.at()].parent) {
                            self.pending.top_outputs.push(def);
                        }
                    }
                }
                S::Define(define) => self.collect_define(id, scope, define),
                S::Outer { name, path } => self.collect_outer(id, scope, name, path),
                _ => self.collect_pending(id, scope, stmt),
            }
        }
    }

    /// Notes what later passes have to do, and declares the values that it defines.
    fn collect_pending(&mut self, id: InstanceId, scope: ScopeId, stmt: &'a ast::Stmt) {
        use ast::StmtKind as S;
        let pending = &mut self.pending;
        match &stmt.kind {
            S::Invariant(demand) => pending.invariants.push((scope, demand)),
            S::Start(list) => {
                let starts = list.iter().map(|a| (scope, a, false));
                pending.starts.extend(starts);
            }
            S::Guess(list) => pending.starts.extend(list.iter().map(|a| (scope, a, true))),
            S::Layout(places) => pending.layouts.extend(places.iter().map(|p| (scope, p))),
            S::Solve {
                unknowns,
                equations,
            } => {
                let mut sought = Vec::new();
                for name in unknowns {
                    let path = self.tables.instances[id.at()].path;
                    let path = self.child(path, &name.text, None);
                    let declared = Declared::named(path, DefKind::Sought, None, name.span);
                    sought.extend(self.define_value(id, scope, declared));
                }
                self.pending.solves.push(PendingSolve {
                    scope,
                    sought,
                    equations,
                    span: stmt.span,
                });
            }
            S::Sample { rate, body } => {
                let mut defs = Vec::new();
                for define in body {
                    defs.extend(self.discrete(id, scope, define));
                }
                self.pending.clocks.push(PendingClock {
                    scope,
                    rate,
                    defs,
                    span: stmt.span,
                });
            }
            S::When {
                name,
                condition,
                actions,
            } => {
                self.collect_when(id, scope, name.as_ref(), condition, actions, stmt.span);
            }
            _ => {}
        }
    }

    fn collect_outer(
        &mut self,
        id: InstanceId,
        scope: ScopeId,
        name: &'a ast::Ident,
        path: &'a ast::Path,
    ) {
        let at = self.tables.instances[id.at()].path;
        let own = self.child(at, &name.text, None);
        let outer = Entity::Outer(self.tables.outers.len() as u32);
        self.tables.outers.push(Outer {
            instance: id,
            name,
            path,
            scope,
        });
        self.declare(own, outer, name.span);
    }

    /// Declares a parameter, input or output, with its value from outside if one is given.
    fn declare_value(
        &mut self,
        id: InstanceId,
        scope: ScopeId,
        decl: &'a ast::Decl,
        kind: DefKind,
    ) -> Option<DefId> {
        let parent = self.tables.instances[id.at()].path;
        let path = self.child(parent, &decl.name.text, None);
        let mut value = decl.value.as_ref().map(|v| (v, scope));
        if kind != DefKind::Output {
            if let Some(given) = self.tables.take_given(id, &decl.name.text) {
                value = Some((given.value, given.scope));
            }
            if let Some(change) = self.asked.changes.get_mut(&path) {
                change.is_used = true;
                value = Some((change.value, change.scope));
            }
        }
        let mut declared = Declared::named(path, kind, value, decl.name.span);
        declared.decl = Some(decl);
        self.define_value(id, scope, declared)
    }

    /// Makes a named value, or completes one that was left open.
    fn define_value(
        &mut self,
        id: InstanceId,
        scope: ScopeId,
        declared: Declared<'a>,
    ) -> Option<DefId> {
        let Declared {
            path,
            kind,
            decl,
            value,
            span,
        } = declared;
        if let Entity::Def(open) = self.tables.value_entity(path) {
            let def = &mut self.tables.defs[open.at()];
            let may_complete = def.value.is_none()
                && (def.kind == DefKind::Output || decl.is_some_and(|_| def.kind == kind))
                || (def.decl.is_none() && kind == DefKind::Output && value.is_none());
            if may_complete && def.instance == Some(id) {
                if def.value.is_none() && value.is_some() {
                    def.value = value;
                }
                match kind {
                    DefKind::State | DefKind::Discrete | DefKind::Sought => def.kind = kind,
                    _ => {}
                }
                if def.decl.is_none() {
                    (def.decl, def.decl_scope) = (decl, scope);
                }
                return Some(open);
            }
        }

        let def = DefId(self.tables.defs.len() as u32);
        if !self.declare(path, Entity::Def(def), span) {
            return None;
        }
        self.tables.defs.push(Def {
            path,
            kind,
            instance: Some(id),
            decl,
            decl_scope: scope,
            value,
            unit: None,
            span,
            progress: Progress::Open,
        });
        Some(def)
    }

    fn collect_define(&mut self, id: InstanceId, scope: ScopeId, define: &'a ast::Define) {
        let [part] = define.target.parts.as_slice() else {
            self.pending.remote_defines.push((scope, define));
            return;
        };
        let kind = if define.is_derivative {
            DefKind::State
        } else {
            DefKind::Signal
        };
        let Some(path) = self.target_path(id, scope, part) else {
            return;
        };
        let value = Some((&define.value, scope));
        let declared = Declared::named(path, kind, value, part.name.span);
        if let Some(def) = self.define_value(id, scope, declared) {
            self.tables.defs[def.at()].unit = define.unit.as_ref();
        }
    }

    fn discrete(
        &mut self,
        id: InstanceId,
        scope: ScopeId,
        define: &'a ast::Define,
    ) -> Option<DefId> {
        let [part] = define.target.parts.as_slice() else {
            self.report_bad_target(
                define.target.span,
                "only a name of this model can be set here",
            );
            return None;
        };

        if define.is_derivative {
            self.report_bad_target(
                define.span,
                "inside `sample` and `when` nothing flows: `der` does not belong here",
            );
            return None;
        }

        let path = self.target_path(id, scope, part)?;
        let value = Some((&define.value, scope));
        let declared = Declared::named(path, DefKind::Discrete, value, part.name.span);
        let def = self.define_value(id, scope, declared)?;
        self.tables.defs[def.at()].unit = define.unit.as_ref();
        Some(def)
    }

    fn report_bad_target(&mut self, span: Span, text: &str) {
        report!(self, code::NOT_SETTABLE, span, "this cannot be defined here"; "{text}");
    }

    /// Gives the path of `x` or `x[i]` in a part.
    fn target_path(
        &mut self,
        id: InstanceId,
        scope: ScopeId,
        part: &'a ast::RefPart,
    ) -> Option<PathId> {
        let parent = self.tables.instances[id.at()].path;
        self.indexed_path(parent, scope, &part.name.text, &part.index)
    }

    /// Gives the path `parent.name`, `parent.name[i]` or `parent.name[i][j]`.
    pub(super) fn indexed_path(
        &mut self,
        parent: PathId,
        scope: ScopeId,
        name: &str,
        index: &[ast::Expr],
    ) -> Option<PathId> {
        match index {
            [] => Some(self.child(parent, name, None)),
            [i] => {
                let i = self.whole_number(i, Ctx::of(scope))?;
                Some(self.child(parent, name, Some(i)))
            }
            [i, j] => {
                let i = self.whole_number(i, Ctx::of(scope))?;
                let j = self.whole_number(j, Ctx::of(scope))?;
                let row = format!("{name}[{i}]");
                Some(self.child(parent, &row, Some(j)))
            }
            [_, _, extra, ..] => {
                let span = extra.span;
                report!(self, code::BAD_INDEX, span, "a name has at most two indices"; "one too many");
                None
            }
        }
    }

    fn collect_when(
        &mut self,
        id: InstanceId,
        scope: ScopeId,
        name: Option<&'a ast::Ident>,
        condition: &'a ast::Expr,
        actions: &'a [ast::Action],
        span: Span,
    ) {
        let parent = self.tables.instances[id.at()].path;
        let path = match name {
            Some(name) => {
                let path = self.child(parent, &name.text, None);
                self.declare(path, Entity::Event(name.span), name.span);
                path
            }
            None => self.child(parent, "when", None),
        };

        let mut defs = Vec::new();
        for action in actions {
            if let ast::Action::Define(define) = action {
                // Two events may set the same discrete value.
                let shared = match define.target.parts.as_slice() {
                    [part] => self.target_path(id, scope, part).and_then(|path| {
                        match self.tables.value_entity(path) {
                            Entity::Def(def) if self.pending.when_defs.contains(&def) => Some(def),
                            _ => None,
                        }
                    }),
                    _ => None,
                };
                let def = match shared {
                    Some(def) => Some(def),
                    None => self.discrete(id, scope, define),
                };
                let Some(def) = def else { continue };
                if defs.iter().any(|(d, _)| *d == def) {
                    let first = self.tables.defs[def.at()].span;
                    self.report_set_twice(&define.target, first);
                    continue;
                }
                self.pending.when_defs.insert(def);
                defs.push((def, &define.value));
            }
        }

        self.pending.whens.push(PendingWhen {
            scope,
            path,
            condition,
            actions,
            defs,
            span,
        });
    }

    /// Reports a second value for one name at one event.
    pub(super) fn report_set_twice(&mut self, target: &ast::Ref, first: Span) {
        let span = target.span;
        let name = self.project.sources.text(span);
        self.report.add(code::DUPLICATE_NAME, span, || {
            let message = Diagnostic::error(
                code::DUPLICATE_NAME,
                format!("one event sets `{name}` twice"),
            )
            .primary(span, "set again");
            let message = match first == span {
                true => message,
                false => message.secondary(first, "first set here"),
            };
            message.help("everything an event does happens at once: give one value, with `if … then … else …` if need be")
        });
    }

    /// Reports arguments that no declaration took.
    pub(super) fn check_given(&mut self, id: InstanceId) {
        let instance = &self.tables.instances[id.at()];
        let n = instance.given.len();
        if n == 0 || n < 64 && instance.used == (1 << n) - 1 {
            return;
        }
        let names = self.tables.declared_names(id);
        let is_used = |at: usize| match n < 64 {
            true => instance.used & (1 << at) != 0,
            false => names
                .iter()
                .any(|name| **name == *instance.given[at].name.text),
        };

        let unused: Vec<Given<'a>> = (0..n)
            .filter(|&at| !is_used(at))
            .map(|at| instance.given[at])
            .collect();
        let (model, path) = (instance.model, instance.path);
        for given in unused {
            let span = given.name.span;
            let own = self.graph.signals.names.find(path, &given.name.text, None);
            let defined = own.and_then(|path| self.tables.entity_span(self.tables.entity(path)));
            self.report.add(code::ARGUMENTS, span, || {
                let message = Diagnostic::error(
                    code::ARGUMENTS,
                    format!(
                        "`{}` has no parameter or input `{}`",
                        model.name.text, given.name.text
                    ),
                )
                .primary(span, "not declared there");
                if let Some(defined) = defined {
                    return message.secondary(defined, "this is not a parameter").help(
                        "only what is declared by `param`, `input` or `replaceable` can be given",
                    );
                }
                match nearest(&given.name.text, names.iter().map(String::as_str)) {
                    Some(near) => message.help(format!("did you mean `{near}`?")),
                    None => message,
                }
            });
        }
    }

    pub(super) fn report_unnamed_argument(&mut self, value: &ast::Expr, model: &str) {
        let span = value.span;
        report!(self, code::ARGUMENTS, span, "an argument of `{model}` has no name";
            "which parameter is this?";
            help: "arguments of a model are named: `Gimbal(Ix = 2 [kg*m^2])`");
    }
}
