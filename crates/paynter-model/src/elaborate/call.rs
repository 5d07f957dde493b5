//! Calls: functions of the text are inlined, built-in ones make expressions, a few make states.
//!
//! In:  a name and arguments.
//! Out: a [`Value`].
//!
//! **Invariant:** a call with equal arguments gives equal expressions, and makes its states and
//! readings once.

use paynter_symbolic::{Equation, ExprId, Role, Symbol, SymbolId};
use paynter_syntax::{Diagnostic, Span, ast};
use std::sync::Arc;

use super::data::*;
use super::lower::{Ctx, Locals, Lowered, Stop, UnitAt};
use super::value::{Shape, Value, ValueKind};
use super::{Elaborator, Item, code};
use crate::functions;
use crate::graph::{Reading, ReadingKind};
use crate::units::Dimension;

/// Functions calling functions; the language has no recursion.
const MAX_CALLS: u32 = 64;

/// What the elaborator itself understands.
pub(crate) const SPECIAL: &[&str] = &["der", "pre", "integral", "smooth", "sum", "tf", "unwrap"];

impl<'a> Elaborator<'a> {
    pub(super) fn call(
        &mut self,
        function: &ast::Path,
        args: &[ast::Arg],
        span: Span,
        ctx: Ctx<'_>,
    ) -> Lowered {
        let file = self.tables.scopes[ctx.scope.at()].file;
        match self.texts.find_item(function, file) {
            Some(Item::Function(item, item_file)) => {
                return self.call_function(item, item_file, args, span, ctx);
            }
            // A library may offer what is built in: `use control: tf`.
            Some(Item::Missing(_)) if !is_built_in_call(function) => return Err(Stop::Reported),
            Some(Item::Missing(_)) => {}
            Some(_) => {
                let text = self.project.sources.text(function.span);
                report!(self, code::WRONG_TYPE, function.span, "`{text}` is not a function";
                    "cannot be called for a value");
                return Err(Stop::Reported);
            }
            None => {}
        }

        let [name] = function.segments.as_slice() else {
            self.report_no_function(function, file);
            return Err(Stop::Reported);
        };

        match &*name.text {
            "der" => self.der(self.only(args), span, ctx),
            "pre" => self.pre(self.only(args), span, ctx),
            "integral" => self.integral(self.only(args), span, ctx),
            "smooth" => self.smooth(args, span, ctx),
            "sum" if args.len() == 1 => self.sum_of_elements(args, span, ctx),
            "tf" => self.transfer(args, span, ctx),
            crate::foreign::CALL if self.calls_foreign(span) => self.foreign_call(args, span, ctx),
            "unwrap" => self.unwrap(args, span, ctx),
            text if functions::is_built_in(text) => {
                if matches!(text, "sin" | "cos" | "tan") {
                    self.ask_for_angle_in(args, file);
                }
                self.built_in(text, args, span, ctx)
            }
            _ => {
                self.report_no_function(function, file);
                Err(Stop::Reported)
            }
        }
    }

    /// A value that is promised to be continuous.
    fn smooth(&mut self, args: &[ast::Arg], span: Span, ctx: Ctx<'_>) -> Lowered {
        let value = self.only_value("smooth", args, span, ctx)?;
        let elements = value
            .elements
            .iter()
            .map(|&e| self.pool().smooth(e))
            .collect();
        Ok(Value { elements, ..value })
    }

    /// The sum of the entries of a vector or matrix.
    fn sum_of_elements(&mut self, args: &[ast::Arg], span: Span, ctx: Ctx<'_>) -> Lowered {
        let value = self.only_value("sum", args, span, ctx)?;
        let mut total = self.pool().number(0.0);
        for &e in &value.elements {
            total = self.pool().add(total, e);
        }
        Ok(Value::scalar(total).measured(value.dimension, value.dimension_from))
    }

