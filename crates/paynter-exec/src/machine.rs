//! A model that runs: the state of one run around code that all runs share.
//!
//! In:  an [`Image`] made by `lower`, values of parameters.
//! Out: right-hand sides, Jacobians, guards, quadratures and recorded columns, through the
//!      [`System`] contract of `paynter-solve` and through [`Machine::observe`].
//!
//! Events are handled in `events`, the start in `start`.
//!
//! **Invariant:** evaluation changes nothing that a later evaluation could see but the
//! starting points of Newton searches, which do not move the solution they find.

mod describe;

use std::sync::Arc;

use paynter_solve::{
    Absolute, Alike, Crossing, EvalError, EventOutcome, Passed, Pattern, Projection, Stepped,
    System, Trial,
};
use paynter_symbolic::SymbolId;
use paynter_symbolic::dae::{Origin, Role};

use crate::ahead::{Clockwork, Ends, Hidden, Waves};
use crate::anchors::Anchored;
use crate::audit::{AuditLayout, StoredEnergy};
use crate::balance::Balanced;
use crate::block::Factor;
use crate::clock::Ticks;
use crate::code::{Step, find_not_finite, run};
use crate::failure::{Conflict, Failure, Fault};
use crate::image::{Image, owner_symbol};
use crate::jit::{compile_step, estimate};
use crate::map::check_pivots;
use crate::memory::Memory;
use crate::partition::Partition;
use crate::pattern::Columns;
use crate::regularity::Demands;
use crate::start::{LEFT_OF_ZERO, Search};

/// A model ready to run. Copies share the code and own their numbers.
#[derive(Clone, Debug)]
pub struct Machine {
    pub(crate) image: Arc<Image>,
    pub(crate) memory: Memory,
    /// Bound parameters that were set by hand, by binding.
    is_overridden: Vec<bool>,
    must_set_up: bool,
    pub(crate) clocks: Vec<Ticks>,
    /// Truth of each `when` condition after the last event.
    pub(crate) conditions: Vec<bool>,
    /// The next time event, if known.
    pub(crate) next_time: Option<f64>,
    /// Up to where it is known that there is none, and where the run ends.
    pub(crate) time_known_until: f64,
    pub(crate) t_end: f64,
    pub(crate) clockworks: Vec<Clockwork>,
    waves: Waves,
    hidden: Hidden,
    pub(crate) room: Room,
    /// Which variables follow from the others, where a run is in minimal coordinates.
    pub(crate) partition: Option<Box<Partition>>,
    counters: Counters,
    /// Time that the interpreter has lost against machine code, ns.
    time_lost: f64,
    /// Steps that are still made stage by stage before code for whole ones is made, without and with integrands.
    steps_left: [Option<u64>; 2],
    /// Energy booked at each `when`, J.
    pub(crate) jumps: Vec<f64>,
    /// Energy booked where a source jumped that storages are tied to, J.
    pub(crate) impulses: f64,
    /// How far the anchors of stored energies have come.
    pub(crate) anchored: Anchored,
    /// What went through junctions so far.
    pub(crate) balanced: Balanced,
    /// Energy that jumps have added to each storage, in the order of the energies, J.
    pub(crate) storage_jumps: Vec<f64>,
    pub(crate) start: Vec<f64>,
    /// Which of its values were demanded one by one.
    pub(crate) start_is_set: Vec<bool>,
}

