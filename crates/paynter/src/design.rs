//! From a file to a design: graph, plan, and on demand causality and reduced equations.
//!
//! In:  a `.bond` file and a [`Choice`] of model, experiment and changed values.
//! Out: a [`Design`], or every mistake of the file at once.

use crate::assembly::{LockError, Locked, reduce_locked};
use crate::code;
use crate::failure::explain_structure;
use crate::loader::{DiskLoader, beside, read_text};
use paynter_model::causality::{
    Causality, assign_causality, causality_diagnostics, conflict_diagnostic, denies_a_stroke,
    needs_an_inverse,
};
use paynter_model::elaborate::{self, Limit, elaborate, prepare};
use paynter_model::equations::build_equations;
use paynter_model::experiment::{
    Constraints, Functional, Measure, Plan, Quantity, default_columns, default_inputs,
    default_plan, plan, quantities,
};
use paynter_model::graph::{ElementId, ElementKind, Law, Reading, ReadingKind};
use paynter_model::project::{Override, Project, Request, load};
use paynter_model::units::Unit;
use paynter_model::{BondGraph, code as model_code};
use paynter_symbolic::reduce::{Enforcement, reduce};
use paynter_symbolic::reduced::Reduced;
use paynter_symbolic::{Names, Origin, Role, Symbol, SymbolId};
use paynter_syntax::{Diagnostic, SourceMap, Span, ast};
use rustc_hash::FxHashMap;
use std::path::{Path, PathBuf};

/// Which model, with what changed.
#[derive(Clone, Debug, Default)]
pub struct Choice {
    /// The model; the one of the experiment, or the last of the file, where none is given.
    pub model: Option<String>,
    /// The experiment; the first of the file where neither is given.
    pub experiment: Option<String>,
    /// `--set path=value`.
    pub overrides: Vec<(String, String)>,
    /// What a linear model is to be made of, if one is.
    pub linear: Option<LinearChoice>,
}

/// Between which quantities a linear model is made, as typed: names with commas between.
#[derive(Clone, Debug, Default)]
pub struct LinearChoice {
    /// Inputs; those of the experiment's `linearize`, or of the model, where none are given.
    pub from: Option<String>,
    /// Outputs; those of the experiment's `linearize`, or what it records, where none are given.
    pub to: Option<String>,
    /// Signals at which a loop is cut.
    pub cut: Option<String>,
}

/// The quantities of a [`LinearChoice`] in the model.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LinearQuantities {
    /// Inputs.
    pub from: Vec<Quantity>,
    /// Outputs.
    pub to: Vec<Quantity>,
    /// Signals at which a loop is cut.
    pub cut: Vec<Quantity>,
}

/// Messages, and the texts they point into.
#[derive(Clone, Debug, Default)]
pub struct Failed {
    /// The texts.
    pub sources: SourceMap,
    /// The messages.
    pub diagnostics: Vec<Diagnostic>,
}

/// Why there is no design.
#[derive(Clone, Debug)]
pub enum DesignError {
    /// The file cannot be read, or the call names something that is not there.
    Unreadable(String),
    /// The model has mistakes.
    Model(Failed),
}

/// A model without mistakes.
#[derive(Clone, Debug)]
pub struct Design {
    /// The file.
    pub path: PathBuf,
    /// All texts, parsed.
    pub project: Project,
    /// The flat bond graph.
    pub graph: BondGraph,
    /// What the experiment asks for.
    pub plan: Plan,
    /// Name of the model.
    pub model: String,
    /// Warnings and notes.
    pub diagnostics: Vec<Diagnostic>,
    /// All experiments of the file.
    pub experiments: Vec<String>,
    /// Parameters that shape the graph: changing one means elaborating again.
    pub structural: Vec<SymbolId>,
    /// Ranges that changed parameters must keep.
    pub limits: Vec<Limit>,
    /// What a linear model is made of, where one was chosen.
    pub linear: LinearQuantities,
    /// Units of states, where a linear model or a trim needs them.
    pub state_units: FxHashMap<SymbolId, Unit>,
}

