//! One model under several configurations: ideal contacts that conduct or block, switches that slide.
//!
//! In:  the graph, and which contacts conduct and which switches slide.
//! Out: for each such configuration its own reduced equations and machine, made when first needed; and
//!      the machine of one very short implicit step, which shows where a configuration leads.
//!
//! An ideal diode in series with a coil ties the coil's current to zero while it blocks: the number of
//! independent storages changes. A relay that is driven back from both sides stays on its surface
//! (Filippov 1988): its output becomes an unknown, and the surface an equation.
//!
//! The short step is x⁺ = x⁻ + h ẋ(x⁺): as h → 0 it gives the consistent state after a change of
//! configuration, jumps included (Opal & Vlach 1990; for complementarity systems Camlibel, Heemels &
//! Schumacher 2002), with charge and flux conserved where a contact joins storages.
//!
//! **Invariant:** all configurations of a model share symbols, modes and `when`s by number.

use crate::spec::{RunSpec, prepare_opened, prepare_wanted};
use paynter_exec::{Engine, Machine, StartError, lower};
use paynter_model::BondGraph;
use paynter_model::causality::{Causality, assign_causality};
use paynter_model::equations::{
    Contact, Contacts, Control, Side, build_equations, build_equations_conducting,
};
use paynter_model::graph::{ElementId, ElementKind};
use paynter_solve::System;
use paynter_symbolic::dae::{
    Action, Dae, Equation, Mode, Origin, Role, Start, Switch, Symbol, When,
};
use paynter_symbolic::reduce::reduce;
use paynter_symbolic::reduced::Reduced;
use paynter_symbolic::walk::{below, rebuild};
use paynter_symbolic::{Comparison, ExprId, Node, Pool, SymbolId};
use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, OnceLock};

/// Values by symbol.
pub(crate) type Values<'v> = &'v [(SymbolId, f64)];

/// Which contacts conduct, and which switches slide.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Configuration {
    /// In the order of [`Configurations::contacts`].
    pub conducting: Vec<bool>,
    /// Modes by symbol, in order.
    pub sliding: Vec<SymbolId>,
    /// All diodes are ports, to measure the network between them: not a configuration to run.
    pub is_open: bool,
}

/// A configuration that can be run.
#[derive(Clone)]
pub(crate) struct Entry {
    pub machine: Machine,
    pub reduced: Arc<Reduced>,
    pub contacts: Vec<Contact>,
    /// Events from this one on end the run for a change of configuration.
    pub first_when: usize,
    /// Modes that only those events read.
    pub watch_modes: Vec<SymbolId>,
    /// Columns of the machine after those of the run.
    snapshot: Vec<ExprId>,
    probe: Option<Probe>,
}

impl Entry {
    /// Puts a machine with opened blocks in the place of the present one, which it takes over from.
    pub(crate) fn open(&mut self, spec: &RunSpec, t: f64, y: &[f64]) -> Option<Vec<f64>> {
        let opened = opened(&self.machine, &self.reduced, (spec, &self.snapshot), (t, y));
        let (machine, y) = opened?;
        self.machine = machine;
        Some(y)
    }
}

/// Makes the machine whose solver sees the unknowns of blocks, and lets it go on from another one at `t`; none if it
/// cannot be made.
pub(crate) fn opened(
    from: &Machine,
    reduced: &Reduced,
    (spec, further): (&RunSpec, &[ExprId]),
    (t, y): (f64, &[f64]),
) -> Option<(Machine, Vec<f64>)> {
    let mut machine = prepare_opened(reduced, spec, further).ok()?;
    set_parameters(&mut machine, spec);
    let mut all = vec![0.0; machine.n()];
    all[..y.len()].copy_from_slice(y);
    let n_whens = reduced.dae.whens.len();
    machine.take_over(from, (t, &mut all), n_whens, &[]).ok()?;
    Some((machine, all))
}

