//! Expressions of the text become expressions of the pool, scalar by scalar.
//!
//! In:  a syntax expression and the scope in which its names are looked up.
//! Out: a [`Value`]: numbers in SI with shape, and unit where known.
//!
//! **Invariant:** lowering changes nothing but the pool and the readings (each made once),
//! so it may be given up and begun again: that is how a chain of definitions of any length
//! is resolved without recursion (see `define`).

use paynter_symbolic::{Comparison, ExprId};
use paynter_syntax::{Diagnostic, Span, ast};

use super::data::*;
use super::value::{Shape, Value, ValueKind};
use super::{Elaborator, code};
use crate::units::{Dimension, Unit};
use std::sync::Arc;

/// Why lowering stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stop {
    /// An error that was reported.
    Reported,
    /// This definition must be resolved first; then begin again.
    Blocked(DefId),
}

pub(super) type Lowered = Result<Value, Stop>;

/// Names that shadow the scope: arguments of a function, letters of a law.
#[derive(Debug, Default)]
pub(super) struct Locals<'l> {
    pub names: Vec<(&'l str, Value)>,
    pub parent: Option<&'l Locals<'l>>,
}

impl Locals<'_> {
    pub(super) fn find(&self, name: &str) -> Option<&Value> {
        let mut at = Some(self);
        while let Some(locals) = at {
            if let Some((_, value)) = locals.names.iter().rev().find(|(n, _)| *n == name) {
                return Some(value);
            }
            at = locals.parent;
        }
        None
    }
}

/// A unit that is known: where it comes from, if that can be shown, and the expression that has it.
#[derive(Clone, Copy, Debug)]
pub(super) struct UnitAt {
    pub dimension: Dimension,
    pub from: Option<Span>,
    pub span: Span,
}

impl UnitAt {
    /// A unit as a declaration asks for it.
    pub(super) fn declared(dimension: Dimension, span: Span) -> UnitAt {
        UnitAt {
            dimension,
            from: Some(span),
            span,
        }
    }

    /// A unit that follows from physics; nothing in the text says it.
    pub(super) fn implied(dimension: Dimension, span: Span) -> UnitAt {
        UnitAt {
            dimension,
            from: None,
            span,
        }
    }
}

impl Value {
    /// The unit of this value as found in an expression.
    pub(super) fn unit_at(&self, dimension: Dimension, span: Span) -> UnitAt {
        UnitAt {
            dimension,
            from: self.dimension_from,
            span,
        }
    }
}

/// Where names are looked up.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ctx<'c> {
    pub scope: ScopeId,
    pub locals: Option<&'c Locals<'c>>,
    /// Functions inside functions.
    pub calls: u32,
    /// Where a value and a part have one name, the part is meant: in chains and in front of a dot.
    pub means_part: bool,
}

impl<'c> Ctx<'c> {
    /// The same place, where a name stands for a value.
    pub(super) fn of_value(self) -> Ctx<'c> {
        Ctx {
            means_part: false,
            ..self
        }
    }

    /// The same place, where these names are known as well.
    pub(super) fn with_locals<'l>(self, locals: &'l Locals<'l>) -> Ctx<'l> {
        Ctx {
            scope: self.scope,
            locals: Some(locals),
            calls: self.calls,
            means_part: self.means_part,
        }
    }

    pub(super) fn of(scope: ScopeId) -> Ctx<'static> {
        Ctx {
            scope,
            locals: None,
            calls: 0,
            means_part: false,
        }
    }

    /// Where a name stands for a part rather than for a value.
    pub(super) fn of_part(scope: ScopeId) -> Ctx<'static> {
        Ctx {
            means_part: true,
            ..Ctx::of(scope)
        }
    }
}

/// What a dotted name can mean on the way to a value.
#[derive(Clone, Debug)]
pub(super) enum Target {
    Value(Value),
    Instance(InstanceId),
    Thing {
        thing: ThingId,
        component: Option<u32>,
    },
    /// `.in` or `.out` of a two-port.
    Side {
        thing: ThingId,
        side: u32,
    },
    Port(PortId),
    Member {
        port: PortId,
        member: u32,
        component: Option<u32>,
    },
    Bond(NamedBondId),
    System,
}

/// Terms that one expression may be written out to, with everything it reads: a few seconds of work.
const MAX_WORK: u64 = 20_000_000;

