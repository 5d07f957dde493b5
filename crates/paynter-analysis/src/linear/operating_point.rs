//! A model at a point, with everything that small changes there can be read off.
//!
//! In:  a design, the inputs that may change, the quantities that follow.
//! Out: a [`OperatingPoint`]: rates and outputs with their exact slopes by states, inputs and rates of inputs,
//!      at the start of the experiment, or where a run has come to.
//!
//! The point is found by the machine of the model itself (`find_point`); `augment` makes a second one that has
//! inputs and outputs, and it takes over there with all held values. Both are compiled once in a [`PreparedPoint`].

use super::augment::{Entry, Held, Input, add_input, add_output, refuse_sampled};
use super::clocks::{Opened, open_clocks, sampled_reads};
use super::find_point::Finder;
use super::{LinearError, Sampled, model_error};
use paynter_design::code;
use paynter_design::compile::Compiled;
use paynter_design::design::Design;
use paynter_design::failure::{explain_lowering, explain_recording, seconds};
use paynter_design::names::names_of_integrals;
use paynter_exec::{Engine, Form, Lowering, Machine, lower_with};
use paynter_linear::Matrix;
use paynter_model::BondGraph;
use paynter_model::equations::ideal_contacts;
use paynter_model::experiment::Quantity;
use paynter_solve::{EvalError, System};
use paynter_symbolic::dae::{Dae, Mode, Switch};
use paynter_symbolic::reduced::Reduced;
use paynter_symbolic::{ExprId, Role, SymbolId};
use paynter_syntax::{Diagnostic, Span};
use std::collections::HashMap;
use std::ops::Deref;
use std::sync::Arc;

/// Dense matrices of more states than this take gigabytes and hours.
const MOST_STATES: usize = 3000;

/// Which point.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct At<'r> {
    /// The time of the run; its start where none is given.
    pub time: Option<f64>,
    /// The point at rest that the run starts from.
    pub rest: Option<&'r Rest>,
    /// States of the run are wanted at the point, too.
    pub wants_states: bool,
    /// What happens to what defines the inputs.
    pub entry: Entry,
    /// What sampled blocks become.
    pub sampled: Sampled,
}

/// A point at rest, for a run to start from.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Rest {
    /// States of the model's own machine.
    pub states: Vec<(SymbolId, f64)>,
    /// Inputs that were searched, as parameters.
    pub parameters: Vec<(SymbolId, f64)>,
}

/// A model at a point.
pub(super) struct OperatingPoint<'a> {
    pub design: &'a Design,
    shape: Arc<Shape>,
    machine: Machine,
    /// The time of the point, s.
    pub t: f64,
    /// Everything the machine integrates.
    pub y: Vec<f64>,
    /// Values of the outputs at the point, SI.
    pub output_values: Vec<f64>,
    /// Values of the inputs at the point, SI.
    pub input_values: Vec<f64>,
    /// Where `input_values` were taken.
    taken: Vec<f64>,
    /// What sampled lines hold at the point.
    pub held_values: Vec<f64>,
}

/// What a model with inputs and outputs has in common at all points.
pub(super) struct Shape {
    /// Where it was asked for.
    pub asked: Span,
    /// The equations with inputs and outputs.
    pub reduced: Reduced,
    /// Places of the model's own states in `y`, and their symbols.
    pub states: Vec<(usize, SymbolId)>,
    /// For each input the places of u₀, u₁, … in `y`.
    pub inputs: Vec<Vec<usize>>,
    /// Rows of the outputs.
    pub outputs: Vec<usize>,
    /// Rows of what switches at zero, with the modes.
    switches: Vec<(SymbolId, usize)>,
    /// Rows of the states of a run, where wanted.
    run_states: Vec<(SymbolId, usize)>,
    /// Rows of constraints that states must keep.
    pub constraints: Vec<usize>,
    /// Warnings about locks.
    pub messages: Vec<Diagnostic>,
    names: HashMap<SymbolId, String>,
    /// Sampled blocks that take part, if any do.
    pub opened: Option<Opened>,
    /// For each sampled line the places of the changes of what it holds in `y`.
    pub held: Vec<Vec<usize>>,
    /// The same of what it has just set.
    pub fresh: Vec<Vec<usize>>,
    /// Rows of what the sampled lines compute.
    pub line_rows: Vec<usize>,
    /// The gain at which quantisers count, where one was stated.
    pub quantiser_gain: Option<f64>,
    /// Everything that was added to the equations.
    added: Vec<Input>,
    /// What the inputs are in the model's own equations: their expressions, and the value where one is a parameter.
    entries: Vec<(ExprId, Option<(SymbolId, f64)>)>,
}

