//! Temperatures with a zero of their own: `degC` and `degF` are points, not differences.
//!
//! In:  an expression as written.
//! Out: whether it is a point on the scale or a difference of two, where the text tells;
//!      messages where one stands for the other.
//!
//! **Invariant:** a kelvin may be either, so nothing is said about it. 20 °C + 5 °C would be
//! 571 K, and a difference shown in °C would be wrong by 273 K: both are refused.

use paynter_syntax::{Diagnostic, ast};

use super::data::*;
use super::{Elaborator, code};

/// What a temperature is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Temperature {
    Unknown,
    /// Counted from a zero of its own.
    Point,
    /// Between two points.
    Difference,
}

/// Names and parts of expressions followed before giving up; unknown is always allowed.
const MAX_FOLLOWED: u32 = 12;

impl<'a> Elaborator<'a> {
    /// Refuses the sum of two points if one is written out: 5 [degC] was meant as a difference.
    pub(super) fn check_sum(&mut self, left: &ast::Expr, right: &ast::Expr, scope: ScopeId) {
        if !self.is_written_point(left) && !self.is_written_point(right) {
            return;
        }
        let both = [left, right].map(|e| self.temperature(e, scope, 0));
        if both != [Temperature::Point; 2] {
            return;
        }
        let (meant, other) = match self.is_written_point(right) {
            true => (right, left),
            false => (left, right),
        };
        let (span, at) = (meant.span, other.span);
        let number = self.project.sources.text(span).split('[').next();
        let number = number.unwrap_or_default().trim();
        let is_fahrenheit = self.project.sources.text(span).contains("degF");
        self.report.add(code::UNIT_MISMATCH, span, || {
            let message = Diagnostic::error(
                code::UNIT_MISMATCH,
                "two temperatures are added, each counted from the zero of its scale",
            )
            .primary(span, "this is a temperature, not a difference")
            .secondary(at, "so is this");
            let unit = if is_fahrenheit { "degR" } else { "K" };
            message.help(format!(
                "a difference is in {unit}: write `{number} [{unit}]`"
            ))
        });
    }

    /// Refuses to show a difference on a scale with a zero of its own.
    pub(super) fn check_shown_difference(
        &mut self,
        unit: &ast::Unit,
        e: &ast::Expr,
        scope: ScopeId,
    ) {
        if self.unit(unit).is_none_or(|u| u.offset == 0.0)
            || self.temperature(e, scope, 0) != Temperature::Difference
        {
            return;
        }
        let text = self.project.sources.text(unit.span);
        let (span, at) = (unit.span, e.span);
        report!(self, code::UNIT_MISMATCH, span, "a difference of temperatures cannot be shown in {text}";
            "this scale has a zero of its own";
            beside at => "this is a difference";
            help: "write `[K]`");
    }

    fn is_written_point(&mut self, e: &ast::Expr) -> bool {
        match &e.kind {
            ast::ExprKind::Number { unit: Some(u), .. }
            | ast::ExprKind::Matrix { unit: Some(u), .. } => {
                self.unit(u).is_some_and(|u| u.offset != 0.0)
            }
            _ => false,
        }
    }

    fn temperature(&mut self, e: &ast::Expr, scope: ScopeId, depth: u32) -> Temperature {
        use Temperature::{Difference, Point, Unknown};
        if depth > MAX_FOLLOWED {
            return Unknown;
        }

        let next = depth + 1;
        match &e.kind {
            ast::ExprKind::Binary { op, left, right }
                if matches!(op, ast::BinaryOp::Add | ast::BinaryOp::Sub) =>
            {
                let a = self.temperature(left, scope, next);
                let b = self.temperature(right, scope, next);
                match (op, a, b) {
                    (ast::BinaryOp::Add, Point, _) | (ast::BinaryOp::Add, _, Point) => Point,
                    (ast::BinaryOp::Sub, Point, Point) => Difference,
                    (ast::BinaryOp::Sub, Point, _) => Point,
                    (_, Difference, _) | (_, _, Difference) => Difference,
                    _ => Unknown,
                }
            }
            ast::ExprKind::If {
                then, otherwise, ..
            } => match self.temperature(then, scope, next) {
                Unknown => self.temperature(otherwise, scope, next),
                known => known,
            },
            ast::ExprKind::Name(_) | ast::ExprKind::Field { .. } => {
                let Some(def) = self.def_named(e, scope) else {
                    return Unknown;
                };
                let d = &self.tables.defs[def.at()];
                let unit = d.unit.or_else(|| d.decl.and_then(|d| d.unit.as_ref()));
                let (value, is_state) = (d.value, d.kind == DefKind::State);
                if let Some(unit) = unit {
                    let is_point = self.unit(unit).is_some_and(|u| u.offset != 0.0);
                    return if is_point { Point } else { Unknown };
                }
                match value {
                    Some((e, scope)) if !is_state => self.temperature(e, scope, next),
                    _ => Unknown,
                }
            }
            _ if self.is_written_point(e) => Point,
            _ => Unknown,
        }
    }

    /// Finds the definition that `x` or `part.x` names, without resolving anything.
    fn def_named(&self, e: &ast::Expr, scope: ScopeId) -> Option<DefId> {
        let mut names = Vec::new();
        let mut at = e;
        loop {
            match &at.kind {
                ast::ExprKind::Name(name) => {
                    names.push(name);
                    break;
                }
                ast::ExprKind::Field { of, name } => {
                    names.push(name);
                    at = of;
                }
                _ => return None,
            }
        }
        let mut root = scope;
        while let Some(parent) = self.tables.scopes[root.at()].parent {
            root = parent;
        }
        let mut path = self.tables.instances[self.tables.scopes[root.at()].instance?.at()].path;
        for name in names.iter().rev() {
            path = self.graph.signals.names.find(path, &name.text, None)?;
        }
        match self.tables.value_entity(path) {
            Entity::Def(def) => Some(def),
            _ => None,
        }
    }
}