/// Height of an expression with the functions in it. The parser bounds what is written.
const MAX_HEIGHT: u32 = 4_000;

impl<'a> Elaborator<'a> {
    /// Lowers an expression.
    pub(super) fn lower(&mut self, e: &ast::Expr, ctx: Ctx<'_>) -> Lowered {
        if self.budget.height == 0 {
            (self.budget.work, self.budget.work_at) = (0, e.span);
        }
        self.spend(1)?;
        self.budget.height += 1;
        let result = if self.budget.height > MAX_HEIGHT {
            let span = e.span;
            report!(self, code::TOO_DEEP, span, "this expression is too deep";
                "functions call functions too many times here");
            Err(Stop::Reported)
        } else {
            self.lower_here(e, ctx)
        };
        self.budget.height -= 1;
        result
    }

    /// Counts steps of the present expression; stops where functions that call functions, sums or
    /// large matrices would never come to an end.
    pub(super) fn spend(&mut self, n_steps: u64) -> Result<(), Stop> {
        self.budget.work = self.budget.work.saturating_add(n_steps);
        if self.budget.work <= MAX_WORK {
            return Ok(());
        }
        let span = self.budget.work_at;
        report!(self, code::TOO_LARGE, span, "this expression is too large";
            "more than {MAX_WORK} terms";
            help: "sums, functions and products of matrices are written out term by term: make them smaller");
        Err(Stop::Reported)
    }

    fn lower_here(&mut self, e: &ast::Expr, ctx: Ctx<'_>) -> Lowered {
        match &e.kind {
            ast::ExprKind::Number { value, unit } => {
                self.number(*value, unit.as_ref(), e.span, ctx)
            }
            ast::ExprKind::Bool(b) => Ok(Value::truth(self.pool().number(f64::from(u8::from(*b))))),
            ast::ExprKind::Text(text) => Ok(Value::text(text)),
            ast::ExprKind::Matrix { rows, unit } => self.matrix(rows, unit.as_ref(), e.span, ctx),
            ast::ExprKind::Name(_) | ast::ExprKind::Field { .. } | ast::ExprKind::Index { .. } => {
                let target = self.target(e, ctx)?;
                self.value_of(target, e.span)
            }
            ast::ExprKind::Call { function, args } => self.call(function, args, e.span, ctx),
            ast::ExprKind::Comprehension {
                function,
                body,
                variable,
                range,
            } => self.comprehension(function, body, variable, range, ctx),
            ast::ExprKind::Unary { op, of } => self.unary(*op, of, ctx),
            ast::ExprKind::Transpose(of) => {
                let value = self.lower(of, ctx)?;
                self.need_numbers(&value, of.span)?;
                Ok(transpose(&value))
            }
            ast::ExprKind::Binary { op, left, right } => self.binary(*op, left, right, e.span, ctx),
            ast::ExprKind::If {
                condition,
                then,
                otherwise,
            } => {
                let test = self.lower(condition, ctx)?;
                self.need_truth(&test, condition)?;
                let test = self.scalar_of(&test, condition.span)?;
                let yes = self.lower(then, ctx)?;
                let no = self.lower(otherwise, ctx)?;
                self.need_same_shape(&yes, &no, then.span, otherwise.span)?;
                let (dimension, from) = self.agree(&yes, &no, then.span, otherwise.span);
                let elements = (0..yes.elements.len())
                    .map(|k| self.pool().if_else(test, yes.elements[k], no.elements[k]))
                    .collect();
                Ok(Value {
                    shape: yes.shape,
                    elements,
                    dimension,
                    dimension_from: from,
                    apart: None,
                    kind: yes.kind,
                })
            }
        }
    }

    pub(super) fn pool(&mut self) -> &mut paynter_symbolic::Pool {
        &mut self.graph.signals.pool
    }

    // -------------------------------------------------------------------------------
    // Literals
    // -------------------------------------------------------------------------------

    /// Gives the unit after a literal or name; an unknown one is reported once.
    pub(super) fn unit(&mut self, unit: &ast::Unit) -> Option<Arc<Unit>> {
        // A large file writes the same few units again and again.
        let written = self.project.sources.text(unit.span);
        let is_text = written.starts_with('[');
        if is_text && let Some(known) = self.units.parsed.get(written) {
            return Some(known.clone());
        }
        match Unit::parse(unit) {
            Ok(parsed) => {
                let parsed = Arc::new(parsed);
                if is_text {
                    self.units.parsed.insert(written, parsed.clone());
                }
                Some(parsed)
            }
            Err(error) => {
                if self.told.units.insert(unit.span) {
                    self.report.push(error.to_diagnostic());
                }
                None
            }
        }
    }

