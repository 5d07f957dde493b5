//! A hybrid run: one trajectory through one or more configurations of contacts and switches.
//!
//! In:  a machine for the equations as they stand, and where contacts are ideal or a switch slides,
//!      configurations to go on with.
//! Out: where the run ended and why, with the work, the energies and the jumps of all parts.
//!
//! At an event that a configuration cannot pass, the next one is searched (`modes`). Storages that the new
//! configuration ties together jump, with charge and flux conserved.
//!
//! **Invariant:** recorded rows, quadratures and held values go on without a gap.

mod contact_sizes;
pub(crate) mod modes;
mod opening;
mod rechoosing;

use self::contact_sizes::ContactSizes;
use self::modes::NoFit;
use crate::audit::Booked;
use crate::configuration::{
    Configuration, ConfigurationStore, Configurations, ContactReading, Snapshot, Values, bounds,
};
use crate::recorder::Recorder;
use crate::spec::{Ending, RunSpec};
use crate::trouble::{Cause, Stuck, Trouble, behind};
use paynter_design::compile::Compiled;
use paynter_exec::{Machine, StartReport};
use paynter_model::BondGraph;
use paynter_model::equations::{Control, ideal_contacts};
use paynter_model::graph::{ElementId, Memory};
use paynter_solve::{
    Absolute, Choice, Dense, EvalError, EventOutcome, EventRecord, Failure, FinishReason, Method,
    Observer, Options, Reason, SolveError, Statistics, System, Tolerances, WhenFaded, WhenStiff,
    integrate,
};
use paynter_symbolic::SymbolId;
use paynter_symbolic::dae::Dae;
use paynter_symbolic::reduced::Reduced;
use rustc_hash::FxHashMap;
use std::collections::HashMap;
use std::ops::ControlFlow;
use std::sync::Arc;

use self::rechoosing::Rechoice;
pub use self::rechoosing::Rechosen;

/// Where a run came to an end.
pub struct End {
    /// The time, s.
    pub t: f64,
    /// The variables of the solver there.
    pub y: Vec<f64>,
    /// Why.
    pub ending: Ending,
}

/// Where a run is between two integrations.
struct Instant {
    /// The time, s.
    t: f64,
    /// The variables of the solver.
    y: Vec<f64>,
    /// Changes of configuration since time last went on.
    n_changes: usize,
}

/// The short step is this part of the mean step of the run so far: long against rounding, short
/// against anything the model does.
const PROBE_SHARE: f64 = 1e-4;
/// Before any step it is this part of the run.
pub(crate) const FIRST_PROBE_SHARE: f64 = 1e-9;
/// A jump is computed with a step this much shorter still: what flows in it meanwhile is an error.
const JUMP_SHARE: f64 = 1e-5;
/// What rounding leaves of an effort or flow that is zero, as a part of the largest among contacts.
const BAND_NOISE: f64 = 1e-13;
/// States are read off a step this much shorter than that of a jump.
const NO_TIME: f64 = 1e-8;
/// A flow that falls to less than this part of itself is cut off.
const STOPPED: f64 = 1e-3;
/// A state that differs by more than this part of its size has jumped.
const JUMP_NOISE: f64 = 1e-8;
/// More changes than this at one instant are a cycle without end.
pub(crate) const MOST_CHANGES: usize = 40;

/// A run under way.
pub struct HybridRun<'a> {
    pub(crate) graph: &'a BondGraph,
    pub(crate) spec: &'a RunSpec,
    plain: &'a mut Machine,
    plain_reduced: &'a Reduced,
    /// The plain machine as it was given, while one with opened blocks or other locks replaces it.
    given: Option<Machine>,
    /// The model whose locks may be chosen again.
    locks_of: Option<&'a Compiled>,
    /// Its equations with the locks that are left out at present, where they are others than at the start.
    present_choice: Option<Arc<Reduced>>,
    /// Choices of locks that were left again.
    rechoices: HashMap<Vec<usize>, Rechoice>,
    pub(crate) configurations: Configurations<'a>,
    /// None while the equations run as they stand.
    pub(crate) current: Option<Configuration>,
    /// The work done.
    pub statistics: Statistics,
    /// The integrals of the audit.
    pub booked: Booked,
    /// Absolute tolerances of each configuration when it was first run.
    tolerances: FxHashMap<Configuration, Absolute>,
    /// Largest value of each carried symbol at changes of configuration.
    sizes: FxHashMap<SymbolId, f64>,
    pub(crate) contact_sizes: ContactSizes,
    /// Contacts that lost energy in a jump: time, element, J.
    pub losses: Vec<(f64, usize, f64)>,
    /// Switches that slid: mode, first time, how often.
    pub slides: Vec<(SymbolId, f64, usize)>,
    /// When other locks were left out as redundant.
    pub rechosen: Vec<Rechosen>,
}

