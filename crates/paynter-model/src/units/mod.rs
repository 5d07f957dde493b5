//! Units of measurement: what `[N*m/deg]` means, and which quantities may meet.
//!
//! In:  the unit after a literal or a declared name ([`ast::Unit`]).
//! Out: a [`Unit`]: how to turn a number into SI and back, and its [`Dimension`].
//!
//! **Invariant:** inside, every number is SI. `rad` is the number 1 and `deg` is π/180,
//! so N·m/deg and N·m/rad differ by 57.3 and cannot be confused. `degC` and `degF` are
//! temperatures, never differences: they have a zero point of their own and may not occur
//! in a product. `dB` is a level: it is kept apart from plain numbers by a base of its own,
//! so that `3 [dB]` can be compared with a gain margin but can never scale a voltage.
//!
//! `dimension` is the algebra, `table` the list of units (adding one is one row there), `text`
//! reads units out of plain text.
//!
//! Gradual checking (a bare number has no known unit) is done where expressions are read;
//! here a dimension is always known.

mod dimension;
mod table;
#[cfg(test)]
mod tests;
mod text;

use paynter_syntax::{Diagnostic, Span, ast};

use crate::code;
pub use dimension::Dimension;
use dimension::{MAX_EXPONENT, Ratio, product_text};
use table::{Found, find, suggest};
use text::split_text;

/// A unit: its text, its dimension, and how its numbers become SI numbers.
///
/// `SI value = value · factor + offset`. The offset is zero for everything but `degC`, `degF`.
#[derive(Clone, Debug, PartialEq)]
pub struct Unit {
    /// SI value of one of it.
    pub factor: f64,
    /// SI value of its zero: 273.15 K for `degC`.
    pub offset: f64,
    /// What it measures.
    pub dimension: Dimension,
    /// As written, without brackets: `N*m/deg`.
    pub text: String,
    // factor = numerator/denominator. Kept apart because 10 [uF] = 10/10⁶ is rounded once,
    // while 10·(10⁻⁶) is rounded twice and prints as 9.999999999999999e-6.
    numerator: f64,
    denominator: f64,
}

/// A unit that cannot be read.
#[derive(Clone, Debug, PartialEq)]
pub struct UnitError {
    /// Where.
    pub span: Span,
    /// Which rule was broken.
    pub kind: UnitErrorKind,
    /// What to type instead, where that is known.
    pub suggestion: Option<String>,
}

/// Why a unit cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum UnitErrorKind {
    /// No unit has this name.
    Unknown(String),
    /// A unit with its own zero, or a level, inside a product or power.
    NotAlone(String),
    /// An exponent so large that no quantity has it.
    Exponent(String),
}

impl UnitError {
    /// Turns the error into a message.
    pub fn to_diagnostic(&self) -> Diagnostic {
        let diagnostic = match &self.kind {
            UnitErrorKind::Unknown(name) => {
                Diagnostic::error(code::UNKNOWN_UNIT, format!("there is no unit `{name}`"))
                    .primary(self.span, "not a unit")
            }
            UnitErrorKind::NotAlone(name) => Diagnostic::error(
                code::UNIT_NOT_ALONE,
                format!("`{name}` cannot be part of a product of units"),
            )
            .primary(
                self.span,
                "has a zero point of its own, so it does not multiply",
            ),
            UnitErrorKind::Exponent(name) => Diagnostic::error(
                code::UNIT_EXPONENT,
                format!("the exponent of `{name}` is out of range"),
            )
            .primary(self.span, "no quantity has such a power"),
        };
        match &self.suggestion {
            Some(help) => diagnostic.help(help.clone()),
            None => diagnostic,
        }
    }
}

impl Unit {
    /// The plain number 1.
    pub fn one() -> Self {
        Unit {
            factor: 1.0,
            offset: 0.0,
            dimension: Dimension::ONE,
            text: "1".to_owned(),
            numerator: 1.0,
            denominator: 1.0,
        }
    }

    /// Finds out what a written unit means.
    ///
    /// # Errors
    ///
    /// The first name that is not an unit, or a `degC` inside a product, with its place.
    pub fn parse(unit: &ast::Unit) -> Result<Self, UnitError> {
        let mut product = Product::default();
        for factor in &unit.factors {
            let name = &factor.name.text;
            let found = find(name).ok_or_else(|| UnitError {
                span: factor.name.span,
                kind: UnitErrorKind::Unknown(name.to_string()),
                suggestion: suggest(name),
            })?;
            let exponent = Ratio::new(i64::from(factor.exponent.0), i64::from(factor.exponent.1));
            if found.row.must_stand_alone() {
                if unit.factors.len() > 1 || exponent != Ratio::ONE {
                    return Err(UnitError {
                        span: factor.name.span,
                        kind: UnitErrorKind::NotAlone(name.to_string()),
                        suggestion: found.row.linear_alternative(),
                    });
                }
                return Ok(found.row.alone(name));
            }
            if exponent.numerator.unsigned_abs() > MAX_EXPONENT
                || exponent.denominator.unsigned_abs() > MAX_EXPONENT
            {
                return Err(UnitError {
                    span: factor.name.span,
                    kind: UnitErrorKind::Exponent(name.to_string()),
                    suggestion: None,
                });
            }
            product.multiply(&found, exponent);
        }
        Ok(product.into_unit(written(unit)))
    }