    fn is_strict(&self, ctx: Ctx<'_>) -> bool {
        self.texts.files[self.tables.scopes[ctx.scope.at()].file as usize].is_strict
    }

    fn number(
        &mut self,
        value: f64,
        unit: Option<&ast::Unit>,
        span: Span,
        ctx: Ctx<'_>,
    ) -> Lowered {
        let Some(unit) = unit else {
            let is_plain = value != 0.0 && self.is_strict(ctx);
            let e = self.pool().number(value);
            return Ok(Value::scalar(e).measured(is_plain.then_some(Dimension::ONE), Some(span)));
        };
        let unit_span = unit.span;
        let (value, dimension) = match self.unit(unit) {
            Some(unit) => (unit.to_si(value), Some(unit.dimension)),
            None => (value, None),
        };
        let e = self.pool().number(value);
        Ok(Value::scalar(e).measured(dimension, Some(unit_span)))
    }

    fn matrix(
        &mut self,
        rows: &[Vec<ast::Expr>],
        unit: Option<&ast::Unit>,
        span: Span,
        ctx: Ctx<'_>,
    ) -> Lowered {
        let unit_span = unit.map(|u| u.span);
        let unit = unit.and_then(|u| self.unit(u));
        let columns = rows.first().map_or(0, Vec::len);
        let mut elements = Vec::new();
        let mut shared: Option<Value> = None;
        let mut is_mixed = false;

        // A column of vectors or matrices is stacked; most matrices hold numbers.
        for row in rows {
            if row.len() != columns {
                report!(self, code::SHAPES, span, "the rows of a matrix have different lengths";
                    "the first row has {columns} entries");
                return Err(Stop::Reported);
            }
            for entry in row {
                let value = self.matrix_entry(entry, unit.as_ref(), ctx)?;
                let Some(e) = value.as_scalar() else {
                    let what = value.describe();
                    report!(self, code::SHAPES, entry.span, "an entry of a matrix must be one number";
                        "this is {what}");
                    return Err(Stop::Reported);
                };
                elements.push(e);
                match (&shared, value.dimension) {
                    // A bare number may have any unit: `[1, a; 1, -b]` takes a speed and a turn to two speeds.
                    (_, None) => is_mixed |= self.pool().as_number(e) != Some(0.0),
                    (None, Some(_)) => shared = Some(value),
                    // Entries may differ, as in a state matrix: then the whole has no unit.
                    (Some(first), Some(d)) if first.dimension != Some(d) => is_mixed = true,
                    _ => {}
                }
            }
        }

        let n = elements.len() as u32;
        let shape = match rows.len() {
            0 | 1 => Shape::Vector(n),
            rows => Shape::Matrix(rows as u32, columns as u32),
        };

        if n == 0 {
            report!(self, code::SHAPES, span, "a matrix without entries"; "empty");
            return Err(Stop::Reported);
        }
        let value = Value::array(shape, elements);
        Ok(match unit {
            Some(unit) => value.measured(Some(unit.dimension), unit_span),
            None if is_mixed => value,
            None => match shared {
                Some(first) => value.measured(first.dimension, first.dimension_from),
                None => value,
            },
        })
    }

    /// An entry of a matrix: bare numbers inside take the unit after the bracket.
    fn matrix_entry(
        &mut self,
        entry: &ast::Expr,
        unit: Option<&Arc<Unit>>,
        ctx: Ctx<'_>,
    ) -> Lowered {
        match (&entry.kind, unit) {
            (ast::ExprKind::Number { value, unit: None }, Some(unit)) => {
                let e = unit.to_si(*value);
                Ok(Value::scalar(self.pool().number(e)))
            }
            (
                ast::ExprKind::Unary {
                    op: ast::UnaryOp::Neg,
                    of,
                },
                Some(unit),
            ) => match &of.kind {
                ast::ExprKind::Number { value, unit: None } => {
                    let e = unit.to_si(-*value);
                    Ok(Value::scalar(self.pool().number(e)))
                }
                _ => self.lower_entry(entry, ctx, Some(unit)),
            },
            (_, unit) => self.lower_entry(entry, ctx, unit),
        }
    }

