//! Instances by epoch.
//!
//! An FMU remembers: modes of its switches, held samples, delays. To the model it shall be a function, so what it
//! remembers gets a number, the *epoch*. A start makes the first epoch of a run; every event (Model Exchange) and
//! every step (Co-Simulation) makes another from the one before. How an epoch was made is kept, so that any instance
//! can be brought there again: two parts, two runs side by side, and the instant before an event need no copies
//! of an FMU's memory, which few FMUs can give.
//!
//! In:  epochs and what happens to them.
//! Out: an instance at an epoch.
//!
//! **Invariant:** equal questions get equal answers: the same start, or the same event at the same epoch, is the same
//! new epoch as long as it is remembered.

use crate::archive::Archive;
use crate::binary::{Binary, path_in_archive};
use crate::description::{Description, Interface, Sort};
use crate::instance::{Instance, Kind, instantiate};
use std::collections::VecDeque;
use std::sync::Arc;

/// Instances that are kept at once: parts and threads that take turns each find theirs.
const MAX_INSTANCES: usize = 16;
/// Starts, events and steps whose answer is remembered. Within one instant an engine asks for the same one some
/// times, and every thread for its own.
const REMEMBERED: usize = 256;
/// Updates of discrete states at one instant. Real ones settle within ten.
const MAX_UPDATES: usize = 1000;
/// How far back an instance is looked for that can be brought to an epoch by going on.
const MAX_CATCH_UP: usize = 64;

/// Variables of one sort, and where their values are in a list.
#[derive(Clone, Debug, Default)]
pub(crate) struct Group {
    pub sort: Option<Sort>,
    pub references: Vec<u32>,
    pub places: Vec<usize>,
    /// SI value = factor · value + offset.
    pub scales: Vec<(f64, f64)>,
}

/// Puts variables of equal sort together.
pub(crate) fn groups(description: &Description, variables: &[usize]) -> Vec<Group> {
    let mut groups: Vec<Group> = Vec::new();
    for (place, &k) in variables.iter().enumerate() {
        let variable = &description.variables[k];
        let known = groups.iter().position(|g| g.sort == Some(variable.sort));
        let at = known.unwrap_or_else(|| {
            groups.push(Group {
                sort: Some(variable.sort),
                ..Group::default()
            });
            groups.len() - 1
        });
        groups[at].references.push(variable.reference);
        groups[at].places.push(place);
        groups[at].scales.push(variable.scale);
    }
    groups
}

/// How an epoch was made.
#[derive(Clone, Debug)]
pub(crate) enum Making {
    /// At a time, with parameters and, where they are known, inputs.
    Start {
        time: f64,
        parameters: Vec<f64>,
        inputs: Option<Vec<f64>>,
    },
    /// By an event at a time, with states and inputs.
    Event {
        time: f64,
        states: Vec<f64>,
        inputs: Vec<f64>,
    },
    /// By a step up to a time, with inputs held during it.
    Step { time: f64, inputs: Vec<f64> },
}

impl Making {
    fn time(&self) -> f64 {
        match self {
            Making::Start { time, .. } | Making::Event { time, .. } | Making::Step { time, .. } => {
                *time
            }
        }
    }
}

/// What is known of an epoch.
#[derive(Clone, Debug)]
pub(crate) struct Epoch {
    parent: Option<usize>,
    making: Making,
    /// The instant at which it began.
    pub time: f64,
    /// The next event that the FMU has announced.
    pub next_time: Option<f64>,
    /// The FMU has ended the run.
    pub has_ended: bool,
    /// States just after it was made, in SI units.
    pub states: Vec<f64>,
    /// What went wrong at its end, where it could not be said.
    failure: Option<String>,
}

impl Epoch {
    /// An epoch of which only the instant is known; the store fills in how it was made.
    fn at(time: f64) -> Self {
        Epoch {
            parent: None,
            making: Making::Step {
                time,
                inputs: Vec::new(),
            },
            time,
            next_time: None,
            has_ended: false,
            states: Vec::new(),
            failure: None,
        }
    }
}

/// An instance at an epoch.
#[derive(Debug)]
pub(crate) struct Live {
    pub instance: Box<dyn Instance>,
    epoch: usize,
    used: u64,
    /// The time, states and inputs that were set last.
    last: (f64, Vec<f64>, Vec<f64>),
}

