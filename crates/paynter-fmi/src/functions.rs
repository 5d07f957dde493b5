//! The functions of an FMU that a model calls.
//!
//! In:  an FMU that was read.
//! Out: a [`Part`]: external functions by number, as the text of its model calls them.
//!
//! Model Exchange, with the epoch e, the time t, states x, inputs u and parameters p:
//!
//! | number | arguments | gives |
//! |---|---|---|
//! | 0 start | t, p, u | e, x |
//! | 1 rates | e, t, x, u | ẋ |
//! | 2 indicators | e, t, x, u | z |
//! | 3 event | e, t, x, u | e, x |
//! | 4 facts | e | the next event, 1 if the run has ended |
//! | 5 … outputs | e, t, x, some u | y |
//!
//! Co-Simulation:
//!
//! | number | arguments | gives |
//! |---|---|---|
//! | 0 step | e (0 at first), e of the start, t, p, u held since the last step | e |
//! | 1 facts | as above | |
//! | 2 start | t, p, u | e |
//! | 3 … outputs | e, some u | y |
//!
//! **Invariant:** all numbers are in SI units. Slopes are directional derivatives of the FMU where it gives them,
//! else central differences; epochs have none.

use crate::Fmu;
use crate::description::{Causality, Description, Interface};
use crate::instance::Kind;
use crate::store::{Facts, Group, Live, Making, Store, groups, to_si};
use paynter_symbolic::expr::{External, Recipe};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// An event that never comes, s. Not infinite: an engine computes with it.
const NEVER: f64 = 1e30;
/// Step of central differences, relative to the size of the argument: the cube root of the rounding unit balances
/// truncation against rounding.
const RELATIVE_STEP: f64 = 6.0e-6;

const WANTS_EVENT: &str = "it asks for an event or an end after a step of the integrator, which is not implemented; where it has Co-Simulation, run it sampled by `period`";

/// What a model calls of an FMU.
#[derive(Clone, Debug)]
pub struct Part {
    /// The functions by number.
    pub functions: Vec<Arc<dyn External>>,
    /// Positions of the parameters, in the order of arguments.
    pub parameters: Vec<usize>,
    /// Positions of the inputs, in the order of arguments.
    pub inputs: Vec<usize>,
    /// Outputs: number of the function and of its output, and which inputs it takes.
    pub outputs: Vec<OutputCall>,
}

/// How an output is computed.
#[derive(Clone, Debug)]
pub struct OutputCall {
    /// Its position.
    pub variable: usize,
    /// Number of the function.
    pub function: usize,
    /// Which of its outputs.
    pub place: usize,
    /// The inputs that it takes: places in [`Part::inputs`].
    pub inputs: Vec<usize>,
}

/// Gives the functions for Model Exchange.
pub fn model_exchange(fmu: &Fmu, interface: &Interface) -> Part {
    part(fmu, interface, Kind::ModelExchange)
}

/// Gives the functions for Co-Simulation.
pub fn co_simulation(fmu: &Fmu, interface: &Interface) -> Part {
    part(fmu, interface, Kind::CoSimulation)
}

fn part(fmu: &Fmu, interface: &Interface, kind: Kind) -> Part {
    let description = &fmu.description;
    let of = |causality: Causality| -> Vec<usize> {
        let all = description.variables.iter().enumerate();
        all.filter(|(_, v)| v.causality == causality && v.sort.is_number() && !v.is_array)
            .map(|(k, _)| k)
            .collect()
    };
    let (parameters, inputs) = (of(Causality::Parameter), of(Causality::Input));
    let facts = Arc::new(Facts {
        input_groups: groups(description, &inputs),
        description: description.clone(),
        archive: fmu.archive.clone(),
        interface: interface.clone(),
        kind,
        parameters: parameters.clone(),
        inputs: inputs.clone(),
    });

    let shared = Arc::new(Shared {
        name: description.name.clone(),
        store: Mutex::new(Store::new(facts.clone())),
        facts,
    });

    let jobs: &[Job] = match kind {
        Kind::ModelExchange => &[
            Job::Start,
            Job::Rates,
            Job::Indicators,
            Job::Event,
            Job::Facts,
        ],
        Kind::CoSimulation => &[Job::Step, Job::Facts, Job::Start],
    };

    let function = |job: Job| -> Arc<dyn External> {
        Arc::new(Function {
            shared: shared.clone(),
            job,
        })
    };
    let mut functions: Vec<Arc<dyn External>> = jobs.iter().cloned().map(function).collect();
    let mut outputs = Vec::new();
    for (read, wanted) in output_groups(description, &inputs, kind) {
        let job = Job::Outputs(Arc::new(Wanted::new(description, &inputs, &read, &wanted)));
        for (place, variable) in wanted.into_iter().enumerate() {
            outputs.push(OutputCall {
                variable,
                function: functions.len(),
                place,
                inputs: read.clone(),
            });
        }
        functions.push(function(job));
    }

    Part {
        functions,
        parameters,
        inputs,
        outputs,
    }
}

