//! The flat bond graph: scalar bonds between elements, and the signals around them.
//!
//! In:  made by `elaborate`; multibonds, matrix transformers and arrays are scalars here.
//! Out: read by causality, equations, checks and drawing. No stage changes it.
//!
//! **Invariant:** every port is on exactly one bond; arrows point into R, C, I and
//! into port 0 of a two-port, out of its port 1; every item has an origin in the text.

use paynter_symbolic::{Dae, ExprId, PathId, SymbolId, dae::Origin};
use paynter_syntax::Span;

use crate::units::Unit;

/// Names an element (junctions are elements too).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ElementId(pub u32);

/// Names a bond.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct BondId(pub u32);

pub use crate::kinds::{ElementKind, Memory};

/// Effort or flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Variable {
    /// e
    Effort,
    /// f
    Flow,
    /// q of a C port or p of an I port.
    Stored,
}

/// What relates the variables of an element. Expressions read the symbols of the element's own bonds.
#[derive(Clone, Debug, PartialEq)]
pub enum Law {
    /// Junctions.
    Junction,
    /// Se: e = value; Sf: f = value (of the bond, whichever way it points).
    Source {
        /// The effort or flow.
        value: ExprId,
        /// For a lock `Sf(0, position = …)`: what stays zero.
        position: Option<ExprId>,
    },
    /// One-port: R: e = R f; C: q = C e; I: p = I f.
    /// Two-port: TF: f₂ = n f₁, e₁ = n e₂; GY: e₁ = r f₂, e₂ = r f₁.
    Gain(ExprId),
    /// C: e = k q; I: f = a p; R: f = G e; TF in effort-forward form: e₂ = m e₁, f₁ = m f₂; GY: f₁ = g e₂, f₂ = g e₁.
    InverseGain(ExprId),
    /// n-port R: e = M f; C: q = M e; I: p = M f. Row-major n×n.
    Field(Vec<ExprId>),
    /// n-port R: f = M e; C: e = M q; I: f = M p.
    InverseField(Vec<ExprId>),
    /// One output for every port (two-port TF/GY/RS: as many as were written; the rest follows
    /// from the kind: RS has f₂ = e₁f₁/e₂). Entry: (port, which variable, its value).
    Explicit(Vec<(u32, Variable, ExprId)>),
    /// Sw: e = r_on f when on, f = g_off e when off.
    Switch {
        /// Truth value.
        on: ExprId,
        /// Resistance when closed.
        r_on: ExprId,
        /// Conductance when open.
        g_off: ExprId,
    },
    /// D: conducts for f > 0, blocks for e < 0.
    Diode {
        /// Resistance when conducting.
        r_on: ExprId,
        /// Conductance when blocking.
        g_off: ExprId,
        /// Effort at which it begins to conduct.
        threshold: ExprId,
    },
}

impl Law {
    /// Lists every expression in it, apart from the position of a lock.
    pub fn expressions(&self) -> Vec<ExprId> {
        match self {
            Law::Junction => Vec::new(),
            Law::Source { value, .. } => vec![*value],
            Law::Gain(e) | Law::InverseGain(e) => vec![*e],
            Law::Field(entries) | Law::InverseField(entries) => entries.clone(),
            Law::Explicit(rows) => rows.iter().map(|&(_, _, e)| e).collect(),
            Law::Switch { on, r_on, g_off } => vec![*on, *r_on, *g_off],
            Law::Diode {
                r_on,
                g_off,
                threshold,
            } => vec![*r_on, *g_off, *threshold],
        }
    }
}