/// The machine of a short implicit step, and its inputs.
#[derive(Clone)]
struct Probe {
    machine: Machine,
    /// x⁻ of each carried symbol.
    before: Vec<SymbolId>,
    /// 1/h.
    rate: SymbolId,
    held: Vec<SymbolId>,
    /// How many columns come after those of a [`Snapshot`]: states of the configuration that are not storages.
    n_more: usize,
}

/// What is seen of a contact; 0 where it has none of it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ContactReading {
    /// The command of a switch; of a port, how far it is from conducting.
    pub command: f64,
    /// The parameter of its curve; of a port, how far it is from blocking.
    pub parameter: f64,
    /// The effort across it.
    pub effort: f64,
    /// The flow through it.
    pub flow: f64,
}

impl ContactReading {
    /// So many columns.
    pub(crate) const N: usize = 4;

    /// Reads it off its columns.
    pub(crate) fn new(columns: &[f64]) -> Self {
        ContactReading {
            command: columns[0],
            parameter: columns[1],
            effort: columns[2],
            flow: columns[3],
        }
    }
}

/// What the columns of a configuration's machine are, after those of the run.
#[derive(Clone, Debug, Default)]
pub(crate) struct Snapshot {
    /// Carried symbols: everything that has a rate.
    pub x: Vec<f64>,
    /// What is seen of each contact.
    pub contacts: Vec<ContactReading>,
    /// Outputs of sliding switches.
    pub sliding: Vec<f64>,
    /// Of a probe: states of its configuration that are not storages.
    pub more: Vec<f64>,
}

/// Configurations that some run of a sweep needed, for the others: as they were made, never run and with no parameter
/// changed, so that what one point computes does not depend on which other points came before it.
#[derive(Default)]
pub struct ConfigurationStore {
    causality: OnceLock<Causality>,
    /// Equations with other locks left out, by those; none where they cannot be reduced.
    rechosen: Mutex<HashMap<Vec<usize>, Option<Arc<Reduced>>>>,
    made: Mutex<HashMap<Configuration, Arc<Made>>>,
}

/// A configuration as it was made.
struct Made {
    /// None if its equations have no unique solution.
    entry: Option<Entry>,
    carried: Vec<SymbolId>,
}

const NO_PANIC: &str = "no worker panics while it holds the list";

impl ConfigurationStore {
    /// Gives the equations with these locks left out, or makes them.
    pub(crate) fn equations_without(
        &self,
        locks: &[usize],
        make: impl FnOnce() -> Option<Arc<Reduced>>,
    ) -> Option<Arc<Reduced>> {
        let mut all = self.rechosen.lock().expect(NO_PANIC);
        all.entry(locks.to_vec()).or_insert_with(make).clone()
    }

    /// Gives a configuration that was made before, or makes it.
    fn get(&self, configuration: &Configuration, make: impl FnOnce() -> Made) -> Arc<Made> {
        if let Some(made) = self.made.lock().expect(NO_PANIC).get(configuration) {
            return made.clone();
        }
        // Others go on meanwhile; two that make the same make equals.
        let mut made = make();
        if let Some(entry) = &mut made.entry {
            // Copies cannot make code later.
            entry.machine.compile();
        }
        let mut all = self.made.lock().expect(NO_PANIC);
        all.entry(configuration.clone())
            .or_insert_with(|| Arc::new(made))
            .clone()
    }
}

/// All configurations of a model that were needed so far.
pub(crate) struct Configurations<'a> {
    graph: &'a BondGraph,
    /// Assigned when first needed: most runs never do.
    causality: Option<Causality>,
    spec: &'a RunSpec,
    /// The ideal contacts.
    pub contacts: Vec<ElementId>,
    /// Everything that has a rate.
    pub carried: Vec<SymbolId>,
    entries: HashMap<Configuration, Option<Box<Entry>>>,
    /// Where runs of the same model keep what they made, if there are several.
    pub(super) store: Option<&'a ConfigurationStore>,
}

