//! First pass: who is there. Makes parts, things, ports and named values; binds no name yet.
//!
//! In:  the body of the top model, and of every model it uses.
//! Out: the tables of `data`, and lists of what later passes have to do.
//!
//! **Invariant:** the order of lines changes nothing. Within a body, values are declared
//! before ports, ports before things and parts, and these before `for` and `if`, whose
//! ranges and conditions read parameters only.

use paynter_symbolic::{Names, PathId, Role, Symbol};
use paynter_syntax::{Diagnostic, Span, ast};
use std::sync::Arc;

use super::data::*;
use super::lower::Ctx;
use super::{Elaborator, Item, Level, Lineage, PendingClock, PendingSolve, PendingWhen, code};
use crate::graph::{ElementKind, Group, GroupId};
use crate::suggest::nearest;

/// Parts inside parts: five-deep models exist, fifty-deep ones contain themselves.
const MAX_DEPTH: u32 = 64;

/// Letters of elements and what they are.
const ELEMENTS: &[(&str, ElementKind)] = &[
    ("Se", ElementKind::Se),
    ("Sf", ElementKind::Sf),
    ("R", ElementKind::R),
    ("C", ElementKind::C),
    ("I", ElementKind::I),
    ("TF", ElementKind::Tf),
    ("GY", ElementKind::Gy),
    ("RS", ElementKind::Rs),
    ("Sw", ElementKind::Sw),
    ("D", ElementKind::D),
];

/// Words that newcomers try, and the element that is meant.
const WORDS: &[(&str, &str, &str)] = &[
    ("resist", "R", "a resistance or a damper"),
    ("damper", "R", "a resistance or a damper"),
    ("friction", "R", "a resistance or a damper"),
    ("capac", "C", "a capacitance or a spring"),
    ("spring", "C", "a capacitance or a spring"),
    ("compliance", "C", "a capacitance or a spring"),
    ("induct", "I", "an inductance or a mass"),
    ("inert", "I", "an inductance or a mass"),
    ("mass", "I", "an inductance or a mass"),
    ("transf", "TF", "a transformer or a lever"),
    ("gear", "TF", "a transformer or a lever"),
    ("lever", "TF", "a transformer or a lever"),
    ("gyrat", "GY", "a gyrator or a motor"),
    ("motor", "GY", "a gyrator or a motor"),
    ("switch", "Sw", "a switch"),
    ("diode", "D", "a diode"),
    (
        "voltage",
        "Se",
        "a source of effort: voltage, force, pressure",
    ),
    (
        "force",
        "Se",
        "a source of effort: voltage, force, pressure",
    ),
    (
        "effort",
        "Se",
        "a source of effort: voltage, force, pressure",
    ),
    ("current", "Sf", "a source of flow: current, velocity"),
    ("velocity", "Sf", "a source of flow: current, velocity"),
    ("flow", "Sf", "a source of flow: current, velocity"),
];

/// Finds the element that a word or misspelt letters mean.
fn element_meant(text: &str) -> Option<(&'static str, &'static str)> {
    let small = text.to_lowercase();
    if let Some((letters, _)) = ELEMENTS.iter().find(|e| e.0.to_lowercase() == small) {
        let of_letters = |w: &&(&str, &'static str, &'static str)| w.1 == *letters;
        return WORDS.iter().find(of_letters).map(|w| (w.1, w.2));
    }
    let begins = WORDS.iter().find(|w| small.contains(w.0));
    // `Res`, `Cap`, `Ind`.
    let short = || {
        WORDS
            .iter()
            .find(|w| small.len() > 2 && w.0.starts_with(&small))
    };
    begins.or_else(short).map(|w| (w.1, w.2))
}

/// What stands behind a colon.
pub(super) enum Made<'a> {
    Element(ElementKind),
    Model(&'a ast::Model, u32),
}

