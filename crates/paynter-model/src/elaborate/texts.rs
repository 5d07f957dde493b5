//! What the files of a project name: models, functions, constants, domains.
//!
//! In:  the project, read once by `files`.
//! Out: items by name, lineages of models, values of constants.
//!
//! **Invariant:** the names and domains are the same for every model of the project; the rest is remembered
//! only to look it up once.

use paynter_symbolic::expr::ExternalId;
use paynter_syntax::{FileId, Span, ast};
use rustc_hash::FxHashMap;
use std::sync::Arc;

use super::data::*;
use super::files::{FileNames, Item};
use super::foreign::is_word;
use super::tables::Lineage;
use crate::domains::Domains;
use crate::graph::{DomainId, ElementKind, Variable};
use crate::units::Dimension;

/// The names of all files, and what was looked up under them.
#[derive(Debug)]
pub(super) struct Texts<'a> {
    pub domains: Domains,
    pub files: Arc<Vec<FileNames<'a>>>,
    /// The scope of each file, outside of its models.
    pub scopes: Vec<ScopeId>,
    pub lineages: FxHashMap<Span, Option<Arc<Lineage<'a>>>>,
    /// Constants of files, by their place.
    pub constants: FxHashMap<Span, Progress>,
    /// Functions of FMUs that something calls: the text and the number.
    pub foreign_ids: FxHashMap<(FileId, usize), ExternalId>,
}

impl<'a> Texts<'a> {
    /// The names of a project, of which nothing was looked up yet.
    pub(super) fn new(files: Arc<Vec<FileNames<'a>>>, domains: Domains) -> Self {
        Texts {
            domains,
            files,
            scopes: Vec::new(),
            lineages: FxHashMap::default(),
            constants: FxHashMap::default(),
            foreign_ids: FxHashMap::default(),
        }
    }

    /// Finds the only domain in which an element of this kind has a value of this dimension.
    pub(super) fn domain_with(
        &self,
        kind: ElementKind,
        dimension: Dimension,
        is_inverse: bool,
    ) -> Option<DomainId> {
        let mut found = None;
        for (id, d) in self.domains.iter() {
            let dim = |v| d.dimension(v, kind);
            let value = match kind.describe().value? {
                (given, None) => dim(given),
                (given, Some(each)) => dim(given).per(dim(each)),
            };
            let value = if is_inverse { value.pow(-1, 1) } else { value };
            if value == dimension {
                if found.is_some() {
                    return None;
                }
                found = Some(id);
            }
        }
        found
    }

    /// Finds `Name` or `library.Name`.
    pub(super) fn find_item(&self, path: &ast::Path, file: u32) -> Option<Item<'a>> {
        let names = &self.files[file as usize];
        match path.segments.as_slice() {
            [name] => names.names.get(&*name.text).copied(),
            [prefix, name] => {
                let from = *names.prefixes.get(&*prefix.text)?;
                self.files[from].names.get(&*name.text).copied()
            }
            _ => None,
        }
    }

    /// Tells whether a kind means an FMU: the word, unless a model of the file is called so.
    pub(super) fn is_foreign(&self, path: &ast::Path, file: u32) -> bool {
        is_word(path) && self.find_item(path, file).is_none()
    }

    pub(super) fn dimension_in(
        &self,
        domain: DomainId,
        variable: Variable,
        kind: ElementKind,
    ) -> Dimension {
        self.domains.get(domain).dimension(variable, kind)
    }
}
