//! Looks for errors in a whole file, without running anything.
//!
//! In:  a text found by a [`Loader`].
//! Out: what is wrong with any model or experiment of the main file, each cause once.

use crate::code;
use crate::compile::{self, Settings, compile};
use crate::design::{Failed, open};
use paynter_model::causality::{Causality, assign_causality};
use paynter_model::check::check_whole;
use paynter_model::elaborate::{Elaborated, prepare};
use paynter_model::graph::BondGraph;
use paynter_model::project::{Loader, Project, Request, load};
use paynter_syntax::{Diagnostic, Span, ast};
use std::collections::BTreeMap;
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
    diagnostics: Vec<Diagnostic>,
) -> Failed {
    let inspected = inspect(loader, path, &project, diagnostics);
    Failed {
        sources: project.sources,
        diagnostics: inspected.diagnostics,
    }
}

/// What looking through a file gives.
#[derive(Debug, Default)]
pub struct Inspected {
    /// What is wrong, each cause once.
    pub diagnostics: Vec<Diagnostic>,
    /// The models of the main file that stand alone, with the strokes that reports show; none if there are errors
    /// before any graph.
    pub shown: Vec<Shown>,
}

/// A model with its strokes.
#[derive(Debug)]
pub struct Shown {
    /// Its name.
    pub model: String,
    /// Its graph.
    pub graph: Arc<BondGraph>,
    /// Its strokes.
    pub causality: Causality,
}

/// Looks through a project that was opened with these messages.
pub fn inspect(
    loader: &mut dyn Loader,
    path: &str,
    project: &Project,
    mut diagnostics: Vec<Diagnostic>,
) -> Inspected {
    // After a syntax error things are missing, and everything that names them would be reported.
    let mut graphs = BTreeMap::new();
    if !diagnostics.iter().any(Diagnostic::is_error) {
        let (messages, found) = check_whole(project);
        diagnostics.extend(messages);
        graphs.extend(found);
    }
    diagnostics.extend(crate::unsupported::in_experiments(project));
    diagnostics.extend(missing_references(loader, path, project));
    let mut shown = Vec::new();
    if !diagnostics.iter().any(Diagnostic::is_error) {
        for message in check_graphs(project, graphs, &mut shown) {
            if !diagnostics.contains(&message) {
                diagnostics.push(message);
            }
        }
    }
    Inspected { diagnostics, shown }
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
/// that stands alone and in every experiment. `graphs` are those known already, by the place of the item.
fn check_graphs(
    project: &Project,
    mut graphs: BTreeMap<usize, BondGraph>,
    shown: &mut Vec<Shown>,
) -> Vec<Diagnostic> {
    let Some(main) = project.files.first() else {
        return Vec::new();
    };
    let mut found = Vec::new();
    let mut prepared = None;
    for (place, item) in main.ast.items.iter().enumerate() {
        let mut request = Request::default();
        match &item.kind {
            ast::ItemKind::Model(model) if !is_part(project, model) => {
                request.model = Some(model.name.text.to_string());
            }
            ast::ItemKind::Experiment(e) if !is_as_its_model(project, e) => {
                request.experiment = Some(e.name.text.to_string());
            }
            _ => continue,
        }
        let graph = graphs.remove(&place).or_else(|| {
            let prepared = prepared.get_or_insert_with(|| prepare(project));
            let elaborated = prepared.elaborate(&request).elaborated;
            elaborated.map(Elaborated::into_graph)
        });
        // A part with open ports or parameters does not elaborate alone; `model::check` has looked at it.
        let Some(graph) = graph else { continue };
        let graph = Arc::new(graph);
        let compiled = compile(graph.clone(), Settings::default());
        if let Some(model) = request.model {
            let (graph, causality) = match &compiled {
                Ok(compiled) => compile::shown(compiled),
                Err(_) => (graph.clone(), assign_causality(&graph)),
            };
            shown.push(Shown {
                model,
                graph,
                causality,
            });
        }
        match compiled {
            Ok(compiled) => found.extend(compiled.warnings),
            Err(messages) => found.extend(messages),
        }
    }
    found
}

/// Tells whether an experiment has the graph of its model, which is looked at itself: it only says what to run and to show.
fn is_as_its_model(project: &Project, experiment: &ast::Experiment) -> bool {
    let [name] = experiment.of.segments.as_slice() else {
        return false;
    };
    let items = project.files.first().map(|main| &main.ast.items);
    let mut models = items.into_iter().flatten().filter_map(|i| match &i.kind {
        ast::ItemKind::Model(model) => Some(model),
        _ => None,
    });
    let is_looked_at = models.any(|m| m.name.text == name.text && !is_part(project, m));
    let leaves_graph = |s: &ast::ExperimentStmt| {
        use ast::ExperimentKind as Kind;
        matches!(
            s.kind,
            Kind::Setting { .. }
                | Kind::Record(_)
                | Kind::Plot { .. }
                | Kind::Measure(_)
                | Kind::Limit(_)
                | Kind::Compare { .. }
        )
    };
    is_looked_at && experiment.statements().all(leaves_graph)
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
