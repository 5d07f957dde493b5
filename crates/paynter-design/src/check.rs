//! Looks for errors in a whole file, without running anything.
//!
//! In:  a text found by a [`Loader`].
//! Out: what is wrong with any model or experiment of the main file, each cause once.

use crate::code;
use crate::compile::{self, Settings, compile};
use crate::design::{Failed, open};
use crate::memo::{Memo, Movable, Move, Texts};
use paynter_model::causality::{Causality, assign_causality};
use paynter_model::check::CheckedItem;
use paynter_model::elaborate::{Elaborated, Prepared, elaborate, prepare, with_stack};
use paynter_model::graph::BondGraph;
use paynter_model::project::{Loader, Project, Request, load};
use paynter_syntax::{Diagnostic, Span, ast};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

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
    let inspected = inspect(loader, path, &project, diagnostics, &Remembered::default());
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
#[derive(Clone, Debug)]
pub struct Shown {
    /// Its name.
    pub model: String,
    /// Its graph.
    pub graph: Arc<BondGraph>,
    /// Its strokes.
    pub causality: Arc<Causality>,
}

/// What was found of the items of a file before, for as long as it holds.
#[derive(Debug, Default)]
pub struct Remembered {
    items: Mutex<Memo<Found>>,
    compiled: Mutex<Memo<Arc<CompiledItem>>>,
}

/// What was found of an item.
type Found = Arc<CheckedItem>;

impl Movable for CheckedItem {
    fn moved(&self, by: &Move<'_>) -> Option<Self> {
        Some(CheckedItem {
            messages: self.messages.moved(by)?,
            graph: self.graph.moved(by)?,
        })
    }
}

/// What compiling an item gave.
#[derive(Clone, Debug, Default)]
struct CompiledItem {
    messages: Vec<Diagnostic>,
    shown: Option<Shown>,
}

impl Movable for CompiledItem {
    fn moved(&self, by: &Move<'_>) -> Option<Self> {
        Some(CompiledItem {
            messages: self.messages.moved(by)?,
            shown: self.shown.moved(by)?,
        })
    }
}

impl Movable for Shown {
    fn moved(&self, by: &Move<'_>) -> Option<Self> {
        Some(Shown {
            graph: self.graph.moved(by)?,
            ..self.clone()
        })
    }
}

/// Looks through a project that was opened with these messages. What is remembered of the same file is not looked at
/// again, and changes no answer.
pub fn inspect(
    loader: &mut dyn Loader,
    path: &str,
    project: &Project,
    mut diagnostics: Vec<Diagnostic>,
    remembered: &Remembered,
) -> Inspected {
    // After a syntax error things are missing, and everything that names them would be reported.
    let mut looked_at = None;
    if !diagnostics.iter().any(Diagnostic::is_error) {
        let prepared = prepare(project);
        let texts = Texts::of(project, &prepared);
        let items = look_at_items(&prepared, &texts, &remembered.items);
        let found = items.iter().map(|item| CheckedItem::clone(item));
        diagnostics.extend(prepared.whole(found.collect()));
        looked_at = Some((prepared, texts, items));
    }

    diagnostics.extend(crate::unsupported::in_experiments(project));
    diagnostics.extend(missing_references(loader, path, project));
    let mut shown = Vec::new();
    if let Some((prepared, texts, items)) = looked_at
        && !diagnostics.iter().any(Diagnostic::is_error)
    {
        let graphs = Graphs {
            project,
            prepared: &prepared,
            items: &items,
        };
        for compiled in graphs.compiled(&texts, &remembered.compiled) {
            shown.extend(compiled.shown.clone());
            for message in &compiled.messages {
                if !diagnostics.contains(message) {
                    diagnostics.push(message.clone());
                }
            }
        }
    }
    Inspected { diagnostics, shown }
}

/// Looks at all items up to one that is too large.
fn look_at_items(prepared: &Prepared<'_>, texts: &Texts, memo: &Mutex<Memo<Found>>) -> Vec<Found> {
    let is_over = AtomicBool::new(false);
    let places: Vec<usize> = (0..prepared.n_items()).collect();
    remembering(texts, memo, &places, |place| {
        if is_over.load(Ordering::Relaxed) {
            return None;
        }
        let found = prepared.item(place);
        is_over.fetch_or(found.is_too_large(), Ordering::Relaxed);
        Some(Arc::new(found))
    })
}

