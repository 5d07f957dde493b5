//! One level of a model as written: what a canvas shows.
//!
//! In:  an analysis, and the name of a model of its main text.
//! Out: a [`View`]: nodes, bonds and signals of the text, with strokes and reasons from the flat graph.
//!
//! A view is not the flat graph: parts are boxes with their declared ports, `for` and `if` are boxes with
//! their text, vectors are one node. A model with errors has a view from its text alone.
//!
//! **Invariant:** every node and bond has the place in the text that made it; nothing is shown that the text
//! does not say.

mod names;
mod read;
mod strokes;

use crate::analysis::Analysis;
use crate::document::Document;
use crate::message::{Message, Severity};
use crate::place::Range;
use paynter::model::kinds::{ElementKind, Nature};
use serde::{Deserialize, Serialize};

pub use names::{indexed, kind_text, path_text, tight};
pub use read::{BondPlace, Reading, is_element, read_model};
pub use strokes::{Whole, bonds_behind};

/// One level of a model.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct View {
    /// The model.
    pub model: String,
    /// The text that it stands in.
    pub path: String,
    /// The whole model in the text.
    pub range: Range,
    /// Documentation above it.
    pub doc: Option<String>,
    /// What it extends, as written.
    pub extends: Option<String>,
    /// In text order; inherited ones first.
    pub nodes: Vec<Node>,
    /// In text order.
    pub bonds: Vec<Bond>,
    /// Parameters, inputs, outputs and definitions.
    pub signals: Vec<Signal>,
    /// Names in chains that nothing makes.
    pub unresolved: Vec<Unresolved>,
    /// What the strokes say; none if the model has errors.
    pub structure: Option<Structure>,
    /// The model has errors: what is shown is what could be read.
    pub has_errors: bool,
    /// What the strokes take for granted, where the model alone does not decide them.
    pub assumes: Option<String>,
}

/// What a node is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NodeSort {
    /// `0` or `1`.
    Junction,
    /// `R`, `C`, `TF` …
    Element,
    /// A part: an instance of a model.
    Part,
    /// `replaceable name: Bound = …`
    Replaceable,
    /// `outer name: Model`
    Outer,
    /// A declared port without a binding: exactly one bond inside joins it.
    Port,
    /// `(a, b, c)` as one end of a multibond.
    Tuple,
    /// `_`: a component that does not move.
    Fixed,
    /// `for … { … }`
    For,
    /// `if … { … } else { … }`
    If,
    /// A kind that nobody knows.
    Unknown,
}

/// A node of a view.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Node {
    /// Names it in edits: its name; for one without a name its neighbours and kind.
    pub id: String,
    /// What it is.
    pub sort: NodeSort,
    /// As written: `0`, `R`, `Gimbal`, `electrical.Resistor`.
    pub kind: String,
    /// Its name with its index; none for an unnamed one.
    pub name: Option<String>,
    /// What stands in parentheses, without these.
    pub value: Option<String>,
    /// What stands in braces, without these.
    pub law: Option<String>,
    /// Number of components as written: `3` of `1[3]`.
    pub size: Option<String>,
    /// Number of components where it is known.
    pub dimension: Option<u32>,
    /// Its domain, where it is known.
    pub domain: Option<String>,
    /// Its law reads something that varies: drawn as MR, MTF …
    pub is_modulated: bool,
    /// Where it is made.
    pub range: Range,
    /// Its name, or the node itself.
    pub name_range: Range,
    /// Place given in `layout`.
    pub position: Option<(f64, f64)>,
    /// Declared ports of a part; ports of the model that stand for this junction.
    pub ports: Vec<Port>,
    /// Members of a tuple, as ids; what the text of a `for` or `if` joins outside of it.
    pub members: Vec<String>,
    /// Nodes that its value or law reads, as ids.
    pub reads: Vec<String>,
    /// How a storage is used; none for others and for models with errors.
    pub form: Option<Form>,
    /// Made in a model that this one extends: it cannot be changed here.
    pub inherited: Option<String>,
    /// Texts of errors and warnings that point at it.
    pub errors: Vec<String>,
}

