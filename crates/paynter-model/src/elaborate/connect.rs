//! Second pass: chains become bonds.
//!
//! In:  the chains as collected, and the things and ports they name.
//! Out: scalar bonds with their symbols; open ports spliced away; nets of composite ports.
//!
//! **Invariant:** afterwards every port of an element that the text connects is on one bond,
//! and no bond ends at a port of a part. Linear in the number of bonds.

use paynter_symbolic::{Names, PathId, Role, Symbol, SymbolId};
use paynter_syntax::{Diagnostic, Span, ast};

use super::collect::Made;
use super::data::*;
use super::lower::{Ctx, Stop, Target};
use super::read::{WHOLE_PORT, is_two_port};
use super::value::Shape;
use super::{Elaborator, Phase, code};
use crate::graph::{Bond, ElementId, ElementKind, End, GroupId, Stroke};

/// One end of an arrow.
#[derive(Clone, Debug)]
enum Endpoint {
    One(Terminal),
    Many(Vec<Terminal>),
    /// A two-port, whose size follows what it is joined to.
    Flexible {
        thing: ThingId,
        side: u32,
    },
    /// A composite port.
    Composite(PortId),
}

/// A node of a chain, made or found.
#[derive(Clone, Debug)]
enum Joined {
    Target(Target),
    Tuple(Vec<(Joined, Span)>),
    Fixed,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Direction {
    Into,
    OutOf,
}

impl<'a> Elaborator<'a> {
    /// Makes all bonds.
    pub(super) fn connect(&mut self) {
        let chains = std::mem::take(&mut self.chains);
        for (scope, chain, name) in chains {
            self.connect_chain(scope, chain, name);
        }
        self.splice_ports();
        self.find_givers();
        self.phase = Phase::Connected;
    }

    fn connect_chain(&mut self, scope: ScopeId, chain: &'a ast::Chain, name: Option<NamedBondId>) {
        let mut last: Vec<(Joined, Span)> = Vec::new();
        let mut is_last_complete = true;
        self.is_port_told = false;
        for (position, group) in chain.groups.iter().enumerate() {
            let mut joined = Vec::with_capacity(group.len());
            for node in group {
                if let Some(j) = self.join(scope, node) {
                    joined.push((j, node.span));
                }
            }
            let is_complete = joined.len() == group.len();
            if position > 0 {
                let arrow = chain.arrows[position - 1];
                for (tail, tail_span) in &last {
                    for (head, head_span) in &joined {
                        let before = (self.graph.bonds.len(), self.edges.len());
                        self.arrow(scope, (tail, *tail_span), (head, *head_span), arrow, name);
                        if before == (self.graph.bonds.len(), self.edges.len()) {
                            self.excuse(tail);
                            self.excuse(head);
                        }
                    }
                }
                if !is_complete {
                    last.iter().for_each(|(j, _)| self.excuse(j));
                }
                if !is_last_complete {
                    joined.iter().for_each(|(j, _)| self.excuse(j));
                }
            }
            last = joined;
            is_last_complete = is_complete;
        }
    }

    /// Notes that a bond of a thing was meant but could not be made.
    fn excuse(&mut self, joined: &Joined) {
        match joined {
            Joined::Target(Target::Thing { thing, .. }) => {
                self.things[thing.at()].is_excused = true;
            }
            Joined::Target(Target::Instance(part)) => {
                self.incomplete.insert(*part);
            }
            Joined::Tuple(parts) => parts.iter().for_each(|(j, _)| self.excuse(j)),
            _ => {}
        }
    }

    /// Finds or makes a node of a chain.
    fn join(&mut self, scope: ScopeId, node: &'a ast::Node) -> Option<Joined> {
        match &node.kind {
            ast::NodeKind::Fixed => Some(Joined::Fixed),
            ast::NodeKind::Tuple(nodes) => {
                let mut parts = Vec::with_capacity(nodes.len());
                for node in nodes {
                    parts.push((self.join(scope, node)?, node.span));
                }
                Some(Joined::Tuple(parts))
            }
            ast::NodeKind::Anonymous(kind) => self.anonymous(scope, kind, node.span),
            ast::NodeKind::Thing { name, index, .. } => {
                let instance = self.scopes[scope.at()].instance?;
                let parent = self.instances[instance.at()].path;
                let path = self.indexed_path(parent, scope, &name.text, index)?;
                match self.entity(path) {
                    // A second thing of that name was refused where it is made.
                    Entity::Thing(thing) if self.things[thing.at()].span == name.span => {
                        Some(Joined::Target(Target::Thing {
                            thing,
                            component: None,
                        }))
                    }
                    Entity::Instance(part) if self.instances[part.at()].span == name.span => {
                        Some(Joined::Target(Target::Instance(part)))
                    }
                    _ => None,
                }
            }
            ast::NodeKind::Ref(r) => {
                if self.names_port_of_element(scope, r) {
                    return None;
                }
                loop {
                    match self.ref_target(r, Ctx::of(scope)) {
                        Ok(target) => return Some(Joined::Target(target)),
                        Err(Stop::Reported) => return None,
                        Err(Stop::Blocked(def)) => self.settle(def),
                    }
                }
            }
        }
    }

