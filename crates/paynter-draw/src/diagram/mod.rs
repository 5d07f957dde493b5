//! The bond graph as the textbook draws it.
//!
//! In:  a flat [`BondGraph`] and, if known, its [`Causality`].
//! Out: a [`Diagram`]: nodes, bonds, signals and frames with their places, in points of 1/72 inch
//!      with y downwards. [`to_svg`], [`to_tikz`] and [`to_pdf`] only
//!      write it down.
//!
//! | step | file | does |
//! |---|---|---|
//! | 1 | `view` | scalars back to what the text says; large models collapsed |
//! | 2 | `signals` | what reads what |
//! | 3 | `place` | a cell of the grid for every node; long chains in several rows |
//! | 4 | `repair` | other cells where a bond would pass through a node or strokes would merge |
//! | 5 | `arrange` | cells to points, ends of bonds, places of small labels |
//! | 6 | `sequence`, `strokes`, `power` | strokes and classes, all at once or step by step; bands of power |
//!
//! **Invariant:** equal graphs give equal diagrams; places depend on names and structure only.

mod arrange;
pub mod geometry;
mod pdf;
mod place;
mod power;
mod repair;
mod sequence;
mod signals;
mod strokes;
mod svg;
mod tikz;
mod view;

pub use geometry::Rectangle;
pub use pdf::to_pdf;
pub use power::{LinePower, PowerFlow, ScaleMark};
pub use sequence::{frames, frames_svg};
pub use svg::to_svg;
pub use tikz::to_tikz;

use arrange::Sheet;
use paynter_model::causality::Causality;
use paynter_model::graph::{BondGraph, BondId, ElementId};

/// Draws a graph.
pub fn diagram(
    graph: &BondGraph,
    causality: Option<&Causality>,
    options: &DiagramOptions,
) -> Diagram {
    let mut view = view::view(graph, options.parts);
    for node in &mut view.nodes {
        let mut known = options.source_sensors.iter();
        if let Some((_, name)) = known.find(|(e, _)| node.elements == [*e]) {
            node.text = format!("SS:{name}");
        }
    }
    let signals = match options.signals {
        Shown::Never => Vec::new(),
        Shown::Always => signals::signals(graph, &mut view),
        Shown::WhenFew if view.nodes.len() <= MAX_NODES_WITH_SIGNALS => {
            signals::signals(graph, &mut view)
        }
        Shown::WhenFew => Vec::new(),
    };

    best_of_tries(&Sheet::new((graph, causality), &view, &signals, options))
}

/// One crossing among so many bonds is not worth another try.
const GOOD_ENOUGH: usize = 20;

/// Draws with different luck until a drawing is good, and takes the one with the fewest faults.
fn best_of_tries(sheet: &Sheet<'_>) -> Diagram {
    let mut best: Option<(usize, Diagram)> = None;
    for number_of_try in 0..place::N_TRIES {
        let placement = place::place(sheet.view, sheet.signals, number_of_try);
        let placement = repair::repair(sheet, placement);
        let drawing = arrange::arrange(sheet, &placement);
        let faults = drawing.faults();
        let drawing_size = drawing.bonds.len();
        // A crossing is a blemish, a covered name is a fault.
        let weight = faults.crossings + 4 * faults.n_serious();
        if best.as_ref().is_none_or(|(least, _)| weight < *least) {
            best = Some((weight, drawing));
        }
        if weight * GOOD_ENOUGH <= drawing_size || placement.is_pinned {
            break;
        }
    }
    best.map(|(_, drawing)| drawing).unwrap_or_default()
}

/// With more nodes than this, signals make a web that hides the bonds.
const MAX_NODES_WITH_SIGNALS: usize = 40;

/// What to draw.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DiagramOptions {
    /// Above the drawing; may be empty.
    pub title: String,
    /// How submodels are drawn.
    pub parts: Parts,
    /// Whether signals are drawn.
    pub signals: Shown,
    /// What is written at bonds.
    pub bond_labels: BondLabels,
    /// Power to show on the bonds.
    pub power: Option<PowerFlow>,
    /// Bicausal bonds; whether effort and flow go to the head.
    pub bicausal: Vec<(BondId, bool)>,
    /// Elements that are drawn as source-sensors, with what is written after `SS:`.
    pub source_sensors: Vec<(ElementId, String)>,
}

/// How submodels are drawn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Parts {
    /// Opened while the drawing stays small, the deepest closed first.
    #[default]
    Automatic,
    /// Opened, with a frame around them.
    Open,
    /// Closed, as boxes.
    Closed,
}

/// When something is drawn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Shown {
    /// If the drawing is small.
    #[default]
    WhenFew,
    /// In any case.
    Always,
    /// Not at all.
    Never,
}

/// What is written at bonds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum BondLabels {
    /// Nothing but dimensions of multibonds.
    #[default]
    None,
    /// 1, 2, 3 …
    Numbers,
    /// The names of bonds that have one.
    Names,
}

/// A point; y grows downwards.
pub type Point = (f64, f64);

