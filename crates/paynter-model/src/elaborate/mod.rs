//! From parsed files to a flat bond graph: names bound, values in SI, units checked.
//!
//! In:  a [`Project`] and a [`Request`]: which model, which experiment, which values changed.
//! Out: an [`Elaboration`]: the graph, the scope for reading more expressions, and messages.
//!
//! | pass | file | does |
//! |---|---|---|
//! | 0 | `files`, `changes` | lists what each file names; which model is meant, and what is changed in it |
//! | 1 | `collect`, `models`, `declare`, `ports`, `things`, `structure` | makes parts, things, ports, named values; expands `for` and `if` |
//! | 2 | `connect`, `composites`, `splice`, `bonds`, `domain` | makes scalar bonds, splices ports, finds domains |
//! | 3 | `finish`, `law`, `elements` | lowers everything that is left and makes the elements |
//!
//! `lower`, `names`, `call`, `read` and `define` turn expressions into values at any time;
//! definitions are resolved when first read. [`Elaborated`] reads more when all is done.
//!
//! **Invariant:** the order of lines in a model changes no value and no connection. Cost is
//! linear in the size of the flat graph.

mod angle;
mod bonds;
mod call;
mod changes;
mod check;
pub mod code;
mod collect;
mod composites;
mod connect;
mod constants;
mod data;
mod declare;
mod define;
mod domain;
mod elaborated;
mod elements;
mod files;
mod finish;
mod foreign;
mod formulas;
mod guess;
mod law;
mod limit;
mod lower;
mod mixed;
mod models;
mod names;
mod ports;
mod read;
mod report;
mod splice;
mod structure;
mod temperature;
mod things;
mod unwrap;
pub mod value;

use paynter_symbolic::expr::ExternalId;
use paynter_symbolic::{ExprId, Names, Origin, PathId, Role, Symbol, SymbolId};
use paynter_syntax::{Diagnostic, FileId, Span, ast};
use rustc_hash::{FxHashMap, FxHashSet};
use std::cell::Cell;
use std::sync::Arc;

use crate::domains::Domains;
use crate::graph::BondGraph;
use crate::laws::check_graph;
use crate::project::{Project, Request};
use crate::units::{Dimension, Unit};
pub(crate) use call::SPECIAL as SPECIAL_FUNCTIONS;
use changes::Change;
pub use check::{CheckedItem, check};
use data::*;
pub use elaborated::Elaborated;
use files::{FileNames, Item};
pub(crate) use finish::fraction;
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

/// Stack of the thread that elaborates. Expressions are at most 500 high in the text and parts
/// 64 deep; this is room for all of that at once, and costs nothing until it is used.
const STACK_BYTES: usize = 256 << 20;

/// Elaborates one model of the main file.
pub fn elaborate<'a>(project: &'a Project, request: &'a Request) -> Elaboration<'a> {
    with_stack(|| elaborate_here(project, request))
}

/// A project whose names are known, from which many models can be elaborated one after the other.
#[derive(Debug)]
pub struct Prepared<'a>(Elaborator<'a>);

/// Reads what the files of a project name.
pub fn prepare(project: &Project) -> Prepared<'_> {
    with_stack(|| Prepared(Elaborator::new(project)))
}

