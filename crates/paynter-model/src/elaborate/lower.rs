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
use super::{Elaborator, Item, code};
use crate::suggest::nearest;
use crate::units::{Dimension, Unit};
use std::sync::Arc;

/// Why lowering stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stop {
    /// An error that was told.
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
    fn find(&self, name: &str) -> Option<&Value> {
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

/// Where names are looked up.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ctx<'c> {
    pub scope: ScopeId,
    pub locals: Option<&'c Locals<'c>>,
    /// Functions inside functions.
    pub calls: u32,
}

impl Ctx<'_> {
    pub(super) fn of(scope: ScopeId) -> Ctx<'static> {
        Ctx {
            scope,
            locals: None,
            calls: 0,
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

/// Height of an expression with the functions in it. The parser bounds what is written.
const MAX_HEIGHT: u32 = 4_000;

impl<'a> Elaborator<'a> {
    /// Lowers an expression.
    pub(super) fn lower(&mut self, e: &ast::Expr, ctx: Ctx<'_>) -> Lowered {
        self.height += 1;
        let result = if self.height > MAX_HEIGHT {
            let span = e.span;
            self.report.add(code::TOO_DEEP, span, || {
                Diagnostic::error(code::TOO_DEEP, "this expression is too deep to work on")
                    .primary(span, "functions call functions too many times here")
            });
            Err(Stop::Reported)
        } else {
            self.lower_here(e, ctx)
        };
        self.height -= 1;
        result
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
                let test = self.lower_scalar(condition, ctx)?;
                let yes = self.lower(then, ctx)?;
                let no = self.lower(otherwise, ctx)?;
                self.need_same_shape(&yes, &no, then.span, otherwise.span)?;
                let (dimension, from) = self.agree(&yes, &no, then.span, otherwise.span, ctx);
                let elements = (0..yes.elements.len())
                    .map(|k| self.pool().if_else(test, yes.elements[k], no.elements[k]))
                    .collect();
                Ok(Value {
                    shape: yes.shape,
                    elements,
                    dimension,
                    dimension_from: from,
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

    /// Gives the unit behind a literal or name; an unknown one is reported once.
    pub(super) fn unit(&mut self, unit: &ast::Unit) -> Option<Arc<Unit>> {
        if let Some(known) = self.units.get(&unit.span) {
            return known.clone();
        }
        let parsed = match Unit::parse(unit) {
            Ok(unit) => Some(Arc::new(unit)),
            Err(error) => {
                self.report.push(error.to_diagnostic());
                None
            }
        };
        self.units.insert(unit.span, parsed.clone());
        parsed
    }

    fn is_strict(&self, ctx: Ctx<'_>) -> bool {
        self.files[self.scopes[ctx.scope.at()].file as usize].is_strict
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
                self.report.add(code::SHAPES, span, || {
                    Diagnostic::error(code::SHAPES, "the rows of a matrix have different lengths")
                        .primary(span, format!("the first row has {columns} entries"))
                });
                return Err(Stop::Reported);
            }
            for entry in row {
                // Bare numbers inside take the unit behind the bracket.
                let value = match (&entry.kind, &unit) {
                    (ast::ExprKind::Number { value, unit: None }, Some(unit)) => {
                        let e = unit.to_si(*value);
                        Value::scalar(self.pool().number(e))
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
                            Value::scalar(self.pool().number(e))
                        }
                        _ => self.lower_entry(entry, ctx, Some(unit))?,
                    },
                    (_, unit) => self.lower_entry(entry, ctx, unit.as_ref())?,
                };
                let Some(e) = value.as_scalar() else {
                    let what = value.describe();
                    self.report.add(code::SHAPES, entry.span, || {
                        Diagnostic::error(code::SHAPES, "an entry of a matrix must be one number")
                            .primary(entry.span, format!("this is {what}"))
                    });
                    return Err(Stop::Reported);
                };
                elements.push(e);
                match (&shared, value.dimension) {
                    (_, None) => {}
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
            self.report.add(code::SHAPES, span, || {
                Diagnostic::error(code::SHAPES, "a matrix without entries").primary(span, "empty")
            });
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
            self.report.add(code::UNIT_MISMATCH, entry.span, || {
                Diagnostic::error(code::UNIT_MISMATCH, "an entry has a unit of its own")
                    .primary(entry.span, format!("the whole matrix is already in {text}"))
            });
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
            ..value
        })
    }

    // -------------------------------------------------------------------------------
    // Names
    // -------------------------------------------------------------------------------

    /// Follows a dotted, indexed name.
    pub(super) fn target(&mut self, e: &ast::Expr, ctx: Ctx<'_>) -> Result<Target, Stop> {
        match &e.kind {
            ast::ExprKind::Name(name) => self.name(name, &[], ctx),
            ast::ExprKind::Field { of, name } => {
                let target = self.target(of, ctx)?;
                self.field(target, name, &[], ctx)
            }
            ast::ExprKind::Index { of, index } => match &of.kind {
                ast::ExprKind::Name(name) => self.name(name, index, ctx),
                ast::ExprKind::Field { of, name } => {
                    let target = self.target(of, ctx)?;
                    self.field(target, name, index, ctx)
                }
                _ => {
                    let target = self.target(of, ctx)?;
                    self.index(target, index, e.span, ctx)
                }
            },
            _ => Ok(Target::Value(self.lower(e, ctx)?)),
        }
    }

    /// Follows a reference of a chain, `start` or `reinit`.
    pub(super) fn ref_target(&mut self, r: &ast::Ref, ctx: Ctx<'_>) -> Result<Target, Stop> {
        let mut parts = r.parts.iter();
        let Some(first) = parts.next() else {
            return Err(Stop::Reported);
        };
        let mut target = self.name(&first.name, &first.index, ctx)?;
        for part in parts {
            target = self.field(target, &part.name, &part.index, ctx)?;
        }
        Ok(target)
    }

    /// Looks a name up: locals, loop variables, the part, the file, what is built in.
    fn name(
        &mut self,
        name: &ast::Ident,
        index: &[ast::Expr],
        ctx: Ctx<'_>,
    ) -> Result<Target, Stop> {
        let text = &*name.text;
        if let Some(value) = ctx.locals.and_then(|l| l.find(text)) {
            let target = Target::Value(value.clone());
            return self.index(target, index, name.span, ctx);
        }
        let mut at = ctx.scope;
        loop {
            let scope = self.scopes[at.at()];
            if let Some((variable, value)) = scope.variable
                && variable == text
            {
                let e = self.pool().number(value);
                return self.index(Target::Value(Value::scalar(e)), index, name.span, ctx);
            }
            match scope.parent {
                Some(parent) => at = parent,
                None => break,
            }
        }
        let scope = self.scopes[at.at()];
        if let Some(instance) = scope.instance {
            let parent = self.instances[instance.at()].path;
            if let Some(found) = self.part_name(parent, name, index, ctx)? {
                return Ok(found);
            }
        }
        let target = match self.files[scope.file as usize].names.get(text).copied() {
            Some(Item::Constant(define, file)) => Target::Value(self.constant(define, file)?),
            Some(Item::Missing(_)) => return Err(Stop::Reported),
            Some(_) => {
                let span = name.span;
                self.report.add(code::WRONG_TYPE, span, || {
                    Diagnostic::error(code::WRONG_TYPE, format!("`{text}` is not a value"))
                        .primary(span, "names a model, function or port type")
                });
                return Err(Stop::Reported);
            }
            None => match self.built_in_name(text) {
                Some(target) => target,
                None => {
                    self.report_unknown(name, scope);
                    return Err(Stop::Reported);
                }
            },
        };
        self.index(target, index, name.span, ctx)
    }

    fn built_in_name(&mut self, text: &str) -> Option<Target> {
        // Standard gravity, m/s² (CGPM 1901: exact).
        const STANDARD_GRAVITY: f64 = 9.806_65;
        Some(match text {
            "time" => {
                let time = self.graph.signals.time.expect("made at the beginning");
                let e = self.pool().symbol(time);
                Target::Value(Value::scalar(e).measured(Some(Dimension::TIME), None))
            }
            "pi" => {
                let e = self.pool().number(std::f64::consts::PI);
                Target::Value(Value::scalar(e).measured(Some(Dimension::ONE), None))
            }
            "g0" => {
                let e = self.pool().number(STANDARD_GRAVITY);
                let dimension = Dimension::si(0, 1, -2, 0);
                Target::Value(Value::scalar(e).measured(Some(dimension), None))
            }
            "system" => Target::System,
            _ => return None,
        })
    }

    /// Finds `name` or `name[i]` among the names of a part.
    fn part_name(
        &mut self,
        parent: paynter_symbolic::PathId,
        name: &ast::Ident,
        index: &[ast::Expr],
        ctx: Ctx<'_>,
    ) -> Result<Option<Target>, Stop> {
        let text = &*name.text;
        if let Some(path) = self.graph.signals.names.find(parent, text, None) {
            let entity = self.entity(path);
            if entity != Entity::Nothing {
                let target = self.entity_target(entity, name)?;
                return self.index(target, index, name.span, ctx).map(Some);
            }
            if self.broken_paths.contains(&path) {
                return Err(Stop::Reported);
            }
        }
        if index.is_empty() {
            return Ok(None);
        }
        let mut numbers = Vec::with_capacity(index.len());
        for i in index {
            match self.whole_number(i, ctx) {
                Some(n) => numbers.push(n),
                None => return Err(Stop::Reported),
            }
        }
        let names = &self.graph.signals.names;
        let path = match numbers.as_slice() {
            [i] => names.find(parent, text, Some(*i)),
            [i, j] => names.find(parent, &format!("{text}[{i}]"), Some(*j)),
            _ => None,
        };
        if let Some(path) = path {
            let entity = self.entity(path);
            if entity != Entity::Nothing {
                return self.entity_target(entity, name).map(Some);
            }
            if self.broken_paths.contains(&path) {
                return Err(Stop::Reported);
            }
        }
        // An array of that name with other indices?
        let first = self.graph.signals.names.find(parent, text, Some(1));
        let is_array = first.is_some_and(|p| self.entity(p) != Entity::Nothing);
        if is_array {
            let span = name.span;
            let shown: Vec<String> = numbers.iter().map(ToString::to_string).collect();
            let mut last = 1;
            while let Some(p) = self.graph.signals.names.find(parent, text, Some(last + 1))
                && self.entity(p) != Entity::Nothing
            {
                last += 1;
            }
            self.report.add(code::BAD_INDEX, span, || {
                Diagnostic::error(
                    code::BAD_INDEX,
                    format!("there is no `{text}[{}]`", shown.join(",")),
                )
                .primary(span, format!("`{text}` goes from 1 to {last}"))
            });
            return Err(Stop::Reported);
        }
        Ok(None)
    }

    pub(super) fn entity_target(
        &mut self,
        entity: Entity,
        name: &ast::Ident,
    ) -> Result<Target, Stop> {
        Ok(match entity {
            Entity::Nothing => return Err(Stop::Reported),
            Entity::Def(def) => Target::Value(self.read_def(def)?),
            Entity::Thing(thing) => Target::Thing {
                thing,
                component: None,
            },
            Entity::Instance(instance) => Target::Instance(instance),
            Entity::Port(port) => Target::Port(port),
            Entity::Bond(bond) => Target::Bond(bond),
            Entity::Event(_) => {
                let span = name.span;
                self.report.add(code::NOT_READABLE, span, || {
                    Diagnostic::error(
                        code::NOT_READABLE,
                        format!("`{}` is the name of an event", name.text),
                    )
                    .primary(span, "has no value")
                });
                return Err(Stop::Reported);
            }
            Entity::Outer(outer) => Target::Instance(self.outer(outer)?),
        })
    }

    /// Finds the enclosing part that an `outer` means.
    fn outer(&mut self, outer: u32) -> Result<InstanceId, Stop> {
        let (instance, name, scope, path) = {
            let o = &self.outers[outer as usize];
            (o.instance, o.name, o.scope, o.path)
        };
        let mut at = self.instances[instance.at()].parent;
        while let Some(id) = at {
            let around = &self.instances[id.at()];
            let found = self.graph.signals.names.find(around.path, &name.text, None);
            match found.map(|path| self.entity(path)) {
                Some(Entity::Instance(part)) => {
                    let file = self.scopes[scope.at()].file;
                    let Some((promise, _)) = self.find_model(path, file) else {
                        return Err(Stop::Reported);
                    };
                    let part_data = &self.instances[part.at()];
                    if part_data.lineage.iter().any(|m| std::ptr::eq(*m, promise)) {
                        return Ok(part);
                    }
                    let (own, at_part) = (part_data.model, part_data.span);
                    let span = name.span;
                    self.report.add(code::NO_OUTER, span, || {
                        Diagnostic::error(
                            code::NO_OUTER,
                            format!(
                                "the enclosing `{}` is not a `{}`",
                                name.text, promise.name.text
                            ),
                        )
                        .primary(span, "looked for here")
                        .secondary(at_part, format!("this is a `{}`", own.name.text))
                    });
                    return Err(Stop::Reported);
                }
                _ => at = around.parent,
            }
        }
        if !self.is_lenient {
            let span = name.span;
            let model = path.segments.last().map_or("", |s| &*s.text);
            self.report.add(code::NO_OUTER, span, || {
                Diagnostic::error(
                    code::NO_OUTER,
                    format!("no enclosing part is called `{}`", name.text),
                )
                .primary(span, "looked for in the parts around")
                .help(format!(
                    "add `{}: {model}()` to the model that holds this part",
                    name.text
                ))
            });
        }
        Err(Stop::Reported)
    }

    fn report_unknown(&mut self, name: &ast::Ident, scope: Scope<'a>) {
        if scope.instance.is_some_and(|i| self.incomplete.contains(&i)) {
            return;
        }
        let span = name.span;
        let mut candidates: Vec<String> = Vec::new();
        if let Some(instance) = scope.instance {
            candidates.extend(self.names_in(instance));
        }
        candidates.extend(
            self.files[scope.file as usize]
                .names
                .keys()
                .map(|n| (*n).to_owned()),
        );
        candidates.extend(["time", "pi", "g0", "system"].map(str::to_owned));
        candidates.sort_unstable();
        self.report.add(code::UNKNOWN_NAME, span, || {
            let message = Diagnostic::error(
                code::UNKNOWN_NAME,
                format!("nothing is called `{}`", name.text),
            )
            .primary(span, "unknown name");
            match nearest(&name.text, candidates) {
                Some(near) => message.help(format!("did you mean `{near}`?")),
                None => message,
            }
        });
    }

    /// Lists the names that a part declares, for messages.
    pub(super) fn names_in(&self, instance: InstanceId) -> Vec<String> {
        let mut found = Vec::new();
        for model in &self.instances[instance.at()].lineage {
            let mut blocks: Vec<&[ast::Stmt]> = vec![&model.body];
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

    /// Reads `target.name[index]`.
    pub(super) fn field(
        &mut self,
        target: Target,
        name: &ast::Ident,
        index: &[ast::Expr],
        ctx: Ctx<'_>,
    ) -> Result<Target, Stop> {
        let found = match target {
            Target::Instance(instance) => {
                let parent = self.instances[instance.at()].path;
                return match self.part_name(parent, name, index, ctx)? {
                    Some(found) => Ok(found),
                    None => {
                        self.report_unknown_in(instance, name);
                        Err(Stop::Reported)
                    }
                };
            }
            Target::Value(value) => Target::Value(self.value_field(&value, name)?),
            Target::Thing { thing, component } => self.thing_field(thing, component, name)?,
            Target::Side { thing, side } => self.side_field(thing, side, name)?,
            Target::Port(port) => self.port_field(port, name)?,
            Target::Member {
                port,
                member,
                component,
            } => self.member_field(port, member, component, name)?,
            Target::Bond(bond) => Target::Value(self.bond_field(bond, name)?),
            Target::System => Target::Value(self.system_field(name)?),
        };
        self.index(found, index, name.span, ctx)
    }

    fn report_unknown_in(&mut self, instance: InstanceId, name: &ast::Ident) {
        if self.incomplete.contains(&instance) {
            return;
        }
        let (span, model) = (name.span, self.instances[instance.at()].model);
        let candidates = self.names_in(instance);
        self.report.add(code::UNKNOWN_NAME, span, || {
            let message = Diagnostic::error(
                code::UNKNOWN_NAME,
                format!("`{}` has nothing called `{}`", model.name.text, name.text),
            )
            .primary(span, "unknown name")
            .secondary(model.name.span, "looked for in this model");
            match nearest(&name.text, candidates) {
                Some(near) => message.help(format!("did you mean `{near}`?")),
                None => message,
            }
        });
    }

    fn value_field(&mut self, value: &Value, name: &ast::Ident) -> Lowered {
        if let ValueKind::Results(results) = &value.kind {
            if let Some((_, found)) = results.iter().find(|(n, _)| *n == name.text) {
                return Ok(found.clone());
            }
            let names: Vec<String> = results.iter().map(|(n, _)| n.to_string()).collect();
            let span = name.span;
            self.report.add(code::UNKNOWN_NAME, span, || {
                Diagnostic::error(
                    code::UNKNOWN_NAME,
                    format!("no result is called `{}`", name.text),
                )
                .primary(span, "unknown result")
                .help(format!("the function gives `{}`", names.join("`, `")))
            });
            return Err(Stop::Reported);
        }
        if let Some(k) = letter_component(&name.text)
            && let Shape::Vector(n) = value.shape
            && k < n
        {
            return Ok(Value {
                shape: Shape::Scalar,
                elements: vec![value.elements[k as usize]],
                ..value.clone()
            });
        }
        let (span, what) = (name.span, value.describe());
        self.report.add(code::NOT_READABLE, span, || {
            Diagnostic::error(
                code::NOT_READABLE,
                format!("there is no `.{}` here", name.text),
            )
            .primary(span, format!("this is read from {what}"))
        });
        Err(Stop::Reported)
    }

    /// Reads `target[index]`.
    fn index(
        &mut self,
        target: Target,
        index: &[ast::Expr],
        span: Span,
        ctx: Ctx<'_>,
    ) -> Result<Target, Stop> {
        if index.is_empty() {
            return Ok(target);
        }
        let mut numbers = Vec::with_capacity(index.len());
        for i in index {
            match self.whole_number(i, ctx) {
                Some(n) => numbers.push(n),
                None => return Err(Stop::Reported),
            }
        }
        match target {
            Target::Value(value) => {
                let (rows, columns) = value.shape.rows_columns();
                let n = i64::from(rows) * i64::from(columns);
                let at = match (value.shape, numbers.as_slice()) {
                    (Shape::Vector(_), [i]) => inside(*i, n),
                    // One index runs along a matrix that is a single row or column.
                    (Shape::Matrix(1, _) | Shape::Matrix(_, 1), [i]) => inside(*i, n),
                    (Shape::Matrix(..), [i, j]) => inside(*i, i64::from(rows)).and_then(|i| {
                        inside(*j, i64::from(columns)).map(|j| i * columns as usize + j)
                    }),
                    _ => None,
                };
                match at {
                    Some(at) if value.is_numeric() => Ok(Target::Value(Value {
                        shape: Shape::Scalar,
                        elements: vec![value.elements[at]],
                        ..value
                    })),
                    _ => {
                        let what = value.describe();
                        let shown: Vec<String> = numbers.iter().map(ToString::to_string).collect();
                        let at = index[0].span;
                        self.report.add(code::BAD_INDEX, at, || {
                            Diagnostic::error(
                                code::BAD_INDEX,
                                format!("there is no entry [{}]", shown.join(",")),
                            )
                            .primary(at, format!("this is an index into {what}"))
                        });
                        Err(Stop::Reported)
                    }
                }
            }
            Target::Thing {
                thing,
                component: None,
            } => {
                let size = self.things[thing.at()].size;
                match numbers.as_slice() {
                    [i] if (1..=i64::from(size)).contains(i) => Ok(Target::Thing {
                        thing,
                        component: Some((*i - 1) as u32),
                    }),
                    _ => {
                        self.report_component(index[0].span, size);
                        Err(Stop::Reported)
                    }
                }
            }
            Target::Member {
                port,
                member,
                component: None,
            } => {
                let size = match &self.ports[port.at()].members {
                    Some(members) => match members[member as usize].what {
                        MemberKind::Power { size, .. } => size,
                        MemberKind::Signal(_) => 1,
                    },
                    None => 1,
                };
                match numbers.as_slice() {
                    [i] if (1..=i64::from(size)).contains(i) => Ok(Target::Member {
                        port,
                        member,
                        component: Some((*i - 1) as u32),
                    }),
                    _ => {
                        self.report_component(index[0].span, size);
                        Err(Stop::Reported)
                    }
                }
            }
            Target::Port(port) => match self.follow_port(port)? {
                Some(target) => self.index(target, index, span, ctx),
                None => {
                    self.report_component(index[0].span, 1);
                    Err(Stop::Reported)
                }
            },
            _ => {
                let at = index[0].span;
                self.report.add(code::BAD_INDEX, at, || {
                    Diagnostic::error(code::BAD_INDEX, "this has no components")
                        .primary(at, "cannot be indexed")
                });
                Err(Stop::Reported)
            }
        }
    }

    pub(super) fn report_component(&mut self, span: Span, size: u32) {
        self.report.add(code::BAD_INDEX, span, || {
            let text = match size {
                0 | 1 => "it has a single component".to_owned(),
                n => format!("components go from 1 to {n}"),
            };
            Diagnostic::error(code::BAD_INDEX, "there is no such component").primary(span, text)
        });
    }

    /// Gives the value that a dotted name stands for in an expression.
    fn value_of(&mut self, target: Target, span: Span) -> Lowered {
        let (what, help) = match target {
            Target::Value(value) => return Ok(value),
            Target::Instance(_) => ("a part", "read one of its outputs or parts: `part.name`"),
            Target::Thing { thing, .. } => match self.things[thing.at()].kind.letters() {
                "0" => ("a 0-junction", "its effort is `.e`"),
                "1" => ("a 1-junction", "its flow is `.f`"),
                "TF" | "GY" | "RS" => ("a two-port", "read `.in.e`, `.out.f` and so on"),
                _ => ("an element", "read `.e`, `.f` or `.power`"),
            },
            Target::Side { .. } => ("a side of a two-port", "read its `.e` or `.f`"),
            Target::Port(_) | Target::Member { .. } => ("a port", "read its `.e` or `.f`"),
            Target::Bond(_) => ("a bond", "read its `.e`, `.f`, `.power` or `.energy`"),
            Target::System => ("the whole model", "read `system.energy` and so on"),
        };
        self.report.add(code::NOT_READABLE, span, || {
            Diagnostic::error(code::NOT_READABLE, format!("{what} is not a value"))
                .primary(span, "a value is needed here")
                .help(help)
        });
        Err(Stop::Reported)
    }

    // -------------------------------------------------------------------------------
    // Operators
    // -------------------------------------------------------------------------------

    pub(super) fn need_numbers(&mut self, value: &Value, span: Span) -> Result<(), Stop> {
        if value.is_numeric() {
            return Ok(());
        }
        let what = value.describe();
        self.report.add(code::WRONG_TYPE, span, || {
            Diagnostic::error(code::WRONG_TYPE, "a number is needed here")
                .primary(span, format!("this is {what}"))
        });
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
                self.report.add(code::SHAPES, span, || {
                    Diagnostic::error(code::SHAPES, "one number is needed here")
                        .primary(span, format!("this is {what}"))
                });
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
        self.report.add(code::SHAPES, b_span, || {
            Diagnostic::error(code::SHAPES, "shapes do not agree")
                .primary(b_span, format!("this is {right}"))
                .secondary(a_span, format!("this is {left}"))
        });
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
        _ctx: Ctx<'_>,
    ) -> (Option<Dimension>, Option<Span>) {
        match (a.dimension, b.dimension) {
            (Some(x), Some(y)) if x != y => {
                self.report_units(x, a.dimension_from, a_span, y, b.dimension_from, b_span);
                (None, None)
            }
            (Some(x), _) => (Some(x), a.dimension_from.or(b.dimension_from)),
            (None, y) => (y, b.dimension_from),
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
    pub(super) fn report_units(
        &mut self,
        x: Dimension,
        x_from: Option<Span>,
        x_span: Span,
        y: Dimension,
        y_from: Option<Span>,
        y_span: Span,
    ) {
        for (bare, from, other, other_from) in [(y, y_from, x, x_from), (x, x_from, y, y_from)] {
            if bare.is_one()
                && let Some(at) = from
                && self.is_bare(from)
            {
                let text = self.project.sources.text(at).trim().to_owned();
                let unit = unit_to_write(other);
                self.report.add(code::BARE_NUMBER, at, || {
                    let message = Diagnostic::error(
                        code::BARE_NUMBER,
                        format!(
                            "a number without a unit where {} is expected",
                            other.describe()
                        ),
                    )
                    .primary(at, "no unit")
                    .help(format!("write `{text} [{unit}]`"));
                    match other_from {
                        Some(other_from) => message.secondary(other_from, "this has a unit"),
                        None => message,
                    }
                });
                return;
            }
        }
        self.report.add(code::UNIT_MISMATCH, y_span, || {
            let mut message = Diagnostic::error(
                code::UNIT_MISMATCH,
                format!("units do not agree: {} and {}", named(x), named(y)),
            )
            .primary(y_span, in_words(y));
            if x_span != y_span {
                message = message.secondary(x_span, in_words(x));
            }
            for (from, span, d) in [(x_from, x_span, x), (y_from, y_span, y)] {
                if let Some(from) = from
                    && from != span
                    && !covers(span, from)
                {
                    message = message.secondary(from, format!("{} comes from here", named(d)));
                }
            }
            message
        });
    }

    fn unary(&mut self, op: ast::UnaryOp, of: &ast::Expr, ctx: Ctx<'_>) -> Lowered {
        let value = self.lower(of, ctx)?;
        self.need_numbers(&value, of.span)?;
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
        match op {
            Op::Add | Op::Sub => {
                self.need_same_shape(&a, &b, left.span, right.span)?;
                let (dimension, from) = self.agree(&a, &b, left.span, right.span, ctx);
                let elements = (0..a.elements.len())
                    .map(|k| match op {
                        Op::Add => self.pool().add(a.elements[k], b.elements[k]),
                        _ => self.pool().sub(a.elements[k], b.elements[k]),
                    })
                    .collect();
                Ok(Value::array(a.shape, elements).measured(dimension, from))
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
                self.agree(&a, &b, left.span, right.span, ctx);
                let comparison = match op {
                    Op::Lt => Comparison::Less,
                    Op::Le => Comparison::LessEqual,
                    Op::Gt => Comparison::Greater,
                    Op::Ge => Comparison::GreaterEqual,
                    Op::Eq => Comparison::Equal,
                    _ => Comparison::NotEqual,
                };
                Ok(Value::truth(self.pool().compare(comparison, x, y)))
            }
            Op::And | Op::Or => {
                for (value, at) in [(&a, left.span), (&b, right.span)] {
                    if value.kind != ValueKind::Truth {
                        self.report.add(code::WRONG_TYPE, at, || {
                            Diagnostic::error(code::WRONG_TYPE, "`and` and `or` join conditions")
                                .primary(at, "this is not a condition")
                        });
                        return Err(Stop::Reported);
                    }
                }
                let (x, y) = (
                    self.scalar_of(&a, left.span)?,
                    self.scalar_of(&b, right.span)?,
                );
                Ok(Value::truth(match op {
                    Op::And => self.pool().and(x, y),
                    _ => self.pool().or(x, y),
                }))
            }
        }
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
            self.report.add(code::UNIT_MISMATCH, b_span, || {
                Diagnostic::error(code::UNIT_MISMATCH, "an exponent must be a plain number")
                    .primary(b_span, format!("this is in {}", d.describe()))
            });
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
    matches!(e.kind, ast::ExprKind::Number { value: 1.0, unit: None })
}

fn named(d: Dimension) -> String {
    if d.is_one() { "a plain number".to_owned() } else { d.describe() }
}

fn in_words(d: Dimension) -> String {
    if d.is_one() {
        "this is a plain number or an angle".to_owned()
    } else {
        format!("this is in {}", d.describe())
    }
}

/// Writes a dimension as something that may stand in brackets.
pub(super) fn unit_to_write(dimension: Dimension) -> String {
    let text = dimension.describe();
    match text.split_once(" = ") {
        Some((_, last)) => last.to_owned(),
        None => text,
    }
}

fn inside(i: i64, n: i64) -> Option<usize> {
    (1..=n).contains(&i).then(|| (i - 1) as usize)
}

fn covers(outer: Span, inner: Span) -> bool {
    outer.file == inner.file && outer.start <= inner.start && inner.end <= outer.end
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