fn open(path: &Path) -> Result<(Project, Vec<Diagnostic>), String> {
    // A file that is there but is no text is a mistake of the file, with a code of its own.
    if let Ok(bytes) = std::fs::read(path)
        && std::str::from_utf8(&bytes).is_err()
    {
        let mut project = Project::default();
        let file = project.sources.add(path.display().to_string(), "");
        let parsed = paynter_syntax::parse_bytes(file, &bytes);
        return Ok((project, parsed.diagnostics));
    }
    let text = read_text(path).map_err(|e| format!("{}: {e}", path.display()))?;
    Ok(load(&path.display().to_string(), &text, &mut DiskLoader))
}

/// Reads a file and elaborates the chosen model.
///
/// # Errors
///
/// The file cannot be read, or the model has mistakes.
pub fn design(path: &Path, choice: &Choice) -> Result<Design, DesignError> {
    let read = open(path).map_err(DesignError::Unreadable)?;
    design_of(path, read, choice, &[])
}

/// Elaborates the texts of a design once more, with further values changed. No file is read again: it may have
/// been changed since.
pub(crate) fn design_with(
    design: &Design,
    choice: &Choice,
    changes: &[Override],
) -> Result<Design, DesignError> {
    let read = (design.project.clone(), Vec::new());
    design_of(&design.path, read, choice, changes)
}

fn design_of(
    path: &Path,
    (mut project, mut diagnostics): (Project, Vec<Diagnostic>),
    choice: &Choice,
    changes: &[Override],
) -> Result<Design, DesignError> {
    let failed = |project: Project, diagnostics| {
        DesignError::Model(Failed {
            sources: project.sources,
            diagnostics,
        })
    };
    if diagnostics.iter().any(Diagnostic::is_error) {
        return Err(failed(project, diagnostics));
    }
    let mut request = Request {
        model: choice.model.clone(),
        experiment: choice.experiment.clone(),
        overrides: changes.to_vec(),
        ..Request::default()
    };
    let asked = read_linear(choice.linear.as_ref(), &mut project, &mut diagnostics);
    request.free_inputs = asked.from.iter().filter_map(bare_name).collect();
    if diagnostics.iter().any(Diagnostic::is_error) {
        return Err(failed(project, diagnostics));
    }
    for (target, value) in &choice.overrides {
        match project.parse_override(target, value) {
            Ok(change) => request.overrides.push(change),
            Err(messages) => diagnostics.extend(messages),
        }
    }
    if request.model.is_none() && request.experiment.is_none() {
        request.experiment = experiment_names(&project).into_iter().next();
    }
    let elaboration = elaborate(&project, &request);
    diagnostics.extend(elaboration.diagnostics);
    let Some(mut elaborated) = elaboration.elaborated else {
        return Err(failed(project, diagnostics));
    };
    let mut plan = match elaborated.experiment {
        Some(experiment) => {
            let (plan, messages) = plan(experiment, &mut elaborated);
            diagnostics.extend(messages);
            plan
        }
        None => default_plan(&mut elaborated),
    };
    if plan.columns.is_empty() {
        plan.columns = default_columns(&mut elaborated);
    }
    let mut linear = LinearQuantities::default();
    for (expressions, place) in [
        (&asked.from, &mut linear.from),
        (&asked.to, &mut linear.to),
        (&asked.cut, &mut linear.cut),
    ] {
        let (found, messages) = quantities(expressions, &mut elaborated);
        diagnostics.extend(messages);
        *place = found;
    }
    if choice.linear.is_some() && linear.from.is_empty() && plan.linearize.is_empty() {
        let place = plan.places.whole.unwrap_or_default();
        linear.from = default_inputs(&mut elaborated, place);
    }
    let needs_units =
        choice.linear.is_some() || !plan.linearize.is_empty() || !plan.trim.is_empty();
    let state_units = match needs_units {
        true => elaborated.state_units(),
        false => FxHashMap::default(),
    };
    let model = elaborated.model.name.text.to_string();
    let structural = elaborated.structural.clone();
    let limits = std::mem::take(&mut elaborated.limits);
    let mut graph = elaborated.into_graph();
    integrate_measures(&mut plan, &mut graph);
    if diagnostics.iter().any(Diagnostic::is_error) {
        return Err(failed(project, diagnostics));
    }
    let experiments = experiment_names(&project);
    let mut structural = structural;
    structural.extend(paynter_model::causality::ring_parameters(&graph));
    Ok(Design {
        experiments,
        path: path.to_owned(),
        graph,
        plan,
        model,
        diagnostics,
        structural,
        limits,
        linear,
        state_units,
        project,
    })
}