    /// Refuses `supply.p -> r.p`: the ports of an element have no names. One message for a
    /// chain is enough, and the elements count as joined.
    fn names_port_of_element(&mut self, scope: ScopeId, r: &ast::Ref) -> bool {
        let [first, port] = r.parts.as_slice() else {
            return false;
        };
        let Some(instance) = self.scopes[scope.at()].instance else {
            return false;
        };
        let parent = self.instances[instance.at()].path;
        let Some(path) = self.indexed_path(parent, scope, &first.name.text, &first.index) else {
            return false;
        };
        let Entity::Thing(thing) = self.entity(path) else {
            return false;
        };
        let t = &self.things[thing.at()];
        let is_component = t.is_vector && super::lower::letter_component(&port.name.text).is_some();
        if is_component || t.kind.is_junction() && t.is_vector {
            return false;
        }
        self.things[thing.at()].is_excused = true;
        let is_told = std::mem::replace(&mut self.is_port_told, true);
        if is_told {
            return true;
        }
        let (span, kind) = (r.span, in_words(&self.things[thing.at()]));
        let before = Span {
            end: port.name.span.start,
            ..span
        };
        let name = self.project.sources.text(before).trim();
        let name = name.trim_end_matches('.');
        self.report.add(code::NOT_A_NODE, span, || {
            Diagnostic::error(
                code::NOT_A_NODE,
                format!("a bond cannot end at `{name}.{}`", port.name.text),
            )
            .primary(span, format!("the ports of {kind} have no names"))
            .help(format!("write the name alone: `{name}`"))
        });
        true
    }

    fn anonymous(&mut self, scope: ScopeId, kind: &'a ast::Kind, span: Span) -> Option<Joined> {
        let element = match &kind.head {
            ast::KindHead::Zero(_) => ElementKind::Zero,
            ast::KindHead::One(_) => ElementKind::One,
            ast::KindHead::Named(path) => {
                let file = self.scopes[scope.at()].file;
                match self.made(path, file) {
                    Some(Made::Element(kind)) => kind,
                    None => return None,
                    Some(Made::Model(..)) => {
                        self.report.add(code::NOT_A_NODE, span, || {
                            Diagnostic::error(code::NOT_A_NODE, "a part needs a name")
                                .primary(span, "made here without one")
                                .help("write `name: Model(…)`")
                        });
                        return None;
                    }
                }
            }
        };
        let thing = self.add_thing(None, element, Some(kind), scope, span);
        Some(Joined::Target(Target::Thing {
            thing,
            component: None,
        }))
    }

    fn arrow(
        &mut self,
        scope: ScopeId,
        (tail, tail_span): (&Joined, Span),
        (head, head_span): (&Joined, Span),
        arrow: ast::Arrow,
        name: Option<NamedBondId>,
    ) {
        let Some(tail) = self.endpoint(scope, tail, tail_span, Direction::OutOf) else {
            return;
        };
        let Some(head) = self.endpoint(scope, head, head_span, Direction::Into) else {
            return;
        };
        self.join_endpoints(scope, (tail, tail_span), (head, head_span), arrow, name);
    }

    fn endpoint(
        &mut self,
        scope: ScopeId,
        joined: &Joined,
        span: Span,
        direction: Direction,
    ) -> Option<Endpoint> {
        match joined {
            Joined::Fixed => {
                let thing = self.add_thing(None, ElementKind::Sf, None, scope, span);
                self.things[thing.at()].is_fixed = true;
                Some(Endpoint::One(Terminal::Thing { thing, port: 0 }))
            }
            Joined::Tuple(parts) => {
                let mut all = Vec::with_capacity(parts.len());
                for (part, part_span) in parts {
                    match self.endpoint(scope, part, *part_span, direction)? {
                        Endpoint::One(t) => all.push(t),
                        Endpoint::Many(list) => all.extend(list),
                        Endpoint::Flexible { .. } | Endpoint::Composite(_) => {
                            let at = *part_span;
                            self.report.add(code::NOT_A_NODE, at, || {
                                Diagnostic::error(
                                    code::NOT_A_NODE,
                                    "a tuple holds junctions, one-ports and their components",
                                )
                                .primary(at, "cannot be one of several components")
                            });
                            return None;
                        }
                    }
                }
                Some(Endpoint::Many(all))
            }
            Joined::Target(target) => {
                let target = target.clone();
                self.target_endpoint(&target, span, direction)
            }
        }
    }

