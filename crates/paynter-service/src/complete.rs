//! What may be typed at a place.
//!
//! In:  a path and a byte.
//! Out: [`Completion`]s that fit there: kinds behind a colon, nodes behind an arrow, members behind a dot, units in
//!      brackets, names in expressions, words where a statement begins.
//!
//! **Invariant:** what is offered fits the place by the grammar; a name is offered only where it is known.

mod context;
mod offers;

use crate::analysis::Analysis;
use crate::document::Document;
use crate::place::Range;
use crate::workspace::Workspace;
use context::{Context, context};
use offers::Offers;
use serde::{Deserialize, Serialize};

/// What a completion is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CompletionSort {
    /// A word of the language.
    Keyword,
    /// An element or junction.
    Element,
    /// A model.
    Model,
    /// A function.
    Function,
    /// A node or part.
    Node,
    /// A parameter, input, output, definition.
    Signal,
    /// A member behind a dot.
    Member,
    /// A unit.
    Unit,
    /// A library.
    Library,
    /// A file.
    File,
    /// A domain or port type.
    Domain,
    /// The name of an argument.
    Argument,
}

/// One thing that may be typed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Completion {
    /// What is shown and looked for.
    pub label: String,
    /// What it is.
    pub sort: CompletionSort,
    /// A few words behind it.
    pub detail: String,
    /// Documentation in Markdown.
    pub doc: Option<String>,
    /// What is typed; `$1` are places to fill in, `$0` is where the cursor ends, if `is_snippet`.
    pub insert: String,
    /// The insert has places to fill in.
    pub is_snippet: bool,
    /// What is replaced.
    pub range: Range,
    /// Further edits, such as a `use` at the head of the text.
    pub others: Vec<(Range, String)>,
}

/// Gives what may be typed at a byte of a text.
pub fn complete(workspace: &Workspace, path: &str, offset: usize) -> Vec<Completion> {
    let (Some(document), Some(analysis)) = (workspace.document(path), workspace.analysis(path))
    else {
        return Vec::new();
    };
    let mut offset = offset.min(document.text.len());
    while !document.text.is_char_boundary(offset) {
        offset -= 1;
    }
    let found = context(&document, offset);
    let mut offers = Offers::new(workspace, &document, &analysis, &found, offset);
    offer(&mut offers, &found);
    offers.finish()
}

fn offer(offers: &mut Offers<'_>, found: &Context) {
    match found {
        Context::Nothing => {}
        Context::Item => offers.item_words(),
        Context::Statement => {
            offers.statement_words();
            offers.nodes();
        }
        Context::ExperimentStatement => offers.experiment_words(),
        Context::LagrangianStatement => offers.lagrangian_words(),
        Context::Kind => offers.kinds(),
        Context::PortKind => offers.domains(),
        Context::Node => offers.nodes(),
        Context::Members(path) => offers.members(path),
        Context::Unit => offers.units(),
        Context::Library => offers.libraries(),
        Context::LibraryNames(library) => offers.names_of_library(library),
        Context::File => offers.files(),
        Context::Model => offers.models(),
        Context::Method => offers.methods(),
        Context::Expression { call } => {
            if let Some(call) = call {
                offers.arguments(call);
            }
            offers.names();
        }
    }
}

/// The model or experiment that a byte lies in.
pub(crate) fn enclosing<'a>(
    document: &'a Document,
    analysis: &'a Analysis,
    offset: usize,
) -> Option<(usize, &'a paynter::syntax::ast::Model)> {
    use paynter::syntax::ast::ItemKind;
    let mut items = document.parsed.ast.items.iter();
    let item = items.rfind(|i| (i.span.start as usize) <= offset)?;
    match &item.kind {
        ItemKind::Model(model) => Some((0, model)),
        ItemKind::Experiment(e) => analysis.find_model(&e.of, 0),
        _ => None,
    }
}
