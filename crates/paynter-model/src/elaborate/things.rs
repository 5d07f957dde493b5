//! First pass, things: junctions, elements and parts, wherever a `name: kind` is.
//!
//! In:  the chains and `name: kind` lines of a body.
//! Out: a thing or an instance for each; elements have their states, chains wait for `connect`.
//!
//! **Invariant:** only what has a name in the text is made here; unnamed nodes are made in `connect`.

use paynter_symbolic::{Names, PathId, Role, Symbol};
use paynter_syntax::{Span, ast};

use super::data::*;
use super::models::Made;
use super::{Elaborator, code};
use crate::graph::{ElementKind, Group, GroupId, Memory};

/// `replaceable name: bound = default` in a part.
struct Replaceable<'a> {
    owner: InstanceId,
    scope: ScopeId,
    path: PathId,
    name: &'a ast::Ident,
    bound: &'a ast::Path,
    default: Option<&'a ast::Instantiation>,
}

impl<'a> Elaborator<'a> {
    pub(super) fn collect_things(&mut self, id: InstanceId, scope: ScopeId, body: &'a [ast::Stmt]) {
        for stmt in body {
            match &stmt.kind {
                ast::StmtKind::Chain(chain) => {
                    self.collect_chain(id, scope, chain);
                    if !chain.arrows.is_empty() {
                        self.pending.chains.push((scope, chain, None));
                    }
                }
                ast::StmtKind::NamedBond { name, chain } => {
                    self.collect_chain(id, scope, chain);
                    let parent = self.tables.instances[id.at()].path;
                    let path = self.child(parent, &name.text, None);
                    let bond = NamedBondId(self.tables.named_bonds.len() as u32);
                    if self.declare(path, Entity::Bond(bond), name.span) {
                        self.tables.named_bonds.push(NamedBond {
                            path,
                            span: name.span,
                            bonds: Vec::new(),
                        });
                        self.pending.chains.push((scope, chain, Some(bond)));
                    }
                }
                ast::StmtKind::Replaceable {
                    name,
                    bound,
                    default,
                } => {
                    self.collect_replaceable(id, scope, name, bound, default.as_ref());
                }
                _ => {}
            }
        }
    }

    fn collect_chain(&mut self, id: InstanceId, scope: ScopeId, chain: &'a ast::Chain) {
        for group in &chain.groups {
            for node in group {
                self.collect_node(id, scope, node);
            }
        }
    }

    fn collect_node(&mut self, id: InstanceId, scope: ScopeId, node: &'a ast::Node) {
        match &node.kind {
            ast::NodeKind::Tuple(nodes) => {
                for node in nodes {
                    self.collect_node(id, scope, node);
                }
            }
            ast::NodeKind::Thing { name, index, kind } => {
                let parent = self.tables.instances[id.at()].path;
                let Some(path) = self.indexed_path(parent, scope, &name.text, index) else {
                    return;
                };
                self.make_thing(id, scope, path, name.span, kind);
            }
            _ => {}
        }
    }

    fn make_thing(
        &mut self,
        id: InstanceId,
        scope: ScopeId,
        path: PathId,
        span: Span,
        kind: &'a ast::Kind,
    ) {
        let element = match &kind.head {
            ast::KindHead::Zero(_) => ElementKind::Zero,
            ast::KindHead::One(_) => ElementKind::One,
            ast::KindHead::Named(name) => {
                let file = self.tables.scopes[scope.at()].file;
                if self.texts.is_foreign(name, file) {
                    self.make_foreign(id, scope, path, span, kind);
                    return;
                }
                match self.made(name, file, kind.law.is_some()) {
                    None => {
                        // Whoever reads the name is not to blame.
                        self.excused.paths.insert(path);
                        return;
                    }
                    Some(Made::Element(element)) => element,
                    Some(Made::Model(model, model_file)) => {
                        self.make_part(id, scope, path, span, kind, (model, model_file));
                        return;
                    }
                }
            }
        };

        // Before the name is known: what is made cannot tell its own size.
        let size = self.size_as_written(element, Some(kind), scope);
        let next = ThingId(self.tables.things.len() as u32);
        if self.declare(path, Entity::Thing(next), span) {
            self.add_sized_thing(Some(path), (element, size), Some(kind), scope, span);
        }
    }