/// Outputs by the inputs that act on them at once.
///
/// Where the file does not say, all inputs do in Model Exchange; a step of Co-Simulation has seen them held.
fn output_groups(
    description: &Description,
    inputs: &[usize],
    kind: Kind,
) -> Vec<(Vec<usize>, Vec<usize>)> {
    let mut found: Vec<(Vec<usize>, Vec<usize>)> = Vec::new();
    let all = description.variables.iter().enumerate();
    let outputs =
        all.filter(|(_, v)| v.causality == Causality::Output && v.sort.is_number() && !v.is_array);
    for (variable, _) in outputs {
        let listed = description.outputs.iter().find(|o| o.variable == variable);
        let known = listed.and_then(|o| o.dependencies.as_ref());
        let read: Vec<usize> = match (known, kind) {
            (Some(known), _) => (0..inputs.len())
                .filter(|&at| known.contains(&inputs[at]))
                .collect(),
            (None, Kind::ModelExchange) => (0..inputs.len()).collect(),
            (None, Kind::CoSimulation) => Vec::new(),
        };
        match found.iter_mut().find(|(r, _)| *r == read) {
            Some((_, wanted)) => wanted.push(variable),
            None => found.push((read, vec![variable])),
        }
    }
    found
}

/// Everything that the functions of one FMU share.
#[derive(Debug)]
struct Shared {
    name: String,
    facts: Arc<Facts>,
    store: Mutex<Store>,
}

/// What a function computes.
#[derive(Clone, Debug)]
enum Job {
    Start,
    Step,
    Rates,
    Indicators,
    Event,
    Facts,
    Outputs(Arc<Wanted>),
}

/// Outputs that are computed together.
#[derive(Debug)]
struct Wanted {
    variables: Vec<usize>,
    references: Vec<u32>,
    groups: Vec<Group>,
    /// Places among the inputs.
    inputs: Vec<usize>,
    input_groups: Vec<Group>,
}

impl Wanted {
    /// The `wanted` variables, which depend on the inputs at the places `read`.
    fn new(description: &Description, inputs: &[usize], read: &[usize], wanted: &[usize]) -> Self {
        let references = wanted.iter().map(|&k| description.variables[k].reference);
        let read_variables: Vec<usize> = read.iter().map(|&at| inputs[at]).collect();
        Wanted {
            references: references.collect(),
            groups: groups(description, wanted),
            variables: wanted.to_vec(),
            inputs: read.to_vec(),
            input_groups: groups(description, &read_variables),
        }
    }
}

#[derive(Debug)]
struct Function {
    shared: Arc<Shared>,
    job: Job,
}

/// Arguments e, t, x, u.
struct CallPoint<'a> {
    epoch: f64,
    time: f64,
    states: &'a [f64],
    inputs: &'a [f64],
}

impl Function {
    fn facts(&self) -> &Facts {
        &self.shared.facts
    }

