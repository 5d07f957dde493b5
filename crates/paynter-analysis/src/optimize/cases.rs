//! The experiments that count in one search.
//!
//! In:  a design whose search names further experiments (`worst heavy, light`).
//! Out: a [`Case`] for each, with the aims and conditions of the search read in its own words.

use paynter_design::code;
use paynter_design::design::{Choice, Design, DesignError};
use paynter_model::experiment::Cases;
use paynter_model::project::Project;
use paynter_syntax::{Diagnostic, ast};
use std::sync::Arc;

/// One experiment of a search.
pub(super) struct Case {
    /// Its name, where there are several.
    pub name: Option<String>,
    /// The model, with aims and conditions in its plan.
    pub design: Design,
    /// In a mean.
    pub weight: f64,
}

/// Lists the experiments of a search, its own first.
///
/// # Errors
///
/// A name that is not an experiment, or one in which aims and conditions cannot be read.
pub(super) fn cases(design: &Design, choice: &Choice) -> Result<Vec<Case>, Vec<Diagnostic>> {
    let search = design
        .plan
        .optimize
        .as_ref()
        .expect("the caller has looked");
    let others: Vec<(ast::Ident, f64)> = match &search.cases {
        Cases::Alone => Vec::new(),
        Cases::Worst(names) => names.iter().map(|n| (n.clone(), 1.0)).collect(),
        Cases::Mean(names) => names.clone(),
    };
    let own = Case {
        name: design.plan.name.clone().filter(|_| !others.is_empty()),
        design: design.clone(),
        weight: 1.0,
    };
    let mut found = vec![own];
    for (name, weight) in others {
        found.push(Case {
            name: Some(name.text.to_string()),
            design: read_in(design, choice, &name)?,
            weight,
        });
    }
    Ok(found)
}

/// The design of another experiment, with the search of this one.
fn read_in(design: &Design, choice: &Choice, name: &ast::Ident) -> Result<Design, Vec<Diagnostic>> {
    let is_own = design.plan.name.as_deref() == Some(&*name.text);
    if is_own || !design.experiments.iter().any(|e| **e == *name.text) {
        let label = if is_own {
            "the search counts it already"
        } else {
            "not in this file"
        };
        let message = Diagnostic::error(
            code::NO_SUCH_CASE,
            format!("`{}` is not another experiment", name.text),
        );
        return Err(vec![message.primary(name.span, label)]);
    }

    let mut with_search = design.clone();
    let statement = statement(&design.project, design.plan.name.as_deref());
    let statement = statement.expect("the plan has its search from there");
    let own = Arc::make_mut(&mut with_search.project.files[0].ast);
    for item in &mut own.items {
        if let ast::ItemKind::Experiment(e) = &mut item.kind
            && e.name.text == name.text
        {
            for list in [&mut e.body, &mut e.inherited] {
                list.retain(|s| !matches!(s.kind, ast::ExperimentKind::Optimize { .. }));
            }
            e.body.push(statement.clone());
        }
    }

    let mut choice = choice.clone();
    choice.experiment = Some(name.text.to_string());
    with_search.varied(&choice, &[]).map_err(|e| match e {
        DesignError::Unreadable(_) => unreachable!("no file is read"),
        DesignError::Model(failed) => {
            let about = |m: Diagnostic| m.secondary(name.span, "read in this experiment");
            failed.diagnostics.into_iter().map(about).collect()
        }
    })
}

/// The `optimize` of an experiment.
fn statement(project: &Project, experiment: Option<&str>) -> Option<ast::ExperimentStmt> {
    let items = project.files.first()?.ast.items.iter();
    let experiments = items.filter_map(|item| match &item.kind {
        ast::ItemKind::Experiment(e) => Some(e),
        _ => None,
    });
    let mut own = experiments.filter(|e| Some(&*e.name.text) == experiment);
    let is_it = |s: &&ast::ExperimentStmt| matches!(s.kind, ast::ExperimentKind::Optimize { .. });
    own.next()?.statements().find(is_it).cloned()
}
