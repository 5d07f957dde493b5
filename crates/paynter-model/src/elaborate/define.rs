//! Named values: parameters, inputs, outputs, signals, states, each resolved when first read.
//!
//! In:  definitions as collected.
//! Out: a [`Value`] for each, made of its own symbols, and the equation or binding that defines them.
//!
//! **Invariant:** a definition is resolved once. Reading one that is being resolved is a
//! cycle, unless it is a state, sampled or sought: those have symbols before their equation
//! is lowered. Chains of definitions of any length need a bounded stack: beyond
//! [`MAX_NESTED`] the reader is given up and begun again after what it waits for.

use paynter_symbolic::{Equation, ExprId, PathId, Role, Symbol, SymbolId};
use paynter_syntax::{Diagnostic, Span, ast};

use super::data::*;
use super::guess::Guess;
use super::limit::out_of_range;
use super::lower::{Ctx, Lowered, Stop, UnitAt};
use super::value::{Shape, Value, ValueKind};
use super::{Elaborator, Limit, code};
use crate::units::{Dimension, format_number};

/// Definitions resolved inside each other before the stack is unwound.
const MAX_NESTED: u32 = 16;

impl<'a> Elaborator<'a> {
    /// Gives the value of a definition, resolving it if need be.
    pub(super) fn read_def(&mut self, def: DefId) -> Lowered {
        match &self.tables.defs[def.at()].progress {
            Progress::Done(value) => return Ok(value.clone()),
            Progress::Failed => return Err(Stop::Reported),
            Progress::Started => {
                self.report_cycle(def);
                return Err(Stop::Reported);
            }
            Progress::Open => {}
        }
        if self.budget.nested >= MAX_NESTED {
            return Err(Stop::Blocked(def));
        }
        self.resolve(def)?;
        match &self.tables.defs[def.at()].progress {
            Progress::Done(value) => Ok(value.clone()),
            _ => Err(Stop::Reported),
        }
    }

    /// Resolves a definition and everything it waits for; errors are reported.
    pub(super) fn settle(&mut self, def: DefId) {
        let nested = std::mem::take(&mut self.budget.nested);
        let mut stack = vec![def];
        while let Some(&top) = stack.last() {
            match self.resolve(top) {
                Err(Stop::Blocked(next)) => stack.push(next),
                _ => {
                    stack.pop();
                }
            }
        }
        self.budget.nested = nested;
    }

    fn resolve(&mut self, def: DefId) -> Result<(), Stop> {
        match self.tables.defs[def.at()].progress {
            Progress::Done(_) => return Ok(()),
            Progress::Failed => return Err(Stop::Reported),
            Progress::Started => {
                self.report_cycle(def);
                return Err(Stop::Reported);
            }
            Progress::Open => {}
        }
        self.tables.defs[def.at()].progress = Progress::Started;
        self.readings.being_resolved.push(def);
        self.budget.nested += 1;
        let result = self.compute(def);
        self.budget.nested -= 1;
        self.readings.being_resolved.pop();
        self.tables.defs[def.at()].progress = match &result {
            Ok(value) => Progress::Done(value.clone()),
            Err(Stop::Reported) => Progress::Failed,
            Err(Stop::Blocked(_)) => Progress::Open,
        };
        result.map(|_| ())
    }

    fn report_cycle(&mut self, def: DefId) {
        let open = &self.readings.being_resolved;
        let from = open.iter().position(|&d| d == def).unwrap_or(0);
        let cycle = &open[from..];
        let defs = &self.tables.defs;
        let display = |d: DefId| self.graph.signals.names.display(defs[d.at()].path);
        let names: Vec<String> = cycle
            .iter()
            .chain([&def])
            .map(|&d| format!("`{}`", display(d)))
            .collect();

        // The cycle is the same wherever it was entered: report it at its first member.
        let first = cycle.iter().copied().min_by_key(|d| defs[d.at()].span);
        let place = first.map_or(Span::default(), |d| defs[d.at()].span);
        let own = first.map_or(String::new(), display);
        let is_param = |d: &DefId| defs[d.at()].kind == DefKind::Param;
        let (code, headline, help) = match cycle.iter().all(is_param) {
            true => (
                code::PARAMETER_CYCLE,
                "parameters depend on each other in a cycle",
                None,
            ),
            false => (
                code::SIGNAL_CYCLE,
                "signals depend on each other in a cycle",
                Some(match own.contains('.') {
                    false => format!(
                        "to have the loop solved, write `solve {own} {{ {own} == … }}` instead of `{own} = …`"
                    ),
                    true => "break it where the signal passes a storage or a `sample` block, or solve it: `solve x { x == … }`".to_owned(),
                }),
            ),
        };

        self.report.add(code, place, || {
            let message = Diagnostic::error(code, headline)
                .primary(place, "part of the cycle")
                .fact(names.join(" reads "));
            match help {
                Some(help) => message.help(help),
                None => message,
            }
        });
    }

