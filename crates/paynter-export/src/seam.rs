//! The seam: what every format is written from.
//!
//! In:  a design: a model with the values of an experiment.
//! Out: an [`Export`]: the program of its machine, with names, units, limits and start values.
//!
//! **Invariant:** variables of the program are the states and inputs listed here, each once; outputs are in the
//! order of the program. All numbers are in SI units.

use crate::code;
use crate::sizes::sizes;
use paynter::design::Design;
use paynter::driven::{DriveError, Driven, drive, machine_for_export};
use paynter::exec::program::{Aim, Program, Step};
use paynter::model::elaborate::Limit;
use paynter::model::equations::ideal_contacts;
use paynter::model::units::{Dimension, Unit};
use paynter::names::names_of_integrals;
use paynter::symbolic::expr::{Node, Recipe};
use paynter::symbolic::walk::below;
use paynter::symbolic::{ExprId, Role, SymbolId, evaluate};
use paynter::syntax::{Diagnostic, Span};
use std::collections::{BTreeSet, HashMap, HashSet};

/// What the balance of energy is called.
const AUDIT: &str = "system.residual";

/// A model ready to be written in another language.
#[derive(Clone, Debug)]
pub struct Export {
    /// Name of the model.
    pub model: String,
    /// Name of the experiment, where one was chosen.
    pub experiment: Option<String>,
    /// What is computed.
    pub program: Program,
    /// The states.
    pub states: Vec<State>,
    /// What is given from outside.
    pub inputs: Vec<Input>,
    /// Outputs of the model and recorded quantities, in the order of [`Program::outputs`].
    pub outputs: Vec<Output>,
    /// The parameters that something reads.
    pub parameters: Vec<Parameter>,
    /// Names of the discrete quantities of the program, and their values at the start.
    pub discrete: Vec<(String, f64)>,
    /// Values of the modes of the program at the start.
    pub modes: Vec<f64>,
    /// First and last instant of the experiment, s.
    pub span: (f64, f64),
    /// Relative tolerance of the experiment.
    pub rtol: f64,
    /// Distance of output points, s.
    pub output_step: Option<f64>,
    /// The place among the outputs of the balance of energy: what sources gave and resistors did not take, less what
    /// is stored.
    pub audit: Option<usize>,
    /// Names of all symbols.
    names: HashMap<SymbolId, String>,
    /// What the user should know.
    pub warnings: Vec<Diagnostic>,
}

/// A state.
#[derive(Clone, Debug)]
pub struct State {
    /// Its name.
    pub name: String,
    /// Its place among the variables of the program.
    pub variable: usize,
    /// The unit it is shown in.
    pub unit: Option<Unit>,
    /// Its value at the start.
    pub start: f64,
    /// Its start follows from parameters and other starts; else it can be set.
    pub is_calculated: bool,
    /// A typical size; 0 where unknown.
    pub nominal: f64,
}

/// Something given from outside.
#[derive(Clone, Debug)]
pub struct Input {
    /// Its name.
    pub name: String,
    /// Its place among the variables of the program.
    pub variable: usize,
    /// The unit it is shown in.
    pub unit: Option<Unit>,
    /// Its value until another is given.
    pub start: f64,
}

/// Something to be looked at.
#[derive(Clone, Debug)]
pub struct Output {
    /// Its name.
    pub name: String,
    /// The unit it is shown in.
    pub unit: Option<Unit>,
    /// Declared as `output` of the model; else recorded by the experiment.
    pub is_declared: bool,
    /// Its value at the start.
    pub start: f64,
}

/// A parameter.
#[derive(Clone, Debug)]
pub struct Parameter {
    /// Its name.
    pub name: String,
    /// Its slot in the program.
    pub slot: u32,
    /// Its value.
    pub value: f64,
    /// The unit it is shown in.
    pub unit: Option<Unit>,
    /// It follows from others.
    pub is_bound: bool,
    /// It shaped the equations and can no longer be changed.
    pub is_fixed: bool,
    /// The text does not name it.
    pub is_hidden: bool,
    /// Smallest and largest value allowed.
    pub range: (Option<f64>, Option<f64>),
}

impl Export {
    /// Gives the name of a symbol, where it has one.
    pub fn name(&self, symbol: SymbolId) -> Option<&str> {
        self.names.get(&symbol).map(String::as_str)
    }
}

/// Makes the seam of a design.
///
/// # Errors
///
/// What cannot be exported, and why.
pub fn export(design: &Design) -> Result<Export, Vec<Diagnostic>> {
    export_with(design, None)
}

