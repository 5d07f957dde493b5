//! Which thing every name of a text means.
//!
//! In:  a project, and one of its files.
//! Out: [`Occurrence`]s: each name with the [`Symbol`] it means and whether it makes it.
//!
//! Names are bound as elaboration binds them: what is nearest wins, members of a model come from the models it
//! extends first, a path goes from part to part by their models. A name whose meaning depends on values
//! (members of a function's result, built-in letters such as `.e`) means nothing here.
//!
//! **Invariant:** two names mean one symbol exactly if renaming the one has to rename the other.

mod members;

use crate::analysis::{Analysis, item_name};
use crate::view::is_element;
use members::declared_members;
pub use members::{Place, follow, member_names};
use paynter::syntax::{Span, ast};
use std::collections::BTreeMap;

/// A thing that has a name.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Symbol {
    /// A model, function, constant, domain or port type of a file.
    Item {
        /// The file.
        path: String,
        /// Its name.
        name: String,
    },
    /// An experiment of a file.
    Experiment {
        /// The file.
        path: String,
        /// Its name.
        name: String,
    },
    /// A parameter, input, output, port, node, part or definition of a model.
    Member {
        /// The file.
        path: String,
        /// The model that declares it.
        model: String,
        /// Its name.
        name: String,
    },
    /// A member of a port type.
    PortMember {
        /// The file.
        path: String,
        /// The port type.
        port: String,
        /// Its name.
        name: String,
    },
    /// A measure of an experiment.
    Measure {
        /// The file.
        path: String,
        /// The experiment.
        experiment: String,
        /// Its name.
        name: String,
    },
    /// A running name, a parameter of a function or a name inside of one: known by where it is made.
    Local {
        /// The file.
        path: String,
        /// First byte of the place that makes it.
        at: u32,
    },
    /// A library file.
    Library(String),
}

/// One name in a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Occurrence {
    /// Where.
    pub span: Span,
    /// What it means.
    pub symbol: Symbol,
    /// It makes the symbol.
    pub is_definition: bool,
}

/// Finds every name of a file of the project and what it means, in text order.
pub fn occurrences(analysis: &Analysis, file: usize) -> Vec<Occurrence> {
    let Some(loaded) = analysis.project.files.get(file) else {
        return Vec::new();
    };
    let mut walk = Walk {
        analysis,
        file,
        path: &loaded.canonical_name,
        found: Vec::new(),
        locals: Vec::new(),
        model: None,
        measures: None,
        members: BTreeMap::new(),
    };
    // What is derived from a Lagrangian stands in a text of its own, which nobody edits.
    let is_written = |item: &&ast::Item| item.span.file == loaded.file;
    for item in loaded.ast.items.iter().filter(is_written) {
        walk.item(item);
    }
    let mut found = walk.found;
    found.sort_by_key(|o| (o.span.start, o.span.end));
    found.dedup();
    found
}

/// A model with the file it stands in.
pub type ModelAt<'a> = (usize, &'a ast::Model);

struct Walk<'a> {
    analysis: &'a Analysis,
    file: usize,
    path: &'a str,
    found: Vec<Occurrence>,
    /// Names of the moment, the innermost last.
    locals: Vec<(String, Symbol)>,
    /// The model in whose scope names are read.
    model: Option<ModelAt<'a>>,
    /// The experiment whose measures may be read.
    measures: Option<&'a ast::Experiment>,
    /// For each model level met: what it declares, and what that is.
    members: BTreeMap<(usize, u32), BTreeMap<&'a str, What<'a>>>,
}

