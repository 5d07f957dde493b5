//! Looks for errors in a whole file, without running anything.
//!
//! In:  a text found by a [`Loader`].
//! Out: what is wrong with any model or experiment of the main file, each cause once.

use crate::code;
use crate::compile::{Settings, compile};
use crate::design::{Failed, open};
use paynter_model::elaborate::{self, prepare};
use paynter_model::project::{Loader, Project, Request, load};
use paynter_syntax::{Diagnostic, Span, ast};
use std::sync::Arc;

/// Checks every model and experiment of a file.
///
/// # Errors
///
/// The file cannot be read.
pub fn check_in(loader: &mut dyn Loader, path: &str) -> Result<Failed, String> {
    let (project, diagnostics) = open(loader, path)?;
    Ok(check_project(loader, path, project, diagnostics))
}

/// Checks a text as if it stood in a file; what it uses is found from there.
pub fn check_text_in(loader: &mut dyn Loader, path: &str, text: &str) -> Failed {
    let (project, diagnostics) = load(path, text, loader);
    check_project(loader, path, project, diagnostics)
}

fn check_project(
    loader: &mut dyn Loader,
    path: &str,
    project: Project,
    mut diagnostics: Vec<Diagnostic>,
) -> Failed {
    // After a syntax error things are missing, and everything that names them would be reported.
    if !diagnostics.iter().any(Diagnostic::is_error) {
        diagnostics.extend(elaborate::check(&project));
    }
    diagnostics.extend(crate::unsupported::in_experiments(&project));
    diagnostics.extend(missing_references(loader, path, &project));
    if !diagnostics.iter().any(Diagnostic::is_error) {
        for message in check_graphs(&project) {
            if !diagnostics.contains(&message) {
                diagnostics.push(message);
            }
        }
    }
    Failed {
        sources: project.sources,
        diagnostics,
    }
}

/// Tables that experiments of the main file are compared with, and that are not there.
fn missing_references(loader: &mut dyn Loader, from: &str, project: &Project) -> Vec<Diagnostic> {
    let Some(main) = project.files.first() else {
        return Vec::new();
    };
    let mut found = Vec::new();
    for item in &main.ast.items {
        let ast::ItemKind::Experiment(experiment) = &item.kind else {
            continue;
        };
        for statement in &experiment.body {
            let files: Vec<(&String, Span)> = match &statement.kind {
                ast::ExperimentKind::Compare {
                    path, path_span, ..
                } => vec![(path, *path_span)],
                ast::ExperimentKind::Fit { data, .. } => {
                    data.iter().map(|d| (&d.path, d.path_span)).collect()
                }
                _ => Vec::new(),
            };
            for (path, span) in files {
                if let Err(error) = loader.bytes(path, Some(from)) {
                    found.push(unreadable_reference(format!("{path}: {error}"), span));
                }
            }
        }
    }
    found
}

/// A message about a table that cannot be read.
pub fn unreadable_reference(why: String, span: Span) -> Diagnostic {
    Diagnostic::error(
        code::REFERENCE,
        format!("the reference cannot be read: {why}"),
    )
    .primary(span, "compared with here")
    .help("paths begin at the folder of the model")
}

/// Looks for conflicts of causality and for equations without a unique solution, in every model
/// that stands alone and in every experiment.
fn check_graphs(project: &Project) -> Vec<Diagnostic> {
    let Some(main) = project.files.first() else {
        return Vec::new();
    };
    let mut found = Vec::new();
    let prepared = prepare(project);
    for item in &main.ast.items {
        let mut request = Request::default();
        match &item.kind {
            ast::ItemKind::Model(model) if !is_part(project, model) => {
                request.model = Some(model.name.text.to_string());
            }
            ast::ItemKind::Experiment(e) => request.experiment = Some(e.name.text.to_string()),
            _ => continue,
        }
        // A part with open ports or parameters does not elaborate alone; `elaborate::check` has looked at it.
        let Some(elaborated) = prepared.elaborate(&request).elaborated else {
            continue;
        };
        let graph = Arc::new(elaborated.into_graph());
        match compile(graph, Settings::default()) {
            Ok(compiled) => found.extend(compiled.warnings),
            Err(messages) => found.extend(messages),
        }
    }
    found
}

/// Tells whether a model has ports, of its own or of a model it extends: its bonds are made elsewhere.
fn is_part(project: &Project, model: &ast::Model) -> bool {
    // More levels than this are a circle, which elaboration reports.
    const DEEPEST: usize = 64;
    let mut model = model;
    for _ in 0..DEEPEST {
        if model
            .body
            .iter()
            .any(|s| matches!(s.kind, ast::StmtKind::Port(_)))
        {
            return true;
        }
        let base = model.extends.as_ref().and_then(|e| e.path.segments.last());
        let items = project.files.iter().flat_map(|f| &f.ast.items);
        let mut found = items.filter_map(|item| match &item.kind {
            ast::ItemKind::Model(m) if base.is_some_and(|b| b.text == m.name.text) => Some(m),
            _ => None,
        });
        match found.next_back() {
            Some(next) => model = next,
            None => return false,
        }
    }
    false
}