    fn target_endpoint(
        &mut self,
        target: &Target,
        span: Span,
        direction: Direction,
    ) -> Option<Endpoint> {
        match *target {
            Target::Thing { thing, component } => {
                let t = &self.things[thing.at()];
                if is_two_port(t) {
                    let side = u32::from(direction == Direction::OutOf);
                    return Some(Endpoint::Flexible { thing, side });
                }
                Some(match component {
                    Some(k) => Endpoint::One(Terminal::Thing { thing, port: k }),
                    None if t.is_vector => Endpoint::Many(
                        (0..t.size)
                            .map(|port| Terminal::Thing { thing, port })
                            .collect(),
                    ),
                    None => Endpoint::One(Terminal::Thing { thing, port: 0 }),
                })
            }
            Target::Instance(part) => {
                let ports = &self.instances[part.at()].ports;
                let port = match direction {
                    Direction::Into => ports.first(),
                    Direction::OutOf => ports.get(1).or(ports.first()),
                };
                match port.copied() {
                    Some(port) => self.target_endpoint(&Target::Port(port), span, direction),
                    None => {
                        let model = self.instances[part.at()].model;
                        self.report.add(code::NO_PORT, span, || {
                            Diagnostic::error(
                                code::NO_PORT,
                                format!("`{}` has no port", model.name.text),
                            )
                            .primary(span, "nothing a bond could join")
                            .secondary(model.name.span, "declare one here: `port name: domain`")
                        });
                        None
                    }
                }
            }
            Target::Port(port) => {
                if let Some(bound) = self.settled(|this| this.follow_port(port))? {
                    return self.target_endpoint(&bound, span, direction);
                }
                if self.ports[port.at()].members.is_some() {
                    return Some(Endpoint::Composite(port));
                }
                Some(self.slot_endpoint(port, WHOLE_PORT, None))
            }
            Target::Member {
                port,
                member,
                component,
            } => {
                if member != WHOLE_PORT
                    && let Some(bound) = self.settled(|this| this.bound_member(port, member))?
                {
                    let endpoint = self.target_endpoint(&bound, span, direction)?;
                    return match (endpoint, component) {
                        (Endpoint::Many(list), Some(k)) => {
                            list.get(k as usize).map(|t| Endpoint::One(*t))
                        }
                        (endpoint, _) => Some(endpoint),
                    };
                }
                Some(self.slot_endpoint(port, member, component))
            }
            Target::Value(_) | Target::Side { .. } | Target::Bond(_) | Target::System => {
                self.report.add(code::NOT_A_NODE, span, || {
                    Diagnostic::error(code::NOT_A_NODE, "a bond cannot end here")
                        .primary(span, "not a junction, element, part or port")
                });
                None
            }
        }
    }

    /// Repeats something that may wait for definitions.
    fn settled<T>(&mut self, mut f: impl FnMut(&mut Self) -> Result<T, Stop>) -> Option<T> {
        loop {
            match f(self) {
                Ok(value) => return Some(value),
                Err(Stop::Reported) => return None,
                Err(Stop::Blocked(def)) => self.settle(def),
            }
        }
    }

    fn slot_endpoint(&self, port: PortId, member: u32, component: Option<u32>) -> Endpoint {
        let (first, size, is_vector) = self.slots_of(port, member);
        match component {
            Some(k) => Endpoint::One(Terminal::Slot(first + k)),
            None if is_vector => {
                Endpoint::Many((first..first + size).map(Terminal::Slot).collect())
            }
            None => Endpoint::One(Terminal::Slot(first)),
        }
    }