    /// An entry in front of a unit must be a number without one.
    fn lower_entry(
        &mut self,
        entry: &ast::Expr,
        ctx: Ctx<'_>,
        unit: Option<&Arc<Unit>>,
    ) -> Lowered {
        let value = self.lower(entry, ctx)?;
        let Some(unit) = unit else { return Ok(value) };
        if value.dimension.is_some_and(|d| !d.is_one()) {
            let text = unit.text.clone();
            report!(self, code::UNIT_MISMATCH, entry.span, "an entry has a unit of its own";
                "the whole matrix is already in {text}");
            return Err(Stop::Reported);
        }

        let (factor, offset) = (unit.factor, unit.offset);
        let elements = value
            .elements
            .iter()
            .map(|&e| {
                let factor = self.pool().number(factor);
                let scaled = self.pool().mul(e, factor);
                let offset = self.pool().number(offset);
                self.pool().add(scaled, offset)
            })
            .collect();

        Ok(Value {
            elements,
            dimension: None,
            dimension_from: None,
            apart: None,
            ..value
        })
    }

    // -------------------------------------------------------------------------------
    // Operators
    // -------------------------------------------------------------------------------

    pub(super) fn need_numbers(&mut self, value: &Value, span: Span) -> Result<(), Stop> {
        if value.is_numeric() {
            return Ok(());
        }
        let what = value.describe();
        report!(self, code::WRONG_TYPE, span, "a number is needed here"; "this is {what}");
        Err(Stop::Reported)
    }

    /// Refuses what cannot be meant as true or false. A name may be a condition, since an input
    /// or a parameter gets its value elsewhere; a calculation may not.
    pub(super) fn need_truth(&mut self, value: &Value, e: &ast::Expr) -> Result<(), Stop> {
        let may_be_meant = match &e.kind {
            ast::ExprKind::Name(_)
            | ast::ExprKind::Field { .. }
            | ast::ExprKind::Index { .. }
            | ast::ExprKind::Call { .. } => value.dimension.is_none_or(Dimension::is_one),
            ast::ExprKind::Number { value, unit: None } => *value == 0.0 || *value == 1.0,
            _ => false,
        };
        if value.kind == ValueKind::Truth || value.kind == ValueKind::Number && may_be_meant {
            return Ok(());
        }
        let (span, what) = (e.span, value.describe());
        report!(self, code::WRONG_TYPE, span, "a condition is needed here";
            "this is {what}";
            help: "compare it: `x > limit`, or `n != 0`");
        Err(Stop::Reported)
    }

    /// Refuses to calculate with conditions.
    fn need_amount(&mut self, value: &Value, e: &ast::Expr, is_compared: bool) -> Result<(), Stop> {
        if value.kind != ValueKind::Truth {
            return Ok(());
        }
        let span = e.span;
        let help = match is_compared {
            true => "a value between two others is written `a < x and x < b`",
            false => "to calculate with it, write `if … then 1 else 0`",
        };
        report!(self, code::WRONG_TYPE, span, "a number is needed here";
            "this is a condition, true or false";
            help: "{help}");
        Err(Stop::Reported)
    }

    pub(super) fn lower_scalar(&mut self, e: &ast::Expr, ctx: Ctx<'_>) -> Result<ExprId, Stop> {
        let value = self.lower(e, ctx)?;
        self.scalar_of(&value, e.span)
    }

    pub(super) fn scalar_of(&mut self, value: &Value, span: Span) -> Result<ExprId, Stop> {
        self.need_numbers(value, span)?;
        match value.as_scalar() {
            Some(e) => Ok(e),
            None => {
                let what = value.describe();
                report!(self, code::SHAPES, span, "one number is needed here"; "this is {what}");
                Err(Stop::Reported)
            }
        }
    }

    pub(super) fn need_same_shape(
        &mut self,
        a: &Value,
        b: &Value,
        a_span: Span,
        b_span: Span,
    ) -> Result<(), Stop> {
        self.need_numbers(a, a_span)?;
        self.need_numbers(b, b_span)?;
        if a.shape == b.shape || a.shape.rows_columns() == b.shape.rows_columns() {
            return Ok(());
        }
        let (left, right) = (a.describe(), b.describe());
        report!(self, code::SHAPES, b_span, "shapes do not agree";
            "this is {right}";
            beside a_span => "this is {left}");
        Err(Stop::Reported)
    }