    fn compute(&mut self, def: DefId) -> Lowered {
        let d = &self.tables.defs[def.at()];
        match d.kind {
            DefKind::State => self.state(def),
            DefKind::Discrete => self.discrete_value(def),
            DefKind::Sought => {
                let decl = d.decl.and_then(|d| d.unit.as_ref());
                let dimension = decl
                    .and_then(|u| self.unit(u))
                    .map(|u| u.dimension)
                    .or_else(|| self.units.hints.get(&def).copied());
                let value = self.fresh(def, Shape::Scalar, |_| Role::Unknown);
                Ok(value.measured(dimension, None))
            }
            DefKind::PortTaken { port, member } => self.taken(port, member),
            DefKind::Param => self.parameter(def),
            DefKind::Input | DefKind::Output | DefKind::Signal | DefKind::PortGiven => {
                self.signal(def)
            }
        }
    }

    // -------------------------------------------------------------------------------
    // Parameters and signals
    // -------------------------------------------------------------------------------

    /// Lowers the value of a definition and compares it with what its declaration says.
    fn declared_value(&mut self, def: DefId) -> Lowered {
        let (value, decl, decl_scope, unit) = {
            let d = &self.tables.defs[def.at()];
            (d.value, d.decl, d.decl_scope, d.unit)
        };
        let Some((expr, scope)) = value else {
            return self.without_value(def);
        };
        let mut lowered = self.lower(expr, Ctx::of(scope))?;
        if let Some(decl) = decl {
            if let Some(shape) = self.declared_shape(decl, decl_scope)? {
                self.need_declared_shape(&mut lowered, shape, expr.span, decl)?;
            }
            if let Some(kind) = &decl.kind {
                let span = kind.span;
                report!(self, code::WRONG_TYPE, span, "a value has a shape, not a type name";
                    "write a shape such as `[3]`, or nothing");
            }
        }
        let unit = unit
            .or_else(|| decl.and_then(|d| d.unit.as_ref()))
            .or_else(|| decl.and_then(|d| unit_of_default(d, expr)));
        if let Some(unit) = unit {
            self.need_declared_unit(&mut lowered, unit, expr);
            if lowered.dimension == Some(Dimension::TEMPERATURE) {
                self.check_shown_difference(unit, expr, scope);
            }
        }
        Ok(lowered)
    }

    fn without_value(&mut self, def: DefId) -> Lowered {
        let d = &self.tables.defs[def.at()];
        let (kind, path, span) = (d.kind, d.path, d.span);
        if self.asked.is_lenient
            && d.instance
                .is_none_or(|i| self.tables.instances[i.at()].parent.is_none())
        {
            return self.placeholder(def);
        }
        if kind == DefKind::Input && self.asked.free_inputs.contains(&path) {
            return self.free_input(def);
        }

        // What is wrong with the arguments of the part was reported.
        if d.instance
            .is_some_and(|i| self.excused.misused_parts.contains(&i))
        {
            return Err(Stop::Reported);
        }
        let name = self.graph.signals.names.display(path);
        let owner = d.instance.map(|i| &self.tables.instances[i.at()]);
        let at = owner.filter(|o| o.parent.is_some()).map(|o| o.span);
        let short = self.graph.signals.names.last(path).0.to_owned();
        let (code, headline, help) = words_without_value(kind, &name, &short, at.is_some());

        let place = at.unwrap_or(span);
        // One message for each missing value of a part, so the declaration is part of the key.
        if !self.told.missing_bonds.insert((place, span)) {
            return Err(Stop::Reported);
        }

        let misread = self.misread(kind, path, &short);

        if let Some(misread) = misread {
            let message = Diagnostic::error(code, headline)
                .primary(misread, format!("is `{name}` meant here?"))
                .secondary(span, "declared here");
            self.report.list.push(message.help(help));
            return Err(Stop::Reported);
        }

        let mut message = Diagnostic::error(code, headline);
        message = match at {
            Some(at) => message
                .primary(at, "needed by this part")
                .secondary(span, "declared here"),
            None => message.primary(span, "no value"),
        };

        self.report.list.push(message.help(help));
        Err(Stop::Reported)
    }