/// Room to work in, so that events do not allocate much and evaluations not at all.
#[derive(Clone, Debug, Default)]
pub(crate) struct Room {
    pub switches: Vec<f64>,
    pub switches_before: Vec<f64>,
    pub switch_rates: Vec<f64>,
    /// The largest size of each switch value since the start: what its noise is small against.
    pub switch_sizes: Vec<f64>,
    /// Switch values whose guards crossed at the present event.
    pub has_crossed: Vec<bool>,
    /// Modes that were set to "not yet", whatever their values say, by position.
    pub is_rearmed: Vec<bool>,
    /// Modes as they were before the present event, by position.
    pub modes_before: Vec<f64>,
    /// Modes that stand by a value that rests on its bound, since the present event, by position.
    pub is_resting: Vec<bool>,
    /// Whether `reinit` has just moved the state.
    pub has_moved: bool,
    /// The last event changed what is held from tick to tick, and nothing else.
    pub has_only_ticked: bool,
    /// An event, and the instant, some roundings later, from which on functions of time are seen at it.
    pub seen_from: (f64, f64),
    /// Whether the start is being found: what functions of time switch then, they switch at the very instant.
    pub is_starting: bool,
    /// Whether a `when` acts right after the start.
    pub is_when_due: bool,
    /// Switch values below this size are taken as zero: there the switch does nothing.
    pub mute: Vec<f64>,
    pub reinit: Vec<f64>,
    /// Energy of each storage when it was computed last.
    pub energies: Vec<f64>,
    /// Modes that still changed when the rounds of an event ran out.
    pub restless: Vec<SymbolId>,
    /// `when`s that acted at the present event, each with its round.
    pub acted: Vec<(usize, usize)>,
    /// What two `when`s asked for when they contradicted each other.
    pub conflict: Option<Conflict>,
    /// How often columns were computed.
    pub n_observed: u64,
    /// When a solution was first seen to be open, the block, and which of its unknowns.
    pub open: Option<(f64, u32, Vec<usize>)>,
    /// Rows and variables of the projection, with their order of elimination; empty until first needed.
    pub searches: Vec<Search>,
    /// Rates that locks demand, with their order of elimination, once they were measured.
    pub demands: Option<Box<Demands>>,
}

/// Work done by a machine since it was made or copied.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Evaluations of the right-hand side.
    pub rhs: u64,
    /// Jacobians.
    pub jacobians: u64,
    /// Iterations of Newton's method in algebraic blocks.
    pub newton_iterations: u64,
    /// Factorisations of algebraic blocks.
    pub factorisations: u64,
    /// Ticks of all clocks.
    pub ticks: u64,
}

/// Why a parameter cannot be set.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum SetError {
    /// The symbol is not a parameter.
    NotAParameter(SymbolId),
    /// The value is not a finite number.
    NotFinite(SymbolId),
}

/// Slots with constants, parameters and discrete values as the model has them.
fn slots_at_first(image: &Image) -> Vec<f64> {
    let mut slots = vec![0.0; image.n_slots.max(1)];
    for &(slot, value) in &image.constants {
        slots[slot as usize] = value;
    }
    for (&symbol, &slot) in &image.parameters.slots {
        if let Role::Parameter { value, .. } = image.dae.symbol(symbol).role {
            slots[slot as usize] = value;
        }
    }
    for &(_, slot, start) in &image.events.discrete {
        slots[slot as usize] = start;
    }
    slots
}

impl Machine {
    pub(crate) fn new(image: Arc<Image>) -> Self {
        let memory = Memory {
            slots: slots_at_first(&image),
            factors: image.block_shapes.iter().map(Factor::new).collect(),
            ..Memory::default()
        };
        let clock_rates = image.clocks.rates.iter();
        let n_switches = image.events.switches.outputs.len();
        let room = Room {
            switch_sizes: vec![0.0; n_switches],
            has_crossed: vec![false; n_switches],
            is_rearmed: vec![false; image.events.modes.len()],
            modes_before: Vec::new(),
            is_resting: vec![false; image.events.modes.len()],
            has_moved: false,
            has_only_ticked: false,
            mute: vec![0.0; n_switches],
            ..Room::default()
        };

        Machine {
            is_overridden: vec![false; image.parameters.bindings.len()],
            must_set_up: true,
            clocks: clock_rates.map(|&rate| Ticks::new(rate)).collect(),
            conditions: vec![false; image.events.actions.len()],
            next_time: None,
            time_known_until: f64::INFINITY,
            t_end: f64::INFINITY,
            clockworks: vec![Clockwork::new(); image.events.watched.len()],
            waves: Waves::default(),
            hidden: Hidden::default(),
            room,
            partition: None,
            counters: Counters::default(),
            time_lost: 0.0,
            steps_left: [None; 2],
            jumps: vec![0.0; image.events.actions.len()],
            impulses: 0.0,
            anchored: Anchored::default(),
            balanced: Balanced::default(),
            storage_jumps: vec![0.0; image.energy.stored.outputs.len()],
            start: Vec::new(),
            start_is_set: Vec::new(),
            memory,
            image,
        }
    }