/// What a member of a model is, as far as paths lead on from it.
#[derive(Clone, Copy, Debug)]
enum What<'a> {
    /// An instance of the model with this path, read in this file.
    Part(&'a ast::Path, usize),
    /// A port; composite ones have members.
    Port(&'a ast::Path, usize),
    /// Anything else.
    Value,
}

impl<'a> Walk<'a> {
    fn item(&mut self, item: &'a ast::Item) {
        if let Some(name) = item_name(item) {
            let symbol = match &item.kind {
                ast::ItemKind::Experiment(_) => Symbol::Experiment {
                    path: self.path.to_owned(),
                    name: name.text.to_string(),
                },
                _ => self.item_symbol(self.file, &name.text),
            };
            self.add(name.span, symbol, true);
        }
        match &item.kind {
            ast::ItemKind::Use(used) => self.import(used, item.span),
            ast::ItemKind::Domain(_) => {}
            ast::ItemKind::PortType(port) => self.port_type(port),
            ast::ItemKind::Model(model) => {
                self.model = Some((self.file, model));
                if let Some(base) = &model.extends {
                    self.instantiation(&base.path, &base.args);
                }
                self.body(&model.body);
                self.model = None;
            }
            ast::ItemKind::Function(function) => self.function(function),
            ast::ItemKind::Experiment(experiment) => self.experiment(experiment),
            ast::ItemKind::Constant(define) => self.expr(&define.value),
            ast::ItemKind::Lagrangian(lagrangian) => self.lagrangian(lagrangian),
        }
    }

    /// Names of a block are those of the model that is derived from it.
    fn lagrangian(&mut self, lagrangian: &'a ast::Lagrangian) {
        use ast::LagrangianKind as L;
        let symbol = self.item_symbol(self.file, &lagrangian.name.text);
        self.add(lagrangian.name.span, symbol, true);
        let n_locals = self.locals.len();
        for made in crate::lagrangian::made(lagrangian) {
            let symbol = Symbol::Member {
                path: self.path.to_owned(),
                model: lagrangian.name.text.to_string(),
                name: made.name.text.to_string(),
            };
            self.add(made.name.span, symbol.clone(), true);
            self.locals.push((made.name.text.to_string(), symbol));
        }
        for statement in &lagrangian.body {
            match &statement.kind {
                L::Param(list)
                | L::Input(list)
                | L::Output(list)
                | L::Coordinate(list)
                | L::Rate(list)
                | L::Kinetic(list)
                | L::Potential(list)
                | L::Loss(list)
                | L::Given(list) => list.iter().for_each(|d| self.energy(d)),
                L::Effort(list) | L::Speed(list) => {
                    for decl in list {
                        self.dotted(&[&decl.name]);
                        self.energy(decl);
                    }
                }
                L::Port(list) => {
                    for port in list {
                        self.path_use(&port.kind);
                        if let Some(ast::PortBinding::Node(r)) = &port.binding {
                            self.reference(r);
                        }
                    }
                }
                L::Start(list) | L::Guess(list) => list.iter().for_each(|a| self.assign(a)),
                L::Constraint { demand, .. } => {
                    self.expr(&demand.left);
                    self.expr(&demand.right);
                }
                L::Define(define) => self.expr(&define.value),
            }
        }
        self.locals.truncate(n_locals);
    }

    fn energy(&mut self, decl: &'a ast::Decl) {
        decl.value.iter().for_each(|e| self.expr(e));
        decl.range.iter().for_each(|r| self.range(r));
    }

    fn item_symbol(&self, file: usize, name: &str) -> Symbol {
        Symbol::Item {
            path: self.analysis.project.files[file].canonical_name.clone(),
            name: name.to_owned(),
        }
    }

    fn add(&mut self, span: Span, symbol: Symbol, is_definition: bool) {
        self.found.push(Occurrence {
            span,
            symbol,
            is_definition,
        });
    }

    fn import(&mut self, used: &'a ast::Use, span: Span) {
        if let ast::UseFrom::Library(path) = &used.from {
            let name = crate::view::path_text(path);
            self.add(path.span, Symbol::Library(name), false);
        }
        let imports = &self.analysis.project.files[self.file].imports;
        let Some(import) = imports.iter().find(|i| i.span == span) else {
            return;
        };
        let from = import.file;
        let items = &self.analysis.project.files[from].ast.items;
        for name in &used.names {
            if items
                .iter()
                .filter_map(item_name)
                .any(|n| n.text == name.text)
            {
                self.add(name.span, self.item_symbol(from, &name.text), false);
            }
        }
    }

    fn port_type(&mut self, port: &'a ast::PortType) {
        for member in &port.members {
            let name = match member {
                ast::PortMember::Power { name, domain, .. } => {
                    self.path_use(domain);
                    name
                }
                ast::PortMember::Signal(decl) => &decl.name,
            };
            let symbol = Symbol::PortMember {
                path: self.path.to_owned(),
                port: port.name.text.to_string(),
                name: name.text.to_string(),
            };
            self.add(name.span, symbol, true);
        }
    }

    fn function(&mut self, function: &'a ast::Function) {
        let n_locals = self.locals.len();
        for param in &function.params {
            self.local(&param.name);
            param.value.iter().for_each(|e| self.expr(e));
            param.shape.iter().flatten().for_each(|e| self.expr(e));
        }
        match &function.body {
            ast::FunctionBody::Expr(e) => self.expr(e),
            ast::FunctionBody::Block { defines, results } => {
                for define in defines {
                    if let Some(part) = define.target.parts.first() {
                        self.local(&part.name);
                    }
                }
                defines.iter().for_each(|d| self.expr(&d.value));
                results.iter().for_each(|(_, e)| self.expr(e));
            }
            ast::FunctionBody::External => {}
        }
        self.locals.truncate(n_locals);
    }

    fn local(&mut self, name: &ast::Ident) {
        let symbol = Symbol::Local {
            path: self.path.to_owned(),
            at: name.span.start,
        };
        self.add(name.span, symbol.clone(), true);
        self.locals.push((name.text.to_string(), symbol));
    }

    fn experiment(&mut self, experiment: &'a ast::Experiment) {
        match &experiment.extends {
            None => self.path_use(&experiment.of),
            // Its model is named where that one is written.
            Some(base) => {
                let symbol = Symbol::Experiment {
                    path: self.path.to_owned(),
                    name: base.text.to_string(),
                };
                self.add(base.span, symbol, false);
            }
        }
        self.model = self.analysis.find_model(&experiment.of, self.file);
        self.measures = Some(experiment);
        for statement in &experiment.body {
            self.experiment_statement(experiment, &statement.kind);
        }
        self.measures = None;
        self.model = None;
    }

    fn experiment_statement(
        &mut self,
        experiment: &'a ast::Experiment,
        kind: &'a ast::ExperimentKind,
    ) {
        use ast::ExperimentKind as E;
        match kind {
            E::With(list) | E::Start(list) | E::Guess(list) => {
                list.iter().for_each(|a| self.assign(a));
            }
            // Words such as `auto` are not names of anything.
            E::Setting { value, .. } => {
                if !matches!(value.kind, ast::ExprKind::Name(_)) {
                    self.expr(value);
                }
            }
            E::Record(list) => list.iter().for_each(|r| self.expr(&r.value)),
            E::Plot { ys, versus } => ys.iter().chain(versus).for_each(|e| self.expr(e)),
            E::Measure(list) => {
                for (name, value) in list {
                    let symbol = measure_symbol(self.path, experiment, &name.text);
                    self.add(name.span, symbol, true);
                    self.expr(value);
                }
            }
            E::Sweep { target, over } => {
                self.reference(target);
                self.range(over);
            }
            E::Optimize {
                over,
                minimize,
                maximize,
                subject,
                // Names of experiments: nothing is renamed there.
                worst: _,
                mean: _,
            } => {
                for (target, range) in over {
                    self.reference(target);
                    self.range(range);
                }
                let all = minimize.iter().chain(maximize).chain(subject);
                all.for_each(|e| self.expr(e));
            }
            E::Fit { over, sigmas, .. } => {
                for (target, range) in over {
                    self.reference(target);
                    self.range(range);
                }
                sigmas.iter().for_each(|(_, e)| self.expr(e));
            }
            E::Limit(list) => list.iter().for_each(|e| self.expr(e)),
            E::Compare { within, .. } => within.iter().for_each(|e| self.expr(e)),
            E::Trim(list) => list.iter().for_each(|r| self.reference(r)),
            E::Linearize { from, to } => from.iter().chain(to).for_each(|r| self.reference(r)),
        }
    }

    fn assign(&mut self, assign: &'a ast::Assign) {
        self.reference(&assign.target);
        self.expr(&assign.value);
    }

    fn range(&mut self, range: &'a ast::Range) {
        let ends = [Some(&range.from), range.to.as_ref(), range.by.as_ref()];
        ends.into_iter().flatten().for_each(|e| self.expr(e));
    }

    // ---- the body of a model

    fn body(&mut self, body: &'a [ast::Stmt]) {
        body.iter().for_each(|s| self.statement(&s.kind));
    }

    fn statement(&mut self, kind: &'a ast::StmtKind) {
        use ast::StmtKind as S;
        match kind {
            S::Param(list) | S::Input(list) | S::Output(list) => {
                list.iter().for_each(|d| self.declaration(d));
            }
            S::Port(list) => list.iter().for_each(|p| self.port(p)),
            S::Outer { name, path } => {
                self.declared(name);
                self.path_use(path);
            }
            S::Replaceable {
                name,
                bound,
                default,
            } => self.replaceable(name, bound, default.as_ref()),
            S::NamedBond { name, chain } => {
                self.declared(name);
                self.chain(chain);
            }
            S::Chain(chain) => self.chain(chain),
            S::Define(define) => self.define(define),
            S::Solve {
                unknowns,
                equations,
            } => {
                unknowns.iter().for_each(|n| self.declared(n));
                equations.iter().for_each(|d| self.demand(d));
            }
            S::Invariant(demand) => self.demand(demand),
            S::Start(list) | S::Guess(list) => list.iter().for_each(|a| self.assign(a)),
            S::Sample { rate, body } => {
                self.expr(rate);
                body.iter().for_each(|d| self.define(d));
            }
            S::When {
                name,
                condition,
                actions,
            } => self.when(name.as_ref(), condition, actions),
            S::For {
                variable,
                range,
                body,
            } => self.loop_over(variable, range, body),
            S::If {
                condition,
                then,
                otherwise,
            } => {
                self.expr(condition);
                self.body(then);
                self.body(otherwise);
            }
            S::Layout(list) => list.iter().for_each(|p| self.reference(&p.target)),
        }
    }

    fn replaceable(
        &mut self,
        name: &'a ast::Ident,
        bound: &'a ast::Path,
        default: Option<&'a ast::Instantiation>,
    ) {
        self.declared(name);
        self.path_use(bound);
        if let Some(default) = default {
            self.instantiation(&default.path, &default.args);
        }
    }

    fn when(
        &mut self,
        name: Option<&'a ast::Ident>,
        condition: &'a ast::Expr,
        actions: &'a [ast::Action],
    ) {
        name.into_iter().for_each(|n| self.declared(n));
        self.expr(condition);
        actions.iter().for_each(|a| self.action(a));
    }

    fn demand(&mut self, demand: &'a ast::Demand) {
        self.expr(&demand.left);
        self.expr(&demand.right);
    }

    fn action(&mut self, action: &'a ast::Action) {
        match action {
            ast::Action::Reinit(assign) => self.assign(assign),
            ast::Action::Define(define) => self.define(define),
            ast::Action::Stop { .. } => {}
        }
    }

    /// Names under one variable of a loop, which is known in its body only.
    fn loop_over(
        &mut self,
        variable: &'a ast::Ident,
        range: &'a ast::Range,
        body: &'a [ast::Stmt],
    ) {
        self.range(range);
        let n_locals = self.locals.len();
        self.local(variable);
        self.body(body);
        self.locals.truncate(n_locals);
    }

    /// A name that this model declares; a base may have declared it first.
    fn declared(&mut self, name: &'a ast::Ident) {
        let Some(symbol) = self.member_symbol(&name.text) else {
            return;
        };
        let own = self.model.map(|(file, model)| (file, &*model.name.text));
        let is_own = match &symbol {
            Symbol::Member { path, model, .. } => own.is_some_and(|(file, m)| {
                m == model && self.analysis.project.files[file].canonical_name == *path
            }),
            _ => false,
        };
        self.add(name.span, symbol, is_own);
    }

    fn declaration(&mut self, decl: &'a ast::Decl) {
        self.declared(&decl.name);
        decl.value.iter().for_each(|e| self.expr(e));
        decl.shape.iter().flatten().for_each(|e| self.expr(e));
        decl.range.iter().for_each(|r| self.range(r));
        decl.kind.iter().for_each(|k| self.path_use(k));
    }

    fn port(&mut self, port: &'a ast::PortDecl) {
        self.declared(&port.name);
        self.path_use(&port.kind);
        port.size.iter().for_each(|e| self.expr(e));
        match &port.binding {
            Some(ast::PortBinding::Node(r)) => self.reference(r),
            Some(ast::PortBinding::Members(list)) => {
                for (name, value) in list {
                    if let Some(symbol) = self.port_member(&port.kind, self.file, &name.text) {
                        self.add(name.span, symbol, false);
                    }
                    self.expr(value);
                }
            }
            None => {}
        }
    }

    fn define(&mut self, define: &'a ast::Define) {
        match define.target.parts.as_slice() {
            [only] => {
                self.declared(&only.name);
                only.index.iter().for_each(|e| self.expr(e));
            }
            _ => self.reference(&define.target),
        }
        self.expr(&define.value);
    }

    fn chain(&mut self, chain: &'a ast::Chain) {
        chain.groups.iter().flatten().for_each(|n| self.node(n));
    }

    fn node(&mut self, node: &'a ast::Node) {
        match &node.kind {
            ast::NodeKind::Thing { name, index, kind } => {
                self.declared(name);
                index.iter().for_each(|e| self.expr(e));
                self.kind(kind);
            }
            ast::NodeKind::Anonymous(kind) => self.kind(kind),
            ast::NodeKind::Ref(r) => self.reference(r),
            ast::NodeKind::Tuple(members) => members.iter().for_each(|m| self.node(m)),
            ast::NodeKind::Fixed => {}
        }
    }

    fn kind(&mut self, kind: &'a ast::Kind) {
        kind.size.iter().for_each(|e| self.expr(e));
        let args = kind.args.as_deref().unwrap_or(&[]);
        match &kind.head {
            ast::KindHead::Named(path) if !is_element(kind) => self.instantiation(path, args),
            _ => args.iter().for_each(|a| self.expr(&a.value)),
        }
        // Letters of the law hide names of the model.
        let n_locals = self.locals.len();
        if kind.law.is_some() {
            for letter in LAW_LETTERS {
                self.locals
                    .push(((*letter).to_owned(), Symbol::Library(String::new())));
            }
        }
        for equation in kind.law.iter().flatten() {
            equation.index.iter().for_each(|e| self.expr(e));
            self.expr(&equation.value);
        }
        self.locals.truncate(n_locals);
    }

    /// A model with arguments: their names are members of that model.
    fn instantiation(&mut self, path: &'a ast::Path, args: &'a [ast::Arg]) {
        self.path_use(path);
        let model = self.analysis.find_model(path, self.file);
        for arg in args {
            if let (Some(name), Some(model)) = (&arg.name, model)
                && let Some(symbol) = self.symbol_in(model, &name.text)
            {
                self.add(name.span, symbol, false);
            }
            self.expr(&arg.value);
        }
    }

    /// The name of an item: of a model, function, domain or port type.
    fn path_use(&mut self, path: &'a ast::Path) {
        if let Some((file, item)) = self.analysis.find(path, self.file)
            && let (Some(name), Some(last)) = (item_name(item), path.segments.last())
        {
            let symbol = self.item_symbol(file, &name.text);
            self.add(last.span, symbol, false);
            if let [prefix, _] = path.segments.as_slice() {
                self.add(prefix.span, Symbol::Library(prefix.text.to_string()), false);
            }
        }
    }

    // ---- references and expressions

    fn reference(&mut self, r: &'a ast::Ref) {
        for part in &r.parts {
            part.index.iter().for_each(|e| self.expr(e));
        }
        let names: Vec<&ast::Ident> = r.parts.iter().map(|p| &p.name).collect();
        self.dotted(&names);
    }

    /// Binds a dotted name step by step.
    fn dotted(&mut self, names: &[&'a ast::Ident]) {
        let Some((first, rest)) = names.split_first() else {
            return;
        };
        if let Some((_, symbol)) = self.locals.iter().rev().find(|(n, _)| *n == *first.text) {
            let symbol = symbol.clone();
            if symbol != Symbol::Library(String::new()) {
                self.add(first.span, symbol, false);
            }
            return;
        }
        let Some(model) = self.model else {
            self.item_name_use(first);
            return;
        };
        match self.what(model, &first.text) {
            Some((symbol, what)) => {
                self.add(first.span, symbol, false);
                self.members_of(what, rest);
            }
            None => self.measure_or_item(first),
        }
    }

    fn measure_or_item(&mut self, name: &'a ast::Ident) {
        let is_measure = |e: &&ast::Experiment| {
            e.body.iter().any(|s| match &s.kind {
                ast::ExperimentKind::Measure(list) => list.iter().any(|(n, _)| n.text == name.text),
                _ => false,
            })
        };
        match self.measures.filter(is_measure) {
            Some(experiment) => {
                let symbol = measure_symbol(self.path, experiment, &name.text);
                self.add(name.span, symbol, false);
            }
            None => self.item_name_use(name),
        }
    }

    fn item_name_use(&mut self, name: &'a ast::Ident) {
        if let Some((file, item)) = self.analysis.find_name(&name.text, self.file)
            && let Some(found) = item_name(item)
        {
            let symbol = self.item_symbol(file, &found.text);
            self.add(name.span, symbol, false);
        }
    }

    /// Binds what stands behind the dots.
    fn members_of(&mut self, what: What<'a>, names: &[&'a ast::Ident]) {
        let Some((first, rest)) = names.split_first() else {
            return;
        };
        match what {
            What::Part(path, file) => {
                let Some(model) = self.analysis.find_model(path, file) else {
                    return;
                };
                if let Some((symbol, what)) = self.what(model, &first.text) {
                    self.add(first.span, symbol, false);
                    self.members_of(what, rest);
                }
            }
            What::Port(path, file) => {
                if let Some(symbol) = self.port_member(path, file, &first.text) {
                    self.add(first.span, symbol, false);
                }
            }
            What::Value => {}
        }
    }

    fn port_member(&self, path: &ast::Path, file: usize, name: &str) -> Option<Symbol> {
        let (at, item) = self.analysis.find(path, file)?;
        let ast::ItemKind::PortType(port) = &item.kind else {
            return None;
        };
        let has = port.members.iter().any(|m| match m {
            ast::PortMember::Power { name: n, .. } => &*n.text == name,
            ast::PortMember::Signal(decl) => &*decl.name.text == name,
        });
        has.then(|| Symbol::PortMember {
            path: self.analysis.project.files[at].canonical_name.clone(),
            port: port.name.text.to_string(),
            name: name.to_owned(),
        })
    }

    fn member_symbol(&mut self, name: &str) -> Option<Symbol> {
        self.symbol_in(self.model?, name)
    }

    fn symbol_in(&mut self, model: ModelAt<'a>, name: &str) -> Option<Symbol> {
        self.what(model, name).map(|(symbol, _)| symbol)
    }

    /// Finds a member: the level furthest up that declares it.
    fn what(&mut self, (file, model): ModelAt<'a>, name: &str) -> Option<(Symbol, What<'a>)> {
        let levels = self.analysis.lineage(model, file);
        for (file, level) in levels.into_iter().rev() {
            let key = (file, level.name.span.start);
            let known = self
                .members
                .entry(key)
                .or_insert_with(|| declared_members(level, file));
            if let Some(what) = known.get(name) {
                let symbol = Symbol::Member {
                    path: self.analysis.project.files[file].canonical_name.clone(),
                    model: level.name.text.to_string(),
                    name: name.to_owned(),
                };
                return Some((symbol, *what));
            }
        }
        None
    }

    fn expr(&mut self, expr: &'a ast::Expr) {
        use ast::ExprKind as E;
        match &expr.kind {
            E::Number { .. } | E::Bool(_) | E::Text(_) => {}
            E::Matrix { rows, .. } => rows.iter().flatten().for_each(|e| self.expr(e)),
            E::Name(name) => self.dotted(&[name]),
            E::Field { .. } | E::Index { .. } => self.postfix(expr),
            E::Call { function, args } => self.call(function, args),
            E::Comprehension {
                function,
                body,
                variable,
                range,
            } => {
                self.path_use(function);
                self.range(range);
                let n_locals = self.locals.len();
                self.local(variable);
                self.expr(body);
                self.locals.truncate(n_locals);
            }
            E::Unary { of, .. } | E::Transpose(of) => self.expr(of),
            E::Binary { left, right, .. } => {
                self.expr(left);
                self.expr(right);
            }
            E::If {
                condition,
                then,
                otherwise,
            } => {
                self.expr(condition);
                self.expr(then);
                self.expr(otherwise);
            }
        }
    }

    /// `link[i].b.f`: names, with indices read on the way.
    fn postfix(&mut self, expr: &'a ast::Expr) {
        let mut names = Vec::new();
        let mut at = expr;
        loop {
            match &at.kind {
                ast::ExprKind::Field { of, name } => {
                    names.push(name);
                    at = of;
                }
                ast::ExprKind::Index { of, index } => {
                    index.iter().for_each(|e| self.expr(e));
                    at = of;
                }
                ast::ExprKind::Name(name) => {
                    names.push(name);
                    names.reverse();
                    return self.dotted(&names);
                }
                _ => return self.expr(at),
            }
        }
    }

    fn call(&mut self, function: &'a ast::Path, args: &'a [ast::Arg]) {
        if self.analysis.find_model(function, self.file).is_some() {
            return self.instantiation(function, args);
        }
        self.path_use(function);
        let found = self.analysis.find(function, self.file);
        for arg in args {
            if let (Some(name), Some((file, item))) = (&arg.name, found)
                && let ast::ItemKind::Function(f) = &item.kind
                && let Some(param) = f.params.iter().find(|p| p.name.text == name.text)
            {
                let symbol = Symbol::Local {
                    path: self.analysis.project.files[file].canonical_name.clone(),
                    at: param.name.span.start,
                };
                self.add(name.span, symbol, false);
            }
            self.expr(&arg.value);
        }
    }
}

/// What equations of a law may be about.
const LAW_LETTERS: &[&str] = &[
    "e", "f", "q", "p", "e1", "f1", "e2", "f2", "q1", "q2", "p1", "p2",
];

fn measure_symbol(path: &str, experiment: &ast::Experiment, name: &str) -> Symbol {
    Symbol::Measure {
        path: path.to_owned(),
        experiment: experiment.name.text.to_string(),
        name: name.to_owned(),
    }
}