impl<'a> Configurations<'a> {
    pub(crate) fn new(
        graph: &'a BondGraph,
        spec: &'a RunSpec,
        contacts: Vec<ElementId>,
        store: Option<&'a ConfigurationStore>,
    ) -> Self {
        Configurations {
            graph,
            causality: None,
            spec,
            contacts,
            carried: Vec::new(),
            entries: HashMap::new(),
            store,
        }
    }

    /// Gives a configuration; none if its equations have no unique solution.
    pub(crate) fn get(&mut self, configuration: &Configuration) -> Option<&mut Entry> {
        if !self.entries.contains_key(configuration) {
            let entry = self
                .make_or_copy(configuration)
                .map(|entry| Box::new(self.ready(entry)));
            self.entries.insert(configuration.clone(), entry);
        }
        self.entries.get_mut(configuration)?.as_deref_mut()
    }

    /// Gives a configuration that was got before together with another one.
    pub(crate) fn pair(
        &mut self,
        a: &Configuration,
        b: &Configuration,
    ) -> Option<(&mut Entry, &Entry)> {
        debug_assert!(a != b);
        let [a, b] = self.entries.get_disjoint_mut([a, b]);
        Some((a?.as_deref_mut()?, b?.as_deref()?))
    }

    fn make_or_copy(&mut self, configuration: &Configuration) -> Option<Entry> {
        let graph = self.graph;
        let (carried, entry) = match self.store {
            Some(store) => {
                let causality = store.causality.get_or_init(|| assign_causality(graph));
                let made = store.get(configuration, || self.make(configuration, causality));
                (made.carried.clone(), made.entry.clone())
            }
            None => {
                let causality = self.causality.take();
                let causality = causality.unwrap_or_else(|| assign_causality(graph));
                let Made { entry, carried } = self.make(configuration, &causality);
                self.causality = Some(causality);
                (carried, entry)
            }
        };
        self.carried = carried;
        entry
    }

    /// Gives the parameters of this run to what was made for any.
    fn ready(&self, mut entry: Entry) -> Entry {
        set_parameters(&mut entry.machine, self.spec);
        if let Some(probe) = &mut entry.probe {
            set_parameters(&mut probe.machine, self.spec);
        }
        entry
    }

    fn make(&self, configuration: &Configuration, causality: &Causality) -> Made {
        let graph = self.graph;
        let side = |id: ElementId, conducts: bool| {
            let is_diode = graph.element(id).kind == ElementKind::D;
            match (configuration.is_open && is_diode, conducts) {
                (true, _) => Side::Port,
                (false, true) => Side::Conducts,
                (false, false) => Side::Blocks,
            }
        };

        let contacts = self.contacts.iter().zip(&configuration.conducting);
        let given: Vec<(ElementId, Side)> = contacts
            .map(|(&id, &conducts)| (id, side(id, conducts)))
            .collect();
        let written = if given.is_empty() {
            let dae = build_equations(graph, causality);
            let first_when = dae.whens.len();
            Contacts {
                dae,
                contacts: Vec::new(),
                first_when,
            }
        } else {
            build_equations_conducting(graph, causality, &given)
        };

        let carried = carried(&written.dae);
        Made {
            entry: self.solve(written, configuration, &carried),
            carried,
        }
    }

    /// Reduces the equations of a configuration and makes its machines.
    fn solve(
        &self,
        written: Contacts,
        configuration: &Configuration,
        carried: &[SymbolId],
    ) -> Option<Entry> {
        let Contacts {
            mut dae,
            contacts,
            first_when,
        } = written;
        for &symbol in &configuration.sliding {
            slide(&mut dae, symbol)?;
        }

        let watch_modes = watch_modes(&mut dae, &contacts, &configuration.sliding);
        let snapshot = snapshot(&mut dae, carried, &contacts, &configuration.sliding);
        let original = dae.clone();
        let reduced = reduce(dae).ok()?;
        let machine = prepare_wanted(&reduced, self.spec, &snapshot).ok()?;
        let more = other_states(&machine, carried);
        let probe = probe(original, carried, (&snapshot, &more));

        Some(Entry {
            machine,
            reduced: Arc::new(reduced),
            contacts,
            first_when,
            watch_modes,
            snapshot,
            probe,
        })
    }

