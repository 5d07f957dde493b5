//! Declared ranges of parameters, kept for whoever changes one after elaboration.
//!
//! In:  `param x = 1 in 0 .. 2`.
//! Out: the value and both ends as expressions in parameters.

use paynter_symbolic::ExprId;

use crate::units::format_number;

/// The declared range of one parameter.
#[derive(Clone, Debug, PartialEq)]
pub struct Limit {
    /// Its name.
    pub name: String,
    /// Its value.
    pub value: ExprId,
    /// The least value allowed.
    pub low: Option<ExprId>,
    /// The largest value allowed.
    pub high: Option<ExprId>,
    /// Its unit as written after a number: empty, or with a blank before it.
    pub unit: String,
}

impl Limit {
    /// Says that a value in SI units breaks the range.
    pub fn complaint(&self, value: f64) -> String {
        out_of_range(&self.name, value, &self.unit)
    }
}

/// Says that a value breaks the range of a parameter.
pub(super) fn out_of_range(name: &str, value: f64, unit: &str) -> String {
    format!(
        "`{name}` is {}{unit}, outside its range",
        format_number(value)
    )
}
