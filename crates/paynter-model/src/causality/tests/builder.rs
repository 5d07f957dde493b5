//! Builds small bond graphs by name.
//!
//! In:  `g.add("c1", C, 1e-5)`, `g.bond("node", "c1")`.
//! Out: a [`BondGraph`] with the symbols, states and laws that `elaborate` would give.

use crate::graph::{
    Bond, BondGraph, BondId, Element, ElementId, ElementKind, End, Group, GroupId, Law, Stroke,
    Variable,
};
use paynter_symbolic::dae::{Equation, Origin, Role, Symbol};
use paynter_symbolic::{ExprId, Function1, Names, SymbolId};
use paynter_syntax::{FileId, Span};
use std::collections::HashMap;

#[derive(Default)]
pub(super) struct Builder {
    pub graph: BondGraph,
    by_name: HashMap<String, ElementId>,
}

impl Builder {
    pub fn new() -> Self {
        Self::default()
    }

    pub fn symbol(&mut self, name: &str, role: Role) -> SymbolId {
        let name = self.graph.signals.names.child(Names::ROOT, name, None);
        let symbol = Symbol {
            name,
            role,
            nominal: 0.0,
            origin: Origin(0),
        };
        self.graph.signals.add_symbol(symbol)
    }

    pub fn number(&mut self, x: f64) -> ExprId {
        self.graph.signals.pool.number(x)
    }

    /// Reads a symbol.
    pub fn read(&mut self, s: SymbolId) -> ExprId {
        self.graph.signals.pool.symbol(s)
    }

    pub fn call(&mut self, f: Function1, s: SymbolId) -> ExprId {
        let x = self.read(s);
        self.graph.signals.pool.call1(f, x)
    }

    /// Adds an element; an empty name leaves it without one.
    pub fn add_law(&mut self, name: &str, kind: ElementKind, law: Law) -> ElementId {
        let id = ElementId(self.graph.elements.len() as u32);
        let origin = Origin(self.graph.origins.len() as u32);
        self.graph
            .origins
            .push(Span::new(FileId(0), id.0 as usize, id.0 as usize + 1));
        let path =
            (!name.is_empty()).then(|| self.graph.signals.names.child(Names::ROOT, name, None));
        self.by_name.insert(name.to_owned(), id);
        self.graph.elements.push(Element {
            name: path,
            kind,
            ports: Vec::new(),
            states: Vec::new(),
            law,
            is_modulated: false,
            can_vanish: false,
            is_unpowered: false,
            depth: 0,
            part: Names::ROOT,
            part_of: None,
            domain: None,
            origin,
        });
        id
    }

    pub fn add(&mut self, name: &str, kind: ElementKind, value: f64) -> ElementId {
        let value = self.number(value);
        let law = match kind {
            ElementKind::Zero | ElementKind::One => Law::Junction,
            ElementKind::Se | ElementKind::Sf => Law::Source {
                value,
                position: None,
            },
            _ => Law::Gain(value),
        };
        self.add_law(name, kind, law)
    }

    /// Adds a transformer or gyrator whose modulus can vanish.
    pub fn modulated(&mut self, name: &str, kind: ElementKind, modulus: ExprId) -> ElementId {
        let id = self.add_law(name, kind, Law::Gain(modulus));
        let element = &mut self.graph.elements[id.0 as usize];
        element.is_modulated = true;
        element.can_vanish = true;
        id
    }

    pub fn id(&self, name: &str) -> ElementId {
        self.by_name[name]
    }

    pub fn connect(&mut self, tail: ElementId, head: ElementId) -> BondId {
        let id = BondId(self.graph.bonds.len() as u32);
        let effort = self.symbol(&format!("bond{}.e", id.0), Role::Unknown);
        let flow = self.symbol(&format!("bond{}.f", id.0), Role::Unknown);
        let mut end = |element: ElementId, letter: &str| {
            let port = self.graph.elements[element.0 as usize].ports.len() as u32;
            self.graph.elements[element.0 as usize].ports.push(id);
            if matches!(
                self.graph.element(element).kind,
                ElementKind::C | ElementKind::I
            ) {
                let name = self.graph.element_name(element);
                let path = self.graph.signals.names.child(
                    Names::ROOT,
                    &format!("{name}.{letter}{port}"),
                    None,
                );
                let symbol = Symbol {
                    name: path,
                    role: Role::Unknown,
                    nominal: 0.0,
                    origin: Origin(0),
                };
                let state = self.graph.signals.add_symbol(symbol);
                self.graph.elements[element.0 as usize].states.push(state);
            }
            End { element, port }
        };
        let (tail, head) = (end(tail, "x"), end(head, "x"));
        let origin = self.graph.element(head.element).origin;
        self.graph.bonds.push(Bond {
            tail,
            head,
            effort,
            flow,
            forced: None,
            name: None,
            part_of: None,
            domain: None,
            origin,
        });
        id
    }

    /// Joins things in a chain: `"supply mesh node"` is supply -> mesh -> node.
    pub fn chain(&mut self, names: &str) -> Vec<BondId> {
        let ids: Vec<ElementId> = names.split_whitespace().map(|n| self.id(n)).collect();
        ids.windows(2).map(|w| self.connect(w[0], w[1])).collect()
    }

    pub fn force(&mut self, bond: BondId, stroke: Stroke) {
        self.graph.bonds[bond.0 as usize].forced = Some(stroke);
    }

    /// der(name) = the flow of a bond; gives the coordinate.
    pub fn coordinate(&mut self, name: &str) -> (SymbolId, SymbolId) {
        let x = self.symbol(name, Role::Unknown);
        let rate = self.symbol(&format!("{name}'"), Role::Derivative { of: x });
        (x, rate)
    }

    pub fn define(&mut self, symbol: SymbolId, value: ExprId) {
        let left = self.read(symbol);
        self.graph.signals.equations.push(Equation {
            left,
            right: value,
            solves: None,
            origin: Origin(0),
        });
    }

    /// Makes the elements the components of one matrix or vector element.
    pub fn group(&mut self, members: &[ElementId], kind: ElementKind) -> GroupId {
        let id = GroupId(self.graph.groups.len() as u32);
        let size = members.len() as u32;
        self.graph.groups.push(Group {
            name: None,
            kind: Some(kind),
            size,
            origin: Origin(0),
        });
        for (component, &member) in members.iter().enumerate() {
            self.graph.elements[member.0 as usize].part_of = Some((id, component as u32));
        }
        id
    }

    pub fn explicit(
        &mut self,
        name: &str,
        kind: ElementKind,
        rows: Vec<(u32, Variable, ExprId)>,
    ) -> ElementId {
        self.add_law(name, kind, Law::Explicit(rows))
    }
}