/// Makes the seam with the given balance of energy among its outputs.
pub(crate) fn export_with(
    design: &Design,
    balance: Option<ExprId>,
) -> Result<Export, Vec<Diagnostic>> {
    refuse_contacts(design)?;
    refuse_trim(design)?;
    refuse_foreign(design)?;
    let compiled = design.compile()?;
    let driven = drive(design, &compiled).map_err(|error| match error {
        DriveError::Refused(messages) => messages,
        DriveError::RateIsRead(input) => vec![rate_of_input(design, input)],
    })?;
    let (mut names, mut wanted) = wanted(design);
    let audit = balance.map(|balance| {
        // A recorded quantity of this name makes room for the one that knows of events.
        if let Some(k) = names.iter().position(|o| o.name == AUDIT) {
            names[k].name = format!("recorded.{AUDIT}");
        }
        names.push(Output {
            name: AUDIT.to_owned(),
            unit: Some(Dimension::ENERGY.unit()),
            is_declared: false,
            start: 0.0,
        });
        wanted.push(balance);
        wanted.len() - 1
    });
    let (mut machine, start) = machine_for_export(design, &driven, &wanted)?;
    let program = machine.program();
    let sizes = sizes(&machine, &start.y0, (design.plan.start, design.plan.stop));
    refuse_functions(design, &program)?;

    let mut values = vec![0.0; wanted.len()];
    // What has no value at the start is found by whoever runs the code.
    let _ = machine.observe(design.plan.start, &start.y0, &mut values);
    let outputs = names.into_iter().zip(values);
    let outputs = outputs.map(|(output, start)| Output { start, ..output });
    let held = |symbol: SymbolId| machine.discrete(symbol).unwrap_or(0.0);
    let names = all_names(design, &driven);
    let discrete = program.discrete.iter();
    let name = |s: &SymbolId| names.get(s).cloned().unwrap_or_default();
    let (states, inputs) = variables(design, &driven, &program, (&start.y0, &sizes));
    let mut warnings = compiled.warnings.clone();
    warnings.extend(sampled_guards(design, &driven, &program));
    Ok(Export {
        model: design.model.clone(),
        experiment: design.plan.name.clone(),
        states,
        inputs,
        outputs: outputs.collect(),
        parameters: parameters(design, &driven, &program),
        // Sampled values at the start are found by the first tick.
        discrete: discrete.map(|&(s, _, start)| (name(&s), start)).collect(),
        modes: program.modes.iter().map(|m| held(m.symbol)).collect(),
        span: (design.plan.start, design.plan.stop),
        rtol: design.plan.rtol,
        output_step: design.plan.output_step,
        audit,
        names,
        warnings,
        program,
    })
}

fn refuse_contacts(design: &Design) -> Result<(), Vec<Diagnostic>> {
    let graph = &design.graph;
    let refused: Vec<Diagnostic> = ideal_contacts(graph)
        .into_iter()
        .map(|id| {
            let name = graph.element_name(id);
            let message =
                format!("`{name}` is an ideal contact, which changes the equations during a run");
            Diagnostic::error(code::IDEAL_CONTACT, message)
                .primary(
                    graph.span(graph.element(id).origin),
                    "exported code has one set of equations",
                )
                .help("give it resistances: `Ron = 1 [mohm], Roff = 1 [Mohm]`")
        })
        .collect();
    if refused.is_empty() {
        Ok(())
    } else {
        Err(refused)
    }
}

fn refuse_trim(design: &Design) -> Result<(), Vec<Diagnostic>> {
    let Some(first) = design.plan.trim.first() else {
        return Ok(());
    };
    let message = "the experiment finds an equilibrium with `trim`, which exported code cannot do";
    let message = Diagnostic::error(code::TRIMMED, message)
        .primary(first.span, "searched here")
        .help("export an experiment that gives these values by `start`");
    Err(vec![message])
}

/// FMUs are libraries of others, which exported code cannot hold.
fn refuse_foreign(design: &Design) -> Result<(), Vec<Diagnostic>> {
    let (graph, pool) = (&design.graph, &design.graph.signals.pool);
    let calls_fmu = |e: &ExprId| match pool.node(*e) {
        Node::External(f, ..) => pool.external(f).recipe() == Recipe::Foreign,
        _ => false,
    };
    let equations = graph.signals.equations.iter();
    let calling = equations.filter(|q| below(pool, &[q.left, q.right]).iter().any(calls_fmu));
    let mut places: Vec<Span> = calling.map(|q| graph.span(q.origin)).collect();
    places.dedup();
    let Some(&place) = places.first() else {
        return Ok(());
    };
    let message = "a model with an FMU in it cannot be exported";
    let message = Diagnostic::error(code::NO_RECIPE, message)
        .primary(place, "this is a library of its own")
        .help("couple both FMUs in the program that imports them");
    Err(vec![message])
}