    fn join_endpoints(
        &mut self,
        scope: ScopeId,
        (tail, tail_span): (Endpoint, Span),
        (head, head_span): (Endpoint, Span),
        arrow: ast::Arrow,
        name: Option<NamedBondId>,
    ) {
        use Endpoint as E;
        let (tails, heads) = match (tail, head) {
            (E::Composite(a), E::Composite(b)) => {
                self.join_composites(scope, (a, tail_span), (b, head_span), arrow, name);
                return;
            }
            (E::Composite(_), _) | (_, E::Composite(_)) => {
                self.report.add(code::SIZE_MISMATCH, arrow.span, || {
                    Diagnostic::error(
                        code::SIZE_MISMATCH,
                        "a composite port can only be joined to one of its kind",
                    )
                    .primary(arrow.span, "this bond would join one to something else")
                    .help("join its members one by one: `port.rot => …`")
                });
                return;
            }
            // The commonest case by far, so it comes without lists.
            (E::One(tail), E::One(head)) => {
                self.add_edge(scope, tail, head, arrow, None, name);
                return;
            }
            (
                E::Flexible {
                    thing: a,
                    side: a_side,
                },
                E::Flexible {
                    thing: b,
                    side: b_side,
                },
            ) => {
                let n = if arrow.multi {
                    self.size_between(a, b)
                } else {
                    Some(1)
                };
                let Some(n) = n else {
                    self.report.add(code::SIZE_MISMATCH, arrow.span, || {
                        Diagnostic::error(
                            code::SIZE_MISMATCH,
                            "the size of this multibond is not known",
                        )
                        .primary(arrow.span, "both ends follow the other")
                        .help("put a junction with a size between them: `=> j: 0[3] =>`")
                    });
                    return;
                };
                (
                    self.two_port_side(a, a_side, n, arrow),
                    self.two_port_side(b, b_side, n, arrow),
                )
            }
            (E::Flexible { thing, side }, other) => {
                let heads = terminals(other);
                (
                    self.two_port_side(thing, side, heads.len() as u32, arrow),
                    Some(heads),
                )
            }
            (other, E::Flexible { thing, side }) => {
                let tails = terminals(other);
                let n = tails.len() as u32;
                (Some(tails), self.two_port_side(thing, side, n, arrow))
            }
            (a, b) => (Some(terminals(a)), Some(terminals(b))),
        };
        let (Some(tails), Some(heads)) = (tails, heads) else {
            return;
        };
        if tails.len() != heads.len() || (!arrow.multi && tails.len() != 1) {
            let (n, m) = (tails.len(), heads.len());
            self.report.add(code::SIZE_MISMATCH, arrow.span, || {
                let message = Diagnostic::error(
                    code::SIZE_MISMATCH,
                    if n == m {
                        format!("a bond of {n} components is written `=>`")
                    } else {
                        format!("a bond joins {n} to {m} components")
                    },
                )
                .primary(arrow.span, "this bond")
                .secondary(tail_span, components(n))
                .secondary(head_span, components(m));
                if n == m {
                    message.help("write `=>`")
                } else {
                    message
                }
            });
            return;
        }
        let group = arrow
            .multi
            .then(|| self.add_group(None, None, tails.len() as u32, arrow.span));
        for (k, (tail, head)) in tails.into_iter().zip(heads).enumerate() {
            let group = group.map(|g| (g, k as u32));
            self.add_edge(scope, tail, head, arrow, group, name);
        }
    }

    /// Gives the size of a multibond between two two-ports from the shape of their matrices.
    fn size_between(&mut self, tail: ThingId, head: ThingId) -> Option<u32> {
        let shape = |this: &mut Self, thing: ThingId| {
            let (written, scope) = {
                let t = &this.things[thing.at()];
                (t.written, t.scope)
            };
            let arg = written?.args.as_ref()?.first()?;
            this.guess(&arg.value, scope, 0).shape
        };
        if let Some(Shape::Matrix(rows, _)) = shape(self, tail) {
            return Some(rows);
        }
        match shape(self, head) {
            Some(Shape::Matrix(_, columns)) => Some(columns),
            _ => None,
        }
    }

    /// Fixes the size of one side of a two-port and gives its ends.
    fn two_port_side(
        &mut self,
        thing: ThingId,
        side: u32,
        n: u32,
        arrow: ast::Arrow,
    ) -> Option<Vec<Terminal>> {
        let t = &mut self.things[thing.at()];
        let known = if side == 0 {
            &mut t.size
        } else {
            &mut t.size_out
        };
        let is_taken =
            t.bonds.iter().any(|(p, _)| p % 2 == side) || self.taken_sides.contains(&(thing, side));
        if is_taken || (*known != 0 && *known != n && t.written.is_none_or(|w| w.size.is_none())) {
            let (span, kind) = (t.span, t.kind);
            self.report.add(code::PORT_TWICE, arrow.span, || {
                let which = if side == 0 { "entrance" } else { "exit" };
                Diagnostic::error(
                    code::PORT_TWICE,
                    format!("the {which} of this {} is joined twice", kind.letters()),
                )
                .primary(arrow.span, "a second bond")
                .secondary(span, "it has one bond in and one bond out")
            });
            return None;
        }
        *known = n;
        if arrow.multi {
            t.is_vector = true;
        }
        self.taken_sides.insert((thing, side));
        Some(
            (0..n)
                .map(|k| Terminal::Thing {
                    thing,
                    port: 2 * k + side,
                })
                .collect(),
        )
    }

    fn join_composites(
        &mut self,
        scope: ScopeId,
        (a, a_span): (PortId, Span),
        (b, b_span): (PortId, Span),
        arrow: ast::Arrow,
        name: Option<NamedBondId>,
    ) {
        let names = |this: &Self, port: PortId| -> Vec<String> {
            let members = this.ports[port.at()].members.as_deref().unwrap_or(&[]);
            members.iter().map(|m| m.name.text.to_string()).collect()
        };
        if names(self, a) != names(self, b) {
            self.report.add(code::SIZE_MISMATCH, arrow.span, || {
                Diagnostic::error(code::SIZE_MISMATCH, "ports of different kinds are joined")
                    .primary(arrow.span, "this bond")
                    .secondary(a_span, "this port")
                    .secondary(b_span, "and this one")
            });
            return;
        }
        let n = self.ports[a.at()].members.as_ref().map_or(0, Vec::len) as u32;
        for member in 0..n {
            let is_power = |this: &Self, port: PortId| {
                matches!(
                    this.ports[port.at()]
                        .members
                        .as_ref()
                        .map(|m| &m[member as usize].what),
                    Some(MemberKind::Power { .. })
                )
            };
            if !is_power(self, a) {
                continue;
            }
            let end = |port| Target::Member {
                port,
                member,
                component: None,
            };
            let tail = self.target_endpoint(&end(a), a_span, Direction::OutOf);
            let head = self.target_endpoint(&end(b), b_span, Direction::Into);
            if let (Some(tail), Some(head)) = (tail, head) {
                let arrow = ast::Arrow {
                    multi: true,
                    ..arrow
                };
                self.join_endpoints(scope, (tail, a_span), (head, b_span), arrow, name);
            }
        }
        let (a, b) = (self.net_of(a), self.net_of(b));
        // The smaller id stands for the net, so that the result does not depend on the order.
        self.ports[a.max(b).at()].net = a.min(b);
    }

