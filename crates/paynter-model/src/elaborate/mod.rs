//! From parsed files to a flat bond graph: names bound, values in SI, units checked.
//!
//! In:  a [`Project`] and a [`Request`]: which model, which experiment, which values changed.
//! Out: an [`Elaboration`]: the graph, the scope for reading more expressions, and messages.
//!
//! | pass | file | does |
//! |---|---|---|
//! | 1 | `collect`, `structure` | makes parts, things, ports, named values; expands `for` and `if` |
//! | 2 | `connect`, `domain` | makes scalar bonds, splices ports, finds domains |
//! | 3 | `finish`, `law`, `elements` | lowers everything that is left and makes the elements |
//!
//! `lower`, `names`, `call`, `read` and `define` turn expressions into values at any time;
//! definitions are resolved when first read.
//!
//! **Invariant:** the order of lines in a model changes no value and no connection. Cost is
//! linear in the size of the flat graph.

mod call;
pub mod code;
mod collect;
mod connect;
mod constants;
mod data;
mod define;
mod domain;
mod elements;
mod finish;
mod guess;
mod law;
mod limit;
mod lower;
mod names;
mod read;
mod report;
mod structure;
mod temperature;
pub mod value;

use paynter_symbolic::{ExprId, Names, Origin, PathId, Role, Symbol, SymbolId};
use paynter_syntax::{Diagnostic, Span, ast};
use rustc_hash::{FxHashMap, FxHashSet};
use std::sync::Arc;

use crate::domains::Domains;
use crate::graph::{BondGraph, ElementKind};
use crate::laws::check_graph;
use crate::project::{LoadedFile, Project, Request, item_name};
use crate::suggest::nearest;
use crate::units::{Dimension, Unit};
pub(crate) use call::SPECIAL as SPECIAL_FUNCTIONS;
use data::*;
pub use limit::Limit;
use lower::{Ctx, Stop, Target};
use value::Value;

/// What elaboration gives.
#[derive(Debug)]
pub struct Elaboration<'a> {
    /// The graph and its scope; none if the model has errors.
    pub elaborated: Option<Elaborated<'a>>,
    /// Every message, errors and warnings.
    pub diagnostics: Vec<Diagnostic>,
}

/// A model without errors: its graph, and everything needed to read more of it.
#[derive(Debug)]
pub struct Elaborated<'a> {
    elaborator: Elaborator<'a>,
    /// The model.
    pub model: &'a ast::Model,
    /// The experiment, if one was asked for.
    pub experiment: Option<&'a ast::Experiment>,
    /// Parameters that shape the graph (sizes, `for`, `if`), directly or through others: a sweep
    /// over one of them has to elaborate again.
    pub structural: Vec<SymbolId>,
    /// Ranges that parameters must keep when a sweep changes them.
    pub limits: Vec<Limit>,
}

impl<'a> Elaborated<'a> {
    /// Gives the graph.
    pub fn graph(&self) -> &BondGraph {
        &self.elaborator.graph
    }

    /// Gives the graph for further work on its expressions.
    pub fn graph_mut(&mut self) -> &mut BondGraph {
        &mut self.elaborator.graph
    }

    /// Gives up the scope and keeps the graph.
    pub fn into_graph(self) -> BondGraph {
        self.elaborator.graph
    }

    /// Gives the energy domains with their units.
    pub fn domains(&self) -> &Domains {
        &self.elaborator.domains
    }

    /// Lowers an expression in the scope of the top model, as seen from the file of the
    /// experiment or model. It may make new symbols, equations and readings in the graph.
    ///
    /// # Errors
    ///
    /// The messages about it.
    pub fn lower(&mut self, e: &ast::Expr) -> Result<Value, Vec<Diagnostic>> {
        let scope = self.elaborator.reading_scope();
        with_stack(|| self.reporting(|this| this.lower_or_report(e, Ctx::of(scope))))
    }

    /// Lowers a reference such as the target of a sweep, in the same scope.
    ///
    /// # Errors
    ///
    /// The messages about it.
    pub fn lower_ref(&mut self, r: &ast::Ref) -> Result<Value, Vec<Diagnostic>> {
        let scope = self.elaborator.reading_scope();
        self.reporting(|this| this.read_ref(r, scope))
    }

    /// Reads a quantity by its path: `inner.ix.p`, `link[3].b.f`.
    ///
    /// # Errors
    ///
    /// The messages about it.
    pub fn read(&mut self, path: &str) -> Result<Value, Vec<Diagnostic>> {
        let r = ref_from_text(path).ok_or_else(|| {
            vec![Diagnostic::error(
                code::UNKNOWN_NAME,
                format!("`{path}` is not a path"),
            )]
        })?;
        self.lower_ref(&r)
    }

    /// Gives the value of an expression that reads only numbers and parameters.
    pub fn constant(&mut self, e: ExprId) -> Option<f64> {
        let elaborator = &mut self.elaborator;
        elaborator.constants.value(&elaborator.graph.signals, e)
    }

    /// Reads a unit as written in an experiment.
    ///
    /// # Errors
    ///
    /// The message about it.
    pub fn unit(&self, unit: &ast::Unit) -> Result<Unit, Box<Diagnostic>> {
        Unit::parse(unit).map_err(|e| Box::new(e.to_diagnostic()))
    }