fn rate_of_input(design: &Design, input: SymbolId) -> Diagnostic {
    let dae = &design.graph.signals;
    let name = dae.name_of(input);
    let origin = dae.symbol(input).origin;
    Diagnostic::error(
        code::RATE_OF_INPUT,
        format!("the equations need the rate of the input `{name}`"),
    )
    .primary(
        design.graph.span(origin),
        "only its value is given from outside",
    )
    .help("put a resistance between this input and the storage that it holds")
}

/// Functions that have no form in C.
fn refuse_functions(design: &Design, program: &Program) -> Result<(), Vec<Diagnostic>> {
    let mut found = BTreeSet::new();
    let routines = [
        &program.rates.values.steps,
        &program.outputs.values.steps,
        &program.rates.tangent,
        &program.outputs.tangent,
        &program.switches.steps,
        &program.timing.steps,
        &program.conditions.steps,
        &program.reinit_values.steps,
        &program.reinit_targets.values.steps,
        &program.assigned_values.steps,
        &program.left_limits.steps,
        &program.sample_inputs.steps,
        &program.start_values.steps,
        &program.demands.values.steps,
        &program.constraints.values.steps,
        &program.late_values.steps,
        &program.set_up.steps,
    ];

    let sampled = program.sampled.iter().map(|s| &s.routine.steps);
    let bound = program.bindings.iter().map(|b| &b.2.steps);
    for steps in routines.into_iter().chain(sampled).chain(bound) {
        unknown_functions(steps, &mut found);
    }
    if found.is_empty() {
        return Ok(());
    }
    let place = design.plan.places.whole.unwrap_or_default();
    let messages = found.into_iter().map(|name| {
        Diagnostic::error(
            code::NO_RECIPE,
            format!("the function `{name}` cannot be exported"),
        )
        .primary(place, "this model uses it")
        .help("compute its result once and write it into the model as a parameter")
    });
    Err(messages.collect())
}

fn unknown_functions(steps: &[Step], found: &mut BTreeSet<String>) {
    for step in steps {
        match step {
            Step::Call { function, .. } if function.recipe() == Recipe::Unknown => {
                found.insert(function.name().to_owned());
            }
            Step::Newton(newton) => {
                unknown_functions(&newton.body, found);
                unknown_functions(&newton.slopes, found);
            }
            Step::NewtonTangent { body, .. } => unknown_functions(body, found),
            _ => {}
        }
    }
}

/// What is looked at: outputs of the model, then what the experiment records, each once.
fn wanted(design: &Design) -> (Vec<Output>, Vec<ExprId>) {
    let graph = &design.graph;
    let declared = graph.outputs.iter().map(|o| {
        let name = graph.signals.names.display(o.name);
        (name, o.value, o.unit.clone(), true)
    });
    let columns = design.plan.columns.iter();
    let recorded = columns.map(|c| (c.name.clone(), c.value, c.unit.clone(), false));
    let mut seen: HashSet<(String, ExprId)> = HashSet::new();
    let mut taken: HashSet<String> = HashSet::new();
    let (mut outputs, mut values) = (Vec::new(), Vec::new());
    for (name, value, unit, is_declared) in declared.chain(recorded) {
        if !seen.insert((name.clone(), value)) {
            continue;
        }
        // A record may take the name of something else for its own.
        let mut own = name.clone();
        while !taken.insert(own.clone()) {
            own = format!("recorded.{own}");
        }
        outputs.push(Output {
            name: own,
            unit,
            is_declared,
            start: 0.0,
        });
        values.push(value);
    }
    (outputs, values)
}

/// Gives the expressions of all outputs, in the order of [`Export::outputs`].
pub fn wanted_expressions(design: &Design) -> Vec<ExprId> {
    wanted(design).1
}

fn all_names(design: &Design, driven: &Driven) -> HashMap<SymbolId, String> {
    let dae = &driven.reduced.dae;
    let nicer = names_of_integrals(&design.graph, &driven.reduced);
    let name = |k: usize| {
        let symbol = SymbolId(k as u32);
        let own = match dae.symbol(symbol).role {
            Role::Derivative { of } if nicer.contains_key(&of) => format!("der({})", nicer[&of]),
            _ => nicer
                .get(&symbol)
                .cloned()
                .unwrap_or_else(|| dae.name_of(symbol)),
        };
        (symbol, own)
    };
    (0..dae.symbols.len()).map(name).collect()
}

