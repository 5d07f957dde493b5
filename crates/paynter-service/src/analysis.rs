//! A text with everything it uses: the project, its messages, its graphs.
//!
//! In:  a path of the world.
//! Out: an [`Analysis`], parts of which are made when first asked for.
//!
//! **Invariant:** it holds as long as every text that was asked for has its stamp.

use crate::world::{Asked, Stamp, World};
use paynter::check::inspect;
use paynter::compile::{Settings, strokes};
use paynter::design::open;
use paynter::model::causality::{Causality, assign_causality};
use paynter::model::elaborate::{elaborate, sketch};
use paynter::model::graph::BondGraph;
use paynter::model::project::{Project, Request};
use paynter::syntax::{Diagnostic, ast};
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
    pub fn new(world: &World, analysis: Arc<Analysis>) -> Self {
        let mut asked = Asked::new(world);
        let told = analysis.told.clone();
        let found = inspect(&mut asked, &analysis.path, &analysis.project, told);
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
    pub causality: Causality,
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
        if self.project.files.iter().any(|f| f.is_broken) {
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
                causality: shown.causality,
                is_open: false,
            });
        }
        let graph = sketch(&self.project, model)?;
        Some(Flat {
            causality: assign_causality(&graph),
            graph: Arc::new(graph),
            is_open: true,
        })
    }

    /// Finds the item that a path names in a file of the project: its file and itself.
    pub fn find<'a>(&'a self, path: &ast::Path, file: usize) -> Option<(usize, &'a ast::Item)> {
        match path.segments.as_slice() {
            [name] => self.find_name(&name.text, file),
            [prefix, name] => {
                let imports = &self.project.files[file].imports;
                let import = imports
                    .iter()
                    .find(|i| i.prefix.as_deref() == Some(&*prefix.text))?;
                self.own_item(&name.text, import.file)
            }
            _ => None,
        }
    }

    /// Finds the item of this name that a file knows.
    pub fn find_name<'a>(&'a self, name: &str, file: usize) -> Option<(usize, &'a ast::Item)> {
        if let Some(own) = self.own_item(name, file) {
            return Some(own);
        }
        let imports = &self.project.files.get(file)?.imports;
        let mut wanted = imports
            .iter()
            .filter(|i| i.names.is_empty() || i.names.iter().any(|n| &*n.text == name));
        wanted.find_map(|i| self.own_item(name, i.file))
    }

    fn own_item<'a>(&'a self, name: &str, file: usize) -> Option<(usize, &'a ast::Item)> {
        let items = &self.project.files.get(file)?.ast.items;
        let found = items.iter().find(|item| {
            !matches!(item.kind, ast::ItemKind::Experiment(_))
                && item_name(item).is_some_and(|n| &*n.text == name)
        });
        found.map(|item| (file, item))
    }

    /// Finds a model by path.
    pub fn find_model<'a>(
        &'a self,
        path: &ast::Path,
        file: usize,
    ) -> Option<(usize, &'a ast::Model)> {
        match self.find(path, file)? {
            (
                file,
                ast::Item {
                    kind: ast::ItemKind::Model(model),
                    ..
                },
            ) => Some((file, model)),
            _ => None,
        }
    }

    /// Lists a model and those it extends, the model itself first, each with its file.
    pub fn lineage<'a>(
        &'a self,
        model: &'a ast::Model,
        file: usize,
    ) -> Vec<(usize, &'a ast::Model)> {
        // More levels than this are a circle, which elaboration reports.
        const MAX_LEVELS: usize = 64;
        let mut levels = vec![(file, model)];
        while levels.len() < MAX_LEVELS {
            let (file, model) = levels[levels.len() - 1];
            let Some(base) = &model.extends else { break };
            match self.find_model(&base.path, file) {
                Some(next) if !levels.iter().any(|l| std::ptr::eq(l.1, next.1)) => {
                    levels.push(next)
                }
                _ => break,
            }
        }
        levels
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

/// Gives the name of a top-level item.
pub fn item_name(item: &ast::Item) -> Option<&ast::Ident> {
    match &item.kind {
        // The model derived from a Lagrangian has its name.
        ast::ItemKind::Use(_) | ast::ItemKind::Lagrangian(_) => None,
        ast::ItemKind::Domain(d) => Some(&d.name),
        ast::ItemKind::PortType(p) => Some(&p.name),
        ast::ItemKind::Model(m) => Some(&m.name),
        ast::ItemKind::Function(f) => Some(&f.name),
        ast::ItemKind::Experiment(e) => Some(&e.name),
        ast::ItemKind::Constant(c) => c.target.parts.first().map(|p| &p.name),
    }
}
