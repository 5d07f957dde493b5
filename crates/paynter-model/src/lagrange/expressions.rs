//! Turns expressions of the text into expressions of the pool, and back into text of the model.
//!
//! In:  expressions as parsed, and what each name stands for.
//! Out: expressions that can be differentiated.
//!
//! A number with a unit becomes a symbol named by its text, so that derivatives still carry the unit when
//! they are written. Signals and functions of the files are put in where they are read.

use super::system::{Role, System};
use crate::code;
use crate::suggest::nearest;
use crate::units::{Dimension, Unit};
use paynter_symbolic::expr::{Comparison, Function1, Function2};
use paynter_symbolic::{ExprId, SymbolId};
use paynter_syntax::ast::{self, BinaryOp, ExprKind, UnaryOp};
use paynter_syntax::{Diagnostic, SourceMap, Span};
use rustc_hash::FxHashMap;

/// Why an expression could not be read; large, so in a box.
pub(super) type Refused = Box<Diagnostic>;

/// Levels of brackets, signals and functions inside of each other: no more than a stack holds.
const MAX_DEPTH: usize = 1200;

/// Functions that call each other twice grow like 2ⁿ when put in; no energy that anybody wrote is so long.
const MAX_WORK: usize = 1_000_000;

/// What names mean in one block.
pub(super) struct Scope<'a> {
    pub sources: &'a SourceMap,
    pub names: FxHashMap<String, SymbolId>,
    /// Signals and constants, put in where they are read.
    pub definitions: FxHashMap<String, &'a ast::Expr>,
    pub functions: FxHashMap<String, &'a ast::Function>,
    /// Values of definitions that were read before.
    read: FxHashMap<String, ExprId>,
    /// Numbers with units by their text.
    literals: FxHashMap<String, SymbolId>,
    /// Signals and functions that are being put in.
    open: Vec<String>,
    depth: usize,
    work: usize,
}

/// Values of the parameters of a function that is put in.
type Arguments<'f> = FxHashMap<&'f str, ExprId>;

impl<'a> Scope<'a> {
    pub fn new(sources: &'a SourceMap) -> Self {
        Scope {
            sources,
            names: FxHashMap::default(),
            definitions: FxHashMap::default(),
            functions: FxHashMap::default(),
            read: FxHashMap::default(),
            literals: FxHashMap::default(),
            open: Vec::new(),
            depth: 0,
            work: 0,
        }
    }

    /// Reads an expression.
    ///
    /// # Errors
    ///
    /// Names that are not there, and what has no derivative.
    pub fn read(&mut self, system: &mut System, e: &'a ast::Expr) -> Result<ExprId, Refused> {
        self.expr(system, e, &Arguments::default())
    }

    fn expr(
        &mut self,
        system: &mut System,
        e: &'a ast::Expr,
        arguments: &Arguments<'a>,
    ) -> Result<ExprId, Refused> {
        self.work += 1;
        if self.depth >= MAX_DEPTH || self.work > MAX_WORK {
            return Err(Box::new(
                Diagnostic::error(
                    code::LAGRANGIAN_EXPRESSION,
                    "an expression grows too long when functions and signals are put in",
                )
                .primary(e.span, "while this is read"),
            ));
        }
        self.depth += 1;
        let found = self.expr_here(system, e, arguments);
        self.depth -= 1;
        found
    }

    fn expr_here(
        &mut self,
        system: &mut System,
        e: &'a ast::Expr,
        arguments: &Arguments<'a>,
    ) -> Result<ExprId, Refused> {
        match &e.kind {
            ExprKind::Number { value, unit } => self.literal(system, e.span, *value, unit.as_ref()),
            ExprKind::Name(name) => self.name(system, name, arguments),
            ExprKind::Unary { op, of } => {
                let value = self.expr(system, of, arguments)?;
                match op {
                    UnaryOp::Neg => Ok(system.pool.neg(value)),
                    UnaryOp::Plus => Ok(value),
                    UnaryOp::Not => Err(no_slope(e.span)),
                }
            }
            ExprKind::Binary { op, left, right } => {
                let left = self.expr(system, left, arguments)?;
                let right = self.expr(system, right, arguments)?;
                binary(system, *op, left, right).ok_or_else(|| no_slope(e.span))
            }
            ExprKind::Call { function, args } => self.call(system, e, (function, args), arguments),
            ExprKind::If {
                condition,
                then,
                otherwise,
            } => {
                let condition = self.expr(system, condition, arguments)?;
                let then = self.expr(system, then, arguments)?;
                let otherwise = self.expr(system, otherwise, arguments)?;
                Ok(system.pool.if_else(condition, then, otherwise))
            }
            _ => Err(no_slope(e.span)),
        }
    }