impl Node {
    /// What it does with power; none if it is no element.
    pub fn nature(&self) -> Option<Nature> {
        let element = (self.sort == NodeSort::Element).then(|| ElementKind::called(&self.kind))?;
        element.map(|k| k.describe().nature)
    }

    /// Tells whether it passes power on from one side to the other.
    pub fn is_two_port(&self) -> bool {
        matches!(self.nature(), Some(Nature::TwoPort | Nature::Heater))
    }
}

/// A port of a part, or of the model.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Port {
    /// Its name.
    pub name: String,
    /// Domain or port type, as written.
    pub kind: String,
    /// It stands for a junction: any number of bonds may join.
    pub joins_many: bool,
    /// It has a size or is a composite port: bonds are `=>`.
    pub is_multi: bool,
}

/// How a storage is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Form {
    /// Its charge or momentum is a state.
    Integral,
    /// It follows from other states.
    Derivative,
    /// Some components are states and some are not.
    Mixed,
}

/// An end of a bond.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct BondEnd {
    /// The node's id.
    pub node: String,
    /// The port or component as written (`x`, `b.lin`), or the one that is meant by the node alone.
    pub port: Option<String>,
    /// The port is not written: the first of a part for an arrow in, the second for an arrow out.
    #[serde(default)]
    pub is_implied: bool,
}

/// Where a causal stroke is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StrokeAt {
    /// At the tail of the arrow.
    Tail,
    /// At the head.
    Head,
    /// Components of a multibond differ.
    Mixed,
}

/// How a stroke came about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Decided {
    /// By a source, or a law that has no inverse.
    Fixed,
    /// Written in the text.
    Forced,
    /// Wished and granted.
    Preferred,
    /// Follows from others.
    Propagated,
    /// Nothing decides.
    Chosen,
    /// Not assigned, because of a conflict.
    Conflict,
}

/// A bond of a view.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Bond {
    /// Names it in edits: its ends.
    pub id: String,
    /// Its name, for `bond shaft: …`.
    pub name: Option<String>,
    /// Power comes from here.
    pub from: BondEnd,
    /// Power goes here.
    pub to: BondEnd,
    /// `=>`
    pub is_multi: bool,
    /// A stroke written in the text.
    pub forced: Option<StrokeAt>,
    /// The stroke; none if the model has errors or the bond a conflict.
    pub stroke: Option<StrokeAt>,
    /// How the stroke came about.
    pub decided: Option<Decided>,
    /// The bond of a storage in derivative form.
    pub is_derivative: bool,
    /// The bond of a storage in integral form, wished for or following from others.
    #[serde(default)]
    pub is_integral: bool,
    /// Demands on this bond contradict each other.
    pub is_conflict: bool,
    /// Why it has its stroke, first cause first.
    pub reasons: Vec<String>,
    /// Number of scalar bonds, where it is known.
    pub dimension: Option<u32>,
    /// Its domain, where it is known.
    pub domain: Option<String>,
    /// The arrow in the text.
    pub range: Range,
    /// Made in a model that this one extends.
    pub inherited: Option<String>,
    /// Texts of errors and warnings that point at it.
    pub errors: Vec<String>,
}

/// What a signal is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SignalSort {
    /// `param`
    Param,
    /// `input`
    Input,
    /// `output`
    Output,
    /// `name = …`
    Define,
    /// `der(name) = …`
    Derivative,
    /// A name set in `sample`.
    Sampled,
    /// Sought by `solve`.
    Solved,
}

/// A named value of a model.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Signal {
    /// Its name.
    pub name: String,
    /// What it is.
    pub sort: SignalSort,
    /// The text of its value.
    pub value: Option<String>,
    /// Its unit, without brackets.
    pub unit: Option<String>,
    /// Its documentation.
    pub doc: Option<String>,
    /// Where it is declared.
    pub range: Range,
    /// Nodes whose values it reads, as ids.
    pub reads: Vec<String>,
    /// Made in a model that this one extends.
    pub inherited: Option<String>,
}