impl<'a> HybridRun<'a> {
    /// A run that has not started. `store` is where runs of the same model keep what they made, if there are several.
    pub fn new(
        plain: &'a mut Machine,
        plain_reduced: &'a Reduced,
        graph: &'a BondGraph,
        spec: &'a RunSpec,
        store: Option<&'a ConfigurationStore>,
    ) -> Self {
        let contacts = ideal_contacts(graph);
        HybridRun {
            graph,
            spec,
            plain,
            plain_reduced,
            given: None,
            locks_of: None,
            present_choice: None,
            rechoices: HashMap::new(),
            contact_sizes: ContactSizes::new(graph, &contacts),
            configurations: Configurations::new(graph, spec, contacts, store),
            current: None,
            statistics: Statistics::default(),
            booked: Booked::default(),
            tolerances: FxHashMap::default(),
            sizes: FxHashMap::default(),
            losses: Vec::new(),
            slides: Vec::new(),
            rechosen: Vec::new(),
        }
    }

    /// Lets locks that are left out as redundant be chosen again along the run; `compiled` is what the machine was made from.
    pub fn choosing_locks_of(mut self, compiled: &'a Compiled) -> Self {
        self.locks_of = (!compiled.released.is_empty()).then_some(compiled);
        self
    }

    /// Tells whether some switch rests on its surface at present.
    pub fn is_sliding(&self) -> bool {
        self.current.as_ref().is_some_and(|s| !s.sliding.is_empty())
    }

    /// The machine and the equations at present.
    pub fn at_present(&mut self) -> (&mut Machine, &Reduced) {
        match &self.current {
            None => {
                let reduced = self.present_choice.as_deref();
                (self.plain, reduced.unwrap_or(self.plain_reduced))
            }
            Some(configuration) => {
                let entry = self
                    .configurations
                    .get(configuration)
                    .expect("the present configuration was made");
                (&mut entry.machine, &*entry.reduced)
            }
        }
    }

    /// Says what went wrong at present.
    pub(crate) fn trouble(&mut self, time: f64, cause: Cause) -> Box<Trouble> {
        let current = self.current.clone();
        self.trouble_in(current.as_ref(), time, cause)
    }

    /// Says what went wrong in a configuration; in none, with the equations as they stand.
    pub(crate) fn trouble_in(
        &mut self,
        configuration: Option<&Configuration>,
        time: f64,
        cause: Cause,
    ) -> Box<Trouble> {
        let entry = configuration.and_then(|s| self.configurations.get(s));
        let equations = entry.map(|entry| entry.reduced.clone());
        Box::new(Trouble {
            time,
            cause,
            equations,
        })
    }

    /// Says that a quantity could not be computed.
    fn not_recorded(&mut self, time: f64, error: EvalError) -> Box<Trouble> {
        let (machine, _) = self.at_present();
        let cause = Cause::NotRecorded(behind(machine, error));
        self.trouble(time, cause)
    }

    /// Moves the start to the point at rest that `trim` has found, if there is one.
    fn rest(&mut self, t: f64, y: &mut [f64]) -> Result<(), Box<Trouble>> {
        if self.spec.rest.is_empty() {
            return Ok(());
        }
        let values: HashMap<SymbolId, f64> = self.spec.rest.iter().copied().collect();
        for (value, symbol) in y.iter_mut().zip(self.plain.states()) {
            *value = values.get(symbol).copied().unwrap_or(*value);
        }
        let before = self.plain.clone();
        let n_whens = self.plain_reduced.dae.whens.len();
        let moved = self.plain.take_over(&before, (t, y), n_whens, &[]);
        moved.map(|_| ()).map_err(|e| self.not_recorded(t, e))
    }

    /// Finds the start, and the configuration at the start where contacts are ideal.
    pub fn start(&mut self) -> Result<StartReport, Box<Trouble>> {
        let t = self.spec.start;
        if self.configurations.contacts.is_empty() {
            let found = self.plain.initialise(t);
            let mut report = found.map_err(|e| self.trouble(t, Cause::NoStart(e)))?;
            self.rest(t, &mut report.y0)?;
            return Ok(report);
        }
        let report = self.first_configuration(t)?;
        self.arm(t, &report.y0);
        Ok(report)
    }

