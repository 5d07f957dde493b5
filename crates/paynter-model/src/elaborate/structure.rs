//! What shapes a model: `for`, `if`, sizes and indices, all from parameters.
//!
//! In:  ranges, conditions and sizes as written.
//! Out: their numbers, now; and the parameters they read, which a sweep may not just change.
//!
//! **Invariant:** a number that shapes the model is finite and fixed.

use paynter_syntax::{Span, ast};

use super::data::*;
use super::lower::{Ctx, Stop};
use super::{Elaborator, code};

/// Repetitions of all `for` together: ten million cells do not fit into memory as a graph.
const MAX_ITERATIONS: u64 = 10_000_000;

/// Components of one vector thing.
const MAX_SIZE: f64 = 100_000.0;

impl<'a> Elaborator<'a> {
    pub(super) fn collect_repeated(
        &mut self,
        id: InstanceId,
        scope: ScopeId,
        body: &'a [ast::Stmt],
    ) {
        for stmt in body {
            match &stmt.kind {
                ast::StmtKind::If {
                    condition,
                    then,
                    otherwise,
                } => match self.truth(condition, Ctx::of(scope)) {
                    Some(true) => self.collect_block(id, scope, then),
                    Some(false) => self.collect_block(id, scope, otherwise),
                    None => self.skipped(id),
                },
                ast::StmtKind::For {
                    variable,
                    range,
                    body,
                } => {
                    let Some(values) = self.range_values(range, scope) else {
                        self.skipped(id);
                        continue;
                    };
                    for value in values {
                        self.budget.iterations += 1;
                        if self.budget.iterations > MAX_ITERATIONS {
                            // The loops around this one end, too, and need not say so.
                            if self.budget.iterations == MAX_ITERATIONS + 1 {
                                self.report_too_many(range.span);
                            }
                            break;
                        }
                        let (instance, file) = {
                            let s = &self.tables.scopes[scope.at()];
                            (s.instance, s.file)
                        };
                        let inner = self.tables.add_scope(Scope {
                            instance,
                            file,
                            parent: Some(scope),
                            variable: Some((&variable.text, value)),
                        });
                        self.collect_block(id, inner, body);
                    }
                }
                _ => {}
            }
        }
    }

    pub(super) fn collect_block(&mut self, id: InstanceId, scope: ScopeId, body: &'a [ast::Stmt]) {
        self.collect_values(id, scope, body);
        self.collect_ports(id, scope, body);
        self.collect_things(id, scope, body);
        self.collect_repeated(id, scope, body);
    }

    /// Remembers that a block was skipped, so that reading its names is not a second error.
    pub(super) fn skipped(&mut self, id: InstanceId) {
        self.excused.incomplete_parts.insert(id);
    }

    pub(super) fn report_too_many(&mut self, span: Span) {
        report!(self, code::TOO_LARGE, span, "this repeats too often";
            "more than {MAX_ITERATIONS} repetitions in all");
    }

    /// Evaluates the values of a `for` range.
    pub(super) fn range_values(&mut self, range: &ast::Range, scope: ScopeId) -> Option<Vec<f64>> {
        let ctx = Ctx::of(scope);
        self.range_values_in(range, ctx)
    }

    pub(super) fn range_values_in(&mut self, range: &ast::Range, ctx: Ctx<'_>) -> Option<Vec<f64>> {
        let Some(to) = &range.to else {
            let list = self.lower_or_report(&range.from, ctx)?;
            let mut values = Vec::new();
            for &e in &list.elements {
                values.push(self.structural(e, range.span)?);
            }
            return Some(values);
        };

        let from = self.number_of(&range.from, ctx)?;
        let to = self.number_of(to, ctx)?;
        let by = match &range.by {
            Some(by) => self.number_of(by, ctx)?,
            None => 1.0,
        };
        if by == 0.0 {
            let span = range.span;
            report!(self, code::BAD_SIZE, span, "a range with steps of zero never ends"; "the step is 0");
            return None;
        }

        // The last value counts although the division is rounded.
        const ROUNDING: f64 = 1e-9;
        let n = ((to - from) / by + ROUNDING).floor();
        if n >= MAX_ITERATIONS as f64 {
            self.report_too_many(range.span);
            return None;
        }
        let n = if n < 0.0 { 0 } else { n as u64 + 1 };

        // `1 .. 2.5` has no value at its end: more likely a slip than a wish to stop at 2.
        let reached = from + (n as f64 - 1.0) * by;
        if n > 0 && (to - reached).abs() > ROUNDING * by.abs() * n as f64 {
            let span = range.span;
            let shown = |x: f64| crate::units::format_number(x);
            report!(self, code::BAD_SIZE, span, "steps of {} from {} do not lead to {}", shown(by), shown(from), shown(to);
                "the last value would be {}", shown(reached);
                help: "end at {}, or write `floor(…)` around the end", shown(reached));
            return None;
        }
        Some((0..n).map(|k| from + k as f64 * by).collect())
    }