    /// Looks at a configuration's own machine at a point.
    pub(crate) fn look(
        &mut self,
        configuration: &Configuration,
        t: f64,
        y: &[f64],
    ) -> Option<Snapshot> {
        let skip = self.spec.wanted.len();
        let n_x = self.carried.len();
        let entry = self.get(configuration)?;
        let mut row = vec![0.0; entry.machine.n_wanted()];
        entry.machine.observe(t, y, &mut row).ok()?;
        Some(split(&row[skip..], n_x, entry.contacts.len()))
    }

    /// Looks where a configuration leads from x⁻ in a step of length h. Discrete values are those of the
    /// configuration that ran last.
    pub(crate) fn probe(
        &mut self,
        configuration: &Configuration,
        (t, h): (f64, f64),
        before: &[f64],
        discrete: &[(SymbolId, f64)],
    ) -> Option<Snapshot> {
        self.probe_at(configuration, (t, h), before, (discrete, &[]))
    }

    /// The same with some parameters of the configuration set: those of its ports.
    pub(crate) fn probe_at(
        &mut self,
        configuration: &Configuration,
        (t, h): (f64, f64),
        before: &[f64],
        (discrete, ports): (Values<'_>, Values<'_>),
    ) -> Option<Snapshot> {
        let n_x = before.len();
        let entry = self.get(configuration)?;
        let n_contacts = entry.contacts.len();
        let probe = entry.probe.as_mut()?;
        let machine = &mut probe.machine;
        for (&symbol, &value) in probe.before.iter().zip(before) {
            machine.set_parameter(symbol, value).ok()?;
        }

        for &(symbol, value) in discrete {
            if probe.held.contains(&symbol) {
                machine.set_parameter(symbol, value).ok()?;
            }
        }

        for &(symbol, value) in ports {
            machine.set_parameter(symbol, value).ok()?;
        }
        machine.set_parameter(probe.rate, 1.0 / h).ok()?;

        // Sources move on with the step as well.
        let t = t + h;
        let start = machine.initialise(t).ok()?;
        let mut row = vec![0.0; machine.n_wanted()];
        machine.observe(t, &start.y0, &mut row).ok()?;
        let (own, more) = row.split_at(row.len() - probe.n_more);
        let mut snapshot = split(own, n_x, n_contacts);
        snapshot.more = more.to_vec();
        let is_finite = row.iter().all(|value| value.is_finite());
        is_finite.then_some(snapshot)
    }

    /// The states of a configuration where the storages are x. Those that are not storages follow from them.
    pub(crate) fn states_at(
        &mut self,
        configuration: &Configuration,
        (t, h): (f64, f64),
        x: &[f64],
        discrete: &[(SymbolId, f64)],
    ) -> Option<Vec<f64>> {
        let carried = self.carried.clone();
        let states = self.get(configuration)?.machine.states().to_vec();
        let is_other = |s: &SymbolId| carried.binary_search(s).is_err();
        let mut more = match states.iter().any(is_other) {
            true => self.probe(configuration, (t, h), x, discrete)?.more,
            false => Vec::new(),
        }
        .into_iter();
        let mut y = vec![0.0; self.get(configuration)?.machine.n()];
        for (y, symbol) in y.iter_mut().zip(&states) {
            *y = match carried.binary_search(symbol) {
                Ok(place) => x[place],
                Err(_) => more.next()?,
            };
        }
        Some(y)
    }