    /// Runs to the end.
    pub fn go(&mut self, y0: &[f64], recorder: &mut Recorder<'_>) -> End {
        let mut at = Instant {
            t: self.spec.start,
            y: y0.to_vec(),
            n_changes: 0,
        };
        loop {
            let t_before = at.t;
            self.open_if_stiff(at.t, &mut at.y);
            let options = self.options(at.t);
            let (result, is_at_end) = self.integrate_on(&mut at, &options, recorder);
            if at.t > t_before {
                at.n_changes = 0;
            }

            let ending = match result {
                Err(error) => self.after_failure(&mut at, error, &options),
                Ok(FinishReason::Stopped { code }) => {
                    let ending = self.after_stop(&mut at, code);
                    let is_own = matches!(ending, Some(Ending::Stopped { .. }));
                    if is_own && is_at_end {
                        recorder.see_end(at.t, &at.y, self.at_present().0);
                    }
                    ending
                }
                // The next round opens the blocks.
                Ok(FinishReason::Stiff) => None,
                Ok(FinishReason::Faded) => {
                    self.choose_locks(at.t, &mut at.y);
                    None
                }
                Ok(FinishReason::Cancelled) => Some(match recorder.failure {
                    Some((time, error)) => Ending::failed(self.not_recorded(time, error)),
                    None => Ending::Cancelled { time: at.t },
                }),
                Ok(FinishReason::ReachedEnd) => Some(Ending::Reached),
            };
            if let Some(ending) = ending {
                let Instant { t, y, .. } = at;
                return End { t, y, ending };
            }
        }
    }

    /// Integrates the present equations as far as they go and books the work; also tells whether the end of the run was
    /// reached.
    fn integrate_on(
        &mut self,
        at: &mut Instant,
        options: &Options,
        recorder: &mut Recorder<'_>,
    ) -> (Result<FinishReason, SolveError>, bool) {
        let contacts = self.contact_columns();
        let contact_sizes = self.contact_sizes.clone();
        let stop = self.spec.stop;
        let (machine, _) = self.at_present();
        let mut watch = Watch {
            recorder,
            largest: vec![0.0; at.y.len()],
            row: vec![0.0; machine.n_wanted()],
            contacts,
            contact_sizes,
            steps: 0,
            is_at_end: false,
        };
        let result = integrate(machine, at.t, &at.y, stop, options, &mut watch);
        let largest = std::mem::take(&mut watch.largest);
        let is_at_end = watch.is_at_end;
        self.contact_sizes = watch.contact_sizes;
        self.note_largest(&largest);

        let reason = match result {
            Ok(end) => {
                let integrals = [&end.quadratures, &end.variations, &end.quadrature_errors];
                self.count(&end.statistics, integrals);
                (at.t, at.y) = (end.t, end.y);
                Ok(end.reason)
            }
            Err(end) => {
                let integrals = [&end.quadratures, &end.variations, &end.quadrature_errors];
                self.count(&end.statistics, integrals);
                (at.t, at.y) = (end.t, end.y.clone());
                Err(end)
            }
        };
        (reason, is_at_end)
    }

    /// Finds a way on where the solver gave up; the end of the run where there is none.
    fn after_failure(
        &mut self,
        at: &mut Instant,
        error: SolveError,
        options: &Options,
    ) -> Option<Ending> {
        let is_cycle = at.n_changes > MOST_CHANGES;
        if let Failure::Chattering { guard, .. } = error.failure
            && self.ends_chattering((at.t, &mut at.y), guard, (options, is_cycle))
        {
            at.n_changes += 1;
            return None;
        }
        let (machine, _) = self.at_present();
        let cause = Cause::Solver(Box::new(Stuck::new(machine, error)));
        Some(Ending::failed(self.trouble(at.t, cause)))
    }

    /// Goes on after a `when` that stops: one of the text ends the run, one of a configuration asks for the next
    /// configuration.
    fn after_stop(&mut self, at: &mut Instant, code: u32) -> Option<Ending> {
        let (machine, _) = self.at_present();
        let paynter_exec::Failure::Stop { message, when } = machine.describe_failure(code) else {
            unreachable!("a stop has a message")
        };
        if when < self.first_own_when() {
            return Some(Ending::Stopped {
                time: at.t,
                message,
            });
        }
        if at.n_changes > MOST_CHANGES {
            let trouble = self.no_configuration(at.t, &NoFit::default());
            return Some(Ending::failed(trouble));
        }

        let mut changed = self.change_over(at.t, &at.y);
        while let Ok(next) = &changed {
            at.n_changes += 1;
            if at.n_changes > MOST_CHANGES || !self.disobeys(at.t, next) {
                break;
            }
            changed = self.change_over(at.t, &next.clone());
        }
        match changed {
            Ok(next) => {
                at.y = next;
                None
            }
            Err(trouble) => Some(Ending::failed(trouble)),
        }
    }

