//! Second pass, composite ports: `a => b` joins all their members, and each signal finds its giver.
//!
//! In:  two composite ports that an arrow joins.
//! Out: bonds between their power members, nets of ports, and the giver of each signal of a net.
//!
//! **Invariant:** a net has one giver for each signal, or a message.

use paynter_syntax::{Span, ast};

use super::connect::Direction;
use super::data::*;
use super::lower::Target;
use super::{Elaborator, code};

impl<'a> Elaborator<'a> {
    pub(super) fn join_composites(
        &mut self,
        scope: ScopeId,
        (a, a_span): (PortId, Span),
        (b, b_span): (PortId, Span),
        arrow: ast::Arrow,
        name: Option<NamedBondId>,
    ) {
        let names = |this: &Self, port: PortId| -> Vec<String> {
            let members = this.tables.ports[port.at()]
                .members
                .as_deref()
                .unwrap_or(&[]);
            members.iter().map(|m| m.name.text.to_string()).collect()
        };
        if names(self, a) != names(self, b) {
            report!(self, code::SIZE_MISMATCH, arrow.span, "ports of different kinds are joined";
                "this bond";
                beside a_span => "this port";
                beside b_span => "and this one");
            return;
        }

        let n = self.tables.ports[a.at()]
            .members
            .as_ref()
            .map_or(0, Vec::len) as u32;
        for member in 0..n {
            let is_power = |this: &Self, port: PortId| {
                matches!(
                    this.tables.ports[port.at()]
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

        let (a, b) = (self.tables.net_of(a), self.tables.net_of(b));
        // The smaller id stands for the net, so that the result does not depend on the order.
        self.tables.ports[a.max(b).at()].net = a.min(b);
    }

    pub(super) fn find_givers(&mut self) {
        let excused: Vec<PortId> = self.excused.ports.iter().copied().collect();
        self.excused.nets = excused
            .into_iter()
            .map(|port| self.tables.net_of(port))
            .collect();

        for at in 0..self.tables.ports.len() {
            let port = PortId(at as u32);
            let decl = self.tables.ports[at].decl;
            if self.tables.ports[at].members.is_none()
                || !matches!(decl.binding, Some(ast::PortBinding::Members(_)))
            {
                continue;
            }
            if self.excused.incomplete_ports.contains(&port) {
                continue;
            }
            let net = self.tables.net_of(port);
            match self.wiring.net_givers.get(&net) {
                None => {
                    self.wiring.net_givers.insert(net, port);
                }
                Some(&other) => {
                    let has_signals = self.tables.ports[at]
                        .members
                        .as_ref()
                        .is_some_and(|m| m.iter().any(|m| matches!(m.what, MemberKind::Signal(_))));
                    if !has_signals {
                        continue;
                    }
                    let names = &self.graph.signals.names;
                    let (one, two) = (
                        names.display(self.tables.ports[other.at()].path),
                        names.display(self.tables.ports[at].path),
                    );
                    let span = self.line_of_user(self.tables.ports[at].instance);
                    let other_span = self.line_of_user(self.tables.ports[other.at()].instance);
                    report!(self, code::GIVERS, span, "`{one}` and `{two}` are joined and both give their signals";
                        "gives its own position";
                        beside other_span => "so does this one";
                        help: "put a joint between two bodies");
                }
            }
        }
    }
}
