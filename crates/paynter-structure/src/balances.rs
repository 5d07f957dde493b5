//! Residuals that run on data: every sensor turned round at its junction.
//!
//! In:  a [`Subject`] whose outputs are efforts of 0-junctions and flows of 1-junctions, and a table of what was measured.
//! Out: [`Balance`]s with the faults each of them shows, and their values on the data.
//!
//! The measured effort (flow) is forced upon its junction by a source, and storages there take derivative form: a diagnostic bond graph (Samantaray &
//! Ould Bouamama 2008). What the source has to give to force it, the balance of flows (efforts) at the junction, is zero as long as
//! model and plant agree. Which faults change it is computed exactly for almost all parameters.
//!
//! **Invariant:** the graph that is run is the graph whose signatures are reported.

use crate::attach::attach_source;
use crate::code;
use crate::control::junction_of;
use crate::faults::{add_fault, response};
use crate::generic::loosen;
use crate::measured::Piecewise;
use crate::reach::short_name;
use crate::subject::{Subject, resolve, sources_of};
use paynter::compile::{Settings, compile};
use paynter::exec::Engine;
use paynter::experiment::{Layout, run_spec};
use paynter::model::BondGraph;
use paynter::model::experiment::Quantity;
use paynter::model::graph::{ElementId, ElementKind, Law};
use paynter::model::units::Unit;
use paynter::simulate::{Ending, Run, RunSpec, Wanted, prepare, simulate};
use paynter::symbolic::dae::{Equation, Symbol};
use paynter::symbolic::{ExprId, Names, Role, SymbolId};
use paynter::syntax::Diagnostic;
use paynter::table::{Column, Table};
use std::ops::ControlFlow;
use std::sync::Arc;

/// What a junction is out of balance by.
#[derive(Clone, Debug, PartialEq)]
pub struct Balance {
    /// The junction.
    pub junction: String,
    /// The sensor there, by position among the outputs.
    pub sensor: usize,
    /// The faults that change it, by name: elements, inputs, sensors.
    pub faults: Vec<String>,
}

/// A balance on data.
#[derive(Clone, Debug, PartialEq)]
pub struct BalanceOnData {
    /// The junction.
    pub junction: String,
    /// Largest size, SI.
    pub worst: f64,
    /// Largest size of what is balanced there, SI.
    pub scale: f64,
}

/// Finds which faults change the balance at each sensor.
///
/// # Errors
///
/// A sensor that cannot be reversed, or no generic model.
pub fn balances(subject: &Subject<'_>) -> Result<Vec<Balance>, Vec<Diagnostic>> {
    subject.needs_output()?;
    let mut graph = subject.graph().clone();
    loosen(&mut graph, &subject.inputs);
    let mut names: Vec<String> = Vec::new();
    let mut inputs: Vec<SymbolId> = Vec::new();
    for index in 0..graph.elements.len() as u32 {
        if let Some(input) = add_fault(&mut graph, ElementId(index)) {
            inputs.push(input);
            names.push(short_name(&graph, ElementId(index)));
        }
    }
    inputs.extend(&subject.inputs);
    names.extend(subject.ask.from.iter().map(|q| q.column.name.clone()));
    let measured: Vec<SymbolId> = subject
        .outputs
        .iter()
        .map(|_| constant(&mut graph))
        .collect();
    inputs.extend(&measured);
    names.extend(subject.ask.to.iter().map(|q| q.column.name.clone()));
    let values: Vec<ExprId> = measured
        .iter()
        .map(|&s| graph.signals.pool.symbol(s))
        .collect();
    let turned = turn_sensors(subject, &mut graph, &values)?;
    let outputs: Vec<ExprId> = turned
        .iter()
        .map(|t| graph.signals.pool.symbol(t.balance))
        .collect();
    let model = subject
        .generic_of(&graph, &inputs, &outputs)
        .map_err(|why| vec![subject.no_generic(&why)])?;
    let response = response(&model);
    let list = turned.iter().enumerate().map(|(k, turned)| Balance {
        junction: short_name(&graph, turned.junction),
        sensor: k,
        faults: (0..names.len())
            .filter(|&j| !response[(k, j)].is_zero())
            .map(|j| names[j].clone())
            .collect(),
    });
    Ok(list.collect())
}

/// A sensor that was turned round.
struct TurnedSensor {
    junction: ElementId,
    /// What its source has to give.
    balance: SymbolId,
}