    /// Where the efforts and flows of contacts are in a row of the present machine.
    fn contact_columns(&self) -> std::ops::Range<usize> {
        match &self.current {
            None => 0..0,
            Some(_) => {
                let first = self.spec.wanted.len() + self.configurations.carried.len();
                first..first + ContactReading::N * self.configurations.contacts.len()
            }
        }
    }

    /// Finds a way on where a switch goes to and fro: it makes no difference, it slides, or an implicit method comes to
    /// rest. Of the first two, none is tried again in a cycle at one instant.
    fn ends_chattering(
        &mut self,
        (t, y): (f64, &mut Vec<f64>),
        guard: usize,
        (options, is_cycle): (&Options, bool),
    ) -> bool {
        if !is_cycle && self.silence(t, y, guard, options) {
            return true;
        }
        if !is_cycle && let Some(next) = self.begin_to_slide(t, y, guard) {
            self.arm(t, &next);
            *y = next;
            return true;
        }
        self.go_on_implicitly(t, guard)
    }

    /// Silences a switch that fires on noise only.
    fn silence(&mut self, t: f64, y: &[f64], guard: usize, options: &Options) -> bool {
        let rtol = options.tolerances.relative;
        let weights: Vec<f64> = match &options.tolerances.absolute {
            Absolute::Scalar(atol) => y.iter().map(|y| atol + rtol * y.abs()).collect(),
            Absolute::PerVariable(all) | Absolute::Growing { least: all, .. } => {
                let each = all.iter().zip(y);
                each.map(|(atol, y)| atol + rtol * y.abs()).collect()
            }
        };
        // What a difference in the rates does within a mean step.
        let h = (t - self.spec.start) / self.statistics.steps.max(1) as f64;
        let (machine, _) = self.at_present();
        machine.silence((t, y), guard, (&weights, h))
    }

    /// Changes to an implicit method, if the run may choose and has not done so. Where a law is steep without end, as
    /// √e at zero, explicit steps overshoot the place of rest for ever. What a `when` puts back again and again has no
    /// such place.
    fn go_on_implicitly(&mut self, t: f64, guard: usize) -> bool {
        let is_explicit = self.statistics.method().is_some_and(|m| !m.is_implicit());
        let (machine, _) = self.at_present();
        let mode = machine.mode_of_guard(guard);
        let is_put_back = mode.is_some_and(|mode| machine.moves_states(mode));
        let may_change = self.spec.method == Method::Auto && is_explicit && !is_put_back;
        if may_change {
            self.statistics.choices.push(Choice {
                t,
                method: Method::Rodas5P,
                reason: Reason::Chattered,
            });
        }
        may_change
    }

    fn options(&mut self, t: f64) -> Options {
        let key = self.current.clone().unwrap_or_default();
        let known = self.tolerances.get(&key).cloned();
        let spec = self.spec;
        let resume: Option<Method> = self.statistics.method();
        let sizes = std::mem::take(&mut self.sizes);
        let may_open = spec.method == Method::Auto && self.can_open();
        let (machine, _) = self.at_present();
        let absolute = match spec.atol {
            Some(atol) => Absolute::Scalar(atol),
            None => {
                let mut all = match known {
                    Some(all) => all,
                    None => machine.tolerances(spec.rtol, (t, spec.stop)),
                };
                let first = all.clone();
                if let Absolute::PerVariable(least) | Absolute::Growing { least, .. } = &mut all {
                    for (atol, symbol) in least.iter_mut().zip(machine.states()) {
                        if let Some(size) = sizes.get(symbol) {
                            *atol = atol.max(1e-2 * spec.rtol * size);
                        }
                    }
                }
                self.tolerances.insert(key, first);
                all
            }
        };

        self.sizes = sizes;
        Options {
            method: spec.method,
            tolerances: Tolerances {
                relative: spec.rtol,
                absolute,
            },
            max_step: spec.max_step.unwrap_or(f64::INFINITY),
            fixed_step: spec.fixed_step,
            initial_step: spec.initial_step,
            max_steps: spec.max_steps.unwrap_or(Options::default().max_steps),
            resume,
            keeps_past: spec.keeps_past,
            when_stiff: if may_open {
                WhenStiff::Finish
            } else {
                WhenStiff::ChangeMethod
            },
            when_faded: match self.locks_of {
                Some(_) if self.current.is_none() => WhenFaded::Finish,
                _ => WhenFaded::GoOn,
            },
        }
    }

