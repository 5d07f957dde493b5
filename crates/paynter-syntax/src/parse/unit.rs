//! Reads units in brackets.
//!
//! In:  the parser before `[`.
//! Out: a product of powers; `/` and parentheses have become exponents.
//!
//! **Invariant:** exponents are reduced fractions with a positive denominator.

use super::Parser;
use crate::ast::{Unit, UnitFactor};
use crate::code;
use crate::diagnostic::Diagnostic;
use crate::lex::TokenKind as T;
use crate::tree::NodeKind;

/// An exponent as a fraction.
type Fraction = (i32, i32);

impl Parser<'_> {
    /// Reads the unit after a number or a matrix, if there is one. A unit written
    /// without its brackets is reported.
    pub(super) fn unit_of_literal(&mut self) -> Option<Option<Unit>> {
        let is_on_line = self.is_on_line_of_previous(self.pos);
        match self.kind() {
            T::LBracket if is_on_line => Some(Some(self.unit()?)),
            T::Ident | T::Percent if is_on_line && !self.is_connective() => {
                self.unit_without_brackets()?;
                Some(None)
            }
            _ => Some(None),
        }
    }

    /// Reads the unit after a name being declared, if there is one.
    pub(super) fn unit_of_name(&mut self) -> Option<Option<Unit>> {
        match self.kind() {
            T::LBracket => Some(Some(self.unit()?)),
            _ => Some(None),
        }
    }

    /// Tells whether the next word joins two expressions.
    fn is_connective(&self) -> bool {
        let word = self.text_at(self.pos);
        matches!(word, "in" | "by" | "for" | "as" | "vs" | "within" | "to")
    }

    /// Reports a word after a number. Steps over it if a `]` shows that it is a unit.
    fn unit_without_brackets(&mut self) -> Option<()> {
        let first = self.pos;
        // `50 kg*m^2]`: the word begins what is up to the `]`.
        let mut end = first;
        while matches!(
            self.kind_at(end + 1),
            T::Ident | T::Number | T::Star | T::Slash | T::Caret
        ) && end + 1 < self.limit
            && self.is_on_line_of_previous(end + 1)
        {
            end += 1;
        }

        let is_closed = self.kind_at(end + 1) == T::RBracket
            && self.brackets.partner[end as usize + 1] == crate::brackets::NONE;
        let end = if is_closed { end } else { first };
        let span = self.span_at(first).to(self.span_at(end));
        let number = self.text_at(first - 1);
        let unit = self
            .text
            .get(span.start as usize..span.end as usize)
            .unwrap_or("");
        let mut diagnostic = Diagnostic::error(
            code::UNIT_WITHOUT_BRACKETS,
            "a word follows a number without an operator",
        )
        .primary(span, "is this a unit, or a factor?");
        if unit.len() < 40 && number.len() < 40 {
            diagnostic = diagnostic.help(format!(
                "write `{number} [{unit}]` for a unit, `{number}*{unit}` for a product"
            ));
        }

        if !is_closed {
            self.fail(diagnostic);
            return None;
        }

        self.report(diagnostic);
        self.pos = (end + 2).min(self.limit);
        Some(())
    }

    /// Reads `[kg*m^2]`.
    pub(super) fn unit(&mut self) -> Option<Unit> {
        let mark = self.mark();
        let open = self.open();
        let mut factors = Vec::with_capacity(1);
        self.unit_product((1, 1), &mut factors)?;
        self.close(open, T::RBracket)?;
        self.complete(mark, NodeKind::Unit);
        Some(Unit {
            factors,
            span: self.span_from(mark.1),
        })
    }

    fn unit_product(&mut self, power: Fraction, factors: &mut Vec<UnitFactor>) -> Option<()> {
        self.unit_term(power, factors)?;
        loop {
            let power = match self.kind() {
                T::Star => power,
                T::Slash => (-power.0, power.1),
                T::Ident | T::LParen if self.is_on_line_of_previous(self.pos) => {
                    let span = self.span_at(self.pos);
                    self.bad_unit(
                        span,
                        "an operator is missing before this",
                        "write `*` between units",
                    );
                    return None;
                }
                _ => return Some(()),
            };
            self.bump();
            self.unit_term(power, factors)?;
        }
    }

    fn unit_term(&mut self, power: Fraction, factors: &mut Vec<UnitFactor>) -> Option<()> {
        let span = self.span_here();
        let first = factors.len();
        match self.kind() {
            T::Ident | T::Percent => {
                let i = self.bump();
                factors.push(UnitFactor {
                    name: self.ident(i),
                    exponent: power,
                });
            }
            T::Number if self.text_at(self.pos) == "1" => {
                self.bump();
            }
            T::LParen => {
                self.enter()?;
                let open = self.open();
                let inner = self.unit_product(power, factors);
                self.leave();
                inner?;
                self.close(open, T::RParen)?;
            }
            T::End | T::RBracket | T::RParen => {
                self.expected("a unit");
                return None;
            }
            _ => {
                let found = self.found();
                self.bad_unit(
                    span,
                    &format!("{found} is not the name of a unit"),
                    "a unit is a product of names, such as `[N*m/rad]` or `[1/s]`; \
                     an index is written without a space, and a matrix has no index",
                );
                return None;
            }
        }

        if !self.eat(T::Caret) {
            return Some(());
        }
        let exponent = self.unit_exponent()?;
        for factor in &mut factors[first..] {
            let Some(product) = multiply(factor.exponent, exponent) else {
                self.bad_unit(
                    self.span_from(self.pos - 1),
                    "this exponent is too large",
                    "",
                );
                return None;
            };
            factor.exponent = product;
        }
        Some(())
    }

    fn unit_exponent(&mut self) -> Option<Fraction> {
        if self.kind() != T::LParen {
            return self.signed_fraction();
        }
        let open = self.open();
        let mut value = self.signed_fraction()?;
        if self.eat(T::Slash) {
            let divisor = self.signed_fraction()?;
            let quotient = if divisor.0 == 0 {
                None
            } else {
                divide(value, divisor)
            };
            let Some(quotient) = quotient else {
                self.bad_unit(self.span_from(self.pos - 1), "not a number", "");
                return None;
            };
            value = quotient;
        }
        self.close(open, T::RParen)?;
        Some(value)
    }

    fn signed_fraction(&mut self) -> Option<Fraction> {
        let is_negative = self.eat(T::Minus);
        let i = self.expect(T::Number, "an exponent")?;
        let Some((numerator, denominator)) = decimal_fraction(self.text_at(i)) else {
            self.bad_unit(
                self.span_at(i),
                "not an exponent of a unit",
                "write a small whole number, a decimal such as `0.5`, or a fraction `(1/3)`",
            );
            return None;
        };
        Some((
            if is_negative { -numerator } else { numerator },
            denominator,
        ))
    }

    fn bad_unit(&mut self, span: crate::Span, label: &str, help: &str) {
        let diagnostic =
            Diagnostic::error(code::BAD_UNIT, "this is not a unit").primary(span, label);
        self.fail(if help.is_empty() {
            diagnostic
        } else {
            diagnostic.help(help)
        });
    }
}

