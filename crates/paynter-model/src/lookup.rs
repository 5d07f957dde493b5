//! Finds the items that names mean, in the texts as they are written.
//!
//! In:  a [`Project`], a name or path, and the file that says it.
//! Out: the item and the file it is in; a model with those it extends.
//!
//! Elaboration reports what is not found; here it is none. For whoever looks at a text that may have errors.
//!
//! **Invariant:** a file's own item wins over what it imports, as in elaboration.

use crate::project::{Project, item_name};
use paynter_syntax::ast;

/// More levels of `extends` than this are a cycle, which elaboration reports.
const MAX_LEVELS: usize = 64;

impl Project {
    /// Finds the item that a path names in a file of the project: its file and itself.
    pub fn find<'a>(&'a self, path: &ast::Path, file: usize) -> Option<(usize, &'a ast::Item)> {
        match path.segments.as_slice() {
            [name] => self.find_name(&name.text, file),
            [prefix, name] => {
                let imports = &self.files.get(file)?.imports;
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
        let imports = &self.files.get(file)?.imports;
        let mut wanted = imports
            .iter()
            .filter(|i| i.names.is_empty() || i.names.iter().any(|n| &*n.text == name));
        wanted.find_map(|i| self.own_item(name, i.file))
    }

    fn own_item<'a>(&'a self, name: &str, file: usize) -> Option<(usize, &'a ast::Item)> {
        let items = &self.files.get(file)?.ast.items;
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
        let mut levels = vec![(file, model)];
        while levels.len() < MAX_LEVELS {
            let (file, model) = levels[levels.len() - 1];
            let Some(base) = &model.extends else { break };
            match self.find_model(&base.path, file) {
                Some(next) if !levels.iter().any(|l| std::ptr::eq(l.1, next.1)) => {
                    levels.push(next);
                }
                _ => break,
            }
        }
        levels
    }
}