impl Deref for OperatingPoint<'_> {
    type Target = Shape;
    fn deref(&self) -> &Shape {
        &self.shape
    }
}

/// A model with inputs and outputs, compiled, that can be taken to its point with any values of its parameters.
#[derive(Clone)]
pub(super) struct PreparedPoint {
    shape: Arc<Shape>,
    machine: Machine,
    finder: Finder,
}

/// Rates and their slopes at a point.
pub(super) struct Slopes {
    /// The rate of every variable.
    pub f: Vec<f64>,
    /// Entries (row, column, value) wherever a row depends on a column, even if it is zero here.
    pub entries: Vec<(usize, usize, f64)>,
}

impl Slopes {
    /// The part with these rows and columns as a matrix.
    pub(super) fn part(&self, rows: &[usize], columns: &[usize]) -> Matrix {
        let place = |all: &[usize]| -> HashMap<usize, usize> {
            all.iter().enumerate().map(|(k, &i)| (i, k)).collect()
        };
        let (row_of, column_of) = (place(rows), place(columns));
        let mut matrix = Matrix::zeros(rows.len(), columns.len());
        for &(i, j, x) in &self.entries {
            if let (Some(&row), Some(&column)) = (row_of.get(&i), column_of.get(&j)) {
                matrix[(row, column)] = x;
            }
        }
        matrix
    }
}

impl PreparedPoint {
    /// Adds inputs and outputs to the equations, and compiles them.
    pub(super) fn new(
        (design, compiled): (&Design, &Compiled),
        inputs: &[Quantity],
        outputs: &[Quantity],
        at: &At<'_>,
    ) -> Result<Self, LinearError> {
        let graph = &compiled.graph;
        let asked = where_asked(design, inputs, outputs);
        refuse_differences(graph, asked)?;
        refuse_ideal_contacts(graph, asked)?;

        let values: Vec<ExprId> = outputs.iter().map(|q| q.column.value).collect();
        let wish = Wish {
            inputs,
            values: &values,
            at,
            asked,
        };
        let mut plain = compiled.reduced.clone();
        let extended = Extended::new((compiled, &plain), &wish)?;
        let machine = lower_explicit(&extended.reduced, graph, Engine::Interpreter)?;

        let own = extended.own_states(&machine);
        let wanted = wanted_at_point(&own, (&mut plain, &extended.reduced), &wish)?;
        let shape = extended.into_shape((&machine, &own), (compiled, &plain), &wish)?;
        let finder = Finder::new(design, Arc::new(plain), &wanted, at, asked)?;
        Ok(PreparedPoint {
            shape: Arc::new(shape),
            machine,
            finder,
        })
    }

    /// Tells whether the equations are the same ones for all values of a parameter.
    pub(super) fn can_vary(&self, symbol: SymbolId) -> bool {
        let Shape {
            reduced, entries, ..
        } = &*self.shape;
        let is_entry = entries.iter().any(|e| e.1.is_some_and(|c| c.0 == symbol));
        let is_parameter = matches!(reduced.dae.symbol(symbol).role, Role::Parameter { .. });
        (is_entry || is_parameter) && !reduced.decided_by.contains(&symbol)
    }

