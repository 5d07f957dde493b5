//! What the elaborator knows while it works: parts, things, ports, definitions, by id.
//!
//! In:  filled by `collect`, completed by `connect` and `define`.
//! Out: read by lowering and by `finish`, which makes the graph of it.
//!
//! **Invariant:** a path names at most one entity, beside a value that shares its name; an entity never changes its path.

use paynter_symbolic::{PathId, SymbolId};
use paynter_syntax::{Span, ast};
use std::sync::Arc;

use super::tables::Lineage;
use super::value::Value;
use crate::graph::{DomainId, ElementKind, GroupId, Law, Memory};

macro_rules! ids {
    ($($(#[$doc:meta])* $name:ident)*) => {
        $(
            $(#[$doc])*
            #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
            pub(super) struct $name(pub u32);

            impl $name {
                pub(super) fn at(self) -> usize {
                    self.0 as usize
                }
            }
        )*
    };
}

ids! {
    /// A scope: where names of an expression are looked up.
    ScopeId
    /// A part: an instance of a model.
    InstanceId
    /// A named value: parameter, input, signal, state.
    DefId
    /// A junction or element as written.
    ThingId
    /// A port of a part.
    PortId
    /// A named bond.
    NamedBondId
}

/// What a path names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Entity {
    Nothing,
    Def(DefId),
    Thing(ThingId),
    Instance(InstanceId),
    Port(PortId),
    Bond(NamedBondId),
    /// `outer name: Model`, by position.
    Outer(u32),
    /// The name of a `when`.
    Event(Span),
}

/// Where names are looked up: loop variables, then the part, then its file.
#[derive(Clone, Copy, Debug)]
pub(super) struct Scope<'a> {
    /// The part; none inside functions and constants.
    pub instance: Option<InstanceId>,
    /// Position in the project's files.
    pub file: u32,
    /// The scope around a `for`.
    pub parent: Option<ScopeId>,
    /// The running name of a `for` and its value.
    pub variable: Option<(&'a str, f64)>,
}

/// An argument given to a part.
#[derive(Clone, Copy, Debug)]
pub(super) struct Given<'a> {
    pub name: &'a ast::Ident,
    pub value: &'a ast::Expr,
    pub scope: ScopeId,
}

/// A part.
#[derive(Clone, Debug)]
pub(super) struct Instance<'a> {
    pub path: PathId,
    pub model: &'a ast::Model,
    pub parent: Option<InstanceId>,
    /// The model and those it extends, shared by all its instances.
    pub lineage: Arc<Lineage<'a>>,
    /// Arguments, those from outside first.
    pub given: Vec<Given<'a>>,
    /// Which arguments found a declaration, as bits; more than 64 are all taken as used.
    pub used: u64,
    /// In the order of declaration.
    pub ports: Vec<PortId>,
    pub depth: u32,
    pub span: Span,
}

/// What sort of named value a definition is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum DefKind {
    Param,
    Input,
    Output,
    Signal,
    /// `der(x) = …`
    State,
    /// Defined in a `sample` block or a `when`.
    Discrete,
    /// An unknown of a `solve` block.
    Sought,
    /// A signal that a composite port gives.
    PortGiven,
    /// A signal that a composite port takes from whatever is connected.
    PortTaken {
        port: PortId,
        member: u32,
    },
}

#[derive(Clone, Debug)]
pub(super) enum Progress {
    Open,
    /// Being resolved now: reading it again is a cycle.
    Started,
    Done(Value),
    Failed,
}

/// A named value.
#[derive(Clone, Debug)]
pub(super) struct Def<'a> {
    pub path: PathId,
    pub kind: DefKind,
    /// The part that owns it.
    pub instance: Option<InstanceId>,
    pub decl: Option<&'a ast::Decl>,
    pub decl_scope: ScopeId,
    /// Its value, and where that is to be read.
    pub value: Option<(&'a ast::Expr, ScopeId)>,
    /// The unit after the name in a definition.
    pub unit: Option<&'a ast::Unit>,
    pub span: Span,
    pub progress: Progress,
}

/// How a thing became scalars.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Expansion {
    /// Component k is element `first + k`.
    Scalars,
    /// One n-port element.
    Field,
}