    fn store(&self) -> MutexGuard<'_, Store> {
        // A panic in another thread leaves the store usable: an instance in the middle of a change was taken out.
        let store = self.shared.store.lock();
        store.unwrap_or_else(PoisonError::into_inner)
    }

    fn n_states(&self) -> usize {
        self.facts().description.states.len()
    }

    fn is_exchange(&self) -> bool {
        self.facts().kind == Kind::ModelExchange
    }

    fn point<'a>(&self, arguments: &'a [f64]) -> CallPoint<'a> {
        let (states, inputs) = arguments[2..].split_at(self.n_states());
        CallPoint {
            epoch: arguments[0],
            time: arguments[1],
            states,
            inputs,
        }
    }

    fn compute(&self, arguments: &[f64], out: &mut [f64]) -> Result<(), String> {
        let mut store = self.store();
        match &self.job {
            Job::Start => {
                let (parameters, inputs) = arguments[1..].split_at(self.facts().parameters.len());
                let making = Making::Start {
                    time: arguments[0],
                    parameters: parameters.to_vec(),
                    inputs: Some(inputs.to_vec()),
                };
                give_epoch(&mut store, None, making, out)
            }
            Job::Event => {
                let at = self.point(arguments);
                let epoch = store.epoch(at.epoch, at.time)?;
                let making = Making::Event {
                    time: event_time(at.time, store.facts_of(epoch).next_time),
                    states: at.states.to_vec(),
                    inputs: at.inputs.to_vec(),
                };
                give_epoch(&mut store, Some(epoch), making, out)
            }
            Job::Step => self.step(&mut store, arguments, out),
            // Before the first step there is nothing to tell.
            Job::Facts if arguments[0] == 0.0 => {
                out.copy_from_slice(&[NEVER, 0.0]);
                Ok(())
            }
            Job::Facts => {
                let epoch = store.epoch(arguments[0], 0.0)?;
                let facts = store.facts_of(epoch);
                out[0] = facts.next_time.unwrap_or(NEVER);
                out[1] = f64::from(u8::from(facts.has_ended));
                Ok(())
            }
            Job::Rates => {
                let at = self.point(arguments);
                let (facts, live) = placed(&mut store, &at)?;
                live.instance.rates(out)?;
                // dx/dt of an SI state: the offset of its unit has no rate.
                for (k, rate) in out.iter_mut().enumerate() {
                    *rate *= facts.state_scale(k).0;
                }
                Ok(())
            }
            Job::Indicators => {
                let at = self.point(arguments);
                placed(&mut store, &at)?.1.instance.indicators(out)
            }
            Job::Outputs(wanted) => {
                let live = self.placed_for(&mut store, wanted, arguments)?.1;
                live.get_all(&wanted.groups, out)
            }
        }
    }

    /// A step of co-simulation from the last epoch, or none if that is where it would lead.
    fn step(&self, store: &mut Store, arguments: &[f64], out: &mut [f64]) -> Result<(), String> {
        let (parameters, inputs) = arguments[3..].split_at(self.facts().parameters.len());
        let parent = first_or_last(store, arguments, parameters, inputs)?;
        let (time, inputs) = (arguments[2], inputs.to_vec());
        if store.facts_of(parent).time == time {
            out[0] = (parent + 1) as f64;
            return Ok(());
        }
        give_epoch(store, Some(parent), Making::Step { time, inputs }, out)
    }

    /// Brings an instance to where some outputs are wanted.
    fn placed_for<'s>(
        &self,
        store: &'s mut Store,
        wanted: &Wanted,
        arguments: &[f64],
    ) -> Result<(&'s Facts, &'s mut Live), String> {
        let time = if self.is_exchange() {
            arguments[1]
        } else {
            0.0
        };
        let epoch = store.epoch(arguments[0], time)?;
        let (facts, live) = store.at(epoch)?;
        if !self.is_exchange() {
            live.set_all(&wanted.input_groups, &arguments[1..])?;
            return Ok((facts, live));
        }
        let (states, read) = arguments[2..].split_at(facts.description.states.len());
        // Inputs that these outputs do not depend on stay as they are.
        let mut inputs = match live.inputs_set(facts.inputs.len()) {
            Some(inputs) => inputs.to_vec(),
            None => starts(facts),
        };
        for (&at, &value) in wanted.inputs.iter().zip(read) {
            inputs[at] = value;
        }
        live.place(facts, arguments[1], states, &inputs)?;
        Ok((facts, live))
    }

    /// Column of an argument by the FMU's own derivatives; false where it gives none.
    fn exact_column(&self, arguments: &[f64], at: usize, out: &mut [f64]) -> Result<bool, String> {
        let facts = self.facts();
        if !facts.interface.has_derivatives || !self.is_exchange() || at < 2 {
            return Ok(false);
        }
        let mut store = self.store();
        let description = &facts.description;
        let (of, live): (Vec<usize>, &mut Live) = match &self.job {
            Job::Rates => {
                let point = self.point(arguments);
                (description.rates.clone(), placed(&mut store, &point)?.1)
            }
            Job::Outputs(wanted) => {
                let live = self.placed_for(&mut store, wanted, arguments)?.1;
                (wanted.variables.clone(), live)
            }
            _ => return Ok(false),
        };

        let n = description.states.len();
        let by = match (&self.job, at - 2) {
            (_, k) if k < n => description.states[k],
            (Job::Outputs(wanted), k) => facts.inputs[wanted.inputs[k - n]],
            (_, k) => facts.inputs[k - n],
        };

        let is_real = |k: &usize| description.variables[*k].sort.is_real();
        if !is_real(&by) || !of.iter().all(is_real) {
            return Ok(false);
        }
        let references: Vec<u32> = match &self.job {
            Job::Outputs(wanted) => wanted.references.clone(),
            _ => of
                .iter()
                .map(|&k| description.variables[k].reference)
                .collect(),
        };

        live.instance
            .slopes(&references, description.variables[by].reference, out)?;
        for (k, slope) in out.iter_mut().enumerate() {
            let factor = match &self.job {
                Job::Rates => facts.state_scale(k).0,
                _ => description.variables[of[k]].scale.0,
            };
            *slope *= factor / description.variables[by].scale.0;
        }
        Ok(true)
    }

    fn column_by_differences(
        &self,
        arguments: &[f64],
        at: usize,
        out: &mut [f64],
    ) -> Result<(), String> {
        let h = RELATIVE_STEP * arguments[at].abs().max(self.size(at));
        let mut moved = arguments.to_vec();
        let mut below = vec![0.0; out.len()];
        moved[at] = arguments[at] + h;
        let above_at = moved[at];
        self.compute(&moved, out)?;
        moved[at] = arguments[at] - h;
        self.compute(&moved, &mut below)?;
        for (slope, below) in out.iter_mut().zip(below) {
            *slope = (*slope - below) / (above_at - moved[at]);
        }
        Ok(())
    }

    /// Typical size of an argument.
    fn size(&self, at: usize) -> f64 {
        let facts = self.facts();
        match at
            .checked_sub(2)
            .and_then(|k| facts.description.states.get(k))
        {
            Some(&k) if self.is_exchange() => {
                let variable = &facts.description.variables[k];
                variable.nominal * variable.scale.0.abs()
            }
            _ => 1.0,
        }
    }
}