    /// `sensor.T_yaw = …` that lost its dot defines a signal of the model around: where that is.
    fn misread(&self, kind: DefKind, path: PathId, short: &str) -> Option<Span> {
        match (kind, self.graph.signals.names.parent(path)) {
            (DefKind::Input, Some(part)) => {
                let names = &self.graph.signals.names;
                let joined = format!("{}{short}", names.last(part).0);
                names
                    .parent(part)
                    .and_then(|around| names.find(around, &joined, None))
                    .and_then(|path| match self.tables.value_entity(path) {
                        Entity::Def(def) => Some(self.tables.defs[def.at()].span),
                        _ => None,
                    })
            }
            _ => None,
        }
    }

    /// An input that an experiment linearizes from rests at zero unless it is given.
    fn free_input(&mut self, def: DefId) -> Lowered {
        let decl = self.tables.defs[def.at()].decl;
        let zero = self.pool().number(0.0);
        let dimension = match decl.and_then(|d| d.unit.as_ref()) {
            Some(unit) => self.unit(unit).map(|u| u.dimension),
            None => None,
        };
        let shape = match decl {
            Some(decl) => self
                .declared_shape(decl, self.tables.defs[def.at()].decl_scope)?
                .unwrap_or(Shape::Scalar),
            None => Shape::Scalar,
        };
        Ok(Value::array(shape, vec![zero; shape.len()]).measured(dimension, None))
    }

    /// When a model is checked alone, what it leaves open is an unknown number.
    fn placeholder(&mut self, def: DefId) -> Lowered {
        let (kind, decl, decl_scope) = {
            let d = &self.tables.defs[def.at()];
            (d.kind, d.decl, d.decl_scope)
        };
        let shape = match decl {
            Some(decl) => self
                .declared_shape(decl, decl_scope)?
                .unwrap_or(Shape::Scalar),
            None => Shape::Scalar,
        };
        let dimension = decl
            .and_then(|d| d.unit.as_ref())
            .and_then(|u| self.unit(u))
            .map(|u| u.dimension);
        self.fixed.has_placeholder = true;
        let role = match kind {
            DefKind::Param => Role::Parameter {
                value: f64::NAN,
                binding: None,
            },
            _ => Role::Unknown,
        };
        Ok(self.fresh(def, shape, |_| role).measured(dimension, None))
    }

    pub(super) fn declared_shape(
        &mut self,
        decl: &'a ast::Decl,
        scope: ScopeId,
    ) -> Result<Option<Shape>, Stop> {
        let Some(sizes) = &decl.shape else {
            return Ok(None);
        };
        if sizes.is_empty() {
            let span = decl.span;
            report!(self, code::BAD_SIZE, span, "the shape of `{}` has no size", decl.name.text;
                "empty brackets";
                help: "write `[3]` for a vector, `[3,3]` for a matrix, and nothing for one number");
            return Err(Stop::Reported);
        }
        let mut numbers = Vec::new();
        for size in sizes {
            numbers.push(self.size(size, scope).ok_or(Stop::Reported)?);
        }
        Ok(Some(match numbers.as_slice() {
            [] => Shape::Scalar,
            [n] => Shape::Vector(*n),
            [n, m, ..] => Shape::Matrix(*n, *m),
        }))
    }

    fn need_declared_shape(
        &mut self,
        value: &mut Value,
        shape: Shape,
        span: Span,
        decl: &ast::Decl,
    ) -> Result<(), Stop> {
        self.need_numbers(value, span)?;
        if value.shape.rows_columns() == shape.rows_columns() {
            value.shape = shape;
            return Ok(());
        }
        let (found, wanted) = (value.describe(), shape.describe());
        report!(self, code::SHAPES, span, "`{}` must be {wanted}", decl.name.text;
            "this is {found}";
            beside decl.span => "declared here");
        Err(Stop::Reported)
    }