    fn literal(
        &mut self,
        system: &mut System,
        span: Span,
        value: f64,
        unit: Option<&ast::Unit>,
    ) -> Result<ExprId, Refused> {
        // Nothing is nothing in any unit.
        let Some(unit) = unit.filter(|_| value != 0.0) else {
            return Ok(system.pool.number(value));
        };
        let unit = Unit::parse(unit).map_err(|e| Box::new(e.to_diagnostic()))?;
        let text = self.sources.text(span).to_owned();
        let symbol = match self.literals.get(&text) {
            Some(&known) => known,
            None => {
                let symbol = system.add(&text, Role::Constant);
                system.dimensions.insert(symbol, unit.dimension);
                system.values.insert(symbol, unit.to_si(value));
                self.literals.insert(text, symbol);
                symbol
            }
        };
        Ok(system.pool.symbol(symbol))
    }

    fn name(
        &mut self,
        system: &mut System,
        name: &'a ast::Ident,
        arguments: &Arguments<'a>,
    ) -> Result<ExprId, Refused> {
        let text = &*name.text;
        if let Some(&value) = arguments.get(text) {
            return Ok(value);
        }
        if let Some(&symbol) = self.names.get(text) {
            return Ok(system.pool.symbol(symbol));
        }
        if let Some(&known) = self.read.get(text) {
            return Ok(known);
        }
        if let Some(&definition) = self.definitions.get(text) {
            self.enter(text, name.span)?;
            let value = self.expr(system, definition, &Arguments::default());
            self.open.pop();
            if let Ok(value) = value {
                self.read.insert(text.to_owned(), value);
            }
            return value;
        }
        match text {
            "pi" => Ok(system.pool.number(std::f64::consts::PI)),
            "g0" => {
                let symbol = system.add("g0", Role::Constant);
                let acceleration = Dimension::LENGTH.per(Dimension::TIME.pow(2, 1));
                system.dimensions.insert(symbol, acceleration);
                system.values.insert(symbol, 9.80665);
                self.names.insert("g0".to_owned(), symbol);
                Ok(system.pool.symbol(symbol))
            }
            _ => Err(self.unknown(system, name)),
        }
    }

    fn unknown(&self, system: &System, name: &ast::Ident) -> Refused {
        let known = self.names.keys().chain(self.definitions.keys());
        let mut message = Diagnostic::error(
            code::LAGRANGIAN_NAME,
            format!("there is no `{}` in `{}`", name.text, system.name),
        )
        .primary(name.span, "neither a parameter, a coordinate nor a rate");
        if let Some(near) = nearest(&name.text, known.cloned()) {
            message = message.help(format!("did you mean `{near}`?"));
        }
        Box::new(message)
    }

    /// Notes that the value of a name is being put in; a name inside its own value never ends.
    fn enter(&mut self, name: &str, span: Span) -> Result<(), Refused> {
        if self.open.iter().any(|open| open == name) {
            return Err(Box::new(
                Diagnostic::error(
                    code::LAGRANGIAN_NAME,
                    format!("`{name}` is defined by itself"),
                )
                .primary(span, "read here while its own value is computed"),
            ));
        }
        self.open.push(name.to_owned());
        Ok(())
    }

    fn call(
        &mut self,
        system: &mut System,
        e: &'a ast::Expr,
        (function, args): (&'a ast::Path, &'a [ast::Arg]),
        arguments: &Arguments<'a>,
    ) -> Result<ExprId, Refused> {
        if is_der(function) {
            return self.velocity(system, e, args);
        }
        let [name] = function.segments.as_slice() else {
            return Err(no_slope(e.span));
        };
        let mut values = Vec::new();
        for arg in args {
            if arg.name.is_some() {
                return Err(no_slope(e.span));
            }
            values.push(self.expr(system, &arg.value, arguments)?);
        }
        let name = &*name.text;
        if self.functions.contains_key(name) {
            return self.own_function(system, e, name, &values);
        }
        match (function1(name), function2(name), values.as_slice()) {
            (Some(f), _, &[a]) => Ok(system.pool.call1(f, a)),
            (_, Some(f), &[a, b]) => Ok(system.pool.call2(f, a, b)),
            _ => Err(no_slope(e.span)),
        }
    }

