//! Transfer functions: `tf(num, den, u)` as states.
//!
//! In:  coefficients in falling powers of s, and an input.
//! Out: a [`Transfer`], which says how many states it needs, and from them gives their rates
//!      and the output in controllable canonical form (Kailath 1980, §2.1):
//!
//! ```text
//! x₁' = x₂   …   xₙ' = u − a₀x₁ − … − aₙ₋₁xₙ
//! y = (b₀ − bₙa₀) x₁ + … + (bₙ₋₁ − bₙaₙ₋₁) xₙ + bₙ u
//! ```
//!
//! with all coefficients divided by the first of the denominator. All states start at zero.
//!
//! **Invariant:** the degree of the numerator is at most that of the denominator; an improper
//! one would differentiate its input and is refused.

use paynter_symbolic::{ExprId, Pool};
use paynter_syntax::{Diagnostic, Span};

use super::{Dimensioned, Refusal};
use crate::code;
use crate::units::Dimension;

/// A proper transfer function.
#[derive(Clone, Debug, PartialEq)]
pub struct Transfer {
    /// a₀ … aₙ₋₁, rising powers.
    denominator: Vec<ExprId>,
    /// b₀ … bₙ, rising powers.
    numerator: Vec<ExprId>,
    /// Output per input, where the coefficients tell it.
    gain: Option<Dimension>,
}

/// Rates and output of a [`Transfer`].
#[derive(Clone, Debug, PartialEq)]
pub struct Realisation {
    /// x' for each state, in order.
    pub rates: Vec<ExprId>,
    /// y
    pub output: Dimensioned,
}

impl Transfer {
    /// Reads coefficients in falling powers of s.
    ///
    /// # Errors
    ///
    /// A denominator that is empty or zero; a numerator of higher degree; coefficients whose
    /// units do not fit together.
    pub fn new(
        pool: &mut Pool,
        num: &[Dimensioned],
        den: &[Dimensioned],
        span: Span,
    ) -> Result<Transfer, Refusal> {
        let is_zero = |q: &&Dimensioned| pool.as_number(q.expr) == Some(0.0);
        let (skip_num, skip_den) = (
            num.iter().take_while(is_zero).count(),
            den.iter().take_while(is_zero).count(),
        );
        let (num, den) = (&num[skip_num..], &den[skip_den..]);
        let Some(leading) = den.first().copied() else {
            return Err(refuse(
                "the denominator of `tf` is zero",
                span,
                "no coefficient but zero",
            ));
        };

        if num.len() > den.len() {
            let label = format!("degree {} over degree {}", num.len() - 1, den.len() - 1);
            return Err(Box::new(
                Diagnostic::error(
                    code::IMPROPER_TRANSFER,
                    "`tf` would differentiate its input",
                )
                .primary(span, label)
                .help("give the denominator a fast pole, or read the rate itself as a signal"),
            ));
        }

        let gain = match (shared_dimension(num, span)?, shared_dimension(den, span)?) {
            (Some(above), Some(below)) => Some(above.per(below)),
            (None, None) => Some(Dimension::ONE),
            _ => None,
        };

        let order = den.len() - 1;
        let denominator: Vec<ExprId> = den[1..]
            .iter()
            .rev()
            .map(|q| pool.div(q.expr, leading.expr))
            .collect();

        let mut numerator: Vec<ExprId> = num
            .iter()
            .rev()
            .map(|q| pool.div(q.expr, leading.expr))
            .collect();

        let zero = pool.number(0.0);
        numerator.resize(order + 1, zero);
        Ok(Transfer {
            denominator,
            numerator,
            gain,
        })
    }

    /// Counts the states it needs.
    pub fn order(&self) -> usize {
        self.denominator.len()
    }

    /// Gives rates and output for an input and the values of its states, [`Transfer::order`] of them.
    pub fn realise(&self, pool: &mut Pool, u: Dimensioned, states: &[ExprId]) -> Realisation {
        let n = self.order();
        assert_eq!(
            states.len(),
            n,
            "one symbol for each state of the transfer function"
        );

        let mut rates: Vec<ExprId> = states.iter().skip(1).copied().collect();
        if n > 0 {
            let mut last = u.expr;
            for (a, x) in self.denominator.iter().zip(states) {
                let term = pool.mul(*a, *x);
                last = pool.sub(last, term);
            }
            rates.push(last);
        }

        let direct = self.numerator[n];
        let mut output = pool.mul(direct, u.expr);
        for i in 0..n {
            let through = pool.mul(direct, self.denominator[i]);
            let gain = pool.sub(self.numerator[i], through);
            let term = pool.mul(gain, states[i]);
            output = pool.add(output, term);
        }

        let dimension = super::times(u.dimension, self.gain);
        Realisation {
            rates,
            output: Dimensioned {
                expr: output,
                dimension,
            },
        }
    }
}

/// The dimension of Σ cₖsᵏ: cₖ/secondᵏ must agree where known. Trailing coefficients are of s⁰.
fn shared_dimension(
    coefficients: &[Dimensioned],
    span: Span,
) -> Result<Option<Dimension>, Refusal> {
    // Plain numbers are coefficients in SI, as textbooks write them.
    let is_plain = |q: &Dimensioned| q.dimension.is_none_or(Dimension::is_one);
    if coefficients.iter().all(is_plain) {
        return Ok(None);
    }
    let mut shared = None;
    for (power, coefficient) in coefficients.iter().rev().enumerate() {
        let Some(known) = coefficient.dimension else {
            continue;
        };
        let found = known.times(Dimension::FREQUENCY.pow(power as i32, 1));
        match shared {
            None => shared = Some(found),
            Some(expected) if expected == found => {}
            Some(expected) => {
                return Err(refuse_units(span, power, found, expected));
            }
        }
    }
    Ok(shared)
}

fn refuse(message: &str, span: Span, label: &str) -> Refusal {
    Box::new(Diagnostic::error(code::IMPROPER_TRANSFER, message).primary(span, label))
}

fn refuse_units(span: Span, power: usize, found: Dimension, expected: Dimension) -> Refusal {
    let message = Diagnostic::error(
        code::ARGUMENT_UNIT,
        "the coefficients of `tf` have units that do not fit together",
    );
    Box::new(message.primary(
        span,
        format!(
            "the term in s^{power} is in {}, the others in {}",
            found.describe(),
            expected.describe()
        ),
    ))
}
