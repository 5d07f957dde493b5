//! Built-in functions: one row each, with its arguments, its rule of units, and its meaning.
//!
//! In:  a name and arguments that are already expressions: [`Value`]s, numbers with the
//!      dimension they are known to have. `None` is the unknown dimension of a bare number,
//!      which agrees with anything.
//! Out: a [`Value`] in the same pool, or a message at the argument that is wrong.
//!
//! How the elaborator uses it:
//!
//! ```
//! use paynter_model::functions::{self, Argument, Context, Dimensioned, Value};
//! use paynter_model::units::Dimension;
//! use paynter_symbolic::Pool;
//! use paynter_syntax::Span;
//!
//! let mut pool = Pool::new();
//! let area = Dimensioned { expr: pool.number(9.0), dimension: Some(Dimension::LENGTH.pow(2, 1)) };
//! let mut context = Context {
//!     pool: &mut pool,
//!     time: None,
//!     call: Span::default(),
//!     read_file: &|_| Err("no files here".to_owned()),
//! };
//! let arguments = [Argument { name: None, value: Value::Number(area), span: Span::default() }];
//! let side = functions::call("sqrt", &arguments, &mut context)?;
//! let Value::Number(side) = side else { unreachable!("sqrt gives a number") };
//! assert_eq!(side.dimension, Some(Dimension::LENGTH));
//! assert_eq!(pool.as_number(side.expr), Some(3.0));
//! # Ok::<(), Box<paynter_syntax::Diagnostic>>(())
//! ```
//!
//! Not here, because they make states or need the scope: `der`, `pre`, `integral`, `smooth`,
//! `sum(… for …)`. `tf` makes states too: see [`transfer`].
//!
//! **Invariant:** a function that was given only unknown dimensions gives an unknown one, so
//! that a model which mentions no units just works.

pub mod care;
mod control;
pub mod habits;
pub mod linear;
mod matrix;
mod scalar;
mod sources;
pub mod table;
pub mod transfer;

use paynter_symbolic::{ExprId, Pool};
use paynter_syntax::{Diagnostic, Span};

use crate::code;
use crate::suggest::nearest;
use crate::units::Dimension;

/// A number with the dimension it is known to have.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Dimensioned {
    /// Its value in SI.
    pub expr: ExprId,
    /// Unknown for a bare number.
    pub dimension: Option<Dimension>,
}

/// A vector or matrix.
#[derive(Clone, Debug, PartialEq)]
pub struct Array {
    /// Its shape.
    pub shape: Shape,
    /// FunctionRow by row.
    pub entries: Vec<Dimensioned>,
}

/// The shape of an [`Array`]. A vector counts as a column where a matrix is expected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// n entries.
    Vector(usize),
    /// Rows, columns.
    Matrix(usize, usize),
}

/// What a function takes and gives.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// A number; truth values are numbers too.
    Number(Dimensioned),
    /// A vector or matrix.
    Array(Array),
    /// A file name or a word.
    Text(String),
}

/// An argument of a call.
#[derive(Clone, Debug, PartialEq)]
pub struct Argument<'a> {
    /// `at` of `at = 0.1 [s]`.
    pub name: Option<&'a str>,
    /// Its value.
    pub value: Value,
    /// Where it is.
    pub span: Span,
}

/// What a call needs around it.
pub struct Context<'a> {
    /// Where expressions are made.
    pub pool: &'a mut Pool,
    /// The built-in `time`, read by `table("f.csv")` when no other argument is given.
    pub time: Option<Dimensioned>,
    /// The whole call.
    pub call: Span,
    /// Reads a data file beside the model; the error is a sentence.
    pub read_file: &'a dyn Fn(&str) -> Result<String, String>,
}

/// A message that stops a call.
pub type Refusal = Box<Diagnostic>;

/// Applies a built-in function.
///
/// # Errors
///
/// A message for a name that is not built in, for wrong arguments, shapes or units.
pub fn call(name: &str, arguments: &[Argument], context: &mut Context) -> Result<Value, Refusal> {
    let Some(row) = find(name) else {
        let message = Diagnostic::error(
            code::UNKNOWN_FUNCTION,
            format!("there is no function `{name}`"),
        )
        .primary(context.call, "not a function");
        return Err(Box::new(match meant(name, names()) {
            Some(help) => message.help(help),
            None => message,
        }));
    };
    let slots = bind(row, arguments, context.call)?;
    (row.lower)(&mut Call {
        name: row.name,
        row,
        slots,
        context,
    })
}

/// What to write instead of a name that is not a function: as other languages call it, or the nearest of these names.
pub fn meant<S: AsRef<str>>(name: &str, names: impl IntoIterator<Item = S>) -> Option<String> {
    let habit = habits::instead(name).map(str::to_owned);
    habit.or_else(|| nearest(name, names).map(|near| format!("did you mean `{}`?", near.as_ref())))
}

/// Tells whether a name is a built-in function.
pub fn is_built_in(name: &str) -> bool {
    find(name).is_some()
}