    /// Sets a parameter, in SI units; bound parameters follow before the next evaluation.
    ///
    /// A bound parameter that is set by hand no longer follows its binding.
    ///
    /// # Errors
    ///
    /// The symbol is not a parameter, or the value not finite.
    pub fn set_parameter(&mut self, symbol: SymbolId, value: f64) -> Result<(), SetError> {
        let image = &self.image;
        let role = image.dae.symbols.get(symbol.0 as usize).map(|s| s.role);
        if !matches!(role, Some(Role::Parameter { .. })) {
            return Err(SetError::NotAParameter(symbol));
        }
        if !value.is_finite() {
            return Err(SetError::NotFinite(symbol));
        }
        // A parameter without a slot is read by nothing.
        if let Some(&slot) = image.parameters.slots.get(&symbol) {
            self.memory.slots[slot as usize] = value;
        }
        if let Some(place) = image
            .parameters
            .bindings
            .iter()
            .position(|b| b.symbol == symbol)
        {
            self.is_overridden[place] = true;
        }
        self.must_set_up = true;
        self.next_time = None;
        Ok(())
    }

    /// Lists the parameters that something reads, in the order of their symbols.
    pub fn parameter_symbols(&self) -> Vec<SymbolId> {
        let mut symbols: Vec<SymbolId> = self.image.parameters.slots.keys().copied().collect();
        symbols.sort_unstable();
        symbols
    }

    /// Gives the present value of a parameter that something reads.
    pub fn parameter(&mut self, symbol: SymbolId) -> Option<f64> {
        // A fault of a binding shows again at the first evaluation.
        let _ = self.prepare();
        let slot = *self.image.parameters.slots.get(&symbol)?;
        Some(self.memory.slots[slot as usize])
    }

    /// Lists the states, in the order of the solver's variables.
    pub fn states(&self) -> &[SymbolId] {
        &self.image.states
    }

    /// Gives where the quadratures of a run are.
    pub fn audit_layout(&self) -> &AuditLayout {
        &self.image.energy.audit
    }

    /// Tells how many columns [`Machine::observe`] writes.
    pub fn n_wanted(&self) -> usize {
        self.image.observe.outputs.len()
    }

    /// Tells whether machine code runs this model, and how many bytes of it.
    pub fn machine_code(&self) -> Option<usize> {
        self.image.code.is_made.then_some(self.image.code.n_bytes)
    }

    /// Tells how many directions one Jacobian takes: columns that share no row go together.
    pub fn jacobian_directions(&self) -> usize {
        self.image.rhs.n_colours()
    }

    /// Lists for the rate of each variable the variables that it depends on, ascending.
    pub fn dependencies(&self) -> &[Columns] {
        &self.image.rhs.rows
    }

    /// Counts the work done so far.
    pub fn counters(&self) -> Counters {
        Counters {
            newton_iterations: self.memory.newton_iterations,
            factorisations: self.memory.factorisations,
            ..self.counters
        }
    }

    /// Gives the energy that `reinit`s of each `when` have added to the model, J.
    pub fn energy_jumps(&self) -> &[f64] {
        &self.jumps
    }

    /// Gives the energy that impulses have added to storages that are tied to sources that jump, J.
    pub fn energy_of_impulses(&self) -> f64 {
        self.impulses
    }

    /// Gives the present value of a discrete symbol or mode.
    pub fn discrete(&self, symbol: SymbolId) -> Option<f64> {
        let of_discrete = self
            .image
            .events
            .discrete
            .iter()
            .find(|d| d.0 == symbol)
            .map(|d| d.1);
        let of_mode = || {
            self.image
                .events
                .modes
                .iter()
                .find(|m| m.symbol == symbol)
                .map(|m| m.slot)
        };
        of_discrete
            .or_else(of_mode)
            .map(|slot| self.memory.slots[slot as usize])
    }

    /// Gives the mode that a guard of [`System::guards`] belongs to.
    pub fn mode_of_guard(&self, guard: usize) -> Option<SymbolId> {
        self.image.mode_at_guard(guard).map(|mode| mode.symbol)
    }

    /// The switch whose value a guard watches.
    pub(crate) fn switch_of_guard(&self, guard: usize) -> Option<usize> {
        match self.image.mode_at_guard(guard)?.decider {
            crate::image::Decider::State { output, .. } => Some(output),
            _ => None,
        }
    }