/// A junction or element as written.
#[derive(Clone, Debug)]
pub(super) struct Thing<'a> {
    pub name: Option<PathId>,
    pub kind: ElementKind,
    /// Number of components; of a two-port, 0 until its bonds tell.
    pub size: u32,
    /// Written with a size in brackets.
    pub is_vector: bool,
    /// Two-ports: components on the second side.
    pub size_out: u32,
    pub written: Option<&'a ast::Kind>,
    pub scope: ScopeId,
    pub span: Span,
    /// (port, bond): the port of a junction or one-port is its component, that of a
    /// two-port is 2 · component + side.
    pub bonds: Vec<(u32, u32)>,
    /// q or p by component.
    pub states: Vec<SymbolId>,
    /// Which of the two, by component.
    pub memories: Vec<Memory>,
    pub group: Option<GroupId>,
    /// Which part of the group it is, if it is not a vector itself.
    pub part: u32,
    /// A law that is already known: entries of a matrix two-port.
    pub preset: Option<Box<Law>>,
    /// Replaced by junctions and scalar two-ports.
    pub is_expanded: bool,
    /// First element of the graph, once it is made, and how many.
    pub first: u32,
    pub n_elements: u32,
    pub expansion: Expansion,
    /// Modulus of a two-port, once it was read.
    pub ratio: Option<Box<Value>>,
    /// Named otherwise only to hold a component still (`_`).
    pub is_fixed: bool,
    /// A chain that joins it has an error, so that a missing bond is not another one.
    pub is_excused: bool,
}

/// A declared port.
#[derive(Clone, Debug)]
pub(super) struct Port<'a> {
    pub path: PathId,
    pub instance: InstanceId,
    pub decl: &'a ast::PortDecl,
    pub scope: ScopeId,
    pub domain: Option<DomainId>,
    pub size: Option<u32>,
    /// Members of a composite port.
    pub members: Option<Vec<Member<'a>>>,
    /// The first scalar slot of an open port.
    pub first_slot: u32,
    /// Whole-port connections: representative in the net of composite ports.
    pub net: PortId,
    /// Its binding is being followed now.
    pub is_followed: bool,
}

/// A member of a composite port.
#[derive(Clone, Debug)]
pub(super) struct Member<'a> {
    pub name: &'a ast::Ident,
    pub what: MemberKind<'a>,
}

#[derive(Clone, Debug)]
pub(super) enum MemberKind<'a> {
    Power {
        domain: Option<DomainId>,
        size: u32,
        is_vector: bool,
        /// First scalar slot if the port is open.
        first_slot: u32,
        /// What it stands for otherwise.
        bound: Option<&'a ast::Expr>,
    },
    Signal(DefId),
}

/// One scalar component of an open port: exactly one bond inside and one outside.
#[derive(Clone, Copy, Debug)]
pub(super) struct Slot {
    pub port: PortId,
    pub inside: Option<u32>,
    pub outside: Option<u32>,
    /// The bond that passes through, once ports are spliced away.
    pub bond: Option<u32>,
}

/// An end of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Terminal {
    Thing { thing: ThingId, port: u32 },
    Slot(u32),
}

/// A connection that touches an open port; contracted to bonds in the end.
#[derive(Clone, Copy, Debug)]
pub(super) struct Edge {
    pub tail: Terminal,
    pub head: Terminal,
    pub arrow: ast::Arrow,
    pub group: Option<(GroupId, u32)>,
    pub name: Option<NamedBondId>,
    /// How deep the part is in which the arrow is.
    pub depth: u32,
}

/// `bond shaft: motor -> load`
#[derive(Clone, Debug)]
pub(super) struct NamedBond {
    pub path: PathId,
    pub span: Span,
    /// Its scalar bonds.
    pub bonds: Vec<u32>,
}

impl Thing<'_> {
    /// `GY[3] { e = cross(f, i.p) }`: a gyrator that turns its bond on itself.
    pub(super) fn is_one_port_gyrator(&self) -> bool {
        self.kind == ElementKind::Gy && self.written.is_some_and(|w| w.size.is_some())
    }
}