/// The expressions of a [`LinearChoice`].
#[derive(Default)]
struct LinearAsked {
    from: Vec<ast::Expr>,
    to: Vec<ast::Expr>,
    cut: Vec<ast::Expr>,
}

fn read_linear(
    choice: Option<&LinearChoice>,
    project: &mut Project,
    diagnostics: &mut Vec<Diagnostic>,
) -> LinearAsked {
    let mut asked = LinearAsked::default();
    let Some(choice) = choice else {
        return asked;
    };
    for (option, text, place) in [
        ("--from", &choice.from, &mut asked.from),
        ("--to", &choice.to, &mut asked.to),
        ("--cut", &choice.cut, &mut asked.cut),
    ] {
        let Some(text) = text else { continue };
        match project.parse_expressions(option, text) {
            Ok(expressions) => *place = expressions,
            Err(messages) => diagnostics.extend(messages),
        }
    }
    asked
}

fn bare_name(e: &ast::Expr) -> Option<String> {
    match &e.kind {
        ast::ExprKind::Name(name) => Some(name.text.to_string()),
        _ => None,
    }
}

/// Checks every model and experiment of a file.
///
/// # Errors
///
/// The file cannot be read.
pub fn check(path: &Path) -> Result<Failed, String> {
    let (project, diagnostics) = open(path)?;
    Ok(check_project(path, project, diagnostics))
}

/// Checks a text as if it stood in a file; what it uses is found from there.
pub fn check_text(path: &Path, text: &str) -> Failed {
    let (project, diagnostics) = load(&path.display().to_string(), text, &mut DiskLoader);
    check_project(path, project, diagnostics)
}

fn check_project(path: &Path, project: Project, mut diagnostics: Vec<Diagnostic>) -> Failed {
    // After a syntax error things are missing, and everything that names them would be reported.
    if !diagnostics.iter().any(Diagnostic::is_error) {
        diagnostics.extend(elaborate::check(&project));
    }
    diagnostics.extend(missing_references(path, &project));
    if !diagnostics.iter().any(Diagnostic::is_error) {
        for message in check_graphs(&project) {
            if !diagnostics.contains(&message) {
                diagnostics.push(message);
            }
        }
    }
    Failed {
        sources: project.sources,
        diagnostics,
    }
}

/// Tables that experiments of the main file are compared with, and that are not there.
fn missing_references(from: &Path, project: &Project) -> Vec<Diagnostic> {
    let Some(main) = project.files.first() else {
        return Vec::new();
    };
    let from = from.display().to_string();
    let mut found = Vec::new();
    for item in &main.ast.items {
        let ast::ItemKind::Experiment(experiment) = &item.kind else {
            continue;
        };
        for statement in &experiment.body {
            if let ast::ExperimentKind::Compare {
                path, path_span, ..
            } = &statement.kind
                && let Err(error) = std::fs::File::open(beside(path, Some(&from)))
            {
                found.push(unreadable_reference(format!("{path}: {error}"), *path_span));
            }
        }
    }
    found
}

/// A message about a table that cannot be read.
pub(crate) fn unreadable_reference(why: String, span: Span) -> Diagnostic {
    Diagnostic::error(
        code::REFERENCE,
        format!("the reference cannot be read: {why}"),
    )
    .primary(span, "compared with here")
    .help("paths begin at the folder of the model")
}