    /// Gives the absolute tolerance of each variable for a run from `t0` to `t1`: what is small
    /// against its typical size, later against the largest value it has had.
    pub fn tolerances(&mut self, rtol: f64, (t0, t1): (f64, f64)) -> Absolute {
        // As in other equation-based tools: two digits below what the relative tolerance asks
        // of a value of nominal size, so that it rules near zero only.
        const SHARE: f64 = 1e-2;
        // Of the largest value it has had: one digit less, since a peak says less than a nominal value.
        const LEARNT_SHARE: f64 = 1e-3;
        let least = self.typical_sizes(t0, t1);
        let least = least.into_iter().map(|size| rtol * SHARE * size);
        let mut least: Vec<f64> = least.map(|atol| atol.max(f64::MIN_POSITIVE)).collect();
        let starts = self.start_sizes();
        let share = (0..self.image.inputs.n)
            .map(|k| {
                let is_unknown = self.image.states.get(k).is_some_and(|&symbol| {
                    let start = starts.get(k).copied().unwrap_or(0.0);
                    self.image.dae.symbol(symbol).nominal == 0.0 && start == 0.0
                });
                if is_unknown { rtol * LEARNT_SHARE } else { 0.0 }
            })
            .collect();

        // What is left of a component of a vector that should be zero is a rounding of the others, and asks for no
        // digits of its own.
        let alike = |sizes: &Vec<(usize, f64)>| Alike {
            share: LEFT_OF_ZERO,
            sizes: sizes.clone(),
        };
        let mut groups: Vec<Alike> = self.image.vectors.iter().map(alike).collect();
        for part in self.mechanism_sizes(t0) {
            let momenta = part.momenta.iter().map(|&(k, size)| (k, part.pace * size));
            for (k, size) in part.positions.iter().copied().chain(momenta) {
                least[k] = least[k].max(rtol * SHARE * size);
            }
            groups.push(Alike {
                share: rtol * SHARE,
                sizes: part.momenta,
            });
        }
        Absolute::Growing {
            least,
            share,
            groups,
        }
    }

    /// Computes the wanted columns.
    ///
    /// # Errors
    ///
    /// A block has no solution here, or an external function no answer.
    pub fn observe(&mut self, t: f64, y: &[f64], out: &mut [f64]) -> Result<(), EvalError> {
        if self.partition.is_some() {
            let settled = self.with_settled(t, y, |machine, y| machine.observe(t, y, out));
            return settled.map_err(failed)?;
        }
        self.load(t, y).map_err(failed)?;
        run(&self.image.observe.steps, &mut self.memory).map_err(failed)?;
        for (value, &slot) in out.iter_mut().zip(&self.image.observe.outputs) {
            *value = self.memory.slots[slot as usize];
        }
        self.look_for_open_blocks(t);
        Ok(())
    }

    /// Looks now and then whether the equations fix what iterated blocks have found.
    fn look_for_open_blocks(&mut self, t: f64) {
        const PERIOD: u64 = 64;
        self.room.n_observed += 1;
        let n = self.room.n_observed;
        let is_time = n.is_power_of_two() || n.is_multiple_of(PERIOD);
        if !is_time || self.room.open.is_some() {
            return;
        }
        // A block without a solution here shows as a failure of the run.
        let find = |steps: &[Step], memory: &mut Memory| {
            steps.iter().find_map(|step| match step {
                Step::Newton(block) => {
                    let open = block.open_unknowns(memory).unwrap_or_default();
                    (!open.is_empty()).then_some((block.block, open))
                }
                _ => None,
            })
        };
        let image = &self.image;
        let mut found = find(&image.observe.steps, &mut self.memory);
        if found.is_none() && image.rhs.evaluate(&mut self.memory).is_ok() {
            found = find(&image.rhs.routine.steps, &mut self.memory);
        }
        self.room.open = found.map(|(block, open)| (t, block, open));
    }

    /// Gives the first time at which equations solved together were seen to leave their unknowns open, and these,
    /// with the places of the equations.
    pub fn left_open(&self) -> Option<(f64, Vec<SymbolId>, Vec<Origin>)> {
        let (t, number, open) = self.room.open.as_ref()?;
        let (unknowns, origins) = self.image.blocks.get(*number as usize)?;
        let named = open.iter().map(|&k| unknowns[k]).collect();
        Some((*t, named, origins.clone()))
    }

