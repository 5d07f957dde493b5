//! Sweeps and comparisons.
//!
//! In:  `sweep K in [34, 340] [N*m/rad]`, `compare "f.csv" within 1e-8`.
//! Out: values in SI, ready to be tried.

use paynter_syntax::{Diagnostic, Span, ast};

use super::draws::spread;
use super::settings::{word, wrong_unit};
use super::{
    Comparing, DEFAULT_WITHIN, Drawn, Planner, SettableValue, Spread, Sweep, SweepSetting,
    SweepTarget, SweepValue,
};
use crate::code;
use crate::elaborate::code::BARE_NUMBER;
use crate::units::{Dimension, Unit, format_number};

/// Most values of one sweep: each is a run, and more are a slip in `by`.
const MOST_VALUES: f64 = 100_000.0;

impl Planner<'_> {
    pub(super) fn sweep(&mut self, target: &ast::Ref, over: &ast::Range, span: Span) {
        let name = match &target.parts[..] {
            [part] if part.index.is_empty() => &*part.name.text,
            _ => "",
        };
        let found = match name {
            "constraints" => self
                .list(over, |p, e| {
                    let setting = SweepSetting::Constraints(p.constraints(e)?);
                    Some(SweepValue {
                        label: p.label(e),
                        setting,
                    })
                })
                .map(|values| (SweepTarget::Constraints, values, None)),
            "method" => self
                .list(over, |p, e| {
                    let (method, step) = p.method(e)?;
                    Some(SweepValue {
                        label: p.label(e),
                        setting: SweepSetting::Method(method, step),
                    })
                })
                .map(|values| (SweepTarget::Method, values, None)),
            "rtol" => {
                let ident = target.parts[0].name.clone();
                self.list(over, |p, e| {
                    let x = p.rtol(&ident, e)?;
                    Some(SweepValue {
                        label: p.label(e),
                        setting: SweepSetting::Number(x, e.clone()),
                    })
                })
                .map(|values| (SweepTarget::Rtol, values, None))
            }
            _ => self.sweep_variable(target, over),
        };

        let Some((target, values, drawn)) = found else {
            return;
        };
        if values.is_empty() {
            let diagnostic = Diagnostic::error(code::SWEEP_VALUES, "this sweep has no values")
                .primary(over.span, "nothing to try");
            self.report(diagnostic);
            return;
        }

        self.plan.sweeps.push(Sweep {
            target,
            values,
            drawn,
            span,
        });
    }

    /// Sweeps that vary together have as many values as each other.
    pub(super) fn check_pairs(&mut self) {
        let Some(first) = self.plan.sweeps.first().filter(|_| self.plan.is_paired) else {
            return;
        };
        let n = first.values.len();
        let other = self.plan.sweeps.iter().find(|s| s.values.len() != n);
        if let Some(other) = other {
            let diagnostic = Diagnostic::error(
                code::SWEEP_VALUES,
                "sweeps that vary together must have as many values as each other",
            )
            .primary(other.span, format!("has {} values", other.values.len()))
            .secondary(first.span, format!("has {n} values"));
            self.report(diagnostic);
        }
    }

    fn sweep_variable(
        &mut self,
        target: &ast::Ref,
        over: &ast::Range,
    ) -> Option<(SweepTarget, Vec<SweepValue>, Option<Drawn>)> {
        let variable = self.scope.variable(target)?;
        let values = if variable.is_part {
            self.list(over, |p, e| {
                Some(SweepValue {
                    label: p.label(e),
                    setting: SweepSetting::Expression(e.clone()),
                })
            })?
        } else if let Some((spread, args)) = drawing(&over.from) {
            let drawn = self.drawn((spread, args), &variable, over.span)?;
            // The values follow once all axes are known.
            let first = self.shown(drawn.law.quantile(0.5), &drawn.like);
            return Some((
                SweepTarget::Variable {
                    target: target.clone(),
                    variable,
                },
                vec![first],
                Some(drawn),
            ));
        } else if over.to.is_some() {
            self.grid(over, &variable)?
        } else {
            let variable = variable.clone();
            self.list(over, move |p, e| p.sweep_number(e, &variable))?
        };

        Some((
            SweepTarget::Variable {
                target: target.clone(),
                variable,
            },
            values,
            None,
        ))
    }

    pub(super) fn label(&self, e: &ast::Expr) -> String {
        self.scope.text(e.span).trim().to_owned()
    }

    /// Entries of `[a, b, c]`, or the only value.
    pub(super) fn list(
        &mut self,
        over: &ast::Range,
        mut read: impl FnMut(&mut Self, &ast::Expr) -> Option<SweepValue>,
    ) -> Option<Vec<SweepValue>> {
        if over.to.is_some() {
            let diagnostic =
                Diagnostic::error(code::SWEEP_VALUES, "this sweep needs a list of values")
                    .primary(over.span, "has no order from one to the next")
                    .help("write them in brackets: `[a, b, c]`");
            self.report(diagnostic);
            return None;
        }

        let ast::ExprKind::Matrix { rows, unit } = &over.from.kind else {
            return Some(read(self, &over.from).into_iter().collect());
        };
        let mut values = Vec::new();
        let mut is_good = true;
        for e in rows.iter().flatten() {
            // The unit after the brackets belongs to each entry that has none.
            let e = match (&e.kind, unit) {
                (ast::ExprKind::Number { value, unit: None }, Some(_)) => ast::Expr {
                    span: e.span,
                    kind: ast::ExprKind::Number {
                        value: *value,
                        unit: unit.clone(),
                    },
                },
                _ => e.clone(),
            };
            match read(self, &e) {
                Some(value) => values.push(value),
                None => is_good = false,
            }
        }
        is_good.then_some(values)
    }

    pub(super) fn sweep_number(
        &mut self,
        e: &ast::Expr,
        variable: &SettableValue,
    ) -> Option<SweepValue> {
        if let ast::ExprKind::Bool(_) = e.kind {
            return Some(SweepValue {
                label: self.label(e),
                setting: SweepSetting::Expression(e.clone()),
            });
        }
        let number = self.value_of(e, variable)?;
        let label = match &e.kind {
            ast::ExprKind::Number {
                value,
                unit: Some(unit),
            } => match Unit::parse(unit) {
                Ok(unit) => format!("{} {}", format_number(*value), unit.text),
                Err(_) => self.label(e),
            },
            _ => self.label(e),
        };
        Some(SweepValue {
            label,
            setting: SweepSetting::Number(number, e.clone()),
        })
    }

    /// A fixed finite number in the unit of a variable.
    pub(super) fn value_of(&mut self, e: &ast::Expr, variable: &SettableValue) -> Option<f64> {
        let (number, found) = self.constant(e)?;
        if let Some(diagnostic) = bare_number(e, variable) {
            self.report(diagnostic);
            return None;
        }
        if let (Some(found), Some(expected)) = (found, variable.dimension)
            && found != expected
        {
            let diagnostic = wrong_unit(&variable.path, e.span, found, expected);
            self.report(diagnostic);
            return None;
        }
        if !number.is_finite() {
            let diagnostic =
                Diagnostic::error(code::SWEEP_VALUES, "this value is not a finite number")
                    .primary(e.span, format!("is {number}"));
            self.report(diagnostic);
            return None;
        }
        Some(number)
    }

    /// `a .. b by c`: value k is a + k·c, not a running sum, and b belongs to it if hit.
    pub(super) fn grid(
        &mut self,
        over: &ast::Range,
        variable: &SettableValue,
    ) -> Option<Vec<SweepValue>> {
        let refuse = |label: String| {
            Diagnostic::error(code::SWEEP_VALUES, "this range gives no list of values")
                .primary(over.span, label)
        };
        let (to, by) = (over.to.as_ref()?, over.by.as_ref());
        let from_value = self.value_of(&over.from, variable);
        let to_value = self.value_of(to, variable);
        let (from, to) = (from_value?, to_value?);
        let by = match by {
            Some(by) => self.value_of(by, variable)?,
            // Whole numbers count by one; anything else needs to say.
            None if from.fract() == 0.0
                && to.fract() == 0.0
                && variable.dimension.is_none_or(Dimension::is_one) =>
            {
                1.0
            }
            None => {
                self.report(refuse("needs a step".to_owned()).help("write `a .. b by c`"));
                return None;
            }
        };

        let steps = (to - from) / by;
        if by == 0.0 || steps.is_nan() || steps < 0.0 {
            self.report(refuse(format!(
                "a step of {by} does not lead from {from} to {to}"
            )));
            return None;
        }

        if steps > MOST_VALUES {
            self.report(refuse(format!("would be {steps:.1e} values")));
            return None;
        }

        // 1e-9 of a step: the last value is meant even if rounding puts it just beyond the end.
        let n = (steps + 1e-9).floor() as usize;
        Some(
            (0..=n)
                .map(|k| self.shown(from + k as f64 * by, &over.from))
                .collect(),
        )
    }

    /// A value in SI, written in the unit of an example.
    pub(super) fn shown(&mut self, si: f64, like: &ast::Expr) -> SweepValue {
        let unit = match &like.kind {
            ast::ExprKind::Number {
                unit: Some(unit), ..
            } => Unit::parse(unit).ok().map(|parsed| (parsed, unit.clone())),
            _ => None,
        };
        let (label, value, unit) = match unit {
            Some((parsed, unit)) => (parsed.format(si), parsed.from_si(si), Some(unit)),
            None => (format_number(si), si, None),
        };
        let e = ast::Expr {
            span: like.span,
            kind: ast::ExprKind::Number { value, unit },
        };
        SweepValue {
            label,
            setting: SweepSetting::Number(si, e),
        }
    }

    pub(super) fn compare(&mut self, path: &str, span: Span, within: Option<&ast::Expr>) {
        let within = match within {
            None => Some(DEFAULT_WITHIN),
            Some(e) => {
                let ident = ast::Ident {
                    text: "within".into(),
                    span: e.span,
                };
                self.number(
                    &ident,
                    e,
                    Some(Dimension::ONE),
                    |x| x > 0.0,
                    "greater than zero",
                )
            }
        };
        if let Some(within) = within {
            self.plan.comparisons.push(Comparing {
                path: path.to_owned(),
                within,
                span,
            });
        }
    }
}