/// Looks for conflicts of causality and for equations without a unique solution, in every model
/// that stands alone and in every experiment.
fn check_graphs(project: &Project) -> Vec<Diagnostic> {
    let Some(main) = project.files.first() else {
        return Vec::new();
    };
    let mut found = Vec::new();
    let prepared = prepare(project);
    for item in &main.ast.items {
        let mut request = Request::default();
        match &item.kind {
            ast::ItemKind::Model(model) if !is_part(project, model) => {
                request.model = Some(model.name.text.to_string());
            }
            ast::ItemKind::Experiment(e) => request.experiment = Some(e.name.text.to_string()),
            _ => continue,
        }
        // A part with open ports or parameters does not elaborate alone; `elaborate::check` has looked at it.
        let Some(elaborated) = prepared.elaborate(&request).elaborated else {
            continue;
        };
        let graph = elaborated.into_graph();
        let causality = assign_causality(&graph);
        match reduce_graph(&graph, &causality, 0.0, Enforcement::Automatic) {
            Ok(locked) => found.extend(locked.messages),
            Err(messages) => found.extend(messages),
        }
    }
    found
}

/// Tells whether a model has ports, of its own or of a model it extends: its bonds are made elsewhere.
fn is_part(project: &Project, model: &ast::Model) -> bool {
    // More levels than this are a circle, which elaboration reports.
    const DEEPEST: usize = 64;
    let mut model = model;
    for _ in 0..DEEPEST {
        if model
            .body
            .iter()
            .any(|s| matches!(s.kind, ast::StmtKind::Port(_)))
        {
            return true;
        }
        let base = model.extends.as_ref().and_then(|e| e.path.segments.last());
        let items = project.files.iter().flat_map(|f| &f.ast.items);
        let mut found = items.filter_map(|item| match &item.kind {
            ast::ItemKind::Model(m) if base.is_some_and(|b| b.text == m.name.text) => Some(m),
            _ => None,
        });
        match found.next_back() {
            Some(next) => model = next,
            None => return false,
        }
    }
    false
}

/// Makes every `integral(…)` of a measure a state, so that it is as exact as the run and sees every
/// corner of what it integrates.
fn integrate_measures(plan: &mut Plan, graph: &mut BondGraph) {
    for measured in &mut plan.measures {
        let mut open = vec![&mut measured.value];
        while let Some(measure) = open.pop() {
            match measure {
                Measure::Of(functional) => {
                    if let Functional::Integral(rate) = *functional {
                        let dae = &mut graph.signals;
                        let name = dae.names.child(Names::ROOT, &measured.name, None);
                        let origin = Origin(graph.origins.len() as u32);
                        graph.origins.push(measured.span);
                        let symbol = dae.add_symbol(Symbol {
                            name,
                            role: Role::Unknown,
                            nominal: 0.0,
                            origin,
                        });
                        graph.readings.push(Reading {
                            symbol,
                            what: ReadingKind::Integral(rate),
                        });
                        *functional = Functional::Final(dae.pool.symbol(symbol));
                    }
                }
                Measure::Negative(a) | Measure::Call1(_, a) => open.push(a),
                Measure::Arithmetic(_, a, b) | Measure::Call2(_, a, b) => {
                    open.extend([&mut **a, &mut **b])
                }
                Measure::Constant(_) | Measure::Earlier(_) => {}
            }
        }
    }
}

