//! From texts to a design: the graph, and what the experiment asks for.
//!
//! In:  a `.bond` text found by a [`Loader`], and a [`Choice`] of model, experiment and changed values.
//! Out: a [`Design`], or every error of the file at once.
//!
//! **Invariant:** nothing here touches the disk: a text that is open in an editor and not saved yet is
//! designed like one on disk. `disk.rs` has the same calls for files.

use crate::compile::{Compiled, Settings, Strokes, compile, strokes};
use crate::loader::beside;
use paynter_model::causality::{Causality, assign_causality};
use paynter_model::elaborate::{Elaborated, Limit, elaborate};
use paynter_model::experiment::{
    Functional, Measure, Plan, Quantity, default_columns, default_inputs, default_plan, plan,
    quantities, with_sweeps,
};
use paynter_model::graph::{Reading, ReadingKind};
use paynter_model::project::{Loader, Override, Project, Request, load};
use paynter_model::units::Unit;
use paynter_model::{BondGraph, BondId, code as model_code};
use paynter_symbolic::{Names, Origin, Role, Symbol, SymbolId};
use paynter_syntax::{Diagnostic, SourceMap, ast};
use rustc_hash::FxHashMap;
use std::path::PathBuf;
use std::sync::Arc;

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
    /// Sweeps in the place of those of the experiment, if any.
    pub sweep: Option<SweepChoice>,
}

/// Values to run over, as typed: `R1 in [10, 20] [ohm]`.
#[derive(Clone, Debug, Default)]
pub struct SweepChoice {
    /// One text for each value that varies.
    pub over: Vec<String>,
    /// They vary together rather than as a grid.
    pub is_paired: bool,
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
    /// Curves that the outputs are wanted to follow.
    pub want: Option<String>,
    /// The gain at which quantisers of sampled blocks count.
    pub quantiser_gain: Option<f64>,
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
    /// Curves that the outputs are wanted to follow.
    pub want: Vec<Quantity>,
    /// The gain at which quantisers of sampled blocks count.
    pub quantiser_gain: Option<f64>,
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
    pub graph: Arc<BondGraph>,
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
    /// Units of states and parameters, where a linear model, a trim or an export needs them.
    pub state_units: FxHashMap<SymbolId, Unit>,
    /// Tables that the experiment is compared with, in the order of the plan.
    pub references: Vec<Reference>,
    /// Data that the experiment is fitted to, in the order of the plan.
    pub fit_data: Vec<Reference>,
}

/// A reference table that an experiment is compared with, as it was found.
#[derive(Clone, Debug)]
pub struct Reference {
    /// As written in the experiment.
    pub path: String,
    /// Its bytes, or why it cannot be read.
    pub bytes: Result<Vec<u8>, String>,
}

/// Reads the main file and everything it uses.
///
/// # Errors
///
/// Why the main file cannot be read.
pub fn open(loader: &mut dyn Loader, path: &str) -> Result<(Project, Vec<Diagnostic>), String> {
    let bytes = loader
        .bytes(path, None)
        .map_err(|e| format!("{path}: {e}"))?;
    match String::from_utf8(bytes) {
        Ok(text) => Ok(load(path, &text, loader)),
        // A file that is there but is not text is an error of the file, with a code of its own.
        Err(error) => {
            let mut project = Project::default();
            let file = project.sources.add(path, "");
            let parsed = paynter_syntax::parse_bytes(file, error.as_bytes());
            Ok((project, parsed.diagnostics))
        }
    }
}

/// Reads a file through a loader and elaborates the chosen model.
///
/// # Errors
///
/// The file cannot be read, or the model has errors.
pub fn design_in(
    loader: &mut dyn Loader,
    path: &str,
    choice: &Choice,
) -> Result<Design, DesignError> {
    let (project, diagnostics) = open(loader, path).map_err(DesignError::Unreadable)?;
    let mut design = elaborate_choice(project, diagnostics, choice, &[])?;
    design.path = path.into();
    design.references = design
        .plan
        .comparisons
        .iter()
        .map(|asked| Reference {
            path: asked.path.clone(),
            bytes: loader.bytes(&asked.path, Some(path)),
        })
        .collect();
    let data = design.plan.fit.iter().flat_map(|f| &f.data);
    let data = data.map(|asked| Reference {
        path: asked.path.clone(),
        bytes: loader.bytes(&asked.path, Some(path)),
    });
    design.fit_data = data.collect();
    Ok(design)
}