/// Forces values upon the junctions that the outputs measure.
fn turn_sensors(
    subject: &Subject<'_>,
    graph: &mut BondGraph,
    values: &[ExprId],
) -> Result<Vec<TurnedSensor>, Vec<Diagnostic>> {
    let mut turned: Vec<TurnedSensor> = Vec::new();
    for (k, &output) in subject.outputs.iter().enumerate() {
        let quantity = &subject.ask.to[k];
        let found = resolve(subject, output).and_then(|s| junction_of(subject.graph(), s));
        let Some((junction, is_effort)) = found else {
            let message = format!("`{}` cannot be reversed", quantity.column.name);
            return Err(vec![
                Diagnostic::error(code::NOT_AT_A_JUNCTION, message)
                    .primary(
                        quantity.span,
                        "neither the effort of a 0-junction nor the flow of a 1-junction",
                    )
                    .help("measure what a junction shares, such as `tank.e` or `shaft.f`"),
            ]);
        };
        if let Some(first) = turned.iter().position(|t| t.junction == junction) {
            let message = format!(
                "`{}` and `{}` measure at one junction, `{}`",
                subject.ask.to[first].column.name,
                quantity.column.name,
                short_name(graph, junction)
            );
            return Err(vec![
                Diagnostic::error(code::SENSOR_TWICE, message)
                    .primary(quantity.span, "this would force it again")
                    .secondary(subject.ask.to[first].span, "forced by this one")
                    .help("leave one out: the two can be compared directly"),
            ]);
        }
        let balance = add_source(graph, junction, is_effort, values[k]);
        turned.push(TurnedSensor { junction, balance });
    }
    Ok(turned)
}

pub(crate) fn symbol(graph: &mut BondGraph, role: Role) -> SymbolId {
    let name = graph.signals.names.child(Names::ROOT, "measured", None);
    graph.signals.add_symbol(Symbol {
        name,
        role,
        nominal: 0.0,
        origin: Default::default(),
    })
}

pub(crate) fn constant(graph: &mut BondGraph) -> SymbolId {
    symbol(
        graph,
        Role::Parameter {
            value: 0.0,
            binding: None,
        },
    )
}

/// Adds Se to a 0-junction or Sf to a 1-junction; gives the flow or effort that it has to give.
fn add_source(
    graph: &mut BondGraph,
    junction: ElementId,
    is_effort: bool,
    value: ExprId,
) -> SymbolId {
    let bond = [(); 2].map(|()| symbol(graph, Role::Unknown));
    let kind = match is_effort {
        true => ElementKind::Se,
        false => ElementKind::Sf,
    };
    attach_source(graph, junction, kind, value, bond);
    let [effort, flow] = bond;
    if is_effort { flow } else { effort }
}

/// Computes the balances on data: a table with a column for each sensor, and for each input that is not as in the model.
///
/// # Errors
///
/// A sensor without a column or that cannot be reversed, or a run that fails.
pub fn balances_on(
    subject: &Subject<'_>,
    data: &Table,
) -> Result<(Table, Vec<BalanceOnData>), Vec<Diagnostic>> {
    let mut graph = subject.graph().clone();
    let mut values = Vec::new();
    for quantity in &subject.ask.to {
        let column = column_of_sensor(data, quantity)?;
        values.push(curve(&mut graph, (data, column), Piecewise::cubic));
    }
    drive_by(&mut graph, subject, data);
    let turned = turn_sensors(subject, &mut graph, &values)?;
    // What is balanced at each junction, to measure the balance against.
    let beside: Vec<Vec<SymbolId>> = turned
        .iter()
        .map(|t| summed(subject.graph(), t.junction))
        .collect();
    let mut wanted: Vec<Wanted> = Vec::new();
    for turned in &turned {
        let name = format!(
            "balance of {}",
            short_name(subject.graph(), turned.junction)
        );
        let value = graph.signals.pool.symbol(turned.balance);
        wanted.push(column_of(name, value));
    }
    for &other in beside.iter().flatten() {
        let value = graph.signals.pool.symbol(other);
        wanted.push(column_of(String::new(), value));
    }
    let mut table = run(subject, graph, wanted, data)?.table;
    let size = |c: &Column| c.values.iter().fold(0.0_f64, |m, v| m.max(v.abs()));
    let mut first = turned.len();
    let mut found = Vec::new();
    for (k, turned) in turned.iter().enumerate() {
        let others = &table.columns[first..first + beside[k].len()];
        first += beside[k].len();
        found.push(BalanceOnData {
            junction: short_name(subject.graph(), turned.junction),
            worst: size(&table.columns[k]),
            scale: others.iter().map(size).fold(0.0, f64::max),
        });
    }
    table.columns.truncate(turned.len());
    Ok((table, found))
}

/// The column that a sensor measured.
///
/// # Errors
///
/// There is none.
pub(crate) fn column_of_sensor<'t>(
    data: &'t Table,
    quantity: &Quantity,
) -> Result<&'t Column, Vec<Diagnostic>> {
    let column = data.column(&quantity.column.name);
    column.filter(|_| data.time.len() > 1).ok_or_else(|| {
        let message = format!("the data has no column `{}`", quantity.column.name);
        vec![
            Diagnostic::error(code::NO_DATA, message)
                .primary(quantity.span, "measured by this sensor")
                .help("name the columns as the outputs are named, with at least two rows"),
        ]
    })
}

