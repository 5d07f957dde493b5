//! Edits of a graph as edits of its text.
//!
//! In:  an [`Edit`] of the view of a model.
//! Out: [`TextEdit`]s, or a [`Refusal`] in words.
//!
//! Each edit is carried out on a copy of the text, step by step, reading it anew after each step; what differs
//! in the end is handed out. The text is then what a person would have written: in the chain or list it
//! belongs to where that reads well, else on a line of its own.
//!
//! **Invariant:** reading the text after an edit gives the edited view; all other lines stay byte for byte;
//! a text that was laid out stays laid out.

mod add;
mod chain;
mod change;
mod clip;
mod connect;
mod delete;
mod diff;
mod draft;
mod group;
mod layout;
mod names;
mod transplant;
mod ungroup;
mod verify;

use crate::place::Range;
use crate::view::StrokeAt;
use crate::workspace::Workspace;
use draft::Draft;
use serde::{Deserialize, Serialize};

pub use clip::copy;

/// An end of a bond to be made: a node, and the port where one has to be named.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EndRef {
    /// The node's id.
    pub node: String,
    /// A port of a part, or a component of a vector.
    #[serde(default)]
    pub port: Option<String>,
}

/// A change of a model's graph.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "edit", rename_all = "snake_case")]
pub enum Edit {
    /// Adds an element, a junction or a part. `electrical.Resistor` is taken from the library.
    AddNode {
        /// `0`, `1`, `R`, `1[3]`, the name of a model.
        kind: String,
        /// Its name; one is found where none is given.
        #[serde(default)]
        name: Option<String>,
        /// What stands in parentheses.
        #[serde(default)]
        value: Option<String>,
        /// Where it is put.
        #[serde(default)]
        at: Option<(f64, f64)>,
    },
    /// Joins two nodes by a bond.
    Connect {
        /// Power comes from here.
        from: EndRef,
        /// Power goes here.
        to: EndRef,
    },
    /// Puts a node into a bond.
    InsertOnBond {
        /// The bond's id.
        bond: String,
        /// As for `AddNode`.
        kind: String,
        /// As for `AddNode`.
        #[serde(default)]
        name: Option<String>,
        /// As for `AddNode`.
        #[serde(default)]
        value: Option<String>,
        /// As for `AddNode`.
        #[serde(default)]
        at: Option<(f64, f64)>,
    },
    /// Deletes nodes with their bonds, and bonds.
    Delete {
        /// Ids.
        #[serde(default)]
        nodes: Vec<String>,
        /// Ids.
        #[serde(default)]
        bonds: Vec<String>,
    },
    /// Turns an arrow round.
    Reverse {
        /// The bond's id.
        bond: String,
    },
    /// Writes a stroke into the text.
    ForceStroke {
        /// The bond's id.
        bond: String,
        /// At which end.
        at: StrokeAt,
    },
    /// Takes a written stroke away.
    FreeStroke {
        /// The bond's id.
        bond: String,
    },
    /// Gives a node or signal another name, everywhere.
    Rename {
        /// The node's id, or the signal's name.
        node: String,
        /// The new name.
        name: String,
    },
    /// Changes what stands in parentheses and braces behind a kind.
    SetValue {
        /// The node's id.
        node: String,
        /// In parentheses; none takes them away.
        #[serde(default)]
        value: Option<String>,
        /// In braces; none takes them away.
        #[serde(default)]
        law: Option<String>,
    },
    /// Changes the value of a parameter, input, output or definition.
    SetSignal {
        /// Its name.
        name: String,
        /// The new value.
        value: String,
    },
    /// Makes a node one of another kind, with the same name, value and bonds.
    SetKind {
        /// The node's id.
        node: String,
        /// As for `AddNode`.
        kind: String,
    },
    /// Puts nodes at places, kept in `layout`.
    Move {
        /// Ids, each with its place.
        places: Vec<(String, f64, f64)>,
    },
    /// Copies nodes and the bonds between them.
    Duplicate {
        /// Ids.
        nodes: Vec<String>,
    },
    /// Adds statements that were copied from some model.
    Paste {
        /// The statements.
        text: String,
        /// Where the first of its nodes is put.
        #[serde(default)]
        at: Option<(f64, f64)>,
    },
    /// Makes a model of nodes, and a part of that model in their place.
    Group {
        /// Ids.
        nodes: Vec<String>,
        /// Name of the new model.
        model: String,
    },
    /// Puts the content of a part in its place.
    Ungroup {
        /// The part's id.
        node: String,
    },
}

/// Why an edit cannot be done, in words for the user.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Refusal {
    /// A sentence without a full stop.
    pub message: String,
}

impl Refusal {
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Refusal {
            message: message.into(),
        }
    }
}

impl std::fmt::Display for Refusal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Refusal {}