    /// Evaluates a size in brackets.
    pub(super) fn size(&mut self, size: &ast::Expr, scope: ScopeId) -> Option<u32> {
        let n = self.number_of(size, Ctx::of(scope))?;
        if n.fract() != 0.0 || !(1.0..=MAX_SIZE).contains(&n) {
            let span = size.span;
            report!(self, code::BAD_SIZE, span, "{n} is not a number of components";
                "a whole number from 1 to {MAX_SIZE} is needed");
            return None;
        }
        Some(n as u32)
    }

    /// Evaluates a whole number, such as an index.
    pub(super) fn whole_number(&mut self, e: &ast::Expr, ctx: Ctx<'_>) -> Option<i64> {
        let n = self.number_of(e, ctx)?;
        // Beyond 2⁵³ not every whole number is a float.
        const LARGEST: f64 = 9_007_199_254_740_992.0;
        if n.fract() != 0.0 || n.abs() > LARGEST {
            let span = e.span;
            report!(self, code::BAD_INDEX, span, "{n} is not a whole number"; "an index is a whole number");
            return None;
        }
        Some(n as i64)
    }

    /// Evaluates a number that shapes the model; the parameters it reads become structural.
    pub(super) fn number_of(&mut self, e: &ast::Expr, ctx: Ctx<'_>) -> Option<f64> {
        if let ast::ExprKind::Number { value, unit: None } = &e.kind {
            return Some(*value);
        }
        let value = self.lower_or_report(e, ctx)?;
        match value.as_scalar() {
            Some(id) => self.structural(id, e.span),
            None => {
                let (span, what) = (e.span, value.describe());
                report!(self, code::WRONG_TYPE, span, "one number is needed here"; "this is {what}");
                None
            }
        }
    }

    /// Evaluates a condition of parameters.
    pub(super) fn truth(&mut self, e: &ast::Expr, ctx: Ctx<'_>) -> Option<bool> {
        let value = self.lower_or_report(e, ctx)?;
        self.need_truth(&value, e).ok()?;
        let id = self.scalar_of(&value, e.span).ok()?;
        self.structural(id, e.span).map(|x| x != 0.0)
    }

    /// Gives the value of an expression that shapes the model.
    pub(super) fn structural(&mut self, e: paynter_symbolic::ExprId, span: Span) -> Option<f64> {
        if let Some(x) = self.graph.signals.pool.as_number(e) {
            return Some(x);
        }
        let Some(x) = self.fixed.constants.value(&self.graph.signals, e) else {
            report!(self, code::NOT_CONSTANT, span, "the shape of a model cannot vary in time";
                "reads something that varies";
                help: "use parameters here, or signals made of parameters only");
            return None;
        };
        self.mark_structural(e);
        if x.is_nan() && self.fixed.has_placeholder {
            return None;
        }
        if !x.is_finite() {
            report!(self, code::NOT_FINITE, span, "the value is {x}"; "not a finite number");
            return None;
        }
        Some(x)
    }

    /// Notes that the value of an expression is built into the model: other values make another one.
    pub(super) fn mark_structural(&mut self, e: paynter_symbolic::ExprId) {
        for s in paynter_symbolic::walk::symbols_of(&self.graph.signals.pool, e) {
            if self.fixed.seen.insert(s) {
                self.fixed.structural.push(s);
            }
        }
    }

    /// Lowers an expression outside of any definition.
    pub(super) fn lower_or_report(
        &mut self,
        e: &ast::Expr,
        ctx: Ctx<'_>,
    ) -> Option<super::value::Value> {
        loop {
            match self.lower(e, ctx) {
                Ok(value) => return Some(value),
                Err(Stop::Reported) => return None,
                Err(Stop::Blocked(def)) => self.settle(def),
            }
        }
    }
}