    /// Gives the unit that a named signal of the top model is shown in.
    pub fn display_unit(&mut self, path: &str) -> Option<Unit> {
        let elaborator = &mut self.elaborator;
        let mut at = Names::ROOT;
        for part in &ref_from_text(path)?.parts {
            let index = match part.index.as_slice() {
                [
                    ast::Expr {
                        kind: ast::ExprKind::Number { value, .. },
                        ..
                    },
                ] => Some(*value as i64),
                _ => None,
            };
            at = elaborator
                .graph
                .signals
                .names
                .find(at, &part.name.text, index)?;
        }
        let Entity::Def(def) = elaborator.entity(at) else {
            return None;
        };
        let d = &elaborator.defs[def.at()];
        // `input cmd = 0 [deg]` says as much as `input cmd [deg] = 0`.
        let of_literal = |e: &'a ast::Expr| match &e.kind {
            ast::ExprKind::Number { unit, .. } | ast::ExprKind::Matrix { unit, .. } => {
                unit.as_ref()
            }
            _ => None,
        };
        let of_decl = |d: &'a ast::Decl| {
            d.unit
                .as_ref()
                .or_else(|| d.value.as_ref().and_then(of_literal))
        };
        let unit = d.unit.or_else(|| d.decl.and_then(of_decl))?;
        elaborator.unit(unit).map(|u| (*u).clone())
    }

    /// Gives the unit that each state is shown in, where it is known.
    pub fn state_units(&mut self) -> FxHashMap<SymbolId, Unit> {
        let mut units = FxHashMap::default();
        let elaborator = &mut self.elaborator;
        for element in &elaborator.graph.elements {
            let Some(domain) = element.domain.map(|d| elaborator.domains.get(d)) else {
                continue;
            };
            let quantity = match element.kind {
                ElementKind::C => Some(&domain.displacement),
                ElementKind::I => domain.momentum.as_ref(),
                _ => None,
            };
            if let Some(quantity) = quantity {
                let own = element.states.iter().map(|&s| (s, quantity.unit.clone()));
                units.extend(own);
            }
        }
        for at in 0..elaborator.defs.len() {
            let d = &elaborator.defs[at];
            let (DefKind::State, Progress::Done(value)) = (d.kind, &d.progress) else {
                continue;
            };
            let (elements, dimension) = (value.elements.clone(), value.dimension);
            // What stands behind `der(x) =` is the rate, so only the unit of the name counts.
            let declared = d.unit.or_else(|| d.decl.and_then(|d| d.unit.as_ref()));
            let unit = match declared {
                Some(unit) => elaborator.unit(unit).map(|u| (*u).clone()),
                None => dimension.filter(|d| !d.is_one()).map(Dimension::unit),
            };
            let Some(unit) = unit else { continue };
            let pool = &elaborator.graph.signals.pool;
            let symbols = elements.iter().filter_map(|&e| pool.as_symbol(e));
            units.extend(symbols.map(|s| (s, unit.clone())));
        }
        units
    }

    /// Gives the text under a span.
    pub fn text(&self, span: Span) -> &str {
        self.elaborator.project.sources.text(span)
    }

    /// Finds what an experiment may set: a parameter or input (`Some(false)`) or a part
    /// (`Some(true)`).
    pub fn settable(&self, r: &ast::Ref) -> Option<bool> {
        let mut at = Names::ROOT;
        for part in &r.parts {
            let index = match part.index.as_slice() {
                [
                    ast::Expr {
                        kind: ast::ExprKind::Number { value, .. },
                        ..
                    },
                ] => Some(*value as i64),
                _ => None,
            };
            at = self
                .elaborator
                .graph
                .signals
                .names
                .find(at, &part.name.text, index)?;
        }
        match self.elaborator.entity(at) {
            Entity::Def(def) => {
                let kind = self.elaborator.defs[def.at()].kind;
                matches!(kind, DefKind::Param | DefKind::Input).then_some(false)
            }
            Entity::Instance(_) => Some(true),
            _ => None,
        }
    }

    /// Makes an origin for something that a later stage adds.
    pub fn origin(&mut self, span: Span) -> Origin {
        self.elaborator.origin(span)
    }

    fn reporting<T>(
        &mut self,
        f: impl FnOnce(&mut Elaborator<'a>) -> Option<T>,
    ) -> Result<T, Vec<Diagnostic>> {
        let elaborator = &mut self.elaborator;
        elaborator.report = report::Report::default();
        let found = f(elaborator);
        elaborator.define_quantities();
        let told = std::mem::take(&mut elaborator.report);
        match found {
            Some(found) if !told.has_errors() => Ok(found),
            _ => Err(told.list),
        }
    }
}

/// Turns `link[3].b.f` into a reference without a place in the text.
fn ref_from_text(path: &str) -> Option<ast::Ref> {
    let span = Span::default();
    let mut parts = Vec::new();
    for segment in path.split('.') {
        let (name, index) = match segment.split_once('[') {
            None => (segment, Vec::new()),
            Some((name, rest)) => {
                let numbers = rest.strip_suffix(']')?.split([',', '[']);
                let mut index = Vec::new();
                for number in numbers {
                    let value: f64 = number.trim().trim_end_matches(']').parse().ok()?;
                    index.push(ast::Expr {
                        span,
                        kind: ast::ExprKind::Number { value, unit: None },
                    });
                }
                (name, index)
            }
        };
        if name.is_empty() {
            return None;
        }
        parts.push(ast::RefPart {
            name: ast::Ident {
                text: name.into(),
                span,
            },
            index,
        });
    }
    Some(ast::Ref { parts, span })
}

/// Stack of the thread that elaborates. Expressions are at most 500 high in the text and parts
/// 64 deep; this is room for all of that at once, and costs nothing until it is used.
const STACK_BYTES: usize = 256 << 20;