    fn need_declared_unit(&mut self, value: &mut Value, unit: &'a ast::Unit, expr: &ast::Expr) {
        let Some(parsed) = self.unit(unit) else {
            return;
        };
        let wanted = parsed.dimension;
        // `param gap [deg] = 5` would be five radians: nobody means that.
        if let ast::ExprKind::Number {
            value: number,
            unit: None,
        } = &expr.kind
            && *number != 0.0
            && (parsed.factor != 1.0 || parsed.offset != 0.0)
        {
            let (span, text, number) = (expr.span, parsed.text.clone(), *number);
            report!(self, code::BARE_NUMBER, span, "{number} has no unit, and {text} is not the SI unit";
                "no unit";
                beside unit.span => "declared in {text}";
                help: "write `{number} [{text}]`");
        } else if let Some(found) = value.dimension
            && found != wanted
        {
            let declared = UnitAt::declared(wanted, unit.span);
            self.report_units(declared, value.unit_at(found, expr.span));
        }
        value.dimension = Some(wanted);
        value.dimension_from = Some(unit.span);
    }

    fn parameter(&mut self, def: DefId) -> Lowered {
        let value = self.declared_value(def)?;
        if !value.is_numeric() {
            return Ok(value);
        }
        let d = &self.tables.defs[def.at()];
        let (span, decl) = (d.value.map_or(d.span, |(e, _)| e.span), d.decl);
        let name = d.path;
        for &e in &value.elements {
            let Some(x) = self.fixed.constants.value(&self.graph.signals, e) else {
                let name = self.graph.signals.names.display(name);
                report!(self, code::NOT_CONSTANT, span, "the parameter `{name}` varies in time";
                    "reads a signal";
                    help: "make it an `input`");
                return Err(Stop::Reported);
            };
            if !(x.is_finite() || x.is_nan() && self.fixed.has_placeholder) {
                let name = self.graph.signals.names.display(name);
                report!(self, code::NOT_FINITE, span, "the value of `{name}` is {x}"; "not a finite number");
                return Err(Stop::Reported);
            }
        }

        let limits = decl
            .and_then(|d| d.range.as_ref())
            .and_then(|range| self.check_range(def, &value, range, span));
        let bound = self.bound_parameters(def, value);
        if let Some((low, high, unit)) = limits {
            let name = self
                .graph
                .signals
                .names
                .display(self.tables.defs[def.at()].path);
            self.fixed
                .limits
                .extend(bound.elements.iter().map(|&value| Limit {
                    name: name.clone(),
                    value,
                    low,
                    high,
                    unit: unit.clone(),
                }));
        }
        Ok(bound)
    }

    /// Reports a value outside its range; gives both ends, where they are single numbers, and the unit to write.
    fn check_range(
        &mut self,
        def: DefId,
        value: &Value,
        range: &'a ast::Range,
        span: Span,
    ) -> Option<(Option<ExprId>, Option<ExprId>, String)> {
        let scope = self.tables.defs[def.at()].decl_scope;
        let ctx = Ctx::of(scope);
        let low_value = self.lower_or_report(&range.from, ctx)?;
        let high_value = match &range.to {
            Some(to) => self.lower_or_report(to, ctx),
            None => None,
        };
        self.agree(&low_value, value, range.from.span, span);
        if let (Some(high_value), Some(to)) = (&high_value, &range.to) {
            self.agree(high_value, value, to.span, span);
        }
        let (low_end, high_end) = (
            low_value.as_scalar(),
            high_value.and_then(|v| v.as_scalar()),
        );
        let [low, high] = [low_end, high_end]
            .map(|end| end.and_then(|e| self.fixed.constants.value(&self.graph.signals, e)));
        let unit = value.dimension.map_or(String::new(), |d| {
            if d.is_one() {
                String::new()
            } else {
                format!(" {}", super::lower::unit_to_write(d))
            }
        });

        for &e in &value.elements {
            let Some(x) = self.fixed.constants.value(&self.graph.signals, e) else {
                continue;
            };
            if low.is_some_and(|low| x < low) || high.is_some_and(|high| x > high) {
                let name = self
                    .graph
                    .signals
                    .names
                    .display(self.tables.defs[def.at()].path);
                let shown = |x: Option<f64>| x.map_or("…".to_owned(), format_number);
                report!(self, code::OUT_OF_RANGE, span, "{}", out_of_range(&name, x, &unit);
                    "this value";
                    beside range.span => "must lie in {} .. {}{unit}", shown(low), shown(high));
                return None;
            }
        }
        Some((low_end, high_end, unit))
    }

