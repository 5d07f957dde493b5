//! Sensitivities along a run: how recorded quantities follow parameters.
//!
//! In:  a design, the parameters that vary, the quantities that follow.
//! Out: [`Sensitivities`]: ∂y/∂θ at every output time, and how much each parameter counts.
//!
//! The variational equations σ' = A σ + ∂f/∂θ are integrated beside the model (`system`), with A and ∂f/∂θ from the exact
//! Jacobian of equations in which every such parameter is a variable that does not move. Algebraic blocks and dependent
//! storages are differentiated through; events are passed with the jump of σ that belongs to them; the start follows from
//! the demands on it (`start`).
//!
//! **Invariant:** nothing is perturbed by a finite amount. What cannot be followed exactly is refused.

mod start;
mod system;
mod text;

use super::augment::{add_chain, add_output, vary_parameter};
use super::find_point::Finder;
use super::operating_point::{At, counterpart, lower_explicit, other_states, refuse_differences};
use super::{LinearError, model_error};
use crate::explain::explain_stuck;
use crate::layout::{lay_out, run_spec};
use paynter_design::code;
use paynter_design::compile::Compiled;
use paynter_design::design::Design;
use paynter_design::failure::explain_recording;
use paynter_exec::{Engine, Lowering};
use paynter_model::equations::ideal_contacts;
use paynter_model::experiment::Quantity;
use paynter_model::units::Unit;
use paynter_run::following::Instant;
use paynter_run::recorder::{Recorder, Rows};
use paynter_run::spec::RunSpec;
use paynter_run::trace::{Measured, Trace};
use paynter_run::trouble::Stuck;
use paynter_solve::{Method, Options, Tolerances, integrate};
use paynter_symbolic::dae::{Action, Dae, Role, Switch};
use paynter_symbolic::reduced::Reduced;
use paynter_symbolic::walk::{substitute, symbols_of};
use paynter_symbolic::{ExprId, SymbolId};
use paynter_syntax::{Diagnostic, Span};
use std::collections::{HashMap, HashSet};
use std::ops::ControlFlow;
use std::sync::Arc;

pub use text::{sensitivities_to_json, sensitivities_to_text};

use system::{Surface, Trouble, Variational};

/// Sensitivities are differences of nothing, but their digits are those of the run: finer than its default.
const LARGEST_RTOL: f64 = 1e-9;

/// One output over time with what it owes to each parameter.
#[derive(Clone, Debug)]
pub struct Followed {
    /// Its name.
    pub name: String,
    /// Its unit; empty for a plain number.
    pub unit: String,
    /// Its values in that unit.
    pub values: Vec<f64>,
    /// For each parameter ∂y/∂θ, in this unit per unit of the parameter.
    pub slopes: Vec<Vec<f64>>,
}

/// A parameter that varies.
#[derive(Clone, Debug)]
pub struct Parameter {
    /// Its name.
    pub name: String,
    /// Its unit; empty for a plain number.
    pub unit: String,
    /// Its value in that unit.
    pub value: f64,
}

/// Sensitivities along a run.
#[derive(Clone, Debug)]
pub struct Sensitivities {
    /// s
    pub time: Vec<f64>,
    /// What varies.
    pub parameters: Vec<Parameter>,
    /// What follows.
    pub outputs: Vec<Followed>,
    /// Events that were passed.
    pub n_events: usize,
}

/// A parameter to vary, as the model has it.
#[derive(Clone, Debug)]
pub struct Varying {
    /// Its name.
    pub name: String,
    /// What it is in the equations; none for something that is not a single quantity.
    pub symbol: Option<SymbolId>,
    /// The unit it is shown in; none for a plain number.
    pub unit: Option<Unit>,
    /// Where it is named.
    pub span: Span,
}

impl Varying {
    /// From what was named in a call.
    pub fn of(design: &Design, quantity: &Quantity) -> Self {
        Varying {
            name: quantity.column.name.clone(),
            symbol: design.graph.signals.pool.as_symbol(quantity.column.value),
            unit: quantity.column.unit.clone(),
            span: quantity.span,
        }
    }

