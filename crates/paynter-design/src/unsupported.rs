//! Refuses what the language has words for and no command carries out yet.
//!
//! In:  the plan of a run, or all experiments of a file.
//! Out: errors at the words. Nothing else is done in the place of what was asked for.

use crate::code;
use paynter_model::experiment::{Constraints, Plan};
use paynter_model::project::Project;
use paynter_syntax::{Diagnostic, Span, ast};

/// Words for ways to enforce constraints that are read and checked only.
const UNUSED_CONSTRAINTS: [&str; 1] = ["delayed"];

/// What keeps a plan from being carried out many times, or elsewhere, as it is written.
pub fn in_plan(plan: &Plan) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    let word = match plan.constraints {
        Constraints::Delayed => Some(UNUSED_CONSTRAINTS[0]),
        _ => None,
    };
    let place = |words: &[&str]| plan.places.of(words).unwrap_or_default();
    if let Some(word) = word {
        found.push(constraints(word, place(&["constraints"])));
    }
    found
}

/// The same for every experiment of the main file that runs many times, and for what its sweeps go over.
pub(crate) fn in_experiments(project: &Project) -> Vec<Diagnostic> {
    let items = project.files.first().map_or(&[][..], |f| &f.ast.items[..]);
    let experiments = items.iter().filter_map(|item| match &item.kind {
        ast::ItemKind::Experiment(experiment) => Some(experiment),
        _ => None,
    });
    experiments.flat_map(in_experiment).collect()
}

fn in_experiment(experiment: &ast::Experiment) -> Vec<Diagnostic> {
    let runs_many_times = experiment.body.iter().any(|statement| {
        matches!(
            statement.kind,
            ast::ExperimentKind::Sweep { .. }
                | ast::ExperimentKind::Optimize { .. }
                | ast::ExperimentKind::Fit { .. }
        )
    });
    let mut found = Vec::new();
    for statement in &experiment.body {
        match &statement.kind {
            ast::ExperimentKind::Setting { name, value }
                if &*name.text == "constraints" && runs_many_times =>
            {
                found.extend(refused(value));
            }
            ast::ExperimentKind::Sweep { target, over } if is_constraints(target) => {
                if let ast::ExprKind::Matrix { rows, .. } = &over.from.kind {
                    found.extend(rows.iter().flatten().filter_map(refused));
                }
            }
            _ => {}
        }
    }
    found
}

fn is_constraints(target: &ast::Ref) -> bool {
    matches!(&target.parts[..], [part] if &*part.name.text == "constraints")
}

fn refused(value: &ast::Expr) -> Option<Diagnostic> {
    let word = match &value.kind {
        ast::ExprKind::Name(name) => &name.text,
        ast::ExprKind::Call { function, .. } => &function.segments.last()?.text,
        _ => return None,
    };
    let is_it = UNUSED_CONSTRAINTS.contains(&&**word);
    is_it.then(|| constraints(word, value.span))
}

fn constraints(word: &str, span: Span) -> Diagnostic {
    let message =
        format!("`constraints = {word}` is not implemented yet for sweeps, searches and exports");
    Diagnostic::error(code::NOT_IMPLEMENTED, message)
        .primary(span, "asked for here")
        .help(
            "use `minimal`, `implicit`, `multiplier` or `parasitic`; `delayed` is for single runs",
        )
}
