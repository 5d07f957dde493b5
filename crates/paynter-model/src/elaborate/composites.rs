//! Second pass, composite ports: `a => b` joins all their members, and each signal finds its giver.
//!
//! In:  two composite ports that an arrow joins.
//! Out: bonds between their power members, nets of ports, and the giver of each signal of a net.
//!
//! **Invariant:** a net has one giver for each signal, or a message.

use paynter_syntax::{Diagnostic, Span, ast};

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

    pub(super) fn find_givers(&mut self) {
        let excused: Vec<PortId> = self.excused_ports.iter().copied().collect();
        self.excused_nets = excused.into_iter().map(|port| self.net_of(port)).collect();
        for at in 0..self.ports.len() {
            let port = PortId(at as u32);
            let decl = self.ports[at].decl;
            if self.ports[at].members.is_none()
                || !matches!(decl.binding, Some(ast::PortBinding::Members(_)))
            {
                continue;
            }
            if self.incomplete_ports.contains(&port) {
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
                    let span = self.line_of_user(self.ports[at].instance);
                    let other_span = self.line_of_user(self.ports[other.at()].instance);
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
}