    fn count(
        &mut self,
        statistics: &Statistics,
        [quadratures, variations, errors]: [&Vec<f64>; 3],
    ) {
        self.statistics.add(statistics);
        for (sums, parts) in [
            (&mut self.booked.quadratures, quadratures),
            (&mut self.booked.variations, variations),
            (&mut self.booked.errors, errors),
        ] {
            sums.resize(parts.len(), 0.0);
            for (sum, part) in sums.iter_mut().zip(parts) {
                *sum += part;
            }
        }
    }

    fn first_own_when(&mut self) -> usize {
        match &self.current {
            None => usize::MAX,
            Some(configuration) => {
                let entry = self.configurations.get(configuration);
                entry.map_or(usize::MAX, |e| e.first_when)
            }
        }
    }

    fn probe_step(&self, t: f64) -> f64 {
        let span = self.spec.stop - self.spec.start;
        let steps = self.statistics.steps;
        let h = if steps == 0 {
            FIRST_PROBE_SHARE * span
        } else {
            PROBE_SHARE * (t - self.spec.start) / steps as f64
        };
        // Charges have roundings, and flows are their differences over this step.
        h.max(1e4 * f64::EPSILON * t.abs().max(span))
    }

    /// Goes on after the present configuration has come to its end at `t`.
    fn change_over(&mut self, t: f64, y: &[f64]) -> Result<Vec<f64>, Box<Trouble>> {
        let present = self
            .current
            .clone()
            .expect("only configurations with contacts or sliding end so");
        let snapshot = self
            .configurations
            .look(&present, t, y)
            .ok_or_else(|| self.no_configuration(t, &NoFit::default()))?;
        self.note_sizes(&snapshot);
        let mut target = present.clone();
        let mut held = Vec::new();
        for (&symbol, &value) in present.sliding.iter().zip(&snapshot.sliding) {
            let (low, high) = self.bounds_of(symbol).unwrap_or((0.0, 1.0));
            // Its output has reached a bound: it goes on to that side.
            let margin = 1e-9 * (high - low);
            if value <= low + margin || value >= high - margin {
                target.sliding.retain(|&s| s != symbol);
                held.push((symbol, if value <= low + margin { low } else { high }));
            }
        }

        for (k, is_switch) in self.are_switches().into_iter().enumerate() {
            if is_switch {
                target.conducting[k] = snapshot.contacts[k].command != 0.0;
            }
        }

        let entry = self.configurations.get(&present);
        let discrete = entry.map_or(Vec::new(), |e| e.machine.discrete_values());
        let h = self.probe_step(t);
        let next = if target.conducting.is_empty() {
            target.clone()
        } else {
            self.search(&target, (t, h), &snapshot.x, &discrete)
                .map_err(|none| self.no_configuration(t, &none))?
        };

        if next == present {
            self.arm(t, y);
            return Ok(y.to_vec());
        }

        let opened = opened(&present, &next);
        let moved = self.move_to(
            &present,
            &next,
            (t, h),
            &snapshot,
            (&discrete, &held),
            &opened,
        )?;

        let settled = self.settle((t, h), moved)?;
        self.arm(t, &settled);
        Ok(settled)
    }

    /// Goes on to further configurations at the same instant until the contacts are right there: a jump may leave a diode
    /// with a flow backwards, and where fast motion follows, a shorter look is needed to see its beginning.
    pub(crate) fn settle(
        &mut self,
        (t, mut h): (f64, f64),
        mut y: Vec<f64>,
    ) -> Result<Vec<f64>, Box<Trouble>> {
        for _ in 0..MOST_CHANGES {
            if self.is_consistent(t, &y) {
                return Ok(y);
            }
            let none = |this: &mut Self| this.no_configuration(t, &NoFit::default());
            let present = self.current.clone().ok_or_else(|| none(self))?;
            let snapshot = self.configurations.look(&present, t, &y);
            let snapshot = snapshot.ok_or_else(|| none(self))?;
            let entry = self.configurations.get(&present);
            let discrete = entry.map_or(Vec::new(), |e| e.machine.discrete_values());
            let next = self
                .search(&present, (t, h), &snapshot.x, &discrete)
                .map_err(|none| self.no_configuration(t, &none))?;
            if next == present {
                h *= 1e-2;
                continue;
            }
            let opened = opened(&present, &next);
            y = self.move_to(
                &present,
                &next,
                (t, h),
                &snapshot,
                (&discrete, &[]),
                &opened,
            )?;
        }
        Err(self.no_configuration(t, &NoFit::default()))
    }