    fn value(&self, design: &Design) -> f64 {
        match self.symbol.map(|s| design.graph.signals.symbol(s).role) {
            Some(Role::Parameter { value, .. }) => value,
            _ => 0.0,
        }
    }

    /// What one unit of relative change is: the size of the parameter, or 1 where it is zero.
    fn scale(&self, design: &Design) -> f64 {
        match self.value(design) {
            0.0 => 1.0,
            value => value.abs(),
        }
    }
}

/// Computes how quantities follow parameters along the run of an experiment.
///
/// # Errors
///
/// What cannot be followed, or the failed run.
pub fn sensitivities(
    design: &Design,
    compiled: &Compiled,
    asked: (&[Varying], &[Quantity]),
) -> Result<Sensitivities, LinearError> {
    sensitivities_at(design, compiled, asked, None)
}

/// As [`sensitivities`], at other times than those of the experiment.
///
/// # Errors
///
/// As for [`sensitivities`].
pub(crate) fn sensitivities_at(
    design: &Design,
    compiled: &Compiled,
    (over, to): (&[Varying], &[Quantity]),
    times: Option<&[f64]>,
) -> Result<Sensitivities, LinearError> {
    let model = Model::new((design, compiled), over, to)?;
    let values: Vec<f64> = over.iter().map(|p| p.value(design)).collect();
    let scales: Vec<f64> = over.iter().map(|p| p.scale(design)).collect();
    let request = Following {
        values: &values,
        scales: &scales,
        times,
        measured: &[],
        rtol: None,
        max_steps: None,
    };
    let run = model.follow(design, &request)?;
    Ok(collect(design, (over, to), &scales, &run))
}

/// At which values a model is followed, and what is written down.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Following<'a> {
    /// Of the parameters, SI.
    pub values: &'a [f64],
    /// What slopes are counted in, for each parameter.
    pub scales: &'a [f64],
    /// Rows are recorded at these times, or at those of the experiment.
    pub times: Option<&'a [f64]>,
    /// Curves that are taken down inside the steps. Columns: for each output its value, then its slopes.
    pub measured: &'a [Measured],
    /// Relative tolerance, or that of the experiment; never more than a fine one.
    pub rtol: Option<f64>,
    /// Steps after which the run is given up, or those of the experiment.
    pub max_steps: Option<usize>,
}

/// A run with its sensitivities; slopes are ∂y/∂θ times the scale of θ.
pub(crate) struct FollowedRun {
    pub rows: Rows,
    pub traces: Vec<Trace>,
    /// How instants of events follow the parameters.
    pub instants: Vec<Instant>,
    pub n_events: usize,
    /// It reached its stop time.
    pub is_whole: bool,
}

/// The symbols of what varies.
fn parameters_of(
    design: &Design,
    compiled: &Compiled,
    over: &[Varying],
) -> Result<Vec<SymbolId>, LinearError> {
    let dae = &design.graph.signals;
    let mut refused = Vec::new();
    let mut found = Vec::new();
    for quantity in over {
        let name = &quantity.name;
        let mut refuse = |label: &str, help: &str| {
            let message = format!("`{name}` is not a parameter that can vary smoothly");
            let message = Diagnostic::error(code::NO_SENSITIVITY, message);
            refused.push(message.primary(quantity.span, label).help(help));
        };
        let Some(symbol) = quantity.symbol else {
            refuse(
                "this is not a single parameter",
                "name a `param` or an `input` with a constant value",
            );
            continue;
        };
        match dae.symbol(symbol).role {
            Role::Parameter { .. } if design.structural.contains(&symbol) => {
                refuse("it determines the structure of the model", "use a sweep");
            }
            Role::Parameter { .. } if compiled.reduced.decided_by.contains(&symbol) => {
                refuse("with its present value terms cancel", "use a sweep");
            }
            Role::Parameter { .. } => found.push(symbol),
            _ => refuse(
                "this varies during the run",
                "name a `param` or an `input` with a constant value",
            ),
        }
    }

    match refused.is_empty() {
        true => Ok(found),
        false => Err(LinearError::Model(refused)),
    }
}