/// Gives what is found at each of these places: as remembered, or by working, on all cores; none ends the list.
fn remembering<T: Movable + Send>(
    texts: &Texts,
    memo: &Mutex<Memo<T>>,
    places: &[usize],
    work: impl Fn(usize) -> Option<T> + Sync,
) -> Vec<T> {
    let memo = || memo.lock().unwrap_or_else(PoisonError::into_inner);
    let mut found: Vec<Option<T>> = {
        let mut memo = memo();
        memo.renew(texts);
        places.iter().map(|&p| memo.find(texts, p)).collect()
    };
    let open: Vec<usize> = (0..places.len()).filter(|&k| found[k].is_none()).collect();
    let made = on_all_cores(open.len(), |j| work(places[open[j]]));
    let mut memo = memo();
    for (k, made) in open.into_iter().zip(made) {
        if let Some(made) = made {
            memo.keep(texts, places[k], made.clone());
            found[k] = Some(made);
        }
    }
    found.into_iter().map_while(|f| f).collect()
}

/// Does pieces of work, each once, in order of their numbers but several at a time.
fn on_all_cores<T: Send>(n: usize, work: impl Fn(usize) -> T + Sync) -> Vec<T> {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let next = AtomicUsize::new(0);
    let take = || {
        with_stack(|| {
            let mut done = Vec::new();
            loop {
                let k = next.fetch_add(1, Ordering::Relaxed);
                if k >= n {
                    return done;
                }
                done.push((k, work(k)));
            }
        })
    };
    let mut done: Vec<(usize, T)> = std::thread::scope(|scope| {
        let helpers: Vec<_> = (1..cores.min(n)).map(|_| scope.spawn(take)).collect();
        let mut done = take();
        for helper in helpers {
            match helper.join() {
                Ok(part) => done.extend(part),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
        done
    });
    done.sort_unstable_by_key(|(k, _)| *k);
    done.into_iter().map(|(_, made)| made).collect()
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
                if let Err(error) = loader.can_read(path, Some(from)) {
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

/// The graphs of all items.
struct Graphs<'g> {
    project: &'g Project,
    prepared: &'g Prepared<'g>,
    items: &'g [Found],
}

impl Graphs<'_> {
    /// Looks for conflicts of causality and for equations without a unique solution, in every model that stands alone
    /// and in every experiment.
    fn compiled(
        &self,
        texts: &Texts,
        memo: &Mutex<Memo<Arc<CompiledItem>>>,
    ) -> Vec<Arc<CompiledItem>> {
        let n_items = self.prepared.n_items();
        let places: Vec<usize> = (0..n_items)
            .filter(|&p| self.request(p).is_some())
            .collect();
        remembering(texts, memo, &places, |place| {
            Some(Arc::new(self.compile_item(place)))
        })
    }

    /// What elaborates the item at a place; none if it need not be compiled.
    fn request(&self, place: usize) -> Option<Request> {
        let main = self.project.files.first()?;
        let mut request = Request::default();
        match &main.ast.items[place].kind {
            ast::ItemKind::Model(model) if !is_part(self.project, model) => {
                request.model = Some(model.name.text.to_string());
            }
            ast::ItemKind::Experiment(e) if !is_as_its_model(self.project, e) => {
                request.experiment = Some(e.name.text.to_string());
            }
            _ => return None,
        }
        Some(request)
    }

    fn compile_item(&self, place: usize) -> CompiledItem {
        let request = self.request(place).unwrap_or_default();
        let known = self.items.get(place).and_then(|item| item.graph.clone());
        let graph = known.or_else(|| elaborated_graph(self.project, &request));
        // A part with open ports or parameters does not elaborate alone; `model::check` has looked at it.
        let Some(graph) = graph else {
            return CompiledItem::default();
        };
        let compiled = compile(graph.clone(), Settings::default());
        let shown = request.model.map(|model| {
            let (graph, causality) = match &compiled {
                Ok(compiled) => compile::shown(compiled),
                Err(_) => (graph.clone(), assign_causality(&graph)),
            };
            Shown {
                model,
                graph,
                causality: Arc::new(causality),
            }
        });
        let messages = match compiled {
            Ok(compiled) => compiled.warnings,
            Err(messages) => messages,
        };
        CompiledItem { messages, shown }
    }
}

fn elaborated_graph(project: &Project, request: &Request) -> Option<Arc<BondGraph>> {
    let elaborated = elaborate(project, request).elaborated;
    elaborated.map(|whole| Arc::new(Elaborated::into_graph(whole)))
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
    // More levels than this are a cycle, which elaboration reports.
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