impl<'a> Prepared<'a> {
    /// Elaborates one model of the main file, as [`elaborate`] does.
    pub fn elaborate(&self, request: &'a Request) -> Elaboration<'a> {
        with_stack(|| {
            let mut elaborator = self.0.afresh();
            elaborator.report = self.0.report.clone();
            elaborate_from(elaborator, request)
        })
    }
}

/// Elaborates a model of the main file that may wait for bonds, values and inputs: for a picture of a part.
///
/// Open ports are joined to sources of unknown effort, and what has no value stays unknown. None if the
/// model has errors.
pub fn sketch(project: &Project, model: &str) -> Option<BondGraph> {
    with_stack(|| {
        let request = Request::default();
        let names = Elaborator::new(project);
        if names.report.has_errors() {
            return None;
        }
        let Some(Item::Model(model, file)) = names.files.first()?.names.get(model).copied() else {
            return None;
        };
        let mut elaborator = names.afresh();
        elaborator.is_lenient = true;
        elaborator.run(model, file, None, &request);
        let is_right = !elaborator.report.has_errors() && !elaborator.is_incomplete;
        is_right.then_some(elaborator.graph)
    })
}

thread_local! {
    /// This thread was started by [`with_stack`].
    static HAS_STACK: Cell<bool> = const { Cell::new(false) };
}

/// Works on a thread with a large stack: this one, if it is such a thread already. Starting one takes as long as
/// reading a short expression, of which an experiment has dozens.
pub fn with_stack<T: Send>(work: impl FnOnce() -> T + Send) -> T {
    if HAS_STACK.get() {
        return work();
    }
    std::thread::scope(|scope| {
        let worker = std::thread::Builder::new()
            .stack_size(STACK_BYTES)
            .spawn_scoped(scope, || {
                HAS_STACK.set(true);
                work()
            });
        match worker.expect("a thread can be started").join() {
            Ok(done) => done,
            Err(panic) => std::panic::resume_unwind(panic),
        }
    })
}

fn elaborate_here<'a>(project: &'a Project, request: &'a Request) -> Elaboration<'a> {
    elaborate_from(Elaborator::new(project), request)
}

fn elaborate_from<'a>(mut elaborator: Elaborator<'a>, request: &'a Request) -> Elaboration<'a> {
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
        let mut again = elaborator.afresh();
        (again.is_lenient, again.is_whole) = (elaborator.is_lenient, elaborator.is_whole);
        again.hints = elaborator.hints;
        again.hints.extend(elaborator.learned);
        run(&mut again);
        elaborator = again;
    }
    elaborator
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
    files: Arc<Vec<FileNames<'a>>>,
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
    /// Parts whose arguments could not be understood: what they lack is no news.
    misused: FxHashSet<InstanceId>,
    /// Composite ports that leave a member open, which was reported.
    incomplete_ports: FxHashSet<PortId>,
    /// Ports that a bond was meant for which could not be made, which was reported.
    excused_ports: FxHashSet<PortId>,
    /// Nets of these.
    excused_nets: FxHashSet<PortId>,
    /// Parts with a block that was skipped because its condition or range failed.
    incomplete: FxHashSet<InstanceId>,
    lineages: FxHashMap<Span, Option<Arc<Lineage<'a>>>>,
    /// Functions of FMUs that something calls: the text and the number.
    foreign_ids: FxHashMap<(FileId, usize), ExternalId>,
    /// Values that have the name of an element or part as well.
    namesakes: FxHashMap<PathId, DefId>,
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
    /// Angles that count turns, by angle and rate.
    unwrapped: FxHashMap<(ExprId, ExprId), Value>,
    /// The state that counts the turns of an angle.
    turn_counters: FxHashMap<ExprId, SymbolId>,
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
    /// Parts inside of parts have no end, which was reported.
    has_endless_parts: bool,
    structural_symbols: Vec<SymbolId>,
    limits: Vec<Limit>,
    structural_seen: FxHashSet<SymbolId>,
    constants: constants::Constants,
    /// By their text.
    units: FxHashMap<&'a str, Arc<Unit>>,
    /// Places of units that are not known; reported once each.
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
    /// Steps spent on the present expression, and where it stands.
    work: u64,
    work_at: Span,
    phase: Phase,
    is_lenient: bool,
    /// It was reported for this chain that elements have no named ports.
    is_port_told: bool,
    /// Ports that stand for something else and that the arrow at hand ends at.
    followed: Vec<PortId>,
    /// The same for the edges made so far: (edge, port).
    edge_ports: Vec<(u32, PortId)>,
    /// The model is no part of another one, as far as its file tells.
    is_whole: bool,
    /// A model checked alone has values that nobody knows.
    has_placeholder: bool,
    /// Nets of bonds in which two domains meet.
    mixed_classes: FxHashSet<u32>,
    /// While the unit of a law is guessed: the domain that is tried, and the kind of its element.
    guessed_law: Option<(crate::graph::DomainId, crate::graph::ElementKind)>,
    /// While the domain of one port of a field is looked for: the dimensions of `p[k]` and `q[k]`.
    guessed_field: Option<Vec<Option<crate::units::Dimension>>>,
    /// Some element could not be made.
    is_incomplete: bool,
    experiment_scope: Option<ScopeId>,
    /// Inputs of the top model that an experiment linearizes from.
    free_inputs: FxHashSet<PathId>,
    told_missing: FxHashSet<(Span, Span)>,
    /// Names that nothing has, by model; reported once each.
    told_unknown: FxHashSet<(Span, Box<str>)>,
    /// How often a declaration was named as the origin of a wrong unit.
    blamed: FxHashMap<Span, u32>,
    report: report::Report,
}

