//! Second pass, ports of parts: an edge inside and an edge outside become one bond.
//!
//! In:  edges that end at elements, junctions or slots of ports.
//! Out: bonds from element to element; ports of the top model closed; messages for open ones.
//!
//! **Invariant:** every edge becomes part of one bond, however many parts it passes through.

use paynter_syntax::{Diagnostic, ast};

use super::data::*;
use super::{Elaborator, code};
use crate::graph::{BondId, ElementKind, GroupId, Passage, Stroke};

impl<'a> Elaborator<'a> {
    pub(super) fn add_edge(
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

        let edge = self.wiring.edges.len() as u32;
        let instance = self.tables.scopes[scope.at()].instance;
        for end in [tail, head] {
            let Terminal::Slot(slot) = end else { continue };
            let port = self.wiring.slots[slot as usize].port;
            let is_inside = instance == Some(self.tables.ports[port.at()].instance);
            let slot = &mut self.wiring.slots[slot as usize];
            let place = if is_inside {
                &mut slot.inside
            } else {
                &mut slot.outside
            };
            if let Some(first) = *place {
                let first = self.wiring.edges[first as usize].arrow.span;
                let decl = self.tables.ports[port.at()].decl;
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

        let depth = instance.map_or(0, |i| self.tables.instances[i.at()].depth);
        self.wiring.edges.push(Edge {
            tail,
            head,
            arrow,
            group,
            name,
            depth,
        });
    }

    /// Notes the ports that stand for junctions with the bonds and edges made since then.
    pub(super) fn note_followed(&mut self, (bonds, edges): (usize, usize)) {
        for port in std::mem::take(&mut self.wiring.followed) {
            for bond in bonds..self.graph.bonds.len() {
                self.note_passage(bond as u32, port);
            }
            let made = edges as u32..self.wiring.edges.len() as u32;
            self.wiring.edge_ports.extend(made.map(|edge| (edge, port)));
        }
    }

    fn note_passage(&mut self, bond: u32, port: PortId) {
        let p = &self.tables.ports[port.at()];
        let is_signal = |m: &Member<'_>| matches!(m.what, MemberKind::Signal(_));
        self.graph.passages.push(Passage {
            bond: BondId(bond),
            port: p.path,
            carries_signals: p.members.iter().flatten().any(is_signal),
        });
    }

    /// Notes the ports of every spliced bond, open ones and those that stand for junctions.
    fn note_passages(&mut self, bond_of_edge: &[Option<u32>]) {
        for slot in 0..self.wiring.slots.len() {
            let Slot { bond, port, .. } = self.wiring.slots[slot];
            if let Some(bond) = bond {
                self.note_passage(bond, port);
            }
        }
        for (edge, port) in std::mem::take(&mut self.wiring.edge_ports) {
            if let Some(bond) = bond_of_edge[edge as usize] {
                self.note_passage(bond, port);
            }
        }
        self.graph.passages.sort_unstable();
        self.graph.passages.dedup();
    }

    /// Contracts every path through open ports to one bond.
    pub(super) fn splice_ports(&mut self) {
        let mut is_used = vec![false; self.wiring.edges.len()];
        if self.asked.is_lenient {
            self.close_top_ports(&mut is_used);
        }
        let mut bond_of_edge = vec![None; self.wiring.edges.len()];
        for start in 0..self.wiring.edges.len() {
            if is_used[start] {
                continue;
            }
            let edge = self.wiring.edges[start];
            let forward = match (edge.tail, edge.head) {
                (Terminal::Thing { .. }, _) => true,
                (_, Terminal::Thing { .. }) => false,
                _ => continue,
            };
            let n_bonds = self.graph.bonds.len();
            let way = self.splice_from(start, forward, &mut is_used);
            if self.graph.bonds.len() > n_bonds {
                for edge in way {
                    bond_of_edge[edge] = Some(n_bonds as u32);
                }
            }
        }
        self.note_passages(&bond_of_edge);
        self.report_open_slots();
    }

    /// Follows an edge from part to part and makes its bond; gives the edges on the way.
    fn splice_from(&mut self, start: usize, forward: bool, is_used: &mut [bool]) -> Vec<usize> {
        let first = self.wiring.edges[start];
        let begin = if forward { first.tail } else { first.head };
        let mut at = start;
        let (mut passed, mut way) = (Vec::new(), Vec::new());
        let (mut forced, mut name, mut group) = (None, None, None);

        // The bond is where a reader looks first: in the outermost part.
        let mut outermost = first;
        loop {
            is_used[at] = true;
            way.push(at);
            let edge = self.wiring.edges[at];
            if edge.depth < outermost.depth {
                outermost = edge;
            }
            name = name.or(edge.name);
            group = group.or(edge.group);
            forced = self.forced_so_far(forced, edge.arrow);
            let end = if forward { edge.head } else { edge.tail };
            let Terminal::Slot(slot) = end else {
                let (tail, head) = if forward { (begin, end) } else { (end, begin) };
                let made = self.make_bond(tail, head, forced, outermost.arrow.span, group, name);
                if made.is_some() {
                    for slot in passed {
                        self.wiring.slots[slot as usize].bond = made;
                    }
                }
                return way;
            };
            passed.push(slot);
            let Slot {
                inside,
                outside,
                port,
                ..
            } = self.wiring.slots[slot as usize];
            let next = if inside == Some(at as u32) {
                outside
            } else {
                inside
            };
            // An open end is reported with the slots.
            let Some(next) = next else { return way };
            let onward = self.wiring.edges[next as usize];
            let entered = if forward { onward.tail } else { onward.head };
            if entered != end {
                self.report_opposite_arrows(port, &edge, &onward);
                self.excuse_ends([edge.tail, edge.head, onward.tail, onward.head, begin]);
                is_used[next as usize] = true;
                return way;
            }
            if is_used[next as usize] {
                return way;
            }
            at = next as usize;
        }
    }

    /// A model checked alone has ports that nothing joins from outside: a source of unknown
    /// effort stands in for the rest of the world.
    fn close_top_ports(&mut self, is_used: &mut Vec<bool>) {
        for slot in 0..self.wiring.slots.len() {
            let Slot {
                port,
                inside,
                outside,
                ..
            } = self.wiring.slots[slot];
            let instance = self.tables.ports[port.at()].instance;
            let (Some(inside), None) = (inside, outside) else {
                continue;
            };
            if self.tables.instances[instance.at()].parent.is_some() {
                continue;
            }
            let (span, scope) = (
                self.tables.ports[port.at()].decl.name.span,
                self.tables.ports[port.at()].scope,
            );
            let thing = self.add_thing(None, ElementKind::Se, None, scope, span);
            self.tables.things[thing.at()].is_fixed = true;
            let end = Terminal::Thing { thing, port: 0 };
            let edge = self.wiring.edges[inside as usize];
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
            self.wiring.slots[slot].outside = Some(self.wiring.edges.len() as u32);
            self.wiring.edges.push(Edge {
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
        for slot in 0..self.wiring.slots.len() {
            let Slot {
                port,
                inside,
                outside,
                ..
            } = self.wiring.slots[slot];
            if inside.is_some() && outside.is_some() {
                continue;
            }
            let p = &self.tables.ports[port.at()];
            let (decl, instance) = (p.decl, p.instance);
            let is_top = self.tables.instances[instance.at()].parent.is_none();
            // A part alone leaves its ports open, and a base model may leave joining them to those that extend it.
            if is_top && self.asked.is_lenient {
                continue;
            }
            let is_excused = inside.is_some() && self.excused.ports.contains(&port);
            if is_excused || self.excused.incomplete_parts.contains(&instance) {
                continue;
            }
            if let Some(edge) = inside.or(outside) {
                let edge = self.wiring.edges[edge as usize];
                self.excuse_ends([edge.tail, edge.head]);
            }
            self.report_open_slot(decl, instance, inside.is_some());
        }
    }

    /// Reports a port of a part that lacks its bond inside or outside.
    fn report_open_slot(
        &mut self,
        decl: &ast::PortDecl,
        instance: InstanceId,
        is_joined_inside: bool,
    ) {
        let part = &self.tables.instances[instance.at()];
        let name = &decl.name.text;
        let (span, text, help) = match is_joined_inside {
            false => (
                decl.name.span,
                "no bond inside".to_owned(),
                format!(
                    "join it inside the model, or let it stand for a junction: `port {name}: … = junction`"
                ),
            ),
            true if part.parent.is_none() => (
                decl.name.span,
                "this model is used alone, so nothing is outside".to_owned(),
                "use the model as a part of another one".to_owned(),
            ),
            true => (
                part.span,
                format!("nothing is joined to `{name}` of this part"),
                "every open port has exactly one bond outside".to_owned(),
            ),
        };

        if self.told.missing_bonds.insert((span, decl.name.span)) {
            let headline = format!("port `{name}` is not connected");
            let mut message = Diagnostic::error(code::PORT_OPEN, headline)
                .primary(span, text)
                .help(help);
            if span != decl.name.span {
                message = message.secondary(decl.name.span, "declared here");
            }
            self.report.list.push(message);
        }
    }

    /// The stroke that arrows up to this one force on a bond; reports one that is against those before.
    fn forced_so_far(&mut self, before: Option<Stroke>, arrow: ast::Arrow) -> Option<Stroke> {
        let own = arrow.stroke.map(stroke_of);
        if let (Some(before), Some(own)) = (before, own)
            && before != own
        {
            report!(self, code::STROKES, arrow.span, "two strokes are forced on one bond";
                "against the stroke on the other side of the port");
        }
        before.or(own)
    }

    fn report_opposite_arrows(&mut self, port: PortId, edge: &Edge, onward: &Edge) {
        let decl = self.tables.ports[port.at()].decl;
        let (span, other) = (onward.arrow.span, edge.arrow.span);
        report!(self, code::AGAINST_ARROW, span, "the arrows at port `{}` point in opposite directions", decl.name.text;
            "this bond";
            beside other => "and this one become one bond";
            help: "reverse one of the arrows, or let the port stand for a junction");
    }

    /// Keeps what was reported from being reported again for the elements at these ends.
    fn excuse_ends(&mut self, ends: impl IntoIterator<Item = Terminal>) {
        for end in ends {
            if let Terminal::Thing { thing, .. } = end {
                self.tables.things[thing.at()].is_excused = true;
            }
        }
    }
}

fn stroke_of(at: ast::StrokeAt) -> Stroke {
    match at {
        ast::StrokeAt::Tail => Stroke::Tail,
        ast::StrokeAt::Head => Stroke::Head,
    }
}