/// Lists the names of all built-in functions.
pub fn names() -> impl Iterator<Item = &'static str> {
    rows().map(|row| row.name)
}

/// Lists all built-in functions for the language reference: how each is called, what it gives.
pub fn reference() -> impl Iterator<Item = (String, &'static str)> {
    rows().map(|row| (row.signature(), row.summary))
}

// ---------------------------------------------------------------------------------------
// Rows and calls
// ---------------------------------------------------------------------------------------

/// One function.
struct FunctionRow {
    name: &'static str,
    /// Names of the arguments in order. One that ends in `?` may be left out.
    parameters: &'static [&'static str],
    /// What it computes, in a few words.
    summary: &'static str,
    lower: fn(&mut Call) -> Result<Value, Refusal>,
}

impl FunctionRow {
    fn signature(&self) -> String {
        format!("{}({})", self.name, self.parameters.join(", "))
    }
}

fn rows() -> impl Iterator<Item = &'static FunctionRow> {
    [
        scalar::ROWS,
        sources::ROWS,
        matrix::ROWS,
        table::ROWS,
        linear::ROWS,
        care::ROWS,
        control::ROWS,
    ]
    .into_iter()
    .flatten()
}

fn find(name: &str) -> Option<&'static FunctionRow> {
    rows().find(|row| row.name == name)
}

/// Puts each argument into the place of its parameter.
fn bind<'a, 'b>(
    row: &FunctionRow,
    arguments: &'a [Argument<'b>],
    call: Span,
) -> Result<Vec<Option<&'a Argument<'b>>>, Refusal> {
    let refuse = |span: Span, label: String| {
        Box::new(
            Diagnostic::error(
                code::WRONG_ARGUMENTS,
                format!("`{}` is called with the wrong arguments", row.name),
            )
            .primary(span, label)
            .help(format!(
                "it is called as `{}`",
                row.signature().replace('?', "")
            )),
        )
    };

    let mut slots: Vec<Option<&Argument>> = vec![None; row.parameters.len()];
    for (position, argument) in arguments.iter().enumerate() {
        let slot = match argument.name {
            None if position < slots.len() => position,
            None => return Err(refuse(argument.span, "one too many".to_owned())),
            Some(name) => row
                .parameters
                .iter()
                .position(|p| p.trim_end_matches('?') == name)
                .ok_or_else(|| refuse(argument.span, format!("has no argument `{name}`")))?,
        };
        if slots[slot].replace(argument).is_some() {
            return Err(refuse(argument.span, "given twice".to_owned()));
        }
    }

    for (slot, parameter) in slots.iter().zip(row.parameters) {
        if slot.is_none() && !parameter.ends_with('?') {
            return Err(refuse(call, format!("`{parameter}` is missing")));
        }
    }
    Ok(slots)
}

/// A call whose arguments are in place.
struct Call<'a, 'b, 'c> {
    name: &'static str,
    row: &'static FunctionRow,
    slots: Vec<Option<&'a Argument<'b>>>,
    context: &'a mut Context<'c>,
}