/// The model with its parameters as variables, compiled once; copies are followed with other values.
#[derive(Clone)]
pub(crate) struct Model {
    variational: Variational,
    reduced: Arc<Reduced>,
    finder: Finder,
    /// The parameters, and the values they have in the equations.
    parameters: Vec<(SymbolId, f64)>,
    point_time: f64,
    y: Vec<f64>,
    /// Rows of target − value of the demands on the start, with those that the text gives as plain starts.
    demands: Vec<usize>,
    /// States that are set when all demands are met, and rows of their values.
    late: Vec<(usize, usize)>,
    asked: Span,
}

/// A value less than this part of the one in the equations has lost too many digits in the difference from it.
const SMALLEST_PART: f64 = 1e-5;

impl Model {
    /// Makes and compiles the variational equations.
    ///
    /// # Errors
    ///
    /// What cannot be followed.
    pub(crate) fn new(
        (design, compiled): (&Design, &Compiled),
        over: &[Varying],
        to: &[Quantity],
    ) -> Result<Self, LinearError> {
        let symbols = parameters_of(design, compiled, over)?;
        let asked = to.first().map(|q| q.span).unwrap_or_default();
        let mut dae = compiled.equations();
        refuse_unfollowed(design, compiled, &dae, asked)?;

        let parameters: Vec<(SymbolId, f64)> = (symbols.into_iter().zip(over))
            .map(|(symbol, p)| (symbol, p.value(design)))
            .collect();
        let chains = vary_parameters(&mut dae, &parameters);
        refuse_assignments(design, &dae, asked)?;
        let mut reduced = compiled.reduce_others(dae).map_err(LinearError::Model)?;
        refuse_projection(&reduced, asked)?;

        let outputs: Vec<ExprId> = to.iter().map(|q| q.column.value).collect();
        let rows = AddedRows::add(&mut reduced, &outputs);
        let engine = Lowering::default().engine;
        let machine = lower_explicit(&reduced, &compiled.graph, engine)?;

        let places = machine.states().iter().enumerate();
        let place: HashMap<SymbolId, usize> = places.map(|(k, &s)| (s, k)).collect();
        let added: HashSet<SymbolId> = chains.iter().chain(rows.all()).copied().collect();
        let is_own = |s: &&SymbolId| !added.contains(s);
        let own: Vec<SymbolId> = machine.states().iter().filter(is_own).copied().collect();
        let finder = finder((design, compiled), &reduced, &own, asked)?;

        let places =
            |symbols: &[SymbolId]| -> Vec<usize> { symbols.iter().map(|s| place[s]).collect() };
        let target = |&(when, target, row): &(usize, SymbolId, SymbolId)| {
            let state = place.get(&target);
            let refuse = || follower(design, &reduced, target, asked);
            Ok((when, *state.ok_or_else(refuse)?, place[&row]))
        };
        let targets: Result<Vec<_>, LinearError> = rows.reinits.iter().map(target).collect();
        let surfaces = rows.surfaces.iter().map(|&(mode, row, is_floor)| Surface {
            mode,
            row: place[&row],
            is_floor,
        });

        let variational = Variational::new(
            machine,
            (places(&own), places(&chains), places(&rows.outputs)),
            surfaces.collect(),
            targets?,
        );
        let late = rows.late.iter();
        let late = late.filter_map(|(s, row)| Some((*place.get(s)?, place[row])));

        Ok(Model {
            variational,
            late: late.collect(),
            demands: places(&rows.demands),
            point_time: 0.0,
            y: Vec::new(),
            reduced: Arc::new(reduced),
            finder,
            parameters,
            asked,
        })
    }

    /// Makes machine code now: worth it for a model that is followed more than once.
    pub(crate) fn compile(&mut self) {
        self.variational.machine.compile();
    }