    /// Goes to the point, with these values of parameters.
    pub(super) fn go<'a>(
        self,
        design: &'a Design,
        parameters: &[(SymbolId, f64)],
    ) -> Result<OperatingPoint<'a>, LinearError> {
        let PreparedPoint {
            shape,
            mut machine,
            finder,
        } = self;
        let point = finder.find(design, parameters)?;
        let (n, n_outputs) = (shape.states.len(), shape.outputs.len());

        for (k, input) in shape.added.iter().enumerate() {
            let (parameter, value) = match input.held {
                Some(Held::Sampled { symbol, parameter }) => {
                    (parameter, point.machine.discrete(symbol).unwrap_or(0.0))
                }
                Some(Held::Own { parameter }) => (parameter, point.row[n + n_outputs + k]),
                None => continue,
            };
            machine
                .set_parameter(parameter, value)
                .expect("a parameter that was made for this");
        }

        let mut y = vec![0.0; machine.states().len()];
        for (&(at, _), value) in shape.states.iter().zip(&point.row) {
            y[at] = *value;
        }

        for &(symbol, value) in parameters {
            // An input that varies is not a parameter any more: its constant part moves to the change.
            let mut entries = shape.entries.iter();
            let own = entries.position(|e| e.1.is_some_and(|c| c.0 == symbol));
            match own.and_then(|k| Some((k, shape.entries[k].1?.1))) {
                Some((k, before)) => y[shape.inputs[k][0]] = value - before,
                None => {
                    // Set as in the run; what is not a parameter of these equations is not read by them.
                    let _ = machine.set_parameter(symbol, value);
                }
            }
        }

        let t = point.t;
        let reduced = &shape.reduced;
        machine
            .take_over(&point.machine, (t, &mut y), reduced.dae.whens.len(), &[])
            .map_err(|e| failed(e, &mut machine, t, reduced, design))?;
        let lines = shape.opened.iter().flat_map(|o| &o.lines);
        let held_values = lines.map(|line| point.machine.discrete(line.symbol).unwrap_or(0.0));
        let at_point = |from: usize, n: usize| point.row[from..from + n].to_vec();

        Ok(OperatingPoint {
            design,
            t,
            held_values: held_values.collect(),
            output_values: at_point(n, n_outputs),
            input_values: at_point(n + n_outputs, shape.entries.len()),
            taken: y.clone(),
            y,
            machine,
            shape,
        })
    }
}

/// Refuses contacts that conduct or block and nothing between.
fn refuse_ideal_contacts(graph: &BondGraph, asked: Span) -> Result<(), LinearError> {
    if let Some(&contact) = ideal_contacts(graph).first() {
        return Err(model_error(
            Diagnostic::error(
                code::NO_LINEAR_FORM,
                format!(
                    "the ideal contact `{}` has no slope: it conducts or it blocks",
                    graph.element_name(contact)
                ),
            )
            .primary(
                graph.span(graph.element(contact).origin),
                "this contact is ideal",
            )
            .secondary(asked, "asked for here")
            .help("give it resistances, such as `Ron = 1 [mohm], Roff = 1 [Mohm]`"),
        ));
    }
    Ok(())
}

/// Adds the inputs, and opens the sampled blocks that take part.
fn augment(compiled: &Compiled, wish: &Wish<'_>) -> Result<Augmented, LinearError> {
    let Wish {
        inputs,
        values,
        at,
        asked,
    } = *wish;

    let graph = &compiled.graph;
    let mut dae = compiled.equations();
    let n_rates = compiled.reduced.structural_index as usize + 1;
    let mut added: Vec<Input> = Vec::new();
    let mut refused = Vec::new();
    for input in inputs {
        match add_input(&mut dae, graph, input, n_rates, at.entry) {
            Ok(input) => added.push(input),
            Err(message) => refused.push(*message),
        }
    }

    let mut opened = None;
    let mut quantiser_gain = None;
    if refused.is_empty() {
        match at.sampled {
            Sampled::Refused => {
                let sampled = refuse_sampled(&dae, graph, values, asked);
                refused.extend(sampled.err().map(|message| *message));
            }
            Sampled::InSteps {
                quantiser_gain: gain,
            } => {
                quantiser_gain = gain;
                let symbols = sampled_reads(&dae, values);
                // Quantisers without a stated gain are refused once it is known whether they matter.
                opened = (!symbols.is_empty())
                    .then(|| open_clocks(&mut dae, &symbols, gain.unwrap_or(1.0), n_rates));
            }
        }
    }

    if !refused.is_empty() {
        return Err(LinearError::Model(refused));
    }
    Ok(Augmented {
        dae,
        added,
        opened,
        quantiser_gain,
    })
}