/// Elaborates one model of the main file.
pub fn elaborate<'a>(project: &'a Project, request: &'a Request) -> Elaboration<'a> {
    with_stack(|| elaborate_here(project, request))
}

fn with_stack<T: Send>(work: impl FnOnce() -> T + Send) -> T {
    std::thread::scope(|scope| {
        let worker = std::thread::Builder::new()
            .stack_size(STACK_BYTES)
            .spawn_scoped(scope, work);
        match worker.expect("a thread can be started").join() {
            Ok(done) => done,
            Err(panic) => std::panic::resume_unwind(panic),
        }
    })
}

fn elaborate_here<'a>(project: &'a Project, request: &'a Request) -> Elaboration<'a> {
    let mut elaborator = Elaborator::new(project);
    let Some((model, file, experiment)) = elaborator.choose(request) else {
        return Elaboration {
            elaborated: None,
            diagnostics: elaborator.report.in_text_order(),
        };
    };
    elaborate_until_known(elaborator, |elaborator| {
        elaborator.run(model, file, experiment, request);
    })
    .complete(model, experiment.map(|e| e.0))
}

/// Elaborates, and again as long as units become known too late for their readers: the unit
/// of a state may only follow from its equation, which reads others.
fn elaborate_until_known<'a>(
    first: Elaborator<'a>,
    run: impl Fn(&mut Elaborator<'a>),
) -> Elaborator<'a> {
    // Each round passes units one state further; a longer chain without a unit anywhere is
    // left as it is, since an unknown unit is always allowed.
    const MAX_ROUNDS: usize = 3;
    let mut elaborator = first;
    run(&mut elaborator);
    for _ in 1..MAX_ROUNDS {
        if elaborator.learned.is_empty() || elaborator.report.has_errors() {
            break;
        }
        let mut again = Elaborator::new(elaborator.project);
        (again.is_lenient, again.is_whole) = (elaborator.is_lenient, elaborator.is_whole);
        again.hints = elaborator.hints;
        again.hints.extend(elaborator.learned);
        run(&mut again);
        elaborator = again;
    }
    elaborator
}

/// Checks every model and experiment of the main file.
///
/// A model that leaves parameters, inputs or ports open is checked with these as unknown
/// numbers; what would only go wrong for some values is not reported then.
pub fn check(project: &Project) -> Vec<Diagnostic> {
    with_stack(|| check_here(project))
}

fn check_here(project: &Project) -> Vec<Diagnostic> {
    let mut report = report::Report::default();
    let Some(main) = project.files.first() else {
        return report.list;
    };
    let is_empty = main.ast.items.is_empty() && main.ast.units_strict.is_none();
    if is_empty && !main.is_broken {
        report.list.push(no_model());
    }
    let request = Request::default();
    // What is wrong in a model is wrong in every experiment of it, and told once; so is a name
    // that several experiments of one model read in vain.
    let mut told = FxHashSet::default();
    let mut blamed: FxHashMap<Span, Vec<Span>> = FxHashMap::default();
    for item in &main.ast.items {
        let mut elaborator = Elaborator::new(project);
        let elaboration = match &item.kind {
            ast::ItemKind::Model(model) => {
                elaborator.is_lenient = true;
                elaborator.is_whole = is_whole(main, model);
                elaborate_until_known(elaborator, |e| e.run(model, 0, None, &request))
                    .complete(model, None)
            }
            ast::ItemKind::Experiment(experiment) => {
                match elaborator.find_model(&experiment.of, 0) {
                    Some((model, file)) => elaborate_until_known(elaborator, |e| {
                        e.run(model, file, Some((experiment, 0)), &request);
                    })
                    .complete(model, Some(experiment)),
                    None => Elaboration {
                        elaborated: None,
                        diagnostics: elaborator.report.list,
                    },
                }
            }
            _ => Elaboration {
                elaborated: None,
                diagnostics: elaborator.report.list,
            },
        };
        let mut messages = elaboration.diagnostics;
        if let Some(mut elaborated) = elaboration.elaborated {
            messages.extend(messages_of_plan(&mut elaborated));
        }
        if let ast::ItemKind::Experiment(experiment) = &item.kind {
            let model: Vec<&str> = experiment.of.segments.iter().map(|s| &*s.text).collect();
            let model = model.join(".");
            messages.retain(|m| {
                !matches!(m.code, code::UNKNOWN_NAME | code::BAD_OVERRIDE)
                    || told.insert((model.clone(), m.message.clone()))
            });
        }
        // A declaration with a wrong unit is wrong in every experiment that gives it a value.
        messages.retain(|m| match (m.code, m.secondary.first()) {
            (code::UNIT_MISMATCH | code::UNIT_NOT_OF_DOMAIN, Some(origin)) => {
                let times: &mut Vec<Span> = blamed.entry(origin.span).or_default();
                let place = m.primary.as_ref().map_or(origin.span, |l| l.span);
                if !times.contains(&place) {
                    times.push(place);
                }
                times.len() <= lower::ENOUGH_BLAME as usize
            }
            _ => true,
        });
        report.merge(messages);
    }
    report.in_text_order()
}

fn no_model() -> Diagnostic {
    Diagnostic::error(code::NO_MODEL, "the file has no model")
        .help("a model begins with `model Name {`")
}

