//! What an expression of the text means: numbers with a shape and, where known, a unit.
//!
//! In:  made by lowering.
//! Out: read by whoever asked for the expression.
//!
//! **Invariant:** `elements` has as many entries as the shape says, row by row; a text and a
//! set of results have none. All numbers are SI.

use paynter_symbolic::ExprId;
use paynter_syntax::Span;
use std::sync::Arc;

use crate::units::Dimension;

/// How many numbers, and how they are arranged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Shape {
    /// One number.
    Scalar,
    /// A column of n numbers.
    Vector(u32),
    /// Rows and columns.
    Matrix(u32, u32),
}

impl Shape {
    /// Counts the numbers.
    pub fn len(self) -> usize {
        match self {
            Shape::Scalar => 1,
            Shape::Vector(n) => n as usize,
            Shape::Matrix(rows, columns) => rows as usize * columns as usize,
        }
    }

    /// Tells whether there is no number at all.
    pub fn is_empty(self) -> bool {
        self.len() == 0
    }

    /// Gives rows and columns; a vector is a column.
    pub fn rows_columns(self) -> (u32, u32) {
        match self {
            Shape::Scalar => (1, 1),
            Shape::Vector(n) => (n, 1),
            Shape::Matrix(rows, columns) => (rows, columns),
        }
    }

    /// Gives the shape of a product: 1×1 is a number, n×1 a vector if a vector went in.
    pub fn of_product(rows: u32, columns: u32, is_vector: bool) -> Shape {
        match (rows, columns) {
            (1, 1) => Shape::Scalar,
            (n, 1) if is_vector => Shape::Vector(n),
            (rows, columns) => Shape::Matrix(rows, columns),
        }
    }

    /// Names it for messages.
    pub fn describe(self) -> String {
        match self {
            Shape::Scalar => "one number".to_owned(),
            Shape::Vector(n) => format!("a vector [{n}]"),
            Shape::Matrix(rows, columns) => format!("a matrix [{rows},{columns}]"),
        }
    }
}

/// What sort of thing a value is.
#[derive(Clone, Debug, PartialEq)]
pub enum ValueKind {
    /// Numbers.
    Number,
    /// True (1) or false (0).
    Truth,
    /// A text.
    Text(Arc<str>),
    /// Results of a function, by name.
    Results(Arc<[(Box<str>, Value)]>),
}

/// A lowered expression.
#[derive(Clone, Debug, PartialEq)]
pub struct Value {
    /// How many numbers.
    pub shape: Shape,
    /// The numbers, row by row.
    pub elements: Vec<ExprId>,
    /// What they measure; none is unknown and agrees with anything.
    pub dimension: Option<Dimension>,
    /// Where the dimension comes from.
    pub dimension_from: Option<Span>,
    /// What each number measures, where they differ; `dimension` is none then.
    pub apart: Option<Arc<[Option<Dimension>]>>,
    /// What sort of thing it is.
    pub kind: ValueKind,
}

impl Value {
    /// One number of unknown unit.
    pub fn scalar(e: ExprId) -> Self {
        Value {
            shape: Shape::Scalar,
            elements: vec![e],
            dimension: None,
            dimension_from: None,
            apart: None,
            kind: ValueKind::Number,
        }
    }

    /// Numbers of unknown unit.
    pub fn array(shape: Shape, elements: Vec<ExprId>) -> Self {
        debug_assert_eq!(shape.len(), elements.len());
        Value {
            shape,
            elements,
            dimension: None,
            dimension_from: None,
            apart: None,
            kind: ValueKind::Number,
        }
    }

    /// A truth value.
    pub fn truth(e: ExprId) -> Self {
        Value {
            kind: ValueKind::Truth,
            ..Value::scalar(e)
        }
    }

    /// A text.
    pub fn text(text: &str) -> Self {
        Value {
            shape: Shape::Scalar,
            elements: Vec::new(),
            dimension: None,
            dimension_from: None,
            apart: None,
            kind: ValueKind::Text(text.into()),
        }
    }

    /// The same with a known unit.
    #[must_use]
    pub fn measured(mut self, dimension: Option<Dimension>, from: Option<Span>) -> Self {
        self.dimension = dimension;
        self.dimension_from = if dimension.is_some() { from } else { None };
        self
    }

    /// The same with a unit of each number, where known.
    #[must_use]
    pub fn measured_apart(mut self, dimensions: Vec<Option<Dimension>>) -> Self {
        let mut known = dimensions.iter().flatten();
        let first = known.next().copied();
        let are_alike = known.all(|d| Some(*d) == first)
            && (first.is_none() || dimensions.iter().all(Option::is_some));
        self.apart = (!are_alike).then(|| dimensions.into());
        self.measured(first.filter(|_| are_alike), None)
    }

    /// One of the numbers, by its place.
    #[must_use]
    pub fn entry(self, at: usize) -> Self {
        let dimension = match &self.apart {
            Some(apart) => apart[at],
            None => self.dimension,
        };
        Value {
            shape: Shape::Scalar,
            elements: vec![self.elements[at]],
            dimension,
            apart: None,
            ..self
        }
    }

    /// Gives the expression of one number, if it is one.
    pub fn as_scalar(&self) -> Option<ExprId> {
        match (self.shape, self.elements.as_slice()) {
            (Shape::Scalar, [e]) => Some(*e),
            _ => None,
        }
    }

    /// Tells whether it consists of numbers or truth values.
    pub fn is_numeric(&self) -> bool {
        matches!(self.kind, ValueKind::Number | ValueKind::Truth)
    }

    /// Names it for messages.
    pub fn describe(&self) -> String {
        match &self.kind {
            ValueKind::Number => self.shape.describe(),
            ValueKind::Truth => "a truth value".to_owned(),
            ValueKind::Text(_) => "a text".to_owned(),
            ValueKind::Results(_) => "the results of a function".to_owned(),
        }
    }
}