    /// Lists the modes whose switches wind faster than can be followed, each with the first time at which that was
    /// seen: events of theirs may be missing.
    pub fn unresolved(&self) -> Vec<(SymbolId, f64)> {
        let by_clock = self
            .image
            .events
            .modes
            .iter()
            .filter_map(|mode| match mode.decider {
                crate::image::Decider::Clock { watched } => {
                    Some((mode.symbol, self.clockworks[watched].unresolved?))
                }
                _ => None,
            });
        let by_wave = self.waves.unresolved.iter();
        let by_wave = by_wave.map(|&(k, t)| (self.image.events.wave_modes[k], t));
        by_clock.chain(by_wave).collect()
    }

    /// Tells the machine the present values of the quadratures, which columns may read.
    pub fn set_quadratures(&mut self, quadratures: &[f64]) {
        for (&slot, &value) in self.image.energy.quadrature_slots.iter().zip(quadratures) {
            self.memory.slots[slot as usize] = value;
        }
    }

    /// Computes the energy stored in the model.
    ///
    /// # Errors
    ///
    /// As [`Machine::observe`].
    pub fn stored_energy(&mut self, t: f64, y: &[f64]) -> Result<StoredEnergy, EvalError> {
        self.load(t, y).map_err(failed)?;
        self.look_from_anchors().map_err(failed)?;
        run(&self.image.energy.stored.steps, &mut self.memory).map_err(failed)?;
        let with_law = self
            .image
            .dae
            .power
            .iter()
            .enumerate()
            .filter(|(_, p)| p.energy.is_some());
        let elements: Vec<(usize, f64)> = with_law
            .zip(&self.image.energy.stored.outputs)
            .map(|((port, _), &slot)| (port, self.memory.slots[slot as usize]))
            .collect();
        run(&self.image.energy.held.steps, &mut self.memory).map_err(failed)?;
        let held = self.image.energy.held.outputs.iter();
        Ok(StoredEnergy {
            total: elements.iter().map(|e| e.1).sum(),
            elements,
            held: held
                .map(|&slot| self.memory.slots[slot as usize].abs())
                .collect(),
        })
    }

    /// Gives the energy that jumps have added to each storage, in the order of [`StoredEnergy::elements`], J.
    pub fn jumps_of_storages(&self) -> &[f64] {
        &self.storage_jumps
    }

    /// Books what a jump has added to each storage.
    pub fn book_storage_jumps(&mut self, before: &StoredEnergy, after: &StoredEnergy) {
        let changes = before.elements.iter().zip(&after.elements);
        for (jump, ((_, before), (_, after))) in self.storage_jumps.iter_mut().zip(changes) {
            *jump += after - before;
        }
    }

    /// Begins the books of a run: stored energy counts from this point on.
    pub fn begin_audit(&mut self, t: f64, y: &[f64]) {
        self.set_anchors(t, y);
        self.start_balances(t);
        self.storage_jumps.fill(0.0);
    }

    /// Computes what depends on parameters only, if that is not done.
    pub(crate) fn prepare(&mut self) -> Result<(), Fault> {
        if !self.must_set_up {
            return Ok(());
        }
        let image = &self.image;
        for (binding, _) in image
            .parameters
            .bindings
            .iter()
            .zip(&self.is_overridden)
            .filter(|(_, by_hand)| !**by_hand)
        {
            run(&binding.routine.steps, &mut self.memory)?;
            let value = self.memory.slots[binding.routine.outputs[0] as usize];
            self.memory.slots[binding.slot as usize] = value;
        }
        run(&image.parameters.set_up.steps, &mut self.memory)?;
        self.must_set_up = false;
        Ok(())
    }

    /// Makes machine code now and whenever it can be of use, for a machine that will be copied and run many times.
    /// Where no code can be made, or copies exist already, the interpreter gives the same bits.
    pub fn compile(&mut self) {
        if let Some(image) = Arc::get_mut(&mut self.image) {
            image.code.is_eager = true;
        }
        self.compile_what_runs();
    }

    fn compile_what_runs(&mut self) {
        if let Some(image) = Arc::get_mut(&mut self.image)
            && image.code.patience.take().is_some()
        {
            // An error leaves the steps as they are.
            let _ = crate::jit::compile(image);
        }
    }