/// Writes the equations of a graph and reduces them. Where causality has found a conflict it
/// explains better than the equations what is wrong.
///
/// Also gives warnings about locks.
pub(crate) fn reduce_graph(
    graph: &BondGraph,
    causality: &Causality,
    t0: f64,
    enforcement: Enforcement,
) -> Result<Locked, Vec<Diagnostic>> {
    let messages = causality_diagnostics(graph, causality);
    let of_code = |code: &str| {
        let found = messages.iter().filter(|m| m.code == code);
        found.cloned().collect::<Vec<Diagnostic>>()
    };
    // A law that nothing can invert leaves values open, or has none, even where the structure is regular;
    // a stroke written in the text is a promise about the physics that the model breaks.
    let stuck: Vec<Diagnostic> = causality
        .conflicts
        .iter()
        .filter(|c| needs_an_inverse(graph, c) || denies_a_stroke(c))
        .map(|c| conflict_diagnostic(graph, c))
        .collect();
    if !stuck.is_empty() {
        return Err(stuck);
    }
    // The equations of a ring that holds itself at zero can be solved; nobody wants the answer.
    let held = of_code(model_code::RING_LOCKS);
    if !held.is_empty() {
        return Err(held);
    }
    let dae = build_equations(graph, causality);
    let reduced = reduce_locked(dae, graph, t0, enforcement).map_err(|error| {
        let conflicts: Vec<Diagnostic> =
            messages.iter().filter(|m| m.is_error()).cloned().collect();
        match error {
            LockError::Explained(messages) => messages,
            // `reduce` took the equations apart; names for a message are read from new ones.
            LockError::Structure(error) if conflicts.is_empty() => {
                explain_structure(&error, &build_equations(graph, causality), graph)
            }
            LockError::Structure(_) => conflicts,
        }
    })?;
    let mut locked = reduced;
    locked.messages.extend(of_code(model_code::RING_REDUNDANT));
    Ok(locked)
}

/// How an experiment wants locks to be kept.
pub(crate) fn enforcement(plan: &Plan) -> Enforcement {
    match plan.constraints {
        Constraints::Multiplier => Enforcement::Multipliers,
        _ => Enforcement::Automatic,
    }
}

/// Moduli that are looked at one by one, each by reducing the whole model once more; the warning stands for
/// those beyond.
const MAX_PROBED: usize = 16;

/// Turns locks with these reactions into sources of no effort: they hold nothing.
fn leave_out(graph: &mut BondGraph, reactions: &[SymbolId]) {
    let zero = graph.signals.pool.number(0.0);
    for bond in 0..graph.bonds.len() {
        let bond = &graph.bonds[bond];
        if !reactions.contains(&bond.effort) {
            continue;
        }
        for end in [bond.tail, bond.head] {
            let element = &mut graph.elements[end.element.0 as usize];
            if element.kind == ElementKind::Sf {
                element.kind = ElementKind::Se;
                element.law = Law::Source {
                    value: zero,
                    position: None,
                };
            }
        }
    }
}

/// Tells whether every storage is a state, as when locks are kept by multipliers: then no stroke is followed
/// through a transformer, and no modulus is divided by.
fn keeps_all_storages(graph: &BondGraph, reduced: &Reduced) -> bool {
    let states: Vec<SymbolId> = reduced.states.iter().map(|s| s.symbol).collect();
    let mut stored = graph.elements.iter().flat_map(|e| &e.states).peekable();
    stored.peek().is_some() && stored.all(|s| states.contains(s))
}

/// Tells whether the equations stay solvable, with as many states, where the modulus of an element is
/// zero: then nothing divides by it.
fn stays_regular_without(graph: &BondGraph, element: ElementId, reduced: &Reduced) -> bool {
    let mut graph = graph.clone();
    let zero = graph.signals.pool.number(0.0);
    let law = &mut graph.elements[element.0 as usize].law;
    match law {
        Law::Gain(modulus) | Law::InverseGain(modulus) => *modulus = zero,
        _ => return false,
    }
    let causality = assign_causality(&graph);
    causality.is_complete()
        && reduce(build_equations(&graph, &causality))
            .is_ok_and(|r| r.states.len() == reduced.states.len())
}

/// Lists the experiments of a file.
///
/// # Errors
///
/// The file cannot be read, or its text has mistakes.
pub fn experiments(path: &Path) -> Result<Vec<String>, DesignError> {
    let (project, diagnostics) = open(path).map_err(DesignError::Unreadable)?;
    if diagnostics.iter().any(Diagnostic::is_error) {
        return Err(DesignError::Model(Failed {
            sources: project.sources,
            diagnostics,
        }));
    }
    Ok(experiment_names(&project))
}

