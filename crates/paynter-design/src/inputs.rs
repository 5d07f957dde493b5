//! Lists the files that a design was read from.
//!
//! In:  a design.
//! Out: a [`Guard`] that keeps them: the model, what it uses, tables, references of all its experiments.

use crate::design::Design;
use crate::loader::beside;
use crate::output::Guard;
use paynter_syntax::ast;
use std::path::Path;

impl Design {
    /// Keeps every file that the model names from being written over.
    pub fn guard(&self) -> Guard {
        let mut guard = Guard::default();
        guard.keep(&self.path);
        for file in &self.project.files {
            let name = Some(file.canonical_name.as_str());
            // A library is part of the program; its name has no such file.
            guard.keep(Path::new(&file.canonical_name));
            for table in file.data.keys() {
                guard.keep(&beside(table, name));
            }
            for item in &file.ast.items {
                let ast::ItemKind::Experiment(experiment) = &item.kind else {
                    continue;
                };
                for statement in experiment.statements() {
                    if let ast::ExperimentKind::Compare { path, .. } = &statement.kind {
                        guard.keep(&beside(path, name));
                    }
                }
            }
        }
        guard
    }
}
