//! Searches: `optimize`.
//!
//! In:  `optimize KA in 0 .. 1, n in [1, 2, 4] { minimize cost; subject over <= 30 [%]; worst heavy }`.
//! Out: an [`Optimize`] with bounds in SI, aims and conditions as measures.

use paynter_symbolic::Comparison;
use paynter_syntax::{Diagnostic, ast};

use super::{
    Aim, Cases, Condition, Optimize, Planner, Searched, SettableValue, SweepSetting, SweepValue,
    Varied,
};
use crate::code;
use crate::units::Unit;

impl Planner<'_> {
    pub(super) fn optimize(&mut self, statement: &ast::ExperimentStmt) {
        let ast::ExperimentKind::Optimize {
            over,
            minimize,
            maximize,
            subject,
            worst,
            mean,
        } = &statement.kind
        else {
            return;
        };

        let span = statement.span;
        if self.plan.optimize.is_some() {
            let diagnostic = Diagnostic::error(code::OPTIMIZE, "an experiment searches once")
                .primary(span, "a second `optimize`")
                .help("put all that is varied into one, or write another experiment");
            self.report(diagnostic);
            return;
        }

        let mut search = Optimize {
            over: Vec::new(),
            aims: Vec::new(),
            conditions: Vec::new(),
            cases: Cases::Alone,
            span,
        };

        for (target, range) in over {
            if let Some(first) = search.over.iter().find(|v| same(&v.target, target)) {
                let path = &first.variable.path;
                let message = format!("`{path}` is varied twice");
                let diagnostic = Diagnostic::error(code::OPTIMIZE, message)
                    .primary(target.span, "again here")
                    .secondary(first.target.span, "varied here already");
                self.report(diagnostic);
                continue;
            }
            search.over.extend(self.varied(target, range));
        }

        for (aims, is_small) in [(minimize, true), (maximize, false)] {
            for aim in aims {
                search.aims.extend(self.aim(aim, is_small));
            }
        }

        if minimize.is_empty() && maximize.is_empty() {
            let diagnostic = Diagnostic::error(code::OPTIMIZE, "this search has no objective")
                .primary(span, "what is to become small or large?")
                .help("write `minimize name` with the name of a measure");
            self.report(diagnostic);
        }

        for condition in subject {
            search.conditions.extend(self.searched_condition(condition));
        }
        search.cases = self.cases(worst, mean);
        self.plan.optimize = Some(search);
    }

    fn aim(&mut self, e: &ast::Expr, is_small: bool) -> Option<Aim> {
        let known = self.measure_of(e, 0)?;
        let in_si = known.dimension.filter(|d| !d.is_one()).map(|d| d.unit());
        Some(Aim {
            value: known.value,
            is_small,
            text: self.label(e),
            unit: known.unit.or(in_si),
            span: e.span,
        })
    }

    pub(super) fn varied(&mut self, target: &ast::Ref, range: &ast::Range) -> Option<Varied> {
        let variable = self.scope.variable(target)?;
        let searched = match (&range.to, &range.by) {
            (Some(to), None) if !variable.is_part => self.bounds(&variable, range, to)?,
            (Some(_), Some(_)) if !variable.is_part => {
                Searched::Among(self.grid(range, &variable)?)
            }
            _ => Searched::Among(self.choices(range, &variable)?),
        };
        Some(Varied {
            target: target.clone(),
            variable,
            range: searched,
            unit: unit_of(&range.from),
            span: range.span,
        })
    }

    fn bounds(
        &mut self,
        variable: &SettableValue,
        range: &ast::Range,
        to: &ast::Expr,
    ) -> Option<Searched> {
        let low = self.value_of(&range.from, variable);
        let high = self.value_of(to, variable);
        let (low, high) = (low?, high?);
        if low >= high {
            let message = format!("`{}` needs a lower and an upper bound", variable.path);
            let diagnostic = Diagnostic::error(code::OPTIMIZE, message)
                .primary(range.span, format!("{low} is not below {high}"))
                .help("write `name in low .. high`");
            self.report(diagnostic);
            return None;
        }
        Some(Searched::Between(low, high))
    }

    /// Entries of a list: numbers, truth values or models.
    fn choices(&mut self, range: &ast::Range, variable: &SettableValue) -> Option<Vec<SweepValue>> {
        let is_list = matches!(range.from.kind, ast::ExprKind::Matrix { .. });
        if !is_list {
            let message = format!("`{}` needs bounds or a list of values", variable.path);
            let diagnostic = Diagnostic::error(code::OPTIMIZE, message)
                .primary(range.span, "neither two bounds nor a list")
                .help("write `name in low .. high` or `name in [a, b, c]`");
            self.report(diagnostic);
            return None;
        }
        let variable = variable.clone();
        self.list(range, move |p, e| match variable.is_part {
            true => Some(SweepValue {
                label: p.label(e),
                setting: SweepSetting::Expression(e.clone()),
            }),
            false => p.sweep_number(e, &variable),
        })
    }

    /// A condition of a search: an equality is two of them.
    fn searched_condition(&mut self, e: &ast::Expr) -> Vec<Condition> {
        let ast::ExprKind::Binary {
            op: ast::BinaryOp::Eq,
            left,
            right,
        } = &e.kind
        else {
            return self.condition(e).into_iter().collect();
        };
        let Some(below) = self.compared(e, Comparison::LessEqual, (left, right)) else {
            return Vec::new();
        };
        let below = Condition {
            is_half: true,
            ..below
        };
        let above = Condition {
            comparison: Comparison::GreaterEqual,
            ..below.clone()
        };
        vec![below, above]
    }

    pub(super) fn condition(&mut self, e: &ast::Expr) -> Option<Condition> {
        let found = match &e.kind {
            ast::ExprKind::Binary { op, left, right } => {
                comparison(*op).map(|comparison| (comparison, left, right))
            }
            _ => None,
        };
        let Some((comparison, left, right)) = found else {
            let is_exact = matches!(
                &e.kind,
                ast::ExprKind::Binary {
                    op: ast::BinaryOp::Ne | ast::BinaryOp::Eq,
                    ..
                }
            );
            let label = match is_exact {
                true => "neither below nor above",
                false => "not a comparison",
            };
            let diagnostic = Diagnostic::error(
                code::OPTIMIZE,
                "a condition keeps a measure below or above a value",
            )
            .primary(e.span, label)
            .help("write `over <= 20 [%]`; in a search `over == 20 [%]` is possible, too");
            self.report(diagnostic);
            return None;
        };
        self.compared(e, comparison, (left, right))
    }

    fn compared(
        &mut self,
        e: &ast::Expr,
        comparison: Comparison,
        (left, right): (&ast::Expr, &ast::Expr),
    ) -> Option<Condition> {
        let (a, b) = (self.measure_of(left, 0), self.measure_of(right, 0));
        let (a, b) = (a?, b?);
        let dimension = self.agree(&a, &b, right.span)?;
        // The limit is written in the unit that its reader thinks in.
        let in_si = dimension.filter(|d| !d.is_one()).map(|d| d.unit());
        let unit = unit_of(right).map(|u| u.0).or(a.unit).or(b.unit).or(in_si);
        Some(Condition {
            left: a.value,
            comparison,
            is_half: false,
            right: b.value,
            texts: (self.label(e), self.label(left)),
            unit,
            span: e.span,
        })
    }

    fn cases(&mut self, worst: &[ast::Expr], mean: &[ast::Expr]) -> Cases {
        if let (Some(first), Some(second)) = (worst.first(), mean.first()) {
            let diagnostic =
                Diagnostic::error(code::OPTIMIZE, "either the worst case counts, or the mean")
                    .primary(second.span, "`mean` here")
                    .secondary(first.span, "`worst` here");
            self.report(diagnostic);
        }
        if !worst.is_empty() {
            let names = worst
                .iter()
                .filter_map(|e| self.case(e))
                .map(|(name, _)| name);
            return Cases::Worst(names.collect());
        }
        if !mean.is_empty() {
            return Cases::Mean(mean.iter().filter_map(|e| self.case(e)).collect());
        }
        Cases::Alone
    }

    /// `heavy` or `2*heavy`.
    fn case(&mut self, e: &ast::Expr) -> Option<(ast::Ident, f64)> {
        let found = match &e.kind {
            ast::ExprKind::Name(name) => Some((name.clone(), 1.0)),
            ast::ExprKind::Binary {
                op: ast::BinaryOp::Mul,
                left,
                right,
            } => match (&left.kind, &right.kind) {
                (ast::ExprKind::Number { value, unit: None }, ast::ExprKind::Name(name)) => {
                    Some((name.clone(), *value)).filter(|(_, w)| *w > 0.0 && w.is_finite())
                }
                _ => None,
            },
            _ => None,
        };
        if found.is_none() {
            let diagnostic =
                Diagnostic::error(code::OPTIMIZE, "a case is the name of an experiment")
                    .primary(e.span, "not a name, nor a weight times one")
                    .help("write `worst heavy, light` or `mean heavy, 2*light`");
            self.report(diagnostic);
        }
        found
    }
}