/// Refuses models whose matrices would not fit.
fn refuse_many_states(n_states: usize, asked: Span) -> Result<(), LinearError> {
    if n_states > MOST_STATES {
        return Err(model_error(
            Diagnostic::error(
                code::NO_LINEAR_FORM,
                format!("{n_states} states are too many for a linear model in matrices"),
            )
            .primary(asked, format!("at most {MOST_STATES} states"))
            .help("linearize a part of the model, or one with fewer cells"),
        ));
    }
    Ok(())
}

/// What the model is asked for.
#[derive(Clone, Copy)]
struct Wish<'q> {
    inputs: &'q [Quantity],
    /// Of the outputs.
    values: &'q [ExprId],
    at: &'q At<'q>,
    /// Where it was asked for.
    asked: Span,
}

/// The equations with inputs.
struct Augmented {
    dae: Dae,
    added: Vec<Input>,
    opened: Option<Opened>,
    quantiser_gain: Option<f64>,
}

/// The reduced equations with inputs, and with rows for what follows.
struct Extended {
    reduced: Reduced,
    rows: AddedRows,
    /// The inputs, then for each sampled line what it holds, then what it has just set.
    added: Vec<Input>,
    opened: Option<Opened>,
    quantiser_gain: Option<f64>,
}

impl Extended {
    /// Adds what is wished for; `plain` are the equations without it.
    fn new((compiled, plain): (&Compiled, &Reduced), wish: &Wish<'_>) -> Result<Self, LinearError> {
        let Augmented {
            dae,
            mut added,
            mut opened,
            quantiser_gain,
        } = augment(compiled, wish)?;
        if let Some(opened) = &mut opened {
            added.append(&mut opened.held);
            added.append(&mut opened.fresh);
        }

        let mut reduced = compiled.reduce_others(dae).map_err(LinearError::Model)?;
        refuse_many_states(reduced.states.len(), wish.asked)?;
        let rows = AddedRows::add(&mut reduced, plain, wish, opened.as_ref())?;
        Ok(Extended {
            reduced,
            rows,
            added,
            opened,
            quantiser_gain,
        })
    }

    /// States of the model itself, among those of its machine.
    fn own_states(&self, machine: &Machine) -> Vec<SymbolId> {
        let is_own = |s: &&SymbolId| {
            let of_inputs = self.added.iter().flat_map(|i| &i.chain);
            !of_inputs.chain(self.rows.all()).any(|a| a == *s)
        };
        machine.states().iter().filter(is_own).copied().collect()
    }

    /// What the model has in common at all points: everything by its place among the states of the machine.
    fn into_shape(
        self,
        (machine, own): (&Machine, &[SymbolId]),
        (compiled, plain): (&Compiled, &Reduced),
        wish: &Wish<'_>,
    ) -> Result<Shape, LinearError> {
        let Extended { rows, added, .. } = self;
        let places = machine.states().iter().enumerate();
        let place: HashMap<SymbolId, usize> = places.map(|(k, &s)| (s, k)).collect();
        let mut chain = added.iter().flat_map(|i| &i.chain);
        if chain.any(|s| !place.contains_key(s)) {
            return Err(tied(wish.asked));
        }
        let places = |symbols: &[SymbolId]| symbols.iter().map(|s| place[s]).collect();
        let with_place =
            |&(symbol, row): &(SymbolId, SymbolId)| -> (SymbolId, usize) { (symbol, place[&row]) };

        let mut inputs: Vec<Vec<usize>> = added.iter().map(|i| places(&i.chain)).collect();
        let n_lines = self.opened.as_ref().map_or(0, |o| o.lines.len());
        let fresh = inputs.split_off(wish.inputs.len() + n_lines);
        let held = inputs.split_off(wish.inputs.len());
        let mut messages = compiled.warnings.clone();
        messages.dedup();

        Ok(Shape {
            asked: wish.asked,
            states: own.iter().map(|&s| (place[&s], s)).collect(),
            inputs,
            held,
            fresh,
            line_rows: places(&rows.lines),
            opened: self.opened,
            quantiser_gain: self.quantiser_gain,
            outputs: places(&rows.outputs),
            constraints: places(&rows.constraints),
            switches: rows.switches.iter().map(with_place).collect(),
            run_states: rows.run_states.iter().map(with_place).collect(),
            reduced: self.reduced,
            messages,
            names: names_of_integrals(&compiled.graph, plain)
                .into_iter()
                .collect(),
            added,
            entries: entries(wish.inputs, plain),
        })
    }
}