    /// Makes a junction or element, named or not.
    pub(super) fn add_thing(
        &mut self,
        name: Option<PathId>,
        kind: ElementKind,
        written: Option<&'a ast::Kind>,
        scope: ScopeId,
        span: Span,
    ) -> ThingId {
        let size = self.size_as_written(kind, written, scope);
        self.add_sized_thing(name, (kind, size), written, scope, span)
    }

    /// How many bonds go in and out together; 0 for a two-port without a size.
    fn size_as_written(
        &mut self,
        kind: ElementKind,
        written: Option<&'a ast::Kind>,
        scope: ScopeId,
    ) -> u32 {
        let kind = kind.as_written(written);
        let size = written.and_then(|w| w.size.as_ref());
        let is_two_port = matches!(kind, ElementKind::Tf | ElementKind::Rs)
            || (kind == ElementKind::Gy && size.is_none());
        match size {
            Some(size) => self.size(size, scope).unwrap_or(1),
            None if is_two_port => 0,
            None => 1,
        }
    }

    fn add_sized_thing(
        &mut self,
        name: Option<PathId>,
        (kind, size): (ElementKind, u32),
        written: Option<&'a ast::Kind>,
        scope: ScopeId,
        span: Span,
    ) -> ThingId {
        let kind = kind.as_written(written);
        let size_expr = written.and_then(|w| w.size.as_ref());
        let group = (size_expr.is_some()).then(|| self.add_group(name, Some(kind), size, span));
        let memories: Vec<Memory> = match (kind, kind.memory()) {
            // What is wrong with its letters is said with its law.
            (ElementKind::Ic, _) => super::mixed::memories(written, size)
                .unwrap_or_else(|_| vec![Memory::Momentum; size as usize]),
            (_, memory) => memory.map_or(Vec::new(), |m| vec![m; size as usize]),
        };

        let states = self.add_states(name, &memories, size_expr.is_some(), span);
        self.tables.things.push(Thing {
            name,
            kind,
            size,
            is_vector: size_expr.is_some(),
            size_out: 0,
            written,
            scope,
            span,
            bonds: Vec::new(),
            states,
            memories,
            group,
            part: 0,
            preset: None,
            is_expanded: false,
            first: 0,
            n_elements: 0,
            expansion: Expansion::Scalars,
            ratio: None,
            is_fixed: false,
            is_excused: false,
        });
        ThingId((self.tables.things.len() - 1) as u32)
    }

    pub(super) fn add_group(
        &mut self,
        name: Option<PathId>,
        kind: Option<ElementKind>,
        size: u32,
        span: Span,
    ) -> GroupId {
        let origin = self.origin(span);
        self.graph.groups.push(Group {
            name,
            kind,
            size,
            origin,
        });
        GroupId((self.graph.groups.len() - 1) as u32)
    }

    fn add_states(
        &mut self,
        name: Option<PathId>,
        memories: &[Memory],
        is_vector: bool,
        span: Span,
    ) -> Vec<paynter_symbolic::SymbolId> {
        let origin = self.origin(span);
        let parent = name.unwrap_or(Names::ROOT);
        let numbered = (1..).zip(memories);
        numbered
            .map(|(k, memory)| {
                let index = is_vector.then_some(k);
                let name = self.child(parent, memory.letter(), index);
                self.graph.signals.add_symbol(Symbol {
                    name,
                    role: Role::Unknown,
                    nominal: 0.0,
                    origin,
                })
            })
            .collect()
    }