    /// Gives the representative of the net that a composite port belongs to.
    pub(super) fn net_of(&mut self, port: PortId) -> PortId {
        let mut root = port;
        while self.ports[root.at()].net != root {
            root = self.ports[root.at()].net;
        }
        let mut at = port;
        while at != root {
            at = std::mem::replace(&mut self.ports[at.at()].net, root);
        }
        root
    }

    fn find_givers(&mut self) {
        for at in 0..self.ports.len() {
            let port = PortId(at as u32);
            let decl = self.ports[at].decl;
            if self.ports[at].members.is_none()
                || !matches!(decl.binding, Some(ast::PortBinding::Members(_)))
            {
                continue;
            }
            let net = self.net_of(port);
            match self.net_givers.get(&net) {
                None => {
                    self.net_givers.insert(net, port);
                }
                Some(&other) => {
                    let has_signals = self.ports[at]
                        .members
                        .as_ref()
                        .is_some_and(|m| m.iter().any(|m| matches!(m.what, MemberKind::Signal(_))));
                    if !has_signals {
                        continue;
                    }
                    let names = &self.graph.signals.names;
                    let (one, two) = (
                        names.display(self.ports[other.at()].path),
                        names.display(self.ports[at].path),
                    );
                    let span = self.instances[self.ports[at].instance.at()].span;
                    let other_span = self.instances[self.ports[other.at()].instance.at()].span;
                    self.report.add(code::GIVERS, span, || {
                        Diagnostic::error(
                            code::GIVERS,
                            format!("`{one}` and `{two}` are joined and both give their signals"),
                        )
                        .primary(span, "gives its own position")
                        .secondary(other_span, "so does this one")
                        .help("put a joint between two bodies")
                    });
                }
            }
        }
    }

    // -------------------------------------------------------------------------------
    // Scalar bonds
    // -------------------------------------------------------------------------------

    fn add_edge(
        &mut self,
        scope: ScopeId,
        tail: Terminal,
        head: Terminal,
        arrow: ast::Arrow,
        group: Option<(GroupId, u32)>,
        name: Option<NamedBondId>,
    ) {
        if let (Terminal::Thing { .. }, Terminal::Thing { .. }) = (tail, head) {
            let forced = arrow.stroke.map(stroke_of);
            self.make_bond(tail, head, forced, arrow.span, group, name);
            return;
        }
        let edge = self.edges.len() as u32;
        let instance = self.scopes[scope.at()].instance;
        for end in [tail, head] {
            let Terminal::Slot(slot) = end else { continue };
            let port = self.slots[slot as usize].port;
            let is_inside = instance == Some(self.ports[port.at()].instance);
            let slot = &mut self.slots[slot as usize];
            let place = if is_inside {
                &mut slot.inside
            } else {
                &mut slot.outside
            };
            if let Some(first) = *place {
                let first = self.edges[first as usize].arrow.span;
                let decl = self.ports[port.at()].decl;
                self.report.add(code::PORT_TWICE, arrow.span, || {
                    let place = if is_inside { "inside" } else { "outside" };
                    Diagnostic::error(
                        code::PORT_TWICE,
                        format!("port `{}` has two bonds {place}", decl.name.text),
                    )
                    .primary(arrow.span, "a second bond")
                    .secondary(first, "the first")
                    .help(format!(
                        "let it stand for a junction, which joins any number: `port {}: … = junction`",
                        decl.name.text
                    ))
                });
                return;
            }
            *place = Some(edge);
        }
        let depth = instance.map_or(0, |i| self.instances[i.at()].depth);
        self.edges.push(Edge {
            tail,
            head,
            arrow,
            group,
            name,
            depth,
        });
    }