/// What never changes.
#[derive(Debug)]
pub(crate) struct Facts {
    pub description: Description,
    pub archive: Archive,
    pub interface: Interface,
    pub kind: Kind,
    /// Positions of parameters, inputs and states.
    pub parameters: Vec<usize>,
    pub inputs: Vec<usize>,
    pub input_groups: Vec<Group>,
}

impl Facts {
    /// Scales of the states.
    pub(crate) fn state_scale(&self, k: usize) -> (f64, f64) {
        self.description.variables[self.description.states[k]].scale
    }
}

/// Question and the number of the answer.
type Memory = VecDeque<(Vec<u64>, usize)>;

/// All instances of one FMU.
#[derive(Debug)]
pub(crate) struct Store {
    facts: Arc<Facts>,
    binary: Option<Arc<Binary>>,
    epochs: Vec<Epoch>,
    live: Vec<Live>,
    remembered: Memory,
    clock: u64,
}

impl Store {
    pub(crate) fn new(facts: Arc<Facts>) -> Store {
        Store {
            facts,
            binary: None,
            epochs: Vec::new(),
            live: Vec::new(),
            remembered: Memory::new(),
            clock: 0,
        }
    }

    /// Ends an epoch: whatever is asked of it from now on gets this answer.
    pub(crate) fn fail(&mut self, epoch: usize, message: String) {
        self.epochs[epoch].failure = Some(message);
    }

    /// Gives an epoch by the number that the model holds, which counts from 1.
    ///
    /// While a start is searched, numbers are tried that are none: they mean the FMU as it starts by itself at `time`.
    pub(crate) fn epoch(&mut self, number: f64, time: f64) -> Result<usize, String> {
        let k = number.round();
        if k >= 1.0 && k <= self.epochs.len() as f64 {
            return Ok(k as usize - 1);
        }
        let own = |&k: &usize| {
            let variable = &self.facts.description.variables[k];
            to_si(variable.start.unwrap_or(0.0), variable.scale)
        };
        let parameters = self.facts.parameters.iter().map(own).collect();
        let making = Making::Start {
            time,
            parameters,
            inputs: None,
        };
        self.make(None, making)
    }

    pub(crate) fn facts_of(&self, epoch: usize) -> &Epoch {
        &self.epochs[epoch]
    }

    /// Gives the time of a start, if an epoch is one.
    pub(crate) fn started_at(&self, epoch: usize) -> Option<f64> {
        match self.epochs[epoch].making {
            Making::Start { time, .. } => Some(time),
            _ => None,
        }
    }

    /// Makes an epoch, or finds the one that was made in the same way.
    pub(crate) fn make(&mut self, parent: Option<usize>, making: Making) -> Result<usize, String> {
        let question = question(parent, &making);
        if let Some((_, known)) = self.remembered.iter().find(|(q, _)| *q == question) {
            return Ok(*known);
        }
        let at = match parent {
            Some(parent) => self.bring_to(parent)?,
            None => self.fresh()?,
        };
        let mut live = self.live.swap_remove(at);
        let before = parent.map(|p| self.epochs[p].time);
        // An instance that failed in the middle of a change is not used again.
        let made = apply(&self.facts, &mut live, &making, before)?;
        self.epochs.push(Epoch {
            parent,
            making,
            ..made
        });
        live.epoch = self.epochs.len() - 1;
        live.used = self.clock;
        self.live.push(live);
        if self.remembered.len() >= REMEMBERED {
            self.remembered.pop_front();
        }
        let number = self.epochs.len() - 1;
        self.remembered.push_back((question, number));
        Ok(number)
    }

    /// Gives an instance at an epoch.
    pub(crate) fn at(&mut self, epoch: usize) -> Result<(&Facts, &mut Live), String> {
        let at = self.bring_to(epoch)?;
        Ok((&self.facts, &mut self.live[at]))
    }

