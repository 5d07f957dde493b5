//! What the server and the page say to each other: the mirror of `studio/src/wire/protocol.ts`.
//!
//! Places in texts count UTF-16 units, as the editor of the page does.

use crate::export::Format;
use crate::study::StudyAsk;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A stretch of text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Span {
    /// First unit.
    pub from: usize,
    /// One past the last.
    pub to: usize,
}

/// A file of the opened folder, or a folder in it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Entry {
    /// Below the folder.
    pub path: String,
    /// Its last part.
    pub name: String,
    /// Folders above it.
    pub depth: usize,
    /// `folder` or `model`.
    pub kind: &'static str,
    /// Why it cannot be opened; empty where it can.
    pub trouble: String,
}

/// A model of the gallery.
#[derive(Clone, Debug, Serialize)]
pub struct Card {
    /// Its folder.
    pub name: String,
    /// Heading of its story.
    pub title: String,
    /// First paragraph of its story.
    pub story: String,
    /// Its models.
    pub files: Vec<String>,
    /// Experiments that are compared with a reference.
    pub checks: usize,
}

/// A kind of element.
#[derive(Clone, Debug, Serialize)]
pub struct KindCard {
    /// Its letters.
    pub kind: &'static str,
    /// junction, source, loss, storage or twoport.
    pub nature: &'static str,
    /// What it is, in a word or two.
    pub words: String,
    /// What it is, in a line.
    pub what: String,
    /// Beginnings of words that it is looked for by.
    pub also: Vec<&'static str>,
    /// What a new one gets: a value, a condition, or a law in braces.
    pub value: &'static str,
}

/// A part of the library.
#[derive(Clone, Debug, Serialize)]
pub struct PartCard {
    /// As edits name it: `electromechanical.DcMotor`.
    pub kind: String,
    /// What it is for.
    pub words: String,
    /// Its library.
    pub from: String,
    /// Arguments that it must be given.
    pub value: String,
}

/// What the page can ask.
#[derive(Clone, Debug, Deserialize)]
#[serde(tag = "ask", rename_all = "snake_case")]
pub enum Ask {
    /// What there is.
    Hello,
    /// The text of a file; it is followed from then on.
    Open { path: String },
    /// Steps of a text.
    Push {
        path: String,
        version: usize,
        updates: Vec<Update>,
    },
    /// Which model is looked at.
    Focus(Focus),
    /// Writes a text to disk.
    Save { path: String, over: bool },
    /// The text on disk.
    Disk { path: String },
    /// Makes a file.
    New { name: String, text: String },
    /// Copies a model of the gallery into the folder.
    Take { name: String },
    /// Runs an experiment.
    Run(RunAsk),
    /// Breaks a run off.
    Cancel,
    /// A part of the last result, finely.
    Zoom {
        from: Option<f64>,
        to: Option<f64>,
        width: usize,
    },
    /// Keeps the curves of these runs for zooming, and of no others.
    Pin { runs: Vec<u64> },
    /// Effort, flow and power of a node or bond over the last run.
    Curves { of: String, width: usize },
    /// Power of every bond over the last run.
    Powers { width: usize },
    /// Bodies in motion over the last run.
    Scene,
    /// The last run as a file.
    Export { format: Format },
    /// Units that numbers in this one can be shown in.
    Units { unit: String },
    /// What could be typed at a place.
    Complete { path: String, at: usize },
    /// What stands at a place.
    Hover { path: String, at: usize },
    /// The steps of causality.
    Lesson,
    /// Nodes as statements, for the clipboard.
    Copy { path: String, nodes: Vec<String> },
    /// Ways out of the conflict of the model.
    Ways { path: String },
    /// What a bond between two nodes would be.
    Preview {
        path: String,
        from: String,
        to: String,
    },
    /// Makes a study.
    Study(StudyAsk),
    /// Breaks a study off.
    CancelStudy,
    /// Why a bond has its stroke.
    Why { bond: String },
    /// The equations of the model looked at.
    Equations,
    /// A change of the graph as a change of the text.
    Edit { path: String, edit: GraphEdit },
}

/// One step of a text.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Update {
    /// Who made it.
    pub client: String,
    /// What it changes.
    pub changes: Value,
}

/// Which model at which level is looked at.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
pub struct Focus {
    /// The file.
    pub path: String,
    /// The model; that of the experiment, or the last of the file, where none is named.
    pub model: Option<String>,
    /// Parts entered, outermost first.
    pub level: Vec<String>,
    /// The experiment; the first of the model where none is named.
    pub experiment: Option<String>,
}

/// A run to be made.
#[derive(Clone, Debug, Deserialize)]
pub struct RunAsk {
    /// Comes back with the result; newer ones are larger.
    pub run: u64,
    /// The file.
    pub path: String,
    /// The experiment; the model's first where none is named.
    pub experiment: Option<String>,
    /// The model, where there is no experiment.
    pub model: Option<String>,
    /// Changed parameters, as typed.
    pub set: Vec<(String, String)>,
    /// A slider is moving: soon is better than exact.
    pub rough: bool,
    /// Pixels there are for the curves.
    pub width: usize,
    /// The part of the time that is looked at; the whole where there is none.
    pub from: Option<f64>,
    pub to: Option<f64>,
}

