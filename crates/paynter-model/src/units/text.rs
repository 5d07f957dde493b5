//! Units in plain text, as tables and data files hold them.
//!
//! In:  text such as `N*m/(rad*s^2)`.
//! Out: the same factors that the parser of models gives; places are positions in the text.
//!
//! **Invariant:** what `Unit::text` prints is read back as the same unit.

use std::iter::Peekable;
use std::ops::Range;
use std::str::CharIndices;

use paynter_syntax::{Span, ast};

use super::{UnitError, UnitErrorKind};

/// Splits `N*m/(rad*s^2)` into factors.
pub(super) fn split_text(text: &str) -> Result<ast::Unit, UnitError> {
    let mut factors = Vec::new();
    // The sign in force outside each open parenthesis, and the one for the next factor.
    let mut outer: Vec<i32> = Vec::new();
    let (mut around, mut sign) = (1, 1);
    let mut rest = text.char_indices().peekable();
    while let Some((at, c)) = rest.next() {
        match c {
            ' ' => {}
            '*' | '\u{b7}' => sign = around,
            '/' => sign = -around,
            '(' => {
                outer.push(around);
                around = sign;
            }
            ')' => {
                around = outer.pop().ok_or_else(|| unknown(text, at..at + 1))?;
                sign = around;
            }
            '1' if rest.peek().is_none_or(|&(_, next)| !next.is_ascii_digit()) => {}
            c if is_name(c) => {
                let mut end = at + c.len_utf8();
                while let Some(&(next, c)) = rest.peek()
                    && is_name(c)
                {
                    end = next + c.len_utf8();
                    rest.next();
                }
                let (n, d) = exponent(&mut rest).ok_or_else(|| unknown(text, at..end))?;
                factors.push(ast::UnitFactor {
                    name: ast::Ident {
                        text: text[at..end].into(),
                        span: span(at..end),
                    },
                    exponent: (n.saturating_mul(sign), d),
                });
                sign = around;
            }
            c => return Err(unknown(text, at..at + c.len_utf8())),
        }
    }

    Ok(ast::Unit {
        factors,
        span: span(0..text.len()),
    })
}

fn span(range: Range<usize>) -> Span {
    Span::new(paynter_syntax::FileId::default(), range.start, range.end)
}

fn unknown(text: &str, range: Range<usize>) -> UnitError {
    UnitError {
        span: span(range.clone()),
        kind: UnitErrorKind::Unknown(text[range].to_owned()),
        suggestion: None,
    }
}

/// Reads `^2`, `^-1` or `^(1/2)`; 1 where there is none, and nothing where it is not a fraction.
fn exponent(rest: &mut Peekable<CharIndices<'_>>) -> Option<(i32, i32)> {
    if rest.next_if(|&(_, c)| c == '^').is_none() {
        return Some((1, 1));
    }
    let in_parentheses = rest.next_if(|&(_, c)| c == '(').is_some();
    let is_part = |c: char| c.is_ascii_digit() || c == '-' || (in_parentheses && c == '/');
    let mut digits = String::new();
    while let Some((_, c)) = rest.next_if(|&(_, c)| is_part(c)) {
        digits.push(c);
    }
    if in_parentheses {
        rest.next_if(|&(_, c)| c == ')')?;
    }

    let (n, d) = digits.split_once('/').unwrap_or((&digits, "1"));
    let d = d.parse::<i32>().ok().filter(|d| *d > 0)?;
    Some((n.parse().ok()?, d))
}

fn is_name(c: char) -> bool {
    c.is_alphabetic() || matches!(c, '%' | '\u{b0}')
}