    /// Finds the unit that two values share; two known ones that differ are an error, and the
    /// unit is unknown from there on.
    pub(super) fn agree(
        &mut self,
        a: &Value,
        b: &Value,
        a_span: Span,
        b_span: Span,
    ) -> (Option<Dimension>, Option<Span>) {
        match (a.dimension, b.dimension) {
            (Some(x), Some(y)) if x != y => {
                self.report_units(a.unit_at(x, a_span), b.unit_at(y, b_span));
                (None, None)
            }
            (Some(x), Some(_)) if x.is_one() => {
                self.ask_for_angle(a, b_span);
                self.ask_for_angle(b, a_span);
                (Some(x), a.dimension_from.or(b.dimension_from))
            }
            (Some(x), _) => {
                self.ask_for_angle(b, a_span);
                (Some(x), a.dimension_from.or(b.dimension_from))
            }
            (None, y) => {
                if y.is_some() {
                    self.ask_for_angle(a, b_span);
                }
                (y, b.dimension_from)
            }
        }
    }

    fn is_bare(&self, from: Option<Span>) -> bool {
        from.is_some_and(|span| {
            self.project
                .sources
                .text(span)
                .trim()
                .parse::<f64>()
                .is_ok()
        })
    }

    /// Reports two units that meet and differ.
    pub(super) fn report_units(&mut self, x: UnitAt, y: UnitAt) {
        for (bare, other) in [(y, x), (x, y)] {
            if bare.dimension.is_one()
                && let Some(at) = bare.from
                && self.is_bare(bare.from)
            {
                let text = self.project.sources.text(at).trim().to_owned();
                let unit = unit_to_write(other.dimension);
                self.report.add(code::BARE_NUMBER, at, || {
                    let message = Diagnostic::error(
                        code::BARE_NUMBER,
                        format!(
                            "a number without a unit where {} is expected",
                            other.dimension.describe()
                        ),
                    )
                    .primary(at, "no unit")
                    .help(format!("write `{text} [{unit}]`"));
                    match other.from {
                        Some(other_from) => message.secondary(other_from, "this has a unit"),
                        None => message,
                    }
                });
                return;
            }
        }

        let is_known = [x, y].map(|unit| self.told.is_blamed(unit.from, unit.span));
        if is_known.contains(&true) {
            self.report.is_silent = true;
            return;
        }

        self.report.add(code::UNIT_MISMATCH, y.span, || {
            let (named_x, named_y) = (named(x.dimension), named(y.dimension));
            let headline = format!("units do not agree: {named_x} and {named_y}");
            let mut message = Diagnostic::error(code::UNIT_MISMATCH, headline)
                .primary(y.span, in_words(y.dimension));
            if x.span != y.span {
                message = message.secondary(x.span, in_words(x.dimension));
            }
            for (unit, name) in [(x, named_x), (y, named_y)] {
                if let Some(from) = unit.from
                    && from != unit.span
                    && !covers(unit.span, from)
                {
                    message = message.secondary(from, format!("{name} comes from here"));
                }
            }
            message
        });
    }

    fn unary(&mut self, op: ast::UnaryOp, of: &ast::Expr, ctx: Ctx<'_>) -> Lowered {
        let value = self.lower(of, ctx)?;
        self.need_numbers(&value, of.span)?;
        match op {
            ast::UnaryOp::Not => self.need_truth(&value, of)?,
            ast::UnaryOp::Plus | ast::UnaryOp::Neg => self.need_amount(&value, of, false)?,
        }
        match op {
            ast::UnaryOp::Plus => Ok(value),
            ast::UnaryOp::Neg => {
                let elements = value.elements.iter().map(|&e| self.pool().neg(e)).collect();
                Ok(Value { elements, ..value })
            }
            ast::UnaryOp::Not => {
                let e = self.scalar_of(&value, of.span)?;
                Ok(Value::truth(self.pool().not(e)))
            }
        }
    }