    /// Gives fixed numbers their own symbols. Zeros inside vectors and matrices stay numbers:
    /// they say that something is not there.
    fn bound_parameters(&mut self, def: DefId, value: Value) -> Value {
        let d = &self.tables.defs[def.at()];
        let (path, kind) = (d.path, d.kind);
        // A value given from outside of the part is what a message about it points at.
        let span = match d.value {
            Some((given, scope)) if scope != d.decl_scope => given.span,
            _ => d.span,
        };
        let origin = self.origin(span);
        let mut elements = Vec::with_capacity(value.elements.len());
        for (k, &e) in value.elements.iter().enumerate() {
            let number = self.graph.signals.pool.as_number(e);
            if number == Some(0.0) && value.shape != Shape::Scalar {
                elements.push(e);
                continue;
            }
            let x = self
                .fixed
                .constants
                .value(&self.graph.signals, e)
                .unwrap_or(f64::NAN);
            let name = self.component_path(path, value.shape, k);
            let binding = if number.is_some() { None } else { Some(e) };
            let symbol = self.graph.signals.add_symbol(Symbol {
                name,
                role: Role::Parameter { value: x, binding },
                nominal: 0.0,
                origin,
            });
            if kind == DefKind::Input {
                self.note_input(def, symbol);
            }
            elements.push(self.pool().symbol(symbol));
        }
        Value { elements, ..value }
    }

    fn note_input(&mut self, def: DefId, symbol: SymbolId) {
        let is_top = self.tables.defs[def.at()]
            .instance
            .is_some_and(|i| self.tables.instances[i.at()].parent.is_none());
        if is_top {
            self.graph.inputs.push(symbol);
        }
    }

    fn signal(&mut self, def: DefId) -> Lowered {
        let value = self.declared_value(def)?;
        if !value.is_numeric() {
            return Ok(value);
        }
        let is_fixed = value
            .elements
            .iter()
            .all(|&e| self.fixed.constants.value(&self.graph.signals, e).is_some());
        let kind = self.tables.defs[def.at()].kind;
        if is_fixed {
            self.need_finite(def, &value)?;
            return Ok(self.bound_parameters(def, value));
        }

        // What a port passes on as it is needs no name of its own.
        if kind == DefKind::PortGiven
            && value
                .elements
                .iter()
                .all(|&e| self.graph.signals.pool.as_symbol(e).is_some())
        {
            return Ok(value);
        }
        if self.tables.defs[def.at()].value.is_none() && self.asked.is_lenient {
            // A placeholder is its own symbol.
            return Ok(value);
        }
        let d = &self.tables.defs[def.at()];
        let (path, span) = (d.path, d.span);
        let origin = self.origin(span);
        let mut elements = Vec::with_capacity(value.elements.len());
        for (k, &e) in value.elements.iter().enumerate() {
            if self.graph.signals.pool.as_number(e).is_some() && value.shape != Shape::Scalar {
                elements.push(e);
                continue;
            }
            let name = self.component_path(path, value.shape, k);
            let symbol = self.graph.signals.add_symbol(Symbol {
                name,
                role: Role::Unknown,
                nominal: 0.0,
                origin,
            });
            if kind == DefKind::Input {
                self.note_input(def, symbol);
            }
            let left = self.pool().symbol(symbol);
            elements.push(left);
            if let Some(&counter) = self.readings.turn_counters.get(&e) {
                self.readings.turn_counters.insert(left, counter);
            }
            self.graph.signals.equations.push(Equation {
                left,
                right: e,
                solves: Some(symbol),
                origin,
            });
        }
        Ok(Value { elements, ..value })
    }