    /// Finds the start of a configuration; none if it has no equations.
    pub(crate) fn initialise(
        &mut self,
        configuration: &Configuration,
        t: f64,
    ) -> Option<Result<paynter_exec::StartReport, StartError>> {
        Some(self.get(configuration)?.machine.initialise(t))
    }
}

/// States that index reduction has put in the place of storages, such as the effort of a capacitor that others hold.
fn other_states(machine: &Machine, carried: &[SymbolId]) -> Vec<SymbolId> {
    let states = machine.states().iter().copied();
    states
        .filter(|s| carried.binary_search(s).is_err())
        .collect()
}

/// What a machine shows beside the columns of the run; see [`Snapshot`].
fn snapshot(
    dae: &mut Dae,
    carried: &[SymbolId],
    contacts: &[Contact],
    sliding: &[SymbolId],
) -> Vec<ExprId> {
    let pool = &mut dae.pool;
    let mut wanted: Vec<ExprId> = carried.iter().map(|&x| pool.symbol(x)).collect();
    let nothing = pool.number(0.0);
    for contact in contacts {
        let (command, s) = match contact.control {
            Control::Command(on) => (on, nothing),
            Control::Sign { s, .. } => (nothing, pool.symbol(s)),
            Control::Port { gap, flow, .. } => (gap, flow),
        };
        let (e, f) = (pool.symbol(contact.effort), pool.symbol(contact.flow));
        wanted.extend([command, s, e, f]);
    }
    wanted.extend(sliding.iter().map(|&m| pool.symbol(m)));
    wanted
}

/// Modes that compare the curve parameter of a diode or the output of a sliding switch.
fn watch_modes(dae: &mut Dae, contacts: &[Contact], sliding: &[SymbolId]) -> Vec<SymbolId> {
    let diodes = contacts.iter().filter_map(|c| match c.control {
        Control::Sign { s, .. } | Control::Port { s, .. } => Some(s),
        Control::Command(_) => None,
    });
    let watched: Vec<SymbolId> = diodes.chain(sliding.iter().copied()).collect();
    let watched: HashSet<ExprId> = watched.iter().map(|&s| dae.pool.symbol(s)).collect();
    let modes = dae.modes.iter().filter(|mode| match mode.switch {
        Switch::Relation { left, right, .. } => watched.contains(&left) || watched.contains(&right),
        _ => false,
    });
    modes.map(|mode| mode.symbol).collect()
}

pub(crate) fn set_parameters(machine: &mut Machine, spec: &RunSpec) {
    for &(symbol, value) in &spec.parameters {
        machine
            .set_parameter(symbol, value)
            .expect("the caller checked that this is a parameter");
    }
}

fn split(row: &[f64], n_x: usize, n_contacts: usize) -> Snapshot {
    let (x, rest) = row.split_at(n_x);
    let (contacts, sliding) = rest.split_at(ContactReading::N * n_contacts);
    Snapshot {
        x: x.to_vec(),
        contacts: contacts
            .chunks_exact(ContactReading::N)
            .map(ContactReading::new)
            .collect(),
        sliding: sliding.to_vec(),
        more: Vec::new(),
    }
}

/// Everything that has a rate, in the order of symbols.
fn carried(dae: &Dae) -> Vec<SymbolId> {
    let mut symbols: Vec<SymbolId> = dae
        .symbols
        .iter()
        .filter_map(|s| match s.role {
            Role::Derivative { of } => Some(of),
            _ => None,
        })
        .collect();
    symbols.sort_unstable();
    symbols.dedup();
    symbols
}

/// Bounds of what a switch gives: it slides while its output lies between them.
pub(crate) fn bounds(switch: Switch) -> Option<(f64, f64)> {
    match switch {
        Switch::Relation {
            comparison: Comparison::Equal | Comparison::NotEqual,
            ..
        }
        | Switch::Floor { .. } => None,
        Switch::Relation { .. } => Some((0.0, 1.0)),
        Switch::Sign { .. } => Some((-1.0, 1.0)),
    }
}