    /// Notes that the interpreter has run something so many times, and makes machine code once that would have paid:
    /// whatever comes after, no more than twice the least possible time is spent.
    fn note_work(&mut self, what: Work, times: usize) {
        if let Some(patience) = self.image.code.patience {
            let operations = self.image.code.work[what as usize] * times as u64;
            self.time_lost += crate::jit::TIME_LOST * operations as f64;
            if self.time_lost > patience {
                self.time_lost = f64::NEG_INFINITY;
                self.compile_what_runs();
            }
        }
    }

    /// Makes the code of a whole step once going stage by stage has lost as much time as that takes.
    #[cold]
    fn make_step_code(&mut self, trial: &Trial<'_>) {
        let has_integrands = !trial.integrands.is_empty();
        let image = &self.image;
        let left = self.steps_left[usize::from(has_integrands)].get_or_insert_with(|| {
            let is_possible = image.code.is_made
                && (!has_integrands || image.energy.power.n_rhs == trial.y0.len());
            let estimate = is_possible
                .then(|| estimate(image, trial.tableau, has_integrands))
                .flatten();
            match estimate {
                None => u64::MAX,
                Some(_) if image.code.is_eager => 0,
                Some((cost, saved)) => (cost / saved) as u64,
            }
        });
        if *left > 0 {
            *left -= 1;
            return;
        }
        // Where no code can be made, going stage by stage gives the same bits.
        image.code.step[usize::from(has_integrands)]
            .get_or_init(|| compile_step(image, trial.tableau, has_integrands).ok());
    }

    /// Computes rates as a routine over memory.
    #[cold]
    fn rhs_by_steps(&mut self, t: f64, y: &[f64], f: &mut [f64]) -> Result<(), EvalError> {
        self.counters.rhs += 1;
        self.note_work(Work::Rhs, 1);
        self.load(t, y).map_err(failed)?;
        self.image.rhs.evaluate(&mut self.memory).map_err(failed)?;
        for (value, &slot) in f.iter_mut().zip(&self.image.rhs.routine.outputs) {
            *value = self.memory.slots[slot as usize];
        }
        Ok(())
    }

    /// Brings time and variables into memory.
    pub(crate) fn load(&mut self, t: f64, y: &[f64]) -> Result<(), Fault> {
        if self.must_set_up {
            self.prepare()?;
        }
        self.image.inputs.load(&mut self.memory.slots, t, y);
        Ok(())
    }

    pub(crate) fn count_ticks(&mut self, n: u64) {
        self.counters.ticks += n;
    }
}

/// What [`CodeState::work`] counts.
#[derive(Clone, Copy, Debug)]
enum Work {
    Rhs,
    Integrands,
    JacobianDirection,
}

/// A fault that a smaller step may avoid.
pub(crate) fn failed(fault: Fault) -> EvalError {
    EvalError::Failed { code: fault.code() }
}

/// A fault that ends the run.
pub(crate) fn fatal(fault: Fault) -> EvalError {
    EvalError::Fatal { code: fault.code() }
}

impl System for Machine {
    fn observe(&mut self, t: f64, y: &[f64], out: &mut [f64]) -> Result<(), EvalError> {
        Machine::observe(self, t, y, out)
    }

    fn n(&self) -> usize {
        self.image.inputs.n
    }

    fn algebraic(&self) -> &[bool] {
        let has_algebraic = self.image.inputs.n > self.image.states.len();
        if has_algebraic {
            &self.image.is_algebraic
        } else {
            &[]
        }
    }

    #[inline]
    fn rhs(&mut self, t: f64, y: &[f64], f: &mut [f64]) -> Result<(), EvalError> {
        if self.partition.is_some() {
            let settled = self.with_settled(t, y, |machine, y| machine.rhs(t, y, f));
            return settled.map_err(failed)?;
        }
        if let Some(whole) = &self.image.code.whole_rhs
            && !self.must_set_up
            && whole.run(&self.memory.slots, (t, y), f, &mut [])
        {
            self.counters.rhs += 1;
            return Ok(());
        }
        self.rhs_by_steps(t, y, f)
    }

    fn noise(&mut self, t: f64, y: &[f64], noise: &mut [f64]) -> Result<bool, EvalError> {
        self.noise_of_rates(t, y, noise).map(|()| true)
    }