    /// Integrates a copy of the model beside its sensitivities.
    ///
    /// # Errors
    ///
    /// The failed run, or an event that cannot be followed.
    pub(crate) fn follow(
        &self,
        design: &Design,
        request: &Following<'_>,
    ) -> Result<FollowedRun, LinearError> {
        let mut model = self.clone();
        model.go_to_start(design, request.values)?;
        let y0 = model.start(design, request.scales)?;
        let plan = &design.plan;
        let spec = run_spec(plan, &lay_out(plan), &[], Engine::Interpreter);
        let options = model.options(&spec, request);
        let mut go_on = |_: f64| ControlFlow::Continue(());
        let n_columns = model.variational.n_columns();
        let times = request.times.map_or(spec.output_times, <[f64]>::to_vec);
        let mut recorder = Recorder::new(times, n_columns, request.measured, &mut go_on);
        let t0 = model.point_time;
        let Model {
            variational,
            reduced,
            ..
        } = &mut model;
        let ended = integrate(variational, t0, &y0, spec.stop, &options, &mut recorder);
        if let Some(trouble) = variational.trouble {
            return Err(cannot_follow(design, reduced, trouble));
        }

        if let Some((t, error)) = recorder.failure {
            let machine = &mut variational.machine;
            let message = explain_recording(machine, error, t, reduced, &design.graph);
            return Err(LinearError::Run(vec![message]));
        }

        match ended {
            Ok(finish) => Ok(FollowedRun {
                n_events: recorder.event_times.len(),
                rows: recorder.rows,
                traces: recorder.traces,
                instants: std::mem::take(&mut variational.instants),
                is_whole: finish.t >= spec.stop,
            }),
            Err(error) => {
                let error = variational.about_machine(error);
                let stuck = Stuck::new(&mut variational.machine, error);
                let message = explain_stuck(&stuck, reduced, &design.graph);
                Err(LinearError::Run(vec![message]))
            }
        }
    }

    fn options(&mut self, spec: &RunSpec, request: &Following<'_>) -> Options {
        let rtol = request.rtol.unwrap_or(spec.rtol).min(LARGEST_RTOL);
        let span = (self.point_time, spec.stop);
        self.variational.scales = request.scales.to_vec();
        self.variational.span = (spec.stop - spec.start).abs();
        let max_steps = request.max_steps.or(spec.max_steps);
        Options {
            method: match spec.fixed_step {
                Some(_) => Method::Auto,
                None => spec.method,
            },
            tolerances: Tolerances {
                relative: rtol,
                absolute: self.variational.tolerances(rtol, span, spec.atol),
            },
            max_step: spec.max_step.unwrap_or(f64::INFINITY),
            max_steps: max_steps.unwrap_or(Options::default().max_steps),
            ..Options::default()
        }
    }

    /// Finds the start with the model's own machine, and lets the one with sensitivities take over there.
    fn go_to_start(&mut self, design: &Design, values: &[f64]) -> Result<(), LinearError> {
        let symbols = self.parameters.iter().map(|p| p.0);
        let changes: Vec<(SymbolId, f64)> = symbols.zip(values.iter().copied()).collect();
        let point = self.finder.clone().find(design, &changes)?;
        let mut y = vec![0.0; self.variational.machine.states().len()];
        for (&place, value) in self.variational.own().iter().zip(&point.row) {
            y[place] = *value;
        }
        for (k, (&(symbol, own), value)) in self.parameters.iter().zip(values).enumerate() {
            if value.abs() < SMALLEST_PART * own.abs() && *value != 0.0 {
                let name = self.reduced.dae.name_of(symbol);
                return Err(too_small(&name, self.asked));
            }
            y[self.variational.input(k)] = value - own;
        }
        let n_whens = self.reduced.dae.whens.len();
        let machine = &mut self.variational.machine;
        let t = point.t;
        let taken = machine.take_over(&point.machine, (t, &mut y), n_whens, &[]);
        if let Err(error) = taken {
            let message = explain_recording(machine, error, t, &self.reduced, &design.graph);
            return Err(LinearError::Run(vec![message]));
        }
        (self.point_time, self.y) = (t, y);
        Ok(())
    }
}