/// Gives inputs that have a column the values that were measured.
pub(crate) fn drive_by(graph: &mut BondGraph, subject: &Subject<'_>, data: &Table) {
    for (quantity, &input) in subject.ask.from.iter().zip(&subject.inputs) {
        if let Some(column) = data.column(&quantity.column.name) {
            let value = curve(graph, (data, column), Piecewise::cubic);
            replace_input(graph, input, value);
        }
    }
}

/// The flows at a 0-junction, the efforts at a 1-junction.
fn summed(graph: &BondGraph, junction: ElementId) -> Vec<SymbolId> {
    let element = graph.element(junction);
    let is_zero = element.kind == ElementKind::Zero;
    let bonds = element.ports.iter().map(|&b| graph.bond(b));
    bonds
        .map(|b| if is_zero { b.flow } else { b.effort })
        .collect()
}

fn column_of(name: String, value: ExprId) -> Wanted {
    Wanted {
        name,
        value,
        unit: String::new(),
        factor: 1.0,
        offset: 0.0,
    }
}

fn time_of(graph: &mut BondGraph) -> ExprId {
    let time = match graph.signals.time {
        Some(time) => time,
        None => {
            let time = symbol(graph, Role::Time);
            graph.signals.time = Some(time);
            time
        }
    };
    graph.signals.pool.symbol(time)
}

/// How a curve is put through measured values.
pub(crate) type Fit = fn(&[f64], &[f64]) -> Piecewise;

/// A column as a curve of time, in SI units.
pub(crate) fn curve(graph: &mut BondGraph, (data, column): (&Table, &Column), fit: Fit) -> ExprId {
    let time = time_of(graph);
    let unit = Unit::parse_text(&column.unit)
        .ok()
        .filter(|_| !column.unit.is_empty());
    let si = |x: &f64| unit.as_ref().map_or(*x, |u| u.to_si(*x));
    let values: Vec<f64> = column.values.iter().map(si).collect();
    let pool = &mut graph.signals.pool;
    let id = pool.add_external(Arc::new(fit(&data.time, &values)));
    pool.call_external(id, &[time], 0)
}

/// Gives an input the values that were measured.
fn replace_input(graph: &mut BondGraph, input: SymbolId, value: ExprId) {
    if let Some(&source) = sources_of(graph, &[input]).first() {
        graph.elements[source.0 as usize].law = Law::Source {
            value,
            position: None,
        };
        return;
    }
    let dae = &mut graph.signals;
    let is_own = |e: &&mut Equation| dae.pool.as_symbol(e.left) == Some(input);
    if let Some(own) = dae.equations.iter_mut().find(is_own) {
        own.right = value;
        return;
    }
    let origin = dae.symbol(input).origin;
    dae.symbols[input.0 as usize].role = Role::Unknown;
    let left = dae.pool.symbol(input);
    dae.equations.push(Equation {
        left,
        right: value,
        solves: Some(input),
        origin,
    });
}

/// Runs over the time of the data. Start values that the data contradicts give way to it.
fn run(
    subject: &Subject<'_>,
    mut graph: BondGraph,
    wanted: Vec<Wanted>,
    data: &Table,
) -> Result<Run, Vec<Diagnostic>> {
    let plan = &subject.design.plan;
    let layout = Layout {
        wanted,
        n_recorded: 0,
        n_locks: 0,
        n_gains: 0,
        measured: Vec::new(),
        named: Vec::new(),
        margins: Vec::new(),
    };
    let mut spec = run_spec(plan, &layout, &[], Engine::Auto);
    spec.output_times = data.time.clone();
    (spec.start, spec.stop) = (data.time[0], data.time[data.time.len() - 1]);
    let settings = Settings {
        start: spec.start,
        ..Settings::of(plan)
    };
    match attempt(graph.clone(), settings.clone(), &spec) {
        Ok(run) => Ok(run),
        Err(_) => {
            graph
                .signals
                .starts
                .iter_mut()
                .for_each(|s| s.is_guess = true);
            attempt(graph, settings, &spec)
        }
    }
}

fn attempt(graph: BondGraph, settings: Settings, spec: &RunSpec) -> Result<Run, Vec<Diagnostic>> {
    let compiled = compile(Arc::new(graph), settings)?;
    let mut machine = prepare(&compiled, spec)?;
    let run = simulate(&mut machine, &compiled, spec, &mut |_| {
        ControlFlow::Continue(())
    })?;
    match run.ending {
        Ending::Failed {
            why: diagnostics, ..
        } => Err(diagnostics),
        _ => Ok(run),
    }
}