/// The FMU shall see the very instant that it has announced.
fn event_time(time: f64, next: Option<f64>) -> f64 {
    /// An engine locates an instant to some units in the last place.
    const CLOSE: f64 = 1e-12;
    match next {
        Some(next) if (time - next).abs() <= CLOSE * time.abs().max(next.abs()).max(1.0) => next,
        _ => time,
    }
}

/// The epoch that a step begins at: the last one, or the start.
///
/// Inputs that follow from outputs of the FMU are known only after its start. Where they are others than it was
/// started with, it is started again with them before its first step.
fn first_or_last(
    store: &mut Store,
    arguments: &[f64],
    parameters: &[f64],
    inputs: &[f64],
) -> Result<usize, String> {
    let time = arguments[2];
    if arguments[0] == 0.0 {
        return store.epoch(arguments[1], time);
    }
    let last = store.epoch(arguments[0], time)?;
    match store.started_at(last) {
        Some(time) => store.make(
            None,
            Making::Start {
                time,
                parameters: parameters.to_vec(),
                inputs: Some(inputs.to_vec()),
            },
        ),
        None => Ok(last),
    }
}

fn give_epoch(
    store: &mut Store,
    parent: Option<usize>,
    making: Making,
    out: &mut [f64],
) -> Result<(), String> {
    let epoch = store.make(parent, making)?;
    out[0] = (epoch + 1) as f64;
    let states = &store.facts_of(epoch).states;
    out[1..=states.len()].copy_from_slice(states);
    Ok(())
}