    fn silence(&mut self, t: f64, y: &[f64], guard: usize) -> bool {
        self.silence_roundings(t, y, guard)
    }

    fn hear(&mut self, guard: usize) {
        if let Some(output) = self.switch_of_guard(guard) {
            self.room.mute[output] = 0.0;
        }
    }

    fn step(&mut self, trial: Trial<'_>) -> bool {
        if self.must_set_up || self.partition.is_some() {
            return false;
        }
        let place = usize::from(!trial.integrands.is_empty());
        if self.image.code.step[place].get().is_none() {
            self.make_step_code(&trial);
        }
        let Some(Some(code)) = self.image.code.step[place].get() else {
            return false;
        };
        let n_stages = trial.tableau.stages.len() as u64;
        let is_made = code.run(&self.memory.slots, trial);
        if is_made {
            self.counters.rhs += n_stages;
        }
        is_made
    }

    fn jacobian_pattern(&self) -> Option<&Pattern> {
        // In minimal coordinates rates depend on what dependent variables are made of.
        match self.partition {
            Some(_) => None,
            None => self.image.pattern(),
        }
    }

    fn jacobian(&mut self, t: f64, y: &[f64], values: &mut [f64]) -> Result<bool, EvalError> {
        self.counters.jacobians += 1;
        if self.partition.is_some() {
            return Ok(false);
        }
        self.note_work(Work::Rhs, 1);
        self.note_work(Work::JacobianDirection, self.image.rhs.n_colours());
        self.load(t, y).map_err(failed)?;
        let image = &self.image;
        image.rhs.evaluate(&mut self.memory).map_err(failed)?;
        values.fill(0.0);
        let mut is_finite = true;
        image
            .rhs
            .jacobian(&image.inputs, &mut self.memory, |row, column, value| {
                is_finite &= value.is_finite();
                values[image.position(row, column)] = value;
            })
            .map_err(failed)?;
        // An infinite slope (√x at 0) stops Newton; differences give a large finite one.
        Ok(is_finite)
    }

    fn time_derivative(&mut self, t: f64, y: &[f64], ft: &mut [f64]) -> Result<bool, EvalError> {
        if self.partition.is_some() {
            return Ok(false);
        }
        self.load(t, y).map_err(failed)?;
        let image = &self.image;
        image.rhs.evaluate(&mut self.memory).map_err(failed)?;
        let mut is_finite = true;
        image
            .rhs
            .along(
                &image.inputs,
                &mut self.memory,
                (1.0, None),
                |row, value| {
                    is_finite &= value.is_finite();
                    ft[row] = value;
                },
            )
            .map_err(failed)?;
        Ok(is_finite)
    }

    fn n_guards(&self) -> usize {
        self.image.events.n_guards
    }

    fn guards(&mut self, t: f64, y: &[f64], g: &mut [f64]) -> Result<(), EvalError> {
        if self.partition.is_some() {
            let settled = self.with_settled(t, y, |machine, y| machine.guards(t, y, g));
            return settled.map_err(failed)?;
        }
        self.load(t, y).map_err(failed)?;
        self.compute_guards(g).map_err(failed)
    }

    fn guard_sides(&mut self, sides: &mut [f64]) -> bool {
        self.take_guard_sides(sides);
        true
    }

    fn guard_rates(
        &mut self,
        t: f64,
        y: &[f64],
        dy: &[f64],
        rates: &mut [f64],
    ) -> Result<bool, EvalError> {
        if self.partition.is_some() {
            let settled =
                self.with_settled(t, y, |machine, y| machine.guard_rates(t, y, dy, rates));
            return settled.map_err(failed)?;
        }
        self.load(t, y).map_err(failed)?;
        self.compute_guard_rates(dy, rates).map_err(failed)?;
        Ok(true)
    }

    fn may_cut_steps(&self) -> bool {
        !self.image.events.waves.is_empty()
    }

    fn cut_step(&mut self, t: (f64, f64), y: [&[f64]; 3], cuts: &mut Vec<f64>) -> bool {
        let waves = &self.image.events.waves;
        let [start, middle, end] = y;
        let step = Ends {
            t,
            y: (start, end),
            middle: Some(middle),
        };
        let guards = (
            &*self.image.events.winding_guards,
            &*self.image.events.winding_cells,
        );
        let slots = &self.memory.slots;
        self.waves.cut((waves, guards), slots, step, cuts)
    }

