//! Replaces locks by stiff springs and dampers: the parasitic R/C elements of Karnopp & Margolis (1979).
//!
//! In:  a bond graph with locks, `Sf(0, position = …)`.
//! Out: a graph in which every lock is a 1-junction with a C and an R on it, and a [`Spring`] for each. Their stiffness
//!      and damping are parameters, 1 until somebody gives them a value.
//!
//! A lock that drives (`Sf(v(t), position = …)`) keeps its source: spring and damper lie between it and what it drives.
//!
//! The springs start where the locks would hold: the positions and rates of all locks are zero at the start.
//!
//! **Invariant:** bonds, symbols and names that were there stay what they are, the effort of a lock among them: it is
//! the reaction by another name. What is new comes after.

use crate::graph::{Bond, BondGraph, BondId, Element, ElementId, ElementKind, End, Law};
use paynter_symbolic::dae::{Origin, Role, Start, Symbol};
use paynter_symbolic::{ExprId, Names, PathId, SymbolId};

/// What replaces a lock.
#[derive(Clone, Debug, PartialEq)]
pub struct Spring {
    /// The name of the lock.
    pub name: PathId,
    /// What the lock held at zero.
    pub position: ExprId,
    /// The rate of the lock.
    pub flow: ExprId,
    /// Displacement of the spring.
    pub stored: SymbolId,
    /// Parameter: stiffness, N/m or N·m/rad.
    pub stiffness: SymbolId,
    /// Parameter: damping, N·s/m or N·m·s/rad.
    pub damping: SymbolId,
    /// It holds a rotation.
    pub is_turning: bool,
    /// Where the lock comes from.
    pub origin: Origin,
}

/// Replaces every lock with a declared position.
pub fn relax_locks(graph: &BondGraph) -> (BondGraph, Vec<Spring>) {
    let mut relaxed = graph.clone();
    let locks: Vec<ElementId> = (0..graph.elements.len() as u32)
        .map(ElementId)
        .filter(|&id| position(graph.element(id)).is_some())
        .collect();
    let springs = locks.iter().map(|&id| relax(&mut relaxed, id)).collect();
    (relaxed, springs)
}

/// What a lock holds at zero; none for anything else.
pub fn position(element: &Element) -> Option<ExprId> {
    match element.law {
        Law::Source { position, .. } if element.kind == ElementKind::Sf => position,
        _ => None,
    }
}

fn relax(graph: &mut BondGraph, id: ElementId) -> Spring {
    let lock = graph.element(id).clone();
    let Law::Source {
        value,
        position: Some(position),
    } = lock.law
    else {
        unreachable!("only locks are relaxed")
    };

    let name = lock.name.unwrap_or(Names::ROOT);
    let flow = graph.bond(lock.ports[0]).flow;
    let mut draft = Draft { graph, lock: &lock };
    let zero = draft.graph.signals.pool.number(0.0);

    let deformed = if value == zero {
        draft.make_junction(id, ElementKind::One);
        id
    } else {
        // What drives keeps its rate; the spring takes up the difference to what is driven.
        draft.make_junction(id, ElementKind::Zero);
        let law = Law::Source {
            value,
            position: None,
        };
        let drive = draft.add_element("drive", ElementKind::Sf, law);
        draft.add_bond("drive", drive, id);
        let between = draft.add_element("spring", ElementKind::One, Law::Junction);
        draft.add_bond("spring", id, between);
        between
    };

    let (stiffness, damping) = (draft.add_parameter("k"), draft.add_parameter("b"));
    let (k, b) = (draft.symbol(stiffness), draft.symbol(damping));
    let spring = draft.add_element("C", ElementKind::C, Law::InverseGain(k));
    draft.add_bond("C", deformed, spring);
    let stored = draft.add_state(spring);
    let damper = draft.add_element("R", ElementKind::R, Law::Gain(b));
    draft.add_bond("R", deformed, damper);

    let (q, rate) = (draft.symbol(stored), draft.symbol(flow));
    let demands = [(q, zero), (position, zero), (rate, value)];
    let starts = demands.map(|(target, value)| Start {
        target,
        value,
        is_guess: false,
        origin: lock.origin,
    });
    graph.signals.starts.extend(starts);
    Spring {
        name,
        position,
        flow: rate,
        stored,
        stiffness,
        damping,
        is_turning: is_turning(graph, &lock),
        origin: lock.origin,
    }
}

/// Tells whether a lock holds a rotation.
pub fn is_turning(graph: &BondGraph, lock: &Element) -> bool {
    let domain = lock.domain.or(graph.bond(lock.ports[0]).domain);
    domain.is_some_and(|d| graph.domains[d.0 as usize].name == "rotational")
}

/// A graph that grows around one lock.
struct Draft<'g> {
    graph: &'g mut BondGraph,
    lock: &'g Element,
}

impl Draft<'_> {
    fn make_junction(&mut self, id: ElementId, kind: ElementKind) {
        let element = &mut self.graph.elements[id.0 as usize];
        element.kind = kind;
        element.law = Law::Junction;
    }

    /// A name below that of the lock.
    fn path(&mut self, word: &str) -> PathId {
        let parent = self.lock.name.unwrap_or(Names::ROOT);
        self.graph.signals.names.child(parent, word, None)
    }

    fn add_symbol(&mut self, name: PathId, role: Role) -> SymbolId {
        self.graph.signals.add_symbol(Symbol {
            name,
            role,
            nominal: 0.0,
            origin: self.lock.origin,
        })
    }

    fn add_parameter(&mut self, word: &str) -> SymbolId {
        let name = self.path(word);
        self.add_symbol(
            name,
            Role::Parameter {
                value: 1.0,
                binding: None,
            },
        )
    }

    fn symbol(&mut self, symbol: SymbolId) -> ExprId {
        self.graph.signals.pool.symbol(symbol)
    }

    fn add_element(&mut self, word: &str, kind: ElementKind, law: Law) -> ElementId {
        let name = self.path(word);
        self.graph.elements.push(Element {
            name: Some(name),
            kind,
            ports: Vec::new(),
            states: Vec::new(),
            law,
            is_modulated: kind == ElementKind::Sf && self.lock.is_modulated,
            can_vanish: false,
            part_of: None,
            ..self.lock.clone()
        });
        ElementId(self.graph.elements.len() as u32 - 1)
    }

    /// Gives a storage its q.
    fn add_state(&mut self, storage: ElementId) -> SymbolId {
        let word = self.graph.element(storage).name.unwrap_or(Names::ROOT);
        let name = self.graph.signals.names.child(word, "q", None);
        let state = self.add_symbol(name, Role::Unknown);
        self.graph.elements[storage.0 as usize].states.push(state);
        state
    }

    fn add_bond(&mut self, word: &str, tail: ElementId, head: ElementId) {
        let path = self.path(word);
        let names = &mut self.graph.signals.names;
        let (e, f) = (names.child(path, "e", None), names.child(path, "f", None));
        let (effort, flow) = (
            self.add_symbol(e, Role::Unknown),
            self.add_symbol(f, Role::Unknown),
        );
        let id = BondId(self.graph.bonds.len() as u32);
        let mut end = |element: ElementId| {
            let ports = &mut self.graph.elements[element.0 as usize].ports;
            ports.push(id);
            End {
                element,
                port: ports.len() as u32 - 1,
            }
        };
        let (tail, head) = (end(tail), end(head));
        self.graph.bonds.push(Bond {
            tail,
            head,
            effort,
            flow,
            forced: None,
            name: None,
            part_of: None,
            domain: self.lock.domain,
            origin: self.lock.origin,
        });
    }
}