/// What to put where.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TextEdit {
    /// The text.
    pub path: String,
    /// What is replaced.
    pub range: Range,
    /// By what.
    pub text: String,
}

/// Turns an edit of a view into edits of texts.
///
/// # Errors
///
/// Why it cannot be done.
pub fn edit(
    workspace: &Workspace,
    path: &str,
    model: &str,
    edit: &Edit,
) -> Result<Vec<TextEdit>, Refusal> {
    if Workspace::is_library(path) {
        return Err(Refusal::new(
            "the library cannot be changed; copy the model into a file of your own",
        ));
    }
    let no_text = || Refusal::new(format!("there is no text `{path}`"));
    let analysis = workspace.analysis(path).ok_or_else(no_text)?;
    let document = workspace.document(path).ok_or_else(no_text)?;
    let mut draft = Draft::new(&analysis, &document, model)?;

    match edit {
        Edit::AddNode {
            kind,
            name,
            value,
            at,
        } => {
            let new = add::New::of(kind, name, value);
            add::add_node(&mut draft, &new, *at)?;
        }
        Edit::Connect { from, to } => connect::connect(&mut draft, from, to)?,
        Edit::InsertOnBond {
            bond,
            kind,
            name,
            value,
            at,
        } => {
            let new = add::New::of(kind, name, value);
            add::insert_on_bond(&mut draft, bond, &new, *at)?;
        }
        Edit::Delete { nodes, bonds } => delete::delete(&mut draft, nodes, bonds)?,
        Edit::Reverse { bond } => change::reverse(&mut draft, bond)?,
        Edit::ForceStroke { bond, at } => change::set_stroke(&mut draft, bond, Some(*at))?,
        Edit::FreeStroke { bond } => change::set_stroke(&mut draft, bond, None)?,
        Edit::SetValue { node, value, law } => {
            change::set_value(&mut draft, node, value.as_deref(), law.as_deref())?;
        }
        Edit::SetSignal { name, value } => change::set_signal(&mut draft, name, value)?,
        Edit::SetKind { node, kind } => change::set_kind(&mut draft, node, kind)?,
        Edit::Move { places } => layout::move_nodes(&mut draft, places)?,
        Edit::Duplicate { nodes } => clip::duplicate(&mut draft, nodes)?,
        Edit::Paste { text, at } => {
            clip::paste(&mut draft, text, *at)?;
        }
        Edit::Rename { node, name } => return names::rename(workspace, &draft, node, name),
        Edit::Group { nodes, model } => return group::group(workspace, draft, nodes, model),
        Edit::Ungroup { node } => return ungroup::ungroup(workspace, draft, node),
    }

    draft.finish()
}

/// Applies edits of one text.
pub fn apply<'e>(text: &str, edits: impl IntoIterator<Item = &'e TextEdit>) -> String {
    let mut edits: Vec<&TextEdit> = edits.into_iter().collect();
    edits.sort_by_key(|e| e.range.bytes);
    let mut out = String::with_capacity(text.len());
    let mut at = 0;
    for edit in edits {
        let (start, end) = edit.range.bytes;
        let start = start.clamp(at, text.len());
        out.push_str(&text[at..start]);
        out.push_str(&edit.text);
        at = end.clamp(start, text.len());
    }
    out.push_str(&text[at..]);
    out
}

/// Gives the edits that take edits of one text back.
pub fn undo(before: &str, edits: &[TextEdit]) -> Vec<TextEdit> {
    let after = apply(before, edits);
    let lines = crate::place::LineIndex::new(&after);
    let mut sorted: Vec<&TextEdit> = edits.iter().collect();
    sorted.sort_by_key(|e| e.range.bytes);
    let mut shift = 0_isize;
    let mut back = Vec::new();
    for edit in sorted {
        let (start, end) = edit.range.bytes;
        let from = start.saturating_add_signed(shift);
        back.push(TextEdit {
            path: edit.path.clone(),
            range: lines.range(&after, from, from + edit.text.len()),
            text: before.get(start..end).unwrap_or("").to_owned(),
        });
        shift += edit.text.len() as isize - (end - start) as isize;
    }
    back
}

/// Gives the edits that lay a text out, or those lines of it that touch a stretch of bytes. None for a text with errors.
pub fn formatting(
    workspace: &Workspace,
    path: &str,
    within: Option<(usize, usize)>,
) -> Vec<TextEdit> {
    let Some(document) = workspace.document(path) else {
        return Vec::new();
    };
    let laid_out = paynter::syntax::format(Default::default(), &document.text);
    let stretches = diff::diff(&document.text, &laid_out.text).into_iter();
    let touched =
        stretches.filter(|&(start, end, _)| within.is_none_or(|(a, b)| start <= b && a <= end));
    let edits = touched.map(|(start, end, text)| TextEdit {
        path: path.to_owned(),
        range: document.bytes(start, end),
        text,
    });
    edits.collect()
}