impl Call<'_, '_, '_> {
    fn pool(&mut self) -> &mut Pool {
        self.context.pool
    }

    /// Where an argument is; the whole call if it was left out.
    fn span(&self, slot: usize) -> Span {
        self.slots[slot].map_or(self.context.call, |a| a.span)
    }

    fn is_given(&self, slot: usize) -> bool {
        self.slots[slot].is_some()
    }

    fn parameter(&self, slot: usize) -> &'static str {
        self.row.parameters[slot].trim_end_matches('?')
    }

    fn refuse(&self, code: &'static str, message: String, slot: usize, label: String) -> Refusal {
        Box::new(Diagnostic::error(code, message).primary(self.span(slot), label))
    }

    fn wrong_shape(&self, slot: usize, expected: &str) -> Refusal {
        let found = match self.slots[slot].map(|a| &a.value) {
            Some(Value::Number(_)) => "a number".to_owned(),
            Some(Value::Text(_)) => "a text".to_owned(),
            Some(Value::Array(array)) => match array.shape {
                Shape::Vector(n) => format!("a vector of {n}"),
                Shape::Matrix(n, m) => format!("a matrix of {n} by {m}"),
            },
            None => "nothing".to_owned(),
        };
        self.refuse(
            code::ARGUMENT_SHAPE,
            format!(
                "`{}` of `{}` must be {expected}",
                self.parameter(slot),
                self.name
            ),
            slot,
            format!("this is {found}"),
        )
    }

    /// An argument that must be a number.
    fn number(&self, slot: usize) -> Result<Dimensioned, Refusal> {
        match self.slots[slot].map(|a| &a.value) {
            Some(Value::Number(quantity)) => Ok(*quantity),
            _ => Err(self.wrong_shape(slot, "a number")),
        }
    }

    /// An argument that must be a vector or matrix; a number counts as 1 by 1.
    fn array(&self, slot: usize) -> Result<Array, Refusal> {
        match self.slots[slot].map(|a| &a.value) {
            Some(Value::Array(array)) => Ok(array.clone()),
            Some(Value::Number(q)) => Ok(Array {
                shape: Shape::Matrix(1, 1),
                entries: vec![*q],
            }),
            _ => Err(self.wrong_shape(slot, "a vector or matrix")),
        }
    }

    /// A vector of any length.
    fn vector(&self, slot: usize) -> Result<Vec<Dimensioned>, Refusal> {
        match self.slots[slot].map(|a| &a.value) {
            Some(Value::Array(Array {
                shape: Shape::Vector(_),
                entries,
            })) => Ok(entries.clone()),
            Some(Value::Array(Array {
                shape: Shape::Matrix(_, 1),
                entries,
            })) => Ok(entries.clone()),
            _ => Err(self.wrong_shape(slot, "a vector")),
        }
    }

    /// A matrix as (rows, columns, entries); a vector counts as a column.
    fn matrix(&self, slot: usize) -> Result<(usize, usize, Vec<Dimensioned>), Refusal> {
        let array = self.array(slot)?;
        let (rows, columns) = array.shape.as_matrix();
        Ok((rows, columns, array.entries))
    }

    /// A number that must have this dimension where one is known.
    fn number_in(&self, slot: usize, dimension: Dimension) -> Result<Dimensioned, Refusal> {
        let quantity = self.number(slot)?;
        match quantity.dimension {
            Some(known) if known != dimension => Err(self.wrong_unit(slot, known, dimension, None)),
            _ => Ok(quantity),
        }
    }

    /// A plain number or an angle.
    fn plain(&self, slot: usize) -> Result<Dimensioned, Refusal> {
        self.number_in(slot, Dimension::ONE)
    }

    fn wrong_unit(
        &self,
        slot: usize,
        found: Dimension,
        expected: Dimension,
        agrees_with: Option<usize>,
    ) -> Refusal {
        let expected_text = match expected.is_one() {
            true => "a plain number".to_owned(),
            false => format!("in {}", expected.describe()),
        };

        let found_text = match found.is_one() {
            true => "this is a plain number".to_owned(),
            false => format!("this is in {}", found.describe()),
        };

        let message = Diagnostic::error(
            code::ARGUMENT_UNIT,
            format!(
                "`{}` of `{}` must be {expected_text}",
                self.parameter(slot),
                self.name
            ),
        )
        .primary(self.span(slot), found_text);
        let message = match agrees_with {
            Some(other) => message.secondary(
                self.span(other),
                format!("this is in {}", expected.describe()),
            ),
            None => message,
        };

        Box::new(match expected.is_one() && agrees_with.is_none() {
            true => message.help(format!("divide by the unit: `x/1 [{}]`", found)),
            false => message,
        })
    }

    /// The dimension that several arguments share: that of the first which knows its own.
    fn agree(&self, slots: &[usize]) -> Result<Option<Dimension>, Refusal> {
        let mut shared: Option<(Dimension, usize)> = None;
        for &slot in slots {
            if !self.is_given(slot) {
                continue;
            }
            let quantity = self.number(slot)?;
            // `time` has no known unit in a file that is not strict; beside a known one it has.
            let is_time = self
                .context
                .time
                .is_some_and(|time| time.expr == quantity.expr);
            let Some(found) = quantity.dimension.or(is_time.then_some(Dimension::TIME)) else {
                continue;
            };
            match shared {
                None => shared = Some((found, slot)),
                Some((expected, _)) if expected == found => {}
                Some((expected, first)) => {
                    return Err(self.wrong_unit(slot, found, expected, Some(first)));
                }
            }
        }
        Ok(shared.map(|(dimension, _)| dimension))
    }

    /// Refuses a constant that breaks a rule; an expression is checked when it is computed.
    fn require(
        &self,
        slot: usize,
        quantity: Dimensioned,
        holds: fn(f64) -> bool,
        rule: &str,
    ) -> Result<(), Refusal> {
        match self.context.pool.as_number(quantity.expr) {
            Some(x) if !holds(x) => Err(self.refuse(
                code::ARGUMENT_VALUE,
                format!(
                    "`{}` of `{}` must be {rule}",
                    self.parameter(slot),
                    self.name
                ),
                slot,
                format!("this is {x}"),
            )),
            _ => Ok(()),
        }
    }
}

impl Shape {
    /// Rows and columns; a vector is a column.
    pub fn as_matrix(self) -> (usize, usize) {
        match self {
            Shape::Vector(n) => (n, 1),
            Shape::Matrix(n, m) => (n, m),
        }
    }
}

/// A number as result.
fn give(expr: ExprId, dimension: Option<Dimension>) -> Result<Value, Refusal> {
    Ok(Value::Number(Dimensioned { expr, dimension }))
}

/// Of a product, where both are known; a bare number leaves it unknown.
fn times(a: Option<Dimension>, b: Option<Dimension>) -> Option<Dimension> {
    Some(a?.times(b?))
}

#[cfg(test)]
mod tests;