/// Tells whether a model can only be meant to run by itself: it is the last of its file, has
/// no port and no `outer`, and is not the base of experiments alone.
fn is_whole(file: &LoadedFile, model: &ast::Model) -> bool {
    let last = file.ast.items.iter().rev().find_map(|i| match &i.kind {
        ast::ItemKind::Model(m) => Some(m),
        _ => None,
    });
    let is_open =
        |s: &ast::Stmt| matches!(s.kind, ast::StmtKind::Port(_) | ast::StmtKind::Outer { .. });
    last.is_some_and(|last| std::ptr::eq(last, model))
        && model.extends.is_none()
        && !model.body.iter().any(is_open)
}

/// Checks what an experiment asks for. Messages about settings, columns and measures.
fn messages_of_plan(model: &mut Elaborated<'_>) -> Vec<Diagnostic> {
    match model.experiment {
        Some(experiment) => crate::experiment::plan(experiment, model).1,
        None => Vec::new(),
    }
}

/// A model with its file, and the experiment with its.
type Chosen<'a> = (&'a ast::Model, u32, Option<(&'a ast::Experiment, u32)>);

/// A top-level thing and the file it stands in.
#[derive(Clone, Copy, Debug)]
enum Item<'a> {
    Model(&'a ast::Model, u32),
    Function(&'a ast::Function, u32),
    Constant(&'a ast::Define, u32),
    PortType(&'a ast::PortType, u32),
    Domain(&'a ast::Domain),
    /// A name that a `use` should have brought; that it did not was told.
    Missing(Span),
}

/// What can be named at the top level of a file.
#[derive(Debug, Default)]
struct FileNames<'a> {
    names: FxHashMap<&'a str, Item<'a>>,
    /// `mechanics3d` of `mechanics3d.World`.
    prefixes: FxHashMap<&'a str, usize>,
    is_strict: bool,
}

/// A model and those it extends, itself first.
#[derive(Debug)]
struct Lineage<'a> {
    levels: Vec<Level<'a>>,
}

impl Lineage<'_> {
    /// Tells whether the model is, or extends, `model`.
    fn has(&self, model: &ast::Model) -> bool {
        self.levels.iter().any(|l| std::ptr::eq(l.model, model))
    }
}

#[derive(Debug)]
struct Level<'a> {
    model: &'a ast::Model,
    file: u32,
    extends_args: &'a [ast::Arg],
}

/// A value given from outside.
#[derive(Debug)]
struct Change<'a> {
    value: &'a ast::Expr,
    scope: ScopeId,
    span: Span,
    is_used: bool,
}

#[derive(Debug)]
struct Outer<'a> {
    instance: InstanceId,
    name: &'a ast::Ident,
    path: &'a ast::Path,
    scope: ScopeId,
}

#[derive(Debug)]
struct PendingSolve<'a> {
    scope: ScopeId,
    sought: Vec<DefId>,
    equations: &'a [ast::Demand],
    span: Span,
}

#[derive(Debug)]
struct PendingClock<'a> {
    scope: ScopeId,
    rate: &'a ast::Expr,
    defs: Vec<DefId>,
    span: Span,
}

#[derive(Debug)]
struct PendingWhen<'a> {
    scope: ScopeId,
    path: PathId,
    condition: &'a ast::Expr,
    actions: &'a [ast::Action],
    defs: Vec<(DefId, &'a ast::Expr)>,
    span: Span,
}

/// How far elaboration has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Phase {
    Collecting,
    Connected,
    Finished,
}

/// Quantities of things and bonds that are defined when laws are known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
enum Quantity {
    Power,
    Energy,
    Stored,
}

impl Quantity {
    fn letters(self) -> &'static str {
        match self {
            Quantity::Power => "power",
            Quantity::Energy => "energy",
            Quantity::Stored => "stored",
        }
    }

    fn dimension(self) -> Dimension {
        match self {
            Quantity::Power => Dimension::POWER,
            Quantity::Energy | Quantity::Stored => Dimension::ENERGY,
        }
    }
}