    fn need_finite(&mut self, def: DefId, value: &Value) -> Result<(), Stop> {
        for &e in &value.elements {
            if let Some(x) = self.fixed.constants.value(&self.graph.signals, e)
                && !x.is_finite()
                && !(x.is_nan() && self.fixed.has_placeholder)
            {
                let message = self.not_finite(def, x);
                let span = message.primary.as_ref().map(|p| p.span);
                let span = span.unwrap_or(self.tables.defs[def.at()].span);
                self.report.add(code::NOT_FINITE, span, || message);
                return Err(Stop::Reported);
            }
        }
        Ok(())
    }

    /// Says that a value is not a number: at the line of the user that makes the part, where it is one of a part from another file. A vector of
    /// the part that is zero is nearly always the cause: an axis has a direction, and a quaternion a length.
    fn not_finite(&mut self, def: DefId, x: f64) -> Diagnostic {
        let d = &self.tables.defs[def.at()];
        let own = d.value.map_or(d.span, |(e, _)| e.span);
        let names = &self.graph.signals.names;
        let text = format!("the value of `{}` is {x}", names.display(d.path));
        let message = Diagnostic::error(code::NOT_FINITE, text);
        let owner = d.instance;
        let mut part = owner.map(|id| &self.tables.instances[id.at()]);
        while let Some(outer) = part.filter(|p| p.depth > 1).and_then(|p| p.parent) {
            part = Some(&self.tables.instances[outer.at()]);
        }
        let is_elsewhere = |p: &&Instance<'_>| p.depth == 1 && p.span.file != own.file;
        let Some(part) = part.filter(is_elsewhere) else {
            return message.primary(own, "not a finite number");
        };
        let message = message
            .primary(part.span, "what is given here leads to no finite number")
            .secondary(own, "in this line of the part");
        let beside: Vec<(PathId, Value)> = self
            .tables
            .defs
            .iter()
            .filter(|d| d.kind == DefKind::Param && d.instance == owner)
            .filter_map(|d| match &d.progress {
                Progress::Done(value) if value.elements.len() > 1 => Some((d.path, value.clone())),
                _ => None,
            })
            .collect();

        let signals = &self.graph.signals;
        let constants = &mut self.fixed.constants;
        let mut is_zero = |value: &Value| {
            (value.elements.iter()).all(|&e| constants.value(signals, e) == Some(0.0))
        };
        match beside.into_iter().find(|(_, value)| is_zero(value)) {
            Some((path, _)) => message.help(format!(
                "`{}` is zero and has no direction: give it one",
                self.graph.signals.names.display(path)
            )),
            None => message,
        }
    }

    /// Names a component: `J[2,1]`, `gravity[2]`, or the name itself.
    pub(super) fn component_path(&mut self, path: PathId, shape: Shape, k: usize) -> PathId {
        let names = &mut self.graph.signals.names;
        let index = match shape {
            Shape::Scalar => return path,
            Shape::Vector(_) => format!("{}", k + 1),
            Shape::Matrix(_, columns) => {
                let columns = columns as usize;
                format!("{},{}", k / columns + 1, k % columns + 1)
            }
        };
        let Some(parent) = names.parent(path) else {
            return path;
        };
        let (text, own) = names.last(path);
        let text = match own {
            Some(own) => format!("{text}[{own}]"),
            None => text.to_owned(),
        };
        match shape {
            Shape::Vector(_) => names.child(parent, &text, Some(k as i64 + 1)),
            _ => names.child(parent, &format!("{text}[{index}]"), None),
        }
    }

    /// Makes symbols for a value that is defined elsewhere.
    fn fresh(&mut self, def: DefId, shape: Shape, role: impl Fn(usize) -> Role) -> Value {
        let d = &self.tables.defs[def.at()];
        let (path, span) = (d.path, d.span);
        let origin = self.origin(span);
        let elements = (0..shape.len())
            .map(|k| {
                let name = self.component_path(path, shape, k);
                let symbol = self.graph.signals.add_symbol(Symbol {
                    name,
                    role: role(k),
                    nominal: 0.0,
                    origin,
                });
                self.pool().symbol(symbol)
            })
            .collect();
        Value::array(shape, elements)
    }

    // -------------------------------------------------------------------------------
    // States and discrete values
    // -------------------------------------------------------------------------------