    /// Takes over into another configuration, with a jump where it ties storages together.
    pub(crate) fn move_to(
        &mut self,
        present: &Configuration,
        next: &Configuration,
        (t, h): (f64, f64),
        snapshot: &Snapshot,
        (discrete, held): (Values<'_>, Values<'_>),
        opened: &[usize],
    ) -> Result<Vec<f64>, Box<Trouble>> {
        let lost = || {
            Box::new(Trouble {
                time: t,
                cause: Cause::NoStates,
                equations: None,
            })
        };

        // So short that storages do not move by more than a rounding.
        let no_time = h * JUMP_SHARE * NO_TIME;
        let states_of = |this: &mut Self, s: &Configuration, x: &[f64]| {
            this.configurations.states_at(s, (t, no_time), x, discrete)
        };
        let mut y = states_of(self, next, &snapshot.x).ok_or_else(lost)?;
        self.carry(present, next, (t, &mut y), held)
            .ok_or_else(lost)?;
        let landed = self.configurations.look(next, t, &y).ok_or_else(lost)?;
        let has_jumped = self.has_jumped(&snapshot.x, &landed.x);

        if has_jumped {
            let h = h * JUMP_SHARE;
            let after = self
                .configurations
                .probe(next, (t, h), &snapshot.x, discrete)
                .ok_or_else(lost)?;
            self.refuse_cut(t, h, (snapshot, &after), next, opened)?;
            let energy = |this: &mut Self, s: &Configuration, y: &[f64]| {
                let entry = this.configurations.get(s)?;
                entry.machine.stored_energy(t, y).ok()
            };
            let y_before = states_of(self, present, &snapshot.x).ok_or_else(lost)?;
            let before = energy(self, present, &y_before);
            y = states_of(self, next, &after.x).ok_or_else(lost)?;
            self.carry(present, next, (t, &mut y), held)
                .ok_or_else(lost)?;
            let later = energy(self, next, &y);
            if let (Some(before), Some(later)) = (before, later) {
                let contact = (0..next.conducting.len())
                    .find(|&k| next.conducting[k] && !present.conducting[k])
                    .unwrap_or(0);
                if next.conducting != present.conducting || present.is_open {
                    self.losses.push((t, contact, before.total - later.total));
                }
                if let Some(entry) = self.configurations.get(next) {
                    let when = entry.first_when;
                    entry.machine.book_jump(when, later.total - before.total);
                    entry.machine.book_storage_jumps(&before, &later);
                }
            }
        }

        self.current = Some(next.clone());
        Ok(y)
    }

    fn carry(
        &mut self,
        present: &Configuration,
        next: &Configuration,
        (t, y): (f64, &mut Vec<f64>),
        held: &[(SymbolId, f64)],
    ) -> Option<EventOutcome> {
        let (to, from) = self.configurations.pair(next, present)?;
        let n_whens = to.first_when.min(from.first_when);
        to.machine
            .take_over(&from.machine, (t, y), n_whens, held)
            .ok()
    }

    pub(crate) fn has_jumped(&self, before: &[f64], after: &[f64]) -> bool {
        let carried = &self.configurations.carried;
        carried.iter().zip(before).zip(after).any(|((s, a), b)| {
            let size = self.sizes.get(s).copied().unwrap_or(0.0);
            let size = size.max(a.abs()).max(b.abs());
            (a - b).abs() > JUMP_NOISE * size
        })
    }