/// A drawing.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Diagram {
    /// Above everything; may be empty.
    pub title: String,
    /// Width and height.
    pub size: Point,
    /// Elements, junctions, boxes.
    pub nodes: Vec<Node>,
    /// Bonds.
    pub bonds: Vec<Line>,
    /// Signals.
    pub signals: Vec<Arrow>,
    /// Frames around opened submodels, outer ones first.
    pub frames: Vec<Frame>,
    /// What the bands of power mean, where powers are shown.
    pub scale: Vec<ScaleMark>,
    /// Below everything: what a collapsed drawing leaves out, or the sentence of a step.
    pub note: String,
}

/// What a node stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum NodeKind {
    /// A 0- or 1-junction.
    Junction,
    /// A one-port or a field.
    Element,
    /// A transformer or gyrator.
    TwoPort,
    /// A submodel drawn closed.
    Closed,
    /// Several things of a kind, drawn as one.
    Many,
    /// A submodel without power: a controller, a filter.
    Signals,
}

/// An element, junction or box.
#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    /// What it stands for.
    pub kind: NodeKind,
    /// What is written in its place: `I:J1`, `1`, `MTF`.
    pub text: String,
    /// Written small beside it: the name of a junction, the modulus of a transformer; may be empty.
    pub small: String,
    /// Where the small text is.
    pub small_box: Rectangle,
    /// Where the node is.
    pub area: Rectangle,
    /// What it stands for.
    pub elements: Vec<ElementId>,
    /// Has a part in a conflict.
    pub is_in_conflict: bool,
}

/// Which ends of a drawn bond carry a causal stroke.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Strokes {
    /// None: not assigned.
    #[default]
    None,
    /// At the tail.
    Tail,
    /// At the head.
    Head,
    /// A multibond whose components differ.
    Both,
    /// Bicausal: effort and flow both go to the head. Half a stroke of the effort is there, half a stroke of the flow at the tail.
    ToHead,
    /// Bicausal: effort and flow both go to the tail.
    ToTail,
}

/// What the colour and weight of a bond say.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum BondClass {
    /// Causality was not asked for, or follows from other bonds.
    #[default]
    Plain,
    /// A storage in integral form, or another wish that was granted.
    Preferred,
    /// A storage in derivative form.
    Derivative,
    /// The text demands the stroke.
    Forced,
    /// Has no stroke.
    Undetermined,
    /// Demands on it contradict each other.
    Conflict,
}

/// A bond or multibond.
#[derive(Clone, Debug, PartialEq)]
pub struct Line {
    /// Where power comes from: position in [`Diagram::nodes`].
    pub tail: usize,
    /// Where power goes: position in [`Diagram::nodes`].
    pub head: usize,
    /// From the edge of the tail to the edge of the head.
    pub points: Vec<Point>,
    /// Its scalar bonds.
    pub bonds: Vec<BondId>,
    /// Drawn double, with this number of components.
    pub dimension: Option<usize>,
    /// Causal strokes.
    pub strokes: Strokes,
    /// What its colour says.
    pub class: BondClass,
    /// Its stroke is demanded by the text, whatever its class.
    pub is_forced: bool,
    /// Its stroke was set by the step that the drawing shows.
    pub is_new: bool,
    /// Number, name or dimension; may be empty.
    pub label: String,
    /// Where the label is.
    pub label_box: Rectangle,
    /// Names of the ports of closed boxes at the tail and the head; may be empty.
    pub port_names: [String; 2],
    /// Where these are.
    pub port_boxes: [Rectangle; 2],
    /// Power through it, where powers are shown.
    pub power: Option<LinePower>,
}

/// A signal.
#[derive(Clone, Debug, PartialEq)]
pub struct Arrow {
    /// Where it is read: position in [`Diagram::nodes`].
    pub from: usize,
    /// What it acts on: position in [`Diagram::nodes`].
    pub to: usize,
    /// Ends, and the control point of the curve between them.
    pub points: [Point; 3],
}

/// A frame around an opened submodel.
#[derive(Clone, Debug, PartialEq)]
pub struct Frame {
    /// Its name.
    pub name: String,
    /// Its border.
    pub area: Rectangle,
    /// Where its name is: inside, in a corner that no bond passes.
    pub name_box: Rectangle,
    /// Its parts: positions in [`Diagram::nodes`].
    pub nodes: Vec<usize>,
}

/// Faults of a drawing that can be counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Faults {
    /// Pairs of bonds that cross.
    pub crossings: usize,
    /// Pairs of nodes or labels that cover each other.
    pub overlaps: usize,
    /// Bonds that pass over a label.
    pub covered: usize,
    /// Bonds that pass through a node that is not at one of their ends.
    pub pierced: usize,
    /// Pairs of causal strokes that are seen as one.
    pub merged: usize,
    /// Nodes inside the frame of a submodel that they are not part of.
    pub strangers: usize,
}

impl Faults {
    /// Counts those that make a drawing hard to read; a crossing does not.
    pub fn n_serious(&self) -> usize {
        self.overlaps + self.covered + self.pierced + self.merged + self.strangers
    }
}