/// A change of the graph.
#[derive(Clone, Debug, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum GraphEdit {
    /// A new node, with a bond from `to` to it.
    Add {
        part: String,
        value: String,
        at: Option<(f64, f64)>,
        to: Option<String>,
    },
    /// A new bond.
    Connect { from: String, to: String },
    /// Nodes and bonds go.
    Delete {
        nodes: Vec<String>,
        bonds: Vec<String>,
    },
    /// A new name.
    Rename { node: String, name: String },
    /// New places.
    Move { nodes: Vec<Moved> },
    /// The arrow the other way.
    Reverse { bond: String },
    /// A stroke written in the text, or taken away.
    Force { bond: String, end: String },
    /// What stands in parentheses.
    Value { node: String, value: String },
    /// Statements that were copied.
    Paste {
        text: String,
        at: Option<(f64, f64)>,
    },
    /// A node of another kind, with the same name and bonds.
    Kind { node: String, part: String },
    /// Copies of nodes with the bonds between them.
    Duplicate { nodes: Vec<String> },
    /// A model of nodes, and a part of that model in their place.
    Group { nodes: Vec<String>, name: String },
    /// The content of a part in its place.
    Ungroup { node: String },
    /// A node into a bond.
    Insert {
        bond: String,
        part: String,
        value: String,
    },
    /// The whole model in other words, proved equal.
    Rewrite { how: Rewriting },
}

/// What is done with a whole model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Rewriting {
    /// Fewer junctions and elements.
    Simplify,
    /// Vector bonds as scalar ones.
    Scalarize,
    /// Conserved momenta as parameters.
    Reduce,
    /// Dependent inertias at the velocities they follow from.
    Minimal,
}

/// A node at a new place.
#[derive(Clone, Debug, Deserialize)]
pub struct Moved {
    /// Its id.
    pub node: String,
    /// Where.
    pub at: (f64, f64),
}

/// A change of the text.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TextChange {
    /// First unit that goes.
    pub from: usize,
    /// One past the last.
    pub to: usize,
    /// What comes.
    pub insert: String,
}

/// A place that a message speaks of.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Label {
    /// Where it begins.
    pub from: usize,
    /// Where it ends.
    pub to: usize,
    /// What about it.
    pub text: String,
    /// The file, if it is another one.
    pub path: String,
}

/// Help that a click carries out.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Fix {
    /// What it does.
    pub title: String,
    /// The changes.
    pub changes: Vec<TextChange>,
}

/// A message about a text or a run.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Message {
    /// Such as `E0301`.
    pub code: String,
    /// `error`, `warning` or `note`.
    pub severity: &'static str,
    /// The headline.
    pub text: String,
    /// Its place.
    pub at: Option<Label>,
    /// Other places.
    pub others: Vec<Label>,
    /// Further facts.
    pub facts: Vec<String>,
    /// What to do.
    pub help: Vec<String>,
    /// What a click can do.
    pub fixes: Vec<Fix>,
}

/// A node of the canvas.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct NodeView {
    /// Names it in edits.
    pub id: String,
    /// How it is drawn.
    pub kind: &'static str,
    /// `R`, `1`, `MTF`, the name of a model.
    pub letters: String,
    /// Its name; may be empty.
    pub name: String,
    /// Its value as written.
    pub written: String,
    /// Its value as it is shown.
    pub value: String,
    /// Its place, where the text gives one.
    pub at: Option<(f64, f64)>,
    /// The model behind a box.
    pub model: String,
    /// What is wrong with it.
    pub trouble: String,
    /// What it is for.
    pub doc: String,
}

/// A bond of the canvas.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct BondView {
    /// Names it in edits.
    pub id: String,
    /// Power comes from here.
    pub tail: String,
    /// Power goes here.
    pub head: String,
    /// The port at the tail, if it has to be named.
    pub tail_port: String,
    /// The port at the head.
    pub head_port: String,
    /// Scalar bonds in it.
    pub dimension: u32,
    /// Drawn with two lines, however many bonds it is.
    pub is_multi: bool,
    /// `none`, `tail`, `head`, `both`.
    pub stroke: &'static str,
    /// What its colour says.
    pub class: &'static str,
    /// The text demands its stroke.
    pub forced: bool,
    /// Its name.
    pub label: String,
    /// What is wrong with it.
    pub trouble: String,
}

/// A signal of the canvas.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SignalView {
    /// Unlike all others.
    pub id: String,
    /// Where it is read.
    pub from: String,
    /// What it acts on.
    pub to: String,
    /// Its name.
    pub label: String,
}