    fn binary(
        &mut self,
        op: ast::BinaryOp,
        left: &ast::Expr,
        right: &ast::Expr,
        span: Span,
        ctx: Ctx<'_>,
    ) -> Lowered {
        use ast::BinaryOp as Op;
        let a = self.lower(left, ctx)?;
        let b = self.lower(right, ctx)?;
        self.need_numbers(&a, left.span)?;
        self.need_numbers(&b, right.span)?;
        for (value, side) in [(&a, left), (&b, right)] {
            self.need_operand(op, value, side)?;
        }

        match op {
            Op::Add | Op::Sub => {
                self.need_same_shape(&a, &b, left.span, right.span)?;
                let (dimension, from) = self.agree(&a, &b, left.span, right.span);
                if op == Op::Add && dimension == Some(Dimension::TEMPERATURE) {
                    self.check_sum(left, right, ctx.scope);
                }
                let pool = self.pool();
                let pairs = a.elements.iter().zip(&b.elements);
                let elements = pairs.map(|(&x, &y)| match op {
                    Op::Add => pool.add(x, y),
                    _ => pool.sub(x, y),
                });
                Ok(Value::array(a.shape, elements.collect()).measured(dimension, from))
            }
            Op::Mul => self.product(&a, &b, left.span, right.span),
            Op::Div => {
                let by = self.scalar_of(&b, right.span)?;
                let elements = a.elements.iter().map(|&e| self.pool().div(e, by)).collect();
                let dimension = match (a.dimension, b.dimension) {
                    (Some(x), Some(y)) => Some(x.per(y)),
                    // 1/x is the inverse of x; any other bare number may hide a unit.
                    (None, Some(y)) if is_literal_one(left) => Some(y.pow(-1, 1)),
                    _ => None,
                };
                Ok(Value::array(a.shape, elements).measured(dimension, Some(span)))
            }
            Op::Pow => self.power(&a, &b, left.span, right.span),
            Op::Lt | Op::Le | Op::Gt | Op::Ge | Op::Eq | Op::Ne => {
                let x = self.scalar_of(&a, left.span)?;
                let y = self.scalar_of(&b, right.span)?;
                self.agree(&a, &b, left.span, right.span);
                Ok(Value::truth(self.pool().compare(comparison_of(op), x, y)))
            }
            Op::And | Op::Or => {
                let x = self.scalar_of(&a, left.span)?;
                let y = self.scalar_of(&b, right.span)?;
                Ok(Value::truth(match op {
                    Op::And => self.pool().and(x, y),
                    _ => self.pool().or(x, y),
                }))
            }
        }
    }

    /// Checks that a value may be an operand.
    fn need_operand(
        &mut self,
        op: ast::BinaryOp,
        value: &Value,
        side: &ast::Expr,
    ) -> Result<(), Stop> {
        use ast::BinaryOp as Op;
        match op {
            Op::Add | Op::Sub | Op::Mul | Op::Div | Op::Pow => {
                self.need_amount(value, side, false)?;
            }
            Op::Lt | Op::Le | Op::Gt | Op::Ge => self.need_amount(value, side, true)?,
            Op::And | Op::Or => self.need_truth(value, side)?,
            Op::Eq | Op::Ne => {}
        }
        Ok(())
    }

    /// a·b: numbers scale, matrices multiply, a vector is a column.
    pub(super) fn product(&mut self, a: &Value, b: &Value, a_span: Span, b_span: Span) -> Lowered {
        let dimension = match (a.dimension, b.dimension) {
            (Some(x), Some(y)) => Some(x.times(y)),
            _ => None,
        };
        let from = Some(a_span.to(b_span));
        let scale = |this: &mut Self, by: ExprId, of: &Value| {
            let elements = of
                .elements
                .iter()
                .map(|&e| this.pool().mul(by, e))
                .collect();
            Value::array(of.shape, elements)
        };

        let value = match (a.as_scalar(), b.as_scalar()) {
            (Some(x), Some(y)) => Value::scalar(self.pool().mul(x, y)),
            (Some(x), None) => scale(self, x, b),
            (None, Some(y)) => scale(self, y, a),
            (None, None) => {
                let (n, inner) = a.shape.rows_columns();
                let (inner_b, m) = b.shape.rows_columns();
                if inner != inner_b {
                    let (left, right) = (a.describe(), b.describe());
                    let both_vectors =
                        matches!((a.shape, b.shape), (Shape::Vector(_), Shape::Vector(_)));
                    self.report.add(code::SHAPES, b_span, || {
                        let message = Diagnostic::error(code::SHAPES, "shapes do not multiply")
                            .primary(b_span, format!("this is {right}"))
                            .secondary(a_span, format!("this is {left}"));
                        match both_vectors {
                            true => message.help("write `dot(a, b)`, `cross(a, b)` or `a*b'`"),
                            false => message,
                        }
                    });
                    return Err(Stop::Reported);
                }
                self.spend(u64::from(n) * u64::from(m) * u64::from(inner))?;
                let elements = matrix_product(self.pool(), a, b);
                let is_vector = matches!(b.shape, Shape::Vector(_));
                Value::array(Shape::of_product(n, m, is_vector), elements)
            }
        };
        Ok(value.measured(dimension, from))
    }