    fn velocity(
        &mut self,
        system: &mut System,
        e: &ast::Expr,
        args: &[ast::Arg],
    ) -> Result<ExprId, Refused> {
        let index = match args {
            [ast::Arg { value, .. }] => self.position(system, value),
            _ => None,
        };
        let Some(index) = index else {
            return Err(Box::new(
                Diagnostic::error(
                    code::LAGRANGIAN_EXPRESSION,
                    "`der` is the rate of a coordinate or of a given motion",
                )
                .primary(e.span, "of neither")
                .help("give the rate a name: `rate across = der(phi)*sin(theta)`"),
            ));
        };
        let velocity = system.coordinates[index].velocity;
        Ok(system.pool.symbol(velocity))
    }

    /// The coordinate that an expression names.
    pub fn position(&self, system: &System, e: &ast::Expr) -> Option<usize> {
        let ExprKind::Name(name) = &e.kind else {
            return None;
        };
        match system.role(*self.names.get(&*name.text)?) {
            Role::Position(index) => Some(index),
            _ => None,
        }
    }

    /// Puts in a function of the files that is one expression.
    fn own_function(
        &mut self,
        system: &mut System,
        e: &ast::Expr,
        name: &str,
        values: &[ExprId],
    ) -> Result<ExprId, Refused> {
        let function = self.functions[name];
        let ast::FunctionBody::Expr(body) = &function.body else {
            return Err(no_slope(e.span));
        };
        if function.params.len() != values.len() {
            return Err(no_slope(e.span));
        }
        let names = function.params.iter().map(|p| &*p.name.text);
        let arguments: Arguments<'a> = names.zip(values.iter().copied()).collect();
        self.enter(name, e.span)?;
        let value = self.expr(system, body, &arguments);
        self.open.pop();
        value
    }
}

fn binary(system: &mut System, op: BinaryOp, a: ExprId, b: ExprId) -> Option<ExprId> {
    let pool = &mut system.pool;
    Some(match op {
        BinaryOp::Add => pool.add(a, b),
        BinaryOp::Sub => pool.sub(a, b),
        BinaryOp::Mul => pool.mul(a, b),
        BinaryOp::Div => pool.div(a, b),
        BinaryOp::Pow => pool.pow(a, b),
        BinaryOp::Lt => pool.compare(Comparison::Less, a, b),
        BinaryOp::Le => pool.compare(Comparison::LessEqual, a, b),
        BinaryOp::Gt => pool.compare(Comparison::Greater, a, b),
        BinaryOp::Ge => pool.compare(Comparison::GreaterEqual, a, b),
        BinaryOp::Eq | BinaryOp::Ne | BinaryOp::And | BinaryOp::Or => return None,
    })
}

/// Tells whether a call is `der(…)`.
pub(super) fn is_der(function: &ast::Path) -> bool {
    matches!(function.segments.as_slice(), [only] if &*only.text == "der")
}

fn no_slope(span: Span) -> Refused {
    Box::new(
        Diagnostic::error(
            code::LAGRANGIAN_EXPRESSION,
            "an energy or rate is an expression that can be differentiated",
        )
        .primary(span, "this has no derivative here")
        .help("use + - * / ^, if, functions such as sin or sqrt, and functions of the file that are one expression"),
    )
}

fn function1(name: &str) -> Option<Function1> {
    Some(match name {
        "sin" => Function1::Sin,
        "cos" => Function1::Cos,
        "tan" => Function1::Tan,
        "asin" => Function1::Asin,
        "acos" => Function1::Acos,
        "atan" => Function1::Atan,
        "sinh" => Function1::Sinh,
        "cosh" => Function1::Cosh,
        "tanh" => Function1::Tanh,
        "exp" => Function1::Exp,
        "log" => Function1::Log,
        "log10" => Function1::Log10,
        "sqrt" => Function1::Sqrt,
        "abs" => Function1::Abs,
        _ => return None,
    })
}

fn function2(name: &str) -> Option<Function2> {
    Some(match name {
        "atan2" => Function2::Atan2,
        "hypot" => Function2::Hypot,
        "min" => Function2::Min,
        "max" => Function2::Max,
        _ => return None,
    })
}