    fn state(&mut self, def: DefId) -> Lowered {
        let d = &self.tables.defs[def.at()];
        let (path, unit, value) = (d.path, d.unit, d.value);
        let mut guess = Guess::default();
        if let Some((e, scope)) = value {
            guess = self.guess(e, scope, 0);
            guess.dimension = guess.dimension.map(|d| d.times(Dimension::TIME));
        }
        self.guess_from_starts(path, &mut guess);
        let dimension = unit
            .and_then(|u| self.unit(u))
            .map(|u| u.dimension)
            .or(guess.dimension)
            .or_else(|| self.units.hints.get(&def).copied());
        let shape = guess.shape.unwrap_or(Shape::Scalar);
        let from = unit.map_or(self.tables.defs[def.at()].span, |u| u.span);
        let value = self.fresh(def, shape, |_| Role::Unknown);
        Ok(value.measured(dimension, Some(from)))
    }

    fn discrete_value(&mut self, def: DefId) -> Lowered {
        let d = &self.tables.defs[def.at()];
        let (path, unit, value) = (d.path, d.unit, d.value);
        let mut guess = Guess::default();
        if let Some((e, scope)) = value {
            guess = self.guess(e, scope, 0);
        }
        self.guess_from_starts(path, &mut guess);
        let unit = unit.or_else(|| {
            self.tables.defs[def.at()]
                .decl
                .and_then(|d| d.unit.as_ref())
        });
        let dimension = unit
            .and_then(|u| self.unit(u))
            .map(|u| u.dimension)
            .or(guess.dimension)
            .or_else(|| self.units.hints.get(&def).copied());
        let shape = guess.shape.unwrap_or(Shape::Scalar);
        let mut value = self
            .fresh(def, shape, |_| Role::Discrete { start: 0.0 })
            .measured(dimension, unit.map(|u| u.span));
        if guess.is_truth {
            value.kind = ValueKind::Truth;
        }
        Ok(value)
    }

    /// `start Q = [1, 0, 0, 0]` and `guess` tell the shape and unit of a state.
    fn guess_from_starts(&mut self, path: PathId, guess: &mut Guess) {
        if guess.shape.is_some() && guess.dimension.is_some() {
            return;
        }
        if self.pending.starts_by_path.is_none() {
            self.index_starts();
        }
        let found = self
            .pending
            .starts_by_path
            .as_ref()
            .and_then(|map| map.get(&path))
            .copied();
        if let Some((e, scope)) = found {
            let own = self.guess(e, scope, 0);
            guess.shape = guess.shape.or(own.shape);
            guess.dimension = guess.dimension.or(own.dimension);
        }
    }

    fn index_starts(&mut self) {
        let mut map = rustc_hash::FxHashMap::default();
        for &(scope, assign, _) in &self.pending.starts {
            let Some(mut at) = self.tables.scopes[scope.at()]
                .instance
                .map(|i| self.tables.instances[i.at()].path)
            else {
                continue;
            };
            let mut is_known = true;
            for part in &assign.target.parts {
                match self.graph.signals.names.find(at, &part.name.text, None) {
                    Some(next) if part.index.is_empty() => at = next,
                    _ => {
                        is_known = false;
                        break;
                    }
                }
            }
            if is_known {
                map.entry(at).or_insert((&assign.value, scope));
            }
        }
        self.pending.starts_by_path = Some(map);
    }

