//! Units in plain text, as tables and data files hold them.
//!
//! In:  text such as `N*m/(rad*s^2)`.
//! Out: the same factors that the parser of models gives; places are positions in the text.
//!
//! **Invariant:** what `Unit::text` prints is read back as the same unit.

use paynter_syntax::{Span, ast};

use super::{UnitError, UnitErrorKind};

/// Splits `N*m/(rad*s^2)` into factors.
pub(super) fn split_text(text: &str) -> Result<ast::Unit, UnitError> {
    let span = |from: usize, to: usize| Span::new(paynter_syntax::FileId::default(), from, to);
    let bad = |from: usize, to: usize| UnitError {
        span: span(from, to),
        kind: UnitErrorKind::Unknown(text[from..to].to_owned()),
        suggestion: None,
    };

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
                around = outer.pop().ok_or_else(|| bad(at, at + 1))?;
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
                let mut exponent = String::new();
                if rest.next_if(|&(_, c)| c == '^').is_some() {
                    let in_parentheses = rest.next_if(|&(_, c)| c == '(').is_some();
                    while let Some((_, c)) = rest.next_if(|&(_, c)| {
                        c.is_ascii_digit() || c == '-' || (in_parentheses && c == '/')
                    }) {
                        exponent.push(c);
                    }
                    if in_parentheses {
                        rest.next_if(|&(_, c)| c == ')')
                            .ok_or_else(|| bad(at, end))?;
                    }
                } else {
                    exponent.push('1');
                }
                let (n, d) = exponent.split_once('/').unwrap_or((&exponent, "1"));
                let whole = |digits: &str| digits.parse::<i32>().ok();
                let (Some(n), Some(d)) = (whole(n), whole(d).filter(|d| *d > 0)) else {
                    return Err(bad(at, end));
                };
                factors.push(ast::UnitFactor {
                    name: ast::Ident {
                        text: text[at..end].into(),
                        span: span(at, end),
                    },
                    exponent: (n.saturating_mul(sign), d),
                });
                sign = around;
            }
            c => return Err(bad(at, at + c.len_utf8())),
        }
    }

    Ok(ast::Unit {
        factors,
        span: span(0, text.len()),
    })
}

fn is_name(c: char) -> bool {
    c.is_alphabetic() || matches!(c, '%' | '\u{b0}')
}