fn placed<'s>(store: &'s mut Store, at: &CallPoint) -> Result<(&'s Facts, &'s mut Live), String> {
    let epoch = store.epoch(at.epoch, at.time)?;
    let (facts, live) = store.at(epoch)?;
    live.place(facts, at.time, at.states, at.inputs)?;
    Ok((facts, live))
}

/// Inputs as the FMU starts with them.
fn starts(facts: &Facts) -> Vec<f64> {
    let start = |&k: &usize| {
        let variable = &facts.description.variables[k];
        to_si(variable.start.unwrap_or(0.0), variable.scale)
    };
    facts.inputs.iter().map(start).collect()
}

impl External for Function {
    fn name(&self) -> &str {
        &self.shared.name
    }

    fn n_inputs(&self) -> usize {
        let facts = self.facts();
        let (n_p, n_u) = (facts.parameters.len(), facts.inputs.len());
        match &self.job {
            Job::Start => 1 + n_p + n_u,
            Job::Step => 3 + n_p + n_u,
            Job::Rates | Job::Indicators | Job::Event => 2 + self.n_states() + n_u,
            Job::Facts => 1,
            Job::Outputs(wanted) if self.is_exchange() => 2 + self.n_states() + wanted.inputs.len(),
            Job::Outputs(wanted) => 1 + wanted.inputs.len(),
        }
    }

    fn n_outputs(&self) -> usize {
        match &self.job {
            Job::Start | Job::Event => 1 + self.n_states(),
            Job::Step => 1,
            Job::Rates => self.n_states(),
            Job::Indicators => self.facts().description.n_indicators,
            Job::Facts => 2,
            Job::Outputs(wanted) => wanted.variables.len(),
        }
    }

    fn call(&self, inputs: &[f64], outputs: &mut [f64]) -> Result<(), String> {
        self.compute(inputs, outputs)
    }

    fn recipe(&self) -> Recipe<'_> {
        Recipe::Foreign
    }

    fn minds_steps(&self) -> bool {
        matches!(self.job, Job::Rates) && !self.facts().interface.needs_no_steps
    }

    fn step_done(&self, inputs: &[f64]) {
        let mut store = self.store();
        let at = self.point(inputs);
        let Ok(epoch) = store.epoch(at.epoch, at.time) else {
            return;
        };
        let told = placed(&mut store, &at).and_then(|(_, live)| live.instance.step_done());
        match told {
            Ok(false) => {}
            Ok(true) => store.fail(epoch, WANTS_EVENT.to_owned()),
            Err(message) => store.fail(epoch, message),
        }
    }

    fn has_exact_slopes(&self) -> bool {
        let is_asked = matches!(self.job, Job::Rates | Job::Outputs(_));
        !is_asked || (self.facts().interface.has_derivatives && self.is_exchange())
    }

    fn slopes(&self, inputs: &[f64], slopes: &mut [f64]) -> Result<(), String> {
        slopes.fill(0.0);
        let is_smooth = matches!(self.job, Job::Rates | Job::Indicators | Job::Outputs(_));
        if !is_smooth || !self.is_exchange() {
            return Ok(());
        }
        let (n_in, n_out) = (self.n_inputs(), self.n_outputs());
        let mut column = vec![0.0; n_out];
        // Nothing is differentiated by the epoch.
        for at in 1..n_in {
            if !self.exact_column(inputs, at, &mut column)? {
                self.column_by_differences(inputs, at, &mut column)?;
            }
            for (k, slope) in column.iter().enumerate() {
                slopes[k * n_in + at] = *slope;
            }
        }
        Ok(())
    }
}