    fn only<'e>(&self, args: &'e [ast::Arg]) -> Option<&'e ast::Expr> {
        match args {
            [arg] if arg.name.is_none() => Some(&arg.value),
            _ => None,
        }
    }

    fn only_value(&mut self, name: &str, args: &[ast::Arg], span: Span, ctx: Ctx<'_>) -> Lowered {
        match self.only(args) {
            Some(arg) => {
                let value = self.lower(arg, ctx)?;
                self.need_numbers(&value, arg.span)?;
                Ok(value)
            }
            None => Err(self.one_argument(name, span)),
        }
    }

    fn one_argument(&mut self, name: &str, span: Span) -> Stop {
        report!(self, code::ARGUMENTS, span, "`{name}` takes one argument"; "called with something else");
        Stop::Reported
    }

    pub(super) fn report_no_function(&mut self, function: &ast::Path, file: u32) {
        let text = self.project.sources.text(function.span);
        let text = if text.is_empty() {
            function.segments.last().map_or("", |s| &*s.text)
        } else {
            text
        };
        let mut names: Vec<String> = self.texts.files[file as usize]
            .names
            .iter()
            .filter(|(_, item)| matches!(item, Item::Function(..)))
            .map(|(name, _)| (*name).to_owned())
            .collect();
        names.sort_unstable();
        names.extend(
            functions::names()
                .chain(SPECIAL.iter().copied())
                .map(str::to_owned),
        );

        self.report
            .add(crate::code::UNKNOWN_FUNCTION, function.span, || {
                let message = Diagnostic::error(
                    crate::code::UNKNOWN_FUNCTION,
                    format!("there is no function `{text}`"),
                )
                .primary(function.span, "not a function");
                match functions::meant(text, names) {
                    Some(help) => message.help(help),
                    None => message,
                }
            });
    }

    // -------------------------------------------------------------------------------
    // Functions of the text
    // -------------------------------------------------------------------------------

    fn call_function(
        &mut self,
        function: &'a ast::Function,
        file: u32,
        args: &[ast::Arg],
        span: Span,
        ctx: Ctx<'_>,
    ) -> Lowered {
        if ctx.calls >= MAX_CALLS {
            let place = function.name.span;
            report!(self, code::RECURSION, place, "function `{}` calls itself", function.name.text;
                "more than {MAX_CALLS} calls inside each other";
                help: "functions are formulas without repetition; use `sum(… for …)`, a matrix, or a model with states");
            return Err(Stop::Reported);
        }

        if matches!(function.body, ast::FunctionBody::External) {
            return self.external(function, args, span, ctx);
        }

        let scope = self.texts.scopes[file as usize];
        let frame = self.bind_arguments(function, scope, args, span, ctx)?;
        let inner = Ctx {
            scope,
            locals: Some(&frame),
            calls: ctx.calls + 1,
            means_part: false,
        };

        match &function.body {
            ast::FunctionBody::Expr(e) => self.lower(e, inner),
            ast::FunctionBody::External => unreachable!("handled above"),
            ast::FunctionBody::Block { defines, results } => {
                let mut local = Locals {
                    names: Vec::new(),
                    parent: Some(&frame),
                };
                for define in defines {
                    let value = self.lower(&define.value, inner.with_locals(&local))?;
                    let [part] = define.target.parts.as_slice() else {
                        continue;
                    };
                    if local.names.iter().any(|(n, _)| *n == &*part.name.text) {
                        let place = part.name.span;
                        report!(self, code::DUPLICATE_NAME, place, "`{}` is defined twice", part.name.text;
                            "defined again");
                        return Err(Stop::Reported);
                    }
                    local.names.push((&part.name.text, value));
                }
                self.results(results, inner.with_locals(&local))
            }
        }
    }

    /// Calls a function that is declared without a body.
    fn external(
        &mut self,
        function: &'a ast::Function,
        args: &[ast::Arg],
        span: Span,
        ctx: Ctx<'_>,
    ) -> Lowered {
        let name = &*function.name.text;
        if functions::is_built_in(name) {
            return self.built_in(name, args, span, ctx);
        }
        let place = function.name.span;
        self.report.add(crate::code::UNKNOWN_FUNCTION, place, || {
            Diagnostic::error(
                crate::code::UNKNOWN_FUNCTION,
                format!("no code is registered for the external function `{name}`"),
            )
            .primary(place, "declared here")
        });
        Err(Stop::Reported)
    }

    fn results(&mut self, results: &'a [(Option<ast::Ident>, ast::Expr)], ctx: Ctx<'_>) -> Lowered {
        if let [(None, only)] = results {
            return self.lower(only, ctx);
        }
        let mut named = Vec::new();
        for (name, e) in results {
            let value = self.lower(e, ctx)?;
            match name {
                Some(name) => named.push((name.text.clone(), value)),
                None => {
                    let span = e.span;
                    report!(self, code::ARGUMENTS, span, "one of several results has no name"; "write `name = …`");
                    return Err(Stop::Reported);
                }
            }
        }
        Ok(Value {
            kind: ValueKind::Results(Arc::from(named)),
            ..Value::text("")
        })
    }

    fn bind_arguments(
        &mut self,
        function: &'a ast::Function,
        scope: ScopeId,
        args: &[ast::Arg],
        span: Span,
        ctx: Ctx<'_>,
    ) -> Result<Locals<'a>, Stop> {
        let mut slots: Vec<Option<&ast::Expr>> = vec![None; function.params.len()];
        for (position, arg) in args.iter().enumerate() {
            let slot = match &arg.name {
                None => (position < slots.len()).then_some(position),
                Some(name) => function
                    .params
                    .iter()
                    .position(|p| p.name.text == name.text),
            };
            let is_free = slot.is_some_and(|s| slots[s].is_none());
            match slot {
                Some(slot) if is_free => slots[slot] = Some(&arg.value),
                _ => {
                    let label = match (&arg.name, slot) {
                        (_, Some(_)) => "given twice".to_owned(),
                        (Some(name), None) => format!("has no argument `{}`", name.text),
                        (None, None) => format!("one too many: it takes {}", slots.len()),
                    };
                    return Err(self.wrong_arguments(function, arg.value.span, label));
                }
            }
        }

        let mut frame = Locals::default();
        for (param, slot) in function.params.iter().zip(slots) {
            let value = match (slot, &param.value) {
                (Some(e), _) => {
                    let value = self.lower(e, ctx)?;
                    self.argument_unit(param, value, e.span)
                }
                (None, Some(default)) => {
                    let inner = Ctx {
                        scope,
                        locals: Some(&frame),
                        calls: ctx.calls + 1,
                        means_part: false,
                    };
                    self.lower(default, inner)?
                }
                (None, None) => {
                    let label = format!("`{}` is missing", param.name.text);
                    return Err(self.wrong_arguments(function, span, label));
                }
            };
            frame.names.push((&param.name.text, value));
        }
        Ok(frame)
    }

    fn argument_unit(&mut self, param: &'a ast::Decl, value: Value, span: Span) -> Value {
        let Some(unit) = &param.unit else {
            return value;
        };
        let Some(parsed) = self.unit(unit) else {
            return value;
        };
        if let Some(found) = value.dimension
            && found != parsed.dimension
        {
            let declared = UnitAt::declared(parsed.dimension, unit.span);
            self.report_units(declared, value.unit_at(found, span));
        }
        value.measured(Some(parsed.dimension), Some(unit.span))
    }

    fn wrong_arguments(&mut self, function: &ast::Function, span: Span, label: String) -> Stop {
        self.report.add(code::ARGUMENTS, span, || {
            let names: Vec<&str> = function.params.iter().map(|p| &*p.name.text).collect();
            Diagnostic::error(
                code::ARGUMENTS,
                format!(
                    "`{}` is called with the wrong arguments",
                    function.name.text
                ),
            )
            .primary(span, label)
            .help(format!(
                "it is called as `{}({})`",
                function.name.text,
                names.join(", ")
            ))
        });
        Stop::Reported
    }

    // -------------------------------------------------------------------------------
    // Built-in functions
    // -------------------------------------------------------------------------------

    fn built_in(&mut self, name: &str, args: &[ast::Arg], span: Span, ctx: Ctx<'_>) -> Lowered {
        let mut given = Vec::with_capacity(args.len());
        for (at, arg) in args.iter().enumerate() {
            let mut value = self.lower(&arg.value, ctx)?;
            if name == "table" && is_table_data(at, arg) {
                self.fix_table_data(&mut value, arg.value.span)?;
            }
            let value = match to_function_value(&value) {
                Some(value) => value,
                None => {
                    self.need_numbers(&value, arg.value.span)?;
                    return Err(Stop::Reported);
                }
            };
            let name = arg.name.as_ref().map(|n| &*n.text);
            given.push(functions::Argument {
                name,
                value,
                span: arg.value.span,
            });
        }
        self.apply(name, &given, span, ctx)
    }

    /// The points of a table shape the model: parameters in them are read now, and a sweep
    /// over one of them makes the model anew.
    fn fix_table_data(&mut self, value: &mut Value, span: Span) -> Result<(), Stop> {
        if value.shape == Shape::Scalar {
            return Ok(());
        }
        for k in 0..value.elements.len() {
            let e = value.elements[k];
            if self.fixed.constants.value(&self.graph.signals, e).is_some() {
                let x = self.structural(e, span).ok_or(Stop::Reported)?;
                value.elements[k] = self.pool().number(x);
            }
        }
        Ok(())
    }

    fn apply(
        &mut self,
        name: &str,
        args: &[functions::Argument<'_>],
        span: Span,
        ctx: Ctx<'_>,
    ) -> Lowered {
        let file = self.tables.scopes[ctx.scope.at()].file as usize;
        let data = &self.project.files[file].data;
        let read_file = |path: &str| match data.get(path) {
            Some(found) => found.clone(),
            None => Err("the file was not read".to_owned()),
        };
        let time = self.graph.signals.time.expect("made at the beginning");
        let time = self.graph.signals.pool.symbol(time);
        let mut context = functions::Context {
            pool: &mut self.graph.signals.pool,
            time: Some(functions::Dimensioned {
                expr: time,
                dimension: Some(Dimension::TIME),
            }),
            call: span,
            read_file: &read_file,
        };

        match functions::call(name, args, &mut context) {
            Ok(value) => Ok(from_function_value(value, span)),
            Err(message) => {
                self.report.push(*message);
                Err(Stop::Reported)
            }
        }
    }

    pub(super) fn comprehension(
        &mut self,
        function: &ast::Path,
        body: &ast::Expr,
        variable: &ast::Ident,
        range: &ast::Range,
        ctx: Ctx<'_>,
    ) -> Lowered {
        let Some(values) = self.range_values_in(range, ctx) else {
            return Err(Stop::Reported);
        };
        let name = function.segments.last().map_or("", |s| &*s.text);
        let (terms, dimension) = self.repeated(body, &variable.text, &values, ctx)?;

        if name == "sum" {
            let shape = terms.first().map_or(Shape::Scalar, |t| t.shape);
            let zero = self.pool().number(0.0);
            let mut total = vec![zero; shape.len()];
            for term in &terms {
                for (sum, &e) in total.iter_mut().zip(&term.elements) {
                    *sum = self.graph.signals.pool.add(*sum, e);
                }
            }
            return Ok(Value::array(shape, total).measured(dimension, Some(body.span)));
        }

        let mut elements = Vec::with_capacity(terms.len());
        for term in &terms {
            elements.push(self.scalar_of(term, body.span)?);
        }
        let list = Value::array(Shape::Vector(elements.len() as u32), elements)
            .measured(dimension, Some(body.span));
        let arg = functions::Argument {
            name: None,
            value: to_function_value(&list).expect("numbers"),
            span: body.span,
        };

        if functions::is_built_in(name) {
            return self.apply(name, &[arg], function.span, ctx);
        }
        self.report
            .add(crate::code::UNKNOWN_FUNCTION, function.span, || {
                Diagnostic::error(
                    crate::code::UNKNOWN_FUNCTION,
                    format!("`{name}` cannot be repeated with `for`"),
                )
                .primary(function.span, "not such a function")
                .help("write `sum(… for i in 1 .. n)`")
            });
        Err(Stop::Reported)
    }

    /// The values of a body for each value of its variable, and their common unit.
    fn repeated(
        &mut self,
        body: &ast::Expr,
        variable: &str,
        values: &[f64],
        ctx: Ctx<'_>,
    ) -> Result<(Vec<Value>, Option<Dimension>), Stop> {
        let mut terms: Vec<Value> = Vec::with_capacity(values.len());
        let mut with_unit: Option<Value> = None;
        for &x in values {
            let e = self.pool().number(x);
            let locals = Locals {
                names: vec![(variable, Value::scalar(e))],
                parent: ctx.locals,
            };
            let inner = Ctx {
                locals: Some(&locals),
                ..ctx
            };
            let term = self.lower(body, inner)?;
            if let Some(first) = terms.first() {
                let first = first.clone();
                self.need_same_shape(&first, &term, body.span, body.span)?;
            } else {
                self.need_numbers(&term, body.span)?;
            }
            match &with_unit {
                None if term.dimension.is_some() => with_unit = Some(term.clone()),
                Some(earlier) => {
                    let earlier = earlier.clone();
                    self.agree(&earlier, &term, body.span, body.span);
                }
                None => {}
            }
            terms.push(term);
        }
        Ok((terms, with_unit.and_then(|t| t.dimension)))
    }

    // -------------------------------------------------------------------------------
    // Calls that make symbols
    // -------------------------------------------------------------------------------

    fn der(&mut self, of: Option<&ast::Expr>, span: Span, ctx: Ctx<'_>) -> Lowered {
        let Some(of) = of else {
            return Err(self.one_argument("der", span));
        };
        let value = self.lower(of, ctx)?;
        self.need_numbers(&value, of.span)?;
        let mut elements = Vec::with_capacity(value.elements.len());
        for &e in &value.elements {
            elements.push(match self.graph.signals.pool.as_symbol(e) {
                _ if self.fixed.constants.value(&self.graph.signals, e).is_some() => {
                    self.pool().number(0.0)
                }
                Some(s) if Some(s) == self.graph.signals.time => self.pool().number(1.0),
                Some(s) => {
                    let d = self.derivative_symbol(s);
                    self.pool().symbol(d)
                }
                None => {
                    report!(self, code::WRONG_TYPE, of.span, "`der` takes the derivative of a name";
                        "this is an expression";
                        help: "give the expression a name first: `x = …`, then `der(x)`");
                    return Err(Stop::Reported);
                }
            });
        }
        let dimension = value.dimension.map(|d| d.per(Dimension::TIME));
        Ok(Value::array(value.shape, elements).measured(dimension, Some(span)))
    }

    /// Gives the symbol of the time derivative of another one.
    pub(super) fn derivative_symbol(&mut self, of: SymbolId) -> SymbolId {
        if let Some(&d) = self.readings.derivatives.get(&of) {
            return d;
        }
        let Symbol { name, origin, .. } = *self.graph.signals.symbol(of);
        let d = self.graph.signals.add_symbol(Symbol {
            name,
            role: Role::Derivative { of },
            nominal: 0.0,
            origin,
        });
        self.readings.derivatives.insert(of, d);
        d
    }

    fn pre(&mut self, of: Option<&ast::Expr>, span: Span, ctx: Ctx<'_>) -> Lowered {
        let Some(of) = of else {
            return Err(self.one_argument("pre", span));
        };
        let value = self.lower(of, ctx)?;
        let mut elements = Vec::with_capacity(value.elements.len());
        for &e in &value.elements {
            let Some(s) = self.graph.signals.pool.as_symbol(e) else {
                report!(self, code::WRONG_TYPE, of.span, "`pre` is the last value of a name";
                    "this is not a name that varies");
                return Err(Stop::Reported);
            };
            let before = match self.readings.befores.get(&s) {
                Some(&b) => b,
                None => {
                    let Symbol { name, origin, .. } = *self.graph.signals.symbol(s);
                    let b = self.graph.signals.add_symbol(Symbol {
                        name,
                        role: Role::Pre { of: s },
                        nominal: 0.0,
                        origin,
                    });
                    self.readings.befores.insert(s, b);
                    b
                }
            };
            elements.push(self.pool().symbol(before));
        }
        Ok(Value { elements, ..value })
    }

    fn integral(&mut self, of: Option<&ast::Expr>, span: Span, ctx: Ctx<'_>) -> Lowered {
        let Some(of) = of else {
            return Err(self.one_argument("integral", span));
        };
        let value = self.lower(of, ctx)?;
        self.need_numbers(&value, of.span)?;
        let origin = self.origin(span);
        let mut elements = Vec::with_capacity(value.elements.len());
        for &e in &value.elements {
            let symbol = match self.readings.integrals.get(&e) {
                Some(&symbol) => symbol,
                None => {
                    let number = self.readings.integrals.len() as i64 + 1;
                    let names = &mut self.graph.signals.names;
                    let name = names.child(paynter_symbolic::Names::ROOT, "integral", Some(number));
                    let symbol = self.graph.signals.add_symbol(Symbol {
                        name,
                        role: Role::Unknown,
                        nominal: 0.0,
                        origin,
                    });
                    self.readings.integrals.insert(e, symbol);
                    let what = ReadingKind::Integral(e);
                    self.graph.readings.push(Reading { symbol, what });
                    symbol
                }
            };
            elements.push(self.pool().symbol(symbol));
        }

        let dimension = value.dimension.map(|d| d.times(Dimension::TIME));
        Ok(Value::array(value.shape, elements).measured(dimension, Some(span)))
    }

    fn transfer(&mut self, args: &[ast::Arg], span: Span, ctx: Ctx<'_>) -> Lowered {
        let [(num, _), (den, _), (u, u_span)] = self.transfer_arguments(args, span, ctx)?;
        let input = self.scalar_of(&u, u_span)?;
        let key = (span, ctx.scope, input);
        if let Some(known) = self.readings.transfers.get(&key) {
            return Ok(known.clone());
        }

        // Coefficients without a unit belong to time in seconds, also in a strict file.
        let quantities = |value: &Value| -> Vec<functions::Dimensioned> {
            let dimension = value.dimension.filter(|d| !d.is_one());
            let quantity = |&expr: &ExprId| functions::Dimensioned { expr, dimension };
            value.elements.iter().map(quantity).collect()
        };
        let (num, den) = (quantities(&num), quantities(&den));
        let pool = &mut self.graph.signals.pool;
        let transfer = match functions::transfer::Transfer::new(pool, &num, &den, span) {
            Ok(transfer) => transfer,
            Err(message) => {
                self.report.push(*message);
                return Err(Stop::Reported);
            }
        };

        let origin = self.origin(span);
        let states = self.transfer_states(transfer.order(), origin, ctx);

        let exprs: Vec<ExprId> = states.iter().map(|&s| self.pool().symbol(s)).collect();
        let u = functions::Dimensioned {
            expr: input,
            dimension: u.dimension,
        };
        let realised = transfer.realise(&mut self.graph.signals.pool, u, &exprs);
        for (&state, &rate) in states.iter().zip(&realised.rates) {
            let d = self.derivative_symbol(state);
            let left = self.pool().symbol(d);
            self.graph.signals.equations.push(Equation {
                left,
                right: rate,
                solves: Some(d),
                origin,
            });
        }

        let value =
            Value::scalar(realised.output.expr).measured(realised.output.dimension, Some(span));
        self.readings.transfers.insert(key, value.clone());
        Ok(value)
    }

    /// Numerator, denominator and input, by place or by name.
    fn transfer_arguments(
        &mut self,
        args: &[ast::Arg],
        span: Span,
        ctx: Ctx<'_>,
    ) -> Result<[(Value, Span); 3], Stop> {
        let mut parts: [Option<(Value, Span)>; 3] = [None, None, None];
        for (position, arg) in args.iter().enumerate() {
            let slot = match arg.name.as_ref().map(|n| &*n.text) {
                None => position,
                Some("num") => 0,
                Some("den") => 1,
                Some("u") => 2,
                Some(_) => 3,
            };
            if slot > 2 || parts[slot].is_some() {
                let at = arg.value.span;
                report!(self, code::ARGUMENTS, at, "`tf` is called with the wrong arguments";
                    "not expected";
                    help: "it is called as `tf(num = [b1, b0], den = [a1, a0], u = x)`");
                return Err(Stop::Reported);
            }
            parts[slot] = Some((self.lower(&arg.value, ctx)?, arg.value.span));
        }

        let [Some(num), Some(den), Some(u)] = parts else {
            report!(self, code::ARGUMENTS, span, "`tf` is called with the wrong arguments";
                "an argument is missing";
                help: "it is called as `tf(num = [b1, b0], den = [a1, a0], u = x)`");
            return Err(Stop::Reported);
        };
        Ok([num, den, u])
    }

    /// New states `tf[1]`, `tf[2]`, … of the part in which a transfer function is.
    fn transfer_states(
        &mut self,
        order: usize,
        origin: paynter_symbolic::Origin,
        ctx: Ctx<'_>,
    ) -> Vec<SymbolId> {
        let parent = self.tables.scopes[ctx.scope.at()]
            .instance
            .map_or(paynter_symbolic::Names::ROOT, |i| {
                self.tables.instances[i.at()].path
            });

        let mut states = Vec::new();
        for _ in 0..order {
            self.readings.n_transfer_states += 1;
            let number = self.readings.n_transfer_states;
            let name = self.graph.signals.names.child(parent, "tf", Some(number));
            states.push(self.graph.signals.add_symbol(Symbol {
                name,
                role: Role::Unknown,
                nominal: 0.0,
                origin,
            }));
        }
        states
    }
}