fn experiment_names(project: &Project) -> Vec<String> {
    let Some(main) = project.files.first() else {
        return Vec::new();
    };
    main.ast
        .items
        .iter()
        .filter_map(|item| match &item.kind {
            ast::ItemKind::Experiment(e) => Some(e.name.text.to_string()),
            _ => None,
        })
        .collect()
}

/// Gives the text of a file as `paynter fmt` lays it out; none if it is laid out already.
///
/// # Errors
///
/// The file cannot be read, or its text has mistakes.
pub fn format_file(path: &Path) -> Result<Option<String>, DesignError> {
    let text =
        read_text(path).map_err(|e| DesignError::Unreadable(format!("{}: {e}", path.display())))?;
    let mut sources = SourceMap::new();
    let file = sources.add(path.display().to_string(), text.as_str());
    let formatted = paynter_syntax::format(file, &text);
    if formatted.diagnostics.iter().any(Diagnostic::is_error) {
        return Err(DesignError::Model(Failed {
            sources,
            diagnostics: formatted.diagnostics,
        }));
    }
    Ok((formatted.text != text).then_some(formatted.text))
}

/// All diagnostic codes of all stages: (code, title, explanation).
pub fn codes() -> Vec<(&'static str, &'static str, &'static str)> {
    let mut all: Vec<_> = paynter_syntax::code::all().to_vec();
    all.extend_from_slice(model_code::TABLE);
    all.extend_from_slice(crate::code::ALL);
    all.sort_unstable();
    all
}

impl Design {
    /// Assigns causality.
    pub fn causality(&self) -> Causality {
        assign_causality(&self.graph)
    }

    /// Writes the equations and reduces them.
    ///
    /// # Errors
    ///
    /// Why the equations have no unique solution, in the model's names.
    pub fn reduce(&self, causality: &Causality) -> Result<Reduced, Vec<Diagnostic>> {
        self.reduce_and_tell(causality).map(|(reduced, _)| reduced)
    }

    /// As [`Design::reduce`], and gives warnings about locks: redundant ones, dead centres.
    ///
    /// # Errors
    ///
    /// As for [`Design::reduce`].
    pub fn reduce_and_tell(
        &self,
        causality: &Causality,
    ) -> Result<(Reduced, Vec<Diagnostic>), Vec<Diagnostic>> {
        reduce_graph(
            &self.graph,
            causality,
            self.plan.start,
            enforcement(&self.plan),
        )
        .map(|l| (l.reduced, l.messages))
    }

    /// Assigns causality and reduces the equations, and says of every modulus that the strokes turn
    /// round whether the equations divide by it.
    ///
    /// Redundant locks are left out of the graph that comes back: they set no flow.
    pub fn causality_and_equations(
        &self,
    ) -> (BondGraph, Causality, Result<Reduced, Vec<Diagnostic>>) {
        let mut graph = self.graph.clone();
        let mut causality = self.causality();
        let locked = reduce_graph(&graph, &causality, self.plan.start, enforcement(&self.plan));
        if let Ok(locked) = &locked {
            if !locked.released.is_empty() {
                leave_out(&mut graph, &locked.released);
                causality = assign_causality(&graph);
            }
            let reduced = &locked.reduced;
            causality.structural_index = Some(reduced.structural_index);
            let turned = causality.reversed_moduli.iter();
            causality.harmless_moduli = if keeps_all_storages(&graph, reduced) {
                turned.copied().collect()
            } else {
                let probed = turned.take(MAX_PROBED).copied();
                probed
                    .filter(|&e| stays_regular_without(&graph, e, reduced))
                    .collect()
            };
        }
        (graph, causality, locked.map(|l| l.reduced))
    }

    /// Turns messages of a later stage into a failure with this design's texts.
    pub fn failed(&self, diagnostics: Vec<Diagnostic>) -> Failed {
        Failed {
            sources: self.project.sources.clone(),
            diagnostics,
        }
    }
}