    /// Brings an instance to an epoch, and gives its place.
    fn bring_to(&mut self, epoch: usize) -> Result<usize, String> {
        self.clock += 1;
        if let Some(failure) = &self.epochs[epoch].failure {
            return Err(failure.clone());
        }

        // The one that was used last is mostly the right one, and it is last.
        if let Some(at) = self.live.iter().rposition(|l| l.epoch == epoch) {
            self.live[at].used = self.clock;
            return Ok(at);
        }
        let mut way = vec![epoch];
        let at = loop {
            let first = way[way.len() - 1];
            let Some(parent) = self.epochs[first].parent else {
                break self.fresh()?;
            };
            let nearby = way.len() <= MAX_CATCH_UP;
            if let Some(at) = self.live.iter().position(|l| nearby && l.epoch == parent) {
                break at;
            }
            way.push(parent);
        };

        let mut live = self.live.swap_remove(at);
        for &next in way.iter().rev() {
            let before = self.epochs[next].parent.map(|p| self.epochs[p].time);
            apply(&self.facts, &mut live, &self.epochs[next].making, before)?;
            live.epoch = next;
        }

        live.used = self.clock;
        self.live.push(live);
        Ok(self.live.len() - 1)
    }

    /// Gives the place of an instance as it was made.
    fn fresh(&mut self) -> Result<usize, String> {
        self.clock += 1;
        let most = match self.facts.interface.is_only_once {
            true => 1,
            false => MAX_INSTANCES,
        };
        if self.live.len() >= most {
            let oldest = self.live.iter().enumerate().min_by_key(|(_, l)| l.used);
            let at = oldest.map(|(at, _)| at).expect("there is one");
            self.live[at].instance.reset()?;
            self.live[at].last = Default::default();
            return Ok(at);
        }

        let facts = &*self.facts;
        let binary = match &self.binary {
            Some(binary) => binary.clone(),
            None => {
                let path = path_in_archive(facts.description.version, &facts.interface.identifier);
                let binary = Arc::new(Binary::load(&facts.archive, &path)?);
                self.binary.insert(binary).clone()
            }
        };
        let instance = instantiate(&binary, &facts.description, &facts.interface, facts.kind)?;
        self.live.push(Live {
            instance,
            epoch: usize::MAX,
            used: self.clock,
            last: Default::default(),
        });
        Ok(self.live.len() - 1)
    }
}

/// What was asked, by bits: equal numbers mean equal answers.
fn question(parent: Option<usize>, making: &Making) -> Vec<u64> {
    let mut out = vec![parent.map_or(0, |p| p as u64 + 1)];
    let mut add = |mark: u64, numbers: &[f64]| {
        out.push(mark);
        out.extend(numbers.iter().map(|x| x.to_bits()));
    };

    match making {
        Making::Start {
            time,
            parameters,
            inputs,
        } => {
            add(1, &[*time]);
            add(2, parameters);
            add(3, inputs.as_deref().unwrap_or(&[]));
        }
        Making::Event {
            time,
            states,
            inputs,
        } => {
            add(4, &[*time]);
            add(5, states);
            add(6, inputs);
        }
        Making::Step { time, inputs } => {
            add(7, &[*time]);
            add(8, inputs);
        }
    }
    out
}

/// Does to an instance what makes an epoch.
fn apply(
    facts: &Facts,
    live: &mut Live,
    making: &Making,
    before: Option<f64>,
) -> Result<Epoch, String> {
    live.last = Default::default();
    let mut epoch = Epoch::at(making.time());

    match making {
        Making::Start {
            time,
            parameters,
            inputs,
        } => {
            let given = (*time, parameters.as_slice(), inputs.as_deref());
            start(facts, live, given, &mut epoch)?;
        }
        Making::Event {
            time,
            states,
            inputs,
        } => {
            live.place(facts, *time, states, inputs)?;
            live.instance.begin_event()?;
            settle(live, &mut epoch)?;
        }
        Making::Step { time, inputs } => {
            live.set_inputs(facts, inputs)?;
            let from = before.expect("a step follows something");
            epoch.has_ended = live.instance.step(from, time - from)?;
        }
    }

    if facts.kind == Kind::ModelExchange {
        let mut states = vec![0.0; facts.description.states.len()];
        live.instance.states(&mut states)?;
        for (k, x) in states.iter_mut().enumerate() {
            *x = to_si(*x, facts.state_scale(k));
        }
        epoch.states = states;
    }

    live.last = Default::default();
    Ok(epoch)
}