impl<'a> Elaborator<'a> {
    /// Reads what the files name, and looks through their functions.
    fn new(project: &'a Project) -> Self {
        let mut first = Elaborator::blank(project, Arc::default(), Domains::built_in());
        first.read_files();
        first.check_functions();
        first
    }

    /// Begins anew with the names that this one has read, and without its messages.
    fn afresh(&self) -> Self {
        Elaborator::blank(self.project, self.files.clone(), self.domains.clone())
    }

    fn blank(project: &'a Project, files: Arc<Vec<FileNames<'a>>>, domains: Domains) -> Self {
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
            domains,
            files,
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
            misused: FxHashSet::default(),
            incomplete_ports: FxHashSet::default(),
            excused_ports: FxHashSet::default(),
            excused_nets: FxHashSet::default(),
            incomplete: FxHashSet::default(),
            lineages: FxHashMap::default(),
            foreign_ids: FxHashMap::default(),
            namesakes: FxHashMap::default(),
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
            unwrapped: FxHashMap::default(),
            turn_counters: FxHashMap::default(),
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
            has_endless_parts: false,
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
            work: 0,
            work_at: Span::default(),
            phase: Phase::Collecting,
            is_lenient: false,
            is_port_told: false,
            followed: Vec::new(),
            edge_ports: Vec::new(),
            is_whole: false,
            has_placeholder: false,
            mixed_classes: FxHashSet::default(),
            guessed_law: None,
            guessed_field: None,
            is_incomplete: false,
            experiment_scope: None,
            free_inputs: FxHashSet::default(),
            told_missing: FxHashSet::default(),
            told_unknown: FxHashSet::default(),
            blamed: FxHashMap::default(),
            report: report::Report::default(),
        };
        for file in 0..project.files.len() {
            let scope = elaborator.add_scope(Scope {
                instance: None,
                file: file as u32,
                parent: None,
                variable: None,
            });
            elaborator.file_scopes.push(scope);
        }
        elaborator
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
            for stmt in experiment.statements() {
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
        for name in &request.free_inputs {
            let path = self.graph.signals.names.child(Names::ROOT, name, None);
            self.free_inputs.insert(path);
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
        // Messages about the physics of a part point at the line that makes it.
        let parts = self.instances.iter().filter(|i| i.depth == 1);
        self.graph.parts = parts.map(|i| (i.path, i.span)).collect();
        self.graph.parts.sort_unstable_by_key(|&(path, _)| path);
        if !self.report.has_errors() && !is_open {
            for message in check_graph(&mut self.graph) {
                self.report.push(message);
            }
        }
        let is_right = !self.report.has_errors() && !is_open;
        let diagnostics = std::mem::take(&mut self.report).in_text_order();
        let inner = self.instances.iter().filter(|i| i.depth > 0);
        self.graph.instances = inner.map(|i| i.path).collect();
        self.graph.instances.sort_unstable();
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
    pub(super) fn structural_closure(&self) -> Vec<SymbolId> {
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