    /// Refuses to cut the flow of an inertia: an effort without bound would be needed.
    fn refuse_cut(
        &self,
        t: f64,
        h: f64,
        (before, after): (&Snapshot, &Snapshot),
        next: &Configuration,
        opened: &[usize],
    ) -> Result<(), Box<Trouble>> {
        let carried = &self.configurations.carried;
        let jump_of = |symbol: SymbolId| {
            let place = carried.binary_search(&symbol).ok()?;
            Some((before.x[place], after.x[place]))
        };
        for (number, element) in self.graph.elements.iter().enumerate() {
            for (port, &state) in element.states.iter().enumerate() {
                if !element.kind.is_storage() || element.memory(port) != Some(Memory::Momentum) {
                    continue;
                }
                let Some((a, b)) = jump_of(state) else {
                    continue;
                };
                let size = self.sizes.get(&state).copied().unwrap_or(0.0).max(a.abs());
                // What keeps a part of its flow shares it with another inertia: charge is shared so as well.
                if (a - b).abs() <= 1e-6 * size || b.abs() > STOPPED * a.abs() {
                    continue;
                }
                // The contact that takes the impulse of effort.
                let cut = (0..next.conducting.len())
                    .filter(|&k| !next.conducting[k])
                    .max_by(|&j, &k| {
                        let impulse = |k: usize| (after.contacts[k].effort * h).abs();
                        let is_new = |k: usize| opened.contains(&k);
                        (is_new(j), impulse(j))
                            .partial_cmp(&(is_new(k), impulse(k)))
                            .unwrap_or(std::cmp::Ordering::Equal)
                    });
                let Some(cut) =
                    cut.filter(|&k| (after.contacts[k].effort * h).abs() >= 1e-3 * (a - b).abs())
                else {
                    continue;
                };
                // What usual efforts stop within the short step is what an event has left, not a flow that is cut.
                if (a - b).abs() <= self.contact_sizes.of(cut).0 * h / JUMP_SHARE {
                    continue;
                }
                return Err(Box::new(Trouble {
                    time: t,
                    cause: Cause::CutFlow {
                        inertia: ElementId(number as u32),
                        momentum: a,
                        contact: self.configurations.contacts[cut],
                    },
                    equations: None,
                }));
            }
        }
        Ok(())
    }

    /// Tells whether the contacts of the present configuration are right at a point.
    pub(crate) fn is_consistent(&mut self, t: f64, y: &[f64]) -> bool {
        let Some(configuration) = self.current.clone() else {
            return true;
        };
        let Some(snapshot) = self.configurations.look(&configuration, t, y) else {
            return false;
        };
        self.wrong_in(&configuration, &snapshot).is_empty()
    }

    /// Tells whether a switch is not as its command has it: a jump may have moved the command.
    fn disobeys(&mut self, t: f64, y: &[f64]) -> bool {
        let Some(configuration) = self.current.clone() else {
            return false;
        };
        let is_switch = self.are_switches();
        self.configurations
            .look(&configuration, t, y)
            .is_some_and(|snapshot| {
                let contacts = snapshot.contacts.iter().zip(&configuration.conducting);
                contacts
                    .zip(is_switch)
                    .any(|((contact, &conducts), is)| is && (contact.command != 0.0) != conducts)
            })
    }

    fn note_largest(&mut self, largest: &[f64]) {
        let states = self.at_present().0.states().to_vec();
        for (symbol, &value) in states.into_iter().zip(largest) {
            let size = self.sizes.entry(symbol).or_insert(0.0);
            *size = size.max(value);
        }
    }

    pub(crate) fn note_sizes(&mut self, snapshot: &Snapshot) {
        self.note_storages(snapshot);
        self.contact_sizes.note(&snapshot.contacts);
    }

    pub(crate) fn note_storages(&mut self, snapshot: &Snapshot) {
        for (&symbol, &value) in self.configurations.carried.iter().zip(&snapshot.x) {
            let size = self.sizes.entry(symbol).or_insert(0.0);
            *size = size.max(value.abs());
        }
    }

    /// Lets every diode be beyond zero by what rounding has left, and no more, and watches from here.
    fn arm(&mut self, t: f64, y: &[f64]) {
        let Some(configuration) = self.current.clone() else {
            return;
        };
        let Some(snapshot) = self.configurations.look(&configuration, t, y) else {
            return;
        };
        let sizes = &self.contact_sizes;
        let Some(entry) = self.configurations.get(&configuration) else {
            return;
        };
        for (k, contact) in entry.contacts.iter().enumerate() {
            let Control::Sign { band, .. } = contact.control else {
                continue;
            };
            let s = snapshot.contacts[k].parameter;
            let beyond = if configuration.conducting[k] { -s } else { s };
            // A contact that nothing moves (the only path of a part that floats) shows rounding for ever.
            let (e, f) = sizes.of(k);
            let rounding = BAND_NOISE * if configuration.conducting[k] { f } else { e };
            let width = rounding.max(2.0 * beyond);
            // A parameter that nothing reads, or a value that is not finite, changes nothing.
            let _ = entry.machine.set_parameter(band, width);
        }
        entry.machine.rearm(entry.first_when, &entry.watch_modes);
    }

    fn bounds_of(&self, symbol: SymbolId) -> Option<(f64, f64)> {
        mode_of(&self.plain_reduced.dae, symbol)
    }