/// The state of the work; see `data` for the tables.
#[derive(Debug)]
struct Elaborator<'a> {
    project: &'a Project,
    graph: BondGraph,
    domains: Domains,
    files: Vec<FileNames<'a>>,
    file_scopes: Vec<ScopeId>,
    scopes: Vec<Scope<'a>>,
    instances: Vec<Instance<'a>>,
    defs: Vec<Def<'a>>,
    things: Vec<Thing<'a>>,
    ports: Vec<Port<'a>>,
    slots: Vec<Slot>,
    edges: Vec<Edge>,
    named_bonds: Vec<NamedBond>,
    outers: Vec<Outer<'a>>,
    /// What each path names, by [`PathId`].
    entity_of: Vec<Entity>,
    /// Names whose making failed: reading them is not another error.
    broken_paths: FxHashSet<PathId>,
    /// Parts with a block that was skipped because its condition or range failed.
    incomplete: FxHashSet<InstanceId>,
    lineages: FxHashMap<Span, Option<Arc<Lineage<'a>>>>,
    changes: FxHashMap<PathId, Change<'a>>,
    changes_in_order: Vec<PathId>,
    // Work of later passes.
    chains: Vec<(ScopeId, &'a ast::Chain, Option<NamedBondId>)>,
    remote_defines: Vec<(ScopeId, &'a ast::Define)>,
    solves: Vec<PendingSolve<'a>>,
    clocks: Vec<PendingClock<'a>>,
    whens: Vec<PendingWhen<'a>>,
    when_defs: FxHashSet<DefId>,
    invariants: Vec<(ScopeId, &'a ast::Demand)>,
    starts: Vec<(ScopeId, &'a ast::Assign, bool)>,
    starts_by_path: Option<FxHashMap<PathId, (&'a ast::Expr, ScopeId)>>,
    layouts: Vec<(ScopeId, &'a ast::Place)>,
    top_outputs: Vec<DefId>,
    // What was read.
    quantities: FxHashMap<(ThingId, Quantity), SymbolId>,
    bond_quantities: FxHashMap<(NamedBondId, Quantity), SymbolId>,
    /// Read, but not yet defined by an equation or a reading of the graph.
    undefined_quantities: Vec<((ThingId, Quantity), SymbolId)>,
    undefined_bond_quantities: Vec<((NamedBondId, Quantity), SymbolId)>,
    system_readings: [Option<SymbolId>; 4],
    integrals: FxHashMap<ExprId, SymbolId>,
    derivatives: FxHashMap<SymbolId, SymbolId>,
    befores: FxHashMap<SymbolId, SymbolId>,
    transfers: FxHashMap<(Span, ScopeId, ExprId), Value>,
    n_transfer_states: i64,
    ratios_started: FxHashSet<ThingId>,
    taken_sides: FxHashSet<(ThingId, u32)>,
    /// The bond by which the effort or flow of a junction is read, by component.
    shared_bonds: FxHashMap<(ThingId, u32), u32>,
    /// How many bonds without a name of their own have been given this one.
    unnamed_bonds: FxHashMap<PathId, i64>,
    net_givers: FxHashMap<PortId, PortId>,
    file_constants: FxHashMap<Span, Progress>,
    structural_symbols: Vec<SymbolId>,
    limits: Vec<Limit>,
    structural_seen: FxHashSet<SymbolId>,
    constants: constants::Constants,
    /// By their text.
    units: FxHashMap<&'a str, Arc<Unit>>,
    /// Places of units that are not known; told once each.
    told_units: FxHashSet<Span>,
    origins: FxHashMap<Span, Origin>,
    being_resolved: Vec<DefId>,
    /// Units of states and discrete values that an earlier elaboration found in their equations.
    hints: FxHashMap<DefId, Dimension>,
    /// The same, found now: they come too late for those who have read the value.
    learned: FxHashMap<DefId, Dimension>,
    nested: u32,
    height: u32,
    iterations: u64,
    phase: Phase,
    is_lenient: bool,
    /// The chain at hand was told that elements have no named ports.
    is_port_told: bool,
    /// The model is no part of another one, as far as its file tells.
    is_whole: bool,
    /// A model checked alone has values that nobody knows.
    has_placeholder: bool,
    /// Nets of bonds in which two domains meet.
    mixed_classes: FxHashSet<u32>,
    /// Some element could not be made.
    is_incomplete: bool,
    experiment_scope: Option<ScopeId>,
    /// Inputs of the top model that an experiment linearizes from.
    free_inputs: FxHashSet<PathId>,
    told_missing: FxHashSet<(Span, Span)>,
    /// Names that nothing has, by model; told once each.
    told_unknown: FxHashSet<(Span, Box<str>)>,
    /// How often a declaration was named as the origin of a wrong unit.
    blamed: FxHashMap<Span, u32>,
    report: report::Report,
}

impl<'a> Elaborator<'a> {
    fn new(project: &'a Project) -> Self {
        let mut graph = BondGraph::default();
        let name = graph.signals.names.child(Names::ROOT, "time", None);
        graph.origins.push(Span::default());
        let time = graph.signals.add_symbol(Symbol {
            name,
            role: Role::Time,
            nominal: 0.0,
            origin: Origin(0),
        });
        graph.signals.time = Some(time);
        let mut elaborator = Elaborator {
            project,
            graph,
            domains: Domains::built_in(),
            files: Vec::new(),
            file_scopes: Vec::new(),
            scopes: Vec::new(),
            instances: Vec::new(),
            defs: Vec::new(),
            things: Vec::new(),
            ports: Vec::new(),
            slots: Vec::new(),
            edges: Vec::new(),
            named_bonds: Vec::new(),
            outers: Vec::new(),
            entity_of: Vec::new(),
            broken_paths: FxHashSet::default(),
            incomplete: FxHashSet::default(),
            lineages: FxHashMap::default(),
            changes: FxHashMap::default(),
            changes_in_order: Vec::new(),
            chains: Vec::new(),
            remote_defines: Vec::new(),
            solves: Vec::new(),
            clocks: Vec::new(),
            whens: Vec::new(),
            when_defs: FxHashSet::default(),
            invariants: Vec::new(),
            starts: Vec::new(),
            starts_by_path: None,
            layouts: Vec::new(),
            top_outputs: Vec::new(),
            quantities: FxHashMap::default(),
            bond_quantities: FxHashMap::default(),
            undefined_quantities: Vec::new(),
            undefined_bond_quantities: Vec::new(),
            system_readings: [None; 4],
            integrals: FxHashMap::default(),
            derivatives: FxHashMap::default(),
            befores: FxHashMap::default(),
            transfers: FxHashMap::default(),
            n_transfer_states: 0,
            ratios_started: FxHashSet::default(),
            taken_sides: FxHashSet::default(),
            unnamed_bonds: FxHashMap::default(),
            shared_bonds: FxHashMap::default(),
            net_givers: FxHashMap::default(),
            file_constants: FxHashMap::default(),
            structural_symbols: Vec::new(),
            limits: Vec::new(),
            structural_seen: FxHashSet::default(),
            constants: constants::Constants::default(),
            units: FxHashMap::default(),
            told_units: FxHashSet::default(),
            origins: FxHashMap::default(),
            being_resolved: Vec::new(),
            hints: FxHashMap::default(),
            learned: FxHashMap::default(),
            nested: 0,
            height: 0,
            iterations: 0,
            phase: Phase::Collecting,
            is_lenient: false,
            is_port_told: false,
            is_whole: false,
            has_placeholder: false,
            mixed_classes: FxHashSet::default(),
            is_incomplete: false,
            experiment_scope: None,
            free_inputs: FxHashSet::default(),
            told_missing: FxHashSet::default(),
            told_unknown: FxHashSet::default(),
            blamed: FxHashMap::default(),
            report: report::Report::default(),
        };
        elaborator.read_files();
        elaborator
    }

    /// Lists what can be named in each file.
    fn read_files(&mut self) {
        for (at, file) in self.project.files.iter().enumerate() {
            let at = at as u32;
            let mut names = FileNames {
                is_strict: file.ast.units_strict.is_some(),
                ..Default::default()
            };
            for item in &file.ast.items {
                let Some(name) = item_name(item) else {
                    continue;
                };
                let entry = match &item.kind {
                    ast::ItemKind::Model(m) => Item::Model(m, at),
                    ast::ItemKind::Function(f) => Item::Function(f, at),
                    ast::ItemKind::Constant(c) => Item::Constant(c, at),
                    ast::ItemKind::PortType(p) => Item::PortType(p, at),
                    ast::ItemKind::Domain(d) => Item::Domain(d),
                    // Experiments are never read, so their names may be anything.
                    ast::ItemKind::Use(_) | ast::ItemKind::Experiment(_) => continue,
                };
                if let Some(first) = names.names.get(&*name.text) {
                    let (first, span) = (first.span(), name.span);
                    self.report.add(code::DUPLICATE_NAME, span, || {
                        Diagnostic::error(
                            code::DUPLICATE_NAME,
                            format!("two items of this file are called `{}`", name.text),
                        )
                        .primary(span, "defined again")
                        .secondary(first, "first defined here")
                    });
                    continue;
                }
                if let ast::ItemKind::Domain(domain) = &item.kind
                    && let Err(messages) = self.domains.define(domain)
                {
                    messages.into_iter().for_each(|m| self.report.push(m));
                }
                names.names.insert(&name.text, entry);
            }
            self.files.push(names);
            let scope = self.add_scope(Scope {
                instance: None,
                file: at,
                parent: None,
                variable: None,
            });
            self.file_scopes.push(scope);
        }
        for (at, file) in self.project.files.iter().enumerate() {
            for item in &file.ast.items {
                let ast::ItemKind::Use(used) = &item.kind else {
                    continue;
                };
                for name in &used.names {
                    self.files[at]
                        .names
                        .entry(&name.text)
                        .or_insert(Item::Missing(name.span));
                }
            }
            for import in &file.imports {
                if let Some(prefix) = &import.prefix {
                    self.files[at].prefixes.insert(prefix, import.file);
                }
                let own = self.project.files[import.file]
                    .ast
                    .items
                    .iter()
                    .filter_map(item_name);
                for name in own {
                    let is_wanted =
                        import.names.is_empty() || import.names.iter().any(|n| n.text == name.text);
                    let item = self.files[import.file].names.get(&*name.text).copied();
                    if let (true, Some(item)) = (is_wanted, item) {
                        let own = self.files[at].names.entry(&name.text).or_insert(item);
                        if let Item::Missing(_) = own {
                            *own = item;
                        }
                    }
                }
            }
        }
    }

    fn find_item(&self, path: &ast::Path, file: u32) -> Option<Item<'a>> {
        self.find_item_named(path, file)
    }

    /// Finds `Name` or `library.Name`.
    fn find_item_named(&self, path: &ast::Path, file: u32) -> Option<Item<'a>> {
        let names = &self.files[file as usize];
        match path.segments.as_slice() {
            [name] => names.names.get(&*name.text).copied(),
            [prefix, name] => {
                let from = *names.prefixes.get(&*prefix.text)?;
                self.files[from].names.get(&*name.text).copied()
            }
            _ => None,
        }
    }

    /// Finds the model and experiment of a request.
    fn choose(&mut self, request: &Request) -> Option<Chosen<'a>> {
        let main = self.project.files.first()?;
        let models = || {
            main.ast.items.iter().filter_map(|i| match &i.kind {
                ast::ItemKind::Model(m) => Some(m),
                _ => None,
            })
        };
        let experiments = || {
            main.ast.items.iter().filter_map(|i| match &i.kind {
                ast::ItemKind::Experiment(e) => Some(e),
                _ => None,
            })
        };
        let missing = |this: &mut Self, what: &str, name: &str, known: Vec<&str>| {
            let mut message =
                Diagnostic::error(code::NO_MODEL, format!("the file has no {what} `{name}`"));
            message = match (nearest(name, known.iter()), known.is_empty()) {
                (Some(near), _) => message.help(format!("did you mean `{near}`?")),
                (None, true) => message,
                (None, false) => message.fact(format!("it has `{}`", known.join("`, `"))),
            };
            this.report.list.push(message);
        };
        if let Some(name) = &request.experiment {
            let Some(experiment) = experiments().find(|e| *e.name.text == **name) else {
                let known = experiments().map(|e| &*e.name.text).collect();
                missing(self, "experiment", name, known);
                return None;
            };
            let (model, file) = self.find_model(&experiment.of, 0)?;
            if let Some(wanted) = &request.model
                && *wanted != *model.name.text
            {
                if !models().any(|m| *m.name.text == **wanted) {
                    let known = models().map(|m| &*m.name.text).collect();
                    missing(self, "model", wanted, known);
                    return None;
                }
                let of = &model.name.text;
                self.report.list.push(
                    Diagnostic::error(
                        code::NO_MODEL,
                        format!("the experiment `{name}` is one of `{of}`, not of `{wanted}`"),
                    )
                    .primary(experiment.of.span, format!("runs `{of}`"))
                    .help("name the model or the experiment, not both"),
                );
                return None;
            }
            return Some((model, file, Some((experiment, 0))));
        }
        if let Some(name) = &request.model {
            let found = match self.files[0].names.get(name.as_str()).copied() {
                Some(Item::Model(model, file)) => Some((model, file)),
                _ => None,
            };
            return match found {
                Some((model, file)) => Some((model, file, None)),
                None => {
                    let known = models().map(|m| &*m.name.text).collect();
                    missing(self, "model", name, known);
                    None
                }
            };
        }
        // The last model is usually the whole system; those above are its parts.
        match models().next_back() {
            Some(model) => Some((model, 0, None)),
            None => {
                // A file that did not parse has said so.
                if !main.is_broken {
                    self.report.list.push(no_model());
                }
                None
            }
        }
    }

    /// Runs all passes on one model.
    fn run(
        &mut self,
        model: &'a ast::Model,
        file: u32,
        experiment: Option<(&'a ast::Experiment, u32)>,
        request: &'a Request,
    ) {
        // The top part is instance 0; what an experiment says is read in its scope, but with
        // the names that the file of the experiment knows.
        let experiment_file = experiment.map_or(0, |e| e.1);
        let outside = self.add_scope(Scope {
            instance: Some(InstanceId(0)),
            file: experiment_file,
            parent: None,
            variable: None,
        });
        self.experiment_scope = Some(outside);
        self.read_changes(experiment.map(|e| e.0), request, outside);
        if self
            .instantiate(model, file, Names::ROOT, None, Vec::new(), model.name.span)
            .is_none()
        {
            return;
        }
        if let Some((experiment, _)) = experiment {
            for stmt in &experiment.body {
                match &stmt.kind {
                    ast::ExperimentKind::Start(list) => {
                        self.starts.extend(list.iter().map(|a| (outside, a, false)));
                    }
                    ast::ExperimentKind::Guess(list) => {
                        self.starts.extend(list.iter().map(|a| (outside, a, true)));
                    }
                    ast::ExperimentKind::Linearize { from, .. } => {
                        for input in from {
                            if let [part] = input.parts.as_slice() {
                                let names = &mut self.graph.signals.names;
                                let path = names.child(Names::ROOT, &part.name.text, None);
                                self.free_inputs.insert(path);
                            }
                        }
                    }
                    _ => {}
                }
            }
        }
        self.report_unused_changes();
        self.check_outers();
        self.bind_remote();
        self.connect();
        self.infer_domains();
        self.finish();
        self.phase = Phase::Finished;
    }

    /// Checks the physics of a finished graph and hands it out.
    fn complete(
        mut self,
        model: &'a ast::Model,
        experiment: Option<&'a ast::Experiment>,
    ) -> Elaboration<'a> {
        // A part that is checked alone waits for bonds at its ports.
        let waits = |p: &Port<'_>| self.instances[p.instance.at()].parent.is_none();
        let is_part = self.is_lenient && self.ports.iter().any(waits);
        let is_open = self.has_placeholder || self.is_incomplete || is_part;
        if !self.report.has_errors() && !is_open {
            for message in check_graph(&mut self.graph) {
                self.report.push(message);
            }
        }
        let is_right = !self.report.has_errors() && !is_open;
        let diagnostics = std::mem::take(&mut self.report).in_text_order();
        let parts = self.instances.iter().filter(|i| i.depth == 1);
        self.graph.parts = parts.map(|i| (i.path, i.span)).collect();
        self.graph.parts.sort_unstable_by_key(|&(path, _)| path);
        let structural = self.structural_closure();
        let limits = std::mem::take(&mut self.limits);
        let elaborated = is_right.then_some(Elaborated {
            elaborator: self,
            model,
            experiment,
            structural,
            limits,
        });
        Elaboration {
            elaborated,
            diagnostics,
        }
    }

    /// Collects `with` and `--set`; the latter wins.
    fn read_changes(
        &mut self,
        experiment: Option<&'a ast::Experiment>,
        request: &'a Request,
        scope: ScopeId,
    ) {
        if let Some(experiment) = experiment {
            for stmt in &experiment.body {
                let ast::ExperimentKind::With(list) = &stmt.kind else {
                    continue;
                };
                for assign in list {
                    let mut path = Names::ROOT;
                    for part in &assign.target.parts {
                        let index = match part.index.as_slice() {
                            [] => None,
                            [
                                ast::Expr {
                                    kind: ast::ExprKind::Number { value, .. },
                                    ..
                                },
                            ] => Some(*value as i64),
                            [index, ..] => {
                                let span = index.span;
                                self.report.add(code::BAD_OVERRIDE, span, || {
                                    Diagnostic::error(
                                        code::BAD_OVERRIDE,
                                        "an index here must be a number",
                                    )
                                    .primary(span, "not a number")
                                });
                                None
                            }
                        };
                        path = self.graph.signals.names.child(path, &part.name.text, index);
                    }
                    self.add_change(path, &assign.value, scope, assign.target.span);
                }
            }
        }
        for change in &request.overrides {
            let mut path = Names::ROOT;
            for (name, index) in &change.path {
                path = self.graph.signals.names.child(path, name, *index);
            }
            self.add_change(path, &change.value, scope, change.span);
        }
    }

    fn add_change(&mut self, path: PathId, value: &'a ast::Expr, scope: ScopeId, span: Span) {
        self.changes.insert(
            path,
            Change {
                value,
                scope,
                span,
                is_used: false,
            },
        );
        self.changes_in_order.push(path);
    }

    fn report_unused_changes(&mut self) {
        for path in std::mem::take(&mut self.changes_in_order) {
            let Some(change) = self.changes.get(&path) else {
                continue;
            };
            if change.is_used {
                continue;
            }
            let span = change.span;
            let name = self.graph.signals.names.display(path);
            let is_other = self.entity(path) != Entity::Nothing;
            let defined = self.entity_span(self.entity(path));
            let parent = self.graph.signals.names.parent(path).unwrap_or(Names::ROOT);
            let owner = match (parent == Names::ROOT, self.entity(parent)) {
                (true, _) => Some(InstanceId(0)),
                (false, Entity::Instance(part)) => Some(part),
                _ => None,
            };
            let (last, _) = self.graph.signals.names.last(path);
            let near = owner.and_then(|o| nearest(last, self.names_in(o)));
            // A long list helps nobody.
            const MAX_SHOWN: usize = 12;
            let mut known = owner.map_or(Vec::new(), |o| self.declared_names(o));
            known.truncate(MAX_SHOWN);
            // `r1.R = 5`: the value of an element that the model did not make a parameter.
            let element = match (self.entity(path), self.entity(parent)) {
                (Entity::Thing(thing), _) | (_, Entity::Thing(thing)) => Some(thing),
                _ => None,
            };
            if let Some(thing) = element.filter(|t| self.things[t.at()].written.is_some()) {
                self.report_element_change(thing, span);
                continue;
            }
            self.report.add(code::BAD_OVERRIDE, span, || {
                let message = if is_other {
                    Diagnostic::error(
                        code::BAD_OVERRIDE,
                        format!("`{name}` cannot be changed from outside"),
                    )
                    .primary(span, "not a parameter, input or replaceable part")
                    .secondary(defined.unwrap_or(span), "defined here")
                } else {
                    Diagnostic::error(
                        code::BAD_OVERRIDE,
                        format!("there is no `{name}` to change"),
                    )
                    .primary(span, "unknown name")
                };
                match near {
                    Some(near) if !is_other => message.help(format!("did you mean `{near}`?")),
                    _ if !known.is_empty() => {
                        message.fact(format!("what can be changed: `{}`", known.join("`, `")))
                    }
                    _ => message,
                }
            });
        }
    }

    /// Reports a change of an element's value, and how to make it one that can be changed.
    fn report_element_change(&mut self, thing: ThingId, span: Span) {
        let t = &self.things[thing.at()];
        let names = &self.graph.signals.names;
        let Some(name) = t.name.map(|n| names.last(n).0.to_owned()) else {
            return;
        };
        let (at, letters) = (t.span, t.kind.letters());
        let value = t.written.and_then(|w| w.args.as_ref()?.first());
        let value = value.map(|arg| self.project.sources.text(arg.value.span));
        self.report.add(code::BAD_OVERRIDE, span, || {
            let message = Diagnostic::error(
                code::BAD_OVERRIDE,
                format!("the value of `{name}` cannot be changed from outside"),
            )
            .primary(span, "not a parameter, input or replaceable part")
            .secondary(at, format!("an element {letters}"));
            match value {
                Some(value) => message.help(format!(
                    "make it a parameter, `param {name}_value = {value}` and `{name}: {letters}({name}_value)`, and change that"
                )),
                None => message,
            }
        });
    }

    /// Gives the origin of a place; equal places share one.
    fn origin(&mut self, span: Span) -> Origin {
        let origins = &mut self.graph.origins;
        *self.origins.entry(span).or_insert_with(|| {
            origins.push(span);
            Origin((origins.len() - 1) as u32)
        })
    }

    /// The scope in which experiments read the top model.
    fn reading_scope(&self) -> ScopeId {
        self.experiment_scope.unwrap_or(ScopeId(0))
    }

    fn read_ref(&mut self, r: &ast::Ref, scope: ScopeId) -> Option<Value> {
        loop {
            match self.ref_target(r, Ctx::of(scope)) {
                Ok(Target::Value(value)) => return Some(value),
                Ok(_) => {
                    let span = r.span;
                    self.report.list.push(
                        Diagnostic::error(code::NOT_READABLE, "this is not a quantity")
                            .primary(span, "name a quantity of it, such as `.e` or `.f`"),
                    );
                    return None;
                }
                Err(Stop::Reported) => return None,
                Err(Stop::Blocked(def)) => self.settle(def),
            }
        }
    }

    /// Lists structural parameters and those they are bound to.
    fn structural_closure(&self) -> Vec<SymbolId> {
        let mut found = self.structural_symbols.clone();
        let mut seen: FxHashSet<SymbolId> = found.iter().copied().collect();
        let mut at = 0;
        while at < found.len() {
            if let Role::Parameter {
                binding: Some(e), ..
            } = self.graph.signals.symbol(found[at]).role
            {
                for s in paynter_symbolic::walk::symbols_of(&self.graph.signals.pool, e) {
                    if seen.insert(s) {
                        found.push(s);
                    }
                }
            }
            at += 1;
        }
        found.sort_unstable();
        found
    }
}

impl Item<'_> {
    fn span(&self) -> Span {
        match self {
            Item::Model(m, _) => m.name.span,
            Item::Function(f, _) => f.name.span,
            Item::Constant(c, _) => c.span,
            Item::PortType(p, _) => p.name.span,
            Item::Domain(d) => d.name.span,
            Item::Missing(span) => *span,
        }
    }
}