    /// Contracts every path through open ports to one bond.
    fn splice_ports(&mut self) {
        let mut is_used = vec![false; self.edges.len()];
        if self.is_lenient {
            self.close_top_ports(&mut is_used);
        }
        for start in 0..self.edges.len() {
            if is_used[start] {
                continue;
            }
            let edge = self.edges[start];
            let forward = match (edge.tail, edge.head) {
                (Terminal::Thing { .. }, _) => true,
                (_, Terminal::Thing { .. }) => false,
                _ => continue,
            };
            self.splice_from(start, forward, &mut is_used);
        }
        self.report_open_slots();
    }

    fn splice_from(&mut self, start: usize, forward: bool, is_used: &mut [bool]) {
        let first = self.edges[start];
        let begin = if forward { first.tail } else { first.head };
        let mut at = start;
        let mut passed = Vec::new();
        let (mut forced, mut name, mut group) = (None, None, None);
        // The bond stands where a reader looks first: in the outermost part.
        let mut outermost = first;
        loop {
            is_used[at] = true;
            let edge = self.edges[at];
            if edge.depth < outermost.depth {
                outermost = edge;
            }
            name = name.or(edge.name);
            group = group.or(edge.group);
            if let Some(stroke) = edge.arrow.stroke.map(stroke_of) {
                if forced.is_some_and(|f| f != stroke) {
                    let span = edge.arrow.span;
                    self.report.add(code::STROKES, span, || {
                        Diagnostic::error(code::STROKES, "two strokes are forced on one bond")
                            .primary(span, "against the stroke on the other side of the port")
                    });
                }
                forced = forced.or(Some(stroke));
            }
            let end = if forward { edge.head } else { edge.tail };
            let Terminal::Slot(slot) = end else {
                let (tail, head) = if forward { (begin, end) } else { (end, begin) };
                if let Some(bond) =
                    self.make_bond(tail, head, forced, outermost.arrow.span, group, name)
                {
                    for slot in passed {
                        self.slots[slot as usize].bond = Some(bond);
                    }
                }
                return;
            };
            passed.push(slot);
            let Slot {
                inside,
                outside,
                port,
                ..
            } = self.slots[slot as usize];
            let next = if inside == Some(at as u32) {
                outside
            } else {
                inside
            };
            // An open end is reported with the slots.
            let Some(next) = next else { return };
            let onward = self.edges[next as usize];
            let entered = if forward { onward.tail } else { onward.head };
            if entered != end {
                let decl = self.ports[port.at()].decl;
                let (span, other) = (onward.arrow.span, edge.arrow.span);
                self.report.add(code::AGAINST_ARROW, span, || {
                    Diagnostic::error(
                        code::AGAINST_ARROW,
                        format!(
                            "the arrows at port `{}` point against each other",
                            decl.name.text
                        ),
                    )
                    .primary(span, "this bond")
                    .secondary(other, "and this one become one bond")
                    .help("turn one of the arrows, or let the port stand for a junction")
                });
                is_used[next as usize] = true;
                for end in [edge.tail, edge.head, onward.tail, onward.head, begin] {
                    if let Terminal::Thing { thing, .. } = end {
                        self.things[thing.at()].is_excused = true;
                    }
                }
                return;
            }
            if is_used[next as usize] {
                return;
            }
            at = next as usize;
        }
    }

    /// A model checked alone has ports that nothing joins from outside: a source of unknown
    /// effort stands in for the rest of the world.
    fn close_top_ports(&mut self, is_used: &mut Vec<bool>) {
        for slot in 0..self.slots.len() {
            let Slot {
                port,
                inside,
                outside,
                ..
            } = self.slots[slot];
            let instance = self.ports[port.at()].instance;
            let (Some(inside), None) = (inside, outside) else {
                continue;
            };
            if self.instances[instance.at()].parent.is_some() {
                continue;
            }
            let (span, scope) = (
                self.ports[port.at()].decl.name.span,
                self.ports[port.at()].scope,
            );
            let thing = self.add_thing(None, ElementKind::Se, None, scope, span);
            self.things[thing.at()].is_fixed = true;
            let end = Terminal::Thing { thing, port: 0 };
            let edge = self.edges[inside as usize];
            let here = Terminal::Slot(slot as u32);
            let arrow = ast::Arrow {
                stroke: None,
                ..edge.arrow
            };
            let (tail, head) = if edge.tail == here {
                (end, here)
            } else {
                (here, end)
            };
            self.slots[slot].outside = Some(self.edges.len() as u32);
            self.edges.push(Edge {
                tail,
                head,
                arrow,
                group: None,
                name: None,
                depth: 0,
            });
            is_used.push(false);
        }
    }