fn variables(
    design: &Design,
    driven: &Driven,
    program: &Program,
    (start, sizes): (&[f64], &[f64]),
) -> (Vec<State>, Vec<Input>) {
    let names = all_names(design, driven);
    let calculated = calculated_starts(program);
    let unit = |s: &SymbolId| design.state_units.get(s).cloned();
    let (mut states, mut inputs) = (Vec::new(), Vec::new());
    for (variable, symbol) in program.states.iter().enumerate() {
        let name = names[symbol].clone();
        if !driven.inputs.contains(symbol) {
            states.push(State {
                name,
                variable,
                unit: unit(symbol),
                start: start[variable],
                is_calculated: calculated.contains(&variable),
                nominal: match driven.reduced.dae.symbol(*symbol).nominal {
                    known if known > 0.0 => known,
                    _ => sizes[variable],
                },
            });
        }
    }

    // In the order of the text.
    for symbol in &driven.inputs {
        let place = program.states.iter().position(|s| s == symbol);
        let variable = place.expect("a driven input is a variable");
        inputs.push(Input {
            name: names[symbol].clone(),
            variable,
            unit: unit(symbol),
            start: start[variable],
        });
    }
    (states, inputs)
}

/// Variables whose start follows from parameters or from others.
fn calculated_starts(program: &Program) -> HashSet<usize> {
    let constants: HashSet<u32> = program.constants.iter().map(|c| c.0).collect();
    let n_hard = program.n_demands + program.constraints.values.outputs.len();
    let sought = program.demands.rows.iter().take(n_hard).flatten();
    let mut found: HashSet<usize> = sought.map(|&v| v as usize).collect();
    for ((aim, _), slot) in program.starts.iter().zip(&program.start_values.outputs) {
        if let Aim::Variable { index, .. } = aim
            && !constants.contains(slot)
        {
            found.insert(*index);
        }
    }
    found.extend(program.late.iter().map(|l| l.0));
    found
}

fn parameters(design: &Design, driven: &Driven, program: &Program) -> Vec<Parameter> {
    let dae = &driven.reduced.dae;
    let value_of = |s: SymbolId| match dae.symbol(s).role {
        Role::Parameter { value, .. } => value,
        _ => f64::NAN,
    };
    let number = |e: ExprId| evaluate::evaluate(&dae.pool, e, &value_of).ok();
    let bound: HashSet<SymbolId> = program.bindings.iter().map(|b| b.0).collect();

    // What the text does not name: rates of inputs, which stay zero, and what constraints were turned into.
    let n_own = design.graph.signals.symbols.len();
    let list = program.parameters.iter().map(|&(symbol, slot)| {
        let is_hidden = symbol.0 as usize >= n_own;
        let is_bound = bound.contains(&symbol);
        let is_own = |l: &&Limit| dae.pool.as_symbol(l.value) == Some(symbol);
        let limit = design.limits.iter().find(is_own);
        let end = |e: Option<ExprId>| e.and_then(number).filter(|x| x.is_finite());
        let shapes = design.structural.contains(&symbol);
        Parameter {
            name: dae.name_of(symbol),
            slot,
            value: value_of(symbol),
            unit: design.state_units.get(&symbol).cloned(),
            is_bound,
            is_fixed: shapes
                || driven.reduced.decided_by.contains(&symbol)
                || (is_hidden && !is_bound),
            is_hidden,
            range: limit.map_or((None, None), |l| (end(l.low), end(l.high))),
        }
    });
    list.collect()
}

/// Warns of conditions of time that exported code only samples.
fn sampled_guards(design: &Design, driven: &Driven, program: &Program) -> Vec<Diagnostic> {
    let dae = &driven.reduced.dae;
    let place = |s: &SymbolId| design.graph.span(dae.symbol(*s).origin);
    let spans: BTreeSet<_> = program.sampled_only.iter().map(place).collect();
    let messages = spans.into_iter().map(|span| {
        Diagnostic::warning(
            code::SAMPLED_GUARD,
            "this condition turns with time, and exported code only samples it",
        )
        .primary(span, "two changes between two samples are missed")
        .help("keep steps well below the time between two changes")
    });
    messages.collect()
}