/// Elaborates the chosen model of texts that are read already, with further values changed.
fn elaborate_choice(
    mut project: Project,
    mut diagnostics: Vec<Diagnostic>,
    choice: &Choice,
    changes: &[Override],
) -> Result<Design, DesignError> {
    let has_errors = |messages: &[Diagnostic]| messages.iter().any(Diagnostic::is_error);
    if has_errors(&diagnostics) {
        return Err(model_failed(project, diagnostics));
    }

    // What was typed in the call joins the texts, so that messages can point at it.
    let asked = read_linear(choice.linear.as_ref(), &mut project, &mut diagnostics);
    if has_errors(&diagnostics) {
        return Err(model_failed(project, diagnostics));
    }
    let mut request = read_request(choice, changes, &mut project, &mut diagnostics);
    request.free_inputs = asked.from.iter().filter_map(bare_name).collect();
    let sweeps = read_sweeps(choice.sweep.as_ref(), &mut project, &mut diagnostics);

    let elaboration = elaborate(&project, &request);
    diagnostics.extend(elaboration.diagnostics);
    let Some(mut elaborated) = elaboration.elaborated else {
        return Err(model_failed(project, diagnostics));
    };
    let mut plan = make_plan(&mut elaborated, choice, &sweeps, &mut diagnostics);
    let linear = read_quantities(&asked, choice, &plan, &mut elaborated, &mut diagnostics);
    let needs_units =
        choice.linear.is_some() || !plan.linearize.is_empty() || !plan.trim.is_empty();
    let state_units = if needs_units {
        units(&mut elaborated)
    } else {
        FxHashMap::default()
    };

    let model = elaborated.model.name.text.to_string();
    let mut structural = elaborated.structural.clone();
    let limits = std::mem::take(&mut elaborated.limits);
    let (mut graph, decided_by) = elaborated.into_oriented_graph();
    integrate_measures(&mut plan, &mut graph);
    if has_errors(&diagnostics) {
        return Err(model_failed(project, diagnostics));
    }
    structural.extend(decided_by);
    structural.extend(paynter_model::causality::ring_parameters(&graph));
    Ok(Design {
        experiments: experiment_names(&project),
        path: PathBuf::new(),
        references: Vec::new(),
        fit_data: Vec::new(),
        graph: Arc::new(graph),
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

fn model_failed(project: Project, diagnostics: Vec<Diagnostic>) -> DesignError {
    DesignError::Model(Failed {
        sources: project.sources,
        diagnostics,
    })
}

/// Which model and experiment, and what is changed in it.
fn read_request(
    choice: &Choice,
    changes: &[Override],
    project: &mut Project,
    diagnostics: &mut Vec<Diagnostic>,
) -> Request {
    let mut request = Request {
        model: choice.model.clone(),
        experiment: choice.experiment.clone(),
        overrides: changes.to_vec(),
        ..Request::default()
    };
    for (target, value) in &choice.overrides {
        match project.parse_override(target, value) {
            Ok(change) => request.overrides.push(change),
            Err(messages) => diagnostics.extend(messages),
        }
    }
    if request.model.is_none() && request.experiment.is_none() {
        request.experiment = experiment_names(project).into_iter().next();
    }
    request
}

/// The plan of the experiment, or of a model that has none, with the sweeps of the call.
fn make_plan(
    elaborated: &mut Elaborated<'_>,
    choice: &Choice,
    sweeps: &[ast::ExperimentStmt],
    diagnostics: &mut Vec<Diagnostic>,
) -> Plan {
    let mut plan = match elaborated.experiment {
        Some(experiment) => {
            let (plan, messages) = plan(experiment, elaborated);
            diagnostics.extend(messages);
            plan
        }
        None => default_plan(elaborated),
    };
    if let Some(asked) = &choice.sweep {
        let (swept, messages) = with_sweeps(plan, sweeps, asked.is_paired, elaborated);
        diagnostics.extend(messages);
        plan = swept;
    }
    if plan.columns.is_empty() {
        plan.columns = default_columns(elaborated);
    }
    plan
}

/// The inputs, outputs and cuts of a linear model that the call names.
fn read_quantities(
    asked: &LinearAsked,
    choice: &Choice,
    plan: &Plan,
    elaborated: &mut Elaborated<'_>,
    diagnostics: &mut Vec<Diagnostic>,
) -> LinearQuantities {
    let mut linear = LinearQuantities {
        quantiser_gain: choice.linear.as_ref().and_then(|l| l.quantiser_gain),
        ..LinearQuantities::default()
    };
    for (expressions, place) in [
        (&asked.from, &mut linear.from),
        (&asked.to, &mut linear.to),
        (&asked.cut, &mut linear.cut),
        (&asked.want, &mut linear.want),
    ] {
        let (found, messages) = quantities(expressions, elaborated);
        diagnostics.extend(messages);
        *place = found;
    }
    if choice.linear.is_some() && linear.from.is_empty() && plan.linearize.is_empty() {
        let place = plan.places.whole.unwrap_or_default();
        linear.from = default_inputs(elaborated, place);
    }
    linear
}

/// Units that states and parameters are shown in, where they are known.
fn units(model: &mut Elaborated<'_>) -> FxHashMap<SymbolId, Unit> {
    let mut units = model.state_units();
    for index in 0..model.graph().signals.symbols.len() {
        let symbol = SymbolId(index as u32);
        let dae = &model.graph().signals;
        if !matches!(dae.symbol(symbol).role, Role::Parameter { .. }) {
            continue;
        }
        let name = dae.name_of(symbol);
        if let Some(unit) = model.display_unit(&name) {
            units.insert(symbol, unit);
        }
    }
    units
}

/// The expressions of a [`LinearChoice`].
#[derive(Default)]
struct LinearAsked {
    from: Vec<ast::Expr>,
    to: Vec<ast::Expr>,
    cut: Vec<ast::Expr>,
    want: Vec<ast::Expr>,
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
        ("--want", &choice.want, &mut asked.want),
    ] {
        let Some(text) = text else { continue };
        match project.parse_expressions(option, text) {
            Ok(expressions) => *place = expressions,
            Err(messages) => diagnostics.extend(messages),
        }
    }
    asked
}

fn read_sweeps(
    choice: Option<&SweepChoice>,
    project: &mut Project,
    diagnostics: &mut Vec<Diagnostic>,
) -> Vec<ast::ExperimentStmt> {
    let mut sweeps = Vec::new();
    for text in choice.iter().flat_map(|c| &c.over) {
        match project.parse_sweep(text) {
            Ok(sweep) => sweeps.push(sweep),
            Err(messages) => diagnostics.extend(messages),
        }
    }
    sweeps
}

fn bare_name(e: &ast::Expr) -> Option<String> {
    match &e.kind {
        ast::ExprKind::Name(name) => Some(name.text.to_string()),
        _ => None,
    }
}

/// Makes every `integral(…)` of a measure a state, so that it is as exact as the run and sees every
/// corner of what it integrates.
fn integrate_measures(plan: &mut Plan, graph: &mut BondGraph) {
    for (own_name, span, measure) in plan.all_measures_mut() {
        let mut open = vec![measure];
        while let Some(measure) = open.pop() {
            match measure {
                Measure::Of(functional) => {
                    if let Functional::Integral(rate) = *functional {
                        let dae = &mut graph.signals;
                        let name = dae.names.child(Names::ROOT, &own_name, None);
                        let origin = Origin(graph.origins.len() as u32);
                        graph.origins.push(span);
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

/// Lists the experiments of a file.
///
/// # Errors
///
/// The file cannot be read, or its text has errors.
pub fn experiments_in(loader: &mut dyn Loader, path: &str) -> Result<Vec<String>, DesignError> {
    let (project, diagnostics) = open(loader, path).map_err(DesignError::Unreadable)?;
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

/// Gives a text as `paynter fmt` lays it out; none if it is laid out already.
///
/// # Errors
///
/// The text has errors.
pub fn format_text(name: &str, text: &str) -> Result<Option<String>, Failed> {
    let mut sources = SourceMap::new();
    let file = sources.add(name, text);
    let formatted = paynter_syntax::format(file, text);
    if formatted.diagnostics.iter().any(Diagnostic::is_error) {
        return Err(Failed {
            sources,
            diagnostics: formatted.diagnostics,
        });
    }
    Ok((formatted.text != text).then_some(formatted.text))
}

/// All diagnostic codes of all stages: (code, title, explanation).
pub fn codes() -> Vec<(&'static str, &'static str, &'static str)> {
    let mut all: Vec<_> = paynter_syntax::code::TABLE.to_vec();
    all.extend(model_code::all());
    all.extend_from_slice(crate::code::TABLE);
    all.sort_unstable();
    all
}

impl Design {
    /// Compiles the model: strokes, equations, redundant locks.
    ///
    /// # Errors
    ///
    /// Why the equations have no unique solution, in the model's names.
    pub fn compile(&self) -> Result<Compiled, Vec<Diagnostic>> {
        compile(self.graph.clone(), Settings::of(&self.plan))
    }

    /// Assigns the strokes that are shown, and what the equations say about them.
    pub fn strokes(&self) -> Strokes {
        strokes(self.graph.clone(), Settings::of(&self.plan))
    }

    /// Assigns causality.
    pub fn causality(&self) -> Causality {
        assign_causality(&self.graph)
    }

    /// The same model with other values: elaborated anew from the texts that are there.
    ///
    /// # Errors
    ///
    /// The model with these values has errors.
    pub fn varied(&self, choice: &Choice, changes: &[Override]) -> Result<Design, DesignError> {
        let mut design = elaborate_choice(self.project.clone(), Vec::new(), choice, changes)?;
        design.path.clone_from(&self.path);
        design.references.clone_from(&self.references);
        design.fit_data.clone_from(&self.fit_data);
        Ok(design)
    }

    /// Finds a named bond, or all bonds of a named element.
    pub fn bonds_called(&self, name: &str) -> Vec<BondId> {
        let graph = &self.graph;
        let names = &graph.signals.names;
        let is_it = |path: Option<_>| path.is_some_and(|path| names.display(path) == name);
        if let Some(index) = graph.bonds.iter().position(|b| is_it(b.name)) {
            return vec![BondId(index as u32)];
        }
        let element = graph.elements.iter().find(|e| is_it(e.name));
        element.map(|e| e.ports.clone()).unwrap_or_default()
    }

    /// Every text that this design was made of, by path: model files, tables and references that are texts.
    /// With these in an [`Overlay`](crate::overlay::Overlay), it is made again where the disk is another.
    pub fn files(&self) -> Vec<(String, String)> {
        let mut found = Vec::new();
        for file in &self.project.files {
            if file.canonical_name.starts_with("library:") {
                continue;
            }
            let source = self.project.sources.file(file.file);
            found.push((source.name.clone(), source.text.to_string()));
            for (path, text) in &file.data {
                if let Ok(text) = text {
                    let path = beside(path, Some(&source.name)).display().to_string();
                    found.push((path, text.clone()));
                }
            }
        }
        for reference in &self.references {
            let bytes = reference.bytes.as_ref().ok().cloned();
            if let Some(Ok(text)) = bytes.map(String::from_utf8) {
                let main = self.path.display().to_string();
                let path = beside(&reference.path, Some(&main)).display().to_string();
                found.push((path, text));
            }
        }
        found.sort();
        found
    }

    /// Turns messages of a later stage into a failure with this design's texts.
    pub fn failed(&self, diagnostics: Vec<Diagnostic>) -> Failed {
        Failed {
            sources: self.project.sources.clone(),
            diagnostics,
        }
    }
}