    fn report_open_slots(&mut self) {
        for slot in 0..self.slots.len() {
            let Slot {
                port,
                inside,
                outside,
                ..
            } = self.slots[slot];
            if inside.is_some() && outside.is_some() {
                continue;
            }
            let p = &self.ports[port.at()];
            let (decl, instance) = (p.decl, p.instance);
            let is_top = self.instances[instance.at()].parent.is_none();
            // A part alone leaves its ports open, and a base model may leave joining them to those that extend it.
            if is_top && self.is_lenient {
                continue;
            }
            if self.incomplete.contains(&instance) {
                continue;
            }
            if let Some(edge) = inside.or(outside) {
                for end in [
                    self.edges[edge as usize].tail,
                    self.edges[edge as usize].head,
                ] {
                    if let Terminal::Thing { thing, .. } = end {
                        self.things[thing.at()].is_excused = true;
                    }
                }
            }
            let part = &self.instances[instance.at()];
            let name = &decl.name.text;
            let (span, text, help) = match inside {
                None => (
                    decl.name.span,
                    "no bond inside".to_owned(),
                    format!(
                        "join it inside the model, or let it stand for a junction: `port {name}: … = junction`"
                    ),
                ),
                Some(_) if is_top => (
                    decl.name.span,
                    "this model is used alone, so nothing is outside".to_owned(),
                    "use the model as a part of another one".to_owned(),
                ),
                Some(_) => (
                    part.span,
                    format!("nothing is joined to `{name}` of this part"),
                    "every open port has exactly one bond outside".to_owned(),
                ),
            };
            let code = code::PORT_OPEN;
            if self.told_missing.insert((span, decl.name.span)) {
                let mut message =
                    Diagnostic::error(code, format!("port `{name}` is not connected"))
                        .primary(span, text)
                        .help(help);
                if span != decl.name.span {
                    message = message.secondary(decl.name.span, "declared here");
                }
                self.report.list.push(message);
            }
        }
    }

    /// Makes a scalar bond with its effort and flow.
    pub(super) fn make_bond(
        &mut self,
        tail: Terminal,
        head: Terminal,
        forced: Option<Stroke>,
        span: Span,
        group: Option<(GroupId, u32)>,
        named: Option<NamedBondId>,
    ) -> Option<u32> {
        let (
            Terminal::Thing {
                thing: mut tail,
                port: mut tail_port,
            },
            Terminal::Thing {
                thing: mut head,
                port: mut head_port,
            },
        ) = (tail, head)
        else {
            return None;
        };
        let tail_kind = self.things[tail.at()].kind;
        if takes_power(&self.things[tail.at()]) {
            let (letters, at) = (tail_kind.letters(), self.things[tail.at()].span);
            self.report.add(code::ARROW_OUT, span, || {
                Diagnostic::error(code::ARROW_OUT, format!("an arrow leaves the {letters}"))
                    .primary(
                        span,
                        "power flows along the arrow, and this element takes power",
                    )
                    .secondary(at, format!("the {letters}"))
                    .help(
                        "turn the arrow, or swap both sides: it must point into R, C, I, Sw and D",
                    )
            });
            if takes_power(&self.things[head.at()]) {
                return None;
            }
            // Go on as if it were right, so that nothing else is reported for it.
            (tail, head) = (head, tail);
            (tail_port, head_port) = (head_port, tail_port);
        }
        for (thing, port) in [(tail, tail_port), (head, head_port)] {
            let t = &self.things[thing.at()];
            if !t.kind.is_junction()
                && let Some(&(_, first)) = t.bonds.iter().find(|(p, _)| *p == port)
            {
                let origin = self.graph.bonds[first as usize].origin;
                let first = self.graph.span(origin);
                let (letters, name) = (t.kind.letters(), self.thing_name(thing));
                self.report.add(code::PORT_TWICE, span, || {
                    let message =
                        Diagnostic::error(code::PORT_TWICE, format!("{name} is on two bonds"))
                            .primary(span, "a second bond");
                    let message = match first == span {
                        true => message,
                        false => message.secondary(first, "the first"),
                    };
                    message.help(format!(
                        "a port of an {letters} is on one bond; join several at a junction"
                    ))
                });
                return None;
            }
        }
        let id = self.graph.bonds.len() as u32;
        let origin = self.origin(span);
        let bond_name = named.map(|n| self.named_bonds[n.at()].path);
        let (effort, flow) = self.bond_symbols(tail, head, tail_port, head_port, bond_name, span);
        self.things[tail.at()].bonds.push((tail_port, id));
        self.things[head.at()].bonds.push((head_port, id));
        if let Some(named) = named {
            self.named_bonds[named.at()].bonds.push(id);
        }
        let end = |thing: ThingId, port: u32| End {
            element: ElementId(thing.0),
            port,
        };
        self.graph.bonds.push(Bond {
            // Things stand in for elements until these are made.
            tail: end(tail, tail_port),
            head: end(head, head_port),
            effort,
            flow,
            forced,
            name: bond_name,
            part_of: group,
            domain: None,
            origin,
        });
        Some(id)
    }