/// Reads `2` or `0.25` as a reduced fraction.
fn decimal_fraction(text: &str) -> Option<Fraction> {
    let (whole, decimals) = text.split_once('.').unwrap_or((text, ""));
    // Five decimals keep the denominator far inside i32.
    if decimals.len() > 5 || !text.bytes().all(|b| b.is_ascii_digit() || b == b'.') {
        return None;
    }
    let denominator = 10_i64.pow(decimals.len() as u32);
    let numerator: i64 = format!("{whole}{decimals}").parse().ok()?;
    reduce(numerator, denominator)
}

fn multiply(a: Fraction, b: Fraction) -> Option<Fraction> {
    reduce(
        i64::from(a.0) * i64::from(b.0),
        i64::from(a.1) * i64::from(b.1),
    )
}

fn divide(a: Fraction, b: Fraction) -> Option<Fraction> {
    reduce(
        i64::from(a.0) * i64::from(b.1),
        i64::from(a.1) * i64::from(b.0),
    )
}

fn reduce(numerator: i64, denominator: i64) -> Option<Fraction> {
    let (mut a, mut b) = (numerator.unsigned_abs(), denominator.unsigned_abs());
    while b != 0 {
        (a, b) = (b, a % b);
    }
    let divisor = i64::try_from(a.max(1)).ok()?;
    let sign = if denominator < 0 { -1 } else { 1 };
    let numerator = i32::try_from(sign * numerator / divisor).ok()?;
    let denominator = i32::try_from(sign * denominator / divisor).ok()?;
    // The negative of the smallest i32 would overflow under a `/`.
    if numerator == i32::MIN {
        None
    } else {
        Some((numerator, denominator))
    }
}
