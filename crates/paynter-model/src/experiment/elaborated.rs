//! Reads experiments in an elaborated model.
//!
//! In:  an experiment and the [`Elaborated`] model it is of.
//! Out: a [`Plan`] and the messages about it.

use paynter_symbolic::{ExprId, Pool, SymbolId};
use paynter_syntax::{Diagnostic, Span, ast};

use super::{Column, Plan, Quantity, Read, Scope, SettableValue, plan_in, replace_sweeps};
use crate::elaborate::value::{Shape, Value};
use crate::elaborate::{Elaborated, code, with_stack};
use crate::graph::{ElementKind, Law};
use crate::units::{Dimension, Unit};

/// Reads an experiment of a model without errors.
///
/// Every independent mistake is in the list; the plan holds the rest.
pub fn plan(experiment: &ast::Experiment, model: &mut Elaborated<'_>) -> (Plan, Vec<Diagnostic>) {
    with_stack(|| {
        let mut scope = ModelScope {
            model,
            found: Vec::new(),
        };
        let plan = plan_in(experiment, &mut scope);
        let mut found = std::mem::take(&mut scope.found);
        tell_columns(experiment, &scope, &mut found);
        (plan, found)
    })
}

/// Puts sweeps given outside of any experiment in the place of those of a plan.
///
/// Every independent error is in the list; the plan holds the rest.
pub fn with_sweeps(
    plan: Plan,
    sweeps: &[ast::ExperimentStmt],
    is_paired: bool,
    model: &mut Elaborated<'_>,
) -> (Plan, Vec<Diagnostic>) {
    let mut scope = ModelScope {
        model,
        found: Vec::new(),
    };
    let plan = replace_sweeps(plan, sweeps, is_paired, &mut scope);
    (plan, scope.found)
}

/// Says of unknown names that are names of columns what they mean.
fn tell_columns(experiment: &ast::Experiment, scope: &dyn Scope, found: &mut [Diagnostic]) {
    let records = experiment.statements().flat_map(|s| match &s.kind {
        ast::ExperimentKind::Record(records) => &records[..],
        _ => &[],
    });
    for record in records {
        let Some(alias) = &record.alias else {
            continue;
        };
        let headline = format!("nothing is called `{}`", alias.text);
        let is_it = |d: &&mut Diagnostic| d.code == code::UNKNOWN_NAME && d.message == headline;
        for message in found.iter_mut().filter(is_it) {
            let meant = scope.text(record.value.span);
            let told = message
                .clone()
                .secondary(
                    alias.span,
                    "a column, which plots, measures and linear models may read",
                )
                .help(format!("write `{}` instead", meant.trim()));
            *message = told;
        }
    }
}

/// Reads expressions given outside of any experiment, such as on the command line.
///
/// Every independent mistake is in the list; the quantities are the rest.
pub fn quantities(
    expressions: &[ast::Expr],
    model: &mut Elaborated<'_>,
) -> (Vec<Quantity>, Vec<Diagnostic>) {
    let mut scope = ModelScope {
        model,
        found: Vec::new(),
    };
    let mut all = Vec::new();
    for e in expressions {
        all.extend(super::columns::quantity(&mut scope, e, e.span));
    }
    (all, scope.found)
}

/// What a model can be driven by: its inputs, or where it has none, what its sources set (locks and
/// grounds apart).
pub fn default_inputs(model: &mut Elaborated<'_>, span: Span) -> Vec<Quantity> {
    let inputs = model.graph().inputs.clone();
    let mut found: Vec<(String, SymbolId, Option<Unit>)> = Vec::new();
    for symbol in inputs {
        let name = model.graph().signals.name_of(symbol);
        let unit = model.display_unit(&name);
        found.push((name, symbol, unit));
    }

    if found.is_empty() {
        let graph = model.graph();
        for element in &graph.elements {
            let (
                Some(path),
                Law::Source {
                    value,
                    position: None,
                },
            ) = (element.name, &element.law)
            else {
                continue;
            };
            if graph.signals.pool.as_number(*value) == Some(0.0) {
                continue;
            }
            let bond = graph.bond(element.ports[0]);
            let domain = element.domain.map(|d| model.domains().get(d));
            let (letter, symbol, unit) = match element.kind {
                ElementKind::Se => ("e", bond.effort, domain.map(|d| d.effort.unit.clone())),
                _ => ("f", bond.flow, domain.map(|d| d.flow.unit.clone())),
            };
            let path = graph.signals.names.display(path);
            found.push((format!("{path}.{letter}"), symbol, unit));
        }
    }

    let pool = &mut model.graph_mut().signals.pool;
    let quantity = |(name, symbol, unit): (String, SymbolId, Option<Unit>)| Quantity {
        column: Column {
            name,
            value: pool.symbol(symbol),
            unit,
        },
        span,
    };
    found.into_iter().map(quantity).collect()
}

struct ModelScope<'m, 'a> {
    model: &'m mut Elaborated<'a>,
    found: Vec<Diagnostic>,
}

impl Scope for ModelScope<'_, '_> {
    fn read(&mut self, e: &ast::Expr) -> Option<Read> {
        let value = match self.model.lower(e) {
            Ok(value) => value,
            Err(messages) => {
                self.found.extend(messages);
                return None;
            }
        };
        if !value.is_numeric() {
            let message = Diagnostic::error(code::WRONG_TYPE, "a number is needed here");
            self.found
                .push(message.primary(e.span, format!("this is {}", value.describe())));
            return None;
        }
        let unit = self.shown_in(e, value.dimension);
        Some(Read {
            entries: entries(&value),
            dimension: value.dimension,
            unit,
        })
    }