/// Makes every such parameter a variable that does not move; gives the changes from the present values.
fn vary_parameters(dae: &mut Dae, parameters: &[(SymbolId, f64)]) -> Vec<SymbolId> {
    // What varies by itself no longer follows what it was bound to.
    for &(symbol, value) in parameters {
        dae.symbols[symbol.0 as usize].role = Role::Parameter {
            value,
            binding: None,
        };
    }

    let mut chains = Vec::new();
    for &(symbol, _) in parameters {
        let origin = dae.symbol(symbol).origin;
        let chain = add_chain(dae, origin, 0);
        let change = dae.pool.symbol(chain[0]);
        vary_parameter(dae, symbol, change);
        chains.push(chain[0]);
    }
    chains
}

/// Refuses states that a run keeps on constraints by projection: their slopes would have to be projected, too.
fn refuse_projection(reduced: &Reduced, asked: Span) -> Result<(), LinearError> {
    if !reduced.constraints.is_empty() || !reduced.dae.invariants.is_empty() {
        return Err(model_error(
            Diagnostic::error(
                code::NO_SENSITIVITY,
                "states of this model are kept on constraints by projection",
            )
            .primary(asked, "asked for here")
            .help(
                "not implemented for projected states; use differences of runs (`paynter sweep`)",
            ),
        ));
    }
    Ok(())
}

/// What was added to the reduced equations, so that slopes can be read off.
struct AddedRows {
    outputs: Vec<SymbolId>,
    /// Target − value of the demands on the start.
    demands: Vec<SymbolId>,
    /// What is set when all demands are met, and its value.
    late: Vec<(SymbolId, SymbolId)>,
    /// Modes with what is zero where they switch, and whether that is a whole number.
    surfaces: Vec<(SymbolId, SymbolId, bool)>,
    /// Numbers of `when`s with what they set, and its new value.
    reinits: Vec<(usize, SymbolId, SymbolId)>,
}

impl AddedRows {
    /// Adds them in the order of the fields.
    fn add(reduced: &mut Reduced, outputs: &[ExprId]) -> Self {
        let outputs = add_rows(reduced, outputs);
        let demands = demands(&mut reduced.dae);
        let demands = add_rows(reduced, &demands);
        let late = reduced.dae.late_starts.clone();
        let late = late.into_iter();
        let late = late.map(|(s, e)| (s, add_output(reduced, e))).collect();
        let surfaces = surfaces(&mut reduced.dae).into_iter();
        let surfaces = surfaces.map(|(mode, e, is_floor)| (mode, add_output(reduced, e), is_floor));
        let surfaces = surfaces.collect();
        let reinits = reinits(&mut reduced.dae).into_iter();
        let reinits = reinits.map(|(when, s, e)| (when, s, add_output(reduced, e)));
        let reinits = reinits.collect();
        AddedRows {
            outputs,
            demands,
            late,
            surfaces,
            reinits,
        }
    }

    fn all(&self) -> impl Iterator<Item = &SymbolId> {
        let of_values = self.outputs.iter().chain(&self.demands);
        let of_late = self.late.iter().map(|l| &l.1);
        let of_surfaces = self.surfaces.iter().map(|s| &s.1);
        let of_reinits = self.reinits.iter().map(|r| &r.2);
        of_values
            .chain(of_late)
            .chain(of_surfaces)
            .chain(of_reinits)
    }
}

fn too_small(name: &str, asked: Span) -> LinearError {
    let message = format!("`{name}` is far smaller here than in the model");
    let message = Diagnostic::error(code::NO_SENSITIVITY, message);
    model_error(
        message
            .primary(asked, "asked for here")
            .help("give it a value in the model that is nearer to this one"),
    )
}

fn add_rows(reduced: &mut Reduced, values: &[ExprId]) -> Vec<SymbolId> {
    values.iter().map(|&e| add_output(reduced, e)).collect()
}

/// What finds the start: the model's own machine, with the states that its counterpart has.
fn finder(
    (design, compiled): (&Design, &Compiled),
    reduced: &Reduced,
    own: &[SymbolId],
    asked: Span,
) -> Result<Finder, LinearError> {
    let mut plain = compiled.reduced.clone();
    let mut wanted = Vec::new();
    for &symbol in own {
        let Some(symbol) = counterpart(symbol, reduced, &plain) else {
            return Err(other_states(&reduced.dae.name_of(symbol), asked));
        };
        wanted.push(plain.dae.pool.symbol(symbol));
    }
    Finder::new(design, Arc::new(plain), &wanted, &At::default(), asked)
}