/// An element or junction.
#[derive(Clone, Debug, PartialEq)]
pub struct Element {
    /// Its name; an unnamed one has none and is reported by its place.
    pub name: Option<PathId>,
    /// What it is.
    pub kind: ElementKind,
    /// The bonds at its ports, in port order.
    pub ports: Vec<BondId>,
    /// q or p of each port, where it remembers one.
    pub states: Vec<SymbolId>,
    /// Its law.
    pub law: Law,
    /// Its law reads something that varies (a signal, a state, time), apart from its own variables.
    pub is_modulated: bool,
    /// Its modulus (TF, GY) can become zero: it reads signals, sin, cos, states.
    pub can_vanish: bool,
    /// Declared `unpowered`.
    pub is_unpowered: bool,
    /// How deep in the tree of instances: 0 in the top model.
    pub depth: u32,
    /// The part that it is in, the root for the top model; an element without a name has one, too.
    pub part: PathId,
    /// The vector element, matrix transformer or field this one was expanded from, and which component.
    pub part_of: Option<(GroupId, u32)>,
    /// Name of the energy domain at its first port, if known.
    pub domain: Option<DomainId>,
    /// Where it comes from.
    pub origin: Origin,
}

impl Element {
    /// What a port remembers. The ports of an IC differ: those whose law gives the flow have momenta.
    pub fn memory(&self, port: usize) -> Option<Memory> {
        match (self.kind, &self.law) {
            (ElementKind::Ic, Law::Explicit(rows)) => {
                let row = rows.iter().find(|row| row.0 as usize == port)?;
                Some(match row.1 {
                    Variable::Flow => Memory::Momentum,
                    _ => Memory::Displacement,
                })
            }
            (kind, _) => kind.memory(),
        }
    }
}

/// Names something that was one thing in the text and is several scalars here.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct GroupId(pub u32);

/// A vector junction, vector element, matrix transformer, or multibond before expansion.
#[derive(Clone, Debug, PartialEq)]
pub struct Group {
    /// Its name.
    pub name: Option<PathId>,
    /// What it was: `0`, `1`, `I`, `TF`, or none for a multibond.
    pub kind: Option<ElementKind>,
    /// Number of components.
    pub size: u32,
    /// Where it comes from.
    pub origin: Origin,
}

/// Names an energy domain.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct DomainId(pub u32);

/// An end of a bond: an element and one of its ports.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct End {
    /// The element.
    pub element: ElementId,
    /// Position in [`Element::ports`].
    pub port: u32,
}

/// Which end of a bond carries the causal stroke: there the effort is an input of the element.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Stroke {
    /// At the tail of the half arrow.
    Tail,
    /// At the head of the half arrow.
    Head,
}

/// A bond. Positive power flows from tail to head.
#[derive(Clone, Debug, PartialEq)]
pub struct Bond {
    /// Where power comes from.
    pub tail: End,
    /// Where power goes.
    pub head: End,
    /// Its effort.
    pub effort: SymbolId,
    /// Its flow.
    pub flow: SymbolId,
    /// A stroke that the text demands.
    pub forced: Option<Stroke>,
    /// Its name, for `bond shaft: …`.
    pub name: Option<PathId>,
    /// The multibond it is a component of.
    pub part_of: Option<(GroupId, u32)>,
    /// Its energy domain, if known.
    pub domain: Option<DomainId>,
    /// Where it comes from.
    pub origin: Origin,
}

/// A port of a part that a bond passes on its way, whether the port is open or stands for a junction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Passage {
    /// The bond.
    pub bond: BondId,
    /// The port; its parent is the part.
    pub port: PathId,
    /// The port hands on signals as well.
    pub carries_signals: bool,
}

/// A quantity that the text reads and that equations must define.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Reading {
    /// The symbol that expressions read.
    pub symbol: SymbolId,
    /// What it means.
    pub what: ReadingKind,
}

/// What a [`Reading`] means.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ReadingKind {
    /// Energy in a C or I, from its law.
    Stored(ElementId),
    /// ∫ power into the element (for a source: out of it) since the start.
    ElementEnergy(ElementId),
    /// ∫ power along the bond since the start.
    BondEnergy(BondId),
    /// ∫ of an expression since the start: `integral(x)`.
    Integral(ExprId),
    /// Energy in all storages.
    SystemEnergy,
    /// Energy given by all sources since the start.
    SystemSupplied,
    /// Energy lost in all resistors since the start.
    SystemDissipated,
    /// supplied − dissipated − (energy − energy at the start).
    SystemResidual,
}