/// One step of a chain of reasons.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Reason {
    /// The engine's sentence.
    pub text: String,
    /// Nodes it speaks of.
    pub nodes: Vec<String>,
    /// Bonds it speaks of.
    pub bonds: Vec<String>,
}

/// One decision on causality, with what follows from it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LessonStep {
    /// What is decided, and why.
    pub decision: Option<Reason>,
    /// What follows.
    pub follows: Vec<Reason>,
}

/// One level of a model.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct View {
    /// The model.
    pub model: String,
    /// It stands in another text than the one shown.
    pub is_foreign: bool,
    /// Parts entered.
    pub level: Vec<String>,
    /// In text order.
    pub nodes: Vec<NodeView>,
    /// In text order.
    pub bonds: Vec<BondView>,
    /// What reads what.
    pub signals: Vec<SignalView>,
    /// The way of a conflict, if there is one.
    pub conflict: Vec<Reason>,
    /// The words that made each node, sent apart: they move at every key stroke.
    #[serde(skip)]
    pub node_spans: Vec<Option<Span>>,
    /// The arrow of each bond.
    #[serde(skip)]
    pub bond_spans: Vec<Option<Span>>,
}

/// What is new of a level whose nodes and bonds are those of the view sent last.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ViewChange {
    /// Nodes that are others now, by their places in the list.
    pub nodes: Vec<(usize, NodeView)>,
    /// Bonds.
    pub bonds: Vec<(usize, BondView)>,
    /// All signals, if they are others.
    pub signals: Option<Vec<SignalView>>,
    /// The way of a conflict, if it is another.
    pub conflict: Option<Vec<Reason>>,
}

/// Where nodes and bonds stand in the text: first and last unit of each, `-1` twice for what stands elsewhere.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Spans {
    /// Of the nodes.
    pub nodes: Vec<i64>,
    /// Of the bonds.
    pub bonds: Vec<i64>,
}

/// A model of the text.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ModelItem {
    /// Its name.
    pub name: String,
    /// Where it stands.
    pub span: Span,
    /// What it is for.
    pub doc: String,
    /// It has ports.
    pub is_part: bool,
}

/// An experiment of the text.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ExperimentItem {
    /// Its name.
    pub name: String,
    /// Its model.
    pub model: String,
    /// Where it stands.
    pub span: Span,
}

/// A parameter or input that can be moved.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Parameter {
    /// Its name.
    pub name: String,
    /// Its value as written.
    pub text: String,
    /// Its value, where that is a number.
    pub value: Option<f64>,
    /// The unit of that number.
    pub unit: String,
    /// What it is for.
    pub doc: String,
    /// Where it stands.
    pub span: Span,
}

/// A way out of a conflict: a change of the text, and what the strokes say after it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Way {
    /// In words.
    pub title: String,
    /// What is written.
    pub changes: Vec<TextChange>,
    /// Number of states.
    pub order: usize,
    /// Storages in derivative form.
    pub dependent: Vec<String>,
}

/// An algebraic loop.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Loop {
    /// The first variables on it.
    pub variables: Vec<String>,
    /// How many there are.
    pub n_variables: usize,
    /// The bonds that it runs over, in their order.
    pub bonds: Vec<String>,
}

/// What the strokes say.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Facts {
    /// Number of states; none if the model has errors.
    pub order: Option<usize>,
    /// Their names.
    pub states: Vec<String>,
    /// Storages in derivative form.
    pub dependent: Vec<String>,
    /// Number of algebraic loops.
    pub n_loops: usize,
    /// The first of them.
    pub loops: Vec<Loop>,
    /// The file has `units strict`.
    pub strict: bool,
}

/// Everything that is known about the text and the model looked at.
#[derive(Clone, Debug, Serialize)]
pub struct Analysis {
    /// `analysis`.
    pub event: &'static str,
    /// The file.
    pub path: String,
    /// The model that is looked at, or in whose parts one is.
    pub top: Option<String>,
    /// The version of its text.
    pub version: usize,
    /// What is wrong.
    pub messages: Vec<Message>,
    /// Models of the file.
    pub models: Vec<ModelItem>,
    /// Experiments of the file.
    pub experiments: Vec<ExperimentItem>,
    /// The model looked at; none if nothing of it could be read, or if only what is new is sent.
    pub view: Option<View>,
    /// What is new of it.
    pub change: Option<ViewChange>,
    /// Where its nodes and bonds stand.
    pub spans: Spans,
    /// What can be moved.
    pub parameters: Vec<Parameter>,
    /// What the strokes say.
    pub facts: Facts,
    /// Time it took, ms.
    pub ms: f64,
}

/// An answer.
pub fn answer(id: u64, result: Result<Value, String>) -> String {
    let value = match result {
        Ok(ok) => serde_json::json!({ "id": id, "ok": ok }),
        Err(error) => serde_json::json!({ "id": id, "error": error }),
    };
    value.to_string()
}