    /// Takes a signal of a composite port from the port that gives it.
    fn taken(&mut self, port: PortId, member: u32) -> Lowered {
        // A port that stands for another one has its signals there.
        if let Some(super::lower::Target::Port(other)) = self.follow_port(port)? {
            let members = self.tables.ports[other.at()].members.as_ref();
            if let Some(MemberKind::Signal(def)) = members
                .and_then(|m| m.get(member as usize))
                .map(|m| m.what.clone())
            {
                return self.read_def(def);
            }
            return Err(Stop::Reported);
        }

        // That the port leaves this signal open was reported.
        if self.excused.incomplete_ports.contains(&port) {
            return Err(Stop::Reported);
        }
        let net = self.tables.net_of(port);
        let giver = self.wiring.net_givers.get(&net).copied();
        if let Some(giver) = giver
            && let Some(members) = &self.tables.ports[giver.at()].members
            && let Some(MemberKind::Signal(def)) =
                members.get(member as usize).map(|m| m.what.clone())
        {
            return self.read_def(def);
        }
        let decl = self.tables.ports[port.at()].decl;
        let is_top = self.tables.instances[self.tables.ports[port.at()].instance.at()]
            .parent
            .is_none();
        if self.asked.is_lenient && is_top {
            let def = match &self.tables.ports[port.at()].members {
                Some(members) => match members[member as usize].what {
                    MemberKind::Signal(def) => def,
                    MemberKind::Power { .. } => return Err(Stop::Reported),
                },
                None => return Err(Stop::Reported),
            };
            return self.placeholder(def);
        }

        if self.phase < super::Phase::Connected {
            report!(self, code::NOT_CONSTANT, decl.span, "the shape of a model cannot depend on a port";
                "a signal of this port is read");
            return Err(Stop::Reported);
        }

        let instance = self.tables.ports[port.at()].instance;
        if self.excused.incomplete_parts.contains(&instance) || self.excused.nets.contains(&net) {
            return Err(Stop::Reported);
        }
        let name = self
            .graph
            .signals
            .names
            .display(self.tables.ports[port.at()].path);

        let part = self.line_of_user(self.tables.ports[port.at()].instance);
        report!(self, code::GIVERS, part, "nothing gives the signals of port `{name}`";
            "its port is joined to no port that gives them";
            beside decl.span => "declared here";
            help: "join it to a body or to the world");
        Err(Stop::Reported)
    }

    /// Gives the value of a constant of a file.
    pub(super) fn constant(&mut self, define: &'a ast::Define, file: u32) -> Lowered {
        match self.texts.constants.get(&define.span) {
            Some(Progress::Done(value)) => return Ok(value.clone()),
            Some(Progress::Failed) => return Err(Stop::Reported),
            Some(Progress::Started) => {
                report!(self, code::PARAMETER_CYCLE, define.span, "a constant depends on itself"; "part of the cycle");
                return Err(Stop::Reported);
            }
            _ => {}
        }

        self.texts.constants.insert(define.span, Progress::Started);
        let scope = self.texts.scopes[file as usize];
        let result = self.lower(&define.value, Ctx::of(scope)).and_then(|value| {
            let fixed = value
                .elements
                .iter()
                .all(|&e| self.fixed.constants.value(&self.graph.signals, e).is_some());
            if fixed {
                return Ok(value);
            }
            let span = define.span;
            report!(self, code::NOT_CONSTANT, span, "a constant of a file cannot vary"; "reads time");
            Err(Stop::Reported)
        });

        let progress = match &result {
            Ok(value) => Progress::Done(value.clone()),
            Err(_) => Progress::Failed,
        };
        self.texts.constants.insert(define.span, progress);
        result
    }
}

/// What is said of a value that nothing gives: code, headline and help.
fn words_without_value(
    kind: DefKind,
    name: &str,
    short: &str,
    is_in_part: bool,
) -> (&'static str, String, String) {
    match kind {
        DefKind::Output => (
            code::NOT_DEFINED,
            format!("the output `{name}` is not defined"),
            format!("add `{short} = …` to the model, or use a model that extends it"),
        ),
        DefKind::Input => (
            code::NO_VALUE,
            format!("the input `{name}` has no value"),
            match is_in_part {
                true => {
                    format!("give it in the parentheses, `{short} = …`, or by `{name} = …`")
                }
                false => format!(
                    "give it a default, `input {short} = …`, or a value in an experiment: `with {short} = …`"
                ),
            },
        ),
        _ => (
            code::NO_VALUE,
            format!("the parameter `{name}` has no value"),
            match is_in_part {
                true => format!("give it in the parentheses: `{short} = …`"),
                false => format!(
                    "give it a default, `param {short} = …`, or a value in an experiment: `with {short} = …`"
                ),
            },
        ),
    }
}

/// The unit that the default of a declaration is written in, where another value replaces it:
/// `param k = 2 [N/m]` declares a stiffness as well as `param k [N/m]` does.
fn unit_of_default<'a>(decl: &'a ast::Decl, given: &ast::Expr) -> Option<&'a ast::Unit> {
    let default = decl.value.as_ref()?;
    if std::ptr::eq(default, given) {
        return None;
    }
    match &default.kind {
        ast::ExprKind::Number { unit, .. } | ast::ExprKind::Matrix { unit, .. } => unit.as_ref(),
        _ => None,
    }
}