/// The place in the text that asked for a linear model.
fn where_asked(design: &Design, inputs: &[Quantity], outputs: &[Quantity]) -> Span {
    let named = outputs.first().or(inputs.first()).map(|q| q.span);
    let statement = design.plan.places.of(&["linearize", "trim"]);
    named.or(statement).unwrap_or_default()
}

/// The machine of equations whose rates are all explicit, for exact slopes.
pub(super) fn lower_explicit(
    reduced: &Reduced,
    graph: &BondGraph,
    engine: Engine,
) -> Result<Machine, LinearError> {
    let lowering = Lowering {
        engine,
        form: Form::Explicit,
        ..Lowering::default()
    };
    lower_with(reduced, &[], lowering)
        .map_err(|e| model_error(explain_lowering(&e, reduced, graph)))
}

/// What was added to the reduced equations, so that slopes can be read off.
struct AddedRows {
    outputs: Vec<SymbolId>,
    constraints: Vec<SymbolId>,
    /// Of what the sampled lines compute.
    lines: Vec<SymbolId>,
    /// Of what switches at zero, with the modes.
    switches: Vec<(SymbolId, SymbolId)>,
    /// Of the states of a run, with their symbols there.
    run_states: Vec<(SymbolId, SymbolId)>,
}

impl AddedRows {
    /// Adds them in the order of the fields.
    fn add(
        reduced: &mut Reduced,
        plain: &Reduced,
        wish: &Wish<'_>,
        opened: Option<&Opened>,
    ) -> Result<Self, LinearError> {
        let rows = |reduced: &mut Reduced, values: &[ExprId]| -> Vec<SymbolId> {
            values.iter().map(|&e| add_output(reduced, e)).collect()
        };
        // What a run is projected onto.
        let mut constraint_values = reduced.constraints.clone();
        constraint_values.extend(reduced.dae.invariants.iter().map(|i| i.residual));
        let outputs = rows(reduced, wish.values);
        let constraints = rows(reduced, &constraint_values);
        let line_values: Vec<ExprId> = opened
            .iter()
            .flat_map(|o| o.lines.iter().map(|line| line.value))
            .collect();
        let lines = rows(reduced, &line_values);

        let surfaces: Vec<(SymbolId, ExprId)> = surfaces(&mut reduced.dae);
        let switches = surfaces
            .iter()
            .map(|&(mode, e)| (mode, add_output(reduced, e)))
            .collect();

        let mut run_states = Vec::new();
        for state in plain.states.iter().filter(|_| wish.at.wants_states) {
            let Some(own) = counterpart(state.symbol, plain, reduced) else {
                return Err(other_states(&plain.dae.name_of(state.symbol), wish.asked));
            };
            let value = reduced.dae.pool.symbol(own);
            run_states.push((state.symbol, add_output(reduced, value)));
        }
        Ok(AddedRows {
            outputs,
            constraints,
            lines,
            switches,
            run_states,
        })
    }

    fn all(&self) -> impl Iterator<Item = &SymbolId> {
        let of_values = self.outputs.iter().chain(&self.constraints);
        let of_run = self.run_states.iter().map(|r| &r.1);
        let of_switches = self.switches.iter().map(|s| &s.1);
        of_values
            .chain(&self.lines)
            .chain(of_run)
            .chain(of_switches)
    }
}