/// Makes the output of a switch an unknown and its surface an equation; ends the run when the output
/// would have to leave its bounds. None for a switch without two sides.
fn slide(dae: &mut Dae, symbol: SymbolId) -> Option<()> {
    let place = dae.modes.iter().position(|m| m.symbol == symbol)?;
    let Mode { switch, origin, .. } = dae.modes.remove(place);
    for (number, mode) in dae.modes.iter().enumerate() {
        dae.symbols[mode.symbol.0 as usize].role = Role::Mode {
            mode: number as u32,
        };
    }
    dae.symbols[symbol.0 as usize].role = Role::Unknown;
    let (low, high) = bounds(switch)?;
    let (left, right) = match switch {
        Switch::Relation { left, right, .. } => (left, right),
        Switch::Sign { of } | Switch::Floor { of } => (of, dae.pool.number(0.0)),
    };

    let sides: Vec<ExprId> = dae
        .equations
        .iter()
        .flat_map(|e| [e.left, e.right])
        .collect();
    let blended = blend(&mut dae.pool, &sides, symbol);
    for (equation, sides) in dae.equations.iter_mut().zip(blended.chunks_exact(2)) {
        (equation.left, equation.right) = (sides[0], sides[1]);
    }
    dae.equations.push(Equation {
        left,
        right,
        solves: None,
        origin,
    });
    for side in [(Comparison::Less, low), (Comparison::Greater, high)] {
        stop_beyond(dae, symbol, side, origin);
    }
    Some(())
}

/// Ends the run where a symbol goes beyond one of its bounds.
fn stop_beyond(
    dae: &mut Dae,
    symbol: SymbolId,
    (comparison, bound): (Comparison, f64),
    origin: Origin,
) {
    let name = dae.symbol(symbol).name;
    let left = dae.pool.symbol(symbol);
    let right = dae.pool.number(bound);
    let number = dae.modes.len() as u32;
    let mode = dae.add_symbol(Symbol {
        name,
        role: Role::Mode { mode: number },
        nominal: 1.0,
        origin,
    });

    dae.modes.push(Mode {
        symbol: mode,
        switch: Switch::Relation {
            comparison,
            left,
            right,
        },
        origin,
    });

    let condition = dae.pool.symbol(mode);
    dae.whens.push(When {
        name,
        condition,
        actions: vec![Action::Stop {
            message: String::new(),
        }],
        origin,
    });
}

/// Lets every choice that a truth value makes be a share of both sides: `if w then a else b` becomes
/// w a + (1 − w) b, the convex combination of Filippov.
fn blend(pool: &mut Pool, expressions: &[ExprId], truth: SymbolId) -> Vec<ExprId> {
    let order = below(pool, expressions);
    let mut new: HashMap<ExprId, ExprId> = HashMap::new();
    let mut reads: HashSet<ExprId> = HashSet::new();
    for e in order {
        let mut depends = pool.as_symbol(e) == Some(truth);
        pool.each_argument(e, |a| depends |= reads.contains(&a));
        if !depends {
            new.insert(e, e);
            continue;
        }
        reads.insert(e);
        let one = pool.number(1.0);
        let value = match pool.node(e) {
            Node::If(w, a, b) if reads.contains(&w) => {
                let (w, a, b) = (new[&w], new[&a], new[&b]);
                let left = pool.sub(one, w);
                let (a, b) = (pool.mul(w, a), pool.mul(left, b));
                pool.add(a, b)
            }
            Node::Not(a) => pool.sub(one, new[&a]),
            Node::And(a, b) => pool.mul(new[&a], new[&b]),
            Node::Or(a, b) => {
                let (a, b) = (new[&a], new[&b]);
                let (sum, both) = (pool.add(a, b), pool.mul(a, b));
                pool.sub(sum, both)
            }
            _ => rebuild(pool, e, &|a| new[&a]),
        };
        new.insert(e, value);
    }
    expressions.iter().map(|e| new[e]).collect()
}