    /// Lets a switch that chatters slide along its surface. None where its equations do not allow
    /// that, or where its output would have to be beyond what it can give.
    fn begin_to_slide(&mut self, t: f64, y: &[f64], guard: usize) -> Option<Vec<f64>> {
        let (machine, reduced) = self.at_present();
        let symbol = machine.mode_of_guard(guard)?;
        if machine.moves_states(symbol) {
            return None;
        }

        let (low, high) = mode_of(&reduced.dae, symbol)?;
        let mut y = y.to_vec();
        let present = match &self.current {
            Some(configuration) => configuration.clone(),
            None => {
                // The same equations, with the columns that a change of configuration needs.
                let same = Configuration::default();
                let entry = self.configurations.get(&same)?;
                let n_whens = entry.first_when;
                entry
                    .machine
                    .take_over(self.plain, (t, &mut y), n_whens, &[])
                    .ok()?;
                same
            }
        };

        let snapshot = self.configurations.look(&present, t, &y)?;
        self.note_sizes(&snapshot);
        let mut next = present.clone();
        next.sliding.push(symbol);
        next.sliding.sort_unstable();
        self.configurations.get(&next)?;
        let h = self.probe_step(t);
        let before = self.current.replace(present.clone());
        let moved = self.move_to(&present, &next, (t, h), &snapshot, (&[], &[]), &[]);
        let there = moved
            .ok()
            .and_then(|y| Some((self.configurations.look(&next, t, &y)?, y)));
        let place = next.sliding.iter().position(|&s| s == symbol)?;

        match there {
            Some((snapshot, y)) if (low..=high).contains(&snapshot.sliding[place]) => {
                match self.slides.iter_mut().find(|s| s.0 == symbol) {
                    Some(known) => known.2 += 1,
                    None => self.slides.push((symbol, t, 1)),
                }
                Some(y)
            }
            _ => {
                self.current = before;
                None
            }
        }
    }
}

/// Looks at the size of the states on the way.
struct Watch<'r, 'p> {
    recorder: &'r mut Recorder<'p>,
    largest: Vec<f64>,
    row: Vec<f64>,
    /// Columns of contacts.
    contacts: std::ops::Range<usize>,
    /// Of contacts between events: at events they are zero.
    contact_sizes: ContactSizes,
    steps: usize,
    /// The last event ended the part: whether its right limit is one of the run is not known yet.
    is_at_end: bool,
}

impl Observer for Watch<'_, '_> {
    fn needs_dense(&mut self, t0: f64, t1: f64) -> bool {
        self.recorder.needs_dense(t0, t1)
    }

    fn start(&mut self, t: f64, y: &[f64], system: &mut dyn System) -> ControlFlow<()> {
        self.recorder.start(t, y, system)
    }

    fn step(&mut self, d: &dyn Dense, q: &[f64], system: &mut dyn System) -> ControlFlow<()> {
        for (largest, y) in self.largest.iter_mut().zip(d.y1()) {
            *largest = largest.max(y.abs());
        }
        // A few looks are enough for a size: after 1, 2, 4, 8, … steps.
        self.steps += 1;
        if !self.contacts.is_empty()
            && self.steps.is_power_of_two()
            && system.observe(d.t1(), d.y1(), &mut self.row).is_ok()
        {
            let columns = self.row[self.contacts.clone()].chunks_exact(ContactReading::N);
            let readings: Vec<ContactReading> = columns.map(ContactReading::new).collect();
            self.contact_sizes.note(&readings);
        }
        self.recorder.step(d, q, system)
    }

    fn event(&mut self, event: &EventRecord<'_>, system: &mut dyn System) -> ControlFlow<()> {
        // Where one structure ends and another takes over, what the first one would have done next never happens.
        self.is_at_end = event.is_last;
        if event.is_last {
            self.recorder.note_event(event);
            return ControlFlow::Continue(());
        }
        self.recorder.event(event, system)
    }
}

/// Contacts that conduct in the first configuration and block in the second.
fn opened(before: &Configuration, after: &Configuration) -> Vec<usize> {
    let both = before.conducting.iter().zip(&after.conducting).enumerate();
    both.filter(|(_, (was, is))| **was && !**is)
        .map(|(k, _)| k)
        .collect()
}

fn mode_of(dae: &Dae, symbol: SymbolId) -> Option<(f64, f64)> {
    let mode = dae.modes.iter().find(|m| m.symbol == symbol)?;
    bounds(mode.switch)
}
