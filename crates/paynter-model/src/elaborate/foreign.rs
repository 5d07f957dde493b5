//! Parts that are FMUs, and calls of their functions.
//!
//! In:  a part written `name: Fmu("file.fmu", …)`, and what was read of the file.
//! Out: a part of the model that was written for the FMU; its lines call the FMU.
//!
//! **Invariant:** only texts written for an FMU can call it.

use paynter_symbolic::{ExprId, PathId};
use paynter_syntax::{Diagnostic, Span, ast};
use std::sync::Arc;

use super::data::{InstanceId, ScopeId};
use super::lower::{Ctx, Lowered, Stop};
use super::value::Value;
use super::{Elaborator, code};
use crate::foreign::{PERIOD, WORD, functions};

/// Tells whether a kind is written as an FMU.
fn is_foreign_kind(kind: &ast::Kind) -> bool {
    let is_text = |arg: &ast::Arg| matches!(arg.value.kind, ast::ExprKind::Text(_));
    let args = kind.args.as_deref().unwrap_or(&[]);
    matches!(&kind.head, ast::KindHead::Named(path) if is_word(path))
        && args.first().is_some_and(|a| a.name.is_none() && is_text(a))
}

pub(super) fn is_word(path: &ast::Path) -> bool {
    matches!(path.segments.as_slice(), [only] if &*only.text == WORD)
}

impl<'a> Elaborator<'a> {
    /// Tells whether the first argument of a kind is the file of an FMU.
    pub(super) fn names_file(&self, kind: &ast::Kind, scope: ScopeId) -> bool {
        let file = self.tables.scopes[scope.at()].file;
        let is_fmu = |path: &ast::Path| self.texts.is_foreign(path, file);
        is_foreign_kind(kind) && matches!(&kind.head, ast::KindHead::Named(path) if is_fmu(path))
    }

    /// Makes the part of an FMU.
    pub(super) fn make_foreign(
        &mut self,
        id: InstanceId,
        scope: ScopeId,
        path: PathId,
        span: Span,
        kind: &'a ast::Kind,
    ) {
        let file = self.tables.scopes[scope.at()].file;
        let Some((model, warnings)) = self.foreign_model(kind, file) else {
            self.excused.paths.insert(path);
            return;
        };
        for warning in warnings {
            self.report.add(code::FMU_UNIT, span, || warning.clone());
        }
        self.make_part(id, scope, path, span, kind, (model, file));
    }

    fn foreign_model(
        &mut self,
        kind: &'a ast::Kind,
        file: u32,
    ) -> Option<(&'a ast::Model, &'a [Diagnostic])> {
        let ast::KindHead::Named(word) = &kind.head else {
            return None;
        };
        let known = &self.project.files[file as usize].foreign;
        let found = known.iter().find(|f| f.place.start == word.span.start);
        let Some(found) = found.filter(|_| is_foreign_kind(kind)) else {
            let at = kind.span;
            report!(self, code::FMU_ARGUMENTS, at, "`{WORD}` needs a file";
                "its first argument is not a string in quotes";
                help: "write `{WORD}(\"motor.fmu\")`");
            return None;
        };

        let args = kind.args.as_deref().unwrap_or(&[]);
        let is_period = |a: &ast::Arg| a.name.as_ref().is_some_and(|n| &*n.text == PERIOD);
        let outcome = match args.iter().any(is_period) {
            true => &found.sampled,
            false => &found.exchange,
        };
        match outcome {
            Ok(made) => Some((&made.model, &made.warnings)),
            Err(message) => {
                let message = message.clone();
                self.report.add(message.code, kind.span, || *message);
                None
            }
        }
    }

    /// Tells whether a place lies in a text that was written for an FMU.
    pub(super) fn calls_foreign(&self, span: Span) -> bool {
        let files = self.project.files.iter().flat_map(|f| &f.foreign);
        functions(files, span.file).is_some()
    }

    /// `foreign(function, place, arguments…)`: one output of a function of an FMU.
    pub(super) fn foreign_call(&mut self, args: &[ast::Arg], span: Span, ctx: Ctx<'_>) -> Lowered {
        let mut values: Vec<ExprId> = Vec::with_capacity(args.len());
        for arg in args {
            let value = self.lower(&arg.value, ctx)?;
            self.need_numbers(&value, arg.value.span)?;
            values.extend(value.elements);
        }
        let number = |this: &mut Self, k: usize| {
            let found = values.get(k).and_then(|&e| this.pool().as_number(e));
            found.ok_or(Stop::Reported).map(|x| x as usize)
        };
        let (function, place) = (number(self, 0)?, number(self, 1)?);
        let external = match self.texts.foreign_ids.get(&(span.file, function)) {
            Some(&known) => known,
            None => {
                let files = self.project.files.iter().flat_map(|f| &f.foreign);
                let all = functions(files, span.file).unwrap_or(&[]);
                let one = all.get(function).cloned().ok_or(Stop::Reported)?;
                let id = self.pool().add_external(Arc::clone(&one));
                self.texts.foreign_ids.insert((span.file, function), id);
                id
            }
        };
        let e = self
            .pool()
            .call_external(external, &values[2..], place as u32);
        Ok(Value::scalar(e))
    }
}
