//! Takes text of the block over into the model: a rate is read there as the flow of its junction.
//!
//! In:  expressions as written.
//! Out: the same text with rates and `der(…)` replaced; everything else, blanks included, is kept.

use super::expressions::{Scope, is_der};
use super::names::{junction_of, velocity_junction};
use super::system::{Role, System};
use paynter_syntax::Span;
use paynter_syntax::ast::{self, ExprKind};

impl Scope<'_> {
    /// The text of an expression in the model.
    pub fn rewritten(&self, system: &System, e: &ast::Expr) -> String {
        let mut changes: Vec<(Span, String)> = Vec::new();
        self.collect_changes(system, e, &mut changes);
        changes.sort_by_key(|change| change.0.start);
        let text = self.sources.text(e.span);
        let mut out = String::new();
        let mut at = 0;
        for (span, new) in changes {
            let start = (span.start - e.span.start) as usize;
            out.push_str(text.get(at..start).unwrap_or_default());
            out.push_str(&new);
            at = (span.end - e.span.start) as usize;
        }
        out.push_str(text.get(at..).unwrap_or_default());
        out
    }

    /// What a name of a rate is read as in the model, if it is one.
    pub fn flow_of(&self, system: &System, name: &str) -> Option<String> {
        let &symbol = self.names.get(name)?;
        matches!(system.role(symbol), Role::Rate(_))
            .then(|| format!("{}.f", junction_of(system, symbol)))
    }

    fn collect_changes(&self, system: &System, e: &ast::Expr, changes: &mut Vec<(Span, String)>) {
        let mut inside: Vec<&ast::Expr> = Vec::new();
        match &e.kind {
            ExprKind::Name(name) => {
                changes.extend(self.flow_of(system, &name.text).map(|new| (e.span, new)));
            }
            ExprKind::Call { function, args } if is_der(function) => {
                if let [ast::Arg { value, .. }] = args.as_slice()
                    && let Some(index) = self.position(system, value)
                {
                    let junction = velocity_junction(system, index);
                    changes.push((e.span, format!("{junction}.f")));
                }
            }
            ExprKind::Call { args, .. } => inside.extend(args.iter().map(|a| &a.value)),
            ExprKind::Unary { of, .. } | ExprKind::Transpose(of) => inside.push(of),
            ExprKind::Binary { left, right, .. } => inside.extend([&**left, &**right]),
            ExprKind::Matrix { rows, .. } => inside.extend(rows.iter().flatten()),
            ExprKind::If {
                condition,
                then,
                otherwise,
            } => inside.extend([&**condition, &**then, &**otherwise]),
            _ => {}
        }
        for e in inside {
            self.collect_changes(system, e, changes);
        }
    }
}
