//! Names of recorded columns, as plots, measures and linear models read them.
//!
//! In:  `record jf.f [deg/s] as omega`, and expressions such as `max(omega)`.
//! Out: the same expressions with `jf.f` in the place of `omega`.
//!
//! **Invariant:** a name that the model itself has keeps its meaning.

use paynter_syntax::ast;

use super::Planner;
use crate::units::Unit;

impl Planner<'_> {
    /// Notes the columns with names of their own, wherever they are in the experiment.
    pub(super) fn find_recorded(&mut self, experiment: &ast::Experiment) {
        for statement in experiment.statements() {
            let ast::ExperimentKind::Record(records) = &statement.kind else {
                continue;
            };
            for record in records {
                if let Some(alias) = &record.alias
                    && !self.scope.knows(alias)
                {
                    self.recorded.push(record.clone());
                }
            }
        }
    }

    /// An expression in which names of columns are replaced by what they mean; and the unit of the column that it is, if it is one.
    pub(super) fn as_recorded(&self, e: &ast::Expr) -> (ast::Expr, Option<Unit>) {
        let mut meant = e.clone();
        if self.recorded.is_empty() {
            return (meant, None);
        }
        let unit = match &e.kind {
            ast::ExprKind::Name(name) => self.column(name).and_then(|r| r.unit.as_ref()),
            _ => None,
        };
        let unit = unit.and_then(|u| Unit::parse(u).ok());
        self.put_recorded(&mut meant);
        (meant, unit)
    }

    fn column(&self, name: &ast::Ident) -> Option<&ast::Record> {
        let is_it = |r: &&ast::Record| r.alias.as_ref().is_some_and(|a| a.text == name.text);
        let is_measure = self.plan.measures.iter().any(|m| m.name == *name.text);
        self.recorded.iter().find(is_it).filter(|_| !is_measure)
    }

    fn put_recorded(&self, e: &mut ast::Expr) {
        use ast::ExprKind as Kind;
        match &mut e.kind {
            Kind::Name(name) => {
                if let Some(record) = self.column(name) {
                    e.kind = record.value.kind.clone();
                }
            }
            Kind::Field { of, .. } | Kind::Unary { of, .. } | Kind::Transpose(of) => {
                self.put_recorded(of);
            }
            Kind::Index { of, index } => {
                self.put_recorded(of);
                index.iter_mut().for_each(|e| self.put_recorded(e));
            }
            Kind::Call { args, .. } => {
                args.iter_mut()
                    .for_each(|a| self.put_recorded(&mut a.value));
            }
            Kind::Comprehension { body, .. } => self.put_recorded(body),
            Kind::Binary { left, right, .. } => {
                self.put_recorded(left);
                self.put_recorded(right);
            }
            Kind::If {
                condition,
                then,
                otherwise,
            } => {
                for e in [condition, then, otherwise] {
                    self.put_recorded(e);
                }
            }
            Kind::Matrix { rows, .. } => {
                let entries = rows.iter_mut().flatten();
                entries.for_each(|e| self.put_recorded(e));
            }
            Kind::Number { .. } | Kind::Bool(_) | Kind::Text(_) => {}
        }
    }
}