    fn power(&mut self, a: &Value, b: &Value, a_span: Span, b_span: Span) -> Lowered {
        let x = self.scalar_of(a, a_span)?;
        let y = self.scalar_of(b, b_span)?;
        if let Some(d) = b.dimension
            && !d.is_one()
        {
            report!(self, code::UNIT_MISMATCH, b_span, "an exponent must be a plain number";
                "this is in {}", d.describe());
        }
        let dimension = match (a.dimension, self.graph.signals.pool.as_number(y)) {
            (Some(d), _) if d.is_one() => Some(d),
            (Some(d), Some(n)) => d.powf(n),
            _ => None,
        };
        let e = self.pool().pow(x, y);
        Ok(Value::scalar(e).measured(dimension, Some(a_span.to(b_span))))
    }
}

/// The comparison of an operator that compares.
fn comparison_of(op: ast::BinaryOp) -> Comparison {
    use ast::BinaryOp as Op;
    match op {
        Op::Lt => Comparison::Less,
        Op::Le => Comparison::LessEqual,
        Op::Gt => Comparison::Greater,
        Op::Ge => Comparison::GreaterEqual,
        Op::Eq => Comparison::Equal,
        _ => Comparison::NotEqual,
    }
}

/// Gives Aᵀ.
pub(super) fn transpose(value: &Value) -> Value {
    let (rows, columns) = value.shape.rows_columns();
    let mut elements = Vec::with_capacity(value.elements.len());
    for j in 0..columns {
        for i in 0..rows {
            elements.push(value.elements[(i * columns + j) as usize]);
        }
    }
    let shape = match (value.shape, columns, rows) {
        (Shape::Scalar, ..) => Shape::Scalar,
        (_, n, 1) => Shape::Vector(n),
        (_, rows, columns) => Shape::Matrix(rows, columns),
    };
    Value {
        shape,
        elements,
        ..value.clone()
    }
}

/// The entries of A·B, row by row.
pub(super) fn matrix_product(
    pool: &mut paynter_symbolic::Pool,
    a: &Value,
    b: &Value,
) -> Vec<ExprId> {
    let (n, inner) = a.shape.rows_columns();
    let (_, m) = b.shape.rows_columns();
    let mut elements = Vec::with_capacity((n * m) as usize);
    for i in 0..n {
        for j in 0..m {
            let mut sum = pool.number(0.0);
            for k in 0..inner {
                let left = a.elements[(i * inner + k) as usize];
                let right = b.elements[(k * m + j) as usize];
                let term = pool.mul(left, right);
                sum = pool.add(sum, term);
            }
            elements.push(sum);
        }
    }
    elements
}

/// `.x` is component 0, `.y` 1, `.z` 2.
pub(super) fn letter_component(letter: &str) -> Option<u32> {
    match letter {
        "x" => Some(0),
        "y" => Some(1),
        "z" => Some(2),
        _ => None,
    }
}

pub(super) fn is_literal_one(e: &ast::Expr) -> bool {
    matches!(
        e.kind,
        ast::ExprKind::Number {
            value: 1.0,
            unit: None
        }
    )
}

fn named(d: Dimension) -> String {
    if d.is_one() {
        "a plain number".to_owned()
    } else {
        d.describe()
    }
}

fn in_words(d: Dimension) -> String {
    if d.is_one() {
        "this is a plain number or an angle".to_owned()
    } else {
        format!("this is in {}", d.describe())
    }
}

/// Writes a dimension as something that may occur in brackets.
pub(super) fn unit_to_write(dimension: Dimension) -> String {
    let text = dimension.describe();
    match text.split_once(" = ") {
        Some((_, last)) => last.to_owned(),
        None => text,
    }
}

pub(super) fn covers(outer: Span, inner: Span) -> bool {
    outer.file == inner.file && outer.start <= inner.start && inner.end <= outer.end
}