impl<'a> Elaborator<'a> {
    /// Makes a part and everything in it.
    pub(super) fn instantiate(
        &mut self,
        model: &'a ast::Model,
        file: u32,
        path: PathId,
        parent: Option<InstanceId>,
        given: Vec<Given<'a>>,
        span: Span,
    ) -> Option<InstanceId> {
        let depth = parent.map_or(0, |p| self.instances[p.at()].depth + 1);
        if depth > MAX_DEPTH {
            self.report.add(code::RECURSION, model.name.span, || {
                Diagnostic::error(
                    code::RECURSION,
                    format!("`{}` contains itself without end", model.name.text),
                )
                .primary(
                    model.name.span,
                    format!("parts are nested more than {MAX_DEPTH} deep"),
                )
                .secondary(span, "this part is inside one of its own kind")
            });
            return None;
        }
        let lineage = self.lineage(model, file)?;
        let id = InstanceId(self.instances.len() as u32);
        let mut given = given;
        let mut scopes = Vec::with_capacity(lineage.levels.len());
        for level in &lineage.levels {
            let scope = self.add_scope(Scope {
                instance: Some(id),
                file: level.file,
                parent: None,
                variable: None,
            });
            scopes.push(scope);
            for arg in level.extends_args {
                match &arg.name {
                    Some(name) => given.push(Given {
                        name,
                        value: &arg.value,
                        scope,
                    }),
                    None => self.report_unnamed_argument(&arg.value, &level.model.name.text),
                }
            }
        }
        self.instances.push(Instance {
            path,
            model,
            parent,
            lineage: lineage.clone(),
            given,
            used: 0,
            ports: Vec::new(),
            depth,
            span,
        });
        let bodies = || lineage.levels.iter().zip(&scopes).rev();
        for (level, &scope) in bodies() {
            self.collect_values(id, scope, &level.model.body);
        }
        for (level, &scope) in bodies() {
            self.collect_ports(id, scope, &level.model.body);
        }
        for (level, &scope) in bodies() {
            self.collect_things(id, scope, &level.model.body);
        }
        for (level, &scope) in bodies() {
            self.collect_repeated(id, scope, &level.model.body);
        }
        self.check_given(id);
        Some(id)
    }

