//! What the top level of each file names, and which model a request means.
//!
//! In:  the files of a project.
//! Out: for each file its own items and those that `use` brings; the model and experiment to run.
//!
//! **Invariant:** an item's own file wins over what it imports; a name is reported missing once.

use paynter_syntax::{Diagnostic, Span, ast};
use rustc_hash::FxHashMap;
use std::sync::Arc;

use super::{Elaborator, code};
use crate::graph::ElementKind;
use crate::project::{LoadedFile, Request, item_name};
use crate::suggest::nearest;

/// A model with its file, and the experiment with its.
pub(super) type Chosen<'a> = (&'a ast::Model, u32, Option<(&'a ast::Experiment, u32)>);

/// A top-level thing and the file it is in.
#[derive(Clone, Copy, Debug)]
pub(super) enum Item<'a> {
    Model(&'a ast::Model, u32),
    Function(&'a ast::Function, u32),
    Constant(&'a ast::Define, u32),
    PortType(&'a ast::PortType, u32),
    Domain(&'a ast::Domain),
    /// A name that a `use` should have brought; that it did not was reported.
    Missing(Span),
}

/// What can be named at the top level of a file.
#[derive(Debug, Default)]
pub(super) struct FileNames<'a> {
    pub(super) names: FxHashMap<&'a str, Item<'a>>,
    /// `mechanics3d` of `mechanics3d.World`.
    pub(super) prefixes: FxHashMap<&'a str, usize>,
    /// Experiments are not read by name, so they may be called as a model is.
    pub(super) experiments: FxHashMap<&'a str, &'a ast::Experiment>,
    pub(super) is_strict: bool,
}

impl<'a> Elaborator<'a> {
    /// Lists what can be named in each file.
    pub(super) fn read_files(&mut self) {
        let mut files: Vec<FileNames<'a>> = Vec::with_capacity(self.project.files.len());
        for (at, file) in self.project.files.iter().enumerate() {
            files.push(self.names_of(at as u32, &file.ast));
        }

        for (at, file) in self.project.files.iter().enumerate() {
            for item in &file.ast.items {
                let ast::ItemKind::Use(used) = &item.kind else {
                    continue;
                };
                for name in &used.names {
                    files[at]
                        .names
                        .entry(&name.text)
                        .or_insert(Item::Missing(name.span));
                }
            }
            for import in &file.imports {
                self.bring_in(&mut files, at, import);
            }
        }
        self.texts.files = Arc::new(files);
    }

    /// Lists what a file declares.
    fn names_of(&mut self, at: u32, file: &'a ast::File) -> FileNames<'a> {
        let mut names = FileNames {
            is_strict: file.units_strict.is_some(),
            ..Default::default()
        };
        for item in &file.items {
            let Some(name) = item_name(item) else {
                continue;
            };
            if let ast::ItemKind::Model(_) = &item.kind
                && let Some(kind) = ElementKind::called(&name.text)
                && !kind.describe().yields_to_models
            {
                let span = name.span;
                report!(self, code::DUPLICATE_NAME, span, "`{}` is the name of an element", kind.letters();
                    "a model cannot have it, too";
                    help: "give the model another name");
            }
            let entry = match &item.kind {
                ast::ItemKind::Model(m) => Item::Model(m, at),
                ast::ItemKind::Function(f) => Item::Function(f, at),
                ast::ItemKind::Constant(c) => Item::Constant(c, at),
                ast::ItemKind::PortType(p) => Item::PortType(p, at),
                ast::ItemKind::Domain(d) => Item::Domain(d),
                ast::ItemKind::Experiment(e) => {
                    let first = *names.experiments.entry(&name.text).or_insert(e);
                    if !std::ptr::eq(first, e) {
                        self.report_same_item(name, first.name.span);
                    }
                    continue;
                }
                ast::ItemKind::Use(_) | ast::ItemKind::Lagrangian(_) => continue,
            };
            if let Some(first) = names.names.get(&*name.text) {
                let first = first.span();
                self.report_same_item(name, first);
                continue;
            }
            if let ast::ItemKind::Domain(domain) = &item.kind
                && let Err(messages) = self.texts.domains.define(domain)
            {
                messages.into_iter().for_each(|m| self.report.push(m));
            }
            names.names.insert(&name.text, entry);
        }
        names
    }

    /// Adds what a file imports to its names; its own come first.
    fn bring_in(&self, files: &mut [FileNames<'a>], at: usize, import: &'a crate::project::Import) {
        if let Some(prefix) = &import.prefix {
            files[at].prefixes.insert(prefix, import.file);
        }
        let own = self.project.files[import.file]
            .ast
            .items
            .iter()
            .filter_map(item_name);
        for name in own {
            let is_wanted =
                import.names.is_empty() || import.names.iter().any(|n| n.text == name.text);
            let item = files[import.file].names.get(&*name.text).copied();
            if let (true, Some(item)) = (is_wanted, item) {
                let own = files[at].names.entry(&name.text).or_insert(item);
                if let Item::Missing(_) = own {
                    *own = item;
                }
            }
        }
    }

    fn report_same_item(&mut self, name: &ast::Ident, first: Span) {
        let span = name.span;
        report!(self, code::DUPLICATE_NAME, span, "two items of this file are called `{}`", name.text;
            "defined again";
            beside first => "first defined here");
    }

    /// Finds the model and experiment of a request.
    pub(super) fn choose(&mut self, request: &Request) -> Option<Chosen<'a>> {
        let main = self.project.files.first()?;
        let mut models = main.ast.items.iter().filter_map(|i| match &i.kind {
            ast::ItemKind::Model(m) => Some(m),
            _ => None,
        });
        let known: Vec<&str> = models.clone().map(|m| &*m.name.text).collect();
        if let Some(name) = &request.experiment {
            return self.choose_experiment(name, request.model.as_deref(), &known);
        }
        if let Some(name) = &request.model {
            if let Some(Item::Model(model, file)) = self.texts.files[0].names.get(name.as_str()) {
                return Some((model, *file, None));
            }
            self.report_missing("model", name, &known);
            return None;
        }

        // The last model is usually the whole system; those above are its parts.
        match models.next_back() {
            Some(model) => Some((model, 0, None)),
            None => {
                // A file that did not parse has said so.
                if !main.is_broken {
                    self.report.list.push(no_model());
                }
                None
            }
        }
    }

    /// Finds an experiment by name; a model named beside it must be its own. `models` are those of the file.
    fn choose_experiment(
        &mut self,
        name: &str,
        wanted: Option<&str>,
        models: &[&str],
    ) -> Option<Chosen<'a>> {
        let Some(experiment) = self.texts.files[0].experiments.get(name).copied() else {
            let items = self.project.files[0].ast.items.iter();
            let known: Vec<&str> = items
                .filter_map(|i| match &i.kind {
                    ast::ItemKind::Experiment(e) => Some(&*e.name.text),
                    _ => None,
                })
                .collect();
            self.report_missing("experiment", name, &known);
            return None;
        };
        let (model, file) = self.find_model(&experiment.of, 0)?;
        let of = &*model.name.text;
        let Some(wanted) = wanted.filter(|w| *w != of) else {
            return Some((model, file, Some((experiment, 0))));
        };

        if !models.contains(&wanted) {
            self.report_missing("model", wanted, models);
            return None;
        }
        let headline = format!("the experiment `{name}` is one of `{of}`, not of `{wanted}`");
        self.report.list.push(
            Diagnostic::error(code::NO_MODEL, headline)
                .primary(experiment.of.span, format!("runs `{of}`"))
                .help("name the model or the experiment, not both"),
        );
        None
    }

    /// Reports that the file has no such model or experiment.
    fn report_missing(&mut self, what: &str, name: &str, known: &[&str]) {
        let mut message =
            Diagnostic::error(code::NO_MODEL, format!("the file has no {what} `{name}`"));
        message = match (nearest(name, known.iter()), known.is_empty()) {
            (Some(near), _) => message.help(format!("did you mean `{near}`?")),
            (None, true) => message,
            (None, false) => message.fact(format!("it has `{}`", known.join("`, `"))),
        };
        self.report.list.push(message);
    }
}

impl Item<'_> {
    pub(super) fn span(&self) -> Span {
        match self {
            Item::Model(m, _) => m.name.span,
            Item::Function(f, _) => f.name.span,
            Item::Constant(c, _) => c.span,
            Item::PortType(p, _) => p.name.span,
            Item::Domain(d) => d.name.span,
            Item::Missing(span) => *span,
        }
    }
}

pub(crate) fn no_model() -> Diagnostic {
    Diagnostic::error(code::NO_MODEL, "the file has no model")
        .help("a model begins with `model Name {`")
}

/// Tells whether a model can only be meant to run by itself: it is the last of its file, has
/// no port and no `outer`, and is not the base of experiments alone.
pub(super) fn is_whole(file: &LoadedFile, model: &ast::Model) -> bool {
    let last = file.ast.items.iter().rev().find_map(|i| match &i.kind {
        ast::ItemKind::Model(m) => Some(m),
        _ => None,
    });
    let is_open =
        |s: &ast::Stmt| matches!(s.kind, ast::StmtKind::Port(_) | ast::StmtKind::Outer { .. });
    last.is_some_and(|last| std::ptr::eq(last, model))
        && model.extends.is_none()
        && !model.body.iter().any(is_open)
}