/// A name in a chain that nothing makes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Unresolved {
    /// As written.
    pub name: String,
    /// Where.
    pub range: Range,
}

/// What the strokes of the whole model say.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Structure {
    /// Independent storages and coordinates, by name.
    pub states: Vec<String>,
    /// How many.
    pub order: usize,
    /// Storages in derivative form, by name.
    pub dependent: Vec<String>,
    /// Algebraic loops, each as the variables on it.
    pub loops: Vec<Vec<String>>,
    /// The bonds of the view that each of them runs over, by id, in the order of the loop.
    #[serde(default)]
    pub loop_bonds: Vec<Vec<String>>,
    /// Conflicts, in words.
    pub conflicts: Vec<String>,
    /// The assignment step by step: each decision with what follows from it.
    pub steps: Vec<(String, Vec<String>)>,
    /// Elements of the flat graph.
    pub n_elements: usize,
    /// Bonds of the flat graph.
    pub n_bonds: usize,
}

/// Makes the view of a model of the main text.
pub fn view_of(
    analysis: &Analysis,
    document: &Document,
    model: &str,
    messages: &[Message],
) -> Option<View> {
    let mut reading = read(analysis, document, model, messages)?;
    if let Some(flat) = analysis.flat(model) {
        strokes::add_strokes(&mut reading, &Whole::itself(&flat.graph), &flat.causality);
        if flat.is_open {
            reading.view.assumes = Some(
                "strokes are those of the model alone, with efforts given at its open ports"
                    .to_owned(),
            );
        }
    }
    let mut view = reading.view;
    place_messages(&mut view, messages);
    Some(view)
}

/// Makes the view of a model as a part of another one, which `way` leads to from `top` of the text `whole`: its strokes
/// are those that it has there. None if the other model has no graph, or no such part.
pub fn view_inside(
    (analysis, document, messages): (&Analysis, &Document, &[Message]),
    model: &str,
    (whole, top): (&Analysis, &str),
    way: &[String],
) -> Option<View> {
    let mut reading = read(analysis, document, model, messages)?;
    let flat = whole.flat(top)?;
    let graph = (&*flat.graph, &whole.project);
    let inside = Whole::inside(graph, &analysis.project, way)?;
    strokes::add_strokes(&mut reading, &inside, &flat.causality);
    let mut view = reading.view;
    place_messages(&mut view, messages);
    Some(view)
}

fn read<'a>(
    analysis: &Analysis,
    document: &'a Document,
    model: &str,
    messages: &[Message],
) -> Option<Reading<'a>> {
    let mut reading = read_model(analysis, document, model)?;
    let (start, end) = reading.view.range.bytes;
    let inside = |m: &Message| m.range.bytes.0 >= start && m.range.bytes.0 <= end;
    let has_errors = messages
        .iter()
        .any(|m| m.severity == Severity::Error && (inside(m) || m.range.bytes == (0, 0)));
    reading.view.has_errors = has_errors || !reading.view.unresolved.is_empty();
    Some(reading)
}

/// Hangs messages on the nodes and bonds they point at: the smallest that holds the place.
fn place_messages(view: &mut View, messages: &[Message]) {
    for message in messages {
        let text = format!("{}: {}", message.code, message.text);
        let (start, end) = message.range.bytes;
        let holds = |range: &Range| range.bytes.0 <= start && end <= range.bytes.1 && start < end;
        let bond = view
            .bonds
            .iter_mut()
            .filter(|b| b.inherited.is_none() && holds(&b.range));
        let mut is_on_bond = false;
        for bond in bond {
            bond.errors.push(text.clone());
            is_on_bond = true;
        }
        if is_on_bond {
            continue;
        }
        let nodes = view
            .nodes
            .iter_mut()
            .filter(|n| n.inherited.is_none() && holds(&n.range));
        if let Some(node) = nodes.min_by_key(|n| n.range.bytes.1 - n.range.bytes.0) {
            node.errors.push(text);
        }
    }
}