/// What the model's own machine is asked for at the point: its states, then what the outputs and inputs are.
fn wanted_at_point(
    own: &[SymbolId],
    (plain, reduced): (&mut Reduced, &Reduced),
    wish: &Wish<'_>,
) -> Result<Vec<ExprId>, LinearError> {
    let mut wanted = Vec::new();
    for &symbol in own {
        let Some(symbol) = counterpart(symbol, reduced, plain) else {
            return Err(other_states(&reduced.dae.name_of(symbol), wish.asked));
        };
        wanted.push(plain.dae.pool.symbol(symbol));
    }
    wanted.extend(wish.values);
    wanted.extend(wish.inputs.iter().map(|q| q.column.value));
    Ok(wanted)
}

/// What the inputs are in the model's own equations, with the value where one is a parameter.
fn entries(inputs: &[Quantity], plain: &Reduced) -> Vec<(ExprId, Option<(SymbolId, f64)>)> {
    let entry = |q: &Quantity| {
        let symbol = plain.dae.pool.as_symbol(q.column.value);
        let constant = symbol.and_then(|s| match plain.dae.symbol(s).role {
            Role::Parameter { value, .. } => Some((s, value)),
            _ => None,
        });
        (q.column.value, constant)
    };
    inputs.iter().map(entry).collect()
}

fn tied(asked: Span) -> LinearError {
    model_error(
        Diagnostic::error(
            code::NO_LINEAR_FORM,
            "an input is tied to another one by the equations",
        )
        .primary(asked, "these cannot change one by one")
        .help("take only one of them as an input"),
    )
}