    /// Reads a unit from plain text such as `kg*m^2/s^2`, as tables and data files hold it.
    ///
    /// # Errors
    ///
    /// As [`Unit::parse`]; places are positions in `text`.
    pub fn parse_text(text: &str) -> Result<Self, UnitError> {
        Unit::parse(&split_text(text)?)
    }

    /// Turns a number in this unit into SI.
    pub fn to_si(&self, value: f64) -> f64 {
        value * self.numerator / self.denominator + self.offset
    }

    /// Turns an SI number into this unit.
    pub fn from_si(&self, value: f64) -> f64 {
        (value - self.offset) * self.denominator / self.numerator
    }

    /// Prints an SI number in this unit: `0.087…` in `deg` is `5 deg`.
    pub fn format(&self, si_value: f64) -> String {
        let number = format_number(self.from_si(si_value));
        match self.text.as_str() {
            "1" => number,
            text => format!("{number} {text}"),
        }
    }

    /// Tells whether the unit has a zero point of its own (`degC`, `degF`).
    ///
    /// The sum of two such values has no meaning; their difference is in K.
    pub fn is_absolute(&self) -> bool {
        self.offset != 0.0
    }
}

/// Prints a number for people: up to 12 significant digits, which hides the rounding of
/// unit conversion (one part in 10¹⁵) and keeps everything an engineer types.
pub fn format_number(value: f64) -> String {
    const SHOWN_DIGITS: usize = 12;
    if value == 0.0 || !value.is_finite() {
        return format!("{value}");
    }
    let rounded: f64 = format!("{value:.*e}", SHOWN_DIGITS - 1)
        .parse()
        .expect("Rust reads what it printed");
    let size = rounded.abs();
    // Within this range the plain form is shorter than the one with an exponent.
    if (1e-4..1e9).contains(&size) {
        format!("{rounded}")
    } else {
        format!("{rounded:e}")
    }
}

/// A product under construction.
struct Product {
    numerator: f64,
    denominator: f64,
    /// Power of ten, kept whole as long as possible.
    ten: i64,
    dimension: Dimension,
}

impl Default for Product {
    fn default() -> Self {
        Product {
            numerator: 1.0,
            denominator: 1.0,
            ten: 0,
            dimension: Dimension::ONE,
        }
    }
}

impl Product {
    fn multiply(&mut self, found: &Found, exponent: Ratio) {
        let (row, ten) = (found.row, i64::from(found.row.ten + found.prefix_ten));
        self.dimension = self
            .dimension
            .times(row.dimension.pow(exponent.numerator, exponent.denominator));
        let n = i64::from(exponent.numerator);
        if exponent.denominator == 1 {
            self.ten += ten * n;
        } else {
            self.numerator *= 10f64.powf(ten as f64 * exponent.to_f64());
        }
        let power = |x: f64| match exponent.denominator {
            1 => x.powi(exponent.numerator.abs()),
            _ => x.powf(exponent.to_f64().abs()),
        };
        let (above, below) = (power(row.numerator), power(row.denominator));
        let (above, below) = if n >= 0 {
            (above, below)
        } else {
            (below, above)
        };
        self.numerator *= above;
        self.denominator *= below;
    }

    fn into_unit(self, text: String) -> Unit {
        // 10^k is exact in binary up to k = 22, so that one multiplication or division rounds once.
        let power = 10f64.powi(self.ten.unsigned_abs().min(308) as i32);
        let (numerator, denominator) = match self.ten >= 0 {
            true => (self.numerator * power, self.denominator),
            false => (self.numerator, self.denominator * power),
        };
        Unit {
            factor: numerator / denominator,
            offset: 0.0,
            dimension: self.dimension,
            text,
            numerator,
            denominator,
        }
    }
}

/// Writes a unit as the user did, apart from the place of `/` and parentheses.
fn written(unit: &ast::Unit) -> String {
    let powers: Vec<(&str, Ratio)> = unit
        .factors
        .iter()
        .map(|f| {
            (
                &*f.name.text,
                Ratio::new(i64::from(f.exponent.0), i64::from(f.exponent.1)),
            )
        })
        .filter(|(_, e)| e.numerator != 0)
        .collect();
    product_text(&powers)
}