    fn constant(&mut self, e: ExprId) -> Option<f64> {
        self.model.constant(e)
    }

    fn is_constant(&mut self, e: ExprId) -> bool {
        self.model.is_constant(e)
    }

    fn variable(&mut self, target: &ast::Ref) -> Option<SettableValue> {
        let path = self.text(target.span).trim().to_owned();
        match self.model.settable(target) {
            Some(true) => Some(SettableValue {
                path,
                dimension: None,
                is_part: true,
                unit: None,
            }),
            Some(false) => {
                let dimension = match self.model.lower_ref(target) {
                    Ok(value) => value.dimension,
                    Err(messages) => {
                        self.found.extend(messages);
                        return None;
                    }
                };
                Some(SettableValue {
                    unit: self.model.display_unit(&path).map(Box::new),
                    path,
                    dimension,
                    is_part: false,
                })
            }
            None => {
                // An unknown name has a better message of its own.
                if let Err(messages) = self.model.lower_ref(target) {
                    self.found.extend(messages);
                    return None;
                }
                let message = Diagnostic::error(
                    code::BAD_OVERRIDE,
                    format!("`{path}` cannot be changed from outside"),
                );
                self.found.push(
                    message.primary(target.span, "not a parameter, input or replaceable part"),
                );
                None
            }
        }
    }

    fn knows(&mut self, name: &ast::Ident) -> bool {
        let e = ast::Expr {
            span: name.span,
            kind: ast::ExprKind::Name(name.clone()),
        };
        self.model.can_read(&e)
    }

    fn text(&self, span: Span) -> String {
        self.model.text(span).to_owned()
    }

    fn pool(&mut self) -> &mut Pool {
        &mut self.model.graph_mut().signals.pool
    }

    fn report(&mut self, diagnostic: Diagnostic) {
        self.found.push(diagnostic);
    }
}

impl ModelScope<'_, '_> {
    /// The unit a quantity is shown in: that of its name, or of the first name it is a size,
    /// an extreme or a sum of.
    fn shown_in(&mut self, e: &ast::Expr, dimension: Option<Dimension>) -> Option<Unit> {
        let mut open = vec![e];
        while let Some(at) = open.pop() {
            let is_part = !std::ptr::eq(at, e);
            match self.shown_by_name(at, dimension) {
                // A difference of temperatures is not a temperature: 5 °C − 3 °C is 2 K.
                Some(unit) if is_part && unit.offset != 0.0 => return None,
                Some(unit) if !is_part || Some(unit.dimension) == dimension => return Some(unit),
                _ => open.extend(same_quantity(at).into_iter().rev()),
            }
        }
        None
    }

    /// As declared with its name, or as its domain has it.
    fn shown_by_name(&mut self, e: &ast::Expr, dimension: Option<Dimension>) -> Option<Unit> {
        if let Some(path) = path_of(e)
            && let Some(unit) = self.model.display_unit(&path)
        {
            return Some(unit);
        }
        let (ast::ExprKind::Field { name, .. }, Some(dimension)) = (&e.kind, dimension) else {
            return None;
        };
        self.model.domains().unit_of(&name.text, dimension).cloned()
    }
}

/// Parts of an expression that measure what the whole measures.
fn same_quantity(e: &ast::Expr) -> Vec<&ast::Expr> {
    let is_plain_number =
        |e: &ast::Expr| matches!(e.kind, ast::ExprKind::Number { unit: None, .. });
    match &e.kind {
        ast::ExprKind::Unary { of, .. } => vec![of],
        ast::ExprKind::Binary { op, left, right } => match op {
            ast::BinaryOp::Add | ast::BinaryOp::Sub => vec![left, right],
            ast::BinaryOp::Mul if is_plain_number(left) => vec![right],
            ast::BinaryOp::Mul | ast::BinaryOp::Div if is_plain_number(right) => vec![left],
            _ => Vec::new(),
        },
        ast::ExprKind::If {
            then, otherwise, ..
        } => vec![then, otherwise],
        ast::ExprKind::Call { function, args } => match function.segments.as_slice() {
            [name]
                if matches!(
                    &*name.text,
                    "abs" | "min" | "max" | "clamp" | "smooth" | "pre"
                ) =>
            {
                args.iter().map(|a| &a.value).collect()
            }
            _ => Vec::new(),
        },
        _ => Vec::new(),
    }
}

/// The dotted path of `a.b[3].c`, if the expression is one.
fn path_of(e: &ast::Expr) -> Option<String> {
    let mut endings: Vec<String> = Vec::new();
    let mut at = e;
    loop {
        match &at.kind {
            ast::ExprKind::Name(name) => {
                endings.push(name.text.to_string());
                endings.reverse();
                return Some(endings.concat());
            }
            ast::ExprKind::Field { of, name } => {
                endings.push(format!(".{}", name.text));
                at = of;
            }
            ast::ExprKind::Index { of, index } => {
                let [
                    ast::Expr {
                        kind: ast::ExprKind::Number { value, .. },
                        ..
                    },
                ] = &index[..]
                else {
                    return None;
                };
                endings.push(format!("[{value}]"));
                at = of;
            }
            _ => return None,
        }
    }
}

/// The numbers of a value with the endings of their names.
fn entries(value: &Value) -> Vec<(String, ExprId)> {
    let ending = |k: usize| match value.shape {
        Shape::Scalar => String::new(),
        Shape::Vector(_) => format!("[{}]", k + 1),
        Shape::Matrix(_, columns) => {
            let columns = columns.max(1) as usize;
            format!("[{},{}]", k / columns + 1, k % columns + 1)
        }
    };
    value
        .elements
        .iter()
        .enumerate()
        .map(|(k, &e)| (ending(k), e))
        .collect()
}