fn same(a: &ast::Ref, b: &ast::Ref) -> bool {
    let name = |r: &ast::Ref| {
        let parts = r.parts.iter();
        let parts = parts.map(|p| {
            (
                p.name.text.clone(),
                p.index.iter().map(|i| i.kind.clone()).collect::<Vec<_>>(),
            )
        });
        parts.collect::<Vec<_>>()
    };
    name(a) == name(b)
}

/// The unit that a number or the entries of a list are written in.
fn unit_of(e: &ast::Expr) -> Option<(Unit, ast::Unit)> {
    let written = match &e.kind {
        ast::ExprKind::Number { unit, .. } | ast::ExprKind::Matrix { unit, .. } => unit.clone(),
        ast::ExprKind::Unary { of, .. } => return unit_of(of),
        _ => None,
    }?;
    Some((Unit::parse(&written).ok()?, written))
}

fn comparison(op: ast::BinaryOp) -> Option<Comparison> {
    match op {
        ast::BinaryOp::Lt => Some(Comparison::Less),
        ast::BinaryOp::Le => Some(Comparison::LessEqual),
        ast::BinaryOp::Gt => Some(Comparison::Greater),
        ast::BinaryOp::Ge => Some(Comparison::GreaterEqual),
        _ => None,
    }
}
