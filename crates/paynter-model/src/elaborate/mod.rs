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
//! What the passes share is an `Elaborator`, made of one value for each job: `texts` (what files name), `asked` (who
//! asks, and what is changed), `tables` (who is there), `pending` (what is left to do), `wiring` (how chains become
//! bonds), `readings` (what was read), `known_units`, `fixed` (values that are), `budget`, and `report` with `excuses`.
//!
//! `lower`, `names`, `call`, `read` and `define` turn expressions into values at any time;
//! definitions are resolved when first read. [`Elaborated`] reads more when all is done.
//!
//! **Invariant:** the order of lines in a model changes no value and no connection. Cost is
//! linear in the size of the flat graph.

#[macro_use]
mod report;

mod angle;
mod asked;
mod bonds;
mod budget;
mod call;
mod changes;
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
mod excuses;
mod files;
mod finish;
mod fixed;
mod foreign;
mod formulas;
mod guess;
mod known_units;
mod law;
mod limit;
mod lower;
mod mixed;
mod models;
mod names;
mod pending;
mod ports;
mod read;
mod readings;
mod splice;
mod structure;
mod tables;
mod temperature;
mod texts;
mod things;
mod unwrap;
pub mod value;
mod wiring;

use paynter_symbolic::{Names, Origin, Role, Symbol, SymbolId};
use paynter_syntax::{Diagnostic, Span, ast};
use rustc_hash::{FxHashMap, FxHashSet};
use std::cell::Cell;
use std::sync::Arc;

use crate::domains::Domains;
use crate::graph::BondGraph;
use crate::laws::check_graph;
use crate::project::{Project, Request};
use asked::Asked;
use budget::Budget;
pub(crate) use call::SPECIAL as SPECIAL_FUNCTIONS;
use data::*;
pub use elaborated::Elaborated;
use excuses::Excuses;
pub(crate) use files::no_model;
use files::{FileNames, Item, is_whole};
pub(crate) use finish::fraction;
use fixed::Fixed;
use known_units::KnownUnits;
pub use limit::Limit;
use lower::{Ctx, Stop, Target};
use pending::Pending;
use readings::Readings;
use report::Told;
pub(crate) use report::{ENOUGH_BLAME, Report};
use tables::Tables;
use texts::Texts;
use value::Value;
use wiring::Wiring;

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

    pub(crate) fn project(&self) -> &'a Project {
        self.0.project
    }

    /// Tells whether files name things in a way that makes other messages doubtful.
    pub fn is_misnamed(&self) -> bool {
        self.0.report.has_errors()
    }

    /// The messages about names.
    pub(crate) fn messages(&self) -> &[Diagnostic] {
        &self.0.report.list
    }

    /// Elaborates a model of the main file for a check: parameters, inputs and ports may be open.
    pub(crate) fn elaborate_alone(
        &self,
        model: &'a ast::Model,
        request: &'a Request,
    ) -> Elaboration<'a> {
        let mut elaborator = self.for_check();
        elaborator.asked.is_lenient = true;
        elaborator.asked.is_whole = is_whole(&self.0.project.files[0], model);
        elaborate_until_known(elaborator, |e| e.run(model, 0, None, request)).complete(model, None)
    }

    /// Elaborates the model of an experiment of the main file.
    pub(crate) fn elaborate_experiment(
        &self,
        experiment: &'a ast::Experiment,
        request: &'a Request,
    ) -> Elaboration<'a> {
        let mut elaborator = self.for_check();
        let Some((model, file)) = elaborator.find_model(&experiment.of, 0) else {
            return Elaboration {
                elaborated: None,
                diagnostics: elaborator.report.list,
            };
        };
        elaborate_until_known(elaborator, |e| {
            e.run(model, file, Some((experiment, 0)), request);
        })
        .complete(model, Some(experiment))
    }

    /// Begins anew; where names are wrong, what follows from them is not reported again.
    fn for_check(&self) -> Elaborator<'a> {
        let mut elaborator = self.0.afresh();
        elaborator.report.is_silent = self.is_misnamed();
        elaborator
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
        let Some(Item::Model(model, file)) = names.texts.files.first()?.names.get(model).copied()
        else {
            return None;
        };
        let mut elaborator = names.afresh();
        elaborator.asked.is_lenient = true;
        elaborator.run(model, file, None, &request);
        let is_right = !elaborator.report.has_errors() && !elaborator.excused.lacks_elements;
        is_right.then_some(elaborator.graph)
    })
}

thread_local! {
    /// This thread was started by [`with_stack`].
    static HAS_STACK: Cell<bool> = const { Cell::new(false) };
}

/// Does something that may call itself very often on a thread with a large stack: this one, if it is such a thread already. Starting one takes as long as
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
        if elaborator.units.learned.is_empty() || elaborator.report.has_errors() {
            break;
        }
        let mut again = elaborator.afresh();
        (again.asked.is_lenient, again.asked.is_whole) =
            (elaborator.asked.is_lenient, elaborator.asked.is_whole);
        again.units.hints = elaborator.units.hints;
        again.units.hints.extend(elaborator.units.learned);
        run(&mut again);
        elaborator = again;
    }
    elaborator
}