/// target − value of every demand on the start.
fn demands(dae: &mut Dae) -> Vec<ExprId> {
    let starts = dae.starts.clone();
    let demands = starts.iter().filter(|s| !s.is_guess);
    demands.map(|s| dae.pool.sub(s.target, s.value)).collect()
}

/// What is zero where a mode switches; of a whole number the argument itself.
fn surfaces(dae: &mut Dae) -> Vec<(SymbolId, ExprId, bool)> {
    let modes = dae.modes.clone();
    modes
        .iter()
        .map(|mode| match mode.switch {
            Switch::Relation { left, right, .. } => (mode.symbol, dae.pool.sub(left, right), false),
            Switch::Sign { of } => (mode.symbol, of, false),
            Switch::Floor { of } => (mode.symbol, of, true),
        })
        .collect()
}

/// For every `reinit`: its `when`, its target, its value as a function of left limits.
fn reinits(dae: &mut Dae) -> Vec<(usize, SymbolId, ExprId)> {
    let whens = dae.whens.clone();
    let mut found = Vec::new();
    for (number, when) in whens.iter().enumerate() {
        for action in &when.actions {
            if let Action::Reinit { target, value, .. } = action {
                let mut left: HashMap<SymbolId, ExprId> = HashMap::new();
                for symbol in symbols_of(&dae.pool, *value) {
                    if let Role::Pre { of } = dae.symbol(symbol).role {
                        left.insert(symbol, dae.pool.symbol(of));
                    }
                }
                let value = substitute(&mut dae.pool, *value, &|s| left.get(&s).copied());
                found.push((number, *target, value));
            }
        }
    }
    found
}

/// Models whose motion is not a smooth function of time between events.
fn refuse_unfollowed(
    design: &Design,
    compiled: &Compiled,
    dae: &Dae,
    asked: Span,
) -> Result<(), LinearError> {
    let refuse = |message: String, span: Span, label: &str| {
        let message = Diagnostic::error(code::NO_SENSITIVITY, message);
        Err(model_error(
            message
                .primary(asked, "asked for here")
                .secondary(span, label)
                .help("use differences of runs instead: `paynter sweep`"),
        ))
    };

    let graph = &compiled.graph;
    refuse_differences(graph, asked)?;
    if let Some(&contact) = ideal_contacts(graph).first() {
        let name = graph.element_name(contact);
        let span = graph.span(graph.element(contact).origin);
        return refuse(
            format!("the ideal contact `{name}` changes the structure of the equations"),
            span,
            "sensitivities through it are not implemented",
        );
    }

    let clock = dae.clocks.iter().find(|c| !c.equations.is_empty());
    if let Some(clock) = clock {
        return refuse(
            "the model has sampled blocks".to_owned(),
            design.graph.span(clock.origin),
            "sensitivities through sampled blocks are not implemented",
        );
    }
    Ok(())
}

/// Discrete values that follow states, time or a parameter would need sensitivities of their own.
fn refuse_assignments(design: &Design, dae: &Dae, asked: Span) -> Result<(), LinearError> {
    let varies = |s: SymbolId| match dae.symbol(s).role {
        Role::Unknown | Role::Derivative { .. } | Role::Time => true,
        Role::Pre { of } => !matches!(dae.symbol(of).role, Role::Discrete { .. }),
        _ => false,
    };
    for when in &dae.whens {
        for action in &when.actions {
            if let Action::Assign {
                target,
                value,
                origin,
            } = action
                && symbols_of(&dae.pool, *value).into_iter().any(varies)
            {
                let name = dae.name_of(*target);
                return Err(model_error(
                    Diagnostic::error(
                        code::NO_SENSITIVITY,
                        format!("`{name}` takes a value at an event that depends on the motion"),
                    )
                    .primary(asked, "asked for here")
                    .secondary(design.graph.span(*origin), "sensitivities of such values are not implemented")
                    .help("make it a state with `reinit`, or use differences of runs: `paynter sweep`"),
                ));
            }
        }
    }
    Ok(())
}

