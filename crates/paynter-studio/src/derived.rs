//! The bond graph of a Lagrangian, for the canvas: the text with models in place of `lagrangian` blocks.
//!
//! In:  a text of the workspace with such blocks.
//! Out: a workspace of its own that holds the derived text; to look at only.
//!
//! **Invariant:** a pure function of the text; the last few are kept, since every key stroke asks.

use paynter::lagrangian::write_lagrangians;
use paynter::model::lagrange::Style;
use paynter::syntax::ast;
use paynter_service::Workspace;
use std::sync::{Arc, Mutex, PoisonError};

/// A derived text.
pub struct Derived {
    /// Holds it.
    pub workspace: Workspace,
    /// Its path there, beside the text that it is derived from.
    pub path: String,
}

type Kept = ((String, Arc<str>), Option<Arc<Derived>>);

static KEPT: Mutex<Vec<Kept>> = Mutex::new(Vec::new());
const MAX_KEPT: usize = 4;

/// Tells whether a text has a Lagrangian of this name.
pub fn is_lagrangian(workspace: &Workspace, full: &str, name: &str) -> bool {
    let Some(document) = workspace.document(full) else {
        return false;
    };
    document
        .parsed
        .ast
        .items
        .iter()
        .any(|item| matches!(&item.kind, ast::ItemKind::Lagrangian(l) if &*l.name.text == name))
}

/// Derives the models of a text; none if it has errors.
pub fn derived(workspace: &Workspace, full: &str) -> Option<Arc<Derived>> {
    let key = (full.to_owned(), workspace.text(full)?);
    let kept = || KEPT.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((_, known)) = kept().iter().find(|k| k.0 == key) {
        return known.clone();
    }
    let written = workspace
        .with_loader(|loader| write_lagrangians(loader, full, None, Style::default()))
        .ok();
    let made = written.map(|written| {
        let path = format!("{full}~derived.bond");
        let mut own = Workspace::new(workspace.roots().to_vec());
        own.open(&path, written.text);
        Arc::new(Derived {
            workspace: own,
            path,
        })
    });
    let mut all = kept();
    all.truncate(MAX_KEPT - 1);
    all.insert(0, (key, made.clone()));
    made
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analyse::analyse;
    use crate::wire::Focus;

    const PENDULUM: &str = "lagrangian Pendulum {\n    param m = 1 [kg], l = 1 [m], g = 9.81 [m/s^2]\n    coordinate theta [rad]\n    rate bob = l*der(theta)\n    kinetic mass = 0.5*m*bob^2\n    potential weight = -m*g*l*cos(theta)\n}\nexperiment swing of Pendulum { stop = 1 [s]; start theta = 1 [rad] }\n";

    #[test]
    fn a_lagrangian_is_drawn_as_a_graph_to_look_at() {
        let mut workspace = Workspace::new([]);
        workspace.open("/p.bond", PENDULUM);
        let errors: Vec<_> = workspace
            .messages("/p.bond")
            .iter()
            .map(|m| m.text.clone())
            .collect();
        assert!(
            is_lagrangian(&workspace, "/p.bond", "Pendulum"),
            "{errors:?}"
        );
        let found = analyse(&workspace, "/p.bond", &Focus::default(), 1);
        let view = found.view.expect("a graph");
        assert!(
            view.is_foreign && view.nodes.len() >= 3 && view.bonds.len() >= 2,
            "{view:?} {errors:?}"
        );
        assert!(view.bonds.iter().all(|b| b.stroke != "none"));
        assert_eq!(found.models.len(), 1);
        assert!(
            found
                .parameters
                .iter()
                .any(|p| p.name == "l" && p.value == Some(1.0))
        );
    }

    #[test]
    fn a_broken_one_has_messages_and_no_graph() {
        let mut workspace = Workspace::new([]);
        workspace.open("/p.bond", PENDULUM.replace("cos(theta)", "cos(thta)"));
        let found = analyse(&workspace, "/p.bond", &Focus::default(), 1);
        assert!(found.view.is_none() && found.messages.iter().any(|m| m.severity == "error"));
    }
}