/// An energy domain.
#[derive(Clone, Debug, PartialEq)]
pub struct Domain {
    /// Its name.
    pub name: String,
    /// The flow alone is the power.
    pub is_pseudo: bool,
}

/// Something an engineer asked to see.
#[derive(Clone, Debug, PartialEq)]
pub struct Output {
    /// Its name.
    pub name: PathId,
    /// Its value in SI units.
    pub value: ExprId,
    /// The unit it is shown in: as declared, else that of the SI; none for a plain number.
    pub unit: Option<Unit>,
}

/// A flat bond graph with its signals.
#[derive(Clone, Debug, Default)]
pub struct BondGraph {
    /// Everything but power: expressions, names, symbols (those of bonds and storages included),
    /// signal definitions as equations, clocks, events (not yet frozen), starts, invariants.
    pub signals: Dae,
    /// Junctions and elements.
    pub elements: Vec<Element>,
    /// Bonds.
    pub bonds: Vec<Bond>,
    /// What was a vector in the text.
    pub groups: Vec<Group>,
    /// Energy domains.
    pub domains: Vec<Domain>,
    /// Quantities to be defined by equations.
    pub readings: Vec<Reading>,
    /// Outputs of the top model, in text order.
    pub outputs: Vec<Output>,
    /// Inputs of the top model that have a default value: (symbol, value). They are parameters or signals by then.
    pub inputs: Vec<SymbolId>,
    /// Places in the text, by [`Origin`].
    pub origins: Vec<Span>,
    /// Parts of the top model and where each is made, sorted by path. What comes from a library has its own
    /// place there; this is the place in the user's text.
    pub parts: Vec<(PathId, Span)>,
    /// All parts at any depth, without the top model, sorted.
    pub instances: Vec<PathId>,
    /// Ports that bonds pass, sorted by bond.
    pub passages: Vec<Passage>,
    /// Positions given in `layout` blocks: (path, x, y).
    pub layout: Vec<(PathId, f64, f64)>,
}

impl BondGraph {
    /// Gives an element.
    pub fn element(&self, id: ElementId) -> &Element {
        &self.elements[id.0 as usize]
    }

    /// Gives a bond.
    pub fn bond(&self, id: BondId) -> &Bond {
        &self.bonds[id.0 as usize]
    }

    /// Gives the ports that a bond passes.
    pub fn passages_of(&self, bond: BondId) -> &[Passage] {
        let start = self.passages.partition_point(|p| p.bond < bond);
        let n = self.passages[start..].partition_point(|p| p.bond == bond);
        &self.passages[start..start + n]
    }

    /// Gives the place in the text of an origin.
    pub fn span(&self, origin: Origin) -> Span {
        self.origins
            .get(origin.0 as usize)
            .copied()
            .unwrap_or_default()
    }

    /// Gives the place where the part of the top model is made that a name lies in; none for things
    /// of the top model itself.
    pub fn part_span(&self, name: PathId) -> Option<Span> {
        let names = &self.signals.names;
        let mut path = name;
        while let Some(parent) = names.parent(path) {
            if let Ok(i) = self.parts.binary_search_by_key(&parent, |&(path, _)| path) {
                return Some(self.parts[i].1);
            }
            path = parent;
        }
        None
    }

    /// Names an element for messages: its path, or its kind for an unnamed one.
    pub fn element_name(&self, id: ElementId) -> String {
        let element = self.element(id);
        match element.name {
            Some(path) => self.signals.names.display(path),
            None => format!("the {} without a name", element.kind.letters()),
        }
    }

    /// Tells whether the arrow of the bond at this port points into the element.
    pub fn points_in(&self, bond: BondId, end: End) -> bool {
        self.bond(bond).head == end
    }
}