fn follower(design: &Design, reduced: &Reduced, target: SymbolId, asked: Span) -> LinearError {
    let name = reduced.dae.name_of(target);
    let span = design.graph.span(reduced.dae.symbol(target).origin);
    model_error(
        Diagnostic::error(
            code::NO_SENSITIVITY,
            format!("`reinit` sets `{name}`, which follows from other states"),
        )
        .primary(asked, "asked for here")
        .secondary(span, "not a state itself")
        .help("let `reinit` set the state, such as `mass.p` or `spring.q`"),
    )
}

/// Why an event could not be passed.
fn cannot_follow(design: &Design, reduced: &Reduced, (t, trouble): (f64, Trouble)) -> LinearError {
    let at = paynter_design::failure::seconds(t);
    let (message, mode) = match trouble {
        Trouble::Grazing(mode) => (
            format!(
                "at t = {at} a switch is touched without being crossed: its instant has no derivative"
            ),
            Some(mode),
        ),
        Trouble::Together(mode) => (
            format!(
                "at t = {at} two switches change at the same instant, and parameters separate them"
            ),
            Some(mode),
        ),
        Trouble::Cascade => (
            format!("at t = {at} one `reinit` follows another at the same instant"),
            None,
        ),
        Trouble::Unknown => (
            format!("at t = {at} something jumps whose instant does not follow from one switch"),
            None,
        ),
    };

    let message = Diagnostic::error(code::NO_SENSITIVITY, message);
    let origin = mode.map(|m| reduced.dae.symbol(m).origin);
    LinearError::Run(vec![
        match origin {
            Some(origin) => message.primary(design.graph.span(origin), "this switch"),
            None => message,
        }
        .help("end the run before, or move a parameter a little"),
    ])
}

fn collect(
    design: &Design,
    (over, to): (&[Varying], &[Quantity]),
    scales: &[f64],
    run: &FollowedRun,
) -> Sensitivities {
    let n = to.len() * (1 + over.len());
    let text = |unit: &Option<Unit>| unit.as_ref().map(|u| u.text.clone()).unwrap_or_default();
    let parameters = over.iter().map(|p| {
        let value = p.value(design);
        Parameter {
            name: p.name.clone(),
            value: p.unit.as_ref().map_or(value, |u| u.from_si(value)),
            unit: text(&p.unit),
        }
    });

    let factor = |unit: &Option<Unit>| unit.as_ref().map_or(1.0, |u| u.factor);
    let outputs = to.iter().enumerate().map(|(i, q)| {
        let column = |k: usize| run.rows.column(n, i * (1 + over.len()) + k);
        let slopes = over.iter().enumerate().map(|(k, p)| {
            let to_units = factor(&p.unit) / factor(&q.column.unit) / scales[k];
            let own = column(k + 1);
            own.into_iter().map(|x| x * to_units).collect()
        });
        let shown = |x: f64| q.column.unit.as_ref().map_or(x, |u| u.from_si(x));
        Followed {
            name: q.column.name.clone(),
            unit: text(&q.column.unit),
            values: column(0).into_iter().map(shown).collect(),
            slopes: slopes.collect(),
        }
    });

    Sensitivities {
        time: run.rows.time.clone(),
        parameters: parameters.collect(),
        outputs: outputs.collect(),
        n_events: run.n_events,
    }
}

/// The parameters of the top model: what varies where nobody says.
pub fn default_parameters(design: &Design) -> Vec<Varying> {
    let dae = &design.graph.signals;
    let place = design.plan.places.whole.unwrap_or_default();
    let mut found = Vec::new();
    for (k, symbol) in dae.symbols.iter().enumerate() {
        let id = SymbolId(k as u32);
        let is_free = matches!(symbol.role, Role::Parameter { binding: None, .. });
        let name = dae.name_of(id);
        if is_free && !name.contains('.') && !design.structural.contains(&id) {
            found.push(Varying {
                name,
                symbol: Some(id),
                unit: design.state_units.get(&id).cloned(),
                span: place,
            });
        }
    }
    found
}