/// A number without a unit for something that was declared in another unit than that of the SI: `with` refuses it as well.
fn bare_number(e: &ast::Expr, variable: &SettableValue) -> Option<Diagnostic> {
    let mut inner = e;
    while let ast::ExprKind::Unary { of, .. } = &inner.kind {
        inner = of;
    }
    let ast::ExprKind::Number { value, unit: None } = inner.kind else {
        return None;
    };
    let unit = variable.unit.as_deref()?;
    if unit.offset == 0.0 && (value == 0.0 || unit.factor == 1.0) {
        return None;
    }
    let (path, text) = (&variable.path, &unit.text);
    Some(
        Diagnostic::error(
            BARE_NUMBER,
            format!(
                "{value} has no unit, and `{path}` is declared in {text}, which is not the SI unit"
            ),
        )
        .primary(e.span, "no unit")
        .help(format!("write `{value} [{text}]`")),
    )
}

/// `latin(…)` and its like.
fn drawing(e: &ast::Expr) -> Option<(Spread, &[ast::Arg])> {
    let (name, args) = word(e)?;
    Some((spread(&name.text)?, args))
}

/// Number k of a stream, evenly between 0 and 1: SplitMix64 (Steele, Lea & Flood 2014), the same
/// on every machine.
pub(super) fn uniform(seed: u64, k: u64) -> f64 {
    const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;
    // The seed is mixed first, so that neighbouring seeds give unrelated streams.
    let mix = |mut z: u64| {
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    };
    let state = mix(seed.wrapping_add(1).wrapping_mul(GOLDEN));
    let bits = mix(state.wrapping_add((k + 1).wrapping_mul(GOLDEN)));
    (bits >> 11) as f64 / (1u64 << 53) as f64
}