fn start(
    facts: &Facts,
    live: &mut Live,
    (time, parameters, inputs): (f64, &[f64], Option<&[f64]>),
    epoch: &mut Epoch,
) -> Result<(), String> {
    // What keeps its own value is left alone: FMUs may refuse to be told even that.
    let mut changed = (Vec::new(), Vec::new());
    for (&k, &value) in facts.parameters.iter().zip(parameters) {
        let variable = &facts.description.variables[k];
        let own = variable.start.map(|s| to_si(s, variable.scale));
        if own != Some(value) {
            changed.0.push(k);
            changed.1.push(value);
        }
    }
    let changes = groups(&facts.description, &changed.0);
    live.set_all(&changes, &changed.1)?;
    if let Some(inputs) = inputs {
        live.set_all(&facts.input_groups, inputs)?;
    }
    live.instance
        .begin_start(time, facts.description.tolerance)?;
    live.instance.end_start()?;
    match facts.kind {
        Kind::ModelExchange => settle(live, epoch),
        Kind::CoSimulation => Ok(()),
    }
}

/// Updates discrete states until nothing changes any more, and goes on to continuous time.
fn settle(live: &mut Live, epoch: &mut Epoch) -> Result<(), String> {
    for _ in 0..MAX_UPDATES {
        let update = live.instance.update()?;
        epoch.has_ended |= update.has_ended;
        epoch.next_time = update.next_time;
        if update.has_ended {
            return Ok(());
        }
        if !update.needs_another {
            return live.instance.end_event();
        }
    }
    Err(format!(
        "its discrete states did not settle in {MAX_UPDATES} updates"
    ))
}

/// A value of an FMU in SI units.
pub(crate) fn to_si(value: f64, (factor, offset): (f64, f64)) -> f64 {
    match (factor, offset) {
        (1.0, 0.0) => value,
        _ => factor * value + offset,
    }
}

/// An SI value in the unit of the FMU.
pub(crate) fn from_si(value: f64, (factor, offset): (f64, f64)) -> f64 {
    match (factor, offset) {
        (1.0, 0.0) => value,
        _ => (value - offset) / factor,
    }
}

impl Live {
    /// Sets time, states and inputs, as far as they have changed.
    pub(crate) fn place(
        &mut self,
        facts: &Facts,
        time: f64,
        states: &[f64],
        inputs: &[f64],
    ) -> Result<(), String> {
        let was_set = self.last.1.len() == states.len() && self.last.2.len() == inputs.len();
        if !was_set || self.last.0.to_bits() != time.to_bits() {
            self.instance.set_time(time)?;
            self.last.0 = time;
        }
        if (!was_set || !same(&self.last.1, states)) && !states.is_empty() {
            let scaled = states.iter().enumerate();
            let own: Vec<f64> = scaled
                .map(|(k, &x)| from_si(x, facts.state_scale(k)))
                .collect();
            self.instance.set_states(&own)?;
        }
        self.last.1 = states.to_vec();
        if !was_set || !same(&self.last.2, inputs) {
            self.set_all(&facts.input_groups, inputs)?;
        }
        self.last.2 = inputs.to_vec();
        Ok(())
    }

    /// The inputs that were set last, if all were.
    pub(crate) fn inputs_set(&self, n: usize) -> Option<&[f64]> {
        (self.last.2.len() == n).then_some(&*self.last.2)
    }

    /// Sets all inputs.
    pub(crate) fn set_inputs(&mut self, facts: &Facts, inputs: &[f64]) -> Result<(), String> {
        self.set_all(&facts.input_groups, inputs)
    }

    /// Sets variables; values in SI units are where the groups say.
    pub(crate) fn set_all(&mut self, groups: &[Group], values: &[f64]) -> Result<(), String> {
        for group in groups {
            let places = group.places.iter().zip(&group.scales);
            let own: Vec<f64> = places.map(|(&at, &s)| from_si(values[at], s)).collect();
            if let Some(bad) = own.iter().find(|x| !x.is_finite()) {
                return Err(format!("it was given the value {bad}"));
            }
            let sort = group.sort.expect("a group has a sort");
            self.instance.set(sort, &group.references, &own)?;
        }
        Ok(())
    }

    /// Gets variables in SI units.
    pub(crate) fn get_all(&mut self, groups: &[Group], out: &mut [f64]) -> Result<(), String> {
        for group in groups {
            let mut own = vec![0.0; group.references.len()];
            let sort = group.sort.expect("a group has a sort");
            self.instance.get(sort, &group.references, &mut own)?;
            for ((&at, &scale), value) in group.places.iter().zip(&group.scales).zip(own) {
                out[at] = to_si(value, scale);
            }
        }
        Ok(())
    }
}

fn same(a: &[f64], b: &[f64]) -> bool {
    a.iter().zip(b).all(|(x, y)| x.to_bits() == y.to_bits())
}
