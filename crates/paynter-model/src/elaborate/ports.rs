//! First pass, ports: of junctions, of bonds, and composite ones with their members.
//!
//! In:  the `port` statements of a body.
//! Out: ports with a slot for each scalar bond they wait for, and the signals of composite ones.
//!
//! **Invariant:** the slots of a port are side by side, in the order of its members.

use paynter_syntax::ast;

use super::data::*;
use super::{Elaborator, Item, code};

impl<'a> Elaborator<'a> {
    pub(super) fn collect_ports(&mut self, id: InstanceId, scope: ScopeId, body: &'a [ast::Stmt]) {
        for stmt in body {
            if let ast::StmtKind::Port(decls) = &stmt.kind {
                for decl in decls {
                    self.collect_port(id, scope, decl);
                }
            }
        }
    }

    fn collect_port(&mut self, id: InstanceId, scope: ScopeId, decl: &'a ast::PortDecl) {
        let parent = self.tables.instances[id.at()].path;
        let path = self.child(parent, &decl.name.text, None);
        let port = PortId(self.tables.ports.len() as u32);
        if !self.declare(path, Entity::Port(port), decl.name.span) {
            return;
        }
        let is_open = decl.binding.is_none();
        let size = decl
            .size
            .as_ref()
            .map(|size| self.size(size, scope).unwrap_or(1));

        let mut entry = Port {
            path,
            instance: id,
            decl,
            scope,
            domain: None,
            size,
            members: None,
            first_slot: 0,
            net: port,
            is_followed: false,
        };

        let file = self.tables.scopes[scope.at()].file;
        match self.texts.find_item(&decl.kind, file) {
            Some(Item::PortType(port_type, type_file)) => {
                self.tables.ports.push(entry);
                let members = self.collect_members(port, port_type, type_file);
                self.tables.ports[port.at()].members = Some(members);
            }
            _ => {
                let name = decl.kind.segments.last().map_or("", |s| &*s.text);
                entry.domain = match self.texts.domains.require(name, decl.kind.span) {
                    Ok(domain) => Some(domain),
                    Err(message) => {
                        self.report.push(*message);
                        None
                    }
                };
                if is_open {
                    entry.first_slot = self.wiring.add_slots(port, size.unwrap_or(1));
                }
                self.tables.ports.push(entry);
            }
        }
        self.tables.instances[id.at()].ports.push(port);
    }

    fn collect_members(
        &mut self,
        port: PortId,
        port_type: &'a ast::PortType,
        type_file: u32,
    ) -> Vec<Member<'a>> {
        let decl = self.tables.ports[port.at()].decl;
        let bindings: &'a [(ast::Ident, ast::Expr)] = match &decl.binding {
            Some(ast::PortBinding::Members(list)) => list,
            _ => &[],
        };
        let is_listed = matches!(decl.binding, Some(ast::PortBinding::Members(_)));
        let type_scope = self.texts.scopes[type_file as usize];

        let mut members: Vec<Member<'a>> = Vec::new();
        for member in &port_type.members {
            let name = match member {
                ast::PortMember::Power { name, .. } => name,
                ast::PortMember::Signal(decl) => &decl.name,
            };
            if let Some(first) = members.iter().find(|m| m.name.text == name.text) {
                report!(self, code::DUPLICATE_NAME, name.span, "two members of `{}` are called `{}`", port_type.name.text, name.text;
                    "named again";
                    beside first.name.span => "first named here");
                continue;
            }
            let bound = bindings.iter().find(|(n, _)| n.text == name.text);
            let bound = bound.map(|(_, e)| e);
            if is_listed && bound.is_none() {
                self.excused.incomplete_ports.insert(port);
                self.report_open_member(decl, port_type, member);
            }
            let what = match member {
                ast::PortMember::Power { domain, size, .. } => {
                    self.power_member(port, domain, (size.as_ref(), type_scope), bound)
                }
                ast::PortMember::Signal(signal) => {
                    let place = members.len() as u32;
                    self.signal_member(port, place, (signal, type_scope), bound)
                }
            };
            members.push(Member { name, what });
        }

        for (name, _) in bindings {
            if !members.iter().any(|m| m.name.text == name.text) {
                report!(self, code::ARGUMENTS, name.span, "`{}` has no member `{}`", port_type.name.text, name.text;
                    "not a member");
            }
        }
        members
    }

    fn report_open_member(
        &mut self,
        decl: &ast::PortDecl,
        port_type: &ast::PortType,
        member: &ast::PortMember,
    ) {
        let (port, kind) = (&decl.name.text, &port_type.name.text);
        let (name, help) = match member {
            ast::PortMember::Power { name, .. } => (
                &name.text,
                format!(
                    "name the junction that it stands for: `{} = junction`",
                    name.text
                ),
            ),
            ast::PortMember::Signal(signal) => {
                let name = &signal.name.text;
                let read = format!("`{port}.{name}`: `port {port}: {kind}`");
                (
                    name,
                    format!("give it here, or let the port be open and read {read}"),
                )
            }
        };
        report!(self, code::ARGUMENTS, decl.span, "port `{port}` leaves its member `{name}` open"; "needs `{name} = …`"; help: "{help}");
    }

    /// Makes a member that carries power; an open port gets a slot for each of its bonds.
    fn power_member(
        &mut self,
        port: PortId,
        domain: &ast::Path,
        (size, type_scope): (Option<&'a ast::Expr>, ScopeId),
        bound: Option<&'a ast::Expr>,
    ) -> MemberKind<'a> {
        let domain_name = domain.segments.last().map_or("", |s| &*s.text);
        let domain = match self.texts.domains.require(domain_name, domain.span) {
            Ok(domain) => Some(domain),
            Err(message) => {
                self.report.push(*message);
                None
            }
        };

        let n = match size {
            None => 1,
            Some(size) => self.size(size, type_scope).unwrap_or(1),
        };
        let is_open = self.tables.ports[port.at()].decl.binding.is_none();
        let first_slot = match is_open {
            true => self.wiring.add_slots(port, n),
            false => 0,
        };

        MemberKind::Power {
            domain,
            size: n,
            is_vector: size.is_some(),
            first_slot,
            bound,
        }
    }

    /// Makes a member that is a signal: given here, or taken from what the port is joined to.
    fn signal_member(
        &mut self,
        port: PortId,
        member: u32,
        (signal, type_scope): (&'a ast::Decl, ScopeId),
        bound: Option<&'a ast::Expr>,
    ) -> MemberKind<'a> {
        let p = &self.tables.ports[port.at()];
        let (decl, scope, id, path) = (p.decl, p.scope, p.instance, p.path);
        let own = self.child(path, &signal.name.text, None);
        let (kind, value) = match bound {
            Some(value) => (DefKind::PortGiven, Some((value, scope))),
            None => (DefKind::PortTaken { port, member }, None),
        };
        let def = DefId(self.tables.defs.len() as u32);
        self.tables.set_entity(own, Entity::Def(def));
        self.tables.defs.push(Def {
            path: own,
            kind,
            instance: Some(id),
            decl: Some(signal),
            decl_scope: type_scope,
            value,
            unit: None,
            span: bound.map_or(decl.span, |b| b.span),
            progress: Progress::Open,
        });
        MemberKind::Signal(def)
    }
}