    /// Lists a model and those it extends, the model itself first.
    pub(super) fn lineage(&mut self, model: &'a ast::Model, file: u32) -> Option<Arc<Lineage<'a>>> {
        if let Some(known) = self.lineages.get(&model.name.span) {
            return known.clone();
        }
        let made = self.make_lineage(model, file).map(Arc::new);
        self.lineages.insert(model.name.span, made.clone());
        made
    }

    fn make_lineage(&mut self, model: &'a ast::Model, file: u32) -> Option<Lineage<'a>> {
        let mut levels: Vec<Level<'a>> = Vec::new();
        let mut next = Some((model, file));
        while let Some((model, file)) = next {
            if levels.iter().any(|l| std::ptr::eq(l.model, model)) {
                self.report.add(code::RECURSION, model.name.span, || {
                    Diagnostic::error(
                        code::RECURSION,
                        format!("`{}` extends itself", model.name.text),
                    )
                    .primary(model.name.span, "comes back to this model")
                });
                return None;
            }
            levels.push(Level {
                model,
                file,
                extends_args: &[],
            });
            next = match &model.extends {
                None => None,
                Some(base) => {
                    let found = self.find_model(&base.path, file)?;
                    levels.last_mut().expect("just pushed").extends_args = &base.args;
                    Some(found)
                }
            };
        }
        Some(Lineage { levels })
    }

    /// Finds a model by the name behind a colon, `extends` or `of`.
    pub(super) fn find_model(
        &mut self,
        path: &'a ast::Path,
        file: u32,
    ) -> Option<(&'a ast::Model, u32)> {
        match self.find_item(path, file) {
            Some(Item::Model(model, file)) => Some((model, file)),
            Some(Item::Missing(_)) => None,
            found => {
                self.report_no_model(path, file, found.is_some(), false);
                None
            }
        }
    }

    /// Reports a name that is no model, and where an element may stand too, no element.
    fn report_no_model(
        &mut self,
        path: &'a ast::Path,
        file: u32,
        is_other: bool,
        may_be_element: bool,
    ) {
        let Some(last) = path.segments.last() else {
            return;
        };
        let models: Vec<&str> = self.files[file as usize]
            .names
            .iter()
            .filter(|(_, item)| matches!(item, Item::Model(..)))
            .map(|(name, _)| *name)
            .collect();
        self.report.add(code::UNKNOWN_MODEL, path.span, || {
            let what = if is_other {
                "is not a model"
            } else {
                "not found"
            };
            let mut message = Diagnostic::error(
                code::UNKNOWN_MODEL,
                match may_be_element {
                    true => format!("there is no model or element `{}`", last.text),
                    false => format!("there is no model `{}`", last.text),
                },
            )
            .primary(path.span, what);
            let mut names = models;
            names.sort_unstable();
            if may_be_element {
                names.extend(ELEMENTS.iter().map(|e| e.0));
            }
            match nearest(&last.text, names) {
                Some(near) => message = message.help(format!("did you mean `{near}`?")),
                None if matches!(&*last.text, "MTF" | "MGY" | "MSe" | "MSf" | "MR") => {
                    message = message.help(format!(
                        "write `{}`: it is modulated when its value varies",
                        &last.text[1..]
                    ));
                }
                None if !may_be_element => {}
                None => {
                    let letters: Vec<&str> = ELEMENTS.iter().map(|e| e.0).collect();
                    message = match element_meant(&last.text) {
                        Some((element, what)) => message.help(format!("write `{element}`: {what}")),
                        None => message,
                    };
                    message = message.fact(format!(
                        "the elements are `{}`, the junctions `0` and `1`",
                        letters.join("`, `")
                    ));
                }
            }
            message
        });
    }

    /// Finds an element by its letters.
    pub(super) fn element_kind(&self, path: &ast::Path) -> Option<ElementKind> {
        let [only] = path.segments.as_slice() else {
            return None;
        };
        ELEMENTS
            .iter()
            .find(|(name, _)| *name == &*only.text)
            .map(|e| e.1)
    }

    pub(super) fn made(&mut self, path: &'a ast::Path, file: u32) -> Option<Made<'a>> {
        if let Some(kind) = self.element_kind(path) {
            return Some(Made::Element(kind));
        }
        match self.find_item(path, file) {
            Some(Item::Model(model, file)) => Some(Made::Model(model, file)),
            Some(Item::Missing(_)) => None,
            found => {
                self.report_no_model(path, file, found.is_some(), true);
                None
            }
        }
    }

    pub(super) fn add_scope(&mut self, scope: Scope<'a>) -> ScopeId {
        self.scopes.push(scope);
        ScopeId((self.scopes.len() - 1) as u32)
    }

    /// Gives the place of a name in the text.
    pub(super) fn entity_span(&self, entity: Entity) -> Option<Span> {
        Some(match entity {
            Entity::Nothing => return None,
            Entity::Def(d) => self.defs[d.at()].span,
            Entity::Thing(t) => self.things[t.at()].span,
            Entity::Instance(i) => self.instances[i.at()].span,
            Entity::Port(p) => self.ports[p.at()].decl.name.span,
            Entity::Bond(b) => self.named_bonds[b.at()].span,
            Entity::Event(span) => span,
            Entity::Outer(o) => self.outers[o as usize].name.span,
        })
    }

    pub(super) fn entity(&self, path: PathId) -> Entity {
        self.entity_of
            .get(path.0 as usize)
            .copied()
            .unwrap_or(Entity::Nothing)
    }

    pub(super) fn set_entity(&mut self, path: PathId, entity: Entity) {
        let at = path.0 as usize;
        if self.entity_of.len() <= at {
            self.entity_of
                .resize((at + 1).max(self.entity_of.len() * 2), Entity::Nothing);
        }
        self.entity_of[at] = entity;
    }

    /// Gives a path to a new entity; false if the path is taken.
    fn declare(&mut self, path: PathId, entity: Entity, span: Span) -> bool {
        let taken = self.entity(path);
        if taken == Entity::Nothing {
            self.set_entity(path, entity);
            return true;
        }
        let first = self.entity_span(taken);
        let is_node = |e| matches!(e, Entity::Thing(_) | Entity::Instance(_));
        let help = match (taken, entity) {
            _ if is_node(taken) && is_node(entity) => {
                "to mean the first one, write its name without the colon and kind"
            }
            (Entity::Def(_), Entity::Def(_)) => {
                "a name has one value; delete one line, or give it another name"
            }
            _ => {
                "elements, parts, ports, parameters and signals of a model share their names: rename one"
            }
        };
        let names = &self.graph.signals.names;
        self.report.add(code::DUPLICATE_NAME, span, || {
            let message = Diagnostic::error(
                code::DUPLICATE_NAME,
                format!("there are two things called `{}`", names.display(path)),
            )
            .primary(span, "made again here");
            match first {
                Some(first) => message.secondary(first, "first made here").help(help),
                None => message,
            }
        });
        false
    }

    fn child(&mut self, parent: PathId, name: &str, index: Option<i64>) -> PathId {
        self.graph.signals.names.child(parent, name, index)
    }

    // -------------------------------------------------------------------------------
    // Named values
    // -------------------------------------------------------------------------------

    pub(super) fn collect_values(&mut self, id: InstanceId, scope: ScopeId, body: &'a [ast::Stmt]) {
        for stmt in body {
            match &stmt.kind {
                ast::StmtKind::Param(decls) => {
                    for decl in decls {
                        self.declare_value(id, scope, decl, DefKind::Param);
                    }
                }
                ast::StmtKind::Input(decls) => {
                    for decl in decls {
                        self.declare_value(id, scope, decl, DefKind::Input);
                    }
                }
                ast::StmtKind::Output(decls) => {
                    for decl in decls {
                        let def = self.declare_value(id, scope, decl, DefKind::Output);
                        if let (Some(def), None) = (def, self.instances[id.at()].parent) {
                            self.top_outputs.push(def);
                        }
                    }
                }
                ast::StmtKind::Define(define) => self.collect_define(id, scope, define),
                ast::StmtKind::Solve {
                    unknowns,
                    equations,
                } => {
                    let mut sought = Vec::new();
                    for name in unknowns {
                        let path = self.instances[id.at()].path;
                        let path = self.child(path, &name.text, None);
                        sought.extend(self.define_value(
                            id,
                            scope,
                            path,
                            DefKind::Sought,
                            None,
                            None,
                            name.span,
                        ));
                    }
                    self.solves.push(PendingSolve {
                        scope,
                        sought,
                        equations,
                        span: stmt.span,
                    });
                }
                ast::StmtKind::Invariant(demand) => self.invariants.push((scope, demand)),
                ast::StmtKind::Start(list) => {
                    self.starts.extend(list.iter().map(|a| (scope, a, false)));
                }
                ast::StmtKind::Guess(list) => {
                    self.starts.extend(list.iter().map(|a| (scope, a, true)));
                }
                ast::StmtKind::Sample { rate, body } => {
                    let mut defs = Vec::new();
                    for define in body {
                        defs.extend(self.discrete(id, scope, define));
                    }
                    self.clocks.push(PendingClock {
                        scope,
                        rate,
                        defs,
                        span: stmt.span,
                    });
                }
                ast::StmtKind::When {
                    name,
                    condition,
                    actions,
                } => {
                    self.collect_when(id, scope, name.as_ref(), condition, actions, stmt.span);
                }
                ast::StmtKind::Layout(places) => {
                    self.layouts.extend(places.iter().map(|p| (scope, p)));
                }
                ast::StmtKind::Outer { name, path } => {
                    let at = self.instances[id.at()].path;
                    let own = self.child(at, &name.text, None);
                    let outer = Entity::Outer(self.outers.len() as u32);
                    self.outers.push(super::Outer {
                        instance: id,
                        name,
                        path,
                        scope,
                    });
                    self.declare(own, outer, name.span);
                }
                _ => {}
            }
        }
    }

    /// Declares a parameter, input or output, with its value from outside if one is given.
    fn declare_value(
        &mut self,
        id: InstanceId,
        scope: ScopeId,
        decl: &'a ast::Decl,
        kind: DefKind,
    ) -> Option<DefId> {
        let parent = self.instances[id.at()].path;
        let path = self.child(parent, &decl.name.text, None);
        let mut value = decl.value.as_ref().map(|v| (v, scope));
        if kind != DefKind::Output {
            if let Some(given) = self.take_given(id, &decl.name.text) {
                value = Some((given.value, given.scope));
            }
            if let Some(change) = self.changes.get_mut(&path) {
                change.is_used = true;
                value = Some((change.value, change.scope));
            }
        }
        self.define_value(id, scope, path, kind, Some(decl), value, decl.name.span)
    }

    /// Finds an argument by name and marks it as used.
    fn take_given(&mut self, id: InstanceId, name: &str) -> Option<Given<'a>> {
        let instance = &mut self.instances[id.at()];
        let mut found = None;
        for (at, given) in instance.given.iter().enumerate() {
            if &*given.name.text == name {
                instance.used |= 1 << at.min(63);
                found = found.or(Some(*given));
            }
        }
        found
    }

    /// Makes a named value, or completes one that was left open.
    fn define_value(
        &mut self,
        id: InstanceId,
        scope: ScopeId,
        path: PathId,
        kind: DefKind,
        decl: Option<&'a ast::Decl>,
        value: Option<(&'a ast::Expr, ScopeId)>,
        span: Span,
    ) -> Option<DefId> {
        if let Entity::Def(open) = self.entity(path) {
            let def = &mut self.defs[open.at()];
            let may_complete = def.value.is_none()
                && (def.kind == DefKind::Output || decl.is_some_and(|_| def.kind == kind))
                || (def.decl.is_none() && kind == DefKind::Output && value.is_none());
            if may_complete && def.instance == Some(id) {
                if def.value.is_none() && value.is_some() {
                    def.value = value;
                }
                match kind {
                    DefKind::State | DefKind::Discrete | DefKind::Sought => def.kind = kind,
                    _ => {}
                }
                if def.decl.is_none() {
                    (def.decl, def.decl_scope) = (decl, scope);
                }
                return Some(open);
            }
        }
        let def = DefId(self.defs.len() as u32);
        if !self.declare(path, Entity::Def(def), span) {
            return None;
        }
        self.defs.push(Def {
            path,
            kind,
            instance: Some(id),
            decl,
            decl_scope: scope,
            value,
            unit: None,
            span,
            progress: Progress::Open,
        });
        Some(def)
    }

    fn collect_define(&mut self, id: InstanceId, scope: ScopeId, define: &'a ast::Define) {
        let [part] = define.target.parts.as_slice() else {
            self.remote_defines.push((scope, define));
            return;
        };
        let kind = if define.is_derivative {
            DefKind::State
        } else {
            DefKind::Signal
        };
        let Some(path) = self.target_path(id, scope, part) else {
            return;
        };
        let value = Some((&define.value, scope));
        if let Some(def) = self.define_value(id, scope, path, kind, None, value, part.name.span) {
            self.defs[def.at()].unit = define.unit.as_ref();
        }
    }

    fn discrete(
        &mut self,
        id: InstanceId,
        scope: ScopeId,
        define: &'a ast::Define,
    ) -> Option<DefId> {
        let [part] = define.target.parts.as_slice() else {
            self.report_bad_target(
                define.target.span,
                "only a name of this model can be set here",
            );
            return None;
        };
        if define.is_derivative {
            self.report_bad_target(
                define.span,
                "inside `sample` and `when` nothing flows: `der` does not belong here",
            );
            return None;
        }
        let path = self.target_path(id, scope, part)?;
        let value = Some((&define.value, scope));
        let def = self.define_value(
            id,
            scope,
            path,
            DefKind::Discrete,
            None,
            value,
            part.name.span,
        )?;
        self.defs[def.at()].unit = define.unit.as_ref();
        Some(def)
    }

    fn report_bad_target(&mut self, span: Span, text: &str) {
        self.report.add(code::NOT_SETTABLE, span, || {
            Diagnostic::error(code::NOT_SETTABLE, "this cannot be defined here").primary(span, text)
        });
    }

    /// Gives the path of `x` or `x[i]` in a part.
    fn target_path(
        &mut self,
        id: InstanceId,
        scope: ScopeId,
        part: &'a ast::RefPart,
    ) -> Option<PathId> {
        let parent = self.instances[id.at()].path;
        self.indexed_path(parent, scope, &part.name.text, &part.index)
    }

    /// Gives the path `parent.name`, `parent.name[i]` or `parent.name[i][j]`.
    pub(super) fn indexed_path(
        &mut self,
        parent: PathId,
        scope: ScopeId,
        name: &str,
        index: &[ast::Expr],
    ) -> Option<PathId> {
        match index {
            [] => Some(self.child(parent, name, None)),
            [i] => {
                let i = self.whole_number(i, Ctx::of(scope))?;
                Some(self.child(parent, name, Some(i)))
            }
            [i, j] => {
                let i = self.whole_number(i, Ctx::of(scope))?;
                let j = self.whole_number(j, Ctx::of(scope))?;
                let row = format!("{name}[{i}]");
                Some(self.child(parent, &row, Some(j)))
            }
            [_, _, extra, ..] => {
                let span = extra.span;
                self.report.add(code::BAD_INDEX, span, || {
                    Diagnostic::error(code::BAD_INDEX, "a name has at most two indices")
                        .primary(span, "one too many")
                });
                None
            }
        }
    }

    fn collect_when(
        &mut self,
        id: InstanceId,
        scope: ScopeId,
        name: Option<&'a ast::Ident>,
        condition: &'a ast::Expr,
        actions: &'a [ast::Action],
        span: Span,
    ) {
        let parent = self.instances[id.at()].path;
        let path = match name {
            Some(name) => {
                let path = self.child(parent, &name.text, None);
                self.declare(path, Entity::Event(name.span), name.span);
                path
            }
            None => self.child(parent, "when", None),
        };
        let mut defs = Vec::new();
        for action in actions {
            if let ast::Action::Define(define) = action {
                // Two events may set the same discrete value.
                let shared = match define.target.parts.as_slice() {
                    [part] => {
                        self.target_path(id, scope, part)
                            .and_then(|path| match self.entity(path) {
                                Entity::Def(def) if self.when_defs.contains(&def) => Some(def),
                                _ => None,
                            })
                    }
                    _ => None,
                };
                let def = match shared {
                    Some(def) => Some(def),
                    None => self.discrete(id, scope, define),
                };
                let Some(def) = def else { continue };
                if defs.iter().any(|(d, _)| *d == def) {
                    let first = self.defs[def.at()].span;
                    self.report_set_twice(&define.target, first);
                    continue;
                }
                self.when_defs.insert(def);
                defs.push((def, &define.value));
            }
        }
        self.whens.push(PendingWhen {
            scope,
            path,
            condition,
            actions,
            defs,
            span,
        });
    }

    /// Reports a second value for one name at one event.
    pub(super) fn report_set_twice(&mut self, target: &ast::Ref, first: Span) {
        let span = target.span;
        let name = self.project.sources.text(span);
        self.report.add(code::DUPLICATE_NAME, span, || {
            let message = Diagnostic::error(
                code::DUPLICATE_NAME,
                format!("one event sets `{name}` twice"),
            )
            .primary(span, "set again");
            let message = match first == span {
                true => message,
                false => message.secondary(first, "first set here"),
            };
            message.help("everything an event does happens at once: give one value, with `if … then … else …` if need be")
        });
    }

    /// Reports arguments that no declaration took.
    fn check_given(&mut self, id: InstanceId) {
        let instance = &self.instances[id.at()];
        let n = instance.given.len();
        if n == 0 || n >= 64 || instance.used == (1 << n) - 1 {
            return;
        }
        let unused: Vec<Given<'a>> = (0..n)
            .filter(|at| instance.used & (1 << at) == 0)
            .map(|at| instance.given[at])
            .collect();
        let (model, path) = (instance.model, instance.path);
        let names = self.declared_names(id);
        for given in unused {
            let span = given.name.span;
            let own = self.graph.signals.names.find(path, &given.name.text, None);
            let defined = own.and_then(|path| self.entity_span(self.entity(path)));
            self.report.add(code::ARGUMENTS, span, || {
                let message = Diagnostic::error(
                    code::ARGUMENTS,
                    format!(
                        "`{}` has no parameter or input `{}`",
                        model.name.text, given.name.text
                    ),
                )
                .primary(span, "not declared there");
                if let Some(defined) = defined {
                    return message.secondary(defined, "this is no parameter").help(
                        "only what is declared by `param`, `input` or `replaceable` can be given",
                    );
                }
                match nearest(&given.name.text, names.iter().map(String::as_str)) {
                    Some(near) => message.help(format!("did you mean `{near}`?")),
                    None => message,
                }
            });
        }
    }

    /// Lists parameters, inputs and replaceable parts of a part, for messages.
    pub(super) fn declared_names(&self, id: InstanceId) -> Vec<String> {
        let mut names = Vec::new();
        for level in &self.instances[id.at()].lineage.levels {
            for stmt in &level.model.body {
                match &stmt.kind {
                    ast::StmtKind::Param(decls) | ast::StmtKind::Input(decls) => {
                        names.extend(decls.iter().map(|d| d.name.text.to_string()));
                    }
                    ast::StmtKind::Replaceable { name, .. } => names.push(name.text.to_string()),
                    _ => {}
                }
            }
        }
        names
    }

    fn report_unnamed_argument(&mut self, value: &ast::Expr, model: &str) {
        let span = value.span;
        self.report.add(code::ARGUMENTS, span, || {
            Diagnostic::error(
                code::ARGUMENTS,
                format!("an argument of `{model}` has no name"),
            )
            .primary(span, "which parameter is this?")
            .help("arguments of a model are named: `Gimbal(Ix = 2 [kg*m^2])`")
        });
    }

    // -------------------------------------------------------------------------------
    // Ports
    // -------------------------------------------------------------------------------

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
        let parent = self.instances[id.at()].path;
        let path = self.child(parent, &decl.name.text, None);
        let port = PortId(self.ports.len() as u32);
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
        let file = self.scopes[scope.at()].file;
        match self.find_item(&decl.kind, file) {
            Some(Item::PortType(port_type, type_file)) => {
                self.ports.push(entry);
                let members = self.collect_members(port, port_type, type_file);
                self.ports[port.at()].members = Some(members);
            }
            _ => {
                let name = decl.kind.segments.last().map_or("", |s| &*s.text);
                entry.domain = match self.domains.require(name, decl.kind.span) {
                    Ok(domain) => Some(domain),
                    Err(message) => {
                        self.report.push(*message);
                        None
                    }
                };
                if is_open {
                    entry.first_slot = self.add_slots(port, size.unwrap_or(1));
                }
                self.ports.push(entry);
            }
        }
        self.instances[id.at()].ports.push(port);
    }

    fn add_slots(&mut self, port: PortId, n: u32) -> u32 {
        let first = self.slots.len() as u32;
        let slot = Slot {
            port,
            inside: None,
            outside: None,
            bond: None,
        };
        self.slots.resize(self.slots.len() + n as usize, slot);
        first
    }

    fn collect_members(
        &mut self,
        port: PortId,
        port_type: &'a ast::PortType,
        type_file: u32,
    ) -> Vec<Member<'a>> {
        let (decl, scope, id, path) = {
            let p = &self.ports[port.at()];
            (p.decl, p.scope, p.instance, p.path)
        };
        let type_scope = self.file_scopes[type_file as usize];
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
            if is_listed && bound.is_none() {
                self.report.add(code::ARGUMENTS, decl.span, || {
                    Diagnostic::error(
                        code::ARGUMENTS,
                        format!(
                            "port `{}` leaves its member `{}` open",
                            decl.name.text, name.text
                        ),
                    )
                    .primary(decl.span, format!("needs `{} = …`", name.text))
                });
            }
            let what = match member {
                ast::PortMember::Power { domain, size, .. } => {
                    let domain_name = domain.segments.last().map_or("", |s| &*s.text);
                    let domain = match self.domains.require(domain_name, domain.span) {
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
                        self.add_slots(port, n)
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
                    let def = DefId(self.defs.len() as u32);
                    self.set_entity(own, Entity::Def(def));
                    self.defs.push(Def {
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

    // -------------------------------------------------------------------------------
    // Things and parts
    // -------------------------------------------------------------------------------

    pub(super) fn collect_things(&mut self, id: InstanceId, scope: ScopeId, body: &'a [ast::Stmt]) {
        for stmt in body {
            match &stmt.kind {
                ast::StmtKind::Chain(chain) => {
                    self.collect_chain(id, scope, chain);
                    if !chain.arrows.is_empty() {
                        self.chains.push((scope, chain, None));
                    }
                }
                ast::StmtKind::NamedBond { name, chain } => {
                    self.collect_chain(id, scope, chain);
                    let parent = self.instances[id.at()].path;
                    let path = self.child(parent, &name.text, None);
                    let bond = NamedBondId(self.named_bonds.len() as u32);
                    if self.declare(path, Entity::Bond(bond), name.span) {
                        self.named_bonds.push(NamedBond {
                            path,
                            span: name.span,
                            bonds: Vec::new(),
                        });
                        self.chains.push((scope, chain, Some(bond)));
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
                let parent = self.instances[id.at()].path;
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
                let file = self.scopes[scope.at()].file;
                match self.made(name, file) {
                    None => {
                        // Whoever reads the name is not to blame.
                        self.broken_paths.insert(path);
                        return;
                    }
                    Some(Made::Element(element)) => element,
                    Some(Made::Model(model, model_file)) => {
                        self.make_part(id, scope, path, span, kind, model, model_file);
                        return;
                    }
                }
            }
        };
        let next = ThingId(self.things.len() as u32);
        if self.declare(path, Entity::Thing(next), span) {
            self.add_thing(Some(path), element, Some(kind), scope, span);
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
        let size_expr = written.and_then(|w| w.size.as_ref());
        let is_two_port = matches!(kind, ElementKind::Tf | ElementKind::Rs)
            || (kind == ElementKind::Gy && size_expr.is_none());
        let size = match size_expr {
            Some(size) => self.size(size, scope).unwrap_or(1),
            None if is_two_port => 0,
            None => 1,
        };
        let group = (size_expr.is_some()).then(|| self.add_group(name, Some(kind), size, span));
        let states = match kind {
            ElementKind::C => self.add_states(name, "q", size, size_expr.is_some(), span),
            ElementKind::I => self.add_states(name, "p", size, size_expr.is_some(), span),
            _ => Vec::new(),
        };
        self.things.push(Thing {
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
        ThingId((self.things.len() - 1) as u32)
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
        letter: &str,
        size: u32,
        is_vector: bool,
        span: Span,
    ) -> Vec<paynter_symbolic::SymbolId> {
        let origin = self.origin(span);
        let parent = name.unwrap_or(Names::ROOT);
        (1..=size)
            .map(|k| {
                let index = is_vector.then_some(i64::from(k));
                let name = self.child(parent, letter, index);
                self.graph.signals.add_symbol(Symbol {
                    name,
                    role: Role::Unknown,
                    nominal: 0.0,
                    origin,
                })
            })
            .collect()
    }

    fn make_part(
        &mut self,
        id: InstanceId,
        scope: ScopeId,
        path: PathId,
        span: Span,
        kind: &'a ast::Kind,
        model: &'a ast::Model,
        file: u32,
    ) {
        if let Some(size) = &kind.size {
            let at = size.span;
            self.report.add(code::BAD_SIZE, at, || {
                Diagnostic::error(code::BAD_SIZE, "a part has no number of components")
                    .primary(at, "a size belongs to junctions and elements")
                    .help("an array of parts has its index on the name: `link[i]: Rod(…)` inside `for`")
            });
        }
        if let Some(law) = kind.law.as_ref().and_then(|law| law.first()) {
            let at = law.span;
            self.report.add(code::BAD_LAW, at, || {
                Diagnostic::error(code::BAD_LAW, "a part cannot be given a law in braces")
                    .primary(at, "laws belong to elements")
            });
        }
        let given = self.named_arguments(kind.args.as_deref().unwrap_or(&[]), scope, model);
        if let Some(part) = self.instantiate(model, file, path, Some(id), given, span) {
            self.declare(path, Entity::Instance(part), span);
        } else {
            self.broken_paths.insert(path);
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
                self.report.add(code::DUPLICATE_NAME, span, || {
                    Diagnostic::error(
                        code::DUPLICATE_NAME,
                        format!("`{}` is given twice", name.text),
                    )
                    .primary(span, "given again")
                    .secondary(first, "first here")
                });
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
        let parent = self.instances[id.at()].path;
        let path = self.child(parent, &name.text, None);
        let file = self.scopes[scope.at()].file;
        let Some((promise, _)) = self.find_model(bound, file) else {
            self.broken_paths.insert(path);
            return;
        };
        let mut chosen = self.take_given(id, &name.text).map(|g| (g.value, g.scope));
        if let Some(change) = self.changes.get_mut(&path) {
            change.is_used = true;
            chosen = Some((change.value, change.scope));
        }
        let (model_path, args, from, span) = match (chosen, default) {
            (Some((value, from)), _) => match &value.kind {
                ast::ExprKind::Call { function, args } => {
                    (function, args.as_slice(), from, value.span)
                }
                _ => {
                    let at = value.span;
                    self.report.add(code::WRONG_TYPE, at, || {
                        Diagnostic::error(
                            code::WRONG_TYPE,
                            format!("`{}` is a part, so it is replaced by a part", name.text),
                        )
                        .primary(at, "not a part")
                        .help(format!(
                            "write a model with parentheses: `{} = NL2()`",
                            name.text
                        ))
                    });
                    self.broken_paths.insert(path);
                    return;
                }
            },
            (None, Some(default)) => (&default.path, default.args.as_slice(), scope, default.span),
            (None, None) => {
                // Without a choice the promise itself stands in.
                (bound, &[][..], scope, name.span)
            }
        };
        let from_file = self.scopes[from.at()].file;
        let Some((model, model_file)) = self.find_model(model_path, from_file) else {
            self.broken_paths.insert(path);
            return;
        };
        let fits = self
            .lineage(model, model_file)
            .is_none_or(|l| l.has(promise));
        if !fits {
            self.report.add(code::NOT_A_REPLACEMENT, span, || {
                Diagnostic::error(
                    code::NOT_A_REPLACEMENT,
                    format!(
                        "`{}` does not extend `{}`",
                        model.name.text, promise.name.text
                    ),
                )
                .primary(span, format!("cannot stand for `{}`", name.text))
                .secondary(bound.span, "what every replacement must extend")
                .help(format!(
                    "write `model {} extends {} {{ … }}`",
                    model.name.text, promise.name.text
                ))
            });
        }
        let given = self.named_arguments(args, from, model);
        match self.instantiate(model, model_file, path, Some(id), given, name.span) {
            Some(part) => {
                self.declare(path, Entity::Instance(part), name.span);
            }
            None => {
                self.broken_paths.insert(path);
            }
        }
    }
}