impl<'a> OperatingPoint<'a> {
    /// Goes to the start of the experiment, or to a time of its run.
    pub(super) fn new(
        (design, compiled): (&'a Design, &Compiled),
        inputs: &[Quantity],
        outputs: &[Quantity],
        at: &At<'_>,
    ) -> Result<Self, LinearError> {
        let parameters = at.rest.map_or(&[][..], |rest| &rest.parameters);
        PreparedPoint::new((design, compiled), inputs, outputs, at)?.go(design, parameters)
    }

    /// Computes rates and slopes at the present point.
    pub(super) fn slopes(&mut self) -> Result<Slopes, LinearError> {
        let (t, n) = (self.t, self.machine.n());
        let mut f = vec![0.0; n];
        let result = self.machine.rhs(t, &self.y, &mut f);
        result.map_err(|e| self.failed(e))?;

        // Column by column; all rows of a column where the machine takes the matrix as full.
        let pattern = self.machine.jacobian_pattern().cloned();
        let full: Vec<usize> = (0..n).collect();
        let column = |j: usize| pattern.as_ref().map_or(&full[..], |p| p.column(j));
        let places: Vec<(usize, usize)> = (0..n)
            .flat_map(|j| column(j).iter().map(move |&i| (i, j)))
            .collect();
        let mut values = vec![0.0; places.len()];
        let result = self.machine.jacobian(t, &self.y, &mut values);
        let is_finite = result.map_err(|e| self.failed(e))?;

        // Solvers want the diagonal, or all of the matrix; what counts is what depends on what.
        let depends = self.machine.dependencies();
        let entries: Vec<(usize, usize, f64)> = places
            .into_iter()
            .zip(values)
            .filter(|((i, j), _)| depends[*i].binary_search(&(*j as u32)).is_ok())
            .map(|((i, j), x)| (i, j, x))
            .collect();

        if !is_finite {
            // Columns that share a direction are spoilt together; a state explains more than an input.
            let is_state = |k: usize| self.states.iter().any(|s| s.0 == k);
            let mut bad = entries.iter().filter(|e| !e.2.is_finite());
            let first = bad.clone().next();
            let bad = bad.find(|e| is_state(e.1)).or(first);
            let (i, j) = bad.map_or((0, 0), |e| (e.0, e.1));
            return Err(self.steep(i, j));
        }
        Ok(Slopes { f, entries })
    }

    /// Takes the values of outputs and inputs from rates at the present point.
    pub(super) fn take_values(&mut self, slopes: &Slopes) {
        self.output_values = self.outputs.iter().map(|&row| slopes.f[row]).collect();
        for (value, chain) in self.input_values.iter_mut().zip(&self.shape.inputs) {
            let change = self.y[chain[0]] - self.taken[chain[0]];
            *value += change;
        }
        self.taken.clone_from(&self.y);
    }

    /// The present point, for a run to start from.
    pub(super) fn rest(&self, slopes: &Slopes, parameters: Vec<(SymbolId, f64)>) -> Rest {
        let states = self.run_states.iter().map(|&(s, row)| (s, slopes.f[row]));
        Rest {
            states: states.collect(),
            parameters,
        }
    }

    /// Computes rates at a point, without slopes.
    pub(super) fn rates(&mut self, y: &[f64]) -> Result<Vec<f64>, EvalError> {
        let mut f = vec![0.0; self.machine.n()];
        self.machine.rhs(self.t, y, &mut f)?;
        Ok(f)
    }

    /// Lets switches follow to where the point has moved.
    pub(super) fn settle(&mut self) -> Result<(), LinearError> {
        let (t, mut y) = (self.t, std::mem::take(&mut self.y));
        let result = self.machine.handle_event(t, &mut y, &[]);
        self.y = y;
        result.map(|_| ()).map_err(|e| self.failed(e))
    }

    /// How the rates depend on time itself.
    pub(super) fn time_slopes(&mut self) -> Result<Vec<f64>, LinearError> {
        let mut ft = vec![0.0; self.machine.n()];
        let (t, y) = (self.t, self.y.clone());
        let result = self.machine.time_derivative(t, &y, &mut ft);
        result.map_err(|e| self.failed(e))?;
        Ok(ft)
    }

    /// Switches that stand on their surface here, and that a change could move off it.
    pub(super) fn kinks(&self, slopes: &Slopes) -> Vec<SymbolId> {
        // Nearer than this part of what its terms could make it is rounding.
        const ON: f64 = 1e-14;
        let mut sizes: HashMap<usize, f64> = HashMap::new();
        for &(i, j, x) in &slopes.entries {
            *sizes.entry(i).or_default() += (x * self.y[j]).abs();
        }
        let is_on = |row: &usize| {
            let size = sizes.get(row);
            size.is_some_and(|size| slopes.f[*row].abs() <= ON * size)
        };
        let on = self.switches.iter().filter(|(_, row)| is_on(row));
        on.map(|&(mode, _)| mode).collect()
    }

    /// Switches on their surface at which the two sides differ in a value or a slope of a sampled line; others as
    /// [`OperatingPoint::kinks`] gives them.
    pub(super) fn real_kinks(&mut self, slopes: &Slopes) -> Result<Vec<SymbolId>, LinearError> {
        let n_model = self.design.graph.signals.modes.len();
        let mut found = Vec::new();
        for mode in self.kinks(slopes) {
            let Role::Mode { mode: number } = self.reduced.dae.symbol(mode).role else {
                continue;
            };
            let is_of_plant = (number as usize) < n_model;
            if is_of_plant || !self.sides_agree(mode, slopes)? {
                found.push(mode);
            }
        }
        Ok(found)
    }

    /// Tells whether everything is the same on the other side of a switch.
    fn sides_agree(&mut self, mode: SymbolId, here: &Slopes) -> Result<bool, LinearError> {
        let machine = self.machine.clone();
        let Some(value) = machine.discrete(mode) else {
            return Ok(false);
        };
        self.machine.hold_mode(mode, 1.0 - value);
        let there = self.slopes();
        self.machine = machine;
        let there = there?;
        let same = |a: f64, b: f64| (a - b).abs() <= 1e-12 * a.abs().max(b.abs());
        let rows: Vec<usize> = self.line_rows.clone();
        let columns: Vec<usize> = (0..self.y.len()).collect();
        let (a, b) = (here.part(&rows, &columns), there.part(&rows, &columns));
        let slopes = a.values().iter().zip(b.values());
        let mut values = rows.iter().map(|&r| (here.f[r], there.f[r]));
        Ok(values.all(|(a, b)| same(a, b)) && slopes.into_iter().all(|(&a, &b)| same(a, b)))
    }

    /// The name of a state for people.
    pub(super) fn name(&self, symbol: SymbolId) -> String {
        let nicer = self.names.get(&symbol).cloned();
        nicer.unwrap_or_else(|| self.reduced.dae.name_of(symbol))
    }

    pub(super) fn failed(&mut self, error: EvalError) -> LinearError {
        let reduced = &self.shape.reduced;
        failed(error, &mut self.machine, self.t, reduced, self.design)
    }

    fn steep(&self, row: usize, column: usize) -> LinearError {
        let name = |k: usize| {
            let state = self.states.iter().find(|s| s.0 == k);
            state.map(|s| format!("`{}`", self.name(s.1)))
        };
        let (what, by) = (
            name(row).map_or("an output".to_owned(), |n| format!("the rate of {n}")),
            name(column).unwrap_or("an input".to_owned()),
        );
        let at = seconds(self.t);
        let message = format!("{what} has no finite slope by {by} at t = {at}");
        model_error(
            Diagnostic::error(code::NO_LINEAR_FORM, message)
                .primary(self.asked, "no linear model at this point")
                .help(
                    "linearize at another point: give other `start` values, or `--at` a later time",
                ),
        )
    }
}

pub(super) fn failed(
    error: EvalError,
    machine: &mut Machine,
    t: f64,
    reduced: &Reduced,
    design: &Design,
) -> LinearError {
    LinearError::Run(vec![explain_recording(
        machine,
        error,
        t,
        reduced,
        &design.graph,
    )])
}

/// An FMU that gives no derivatives has slopes by differences only: poles made of them would mislead.
pub(super) fn refuse_differences(graph: &BondGraph, asked: Span) -> Result<(), LinearError> {
    let functions = graph.signals.pool.externals();
    let Some(function) = functions.iter().find(|f| !f.has_exact_slopes()) else {
        return Ok(());
    };
    Err(model_error(
        Diagnostic::error(
            code::NO_LINEAR_FORM,
            format!("the FMU `{}` gives no derivatives", function.name()),
        )
        .primary(asked, "a linear model is asked for here")
        .help("use an FMU for Model Exchange that provides directional derivatives"),
    ))
}

/// With its inputs varying the model has a state that it has not when it runs.
pub(super) fn other_states(name: &str, asked: Span) -> LinearError {
    let message = format!("`{name}` is a state only while an input varies: its value is not known");
    model_error(
        Diagnostic::error(code::NO_LINEAR_FORM, message)
            .primary(asked, "asked for here")
            .help("let the input pass a lag, or take another one"),
    )
}

/// The symbol of the model's own equations that a state of the augmented ones is.
pub(super) fn counterpart(
    symbol: SymbolId,
    reduced: &Reduced,
    plain: &Reduced,
) -> Option<SymbolId> {
    // Symbols up to those that reduction adds are numbered alike, but for the ones of inputs between them.
    let role = |r: &Reduced, s: SymbolId| r.dae.symbols.get(s.0 as usize).map(|s| (s.name, s.role));
    let same = |a: Option<(_, Role)>, b: Option<(_, Role)>| match (a, b) {
        (Some((name, a)), Some((other, b))) => {
            name == other && std::mem::discriminant(&a) == std::mem::discriminant(&b)
        }
        _ => false,
    };
    if same(role(reduced, symbol), role(plain, symbol)) {
        return Some(symbol);
    }
    let Role::Derivative { of } = reduced.dae.symbol(symbol).role else {
        return None;
    };
    let of = counterpart(of, reduced, plain)?;
    let found = plain
        .dae
        .symbols
        .iter()
        .position(|s| s.role == Role::Derivative { of });
    found.map(|k| SymbolId(k as u32))
}

/// What changes sign where a mode switches.
fn surfaces(dae: &mut Dae) -> Vec<(SymbolId, ExprId)> {
    let modes: Vec<Mode> = dae.modes.clone();
    let surface = |mode: &Mode| match mode.switch {
        Switch::Relation { left, right, .. } => Some((mode.symbol, dae.pool.sub(left, right))),
        Switch::Sign { of } => Some((mode.symbol, of)),
        // A whole number is left at every one; the step there has no slope to either side.
        Switch::Floor { .. } => None,
    };
    modes.iter().filter_map(surface).collect()
}