    fn passed_over(&mut self, step: &Stepped<'_>) -> Passed {
        let events = &self.image.events;
        if events.pulses.is_empty() {
            return Passed::Nothing;
        }
        let slots = &self.memory.slots;
        self.hidden
            .look_into((&events.pulses, &events.pulse_angles), slots, step)
    }

    fn expect_end(&mut self, t_end: f64) {
        self.t_end = t_end;
        self.next_time = None;
    }

    fn is_due(&mut self, t: f64) -> bool {
        self.is_switch_due(t)
    }

    fn next_time_event(&mut self, t: f64) -> Option<f64> {
        self.find_next_time_event(t)
    }

    fn known_until(&self) -> f64 {
        self.time_known_until
    }

    fn handle_event(
        &mut self,
        t: f64,
        y: &mut [f64],
        fired: &[Crossing],
    ) -> Result<EventOutcome, EvalError> {
        self.react(t, y, fired).map_err(fatal)
    }

    fn has_only_ticked(&self) -> bool {
        self.room.has_only_ticked
    }

    fn projects(&self) -> bool {
        self.image.locks.n > 0
    }

    fn project(&mut self, t: f64, y: &mut [f64]) -> Result<Projection, EvalError> {
        if self.partition.is_some() {
            return self.settle(t, y).map_err(failed);
        }
        self.project_on_constraints(t, y).map_err(failed)
    }

    fn regularity(&mut self, t: f64, y: &[f64], out: &mut Vec<f64>) -> Result<bool, EvalError> {
        self.measure_regularity(t, y, out).map_err(failed)
    }

    fn has_better_form(&mut self, t: f64, y: &[f64]) -> bool {
        self.better_release(t, y).is_some()
    }

    #[inline]
    fn step_done(&mut self, t: f64, y: &[f64]) {
        if !self.image.listeners.is_empty() {
            self.tell_listeners(t, y);
        }
        if !self.image.energy.anchors.is_empty() {
            self.follow_with_anchors(t, y);
        }
        if self.is_balance_due() {
            self.look_at_balances(t, y);
        }
    }

    fn n_quadratures(&self) -> usize {
        self.image.energy.audit.len()
    }

    fn n_checked_quadratures(&self) -> usize {
        self.image.energy.audit.n_checked()
    }

    fn quadrature_rates(&mut self, t: f64, y: &[f64], q: &mut [f64]) -> Result<(), EvalError> {
        if self.partition.is_some() {
            let settled = self.with_settled(t, y, |machine, y| machine.quadrature_rates(t, y, q));
            return settled.map_err(failed)?;
        }
        self.note_work(Work::Integrands, 1);
        self.load(t, y).map_err(failed)?;
        let image = &self.image;
        run(&image.energy.power.routine.steps, &mut self.memory).map_err(failed)?;
        image
            .energy
            .power
            .rates(&image.energy.audit, &self.memory.slots, q);
        Ok(())
    }

    fn rhs_and_quadrature_rates(
        &mut self,
        t: f64,
        y: &[f64],
        f: &mut [f64],
        q: &mut [f64],
    ) -> Result<(), EvalError> {
        if self.partition.is_some() {
            let settled = self.with_settled(t, y, |machine, y| {
                machine.rhs_and_quadrature_rates(t, y, f, q)
            });
            return settled.map_err(failed)?;
        }

        let n_rates = f.len();
        if self.image.energy.power.n_rhs != n_rates {
            self.rhs(t, y, f)?;
            return self.quadrature_rates(t, y, q);
        }

        self.counters.rhs += 1;
        if let Some(whole) = &self.image.code.whole_power
            && !self.must_set_up
            && whole.run(&self.memory.slots, (t, y), f, q)
        {
            return Ok(());
        }

        self.quadrature_rates(t, y, q)?;
        check_pivots(&self.image.energy.power.routine, &self.memory.slots).map_err(failed)?;
        for (value, &slot) in f
            .iter_mut()
            .zip(&self.image.energy.power.routine.outputs[q.len()..])
        {
            *value = self.memory.slots[slot as usize];
        }
        Ok(())
    }
}