/// Makes the machine of one short implicit step; none where that has no unique solution.
fn probe(
    mut dae: Dae,
    carried: &[SymbolId],
    (snapshot, more): (&[ExprId], &[SymbolId]),
) -> Option<Probe> {
    let mut wanted = snapshot.to_vec();
    for &symbol in more {
        // A state that only the reduced equations know cannot be looked up here.
        if symbol.0 as usize >= dae.symbols.len() {
            return None;
        }
        wanted.push(dae.pool.symbol(symbol));
    }

    let first = dae.symbols.first()?;
    let parameter = Symbol {
        name: first.name,
        role: value_given_later(0.0),
        nominal: 0.0,
        origin: first.origin,
    };
    let rate = dae.add_symbol(Symbol {
        role: value_given_later(1.0),
        ..parameter.clone()
    });
    let before: Vec<SymbolId> = carried
        .iter()
        .map(|_| dae.add_symbol(parameter.clone()))
        .collect();
    replace_rates(
        &mut dae,
        rate,
        carried.iter().copied().zip(before.iter().copied()),
    )?;
    let held = hold_discrete(&mut dae);
    forget_events_and_laws(&mut dae);

    let reduced = reduce(dae).ok()?;
    let machine = lower(&reduced, &wanted, Engine::Interpreter).ok()?;
    Some(Probe {
        machine,
        before,
        rate,
        held,
        n_more: more.len(),
    })
}

/// A parameter that is set before each step.
fn value_given_later(value: f64) -> Role {
    Role::Parameter {
        value,
        binding: None,
    }
}

/// Makes every rate the unknown of an implicit Euler step: ẋ = (x − x_before) · rate, where `rate` is one over the step.
/// None where something has a rate that is not among those carried, which come with their values before.
fn replace_rates(
    dae: &mut Dae,
    rate: SymbolId,
    carried: impl Iterator<Item = (SymbolId, SymbolId)>,
) -> Option<()> {
    let before: HashMap<SymbolId, SymbolId> = carried.collect();
    dae.starts.clear();
    for index in 0..dae.symbols.len() {
        let Symbol { role, origin, .. } = dae.symbols[index];
        let Role::Derivative { of } = role else {
            continue;
        };
        dae.symbols[index].role = Role::Unknown;
        let pool = &mut dae.pool;
        let (x, x_before) = (pool.symbol(of), pool.symbol(*before.get(&of)?));
        let moved = pool.sub(x, x_before);
        let rate = pool.symbol(rate);
        let right = pool.mul(moved, rate);
        let left = pool.symbol(SymbolId(index as u32));
        dae.equations.push(Equation {
            left,
            right,
            solves: None,
            origin,
        });
        dae.starts.push(Start {
            target: x,
            value: x_before,
            is_guess: true,
            origin,
        });
    }
    Some(())
}

/// Makes discrete variables and left limits parameters, and gives the discrete ones back.
fn hold_discrete(dae: &mut Dae) -> Vec<SymbolId> {
    let mut held = Vec::new();
    for (index, symbol) in dae.symbols.iter_mut().enumerate() {
        match symbol.role {
            Role::Discrete { start } => {
                symbol.role = value_given_later(start);
                held.push(SymbolId(index as u32));
            }
            Role::Pre { .. } => symbol.role = value_given_later(0.0),
            _ => {}
        }
    }
    held
}

/// Leaves the equations alone: within one step nothing happens, nothing is audited, and nothing has a start of its own.
fn forget_events_and_laws(dae: &mut Dae) {
    dae.clocks.clear();
    dae.whens.clear();
    dae.constraints.clear();
    dae.invariants.clear();
    dae.quadratures.clear();
    dae.power.clear();
    dae.balances.clear();
    dae.anchors.clear();
    dae.preferred_states.clear();
}
