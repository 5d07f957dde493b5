//! A text with everything it uses: the project, its messages, its graphs.
//!
//! In:  a path of the world.
//! Out: an [`Analysis`], parts of which are made when first asked for.
//!
//! **Invariant:** it holds as long as every text that was asked for has its stamp.

use crate::world::{Asked, Stamp, World};
use paynter::check::{Remembered, inspect};
use paynter::compile::{Settings, strokes};
use paynter::design::open;
use paynter::model::causality::{Causality, assign_causality};
use paynter::model::elaborate::{elaborate, sketch};
use paynter::model::graph::BondGraph;
pub use paynter::model::project::item_name;
use paynter::model::project::{Project, Request};
use paynter::syntax::{Diagnostic, Span, ast};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

/// What is known of a text and everything it uses.
#[derive(Debug)]
pub struct Analysis {
    /// The path of the main text.
    pub path: String,
    /// All texts, parsed.
    pub project: Project,
    /// What reading them told.
    told: Vec<Diagnostic>,
    asked: Vec<(String, Stamp)>,
    graphs: Mutex<BTreeMap<String, Option<Arc<Flat>>>>,
}

/// Everything that is wrong with a text and what it uses.
#[derive(Debug)]
pub struct Checked {
    /// The messages.
    pub diagnostics: Vec<Diagnostic>,
    /// The texts that the messages point into.
    pub analysis: Arc<Analysis>,
    /// Asked for beyond what the analysis asked for: tables to compare with.
    asked: Vec<(String, Stamp)>,
}

impl Checked {
    /// Checks a text that was read. The graphs met on the way are kept with the analysis.
    pub fn new(world: &World, analysis: Arc<Analysis>, remembered: &Remembered) -> Self {
        let mut asked = Asked::new(world);
        let told = analysis.told.clone();
        let project = &analysis.project;
        let found = inspect(&mut asked, &analysis.path, project, told, remembered);
        for shown in found.shown {
            let flat = Flat {
                graph: shown.graph,
                causality: shown.causality,
                is_open: false,
            };
            analysis.keep(shown.model, flat);
        }
        Checked {
            diagnostics: found.diagnostics,
            analysis,
            asked: asked.asked,
        }
    }

    /// Tells whether no text has changed since.
    pub fn holds(&self, world: &World) -> bool {
        self.analysis.holds(world) && holds(&self.asked, world)
    }
}

fn holds(asked: &[(String, Stamp)], world: &World) -> bool {
    asked
        .iter()
        .all(|(path, stamp)| world.stamp(path) == *stamp)
}

/// The flat graph of a model with its strokes.
#[derive(Debug)]
pub struct Flat {
    /// The graph.
    pub graph: Arc<BondGraph>,
    /// Its strokes.
    pub causality: Arc<Causality>,
    /// The model waits for bonds, values or inputs: strokes may turn out otherwise where it is used.
    pub is_open: bool,
}

impl Analysis {
    /// Reads a text and what it uses; none if there is none.
    pub fn new(world: &World, path: &str) -> Option<Self> {
        let mut asked = Asked::new(world);
        let (project, told) = open(&mut asked, path).ok()?;
        Some(Analysis {
            path: path.to_owned(),
            project,
            told,
            asked: asked.asked,
            graphs: Mutex::default(),
        })
    }

    /// Tells whether no text has changed since.
    pub fn holds(&self, world: &World) -> bool {
        holds(&self.asked, world)
    }

    /// Gives the flat graph of a model of the main text; none if it has errors.
    pub fn flat(&self, model: &str) -> Option<Arc<Flat>> {
        let mut graphs = self.graphs.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = graphs.get(model) {
            return known.clone();
        }
        let flat = self.flatten(model).map(Arc::new);
        graphs.insert(model.to_owned(), flat.clone());
        flat
    }

    /// Keeps the flat graph of a model, made as [`Analysis::flat`] makes it.
    fn keep(&self, model: String, flat: Flat) {
        let mut graphs = self.graphs.lock().unwrap_or_else(PoisonError::into_inner);
        graphs.entry(model).or_insert_with(|| Some(Arc::new(flat)));
    }

    fn flatten(&self, model: &str) -> Option<Flat> {
        let is_broken = self.project.files.iter().any(|f| f.is_broken);
        if is_broken && !self.are_models_readable() {
            return None;
        }
        let request = Request {
            model: Some(model.to_owned()),
            ..Request::default()
        };
        if let Some(whole) = elaborate(&self.project, &request).elaborated {
            let shown = strokes(Arc::new(whole.into_graph()), Settings::default());
            return Some(Flat {
                graph: shown.graph,
                causality: Arc::new(shown.causality),
                is_open: false,
            });
        }
        // What is missing may be what could not be read: that is no model that waits for something.
        let graph = (!is_broken).then(|| sketch(&self.project, model))??;
        Some(Flat {
            causality: Arc::new(assign_causality(&graph)),
            graph: Arc::new(graph),
            is_open: true,
        })
    }

    /// Tells whether every error of reading lies beside the models and what they are made of, such as in an experiment.
    /// A model that is left out as a whole is missed where another one names it.
    fn are_models_readable(&self) -> bool {
        let items = self.project.files.iter().flat_map(|f| &f.ast.items);
        let parts = items.filter(|i| !matches!(i.kind, ast::ItemKind::Experiment(_)));
        let spans: Vec<Span> = parts.map(|i| i.span).collect();
        let touches = |e: Span| {
            let mut spans = spans.iter();
            spans.any(|s| s.file == e.file && s.start <= e.start && e.start <= s.end)
        };
        let mut errors = self.told.iter().filter(|d| d.is_error());
        errors.all(|d| d.primary.as_ref().is_some_and(|at| !touches(at.span)))
    }

    /// Finds the item that a path names in a file of the project: its file and itself.
    pub fn find<'a>(&'a self, path: &ast::Path, file: usize) -> Option<(usize, &'a ast::Item)> {
        self.project.find(path, file)
    }

    /// Finds the item of this name that a file knows.
    pub fn find_name<'a>(&'a self, name: &str, file: usize) -> Option<(usize, &'a ast::Item)> {
        self.project.find_name(name, file)
    }

    /// Finds a model by path.
    pub fn find_model<'a>(
        &'a self,
        path: &ast::Path,
        file: usize,
    ) -> Option<(usize, &'a ast::Model)> {
        self.project.find_model(path, file)
    }

    /// Lists a model and those it extends, the model itself first, each with its file.
    pub fn lineage<'a>(
        &'a self,
        model: &'a ast::Model,
        file: usize,
    ) -> Vec<(usize, &'a ast::Model)> {
        self.project.lineage(model, file)
    }

    /// Lists the declared ports of a model, those of the models it extends first.
    pub fn ports<'a>(&'a self, model: &'a ast::Model, file: usize) -> Vec<&'a ast::PortDecl> {
        let levels = self.lineage(model, file);
        let bodies = levels.iter().rev().flat_map(|(_, m)| &m.body);
        let ports = bodies.filter_map(|s| match &s.kind {
            ast::StmtKind::Port(ports) => Some(ports),
            _ => None,
        });
        ports.flatten().collect()
    }
}