    pub(super) fn make_part(
        &mut self,
        id: InstanceId,
        scope: ScopeId,
        path: PathId,
        span: Span,
        kind: &'a ast::Kind,
        (model, file): (&'a ast::Model, u32),
    ) {
        if let Some(size) = &kind.size {
            let at = size.span;
            report!(self, code::BAD_SIZE, at, "a part has no number of components";
                "a size belongs to junctions and elements";
                help: "an array of parts has its index on the name: `link[i]: Rod(…)` inside `for`");
        }

        if let Some(law) = kind.law.as_ref().and_then(|law| law.first()) {
            let at = law.span;
            report!(self, code::BAD_LAW, at, "a part cannot be given a law in braces"; "laws belong to elements");
        }
        let args = kind.args.as_deref().unwrap_or(&[]);

        // The file of an FMU is not an argument of its model.
        let args = &args[usize::from(self.names_file(kind, scope))..];
        let given = self.named_arguments(args, scope, model);
        if args.iter().any(|arg| arg.name.is_none()) {
            self.excused
                .misused_parts
                .insert(InstanceId(self.tables.instances.len() as u32));
        }

        if let Some(part) = self.instantiate((model, file), path, Some(id), given, span) {
            self.declare(path, Entity::Instance(part), span);
        } else {
            self.excused.paths.insert(path);
        }
    }

    fn named_arguments(
        &mut self,
        args: &'a [ast::Arg],
        scope: ScopeId,
        model: &ast::Model,
    ) -> Vec<Given<'a>> {
        let mut given: Vec<Given<'a>> = Vec::with_capacity(args.len());
        for arg in args {
            let Some(name) = &arg.name else {
                self.report_unnamed_argument(&arg.value, &model.name.text);
                continue;
            };
            if let Some(first) = given.iter().find(|g| g.name.text == name.text) {
                let (first, span) = (first.name.span, name.span);
                report!(self, code::DUPLICATE_NAME, span, "`{}` is given twice", name.text;
                    "given again";
                    beside first => "first here");
                continue;
            }
            given.push(Given {
                name,
                value: &arg.value,
                scope,
            });
        }
        given
    }

    fn collect_replaceable(
        &mut self,
        id: InstanceId,
        scope: ScopeId,
        name: &'a ast::Ident,
        bound: &'a ast::Path,
        default: Option<&'a ast::Instantiation>,
    ) {
        let parent = self.tables.instances[id.at()].path;
        let path = self.child(parent, &name.text, None);
        let slot = Replaceable {
            owner: id,
            scope,
            path,
            name,
            bound,
            default,
        };
        match self.make_replaceable(&slot) {
            Some(part) => {
                self.declare(path, Entity::Instance(part), name.span);
            }
            None => {
                self.excused.paths.insert(path);
            }
        }
    }

    /// Makes the part that was chosen; what is in the way is reported.
    fn make_replaceable(&mut self, slot: &Replaceable<'a>) -> Option<InstanceId> {
        let file = self.tables.scopes[slot.scope.at()].file;
        let (promise, _) = self.find_model(slot.bound, file)?;
        let (model_path, args, from, span) = self.choice_of_part(slot)?;
        let from_file = self.tables.scopes[from.at()].file;
        let (model, model_file) = self.find_model(model_path, from_file)?;

        let lineage = self.lineage(model, model_file);
        if !lineage.is_none_or(|l| l.has(promise)) {
            report!(self, code::NOT_A_REPLACEMENT, span, "`{}` does not extend `{}`", model.name.text, promise.name.text;
                "cannot stand for `{}`", slot.name.text;
                beside slot.bound.span => "what every replacement must extend";
                help: "write `model {} extends {} {{ … }}`", model.name.text, promise.name.text);
            return None;
        }
        let given = self.named_arguments(args, from, model);
        let owner = Some(slot.owner);
        self.instantiate((model, model_file), slot.path, owner, given, slot.name.span)
    }

    /// The model that is to stand in a slot, its arguments, the scope that these are read in, and where that is said.
    fn choice_of_part(
        &mut self,
        slot: &Replaceable<'a>,
    ) -> Option<(&'a ast::Path, &'a [ast::Arg], ScopeId, Span)> {
        let name = slot.name;
        let given = self.tables.take_given(slot.owner, &name.text);
        let mut chosen = given.map(|g| (g.value, g.scope));
        if let Some(change) = self.asked.changes.get_mut(&slot.path) {
            change.is_used = true;
            chosen = Some((change.value, change.scope));
        }

        match (chosen, slot.default) {
            (Some((value, from)), _) => match &value.kind {
                ast::ExprKind::Call { function, args } => {
                    Some((function, args.as_slice(), from, value.span))
                }
                _ => {
                    let at = value.span;
                    report!(self, code::WRONG_TYPE, at, "`{}` is a part, so it is replaced by a part", name.text;
                        "not a part";
                        help: "write a model with parentheses: `{} = NL2()`", name.text);
                    None
                }
            },
            (None, Some(default)) => Some((&default.path, &default.args, slot.scope, default.span)),
            // Without a choice the promise itself is used.
            (None, None) => Some((slot.bound, &[], slot.scope, name.span)),
        }
    }
}