/// How far elaboration has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Phase {
    Collecting,
    Connected,
    Finished,
}

/// The state of the work: one value for each job.
#[derive(Debug)]
struct Elaborator<'a> {
    project: &'a Project,
    /// What the files name.
    texts: Texts<'a>,
    /// Who asks, and what they change.
    asked: Asked<'a>,
    phase: Phase,
    /// Who is there.
    tables: Tables<'a>,
    /// What later passes have to do.
    pending: Pending<'a>,
    /// How chains become bonds.
    wiring: Wiring,
    /// What was read, each once.
    readings: Readings,
    units: KnownUnits<'a>,
    /// Values that are fixed, and those that shape the model.
    fixed: Fixed,
    budget: Budget,
    /// What is made.
    graph: BondGraph,
    /// Places that have an origin in the graph.
    origins: FxHashMap<Span, Origin>,
    /// The messages, and what keeps them from being repeated.
    report: Report,
    told: Told,
    excused: Excuses,
}

/// A graph that has nothing but time.
fn graph_with_time() -> BondGraph {
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
    graph
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
        Elaborator::blank(
            self.project,
            self.texts.files.clone(),
            self.texts.domains.clone(),
        )
    }

    fn blank(project: &'a Project, files: Arc<Vec<FileNames<'a>>>, domains: Domains) -> Self {
        let mut elaborator = Elaborator {
            project,
            texts: Texts::new(files, domains),
            asked: Asked::default(),
            phase: Phase::Collecting,
            tables: Tables::default(),
            pending: Pending::default(),
            wiring: Wiring::default(),
            readings: Readings::default(),
            units: KnownUnits::default(),
            fixed: Fixed::default(),
            budget: Budget::default(),
            graph: graph_with_time(),
            origins: FxHashMap::default(),
            report: Report::default(),
            told: Told::default(),
            excused: Excuses::default(),
        };
        for file in 0..project.files.len() {
            let scope = elaborator.tables.add_scope(Scope {
                instance: None,
                file: file as u32,
                parent: None,
                variable: None,
            });
            elaborator.texts.scopes.push(scope);
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
        let outside = self.tables.add_scope(Scope {
            instance: Some(InstanceId(0)),
            file: experiment_file,
            parent: None,
            variable: None,
        });

        self.asked.experiment_scope = Some(outside);
        self.read_changes(experiment.map(|e| e.0), request, outside);
        let span = model.name.span;
        let top = self.instantiate((model, file), Names::ROOT, None, Vec::new(), span);
        if top.is_none() {
            return;
        }
        if let Some((experiment, _)) = experiment {
            self.read_experiment(experiment, outside);
        }
        for name in &request.free_inputs {
            self.leave_free(name);
        }

        self.report_unused_changes();
        self.check_outers();
        self.bind_remote();
        self.connect();
        self.infer_domains();
        self.finish();
        self.phase = Phase::Finished;
    }

    /// Takes start values, guesses and inputs that stay free from an experiment.
    fn read_experiment(&mut self, experiment: &'a ast::Experiment, scope: ScopeId) {
        for stmt in experiment.statements() {
            let (list, is_guess) = match &stmt.kind {
                ast::ExperimentKind::Start(list) => (list, false),
                ast::ExperimentKind::Guess(list) => (list, true),
                ast::ExperimentKind::Linearize { from, .. } => {
                    for input in from {
                        if let [part] = input.parts.as_slice() {
                            self.leave_free(&part.name.text);
                        }
                    }
                    continue;
                }
                _ => continue,
            };
            let starts = list.iter().map(|a| (scope, a, is_guess));
            self.pending.starts.extend(starts);
        }
    }

    fn leave_free(&mut self, name: &str) {
        let path = self.graph.signals.names.child(Names::ROOT, name, None);
        self.asked.free_inputs.insert(path);
    }

    /// Checks the physics of a finished graph and hands it out.
    fn complete(
        mut self,
        model: &'a ast::Model,
        experiment: Option<&'a ast::Experiment>,
    ) -> Elaboration<'a> {
        // A part that is checked alone waits for bonds at its ports.
        let waits = |p: &Port<'_>| self.tables.instances[p.instance.at()].parent.is_none();
        let is_part = self.asked.is_lenient && self.tables.ports.iter().any(waits);
        let is_open = self.fixed.has_placeholder || self.excused.lacks_elements || is_part;

        // Messages about the physics of a part point at the line that makes it.
        let parts = self.tables.instances.iter().filter(|i| i.depth == 1);
        self.graph.parts = parts.map(|i| (i.path, i.span)).collect();
        self.graph.parts.sort_unstable_by_key(|&(path, _)| path);
        if !self.report.has_errors() && !is_open {
            for message in check_graph(&mut self.graph) {
                self.report.push(message);
            }
        }

        let is_right = !self.report.has_errors() && !is_open;
        let diagnostics = std::mem::take(&mut self.report).in_text_order();
        let inner = self.tables.instances.iter().filter(|i| i.depth > 0);
        self.graph.instances = inner.map(|i| i.path).collect();
        self.graph.instances.sort_unstable();
        let structural = self.structural_closure();
        let limits = std::mem::take(&mut self.fixed.limits);
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
        let mut found = self.fixed.structural.clone();
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