/// Tells whether a name is built in.
pub(super) fn is_built_in_call(function: &ast::Path) -> bool {
    match function.segments.as_slice() {
        [name] => functions::is_built_in(&name.text) || SPECIAL.contains(&&*name.text),
        _ => false,
    }
}

fn to_function_value(value: &Value) -> Option<functions::Value> {
    let quantity = |&expr: &ExprId| functions::Dimensioned {
        expr,
        dimension: value.dimension,
    };
    Some(match &value.kind {
        ValueKind::Text(text) => functions::Value::Text(text.to_string()),
        ValueKind::Results(_) => return None,
        ValueKind::Number | ValueKind::Truth => match value.shape {
            Shape::Scalar => functions::Value::Number(quantity(value.elements.first()?)),
            shape => functions::Value::Array(functions::Array {
                shape: match shape {
                    Shape::Matrix(n, m) => functions::Shape::Matrix(n as usize, m as usize),
                    other => functions::Shape::Vector(other.len()),
                },
                entries: value.elements.iter().map(quantity).collect(),
            }),
        },
    })
}

fn from_function_value(value: functions::Value, span: Span) -> Value {
    match value {
        functions::Value::Number(q) => Value::scalar(q.expr).measured(q.dimension, Some(span)),
        functions::Value::Text(text) => Value::text(&text),
        functions::Value::Array(array) => {
            let shape = match array.shape {
                functions::Shape::Vector(n) => Shape::Vector(n as u32),
                functions::Shape::Matrix(1, 1) => Shape::Scalar,
                functions::Shape::Matrix(n, m) => Shape::Matrix(n as u32, m as u32),
            };
            // One unit for the whole, where all entries that know theirs agree.
            let mut known = array.entries.iter().filter_map(|q| q.dimension);
            let first = known.next();
            let dimension = first.filter(|d| known.all(|other| other == *d));
            let elements = array.entries.iter().map(|q| q.expr).collect();
            Value::array(shape, elements).measured(dimension, Some(span))
        }
    }
}

/// `x` and `y` of a table; a file name is not a vector, and what follows it is not a data.
fn is_table_data(at: usize, arg: &ast::Arg) -> bool {
    match &arg.name {
        None => at < 2,
        Some(name) => matches!(&*name.text, "x" | "y"),
    }
}
