//! First pass, ports: of junctions, of bonds, and composite ones with their members.
//!
//! In:  the `port` statements of a body.
//! Out: ports with a slot for each scalar bond they wait for, and the signals of composite ones.
//!
//! **Invariant:** the slots of a port stand side by side, in the order of its members.

use paynter_syntax::{Diagnostic, ast};

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
        let (decl, scope, id, path) = {
            let p = &self.tables.ports[port.at()];
            (p.decl, p.scope, p.instance, p.path)
        };
        let type_scope = self.texts.scopes[type_file as usize];
        let bindings: &'a [(ast::Ident, ast::Expr)] = match &decl.binding {
            Some(ast::PortBinding::Members(list)) => list,
            _ => &[],
        };
        let is_listed = matches!(decl.binding, Some(ast::PortBinding::Members(_)));
        let mut members = Vec::new();
        for member in &port_type.members {
            let name = match member {
                ast::PortMember::Power { name, .. } => name,
                ast::PortMember::Signal(decl) => &decl.name,
            };
            let bound = bindings
                .iter()
                .find(|(n, _)| n.text == name.text)
                .map(|(_, e)| e);
            if let Some(first) = members
                .iter()
                .find(|m: &&Member<'_>| m.name.text == name.text)
            {
                let (first, span) = (first.name.span, name.span);
                self.report.add(code::DUPLICATE_NAME, span, || {
                    Diagnostic::error(
                        code::DUPLICATE_NAME,
                        format!(
                            "two members of `{}` are called `{}`",
                            port_type.name.text, name.text
                        ),
                    )
                    .primary(span, "named again")
                    .secondary(first, "first named here")
                });
                continue;
            }
            if is_listed && bound.is_none() {
                self.excused.incomplete_ports.insert(port);
                self.report.add(code::ARGUMENTS, decl.span, || {
                    Diagnostic::error(
                        code::ARGUMENTS,
                        format!(
                            "port `{}` leaves its member `{}` open",
                            decl.name.text, name.text
                        ),
                    )
                    .primary(decl.span, format!("needs `{} = …`", name.text))
                    .help(match member {
                        ast::PortMember::Power { .. } => format!(
                            "name the junction that it stands for: `{} = junction`",
                            name.text
                        ),
                        ast::PortMember::Signal(_) => format!(
                            "give it here, or let the port be open and read `{}.{}`: `port {}: {}`",
                            decl.name.text, name.text, decl.name.text, port_type.name.text
                        ),
                    })
                });
            }
            let what = match member {
                ast::PortMember::Power { domain, size, .. } => {
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
                    let first_slot = if decl.binding.is_none() {
                        self.wiring.add_slots(port, n)
                    } else {
                        0
                    };
                    MemberKind::Power {
                        domain,
                        size: n,
                        is_vector: size.is_some(),
                        first_slot,
                        bound,
                    }
                }
                ast::PortMember::Signal(signal) => {
                    let own = self.child(path, &signal.name.text, None);
                    let (kind, value) = match bound {
                        Some(value) => (DefKind::PortGiven, Some((value, scope))),
                        None => {
                            let member = members.len() as u32;
                            (DefKind::PortTaken { port, member }, None)
                        }
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
            };
            members.push(Member { name, what });
        }
        for (name, _) in bindings {
            if !members.iter().any(|m| m.name.text == name.text) {
                let span = name.span;
                self.report.add(code::ARGUMENTS, span, || {
                    Diagnostic::error(
                        code::ARGUMENTS,
                        format!("`{}` has no member `{}`", port_type.name.text, name.text),
                    )
                    .primary(span, "not a member")
                });
            }
        }
        members
    }
}
