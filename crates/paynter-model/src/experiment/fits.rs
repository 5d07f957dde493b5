//! Fits: `fit`.
//!
//! In:  `fit k in 1 .. 9 { data "run.csv" of knock; sigma x = 1 [mm] }`.
//! Out: a [`Fit`] with bounds in SI and deviations in the units of the columns.

use paynter_syntax::{Diagnostic, ast};

use super::settings::wrong_unit;
use super::{Fit, FitData, Planner, Searched};
use crate::code;

impl Planner<'_> {
    pub(super) fn fit(&mut self, statement: &ast::ExperimentStmt) {
        let ast::ExperimentKind::Fit { over, data, sigmas } = &statement.kind else {
            return;
        };
        let span = statement.span;
        let refuse =
            |what: &str| Diagnostic::error(code::OPTIMIZE, what).primary(span, "in this fit");
        if self.plan.fit.is_some() {
            self.report(refuse("an experiment is fitted once"));
            return;
        }

        if data.is_empty() {
            self.report(
                refuse("this fit has no data").help("write `data \"run.csv\"` between its braces"),
            );
        }

        let mut fit = Fit {
            over: Vec::new(),
            data: data
                .iter()
                .map(|d| FitData {
                    path: d.path.clone(),
                    span: d.path_span,
                    of: d.of.clone(),
                })
                .collect(),
            sigmas: Vec::new(),
            span,
        };

        for (target, range) in over {
            let Some(varied) = self.varied(target, range) else {
                continue;
            };
            if !matches!(varied.range, Searched::Between(..)) {
                let message = format!(
                    "`{}` needs a lower and an upper bound",
                    varied.variable.path
                );
                let message = Diagnostic::error(code::OPTIMIZE, message);
                self.report(message.primary(range.span, "a list cannot be fitted"));
                continue;
            }
            fit.over.push(varied);
        }

        for (name, value) in sigmas {
            fit.sigmas.extend(self.sigma(name, value));
        }
        self.plan.fit = Some(fit);
    }

    /// A positive deviation in the unit of a recorded column.
    fn sigma(&mut self, name: &ast::Ident, value: &ast::Expr) -> Option<(ast::Ident, f64)> {
        let (number, found) = self.constant(value)?;
        let column = self.plan.columns.iter().find(|c| c.name == *name.text);
        let unit = column.and_then(|c| c.unit.clone());
        if let (Some(unit), Some(found)) = (&unit, found)
            && unit.dimension != found
        {
            let diagnostic = wrong_unit(&name.text, value.span, found, unit.dimension);
            self.report(diagnostic);
            return None;
        }
        if !(number > 0.0 && number.is_finite()) {
            let message = format!("the deviation of `{}` must be greater than zero", name.text);
            let message = Diagnostic::error(code::SETTING_VALUE, message);
            self.report(message.primary(value.span, format!("is {number}")));
            return None;
        }
        Some((name.clone(), number / unit.map_or(1.0, |u| u.factor)))
    }
}