    /// Names effort and flow after what the user calls them: `c1.e`, `node.e`, `mesh.f`.
    fn bond_symbols(
        &mut self,
        tail: ThingId,
        head: ThingId,
        tail_port: u32,
        head_port: u32,
        named: Option<PathId>,
        span: Span,
    ) -> (SymbolId, SymbolId) {
        let origin = self.origin(span);
        let (effort, flow) = match named {
            Some(path) => {
                let names = &mut self.graph.signals.names;
                (names.child(path, "e", None), names.child(path, "f", None))
            }
            None => (
                self.variable_name(tail, head, tail_port, head_port, "e", ElementKind::Zero),
                self.variable_name(tail, head, tail_port, head_port, "f", ElementKind::One),
            ),
        };
        let mut add = |name| {
            self.graph.signals.add_symbol(Symbol {
                name,
                role: Role::Unknown,
                nominal: 0.0,
                origin,
            })
        };
        (add(effort), add(flow))
    }

    fn variable_name(
        &mut self,
        tail: ThingId,
        head: ThingId,
        tail_port: u32,
        head_port: u32,
        letter: &str,
        shared_at: ElementKind,
    ) -> PathId {
        let ends = [(head, head_port), (tail, tail_port)];
        // An element's own bond is named after it.
        for (thing, port) in ends {
            let t = &self.things[thing.at()];
            let (Some(name), false) = (t.name, t.kind.is_junction()) else {
                continue;
            };
            let names = &mut self.graph.signals.names;
            return if is_two_port(t) {
                let side = names.child(name, if port % 2 == 0 { "in" } else { "out" }, None);
                let index = t.is_vector.then(|| i64::from(port / 2) + 1);
                names.child(side, letter, index)
            } else {
                let index = t.is_vector.then(|| i64::from(port) + 1);
                names.child(name, letter, index)
            };
        }
        // The variable that all bonds of a junction share is named after the junction.
        for (thing, port) in ends {
            let t = &self.things[thing.at()];
            if let (Some(name), true) = (t.name, t.kind == shared_at) {
                let index = t.is_vector.then(|| i64::from(port) + 1);
                return self.graph.signals.names.child(name, letter, index);
            }
        }
        // Otherwise: what leaves a junction towards something, `turn.to.along.e`.
        let (from, to) = (self.things[tail.at()].name, self.things[head.at()].name);
        let letters = |this: &Self, thing: ThingId| this.things[thing.at()].kind.letters();
        let (base, word, other) = match (from, to) {
            (Some(from), _) => (from, "to", (to, letters(self, head), tail_port)),
            (None, Some(to)) => (to, "from", (None, letters(self, tail), head_port)),
            (None, None) => (Names::ROOT, "bond", (None, letters(self, head), tail_port)),
        };
        let names = &mut self.graph.signals.names;
        let way = names.child(base, word, None);
        let towards = match other.0 {
            Some(path) => {
                let (text, index) = names.last(path);
                let text = text.to_owned();
                names.child(way, &text, index)
            }
            None => names.child(way, other.1, None),
        };
        let name = names.child(towards, letter, None);
        // Several unnamed things between the same two are told apart by number.
        let count = self.unnamed_bonds.entry(name).or_insert(0);
        *count += 1;
        match (*count, names.parent(towards)) {
            (1, _) | (_, None) => name,
            (n, Some(way)) => {
                let text = names.last(towards).0.to_owned();
                let towards = names.child(way, &text, Some(n));
                names.child(towards, letter, None)
            }
        }
    }

    /// Names a thing for messages.
    pub(super) fn thing_name(&self, thing: ThingId) -> String {
        let t = &self.things[thing.at()];
        match t.name {
            Some(name) => format!("`{}`", self.graph.signals.names.display(name)),
            None => format!("the {} without a name", t.kind.letters()),
        }
    }
}

fn terminals(endpoint: Endpoint) -> Vec<Terminal> {
    match endpoint {
        Endpoint::One(t) => vec![t],
        Endpoint::Many(list) => list,
        Endpoint::Flexible { .. } | Endpoint::Composite(_) => Vec::new(),
    }
}

fn components(n: usize) -> String {
    match n {
        1 => "one component".to_owned(),
        n => format!("{n} components"),
    }
}

/// Names an element for a message about its ports.
fn in_words(thing: &Thing<'_>) -> String {
    match thing.kind {
        ElementKind::Zero => "a 0-junction".to_owned(),
        ElementKind::One => "a 1-junction".to_owned(),
        ElementKind::I
        | ElementKind::R
        | ElementKind::Rs
        | ElementKind::Se
        | ElementKind::Sf
        | ElementKind::Sw => {
            format!("an {}", thing.kind.letters())
        }
        kind => format!("a {}", kind.letters()),
    }
}

fn stroke_of(at: ast::StrokeAt) -> Stroke {
    match at {
        ast::StrokeAt::Tail => Stroke::Tail,
        ast::StrokeAt::Head => Stroke::Head,
    }
}

fn takes_power(thing: &Thing<'_>) -> bool {
    match thing.kind {
        ElementKind::R | ElementKind::C | ElementKind::I | ElementKind::Sw | ElementKind::D => true,
        ElementKind::Gy => thing.is_one_port_gyrator(),
        _ => false,
    }
}
