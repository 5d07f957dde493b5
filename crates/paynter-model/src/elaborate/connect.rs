//! Second pass: chains become edges, and edges bonds.
//!
//! In:  the chains as collected, and the things and ports they name.
//! Out: for each arrow its two ends, matched in size; `bonds`, `splice` and `composites` do the rest.
//!
//! **Invariant:** afterwards every port of an element that the text connects is on one bond,
//! and no bond ends at a port of a part. Linear in the number of bonds.

use paynter_syntax::{Diagnostic, Span, ast};

use super::data::*;
use super::lower::{Ctx, Stop, Target};
use super::models::Made;
use super::read::{WHOLE_PORT, is_two_port};
use super::value::Shape;
use super::{Elaborator, Phase, code};
use crate::graph::ElementKind;

/// One end of an arrow.
#[derive(Clone, Debug)]
pub(super) enum Endpoint {
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
pub(super) enum Direction {
    Into,
    OutOf,
}

impl<'a> Elaborator<'a> {
    /// Makes all bonds.
    pub(super) fn connect(&mut self) {
        let chains = std::mem::take(&mut self.pending.chains);
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
        self.told.is_port_told = false;
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
                        let before = (self.graph.bonds.len(), self.wiring.edges.len());
                        self.wiring.followed.clear();
                        self.arrow(scope, (tail, *tail_span), (head, *head_span), arrow, name);
                        self.note_followed(before);
                        if before == (self.graph.bonds.len(), self.wiring.edges.len()) {
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

    /// Notes that a bond of a thing was meant but could not be made: what it lacks is not news.
    fn excuse(&mut self, joined: &Joined) {
        match joined {
            Joined::Target(Target::Thing { thing, .. }) => {
                self.tables.things[thing.at()].is_excused = true;
            }
            Joined::Target(Target::Instance(part)) => {
                self.excused.incomplete_parts.insert(*part);
            }
            Joined::Target(Target::Port(port)) => {
                self.excused.ports.insert(*port);
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
                let instance = self.tables.scopes[scope.at()].instance?;
                let parent = self.tables.instances[instance.at()].path;
                let path = self.indexed_path(parent, scope, &name.text, index)?;
                match self.tables.entity(path) {
                    // A second thing of that name was refused where it is made.
                    Entity::Thing(thing) if self.tables.things[thing.at()].span == name.span => {
                        Some(Joined::Target(Target::Thing {
                            thing,
                            component: None,
                        }))
                    }
                    Entity::Instance(part)
                        if self.tables.instances[part.at()].span == name.span =>
                    {
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
                    match self.ref_target(r, Ctx::of_part(scope)) {
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
        let Some(instance) = self.tables.scopes[scope.at()].instance else {
            return false;
        };
        let parent = self.tables.instances[instance.at()].path;
        let Some(path) = self.indexed_path(parent, scope, &first.name.text, &first.index) else {
            return false;
        };
        let Entity::Thing(thing) = self.tables.entity(path) else {
            return false;
        };
        let t = &self.tables.things[thing.at()];
        let is_component = t.is_vector && super::lower::letter_component(&port.name.text).is_some();
        if is_component || t.kind.is_junction() && t.is_vector {
            return false;
        }

        self.tables.things[thing.at()].is_excused = true;
        let is_told = std::mem::replace(&mut self.told.is_port_told, true);
        if is_told {
            return true;
        }

        let (span, kind) = (r.span, in_words(&self.tables.things[thing.at()]));
        let before = Span {
            end: port.name.span.start,
            ..span
        };
        let name = self.project.sources.text(before).trim();
        let name = name.trim_end_matches('.');
        report!(self, code::NOT_A_NODE, span, "a bond cannot end at `{name}.{}`", port.name.text;
            "the ports of {kind} have no names";
            help: "write the name alone: `{name}`");
        true
    }

    fn anonymous(&mut self, scope: ScopeId, kind: &'a ast::Kind, span: Span) -> Option<Joined> {
        let element = match &kind.head {
            ast::KindHead::Zero(_) => ElementKind::Zero,
            ast::KindHead::One(_) => ElementKind::One,
            ast::KindHead::Named(path) => {
                let file = self.tables.scopes[scope.at()].file;
                match self.made(path, file, kind.law.is_some()) {
                    Some(Made::Element(kind)) => kind,
                    None => return None,
                    Some(Made::Model(..)) => {
                        report!(self, code::NOT_A_NODE, span, "a part needs a name";
                            "made here without one";
                            help: "write `name: Model(…)`");
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
                self.tables.things[thing.at()].is_fixed = true;
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
                            report!(self, code::NOT_A_NODE, at, "a tuple holds junctions, one-ports and their components";
                                "cannot be one of several components");
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

    pub(super) fn target_endpoint(
        &mut self,
        target: &Target,
        span: Span,
        direction: Direction,
    ) -> Option<Endpoint> {
        match *target {
            Target::Thing { thing, component } => {
                Some(self.thing_endpoint(thing, component, direction))
            }
            Target::Instance(part) => self.part_endpoint(part, span, direction),
            Target::Port(port) => {
                if let Some(bound) = self.settled(|this| this.follow_port(port))? {
                    self.wiring.followed.push(port);
                    return self.target_endpoint(&bound, span, direction);
                }
                if self.tables.ports[port.at()].members.is_some() {
                    return Some(Endpoint::Composite(port));
                }
                Some(self.tables.slot_endpoint(port, WHOLE_PORT, None))
            }
            Target::Member {
                port,
                member,
                component,
            } => {
                if member != WHOLE_PORT
                    && let Some(bound) = self.settled(|this| this.bound_member(port, member))?
                {
                    self.wiring.followed.push(port);
                    let endpoint = self.target_endpoint(&bound, span, direction)?;
                    return match (endpoint, component) {
                        (Endpoint::Many(list), Some(k)) => {
                            list.get(k as usize).map(|t| Endpoint::One(*t))
                        }
                        (endpoint, _) => Some(endpoint),
                    };
                }
                Some(self.tables.slot_endpoint(port, member, component))
            }
            Target::Value(_) | Target::Side { .. } | Target::Bond(_) | Target::System => {
                report!(self, code::NOT_A_NODE, span, "a bond cannot end here"; "not a junction, element, part or port");
                None
            }
        }
    }

    fn thing_endpoint(
        &self,
        thing: ThingId,
        component: Option<u32>,
        direction: Direction,
    ) -> Endpoint {
        let t = &self.tables.things[thing.at()];
        if is_two_port(t) {
            let side = u32::from(direction == Direction::OutOf);
            return Endpoint::Flexible { thing, side };
        }
        let terminal = |port| Terminal::Thing { thing, port };
        match component {
            Some(k) => Endpoint::One(terminal(k)),
            None if t.is_vector => Endpoint::Many((0..t.size).map(terminal).collect()),
            None => Endpoint::One(terminal(0)),
        }
    }

    /// An arrow into a part uses its first port, one out of it the second.
    fn part_endpoint(
        &mut self,
        part: InstanceId,
        span: Span,
        direction: Direction,
    ) -> Option<Endpoint> {
        let ports = &self.tables.instances[part.at()].ports;
        let port = match direction {
            Direction::Into => ports.first(),
            Direction::OutOf => ports.get(1).or(ports.first()),
        };
        if let Some(&port) = port {
            return self.target_endpoint(&Target::Port(port), span, direction);
        }
        let model = self.tables.instances[part.at()].model;
        report!(self, code::NO_PORT, span, "`{}` has no port", model.name.text;
            "nothing a bond could join";
            beside model.name.span => "declare one here: `port name: domain`");
        None
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

    pub(super) fn join_endpoints(
        &mut self,
        scope: ScopeId,
        (tail, tail_span): (Endpoint, Span),
        (head, head_span): (Endpoint, Span),
        arrow: ast::Arrow,
        name: Option<NamedBondId>,
    ) {
        use Endpoint as E;
        let terminals = match (tail, head) {
            (E::Composite(a), E::Composite(b)) => {
                self.join_composites(scope, (a, tail_span), (b, head_span), arrow, name);
                return;
            }
            (E::Composite(_), _) | (_, E::Composite(_)) => {
                report!(self, code::SIZE_MISMATCH, arrow.span, "a composite port can only be joined to one of its kind";
                    "this bond would join one to something else";
                    help: "join its members one by one: `port.rot => …`");
                return;
            }
            // The commonest case by far, so it comes without lists.
            (E::One(tail), E::One(head)) => {
                self.add_edge(scope, tail, head, arrow, None, name);
                return;
            }
            (tail, head) => self.matching_terminals(tail, head, arrow),
        };

        let Some((tails, heads)) = terminals else {
            return;
        };

        if tails.len() != heads.len() || (!arrow.multi && tails.len() != 1) {
            self.report_sizes(arrow, (tails.len(), tail_span), (heads.len(), head_span));
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

    /// Lists the scalar ends of a bond; a two-port has as many as what it is joined to.
    fn matching_terminals(
        &mut self,
        tail: Endpoint,
        head: Endpoint,
        arrow: ast::Arrow,
    ) -> Option<(Vec<Terminal>, Vec<Terminal>)> {
        use Endpoint::Flexible;
        match (tail, head) {
            (
                Flexible {
                    thing: a,
                    side: a_side,
                },
                Flexible {
                    thing: b,
                    side: b_side,
                },
            ) => {
                let n = match arrow.multi {
                    true => self.size_between(a, b),
                    false => Some(1),
                };
                let Some(n) = n else {
                    report!(self, code::SIZE_MISMATCH, arrow.span, "the size of this multibond is not known";
                        "both ends follow the other";
                        help: "put a junction with a size between them: `=> j: 0[3] =>`");
                    return None;
                };
                // Both are looked at, so that both are reported.
                let tails = self.two_port_side(a, a_side, n, arrow);
                let heads = self.two_port_side(b, b_side, n, arrow);
                tails.zip(heads)
            }
            (Flexible { thing, side }, other) => {
                let heads = terminals(other);
                let tails = self.two_port_side(thing, side, heads.len() as u32, arrow)?;
                Some((tails, heads))
            }
            (other, Flexible { thing, side }) => {
                let tails = terminals(other);
                let heads = self.two_port_side(thing, side, tails.len() as u32, arrow)?;
                Some((tails, heads))
            }
            (a, b) => Some((terminals(a), terminals(b))),
        }
    }

    fn report_sizes(
        &mut self,
        arrow: ast::Arrow,
        (n, tail): (usize, Span),
        (m, head): (usize, Span),
    ) {
        self.report.add(code::SIZE_MISMATCH, arrow.span, || {
            let text = match n == m {
                true => format!("a bond of {n} components is written `=>`"),
                false => format!("a bond joins {n} to {m} components"),
            };
            let message = Diagnostic::error(code::SIZE_MISMATCH, text)
                .primary(arrow.span, "this bond")
                .secondary(tail, components(n))
                .secondary(head, components(m));
            match n == m {
                true => message.help("write `=>`"),
                false => message,
            }
        });
    }

    /// Gives the size of a multibond between two two-ports from the shape of their matrices.
    fn size_between(&mut self, tail: ThingId, head: ThingId) -> Option<u32> {
        let shape = |this: &mut Self, thing: ThingId| {
            let (written, scope) = {
                let t = &this.tables.things[thing.at()];
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
        let t = &mut self.tables.things[thing.at()];
        let known = if side == 0 {
            &mut t.size
        } else {
            &mut t.size_out
        };
        let is_taken = t.bonds.iter().any(|(p, _)| p % 2 == side)
            || self.wiring.taken_sides.contains(&(thing, side));
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
        self.wiring.taken_sides.insert((thing, side));
        Some(
            (0..n)
                .map(|k| Terminal::Thing {
                    thing,
                    port: 2 * k + side,
                })
                .collect(),
        )
    }
}

fn terminals(endpoint: Endpoint) -> Vec<Terminal> {
    match endpoint {
        Endpoint::One(t) => vec![t],
        Endpoint::Many(list) => list,
        Endpoint::Flexible { .. } | Endpoint::Composite(_) => Vec::new(),
    }
}

pub(super) fn components(n: usize) -> String {
    match n {
        1 => "one component".to_owned(),
        n => format!("{n} components"),
    }
}

/// Names an element for a message about its ports.
pub(super) fn in_words(thing: &Thing<'_>) -> String {
    let row = thing.kind.describe();
    match thing.kind.is_junction() {
        true => format!("a {}-junction", row.letters),
        false => format!("{} {}", row.article, row.letters),
    }
}
